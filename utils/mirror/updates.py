"""The common steps of an update of PubMed and of one of PMC.

Files are listed, fetched by this process at the pace of the site (`fetch_ahead`), read by the
workers of an engine, and published as a generation. `Update` keeps count of that, and deletes the
parts that nothing needs any more.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from ..errors import Unreachable
from ..system import safe_files
from .generations import Generation, Generations
from .locks import exclusive_lock
from .manifest import KINDS, Manifest, SourceFile
from .parts import Part

if TYPE_CHECKING:
    from ..http import Web
    from .engines import Run

T = TypeVar("T")
R = TypeVar("R")
_MAX_UNREACHABLE = 3  # files in a row that cannot be reached: the site is down
_COUNTS = ("records", "deletions", "passages", "cpu")


@dataclass(frozen=True, slots=True)
class MirrorProgress:
    """The progress of an update.

    ``files`` of ``total`` are read in this run, with ``records``, ``deletions`` and ``passages``;
    ``size`` of ``total_size`` bytes by the listing; ``failed`` are files set aside, vanished or not
    reached, each with its reason. At the end ``generation`` is what is published now, ``changed``
    whether this run published it, and ``waits_for`` why it did not; ``held_back`` counts files
    that wait for one before them.
    """

    files: int = 0
    total: int = 0
    records: int = 0
    deletions: int = 0
    passages: int = 0
    size: int = 0
    total_size: int = 0
    seconds: float = 0.0
    cpu: float = 0.0
    step: str = "reading"
    failed: dict[str, str] = field(default_factory=dict)
    unreachable: bool = False
    generation: Generation | None = None
    changed: bool = False
    waits_for: str = ""
    held_back: int = 0

    @property
    def eta_s(self) -> float | None:
        """The seconds until all files are read, by the bytes so far; None if unknown."""
        if not (self.size and self.seconds):
            return None
        return (self.total_size - self.size) * self.seconds / self.size


class Update:
    """One run of an update."""

    source: ClassVar[str]

    def __init__(self, folder: Path, web: Web, run: Run) -> None:
        self.folder, self.web, self.run = folder, web, run
        self.source_folder = folder / "source" / self.source
        self.manifest = Manifest(folder)
        self.generations = Generations(folder, self.source)
        self.progress = MirrorProgress()
        self.began = time.monotonic()

    @contextmanager
    def lock_mirror(self, lock: str, name: str) -> Iterator[None]:
        """Hold the lock of the mirror of a source, after which stale temporary files are deleted.

        Raises
        ------
        StoreBusy
            Another process updates the mirror.
        """
        safe_files.make_folder(self.folder)
        with exclusive_lock(self.folder / lock, f"the mirror of {name} in {self.folder}"):
            for kind in KINDS:
                part = self.folder / "part" / f"{self.source}{kind}"
                safe_files.delete_stale_temporary_files(part)
            safe_files.delete_stale_temporary_files(self.source_folder)
            yield

    def advance(self, **facts: Any) -> MirrorProgress:
        """Record facts of the progress, and return the progress."""
        seconds = time.monotonic() - self.began
        self.progress = replace(self.progress, **facts, seconds=seconds)
        return self.progress

    def add_failures(self, failed: Mapping[str, str], **facts: Any) -> None:
        """Record why files or articles were not read."""
        self.advance(failed={**self.progress.failed, **failed}, **facts)

    def remove_failure(self, name: str) -> None:
        """Forget the failure of a file that was read after all."""
        failed = self.progress.failed.items()
        self.advance(failed={other: why for other, why in failed if other != name})

    def add_part(self, part: Part, size: int, *, files: int = 1) -> None:
        """Add the parts of a file of *size* bytes to the progress."""
        now = self.progress
        sums = {name: getattr(now, name) + getattr(part, name) for name in _COUNTS}
        self.advance(files=now.files + files, size=now.size + size, **sums)

    def delete_unused_parts(self) -> list[SourceFile]:
        """Delete old generations and their parts; return the files that are still needed."""
        files = self.manifest.list_files(self.source) + self.generations.delete_old_generations()
        for kind in KINDS:
            needed = {file.get_part_path(self.folder, kind) for file in files}
            for path in (self.folder / "part" / f"{self.source}{kind}").glob("*.parquet"):
                if path not in needed:
                    safe_files.delete_if_exists(path)
        return files


def fetch_ahead(
    fetch: Callable[[T], R], items: Iterable[T], web: Web, *, at_once: int, ahead: int
) -> Generator[tuple[T, Future[R]], None, None]:
    """Yield items and what was fetched of them, as it comes; go on fetching meanwhile.

    Nothing more is begun after three items in a row that were unreachable. A run that is broken off
    cancels its requests, and waits until no thread writes to the mirror any more.

    Parameters
    ----------
    fetch : callable
        Fetches an item.
    items : iterable
    web : Web
        The client whose requests are cancelled.
    at_once : int
        Items fetched at the same time.
    ahead : int
        Items that are fetched, or waiting for it, while others are read.
    """
    left, unreachable = iter(items), 0
    pool = ThreadPoolExecutor(at_once, "mirror")
    fetching = {pool.submit(fetch, item): item for item in islice(left, ahead)}
    try:
        while fetching:
            done, _ = wait(fetching, return_when=FIRST_COMPLETED)
            for future in done:
                item = fetching.pop(future)
                failed = isinstance(future.exception(), Unreachable)
                unreachable = unreachable + 1 if failed else 0
                if unreachable < _MAX_UNREACHABLE:
                    fetching |= {pool.submit(fetch, more): more for more in islice(left, 1)}
                yield item, future
    finally:
        if fetching:
            web.transport.cancel_requests()
        pool.shutdown(wait=True, cancel_futures=True)
