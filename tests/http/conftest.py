"""A site on loopback that behaves exactly as badly as a test tells it to."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from utils.http import Rate, Web
from utils.settings import Settings

Behaviour = Callable[["Visit"], None]


class Seen(NamedTuple):
    """What arrived."""

    path: str
    headers: Message
    sent: bytes
    client_address: tuple[str, int]


class Visit(BaseHTTPRequestHandler):
    """One request; a behaviour answers it."""

    protocol_version = "HTTP/1.1"
    server: Site

    def do_GET(self) -> None:
        sent = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.server.visits.append(Seen(self.path, self.headers, sent, self.client_address))
        self.server.behaviours[self.path.partition("?")[0]](self)

    do_POST = do_GET  # noqa: N815 - http.server's name

    def reply(self, body: bytes = b"", status: int = 200, **headers: str) -> None:
        self.send_response(status)
        for name, value in {"Content_Length": str(len(body)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def raw(self, data: bytes) -> None:
        """Send these bytes and hang up."""
        self.wfile.write(data)
        self.wfile.flush()
        self.close_connection = True

    def log_message(self, *_: Any) -> None:
        pass


class Site(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Visit)
        self.visits: list[Seen] = []
        self.behaviours: dict[str, Behaviour] = {}
        self.stopped = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    @property
    def paths(self) -> list[str]:
        return [visit.path for visit in self.visits]

    def on(self, path: str, behaviour: Behaviour) -> str:
        self.behaviours[path] = behaviour
        return self.url + path

    def redirect(self, path: str, target: str, status: int = 302, **headers: str) -> str:
        return self.on(path, lambda visit: visit.reply(b"", status, Location=target, **headers))

    def says(self, path: str, body: bytes = b"", status: int = 200, **headers: str) -> str:
        return self.on(path, lambda visit: visit.reply(body, status, **headers))

    def handle_error(self, *_: Any) -> None:
        pass  # clients that hang up are the point of some tests


@pytest.fixture
def by_itself() -> Callable[[], float]:
    """Not at all: here everything happens in this process, and waits are counted exactly."""
    now = time.time()
    return lambda: now


@pytest.fixture
def new_site() -> Iterator[Callable[[], Site]]:
    """Makes sites; each has a port, and so a host, of its own."""
    sites: list[Site] = []

    def make() -> Site:
        site = Site()
        # The short poll makes shutting down quick.
        threading.Thread(target=site.serve_forever, args=(0.02,), daemon=True).start()
        sites.append(site)
        return site

    yield make
    for site in sites:
        site.stopped.set()
        site.shutdown()
        site.server_close()


@pytest.fixture
def site(new_site: Callable[[], Site]) -> Site:
    return new_site()


@pytest.fixture
def web_for(tmp_path: Path) -> Callable[..., Web]:
    """A `Web` whose trusted host (``doi_base_url``) is the given site."""

    def make(site: Site | None = None, rates: tuple[Rate, ...] = (), **settings: Any) -> Web:
        if site:
            settings.setdefault("doi_base_url", site.url)
        return Web(Settings(**settings), rates or (Rate("doi", ("doi",), 0.01),))

    return make


@pytest.fixture
def web(site: Site, web_for: Callable[..., Web]) -> Web:
    return web_for(site)
