"""EPost: put identifiers on NCBI's history server. XML only.

What is no identifier is left out with a message; one without a record is kept all the same.
https://www.ncbi.nlm.nih.gov/books/NBK25499/
"""

from __future__ import annotations

from collections.abc import Sequence

from ...errors import BadContent
from ...formats.safe_xml import parse
from ...system.plain_text import one_line
from ...web import Answer, Web
from . import ask


def post_ids(database: str, uids: Sequence[str], web: Web) -> tuple[str, str]:
    """Put identifiers on the history server; returns ``WebEnv`` and ``query_key``.

    Raises
    ------
    Unreachable
        NCBI did not answer, or not with a place.
    """
    answer = ask(web, "epost", {"db": database, "id": ",".join(uids)}, read=_place)
    return _place(answer)


def _place(answer: Answer) -> tuple[str, str]:
    root = parse(answer.body)
    environment, key = (one_line(root.findtext(tag) or "") for tag in ("WebEnv", "QueryKey"))
    if root.tag != "ePostResult" or not environment or not key.isdecimal():
        raise BadContent("EPost named no place on the history server.", verdict="error_page")
    return environment, key
