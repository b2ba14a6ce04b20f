"""Middleware between FastMCP and the tools, resources and prompts of Papershelf.

It does for each request, from outside to inside: give it a name in the logs, and log one line with
its seconds and outcome; import the packages before the first of them; turn every failure into the
error envelope, the same everywhere; rewrite hints for this host (`.hints`); give the
answer the form that the host shows its model (`.delivery`).

A tool answers an error with a result. Resources, prompts and unknown tools have no such result in
the protocol: there it is a JSON-RPC error, with our message, and the envelope as its data.
"""

from __future__ import annotations

import difflib
import logging
import secrets
import threading
import time
from collections.abc import Awaitable, Iterable, Sequence
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any

from anyio import get_cancelled_exc_class, to_thread
from fastmcp.exceptions import NotFoundError, PromptError, ResourceError, ToolError
from fastmcp.server.middleware import Middleware
from fastmcp.tools import ToolResult
from mcp import MCPError
from mcp.types import INTERNAL_ERROR, INVALID_PARAMS
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from ..errors import BadRequest, NotFound, PaperError
from ..library import Library
from ..logs import add_log_fields, get_log_field
from ..settings import TOOLSETS
from ..system.plain_text import clean_json_texts, clean_text
from .answers import build_error_result
from .delivery import convert_for_host, get_host, has_own_page
from .hints import HintRewriter
from .tool import list_enabled_tools

if TYPE_CHECKING:
    from fastmcp.tools import Tool

log = logging.getLogger(__name__)

_RESOURCE_NOT_FOUND = -32002  # of revision 2025-11-25; 2026-07-28 has *invalid params* for it
_LOGGED_NAME_MAX_CHARS = 64
_QUOTED_NAME_MAX_CHARS = 200
_MIN_NAME_SIMILARITY = 0.8  # of a name and a slip of it; "search" alone may mean many
_METHODS_NEEDING_IMPORTS = {"tools/call", "resources/read", "prompts/get", "completion/complete"}
_OWN_PACKAGE = __name__.split(".", maxsplit=1)[0]
_SKIPPED_PACKAGES = {f"{_OWN_PACKAGE}.cli"}
# Of others' packages those whose modules are imported beside them by different modules of ours.
_EXTRA_MODULES = ("requests",)
_import_lock = threading.Lock()
_imports_done = threading.Event()


class CallMiddleware(Middleware):
    """Middleware around each tool, resource and prompt request to a server of *library*."""

    def __init__(self, library: Library, tools: Sequence[Tool]) -> None:
        self._library = library
        dotted = library.settings.mcp_tool_names == "dotted"
        self._hint_rewriter = HintRewriter([tool.name for tool in tools], dotted=dotted)
        self._setting = library.settings.mcp_delivery
        self._with_page = {tool.name for tool in tools if has_own_page(tool)}

    async def on_request(self, context: Any, call_next: Any) -> Any:
        """Forward the request, with the request name from HTTP or a new one in the log context."""
        with add_log_fields(request=get_log_field("request") or make_request_name()):
            if context.method in _METHODS_NEEDING_IMPORTS and not _imports_done.is_set():
                # A host that hangs up does not wait for the imports of a call it never hears of.
                await to_thread.run_sync(import_packages, abandon_on_cancel=True)
            return await call_next(context)

    async def on_list_tools(self, context: Any, call_next: Any) -> Any:
        """List the tools, without output schemas for hosts that receive text only."""
        listed: Sequence[Tool] = await call_next(context)
        if get_host(context).choose_form(self._setting) != "text":
            return listed
        bare = {"output_schema": None}
        return [tool if has_own_page(tool) else tool.model_copy(update=bare) for tool in listed]

    async def on_call_tool(self, context: Any, call_next: Any) -> Any:
        """Call the tool, and log one line about it."""
        message = context.message
        name = str(message.name)[:_LOGGED_NAME_MAX_CHARS]  # from outside, and of any length
        job = str((message.arguments or {}).get("job_id") or "")
        with add_log_fields(tool=name, job=job[:_LOGGED_NAME_MAX_CHARS]):
            return await _log_outcome(name, self._call_tool(context, call_next))

    async def _call_tool(self, context: Any, call_next: Any) -> Any:
        name = context.message.name
        try:
            result = await call_next(context)
        except NotFoundError:
            listed = await context.fastmcp_context.fastmcp.list_tools(run_middleware=False)
            missing = self._build_unknown_tool_error(name, [tool.name for tool in listed])
            raise _to_rpc_error(INVALID_PARAMS, missing) from None
        except ToolError as error:
            return build_error_result(_find_cause(error, name), self._hint_rewriter.rewrite_error)
        if not isinstance(result, ToolResult) or result.structured_content is None:
            return result
        result.structured_content = self._hint_rewriter.rewrite_answer(result.structured_content)
        return convert_for_host(
            result, get_host(context), self._setting, has_page=name in self._with_page
        )

    async def on_read_resource(self, context: Any, call_next: Any) -> Any:
        """Read the resource; an address with nothing behind it is *resource not found*."""
        uri = str(context.message.uri)
        return await _log_outcome(
            uri[:_LOGGED_NAME_MAX_CHARS], self._read_resource(uri, context, call_next)
        )

    async def _read_resource(self, uri: str, context: Any, call_next: Any) -> Any:
        """Read a resource; turn each failure into a JSON-RPC error."""
        try:
            return await call_next(context)
        except NotFoundError:
            nothing = NotFound(
                f"There is nothing at {uri[:_QUOTED_NAME_MAX_CHARS]}.", "Known: papers://index."
            )
            raise _to_rpc_error(_get_not_found_code(context), nothing, uri=uri) from None
        except ResourceError as error:
            cause = _find_cause(error, uri)
            absent = isinstance(cause, NotFound | BadRequest)
            code = _get_not_found_code(context) if absent else INTERNAL_ERROR
            raise _to_rpc_error(code, cause, uri=uri) from None

    async def on_get_prompt(self, context: Any, call_next: Any) -> Any:
        """Fill in the prompt; a blank left open or filled in wrongly is *invalid params*."""
        name = str(context.message.name)
        return await _log_outcome(
            name[:_LOGGED_NAME_MAX_CHARS], self._get_prompt(name, context, call_next)
        )

    async def _get_prompt(self, name: str, context: Any, call_next: Any) -> Any:
        try:
            return await call_next(context)
        except NotFoundError:
            listed = await context.fastmcp_context.fastmcp.list_prompts(run_middleware=False)
            msg = f"There is no prompt {name[:_QUOTED_NAME_MAX_CHARS]!r}."
            hint = _suggest_name((prompt.name for prompt in listed), name)
            raise _to_rpc_error(INVALID_PARAMS, NotFound(msg, hint)) from None
        except PromptError as error:
            is_expected = isinstance(error.__cause__, PaperError)
            code = INVALID_PARAMS if is_expected else INTERNAL_ERROR
            raise _to_rpc_error(code, _find_cause(error, name)) from None

    def _build_unknown_tool_error(self, name: str, listed: list[str]) -> NotFound:
        msg = f"There is no tool {name[:_QUOTED_NAME_MAX_CHARS]!r} here."
        loaded = self._library.settings.mcp_toolsets
        for toolset in TOOLSETS:
            if not {toolset, "all"} & set(loaded) and name in _list_tool_names(
                self._library, toolset
            ):
                wanted = ",".join((*loaded, toolset))
                msg = f"{name} belongs to the toolset {toolset}, which is not loaded."
                return NotFound(msg, f"Set MCP_TOOLSETS={wanted} and start the server again.")
        return NotFound(msg, _suggest_name(listed, name))


def make_request_name() -> str:
    """Return a random name for a request, carried by all its log lines."""
    return secrets.token_hex(4)


def import_packages() -> None:
    """Import every package that a tool may need; later calls return at once.

    Tools work in threads and import what they need when it is first needed, so that a host has the
    list of tools within a second. Where one thread imports a package that imports its own modules,
    and another thread one of these modules, each holds what the other waits for: Python notices,
    and fails one of them with a deadlock. With packages that are there already that cannot happen.
    """
    with _import_lock:
        if not _imports_done.is_set():
            for name in _EXTRA_MODULES:
                import_module(name)
            _import_submodules(import_module(_OWN_PACKAGE).__path__, _OWN_PACKAGE)
            _imports_done.set()


def _import_submodules(path: Iterable[str], name: str) -> None:
    for found in iter_modules(path, f"{name}."):
        if found.ispkg and found.name not in _SKIPPED_PACKAGES:
            _import_submodules(import_module(found.name).__path__, found.name)


async def _log_outcome(name: str, call: Awaitable[Any]) -> Any:
    began = time.monotonic()
    outcome = "failed"
    try:
        result = await call
        failed = getattr(result, "is_error", False)
        outcome = _get_error_code(getattr(result, "meta", None)) if failed else "ok"
        return result
    except MCPError as error:
        outcome = _get_error_code(error.data)
        raise
    except get_cancelled_exc_class():
        outcome = "taken back"
        raise
    finally:
        seconds = round(time.monotonic() - began, 3)
        facts = {"seconds": seconds, "outcome": outcome}
        log.info("%s: %s in %.3f s", name, outcome, seconds, extra=facts)


def _get_error_code(envelope: Any) -> str:
    """Return the error code in an envelope."""
    error = envelope.get("error") if isinstance(envelope, dict) else None
    return str(error.get("code", "UNKNOWN")) if isinstance(error, dict) else "UNKNOWN"


def _suggest_name(names: Iterable[str], mistyped: str) -> str:
    """Suggest the nearest name that this caller may use; if none is near, list them all."""
    every = ", ".join(names := [*names])
    if close := difflib.get_close_matches(
        mistyped[:_LOGGED_NAME_MAX_CHARS], names, 1, _MIN_NAME_SIMILARITY
    ):
        return f"Did you mean {close[0]}?"
    return f"There are: {every}." if every else "None is open to this caller here."


def _list_tool_names(library: Library, toolset: str) -> set[str]:
    """Return the names of a toolset's tools; imports it, so call it for an unknown tool only."""
    settings = library.settings.model_copy(update={"mcp_toolsets": (toolset,)})
    return {tool.name for tool in list_enabled_tools(Library(settings))}


def _get_not_found_code(context: Any) -> int:
    request = context.fastmcp_context.request_context
    modern = request is None or request.protocol_version in MODERN_PROTOCOL_VERSIONS
    return INVALID_PARAMS if modern else _RESOURCE_NOT_FOUND


def _find_cause(error: Exception, purpose: str) -> PaperError:
    """Return the error that a caller can act on, else our own failure, named as in the log."""
    if isinstance(error.__cause__, PaperError):
        return error.__cause__
    subject = purpose[:_QUOTED_NAME_MAX_CHARS]
    msg = f"{subject} failed by a mistake of this server: nothing was found out."
    named = f"Report it with the lines of request {get_log_field('request')} in the server's log."
    return PaperError(msg, "Call again; it may succeed.", named)


def _to_rpc_error(code: int, error: PaperError, **more: str) -> MCPError:
    """Return a PaperError as a JSON-RPC error."""
    return MCPError(code, clean_text(error.text), clean_json_texts({**more, **error.envelope()}))
