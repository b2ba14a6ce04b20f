"""Abbreviations as texts introduce them: *growth hormone (GH)*, or *GH (growth hormone)*.

The short form's letters, read from its end, must stand in the long form in their order, and the
first of them at the beginning of its first word (Schwartz and Hearst, *A simple algorithm for
identifying abbreviation definitions in biomedical text*, Pac Symp Biocomput 2003:451-62).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_BRACKETS = re.compile(r"\(([^()\[\]]{2,120}?)(?:[,;][^()]*)?\)")
_SHORT = re.compile(r"(?=.*[^\W\d_])[^\W_][\w./+-]{0,8}[\w+]")
_SHORT_BEFORE = re.compile(r"(?:^|[\s(\[])([^\W_][\w./+-]{0,8}[\w+])\s*$")
_WORD = re.compile(r"\S+")
_MARKS = " \t\n.,;:!?\"'“”‘’*_"
_SPARE = 5  # words of a long form beyond the letters of the short one, and twice as many at most


def abbreviations(text: str) -> Iterator[tuple[str, str]]:
    """Short and long forms, in the order of the text; each as often as it is introduced.

    >>> list(abbreviations("We gave interleukin-6 (IL-6), GH (growth hormone) and water (cold)."))
    [('IL-6', 'interleukin-6'), ('GH', 'growth hormone')]
    """
    for found in _BRACKETS.finditer(text):
        inner = found[1].strip(_MARKS)
        before = text[max(0, found.start() - 200) : found.start()]
        if _is_short(inner):
            if long := _long_form(inner, before):
                yield inner, long
        elif (outer := _SHORT_BEFORE.search(before)) and _is_short(outer[1]):
            yield from [(outer[1], inner)] * (_long_form(outer[1], inner) == inner)


def _is_short(form: str) -> bool:
    """Whether it may be an abbreviation: short, with a capital or a figure."""
    return _SHORT.fullmatch(form) is not None and any(
        sign.isupper() or sign.isdigit() for sign in form
    )


def _long_form(short: str, before: str) -> str:
    """The words at the end of *before* that a short form stands for; empty where none do."""
    letters = [sign.lower() for sign in short if sign.isalnum()]
    words = list(_WORD.finditer(before))[-min(len(letters) + _SPARE, 2 * len(letters)) :]
    if not words:
        return ""
    text = before[words[0].start() :].rstrip(_MARKS)
    at = len(text)
    for number, letter in enumerate(reversed(letters)):
        first = number == len(letters) - 1
        at -= 1
        while at >= 0 and (text[at].lower() != letter or (first and at and text[at - 1].isalnum())):
            at -= 1
        if at < 0:
            return ""
    long = text[at:].strip(_MARKS)
    told = [word.strip(_MARKS).lower() for word in long.split()]
    is_longer = len(long) > len(short) + 1 and short.lower() not in told
    return long if is_longer and "(" not in long else ""
