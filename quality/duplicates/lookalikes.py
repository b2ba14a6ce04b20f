"""Other papers that look like a given one, and preprints of it.

Each is what really stands in the databases beside a paper. As there, identifiers may be missing and
a field may be; what tells the two apart is never missing altogether.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable
from dataclasses import replace
from random import Random

from utils.model.identifiers import Ids
from utils.model.paper import Author, Paper

Lookalike = Callable[[Paper, Random], Paper | None]


def second_part(paper: Paper, _: Random) -> Paper:
    """The next part of a series, behind it in the same issue."""
    return _other(paper, title=f"{_stem(paper)}. Part II.", pages=_moved(paper, 12))


def first_part(paper: Paper, _: Random) -> Paper:
    return _other(paper, title=f"{_stem(paper)}: Part 1", pages=_moved(paper, -9))


def reply(paper: Paper, rng: Random) -> Paper:
    kind = rng.choice(("Reply to: ", "Comment on ", "Re: ", "Authors' reply: ", "Letter: "))
    return _other(paper, title=f"{kind}{paper.title}", pages=_moved(paper, 40))


def erratum(paper: Paper, rng: Random) -> Paper:
    kind = rng.choice(("Erratum: ", "Correction to: ", "Corrigendum to: ", "Author Correction: "))
    return _other(paper, title=f"{kind}{paper.title}", published=_later(paper, rng.choice((0, 1))))


def erratum_by_type(paper: Paper, _: Random) -> Paper | None:
    """PubMed gives some notices the paper's own title; only their type and place tell."""
    kinds = ("Published Erratum",)
    if set(kinds) & set(paper.publication_types):
        return None
    return _other(paper, publication_types=kinds, pages=_moved(paper, 300), volume=_next(paper, 0))


def next_year(paper: Paper, rng: Random) -> Paper:
    """The yearly report of the same people, under the same title."""
    pages = rng.choice((_moved(paper, 55), ""))
    return _other(paper, published=_later(paper, 1), volume=_next(paper, 1), pages=pages)


def years_later(paper: Paper, rng: Random) -> Paper:
    """The same study again, when its people have been followed up."""
    years = rng.choice((2, 5))
    return _other(paper, published=_later(paper, years), volume="", issue="", pages="")


def update(paper: Paper, _: Random) -> Paper:
    title, volume = f"{_stem(paper)}: 2024 update", _next(paper, 1)
    return _other(
        paper, title=title, published=_later(paper, 1), volume=volume, pages=_moved(paper, 21)
    )


def conference_abstract(paper: Paper, rng: Random) -> Paper:
    """The talk, in a supplement to another journal."""
    return _other(
        paper,
        journal="Proceedings of the Annual Meeting of Invented Societies",
        journal_abbreviation="",
        issn="",
        volume="",
        pages=rng.choice(("S112", "")),
        published=_later(paper, rng.choice((-1, 0))),
        publication_types=("Congress",),
    )


def talk_in_supplement(paper: Paper, _: Random) -> Paper:
    """The talk, in a supplement to the same journal."""
    return _other(paper, volume=_next(paper, 0), issue="Suppl 1", pages="S88-S89")


def protocol(paper: Paper, rng: Random) -> Paper:
    """The plan of the study, by the same people."""
    title = f"{_stem(paper)}: study protocol for a randomised controlled trial"
    return _other(
        paper, title=title, pages=_moved(paper, 70), volume=rng.choice((paper.volume, ""))
    )


def other_organism(paper: Paper, rng: Random) -> Paper:
    words = rng.choice(("in human cells", "in mice"))
    return _other(paper, title=f"{_stem(paper)} {words}", pages=_moved(paper, 8))


def opposite(paper: Paper, _: Random) -> Paper | None:
    """One word apart, and that word is the finding."""
    title = paper.title
    for one, other in (("hyper", "hypo"), ("increase", "decrease"), ("up", "down"), ("in ", "un")):
        if one in title:
            return _other(paper, title=title.replace(one, other, 1), pages=_moved(paper, 6))
    return None


def other_number(paper: Paper, _: Random) -> Paper | None:
    for digit in "123456789":
        if digit in paper.title:
            title = paper.title.replace(digit, str((int(digit) + 1) % 10), 1)
            return _other(paper, title=title, pages=_moved(paper, 4))
    return None


def other_people(paper: Paper, rng: Random) -> Paper:
    """The same title by other people, elsewhere."""
    families = rng.sample(("Quibble", "Snodgrass", "Yttrium", "Zephyr", "Umlaut"), 3)
    people = tuple(Author(family=name, given="Ada", initials="A") for name in families)
    return _other(
        paper,
        authors=people,
        journal="Annals of Invention",
        journal_abbreviation="",
        issn="",
        pages=_moved(paper, 3),
    )


def editorial(paper: Paper, rng: Random) -> Paper:
    """One of many: every issue has one, by the same editors."""
    title = rng.choice(("Editorial", "Introduction", "In this issue", "Editorial comment"))
    return _other(paper, title=title, pages=_moved(paper, rng.randrange(1, 500)))


def other_doi(paper: Paper, rng: Random) -> Paper | None:
    """Everything is the same but the DOI: two papers, whatever they look like."""
    if not paper.ids.doi:
        return None
    return replace(paper, ids=Ids(doi=f"10.99999/other.{rng.randrange(10**9)}"), notices=())


LOOKALIKES: dict[str, Lookalike] = {
    one.__name__: one
    for one in (
        *(second_part, first_part, reply, erratum, erratum_by_type, next_year, years_later),
        *(update, conference_abstract, talk_in_supplement, protocol, other_organism, opposite),
        *(other_number, other_people, editorial, other_doi),
    )
}


def preprint_of(paper: Paper, rng: Random) -> Paper | None:
    """The paper before it was reviewed: an earlier title, perhaps one author fewer."""
    if len(paper.title.split()) < 6 or not paper.year.isdigit() or not paper.authors:
        return None
    number = rng.randrange(10**5)
    server, ids = rng.choice(
        (
            ("bioRxiv", Ids(doi=f"10.1101/2020.02.14.{number:06}")),
            ("medRxiv", Ids(doi=f"10.64898/2025.01.01.{number:08}")),
            ("arXiv", Ids(arxiv=f"2001.{number:05}")),
            ("Research Square", Ids(doi=f"10.21203/rs.3.rs-{number}/v1")),
        )
    )
    words = paper.title.rstrip(".").split()
    title = rng.choice((paper.title, " ".join(words[:-1]), "On the " + " ".join(words)))
    authors = paper.authors if len(paper.authors) < 4 or rng.random() < 0.7 else paper.authors[:-1]
    return Paper(
        ids,
        title=title,
        authors=authors,
        journal=server,
        published=_later(paper, -rng.choice((0, 0, 1, 1, 2))),
        publication_types=("Preprint",),
    )


def _other(paper: Paper, **changes: object) -> Paper:
    gone = {"ids": Ids(), "notices": (), "vernacular_title": ""}
    return replace(paper, **{**gone, **changes})  # type: ignore[arg-type]


def _stem(paper: Paper) -> str:
    return paper.title.strip("[]. ")


def _later(paper: Paper, years: int) -> str:
    return str(int(paper.year) + years) if paper.year.isdigit() else paper.published


def _next(paper: Paper, by: int) -> str:
    return re.sub(r"\d+", lambda number: str(int(number[0]) + by), paper.volume, count=1)


def _moved(paper: Paper, by: int) -> str:
    first = paper.pages.split("-")[0]
    return str(abs(int(first) + by) + 2) if first.isdigit() else f"{abs(by) + 1000}"


def _preprint(paper: Paper, years: int, **changes: object) -> Paper | None:
    if len(_stem(paper).split()) < 8 or len(paper.authors) < 3 or not paper.year.isdigit():
        return None
    number = zlib.crc32(f"{paper.title}{paper.ids}".encode())
    usual: dict[str, object] = {
        "ids": Ids(doi=f"10.21203/rs.3.rs-{number}/v1"),
        "journal": "Research Square",
        "published": _later(paper, -years),
        "publication_types": ("Preprint",),
    }
    bare = Paper(Ids(), title=paper.title, authors=paper.authors)
    return replace(bare, **{**usual, **changes})  # type: ignore[arg-type]


def retouched(paper: Paper, rng: Random) -> Paper | None:
    """Reviewers wanted another title: its halves exchanged, or words left out and put in."""
    words = _stem(paper).split()
    if re.search(r"\d", paper.title):
        return None
    small = {"in", "of", "by", "for", "with", "and", "on", "from", "to", "the", "a"}
    long = [word for word in words if word.lower() not in small]
    if len(long) < 6:
        return None
    gone = rng.choice(long[1:-1])
    kept = [word for word in words if word != gone]
    at = len(kept) // 2
    ways = (
        f"Evidence on {' '.join(kept[at:])}: {' '.join(kept[:at])}",
        f"How {' '.join(kept[:-1])} may be explained",
    )
    return _preprint(paper, rng.choice((0, 1, 2)), title=rng.choice(ways))


def nameless(paper: Paper, rng: Random) -> Paper | None:
    """A record that an aggregator took without authors."""
    return _preprint(paper, rng.choice((0, 1, 2)), authors=())


def long_under_review(paper: Paper, rng: Random) -> Paper | None:
    """It came out many years later, as it was."""
    return _preprint(paper, rng.choice((4, 5, 6)))


CHANGED_PREPRINTS = {one.__name__: one for one in (retouched, nameless, long_under_review)}
