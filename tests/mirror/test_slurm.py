"""Slurm itself, where it is installed and runs; CONTRIBUTING says how on one machine."""

import os
import random
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.mirror.killed import bulk_of
from tests.mirror.nodes import ROOT
from tests.mirror.small_mirror import bytes_of, mirror_of, updated
from tests.processes import Process, eventually, run
from utils.errors import NotConfigured, Unreachable
from utils.mirror.engines import Lost, engine_of
from utils.system.signals import INTERRUPTED


def _runs():
    return bool(shutil.which("sinfo")) and bool(run(["sinfo", "--noheader"]).stdout.strip())


pytestmark = [
    pytest.mark.extras("pyarrow", "duckdb", "submitit"),
    pytest.mark.skipif(not _runs(), reason="needs a Slurm that runs: CONTRIBUTING says how"),
    pytest.mark.real_time,
]


@pytest.fixture(autouse=True)
def _nothing_stays_in_the_queue():
    yield
    assert eventually(lambda: not queued())


def queued():
    """Whether Slurm has jobs that were put in from the folder of this test."""
    told = run(["squeue", "--me", "--noheader", "--format=%Z"], check=True).stdout
    return str(Path.cwd()) in told.split()


def done(function, jobs, folder, partition=""):
    return list(engine_of("slurm", 2, partition, folder, str)(function, jobs))


def cancelled(job):
    """Is cancelled by somebody while it runs: once, or always."""
    number, folder, always = job
    mark = Path(folder) / "mark"
    if number == 1 and (always or not mark.exists()):
        mark.touch()
        subprocess.run(["scancel", os.environ["SLURM_JOB_ID"]], check=True)
        threading.Event().wait()
    return number


def test_a_mirror_made_by_slurm_is_the_same_bytes(world, tmp_path):
    world.bulk = bulk_of(random.Random(1))
    whole, other = mirror_of(world, tmp_path / "whole"), mirror_of(world, tmp_path / "other")
    updated(whole)
    assert not updated(other, engine="slurm", workers=2).failed
    assert bytes_of(other) == bytes_of(whole)


def test_a_job_that_somebody_cancels_is_given_again(tmp_path):
    """Also where Slurm keeps no accounts of what became of jobs."""
    jobs = [(number, str(tmp_path), False) for number in range(3)]
    assert sorted(done(cancelled, jobs, tmp_path)) == [0, 1, 2]


@pytest.mark.lab
def test_a_job_that_is_cancelled_again_and_again_is_lost_alone(tmp_path):
    made = done(cancelled, [(number, str(tmp_path), True) for number in range(3)], tmp_path)
    assert sorted(one for one in made if not isinstance(one, Lost)) == [0, 2]
    [lost] = [one for one in made if isinstance(one, Lost)]
    assert lost.job[0] == 1


def test_a_partition_that_is_none_is_refused_in_slurms_words(tmp_path, capfd):
    with pytest.raises(Unreachable, match="invalid partition specified: nowhere") as raised:
        done(abs, [1], tmp_path, "nowhere")
    assert "sinfo" in raised.value.hint
    assert capfd.readouterr().err == ""


class Foreign:
    """What a node cannot load."""

    def __reduce__(self):
        return _load, ()


def _load():
    if "SLURM_JOB_ID" in os.environ:
        raise ModuleNotFoundError("No module named 'lxml'")
    return Foreign()


def test_a_node_that_cannot_begin_is_no_death_of_a_worker(tmp_path):
    with pytest.raises(NotConfigured, match="No module named 'lxml'") as raised:
        done(abs, [Foreign()], tmp_path)
    assert sys.executable in raised.value.hint


def test_a_signal_leaves_no_job_in_the_queue(world, settings, tmp_path):
    world.bulk = bulk_of(random.Random(1))
    words = ["mirror", "pubmed", "--folder", tmp_path / "m", "--engine", "slurm", "--workers", "4"]
    environment = {**os.environ, **{name.upper(): str(to) for name, to in settings.items()}}
    held = tmp_path / "sbatch"
    held.write_text(f'#!/bin/sh\nexec {shutil.which("sbatch")} --hold "$@"\n', encoding="utf-8")
    held.chmod(0o755)  # what it puts in stays for ever, if nobody takes it out
    environment["PATH"] = f"{tmp_path}:{environment['PATH']}"
    command, pipe = [sys.executable, ROOT / "server.py", *words], subprocess.PIPE
    with Process(command, env=environment, stderr=pipe, text=True) as process:
        assert eventually(queued)
        process.send_signal(signal.SIGTERM)
        told = process.stderr.read()
        assert process.wait() == INTERRUPTED
    assert "Traceback" not in told
    assert not queued()
