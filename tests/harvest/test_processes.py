"""Several processes harvest and download at once, or are interrupted, in the shell."""

import os
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from tests.harvests import assert_complete, done, ids_of, library_of, repeated
from tests.processes import Process, eventually
from tests.repeats import repeats
from tests.world import Record, World
from utils.demo.wire import Call, Reply

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def strict() -> Iterator[World]:
    """A world that takes its time and enforces every limit."""
    with World(field=200, latency=0.02) as world:
        yield world


Shell = Callable[..., Process]


@pytest.fixture
def shell(strict: World, tmp_path: Path) -> Iterator[Shell]:
    """Start `server.py` with these arguments."""
    strict.reset()
    started: list[Process] = []
    folders = {"PAPERS_DIR": str(tmp_path / "papers"), "PAPERS_PACE_DIR": str(tmp_path / "pace")}

    def start(*arguments: str) -> Process:
        started.append(
            Process(
                [sys.executable, str(ROOT / "server.py"), *arguments],
                env={**os.environ, **strict.environment(), **folders},
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
        )
        return started[-1]

    yield start
    for process in started:
        process.end()


def in_cloud(world: World, start: int, stop: int) -> list[Record]:
    return [record for record in world.field if record.branch == "pmc_cloud"][start:stop]


def names(records: list[Record]) -> list[str]:
    return [record.pmid for record in records]


def ended(folder: Path) -> int:
    """How many papers of the one harvest have ended."""
    for path in (folder / "papers/.papershelf/jobs").glob("*.db"):
        with suppress(sqlite3.OperationalError), closing(sqlite3.connect(path)) as db:
            query = "SELECT count(*) FROM papers WHERE state <> 'pending'"
            return int(db.execute(query).fetchone()[0])
    return 0


def test_two_harvests_and_a_download_share_folder_and_pace(
    strict: World, shell: Shell, tmp_path: Path
) -> None:
    first, second, third = (in_cloud(strict, *span) for span in ((0, 16), (8, 24), (20, 26)))
    processes = [
        shell("harvest", "--json", *names(first)),
        shell("harvest", "--json", *names(second)),
        shell("download", "--json", *names(third)),
    ]
    told = [process.communicate() for process in processes]
    assert [process.returncode for process in processes] == [0, 0, 0], told
    assert not strict.refused
    assert strict.peaks["pmc_cloud"] <= 16
    assert strict.peaks["eutils"] == 1
    papers = {record.pmid: record for record in first + second + third}
    library = library_of(strict, tmp_path)
    asked = len(strict.requests)
    harvest = library.harvest([ids_of(record) for record in papers.values()])
    done(harvest)
    assert len(strict.requests) == asked
    assert_complete(library, harvest, papers.values())


def test_four_processes_on_one_shelf_ask_nothing_twice(
    strict: World, shell: Shell, tmp_path: Path
) -> None:
    """Each has half of its list in common with the one before and half with the one after."""
    branches = ("pmc_cloud", "efetch_only", "europepmc_only", "unpaywall_html", "publisher_html")
    records = [
        record
        for branch in branches
        for record in [one for one in strict.field if one.branch == branch][:4]
    ]
    parts = [records[n::4] for n in range(4)]
    lists = [[*parts[n], *parts[(n + 1) % 4]] for n in range(4)]
    processes = [shell("harvest", "--json", *names(one)) for one in lists]
    told = [process.communicate() for process in processes]
    assert [process.returncode for process in processes] == [0] * 4, told
    assert not repeats(strict.requests)
    assert not strict.refused
    library = library_of(strict, tmp_path)
    asked = len(strict.requests)
    harvest = library.harvest([ids_of(record) for record in records])
    done(harvest)
    assert len(strict.requests) == asked
    assert_complete(library, harvest, records)


def test_who_dies_leaves_nothing_that_others_wait_for(
    strict: World, shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    records = in_cloud(strict, 0, 6)
    release = hold(strict, monkeypatch, after=2)
    first = shell("harvest", "--json", *names(records))
    assert eventually(lambda: ended(tmp_path) > 0)
    second = shell("harvest", "--json", *names(records[1:]))
    first.kill()
    first.wait()
    release.set()
    told = second.communicate()
    assert second.returncode == 0, told
    assert repeats(strict.requests).total() <= 8  # what the first had under way


def test_the_same_harvest_twice_at_once_is_refused(
    strict: World, shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = hold(strict, monkeypatch, after=6)
    records = in_cloud(strict, 30, 40)
    first = shell("harvest", "--json", *names(records))
    assert eventually(lambda: ended(tmp_path) > 0)
    second = shell("harvest", "--json", *names(records))
    out, err = second.communicate()
    assert second.returncode == 4
    assert "running in another process" in out + err
    status = shell("status")
    assert "10 papers" in status.communicate()[0]
    release.set()
    told = first.communicate()
    assert first.returncode == 0, told


def test_an_interrupted_harvest_ends_at_once_says_how_to_go_on_and_goes_on(
    strict: World, shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At once: while a request is under way that will not be answered."""
    release = hold(strict, monkeypatch, after=8)
    records = in_cloud(strict, 40, 60)
    first = shell("harvest", *names(records))
    assert eventually(lambda: ended(tmp_path) > 0)
    first.send_signal(signal.SIGINT)
    try:
        _, err = first.communicate()
    finally:
        release.set()
    assert first.returncode == 130
    assert "server.py harvest --job" in err
    before = ended(tmp_path)
    assert 0 < before < len(records)
    asked = len(strict.requests)
    job = err.split("--job", 1)[1].split()[0]
    second = shell("harvest", "--job", job)
    told = second.communicate()
    assert second.returncode == 0, told
    for part in (tmp_path / "papers").rglob("*.part"):  # swept after an hour
        part.unlink()
    library = library_of(strict, tmp_path)
    harvest = library.harvest(job_id=job)
    assert_complete(library, harvest, records)
    later = [r for r in strict.requests[asked:] if r.service == "eutils"]
    assert not later  # what the papers are was known
    assert len(repeated(strict.requests)) <= 3 * 8  # of those that were under way


def hold(world: World, monkeypatch: pytest.MonkeyPatch, after: int) -> threading.Event:
    """Answer so many requests for texts, and the others not before the event is set."""
    release, left, lock = threading.Event(), [after], threading.Lock()
    real = world._main.answer

    def answer(call: Call) -> Reply:
        if call.raw.endswith(".xml") or ".xml?" in call.raw:
            with lock:
                left[0] -= 1
                wait = left[0] < 0
            if wait:
                release.wait()
        return real(call)

    monkeypatch.setattr(world._main, "answer", answer)
    return release
