"""Worlds to visit, each forgetful between two tests, and a clock that stands still."""

import time
from collections.abc import Iterator

import pytest

from tests.world import World
from tests.world.visits import Standstill


@pytest.fixture(scope="package")
def shared_world() -> Iterator[World]:
    with World() as world:
        yield world


@pytest.fixture
def world(shared_world: World) -> World:
    shared_world.reset()
    return shared_world


@pytest.fixture
def standstill(monkeypatch: pytest.MonkeyPatch) -> Standstill:
    stage = Standstill()
    monkeypatch.setattr(time, "time", stage.time)
    return stage


@pytest.fixture(scope="package")
def shared_field() -> Iterator[World]:
    with World(field=300) as world:
        yield world


@pytest.fixture
def field_world(shared_field: World) -> World:
    shared_field.reset()
    return shared_field
