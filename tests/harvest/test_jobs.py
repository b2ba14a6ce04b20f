"""Which harvest is meant: named by what was asked, found again, added to, reported."""

import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from tests.harvests import done, ids_of, library_of
from tests.processes import run
from tests.reports.r_prisma import read_as_r_does
from tests.world import World
from utils import Library
from utils.errors import BadRequest, NotFound
from utils.harvest import jobs as harvest_jobs
from utils.lists.pasted import ListEntry
from utils.model.identifiers import Ids
from utils.search.pubmed.search import AllHits
from utils.sources import Query

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def _small() -> Iterator[World]:
    with World(field=12) as world:
        yield world


@pytest.fixture
def small(_small: World) -> World:
    """A world where ``field[ti]`` finds twelve papers."""
    _small.reset()
    return _small


@pytest.fixture
def near(small: World, tmp_path: Path) -> Iterator[Library]:
    """A library in that world."""
    library = library_of(small, tmp_path)
    yield library
    library.shelf.close()


def jobs(library: Library) -> Path:
    return library.shelf.folder / ".papershelf" / "jobs"


# -- a query ---------------------------------------------------------------------------------


def test_a_query_is_the_job_of_its_hits(near: Library, small: World) -> None:
    harvest = near.harvest(query="field[ti]")
    job = harvest.job()
    assert (job.query, job.hits, job.counts.requested) == ("field[ti]", 12, 12)
    assert job.effective_query
    assert job.job_id.startswith("field-ti-")
    assert {row.paper.ids.pmid for row in harvest.ledger.read_outcomes()} == {
        record.pmid for record in small.field
    }


def test_the_same_query_is_the_same_job_and_is_not_searched_for_again(
    near: Library, small: World
) -> None:
    first = near.harvest(query="field[ti]")
    asked = len(small.requests)
    second = near.harvest(query="field[ti]")
    assert second.job_id == first.job_id
    assert len(small.requests) == asked
    assert len(near.harvests.all()) == 1


@pytest.mark.parametrize(
    "other",
    [
        Query("study[ti]"),
        Query("field[ti]", min_date="2017", max_date="2030"),
        Query("field[ti]", publication_types=("Journal Article",)),
    ],
)
def test_another_question_is_another_job(near: Library, other: Query) -> None:
    assert near.harvest(query=other).job_id != near.harvest(query="field[ti]").job_id


def test_a_finished_query_learns_of_new_hits_and_fetches_only_those(
    near: Library, small: World
) -> None:
    first = near.harvest(query="field[ti]", max_papers=9)
    before = done(first)
    assert len(before) == 9
    assert "Only 9 of 12 hits were requested." in first.job().notes
    asked = len(small.requests)
    second = near.harvest(query="field[ti]")
    assert second.job_id == first.job_id
    assert (second.job().counts.requested, second.job().counts.pending) == (12, 3)
    after = done(second)
    assert after[:9] == before
    assert second.job().hits == 12
    assert second.job().duplicates == 0
    told = " ".join(str(request.params) for request in small.requests[asked:])
    assert not [row.paper.ids.pmid for row in before if row.paper.ids.pmid in told]


def test_a_finished_query_without_new_hits_stays_finished(near: Library, small: World) -> None:
    before = done(near.harvest(query="field[ti]", max_papers=3))
    asked = len(small.requests)
    again = near.harvest(query="field[ti]", max_papers=3)
    assert done(again) == before
    assert again.job().ended_at
    assert {request.path for request in small.requests[asked:]} == {"/esearch.fcgi"}


def searched(monkeypatch: pytest.MonkeyPatch, pmids: Iterable[int], total: int = 0) -> None:
    """PubMed finds these, of so many."""
    page = tuple(map(str, pmids))
    sweep = AllHits(total or len(page), "as understood", [], iter([page]))
    monkeypatch.setattr(harvest_jobs, "find_every_pmid", lambda *_: sweep)


def test_a_new_hit_is_learnt_of_when_others_were_withdrawn(
    near: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    searched(monkeypatch, range(1, 11))
    near.harvest(query="a").ledger.record_job_end()
    searched(monkeypatch, range(4, 12))
    job = near.harvest(query="a").job()
    assert (job.counts.requested, job.hits, job.ended_at) == (11, 8, "")


def test_a_limit_holds_also_when_there_are_new_hits(
    near: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    searched(monkeypatch, range(1, 101), 1000)
    near.harvest(query="a", max_papers=10).ledger.record_job_end()
    searched(monkeypatch, range(200, 300), 1005)
    job = near.harvest(query="a", max_papers=10).job()
    assert (job.counts.requested, job.hits) == (10, 1005)
    assert job.notes == ("Only 10 of 1,005 hits were requested.",)
    searched(monkeypatch, [*range(200, 205), *range(1, 101)], 1005)
    assert near.harvest(query="a", max_papers=17).job().counts.requested == 17


def test_the_report_says_how_many_hits_are_beyond_the_limit(near: Library) -> None:
    page = near.harvest(query="field[ti]", max_papers=5).report()
    numbers = read_as_r_does(page.with_name("prisma.csv").read_text(encoding="utf-8"))
    assert numbers["database_specific_results"] == [("PubMed", 12)]
    assert (numbers["records_excluded"], numbers["excluded_other"]) == (None, 0)
    figure = page.with_name("prisma.svg").read_text(encoding="utf-8")
    assert "7 of the records identified are beyond the limit of this harvest." in figure


def test_hundreds_of_thousands_of_papers_are_not_harvested_by_mistake(
    near: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    searched(monkeypatch, [1, 2], 1_234_567)
    with pytest.raises(BadRequest, match="1,234,567") as refused:
        near.harvest(query="cells")
    assert "max_papers" in refused.value.hint
    assert near.harvests.all() == []
    assert near.harvest(query="cells", max_papers=2).job().counts.requested == 2


def test_a_query_without_hits_is_no_job(near: Library) -> None:
    with pytest.raises(NotFound, match="finds nothing"):
        near.harvest(query="xylophone[ti]")
    assert near.harvests.all() == []


# -- a list ----------------------------------------------------------------------------------


def test_a_list_is_found_again_in_any_order(near: Library) -> None:
    first = near.harvest(["60000001", "60000002"], title="mine.csv")
    second = near.harvest(["60000002", "60000001", "60000001"], title="mine.csv")
    assert first.job_id == second.job_id
    assert first.job_id.startswith("mine-csv-")
    assert near.harvest(["60000001"], title="mine.csv").job_id != first.job_id


def test_duplicates_are_merged_before_anything_is_fetched(near: Library, small: World) -> None:
    record = small.field[0]
    names = [Ids(pmid=record.pmid), Ids(pmid=record.pmid, doi=record.doi), Ids(doi=record.doi)]
    job = near.harvest(names).job()
    assert (job.hits, job.duplicates, job.counts.requested) == (3, 2, 1)
    assert not small.requests


def test_contradictions_are_noted(near: Library) -> None:
    entries = [
        ListEntry("first", Ids(pmid="60000001", doi="10.1000/a")),
        ListEntry("second", Ids(pmid="60000001", doi="10.1000/b")),
    ]
    job = near.harvest(entries).job()
    assert job.counts.requested == 2
    assert "first and second share pmid:60000001" in job.notes[0]


def test_at_the_most_so_many(near: Library) -> None:
    job = near.harvest([f"6000000{n}" for n in range(1, 6)], max_papers=2).job()
    assert job.counts.requested == 2
    assert "Only 2 of 5 papers were requested." in job.notes


@pytest.mark.parametrize("asked", [{}, {"query": "a", "job_id": "b"}, {"papers": [], "query": ""}])
def test_one_thing_must_be_asked_for(near: Library, asked: dict[str, str]) -> None:
    with pytest.raises(BadRequest):
        near.harvest(**asked)  # type: ignore[arg-type]


# -- by name ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["../x", "x/y", "", "X", "a" * 100, "..", "x.db"])
def test_a_name_leads_nowhere_else(near: Library, name: str) -> None:
    with pytest.raises(BadRequest):
        near.harvest(job_id=name)


def test_a_harvest_nobody_began(near: Library) -> None:
    with pytest.raises(NotFound, match="nobody-began-it"):
        near.harvest(job_id="nobody-began-it")


def test_all_harvests_the_newest_first(near: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    assert near.harvests.all() == []
    for number in (1, 2, 3):
        monkeypatch.setattr("utils.harvest.jobs.utc_now", lambda n=number: f"2026-01-0{n}T00:00:00")
        near.harvest([f"6000000{number}"], title=f"list {number}")
    assert [job.title for job in near.harvests.all()] == ["list 3", "list 2", "list 1"]


def test_a_retry_of_what_no_paper_ends_as_is_refused(near: Library) -> None:
    with pytest.raises(BadRequest, match="nonsense"):
        near.harvest(["60000001"], retry="nonsense")


# -- the end ---------------------------------------------------------------------------------


def test_a_finished_harvest_has_its_report(near: Library, small: World) -> None:
    harvest = near.harvest(map(ids_of, small.field[:3]))
    assert not harvest.folder.exists()
    done(harvest)
    lock = json.loads((harvest.folder / "papers.lock.json").read_text(encoding="utf-8"))
    assert len(lock["papers"]) == 3
    assert (harvest.folder / "report.html").is_file()


_MEASURE = """
import resource, sys
from pathlib import Path
from utils import Library
from utils.harvest import jobs as harvest_jobs
from utils.harvest.bulk import _Run
from utils.model.identifiers import Ids

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

library = Library(papers_dir=Path(sys.argv[1]), pubmed_email="a@lab.edu")
list(map(Ids, "ab")), library.ladder.rungs
before = peak()
harvest = library.harvest(Ids(pmid=str(n)) for n in range(1, 20_001))
run = _Run(harvest.ledger, library.ladder)
run.lanes.start = lambda: None
run.start()
assert run.status.update_progress().job.counts.pending == 20_000
assert sum(1 for _ in harvest.ledger.read_outcomes()) == 20_000
print(peak() - before)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is counted in other units")
def test_twenty_thousand_papers_take_less_than_their_share_of_300_mb(tmp_path: Path) -> None:
    command = [sys.executable, "-c", _MEASURE, str(tmp_path / "papers")]
    grown = run(command, cwd=ROOT, check=True).stdout
    assert float(grown) < 300 / 5
