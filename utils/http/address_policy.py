"""Decide which hosts may be connected to, and which redirects may be followed.

Strangers write links and redirects. A link to ``localhost``, to the router or to a cloud's metadata
service would make us fetch, and pass to a reader, data that the stranger cannot reach (server-side
request forgery). So a host that no ``*_base_url`` names must have a public address, checked on the
address that we really connect to, and URLs that only an attacker would write are rejected. A
redirect carries only the headers and keys that its new host may see.

Behind a proxy, the proxy resolves the name and connects. Then the *name* is checked, at every
redirect: private numbers, ``localhost`` and names of local networks are rejected, and so is a name
that resolves to a private address here. Many such networks cannot resolve names of the internet at
all, so an unknown name is accepted: the proxy must keep such names from resolving to private
addresses.

Address ranges: IANA's special-purpose registries, as implemented by `ipaddress`.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, parse_qsl, urldefrag, urljoin, urlsplit

from ..errors import NotAvailable
from .messages import KEY_PARAMETERS, Answer, Request, has_secrets

if TYPE_CHECKING:
    from ..settings import Settings

DEFAULT_PORTS = {"http": 80, "https": 443}
# Sites that allow programs on their interfaces only, and call scripted reading of their pages a
# breach of their terms (NLM KA-05510, PMC and Europe PMC copyright pages, arXiv's robots page).
_INTERFACES_ONLY = ("ncbi.nlm.nih.gov", "europepmc.org", "arxiv.org")
_NAT64 = IPv6Network("64:ff9b::/96")
_NAT64_LOCAL = IPv6Network("64:ff9b:1::/48")
_AZURE_HOST = IPv4Address("168.63.129.16")  # the hypervisor, although the address is public
# RFC 6761, 6762, 8375; names that routers and companies use (IANA, "name collision").
_LOCAL_NAMES = ("localhost", "local", "internal", "localdomain", "home.arpa", "lan", "intranet",
                "corp", "home", "private", "in-addr.arpa", "ip6.arpa")  # fmt: skip
_NUMBER_LABEL = re.compile(r"[0-9]+|0x[0-9a-f]*", re.I)
_LOCAL_DNS_S = 2.0  # timeout for the local DNS if a proxy resolves names
_KNOWN_S, _KNOWN = 600.0, 4096  # seconds and number of permitted names that are remembered
_NETLOC = re.compile(r"[^\s\\@\x00-\x20\x7f]+")
MAX_REDIRECTS = 10
"""Redirects we follow for one request."""
_REDIRECT_STATUSES = frozenset({301, 302, 303, 307, 308})
# Headers that any site may see; every other header may carry a key.
_HARMLESS_HEADERS = frozenset({
    "accept", "accept-encoding", "accept-language", "user-agent", "range", "if-match",
    "if-none-match", "if-modified-since", "if-unmodified-since", "if-range",
})  # fmt: skip


def is_public_address(address: str) -> bool:
    """Return whether *address* (a numeric IP) is on the open internet.

    >>> [is_public_address(a) for a in ("8.8.8.8", "127.0.0.1", "169.254.169.254", "100.64.0.1")]
    [True, False, False, False]
    >>> [is_public_address(a) for a in ("::ffff:10.0.0.1", "64:ff9b::a00:1", "2606:4700::1111")]
    [False, False, True]
    """
    ip = ip_address(address.partition("%")[0])
    if isinstance(ip, IPv6Address):
        inner = ip.ipv4_mapped or ip.sixtofour
        if ip in _NAT64:
            inner = IPv4Address(int(ip) & 0xFFFFFFFF)
        if inner:
            return is_public_address(str(inner))
        if ip in _NAT64_LOCAL or ip.is_site_local:
            return False
    unusual = ip.is_multicast or ip.is_reserved or ip.is_unspecified or ip == _AZURE_HOST
    return ip.is_global and not unusual


def parse_url(url: str) -> SplitResult:
    """Parse a URL, and reject one that must not be requested.

    Raises
    ------
    NotAvailable
        The URL is not ``http(s)``, has no host, has a user name, or is ambiguous.
    """
    try:
        parts = urlsplit(url)
        sound = parts.port != 0 and bool(parts.hostname) and bool(_NETLOC.fullmatch(parts.netloc))
    except ValueError:
        msg = "A link is not a valid address."
        raise NotAvailable(msg) from None
    if parts.scheme not in DEFAULT_PORTS:
        msg = (
            f"A link uses {parts.scheme[:20] or 'no scheme'}, and only http and https are followed."
        )
        raise NotAvailable(msg, blocked=True)
    if not sound:
        msg = "A link contains a user name or an invalid host name; it was not followed."
        raise NotAvailable(msg, blocked=True)
    return parts


def is_local_name(host: str) -> bool:
    """Return whether *host* is a name of a local network, or a number.

    Numbers count unless they are a public address in its usual spelling: ``127.1`` and
    ``2130706433`` are loopback to most resolvers (WHATWG URL: a last label that is a number).

    >>> [is_local_name(h) for h in ("localhost", "wiki", "nas.local", "127.1", "0x7f000001")]
    [True, True, True, True, True]
    >>> [is_local_name(h) for h in ("10.0.0.5", "::1", "8.8.8.8", "doi.org", "2606:4700::1111")]
    [True, True, False, False, False]
    """
    name = host.lower().rstrip(".")
    try:
        return not is_public_address(name)
    except ValueError:
        pass
    last = name.rpartition(".")[2]
    local = any(name == end or name.endswith(f".{end}") for end in _LOCAL_NAMES)
    return local or last == name or bool(_NUMBER_LABEL.fullmatch(last))


def is_url_of_this_machine(url: str) -> bool:
    """Return whether *url* leads to this machine, or has no host.

    >>> is_url_of_this_machine("http://[::1]:11434/v1"), is_url_of_this_machine("postgresql://db.lab.edu/papers")
    (True, False)
    """
    host = urlsplit(url).hostname or "localhost"
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def get_host_and_port(url: str) -> tuple[str, int]:
    """Return the host (lower case) and port of a URL.

    >>> get_host_and_port("https://A.org/x"), get_host_and_port("http://a.org:8080")
    (('a.org', 443), ('a.org', 8080))
    """
    parts = urlsplit(url)
    return (parts.hostname or "").rstrip("."), parts.port or DEFAULT_PORTS.get(parts.scheme, 0)


class AddressPolicy:
    """Decides which hosts and pages may be requested; hosts named in the settings may be private.

    Parameters
    ----------
    settings : Settings
    also_trusted : iterable of str, optional
        Further addresses whose hosts may be private, for a client that asks only these.
    """

    def __init__(self, settings: Settings, also_trusted: Iterable[str] = ()) -> None:
        self._settings = settings
        self._also_trusted = frozenset(map(get_host_and_port, also_trusted))
        self._known: dict[str, float] = {}
        self._lock = threading.Lock()

    @cached_property
    def _trusted_sites(self) -> frozenset[tuple[str, int]]:
        """The hosts and ports of the settings, which may have private addresses."""
        fields = type(self._settings).model_fields
        named = [getattr(self._settings, name) for name in fields if name.endswith("_base_url")]
        return self._also_trusted.union(map(get_host_and_port, named))

    def is_trusted_host(self, host: str, port: int) -> bool:
        """Return whether *host* may have a private address."""
        free = self._settings.papers_allow_private_network
        return free or (host.lower().rstrip("."), port) in self._trusted_sites

    @cached_property
    def _api_addresses(self) -> tuple[str, ...]:
        """The addresses of the sites' interfaces, which programs may use."""
        fields = type(self._settings).model_fields
        return tuple(getattr(self._settings, name) for name in fields if name.endswith("_base_url"))

    def is_open_to_programs(self, url: str) -> bool:
        """Return whether the site of *url* lets programs read it; PMC's pages do not."""
        host = get_host_and_port(url)[0].lower()
        closed = any(host == name or host.endswith(f".{name}") for name in _INTERFACES_ONLY)
        return not closed or any(
            url == base or url.startswith((f"{base}/", f"{base}?")) for base in self._api_addresses
        )

    def require_open_to_programs(self, url: str) -> None:
        """Reject *url* if its site closes its pages to programs.

        Raises
        ------
        NotAvailable
            The site forbids programs to read its pages; its interface is another rung of the
            ladder.
        """
        if not self.is_open_to_programs(url):
            host = get_host_and_port(url)[0]
            msg = f"{host} does not let programs read its pages; no request was sent."
            raise NotAvailable(msg, "Its interface for programs is requested separately.")

    def require_public_name(
        self, host: str, port: int, look_up: Callable[[str, int, float], list[Any]]
    ) -> None:
        """Reject a name, to be resolved by a proxy, that leads into a private network.

        Parameters
        ----------
        look_up
            Asks the local DNS, with a timeout in seconds; the name may be unknown there.

        Raises
        ------
        NotAvailable
            The name is local, or has a private address in the local DNS.
        """
        if self.is_trusted_host(host, port):
            return
        if is_local_name(host):
            raise self.build_private_address_error(host)
        with self._lock:
            if self._known.get(host, 0.0) > time.monotonic():
                return
        try:
            found = [str(info[4][0]) for info in look_up(host, port, _LOCAL_DNS_S)]
        except (OSError, UnicodeError):  # TimeoutError is an OSError
            found = []
        if not all(map(is_public_address, found)):
            raise self.build_private_address_error(host)
        with self._lock:
            if len(self._known) >= _KNOWN:
                self._known.clear()
            self._known[host] = time.monotonic() + _KNOWN_S

    def build_private_address_error(self, host: str) -> NotAvailable:
        """Return the error for a host with a private address."""
        return NotAvailable(
            f"A link or redirect to {host} led into a private network; it was not followed.",
            "Set PAPERS_ALLOW_PRIVATE_NETWORK=true if that is your own mirror.",
            blocked=True,
        )


def is_redirect(answer: Answer) -> bool:
    """Return whether *answer* is a redirect with an address."""
    return answer.status in _REDIRECT_STATUSES and "location" in answer.headers


def build_redirect(hop: Request, answer: Answer) -> Request:
    """Return the next request after a redirect.

    Raises
    ------
    NotAvailable
        The redirect would resend a form, show a key over plain HTTP, or leave the web.
    """
    host = urlsplit(hop.url).netloc
    if hop.method != "GET":
        msg = f"{host} redirected a {hop.method} request; it was not sent again."
        raise NotAvailable(msg, status=answer.status)
    target = _parse_location(hop.url, answer.headers["location"])
    parts = parse_url(target)
    headers = dict(hop.headers)
    if not _is_on_same_server(hop.url, target):
        headers = {name: v for name, v in headers.items() if _is_harmless_header(name)}
    carries = not all(map(_is_harmless_header, headers)) or has_secrets(parts.query)
    if carries and urlsplit(hop.url).scheme == "https" and parts.scheme == "http":
        msg = f"{host} redirected a request with a key to plain HTTP; it was not followed."
        raise NotAvailable(msg, status=answer.status)
    return replace(hop, url=target, params=None, headers=headers)


def has_credentials(hop: Request) -> bool:
    """Return whether *hop* carries data that only its own site may see."""
    names = {*(hop.params or ()), *(hop.form or ()), *dict(parse_qsl(urlsplit(hop.url).query))}
    return not all(map(_is_harmless_header, hop.headers)) or not KEY_PARAMETERS.isdisjoint(
        map(str.lower, names)
    )


def _is_harmless_header(header: str) -> bool:
    """Return whether a header may be sent to any site."""
    return header.lower() in _HARMLESS_HEADERS


def _is_on_same_server(one: str, other: str) -> bool:
    """Return whether two URLs have the same host, on the same or the usual ports."""
    here, there = get_host_and_port(one), get_host_and_port(other)
    return here[0] == there[0] and (here[1] == there[1] or {here[1], there[1]} == {80, 443})


def _parse_location(base: str, location: str) -> str:
    """Return the target of a Location header, which http.client decodes as Latin-1."""
    with suppress(UnicodeError):
        location = location.encode("latin-1").decode()
    try:
        return urldefrag(urljoin(base, location.strip())).url
    except ValueError:
        msg = f"{urlsplit(base).netloc} redirected to an invalid address."
        raise NotAvailable(msg) from None
