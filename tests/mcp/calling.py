"""Calls over the protocol, and what every answer to one is held against."""

import json
from functools import cache
from typing import Any

from fastmcp import Client
from jsonschema import Draft202012Validator

from utils import Library
from utils.mcp import build
from utils.mcp.answers import UNTRUSTED_NOTICE


async def call(library: Library, tool: str, arguments: dict[str, Any], mode: str = "auto") -> Any:
    """One call; a success is held against the tool's own output schema, and names no more."""
    kept = vars(library)  # it lives as long as its library
    server = kept.get("server") or kept.setdefault("server", build(library))
    async with Client(server, mode=mode) as client:
        result = await client.call_tool(tool, arguments, raise_on_error=False)
        if not result.is_error:
            made = await server.get_tool(tool)  # hosts see only the names in its schema
            _validator(json.dumps(made.output_schema)).validate(without_mark(result))
        return result


@cache
def _validator(schema: str) -> Draft202012Validator:
    """Of a schema that is one: to find that out takes longer than a call."""
    strict = closed(json.loads(schema))
    Draft202012Validator.check_schema(strict)
    return Draft202012Validator(strict)


def closed(schema: Any) -> Any:
    """The schema without room for members it does not name."""
    if isinstance(schema, list):
        return [closed(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    inner = {name: closed(one) for name, one in schema.items()}
    if isinstance(schema.get("properties"), dict):
        inner.setdefault("additionalProperties", False)
    return inner


async def answer(library: Library, tool: str, mode: str = "auto", **arguments: Any) -> Any:
    """What a successful call brings."""
    return without_mark(await call(library, tool, arguments, mode))


def without_mark(result: Any) -> dict[str, Any]:
    """A structure without what marks it as untrusted: no schema declares it, for that costs."""
    told = {**result.structured_content}
    assert told.pop("untrusted", UNTRUSTED_NOTICE) == UNTRUSTED_NOTICE
    return told
