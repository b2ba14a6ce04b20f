"""The files of a table of citations: of what each is made, and how it is called after that.

NIH's table is read in stretches, a part each; of these and of PubMed's records the spans of who
cites are put together; these, turned, make the spans of who is cited.
"""

from __future__ import annotations

import json
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ..errors import BadContent
from ..sources.citation_collection import HEADER, MOST_BYTES, TABLE
from ..system import safe_files
from .edges import EDGES, SPAN, Slice, Span, live_in, named_after, readable
from .generations import Generation, Generations
from .manifest import SourceFile

_SLICE = 1 << 27  # bytes of NIH's table: some seven million lines
_NO_ZIP = (zipfile.BadZipFile, zlib.error, KeyError, EOFError, NotImplementedError)


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


def home(folder: Path) -> Path:
    """Where the files of a mirror's table lie: ``nih/``, ``citing/``, ``turned/``, ``cited/``."""
    return folder / "part" / "citations"


def source_folder(folder: Path) -> Path:
    """Where NIH's ZIP lies, and its stretches while they are read."""
    return folder / "source" / "citations"


def zip_of(folder: Path, published: str, md5: str) -> Path:
    """NIH's ZIP, if it was kept."""
    return source_folder(folder) / f"{published}-{md5}.zip"


# NIH's table, in stretches


def slices(path: Path, md5: str, stretches: Path, place: Path) -> Iterator[Slice]:
    """The stretches of the table in a ZIP: written as they are asked for, read, and deleted.

    Raises
    ------
    BadContent
        It is no such ZIP.
    """
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
                part, stretch = slice_part(place, md5, number), stretch_of(stretches, md5, number)
                if not part.exists():
                    safe_files.write_whole(stretch, text)
                yield Slice(str(stretch), str(part), number)
    except _NO_ZIP as error:
        msg = f"It is no ZIP with {TABLE}: {error}"
        raise BadContent(msg, verdict="not_a_paper") from None


def _stretches(table: Any) -> Iterator[bytes]:
    """Whole lines, some 128 MiB at a time: the same ones whoever reads them."""
    while text := table.read(_SLICE):
        yield text + table.readline(1000)


def stretch_of(stretches: Path, md5: str, number: int) -> Path:
    """Where the lines of a stretch lie while they are read."""
    return stretches / f"{md5}-{number:04}.csv"


def slice_part(place: Path, md5: str, number: int) -> Path:
    """The part of a stretch."""
    return place / "nih" / f"{md5}-{number:04}-e{EDGES}.parquet"


def slice_parts(collection: Collection, place: Path) -> list[Path]:
    """The parts of a collection."""
    return [slice_part(place, collection.md5, at) for at in range(len(collection.digests))]


def note_collection(folder: Path, collection: Collection) -> None:
    """Write down that a collection is read to its end, or why it cannot be."""
    place = home(folder) / "nih"
    safe_files.make_folder(place)
    safe_files.write_whole(_note_of(folder, collection), json.dumps(asdict(collection)).encode())


def forget_collection(folder: Path, collection: Collection) -> None:
    """Drop the parts of a collection, and what is written down of it."""
    for path in (_note_of(folder, collection), *slice_parts(collection, home(folder))):
        safe_files.remove(path)


def _note_of(folder: Path, collection: Collection) -> Path:
    return home(folder) / "nih" / f"{collection.md5}-e{EDGES}.json"


def noted_collections(folder: Path) -> list[Collection]:
    """Those that were read, as today's program reads them, the newest last."""
    found = []
    for path in (home(folder) / "nih").glob(f"*-e{EDGES}.json"):
        with safe_files.disk(path, "read"):
            facts = json.loads(path.read_text(encoding="utf-8"))
        found.append(Collection(**{**facts, "digests": tuple(facts["digests"])}))
    return sorted(found, key=lambda one: one.published)


def known_collections(folder: Path) -> list[Collection]:
    """Those of which all parts are here, or that are set aside, the newest last."""
    place = home(folder)
    return [
        one
        for one in noted_collections(folder)
        if all(part.exists() for part in slice_parts(one, place))
    ]


def tidy_sources(folder: Path, collection: Collection | None) -> None:
    """Drop what runs that were killed left of stretches, and of fetching collections before."""
    day = collection.published if collection else ""
    for path in source_folder(folder).glob("*.csv"):
        safe_files.remove(path)
    for path in source_folder(folder).glob(".*.fetched"):
        if path.name[1:] < day:  # what came of a newer one is gone on with
            safe_files.remove(path)


# Spans


def citing_spans(
    folder: Path,
    parts: Sequence[Path],
    collection: Collection | None,
    generation: Generation | None,
    place: Path,
) -> list[Span]:
    """The spans of all that cites, of a collection's *parts* and the records that count."""
    live, files = "", dict[int, SourceFile]()
    if generation:
        generations = Generations(folder, "pubmed")
        live = str(generations.folder / generation.name / "live.parquet")
        files = {file.order: file for file in generations.files(generation)}
    ends = [_last(path, "citing") for path in parts]
    ends += [_last(Path(live), "pmid")] if live else []
    made = []
    for first in range(0, max(ends) + 1, SPAN):
        records: list[tuple[int, str]] = []
        facts = [collection.md5 if collection else ""]
        if live:
            rows = live_in(Path(live), first)
            orders = sorted({int(order) for order in rows["sequence"]})
            records = [(order, str(files[order].part(folder))) for order in orders]
            facts += [files[order].digest for order in orders]
            facts += [named_after(rows[name].tobytes().hex()) for name in sorted(rows)]
        name = f"{first // SPAN:04}-{named_after(*facts)}.parquet"
        made.append(
            Span(
                first, "citing", tuple(map(str, parts)), str(place / "citing" / name),
                str(place / "turned" / name), live, tuple(records),
            )
        )  # fmt: skip
    return made


def cited_spans(turned: Sequence[Path], place: Path) -> list[Span]:
    """The spans of all that is cited, of the files of who cites that are turned."""
    name = named_after(*(path.name for path in turned))
    end = max((_last(path, "cited") for path in turned), default=0)
    parts = tuple(map(str, turned))
    return [
        Span(first, "cited", parts, str(place / "cited" / f"{first // SPAN:04}-{name}.parquet"))
        for first in range(0, end + 1, SPAN)
    ]


def _last(path: Path, column: str) -> int:
    """The highest number in a column; 0 where the file is empty."""
    from pyarrow import parquet

    with readable(path), parquet.ParquetFile(path) as file:
        at = file.schema_arrow.get_field_index(column)
        groups = (file.metadata.row_group(n) for n in range(file.metadata.num_row_groups))
        return max((int(group.column(at).statistics.max) for group in groups), default=0)
