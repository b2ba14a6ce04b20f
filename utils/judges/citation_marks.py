"""Citations by number, as a text prints them: ``[3-7, 9]``, ``(3)``, raised or bare."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

_RANGE: Final = 50  # references at most in one "3-7"
_ROW: Final = 12  # where "(51-75)" may be residues or patients as well
_NUMBERS = r"\s*\d{1,3}(?:\s?[,;\u2013\u2212-]\s?\d{1,3}){0,40}\s*"
# How papers number citations, a group each: [1], (1), raised, raised as a PDF tells it, and bare.
_MARKS: Final = re.compile(
    rf"\[({_NUMBERS})\]|\(({_NUMBERS})\)|<sup>({_NUMBERS})</sup>"
    r"|(?<=[a-z)]{2}[.,;])(\d{1,3}(?:[,\u2013-]\d{1,3}){0,40})(?=\s)"
    r"|(?<=[a-z)]{2} )(\d{1,3}(?:, ?\d{1,3}){0,40})(?=[.,;](?:\s|$))"
)
_EQUATION: Final = re.compile(r"^\(\d{1,3}\)$", re.M)  # a number alone on its line
_WAYS: Final = 5
_BARE_WAYS: Final = 3  # the first without a mark
_DOUBTFUL: Final = (1, 4)  # of these ways: with no list to compare, they may number anything
_BRACKETS: Final = re.compile(rf"[\[(]({_NUMBERS})[\])]")
_COLUMN: Final = re.compile(r"\W*(?:ref(?:s|erences?)?|citations?|sources?|stud(?:y|ies))\W*", re.I)
_NUMBERS_ALONE: Final = re.compile(_NUMBERS)
_NUMBER: Final = re.compile(r"(\d{1,3})(?:\s?[\u2013\u2212-]\s?(\d{1,3}))?")


class Cited(NamedTuple):
    """Numbers cited, and whether they stand in brackets or are marked up; a PDF only raises them.

    What is printed in any other way may number citations, too, or equations and compounds.

    >>> cited_numbers("As seen [1, 3-5] and again [2], where (7) holds.", listed=True)
    Cited(numbers={1, 2, 3, 4, 5}, by_marks=True, otherwise={7})
    """

    numbers: set[int]
    by_marks: bool
    otherwise: set[int]


def cited_numbers(text: str, *, listed: bool) -> Cited:
    """The numbers a text cites, in the way in which it cites most; *listed*: it has a list."""
    ways: tuple[set[int], ...] = tuple(set() for _ in range(_WAYS))
    for mark in _MARKS.finditer(_EQUATION.sub("", text)):
        way = (mark.lastindex or 1) - 1
        ways[way].update(_spelled_out(mark[0], _ROW if way in _DOUBTFUL else _RANGE))
    if not listed:
        for number in _DOUBTFUL:
            ways[number].clear()
    cited = [_consecutive(numbers) for numbers in ways]
    most = max(range(_WAYS), key=lambda number: len(cited[number]))
    return Cited(cited[most], most < _BARE_WAYS, set().union(*ways) - cited[most])


def in_brackets(text: str) -> Iterator[int]:
    """The numbers that stand in brackets of any kind, ranges filled in."""
    for mark in _BRACKETS.finditer(text):
        yield from _spelled_out(mark[1])


def in_column(table: str) -> Iterator[str]:
    r"""What stands under *References* in a table of markdown: numbers without any mark, mostly.

    >>> list(in_column("| Gene | Refs |\n|---|---|\n| miR-21 | 14,15 |"))
    ['14,15']
    """
    head, *rows = table.split("\n")
    names = head.strip().strip("|").split("|")
    at = next((at for at, name in enumerate(names) if _COLUMN.fullmatch(name)), len(names))
    for row in rows if at < len(names) else []:
        cells = row.strip().strip("|").split("|")
        cited = cells[at].strip() if at < len(cells) else ""
        if _NUMBERS_ALONE.fullmatch(cited):
            yield cited


def _spelled_out(mark: str, most: int = _RANGE) -> Iterator[int]:
    for first, last in _NUMBER.findall(mark):
        begin, end = int(first), int(last or first)
        yield from range(begin, min(end, begin + most) + 1)


def _consecutive(numbers: set[int]) -> set[int]:
    """Numbers without those far beyond the others: a year's last digits, a count of patients."""
    row = sorted(numbers - {0})
    while row[2:] and (row[-3] < row[-1] - 4 or 2 * len(row) < row[-1]):
        row.pop()
    return set(row)
