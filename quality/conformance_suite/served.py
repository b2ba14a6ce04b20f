"""Our HTTP server as the official conformance suite calls it.

The suite brings no token (its README names no way to), and sends in seconds what one caller may
send in half a minute. So a token is put into each request before it comes to our door, and this
one caller may call as often as it likes: behind that stands everything as in earnest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.endpoint import SECRET, Endpoint
from utils import Library
from utils.mcp import http
from utils.mcp.auth import DOWNLOAD_SCOPE, READ_SCOPE, make_token


class WithToken:
    """Gives each request without a token one."""

    def __init__(self, app: Any, library: Library) -> None:
        self._app = app
        token = make_token(library.settings, "conformance suite", (READ_SCOPE, DOWNLOAD_SCOPE), 1)
        self._header = (b"authorization", f"Bearer {token}".encode())

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http" and b"authorization" not in dict(scope["headers"]):
            scope = {**scope, "headers": [*scope["headers"], self._header]}
        await self._app(scope, receive, send)


@contextmanager
def served(
    folder: Path, opened: Callable[[Library, str], Any] = http.build_application
) -> Iterator[str]:
    """The address of a server with all our tools and an empty shelf in *folder*."""
    library = Library(
        papers_dir=folder / "papers",
        papers_pace_dir=folder / "pace",
        papers_offline=True,
        pubmed_email="reader@lab.edu",
        mcp_toolsets=("all",),
        mcp_auth_secret_key=SECRET,
    )
    usual, http.REQUESTS_PER_S = http.REQUESTS_PER_S, 1e6
    try:
        with Endpoint(library, lambda own, url: WithToken(opened(own, url), own)) as endpoint:
            yield endpoint.url
    finally:
        http.REQUESTS_PER_S = usual
        library.shelf.close()
