"""What a harvest would take, in words: papers, time, requests, room."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from .output import counted, span

if TYPE_CHECKING:
    from ..harvest.media_space import MediaSpace
    from ..harvest.plan import Plan


def space_text(space: MediaSpace, kinds: str, most_mb: int) -> str:
    """The room that objects take, in words."""
    files = f" in {counted(space.files, 'file')}" if space.files else ""
    return (
        f"{kinds} of {counted(space.papers, 'paper')} in PMC: about "
        f"{math.ceil(space.size / 1e6):,} MB{files}, the largest {space.largest / 1e6:,.1f} MB a "
        f"paper (judged by {space.basis}); never more than {most_mb:,} MB a paper (--most-mb)"
    )


def plan_text(plan: Plan) -> str:
    """A plan in words."""
    already = f", {plan.held:,} more are on the shelf in full text already" if plan.held else ""
    lines = [
        f"{counted(plan.papers, 'paper')} to get{already}",
        f"  in PMC {plan.in_pmc:,}, free {plan.free:,}, with abstract {plan.with_abstract:,}",
        f"  full texts to expect: {_range(plan.full_text)}",
        f"  time at polite rates: {_range(plan.seconds, span)}",
        f"  disk space: up to about {math.ceil(plan.size / 1e6):,} MB",
    ]
    if plan.hosts:
        lines += ["", f"  {'site':<12}{'requests':>18}{'time':>20}"]
    lines += [
        f"  {host.host:<12}{_range(host.requests):>18}{_range(host.seconds, span):>20}"
        for host in plan.hosts
    ]
    lines += [f"  note: {note}" for note in plan.notes]
    return "\n".join(lines)


def _range(pair: tuple[float, float], spelled: Callable[[float], str] = "{:,}".format) -> str:
    """A range in words; one value where both ends are the same.

    >>> _range((3, 3)), _range((40.0, 600.0), span)
    ('3', '40 s to 10 min')
    """
    least, most = map(spelled, pair)
    return least if least == most else f"{least} to {most}"
