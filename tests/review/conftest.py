"""Reviews in a world with a field of papers."""

import pytest

from tests.fields import _field, far, field
from utils import Library

__all__ = ["_field", "far", "field"]


@pytest.fixture
def library(far: Library) -> Library:
    """A library with an empty shelf in that world."""
    return far
