"""What is said while papers wait, and that nobody need wait for the slowest site, or ask twice."""

import re
import threading
import time
from contextlib import closing
from datetime import datetime

import pytest

from tests.harvests import assert_complete, done, ids_of
from tests.world import Record, World
from utils import Library
from utils.demo.wire import Call, Reply
from utils.harvest.bulk import ReaderQueue
from utils.harvest.lanes import Outages
from utils.model.job import SiteWait
from utils.shelf.ledger import Ledger

pytestmark = pytest.mark.slow

FIELD = 300


def some(world: World, *branches: str, most: int) -> list[Record]:
    return [record for record in world.field if record.branch in branches][:most]


def seconds(at: str) -> float:
    return datetime.fromisoformat(at).timestamp()


# -- sites that are out ----------------------------------------------------------------------


def test_an_outage_says_since_when_until_when_what_was_said_and_who_waits() -> None:
    outages, began = Outages(), time.time()
    for number in (1, 2, 3):
        outages.record_failure("publisher", "10.1000", said=f"summit.org answered 50{number}.")
        outages.defer_paper(number, "publisher", "10.1000")
    outages.record_failure("publisher", "10.1000", said="The next turn is 60 s away.", itself=False)
    outages.defer_paper(4, "publisher", "10.2000")
    outages.clear_deferred_sites(3)
    [outage] = outages.list_outages()
    assert outage[:2] == ("publisher", "10.1000")
    assert outage.said == "summit.org answered 503."
    assert outage.papers == 2
    assert outage.since == pytest.approx(began, abs=1)
    assert outage.again == pytest.approx(began + 30, abs=1)
    outages.record_answer("publisher", "10.1000")
    assert not outages.list_outages()


def test_while_a_site_is_out_everybody_can_read_its_name_and_how_many_wait(
    far: Library, field: World
) -> None:
    own = some(field, "europepmc_only", most=8)
    field.mood("down", "europepmc")
    harvest = far.harvest(map(ids_of, own))
    seen: list[SiteWait] = []
    for progress in harvest:
        if progress.later == len(own) and not seen:
            seen += progress.job.waits
            with closing(Ledger(harvest.ledger.path)) as elsewhere:
                assert elsewhere.read_job().waits == progress.job.waits
            field.calm()
    [wait] = seen
    assert wait.site == re.sub(r"https?://([^/]+)/.*", r"\1", field.url("europepmc"))
    assert wait.papers == len(own)
    assert "503" in wait.said
    assert seconds(wait.since) < seconds(wait.until)
    assert harvest.job().waits == ()


def test_who_cannot_say_what_papers_are_is_named_too(far: Library, field: World) -> None:
    field.mood("down")
    harvest = far.harvest(map(ids_of, some(field, "pmc_cloud", most=3)))
    named = {(wait.site, wait.papers) for progress in harvest for wait in progress.job.waits}
    assert (re.sub(r"https?://([^/]+)/.*", r"\1", field.url("eutils")), 3) in named


@pytest.mark.parametrize("number", [1, 1200])
def test_a_wait_is_a_sentence(number: int) -> None:
    at = datetime(2026, 11, 20, 14, 5).astimezone().isoformat()
    papers = "1 paper" if number == 1 else "1,200 papers"
    verb = "waits" if number == 1 else "wait"
    slow = SiteWait("r.jina.ai", number, at)
    assert str(slow) == f"{papers} still {verb} for r.jina.ai until about 14:05"
    out = SiteWait("doi.org", number, at, at, "doi.org answered 503.\x1b[31m\nAgain")
    assert str(out).startswith("doi.org has been unavailable since 14:05; next try at 14:05, and")
    assert f"{papers} {verb} for it (doi.org answered 503." in str(out)
    assert str(out).isprintable()


# -- the same command ------------------------------------------------------------------------


def test_after_a_total_outage_the_same_harvest_goes_on(far: Library, field: World) -> None:
    records = some(field, "pmc_cloud", "publisher_html", most=12)
    field.mood("down")
    rows = done(far.harvest(map(ids_of, records)))
    assert {row.reason for row in rows} == {"could_not_tell"}
    field.calm()
    time.sleep(61)
    harvest = far.harvest(map(ids_of, records))
    done(harvest)
    assert_complete(far, harvest, records)
    assert harvest.job().counts.full_text == len(records)
    asked = len(field.requests)
    done(far.harvest(map(ids_of, records)))
    assert len(field.requests) == asked


def test_only_the_site_that_was_out_is_asked_again(far: Library, field: World) -> None:
    records = some(field, "paywall", "pmc_cloud", most=6) + some(field, "jina_only", most=3)
    field.mood("down", "jina_reader")
    harvest = far.harvest(map(ids_of, records))
    rows = done(harvest)
    unsure = [row for row in rows if row.reason == "unreachable"]
    assert len(unsure) >= 3
    field.reset()
    time.sleep(61)
    done(far.harvest(map(ids_of, records)))
    services = [request.service for request in field.requests]
    assert set(services) <= {"jina_reader", "crossref"}  # of a text that came: its licence
    assert services.count("jina_reader") == len(unsure)
    assert_complete(far, harvest, records)


def test_what_ended_a_moment_ago_is_left_as_it_is(far: Library, field: World) -> None:
    field.mood("down")
    harvest = far.harvest(map(ids_of, some(field, "pmc_cloud", most=2)))
    rows = done(harvest)
    assert harvest.ledger.reopen_unanswered_papers(before=min(row.ended_at for row in rows)) == 0
    assert harvest.ledger.reopen_unanswered_papers(before="2999") == 2


def test_a_paper_that_is_settled_is_not_opened_again(far: Library, field: World) -> None:
    harvest = far.harvest(map(ids_of, some(field, "pmc_cloud", "paywall", "abstract_only", most=9)))
    done(harvest)
    assert harvest.ledger.reopen_unanswered_papers(before="2999") == 0
    assert harvest.job().ended_at


# -- the slowest site ------------------------------------------------------------------------


def test_the_report_is_there_and_says_so_before_the_slowest_site_is_done(
    far: Library, field: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = some(field, "jina_only", "paywall", most=12)
    records = slow + some(field, "pmc_cloud", "publisher_html", most=8)
    gate, answer = threading.Event(), field._main.answer

    def dawdling(call: Call) -> Reply:
        if call.path.startswith("/jina_reader"):
            assert gate.wait(120)
        return answer(call)

    monkeypatch.setattr(field._main, "answer", dawdling)
    harvest = far.harvest(map(ids_of, records))
    page, early = harvest.folder / "report.html", ""
    for progress in harvest:
        if not early and page.exists():
            early = page.read_text(encoding="utf-8")
            assert progress.only_waits
            [wait] = progress.job.waits
            assert (wait.papers, wait.since) == (len(slow), "")
            gate.set()
    assert f"{len(slow)} papers still wait for 127.0.0.1" in early
    assert "This page is renewed then." in early
    assert "still wait" not in page.read_text(encoding="utf-8")
    assert_complete(far, harvest, records)


# -- reading ---------------------------------------------------------------------------------


def test_reading_is_behind_where_texts_have_waited_for_a_while(monkeypatch) -> None:
    monkeypatch.setattr("utils.harvest.bulk.time.monotonic", time.time)
    release = threading.Event()
    reading = ReaderQueue(lambda *_: release.wait(60), cores=2)
    threads = [threading.Thread(target=reading) for _ in range(5)]
    for thread in threads:
        thread.start()
    while reading._inside < 5:
        threading.Event().wait(0.01)
    assert reading.count_unread() == 0  # a moment says nothing
    time.sleep(6)
    assert reading.count_unread() == 0
    time.sleep(6)
    assert reading.count_unread() == 3
    release.set()
    for thread in threads:
        thread.join()
    assert reading.count_unread() == 0
