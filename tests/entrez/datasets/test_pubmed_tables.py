"""PubMed's own tables, cell by cell, on records written by hand."""

import pytest

from tests.entrez.datasets.sane import check, rows
from utils.entrez.datasets.building import build
from utils.entrez.datasets.trees import Page
from utils.errors import BadContent

ARTICLE = """<PubmedArticle><MedlineCitation Status="MEDLINE"><PMID Version="1">{pmid}</PMID>
<Article PubModel="Print"><Journal><ISSN>1234-5678</ISSN><JournalIssue><Volume>7</Volume>
<PubDate><Year>2019</Year><Month>Feb</Month></PubDate></JournalIssue><Title>Journal of Reefs</Title>
</Journal><ArticleTitle>Corals at 10<sup>-5</sup> M CO<sub>2</sub>.</ArticleTitle>
<Abstract><AbstractText Label="AIM">To see.</AbstractText></Abstract>
<AuthorList><Author ValidYN="Y"><LastName>Roe</LastName><ForeName>Jane</ForeName>
<Identifier Source="ORCID">https://orcid.org/0000-0001-2345-678X</Identifier>
<AffiliationInfo><Affiliation>Reef House</Affiliation></AffiliationInfo></Author>
<Author ValidYN="Y"><CollectiveName>Reef Group</CollectiveName></Author></AuthorList>
<Language>eng</Language><DataBankList><DataBank><DataBankName>ClinicalTrials.gov</DataBankName>
<AccessionNumberList><AccessionNumber>NCT01234567</AccessionNumber></AccessionNumberList></DataBank>
</DataBankList><GrantList><Grant><GrantID>R01</GrantID><Acronym>HL</Acronym><Agency>NHLBI</Agency>
<Country>United States</Country></Grant></GrantList>
<PublicationTypeList><PublicationType UI="D016428">{kind}</PublicationType></PublicationTypeList>
</Article><MedlineJournalInfo><Country>England</Country><MedlineTA>J Reefs</MedlineTA>
</MedlineJournalInfo><ChemicalList><Chemical><RegistryNumber>0</RegistryNumber>
<NameOfSubstance UI="D000001">Calcimycin</NameOfSubstance></Chemical><Chemical>
<RegistryNumber>142M471B3J</RegistryNumber><NameOfSubstance UI="D002245">Carbon Dioxide
</NameOfSubstance></Chemical></ChemicalList><MeshHeadingList><MeshHeading>
<DescriptorName UI="D046149" MajorTopicYN="N">Coral Reefs</DescriptorName>
<QualifierName UI="Q000378" MajorTopicYN="Y">metabolism</QualifierName>
<QualifierName UI="Q000235" MajorTopicYN="N">genetics</QualifierName></MeshHeading><MeshHeading>
<DescriptorName UI="D000818" MajorTopicYN="N">Animals</DescriptorName></MeshHeading>
</MeshHeadingList><KeywordList><Keyword>reef</Keyword></KeywordList></MedlineCitation>
<PubmedData><ArticleIdList><ArticleId IdType="pubmed">{pmid}</ArticleId>
<ArticleId IdType="doi">10.1000/REEF.1</ArticleId><ArticleId IdType="pmc">PMC77</ArticleId>
</ArticleIdList><ReferenceList><Title>References</Title><Reference><Citation>Doe J. 2001.</Citation>
<ArticleIdList><ArticleId IdType="pubmed">0011</ArticleId>
<ArticleId IdType="doi">10.1000/OLD</ArticleId></ArticleIdList></Reference>
<ReferenceList><Reference><Citation>Poe E. 1845.</Citation></Reference></ReferenceList>
</ReferenceList></PubmedData></PubmedArticle>"""


def page(*records):
    return Page(
        "pubmed", "pubmed_xml", f"<PubmedArticleSet>{''.join(records)}</PubmedArticleSet>".encode()
    )


def article(pmid=1, kind="Journal Article"):
    return ARTICLE.format(pmid=pmid, kind=kind)


@pytest.fixture
def file(tmp_path):
    return tmp_path / "x.db"


def test_every_cell(file):
    check(build([page(article(31452104))], file, {}))
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
    built = build(
        [page(article(1), article(2)), page(article(1, "Retracted Publication"))], file, {}
    )
    check(built)
    assert built.records == 2
    assert rows(file, "SELECT uid, is_retracted FROM articles ORDER BY uid") == [(1, 1), (2, 0)]
    assert built.tables["authors"] == 4
    assert built.warnings == ("1 record came more than once, the last one counts: 1.",)


def test_what_pubmed_deleted_is_not_kept(file):
    gone = "<DeleteCitation><PMID>1</PMID><PMID>9</PMID></DeleteCitation>"
    built = build([page(article(1), article(2), gone)], file, {})
    check(built)
    assert rows(file, "SELECT uid FROM articles") == [(2,)]
    assert built.not_found == ("1", "9")


def test_numbers_beyond_all_bounds(file):
    huge = "9" * 5000
    body = article(1).replace(">0011<", f">{huge}<").replace(">2019<", f">{huge}<")
    built = build([page(body, article(huge))], file, {})
    check(built)
    assert rows(file, "SELECT uid, year FROM articles") == [(1, None)]
    assert built.warnings == ("Records without an identifier were left out: 1.",)


def test_a_broken_page_after_a_whole_one_leaves_nothing(file):
    broken = Page("pubmed", "pubmed_xml", page(article(1)).body[:-60])
    with pytest.raises(BadContent):
        build([page(article(2)), broken], file, {})
    assert list(file.parent.iterdir()) == []
