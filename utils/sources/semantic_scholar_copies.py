"""Fetch open copies that Semantic Scholar names, hundreds of papers in one request.

What it names is a hint, not a PDF: mostly Unpaywall's, whose notice it repeats, else from its own
search of the web. So it is asked late, and what leads back to an identifier is left to other rungs.
A copy at a repository counts as an accepted manuscript, unless its text says otherwise.
https://api.semanticscholar.org/api-docs/graph (``openAccessPdf`` in ``/paper/batch``)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from urllib.parse import urlsplit

from ..errors import NotAvailable, SourceMiss
from ..http import Web
from ..model.identifiers import Ids
from ..model.paper import Fetched, Paper, Version
from ..model.versions import PREPRINT_DOI
from .publisher import OpenCopy, fetch_copies
from .semantic_scholar import ScholarPaper, fetch_papers
from .semantic_scholar_graph import ADDRESS, RATE
from .source import Route, Source

_BATCH = 100  # of 500: the first papers of a harvest need not wait for the last
# Walled for programs, or shown by a page that is no paper.
_CLOSED_HOSTS = ("semanticscholar.org", "researchgate.net", "academia.edu", "mdpi.com")


def fetch_open_copies(
    papers: Sequence[Paper], web: Web
) -> Iterator[tuple[Paper, Fetched | SourceMiss]]:
    """Fetch the copy that Semantic Scholar names for each paper; one request covers all.

    Raises
    ------
    NotAvailable
        It refuses these identifiers together.
    NotConfigured
        The key is not known.
    Unreachable
        It did not answer.
    """
    known = fetch_papers([paper.ids for paper in papers], web)
    for paper in papers:
        found = known.get(paper.ids)
        if found is None:
            yield paper, NotAvailable("Semantic Scholar does not know it.")
        elif not (copies := _list_copies(found)):
            yield (
                paper,
                NotAvailable("Semantic Scholar lists no open copy other than its own page."),
            )
        else:
            for fetched in fetch_copies(copies, web, source=SOURCE.name, via="semantic_scholar"):
                yield paper, fetched


def list_named_copies(
    wanted: Sequence[Ids], web: Web, published: dict[Ids, str]
) -> dict[Ids, list[OpenCopy]]:
    """Return the copy that Semantic Scholar names for each paper, if any, without fetching it.

    One request covers up to 500 papers. *published* receives the DOI of each paper's version in a
    journal: Semantic Scholar has one record of a preprint and its article. Raises the errors of
    `fetch_open_copies`.
    """
    known = fetch_papers(wanted, web)
    for ids, found in known.items():
        doi = found.paper.ids.doi
        if doi and not PREPRINT_DOI.match(doi):
            published[ids] = doi
    return {ids: _list_copies(known[ids]) if ids in known else [] for ids in wanted}


def _list_copies(found: ScholarPaper) -> list[OpenCopy]:
    """Return the copy that Semantic Scholar names, unless it is closed or another route's."""
    url = _drop_closed_url(found.open_copy)
    version: Version = "published" if found.is_at_publisher else "accepted"
    return [OpenCopy(url, found.paper.license, version)] if url else []


def _drop_closed_url(url: str) -> str:
    """Return the URL if it may be an open copy that no other route fetches, else ""."""
    host = ""
    with suppress(ValueError):
        host = (urlsplit(url).hostname or "").lower()
    walled = any(host == one or host.endswith(f".{one}") for one in _CLOSED_HOSTS)
    return "" if walled or not host or Ids.maybe(url) else url


SOURCE = Source(
    name="semantic_scholar_copies",
    about="Semantic Scholar: open copies it has seen, a hundred papers in one request",
    addresses=(ADDRESS,),
    many_hosts=True,
    label="DOI",
    rates=(RATE,),
    routes=(
        Route(
            "semantic_scholar",
            ("doi", "pmid", "pmcid", "arxiv"),
            fetch_open_copies,
            batch=_BATCH,
            share=0.025,
            has_pdfs=True,
            label="Open copy (Semantic Scholar)",
            version="",
        ),
    ),
)
