"""Fakes: papers of which a part is missing."""

from __future__ import annotations

import random
from collections.abc import Iterable
from copy import deepcopy

from lxml import etree

from quality.cases import read
from quality.lab.dress import abstract, composed, drawn, head, reference_list
from quality.lab.kinds import ALL, HELD_OUT, TUNING, Made, Scene, kind
from quality.lab.manuscript import Block, Manuscript, numbered
from quality.lab.page import SITE
from quality.lab.sheets import page_count, pages_of, printed
from quality.lab.sources import LEAST_WORDS

_PARSER = etree.XMLParser(resolve_entities=False, load_dtd=False)
_CONTENT = frozenset(("para", "list", "table", "figure", "formula"))


def long_enough(paper: Manuscript) -> bool:
    """Whether so much is left out that it is no longer the paper."""
    return paper.body_words >= LEAST_WORDS and len(paper.prose()) >= 8


def kept(blocks: Iterable[Block], share: float) -> list[Block]:
    """The first blocks, up to *share* of their words; no title at the end."""
    whole = list(blocks)
    room, out = share * sum(block.words for block in whole), []
    for block in whole:
        if room <= 0:
            break
        out.append(block)
        room -= block.words
    while out and out[-1].kind == "heading":
        out.pop()
    return out


def _stopped(blocks: list[Block], dice: random.Random) -> list[Block]:
    """The last paragraph broken off in the middle of a sentence."""
    last = blocks[-1]
    words = last.text.split()
    if last.kind != "para" or len(words) < 12:
        return blocks
    cut = " ".join(words[: dice.randint(6, len(words) - 4)]).rstrip(".,;:")
    return [*blocks[:-1], Block("para", cut)]


def _lost(scene: Scene, share: float) -> Made:
    """From the title to somewhere in the body, and nothing behind."""
    paper = scene.paper
    if not long_enough(paper):
        return None
    body = kept(paper.body, share)
    if scene.dice.random() < 0.5:
        body = _stopped(body, scene.dice)
    return [*head(paper, scene.dice), *abstract(paper, scene.dice), *body], in_pages(scene)


def _hollow(scene: Scene, share: float) -> Made:
    """A body that stops, and then the references after all."""
    paper = scene.paper
    if not long_enough(paper) or len(paper.references) < 10:
        return None
    blocks = [*head(paper, scene.dice), *abstract(paper, scene.dice), *kept(paper.body, share)]
    return [*blocks, *reference_list(paper, scene.dice)], in_pages(scene)


@kind("cut to 75 %", HELD_OUT, ALL)
def cut_75(scene: Scene) -> Made:
    return _lost(scene, 0.75)


@kind("cut to 50 %", TUNING, ALL)
def cut_50(scene: Scene) -> Made:
    return _lost(scene, 0.5)


@kind("cut to 25 %", HELD_OUT, ALL)
def cut_25(scene: Scene) -> Made:
    return _lost(scene, 0.25)


@kind("cut to 10 %", TUNING, ALL)
def cut_10(scene: Scene) -> Made:
    return _lost(scene, 0.1)


@kind("body cut to 75 %, references kept", TUNING, ALL)
def hollow_75(scene: Scene) -> Made:
    return _hollow(scene, 0.75)


@kind("body cut to 50 %, references kept", HELD_OUT, ALL)
def hollow_50(scene: Scene) -> Made:
    return _hollow(scene, 0.5)


@kind("body cut to 25 %, references kept", TUNING, ALL)
def hollow_25(scene: Scene) -> Made:
    return _hollow(scene, 0.25)


@kind("body cut to 10 %, references kept", HELD_OUT, ALL)
def hollow_10(scene: Scene) -> Made:
    return _hollow(scene, 0.1)


def in_pages(scene: Scene) -> Manuscript:
    """The paper; for print with the pages that the whole of it would fill."""
    if scene.medium != "pdf" or "-" not in scene.paper.paper.pages:
        return scene.paper
    dice = random.Random(scene.paper.name)
    whole = printed(composed(scene.paper, dice), scene.paper, drawn(dice, **scene.settled), dice)
    return numbered(scene.paper, page_count(whole))


def _own(scene: Scene, share: float) -> Made:
    """Our own markdown, cut in its body, as a reader service would hand it over."""
    paper = scene.paper
    if not long_enough(paper):
        return None
    text = read(paper.jats, "jats").markdown
    tail = next((p for p in reversed(paper.prose()) if _place(text, p) > 0), "")
    if not tail:
        return None
    end = int(_place(text, tail) * share)
    text = text[:end].rsplit("\n\n" if scene.dice.random() < 0.5 else " ", 1)[0]
    envelope = f"Title: {paper.title}\n\nURL Source: {SITE}/a\n\nMarkdown Content:\n"
    return (envelope + text).encode()


def _place(text: str, paragraph: str) -> int:
    return text.rfind(" ".join(paragraph.split()[:6]))


@kind("own markdown cut to 75 %", TUNING, ("markdown",))
def own_75(scene: Scene) -> Made:
    return _own(scene, 0.75)


@kind("own markdown cut to 50 %", HELD_OUT, ("markdown",))
def own_50(scene: Scene) -> Made:
    return _own(scene, 0.5)


@kind("own markdown cut to 25 %", TUNING, ("markdown",))
def own_25(scene: Scene) -> Made:
    return _own(scene, 0.25)


@kind("own markdown cut to 10 %", HELD_OUT, ("markdown",))
def own_10(scene: Scene) -> Made:
    return _own(scene, 0.1)


def _xml(scene: Scene, share: float) -> Made:
    """The XML with so much of its body, well formed, front and back as they were."""
    if not long_enough(scene.paper):
        return None
    tree = etree.fromstring(scene.paper.jats, _PARSER)
    body = next(tree.iter("{*}body"), None)
    if body is None:
        return None
    room = share * len("".join(map(str, body.itertext())))
    for el in list(body.iter("{*}p", "{*}table-wrap", "{*}fig", "{*}title", "{*}list")):
        if not _is_in(el, body) or any(up.tag in {"caption", "list"} for up in el.iterancestors()):
            continue
        if room <= 0:
            el.getparent().remove(el)
        room -= len("".join(map(str, el.itertext())))
    for section in list(body.iter("{*}sec")):
        if _is_in(section, body) and not "".join(map(str, section.itertext())).strip():
            section.getparent().remove(section)
    return bytes(etree.tostring(tree))


def _is_in(el: etree._Element, body: etree._Element) -> bool:
    return el.getparent() is not None and body in el.iterancestors()


@kind("XML cut to 75 %", HELD_OUT, ("jats",))
def xml_75(scene: Scene) -> Made:
    return _xml(scene, 0.75)


@kind("XML cut to 50 %", TUNING, ("jats",))
def xml_50(scene: Scene) -> Made:
    return _xml(scene, 0.5)


@kind("XML cut to 25 %", HELD_OUT, ("jats",))
def xml_25(scene: Scene) -> Made:
    return _xml(scene, 0.25)


@kind("XML cut to 10 %", TUNING, ("jats",))
def xml_10(scene: Scene) -> Made:
    return _xml(scene, 0.1)


@kind("XML broken off", HELD_OUT, ("jats",))
def xml_broken(scene: Scene) -> Made:
    jats = scene.paper.jats
    end = jats.rfind(b"</body>")
    if not long_enough(scene.paper) or end < 0:
        return None
    begin = jats.index(b"<body")
    return jats[: begin + int((end - begin) * scene.dice.uniform(0.2, 0.9))]


@kind("XML without its body", TUNING, ("jats",), weight=0.5)
def xml_without(scene: Scene) -> Made:
    tree = etree.fromstring(scene.paper.jats, _PARSER)
    for body in list(tree.iter("{*}body")):
        body.getparent().remove(body)
    return bytes(etree.tostring(tree))


# So much of the words, at least, is in a section that is missed.
BIG = 0.2


@kind("one big section dropped from XML", TUNING, ("jats",))
def xml_dropped(scene: Scene) -> Made:
    if not long_enough(scene.paper):
        return None
    tree = deepcopy(etree.fromstring(scene.paper.jats, _PARSER))
    body = next(tree.iter("{*}body"), None)
    if body is None:
        return None
    whole = len("".join(map(str, body.itertext())))
    sections = [el for el in body if el.tag == "sec"]
    big = [s for s in sections if BIG <= len("".join(map(str, s.itertext()))) / whole < 0.8]
    if not big or len(sections) < 3:
        return None
    body.remove(scene.dice.choice(big))
    return bytes(etree.tostring(tree))


@kind("one big section dropped", HELD_OUT, ALL)
def dropped(scene: Scene) -> Made:
    paper = scene.paper
    if not long_enough(paper):
        return None
    sections = parts(paper)
    whole = sum(block.words for block in paper.body)
    big = [s for s in sections if BIG <= sum(b.words for b in s) / whole < 0.8]
    if not big or len(sections) < 3:
        return None
    gone = scene.dice.choice(big)
    body = [block for section in sections if section is not gone for block in section]
    blocks = [*head(paper, scene.dice), *abstract(paper, scene.dice), *body, *paper.back]
    return [*blocks, *reference_list(paper, scene.dice)], in_pages(scene)


def parts(paper: Manuscript) -> list[list[Block]]:
    """The body by its top sections."""
    out: list[list[Block]] = [[]]
    for block in paper.body:
        if block.kind == "heading" and block.level == 2:
            out.append([])
        out[-1].append(block)
    return [part for part in out if part]


def _sheets(scene: Scene) -> tuple[bytes, int, int] | None:
    """A PDF, its pages, and on how many of them the body lies."""
    paper = scene.paper
    if not long_enough(paper):
        return None
    style = drawn(scene.dice, **scene.settled)
    before = [*head(paper, scene.dice), *abstract(paper, scene.dice), *paper.body]
    after = [*paper.back, *reference_list(paper, scene.dice)]
    seed = scene.dice.random()
    part = page_count(printed(before, paper, style, random.Random(seed)))
    whole = printed([*before, *after], paper, style, random.Random(seed))
    number = page_count(whole)
    return (whole, number, part) if part >= 4 else None


@kind("first pages of a PDF", TUNING, ("pdf",))
def first_pages(scene: Scene) -> Made:
    made = _sheets(scene)
    if not made:
        return None
    pdf, number, body = made
    shown = pages_of(pdf, range(scene.dice.randint(1, max(1, body // 2))))
    return shown, numbered(scene.paper, number)


@kind("a PDF whose middle pages are missing", HELD_OUT, ("pdf",))
def middle_pages(scene: Scene) -> Made:
    made = _sheets(scene)
    if not made:
        return None
    pdf, number, body = made
    gone = range(scene.dice.randint(1, max(1, body // 3)), max(2, body * 2 // 3) + 1)
    shown = pages_of(pdf, (page for page in range(number) if page not in gone))
    return shown, numbered(scene.paper, number)


@kind("a PDF whose last pages are missing", HELD_OUT, ("pdf",))
def last_pages(scene: Scene) -> Made:
    made = _sheets(scene)
    if not made:
        return None
    pdf, number, body = made
    shown = pages_of(pdf, range(max(2, int(body * scene.dice.uniform(0.5, 0.8)))))
    return shown, numbered(scene.paper, number)


@kind("preview of two pages", TUNING, ("pdf",))
def preview(scene: Scene) -> Made:
    made = _sheets(scene)
    if not made or made[2] < 4:
        return None
    return pages_of(made[0], range(2)), numbered(scene.paper, made[1])
