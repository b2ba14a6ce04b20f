"""What OpenAI's Agents SDK gives a model; in an environment of its own (openai-agents)."""

import asyncio
import json
import sys

from agents.mcp import MCPServerStdio, MCPUtil


async def main(server: dict, calls: list) -> tuple[str, list[str]]:
    async with MCPServerStdio(params=server, client_session_timeout_seconds=60) as connected:
        tools = {tool.name: tool for tool in await connected.list_tools()}
        answers = [await shown(connected, tools[name], arguments) for name, arguments in calls]
        return connected.session.protocol_version, answers


async def shown(server: MCPServerStdio, tool, arguments: dict) -> str:
    said = await MCPUtil.invoke_mcp_tool(server, tool, None, json.dumps(arguments))
    return said if isinstance(said, str) else json.dumps(said, ensure_ascii=False, default=str)


sys.stdout.write(f"\n{json.dumps(asyncio.run(main(*json.load(sys.stdin))))}\n")
