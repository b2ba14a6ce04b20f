"""Semantic Scholar, as little as is needed: one paper, a search, a batch."""

from __future__ import annotations

import hashlib
import json
import re
from typing import TYPE_CHECKING, Any

from .prose import abstract
from .records import Record, plain
from .wire import Call, Reply, as_json

if TYPE_CHECKING:
    from . import World

_FIELDS = {
    "paperId",
    "corpusId",
    "externalIds",
    "url",
    "title",
    "abstract",
    "venue",
    "year",
    "referenceCount",
    "citationCount",
    "isOpenAccess",
    "openAccessPdf",
    "authors",
    "publicationDate",
    "publicationTypes",
    "journal",
    "citationStyles",
    "tldr",
}


def paper_id(record: Record) -> str:
    """Forty hexadecimal digits."""
    return hashlib.sha1((record.doi or record.pmid).encode()).hexdigest()


def semantic_scholar(call: Call, world: World) -> Reply:
    """``/paper/{id}``, ``/paper/search``, ``POST /paper/batch``; one request per second."""
    fields = call.params.get("fields", "paperId,title").split(",")
    if unknown := [name for name in fields if name.split(".")[0] not in _FIELDS]:
        return as_json(
            {"error": f"Unrecognized or unsupported fields: [{', '.join(unknown)}]"}, 400
        )
    if call.path == "/paper/search":
        wanted = call.params.get("query", "").lower().split()
        hits = [r for r in world.corpus.records if all(w in r.plain_title.lower() for w in wanted)]
        limit = int(call.params.get("limit", "100"))
        rows = [_paper(record, fields) for record in hits[:limit]]
        return as_json({"total": len(hits), "offset": 0, "data": rows})
    if call.path == "/paper/batch":
        found = [_find(name, world) for name in json.loads(call.body or b"{}").get("ids", [])]
        return as_json([record and _paper(record, fields) for record in found])
    name = call.path.removeprefix("/paper/")
    record = _find(name, world)
    if record is None:
        return as_json({"error": f"Paper with id {name} not found"}, 404)
    return as_json(_paper(record, fields))


def _find(name: str, world: World) -> Record | None:
    corpus, (kind, _, value) = world.corpus, name.partition(":")
    if kind.upper() == "DOI":
        return corpus.by_doi.get(value.lower())
    if kind.upper() == "PMID":
        return corpus.by_pmid.get(value)
    if kind.upper() == "PMCID":
        return corpus.by_pmcid.get(f"PMC{value.removeprefix('PMC')}")
    if kind.upper() == "ARXIV":
        return corpus.by_arxiv.get(re.sub(r"v\d+$", "", value))
    return next((record for record in corpus.records if paper_id(record) == name), None)


def _paper(record: Record, fields: list[str]) -> dict[str, Any]:
    names = {
        "DOI": record.doi,
        "PubMed": record.pmid,
        "PubMedCentral": record.number,
        "ArXiv": record.arxiv,
    }
    number = int(paper_id(record)[:8], 16)
    whole: dict[str, Any] = {
        "paperId": paper_id(record),
        "corpusId": number,
        "externalIds": {**{k: v for k, v in names.items() if v}, "CorpusId": number},
        "url": f"https://www.semanticscholar.org/paper/{paper_id(record)}",
        "title": record.plain_title,
        "abstract": " ".join(plain(body) for _, body in abstract(record)) or None,
        "venue": record.journal.title,
        "year": int(record.year),
        "referenceCount": 12,
        "citationCount": 0,
        "isOpenAccess": bool(record.cloud),
        "openAccessPdf": {"url": "", "status": None, "license": None, "disclaimer": "Notice: …"},
        "publicationDate": record.published,
        "publicationTypes": ["JournalArticle"],
        "journal": {"name": record.journal.title, "volume": record.volume, "pages": record.pages},
        "citationStyles": {"bibtex": f"@Article{{x,\n title = {{{record.plain_title}}}\n}}"},
        "tldr": None,
        "authors": [
            {"authorId": "1", "name": f"{given[0]}. {family}"} for family, given in record.authors
        ],
    }
    return {name: whole[name] for name in ["paperId", *fields] if name in whole}
