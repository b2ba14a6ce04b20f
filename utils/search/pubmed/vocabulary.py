"""PubMed's vocabulary: the spelling of queries, and MeSH headings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ...errors import BadRequest
from ...http import Web
from ...sources.eutils_services import MeshTerm, fetch_mesh_terms, fetch_spelling, find_mesh_terms
from ...system.plain_text import prepare_query_text
from .search import QUERY_MAX_CHARS

MAX_TERMS = 20
_MAX_NEIGHBOURS = 50


@dataclass(frozen=True, slots=True)
class QuerySpelling:
    """PubMed's spelling of a query; ``corrected`` is empty if PubMed suggests nothing."""

    query: str
    corrected: str
    replaced: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MeshHeading:
    """A MeSH record with the names of its neighbours in the tree."""

    term: MeshTerm
    broader: tuple[str, ...]
    narrower: tuple[str, ...]


def check_spelling(query: str, web: Web) -> QuerySpelling:
    """Return PubMed's spelling of a query.

    Raises
    ------
    BadRequest
        The query is empty, too long, or holds control characters.
    """
    words = _require_words(query, "query")
    corrected, replaced = fetch_spelling(words, web)
    return QuerySpelling(
        words, "" if corrected.casefold() == words.casefold() else corrected, replaced
    )


def look_up_mesh(text: str, most: int, web: Web) -> tuple[int, list[MeshHeading]]:
    """Return the number of matching MeSH records and the first ones; exact names come first.

    Raises
    ------
    BadRequest
        The text is empty, too long, or holds control characters.
    """
    words = _require_words(text, "term")
    if not 1 <= most <= MAX_TERMS:
        msg = f"max_results is {most}; it must lie between 1 and {MAX_TERMS}."
        raise BadRequest(msg, "Look up a narrower term.")
    total, terms = find_mesh_terms(words, most, web)
    near = dict.fromkeys(
        uid for term in terms for uid in (*term.parents, *_limit_neighbours(term.children))
    )
    names = (
        {uid: term.heading for uid, term in fetch_mesh_terms(list(near), web).items()}
        if near
        else {}
    )
    terms.sort(key=lambda term: _rank_heading_match(words, term))
    return total, [
        MeshHeading(
            term,
            _list_heading_names(term.parents, names),
            _list_heading_names(_limit_neighbours(term.children), names),
        )
        for term in terms
    ]


def _require_words(text: str, name: str) -> str:
    words = " ".join(prepare_query_text(text, name, QUERY_MAX_CHARS).split())
    if not words:
        raise BadRequest(f"The {name} is empty.", "Give a word or a phrase.")
    return words


def _rank_heading_match(words: str, term: MeshTerm) -> int:
    """Return 0 for the heading itself, 1 for one of its synonyms, 2 for anything else."""
    sought = words.casefold()
    if sought in (term.heading.casefold(), term.ui.casefold()):
        return 0
    return 1 if sought in map(str.casefold, term.entry_terms) else 2


def _limit_neighbours(uids: Sequence[str]) -> Sequence[str]:
    return uids[:_MAX_NEIGHBOURS]


def _list_heading_names(uids: Iterable[str], names: dict[str, str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for uid in uids if (name := names.get(uid))))
