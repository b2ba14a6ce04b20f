"""Texts that appear after a paper was saved are found in batches, fetched, and nothing else is."""

import random
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.clock import Clock
from tests.shelf.papers import document, fetched
from tests.world import Record, World
from tests.world.openalex import KEY
from utils import Library
from utils.curation.text_recheck import recheck_texts
from utils.errors import BadRequest, NotConfigured
from utils.model.identifiers import Ids
from utils.model.paper import format_timestamp

Happen = Callable[..., Record]
Outcomes = Callable[..., dict[str, str]]


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


def test_a_copy_is_asked_for_on_the_day_that_unpaywall_named(
    library: Library, world: World, happens: Happen, outcomes: Outcomes, clock: Clock
) -> None:
    day = format_timestamp(time.time() + 30 * 86_400)[:10]
    record = happens(world.paper("paywall"), unpaywall=f"later {day}")
    stored = library.download(record.pmid).stored
    assert [one.opens for one in stored.attempts if one.source == "unpaywall"] == [day]
    before = len(world.requests)
    assert outcomes(library) == {record.pmid: "embargoed"}
    assert requests_since(world, before) == {"eutils": 1, "semantic_scholar": 1}
    clock.sleep(30 * 86_400)
    assert outcomes(library) == {record.pmid: "no_text"}  # Unpaywall does not name it yet
    assert outcomes(library) == {record.pmid: "unchanged"}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"unpaywall": "later {day}"}, {"unpaywall": "pdf", "scholar": "doi"}),
        ({"mined": "crossref_later {day}"}, {}),
        ({"mined": "crossref_later {day}"}, {"mined": "", "page": "article"}),
    ],
)
def test_an_open_copy_is_fetched_on_the_day_that_was_named(
    library: Library,
    world: World,
    happens: Happen,
    outcomes: Outcomes,
    clock: Clock,
    before: dict[str, str],
    after: dict[str, str],
) -> None:
    day = format_timestamp(time.time() + 30 * 86_400)[:10]
    later = {name: value.format(day=day) for name, value in before.items()}
    record = happens(world.paper("paywall"), **later)
    library.download(record.pmid)
    happens(record, **after)
    assert outcomes(library) == {record.pmid: "embargoed"}
    clock.sleep(30 * 86_400)
    assert outcomes(library) == {record.pmid: "gained"}


@pytest.mark.parametrize("branch", ["pmc_manuscript", "arxiv"])
def test_a_version_that_stood_in_is_followed_by_the_published_one(
    library: Library,
    world: World,
    happens: Happen,
    outcomes: Outcomes,
    clock: Clock,
    branch: str,
) -> None:
    records = (one for one in world.corpus.records if one.arxiv and one.pmid)
    record = next(records) if branch == "arxiv" else world.paper(branch)
    if branch == "arxiv":
        library.download(f"arXiv:{record.arxiv}")
    stand_in = library.download(record.doi).stored
    assert stand_in.version == ("preprint" if branch == "arxiv" else "accepted")
    assert set(outcomes(library).values()) == {"unchanged"}
    happens(record, scholar="publisher", page="pdf")
    assert set(outcomes(library).values()) == {"gained"}
    assert library.find(record.doi).version == "published"
    clock.sleep(60 * 86_400)  # the addresses that were tried are forgotten by then
    assert outcomes(library) == {}


def test_the_article_of_a_preprint_is_downloaded(
    library: Library, world: World, happens: Happen, outcomes: Outcomes
) -> None:
    preprint, article = world.paper("preprint"), world.paper("preprint_published")
    assert library.download(preprint.doi).stored.is_preprint
    assert set(outcomes(library).values()) == {"unchanged"}
    happens(preprint, scholar=f"article {article.doi}")
    happens(article, page="article")
    assert outcomes(library) == {article.pmid: "gained"}
    assert library.find(article.doi).version == "published"
    assert library.find(preprint.doi).is_preprint
    assert set(outcomes(library).values()) == {"unchanged"}


def test_another_paper_that_semantic_scholar_takes_for_the_article_is_left_alone(
    library: Library, world: World, happens: Happen, outcomes: Outcomes
) -> None:
    preprint, other = world.paper("preprint"), world.paper("openalex_only")
    library.download(preprint.doi)
    happens(preprint, scholar=f"article {other.doi}")
    assert set(outcomes(library).values()) == {"no_text"}
    assert library.shelf.find_text(Ids(doi=other.doi)) is None
    assert set(outcomes(library).values()) == {"unchanged"}


def test_a_doubtful_text_is_replaced(
    library: Library, world: World, happens: Happen, outcomes: Outcomes
) -> None:
    record = world.paper("paywall")
    paper = library.download(record.pmid).stored.paper
    doubtful = document(body_words=1200, verdict="doubtful", evidence="two columns mixed")
    library.shelf.save_full_text(paper, doubtful, fetched(), source="DOI", attempts=())
    assert library.find(record.pmid).is_doubtful
    assert outcomes(library) == {record.pmid: "unchanged"}
    happens(record, scholar="publisher", page="pdf")
    assert outcomes(library) == {record.pmid: "gained"}
    assert not library.find(record.pmid).is_doubtful


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
@pytest.mark.parametrize(("every", "daily"), [(14, False), (7, True)])
def test_two_years_of_papers_that_open(
    library: Library, world: World, happens: Happen, clock: Clock, every: int, daily: bool
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
    for day in range(0, 744, every):
        clock.sleep(every * 86_400)
        for paper, way in opens.items():
            if day - every < day_of[paper.pmid] <= day:
                happens(paper, **way)
        before = len(world.requests)
        changes = list(library.upkeep.recheck_texts(due=daily))
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
