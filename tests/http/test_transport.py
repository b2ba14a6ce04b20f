"""Hostile and broken servers, on loopback."""

import gzip
import logging
import os
import socket
import threading
import time

import pytest

from tests.http.conftest import Site, Visit
from utils.errors import BadContent, NotAvailable, Unreachable
from utils.http import Web
from utils.http.messages import Request
from utils.settings import Settings

CUT_GZIP = gzip.compress(b"x" * 999, mtime=0)[:-9]


@pytest.fixture
def once(site: Site, web_for) -> Web:
    """Asks once, so that a failure shows itself at once."""
    return web_for(site, ncbi_max_retries=1)


def test_a_packed_answer_arrives_unpacked(site: Site, web: Web) -> None:
    url = site.says("/x", gzip.compress(b"paper" * 1000, mtime=0), Content_Encoding="gzip")
    assert web.get(url).body == b"paper" * 1000


def test_a_chunked_answer_arrives_whole(site: Site, web: Web) -> None:
    def chunks(visit: Visit) -> None:
        visit.send_response(200)
        visit.send_header("Transfer-Encoding", "chunked")
        visit.end_headers()
        visit.wfile.write(b"3\r\npap\r\n2;x=y\r\ner\r\n0\r\nTrailer: 1\r\n\r\n")

    url = site.on("/x", chunks)
    assert [web.get(url).body for _ in range(2)] == [b"paper", b"paper"]


def test_a_connection_is_used_again(site: Site, web: Web) -> None:
    url = site.says("/x", b"1")
    lost = site.says("/lost", b"nothing here", 404)
    web.get(url)
    with pytest.raises(NotAvailable):
        web.get(lost)
    web.get(url)
    assert len({visit.client_address for visit in site.visits}) == 1


def test_a_refusal_whose_body_never_comes_is_still_a_refusal(
    site: Site, web: Web, monkeypatch
) -> None:
    monkeypatch.setattr("utils.http.transport._DRAIN_MAX_S", 0.1)
    url = site.says("/x", b"", 404, Content_Length="10")
    with pytest.raises(NotAvailable, match="answered 404"):
        web.get(url)


def at_once(times: int, work) -> None:
    threads = [threading.Thread(target=work) for _ in range(times)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_connections_are_shared_by_threads_but_never_used_by_two_at_once(
    site: Site, web: Web
) -> None:
    together = threading.Barrier(3)

    def meet(visit: Visit) -> None:
        together.wait(60)
        visit.reply(b"1")

    met, url = site.on("/meet", meet), site.says("/x", b"1")
    at_once(3, lambda: web.transport.send_request(Request("GET", met), 60, 9, lambda _: True))
    assert len({visit.client_address for visit in site.visits}) == 3
    for _ in range(5):
        at_once(1, lambda: web.get(url))  # each in a thread of its own
    assert len({visit.client_address for visit in site.visits}) == 3


def test_a_child_opens_connections_of_its_own(site: Site, web: Web, monkeypatch) -> None:
    url = site.says("/x", b"1")
    web.get(url)
    monkeypatch.setattr(os, "getpid", lambda: -1)  # as after a fork
    web.get(url)
    assert len({visit.client_address for visit in site.visits}) == 2


def test_no_more_than_sixteen_idle_connections_to_a_site_are_kept(site: Site, web: Web) -> None:
    together = threading.Barrier(20)

    def meet(visit: Visit) -> None:
        together.wait(60)
        visit.reply(b"1")

    met = site.on("/meet", meet)
    for seen in (20, 24):
        at_once(20, lambda: web.transport.send_request(Request("GET", met), 60, 9, lambda _: True))
        assert len({visit.client_address for visit in site.visits}) == seen


def test_a_plain_request_sends_two_headers_and_the_host(site: Site, web: Web) -> None:
    web.get(site.says("/x"), plain=True)
    assert {name.lower() for name in site.visits[0].headers} == {"host", "user-agent", "accept"}


def test_a_form_and_json_are_posted(site: Site, web: Web) -> None:
    url = site.says("/x")
    web.post(url, {"id": "1,2"})
    web.post(url, json={"a": 1})
    assert [visit.sent for visit in site.visits] == [b"id=1%2C2", b'{"a": 1}']
    assert site.visits[1].headers["Content-Type"] == "application/json"


def test_no_login_comes_from_a_netrc(site: Site, web: Web, monkeypatch, tmp_path) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login me password s3cret", encoding="utf-8")
    monkeypatch.setenv("NETRC", str(netrc))
    web.get(site.says("/x"))
    assert site.visits[0].headers["Authorization"] is None


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n64\r\nhalf",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + CUT_GZIP,
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\nthis is not gzip",
        b"HTTP/1.1 200 OK\r\nContent-Encoding: br\r\n\r\nthis is not gzip",
        b"HTTP/1.1 200 OK\r\nX: " + b"x" * 70_000,
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nwhole?",
        b"HTTP/1.1 2",
        b"SSH-2.0-OpenSSH\r\n",
        b"",
    ],
)
def test_a_broken_answer_is_a_site_in_trouble_and_asked_again(
    site: Site, web: Web, answer: bytes
) -> None:
    def behave(visit: Visit) -> None:
        visit.raw(answer) if len(site.visits) == 1 else visit.reply(b"whole")

    assert web.get(site.on("/x", behave)).body == b"whole"


def test_a_reset_connection_is_told_in_words(site: Site, once: Web) -> None:
    def reset(visit: Visit) -> None:
        linger = b"\x01\0\0\0\0\0\0\0"
        visit.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        visit.raw(b"")
        visit.connection.close()

    with pytest.raises(Unreachable, match=r"127\.0\.0\.1:\d+ broke off the connection\.$"):
        once.get(site.on("/x", reset))


def test_a_closed_port_is_told_in_words() -> None:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{bound.getsockname()[1]}"
        web = Web(Settings(ncbi_max_retries=1, doi_base_url=url), [])
        with pytest.raises(Unreachable, match="refused the connection"):
            web.get(url)


def test_an_unknown_name_is_told_in_words_and_asked_once(web: Web, monkeypatch, clock) -> None:
    def unknown(*_, **__):
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    with pytest.raises(Unreachable, match=r"no\.such\.host could not be found by name \(DNS\)"):
        web.get("https://no.such.host/x")
    assert clock.naps == []


def test_a_broken_handshake_is_told_in_words(site: Site, web_for) -> None:
    web = web_for(ncbi_max_retries=1, doi_base_url=site.url.replace("http:", "https:"))
    with pytest.raises(Unreachable, match="TLS"):
        web.get(web.settings.doi_base_url + "/x")


def test_an_announced_size_beyond_the_limit_is_not_read(site: Site, web: Web) -> None:
    with pytest.raises(BadContent, match="more than") as caught:
        web.get(site.says("/x", b"x" * 2000), limit=1000)
    assert caught.value.outcome == "not_a_paper"
    assert len(site.visits) == 1


def endless(visit: Visit) -> None:
    visit.send_response(200)
    visit.send_header("Connection", "close")
    visit.end_headers()
    while not visit.server.stopped.is_set():
        visit.wfile.write(b"x" * 65536)


def test_an_endless_body_stops_at_the_limit(site: Site, web: Web) -> None:
    with pytest.raises(BadContent):
        web.get(site.on("/x", endless), limit=10**6)


def test_a_bomb_stops_at_the_limit_without_filling_memory(site: Site, web: Web) -> None:
    import tracemalloc

    bomb = gzip.compress(b"\0" * 50_000_000, 1, mtime=0)
    url = site.says("/x", bomb, Content_Encoding="gzip")
    tracemalloc.start()
    try:
        with pytest.raises(BadContent):
            web.get(url, limit=4_000_000)
        assert tracemalloc.get_traced_memory()[1] < 10_000_000
    finally:
        tracemalloc.stop()


def test_the_largest_allowed_body_is_taken(site: Site, web: Web) -> None:
    assert len(web.get(site.says("/x", b"x" * 1000), limit=1000).body) == 1000


def drip(head: bytes, drop: bytes):
    def behave(visit: Visit) -> None:
        visit.wfile.write(head)
        while not visit.server.stopped.wait(0.05):
            visit.raw(drop)

    return behave


OK = b"HTTP/1.1 200 OK\r\n"


@pytest.mark.real_time
@pytest.mark.parametrize(
    ("head", "drop"),
    [
        (b"", b""),
        (b"HTTP/1.1 200 O", b"K"),
        (OK + b"X: ", b"x"),
        (OK, b"X: y\r\n"),
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
        (OK + b"Content-Length: 100000\r\n\r\n", b"x"),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n", b"0"),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n"),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n0\r\n", b"T: x\r\n"),
        (OK + b"Content-Encoding: gzip\r\n\r\n\x1f\x8b\x08\x08\0\0\0\0\0\0", b"x"),
    ],
    ids=["silence", "status", "header", "headers", "continue", "length", "size", "chunks",
         "trailer", "gzip-name"],
)  # fmt: skip
def test_no_way_of_dripping_outlasts_the_deadline(site: Site, once: Web, head, drop) -> None:
    once.deadline = 0.4
    with pytest.raises(Unreachable, match="did not answer in time"):
        once.get(site.on("/x", drip(head, drop)))  # without a deadline it would be for ever


@pytest.mark.real_time
def test_the_deadline_is_that_of_the_whole_chain(site: Site, once: Web) -> None:
    def slow(visit: Visit) -> None:
        time.sleep(0.15)
        visit.reply(b"", 302, Location="/x")

    once.deadline = 0.4
    with pytest.raises(Unreachable, match="did not answer in time"):
        once.get(site.on("/x", slow))
    assert len(site.visits) <= 4


def test_no_log_of_any_library_shows_a_key(site: Site, web: Web, caplog) -> None:
    caplog.set_level(logging.DEBUG)
    url = site.on("/x", lambda visit: visit.raw(b"HTTP/1.1 200 OK\r\nBad header\r\n\r\nbody"))
    web.get(url, {"api_key": "0123456789abcdef"})
    assert "0123456789abcdef" in site.paths[0]
    assert "0123456789abcdef" not in caplog.text
