"""PubMed's XML: every trap of a record, every kind of record."""

import pytest

from tests.fixtures import fixture_text
from utils.model.identifiers import Ids
from utils.model.paper import Author, Notice, Paper
from utils.readers.pubmed import DeletedRecords, iterate_records

DOCTYPE = (
    '<?xml version="1.0" ?>\n<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD PubMedArticle, '
    '1st January 2025//EN" "https://dtd.nlm.nih.gov/ncbi/pubmed/out/pubmed_250101.dtd">\n'
)
FULL = fixture_text("readers/pubmed_xml_full.xml")


def pack(*records: str, doctype: str = DOCTYPE) -> bytes:
    return f"{doctype}<PubmedArticleSet>{''.join(records)}</PubmedArticleSet>".encode()


def article(
    article: str = "",
    citation: str = "",
    data: str = "",
    *,
    title: str = "T.",
    pub_date: str = "<Year>2020</Year>",
    pub_model: str = "Print",
    pmid: str = "1",
) -> str:
    return (
        f"<PubmedArticle><MedlineCitation><PMID>{pmid}</PMID><Article PubModel='{pub_model}'>"
        f"<Journal><JournalIssue><PubDate>{pub_date}</PubDate></JournalIssue></Journal>"
        f"<ArticleTitle>{title}</ArticleTitle>{article}</Article>{citation}</MedlineCitation>"
        f"<PubmedData>{data}</PubmedData></PubmedArticle>"
    )


def read_one(record: str) -> Paper:
    (paper,) = iterate_records(pack(record))
    assert isinstance(paper, Paper)
    return paper


def titled(markup: str) -> str:
    return read_one(article(title=markup)).title


@pytest.fixture(scope="module")
def full() -> Paper:
    return read_one(FULL)


# --- Every field -------------------------------------------------------------------------------


def test_own_identifiers_never_come_from_references(full: Paper) -> None:
    assert full.ids == Ids(doi="10.1234/syn.2026.1", pmid="40000001", pmcid="PMC9990001")


def test_text_is_whole_and_readable(full: Paper) -> None:
    assert full.title == "Role of abc1 and CO₂ in models."
    assert full.vernacular_title == "Die Rolle von abc1."
    assert full.abstract == ("BACKGROUND: Text with 10⁻⁵ M.\n\nBare words.\n\nFINDINGS: More.")
    assert full.other_abstracts == (("plain-language-summary (eng)", "Simple words."),)


def test_authors_are_the_valid_ones_and_no_investigators(full: Paper) -> None:
    assert full.authors == (
        Author(
            family="Doe",
            given="Jane A",
            initials="JA",
            suffix="Jr",
            orcid="0000-0002-1825-009X",
            affiliations=("Dept of A & B.", "Institute C."),
        ),
        Author(family="Madonna"),
        Author(collective="SYNTH in vivo Group"),
    )


def test_journal_and_issue(full: Paper) -> None:
    journal = (full.journal, full.journal_abbreviation, full.issn)
    assert journal == ("Journal of synthetic data", "J Synth", "2345-6789")
    assert (full.volume, full.issue, full.pages) == ("12", "3", "11-9")
    assert full.languages == ("eng", "ger")
    assert full.publication_types == ("Journal Article", "Research Support")


def test_dates_are_iso(full: Paper) -> None:
    dates = (full.published, full.entered, full.revised, full.released)
    assert dates == ("2025-11", "2025-12-03", "2026-06-02", "2026-12-01")


def test_mesh_is_written_as_medline_writes_it(full: Paper) -> None:
    assert full.mesh == ("Neoplasms/*genetics/therapy", "*Models, Genetic")
    assert full.keywords == ("CO₂", "models")


def test_notices_about_the_paper_with_or_without_pmid(full: Paper) -> None:
    assert full.notices == (
        Notice("retraction", "J Synth. 2026;13:1"),
        Notice("comment", "J Synth. 2026;13:2", "40000009"),
    )
    assert full.retracted


@pytest.mark.parametrize(
    ("ref_type", "kind"),
    [
        ("RetractionIn", "retraction"),
        ("ExpressionOfConcernIn", "expression_of_concern"),
        ("ErratumIn", "erratum"),
        ("PartialRetractionIn", "erratum"),
        ("CorrectedandRepublishedIn", "republication"),
        ("RetractedandRepublishedIn", "republication"),
        ("UpdateIn", "update"),
        ("CommentIn", "comment"),
        ("RetractionOf", None),
        ("ExpressionOfConcernFor", None),
        ("ErratumFor", None),
        ("CorrectedandRepublishedFrom", None),
        ("UpdateOf", None),
        ("CommentOn", None),
        ("SummaryForPatientsIn", None),
        ("AssociatedPublication", None),
    ],
)
def test_only_notices_about_this_paper(ref_type: str, kind: str | None) -> None:
    paper = read_one(
        article(
            citation="<CommentsCorrectionsList><CommentsCorrections "
            f"RefType='{ref_type}'><RefSource>S</RefSource></CommentsCorrections>"
            "</CommentsCorrectionsList>"
        )
    )
    assert [notice.kind for notice in paper.notices] == ([kind] if kind else [])


# --- Identifiers -------------------------------------------------------------------------------


def test_the_id_list_is_believed_before_the_article() -> None:
    paper = read_one(
        article(
            "<ELocationID EIdType='doi' ValidYN='Y'>10.1000/second</ELocationID>",
            data="<ArticleIdList><ArticleId IdType='doi'>10.1000/First</ArticleId></ArticleIdList>",
        )
    )
    assert paper.ids.doi == "10.1000/first"


@pytest.mark.parametrize(
    ("written", "doi"),
    [
        (" https://doi.org/10.1000/A.b ", "10.1000/a.b"),
        ("10.1002/(SICI)1097-0258(19980815)17:15&lt;1661::AID-SIM968&gt;3.0.CO;2-2",
         "10.1002/(sici)1097-0258(19980815)17:15<1661::aid-sim968>3.0.co;2-2"),
        ("S0140-6736(05)1", ""),
        ("see page 12", ""),
        ("", ""),
    ],
)  # fmt: skip
def test_what_is_no_doi_is_not_taken_for_one(written: str, doi: str) -> None:
    ids = f"<ArticleIdList><ArticleId IdType='doi'>{written}</ArticleId></ArticleIdList>"
    assert read_one(article(data=ids)).ids == Ids(pmid="1", doi=doi)


def test_a_bad_doi_gives_way_to_a_good_one() -> None:
    ids = "<ArticleIdList><ArticleId IdType='doi'>none</ArticleId></ArticleIdList>"
    place = "<ELocationID EIdType='doi'>10.1000/good</ELocationID>"
    assert read_one(article(place, data=ids)).ids.doi == "10.1000/good"


@pytest.mark.parametrize(
    ("ids", "pmcid"),
    [
        ("<ArticleId IdType='pmcid'>pmc-id: PMC77;manuscript-id: 5</ArticleId>", "PMC77"),
        (
            "<ArticleId IdType='pmcid'>PMC7.2</ArticleId><ArticleId IdType='pmc'>PMC78</ArticleId>",
            "PMC78",
        ),
        ("<ArticleId IdType='mid'>NIHMS1</ArticleId>", ""),
    ],
)
def test_pmcid_in_every_spelling(ids: str, pmcid: str) -> None:
    assert read_one(article(data=f"<ArticleIdList>{ids}</ArticleIdList>")).ids.pmcid == pmcid


def test_arxiv_preprints_are_known_by_their_arxiv_id() -> None:
    pii = "<ELocationID EIdType='pii' ValidYN='Y'>arXiv:2304.10057v2</ELocationID>"
    assert read_one(article(pii)).ids == Ids(pmid="1", arxiv="2304.10057")


# --- Dates -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "published"),
    [
        ("<Year>2020</Year>", "2020"),
        ("<Year>2020</Year><Month>Feb</Month>", "2020-02"),
        ("<Year>2020</Year><Month>February</Month><Day>7</Day>", "2020-02-07"),
        ("<Year>2020</Year><Month>02</Month><Day>29</Day>", "2020-02-29"),
        ("<Year>2020</Year><Month>02</Month><Day>30</Day>", "2020-02"),
        ("<Year>2020</Year><Month>13</Month>", "2020"),
        ("<Year>2020</Year><Season>Spring</Season>", "2020"),
        ("<Year>2020</Year><Season>Jan-Mar</Season>", "2020-01"),
        ("<MedlineDate>2000 Spring</MedlineDate>", "2000"),
        ("<MedlineDate>1998 Dec-1999 Jan</MedlineDate>", "1998-12"),
        ("<MedlineDate>2000 Dec 15-31</MedlineDate>", "2000-12-15"),
        ("<MedlineDate>1977-1978</MedlineDate>", "1977"),
        ("<MedlineDate>2021 3rd Quarter</MedlineDate>", "2021"),
        ("<MedlineDate>Winter 1997</MedlineDate>", "1997"),
        ("<MedlineDate>undated</MedlineDate>", ""),
        ("<Year>MMXX</Year>", ""),
    ],
)
def test_every_form_of_a_date(written: str, published: str) -> None:
    assert read_one(article(pub_date=written)).published == published


@pytest.mark.parametrize(
    ("pub_date", "pub_model", "published"),
    [
        ("<Year>2020</Year><Month>Mar</Month>", "Print-Electronic", "2020-03"),
        ("<Year>2019</Year><Month>Dec</Month>", "Print-Electronic", "2019-12-20"),
        ("<Year>2020</Year>", "Electronic-eCollection", "2019-12-20"),
        ("<Year>2020</Year><Month>Mar</Month>", "Electronic-Print", "2019-12-20"),
        ("<Season>none</Season>", "Print", "2019-12-20"),
    ],
)
def test_issue_date_and_electronic_date(pub_date: str, pub_model: str, published: str) -> None:
    online = "<ArticleDate><Year>2019</Year><Month>12</Month><Day>20</Day></ArticleDate>"
    paper = read_one(article(online, pub_date=pub_date, pub_model=pub_model))
    assert paper.published == published


# --- Titles, names, pages -----------------------------------------------------------------------


@pytest.mark.parametrize("title", ["", "[Not Available]."])
def test_a_missing_title_gives_way_to_the_vernacular_one(title: str) -> None:
    paper = read_one(article("<VernacularTitle>Ein Titel.</VernacularTitle>", title=title))
    assert (paper.title, paper.vernacular_title) == ("Ein Titel.", "Ein Titel.")


def test_a_translated_title_keeps_its_brackets() -> None:
    paper = read_one(article("<VernacularTitle>Ein Titel.</VernacularTitle>", title="[A title]."))
    assert (paper.title, paper.vernacular_title) == ("[A title].", "Ein Titel.")


def test_degrees_are_suffixes_without_their_comma() -> None:
    authors = (
        "<AuthorList><Author><LastName>Doe</LastName><Suffix>, PhD</Suffix></Author>"
        "<Author><LastName>Roe</LastName><Suffix>\n\t</Suffix></Author></AuthorList>"
    )
    assert [author.suffix for author in read_one(article(authors)).authors] == ["PhD", ""]


def test_a_given_name_that_is_also_the_family_name_is_kept() -> None:
    authors = (
        "<AuthorList><Author><LastName>Thomas</LastName><ForeName>Thomas</ForeName></Author>"
        "<Author><ForeName>Suharto</ForeName></Author></AuthorList>"
    )
    names = [(author.family, author.given) for author in read_one(article(authors)).authors]
    assert names == [("Thomas", "Thomas"), ("Suharto", "")]


def test_pages_without_medline_form() -> None:
    pages = "<Pagination><StartPage>5</StartPage><EndPage>9</EndPage></Pagination>"
    assert read_one(article(pages)).pages == "5-9"


def test_a_bare_record_is_still_a_paper() -> None:
    bare = "<PubmedArticle><MedlineCitation><PMID>7</PMID></MedlineCitation></PubmedArticle>"
    assert read_one(bare) == Paper(ids=Ids(pmid="7"))


# --- Books and deletions -----------------------------------------------------------------------

BOOK = fixture_text("readers/pubmed_xml_book.xml")


def test_a_chapter_has_its_own_title_and_authors() -> None:
    chapter = read_one(
        BOOK
        % (
            "<ArticleTitle>A <i>chapter</i></ArticleTitle><AuthorList Type='authors'><Author>"
            "<LastName>Doe</LastName></Author></AuthorList>"
        )
    )
    assert chapter.ids == Ids(pmid="20301382")  # the DOI is the whole book's
    assert (chapter.title, chapter.journal) == ("A chapter", "GeneReviews®")
    assert [author.family for author in chapter.authors] == ["Doe"]
    assert (chapter.published, chapter.entered, chapter.pages) == ("1993", "2010-03-20", "NBK1203")
    assert chapter.publication_types == ("Review",)
    assert chapter.abstract == "CLINICAL: Signs."


def test_editors_stand_in_for_the_authors_of_a_book() -> None:
    book = read_one(BOOK % "")
    assert (book.title, book.journal) == ("GeneReviews®", "GeneReviews®")
    assert [author.family for author in book.authors] == ["Adam"]
    assert book.ids.doi == "10.1000/book"


def test_records_of_all_kinds_come_in_order() -> None:
    gone = "<DeleteCitation><PMID Version='1'>5</PMID><PMID Version='1'>06</PMID></DeleteCitation>"
    papers = list(iterate_records(pack(article(pmid="3"), BOOK % "", article(pmid="4"), gone)))
    assert [paper.ids.pmid for paper in papers if isinstance(paper, Paper)] == [
        "3", "20301382", "4",
    ]  # fmt: skip
    assert papers[-1] == DeletedRecords(("5", "6"))


def test_an_empty_set_holds_nothing() -> None:
    assert list(iterate_records(pack())) == []
    assert list(iterate_records(b"<PubmedArticleSet></PubmedArticleSet>")) == []
