"""Verify a mirror: make parts again from their sources, and compare rows, digests and counts.

Bytes are compared where the same libraries wrote them; a generation names the libraries that made
it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING

from ..command_line import command_line
from ..errors import NotFound, StoreFailed
from ..sources.pubmed_files import fetch_file
from ..system import safe_files
from .generations import Generation, Generations
from .manifest import Manifest, SourceFile
from .parts import ReadJob, compute_sha256, read_part
from .pubmed import SOURCE, to_bulk_file
from .texts import read_texts

if TYPE_CHECKING:
    from ..http import Web
    from .engines import Run


_UNREADABLE = "Its source cannot be read"


@dataclass(frozen=True, slots=True)
class Verified:
    """The fault of one part, or of the whole generation (``name`` is then the generation's)."""

    name: str
    faults: tuple[str, ...] = ()
    records: int = 0

    @property
    def is_source_damaged(self) -> bool:
        """True if the source of a part cannot be read, so that nothing is known of the part."""
        return any(fault.startswith(_UNREADABLE) for fault in self.faults)


@dataclass(frozen=True, slots=True)
class _Remaking:
    """A file that is to be read again, elsewhere."""

    job: ReadJob
    file: SourceFile
    mirror: str


def verify(
    folder: Path,
    web: Web,
    run: Run,
    names: Sequence[str] = (),
    *,
    source: str = SOURCE,
    sample: int = 0,
) -> Iterator[Verified]:
    """Compare the published generation with its source files: each part, then the whole.

    Parameters
    ----------
    folder, web, run
        As for `.pubmed.update`.
    names : sequence of str
        Files (``pubmed26n0001.xml.gz``) or their places (``26n0001``); all when empty.
    source : {"pubmed", "pmc"}
    sample : int, optional
        The largest number of files, spread evenly; 0 for all.

    Raises
    ------
    EmptyStore
        There is no generation yet.
    NotFound
        It has no such file.
    """
    generations = Generations(folder, source)
    generation = generations.require_current()
    files = generations.list_files(generation)
    chosen = _choose_files(files, names, sample)
    with safe_files.open_temporary_folder(folder) as place:
        jobs = _make_remakings(chosen, folder, place, web)
        for made in run(remake_and_compare, jobs):
            if isinstance(made, Verified):
                _mark_damaged(made, chosen, folder)
                yield made
            else:
                yield Verified(made.job.file.name, (made.reason,))
        yield _check_rows(generation, files, generations, place)


def _mark_damaged(verified: Verified, files: Sequence[SourceFile], folder: Path) -> None:
    """Record damaged parts, so that the next update makes them again."""
    if verified.faults and not verified.is_source_damaged:
        file = next(file for file in files if file.name == verified.name)
        with suppress(StoreFailed):  # a mirror that may only be read is verified too
            Manifest(folder).mark_damaged(file, verified.faults[0])


def _choose_files(
    files: Sequence[SourceFile], names: Sequence[str], sample: int
) -> list[SourceFile]:
    """Return the named files, or a sample of all."""
    by_name = {name: file for file in files for name in (file.name, file.sequence)}
    if unknown := [name for name in names if name not in by_name]:
        msg = f"The generation has no file {unknown[0]}."
        raise NotFound(msg, f"It has {files[0].name} to {files[-1].name}.")
    chosen = [by_name[name] for name in names] or list(files)
    if not sample or sample >= len(chosen):
        return chosen
    return [chosen[at * len(chosen) // sample] for at in range(sample)]


def _make_remakings(
    files: Sequence[SourceFile], folder: Path, place: Path, web: Web
) -> Iterator[_Remaking]:
    """Yield each file with its source: the kept one, else fetched again."""
    for file in files:
        source = file.get_source_path(folder)
        if not source.exists() and file.source != SOURCE:
            msg = f"{source} is missing, so the parts made of it cannot be verified."
            raise StoreFailed(msg, "Restore it, or delete the mirror and make it again.")
        if not source.exists():
            source = place / source.name
            safe_files.write_file(source, fetch_file(to_bulk_file(file), file.md5, web))
        yield _Remaking(file.to_job(source, place), file, str(folder))


def remake_and_compare(remaking: _Remaking) -> Verified:
    """Make the parts of a file again, and return how they differ."""
    job, file, folder = remaking.job, remaking.file, Path(remaking.mirror)
    part = (read_part if job.source == SOURCE else read_texts)(job)
    if part.reason:
        return Verified(file.name, (f"{_UNREADABLE}: {part.reason}",))
    faults = []
    for kind, made, digest in (
        ("", job.records, file.digest),
        ("-passages", job.passages, file.passages_digest),
    ):
        faults += _find_faults(file.get_part_path(folder, kind), made, digest)
        safe_files.delete_if_exists(made)
    for name in ("records", "deletions", "passages"):
        if getattr(part, name) != getattr(file, name):
            faults.append(f"{name}: {getattr(part, name):,}, not {getattr(file, name):,}")
    if Path(job.folder) in Path(job.file).parents:
        safe_files.delete_if_exists(Path(job.file))
    return Verified(file.name, tuple(faults), part.records)


def _find_faults(path: Path, made: Path, digest: str) -> list[str]:
    """Return what is wrong with a part, compared with the one made again."""
    name = f"{path.parent.name}/{path.name}"
    source = path.parent.name.partition("-")[0]
    again = f"to make it again: {command_line(f'mirror {source}')}"
    if not path.exists():
        return [f"{name} is gone: {again}"]
    if compute_sha256(path) != digest:
        return [f"{name} is damaged; {again}"]
    return [] if has_same_rows(path, made) else [f"{name} has other rows than its source has now"]


def has_same_rows(one: Path, other: Path) -> bool:
    """Return whether two Parquet files hold the same rows; False if one is unreadable."""
    from pyarrow import ArrowInvalid, parquet

    try:
        if compute_sha256(one) == compute_sha256(other):
            return True
        with parquet.ParquetFile(one) as ours, parquet.ParquetFile(other) as theirs:
            pairs = zip_longest(ours.iter_batches(), theirs.iter_batches())
            return all(ours and theirs and ours.equals(theirs) for ours, theirs in pairs)
    except (ArrowInvalid, OSError, StoreFailed):
        return False


def _check_rows(
    generation: Generation, files: Sequence[SourceFile], generations: Generations, place: Path
) -> Verified:
    """Check that the rows that count follow from the parts."""
    try:
        again = generations.write_tables(files, generation.missing, place)
    except StoreFailed as error:
        return Verified(generation.name, (error.text,))
    faults = []
    if again.digest != generation.digest:
        faults.append(f"its digest is {again.digest}, not {generation.digest}")
    if again.papers != generation.papers:
        faults.append(f"{again.papers:,} PMIDs are live, not {generation.papers:,}")
    here = generations.folder / generation.name
    again_by = f"delete it; to make it again: {command_line(f'mirror {generation.source}')}"
    faults += [
        f"its {name} is gone or has other rows: {again_by}"
        for name in ("live.parquet", "names.parquet")
        if not has_same_rows(here / name, place / name)
    ]
    return Verified(generation.name, tuple(faults), again.papers)
