"""List every site that Papershelf can ask, one module for each site.

The order of `SOURCE_NAMES` matters; see `..model.sites`.
"""

from importlib import import_module

from ..plugins import import_by_name, list_plugins
from .source import Lookup, Query, QueryOptions, Route, Source, ask_and_isolate_failures

SOURCE_NAMES = (
    "semantic_scholar",
    "idconv",
    "pubmed",
    "pmc",
    "europepmc",
    "arxiv",
    "biorxiv",
    "mdpi",
    "unpaywall",
    "openalex",
    "springer",
    "elsevier",
    "wiley",
    "crossref",
    "datacite",
    "publisher",
    "semantic_scholar_copies",
    "osti",
    "hal",
    "core",
    "openalex_content",
    "jina",
    "archive",
    "pubchem",
    "bioc",
    "opencitations",
    "icite",
    "pubmed_files",
    "citation_collection",
    "clinicaltrials",
)
OWN_SOURCES: tuple[Source, ...] = tuple(
    import_module(f".{name}", __package__).SOURCE for name in SOURCE_NAMES
)
SOURCES = OWN_SOURCES + tuple(
    import_by_name(f"{module}:SOURCE") for plugin in list_plugins() for module in plugin.sources
)

__all__ = [
    "SOURCES",
    "Lookup",
    "Query",
    "QueryOptions",
    "Route",
    "Source",
    "ask_and_isolate_failures",
]
