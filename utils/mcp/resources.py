"""Resources: the state of this server, the size of PubMed, and the papers on the shelf.

JSON is sent as text: a model reads it as it is, where a blob would have to be unpacked first.
"""

from __future__ import annotations

import functools
import json
import logging
from collections.abc import Awaitable, Callable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any, ParamSpec
from urllib.parse import quote

from fastmcp.exceptions import ResourceError
from fastmcp.resources import FunctionResource, ResourceContent, ResourceResult, ResourceTemplate
from mcp.types import Annotations
from mcp_types.version import SUPPORTED_PROTOCOL_VERSIONS

from ..errors import PaperError
from ..library import Library
from ..system.process import get_version
from .answers import UNTRUSTED_NOTICE, fence_untrusted, limit_rows
from .tool import run_in_thread

if TYPE_CHECKING:
    from fastmcp.server.completions import CompletionHandler
    from mcp.types import CompletionArgument, CompletionContext

    from .rag import Document

P = ParamSpec("P")
_JSON_TYPE = "application/json"
_FOR_MODELS = Annotations(audience=["assistant"], priority=0.5)
_MAX_LISTED_PAPERS = 200
_READ_MAX_CHARS, _MAX_READS = 50_000, 2
_MAX_SEARCHED_PAPERS = 5_000
_EUTILITY_NAMES = [
    "ESearch",
    "EFetch",
    "ESummary",
    "ELink",
    "EInfo",
    "EPost",
    "ESpell",
    "ECitMatch",
]
_NCBI_POLICY_URL = "https://www.ncbi.nlm.nih.gov/books/NBK25497/"
_NCBI_DISCLAIMER_URL = "https://www.ncbi.nlm.nih.gov/About/disclaimer.html"


def build_resources(library: Library) -> list[FunctionResource]:
    """Return the resources with a fixed address."""

    def info() -> str:
        """Return this server's settings and the state of its last contact with NCBI."""
        return _to_json_text(_describe_server(library))

    def stats() -> str:
        """PubMed in numbers: records, search fields, links (EInfo)."""
        return _to_json_text(_describe_pubmed(library))

    def index() -> str:
        """The newest papers on the shelf, each with its address."""
        return _to_json_text(_describe_shelf(library))

    at = functools.partial(
        FunctionResource.from_function, mime_type=_JSON_TYPE, annotations=_FOR_MODELS
    )
    return [
        at(run_in_worker(info), "pubmed-connect://info", title="About this server"),
        at(run_in_worker(stats), "pubmed-connect://stats/pubmed", title="PubMed in numbers"),
        at(run_in_worker(index), "papers://index", title="The shelf"),
    ]


def build_templates(library: Library) -> list[ResourceTemplate]:
    """Return the resources that are addressed by a paper's identifier or file name."""

    def record(pmid: str) -> ResourceResult:
        """A PubMed record as rag_get has it: abstract, quality scores, version."""
        return mark_untrusted(
            _to_json_text({"untrusted": UNTRUSTED_NOTICE, **_get_record(library, pmid)}), _JSON_TYPE
        )

    def text(key: str) -> ResourceResult:
        """A paper on the shelf as markdown, by file name or any identifier."""
        return mark_untrusted(fence_untrusted(_read_markdown(library, key)), "text/markdown")

    at = functools.partial(ResourceTemplate.from_function, annotations=_FOR_MODELS)
    return [
        at(
            run_in_worker(record),
            "resource://pubmed/paper/{pmid}",
            title="PubMed record",
            mime_type=_JSON_TYPE,
        ),
        at(
            run_in_worker(text),
            "papers://{key}",
            title="Paper on the shelf",
            mime_type="text/markdown",
        ),
    ]


def make_completion_handler(library: Library) -> CompletionHandler:
    """Return a handler that completes the variables of addresses with names on the shelf."""

    async def complete(
        reference: Any, argument: CompletionArgument, context: CompletionContext | None
    ) -> list[str]:
        """Return completions of a resource argument."""
        from anyio import to_thread

        return await to_thread.run_sync(_list_completions, library, argument.name, argument.value)

    return complete


def _list_completions(library: Library, name: str, beginning: str) -> list[str]:
    """Return at most 101 values that start with *beginning*; the last one stands for the rest."""
    try:
        if name == "job_id":
            values = [job.job_id for job in library.harvests.all()]
        elif name in ("pmid", "key"):
            _, stored = library.list_papers(max_results=_MAX_SEARCHED_PAPERS)
            values = [value for one in stored for value in _list_names(one, name)]
        else:
            return []
    except PaperError:
        return []  # nothing can be suggested; reading will say why
    fitting = (value for value in values if value.lower().startswith(beginning.lower()))
    return list(dict.fromkeys(islice(filter(None, fitting), 101)))


def _list_names(stored: Any, name: str) -> Iterator[str]:
    """Yield the names under which a stored paper can be addressed."""
    ids = stored.paper.ids
    if name == "pmid":
        yield ids.pmid
    else:
        yield stored.path.rpartition("/")[2]
        yield from (ids.pmid, ids.pmcid)


def run_in_worker(function: Callable[P, Any]) -> Callable[P, Awaitable[Any]]:
    """Run a reading in a thread; expected errors reach the middleware, others are masked."""

    def read(*args: P.args, **options: P.kwargs) -> Any:
        """Call the function; turn an expected error into a resource error."""
        try:
            return function(*args, **options)
        except PaperError as error:
            raise ResourceError(error.text, log_level=logging.NOTSET) from error

    @functools.wraps(function)
    async def read_in_thread(*args: P.args, **options: P.kwargs) -> Any:
        return await run_in_thread(functools.partial(read, *args, **options))

    return read_in_thread


def mark_untrusted(text: str, media: str) -> ResourceResult:
    """Return text from the web as a resource that is marked untrusted."""
    return ResourceResult([ResourceContent(text, mime_type=media, meta={"untrusted": True})])


def _to_json_text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1)


def _describe_server(library: Library) -> dict[str, Any]:
    settings, contact = library.settings, library.entrez.contact()
    key = bool(settings.key("ncbi_api_key"))
    return {
        "server_name": "papershelf",
        "server_version": get_version(),
        "description": "PubMed, and the full text of papers on the user's own shelf.",
        "contact_email": settings.contact,
        "mcp_spec_versions": list(SUPPORTED_PROTOCOL_VERSIONS),
        "ncbi_compliance": {
            "api_usage_status": "NCBI API key in use" if key else "no NCBI API key",
            "tool_identifier": settings.ncbi_tool_identifier,
            "ncbi_usage_policy_url": _NCBI_POLICY_URL,
            "ncbi_disclaimer_url": _NCBI_DISCLAIMER_URL,
            "current_rate_limit_adherence": (
                f"below {10 if key else 3} requests a second, shared by all processes of this user"
            ),
        },
        "supported_eutilities": _EUTILITY_NAMES,
        "operational_status": {
            "last_ncbi_connectivity_check": max(contact.answered, contact.failed) or None,
            "last_ncbi_answer": contact.answered or None,
            "ncbi_status": contact.status,
            "ncbi_trouble": contact.trouble,
            "internal_queue_length": contact.waiting,
            "internal_queue_scope": "requests of this process, queued or under way",
        },
        "toolsets": list(settings.mcp_toolsets),
        "offline": settings.papers_offline,
        "documentation_url": "./TECHNICAL_REFERENCE.md",
    }


def _describe_pubmed(library: Library) -> dict[str, Any]:
    pubmed = library.entrez.info("pubmed")
    return {
        "database_name": pubmed.name,
        "menu_name": pubmed.title,
        "description": pubmed.description,
        "total_record_count": pubmed.records,
        # NCBI does not say in which time zone.
        "last_update": pubmed.last_update.replace("/", "-").replace(" ", "T"),
        "available_search_fields": [
            {
                "name": field.name,
                "full_name": field.title,
                "description": field.description,
                "is_date": field.is_date,
                "is_numerical": field.is_number,
                "term_count": str(field.terms),
            }
            for field in pubmed.fields
        ],
        "available_link_names": [
            {"name": link.name, "description": link.description, "db_to": link.database}
            for link in pubmed.links
        ],
        "e_info_url": pubmed.url,
    }


def _describe_shelf(library: Library) -> dict[str, Any]:
    total, page = library.list_papers(max_results=_MAX_LISTED_PAPERS)
    row: dict[str, Any] = {
        "untrusted": UNTRUSTED_NOTICE,
        "total": total,
        "papers": [
            {
                "uri": f"papers://{quote(stored.path.rpartition('/')[2])}",
                **stored.paper.short_row(),
                "kind": stored.kind,
                "version": stored.version,
                "verdict": stored.verdict,
                "license": stored.license,
                "last_modified": stored.saved_at,
            }
            for stored in page
        ],
    }
    row = limit_rows(row, "papers", 0)
    shown = len(row["papers"])
    row["shown"] = shown
    row["more"] = f"list_papers(start={shown})" if shown < total else ""
    row.pop("next_start", None)  # a resource takes no arguments
    return row


def _get_record(library: Library, pmid: str) -> Document:
    """Return a record as ``rag_get`` does, even if that tool is not loaded."""
    from .rag import get_or_fetch_document

    return get_or_fetch_document(library, pmid)


def _read_markdown(library: Library, key: str) -> str:
    """Return a whole paper, or its first 100,000 characters and where to continue."""
    parts: list[str] = []
    start: int | None = 0
    while start is not None and len(parts) < _MAX_READS:
        reading = library.read(key, start=start, max_chars=_READ_MAX_CHARS)
        parts.append(reading.text)
        start = reading.next_start
    if start is not None:
        parts.append(f"\n\n[It goes on: read_paper with start={start}.]\n")
    return "".join(parts)
