"""Remove a printed table of contents, which repeats the paper's headings.

Otherwise its entries would be headings of empty sections, and the text after its last entry,
*References*, would count as references.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...outline.words import fold_words
from .headings import TextBlock

_TITLE = re.compile(r"(?:table of )?contents|contents page|inhalt(?:sverzeichnis)?|sommaire", re.I)
_PAGE = re.compile(r"[\s.\u2026\u00b7_]*\d{1,4}\s*$")
_FEWEST = 4  # entries in a row that come again as headings
_MOST = 0.6  # of the headings after it, that a paragraph of entries names


def drop_table_of_contents(blocks: list[TextBlock]) -> list[TextBlock]:
    """Return the blocks without the entries and the title of a table of contents."""
    last = {_to_heading_key(block.text): at for at, block in enumerate(blocks) if block.level}
    at = 0
    kept: list[TextBlock] = []
    while at < len(blocks):
        titled = _TITLE.fullmatch(blocks[at].text.strip()) is not None
        if not titled and _TITLE.match(blocks[at].text) and _is_list_of_headings(blocks, at):
            at += 1
            continue
        end = at + titled
        while end < len(blocks) and _is_contents_entry(blocks[end], end, last):
            end += 1
        if titled and end == at + 1 and end < len(blocks) and _is_list_of_headings(blocks, end):
            end += 1
        if end - at - titled >= (1 if titled else _FEWEST):
            at = end
        else:
            kept.append(blocks[at])
            at += 1
    return kept


def _is_contents_entry(block: TextBlock, at: int, last: dict[str, int]) -> bool:
    key = _to_heading_key(block.text)
    return bool(key) and last.get(key, 0) > at and not block.rows


def _is_list_of_headings(blocks: list[TextBlock], at: int) -> bool:
    """Return whether a paragraph lists most of the following headings in order."""
    text, names = (
        "".join(fold_words(blocks[at].text)),
        list(_iterate_heading_keys(blocks[at + 1 :])),
    )
    named = sum(name in text for name in names)
    return not blocks[at].level and named >= _FEWEST and named >= _MOST * len(names)


def _iterate_heading_keys(blocks: list[TextBlock]) -> Iterator[str]:
    yield from (key for block in blocks if block.level and (key := _to_heading_key(block.text)))


def _to_heading_key(text: str) -> str:
    return "".join(fold_words(_PAGE.sub("", text)))
