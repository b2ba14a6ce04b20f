from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.databases import database, database_url, postgresql
from utils.shelf import Shelf

__all__ = ["database", "database_url", "postgresql", "shelf"]


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    with Shelf(tmp_path / "shelf") as made:
        yield made
