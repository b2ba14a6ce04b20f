"""The records of Europe PMC, as papers.

Any member of a row may be missing or null; titles and a third of the abstracts carry HTML. What was
published later about a paper is in ``commentCorrectionList``: of a preprint also its version in a
journal, which Europe PMC finds by title and first author and names by PMID.
https://europepmc.org/RestfulWebService
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping
from typing import Any

from ...model.identifiers import Ids
from ...model.paper import Author, Notice, NoticeKind, Paper
from ..loose_json import mapping, mappings, short_text, text, whole

_NOTICES: dict[str, NoticeKind] = {
    "retraction in": "retraction",
    "expression of concern in": "expression_of_concern",
    "erratum in": "erratum",
    "republished in": "republication",
    "update in": "update",
    "preprint of": "update",
}


def rows_of(reply: object) -> list[dict[str, Any]]:
    """The rows of an answer."""
    return mappings(mapping(mapping(reply).get("resultList")).get("result"))


def paper_of(row: Mapping[str, Any]) -> Paper:
    """Any field may be missing or null; a preprint's journal is the server it lies on."""
    about = mapping(row.get("journalInfo"))
    journal = mapping(about.get("journal"))
    preprint = row.get("source") == "PPR"
    server = text(mapping(row.get("bookOrReportDetails")).get("publisher")) if preprint else ""
    return Paper(
        ids=Ids(
            doi=text(row.get("doi")),
            pmid=Ids.maybe(text(row.get("pmid"))).pmid,
            pmcid=Ids.maybe(text(row.get("pmcid"))).pmcid,
        ),
        title=without_html(short_text(row.get("title"))),
        abstract=without_html(row.get("abstractText")),
        authors=tuple(map(_author, mappings(mapping(row.get("authorList")).get("author")))),
        journal=short_text(journal.get("title")) or server,
        journal_abbreviation=text(journal.get("isoabbreviation")),
        issn=text(journal.get("issn")),
        volume=text(about.get("volume")),
        issue=text(about.get("issue")),
        pages=text(row.get("pageInfo")),
        published=text(row.get("firstPublicationDate")) or text(row.get("pubYear")),
        languages=tuple(filter(None, (text(row.get("language")),))),
        publication_types=("Preprint",) if preprint else tuple(_kinds(row)),
        notices=_notices(row),
        license=text(row.get("license")),
        version=text(row.get("versionNumber")) if preprint else "",
    )


def _kinds(row: Mapping[str, Any]) -> Iterator[str]:
    kinds = mapping(row.get("pubTypeList")).get("pubType")
    yield from filter(None, map(text, kinds if isinstance(kinds, list) else ()))


def _notices(row: Mapping[str, Any]) -> tuple[Notice, ...]:
    """What was published later about the paper; of a preprint also its version in a journal."""
    links = mappings(mapping(row.get("commentCorrectionList")).get("commentCorrection"))
    notices = [
        Notice(kind, text(link.get("reference")), _pmid(link))
        for link in links
        if (kind := _NOTICES.get(text(link.get("type")).lower()))
    ]
    if "retracted publication" in map(str.lower, _kinds(row)) and not any(
        notice.kind == "retraction" for notice in notices
    ):
        notices.append(Notice("retraction"))
    return tuple(notices)


def _pmid(link: Mapping[str, Any]) -> str:
    number = text(link.get("id"))
    return number if link.get("source") == "MED" and number.isdecimal() else ""


def _author(row: Mapping[str, Any]) -> Author:
    family = text(row.get("lastName"))
    who = mapping(row.get("authorId"))
    return Author(
        family=family,
        given=text(row.get("firstName")),
        initials=text(row.get("initials")),
        collective=text(row.get("collectiveName")) or ("" if family else text(row.get("fullName"))),
        orcid=text(who.get("value")) if who.get("type") == "ORCID" else "",
    )


def version_of(row: Mapping[str, Any]) -> int:
    """The version of a preprint's row; 0 where it has none."""
    return whole(row.get("versionNumber")) or 0


def without_html(markup: object) -> str:
    """Titles and a third of the abstracts carry HTML, sometimes escaped.

    >>> without_html("<h4>Aim</h4>P &lt; 0.05 of &lt;i&gt;ATM&lt;/i&gt;")
    'Aim: P < 0.05 of ATM'
    """
    raw = html.unescape(markup) if isinstance(markup, str) else ""
    spaced = raw.replace("<h4>", "\n\n").replace("</h4>", ": ")
    return re.sub(r"</?[a-zA-Z][^<>]*>", "", spaced).strip()
