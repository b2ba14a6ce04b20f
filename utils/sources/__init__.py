"""Every site we can ask, in the order of `..model.sites`: what each of them can do."""

from importlib import import_module

from ..model.sites import SITES
from .source import Lookup, Query, QueryOptions, Route, Source, ask_in_halves

SOURCES: tuple[Source, ...] = tuple(
    import_module(f".{site.name}", __package__).SOURCE for site in SITES
)

__all__ = ["SOURCES", "Lookup", "Query", "QueryOptions", "Route", "Source", "ask_in_halves"]
