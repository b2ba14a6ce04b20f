"""arXiv: the Atom API with its one request per three seconds, the files, and the licenses (OAI)."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING

from tests.world.arxiv_papers import Preprint, everything, find
from tests.world.arxiv_search import MalformedError, judge_of
from tests.world.arxiv_texts import PICTURE, html_of, source_of
from tests.world.pdf import pdf_of
from utils.demo.wire import HTML, PDF, XML, Call, Reply, redirect, text

if TYPE_CHECKING:
    from tests.world import World

_ID = re.compile(r"(\d{4}\.\d{4,5}|[a-z-]+(?:\.[A-Z]{2})?/\d{7})(?:v(\d+))?")
_ATOM = "application/atom+xml; charset=utf-8"
_FEED = (
    "<?xml version='1.0' encoding='UTF-8'?>\n"
    '<feed xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/" xmlns:arxiv='
    '"http://arxiv.org/schemas/atom" xmlns="http://www.w3.org/2005/Atom"><id>https://arxiv.org/api/'
    "world</id><title>arXiv Query</title><updated>2026-11-20T00:00:00Z</updated>"
    "<opensearch:itemsPerPage>{size}</opensearch:itemsPerPage><opensearch:totalResults>{total}"
    "</opensearch:totalResults><opensearch:startIndex>{start}</opensearch:startIndex>{entries}</feed>"
)
_SORTS = ("relevance", "lastUpdatedDate", "submittedDate")
_MOST = 30_000


def arxiv(call: Call, world: World) -> Reply:
    """``/api/query`` or a file."""
    if call.path == "/api/query":
        return _query(call, world)
    kind, _, name = call.path.lstrip("/").partition("/")
    if kind == "html" and name.endswith("/x1.png"):
        return Reply(200, PICTURE, "image/png")
    match = _ID.fullmatch(name.removesuffix(".pdf"))
    paper = find(match[1], world) if match else None
    if paper is None:
        return text("<html><title>404</title><h1>No paper</h1></html>", HTML, 404)
    if kind == "abs":
        return text(_abs(paper), HTML)
    if paper.withdrawn and kind in {"pdf", "html", "e-print", "src"}:
        return text("<html><title>Withdrawn</title><p>This paper was withdrawn.", HTML, 404)
    if kind == "pdf":
        return Reply(200, pdf_of(paper.record), PDF)
    if kind in {"e-print", "src"}:
        return _source(paper)
    if kind == "html" and paper.html:
        return text(html_of(paper), HTML)
    if kind == "html":
        return text("<html><title>No HTML for this paper</title></html>", HTML, 404)
    return redirect("/")


def arxiv_oai(call: Call, world: World) -> Reply:
    """``GetRecord`` with ``metadataPrefix=arXiv``; errors come with status 200."""
    params = call.params
    if params.get("verb") != "GetRecord" or params.get("metadataPrefix") != "arXiv":
        return _oai('<error code="badArgument">only GetRecord of arXiv here</error>')
    paper = find(params.get("identifier", "").removeprefix("oai:arXiv.org:"), world)
    if paper is None:
        return _oai('<error code="idDoesNotExist">No such item</error>')
    name = paper.record.arxiv
    return _oai(
        f"<GetRecord><record><header><identifier>oai:arXiv.org:{name}</identifier></header><metadata>"
        f'<arXiv xmlns="http://arxiv.org/OAI/arXiv/"><id>{name}</id><created>{paper.versions[0]}'
        f"</created><categories>{' '.join(paper.categories)}</categories><license>{paper.license}"
        "</license></arXiv></metadata></record></GetRecord>"
    )


def _oai(inner: str) -> Reply:
    return text(
        '<?xml version="1.0" encoding="UTF-8"?><OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/">'
        f"<responseDate>2026-11-20T00:00:00Z</responseDate>{inner}</OAI-PMH>",
        XML,
    )


def _source(paper: Preprint) -> Reply:
    if paper.source == "pdf":
        return Reply(200, pdf_of(paper.record), PDF)
    return Reply(200, source_of(paper), "application/gzip")


def _abs(paper: Preprint) -> str:
    name, title = paper.record.arxiv, escape(paper.printed_title)
    return (
        f'<html><head><title>[{name}] {title}</title><meta name="citation_arxiv_id" content="'
        f'{name}"></head><body><h1>{title}</h1><blockquote>{paper.summary}</blockquote></body></html>'
    )


def _query(call: Call, world: World) -> Reply:
    params = call.params
    start, size = params.get("start", "0"), params.get("max_results", "10")
    if not (start.isdigit() and size.isdigit()):
        return _error("start must be a non-negative integer")
    if int(start) + int(size) > _MOST:
        return _error(f"start plus max_results must be at most {_MOST}")
    if params.get("sortBy", "relevance") not in _SORTS:
        return _error(f"sortBy must be in: {', '.join(_SORTS)}")
    query, names = params.get("search_query", ""), params.get("id_list", "")
    try:
        hits = _listed(names, world) if names else [(p, 0) for p in everything(world)]
        judge = judge_of(query) if query else lambda paper: bool(names)
    except MalformedError:
        return _error("malformed search_query")
    except ValueError as error:
        return _error(str(error))
    hits = _sorted([hit for hit in hits if judge(hit[0])], params) if query else hits
    page = hits[int(start) : int(start) + int(size)]
    entries = "".join(_entry(paper, version) for paper, version in page)
    feed = _FEED.format(size=size, total=len(hits), start=start, entries=entries)
    return text(feed, _ATOM)


def _listed(names: str, world: World) -> list[tuple[Preprint, int]]:
    """The papers of an ``id_list`` in the versions it names; the unknown ones are left out."""
    found = []
    for name in filter(None, names.split(",")):
        match = _ID.fullmatch(name)
        if match is None:
            msg = f"incorrect id format for {name}"
            raise ValueError(msg)
        paper, version = find(match[1], world), int(match[2] or 0)
        if paper and version <= len(paper.versions):
            found.append((paper, version))
    return found


def _sorted(hits: list[tuple[Preprint, int]], params: dict[str, str]) -> list[tuple[Preprint, int]]:
    by, falling = params.get("sortBy", "relevance"), params.get("sortOrder") != "ascending"
    if by == "relevance":
        return hits if falling else hits[::-1]
    at = 0 if by == "submittedDate" else -1
    return sorted(hits, key=lambda hit: hit[0].versions[at], reverse=falling)


def _error(message: str) -> Reply:
    where = f"https://arxiv.org/api/errors#{message.replace(' ', '_')}"
    entry = (
        f"<entry><id>{escape(where)}</id><title>Error</title><updated>2026-11-20T00:00:00Z</updated>"
        f'<link href="{escape(where)}" rel="alternate" type="text/html"/><summary>{escape(message)}'
        "</summary><author><name>arXiv api core</name></author></entry>"
    )
    return text(_FEED.format(size=1, total=1, start=0, entries=entry), _ATOM, 400)


def _entry(paper: Preprint, version: int = 0) -> str:
    """An entry in a version, 0 for the newest."""
    number = version or len(paper.versions)
    people = "".join(
        f"<author><name>{escape(name)}</name>{{}}</author>" for name in paper.printed_names
    )
    places = "".join(f"<arxiv:affiliation>{one}</arxiv:affiliation>" for one in paper.affiliations)
    people = people.replace("{}", places, 1).replace("{}", "")
    newest = number == len(paper.versions)
    comment = paper.comment if newest or not paper.withdrawn else "12 pages"
    parts = {"comment": comment, "journal_ref": paper.journal_ref, "doi": paper.doi}
    told = "".join(f"<arxiv:{name}>{escape(it)}</arxiv:{name}>" for name, it in parts.items() if it)
    url = f"https://arxiv.org/{{}}/{paper.record.arxiv}v{number}"
    title = paper.printed_title.replace(" in ", " in\n  ")
    classes = "".join(
        f'<category term="{one}" scheme="http://arxiv.org/schemas/atom"/>'
        for one in paper.categories
    )
    return (
        f"<entry><id>{url.format('abs').replace('https', 'http')}</id><title>{escape(title)}"
        f"</title><updated>{paper.versions[number - 1]}T10:00:00Z</updated><published>"
        f"{paper.versions[0]}T10:00:00Z</published><summary>  {escape(paper.summary)} "
        f"</summary>{people}{told}"
        f'<link href="{url.format("abs")}" rel="alternate" type="text/html"/><link href="'
        f'{url.format("pdf")}" rel="related" type="application/pdf" title="pdf"/>'
        f'<arxiv:primary_category term="{paper.categories[0]}"/>{classes}</entry>'
    )
