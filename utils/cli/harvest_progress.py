"""Show a harvest's progress: a bar in a terminal, or a line now and then elsewhere."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from ..system.process import is_colour_allowed
from ..system.progress_display import LINE
from .output import format_duration, make_console, pluralize, print_note

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from ..harvest.jobs import Harvest
    from ..harvest.run_status import Progress
    from ..model.job import JobCounts, SiteWait

_LINE_INTERVAL_S = 10.0
_OUTCOME_LABELS = {
    "full_text": "full text",
    "abstract": "abstract only",
    "record": "record only",
    "failed": "failed",
}
_QUEUES_WITHOUT_SITE = ("again",)  # no site: papers about to come back to one
_BAR_MAX_CHARS = 60
_MAX_NAMED_SITES = 3  # sites that are named on the screen
_COLOUR_BY_OUTCOME = {
    "full_text": "green",
    "abstract": "yellow",
    "record": "magenta",
    "failed": "red",
}


def watch_harvest(harvest: Harvest, *, as_lines: bool = False) -> None:
    """Run a harvest and show its progress on stderr."""
    if not as_lines and LINE.is_visible() and is_colour_allowed():
        _show_bar(harvest, make_console(stderr=True))
        return
    _print_lines(harvest)


def _print_lines(harvest: Harvest) -> None:
    shown = time.monotonic()
    announced: set[tuple[str, str]] = set()
    for progress in harvest:
        for wait in progress.job.waits:
            if (wait.site, wait.since) not in announced:
                announced.add((wait.site, wait.since))
                print_note(f"{_describe_wait(wait)}.")
        if time.monotonic() - shown >= _LINE_INTERVAL_S:
            shown = time.monotonic()
            counts = progress.job.counts
            done = counts.requested - counts.pending
            outcomes = f"{describe_outcomes(counts)}{_describe_speed(progress)}"
            now = f"{done:,} of {counts.requested:,}: {outcomes}"
            print_note(f"{now}; {_describe_queues(progress)}".rstrip("; "))


def describe_outcomes(counts: JobCounts) -> str:
    """Return the number of papers with each outcome, in words."""
    return ", ".join(
        f"{getattr(counts, name):,} {words}" for name, words in _OUTCOME_LABELS.items()
    )


def _show_bar(harvest: Harvest, console: Console) -> None:
    from rich.live import Live

    with LINE.pause_display(), Live(console=console, refresh_per_second=4, transient=True) as live:
        for progress in harvest:
            live.update(draw_progress(progress, console.width, console.encoding))


def draw_progress(progress: Progress, width: int, encoding: str = "utf-8") -> Text:
    """Return the bar for a terminal, with a part for every outcome, and the counts below."""
    from rich.text import Text

    counts = progress.job.counts
    done = counts.requested - counts.pending
    space = min(_BAR_MAX_CHARS, width)
    unicode = encoding.startswith("utf")
    sign, rest = ("━", "─") if unicode else ("#", "-")
    bar, outcomes, length = Text(), Text(), 0
    for name, words in _OUTCOME_LABELS.items():
        number = getattr(counts, name)
        if name == "record" and not number:
            continue  # few harvests have any, and a line is short
        stretch = round(space * number / max(1, counts.requested))
        bar.append(sign * min(stretch, space - length), style=_COLOUR_BY_OUTCOME[name])
        length = min(space, length + stretch)
        outcomes.append(f"{number:,} {words}  ", style=_COLOUR_BY_OUTCOME[name])
    bar.append(rest * (space - length), style="dim")
    share = f"{done / counts.requested:.0%}  " if counts.requested else ""
    head = Text(f"{share}{done:,} of {counts.requested:,}{_describe_speed(progress)}")
    lines = [bar, head, outcomes, Text(_describe_queues(progress), style="dim")]
    lines += [Text(reason, style="dim") for reason in _list_delays(progress)]
    for line in lines:
        line.truncate(width, overflow="ellipsis" if unicode else "crop")  # wrapping would smear
    return Text("\n").join(lines)


def _list_delays(progress: Progress) -> list[str]:
    """Return the reasons for a delay: sites that slow us down, texts waiting to be read."""
    waits = progress.job.waits
    reasons = [_describe_wait(wait) for wait in waits[:_MAX_NAMED_SITES]]
    if (more := len(waits) - _MAX_NAMED_SITES) > 0:
        reasons.append(f"{pluralize(more, 'more site')} that papers are waiting for")
    if progress.unread:
        texts = pluralize(progress.unread, "text")
        reasons.append(
            f"reading is the bottleneck: {texts} were downloaded faster than they can be read"
        )
    return reasons


def _describe_wait(wait: SiteWait) -> str:
    return str(wait) if wait.since else f"{wait}; the report is there already"


def _describe_queues(progress: Progress) -> str:
    """Return the queues in which papers wait, longest first."""
    sites = sorted((progress.waiting or {}).items(), key=lambda site: -site[1])
    parts = [f"{name} {size:,}" for name, size in sites if name not in _QUEUES_WITHOUT_SITE]
    if progress.later and not progress.job.waits:
        parts.insert(0, f"{progress.later:,} for a site that is unavailable")
    return f"waiting: {', '.join(parts)}" if parts else ""


def _describe_speed(progress: Progress) -> str:
    if not progress.rate:
        return ""  # the time left is unknown until a paper ends
    speed = f", {progress.rate * 60:,.0f} a minute"
    return f"{speed}, {format_duration(progress.eta_s)} to go" if progress.eta_s else speed
