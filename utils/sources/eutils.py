"""Send requests to NCBI's E-utilities: ESearch, EFetch, EPost and EInfo of any database.

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
from ..http import Answer, Rate, Web, redact_url
from ..model.paper import utc_now
from ..system.plain_text import one_line, shorten
from .loose_json import to_count, to_dict, to_dicts, to_text

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
MAX_IDS_PER_REQUEST = 200
_MAX_GET_CHARS = 1000
# By name; a list of values repeats the name, which for ELink is not the same as commas.
Params = Mapping[str, Any]
_ERROR = re.compile(rb"<ERROR>\s*(.*?)\s*</ERROR>", re.S)
# Errors that stay however often the request is sent; all others may pass.
_PERMANENT_ERROR = re.compile(
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
_CACHE_DAYS = 0.25


@dataclass(frozen=True, slots=True)
class ConnectionState:
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


_states: WeakKeyDictionary[Web, ConnectionState] = WeakKeyDictionary()
_lock = threading.Lock()


def get_connection_state(web: Web) -> ConnectionState:
    """Return the outcome of the last requests through *web*; send none."""
    with _lock:
        known = _states.get(web, ConnectionState())
    if web.settings.papers_offline:
        return replace(known, status="offline", trouble="PAPERS_OFFLINE is set: nobody is asked.")
    try:
        web.settings.require_email("NCBI")
    except NotConfigured as error:
        return replace(known, status="refused", trouble=error.message)
    return known


def call_utility(
    web: Web, tool: str, params: Params, read: Callable[[Answer], Any] | None = None
) -> Answer:
    """Call one E-utility; a rate limit or server error with status 200 counts as unreachable.

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
    form = _params_to_form(form)

    def check(answer: Answer) -> None:
        _raise_for_error(answer)
        if read is None or is_empty_id_list(answer):
            return
        try:
            read(answer)
        except BadContent as bad:
            msg = f"NCBI's answer arrived damaged: {bad.message}"
            raise Unreachable(msg, "Try again in a minute.") from bad

    send = web.post if is_sent_by_post(web, params) else web.get
    with _count_waiting_request(web), _record_outcome(web):
        on_retry = partial(
            _record_miss, web
        )  # each try when it fails: the next may be a minute away
        return send(_build_url(web, tool), form, allow={400}, check=check, on_retry=on_retry)


def is_sent_by_post(web: Web, params: Params) -> bool:
    """Return whether a request is sent by POST.

    That keeps the key out of every URL, and is what NCBI asks for beyond 200 identifiers.
    """
    form = _params_to_form(params)
    length = sum(len(v) if isinstance(v, str) else sum(map(len, v)) for v in form.values())
    ids = form.get("id", "")
    many = (ids.count(",") if isinstance(ids, str) else len(ids)) >= MAX_IDS_PER_REQUEST
    return bool(web.settings.key("ncbi_api_key")) or many or length > _MAX_GET_CHARS


def build_public_url(web: Web, tool: str, params: Params) -> str:
    """Return the address of a request without key and e-mail address."""
    return redact_url(f"{_build_url(web, tool)}?{urlencode(_params_to_form(params), doseq=True)}")


def _build_url(web: Web, tool: str) -> str:
    """Return the address of an E-utility."""
    return f"{web.settings.address('eutils')}/{tool if '.' in tool else f'{tool}.fcgi'}"


def _params_to_form(params: Params) -> dict[str, str | Sequence[str]]:
    """Return the parameters as text, without blank ones."""
    return {
        name: [str(one) for one in value] if isinstance(value, list | tuple) else str(value)
        for name, value in params.items()
        if value not in ("", None)
    }


@contextmanager
def _count_waiting_request(web: Web) -> Iterator[None]:
    """Count a request as waiting while it is queued or in progress."""
    _update_state(web, waiting=1)
    try:
        yield
    finally:
        _update_state(web, waiting=-1)


@contextmanager
def _record_outcome(web: Web) -> Iterator[None]:
    """Record the outcome of a request in the `ConnectionState`."""
    try:
        yield
    except (SourceMiss, NotConfigured) as error:
        _record_miss(web, error)
        raise
    except EntrezFailed:
        _update_state(web, "nominal")  # it answered, if only with a refusal
        raise
    _update_state(web, "nominal")


def _record_miss(web: Web, error: PaperError) -> None:
    """Record a failed try, unless we are offline."""
    if not web.settings.papers_offline:
        _update_state(web, _error_to_status(error), error.message)


def _error_to_status(error: PaperError) -> str:
    """Return the status after an error; a rejected request is contact all the same."""
    status = error.details.get("status")
    if isinstance(error, NotConfigured) or status in (401, 403):
        return "refused"
    if isinstance(error, Unreachable) and not error.details.get("expired"):
        return "busy" if error.code == "RATE_LIMIT" else "unreachable"
    return "nominal"


def _update_state(web: Web, status: str = "", trouble: str = "", *, waiting: int = 0) -> None:
    """Update the state of the connection."""
    with _lock:
        known = _states.get(web, ConnectionState())
        known = replace(known, waiting=known.waiting + waiting)
        if status == "nominal":
            known = replace(known, status=status, answered=utc_now(), trouble="")
        elif status:
            known = replace(known, status=status, failed=utc_now(), trouble=trouble)
        _states[web] = known


def _raise_for_error(answer: Answer) -> None:
    """Raise for an error inside an answer. Never quotes the body, which may echo the key."""
    start = answer.body[:2000]
    if b"API rate limit exceeded" in start:
        msg = "NCBI says too many requests came from this address."
        raise Unreachable(msg, "Papershelf now asks it more slowly.", retry_after=2.0, status=429)
    if b"API key" in start and b"invalid" in start:
        msg = "NCBI refuses the API key."
        raise NotConfigured(msg, "Correct NCBI_API_KEY, or unset it.")
    match = _ERROR.search(start)
    error = match[1].decode("utf-8", "replace") if match else ""
    if "Unable to obtain query" in error:
        msg = "NCBI has forgotten the search."
        raise Unreachable(msg, "Search again.", lasting=True, expired=True)
    if _PERMANENT_ERROR.search(error):
        raise EntrezFailed(f"Entrez refused the request: {shorten(one_line(error), 200)}.")
    if error and "ist is empty" not in error:
        msg = f"NCBI reported an internal error: {error}"
        raise Unreachable(msg, "Try again in a minute.")
    if answer.status == 400 and not is_empty_id_list(answer):
        msg = "NCBI refused the request (status 400)."
        raise NotAvailable(msg, "Check the query.", status=400)


def is_empty_id_list(answer: Answer) -> bool:
    """Return whether NCBI found no usable identifier in the list that was sent."""
    return answer.status == 400 and b"list is empty" in answer.body.replace(b"+", b" ")


@dataclass(frozen=True, slots=True)
class Hits:
    """One page of a search's hits, and the database's reading of the term.

    ``web_env`` and ``query_key`` point to the whole result on NCBI's history server, where it was
    to be kept.
    """

    uids: tuple[str, ...]
    total: int
    translation: str = ""
    warnings: tuple[str, ...] = ()
    web_env: str = ""
    query_key: str = ""


def run_esearch(database: str, params: Mapping[str, Any], web: Web) -> Hits:
    """Search *database*; *params* are ESearch's own, including ``term``.

    Raises
    ------
    EntrezFailed
        The database could not run the search: never shown as no hits.
    Unreachable
        NCBI did not answer, or not with hits.
    """
    result = _request_search(database, params, web)
    uids = result.get("idlist")
    return Hits(
        uids=tuple(filter(None, map(to_text, uids if isinstance(uids, list) else ()))),
        total=get_total(result),
        translation=to_text(result.get("querytranslation")),
        warnings=list_warnings(result, _WARNINGS),
        web_env=to_text(result.get("webenv")),
        query_key=to_text(result.get("querykey")),
    )


def count_records(database: str, term: str, web: Web) -> int:
    """Return how many records of *database* a term finds; raises as `run_esearch` does."""
    return get_total(_request_search(database, {"term": term, "rettype": "count"}, web))


def _request_search(database: str, params: Mapping[str, Any], web: Web) -> dict[str, Any]:
    """Return the result of a search; raise `EntrezFailed` if the database could not run it."""
    request = {"db": database, "retmode": "json", **params}
    answer = call_utility(web, "esearch", request, read=Answer.json)
    result = to_dict(to_dict(answer.json()).get("esearchresult"))
    if error := to_text(result.get("ERROR")):
        msg = f"{database} could not run the search: {shorten(error, 200)}."
        hints = ("Check brackets, quotes and field tags.", "Try again in a minute.")
        raise EntrezFailed(msg, *hints, database=database)
    return result


def get_total(result: Mapping[str, Any]) -> int:
    """Return the number of hits; raise `Unreachable` if it is missing."""
    total = to_count(result.get("count"))
    if total is None:
        raise Unreachable("NCBI sent no number of hits.", "Try again in a minute.")
    return total


def list_warnings(result: Mapping[str, Any], sentences: Mapping[str, str]) -> tuple[str, ...]:
    """Return warnings of terms not found or ignored; *sentences* has a text for each kind."""
    return tuple(dict.fromkeys(_generate_warnings(result, sentences)))


def _generate_warnings(result: Mapping[str, Any], sentences: Mapping[str, str]) -> Iterator[str]:
    """Yield the warnings of a result."""
    lists = {**to_dict(result.get("errorlist")), **to_dict(result.get("warninglist"))}
    for kind, sentence in sentences.items():
        items = lists.get(kind)
        for item in map(to_text, items if isinstance(items, list) else ()):
            if item and item != "No items found.":
                yield sentence.format(shorten(item, 200))


def run_efetch(
    database: str,
    which: Mapping[str, Any],
    form: Mapping[str, str],
    web: Web,
    read: Callable[[Answer], Any],
) -> Answer | None:
    """Return the answer to one EFetch request; None if NCBI has none of the identifiers.

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
    answer = call_utility(web, "efetch", {"db": database, **which, **form}, read)
    return None if is_empty_id_list(answer) else answer


def post_ids_to_history(database: str, uids: Sequence[str], web: Web) -> tuple[str, str]:
    """Store identifiers on the history server; return ``WebEnv`` and ``query_key``.

    Raises
    ------
    Unreachable
        NCBI did not answer, or not with a place.
    """
    answer = call_utility(web, "epost", {"db": database, "id": ",".join(uids)}, read=_read_history)
    return _read_history(answer)


def _read_history(answer: Answer) -> tuple[str, str]:
    """Return ``WebEnv`` and ``query_key`` of an EPost answer."""
    from ..readers.safe_xml import parse_untrusted_xml

    root = parse_untrusted_xml(answer.body)
    environment, key = (one_line(root.findtext(tag) or "") for tag in ("WebEnv", "QueryKey"))
    if root.tag != "ePostResult" or not environment or not key.isdecimal():
        raise BadContent("EPost named no place on the history server.", verdict="error_page")
    return environment, key


def fetch_database(name: str, web: Web) -> tuple[dict[str, Any], str]:
    """Return EInfo's description of a database, and the address of the request.

    Raises
    ------
    Unreachable
        NCBI did not answer, or does not describe it.
    """
    params = {"db": name, "retmode": "json"}
    known = web.cache.get("einfo", name)
    if not isinstance(known, dict):
        known = _read_description(call_utility(web, "einfo", params, read=_read_description))
        web.cache.put("einfo", name, known, _CACHE_DAYS)
    return known, build_public_url(web, "einfo", params)


def fetch_database_names(web: Web) -> tuple[str, ...]:
    """Return the names of all databases.

    Raises
    ------
    Unreachable
        NCBI did not answer, or not with names.
    """
    known = web.cache.get("einfo", "")
    if not isinstance(known, list):
        known = _read_names(call_utility(web, "einfo", {"retmode": "json"}, read=_read_names))
        web.cache.put("einfo", "", known, _CACHE_DAYS)
    return tuple(filter(None, (to_text(name) for name in known)))


def _read_names(answer: Answer) -> list[str]:
    """Return the names of an EInfo answer."""
    names = to_dict(to_dict(answer.json()).get("einforesult")).get("dblist")
    found = [to_text(name) for name in names if to_text(name)] if isinstance(names, list) else []
    if not found:
        raise Unreachable("NCBI sent no list of databases.", "Try again in a minute.")
    return found


def _read_description(answer: Answer) -> dict[str, Any]:
    """Return the description in an EInfo answer."""
    reply = answer.json()
    result = reply.get("einforesult") if isinstance(reply, dict) else None
    rows = result.get("dbinfo") if isinstance(result, dict) else None
    row = rows[0] if isinstance(rows, list) and rows else rows
    if not isinstance(row, dict) or to_count(row.get("count")) is None:
        msg = "NCBI sent no description of the database."
        raise Unreachable(msg, "Try again in a minute.")
    return {
        **row,
        "fieldlist": to_dicts(row.get("fieldlist")),
        "linklist": to_dicts(row.get("linklist")),
    }
