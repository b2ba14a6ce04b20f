"""Fakes that cite: summaries by programs, extended abstracts, digests, reports of reviewers."""

from __future__ import annotations

from quality.lab.cuts import long_enough, parts
from quality.lab.dress import abstract, head
from quality.lab.kinds import ALL, HELD_OUT, SCREEN, TUNING, Made, Scene, kind
from quality.lab.manuscript import CLOSE, OPEN, Block, Manuscript, sentences, uncited
from quality.lab.remarks import ANSWERS, NEWS, OPINIONS, REVIEWS, about, paragraphs
from quality.lab.words import FAMILIES, TOOLS

SUMMARIES = (
    "This paper investigates {a} and its relation to {b}.",
    "The authors report that {a} is associated with {b}, which extends earlier work.",
    "A key contribution of the study is its systematic treatment of {a}.",
    "The study addresses a gap in what is known about {b}.",
    "According to the authors, {a} may serve as a starting point for further research on {b}.",
    "The researchers used an established design to examine {a} in the context of {b}.",
    "One strength of the work is the detailed description of {a}; a weakness is the lack of {b}.",
    "Overall, the article provides evidence that {a} matters for {b}.",
    "The findings have implications for practitioners who deal with {a}.",
    "In contrast to previous reports, the paper suggests that {b} is not the main cause.",
    "Future studies should look at {a} over longer periods, the authors write.",
    "The analysis rests on {b}, and the results are summarised in several tables of the paper.",
)


def _cites(scene: Scene, texts: list[str], number: int) -> list[str]:
    """The texts, most of them citing one or two of the first *number* references."""
    out, at = [], 0
    for text in texts:
        numbers = [str((at + n) % number) for n in range(scene.dice.randint(1, 2))]
        at += len(numbers)
        mark = f" {OPEN}{','.join(numbers)}{CLOSE}" if scene.dice.random() < 0.8 else ""
        out.append(f"{text.rstrip('.')}{mark}.")
    return out


def _works(scene: Scene, least: int, most: int) -> int:
    """How many works a text cites; none where the paper has fewer than *least*."""
    number = min(len(scene.paper.references), scene.dice.randint(least, most))
    return number if number >= least else 0


def _list(paper: Manuscript, number: int, word: str = "References") -> list[Block]:
    items = tuple(reference.text for reference in paper.references[:number])
    return [Block("heading", word), Block("refs", items=items)]


def _sections(
    scene: Scene, titles: list[str], templates: tuple[str, ...], cited: int, most: int = 14
) -> list[Block]:
    out = []
    for title in titles:
        said = about(scene.paper, scene.dice, templates, scene.dice.randint(4, most))
        told = paragraphs(_cites(scene, said, cited) if cited else said, scene.dice)
        out += [Block("heading", title), *(Block("para", text) for text in told)]
    return out


@kind("summary by a program, with references", TUNING)
def summary(scene: Scene) -> Made:
    if not (cited := _works(scene, 6, 25)):
        return None
    names = (
        "Overview", "Key findings", "Methodology", "Implications", "Strengths and limitations",
        "Background", "Future directions", "Results", "Conclusion", "Study design",
    )  # fmt: skip
    titles = scene.some(names, 4, 8)
    body = _sections(scene, titles, SUMMARIES, cited)
    return [Block("heading", scene.paper.title, 1), *body, *_list(scene.paper, cited)]


@kind("answer of an assistant about the paper, with sources", HELD_OUT)
def answer(scene: Scene) -> Made:
    if not (cited := _works(scene, 5, 15)):
        return None
    names = (
        "What did they do?",
        "What did they find?",
        "Why does it matter?",
        "Caveats",
        "In short",
    )
    body = _sections(scene, scene.some(names, 3, 5), (*SUMMARIES, *OPINIONS), cited, 16)
    said = [Block("heading", scene.paper.title, 1), *abstract(scene.paper, scene.dice), *body]
    return [*said, *_list(scene.paper, cited, "Sources")]


@kind("extended abstract", TUNING, ALL)
def extended(scene: Scene) -> Made:
    """One or two short paragraphs a section, and the works that they cite."""
    paper = scene.paper
    if not long_enough(paper) or paper.body_words < 2000 or len(paper.references) < 8:
        return None
    body = []
    for part in parts(paper)[:6]:
        told = [block for block in part if block.kind == "para" and block.words > 30]
        words = [Block("para", " ".join(sentences(one.text)[:3])) for one in told[:2]]
        body += [part[0], *words] if part[0].kind == "heading" and words else []
    if sum(block.words for block in body) > 0.3 * paper.body_words:
        return None
    return [*head(paper, scene.dice), *body, *_list(paper, scene.dice.randint(4, 10))]


@kind("extended abstract of two pages' length", HELD_OUT)
def proceedings(scene: Scene) -> Made:
    """The abstract, the introduction's first paragraphs and the conclusion's last."""
    paper, dice = scene.paper, scene.dice
    said = paper.prose(40)
    if not long_enough(paper) or paper.body_words < 3000 or len(said) < 8:
        return None
    told = [block for block in paper.body if block.kind == "para" and block.words > 40]
    body = [Block("heading", "Introduction"), *told[:2], Block("heading", "Approach"), told[4]]
    body += [Block("heading", "Outcome"), *told[-2:]]
    return [*head(paper, dice), *abstract(paper, dice), *body, *_list(paper, dice.randint(5, 12))]


@kind("digest, decision letter and answer without the body", TUNING)
def letters(scene: Scene) -> Made:
    paper, dice = scene.paper, scene.dice
    said = [*head(paper, dice), *abstract(paper, dice)]
    said += _sections(scene, [dice.choice(("Digest", "eLife digest", "Editor's summary"))], NEWS, 0)
    said += _sections(scene, ["Decision letter"], REVIEWS, 0, 40)
    said += _sections(scene, [dice.choice(("Author response", "Reply"))], ANSWERS, 0, 40)
    return [*said, *_list(paper, len(paper.references))] if paper.references else None


@kind("assessment, public reviews and references without the body", HELD_OUT)
def reviewed(scene: Scene) -> Made:
    paper, dice = scene.paper, scene.dice
    said = [*head(paper, dice), *abstract(paper, dice)]
    said += _sections(scene, ["Editors' assessment"], OPINIONS, 0, 6)
    said += _sections(scene, ["Reviewer #1 (public review)", "Reviewer #2"], REVIEWS, 0, 30)
    said += _sections(scene, ["Author response"], ANSWERS, 0, 30)
    return [*said, *_list(paper, len(paper.references))] if paper.references else None


@kind("reports of reviewers that cite works", TUNING, ALL)
def reports(scene: Scene) -> Made:
    if not (cited := _works(scene, 4, 12)):
        return None
    titles = [f"Reviewer {n + 1}" for n in range(scene.dice.randint(2, 3))]
    body = _sections(scene, titles, REVIEWS, cited, 30)
    return [Block("heading", scene.paper.title, 1), *body, *_list(scene.paper, cited)]


@kind("news about the paper, with references", HELD_OUT)
def news(scene: Scene) -> Made:
    if not (cited := _works(scene, 4, 12)):
        return None
    titles = scene.some(("A surprise", "How it was done", "What comes next", "Voices"), 2, 4)
    body = _sections(scene, titles, NEWS, cited, 14)
    people = Block("para", f"By {scene.dice.choice(FAMILIES)}")
    title = Block("heading", scene.paper.title, 1)
    return [title, people, *body, *_list(scene.paper, cited, "Further reading")]


@kind("supplementary text with references of its own", TUNING, ALL)
def supplement(scene: Scene) -> Made:
    paper, dice = scene.paper, scene.dice
    told = [block for block in paper.body if block.kind == "para" and block.words > 30]
    if len(told) < 8 or len(paper.references) < 8 or not long_enough(paper):
        return None
    some = dice.sample(told, max(3, len(told) // 4))
    body = []
    for n, block in enumerate(some, start=1):
        name = dice.choice(("Supplementary note", "Text", "Supplementary methods"))
        body += [Block("heading", f"{name} S{n}"), block]
    figures = [Block("para", f"Figure S{n}. {sentences(uncited(b.text))[0]}") for n, b in
               enumerate(some[:3], start=1)]  # fmt: skip
    said = dice.choice(("Supplementary information for", "Supporting information", "Appendix"))
    title = [Block("heading", f"{said}: {paper.title}", 1)]
    return [*title, *body, *figures, *_list(paper, 12, "Supplementary references")]


@kind("slides with references", HELD_OUT, SCREEN)
def slides(scene: Scene) -> Made:
    paper, dice = scene.paper, scene.dice
    said = paper.prose()[:24]
    if len(said) < 10 or len(paper.references) < 5:
        return None
    blocks = [Block("heading", paper.title, 1), Block("button", dice.choice(TOOLS))]
    for number, text in enumerate(said, start=1):
        points_ = tuple(" ".join(one.split()[:12]) for one in sentences(text)[:4])
        mark = f" {OPEN}{number % 5}{CLOSE}"
        blocks += [
            Block("heading", " ".join(points_[0].split()[:4])),
            Block("list", items=tuple(f"{point}{mark}" for point in points_)),
        ]
    return [*blocks, *_list(paper, 5)]
