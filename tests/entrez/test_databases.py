"""The table of databases: held against EInfo's own lists, and what it says of mistakes."""

import re

import pytest

from utils.entrez.databases import (
    DATABASES,
    build_unknown_database_error,
    find_dataset_format,
    find_record_format,
    make_default_database_entry,
)
from utils.entrez.datasets.trees import FORMS
from utils.errors import BadRequest

every = pytest.mark.parametrize("name", DATABASES)


@pytest.mark.shared
@pytest.mark.parametrize("file", ["biopython_einfo1.xml", "biopython_einfo4.xml"])
def test_every_database_that_einfo_names_is_in_the_table(shared, file):
    told = re.findall(
        "<DbName>(.*?)<", (shared / "eutils" / "einfo" / file).read_text(encoding="utf-8")
    )
    assert len(told) > 30
    assert set(told) <= set(DATABASES)


@pytest.mark.shared
def test_the_table_names_no_database_that_einfo_does_not(shared):
    folder = shared / "eutils" / "einfo"
    told = set()
    for file in folder.glob("biopython_einfo*.xml"):
        told |= set(re.findall("<DbName>(.*?)<", file.read_text(encoding="utf-8")))
    assert set(DATABASES) == told


@every
def test_every_row_is_whole(name):
    database = DATABASES[name]
    assert database.name == name == name.lower()
    assert all((database.title, database.uid, database.example))
    assert len({(form.rettype, form.retmode) for form in database.forms}) == len(database.forms)
    for form in database.forms:
        assert form.retmode in {"xml", "text", "asn.1"}
        assert form.page is None or form.page in FORMS
        assert (form.page is not None) == (form.retmode == "xml")
    if database.staged:
        assert database.staged in database.forms
        assert database.staged.page


@every
def test_each_form_is_found_by_its_own_words_and_the_first_is_the_default(name):
    database = DATABASES[name]
    for form in database.forms:
        assert find_record_format(database, form.rettype or "native", form.retmode) == form
    if database.forms:
        assert find_record_format(database) == database.forms[0]
        with pytest.raises(BadRequest) as refused:
            find_record_format(database, "sonnet")
        assert database.forms[0].name in refused.value.hint
    else:
        with pytest.raises(BadRequest, match="summary"):
            find_record_format(database)


def test_words_of_others_will_do_as_a_form():
    assert find_record_format(DATABASES["pubmed"], "xml").page == "pubmed_xml"
    assert find_record_format(DATABASES["gene"], "", "xml").page == "xml"
    with pytest.raises(BadRequest, match="operation summary"):
        find_record_format(DATABASES["gene"], "docsum")
    with pytest.raises(BadRequest) as refused:
        find_record_format(DATABASES["nuccore"], "fastaa")
    assert refused.value.hints[0] == "Did you mean rettype=fasta?"


def test_what_is_staged_is_a_form_with_fields_or_the_summaries():
    assert find_dataset_format(DATABASES["gene"]) is None
    assert find_dataset_format(DATABASES["gene"], "docsum") is None
    assert find_dataset_format(DATABASES["pubmed"]).page == "pubmed_xml"
    assert find_dataset_format(DATABASES["protein"], "gp").retmode == "xml"
    assert find_dataset_format(make_default_database_entry("brand_new")) is None
    with pytest.raises(BadRequest, match="plain text"):
        find_dataset_format(DATABASES["pubmed"], "medline")


@pytest.mark.parametrize(
    ("wrong", "meant"),
    [
        ("pubmd", "pubmed"), ("genes", "gene"), ("nucleotides", "nuccore"), ("dbsnp", "snp"),
        ("clin var", "clinvar"), ("taxon", "taxonomy"), ("GenBank", "nuccore"), ("Assembley",
        "assembly"), ("GEO DataSets", "gds"), ("bio-sample", "biosample"),
    ],
)  # fmt: skip
def test_a_misspelt_database_is_answered_with_the_one_meant(wrong, meant):
    refused = build_unknown_database_error(wrong)
    assert wrong in refused.message
    assert f"Did you mean {meant} " in refused.hints[0]


@pytest.mark.parametrize("name", ["", "zzz", "x" * 5000, "\x1b[2J", "../etc"])
def test_a_name_like_none_is_refused_in_a_line(name):
    refused = build_unknown_database_error(name)
    assert len(str(refused)) < 400
    assert "\x1b" not in str(refused)
    assert "pubmed" in refused.hint
