"""Whose certificates are believed: what the system has, what certifi has, what the person names."""

import os
import shutil
import ssl
import subprocess
from pathlib import Path

import pytest
import trustme

from tests.forward_proxies import Authority
from tests.http.conftest import Site
from utils.errors import NotConfigured, Unreachable
from utils.http import Web, network
from utils.settings import Settings


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path / "authority", "Lab Network")


def encrypted(site: Site, certificate: trustme.LeafCert) -> ssl.SSLContext:
    """Have *site* show a certificate; the context takes another one later."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    certificate.configure_cert(context)
    site.socket = context.wrap_socket(site.socket, server_side=True, do_handshake_on_connect=False)
    return context


@pytest.fixture
def secure(new_site, authority: Authority) -> Site:
    site: Site = new_site()
    encrypted(site, authority.ca.issue_cert("localhost"))
    site.says("/x", b"paper")
    return site


def url(site: Site) -> str:
    return f"https://localhost:{site.server_port}/x"


@pytest.fixture
def web_with(secure: Site, web_for):
    def make(**settings: object) -> Web:
        base = url(secure).removesuffix("/x")
        return web_for(doi_base_url=base, **{"ncbi_max_retries": 1, **settings})

    return make


def folder(authority: Authority) -> Path:
    """As an administrator leaves it: other things lie there, too."""
    there = authority.cert.parent / "certificates"
    there.mkdir()
    (there / "lab.crt").write_bytes(authority.cert.read_bytes())
    (there / "readme.txt").write_text("not a certificate", encoding="utf-8")
    (there / "lab.key").write_bytes(authority.key.read_bytes())
    (there / "older").mkdir()
    return there


def der(authority: Authority) -> Path:
    """As Windows exports it."""
    path = authority.cert.with_suffix(".cer")
    path.write_bytes(ssl.PEM_cert_to_DER_cert(authority.cert.read_text(encoding="utf-8")))
    return path


def annotated(authority: Authority) -> Path:
    path = authority.cert.with_name("annotated.pem")
    path.write_bytes("# Universität Köln\n".encode() + authority.cert.read_bytes())
    return path


def itself(authority: Authority) -> Path:
    return authority.cert


@pytest.mark.parametrize(
    ("variable", "made"),
    [
        ("PAPERS_CA_BUNDLE", itself),
        ("PAPERS_CA_BUNDLE", folder),
        ("PAPERS_CA_BUNDLE", der),
        ("PAPERS_CA_BUNDLE", annotated),
        ("SSL_CERT_FILE", itself),
        ("SSL_CERT_DIR", folder),
        ("REQUESTS_CA_BUNDLE", itself),
        ("CURL_CA_BUNDLE", itself),
    ],
)
@pytest.mark.parametrize("system_judges", [False, True], ids=["openssl", "truststore"])
def test_an_authority_that_is_named_is_believed(
    secure, web_with, authority, monkeypatch, variable, made, system_judges
) -> None:
    """With truststore, as on macOS and Windows; it runs here, too."""
    monkeypatch.setattr(network, "_SYSTEM_VERIFIES", system_judges)
    with pytest.raises(Unreachable, match="certificate"):
        web_with().get(url(secure))
    monkeypatch.setenv(variable, str(made(authority)))
    assert web_with().get(url(secure)).body == b"paper"


def test_a_folder_prepared_for_openssl_is_read_as_openssl_reads_it(
    secure, web_with, authority, tmp_path
) -> None:
    openssl = shutil.which("openssl")
    if not openssl:
        pytest.skip("needs the openssl command")
    command = [openssl, "x509", "-hash", "-noout", "-in", str(authority.cert)]
    name = subprocess.run(
        command, capture_output=True, text=True, check=True, encoding="utf-8"
    ).stdout.strip()
    (tmp_path / "hashed").mkdir()
    (tmp_path / "hashed" / f"{name}.0").write_bytes(authority.cert.read_bytes())
    assert web_with(ssl_cert_dir=str(tmp_path / "hashed")).get(url(secure)).body == b"paper"


def test_several_folders_are_named_as_openssl_names_them(secure, web_with, authority, tmp_path):
    other = Authority(tmp_path / "other", "Other")
    both = os.pathsep.join((str(other.cert.parent), str(folder(authority))))
    assert web_with(ssl_cert_dir=both).get(url(secure)).body == b"paper"


def test_nothing_that_is_named_takes_anything_away(authority, tmp_path, monkeypatch) -> None:
    """requests would believe the last one only."""
    other = Authority(tmp_path / "other", "Other")
    monkeypatch.setenv("SSL_CERT_FILE", str(other.cert))
    usual = len(network.get_tls_context(Settings(ssl_cert_file="")).get_ca_certs())
    both = Settings(papers_ca_bundle=authority.cert)
    believed = network.get_tls_context(both).get_ca_certs()
    assert usual > 50
    assert len(believed) == usual + 2
    names = {str(one["subject"]) for one in believed}
    assert sum("Lab Network" in name or "Other" in name for name in names) == 2


def test_what_is_named_need_not_be_a_root(new_site, web_for, tmp_path) -> None:
    """Administrators hand out what signs, and that may itself be signed."""
    middle = trustme.CA().create_child_ca()
    path = tmp_path / "middle.pem"
    middle.cert_pem.write_to_path(path)
    site = new_site()
    encrypted(site, middle.issue_cert("localhost"))
    site.says("/x", b"paper")
    base = url(site).removesuffix("/x")
    assert web_for(doi_base_url=base, papers_ca_bundle=path).get(url(site)).body == b"paper"


def test_verification_is_as_strict_as_curls_and_never_off() -> None:
    made = network.get_tls_context(Settings())
    assert made.verify_mode is ssl.CERT_REQUIRED
    assert made.check_hostname
    assert made.minimum_version >= ssl.TLSVersion.TLSv1_2
    assert not made.verify_flags & ssl.VerifyFlags.VERIFY_X509_STRICT


@pytest.mark.parametrize("variable", network.BUNDLE_SETTINGS)
@pytest.mark.parametrize(
    "content", [None, b"", b"no certificate", b"-----BEGIN CERTIFICATE-----\n"]
)
def test_a_bundle_that_cannot_be_used_is_named_with_its_variable(
    secure, web_with, tmp_path, variable, content
) -> None:
    path = tmp_path / "wrong.pem"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(NotConfigured, match=f"^{variable.upper()}: .*wrong") as refused:
        web_with(**{variable: str(path)}).get(url(secure))
    assert f"unset {variable.upper()}" in refused.value.hint
    assert secure.visits == []


def test_an_empty_folder_is_no_bundle(secure, web_with, tmp_path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(NotConfigured, match="holds no certificate"):
        web_with(papers_ca_bundle=tmp_path / "empty").get(url(secure))


def test_all_threads_and_libraries_of_a_process_share_one_context(authority) -> None:
    named = Settings(papers_ca_bundle=authority.cert)
    assert network.get_tls_context(named) is network.get_tls_context(named.model_copy())
    assert network.get_tls_context(named) is not network.get_tls_context(Settings())


def test_where_the_system_judges_no_site_waits_for_anothers_handshake(monkeypatch) -> None:
    monkeypatch.setattr(network, "_SYSTEM_VERIFIES", True)
    assert network.get_tls_context(Settings()) is not network.get_tls_context(Settings())


def test_a_certificate_that_changes_in_mid_run(new_site, authority, web_for, tmp_path) -> None:
    """A renewed one is believed; a stranger's ends it at once, and for as long as it stands."""
    site = new_site()
    shown = encrypted(site, authority.ca.issue_cert("localhost"))
    site.says("/x", b"paper", Connection="close")
    base = url(site).removesuffix("/x")
    web = web_for(doi_base_url=base, papers_ca_bundle=authority.cert)
    assert web.get(url(site)).body == b"paper"
    authority.ca.issue_cert("localhost").configure_cert(shown)
    assert web.get(url(site)).body == b"paper"
    Authority(tmp_path / "stranger", "Stranger").ca.issue_cert("localhost").configure_cert(shown)
    with pytest.raises(Unreachable, match="certificate that cannot be trusted") as refused:
        web.get(url(site))
    assert len(site.visits) == 2
    assert refused.value.details["lasting"]
    assert web.transport.fetch_certificate(url(site), 10).issuer == "Stranger"
    assert len(site.visits) == 2  # looking asks for nothing
    authority.ca.issue_cert("localhost").configure_cert(shown)
    assert web.get(url(site)).body == b"paper"


def test_a_certificate_for_another_name_or_too_old_says_so(new_site, authority, web_for) -> None:
    import datetime as dt

    old = authority.ca.issue_cert("localhost", not_after=dt.datetime(2020, 1, 1, tzinfo=dt.UTC),
                                  not_before=dt.datetime(2019, 1, 1, tzinfo=dt.UTC))  # fmt: skip
    for certificate, why, hint in (
        (authority.ca.issue_cert("other.org"), "made out to another name", "login page"),
        (old, "expired", "clock"),
    ):
        site = new_site()
        encrypted(site, certificate)
        base = url(site).removesuffix("/x")
        web = web_for(doi_base_url=base, papers_ca_bundle=authority.cert)
        with pytest.raises(Unreachable, match=why) as refused:
            web.get(url(site))
        assert hint in refused.value.hint
        assert "again" not in str(refused.value.envelope())
