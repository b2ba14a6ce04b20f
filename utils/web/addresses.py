"""Where we may go: public hosts, and the ones the settings name.

Links and redirects are written by strangers. One that leads to ``localhost``, to the router or to a
cloud's metadata service would make us fetch, and hand to a reader, what the stranger cannot reach
(server-side request forgery). So a host that no ``*_base_url`` names must have a public address,
judged on the address we really connect to, and URLs that only an attacker would write are refused.
Ranges: IANA special-purpose address registries, as known to `ipaddress`, and what it lets pass.
"""

from __future__ import annotations

import re
from functools import cached_property
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, urlsplit

from ..errors import NotOffered

if TYPE_CHECKING:
    from ..settings import Settings

PORTS = {"http": 80, "https": 443}
# Sites that allow programs on their interfaces only, and call scripted reading of their pages a
# breach of their terms (NLM KA-05510, PMC and Europe PMC copyright pages, arXiv's robots page).
_INTERFACES_ONLY = ("ncbi.nlm.nih.gov", "europepmc.org", "arxiv.org")
_NAT64 = IPv6Network("64:ff9b::/96")
_NAT64_LOCAL = IPv6Network("64:ff9b:1::/48")
_AZURE_HOST = IPv4Address("168.63.129.16")  # public by number, the hypervisor by nature
_NETLOC = re.compile(r"[^\s\\@\x00-\x20\x7f]+")


def is_public(address: str) -> bool:
    """Whether *address* (a numeric IP) is on the open internet.

    >>> [is_public(a) for a in ("8.8.8.8", "127.0.0.1", "169.254.169.254", "100.64.0.1")]
    [True, False, False, False]
    >>> [is_public(a) for a in ("::ffff:10.0.0.1", "64:ff9b::a00:1", "2606:4700::1111")]
    [False, False, True]
    """
    ip = ip_address(address.partition("%")[0])
    if isinstance(ip, IPv6Address):
        inner = ip.ipv4_mapped or ip.sixtofour
        if ip in _NAT64:
            inner = IPv4Address(int(ip) & 0xFFFFFFFF)
        if inner:
            return is_public(str(inner))
        if ip in _NAT64_LOCAL or ip.is_site_local:
            return False
    unusual = ip.is_multicast or ip.is_reserved or ip.is_unspecified or ip == _AZURE_HOST
    return ip.is_global and not unusual


def parse(url: str) -> SplitResult:
    """The parts of a URL we are ready to ask for.

    Raises
    ------
    NotOffered
        Not ``http(s)``, no host, a user name in it, or spelled to be read in two ways.
    """
    try:
        parts = urlsplit(url)
        sound = parts.port != 0 and bool(parts.hostname) and bool(_NETLOC.fullmatch(parts.netloc))
    except ValueError:
        msg = "A link could not be read as an address."
        raise NotOffered(msg) from None
    if parts.scheme not in PORTS:
        msg = f"A link uses {parts.scheme[:20] or 'no'}: where only http and https are followed."
        raise NotOffered(msg, blocked=True)
    if not sound:
        msg = "A link carries a user name or characters that no host name has; it was not followed."
        raise NotOffered(msg, blocked=True)
    return parts


def site(url: str) -> tuple[str, int]:
    """Host (lower case) and port of a URL.

    >>> site("https://A.org/x"), site("http://a.org:8080")
    (('a.org', 443), ('a.org', 8080))
    """
    parts = urlsplit(url)
    return (parts.hostname or "").rstrip("."), parts.port or PORTS.get(parts.scheme, 0)


class Guard:
    """Knows which hosts need no public address: those of the settings.

    Parameters
    ----------
    settings : Settings
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    @cached_property
    def _trusted(self) -> frozenset[tuple[str, int]]:
        fields = type(self._settings).model_fields
        return frozenset(
            site(getattr(self._settings, name)) for name in fields if name.endswith("_base_url")
        )

    def trusts(self, host: str, port: int) -> bool:
        """Whether *host* may have any address."""
        free = self._settings.papers_allow_private_network
        return free or (host.lower().rstrip("."), port) in self._trusted

    @cached_property
    def _interfaces(self) -> tuple[str, ...]:
        fields = type(self._settings).model_fields
        return tuple(getattr(self._settings, name) for name in fields if name.endswith("_base_url"))

    def open_to_programs(self, url: str) -> bool:
        """Whether the site of *url* lets programs read it: no page of PMC, for instance."""
        host = site(url)[0].lower()
        closed = any(host == name or host.endswith(f".{name}") for name in _INTERFACES_ONLY)
        return not closed or any(
            url == base or url.startswith((f"{base}/", f"{base}?")) for base in self._interfaces
        )

    def require_open_to_programs(self, url: str) -> None:
        """Let *url* pass, unless its site closes its pages to programs.

        Raises
        ------
        NotOffered
            The page is for people; the site's interface is asked elsewhere on the ladder.
        """
        if not self.open_to_programs(url):
            msg = f"{site(url)[0]} does not let programs read its pages; it was not asked."
            raise NotOffered(msg, "Its interface is asked in its own place on the ladder.")

    def refuse(self, host: str) -> NotOffered:
        """The refusal of a host that turned out to be private."""
        return NotOffered(
            f"A link or redirect to {host} led into a private network; it was not followed.",
            "Set PAPERS_ALLOW_PRIVATE_NETWORK=true if that is your own mirror.",
            blocked=True,
        )
