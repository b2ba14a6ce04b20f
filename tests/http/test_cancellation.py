"""A request under way ends when it is taken back, wherever it waits; and no other one."""

import contextvars
import socket
import threading
from collections.abc import Callable, Iterator

import pytest

from tests.http.conftest import Site, Visit
from tests.processes import eventually
from utils.errors import Cancelled
from utils.http import Cancellation, Web
from utils.http.work import sleep_unless_cancelled

SOON = 30.0
"""Seconds on a busy machine; without a cancellation each of these would take a minute."""


class Work:
    """A request in a thread of its own, and how it ended."""

    def __init__(self, web: Web, url: str, cancellation: Cancellation | None = None) -> None:
        self.came: object = None
        self._ask = lambda: web.get(url).body
        self._cancellation = cancellation
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        ask = self._ask
        try:
            self.came = self._cancellation.run_work(ask) if self._cancellation else ask()
        except BaseException as error:  # noqa: BLE001 - what it is, is the question
            self.came = error

    def ended(self) -> bool:
        self._thread.join(SOON)
        return not self._thread.is_alive()


def silent(visit: Visit) -> None:
    visit.server.stopped.wait()


def half(visit: Visit) -> None:
    """A body without an announced length: where it is cut off, it may look whole."""
    visit.wfile.write(b"HTTP/1.1 200 OK\r\n\r\nhalf of it")
    visit.server.stopped.wait()


@pytest.fixture
def once(site: Site, web_for) -> Web:
    web: Web = web_for(site, ncbi_max_retries=1)
    return web


@pytest.mark.real_time
@pytest.mark.parametrize("behaviour", [silent, half])
def test_a_read_that_waits_ends_at_once(site: Site, once: Web, behaviour: Callable) -> None:
    cancellation = Cancellation()
    work = Work(once, site.on("/x", behaviour), cancellation)
    assert eventually(lambda: site.visits)
    cancellation.cancel()
    assert work.ended()
    assert isinstance(work.came, Cancelled)


@pytest.mark.real_time
def test_a_connection_that_is_used_again_can_be_cut(site: Site, once: Web) -> None:
    cancellation = Cancellation()
    assert once.get(site.says("/first", b"1")).body == b"1"
    work = Work(once, site.on("/x", silent), cancellation)
    assert eventually(lambda: len(site.visits) == 2)
    assert len({visit.client_address for visit in site.visits}) == 1
    cancellation.cancel()
    assert work.ended()
    assert isinstance(work.came, Cancelled)
    assert once.get(site.says("/after", b"2")).body == b"2"


@pytest.fixture
def deaf() -> Iterator[socket.socket]:
    """A port that takes connections, and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener


@pytest.mark.real_time
def test_a_handshake_that_waits_ends_at_once(deaf: socket.socket, web_for) -> None:
    cancellation = Cancellation()
    url = f"https://127.0.0.1:{deaf.getsockname()[1]}"
    work = Work(web_for(doi_base_url=url, ncbi_max_retries=1), url + "/x", cancellation)
    line, _ = deaf.accept()
    assert line.recv(1)  # the greeting of TLS
    cancellation.cancel()
    assert work.ended()
    assert isinstance(work.came, Cancelled)
    line.close()


@pytest.mark.real_time
def test_a_connection_that_nobody_takes_ends_at_once(web_for) -> None:
    cancellation = Cancellation()
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        place = full.getsockname()
        waiting = [socket.socket() for _ in range(3)]
        for one in waiting:
            one.setblocking(False)
            one.connect_ex(place)
        url = f"http://127.0.0.1:{place[1]}"
        work = Work(web_for(doi_base_url=url, ncbi_max_retries=1), url + "/x", cancellation)
        assert not work._thread.join(0.5)
        assert work._thread.is_alive()
        cancellation.cancel()
        assert work.ended()
        for one in waiting:
            one.close()
    assert isinstance(work.came, Cancelled)


@pytest.mark.real_time
def test_a_name_that_is_being_looked_up_does_not_hold_anybody(web: Web, monkeypatch) -> None:
    asked, never = threading.Event(), threading.Event()

    def slow(*_: object, **__: object) -> list[object]:
        asked.set()
        never.wait(60)
        return []

    monkeypatch.setattr(socket, "getaddrinfo", slow)
    cancellation = Cancellation()
    work = Work(web, "https://slow.org/x", cancellation)
    assert asked.wait(SOON)
    cancellation.cancel()
    assert work.ended()
    assert isinstance(work.came, Cancelled)
    never.set()


@pytest.mark.real_time
def test_others_go_on(site: Site, once: Web) -> None:
    mine, other = Cancellation(), Cancellation()
    url = site.on("/x", silent)
    works = [Work(once, url, mine), Work(once, url, other)]  # as many as a site is asked at once
    assert eventually(lambda: len(site.visits) == 2)
    waiting = Cancellation()
    works += [Work(once, url, waiting)]
    waiting.cancel()
    assert works[2].ended()
    assert len(site.visits) == 2
    mine.cancel()
    assert works[0].ended()
    site.behaviours["/x"] = lambda visit: visit.reply(b"fine")
    assert once.get(url).body == b"fine"
    assert works[1].came is None
    once.transport.cancel_requests()
    assert all(work.ended() for work in works)
    assert all(isinstance(work.came, Cancelled) for work in works)
    with pytest.raises(Cancelled):
        once.get(url)


def test_what_was_taken_back_asks_no_more(site: Site, web: Web) -> None:
    cancellation = Cancellation()
    url = site.says("/x", b"1")
    assert cancellation.run_work(lambda: web.get(url).body) == b"1"
    cancellation.cancel()
    cancellation.cancel()
    with pytest.raises(Cancelled):
        cancellation.run_work(lambda: web.get(url))
    with pytest.raises(Cancelled):
        cancellation.run_work(lambda: sleep_unless_cancelled(60))
    assert cancellation.cancelled
    assert len(site.visits) == 1
    assert web.get(url).body == b"1"


def test_threads_that_are_given_the_context_are_under_it_too(site: Site, web: Web) -> None:
    cancellation, came = Cancellation(), []
    url = site.says("/x")

    def ask() -> None:
        try:
            web.get(url)
        except Cancelled as error:
            came.append(error)

    def work() -> None:
        cancellation.cancel()
        thread = threading.Thread(target=contextvars.copy_context().run, args=(ask,))
        thread.start()
        thread.join()

    cancellation.run_work(work)
    assert len(came) == 1
    assert site.visits == []


def test_nothing_is_left_open_by_what_is_over(site: Site, web: Web) -> None:
    """The copy of a socket that a cancellation would shut is closed with its request."""
    from pathlib import Path

    open_files = Path("/proc/self/fd")
    if not open_files.exists():
        pytest.skip("needs /proc")
    url = site.says("/x", b"1")
    web.get(url)
    before = len(list(open_files.iterdir()))
    for _ in range(20):
        web.get(url)
    assert len(list(open_files.iterdir())) <= before
