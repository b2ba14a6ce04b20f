"""Join printed lines into one text: split words are joined, compounds keep their hyphen."""

from __future__ import annotations

import re

_HALF = (4, 5)  # letters of the halves of a compound; less may be a syllable
_SECOND = frozenset(  # of compounds: ends no word without a hyphen
    (
        *("amplified", "assisted", "associated", "based", "coated", "containing", "controlled"),
        *("dependent", "derived", "driven", "free", "guided", "independent", "induced", "infected"),
        *("labeled", "labelled", "like", "linked", "mediated", "negative", "old", "positive"),
        *("related", "resistant", "rich", "specific", "stained", "treated", "type"),
    )
)
_FIRST, _WORD_LENGTH = 3, 6  # letters of a compound's first half: "in-dependent" is not a compound
_LINKING = frozenset(("and", "or", "to", "und", "oder", "et", "ou", "y", "o", "e"))
_BROKEN = re.compile(r"([^\W\d_]+)-$")
_LETTERS = re.compile(r"[^\W\d_]+")
_LONGEST_WORD = 60
_DASHED = re.compile(r"[^\W_][-\u2013]$")
_ADDRESS = re.compile(r"(?:https?:|www\.|doi\.org)\S{0,200}/$")
_ADDRESS_CHARS = 220
_PATH = re.compile(r"[\d/=_]|\.\w")


def join_printed_lines(lines: list[str], spoken: set[str]) -> str:
    """Join lines into one text; a word split at the end of a line is joined.

    The hyphen is kept if the paper spells the word with one elsewhere (*double-blind*).
    """
    text = ""
    for line in lines:
        head = _BROKEN.search(text[-_LONGEST_WORD:]) if text.endswith("-") else None
        tail = _LETTERS.match(line) if head else None
        if head and tail and tail[0] in _LINKING:  # short- and long-term
            text = f"{text} {line}"
        elif head and tail and (tail[0][0].islower() or (head[1] + tail[0]).lower() in spoken):
            text = (text if _is_hyphen_kept(head[1], tail[0], spoken) else text[:-1]) + line
        elif _is_line_unfinished(text, line):
            text += line
        else:
            text = f"{text} {line}" if text else line
    return text.strip()


def _is_hyphen_kept(head: str, tail: str, spoken: set[str]) -> bool:
    """Return whether the paper spells the word with a hyphen, or only its halves.

    Words are not split after their first letter, so the hyphen after a single capital or an acronym
    is kept (*D-limonene*, *PCR-amplified*).
    """
    if head.isupper():
        return f"{head}{tail}".lower() not in spoken
    is_symbol = not head.islower() and len(head) < _FIRST  # Se-rich
    head, tail = head.lower(), tail.lower()
    if f"{head}-{tail}" in spoken:
        return True
    both = len(head) >= _HALF[0] and len(tail) >= _HALF[1] and {head, tail} <= spoken
    is_first = is_symbol or len(head) >= _WORD_LENGTH or (len(head) >= _FIRST and head in spoken)
    is_second = tail in _SECOND and is_first
    return (both or is_second) and head + tail not in spoken


def _is_line_unfinished(text: str, rest: str) -> bool:
    """Return whether a line ends in the middle of a range, compound or URL."""
    if _DASHED.search(text[-2:]):
        return rest[:1].isalnum()
    if not text.endswith("/") or not rest:
        return False
    following = rest.split(maxsplit=1)[0]
    return bool(_PATH.search(following) and _ADDRESS.search(text[-_ADDRESS_CHARS:]))
