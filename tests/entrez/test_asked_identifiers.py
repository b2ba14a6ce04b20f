"""Identifiers as people paste them, whatever they paste."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from utils.entrez.databases import DATABASES
from utils.entrez.selection import LARGEST_UID, MAX_IDS, parse_database_ids
from utils.errors import BadRequest

PUBMED, PMC, SNP = DATABASES["pubmed"], DATABASES["pmc"], DATABASES["snp"]
NUCCORE, GENE = DATABASES["nuccore"], DATABASES["gene"]


@pytest.mark.parametrize(
    ("database", "given_", "read"),
    [
        (PUBMED, "31452104, 1;2 3", ["31452104", "1", "2", "3"]),
        (PUBMED, 31452104, ["31452104"]),
        (PUBMED, ["PMID:31452104", "031452104"], ["31452104"]),
        (PMC, "PMC6776410 pmc1", ["6776410", "1"]),
        (PMC, "PMCID:PMC6776410", ["6776410"]),
        (SNP, "rs268", ["268"]),
        (NUCCORE, "nm_007294.4, 237757283", ["NM_007294.4", "237757283"]),
        (NUCCORE, "U49845.1 AY207443", ["U49845.1", "AY207443"]),
        (DATABASES["protein"], "1ABC_A np_009225", ["1ABC_A", "NP_009225"]),
        (GENE, (672, "7157"), ["672", "7157"]),
    ],
)
def test_the_usual_spellings_are_read(database, given_, read):
    assert parse_database_ids(database, given_) == read


@pytest.mark.parametrize(
    ("database", "wrong", "kind", "home"),
    [
        (PUBMED, "PMC6776410", "PMCID", "pmc"),
        (PUBMED, "10.1371/journal.pone.0111303", "DOI", "Search pubmed"),
        (GENE, "rs268", "dbSNP", "snp"),
        (GENE, "NM_007294.4", "RefSeq", "nuccore"),
        (GENE, "ENSG00000012048", "Ensembl", "Search gene"),
        (DATABASES["assembly"], "GCF_000001405.40", "Assembly", "Search assembly"),
        (DATABASES["sra"], "SRR1234567", "Sequence Read Archive", "Search sra"),
        (DATABASES["taxonomy"], "SAMN02672871", "BioSample", "Search biosample"),
        (NUCCORE, "GCA_000001405.15", "Assembly", "Search assembly"),
        (NUCCORE, "VCV000065533.3", "ClinVar", "Search clinvar"),
        (DATABASES["gds"], "GSE1", "GEO", "Search gds"),
        (PUBMED, "D009369", "MeSH", "Search mesh"),
    ],
)
def test_an_identifier_of_another_kind_is_sent_home(database, wrong, kind, home):
    with pytest.raises(BadRequest) as refused:
        parse_database_ids(database, wrong)
    assert wrong in refused.value.message
    assert kind in refused.value.hint
    assert home in refused.value.hint
    assert database.example in refused.value.hint


def test_a_name_is_to_be_searched_for():
    with pytest.raises(BadRequest, match="Search gene for 'BRCA1' to find its Gene ID"):
        parse_database_ids(GENE, "BRCA1")


def test_one_wrong_among_many_is_named_and_the_list_stays_short():
    with pytest.raises(BadRequest) as refused:
        parse_database_ids(PUBMED, ["1", *(f"x{n}" for n in range(900)), "2"])
    assert "and 895 more" in refused.value.message
    assert len(str(refused.value)) < 600


def test_none_and_too_many_are_refused():
    for nothing in ("", " , ", [], ()):
        with pytest.raises(BadRequest, match="No identifiers"):
            parse_database_ids(PUBMED, nothing)
    with pytest.raises(BadRequest, match="10,001"):
        parse_database_ids(PUBMED, range(1, MAX_IDS + 2))
    assert len(parse_database_ids(PUBMED, range(1, MAX_IDS + 1))) == MAX_IDS


@given(st.integers(1, LARGEST_UID), st.sampled_from(sorted(DATABASES)))
def test_every_number_is_a_uid_of_every_database(number, name):
    assert parse_database_ids(DATABASES[name], number) == [str(number)]


@given(st.integers(max_value=0) | st.integers(min_value=LARGEST_UID + 1))
def test_no_other_number_is(number):
    with pytest.raises(BadRequest):
        parse_database_ids(PUBMED, number)


@given(st.text(max_size=60) | st.lists(st.text(max_size=20), max_size=5))
def test_whatever_is_pasted_is_read_whole_or_refused_whole(pasted):
    for database in (PUBMED, NUCCORE, SNP):
        try:
            read = parse_database_ids(database, pasted)
        except BadRequest as error:
            refused = error
        else:
            refused = None
            assert read
            assert len(set(read)) == len(read)
            assert all(uid.isascii() and uid.replace("_", "").replace(".", "").isalnum() for uid in
                       read)  # fmt: skip
            assert parse_database_ids(database, read) == read
        assert refused is None or refused.hints
        assert all(ord(character) >= 32 for character in str(refused))
