"""A desk on a shelf, asked by Starlette's test client as a browser would ask it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.shelf.papers import document, fetched, paper
from utils import Library
from utils.desk.access import Access
from utils.desk.application import build_application

PORT = 8765
ORIGIN = f"http://127.0.0.1:{PORT}"


class Browser:
    """A browser with one window on a desk."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self.access = Access(PORT)
        application = build_application(library, self.access)
        self.desk = application.state.desk
        self.client = TestClient(application, base_url=ORIGIN, follow_redirects=True)

    @property
    def csrf(self) -> str:
        """The token of the forms."""
        return self.access.sessions[0].csrf

    def enter(self) -> Browser:
        """Open the first address."""
        assert self.client.get("/", params={"token": self.access.token}).status_code == 200
        return self

    def get(self, path: str, **values: Any) -> Any:
        return self.client.get(path, params=values or None)

    def post(self, path: str, **form: Any) -> Any:
        data = {"csrf": self.csrf, **form}
        return self.client.post(path, data=data, headers={"origin": ORIGIN})


@pytest.fixture
def shelf_library(tmp_path) -> Iterator[Library]:
    """A library whose shelf is empty, and which asks nobody."""
    with Library(papers_dir=tmp_path / "papers", papers_offline=True) as library:
        yield library


@pytest.fixture
def browser(shelf_library: Library) -> Browser:
    return Browser(shelf_library).enter()


@pytest.fixture
def save(shelf_library: Library):
    """Put a paper with a text on the shelf."""

    def save_paper(markdown: str, *, title: str = "On cells", **ids: str) -> Any:
        record = replace(paper(**ids), title=title)
        read, sent = document(markdown), fetched(media="html")
        return shelf_library.shelf.save_full_text(record, read, sent, source="PMC", attempts=())

    return save_paper
