"""Recognise texts that do not identify a paper, and suggest what to type instead."""

from __future__ import annotations

import re
from shlex import quote
from urllib.parse import parse_qs, urlsplit

from ..command_line import command_line
from ..system.plain_text import one_line, shorten

EXAMPLES = "For example 31452104, PMC7759461, 10.1038/s41586-020-2649-2 or arXiv:2601.00001."
_SHOWN_CHARS = 80
# What it is, and the query that finds its papers in PubMed; patterns as their issuers publish them.
_KINDS = tuple(
    (re.compile(pattern, re.I | re.A), what, query)
    for pattern, what, query in (
        (r"(?:ISBN(?:-1[03])?:?\s*)?(97[89](?:[- ]?\d){10})", "the ISBN of a book", "{}[isbn]"),
        (r"(?:https?://orcid\.org/)?(\d{4}-\d{4}-\d{4}-\d{3}[\dX])", "the ORCID of a person",
         "{}[auid]"),
        (r"(?:ISSN:?\s*)?(\d{4}-\d{3}[\dX])", "the ISSN of a journal", "{}[ta]"),
        (r"(NCT\d{8})", "the number of a clinical trial", "{}[si]"),
        (r"\d?[A-Z]\d{2}\s?([A-Z]{2}\d{6})(?:-\w+)?", "the number of a grant", "{}[gr]"),
        (r"(CRD42\d{7,})", "the number of a protocol in PROSPERO", "{}"),
    )
)  # fmt: skip


def explain_unknown_identifier(text: str) -> tuple[str, str]:
    """Return a description of a text that is not a paper's identifier ("" if unknown), and a hint.

    >>> explain_unknown_identifier("NCT01234567")[0]
    'the number of a clinical trial'
    """
    asked = one_line(text).strip()
    for pattern, what, query in _KINDS:
        if found := pattern.fullmatch(asked):
            return what, f"To find papers: {_build_search_hint(query.format(found[1]))}"
    if re.fullmatch(r"\d+", asked, re.A):
        return "", "A PMID has at most 8 digits and is greater than 0."
    if re.match(r"(?:doi:\s*|(?:https?://)?(?:dx\.)?doi\.org/)?10\.", asked, re.I):
        return "", "A DOI is 10., four digits or more, a slash and a name: 10.1038/171737a0."
    if re.match(r"arxiv:", asked, re.I):
        return "", "An arXiv identifier is like arXiv:2601.00001 or arXiv:hep-th/9901001."
    if re.match(r"https?://", asked, re.I):
        terms = parse_qs(urlsplit(asked).query).get("term", [""])[0]
        if terms:
            return "the address of a search", f"To search: {_build_search_hint(terms)}"
        return "the address of a web page", "Give the DOI that the page shows. " + EXAMPLES
    if re.search(r"[^\W\d_]\s+[^\W\d_]", asked):
        return "", f"To find papers by words: {_build_search_hint(asked)}"
    return "", EXAMPLES


def _build_search_hint(query: str) -> str:
    shown = shorten(query, _SHOWN_CHARS)
    return command_line(f"search {quote(shown)}" if "'" in shown else f"search '{shown}'")
