"""The library's door: one link a paper, for a person's browser."""

from urllib.parse import parse_qs, urlsplit

import pytest

from utils.errors import BadRequest
from utils.model.identifiers import Ids
from utils.model.paper import Author, Paper
from utils.reports.library_links import ReadersLibrary, build_openurl, build_proxy_url
from utils.settings import Settings

PAPER = Paper(
    Ids(doi="10.1000/a<b>", pmid="31452104"),
    title="Moss & frost: ½ a tale",
    authors=(Author(family="O'Leary", given="Niamh"),),
    journal="Proceedings in Old Medicine",
    journal_abbreviation="Proc Old Med",
    issn="0917-0055",
    volume="12",
    issue="3",
    pages="101-112",
    published="2024-05",
)


def asked(url):
    return parse_qs(urlsplit(url).query)


def test_a_resolver_is_told_all_that_is_known():
    said = asked(build_openurl("https://sfx.lib.edu/sfx", PAPER))
    assert said["url_ver"] == ["Z39.88-2004"]
    assert said["rft_id"] == ["info:doi/10.1000/a<b>", "info:pmid/31452104"]
    assert said["rft.atitle"] == ["Moss & frost: ½ a tale"]
    assert (said["rft.spage"], said["rft.epage"]) == (["101"], ["112"])
    assert (said["rft.aulast"], said["rft.date"]) == (["O'Leary"], ["2024-05"])


@pytest.mark.parametrize(
    ("resolver", "joint"),
    [
        ("https://l.edu/sfx", "sfx?url_ver"),
        ("https://l.edu/sfx?", "sfx?url_ver"),
        ("https://l.edu/r?c=01", "c=01&url_ver"),
        ("https://l.edu/r?c=01&", "c=01&url_ver"),
    ],
)
def test_a_resolvers_own_words_stay(resolver, joint):
    assert joint in build_openurl(resolver, PAPER)


@pytest.mark.parametrize(
    ("proxy", "link"),
    [
        ("https://ez.edu/login?url=", "https://ez.edu/login?url=https://doi.org/10.1000/a%3Cb%3E"),
        ("https://ez.edu/login?qurl=",
            "https://ez.edu/login?qurl=https%3A%2F%2Fdoi.org%2F10.1000%2Fa%253Cb%253E"),
        ("https://x.edu/{doi}?p={pmid}", "https://x.edu/10.1000/a%3Cb%3E?p=31452104"),
        ("https://x.edu/?u={url_encoded}",
            "https://x.edu/?u=https%3A%2F%2Fdoi.org%2F10.1000%2Fa%253Cb%253E"),
    ],
)  # fmt: skip
def test_proxies_of_every_kind(proxy, link):
    assert build_proxy_url(proxy, "https://doi.org/10.1000/a%3Cb%3E", PAPER.ids) == link


def test_the_door_that_knows_most_is_taken():
    doors = {"resolver": "https://l.edu/sfx", "proxy": "https://ez.edu/login?url="}
    assert (
        ReadersLibrary(**doors, libkey="12")
        .build_link(PAPER)
        .startswith("https://libkey.io/libraries/12/10.")
    )
    assert ReadersLibrary(**doors).build_link(PAPER).startswith("https://l.edu/sfx?url_ver")
    assert (
        ReadersLibrary(proxy=doors["proxy"])
        .build_link(PAPER)
        .startswith("https://ez.edu/login?url=https://")
    )
    assert not ReadersLibrary().build_link(PAPER)
    assert not ReadersLibrary(**doors, libkey="12").build_link(Paper(Ids()))


@pytest.mark.parametrize(
    "given",
    [
        {"papers_openurl": "javascript:alert(1)"},
        {"papers_ezproxy": "ez.lib.edu/login?url="},
        {"papers_libkey": "12/../34"},
    ],
)
def test_what_is_no_address_is_refused_by_the_settings_name(given):
    [name] = given
    with pytest.raises(BadRequest, match=name.upper()):
        ReadersLibrary.from_settings(Settings(**given))
