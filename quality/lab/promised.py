"""Fakes that lack what they promise, and whole papers that promise less: protocols, menus."""

from __future__ import annotations

import re
from dataclasses import replace

from quality.lab.cuts import long_enough, parts
from quality.lab.dress import abstract, composed, head, reference_list
from quality.lab.kinds import ALL, HELD_OUT, SCREEN, TUNING, Made, Scene, kind, rendered
from quality.lab.manuscript import CLOSE, GROUP, OPEN, Block, Manuscript

_RESULTS = re.compile(r"result|finding", re.I)
_METHODS = re.compile(r"method|procedure", re.I)
_FLOAT = re.compile(r"\b(?:fig(?:ure)?s?|tables?)\b\.?\s*\d+\w?", re.I)


def _with(scene: Scene, body: list[Block], references: bool = True) -> list[Block]:
    paper, dice = scene.paper, scene.dice
    blocks = [*head(paper, dice), *abstract(paper, dice), *body]
    return [*blocks, *(reference_list(paper, dice) if references else [])]


def _without(scene: Scene, name: re.Pattern[str], instead: list[Block]) -> Made:
    sections = parts(scene.paper)
    gone = [part for part in sections if name.search(part[0].text)]
    words = sum(block.words for part in gone for block in part)
    if len(gone) != 1 or len(sections) < 3 or words < 0.15 * scene.paper.body_words:
        return None
    body = []
    for part in sections:
        body += [part[0], *instead] if part is gone[0] and instead else []
        body += part if part is not gone[0] else []
    return _with(scene, body) if long_enough(scene.paper) else None


@kind("Results gone", TUNING, ALL)
def without_results(scene: Scene) -> Made:
    return _without(scene, _RESULTS, [])


@kind("Methods gone", HELD_OUT, ALL)
def without_methods(scene: Scene) -> Made:
    return _without(scene, _METHODS, [])


@kind("Methods behind a link", TUNING)
def methods_linked(scene: Scene) -> Made:
    words = ("Open section", "Go to", "Show all", "Read the full section")
    return _without(scene, _METHODS, [Block("button", scene.dice.choice(words))])


@kind("Results behind a link", HELD_OUT)
def results_linked(scene: Scene) -> Made:
    words = ("Expand", "Continue reading", "View section", "Click to load")
    return _without(scene, _RESULTS, [Block("button", scene.dice.choice(words))])


@kind("headings in the middle without text", TUNING)
def emptied(scene: Scene) -> Made:
    sections = parts(scene.paper)
    if not long_enough(scene.paper) or len(sections) < 4:
        return None
    body = []
    for at, part in enumerate(sections):
        is_hollow = 0 < at < len(sections) - 1 and part[0].kind == "heading"
        body += [b for b in part if b.kind == "heading"] if is_hollow else part
    return _with(scene, body)


@kind("half of the paragraphs never loaded", HELD_OUT, ALL)
def halved(scene: Scene) -> Made:
    if not long_enough(scene.paper):
        return None
    kept = [b for b in scene.paper.body if b.kind != "para" or scene.dice.random() < 0.5]
    return _with(scene, kept)


@kind("every second paragraph missing", TUNING, ALL)
def alternate(scene: Scene) -> Made:
    if not long_enough(scene.paper):
        return None
    told = [at for at, block in enumerate(scene.paper.body) if block.kind == "para"][1::2]
    gone = set(told)
    return _with(scene, [b for at, b in enumerate(scene.paper.body) if at not in gone])


@kind("first paragraphs of the sections", TUNING, ALL)
def firsts(scene: Scene) -> Made:
    """What a page shows before *show more*: with all of the list of references."""
    if not long_enough(scene.paper):
        return None
    body = []
    for part in parts(scene.paper):
        body += [*part[:1], *[block for block in part[1:] if block.kind == "para"][:1]]
    words = sum(block.words for block in body)
    return _with(scene, body) if words < 0.5 * scene.paper.body_words else None


@kind("paragraphs that end in mid-sentence", TUNING, ALL)
def broken_off(scene: Scene) -> Made:
    return _clamped(scene, "")


@kind("paragraphs cut short with three dots", HELD_OUT, ALL)
def dotted(scene: Scene) -> Made:
    return _clamped(scene, " …")


def _clamped(scene: Scene, end: str) -> Made:
    if not long_enough(scene.paper):
        return None
    body = []
    for block in scene.paper.body:
        words = block.text.split()
        if block.kind == "para" and len(words) > 40:
            cut = " ".join(words[: scene.dice.randint(25, 45)]).rstrip(".,;:")
            block = replace(block, text=cut + end)  # noqa: PLW2901
        body.append(block)
    return _with(scene, body)


@kind("half of the list of references", HELD_OUT, ALL)
def half_a_list(scene: Scene) -> Made:
    """The body stops in the middle, and the list with it."""
    paper = scene.paper
    if not long_enough(paper) or len(paper.references) < 20:
        return None
    cut = parts(paper)
    body = [block for part in cut[: max(1, len(cut) // 2)] for block in part]
    last = len(paper.references) * 2 // 5
    items = tuple(reference.text for reference in paper.references[:last])
    return [*_with(scene, body, references=False), Block("heading", "References"),
            Block("refs", items=items)]  # fmt: skip


def _menu(scene: Scene, body: list[Block]) -> Made:
    """A page with a menu of all of the paper's sections, and *body*."""
    sections = [part[0] for part in parts(scene.paper) if part[0].kind == "heading"]
    if len(sections) < 4 or not long_enough(scene.paper):
        return None
    made = rendered(_with(scene, body), scene.paper, "html", scene.dice, scene.settled).decode()
    shown = {block.text for block in body if block.kind == "heading"}
    names = {block.text: f"s{at}" for at, block in enumerate(sections, start=1)}
    for text, name in names.items():
        if text in shown:
            mark = rf'\1 id="{name}"\2'
            made = re.sub(rf"(<h[2-6])(>)(?={re.escape(text[:20])})", mark, made, count=1)
    links = "".join(f'<li><a href="#{name}">{text}</a></li>' for text, name in names.items())
    menu = f'<nav class="toc" aria-label="Sections"><ul>{links}</ul></nav>'
    return re.sub(r"<body>", f"<body>{menu}", made, count=1).encode()


@kind("a menu of sections of which two are missing", TUNING, ("html",))
def missing_targets(scene: Scene) -> Made:
    sections = parts(scene.paper)
    at = scene.dice.randrange(1, max(2, len(sections) - 2))
    kept = [*sections[:at], *sections[at + 2 :]]
    return _menu(scene, [block for part in kept for block in part])


@kind("a menu of all of its sections", HELD_OUT, ("html",), whole=True)
def full_menu(scene: Scene) -> Made:
    return _menu(scene, list(scene.paper.body))


def _planned(scene: Scene, title: str, words: str) -> Made:
    """The paper as a plan: no results, an abstract that promises none.

    Its sections have no numbers, and it lists the references that its text cites.
    """
    paper, dice = scene.paper, scene.dice
    kept = [part for part in parts(paper) if not _RESULTS.search(part[0].text)]
    if len(kept) < 3 or len(kept) == len(parts(paper)) or not long_enough(paper):
        return None
    told = tuple(
        b for b in paper.abstract if not re.match(r"\s*(?:results|findings)\b", b.text, re.I)
    )
    record = replace(paper.paper, title=title.format(paper.title), abstract=words, pages="")
    blocks = [block for part in kept for block in part if block.kind not in {"figure", "table"}]
    plan = _cited_alone(paper, [_plain(block) for block in blocks])
    plan = replace(plan, paper=record, title=record.title, abstract=told)
    return composed(plan, dice), plan


def _plain(block: Block) -> Block:
    """A heading without its number; a text that speaks of no figure by its number."""
    if block.kind == "heading":
        return replace(block, text=re.sub(r"^\s*\d+(?:\.\d+)*\.?\s+", "", block.text))
    return replace(block, text=_FLOAT.sub("the figure", block.text),
                   items=tuple(_FLOAT.sub("the figure", item) for item in block.items))  # fmt: skip


def _cited_alone(paper: Manuscript, body: list[Block]) -> Manuscript:
    """The paper with *body*, and the references that it cites."""
    texts = [text for block in body for text in (block.text, *block.items)]
    marks = ",".join(found for text in texts for found in GROUP.findall(text))
    used = sorted({int(n) for n in marks.split(",") if n and int(n) < len(paper.references)})
    places = {str(old): str(new) for new, old in enumerate(used)}

    def mark(found: re.Match[str]) -> str:
        numbers = [places[n] for n in found.group(1).split(",") if n in places]
        return f"{OPEN}{','.join(numbers)}{CLOSE}" if numbers else ""

    return replace(
        paper,
        body=tuple(replace(b, text=GROUP.sub(mark, b.text),
                           items=tuple(GROUP.sub(mark, item) for item in b.items)) for b in body),
        back=(),
        references=tuple(paper.references[at] for at in used),
    )  # fmt: skip


@kind("protocol of a study", TUNING, SCREEN, whole=True)
def study_protocol(scene: Scene) -> Made:
    return _planned(scene, "{}: study protocol for a randomised trial", "")


@kind("rationale and design of a study", HELD_OUT, SCREEN, whole=True)
def study_design(scene: Scene) -> Made:
    return _planned(scene, "{}: rationale and design", "")
