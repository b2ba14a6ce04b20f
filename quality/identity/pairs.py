"""What a kind of pair is, and the steps that kinds share: companions, halves, renderings."""

from __future__ import annotations

import random
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Literal

from quality.cases import read
from quality.lab.dress import composed
from quality.lab.kinds import HELD_OUT, TUNING, Half, register, rendered, without_abstract
from quality.lab.manuscript import Block, Manuscript, sentences, uncited
from quality.lab.sources import manuscripts
from utils.model.identifiers import Ids
from utils.model.paper import Author, Document, Media, Paper
from utils.outline.words import fold_words
from utils.readers.author_names import extract_family_name_from_full_name

Relation = Literal["near", "true"]
MEDIA: tuple[Media, ...] = ("html", "html", "html", "markdown", "markdown", "pdf")
LEAST_WORDS = 1500  # of a body that is divided in two
ABSTRACT_WORDS = 200


@dataclass(frozen=True)
class Pair:
    """A text, and the record that it is compared with."""

    kind: str
    relation: Relation
    half: Half
    article: str
    document: Document
    paper: Paper


@dataclass
class Scene:
    """An article, its nearest neighbour in vocabulary, and chance."""

    paper: Manuscript
    dice: random.Random
    pool: tuple[Manuscript, ...]
    settled: dict[str, object] = field(default_factory=dict)

    @property
    def neighbour(self) -> Manuscript:
        """Another article that shares many words with this one."""
        others = [one for one in self.pool if one.name != self.paper.name]
        near = sorted(others, key=lambda one: -shared_words(self.paper, one))[:4]
        return self.dice.choice(near)

    @property
    def title(self) -> str:
        """The article's title without a full stop."""
        return self.paper.title.rstrip(" .")

    def either(self, one: str, other: str) -> tuple[str, str]:
        """Return the two in random order."""
        return (one, other) if self.dice.random() < 0.5 else (other, one)

    def companion(self, ours: str, theirs: str) -> Sides:
        """Return a text titled *theirs* by the people of the paper, which is titled *ours*.

        Half of these share a study and its words, the others a field. Some texts print their own
        DOI, some none; some records and some texts have no abstract.
        """
        dice, paper = self.dice, self.paper
        asked, other = halves(paper) if dice.random() < 0.5 else (paper, self.neighbour)
        record = replace(
            asked.paper, title=ours, abstract=asked.abstract_text, ids=paper.paper.ids, pages=""
        )
        people = paper.people if dice.random() < 0.75 else (paper.people[0], *other.people[1:])
        own = Ids(doi=next_doi(paper.paper.ids.doi)) if dice.random() < 0.55 else Ids()
        text = replace(titled(other, theirs, own), people=people, journal=paper.journal)
        if dice.random() < 0.2:
            record = replace(record, abstract="")
        if dice.random() < 0.2:
            text = without_abstract(text)
        return text, record

    def swapped(self, words: Sequence[tuple[str, str]], forms: Sequence[str]) -> Sides:
        """Return companions whose titles have one of two words each, in the same form."""
        one, other = self.either(*self.dice.choice(words))
        form = self.dice.choice(forms)
        ours, theirs = (form.format(title=self.title, word=word) for word in (one, other))
        return self.companion(ours, theirs)


Sides = tuple[Manuscript, Paper]
"""The manuscript a text is rendered from, and the record."""
Make = Callable[[Scene], Sides | None]


@dataclass(frozen=True)
class Kind:
    """A kind of pair, and how one is made."""

    name: str
    relation: Relation
    half: Half
    make: Make
    media: tuple[Media, ...]


KINDS: dict[str, Kind] = {}


def kind(
    name: str, half: Half, relation: Relation = "near", media: tuple[Media, ...] = MEDIA
) -> Callable[[Make], Make]:
    """Register a way to make pairs."""

    def registered(make: Make) -> Make:
        register(KINDS, Kind(name, relation, half, make, media))
        return make

    return registered


@cache
def articles(half: Half) -> tuple[Manuscript, ...]:
    """The recorded research articles of one half."""
    kept = (one for one in manuscripts(True) if one.body_words >= LEAST_WORDS)
    kept = (one for one in kept if one.abstract_text and one.people and one.paper.ids.doi)
    return tuple(
        _with_authors(one)
        for one in kept
        if (zlib.crc32(one.name.encode()) % 2 == 0) == (half == TUNING)
    )


def _with_authors(paper: Manuscript) -> Manuscript:
    """Name the authors in records that were derived without them."""
    families = paper.paper.authors or tuple(
        Author(extract_family_name_from_full_name(name)) for name, _ in paper.people
    )
    return replace(paper, paper=replace(paper.paper, authors=families))


@cache
def _long_words(paper: Manuscript) -> frozenset[str]:
    return frozenset(w for block in paper.body for w in fold_words(block.text) if len(w) > 6)


def shared_words(one: Manuscript, other: Manuscript) -> float:
    """Return the share of long words two articles have in common."""
    ours, theirs = _long_words(one), _long_words(other)
    return len(ours & theirs) / max(1, len(ours | theirs))


def pairs(kinds: list[Kind], number: int) -> Iterator[Pair]:
    """Make *number* pairs of each kind, rendered and read."""
    for one in kinds:
        halves = (TUNING, HELD_OUT) if one.relation == "true" else (one.half,)
        for half in halves:
            yield from _pairs_of(one, half, number)


def _pairs_of(one: Kind, half: Half, number: int) -> Iterator[Pair]:
    pool, made = articles(half), 0
    for attempt in range(4 * number):
        dice = random.Random(f"{one.name}/{half}/{attempt}")
        article = pool[(zlib.crc32(one.name.encode()) + attempt) % len(pool)]
        scene = Scene(article, dice, pool)
        sides = one.make(scene)
        if sides is None:
            continue
        text, paper = sides
        medium = dice.choice(one.media)
        yield Pair(one.name, one.relation, half, article.name, _read(scene, text, medium), paper)
        made += 1
        if made == number:
            return


def _read(scene: Scene, text: Manuscript, medium: Media) -> Document:
    if medium == "jats":
        return read(text.jats, "jats")
    blocks = scene.settled.pop("blocks", None) or composed(text, scene.dice)
    return read(rendered(blocks, text, medium, scene.dice, scene.settled), medium)  # type: ignore[arg-type]


def titled(text: Manuscript, title: str, ids: Ids) -> Manuscript:
    """Return *text* with another title and other identifiers."""
    return replace(text, title=title, paper=replace(text.paper, title=title, ids=ids))


def next_doi(doi: str) -> str:
    """Return a DOI that the next article of the journal could have.

    >>> next_doi("10.1186/s13100-019-0150-y")
    '10.1186/s13100-019-0151-y'
    """
    digits = list(re.finditer(r"\d", doi))[-1]
    return f"{doi[: digits.start()]}{(int(digits[0]) + 1) % 10}{doi[digits.end() :]}"


def halves(paper: Manuscript) -> tuple[Manuscript, Manuscript]:
    """Divide an article in two that share headings and subject but no paragraph.

    Each gets an abstract of sentences of its own paragraphs.
    """
    bodies: tuple[list[Block], list[Block]] = ([], [])
    turn = 0
    for block in paper.body:
        if block.kind == "heading":
            bodies[0].append(block)
            bodies[1].append(block)
        else:
            bodies[turn].append(block)
            turn = 1 - turn if block.kind == "para" else turn
    first, second = (replace(paper, body=tuple(body)) for body in bodies)
    return _summarised(first), _summarised(second)


def _summarised(half: Manuscript) -> Manuscript:
    told, words = [], 0
    for block in half.body:
        if block.kind != "para" or words >= ABSTRACT_WORDS:
            continue
        sentence = uncited(sentences(block.text)[0]) if sentences(block.text) else ""
        if 8 <= len(sentence.split()) <= 60:
            told.append(sentence)
            words += len(sentence.split())
    abstract = " ".join(told)
    return replace(
        half,
        abstract=(Block("para", abstract),),
        paper=replace(half.paper, abstract=abstract),
    )
