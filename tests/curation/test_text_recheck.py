"""Texts that appear after a paper was saved are found in batches, fetched, and nothing else is."""

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.clock import Clock
from tests.world import Record, World
from tests.world.openalex import KEY
from utils import Library
from utils.curation.text_recheck import recheck_texts
from utils.errors import BadRequest, NotConfigured

Happen = Callable[..., Record]
Outcomes = Callable[..., dict[str, str]]


@pytest.fixture
def happens(world: World, monkeypatch: pytest.MonkeyPatch) -> Happen:
    """Change a paper of the stand-in internet until the test ends."""

    def happen(record: Record, **changes: Any) -> Record:
        changed = replace(record, **changes)
        monkeypatch.setitem(world.corpus.by_pmid, record.pmid, changed)
        monkeypatch.setitem(world.corpus.by_doi, record.doi.lower(), changed)
        if changed.pmcid:
            monkeypatch.setitem(world.corpus.by_pmcid, changed.pmcid, changed)
        records = [changed if one.pmid == record.pmid else one for one in world.corpus.records]
        monkeypatch.setattr(world.corpus, "records", records)
        return changed

    return happen


@pytest.fixture
def outcomes(clock: Clock) -> Outcomes:
    """Recheck two days later, when answers are no longer remembered; outcomes by PMID."""

    def recheck_later(library: Library, **options: int) -> dict[str, str]:
        clock.sleep(2 * 86_400)
        return {one.ids.pmid: one.outcome for one in recheck_texts(library.ladder, **options)}

    return recheck_later


def requests_since(world: World, before: int) -> Counter[str]:
    return Counter(request.service for request in world.requests[before:])


def test_nothing_happens_to_papers_without_news(
    library: Library, world: World, outcomes: Outcomes
) -> None:
    held = [world.paper(branch).pmid for branch in ("paywall", "embargoed", "pmc_cloud")]
    for pmid in held:
        library.download(pmid)
    before = len(world.requests)
    assert outcomes(library) == {held[0]: "unchanged", held[1]: "embargoed"}
    assert requests_since(world, before) == {"eutils": 1, "semantic_scholar": 1}


def test_the_end_of_an_embargo_brings_the_text(
    library: Library, world: World, happens: Happen, outcomes: Outcomes
) -> None:
    record = world.paper("embargoed")
    library.download(record.pmid)
    happens(record, released="2026-01-01", efetch="body")
    before = len(world.requests)
    assert outcomes(library) == {record.pmid: "gained"}
    assert library.find(record.pmid).kind == "full_text"
    asked = requests_since(world, before)
    assert not {"unpaywall", "crossref", "publisher"} & set(asked), asked
    assert outcomes(library) == {}


def test_an_open_copy_that_semantic_scholar_names_is_fetched(
    library: Library, world: World, happens: Happen, outcomes: Outcomes
) -> None:
    record = world.paper("paywall")
    library.download(record.pmid)
    happens(record, scholar="copy")
    assert outcomes(library) == {record.pmid: "gained"}


def test_a_dead_link_is_tried_once(
    library: Library, world: World, happens: Happen, outcomes: Outcomes, clock: Clock
) -> None:
    record = world.paper("paywall")
    library.download(record.pmid)
    happens(record, scholar="copy", unpaywall="fake_pdf")
    assert outcomes(library) == {record.pmid: "no_text"}
    before = len(world.requests)
    assert outcomes(library) == {record.pmid: "unchanged"}
    assert requests_since(world, before) == {"eutils": 1, "semantic_scholar": 1}
    clock.sleep(400 * 86_400)
    assert outcomes(library) == {record.pmid: "unchanged"}


def test_a_site_that_does_not_answer_is_asked_again_in_the_next_run(
    library: Library, world: World, happens: Happen, outcomes: Outcomes
) -> None:
    record = world.paper("paywall")
    library.download(record.pmid)
    happens(record, scholar="copy")
    world.mood("down", "repository")
    assert outcomes(library) == {record.pmid: "could_not_tell"}
    world.calm()
    assert outcomes(library) == {record.pmid: "gained"}


@pytest.mark.parametrize("service", ["eutils", "semantic_scholar"])
def test_a_silent_index_is_never_called_unchanged(
    library: Library, world: World, service: str, outcomes: Outcomes
) -> None:
    record = world.paper("paywall")
    library.download(record.pmid)
    world.mood("down", service)
    assert outcomes(library) == {record.pmid: "could_not_tell"}


def test_a_limit_postpones_the_rest(
    library: Library, world: World, happens: Happen, outcomes: Outcomes
) -> None:
    records = [world.paper("paywall"), world.paper("embargoed")]
    for record in records:
        library.download(record.pmid)
    happens(records[0], scholar="copy")
    happens(records[1], released="2026-01-01", efetch="body")
    assert sorted(outcomes(library, limit=1).values()) == ["gained", "postponed"]
    assert list(outcomes(library, limit=1).values()) == ["gained"]
    with pytest.raises(BadRequest, match="-1"):
        outcomes(library, limit=-1)


def test_openalex_is_asked_where_there_is_a_key(
    settings: dict[str, Any], world: World, happens: Happen, outcomes: Outcomes
) -> None:
    library = Library(**{**settings, "openalex_api_key": KEY})
    record = world.paper("paywall")
    library.download(record.pmid)
    happens(record, openalex="pdf")
    before = len(world.requests)
    assert outcomes(library) == {record.pmid: "gained"}
    lists = [r for r in world.requests[before:] if r.service == "openalex" and "filter" in r.params]
    assert [r.params["filter"] for r in lists] == [f"doi:{record.doi.lower()}"]


def test_without_an_address_nobody_is_asked(settings: dict[str, Any], world: World) -> None:
    library = Library(**{**settings, "pubmed_email": ""})
    with pytest.raises(NotConfigured):
        list(recheck_texts(library.ladder))
    assert world.requests == []


@pytest.mark.slow
def test_two_years_of_papers_that_open(
    library: Library, world: World, happens: Happen, clock: Clock
) -> None:
    """Of 60 abstracts 16 get a text (26.7 %), and 8 others a link that leads to none.

    The share is that of a project that looked again for its "abstract only" entries. All that
    opens is had by the next run, a fortnight later, and a paper costs less than 0.1 requests a run.
    """
    chance = random.Random(41)
    papers = [happens(make_paper(world, at)) for at in range(60)]
    for paper in papers:
        assert library.download(paper.pmid).stored.kind == "abstract"
    ways = [{"pmcid": f"PMC93{at:05}", "efetch": "body"} for at in range(8)]
    ways += [{"scholar": "copy"}] * 8 + [{"scholar": "copy", "unpaywall": "fake_pdf"}] * 8
    opens = dict(zip(chance.sample(papers, 24), ways, strict=True))
    day_of = {paper.pmid: chance.randrange(720) for paper in opens}
    gained: dict[str, int] = {}
    asked = 0
    for day in range(0, 744, 14):
        clock.sleep(14 * 86_400)
        for paper, way in opens.items():
            if day - 14 < day_of[paper.pmid] <= day:
                happens(paper, **way)
        before = len(world.requests)
        changes = list(recheck_texts(library.ladder))
        gained |= {one.ids.pmid: day for one in changes if one.outcome == "gained"}
        assert not [one for one in changes if one.outcome == "could_not_tell"]
        asked += len(world.requests) - before
    wanted = {paper.pmid for paper, way in opens.items() if way.get("unpaywall") != "fake_pdf"}
    assert set(gained) == wanted
    assert all(0 <= day - day_of[pmid] < 30 for pmid, day in gained.items())
    assert asked / (len(papers) * 744 / 14) < 0.1


def make_paper(world: World, at: int) -> Record:
    """Return a paper of which only the abstract can be had."""
    title = f"Ripple coupling and memory consolidation in cohort {at}"
    return replace(world.paper("paywall"), pmid=f"4199{at:04}", doi=f"10.9101/j.{at}", title=title)
