"""What a kind of document is, and how one is made of a paper: the same one for the same seed."""

from __future__ import annotations

import random
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol, TypeVar

from quality.lab.dress import Style, drawn
from quality.lab.manuscript import Block, Manuscript, numbered
from quality.lab.sheets import page_count
from utils.model.paper import Media, Paper

Half = Literal["tuning", "held_out"]
TUNING: Half = "tuning"
HELD_OUT: Half = "held_out"
SCREEN: tuple[Media, ...] = ("html", "markdown")
# Shorter ones are letters and notices, which are kinds of their own.
SHORT = 400
ALL: tuple[Media, ...] = ("html", "markdown", "pdf")


@dataclass(frozen=True)
class Document:
    """What a site would have sent, and the record it was asked for by."""

    body: bytes
    media: Media
    paper: Paper


@dataclass
class Scene:
    """A paper, chance, and the other papers of the lab."""

    paper: Manuscript
    dice: random.Random
    pool: tuple[Manuscript, ...]
    medium: Media
    settled: dict[str, object] = field(default_factory=dict)

    @property
    def other(self) -> Manuscript:
        """Another paper with a body."""
        others = [one for one in self.pool if one.name != self.paper.name and one.body_words > 600]
        return self.dice.choice(others or list(self.pool))

    def some(self, words: tuple[str, ...], least: int = 1, most: int = 4) -> list[str]:
        """A few of many wordings, in random order."""
        return self.dice.sample(words, min(len(words), self.dice.randint(least, most)))

    def titles(self, number: int) -> tuple[str, ...]:
        """Titles of other works, of those cited if the pool has too few."""
        told = [one.title for one in self.pool if one.name != self.paper.name]
        told += [
            r.text.split(". ")[1]
            for one in self.pool[:60]
            for r in one.references
            if r.text.count(". ") > 1
        ]
        return tuple(self.dice.sample(told, min(number, len(told))))


# What a kind makes: blocks to be printed in the medium, or the bytes themselves. None where the
# paper does not lend itself. With another manuscript where the record is another.
Made = list[Block] | bytes | tuple[list[Block] | bytes, Manuscript] | None


@dataclass(frozen=True)
class Kind:
    """A kind of document, fake or whole."""

    name: str
    half: Half
    media: tuple[Media, ...]
    make: Callable[[Scene], Made]
    whole: bool
    settled: dict[str, object]
    weight: float  # how many, in proportion to the others
    recorded: bool = False  # made of a file that was recorded in that medium
    short: bool = False  # made of letters and notices

    def fits(self, paper: Manuscript, medium: Media) -> bool:
        """Whether it can be made of this paper at all."""
        if self.recorded:
            return any(kind == medium for kind, _ in paper.files)
        return self.name == "as recorded" or (paper.body_words < SHORT) == self.short


KINDS: dict[str, Kind] = {}


class _Named(Protocol):
    @property
    def name(self) -> str: ...


K = TypeVar("K", bound=_Named)


def register(kinds: dict[str, K], kind_: K) -> None:
    """Enter a kind under its name, which no other kind may have."""
    if kind_.name in kinds:
        raise ValueError(f"two kinds are called {kind_.name!r}")
    kinds[kind_.name] = kind_


def kind(
    name: str,
    half: Half,
    media: tuple[Media, ...] = SCREEN,
    *,
    whole: bool = False,
    weight: float = 1.0,
    recorded: bool = False,
    short: bool = False,
    **settled: object,
) -> Callable[[Callable[[Scene], Made]], Callable[[Scene], Made]]:
    """Register a way to make documents; *settled* fixes parts of their style."""

    def registered(make: Callable[[Scene], Made]) -> Callable[[Scene], Made]:
        register(KINDS, Kind(name, half, media, make, whole, settled, weight, recorded, short))
        return make

    return registered


def made(
    kind_: Kind, medium: Media, paper: Manuscript, pool: tuple[Manuscript, ...]
) -> Document | None:
    """The document of this kind for this paper; None where the paper does not lend itself."""
    dice = random.Random(f"{kind_.name}/{medium}/{paper.name}")
    scene = Scene(paper, dice, pool, medium, dict(kind_.settled))
    content = kind_.make(scene)
    if not content:
        return None
    if isinstance(content, tuple):
        content, paper = content
    if isinstance(content, list):
        content = rendered(content, paper, medium, dice, scene.settled)
        if kind_.whole and medium == "pdf":
            paper = numbered(paper, page_count(content))
    return Document(content, medium, _counted(paper))


def _counted(paper: Manuscript) -> Paper:
    """Its record, which counts the references of every other paper, and misses a tenth of them.

    PubMed and OpenAlex list those that they know themselves, and not of all papers.
    """
    if zlib.crc32(paper.name.encode()) % 2:
        return paper.paper
    return replace(paper.paper, reference_count=len(paper.references) * 9 // 10)


def rendered(
    blocks: list[Block],
    paper: Manuscript,
    medium: Media,
    dice: random.Random,
    settled: dict[str, object],
) -> bytes:
    """The blocks in a medium, in a style by chance."""
    style = drawn(dice, **settled)
    if medium == "html":
        from quality.lab.page import page

        return page(blocks, paper, style, dice)
    if medium == "markdown":
        from quality.lab.reader_service import delivered

        return delivered(blocks, paper, style, dice)
    if medium == "pdf":
        from quality.lab.sheets import printed

        return printed(blocks, paper, style, dice)
    raise ValueError(f"{medium} is not rendered from blocks")


def without_abstract(paper: Manuscript) -> Manuscript:
    """The same paper, of whose abstract no record knows."""
    return replace(paper, paper=replace(paper.paper, abstract=""), abstract=())


__all__ = [
    "ALL",
    "HELD_OUT",
    "KINDS",
    "SCREEN",
    "TUNING",
    "Document",
    "Kind",
    "Scene",
    "Style",
    "kind",
]
