"""The blocks of a text under names that last: their words' digest, or a figure's or table's label.

Passages, quotations and readers point at a place by characters, which move when a text is read
anew; a name made from the words moves with them.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator

from ..model.passage import Anchor
from ..outline import floats_of, outline
from ..outline.words import folded
from .blocks import Block, body_start, sections

_DIGITS = 8  # hexadecimal: of a million blocks two share a name by chance once in a hundred papers
_LETTERS = {"prose": "p", "list": "list", "table": "table", "code": "code"}


def anchors_of(text: str) -> tuple[Anchor, ...]:
    r"""Every block of a text's body, in reading order; reference lists have none.

    >>> [(one.name, one.section) for one in anchors_of("# T\n\n## Aims\n\nWe asked bees.\n")]
    [('p-4b463c25', 'Aims')]
    """
    labels = {one.start: one.label for one in floats_of(text, outline(text))}
    seen: Counter[str] = Counter()
    return tuple(_named(text, labels, seen))


def anchor_at(text: str, start: int, end: int) -> Anchor | None:
    """The block that most of a stretch of a text stands in."""
    over = [one for one in anchors_of(text) if one.start < end and one.end > start]
    return max(over, key=lambda one: min(end, one.end) - max(start, one.start), default=None)


def _named(text: str, labels: dict[int, str], seen: Counter[str]) -> Iterator[Anchor]:
    for section in sections(text, body_start(text)):
        for block in section.blocks:
            label = labels.get(block.start, "")
            name = label.lower().replace(" ", "-") or _name(text, block)
            seen[name] += 1
            once = name if seen[name] == 1 else f"{name}-{seen[name]}"
            kind = _kind(block, label)
            yield Anchor(once, kind, " › ".join(section.path), block.start, block.end)


def _kind(block: Block, label: str) -> str:
    if label:
        return "table" if "Table" in label else "figure"
    return "paragraph" if block.kind == "prose" else block.kind


def _name(text: str, block: Block) -> str:
    words = " ".join(folded(text[block.start : block.end])) or text[block.start : block.end]
    return f"{_LETTERS[block.kind]}-{hashlib.sha256(words.encode()).hexdigest()[:_DIGITS]}"
