r"""Parse the notes field in which Rayyan exports screeners' work.

Rayyan appends its fields to the note that was imported, for example::

    See Roe. | RAYYAN-INCLUSION: {"Ann"=>"Included", "Bo"=>"Maybe"} | RAYYAN-LABELS: moss,RCT |
    RAYYAN-EXCLUSION-REASONS: wrong population | USER-NOTES: {"Ann"=>["see table 2", "ask Bo"]}

The fields are those of help.rayyan.ai, "Understanding Your Rayyan Export Files". Reasons and labels
do not name a screener. A record's name is the key that was imported, or Rayyan's own
(``rayyan-123``). It is in the CSV column ``key``, in the RIS tag ``AN`` or in the name of a BibTeX
entry (rayyansys/rayyan-formats-core and rayyan-formats-plugins).
"""

from __future__ import annotations

import re
from itertools import islice
from typing import NamedTuple

from ..system.plain_text import one_line

MAX_PER_RECORD = 200
"""Maximum number of labels, reasons, notes or screeners of one record."""
_NAME_MAX_CHARS = 300
_NOTE_MAX_CHARS = 5_000
_KEY = re.compile(r"\brayyan-\d{1,15}\b")
# Ends at the next field; a note may contain "|" and ":".
_FIELD = re.compile(
    r"(RAYYAN-INCLUSION|RAYYAN-LABELS|RAYYAN-EXCLUSION-REASONS|USER-NOTES): ?(.*?) ?"
    r"(?=\| ?(?:RAYYAN-[A-Z-]+|USER-NOTES|papershelf_key|screening order|full text):|$)"
)
_VOTE = re.compile(r'"((?:[^"\\]|\\.){0,200})" ?=\\?> ?"?(\w{1,12})"?')
_NOTE_LIST = re.compile(r'"((?:[^"\\]|\\.){0,200})" ?=\\?> ?\[((?:"(?:[^"\\]|\\.)*"|[^]"])*)\]')
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')
_ESCAPE = re.compile(r"\\(.)")


class RayyanNotes(NamedTuple):
    """Rayyan's fields in the notes of one record.

    Parameters
    ----------
    votes : tuple of (str, str)
        Screeners with their decisions, in Rayyan's words.
    comments : tuple of (str, str)
        Screeners with their notes.
    """

    votes: tuple[tuple[str, str], ...] = ()
    labels: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    comments: tuple[tuple[str, str], ...] = ()


def parse_rayyan_notes(text: str) -> RayyanNotes:
    """Parse Rayyan's fields in a note; a field that is absent stays empty.

    >>> parse_rayyan_notes('RAYYAN-INCLUSION: {"Ann"=>"Maybe"} | USER-NOTES: {"Ann"=>["a | b"]}')
    RayyanNotes(votes=(('Ann', 'Maybe'),), labels=(), reasons=(), comments=(('Ann', 'a | b'),))
    """
    if "RAYYAN-" not in text and "USER-NOTES" not in text:
        return RayyanNotes()
    fields: dict[str, list[str]] = {}
    # Runs of blanks would make the search quadratic.
    for name, value in _FIELD.findall(" ".join(text.split())):
        fields.setdefault(name, []).append(value)
    votes = _VOTE.findall(fields.get("RAYYAN-INCLUSION", [""])[-1])[:MAX_PER_RECORD]
    said = _NOTE_LIST.findall(fields.get("USER-NOTES", [""])[-1])[:MAX_PER_RECORD]
    comments = ((name, note) for name, notes in said for note in _QUOTED.findall(notes))
    return RayyanNotes(
        tuple((shorten_label(name), value) for name, value in votes),
        tuple(dict.fromkeys(split_labels(",".join(fields.get("RAYYAN-LABELS", ())), ","))),
        split_labels(fields.get("RAYYAN-EXCLUSION-REASONS", [""])[-1], ","),
        tuple(
            (shorten_label(name), _ESCAPE.sub(r"\1", note).strip()[:_NOTE_MAX_CHARS])
            for name, note in islice(comments, MAX_PER_RECORD)
            if note.strip()
        ),
    )


def find_rayyan_id(text: str) -> str:
    """Return Rayyan's identifier of a record (``rayyan-123``), or ""."""
    found = _KEY.search(text)
    return found[0] if found else ""


def split_labels(text: str, sign: str) -> tuple[str, ...]:
    """Return the labels or reasons in a list."""
    return tuple(filter(None, map(shorten_label, text.split(sign)[:MAX_PER_RECORD])))


def shorten_label(text: str) -> str:
    """Return a label, reason or name in one line of bounded length."""
    return one_line(text).strip(" '\"")[:_NAME_MAX_CHARS]
