"""Which certificates are trusted: the system's, certifi's, and those that the settings name.

Networks that inspect encrypted traffic sign every site anew, with an authority of their own. It is
in the system's store where an administrator put it, or in a file that the person was told to name.
requests knows only certifi, and a file named to it *replaces* that; here all are added up.

On Linux that is one OpenSSL context for the process. On macOS and Windows the system itself judges
(truststore), also by what the person names, and certifi has nothing to add; truststore holds a lock
through each handshake, so there every pool has a context of its own, and a slow site holds up only
itself.

``VERIFY_X509_STRICT``, which Python 3.13 sets by default, is left out, as in curl and browsers: it
refuses authorities of companies for a missing "Authority Key Identifier" and proves nothing about
the site. Signatures, names and dates are always verified; there is no way to switch that off.

`Certificate` shows subject, issuer and expiry to a person who has to find out who issued it.
"""

from __future__ import annotations

import os
import re
import ssl
import sys
import threading
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ..errors import NotConfigured
from ..system.plain_text import one_line

if TYPE_CHECKING:
    from ..settings import Settings

VARIABLES = ("papers_ca_bundle", "ssl_cert_file", "ssl_cert_dir", "requests_ca_bundle",
             "curl_ca_bundle")  # fmt: skip
# Where Linux distributions keep the bundle; Python's own OpenSSL may look elsewhere, as conda's and
# uv's do (Go's crypto/x509/root_linux.go has the same list).
_BUNDLES = (
    "/etc/ssl/certs/ca-certificates.crt",  # Debian, Ubuntu, Arch
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",  # Fedora, Red Hat
    "/etc/pki/tls/certs/ca-bundle.crt",  # older ones of these
    "/etc/ssl/ca-bundle.pem",  # SUSE
    "/etc/ssl/cert.pem",  # Alpine, BSD
)
_PEM = b"-----BEGIN "
_HASHED = re.compile(r"[0-9a-f]{8}\.[0-9]+")
_SYSTEM_VERIFIES = sys.platform in ("darwin", "win32")
_contexts: dict[tuple[Bundle, ...], ssl.SSLContext] = {}
_lock = threading.Lock()
if hasattr(os, "register_at_fork"):  # a thread that is not there any more may have held it
    os.register_at_fork(after_in_child=_lock._at_fork_reinit)  # type: ignore[attr-defined]  # noqa: SLF001


class Bundle(NamedTuple):
    """A file or folder of certificates, and the variable that names it."""

    variable: str
    path: Path


def bundles(settings: Settings) -> tuple[Bundle, ...]:
    """The bundles that the settings name."""
    return tuple(
        Bundle(name.upper(), Path(path).expanduser())
        for name in VARIABLES
        for path in str(getattr(settings, name) or "").split(_separator(name))
        if path
    )


def context(settings: Settings) -> ssl.SSLContext:
    """The TLS context of a pool of connections: one for all, except on macOS and Windows.

    Raises
    ------
    NotConfigured
        A bundle is missing, cannot be read, or holds no certificate.
    """
    named = bundles(settings)
    if _SYSTEM_VERIFIES:
        return _add_bundles(_system_context(), named)
    with _lock:
        if named not in _contexts:
            _contexts[named] = _add_bundles(_openssl_context(), named)
        return _contexts[named]


def unverifying() -> ssl.SSLContext:
    """A context for looking at a certificate that was refused; nothing is sent through it."""
    blind = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    blind.check_hostname = False
    blind.verify_mode = ssl.CERT_NONE
    return blind


def describe_sources(settings: Settings) -> list[str]:
    """In words for a person: whose certificates are trusted."""
    usual = (
        ["the system's own"] if _SYSTEM_VERIFIES else [*map(str, _system_bundles()), "certifi's"]
    )
    return [*usual, *(f"{bundle.path} ({bundle.variable})" for bundle in bundles(settings))]


def _separator(name: str) -> str:
    """The separator of several paths; only OpenSSL's folders may be several."""
    return os.pathsep if name == "ssl_cert_dir" else "\0"


def _system_context() -> ssl.SSLContext:
    import truststore

    return truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def _openssl_context() -> ssl.SSLContext:
    import certifi

    ssl_context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    ssl_context.minimum_version = ssl.TLSVersion.TLSv1_2
    # What the person names is believed, also when it is not a root.
    ssl_context.verify_flags |= ssl.VerifyFlags.VERIFY_X509_PARTIAL_CHAIN
    for path in _system_bundles():
        with suppress(OSError):  # ssl.SSLError is one
            ssl_context.load_verify_locations(cafile=path)
    folder = ssl.get_default_verify_paths().openssl_capath
    if Path(folder).is_dir():
        ssl_context.load_verify_locations(capath=folder)  # read when needed, by hash
    ssl_context.load_verify_locations(cafile=certifi.where())
    return ssl_context


def _system_bundles() -> list[Path]:
    """The system's bundle; the compiled-in place, whatever SSL_CERT_FILE says."""
    own = Path(ssl.get_default_verify_paths().openssl_cafile)
    known = next((path for path in map(Path, _BUNDLES) if path.is_file()), None)
    loaded_paths = (path.resolve() for path in (known, own) if path and path.is_file())
    return list(dict.fromkeys(loaded_paths))


def _add_bundles(ssl_context: ssl.SSLContext, named: tuple[Bundle, ...]) -> ssl.SSLContext:
    loaded_paths = (
        set() if _SYSTEM_VERIFIES else set(_system_bundles())
    )  # many variables name the usual bundle
    for variable, path in named:
        if path.resolve() in loaded_paths:
            continue
        loaded_paths.add(path.resolve())
        try:
            loaded = _load_folder(ssl_context, path) if path.is_dir() else _load(ssl_context, path)
        except OSError as error:
            raise _unusable_error(variable, path, f"cannot be read ({error.strerror})") from None
        if not loaded:
            raise _unusable_error(variable, path, "holds no certificate in PEM or DER form")
    return ssl_context


def _load_folder(ssl_context: ssl.SSLContext, folder: Path) -> bool:
    """Add every certificate in *folder*; other files may lie there, too.

    A folder that was prepared for OpenSSL (``c_rehash``) is left to it: it reads what it needs.
    """
    files = [path for path in sorted(folder.iterdir()) if path.is_file()]
    if not _SYSTEM_VERIFIES and any(_HASHED.fullmatch(path.name) for path in files):
        ssl_context.load_verify_locations(capath=folder)
        return True
    return sum(_load(ssl_context, path) for path in files) > 0


def _load(ssl_context: ssl.SSLContext, path: Path) -> bool:
    """Add the certificates of a file, if it holds any."""
    content = path.read_bytes()
    try:
        if _PEM in content:
            ssl_context.load_verify_locations(cafile=path)
        else:
            ssl_context.load_verify_locations(cadata=content)
    except (ssl.SSLError, ValueError):
        return False
    return bool(content)


def _unusable_error(variable: str, path: Path, why: str) -> NotConfigured:
    return NotConfigured(
        f"{variable}: {path} {why}.",
        f"Correct it (export {variable}=/path/to/ca.pem) or unset it: unset {variable}",
    )


@dataclass(frozen=True, slots=True)
class Certificate:
    """A site's certificate: subject and issuer as text, and when it expires."""

    subject: str
    issuer: str
    until: datetime

    @classmethod
    def parse(cls, der: bytes) -> Certificate:
        """Read a certificate in DER form.

        Raises
        ------
        ValueError
            It is none.
        """
        from cryptography import x509

        parsed = x509.load_der_x509_certificate(der)
        return cls(
            _readable_name(parsed.subject),
            _readable_name(parsed.issuer),
            parsed.not_valid_after_utc,
        )


def _readable_name(name: object) -> str:
    """Common name and organization."""
    from cryptography.x509 import Name
    from cryptography.x509.oid import NameOID

    assert isinstance(name, Name)
    names = [
        one_line(str(attribute.value))[:100]
        for oid in (NameOID.COMMON_NAME, NameOID.ORGANIZATION_NAME)
        for attribute in name.get_attributes_for_oid(oid)
    ]
    return ", ".join(dict.fromkeys(names)) or "somebody without a name"
