"""What Google's Gen AI SDK gives a model; in an environment of its own (google-genai, mcp).

The SDK takes a session as a tool and answers the model's calls by itself; its own two functions for
that are called here with a model's call made by hand, since no model is at hand.
"""

import asyncio
import json
import sys

from google.genai import types
from google.genai._adapters import McpToGenAiToolAdapter
from google.genai._extra_utils import get_function_response_parts_async
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


async def main(server: dict, calls: list) -> tuple[str, list[str]]:
    async with (
        stdio_client(StdioServerParameters(**server)) as (read, write),
        ClientSession(read, write) as session,
    ):
        await session.initialize()
        adapter = McpToGenAiToolAdapter(session, await session.list_tools())
        declared = [one for tool in adapter.tools for one in tool.function_declarations]
        known = {one.name: adapter for one in declared}
        answers = [await shown(known, name, arguments) for name, arguments in calls]
        return session.protocol_version, answers


async def shown(known: dict, name: str, arguments: dict) -> str:
    part = types.Part(function_call=types.FunctionCall(name=name, args=arguments))
    content = types.Content(role="model", parts=[part])
    asked = types.GenerateContentResponse(candidates=[types.Candidate(content=content)])
    [answer] = await get_function_response_parts_async(asked, known)
    return json.dumps(answer.function_response.response, ensure_ascii=False, default=text_of)


def text_of(result) -> object:
    return result.model_dump(mode="json", exclude_none=True)


sys.stdout.write(f"\n{json.dumps(asyncio.run(main(*json.load(sys.stdin))))}\n")
