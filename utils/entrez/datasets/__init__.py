"""Datasets: large results stored as tables, to be queried in SQL instead of read."""

from __future__ import annotations

import filecmp
import json
import re
import secrets
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from ...errors import BadRequest
from ...model.tabular import ResultList
from ...system import safe_files
from ...system.keyword_options import accept_former_options, reject_wrong_options
from ...system.plain_text import one_line, shorten

if TYPE_CHECKING:
    from .export import ExportedFile
    from .listing import DatasetInfo
    from .schema import DatasetSchema
    from .sql_query import SqlResultPage
    from .tables import StagingNotes
    from .trees import PageForm, RawRecordPage

DIRECT_CHARS = 4000
"""Characters of JSON up to which a staged result is also returned whole."""

_DIRECT_ROWS = 200
_EXPORT_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}\.(csv|parquet)")


class PageSource(Protocol):
    """An iterable of pages of records, with the warnings about these pages.

    ``not_found`` and ``warnings`` are complete when the last page has come.
    """

    database: str
    form: PageForm
    made_by: str
    not_found: Any  # of objects with an ``id``
    warnings: list[str]

    def __iter__(self) -> Iterator[RawRecordPage]: ...


@dataclass(frozen=True, slots=True)
class StagedDataset:
    """A result that was staged as a dataset.

    ``tables`` gives row counts, the table of the records first. ``contents`` has all rows of all
    tables if they fit into `DIRECT_CHARS`, and is None otherwise. ``not_found`` lists identifiers
    without a record; ``expires`` is the time of deletion unless the dataset is used before.
    """

    dataset: str
    database: str
    title: str
    records: int
    tables: Mapping[str, int]
    contents: Mapping[str, list[dict[str, Any]]] | None
    not_found: tuple[str, ...]
    warnings: tuple[str, ...]
    size: int
    expires: str


@reject_wrong_options()
class Datasets:
    """The datasets of a shelf: large results that are queried in SQL.

    Parameters
    ----------
    folder : Path
        The folder of the datasets' files; created by the first `stage`.
    exports : Path
        The folder of exports that have a bare name.
    """

    def __init__(self, folder: Path, exports: Path) -> None:
        self.folder = folder
        self.exports = exports

    def stage(self, pages: PageSource) -> StagedDataset:
        """Build a dataset from *pages*, and delete datasets that were not used for a long time.

        Raises
        ------
        EntrezFailed, Unreachable, BadContent
            An answer is missing or broken: no dataset is made.
        StoreFailed
            The disk refuses.
        """
        from ...system.process import get_version
        from .building import build_dataset
        from .listing import KEEP_DAYS, delete_expired_datasets, format_utc_time
        from .tables import StagingNotes

        safe_files.make_folder(self.folder)
        delete_expired_datasets(self.folder)
        name = f"{pages.database}_{secrets.token_hex(4)}"
        now = time.time()
        about = {
            "id": name,
            "database": pages.database,
            "title": pages.made_by,
            "form": pages.form,
            "created": format_utc_time(now),
            "expires": (expires := format_utc_time(now + KEEP_DAYS * 86_400)),
            "papershelf": get_version(),
        }
        notes = StagingNotes()
        built = build_dataset(
            _iterate_pages_with_notes(pages, notes), self.folder / f"{name}.db", about, notes
        )
        return StagedDataset(
            name, pages.database, pages.made_by, built.records, built.tables,
            _read_rows_if_few(built.file, built.tables), built.not_found, built.warnings,
            built.size, expires,
        )  # fmt: skip

    def schema(self, dataset: str) -> DatasetSchema:
        """Return tables, columns, relations and example statements; see `.schema.read_schema`."""
        from .schema import read_schema

        return read_schema(self._find_dataset_file(dataset))

    @accept_former_options(max_rows="max_results")
    def query(
        self,
        dataset: str,
        sql: str,
        *,
        start: int = 0,
        max_results: int = 100,
        max_chars: int = 20_000,
        seconds: float = 2.0,
    ) -> SqlResultPage:
        """Return one page of rows of a read-only statement; see `.sql_query.run_query`."""
        from .sql_query import run_query

        return run_query(
            *(self._find_dataset_file(dataset), sql),
            start=start,
            max_results=max_results,
            max_chars=max_chars,
            seconds=seconds,
        )

    def list(self) -> ResultList[DatasetInfo]:
        """Return every dataset, last used first."""
        from .listing import DatasetInfo, list_datasets

        columns = tuple(one.name for one in fields(DatasetInfo))
        return ResultList(list_datasets(self.folder), columns, asdict)

    @accept_former_options(target="output")
    def export(self, dataset: str, sql: str, output: str | Path) -> ExportedFile:
        """Write all rows of a statement to a CSV or Parquet file; see `.export.export_rows`.

        If *target* is text, it is a bare name in the folder of exports, where no file is replaced.

        Raises
        ------
        BadRequest
            The name is invalid or taken by another file, or the statement is wrong.
        NotConfigured
            Parquet needs a package that is not installed.
        """
        from .export import export_rows

        if isinstance(output, Path):
            return export_rows(
                self._find_dataset_file(dataset), sql, output, _get_export_format(output)
            )
        path = self._build_export_path(output)
        safe_files.delete_stale_temporary_files(self.exports)
        draft = safe_files.build_part_path(path)
        made = export_rows(self._find_dataset_file(dataset), sql, draft, _get_export_format(path))
        _move_draft_into_place(draft, path)
        return replace(made, file=path)

    def forget(self, dataset: str) -> int:
        """Delete a dataset, and return the number of bytes freed."""
        from .listing import delete_dataset

        return delete_dataset(self.folder, dataset)

    def _find_dataset_file(self, dataset: str) -> Path:
        from .listing import find_dataset_file

        return find_dataset_file(self.folder, dataset)

    def _build_export_path(self, name: str) -> Path:
        if not _EXPORT_NAME.fullmatch(name) or safe_files.is_device_name(name):
            msg = f"{shorten(one_line(name), 60)!r} is not a valid name for an export."
            raise BadRequest(msg, "Give a name without folders, such as genes.csv.")
        return self.exports / name


def _move_draft_into_place(draft: Path, path: Path) -> None:
    """Move the draft to its final name; an identical existing file is not an error."""
    with safe_files.disk_errors(path):
        if not path.exists():
            draft.replace(path)
            return
        same = filecmp.cmp(draft, path, shallow=False)
        draft.unlink()
    if not same:
        msg = f"{path.name} exists already, with other content."
        raise BadRequest(msg, "Choose another name.")


def _get_export_format(path: Path) -> Literal["csv", "parquet"]:
    ending = path.suffix.lower()
    if ending not in (".csv", ".parquet"):
        msg = f"{shorten(path.name, 60)!r} has no known format."
        raise BadRequest(msg, "Give a name that ends in .csv or .parquet.")
    return "csv" if ending == ".csv" else "parquet"


def _iterate_pages_with_notes(pages: PageSource, notes: StagingNotes) -> Iterator[RawRecordPage]:
    """Yield the pages; after the last page, add missing records and warnings to *notes*."""
    yield from pages
    for one in pages.not_found:
        notes.add_missing_id(one.id)
    for words in pages.warnings:
        notes.add_warning(words)


def _read_rows_if_few(
    file: Path, tables: Mapping[str, int]
) -> dict[str, list[dict[str, Any]]] | None:
    """Return all rows of all tables, or None if there are too many."""
    from .sql_query import run_query
    from .tables import quote_sql_name

    if sum(tables.values()) > _DIRECT_ROWS:
        return None
    contents, room = {}, DIRECT_CHARS
    for table in tables:
        page = run_query(file, f"SELECT * FROM {quote_sql_name(table)}", max_results=_DIRECT_ROWS)  # noqa: S608
        rows = [
            {name: cell for name, cell in zip(page.columns, row, strict=True) if cell is not None}
            for row in page.rows
        ]
        contents[table] = rows
        room -= len(json.dumps(rows, ensure_ascii=False))
        if room < 0 or page.cut or page.next_start is not None:
            return None
    return contents
