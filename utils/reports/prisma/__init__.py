"""The PRISMA 2020 flow diagram: one model of the flow, several drawings of it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ...system.safe_files import write_file
from .counts import numbers_of, with_file, with_told
from .flow import NAMES, TO_FILL, Box, Count, Flow, Numbers, flow, mismatches
from .r_table import r_table
from .svg import svg

__all__ = [
    "DRAWINGS",
    "NAMES",
    "TO_FILL",
    "Box",
    "Count",
    "Flow",
    "Numbers",
    "flow",
    "mismatches",
    "numbers_of",
    "r_table",
    "svg",
    "with_file",
    "with_told",
    "write",
]

DRAWINGS = ("png", "pptx")
"""Kinds of drawing besides the SVG; their packages are those of the extra ``figures``."""


def write(flow: Flow, folder: Path, title: str = "", drawings: Iterable[str] = ()) -> list[Path]:
    """Write ``prisma.svg`` and ``prisma.csv``, and ``prisma.png`` or ``.pptx`` where asked for.

    Raises
    ------
    NotConfigured
        What draws a kind is not installed.
    StoreFailed
        The disk refuses.
    """
    made = {"svg": svg(flow, title).encode("utf-8", "replace"), "csv": r_table(flow).encode()}
    for kind in drawings:
        made[kind] = _drawn(flow, title, kind)
    for kind, content in made.items():
        path = folder / f"prisma.{kind}"
        if not path.exists() or path.read_bytes() != content:
            write_file(path, content)
    return [folder / f"prisma.{kind}" for kind in made]


def _drawn(flow: Flow, title: str, kind: str) -> bytes:
    if kind == "png":
        from .png import png

        return png(flow)
    from .pptx import pptx

    return pptx(flow, title)
