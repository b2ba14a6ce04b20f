"""A clock that runs a hundred times as fast, for a benchmark and its stand-in internet.

Pauses, windows and limits stay the same to each other, so that the processor decides how long a
run takes and not the sites' limits. ``python -m quality.benchmarks.fast_clock`` with the arguments
of ``python -m tests.world`` starts the stand-in on that clock.
"""

from __future__ import annotations

import os
import sys
import time

from quality.benchmarks.harvest_world import WorldProcess

SPEED = 100
_ZERO = "BENCHMARK_CLOCK_ZERO"  # when all clocks of a run showed the same


def begin() -> None:
    """Set the moment from which all processes of this run count."""
    os.environ[_ZERO] = str(time.time())


def hurry() -> None:
    """Have the clock of this process run `SPEED` times as fast, and every pause be as short."""
    zero, real_time, real_sleep = float(os.environ[_ZERO]), time.time, time.sleep
    time.time = lambda: zero + (real_time() - zero) * SPEED
    time.sleep = lambda seconds: real_sleep(float(seconds) / SPEED)


class FastWorld(WorldProcess):
    """The stand-in internet on the fast clock; `begin` before it starts."""

    latency = 0.0
    starts = (sys.executable, "-m", "quality.benchmarks.fast_clock")


if __name__ == "__main__":
    hurry()
    from tests.world import __main__ as stand_in

    stand_in.main()
