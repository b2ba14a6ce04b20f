"""Typography of references: curled quotes, page ranges, capitals of a title.

citeproc-py leaves these to its caller, or does them by rules too simple for real titles
(``In-patient``, ``Versus``, pages ``1-199`` shortened to ``1–99``). Facts: CSL 1.0.2 (*Page
ranges*, *Title-case conversion*), MLA Handbook 9 (§2.90), Citing Medicine 2 (*Pagination*).
"""

from __future__ import annotations

import re
from typing import Literal

Pages = Literal["expanded", "minimal", "minimal-two"]

_OPENS = re.compile(r"(?<![^\s(\[{“‘/–—-])['\"](?=[^\s'\"])|(?<![^\s(\[{“‘/–—-])['\"](?=['\"]\w)")
_CLOSES = {"”": "“", "’": "‘"}
_QUOTES = re.compile("['\"“”‘’]")
_RANGE = re.compile(
    r"(?<![\w.–-])([A-Za-z]{0,3})(\d{1,9})([A-Za-z]?)\s?[-–]\s?\1?(\d{1,9})\3(?![\w.–-])", re.A
)
_SPAN = re.compile(r"(?<=\d)([A-Za-z]?)\s?-\s?(?=[A-Za-z]{0,3}\d)", re.A)
_ROMAN = re.compile(r"\b([ivxlc]+)\s?-\s?([ivxlc]+)\b", re.I)
_BETWEEN_WORDS = re.compile(r"(\s+|[-–—/])")
# Behind a colon, a question or a sentence, but not behind "Ed.".
_BEGINNING = re.compile(r"(?:[:?!]|\w{4}\.)\W*\s$|\s[-–—]\s$")
_LETTERS = re.compile(r"[^\W\d_]+")
# Articles, conjunctions, prepositions of any length, particles of names and of other languages.
_SMALL = frozenset(
    re.findall(
        r"\w+",
        """a about above across after against along among amongst an and around as at before behind
        beneath between beyond but by d de del den der di die down during et for from if in into la
        le nor of off on onto or over per pour so than the through throughout till to toward towards
        und under until up upon van versus via von vs with within without yet""",
    )
)


def curled(text: str, inner: bool = False) -> str:
    r"""Quotes as American printers set them: double, single within; the other way when *inner*.

    >>> curled("On 'x' and Crohn's"), curled('On "x \'y\'"', inner=True)
    ('On “x” and Crohn’s', 'On ‘x “y”’')
    """
    if not _QUOTES.search(text):
        return text
    text = _OPENS.sub(lambda found: "‘" if found[0] == "'" else "“", text)
    marks = list(text.replace("'", "’").replace('"', "”"))
    opened: list[int] = []
    for at, mark in enumerate(marks):
        if mark in "“‘":
            opened.append(at)
        elif mark in _CLOSES and _closes(marks, at, opened):
            begin, double = opened.pop(), len(opened) % 2 == inner
            marks[begin], marks[at] = "“”" if double else "‘’"
    return "".join(marks)


def _closes(marks: list[str], at: int, opened: list[int]) -> bool:
    """Whether a mark closes the last one opened; within a word it is an apostrophe."""
    if not opened or _CLOSES[marks[at]] != marks[opened[-1]]:
        return False
    return marks[at] == "”" or at + 1 == len(marks) or not marks[at + 1].isalnum()


def dashed(numbers: str) -> str:
    """Volumes or issues with the dash of a span.

    >>> dashed("5-6"), dashed("Pt B-1")
    ('5–6', 'Pt B-1')
    """
    return re.sub(r"(?<=\d)-(?=\d)", "–", numbers)


def page_ranges(pages: str, form: Pages = "expanded") -> str:
    """Every range of pages with its dash, as long as a style wants it (CSL *page-range-format*).

    >>> page_ranges("321-328", "minimal"), page_ranges("1-199", "minimal")
    ('321–8', '1–199')
    >>> page_ranges("101-8, S3-7"), page_ranges("1103-4", "minimal-two")
    ('101–108, S3–S7', '1103–04')
    >>> page_ranges("15S-18S", "minimal"), page_ranges("605.e1-605.e13", "minimal")
    ('15S–18S', '605.e1–605.e13')
    """

    def expand(found: re.Match[str]) -> str:
        letters, first, behind, last = found.groups()
        whole = first[: max(0, len(first) - len(last))] + last
        if len(whole) > len(first) or whole <= first:
            shown = found[4] if whole < first else whole  # "199-5" is no range; it stays
            return f"{letters}{first}{behind}–{letters}{shown}{behind}"
        if form == "expanded" or behind:
            return f"{letters}{first}{behind}–{letters}{whole}{behind}"
        new = next(at for at, (old, now) in enumerate(zip(first, whole, strict=True)) if old != now)
        keep = new if form == "minimal" else min(new, max(0, len(whole) - 2))
        return f"{letters}{first}–{whole[keep:]}"

    return _ROMAN.sub(r"\1–\2", _SPAN.sub(r"\1–", _RANGE.sub(expand, pages)))


def title_case(title: str) -> str:
    """An English title with its capitals; a word that has capitals or digits keeps its form.

    >>> title_case("Out-of-hospital care: a study of p53 and mRNA versus β-lactam in follow-up")
    'Out-of-Hospital Care: A Study of p53 and mRNA versus β-Lactam in Follow-Up'
    """
    if title.isupper() and title.count(" ") > 2:
        title = title.lower()
    pieces = _BETWEEN_WORDS.split(title)
    words = [at for at in range(0, len(pieces), 2) if pieces[at]]
    for at in words:
        before, behind = "".join(pieces[max(0, at - 3) : at]), "".join(pieces[at + 1 : at + 2])
        begins = at == words[0] or bool(_BEGINNING.search(before))
        # Of "out-of-hospital" only the middle is a small word.
        hyphens = "-" in (before[-1:], behind) and not before[-1:] == behind == "-"
        pieces[at] = _capitalise(pieces[at], begins or hyphens or at == words[-1])
    return "".join(pieces)


def _capitalise(word: str, always: bool) -> str:
    letters = _LETTERS.search(word)
    if not letters or word != word.lower() or re.search(r"\.\w", word):
        return word
    bare, begin, end = letters[0], letters.start(), letters.end()
    beside = word[max(0, begin - 1) : begin] + word[end : end + 1]
    symbol = (len(bare) == 1 and bare != "a") or any(map(str.isdigit, beside))  # "Der p 10", "p53"
    small = bare in _SMALL and not always
    if symbol or small or "α" <= bare[0] <= "ω" or len(bare[0].upper()) != 1:
        return word
    return word[:begin] + bare[0].upper() + word[begin + 1 :]
