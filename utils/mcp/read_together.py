"""Reading many papers within one budget, in as many calls as fetching them takes.

A call answers after twenty seconds with the papers that are there by then. Papers that are still
being fetched keep their share of the budget, and `next_cursor` says where the next call goes on:
which papers were sent, and how many tokens are left for the others. Nothing is kept between calls,
so the next call may reach another process.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ..errors import BadRequest
from ..library import Library
from .answers import UNTRUSTED, tokens
from .rendering import render

if TYPE_CHECKING:
    from ..curation.excerpts import Excerpt

CHARACTERS = 4  # of a token, as models count English
_CURSOR = re.compile(r"([0-9a-f]{1,8})\.(\d{1,6})\.([0-9a-f]{1,8})")
Rows = Callable[[str, "Excerpt | None"], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class ReadingRequest:
    """The arguments of a call that say what is read."""

    names: tuple[str, ...]
    sections: tuple[str, ...]
    question: str
    budget: int

    @property
    def checksum(self) -> str:
        """A short checksum, by which a cursor of another request is told."""
        said = json.dumps([self.names, self.sections, self.question])
        return f"{zlib.crc32(said.encode()):x}"


@dataclass(frozen=True, slots=True)
class Cursor:
    """The papers that were sent, as bits of a number, and the tokens left for the others."""

    sent: int
    left: int

    @classmethod
    def of(cls, text: str, request: ReadingRequest) -> Cursor:
        """Parse a cursor; an empty one begins.

        Raises
        ------
        BadRequest
            The text is not a cursor of this request.
        """
        if not text:
            return cls(0, request.budget)
        found = _CURSOR.fullmatch(text.strip())
        if not found or found[3] != request.checksum:
            msg = "This cursor does not belong to these papers, sections and question."
            raise BadRequest(msg, "Repeat the call that gave it, or leave cursor out.")
        return cls(int(found[1], 16), min(int(found[2]), request.budget))

    def unsent(self, request: ReadingRequest) -> list[str]:
        """Return the papers that were not sent yet."""
        return [name for at, name in enumerate(request.names) if not self.sent >> at & 1]

    def after(self, sent: Sequence[str], cost: int, request: ReadingRequest) -> Cursor:
        """Return the cursor behind an answer with the papers *sent*."""
        bits = sum(1 << request.names.index(name) for name in sent)
        return Cursor(self.sent | bits, max(0, self.left - cost))

    def text(self, request: ReadingRequest) -> str:
        """Return the cursor as the next call sends it."""
        return f"{self.sent:x}.{self.left}.{request.checksum}"


@dataclass(frozen=True, slots=True)
class Page:
    """The papers of one answer: *ready* ones are sent, those still *downloading* are named.

    ``held`` are the ready ones with a text. ``row`` makes the row of a paper.
    """

    request: ReadingRequest
    cursor: Cursor
    ready: tuple[str, ...]
    downloading: tuple[str, ...]
    held: Mapping[str, object]
    row: Rows

    def answer(self, library: Library) -> dict[str, Any]:
        """Return the structure of the answer, within the share of the papers that are ready."""
        unsent = len(self.cursor.unsent(self.request))
        waiting = len(self.downloading)
        share = self.cursor.left * (unsent - waiting) // max(1, unsent)
        excerpts = library.excerpts(
            [name for name in self.ready if name in self.held],
            sections=self.request.sections,
            question=self.request.question,
            budget=share * CHARACTERS,
            excess=lambda chosen: CHARACTERS * (cost_of(self._structure(chosen)) - share),
        )
        structure = self._structure(excerpts)
        if len(self.ready) < 2 or cost_of(structure) <= share:
            return structure
        # Not even the titles fit: the second half comes with the next call.
        return replace(self, ready=self.ready[: len(self.ready) // 2]).answer(library)

    def _structure(self, excerpts: Sequence[Excerpt]) -> dict[str, Any]:
        chosen = iter(excerpts)
        rows = [self.row(name, next(chosen) if name in self.held else None) for name in self.ready]
        structure: dict[str, Any] = {"papers": rows}
        left_out = len(self.cursor.unsent(self.request)) - len(self.ready) - len(self.downloading)
        if self.downloading or left_out:
            cursor = self.cursor.after(self.ready, cost_of(structure), self.request)
            if left_out:  # the budget was too small for all of them: it begins anew
                cursor = replace(cursor, left=self.request.budget)
            structure["next_cursor"] = cursor.text(self.request)
        if self.downloading:
            structure["downloading"] = list(self.downloading)
        return structure


def cost_of(structure: Mapping[str, Any]) -> int:
    """Return the tokens of an answer in its longer form, by characters or as `tokens` counts."""
    sent = {"untrusted": UNTRUSTED, **structure}
    written = json.dumps(sent, ensure_ascii=False, separators=(",", ":"))
    text = render(structure, untrusted=True)
    longest = max(len(written.encode()), len(text.encode(errors="replace")))
    return max(tokens(sent), -(-longest // CHARACTERS))
