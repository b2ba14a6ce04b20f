"""What toolset ``rag`` answers: our dataclasses as the JSON of its contract."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..corpus.stored_records import timestamp

if TYPE_CHECKING:
    from ..corpus.quality import Quality
    from ..corpus.quotations import Quotation
    from ..corpus.search import ScoredPassage
    from ..corpus.stored_records import CorpusRecord, SyncResult


def sync_row(synced: SyncResult) -> dict[str, Any]:
    """The counts of a sync."""
    return {
        "job_id": synced.job_id,
        "inserted": synced.inserted,
        "updated": synced.updated,
        "skipped": synced.skipped,
        "pmids_processed": synced.pmids_processed,
        "max_edat_seen": timestamp(synced.max_edat_seen),
        "warnings": list(synced.warnings),
    }


def passage_row(found: ScoredPassage) -> dict[str, Any]:
    """A passage: its text, its place, and the scores that rank it."""
    passage = found.passage
    return {
        "doc_id": passage.paper,
        "uuid": passage.uuid,
        "sim": _rounded(found.sim),
        "bm25": _rounded(found.bm25),
        "quality": found.quality.total,
        "score": round(found.score, 6),
        "title": passage.title,
        "section": passage.section,
        "text": passage.text,
        "kind": passage.kind,
        "file": passage.file,
        "version": found.version,
        "start": passage.start,
        "end": passage.end,
    }


def document_row(record: CorpusRecord, quality: Quality) -> dict[str, Any]:
    """A record of the corpus; null where PubMed says nothing."""
    paper = record.paper
    return {
        "doc_id": f"pmid:{paper.ids.pmid}",
        "title": paper.title or None,
        "abstract": paper.abstract or None,
        "journal": paper.journal or None,
        "pub_types": list(paper.publication_types),
        "pdat": paper.published or None,
        "edat": timestamp(record.edat),
        "lr": timestamp(record.lr),
        "pmcid": paper.ids.pmcid or None,
        "quality": quality.row(),
        "version": record.version,
    }


def quotation_row(quotation: Quotation) -> dict[str, Any]:
    """Where a quotation stands."""
    return {
        "found": quotation.found,
        "verbatim": quotation.verbatim,
        "likeness": _rounded(quotation.likeness),
        "doc_id": quotation.paper,
        "uuid": quotation.uuid,
        "title": quotation.title,
        "section": quotation.section,
        "text": quotation.text,
        "file": quotation.file,
        "start": quotation.start,
        "end": quotation.end,
    }


def _rounded(number: float | None) -> float | None:
    return None if number is None else round(float(number), 4)
