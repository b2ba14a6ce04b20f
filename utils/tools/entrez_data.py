"""Toolset ``entrez``: large results become tables that are asked in SQL instead of being read."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Annotated, Any, Literal

from fastmcp.tools import FunctionTool, ToolResult
from pydantic import Field

from ..library import Library
from . import entrez_schemas as schemas
from .answers import answer
from .core import ADDS_FILES, Start, Word, tool
from .entrez_rows import plain
from .operations import Given, Operation
from .pubmed_rows import in_lines
from .waiting import Waiting

Name = Literal["fetch_and_stage", "schema", "query", "list_datasets", "export"]
_RECORDS = 1_000


def _stage(library: Library, given: Given) -> Any:
    pages = library.entrez.pages(
        given["database"] or "pubmed", given["ids"], history=given["history"],
        term=given["term"], rettype=given["rettype"], most=given["max_records"] or _RECORDS,
        progress=given["told"],
    )  # fmt: skip
    return plain(library.datasets.stage(pages))


def _schema(library: Library, given: Given) -> Any:
    found = library.datasets.schema(given["dataset"])
    return {
        "dataset": found.about.get("id", given["dataset"]),
        "title": found.about.get("title", ""),
        "tables": {one.name: {"rows": one.rows, "columns": one.describe()} for one in found.tables},
        "relations": list(found.relations),
        "examples": plain(found.examples),
    }


def _query(library: Library, given: Given) -> Any:
    page = {"start": given["start"], "max_rows": given["max_rows"] or 100}
    return plain(library.datasets.query(given["dataset"], given["sql"], **page))


def _listed(library: Library, given: Given) -> Any:
    return {"datasets": plain(library.datasets.list())}


def _export(library: Library, given: Given) -> Any:
    made = library.datasets.export(given["dataset"], given["sql"], given["file"])
    return {"file": str(made.file), "written": made.rows, "columns": list(made.columns)}


OPERATIONS: Mapping[str, Operation] = {
    "fetch_and_stage": Operation(
        "records of any database into typed, related tables; a small result comes along",
        _stage, one_of="ids history term", takes="database rettype max_records",
        costs="300 to 2,500, whatever the number of records",
    ),
    "schema": Operation(
        "tables, columns, relations, and three queries to begin with",
        _schema, needs="dataset", costs="500 to 2,500",
    ),
    "query": Operation(
        "the answer to one reading SQL statement (SQLite), stopped after 2 s",
        _query, needs="dataset sql", takes="start max_rows", costs="at most about 6,000",
    ),
    "list_datasets": Operation("the datasets there are", _listed, costs="about 80 a dataset"),
    "export": Operation(
        "all rows of a statement as a file: .csv or .parquet in papers/exports",
        _export, needs="dataset sql file", costs="about 60",
    ),
}  # fmt: skip


def tools(library: Library) -> list[FunctionTool]:
    """The tool, working on *library*."""
    waiting = Waiting()
    progress: dict[Hashable, str] = {}  # of results on their way, whichever call began them

    def entrez_data(  # noqa: PLR0913, PLR0917 - what five operations take
        operation: Name,
        database: Word = "",
        term: str = "",
        ids: Sequence[Word] = (),
        history: Word = "",
        rettype: Word = "",
        max_records: Annotated[int, Field(ge=0, le=100_000)] = 0,
        dataset: Annotated[Word, Field(description="such as gene_1a2b3c4d")] = "",
        sql: str = "",
        file: Annotated[Word, Field(description="name.csv or name.parquet")] = "",
        start: Start = 0,
        max_rows: Start = 0,
    ) -> ToolResult:
        """Stage large Entrez results as SQL tables; ask them instead of reading them."""
        given = {
            "database": database, "term": term, "ids": tuple(ids), "history": history,
            "rettype": rettype, "max_records": max_records, "dataset": dataset, "sql": sql,
            "file": file, "start": start, "max_rows": max_rows,
        }  # fmt: skip
        asked = (operation, *given.items())

        def told(done: int, total: int) -> None:
            progress[asked] = f"{done:,} of {total:,} records have come"

        def work() -> Any:
            try:
                return OPERATIONS[operation].done(operation, library, given, told)
            finally:
                progress.pop(asked, None)

        row = waiting.result(asked, work, lambda: progress.get(asked, ""))
        return answer(row, _HEADS[operation](row))

    return [tool(entrez_data, ADDS_FILES, schemas.DATA)]


def _of_stage(row: Mapping[str, Any]) -> str:
    tables = (f"{name}: {rows:,} rows" for name, rows in row["tables"].items())
    head = f"{row['records']:,} records staged as {row['dataset']}, until {row['expires']}."
    return in_lines(head, tables, row.get("warnings", ()))


def _of_list(row: Mapping[str, Any]) -> str:
    lines = (f"{one['id']}: {one.get('title', '')}" for one in row["datasets"])
    return in_lines(f"{len(row['datasets'])} datasets.", lines)


_HEADS: Mapping[str, Any] = {
    "fetch_and_stage": _of_stage,
    "schema": lambda row: in_lines(f"{len(row['tables'])} tables."),
    "query": lambda row: in_lines(f"{len(row['rows'])} rows of {', '.join(row['columns'])}."),
    "list_datasets": _of_list,
    "export": lambda row: in_lines(f"{row['written']:,} rows in {row['file']}."),
}
