"""The one list: which name of the world answers as which service."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from tests.world import archives, core, publishers
from tests.world.archive import archive, captures
from tests.world.arxiv import arxiv, arxiv_oai
from tests.world.bioc import bioc
from tests.world.citation_collection import citation_collection
from tests.world.clinicaltrials import clinicaltrials
from tests.world.crossref import crossref
from tests.world.doi import doi
from tests.world.europepmc import europepmc
from tests.world.eutils import eutils
from tests.world.hub import hub
from tests.world.icite import icite
from tests.world.jina import reader, search
from tests.world.openai import openai
from tests.world.openalex import openalex, openalex_content
from tests.world.opencitations import opencitations
from tests.world.pmc import cloud, idconv
from tests.world.pubchem import autocomplete, pubchem
from tests.world.pubmed_files import pubmed_files
from tests.world.semantic_scholar import semantic_scholar
from tests.world.text_mining import elsevier, springer, wiley
from tests.world.unpaywall import unpaywall
from utils.demo.wire import Call, Reply

if TYPE_CHECKING:
    from tests.world import World

Service = Callable[[Call, "World"], Reply]

SERVICES: dict[str, Service] = {
    "eutils": eutils, "idconv": idconv, "pmc_cloud": cloud, "europepmc": europepmc, "doi": doi,
    "crossref": crossref, "unpaywall": unpaywall, "openalex": openalex,
    "openalex_content": openalex_content, "core": core.core, "arxiv": arxiv, "arxiv_oai": arxiv_oai,
    "jina_reader": reader, "jina_search": search, "semantic_scholar": semantic_scholar,
    "pubchem": pubchem, "pubchem_autocomplete": autocomplete, "bioc": bioc,
    "opencitations": opencitations, "icite": icite, "openai": openai, "elsevier": elsevier,
    "springer": springer, "wiley": wiley, "archive": archive, "web_archive": captures, "hub": hub,
    "pubmed_files": pubmed_files, "citation_collection": citation_collection,
    "mdpi": archives.mdpi, "biorxiv": archives.biorxiv, "osti": archives.osti, "hal": archives.hal,
    "datacite": archives.datacite, "clinicaltrials": clinicaltrials,
}  # fmt: skip
SITES: dict[str, Service] = {
    "meadow": partial(publishers.site, "meadow"), "harbour": partial(publishers.site, "harbour"),
    "summit": partial(publishers.site, "summit"), "repository": publishers.repository,
    "core_files": core.files,
}  # fmt: skip
