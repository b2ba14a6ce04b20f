"""Filters of a search: what they mean in this corpus, and which of them left nothing.

That a filter left nothing is not that nothing was found: it is said which filter did, how much
there is without it, and what there is instead of what was asked for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ..model.passage import Filters

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ..model.passage import Passage
    from .searchable import Searchable

_LOOKED_AT = 1000  # passages, to count what a filter leaves out
_RETRACTED = "That retracted papers are left out"
_SHOWN = 3  # journals, types or kinds that there are


@dataclass(frozen=True, slots=True)
class _Filter:
    """One filter: as it was asked for, the filters without it, and what passages have for it."""

    asked: str
    without: Filters
    has: Callable[[Passage], Sequence[str]]


def resolved(filters: Filters, corpus: Searchable) -> Filters:
    """The filters with the names under which the corpus has the journal that is asked for."""
    if not filters.journal:
        return filters
    return replace(filters, journals=corpus.database.journals(filters.journal))


def why_nothing(
    text: str, vector: NDArray[np.float32] | None, filters: Filters, corpus: Searchable
) -> Iterator[str]:
    """Which filters left nothing, and what there is without them; nothing where none did."""
    chosen = list(_chosen(filters))
    alone = [(one, found) for one in chosen if (found := _found(text, vector, one.without, corpus))]
    for one, found in alone:
        yield f"{one.asked} leaves nothing. Without it: {_counted(found, one.has)}."
    if chosen and not alone:
        found = _found(text, vector, Filters(retracted=filters.retracted), corpus)
        several = ", ".join(one.asked for one in chosen if one.asked != _RETRACTED)
        if found and several:
            yield f"Together these leave nothing: {several}. Without them: {_counted(found)}."


def _chosen(filters: Filters) -> Iterator[_Filter]:
    """The filters that are set; that retracted papers are left out is one, too."""
    if filters.year_from is not None or filters.year_to is not None:
        first, last = filters.year_from, filters.year_to
        years = (
            f"{first} to {last}" if first and last else f"from {first}" if first else f"to {last}"
        )
        without = replace(filters, year_from=None, year_to=None)
        yield _Filter(f"Years: {years}", without, lambda one: [str(one.year or "no year")])
    if filters.journal:
        without = replace(filters, journal="", journals=())
        known = "" if filters.journals else " (no journal of the corpus goes by it)"
        asked = f"Journal: “{filters.journal}”{known}"
        yield _Filter(asked, without, lambda one: [one.journal or "no journal"])
    if filters.publication_types:
        without = replace(filters, publication_types=())
        asked = f"Type: {', '.join(filters.publication_types)}"
        yield _Filter(asked, without, lambda one: one.publication_types)
    if filters.mesh:
        without = replace(filters, mesh=())
        yield _Filter(f"MeSH: {', '.join(filters.mesh)}", without, lambda _: ())
    if filters.kind:
        kind = filters.kind.replace("_", " ")
        without = replace(filters, kind=None)
        yield _Filter(f"Kind: {kind}", without, lambda one: [one.kind.replace("_", " ")])
    if not filters.retracted:
        without = replace(filters, retracted=True)
        yield _Filter(_RETRACTED, without, lambda _: ["retracted"])


def _found(
    text: str, vector: NDArray[np.float32] | None, filters: Filters, corpus: Searchable
) -> list[Passage]:
    """The passages there are under other filters; by words where there are any."""
    hits = corpus.finder.search(text, None, _LOOKED_AT, filters)
    if not hits and vector is not None:
        hits = corpus.finder.search("", vector, _LOOKED_AT, filters)
    return list(corpus.database.passages([hit.uuid for hit in hits]).values())


def _counted(
    passages: Sequence[Passage], has: Callable[[Passage], Sequence[str]] | None = None
) -> str:
    """How many papers, and what most of them have."""
    papers = {one.paper: one for one in passages}
    more = "at least " if len(passages) >= _LOOKED_AT else ""
    told = f"{more}{len(papers):,} paper{'s' * (len(papers) != 1)}"
    if not has:
        return told
    most = Counter(value for one in papers.values() for value in has(one)).most_common(_SHOWN)
    shown = ", ".join(f"{value}: {count:,}" for value, count in most)
    return f"{told} ({shown})" if shown else told
