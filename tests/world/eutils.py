"""NCBI E-utilities: the gate (rate, keys), esearch, efetch, and the way to the smaller ones."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable
from html import escape
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from tests.world import entrez_answers
from tests.world.eutils_words import mesh_hits
from tests.world.index import Entry
from tests.world.limits import refusal
from tests.world.medline import medline
from tests.world.query import BackendFailed, Understood, understand
from utils.demo.eutils import EMPTY, article_set, build_record_set, fetch_error, shuffled
from utils.demo.wire import TEXT, XML, Call, Reply, as_json, text

if TYPE_CHECKING:
    from tests.world import World

WALL = 9999
KEY = "0123456789abcdef0123456789abcdef0123"
_TOO_FAR = (
    "Search Backend failed: Exception:\\n'retstart' cannot be larger than 9998. For PubMed, "
    "ESearch can only retrieve the first 9,999 records matching the query."
)
_DATES = {"edat": "entered", "crdt": "entered", "mdat": "revised"}
_LOST = "Unable to obtain query #1"


class Desk:
    """What NCBI remembers of its callers: recent requests (of one *second*) and the history."""

    def __init__(self, second: float) -> None:
        self.second = second
        self.recent: dict[str, deque[float]] = defaultdict(deque)
        self.history: dict[str, list[list[str]]] = {}

    def turn(self, who: str, now: float, limit: int) -> int:
        """How many requests of *who* fell into the last second, this one included."""
        window = self.recent[who]
        while window and now - window[0] >= self.second:
            window.popleft()
        if len(window) < limit:
            window.append(now)
            return len(window)
        return limit + 1

    def keep(self, webenv: str, pmids: list[str]) -> tuple[str, str]:
        """Put a result into an environment; its name and the query key."""
        name = webenv if webenv in self.history else f"MCID_{len(self.history) + 1:024x}"
        results = self.history.setdefault(name, [])
        results.append(pmids)
        return name, str(len(results))

    def result(self, params: dict[str, str]) -> list[str] | None:
        """The ids behind WebEnv and query_key; None when they expired or never were."""
        key = params.get("query_key", "")
        results = self.history.get(params.get("WebEnv", ""), [])
        return results[int(key) - 1] if key.isdigit() and 0 < int(key) <= len(results) else None


def eutils(call: Call, world: World) -> Reply:
    """Check the key and the rate, then let the utility answer."""
    params = call.params
    key = params.get("api_key")
    if key is not None and key != KEY:
        return as_json(
            {"error": "API key invalid", "api-key": key, "type": "invalid", "status": "unknown"},
            400,
        )
    limit = 10 if key else 3
    with world.lock:
        count = world.desk.turn(key or "anonymous", call.at, limit)
    headers = {"X-RateLimit-Limit": str(limit), "X-RateLimit-Remaining": str(max(0, limit - count))}
    reply = refusal(call, 2) if count > limit else _utility(call.path)(call, world)
    reply.headers |= headers
    return reply


def _utility(path: str) -> Callable[[Call, World], Reply]:
    from tests.world import eutils_small, eutils_words

    known = {
        "/esearch.fcgi": esearch, "/efetch.fcgi": efetch, "/esummary.fcgi": eutils_small.esummary,
        "/elink.fcgi": eutils_small.elink, "/epost.fcgi": eutils_small.epost,
        "/einfo.fcgi": eutils_small.einfo, "/espell.fcgi": eutils_words.espell,
        "/ecitmatch.cgi": eutils_words.ecitmatch,
    }  # fmt: skip
    return known.get(path, lambda call, world: text("Not Found", TEXT, 404))


def esearch(call: Call, world: World) -> Reply:
    """Search PubMed (or ``db=pmc``) over the corpus."""
    params = call.params
    json_wanted = params.get("retmode") == "json"
    if params.get("db") == "mesh":
        uids = mesh_hits(params.get("term", ""))
        told = {"count": str(len(uids)), "retmax": str(len(uids)), "retstart": "0"}
        page = uids[: _number(params.get("retmax"), 20)]
        return as_json({"header": {"type": "esearch"}, "esearchresult": told | {"idlist": page}})
    if entrez_answers.is_other(params.get("db", "pubmed")):
        return _search_elsewhere(params, world, json_wanted)
    if params.get("db", "pubmed") not in {"pubmed", "pmc"}:
        return _search_error(f"Invalid db name specified: {params['db']}", json_wanted)
    start = _number(params.get("retstart"), 0)
    if start >= WALL and params.get("db") != "pmc":
        return _search_error(_TOO_FAR, json_wanted)
    if params.get("query_key") and world.desk.result(params) is None:
        return _search_error(_LOST, json_wanted)
    try:
        found, hits = _found(params, world)
    except BackendFailed as error:
        return _search_error(str(error), json_wanted)
    answer = _answer(params, start, found, hits, world)
    if json_wanted:
        return as_json({"header": {"type": "esearch", "version": "0.3"}, "esearchresult": answer})
    return text(_as_xml(answer), XML)


def _search_elsewhere(params: dict[str, str], world: World, json_wanted: bool) -> Reply:
    """Search a database beyond the literature."""
    kept = world.desk.history.get(params.get("WebEnv", ""), [])
    try:
        ids, told = entrez_answers.search(
            params, {f"#{at}": set(uids) for at, uids in enumerate(kept, start=1)}
        )
    except ValueError as error:
        return _search_error(str(error), json_wanted)
    start = _number(params.get("retstart"), 0)
    page = ids[start : start + _number(params.get("retmax"), 20)]
    answer: dict[str, Any] = {"count": str(len(ids))}
    if params.get("rettype") != "count":
        answer |= {"retmax": str(len(page)), "retstart": str(start), "idlist": page}
        answer |= {"translationset": [], "querytranslation": params.get("term", "")}
    if params.get("usehistory") == "y":
        with world.lock:
            name, key = world.desk.keep(params.get("WebEnv", ""), ids)
        answer |= {"querykey": key, "webenv": name}
    if any(told.values()):
        answer["errorlist"] = told
    if json_wanted:
        return as_json({"header": {"type": "esearch", "version": "0.3"}, "esearchresult": answer})
    return text(_as_xml({"retmax": "0", "retstart": "0", **answer}), XML)


def _number(value: str | None, default: int) -> int:
    return int(value) if value and value.isdigit() else default


def _search_error(message: str, json_wanted: bool) -> Reply:
    if not json_wanted:
        return text(
            f'<?xml version="1.0"?><eSearchResult><ERROR>{escape(message)}</ERROR></eSearchResult>',
            XML,
        )
    # As NCBI does it: a raw newline inside the JSON string.
    body = '{"header":{"type":"esearch","version":"0.3"},"esearchresult":{"ERROR":"%s"}}'
    return text(body % message.replace("\\n", "\n"), "application/json")


def _found(params: dict[str, str], world: World) -> tuple[Understood, list[Entry]]:
    term = params.get("term", "").strip()
    if field := params.get("field"):
        term = f"({term})[{field}]" if " " in term else f"{term}[{field}]"
    if not term:
        raise BackendFailed("Empty term and query_key - nothing todo")
    results = world.desk.history.get(params.get("WebEnv", ""), [])
    history = {f"#{at}": set(pmids) for at, pmids in enumerate(results, start=1)}
    entries = world.entries()
    found = understand(term, entries, history)
    dated = _dated(params)
    hits = [entry for entry in entries if dated(entry) and found.test(entry)]
    if params.get("db") == "pmc":
        hits = [entry for entry in hits if entry.record.pmcid]
    if params.get("query_key"):
        kept = set(world.desk.result(params) or ())
        hits = [entry for entry in hits if _uid(entry, params) in kept]
    return found, _sorted(hits, params.get("sort", ""), found.terms)


def _uid(entry: Entry, params: dict[str, str]) -> str:
    return entry.record.number if params.get("db") == "pmc" else entry.pmid


def _dated(params: dict[str, str]) -> Callable[[Entry], bool]:
    first, last = params.get("mindate", ""), params.get("maxdate", "")
    if not (first and last):
        return lambda _: True
    date = attrgetter(_DATES.get(params.get("datetype", ""), "published"))
    first, last = _filled(first, "01"), _filled(last, "31")
    return lambda entry: first <= date(entry) <= last


def _filled(date: str, day: str) -> str:
    parts = [part.zfill(2) for part in date.split("/")]
    return "/".join([*parts, *(["01" if day == "01" else "12", day][len(parts) - 1 :])])


def _sorted(hits: list[Entry], order: str, terms: list[str]) -> list[Entry]:
    newest = sorted(hits, key=lambda entry: (entry.entered, entry.pmid), reverse=True)
    if order == "relevance":
        score = {
            e.pmid: sum(3 * e.title.count(f" {t}") + e.all.count(f" {t}") for t in terms)
            for e in newest
        }
        return sorted(newest, key=lambda entry: -score[entry.pmid])
    if order in {"pub_date", "pub date", "date"}:
        return sorted(newest, key=lambda entry: entry.published, reverse=True)
    if order == "Author":
        return sorted(newest, key=lambda entry: entry.first)
    if order in {"JournalName", "journal"}:
        return sorted(newest, key=lambda entry: entry.journal)
    return newest


def _answer(
    params: dict[str, str], start: int, found: Understood, hits: list[Entry], world: World
) -> dict[str, Any]:
    """The members of ``esearchresult``; all numbers are strings."""
    pmc = params.get("db") == "pmc"
    ids = [_uid(entry, params) for entry in hits]
    wanted = min(_number(params.get("retmax"), 20), WALL)
    last = len(ids) if pmc else min(len(ids), WALL)
    page = ids[start : min(start + wanted, last)]
    answer: dict[str, Any] = {
        "count": str(len(ids)),
        "retmax": str(len(page)),
        "retstart": str(start),
    }
    if params.get("usehistory") == "y":
        with world.lock:
            name, key = world.desk.keep(params.get("WebEnv", ""), ids)
        answer |= {"querykey": key, "webenv": name}
    if params.get("rettype") == "count":
        return {"count": answer["count"]}
    answer |= {
        "idlist": page,
        "translationset": [{"from": a, "to": b} for a, b in found.translations],
        "querytranslation": found.translation,
    }
    messages = [] if ids else ["No items found."]
    if start + wanted > WALL and last == WALL and page:
        messages.append(f"Restrictions achieved. start and count adjusted to {start}, {len(page)}")
    if found.phrases_not_found or found.fields_not_found or not ids:
        answer["errorlist"] = {
            "phrasesnotfound": found.phrases_not_found,
            "fieldsnotfound": found.fields_not_found,
        }
    if found.quoted_not_found or messages:
        answer["warninglist"] = {
            "phrasesignored": [],
            "quotedphrasesnotfound": found.quoted_not_found,
            "outputmessages": messages,
        }
    return answer


def _as_xml(answer: dict[str, Any]) -> str:
    def tag(name: str, key: str) -> str:
        return f"<{name}>{escape(str(answer[key]))}</{name}>" if key in answer else ""

    def tags(name: str, group: str, key: str) -> str:
        values = answer.get(group, {}).get(key, [])
        return "".join(f"<{name}>{escape(value)}</{name}>" for value in values)

    ids = "".join(f"<Id>{value}</Id>" for value in answer.get("idlist", []))
    translations = "".join(
        f"<Translation><From>{escape(row['from'])}</From><To>{escape(row['to'])}</To></Translation>"
        for row in answer.get("translationset", [])
    )
    errors = tags("PhraseNotFound", "errorlist", "phrasesnotfound")
    errors += tags("FieldNotFound", "errorlist", "fieldsnotfound")
    warnings = tags("QuotedPhraseNotFound", "warninglist", "quotedphrasesnotfound")
    warnings += tags("OutputMessage", "warninglist", "outputmessages")
    return (
        '<?xml version="1.0" encoding="UTF-8" ?>\n<!DOCTYPE eSearchResult PUBLIC "-//NLM//DTD '
        'esearch 20060628//EN" "https://eutils.ncbi.nlm.nih.gov/eutils/dtd/20060628/esearch.dtd">\n'
        f"<eSearchResult>{tag('Count', 'count')}{tag('RetMax', 'retmax')}"
        f"{tag('RetStart', 'retstart')}{tag('QueryKey', 'querykey')}{tag('WebEnv', 'webenv')}"
        f"<IdList>{ids}</IdList><TranslationSet>{translations}</TranslationSet>"
        f"{tag('QueryTranslation', 'querytranslation')}"
        + (f"<ErrorList>{errors}</ErrorList>" if errors else "")
        + (f"<WarningList>{warnings}</WarningList>" if warnings else "")
        + "</eSearchResult>"
    )


def efetch(call: Call, world: World) -> Reply:
    """Records of PubMed or articles of PMC, by id or from the history."""
    params = call.params
    if "WebEnv" in params:
        stored = world.desk.result(params)
        if stored is None:
            return fetch_error(_LOST, 200)
        start = _number(params.get("retstart"), 0)
        wall = WALL if params.get("db") == "pubmed" else len(stored)
        if start >= wall:
            return fetch_error(_TOO_FAR.replace("\\n", "\n"), 400)
        ids = stored[start : min(start + _number(params.get("retmax"), 20), wall)]
    else:
        ids = [name.strip() for name in params.get("id", "").split(",") if name.strip()]
        if entrez_answers.is_other(params.get("db", "")) and ids:
            return entrez_answers.fetch(params["db"], ids, params)
        ids = [
            name
            for name in ids
            if name.removeprefix("PMC").isdigit() and int(name.removeprefix("PMC"))
        ]
    if not ids:
        if params.get("retmode") == "text":
            return text(EMPTY.replace(" ", "+"), TEXT, 400)
        return fetch_error(EMPTY, 400)
    if params.get("db") == "pmc":
        return article_set(ids, world.corpus)
    if entrez_answers.is_other(params.get("db", "")):
        return entrez_answers.fetch(params["db"], ids, params)
    return _records(ids, params, world)


def _records(ids: list[str], params: dict[str, str], world: World) -> Reply:
    known = [record for name in shuffled(ids) if (record := world.record(name))]
    if params.get("rettype") == "medline":
        return text("\n" + "\n".join(medline(record) for record in known), TEXT)
    if params.get("rettype") == "uilist":
        return text("\n".join(record.pmid for record in known), TEXT)
    return build_record_set(known)
