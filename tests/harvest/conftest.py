"""Harvests in a world with a field of papers."""

from tests.fields import _field, far, field

__all__ = ["_field", "far", "field"]
