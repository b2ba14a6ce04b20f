"""The E-utilities for databases beyond the literature, over the records of `entrez_records`.

Answer forms after recorded answers: an identifier without a record has an ``error`` in a summary
and is left out of records; one that is none is refused with status 400 by the sequence databases.
"""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING, Any

from tests.world.entrez_records import KINDS, place, rows, uid_of
from tests.world.entrez_texts import as_text
from utils.demo.wire import TEXT, XML, Call, Reply, as_json, text

if TYPE_CHECKING:
    from tests.world import World

# EInfo's list in late 2026, the literature first.
NAMES = (
    "pubmed", "protein", "nuccore", "ipg", "nucleotide", "structure", "genome", "annotinfo",
    "assembly", "bioproject", "biosample", "blastdbinfo", "books", "cdd", "clinvar", "gap",
    "gapplus", "grasp", "dbvar", "gene", "gds", "geoprofiles", "medgen", "mesh", "nlmcatalog",
    "omim", "orgtrack", "pmc", "proteinclusters", "pcassay", "protfam", "pccompound",
    "pcsubstance", "seqannot", "snp", "sra", "taxonomy", "biocollections", "gtr",
)  # fmt: skip
_FIELDS = {"all", "all fields", "uid", "title", "titl", "organism", "orgn", "gene", "sym", "accn"}
_LINKED = ("gene", "protein", "nuccore", "taxonomy", "clinvar", "snp", "biosample", "sra", "medgen")


def is_other(database: str) -> bool:
    """Whether that is a database of this module."""
    return database in NAMES and database not in {"pubmed", "pmc", "mesh"}


def search(params: dict[str, str], history: dict[str, set[str]]) -> tuple[list[str], Row]:
    """The UIDs a term finds, and what was not understood."""
    database = params["db"]
    told: Row = {"phrasesnotfound": [], "fieldsnotfound": []}
    term = params.get("term", "")
    if term.count("(") != term.count(")"):
        raise ValueError(f"Search Backend failed: couldn't parse {term}")
    for tag in re.findall(r"\[([^]]*)\]", term):
        if tag.lower() not in _FIELDS | {"filter", "sb"}:
            told["fieldsnotfound"].append(tag)
    if re.match(r"all\[(?:filter|sb)\]", term.strip(), re.I):
        return list(rows(database)), told
    words = re.findall(r"#\d+|[\w.]+", re.sub(r"\[[^]]*\]|\b(?:AND|OR)\b", " ", term))
    found = set(rows(database))
    for word in words:
        if word.startswith("#"):
            found &= history.get(word, set())
            continue
        hits = {uid for uid, row in rows(database).items() if _holds(uid, row, word.lower())}
        if not hits:
            told["phrasesnotfound"].append(word)
        found &= hits
    return [uid for uid in rows(database) if uid in found], told


Row = dict[str, Any]


def _holds(uid: str, row: Row, word: str) -> bool:
    if word == uid:
        return True
    told = " ".join(str(value) for value in row.values() if isinstance(value, str | int | dict))
    return word in re.findall(r"[\w.]+", told.lower())


def summary(database: str, name: str) -> tuple[str, Row]:
    """A summary and its UID; an identifier nobody knows has an error of its own."""
    uid = uid_of(database, name) or name
    unknown = {"uid": uid, "error": "cannot get document summary"}
    return uid, rows(database).get(uid, unknown)


def summary_xml(uid: str, row: Row) -> str:
    """A summary as XML, version 2."""
    inner = "".join(_tag(name, value) for name, value in row.items() if name != "uid")
    return f'<DocumentSummary uid="{uid}">{inner}</DocumentSummary>'


def _tag(name: str, value: object) -> str:
    if isinstance(value, dict):
        inner = "".join(_tag(key, one) for key, one in value.items())
    elif isinstance(value, list):
        kind = name.rstrip("s").title()
        inner = "".join(_tag("string" if isinstance(v, str) else kind, v) for v in value)
    else:
        inner = escape(str(value))
    return f"<{name}>{inner}</{name}>"


def fetch(database: str, names: list[str], params: dict[str, str]) -> Reply:
    """Records in the form asked for; of an accession nobody has the whole list is refused."""
    uids = [uid_of(database, name) for name in names]
    errors = ""
    for name, uid in zip(names, uids, strict=True):
        if uid or database not in {"protein", "nuccore", "nucleotide"}:
            continue
        if re.fullmatch(r"[A-Z]{2}_\d{6,9}(\.\d+)?", name):
            spaced = _spaced(f"Failed to retrieve sequence: {name}")
            told = f"Error: CEFetchPApplication::proxy_stream(): Error: {spaced} \n\n\n"
            return text(told, TEXT, 400)
        errors += f"Error: {_spaced(f'Failed to understand id: {name}')} \n\n\n"
    unique = [uid for uid in dict.fromkeys(uids) if uid in rows(database)]
    mode = params.get("retmode") or "text"
    body, xml = as_text(database, unique, params.get("rettype", ""), mode)
    return text(body + errors, XML if xml else TEXT)


def _spaced(words: str) -> str:
    """As NCBI really writes it."""
    return "  ".join(" ".join(word) for word in words.split())


def links(database: str, uid: str, world: World) -> dict[str, list[str]]:
    """The links of a record by name: every third record has none."""
    if database == "pubmed":
        known = [record.pmid for record in world.papers]
        n = known.index(uid) if uid in known else -1
    else:
        uid = uid_of(database, uid)
        n = place(database, uid) if uid in rows(database) else -1
    if n < 0 or n % 3 == 2:
        return {}
    found = {}
    for other in _LINKED:
        first, size = KINDS[other].first, KINDS[other].size
        if other != database:
            found[f"{database}_{other}"] = [str(first + (n + k) % size) for k in range(n % 4 + 1)]
    if database == "gene":
        papers = [record.pmid for record in world.papers]
        found["gene_pubmed"] = [papers[(n + k) % len(papers)] for k in range(2)]
        found["gene_gene_neighbors"] = [uid, str(672 + (n + 1) % 30)]
    return found


def elink(call: Call, world: World) -> Reply:
    """One set of links for each ``id`` given."""
    params = call.params
    database, target = params.get("dbfrom", ""), params.get("db", "")
    given = [value for name, value in call.pairs if name == "id"]
    if params.get("cmd") == "acheck":
        return _acheck(database, given, world)
    sets = []
    for value in given:
        ids = [uid_of(database, name) or name for name in value.split(",")]
        rows_: dict[str, list[str]] = {}
        for uid in ids:
            for name, found in links(database, uid, world).items():
                if params.get("linkname", name) == name and target in {"", name.split("_")[1]}:
                    rows_.setdefault(name, []).extend(found)
        linked = [_linkset(name, found, params) for name, found in rows_.items()]
        row: Row = {"dbfrom": database, "ids": ids}
        sets.append(row | ({"linksetdbs": linked} if linked else {}))
    return as_json({"header": {"type": "elink", "version": "0.3"}, "linksets": sets})


def _linkset(name: str, found: list[str], params: dict[str, str]) -> Row:
    shown: list[Any] = list(found)
    if params.get("cmd") == "neighbor_score":
        shown = [{"id": uid, "score": 90 - at} for at, uid in enumerate(found)]
    return {"dbto": name.split("_")[1], "linkname": name, "links": shown}


def _acheck(database: str, given: list[str], world: World) -> Reply:
    inner = ""
    for uid in given:
        kinds = "".join(
            f"<LinkInfo><DbTo>{name.split('_')[1]}</DbTo><LinkName>{name}</LinkName><MenuTag>"
            f"{name.split('_')[1].title()} Links</MenuTag><Priority>128</Priority></LinkInfo>"
            for name in links(database, uid, world)
        )
        inner += f"<IdLinkSet><Id>{escape(uid)}</Id>{kinds}</IdLinkSet>"
    return text(
        f'<?xml version="1.0" encoding="UTF-8" ?><eLinkResult><LinkSet><DbFrom>{database}</DbFrom>'
        f"<IdCheckList>{inner}</IdCheckList></LinkSet></eLinkResult>",
        XML,
    )


def links_from(database: str) -> list[str]:
    """The names of the links that lead from a database to those of this module."""
    kinds = [f"{database}_{other}" for other in _LINKED if other != database]
    return kinds + ["gene_pubmed", "gene_gene_neighbors"] * (database == "gene")


def info(database: str) -> Row:
    """What EInfo says of a database."""
    names = ("name", "fullname", "description", "termcount", "isdate", "isnumerical", "ishidden")
    fields = (
        ("ALL", "All Fields", "All terms from all searchable fields", "90", "N", "N", "N"),
        ("UID", "UID", "Unique number assigned to a record", "0", "N", "Y", "Y"),
        ("ORGN", "Organism", "Scientific and common names of the organism", "9", "N", "N", "N"),
        ("MDAT", "Modification Date", "Date of the last change", "9", "Y", "N", "N"),
    )
    kinds = links_from(database) if database in KINDS else []
    return {
        "dbname": database, "menuname": database.title(), "description": f"{database} database",
        "dbbuild": "Build261120-1111.1", "count": str(len(rows(database))),
        "lastupdate": "2026/11/20 11:11",
        "fieldlist": [dict(zip(names, row, strict=True)) for row in fields],
        "linklist": [
            {"name": name, "menu": name, "description": name, "dbto": name.split("_")[1]}
            for name in kinds
        ],
    }  # fmt: skip
