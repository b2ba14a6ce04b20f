"""Plans against what harvests of the stand-in worlds really take."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from tests.examples import has_turn, share
from tests.harvests import done, ids_of, library_of
from tests.world import Record, World
from utils import Library
from utils.cli.harvest_plans import plan_text
from utils.errors import NotConfigured, NotFound, Unreachable
from utils.harvest import plan as harvest_plan
from utils.harvest.history import learned_shares, ledgers_folder, wilson
from utils.harvest.plan import Plan
from utils.lists.pasted import Entry
from utils.model.identifiers import Ids
from utils.model.job import Job
from utils.model.paper import Attempt, Paper
from utils.sources import Query
from utils.store import Shelf
from utils.store.ledger import Ledger

pytestmark = pytest.mark.slow

# What the benchmark's harvest of a field of 1,000 papers took: requests, and 298 s at the least.
MEASURED = {"pmc_cloud": 1500, "unpaywall": 350, "doi": 260, "jina": 100}
MEASURED_S = 298


@pytest.fixture(scope="module")
def large() -> Iterator[World]:
    with World(field=1000) as world:
        yield world


@pytest.fixture
def far(large: World, tmp_path: Path) -> Library:
    """A library with an empty shelf in a world with a field of 1,000 papers."""
    large.reset()
    return library_of(large, tmp_path)


def entries(records) -> list[Entry]:
    return [Entry(str(ids_of(record)), ids_of(record)) for record in records]


def requests(plan: Plan) -> dict[str, tuple[int, int]]:
    return {host.host: host.requests for host in plan.hosts}


@pytest.mark.parametrize("listed", [False, True])
def test_the_plan_of_a_thousand_papers_holds_what_they_took(far, large, listed):
    plan = far.plan(entries(large.field)) if listed else far.plan(query="field[ti]")
    assert plan.papers == 1000
    asked = requests(plan)
    for host, number in MEASURED.items():
        least, most = asked[host]
        assert least <= number <= most, (host, asked[host])
    assert plan.seconds[0] <= MEASURED_S <= plan.seconds[1]
    expected = sum(record.expected == "full_text" for record in large.field)
    assert plan.full_text[0] <= expected <= plan.full_text[1]
    assert asked["ncbi"][1] <= 50
    assert "publishers" in asked


@pytest.mark.lab
def test_a_plan_learns_its_shares_from_the_shelf(far, large, tmp_path):
    before, ahead = large.field[:100], large.field[400:600]
    done(far.harvest([ids_of(record) for record in before]))
    plan = far.plan(entries(ahead))
    [note] = [note for note in plan.notes if note.startswith("Shares of this shelf's own")]
    reached = learned_shares(far.shelf.folder)
    assert {"pmc_cloud", "unpaywall", "publisher"} <= reached.keys()
    assert all(share.papers >= 30 and share.least < share.most for share in reached.values())
    cloud = reached["pmc_cloud"]
    assert f"pmc_cloud {cloud.least:.0%} to {cloud.most:.0%} of {cloud.papers} papers" in note
    expected = sum(record.expected == "full_text" for record in ahead)
    assert plan.full_text[0] <= expected <= plan.full_text[1]
    fresh = harvest_plan.of_list(
        entries(ahead), replace(far._ladder, shelf=Shelf(tmp_path / "none"))
    )
    width, plain = (texts[1] - texts[0] for texts in (plan.full_text, fresh.full_text))
    assert width < plain  # what was seen says more than what may be


def test_few_papers_teach_nothing(library, world):
    done(library.harvest([ids_of(world.paper("pmc_cloud"))]))
    plan = library.plan(entries([world.paper("publisher_html")]))
    assert not any("this shelf" in note for note in plan.notes)


def test_only_routes_that_enough_papers_reached_teach_a_share(tmp_path):
    listed = [(f"PMID {number}", Ids(pmid=str(number))) for number in range(1, 41)]
    with closing(
        Ledger.create(ledgers_folder(tmp_path) / "list.db", Job("list", "list"), listed)
    ) as ledger:
        for number in range(1, 41):
            outcome = "saved" if number <= 30 else "not_offered"
            ledger.record_attempts(number, [Attempt("pmc_cloud", outcome)])
        ledger.record_attempts(40, [Attempt("jina", "unreachable")])
    learned = learned_shares(tmp_path)
    assert learned == {"pmc_cloud": (*wilson(30, 40), 40)}
    (ledgers_folder(tmp_path) / "torn.db").write_bytes(b"no database" * 1000)
    assert learned_shares(tmp_path) == learned


def test_a_plan_fetches_nothing_and_is_cheap(far, large):
    far.plan(query="field[ti]")
    assert len(large.requests) == 4
    large.reset()
    far.plan(entries(large.field))
    assert {request.service for request in large.requests} <= {"eutils", "idconv", "europepmc"}
    assert len(large.requests) <= 4  # two hundred of them, looked up at once
    assert not any(far.settings.papers_dir.glob("*.txt"))


def test_the_first_papers_of_a_question_have_the_shares_of_all(far):
    plan = far.plan(query=Query("field[ti]"), max_papers=100)
    assert (plan.papers, plan.with_abstract) == (100, 100)
    assert "100 of 1,000 hits, shares taken from all of them." in plan.notes
    assert far.plan(query="field[ti]", max_papers=5000).papers == 1000


def test_the_sample_is_spread_over_the_list(library, monkeypatch):
    looked_up = []

    def look_up(ids, *_):
        looked_up.extend(int(one.pmid) for one in ids)
        return {one: Paper(one) for one in ids}

    monkeypatch.setattr(harvest_plan, "look_up", look_up)
    library.plan([Entry(str(n), Ids(pmid=str(n))) for n in range(1, 400)])
    assert len(set(looked_up)) == 200
    assert max(looked_up) > 395


def test_what_the_shelf_holds_is_subtracted(library, world):
    papers = [world.paper("pmc_cloud"), world.paper("paywall")]
    done(library.harvest(map(ids_of, papers)))
    plan = library.plan(entries(papers))
    assert (plan.held, plan.papers) == (1, 1)
    asked = len(world.requests)
    plan = library.plan(entries(papers[:1]))
    assert (plan.papers, plan.hosts, plan.full_text, plan.seconds) == (0, (), (0, 0), (0.0, 0.0))
    assert len(world.requests) == asked


def test_unknown_silent_and_nameless_papers_are_told_apart(library, world):
    wanted = [*entries([world.paper("pmc_cloud")]), Entry("Doe 2020. A title", Ids())]
    plan = library.plan([*wanted, Entry("10.1000/nowhere", Ids(doi="10.1000/nowhere"))])
    assert plan.papers == 2
    assert "Of 2 papers looked up, 1 are not known to PubMed." in plan.notes
    assert any("without an identifier, which are looked for first: 1." in n for n in plan.notes)
    world.mood("down")
    with pytest.raises(Unreachable):
        library.plan(entries([world.paper("paywall")]))


def test_a_question_without_hits_has_no_plan(library):
    with pytest.raises(NotFound, match="finds nothing for 'zebraquark'"):
        library.plan(query="zebraquark")


def test_no_plan_without_an_address(settings):
    library = Library(**settings | {"pubmed_email": ""})
    for asked in ({"query": "cells"}, {"papers": [Entry("1", Ids(pmid="1"))]}):
        with pytest.raises(NotConfigured):
            library.plan(**asked)


def test_sites_that_are_switched_off_are_not_in_the_plan(settings, world):
    library = Library(**settings | {"papers_sources": ("pmc",)})
    plan = library.plan(entries([world.paper("pmc_cloud"), world.paper("paywall")]))
    assert {host.host for host in plan.hosts} == {"ncbi", "pmc_cloud"}
    assert plan.full_text[1] <= 1


def test_a_key_shortens_the_time_and_not_the_requests(settings):
    def jina(**more: str) -> tuple[tuple[int, int], float]:
        plan = Library(**settings | more).plan(query="cells OR virus")
        [host] = [host for host in plan.hosts if host.host == "jina"]
        return host.requests, host.seconds[1]

    (without, slow), (with_key, fast) = jina(), jina(jina_api_key="k")
    assert without == with_key
    assert fast < slow / 10


def test_preprints_are_counted_at_arxivs_own_pace(library, world):
    plan = library.plan(entries([world.paper("arxiv")]))
    [arxiv] = [host for host in plan.hosts if host.host == "arxiv"]
    assert arxiv.seconds == (3.0 * arxiv.requests[0], 3.0 * arxiv.requests[1])


def test_a_plan_in_words_says_the_same_as_in_json(far):
    plan = far.plan(query="field[ti]")
    text = plan_text(plan)
    row = plan.row()
    assert f"full texts to expect: {row['full_text'][0]:,} to {row['full_text'][1]:,}" in text
    assert all(host["host"] in text for host in row["hosts"])
    assert all(f"note: {note}" in text for note in row["notes"])
    assert " min" in text.split("time at polite rates: ")[1].splitlines()[0]


# -- plan and truth --------------------------------------------------------------------------

# What the stand-in worlds are made of: papers of each branch, where all examples are tried.
OPEN = {"pmc_cloud": 60, "efetch_only": 30, "europepmc_only": 25, "pmc_manuscript": 10, "arxiv": 8}
CLOSED = {
    "paywall": 20,
    "captcha": 6,
    "login": 6,
    "bot_check": 6,
    "wrong_paper": 6,
    "jina_only": 12,
    "publisher_pdf": 25,
    "publisher_picky": 8,
    "publisher_multi_hop": 8,
    "partial": 6,
    "publisher_meta_refresh": 8,
    "pmc_cloud": 4,
}
COPIES = {"unpaywall_pdf": 40, "unpaywall_html": 25, "publisher_html": 40, "abstract_only": 30}
_PLANNED_AS = {
    "eutils": "ncbi",
    "idconv": "ncbi",
    "jina_reader": "jina",
    "arxiv_oai": "arxiv",
    **dict.fromkeys(("meadow", "harbour", "summit", "repository"), "publishers"),
}


def made_of(world: World, mix: dict[str, int]) -> list[Record]:
    return [
        record
        for branch, number in mix.items()
        for record in [one for one in world.field if one.branch == branch][: share(number)]
    ]


def by_doi(records: list[Record]) -> list[Entry]:
    return [Entry(r.doi, Ids(doi=r.doi)) if r.doi else Entry(r.pmid, ids_of(r)) for r in records]


def by_pmcid(records: list[Record]) -> list[Entry]:
    return [Entry(r.pmcid, Ids(pmcid=r.pmcid)) if r.pmcid else by_doi([r])[0] for r in records]


# Each of the mixes with one of the shelves; with all examples, both.
@pytest.mark.parametrize(
    ("mix", "named", "remembered"),
    [
        pytest.param(mix, named, remembered, id=f"{name}-{'same' if remembered else 'another'}")
        for name, mix, named in (
            ("open", OPEN, by_pmcid), ("closed", CLOSED, by_doi), ("copies", COPIES, entries)
        )
        for remembered in (False, True)
        if has_turn(remembered + (name != "open"), every=2)
    ],
)  # fmt: skip
def test_what_is_asked_of_every_host_is_within_the_plan(
    far, large, tmp_path, mix, named, remembered
):
    records = made_of(large, mix)
    plan = far.plan(named(records))
    large.reset()
    library = far if remembered else library_of(large, tmp_path / "another")
    done(library.harvest(named(records)))
    assert_within(plan, large)


def test_what_a_query_asks_of_every_host_is_within_the_plan(tmp_path):
    with World(field=share(200)) as world:
        library = library_of(world, tmp_path)
        plan = library.plan(query="field[ti]")
        world.reset()
        done(library.harvest(query="field[ti]"))
        assert_within(plan, world)


@pytest.mark.lab
def test_with_a_key_the_readers_search_is_planned_with_its_tokens(large, tmp_path):
    library = library_of(large, tmp_path, jina_api_key="a-key")
    records = made_of(large, CLOSED)
    plan = library.plan(by_doi(records))
    large.reset()
    done(library.harvest(by_doi(records)))
    assert_within(plan, large)
    least, most = requests(plan)["jina_search"]
    assert any(f"{least * 10_000:,} to {most * 10_000:,} tokens" in note for note in plan.notes)
    assert any("tokens" in line for line in plan_text(plan).splitlines())


def assert_within(plan: Plan, world: World) -> None:
    asked: Counter[str] = Counter()
    for request in world.requests:
        asked[_PLANNED_AS.get(request.host, request.host)] += 1
    planned = requests(plan)
    beyond = {
        host: (planned.get(host), asked[host])
        for host in asked.keys() | planned.keys()
        if not planned.get(host, (0, 0))[0] <= asked[host] <= planned.get(host, (0, 0))[1]
    }
    assert not beyond, (planned, dict(asked))
