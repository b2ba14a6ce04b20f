"""Fixtures of the mirror's tests."""

import pytest

from tests.databases import postgresql
from tests.mirror.small_mirror import RICH, Counting, article, mirror_of, updated, year
from tests.world.pubmed_files import name_of, packed

__all__ = ["postgresql"]


@pytest.fixture
def embedder(monkeypatch):
    """The embedder of a mirror, whatever the settings name: it says which texts it was given."""
    from utils.mirror import embedding

    made = Counting()
    monkeypatch.setattr(embedding, "make_embedder", lambda _: made)
    return made


@pytest.fixture
def mirror(world, tmp_path):
    """A mirror whose papers have words to be found by."""
    world.bulk = year()
    world.bulk.baseline[name_of(26, 2)] = packed(
        [article(5, "Corals bleach"), article(6, "Of β-catenin and IL-6"), article(7), RICH]
    )
    made = mirror_of(world, tmp_path)
    updated(made)
    return made
