"""Which tools a host sees: those of the toolsets that ``MCP_TOOLSETS`` names.

Each definition costs the host tokens in every conversation, so the default is ``core`` alone. A
toolset that was not asked for is not imported either.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..library import Library
from ..plugins import import_part
from ..settings import TOOLSETS

if TYPE_CHECKING:
    from .tool import Tool


def tools(library: Library) -> list[Tool]:
    """The tools of the toolsets in *library*'s settings, in one order whatever the setting's."""
    return [tool for name in TOOLSETS if is_on(name, library) for tool in of(name, library)]


def is_on(toolset: str, library: Library) -> bool:
    """Whether the settings name a toolset."""
    return bool({toolset, "all"} & {*library.settings.mcp_toolsets})


def of(toolset: str, library: Library) -> list[Tool]:
    """The tools of one toolset, whether or not it is on."""
    modules = map(import_part, TOOLSETS[toolset])
    return [tool for module in modules for tool in module.tools(library)]
