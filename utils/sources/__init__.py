"""Every site we can ask, with all that is to be said of it in its file, and what each can do.

The order of `SOURCE_NAMES` matters; see `..model.sites`.
"""

from importlib import import_module

from ..plugins import import_part, plugins
from .source import Lookup, Query, QueryOptions, Route, Source, ask_in_halves

SOURCE_NAMES = (
    "semantic_scholar",
    "idconv",
    "pubmed",
    "pmc",
    "europepmc",
    "arxiv",
    "unpaywall",
    "openalex",
    "springer",
    "elsevier",
    "wiley",
    "crossref",
    "publisher",
    "semantic_scholar_copies",
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
)
OWN_SOURCES: tuple[Source, ...] = tuple(
    import_module(f".{name}", __package__).SOURCE for name in SOURCE_NAMES
)
SOURCES = OWN_SOURCES + tuple(
    import_part(f"{module}:SOURCE") for plugin in plugins() for module in plugin.sources
)

__all__ = ["SOURCES", "Lookup", "Query", "QueryOptions", "Route", "Source", "ask_in_halves"]
