"""Cutting a paper's markdown into passages that can be found, quoted and checked."""

from __future__ import annotations

from typing import Any

from ..paper import Kind
from ..passage import Passage


def cut(
    text: str, *, paper: str, title: str, kind: Kind, file: str = "", **about: Any
) -> list[Passage]:
    """The passages of *text*, a file of the shelf or title, blank line and abstract of a record.

    *about* are the other fields of `Passage`: ``year``, ``journal``, ``publication_types``,
    ``retracted``. Each passage ends with ``text[start:end]``; a piece of a table that does not hold
    the table's first row begins with its caption and header, all others are that stretch exactly.
    """
    raise NotImplementedError
