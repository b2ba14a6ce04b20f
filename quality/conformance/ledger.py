"""The ledger: what the five reference documents and the contracts ask for, item by item.

Each item names its document and paragraph, is called over every door that offers it, and is checked
by one function. Where the product does otherwise, the item says why, and the check holds the
product to what it does instead. ``python -m quality.conformance`` prints it.
"""

from collections.abc import Iterator

from quality.conformance import (
    contracts,
    document_000,
    document_001,
    document_002,
    document_003,
    document_004,
)

DOCUMENTS = {
    "002": ("methods of a PubMed paper-download server", document_002.ITEMS),
    "000": ("specification of a PubMed server", document_000.ITEMS),
    "001": ("contracts of a literature corpus and its search", document_001.ITEMS),
    "003": ("compliance notes of an Entrez server", document_003.ITEMS),
    "004": ("interface of arXiv, Semantic Scholar and PubMed servers", document_004.ITEMS),
    "C": ("the contracts in which they were merged", contracts.ITEMS),
}
"""Each with what it is; the core first."""

LEDGER = tuple(item for _, items in DOCUMENTS.values() for item in items)


def deviations() -> Iterator[tuple[str, str, str, str]]:
    """Document, paragraphs, requirements and the reason why the product does otherwise.

    Items of a document that deviate for the same reason stand together.
    """
    reasons = dict.fromkeys((one.document, one.deviation) for one in LEDGER if one.deviation)
    for document, reason in reasons:
        same = [one for one in LEDGER if (one.document, one.deviation) == (document, reason)]
        places = ", ".join(dict.fromkeys(one.place for one in same))
        yield document, places, "; ".join(dict.fromkeys(one.what for one in same)), reason


def totals() -> Iterator[tuple[str, str, int, int, int]]:
    """Of each document: what it is, its items, their calls over all doors, their deviations."""
    for document, (about, items) in DOCUMENTS.items():
        calls = sum(len(one.offered) for one in items)
        yield document, about, len(items), calls, sum(bool(one.deviation) for one in items)
