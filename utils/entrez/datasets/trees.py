"""Read a page of an Entrez answer into records, each a tree of plain values, whatever its form.

A tree consists of dicts, lists and scalars; the value of an XML element beside its attributes and
children stands under the empty name. Differences between the forms are removed: lists in a wrapper
(``<Authors><Author/></Authors>``, ``<string>``), the type names NCBI's ASN.1 puts around every
value (``<Gene-track_geneid>``), and XML inside a text member (``expxml``).

The forms are those NCBI documents for EFetch and ESummary
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
from ...readers.safe_xml import children_of, parse, readable_text
from ...system.plain_text import one_line, shorten

if TYPE_CHECKING:
    from lxml.etree import _Element

Form = Literal["pubmed_xml", "pmc_xml", "docsum_json", "docsum_xml", "xml", "rows"]
FORMS: tuple[Form, ...] = get_args(Form)
Tree: TypeAlias = Any
OWN = ""
"""The name under which an element's own text stands beside its attributes and children."""
INNER = "values"
"""The name under which a list within a list stands."""
_DEEPEST = 40  # levels; below, XML is given up and its text is kept, and JSON stays JSON
_LONGEST_FRAGMENT = 4 << 20  # characters of a text member that are looked into for XML
_XSI = "{http://www.w3.org/2001/XMLSchema-instance}"
_MARKUP_NAMES = """
    a abbr b bold br code em font i inf italic li ol p pre sc small span strong styled-content
    sub sup tt u ul
"""
_INLINE = frozenset(_MARKUP_NAMES.split())
_MARKUP = re.compile(r"</?(?:i|b|u|em|strong|sub|sup|p|br)\s*/?>", re.I)
_REFERENCE = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_DECLARATION = re.compile(r"\s*<\?xml[^>]*\?>")
_INVALID_UID = re.compile(r"uid\s+(\w{1,30})", re.I | re.A)
_PLAIN = re.compile(r"[^a-z0-9]+")
# Fields that identify a record, the surest first; spelled without case and signs.
_UID_NAMES = (
    "uid", "variationid", "taxid", "nlmuniqueid", "accessionversion", "accver", "id", "cid", "sid",
    "aid", "ipg", "pmid", "pmcid", "run", "primaryaccession", "accession", "acc", "gi", "locus",
)  # fmt: skip
_UID_PATHS = (("track-info", "geneid"), ("EXPERIMENT", "accession"))


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


class Record(NamedTuple):
    """A record: its identifier (None where it has none), and its fields; None: not found."""

    uid: str | None
    fields: dict[str, Tree] | None


def records(page: Page) -> Iterator[Record]:
    """The records of a page of the forms that are read by inference.

    Raises
    ------
    EntrezFailed
        It holds an error of the whole request instead.
    BadContent
        It is not in its form, or deeper nested than any answer.
    """
    reader = {"docsum_json": _summaries, "docsum_xml": _docsums, "rows": _rows}.get(page.form)
    try:
        yield from (reader or _elements)(page)
    except RecursionError:
        raise _unreadable(page, "it is nested deeper than any answer") from None


def _unreadable(page: Page, reason: str) -> BadContent:
    msg = f"The answer of {page.database} is not {page.form}: {reason}."
    return BadContent(msg, "Ask for it again.", verdict="error_page")


def _error_answer(page: Page, reason: str) -> EntrezFailed:
    msg = f"{page.database} answered with an error: {shorten(one_line(reason), 300)}."
    return EntrezFailed(msg, "Search again, and stage the new result.")


# --- JSON -----------------------------------------------------------------------------------------


def _json(page: Page) -> Tree:
    try:
        return json.loads(
            page.body, strict=False, parse_int=_number, parse_float=_fraction, parse_constant=str
        )
    except ValueError as error:
        raise _unreadable(page, shorten(str(error), 200)) from None


def _number(digits: str) -> int | str:
    return int(digits) if len(digits) < 20 else digits


def _fraction(digits: str) -> float | str:
    return float(digits) if len(digits) < 40 else digits


def _summaries(page: Page) -> Iterator[Record]:
    reply = _json(page)
    result = reply.get("result") if isinstance(reply, dict) else None
    if not isinstance(result, dict) or not isinstance(result.get("uids"), list):
        reason = ""
        if isinstance(reply, dict):
            reason = reply.get("error") or reply.get("esummaryresult") or ""
        raise _error_answer(page, str(reason)) if reason else _unreadable(page, "it has no result")
    for listed in map(str, result["uids"]):
        row, uid = result.get(listed), _shown(listed)
        if not isinstance(row, dict):
            raise _unreadable(page, f"it lists {uid} and does not show it")
        yield Record(uid, None if "error" in row and len(row) <= 2 else _tidy(row))


def _rows(page: Page) -> Iterator[Record]:
    rows = _json(page)
    if not isinstance(rows, list):
        raise _unreadable(page, "it is no list")
    for row in rows:
        fields = _tidy(row) if isinstance(row, dict) else {OWN: _tidy(row)}
        yield Record(uid_of(fields), fields)


def _tidy(value: Tree, name: str = "", depth: int = 0) -> Tree:
    """*value* with the XML in its texts read, and with the markup of titles taken away."""
    if isinstance(value, str):
        return _read_text(value, name, depth)
    if depth > _DEEPEST:
        return json.dumps(value) if isinstance(value, dict | list) else value
    if isinstance(value, dict):
        return {key: _tidy(member, key, depth + 1) for key, member in value.items()}
    if isinstance(value, list):
        return [_tidy(member, name, depth + 1) for member in value]
    return value


def _read_text(text: str, name: str, depth: int) -> Tree:
    text = text.strip()
    if "<" not in text and "&" not in text:
        return text
    if text.startswith("&lt;") and text.endswith("&gt;"):
        text = html.unescape(text).strip()
    whole = text.startswith("<") and text.endswith(">") and len(text) < _LONGEST_FRAGMENT
    if whole and (fragment := _fragment(text, name, depth)):
        return fragment
    text = _REFERENCE.sub(lambda found: html.unescape(found[0]), text)
    return _MARKUP.sub("", text)


def _fragment(text: str, name: str, depth: int) -> Tree:
    """The tree of a text that is XML, one element or several; None for markup and anything else."""
    bare = _DECLARATION.sub("", text, count=1)
    try:
        root = parse(f"<x>{bare}</x>".encode("utf-8", "replace"))
    except BadContent:
        return None
    children = _elements_in(root)
    if any(_local(child).lower() in _INLINE for child in children) or _own_text(root):
        return None
    if len(children) == 1 and _local(children[0]).lower() in {"xml", name.lower()}:
        root = children[0]
    return _value(root, name or "x", depth + 1)


# --- XML ------------------------------------------------------------------------------------------


def _root(page: Page) -> _Element:
    try:
        root: _Element = parse(page.body.lstrip())
    except BadContent as error:
        raise _unreadable(page, error.message) from None
    errors = [element for element in (root, *root) if _local(element).upper() == "ERROR"]
    if errors and not any(_local(child) in {"DocSum", "DocumentSummarySet"} for child in root):
        raise _error_answer(page, readable_text(errors[0]) or "no reason given")
    return root


def _docsums(page: Page) -> Iterator[Record]:
    root = _root(page)
    if "summary" not in _local(root).lower():
        raise _unreadable(page, f"its root is <{_local(root)}>")
    for error in root.iterchildren("ERROR"):  # of one record; others are there
        if match := _INVALID_UID.search(readable_text(error)):
            yield Record(match[1], None)
    for element in root.iter("DocSum", "DocumentSummary"):
        if element.tag == "DocSum":
            uid, fields = element.findtext("Id") or "", _items(element)
        else:
            uid, fields = element.get("uid", ""), _members(element, 0)
            fields.pop("uid", None)
        failed = "error" in fields and len(fields) <= 2
        yield Record(_shown(uid) or uid_of(fields), None if failed else fields)


def _items(element: _Element, depth: int = 0) -> dict[str, Tree]:
    """The fields of a summary of the first version, whose elements are all called Item."""
    fields: dict[str, list[Tree]] = {}
    for child in children_of(element):
        if child.tag == "Item":
            nested = len(child) and depth < _DEEPEST
            value = _items(child, depth + 1) if nested else readable_text(child)
            fields.setdefault(child.get("Name") or "Item", []).append(value)
    container = element.get("Name", "") if len(fields) == 1 else ""
    return {name: _one_or_many(values, container, name) for name, values in fields.items()}


def _elements(page: Page) -> Iterator[Record]:
    root = _root(page)
    children = _elements_in(root)
    # ASN.1: Bioseq-set holds one Bioseq-set_seq-set, and that the records.
    while len(children) == 1 and _local(children[0]).startswith(f"{_local(root)}_"):
        root, children = children[0], _elements_in(children[0])
    for element in children:
        fields = _value(element, "", 0)
        if not isinstance(fields, dict):
            fields = {OWN: fields}
        yield Record(uid_of(fields), fields)


def _value(element: _Element, name: str, depth: int) -> Tree:
    """The value of an element: its text, or its members where it has attributes or children."""
    children = _elements_in(element)
    if depth > _DEEPEST:
        return " ".join(" ".join(map(str, element.itertext())).split())
    if children and all(_local(inner) in _INLINE for inner in element.iterdescendants("*")):
        children = []
    if not children and not element.attrib:
        text = readable_text(element)
        return _read_text(text, name, depth) if "<" in text else text
    return _members(element, depth, name)


def _members(element: _Element, depth: int, name: str = "") -> Tree:
    """The attributes and children of an element by name; what comes several times is a list."""
    own, children = _local(element), _elements_in(element)
    inner: dict[str, list[Tree]] = {}
    for child in children:
        key = _local(child).removeprefix(f"{own}_") or _local(child)
        inner.setdefault(key, []).append(_value(child, key, depth + 1))
    text = _own_text(element) if children else readable_text(element)
    if len(inner) == 1 and not text and _is_typed(element, children[0]):
        return _one_or_many(next(iter(inner.values())), name, _local(children[0]))
    container = name if len(inner) == 1 else ""
    fields: dict[str, Tree] = {}
    if text:
        fields[OWN] = _read_text(text, name, depth) if "<" in text else text
    for attribute, value in element.attrib.items():
        if not str(attribute).startswith(_XSI):
            fields[str(attribute).rpartition("}")[2]] = value
    for key, values in inner.items():
        both = [fields[key], *values] if key in fields else values
        fields[key] = _one_or_many(both, container, key)
    return fields


def _is_typed(element: _Element, child: _Element) -> bool:
    """Whether the element is a member in ASN.1, in which stands nothing but values of its type."""
    parent = element.getparent()
    if parent is None or element.attrib:
        return False
    own, outer = _local(element), _local(parent)
    is_member = own.startswith(f"{outer}_") and not outer.isupper()  # SAMPLE_NAME is no member
    return is_member and not _local(child).startswith(f"{own}_")


def _one_or_many(values: list[Tree], container: str, name: str) -> Tree:
    return values if len(values) > 1 or _is_wrapper(container, name) else values[0]


def _is_wrapper(container: str, name: str) -> bool:
    """Whether a list is meant though one member came.

    >>> _is_wrapper("Authors", "Author"), _is_wrapper("IdList", "Id"), _is_wrapper("Lang", "string")
    (True, True, True)
    >>> _is_wrapper("Term", "TermData"), _is_wrapper("Organism", "Name"), _is_wrapper("Status", "A")
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


def _elements_in(element: _Element) -> list[_Element]:
    return [child for child in children_of(element) if isinstance(child.tag, str)]


def _local(element: _Element) -> str:
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def _own_text(element: _Element) -> str:
    texts = (element.text, *(child.tail for child in children_of(element)))
    return " ".join(" ".join(text for text in texts if text).split())


# --- identifiers ----------------------------------------------------------------------------------


def uid_of(fields: dict[str, Tree]) -> str | None:
    """The identifier of a record, read from its fields; None where there is none.

    >>> uid_of({"TaxId": "9606", "Rank": "species"}), uid_of({"a": 1})
    ('9606', None)
    """
    texts: dict[str, str] = {}
    for name, value in fields.items():
        if text := _short(value):
            texts.setdefault(_PLAIN.sub("", name.lower()), text)
    for path in _UID_PATHS:
        inner: Tree = fields
        for name in path:
            inner = inner.get(name) if isinstance(inner, dict) else None
        if text := _short(inner):
            return text
    return next((texts[name] for name in _UID_NAMES if name in texts), None)


def _shown(uid: str) -> str:
    return shorten(one_line(uid), 100)


def _short(value: Tree) -> str:
    """A scalar that may be an identifier."""
    if isinstance(value, dict):
        value = value.get(OWN)
    if isinstance(value, bool | float) or not isinstance(value, str | int):
        return ""
    text = str(value).strip()
    return text if 0 < len(text) <= 100 and text.isprintable() else ""
