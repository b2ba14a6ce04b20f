"""A harvest in the stand-in internet: every paper ends, as it should, and nobody is asked twice."""

import csv
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.clock import Clock
from tests.examples import share
from tests.harvests import assert_complete, done, ids_of, library_of, ncbi, repeated
from tests.world import Record, World
from utils import Library
from utils.demo.wire import Call, Reply
from utils.download.ladder import Ladder
from utils.errors import NotConfigured
from utils.harvest.bulk import _Run
from utils.lists.pasted import ListEntry
from utils.model.identifiers import Ids
from utils.model.job import find_most_informative_failure
from utils.model.paper import Attempt, Author, Paper
from utils.shelf import Shelf

pytestmark = pytest.mark.slow

# PubMed does not know that this one is on arXiv, too.
UNKNOWN_TO_PUBMED = {"arxiv_published"}
FIELD = 200


def test_every_paper_ends_as_it_should(library: Library, world: World) -> None:
    records = [record for record in world.papers if record.branch not in UNKNOWN_TO_PUBMED]
    harvest = library.harvest([ids_of(record) for record in records])
    done(harvest)
    assert_complete(library, harvest, records)
    assert not repeated(world.requests)
    job = harvest.job()
    assert job.ended_at
    counts = job.counts
    assert counts.requested == counts.full_text + counts.abstract + counts.record == len(records)


def test_two_hundred_papers_cost_ncbi_ten_requests_at_most(far: Library, field: World) -> None:
    records = field.field[: share(200)]
    harvest = far.harvest([ids_of(record) for record in records])
    done(harvest)
    assert ncbi(field.requests) <= 2 + 0.04 * len(records)
    assert not field.refused
    assert not repeated(field.requests)
    assert_complete(far, harvest, records)


def test_texts_are_the_papers_own(library: Library, world: World) -> None:
    records = [world.paper(branch) for branch in ("pmc_cloud", "efetch_only", "publisher_html")]
    for record, row in zip(records, done(library.harvest(map(ids_of, records))), strict=True):
        assert row.state == "full_text"
        text = (library.shelf.folder / row.file).read_text(encoding="utf-8")
        assert record.plain_title in text
        assert len(text.split()) > 700


def test_abstracts_are_on_the_shelf_before_any_text_is_asked_for(
    field: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = library_of(field, tmp_path)
    records = field.field[:40]
    waiting = {record.pmcid: record for record in records if record.pmcid}
    missing: list[str] = []
    answer = field._main.answer

    def watched(call: Call) -> Reply:
        if call.service == "" and "/pmc_cloud/" in call.raw:
            for pmcid, record in waiting.items():
                if (
                    pmcid in call.raw
                    and Shelf(tmp_path / "papers").find_text(ids_of(record)) is None
                ):
                    missing.append(pmcid)
        return answer(call)

    monkeypatch.setattr(field._main, "answer", watched)
    done(library.harvest(map(ids_of, records)))
    assert sum(request.service == "pmc_cloud" for request in field.requests) > 20
    assert not missing


# -- a second time ---------------------------------------------------------------------------


def test_a_second_run_asks_nobody(library: Library, world: World) -> None:
    records = list(world.papers)[:12]
    first = done(library.harvest(map(ids_of, records)))
    asked = len(world.requests)
    assert done(library.harvest(map(ids_of, records))) == first
    assert len(world.requests) == asked


def test_another_job_with_the_same_papers_asks_nobody(library: Library, world: World) -> None:
    records = list(world.papers)[:12]
    first = done(library.harvest(map(ids_of, records)))
    asked = len(world.requests)
    second = done(library.harvest(map(ids_of, reversed(records)), title="the other way round"))
    assert len(world.requests) == asked
    assert [(row.file, row.sha256) for row in reversed(second)] == [
        (row.file, row.sha256) for row in first
    ]


def test_a_stopped_run_goes_on_where_it_was(library: Library, world: World) -> None:
    records = [world.paper(branch) for branch in ("pmc_cloud", "retracted", "paywall", "arxiv")]
    harvest = library.harvest(map(ids_of, records))
    for _ in harvest:
        break
    harvest = library.harvest(job_id=harvest.job_id)
    done(harvest)
    assert_complete(library, harvest, records)


def test_the_full_text_somebody_saved_in_the_meantime_is_not_fetched_again(
    library: Library, world: World
) -> None:
    record = world.paper("publisher_html")
    harvest = library.harvest([ids_of(record)])
    harvest.ledger.store_paper_record(
        1, library.download(record.pmid).stored.paper
    )  # as a killed run left it
    asked = len(world.requests)
    [row] = done(harvest)
    assert (row.state, row.via) == ("full_text", "publisher")
    assert len(world.requests) == asked


def test_a_text_that_was_fetched_but_not_kept_is_fetched_again(
    library: Library, world: World
) -> None:
    """Killed after the attempt was written down and before the text was on the shelf."""
    record = world.paper("pmc_cloud")
    harvest = library.harvest([ids_of(record)])
    harvest.ledger.store_paper_record(1, library.search(f"{record.pmid}[uid]").papers[0])
    harvest.ledger.record_attempts(1, [Attempt("pmc_cloud", "saved", "whole")])
    [row] = done(harvest)
    assert (row.state, row.via) == ("full_text", "pmc_cloud")


def test_a_text_among_several_copies_is_fetched_again(library: Library, world: World) -> None:
    """The same, where the first copy was no text."""
    record = world.paper("unpaywall_pdf")
    harvest = library.harvest([ids_of(record)])
    harvest.ledger.store_paper_record(1, library.search(f"{record.pmid}[uid]").papers[0])
    harvest.ledger.record_attempts(
        1, [Attempt("unpaywall", "paywall", "sold"), Attempt("unpaywall", "saved", "whole")]
    )
    [row] = done(harvest)
    assert (row.state, row.via) == ("full_text", "unpaywall")


def test_a_text_that_was_kept_but_not_told_of_is_told_of_by_its_record(
    library: Library, world: World
) -> None:
    """Killed after the text was on the shelf and before the ledger said so."""
    record = world.paper("pmc_cloud")
    harvest = library.harvest([ids_of(record)])
    harvest.ledger.store_paper_record(1, library.download(record.pmid).stored.paper)
    harvest.ledger.begin_rung([1], "pmc_cloud")
    asked = len(world.requests)
    [row] = done(harvest)
    assert (row.state, row.via) == ("full_text", "pmc_cloud")
    assert [(one.source, one.outcome) for one in row.attempts] == [("pmc_cloud", "saved")]
    assert len(world.requests) == asked


def test_what_a_stopped_run_has_under_way_is_not_written_down(
    library: Library, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    asking, stopped, heard = threading.Event(), threading.Event(), threading.Event()
    ask, hear_of = Ladder.ask_rung, _Run._store_result

    def slow(self: Ladder, rung: Any, climbs: Any) -> Any:
        climbed = ask(self, rung, climbs)
        asking.set()
        assert stopped.wait(60)
        return climbed

    def told(self: _Run, *given: Any) -> None:
        hear_of(self, *given)
        heard.set()

    harvest = library.harvest([world.paper("pmc_cloud").pmid])
    with monkeypatch.context() as patched:
        patched.setattr(Ladder, "ask_rung", slow)
        patched.setattr(_Run, "_store_result", told)
        for _ in harvest:
            if asking.is_set():
                break
        stopped.set()
        assert heard.wait(60)
    assert harvest.ledger.list_attempts(1) == []
    assert not harvest.job().ended_at
    [row] = done(library.harvest(job_id=harvest.job_id))
    assert [attempt.outcome for attempt in row.attempts] == ["saved"]


# -- which papers ----------------------------------------------------------------------------


def test_one_paper_under_two_names_is_fetched_once(library: Library, world: World) -> None:
    record = world.paper("pmc_cloud")
    harvest = library.harvest([Ids(pmid=record.pmid), Ids(doi=record.doi), Ids(pmcid=record.pmcid)])
    [row] = done(harvest)
    assert row.state == "full_text"
    assert harvest.job().counts.requested == 1
    assert harvest.job().duplicates == 2
    assert not repeated(world.requests)


def test_an_entry_without_identifier_says_so(library: Library, world: World) -> None:
    entries = [
        ListEntry("Doe J. On cells. 1999.", Ids()),
        ListEntry("x", ids_of(world.paper("pmc_cloud"))),
    ]
    first, second = done(library.harvest(entries))
    assert (first.state, first.reason) == ("failed", "no_identifier")
    assert "On cells" in first.detail
    assert second.state == "full_text"


def described(record: Record, **changes: Any) -> ListEntry:
    """What a title-only list says of a paper."""
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
    said = replace(said, **changes)
    return ListEntry(f"{said.title}. {said.year}", Ids(), said)


def test_a_title_only_list_is_harvested(library: Library, world: World) -> None:
    records = [world.paper("pmc_cloud"), world.paper("doi_only"), world.paper("paywall")]
    rows = done(harvest := library.harvest([*map(described, records), "31452104"]))
    assert [row.state for row in rows[:3]] == ["full_text", "full_text", "abstract"]
    assert [row.paper.ids.doi for row in rows[:3]] == [record.doi for record in records]
    assert [bool(row.identity) for row in rows] == [True, True, True, False]
    assert "0.99" in rows[0].identity
    assert records[0].pmid in rows[0].identity
    with (harvest.folder / "papers.csv").open(newline="", encoding="utf-8") as file:
        assert next(csv.DictReader(file))["identity"] == rows[0].identity


def test_one_paper_by_title_and_by_identifier_is_fetched_once(
    library: Library, world: World
) -> None:
    record = world.paper("pmc_cloud")
    harvest = library.harvest([described(record), record.doi])
    [row] = done(harvest)
    assert row.state == "full_text"
    assert harvest.job().duplicates == 1


def test_what_is_not_sure_is_listed_with_what_it_may_be(library: Library, world: World) -> None:
    record = world.paper("pmc_cloud")
    [row] = done(harvest := library.harvest([described(record, title="Quite another title here")]))
    assert (row.state, row.reason) == ("failed", "no_identifier")
    assert "with another title" in row.detail
    missing = (harvest.folder / "not_retrieved.csv").read_text(encoding="utf-8")
    assert record.pmid in missing
    assert "server.py harvest resolve" in missing
    assert "Quite another title here" in missing


def test_references_that_could_not_be_looked_for_are_looked_for_again(
    library: Library, world: World, clock: Clock
) -> None:
    entries = [described(world.paper("pmc_cloud"))]
    for service in ("eutils", "crossref", "europepmc"):
        world.mood("down", service)
    [row] = done(harvest := library.harvest(entries))
    assert (row.state, row.reason) == ("failed", "could_not_tell")
    world.calm()
    clock.sleep(120)
    [row] = done(harvest)
    assert row.state == "full_text"


def test_what_a_list_says_of_a_paper_survives_its_retry(library: Library, world: World) -> None:
    record = world.paper("pmc_cloud")
    entries = [described(record, title="Quite another title here")]
    done(library.harvest(entries))
    [row] = done(library.harvest(entries, retry="no_identifier"))
    assert row.reason == "no_identifier"
    assert row.paper.title == "Quite another title here"


def test_a_paper_nobody_knows_is_not_found(library: Library) -> None:
    [row] = done(library.harvest(["39999999"]))
    assert (row.state, row.reason, row.file) == ("failed", "not_found", "")


@pytest.mark.parametrize("service", ["eutils", "crossref"])
def test_could_not_tell_is_never_not_found(library: Library, world: World, service: str) -> None:
    world.mood("down", service)
    [row] = done(library.harvest(["39999999" if service == "eutils" else "10.9999/nobody"]))
    assert (row.state, row.reason) == ("failed", "could_not_tell")


def test_where_nobody_can_say_what_a_paper_is_its_text_does(library: Library, world: World) -> None:
    for service in ("eutils", "idconv", "europepmc", "crossref"):
        world.mood("down", service)
    [row] = done(library.harvest([world.paper("pmc_cloud").pmcid]))
    assert (row.state, row.via) == ("full_text", "pmc_cloud")
    assert row.paper.title == world.paper("pmc_cloud").plain_title


def test_lookups_that_come_back_cost_nothing(library: Library, world: World) -> None:
    world.mood("down", "eutils", times=5)  # one request with all its tries
    [row] = done(library.harvest([world.paper("abstract_only").pmid]))
    assert row.state == "abstract"


def test_an_embargo_is_named_and_pmc_not_asked(library: Library, world: World) -> None:
    [row] = done(library.harvest([world.paper("embargoed").pmid]))
    assert (row.state, row.reason) == ("abstract", "embargo")
    assert not [r for r in world.requests if r.service == "pmc_cloud"]


def test_an_embargo_is_not_the_reason_where_a_site_was_out(library: Library, world: World) -> None:
    world.mood("down", "publisher")
    [row] = done(library.harvest([world.paper("embargoed").pmid]))
    assert (row.state, row.reason) == ("abstract", "unreachable")


def test_contradicting_identifiers_cost_nobody_else(library: Library, world: World) -> None:
    one, other = world.paper("pmc_cloud"), world.paper("paywall")
    wrong = ListEntry("one's PMID, the other's DOI", Ids(pmid=one.pmid, doi=other.doi))
    rows = done(library.harvest([wrong, ListEntry("right", ids_of(world.paper("arxiv")))]))
    assert [(row.state, row.reason) for row in rows] == [
        ("failed", "bad_request"),
        ("full_text", ""),
    ]


def test_without_an_address_it_says_so_before_anything(settings: dict[str, Any]) -> None:
    library = Library(**{**settings, "pubmed_email": ""})
    with pytest.raises(NotConfigured):
        done(library.harvest(["31452104"]))


def test_offline_ends_at_once_with_what_is_there(
    library: Library, settings: dict[str, Any], world: World, clock: Any
) -> None:
    there, missing = world.paper("pmc_cloud"), world.paper("retracted")
    library.download(there.pmid)
    asked = len(world.requests)
    offline = Library(**settings, papers_offline=True)
    clock.naps.clear()
    rows = done(offline.harvest([ids_of(there), ids_of(missing)]))
    assert [(row.state, row.reason) for row in rows] == [
        ("full_text", ""),
        ("failed", "could_not_tell"),
    ]
    assert len(world.requests) == asked
    assert sum(clock.naps) < 5


def test_a_mistake_of_ours_costs_that_paper_only(
    library: Library, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad, good = world.paper("pmc_cloud"), world.paper("retracted")
    keep = Ladder.save_text

    def broken(self: Ladder, rung: Any, climb: Any, attempts: Any) -> Any:
        if climb.paper.ids.pmid == bad.pmid:
            raise RuntimeError("off by one")
        return keep(self, rung, climb, attempts)

    monkeypatch.setattr(Ladder, "save_text", broken)
    first, second = done(library.harvest([ids_of(bad), ids_of(good)]))
    assert (first.state, first.reason) == ("failed", "bug")
    assert "off by one" in first.detail
    assert [attempt.outcome for attempt in first.attempts] == ["saved"]
    assert second.state == "full_text"


def test_a_mistake_of_ours_is_the_reason(library: Library, world: World) -> None:
    """Whatever else was found out: it must not look as if the text could not be had."""
    mistake = Attempt("unpaywall", "failed", "a mistake of ours: off by one")
    others = [Attempt("publisher", outcome, "") for outcome in ("unreachable", "paywall")]
    assert find_most_informative_failure([*others, mistake]) == mistake


@pytest.mark.parametrize("replaced", [True, False], ids=["by the text", "by nothing"])
def test_an_abstract_somebody_took_away_costs_that_paper_at_most(
    library: Library, world: World, monkeypatch: pytest.MonkeyPatch, replaced: bool
) -> None:
    """As another process does that found the full text, or a user."""
    text = library.download(world.paper("pmc_cloud").pmid).stored
    gone, other = world.paper("abstract_only"), world.paper("arxiv")
    settle, find = Ladder.save_fallback, Shelf.find_text
    taken: list[Ids] = []

    def taken_away(self: Ladder, climb: Any) -> Any:
        stored = settle(self, climb)
        Path(stored.path).unlink()
        taken.append(climb.paper.ids)
        return stored

    def instead(self: Shelf, ids: Ids, *more: Any) -> Any:
        return (text if replaced else None) if ids in taken else find(self, ids, *more)

    monkeypatch.setattr(Ladder, "save_fallback", taken_away)
    monkeypatch.setattr(Shelf, "find_text", instead)
    first, second = done(library.harvest([ids_of(gone), ids_of(other)]))
    if replaced:
        assert (first.state, first.file, first.reason) == ("full_text", Path(text.path).name, "")
    else:
        assert (first.state, first.reason) == ("failed", "could_not_tell")
    assert second.state == "full_text"


# -- once more -------------------------------------------------------------------------------


@pytest.mark.parametrize("which", ["abstract", "paywall"])
def test_what_ended_without_text_is_tried_once_more(
    library: Library, world: World, which: str
) -> None:
    record = world.paper("publisher_html")
    world.mood("paywall", "publisher")
    world.mood("paywall", "jina_reader")
    [before] = done(library.harvest([ids_of(record)]))
    assert (before.state, before.reason) == ("abstract", "paywall")
    world.calm()
    harvest = library.harvest([ids_of(record)], retry=which)
    [after] = done(harvest)
    assert (after.state, after.via) == ("full_text", "publisher")
    assert after.file != before.file
    assert_complete(library, harvest, [record])


def test_only_what_is_meant_is_tried_once_more(library: Library, world: World) -> None:
    records = [world.paper(branch) for branch in ("paywall", "captcha", "abstract_only")]
    first = done(library.harvest(map(ids_of, records)))
    asked = len(world.requests)
    second = done(library.harvest(map(ids_of, records), retry="paywall"))
    told = " ".join(f"{r.path} {r.params}" for r in world.requests[asked:])
    assert records[0].doi in told
    assert not any(record.doi and record.doi in told for record in records[1:])
    assert first[1:] == second[1:]
    assert second[0].state == "abstract"


def test_failed_ones_are_tried_once_more(library: Library, world: World) -> None:
    record = world.paper("pmc_cloud")
    for service in ("eutils", "europepmc"):
        world.mood("down", service)
    [before] = done(library.harvest([record.pmid]))
    assert before.reason == "could_not_tell"
    world.calm()
    [after] = done(library.harvest([record.pmid], retry="failed"))
    assert after.state == "full_text"


def test_an_abstract_stays_one_when_nobody_can_be_asked_again(
    library: Library, world: World
) -> None:
    record = world.paper("abstract_only")
    [before] = done(library.harvest([record.pmid]))
    for service in ("eutils", "europepmc"):
        world.mood("down", service)
    [after] = done(library.harvest([record.pmid], retry="abstract"))
    assert (after.state, after.file) == ("abstract", before.file)


def test_a_site_that_takes_batches_is_asked_for_papers_of_all_publishers_together(
    far: Library, field: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("utils.harvest.bulk._WAIT_FOR_COPIES_S", 3600)  # until nobody can come
    walled = {"captcha", "bot_check", "login", "paywall", "scholar_copy", "abstract_only"}
    records = [record for record in field.field if record.branch in walled]
    registrants = {record.doi.partition("/")[0] for record in records if record.doi}
    assert len(registrants) == 8
    done(harvest := far.harvest(map(ids_of, records)))
    assert_complete(far, harvest, records)
    batches = [one for one in field.requests if one.path == "/paper/batch"]
    assert 2 * len(batches) <= len(registrants)
