"""Where records end, in every form; and parts of them that put together are the whole."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from utils.entrez.databases import DATABASES, find_record_format
from utils.entrez.fetching import RecordTexts, cut_record_passage, split_records
from utils.errors import BadContent, PaperError
from utils.http import Answer


def split(body, database, rettype="", retmode=""):
    raw = body if isinstance(body, bytes) else body.encode()
    form = find_record_format(DATABASES[database], rettype, retmode)
    return split_records(Answer(200, "http://a.org/x", raw), form)


TEXTS = {
    "fasta": (">a 1\nACGT\nAC\n\n>b\nTT\n", "nuccore", "fasta", "text", 2),
    "flat": ("LOCUS       A\nORIGIN\n//\n\nLOCUS       B\n//\n", "nuccore", "gb", "text", 2),
    "medline": ("\nPMID- 1\nTI  - A\n\nPMID- 2\nPMC - PMC2\nTI  - B\n", "pubmed", "medline", "", 2),
    "json": ('{"refsnp_id":"1"}\n{"refsnp_id":"2"}\n', "snp", "json", "text", 2),
    "accessions": ("A.1\nB.2\nC.3\n", "protein", "acc", "text", 3),
    "reports": ("\n1. X\nOne.\n\n7. paragraph\n\n2. Y\n", "gene", "", "text", 2),
    "abstracts": ("1. J. 2026.\n\nOne.\n\n\n2. J. 2026.\n\nTwo.\n", "pubmed", "abstract", "", 2),
    "asn1": ("Seq-entry ::= set {\n a }\n\nSeq-entry ::= seq {\n}\n", "nuccore", "native", "text",
             2),
    "runs": ("Run,spots\nSRR1,2\nSRR2,3\n", "sra", "runinfo", "text", 3),
}  # fmt: skip
every = pytest.mark.parametrize("name", TEXTS)


@every
def test_records_are_taken_apart_and_nothing_is_lost(name):
    body, database, rettype, retmode, count = TEXTS[name]
    records = split(body, database, rettype, retmode)
    assert len(records.pieces) == count
    assert "".join(records.pieces).strip() == body.strip()


def test_only_where_a_piece_is_a_record_do_they_count():
    assert split(TEXTS["fasta"][0], "nuccore", "fasta", "text").counted
    assert not split(TEXTS["runs"][0], "sra", "runinfo", "text").counted
    assert not split("<Bioseq-set><x/></Bioseq-set>", "protein", "native", "xml").counted


def test_a_set_of_xml_is_its_children_within_its_root():
    body = '<GBSet xmlns:x="u"><!--no--><GBSeq>1</GBSeq>\n<GBSeq>2</GBSeq></GBSet>'
    records = split(body, "nuccore", "gb", "xml")
    assert records.pieces == (
        '<GBSeq xmlns:x="u">1</GBSeq>', '<GBSeq xmlns:x="u">2</GBSeq>'
    )  # fmt: skip
    shown = cut_record_passage(records, 0, 10_000)
    assert [node.text for node in etree.fromstring(shown.text)] == ["1", "2"]


def test_what_the_answer_says_of_missing_articles_is_no_record():
    body = '<pmc-articleset><article/><Reply Id="7" error="not available: 7"/></pmc-articleset>'
    records = split(body, "pmc")
    assert len(records.pieces) == 1
    assert records.refused == {"7": "not available: 7"}


def test_a_line_about_a_missing_record_is_no_record():
    body = "1: id: 9 Error occurred: The following PMID is not available: 9\n"
    assert split(body, "pubmed", "abstract").pieces == ()
    spaced = "F a i l e d  t o  u n d e r s t a n d  i d :  X"
    body = f">a\nAC\nError: {spaced}\n>b\nGT\n"
    assert split(body, "nuccore", "fasta", "text").pieces == (">a\nAC\n", ">b\nGT\n")
    assert split(f"Error: {spaced} \n\n", "nuccore", "gb", "xml").pieces == ()


@pytest.mark.parametrize(
    ("body", "database", "rettype", "retmode"),
    [
        ("<html><body>busy</body></html>", "nuccore", "fasta", "text"),
        ("<!DOCTYPE html><p>", "gene", "", "text"),
        ("busy", "nuccore", "gb", "text"),
        ("busy", "pubmed", "medline", ""),
        ('{"error": "x"}', "gene", "", "text"),
        ("<html/>", "gene", "", "xml"),
        ("<eFetchResult><ERROR>x</ERROR></eFetchResult>", "gene", "", "xml"),
        ("<a><b></a>", "gene", "", "xml"),
        (bytes(range(256)) * 9, "gene", "", "text"),
    ],
)
def test_what_is_no_record_is_refused(body, database, rettype, retmode):
    with pytest.raises(BadContent):
        split(body, database, rettype, retmode)


def test_nothing_is_no_records():
    assert split("", "gene", "", "text").pieces == ()
    assert split(" \n", "nuccore", "fasta", "text").pieces == ()
    assert split("", "gene", "", "xml").pieces == ()


@given(st.lists(st.text("ab\n", min_size=1, max_size=60), max_size=8), st.integers(1, 70))
def test_parts_put_together_are_the_whole(pieces, most):
    records = RecordTexts(tuple(pieces))
    read, offset = "", 0
    while offset < len("".join(pieces)):
        part = cut_record_passage(records, offset, most)
        assert offset < part.end
        assert len(part.text) <= most
        assert part.text == "".join(pieces)[offset : part.end]
        read, offset = read + part.text, part.end
    assert read == "".join(pieces)


@given(st.lists(st.integers(1, 90), min_size=1, max_size=9), st.integers(60, 200))
def test_whole_records_of_xml_are_always_well_formed(sizes, most):
    pieces = tuple(f"<r>{'x' * size}</r>" for size in sizes)
    records = RecordTexts(pieces, "<set>\n", "\n</set>")
    offset, whole = 0, 0
    while offset < sum(map(len, pieces)):
        part = cut_record_passage(records, offset, most)
        assert len(part.text) <= most
        if part.whole:
            assert len(etree.fromstring(part.text)) == part.whole
        whole, offset = whole + part.whole, part.end
    assert whole <= len(pieces)


@given(st.binary(max_size=300) | st.text(max_size=300).map(str.encode))
def test_any_bytes_are_read_or_refused(body):
    for form in (("nuccore", "fasta", "text"), ("gene", "", "text"), ("gene", "", "xml")):
        try:
            assert isinstance(split(body, *form).pieces, tuple)
        except PaperError:
            continue
