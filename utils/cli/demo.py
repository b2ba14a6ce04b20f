"""The demo: Papershelf against the tests' stand-in internet, which runs beside it on loopback.

It needs no network, key or e-mail address: invented papers at invented publishers, behind the real
interfaces, fetched by the real pipeline at the polite rates.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..errors import NotFound, StoreFailed
from ..library import Library
from ..settings import Settings

QUERY = "field[ti]"
_PAPERS = 40
_START_TIMEOUT_S = 30.0
_ROOT = Path(__file__).resolve().parents[2]


@contextmanager
def stage() -> Iterator[tuple[Library, str]]:
    """A library in a temporary folder that asks the stand-in, and a query that finds papers.

    Raises
    ------
    NotFound
        The stand-in is missing: it comes with the source, not with the installed package.
    """
    if not (_ROOT / "tests" / "world").is_dir():
        msg = "The stand-in internet is not here."
        raise NotFound(msg, "Run the demo in a checkout of the source.")
    folder = Path(tempfile.mkdtemp(prefix="papershelf-demo-"))
    world = None
    try:
        world = _world(folder / "addresses.env")
        yield Library(_settings(folder, _addresses(folder / "addresses.env", world))), QUERY
    finally:
        if world:
            world.kill()  # it holds nothing worth an orderly end
            world.wait()


def _world(addresses: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "tests.world", "--field", str(_PAPERS)]
    # In a process group of its own, for Ctrl-C is ours to answer. It ends when its pipe closes, so
    # that it does not outlive us even when we are killed.
    return subprocess.Popen(  # noqa: S603 - our own
        [*command, "--env", str(addresses), "--until-eof"],
        cwd=_ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        process_group=0,
    )


def _settings(folder: Path, addresses: dict[str, str]) -> Settings:
    """Settings of the demo: of the environment it takes nothing, neither keys nor `offline`."""
    places = {"papers_dir": folder / "papers", "papers_pace_dir": folder / "pace"}
    return Settings.model_construct(**addresses | places)  # type: ignore[arg-type]


def _addresses(file: Path, world: subprocess.Popen[bytes]) -> dict[str, str]:
    """Wait until the services are up; their addresses, as settings."""
    until = time.monotonic() + _START_TIMEOUT_S
    while time.monotonic() < until and world.poll() is None:
        if file.exists() and (text := file.read_text(encoding="utf-8")).endswith("\n"):
            pairs = (line.split("=", 1) for line in text.splitlines())
            return {name.lower(): value for name, value in pairs}
        time.sleep(0.05)
    msg = "The stand-in internet did not start."
    raise StoreFailed(msg, "Run python -m tests.world to see why.")
