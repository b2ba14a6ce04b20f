"""OpenCitations' Index v2: ``/references/{id}`` and ``/citations/{id}``, unpaged.

Rows, prefixes and the empty list for what it does not know are those of its own specification
(opencitations/api, ``index_v2.hf``) and of a client's record of it (docs.rs/opencitations-client:
"Everything is addressed by a prefixed identifier", "Nothing found is not an error"). The bytes of
its refusals are remembered only.
"""

from __future__ import annotations

import re
import zlib
from typing import TYPE_CHECKING

from tests.world import kinship
from utils.demo.wire import Call, Reply, as_json, text

if TYPE_CHECKING:
    from tests.world import World
    from utils.demo.records import Record


def opencitations(call: Call, world: World) -> Reply:
    """The works at the other end of a paper's citations, as identifiers."""
    match = re.fullmatch(r"/(references|citations)/(?:(doi|pmid):)?(.+)", call.path)
    if match is None:
        return text("HTTP status code 404: the operation requested does not exist", status=404)
    kind, scheme, value = match.groups()
    record = world.record(value) if scheme == "pmid" else None
    if scheme == "doi":
        record = world.corpus.by_doi.get(value.lower())
    if record is None or not record.pmid:
        return as_json([])
    if kind == "references":
        return as_json([_row(record, other) for other in kinship.cited(record, world)])
    return as_json([_row(other, record) for other in kinship.citing(record, world)])


def _row(citing: Record, cited: Record) -> dict[str, str]:
    ends = {"citing": _names(citing), "cited": _names(cited)}
    numbers = [_omid(one).removeprefix("br/") for one in (citing, cited)]
    return {
        "oci": "-".join(numbers), **ends, "creation": citing.published,
        "timespan": f"P{int(citing.year) - int(cited.year)}Y",
        "journal_sc": "yes" if citing.journal == cited.journal else "no", "author_sc": "no",
    }  # fmt: skip


def _names(record: Record) -> str:
    names = [f"omid:{_omid(record)}"]
    names += [f"doi:{record.doi.lower()}"] if record.doi else []
    names += [f"pmid:{record.pmid}"] if record.pmid else []
    return " ".join(names)


def _omid(record: Record) -> str:
    return f"br/06{zlib.crc32((record.doi or record.pmid).encode()):010}"
