"""Items: blocks that stand behind a mark, as lists, references and algorithms' lines do."""

from __future__ import annotations

from .signs import ITEM


def items_of(blocks: list[str]) -> list[tuple[str, list[str]]]:
    """Each item's label and blocks; what stands before the first is an item of its own."""
    found: list[tuple[str, list[str]]] = []
    for block in blocks:
        if block.startswith(ITEM):
            found.append((block[1:], []))
        elif not found:
            found.append(("", [block]))
        else:
            found[-1][1].append(block)
    return found
