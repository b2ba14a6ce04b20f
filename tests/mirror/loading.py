"""Fixtures of tests that load a mirror into the stores of many users."""

from __future__ import annotations

import contextlib
import secrets

import pytest
from sqlalchemy import Connection

from utils import Library
from utils.errors import StoreFailed
from utils.model.passage import Filters


@pytest.fixture
def new_url(postgresql):
    """A function that gives an address of an empty database."""
    import psycopg

    made = []
    with psycopg.connect(postgresql, autocommit=True) as server:

        def new():
            made.append(f"mirror_{secrets.token_hex(6)}")
            server.execute(f'CREATE DATABASE "{made[-1]}"')
            return postgresql.replace("/postgres?", f"/{made[-1]}?")

        yield new
        for name in made:
            server.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


@pytest.fixture
def url(new_url):
    return new_url()


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


class Killed(BaseException):
    pass


def killed(library, monkeypatch, at):
    """Die at a statement of a load; whether there were so many."""

    def dying(function):
        def called(*args, **options):
            left[0] -= 1
            if left[0] == 0:
                raise Killed
            return function(*args, **options)

        return called

    left = [at]
    with monkeypatch.context() as patched:
        for name in ("execute", "exec_driver_sql"):
            patched.setattr(Connection, name, dying(getattr(Connection, name)))
        with contextlib.suppress(Killed):
            loaded(library)
    library.corpus.database.close()
    return left[0] <= 0


def paper_of_both(world):
    return next(
        one for one in world.papers if one.cloud and one.pmid and one.mesh and not one.notices
    )


def asked(record):
    """One question with each filter, and others."""
    heading = record.mesh[0].partition("/")[0].lstrip("*")
    year = int(record.year)
    return [
        *((question, Filters()) for question in (record.plain_title, "moss", "a table of growth")),
        *(
            (record.plain_title, Filters(**more))
            for more in (
                {"mesh": (heading,)},
                {"mesh": ("Fire",)},
                {"journal": record.journal.short},
                {"journal": record.journal.title},
                {"publication_types": record.types[:1]},
                {"year_from": year, "year_to": year},
                {"kind": "full_text"},
                {"kind": "abstract"},
                {"retracted": True},
                {"kind": "full_text", "mesh": (heading,), "year_to": 1800},
            )
        ),
    ]


def answers(library, questions, by):
    """The best text for a title, and the texts that are found where these are all.

    Which passage of a text is the best, and which of many that share one word, the fields decide,
    which each index weighs in its own way.
    """
    found = []
    for question, filters in questions:
        hits = library.mirrored.find(question, filters=filters, by=by, top_k=100).hits
        told = [(hit.passage.paper, hit.passage.file) for hit in hits]
        best = told[:1] if len(question.split()) > 4 else []
        found.append((question, filters, best, set(told) if len(told) < 100 else "many"))
    return found
