"""PubMed's records as they are: XML or MEDLINE text, by the hundred.

``efetch`` with ``db=pubmed``. A PMID that PubMed does not know (any more) is left out of the answer
silently, and the order of the answer is not promised.
https://www.ncbi.nlm.nih.gov/books/NBK25499/
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from ...formats.pubmed.articles import split_medline, split_xml
from ...web import Answer, Web
from ..eutils import ask, shown_url, uses_post

Form = Literal["xml", "medline"]
_FORMS: dict[Form, dict[str, str]] = {
    "xml": {"retmode": "xml"},
    "medline": {"retmode": "text", "rettype": "medline"},
}
_REMEMBERED_DAYS = 1.0


def recall_records(pmids: Sequence[str], form: Form, web: Web) -> dict[str, str]:
    """The records that were fetched within the last day."""
    kept = web.memory.recall_many(f"pubmed_{form}", pmids)
    return {pmid: record for pmid, record in kept.items() if isinstance(record, str)}


def fetch_records(pmids: Sequence[str], form: Form, web: Web) -> dict[str, str]:
    """The records of at most 200 PMIDs, in one request; the unknown ones are left out.

    Raises
    ------
    Unreachable
        PubMed did not answer, or not with records.
    """
    found: dict[str, str] = {}

    def read(answer: Answer) -> None:
        found.clear()
        found.update(split_xml(answer.body) if form == "xml" else split_medline(answer.text()))

    ask(web, "efetch", _params(pmids, form), read)
    wanted = set(pmids)
    records = {pmid: record for pmid, record in found.items() if pmid in wanted}
    for pmid, record in records.items():
        web.memory.keep(f"pubmed_{form}", pmid, record, _REMEMBERED_DAYS)
    return records


def records_url(pmids: Sequence[str], form: Form, web: Web) -> tuple[str, str]:
    """The request for those records: its method, and the address without secrets."""
    params = _params(pmids, form)
    return "POST" if uses_post(web, params) else "GET", shown_url(web, "efetch", params)


def _params(pmids: Sequence[str], form: Form) -> dict[str, Any]:
    return {"db": "pubmed", "id": ",".join(pmids), **_FORMS[form]}
