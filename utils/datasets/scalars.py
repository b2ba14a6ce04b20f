"""Single values: the SQL type that fits them, and their conversion to it.

A column's type is what *all* its values allow. Text that is a number without loss becomes one
(identifiers with leading zeros, versions such as ``1.10`` and words stay text); dates as NCBI
writes them (``2012/11/22 00:00``, ``1968 Aug``, ``22-NOV-2012``) become ISO 8601 where a column
holds nothing else. NCBI's date of the year 1 means that there is none.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection
from datetime import date
from functools import lru_cache
from typing import Literal, TypeAlias

from ..system.plain_text import clean_text

Scalar: TypeAlias = "str | int | float | bool"
Kind = Literal["whole", "year", "fraction", "decimal", "date", "no date", "word"]
Type = Literal["INTEGER", "REAL", "DATE", "TEXT"]

_WHOLE = re.compile(r"0|-?[1-9]\d{0,17}", re.A)
_YEAR = re.compile(r"1[5-9]\d\d|20\d\d", re.A)
_DECIMAL = re.compile(r"-?\d{1,20}\.\d{1,20}(?:[eE][+-]?\d{1,3})?|-?\d{1,3}[eE]-\d{1,3}", re.A)
_NO_DATE = re.compile(r"0{0,3}1/01/01(?: 00:00(?::00)?)?|0001-01-01(?:[ T]00:00:00)?")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = rf"(?P<name>{'|'.join(_MONTHS)})"
_TIME = r"(?:[ T](?P<time>\d\d:\d\d(?::\d\d)?)(?P<rest>(?:\.\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?))?"
_DATES = tuple(
    re.compile(form, re.A | re.I)
    for form in (
        rf"(?P<year>\d{{4}})[/-](?P<month>\d\d?)[/-](?P<day>\d\d?){_TIME}",
        rf"(?P<year>\d{{4}}) {_MONTH}(?: (?P<day>\d\d?))?",
        rf"(?P<day>\d\d?)-{_MONTH}-(?P<year>\d{{4}})",
    )
)
_UNSORTED = re.compile(r"(?:^|_)(?:version|build|release|id|acc|accession|accver|name)$")
_WHOLE_KINDS, _NUMBERS, _DATED = (
    {"whole", "year"},
    {"whole", "year", "fraction", "decimal"},
    {"date", "no date", "year"},
)


def kind_of(value: Scalar) -> Kind:
    """The kind of a value, from which the type of its column follows.

    >>> kind_of("0042"), kind_of("42"), kind_of("1.5"), kind_of("1968 Aug"), kind_of(True)
    ('word', 'whole', 'decimal', 'date', 'whole')
    """
    if isinstance(value, str):
        return _kind_of_text(value) if value[:1] in "-0123456789" else "word"
    if isinstance(value, float):
        return "fraction" if math.isfinite(value) else "word"
    if not -(2**63) <= value < 2**63:
        return "word"
    return "year" if 1500 <= value < 2100 else "whole"


def _kind_of_text(text: str) -> Kind:
    if _WHOLE.fullmatch(text):
        return "year" if _YEAR.fullmatch(text) else "whole"
    if _DECIMAL.fullmatch(text):
        return "decimal" if math.isfinite(float(text)) else "word"
    if len(text) > 40:
        return "word"
    if _NO_DATE.fullmatch(text):
        return "no date"
    return "date" if iso(text) else "word"


def type_of(kinds: Collection[Kind], name: str) -> Type:
    """The type of a column that holds values of these *kinds*.

    >>> type_of({"whole", "fraction"}, "score"), type_of({"year", "date"}, "pub_date")
    ('REAL', 'DATE')
    """
    seen = set(kinds)
    if seen <= _WHOLE_KINDS:
        return "INTEGER"
    if seen <= _NUMBERS and not ("decimal" in seen and _UNSORTED.search(name)):
        return "REAL"
    return "DATE" if "date" in seen and seen <= _DATED else "TEXT"


def converted(value: Scalar, kind: Type) -> Scalar | None:
    """A value in the type of its column.

    >>> written("2012/11/22 00:00", "DATE"), written("7", "INTEGER"), written(True, "TEXT")
    ('2012-11-22', 7, 'true')
    """
    if kind == "TEXT":
        return fit(value) if isinstance(value, str) else str(value).lower()
    if kind == "DATE":
        text = str(value)
        return iso(text) or (None if _NO_DATE.fullmatch(text) else text)
    return int(value) if kind == "INTEGER" else float(value)


def fit(text: str) -> str:
    """Text that can be shown: no character in it acts or hides."""
    return text if text.isprintable() else clean_text(text)


@lru_cache(4096)
def iso(text: str) -> str:
    """A date of one of NCBI's forms as ISO 8601, empty for anything else.

    >>> iso("2012/11/22 13:05"), iso("1968 Aug"), iso("22-NOV-2012"), iso("2012/13/22")
    ('2012-11-22 13:05', '1968-08', '2012-11-22', '')
    """
    match = next((found for form in _DATES if (found := form.fullmatch(text))), None)
    if not match:
        return ""
    parts = match.groupdict()
    named = (parts.get("name") or "").lower()
    month = _MONTHS.index(named) + 1 if named else int(parts["month"])
    try:
        day = date(int(parts["year"]), month, int(parts["day"] or 1)).isoformat()
    except ValueError:
        return ""
    time = (parts.get("time") or "") + (parts.get("rest") or "")
    if not parts["day"]:
        return day[:7]
    return day if time.strip("0:.TZ") == "" else f"{day} {time}"
