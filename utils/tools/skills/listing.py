"""How a skill's files stand in the list of resources: as its extension asks for.

The file of a skill is called what the skill is, and nothing is said of it under another prefix than
the extension's own (ext-skills, Resource metadata); FastMCP 4.1 calls it by its path and adds notes
of its own.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from fastmcp.resources import Resource
from fastmcp.server.providers.skills import SkillsDirectoryProvider
from fastmcp.server.providers.skills.skill_provider import SkillResource

if TYPE_CHECKING:
    from fastmcp.server.providers.skills._common import SkillInfo

_DESCRIPTION = re.compile(r"^description: (.+)$", re.MULTILINE)


class _Listed(SkillResource):
    """A file of a skill without FastMCP's notes."""

    def get_meta(self) -> dict[str, Any]:
        """Nothing."""
        return {}


class Skills(SkillsDirectoryProvider):
    """The skills of a folder."""

    async def _list_resources(self) -> Sequence[Resource]:
        return [_as_listed(one) for one in await super()._list_resources()]


def _described(skill: SkillInfo) -> str:
    """What the file says of itself in its frontmatter, where each of ours has one line for it."""
    found = _DESCRIPTION.search((skill.path / skill.main_file).read_text("utf-8"))
    return found[1] if found else skill.description


def _as_listed(resource: Resource) -> Resource:
    if not isinstance(resource, SkillResource):
        return resource
    skill = resource.skill_info
    own = {} if resource.is_manifest else {"name": skill.name, "description": _described(skill)}
    fields = {name: getattr(resource, name) for name in type(resource).model_fields}
    return _Listed(**{**fields, **own})
