"""Which proxy a request goes through, if any.

The variables mean what they mean to curl and requests (curl's manual page, "Environment"), with
two liberties: ``*.lab.edu`` in ``NO_PROXY`` means what its writer meant, and a port there is held
against the port that is asked, named or not. ``PAPERS_PROXY`` comes first, and on macOS and Windows
the system's own settings come last. ``.netrc`` is not read.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from ipaddress import ip_address, ip_network
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from ..errors import NotConfigured
from ..settings import bypasses_system_proxies, system_proxies
from .address_policy import site

if TYPE_CHECKING:
    from ..settings import Settings

_PORTS = {
    "http": 80,
    "https": 443,
    "socks4": 1080,
    "socks4a": 1080,
    "socks5": 1080,
    "socks5h": 1080,
}
_NAMED = ("https_proxy", "http_proxy", "all_proxy")


@dataclass(frozen=True, slots=True)
class Proxy:
    """A proxy; false when a request goes straight.

    ``variable`` is the setting that says so. User and password are percent-decoded, and not shown.
    """

    scheme: str = ""
    host: str = ""
    port: int = 0
    user: str = field(default="", repr=False)
    password: str = field(default="", repr=False)
    variable: str = ""

    def __bool__(self) -> bool:
        return bool(self.host)

    @property
    def url(self) -> str:
        """The proxy without its password."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}"

    @property
    def shown(self) -> str:
        """For a person: the proxy, whether it gets a password, and which setting names it."""
        if not self:
            return "direct"
        secret = "***@" if self.user or self.password else ""
        scheme, _, place = self.url.partition("://")
        return f"{scheme}://{secret}{place} ({self.variable})"

    @property
    def socks(self) -> bool:
        """Whether it speaks SOCKS."""
        return self.scheme.startswith("socks")

    @property
    def resolves_names(self) -> bool:
        """Whether the proxy looks up the site's name, and not we."""
        return bool(self) and self.scheme not in ("socks4", "socks5")


DIRECT = Proxy()


def parse(text: str, variable: str) -> Proxy:
    """Read the proxy that a setting names.

    >>> parse("me:p%40ss@proxy.lab:3128", "HTTPS_PROXY").shown
    'http://***@proxy.lab:3128 (HTTPS_PROXY)'

    Raises
    ------
    NotConfigured
        It is not the address of a proxy. Its text is not repeated: it may hold a password.
    """
    text = text.strip()
    if text.lower() == "direct":
        return DIRECT
    try:
        parts = urlsplit(text if "://" in text else f"http://{text}")
        scheme, host, port = parts.scheme.lower(), parts.hostname or "", parts.port
        sound = scheme in _PORTS and bool(host) and port != 0 and not any(map(str.isspace, text))
    except ValueError:
        sound = False
    if not sound:
        msg = f"{variable} is not the address of a proxy."
        raise NotConfigured(
            msg,
            f"Write it so: export {variable}=http://USER:PASSWORD@HOST:PORT",
            "In the password @ is written %40, # %23, / %2F, a comma %2C and % itself %25.",
        )
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    return Proxy(scheme, host, port or _PORTS[scheme], user, password, variable)


class ProxyRules:
    """Chooses the proxy for every host.

    Parameters
    ----------
    settings : Settings

    Raises
    ------
    NotConfigured
        From `proxy_for`: a variable is not the address of a proxy.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def proxy_for(self, url: str) -> Proxy:
        """The proxy for the host of *url*."""
        host, port = site(url)
        matching = [rule for rule in self._rules if rule != "*" and _matches(rule, host, port)]
        if matching:
            return self._rules[max(matching, key=len)]
        if any(_matches(pattern, host, port) for pattern in self._bypassed):
            return DIRECT
        if "*" in self._rules:
            return self._rules["*"]
        scheme = urlsplit(url).scheme
        return (
            self._by_scheme.get(scheme)
            or self._by_scheme.get("all")
            or self._system_proxy(scheme, host)
        )

    def all(self) -> list[Proxy]:
        """Every proxy that is named, whether or not a host is reached through it."""
        return [*self._rules.values(), *self._by_scheme.values()]

    @cached_property
    def _rules(self) -> dict[str, Proxy]:
        """What PAPERS_PROXY says, by pattern; ``*`` is every host that has no rule of its own."""
        rules: dict[str, Proxy] = {}
        for part in filter(None, map(str.strip, self._settings.key("papers_proxy").split(","))):
            # A password may hold a "="; a host and a pattern hold neither that nor a ":" before it.
            pattern, equals, text = part.partition("=")
            if not equals or "/" in pattern or "@" in pattern:
                pattern, text = "*", part
            rules[pattern.strip().lower()] = parse(text, "PAPERS_PROXY")
        return rules

    @cached_property
    def _by_scheme(self) -> dict[str, Proxy]:
        values = {name: self._settings.key(name) for name in _NAMED}
        return {
            name.removesuffix("_proxy"): parse(text, name.upper())
            for name, text in values.items()
            if text
        }

    @cached_property
    def _bypassed(self) -> list[str]:
        return [part for part in self._settings.no_proxy.replace(",", " ").lower().split() if part]

    @cached_property
    def _system_proxies(self) -> dict[str, Proxy]:
        values = {} if self._by_scheme else system_proxies()
        return {scheme: parse(text, "the system's settings") for scheme, text in values.items()}

    def _system_proxy(self, scheme: str, host: str) -> Proxy:
        """The proxy of the system's own settings, where no variable names one."""
        proxy = self._system_proxies.get(scheme, DIRECT)
        return DIRECT if proxy and bypasses_system_proxies(host) else proxy


def _matches(pattern: str, host: str, port: int) -> bool:
    """Whether a pattern of ``NO_PROXY`` means this host.

    >>> [_matches("lab.edu", host, 443) for host in ("lab.edu", "a.lab.edu", "notlab.edu")]
    [True, True, False]
    >>> _matches("lab.edu:8443", "lab.edu", 443), _matches("10.0.0.0/8", "10.1.2.3", 80)
    (False, True)
    """
    if pattern == "*":
        return True
    try:
        address = ip_address(host)
    except ValueError:
        name, _, wanted = pattern.partition(":")
        name = name.removeprefix("*").strip(".")
        there = not wanted or wanted == str(port)
        return bool(name) and there and (host == name or host.endswith(f".{name}"))
    for end in ("", f":{port}"):
        try:
            return address in ip_network(pattern.removesuffix(end).strip("[]"), strict=False)
        except ValueError:
            continue
    return False
