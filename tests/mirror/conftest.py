"""Fixtures of the mirror's tests."""

import pytest

from tests.databases import postgresql
from tests.mirror.small_mirror import Counting

__all__ = ["postgresql"]


@pytest.fixture
def embedder(monkeypatch):
    """The embedder of a mirror, whatever the settings name: it says which texts it was given."""
    from utils.mirror import embedding

    made = Counting()
    monkeypatch.setattr(embedding, "embedder_of", lambda _: made)
    return made
