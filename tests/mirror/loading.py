"""Fixtures of tests that load a mirror into the stores of many users."""

from __future__ import annotations

import contextlib
import secrets

import pytest

from utils import Library
from utils.errors import StoreFailed


@pytest.fixture
def url(postgresql):
    import psycopg

    name = f"mirror_{secrets.token_hex(6)}"
    with psycopg.connect(postgresql, autocommit=True) as server:
        server.execute(f'CREATE DATABASE "{name}"')
        yield postgresql.replace("/postgres?", f"/{name}?")
        server.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


@pytest.fixture
def open_library(mirror, tmp_path, embedder):
    made = []

    def opened(**settings):
        places = {"papers_dir": tmp_path / "papers", "papers_mirror_dir": mirror.folder}
        library = Library(**places, papers_offline=True, **settings)
        library.corpus.__dict__["embedder"] = embedder
        made.append(library)
        return library

    yield opened
    for library in made:
        with contextlib.suppress(StoreFailed):
            library.corpus.database.close()
        library.mirrored.close()


@pytest.fixture
def library(open_library, url):
    """One that loads and asks PostgreSQL."""
    return open_library(database_url=url, papers_mirror_store="database")


@pytest.fixture
def weaviate():
    from tests.passages.weaviate_stand_in import StandIn

    with StandIn(key="not-for-your-eyes") as running:
        yield running


@pytest.fixture
def at_weaviate(open_library, url, weaviate):
    """One that loads and asks Weaviate, too."""
    made = open_library(
        database_url=url,
        papers_mirror_store="database",
        vector_store="weaviate",
        weaviate_url=weaviate.url,
        weaviate_api_key=weaviate.key,
    )
    yield made
    made.mirrored.close()


def loaded(library):
    return [*library.mirrored.load()][-1]
