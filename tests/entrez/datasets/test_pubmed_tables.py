"""PubMed's own tables, cell by cell, on records written by hand."""

import pytest

from tests.entrez.datasets.sane import check, rows
from tests.fixtures import fixture_text
from utils.entrez.datasets.building import build_dataset
from utils.entrez.datasets.trees import RawRecordPage
from utils.errors import BadContent

ARTICLE = fixture_text("entrez/datasets/pubmed_tables_article.xml")


def page(*records):
    return RawRecordPage(
        "pubmed", "pubmed_xml", f"<PubmedArticleSet>{''.join(records)}</PubmedArticleSet>".encode()
    )


def article(pmid=1, kind="Journal Article"):
    return ARTICLE.format(pmid=pmid, kind=kind)


@pytest.fixture
def file(tmp_path):
    return tmp_path / "x.db"


def test_every_cell(file):
    check(build_dataset([page(article(31452104))], file, {}))
    wanted = "pmid, title, abstract, journal, journal_abbreviation, issn, country, volume, year"
    assert rows(file, f"SELECT {wanted} FROM articles WHERE uid = 31452104") == [
        (31452104, "Corals at 10⁻⁵ M CO₂.", "AIM: To see.", "Journal of Reefs", "J Reefs",
         "1234-5678", "England", "7", 2019)
    ]  # fmt: skip
    wanted = "pub_date, doi, pmcid, language, vernacular_title, status, is_retracted"
    assert rows(file, f"SELECT {wanted} FROM articles") == [
        ("2019-02", "10.1000/reef.1", "PMC77", "eng", None, "MEDLINE", 0)
    ]
    people = (
        "SELECT position, last_name, fore_name, collective_name, orcid, affiliation FROM authors"
    )
    assert rows(file, people) == [
        (1, "Roe", "Jane", None, "0000-0001-2345-678X", "Reef House"),
        (2, None, None, "Reef Group", None, None),
    ]  # fmt: skip
    assert rows(file, "SELECT descriptor, ui, qualifier, qualifier_ui, is_major FROM mesh") == [
        ("Coral Reefs", "D046149", "metabolism", "Q000378", 1),
        ("Coral Reefs", "D046149", "genetics", "Q000235", 0),
        ("Animals", "D000818", None, None, 0),
    ]
    assert rows(file, "SELECT name, ui, registry_number FROM chemicals") == [
        ("Calcimycin", "D000001", None), ("Carbon Dioxide", "D002245", "142M471B3J"),
    ]  # fmt: skip
    assert rows(file, "SELECT cited_pmid, cited_doi, citation FROM cited_works") == [
        (11, "10.1000/old", "Doe J. 2001."), (None, None, "Poe E. 1845."),
    ]  # fmt: skip
    assert rows(file, "SELECT grant_number, acronym, agency, country FROM grants") == [
        ("R01", "HL", "NHLBI", "United States")
    ]
    assert rows(file, "SELECT databank, accession FROM databank_accessions") == [
        ("ClinicalTrials.gov", "NCT01234567")
    ]
    assert rows(file, "SELECT keyword FROM keywords") == [("reef",)]


def test_the_last_version_counts(file):
    built = build_dataset(
        [page(article(1), article(2)), page(article(1, "Retracted Publication"))], file, {}
    )
    check(built)
    assert built.records == 2
    assert rows(file, "SELECT uid, is_retracted FROM articles ORDER BY uid") == [(1, 1), (2, 0)]
    assert built.tables["authors"] == 4
    assert built.warnings == ("1 record came more than once, the last one counts: 1.",)


def test_what_pubmed_deleted_is_not_kept(file):
    gone = "<DeleteCitation><PMID>1</PMID><PMID>9</PMID></DeleteCitation>"
    built = build_dataset([page(article(1), article(2), gone)], file, {})
    check(built)
    assert rows(file, "SELECT uid FROM articles") == [(2,)]
    assert built.not_found == ("1", "9")


def test_numbers_beyond_all_bounds(file):
    huge = "9" * 5000
    body = article(1).replace(">0011<", f">{huge}<").replace(">2019<", f">{huge}<")
    built = build_dataset([page(body, article(huge))], file, {})
    check(built)
    assert rows(file, "SELECT uid, year FROM articles") == [(1, None)]
    assert built.warnings == ("Records without an identifier were left out: 1.",)


def test_a_broken_page_after_a_whole_one_leaves_nothing(file):
    broken = RawRecordPage("pubmed", "pubmed_xml", page(article(1)).body[:-60])
    with pytest.raises(BadContent):
        build_dataset([page(article(2)), broken], file, {})
    assert list(file.parent.iterdir()) == []
