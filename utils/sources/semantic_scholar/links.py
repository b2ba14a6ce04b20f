"""Semantic Scholar: the papers that a paper cites, and those that cite it, the newest first.

It shows 9,999 of each list; how many there are stands in the paper's own record.
https://api.semanticscholar.org/api-docs/
"""

from __future__ import annotations

from ...errors import BadRequest, Miss, NotConfigured, NotFound, NotOffered
from ...model.identifiers import Ids
from ...web import Web
from ..europepmc.links import Kind, Linked
from . import fetch_paper, next_of, require_list, rows_of
from .graph import ask, name_of, paper_path
from .records import LIST_FIELDS, ScholarPage, scholar_paper

_OTHER_END: dict[Kind, str] = {"citations": "citingPaper", "references": "citedPaper"}
_SHOWN = 9_999  # offset + limit must stay below 10,000
_AT_ONCE = 1000


def fetch_linked_papers(name: str, kind: Kind, most: int, start: int, web: Web) -> ScholarPage:
    """Up to 1,000 papers that cite the one called *name*, or that it cites.

    Raises
    ------
    BadRequest
        *start* lies beyond what it shows.
    NotConfigured
        The key is not known.
    NotFound
        Semantic Scholar does not know the paper.
    Unreachable
        It did not answer, or with something else.
    """
    limit = min(most, _AT_ONCE, _SHOWN - start)
    if limit < 1:
        msg = f"start is {start:,}; Semantic Scholar shows the first {_SHOWN:,} {kind} of a paper."
        raise BadRequest(msg, "Its data sets hold all of them.")
    params = {"fields": LIST_FIELDS, "offset": start, "limit": limit}
    reply = ask(f"{paper_path(name)}/{kind}", params, web, require_list)
    rows = rows_of(reply)
    ends = (row.get(_OTHER_END[kind]) if isinstance(row, dict) else None for row in rows)
    papers = tuple(filter(None, map(scholar_paper, ends)))
    warnings = []
    if reply["data"] is None:
        warnings.append(f"The publisher lets Semantic Scholar show no {kind}.")
    if nameless := len(rows) - len(papers):
        warnings.append(f"{nameless:,} of these {kind} have no record and are left out.")
    following = next_of(reply, start)
    if following is None and start == 0 and reply["data"] is not None:
        return ScholarPage(len(rows), papers, warnings=tuple(warnings))
    total, more_warnings = _fetch_total(name, kind, web)
    reached = start + len(rows)
    if following is None or following >= _SHOWN:
        following = None
        more_warnings += _gap_warning(kind, total, reached)
    return ScholarPage(total, papers, following, warnings=(*warnings, *more_warnings))


def fetch_linked(ids: Ids, kind: Kind, most: int, web: Web) -> tuple[int, list[Linked], str]:
    """How many papers are on the list, the first *most* of them, and the address requested.

    Raises
    ------
    NotOffered
        Semantic Scholar does not know the paper, or not the key.
    Unreachable
        It did not answer, or with something else.
    """
    try:
        page = fetch_linked_papers(name_of(ids), kind, most, 0, web)
    except (BadRequest, NotFound, NotConfigured) as error:
        raise NotOffered(error.message, error.hint) from None
    rows = [Linked.of(found.paper) for found in page.papers]
    total = len(rows) if page.total is None else max(page.total, len(rows))
    path = f"{paper_path(name_of(ids))}/{kind}"
    return total, rows[:most], f"{web.settings.address('semantic_scholar')}{path}"


def _fetch_total(name: str, kind: Kind, web: Web) -> tuple[int | None, tuple[str, ...]]:
    """How long the list is, from the paper's record."""
    try:
        paper = fetch_paper(name, web)
    except Miss as silent:
        return None, (f"How many {kind} there are could not be asked: {silent.message}",)
    return (paper.citation_count if kind == "citations" else paper.reference_count), ()


def _gap_warning(kind: Kind, total: int | None, reached: int) -> tuple[str, ...]:
    """A warning on papers that the list does not show: it has an end, and gaps."""
    if total is None:
        at_the_wall = reached >= _SHOWN
        warning = f"Semantic Scholar shows the first {_SHOWN:,} {kind}; there may be more."
        return (warning,) if at_the_wall else ()
    beyond = total - reached
    warning = (
        f"Semantic Scholar shows the first {reached:,} of {total:,} {kind};"
        f" {beyond:,} lie beyond what it lists."
    )
    return (warning,) if beyond > 0 else ()
