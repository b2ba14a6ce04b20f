"""OpenAlex: single works for everybody, lists and searches for who has a key and a budget.

Facts sheet 6.2; pages: https://developers.openalex.org/guides/page-through-results (November 2026).
A budget is counted in credits of USD 0.0001: ``world.openalex_credits`` are left of the 10,000 of a
day (1,000 for all without a key). A spent one is answered with 429 and a Retry-After of many hours
(https://github.com/rpatrik96/bibtexupdater/pull/50); a blank key with 401, no key with 200.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tests.world import kinship
from tests.world.pdf import pdf_of
from tests.world.unpaywall import locations
from utils.demo.prose import abstract
from utils.demo.records import Record, strip_markup
from utils.demo.wire import HTML, PDF, Call, Reply, as_json, text

if TYPE_CHECKING:
    from tests.world import World

KEY = "openalex-key-of-the-lab"
DAILY = 10_000
_KEYLESS = 1_000
_RESET = "54000"  # seconds: 15 hours
_LIST, _SEARCH, _FILE = 1, 10, 100
_LAST_HIT = 10_000
_LARGEST_PAGE, _LAST_PAGE = 100, 500
_NOT_FOUND = "<!doctype html>\n<html lang=en>\n<title>404 Not Found</title>\n<h1>Not Found</h1>\n"
_TYPES = {"Preprint": "preprint", "Review": "review", "Editorial": "editorial"}

Test = Callable[[Record], bool]


def work_id(record: Record) -> str:
    """``W`` and a number."""
    return f"W{int(hashlib.sha1((record.doi or record.pmid).encode()).hexdigest()[:8], 16)}"


def openalex(call: Call, world: World) -> Reply:
    """``/works/{id}`` or ``/works?search=…&filter=…``."""
    key = _key_of(call)
    if key not in {None, KEY}:
        return _refused("Unauthorized", "The API key is not valid.", 401)
    if call.path.startswith("/works/"):
        record = _find(call.path.removeprefix("/works/"), world)
        if record is None or record.openalex == "unknown":
            return text(_NOT_FOUND, HTML, 404)
        return as_json(_selected(_work(record, world), call), 200, **_budget(world, 0))
    if call.path == "/rate-limit":
        return _rate_limit(world) if key else _refused("Unauthorized", "API key required", 401)
    if call.path != "/works":
        return text(_NOT_FOUND, HTML, 404)
    return _list(call, world)


def _key_of(call: Call) -> str | None:
    """Return the key of a request: None where it has none, empty where it is blank."""
    given = call.headers.get("authorization")
    return call.params.get("api_key") if given is None else given.removeprefix("Bearer").strip()


def openalex_content(call: Call, world: World) -> Reply:
    """``/works/W….pdf``: a cent a file; the bytes come at once, or from where it leads.

    Forms: developers.openalex.org, "Content", and the official command line client's code
    (github.com/ourresearch), as of August 2026.
    """
    if _key_of(call) != KEY:
        return _refused("Unauthorized", "API key required", 401)
    record = _find(call.path.removeprefix("/works/").removesuffix(".pdf"), world)
    if record is None or not record.openalex_file:
        return text(_NOT_FOUND, HTML, 404)
    if world.openalex_credits < _FILE:
        told = "Insufficient budget. This request costs more than you have left today."
        return _refused("Rate limit exceeded", told, 429, **_budget(world, 0), Retry_After=_RESET)
    world.openalex_credits -= _FILE
    if record.openalex_file == "page":  # as seen: a stored page of somebody's wall
        return text("<html><title>Just a moment...</title></html>", PDF, **_budget(world, _FILE))
    reply = text("", PDF, **_budget(world, _FILE))
    return replace(reply, body=pdf_of(record))


def _rate_limit(world: World) -> Reply:
    left = world.openalex_credits
    told = {
        "daily_budget_usd": DAILY / 10_000,
        "daily_used_usd": (DAILY - left) / 10_000,
        "daily_remaining_usd": left / 10_000,
    }
    return as_json(told)


def _list(call: Call, world: World) -> Reply:
    cost = _SEARCH if "search" in str(call.params) else _LIST
    spent = 0 if _key_of(call) else DAILY - _KEYLESS
    if world.openalex_credits - spent < cost:
        told = "Insufficient budget. This request costs more than you have left today."
        return _refused("Rate limit exceeded", told, 429, **_budget(world, 0), Retry_After=_RESET)
    size, page = call.params.get("per_page", "25"), call.params.get("page", "1")
    if not size.isdigit() or not 1 <= int(size) <= _LARGEST_PAGE:
        told = f"per_page must be between 1 and {_LARGEST_PAGE}."
        return _refused("Pagination error.", told, 400)
    if not page.isdigit() or not 1 <= int(page) <= _LAST_PAGE:
        return _refused("Pagination error.", f"page must be between 1 and {_LAST_PAGE}.", 400)
    if int(size) * int(page) > _LAST_HIT:
        told = "Maximum results size of 10,000 records is exceeded. Cursor pagination is required."
        return _refused("Pagination error.", told, 400)
    try:
        test = _filter(call.params.get("filter", ""), world)
    except ValueError as unknown:
        told = f"{unknown} is not a valid field."
        return _refused("Invalid query parameters error.", told, 400)
    words = call.params.get("search", "").lower().replace('"', "").split()
    found = [
        record
        for record in world.corpus.records
        if all(word in record.plain_title.lower() for word in words)
        and record.openalex != "unknown"
        and test(record)
    ]
    if call.params.get("sort", "").startswith("publication_date"):
        found.sort(key=lambda record: record.published, reverse=True)
    world.openalex_credits -= cost
    start = (int(page) - 1) * int(size)
    rows = [_selected(_work(r, world), call) for r in found[start : start + int(size)]]
    meta = {"count": len(found), "page": int(page), "per_page": int(size), "groups_count": None}
    return as_json({"meta": meta, "results": rows, "group_by": []}, 200, **_budget(world, cost))


def _filter(given: str, world: World) -> Test:
    tests = []
    for part in filter(None, given.split(",")):
        name, _, value = part.partition(":")
        tests.append(_one_filter(name, value, world))
    return lambda record: all(test(record) for test in tests)


def _one_filter(name: str, value: str, world: World) -> Test:
    if name == "from_publication_date":
        return lambda record: record.published >= value
    if name == "to_publication_date":
        return lambda record: record.published <= value
    if name == "type":
        return lambda record: _type(record) in value.split("|")
    if name == "raw_author_name.search":
        wanted = set(value.lower().split())
        return lambda record: any(
            wanted <= set(f"{given} {family}".lower().split()) for family, given in record.authors
        )
    if name == "doi":  # several, joined by |: docs.openalex.org, "Filter entity lists"
        dois = {doi.removeprefix("https://doi.org/") for doi in value.lower().split("|")}
        return lambda record: bool(record.doi) and record.doi.lower() in dois
    if name in {"cites", "cited_by"}:
        middle = _find(value, world)
        kin = kinship.citing if name == "cites" else kinship.cited
        names = {other.pmid for other in kin(middle, world)} if middle else set()
        return lambda record: record.pmid in names
    raise ValueError(name)


def _find(name: str, world: World) -> Record | None:
    kind, _, value = name.partition(":")
    if kind == "doi":
        return world.corpus.by_doi.get(value.lower())
    if kind == "pmid":
        return world.corpus.by_pmid.get(value)
    return next((record for record in world.corpus.records if work_id(record) == name), None)


def _refused(error: str, message: str, status: int, **headers: str) -> Reply:
    return as_json({"error": error, "message": message}, status, **headers)


def _budget(world: World, cost: int) -> dict[str, str]:
    left = world.openalex_credits
    return {
        "X_RateLimit_Limit": str(DAILY), "X_RateLimit_Remaining": str(left),
        "X_RateLimit_Credits_Used": str(cost), "X_RateLimit_Reset": _RESET,
        "X_RateLimit_Limit_USD": f"{DAILY / 10_000:g}",
        "X_RateLimit_Remaining_USD": f"{left / 10_000:g}",
        "X_RateLimit_Cost_USD": f"{cost / 10_000:g}",
    }  # fmt: skip


def _selected(work: dict[str, Any], call: Call) -> dict[str, Any]:
    names = call.params.get("select", "")
    return {name: work[name] for name in names.split(",") if name in work} if names else work


def _work(record: Record, world: World) -> dict[str, Any]:
    copies = [
        _location(row) for row in locations(record, world, record.openalex or record.unpaywall)
    ]
    own = {
        "is_oa": False, "landing_page_url": f"https://doi.org/{record.doi.lower()}",
        "pdf_url": None,
        "source": {"display_name": record.journal.title, "issn_l": record.journal.issn or None},
        "license": None, "version": None,
    }  # fmt: skip
    names = {
        "openalex": f"https://openalex.org/{work_id(record)}",
        "doi": f"https://doi.org/{record.doi.lower()}" if record.doi else "",
        "pmid": f"https://pubmed.ncbi.nlm.nih.gov/{record.pmid}" if record.pmid else "",
        "pmcid": f"https://www.ncbi.nlm.nih.gov/pmc/articles/{record.number}"
        if record.pmcid
        else "",
    }
    first, _, last = record.pages.partition("-")
    kept = bool(record.openalex_file)
    return {
        "id": names["openalex"], "doi": names["doi"] or None, "title": record.title,
        "display_name": record.title, "publication_year": int(record.year),
        "publication_date": record.published,
        "ids": {name: value for name, value in names.items() if value}, "language": "en",
        "primary_location": own,
        "best_oa_location": copies[0] if copies else _free_place(own) if kept else None,
        "has_content": {"pdf": kept, "grobid_xml": False}, "locations": [own, *copies],
        "type": _type(record),
        "open_access": {"is_oa": bool(copies), "oa_status": "green" if copies else "closed"},
        "authorships": [_authorship(f"{given} {family}") for family, given in record.authors],
        "biblio": {
            "volume": record.volume,
            "issue": record.issue,
            "first_page": first,
            "last_page": last,
        },
        "is_retracted": record.retracted, "cited_by_count": 0, "referenced_works": [],
        "referenced_works_count": 0,
        "abstract_inverted_index": _inverted(
            " ".join(strip_markup(body) for _, body in abstract(record))
        ),
    }  # fmt: skip


def _free_place(own: dict[str, Any]) -> dict[str, Any]:
    return own | {"is_oa": True, "license": "cc-by", "version": "publishedVersion"}


def _type(record: Record) -> str:
    return next((_TYPES[kind] for kind in record.types if kind in _TYPES), "article")


def _location(row: dict[str, Any]) -> dict[str, Any]:
    return {
        "is_oa": True, "landing_page_url": row["url_for_landing_page"],
        "pdf_url": row["url_for_pdf"],
        "source": {"display_name": "Repository of the Lab", "type": "repository"},
        "license": row["license"], "version": row["version"],
    }  # fmt: skip


def _authorship(name: str) -> dict[str, Any]:
    return {
        "author_position": "middle",
        "author": {"id": "https://openalex.org/A1", "display_name": name, "orcid": None},
        "raw_author_name": name,
        "raw_affiliation_strings": ["Department of Invented Studies"],
    }


def _inverted(text_: str) -> dict[str, list[int]] | None:
    index: dict[str, list[int]] = {}
    for at, word in enumerate(text_.split()):
        index.setdefault(word, []).append(at)
    return index or None
