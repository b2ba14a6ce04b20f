from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from utils.store import Shelf


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    with Shelf(tmp_path / "shelf") as made:
        yield made
