"""What papers are, by any of their names: the record on the shelf, or else the sites'."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..errors import PaperError
from ..model.identifiers import Ids
from ..model.paper import Paper
from ..sources import Source
from ..store import Shelf
from ..web import Web
from .lookup import look_up


def records(
    wanted: Iterable[Ids], shelf: Shelf, web: Web, sources: Sequence[Source]
) -> list[tuple[Ids, Paper | PaperError]]:
    """One outcome for each of *wanted*, in their order; nobody is asked about what is held.

    A shelf's record without a title (a file of an older program) is asked for all the same.

    Returns
    -------
    list of tuple
        The identifiers with the paper, or with why there is none; see `.lookup.look_up`.
    """
    asked = list(wanted)
    held = {ids: stored.paper for ids in asked if (stored := shelf.find(ids))}
    known = {ids: paper for ids, paper in held.items() if paper.title}
    found = look_up([ids for ids in dict.fromkeys(asked) if ids not in known], web, sources)
    return [(ids, known.get(ids) or found[ids]) for ids in asked]
