"""Fakes: landing pages, which show everything about a paper except the paper."""

from __future__ import annotations

from dataclasses import replace

from quality.lab.dress import abstract, head, reference_list
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
from quality.lab.manuscript import Block, Manuscript
from quality.lab.words import (
    AREAS,
    CITIES,
    COOKIES,
    FAMILIES,
    LETTERS,
    OFFERS,
    PLACES,
    PREPRINT,
    RELATED,
    SIGN_IN,
    SPINNERS,
    TOOLS,
)
from utils.model.paper import Author


def _has(scene: Scene, references: int = 8) -> bool:
    """Whether there is an abstract and a list to fill a landing page with."""
    words = len(scene.paper.abstract_text.split())
    return words > 60 and len(scene.paper.references) >= references


def buttons(scene: Scene, words: tuple[str, ...], least: int = 1, most: int = 4) -> list[Block]:
    """Some of these wordings, each a button."""
    return [Block("button", text) for text in scene.some(words, least, most)]


def _front(scene: Scene) -> list[Block]:
    return [*head(scene.paper, scene.dice), *abstract(scene.paper, scene.dice)]


def _shuffled(scene: Scene, *parts: list[Block]) -> list[Block]:
    order = list(parts)
    scene.dice.shuffle(order)
    return [block for part in order for block in part]


@kind("landing page whose full text is loading", TUNING, SCREEN)
def loading(scene: Scene) -> Made:
    if not _has(scene):
        return None
    title = scene.dice.choice(("Full text", "Article", "Main text", "Volltext", "Texte intégral"))
    empty = [Block("heading", title)] if scene.dice.random() < 0.5 else []
    waiting = [*empty, *buttons(scene, SPINNERS, 1, 2)]
    return [*_front(scene), *waiting, *reference_list(scene.paper, scene.dice)]


@kind("abstract, offer to buy, list of references", TUNING, SCREEN)
def offered(scene: Scene) -> Made:
    if not _has(scene):
        return None
    offer = buttons(scene, OFFERS, 1, 4)
    listed = reference_list(scene.paper, scene.dice, headed=scene.dice.random() < 0.3)
    return [*_front(scene), *_shuffled(scene, offer, listed)]


@kind("abstract and a list of references without heading", HELD_OUT, ALL)
def unheaded(scene: Scene) -> Made:
    if not _has(scene, 10):
        return None
    return [*_front(scene), *reference_list(scene.paper, scene.dice, headed=False)]


@kind("abstract, references and section titles without text", HELD_OUT, SCREEN)
def announced(scene: Scene) -> Made:
    titles = [block for block in scene.paper.body if block.kind == "heading" and block.level == 2]
    if not _has(scene) or len(titles) < 3:
        return None
    return [*_front(scene), *titles, *reference_list(scene.paper, scene.dice)]


@kind("abstract and many related links", TUNING, SCREEN)
def related(scene: Scene) -> Made:
    if not _has(scene, 0):
        return None
    links = Block(
        "links", scene.dice.choice(RELATED), items=scene.titles(scene.dice.randint(30, 60))
    )
    return [*_front(scene), *buttons(scene, TOOLS, 2, 6), links]


@kind("abstract and teasers of related articles", HELD_OUT, SCREEN)
def teasers(scene: Scene) -> Made:
    if not _has(scene, 0):
        return None
    others = scene.dice.sample(scene.pool, min(len(scene.pool), scene.dice.randint(8, 14)))
    blocks = [*_front(scene), Block("heading", scene.dice.choice(RELATED), 3)]
    for other in others:
        blocks.append(Block("heading", other.title, 4))
        text = other.abstract_text or " ".join(other.prose()[:1])
        blocks.append(Block("para", " ".join(text.split()[: scene.dice.randint(30, 90)]) + " …"))
        blocks.append(
            Block("button", scene.dice.choice(("Read more", "Continue", "Weiterlesen", "»")))
        )
    return blocks


@kind("the abstract many times", TUNING, ALL)
def repeated(scene: Scene) -> Made:
    if not _has(scene, 0):
        return None
    titles = scene.some(
        (
            "Abstract",
            "Summary",
            "Main text",
            "Description",
            "Overview",
            "Article",
            "Full abstract",
            "About this article",
            "Preview",
        ),
        4,
        8,
    )
    blocks = head(scene.paper, scene.dice)
    for title in titles:
        blocks += [
            Block("heading", title),
            *(b for b in abstract(scene.paper, scene.dice, headed=False)),
        ]
    return blocks


@kind("record without abstract", HELD_OUT, SCREEN)
def bare_record(scene: Scene) -> Made:
    paper = without_abstract(scene.paper)
    people = Block("links", items=tuple(name for name, _ in paper.people[:20]) or ("Author",))
    empty = [Block("heading", scene.dice.choice(("Abstract", "Zusammenfassung", "Résumé")))]
    titles = Block(
        "links", scene.dice.choice(RELATED), items=scene.titles(scene.dice.randint(5, 25))
    )
    blocks = [Block("heading", paper.title, 1), people, *empty]
    return [*blocks, *buttons(scene, TOOLS, 1, 6), titles], paper


@kind("record without abstract, with an offer", TUNING, SCREEN)
def bare_offer(scene: Scene) -> Made:
    paper = without_abstract(scene.paper)
    blocks = [*head(paper, scene.dice), *buttons(scene, OFFERS, 1, 5)]
    listed = reference_list(paper, scene.dice) if scene.dice.random() < 0.5 else []
    news = [Block("para", text) for text in scene.some(LETTERS, 1, 3)]
    return [*blocks, *_shuffled(scene, listed, news)], paper


def crowd(scene: Scene, number: int) -> Manuscript:
    """The paper as if a collaboration had written it."""
    dice = scene.dice
    places = [dice.choice(PLACES).format(c=city) for city in CITIES for _ in range(4)]
    letters = "ABCDEFGHIJKLMNOPRSTVWYZ"
    people = tuple(
        (
            f"{dice.choice(letters)}. {dice.choice(letters)}. {dice.choice(FAMILIES)}",
            dice.choice(places),
        )
        for _ in range(number)
    )
    families = tuple(Author(family=name.rpartition(" ")[2]) for name, _ in people)
    kept = scene.paper.people
    record = replace(scene.paper.paper, authors=(*scene.paper.paper.authors, *families))
    return replace(scene.paper, paper=record, people=(*kept, *people))


@kind("landing page of a collaboration", TUNING, ALL)
def collaboration(scene: Scene) -> Made:
    paper = crowd(scene, scene.dice.randint(800, 3000))
    places = tuple(dict.fromkeys(place for _, place in paper.people))
    blocks = [
        Block("heading", paper.title, 1),
        Block("para", ", ".join(n for n, _ in paper.people)),
    ]
    blocks += [Block("list", items=places)] if scene.dice.random() < 0.7 else []
    listed = reference_list(paper, scene.dice) if scene.dice.random() < 0.4 else []
    return [*blocks, *abstract(paper, scene.dice), *buttons(scene, TOOLS, 1, 5), *listed], paper


@kind("collaboration, each author with an address", HELD_OUT, SCREEN)
def addressed(scene: Scene) -> Made:
    paper = crowd(scene, scene.dice.randint(300, 900))
    people = tuple(f"{name}, {place}" for name, place in paper.people)
    block = Block(scene.dice.choice(("list", "links")), items=people)  # type: ignore[arg-type]
    parts = ([block], abstract(paper, scene.dice))
    return [Block("heading", paper.title, 1), *_shuffled(scene, *parts)], paper


@kind("sign-in page with the paper's title", TUNING, SCREEN)
def sign_in(scene: Scene) -> Made:
    fields = tuple(scene.some(SIGN_IN, 2, 4))
    form = Block("form", scene.dice.choice(SIGN_IN), items=fields)
    title = [Block("heading", scene.paper.title, scene.dice.choice((1, 2)))]
    return [*_shuffled(scene, title, [form]), *buttons(scene, SIGN_IN, 1, 4)]


@kind("sign-in page with the abstract", HELD_OUT, SCREEN)
def sign_in_abstract(scene: Scene) -> Made:
    form = [Block("form", scene.dice.choice(SIGN_IN), items=tuple(scene.some(SIGN_IN, 2, 5)))]
    return _shuffled(scene, _front(scene), form)


@kind("cookie layer over a teaser", HELD_OUT, SCREEN)
def cookies(scene: Scene) -> Made:
    layer = [Block("para", text) for text in scene.some(COOKIES, 4, 14)]
    words = (scene.paper.abstract_text or " ".join(scene.paper.prose()[:2])).split()
    teaser = [Block("para", " ".join(words[: scene.dice.randint(30, 160)]) + " …")]
    return _shuffled(scene, layer, [Block("heading", scene.paper.title, 1), *teaser])


@kind("preprint server's landing page", TUNING, SCREEN)
def preprint(scene: Scene) -> Made:
    if not scene.paper.abstract_text:
        return None
    areas = Block("links", scene.dice.choice(RELATED), items=tuple(scene.some(AREAS, 6, 12)))
    return [*_front(scene), *(Block("para", t) for t in scene.some(PREPRINT, 5, 12)), areas]
