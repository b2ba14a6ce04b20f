"""Choose the form of an answer for a host: structure, text, or both.

Hosts show a model different parts of a result, and those that show text blocks only would hide what
stands in the structure alone. Who shows what (evidence in docs/pages/explanation/assistants.md):
`FORM_BY_HOST`. A host that is not named there may be a program that needs the structure
or show its model either part, so both are complete; `text` is what every host shows.

The name is that of ``clientInfo``: said once at ``initialize``, or with every request (2026-07-28,
where it is optional). Over HTTP nothing is kept between requests, so before 2026-07-28 the name
travels in the session id (`NamedSessions`). It decides about the form only, never about a right.

Before 2025-06-18 the protocol has neither structured content nor links to resources. Hosts that are
not named get links as lines of the text, too: Anthropic's helpers for MCP raise at a link, and some
models' interfaces refuse what LangChain makes of one (``quality/clients/test_adapters.py``).
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from fastmcp.tools import ToolResult
from mcp.types import ResourceLink

from .answers import UNTRUSTED_NOTICE, build_text_block, render_structure, summarize_structure

if TYPE_CHECKING:
    from fastmcp.tools import Tool

Form = Literal["structured", "text", "both"]
FORM_BY_HOST: Mapping[str, Form] = {
    # The structure replaces the text.
    "claude-code": "structured",
    "codex": "structured",
    "visual-studio-code": "structured",
    # The text alone reaches the model, or is what surely does.
    "claude-ai": "text",
    "cursor": "text",
    "gemini-cli": "text",
    "goose": "text",
    "kimi": "text",
    # Both do, and the model would read everything twice.
    "chatgpt": "structured",  # its widgets need the structure
    "openai-mcp": "structured",
    "github-copilot-developer": "text",
    "hermes": "text",
}
"""By the beginning of the client's name, as `normalize_host_name` writes it."""
_STRUCTURED_SINCE_PROTOCOL = "2025-06-18"
_PROXY_SUFFIX_PATTERN = re.compile(r"\s*\(via .*", re.DOTALL)
_HOST_NAME_MAX_CHARS = 64
_INITIALIZE_MAX_BYTES = 100_000  # bytes of an ``initialize``


@dataclass(frozen=True, slots=True)
class Host:
    """The calling client's name (empty if unknown) and the negotiated protocol version."""

    name: str
    protocol: str

    def choose_form(self, setting: str) -> Form:
        """Return the form in which this host gets answers; *setting* is ``MCP_DELIVERY``."""
        if self.protocol < _STRUCTURED_SINCE_PROTOCOL:
            return "text"
        if setting != "auto":
            return setting  # type: ignore[return-value]
        return self._known_form or "both"

    @property
    def takes_links(self) -> bool:
        """True if the host accepts resource links as content."""
        return self.protocol >= _STRUCTURED_SINCE_PROTOCOL and self._known_form is not None

    @property
    def _known_form(self) -> Form | None:
        named = (
            form for name, form in FORM_BY_HOST.items() if f"{self.name}-".startswith(f"{name}-")
        )
        return next(named, None)


def normalize_host_name(name: str) -> str:
    """Return a client's name in lower case, with hyphens for spaces and without a proxy's name.

    >>> names = "claude-ai (via mcp-remote 0.1.18)", "Visual Studio Code"
    >>> tuple(map(normalize_host_name, names))
    ('claude-ai', 'visual-studio-code')
    """
    words = re.findall(r"[a-z0-9.]+", _PROXY_SUFFIX_PATTERN.sub("", name[:1000]).lower())
    return "-".join(words)[:_HOST_NAME_MAX_CHARS]


def convert_for_host(result: ToolResult, host: Host, setting: str, *, has_page: bool) -> ToolResult:
    """Put an answer into its host's form.

    *has_page* says whether a page of ours shows the answer, which reads the whole structure.
    """
    form, structure = host.choose_form(setting), result.structured_content or {}
    untrusted = bool((result.meta or {}).get("untrusted"))
    links = [one for one in result.content if isinstance(one, ResourceLink)]
    others = [one for one in result.content if not isinstance(one, ResourceLink)]
    made = summarize_structure if form == "structured" else render_structure
    text = made(structure, untrusted=untrusted)
    if links and (has_page or not host.takes_links):
        text += "\n" + "\n".join(f"Resource: {one.uri}" for one in links)
        links = []
    result.content = [build_text_block(text, untrusted=untrusted), *others, *links]
    kept = form != "text" or (has_page and host.protocol >= _STRUCTURED_SINCE_PROTOCOL)
    marked = {"untrusted": UNTRUSTED_NOTICE, **structure} if untrusted else structure
    result.structured_content = marked if kept else None
    return result


def has_own_page(tool: Tool) -> bool:
    """Return whether a page of ours shows the answers of *tool*."""
    return bool((tool.meta or {}).get("ui"))


def get_host(context: Any) -> Host:
    """Return who sent the request."""
    request = context.fastmcp_context.request_context
    if request is None:
        return Host("", _STRUCTURED_SINCE_PROTOCOL)
    told = request.session.client_params
    name = (
        normalize_host_name(told.client_info.name)
        if told
        else _decode_client_name(_get_session_id(request.request))
    )
    return Host(name, request.protocol_version)


def _get_session_id(request: Any) -> str:
    """Return the session ID of an HTTP request, or an empty text."""
    return request.headers.get("mcp-session-id", "") if request else ""


def _decode_client_name(session: str) -> str:
    return normalize_host_name(session.partition(".")[2])


class NamedSessions:
    """Answers ``initialize`` over HTTP with a session id that carries the client's name.

    The server keeps no sessions: the id is all that a later request says of who sends it.
    """

    def __init__(self, app: Any) -> None:
        self._app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Forward the request; an ``initialize`` gets a session ID with the client's name."""
        if scope["type"] != "http" or scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        name = ""

        async def read() -> Any:
            """Receive a message and remember the client's name in it."""
            nonlocal name
            message = await receive()
            name = name or _read_client_name(message.get("body", b""))
            return message

        async def name_session(message: Any) -> None:
            if message["type"] == "http.response.start" and name and message["status"] == 200:
                session = f"{secrets.token_hex(16)}.{name}".encode()
                message["headers"] = [*message["headers"], (b"mcp-session-id", session)]
            await send(message)

        await self._app(scope, read, name_session)


def _read_client_name(body: bytes) -> str:
    """Return the client's name in an ``initialize`` request; empty for other requests."""
    if len(body) > _INITIALIZE_MAX_BYTES or b'"initialize"' not in body:
        return ""
    try:
        request = json.loads(body)
        if request["method"] != "initialize":
            return ""
        return normalize_host_name(str(request["params"]["clientInfo"]["name"]))
    except (ValueError, RecursionError, LookupError, TypeError):
        return ""
