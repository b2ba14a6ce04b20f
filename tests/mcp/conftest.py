"""The library whose tools are called: with the toolsets that a module names in ``TOOLSETS``."""

from collections.abc import Iterator
from typing import Any

import pytest

from utils import Library


@pytest.fixture
def library(request: pytest.FixtureRequest, settings: dict[str, Any]) -> Iterator[Library]:
    """A library with an empty shelf in the stand-in internet."""
    library = Library(**settings, mcp_toolsets=getattr(request.module, "TOOLSETS", ("core",)))
    yield library
    library.shelf.close()
