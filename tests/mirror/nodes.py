"""Nodes of a Dask cluster that tests start and kill: ``python -m tests.mirror.nodes``.

All are forks of one process that has read every module already, so that a node is there at once.
It reads ``scheduler PORT`` or ``worker ADDRESS`` from its input, with what is amiss with a worker
(`AMISS`), and says the new node's number.
"""

import asyncio
import importlib
import os
import random
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Self

from tests.processes import Process

ROOT = Path(__file__).resolve().parents[2]
_READ = (
    *("distributed.scheduler", "distributed.worker", "pyarrow.parquet"),
    *("utils.mirror.engines.dask", "utils.mirror.texts"),
)


class Nodes:
    """A scheduler, always at one address, and its workers."""

    def __init__(self, folder: Path, workers: int = 2, amiss: str = "") -> None:
        command, pipe = [sys.executable, "-m", "tests.mirror.nodes"], subprocess.PIPE
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        with (folder / "nodes.log").open("w", encoding="utf-8") as log:
            self._process = Process(
                command, stdin=pipe, stdout=pipe, stderr=log, cwd=folder, env=environment, text=True
            )
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self._port = free.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{self._port}"
        self._number, self._amiss = workers, amiss
        self.scheduler, self.workers = 0, list[int]()

    def start(self) -> Self:
        """Start a scheduler, and all workers."""
        self.scheduler = self._fork(f"scheduler {self._port}")
        self.workers = [self.worker() for _ in range(self._number)]
        return self

    def worker(self) -> int:
        """Start a worker."""
        return self._fork(f"worker {self.address} {self._amiss}")

    def kill_a_worker(self, chance: random.Random) -> None:
        """Kill one of the workers, and start another."""
        at = chance.randrange(len(self.workers))
        kill(self.workers[at])
        self.workers[at] = self.worker()

    def replace_the_dead(self) -> None:
        """Start a worker for each that has ended."""
        self.workers = [one if is_there(one) else self.worker() for one in self.workers]

    def kill_the_scheduler(self) -> None:
        """Kill the scheduler; its workers end when they see that."""
        kill(self.scheduler)

    def _fork(self, words: str) -> int:
        self._process.stdin.write(f"{words}\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())


def kill(pid: int, number: int = signal.SIGKILL) -> None:
    """Send a signal to whoever may have ended."""
    with suppress(ProcessLookupError):
        os.kill(pid, number)


def is_there(pid: int) -> bool:
    """Whether a process has not ended."""
    with suppress(ProcessLookupError):
        os.kill(pid, 0)
        return True
    return False


def _has_no_package() -> None:
    """Be a process that has nothing of ours."""
    sys.path[:] = [place for place in sys.path if Path(place or ".").resolve() != ROOT]
    for name in [name for name in sys.modules if name.partition(".")[0] in {"utils", "tests"}]:
        del sys.modules[name]


def _has_another_version() -> None:
    from utils.mirror.engines import dask

    vars(dask)["get_version"] = lambda: "0.0.1"


AMISS = {"no_package": _has_no_package, "another_version": _has_another_version}


async def _run(kind: str, where: str, amiss: str = "") -> None:
    import distributed

    if amiss:
        AMISS[amiss]()
    if kind == "scheduler":
        node = distributed.Scheduler(host="127.0.0.1", port=int(where), dashboard=False)
    else:
        node = distributed.Worker(where, nthreads=1, dashboard=False)
    async with node:
        await node.finished()


def _reap(*_: object) -> None:
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def main() -> None:
    """Fork nodes until nobody asks for any."""
    for module in _READ:
        importlib.import_module(module)
    signal.signal(signal.SIGCHLD, _reap)
    for line in sys.stdin:
        if (pid := os.fork()) == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            asyncio.run(_run(*line.split()))
            os._exit(0)
        sys.stdout.write(f"{pid}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
