"""Elements of LaTeXML's pages by their classes."""

from __future__ import annotations

from bs4.element import Tag


def classed(root: Tag, *names: str) -> list[Tag]:
    """Every element that has one of these classes, in order; `select` takes ten times as long."""
    wanted = frozenset(names)
    return [
        tag
        for tag in root.descendants
        if isinstance(tag, Tag) and not wanted.isdisjoint(tag.get("class") or ())
    ]
