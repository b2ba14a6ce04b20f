"""Requests to NCBI's E-utilities: ESearch, EFetch, EPost and EInfo of any Entrez database.

Not a source of its own: `pubmed`, `pmc` and the smaller utilities build on it. Errors hide in
answers with status 200, and the body of an error may hold the API key, so bodies never reach a
message. https://www.ncbi.nlm.nih.gov/books/NBK25499/

- ESearch: errors come in a member ``ERROR``; phrases that were not found and fields that were
  ignored come beside the hits. PubMed hands out the first 9,999 hits of a search only.
- EFetch: unknown identifiers are left out silently, and the order is not promised. In the sequence
  databases an unknown accession costs the whole list (status 400), and a text that is no accession
  leaves a line ``Error: F a i l e d …`` among the records.
- EPost: XML only. What is no identifier is left out with a message; an identifier without a record
  is kept.
- EInfo: the databases; of one its number of records, search fields and links.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any
from urllib.parse import urlencode
from weakref import WeakKeyDictionary

from ..errors import (
    BadContent,
    EntrezFailed,
    NotAvailable,
    NotConfigured,
    PaperError,
    SourceMiss,
    Unreachable,
)
from ..http import Answer, Rate, Web, redact
from ..model.paper import utc_now
from ..system.plain_text import one_line, shorten
from .loose_json import mapping, mappings, text, whole

# The limits are 3 and 10 a second; at exactly a third of a second NCBI still refuses now and then.
RATE = Rate(
    bucket="ncbi",
    services=("eutils", "idconv", "bioc"),
    every=0.4,
    every_with_key=0.11,
    in_flight=1,
    in_flight_with_key=3,
    key="ncbi_api_key",
    delay="ncbi_request_delay_ms",
    least=0.36,
)
BATCH = 200
_LONGEST_GET = 1000
# By name; a list of values repeats the name, which for ELink is not the same as commas.
Params = Mapping[str, Any]
_ERROR = re.compile(rb"<ERROR>\s*(.*?)\s*</ERROR>", re.S)
# Errors that stay however often the request is sent; all others may pass.
_LASTING = re.compile(
    r"invalid db name|not retrieve dbinfo|neither query_key nor id|ids (?:have|contain) invalid",
    re.I,
)
_WARNINGS = {
    "phrasesnotfound": "Not found: {}.",
    "fieldsnotfound": "Field tag ignored, this database does not know it: [{}].",
    "phrasesignored": "Ignored: {}.",
    "quotedphrasesnotfound": "No such phrase, its words were searched one by one: {}.",
    "outputmessages": "Entrez says: {}",
}
_REMEMBERED_DAYS = 0.25


@dataclass(frozen=True, slots=True)
class Contact:
    """The outcome of the last requests of this process to NCBI's E-utilities.

    ``status`` is ``unknown`` before the first request, then how the last one ended: ``nominal``,
    ``refused`` (the key, or us altogether), ``busy`` (a rate limit) or ``unreachable``;
    ``offline`` when our own settings forbid requests. ``answered`` and ``failed`` are when NCBI
    last answered, and last did not (ISO 8601, empty for never), ``trouble`` what is wrong;
    ``waiting`` how many requests of this process are queued or under way.
    """

    status: str = "unknown"
    answered: str = ""
    failed: str = ""
    trouble: str = ""
    waiting: int = 0


_contacts: WeakKeyDictionary[Web, Contact] = WeakKeyDictionary()
_lock = threading.Lock()


def contact(web: Web) -> Contact:
    """Return the outcome of the last requests through *web*; sends none."""
    with _lock:
        known = _contacts.get(web, Contact())
    if web.settings.papers_offline:
        return replace(known, status="offline", trouble="PAPERS_OFFLINE is set: nobody is asked.")
    try:
        web.settings.require_email("NCBI")
    except NotConfigured as error:
        return replace(known, status="refused", trouble=error.message)
    return known


def ask(web: Web, tool: str, params: Params, read: Callable[[Answer], Any] | None = None) -> Answer:
    """Call one E-utility; a rate limit or backend fault inside a 200 counts as unreachable.

    Parameters
    ----------
    web : Web
    tool : str
        ``esearch``, ``efetch``, …; with its ending where that is not ``.fcgi``.
    params : Mapping
        Blank values are left out: a blank ``api_key`` is answered with status 400. A list or tuple
        repeats its name.
    read : callable, optional
        Reads the answer while the request may still be tried again: what it finds unreadable
        (`BadContent`) counts as damaged on the way.

    Raises
    ------
    NotConfigured
        No e-mail address is set, or NCBI refuses the key.
    NotAvailable
        NCBI will not answer this request.
    EntrezFailed
        There is no such database, or no such request of it.
    Unreachable
        NCBI is down or busy.
    """
    settings = web.settings
    form = {
        **params,
        "tool": settings.ncbi_tool_identifier,
        "email": settings.require_email("NCBI"),
        "api_key": settings.key("ncbi_api_key"),
    }
    form = _to_form(form)

    def check(answer: Answer) -> None:
        _complain(answer)
        if read is None or empty_id_list(answer):
            return
        try:
            read(answer)
        except BadContent as bad:
            msg = f"NCBI's answer arrived damaged: {bad.message}"
            raise Unreachable(msg, "Try again in a minute.") from bad

    send = web.post if uses_post(web, params) else web.get
    with _count_waiting(web), _note_outcome(web):
        on_retry = partial(_note_miss, web)  # each try when it fails: the next may be a minute away
        return send(_url(web, tool), form, allow={400}, check=check, on_retry=on_retry)


def uses_post(web: Web, params: Params) -> bool:
    """Return whether a request goes by POST.

    That keeps the key out of every URL, and is what NCBI asks for beyond 200 identifiers.
    """
    form = _to_form(params)
    length = sum(len(v) if isinstance(v, str) else sum(map(len, v)) for v in form.values())
    ids = form.get("id", "")
    many = (ids.count(",") if isinstance(ids, str) else len(ids)) >= BATCH
    return bool(web.settings.key("ncbi_api_key")) or many or length > _LONGEST_GET


def shown_url(web: Web, tool: str, params: Params) -> str:
    """The address of a request as it may be shown: no key, nobody's e-mail address."""
    return redact(f"{_url(web, tool)}?{urlencode(_to_form(params), doseq=True)}")


def _url(web: Web, tool: str) -> str:
    return f"{web.settings.address('eutils')}/{tool if '.' in tool else f'{tool}.fcgi'}"


def _to_form(params: Params) -> dict[str, str | Sequence[str]]:
    return {
        name: [str(one) for one in value] if isinstance(value, list | tuple) else str(value)
        for name, value in params.items()
        if value not in ("", None)
    }


@contextmanager
def _count_waiting(web: Web) -> Iterator[None]:
    """Count a request as waiting while it is queued or under way."""
    _note(web, waiting=1)
    try:
        yield
    finally:
        _note(web, waiting=-1)


@contextmanager
def _note_outcome(web: Web) -> Iterator[None]:
    """Note in the `Contact` how a request ended."""
    try:
        yield
    except (SourceMiss, NotConfigured) as error:
        _note_miss(web, error)
        raise
    except EntrezFailed:
        _note(web, "nominal")  # it answered, if only with a refusal
        raise
    _note(web, "nominal")


def _note_miss(web: Web, error: PaperError) -> None:
    """Note a failed try; offline there was none."""
    if not web.settings.papers_offline:
        _note(web, _status_of(error), error.message)


def _status_of(error: PaperError) -> str:
    """The status after an error; a refused request is contact all the same."""
    status = error.details.get("status")
    if isinstance(error, NotConfigured) or status in (401, 403):
        return "refused"
    if isinstance(error, Unreachable) and not error.details.get("expired"):
        return "busy" if error.code == "RATE_LIMIT" else "unreachable"
    return "nominal"


def _note(web: Web, status: str = "", trouble: str = "", *, waiting: int = 0) -> None:
    with _lock:
        known = _contacts.get(web, Contact())
        known = replace(known, waiting=known.waiting + waiting)
        if status == "nominal":
            known = replace(known, status=status, answered=utc_now(), trouble="")
        elif status:
            known = replace(known, status=status, failed=utc_now(), trouble=trouble)
        _contacts[web] = known


def _complain(answer: Answer) -> None:
    """Raise for an error inside an answer. Never quotes the body: it may echo the key."""
    start = answer.body[:2000]
    if b"API rate limit exceeded" in start:
        msg = "NCBI says too many requests came from this address."
        raise Unreachable(msg, "It is being asked more slowly now.", retry_after=2.0, status=429)
    if b"API key" in start and b"invalid" in start:
        msg = "NCBI refuses the API key."
        raise NotConfigured(msg, "Correct NCBI_API_KEY, or unset it.")
    match = _ERROR.search(start)
    error = match[1].decode("utf-8", "replace") if match else ""
    if "Unable to obtain query" in error:
        msg = "NCBI has forgotten the search."
        raise Unreachable(msg, "Search again.", lasting=True, expired=True)
    if _LASTING.search(error):
        raise EntrezFailed(f"Entrez refused the request: {shorten(one_line(error), 200)}.")
    if error and "ist is empty" not in error:
        msg = f"NCBI had trouble of its own: {error}"
        raise Unreachable(msg, "Try again in a minute.")
    if answer.status == 400 and not empty_id_list(answer):
        msg = "NCBI refused the request (status 400)."
        raise NotAvailable(msg, "Check the query.", status=400)


def empty_id_list(answer: Answer) -> bool:
    """Return whether NCBI found no usable identifier in the list it was sent."""
    return answer.status == 400 and b"list is empty" in answer.body.replace(b"+", b" ")


@dataclass(frozen=True, slots=True)
class Hits:
    """One page of a search's hits, and how the database read the term.

    ``web_env`` and ``query_key`` point to the whole result on NCBI's history server, where it was
    to be kept.
    """

    uids: tuple[str, ...]
    total: int
    translation: str = ""
    warnings: tuple[str, ...] = ()
    web_env: str = ""
    query_key: str = ""


def esearch(database: str, params: Mapping[str, Any], web: Web) -> Hits:
    """Search *database*; *params* are ESearch's own, ``term`` among them.

    Raises
    ------
    EntrezFailed
        The database could not run the search: never shown as no hits.
    Unreachable
        NCBI did not answer, or not with hits.
    """
    result = _search(database, params, web)
    uids = result.get("idlist")
    return Hits(
        uids=tuple(filter(None, map(text, uids if isinstance(uids, list) else ()))),
        total=total_of(result),
        translation=text(result.get("querytranslation")),
        warnings=warnings_of(result, _WARNINGS),
        web_env=text(result.get("webenv")),
        query_key=text(result.get("querykey")),
    )


def count(database: str, term: str, web: Web) -> int:
    """Return how many records of *database* a term finds; raises as `esearch` does."""
    return total_of(_search(database, {"term": term, "rettype": "count"}, web))


def _search(database: str, params: Mapping[str, Any], web: Web) -> dict[str, Any]:
    request = {"db": database, "retmode": "json", **params}
    answer = ask(web, "esearch", request, read=Answer.json)
    result = mapping(mapping(answer.json()).get("esearchresult"))
    if error := text(result.get("ERROR")):
        msg = f"{database} could not run the search: {shorten(error, 200)}."
        hints = ("Check brackets, quotes and field tags.", "Try again in a minute.")
        raise EntrezFailed(msg, *hints, database=database)
    return result


def total_of(result: Mapping[str, Any]) -> int:
    """The number of hits; anything else in its place is no answer."""
    total = whole(result.get("count"))
    if total is None:
        raise Unreachable("NCBI sent no number of hits.", "Try again in a minute.")
    return total


def warnings_of(result: Mapping[str, Any], sentences: Mapping[str, str]) -> tuple[str, ...]:
    """Return warnings of terms not found or ignored; *sentences* has a text for each kind."""
    return tuple(dict.fromkeys(_warnings(result, sentences)))


def _warnings(result: Mapping[str, Any], sentences: Mapping[str, str]) -> Iterator[str]:
    lists = {**mapping(result.get("errorlist")), **mapping(result.get("warninglist"))}
    for kind, sentence in sentences.items():
        items = lists.get(kind)
        for item in map(text, items if isinstance(items, list) else ()):
            if item and item != "No items found.":
                yield sentence.format(shorten(item, 200))


def efetch(
    database: str,
    which: Mapping[str, Any],
    form: Mapping[str, str],
    web: Web,
    read: Callable[[Answer], Any],
) -> Answer | None:
    """The answer to one request; None when NCBI knows none of the identifiers.

    Parameters
    ----------
    which : mapping
        ``id``, or ``WebEnv`` and ``query_key`` with ``retstart`` and ``retmax``.
    form : mapping
        ``rettype``, ``retmode``, and what goes with them.
    read : callable
        Reads the answer; what it finds unreadable (`BadContent`) is asked for again.

    Raises
    ------
    NotAvailable
        NCBI refuses the request, for one of its identifiers as a rule.
    Unreachable
        NCBI did not answer, or not with records.
    """
    answer = ask(web, "efetch", {"db": database, **which, **form}, read)
    return None if empty_id_list(answer) else answer


def post_ids(database: str, uids: Sequence[str], web: Web) -> tuple[str, str]:
    """Put identifiers on the history server; returns ``WebEnv`` and ``query_key``.

    Raises
    ------
    Unreachable
        NCBI did not answer, or not with a place.
    """
    answer = ask(web, "epost", {"db": database, "id": ",".join(uids)}, read=_place)
    return _place(answer)


def _place(answer: Answer) -> tuple[str, str]:
    from ..readers.safe_xml import parse_xml

    root = parse_xml(answer.body)
    environment, key = (one_line(root.findtext(tag) or "") for tag in ("WebEnv", "QueryKey"))
    if root.tag != "ePostResult" or not environment or not key.isdecimal():
        raise BadContent("EPost named no place on the history server.", verdict="error_page")
    return environment, key


def fetch_database(name: str, web: Web) -> tuple[dict[str, Any], str]:
    """EInfo's description of a database, and the address of the request.

    Raises
    ------
    Unreachable
        NCBI did not answer, or does not describe it.
    """
    params = {"db": name, "retmode": "json"}
    known = web.cache.get("einfo", name)
    if not isinstance(known, dict):
        known = _description(ask(web, "einfo", params, read=_description))
        web.cache.put("einfo", name, known, _REMEMBERED_DAYS)
    return known, shown_url(web, "einfo", params)


def fetch_database_names(web: Web) -> tuple[str, ...]:
    """The names of all databases there are today.

    Raises
    ------
    Unreachable
        NCBI did not answer, or not with names.
    """
    known = web.cache.get("einfo", "")
    if not isinstance(known, list):
        known = _names(ask(web, "einfo", {"retmode": "json"}, read=_names))
        web.cache.put("einfo", "", known, _REMEMBERED_DAYS)
    return tuple(filter(None, (text(name) for name in known)))


def _names(answer: Answer) -> list[str]:
    names = mapping(mapping(answer.json()).get("einforesult")).get("dblist")
    found = [text(name) for name in names if text(name)] if isinstance(names, list) else []
    if not found:
        raise Unreachable("NCBI sent no list of databases.", "Try again in a minute.")
    return found


def _description(answer: Answer) -> dict[str, Any]:
    reply = answer.json()
    result = reply.get("einforesult") if isinstance(reply, dict) else None
    rows = result.get("dbinfo") if isinstance(result, dict) else None
    row = rows[0] if isinstance(rows, list) and rows else rows
    if not isinstance(row, dict) or whole(row.get("count")) is None:
        msg = "NCBI sent no description of the database."
        raise Unreachable(msg, "Try again in a minute.")
    return {
        **row,
        "fieldlist": mappings(row.get("fieldlist")),
        "linklist": mappings(row.get("linklist")),
    }
