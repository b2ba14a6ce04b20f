"""Toolset ``entrez``: which tools are enabled, what they cost, and the state of the NCBI key."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from importlib.util import find_spec
from typing import Annotated, Any

from pydantic import Field
from typing_extensions import TypedDict

from ..command_line import install_command
from ..errors import BadRequest
from ..library import Library
from ..model.sites import KEYS
from ..settings import TOOLSETS
from ..system.plain_text import one_line, shorten
from . import entrez
from .entrez import Operation
from .tool import READS_SHELF, TextOrNumber, Tool, is_toolset_enabled, list_toolset_tools, make_tool

OPERATIONS: Mapping[str, Mapping[str, Operation]] = {
    "entrez_query": entrez.QUERY_OPERATIONS,
    "entrez_data": entrez.DATA_OPERATIONS,
    "entrez_external": entrez.EXTERNAL_OPERATIONS,
}
Row = dict[str, Any]
# A module each extra brings, and what it is for.
_MODULE_BY_EXTRA = {
    "embed": ("fastembed", "passages found by meaning, with a model on this machine"),
    "postgres": ("psycopg", "the corpus in PostgreSQL"),
    "weaviate": ("weaviate", "passages in Weaviate"),
    "parquet": ("pyarrow", "datasets and tables exported as Parquet"),
}
_KEY_STATE_SENTENCES = {
    True: "An NCBI API key is set.",
    False: "No NCBI API key is set: get one in your NCBI account, and set NCBI_API_KEY.",
}
_NCBI_STATE_SENTENCES = {
    "unknown": "NCBI was not asked yet.",
    "nominal": "NCBI answered the last request.",
}


class Capabilities(TypedDict):
    """Enabled tools and extras, and the settings that enable others."""

    toolsets: list[Row]
    extras: list[Row]
    keys: list[Row]


class ToolDescription(TypedDict):
    """One tool."""

    name: str
    description: str
    tokens: int
    takes: list[str]
    operations: dict[str, Row]


class KeyStatus(TypedDict):
    """State of the NCBI API key."""

    has_key: bool
    rate_limit: str
    message: str
    ncbi: str


def tools(library: Library) -> list[Tool]:
    """Return the three tools, bound to *library*."""

    def entrez_capabilities() -> Capabilities:
        """Tell which tools are here, which are off, how to switch them on, and their cost."""
        sets = [_build_toolset_row(name, library) for name in TOOLSETS]
        extras = [_build_extra_row(name, *about) for name, about in _MODULE_BY_EXTRA.items()]
        keys = [_build_key_row(key.setting, key.gives, library) for key in KEYS]
        return {"toolsets": sets, "extras": extras, "keys": keys}

    def entrez_tool_info(
        tool_name: Annotated[TextOrNumber, Field(description="Any tool here.")],
    ) -> ToolDescription:
        """Describe one tool: its operations, what each takes and costs."""
        return _build_tool_row(tool_name, library)

    def system_api_key_status() -> KeyStatus:
        """Tell whether an NCBI API key is set and works; never the key."""
        return _build_key_status(library)

    return [
        make_tool(entrez_capabilities, READS_SHELF, untrusted=False),
        make_tool(entrez_tool_info, READS_SHELF, untrusted=False),
        make_tool(system_api_key_status, READS_SHELF),  # NCBI says in its own words what is wrong
    ]


def _build_toolset_row(name: str, library: Library) -> dict[str, Any]:
    on = is_toolset_enabled(name, library)
    chosen = ",".join(one for one in TOOLSETS if one == name or is_toolset_enabled(one, library))
    return {
        "name": name,
        "on": on,
        "tools": {
            one.name: _estimate_definition_tokens(one) for one in list_toolset_tools(name, library)
        },
        **({} if on else {"switch_on": f"Set MCP_TOOLSETS={chosen} and start the server again."}),
    }


def _estimate_definition_tokens(tool: Tool) -> int:
    """Return roughly how many tokens the tool's definition takes in every conversation."""
    definition = tool.to_mcp_tool().model_dump(by_alias=True, exclude_none=True, mode="json")
    return len(json.dumps(definition, separators=(",", ":"), ensure_ascii=False)) // 4


def _build_extra_row(name: str, module: str, gives: str) -> dict[str, Any]:
    on = find_spec(module) is not None
    switch_on = {} if on else {"switch_on": f"Install {name}: {install_command(name)}."}
    return {"name": name, "on": on, "gives": gives, **switch_on}


def _build_key_row(name: str, gives: str, library: Library) -> dict[str, Any]:
    on = bool(library.settings.key(name))
    switch_on = {} if on else {"switch_on": f"Set {name.upper()} and start the server again."}
    return {"name": name.upper(), "on": on, "gives": gives, **switch_on}


def _build_tool_row(name: str, library: Library) -> ToolDescription:
    every = {one.name: one for part in TOOLSETS for one in list_toolset_tools(part, library)}
    if name not in every:
        near = get_close_matches(name, every, 3, 0.5)
        msg = f"There is no tool {shorten(one_line(name), 60)!r}."
        all_tools = "entrez_capabilities lists every tool."
        raise BadRequest(msg, *(f"Did you mean {one}?" for one in near), all_tools)
    return {
        "name": name,
        "description": every[name].description or "",
        "tokens": _estimate_definition_tokens(every[name]),
        "takes": sorted(every[name].parameters["properties"]),
        "operations": dict(_list_operation_rows(OPERATIONS.get(name, {}))),
    }


def _list_operation_rows(
    operations: Mapping[str, Operation],
) -> Iterator[tuple[str, dict[str, str]]]:
    for name, one in operations.items():
        row = {"does": one.does, "needs": one.needs, "needs_one_of": one.one_of}
        row |= {"takes": one.takes, "costs": one.costs}
        yield name, {member: text for member, text in row.items() if text}


def _build_key_status(library: Library) -> KeyStatus:
    has_key, contact = bool(library.settings.key("ncbi_api_key")), library.entrez.contact()
    words = [
        _KEY_STATE_SENTENCES[has_key],
        _NCBI_STATE_SENTENCES.get(contact.status, ""),
        contact.trouble,
    ]
    return {
        "has_key": has_key,
        "rate_limit": f"{10 if has_key else 3} requests/second",
        "message": " ".join(filter(None, words)),
        "ncbi": contact.status,
    }
