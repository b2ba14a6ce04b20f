"""Where a person finds a paper: addresses made by us from identifiers, never taken from outside.

An address a site sent may begin with ``javascript:`` or lead anywhere. These begin with a host
named here; what follows is percent-encoded. Address forms: the sites' own documentation
(``doi.org``, ``pubmed.ncbi.nlm.nih.gov``, ``pmc.ncbi.nlm.nih.gov``, ``arxiv.org``).
"""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import quote

from ..model.identifiers import Ids
from ..model.job import Harvested
from ..system.plain_text import clean_text, encodable

_SITES = (
    ("DOI", "doi", "https://doi.org/{}"),
    ("PMC", "pmcid", "https://pmc.ncbi.nlm.nih.gov/articles/{}/"),
    ("arXiv", "arxiv", "https://arxiv.org/abs/{}"),
    ("PubMed", "pmid", "https://pubmed.ncbi.nlm.nih.gov/{}/"),
)
_WORDS = 200  # characters of a citation PubMed's search is asked for


class Link(NamedTuple):
    """A site's name and the paper's address there."""

    site: str
    url: str


def links(ids: Ids) -> list[Link]:
    """The paper's pages, the one most likely to lead to its text first.

    >>> links(Ids(doi='10.1000/a"><b>', pmid="7"))[0].url
    'https://doi.org/10.1000/a%22%3E%3Cb%3E'
    """
    return [
        Link(site, form.format(_quoted(value)))
        for site, name, form in _SITES
        if (value := getattr(ids, name))
    ]


def best_link(row: Harvested) -> str:
    """Where to look for a text by hand; without any identifier, a search for what was asked."""
    found = links(row.paper.ids)
    if found:
        return found[0].url
    words = clean_text(row.paper.title or row.asked)[:_WORDS].strip()
    return f"https://pubmed.ncbi.nlm.nih.gov/?term={_quoted(words)}" if words else ""


def shelf_link(file: str) -> str:
    """A paper's file, seen from the folder of the report (``reports/<job>/``).

    >>> shelf_link("10.1002_a#b.txt"), shelf_link("../../etc/passwd")
    ('../../10.1002_a%23b.txt', '')
    """
    # Names come from the shelf, and are never more than a name.
    unfit = not file or file.startswith(".") or "/" in file or "\\" in file
    return "" if unfit else f"../../{quote(encodable(file), safe='')}"


def _quoted(text: str) -> str:
    return quote(encodable(text), safe="/:;().-_")
