"""NLM's listings and MD5 files, in the forms that are known of them."""

import pytest

from tests.world.pubmed_files import Bulk, name_of, packed
from utils.errors import BadContent, NotAvailable, Unreachable
from utils.sources.pubmed_files import (
    BulkFile,
    fetch_baseline_end,
    fetch_file,
    fetch_md5,
    list_files,
)

FILE = BulkFile("pubmed26n0001.xml.gz", "baseline", 26, 1)
# A row as ftp.ncbi.nlm.nih.gov shows it, and the same by `IndexOptions HTMLTable`.
_TABLE = (
    '<td><a href="pubmed26n1335.xml.gz">x</a></td><td align="right">2026-01-31 14:05  </td>'
    '<td align="right"> 24M</td></tr>\n'
)
ROWS = (
    '<a href="pubmed26n1335.xml.gz">pubmed26n1335.xml.gz</a>        2026-01-31 14:05   24M  \n',
    _TABLE,
)


@pytest.mark.parametrize("row", ROWS)
def test_a_row_of_a_listing_says_name_day_and_size(library, world, monkeypatch, row):
    world.bulk = Bulk({name_of(26, 1): b"x"})
    listing = (
        f"<title>Index of /pubmed</title><a href='?C=N;O=D'>Name</a>{row}"
        '<a href="pubmed26n1335_stats.html">s</a><a href="README.txt">README.txt</a></html>'
    )
    monkeypatch.setattr("tests.world.pubmed_files._listing", lambda *_: listing)
    found = list_files(library.web)
    assert {file.name for file in found} == {"pubmed26n1335.xml.gz"}
    assert found[0].listed == "2026-01-31 14:05 24M"
    assert (found[0].size, found[0].sequence) == (24 << 20, "26n1335")


def test_files_come_by_year_and_number_whatever_folder_they_are_in(library, world):
    names = [(27, 1), (26, 1334), (26, 1335), (26, 12000)]
    world.bulk = Bulk(
        {name_of(*name): b"x" for name in names[:2]}, {name_of(*name): b"x" for name in names[2:]}
    )
    found = [(file.year, file.number, file.folder) for file in list_files(library.web)]
    assert found == [
        (26, 1334, "baseline"),
        (26, 1335, "updatefiles"),
        (26, 12000, "updatefiles"),
        (27, 1, "baseline"),
    ]


def test_half_a_listing_is_no_listing(library, world, monkeypatch):
    monkeypatch.setattr(
        "tests.world.pubmed_files._listing", lambda *_: "<title>Index of /pubmed</title><pre>"
    )
    with pytest.raises(Unreachable, match="incomplete listing"):
        list_files(library.web)


def test_the_notice_names_the_last_file_of_the_baseline(library, world):
    world.bulk = Bulk(last=name_of(26, 1334))
    assert fetch_baseline_end(library.web) == (26, 1334)
    world.bulk = Bulk()
    assert fetch_baseline_end(library.web) == (0, 0)


def test_bytes_are_as_they_are_and_held_against_their_md5(library, world):
    data = packed(["<PubmedArticle/>"])
    world.bulk = Bulk({FILE.name: data})
    md5 = fetch_md5(FILE, library.web)
    assert fetch_file(FILE, md5, library.web) == data
    with pytest.raises(BadContent, match=md5):
        fetch_file(FILE, "0" * 32, library.web)


def test_an_md5_of_another_file_is_none(library, world, monkeypatch):
    world.bulk = Bulk({FILE.name: b"x"})
    for told in (f"MD5(pubmed26n0002.xml.gz)= {'a' * 32}", "<html>maintenance</html>"):
        monkeypatch.setattr("tests.world.pubmed_files._md5_line", lambda *_, told=told: told)
        with pytest.raises(BadContent, match="no MD5 of this file"):
            fetch_md5(FILE, library.web)


def test_what_has_vanished_is_not_there(library, world):
    world.bulk = Bulk({FILE.name: b"x"}, vanished={FILE.name})
    with pytest.raises(NotAvailable, match="404"):
        fetch_md5(FILE, library.web)
