"""``yield`` in the shell: which route brought how much of a list, as a table and a figure."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from ..errors import BadRequest, NotFound
from ..system.signals import INTERRUPTED
from .commands import command
from .harvest_progress import watch
from .output import counted, leave, note, read_arguments, say, span

if TYPE_CHECKING:
    from ..harvest.jobs import Harvest
    from ..harvest.yields import Yields
    from ..library import Library
    from ..reports.yield_figures import GroupYield, RouteYield, YieldFigures

_GROUPS = 8  # of years and of publishers that are shown; all are in the table


def add(commands: Any) -> None:
    """Register the command."""
    asked = command(commands, "yield", _yield)
    asked.add_argument("what", nargs="*", help="identifiers, or files of them; - is stdin")
    asked.add_argument("--job", default="", help="of the papers of this harvest")
    asked.add_argument(
        "--ask-all", action="store_true", help="ask every route for every paper, also after a text"
    )


def _yield(args: argparse.Namespace, library: Library) -> int:
    found = _open(args, library)
    if found.survey:
        _ask(found.survey, args)
    figures = found.figures()
    curve = found.write()
    if args.json:
        say({"title": found.title, **figures.row(), "figure": str(curve)}, as_json=True)
        return 0
    say(yield_text(figures))
    if not figures.known:
        note("No harvest of this shelf asked for any of them: server.py harvest …, or --ask-all")
    say(f"  figure: {curve}\n  tables beside it: yield.csv, yield_groups.csv, yields_papers.csv")
    return 0


def _open(args: argparse.Namespace, library: Library) -> Yields:
    if args.ask_all:
        library.settings.require_email("NCBI")  # before there is a job that cannot begin
    if args.job:
        if args.what:
            raise BadRequest("A list and --job exclude each other.", "Give one of them.")
        try:
            return library.yields(job_id=args.job, ask_all=args.ask_all)
        except NotFound as error:
            raise BadRequest(error.message, error.hint) from None
    request = read_arguments(args.what)
    if request.query:
        msg = f"{request.query!r} is no identifier and no file: a yield is of papers."
        raise BadRequest(msg, "Harvest the query, then: server.py yield --job JOB")
    return library.yields(request.entries, ask_all=args.ask_all, title=request.title)


def _ask(survey: Harvest, args: argparse.Namespace) -> None:
    survey.go_on()
    counts = survey.job().counts
    done = counts.requested - counts.pending
    so_far = f", {done:,} of them done already" if done else ""
    note(
        f"Asking every route for {counted(counts.requested, 'paper')}{so_far}: {survey.job_id}. "
        "What the shelf holds stays as it is."
    )
    try:
        watch(survey, plain=args.json)
    except KeyboardInterrupt:
        note("\nInterrupted: what was answered stays. Run the same command to go on.")
        leave(INTERRUPTED)


def yield_text(figures: YieldFigures) -> str:
    """The yield of a list in words and columns."""
    head = f"{counted(figures.total, 'paper')}, {figures.with_text:,} with full text"
    lines = [head]
    if unknown := figures.total - figures.known:
        lines.append(f"  {unknown:,} of them no harvest of this shelf asked for")
    if untold := figures.known - figures.complete:
        lines.append(f"  {untold:,} were not asked for everywhere: --ask-all does")
    names = ("new", "alone", "better", "so far", "asked", "requests", "time")
    lines += ["", f"  {'route':<34}" + "".join(f"{name:>9}" for name in names)]
    lines += [_route_line(one) for one in figures.routes() if one.asked or one.had or one.key]
    lines += ["", *_losses(figures)]
    groups = figures.groups()
    for by, words in (("year", "year"), ("publisher", "publisher")):
        some = [one for one in groups if one.by == by]
        lines += ["", f"  {words:<34}{'papers':>9}{'texts':>9}  most of them from"]
        lines += [_group_line(one, figures) for one in some[:_GROUPS]]
        if len(some) > _GROUPS:
            lines.append(f"  … and {len(some) - _GROUPS:,} more, in yield_groups.csv")
    return "\n".join(lines)


def _route_line(one: RouteYield) -> str:
    if not (one.has_key or one.asked or one.had):
        return f"  {one.label:<34}     not asked: needs {one.key.upper()}"
    cells = (
        f"{one.first:,}",
        "?" if one.only is None else f"{one.only:,}",
        f"{one.better:,}",
        f"{one.cumulative:,}",
        f"{one.asked:,}",
        f"{one.requests:,.0f}" if one.measured else "?",
        span(one.seconds) if one.measured else "?",
    )
    return f"  {one.label:<34}" + "".join(f"{cell:>9}" for cell in cells)


def _losses(figures: YieldFigures) -> list[str]:
    """What would be missing without the reader's keys."""
    at_most = "" if figures.all_asked else "at most "
    return [
        f"  without {key if ' ' in key else key.upper()}: {at_most}{counted(number, 'text')} fewer"
        for key, number in figures.lost_without().items()
    ] or ["  no route that needs a key was asked"]


def _group_line(one: GroupYield, figures: YieldFigures) -> str:
    labels = {route.via: route.label for route in figures.routes()}
    most = max(one.first, key=lambda via: one.first[via], default="")
    best = f"{labels.get(most, most)} ({one.first[most]:,})" if most else ""
    return f"  {one.name[:34]:<34}{one.papers:>9,}{one.full_text:>9,}  {best}"
