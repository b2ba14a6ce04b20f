"""``review.html``: a systematic review on one page, with its figure, conflicts and news.

As the page of a harvest it loads nothing and holds no script; Jinja escapes every text from
outside.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from ..reports.page import styled
from ..reports.prisma import Flow, svg

SHOWN = 50
"""Rows of a table on the page; the files beside it have all of them."""
Row = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Shown:
    """What the page shows of a review.

    Parameters
    ----------
    headline : sequence of (str, int)
        The numbers at the top.
    searches : sequence of tuple
        Where, kind, query, day, records.
    conflicts : sequence of tuple
        Record, stage, screener, decision, reason; ``conflicting`` is how many records.
    changes : sequence of tuple
        Since the state that was published last, else of the last update: record, what happened,
        day, detail; ``happened`` is how many of each.
    published_at : str
        When it was published; empty where it never was.
    could_not_tell : sequence of str
        Who did not answer at the last update.
    unmatched : int
        Rows of decision files that are no record of the review.
    """

    name: str
    title: str
    question: str
    searched_at: str
    headline: Sequence[tuple[str, int]]
    searches: Sequence[Row]
    conflicts: Sequence[Row]
    conflicting: int
    changes: Sequence[Row]
    happened: Sequence[tuple[str, int]]
    published_at: str
    could_not_tell: Sequence[str]
    unmatched: int


def review_page(shown: Shown, flow: Flow) -> str:
    """The page."""
    # Ours, and escaped where it is made.
    return styled("review.html", review=shown, prisma=Markup(svg(flow, shown.title)))  # noqa: S704
