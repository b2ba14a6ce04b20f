"""Whole papers in harder dress still: odd orders, other tongues, old prints, noisy scans."""

from __future__ import annotations

import re
from dataclasses import replace

from quality.lab.cuts import parts
from quality.lab.dress import abstract, composed, head, reference_list
from quality.lab.foreign import TONGUES, usable
from quality.lab.kinds import (
    ALL,
    HELD_OUT,
    SCREEN,
    TUNING,
    Made,
    Scene,
    kind,
    without_abstract,
)
from quality.lab.manuscript import GROUP, Block, Manuscript, uncited
from quality.lab.parts import _numbers
from quality.lab.remarks import COMMENTS, REVIEWS, about, paragraphs
from quality.lab.sources import LEAST_WORDS
from quality.lab.words import FAMILIES, MENU, RELATED, TOOLS


def _with_body(paper: Manuscript, body: list[Block]) -> Manuscript:
    return replace(paper, body=tuple(body))


@kind("tables everywhere", TUNING, ALL, whole=True)
def tables(scene: Scene) -> Made:
    body: list[Block] = []
    for at, block in enumerate(scene.paper.body):
        body.append(block)
        if block.kind == "para" and at % 4 == 1:
            rows = _numbers(scene, scene.dice.randint(6, 30), scene.dice.randint(3, 7))
            body.append(Block("table", f"Table A{at}. Values by sample.", rows=rows))
    return composed(_with_body(scene.paper, body), scene.dice)


@kind("scanned, a letter in a hundred misread", TUNING, ("pdf",), whole=True, noise=0.03)
def scanned(scene: Scene) -> Made:
    return composed(scene.paper, scene.dice)


@kind(
    "scanned in two columns, more letters misread",
    HELD_OUT,
    ("pdf",),
    whole=True,
    noise=0.05,
    columns=2,
)
def scanned_columns(scene: Scene) -> Made:
    return composed(scene.paper, scene.dice)


@kind("as printed in the fifties", HELD_OUT, ("pdf", "html", "markdown"), whole=True)
def fifties(scene: Scene) -> Made:
    """No abstract, no titles; works cited are notes at the foot of the text, numbered anew."""
    paper = without_abstract(scene.paper)
    if paper.body_words < LEAST_WORDS:
        return None
    said = [block for block in paper.body if block.kind in {"para", "figure", "table"}]
    out, notes = [], 0
    for block in said:
        marks: list[int] = []
        for found in GROUP.finditer(block.text):
            marks += [int(part) for part in found.group(1).split(",")]
        text = block.text
        if marks and block.kind == "para":
            text = uncited(text) if len(marks) > 6 else _starred(text)
        out.append(replace(block, text=text))
        for at in list(dict.fromkeys(marks))[:6] if block.kind == "para" else []:
            if at < len(paper.references):
                notes += 1
                out.append(Block("para", f"{'*' * (notes % 3 + 1)} {paper.references[at].text}"))
    record = replace(paper.paper, published=f"195{scene.dice.randrange(10)}")
    return [*head(paper, scene.dice), *out], replace(paper, paper=record, references=())


def _starred(text: str) -> str:
    marks = iter("* ** *** † ‡ §".split() * 3)  # noqa: SIM905
    return GROUP.sub(lambda _: next(marks, "*"), text)


@kind("narrow columns", TUNING, ("pdf",), whole=True, columns=3, cites="parens")
def narrow(scene: Scene) -> Made:
    """Every other line begins with a number, a year or a reference."""
    return composed(scene.paper, scene.dice)


@kind("words broken at the ends of lines", HELD_OUT, ("pdf",), whole=True, hyphens=True, columns=2)
def hyphens(scene: Scene) -> Made:
    return composed(scene.paper, scene.dice)


@kind("methods at the end", TUNING, ALL, whole=True)
def methods_last(scene: Scene) -> Made:
    sections = parts(scene.paper)
    last = [part for part in sections if "method" in part[0].text.lower()]
    if not last or len(sections) < 3:
        return None
    first = [part for part in sections if part not in last]
    body = [block for part in (*first, *last) for block in part]
    return composed(_with_body(scene.paper, body), scene.dice)


@kind("further reading behind the references", TUNING, ALL, whole=True)
def further_reading(scene: Scene) -> Made:
    """Works that a review recommends and does not cite, in a list of their own."""
    paper, dice = scene.paper, scene.dice
    if len(paper.references) < 10:
        return None
    others = [r.text for one in scene.pool[-40:] for r in one.references if one is not paper]
    number = min(len(others), int(len(paper.references) * dice.uniform(0.3, 0.7)))
    title = dice.choice(("Further reading", "Bibliography", "Suggested reading"))
    works = Block("refs", items=tuple(dice.sample(others, number)))
    return [*composed(paper, dice), Block("heading", title), works]


@kind("no references, nothing cited", HELD_OUT, ALL, whole=True)
def unreferenced(scene: Scene) -> Made:
    """An essay, or an old paper that names its sources in the text."""
    body = [
        replace(b, text=uncited(b.text), items=tuple(map(uncited, b.items)))
        for b in scene.paper.body
    ]
    if scene.paper.body_words < LEAST_WORDS:
        return None
    paper = replace(_with_body(scene.paper, body), references=())
    return composed(paper, scene.dice), paper


@kind("no record has an abstract", TUNING, ALL, whole=True)
def unsummarised(scene: Scene) -> Made:
    paper = without_abstract(scene.paper)
    return composed(paper, scene.dice), paper


@kind("abstract behind the text", HELD_OUT, ALL, whole=True)
def abstract_last(scene: Scene) -> Made:
    paper = scene.paper
    blocks = [*head(paper, scene.dice), *paper.body, *paper.back]
    blocks += abstract(paper, scene.dice, word=scene.dice.choice(("Summary", "Zusammenfassung")))
    return [*blocks, *reference_list(paper, scene.dice)]


@kind(
    "a reader service's hundred links", HELD_OUT, ("markdown",), whole=True, weight=2, furniture=40
)
def hundred_links(scene: Scene) -> Made:
    dice = scene.dice
    menus = [Block("links", items=tuple(dice.sample(MENU, 30) + dice.sample(TOOLS, 25)))]
    more = [Block("links", dice.choice(RELATED), items=scene.titles(dice.randint(30, 60)))]
    return [*menus, *composed(scene.paper, dice), *more]


@kind("referees' reports behind it", TUNING, SCREEN, whole=True)
def refereed(scene: Scene) -> Made:
    blocks = composed(scene.paper, scene.dice)
    for number in range(scene.dice.randint(1, 3)):
        said = about(scene.paper, scene.dice, REVIEWS, scene.dice.randint(6, 30))
        blocks.append(Block("heading", f"Reviewer report {number + 1}"))
        blocks += [Block("para", text) for text in paragraphs(said, scene.dice)]
    return blocks


@kind("readers' comments behind it", HELD_OUT, SCREEN, whole=True)
def discussed(scene: Scene) -> Made:
    blocks = composed(scene.paper, scene.dice)
    for said in about(scene.paper, scene.dice, COMMENTS, scene.dice.randint(5, 40)):
        blocks.append(Block("para", f"{scene.dice.choice(FAMILIES)}: {said}"))
    return blocks


def _foreign(scene: Scene, tongue: str) -> Made:
    """Title, names and abstract in English, all else in another tongue."""
    paper, turned = scene.paper, TONGUES[tongue]
    if not usable(paper) or paper.body_words < LEAST_WORDS:
        return None

    def told(text: str) -> str:
        return "".join(
            part if GROUP.fullmatch(part) else turned(part)
            for part in re.split("(\ue000[0-9,]+\ue001)", text)
        )

    body = [replace(b, text=told(b.text), items=tuple(map(told, b.items))) for b in paper.body]
    back = tuple(replace(b, text=told(b.text)) for b in paper.back)
    return composed(replace(_with_body(paper, body), back=back), scene.dice)


@kind("text in Cyrillic", TUNING, SCREEN, whole=True)
def russian(scene: Scene) -> Made:
    return _foreign(scene, "ru")


@kind("text in Han characters", HELD_OUT, SCREEN, whole=True)
def chinese(scene: Scene) -> Made:
    return _foreign(scene, "zh")


@kind("text in a Romance tongue", HELD_OUT, ALL, whole=True)
def spanish(scene: Scene) -> Made:
    return _foreign(scene, "es")


@kind("appendices behind the references", TUNING, ALL, whole=True)
def appendices(scene: Scene) -> Made:
    blocks = composed(scene.paper, scene.dice)
    for letter in "ABC"[: scene.dice.randint(1, 3)]:
        rows = _numbers(scene, scene.dice.randint(5, 40), 4)
        blocks += [
            Block("heading", f"Appendix {letter}"),
            Block("table", f"Table {letter}1", rows=rows),
        ]
    return blocks


@kind("lives of the authors behind the references", HELD_OUT, ALL, whole=True)
def biographies(scene: Scene) -> Made:
    blocks = composed(scene.paper, scene.dice)
    for name, place in scene.paper.people[:6]:
        year = scene.dice.randint(1980, 2015)
        blocks.append(
            Block(
                "para",
                f"{name} received a doctorate in {year} and works at {place}. "
                "Her interests are in methods and their history, and in teaching.",
            )
        )
    return blocks


@kind("titles as bold paragraphs", HELD_OUT, SCREEN, whole=True)
def bold_titles(scene: Scene) -> Made:
    return [
        Block("para", block.text.upper()) if block.kind == "heading" and block.level > 1 else block
        for block in composed(scene.paper, scene.dice)
    ]


@kind("recorded PDF", TUNING, ("pdf",), whole=True, recorded=True)
def recorded_pdf(scene: Scene) -> Made:
    return scene.paper.file("pdf")


@kind("recorded page", HELD_OUT, ("html",), whole=True, recorded=True)
def recorded_page(scene: Scene) -> Made:
    return scene.paper.file("html")
