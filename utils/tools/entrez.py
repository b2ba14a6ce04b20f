"""Toolset ``entrez``, its first tool: any database of NCBI's Entrez, in eight operations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from fastmcp.tools import FunctionTool, ToolResult
from pydantic import Field

from ..library import Library
from . import entrez_rows as schemas
from .answers import answer
from .core import READS_WEB, Start, Word, tool
from .entrez_rows import Arguments, Operation, plain
from .long_calls import LongCalls

Name = Literal["search", "summary", "fetch", "link", "info", "post", "spell", "global_query"]
_PAGE = "start max_results"
_MOST_IDS = 4_000  # of one answer; it says where the next begins


def _search(library: Library, args: Arguments) -> Any:
    return library.entrez.search(
        args["database"] or "pubmed", args["term"], start=args["start"],
        most=min(args["max_results"] or 20, _MOST_IDS), sort=args["sort"], keep=args["keep"],
    )  # fmt: skip


def _summary(library: Library, args: Arguments) -> Any:
    return library.entrez.summary(
        args["database"] or "pubmed", args["ids"], history=args["history"],
        start=args["start"], most=args["max_results"] or 20,
    )  # fmt: skip


def _fetch(library: Library, args: Arguments) -> Any:
    return library.entrez.fetch(
        args["database"] or "pubmed", args["ids"], history=args["history"],
        rettype=args["rettype"], retmode=args["retmode"], start=args["start"],
        offset=args["offset"], most=args["max_results"] or 20,
    )  # fmt: skip


def _link(library: Library, args: Arguments) -> Any:
    most = max(1, min(args["max_results"] or 100, _MOST_IDS // len(args["ids"])))
    return library.entrez.link(
        args["database"] or "pubmed", args["ids"], args["to_database"], args["link_name"],
        start=args["start"], most=most,
    )  # fmt: skip


def _info(library: Library, args: Arguments) -> Any:
    entrez = library.entrez
    return entrez.info(args["database"]) if args["database"] else entrez.databases()


def _post(library: Library, args: Arguments) -> Any:
    return library.entrez.post(args["database"] or "pubmed", args["ids"])


def _spell(library: Library, args: Arguments) -> Any:
    return library.entrez.spell(args["database"] or "pubmed", args["term"])


def _global_query(library: Library, args: Arguments) -> Any:
    return library.entrez.global_query(args["term"])


OPERATIONS: Mapping[str, Operation] = {
    "search": Operation(
        "identifiers by a query in the database's own language; keep makes a history of all hits",
        _search, needs="term", takes=f"database sort keep {_PAGE}",
        costs="about 5 an identifier",
    ),
    "summary": Operation(
        "records in brief, as fields; at most 500 at once",
        _summary, one_of="ids history", takes=f"database {_PAGE}",
        costs="at most about 6,000",
    ),
    "fetch": Operation(
        "records as text in a form the database has (info lists them); at most 200 at once",
        _fetch, one_of="ids history", takes=f"database rettype retmode offset {_PAGE}",
        costs="at most about 6,000",
    ),
    "link": Operation(
        "linked records in to_database or by link_name; the kinds there are without either",
        _link, needs="ids", takes=f"database to_database link_name {_PAGE}",
        costs="about 5 an identifier",
    ),
    "info": Operation(
        "a database's size, search fields, links and forms; all databases without one",
        _info, takes="database", costs="1,000 to 4,000",
    ),
    "post": Operation(
        "a history of at most 10,000 identifiers, to ask for by one short name",
        _post, needs="ids", takes="database", costs="about 60",
    ),
    "spell": Operation("another spelling of a term", _spell, needs="term", takes="database"),
    "global_query": Operation("hits of a term in every database", _global_query, needs="term"),
}  # fmt: skip


def tools(library: Library) -> list[FunctionTool]:
    """The tool, working on *library*."""
    waiting = LongCalls()

    def entrez_query(  # noqa: PLR0913, PLR0917 - what eight operations take
        operation: Name,
        database: Annotated[Word, Field(description="such as gene; pubmed if empty")] = "",
        term: str = "",
        ids: Sequence[Word] = (),
        history: Annotated[Word, Field(description="h_… of a kept search or post")] = "",
        to_database: Word = "",
        link_name: Word = "",
        rettype: Word = "",
        retmode: Word = "",
        sort: Word = "",
        keep: Annotated[bool, Field(description="search: all hits as a history")] = False,
        start: Start = 0,
        offset: Start = 0,
        max_results: Start = 0,
    ) -> ToolResult:
        """Ask any NCBI Entrez database (E-utilities)."""
        args = {
            "database": database, "term": term, "ids": tuple(ids), "history": history,
            "to_database": to_database, "link_name": link_name, "rettype": rettype,
            "retmode": retmode, "sort": sort, "keep": keep, "start": start, "offset": offset,
            "max_results": max_results,
        }  # fmt: skip
        found = waiting.result(
            (operation, *args.items()),
            lambda: OPERATIONS[operation].run(operation, library, args),
        )
        return answer(plain(found))

    return [tool(entrez_query, READS_WEB, schemas.QUERIED)]
