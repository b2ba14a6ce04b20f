"""Who cites whom, of all PubMed: NIH's Open Citation Collection and the records' own references.

One table of edges, in two orders, a file a span of PMIDs. What is made is named after what it is
made of: what was killed goes on, what has not changed stays, and whoever makes it again writes the
same bytes. The table that is published is named by one pointer, as a generation of records is.
"""

from __future__ import annotations

import json
import time
import zipfile
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from ..errors import BadContent, EmptyStore, NotAvailable, Unreachable
from ..model.paper import now
from ..sources.citation_collection import (
    HEADER,
    MOST_BYTES,
    TABLE,
    Snapshot,
    fetch_snapshot,
    newest_snapshot,
)
from ..system import safe_files
from .edges import EDGES, SPAN, Made, Slice, Span, join_span, live_in, named_after, read_slice
from .engines import Lost, Run
from .generations import Generation, Generations
from .graph import CitationTable, Tables
from .locks import alone
from .manifest import SourceFile

if TYPE_CHECKING:
    from ..web import Web

_SLICE = 1 << 27  # bytes of NIH's table: some seven million lines
_PLACES = ("nih", "citing", "turned", "cited")
_Joined = dict[int, tuple[Span, Made]]
T = TypeVar("T")
Steps: TypeAlias = "Generator[CitationsProgress, None, T]"


@dataclass(frozen=True, slots=True)
class CitationsProgress:
    """How far it has come: ``done`` of ``total`` (bytes, stretches or spans) of this ``step``.

    ``total`` is 0 where nobody knows. At the end ``table`` is what is published now, ``changed``
    whether this run published it; ``notes`` say what could not be had.
    """

    step: str = "looking"
    done: int = 0
    total: int = 0
    seconds: float = 0.0
    notes: tuple[str, ...] = ()
    unreachable: bool = False
    table: CitationTable | None = None
    changed: bool = False


@dataclass(frozen=True, slots=True)
class Collection:
    """NIH's table as it lies here: its day and MD5, how many stretches and lines it has.

    ``digests`` are those of the stretches' parts; ``reason`` says why it cannot be read.
    """

    published: str
    md5: str
    edges: int = 0
    digests: tuple[str, ...] = ()
    reason: str = ""


def update(folder: Path, web: Web, run: Run, *, keep: bool = False) -> Iterator[CitationsProgress]:
    """Bring the table of citations of a mirror up to date; going through it does the work.

    Parameters
    ----------
    folder : Path
        That of the mirror; its records are taken in as they are published.
    web : Web
        For this alone.
    run : Run
        An engine.
    keep : bool, optional
        Whether NIH's ZIP stays when it is read.

    Raises
    ------
    StoreBusy
        Another process is at it.
    EmptyStore
        There is neither a mirror of PubMed here nor a collection to be had.
    StoreFailed
        The disk refuses, or a part is damaged; what was made stays.
    """
    safe_files.make_folder(folder)
    with alone(folder / "citations.lock", f"the citations in {folder}"):
        for place in _PLACES:
            safe_files.sweep(folder / "part" / "citations" / place)
        yield from _Update(folder, web, run, keep).steps()


@dataclass(slots=True)
class _Update:
    """One run."""

    folder: Path
    web: Web
    run: Run
    keep: bool
    progress: CitationsProgress = field(default_factory=CitationsProgress)
    began: float = field(default_factory=time.monotonic)
    failed: str = ""

    def steps(self) -> Iterator[CitationsProgress]:
        """Fetch, read, put together, turn, publish."""
        yield self._go_on()
        collection = yield from self._collection()
        generation = Generations(self.folder, "pubmed").current()
        if collection is None and generation is None:
            said = " ".join(self.progress.notes) or "There are no citations to put together."
            raise EmptyStore(said, "Run it again, or first: server.py mirror pubmed")
        citing = yield from self._joined(_spans_of(self.folder, collection, generation), "joining")
        turned = yield from self._joined(_turned(self.folder, citing), "turning")
        tables = Tables(self.folder)
        before = tables.current()
        made = _table(self.folder, collection, generation, citing, turned)
        if before is None or before.name != made.name:
            tables.publish(made)
            self._go_on(changed=True)
        _tidy(self.folder, tables, collection)
        yield self._go_on(step="done", table=tables.current())

    def _collection(self) -> Steps[Collection | None]:
        """NIH's newest table, read; else the one that is here."""
        known = _known_collections(self.folder)
        try:
            snapshot = newest_snapshot(self.web)
        except (Unreachable, NotAvailable) as error:
            down = isinstance(error, Unreachable)
            return self._instead(known, error.message, unreachable=down)
        here = next((one for one in known if one.md5 == snapshot.md5), None)
        if here is None:
            try:
                here = yield from self._read(snapshot)
            except (Unreachable, NotAvailable, BadContent) as error:
                down = isinstance(error, Unreachable)
                return self._instead(known, error.message, unreachable=down)
        if here.reason:
            reason = f"NIH's collection of {here.published} is set aside: {here.reason}"
            return self._instead([one for one in known if one is not here], reason)
        return here

    def _instead(
        self, known: Sequence[Collection], why: str, *, unreachable: bool = False
    ) -> Collection | None:
        usable = [one for one in known if not one.reason]
        has = f"that of {usable[-1].published} is used" if usable else "there is none here yet"
        note = f"NIH's newest collection could not be had, {has}: {why}"
        self._go_on(notes=(*self.progress.notes, note), unreachable=unreachable)
        return usable[-1] if usable else None

    def _read(self, snapshot: Snapshot) -> Steps[Collection]:
        """Fetch a snapshot and make parts of it."""
        path = self.folder / "source" / "citations" / f"{snapshot.published}-{snapshot.md5}.zip"
        safe_files.make_folder(path.parent)
        if not path.exists():
            for size in fetch_snapshot(snapshot, path, self.web):
                yield self._go_on(step="fetching", done=size, total=snapshot.size)
        made: dict[int, Made] = {}
        try:
            slices = _slices(path, self.folder, snapshot.md5)
            for one in self.run(read_slice, slices):
                result = _result(one)
                if isinstance(one, Lost):
                    raise NotAvailable(f"Stretch {result.key}: {result.reason}.")
                made[result.key] = result
                safe_files.remove(_stretch(self.folder, snapshot.md5, result.key))
                yield self._go_on(step="reading", done=len(made), total=0)
        except BadContent as error:  # of the ZIP
            made[-1] = Made(-1, reason=error.message)
        parts = [made[key] for key in sorted(made)]
        reasons = [one.reason for one in parts if one.reason]
        collection = Collection(
            snapshot.published,
            snapshot.md5,
            sum(one.edges for one in parts),
            () if reasons else tuple(one.digest for one in parts),
            reasons[0] if reasons else "",
        )
        _note_collection(self.folder, collection)
        if not self.keep or reasons:
            safe_files.remove(path)
        return collection

    def _joined(self, spans: Sequence[Span], step: str) -> Steps[_Joined]:
        """Put spans together; the result and its file by the first PMID."""
        jobs, results = {span.first: span for span in spans}, _Joined()
        yield self._go_on(step=step, done=0, total=len(spans))
        for one in self.run(join_span, iter(spans)) if spans else ():
            made = _result(one)
            if made.reason:
                raise EmptyStore(f"PMIDs from {made.key:,} on: {made.reason}", "Run it again.")
            results[made.key] = (jobs[made.key], made)
            yield self._go_on(done=len(results))
        return results

    def _go_on(self, **facts: Any) -> CitationsProgress:
        seconds = time.monotonic() - self.began
        self.progress = replace(self.progress, **facts, seconds=seconds)
        return self.progress


def _result(one: Made | Lost[Slice] | Lost[Span]) -> Made:
    """What was made of a job, also of one that is lost."""
    if isinstance(one, Made):
        return one
    key = one.job.number if isinstance(one.job, Slice) else one.job.first
    return Made(key, reason=one.reason)


# NIH's table, in stretches


def _slices(path: Path, folder: Path, md5: str) -> Iterator[Slice]:
    """The stretches of the table in a ZIP: written as they are asked for, read, and deleted."""
    try:
        with zipfile.ZipFile(path) as packed, packed.open(TABLE) as table:
            head = table.readline(1000).decode("utf-8-sig", "replace")
            columns = tuple(name.strip().strip('"') for name in head.split(","))
            if columns != HEADER:
                msg = f"Its columns are {head.strip()[:80]!r}, not {', '.join(HEADER)}."
                raise BadContent(msg, verdict="not_a_paper")
            size = 0
            for number, text in enumerate(_stretches(table)):
                size += len(text)
                if size > MOST_BYTES:
                    raise BadContent("It unpacks to more than 100 GB.", verdict="not_a_paper")
                part = slice_part(folder, md5, number)
                stretch = _stretch(folder, md5, number)
                if not part.exists():
                    safe_files.write_whole(stretch, text)
                yield Slice(str(stretch), str(part), number)
    except (zipfile.BadZipFile, KeyError, EOFError, NotImplementedError) as error:
        msg = f"It is no ZIP with {TABLE}: {error}"
        raise BadContent(msg, verdict="not_a_paper") from None


def _stretches(table: Any) -> Iterator[bytes]:
    """Whole lines, some 128 MiB at a time: the same ones whoever reads them."""
    while text := table.read(_SLICE):
        yield text + table.readline(1000)


def slice_part(folder: Path, md5: str, number: int) -> Path:
    """The part of a stretch."""
    return folder / "part" / "citations" / "nih" / f"{md5}-{number:04}-e{EDGES}.parquet"


def _stretch(folder: Path, md5: str, number: int) -> Path:
    return folder / "source" / "citations" / f"{md5}-{number:04}.csv"


def _note_collection(folder: Path, collection: Collection) -> None:
    """Write down that a collection is read to its end, or why it cannot be."""
    place = folder / "part" / "citations" / "nih"
    safe_files.make_folder(place)
    facts = {name: getattr(collection, name) for name in ("published", "md5", "edges", "digests")}
    text = json.dumps({**facts, "reason": collection.reason})
    safe_files.write_whole(place / f"{collection.md5}-e{EDGES}.json", text.encode())


def _known_collections(folder: Path) -> list[Collection]:
    """Those that are here, as today's program makes them, the newest last."""
    found = []
    for path in (folder / "part" / "citations" / "nih").glob(f"*-e{EDGES}.json"):
        with safe_files.disk(path, "read"):
            facts = json.loads(path.read_text())
        one = Collection(**{**facts, "digests": tuple(facts["digests"])})
        parts = [slice_part(folder, one.md5, number) for number in range(len(one.digests))]
        if all(part.exists() for part in parts):
            found.append(one)
    return sorted(found, key=lambda one: one.published)


# Spans


def _spans_of(
    folder: Path, collection: Collection | None, generation: Generation | None
) -> list[Span]:
    """The spans of all that cites."""
    nih = [slice_part(folder, collection.md5, n) for n in range(len(collection.digests))
           ] if collection else []  # fmt: skip
    said, live, files = collection.md5 if collection else "", "", dict[int, SourceFile]()
    if generation:
        generations = Generations(folder, "pubmed")
        live = str(generations.folder / generation.name / "live.parquet")
        files = {file.order: file for file in generations.files(generation)}
    ends = [_last(path, "citing") for path in nih]
    ends += [_last(Path(live), "pmid")] if live else []
    made = []
    for first in range(0, max(ends) + 1, SPAN):
        records: list[tuple[int, str]] = []
        facts = [said]
        if live:
            rows = live_in(Path(live), first)
            orders = sorted({int(order) for order in rows["sequence"]})
            records = [(order, str(files[order].part(folder))) for order in orders]
            facts += [files[order].digest for order in orders]
            facts += [named_after(rows[name].tobytes().hex()) for name in sorted(rows)]
        name = f"{first // SPAN:04}-{named_after(*facts)}.parquet"
        place = folder / "part" / "citations"
        made.append(
            Span(
                first, "citing", tuple(map(str, nih)), str(place / "citing" / name),
                str(place / "turned" / name), live, tuple(records),
            )
        )  # fmt: skip
    return made


def _turned(folder: Path, citing: _Joined) -> list[Span]:
    """The spans of all that is cited."""
    parts = tuple(span.turned for _, (span, made) in sorted(citing.items()) if made.edges)
    facts = [Path(part).name for part in parts]
    end = max((_last(Path(part), "cited") for part in parts), default=0)
    place = folder / "part" / "citations" / "cited"
    name = named_after(*facts)
    return [
        Span(first, "cited", parts, str(place / f"{first // SPAN:04}-{name}.parquet"))
        for first in range(0, end + 1, SPAN)
    ]


def _last(path: Path, column: str) -> int:
    """The highest number in a column; 0 where the file is empty."""
    from pyarrow import parquet

    from .edges import readable

    with readable(path), parquet.ParquetFile(path) as file:
        at = file.schema_arrow.get_field_index(column)
        groups = (file.metadata.row_group(n) for n in range(file.metadata.num_row_groups))
        return max((int(group.column(at).statistics.max) for group in groups), default=0)


# What is published


def _table(
    folder: Path,
    collection: Collection | None,
    generation: Generation | None,
    citing: _Joined,
    cited: _Joined,
) -> CitationTable:
    """The table as it will be published; the same parts give the same name."""
    spans = [sorted((key, Path(span.sorted).name, made) for key, (span, made) in some.items())
             for some in (citing, cited)]  # fmt: skip
    digest = named_after(*(f"{name} {made.digest}" for some in spans for _, name, made in some))
    counts = [sum(made.by_source[at] for *_, made in spans[0]) for at in (0, 1)]
    day, of = collection.published if collection else "", generation.name if generation else ""
    begins = "+".join(filter(None, (day, of.partition("-")[0])))
    return CitationTable(
        name=f"{begins}-{digest[:12]}",
        collection=day,
        pubmed=of,
        edges=sum(made.edges for *_, made in spans[0]),
        nih_occ=counts[0],
        records=counts[1],
        citing={str(key): name for key, name, made in spans[0] if made.edges},
        cited={str(key): name for key, name, made in spans[1] if made.edges},
        digest=digest,
        made_at=now(),
    )


def _tidy(folder: Path, tables: Tables, collection: Collection | None) -> None:
    """Drop what neither the published table nor the one before needs."""
    kept = tables.tidy()
    needed = {name for one in kept for name in (*one.citing.values(), *one.cited.values())}
    place = folder / "part" / "citations"
    for kind in ("citing", "turned", "cited"):
        for path in (place / kind).glob("*.parquet"):
            if path.name not in needed:
                safe_files.remove(path)
    days = {one.collection for one in kept}
    for one in _known_collections(folder):
        if collection and one.published < collection.published and one.published not in days:
            for number in range(len(one.digests)):
                safe_files.remove(slice_part(folder, one.md5, number))
            safe_files.remove(place / "nih" / f"{one.md5}-e{EDGES}.json")
