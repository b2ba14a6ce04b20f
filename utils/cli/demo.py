"""The demo: a harvest from a small internet of invented papers, which this process serves itself.

It needs no network, key or e-mail address. The papers are fetched by the real pipeline at the
polite rates.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ..demo.internet import Internet
from ..library import Library
from ..reports.labels import get_missing_reason
from ..settings import Settings
from .output import supports_unicode

if TYPE_CHECKING:
    from ..harvest.jobs import Harvest

_LADDER_SOURCES = ("pmc", "publisher", "jina")
_NAME_BY_SITE = {"efetch": "PubMed Central", "publisher": "publisher's page", "jina": "Jina Reader"}
_COLUMNS_PER_PAPER = 5  # columns for a paper


@contextmanager
def open_demo() -> Iterator[tuple[Library, Internet]]:
    """Yield a library in a temporary folder, and the small internet that it asks."""
    folder = Path(tempfile.mkdtemp(prefix="papershelf-demo-"))
    with Internet() as internet:
        yield Library(_build_settings(folder, internet)), internet


def _build_settings(folder: Path, internet: Internet) -> Settings:
    """Return the demo's settings: it takes neither keys nor `offline` from the environment."""
    own = {
        "papers_dir": folder / "papers",
        "papers_pace_dir": folder / "pace",
        "papers_sources": _LADDER_SOURCES,
    }
    return Settings.model_construct(**internet.settings() | own)  # type: ignore[arg-type]


def repeat_download(harvest: Harvest, library: Library, internet: Internet) -> str:
    """Download a paper of the harvest again; return a sentence with the number of requests."""
    row = next((row for row in harvest.ledger.read_outcomes() if row.state == "full_text"), None)
    if row is None:
        return ""
    before = internet.answered
    title = library.download(row.paper.ids).stored.paper.title
    return (
        f"{title}\n  requested again: found on the shelf, {internet.answered - before} "
        "requests sent"
    )


def draw_outcome_bars(harvest: Harvest) -> list[str]:
    """Return a line with a bar for each route that led to a text, and each reason for none."""
    coverage = harvest.ledger.count_coverage()
    sign = "█" if supports_unicode() else "#"
    counts = {_NAME_BY_SITE.get(via, via): number for via, number in coverage.sources.items()}
    for reason, number in coverage.reasons.items():
        counts[f"no text: {get_missing_reason(reason).name}"] = number
    width = max(map(len, counts), default=0)
    return [
        f"  {name:<{width}}  {sign * _COLUMNS_PER_PAPER * number} {number}"
        for name, number in counts.items()
    ]
