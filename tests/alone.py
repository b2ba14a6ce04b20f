"""Tests that measure real time run alone: nothing else of the suite runs beside them.

Workers are processes, so two locked files decide: whoever runs a test holds the floor, together
with others or alone, and comes to it through a gate, so that who wants it alone is not kept
waiting by ever new others. Where files cannot be locked, tests run side by side.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


class Floor:
    """Where the tests of all workers take their turns."""

    def __init__(self, folder: Path) -> None:
        self._gate, self._floor = folder / "gate.lock", folder / "floor.lock"
        self._alone = ExitStack()
        self._holds = False

    @contextmanager
    def turn(self, *, alone: bool, and_then: bool) -> Iterator[None]:
        """Run one test; *and_then*: the next one here runs alone, too, and nobody comes between."""
        if not alone:
            with ExitStack() as beside_others:
                with _locked(self._gate):
                    beside_others.enter_context(_locked(self._floor, shared=True))
                yield
            return
        try:
            if not self._holds:
                self._alone.enter_context(_locked(self._gate))
                self._alone.enter_context(_locked(self._floor))
                self._holds = True
            yield
        finally:
            if not and_then:
                self._alone.close()
                self._holds = False


@contextmanager
def _locked(path: Path, *, shared: bool = False) -> Iterator[None]:
    with path.open("a") as file:
        if fcntl:
            fcntl.flock(file, fcntl.LOCK_SH if shared else fcntl.LOCK_EX)
        yield  # closing it unlocks it
