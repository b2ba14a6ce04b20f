"""The review board: a harvest at a glance, for a view inside a chat and for a model.

The same figures as the page of the report (`.page`) and the PRISMA diagram (`.prisma`), as rows:
what was found, where, what is missing and why, what to do next. Reasons and routes are bounded, so
that a board of thousands of papers costs a model no more than one of hundreds.
"""

from __future__ import annotations

from typing import Any

from markupsafe import Markup

from ..model.job import Harvested, Job
from . import prisma
from .charts import headline
from .coverage import Rows, page_of, paper_row
from .figures import STATES, Figures
from .labels import best_link, reason_for, route_label
from .library_links import ReadersLibrary
from .page import TEMPLATES, cut_line, next_steps, styled

_MOST = 12  # routes, and reasons
_TITLE = 160  # characters of a title
_DETAIL = 200
_SCRIPTS = ("bridge.js", "board.js", "review.js", "incoming.js")  # the last one begins


def board(
    job: Job,
    rows: Rows,
    library: ReadersLibrary,
    *,
    start: int = 0,
    most: int = 20,
) -> dict[str, Any]:
    """The board of a harvest.

    Parameters
    ----------
    job : Job
    rows : callable
        Its papers, as its ledger gives them.
    library : ReadersLibrary
        For the links to what is missing.
    start, most : int
        Which of the papers without a text are named as ``missing``: those from number *start* on;
        ``next_start`` goes on.
    """
    figures = Figures()
    for row in rows():
        figures.add(row)
    missing = page_of(rows, "not_retrieved", start=start, most=most)
    return {
        "title": cut_line(job.title, _TITLE),
        "headline": headline(figures),
        "counts": {state: figures.states[state] for state in STATES},
        "sources": _sources(figures),
        "reasons": _reasons(figures),
        "prisma": prisma_rows(prisma.flow(prisma.numbers_of(job, figures))),
        "missing": [_missing_row(row, library) for row in missing.rows],
        "next_start": missing.next_start,
        "steps": [step._asdict() for step in next_steps(job, figures)[:3]],
        "waits": [f"{wait}." for wait in job.waits],
    }


def view() -> str:
    """Return the page that shows a board inside a chat, without any data in it."""
    script = "\n".join((TEMPLATES / name).read_text("utf-8") for name in _SCRIPTS)
    # Ours, from the files beside the page.
    return styled("board.html", script=Markup(script))  # noqa: S704


def _sources(figures: Figures) -> list[dict[str, Any]]:
    """What each route was asked for and brought, the most fruitful first."""
    tried = sorted(
        figures.routes.items(), key=lambda item: (-figures.via[item[0]], -item[1].total(), item[0])
    )
    return [
        {"source": route_label(name), "asked": ends.total(), "full_text": figures.via[name]}
        for name, ends in tried[:_MOST]
    ]


def _reasons(figures: Figures) -> list[dict[str, Any]]:
    """Why papers have no text, the commonest first; what is left over is one row."""
    ordered = sorted(figures.reasons.items(), key=lambda item: (-item[1].total(), item[0]))
    made = [
        {"reason": reason.name, "papers": split.total(), "advice": reason.advice}
        for name, split in ordered[:_MOST]
        for reason in [reason_for(name)]
    ]
    if rest := sum(split.total() for _, split in ordered[_MOST:]):
        made.append({"reason": "Other reasons", "papers": rest, "advice": "See not_retrieved.csv."})
    return made


def prisma_rows(flow: prisma.Flow) -> list[dict[str, Any]]:
    """The numbers in reading order: what remains, and what leaves beside it."""
    return [
        {
            "title": count.words.rstrip("*"),
            "n": count.n,
            "left_out": box.column in ("removed", "other_removed"),
            "parts": [{"text": text, "n": n} for text, n in count.parts],
        }
        for box in flow.boxes
        for count in box.counts
    ]


def _missing_row(row: Harvested, library: ReadersLibrary) -> dict[str, Any]:
    return {
        **paper_row(row),
        "reason": reason_for(row.reason).name,
        "detail": cut_line(row.detail, _DETAIL),
        "link": library.link(row.paper) or best_link(row),
    }
