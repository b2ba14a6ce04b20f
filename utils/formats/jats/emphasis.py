r"""Emphasis, decided where its line is whole: ``*italic*`` and ``**bold**``, or no marks at all.

A reader of markdown takes ``*`` for emphasis only where blanks, signs and letters stand around it
as CommonMark 0.31 (6.2) says. What an element's neighbours print is known only when the line is
made; until then control characters stand for the marks, which no XML may hold. Then the marks are
moved off blanks and punctuation at their edges (``*Ptdsr-*null`` is ``*Ptdsr*-null``), and left out
where they would split a word, which nobody could search for.
"""

from __future__ import annotations

import re
from typing import Final

ITALIC: Final = ("\x01", "\x02")
BOLD: Final = ("\x03", "\x04")
MARKS: Final = "".join(ITALIC + BOLD)
_WRITTEN: Final = {"\x01": "*", "\x02": "*", "\x03": "**", "\x04": "**"}
_BEGINS: Final = {"\x02": "\x01", "\x04": "\x03"}
_MARK: Final = re.compile(f"([{MARKS}])")
_WORD: Final = re.compile(r"[^\W_]")
_MOVABLE: Final = r".,;:!?'\"’‘“”–—‐‑…/=+\-"
# Round brackets may be a link's.
_LEADING: Final = (re.compile(rf"\s+|[{_MOVABLE}()]+"), re.compile(rf"\s+|[{_MOVABLE}]+"))
_TRAILING: Final = (
    re.compile(rf"(?:\s+|(?:[{_MOVABLE}()]|\\_)+)\Z"),
    re.compile(rf"(?:\s+|(?:[{_MOVABLE}]|\\_)+)\Z"),
)
_EDGE: Final = 40  # characters of a text's end that may be moved
_TIMES: Final = 4  # blanks, signs, blanks again: then it is no emphasis


def with_emphasis(text: str) -> str:
    r"""A line with its emphasis as markdown.

    >>> with_emphasis("\x01Ptdsr-\x02null \x03n\x04th, sp\x01. nov\x02")
    '*Ptdsr*-null nth, sp. *nov*'
    """
    if "\x01" in text or "\x03" in text:
        return _Line(text).markdown()
    return text


class _Line:
    """A line cut at its marks: texts at even places, marks at odd ones."""

    def __init__(self, text: str) -> None:
        # Marks of a kind that meet are one.
        text = text.replace("\x02\x01", "").replace("\x04\x03", "")
        self._parts = _MARK.split(text)
        self._with_links = "](" in text

    def markdown(self) -> str:
        """The line, each mark written, moved or left out; inner ones first."""
        parts = self._parts
        begun: list[int] = []
        for at in range(1, len(parts), 2):
            mark = parts[at]
            if mark not in _BEGINS:
                begun.append(at)
            elif begun and parts[begun[-1]] == _BEGINS[mark]:
                start = begun.pop()
                within_its_kind = any(parts[place] == _BEGINS[mark] for place in begun)
                if within_its_kind or not self._holds(start, at):
                    parts[start] = parts[at] = ""
            else:
                parts[at] = ""
        return "".join([_WRITTEN.get(part, part) for part in parts])

    def _holds(self, start: int, end: int) -> bool:
        """Whether marks at *start* and *end* are read as emphasis, maybe moved inwards."""
        if not any(map(_WORD.search, self._parts[start + 1 : end : 2])):
            return False
        return self._opens(start) and self._closes(end)

    def _opens(self, at: int) -> bool:
        for _ in range(_TIMES):
            before, after = self._before(at), self._after(at)
            if after.isalnum():
                return not before.isalnum()
            # Between two signs a mark could as well end what began before.
            if after and not after.isspace() and (not before or before.isspace()):
                return True
            inner = self._parts[at + 1]
            moved = _LEADING[self._with_links].match(inner)
            if moved is None:
                return False
            self._parts[at - 1] += moved[0]
            self._parts[at + 1] = inner[moved.end() :]
        return False

    def _closes(self, at: int) -> bool:
        for _ in range(_TIMES):
            before, after = self._before(at), self._after(at)
            if before.isalnum():
                return not after.isalnum()
            if before and not before.isspace() and (not after or after.isspace()):
                return True
            inner = self._parts[at - 1]
            edge = max(0, len(inner) - _EDGE)
            moved = _TRAILING[self._with_links].search(inner, edge)
            if moved is None:
                return False
            self._parts[at + 1] = moved[0] + self._parts[at + 1]
            self._parts[at - 1] = inner[: moved.start()]
        return False

    def _before(self, at: int) -> str:
        """The character before a mark, other marks passed over."""
        while (at := at - 1) >= 0:
            part = self._parts[at]
            if part and part not in _WRITTEN:
                return part[-1]
        return ""

    def _after(self, at: int) -> str:
        """The character behind a mark."""
        while (at := at + 1) < len(self._parts):
            part = self._parts[at]
            if part and part not in _WRITTEN:
                return part[0]
        return ""
