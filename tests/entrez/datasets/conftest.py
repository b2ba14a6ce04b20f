"""One dataset of genes for all tests that only read, and no process left over."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.entrez.datasets.small_datasets import dataset
from utils.entrez.datasets import sql_query


@pytest.fixture(scope="session")
def genes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A dataset of forty genes; it must not be written to."""
    yield dataset(tmp_path_factory.mktemp("datasets"))
    sql_query.stop_idle_processes()
