"""The library and the world of the reviews' tests."""

from tests.review.conftest import _field, far, field, library

__all__ = ["_field", "far", "field", "library"]
