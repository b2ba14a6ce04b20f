"""Errors for wrong calls and unknown names: the error envelope, everywhere.

A tool answers with a result (`.answers.refusal`). Resources, prompts and unknown tools have no such
result in the protocol: there it is a JSON-RPC error, with our message, and the envelope as its
data. *Resource not found* has a code in the 2025-11-25 revision (-32002) that 2026-07-28 gave up
for *invalid params*.
"""

from __future__ import annotations

from typing import Any

from fastmcp.exceptions import NotFoundError, PromptError, ResourceError, ValidationError
from fastmcp.server.middleware import Middleware
from mcp import MCPError
from mcp.types import INTERNAL_ERROR, INVALID_PARAMS
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic_core import PydanticSerializationError, to_json

from ..errors import BadRequest, NotFound, PaperError
from ..library import Library
from ..settings import TOOLSETS
from . import toolsets, violations
from .answers import refusal

_RESOURCE_NOT_FOUND = -32002
_SHOWN = 200


class Refusals(Middleware):
    """Turns failures of tools, resources and prompts into the same envelope."""

    def __init__(self, library: Library) -> None:
        self._library = library

    async def on_call_tool(self, context: Any, call_next: Any) -> Any:
        """Pass the call on; a schema violation becomes a refusal, an unknown tool an error."""
        message = context.message
        try:
            to_json(message.arguments)
        except PydanticSerializationError:
            msg = "The arguments hold half of a surrogate pair, which is no text."
            return refusal(BadRequest(msg, "Send whole characters."))
        try:
            return await call_next(context)
        except ValidationError as error:
            tool = await context.fastmcp_context.fastmcp.get_tool(message.name)
            return refusal(violations.to_bad_request(error.__cause__, tool.parameters))
        except NotFoundError:
            listed = await context.fastmcp_context.fastmcp.list_tools(run_middleware=False)
            missing = self._no_tool(message.name, [tool.name for tool in listed])
            raise _error(INVALID_PARAMS, missing) from None

    async def on_read_resource(self, context: Any, call_next: Any) -> Any:
        """Pass the reading on; an address with nothing behind it is *resource not found*."""
        uri = str(context.message.uri)
        try:
            return await call_next(context)
        except NotFoundError:
            nothing = NotFound(f"There is nothing at {uri[:_SHOWN]}.", "Known: papers://index.")
            raise _error(_not_found(context), nothing, uri=uri) from None
        except ResourceError as error:
            cause = error.__cause__
            if not isinstance(cause, PaperError):
                raise
            absent = isinstance(cause, NotFound | BadRequest)
            code = _not_found(context) if absent else INTERNAL_ERROR
            raise _error(code, cause, uri=uri) from None

    async def on_get_prompt(self, context: Any, call_next: Any) -> Any:
        """Pass the request on; a blank left open or filled in wrongly is *invalid params*."""
        try:
            return await call_next(context)
        except NotFoundError:
            listed = await context.fastmcp_context.fastmcp.list_prompts(run_middleware=False)
            names = ", ".join(prompt.name for prompt in listed)
            msg = f"There is no prompt {context.message.name[:_SHOWN]!r}."
            raise _error(INVALID_PARAMS, NotFound(msg, f"There are: {names}.")) from None
        except PromptError as error:
            if not isinstance(error.__cause__, PaperError):
                raise
            raise _error(INVALID_PARAMS, error.__cause__) from None

    def _no_tool(self, name: str, listed: list[str]) -> NotFound:
        msg = f"There is no tool {name[:_SHOWN]!r} here."
        ours = self._library.settings.mcp_toolsets
        for toolset in TOOLSETS:
            if not {toolset, "all"} & set(ours) and name in _names(self._library, toolset):
                wanted = ",".join((*ours, toolset))
                msg = f"{name} belongs to the toolset {toolset}, which is not loaded."
                return NotFound(msg, f"Set MCP_TOOLSETS={wanted} and start the server again.")
        return NotFound(msg, f"There are: {', '.join(listed)}.")


def _names(library: Library, toolset: str) -> set[str]:
    """The names of the tools of a toolset; imports it, so call it for an unknown tool only."""
    settings = library.settings.model_copy(update={"mcp_toolsets": (toolset,)})
    return {tool.name for tool in toolsets.tools(Library(settings))}


def _not_found(context: Any) -> int:
    request = context.fastmcp_context.request_context
    modern = request is None or request.protocol_version in MODERN_PROTOCOL_VERSIONS
    return INVALID_PARAMS if modern else _RESOURCE_NOT_FOUND


def _error(code: int, error: PaperError, **more: str) -> MCPError:
    return MCPError(code, str(error), {**more, **error.envelope()})
