"""Whatever breaks under a harvest: nothing is lost, doubled or torn, and the rest goes on."""

import errno
import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from tests.examples import share
from tests.harvests import assert_complete, done, ids_of, library_of, repeated, torn
from tests.processes import Process
from tests.world import Record, World
from utils import Library
from utils.demo.wire import Call, Reply
from utils.download.ladder import Step
from utils.errors import DamagedStore, StoreFailed
from utils.harvest.bulk import _Run
from utils.harvest.jobs import Harvest
from utils.model.identifiers import Ids
from utils.model.paper import Paper

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
FIELD = 600
# Who has changed how harvests are kept lets more die: HARVEST_DEATHS=200 takes a minute.
DEATHS = int(os.environ.get("HARVEST_DEATHS", share(60)))
DRIVERS = (1, 2)  # seeds


def some(field: World, *branches: str, most: int = 100) -> list[Record]:
    """Papers of these branches, the same ones every time."""
    found = [record for record in field.field if record.branch in branches]
    return found[:most]


def harvest_of(library: Library, records: list[Record]) -> Harvest:
    return library.harvest([ids_of(record) for record in records])


# -- kill -9 ---------------------------------------------------------------------------------


@pytest.mark.skipif(sys.platform == "win32", reason="needs fork")
def test_many_deaths_lose_double_and_tear_nothing(tmp_path: Path) -> None:
    """See `quality.histories.harvest_deaths` for what is examined after each."""
    each = max(1, DEATHS // len(DRIVERS))
    command = [sys.executable, "-m", "quality.histories.harvest_deaths"]
    drivers = [
        Process(
            [*command, str(tmp_path / str(seed)), str(seed), str(each)],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for seed in DRIVERS
    ]
    try:
        told = [driver.communicate(timeout=100 + 5 * DEATHS) for driver in drivers]
    finally:
        for driver in drivers:
            driver.kill()
            driver.wait()
    assert not any(driver.returncode for driver in drivers), "".join(said for _, said in told)
    deaths = [json.loads(out)["deaths"] for out, _ in told]
    assert sum(sum(found.values()) for found in deaths) == each * len(drivers)
    assert sum(found["at a step"] for found in deaths) > each * len(drivers) / 2


# -- sites that are out ----------------------------------------------------------------------


def test_a_site_that_dies_for_good_costs_its_own_papers_only(far: Library, field: World) -> None:
    own = some(field, "europepmc_only", most=12)
    records = own + some(field, "pmc_cloud", "publisher_html", most=8)
    field.mood("down", "europepmc")
    rows = done(harvest_of(far, records))
    assert {row.state for row in rows[len(own) :]} == {"full_text"}
    for row in rows[: len(own)]:
        assert row.state == "abstract"
        assert ("europepmc", "unreachable") in {(a.source, a.outcome) for a in row.attempts}
    # Every paper came back twice, but one of them was enough to ask each time.
    asked = [request for request in field.requests if request.service == "europepmc"]
    assert len(asked) < 5 * 2 * len(own)
    field.calm()
    harvest = far.harvest(map(ids_of, records), retry="unreachable")
    done(harvest)
    assert_complete(far, harvest, records)


def test_a_publisher_that_bans_us_for_an_hour_is_left_alone(far: Library, field: World) -> None:
    records = some(field, "publisher_html", "publisher_pdf", "pmc_cloud", most=90)
    banned = [r for r in records if r.site == "summit" and r.branch.startswith("publisher")]
    assert len(banned) > 3
    field.mood("storm", "publisher", path="/articles/10.9107", seconds=3600)
    began = time.time()
    rows = dict(zip(map(id, records), done(harvest_of(far, records)), strict=True))
    for record in records:
        if record not in banned:
            assert rows[id(record)].state == "full_text"
    refused = [r for r in field.requests if r.host == "summit" and r.status == 429]
    assert len(refused) <= 8  # those that were under way when the first was told
    assert time.time() - began < 1800


@pytest.mark.parametrize("service_down", [True, False], ids=["the service", "three hosts"])
def test_a_service_that_is_down_is_down_for_every_publisher(
    far: Library, service_down: bool
) -> None:
    ladder = far.ladder
    [rung] = [rung for rung in ladder.rungs if rung.via == "unpaywall"]
    run = _Run(far.harvest(["31452104"]).ledger, ladder)
    for number in (1, 2, 3):
        climb = Step(Paper(Ids(doi=f"10.{number}000/x")), service_down=service_down)
        climb.record_attempt(rung.via, "unreachable", "down")
        run._record_site_answer(number, rung, climb)
    assert (run.outages.get_seconds_away(rung.via, "10.9000") > 0) == service_down


def test_a_site_that_names_ten_minutes_is_found_again_by_all(far: Library, field: World) -> None:
    own = some(field, "europepmc_only", most=12)
    field.mood("storm", "europepmc", times=1, seconds=600)
    began = time.time()
    rows = done(harvest_of(far, own))
    assert {row.state for row in rows} == {"full_text"}
    assert 590 < time.time() - began < 1200


def test_a_pdf_that_is_away_for_a_while_is_asked_for_again(far: Library, field: World) -> None:
    """Its page was read, and was only the abstract."""
    [record] = some(field, "publisher_pdf", most=1)
    field.mood("storm", "publisher", path=".pdf", seconds=20, times=6)
    [row] = done(harvest_of(far, [record]))
    told = [a.outcome for a in row.attempts if a.source == "publisher"]
    assert (told[0], told[-1]) == ("abstract_only", "saved")
    assert (row.state, row.via) == ("full_text", "publisher")


def test_a_storm_passes(far: Library, field: World) -> None:
    records = list(field.field[:36])
    field.mood("storm", "pmc_cloud", times=12, seconds=5)
    field.mood("storm", "eutils", times=3, seconds=20)
    field.mood("storm_date", "eutils", times=1, seconds=30)
    field.mood("down", "unpaywall", times=10)
    harvest = harvest_of(far, records)
    done(harvest)
    assert_complete(far, harvest, records)
    assert not repeated(field.requests)


def test_papers_come_back_to_a_site_that_comes_back(far: Library, field: World) -> None:
    own = some(field, "europepmc_only", most=12)
    records = own + some(field, "pmc_cloud", most=4)
    field.mood("down", "europepmc")
    harvest = harvest_of(far, records)
    for progress in harvest:
        if progress.later >= len(own):
            field.calm()
    rows = list(harvest.ledger.read_outcomes())
    assert {(row.state, row.via) for row in rows[: len(own)]} == {("full_text", "europepmc")}
    assert_complete(far, harvest, records)


def test_a_site_away_for_minutes_is_found_again_by_all(far: Library, field: World) -> None:
    own = some(field, "europepmc_only", most=12)
    field.mood("down", "europepmc")
    began = time.time()
    harvest = harvest_of(far, own)
    for _ in harvest:
        if time.time() - began > 100:
            field.calm()
    assert {row.state for row in harvest.ledger.read_outcomes()} == {"full_text"}


def test_a_slow_host_holds_up_nobody_else(
    far: Library, field: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The others have ended before the slow host gives its first answer."""
    slow = [r for r in some(field, "publisher_html") if r.site == "meadow"][:12]
    others = [r for r in some(field, "publisher_html") if r.site != "meadow"][:6]
    others += some(field, "pmc_cloud", "unpaywall_html", "arxiv", most=12)
    gates, real = threading.Event(), field._sites["meadow"].answer

    def dawdling(call: Call) -> Reply:
        assert gates.wait(120)
        return real(call)

    monkeypatch.setattr(field._sites["meadow"], "answer", dawdling)
    harvest = harvest_of(far, slow + others)
    early = set()
    for progress in harvest:
        if not gates.is_set() and progress.job.counts.pending <= len(slow):
            early = {row.number for row in harvest.ledger.read_outcomes() if row.state == "pending"}
            gates.set()
    assert early == set(range(1, len(slow) + 1))
    assert_complete(far, harvest, slow + others)


# -- disk, clock, databases ------------------------------------------------------------------


@pytest.mark.parametrize("at", [1, 4, 15, 60])
def test_a_full_disk_stops_the_run_with_a_sentence_and_space_lets_it_go_on(
    field: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    records = some(field, "pmc_cloud", "publisher_html", "paywall", "abstract_only", most=20)
    real, left = os.fsync, [at]

    def fsync(descriptor: int) -> None:
        left[0] -= 1
        if left[0] <= 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(descriptor)

    first = library_of(field, tmp_path)
    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(StoreFailed, match="disk is full"):
        done(harvest_of(first, records))
    assert_no_lane_is_left()
    monkeypatch.setattr(os, "fsync", real)
    assert not torn(tmp_path / "papers")
    second = library_of(field, tmp_path)
    harvest = harvest_of(second, records)
    assert harvest.job().counts.failed == 0
    done(harvest)
    assert_complete(second, harvest, records)


def test_a_ledger_without_room_stops_the_run_and_room_lets_it_go_on(
    far: Library, field: World
) -> None:
    records = some(field, "pmc_cloud", most=20)
    harvest = harvest_of(far, records)
    [(pages,)] = harvest.ledger._db.execute("PRAGMA page_count")
    harvest.ledger._db.execute(f"PRAGMA max_page_count = {pages + 10}")
    with pytest.raises(StoreFailed, match="full") as failure:
        done(harvest)
    assert "disk space" in failure.value.hint
    assert_no_lane_is_left()
    harvest = harvest_of(far, records)
    done(harvest)
    assert_complete(far, harvest, records)


def test_a_clock_set_back_an_hour_holds_up_nothing(
    far: Library, field: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    records = some(field, "europepmc_only", most=6) + some(field, "pmc_cloud", most=6)
    field.mood("down", "europepmc")
    stage, back = time.time, [0.0]
    monkeypatch.setattr(time, "time", lambda: stage() - back[0])
    began = stage()
    harvest = harvest_of(far, records)
    for progress in harvest:
        if progress.later:
            back[0] = 3600.0
            field.calm()
    assert back[0]
    assert stage() - began < 1800
    assert_complete(far, harvest, records)


@pytest.mark.parametrize("place", ["head", "middle"])
def test_a_damaged_ledger_is_made_again_from_list_shelf_and_journal(
    field: World, tmp_path: Path, place: str, caplog: pytest.LogCaptureFixture
) -> None:
    records = some(field, "pmc_cloud", "paywall", most=12)
    library = library_of(field, tmp_path)
    harvest = harvest_of(library, records)
    done(harvest)
    harvest.ledger.close()
    path = harvest.ledger.path
    data, at = path.read_bytes(), 0 if place == "head" else 8192
    path.write_bytes(data[:at] + b"\xa5" * 4096 + data[at + 4096 :])
    if place == "head":
        with pytest.raises(DamagedStore, match=path.name) as failure:
            library.harvest(job_id=harvest.job_id)
        assert "the same query or list again" in failure.value.hint
        assert [job.job_id for job in library.harvests.all()] == []
    asked = len(field.requests)
    again = harvest_of(library, records)
    assert "Lost are" in caplog.text
    done(again)
    assert again.job_id == harvest.job_id
    assert len(field.requests) == asked
    assert_complete(library, again, records)
    assert list(path.parent.glob(f"{path.name}.damaged-*"))


def test_a_run_waits_for_its_own_turn_however_long_that_is(field: World, tmp_path: Path) -> None:
    """Other processes have booked the next two minutes at PubMed and at PMC."""
    records = some(field, "pmc_cloud", most=3)
    library = library_of(field, tmp_path)
    limiter = library.web.limiter
    for service in ("eutils", "pmc_cloud"):
        url = field.url(service)
        with limiter._open_state(limiter._build_row_name(limiter._find_rate(url))) as (row, now):
            row.free = now + 120
    began = time.time()
    rows = done(harvest_of(library, records))
    assert [row.state for row in rows] == ["full_text"] * 3
    assert not any(a.outcome == "unreachable" for row in rows for a in row.attempts)
    assert time.time() - began > 100


def assert_no_lane_is_left() -> None:
    """The threads of a stopped run end with what they have under way."""
    pause = threading.Event()
    for _ in range(4000):
        if not any(thread.name.startswith("lane ") for thread in threading.enumerate()):
            return
        pause.wait(0.005)
    pytest.fail("a thread is still at work")


@pytest.mark.parametrize("after", [3, 11], ids=["while texts come", "when all have come"])
def test_a_catalogue_damaged_under_the_run_is_made_again(
    field: World, tmp_path: Path, after: int
) -> None:
    records = some(field, "pmc_cloud", "publisher_html", "paywall", "abstract_only", most=24)
    library = library_of(field, tmp_path)
    catalogue = tmp_path / "papers/.papershelf/catalogue.db"
    harvest = harvest_of(library, records)
    hurt = False
    for progress in harvest:
        if progress.job.counts.full_text > after and not hurt:
            hurt = True
            for path in (catalogue, catalogue.with_name("catalogue.db-wal")):
                size = path.stat().st_size
                with path.open("r+b") as file:
                    file.write(b"#" * size)
    assert hurt
    library.shelf.close()
    again = library_of(field, tmp_path)
    # A run that read no page again did not notice; then whoever opens the shelf next does.
    assert again.shelf.count_papers()["papers"] == len(records)
    assert_complete(again, harvest, records)
    assert list(catalogue.parent.glob("catalogue.db.damaged-*"))
