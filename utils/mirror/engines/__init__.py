"""Who does the work: this process, others on this machine, or a Dask cluster.

An engine is one function, ``run(function, jobs)``: it yields what the function makes of each job,
as it is ready, whatever order that is. It takes jobs as it has room for them, never all at once. A
job whose worker died is given to another; the third time it comes back as `Lost`. What a function
raises ends the run. No type of an engine leaves its file.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar, get_args

from ...command_line import install_command
from ...errors import BadRequest, NotConfigured

Job = TypeVar("Job")
EngineName = Literal["here", "processes", "dask"]
ENGINES: tuple[EngineName, ...] = get_args(EngineName)
MOST_DEATHS = 3
_NEEDS = {"dask": ("distributed", "mirror")}
Run = Callable[[Callable[[Any], Any], Iterable[Any]], Iterator[Any]]


@dataclass(frozen=True, slots=True)
class Lost(Generic[Job]):
    """A job whose workers died, and how often."""

    job: Job
    reason: str


def get_engine(
    name: str, workers: int, scheduler: str, folder: Path, say: Callable[[str], None]
) -> Run:
    """Return the ``run`` of an engine.

    Parameters
    ----------
    name : {"here", "processes", "dask"}
    workers : int
        Processes at once.
    scheduler : str
        Address of a Dask cluster that exists.
    folder : Path
        For what an engine writes down of its own.
    say : callable
        Is told where one can look at the work.

    Raises
    ------
    BadRequest
        There is no such engine, or it has no scheduler.
    NotConfigured
        Its package is not installed.
    """
    if name not in ENGINES:
        raise BadRequest(f"{name!r} is not a known engine.", f"Give one of {', '.join(ENGINES)}.")
    if scheduler and name not in _NEEDS:
        raise BadRequest(f"The engine {name!r} has no scheduler.", "Give --engine dask.")
    package, extra = _NEEDS.get(name, ("", ""))
    if package and find_spec(package) is None:
        msg = f"The engine {name!r} needs packages that are not installed: {package}."
        raise NotConfigured(msg, f"Run: {install_command(extra)}")
    if name == "here":  # one job after the other, in this process
        return map
    engine = import_module(f".{name}", __package__)
    return partial(engine.run, workers=workers, scheduler=scheduler, folder=folder, say=say)


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
