"""Answers of searches, kept for ten minutes: a model repeats its searches word by word."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import wraps
from typing import Any

from ..http import Web
from ..model.paper import SearchResult, paper_from, to_row
from .source import Query

RECENT_DAYS = 10 / (24 * 60)
_KIND = "search"


def remembered(
    source: str, search: Callable[[Query, Web], SearchResult]
) -> Callable[[Query, Web], SearchResult]:
    """Return *search*, which answers the same query from the cache for ten minutes.

    A page that lacks some of its papers is not kept.
    """

    @wraps(search)
    def search_once(query: Query, web: Web) -> SearchResult:
        name = json.dumps([source, to_row(query)], sort_keys=True)
        if isinstance(kept := web.cache.get(_KIND, name), dict):
            return _result_from(kept)
        found = search(query, web)
        if len(found.papers) == min(query.max_results, max(0, found.total - query.start)):
            web.cache.put(_KIND, name, to_row(found), RECENT_DAYS)
        return found

    return search_once


def _result_from(row: dict[str, Any]) -> SearchResult:
    papers = tuple(map(paper_from, row["papers"]))
    return SearchResult(**{**row, "papers": papers, "warnings": tuple(row["warnings"])})
