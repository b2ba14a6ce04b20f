"""Read reference lists: BibTeX and biblatex files, CSL as JSON or YAML, RIS.

Each entry keeps its key and, where the format has lines, the number of its first line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..errors import BadRequest
from ..lists.described import fields_to_paper
from ..lists.documents import get_csl_fields, get_csl_ids
from ..lists.pasted import open_decoded_lines
from ..lists.references import (
    BIBTEX_START,
    get_bibtex_fields,
    get_bibtex_ids,
    get_ris_fields,
    get_ris_ids,
    read_bibtex_records,
    read_ris_records,
)
from .parts import ListedReference, ManuscriptPlace

_CSL_KINDS = {"article-journal": "article", "paper-conference": "inproceedings"}


def read_references(data: bytes, name: str) -> list[ListedReference]:
    """Return the entries of a reference list, in order.

    Raises
    ------
    BadRequest
        The file has another format, or is damaged.
    """
    start = data[:2000].lstrip(b"\xef\xbb\xbf \t\r\n")
    if start[:1] in (b"[", b"{"):
        return list(_read_csl(_parse_json_list(data, name), name))
    if name.lower().endswith((".yaml", ".yml")):
        return list(_read_csl(_parse_yaml_list(data, name), name))
    if re.search(rb"^\s*TY {1,2}-", data[:5000], re.M):
        return list(_read_ris(data, name))
    if name.lower().endswith(".bib") or any(map(BIBTEX_START.match, open_decoded_lines(data))):
        return list(_read_bibtex(data, name))
    msg = f"{name} is not a BibTeX, CSL-JSON, CSL-YAML or RIS file."
    raise BadRequest(msg, "Export the references in one of these formats.")


def parse_csl_reference(
    item: Mapping[str, Any], key: str = "", place: ManuscriptPlace | None = None
) -> ListedReference:
    """Return the reference that a CSL item describes."""
    kind = str(item.get("type") or "")
    return ListedReference(
        key or str(item.get("id") or ""),
        get_csl_ids(item),
        fields_to_paper(get_csl_fields(item)),
        kind=_CSL_KINDS.get(kind, kind),
        place=place or ManuscriptPlace(),
    )


def _read_bibtex(data: bytes, name: str) -> Iterator[ListedReference]:
    parents: dict[str, Mapping[str, str]] = {}
    for record in read_bibtex_records(open_decoded_lines(data)):
        if not record.key:
            continue
        parents[record.key] = record.fields
        fields = {**parents.get(record.fields.get("crossref", ""), {}), **record.fields}
        paper = fields_to_paper(get_bibtex_fields(fields))
        ids, place = get_bibtex_ids(fields), ManuscriptPlace(name, record.line, record.line)
        yield ListedReference(record.key, ids, paper, kind=record.kind, place=place)


def _read_csl(items: Any, name: str) -> Iterator[ListedReference]:
    items = items.get("references", items.get("items")) if isinstance(items, dict) else items
    if not isinstance(items, list):
        raise BadRequest(f"{name} has no list of references.", "Export it as CSL-JSON again.")
    for item in items:
        if isinstance(item, dict):
            yield parse_csl_reference(item, place=ManuscriptPlace(name))


def _read_ris(data: bytes, name: str) -> Iterator[ListedReference]:
    for fields in read_ris_records(open_decoded_lines(data)):
        key = fields.get("ID", "")
        yield ListedReference(
            key if isinstance(key, str) else "",
            get_ris_ids(fields),
            fields_to_paper(get_ris_fields(fields)),
            kind="article" if fields.get("TY") == "JOUR" else "",
            place=ManuscriptPlace(name),
        )


def _parse_json_list(data: bytes, name: str) -> Any:
    import json

    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        raise BadRequest(f"{name} is not valid JSON.", "Export it again.") from None


def _parse_yaml_list(data: bytes, name: str) -> Any:
    import yaml

    try:
        return yaml.safe_load(data)
    except (yaml.YAMLError, RecursionError, ValueError):
        raise BadRequest(f"{name} is not valid YAML.", "Export it again.") from None


def index_references_by_key(references: Iterable[ListedReference]) -> dict[str, ListedReference]:
    """Return the references by key; the first entry with a key counts."""
    found: dict[str, ListedReference] = {}
    for reference in references:
        found.setdefault(reference.key, reference)
    return found
