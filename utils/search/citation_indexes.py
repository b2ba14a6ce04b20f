"""The indexes of who cites whom: one file in ``sources/``, one line here.

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
from ..sources.europepmc import Kind, Linked, fetch_linked
from ..sources.eutils_services import LinkName, fetch_paper_links
from ..sources.source import find_citations

Direction = Literal["backward", "forward"]
DIRECTIONS: tuple[Direction, ...] = ("backward", "forward")
KINDS: dict[Direction, Kind] = {"backward": "references", "forward": "citations"}
MOST = 1_000
"""Of one paper's list: what Europe PMC sends at once (RestfulWebService, pageSize)."""
_AT_NCBI: dict[Kind, LinkName] = {
    "references": "pubmed_pubmed_refs",
    "citations": "pubmed_pubmed_citedin",
}
Lists = Callable[[Ids, Kind, int, Web], tuple[int, list[Linked], str]]


@dataclass(frozen=True, slots=True)
class Index:
    """An index: its name for people, the names of papers that it takes, its key if it wants one.

    ``lists`` says how many papers a list has, and which the first of them are.
    """

    name: str
    by: tuple[IdName, ...]
    lists: Lists
    key: str = ""

    def can_ask(self, ids: Ids) -> bool:
        """Whether the paper has a name that the index takes."""
        return any(getattr(ids, name) for name in self.by)


def _at_ncbi(ids: Ids, kind: Kind, most: int, web: Web) -> tuple[int, list[Linked], str]:
    links, url = fetch_paper_links(ids.pmid, _AT_NCBI[kind], web)
    return len(links), [Linked(pmid=link.pmid) for link in links][:most], url


def _at_europepmc(ids: Ids, kind: Kind, most: int, web: Web) -> tuple[int, list[Linked], str]:
    return fetch_linked(ids.pmid, kind, min(most, MOST), web)


def _in_table(
    source: str, ids: Ids, kind: Kind, most: int, web: Web
) -> tuple[int, list[Linked], str]:
    citations = find_citations(web.settings)
    if citations is None:
        return 0, [], ""
    ask = citations.cited if kind == "references" else citations.citing
    try:
        every = ask([int(ids.pmid)])[int(ids.pmid)]
    except StoreFailed as damaged:
        raise Unreachable(damaged.message, damaged.hint) from None
    edges = [edge for edge in every if source in edge.sources]
    return len(edges), [Linked(pmid=str(edge.pmid)) for edge in edges][:most], ""


INDEXES = (
    Index("NCBI ELink", ("pmid",), _at_ncbi),
    Index("Europe PMC", ("pmid",), _at_europepmc),
    Index("OpenCitations", ("doi", "pmid"), opencitations.fetch_linked),
    Index("NIH iCite", ("pmid",), icite.fetch_linked),
    Index("OpenAlex", ("doi", "pmid"), openalex.fetch_linked, "openalex_api_key"),
    Index(
        "Semantic Scholar",
        ("doi", "pmid"),
        semantic_scholar.fetch_linked,
        "semantic_scholar_api_key",
    ),
)


def indexes_of(settings: Settings) -> tuple[Index, ...]:
    """The indexes that can be asked with these settings; a mirror's citations come first."""
    return (
        *_local_indexes(settings),
        *(index for index in INDEXES if not index.key or settings.key(index.key)),
    )


def _local_indexes(settings: Settings) -> Iterator[Index]:
    """The indexes that a table of citations on this machine is made of."""
    if citations := find_citations(settings):
        for source, label in citations.indexes.items():
            yield Index(label, ("pmid",), partial(_in_table, source))
