"""Several searches and lists in one harvest: every hit, each paper once, each search counted."""

import csv
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.harvests import done, library_of
from tests.reports.r_prisma import read_as_r_does
from tests.world import World
from utils import Library
from utils.errors import BadRequest, Unreachable
from utils.lists.pasted import ListEntry
from utils.model.identifiers import Ids
from utils.model.paper import Author, Paper
from utils.sources import Query

pytestmark = pytest.mark.slow

MANY = ("pubmed", "europepmc", "arxiv", "semantic_scholar")


@pytest.fixture(scope="module")
def _small() -> Iterator[World]:
    with World(field=12) as world:
        yield world


@pytest.fixture
def small(_small: World) -> World:
    _small.reset()
    return _small


@pytest.fixture
def near(small: World, tmp_path: Path) -> Iterator[Library]:
    library = library_of(small, tmp_path)
    yield library
    library.shelf.close()


def test_each_search_is_counted_and_each_paper_is_asked_for_once(near: Library) -> None:
    harvest = near.harvest(query="field", sources=MANY)
    job = harvest.job()
    assert [search.source for search in job.searches] == list(MANY)
    taken = {search.source: search.taken for search in job.searches}
    assert taken["pubmed"] >= 12
    assert job.hits == sum(taken.values()) == job.duplicates + job.counts.requested
    names = [name for row in harvest.ledger.read_outcomes() for name in row.paper.ids.names()]
    assert len(names) == len(set(names))


def test_what_several_sites_know_goes_by_all_its_names(near: Library) -> None:
    alone = {row.paper.ids.pmid for row in near.harvest(query="field").ledger.read_outcomes()}
    both = near.harvest(query="field", sources=("pubmed", "europepmc"))
    rows = [row for row in both.ledger.read_outcomes() if row.paper.ids.pmid in alone]
    assert {row.paper.ids.pmid for row in rows} == alone
    assert any(row.paper.ids.doi for row in rows)
    assert all(row.asked.startswith("PMID") for row in rows)


def test_a_query_that_begins_with_a_site_is_for_that_site_alone(
    near: Library, small: World
) -> None:
    harvest = near.harvest(query=["field[ti]", "arxiv: all:field"], sources=["pubmed"])
    assert [(one.source, one.query) for one in harvest.job().searches] == [
        ("pubmed", "field[ti]"),
        ("arxiv", "all:field"),
    ]
    assert not [one for one in small.requests if one.service == "europepmc"]


def test_the_others_are_asked_without_pubmeds_field_tags_and_that_is_noted(near: Library) -> None:
    job = near.harvest(query="field[ti]", sources=["pubmed", "europepmc"]).job()
    assert [one.query for one in job.searches] == ["field[ti]", "field"]
    assert any("field tags" in note for note in job.notes)


def test_lists_and_queries_are_one_harvest_and_each_is_counted_under_its_name(
    near: Library,
) -> None:
    [first, *_] = [row.paper.ids for row in near.harvest(query="field[ti]").ledger.read_outcomes()]
    lists = {
        "zotero.ris": [ListEntry("a", first), ListEntry("b", Ids(doi="10.1000/nobody"))],
        "pasted.txt": [ListEntry("c", Ids(doi="10.1000/nobody"))],
    }
    job = near.harvest(lists, query="field[ti]").job()
    assert [(one.name, one.taken) for one in job.searches] == [
        ("PubMed", 12),
        ("zotero.ris", 2),
        ("pasted.txt", 1),
    ]
    assert (job.hits, job.duplicates, job.counts.requested) == (15, 2, 13)


def test_the_same_searches_in_another_order_are_the_same_job(near: Library) -> None:
    one = near.harvest(query=["field[ti]", "arxiv: all:field"], title="two")
    other = near.harvest(query=["arxiv: all:field", "field[ti]"], title="two")
    assert one.job_id == other.job_id


def test_a_finished_harvest_searches_again_and_adds_only_what_is_new(
    near: Library, small: World
) -> None:
    asked = {"query": "field[ti]", "sources": ("pubmed", "europepmc"), "max_papers": 5}
    first = near.harvest(**asked)
    assert first.job().counts.requested == 5
    done(first)
    whole = near.harvest(query="field[ti]", sources=("pubmed", "europepmc"))
    assert whole.job_id == first.job_id
    job = whole.job()
    assert job.counts.requested >= 12
    assert job.hits == job.duplicates + job.counts.requested
    numbers = [row.paper.ids.pmid for row in whole.ledger.read_outcomes() if row.paper.ids.pmid]
    assert len(numbers) == len(set(numbers))


def test_a_site_that_does_not_answer_is_no_site_without_hits(near: Library, small: World) -> None:
    small.mood("down", "europepmc")
    with pytest.raises(Unreachable, match="Europe PMC"):
        near.harvest(query="field[ti]", sources=("pubmed", "europepmc"))
    assert not near.harvests.all()


@pytest.mark.parametrize("among", [("pubmd",), ("crossref",)])
def test_a_site_that_cannot_be_searched_is_named(near: Library, among: tuple[str, ...]) -> None:
    with pytest.raises(BadRequest, match=among[0]):
        near.harvest(query="field", sources=among)


def test_a_query_that_is_nothing_without_field_tags_is_refused(near: Library) -> None:
    with pytest.raises(BadRequest, match="Europe PMC"):
        near.harvest(query="2020:2024[dp]", sources=["europepmc"])


def test_the_report_says_what_was_searched(near: Library) -> None:
    harvest = near.harvest(query="field[ti]", sources=("pubmed", "europepmc"))
    done(harvest)
    with (harvest.folder / "searches.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [(row["where"], row["query"]) for row in rows] == [
        ("PubMed", "field[ti]"),
        ("Europe PMC", "field"),
    ]
    assert all(row["searched_at"] and int(row["hits"]) >= int(row["taken"]) for row in rows)
    prisma = read_as_r_does((harvest.folder / "prisma.csv").read_text(encoding="utf-8"))
    assert prisma["database_specific_results"] == [(row["where"], int(row["hits"])) for row in rows]
    assert prisma["database_results"] == sum(int(row["hits"]) for row in rows)
    assert "searches.csv" in (harvest.folder / "report.html").read_text(encoding="utf-8")


def test_the_plan_of_several_searches_counts_each_paper_once(near: Library) -> None:
    plan = near.harvests.plan(query=Query("field[ti]"), sources=("pubmed", "europepmc"))
    harvest = near.harvest(query="field[ti]", sources=("pubmed", "europepmc"))
    assert plan.papers == harvest.job().counts.requested
    assert "PubMed 12" in plan.notes[0]


def test_a_reference_without_identifier_is_not_added_again(library, world):
    said = Paper(Ids(), title="Moss and fern and nothing that anybody knows of", published="2019")
    lists = {
        "list.csv": [ListEntry("Moss 2019", Ids(), said)],
        "more.csv": [ListEntry("7", Ids(pmid="7"))],
    }
    for _ in range(2):
        done(harvest := library.harvest(lists))
        assert harvest.job().counts.requested == 2


def test_a_reference_is_the_paper_that_another_list_names(library, world):
    record = world.paper("pmc_cloud")
    people = tuple(Author(family, given) for family, given in record.authors)
    said = Paper(
        Ids(),
        title=record.plain_title,
        authors=people,
        journal=record.journal.title,
        volume=record.volume,
        pages=record.pages,
        published=record.year,
    )
    lists = {
        "titles.csv": [ListEntry("by title", Ids(), said)],
        "ids.txt": [ListEntry(record.pmid, Ids(pmid=record.pmid))],
    }
    job = library.harvest(lists).job()
    assert (job.counts.requested, job.duplicates) == (1, 1)
