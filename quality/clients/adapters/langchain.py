"""What LangChain's adapter gives a model; in an environment of its own (langchain-mcp-adapters)."""

import asyncio
import json
import sys

from langchain_core.tools import ToolException
from langchain_mcp_adapters.client import MultiServerMCPClient
from langchain_mcp_adapters.tools import load_mcp_tools
from mcp.types import LATEST_PROTOCOL_VERSION


async def main(server: dict, calls: list) -> tuple[str, list[str]]:
    client = MultiServerMCPClient({"papershelf": {"transport": "stdio", **server}})
    async with client.session("papershelf") as session:
        tools = {tool.name: tool for tool in await load_mcp_tools(session)}
        answers = [await shown(tools[name], arguments) for name, arguments in calls]
        return LATEST_PROTOCOL_VERSION, answers  # the session keeps none; the server knows this


async def shown(tool, arguments: dict) -> str:
    call = {"name": tool.name, "args": arguments, "id": "1", "type": "tool_call"}
    try:
        content = (await tool.ainvoke(call)).content
    except ToolException as error:
        return str(error)
    return content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)


sys.stdout.write(f"\n{json.dumps(asyncio.run(main(*json.load(sys.stdin))))}\n")
