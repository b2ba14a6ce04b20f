"""Splits: the word index of one part, made by any worker and added to the index of a mirror.

An index in tantivy is a folder with a list of *segments*. Each segment is an index of some rows by
itself: it is never changed, and its files carry its name and nothing of the folder. A search adds
up the statistics of all segments of its index, so that scores do not depend on the cut.

1. `WordIndex.find_changes <.words.WordIndex.find_changes>` compares the published generation with
   the rows that the index has. The rows to be added, grouped by part, are the jobs.
2. `build_splits` runs on an engine, as reading does. It folds, packs and indexes the rows of a part
   into a folder with one segment. The folder and the segment are named after the part and its
   rows. So the same rows give the same bytes, whoever makes them, and a run that was killed makes
   only the splits that are missing. A part that belongs to two indexes, that of papers and that of
   passages, is read in one job.
3. `install_splits` links the files of all splits into the index and adds them to its list. This
   takes no time for each row. Rows that no longer count are deleted before, so that a row that is
   replaced in its place does not go as well.
4. tantivy merges small segments (8 or more of about the same size) into one.

For example, 1,400 parts of PubMed on 16 cores are 1,400 jobs and two lists with 1,400 segments.
Until the last step has begun, searches see the index as it was; while it lasts, each hit is
compared with the generation.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

import numpy as np

from ..corpus.word_index import open_word_index
from ..errors import StoreFailed
from ..system import safe_files
from .engines import Lost, pause_garbage_collection
from .generations import Generations
from .locks import exclusive_lock
from .reading import read_rows_at

if TYPE_CHECKING:
    from tantivy import Document, Schema

    from .engines import Run
    from .manifest import SourceFile
    from .words import Changes, WordIndex

HEAP = 256_000_000
"""Bytes of what is indexed that are held until they are written."""
_SEGMENTS = "segments.json"
_BLOCK = 2_000  # rows of which all documents are made before the next rows are read


@dataclass(frozen=True, slots=True)
class WordsProgress:
    """The progress: parts indexed, papers added and rows removed."""

    files: int = 0
    total: int = 0
    added: int = 0
    dropped: int = 0


@dataclass(frozen=True, slots=True)
class SplitJob:
    """A part whose rows are to be indexed.

    ``wanted`` has, for each index, its class, the name of the split, and the positions of its rows
    as 32-bit numbers.
    """

    mirror: str
    file: SourceFile
    wanted: tuple[tuple[type[WordIndex], str, bytes], ...]


def update_indexes(indexes: Sequence[WordIndex], run: Run) -> Iterator[WordsProgress]:
    """Bring indexes up to date with their published generations; going through it does the work.

    Raises
    ------
    StoreBusy
        Another process is at work on one of them.
    EmptyStore
        There is no generation yet.
    StoreFailed
        A part or an index is damaged, a part killed its workers, or the disk refuses.
    """
    with ExitStack() as locks:
        for index in indexes:
            safe_files.make_folder(index.new)
            what = f"the index in {index.folder}"
            locks.enter_context(exclusive_lock(index.folder / "index.lock", what))
        changes = [index.find_changes() for index in indexes]
        jobs = list(_make_jobs(indexes, changes))
        progress = WordsProgress(total=len(jobs))
        yield progress
        for made in run(build_splits, jobs) if jobs else ():
            if isinstance(made, Lost):
                raise StoreFailed(f"{made.job.file.name}: {made.reason}.", "Run it again.")
            progress = replace(progress, files=progress.files + 1, added=progress.added + made)
            yield progress
        for index, some in zip(indexes, changes, strict=True):
            index.apply_changes(some)
        by_source = {
            index.generations.source: some for index, some in zip(indexes, changes, strict=True)
        }
        added = sum(some.count_new_rows() for some in by_source.values())
        dropped = sum(len(some.gone) for some in by_source.values())
        yield replace(progress, added=added, dropped=dropped)


def _make_jobs(indexes: Sequence[WordIndex], changes: Sequence[Changes]) -> Iterator[SplitJob]:
    """Yield a job for each part with rows that are not indexed yet."""
    wanted: dict[tuple[str, int], list[tuple[type[WordIndex], str, bytes]]] = {}
    files: dict[tuple[str, int], tuple[str, SourceFile]] = {}
    for index, some in zip(indexes, changes, strict=True):
        for order, name in some.splits.items():
            part = (index.generations.source, order)
            files[part] = (str(index.generations.mirror), some.files[order])
            rows = some.new_rows[order].astype("<i4").tobytes()
            wanted.setdefault(part, []).append((type(index), name, rows))
    for part, splits in sorted(wanted.items()):
        yield SplitJob(*files[part], tuple(splits))


def build_splits(job: SplitJob) -> int:
    """Make the splits of a part that are missing; return the number of its rows.

    Each row is read once, and goes into all splits that want it.

    Raises
    ------
    StoreFailed
        The part is damaged, or the disk refuses.
    """
    generations = Generations(Path(job.mirror), job.file.source)
    every, columns = set[int](), set[str]()
    targets: list[tuple[WordIndex, set[int], Callable[[Document], object]]] = []
    with pause_garbage_collection(), ExitStack() as writers:
        for kind, name, packed in job.wanted:
            index, positions = kind(generations), set(np.frombuffer(packed, "<i4").tolist())
            every |= positions
            if not (index.new / name).exists():
                writers.enter_context(index.explain_errors())
                add = writers.enter_context(open_split(index.new / name, index.schema))
                targets.append((index, positions, add))
                columns |= set(index.columns)
        if targets:
            part = job.file.get_part_path(generations.mirror)
            rows = read_rows_at(part, sorted(every), sorted(columns))
            while block := list(islice(rows, _BLOCK)):
                for index, positions, add in targets:
                    some = [row for row in block if row["position"] in positions]
                    for document in index.make_documents(job.file, some):
                        add(document)
    return len(every)


@contextmanager
def open_split(folder: Path, schema: Schema) -> Iterator[Callable[[Document], object]]:
    """Yield a function that indexes a document; the folder appears when the block ends."""
    making = folder.with_name(f".{folder.name}-{uuid4().hex[:8]}")
    safe_files.make_folder(making)
    try:
        writer = open_word_index(making, schema).writer(HEAP, 1)
        yield writer.add_document
        writer.commit()
        writer.wait_merging_threads()
        segments = json.loads((making / "meta.json").read_bytes())["segments"]
        kept = {_SEGMENTS}
        for number, segment in enumerate(segments):
            mark = hashlib.sha256(f"{folder.name} {number}".encode()).hexdigest()[:32]
            kept |= set(_rename_segment(making, segment["segment_id"].replace("-", ""), mark))
            segment["segment_id"] = str(UUID(mark))
        safe_files.write_file(making / _SEGMENTS, json.dumps(segments).encode())
        for path in list(making.iterdir()):
            if path.name in kept:
                safe_files.flush_file(path)
            else:
                path.unlink()
        with suppress(FileExistsError):  # made by two workers, with the same bytes
            making.rename(folder)
        safe_files.flush_folder(folder.parent)
    finally:
        shutil.rmtree(making, ignore_errors=True)


def _rename_segment(folder: Path, old: str, new: str) -> Iterator[str]:
    """Rename the files of a segment; yield their new names."""
    for path in list(folder.glob(f"{old}.*")):
        yield path.rename(folder / path.name.replace(old, new)).name


def install_splits(index: Path, splits: Iterable[Path]) -> None:
    """Add the segments of splits to an index: all in one step, none twice."""
    meta, managed = _read_json(index / "meta.json"), _read_json(index / ".managed.json")
    known = {segment["segment_id"] for segment in meta["segments"]}
    names = set(managed)
    for split in splits:
        segments = _read_json(split / _SEGMENTS)
        meta["segments"] += [one for one in segments if one["segment_id"] not in known]
        for path in split.iterdir():
            if path.name != _SEGMENTS:
                _link_file(path, index / path.name)
                names.add(path.name)
    # tantivy deletes the files of this list that no segment needs any more, and no others.
    safe_files.write_file(index / ".managed.json", json.dumps(sorted(names)).encode())
    safe_files.write_file(index / "meta.json", json.dumps(meta).encode())


def uninstall_splits(index: Path, splits: Iterable[Path]) -> None:
    """Remove the segments of splits from an index, which a killed run added."""
    meta = _read_json(index / "meta.json")
    ours = {one["segment_id"] for split in splits for one in _read_json(split / _SEGMENTS)}
    left = [one for one in meta["segments"] if one["segment_id"] not in ours]
    if len(left) < len(meta["segments"]):
        safe_files.write_file(index / "meta.json", json.dumps({**meta, "segments": left}).encode())


def _read_json(path: Path) -> Any:
    with safe_files.disk_errors(path, "read"):
        return json.loads(path.read_bytes())


def _link_file(path: Path, to: Path) -> None:
    """Link a file to another place; copy it where the file system has no links."""
    with suppress(FileExistsError):
        try:
            os.link(path, to)
        except FileExistsError:
            raise
        except OSError:
            safe_files.write_file(to, path.read_bytes())
