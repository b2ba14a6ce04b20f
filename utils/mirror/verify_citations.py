"""A table of citations that proves itself: its files made again from their sources, and compared.

NIH's table is read again from its ZIP, which is fetched once more where it was not kept. PubMed's
records are taken as they lie here: that they are what their files say proves `verify`.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import BadContent, NotAvailable, NotFound, Unreachable
from ..sources.citation_collection import fetch_snapshot, md5_of, snapshot_of
from ..system import safe_files
from .citation_files import (
    Collection,
    cited_spans,
    citing_spans,
    home,
    noted_collections,
    slice_part,
    slices,
    stretch_of,
    zip_of,
)
from .citations import Joined, result_of, table_of
from .edges import SPAN, Made, Span, join_span, read_slice
from .generations import Generation, Generations
from .graph import Citations, CitationTable
from .parts import digest_of
from .verify import Verified, same_rows

if TYPE_CHECKING:
    from ..http import Web
    from .edges import End
    from .engines import Run

_AGAIN = "run `mirror citations` to make it again"


def verify_citations(
    folder: Path, web: Web, run: Run, say: Callable[[str], None]
) -> Iterator[Verified]:
    """Compare the published table with what its sources say; each file, then the whole.

    Parameters
    ----------
    folder, web, run
        As for `.citations.update`.
    say : callable
        Is told of what takes long.

    Raises
    ------
    EmptyStore
        There is no table yet.
    NotFound
        The generation of records that it is made of, or the word on NIH's collection, is gone.
    """
    table = Citations(folder).table
    with tempfile.TemporaryDirectory(dir=folder, prefix=".verify-") as place:
        yield from _Verification(folder, Path(place), web, run, say, table).steps()


@dataclass(slots=True)
class _Verification:
    """One table; what is made again lies in ``place``, as long as it is needed."""

    folder: Path
    place: Path
    web: Web
    run: Run
    say: Callable[[str], None]
    table: CitationTable
    home: Path = field(init=False)

    def __post_init__(self) -> None:
        self.home = home(self.folder)

    def steps(self) -> Iterator[Verified]:
        """NIH's stretches, who cites, who is cited, the whole."""
        generation, collection = self._generation(), self._collection()
        parts: list[Path] = []
        if collection:
            parts = yield from self._parts(collection)
        spans = citing_spans(self.folder, parts, collection, generation, self.place)
        citing = yield from self._spans(spans, "citing")
        turned = [
            self._best(Path(span.turned), self.home / "turned" / Path(span.turned).name)
            for _, (span, made) in sorted(citing.items())
            if made.edges
        ]
        cited = yield from self._spans(cited_spans(turned, self.place), "cited")
        yield self._whole(table_of(collection, generation, citing, cited))

    def _generation(self) -> Generation | None:
        """The generation of records that the table is made of."""
        if not self.table.pubmed:
            return None
        try:
            return Generations(self.folder, "pubmed").read(self.table.pubmed)
        except NotFound:
            msg = f"The table is made of PubMed's generation {self.table.pubmed}, which is gone."
            hint = (
                "Make it of the one that is published, then verify it: server.py mirror citations"
            )
            raise NotFound(msg, hint) from None

    def _collection(self) -> Collection | None:
        """NIH's collection that the table is made of."""
        day = self.table.collection
        if not day:
            return None
        noted = (one for one in noted_collections(self.folder) if not one.reason)
        for one in noted:
            if one.published == day:
                return one
        msg = f"What was written down of NIH's collection of {day} is gone."
        raise NotFound(msg, "Make it again, then verify it: server.py mirror citations")

    def _parts(self, collection: Collection) -> Generator[Verified, None, list[Path]]:
        """Read NIH's table again; the parts that are sound, of here or made again."""
        here = [slice_part(self.home, collection.md5, at) for at in range(len(collection.digests))]
        name = zip_of(self.folder, collection.published, collection.md5).name
        try:
            path = self._zip(collection)
            jobs, read = slices(path, collection.md5, self.place, self.place), 0
            for one in self.run(read_slice, jobs):
                made = result_of(one)
                safe_files.remove(stretch_of(self.place, collection.md5, made.key))
                part = slice_part(self.home, collection.md5, made.key)
                yield self._compared(part, slice_part(self.place, collection.md5, made.key), made)
                read += 1
            if read != len(here):
                fault = f"it has {read:,} stretches, not {len(here):,}"
                yield Verified(f"NIH's {name}", (fault,))
        except (Unreachable, NotAvailable, BadContent) as error:
            fault = "it could not be had, so its parts are held against their digests alone: "
            yield Verified(f"NIH's {name}", (f"{fault}{error.message}",))
            for part, digest in zip(here, collection.digests, strict=True):
                yield Verified(_name_of(part), tuple(_damage(part, digest)))
        return [self._best(self.place / part.relative_to(self.home), part) for part in here]

    def _zip(self, collection: Collection) -> Path:
        """NIH's ZIP: the one that was kept, else fetched again."""
        kept = zip_of(self.folder, collection.published, collection.md5)
        if kept.exists():
            if md5_of(kept) == collection.md5:
                return kept
            self.say(f"{kept} is damaged: delete it. Another is fetched.")
        snapshot = snapshot_of(self.web, collection.published, collection.md5)
        self.say(f"NIH's ZIP of {snapshot.published} ({snapshot.size / 1e6:,.0f} MB) is fetched …")
        path = self.place / kept.name
        for _ in fetch_snapshot(snapshot, path, self.web):
            pass
        return path

    def _spans(self, spans: Sequence[Span], by: End) -> Generator[Verified, None, Joined]:
        """Put spans together again, and compare them."""
        jobs, joined = {span.first: span for span in spans}, Joined()
        names = dict(getattr(self.table, by))
        for one in self.run(join_span, iter(spans)) if spans else ():
            made = result_of(one)
            span, name = jobs[made.key], names.pop(str(made.key), "")
            if made.edges or name or made.reason:
                verified = self._span(span, name, made)
                yield verified
                if not verified.faults:  # other libraries may write the same rows as other bytes
                    made = replace(made, digest=digest_of(self.home / by / name))
            joined[made.key] = (span, made)
        for first, name in names.items():
            yield Verified(f"{by}/{name}", (f"no source has PMIDs from {int(first):,} on",))
        return joined

    def _span(self, span: Span, name: str, made: Made) -> Verified:
        """What is wrong with the files of a span."""
        again = Path(span.sorted)
        if not name or not made.edges:
            pmids = f"PMIDs {span.first:,} to {span.first + SPAN - 1:,}"
            of = "its sources have none" if name else "the table has none of them"
            return Verified(f"{span.by}/{name or again.name}", (f"edges of {pmids}: {of}",))
        found = self._compared(self.home / span.by / name, again, made)
        faults = list(found.faults)
        if name != again.name:
            faults.append(f"after its sources it would be {again.name}: {_AGAIN}")
        if span.turned:
            turned = Path(span.turned)
            faults += self._compared(self.home / "turned" / turned.name, turned, made).faults
        return replace(found, faults=tuple(faults))

    def _compared(self, path: Path, again: Path, made: Made) -> Verified:
        """A file beside the same one made again, which stays where they differ."""
        name = _name_of(path)
        if made.reason:
            return Verified(name, (f"it cannot be made again: {made.reason}",))
        if not path.exists():
            return Verified(name, (f"{name} is gone: {_AGAIN}",), made.edges)
        if not same_rows(path, again):
            fault = f"{name} is damaged, or not what its sources say: delete it, and {_AGAIN}"
            return Verified(name, (fault,), made.edges)
        safe_files.remove(again)
        return Verified(name, (), made.edges)

    @staticmethod
    def _best(again: Path, path: Path) -> Path:
        """The file that was made again, where it is another than the one here."""
        return again if again.exists() else path

    def _whole(self, again: CitationTable) -> Verified:
        """Whether the table says what follows from its files."""
        faults = [
            f"{what}: {getattr(again, name):,}, not {getattr(self.table, name):,}"
            for name, what in (("edges", "edges"), ("nih_occ", "of NIH"), ("records", "of records"))
            if getattr(again, name) != getattr(self.table, name)
        ]
        if again.digest != self.table.digest:
            faults.append(f"its digest is {again.digest}, not {self.table.digest}: {_AGAIN}")
        return Verified(self.table.name, tuple(faults), again.edges)


def _name_of(path: Path) -> str:
    return f"{path.parent.name}/{path.name}"


def _damage(part: Path, digest: str) -> Iterator[str]:
    """What is wrong with a part by the digest that was written down when it was made."""
    if not part.exists():
        yield f"{_name_of(part)} is gone: {_AGAIN}"
    elif digest_of(part) != digest:
        yield f"{_name_of(part)} is damaged: delete it, and {_AGAIN}"
