"""EInfo: the Entrez databases; of one its number of records, search fields and links.

https://www.ncbi.nlm.nih.gov/books/NBK25499/
"""

from __future__ import annotations

from typing import Any

from ...errors import Unreachable
from ...web import Answer, Web
from ..loose_json import line, mapping, mappings, text, whole
from . import ask, shown_url

_REMEMBERED_DAYS = 0.25


def fetch_database(name: str, web: Web) -> tuple[dict[str, Any], str]:
    """EInfo's description of a database, and the address of the request.

    Raises
    ------
    Unreachable
        NCBI did not answer, or does not describe it.
    """
    params = {"db": name, "retmode": "json"}
    known = web.memory.recall("einfo", name)
    if not isinstance(known, dict):
        known = _description(ask(web, "einfo", params, read=_description))
        web.memory.keep("einfo", name, known, _REMEMBERED_DAYS)
    return known, shown_url(web, "einfo", params)


def fetch_database_names(web: Web) -> tuple[str, ...]:
    """The names of all databases there are today.

    Raises
    ------
    Unreachable
        NCBI did not answer, or not with names.
    """
    known = web.memory.recall("einfo", "")
    if not isinstance(known, list):
        known = _names(ask(web, "einfo", {"retmode": "json"}, read=_names))
        web.memory.keep("einfo", "", known, _REMEMBERED_DAYS)
    return tuple(filter(None, (line(name) for name in known)))


def _names(answer: Answer) -> list[str]:
    names = mapping(mapping(answer.json()).get("einforesult")).get("dblist")
    found = [text(name) for name in names if text(name)] if isinstance(names, list) else []
    if not found:
        raise Unreachable("NCBI sent no list of databases.", "Try again in a minute.")
    return found


def _description(answer: Answer) -> dict[str, Any]:
    reply = answer.json()
    result = reply.get("einforesult") if isinstance(reply, dict) else None
    rows = result.get("dbinfo") if isinstance(result, dict) else None
    row = rows[0] if isinstance(rows, list) and rows else rows
    if not isinstance(row, dict) or whole(row.get("count")) is None:
        msg = "NCBI sent no description of the database."
        raise Unreachable(msg, "Try again in a minute.")
    return {
        **row,
        "fieldlist": mappings(row.get("fieldlist")),
        "linklist": mappings(row.get("linklist")),
    }
