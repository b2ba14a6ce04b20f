"""Put identifiers on NCBI's history server, to request them by one name."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import BadRequest, StoreFailed
from ..sources.eutils.epost import post_ids
from ..system.plain_text import shortened
from ..web import Web
from .databases import Database
from .fetching import look_up
from .histories import History, remember


def post(database: Database, uids: Sequence[str], web: Web) -> History:
    """See `.Entrez.post`."""
    numbers = _look_up_numbers(database, uids, web)
    there = post_ids(database.name, numbers, web)
    words = f"{len(numbers):,} identifiers posted"
    place = remember(database.name, words, len(numbers), there, web)
    if place is None:
        msg = "The name of the history could not be kept on the disk."
        raise StoreFailed(msg, "Give the identifiers themselves, or free some space.")
    return place.history


def _look_up_numbers(database: Database, uids: Sequence[str], web: Web) -> list[str]:
    """Replace accessions by UIDs: EPost leaves out what is no number.

    Raises
    ------
    BadRequest
        An accession has no record.
    """
    names = [uid for uid in uids if not uid.isdecimal()]
    known, unknown = look_up(database.name, names, web)
    if unknown:
        missing = shortened(", ".join(one.id for one in unknown), 100)
        msg = f"{database.name} has no record of {missing}."
        raise BadRequest(msg, "Leave out what does not exist.", ids=[one.id for one in unknown[:5]])
    return list(dict.fromkeys(known.get(uid, uid) for uid in uids))
