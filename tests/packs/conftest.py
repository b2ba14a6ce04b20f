"""A shelf of its own for each test of packs."""

from pathlib import Path

import pytest

from utils.shelf import Shelf


@pytest.fixture
def shelf(tmp_path: Path):
    with Shelf(tmp_path / "papers", keep_pdfs=True) as made:
        yield made
