"""Choose proxies and trusted certificates for the local network.

Proxies: the variables mean what they mean to curl and requests (curl's manual page, "Environment"),
with two additions: ``*.lab.edu`` in ``NO_PROXY`` matches subdomains, and a port there is compared
with the port of the request, explicit or not. ``PAPERS_PROXY`` comes first, and on macOS and
Windows the system's own settings come last. ``.netrc`` is not read.

Certificates: networks that inspect encrypted traffic sign every site with an authority of their
own. An administrator adds that authority to the system's store, or gives users a file. requests
uses only certifi, and a file given to it *replaces* certifi; here the system's, certifi's and the
named certificates are combined. On Linux that is one OpenSSL context for the process. On macOS and
Windows the system itself verifies (truststore), with the named certificates added; truststore holds
a lock during each handshake, so every pool has a context of its own there, and a slow site delays
only itself. ``VERIFY_X509_STRICT``, which Python 3.13 sets by default, is not set, as in curl and
browsers: it rejects companies' authorities for a missing "Authority Key Identifier" and proves
nothing about the site. Signatures, names and dates are always verified.
"""

from __future__ import annotations

import os
import re
import ssl
import sys
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote, urlsplit

from ..errors import NotConfigured
from ..settings import get_system_proxies, is_proxy_bypassed
from ..system.plain_text import one_line
from .address_policy import get_host_and_port

if TYPE_CHECKING:
    from ..settings import Settings

_PROXY_PORTS = {
    "http": 80,
    "https": 443,
    "socks4": 1080,
    "socks4a": 1080,
    "socks5": 1080,
    "socks5h": 1080,
}
_PROXY_SETTINGS = ("https_proxy", "http_proxy", "all_proxy")


@dataclass(frozen=True, slots=True)
class Proxy:
    """A proxy; false for a direct connection.

    ``variable`` is the setting that names it. User and password are percent-decoded, and not shown.
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
    def description(self) -> str:
        """The proxy for a person: without its password, and with the setting that names it."""
        if not self:
            return "direct"
        secret = "***@" if self.user or self.password else ""
        scheme, _, place = self.url.partition("://")
        return f"{scheme}://{secret}{place} ({self.variable})"

    @property
    def is_socks(self) -> bool:
        """True if the proxy speaks SOCKS."""
        return self.scheme.startswith("socks")

    @property
    def resolves_names(self) -> bool:
        """True if the proxy, not this machine, resolves the site's name."""
        return bool(self) and self.scheme not in ("socks4", "socks5")


DIRECT = Proxy()


def parse_proxy(text: str, variable: str) -> Proxy:
    """Parse the proxy that a setting names.

    >>> parse_proxy("me:p%40ss@proxy.lab:3128", "HTTPS_PROXY").description
    'http://***@proxy.lab:3128 (HTTPS_PROXY)'

    Raises
    ------
    NotConfigured
        The text is not the address of a proxy. The text is not shown: it may hold a password.
    """
    text = text.strip()
    if text.lower() == "direct":
        return DIRECT
    try:
        parts = urlsplit(text if "://" in text else f"http://{text}")
        scheme, host, port = parts.scheme.lower(), parts.hostname or "", parts.port
        sound = (
            scheme in _PROXY_PORTS and bool(host) and port != 0 and not any(map(str.isspace, text))
        )
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
    return Proxy(scheme, host, port or _PROXY_PORTS[scheme], user, password, variable)


class ProxyRules:
    """Chooses the proxy for every host.

    Parameters
    ----------
    settings : Settings

    Raises
    ------
    NotConfigured
        From `find_proxy`: a variable is not the address of a proxy.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def find_proxy(self, url: str) -> Proxy:
        """Return the proxy for the host of *url*."""
        host, port = get_host_and_port(url)
        matching = [
            rule for rule in self._rules if rule != "*" and _matches_pattern(rule, host, port)
        ]
        if matching:
            return self._rules[max(matching, key=len)]
        if any(_matches_pattern(pattern, host, port) for pattern in self._direct_patterns):
            return DIRECT
        if "*" in self._rules:
            return self._rules["*"]
        scheme = urlsplit(url).scheme
        return (
            self._by_scheme.get(scheme)
            or self._by_scheme.get("all")
            or self._find_system_proxy(scheme, host)
        )

    def list_proxies(self) -> list[Proxy]:
        """Return every named proxy, even one that no host needs."""
        return [*self._rules.values(), *self._by_scheme.values()]

    @cached_property
    def _rules(self) -> dict[str, Proxy]:
        """The rules of PAPERS_PROXY by pattern; ``*`` is any other host."""
        rules: dict[str, Proxy] = {}
        for part in filter(None, map(str.strip, self._settings.key("papers_proxy").split(","))):
            # A password may hold a "="; a host and a pattern hold neither that nor a ":" before it.
            pattern, equals, text = part.partition("=")
            if not equals or "/" in pattern or "@" in pattern:
                pattern, text = "*", part
            rules[pattern.strip().lower()] = parse_proxy(text, "PAPERS_PROXY")
        return rules

    @cached_property
    def _by_scheme(self) -> dict[str, Proxy]:
        """The proxies of the usual variables, by scheme."""
        values = {name: self._settings.key(name) for name in _PROXY_SETTINGS}
        return {
            name.removesuffix("_proxy"): parse_proxy(text, name.upper())
            for name, text in values.items()
            if text
        }

    @cached_property
    def _direct_patterns(self) -> list[str]:
        """The patterns of NO_PROXY."""
        return [part for part in self._settings.no_proxy.replace(",", " ").lower().split() if part]

    @cached_property
    def _system_proxies(self) -> dict[str, Proxy]:
        """The proxies of the system's own settings, unless a variable names a proxy."""
        values = {} if self._by_scheme else get_system_proxies()
        return {
            scheme: parse_proxy(text, "the system's settings") for scheme, text in values.items()
        }

    def _find_system_proxy(self, scheme: str, host: str) -> Proxy:
        """Return the proxy of the system's own settings, if no variable names a proxy."""
        proxy = self._system_proxies.get(scheme, DIRECT)
        return DIRECT if proxy and is_proxy_bypassed(host) else proxy


def _matches_pattern(pattern: str, host: str, port: int) -> bool:
    """Return whether a pattern of ``NO_PROXY`` matches this host.

    >>> [_matches_pattern("lab.edu", host, 443) for host in ("lab.edu", "a.lab.edu", "notlab.edu")]
    [True, True, False]
    >>> _matches_pattern("lab.edu:8443", "lab.edu", 443)
    False
    >>> _matches_pattern("10.0.0.0/8", "10.1.2.3", 80)
    True
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


BUNDLE_SETTINGS = ("papers_ca_bundle", "ssl_cert_file", "ssl_cert_dir", "requests_ca_bundle",
             "curl_ca_bundle")  # fmt: skip
# Where Linux distributions keep the bundle; Python's own OpenSSL may look elsewhere, as conda's and
# uv's do (Go's crypto/x509/root_linux.go has the same list).
_SYSTEM_BUNDLE_PATHS = (
    "/etc/ssl/certs/ca-certificates.crt",  # Debian, Ubuntu, Arch
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",  # Fedora, Red Hat
    "/etc/pki/tls/certs/ca-bundle.crt",  # older ones of these
    "/etc/ssl/ca-bundle.pem",  # SUSE
    "/etc/ssl/cert.pem",  # Alpine, BSD
)
_PEM_START = b"-----BEGIN "
_HASHED_NAME = re.compile(r"[0-9a-f]{8}\.[0-9]+")
_SYSTEM_VERIFIES = sys.platform in ("darwin", "win32")
_contexts_by_bundles: dict[tuple[Bundle, ...], ssl.SSLContext] = {}
_lock = threading.Lock()
if hasattr(os, "register_at_fork"):  # a thread that is not there any more may have held it
    os.register_at_fork(after_in_child=_lock._at_fork_reinit)  # type: ignore[attr-defined]  # noqa: SLF001


class Bundle(NamedTuple):
    """A file or folder of certificates, and the variable that names it."""

    variable: str
    path: Path


def list_named_bundles(settings: Settings) -> tuple[Bundle, ...]:
    """Return the certificate bundles that the settings name."""
    return tuple(
        Bundle(name.upper(), Path(path).expanduser())
        for name in BUNDLE_SETTINGS
        for path in str(getattr(settings, name) or "").split(_get_separator(name))
        if path
    )


def get_tls_context(settings: Settings) -> ssl.SSLContext:
    """Return the TLS context of a pool of connections: shared, except on macOS and Windows.

    Raises
    ------
    NotConfigured
        A bundle is missing, cannot be read, or holds no certificate.
    """
    named = list_named_bundles(settings)
    if _SYSTEM_VERIFIES:
        return _add_bundles(_create_system_context(), named)
    with _lock:
        if named not in _contexts_by_bundles:
            _contexts_by_bundles[named] = _add_bundles(_create_openssl_context(), named)
        return _contexts_by_bundles[named]


def create_unverified_context() -> ssl.SSLContext:
    """Return a context for inspecting a rejected certificate; nothing is sent through it."""
    blind = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    blind.check_hostname = False
    blind.verify_mode = ssl.CERT_NONE
    return blind


def list_certificate_sources(settings: Settings) -> list[str]:
    """Return the sources of trusted certificates, for display."""
    usual = (
        ["the system's own"]
        if _SYSTEM_VERIFIES
        else [*map(str, _find_system_bundles()), "certifi's"]
    )
    return [
        *usual,
        *(f"{bundle.path} ({bundle.variable})" for bundle in list_named_bundles(settings)),
    ]


def _get_separator(name: str) -> str:
    """Return the separator of several paths; only OpenSSL's folders may be several."""
    return os.pathsep if name == "ssl_cert_dir" else "\0"


def _create_system_context() -> ssl.SSLContext:
    """Return a context in which the operating system verifies certificates."""
    import truststore

    return truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def _create_openssl_context() -> ssl.SSLContext:
    """Return a context with the system's and certifi's certificates."""
    import certifi

    ssl_context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    ssl_context.minimum_version = ssl.TLSVersion.TLSv1_2
    # A named certificate is trusted even if it is not a root.
    ssl_context.verify_flags |= ssl.VerifyFlags.VERIFY_X509_PARTIAL_CHAIN
    for path in _find_system_bundles():
        with suppress(OSError):  # ssl.SSLError is one
            ssl_context.load_verify_locations(cafile=path)
    folder = ssl.get_default_verify_paths().openssl_capath
    if Path(folder).is_dir():
        ssl_context.load_verify_locations(capath=folder)  # read when needed, by hash
    ssl_context.load_verify_locations(cafile=certifi.where())
    return ssl_context


def _find_system_bundles() -> list[Path]:
    """Return the system's certificate bundles, whatever SSL_CERT_FILE says."""
    own = Path(ssl.get_default_verify_paths().openssl_cafile)
    known = next((path for path in map(Path, _SYSTEM_BUNDLE_PATHS) if path.is_file()), None)
    loaded_paths = (path.resolve() for path in (known, own) if path and path.is_file())
    return list(dict.fromkeys(loaded_paths))


def _add_bundles(ssl_context: ssl.SSLContext, named: tuple[Bundle, ...]) -> ssl.SSLContext:
    """Add the named bundles to a context; raise `NotConfigured` for an unusable one."""
    loaded_paths = (
        set() if _SYSTEM_VERIFIES else set(_find_system_bundles())
    )  # many variables name the usual bundle
    for variable, path in named:
        if path.resolve() in loaded_paths:
            continue
        loaded_paths.add(path.resolve())
        try:
            loaded = (
                _load_folder(ssl_context, path) if path.is_dir() else _load_file(ssl_context, path)
            )
        except OSError as error:
            raise _build_bundle_error(
                variable, path, f"cannot be read ({error.strerror})"
            ) from None
        if not loaded:
            raise _build_bundle_error(variable, path, "holds no certificate in PEM or DER form")
    return ssl_context


def _load_folder(ssl_context: ssl.SSLContext, folder: Path) -> bool:
    """Add every certificate in *folder*, which may hold other files too.

    OpenSSL itself reads a folder that was prepared by ``c_rehash``, file by file when needed.
    """
    files = [path for path in sorted(folder.iterdir()) if path.is_file()]
    if not _SYSTEM_VERIFIES and any(_HASHED_NAME.fullmatch(path.name) for path in files):
        ssl_context.load_verify_locations(capath=folder)
        return True
    return sum(_load_file(ssl_context, path) for path in files) > 0


def _load_file(ssl_context: ssl.SSLContext, path: Path) -> bool:
    """Add the certificates of a file; return False if it holds none."""
    content = path.read_bytes()
    try:
        if _PEM_START in content:
            ssl_context.load_verify_locations(cafile=path)
        else:
            ssl_context.load_verify_locations(cadata=content)
    except (ssl.SSLError, ValueError):
        return False
    return bool(content)


def _build_bundle_error(variable: str, path: Path, why: str) -> NotConfigured:
    """Return the error for an unusable bundle."""
    return NotConfigured(
        f"{variable}: {path} {why}.",
        f"Correct it (export {variable}=/path/to/ca.pem) or unset it: unset {variable}",
    )


@dataclass(frozen=True, slots=True)
class Certificate:
    """A site's certificate: subject and issuer as text, and the date of expiry."""

    subject: str
    issuer: str
    until: datetime

    @classmethod
    def parse(cls, der: bytes) -> Certificate:
        """Parse a certificate in DER form.

        Raises
        ------
        ValueError
            The bytes are not a certificate.
        """
        from cryptography import x509

        parsed = x509.load_der_x509_certificate(der)
        return cls(
            _to_readable_name(parsed.subject),
            _to_readable_name(parsed.issuer),
            parsed.not_valid_after_utc,
        )


def _to_readable_name(name: object) -> str:
    """Return the common name and organization of a certificate's subject or issuer."""
    from cryptography.x509 import Name
    from cryptography.x509.oid import NameOID

    assert isinstance(name, Name)
    names = [
        one_line(str(attribute.value))[:100]
        for oid in (NameOID.COMMON_NAME, NameOID.ORGANIZATION_NAME)
        for attribute in name.get_attributes_for_oid(oid)
    ]
    return ", ".join(dict.fromkeys(names)) or "an unnamed issuer"
