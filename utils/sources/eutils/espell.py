"""ESpell: how a database would spell a query. XML only; no correction means that it has none.

https://www.ncbi.nlm.nih.gov/books/NBK25499/
"""

from __future__ import annotations

from typing import Any

from ...errors import BadContent
from ...formats.safe_xml import parse
from ...system.plain_text import one_line
from ...web import Answer, Web
from . import ask


def fetch_spelling(query: str, web: Web, database: str = "pubmed") -> tuple[str, tuple[str, ...]]:
    """The suggested spelling of a query, and the words put in; both empty for no suggestion.

    Raises
    ------
    Unreachable
        NCBI did not answer.
    """
    answer = ask(web, "espell", {"db": database, "term": query}, read=_root)
    root = _root(answer)
    replaced = tuple(one_line(node.text or "") for node in root.iterfind("SpelledQuery/Replaced"))
    return one_line(root.findtext("CorrectedQuery") or ""), tuple(filter(None, replaced))


def _root(answer: Answer) -> Any:
    root = parse(answer.body)
    if root.tag != "eSpellResult":
        msg = "What came is no answer of ESpell."
        raise BadContent(msg, verdict="error_page")
    return root
