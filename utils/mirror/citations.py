"""Who cites whom, of all PubMed: NIH's Open Citation Collection and the records' own references.

One table of edges, in two orders, a file a span of PMIDs. What is made is named after what it is
made of: what was killed goes on, what has not changed stays, and whoever makes it again writes the
same bytes. The table that is published is named by one pointer, as a generation of records is.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from ..errors import BadContent, EmptyStore, NotAvailable, Unreachable
from ..model.paper import now
from ..sources.citation_collection import Snapshot, fetch_snapshot, newest_snapshot
from ..system import safe_files
from .citation_files import (
    Collection,
    cited_spans,
    citing_spans,
    forget_collection,
    home,
    known_collections,
    note_collection,
    slice_parts,
    slices,
    stretch_of,
    tidy_sources,
    zip_of,
)
from .edges import Made, Slice, Span, join_span, named_after, read_slice
from .engines import Lost, Run
from .generations import Generation, Generations
from .graph import CitationTable, Tables
from .locks import alone

if TYPE_CHECKING:
    from ..http import Web

_ENOUGH = 1_000_000  # edges, before this machine's own rate counts
PLACES = ("nih", "citing", "turned", "cited")
Joined: TypeAlias = dict[int, tuple[Span, Made]]
"""Spans and what was made of each, by their first PMID."""
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
        for place in PLACES:
            safe_files.sweep(home(folder) / place)
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
    handled: int = 0
    cpu: float = 0.0

    def steps(self) -> Iterator[CitationsProgress]:
        """Fetch, read, put together, turn, publish."""
        yield self._go_on()
        collection = yield from self._collection()
        generation = Generations(self.folder, "pubmed").current()
        if collection is None and generation is None:
            said = " ".join(self.progress.notes) or "There are no citations to put together."
            raise EmptyStore(said, "Run it again, or first: server.py mirror pubmed")
        parts = slice_parts(collection, home(self.folder)) if collection else []
        spans = citing_spans(self.folder, parts, collection, generation, home(self.folder))
        citing = yield from self._joined(spans, "joining")
        spans = cited_spans(turned_of(citing), home(self.folder))
        turned = yield from self._joined(spans, "turning")
        tables = Tables(self.folder)
        before = tables.current()
        made = table_of(collection, generation, citing, turned)
        if before is None or replace(before, made_at=made.made_at, rate=0.0) != made:
            tables.publish(replace(made, rate=self._rate(before)))
            self._go_on(changed=True)
        _tidy(self.folder, tables, collection)
        yield self._go_on(step="done", table=tables.current())

    def _collection(self) -> Steps[Collection | None]:
        """NIH's newest table, read; else the one that is here."""
        known = known_collections(self.folder)
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
        path = zip_of(self.folder, snapshot.published, snapshot.md5)
        safe_files.make_folder(path.parent)
        if not path.exists():
            for size in fetch_snapshot(snapshot, path, self.web):
                yield self._go_on(step="fetching", done=size, total=snapshot.size)
        made: dict[int, Made] = {}
        try:
            jobs = slices(path, snapshot.md5, path.parent, home(self.folder))
            for one in self.run(read_slice, jobs):
                result = self._take(one)
                if isinstance(one, Lost):
                    raise NotAvailable(f"Stretch {result.key}: {result.reason}.")
                made[result.key] = result
                safe_files.remove(stretch_of(path.parent, snapshot.md5, result.key))
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
        note_collection(self.folder, collection)
        if not self.keep or reasons:
            safe_files.remove(path)
        return collection

    def _joined(self, spans: Sequence[Span], step: str) -> Steps[Joined]:
        """Put spans together; the result and its file by the first PMID."""
        jobs, results = {span.first: span for span in spans}, Joined()
        yield self._go_on(step=step, done=0, total=len(spans))
        for one in self.run(join_span, iter(spans)) if spans else ():
            made = self._take(one)
            if made.reason:
                raise EmptyStore(f"PMIDs from {made.key:,} on: {made.reason}", "Run it again.")
            results[made.key] = (jobs[made.key], made)
            yield self._go_on(done=len(results))
        return results

    def _take(self, one: Made | Lost[Slice] | Lost[Span]) -> Made:
        """What was made of a job; what it took counts."""
        made = result_of(one)
        if made.cpu:
            self.handled, self.cpu = self.handled + made.edges, self.cpu + made.cpu
        return made

    def _rate(self, before: CitationTable | None) -> float:
        """Edges a second of one core, in this run; where it made few, in the one before."""
        if self.cpu and self.handled >= _ENOUGH:
            return round(self.handled / self.cpu)
        return before.rate if before else 0.0

    def _go_on(self, **facts: Any) -> CitationsProgress:
        seconds = time.monotonic() - self.began
        self.progress = replace(self.progress, **facts, seconds=seconds)
        return self.progress


def result_of(one: Made | Lost[Slice] | Lost[Span]) -> Made:
    """What was made of a job, also of one that is lost."""
    if isinstance(one, Made):
        return one
    key = one.job.number if isinstance(one.job, Slice) else one.job.first
    return Made(key, reason=one.reason)


# What is published


def turned_of(citing: Joined) -> list[Path]:
    """The turned files of who cites; those without an edge do not count."""
    return [Path(span.turned) for _, (span, made) in sorted(citing.items()) if made.edges]


def table_of(
    collection: Collection | None,
    generation: Generation | None,
    citing: Joined,
    cited: Joined,
) -> CitationTable:
    """The table as it will be published; the same edges of the same sources give the same name."""
    spans = [
        sorted((key, Path(span.sorted).name, made) for key, (span, made) in some.items()
               if made.edges)
        for some in (citing, cited)
    ]  # fmt: skip
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
        citing={str(key): name for key, name, _ in spans[0]},
        cited={str(key): name for key, name, _ in spans[1]},
        digest=digest,
        made_at=now(),
    )


def _tidy(folder: Path, tables: Tables, collection: Collection | None) -> None:
    """Drop what neither the published table nor the one before needs."""
    kept = tables.tidy()
    needed = {name for one in kept for name in (*one.citing.values(), *one.cited.values())}
    for kind in ("citing", "turned", "cited"):
        for path in (home(folder) / kind).glob("*.parquet"):
            if path.name not in needed:
                safe_files.remove(path)
    days = {one.collection for one in kept}
    for one in known_collections(folder):
        if collection and one.published < collection.published and one.published not in days:
            forget_collection(folder, one)
    tidy_sources(folder, collection)
