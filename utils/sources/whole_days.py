"""The days a query is about, for sites that take whole days only.

PubMed takes ``2024`` or ``2024/02`` as they are; Europe PMC and OpenAlex want the first day and the
last, and know nothing but the day of publication.
"""

from __future__ import annotations

import calendar
import re

from ..errors import BadRequest
from .source import Query

_DATE = re.compile(r"(\d{4})(?:[/-](\d{1,2}))?(?:[/-](\d{1,2}))?", re.A)


def whole_days(query: Query, site: str) -> tuple[str, str]:
    """The first and the last day, as ISO dates; empty where there is no limit.

    >>> whole_days(Query("moss", min_date="2024/2", max_date="2024/02"), "Europe PMC")
    ('2024-02-01', '2024-02-29')
    >>> whole_days(Query("moss", min_date="2024"), "Europe PMC")
    ('2024-01-01', '')

    Raises
    ------
    BadRequest
        Another date is meant than that of publication, or it is no date.
    """
    if not (query.min_date or query.max_date):
        return "", ""
    if query.date_type != "pdat":
        msg = f"{site} knows the date of publication (pdat), not {query.date_type!r}."
        raise BadRequest(msg, "Ask for pdat, or ask PubMed.")
    return _day(query.min_date, last=False), _day(query.max_date, last=True)


def _day(date: str, *, last: bool) -> str:
    if not date:
        return ""
    if not (match := _DATE.fullmatch(date)):
        raise BadRequest(f"{date!r} is no date.", "Write YYYY, YYYY/MM or YYYY/MM/DD.")
    year, month, day = (int(part or 0) for part in match.groups())
    month = month or (12 if last else 1)
    if not (year >= 1 and 1 <= month <= 12 and day <= 31):
        raise BadRequest(f"There is no day {date!r}.", "Write YYYY, YYYY/MM or YYYY/MM/DD.")
    longest = calendar.monthrange(year, month)[1]
    day = min(day, longest) or (longest if last else 1)
    return f"{year:04d}-{month:02d}-{day:02d}"
