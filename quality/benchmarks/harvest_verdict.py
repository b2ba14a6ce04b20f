"""Whether the text that came is the text of the paper: compared with what the world wrote.

Nobody's own word is taken: neither a file's name nor its header counts, only the sentences of the
paper's body.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from utils.demo.prose import body
from utils.demo.records import Record, strip_markup

# Of a paper's sentences a PDF loses a few (Greek letters); another paper shares hardly one.
WHOLE = 0.8


@dataclass
class Score:
    """What came of a list of papers; ``false`` and ``missed`` name PMIDs."""

    outcomes: Counter[str] = field(default_factory=Counter)
    false: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)

    def add(self, record: Record, text: str | None) -> None:
        """Judge one paper: *text* is what was kept as its full text, None when nothing was."""
        if text is None:
            self.outcomes["no full text"] += 1
            if record.expected == "full_text":
                self.missed.append(record.pmid)
        elif share_of(record, text) >= WHOLE:
            self.outcomes["full text"] += 1
        else:
            self.outcomes["false full text"] += 1
            self.false.append(record.pmid)

    @property
    def full(self) -> int:
        """True full texts."""
        return self.outcomes["full text"]


def share_of(record: Record, text: str) -> float:
    """The share of the paper's own sentences that *text* holds."""
    held = _words(text)
    sentences = [f" {_words(sentence)} " for sentence in _sentences(record)]
    return sum(sentence in f" {held} " for sentence in sentences) / len(sentences)


def attainable(records: Iterable[Record]) -> int:
    """How many full texts a perfect downloader would bring."""
    return sum(record.expected == "full_text" for record in records)


def _sentences(record: Record) -> list[str]:
    return [
        sentence
        for _, paragraphs in body(record)
        for paragraph in paragraphs
        for sentence in re.split(r"(?<=[.?])\s", strip_markup(paragraph))
    ]


def _words(text: str) -> str:
    return " ".join(re.findall(r"[a-z0-9]+", text.lower()))
