"""What Anthropic's helpers give a model; in an environment of its own (anthropic, mcp)."""

import asyncio
import json
import sys

from anthropic.lib.tools import ToolError
from anthropic.lib.tools.mcp import async_mcp_tool
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


async def main(server: dict, calls: list) -> tuple[str, list[str]]:
    async with (
        stdio_client(StdioServerParameters(**server)) as (read, write),
        ClientSession(read, write) as session,
    ):
        await session.initialize()
        listed = (await session.list_tools()).tools
        tools = {tool.name: async_mcp_tool(tool, session) for tool in listed}
        answers = [await shown(tools[name], arguments) for name, arguments in calls]
        return session.protocol_version, answers


async def shown(tool, arguments: dict) -> str:
    try:
        content = await tool.call(arguments)
    except ToolError as error:
        content = error.content
    return content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)


sys.stdout.write(f"\n{json.dumps(asyncio.run(main(*json.load(sys.stdin))))}\n")
