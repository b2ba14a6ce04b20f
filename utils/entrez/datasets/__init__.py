"""Datasets: large results staged into tables, to be queried in SQL instead of read."""

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
from ...system.keyword_options import explain_options
from ...system.plain_text import one_line, shorten

if TYPE_CHECKING:
    from .export import Exported
    from .listing import Dataset
    from .schema import Schema
    from .sql_query import ResultPage
    from .tables import Notes
    from .trees import Form, Page

DIRECT_CHARS = 4000
"""Characters of JSON up to which a result is returned whole, beside being staged."""

_DIRECT_ROWS = 200
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}\.(csv|parquet)")


class Answers(Protocol):
    """Pages and what is known of them; see `...entrez.paging.Pages`.

    ``not_found`` and ``warnings`` are complete when the last page has come.
    """

    database: str
    form: Form
    made_by: str
    not_found: Any  # of objects with an ``id``
    warnings: list[str]

    def __iter__(self) -> Iterator[Page]: ...


@dataclass(frozen=True, slots=True)
class Staged:
    """A result that was staged.

    ``tables`` counts rows, the table of the records first. ``contents`` are all rows of all tables,
    where they take no more than `DIRECT_CHARS`; None where they take more. ``not_found`` names
    identifiers without a record; ``expires`` is when it is deleted, if it is not used before.
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


@explain_options()
class Datasets:
    """The datasets of a shelf.

    Parameters
    ----------
    folder : Path
        The folder of their files; made by the first `stage`.
    exports : Path
        The folder of exports under a bare name.
    """

    def __init__(self, folder: Path, exports: Path) -> None:
        self.folder = folder
        self.exports = exports

    def stage(self, pages: Answers) -> Staged:
        """Make a dataset of *pages*, and delete those not used for long.

        Raises
        ------
        EntrezFailed, Unreachable, BadContent
            An answer is missing or broken: no dataset is made.
        StoreFailed
            The disk refuses.
        """
        from ...system.process import get_version
        from .building import build
        from .listing import DAYS, moment, sweep
        from .tables import Notes

        safe_files.make_folder(self.folder)
        sweep(self.folder)
        name = f"{pages.database}_{secrets.token_hex(4)}"
        now = time.time()
        about = {
            "id": name,
            "database": pages.database,
            "title": pages.made_by,
            "form": pages.form,
            "created": moment(now),
            "expires": (expires := moment(now + DAYS * 86_400)),
            "papershelf": get_version(),
        }
        notes = Notes()
        built = build(_with_notes(pages, notes), self.folder / f"{name}.db", about, notes)
        return Staged(
            name, pages.database, pages.made_by, built.records, built.tables,
            _contents(built.file, built.tables), built.not_found, built.warnings, built.size,
            expires,
        )  # fmt: skip

    def schema(self, dataset: str) -> Schema:
        """Tables, columns, relations, and statements to begin with; see `.schema.schema`."""
        from .schema import schema

        return schema(self._file(dataset))

    def query(
        self,
        dataset: str,
        sql: str,
        *,
        start: int = 0,
        max_rows: int = 100,
        max_chars: int = 20_000,
        seconds: float = 2.0,
    ) -> ResultPage:
        """One page of the rows of a reading statement; see `.sql_query.ask`."""
        from .sql_query import ask

        return ask(
            *(self._file(dataset), sql),
            start=start,
            max_rows=max_rows,
            max_chars=max_chars,
            seconds=seconds,
        )

    def list(self) -> ResultList[Dataset]:
        """Every dataset, the last used first."""
        from .listing import Dataset, datasets

        columns = tuple(one.name for one in fields(Dataset))
        return ResultList(datasets(self.folder), columns, asdict)

    def export(self, dataset: str, sql: str, target: str | Path) -> Exported:
        """All rows of a statement as a file, CSV or Parquet by its ending; see `.export.export`.

        A *target* that is text is a bare name among the exports, where nothing is replaced.

        Raises
        ------
        BadRequest
            The name cannot be used, or is taken by something else; or the statement is wrong.
        NotConfigured
            Parquet needs what is not installed.
        """
        from .export import export

        if isinstance(target, Path):
            return export(self._file(dataset), sql, target, _form_of(target))
        path = self._export_path(target)
        safe_files.delete_stale_parts(self.exports)
        draft = safe_files.build_part_path(path)
        made = export(self._file(dataset), sql, draft, _form_of(path))
        _settle(draft, path)
        return replace(made, file=path)

    def forget(self, dataset: str) -> int:
        """Delete a dataset; how many bytes that frees."""
        from .listing import forget

        return forget(self.folder, dataset)

    def _file(self, dataset: str) -> Path:
        from .listing import find

        return find(self.folder, dataset)

    def _export_path(self, name: str) -> Path:
        if not _NAME.fullmatch(name) or safe_files.is_device_name(name):
            msg = f"{shorten(one_line(name), 60)!r} is no name for an export."
            raise BadRequest(msg, "Give a name without folders, such as genes.csv.")
        return self.exports / name


def _settle(draft: Path, path: Path) -> None:
    """Give the draft its name; the same export twice is one."""
    with safe_files.disk_errors(path):
        if not path.exists():
            draft.replace(path)
            return
        same = filecmp.cmp(draft, path, shallow=False)
        draft.unlink()
    if not same:
        msg = f"{path.name} is there already and holds something else."
        raise BadRequest(msg, "Choose another name.")


def _form_of(path: Path) -> Literal["csv", "parquet"]:
    ending = path.suffix.lower()
    if ending not in (".csv", ".parquet"):
        msg = f"{shorten(path.name, 60)!r} does not say what it is to be."
        raise BadRequest(msg, "End its name in .csv or .parquet.")
    return "csv" if ending == ".csv" else "parquet"


def _with_notes(pages: Answers, notes: Notes) -> Iterator[Page]:
    """The pages; after the last, what is missing goes into *notes*."""
    yield from pages
    for one in pages.not_found:
        notes.add_missing(one.id)
    for words in pages.warnings:
        notes.add_warning(words)


def _contents(file: Path, tables: Mapping[str, int]) -> dict[str, list[dict[str, Any]]] | None:
    """All rows of all tables; None where they are too many."""
    from .sql_query import ask
    from .tables import quoted

    if sum(tables.values()) > _DIRECT_ROWS:
        return None
    contents, room = {}, DIRECT_CHARS
    for table in tables:
        page = ask(file, f"SELECT * FROM {quoted(table)}", max_rows=_DIRECT_ROWS)  # noqa: S608
        rows = [
            {name: cell for name, cell in zip(page.columns, row, strict=True) if cell is not None}
            for row in page.rows
        ]
        contents[table] = rows
        room -= len(json.dumps(rows, ensure_ascii=False))
        if room < 0 or page.cut or page.next_start is not None:
            return None
    return contents
