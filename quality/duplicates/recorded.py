"""Distinct papers out of recorded answers, read by our own sources, and real pairs of records."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from utils.errors import PaperError
from utils.judges.titles import split_title_words
from utils.model.identifiers import Ids
from utils.model.paper import Paper
from utils.readers.pubmed import iterate_records
from utils.readers.safe_xml import parse_untrusted_xml
from utils.sources import arxiv as arxiv_entries
from utils.sources import crossref, openalex
from utils.sources import europepmc as europepmc_records
from utils.sources.arxiv import ATOM
from utils.sources.semantic_scholar_graph import to_scholar_paper


def distinct_papers(shared: Path) -> list[Paper]:
    """PubMed's records, one for each PMID, and what other sources have beyond them."""
    papers = list({paper.ids.pmid: paper for paper in _pubmed(shared) if paper.title}.values())
    names = {name for paper in papers for name in paper.ids.names()}
    words = {_words(paper) for paper in papers}
    for paper in _elsewhere(shared):
        # Nobody promises that these are distinct, so what could be a repetition is left out.
        if paper.title and not names & set(paper.ids.names()) and _words(paper) not in words:
            papers.append(paper)
            names.update(paper.ids.names())
            words.add(_words(paper))
    return papers


def real_pairs(shared: Path) -> list[tuple[Paper, Paper]]:
    """Two different records of one paper; the second without the identifiers that prove it."""
    first: dict[str, Paper] = {}
    pairs = {}
    for paper in (*_pubmed(shared), *_elsewhere(shared)):
        for name in paper.ids.names():
            other = first.setdefault(name, paper)
            if (other.title, other.authors, other.journal) != (
                paper.title,
                paper.authors,
                paper.journal,
            ) and not other.ids.clash(paper.ids):
                pairs[other.ids.key, paper.title] = (other, replace(paper, ids=Ids()))
    return list(pairs.values())


def _pubmed(shared: Path) -> Iterator[Paper]:
    for file in sorted((shared / "pubmed" / "bulk").glob("*.xml.gz")):
        yield from _read(gzip.decompress(file.read_bytes()))
    for file in sorted((shared / "pubmed" / "efetch").rglob("*.xml")):
        with suppress(PaperError):
            yield from _read(file.read_bytes())


def _read(body: bytes) -> Iterator[Paper]:
    yield from (one for one in iterate_records(body) if isinstance(one, Paper))


def _elsewhere(shared: Path) -> Iterator[Paper]:
    apis = shared / "apis"
    for work in _objects(apis / "crossref"):
        if work.get("DOI") and work.get("title") and work.get("author"):
            yield crossref._to_paper(work)
    for row in _objects(shared / "articles", "*/europepmc_core.json"):
        if row.get("source") and row.get("title"):
            yield europepmc_records.to_paper(row)
    for work in _objects(apis / "openalex"):
        if str(work.get("id", "")).startswith("https://openalex.org/W") and "ids" in work:
            yield openalex.to_paper(work)
    for row in _objects(apis / "semanticscholar"):
        if row.get("authors") and row.get("year") and (found := to_scholar_paper(row)):
            yield found.paper
    for file in sorted((shared / "arxiv").glob("*.xml")):
        yield from map(arxiv_entries.to_paper, _entries(file.read_bytes()))


def _entries(feed: bytes) -> Iterator[Any]:
    """The papers of an Atom feed; an error is an entry without authors."""
    for entry in parse_untrusted_xml(feed).iter(f"{ATOM}entry"):
        if entry.find(f"{ATOM}author") is not None:
            yield entry


def _objects(folder: Path, names: str = "*.json") -> Iterator[dict[str, Any]]:
    for file in sorted(folder.glob(names)):
        with suppress(ValueError):
            yield from _dicts(json.loads(file.read_text(encoding="utf-8")))


def _dicts(value: Any) -> Iterator[dict[str, Any]]:
    """Every object anywhere in an answer."""
    if isinstance(value, dict):
        yield value
        for one in value.values():
            yield from _dicts(one)
    elif isinstance(value, list):
        for one in value:
            yield from _dicts(one)


def _words(paper: Paper) -> str:
    return "".join(split_title_words(paper.title))
