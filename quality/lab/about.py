"""Fakes: texts about the paper, written by others or by its authors for others."""

from __future__ import annotations

from dataclasses import replace

from quality.lab.dress import abstract, head
from quality.lab.kinds import ALL, HELD_OUT, SCREEN, TUNING, Made, Scene, kind
from quality.lab.manuscript import Block, sentences
from quality.lab.remarks import (
    ANSWERS,
    CLAIMS,
    COMMENTS,
    NEWS,
    OPINIONS,
    REVIEWS,
    about,
    paragraphs,
)
from quality.lab.words import FAMILIES, LETTERS, RELATED, TOOLS

PRINTED = ("html", "markdown", "pdf")


def _told(scene: Scene, templates: tuple[str, ...], least: int, most: int) -> list[Block]:
    said = about(scene.paper, scene.dice, templates, scene.dice.randint(least, most))
    return [Block("para", text) for text in paragraphs(said, scene.dice)]


def _titled(scene: Scene, words: tuple[str, ...]) -> Block:
    """A heading with the paper's title, and what this is."""
    what, title = scene.dice.choice(words), scene.paper.title
    return Block(
        "heading", scene.dice.choice((f"{what}: {title}", f"{what} for “{title}”", title)), 1
    )


@kind("peer-review file", TUNING, ALL)
def peer_review(scene: Scene) -> Made:
    names = (
        "Peer review file",
        "Reviewer comments",
        "Decision letter",
        "Review history",
        "Referees",
    )
    blocks = [_titled(scene, names)]
    for number in range(scene.dice.randint(2, 4)):
        title = scene.dice.choice(("Reviewer #{n}", "Referee {n}", "Review {n}", "Gutachten {n}"))
        blocks.append(Block("heading", title.format(n=number + 1)))
        blocks += _told(scene, REVIEWS, 10, 45)
    return blocks


@kind("authors' answer to the reviewers", HELD_OUT, ALL)
def answers(scene: Scene) -> Made:
    names = ("Response to reviewers", "Author response", "Rebuttal", "Point-by-point reply")
    blocks = [_titled(scene, names)]
    for _ in range(scene.dice.randint(2, 3)):
        said = about(scene.paper, scene.dice, REVIEWS, scene.dice.randint(8, 20))
        for remark in said:
            blocks.append(Block("para", remark))
            blocks.append(Block("para", about(scene.paper, scene.dice, ANSWERS, 1)[0]))
    return blocks


@kind("press release about the paper", TUNING, SCREEN)
def press(scene: Scene) -> Made:
    names = ("Press release", "News", "Media information", "Pressemitteilung", "From the lab")
    story = _told(scene, NEWS, 14, 45)
    source = Block(
        "para",
        f"{scene.paper.title}. {scene.paper.journal}, {scene.paper.year}. "
        f"doi:{scene.paper.paper.ids.doi}",
    )
    return [_titled(scene, names), *story, source, Block("para", scene.dice.choice(LETTERS))]


@kind("lay summary", HELD_OUT, SCREEN)
def lay(scene: Scene) -> Made:
    names = ("Plain language summary", "Lay summary", "In simple words", "Digest", "For everyone")
    return [_titled(scene, names), *_told(scene, NEWS, 10, 30), *abstract(scene.paper, scene.dice)]


@kind("commentary on the paper", HELD_OUT, ALL)
def commentary(scene: Scene) -> Made:
    paper, dice = scene.paper, scene.dice
    cites = tuple(r.text for r in dice.sample(paper.references, min(8, len(paper.references))))
    cited = f"{paper.title}. {paper.journal}. {paper.year}. https://doi.org/{paper.paper.ids.doi}"
    people = Block("para", ", ".join(f"A. {name}" for name in dice.sample(FAMILIES, 2)))
    names = ("Commentary", "News & Views", "Invited comment", "In brief", "Perspective")
    title = Block("heading", f"{dice.choice(names)}: {paper.title}", 1)
    shown = Block("heading", dice.choice(("References", "Literature")))
    blocks = [title, people, *_told(scene, OPINIONS, 14, 40), shown]
    return [*blocks, Block("refs", items=(cited, *cites))]


@kind("points that a program has extracted", TUNING, SCREEN)
def points(scene: Scene) -> Made:
    said = sentences(scene.paper.abstract_text)
    if len(said) < 4:
        return None
    titles = scene.some(
        (
            "Key points",
            "TL;DR",
            "Main findings",
            "Why it matters",
            "Limitations",
            "AI summary",
            "At a glance",
            "Study design",
            "Takeaways",
        ),
        3,
        6,
    )
    blocks = [Block("heading", scene.paper.title, 1)]
    for title in titles:
        items = scene.dice.sample(said, min(len(said), scene.dice.randint(2, 6)))
        blocks += [Block("heading", title), Block("list", items=tuple(items))]
        blocks += _told(scene, OPINIONS, 2, 5)
    return blocks


@kind("thread of comments", HELD_OUT, SCREEN)
def comments(scene: Scene) -> Made:
    blocks = [Block("heading", scene.paper.title, 1)]
    for said in about(scene.paper, scene.dice, COMMENTS, scene.dice.randint(15, 70)):
        name = f"{scene.dice.choice(FAMILIES)}{scene.dice.randrange(99)}"
        blocks += [
            Block("para", f"{name} · {scene.dice.randrange(1, 20)} days ago"),
            Block("para", said),
        ]
        blocks += [Block("button", scene.dice.choice(("Reply", "Antworten", "Like", "Report")))]
    return blocks


@kind("weblog about the paper", TUNING, SCREEN)
def weblog(scene: Scene) -> Made:
    quoted = sentences(scene.paper.abstract_text)[:3]
    told = _told(scene, (*NEWS, *OPINIONS, *COMMENTS), 20, 60)
    place = scene.dice.randrange(len(told))
    quote = [Block("para", f"“{text}”") for text in quoted]
    links = Block("links", scene.dice.choice(RELATED), items=scene.titles(6))
    return [Block("heading", scene.paper.title, 1), *told[:place], *quote, *told[place:], links]


@kind("page of a video about the paper", HELD_OUT, SCREEN)
def video(scene: Scene) -> Made:
    said = about(scene.paper, scene.dice, (*NEWS, *OPINIONS), scene.dice.randint(20, 60))
    lines = [
        Block("para", f"{at * 7 // 60:02}:{at * 7 % 60:02} {text}") for at, text in enumerate(said)
    ]
    words = ("Video abstract", "Transcript", "Watch", "Webinar", "Talk")
    return [_titled(scene, words), *(Block("button", t) for t in scene.some(TOOLS, 2, 4)), *lines]


@kind("patent on the matter", TUNING, ALL)
def patent(scene: Scene) -> Made:
    paper = scene.paper
    blocks = [
        Block("heading", paper.title, 1),
        Block("para", f"US {scene.dice.randrange(10**7)} B2"),
    ]
    blocks += [Block("para", ", ".join(name for name, _ in paper.people[:4]))]
    blocks += [Block("heading", "Abstract"), Block("para", paper.abstract_text[:600])]
    for title in scene.some(
        (
            "Description",
            "Field of the invention",
            "Background",
            "Claims",
            "Detailed description",
            "Examples",
        ),
        3,
        5,
    ):
        blocks += [Block("heading", title), *_told(scene, CLAIMS, 10, 30)]
    return blocks


@kind("thesis: cover, abstract and contents", HELD_OUT, ALL)
def thesis(scene: Scene) -> Made:
    paper, dice = scene.paper, scene.dice
    titles = [block.text for block in paper.body if block.kind == "heading"]
    lines = tuple(
        f"{text} {'.' * dice.randint(4, 40)} {at * 7 + 1}" for at, text in enumerate(titles)
    )
    thanks = _told(
        scene,
        (
            "I thank my supervisors for their patience with {a}.",
            "My friends kept asking about {a} even when I could not hear of it any more.",
            "Without the help of the workshop, {b} would never have run.",
            "My parents have always wanted to know what {a} is good for.",
        ),
        4,
        14,
    )
    front = [
        Block("heading", paper.title, 1),
        Block("para", paper.people[0][0] if paper.people else ""),
    ]
    front += [
        Block(
            "para",
            dice.choice(
                (
                    "A thesis submitted for the degree of Doctor of Philosophy",
                    "Inaugural-Dissertation",
                    "Thèse de doctorat",
                )
            ),
        )
    ]
    return [*front, *thanks, *abstract(paper, dice), Block("list", items=lines)]


@kind("highlights, figures and references", TUNING, SCREEN)
def highlights(scene: Scene) -> Made:
    paper = scene.paper
    shown = [block for block in paper.body if block.kind in {"figure", "table"}]
    said = sentences(paper.abstract_text)[:4]
    if len(shown) < 3 or len(said) < 3 or len(paper.references) < 10:
        return None
    listed = Block("refs", items=tuple(r.text for r in paper.references))
    title = [Block("heading", "References")] if scene.dice.random() < 0.5 else []
    points_ = [Block("heading", "Highlights"), Block("list", items=tuple(said))]
    figures = [replace(b, rows=()) if b.kind == "table" else b for b in shown]
    return [*head(paper, scene.dice), *points_, *figures, *title, listed]
