"""arXiv: the Atom API with its one request per three seconds, and the files."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING

from .pages import article_page
from .pdf import pdf_of
from .prose import abstract
from .records import Record, plain
from .wire import HTML, PDF, Call, Reply, redirect, text

if TYPE_CHECKING:
    from . import World

_ID = re.compile(r"(\d{4}\.\d{4,5}|[a-z-]+(?:\.[A-Z]{2})?/\d{7})(v\d+)?")
_ATOM = "application/atom+xml; charset=utf-8"
_FEED = (
    "<?xml version='1.0' encoding='UTF-8'?>\n"
    '<feed xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/" xmlns:arxiv='
    '"http://arxiv.org/schemas/atom" xmlns="http://www.w3.org/2005/Atom"><id>https://arxiv.org/api/'
    "world</id><title>arXiv Query</title><updated>2026-11-20T00:00:00Z</updated>"
    "<opensearch:itemsPerPage>{size}</opensearch:itemsPerPage><opensearch:totalResults>{total}"
    "</opensearch:totalResults><opensearch:startIndex>{start}</opensearch:startIndex>{entries}</feed>"
)


def arxiv(call: Call, world: World) -> Reply:
    """``/api/query`` or a file."""
    if call.path == "/api/query":
        return _query(call, world)
    kind, _, name = call.path.lstrip("/").partition("/")
    match = _ID.fullmatch(name.removesuffix(".pdf"))
    record = world.corpus.by_arxiv.get(match[1]) if match else None
    if record is None:
        return text("<html><title>404</title><h1>No paper</h1></html>", HTML, 404)
    if kind == "pdf":
        return Reply(200, pdf_of(record), PDF)
    if kind == "html" and "formula" not in record.features:
        return text(article_page(record, call.host, "meadow"), HTML)
    if kind == "abs":
        return text(_abs(record), HTML)
    if kind in {"e-print", "src"}:
        return Reply(200, pdf_of(record), PDF)
    if kind == "html":
        return text("<html><title>No HTML for this paper</title></html>", HTML, 404)
    return redirect("/")


def _abs(record: Record) -> str:
    text_of = " ".join(body for _, body in abstract(record))
    return (
        f'<html><head><title>[{record.arxiv}] {record.title}</title><meta name="citation_arxiv_id" '
        f'content="{record.arxiv}"></head><body><h1>{record.title}</h1><blockquote>{text_of}'
        "</blockquote></body></html>"
    )


def _query(call: Call, world: World) -> Reply:
    params = call.params
    start, size = params.get("start", "0"), params.get("max_results", "10")
    if not (start.isdigit() and size.isdigit()):
        return _error("start must be a non-negative integer")
    if int(size) > 30_000:
        return _error("max_results must be at most 30000")
    if ids := [name for name in params.get("id_list", "").split(",") if name]:
        for name in ids:
            if not _ID.fullmatch(name):
                return _error(f"incorrect id format for {name}")
        matches = [_ID.fullmatch(name) for name in ids]
        found = [world.corpus.by_arxiv.get(match[1]) for match in matches if match]
        hits = [record for record in found if record]
    else:
        hits = _matching(params.get("search_query", ""), world)
    page = hits[int(start) : int(start) + int(size)]
    entries = "".join(_entry(record) for record in page)
    feed = _FEED.format(size=size, total=len(hits), start=start, entries=entries)
    return text(feed, _ATOM)


def _matching(query: str, world: World) -> list[Record]:
    """Every word or quoted phrase in title or abstract; prefixes are not told apart."""
    bare = re.sub(r"\b(ti|au|abs|co|jr|cat|rn|id|all|doi):", "", query)
    bare = re.sub(r"\b(AND|OR|ANDNOT)\b|[()]|submittedDate:\[[^]]*\]", " ", bare)
    needles = [quoted or word for quoted, word in re.findall(r'"([^"]+)"|([^\s"+]+)', bare.lower())]
    found = []
    for record in world.corpus.by_arxiv.values():
        people = " ".join(family for family, _ in record.authors)
        parts = [
            record.plain_title,
            people,
            record.doi,
            *(plain(body) for _, body in abstract(record)),
        ]
        haystack = " ".join(parts).lower()
        if all(needle in haystack for needle in needles):
            found.append(record)
    return found


def _error(message: str) -> Reply:
    where = f"https://arxiv.org/api/errors#{message.replace(' ', '_')}"
    entry = (
        f"<entry><id>{escape(where)}</id><title>Error</title><updated>2026-11-20T00:00:00Z</updated>"
        f'<link href="{escape(where)}" rel="alternate" type="text/html"/><summary>{escape(message)}'
        "</summary><author><name>arXiv api core</name></author></entry>"
    )
    return text(_FEED.format(size=1, total=1, start=0, entries=entry), _ATOM, 400)


def _entry(record: Record) -> str:
    summary = escape(" ".join(plain(body) for _, body in abstract(record)))
    people = "".join(
        f"<author><name>{given} {escape(family)}</name></author>"
        for family, given in record.authors
    )
    published = "" if record.journal.title == "arXiv" else f"<arxiv:doi>{record.doi}</arxiv:doi>"
    url = f"https://arxiv.org/{{}}/{record.arxiv}v2"
    title = record.plain_title.replace(" in ", " in\n  ")
    return (
        f"<entry><id>http://arxiv.org/abs/{record.arxiv}v2</id><title>{escape(title)}</title><updated>"
        f"{record.entered}T10:00:00Z</updated><published>{record.published}T10:00:00Z</published>"
        f"<summary>  {summary} </summary>{people}<arxiv:comment>12 pages</arxiv:comment>{published}"
        f'<link href="{url.format("abs")}" rel="alternate" type="text/html"/><link href="'
        f'{url.format("pdf")}" rel="related" type="application/pdf" title="pdf"/>'
        '<arxiv:primary_category term="q-bio.QM"/><category term="q-bio.QM" '
        'scheme="http://arxiv.org/schemas/atom"/></entry>'
    )
