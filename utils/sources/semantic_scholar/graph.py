"""Requests to Semantic Scholar's graph: the names of papers, its errors, its rate limit.

A key goes into a header and nowhere else. Without one, all users share a pool that answers 429 most
of the time, without saying for how long; backing off exponentially is a condition of use.
Errors come as ``error`` or as ``message``. https://api.semanticscholar.org/api-docs/
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, TypeVar
from urllib.parse import quote, urlencode

from ...errors import BadContent, BadRequest, NotConfigured, NotFound, NotOffered, Unreachable
from ...model.identifiers import LONGEST, Ids
from ...system.plain_text import one_line, sendable
from ...web import Answer, Rate, Web
from ...web.retry import WORTH_RETRYING

T = TypeVar("T")

RATE = Rate(
    "semantic_scholar",
    ("semantic_scholar",),
    # With a key or without, and over all endpoints.
    every=1.0,
    key="semantic_scholar_api_key",
    penalty=2.0,
    hosts=("api.semanticscholar.org",),
)
BEYOND = "limit and/or offset is not available"
"""Its error in place of an empty page, where a list ends before its own total."""

_REFUSALS = frozenset(range(400, 500)) - WORTH_RETRYING
_REMEMBERED_DAYS = 1.0
_API = r"https?://api\.semanticscholar\.org"
_OWN_FORMS = (
    ("CorpusId", re.compile(rf"(?:{_API}/)?corpusid:\s*(\d{{1,18}})", re.I)),
    ("MAG", re.compile(r"mag:\s*(\d{1,18})", re.I)),
    ("ACL", re.compile(r"acl:\s*([A-Z0-9][\w.-]{1,60})", re.I)),
    ("PMCID", re.compile(r"pmcid:\s*(\d{1,12})", re.I)),
    ("URL", re.compile(r"url:\s*(https?://\S+)", re.I)),
)  # fmt: skip
_OWN_PAGE = re.compile(
    r"https?://(?:www\.)?semanticscholar\.org/(?:paper|reader)/(?:[^/\s]+/)?([0-9a-f]{40})\S*", re.I
)
_EXAMPLES = (
    "For example 649def34f8be52c8b66281af98ae884c09aef38b, CorpusId:215416146, "
    "DOI:10.1038/s41586-020-2649-2, ARXIV:2601.00001, PMID:31452104, PMCID:7759461, "
    "MAG:112218234, ACL:W12-3903 or URL:https://arxiv.org/abs/2601.00001."
)


def graph_name(text: str) -> str:
    """The spelling in which Semantic Scholar knows the identifier *text*.

    >>> graph_name("https://doi.org/10.1000/A"), graph_name("2601.00001v2"), graph_name("PMC12")
    ('DOI:10.1000/a', 'ARXIV:2601.00001', 'PMCID:12')
    >>> graph_name("corpusid: 12"), graph_name("https://aclanthology.org/W12-3903/")
    ('CorpusId:12', 'URL:https://aclanthology.org/W12-3903/')

    Raises
    ------
    BadRequest
        It is no identifier that Semantic Scholar knows papers by.
    """
    name = sendable(text, "identifier", LONGEST).strip(" <>\"'")
    for kind, form in _OWN_FORMS:
        if match := form.fullmatch(name):
            return f"{kind}:{match[1]}" if kind != "URL" else _without_dots(f"URL:{match[1]}")
    if match := _OWN_PAGE.fullmatch(name):
        return match[1].lower()
    if ids := Ids.maybe(name):
        return name_of(ids)
    if re.fullmatch(r"https?://\S+", name, re.I):
        return _without_dots(f"URL:{name}")
    msg = f"{name[:80]!r} is no identifier that Semantic Scholar knows papers by."
    raise BadRequest(msg, _EXAMPLES)


def name_of(ids: Ids) -> str:
    """The name of a paper with at least one identifier, its own first."""
    if ids.s2:
        return ids.s2
    if ids.doi:
        return f"DOI:{ids.doi}"
    if ids.pmid:
        return f"PMID:{ids.pmid}"
    if ids.pmcid:
        return f"PMCID:{ids.pmcid.removeprefix('PMC')}"
    return f"ARXIV:{ids.arxiv}"


def paper_path(name: str) -> str:
    """The path of the paper called *name*; names hold slashes, which it takes as they are."""
    return f"/paper/{quote(name, safe='/:')}"


def ask(
    path: str,
    params: Mapping[str, Any],
    web: Web,
    read: Callable[[Any], T],
    *,
    again: bool = False,
    learn: Callable[[Any], None] | None = None,
) -> T:
    """The answer at *path*, as *read* returns it; kept for a day, and requested anew if *again*.

    *read* raises `Unreachable` for an answer of another form; *learn* is called with an answer
    that was not from memory.

    Raises
    ------
    BadRequest
        It refuses the request.
    NotConfigured
        It does not know the key.
    NotFound
        It does not know the paper.
    Unreachable
        It did not answer, was busy through every try, or answered in another form.
    """
    if not again and (kept := recall_reply(path, params, web)):
        with suppress(Unreachable):  # what another version kept counts as forgotten
            return read(kept)
    url = f"{web.settings.address('semantic_scholar')}{path}"
    reply = _send(lambda **options: web.get(url, params, **options), read, web)
    keep_reply(path, params, reply, web)
    if learn:
        learn(reply)
    return read(reply)


def ask_batch(ids: list[str], fields: str, web: Web) -> list[Any]:
    """The records of up to 500 papers, in their order; see `ask`. Nothing is kept."""
    base, form = web.settings.address("semantic_scholar"), {"fields": fields}
    url = f"{base}/paper/batch?{urlencode(form, safe=',')}"

    def read(reply: Any) -> list[Any]:
        if not isinstance(reply, list) or len(reply) != len(ids):
            raise form_error(reply)
        return reply

    def send(**options: Any) -> Answer:
        return web.post(url, json={"ids": ids}, **options)

    return read(_send(send, read, web))


def recall_reply(path: str, params: Mapping[str, Any], web: Web) -> Any:
    """The answer to the same request within a day; None when there was none."""
    return web.memory.recall("semantic_scholar", _question(path, params))


def keep_reply(path: str, params: Mapping[str, Any], reply: Any, web: Web) -> None:
    """Keep the answer to a request for a day."""
    web.memory.keep("semantic_scholar", _question(path, params), reply, _REMEMBERED_DAYS)


def form_error(reply: Any) -> Unreachable:
    """The error for an answer of another form; some errors come with status 200."""
    error = _error_text(reply)[:200] or "its answer has a form we do not understand"
    return Unreachable(f"Semantic Scholar sent no papers: {error}.", "Try again later.")


def _question(path: str, params: Mapping[str, Any]) -> str:
    return f"{path}?{urlencode(params)}"


def _send(send: Callable[..., Answer], read: Callable[[Any], object], web: Web) -> Any:
    key = web.settings.key("semantic_scholar_api_key")

    def check(answer: Answer) -> None:
        if answer.status >= 400:
            raise _refusal(answer, key)
        read(answer.json())

    headers = {"x-api-key": key} if key else {}
    try:
        answer = send(headers=headers, allow=_REFUSALS, check=check)
    except (NotOffered, BadContent) as miss:  # no list is empty because of a detour
        raise Unreachable(miss.message, "Try again later.", **miss.details) from None
    except Unreachable as silent:
        if key or silent.code != "RATE_LIMIT":
            raise
        msg = "Semantic Scholar is busy: the pool shared by all who have no key is used up."
        hint = "Set SEMANTIC_SCHOLAR_API_KEY to a key of your own (free), or try again later."
        raise Unreachable(msg, hint, **silent.details) from None
    return answer.json()


def _refusal(answer: Answer, key: str) -> Exception:
    """The error for a status from 400 to 499; without a message some gateway has answered."""
    error = ""
    with suppress(ValueError, RecursionError):
        error = _error_text(json.loads(answer.text()))
    # Nothing it says should hold the key; nothing we say does.
    error = (error.replace(key, "…") if key else error)[:200]
    if answer.status == 400 and error:
        return BadRequest(f"Semantic Scholar refused the request: {error}.", status=400)
    if answer.status in {401, 403} and error and key:
        hint = "Correct SEMANTIC_SCHOLAR_API_KEY, or unset it. Keys unused for 60 days expire."
        return NotConfigured("Semantic Scholar does not know the key.", hint, status=answer.status)
    if answer.status == 404 and error:
        return NotFound(f"Semantic Scholar: {error}.", "Check the identifier.")
    msg = f"Semantic Scholar answered {answer.status}."
    return Unreachable(msg, "Try again later.", status=answer.status)


def _error_text(reply: Any) -> str:
    """The message of an error, in either of its forms."""
    message = (reply.get("error") or reply.get("message")) if isinstance(reply, dict) else ""
    return one_line(message).rstrip(".") if isinstance(message, str) else ""


def _without_dots(name: str) -> str:
    """Refuse ``..`` as a step: it would lead to another path."""
    if {".", ".."} & set(name.split("/")):
        raise BadRequest(f"{name[:80]!r} is no identifier.", _EXAMPLES)
    return name
