"""Input schemas do not say that they are closed (Google's SDK fails at that); every tool is."""

import json
from typing import Any

import pytest
from fastmcp import Client

from utils.mcp import build

pytestmark = pytest.mark.anyio
TOOLSETS = ("all",)
STRANGE = "limmit"


def fitting(schema: Any, whole: dict[str, Any]) -> Any:
    """The least value that a schema takes."""
    if "$ref" in schema:
        return fitting(whole["$defs"][schema["$ref"].rsplit("/", 1)[1]], whole)
    if "anyOf" in schema:
        return fitting(schema["anyOf"][0], whole)
    if "enum" in schema:
        return schema["enum"][0]
    if schema["type"] == "object":
        required = schema.get("required", ())
        return {name: fitting(schema["properties"][name], whole) for name in required}
    if schema["type"] == "array":
        return [fitting(schema["items"], whole)] * schema.get("minItems", 0)
    if schema["type"] == "string":
        return "pmid:1" if "pattern" in schema else "a" * schema.get("minLength", 1)
    return {"boolean": False, "integer": 1, "number": 1}[schema["type"]]


def strange_members(schema: Any, whole: dict[str, Any]) -> Any:
    """Values of *schema* in which an object has one member more, at every depth, with its place."""
    if "$ref" in schema:
        yield from strange_members(whole["$defs"][schema["$ref"].rsplit("/", 1)[1]], whole)
        return
    for one in schema.get("anyOf", ()):
        yield from strange_members(one, whole)
    if schema.get("type") == "array":
        yield from ([inner] for inner in strange_members(schema["items"], whole))
    if "properties" in schema:
        yield {**fitting(schema, whole), STRANGE: 1}
        for name, inner in schema["properties"].items():
            for value in strange_members(inner, whole):
                yield {**fitting(schema, whole), name: value}


async def test_every_tool_names_what_it_does_not_take_at_every_depth(library):
    tried = 0
    async with Client(build(library)) as client:
        for tool in await client.list_tools():
            assert '"additionalProperties": false' not in json.dumps(tool.input_schema)
            for arguments in strange_members(tool.input_schema, tool.input_schema):
                tried += 1
                refused = await client.call_tool(tool.name, arguments, raise_on_error=False)
                assert refused.is_error, (tool.name, arguments)
                error = json.loads(refused.content[0].text)["error"]
                assert error["code"] == "VALIDATION"
                assert f"{STRANGE} is not an argument of this tool" in error["message"], error
                assert error["suggestions"][0].startswith(("There are: ", "It takes no", "Did you"))
    assert tried > 44
