"""Parse dates that people and programs write: a year, a month or a day.

Databases of papers know many publications by year or month only, so a date keeps the precision in
which it was written. `parse_written_date` gives PubMed's form of it, ``YYYY[/MM[/DD]]``.
"""

from __future__ import annotations

import re
from calendar import monthrange
from datetime import date

from ..errors import BadRequest
from ..system.plain_text import one_line, shorten

_PARTS = re.compile(r"(\d{4})(?:/(\d{1,2})(?:/(\d{1,2}))?)?", re.A)
_ISO = re.compile(
    r"(\d{4})([-.])(\d{1,2})(?:\2(\d{1,2})(?:[T ][\d:.]+(?:Z|[+-]\d\d:?\d\d)?)?)?", re.A
)
_DIGITS = re.compile(r"(\d{4})(\d\d)(\d\d)", re.A)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = r"[a-z]{3,9}\.?"
_IN_WORDS = (
    re.compile(
        rf"(?P<month>{_MONTH})\s+(?:(?P<day>\d{{1,2}})(?:st|nd|rd|th)?,?\s+)?(?P<year>\d{{4}})"
    ),
    re.compile(
        rf"(?:(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\s+)?(?P<month>{_MONTH})\s+(?P<year>\d{{4}})"
    ),
    re.compile(rf"(?P<year>\d{{4}})\s+(?P<month>{_MONTH})(?:\s+(?P<day>\d{{1,2}}))?"),
)
_OPEN_ENDS = ("present", "now", "today")


def parse_written_date(text: str, name: str) -> str:
    """Return a date as ``YYYY[/MM[/DD]]``, with the precision of the input.

    >>> parse_written_date("2020-01-31", "min_date"), parse_written_date("2020-01", "min_date")
    ('2020/01/31', '2020/01')
    >>> parse_written_date("March 5, 2021", "min_date"), parse_written_date("2020/1", "min_date")
    ('2021/03/05', '2020/1')
    >>> parse_written_date("present", "max_date")
    ''

    Raises
    ------
    BadRequest
        The text is not a date; the error calls it *name*.
    """
    written = text.strip()
    if not written or (name == "max_date" and written.lower() in _OPEN_ENDS):
        return ""
    found = written if _PARTS.fullmatch(written) else _to_slash_date(written)
    try:
        get_first_day(found)
    except ValueError:
        shown = shorten(one_line(text), 40)
        msg = f"{name} {shown!r} is not a date of the form YYYY, YYYY-MM or YYYY-MM-DD."
        raise BadRequest(msg, "For example 2020-01-31.") from None
    return found


def get_first_day(text: str) -> date:
    """Return the first day that ``YYYY[/MM[/DD]]`` can mean.

    >>> get_first_day("2026/02").isoformat()
    '2026-02-01'
    """
    year, month, day = _split_date_parts(text)
    return date(year, month or 1, day or 1)


def get_last_day(text: str) -> date:
    """Return the last day that ``YYYY[/MM[/DD]]`` can mean.

    >>> get_last_day("2026/02").isoformat(), get_last_day("2026").isoformat()
    ('2026-02-28', '2026-12-31')
    """
    year, month, day = _split_date_parts(text)
    month = month or 12
    return date(year, month, day or monthrange(year, month)[1])


def _split_date_parts(text: str) -> tuple[int, int, int]:
    """Return year, month and day (0 if missing); raise an error if the month or day is 0."""
    if not (match := _PARTS.fullmatch(text)):
        raise ValueError(text)
    parts = [part if part is None else int(part) for part in match.groups()]
    if 0 in parts:
        raise ValueError(text)
    year, month, day = (part or 0 for part in parts)
    return year, month, day


def _to_slash_date(text: str) -> str:
    """Convert a date in another format to ``YYYY[/MM[/DD]]``; return "" for other text."""
    if iso := _ISO.fullmatch(text):
        return "/".join(part.zfill(2) for part in iso.group(1, 3, 4) if part)
    if digits := _DIGITS.fullmatch(text):
        return "/".join(digits.groups())
    for form in _IN_WORDS:
        if (match := form.fullmatch(text.lower())) and match["month"][:3] in _MONTHS:
            month = _MONTHS.index(match["month"][:3]) + 1
            day = f"/{int(match['day']):02d}" if match["day"] else ""
            return f"{match['year']}/{month:02d}{day}"
    return ""
