"""The citation indexes; each is a file in ``sources/`` and an entry here.

An index is asked about what it can know only: a paper without a name it takes is not put to it,
and so is not counted as answered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Literal

from ..errors import StoreFailed, Unreachable
from ..http import Web
from ..model.identifiers import IdName, Ids
from ..settings import Settings
from ..sources import icite, openalex, opencitations, semantic_scholar
from ..sources.europepmc import Kind, LinkedPaper, fetch_linked
from ..sources.eutils_services import LinkName, fetch_paper_links
from ..sources.source import find_citations

Direction = Literal["backward", "forward"]
DIRECTIONS: tuple[Direction, ...] = ("backward", "forward")
KINDS: dict[Direction, Kind] = {"backward": "references", "forward": "citations"}
MAX_LINKED = 1_000
"""Of one paper's list: what Europe PMC sends at once (RestfulWebService, pageSize)."""
_AT_NCBI: dict[Kind, LinkName] = {
    "references": "pubmed_pubmed_refs",
    "citations": "pubmed_pubmed_citedin",
}
Lists = Callable[[Ids, Kind, int, Web], tuple[int, list[LinkedPaper], str]]


@dataclass(frozen=True, slots=True)
class CitationIndex:
    """An index of citations: the identifiers that it takes, and the key that it needs.

    ``lists`` says how many papers a list has, and which the first of them are.
    """

    name: str
    by: tuple[IdName, ...]
    lists: Lists
    key: str = ""

    def accepts(self, ids: Ids) -> bool:
        """Return whether the index accepts one of the paper's identifiers."""
        return any(getattr(ids, name) for name in self.by)


def _fetch_ncbi_links(
    ids: Ids, kind: Kind, most: int, web: Web
) -> tuple[int, list[LinkedPaper], str]:
    """Return the number of papers that NCBI links, the first *most* of them, and the address."""
    links, url = fetch_paper_links(ids.pmid, _AT_NCBI[kind], web)
    return len(links), [LinkedPaper(pmid=link.pmid) for link in links][:most], url


def _fetch_europepmc_links(
    ids: Ids, kind: Kind, most: int, web: Web
) -> tuple[int, list[LinkedPaper], str]:
    return fetch_linked(ids.pmid, kind, min(most, MAX_LINKED), web)


def _find_local_links(
    source: str, ids: Ids, kind: Kind, most: int, web: Web
) -> tuple[int, list[LinkedPaper], str]:
    """Return the number of linked papers in a local table of citations, and the first of them."""
    citations = find_citations(web.settings)
    if citations is None:
        return 0, [], ""
    ask = citations.cited if kind == "references" else citations.citing
    try:
        every = ask([int(ids.pmid)])[int(ids.pmid)]
    except StoreFailed as damaged:
        raise Unreachable(damaged.message, damaged.hint) from None
    edges = [edge for edge in every if source in edge.sources]
    return len(edges), [LinkedPaper(pmid=str(edge.pmid)) for edge in edges][:most], ""


INDEXES = (
    CitationIndex("NCBI ELink", ("pmid",), _fetch_ncbi_links),
    CitationIndex("Europe PMC", ("pmid",), _fetch_europepmc_links),
    CitationIndex("OpenCitations", ("doi", "pmid"), opencitations.fetch_linked),
    CitationIndex("NIH iCite", ("pmid",), icite.fetch_linked),
    CitationIndex("OpenAlex", ("doi", "pmid"), openalex.fetch_linked, "openalex_api_key"),
    CitationIndex(
        "Semantic Scholar",
        ("doi", "pmid"),
        semantic_scholar.fetch_linked,
        "semantic_scholar_api_key",
    ),
)


def list_citation_indexes(settings: Settings) -> tuple[CitationIndex, ...]:
    """Return the indexes that these settings allow; a table on this machine comes first."""
    return (
        *_iterate_local_indexes(settings),
        *(index for index in INDEXES if not index.key or settings.key(index.key)),
    )


def _iterate_local_indexes(settings: Settings) -> Iterator[CitationIndex]:
    """Yield the indexes in the table of citations on this machine."""
    if citations := find_citations(settings):
        for source, label in citations.indexes.items():
            yield CitationIndex(label, ("pmid",), partial(_find_local_links, source))
