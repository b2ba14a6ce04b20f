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
Database = Annotated[Word, Field(description="Such as gene; empty: pubmed.")]
EntrezWords = Annotated[str, Field(description="In the database's language.")]
Uids = Annotated[Sequence[Word], Field(description="UIDs of the database.")]
History = Annotated[Word, Field(description="h_… of a kept search or post.")]
RetType = Annotated[Word, Field(description="Form of records: see info.")]
AtMost = Annotated[Start, Field(description="Most rows; 0: as usual.")]
_MOST_IDS = 4_000  # of one answer; it says where the next begins


def _search(library: Library, args: Arguments) -> Any:
    return library.entrez.search(
        args["database"] or "pubmed", args["query"], start=args["start"],
        most=min(args["max_results"] or 20, _MOST_IDS), sort=args["sort_by"], keep=args["keep"],
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
    return library.entrez.spell(args["database"] or "pubmed", args["query"])


def _global_query(library: Library, args: Arguments) -> Any:
    return library.entrez.global_query(args["query"])


OPERATIONS: Mapping[str, Operation] = {
    "search": Operation(
        "identifiers by a query in the database's own language; keep makes a history of all hits",
        _search, needs="query", takes=f"database sort_by keep {_PAGE}",
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
    "spell": Operation("another spelling of a query", _spell, needs="query", takes="database"),
    "global_query": Operation("hits of a query in every database", _global_query, needs="query"),
}  # fmt: skip


def tools(library: Library) -> list[FunctionTool]:
    """The tool, working on *library*."""
    waiting = LongCalls()

    def entrez_query(  # noqa: PLR0913, PLR0917 - what eight operations take
        operation: Annotated[Name, Field(description="See entrez_tool_info.")],
        database: Database = "",
        query: EntrezWords = "",
        ids: Uids = (),
        history: History = "",
        to_database: Annotated[Word, Field(description="link: where to.")] = "",
        link_name: Annotated[Word, Field(description="link: which kind.")] = "",
        rettype: RetType = "",
        retmode: Annotated[Word, Field(description="fetch: text or xml.")] = "",
        sort_by: Annotated[Word, Field(description="search: the database's order.")] = "",
        keep: Annotated[bool, Field(description="search: keep all hits as a history.")] = False,
        start: Start = 0,
        offset: Annotated[Start, Field(description="next_offset of the last answer.")] = 0,
        max_results: AtMost = 0,
    ) -> ToolResult:
        """Ask any NCBI Entrez database (E-utilities)."""
        args = {
            "database": database, "query": query, "ids": tuple(ids), "history": history,
            "to_database": to_database, "link_name": link_name, "rettype": rettype,
            "retmode": retmode, "sort_by": sort_by, "keep": keep, "start": start, "offset": offset,
            "max_results": max_results,
        }  # fmt: skip
        found = waiting.result(
            (operation, *args.items()),
            lambda: OPERATIONS[operation].run(operation, library, args),
        )
        return answer(plain(found))

    return [tool(entrez_query, READS_WEB, schemas.QUERIED)]
