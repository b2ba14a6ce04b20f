r"""Word's own references: the sources a DOCX holds, and the fields that cite them.

``CITATION Roe24 \l 1033 \m Doe20`` cites two sources by their tags; they stand in a part
``customXml/itemN.xml`` whose root is ``b:Sources``. Facts: ECMA-376 part 1, 17.16.5.8 (CITATION)
and 22.6.2 (https://learn.microsoft.com/en-us/previous-versions/office/developer/office-2010/cc883881(v=office.14)).
The element ``DOI`` is as remembered from documents of newer Words; the standard has none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ..lists.described import described
from .parts import Reference
from .printed import ids_in

_CITATION = re.compile(r"\s*CITATION\s")
_TAG = re.compile(r"(?:CITATION|\\m)\s+(\"[^\"]*\"|[^\s\\]+)")
_KINDS = {
    "JournalArticle": "article",
    "ArticleInAPeriodical": "article",
    "InternetSite": "webpage",
    "DocumentFromInternetSite": "webpage",
}
_MOST_AUTHORS = 100


def tags_in(code: str) -> tuple[str, ...]:
    r"""The tags of the sources that a field cites; none where it is another field.

    >>> tags_in(r' CITATION Roe24 \l 1033 \m "Doe 20" \p 3 ')
    ('Roe24', 'Doe 20')
    """
    found = _TAG.findall(code) if _CITATION.match(code) else []
    return tuple(tag.strip('"') for tag in found)


def sources_in(root: Any) -> Iterator[Reference]:
    """The sources of a part; none where it is another part."""
    if _name(root) != "Sources":
        return
    for source in root:
        fields = {_name(one): _words(one) for one in source if not len(one)}
        if tag := fields.get("Tag", ""):
            named = " ".join(fields.get(name, "") for name in ("DOI", "StandardNumber", "URL"))
            said = {
                "authors": list(_authors(source))[:_MOST_AUTHORS],
                "year": fields.get("Year", ""),
                "title": fields.get("Title", ""),
                "journal": fields.get("JournalName", "") or fields.get("PeriodicalTitle", ""),
                "volume": fields.get("Volume", ""),
                "issue": fields.get("Issue", ""),
                "pages": fields.get("Pages", ""),
            }
            kind = fields.get("SourceType", "")
            yield Reference(tag, ids_in(named), described(said), kind=_KINDS.get(kind, kind))


def _authors(source: Any) -> Iterator[str]:
    """Of a source's people those that are called its authors: ``Author`` in ``Author``."""
    people = (one for outer in source if _name(outer) == "Author" for one in outer)
    for one in (
        element for person in people if _name(person) == "Author" for element in person.iter()
    ):
        if _name(one) == "Corporate":
            yield _words(one)
        elif _name(one) == "Person":
            parts = {_name(part): _words(part) for part in one}
            given = f"{parts.get('First', '')} {parts.get('Middle', '')}".strip()
            yield ", ".join(filter(None, (parts.get("Last", ""), given)))


def _name(element: Any) -> str:
    return str(element.tag).rpartition("}")[2]


def _words(element: Any) -> str:
    return " ".join("".join(element.itertext()).split())
