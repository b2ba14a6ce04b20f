"""What Entrez really answered becomes tables that say the same."""

import gzip
import re

import pytest
from lxml import etree

from conftest import SHARED
from tests.entrez.datasets.sane import check, columns, rows, tables
from utils.entrez.datasets.building import build_dataset
from utils.entrez.datasets.trees import RawRecordPage
from utils.errors import BadContent, EntrezFailed

pytestmark = pytest.mark.shared
SUMMARIES = sorted((SHARED / "eutils" / "esummary").glob("*.xml"))
BULK = sorted((SHARED / "pubmed" / "bulk").glob("*.xml.gz"))
EFETCH = sorted((SHARED / "pubmed" / "efetch").glob("*/*.xml"))


def database_of(path):
    """``klortho_esummary.nuccore.xml`` names it; the others are of pubmed, protein and nuccore."""
    named = re.fullmatch(r"klortho_esummary\.(\w+)\.xml", path.name)
    return named[1] if named else "entrez"


@pytest.mark.parametrize("path", SUMMARIES, ids=lambda path: path.name)
def test_summaries(path, tmp_path):
    database = database_of(path)
    built = build_dataset(
        [RawRecordPage(database, "docsum_xml", path.read_bytes())], tmp_path / "x.db", {}
    )
    check(built)
    root = etree.parse(path).getroot()
    uids = [el.get("uid") or el.findtext("Id") for el in root.iter("DocumentSummary", "DocSum")]
    assert sorted(uids) == sorted(
        str(u) for (u,) in rows(built.file, f"SELECT uid FROM {database}")
    )
    assert len(columns(built.file, database)) > 3


@pytest.mark.parametrize("path", SUMMARIES, ids=lambda path: path.name)
def test_every_word_of_a_summary_is_kept(path, tmp_path):
    file = build_dataset(
        [RawRecordPage("entrez", "docsum_xml", path.read_bytes())], tmp_path / "x.db", {}
    ).file
    cells = [
        str(cell)
        for table in tables(file)
        for row in rows(file, f"SELECT * FROM {table}")
        for cell in row
    ]
    kept = set(re.findall(r"[A-Za-z]{4,}", " ".join(cells)))
    for element in etree.parse(path).getroot().iter("DocumentSummary", "DocSum"):
        text = " ".join(t for t in element.itertext() if "<" not in t)
        assert set(re.findall(r"[A-Za-z]{4,}", re.sub(r"&\w+;", " ", text))) <= kept


def test_what_the_databases_say_in_numbers(tmp_path):
    def built(name):
        page = RawRecordPage(
            name, "docsum_xml", (SUMMARIES[0].parent / f"klortho_esummary.{name}.xml").read_bytes()
        )
        return build_dataset([page], tmp_path / f"{name}.db", {}).file

    assembly = "SELECT value FROM meta_stats WHERE category = 'N50' OR category = 'contig_n50'"
    assert rows(built("gcassembly"), assembly)[0] == (4658941,)
    human = "SELECT symbol, gene_id FROM homologene_data_list WHERE tax_id = 9606"
    assert rows(built("homologene"), human) == [("SLC7A2", 6542)]
    placed = "SELECT assembly, chr_inner_start FROM dbvar_placement_list ORDER BY position"
    assert rows(built("dbvar"), placed)[1] == ("GRCh37 (hg19)", 73744194)
    taxon = "SELECT exp_xml_properties_organism_taxid FROM seqannot"
    assert rows(built("seqannot"), taxon) == [(9606,)]
    weight = "SELECT molecular_weight, inchi_key FROM pcsubstance"
    assert rows(built("pcsubstance"), weight) == [(201.65668, "ODCWYMIRDDJXKW-UHFFFAOYSA-N")]


@pytest.mark.parametrize(
    "path", sorted((SHARED / "eutils" / "errors").glob("*")), ids=lambda p: p.name
)
def test_errors_are_no_datasets(path, tmp_path):
    page = RawRecordPage("pmc", "docsum_xml", path.read_bytes())
    if "DocumentSummarySet" in path.read_text(encoding="utf-8"):
        built = build_dataset([page], tmp_path / "x.db", {})
        check(built)
        assert (built.records, built.not_found) == (2, ("1",))
        return
    with pytest.raises((EntrezFailed, BadContent)):
        build_dataset([page], tmp_path / "x.db", {})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("path", BULK, ids=lambda path: path.name)
def test_pubmed_in_bulk(path, tmp_path):
    body = gzip.decompress(path.read_bytes())
    built = build_dataset([RawRecordPage("pubmed", "pubmed_xml", body)], tmp_path / "x.db", {})
    check(built)
    root = etree.fromstring(body)
    counted = {
        "articles": len(root.findall("PubmedArticle")) + len(root.findall("PubmedBookArticle")),
        "grants": len(root.findall(".//GrantList/Grant")),
        "chemicals": len(root.findall(".//ChemicalList/Chemical")),
        "cited_works": len(root.findall(".//ReferenceList/Reference")),
        "databank_accessions": len(root.findall(".//AccessionNumber")),
        "mesh": sum(max(1, len(h.findall("QualifierName"))) for h in root.iter("MeshHeading")),
    }
    assert {table: built.tables[table] for table in counted} == counted
    cited = [
        (int(pmid), int(ref.text))
        for article in root.findall("PubmedArticle")
        for pmid in [article.findtext("MedlineCitation/PMID")]
        for ref in article.findall(".//Reference/ArticleIdList/ArticleId[@IdType='pubmed']")
    ]
    found = "SELECT uid, cited_pmid FROM cited_works WHERE cited_pmid IS NOT NULL"
    assert sorted(rows(built.file, found)) == sorted(cited)
    retracted = [
        int(article.findtext("MedlineCitation/PMID"))
        for article in root.findall("PubmedArticle")
        if "D016441" in {kind.get("UI") for kind in article.iter("PublicationType")}
    ]
    named = rows(built.file, "SELECT uid FROM articles WHERE is_retracted = 1")
    assert set(retracted) <= {uid for (uid,) in named}


def test_pubmed_answers_one_by_one_are_one_dataset(tmp_path):
    pages = [RawRecordPage("pubmed", "pubmed_xml", path.read_bytes()) for path in EFETCH]
    sound = [
        page for page in pages if b"<PubmedArticleSet" in page.body and b"</Pubmed" in page.body
    ]
    built = build_dataset(sound, tmp_path / "x.db", {})
    check(built)
    assert built.records > 80
    known = {pmid for page in sound for pmid in re.findall(rb"<PMID[^>]*>0*(\d+)", page.body)}
    assert {str(uid).encode() for (uid,) in rows(built.file, "SELECT uid FROM articles")} <= known


def test_pmc_sets_and_articles(tmp_path):
    sets = [path.read_bytes() for path in sorted((SHARED / "pmc" / "efetch").glob("*.xml"))]
    built = build_dataset(
        [RawRecordPage("pmc", "pmc_xml", body) for body in sets], tmp_path / "x.db", {}
    )
    check(built)
    assert built.records == sum(body.count(b"<article ") for body in sets)
    withheld = "SELECT pmid, has_full_text, body_words FROM articles WHERE pmcid = 'PMC8758404'"
    assert rows(built.file, withheld) == [(34892092, 0, 0)]
    told = "SELECT count(*) FROM sections WHERE uid = 8758404 AND part = 'body'"
    assert rows(built.file, told) == [(0,)]
    captions = sum(body.count(b"<fig ") + body.count(b"<table-wrap ") for body in sets)
    drawn = "SELECT count(*) FROM captions WHERE kind IN ('figure', 'table')"
    assert 0 < rows(built.file, drawn)[0][0] <= captions


def test_sections_hold_the_text_of_articles(tmp_path):
    paths = sorted((SHARED / "articles").glob("*/jats.xml"))[:40]
    built = build_dataset(
        [RawRecordPage("pmc", "pmc_xml", p.read_bytes()) for p in paths], tmp_path / "x.db", {}
    )
    check(built)
    said = "SELECT sum(words) FROM sections WHERE part = 'body'"
    [(words,)] = rows(built.file, said)
    [(counted,)] = rows(built.file, "SELECT sum(body_words) FROM articles")
    assert 0.98 < words / counted < 1.25  # the signs of tables are words here
