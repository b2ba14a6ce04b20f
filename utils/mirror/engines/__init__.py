"""Engines do the work: this process, other processes on this machine, or a Dask cluster.

An engine is one function, ``run(function, jobs)``. It yields the function's result for each job as
soon as it is ready, in any order. It takes jobs as it has room for them, never all at once. A job
whose worker died is given to another worker; the third time it comes back as `Lost`. An error that
a function raises ends the run. No type of an engine leaves its file.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Generic, Literal, TypedDict, TypeVar, get_args

from ...command_line import install_command
from ...errors import BadRequest, NotConfigured

Job = TypeVar("Job")
EngineName = Literal["here", "processes", "dask"]
ENGINES: tuple[EngineName, ...] = get_args(EngineName)
MOST_DEATHS = 3
Run = Callable[[Callable[[Any], Any], Iterable[Any]], Iterator[Any]]


class EngineOptions(TypedDict, total=False):
    """The options of work on an engine.

    ``engine`` is this process (``here``), ``processes`` of this machine or a ``dask`` cluster;
    ``workers`` the number of processes (0: one for each core); ``scheduler`` the address of a Dask
    cluster that runs already; ``say`` receives messages, such as the address of a dashboard.
    """

    engine: EngineName
    workers: int
    scheduler: str
    say: Callable[[str], None]


def _discard_message(text: str) -> None:
    """Discard a message."""


@dataclass(frozen=True, slots=True)
class Lost(Generic[Job]):
    """A job whose workers died, and how often."""

    job: Job
    reason: str


def get_engine(
    engine: str = "here",
    workers: int = 0,
    scheduler: str = "",
    say: Callable[[str], None] = _discard_message,
) -> Run:
    """Return the ``run`` of an engine; see `EngineOptions`.

    Raises
    ------
    BadRequest
        The engine is unknown, or has no scheduler.
    NotConfigured
        Its package is not installed.
    """
    if engine not in ENGINES:
        raise BadRequest(f"{engine!r} is not a known engine.", f"Give one of {', '.join(ENGINES)}.")
    if scheduler and engine != "dask":
        raise BadRequest(f"The engine {engine!r} has no scheduler.", "Give --engine dask.")
    if engine == "dask" and find_spec("distributed") is None:
        msg = "The engine 'dask' needs packages that are not installed: distributed."
        raise NotConfigured(msg, f"Run: {install_command('mirror')}")
    if engine == "here":  # one job after the other, in this process
        return map
    module, workers = import_module(f".{engine}", __package__), workers or os.cpu_count() or 1
    return partial(module.run, workers=workers, scheduler=scheduler, say=say)


@contextmanager
def pause_garbage_collection() -> Iterator[None]:
    """Run a job without searching for reference cycles: it makes none, and saves a tenth of CPU."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def run_safely(function: Callable[[Any], Any], job: Any) -> Any:
    """Return a function's result for a job, or its error, to be sent to another process."""
    try:
        return function(job)
    except Exception as error:  # noqa: BLE001 - `raise_if_error` raises it where the jobs come from
        return error


def raise_if_error(made: Any) -> Any:
    """Return the result of another process; raise the error it raised."""
    if isinstance(made, Exception):
        raise made
    return made
