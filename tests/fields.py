"""Fixtures of a world with many papers, for modules that say how many in ``FIELD``.

A folder's ``conftest.py`` takes them in.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.harvests import library_of
from tests.world import World
from utils import Library


@pytest.fixture(scope="module")
def _field(request: pytest.FixtureRequest) -> Iterator[World]:
    with World(field=request.module.FIELD) as world:
        yield world


@pytest.fixture
def field(_field: World) -> World:
    """A world with ``FIELD`` papers more, calm and without memory."""
    _field.reset()
    return _field


@pytest.fixture
def far(field: World, tmp_path: Path) -> Iterator[Library]:
    """A library with an empty shelf in that world."""
    library = library_of(field, tmp_path)
    yield library
    library.shelf.close()
