"""Processes on this machine, each with one job at a time.

Only we hold the other end of a worker's pipe: it tells each of us when the other one is dead.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import chain
from multiprocessing import get_context
from multiprocessing.connection import wait
from typing import Any

from . import MOST_DEATHS, Lost, raise_if_error, run_safely


def run(
    function: Callable[[Any], Any], jobs: Iterable[Any], *, workers: int, **_: Any
) -> Iterator[Any]:
    """See `..engines`."""
    left, deaths, idle, busy = iter(jobs), Counter[Any](), list[Any](), dict[Any, Any]()
    try:
        while True:
            while len(busy) < workers and (job := next(left, None)) is not None:
                busy[worker := idle.pop() if idle else _start_worker(function)] = job
                with suppress(OSError):  # dead: its pipe says so
                    worker.send(job)
            if not busy:
                return
            ready: list[Any] = wait(list(busy))
            for worker in ready:
                job = busy.pop(worker)
                try:
                    made = worker.recv()
                    idle.append(worker)
                except (EOFError, OSError):
                    deaths[job] += 1
                    made = Lost(job, f"{MOST_DEATHS} processes died while reading it")
                    if deaths[job] < MOST_DEATHS:
                        left = chain([job], left)
                        continue
                yield raise_if_error(made)
    finally:
        for worker in (*idle, *busy):
            worker.close()


def _start_worker(function: Callable[[Any], Any]) -> Any:
    ours, theirs = get_context("spawn").Pipe()
    get_context("spawn").Process(target=_serve_jobs, args=(function, theirs), daemon=True).start()
    theirs.close()
    return ours


def _serve_jobs(function: Callable[[Any], Any], pipe: Any) -> None:
    with suppress(EOFError, OSError, KeyboardInterrupt):
        while True:
            pipe.send(run_safely(function, pipe.recv()))
