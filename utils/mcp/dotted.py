"""Toolset ``rag`` under the names of its document, for hosts that know those (``MCP_TOOL_NAMES``).

What our own sentences say to call next is called by the same names: errors, warnings, next steps.
"""

from __future__ import annotations

import re
from typing import Any

from fastmcp.server.middleware import Middleware
from fastmcp.tools import ToolResult
from mcp.types import TextContent

NAMES = {
    "pubmed_sync_delta": "pubmed.sync_delta",
    "rag_search": "rag.search",
    "rag_get": "rag.get",
    "corpus_checkpoint_get": "corpus.checkpoint.get",
    "corpus_checkpoint_set": "corpus.checkpoint.set",
    "verify_quote": "corpus.verify_quote",
}
_NAME = re.compile(rf"\b(?:{'|'.join(NAMES)})\b")
_OURS = ("warnings", "next", "message")  # members with sentences of ours


class DottedNames(Middleware):
    """Puts the names of tools in our sentences into the document's spelling."""

    async def on_call_tool(self, context: Any, call_next: Any) -> Any:
        """Call the tool; what it says to do next names tools that are there."""
        result = await call_next(context)
        if not isinstance(result, ToolResult):
            return result
        if result.is_error:
            content = [
                one.model_copy(update={"text": _dotted(one.text)})
                if isinstance(one, TextContent)
                else one
                for one in result.content
            ]
            return ToolResult(content, is_error=True, meta=_dotted(result.meta))
        told = result.structured_content or {}
        ours = {name: _dotted(told[name]) for name in _OURS if name in told}
        result.structured_content = {**told, **ours} if told else None
        return result


def _dotted(value: Any) -> Any:
    if isinstance(value, str):
        return _NAME.sub(lambda found: NAMES[found[0]], value)
    if isinstance(value, list):
        return [_dotted(one) for one in value]
    if isinstance(value, dict):
        return {name: _dotted(one) for name, one in value.items()}
    return value
