"""Read the reference list of a paper's text, line by line, and the identifiers printed there."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from ..model.identifiers import Ids
from ..model.paper import Section
from ..outline import build_outline, collect_declared_section_types
from .pasted import collect_field_ids

_SHORTEST_LINE = 30  # characters of a printed reference
_DOI = re.compile(r"\b10\.\d{4,9}/[^\s\])>,;]+")
_PMID = re.compile(r"\bPMID:?\s*(\d{1,8})\b")


def iterate_reference_lines(text: str, sections: Iterable[Section]) -> Iterator[str]:
    """Yield the lines of the reference lists of a text.

    Parameters
    ----------
    text : str
        The whole text.
    sections : iterable of Section
        The sections as recorded, for the publisher's words.
    """
    words: Mapping[str, str] = collect_declared_section_types(tuple(sections))
    for part in build_outline(text, words):
        if "references" in part.roles:
            for line in text[part.start : part.end].splitlines():
                if len(line) > _SHORTEST_LINE and not line.startswith("#"):
                    yield line


def find_printed_ids(reference: str) -> Ids:
    """Return the DOI and PMID printed in a reference.

    >>> find_printed_ids("3. Roe J. On moss. 2019. doi: 10.1000/moss.1. PMID: 7").names()
    ['doi:10.1000/moss.1', 'pmid:7']
    """
    doi, pmid = _DOI.search(reference), _PMID.search(reference)
    return collect_field_ids(
        {"doi": doi[0].rstrip(".") if doi else "", "pmid": pmid[1] if pmid else ""}
    )
