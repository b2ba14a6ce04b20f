"""The one list: which name of the world answers as which service."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from . import publishers
from .archive import archive, captures
from .arxiv import arxiv, arxiv_oai
from .bioc import bioc
from .crossref import crossref
from .doi import doi
from .europepmc import europepmc
from .eutils import eutils
from .jina import reader, search
from .openai import openai
from .openalex import openalex
from .pmc import cloud, idconv
from .pubchem import autocomplete, pubchem
from .semantic_scholar import semantic_scholar
from .text_mining import elsevier, springer, wiley
from .unpaywall import unpaywall
from .wire import Call, Reply

if TYPE_CHECKING:
    from . import World

Service = Callable[[Call, "World"], Reply]

SERVICES: dict[str, Service] = {
    "eutils": eutils,
    "idconv": idconv,
    "pmc_cloud": cloud,
    "europepmc": europepmc,
    "doi": doi,
    "crossref": crossref,
    "unpaywall": unpaywall,
    "openalex": openalex,
    "arxiv": arxiv,
    "arxiv_oai": arxiv_oai,
    "jina_reader": reader,
    "jina_search": search,
    "semantic_scholar": semantic_scholar,
    "pubchem": pubchem,
    "pubchem_autocomplete": autocomplete,
    "bioc": bioc,
    "openai": openai,
    "archive": archive,
    "web_archive": captures,
    "elsevier": elsevier,
    "springer": springer,
    "wiley": wiley,
}
SITES: dict[str, Service] = {
    "meadow": partial(publishers.site, "meadow"),
    "harbour": partial(publishers.site, "harbour"),
    "summit": partial(publishers.site, "summit"),
    "repository": publishers.repository,
}
