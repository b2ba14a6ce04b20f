"""EFetch: the records of any Entrez database, as they are, in any form it has.

Unknown identifiers are left out silently, and the order is not promised. In the sequence databases
an unknown accession costs the whole list (status 400), and one that is none leaves a line
``Error: F a i l e d …`` among the records.
https://www.ncbi.nlm.nih.gov/books/NBK25499/
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ...web import Answer, Web
from . import ask, empty_id_list


def efetch(
    database: str,
    which: Mapping[str, Any],
    form: Mapping[str, str],
    web: Web,
    read: Callable[[Answer], Any],
) -> Answer | None:
    """The answer to one request; None when NCBI knows none of the identifiers.

    Parameters
    ----------
    which : mapping
        ``id``, or ``WebEnv`` and ``query_key`` with ``retstart`` and ``retmax``.
    form : mapping
        ``rettype``, ``retmode``, and what goes with them.
    read : callable
        Reads the answer; what it finds unreadable (`BadContent`) is asked for again.

    Raises
    ------
    NotOffered
        NCBI refuses the request, for one of its identifiers as a rule.
    Unreachable
        NCBI did not answer, or not with records.
    """
    answer = ask(web, "efetch", {"db": database, **which, **form}, read)
    return None if empty_id_list(answer) else answer
