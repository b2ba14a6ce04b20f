"""The PRISMA 2020 flow diagram: one model of the flow, several drawings of it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ...system.safe_files import write_file
from .counts import count_harvest_numbers, merge_numbers_file, merge_reviewers_numbers
from .flow import (
    NUMBER_NAMES,
    TO_FILL,
    BoxCount,
    FlowBox,
    PrismaFlow,
    PrismaNumbers,
    build_prisma_flow,
    describe_mismatches,
)
from .r_table import render_r_table
from .svg import render_svg

__all__ = [
    "DRAWINGS",
    "NUMBER_NAMES",
    "TO_FILL",
    "BoxCount",
    "FlowBox",
    "PrismaFlow",
    "PrismaNumbers",
    "build_prisma_flow",
    "count_harvest_numbers",
    "describe_mismatches",
    "merge_numbers_file",
    "merge_reviewers_numbers",
    "render_r_table",
    "render_svg",
    "write_flow",
]

DRAWINGS = ("png", "pptx")
"""Drawing formats in addition to SVG; they need the extra ``figures``."""


def write_flow(
    flow: PrismaFlow, folder: Path, title: str = "", drawings: Iterable[str] = ()
) -> list[Path]:
    """Write ``prisma.svg`` and ``prisma.csv``, and ``prisma.png`` or ``.pptx`` if requested.

    Raises
    ------
    NotConfigured
        The package that draws a format is not installed.
    StoreFailed
        A file cannot be written.
    """
    made = {
        "svg": render_svg(flow, title).encode("utf-8", "replace"),
        "csv": render_r_table(flow).encode(),
    }
    for kind in drawings:
        made[kind] = _render_drawing(flow, title, kind)
    for kind, content in made.items():
        path = folder / f"prisma.{kind}"
        if not path.exists() or path.read_bytes() != content:
            write_file(path, content)
    return [folder / f"prisma.{kind}" for kind in made]


def _render_drawing(flow: PrismaFlow, title: str, kind: str) -> bytes:
    if kind == "png":
        from .png import render_png

        return render_png(flow)
    from .pptx import render_pptx

    return render_pptx(flow, title)
