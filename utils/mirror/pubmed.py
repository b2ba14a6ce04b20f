"""All of PubMed, brought up to date from its baseline and update files; nobody else is asked.

What is new is fetched by this process, at the pace of the site; whoever reads it, a file at a time,
is the engine's choice. What was killed, at any moment, loses the files under way and nothing else:
the same command goes on.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import BadContent, NotAvailable, Unreachable
from ..sources.pubmed_files import BulkFile, Folder
from ..system import safe_files
from .engines import Lost, Run
from .generations import Generation, Generations
from .locks import exclusive_lock
from .manifest import KINDS, YEAR, Manifest, SourceFile, State
from .parts import Part, ReadJob, read_part
from .pubmed_files import Chain, FilledFolder, Nlm, Origin, build_chains, compute_md5

if TYPE_CHECKING:
    from ..http import Web

SOURCE = "pubmed"
_AT_ONCE = 3  # files on their way, as many as the site's limit lets go
_AHEAD = 6  # fetched or under way, and not read yet
_ENOUGH = 3  # files in a row that cannot be reached: the site is down


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


def update(
    folder: Path,
    web: Web,
    run: Run,
    *,
    keep: bool = True,
    most: int = 0,
    filled: Path | None = None,
) -> Iterator[MirrorProgress]:
    """Bring a mirror of PubMed up to date; going through it does the work.

    Parameters
    ----------
    folder : Path
        That of the mirror.
    web : Web
        For this alone: it is ended with the work.
    run : Run
        An engine.
    keep : bool, optional
        Whether files stay when they are read, so that parts can be made again without the network.
    most : int, optional
        So many files at the most, the first that are due; 0 for all.
    filled : Path, optional
        A folder with NLM's files; then no site is asked for them.

    Raises
    ------
    StoreBusy
        Another process is at it.
    Unreachable
        The listing could not be had.
    StoreFailed
        The disk refuses; what was read stays.
    """
    safe_files.make_folder(folder)
    with exclusive_lock(folder / "update.lock", f"the mirror of PubMed in {folder}"):
        for kind in KINDS:
            safe_files.delete_stale_temporary_files(folder / "part" / f"{SOURCE}{kind}")
        yield from _Update(folder, web, run, keep, filled).run_steps(most)


class _Update:
    """One run."""

    def __init__(
        self, folder: Path, web: Web, run: Run, keep: bool, filled: Path | None = None
    ) -> None:
        self.folder, self.web, self.run, self.keep = folder, web, run, keep
        self.origin: Origin = FilledFolder(filled) if filled else Nlm(web)
        self.manifest = Manifest(folder)
        self.generations = Generations(folder, SOURCE)
        self.files: dict[str, SourceFile] = {}
        self.notice = (0, 0)
        self.retryable = set[str]()
        self.progress = MirrorProgress()
        self.began = time.monotonic()

    def run_steps(self, most: int) -> Iterator[MirrorProgress]:
        """Read all listed files, read again those that came damaged, and publish."""
        yield from self._read_listed(most)
        if self.retryable and not self.progress.unreachable:
            with suppress(Unreachable):  # the first listing was available: publish what was read
                yield from self._read_listed(most, again=True)
        self._advance_progress(step="publishing")
        yield self.progress
        self._publish_generation()
        yield self._advance_progress(step="done")

    def _read_listed(self, most: int, *, again: bool = False) -> Iterator[MirrorProgress]:
        """Read the listed files that are due; *again* only those that failed or are new."""
        listed = [to_source_file(file) for file in self.origin.list_files()]
        self.notice = self.origin.fetch_last_baseline_file()
        self.manifest.add_listing(listed)
        settled = set(self.files) - self.retryable if again else set[str]()
        self.files = {file.name: file for file in self.manifest.list_files(SOURCE)}
        due = self._find_unread_files({file.name for file in listed}, settled)[: most or None]
        now = self.progress
        self._advance_progress(
            total=now.files + len(due), total_size=now.size + sum(file.size for file in due)
        )
        yield self.progress
        for made in self.run(read_part, self._make_jobs(due)) if due else ():
            self._record_outcome(made)
            yield self.progress

    def _find_unread_files(self, listed: set[str], settled: set[str]) -> list[SourceFile]:
        """Return available files that the current reader has not read, except *settled* files."""
        due = []
        for file in list(self.files.values()):
            if file.name in settled or file.has_current_parts(self.folder):
                continue
            file = self.files[file.name] = replace(file, state="listed")  # noqa: PLW2901 - not done
            if file.name in listed or get_source_path(self.folder, file).exists():
                due.append(file)
            else:
                self._record_failure(file, "vanished", "It is not listed any more.")
        return due

    def _make_jobs(self, due: Sequence[SourceFile]) -> Iterator[ReadJob]:
        """Yield files to be read as soon as they are fetched; a few are fetched ahead."""
        left, out_of_reach = iter(due), 0
        pool = ThreadPoolExecutor(_AT_ONCE, "mirror")
        fetching = {pool.submit(self._fetch_file, file): file for file in islice(left, _AHEAD)}
        try:
            while fetching:
                done, _ = wait(fetching, return_when=FIRST_COMPLETED)
                for future in done:
                    file = fetching.pop(future)
                    job = self._make_job(file, future)
                    out_of_reach = out_of_reach + 1 if self._was_unreachable(file) else 0
                    if job:
                        yield job
                    if out_of_reach < _ENOUGH:
                        fetching |= {
                            pool.submit(self._fetch_file, more): more for more in islice(left, 1)
                        }
        except BaseException:
            self.web.transport.cancel_requests()  # a run that is broken off waits for no request
            raise
        finally:
            pool.shutdown(wait=False, cancel_futures=True)

    def _fetch_file(self, file: SourceFile) -> str:
        """Fetch a file if it is missing; return its MD5."""
        if file.md5 and get_source_path(self.folder, file).exists():
            return file.md5
        listed = to_bulk_file(file)
        md5 = self.origin.get_md5(listed)
        path = get_source_path(self.folder, replace(file, md5=md5))
        are_made = not file.had_parts and self._to_job(file, md5).records.exists()
        if not path.exists() and not are_made:
            safe_files.make_folder(path.parent)
            self.origin.copy_or_fetch_file(listed, md5, path)
        return md5

    def _make_job(self, file: SourceFile, future: Future[str]) -> ReadJob | None:
        """Return what is to be read of a file; None if the file could not be fetched."""
        try:
            md5 = future.result()
        except (NotAvailable, BadContent) as error:
            state: State = "aside" if isinstance(error, BadContent) else "vanished"
            self._record_failure(file, state, error.message)
            self.retryable.add(file.name)
        except Unreachable as error:
            self._advance_progress(
                failed={**self.progress.failed, file.name: error.message}, unreachable=True
            )
        else:
            file.delete_damaged_parts(self.folder)
            self.files[file.name] = replace(file, md5=md5)
            return self._to_job(file, md5)
        return None

    def _to_job(self, file: SourceFile, md5: str) -> ReadJob:
        path = str(get_source_path(self.folder, replace(file, md5=md5)))
        about = (file.source, file.name, file.sequence, file.order)
        return ReadJob(path, *about, md5, str(self.folder))

    def _was_unreachable(self, file: SourceFile) -> bool:
        return file.name in self.progress.failed and self.files[file.name].state == "listed"

    def _record_outcome(self, made: Part | Lost[ReadJob]) -> None:
        """Record the parts of a file, or why it has none."""
        part = made if isinstance(made, Part) else Part(made.job.name, reason=made.reason)
        file = self.manifest.record_part(self.files[part.name], part, self.files[part.name].md5)
        self.files[part.name] = file
        source, now = get_source_path(self.folder, file), self.progress
        failed = {name: why for name, why in now.failed.items() if name != part.name}
        if part.reason and source.exists() and compute_md5(source) != file.md5:
            safe_files.delete_if_exists(source)  # damaged on this disk: fetched again
            self.retryable.add(part.name)
        self._advance_progress(
            files=now.files + (not part.reason),
            size=now.size + file.size,
            cpu=now.cpu + part.cpu,
            failed=failed | ({part.name: part.reason} if part.reason else {}),
            **{name: getattr(now, name) + getattr(part, name)
               for name in ("records", "deletions", "passages")},
        )  # fmt: skip
        if not self.keep and not part.reason:
            safe_files.delete_if_exists(source)

    def _record_failure(self, file: SourceFile, state: State, reason: str) -> None:
        self.files[file.name] = self.manifest.record_failure(file, state, reason)
        self._advance_progress(failed={**self.progress.failed, file.name: reason})

    def _advance_progress(self, **facts: Any) -> MirrorProgress:
        seconds = time.monotonic() - self.began
        self.progress = replace(self.progress, **facts, seconds=seconds)
        return self.progress

    def _publish_generation(self) -> None:
        """Build and publish the newest generation that can be, if it is not published yet."""
        current, last = self.generations.get_complete(), self.generations.get_published_name()
        waits_for = ""
        for chain in build_chains(list(self.files.values()), self._find_baseline_ends(last)):
            obstacle = _find_obstacle(chain, last)
            waits_for = waits_for or obstacle
            if obstacle:
                continue
            if not current or _is_different(chain, self.generations.list_files(current), current):
                made = self.generations.build(chain.files, chain.missing)
                self.generations.publish(made.name)
                self._advance_progress(changed=not current or made.name != current.name)
                self._delete_unused(made)
            self._advance_progress(held_back=chain.holds_back)
            break
        published = self.generations.get_complete()
        if last and not published:
            waits_for += (
                f" ({last}, published before, is damaged and cannot be made again from here)"
            )
        self._advance_progress(generation=published, waits_for=waits_for)

    def _find_baseline_ends(self, last: str) -> dict[int, int]:
        """Return the last file's number of each baseline, by NLM's notice and by what is here.

        A year that was published had its baseline whole; once NLM's notice is on the next one,
        nobody else says which of its files was the last.
        """
        year, number = _parse_generation_name(last)
        here = (
            file.number
            for file in self.files.values()
            if (file.folder, file.year) == ("baseline", year) and file.number <= number
        )
        return {year: max(here, default=0), self.notice[0]: self.notice[1]}

    def _delete_unused(self, published: Generation) -> None:
        """Delete what no kept generation and no later file needs."""
        old = [file for file in self.files.values() if file.year < published.year]
        self.manifest.delete_files(old)
        self.files = {file.name: file for file in self.manifest.list_files(SOURCE)}
        failed = self.progress.failed.items()
        self._advance_progress(failed={name: why for name, why in failed if name in self.files})
        needed = {
            file.get_part_path(self.folder, kind)
            for file in self.files.values()
            if file.is_read
            for kind in KINDS
        }
        for path in self.generations.delete_old_generations():
            if path not in needed:
                safe_files.delete_if_exists(path)
        sources = {get_source_path(self.folder, file) for file in self.files.values()}
        for path in (self.folder / "source" / SOURCE).glob("*.xml.gz"):
            if path not in sources:
                safe_files.delete_if_exists(path)


def get_source_path(folder: Path, file: SourceFile) -> Path:
    """Return the path of a fetched file; a file there is complete, and has that MD5."""
    return folder / "source" / file.source / f"{file.sequence}-{file.md5}.xml.gz"


def to_source_file(file: BulkFile) -> SourceFile:
    """Return a file as the manifest has it."""
    order = file.year * YEAR + file.number
    place = (file.name, file.folder, file.sequence, order)
    return SourceFile(SOURCE, *place, listed=file.listed, size=file.size)


def to_bulk_file(file: SourceFile) -> BulkFile:
    """Return a file as the site has it."""
    folder: Folder = "baseline" if file.folder == "baseline" else "updatefiles"
    return BulkFile(file.name, folder, file.year, file.number)


def _find_obstacle(chain: Chain, last: str) -> str:
    """Return why a chain cannot be published after generation *last*; empty if it can.

    That one may be damaged: then it is made again, and no other takes its place meanwhile.
    """
    year, _ = _parse_generation_name(last)
    if chain.waits_for or not chain.files:
        return chain.waits_for or "a file that can be read"
    if chain.year < year:
        return f"nothing: 20{year:02} is published already"
    if chain.hole_in_baseline:
        holes = ", ".join(list(chain.missing)[:3])
        new = f"{holes} of the new baseline; the old year stays meanwhile"
        return new if year and chain.year > year else f"{holes} of the baseline"
    return ""


def _parse_generation_name(generation: str) -> tuple[int, int]:
    """Return the year and number of the last file of a generation; zeros without a name."""
    year, _, number = generation.partition("-")[0].partition("n")
    return (int(year), int(number)) if year.isdecimal() and number.isdecimal() else (0, 0)


def _is_different(chain: Chain, files: Sequence[SourceFile], current: Generation) -> bool:
    """Return whether a chain would make another generation than the published one."""
    ours, theirs = ([(file.name, file.digest) for file in some] for some in (chain.files, files))
    return ours != theirs or chain.missing != current.missing
