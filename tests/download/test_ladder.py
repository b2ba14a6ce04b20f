"""One rung asked for many papers: what is refused is halved, and one bad article costs one."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from tests.harvests import library_of
from tests.world import World
from utils import Library
from utils import readers as formats
from utils.download.climb import DownloadRequest, Rung
from utils.download.ladder import Step
from utils.download.records import look_up_records
from utils.errors import (
    BadContent,
    NotAvailable,
    NotConfigured,
    SourceMiss,
    StoreFailed,
    Unreachable,
)
from utils.http import Web
from utils.judges.comparison import measure_copy
from utils.model.identifiers import Ids
from utils.model.paper import Document, Fetched, Paper
from utils.model.verdicts import ComparisonData, TextCopy
from utils.sources import Route, Source

Found = Iterator[tuple[Paper, Fetched | SourceMiss]]
SIX = 6


@pytest.fixture(scope="module")
def _world() -> Iterator[World]:
    with World(field=60) as world:
        yield world


@pytest.fixture
def library(_world: World, tmp_path: Path) -> Iterator[Library]:
    _world.reset()
    made = library_of(_world, tmp_path)
    yield made
    made.shelf.close()


@pytest.fixture
def papers(library: Library, _world: World) -> list[Paper]:
    """Six papers that E-utilities hand out as JATS."""
    records = [record for record in _world.field if record.efetch == "body"][:SIX]
    wanted = [Ids(pmid=record.pmid) for record in records]
    ladder = library.ladder
    found = look_up_records(wanted, ladder.web, ladder.sources)
    made = [found[ids] for ids in wanted]
    assert all(isinstance(paper, Paper) and paper.ids.pmcid for paper in made)
    return made  # type: ignore[return-value]


@pytest.fixture
def articles(library: Library, papers: list[Paper]) -> dict[str, Fetched]:
    """Their texts."""
    [route] = [rung.route for rung in library.ladder.rungs if rung.via == "efetch"]
    sent = {paper.ids.pmcid: what for paper, what in route.fetch(papers, library.web)}
    assert all(isinstance(what, Fetched) for what in sent.values())
    return sent  # type: ignore[return-value]


class Site:
    """A rung that takes batches and writes down what it was asked for."""

    def __init__(self, answer: Callable[[Sequence[Paper]], Found]) -> None:
        self.answer = answer
        self.asked: list[int] = []
        route = Route("site", ("pmcid",), self.fetch, batch=20)
        self.rung = Rung(route, Source("site", "a site", label="PMC", routes=(route,)))

    def fetch(self, papers: Sequence[Paper], web: Web) -> Found:
        self.asked.append(len(papers))
        yield from self.answer(papers)


def outcomes(climbs: Sequence[Step]) -> list[list[str]]:
    return [[attempt.outcome for attempt in climb.attempts] for climb in climbs]


def ask(library: Library, site: Site, papers: Sequence[Paper]) -> list[Step]:
    climbs = [Step(paper) for paper in papers]
    assert list(library.ladder.ask_rung(site.rung, climbs)) == climbs
    return climbs


def test_all_texts_of_a_batch_come_with_one_question(
    library: Library, papers: list[Paper], articles: dict[str, Fetched]
) -> None:
    site = Site(lambda asked: ((paper, articles[paper.ids.pmcid]) for paper in reversed(asked)))
    climbs = ask(library, site, papers)
    assert site.asked == [SIX]
    assert outcomes(climbs) == [["saved"]] * SIX
    for climb in climbs:
        assert climb.document is not None
        assert climb.document.title == climb.paper.title.rstrip(".")


def test_a_paper_the_site_says_nothing_about_is_not_offered(
    library: Library, papers: list[Paper], articles: dict[str, Fetched]
) -> None:
    site = Site(lambda asked: ((paper, articles[paper.ids.pmcid]) for paper in asked[1:]))
    assert outcomes(ask(library, site, papers)) == [["not_offered"]] + [["saved"]] * (SIX - 1)


def test_another_papers_text_costs_that_paper_only(
    library: Library, papers: list[Paper], articles: dict[str, Fetched]
) -> None:
    def answer(asked: Sequence[Paper]) -> Found:
        yield asked[0], articles[asked[1].ids.pmcid]
        yield asked[1], replace(articles[asked[1].ids.pmcid], body=b"<article><bo")
        yield from ((paper, articles[paper.ids.pmcid]) for paper in asked[2:])

    climbs = ask(library, Site(answer), papers)
    assert outcomes(climbs)[0] == ["wrong_paper"]
    assert len(outcomes(climbs)[1]) == 1
    assert climbs[1].document is None
    assert outcomes(climbs)[2:] == [["saved"]] * (SIX - 2)
    assert library.shelf.count_papers()["quarantined"] == 2


@pytest.mark.parametrize(
    "refusal",
    [
        NotAvailable("odd identifier", status=400),
        BadContent("not XML", verdict="error_page"),
        KeyError("form"),
        AttributeError("form"),
    ],
)
def test_what_is_refused_is_halved_until_the_bad_one_stands_alone(
    library: Library, papers: list[Paper], articles: dict[str, Fetched], refusal: Exception
) -> None:
    bad = papers[4]

    def answer(asked: Sequence[Paper]) -> Found:
        if bad in asked:
            raise refusal
        yield from ((paper, articles[paper.ids.pmcid]) for paper in asked)

    site = Site(answer)
    climbs = ask(library, site, papers)
    assert site.asked == [6, 3, 3, 1, 2, 1, 1]
    assert [climb.document is None for climb in climbs] == [paper is bad for paper in papers]
    assert all(len(climb.attempts) == 1 for climb in climbs)


def test_texts_that_came_before_the_break_are_kept(
    library: Library, papers: list[Paper], articles: dict[str, Fetched]
) -> None:
    def answer(asked: Sequence[Paper]) -> Found:
        for number, paper in enumerate(asked):
            if len(asked) == SIX and number == 4:
                raise Unreachable("the line broke")
            yield paper, articles[paper.ids.pmcid]

    climbs = ask(library, Site(answer), papers)
    assert outcomes(climbs) == [["saved"]] * 4 + [["unreachable"]] * 2


@pytest.mark.parametrize(
    ("failure", "outcome"),
    [
        (Unreachable("down", retry_after=90), "unreachable"),
        (NotConfigured("no key"), "not_offered"),
        (NotAvailable("closed"), "not_offered"),
    ],
)
def test_a_refusal_of_all_is_not_halved(
    library: Library, papers: list[Paper], failure: Exception, outcome: str
) -> None:
    def answer(asked: Sequence[Paper]) -> Found:
        raise failure
        yield

    site = Site(answer)
    climbs = ask(library, site, papers)
    assert site.asked == [SIX]
    assert outcomes(climbs) == [[outcome]] * SIX
    told = 90 if outcome == "unreachable" else 0
    assert {climb.stay_away_s for climb in climbs} == {told}
    assert {climb.service_down for climb in climbs} == {outcome == "unreachable"}


def test_a_host_that_is_down_is_not_the_service(library: Library, papers: list[Paper]) -> None:
    climbs = ask(library, Site(lambda asked: ((p, Unreachable("down")) for p in asked)), papers)
    assert outcomes(climbs) == [["unreachable"]] * SIX
    assert not any(climb.service_down for climb in climbs)


def test_of_several_candidates_the_first_whole_one_is_kept_and_no_more_asked_for(
    library: Library, papers: list[Paper], articles: dict[str, Fetched]
) -> None:
    whole = articles[papers[0].ids.pmcid]
    taken: list[str] = []

    def answer(asked: Sequence[Paper]) -> Found:
        for name, what in (
            ("miss", NotAvailable("not there")),
            ("other", articles[papers[1].ids.pmcid]),
            ("whole", whole),
            ("more", whole),
        ):
            taken.append(name)
            yield asked[0], what

    [climb] = ask(library, Site(answer), papers[:1])
    assert outcomes([climb]) == [["not_offered", "wrong_paper", "saved"]]
    assert taken == ["miss", "other", "whole"]


def test_a_text_is_compared_with_a_part_that_was_refused_and_with_the_journal(
    library: Library, papers: list[Paper], articles: dict[str, Fetched]
) -> None:
    part = TextCopy("site", "", 5000, 0, ())
    seen: list[ComparisonData] = []

    def read(fetched: Fetched, paper: Paper, *, comparison: ComparisonData) -> Document:
        seen.append(comparison)
        if len(seen) == 1:
            raise BadContent("cut", verdict="partial", copy=part._asdict())
        return formats.read_and_judge(fetched, paper, comparison=comparison)

    ladder = replace(library.ladder, read=read)
    whole = articles[papers[0].ids.pmcid]
    site = Site(lambda asked: ((asked[0], whole) for _ in range(2)))
    climb = ladder.start_climb(DownloadRequest(papers[0].ids), record=papers[0])
    for _ in range(2):
        [step] = ladder.ask_rung(site.rung, [ladder.begin_step(climb)])
        ladder.store_result(site.rung, replace(step, document=None, fetched=None), climb)
    assert [comparison.copies for comparison in seen] == [(), (part,), (part,)]
    assert step.document is not None
    assert "the copy from site has 5000" in step.document.evidence


def test_a_text_is_compared_with_the_full_text_on_the_shelf(
    library: Library, papers: list[Paper], articles: dict[str, Fetched]
) -> None:
    site = Site(lambda asked: iter([(asked[0], articles[asked[0].ids.pmcid])]))
    climb = library.ladder.start_climb(DownloadRequest(papers[0].ids), record=papers[0])
    [step] = library.ladder.ask_rung(site.rung, [library.ladder.begin_step(climb)])
    assert library.ladder.store_result(site.rung, step, climb)
    again = library.ladder.start_climb(DownloadRequest(papers[0].ids), record=papers[0])
    [copy] = library.ladder.begin_step(again).copies
    assert step.document is not None
    assert copy == measure_copy(step.document.markdown, "efetch", step.document.version)


def test_a_full_disk_is_nobodys_outcome(
    library: Library, papers: list[Paper], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise StoreFailed("The disk is full.")

    monkeypatch.setattr(library.ladder.shelf, "quarantine_content", full)
    site = Site(lambda asked: iter([(asked[0], Fetched(b"<x", "jats", "u", "site", "site"))]))
    with pytest.raises(StoreFailed):
        ask(library, site, papers[:1])
