"""Errors for wrong calls and unknown names: the error envelope, everywhere.

A tool answers with a result (`.answers.refusal`). Resources, prompts and unknown tools have no such
result in the protocol: there it is a JSON-RPC error, with our message, and the envelope as its
data. *Resource not found* has a code in the 2025-11-25 revision (-32002) that 2026-07-28 gave up
for *invalid params*.

What is wrong with the arguments of a call, in sentences a model can act on.

pydantic speaks of inputs and types; a model that is to call again needs the argument's name, the
value it sent and what is allowed. The latter is read from the input schema.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Any

from fastmcp.exceptions import (
    NotFoundError,
    PromptError,
    ResourceError,
    ToolError,
)
from fastmcp.server.middleware import Middleware
from fastmcp.utilities.json_schema import dereference_refs
from mcp import MCPError
from mcp.types import INTERNAL_ERROR, INVALID_PARAMS
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError as PydanticValidationError
from pydantic_core import PydanticSerializationError, to_json

from ..errors import BadRequest, NotFound, PaperError
from ..library import Library
from ..settings import TOOLSETS
from ..system.plain_text import clean_text, clean_values, plain_json
from . import toolsets
from .answers import refusal
from .logs import bound

_RESOURCE_NOT_FOUND = -32002
_SHOWN = 200
_MOST_SENTENCES = 5
_VALUE_CHARS = 60
_LOOKED_AT = 50
_MOST = 10_000
_ALIKE = 0.8  # of a name and a slip of it; "search" alone may mean many
_KINDS = {
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "string": "text",
    "array": "a list",
    "object": "an object",
    "null": "null",
}
_ABSENT = ("missing", "missing_argument", "missing_keyword_only_argument")
_STRANGE = ("extra_forbidden", "unexpected_keyword_argument")
_NO_OBJECT = ("model_type", "model_attributes_type", "dict_type", "dataclass_type")
_LENGTHS = {"string": ("minLength", "maxLength"), "array": ("minItems", "maxItems")}
_PARTS = {"string": " characters", "array": " values"}
Schema = Mapping[str, Any]


class Refusals(Middleware):
    """Turns failures of tools, resources and prompts into the same envelope."""

    def __init__(self, library: Library) -> None:
        self._library = library

    async def on_call_tool(self, context: Any, call_next: Any) -> Any:
        """Pass the call on; an unknown tool becomes an error of the protocol."""
        message = context.message
        try:
            to_json(message.arguments)
        except PydanticSerializationError:
            msg = "The arguments hold half of a surrogate pair, which is no text."
            return refusal(BadRequest(msg, "Send whole characters."))
        try:
            return await call_next(context)
        except NotFoundError:
            listed = await context.fastmcp_context.fastmcp.list_tools(run_middleware=False)
            missing = self._no_tool(message.name, [tool.name for tool in listed])
            raise _error(INVALID_PARAMS, missing) from None
        except ToolError:  # a mistake of ours, in the log with all there is to know
            return refusal(_mistake(message.name))

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
                raise _error(INTERNAL_ERROR, _mistake(uri), uri=uri) from None
            absent = isinstance(cause, NotFound | BadRequest)
            code = _not_found(context) if absent else INTERNAL_ERROR
            raise _error(code, cause, uri=uri) from None

    async def on_get_prompt(self, context: Any, call_next: Any) -> Any:
        """Pass the request on; a blank left open or filled in wrongly is *invalid params*."""
        try:
            return await call_next(context)
        except NotFoundError:
            listed = await context.fastmcp_context.fastmcp.list_prompts(run_middleware=False)
            msg = f"There is no prompt {context.message.name[:_SHOWN]!r}."
            hint = _choice((prompt.name for prompt in listed), context.message.name)
            raise _error(INVALID_PARAMS, NotFound(msg, hint)) from None
        except PromptError as error:
            if not isinstance(error.__cause__, PaperError):
                raise _error(INTERNAL_ERROR, _mistake(context.message.name)) from None
            raise _error(INVALID_PARAMS, error.__cause__) from None

    def _no_tool(self, name: str, listed: list[str]) -> NotFound:
        msg = f"There is no tool {name[:_SHOWN]!r} here."
        ours = self._library.settings.mcp_toolsets
        for toolset in TOOLSETS:
            if not {toolset, "all"} & set(ours) and name in _names(self._library, toolset):
                wanted = ",".join((*ours, toolset))
                msg = f"{name} belongs to the toolset {toolset}, which is not loaded."
                return NotFound(msg, f"Set MCP_TOOLSETS={wanted} and start the server again.")
        return NotFound(msg, _choice(listed, name))


def _choice(names: Iterable[str], near: str) -> str:
    """What there is to choose from, or what was meant; *names* are those this caller may use."""
    told = ", ".join(names := [*names])
    if close := difflib.get_close_matches(near[:_VALUE_CHARS], names, 1, _ALIKE):
        return f"Did you mean {close[0]}?"
    return f"There are: {told}." if told else "None is open to this caller here."


def _names(library: Library, toolset: str) -> set[str]:
    """The names of the tools of a toolset; imports it, so call it for an unknown tool only."""
    settings = library.settings.model_copy(update={"mcp_toolsets": (toolset,)})
    return {tool.name for tool in toolsets.tools(Library(settings))}


def _not_found(context: Any) -> int:
    request = context.fastmcp_context.request_context
    modern = request is None or request.protocol_version in MODERN_PROTOCOL_VERSIONS
    return INVALID_PARAMS if modern else _RESOURCE_NOT_FOUND


def _mistake(what: str) -> PaperError:
    """Our own failure, by the name under which its traceback stands in the log."""
    msg = f"{what[:_SHOWN]} failed by a mistake of this server: nothing was found out."
    named = f"Report it with the lines of request {bound('request')} in the server's log."
    return PaperError(msg, "Call again; it may go well.", named)


def _error(code: int, error: PaperError, **more: str) -> MCPError:
    return MCPError(code, clean_text(str(error)), clean_values({**more, **error.envelope()}))


def to_bad_request(
    error: BaseException | None, schema: Schema, written: Mapping[str, str] | None = None
) -> BadRequest:
    """Describe arguments that break *schema*, given pydantic's error.

    *written* has the caller's names of parameters, by the schema's, where they differ.
    """
    written = written or {}
    count = error.error_count() if isinstance(error, PydanticValidationError) else 0
    if count > _MOST:  # the listing alone would keep everybody else waiting
        msg = f"The arguments break the input schema in {count:,} places."
        return BadRequest(msg, "Read the input schema and call again.")
    found = error.errors(include_url=False) if isinstance(error, PydanticValidationError) else []
    schema = dereference_refs(dict(schema))
    sentences: dict[str, None] = {}
    looked_at = 0
    for row in found[:_LOOKED_AT]:
        # A value that fits none of several types gets one sentence, not one for each type.
        sentence = _sentence(row, schema, written)
        if len(sentences) == _MOST_SENTENCES and sentence not in sentences:
            break
        sentences[sentence] = None
        looked_at += 1
    more = [f"{count - looked_at:,} more."] if looked_at < count else []
    return BadRequest(" ".join([*sentences, *more]), _suggestion(found, schema, written))


def _sentence(row: Mapping[str, Any], schema: Schema, written: Mapping[str, str]) -> str:
    where, allowed = _place(row["loc"], schema)
    name = _name(where, written)
    kind = str(row["type"])
    if kind in _ABSENT:
        return f"{name} is missing; it must be {_allowed(allowed)}."
    if kind in _STRANGE:
        return f"{name} is no argument here."
    if kind in ("value_error", "assertion_error"):
        return f"{name}: {row['msg'].partition(', ')[2]}"
    value = row["input"]
    if kind in ("too_long", "too_short", "string_too_long", "string_too_short"):
        part = "characters" if isinstance(value, str) else "values"
        return f"{name} has {len(value)} {part}; it must be {_allowed(allowed)}."
    return f"{name} is {_shown(value)}; it must be {_allowed(allowed)}."


def _place(loc: Sequence[str | int], schema: Schema) -> tuple[list[str | int], Schema]:
    """The steps of *loc* as a caller knows them, and what is allowed at their end.

    pydantic puts names of its own between them, such as those of the members of a union.
    """
    where: list[str | int] = []
    allowed: Schema = schema
    for number, step in enumerate(loc, 1):
        below = _below(allowed, step)
        if below is not None:
            allowed = below
            where.append(step)
        elif number == len(loc) and any("properties" in one for one in _members(allowed)):
            where.append(step)  # a member there is none of
            allowed = {}
    return where, allowed


def _below(schema: Schema, step: str | int) -> Schema | None:
    for one in _members(schema):
        if isinstance(step, int) and "items" in one:
            return dict(one["items"])
        if step in one.get("properties", {}):
            return dict(one["properties"][step])
    return None


def _members(schema: Schema) -> Iterator[Schema]:
    yield schema
    yield from schema.get("anyOf", ())


def _allowed(schema: Schema) -> str:
    """What a schema asks for, in words."""
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(map(_allowed, schema["anyOf"])))
    if "enum" in schema:
        return f"one of {', '.join(map(plain_json, schema['enum']))}"
    kind = str(schema.get("type", ""))
    words = _KINDS.get(kind, "as the input schema says")
    least, most = (schema.get(name) for name in _LENGTHS.get(kind, ("minimum", "maximum")))
    if bounds := _bounds(least, most):
        parted = kind in _PARTS or least is None or most is None
        words += f" of {bounds}{_PARTS.get(kind, '')}" if parted else f" from {bounds}"
    if kind == "object" and schema.get("required"):
        words += f" with {', '.join(schema['required'])}"
    if "pattern" in schema:
        words += f" of the form {schema['pattern']}"
    return words


def _bounds(least: float | None, most: float | None) -> str:
    if least is None or most is None:
        only = [("at least", least), ("at most", most)]
        return "".join(f"{words} {bound}" for words, bound in only if bound is not None)
    return f"{least} to {most}"


def _name(where: Sequence[str | int], written: Mapping[str, str]) -> str:
    """``citations[2].year``; the first step as the caller wrote it."""
    steps = [written.get(str(step), step) if at == 0 else step for at, step in enumerate(where)]
    path = "".join(f"[{one}]" if isinstance(one, int) else f".{one}" for one in steps)
    return _cut(path.removeprefix(".")) or "The arguments"


def _shown(value: object) -> str:
    return _cut(plain_json(_beginning(value)))


def _beginning(value: object) -> object:
    """The part of a value that can be shown: it may be a megabyte."""
    left = 2 * _VALUE_CHARS

    def part(one: object) -> object:
        nonlocal left
        left -= 2  # a sign and what separates it from the next
        if isinstance(one, str):
            left -= len(one)
            return one[:_VALUE_CHARS]
        if isinstance(one, list):
            return [part(each) for each in takewhile(lambda _: left > 0, one)]
        if isinstance(one, dict):
            some = takewhile(lambda _: left > 0, one.items())
            return {str(name)[:_VALUE_CHARS]: part(each) for name, each in some}
        return one

    return part(value)


def _cut(text: str) -> str:
    return text if len(text) <= _VALUE_CHARS else f"{text[: _VALUE_CHARS - 1]}…"


def _suggestion(
    found: Sequence[Mapping[str, Any]], schema: Schema, written: Mapping[str, str]
) -> str:
    """For an unknown name, the closest there is; for one value where a list belongs, the list."""
    for row in found:
        if row["type"] in _STRANGE:
            _, around = _place(row["loc"][:-1], schema)
            names = [name for one in _members(around) for name in one.get("properties", {})]
            if close := difflib.get_close_matches(str(row["loc"][-1])[:_VALUE_CHARS], names, 1):
                return f"Did you mean {close[0]}?"
            return f"There are: {', '.join(names)}." if names else "It takes no arguments."
    for row in found:
        where, allowed = _place(row["loc"], schema)
        if row["type"] == "list_type" and _takes_texts(allowed) and isinstance(row["input"], str):
            return f"Call again with {_name(where, written)}=[{_shown(row['input'])}]."
        if row["type"] == "too_long" and "maxItems" in allowed:
            return f"Call again with {allowed['maxItems']} at a time."
        needed = allowed.get("required", ())
        if row["type"] in _NO_OBJECT and len(needed) == 1 and isinstance(row["input"], str):
            return f'Write {{"{needed[0]}": {_shown(row["input"])}}} for {_name(where, written)}.'
        prefix = re.match(r"\^(\w+:)", str(allowed.get("pattern", "")))
        if row["type"] == "string_pattern_mismatch" and prefix:
            meant = f"{prefix[1]}{row['input']}"
            if re.search(allowed["pattern"], meant):
                return f"Did you mean {_cut(meant)}?"
    return "Correct it and call again."


def _takes_texts(schema: Schema) -> bool:
    """Whether it is a list of texts."""
    return any(dict(one.get("items", {})).get("type") == "string" for one in _members(schema))
