"""Preprints by the address that the servers' API names. Rows: https://api.biorxiv.org."""

import pytest

from tests.sources.reader import article_of
from utils.errors import NotAvailable
from utils.sources.biorxiv import fetch_full_text

BIORXIV, MEDRXIV = "10.1101/2025.03.14.643211", "10.1101/2020.03.19.20039131"
JATS = "https://www.biorxiv.org/content/early/2025/04/01/2025.03.14.643211.source.xml"
ARTICLE = '<?xml version="1.0"?><!DOCTYPE article SYSTEM "a.dtd"><article><body/></article>'


def details(doi, server="biorxiv"):
    return f"https://api.biorxiv.org/details/{server}/{doi}/na/json"


def row(doi, version, jats, license_="cc_by_nc"):
    return {"doi": doi, "version": version, "jatsxml": jats, "license": license_}


def answer(*rows, status="ok"):
    return {"messages": [{"status": status}], "collection": rows}


@pytest.mark.parametrize(
    ("doi", "server"),
    [
        (BIORXIV, "biorxiv"), (MEDRXIV, "medrxiv"), ("10.1101/339747", "biorxiv"),
        ("10.64898/2026.01.02.700001", "biorxiv"), ("10.64898/2026.01.02.26340001", "medrxiv"),
    ],
)  # fmt: skip
def test_the_newest_version_comes_with_its_license(web, mocked, doi, server):
    rows = [
        row(doi, "2", "https://a.test/2"),
        row(doi, "10", JATS),
        row(doi, "9", "https://a.test/9"),
    ]
    mocked.get(details(doi, server), json=answer(*rows))
    mocked.get(JATS, body=ARTICLE)
    [fetched] = fetch_full_text(article_of(doi), web)
    assert (fetched.media, fetched.version, fetched.license) == ("jats", "preprint", "cc_by_nc")


@pytest.mark.parametrize(
    "rows", [(), (row("10.1101/2025.03.14.1", "1", JATS),), (row(BIORXIV, "1", None),), (None, 1)]
)
def test_an_unknown_preprint_is_not_available(web, mocked, rows):
    mocked.get(details(BIORXIV), json=answer(*rows, status="no posts found"))
    with pytest.raises(NotAvailable, match="knows no text"):
        list(fetch_full_text(article_of(BIORXIV), web))


@pytest.mark.parametrize("doi", ["10.1101/gr.123456.111", "10.1101/lm.045", "10.1000/a"])
def test_journals_of_the_same_publisher_are_not_asked_for(web, mocked, doi):
    with pytest.raises(NotAvailable, match="not a preprint"):
        list(fetch_full_text(article_of(doi), web))
    assert not mocked.calls
