"""Whose certificates are believed: the system's, certifi's, and what the person names.

Networks that look into encrypted traffic sign every site anew, with an authority of their own. It
is in the system's store where an administrator put it, or in a file that the person was told to
name. requests knows only certifi, and a file named to it *replaces* that; here all is added up.

On Linux that is one OpenSSL context for the process. On macOS and Windows the system itself judges
(truststore), also by what the person names; truststore holds a lock through each handshake, so
there every pool has a context of its own, and a slow site holds up only itself.

``VERIFY_X509_STRICT``, which Python 3.13 sets by default, is left out, as curl and browsers do: it
refuses authorities of companies for a missing "Authority Key Identifier" and proves nothing about
the site. Signatures, names and dates are always verified; there is no way to switch that off.
"""

from __future__ import annotations

import os
import ssl
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ..errors import NotConfigured

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
_SYSTEM_JUDGES = sys.platform in ("darwin", "win32")

_contexts: dict[tuple[Bundle, ...], ssl.SSLContext] = {}
_lock = threading.Lock()


class Bundle(NamedTuple):
    """A file or folder of certificates, and the variable that names it."""

    variable: str
    path: Path


def bundles(settings: Settings) -> tuple[Bundle, ...]:
    """What the person names."""
    return tuple(
        Bundle(name.upper(), Path(path).expanduser())
        for name in VARIABLES
        for path in str(getattr(settings, name) or "").split(_between(name))
        if path
    )


def context(settings: Settings) -> ssl.SSLContext:
    """What a pool of connections verifies with: the same one for all, except see above.

    Raises
    ------
    NotConfigured
        A bundle is missing, cannot be read, or holds no certificate.
    """
    named = bundles(settings)
    if _SYSTEM_JUDGES:
        return _added(_judged_by_system(), named)
    with _lock:
        if named not in _contexts:
            _contexts[named] = _added(_judged_by_openssl(), named)
        return _contexts[named]


def unverifying() -> ssl.SSLContext:
    """For looking at a certificate that was refused; nothing is ever sent through it."""
    blind = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    blind.check_hostname = False
    blind.verify_mode = ssl.CERT_NONE
    return blind


def sources(settings: Settings) -> list[str]:
    """In words for a person: who is believed."""
    usual = ["the system's own"] if _SYSTEM_JUDGES else [*map(str, _systems()), "certifi's"]
    return [*usual, *(f"{bundle.path} ({bundle.variable})" for bundle in bundles(settings))]


def _between(name: str) -> str:
    """What stands between several paths; only OpenSSL's folders may be several."""
    return os.pathsep if name == "ssl_cert_dir" else "\0"


def _judged_by_system() -> ssl.SSLContext:
    import truststore

    return truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def _judged_by_openssl() -> ssl.SSLContext:
    import certifi

    made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    made.minimum_version = ssl.TLSVersion.TLSv1_2
    # What the person names is believed, also when it is not a root.
    made.verify_flags |= ssl.VerifyFlags.VERIFY_X509_PARTIAL_CHAIN
    for path in _systems():
        with suppress(OSError):  # ssl.SSLError is one
            made.load_verify_locations(cafile=path)
    folder = ssl.get_default_verify_paths().openssl_capath
    if Path(folder).is_dir():
        made.load_verify_locations(capath=folder)  # read when needed, by hash
    made.load_verify_locations(cafile=certifi.where())
    return made


def _systems() -> list[Path]:
    """The system's bundle; the compiled-in place, whatever SSL_CERT_FILE says."""
    own = Path(ssl.get_default_verify_paths().openssl_cafile)
    known = next((path for path in map(Path, _BUNDLES) if path.is_file()), None)
    return [path for path in dict.fromkeys((known, own)) if path and path.is_file()]


def _added(made: ssl.SSLContext, named: tuple[Bundle, ...]) -> ssl.SSLContext:
    for variable, path in named:
        try:
            loaded = _load_folder(made, path) if path.is_dir() else _load(made, path)
        except OSError as error:
            raise _unusable(variable, path, f"cannot be read ({error.strerror})") from None
        if not loaded:
            raise _unusable(variable, path, "holds no certificate in PEM or DER form")
    return made


def _load_folder(made: ssl.SSLContext, folder: Path) -> bool:
    """Add every certificate in *folder*; other files may lie there, too."""
    files = [path for path in sorted(folder.iterdir()) if path.is_file()]
    return sum(_load(made, path) for path in files) > 0


def _load(made: ssl.SSLContext, path: Path) -> bool:
    """Add the certificates of a file, if it holds any."""
    content = path.read_bytes()
    try:
        if _PEM in content:
            made.load_verify_locations(cafile=path)
        else:
            made.load_verify_locations(cadata=content)
    except (ssl.SSLError, ValueError):
        return False
    return bool(content)


def _unusable(variable: str, path: Path, why: str) -> NotConfigured:
    return NotConfigured(
        f"{variable}: {path} {why}.",
        f"Correct it (export {variable}=/path/to/ca.pem) or unset it: unset {variable}",
    )
