"""Jina Reader and search: a page as markdown, whatever the page was, with status 200."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from tests.world.doi import landing
from tests.world.prose import abstract, body, references
from tests.world.records import Record, plain
from tests.world.wire import TEXT, Call, Reply, as_json, text

if TYPE_CHECKING:
    from tests.world import World


_CAPTCHA = (
    "This page maybe requiring CAPTCHA, please make sure you are authorized to access this page."
)
# PMC's website checks every browser it does not know (facts sheet, 3.6).
_CLOSED_TO_SCRIPTS = {"pmc.ncbi.nlm.nih.gov", "www.ncbi.nlm.nih.gov"}
_WALLED = {
    "captcha": ("Just a moment...", "Verify you are human by completing the action below.",
        ("Target URL returned error 403: Forbidden", _CAPTCHA)),
    "captcha_200": ("Just a moment...", "Enable JavaScript and cookies to continue", (_CAPTCHA,)),
    "bot_check": ("Preparing to download ...", "# Preparing to download ...", ()),
    "cookie_wall": ("Cookie Absent", "# Cookies are disabled for this browser", ()),
    "login": ("Sign in | Summit Online", "# Sign in to continue\n\nEmail Password Sign in", ()),
    "error_page": ("Error Page", "# Oops! Something went wrong", ()),
    "gone": ("404", "# Page not found", ("Target URL returned error 404: Not Found",)),
}  # fmt: skip


def _failure(status: int, name: str, number: int, message: str, **headers: str) -> Reply:
    told = {
        "data": None, "code": status, "name": name, "status": number, "message": message,
        "readableMessage": f"{name}: {message}",
    }  # fmt: skip
    return as_json(told, status, **headers)


def reader(call: Call, world: World) -> Reply:
    """GET with the target behind the slash, or POST with ``url``."""
    target = call.raw.removeprefix("/jina_reader/")
    if call.method == "POST":
        posted = (
            json.loads(call.body)
            if call.header("content-type").startswith("application/json")
            else call.params
        )
        target = str(posted.get("url", ""))
    if not re.match(r"https?://", target):
        return _failure(400, "ParamValidationError", 40001, f"Invalid URL: {target}")
    if refused := _refused(target, call, world):
        return refused
    if urlsplit(target).hostname in _CLOSED_TO_SCRIPTS:
        return _formatted(call, target, *_WALLED["bot_check"])
    record = _record(target, world)
    if record is None:
        message = f"Failed to goto {target}: Error: net::ERR_NAME_NOT_RESOLVED"
        return _failure(422, "AssertionFailureError", 42206, message)
    if record.jina == "blocked" and not call.header("authorization"):
        message = "Anonymous access to domain blocked until tomorrow: DoS attack suspected"
        return _failure(451, "SecurityCompromiseError", 45102, message)
    return _formatted(call, target, *_seen(record))


def _refused(target: str, call: Call, world: World) -> Reply | None:
    """Twenty requests a minute without a key."""
    limit = 500 if call.header("authorization") else 20
    with world.lock:
        window = world.desk.recent["jina"]
        while window and call.at - window[0] >= world.gate.window(60):
            window.popleft()
        if len(window) < limit:
            window.append(call.at)
            return None
        wait = max(1, int(60 - (call.at - window[0])) + 1)
    told = {
        "data": None, "retryAfter": wait, "code": 429, "name": "RateLimitTriggeredError",
        "status": 42903, "message": "Per IP rate limit exceeded",
        "readableMessage": "RateLimitTriggeredError",
    }  # fmt: skip
    return replace(as_json(told, 429, Retry_After=str(wait)), refused=True)


def _record(target: str, world: World) -> Record | None:
    """The paper a URL leads to: a publisher's page or PDF, or a DOI."""
    name = unquote(urlsplit(target).path)
    name = re.sub(r"^.*?(10\.\d{4,9}/)", r"\1", name).removesuffix(".pdf").removesuffix("/download")
    return world.corpus.by_doi.get(name.lower())


Seen = tuple[str, str, tuple[str, ...]]


def _seen(record: Record) -> Seen:
    """Title, markdown and warnings of what Reader's browser saw."""
    if record.page in _WALLED:
        return _WALLED[record.page]
    if record.page in {"paywall", "front_matter", "partial", "pdf", "html_as_pdf", "scan"}:
        offer = (
            "\n\n## Access options\n\nBuy this article: 39,95 €" if record.page == "paywall" else ""
        )
        return record.plain_title, _abstract(record) + offer, ()
    if record.page == "wrong_paper":
        return (
            "Prosodic phrasing in village recordings",
            "# Prosodic phrasing\n\nAnother paper.",
            (),
        )
    return record.plain_title, _markdown(record), ()


def _abstract(record: Record) -> str:
    parts = [f"# {record.plain_title}", "## Abstract"]
    return "\n\n".join([*parts, *(plain(body) for _, body in abstract(record))])


def _markdown(record: Record) -> str:
    people = ", ".join(f"{given} {family}" for family, given in record.authors)
    parts = ["*   [Home](/)\n*   [Journals A–Z](/journals)", _abstract(record), people]
    parts.append(f"[https://doi.org/{record.doi}](https://doi.org/{record.doi})")
    for title, paragraphs in body(record):
        parts += [f"## {title}"] if title else []
        parts += [plain(paragraph) for paragraph in paragraphs]
    rows = enumerate(references(record), start=1)
    cited = [
        f"{at}. {who}. {title}. {journal} {year}." for at, (who, title, journal, year, _) in rows
    ]
    return "\n\n".join([*parts, "## References", "\n".join(cited)])


def _formatted(
    call: Call, target: str, title: str, markdown: str, warnings: tuple[str, ...]
) -> Reply:
    tokens = len(markdown) // 4
    if call.header("accept") == "application/json":
        data: dict[str, Any] = {
            "title": title, "description": "", "url": target, "content": markdown,
            "usage": {"tokens": tokens},
        }  # fmt: skip
        data |= {"warning": "\n".join(warnings)} if warnings else {}
        return as_json(
            {"code": 200, "status": 20000, "data": data, "meta": {"usage": {"tokens": tokens}}}
        )
    told = "".join(f"Warning: {line}\n" for line in warnings)
    parts = [
        f"Title: {title}",
        f"URL Source: {target}",
        told.strip(),
        f"Markdown Content:\n{markdown}",
    ]
    return text("\n\n".join(part for part in parts if part), TEXT, 200, X_Usage_Tokens=str(tokens))


def search(call: Call, world: World) -> Reply:
    """``?q=``: publishers' pages of papers whose title the words are in; not without a key."""
    if not call.header("authorization"):
        message = (
            "Authentication is required to use this endpoint. Please provide a valid API key "
            "via Authorization header."
        )
        return _failure(401, "AuthenticationRequiredError", 40103, message)
    query = (call.params.get("q") or call.path.strip("/")).lower()
    words = set(re.findall(r"\w{4,}", query))
    scored = [
        (len(words & set(re.findall(r"\w{4,}", f"{r.plain_title} {r.doi}".lower()))), r)
        for r in world.corpus.records
        if r.doi
    ]
    hits = [r for score, r in sorted(scored, key=lambda pair: -pair[0]) if score][
        : int(call.params.get("num", 5))
    ]
    if not hits:
        return _failure(
            422, "AssertionFailureError", 42206, f"No search results available for query {query}"
        )
    rows = []
    for record in hits:
        # The index behind the search has read the page in better days.
        title, markdown = record.plain_title, _markdown(record)
        rows.append(
            {"title": title, "url": landing(record, world), "description": "", "content": markdown}
        )
    if call.header("accept") == "application/json":
        return as_json({"code": 200, "status": 20000, "data": rows})
    blocks = [
        f"[{at}] Title: {row['title']}\n[{at}] URL Source: {row['url']}\n[{at}] Markdown Content:\n"
        f"{row['content']}"
        for at, row in enumerate(rows, start=1)
    ]
    return text("\n\n".join(blocks), TEXT)
