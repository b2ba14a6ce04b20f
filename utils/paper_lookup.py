"""From identifiers to papers: what is known about them, and all their other names."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace

from .errors import BadRequest, NotFound, PaperError, Unreachable
from .paper import Ids, Paper
from .sources import Lookup, Source
from .web import Web

log = logging.getLogger(__name__)


def look_up(
    wanted: Sequence[Ids], web: Web, sources: Sequence[Source]
) -> dict[Ids, Paper | PaperError]:
    """Learn what many papers are, from whoever knows them first.

    Every source is asked once, in batches, about the papers still unknown to those before it.

    Returns
    -------
    dict
        One outcome for each of *wanted*: the paper; `NotFound` when everybody who could know it
        answered and does not; `Unreachable` when somebody who could know it did not answer.
    """
    known: dict[Ids, Paper] = {ids: Paper(ids) for ids in wanted}
    trouble: dict[Ids, PaperError] = {}
    for source in sources:
        if source.lookup is None:
            continue
        pending = {
            known[ids].ids: ids for ids in wanted if _may_be_asked(source.lookup, known[ids])
        }
        for asked, outcome in _ask(source, list(pending), web):
            ids = pending[asked]
            if isinstance(outcome, Paper) and (clash := ids.clash(outcome.ids)):
                trouble[ids] = _contradiction(clash)
            elif isinstance(outcome, Paper):
                # The record, with the names we had.
                known[ids] = replace(outcome, ids=outcome.ids | known[ids].ids)
            elif not isinstance(trouble.get(ids), Unreachable):
                trouble[ids] = outcome
    return {ids: _outcome(ids, known[ids], trouble.get(ids)) for ids in wanted}


def _may_be_asked(lookup: Lookup, paper: Paper) -> bool:
    return not paper.title and any(getattr(paper.ids, name) for name in lookup.by)


def _ask(source: Source, pending: Sequence[Ids], web: Web) -> list[tuple[Ids, Paper | PaperError]]:
    if not pending or source.lookup is None:
        return []
    try:
        return list(source.lookup.ask(pending, web))
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        # A service that changed its answer's form is as good as one that did not answer.
        log.exception("%s answered in a form we do not understand", source.name)
        msg = f"{source.name} answered in a form we do not understand ({type(error).__name__})."
        return [(ids, Unreachable(msg, "Update Papershelf, or report this.")) for ids in pending]


def _contradiction(clash: str) -> BadRequest:
    msg = f"The identifiers belong to different papers: {clash}."
    return BadRequest(msg, "Give one identifier, or several of the same paper.")


def _outcome(ids: Ids, paper: Paper, trouble: PaperError | None) -> Paper | PaperError:
    if isinstance(trouble, BadRequest):
        return trouble
    if paper.title:
        return paper
    if isinstance(trouble, Unreachable):
        msg = f"Could not find out what {ids} is. {trouble.message}"
        return Unreachable(msg, trouble.hint, **trouble.details)
    msg = f"Nobody knows a paper {ids}. {trouble.message if trouble else ''}".strip()
    return NotFound(msg, "Check the identifier.")
