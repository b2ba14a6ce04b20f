"""Describe a harvest plan: papers, time, requests and disk space."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from .output import format_duration, pluralize

if TYPE_CHECKING:
    from ..harvest.plan import MediaSpace, PdfLoad, Plan


def describe_media_space(space: MediaSpace, kinds: str, most_mb: int) -> str:
    """Return the disk space of objects in words."""
    files = f" in {pluralize(space.files, 'file')}" if space.files else ""
    return (
        f"{kinds} of {pluralize(space.papers, 'paper')} in PMC: about "
        f"{math.ceil(space.size / 1e6):,} MB{files}, the largest {space.largest / 1e6:,.1f} MB a "
        f"paper (judged by {space.basis}); never more than {most_mb:,} MB a paper (--max-mb)"
    )


def describe_pdfs(pdfs: PdfLoad) -> str:
    """Return the requests and the disk space of PDFs in words."""
    return (
        f"PDFs of {pluralize(pdfs.papers, 'paper')}: about {pdfs.requests:,} more requests and "
        f"{math.ceil(pdfs.size / 1e6):,} MB (1.5 MB each)"
    )


def describe_plan(plan: Plan) -> str:
    """Return a plan in words."""
    already = f", {plan.held:,} more are on the shelf in full text already" if plan.held else ""
    lines = [
        f"{pluralize(plan.papers, 'paper')} to download{already}",
        f"  in PMC {plan.in_pmc:,}, free {plan.free:,}, with abstract {plan.with_abstract:,}",
        f"  expected full texts: about {plan.full_text:,}",
        f"  time at the sites' rate limits: about {format_duration(plan.seconds)}",
        f"  disk space: about {math.ceil(plan.size / 1e6):,} MB",
    ]
    if plan.hosts:
        lines += ["", f"  {'site':<20}{'requests':>10}{'time':>12}"]
    lines += [
        f"  {host.host:<20}{host.requests:>10,}{format_duration(host.seconds):>12}"
        for host in plan.hosts
    ]
    lines += [f"  note: {note}" for note in plan.notes]
    return "\n".join(lines)
