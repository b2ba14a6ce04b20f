"""Work that takes longer than a call: joined, kept while others are awaited, never told twice."""

import sys
import threading
from pathlib import Path

import pytest

from tests.processes import run
from utils.errors import Unreachable
from utils.http.work import SharedWork


def counted(runs, name, gate=None, error=None):
    def work():
        runs.append(name)
        if gate is not None:
            gate.wait(10)
        if error:
            raise error
        return name

    return work


def test_what_is_there_already_is_kept_while_the_others_are_awaited():
    patience, gate, runs = SharedWork(), threading.Event(), []
    works = {"fast": counted(runs, "fast"), "slow": counted(runs, "slow", gate)}
    assert set(patience.run_in_parallel(works, 0.2)) == {"fast"}
    assert set(patience.run_in_parallel(works, 0.05)) == {"fast"}
    gate.set()
    assert set(patience.run_in_parallel(works, 10)) == {"fast", "slow"}
    assert sorted(runs) == ["fast", "slow"]
    patience.run_in_parallel({"fast": works["fast"]}, 10)
    assert runs.count("fast") == 2  # all had been handed over


def test_a_failure_nobody_waited_for_is_no_news():
    patience, gate, runs = SharedWork(), threading.Event(), []
    failing = {"x": counted(runs, "x", gate, Unreachable("down at noon"))}
    assert patience.run_in_parallel(failing, 0.05) == {}
    [thread] = [one for one in threading.enumerate() if one.name == "patience"]
    gate.set()
    thread.join(10)
    assert patience.run_in_parallel({"x": counted(runs, "again")}, 10)["x"].result() == "again"


def test_nothing_is_remembered_of_what_was_handed_over():
    patience = SharedWork()
    for number in range(50):
        assert patience.wait_for_result(number, lambda number=number: number + 1) == number + 1
    assert not patience._jobs


def test_errors_are_raised_where_one_waits():
    with pytest.raises(Unreachable):
        SharedWork().wait_for_result("x", counted([], "x", error=Unreachable("down")))


def test_a_process_that_has_its_answer_does_not_stay_for_the_rest():
    program = (
        "import threading, utils.http.work as p\n"
        "p.SharedWork().run_in_parallel({'x': threading.Event().wait}, 0.05)\nprint('left')"
    )
    root = Path(__file__).resolve().parents[2]
    done = run([sys.executable, "-c", program], cwd=root, check=True)
    assert done.stdout.split() == ["left"]
