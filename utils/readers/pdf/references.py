"""Find the start of each entry in a PDF's reference list, by number, indent or authors."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from .headings import ENDS, Typography, find_reference_heading, guess_heading_level
from .lines import LinePiece, is_as_short_as_mark

_ENTRY = re.compile(r"\[?\d{1,3}[\].)]\s+\S|\[\d{1,3}\]")
_AUTHOR = re.compile(r"[^\W\d_a-z][\w'\u2019-]+(?: [^\W\d_a-z][\w'\u2019-]+)?,? [A-Z]{1,3}\b")
_UNENDED = re.compile(r"(?:[,&;:]|\band|\bet al\.?)$")
_NUMBERED = re.compile(  # (1) Li, [2] "On …", 3. de Wit, 4 Ito
    r"[(\[]?(\d{1,3})[\])]?\.?\s*(?=[^\W\d_a-z]|[\"\u201c'\u2018\[]"
    r"|(?:de|da|du|des|dos|di|del|della|la|le|el|al|van|von|ten|ter|d)['\u2019 ])"
)
_FEWEST = 5  # entries in a row that follow each other
_MOST_MISSED = 1  # numbers in a row that begin no line
_LONGEST = 14  # lines of an entry
_SPACED = 1.45  # of the distance of lines: more sets what follows apart
_OTHER = 0.2  # of the size: lines that differ more are not part of an entry


def mark_reference_entries(
    lines: list[LinePiece], look: Typography, leading: float
) -> Iterator[LinePiece]:
    """Yield the lines, with starts and continuations of numbered entries marked.

    Numbers show most reliably where entries begin, whatever is between two pages of a list.
    """
    begin = find_reference_heading(lines)
    starts = _find_entry_starts(lines, len(lines) if begin is None else begin)
    end = _find_reference_list_end(lines, starts[-1], look, leading) if starts else 0
    if len(starts) < _FEWEST or end - starts[-1] > _LONGEST:  # its numbers are not all read
        yield from lines
        return
    begins = set(starts)
    for at, line in enumerate(lines):
        if at in begins:
            yield replace(line, kind="entry")
        elif starts[0] < at < end and _can_continue_entry(line, lines[starts[0]], look):
            yield replace(line, kind="cited")
        else:
            yield line


def _find_entry_starts(lines: list[LinePiece], begin: int) -> list[int]:
    """Return the indices of lines after *begin* with consecutive entry numbers."""
    starts, last = list[int](), 0
    for at in range(begin + 1, len(lines)):
        found = _NUMBERED.match(lines[at].text) if lines[at].kind == "text" else None
        ahead = int(found[1]) - last if found else 0
        if ahead == 1 or (last and 1 < ahead <= 1 + _MOST_MISSED):
            starts.append(at)
            last += ahead
    return starts


def _find_reference_list_end(
    lines: list[LinePiece], last: int, look: Typography, leading: float
) -> int:
    """Return the index at which the last entry ends."""
    for at in range(last + 1, len(lines)):
        previous, line = lines[at - 1], lines[at]
        is_apart = previous.top - line.top > _SPACED * leading and previous.text.endswith(ENDS)
        if is_apart or not _can_continue_entry(line, lines[last], look):
            return at
    return len(lines)


def _can_continue_entry(line: LinePiece, entry: LinePiece, look: Typography) -> bool:
    """Return whether a line can be part of an entry, by its typography."""
    alike = is_as_short_as_mark(line) or abs(line.size - entry.size) <= _OTHER * entry.size
    return line.kind == "text" and (alike or not guess_heading_level(line, look))


def is_reference_start(previous: LinePiece, line: LinePiece, leading: float) -> bool:
    """Return whether a line begins an entry: by number, hanging indent, space or authors."""
    if _ENTRY.match(line.text):
        return True
    step = previous.top - line.top
    if step < 0 or step > 4 * leading:  # in another column, indents say nothing
        return bool(_AUTHOR.match(line.text) and not _UNENDED.search(previous.text))
    spaced = step > _SPACED * leading and previous.text.endswith(ENDS)
    return spaced or 0.4 * line.size < previous.left - line.left < 4 * line.size
