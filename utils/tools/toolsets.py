"""Which tools a host sees: those of the toolsets that ``MCP_TOOLSETS`` names.

Each definition costs the host tokens in every conversation, so the default is ``core`` alone. A
toolset that was not asked for is not imported either.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from ..library import Library

if TYPE_CHECKING:
    from fastmcp.tools import FunctionTool

_MODULES = {
    "core": ("core", "harvests"),
    "pubmed": ("pubmed",),
    "literature": ("literature",),
    "rag": ("rag",),
}


def tools(library: Library) -> list[FunctionTool]:
    """The tools of the toolsets in *library*'s settings, in one order whatever the setting's."""
    named = library.settings.mcp_toolsets
    chosen = [name for name in _MODULES if name in named or "all" in named]
    modules = [import_module(f".{module}", __package__) for n in chosen for module in _MODULES[n]]
    return [tool for module in modules for tool in module.tools(library)]
