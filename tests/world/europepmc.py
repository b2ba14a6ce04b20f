"""Europe PMC REST: ``search`` (core, lite, idlist), ``fullTextXML``, citations and references.

Preprints have numbers of their own (``PPR…``), a server for a journal, and a link to the version
that a journal published.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tests.world import kinship
from tests.world.pdf import pdf_of
from utils.demo import jats
from utils.demo.prose import abstract, references
from utils.demo.pubmed_xml import initials
from utils.demo.records import Record
from utils.demo.wire import HTML, PDF, XML, Call, Reply, as_json, text

if TYPE_CHECKING:
    from tests.world import World

Test = Callable[[Record], bool]
_FIELD = re.compile(
    r'\b(AUTH|FIRST_PDATE|SRC|PUB_TYPE):(?:"([^"]*)"|\[(\S+) TO (\S+)\]|([^\s()]+))'
)
_LISTS = {
    *("author", "authorAffiliation", "pubType", "meshHeading", "meshQualifier", "keyword"),
    *("grant", "chemical", "fullTextUrl", "fullTextId", "commentCorrection", "subset"),
    *("tmAccessionType", "dbName"),
}


def europepmc(call: Call, world: World) -> Reply:
    """Answer ``/search``, ``/PMC…/fullTextXML``, ``/MED/…/references`` or the website's PDF."""
    if call.path in {"/search", "/searchPOST"}:
        return _search(call, world)
    if match := re.fullmatch(r"/(PMC\d+)/fullTextXML", call.path):
        record = world.corpus.by_pmcid.get(match[1])
        if record is None or not record.europepmc:
            return Reply(404, b"", "application/xml")
        return Reply(200, jats.document(record), XML)
    if match := re.fullmatch(r"/(PPR\d+)/fullTextXML", call.path):
        known = (record for record in world.corpus.records if record.preprint == match[1])
        record = next(known, None)
        if record is None or not record.europepmc:
            told = {"timestamp": "2026-11-20T10:00:00.000+00:00", "status": 500}
            return as_json({**told, "error": "Internal Server Error", "path": call.path}, 500)
        return Reply(200, jats.document(record), XML)
    if match := re.fullmatch(r"/MED/(\d+)/(citations|references)", call.path):
        return _linked(match[1], match[2], call, world)
    if call.path == "/backend/ptpmcrender.fcgi":
        record = world.corpus.by_pmcid.get(call.params.get("accid", ""))
        if record and record.europepmc:
            return Reply(200, pdf_of(record), PDF)
        return Reply(404, b"", HTML)
    return as_json({"errCode": 404, "errMsg": "No such endpoint"}, 404)


def _linked(pmid: str, kind: str, call: Call, world: World) -> Reply:
    """A page of who cites the paper, or of what it cites; some of that is in no database."""
    size, page = call.params.get("pageSize", "25"), call.params.get("page", "1")
    if not size.isdigit() or not 1 <= int(size) <= 1000:
        told = "Invalid page size provided. Valid size is between 1 and 1000"
        return as_json({"version": "6.9", "errCode": 404, "errMsg": told})
    record, rows = world.record(pmid), []
    if record and kind == "citations":
        rows = [_cited(other) for other in kinship.citing(record, world)]
    elif record:
        rows = [_cited(other) for other in kinship.cited(record, world)]
        rows += [
            {"title": title, "authorString": who, "journalAbbreviation": journal,
             "pubYear": int(year), "doi": doi, "match": "N"}
            for who, title, journal, year, doi in references(record)
        ]  # fmt: skip
    start = (int(page) - 1) * int(size)
    inner = kind.removesuffix("s")
    return as_json(
        {
            "version": "6.9",
            "hitCount": len(rows),
            "request": {"id": pmid, "source": "MED"},
            f"{inner}List": {inner: rows[start : start + int(size)]},
        }
    )


def _cited(record: Record) -> dict[str, Any]:
    people = [f"{family} {initials(given)}" for family, given in record.authors]
    return {
        "id": record.pmid, "source": "MED", "title": f"{record.title}.",
        "authorString": ", ".join(people) + ".", "journalAbbreviation": record.journal.short,
        "pubYear": int(record.year), "citedByCount": 0, "match": "Y",
    }  # fmt: skip


def _search(call: Call, world: World) -> Reply:
    params = call.params
    size = params.get("pageSize", "25")
    if not size.isdigit() or not 1 <= int(size) <= 1000:
        told = "Invalid page size provided. Valid size is between 1 and 1000"
        return as_json({"version": "6.9", "errCode": 404, "errMsg": told})
    if not params.get("query"):
        return as_json({"version": "6.9", "errCode": 404, "errMsg": "No query parameter provided"})
    mark = params.get("cursorMark", "*")
    if mark != "*" and not mark.startswith("AoII"):
        return as_json({"version": "6.9"})
    start = 0 if mark == "*" else int(mark.removeprefix("AoII"))
    found = _matching(params["query"], world)
    if params.get("sort") == "P_PDATE_D desc":
        found.sort(key=lambda record: record.published, reverse=True)
    page = found[start : start + int(size)]
    kind = params.get("resultType", "lite")
    request = {
        "queryString": params["query"], "resultType": kind, "cursorMark": mark,
        "pageSize": int(size), "sort": params.get("sort", ""), "synonym": False,
    }  # fmt: skip
    if params.get("format", "xml") != "json":
        rows = "".join(f"<result><id>{r.pmid or r.pmcid}</id></result>" for r in page)
        return text(
            f"<responseWrapper><hitCount>{len(found)}</hitCount><resultList>{rows}"
            "</resultList></responseWrapper>",
            XML,
        )
    return as_json(
        {
            "version": "6.9", "hitCount": len(found),
            "nextCursorMark": f"AoII{start + len(page)}" if page else mark, "request": request,
            "resultList": {"result": [_result(r, kind, world) for r in page]},
        }
    )  # fmt: skip


def _matching(query: str, world: World) -> list[Record]:
    """Papers an identifier query (``DOI:"…" OR PMCID:…``) names, else by words of the title."""
    corpus, found = world.corpus, []
    for name, quoted, bare in re.findall(
        r'\b(DOI|EXT_ID|PMCID):(?:"([^"]+)"|([^\s()]+))', query, re.I
    ):
        index = {"DOI": corpus.by_doi, "EXT_ID": corpus.by_pmid, "PMCID": corpus.by_pmcid}
        value = quoted or bare
        key = value.lower() if name.upper() == "DOI" else value.upper()
        if (record := index[name.upper()].get(key)) and record not in found:
            found.append(record)
    if re.search(r"\b(DOI|EXT_ID|PMCID):", query, re.I):
        return [record for record in found if _is_indexed(record)]
    tests = [_field(*match.groups()) for match in _FIELD.finditer(query)]
    words = [
        w for w in re.findall(r"[\w-]+", _FIELD.sub("", query).lower()) if w not in {"and", "or"}
    ]
    return [
        record
        for record in corpus.records
        if _is_indexed(record)
        and all(w in record.plain_title.lower() for w in words)
        and all(test(record) for test in tests)
    ]


def _is_indexed(record: Record) -> bool:
    return record.journal.title != "Zenodo"


def _field(name: str, quoted: str, first: str, last: str, bare: str) -> Test:
    """A restriction such as ``AUTH:"Varga I"`` or ``FIRST_PDATE:[2025-01-01 TO 2025-12-31]``."""
    value = (quoted or bare or "").lower()
    if name == "AUTH":
        return lambda record: any(
            f"{family} {initials(given)}".lower().startswith(value)
            for family, given in record.authors
        )
    if name == "FIRST_PDATE":
        low, high = first.replace("*", "0"), last.replace("*", "9")
        return lambda record: low <= record.published <= high
    if name == "SRC":
        return lambda record: _source(record).lower() == value
    return lambda record: value in map(str.lower, record.types)


def _source(record: Record) -> str:
    if record.preprint:
        return "PPR"
    return "MED" if record.pmid else "PMC"


def _result(record: Record, kind: str, world: World) -> dict[str, Any]:
    if kind == "core" and (stored := record.files.get("europepmc")):
        row = _unwrapped(json.loads(stored.read_text("utf-8")), "")
        return row if isinstance(row, dict) else {}
    head = {
        "id": record.preprint or record.pmid or record.pmcid or record.doi,
        "source": _source(record),
    }
    names = {"pmid": record.pmid, "pmcid": record.pmcid, "doi": record.doi}
    row = {**head, **{name: value for name, value in names.items() if value}}
    if kind == "idlist":
        return head
    people = [f"{family} {initials(given)}" for family, given in record.authors]
    row |= {
        "title": f"{record.title}.", "authorString": ", ".join(people) + ".",
        "pubYear": record.year, "pageInfo": record.pages, "citedByCount": 0,
    }  # fmt: skip
    flags = {
        "isOpenAccess": record.europepmc,
        "inEPMC": record.europepmc,
        "inPMC": bool(record.pmcid),
        "hasPDF": record.europepmc,
    }
    row |= {name: "Y" if value else "N" for name, value in flags.items()}
    if kind == "lite":
        return row
    return row | _core(record) | (_preprint(record) if record.preprint else _kin(record, world))


def _core(record: Record) -> dict[str, Any]:
    text_of = "".join(
        f"<h4>{label.capitalize()}</h4>{body}" if label else body
        for label, body in abstract(record)
    )
    authors = [
        {
            "fullName": f"{family} {initials(given)}",
            "firstName": given,
            "lastName": family,
            "initials": initials(given),
        }
        for family, given in record.authors
    ]
    journal = {
        "title": record.journal.title,
        "isoabbreviation": record.journal.short,
        "issn": record.journal.issn,
    }
    year, month, _ = record.published.split("-")
    core: dict[str, Any] = {
        "authorList": {"author": authors},
        "journalInfo": {
            "volume": record.volume, "issue": record.issue, "yearOfPublication": int(year),
            "monthOfPublication": int(month), "journal": journal,
        },
        "abstractText": text_of, "pubTypeList": {"pubType": list(record.types)},
        "license": record.license.lower(), "firstPublicationDate": record.published,
    }  # fmt: skip
    return core if text_of else {key: core[key] for key in core if key != "abstractText"}


def _preprint(record: Record) -> dict[str, Any]:
    """A preprint has a server in place of a journal, versions, and links to what became of it."""
    links = [
        _link("MED", pmid, "Preprint of") | {"reference": where}
        for kind, where, pmid in record.notices
        if kind == "UpdateIn"
    ]
    version = {
        "id": record.preprint,
        "source": "PPR",
        "firstPublishDate": record.published,
        "versionNumber": 1,
    }
    return {
        "journalInfo": None, "pageInfo": None, "pubTypeList": {"pubType": ["Preprint"]},
        "bookOrReportDetails": {
            "publisher": record.journal.title,
            "yearOfPublication": int(record.year),
        },
        "versionNumber": 1,
        "versionList": {"version": [version]},
        **({"commentCorrectionList": {"commentCorrection": links}} if links else {}),
    }  # fmt: skip


def _kin(record: Record, world: World) -> dict[str, Any]:
    links = [
        _link("PPR", other.preprint, "Preprint in")
        for other in world.corpus.records.own  # type: ignore[attr-defined]
        if other.preprint and record.pmid in {pmid for *_, pmid in other.notices}
    ]
    return {"commentCorrectionList": {"commentCorrection": links}} if links else {}


def _link(source: str, number: str, kind: str) -> dict[str, Any]:
    note = "Link created based on a title-first author match"
    return {"id": number, "source": source, "type": kind, "note": note, "orderIn": 10001}


def _unwrapped(value: Any, name: str) -> Any:
    """Undo what the recorder did: it put every value into a list of its own."""
    if isinstance(value, dict):
        if set(value) == {"_", "$"}:
            return {"type": value["$"]["type"], "value": value["_"]}
        made = {key: _unwrapped(inner, key) for key, inner in value.items()}
        for key in ("yearOfPublication", "monthOfPublication", "citedByCount"):
            if str(made.get(key, "")).isdigit():
                made[key] = int(made[key])
        return made
    if isinstance(value, list):
        if len(value) == 1 and name not in _LISTS:
            return _unwrapped(value[0], name)
        return [_unwrapped(inner, name) for inner in value]
    return value
