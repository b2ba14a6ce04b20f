"""Every site we can ask, in the one order that matters.

Lookups are tried from top to bottom until the paper is known; the full-text ladder follows
``PAPERS_SOURCES``, whose default is this order too. One new site = one file + one line here.
"""

from importlib import import_module

from .source import Lookup, Query, QueryOptions, Route, Source

SOURCES: tuple[Source, ...] = tuple(
    import_module(f".{name}", __package__).SOURCE
    for name in (
        "semantic_scholar",
        "idconv",
        "pubmed",
        "pmc",
        "europepmc",
        "arxiv",
        "crossref",
        "unpaywall",
        "openalex",
        "publisher",
        "jina",
        "pubchem",
        "bioc",
    )
)

__all__ = ["SOURCES", "Lookup", "Query", "QueryOptions", "Route", "Source"]
