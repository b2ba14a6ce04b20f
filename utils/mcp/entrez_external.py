"""Toolset ``entrez``: what stands beside Entrez, PubChem's compounds and PMC's services."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from fastmcp.tools import FunctionTool, ToolResult
from pydantic import Field

from ..errors import BadRequest
from ..library import Library
from . import entrez_rows as schemas
from .answers import answer
from .core import READS_WEB, Start, Word, tool
from .entrez import AtMost
from .entrez_rows import Arguments, Operation, plain
from .long_calls import LongCalls
from .pubmed_rows import converted_row

Name = Literal[
    "compounds", "names", "papers", "similar", "substructure", "superstructure", "ids", "text"
]
_PAGE = "kind start max_results"


def _page(args: Arguments, most: int) -> dict[str, Any]:
    page = {"start": args["start"], "max_results": args["max_results"] or most}
    return {"kind": args["kind"], **page}


def _compounds(library: Library, args: Arguments) -> Any:
    return plain(library.pubchem.find(args["query"], **_page(args, 10)))


def _names(library: Library, args: Arguments) -> Any:
    return plain(library.pubchem.names(args["query"], **_page(args, 50)))


def _papers(library: Library, args: Arguments) -> Any:
    return plain(library.pubchem.papers(args["query"], **_page(args, 50)))


def _related(relation: str) -> Any:
    def find(library: Library, args: Arguments) -> Any:
        return plain(library.pubchem.related(args["query"], relation, **_page(args, 10)))

    return find


def _ids(library: Library, args: Arguments) -> Any:
    records = [converted_row(one) for one in library.convert_ids(args["ids"])]
    return {"records": records, "total": len(records)}


def _text(library: Library, args: Arguments) -> Any:
    if len(args["ids"]) != 1:
        raise BadRequest("text is read of one paper at a time.", "Give one PMCID or PMID as ids.")
    options = {"section": args["section"], "start": args["start"]}
    found = plain(library.article_text(args["ids"][0], **options))
    return {**found, "total": found["total_chars"]}


OPERATIONS: Mapping[str, Operation] = {
    "compounds": Operation(
        "PubChem compounds by name, CID(s), SMILES, InChI, InChIKey or formula, with properties",
        _compounds, needs="query", takes=_PAGE,
    ),
    "names": Operation("what one compound is called", _names, needs="query", takes=_PAGE),
    "papers": Operation("PMIDs of papers about one compound", _papers, needs="query", takes=_PAGE),
    "similar": Operation(
        "compounds of 95 % 2-D similarity", _related("similar"), needs="query", takes=_PAGE
    ),
    "substructure": Operation(
        "compounds that hold a structure", _related("substructure"), needs="query", takes=_PAGE
    ),
    "superstructure": Operation(
        "compounds that a structure holds", _related("superstructure"), needs="query", takes=_PAGE
    ),
    "ids": Operation("PMID, PMCID and DOI of up to 200 papers by any of these", _ids, needs="ids"),
    "text": Operation(
        "text of one open article of PMC by its PMCID or PMID, section by section; keeps nothing",
        _text, needs="ids", takes="section start",
    ),
}  # fmt: skip


def tools(library: Library) -> list[FunctionTool]:
    """The tool, working on *library*."""
    waiting = LongCalls("The site")

    def entrez_external(
        operation: Annotated[Name, Field(description="See entrez_tool_info.")],
        query: Annotated[
            str, Field(description="Compound: name, CID, SMILES, InChIKey, formula.")
        ] = "",
        ids: Annotated[Sequence[Word], Field(description="Papers, for ids and text.")] = (),
        kind: Annotated[Word, Field(description="How to read query: name, cid, ….")] = "",
        section: Annotated[Word, Field(description="A heading, for text.")] = "",
        start: Start = 0,
        max_results: AtMost = 0,
    ) -> ToolResult:
        """Ask PubChem about compounds, and PMC for ids and text of open articles."""
        args = {
            "query": query, "ids": tuple(ids), "kind": kind, "section": section, "start": start,
            "max_results": max_results,
        }  # fmt: skip
        row = waiting.result(
            (operation, *args.items()),
            lambda: OPERATIONS[operation].run(operation, library, args),
        )
        return answer(row)

    return [tool(entrez_external, READS_WEB, schemas.EXTERNAL)]
