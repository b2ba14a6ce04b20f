"""Plans against what harvests of the stand-in worlds really take."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.harvests import done, ids_of, library_of
from tests.world import World
from utils import Library
from utils.cli.harvest_plans import describe_plan
from utils.errors import NotConfigured, NotFound, Unreachable
from utils.harvest import plan as harvest_plan
from utils.harvest.plan import Plan
from utils.lists.pasted import ListEntry
from utils.model.identifiers import Ids
from utils.model.paper import Paper
from utils.sources import Query

pytestmark = pytest.mark.slow

# What the benchmark's harvest of a field of 1,000 papers took: requests, and 298 s at the least.
MEASURED = {"pmc_cloud": 1500, "unpaywall": 350, "doi": 260, "jina": 100}
MEASURED_S = 298
FACTOR = 1.5  # between an estimate and the truth


@pytest.fixture(scope="module")
def large() -> Iterator[World]:
    with World(field=1000) as world:
        yield world


@pytest.fixture
def far(large: World, tmp_path: Path) -> Library:
    """A library with an empty shelf in a world with a field of 1,000 papers."""
    large.reset()
    return library_of(large, tmp_path)


def entries(records) -> list[ListEntry]:
    return [ListEntry(str(ids_of(record)), ids_of(record)) for record in records]


def requests(plan: Plan) -> dict[str, int]:
    return {host.host: host.requests for host in plan.hosts}


@pytest.mark.parametrize("listed", [False, True])
def test_the_plan_of_a_thousand_papers_is_near_what_they_took(far, large, listed):
    plan = (
        far.harvests.plan(entries(large.field)) if listed else far.harvests.plan(query="field[ti]")
    )
    assert plan.papers == 1000
    asked = requests(plan)
    for host, number in MEASURED.items():
        assert number / FACTOR <= asked[host] <= number * FACTOR, (host, asked[host])
    assert MEASURED_S / FACTOR <= plan.seconds <= MEASURED_S * FACTOR
    expected = sum(record.expected == "full_text" for record in large.field)
    assert abs(plan.full_text - expected) <= 50
    assert plan.size == 1000 * 6_000 + plan.full_text * 150_000
    assert asked["ncbi"] <= 50
    assert "publishers" in asked


def test_a_plan_fetches_nothing_and_is_cheap(far, large):
    far.harvests.plan(query="field[ti]")
    assert len(large.requests) == 4
    large.reset()
    far.harvests.plan(entries(large.field))
    assert {request.service for request in large.requests} <= {"eutils", "idconv", "europepmc"}
    assert len(large.requests) <= 4  # two hundred of them, looked up at once
    assert not any(far.settings.papers_dir.glob("*.txt"))


def test_the_first_papers_of_a_question_have_the_shares_of_all(far):
    plan = far.harvests.plan(query=Query("field[ti]"), max_papers=100)
    assert (plan.papers, plan.with_abstract) == (100, 100)
    assert "100 of 1,000 hits; the shares are those of all hits." in plan.notes
    assert far.harvests.plan(query="field[ti]", max_papers=5000).papers == 1000


def test_the_sample_is_spread_over_the_list(library, monkeypatch):
    looked_up = []

    def look_up(ids, *_):
        looked_up.extend(int(one.pmid) for one in ids)
        return {one: Paper(one) for one in ids}

    monkeypatch.setattr(harvest_plan, "look_up_records", look_up)
    library.harvests.plan([ListEntry(str(n), Ids(pmid=str(n))) for n in range(1, 400)])
    assert len(set(looked_up)) == 200
    assert max(looked_up) > 395


def test_what_the_shelf_holds_is_subtracted(library, world):
    papers = [world.paper("pmc_cloud"), world.paper("paywall")]
    done(library.harvest(map(ids_of, papers)))
    plan = library.harvests.plan(entries(papers))
    assert (plan.held, plan.papers) == (1, 1)
    asked = len(world.requests)
    plan = library.harvests.plan(entries(papers[:1]))
    assert (plan.papers, plan.hosts, plan.full_text, plan.seconds) == (0, (), 0, 0.0)
    assert len(world.requests) == asked


def test_unknown_silent_and_nameless_papers_are_told_apart(library, world):
    wanted = [*entries([world.paper("pmc_cloud")]), ListEntry("Doe 2020. A title", Ids())]
    plan = library.harvests.plan(
        [*wanted, ListEntry("10.1000/nowhere", Ids(doi="10.1000/nowhere"))]
    )
    assert plan.papers == 2
    assert "PubMed has no record of 1 of the 2 papers looked up." in plan.notes
    assert any("without an identifier: 1." in n for n in plan.notes)
    world.mood("down")
    with pytest.raises(Unreachable):
        library.harvests.plan(entries([world.paper("paywall")]))


def test_a_question_without_hits_has_no_plan(library):
    with pytest.raises(NotFound, match="finds nothing for 'zebraquark'"):
        library.harvests.plan(query="zebraquark")


def test_no_plan_without_an_address(settings):
    library = Library(**settings | {"pubmed_email": ""})
    for asked in ({"query": "cells"}, {"papers": [ListEntry("1", Ids(pmid="1"))]}):
        with pytest.raises(NotConfigured):
            library.harvests.plan(**asked)


def test_sites_that_are_switched_off_are_not_in_the_plan(settings, world):
    library = Library(**settings | {"papers_sources": ("pmc",)})
    plan = library.harvests.plan(entries([world.paper("pmc_cloud"), world.paper("paywall")]))
    assert {host.host for host in plan.hosts} == {"ncbi", "pmc_cloud"}
    assert plan.full_text <= 1


def test_a_key_shortens_the_time_and_not_the_requests(settings):
    def jina(**more: str) -> tuple[int, float]:
        plan = Library(**settings | more).harvests.plan(query="cells OR virus")
        [host] = [host for host in plan.hosts if host.host == "jina"]
        return host.requests, host.seconds

    (without, slow), (with_key, fast) = jina(), jina(jina_api_key="k")
    assert without == with_key
    assert fast < slow / 10


def test_preprints_are_counted_at_arxivs_own_pace(library, world):
    plan = library.harvests.plan(entries([world.paper("arxiv")]))
    [arxiv] = [host for host in plan.hosts if host.host == "arxiv"]
    assert (arxiv.requests, arxiv.seconds) == (2, 6.0)


def test_a_plan_in_words_says_the_same_as_in_json(far):
    plan = far.harvests.plan(query="field[ti]")
    text = describe_plan(plan)
    row = plan.row()
    assert f"expected full texts: about {row['full_text']:,}" in text
    assert all(host["host"] in text for host in row["hosts"])
    assert all(f"note: {note}" in text for note in row["notes"])
    assert " min" in text.split("time at the sites' rate limits: ")[1].splitlines()[0]
