"""Fakes that retell a paper, written after the fifth version of the judges was settled.

Whoever wrote that version had by accident seen how some of the older kinds for testing are made.
These were written when nothing in the judges could change any more, and counted once.
"""

from __future__ import annotations

from quality.lab.cuts import long_enough, parts
from quality.lab.dress import abstract, head
from quality.lab.kinds import ALL, HELD_OUT, SCREEN, Made, Scene, kind
from quality.lab.manuscript import CLOSE, OPEN, Block, Manuscript, sentences, uncited
from quality.lab.remarks import about, paragraphs
from quality.lab.words import FAMILIES

_ASKED = (
    "What made you look at {a} in the first place?",
    "Were you surprised by {b}?",
    "How do you know that it is {a} and not {b}?",
    "What would you tell somebody who begins to work on {a}?",
)
_TOLD = (
    "To be honest, {a} was a side project until a student showed me the first plots.",
    "We argued for weeks about {b}, and in the end we measured it twice.",
    "People tend to forget how hard it is to get {a} under control.",
    "That is the part I like best, since nobody had tried {b} before.",
    "If I could begin again, I would collect far more of {a} from the start.",
    "Money was short, so {b} had to wait for a year.",
)
_NOTES = (
    "Our group read this one because {a} comes up in our own project.",
    "Half of us were convinced by {a}; the others wanted to see {b} done blind.",
    "Good: the design is simple. Less good: {b} is only touched upon.",
    "Question for next week: does {a} scale when {b} is left out?",
    "Figure 2 needed some explaining, but it does show what it claims about {a}.",
    "For our own work this means that {b} should be recorded from now on.",
)


def _list(paper: Manuscript, number: int) -> list[Block]:
    items = tuple(reference.text for reference in paper.references[:number])
    return [Block("heading", "References"), Block("refs", items=items)]


def _marked(scene: Scene, texts: list[str], works: int) -> list[str]:
    """Let every other text cite one of the first *works* references."""
    return [
        f"{text.rstrip('.')} {OPEN}{scene.dice.randrange(works)}{CLOSE}." if at % 2 else text
        for at, text in enumerate(texts)
    ]


@kind("handout of a lecture on the paper", HELD_OUT, ALL)
def handout(scene: Scene) -> Made:
    """Three to five short points for each section, in the section's own words."""
    paper, dice = scene.paper, scene.dice
    if not long_enough(paper) or len(paper.references) < 6:
        return None
    blocks = head(paper, dice)
    for part in parts(paper)[:8]:
        said = [text for block in part if block.kind == "para" for text in sentences(block.text)]
        points = tuple(" ".join(uncited(text).split()[: dice.randint(5, 14)]) for text in said[:5])
        if part[0].kind == "heading" and len(points) > 2:
            blocks += [part[0], Block("list", items=points)]
    return [*blocks, *_list(paper, dice.randint(6, 20))]


@kind("abstract of two columns with three sections", HELD_OUT, ALL)
def columns(scene: Scene) -> Made:
    """The first paragraph of three sections of the paper, and a few references."""
    paper, dice = scene.paper, scene.dice
    if not long_enough(paper) or paper.body_words < 2500 or len(paper.references) < 5:
        return None
    body: list[Block] = []
    for part in dice.sample(parts(paper), min(3, len(parts(paper)))):
        told = [block for block in part if block.kind == "para" and block.words > 30][:1]
        body += [part[0], *told] if part[0].kind == "heading" else told
    if sum(block.words for block in body) > 0.3 * paper.body_words:
        return None
    return [*head(paper, dice), *abstract(paper, dice), *body, *_list(paper, dice.randint(5, 9))]


@kind("interview with an author, with references", HELD_OUT, SCREEN)
def interview(scene: Scene) -> Made:
    paper, dice = scene.paper, scene.dice
    works = min(len(paper.references), dice.randint(5, 15))
    if works < 5:
        return None
    blocks = [Block("heading", paper.title, 1), *abstract(paper, dice)]
    for question in about(paper, dice, _ASKED, dice.randint(5, 9)):
        answers = _marked(scene, about(paper, dice, _TOLD, dice.randint(3, 8)), works)
        blocks += [Block("heading", question)]
        blocks += [Block("para", text) for text in paragraphs(answers, dice)]
    return [*blocks, *_list(paper, works)]


@kind("notes of a journal club, with references", HELD_OUT, SCREEN)
def club(scene: Scene) -> Made:
    paper, dice = scene.paper, scene.dice
    works = min(len(paper.references), dice.randint(5, 12))
    if works < 5:
        return None
    blocks = [Block("heading", paper.title, 1), Block("para", f"Notes by {dice.choice(FAMILIES)}")]
    for name in dice.sample(("Background", "Methods", "Results", "Discussion", "Verdict"), 4):
        said = _marked(scene, about(paper, dice, _NOTES, dice.randint(6, 16)), works)
        blocks += [Block("heading", name)]
        blocks += [Block("para", text) for text in paragraphs(said, dice)]
    return [*blocks, *_list(paper, works)]
