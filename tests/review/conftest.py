"""Reviews in a world with a field of papers."""

import pytest

from tests.fields import _field, far, field
from tests.review.living import with_included
from utils import Library
from utils.review import Review

__all__ = ["_field", "far", "field"]


@pytest.fixture
def library(far: Library) -> Library:
    """A library with an empty shelf in that world."""
    return far


@pytest.fixture
def included(library: Library) -> Review:
    """A review with two included reports, whose citations were searched."""
    return with_included(library)
