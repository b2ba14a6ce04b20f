"""A Dask cluster whose nodes are killed, hang, or are not what they should be."""

import gc
import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest

from quality.histories.mirror_deaths import bulk_of
from tests.mirror.nodes import ROOT, Nodes, is_there, kill
from tests.mirror.small_mirror import articles, bytes_of, mirror_of, updated
from tests.processes import Process
from tests.world.pubmed_files import name_of
from utils.errors import BadRequest, NotConfigured, Unreachable
from utils.mirror import pmc
from utils.mirror.engines import Lost, dask, get_engine
from utils.mirror.pmc import Choice
from utils.system.process import INTERRUPTED_EXIT_STATUS, get_version

pytestmark = [
    pytest.mark.extras("pyarrow", "duckdb", "distributed"),
    pytest.mark.skipif(sys.platform == "win32", reason="needs fork"),
    pytest.mark.real_time,
    pytest.mark.slow,
]
# Who has changed how clusters are held lets more die.
DEATHS = int(os.environ.get("MIRROR_DEATHS", "8"))
SEED = int(os.environ.get("MIRROR_SEED", "7"))


@pytest.fixture
def nodes(tmp_path):
    """A scheduler with two workers."""
    return Nodes(tmp_path).start()


def done(nodes, function, jobs, said=None):
    """What a cluster makes of jobs."""
    say = (said if said is not None else []).append
    return list(get_engine("dask", 1, nodes.address, say)(function, jobs))


class Killer(threading.Thread):
    """Kills a node at a random moment each time the work has come a step further."""

    def __init__(self, nodes, chance, most):
        super().__init__(daemon=True)
        self.nodes, self.chance, self.most = nodes, chance, most
        self.deaths, self.further, self.ended = Counter(), threading.Event(), False

    def run(self):
        while self.deaths.total() < self.most:
            self.further.wait()
            time.sleep(self.chance.random() / 4)
            if self.ended:
                return
            self.further.clear()
            if self.chance.random() < 0.6:
                self.nodes.kill_a_worker(self.chance)
                self.deaths["workers"] += 1
            else:
                self.nodes.kill_the_scheduler()
                self.deaths["schedulers"] += 1
                self.nodes.start()


def killed_while(nodes, steps, chance, most):
    """Go through it while nodes are killed: the last step, and how many were."""
    killer = Killer(nodes, chance, most)
    killer.start()
    try:
        for step in steps:
            if step.files:
                killer.further.set()
    finally:
        killer.ended = True
        killer.further.set()
        killer.join()
    return step, killer.deaths


def test_many_deaths_of_workers_and_schedulers_lose_and_double_nothing(
    nodes, world, tmp_path, monkeypatch
):
    monkeypatch.setattr(pmc, "BATCH", 1)
    chance, deaths = random.Random(SEED), Counter()
    world.bulk = bulk_of(chance)
    for number in range(11, 30):
        pmids = range(number, number + 40)
        world.bulk.updates[name_of(26, number)] = articles(pmids, f"by {number}")
    whole, mirrors = mirror_of(world, tmp_path / "whole"), []
    updated(whole)
    [*whole.update_pmc(Choice())]
    options = {"engine": "dask", "scheduler": nodes.address}
    while deaths.total() < DEATHS:
        mirrors.append(mirror := mirror_of(world, tmp_path / str(len(mirrors))))
        for steps in (mirror.update(**options), mirror.update_pmc(Choice(), **options)):
            most = min(8, DEATHS - deaths.total())
            ended, killed = killed_while(nodes, steps, chance, most)
            deaths += killed
            assert not ended.failed
        assert bytes_of(mirror) == bytes_of(whole)
        assert mirror.current().digest == whole.current().digest
        assert (
            mirror.pmc_generations.get_published().digest
            == whole.pmc_generations.get_published().digest
        )
    rows = mirror.sql().sql("SELECT pmid FROM records").fetchall()
    assert len(rows) == len(set(rows)) == mirror.current().papers
    sys.stdout.write(json.dumps({"seed": SEED, "deaths": deaths, "mirrors": len(mirrors)}))


def squared(number):
    return number * number


def deadly(number):
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def test_jobs_that_a_scheduler_took_along_are_given_to_the_next_one(nodes):
    said = []

    def jobs():
        for number in range(8):
            if number == 4:
                nodes.kill_the_scheduler()
                nodes.start()
            yield number

    assert sorted(done(nodes, squared, jobs(), said)) == [n * n for n in range(8)]
    assert any(f"{nodes.address} does not answer any more" in text for text in said)


def test_a_scheduler_that_does_not_come_back_ends_it_with_what_to_do(nodes, monkeypatch):
    monkeypatch.setattr(dask, "_SCHEDULER_S", 1.0)

    def jobs():
        yield 1
        nodes.kill_the_scheduler()
        yield 2

    with pytest.raises(Unreachable, match=nodes.address) as raised:
        done(nodes, squared, jobs())
    _, _, port = nodes.address.rpartition(":")
    assert f"dask scheduler --host 127.0.0.1 --port {port}" in raised.value.hint
    assert "the same command goes on" in raised.value.hint


def test_a_cluster_without_workers_is_not_waited_for_for_ever(tmp_path, monkeypatch):
    monkeypatch.setattr(dask, "_WORKER_S", 1.0)
    nodes, said = Nodes(tmp_path, workers=0).start(), []
    with pytest.raises(Unreachable, match="no worker") as raised:
        done(nodes, squared, [1], said)
    assert f"dask worker {nodes.address}" in raised.value.hint
    assert "waiting for one" in said[-1]


@pytest.mark.parametrize(
    ("address", "error", "told"),
    [
        ("tcp://127.0.0.1:1", Unreachable, "dask scheduler --host 127.0.0.1 --port 1"),
        ("tls://127.0.0.1:1", BadRequest, "certificates"),
        ("http://127.0.0.1:8787", BadRequest, "tcp://HOST:8786"),
        ("nonsense", BadRequest, "tcp://HOST:8786"),
    ],
)
def test_an_address_that_is_wrong_is_named_with_what_to_give(address, error, told, monkeypatch):
    monkeypatch.setattr(dask, "_SCHEDULER_S", 0.5)
    with pytest.raises(error, match=address) as raised:
        list(get_engine("dask", 1, address, str)(squared, [1]))
    assert told in raised.value.hint


def test_a_client_that_failed_does_not_hang_the_start_of_the_next(monkeypatch):
    """Dask ends it where it is collected: here, if it is still there, as another loop starts."""
    from distributed import utils

    start = utils.asyncio_run
    monkeypatch.setattr(dask, "_SCHEDULER_S", 0.5)
    monkeypatch.setattr(utils, "asyncio_run", lambda *a, **k: (gc.collect(), start(*a, **k))[1])
    gc.disable()
    try:
        with suppress(BadRequest):
            list(get_engine("dask", 1, "nonsense", str)(squared, [1]))
        with pytest.raises(Unreachable):
            list(get_engine("dask", 1, "tcp://127.0.0.1:1", str)(squared, [1]))
    finally:
        gc.enable()


@pytest.mark.lab
def test_a_job_that_kills_its_workers_is_lost_and_none_that_was_beside_it(nodes):
    """Workers without anybody who starts them again; so the test does."""
    ended = threading.Event()

    def keep_alive():
        while not ended.wait(0.1):
            nodes.replace_the_dead()

    keeper = threading.Thread(target=keep_alive)
    keeper.start()
    try:
        made = done(nodes, deadly, range(6))
    finally:
        ended.set()
        keeper.join()
    assert sorted(one for one in made if not isinstance(one, Lost)) == [0, 1, 2, 4, 5]
    [lost] = [one for one in made if isinstance(one, Lost)]
    assert lost.job == 3
    assert lost.reason == "8 workers died while reading it, the last one with no other job"


def waits_for_the_killer(job):
    """Says who works here, and waits until somebody has killed it five times."""
    number, folder = job
    begun = len(list(Path(folder).iterdir()))
    (Path(folder) / f"{begun}-{os.getpid()}").touch()
    if begun < 5:
        threading.Event().wait()
    return number


def test_a_job_whose_workers_are_killed_from_outside_is_not_set_aside(nodes, tmp_path):
    """More often than the scheduler allows (four times)."""
    (place := tmp_path / "begun").mkdir()
    ended, killed = threading.Event(), set()

    def murder():
        while not ended.wait(0.05):
            for mark in set(place.iterdir()) - killed:
                killed.add(mark)
                if len(killed) <= 5:
                    kill(int(mark.name.partition("-")[2]))
            nodes.replace_the_dead()

    murderer = threading.Thread(target=murder)
    murderer.start()
    try:
        assert done(nodes, waits_for_the_killer, [(1, str(place))]) == [1]
    finally:
        ended.set()
        murderer.join()
    assert len(list(place.iterdir())) == 6


@pytest.mark.parametrize(
    ("amiss", "why"),
    [("no_package", "cannot load it (No module named 'utils')"), ("another_version", "has 0.0.1")],
)
def test_a_worker_that_is_not_ours_is_named_with_what_to_do(tmp_path, amiss, why):
    nodes = Nodes(tmp_path, amiss=amiss).start()
    with pytest.raises(NotConfigured, match=re.escape(why)) as raised:
        done(nodes, squared, [1])
    assert f"papershelf[mirror]=={get_version()}" in raised.value.hint


@pytest.mark.parametrize("where", ["ours", "theirs", "theirs, which hangs"])
def test_a_signal_ends_it_and_leaves_no_process(world, settings, tmp_path, where):
    """Whoever waits for a worker, too; a cluster that is not ours stays as it is."""
    world.bulk = bulk_of(random.Random(1))
    words = ["mirror", "pubmed", "--folder", tmp_path / "m", "--engine", "dask", "--workers", "1"]
    if where != "ours":
        nodes = Nodes(tmp_path, workers=0).start()
        words += ["--scheduler", nodes.address]
    environment = {name.upper(): str(value) for name, value in settings.items()}
    command, pipe = [sys.executable, ROOT / "server.py", *words], subprocess.PIPE
    with Process(command, env={**os.environ, **environment}, stderr=pipe, text=True) as process:
        assert "dashboard" in process.stderr.readline()
        if where.endswith("hangs"):
            kill(nodes.scheduler, signal.SIGSTOP)
        process.send_signal(signal.SIGTERM)
        told = process.stderr.read()
        assert process.wait() == INTERRUPTED_EXIT_STATUS
        assert "Traceback" not in told
        assert process.nothing_left()
    assert where == "ours" or is_there(nodes.scheduler)
