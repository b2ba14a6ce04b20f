"""References go out as RIS and BibTeX and come back the same, through other people's readers."""

# Tables of cases read better in long lines.
# ruff: noqa: E501

import gzip
import re
from dataclasses import replace

import bibtexparser
import pytest
import rispy
from hypothesis import given
from hypothesis import strategies as st

from utils.citations import (
    build_citation_key,
    format_bibtex_entry,
    format_ris_record,
    iterate_bibtex_entries,
    iterate_ris_records,
    to_csl_item,
)
from utils.lists.references import latex_to_text, read_file_entries
from utils.model.identifiers import Ids
from utils.model.paper import Author, Notice, Paper

PAPER = Paper(
    ids=Ids(doi="10.1000/a_b", pmid="31452104", pmcid="PMC6711544"),
    title="Role of <i>abc1</i>, mRNA &amp; CO₂ in 50% of {models}.",
    abstract="BACKGROUND: Text_1.\n\nFINDINGS: p < 0.05 & more.",
    authors=(
        Author("van der Berg", "Jan Pieter", "JP"), Author("Müller", "", "JA", suffix="Jr"),
        Author(collective="Synth Group, and Friends"), Author("Wang", "Y"), Author("Wang", "Y"),
    ),
    journal="Journal of Tests & Trials",
    journal_abbreviation="J Test",
    issn="2345-6789",
    volume="12",
    issue="3",
    pages="1123-9",
    published="2026-02-14",
    languages=("eng",),
    keywords=("DNA", "tests; trials"),
)  # fmt: skip


def unfiled(papers):
    return [(paper, "") for paper in papers]


def ris_of(paper, **options):
    [record] = rispy.loads(format_ris_record(paper, **options))
    return record


def bibtex_of(paper, **options):
    library = bibtexparser.parse_string(format_bibtex_entry(paper, **options))
    assert not library.failed_blocks
    [entry] = library.entries
    return entry, {name: field.value for name, field in entry.fields_dict.items()}


def test_ris_holds_everything_under_its_tag():
    record = ris_of(PAPER, file="papers/10.1000_a_b.txt")
    assert record == {
        "type_of_reference": "JOUR",
        "authors": [
            "van der Berg, Jan Pieter",
            "Müller, J. A., Jr",
            "Synth Group and Friends",
            "Wang, Y",
            "Wang, Y",
        ],
        "year": "2026",
        "date": "2026/02/14",
        "title": "Role of abc1, mRNA & CO₂ in 50% of {models}",
        "secondary_title": "Journal of Tests & Trials",
        "alternate_title1": "J Test",
        "volume": "12",
        "number": "3",
        "start_page": "1123",
        "end_page": "1129",
        "issn": "2345-6789",
        "doi": "10.1000/a_b",
        "accession_number": "31452104",
        "name_of_database": "PubMed",
        "custom2": "PMC6711544",
        "language": "en",
        "keywords": ["DNA", "tests, trials"],
        "abstract": "BACKGROUND: Text_1. FINDINGS: p < 0.05 & more.",
        "urls": ["https://doi.org/10.1000/a_b"],
        "file_attachments1": "papers/10.1000_a_b.txt",
    }


def test_bibtex_holds_everything_escaped_where_latex_reads_it():
    entry, fields = bibtex_of(PAPER, file="papers/10.1000_a_b.txt")
    assert (entry.entry_type, entry.key) == ("article", "vanderberg2026role")
    assert fields["author"] == (
        "van der Berg, Jan Pieter and Müller, Jr, J. A. and {Synth Group, and Friends} "
        "and Wang, Y and Wang, Y"
    )
    assert fields["title"] == (
        r"Role of abc1, {mRNA} \& {CO{\ensuremath{_2}}} in 50\% of \textbraceleft{}models\textbraceright{}"
    )
    assert fields["journal"] == r"Journal of Tests \& Trials"
    assert (fields["pages"], fields["month"], fields["year"]) == ("1123--1129", "feb", "2026")
    assert (fields["doi"], fields["pmid"], fields["pmcid"]) == (
        "10.1000/a_b",
        "31452104",
        "PMC6711544",
    )
    assert fields["file"] == "papers/10.1000_a_b.txt"


def test_the_csl_item_is_what_both_are_made_of():
    item = to_csl_item(PAPER)
    assert item["author"][0] == {
        "family": "Berg",
        "given": "Jan Pieter",
        "non-dropping-particle": "van der",
    }
    assert item["author"][2] == {"literal": "Synth Group, and Friends"}
    assert item["issued"] == {"date-parts": [[2026, 2, 14]]}
    assert (item["type"], item["page"], item["PMID"]) == ("article-journal", "1123-1129", "31452104")  # fmt: skip


KINDS = {
    "book": (Paper(Ids(pmid="1"), "C. elegans II", journal="C. elegans II", pages="NBK19997"), "BOOK", "book"),
    "chapter": (Paper(Ids(pmid="1"), "Deletions", journal="GeneReviews®", pages="NBK1203"), "CHAP", "incollection"),
    "preprint": (Paper(Ids(arxiv="2601.00001"), "On x"), "UNPB", "misc"),
    "server": (Paper(Ids(doi="10.1101/1"), "On x", journal="bioRxiv", publication_types=("Preprint",)), "UNPB", "misc"),
    "thesis": (Paper(Ids(doi="10.1101/1"), "On x", publication_types=("Academic Dissertation",)), "THES", "phdthesis"),
    "nothing": (Paper(Ids()), "GEN", "misc"),
}  # fmt: skip


@pytest.mark.parametrize(("paper", "ris", "bibtex"), KINDS.values(), ids=KINDS.keys())
def test_kinds_have_their_types(paper, ris, bibtex):
    assert ris_of(paper)["type_of_reference"] == ris
    assert bibtex_of(paper)[0].entry_type == bibtex


def test_a_chapter_names_its_book_and_its_place_on_the_bookshelf():
    paper = KINDS["chapter"][0]
    _, fields = bibtex_of(paper)
    assert fields["booktitle"] == "GeneReviews®"
    assert "pages" not in fields
    assert ris_of(paper)["urls"] == ["https://www.ncbi.nlm.nih.gov/books/NBK1203/"]


@pytest.mark.parametrize(
    ("pages", "first", "last"),
    [("e123", "e123", ""), ("S12-S18", "S12", "S18"), ("5-9, 12", "5-9, 12", ""), ("99-101", "99", "101")],
)  # fmt: skip
def test_pages_of_every_form(pages, first, last):
    record = ris_of(replace(PAPER, pages=pages))
    assert (record["start_page"], record.get("end_page", "")) == (first, last)


@pytest.mark.parametrize(
    ("published", "year", "date"),
    [("", None, None), ("2026", "2026", None), ("2026-02", "2026", "2026/02"), ("soon", None, None)],
)  # fmt: skip
def test_dates_as_precise_as_known(published, year, date):
    record = ris_of(replace(PAPER, published=published))
    assert (record.get("year"), record.get("date")) == (year, date)
    assert bibtex_of(replace(PAPER, published=published))[1].get("year") == year


def test_a_retraction_is_noted():
    paper = replace(PAPER, notices=(Notice("retraction", "J Test. 2026;13:1", "7"),))
    told = "Retracted publication. Retraction: J Test. 2026;13:1 (PMID 7)"
    assert ris_of(paper)["notes"] == [told]
    assert bibtex_of(paper)[1]["note"] == told


def test_a_translated_title_loses_its_brackets_and_keeps_the_original():
    paper = replace(PAPER, title="[On things].", vernacular_title="Über Dinge.")
    assert ris_of(paper)["title"] == "On things"
    assert ris_of(paper)["notes"] == ["Original title: Über Dinge"]
    assert to_csl_item(paper)["original-title"] == "Über Dinge"


@pytest.mark.parametrize(
    ("title", "written"),
    [
        ("A study of pH: Effects in Brazil", "A study of {pH}: Effects in {Brazil}"),
        ("The Role of DNA in the Life of Cells", "The Role of {DNA} in the Life of Cells"),
        ("Interactions between Cells and Genes", "Interactions between Cells and Genes"),
        ("On food in Europe - A review", "On food in {Europe} - A review"),
        ("Vitamin D in the T cell", "Vitamin {D} in the {T} cell"),
        ("THE ROLE OF DNA", "THE ROLE OF DNA"),
        (r"a\b^c~d", r"a\textbackslash{}b\textasciicircum{}c\textasciitilde{}d"),
    ],
)
def test_capitals_that_matter_are_in_braces(title, written):
    assert bibtex_of(replace(PAPER, title=title))[1]["title"] == written


def test_keys_tell_the_paper_and_no_two_share_one():
    papers = [PAPER, replace(PAPER, ids=Ids(pmid="8")), replace(PAPER, ids=Ids()), PAPER, PAPER]
    library = bibtexparser.parse_string("".join(iterate_bibtex_entries(unfiled(papers))))
    keys = [entry.key for entry in library.entries]
    assert keys[:2] == ["vanderberg2026role", "vanderberg2026role_8"]
    assert len(set(keys)) == len(papers)


@pytest.mark.parametrize(
    ("paper", "key"),
    [
        (Paper(Ids(), "The Über-test", authors=(Author("Øst"),), published="2019"), "ost2019uber"),
        (Paper(Ids(), "", authors=(Author(collective="WHO Group"),)), "who"),
        (Paper(Ids(), "题目", authors=(Author("王"),)), "anon"),
    ],
)
def test_keys_are_plain_letters(paper, key):
    assert build_citation_key(paper) == key


TEXT = st.text(max_size=40)


@given(TEXT, TEXT, TEXT, TEXT, st.text(st.characters(codec="utf-8"), max_size=20))
def test_no_text_breaks_a_record(title, family, journal, abstract, doi):
    paper = replace(
        PAPER, title=title, authors=(Author(family), Author(collective=journal)), journal=journal,
        abstract=abstract, ids=Ids(doi=f"10.1000/{doi}"),
    )  # fmt: skip
    both = [paper, PAPER]
    records = rispy.loads("".join(iterate_ris_records(unfiled(both))))
    assert records[1]["doi"] == "10.1000/a_b"
    library = bibtexparser.parse_string("".join(iterate_bibtex_entries(unfiled(both))))
    assert not library.failed_blocks
    assert len(library.entries) == len(records) == 2


def test_what_goes_out_comes_back_in():
    papers = [PAPER, replace(PAPER, ids=Ids(arxiv="2601.00001")), replace(PAPER, ids=Ids(pmid="8"))]
    for text in (
        "".join(iterate_ris_records(unfiled(papers))),
        "".join(iterate_bibtex_entries(unfiled(papers))),
    ):
        assert [entry.ids for entry in read_file_entries(text.encode())] == [p.ids for p in papers]


@pytest.mark.shared
def test_recorded_pubmed_records_make_the_round_trip(shared):
    from utils.readers.pubmed import iterate_records

    for path in sorted((shared / "pubmed" / "bulk").glob("*.xml.gz")):
        found = iterate_records(gzip.decompress(path.read_bytes()))
        papers = [paper for paper in found if isinstance(paper, Paper)][::5]
        records = rispy.loads("".join(iterate_ris_records(unfiled(papers))))
        library = bibtexparser.parse_string("".join(iterate_bibtex_entries(unfiled(papers))))
        assert len(records) == len(library.entries) == len(papers) > 100
        assert not library.failed_blocks
        for paper, record, entry in zip(papers, records, library.entries, strict=True):
            item = to_csl_item(paper)
            assert record.get("title", "") == item.get("title", "")
            assert record["accession_number"] == paper.ids.pmid
            assert len(record.get("authors", ())) == len(item.get("author", ()))
            fields = entry.fields_dict
            if "title" in item:
                # An increment and a capital delta share a command.
                assert _printed(fields["title"].value) == item["title"].replace("∆", "Δ")
            assert fields["pmid"].value == paper.ids.pmid
            assert fields["doi"].value == paper.ids.doi if paper.ids.doi else "doi" not in fields


def _printed(latex):
    named = {"textbraceleft": "{", "textbraceright": "}", "textasciicircum": "^"}
    for name, character in named.items():
        latex = latex.replace(f"\\{name}{{}}", f"\\{character}" if character in "{}" else character)
    return re.sub(" +", " ", latex_to_text(latex))


def test_a_preprint_that_names_its_article_is_cited_as_one_of_them():
    """arXiv's date beside the journal's name would be a paper that nobody published."""
    paper = replace(
        PAPER,
        ids=Ids(arxiv="1503.03585", doi="10.1109/tsp.2017.2708039"),
        publication_types=("Preprint",),
        journal="IEEE Transactions on Signal Processing ( Volume: 65 , Issue: 16 )",
        journal_abbreviation="", volume="", issue="", pages="", published="2015-03-12",
    )  # fmt: skip
    [entry] = bibtexparser.parse_string("".join(iterate_bibtex_entries(unfiled([paper])))).entries
    assert not {"volume", "number", "pages", "doi"} & set(entry.fields_dict)
    assert "IEEE" not in str(entry.get("journal", ""))
    assert (entry["year"], entry["eprint"]) == ("2015", "1503.03585")
    assert "doi:10.1109/tsp.2017.2708039" in entry["note"].replace("\\_", "_")
    [record] = rispy.loads("".join(iterate_ris_records(unfiled([paper]))))
    assert "IEEE" not in record.get("journal_name", "") + record.get("secondary_title", "")


def test_an_article_that_is_on_arxiv_too_stays_an_article():
    paper = replace(PAPER, ids=Ids(arxiv="1503.03585", doi="10.1000/a_b", pmid="7"))
    [entry] = bibtexparser.parse_string("".join(iterate_bibtex_entries(unfiled([paper])))).entries
    assert entry.entry_type == "article"
    assert {"journal", "doi"} <= set(entry.fields_dict)
