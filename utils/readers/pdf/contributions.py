"""Merge contributor roles (CRediT, ANSI/NISO Z39.104), which print sets in bold like headings."""

from __future__ import annotations

import re
from dataclasses import replace

from .headings import TextBlock

_ROLE = re.compile(
    r"(?:conceptuali[sz]ation|data curation|formal analysis|funding acquisition|investigation"
    r"|methodology|project administration|resources|software|supervision|validation"
    r"|visuali[sz]ation|writing\W{1,3}(?:original draft|review (?:&|and) editing)"
    r"(?: preparation)?)\W{0,3}",
    re.I,
)
_FEWEST = 3  # roles in a row; a paper has one section on its methodology
_APART = 2  # blocks from one role to the next


def merge_contributor_roles(blocks: list[TextBlock]) -> list[TextBlock]:
    """Convert consecutive role headings to text, each role followed by its names."""
    named = [at for at, block in enumerate(blocks) if _ROLE.fullmatch(block.text.strip())]
    runs: list[list[int]] = []
    for at in named:
        if runs and at - runs[-1][-1] <= _APART:
            runs[-1].append(at)
        else:
            runs.append([at])
    roles = {at for run in runs if len(run) >= _FEWEST for at in run}
    merged: list[TextBlock] = []
    for at, block in enumerate(blocks):
        follows_role = at - 1 in roles and not block.level and not block.rows
        if follows_role:
            name = merged[-1].text.rstrip(" :.")
            merged[-1] = replace(block, text=f"{name}: {block.text}")
        else:
            merged.append(replace(block, level=0) if at in roles else block)
    return merged
