"""PubMed's XML: every trap of a record, every kind of record."""

import pytest

from utils.model.identifiers import Ids
from utils.model.paper import Author, Notice, Paper
from utils.readers.pubmed import Deleted, read_records

DOCTYPE = (
    '<?xml version="1.0" ?>\n<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD PubMedArticle, '
    '1st January 2025//EN" "https://dtd.nlm.nih.gov/ncbi/pubmed/out/pubmed_250101.dtd">\n'
)
FULL = """
<PubmedArticle><MedlineCitation Status="MEDLINE" Owner="NLM"><PMID Version="2">40000001</PMID>
 <DateCompleted><Year>2026</Year><Month>01</Month><Day>01</Day></DateCompleted>
 <DateRevised><Year>2026</Year><Month>06</Month><Day>02</Day></DateRevised>
 <Article PubModel="Print-Electronic">
  <Journal><ISSN IssnType="Electronic">2345-6789</ISSN>
   <JournalIssue CitedMedium="Internet"><Volume>12</Volume><Issue>3</Issue>
    <PubDate><MedlineDate>2025 Nov-Dec</MedlineDate></PubDate></JournalIssue>
   <Title>Journal of synthetic data</Title><ISOAbbreviation>J. Synth.</ISOAbbreviation></Journal>
  <ArticleTitle>Role of <i>abc1</i> and CO<sub>2</sub> in models.</ArticleTitle>
  <Pagination><StartPage>11</StartPage><EndPage>19</EndPage><MedlinePgn>11-9</MedlinePgn>
  </Pagination>
  <ELocationID EIdType="pii" ValidYN="Y">S1</ELocationID>
  <ELocationID EIdType="doi" ValidYN="N">10.1234/withdrawn</ELocationID>
  <ELocationID EIdType="doi" ValidYN="Y">10.1234/SYN.2026.1</ELocationID>
  <Abstract>
   <AbstractText Label="BACKGROUND" NlmCategory="BACKGROUND">Text with
     <b>10<sup>-5</sup></b>&#x2009;M.</AbstractText>
   <AbstractText Label="UNLABELLED">Bare words.</AbstractText>
   <AbstractText Label="FINDINGS:" NlmCategory="RESULTS">FINDINGS: More.</AbstractText>
   <AbstractText Label="EMPTY"></AbstractText>
   <CopyrightInformation>Copyright nobody.</CopyrightInformation></Abstract>
  <AuthorList CompleteYN="Y">
   <Author ValidYN="Y"><LastName>Doe</LastName><ForeName>Jane A</ForeName><Initials>JA</Initials>
    <Suffix>Jr</Suffix><Identifier Source="ORCID">http://orcid.org/000000021825009x</Identifier>
    <AffiliationInfo><Affiliation>Dept of A &amp; B.</Affiliation>
     <Identifier Source="RINGGOLD">123</Identifier></AffiliationInfo>
    <AffiliationInfo><Affiliation>Institute C.</Affiliation></AffiliationInfo></Author>
   <Author ValidYN="N"><LastName>Do</LastName><ForeName>Jane</ForeName></Author>
   <Author ValidYN="Y"><LastName>Madonna</LastName></Author>
   <Author ValidYN="Y"><CollectiveName>SYNTH <i>in vivo</i> Group</CollectiveName></Author>
  </AuthorList>
  <Language>eng</Language><Language>ger</Language>
  <PublicationTypeList><PublicationType UI="D016428">Journal Article</PublicationType>
   <PublicationType UI="D013485">Research Support</PublicationType></PublicationTypeList>
  <VernacularTitle>Die Rolle von <i>abc1</i>.</VernacularTitle>
  <ArticleDate DateType="Electronic"><Year>2025</Year><Month>08</Month><Day>09</Day></ArticleDate>
 </Article>
 <MedlineJournalInfo><MedlineTA>J Synth</MedlineTA><ISSNLinking>1111-2222</ISSNLinking>
 </MedlineJournalInfo>
 <CommentsCorrectionsList>
  <CommentsCorrections RefType="Cites"><RefSource>X</RefSource><PMID Version="1">1</PMID>
  </CommentsCorrections>
  <CommentsCorrections RefType="RetractionIn"><RefSource>J Synth. 2026;13:1</RefSource>
  </CommentsCorrections>
  <CommentsCorrections RefType="CommentIn"><RefSource>J Synth. 2026;13:2</RefSource>
   <PMID Version="1">40000009</PMID></CommentsCorrections>
 </CommentsCorrectionsList>
 <MeshHeadingList>
  <MeshHeading><DescriptorName UI="D1" MajorTopicYN="N">Neoplasms</DescriptorName>
   <QualifierName UI="Q1" MajorTopicYN="Y">genetics</QualifierName>
   <QualifierName UI="Q2" MajorTopicYN="N">therapy</QualifierName></MeshHeading>
  <MeshHeading><DescriptorName UI="D2" MajorTopicYN="Y">Models, Genetic</DescriptorName>
  </MeshHeading></MeshHeadingList>
 <OtherAbstract Type="plain-language-summary" Language="eng"><AbstractText>Simple words.
  </AbstractText></OtherAbstract>
 <KeywordList Owner="NOTNLM"><Keyword MajorTopicYN="N">CO<sub>2</sub></Keyword>
  <Keyword MajorTopicYN="N">models</Keyword></KeywordList>
 <KeywordList Owner="KIE"><Keyword MajorTopicYN="N">models</Keyword></KeywordList>
 <InvestigatorList><Investigator ValidYN="Y"><LastName>Nobody</LastName></Investigator>
 </InvestigatorList>
</MedlineCitation>
<PubmedData><History>
  <PubMedPubDate PubStatus="received"><Year>2024</Year><Month>1</Month><Day>1</Day></PubMedPubDate>
  <PubMedPubDate PubStatus="entrez"><Year>2025</Year><Month>12</Month><Day>3</Day><Hour>1</Hour>
  </PubMedPubDate>
  <PubMedPubDate PubStatus="pmc-release"><Year>2026</Year><Month>12</Month><Day>1</Day>
  </PubMedPubDate></History>
 <PublicationStatus>ppublish</PublicationStatus>
 <ArticleIdList><ArticleId IdType="pubmed">40000001</ArticleId>
  <ArticleId IdType="pmc">PMC9990001</ArticleId></ArticleIdList>
 <ReferenceList><Reference><Citation>Other paper.</Citation><ArticleIdList>
   <ArticleId IdType="doi">10.9999/not-ours</ArticleId><ArticleId IdType="pubmed">111</ArticleId>
   <ArticleId IdType="pmc">PMC111</ArticleId></ArticleIdList></Reference></ReferenceList>
</PubmedData></PubmedArticle>"""


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
    (paper,) = read_records(pack(record))
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


def test_pages_without_medline_form() -> None:
    pages = "<Pagination><StartPage>5</StartPage><EndPage>9</EndPage></Pagination>"
    assert read_one(article(pages)).pages == "5-9"


def test_a_bare_record_is_still_a_paper() -> None:
    bare = "<PubmedArticle><MedlineCitation><PMID>7</PMID></MedlineCitation></PubmedArticle>"
    assert read_one(bare) == Paper(ids=Ids(pmid="7"))


# --- Books and deletions -----------------------------------------------------------------------

BOOK = """<PubmedBookArticle><BookDocument><PMID Version="1">20301382</PMID>
 <ArticleIdList><ArticleId IdType="bookaccession">NBK1203</ArticleId></ArticleIdList>
 <Book><Publisher><PublisherName>University</PublisherName></Publisher>
  <BookTitle book="gene">GeneReviews<sup>®</sup></BookTitle><PubDate><Year>1993</Year></PubDate>
  <AuthorList Type="editors"><Author><LastName>Adam</LastName></Author></AuthorList>
  <ELocationID EIdType="doi">10.1000/book</ELocationID></Book>%s
 <Language>eng</Language><PublicationType UI="D016454">Review</PublicationType>
 <Abstract><AbstractText Label="CLINICAL">Signs.</AbstractText></Abstract>
 <Sections><Section><SectionTitle>Not a title</SectionTitle></Section></Sections>
 </BookDocument><PubmedBookData><History><PubMedPubDate PubStatus="entrez"><Year>2010</Year>
 <Month>3</Month><Day>20</Day></PubMedPubDate></History><ArticleIdList>
 <ArticleId IdType="pubmed">20301382</ArticleId></ArticleIdList></PubmedBookData>
</PubmedBookArticle>"""


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
    papers = list(read_records(pack(article(pmid="3"), BOOK % "", article(pmid="4"), gone)))
    assert [paper.ids.pmid for paper in papers if isinstance(paper, Paper)] == [
        "3", "20301382", "4",
    ]  # fmt: skip
    assert papers[-1] == Deleted(("5", "6"))


def test_an_empty_set_holds_nothing() -> None:
    assert list(read_records(pack())) == []
    assert list(read_records(b"<PubmedArticleSet></PubmedArticleSet>")) == []
