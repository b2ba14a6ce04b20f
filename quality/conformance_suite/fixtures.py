"""The tools, resources and prompts that the conformance suite calls by name, on our own stack.

They are added to the server as it is, so that they are called through its gate, its middleware and
its transport. What each has to do is said in its scenario's description ("Server Implementation
Requirements") in the suite's package, @modelcontextprotocol/conformance; the words and names that
are compared are those.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Any

import anyio
from fastmcp import Context, FastMCP
from fastmcp.prompts import Message
from fastmcp.tools import Tool, ToolResult
from mcp.shared.exceptions import MCPError
from mcp_types import (
    AudioContent,
    CreateMessageRequest,
    CreateMessageRequestParams,
    ElicitRequest,
    ElicitRequestFormParams,
    EmbeddedResource,
    ImageContent,
    InputRequiredResult,
    ListRootsRequest,
    SamplingMessage,
    TextContent,
    TextResourceContents,
)

from utils import Library
from utils.mcp import build
from utils.mcp.auth import build_token_gate
from utils.mcp.http import wrap_server

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
)
_IMAGE = ImageContent(type="image", data=base64.b64encode(PNG).decode(), mime_type="image/png")
_WAV = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA="
_MISSING_CAPABILITY = -32021
SCHEMA = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}
HEADERS = {
    "type": "object",
    "properties": {"region": {"type": "string", "x-mcp-header": "Region"}},
    "required": ["region"],
    "additionalProperties": False,
}


class Echo(Tool):
    """A tool whose schema is written by hand."""

    async def run(self, arguments: dict[str, Any]) -> ToolResult:
        return ToolResult([_text(json.dumps(arguments))])


def door_with_fixtures(library: Library, own_address: str) -> Any:
    """Our door, and behind it our server with the fixtures."""
    gate = build_token_gate(library.settings, own_address)
    server = build(library, gate)
    for add in (
        _contents,
        _schemas,
        _notices,
        _questions,
        _rounds,
        _more_rounds,
        _resources,
        _prompts,
    ):
        add(server)
    return wrap_server(gate, server, library.settings, own_address)


def _text(text: str) -> TextContent:
    return TextContent(type="text", text=text)


def _embedded(uri: str, text: str, media: str = "text/plain") -> EmbeddedResource:
    contents = TextResourceContents(uri=uri, mime_type=media, text=text)
    return EmbeddedResource(type="resource", resource=contents)


def _contents(server: FastMCP[Any]) -> None:
    """Every kind of content."""
    kinds = {
        "test_simple_text": [_text("This is a simple text response for testing.")],
        "test_image_content": [_IMAGE],
        "test_audio_content": [AudioContent(type="audio", data=_WAV, mime_type="audio/wav")],
        "test_embedded_resource": [
            _embedded("test://embedded-resource", "This is an embedded resource content.")
        ],
        "test_multiple_content_types": [
            _text("Multiple content types test:"),
            _IMAGE,
            _embedded(
                "test://mixed-content-resource",
                json.dumps({"test": "data", "value": 123}),
                "application/json",
            ),
        ],
    }
    for name, content in kinds.items():
        server.tool(_giving(content), name=name, description="Gives content of its kind.")

    @server.tool(description="Fails.")
    def test_error_handling() -> str:
        msg = "This tool intentionally returns an error for testing"
        raise RuntimeError(msg)


def _giving(content: Any) -> Callable[[], ToolResult]:
    def give() -> ToolResult:
        return ToolResult(content)

    return give


def _schemas(server: FastMCP[Any]) -> None:
    """Schemas of arguments that must come through as they are (SEP-1613, SEP-2106, SEP-2243)."""

    schemas = {"json_schema_2020_12_tool": SCHEMA, "test_custom_headers": HEADERS}
    for name, schema in schemas.items():
        made = Echo(name=name, description="Repeats its arguments.", parameters=schema)
        server.add_tool(made)
    ours = server._mcp_server.get_tool_input_schema
    server._mcp_server.get_tool_input_schema = lambda name: schemas.get(name) or ours(name)


def _notices(server: FastMCP[Any]) -> None:
    """What is sent while a call is under way."""

    @server.tool(description="Logs three times.")
    async def test_tool_with_logging(ctx: Context) -> str:
        for words in ("Tool execution started", "Tool processing data", "Tool execution completed"):
            await ctx.info(words)
            await anyio.sleep(0.05)
        return "Tool with logging executed successfully"

    @server.tool(description="Logs once.")
    async def test_logging_tool(ctx: Context) -> str:
        await ctx.info("Logged")
        return "Logged"

    @server.tool(description="Reports progress three times.")
    async def test_tool_with_progress(ctx: Context) -> str:
        for done in (0, 50, 100):
            await ctx.report_progress(done, 100, f"Completed step {done} of 100")
            await anyio.sleep(0.05)
        return "Done"


def _questions(server: FastMCP[Any]) -> None:
    """Tools that need what a client can do."""

    @server.tool(description="Needs a client that samples.")
    async def test_missing_capability(ctx: Context) -> str:
        if not _declared(ctx).get("sampling"):
            needed = {"requiredCapabilities": {"sampling": {}}}
            raise MCPError(_MISSING_CAPABILITY, "The client must be able to sample.", needed)
        return "It can."

    @server.tool(description="Asks a person, on the stream of the call.")
    async def test_streaming_elicitation(ctx: Context) -> Any:
        if ctx.input_responses:
            return "Answered."
        return InputRequiredResult(
            input_requests={"user_name": _ask("Who are you?", name="string")}
        )

    @server.tool(description="Asks only what the client can answer.")
    async def test_input_required_result_capabilities(ctx: Context) -> Any:
        asked = {
            "sampling": ("capital", _sample("What is the capital of France?")),
            "elicitation": ("user_name", _ask("Who are you?", name="string")),
        }
        able = [question for name, question in asked.items() if name in _declared(ctx)]
        return InputRequiredResult(input_requests=dict(able)) if able else "Nothing to ask."


def _declared(ctx: Context) -> dict[str, Any]:
    """What the client says it can do, with the request that it sends."""
    request = ctx.request_context
    assert request
    said = request.session.client_capabilities
    return said.model_dump(exclude_none=True) if said else {}


def _ask(message: str, **fields: str) -> ElicitRequest:
    properties = {name: {"type": kind} for name, kind in fields.items()}
    schema = {"type": "object", "properties": properties, "required": list(fields)}
    return ElicitRequest(params=ElicitRequestFormParams(message=message, requested_schema=schema))


def _sample(words: str) -> CreateMessageRequest:
    said = SamplingMessage(role="user", content=_text(words))
    return CreateMessageRequest(params=CreateMessageRequestParams(messages=[said], max_tokens=100))


def _content(answer: Any) -> dict[str, Any]:
    """What a person wrote into a form; empty where it is no such answer."""
    return getattr(answer, "content", None) or {}


def _rounds(server: FastMCP[Any]) -> None:
    """Tools that ask once (SEP-2322)."""

    @server.tool(description="Asks for a name.")
    async def test_input_required_result_elicitation(ctx: Context) -> Any:
        answer = _content((ctx.input_responses or {}).get("user_name"))
        if isinstance(answer, dict) and isinstance(answer.get("name"), str):
            return f"Hello, {answer['name']}!"
        asked = _ask("What is your name?", name="string")
        return InputRequiredResult(input_requests={"user_name": asked})

    @server.tool(description="Asks a model.")
    async def test_input_required_result_sampling(ctx: Context) -> Any:
        if answer := (ctx.input_responses or {}).get("capital_question"):
            return str(answer.content.text)
        asked = _sample("What is the capital of France?")
        return InputRequiredResult(input_requests={"capital_question": asked})

    @server.tool(description="Asks for the client's roots.")
    async def test_input_required_result_list_roots(ctx: Context) -> Any:
        if answer := (ctx.input_responses or {}).get("client_roots"):
            return ", ".join(str(root.uri) for root in answer.roots)
        return InputRequiredResult(input_requests={"client_roots": ListRootsRequest()})


def _more_rounds(server: FastMCP[Any]) -> None:
    """Tools that keep something between the rounds (SEP-2322)."""

    @server.tool(description="Asks for a word, and knows what it asked.")
    async def test_input_required_result_request_state(ctx: Context) -> Any:
        if ctx.input_responses and ctx.request_state == "asked":
            return "state-ok"
        asked = {"confirm": _ask("Please confirm", ok="boolean")}
        return InputRequiredResult(input_requests=asked, request_state="asked")

    @server.tool(description="Keeps what nobody may change.")
    async def test_input_required_result_tampered_state(ctx: Context) -> Any:
        if ctx.input_responses and ctx.request_state:
            return "state-ok"
        asked = {"confirm": _ask("Please confirm", ok="boolean")}
        return InputRequiredResult(input_requests=asked, request_state="sealed")

    @server.tool(description="Asks three at once.")
    async def test_input_required_result_multiple_inputs(ctx: Context) -> Any:
        asked = {
            "user_name": _ask("What is your name?", name="string"),
            "greeting": _sample("Generate a greeting"),
            "client_roots": ListRootsRequest(),
        }
        if set(asked) <= set(ctx.input_responses or {}):
            return "All three were answered."
        return InputRequiredResult(input_requests=asked, request_state="asked")

    @server.tool(description="Asks twice.")
    async def test_input_required_result_multi_round(ctx: Context) -> Any:
        answers = ctx.input_responses or {}
        if "step2" in answers:
            return f"Done after {ctx.request_state}."
        if "step1" in answers:
            asked = {"step2": _ask("Step 2: What is your favorite color?", color="string")}
            return InputRequiredResult(input_requests=asked, request_state="round 2")
        asked = {"step1": _ask("Step 1: What is your name?", name="string")}
        return InputRequiredResult(input_requests=asked, request_state="round 1")


def _resources(server: FastMCP[Any]) -> None:
    @server.resource("test://static-text", mime_type="text/plain")
    def static_text() -> str:
        return "This is the content of the static text resource."

    @server.resource("test://static-binary", mime_type="image/png")
    def static_binary() -> bytes:
        return PNG

    @server.resource("test://template/{id}/data", mime_type="application/json")
    def template(id: str) -> str:  # noqa: A002 - the suite's name
        return json.dumps({"id": id, "templateTest": True, "data": f"Data for ID: {id}"})


def _prompts(server: FastMCP[Any]) -> None:
    @server.prompt(description="A fixture.")
    def test_simple_prompt() -> str:
        return "This is a simple prompt for testing."

    @server.prompt(description="A fixture.")
    def test_prompt_with_arguments(arg1: str, arg2: str) -> str:
        return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"

    @server.prompt(description="A fixture.")
    def test_prompt_with_embedded_resource(resourceUri: str) -> list[Message]:  # noqa: N803 - theirs
        said = _embedded(resourceUri, "Embedded resource content for testing.")
        return [Message(said), Message("Please process the embedded resource above.")]

    @server.prompt(description="A fixture.")
    def test_prompt_with_image() -> list[Message]:
        return [Message(_IMAGE), Message("Please analyze the image above.")]

    @server.prompt(description="A fixture.")
    async def test_input_required_result_prompt(ctx: Context) -> Any:
        if ctx.input_responses:
            return "Use what was answered."
        asked = {"user_context": _ask("What context should the prompt use?", context="string")}
        return InputRequiredResult(input_requests=asked)
