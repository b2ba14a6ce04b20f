"""What somebody sees who watches a harvest: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..plain_text import one_line
from .speaking import note

if TYPE_CHECKING:
    from rich.console import Group

    from ..bulk_harvest import Progress
    from ..harvest_jobs import Harvest
    from ..harvest_plan import Plan

_EVERY_S = 10.0
_NAMES = {"full_text": "full text", "abstract": "abstract only", "failed": "failed"}
_COLOURS = {"full_text": "green", "abstract": "yellow", "failed": "red"}


def watch(harvest: Harvest, *, plain: bool = False) -> None:
    """Go through a harvest and show how far it is, on stderr."""
    if plain or not sys.stderr.isatty():
        _lines(harvest)
    else:
        _bar(harvest)


def _lines(harvest: Harvest) -> None:
    shown = time.monotonic()
    for progress in harvest:
        if time.monotonic() - shown >= _EVERY_S:
            shown = time.monotonic()
            counts = progress.job.counts
            done = counts.requested - counts.pending
            note(
                f"{done:,} of {counts.requested:,}: {counts.full_text:,} full text, "
                f"{counts.abstract:,} abstract only, {counts.failed:,} failed{_eta(progress)}"
            )


def _bar(harvest: Harvest) -> None:
    from rich.console import Console
    from rich.live import Live

    with Live(console=Console(stderr=True), refresh_per_second=4, transient=True) as live:
        for progress in harvest:
            live.update(_picture(progress))


def _picture(progress: Progress) -> Group:
    from rich.console import Group
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    counts = progress.job.counts
    done = counts.requested - counts.pending
    head = Table.grid(padding=(0, 2))
    share = f"{done / counts.requested:.0%}" if counts.requested else ""
    bar = ProgressBar(total=max(1, counts.requested), completed=done, width=40)
    head.add_row(bar, share, f"{done:,} of {counts.requested:,}", _eta(progress).strip(", "))
    told = Text("  ").join(
        Text(f"{getattr(counts, name):,} {words}", style=_COLOURS[name])
        for name, words in _NAMES.items()
    )
    sites = ", ".join(f"{name} {size:,}" for name, size in (progress.waiting or {}).items())
    later = f"; {progress.later:,} wait for a site that is out" if progress.later else ""
    return Group(head, told, Text(f"waiting at: {sites or 'nobody'}{later}", style="dim"))


def _eta(progress: Progress) -> str:
    speed = f", {progress.rate * 60:,.0f} a minute" if progress.rate else ""
    return f"{speed}, {span(progress.eta_s)} to go" if progress.eta_s else speed


def span(seconds: float) -> str:
    """A stretch of time in words.

    >>> span(42), span(600), span(9000), span(3 * 86400)
    ('42 s', '10 min', '2.5 h', '3.0 days')
    """
    if seconds < 100:
        return f"{seconds:.0f} s"
    if seconds < 6000:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h" if seconds < 2 * 86400 else f"{seconds / 86400:.1f} days"


def plan_text(plan: Plan) -> str:
    """A plan as a person reads it."""
    least, most = plan.full_text
    lines = [
        f"{plan.papers:,} papers to get"
        + (f", {plan.held:,} more are on the shelf in full text already" if plan.held else ""),
        f"  in PMC {plan.in_pmc:,}, free {plan.free:,}, with abstract {plan.with_abstract:,}",
        f"  full texts to expect: {least:,} to {most:,}",
        f"  time at polite rates: about {span(plan.seconds)}",
        f"  disk space: about {plan.size / 1e6:,.0f} MB",
        "",
        f"  {'site':<14}{'requests':>10}{'time':>10}",
    ]
    lines += [
        f"  {host.host:<14}{host.requests:>10,}{span(host.seconds):>10}" for host in plan.hosts
    ]
    return "\n".join([*lines, *(f"  note: {remark}" for remark in plan.notes)])


def reasons_text(harvest: Harvest) -> Iterator[str]:
    """Why papers have no full text, the commonest first."""
    reasons = Counter(row.reason for row in harvest.ledger.rows() if row.reason)
    for reason, number in reasons.most_common():
        yield f"{number:>7,}  {one_line(reason).replace('_', ' ')}"
