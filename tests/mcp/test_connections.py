"""Connections that say nothing, or say it slowly, keep nobody else from being served."""

import itertools
import resource
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, suppress

import httpx2
import pytest

from tests.endpoint import SECRET, Endpoint
from tests.processes import eventually
from utils import Library
from utils.mcp import http

pytestmark = pytest.mark.slow

# https://en.wikipedia.org/wiki/Slowloris_(cyber_attack): none of these ever ends its headers.
BEGINNINGS = (b"", b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n", b"P")
MANY = 530  # more than there may be connections in all


@pytest.fixture
def endpoint(settings) -> Iterator[Endpoint]:
    with Endpoint(Library(**settings, mcp_auth_secret_key=SECRET)) as endpoint:
        yield endpoint


class Line:
    """A connection by hand."""

    def __init__(self, endpoint: Endpoint, source: str = "127.0.0.1") -> None:
        place = ("127.0.0.1", endpoint.port)
        try:
            self.socket = socket.create_connection(place, source_address=(source, 0))
        except OSError:
            if source == "127.0.0.1":
                raise
            pytest.skip("this system has one loopback address")
        self.socket.setblocking(False)
        self.heard = b""

    def __enter__(self) -> "Line":
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def say(self, data: bytes) -> None:
        with suppress(OSError):
            self.socket.send(data)

    def ended(self) -> bool:
        """Whether the server hung up."""
        try:
            while data := self.socket.recv(4096):
                self.heard += data
        except BlockingIOError:
            return False
        except ConnectionError:
            return True
        return True


@pytest.fixture
def room() -> None:
    """Both ends of all these connections are files of this process."""
    limit, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if most != resource.RLIM_INFINITY and most < 4 * MANY:
        pytest.skip("too few files may be open here")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(limit, 4 * MANY), most))


def test_a_good_caller_is_served_beside_any_number_of_silent_ones(endpoint, room):
    with ExitStack() as held:
        lines = [held.enter_context(Line(endpoint)) for _ in range(MANY)]
        for line, beginning in zip(lines, itertools.cycle(BEGINNINGS), strict=False):
            line.say(beginning)
        done = threading.Event()
        dripping = threading.Thread(target=_drip, args=(lines, done))
        dripping.start()
        try:
            answers = [endpoint.post(endpoint.token()).status_code for _ in range(5)]
        finally:
            done.set()
            dripping.join()
        assert answers == [200] * 5
        # Of one address no more are kept waiting than may; those who came last.
        assert eventually(
            lambda: (
                sum(not line.ended() for line in lines) <= http.MAX_PATIENT_CONNECTIONS_PER_ADDRESS
            )
        )
        assert all(line.ended() for line in lines[: -http.MAX_PATIENT_CONNECTIONS_PER_ADDRESS])


def _drip(lines: list[Line], done: threading.Event) -> None:
    """Send each a byte of a header that never ends, again and again."""
    while not done.wait(0.01):
        for line in lines:
            line.say(b"x")


@pytest.mark.parametrize("beginning", BEGINNINGS)
def test_headers_have_a_deadline_however_busily_they_are_sent(endpoint, monkeypatch, beginning):
    monkeypatch.setattr(http, "HEADERS_TIMEOUT_S", 0.2)
    with Line(endpoint) as line:
        line.say(beginning)

        def over() -> bool:
            if beginning:
                line.say(b"x")
            return line.ended()

        assert eventually(over)
        if not beginning:  # else what it still sends crosses the answer
            assert line.heard.startswith(b"HTTP/1.1 408 ")


def test_the_deadline_is_for_headers_and_for_those_of_every_request(endpoint, monkeypatch):
    go_on = threading.Event()

    def slow(*_: object, **__: object) -> tuple[int, list[object]]:
        assert go_on.wait(60)
        return 0, []

    monkeypatch.setattr(http, "HEADERS_TIMEOUT_S", 0.2)
    monkeypatch.setattr(Library, "list_papers", slow)
    call = {"name": "list_papers", "arguments": {}}
    body = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": call}
    request = httpx2.Request(
        "POST",
        endpoint.url,
        json=body,
        headers={
            "authorization": f"Bearer {endpoint.token()}",
            "accept": "application/json, text/event-stream",
        },
    )
    head = "".join(f"{name}: {value}\r\n" for name, value in request.headers.items())
    with Line(endpoint) as line, Line(endpoint) as silent:
        line.say(f"POST /mcp HTTP/1.1\r\n{head}\r\n".encode() + request.content)
        assert eventually(silent.ended)  # its deadline is over, and that of the call's headers, too
        assert not line.ended()
        go_on.set()
        assert eventually(lambda: not line.ended() and b"total: 0" in line.heard)

        def begins_another() -> bool:
            line.say(b"x")
            return line.ended()

        assert eventually(begins_another)


def test_the_oldest_of_too_many_connections_of_an_address_is_hurried(endpoint, monkeypatch):
    monkeypatch.setattr(http, "MAX_PATIENT_CONNECTIONS_PER_ADDRESS", 3)
    monkeypatch.setattr(http, "CROWDED_HEADERS_TIMEOUT_S", 0.2)
    with ExitStack() as held:
        other = held.enter_context(Line(endpoint, "127.0.0.2"))
        lines = [held.enter_context(Line(endpoint)) for _ in range(5)]
        assert eventually(lambda: sum(line.ended() for line in lines) == 2)
        assert [line.ended() for line in lines] == [True, True, False, False, False]
        assert not other.ended()


def test_the_oldest_of_too_many_connections_is_hurried_whatever_its_address(endpoint, monkeypatch):
    monkeypatch.setattr(http, "MAX_PATIENT_CONNECTIONS", 3)
    monkeypatch.setattr(http, "CROWDED_HEADERS_TIMEOUT_S", 0.2)
    with ExitStack() as held:
        lines = [held.enter_context(Line(endpoint, f"127.0.0.{one}")) for one in range(2, 7)]
        assert eventually(lambda: sum(line.ended() for line in lines) == 2)
        assert [line.ended() for line in lines] == [True, True, False, False, False]


def test_a_burst_of_connections_that_send_their_requests_late_loses_none(endpoint, monkeypatch):
    """The oldest of 60 new connections of one address were answered with an empty 408 at once."""
    monkeypatch.setattr(http, "HEADERS_TIMEOUT_S", 200)
    monkeypatch.setattr(http, "CROWDED_HEADERS_TIMEOUT_S", 200)
    request = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    with ExitStack() as held:
        lines = [held.enter_context(Line(endpoint)) for _ in range(60)]
        assert endpoint.get("/healthz").status_code == 200  # the server has accepted all of them
        for line in lines:
            line.say(request)
        assert eventually(lambda: all(not line.ended() and line.heard for line in lines))
        assert {line.heard[:15] for line in lines} == {b"HTTP/1.1 200 OK"}


def test_a_crowd_beyond_all_bounds_is_told_when_to_come_again(endpoint, monkeypatch):
    monkeypatch.setattr(http, "MAX_PENDING_CONNECTIONS", 3)
    with ExitStack() as held:
        lines = [held.enter_context(Line(endpoint)) for _ in range(5)]
        assert eventually(lambda: sum(line.ended() for line in lines) == 2)
        assert [line.ended() for line in lines] == [True, True, False, False, False]
        assert lines[0].heard.startswith(b"HTTP/1.1 429 ")
        assert b"retry-after: 1" in lines[0].heard
