"""Toolset ``rag``: keep PubMed's records of a query up to date, and find passages to quote.

``pubmed_sync_delta`` indexes as well; what does not fit into the time of a call goes on behind it.

`Passage` has more than the contract asks for (text, section, place, title, file, kind), so that a
passage can be quoted and found again.
"""

from __future__ import annotations

import time
from collections.abc import Hashable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal, NotRequired

from mcp.types import ToolAnnotations
from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict

from ..corpus.stored_records import day_to_timestamp
from ..errors import NotFound
from ..http.work import MAX_ANSWER_S
from ..library import Library
from ..model.passage import Filters
from .answers import attach_blocks, build_shelf_links, limit_rows, pick_members
from .core import get_limit_year, warn_of_ignored_days
from .hints import DOTTED_TOOL_NAMES
from .indexing import IndexUpdater
from .quotations import describe_differences
from .tool import (
    ADDS_FILES,
    READS_SHELF,
    READS_WEB,
    LongCallRunner,
    Source,
    Start,
    TextOrNumber,
    Tool,
    make_tool,
    send_progress,
)

if TYPE_CHECKING:
    from ..corpus.search import ScoredPassage
    from ..corpus.stored_records import CorpusRecord, SyncResult

# A call has twenty seconds (`..http.work`): most of them for PubMed, some for the index.
_SYNC_TIMEOUT_S, _CALL_TIMEOUT_S = 12.0, 17.0
_WATERMARK_HINTS = ToolAnnotations(
    read_only_hint=False, idempotent_hint=True, destructive_hint=True, open_world_hint=False
)
Key = Annotated[str, Field(min_length=1)]
QueryKey = Annotated[Key, Field(description="Your name of a query.")]
DocId = Annotated[str, Field(pattern="^pmid:[0-9]+$", description="doc_id from rag_search.")]


class SyncCounts(TypedDict):
    """The counts of a sync."""

    job_id: str
    inserted: int
    updated: int
    skipped: int
    pmids_processed: int
    max_edat_seen: str | None
    members: int | None
    members_at_pubmed: int | None
    warnings: list[str]


class Passage(TypedDict):
    """A passage: its text, its place, and the scores that rank it."""

    doc_id: str
    uuid: str
    sim: float | None
    bm25: float | None
    quality: float | None
    score: float
    title: str
    section: str
    text: str
    kind: str
    file: str
    version: Any
    start: int
    end: int


class Passages(TypedDict):
    """Result of a passage search."""

    warnings: list[str]
    also_asked: NotRequired[list[str]]
    results: list[Passage]
    next_start: NotRequired[int | None]


class Document(TypedDict):
    """A record of the corpus; null where PubMed says nothing."""

    doc_id: str
    title: str | None
    abstract: str | None
    journal: str | None
    pub_types: list[str]
    pdat: str | None
    edat: str | None
    lr: str | None
    pmcid: str | None
    quality: dict[str, Any]
    version: int


class Checkpoint(TypedDict):
    """Up to which Entrez date a query is synced."""

    query_key: str
    last_edat: str | None


class WatermarkChange(TypedDict):
    """Result of moving a watermark."""

    ok: bool


class QuotePlace(TypedDict):
    """Place of a quotation."""

    found: bool
    verbatim: bool
    verdict: str
    differences: list[str]
    likeness: float | None
    doc_id: str
    uuid: str
    title: str
    section: str
    text: str
    file: str
    start: int
    end: int
    anchor: Any


class PassageFilters(BaseModel):
    """Which passages to search."""

    model_config = ConfigDict(extra="forbid", json_schema_extra=lambda s: s.pop("description"))

    min_date: Annotated[TextOrNumber, Field(description="Earliest year.")] = ""
    max_date: Annotated[TextOrNumber, Field(description="Latest year.")] = ""
    journal: Annotated[str, Field(description="Its name.")] = ""
    publication_types: Annotated[tuple[str, ...], Field(description="Any of these.")] = ()
    kind: Annotated[
        Literal["", "full_text", "abstract"], Field(description="Only these texts.")
    ] = ""
    include_retracted: Annotated[bool, Field(description="Retracted papers, too.")] = False
    mesh: Annotated[tuple[str, ...], Field(description="Headings; of a mirror only.")] = ()

    def to_filters(self) -> Filters:
        """Return the filters in the form that a search takes."""
        return Filters(
            year_from=int(get_limit_year(self.min_date, "min_date") or 0) or None,
            year_to=int(get_limit_year(self.max_date, "max_date") or 0) or None,
            journal=self.journal,
            publication_types=self.publication_types,
            kind=self.kind or None,
            retracted=self.include_retracted,
            mesh=self.mesh,
        )


def tools(library: Library) -> list[Tool]:
    """Return the tools of the set, bound to *library*; `MCP_TOOL_NAMES` chooses their names."""
    runner = LongCallRunner("the corpus")
    all_tools = [
        _build_sync_tool(library),
        _build_search_tool(library, runner),
        _build_get_tool(library),
        *_build_checkpoint_tools(library),
        _build_quote_tool(library, runner),
    ]
    if library.settings.mcp_tool_names == "plain":
        return all_tools
    return [one.model_copy(update={"name": DOTTED_TOOL_NAMES[one.name]}) for one in all_tools]


def _build_sync_tool(library: Library) -> Tool:
    runner = LongCallRunner()
    indexing = IndexUpdater(library)
    progress: dict[Hashable, str] = {}  # of syncs under way, whichever call began them

    def pubmed_sync_delta(
        query_key: QueryKey,
        term: Annotated[Key, Field(description="PubMed query.")],
        overlap_days: Annotated[int, Field(ge=0, description="Days to fetch again.")] = 5,
        full: Annotated[bool, Field(description="Read all records again.")] = False,
    ) -> SyncCounts:
        """Bring the corpus up to date with a PubMed query, from where query_key was left."""
        started = time.monotonic()
        call = (query_key, term, overlap_days, full)
        synced, progress_text = runner.get_result(
            call, lambda: _sync_query(library, call, progress), lambda: progress.get(call, "")
        )
        structure = pick_members(
            SyncCounts,
            synced,
            max_edat_seen=day_to_timestamp(synced.max_edat_seen),
            warnings=[*synced.warnings],
        )
        if synced.unfinished:
            structure["warnings"].append(_warn_of_unfinished_sync(progress_text))
        else:
            seconds = time.monotonic() - started
            structure["warnings"] += indexing.update(
                _CALL_TIMEOUT_S - seconds, partial(_report_progress, started)
            )
        return structure

    return make_tool(pubmed_sync_delta, ADDS_FILES)


def _sync_query(
    library: Library, call: tuple[str, str, int, bool], progress: dict[Hashable, str]
) -> tuple[SyncResult, str]:
    """Return the result of a sync, and its progress in words."""

    def report(done: int, total: int) -> None:
        """Remember how many records were fetched, for progress messages."""
        merging = ", which become part of the corpus" if done >= total else ""
        progress[call] = f"{done:,} of {total:,} records have come{merging}"

    def wait(message: str) -> None:
        """Remember the reason for the wait, for progress messages."""
        progress[call] = message

    key, term, overlap_days, full = call
    sync = partial(library.corpus.sync, key, term, overlap_days=overlap_days, full=full)
    try:
        synced = sync(wait_s=_SYNC_TIMEOUT_S, progress=report, waiting=wait)
        return synced, progress.get(call, "")
    finally:
        progress.pop(call, None)


def _report_progress(started: float, message: str) -> None:
    """Report progress with the seconds since *started*."""
    send_progress(time.monotonic() - started, MAX_ANSWER_S, message)


def _warn_of_unfinished_sync(progress: str) -> str:
    told = f" ({progress})" if progress else ""
    return f"Not finished{told}: call again with the same arguments to go on."


def _build_search_tool(library: Library, runner: LongCallRunner) -> Tool:
    def rag_search(
        query: Annotated[Key, Field(description="A question, or words.")],
        top_k: Annotated[int, Field(ge=1, le=100, description="Most passages returned.")] = 20,
        quality_bias: Annotated[bool, Field(description="Better studies first.")] = True,
        filters: Annotated[PassageFilters | None, Field(description="Papers to search.")] = None,
        widen: Annotated[bool, Field(description="Search for synonyms, too.")] = True,
        start: Start = 0,
        source: Source = "corpus",
    ) -> Passages:
        """Find passages of the corpus by words and meaning, each with its place, to quote."""
        found = runner.call_shared(
            library.passages_of(source).find,
            query,
            top_k=top_k,
            quality_bias=quality_bias,
            filters=(filters or PassageFilters()).to_filters(),
            # The document of ``rag.search`` allows PMIDs only; the plain tool finds every paper.
            pubmed_only=library.settings.mcp_tool_names == "dotted",
            widen=widen,
        )
        years = warn_of_ignored_days(filters.min_date, filters.max_date) if filters else []
        structure = Passages(
            warnings=[*found.warnings, *years],
            results=[_to_passage(one) for one in found.hits[start:]],
        )
        if found.wordings:
            structure["also_asked"] = [f"{one.term} = {one.other}" for one in found.wordings]
        structure = limit_rows(structure, "results", start)
        on_shelf = (row["doc_id"] for row in structure["results"] if row["file"])
        return attach_blocks(structure, build_shelf_links(library, on_shelf))

    # A provider of vectors on the web is sent the question.
    asks_web = library.settings.embeddings_provider == "openai"
    return make_tool(rag_search, READS_WEB if asks_web else READS_SHELF)


def _build_get_tool(library: Library) -> Tool:
    def rag_get(doc_id: DocId) -> Document:
        """Get one record of the corpus, with its quality scores and version."""
        row = get_document(library, doc_id)
        return attach_blocks(row, build_shelf_links(library, [row["doc_id"]]))

    return make_tool(rag_get, READS_SHELF)


def get_document(library: Library, doc_id: str) -> Document:
    """Return the answer of ``rag_get`` for one paper of the corpus."""
    return _to_document(library.corpus.record(doc_id))


def get_or_fetch_document(library: Library, pmid: str) -> Document:
    """Return a PMID's record from the corpus, else from PubMed as version 1."""
    from ..corpus.stored_records import CorpusRecord
    from ..search.pubmed.details import parse_pmid

    with suppress(NotFound):
        return get_document(library, f"pmid:{parse_pmid(pmid)}")
    paper = library.pubmed.paper(pmid)
    return _to_document(CorpusRecord(paper, 1, "", paper.entered, paper.revised, False, ""))


def _to_document(record: CorpusRecord) -> Document:
    from ..corpus.quality import get_utc_today, score_quality

    paper = record.paper
    return Document(
        doc_id=f"pmid:{paper.ids.pmid}",
        title=paper.title or None,
        abstract=paper.abstract or None,
        journal=paper.journal or None,
        pub_types=[*paper.publication_types],
        pdat=paper.published or None,
        edat=day_to_timestamp(record.edat),
        lr=day_to_timestamp(record.lr),
        pmcid=paper.ids.pmcid or None,
        quality=score_quality(paper, get_utc_today()).to_row(),
        version=record.version,
    )


def _build_checkpoint_tools(library: Library) -> list[Tool]:
    def corpus_checkpoint_get(query_key: QueryKey) -> Checkpoint:
        """Say up to which Entrez date a query_key is synced."""
        checkpoint = library.corpus.checkpoint(query_key)
        last = day_to_timestamp(checkpoint.last_edat) if checkpoint else None
        return {"query_key": query_key, "last_edat": last}

    def corpus_checkpoint_set(
        query_key: QueryKey,
        last_edat: Annotated[str, Field(description="ISO 8601 date, UTC.")],
    ) -> WatermarkChange:
        """Move the watermark of a query_key, also back, so that a sync asks again; audited."""
        library.corpus.set_checkpoint(query_key, last_edat, by=_get_audit_name())
        return {"ok": True}

    return [
        make_tool(corpus_checkpoint_get, READS_SHELF, untrusted=False),
        make_tool(corpus_checkpoint_set, _WATERMARK_HINTS, untrusted=False),
    ]


def _get_audit_name() -> str:
    """Return the name for the audit trail: over HTTP, the token's subject."""
    from fastmcp.server.dependencies import get_access_token

    token = get_access_token()
    return f"MCP, token {token.client_id} {token.subject}" if token else "MCP"


def _build_quote_tool(library: Library, runner: LongCallRunner) -> Tool:
    def verify_quote(
        text: Annotated[Key, Field(description="The words as quoted.")], source: Source = "corpus"
    ) -> QuotePlace:
        """Check where a quotation stands word for word."""
        found = runner.call_shared(library.passages_of(source).verify_quote, text)
        links = build_shelf_links(library, [found.paper] if found.file else [])
        row = pick_members(
            QuotePlace,
            found,
            differences=describe_differences(found),
            likeness=_round_score(found.likeness),
            doc_id=found.paper,
        )
        return attach_blocks(row, links)

    return make_tool(verify_quote, READS_SHELF)


def _to_passage(found: ScoredPassage) -> Passage:
    """Return a passage as the tool's structure."""
    return pick_members(
        Passage,
        found.passage,
        doc_id=found.passage.paper,
        sim=_round_score(found.sim),
        bm25=_round_score(found.bm25),
        quality=found.quality.total,
        score=round(found.score, 6),
        version=found.version,
    )


def _round_score(number: float | None) -> float | None:
    """Return a score with four decimals; None stays None."""
    return None if number is None else round(float(number), 4)
