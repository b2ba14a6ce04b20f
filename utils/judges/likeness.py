"""Compare abstracts and author lists; take family names out of names and lines of authors."""

from __future__ import annotations

import re

from ..outline.words import folded, shingles

_NAME = re.compile(r"(?:[^\W\d_][\w.'\u2019\u2010-]*\s+){1,5}[^\W\d_][\w.'\u2019\u2010-]*")
_BETWEEN = re.compile(r"[,;\u2022]|\s+and\s+|\s+&\s+")
_LONGEST_NAME = 60  # characters of a name


def contained(part: str, whole: set[tuple[str, ...]]) -> float:
    """The share of *part*'s runs of four words that *whole* has too, 0 to 1."""
    runs = shingles(folded(part))
    return len(runs & whole) / len(runs) if runs else 0.0


def authors_shared(ours: tuple[str, ...], theirs: tuple[str, ...], opening: str) -> float:
    """The share of our first six authors that *theirs*, or else the text's opening, names."""
    wanted = [name for author in ours[:6] if len(name := " ".join(folded(author))) > 1]
    named = {name for author in theirs if (name := " ".join(folded(author)))}
    # Of a double name, or of names in full, often only the last part is printed.
    named |= {name.rpartition(" ")[2] for name in named}
    # A PDF's "Doe1,2" is Doe.
    text = f" {' '.join(word.rstrip('0123456789') for word in folded(opening))} "
    hits = 0
    for name in wanted:
        last = name.rpartition(" ")[2]
        hits += name in named or last in named or f" {last} " in text
    return hits / len(wanted) if wanted else 0.0


def families_in(line: str) -> list[str]:
    """The family names, in order; what is no name is left out.

    >>> families_in("Ada Roe, Jan van Poe and Wei Zhang, University 5")
    ['Roe', 'Poe', 'Zhang']
    """
    parts = (part.strip(" .~").removeprefix("and ").strip() for part in _BETWEEN.split(line))
    return [
        family_name(name) for name in parts if len(name) <= _LONGEST_NAME and _NAME.fullmatch(name)
    ]


def family_name(name: str) -> str:
    """The family name out of ``Doe, Jane`` or ``Jane A. Doe Jr``.

    >>> family_name("Del Coco, Laura"), family_name("Simon YW Ho"), family_name("J Doe Jr.")
    ('Del Coco', 'Ho', 'Doe')
    """
    if "," in name:
        return name.partition(",")[0].strip()
    parts = [
        part
        for part in name.split()
        if not re.fullmatch(r"(jr|sr|ii|iii|iv|phd|md)\.?", part, re.I)
    ]
    return parts[-1] if parts else name
