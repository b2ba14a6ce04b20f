"""Real forward proxies, as hospitals and universities have them: with a password, looking into TLS.

proxy.py speaks HTTP, and signs every site anew where it is given an authority; pproxy speaks SOCKS.
Both run in processes of their own, which end with the test.
"""

import re
import socket
import sys
from pathlib import Path

import trustme

from tests.processes import Process, eventually


class Authority:
    """A private authority for certificates, its files in a folder."""

    def __init__(self, folder: Path, name: str) -> None:
        folder.mkdir()
        self.ca = trustme.CA(organization_name=name)
        self.cert, self.key, self.signing_key = (
            folder / file for file in ("ca.pem", "ca.key", "signing.key")
        )
        self.ca.cert_pem.write_to_path(self.cert)
        self.ca.private_key_pem.write_to_path(self.key)
        # The key of the certificates that an inspecting proxy makes up.
        trustme.CA().private_key_pem.write_to_path(self.signing_key)


class Proxy:
    """A proxy for HTTP on loopback.

    Parameters
    ----------
    folder
        Where it keeps its log and the certificates it makes.
    login
        ``user:password`` to ask for.
    inspects
        Looks into encrypted traffic: signs with the first authority, trusts the second.
    port
        Where to listen; anywhere for 0.
    encrypted
        Is itself spoken to by TLS, as ``localhost``, with a certificate of this authority.
    """

    def __init__(
        self,
        folder: Path,
        login: str = "",
        inspects: tuple[Authority, Authority] | None = None,
        port: int = 0,
        encrypted: Authority | None = None,
    ) -> None:
        folder.mkdir(exist_ok=True)
        self._log = folder / "log"
        told = folder / "port"
        told.unlink(missing_ok=True)
        options = [f"--port={port}", f"--port-file={told}", f"--log-file={self._log}"]
        if login:
            options.append(f"--basic-auth={login}")
        if inspects:
            own, theirs = inspects
            options += [f"--ca-cert-file={own.cert}", f"--ca-key-file={own.key}"]
            options += [f"--ca-signing-key-file={own.signing_key}", f"--ca-file={theirs.cert}"]
            options += [f"--ca-cert-dir={folder / 'certificates'}"]
        if encrypted:
            shown = encrypted.ca.issue_cert("localhost")
            shown.private_key_pem.write_to_path(folder / "key.pem")
            for number, part in enumerate(shown.cert_chain_pems):
                part.write_to_path(folder / "cert.pem", append=number > 0)
            options += [f"--key-file={folder / 'key.pem'}", f"--cert-file={folder / 'cert.pem'}"]
        fixed = ["--hostname=127.0.0.1", "--num-acceptors=1", "--num-workers=1", "--timeout=60"]
        command = [sys.executable, "-m", "proxy", *fixed, *options]
        self.process = Process(command, cwd=folder)
        assert eventually(lambda: told.exists() and told.read_text(encoding="utf-8").strip())
        self.port = int(told.read_text(encoding="utf-8"))
        self.place = f"127.0.0.1:{self.port}"
        assert eventually(lambda: _listens(self.port))

    @property
    def tunnels(self) -> list[str]:
        """Host and port of each tunnel that was asked for and is over, as its log has them."""
        return re.findall(r"CONNECT ([^ ]+:\d+)", self._log.read_text(encoding="utf-8"))

    @property
    def forwarded(self) -> list[str]:
        """The plain requests it passed on."""
        return re.findall(r"GET ([^ ]+:\d+/[^ ]*)", self._log.read_text(encoding="utf-8"))

    def die(self) -> None:
        """End it at once."""
        self.process.end()


class SocksProxy:
    """A proxy for SOCKS 5 (and 4) on loopback, with a password where one is given."""

    def __init__(self, login: str = "") -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        at = f"socks5://127.0.0.1:{self.port}" + (f"/#{login}" if login else "")
        self.process = Process([sys.executable, "-m", "pproxy", "-l", at])
        assert eventually(lambda: _listens(self.port))
        self.place = f"127.0.0.1:{self.port}"


def _listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port)).close()
    except OSError:
        return False
    return True
