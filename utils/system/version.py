"""Papershelf's version, and the checkout that it may run from."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
IN_CHECKOUT = (ROOT / "server.py").exists()


@cache
def version() -> str:
    """Return the version of Papershelf; in a checkout, the one that its pyproject.toml names."""
    if IN_CHECKOUT:
        text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
        found = re.search(r'^version = "(.+)"', text, re.M)
        return found[1] if found else "0"
    from importlib import metadata

    return metadata.version("papershelf")
