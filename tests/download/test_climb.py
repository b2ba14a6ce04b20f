"""What to do next for one paper follows from what is known of it, and nothing is done."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from utils.download.climb import (
    Ask,
    Climb,
    DownloadRequest,
    Fail,
    LookUp,
    Rung,
    Serve,
    Settle,
    Wait,
    choose_next_action,
)
from utils.errors import NotFound, Unreachable
from utils.model.identifiers import Ids
from utils.model.paper import Attempt, Paper, StoredPaper, utc_now
from utils.settings import load_settings
from utils.sources import Route, Source

DOI = Ids(doi="10.1000/a")
RECORD = Paper(replace(DOI, pmid="7", pmcid="PMC7"), title="A", recorded_by="pubmed")
SETTINGS = load_settings(pubmed_email="a@lab.edu")


def rung(via: str, label: str = "DOI", **more: Any) -> Rung:
    route = Route(via, more.pop("needs", ("doi",)), lambda papers, web: iter(()), **more)
    return Rung(route, Source(via, via, label=label, routes=(route,)))


PMC, SITE, LAST = rung("pmc_cloud", "PMC", needs=("pmcid",)), rung("unpaywall"), rung("publisher")
RUNGS = (PMC, SITE, LAST)


def stored(kind: Any = "full_text", *attempts: Attempt, **more: Any) -> StoredPaper:
    path = f"/papers/{kind}.txt"
    told = {"saved_at": "2026-11-01T08:00:00+00:00", **more}
    return StoredPaper(RECORD, kind, path, "PMC", "pmc_cloud", "", attempts=attempts, **told)


def climb(*texts: StoredPaper, **known: Any) -> Climb:
    request = known.pop("request", DownloadRequest(DOI))
    return Climb(request, lambda ids: list(texts), **known)


def looked_up(*texts: StoredPaper, **known: Any) -> Climb:
    return climb(*texts, **{"record": RECORD, "state": "looked_up", **known})


def decide(of: Climb, away: Sequence[str] = ()) -> Any:
    return choose_next_action(of, RUNGS, SETTINGS, lambda rung: rung.via in away)


def test_a_text_on_the_shelf_is_served_and_anything_else_is_looked_up() -> None:
    assert decide(climb(stored())) == Serve(stored())
    assert decide(climb()) == LookUp()
    assert decide(climb(stored("abstract"))) == LookUp()
    assert decide(climb(stored("rejected"))) == LookUp()
    forced = DownloadRequest(DOI, force=True)
    assert decide(climb(stored(), request=forced)) == LookUp()


def test_offline_what_is_here_is_served_unless_it_was_rejected() -> None:
    offline = DownloadRequest(DOI, offline=True)
    assert decide(climb(stored("abstract"), request=offline)) == Serve(stored("abstract"))
    assert decide(climb(stored("rejected"), request=offline)) == LookUp()
    doubtful = stored(verdict="doubtful")
    assert decide(climb(doubtful, request=offline)) == Serve(doubtful)
    assert decide(climb(doubtful)) == LookUp()


def test_an_abstract_is_served_while_all_answers_are_recent_unless_it_is_retried() -> None:
    tried = [Attempt(one.via, "not_offered", at=utc_now()) for one in RUNGS]
    abstract = stored("abstract", *tried)
    assert decide(climb(abstract)) == Serve(abstract)
    assert decide(climb(abstract, request=DownloadRequest(DOI, retry=True))) == LookUp()
    assert decide(climb(stored("abstract", *tried[1:]))) == LookUp()


def test_a_paper_without_a_record_climbs_only_where_its_text_names_it() -> None:
    away, unknown = Unreachable("PubMed is down"), NotFound("no such paper")
    assert decide(climb(record=unknown, state="looked_up")) == Fail(unknown)
    assert isinstance(decide(climb(record=away, state="looked_up")), Ask)
    pmid = DownloadRequest(Ids(pmid="7"))
    assert decide(climb(record=away, state="looked_up", request=pmid)) == Fail(away)


def test_rungs_are_asked_in_order_and_those_in_no_question_are_noted_with_the_reason() -> None:
    assert decide(looked_up()) == Ask(PMC, [], [])
    without = looked_up(record=replace(RECORD, ids=DOI))
    asked = decide(without)
    assert asked.rung == SITE
    assert [(a.source, a.outcome) for a in asked.notes] == [("pmc_cloud", "skipped")]
    without.record_attempts([*asked.notes, Attempt("unpaywall", "not_offered")])
    assert decide(without) == Ask(LAST, [], [])
    without.record_attempts([Attempt("publisher", "paywall")])
    assert decide(without) == Settle([])


def test_a_recent_answer_stands_for_the_question() -> None:
    before = [Attempt("pmc_cloud", "not_offered")]
    assert decide(looked_up(standing={"pmc_cloud": before})) == Ask(SITE, before, [])


def test_rungs_that_are_away_come_last_and_are_waited_for_at_the_end() -> None:
    of = looked_up()
    assert decide(of, ["pmc_cloud"]) == Ask(SITE, [], [PMC])
    of.record_attempts([Attempt("unpaywall", "not_offered")])
    assert decide(of, ["pmc_cloud", "publisher"]) == Wait([], [PMC, LAST])
    assert decide(of) == Ask(PMC, [], [])


def test_a_rung_that_only_has_what_is_here_is_not_asked() -> None:
    preprints = rung("arxiv", "arXiv", version="preprint")
    of = looked_up(stored(version="preprint"), state="climbing")
    action = choose_next_action(of, [preprints], SETTINGS, lambda _: False)
    assert isinstance(action, Settle)
    assert [a.outcome for a in action.notes] == ["other_version"]
    assert choose_next_action(looked_up(), [preprints], SETTINGS, lambda _: False) == Ask(
        preprints, [], []
    )


def test_deciding_changes_nothing() -> None:
    of = looked_up(stored("abstract"))
    before = repr(of)
    assert decide(of, ["pmc_cloud"]) == decide(of, ["pmc_cloud"])
    assert of.tried == []
    assert repr(replace(of, texts=None)) == before


@pytest.mark.parametrize("branch", ["pmc_cloud", "publisher_html", "paywall"])
def test_the_shelf_is_asked_once_before_the_look_up_and_once_under_the_lease(
    library: Any, world: Any, branch: str
) -> None:
    asked: list[Ids] = []
    find_texts = library.shelf.find_texts

    def count(ids: Ids) -> list[StoredPaper]:
        asked.append(ids)
        return find_texts(ids)

    library.shelf.find_texts = count
    record = world.paper(branch)
    library.download(record.pmid)
    assert [bool(ids.doi) for ids in asked] == [False, True]
    asked.clear()
    library.download(record.pmid)
    assert asked == [Ids(pmid=record.pmid)]
