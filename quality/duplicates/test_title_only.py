"""Title-only references of every kind: how many are resolved, and that none is resolved wrongly."""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from quality.duplicates.invented import invented_papers
from quality.duplicates.recorded import distinct_papers
from quality.duplicates.title_only import (
    HELD_OUT,
    HELD_OUT_TRAPS,
    TUNING,
    TUNING_TRAPS,
    Case,
    Score,
    as_listed,
    cases,
    is_meant,
    judged,
)
from tests.harvests import library_of
from tests.world import World
from tests.world.records import Corpus
from utils import Library
from utils.demo.records import Journal, Record
from utils.lists.pasted import ListEntry
from utils.model.identifiers import Ids
from utils.model.paper import Paper

pytestmark = pytest.mark.slow

TRAPS = {*TUNING_TRAPS, *HELD_OUT_TRAPS}
# Where a list names no volume, issue and page, nothing tells such a paper from the one meant.
UNTELLABLE = "column of the next issue"


def recall(scores: dict[tuple[bool, str], Score], held_out: bool) -> float:
    found = [one for (held, kind), one in scores.items() if held is held_out and kind not in TRAPS]
    return sum(one.right for one in found) / sum(one.right + one.wrong + one.left for one in found)


def mistakes(scores: dict[tuple[bool, str], Score]) -> list[Case]:
    """The references that were resolved wrongly, but for those that say nothing to tell by."""
    return [
        case
        for (_, kind), one in scores.items()
        for case, _ in one.mistakes
        if kind != UNTELLABLE or case.said.pages or case.said.issue
    ]


def test_there_are_as_many_kinds_as_lists_have_ways():
    assert min(len(TUNING), len(HELD_OUT)) >= 10
    assert min(len(TUNING_TRAPS), len(HELD_OUT_TRAPS)) >= 8


def test_invented_references_are_resolved_and_none_wrongly():
    scores = judged(invented_papers(6), 6)
    assert not mistakes(scores)
    assert recall(scores, held_out=False) > 0.8


@pytest.mark.shared
def test_recorded_references_are_resolved_and_none_wrongly(shared: Path):
    scores = judged(distinct_papers(shared), 25, seed=11)
    assert not mistakes(scores)
    assert recall(scores, held_out=False) > 0.92
    assert recall(scores, held_out=True) > 0.89


# -- by asking the sites of the stand-in -----------------------------------------------------


def record_of(paper: Paper) -> Record:
    """A paper as the stand-in serves it."""
    day = "-".join([*paper.published.split("-"), "01", "01"][:3])
    short = paper.journal_abbreviation or paper.journal
    journal = Journal(html.escape(paper.journal), html.escape(short), paper.issn, "Press", "10.1")
    people = [(one.family, html.escape(one.given)) for one in paper.authors if one.family]
    return Record(
        "recorded",
        html.escape(paper.title.rstrip(".")),
        journal,
        pmid=paper.ids.pmid,
        doi=paper.ids.doi,
        authors=tuple(people),
        published=day,
        volume=html.escape(paper.volume),
        issue=html.escape(paper.issue),
        pages=html.escape(paper.pages),
        types=tuple(map(html.escape, paper.publication_types)) or ("Journal Article",),
        vernacular=html.escape(paper.vernacular_title),
        abstract="none",
    )


def chosen(papers: list[Paper], each: int) -> list[Case]:
    """Cases of all kinds, no paper in two of them: what is nowhere to be found is nowhere."""
    known = [one for one in papers if one.ids.pmid and one.journal and one.year and one.pages]
    rng, used = Random(5), set[str]()
    made = []
    for case in cases(known, 4 * each, seed=5):
        count = sum(one.kind == case.kind for one in made)
        if count < each and case.meant.ids.pmid not in used and rng.random() < 0.8:
            used.add(case.meant.ids.pmid)
            made.append(case)
    return made


@pytest.fixture
def served(shared: Path, tmp_path: Path) -> Iterator[tuple[Library, list[Case]]]:
    """A library in a world of recorded papers, and references to some of them."""
    made = chosen(distinct_papers(shared), 6)
    beside = [
        replace(case.beside, ids=Ids(pmid=str(91_000_000 + at)))
        for at, case in enumerate(made)
        if case.beside
    ]
    world = World()
    world.corpus = Corpus(
        record_of(one) for one in (*(case.meant for case in made if case.there), *beside)
    )
    with world:
        library = library_of(world, tmp_path)
        yield library, made
        library.shelf.close()


@pytest.mark.shared
def test_the_sites_are_asked_so_that_the_papers_are_found(served: tuple[Library, list[Case]]):
    library, made = served
    found = list(
        library.references.resolve([ListEntry(case.kind, Ids(), case.said) for case in made])
    )
    wrong, there = [], Counter[bool]()
    for case, one in zip(made, found, strict=True):
        assert one.status != "could_not_tell", one.message
        if case.there:
            there[is_meant(case, one)] += 1
        if one.ids and not (case.there and is_meant(case, one)):
            wrong.append((case.kind, case.said.pages))
    assert [kind for kind, pages in wrong if kind != UNTELLABLE or pages] == []
    assert there[True] / there.total() > 0.85


def test_a_reference_survives_every_kind_of_list():
    [paper, *_] = invented_papers(6)
    said = {as_listed(replace(paper, ids=Ids()), number).title for number in range(3)}
    assert len({one.rstrip(".") for one in said}) == 1
