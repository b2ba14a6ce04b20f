"""Skills over MCP: instructions for reviews, surveys of genes and citation checks with these tools.

Each folder here is one skill, its ``SKILL.md`` for an assistant to read when the work comes up
(extension ``io.modelcontextprotocol/skills`` of 2026-07-28, with a digest for each file;
https://github.com/modelcontextprotocol/ext-skills). Hosts of older protocols read the same files
as resources ``skill://NAME/SKILL.md``.

In the list of resources the file of a skill is called what the skill is, and nothing is said of it
under another prefix than the extension's own (ext-skills, Resource metadata); FastMCP 4.2 calls it
by its path and adds notes of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastmcp.resources import Resource
from fastmcp.skills.provider import (
    SkillFileResource,
    SkillManifestResource,
    SkillsDirectoryProvider,
)

if TYPE_CHECKING:
    from fastmcp import FastMCP

FOLDER = Path(__file__).parent


def add_skills(server: FastMCP[Any]) -> None:
    """Offer every skill of this folder on a server."""
    server.add_provider(Skills(FOLDER))


class _WithoutNotes(Resource):
    """A resource without the metadata that FastMCP adds."""

    def get_meta(self) -> dict[str, Any]:
        """Return no metadata."""
        return {}


class _File(_WithoutNotes, SkillFileResource): ...


class _Manifest(_WithoutNotes, SkillManifestResource): ...


class Skills(SkillsDirectoryProvider):
    """The skills of a folder."""

    async def _list_resources(self) -> Sequence[Resource]:
        return [_to_listed_resource(one) for one in await super()._list_resources()]


def _to_listed_resource(resource: Resource) -> Resource:
    fields = {name: getattr(resource, name) for name in type(resource).model_fields}
    if isinstance(resource, SkillManifestResource):
        return _Manifest(**fields)
    if isinstance(resource, SkillFileResource):
        of_the_skill = resource.file_path == "SKILL.md"
        return _File(**{**fields, "name": resource.skill_path if of_the_skill else resource.name})
    return resource
