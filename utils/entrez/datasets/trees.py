"""Parse a page of records, in any format of Entrez, into trees of plain values.

A tree consists of dicts, lists and scalars; an XML element's own text, next to its attributes and
children, has the empty name. Differences between the formats are removed: lists in a wrapper
(``<Authors><Author/></Authors>``, ``<string>``), the type names NCBI's ASN.1 puts around every
value (``<Gene-track_geneid>``), and XML inside a text member (``expxml``).

The formats are those that NCBI documents for EFetch and ESummary
(https://www.ncbi.nlm.nih.gov/books/NBK25499/, chapter 4), and ``rows`` for sites that answer in
plain objects (PubChem, a list of identifiers). Further sources: recorded answers and NCBI's
``datatool``.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, get_args

from ...errors import BadContent, EntrezFailed
from ...readers.safe_xml import get_readable_text, list_children, parse_untrusted_xml
from ...system.plain_text import one_line, shorten

if TYPE_CHECKING:
    from lxml.etree import _Element

PageForm = Literal["pubmed_xml", "pmc_xml", "docsum_json", "docsum_xml", "xml", "rows"]
FORMS: tuple[PageForm, ...] = get_args(PageForm)
Tree: TypeAlias = Any
OWN_TEXT = ""
"""The key of an element's own text, next to its attributes and children."""
INNER_LIST = "values"
"""The key of a list within a list."""
_MAX_DEPTH = 40  # levels; below, only the text of XML is kept, and JSON stays JSON
_FRAGMENT_MAX_CHARS = 4 << 20  # longer text members are not parsed as XML
_XSI = "{http://www.w3.org/2001/XMLSchema-instance}"
_MARKUP_NAMES = """
    a abbr b bold br code em font i inf italic li ol p pre sc small span strong styled-content
    sub sup tt u ul
"""
_INLINE_TAGS = frozenset(_MARKUP_NAMES.split())
_TITLE_MARKUP = re.compile(r"</?(?:i|b|u|em|strong|sub|sup|p|br)\s*/?>", re.I)
_REFERENCE = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_DECLARATION = re.compile(r"\s*<\?xml[^>]*\?>")
_INVALID_UID = re.compile(r"uid\s+(\w{1,30})", re.I | re.A)
_NON_ALPHANUMERIC = re.compile(r"[^a-z0-9]+")
# Fields that identify a record, the surest first; spelled without case and signs.
_UID_NAMES = (
    "uid", "variationid", "taxid", "nlmuniqueid", "accessionversion", "accver", "id", "cid", "sid",
    "aid", "ipg", "pmid", "pmcid", "run", "primaryaccession", "accession", "acc", "gi", "locus",
)  # fmt: skip
_UID_PATHS = (("track-info", "geneid"), ("EXPERIMENT", "accession"))


@dataclass(frozen=True, slots=True)
class RawRecordPage:
    """One page of an NCBI response: its bytes, its format, and the records requested.

    ``database`` is the Entrez name (``gene``). ``form`` says how ``body`` is read:

    - ``pubmed_xml``: EFetch of ``pubmed`` (PubmedArticleSet)
    - ``pmc_xml``: EFetch of ``pmc`` (pmc-articleset, JATS)
    - ``docsum_json``: ESummary with retmode=json
    - ``docsum_xml``: ESummary XML, version 1 (DocSum/Item) or 2 (DocumentSummarySet)
    - ``xml``: any other XML of EFetch: the children of its root are the records
    - ``rows``: a JSON list of objects, each a record
    """

    database: str
    form: PageForm
    body: bytes


class ParsedRecord(NamedTuple):
    """A record's identifier (None if missing) and fields (None if not found)."""

    uid: str | None
    fields: dict[str, Tree] | None


def iterate_records(page: RawRecordPage) -> Iterator[ParsedRecord]:
    """Yield the records of a page whose tables are inferred.

    Raises
    ------
    EntrezFailed
        The page has an error for the whole request instead.
    BadContent
        The page is not in its format, or nested deeper than any answer.
    """
    reader = {
        "docsum_json": _iterate_json_summaries,
        "docsum_xml": _iterate_xml_summaries,
        "rows": _iterate_json_records,
    }.get(page.form)
    try:
        yield from (reader or _iterate_xml_records)(page)
    except RecursionError:
        raise _build_unreadable_error(page, "it is nested deeper than any answer") from None


def _build_unreadable_error(page: RawRecordPage, reason: str) -> BadContent:
    msg = f"The answer of {page.database} is not {page.form}: {reason}."
    return BadContent(msg, "Ask for it again.", verdict="error_page")


def _build_service_error(page: RawRecordPage, reason: str) -> EntrezFailed:
    msg = f"{page.database} answered with an error: {shorten(one_line(reason), 300)}."
    return EntrezFailed(msg, "Search again, and stage the new result.")


# --- JSON -----------------------------------------------------------------------------------------


def _parse_json_body(page: RawRecordPage) -> Tree:
    try:
        return json.loads(
            page.body,
            strict=False,
            parse_int=_parse_json_int,
            parse_float=_parse_json_float,
            parse_constant=str,
        )
    except ValueError as error:
        raise _build_unreadable_error(page, shorten(str(error), 200)) from None


def _parse_json_int(digits: str) -> int | str:
    return int(digits) if len(digits) < 20 else digits


def _parse_json_float(digits: str) -> float | str:
    return float(digits) if len(digits) < 40 else digits


def _iterate_json_summaries(page: RawRecordPage) -> Iterator[ParsedRecord]:
    reply = _parse_json_body(page)
    result = reply.get("result") if isinstance(reply, dict) else None
    if not isinstance(result, dict) or not isinstance(result.get("uids"), list):
        reason = ""
        if isinstance(reply, dict):
            reason = reply.get("error") or reply.get("esummaryresult") or ""
        raise (
            _build_service_error(page, str(reason))
            if reason
            else _build_unreadable_error(page, "it has no result")
        )
    for listed in map(str, result["uids"]):
        row, uid = result.get(listed), _shorten_uid(listed)
        if not isinstance(row, dict):
            raise _build_unreadable_error(page, f"it lists {uid} and does not show it")
        yield ParsedRecord(
            uid, None if "error" in row and len(row) <= 2 else _parse_embedded_xml(row)
        )


def _iterate_json_records(page: RawRecordPage) -> Iterator[ParsedRecord]:
    rows = _parse_json_body(page)
    if not isinstance(rows, list):
        raise _build_unreadable_error(page, "it is no list")
    for row in rows:
        fields = (
            _parse_embedded_xml(row)
            if isinstance(row, dict)
            else {OWN_TEXT: _parse_embedded_xml(row)}
        )
        yield ParsedRecord(find_record_uid(fields), fields)


def _parse_embedded_xml(value: Tree, name: str = "", depth: int = 0) -> Tree:
    """Return *value* with XML in its texts parsed and title markup removed."""
    if isinstance(value, str):
        return _parse_text_value(value, name, depth)
    if depth > _MAX_DEPTH:
        return json.dumps(value) if isinstance(value, dict | list) else value
    if isinstance(value, dict):
        return {key: _parse_embedded_xml(member, key, depth + 1) for key, member in value.items()}
    if isinstance(value, list):
        return [_parse_embedded_xml(member, name, depth + 1) for member in value]
    return value


def _parse_text_value(text: str, name: str, depth: int) -> Tree:
    text = text.strip()
    if "<" not in text and "&" not in text:
        return text
    if text.startswith("&lt;") and text.endswith("&gt;"):
        text = html.unescape(text).strip()
    whole = text.startswith("<") and text.endswith(">") and len(text) < _FRAGMENT_MAX_CHARS
    if whole and (fragment := _parse_xml_fragment(text, name, depth)):
        return fragment
    text = _REFERENCE.sub(lambda found: html.unescape(found[0]), text)
    return _TITLE_MARKUP.sub("", text)


def _parse_xml_fragment(text: str, name: str, depth: int) -> Tree:
    """Return the tree of a text that is XML; None for formatting markup and for plain text."""
    bare = _DECLARATION.sub("", text, count=1)
    try:
        root = parse_untrusted_xml(f"<x>{bare}</x>".encode("utf-8", "replace"))
    except BadContent:
        return None
    children = _list_child_elements(root)
    if any(
        _get_local_name(child).lower() in _INLINE_TAGS for child in children
    ) or _join_direct_text(root):
        return None
    if len(children) == 1 and _get_local_name(children[0]).lower() in {"xml", name.lower()}:
        root = children[0]
    return _element_to_tree(root, name or "x", depth + 1)


# --- XML ------------------------------------------------------------------------------------------


def _parse_root_element(page: RawRecordPage) -> _Element:
    try:
        root: _Element = parse_untrusted_xml(page.body.lstrip())
    except BadContent as error:
        raise _build_unreadable_error(page, error.message) from None
    errors = [element for element in (root, *root) if _get_local_name(element).upper() == "ERROR"]
    if errors and not any(
        _get_local_name(child) in {"DocSum", "DocumentSummarySet"} for child in root
    ):
        raise _build_service_error(page, get_readable_text(errors[0]) or "no reason given")
    return root


def _iterate_xml_summaries(page: RawRecordPage) -> Iterator[ParsedRecord]:
    root = _parse_root_element(page)
    if "summary" not in _get_local_name(root).lower():
        raise _build_unreadable_error(page, f"its root is <{_get_local_name(root)}>")
    for error in root.iterchildren("ERROR"):  # of one record; the others are complete
        if match := _INVALID_UID.search(get_readable_text(error)):
            yield ParsedRecord(match[1], None)
    for element in root.iter("DocSum", "DocumentSummary"):
        if element.tag == "DocSum":
            uid, fields = element.findtext("Id") or "", _collect_summary_items(element)
        else:
            uid, fields = element.get("uid", ""), _collect_element_members(element, 0)
            fields.pop("uid", None)
        failed = "error" in fields and len(fields) <= 2
        yield ParsedRecord(_shorten_uid(uid) or find_record_uid(fields), None if failed else fields)


def _collect_summary_items(element: _Element, depth: int = 0) -> dict[str, Tree]:
    """Return the fields of a version 1 summary, whose elements are all called Item."""
    fields: dict[str, list[Tree]] = {}
    for child in list_children(element):
        if child.tag == "Item":
            nested = len(child) and depth < _MAX_DEPTH
            value = _collect_summary_items(child, depth + 1) if nested else get_readable_text(child)
            fields.setdefault(child.get("Name") or "Item", []).append(value)
    container = element.get("Name", "") if len(fields) == 1 else ""
    return {name: _unwrap_single_value(values, container, name) for name, values in fields.items()}


def _iterate_xml_records(page: RawRecordPage) -> Iterator[ParsedRecord]:
    root = _parse_root_element(page)
    children = _list_child_elements(root)
    # ASN.1: Bioseq-set has one Bioseq-set_seq-set, which has the records.
    while len(children) == 1 and _get_local_name(children[0]).startswith(
        f"{_get_local_name(root)}_"
    ):
        root, children = children[0], _list_child_elements(children[0])
    for element in children:
        fields = _element_to_tree(element, "", 0)
        if not isinstance(fields, dict):
            fields = {OWN_TEXT: fields}
        yield ParsedRecord(find_record_uid(fields), fields)


def _element_to_tree(element: _Element, name: str, depth: int) -> Tree:
    """Return an element's text, or its members if it has attributes or children."""
    children = _list_child_elements(element)
    if depth > _MAX_DEPTH:
        return " ".join(" ".join(map(str, element.itertext())).split())
    if children and all(
        _get_local_name(inner) in _INLINE_TAGS for inner in element.iterdescendants("*")
    ):
        children = []
    if not children and not element.attrib:
        text = get_readable_text(element)
        return _parse_text_value(text, name, depth) if "<" in text else text
    return _collect_element_members(element, depth, name)


def _collect_element_members(element: _Element, depth: int, name: str = "") -> Tree:
    """Return an element's attributes and children by name; repeated names become a list."""
    own, children = _get_local_name(element), _list_child_elements(element)
    inner: dict[str, list[Tree]] = {}
    for child in children:
        key = _get_local_name(child).removeprefix(f"{own}_") or _get_local_name(child)
        inner.setdefault(key, []).append(_element_to_tree(child, key, depth + 1))
    text = _join_direct_text(element) if children else get_readable_text(element)
    if len(inner) == 1 and not text and _is_asn1_type_wrapper(element, children[0]):
        return _unwrap_single_value(next(iter(inner.values())), name, _get_local_name(children[0]))
    container = name if len(inner) == 1 else ""
    fields: dict[str, Tree] = {}
    if text:
        fields[OWN_TEXT] = _parse_text_value(text, name, depth) if "<" in text else text
    for attribute, value in element.attrib.items():
        if not str(attribute).startswith(_XSI):
            fields[str(attribute).rpartition("}")[2]] = value
    for key, values in inner.items():
        both = [fields[key], *values] if key in fields else values
        fields[key] = _unwrap_single_value(both, container, key)
    return fields


def _is_asn1_type_wrapper(element: _Element, child: _Element) -> bool:
    """Return whether an ASN.1 member contains only values of the type that *child* names."""
    parent = element.getparent()
    if parent is None or element.attrib:
        return False
    own, outer = _get_local_name(element), _get_local_name(parent)
    is_member = own.startswith(f"{outer}_") and not outer.isupper()  # SAMPLE_NAME is not a member
    return is_member and not _get_local_name(child).startswith(f"{own}_")


def _unwrap_single_value(values: list[Tree], container: str, name: str) -> Tree:
    return values if len(values) > 1 or _is_list(container, name) else values[0]


def _is_list(container: str, name: str) -> bool:
    """Return whether the container is a list even though it has only one member.

    >>> _is_list("Authors", "Author"), _is_list("IdList", "Id"), _is_list("Lang", "string")
    (True, True, True)
    >>> _is_list("Term", "TermData"), _is_list("Organism", "Name"), _is_list("Status", "A")
    (True, False, False)
    """
    if not container or not name:
        return False
    wrapper, inner = container.lower(), name.lower()
    if wrapper.endswith(("list", "set")) or name in {"string", "int", "flag", "E"}:
        return True
    if inner.endswith(("data", "type")) and inner[:-4] and wrapper.endswith(inner[:-4]):
        return True
    singular = re.sub(r"ies$", "y", wrapper) if wrapper.endswith("ies") else wrapper[:-1]
    plural = wrapper.endswith("s") and not wrapper.endswith(("ss", "us", "is"))
    return plural and len(singular) > 1 and singular in inner


def _list_child_elements(element: _Element) -> list[_Element]:
    return [child for child in list_children(element) if isinstance(child.tag, str)]


def _get_local_name(element: _Element) -> str:
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def _join_direct_text(element: _Element) -> str:
    texts = (element.text, *(child.tail for child in list_children(element)))
    return " ".join(" ".join(text for text in texts if text).split())


# --- identifiers ----------------------------------------------------------------------------------


def find_record_uid(fields: dict[str, Tree]) -> str | None:
    """Return a record's identifier, read from its fields, or None.

    >>> find_record_uid({"TaxId": "9606", "Rank": "species"}), find_record_uid({"a": 1})
    ('9606', None)
    """
    texts: dict[str, str] = {}
    for name, value in fields.items():
        if text := _get_possible_id(value):
            texts.setdefault(_NON_ALPHANUMERIC.sub("", name.lower()), text)
    for path in _UID_PATHS:
        inner: Tree = fields
        for name in path:
            inner = inner.get(name) if isinstance(inner, dict) else None
        if text := _get_possible_id(inner):
            return text
    return next((texts[name] for name in _UID_NAMES if name in texts), None)


def _shorten_uid(uid: str) -> str:
    return shorten(one_line(uid), 100)


def _get_possible_id(value: Tree) -> str:
    """Return a scalar that may be an identifier, or ""."""
    if isinstance(value, dict):
        value = value.get(OWN_TEXT)
    if isinstance(value, bool | float) or not isinstance(value, str | int):
        return ""
    text = str(value).strip()
    return text if 0 < len(text) <= 100 and text.isprintable() else ""
