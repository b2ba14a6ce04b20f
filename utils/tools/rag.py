"""Toolset ``rag``: PubMed's records of a question kept up to date, and passages to quote.

``pubmed_sync_delta`` indexes as well; what does not fit into the time of a call goes on behind it.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated, Any

from fastmcp.tools import FunctionTool, ToolResult
from mcp.types import ToolAnnotations
from pydantic import Field

from ..library import Library
from . import rag_schemas as schemas
from .answers import answer, shelf_links
from .core import ADDS_FILES, READS_SHELF, READS_WEB, tool
from .literature_schemas import Hundred
from .rag_indexing import Indexing
from .rag_rows import document_row, passage_row, quotation_row, sync_row
from .rag_schemas import DocId, Key, PassageFilters
from .waiting import Waiting

if TYPE_CHECKING:
    from ..corpus.quotations import Quotation
    from ..corpus.stored_records import SyncResult

# A call has twenty seconds (`..web.patience`): most of them for PubMed, some for the index.
_SYNC_S, _CALL_S = 12.0, 17.0
_TITLES = 20
_SNIPPET = 200
_DOTTED = {
    "pubmed_sync_delta": "pubmed.sync_delta",
    "rag_search": "rag.search",
    "rag_get": "rag.get",
    "corpus_checkpoint_get": "corpus.checkpoint.get",
    "corpus_checkpoint_set": "corpus.checkpoint.set",
    "verify_quote": "corpus.verify_quote",
}
_MOVES_BACK = ToolAnnotations(
    read_only_hint=False, idempotent_hint=True, destructive_hint=True, open_world_hint=False
)


def tools(library: Library) -> list[FunctionTool]:
    """Every tool of the set, working on *library*; named as ``MCP_TOOL_NAMES`` says."""
    waiting = Waiting("the corpus")
    all_tools = [
        _sync_tool(library),
        _search_tool(library, waiting),
        _get_tool(library),
        *_checkpoint_tools(library),
        _quote_tool(library, waiting),
    ]
    if library.settings.mcp_tool_names == "plain":
        return all_tools
    return [one.model_copy(update={"name": _DOTTED[one.name]}) for one in all_tools]


def _sync_tool(library: Library) -> FunctionTool:
    waiting = Waiting()
    indexing = Indexing(library)

    def pubmed_sync_delta(
        query_key: Key, term: Key, overlap_days: Annotated[int, Field(ge=0)] = 5
    ) -> ToolResult:
        """Bring the corpus up to date with a PubMed query, from where query_key was left."""
        started = time.monotonic()
        synced = waiting.call(
            library.corpus.sync, query_key, term, overlap_days=overlap_days, longest_s=_SYNC_S
        )
        left = _CALL_S - (time.monotonic() - started)
        structure = sync_row(synced)
        structure["warnings"] += _unfinished_warning(synced) or indexing.update(left)
        return answer(structure, _sync_text(structure))

    return tool(pubmed_sync_delta, ADDS_FILES, schemas.SYNCED)


def _unfinished_warning(synced: SyncResult) -> list[str]:
    if not synced.unfinished:
        return []
    return ["Not finished: call again with the same arguments to go on."]


def _sync_text(row: dict[str, Any]) -> str:
    head = (
        f"{row['pmids_processed']} records: {row['inserted']} new, {row['updated']} updated, "
        f"{row['skipped']} as they were."
    )
    return "\n".join((head, *row["warnings"]))


def _search_tool(library: Library, waiting: Waiting) -> FunctionTool:
    def rag_search(
        query: Key,
        top_k: Hundred = 20,
        quality_bias: bool = True,
        filters: PassageFilters | None = None,
    ) -> ToolResult:
        """Find passages of the corpus by words and meaning, each with its place, to quote."""
        found = waiting.call(
            library.corpus.find,
            query,
            top_k=top_k,
            quality_bias=quality_bias,
            filters=(filters or PassageFilters()).to_filters(),
            pubmed_only=True,
        )
        results = [passage_row(one) for one in found.hits]
        lines = [_line(row["doc_id"], row["title"]) for row in results[:_TITLES]]
        text = "\n".join((f"{len(results)} passages.", *lines, *found.warnings))
        links = shelf_links(library, (row["doc_id"] for row in results if row["file"]))
        structure = {"results": results, "warnings": list(found.warnings)}
        return answer(structure, text, links=links)

    # A provider of vectors on the web is sent the question.
    asks_web = library.settings.embeddings_provider == "openai"
    return tool(rag_search, READS_WEB if asks_web else READS_SHELF, schemas.FOUND)


def _line(doc_id: str, words: str) -> str:
    return f"{doc_id}: {words[:_SNIPPET]}"


def _get_tool(library: Library) -> FunctionTool:
    def rag_get(doc_id: DocId) -> ToolResult:
        """Get one record of the corpus, with its quality scores and version."""
        row = document(library, doc_id)
        text = _line(row["doc_id"], row["title"] or "")
        return answer(row, text, links=shelf_links(library, [row["doc_id"]]))

    return tool(rag_get, READS_SHELF, schemas.DOCUMENT)


def document(library: Library, doc_id: str) -> dict[str, Any]:
    """The answer of ``rag_get`` for one paper."""
    from ..corpus.quality import quality_of, today

    record = library.corpus.record(doc_id)
    return document_row(record, quality_of(record.paper, today()))


def _checkpoint_tools(library: Library) -> list[FunctionTool]:
    def corpus_checkpoint_get(query_key: Key) -> ToolResult:
        """Say up to which Entrez date a query_key is synced."""
        from ..corpus.stored_records import timestamp

        checkpoint = library.corpus.checkpoint(query_key)
        last = timestamp(checkpoint.last_edat) if checkpoint else None
        structure = {"query_key": query_key, "last_edat": last}
        return answer(structure, last or "Never synced.", untrusted=False)

    def corpus_checkpoint_set(
        query_key: Key, last_edat: Annotated[str, Field(description="ISO 8601 UTC")]
    ) -> ToolResult:
        """Move the watermark of a query_key, also back, so that a sync asks again; audited."""
        library.corpus.set_checkpoint(query_key, last_edat, by=_caller())
        return answer({"ok": True}, "Moved.", untrusted=False)

    return [
        tool(corpus_checkpoint_get, READS_SHELF, schemas.CHECKPOINT),
        tool(corpus_checkpoint_set, _MOVES_BACK, schemas.MOVED),
    ]


def _caller() -> str:
    """Who moves a watermark, for the audit trail: over HTTP, the token's subject."""
    from fastmcp.server.dependencies import get_access_token

    token = get_access_token()
    return f"MCP, token {token.client_id} {token.subject}" if token else "MCP"


def _quote_tool(library: Library, waiting: Waiting) -> FunctionTool:
    def verify_quote(text: Key) -> ToolResult:
        """Check whether a quotation stands in the corpus word for word, and where."""
        found = waiting.call(library.corpus.verify_quote, text)
        links = shelf_links(library, [found.paper] if found.file else [])
        return answer(quotation_row(found), _verdict(found), links=links)

    return tool(verify_quote, READS_SHELF, schemas.QUOTED)


def _verdict(found: Quotation) -> str:
    if not found.found:
        return "Not in the corpus, and nothing like it."
    where = f"{_line(found.paper, found.title)}, characters {found.start} to {found.end}"
    if found.verbatim:
        return f"Verbatim in {where}."
    return f"Not verbatim; nearest ({found.likeness:.2f}): {where}."
