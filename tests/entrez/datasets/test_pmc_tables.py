"""PMC's own tables, cell by cell, on articles written by hand."""

import pytest

from tests.entrez.datasets.sane import check, rows
from tests.fixtures import fixture_text
from utils.entrez.datasets.building import build_dataset
from utils.entrez.datasets.trees import RawRecordPage
from utils.errors import EntrezFailed

WHOLE = fixture_text("entrez/datasets/pmc_tables_whole.xml")
WITHHELD = """<article><!--The publisher of this article does not allow downloading of the full
text in XML form.--><front><article-meta><article-id pub-id-type="pmc">78</article-id><title-group>
<article-title>Closed</article-title></title-group><abstract><p>Short.</p></abstract></article-meta>
</front></article>"""


def page(*articles):
    return RawRecordPage(
        "pmc", "pmc_xml", f"<pmc-articleset>{''.join(articles)}</pmc-articleset>".encode()
    )


@pytest.fixture
def file(tmp_path):
    return tmp_path / "x.db"


def test_every_cell(file):
    check(build_dataset([page(WHOLE, WITHHELD)], file, {}))
    wanted = "uid, pmcid, pmid, doi, title, abstract, journal, publisher, year, pub_date, pages"
    assert rows(file, f"SELECT {wanted} FROM articles WHERE uid = 77") == [
        (77, "PMC77", 11, "10.1000/reef", "Corals in situ", "We looked.", "Reefs", "Reef Press",
         2019, "2019-02-03", "1-9")
    ]  # fmt: skip
    kinds = (
        "SELECT article_type, language, has_full_text, body_words > 5 FROM articles ORDER BY uid"
    )
    assert rows(file, kinds) == [("research-article", "en", 1, 1), (None, None, 0, 0)]
    people = "SELECT last_name, fore_name, collective_name, orcid, affiliation FROM authors"
    assert rows(file, people) == [
        ("Roe", "Jane", None, "0000-0001-2345-678X", "Reef House; Sea House"),
        (None, None, "Reef Group", None, None),
    ]  # fmt: skip
    assert rows(file, "SELECT kind, label, title, caption FROM captions") == [
        ("figure", "Figure 1.", "Map.", "All the reefs.")
    ]
    cited = "SELECT label, cited_pmid, title, source, year, citation FROM cited_works"
    assert rows(file, cited) == [
        ("1", 12, "Old reefs", "Sea", 2001, "Doe J. Old reefs. Sea 2001."),
        (None, None, None, "Sky", 1845, "Poe Sky 1845"),
    ]
    assert rows(file, "SELECT keyword FROM keywords") == [("reef",), ("coral",)]
    assert rows(file, "SELECT grant_number, agency FROM grants") == [("S1", "Sea Fund")]


def test_sections_are_read_one_by_one(file):
    build_dataset([page(WHOLE, WITHHELD)], file, {})
    told = "SELECT level, part, heading, section_text FROM sections WHERE uid = 77 AND position < 6"
    found = rows(file, f"{told} ORDER BY position")
    abstract = "We looked.\n\n**Keywords:** reef; coral"
    assert found[0] == (2, "abstract", "Abstract", abstract)
    assert found[1] == (2, "body", "Methods", "We counted corals.")
    assert found[2][:3] == (3, "body", "Counting")
    assert "One by one." in found[2][3]
    assert found[3] == (2, "body", "Results", "Many corals.")
    withheld = "SELECT part, section_text FROM sections WHERE uid = 78"
    assert rows(file, withheld) == [("abstract", "Short.")]


def test_what_is_not_there_and_what_comes_again(file):
    reply = '<Reply Id="99" error="The following PMCID is not available: 99"/>'
    built = build_dataset([page(WHOLE, reply), page(WHOLE.replace("Many", "Few"))], file, {})
    check(built)
    assert (built.records, built.not_found) == (1, ("99",))
    assert rows(file, "SELECT section_text FROM sections WHERE heading = 'Results'") == [
        ("Few corals.",)
    ]


def test_articles_without_a_number_are_kept(file):
    bare = WITHHELD.replace('<article-id pub-id-type="pmc">78</article-id>', "")
    built = build_dataset([page(bare, bare, WHOLE)], file, {})
    check(built)
    assert built.records == 3


def test_an_error_is_no_dataset(file):
    body = b"<eFetchResult><ERROR>Unable to obtain query #1</ERROR></eFetchResult>"
    with pytest.raises(EntrezFailed, match="Unable to obtain query"):
        build_dataset([RawRecordPage("pmc", "pmc_xml", body)], file, {})
    assert list(file.parent.iterdir()) == []
