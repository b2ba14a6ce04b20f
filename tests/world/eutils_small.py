"""The smaller E-utilities: esummary, elink, epost, einfo, espell."""

from __future__ import annotations

import difflib
import re
from html import escape
from typing import TYPE_CHECKING, Any

from .index import words
from .pubmed_xml import initials
from .records import Record
from .wire import XML, Call, Reply, as_json, text

if TYPE_CHECKING:
    from . import World

_LINKS = ("pubmed_pubmed", "pubmed_pubmed_citedin", "pubmed_pubmed_refs", "pubmed_pmc")


def _ids(call: Call, world: World) -> list[str] | None:
    if "WebEnv" in call.params:
        return world.desk.result(call.params)
    return [name for name in call.params.get("id", "").split(",") if name.strip().isdigit()]


def esummary(call: Call, world: World) -> Reply:
    """Document summaries; JSON holds at most 500."""
    ids, as_text = _ids(call, world), call.params.get("retmode") != "json"
    if ids is None:
        return as_json({"esummaryresult": ["Unable to obtain query #1"]})
    if not ids:
        return as_json({"esummaryresult": ["Empty id list - nothing todo"]})
    if "WebEnv" in call.params:
        start = int(call.params.get("retstart", 0))
        ids = ids[start : start + int(call.params.get("retmax", 20))]
    header = {"type": "esummary", "version": "0.3"}
    if len(ids) > 500 and not as_text:
        told = "Too many UIDs in request. Maximum number of UIDs is 500 for JSON format output."
        return as_json({"header": header, "error": told})
    rows = {name: _summary(name, world.record(name)) for name in ids}
    if as_text:
        inner = "".join(_summary_xml(name, row) for name, row in rows.items())
        return text(
            '<?xml version="1.0"?><eSummaryResult><DocumentSummarySet status="OK">'
            f"{inner}</DocumentSummarySet></eSummaryResult>",
            XML,
        )
    return as_json({"header": header, "result": {"uids": ids, **rows}})


def _summary(name: str, record: Record | None) -> dict[str, Any]:
    if record is None:
        return {"uid": name, "error": "cannot get document summary"}
    people = [f"{family} {initials(given)}" for family, given in record.authors]
    ids = (("pubmed", 1, record.pmid), ("pmc", 8, record.pmcid), ("doi", 3, record.doi))
    date = record.published.replace("-", "/")
    return {
        "uid": name,
        "pubdate": record.published[:7].replace("-", " "),
        "source": record.journal.short,
        "authors": [{"name": who, "authtype": "Author", "clusterid": ""} for who in people],
        "lastauthor": people[-1] if people else "",
        "title": escape(f"{record.title}."),
        "volume": record.volume,
        "issue": record.issue,
        "pages": record.pages,
        "lang": [record.language],
        "essn": record.journal.issn,
        "pubtype": list(record.types),
        "articleids": [
            {"idtype": kind, "idtypen": number, "value": value}
            for kind, number, value in ids
            if value
        ],
        "history": [{"pubstatus": "entrez", "date": f"{record.entered.replace('-', '/')} 06:00"}],
        "attributes": ["Has Abstract"] if record.abstract != "none" else [],
        "pmcrefcount": 0,
        "fulljournalname": record.journal.title,
        "elocationid": f"doi: {record.doi}" if record.doi else "",
        "sortpubdate": f"{date} 00:00",
        "sortfirstauthor": people[0] if people else "",
    }


def _summary_xml(name: str, row: dict[str, Any]) -> str:
    if "error" in row:
        return f'<DocumentSummary uid="{name}"><error>{row["error"]}</error></DocumentSummary>'
    authors = "".join(
        f"<Author><Name>{escape(who['name'])}</Name></Author>" for who in row["authors"]
    )
    return (
        f'<DocumentSummary uid="{name}"><PubDate>{row["pubdate"]}</PubDate><Source>{row["source"]}'
        f"</Source><Authors>{authors}</Authors><Title>{row['title']}</Title></DocumentSummary>"
    )


def elink(call: Call, world: World) -> Reply:
    """Links within the corpus: neighbours share a topic; one linkset per ``id`` given."""
    params = call.params
    wanted = [params["linkname"]] if "linkname" in params else list(_LINKS)
    sets = []
    for given in (value for name, value in call.pairs if name == "id"):
        ids = [name for name in given.split(",") if name.isdigit()]
        linked = [
            found for name in wanted if (found := _linkset(name, ids, world, params.get("cmd", "")))
        ]
        sets.append({"dbfrom": "pubmed", "ids": ids, **({"linksetdbs": linked} if linked else {})})
    if params.get("retmode") == "json":
        return as_json({"header": {"type": "elink", "version": "0.3"}, "linksets": sets})
    return text(
        f'<?xml version="1.0"?><eLinkResult>{"".join(map(_linkset_xml, sets))}</eLinkResult>', XML
    )


def _linkset(name: str, ids: list[str], world: World, cmd: str) -> dict[str, Any]:
    records = [record for pmid in ids if (record := world.corpus.by_pmid.get(pmid))]
    if name == "pubmed_pmc":
        links = [record.number for record in records if record.pmcid]
    else:
        links = [other.pmid for record in records for other in _related(name, record, world)]
    if not links:
        return {}
    shown: list[Any] = list(links)
    if cmd == "neighbor_score":
        shown = [
            {"id": pmid, "score": 30_000_000 - 1_000_000 * at} for at, pmid in enumerate(links)
        ]
    return {"dbto": "pmc" if name == "pubmed_pmc" else "pubmed", "linkname": name, "links": shown}


def _related(name: str, record: Record, world: World) -> list[Record]:
    kin = [
        other
        for other in world.corpus.records
        if other.pmid and other.pmid != record.pmid and other.topic == record.topic
    ]
    if name == "pubmed_pubmed":
        return [record, *kin][:20]
    if name == "pubmed_pubmed_citedin":
        return [other for other in kin if other.published > record.published][:20]
    return [other for other in kin if other.published < record.published][:20]


def _linkset_xml(row: dict[str, Any]) -> str:
    ids = "".join(f"<Id>{name}</Id>" for name in row["ids"])
    linked = ""
    for found in row.get("linksetdbs", []):
        links = "".join(
            f"<Link><Id>{link['id']}</Id><Score>{link['score']}</Score></Link>"
            if isinstance(link, dict)
            else f"<Link><Id>{link}</Id></Link>"
            for link in found["links"]
        )
        linked += (
            f"<LinkSetDb><DbTo>{found['dbto']}</DbTo><LinkName>{found['linkname']}</LinkName>{links}"
            "</LinkSetDb>"
        )
    return f"<LinkSet><DbFrom>pubmed</DbFrom><IdList>{ids}</IdList>{linked}</LinkSet>"


def epost(call: Call, world: World) -> Reply:
    """Put ids on the history server."""
    ids = [name for name in call.params.get("id", "").split(",") if name.strip().isdigit()]
    if call.params.get("db") not in {"pubmed", "pmc"}:
        inner = f"<ERROR>Invalid db name specified: {escape(call.params.get('db', ''))}</ERROR>"
    elif not ids:
        inner = "<ERROR>Empty ID list; Nothing to store</ERROR>"
    else:
        with world.lock:
            name, key = world.desk.keep(call.params.get("WebEnv", ""), ids)
        inner = f"<QueryKey>{key}</QueryKey><WebEnv>{name}</WebEnv>"
    return text(f'<?xml version="1.0"?><ePostResult>{inner}</ePostResult>', XML)


def einfo(call: Call, world: World) -> Reply:
    """The databases, or one of them."""
    databases, db = ["pubmed", "pmc"], call.params.get("db")
    if db and db not in databases:
        told = f"Can not retrieve DbInfo for db={escape(db)}"
        return text(f'<?xml version="1.0"?><eInfoResult><ERROR>{told}</ERROR></eInfoResult>', XML)
    info = {
        "dbname": db,
        "menuname": "PubMed",
        "count": str(len(world.corpus.by_pmid)),
        "lastupdate": "2026/11/20 07:00",
    }
    if call.params.get("retmode") == "json":
        inner: dict[str, Any] = {"dbinfo": [info]} if db else {"dblist": databases}
        return as_json({"header": {"type": "einfo", "version": "0.3"}, "einforesult": inner})
    if not db:
        names = "".join(f"<DbName>{name}</DbName>" for name in databases)
        return text(
            f'<?xml version="1.0"?><eInfoResult><DbList>{names}</DbList></eInfoResult>', XML
        )
    return text(
        f'<?xml version="1.0"?><eInfoResult><DbInfo><DbName>{db}</DbName>'
        f"<MenuName>PubMed</MenuName><Count>{info['count']}</Count><LastUpdate>{info['lastupdate']}</LastUpdate></DbInfo>"
        "</eInfoResult>",
        XML,
    )


def espell(call: Call, world: World) -> Reply:
    """A spelling the corpus knows; empty when nothing is wrong or nothing is near."""
    term = call.params.get("term", "")
    vocabulary = {word for entry in world.entries() for word in words(entry.all)}
    fixed = term
    for word in re.findall(r"[^\W\d_]{4,}", term):
        near = difflib.get_close_matches(word.lower(), vocabulary, 1, 0.8)
        if word.lower() not in vocabulary and near:
            fixed = fixed.replace(word, near[0])
    corrected = "" if fixed == term else escape(fixed)
    return text(
        '<?xml version="1.0"?><eSpellResult><Database>pubmed</Database>'
        f"<Query>{escape(term)}</Query><CorrectedQuery>{corrected}</CorrectedQuery><SpelledQuery/><ERROR/></eSpellResult>",
        XML,
    )
