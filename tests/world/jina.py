"""Jina Reader and search: a page as markdown, whatever the page was, with status 200."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from utils.demo import jina
from utils.demo.doi import get_landing_page
from utils.demo.jina import CAPTCHA, WALLED, failure, formatted, markdown_of, record_at
from utils.demo.wire import TEXT, Call, Reply, as_json, text

if TYPE_CHECKING:
    from tests.world import World


# PMC's website checks every browser it does not know (facts sheet, 3.6).
_CLOSED_TO_SCRIPTS = {"pmc.ncbi.nlm.nih.gov", "www.ncbi.nlm.nih.gov"}


WALLED |= {
    "captcha_200": ("Just a moment...", "Enable JavaScript and cookies to continue", (CAPTCHA,)),
    "bot_check": ("Preparing to download ...", "# Preparing to download ...", ()),
    "cookie_wall": ("Cookie Absent", "# Cookies are disabled for this browser", ()),
    "login": ("Sign in | Summit Online", "# Sign in to continue\n\nEmail Password Sign in", ()),
    "error_page": ("Error Page", "# Oops! Something went wrong", ()),
    "gone": ("404", "# Page not found", ("Target URL returned error 404: Not Found",)),
}  # fmt: skip


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
        return failure(400, "ParamValidationError", 40001, f"Invalid URL: {target}")
    if refused := _refused(target, call, world):
        return refused
    if urlsplit(target).hostname in _CLOSED_TO_SCRIPTS:
        return formatted(call, target, *WALLED["bot_check"])
    record = record_at(target, world)
    if record and record.jina == "blocked" and not call.header("authorization"):
        message = "Anonymous access to domain blocked until tomorrow: DoS attack suspected"
        return failure(451, "SecurityCompromiseError", 45102, message)
    if call.method == "POST":
        call = replace(call, raw=f"/jina_reader/{target}")
    return jina.answer_reader(call, world)


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


def search(call: Call, world: World) -> Reply:
    """``?q=``: publishers' pages of papers whose title the words are in; not without a key."""
    if not call.header("authorization"):
        message = (
            "Authentication is required to use this endpoint. Please provide a valid API key "
            "via Authorization header."
        )
        return failure(401, "AuthenticationRequiredError", 40103, message)
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
        return failure(
            422, "AssertionFailureError", 42206, f"No search results available for query {query}"
        )
    rows = []
    for record in hits:
        # The index behind the search has read the page in better days.
        title, markdown = record.plain_title, markdown_of(record)
        rows.append(
            {
                "title": title,
                "url": get_landing_page(record, world),
                "description": "",
                "content": markdown,
            }
        )
    if call.header("accept") == "application/json":
        return as_json({"code": 200, "status": 20000, "data": rows})
    blocks = [
        f"[{at}] Title: {row['title']}\n[{at}] URL Source: {row['url']}\n[{at}] Markdown Content:\n"
        f"{row['content']}"
        for at, row in enumerate(rows, start=1)
    ]
    return text("\n\n".join(blocks), TEXT)
