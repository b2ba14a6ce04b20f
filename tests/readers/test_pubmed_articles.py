"""Records one by one: kept as PubMed wrote them, read whole."""

import gzip

import pytest

from tests.fixtures import fixture_text
from utils.errors import BadContent
from utils.readers.pubmed import parse_printed_date
from utils.readers.pubmed_articles import (
    get_medline_title,
    parse_complete_record,
    split_medline_records,
    split_xml_records,
)

RECORD = fixture_text("readers/pubmed_articles_record.xml")
MEDLINE = fixture_text("readers/pubmed_articles_medline.nbib")


def a_set(*pmids):
    rows = "".join(RECORD.format(pmid=pmid) for pmid in pmids)
    return f"<PubmedArticleSet>{rows}</PubmedArticleSet>".encode()


def test_each_record_is_kept_under_its_own_pmid():
    found = split_xml_records(a_set("7", "008"))
    assert list(found) == ["7", "8"]
    assert found["7"].startswith("<PubmedArticle>")
    assert found["7"].endswith("</PubmedArticle>")


def test_an_empty_set_holds_nothing():
    assert split_xml_records(b"<PubmedArticleSet></PubmedArticleSet>") == {}


@pytest.mark.parametrize("body", [b"", b"<html/>", b"<PubmedArticleSet><Pubmed", b"busy"])
def test_what_is_not_pubmeds_xml_is_refused(body):
    with pytest.raises(BadContent):
        split_xml_records(body)


def test_headings_grants_and_the_printed_date():
    article = parse_complete_record(split_xml_records(a_set("7"))["7"])
    assert article.paper.title == "On x & y."
    assert article.printed_date == "2023 Mar 15"
    therapy, genetics, humans = article.headings
    assert (therapy.descriptor, therapy.qualifier, therapy.ui) == (
        "Neoplasms",
        "therapy",
        "D009369",
    )
    assert [h.major for h in (therapy, genetics, humans)] == [True, False, False]
    assert humans.qualifier == ""
    assert [(g.number, g.agency, g.country) for g in article.grants] == [
        ("R01 CA1", "NCI NIH HHS", "United States"),
        ("", "Wellcome", ""),
    ]


def test_medline_is_taken_apart_by_record():
    found = split_medline_records(MEDLINE)
    assert list(found) == ["1", "2"]
    assert (
        get_medline_title(found["1"]) == "A title that is long enough to wrap onto the next line."
    )
    assert get_medline_title(found["2"]) == "A book"
    assert split_medline_records(MEDLINE.replace("\n", "\r\n")).keys() == found.keys()


@pytest.mark.parametrize("text", ["", "\n\n", "id: 1 Error occurred: The following PMID is not "])
def test_no_record_is_nothing_or_no_medline(text):
    said = text + ("available: 1" if text.startswith("id") else "")
    assert split_medline_records(said) == {}


@pytest.mark.parametrize("text", ["<html>", "      only a continuation", "busy", "{}"])
def test_what_is_no_medline_is_refused(text):
    with pytest.raises(BadContent):
        split_medline_records(text)


def test_a_record_without_a_number_is_nobodys():
    assert split_medline_records("TI  - A title\n") == {}


def test_printed_dates_are_read():
    assert parse_printed_date("2015 Nov-Dec") == "2015-11"
    assert parse_printed_date("") == parse_printed_date("undated") == ""


@pytest.mark.shared
def test_real_records_are_read_whole(shared):
    path = shared / "pubmed" / "bulk" / "pubmed21n1298_01.xml.gz"
    records = split_xml_records(gzip.decompress(path.read_bytes()))
    articles = [parse_complete_record(record) for record in list(records.values())[:400]]
    assert [article.paper.ids.pmid for article in articles] == list(records)[:400]
    assert any(article.headings for article in articles)
    assert any(article.grants for article in articles)
    for article in articles:
        descriptors = {heading.descriptor for heading in article.headings}
        assert descriptors == {term.lstrip("*").split("/")[0] for term in article.paper.mesh}
