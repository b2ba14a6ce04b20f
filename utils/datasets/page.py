"""A page of a dataset to be: the answer of an Entrez database, and its form.

The forms are those NCBI documents for EFetch and ESummary
(https://www.ncbi.nlm.nih.gov/books/NBK25499/, chapter 4) and one of our own, ``rows``, for sites
that answer in plain objects (PubChem, a list of ids).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

Form = Literal["pubmed_xml", "pmc_xml", "docsum_json", "docsum_xml", "xml", "rows"]
FORMS: tuple[Form, ...] = get_args(Form)


@dataclass(frozen=True, slots=True)
class Page:
    """One answer, untouched.

    ``database`` is the Entrez name (``gene``). ``form`` says how ``body`` is read:

    - ``pubmed_xml``: EFetch of ``pubmed`` (PubmedArticleSet)
    - ``pmc_xml``: EFetch of ``pmc`` (pmc-articleset, JATS)
    - ``docsum_json``: ESummary with retmode=json
    - ``docsum_xml``: ESummary XML, version 1 (DocSum/Item) or 2 (DocumentSummarySet)
    - ``xml``: any other XML of EFetch: the children of its root are the records
    - ``rows``: a JSON list of objects, each a record
    """

    database: str
    form: Form
    body: bytes
