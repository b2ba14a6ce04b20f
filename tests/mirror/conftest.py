"""Fixtures of the mirror's tests."""

from tests.databases import postgresql

__all__ = ["postgresql"]
