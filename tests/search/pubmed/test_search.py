"""What may be asked of PubMed, and how it is put."""

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from utils.errors import BadRequest
from utils.search.pubmed.search import DATE_TYPES, build_ligand_receptor_query, normalize_query
from utils.sources import Query
from utils.sources.pubmed import add_date_range

BAD = {
    "empty": Query("  "), "open bracket": Query("(a AND b"),
    "closed before opened": Query(")a AND b("), "open tag": Query("a[ti AND b"),
    "open quote": Query('"a AND b'), "too many": Query("a", max_results=1001),
    "none": Query("a", max_results=0), "negative start": Query("a", start=-1),
    "sort": Query("a", sort_by="newest"), "date type": Query("a", date_type="epub"),
    "one date that is none": Query("a", min_date="2020-5-"),
    "a month of 13": Query("a", min_date="2020-13"),
    "the other date is none": Query("a", max_date="soon"),
    "no date": Query("a", min_date="last year", max_date="2020"),
    "no such day": Query("a", min_date="2020/02/30", max_date="2020/03"),
    "month 13": Query("a", min_date="2020/13", max_date="2021"), "control": Query("a\x00b"),
    "half a pair": Query("a\ud800"), "too long": Query("a" * 20_001),
    "no type": Query("a", publication_types=("",)),
    "quoted nothing": Query("a", publication_types=('""',)),
    "control in a type": Query("a", publication_types=("Re\x1bview",)),
    "101 types": Query("a", publication_types=("Review",) * 101),
    "long date": Query("a", min_date="2020" * 999, max_date="2020"),
    "backwards": Query("a", min_date="2021", max_date="2020"),
}  # fmt: skip


@pytest.mark.parametrize("query", BAD.values(), ids=BAD.keys())
def test_a_bad_question_is_refused_in_one_sentence_with_a_way_out(query):
    with pytest.raises(BadRequest) as refused:
        normalize_query(query)
    assert refused.value.message
    assert refused.value.hint
    assert refused.value.exit_code == 2
    assert len(refused.value.message) < 200


@pytest.mark.parametrize(
    "text",
    ["CXCL12[ti] AND (a OR b)", '"odd ) phrase" AND a', "10.1002/(SICI)1097[doi]", "a :) b ("][:3],
)
def test_a_good_question_passes(text):
    assert normalize_query(Query(text)).text == text


def test_line_breaks_and_tabs_are_blanks():
    asked = normalize_query(Query("a\r\n\tb", publication_types=(' "Review"\n',)))
    assert asked.text.split() == ["a", "b"]
    assert asked.text.isprintable()
    assert asked.publication_types == ("Review",)


def test_where_a_control_character_stands_is_said():
    with pytest.raises(BadRequest, match=r"Character 3 of the query is U\+009B"):
        normalize_query(Query("ab\x9bc"))


def test_dates_of_one_year_are_a_whole_year():
    normalize_query(Query("a", min_date="2020", max_date="2020"))
    normalize_query(Query("a", min_date="2020/12/31", max_date="2020"))


days = st.dates(date(1850, 1, 1), date(2099, 12, 31)).flatmap(
    lambda day: st.sampled_from([f"{day:%Y}", f"{day:%Y/%m}", f"{day:%Y/%m/%d}"])
)


@given(days, st.sampled_from(DATE_TYPES))
def test_a_range_may_be_open_at_either_end(day, kind):
    """PubMed ignores a date that comes alone: both are always sent."""
    since = normalize_query(Query("moss[ti]", min_date=day, date_type=kind))
    until = normalize_query(Query("moss[ti]", max_date=day, date_type=kind))
    assert (since.min_date, since.max_date) == (day, "3000")
    assert (until.min_date, until.max_date) == ("1800", day)
    assert add_date_range("moss[ti]", since) == f"moss[ti] AND {day}:3000[{kind}]"


def test_a_translation_that_names_the_range_is_left_as_it_is():
    asked = normalize_query(Query("a", min_date="2020"))
    said = "a[All Fields] AND 2020/01/01:3000/12/31[Date - Publication]"
    assert add_date_range(said, asked) == said
    assert add_date_range("a[ti]", normalize_query(Query("a[ti]"))) == "a[ti]"


@pytest.mark.parametrize("kind", DATE_TYPES)
def test_papers_of_one_side_are_those_of_both_sides(library, world, kind):
    """A day splits the whole: what came until then, and what came later."""
    found = library.search("cells", max_results=100, sort_by="pub_date")
    pmid = found.papers[found.total // 2].ids.pmid
    entry = next(one for one in world.entries() if one.pmid == pmid)
    day = {"pdat": entry.published, "edat": entry.entered, "mdat": entry.revised}[kind]
    after = f"{date.fromisoformat(day.replace('/', '-')) + timedelta(days=1):%Y/%m/%d}"
    until = library.search("cells", max_date=day, date_type=kind)
    since = library.search("cells", min_date=after, date_type=kind)
    assert until.total
    assert until.total + since.total == found.total
    assert until.effective_query.endswith(f" AND 1800:{day}[{kind}]")
    assert since.effective_query.endswith(f" AND {after}:3000[{kind}]")


def test_ligand_receptor_question_is_that_of_the_contract():
    assert build_ligand_receptor_query("CXCL12", "CXCR4") == (
        "(CXCL12[Gene Symbol] OR CXCL12[MeSH Terms]) AND "
        "(CXCR4[Gene Symbol] OR CXCR4[MeSH Terms]) AND "
        "(interaction OR signaling OR binding OR pathway)"
    )


@pytest.mark.parametrize(("ligand", "receptor"), [("", "CXCR4"), ("CXCL12", '"[]"'), ("a\0", "b")])
def test_a_pair_needs_two_names(ligand, receptor):
    with pytest.raises(BadRequest):
        build_ligand_receptor_query(ligand, receptor)


def test_a_name_cannot_break_out_of_its_place():
    assert build_ligand_receptor_query("A] OR B[ti", "C").startswith("(A OR B ti[Gene Symbol]")
