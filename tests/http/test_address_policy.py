from __future__ import annotations

import pytest

from utils.errors import NotAvailable
from utils.http import address_policy
from utils.settings import Settings

PRIVATE = [
    "127.0.0.1", "127.8.8.8", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1",
    "169.254.169.254", "100.64.0.1", "100.127.255.255", "0.0.0.0", "0.1.2.3", "224.0.0.1",
    "239.1.1.1", "240.0.0.1", "255.255.255.255", "198.18.0.1", "192.0.2.1", "203.0.113.9",
    "168.63.129.16", "::1", "::", "fe80::1", "fe80::1%eth0", "fc00::1", "fd12::1", "ff02::1",
    "fec0::1", "::ffff:127.0.0.1", "::ffff:10.1.2.3", "::127.0.0.1", "64:ff9b::7f00:1",
    "64:ff9b::a9fe:a9fe", "64:ff9b:1::1", "2002:7f00:1::", "2002:c0a8:101::1", "2001:db8::1",
    "2001::1",
]  # fmt: skip
PUBLIC = ["8.8.8.8", "1.1.1.1", "130.14.29.110", "2607:f220:41e:4290::110", "64:ff9b::808:808"]


@pytest.mark.parametrize("address", PRIVATE)
def test_addresses_off_the_open_internet_are_private(address: str) -> None:
    assert not address_policy.is_public_address(address)


@pytest.mark.parametrize("address", PUBLIC)
def test_addresses_on_the_open_internet_are_public(address: str) -> None:
    assert address_policy.is_public_address(address)


@pytest.mark.parametrize(
    "url",
    [
        "ftp://a.org/x",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "//a.org/x",
        "http://me@a.org/",
        "http://me:pw@a.org/",
        "http://b.org\\@a.org/",
        "http://a.org\x7f/",
        "http:///x",
        "http://a.org:99999/",
        "http://a.org:x/",
        "http://[::1/",
        "",
    ],
)
def test_an_address_only_an_attacker_would_write_is_refused(url: str) -> None:
    with pytest.raises(NotAvailable):
        address_policy.parse_url(url)


@pytest.mark.parametrize("url", ["http://a.org", "https://a.org:8443/x?y=z@w#f", "HTTP://[::1]/"])
def test_an_ordinary_address_is_taken(url: str) -> None:
    assert address_policy.parse_url(url).hostname


def test_only_host_and_port_of_the_settings_are_trusted() -> None:
    policy = address_policy.AddressPolicy(Settings(doi_base_url="http://mirror.lan:8080/doi"))
    assert policy.is_trusted_host("mirror.lan", 8080)
    assert policy.is_trusted_host("Eutils.NCBI.nlm.nih.gov.", 443)
    assert not policy.is_trusted_host("mirror.lan", 80)
    assert not policy.is_trusted_host("lan", 8080)


def test_everything_is_trusted_where_private_networks_are_allowed() -> None:
    assert address_policy.AddressPolicy(
        Settings(papers_allow_private_network=True)
    ).is_trusted_host("x", 1)
