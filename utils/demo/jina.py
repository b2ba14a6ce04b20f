"""The demo's Jina Reader: returns a page as markdown, always with status 200."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from .prose import abstract, body, references
from .records import Record, strip_markup
from .wire import TEXT, Call, Reply, as_json, text

if TYPE_CHECKING:
    from .internet import Internet

CAPTCHA = (
    "This page maybe requiring CAPTCHA, please make sure you are authorized to access this page."
)
WALLED = {
    "captcha": ("Just a moment...", "Verify you are human by completing the action below.",
        ("Target URL returned error 403: Forbidden", CAPTCHA)),
}  # fmt: skip


def failure(status: int, name: str, number: int, message: str, **headers: str) -> Reply:
    """Return an error in Jina's form."""
    told = {
        "data": None, "code": status, "name": name, "status": number, "message": message,
        "readableMessage": f"{name}: {message}",
    }  # fmt: skip
    return as_json(told, status, **headers)


def record_at(target: str, internet: Internet) -> Record | None:
    """Return the paper to which a URL leads: a publisher's page or PDF, or a DOI."""
    name = unquote(urlsplit(target).path)
    name = re.sub(r"^.*?(10\.\d{4,9}/)", r"\1", name).removesuffix(".pdf").removesuffix("/download")
    return internet.corpus.by_doi.get(name.lower())


Seen = tuple[str, str, tuple[str, ...]]


def get_page_content(record: Record) -> Seen:
    """Return title, markdown and warnings of the page that Jina's browser loads."""
    if record.page in WALLED:
        return WALLED[record.page]
    if record.page in {"paywall", "front_matter", "partial", "pdf", "html_as_pdf", "scan"}:
        bought = "\n\n## Access options\n\nBuy this article: 39,95 €"
        return record.plain_title, _write_abstract(record) + bought * (record.page == "paywall"), ()
    if record.page == "wrong_paper":
        title = "Prosodic phrasing in village recordings"
        return title, "# Prosodic phrasing\n\nAnother paper.", ()
    return record.plain_title, markdown_of(record), ()


def _write_abstract(record: Record) -> str:
    parts = [f"# {record.plain_title}", "## Abstract"]
    return "\n\n".join([*parts, *(strip_markup(body) for _, body in abstract(record))])


def markdown_of(record: Record) -> str:
    """Return a publisher's page of a paper as Jina converts it."""
    people = ", ".join(f"{given} {family}" for family, given in record.authors)
    parts = ["*   [Home](/)\n*   [Journals A–Z](/journals)", _write_abstract(record), people]
    parts.append(f"[https://doi.org/{record.doi}](https://doi.org/{record.doi})")
    for title, paragraphs in body(record):
        parts += [f"## {title}"] if title else []
        parts += [strip_markup(paragraph) for paragraph in paragraphs]
    rows = enumerate(references(record), start=1)
    cited = [
        f"{at}. {who}. {title}. {journal} {year}." for at, (who, title, journal, year, _) in rows
    ]
    return "\n\n".join([*parts, "## References", "\n".join(cited)])


def formatted(
    call: Call, target: str, title: str, markdown: str, warnings: tuple[str, ...]
) -> Reply:
    """Return a page's content in Jina's form, as text or JSON."""
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
    parts = [f"Title: {title}", f"URL Source: {target}", told.strip()]
    parts.append(f"Markdown Content:\n{markdown}")
    return text("\n\n".join(part for part in parts if part), TEXT, 200, X_Usage_Tokens=str(tokens))


def answer_reader(call: Call, internet: Internet) -> Reply:
    """Return the page whose URL follows the slash."""
    target = call.raw.removeprefix("/jina_reader/")
    record = record_at(target, internet)
    if record is None:
        message = f"Failed to goto {target}: Error: net::ERR_NAME_NOT_RESOLVED"
        return failure(422, "AssertionFailureError", 42206, message)
    return formatted(call, target, *get_page_content(record))
