"""Chains of redirects, followed on loopback."""

from collections.abc import Callable

import pytest

from tests.http.conftest import Site, Visit
from utils.errors import NotAvailable
from utils.http import Answer, Rate, Web
from utils.http.address_policy import build_redirect
from utils.http.messages import Request


def test_a_redirect_is_followed_to_its_end(site: Site, web: Web) -> None:
    site.says("/end", b"paper")
    site.redirect("/two", "end?a=1", 307)
    start = site.redirect("/one", f"{site.url}/two#part", 301)
    answer = web.get(start, {"q": "1"})
    assert (answer.body, answer.url) == (b"paper", site.url + "/end?a=1")
    assert site.paths == ["/one?q=1", "/two", "/end?a=1"]


def test_a_location_in_raw_utf8_is_understood(site: Site, web: Web) -> None:
    site.says("/%C3%BC", b"found")
    start = site.redirect("/one", "/ü".encode().decode("latin-1"))
    assert web.get(start).body == b"found"


def test_every_hop_takes_its_turn(site: Site, new_site, web_for, clock) -> None:
    other = new_site()
    other.says("/end", b"paper")
    other.redirect("/two", "/end")
    start = site.redirect("/one", other.url + "/two")
    web = web_for(site, papers_allow_private_network=True)
    web.get(start)
    assert any(0.5 < nap <= 1.1 for nap in clock.naps)  # the stranger's default of a second


def test_ten_redirects_are_followed_and_an_eleventh_is_not(site: Site, web: Web) -> None:
    for n in range(12):
        site.redirect(f"/{n}", f"/{n + 1}")
    site.says("/12", b"end")
    assert web.get(site.url + "/2").body == b"end"
    with pytest.raises(NotAvailable, match="kept redirecting"):
        web.get(site.url + "/1")


def test_a_loop_ends_in_a_clear_sentence(site: Site, web: Web) -> None:
    start = site.redirect("/a", "/a")
    with pytest.raises(NotAvailable, match="kept redirecting"):
        web.get(start)


def test_a_redirected_form_is_not_sent_again(site: Site, web: Web) -> None:
    site.says("/end", b"x")
    for status in (301, 302, 303, 307, 308):
        start = site.redirect("/form", "/end", status)
        with pytest.raises(NotAvailable, match="POST"):
            web.post(start, {"api_key": "s3cret"})
    assert "/end" not in site.paths


def test_keys_do_not_travel_to_another_host(site: Site, new_site, web_for) -> None:
    other = new_site()
    other.says("/end", b"x")
    site.redirect("/two", other.url.replace("127.0.0.1", "localhost") + "/end")
    start = site.redirect("/one", "/two", Set_Cookie="who=me; Path=/")
    web = web_for(site, papers_allow_private_network=True)
    web.get(start, headers={"Authorization": "Bearer s3", "X-Api-Key": "s3", "X-Other": "1"})
    kept, dropped = site.visits[1].headers, other.visits[0].headers
    assert (kept["Authorization"], kept["X-Api-Key"], kept["Cookie"]) == (
        "Bearer s3",
        "s3",
        "who=me",
    )
    assert dropped["Authorization"] is dropped["X-Api-Key"] is dropped["Cookie"] is None
    assert dropped["X-Other"] is None


def test_cookies_live_as_long_as_one_chain(site: Site, web: Web) -> None:
    def door(visit: Visit) -> None:
        if "seen=1" in (visit.headers["Cookie"] or ""):
            visit.reply(b"inside")
        else:
            visit.reply(b"", 302, Location="/door", Set_Cookie="seen=1")

    start = site.on("/door", door)
    assert web.get(start).body == b"inside"
    assert web.get(start).body == b"inside"
    assert [visit.headers["Cookie"] for visit in site.visits] == [None, "seen=1", None, "seen=1"]


def answer_to(location: str) -> Answer:
    return Answer(302, "https://a.org/x", b"", headers={"location": location})


@pytest.mark.parametrize(
    ("hop", "location"),
    [
        (Request("GET", "https://a.org/x", headers={"X-API-Key": "s"}), "http://a.org/x"),
        (Request("GET", "https://a.org/x"), "http://a.org/x?api_key=s"),
    ],
)
def test_a_key_never_goes_over_plain_http(hop: Request, location: str) -> None:
    with pytest.raises(NotAvailable, match="plain HTTP"):
        build_redirect(hop, answer_to(location))


def test_plain_http_is_followed_without_keys() -> None:
    hop = Request("GET", "https://a.org/x", headers={"Authorization": "s"})
    target = build_redirect(hop, answer_to("http://b.org/y"))
    assert (target.url, target.headers) == ("http://b.org/y", {})


@pytest.mark.parametrize("target", ["ftp://a.org/", "file:///etc/passwd", "http://u@a.org/"])
def test_a_redirect_off_the_web_is_refused(site: Site, web: Web, target: str) -> None:
    with pytest.raises(NotAvailable) as caught:
        web.get(site.redirect("/one", target))
    assert caught.value.details["blocked"] is True


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "localhost",
        "127.1",
        "2130706433",
        "0x7f000001",
        "[::1]",
        "[::ffff:7f00:1]",
        "017700000001",
        "0.0.0.0",
    ],
)
def test_a_redirect_into_the_private_network_is_refused_before_a_byte_is_sent(
    site: Site, new_site: Callable[[], Site], web: Web, host: str
) -> None:
    inner = new_site()
    inner.says("/secret", b"metadata")
    start = site.redirect("/one", f"http://{host}:{inner.server_port}/secret")
    with pytest.raises(NotAvailable, match="private network") as caught:
        web.get(start)
    assert caught.value.details["blocked"] is True
    assert inner.visits == []


def test_a_link_into_the_private_network_is_refused_too(new_site, web: Web) -> None:
    inner = new_site()
    with pytest.raises(NotAvailable, match="private network"):
        web.get(inner.says("/secret"))
    assert inner.visits == []


def test_the_address_is_judged_where_it_is_used(site: Site, web: Web, monkeypatch) -> None:
    """A name that answers with a public address first and a private one later gains nothing."""
    import socket

    asked = []

    def rebinding(host, port, *args, **kwargs):
        asked.append(host)
        address = "93.184.216.34" if asked.count(host) == 1 else "127.0.0.1"
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))]

    real = socket.getaddrinfo
    monkeypatch.setattr(
        socket,
        "getaddrinfo",
        lambda h, *a, **k: (rebinding if h == "evil.org" else real)(h, *a, **k),
    )
    connected = []
    connect = socket.socket.connect

    def watched(self, address):
        connected.append(address[0])
        return connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", watched)
    with pytest.raises(NotAvailable, match="private network"):
        web.get(f"http://evil.org:{site.server_port}/x")  # the retry resolves it anew
    assert set(connected) == {"93.184.216.34"}
    assert site.visits == []


def test_a_redirect_may_lead_to_a_host_of_the_settings(site: Site, new_site, web_for) -> None:
    mirror = new_site()
    mirror.says("/end", b"mine")
    web = web_for(site, (Rate("doi", ("doi",), 0.01),), crossref_base_url=mirror.url)
    assert web.get(site.redirect("/one", mirror.url + "/end")).body == b"mine"
