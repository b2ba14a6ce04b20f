"""The way out of networks that people have: real proxies, with passwords, that say no, that die."""

import socket
import ssl
import sys
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.forward_proxies import Authority, Proxy, SocksProxy
from tests.http.conftest import Site, Visit
from tests.processes import eventually
from utils.errors import NotAvailable, NotConfigured, Unreachable
from utils.http import Web, network
from utils.http.network import ProxyRules
from utils.settings import Settings

pytestmark = pytest.mark.slow

A, B = "http://a.lab:1", "http://b.lab:2"


def way(url: str, **settings: str) -> str:
    found = ProxyRules(Settings(**settings)).find_proxy(url)
    return found.url if found else ""


# Which way


@pytest.mark.parametrize(
    ("url", "settings", "expected"),
    [
        ("https://doi.org/x", {}, ""),
        ("https://doi.org/x", {"https_proxy": A, "http_proxy": B}, A),
        ("http://doi.org/x", {"https_proxy": A, "http_proxy": B}, B),
        ("https://doi.org/x", {"http_proxy": B}, ""),
        ("https://doi.org/x", {"all_proxy": A}, A),
        ("https://doi.org/x", {"all_proxy": A, "https_proxy": B}, B),
        ("https://doi.org/x", {"https_proxy": "a.lab:1"}, A),
        ("https://doi.org/x", {"https_proxy": "http://a.lab"}, "http://a.lab:80"),
        ("https://doi.org/x", {"https_proxy": A, "papers_proxy": B}, B),
        ("https://doi.org/x", {"https_proxy": A, "papers_proxy": "direct"}, ""),
        ("https://doi.org/x", {"https_proxy": A, "papers_proxy": f"doi.org={B}"}, B),
        ("https://dx.doi.org/x", {"https_proxy": A, "papers_proxy": f"doi.org={B}"}, B),
        ("https://lab.edu/x", {"https_proxy": A, "papers_proxy": f"doi.org={B}"}, A),
        ("https://lab.edu/x", {"papers_proxy": f"doi.org=direct, *={B}"}, B),
        ("https://doi.org/x", {"papers_proxy": f"doi.org=direct, *={B}"}, ""),
        ("https://a.b.org/x", {"papers_proxy": f"b.org={A},a.b.org={B}"}, B),
        ("https://doi.org/x", {"papers_proxy": f"doi.org={B}", "no_proxy": "*"}, B),
        ("https://doi.org/x", {"papers_proxy": B, "no_proxy": "doi.org"}, ""),
    ],
)
def test_each_host_has_its_way(url: str, settings: dict[str, str], expected: str) -> None:
    assert way(url, **settings) == expected


@pytest.mark.parametrize(
    ("no_proxy", "host", "direct"),
    [
        ("lab.edu", "lab.edu", True),
        ("lab.edu", "www.lab.edu", True),
        (".lab.edu", "lab.edu", True),
        (".lab.edu", "www.lab.edu", True),
        ("*.lab.edu", "www.lab.edu", True),
        ("lab.edu", "otherlab.edu", False),
        ("LAB.edu , other.org", "lab.EDU", True),
        ("*", "anything.org", True),
        ("lab.edu:443", "lab.edu", True),
        ("lab.edu:8443", "lab.edu", False),
        ("10.0.0.0/8", "10.1.2.3", True),
        ("10.0.0.0/8", "11.1.2.3", False),
        ("10.1.2.3", "10.1.2.3", True),
        ("10.1.2.3:443", "10.1.2.3", True),
        ("fd00::/8", "[fd12::1]", True),
        ("", "lab.edu", False),
        (", ,", "lab.edu", False),
    ],
)
def test_no_proxy_means_what_curl_means_by_it(no_proxy: str, host: str, direct: bool) -> None:
    assert (way(f"https://{host}/x", https_proxy=A, no_proxy=no_proxy) == "") is direct


def test_the_lower_case_wins_and_an_empty_variable_is_none(monkeypatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", A)
    assert way("https://doi.org/x") == A
    monkeypatch.setenv("https_proxy", B)
    assert way("https://doi.org/x") == B
    monkeypatch.delenv("https_proxy")
    monkeypatch.setenv("HTTPS_PROXY", "")
    assert way("https://doi.org/x") == ""


def test_the_systems_own_settings_come_last(monkeypatch) -> None:
    monkeypatch.setattr(network, "get_system_proxies", lambda: {"https": A})
    monkeypatch.setattr(network, "is_proxy_bypassed", lambda host: host == "lab.edu")
    assert way("https://doi.org/x") == A
    assert way("https://lab.edu/x") == ""
    assert way("https://doi.org/x", no_proxy="doi.org") == ""
    assert way("https://doi.org/x", all_proxy=B) == B


@pytest.mark.parametrize(
    "text",
    ["http://", "http://me:s3cret@", "ftp://me:s3cret@a.lab:1", "http://me:s3#cret@a.lab:1",
     "http://a.lab:99999", "http://a.lab:0", "two words"],
)  # fmt: skip
def test_what_is_no_proxy_is_named_and_not_shown(text: str) -> None:
    with pytest.raises(NotConfigured, match="HTTPS_PROXY is not the address") as refused:
        way("https://doi.org/x", https_proxy=text)
    assert "s3" not in str(refused.value)
    assert "%40" in refused.value.hint


def test_a_password_is_decoded_and_never_shown() -> None:
    found = ProxyRules(Settings(https_proxy="http://me:p%40ss%2F@a.lab:1")).find_proxy(
        "https://doi.org/"
    )
    assert (found.user, found.password) == ("me", "p@ss/")
    assert "p@ss" not in f"{found!r} {found.description} {found.url}"
    assert found.description == "http://***@a.lab:1 (HTTPS_PROXY)"


# Who may be asked through one


@pytest.fixture
def behind(site: Site, web_for, tmp_path: Path) -> Web:
    """Everything goes through a real proxy; the site is one of the settings."""
    return web_for(site, papers_proxy=Proxy(tmp_path / "proxy").place, ncbi_max_retries=1)


PRIVATE = [
    "127.0.0.1", "10.0.0.5", "169.254.169.254", "192.168.1.1", "[::1]", "[fd00::1]",
    "[::ffff:10.0.0.1]", "127.1", "2130706433", "0x7f000001", "017700000001", "010.0.0.5",
    "localhost", "localhost.", "wiki", "nas.local", "metadata.google.internal", "printer.lan",
]  # fmt: skip


def test_names_that_mean_something_local_are_not_asked_through_a_proxy(
    site: Site, behind: Web
) -> None:
    for number, host in enumerate(PRIVATE):
        with pytest.raises(NotAvailable, match="private network") as refused:
            behind.get(f"https://{host}/secret")
        assert refused.value.details["blocked"] is True
        start = site.redirect(f"/{number}", f"http://{host}:9/secret")
        with pytest.raises(NotAvailable, match="private network"):
            behind.get(start)
    assert len(site.visits) == len(PRIVATE)


def resolving(monkeypatch, **answers: object) -> None:
    real = socket.getaddrinfo

    def answer(host, port, *args, **options):
        found = answers.get(str(host).replace(".", "_"))
        if isinstance(found, Exception):
            raise found
        if found is None:
            return real(host, port, *args, **options)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (found, port))]

    monkeypatch.setattr(socket, "getaddrinfo", answer)


def test_a_name_with_a_private_address_is_not_asked_through_a_proxy(
    behind: Web, web_for, monkeypatch
) -> None:
    resolving(monkeypatch, evil_org="10.1.1.1")
    with pytest.raises(NotAvailable, match="private network"):
        behind.get("https://evil.org/x")
    allowed = behind.settings.model_copy(update={"papers_allow_private_network": True})
    with pytest.raises(Unreachable):
        Web(allowed, []).transport.send_request(proxied_hop(), 5, 9, bool)


def proxied_hop():
    from utils.http.messages import Request

    return Request("GET", "https://evil.org:1/x")


def test_a_name_that_only_the_proxy_knows_is_asked(
    site: Site, web_for, tmp_path, monkeypatch
) -> None:
    """As where a network looks up no outside names; the proxy answers for what it finds."""
    resolving(monkeypatch, journal_org=socket.gaierror(socket.EAI_AGAIN, "no DNS"))
    proxy = Proxy(tmp_path / "proxy")
    web: Web = web_for(site, papers_proxy=proxy.place, ncbi_max_retries=1)
    with pytest.raises(Unreachable):
        web.get("http://journal.org:9/x")  # what the proxy makes of it is another matter
    assert eventually(
        lambda: "journal.org" in (tmp_path / "proxy" / "log").read_text(encoding="utf-8")
    )


def test_hosts_without_a_proxy_are_judged_by_their_address(behind: Web, monkeypatch) -> None:
    resolving(monkeypatch, evil_org="10.1.1.1")
    direct = behind.settings.model_copy(update={"no_proxy": "evil.org"})
    with pytest.raises(NotAvailable, match="private network"):
        Web(direct, []).get("https://evil.org/x")


@pytest.mark.parametrize(
    "sent",
    [{"headers": {"X-ELS-APIKey": "k"}}, {"params": {"api_key": "k"}}],
    ids=["header", "query"],
)
def test_a_key_never_goes_in_the_clear_through_a_proxy(site: Site, behind: Web, sent) -> None:
    with pytest.raises(NotAvailable, match="would see the key"):
        behind.get(site.says("/x"), **sent)
    with pytest.raises(NotAvailable, match="would see the key"):
        behind.post(site.says("/x"), {"api_key": "k"})
    behind.get(site.says("/x"), {"tool": "papershelf", "email": "me@lab.edu"})
    assert len(site.visits) == 1


# Real proxies


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path / "authority", "Real Authorities")


@pytest.fixture
def secure(new_site: Callable[[], Site], authority: Authority) -> Site:
    site = new_site()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.ca.issue_cert("localhost").configure_cert(context)
    site.socket = context.wrap_socket(site.socket, server_side=True, do_handshake_on_connect=False)
    return site


def https(site: Site) -> str:
    return f"https://localhost:{site.server_port}"


@pytest.fixture
def web_to(secure: Site, authority: Authority, web_for) -> Callable[..., Web]:
    """Asks the encrypted site, and tries once."""

    def make(**settings: object) -> Web:
        fixed = {"papers_ca_bundle": authority.cert, "ncbi_max_retries": 1}
        return web_for(doi_base_url=https(secure), **{**fixed, **settings})

    return make


def test_a_proxy_with_a_password_is_passed_by_both_kinds_of_request(
    site: Site, secure: Site, authority: Authority, web_for, tmp_path
) -> None:
    proxy = Proxy(tmp_path / "proxy", "me:p@ss/word%")
    login = f"http://me:p%40ss%2Fword%25@{proxy.place}"
    web: Web = web_for(
        doi_base_url=https(secure),
        crossref_base_url=site.url,
        papers_ca_bundle=authority.cert,
        https_proxy=login,
        http_proxy=login,
    )
    secure.says("/x", b"paper" * 9999)
    for _ in range(2):
        assert web.get(https(secure) + "/x", headers={"X-Key": "k"}).body == b"paper" * 9999
    assert len({visit.client_address for visit in secure.visits}) == 1  # one tunnel
    # The proxy's log has a request when its connection ends: now, not in a minute.
    assert web.get(site.says("/y", b"plain", Connection="close")).body == b"plain"
    for visit in (*secure.visits, *site.visits):
        assert visit.headers["Proxy-Authorization"] is None
    assert eventually(lambda: any(site.url.endswith(one.split("/")[0]) for one in proxy.forwarded))


@pytest.mark.parametrize("login", ["", "me:wrong@"], ids=["missing", "wrong"])
@pytest.mark.parametrize("kind", ["https", "http"])
def test_a_proxy_that_wants_another_password_is_a_lasting_trouble_with_a_remedy(
    site: Site, secure: Site, authority: Authority, web_for, tmp_path, clock, kind, login
) -> None:
    proxy = Proxy(tmp_path / "proxy", "me:s3cret")
    base = https(secure) if kind == "https" else site.url
    web: Web = web_for(
        doi_base_url=base,
        papers_ca_bundle=authority.cert,
        **{f"{kind}_proxy": f"http://{login}{proxy.place}"},
    )
    for where in (site, secure):
        where.says("/x", b"paper")
    with pytest.raises(Unreachable, match=r"was not reached: the proxy .*\(407\)") as refused:
        web.get(f"{base}/x?api_key_like=s3cret")
    error = refused.value
    assert error.details["lasting"]
    assert error.details["trouble"] == "proxy"
    assert ("refuses" if login else "wants a user name") in error.message
    assert f"export {kind.upper()}_PROXY=http://USER:PASSWORD@{proxy.place}" in error.hint
    assert not {"s3cret", "wrong"} & set(str(error).replace("=", " ").replace("@", " ").split())
    assert "again" not in f"{error} {error.envelope()}"
    assert clock.naps == []
    assert site.visits == secure.visits == []


def test_a_proxy_that_dies_is_told_in_words_and_found_again(secure: Site, web_to, tmp_path) -> None:
    secure.says("/x", b"paper")
    proxy = Proxy(tmp_path / "proxy")
    web = web_to(https_proxy=proxy.place)
    url = https(secure) + "/x"
    assert web.get(url).body == b"paper"
    proxy.die()
    with pytest.raises(Unreachable):  # the tunnel that was open
        web.get(url)
    with pytest.raises(Unreachable, match=r"the proxy .*HTTPS_PROXY\) refused the conn") as refused:
        web.get(url)
    assert refused.value.details["trouble"] == "proxy"
    assert "lasting" not in refused.value.details  # it may come back
    Proxy(tmp_path / "proxy", port=proxy.port)
    assert web.get(url).body == b"paper"


def test_a_proxy_nobody_knows_is_a_lasting_trouble(web_to, secure: Site, monkeypatch) -> None:
    resolving(monkeypatch, no_such_proxy=socket.gaierror(socket.EAI_NONAME, "unknown"))
    web = web_to(https_proxy="http://no.such.proxy:3128", ncbi_max_retries=5)
    with pytest.raises(Unreachable, match=r"the proxy .* could not be found by name") as refused:
        web.get(https(secure) + "/x")
    assert refused.value.details["lasting"]
    assert "unset HTTPS_PROXY" in refused.value.hint


def test_a_page_of_the_proxy_is_not_taken_for_the_sites(new_site, site: Site, web_for) -> None:
    """A site of ours plays the proxy: plain requests come to it with the whole address."""
    web: Web = web_for(site, http_proxy=new_site_answering(new_site, site, 403, Server="squid/6"))
    with pytest.raises(Unreachable, match=r"the proxy .* answered in its place \(403\)") as told:
        web.get(site.url + "/x")
    assert told.value.details["lasting"]
    assert "NO_PROXY" in told.value.hint
    web = web_for(site, http_proxy=new_site_answering(new_site, site, 503, X_Squid_Error="ERR 0"),
                  ncbi_max_retries=1)  # fmt: skip
    with pytest.raises(Unreachable, match=r"could not reach it either \(503\)") as told:
        web.get(site.url + "/x")
    assert "lasting" not in told.value.details
    # What the site itself says, passed on by a proxy, stays what the site says.
    passed_on = new_site_answering(new_site, site, 404, Server="nginx", Via="1.1 squid/6")
    with pytest.raises(NotAvailable, match="answered 404"):
        web_for(site, http_proxy=passed_on).get(site.url + "/x")


def new_site_answering(new_site, site: Site, status: int, **headers: str) -> str:
    proxy = new_site()

    def reply(visit: Visit) -> None:
        visit.send_response_only(status)
        for name, value in {"Content-Length": "4", **headers}.items():
            visit.send_header(name.replace("_", "-"), value)
        visit.end_headers()
        visit.wfile.write(b"page")

    proxy.on(site.url + "/x", reply)
    return proxy.url


def test_a_tunnel_refused_for_a_login_we_do_not_speak_names_those_who_do(
    web_to, secure: Site
) -> None:
    refusal = b"HTTP/1.1 407 No\r\nProxy-Authenticate: NTLM\r\nContent-Length: 0\r\n\r\n"
    with (
        answering(refusal) as place,
        pytest.raises(Unreachable, match="a login by ntlm") as refused,
    ):
        web_to(https_proxy=place).get(https(secure) + "/x")
    assert "cntlm" in refused.value.hint
    with (
        answering(b"HTTP/1.1 403 Forbidden\r\n\r\n") as place,
        pytest.raises(Unreachable, match=r"does not let us through \(403\)") as refused,
    ):
        web_to(https_proxy=place).get(https(secure) + "/x")
    assert refused.value.details["lasting"]


class answering:  # noqa: N801 - read as a verb
    """Somebody who says the same to everybody, in bytes."""

    def __init__(self, answer: bytes) -> None:
        import threading

        self._answer = answer
        self._listener = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                line, _ = self._listener.accept()
            except OSError:
                return
            with line:
                line.recv(65_536)
                line.sendall(self._answer)

    def __enter__(self) -> str:
        return f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def __exit__(self, *_: object) -> None:
        self._listener.close()


@pytest.mark.real_time
def test_a_proxy_that_drips_ends_at_the_deadline(web_to, secure: Site, site: Site) -> None:
    with answering(b"HTTP/1.1 200 OK\r\nX-Never: en") as place:
        web = web_to(https_proxy=place)
        web.deadline = 0.4
        with pytest.raises(Unreachable):
            web.get(https(secure) + "/x")


def test_a_proxy_that_is_itself_encrypted_is_passed_and_its_certificate_judged(
    secure: Site, site: Site, web_to, authority: Authority, tmp_path: Path
) -> None:
    secure.says("/x", b"paper" * 9999)
    proxy = Proxy(tmp_path / "proxy", "me:s3cret", encrypted=authority)
    place = f"https://me:s3cret@localhost:{proxy.port}"
    web = web_to(https_proxy=place, http_proxy=place, crossref_base_url=site.url)
    for _ in range(2):
        assert web.get(https(secure) + "/x").body == b"paper" * 9999
    assert len({visit.client_address for visit in secure.visits}) == 1
    assert web.get(site.says("/y", b"plain")).body == b"plain"
    stranger = Authority(tmp_path / "stranger", "Stranger")
    with pytest.raises(Unreachable, match=r"the proxy .* has a certificate") as refused:
        web_to(https_proxy=place, papers_ca_bundle=stranger.cert).get(https(secure) + "/x")
    assert refused.value.details["lasting"]
    assert "PAPERS_CA_BUNDLE" in refused.value.hint


@pytest.mark.parametrize("scheme", ["socks5h", "socks5"])
def test_a_socks_proxy_with_a_password_is_passed(secure: Site, web_to, scheme: str) -> None:
    secure.says("/x", b"paper")
    proxy = SocksProxy("me:s3cret")
    # In this order: whoever has logged in once, this proxy lets in again without a password.
    with pytest.raises(Unreachable, match="at a wrong user name or password") as refused:
        web_to(all_proxy=f"{scheme}://me:wr0ng@{proxy.place}").get(https(secure) + "/x")
    assert "export ALL_PROXY=socks5" in refused.value.hint
    web = web_to(all_proxy=f"{scheme}://me:s3cret@{proxy.place}")
    assert web.get(https(secure) + "/x").body == b"paper"
    proxy.process.end()
    with pytest.raises(Unreachable, match=r"the proxy socks5h?://\*\*\*@.* refused the connection"):
        web_to(all_proxy=f"{scheme}://me:s3cret@{proxy.place}").get(https(secure) + "/x")


def test_where_the_name_is_looked_up_here_a_socks_proxy_gets_a_judged_address(
    web_to, monkeypatch
) -> None:
    resolving(monkeypatch, evil_org="10.1.1.1")
    with pytest.raises(NotAvailable, match="private network"):
        web_to(all_proxy="socks5://127.0.0.1:9").get("https://evil.org/x")


def test_without_its_package_a_socks_proxy_is_a_clear_sentence(web_to, secure, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "socks", None)
    with pytest.raises(NotConfigured, match="ALL_PROXY is a SOCKS proxy") as refused:
        web_to(all_proxy="socks5h://127.0.0.1:9").get(https(secure) + "/x")
    assert "--extra socks" in refused.value.hint


def test_the_login_is_in_the_request_to_the_proxy_alone(site: Site, new_site, web_for) -> None:
    proxy = new_site()
    proxy.says(site.url + "/x", b"passed on")
    web: Web = web_for(site, http_proxy=proxy.url.replace("//", "//me:s3cret@"))
    assert web.get(site.url + "/x").body == b"passed on"
    assert proxy.visits[0].headers["Proxy-Authorization"] == (
        "Basic " + b64encode(b"me:s3cret").decode()
    )
    assert proxy.visits[0].headers["Host"] == site.url.removeprefix("http://")
