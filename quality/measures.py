"""What a score is, and the measures behind them: token F1, runs of words, order."""

from __future__ import annotations

import html
import math
import re
import unicodedata
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

_WORD = re.compile(r"[^\W_]+")
_TAG = re.compile(r"</?(?:sub|sup|i|b|u|br|hr)\b[^<>]{0,200}>")
_TARGET = re.compile(r"\]\((?:https?:|ftp:|mailto:|#|/)[^\s()]{0,2000}\)")
_FOOTNOTE_MARK = re.compile(r"\[\^\d+\]")
_BLOCK_MARK = re.compile(r"^[ >]*(?:#{1,6}|[-+*]|\d{1,9}\.)[ ]+", re.M)
_NOISE = re.compile(r"[\s\\*_`~|\[\]\u200b\ufeff\u00ad\u2060]+")


@dataclass(slots=True)
class Score:
    """How many of *total* things were right; ``misses`` names those that were not."""

    right: float = 0.0
    total: float = 0.0
    misses: list[str] = field(default_factory=list)

    @property
    def value(self) -> float:
        """The share that was right, 1 when there was nothing to do."""
        return self.right / self.total if self.total else 1.0

    def count(self, ok: bool, miss: str) -> None:
        """Count one thing."""
        self.total += 1
        self.right += ok
        if not ok:
            self.misses.append(miss)

    def add(self, value: float, case: str, good: float = 1.0) -> None:
        """Count one case with a value between 0 and 1; named as a miss below *good*."""
        self.total += 1
        self.right += value
        if value < good:
            self.misses.append(f"{case}: {value:.4f}")


class Scores(dict[str, Score]):
    """Scores by name, made when first counted."""

    def __missing__(self, name: str) -> Score:
        self[name] = Score()
        return self[name]


def interval(hits: int, number: int, z: float = 1.96) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a share.

    >>> [round(end, 3) for end in interval(8, 10)]
    [0.49, 0.943]
    """
    share = hits / number
    middle = share + z * z / (2 * number)
    spread = z * math.sqrt(share * (1 - share) / number + z * z / (4 * number * number))
    scale = 1 + z * z / number
    return max(0.0, (middle - spread) / scale), min(1.0, (middle + spread) / scale)


def plain(text: str) -> str:
    """Text free of markup, white space and brackets: what was written, not how.

    >>> plain(r"see [**B**ees](https://a.test/b) \\<a> H<sub>2</sub>O")
    'seeBees<a>H2O'
    """
    text = _TAG.sub("", text.replace("\\<", "&lt;"))
    text = _TARGET.sub("", _FOOTNOTE_MARK.sub("", text))
    return _NOISE.sub("", "".join(html.unescape(text).split()))  # half of the time, split first


def plain_markdown(markdown: str) -> str:
    r"""Markdown in plain characters: marks of headings, lists and quotes left out, too.

    >>> plain_markdown("## One\n\n> - two\n\n3\\. is no list")
    'Onetwo3.isnolist'
    """
    return plain(_BLOCK_MARK.sub("", markdown))


def words(text: str) -> list[str]:
    """Words for comparing texts from different hands: no markup, case, accents or ligatures."""
    text = html.unescape(_TARGET.sub("", _TAG.sub("", text.replace("\\<", "&lt;"))))
    text = unicodedata.normalize("NFKD", text).casefold()
    return _WORD.findall("".join(char for char in text if not unicodedata.combining(char)))


def runs(row: Sequence[str], size: int) -> Counter[tuple[str, ...]]:
    """Every run of *size* neighbouring words, counted."""
    return Counter(tuple(row[at : at + size]) for at in range(len(row) - size + 1))


def recall(truth: Mapping[object, int], found: Mapping[object, int]) -> float:
    """The share of the truth's items that were found.

    >>> recall(Counter("aab"), Counter("abc"))
    0.6666666666666666
    """
    total = sum(truth.values())
    kept = sum(min(count, found.get(item, 0)) for item, count in truth.items())
    return kept / total if total else 1.0


def f1(truth: Iterable[str], found: Iterable[str]) -> float:
    """Harmonic mean of precision and recall of the words, repetitions counted.

    >>> f1("a b c d".split(), "a b c x".split())
    0.75
    """
    ours, theirs = Counter(truth), Counter(found)
    shared = sum((ours & theirs).values())
    total = sum(ours.values()) + sum(theirs.values())
    return 2 * shared / total if total else 1.0


def in_order(positions: Sequence[int]) -> int:
    """The length of the longest run of positions that only goes up.

    >>> in_order([1, 5, 2, 3, 9, 4])
    4
    """
    ends: list[int] = []
    for position in positions:
        at = bisect_left(ends, position)
        ends[at : at + 1] = [position]
    return len(ends)


def order_of_runs(truth: Sequence[str], found: Sequence[str], size: int = 5) -> float:
    """The share of runs of words, unique in both texts, that stand in the truth's order."""
    counts = runs(found, size)
    wanted = runs(truth, size)
    at = {tuple(found[i : i + size]): i for i in range(len(found) - size + 1)}
    places = [
        at[run]
        for i in range(len(truth) - size + 1)
        if wanted[run := tuple(truth[i : i + size])] == 1 and counts.get(run) == 1
    ]
    return in_order(places) / len(places) if places else 0.0
