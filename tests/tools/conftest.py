"""The library whose tools are called: with the toolsets that a module names in ``TOOLSETS``."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from utils import Library


@pytest.fixture
def library(request: pytest.FixtureRequest, settings: dict[str, Any]) -> Iterator[Library]:
    """A library with an empty shelf in the stand-in internet."""
    library = Library(**settings, mcp_toolsets=getattr(request.module, "TOOLSETS", ("core",)))
    yield library
    for thread in threading.enumerate():  # one left behind would move the next test's clock
        if thread.name.startswith("harvest "):
            thread.join(30)
    library.shelf.close()
