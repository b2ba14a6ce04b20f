"""The smaller E-utilities: esummary, elink, epost, einfo; those about words: `eutils_words`."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from tests.world import entrez_answers, kinship
from tests.world.eutils_words import mesh_summary
from utils.demo.pubmed_xml import MONTHS, initials
from utils.demo.records import Record
from utils.demo.wire import XML, Call, Reply, as_json, text

if TYPE_CHECKING:
    from tests.world import World

_LINKS = ("pubmed_pubmed", "pubmed_pubmed_citedin", "pubmed_pubmed_refs", "pubmed_pmc")
_FIELDS = (
    ("ALL", "All Fields", "All terms from all searchable fields", "N", "N", "N"),
    ("UID", "UID", "Unique number assigned to publication", "N", "Y", "Y"),
    ("TITL", "Title", "Words in title of publication", "N", "N", "N"),
    ("MESH", "MeSH Terms", "Medical Subject Headings assigned to publication", "N", "N", "N"),
    ("PDAT", "Date - Publication", "Date of publication", "Y", "N", "N"),
)


def _ids(call: Call, world: World) -> list[str] | None:
    if "WebEnv" in call.params:
        return world.desk.result(call.params)
    names = [name.strip() for name in call.params.get("id", "").split(",")]
    if entrez_answers.is_other(call.params.get("db", "")):
        return [name for name in names if name]
    return [name for name in names if name.isdigit()]


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
    if call.params.get("db") == "mesh":
        rows = {name: mesh_summary(name) for name in ids}
    elif entrez_answers.is_other(call.params.get("db", "")):
        rows = dict(entrez_answers.summary(call.params["db"], name) for name in ids)
        ids = list(rows)
    else:
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
    year, month, _ = record.published.split("-")
    return {
        "uid": name, "pubdate": f"{year} {MONTHS[int(month) - 1]}", "epubdate": "",
        "source": record.journal.short,
        "authors": [{"name": who, "authtype": "Author", "clusterid": ""} for who in people],
        "lastauthor": people[-1] if people else "", "title": escape(f"{record.title}."),
        "volume": record.volume, "issue": record.issue, "pages": record.pages,
        "lang": [record.language], "essn": record.journal.issn, "pubtype": list(record.types),
        "articleids": [
            {"idtype": kind, "idtypen": number, "value": value}
            for kind, number, value in ids
            if value
        ],
        "history": [{"pubstatus": "entrez", "date": f"{record.entered.replace('-', '/')} 06:00"}],
        "attributes": ["Has Abstract"] if record.abstract != "none" else [], "pmcrefcount": 0,
        "fulljournalname": record.journal.title,
        "elocationid": f"doi: {record.doi}" if record.doi else "", "sortpubdate": f"{date} 00:00",
        "sortfirstauthor": people[0] if people else "",
    }  # fmt: skip


def _summary_xml(name: str, row: dict[str, Any]) -> str:
    if "error" in row or "authors" not in row:
        return entrez_answers.summary_xml(name, row)
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
    if params.get("dbfrom") != "pubmed" or params.get("cmd") == "acheck" or (
        entrez_answers.is_other(params.get("db", ""))
    ):  # fmt: skip
        return entrez_answers.elink(call, world)
    scored = params.get("cmd") == "neighbor_score"  # which takes no linkname
    wanted = [params["linkname"]] if "linkname" in params and not scored else list(_LINKS)
    sets = []
    for given in (value for name, value in call.pairs if name == "id"):
        ids = [name for name in given.split(",") if name.isdigit()]
        linked = [found for name in wanted if (found := _linkset(name, ids, world, scored=scored))]
        sets.append({"dbfrom": "pubmed", "ids": ids, **({"linksetdbs": linked} if linked else {})})
    if params.get("retmode") == "json":
        return as_json({"header": {"type": "elink", "version": "0.3"}, "linksets": sets})
    return text(
        f'<?xml version="1.0"?><eLinkResult>{"".join(map(_linkset_xml, sets))}</eLinkResult>', XML
    )


def _linkset(name: str, ids: list[str], world: World, *, scored: bool) -> dict[str, Any]:
    """The links of one name; no links is no linkset."""
    records = [record for pmid in ids if (record := world.corpus.by_pmid.get(pmid))]
    if name == "pubmed_pmc":
        links = {record.number: 0 for record in records if record.pmcid}
    else:
        links = {other: score for r in records for other, score in _related(name, r, world)}
    if not links:
        return {}
    shown: list[Any] = list(links)
    if scored:
        shown = [{"id": pmid, "score": 1_000_000 * score} for pmid, score in links.items()]
    return {"dbto": "pmc" if name == "pubmed_pmc" else "pubmed", "linkname": name, "links": shown}


def _related(name: str, record: Record, world: World) -> list[tuple[str, int]]:
    """NCBI knows only the reference lists of what is in PMC."""
    if name == "pubmed_pubmed":
        return [(other.pmid, score) for other, score in kinship.similar(record, world)]
    if name == "pubmed_pubmed_citedin":
        return [(other.pmid, 0) for other in kinship.citing(record, world) if other.pmcid]
    return [(other.pmid, 0) for other in kinship.cited(record, world) if record.pmcid]


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
    if call.params.get("db") not in entrez_answers.NAMES:
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
    databases, db = list(entrez_answers.NAMES), call.params.get("db")
    if db and (entrez_answers.is_other(db) or db in {"pmc", "mesh"}):
        inner: dict[str, Any] = {"dbinfo": [entrez_answers.info(db)]}
        return as_json({"header": {"type": "einfo", "version": "0.3"}, "einforesult": inner})
    if db and db not in databases:
        told = f"Can not retrieve DbInfo for db={escape(db)}"
        return text(f'<?xml version="1.0"?><eInfoResult><ERROR>{told}</ERROR></eInfoResult>', XML)
    count, names = str(len(world.corpus.by_pmid)), ("name", "fullname", "description")
    fields = [
        dict(zip((*names, "isdate", "isnumerical", "ishidden"), row, strict=True))
        | {"termcount": count}
        for row in _FIELDS
    ]
    links = [
        {"name": name, "menu": name, "description": name, "dbto": name.split("_")[1]}
        for name in (*_LINKS, *entrez_answers.links_from("pubmed"))
    ]
    info = {
        "dbname": db, "menuname": "PubMed", "description": "PubMed bibliographic record",
        "count": count, "lastupdate": "2026/11/20 07:00",
    }  # fmt: skip
    if call.params.get("retmode") == "json":
        inner = {"dblist": databases}
        if db:
            inner = {"dbinfo": [{**info, "fieldlist": fields, "linklist": links}]}
        return as_json({"header": {"type": "einfo", "version": "0.3"}, "einforesult": inner})
    if not db:
        dbs = "".join(f"<DbName>{name}</DbName>" for name in databases)
        return text(f'<?xml version="1.0"?><eInfoResult><DbList>{dbs}</DbList></eInfoResult>', XML)
    return text(
        f'<?xml version="1.0"?><eInfoResult><DbInfo><DbName>{db}</DbName>'
        f"<MenuName>PubMed</MenuName><Count>{count}</Count><LastUpdate>{info['lastupdate']}"
        "</LastUpdate></DbInfo></eInfoResult>",
        XML,
    )
