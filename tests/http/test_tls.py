"""Encrypted connections: trusted, untrusted, and never finished."""

import datetime as dt
import ipaddress
import ssl
import threading
from pathlib import Path

import pytest

from tests.http.conftest import Site, Visit
from utils.errors import NotAvailable, Unreachable
from utils.http import Web


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A self-signed certificate for 127.0.0.1, with its key."""
    x509 = pytest.importorskip("cryptography.x509")
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "loopback")])
    today = dt.datetime.now(dt.UTC)
    address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(today - dt.timedelta(days=1))
        .not_valid_after(today + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([address]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    path = tmp_path_factory.mktemp("tls") / "site.pem"
    pem = serialization.Encoding.PEM
    private = key.private_bytes(
        pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path.write_bytes(made.public_bytes(pem) + private)
    return path


@pytest.fixture
def secure(new_site, certificate: Path) -> Site:
    site: Site = new_site()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    site.socket = context.wrap_socket(site.socket, server_side=True, do_handshake_on_connect=False)
    return site


def https(site: Site) -> str:
    return site.url.replace("http:", "https:")


@pytest.fixture
def trusting(monkeypatch: pytest.MonkeyPatch, certificate: Path) -> None:
    monkeypatch.setenv("PAPERS_CA_BUNDLE", str(certificate))


def test_an_unknown_certificate_is_refused_in_words_and_not_retried(
    secure: Site, web_for, clock
) -> None:
    secure.says("/x", b"paper")
    with pytest.raises(Unreachable, match="certificate that cannot be trusted"):
        web_for(doi_base_url=https(secure)).get(https(secure) + "/x")
    assert secure.visits == []
    assert clock.naps == []


@pytest.mark.usefixtures("trusting")
def test_a_paper_arrives_over_an_encrypted_connection(secure: Site, web_for) -> None:
    secure.says("/x", b"paper" * 20_000)
    web: Web = web_for(doi_base_url=https(secure))
    for _ in range(2):
        assert web.get(https(secure) + "/x").body == b"paper" * 20_000
    assert len({visit.client_address for visit in secure.visits}) == 1


@pytest.mark.usefixtures("trusting")
def test_the_address_is_judged_before_the_handshake(secure: Site, web_for) -> None:
    with pytest.raises(NotAvailable, match="private network"):
        web_for().get(https(secure) + "/x")


@pytest.mark.real_time
@pytest.mark.usefixtures("trusting")
def test_dripping_over_an_encrypted_connection_ends_at_the_deadline(secure: Site, web_for) -> None:
    def drip(visit: Visit) -> None:
        visit.wfile.write(b"HTTP/1.1 200 OK\r\nX: ")
        while not secure.stopped.wait(0.05):
            visit.raw(b"x")

    web: Web = web_for(doi_base_url=https(secure), ncbi_max_retries=1)
    web.deadline = 0.4
    secure.on("/x", drip)
    with pytest.raises(Unreachable, match="did not answer in time"):
        web.get(https(secure) + "/x")


@pytest.mark.real_time
def test_a_handshake_that_drips_ends_at_the_deadline(web_for) -> None:
    import socket

    stopped = threading.Event()

    def serve(listener: socket.socket) -> None:
        connection, _ = listener.accept()
        with connection:
            connection.sendall(b"\x16\x03\x03\x40\x00\x02\x00\x3f\xfc")
            while not stopped.wait(0.05):
                try:
                    connection.sendall(b"x")
                except OSError:
                    return

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=serve, args=(listener,), daemon=True).start()
        url = f"https://127.0.0.1:{listener.getsockname()[1]}"
        web: Web = web_for(doi_base_url=url, ncbi_max_retries=1)
        web.deadline = 0.4
        with pytest.raises(Unreachable, match="did not answer in time"):
            web.get(url + "/x")
        stopped.set()
