"""Show files and pages in the programs of the person's desktop."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from .output import print_note


def open_on_desktop(target: str) -> bool:
    """Open a file or a web address in the desktop's program; report a failure.

    The target is an argument of that program: no shell reads it. Returns whether it was opened.
    """
    import webbrowser

    address = target if target.startswith("https://") else Path(target).absolute().as_uri()
    if _has_display() and webbrowser.open(address):
        return True
    print_note(f"There is no display here, or no program for it. Open it yourself: {target}")
    return False


def _has_display() -> bool:
    """Return whether windows can be shown; without a display, a browser would fill the terminal."""
    if sys.platform in ("win32", "darwin"):
        return True
    names = ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")
    return any(os.environ.get(name) for name in names)  # noqa: TID251 - the desktop's, no setting
