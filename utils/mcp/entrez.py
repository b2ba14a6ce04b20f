"""Toolset ``entrez``: any database of NCBI's Entrez, large results as tables, PubChem and PMC.

Three tools of several operations each: a tool of many operations costs a host a fifth of what a
tool for each would. What an operation does not take is refused, not ignored: it was sent for a
reason. An answer is the dataclass that the operation returns, as plain JSON without empty members.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from ..errors import BadRequest
from ..library import Library
from ..system.plain_text import shorten
from .answers import limit_rows
from .pubmed import to_converted_ids
from .tool import ADDS_FILES, READS_WEB, LongCallRunner, Start, TextOrNumber, Tool, make_tool

if TYPE_CHECKING:
    from ..entrez import DatabaseInfo, DatabaseList, RecordSummary

QueryName = Literal["search", "summary", "fetch", "link", "info", "post", "spell", "global_query"]
DataName = Literal["fetch_and_stage", "schema", "query", "list_datasets", "export"]
ExternalName = Literal[
    "compounds", "names", "papers", "similar", "substructure", "superstructure", "ids", "text"
]
Database = Annotated[TextOrNumber, Field(description="Database, such as gene; default pubmed.")]
EntrezWords = Annotated[str, Field(description="Query in the database's syntax.")]
Uids = Annotated[Sequence[TextOrNumber], Field(description="UIDs of the database.")]
History = Annotated[TextOrNumber, Field(description="h_… of a kept search or post.")]
RetType = Annotated[TextOrNumber, Field(description="Form of records: see info.")]
RowLimit = Annotated[Start, Field(description="Maximum number of rows; 0: default.")]
_PAGE_ARGUMENTS = "start max_results"
_COMPOUND_ARGUMENTS = "kind start max_results"
_MAX_IDS = 4_000  # of one answer; it says where the next begins
_MAX_RECORDS = 1_000
_MEMBERS_ALWAYS_SHOWN = {"total", "next_start", "ids", "records", "corrected", "counts", "rows"}
Arguments = Mapping[str, Any]
ProgressCallback = Callable[[int, int], object]


def tools(library: Library) -> list[Tool]:
    """Return the three tools, bound to *library*."""
    return [_build_query_tool(library), _build_data_tool(library), _build_external_tool(library)]


# --- operations and their answers -----------------------------------------------------------------


def to_json(found: Any) -> Any:
    """Convert an answer to JSON; dataclasses become objects without empty members.

    A member that is empty because there is nothing (no hits, no next page) stays.
    """
    if is_dataclass(found):
        if (convert := _CONVERTER_BY_TYPE.get(type(found).__name__)) is not None:
            return convert(found)
        members = {one.name: to_json(getattr(found, one.name)) for one in fields(found)}
        return {name: value for name, value in members.items() if _is_shown(name, value)}
    if isinstance(found, Mapping):
        return {str(name): to_json(value) for name, value in found.items()}
    if isinstance(found, list | tuple):
        return [to_json(one) for one in found]
    return str(found) if isinstance(found, Path) else found


def _is_shown(name: str, value: Any) -> bool:
    """Return whether a member belongs in the answer."""
    return name in _MEMBERS_ALWAYS_SHOWN or value not in ("", [], None, {})


def _to_summary_row(found: RecordSummary) -> dict[str, Any]:
    """Return the database's fields; Papershelf's own override fields of the same name."""
    left_out = {"left_out": list(found.left_out)} if found.left_out else {}
    asked_as = {"asked": found.asked} if found.asked else {}
    return {**to_json(found.fields), "uid": found.uid, **asked_as, **left_out}


def _to_database_row(found: DatabaseInfo) -> dict[str, Any]:
    """Return a database's description as JSON."""
    return {
        "name": found.name,
        "title": found.title,
        "description": found.description,
        "total": found.records,
        "last_update": found.last_update,
        "uid": f"{found.uid}, such as {found.example}",
        "fetch": [f"{form.name}: {form.gives}" for form in found.fetch],
        "staged_from": found.staged_from,
        "fields": {one.name: shorten(one.description or one.title, 120) for one in found.fields},
        "links": {one.name: shorten(one.title or one.description, 80) for one in found.links},
    }


def _to_database_list(found: DatabaseList) -> dict[str, Any]:
    """Return the list of databases as JSON."""
    rows = [
        {"name": one.name, "title": one.title, "uid": f"{one.uid}, such as {one.example}"}
        for one in found.databases
    ]
    return {"databases": rows, "warnings": list(found.warnings)}


_CONVERTER_BY_TYPE: Mapping[str, Any] = {
    "RecordSummary": _to_summary_row,
    "DatabaseInfo": _to_database_row,
    "DatabaseList": _to_database_list,
}


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation of a tool.

    ``does`` and ``costs`` (tokens) describe it. ``needs`` are the required arguments, of ``one_of``
    exactly one is required, ``takes`` are the optional ones; names separated by blanks.
    """

    does: str
    call: Callable[[Library, Arguments], Any]
    needs: str = ""
    one_of: str = ""
    takes: str = ""
    costs: str = ""

    def run(
        self,
        name: str,
        library: Library,
        args: Arguments,
        report_progress: ProgressCallback | None = None,
    ) -> Any:
        """Check the arguments and call; long operations call *report_progress* with (done, total).

        Raises
        ------
        BadRequest
            An argument is missing, or one too many: says which, and which there are.
        """
        present = {argument for argument, value in args.items() if value not in _UNSET_VALUES}
        accepted = f"{self.needs} {self.one_of} {self.takes}".split()
        hint = f"It takes: {', '.join(accepted) or 'nothing'}."
        if unknown := sorted(present - {*accepted}):
            raise BadRequest(f"{name} does not take {', '.join(unknown)}.", hint)
        if missing := [argument for argument in self.needs.split() if argument not in present]:
            raise BadRequest(f"{name} needs {' and '.join(missing)}.", hint)
        if self.one_of and len(present & {*self.one_of.split()}) != 1:
            raise BadRequest(f"{name} needs one of {', '.join(self.one_of.split())}.", hint)
        return self.call(library, {**args, "report": report_progress})


_UNSET_VALUES: tuple[Any, ...] = ("", (), 0, False)


# --- Entrez ---------------------------------------------------------------------------------------


def _run_search(library: Library, args: Arguments) -> Any:
    """Search a database."""
    return library.entrez.search(
        args["database"] or "pubmed", args["query"], start=args["start"],
        max_results=min(args["max_results"] or 20, _MAX_IDS), sort_by=args["sort_by"],
        keep=args["keep"],
    )  # fmt: skip


def _run_summary(library: Library, args: Arguments) -> Any:
    """Fetch brief records."""
    return library.entrez.summary(
        args["database"] or "pubmed", args["ids"], history=args["history"],
        start=args["start"], max_results=args["max_results"] or 20,
    )  # fmt: skip


def _run_fetch(library: Library, args: Arguments) -> Any:
    """Fetch records as text."""
    return library.entrez.fetch(
        args["database"] or "pubmed", args["ids"], history=args["history"],
        rettype=args["rettype"], retmode=args["retmode"], start=args["start"],
        offset=args["offset"], max_results=args["max_results"] or 20,
    )  # fmt: skip


def _run_link(library: Library, args: Arguments) -> Any:
    """Find linked records."""
    most = max(1, min(args["max_results"] or 100, _MAX_IDS // len(args["ids"])))
    return library.entrez.link(
        args["database"] or "pubmed", args["ids"], args["to_database"], args["link_name"],
        start=args["start"], max_results=most,
    )  # fmt: skip


def _run_info(library: Library, args: Arguments) -> Any:
    """Describe one database, or list all of them."""
    entrez = library.entrez
    return entrez.info(args["database"]) if args["database"] else entrez.databases()


def _run_post(library: Library, args: Arguments) -> Any:
    """Store identifiers on NCBI's history server."""
    return library.entrez.post(args["database"] or "pubmed", args["ids"])


def _run_spell(library: Library, args: Arguments) -> Any:
    """Ask for the spelling of a query."""
    return library.entrez.spell(args["database"] or "pubmed", args["query"])


def _run_global_query(library: Library, args: Arguments) -> Any:
    """Count the hits of a query in every database."""
    return library.entrez.global_query(args["query"])


QUERY_OPERATIONS: Mapping[str, Operation] = {
    "search": Operation(
        "identifiers by a query in the database's own language; keep makes a history of all hits",
        _run_search, needs="query", takes=f"database sort_by keep {_PAGE_ARGUMENTS}",
        costs="about 5 an identifier",
    ),
    "summary": Operation(
        "records in brief, as fields; at most 500 at once",
        _run_summary, one_of="ids history", takes=f"database {_PAGE_ARGUMENTS}",
        costs="at most about 6,000",
    ),
    "fetch": Operation(
        "records as text in a form the database has (info lists them); at most 200 at once",
        _run_fetch, one_of="ids history",
        takes=f"database rettype retmode offset {_PAGE_ARGUMENTS}",
        costs="at most about 6,000",
    ),
    "link": Operation(
        "linked records in to_database or by link_name; the kinds there are without either",
        _run_link, needs="ids", takes=f"database to_database link_name {_PAGE_ARGUMENTS}",
        costs="about 5 an identifier",
    ),
    "info": Operation(
        "a database's size, search fields, links and forms; all databases without one",
        _run_info, takes="database", costs="1,000 to 4,000",
    ),
    "post": Operation(
        "a history of at most 10,000 identifiers, to ask for by one short name",
        _run_post, needs="ids", takes="database", costs="about 60",
    ),
    "spell": Operation("another spelling of a query", _run_spell, needs="query", takes="database"),
    "global_query": Operation("hits of a query in every database",
    _run_global_query, needs="query"),
}  # fmt: skip


def _build_query_tool(library: Library) -> Tool:
    runner = LongCallRunner()

    def entrez_query(  # noqa: PLR0913, PLR0917 - what eight operations take
        operation: Annotated[QueryName, Field(description="See entrez_tool_info.")],
        database: Database = "",
        query: EntrezWords = "",
        ids: Uids = (),
        history: History = "",
        to_database: Annotated[TextOrNumber, Field(description="link: target database.")] = "",
        link_name: Annotated[TextOrNumber, Field(description="link: kind of link.")] = "",
        rettype: RetType = "",
        retmode: Annotated[TextOrNumber, Field(description="fetch: text or xml.")] = "",
        sort_by: Annotated[TextOrNumber, Field(description="search: the database's order.")] = "",
        keep: Annotated[bool, Field(description="search: keep all hits as a history.")] = False,
        start: Start = 0,
        offset: Annotated[Start, Field(description="next_offset of the last answer.")] = 0,
        max_results: RowLimit = 0,
    ) -> dict[str, Any]:
        """Ask any NCBI Entrez database (E-utilities)."""
        args = {
            "database": database, "query": query, "ids": tuple(ids), "history": history,
            "to_database": to_database, "link_name": link_name, "rettype": rettype,
            "retmode": retmode, "sort_by": sort_by, "keep": keep, "start": start, "offset": offset,
            "max_results": max_results,
        }  # fmt: skip
        found = runner.get_result(
            (operation, *args.items()),
            lambda: QUERY_OPERATIONS[operation].run(operation, library, args),
        )
        return dict(to_json(found))

    return make_tool(entrez_query, READS_WEB)


# --- datasets -------------------------------------------------------------------------------------


def _run_stage(library: Library, args: Arguments) -> Any:
    """Fetch records into typed SQL tables."""
    pages = library.entrez.pages(
        args["database"] or "pubmed", args["ids"], history=args["history"],
        query=args["query"], rettype=args["rettype"],
        max_results=args["max_results"] or _MAX_RECORDS,
        progress=args["report"],
    )  # fmt: skip
    return to_json(library.datasets.stage(pages))


def _run_schema(library: Library, args: Arguments) -> Any:
    """Return the tables and columns of a dataset."""
    found = library.datasets.schema(args["dataset"])
    return {
        "dataset": found.about.get("id", args["dataset"]),
        "title": found.about.get("title", ""),
        "tables": {
            one.name: {"rows": one.rows, "columns": one.describe_columns()} for one in found.tables
        },
        "relations": list(found.relations),
    }


def _run_sql(library: Library, args: Arguments) -> Any:
    """Run a SELECT statement on a dataset."""
    page = {"start": args["start"], "max_results": args["max_results"] or 100}
    return to_json(library.datasets.query(args["dataset"], args["sql"], **page))


def _list_datasets(library: Library, args: Arguments) -> Any:
    """List the datasets on the shelf."""
    every = to_json(library.datasets.list())[args["start"] :]
    return limit_rows({"datasets": every}, "datasets", args["start"])


def _run_export(library: Library, args: Arguments) -> Any:
    """Write the rows of a statement to a file."""
    made = library.datasets.export(args["dataset"], args["sql"], args["file"])
    return {"file": str(made.file), "written": made.rows, "columns": list(made.columns)}


DATA_OPERATIONS: Mapping[str, Operation] = {
    "fetch_and_stage": Operation(
        "records of any database into typed, related tables; a small result comes along",
        _run_stage, one_of="ids history query", takes="database rettype max_results",
        costs="300 to 2,500, whatever the number of records",
    ),
    "schema": Operation(
        "tables, columns, relations, and three queries to begin with",
        _run_schema, needs="dataset", costs="500 to 2,500",
    ),
    "query": Operation(
        "the answer to one reading SQL statement (SQLite), stopped after 2 s",
        _run_sql, needs="dataset sql", takes="start max_results", costs="at most about 6,000",
    ),
    "list_datasets": Operation(
        "the datasets there are", _list_datasets, takes="start", costs="about 80 a dataset"
    ),
    "export": Operation(
        "all rows of a statement as a file: .csv or .parquet in papers/exports",
        _run_export, needs="dataset sql file", costs="about 60",
    ),
}  # fmt: skip


def _build_data_tool(library: Library) -> Tool:
    runner = LongCallRunner()
    progress: dict[Hashable, str] = {}  # of results on their way, whichever call began them

    def entrez_data(  # noqa: PLR0913, PLR0917 - what five operations take
        operation: Annotated[DataName, Field(description="See entrez_tool_info.")],
        database: Database = "",
        query: EntrezWords = "",
        ids: Uids = (),
        history: History = "",
        rettype: RetType = "",
        dataset: Annotated[
            TextOrNumber, Field(description="Dataset ID, such as gene_1a2b3c4d.")
        ] = "",
        sql: Annotated[str, Field(description="A SELECT of SQLite.")] = "",
        file: Annotated[TextOrNumber, Field(description="name.csv or name.parquet.")] = "",
        start: Start = 0,
        max_results: Annotated[RowLimit, Field(le=100_000)] = 0,
    ) -> dict[str, Any]:
        """Stage large Entrez results as SQL tables; ask them instead of reading them."""
        args = {
            "database": database, "query": query, "ids": tuple(ids), "history": history,
            "rettype": rettype, "dataset": dataset, "sql": sql,
            "file": file, "start": start, "max_results": max_results,
        }  # fmt: skip
        call = (operation, *args.items())

        def report(done: int, total: int) -> None:
            """Remember how many records were fetched, for progress messages."""
            progress[call] = f"{done:,} of {total:,} records have come"

        def work() -> Any:
            """Run the operation, and clear its progress at the end."""
            try:
                return DATA_OPERATIONS[operation].run(operation, library, args, report)
            finally:
                progress.pop(call, None)

        return dict(runner.get_result(call, work, lambda: progress.get(call, "")))

    return make_tool(entrez_data, ADDS_FILES)


# --- PubChem and PMC ------------------------------------------------------------------------------


def _get_page_options(args: Arguments, most: int) -> dict[str, Any]:
    """Return the paging arguments of a PubChem call."""
    page = {"start": args["start"], "max_results": args["max_results"] or most}
    return {"kind": args["kind"], **page}


def _find_compounds(library: Library, args: Arguments) -> Any:
    """Find PubChem compounds."""
    return to_json(library.pubchem.find(args["query"], **_get_page_options(args, 10)))


def _find_names(library: Library, args: Arguments) -> Any:
    """Find the synonyms of a compound."""
    return to_json(library.pubchem.names(args["query"], **_get_page_options(args, 50)))


def _find_papers(library: Library, args: Arguments) -> Any:
    """Find papers about a compound."""
    return to_json(library.pubchem.papers(args["query"], **_get_page_options(args, 50)))


def _make_related_finder(relation: str) -> Any:
    """Return an operation that finds compounds by structural relation."""

    def find(library: Library, args: Arguments) -> Any:
        """Find compounds with this relation to the query."""
        return to_json(
            library.pubchem.related(args["query"], relation, **_get_page_options(args, 10))
        )

    return find


def _convert_ids(library: Library, args: Arguments) -> Any:
    """Convert identifiers of papers."""
    records = [to_converted_ids(one) for one in library.pubmed.convert_ids(args["ids"])]
    return {"records": records, "total": len(records)}


def _read_text(library: Library, args: Arguments) -> Any:
    """Read the open text of one article from PMC."""
    if len(args["ids"]) != 1:
        raise BadRequest("text is read of one paper at a time.", "Give one PMCID or PMID as ids.")
    options = {"section": args["section"], "start": args["start"]}
    found = to_json(library.pubmed.article_text(args["ids"][0], **options))
    return {**found, "total": found["total_chars"]}


EXTERNAL_OPERATIONS: Mapping[str, Operation] = {
    "compounds": Operation(
        "PubChem compounds by name, CID(s), SMILES, InChI, InChIKey or formula, with properties",
        _find_compounds, needs="query", takes=_COMPOUND_ARGUMENTS,
    ),
    "names": Operation(
        "what one compound is called", _find_names, needs="query", takes=_COMPOUND_ARGUMENTS
    ),
    "papers": Operation("PMIDs of papers about one compound",
    _find_papers, needs="query", takes=_COMPOUND_ARGUMENTS),
    "similar": Operation(
        "compounds of 95 % 2-D similarity",
        _make_related_finder("similar"), needs="query", takes=_COMPOUND_ARGUMENTS
    ),
    "substructure": Operation(
        "compounds that hold a structure",
        _make_related_finder("substructure"), needs="query", takes=_COMPOUND_ARGUMENTS
    ),
    "superstructure": Operation(
        "compounds that a structure holds",
        _make_related_finder("superstructure"), needs="query", takes=_COMPOUND_ARGUMENTS
    ),
    "ids": Operation("PMID, PMCID and DOI of up to 200 papers by any of these",
    _convert_ids, needs="ids"),
    "text": Operation(
        "text of one open article of PMC by its PMCID or PMID, section by section; keeps nothing",
        _read_text, needs="ids", takes="section start",
    ),
}  # fmt: skip


def _build_external_tool(library: Library) -> Tool:
    runner = LongCallRunner("The site")

    def entrez_external(
        operation: Annotated[ExternalName, Field(description="See entrez_tool_info.")],
        query: Annotated[
            str, Field(description="Compound: name, CID, SMILES, InChIKey, formula.")
        ] = "",
        ids: Annotated[Sequence[TextOrNumber], Field(description="Papers, for ids and text.")] = (),
        kind: Annotated[TextOrNumber, Field(description="How to read query: name, cid, ….")] = "",
        section: Annotated[TextOrNumber, Field(description="A heading, for text.")] = "",
        start: Start = 0,
        max_results: RowLimit = 0,
    ) -> dict[str, Any]:
        """Ask PubChem about compounds, and PMC for ids and text of open articles."""
        args = {
            "query": query, "ids": tuple(ids), "kind": kind, "section": section, "start": start,
            "max_results": max_results,
        }  # fmt: skip
        found = runner.get_result(
            (operation, *args.items()),
            lambda: EXTERNAL_OPERATIONS[operation].run(operation, library, args),
        )
        return dict(found)

    return make_tool(entrez_external, READS_WEB)
