"""Read lists that are one document: CSL-JSON, EndNote XML and the XML export of WHO's ICTRP.

CSL-JSON as Zotero, Mendeley and pandoc write it (an array of items, or one under ``items``):
https://docs.citationstyles.org/en/stable/specification.html#appendix-iv-variables. Identifiers
beside the DOI stand in their own fields, or as lines of the note.

EndNote XML as EndNote 20 and 21 and the programs that imitate it write it: texts lie in ``style``
elements, one for each change of font. Entities are not expanded, nothing is loaded.

ICTRP has one ``Trial`` for each trial, with dates such as ``20251229`` and ``29/12/2025``. Its CSV
export is not read, because its rows may be longer than its header.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from io import BytesIO
from typing import Any

from lxml import etree

from ..errors import BadRequest
from ..model.identifiers import IdName, Ids
from ..model.paper import TRIAL_REGISTRATION, Author, Notice, Paper
from ..readers.safe_xml import SAFE_OPTIONS
from ..system.plain_text import one_line
from .described import RecordFields, build_list_entry, parsed_paper_to_entry
from .pasted import ListEntry, collect_field_ids

_ID_IN_NOTE = re.compile(r"^\s*(PMID|PMCID|DOI|arXiv)\s*:\s*\S+.*$", re.I | re.M)
_PUBMED_PROVIDER = re.compile(r"pubmed|medline|\bnlm\b", re.I)
_REFERENCE_FIELDS = {"title", "doi", "pmid", "pmcid", "arxiv", "url", "note"}
_FIELD_MAX_CHARS = 100_000  # characters of a field that are looked at
_MAX_AUTHORS = 100
# EndNote's fields, and the paths at which they lie in a record.
_PATHS = {
    "doi": ("electronic-resource-num",),
    "accession": ("accession-num",),
    "provider": ("remote-database-name", "remote-database-provider"),
    "pmcid": ("custom2",),
    "year": ("dates/year",),
    "title": ("titles/title",),
    "journal": ("periodical/full-title", "titles/secondary-title", "titles/alt-title"),
    "abbreviation": ("periodical/abbr-1",),
    "volume": ("volume",),
    "issue": ("number",),
    "pages": ("pages", "electronic-resource-location"),
    "issn": ("isbn",),
}
_ICTRP_ROOT, _HEAD_BYTES = b"<Trials_downloaded_from_ICTRP", 1000
_ICTRP_DAY = re.compile(r"(\d{4})(\d\d)(\d\d)|(\d\d)/(\d\d)/(\d{4})")
_AUTHORS = "contributors/authors/author"
_LINKS = ("urls/related-urls/url", "urls/web-urls/url", "urls/text-urls/url", "notes")


def is_json(start: bytes) -> bool:
    """Return whether a file with this start is JSON."""
    return start[:1] in (b"{", b"[") and re.match(rb'[\[{]\s*[\[{"\]}]', start) is not None


def read_csl_entries(data: bytes) -> Iterator[ListEntry]:
    """Yield the papers of a CSL-JSON file.

    Raises
    ------
    BadRequest
        It is no JSON, or no list of items.
    """
    try:
        items = _parse_json(data)
    except (ValueError, RecursionError) as error:
        msg = f"The list is JSON that cannot be read: {one_line(str(error))[:120]}."
        raise BadRequest(msg, "Export it again, or save it as RIS or CSV.") from None
    items = items.get("items", [items]) if isinstance(items, dict) else items
    if not (isinstance(items, list) and all(map(_is_csl_item, items))):
        msg = "The list is JSON, but not a list of references (CSL-JSON)."
        raise BadRequest(msg, "Export CSL-JSON, RIS, BibTeX or NBIB, or save it as CSV.")
    for number, item in enumerate(items, 1):
        yield _csl_item_to_entry(item, number)


def _parse_json(data: bytes) -> Any:
    """Return one JSON value, or a list with one value per line (our own ``--json`` output)."""
    try:
        return json.loads(data)
    except json.JSONDecodeError:
        lines = [line for line in data.splitlines() if line.strip()]
        if len(lines) < 2:
            raise
        return [json.loads(line) for line in lines]


def _is_csl_item(item: object) -> bool:
    return isinstance(item, dict) and not _REFERENCE_FIELDS.isdisjoint(
        name.lower() for name in item
    )


def _csl_item_to_entry(item: Mapping[str, Any], number: int) -> ListEntry:
    ids = get_csl_ids(item)
    return build_list_entry(ids, {} if ids else get_csl_fields(item), f"item {number}")


def get_csl_ids(item: Mapping[str, Any]) -> Ids:
    """Return the identifiers of a CSL-JSON item."""
    fields = _lowercase_csl_fields(item)
    named: dict[IdName, str] = {
        "pmid": fields.get("PMID", ""),
        "pmcid": fields.get("PMCID", ""),
        "doi": fields.get("DOI", ""),
        "arxiv": fields.get("ARXIV", ""),
    }
    notes = [line[0] for line in _ID_IN_NOTE.finditer(fields.get("NOTE", ""))]
    hints = (*notes, fields.get("NUMBER", ""), fields.get("URL", ""), fields.get("ID", ""))
    return collect_field_ids(named, hints)


def _lowercase_csl_fields(item: Mapping[str, Any]) -> dict[str, str]:
    return {name.upper(): _value_to_text(value) for name, value in item.items()}


def get_csl_fields(item: Mapping[str, Any]) -> RecordFields:
    """Return the bibliographic fields of a CSL-JSON item."""
    fields = _lowercase_csl_fields(item)
    people = item.get("author")
    names = (
        [_format_csl_name(one) for one in people[:_MAX_AUTHORS]] if isinstance(people, list) else []
    )
    return {
        "authors": list(filter(None, names)),
        "year": _find_issue_year(item.get("issued")),
        "title": fields.get("TITLE", ""),
        "vernacular_title": fields.get("ORIGINAL-TITLE", ""),
        "journal": fields.get("CONTAINER-TITLE", ""),
        "abbreviation": fields.get("CONTAINER-TITLE-SHORT", "")
        or fields.get("JOURNALABBREVIATION", ""),
        "volume": fields.get("VOLUME", ""),
        "issue": fields.get("ISSUE", ""),
        "pages": fields.get("PAGE", "") or fields.get("PAGE-FIRST", ""),
        "issn": fields.get("ISSN", ""),
        "kinds": [fields.get("GENRE", "")],
    }


def _format_csl_name(name: object) -> str:
    if not isinstance(name, dict):
        return ""
    family = " ".join(
        part
        for part in map(_value_to_text, (name.get("non-dropping-particle"), name.get("family")))
        if part
    )
    given = _value_to_text(name.get("given"))
    return (
        f"{family}, {given}" if family and given else family or _value_to_text(name.get("literal"))
    )


def _value_to_text(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int):
        return ""
    return str(value)[:_FIELD_MAX_CHARS]


def _find_issue_year(issued: object) -> str:
    """Return the year of ``{"date-parts": [[2019, 5]]}``, or of the literal date."""
    if not isinstance(issued, dict):
        return ""
    parts = issued.get("date-parts")
    while isinstance(parts, list) and parts:
        parts = parts[0]
    return (
        _value_to_text(parts)
        or _value_to_text(issued.get("raw"))
        or _value_to_text(issued.get("literal"))
    )


def read_endnote_entries(data: bytes) -> Iterator[ListEntry]:
    """Yield the records of an EndNote XML file, or of ICTRP's export, one at a time.

    Raises
    ------
    BadRequest
        It is not well-formed, or has neither EndNote's records nor ICTRP's trials.
    """
    found = 0
    try:
        for _, record in etree.iterparse(BytesIO(data), tag=("record", "Trial"), **SAFE_OPTIONS):
            found += 1
            if record.tag == "Trial":
                yield _ictrp_trial_to_entry(record, found)
            else:
                yield _endnote_record_to_entry(record, found)
            record.clear(keep_tail=False)
    except etree.XMLSyntaxError as error:
        msg = f"The list is XML or HTML that cannot be read: {one_line(str(error))[:120]}."
        raise BadRequest(msg, "Export it again, or as RIS.") from None
    if not found and _ICTRP_ROOT not in data[:_HEAD_BYTES]:
        msg = "The list is XML or HTML without EndNote's records or trials of WHO's ICTRP."
        raise BadRequest(msg, "Export EndNote XML, RIS, BibTeX or NBIB, or save it as CSV.")


def _endnote_record_to_entry(record: Any, number: int) -> ListEntry:
    return build_list_entry(get_endnote_ids(record), get_endnote_fields(record), f"record {number}")


def _ictrp_trial_to_entry(trial: Any, number: int) -> ListEntry:
    """Return a trial of ICTRP's export; a link to its results in PubMed is a notice."""
    fields = {one.tag: _join_element_text(one) for one in trial}
    registered = fields.get("Date_registration3") or fields.get("Date_registration", "")
    day = _ICTRP_DAY.fullmatch(registered)
    parts = day.groups("") if day else ("",) * 6
    results = Ids.maybe(fields.get("results_url_link", "")).pmid
    kind = fields.get("Study_type", "")
    paper = Paper(
        Ids(),
        title=fields.get("Scientific_title") or fields.get("Public_title", ""),
        authors=tuple(Author(collective=one) for one in [fields.get("Primary_sponsor", "")] if one),
        journal=fields.get("Source_Register", ""),
        pages=fields.get("TrialID", ""),
        published="-".join(filter(None, parts[:3] if parts[0] else parts[5:2:-1])),
        publication_types=(TRIAL_REGISTRATION, *([kind] if kind else [])),
        keywords=tuple(filter(None, fields.get("Condition", "").split(";"))),
        notices=(Notice("update", "", results),) if results else (),
    )
    return parsed_paper_to_entry(paper, f"trial {number}")


def get_endnote_ids(record: Any) -> Ids:
    """Return the identifiers of an EndNote XML record."""
    fields = {name: _find_element_text(record, paths) for name, paths in _PATHS.items()}
    accession = fields["accession"]
    ours = _PUBMED_PROVIDER.search(fields["provider"]) or accession[:4].upper() == "PMID"
    named: dict[IdName, str] = {
        "pmid": accession if ours else "",
        "pmcid": fields["pmcid"] if fields["pmcid"][:3].upper() == "PMC" else "",
        "doi": fields["doi"],
    }
    links = (_join_element_text(one) for path in _LINKS for one in record.iterfind(path))
    return collect_field_ids(named, links)


def get_endnote_fields(record: Any) -> RecordFields:
    """Return the bibliographic fields of an EndNote XML record."""
    authors = [_join_element_text(one) for one in record.iterfind(_AUTHORS)][:_MAX_AUTHORS]
    kind = record.find("ref-type")
    fields = {name: _find_element_text(record, paths) for name, paths in _PATHS.items()}
    kinds = [kind.get("name", "")] if kind is not None else []
    return {**fields, "authors": authors, "kinds": kinds}


def _find_element_text(record: Any, paths: Sequence[str]) -> str:
    """Return the text of the first element found, without font markup."""
    found = (_join_element_text(one) for path in paths for one in record.iterfind(path))
    return next(filter(None, found), "")


def _join_element_text(element: Any) -> str:
    return " ".join("".join(element.itertext())[:_FIELD_MAX_CHARS].split())
