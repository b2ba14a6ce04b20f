"""Toolset ``entrez``: large results as tables that are queried in SQL instead of being read."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Annotated, Any, Literal

from fastmcp.tools import FunctionTool, ToolResult
from pydantic import Field

from ..library import Library
from . import entrez_rows as schemas
from .answers import answer, in_room
from .core import ADDS_FILES, Start, Word, tool
from .entrez import AtMost, Database, EntrezWords, History, RetType, Uids
from .entrez_rows import Arguments, Operation, plain
from .long_calls import LongCalls

Name = Literal["fetch_and_stage", "schema", "query", "list_datasets", "export"]
_MOST_RECORDS = 1_000


def _stage(library: Library, args: Arguments) -> Any:
    pages = library.entrez.pages(
        args["database"] or "pubmed", args["ids"], history=args["history"],
        term=args["query"], rettype=args["rettype"], most=args["max_results"] or _MOST_RECORDS,
        progress=args["report"],
    )  # fmt: skip
    return plain(library.datasets.stage(pages))


def _schema(library: Library, args: Arguments) -> Any:
    found = library.datasets.schema(args["dataset"])
    return {
        "dataset": found.about.get("id", args["dataset"]),
        "title": found.about.get("title", ""),
        "tables": {one.name: {"rows": one.rows, "columns": one.describe()} for one in found.tables},
        "relations": list(found.relations),
    }


def _query(library: Library, args: Arguments) -> Any:
    page = {"start": args["start"], "max_rows": args["max_results"] or 100}
    return plain(library.datasets.query(args["dataset"], args["sql"], **page))


def _list(library: Library, args: Arguments) -> Any:
    every = plain(library.datasets.list())[args["start"] :]
    return in_room({"datasets": every}, "datasets", args["start"])


def _export(library: Library, args: Arguments) -> Any:
    made = library.datasets.export(args["dataset"], args["sql"], args["file"])
    return {"file": str(made.file), "written": made.rows, "columns": list(made.columns)}


OPERATIONS: Mapping[str, Operation] = {
    "fetch_and_stage": Operation(
        "records of any database into typed, related tables; a small result comes along",
        _stage, one_of="ids history query", takes="database rettype max_results",
        costs="300 to 2,500, whatever the number of records",
    ),
    "schema": Operation(
        "tables, columns, relations, and three queries to begin with",
        _schema, needs="dataset", costs="500 to 2,500",
    ),
    "query": Operation(
        "the answer to one reading SQL statement (SQLite), stopped after 2 s",
        _query, needs="dataset sql", takes="start max_results", costs="at most about 6,000",
    ),
    "list_datasets": Operation(
        "the datasets there are", _list, takes="start", costs="about 80 a dataset"
    ),
    "export": Operation(
        "all rows of a statement as a file: .csv or .parquet in papers/exports",
        _export, needs="dataset sql file", costs="about 60",
    ),
}  # fmt: skip


def tools(library: Library) -> list[FunctionTool]:
    """The tool, working on *library*."""
    waiting = LongCalls()
    progress: dict[Hashable, str] = {}  # of results on their way, whichever call began them

    def entrez_data(  # noqa: PLR0913, PLR0917 - what five operations take
        operation: Annotated[Name, Field(description="See entrez_tool_info.")],
        database: Database = "",
        query: EntrezWords = "",
        ids: Uids = (),
        history: History = "",
        rettype: RetType = "",
        dataset: Annotated[Word, Field(description="Such as gene_1a2b3c4d.")] = "",
        sql: Annotated[str, Field(description="A SELECT of SQLite.")] = "",
        file: Annotated[Word, Field(description="name.csv or name.parquet.")] = "",
        start: Start = 0,
        max_results: Annotated[AtMost, Field(le=100_000)] = 0,
    ) -> ToolResult:
        """Stage large Entrez results as SQL tables; ask them instead of reading them."""
        args = {
            "database": database, "query": query, "ids": tuple(ids), "history": history,
            "rettype": rettype, "dataset": dataset, "sql": sql,
            "file": file, "start": start, "max_results": max_results,
        }  # fmt: skip
        call = (operation, *args.items())

        def report(done: int, total: int) -> None:
            progress[call] = f"{done:,} of {total:,} records have come"

        def work() -> Any:
            try:
                return OPERATIONS[operation].run(operation, library, args, report)
            finally:
                progress.pop(call, None)

        row = waiting.result(call, work, lambda: progress.get(call, ""))
        return answer(row)

    return [tool(entrez_data, ADDS_FILES, schemas.DATA)]
