"""A dataset is whole, says what it is, and holds every record once; or it is not there at all."""

import json
import sqlite3
import tracemalloc

import pytest

from tests.entrez.datasets import pages
from tests.entrez.datasets.sane import check, columns, rows, tables, told
from utils.entrez.datasets.building import build_dataset
from utils.entrez.datasets.trees import RawRecordPage as Page
from utils.errors import BadContent, BadRequest, EntrezFailed, PaperError, StoreFailed

ABOUT = {"id": "gene_00000001", "database": "gene", "title": "repair", "form": "docsum_json"}


@pytest.fixture
def file(tmp_path):
    folder = tmp_path / "datasets"
    folder.mkdir()
    return folder / "x.db"


@pytest.mark.parametrize(
    "name",
    [
        "GENES",
        "RUNS",
        "VARIANTS",
        "TAXA",
        "ENTREZGENE",
        "SEQUENCES",
        "SAMPLES",
        "EXPERIMENTS",
        "COMPOUNDS",
    ],
)
def test_every_form_makes_a_sound_dataset(file, name):
    built = build_dataset([getattr(pages, name)], file, ABOUT)
    check(built)
    assert built.records > 0


def test_what_it_is_stands_in_it(file):
    built = build_dataset([pages.GENES], file, ABOUT)
    assert {key: told(file)[key] for key in ABOUT} == ABOUT
    assert built.not_found == ("999999999",)
    assert built.warnings == ("Not found: 999999999 (1 in all).",)
    assert set(json.loads(told(file)["empty_fields"])) == {
        "gene.status", "gene.currentid", "gene.summary",
    }  # fmt: skip


def test_objects_become_columns_and_lists_become_tables(file):
    build_dataset([pages.GENES], file, ABOUT)
    assert tables(file) == ["gene", "mim", "genomicinfo"]
    [row] = rows(file, "SELECT organism_taxid, description FROM gene WHERE uid = 672")
    assert row == (9606, "BRCA1 repair associated")
    places = "SELECT symbol.name, chrstart FROM genomicinfo JOIN gene symbol USING (uid)"
    assert rows(file, f"{places} WHERE position = 2") == [("BRCA1", 43125370)]
    assert rows(file, "SELECT * FROM mim") == [(672, 1, 113705)]
    assert columns(file, "gene")["chromosome"] == "TEXT"  # 17 and X


def test_xml_within_a_text_is_read(file):
    build_dataset([pages.RUNS], file, ABOUT)
    spots = "SELECT expxml_summary_title, sum(total_spots) FROM sra JOIN runs USING (uid)"
    assert rows(file, f"{spots} WHERE uid = 155791") == [("RNA-Seq of liver & kidney", 30)]
    assert rows(file, "SELECT uid, acc FROM runs WHERE uid = 155792") == [(155792, "SRR3")]


def test_lists_within_lists_refer_to_both(file):
    build_dataset([pages.VARIANTS], file, ABOUT)
    where = (
        "SELECT uid, start FROM variation_loc l JOIN variation_set s USING (variation_set_id, uid)"
    )
    assert rows(file, f"{where} WHERE s.measure_id = 15041 AND l.status = 'current'") == [
        (17677, 43057064),
        (17678, 43057064),
    ]
    evaluated = "SELECT germline_classification_last_evaluated FROM clinvar ORDER BY uid"
    assert rows(file, evaluated) == [("2024-04-11",), (None,)]


def test_wrappers_and_types_of_xml_leave_no_trace(file):
    build_dataset([pages.TAXA], file, ABOUT)
    assert tables(file) == ["taxonomy", "lineage_ex"]
    build_dataset([pages.ENTREZGENE], file, ABOUT)
    assert rows(file, "SELECT uid, gene_locus, type_value FROM gene") == [
        (672, "BRCA1", "protein-coding")
    ]
    build_dataset([pages.SEQUENCES], file, ABOUT)
    assert tables(file)[1:] == ["nuccore_references", "feature_table", "authors", "quals"]
    assert rows(file, "SELECT uid, create_date FROM nuccore") == [("AY207443.1", "2003-03-05")]
    chromosome = (
        "SELECT q.value FROM quals q JOIN feature_table f USING (feature_table_id)"
        " WHERE f.key = 'source' AND q.name = 'chromosome'"
    )
    assert rows(file, chromosome) == [("16",)]
    build_dataset([pages.SAMPLES], file, ABOUT)
    sex = "SELECT value FROM attributes WHERE attribute_name = 'sex' ORDER BY uid"
    assert rows(file, sex) == [("female",), ("male",)]
    build_dataset([pages.EXPERIMENTS], file, ABOUT)
    assert rows(file, "SELECT tag, value FROM sample_attributes") == [("sex", "male")]
    assert rows(file, "SELECT sample_name_taxon_id FROM sra") == [(9606,)]
    spots = "SELECT uid, total_spots, published FROM run_set_run"
    assert rows(file, spots) == [("SRX1", 10, "2014-03-06 10:11:12")]


def rows_page(*records):
    return Page("gene", "rows", json.dumps(records).encode())


def test_a_list_of_one_and_its_item_are_the_same(file):
    one, many = {"uid": "1", "ref": {"db": "a"}}, {"uid": "2", "ref": [{"db": "b"}, {"db": "c"}]}
    bare = {"uid": "3", "ref": "d"}
    build_dataset([rows_page(one), rows_page(many, bare)], file, ABOUT)
    assert rows(file, "SELECT uid, db, value FROM ref ORDER BY uid, position") == [
        (1, "a", None), (2, "b", None), (2, "c", None), (3, None, "d"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("values", "kind", "kept"),
    [
        (["7", 8, "-9"], "INTEGER", [7, 8, -9]),
        (["7", 8.5], "REAL", [7.0, 8.5]),
        (["007", "8"], "TEXT", ["007", "8"]),
        (["1.5", "2"], "REAL", [1.5, 2.0]),
        (["2012/11/22 00:00", "1968 Aug", "2001"], "TEXT", ["2012-11-22", "1968-08", "2001"]),
        (["2012/11/22 13:05", ""], "TEXT", ["2012-11-22 13:05", None]),
        (["2012/11/22", "soon"], "TEXT", ["2012/11/22", "soon"]),
        ([10**30, 1], "TEXT", [str(10**30), "1"]),
        ([True, "x"], "TEXT", ["true", "x"]),
        ([True, False], "INTEGER", [1, 0]),
        (["1E10", "2ABC"], "TEXT", ["1E10", "2ABC"]),  # identifiers of structures
    ],
)
def test_types_hold_for_all_values(file, values, kind, kept):
    records = [{"uid": str(number), "a": value} for number, value in enumerate(values)]
    build_dataset([rows_page(*records)], file, ABOUT)
    assert columns(file, "gene")["a"] == kind
    assert [a for (a,) in rows(file, "SELECT a FROM gene ORDER BY uid")] == kept


def test_versions_stay_as_they_are_written(file):
    build_dataset([rows_page({"uid": "1", "version": "1.10", "score": "1.10"})], file, ABOUT)
    assert rows(file, "SELECT version, score FROM gene") == [("1.10", 1.1)]


def test_the_last_of_several_counts(file):
    first, again = {"uid": "1", "a": "x", "l": [1, 2]}, {"uid": "1", "a": "y", "l": [3]}
    built = build_dataset([rows_page(first, {"uid": "2"}), rows_page(again)], file, ABOUT)
    check(built)
    assert built.records == 2
    assert rows(file, "SELECT a FROM gene WHERE uid = 1") == [("y",)]
    assert rows(file, "SELECT value FROM l") == [(3,)]
    assert built.warnings == ("1 record came more than once, the last one counts: 1.",)


def test_records_without_a_name_are_numbered(file):
    built = build_dataset([rows_page({"a": 1}, {"a": 2}, {"uid": "x", "a": 3})], file, ABOUT)
    check(built)
    assert rows(file, "SELECT uid, a FROM gene") == [("record_1", 1), ("record_2", 2), ("x", 3)]


def test_no_pages_and_empty_pages_are_empty_datasets(file):
    check(build_dataset([], file, ABOUT))
    assert tables(file) == ["gene"]
    check(build_dataset([Page("gene", "rows", b"[]")], file, ABOUT))
    check(build_dataset([], file, {**ABOUT, "form": "pubmed_xml"}))
    assert "authors" in tables(file)


def test_names_of_fields_are_safe(file):
    record = {
        "uid": "1", "order": 1, "Order": 2, "a b": 3, "a_b": 4, "1st": 5, "δ": 6, "x" * 500: 7,
    }  # fmt: skip
    record |= {"drop table gene; --": 8, "other_fields": 9, "group": [1], "position": [{"uid": 2}]}
    check(build_dataset([rows_page(record)], file, ABOUT))
    assert list(columns(file, "gene"))[:6] == ["uid", "order_", "order_2", "a_b", "a_b_2", "n_1st"]
    assert tables(file) == ["gene", "gene_group", "gene_position"]


def test_very_wide_records_keep_everything(file):
    record = {"uid": "1"} | {f"f{number}": number for number in range(1500)}
    check(build_dataset([rows_page(record)], file, ABOUT))
    assert len(columns(file, "gene")) < 300
    [(rest,)] = rows(file, "SELECT other_fields FROM gene")
    kept = columns(file, "gene").keys() | json.loads(rest).keys()
    assert kept >= record.keys()


def test_maps_by_identifier_and_depths_are_json(file):
    deep = "bottom"
    for _ in range(30):
        deep = {"in": deep}
    record = {"uid": "1", "by_id": {f"k{number}": {"n": number} for number in range(500)}}
    check(build_dataset([rows_page(record | {"deep": deep})], file, ABOUT))
    assert columns(file, "gene")["by_id"] == "JSON"
    assert rows(file, "SELECT json_extract(by_id, '$.k7.n') FROM gene") == [(7,)]
    [name] = [name for name in columns(file, "gene") if name.startswith("deep")]
    assert "bottom" in rows(file, f"SELECT {name} FROM gene")[0][0]


def test_very_many_lists_are_not_very_many_tables(file):
    record = {"uid": "1"} | {f"l{number}": [number, number] for number in range(100)}
    check(build_dataset([rows_page(record)], file, ABOUT))
    assert len(tables(file)) <= 40
    assert rows(file, "SELECT l99, json_array_length(l99) FROM gene") == [("[99, 99]", 2)]


BOMB = b"""<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">
<!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;">
<!ENTITY d "&c;&c;&c;&c;&c;&c;&c;&c;"><!ENTITY e "&d;&d;&d;&d;&d;&d;&d;&d;">
<!ENTITY f SYSTEM "file:///etc/passwd">]>"""
BOMBS = {
    "docsum_xml": b"""<eSummaryResult><DocSum><Id>1</Id><Item Name='a'>&e;&f;</Item></DocSum>
</eSummaryResult>""",
    "xml": b"<Set><R uid='1' b='2'>&e;&f;<a>x&e;y</a><a>&f;</a></R></Set>",
    "pubmed_xml": b"""<PubmedArticleSet><PubmedArticle><MedlineCitation><PMID>1</PMID><Article>
<ArticleTitle>&e;&f;</ArticleTitle></Article></MedlineCitation></PubmedArticle>
</PubmedArticleSet>""",
    "pmc_xml": b"""<pmc-articleset><article><front><article-meta>
<article-id pub-id-type='pmc'>1</article-id><title-group><article-title>&e;&f;</article-title>
</title-group></article-meta></front></article></pmc-articleset>""",
}


@pytest.mark.parametrize("form", BOMBS)
def test_entities_are_not_expanded(file, form):
    built = build_dataset([Page("gene", form, BOMB + BOMBS[form])], file, ABOUT)
    check(built)
    assert built.records == 1
    assert b"aaaaaaaaaaaa" not in file.read_bytes()
    assert b"root:" not in file.read_bytes()


def summary(**reply):
    return Page("gene", "docsum_json", json.dumps(reply).encode())


EMPTY_LIST = "<eSummaryResult><ERROR>Neither query_key nor id specified</ERROR></eSummaryResult>"


@pytest.mark.parametrize(
    ("page", "kind", "words"),
    [
        (summary(error="Too many UIDs in request."), EntrezFailed, "Too many UIDs"),
        (summary(esummaryresult=["Empty id list - nothing todo"]), EntrezFailed, "Empty id list"),
        (summary(header={}), BadContent, "no result"),
        (summary(result={"uids": ["1", "2"], "1": {"uid": "1"}}), BadContent, "lists 2"),
        (Page("gene", "docsum_json", b'{"result": {"uids": ["1"]'), BadContent, "docsum_json"),
        (Page("gene", "docsum_json", b"[" * 100_000), BadContent, "nested"),
        (Page("gene", "rows", b'{"a": 1}'), BadContent, "no list"),
        (Page("gene", "docsum_xml", EMPTY_LIST.encode()), EntrezFailed, "Neither query_key"),
        (Page("gene", "docsum_xml", b"<html><body>Busy</body></html>"), BadContent, "<html>"),
        (Page("gene", "xml", b"<Result><ERROR>Busy</ERROR></Result>"), EntrezFailed, "Busy"),
        (Page("gene", "xml", b"<Set><a>"), BadContent, "not XML"),
        (Page("gene", "xml", b"<a>" * 5000), BadContent, "not XML"),
        (Page("gene", "xml", b""), BadContent, "not XML"),
        (Page("pubmed", "pubmed_xml", b"<PubmedArticleSet><PubmedArticle>"), BadContent, "not"),
        (Page("pmc", "pmc_xml", b"<pmc-articleset><article><front>"), BadContent, "cut off"),
    ],
)  # fmt: skip
def test_an_error_instead_of_records_leaves_nothing(file, page, kind, words):
    with pytest.raises(kind, match=words) as raised:
        build_dataset([page], file, ABOUT)
    assert isinstance(raised.value, PaperError)
    assert list(file.parent.iterdir()) == []


def test_a_failure_leaves_the_old_dataset(file):
    build_dataset([pages.GENES], file, ABOUT)
    before = file.read_bytes()
    with pytest.raises(BadRequest, match="Stage them one by one"):
        build_dataset([pages.GENES, pages.TAXA], file, ABOUT)

    def interrupted():
        yield pages.GENES
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build_dataset(interrupted(), file, ABOUT)
    assert file.read_bytes() == before
    assert list(file.parent.iterdir()) == [file]


def test_a_folder_that_is_not_there_is_a_sentence(tmp_path):
    with pytest.raises(StoreFailed, match="Could not write"):
        build_dataset([pages.GENES], tmp_path / "nowhere" / "x.db", ABOUT)


def test_a_full_disk_is_a_sentence(file, monkeypatch):
    connect = sqlite3.connect

    def small(*args, **kwargs):
        database = connect(*args, **kwargs)
        database.execute("PRAGMA max_page_count=3")
        return database

    monkeypatch.setattr("utils.entrez.datasets.tables.sqlite3.connect", small)
    with pytest.raises(StoreFailed, match="full"):
        build_dataset([pages.GENES], file, ABOUT)
    assert list(file.parent.iterdir()) == []


@pytest.mark.slow
def test_many_records_need_little_memory(file):
    filler = "x" * 5000

    def many():
        for start in range(0, 4000, 100):
            uids = range(start, start + 100)
            yield rows_page(*({"uid": str(uid), "a": filler, "l": [1, 2]} for uid in uids))

    tracemalloc.start()
    built = build_dataset(many(), file, ABOUT)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert built.tables == {"gene": 4000, "l": 8000}
    assert peak < 5e6  # a quarter of the records' text alone
