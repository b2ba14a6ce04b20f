"""How far a harvest is: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from .output import counted, note, span
from .progress import LINE

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from ..harvest.jobs import Harvest
    from ..harvest.run_status import Progress
    from ..model.job import Counts, SiteWait

_EVERY_S = 10.0
_NAMES = {
    "full_text": "full text",
    "abstract": "abstract only",
    "record": "record only",
    "failed": "failed",
}
_BETWEEN = ("again",)  # no site: papers about to come back to one
_WIDEST = 60
_WAITS = 3  # sites that are named on the screen
_COLOURS = {"full_text": "green", "abstract": "yellow", "record": "magenta", "failed": "red"}


def watch(harvest: Harvest, *, plain: bool = False) -> None:
    """Go through a harvest and show how far it is, on stderr."""
    if not plain and LINE.is_watched():
        from rich.console import Console

        console = Console(stderr=True)
        if not console.is_dumb_terminal:
            _bar(harvest, console)
            return
    _lines(harvest)


def _lines(harvest: Harvest) -> None:
    shown = time.monotonic()
    announced: set[tuple[str, str]] = set()
    for progress in harvest:
        for wait in progress.job.waits:
            if (wait.site, wait.since) not in announced:
                announced.add((wait.site, wait.since))
                note(f"{_wait_text(wait)}.")
        if time.monotonic() - shown >= _EVERY_S:
            shown = time.monotonic()
            counts = progress.job.counts
            done = counts.requested - counts.pending
            now = f"{done:,} of {counts.requested:,}: {outcomes_text(counts)}{_eta(progress)}"
            note(f"{now}; {_queues(progress)}".rstrip("; "))


def outcomes_text(counts: Counts) -> str:
    """How many papers came to each outcome, in words."""
    return ", ".join(f"{getattr(counts, name):,} {words}" for name, words in _NAMES.items())


def _bar(harvest: Harvest, console: Console) -> None:
    from rich.live import Live

    with LINE.paused(), Live(console=console, refresh_per_second=4, transient=True) as live:
        for progress in harvest:
            live.update(picture(progress, console.width, console.encoding))


def picture(progress: Progress, width: int, encoding: str = "utf-8") -> Text:
    """The bar for a terminal, with a stretch for every outcome, and the counts below it."""
    from rich.text import Text

    counts = progress.job.counts
    done = counts.requested - counts.pending
    space = min(_WIDEST, width)
    unicode = encoding.startswith("utf")
    sign, rest = ("━", "─") if unicode else ("#", "-")
    bar, outcomes, length = Text(), Text(), 0
    for name, words in _NAMES.items():
        number = getattr(counts, name)
        if name == "record" and not number:
            continue  # few harvests have any, and a line is short
        stretch = round(space * number / max(1, counts.requested))
        bar.append(sign * min(stretch, space - length), style=_COLOURS[name])
        length = min(space, length + stretch)
        outcomes.append(f"{number:,} {words}  ", style=_COLOURS[name])
    bar.append(rest * (space - length), style="dim")
    share = f"{done / counts.requested:.0%}  " if counts.requested else ""
    head = Text(f"{share}{done:,} of {counts.requested:,}{_eta(progress)}")
    lines = [bar, head, outcomes, Text(_queues(progress), style="dim")]
    lines += [Text(reason, style="dim") for reason in _reasons_to_wait(progress)]
    for line in lines:
        line.truncate(width, overflow="ellipsis" if unicode else "crop")  # wrapping would smear
    return Text("\n").join(lines)


def _reasons_to_wait(progress: Progress) -> list[str]:
    """Why it takes so long: sites that made us wait, texts waiting to be read."""
    waits = progress.job.waits
    reasons = [_wait_text(wait) for wait in waits[:_WAITS]]
    if (more := len(waits) - _WAITS) > 0:
        reasons.append(f"{counted(more, 'more site')} that papers wait for")
    if progress.unread:
        texts = counted(progress.unread, "text")
        reasons.append(f"reading is what takes the time: {texts} came faster than they can be read")
    return reasons


def _wait_text(wait: SiteWait) -> str:
    return str(wait) if wait.since else f"{wait}; the report is there already"


def _queues(progress: Progress) -> str:
    """Where papers wait, the longest queue first."""
    sites = sorted((progress.waiting or {}).items(), key=lambda site: -site[1])
    parts = [f"{name} {size:,}" for name, size in sites if name not in _BETWEEN]
    if progress.later and not progress.job.waits:
        parts.insert(0, f"{progress.later:,} for a site that is out")
    return f"waiting: {', '.join(parts)}" if parts else ""


def _eta(progress: Progress) -> str:
    if not progress.rate:
        return ""  # the time left is unknown until a paper ends
    speed = f", {progress.rate * 60:,.0f} a minute"
    return f"{speed}, {span(progress.eta_s)} to go" if progress.eta_s else speed
