"""Semantic Scholar's graph: two searches, one paper by any of its names, batches, who cites whom.

Its walls and nulls are those of late 2026: a search by relevance ends before the thousandth hit, a
list of citations before the ten thousandth; hyphens find nothing; abstracts, types and journals are
missing here and there, a free copy may be an empty string, and what a paper cites may be nobody.
One paper (`FAMOUS`) is cited more often than can be shown; what another cites is withheld.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from tests.world.kinship import cited, citing
from tests.world.unpaywall import archive_links
from utils.demo.pages import get_pdf_path
from utils.demo.prose import abstract
from utils.demo.records import Record, strip_markup
from utils.demo.wire import Call, Reply, as_json

if TYPE_CHECKING:
    from tests.world import World

KEY = "s2-key-of-the-world"
FAMOUS, CITATIONS = "paywall", 12_345
WITHHELD = "login"
BULK = 1000

_LISTED = frozenset(
    {
        *("paperId", "corpusId", "externalIds", "url", "title", "abstract", "venue", "year"),
        *("publicationVenue", "referenceCount", "citationCount", "influentialCitationCount"),
        *("isOpenAccess", "openAccessPdf", "fieldsOfStudy", "s2FieldsOfStudy"),
        *("publicationTypes", "publicationDate", "journal", "citationStyles", "authors"),
    }
)
_WHOLE = _LISTED | {"tldr", "embedding", "textAvailability", "citations", "references"}
_BEYOND = "Relevance search offset + limit must be < 1000. Use bulk search to get more results."


def paper_id(record: Record) -> str:
    """Forty hexadecimal digits."""
    return hashlib.sha1((record.doi or record.pmid).encode()).hexdigest()


def semantic_scholar(call: Call, world: World) -> Reply:
    """``/paper/…``; one request per second, see `limits`."""
    if call.header("x-api-key") not in {"", KEY}:
        return as_json({"message": "Forbidden"}, 403)
    lists = call.path.endswith(("/search/bulk", "/citations", "/references"))
    known = _LISTED | {"contexts", "intents", "isInfluential"} if lists else _WHOLE
    fields = call.params.get("fields", "paperId,title").split(",")
    if unknown := [name for name in fields if name.split(".")[0] not in known]:
        return _no(f"Unrecognized or unsupported fields: [{', '.join(unknown)}]")
    if call.path == "/paper/search":
        return _search(call, world, fields)
    if call.path == "/paper/search/bulk":
        return _bulk(call, world, fields)
    if call.path == "/paper/batch":
        return _batch(call, world, fields)
    name, _, kind = call.path.removeprefix("/paper/").rpartition("/")
    if kind not in {"citations", "references"}:
        name, kind = call.path.removeprefix("/paper/"), ""
    record = _find(name, world)
    if record is None:
        return as_json({"error": f"Paper with id {name} not found"}, 404)
    return _links(call, world, record, kind) if kind else as_json(_row(record, fields, world))


def _no(told: str) -> Reply:
    return as_json({"error": told}, 400)


def _search(call: Call, world: World, fields: list[str]) -> Reply:
    """Every word must be in the title; a word with a hyphen is in none."""
    query = call.params.get("query", "")
    offset, limit = _page(call, 10)
    if not query:
        return _no("Missing required parameter: 'query'")
    if limit > 100:
        return _no("limit must be <= 100")
    if offset + limit >= 1000:
        return _no(_BEYOND)
    wanted = query.lower().split()
    hits = [r for r in _filtered(call, world) if all(w in _title(r) for w in wanted)]
    if hits and offset >= len(hits):
        return _no("Requested data for this limit and/or offset is not available")
    rows = [_row(record, fields, world) for record in hits[offset : offset + limit]]
    more = {"next": offset + limit} if offset + limit < len(hits) else {}
    return as_json({"total": len(hits), "offset": offset, **more, "data": rows})


def _bulk(call: Call, world: World, fields: list[str]) -> Reply:
    """All hits, a thousand at once; the token says where the next thousand begins."""
    order_of: dict[str, Callable[[Record], Any]] = {
        "paperId": paper_id,
        "publicationDate": lambda record: (record.published, paper_id(record)),
        "citationCount": lambda record: (_citations(record, world), paper_id(record)),
    }
    field, _, order = call.params.get("sort", "paperId:asc").partition(":")
    if field not in order_of or order not in {"", "asc", "desc"}:
        return _no(f"Unsupported sort: [{call.params['sort']}]")
    meets = _condition(call.params.get("query", ""))
    hits = [record for record in _filtered(call, world) if meets(_title(record))]
    hits.sort(key=order_of[field], reverse=order == "desc")
    start = int(call.params.get("token", "TOKEN0").removeprefix("TOKEN"))
    rows = [_row(record, fields, world) for record in hits[start : start + BULK]]
    token = f"TOKEN{start + BULK}" if start + BULK < len(hits) else None
    return as_json({"total": len(hits), "token": token, "data": rows})


def _condition(query: str) -> Callable[[str], bool]:
    """What ``a + b | -c "d e" f*`` means: all the words of one of the sides."""
    sides = [re.findall(r'-?(?:"[^"]*"|[^\s"]+)', side) for side in query.lower().split("|")]

    def holds(word: str, title: str) -> bool:
        bare = word.lstrip("+-").strip('"').rstrip("*")
        return (bare in title) != word.startswith("-")

    return lambda title: any(all(holds(word, title) for word in side) for side in sides)


def _filtered(call: Call, world: World) -> list[Record]:
    years = call.params.get("year", "")
    dates = call.params.get("publicationDateOrYear", "")
    first, _, last = years.partition("-") if years else dates.partition(":")
    fields = set(filter(None, call.params.get("fieldsOfStudy", "").split(",")))
    kinds = set(filter(None, call.params.get("publicationTypes", "").split(",")))
    return [
        record
        for record in world.corpus.records
        if (record.published >= first and (not last or record.published[: len(last)] <= last))
        and (not fields or fields & set(_fields_of_study(record)))
        and (not kinds or kinds & set(_types(record) or ()))
    ]


def _batch(call: Call, world: World, fields: list[str]) -> Reply:
    """Aligned with what was asked; null for who is unknown."""
    names = json.loads(call.body or b"{}").get("ids", [])
    if not names:
        return _no("Missing or empty ids")
    if len(names) > 500:
        return _no("Maximum batch size is 500")
    found = [_find(name, world) for name in names]
    return as_json([record and _row(record, fields, world) for record in found])


def _links(call: Call, world: World, record: Record, kind: str) -> Reply:
    offset, limit = _page(call, 100)
    if limit > 1000:
        return _no("limit must be <= 1000")
    if offset + limit >= 10_000:
        return _no("offset + limit must be < 10000")
    if kind == "references" and record.branch == WITHHELD:
        return as_json({"offset": offset, "data": None})
    fields = call.params.get("fields", "paperId,title").split(",")
    others = citing(record, world) if kind == "citations" else cited(record, world)
    total = _citations(record, world) if kind == "citations" else len(others) + 1
    end = "citingPaper" if kind == "citations" else "citedPaper"
    rows = [
        {
            "contexts": [],
            "intents": [],
            "isInfluential": False,
            end: _row(others[at], fields, world) if at < len(others) else _nobody(at, kind, fields),
        }
        for at in range(offset, min(offset + limit, total))
    ]
    more = {"next": offset + limit} if offset + limit < total else {}
    return as_json({"offset": offset, **more, "data": rows})


def _nobody(at: int, kind: str, fields: Sequence[str]) -> dict[str, Any]:
    """A work that is in no database; what is cited may have no identifier at all."""
    number = hashlib.sha1(f"work {at}".encode()).hexdigest() if kind == "citations" else None
    known = {"paperId": number, "title": f"Work number {at} of an uncounted crowd"}
    return {**dict.fromkeys(fields), **known}


def _citations(record: Record, world: World) -> int:
    if record.branch == FAMOUS:
        return CITATIONS
    return len(citing(record, world)) if record.branch != "crowd" else 0


def _references(record: Record, world: World) -> int:
    return len(cited(record, world)) + 1 if record.branch != "crowd" else 0


def _page(call: Call, usual: int) -> tuple[int, int]:
    return int(call.params.get("offset", "0")), int(call.params.get("limit", str(usual)))


def _title(record: Record) -> str:
    return re.sub("[-\u2010-\u2015]", " ", record.plain_title.lower())


def _find(name: str, world: World) -> Record | None:
    """A paper by its hash or by ``KIND:value``; arXiv's without a version, PMC's in digits."""
    corpus, (kind, _, value) = world.corpus, name.partition(":")
    by_name: dict[str, Callable[[], Record | None]] = {
        "DOI": lambda: corpus.by_doi.get(value.lower()), "PMID": lambda: corpus.by_pmid.get(value),
        "PMCID": lambda: corpus.by_pmcid.get(f"PMC{value}"),
        "ARXIV": lambda: corpus.by_arxiv.get(value), "URL": lambda: _at_url(value, world),
    }  # fmt: skip
    if kind.upper() in by_name:
        return by_name[kind.upper()]()
    if value and kind.upper() not in {"CORPUSID", "MAG", "ACL"}:
        return None
    numbers: dict[str, Callable[[Record], str]] = {
        "CORPUSID": lambda record: str(_number(record)),
        "MAG": lambda record: _external(record).get("MAG", ""),
        "ACL": lambda record: _external(record).get("ACL", ""),
    }
    own = numbers.get(kind.upper(), paper_id)
    return next((record for record in corpus.records if own(record) == (value or name)), None)


def _at_url(url: str, world: World) -> Record | None:
    if match := re.fullmatch(r"https?://(?:www\.)?arxiv\.org/abs/([^v]+)(?:v\d+)?", url):
        return world.corpus.by_arxiv.get(match[1])
    if match := re.fullmatch(r"https?://aclanthology\.org/([^/]+)/?", url):
        return _find(f"ACL:{match[1]}", world)
    return None


def _number(record: Record) -> int:
    return int(paper_id(record)[:8], 16)


def _external(record: Record) -> dict[str, Any]:
    names = {
        # Its record of a preprint is that of the article, once there is one.
        "DOI": record.scholar.removeprefix("article ") if "article " in record.scholar
        else record.doi, "PubMed": record.pmid, "PubMedCentral": record.number,
        "ArXiv": record.arxiv,
        "MAG": str(2_000_000_000 + _number(record) % 10**9) if record.doi else "",
        "ACL": f"W25-{_number(record) % 10_000:04d}" if record.arxiv else "",
    }  # fmt: skip
    return {**{kind: value for kind, value in names.items() if value}, "CorpusId": _number(record)}


def _fields_of_study(record: Record) -> list[str]:
    return ["Physics"] if record.arxiv else ["Medicine", "Biology"]


def _types(record: Record) -> list[str] | None:
    """Nobody told it the type of what is sold in the north."""
    if record.site == "summit":
        return None
    return ["JournalArticle", "Review"] if "Review" in record.types else ["JournalArticle"]


def _open_copy(record: Record, world: World) -> str:
    """An address, or an empty string with a notice in its place."""
    item = f"{world.url('repository')}/item/{quote(record.doi, safe='')}/download"
    known = {
        "copy": item,
        "hal": archive_links("hal", record.doi, world)[0],
        "osti": archive_links("osti", record.doi, world)[0],
        "publisher": world.url(record.site) + get_pdf_path(record),
        "doi": f"https://doi.org/{record.doi}",
        "walled": f"https://www.researchgate.net/publication/{_number(record)}",
    }
    return known.get(record.scholar, item if record.unpaywall == "pdf" else "")


def _row(record: Record, fields: Sequence[str], world: World) -> dict[str, Any]:
    told = " ".join(strip_markup(body) for _, body in abstract(record))
    open_copy = _open_copy(record, world)
    journal = {"name": record.journal.title, "volume": record.volume, "pages": record.pages}
    makers: dict[str, Callable[[], Any]] = {
        "paperId": lambda: paper_id(record),
        "corpusId": lambda: _number(record),
        "externalIds": lambda: _external(record),
        "url": lambda: f"https://www.semanticscholar.org/paper/{paper_id(record)}",
        "title": lambda: record.plain_title,
        # Some publishers forbid it.
        "abstract": lambda: None if record.site == "summit" else told or None,
        "venue": lambda: record.journal.title,
        "publicationVenue": lambda: {"name": record.journal.title, "issn": record.journal.issn},
        "year": lambda: int(record.year),
        "referenceCount": lambda: _references(record, world),
        "citationCount": lambda: _citations(record, world),
        "influentialCitationCount": lambda: _citations(record, world) // 10,
        "isOpenAccess": lambda: bool(record.cloud),
        "openAccessPdf": lambda: {
            "url": open_copy,
            "status": None if not open_copy else "GREEN" if "/item/" in open_copy else "HYBRID",
            "license": "CCBY" if open_copy else None,
            "disclaimer": "Notice: …",
        },
        "fieldsOfStudy": lambda: _fields_of_study(record),
        "publicationDate": lambda: record.published,
        "publicationTypes": lambda: _types(record),
        "journal": lambda: journal if record.volume else None,
        "citationStyles": lambda: {
            "bibtex": f"@Article{{x,\n title = {{{record.plain_title}}}\n}}"
        },
        "tldr": lambda: {"model": "tldr@v2.0.0", "text": told.partition(". ")[0]} if told else None,
        "authors": lambda: [
            {"authorId": str(1000 + at), "name": f"{given[0]}. {family}"}
            for at, (family, given) in enumerate(record.authors)
        ],
    }
    return {name: makers[name]() for name in ["paperId", *fields] if name in makers}
