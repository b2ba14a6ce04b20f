"""Update a mirror of all of PubMed from its baseline and update files; no other site is asked.

This process fetches new files at the pace of the site, and an engine's workers read one file at a
time. A run that is killed at any moment loses the files under way and nothing else: the same
command goes on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import BadContent, NotAvailable, Unreachable
from ..sources.pubmed_files import BulkFile, Folder
from ..system import safe_files
from .engines import Lost, Run
from .generations import Generation
from .manifest import YEAR, SourceFile, State
from .parts import Part, ReadJob, read_part
from .pubmed_files import Chain, FilledFolder, Nlm, Origin, build_chains, compute_md5
from .updates import MirrorProgress, Update, fetch_ahead

if TYPE_CHECKING:
    from ..http import Web

SOURCE = "pubmed"
_AT_ONCE = 3  # files on their way, as many as the site's limit lets go
_AHEAD = 5  # files fetched or under way, and not read yet


def update(
    folder: Path,
    web: Web,
    run: Run,
    *,
    keep: bool = True,
    most: int = 0,
    filled: Path | None = None,
) -> Iterator[MirrorProgress]:
    """Bring a mirror of PubMed up to date; iterating over it does the work.

    Parameters
    ----------
    folder : Path
        The folder of the mirror.
    web : Web
        A client for this update alone, because a run that is broken off cancels its requests.
    run : Run
        An engine.
    keep : bool, optional
        Whether files stay when they are read, so that parts can be made again without the network.
    most : int, optional
        The largest number of files, the first that are due; 0 for all.
    filled : Path, optional
        A folder with NLM's files; then no site is asked for them.

    Raises
    ------
    StoreBusy
        Another process updates the mirror.
    Unreachable
        The listing could not be fetched.
    StoreFailed
        The disk refuses; what was read stays.
    """
    work = _Update(folder, web, run, keep, filled)
    with work.lock_mirror("update.lock", "PubMed"):
        yield from work.run_steps(most)


class _Update(Update):
    """One run."""

    source = SOURCE

    def __init__(
        self, folder: Path, web: Web, run: Run, keep: bool, filled: Path | None = None
    ) -> None:
        super().__init__(folder, web, run)
        self.keep = keep
        self.origin: Origin = FilledFolder(filled) if filled else Nlm(web)
        self.files: dict[str, SourceFile] = {}
        self.notice = (0, 0)
        self.retryable = set[str]()

    def run_steps(self, most: int) -> Iterator[MirrorProgress]:
        """Read all listed files, read again those that came damaged, and publish."""
        yield from self._read_listed(most)
        if self.retryable and not self.progress.unreachable:
            with suppress(Unreachable):  # the first listing was available: publish what was read
                yield from self._read_listed(most, again=True)
        yield self.advance(step="publishing")
        self._publish_generation()
        yield self.advance(step="done")

    def _read_listed(self, most: int, *, again: bool = False) -> Iterator[MirrorProgress]:
        """Read the listed files that are due; *again* only those that failed or are new."""
        listed = [to_source_file(file) for file in self.origin.list_files()]
        self.notice = self.origin.fetch_last_baseline_file()
        self.manifest.add_listing(listed)
        settled = set(self.files) - self.retryable if again else set[str]()
        self.files = {file.name: file for file in self.manifest.list_files(SOURCE)}
        due = self._find_unread_files({file.name for file in listed}, settled)[: most or None]
        now = self.progress
        yield self.advance(
            total=now.files + len(due), total_size=now.size + sum(file.size for file in due)
        )
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
            if file.name in listed or file.get_source_path(self.folder).exists():
                due.append(file)
            else:
                self._record_failure(file, "vanished", "It is not listed any more.")
        return due

    def _make_jobs(self, due: Sequence[SourceFile]) -> Iterator[ReadJob]:
        """Yield files to be read as soon as they are fetched."""
        fetched = fetch_ahead(self._fetch_file, due, self.web, at_once=_AT_ONCE, ahead=_AHEAD)
        with closing(fetched):
            for file, future in fetched:
                if job := self._make_job(file, future):
                    yield job

    def _fetch_file(self, file: SourceFile) -> str:
        """Fetch a file if it is missing; return its MD5."""
        if file.md5 and file.get_source_path(self.folder).exists():
            return file.md5
        listed = to_bulk_file(file)
        md5 = self.origin.get_md5(listed)
        path = replace(file, md5=md5).get_source_path(self.folder)
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
            self.add_failures({file.name: error.message}, unreachable=True)
        else:
            file.delete_damaged_parts(self.folder)
            self.files[file.name] = replace(file, md5=md5)
            return self._to_job(file, md5)
        return None

    def _to_job(self, file: SourceFile, md5: str) -> ReadJob:
        fetched = replace(file, md5=md5)
        return fetched.to_job(fetched.get_source_path(self.folder), self.folder)

    def _record_outcome(self, made: Part | Lost[ReadJob]) -> None:
        """Record the parts of a file, or why it has none."""
        part = made if isinstance(made, Part) else Part(made.job.name, reason=made.reason)
        file = self.manifest.record_part(self.files[part.name], part, self.files[part.name].md5)
        self.files[part.name] = file
        source = file.get_source_path(self.folder)
        self.add_part(part, file.size, files=not part.reason)
        self.remove_failure(part.name)
        if part.reason:
            self.add_failures({part.name: part.reason})
            if source.exists() and compute_md5(source) != file.md5:
                safe_files.delete_if_exists(source)  # damaged on this disk: fetched again
                self.retryable.add(part.name)
        elif not self.keep:
            safe_files.delete_if_exists(source)

    def _record_failure(self, file: SourceFile, state: State, reason: str) -> None:
        self.files[file.name] = self.manifest.record_failure(file, state, reason)
        self.add_failures({file.name: reason})

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
                self.advance(changed=not current or made.name != current.name)
                self._delete_unused(made)
            self.advance(held_back=chain.holds_back)
            break
        published = self.generations.get_complete()
        if last and not published:
            waits_for += (
                f" ({last}, published before, is damaged and cannot be made again from these files)"
            )
        self.advance(generation=published, waits_for=waits_for)

    def _find_baseline_ends(self, last: str) -> dict[int, int]:
        """Return the last file's number of each baseline, by NLM's notice and by what is here.

        A year that was published had a complete baseline. Once NLM's notice is about the next year,
        only the files here say which one was the last.
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
        self.manifest.replace_files(old, [])
        self.files = {file.name: file for file in self.manifest.list_files(SOURCE)}
        failed = self.progress.failed.items()
        self.advance(failed={name: why for name, why in failed if name in self.files})
        self.delete_unused_parts()
        sources = {file.get_source_path(self.folder) for file in self.files.values()}
        for path in self.source_folder.glob("*.xml.gz"):
            if path not in sources:
                safe_files.delete_if_exists(path)


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

    If *last* is damaged, it is made again, and no earlier year takes its place meanwhile.
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
