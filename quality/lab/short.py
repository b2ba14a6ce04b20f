"""Whole papers that are short: letters, notices, editorials, abstracts of conferences."""

from __future__ import annotations

from dataclasses import replace

from quality.lab.dress import composed, head
from quality.lab.kinds import ALL, HELD_OUT, TUNING, Made, Scene, kind
from quality.lab.manuscript import Block, Manuscript
from quality.lab.others import NOTICES, RETRACTIONS, notice_text
from quality.lab.remarks import OPINIONS, about, paragraphs


def notice(scene: Scene, title: str, types: tuple[str, ...], pages: str) -> Manuscript:
    """A record of its own for something short about the paper."""
    paper = scene.paper
    number = scene.dice.randrange(10**6)
    ids = replace(paper.paper.ids, doi=f"10.5555/n{number}", pmid="", pmcid="")
    record = replace(
        paper.paper, ids=ids, title=title, abstract="", publication_types=types, pages=pages
    )
    return replace(
        paper, paper=record, title=title, abstract=(), body=(), back=(), references=(), jats=b""
    )


def _sent(paper: Manuscript, scene: Scene, told: list[Block]) -> Made:
    return [*head(paper, scene.dice), *told], paper


def _page(scene: Scene) -> str:
    return str(scene.dice.randrange(1, 999))


@kind("retraction notice", TUNING, ALL, whole=True)
def retraction(scene: Scene) -> Made:
    word = scene.dice.choice(("Retraction: ", "Retraction Note to: ", "Retraction notice to "))
    types = ("Retraction of Publication",)
    paper = notice(scene, word + scene.paper.title, types, _page(scene))
    return _sent(paper, scene, notice_text(scene, RETRACTIONS))


@kind("correction", HELD_OUT, ALL, whole=True)
def correction(scene: Scene) -> Made:
    word = scene.dice.choice(
        ("Correction to: ", "Erratum: ", "Author Correction: ", "Corrigendum: ")
    )
    paper = notice(scene, word + scene.paper.title, ("Published Erratum",), _page(scene))
    return _sent(paper, scene, notice_text(scene, NOTICES))


@kind("editorial", TUNING, ALL, whole=True)
def editorial(scene: Scene) -> Made:
    said = about(scene.paper, scene.dice, OPINIONS, scene.dice.randint(16, 45))
    paper = notice(scene, f"Thoughts on {_short(scene)}", ("Editorial",), _page(scene))
    return _sent(paper, scene, [Block("para", text) for text in paragraphs(said, scene.dice)])


@kind("letter to the editor", HELD_OUT, ALL, whole=True)
def letter(scene: Scene) -> Made:
    said = about(scene.paper, scene.dice, OPINIONS, scene.dice.randint(12, 35))
    works = tuple(scene.dice.sample(scene.paper.references, min(5, len(scene.paper.references))))
    paper = notice(scene, f"{_short(scene)}: a reply", ("Letter",), _page(scene))
    paper = replace(paper, references=works)
    told = [
        Block("para", f"To the Editor: {said[0]}"),
        *(Block("para", t) for t in paragraphs(said[1:], scene.dice)),
    ]
    if works:
        end = f"{told[-1].text} \ue000{','.join(str(n) for n in range(len(works)))}\ue001"
        told[-1] = Block("para", end)
        told += [Block("heading", "References"), Block("refs", items=tuple(w.text for w in works))]
    return _sent(paper, scene, told)


@kind("abstract of a conference", HELD_OUT, ALL, whole=True)
def conference(scene: Scene) -> Made:
    """The abstract is all that was ever published."""
    text = scene.paper.abstract_text
    if len(text.split()) < 100:
        return None
    paper = notice(scene, scene.paper.title, ("Meeting Abstract",), f"S{_page(scene)}")
    number = f"P{scene.dice.randrange(1, 400)}"
    place = scene.dice.choice(("Poster session", "Oral presentation", "Meeting abstract"))
    return _sent(paper, scene, [Block("para", f"{place} {number}"), *scene.paper.abstract])


@kind("recorded short article", TUNING, ("html", "markdown", "pdf", "jats"), whole=True, short=True)
def recorded(scene: Scene) -> Made:
    if scene.medium == "jats":
        return scene.paper.jats
    return composed(scene.paper, scene.dice)


def _short(scene: Scene) -> str:
    return " ".join(scene.paper.title.split()[:9])
