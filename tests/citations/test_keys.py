"""Citation keys by a pattern: words, or Better BibTeX's names; unique, stable, plain letters."""

import pytest

from utils.citations import format_references, iterate_bibtex_entries
from utils.citations.keys import CitationKeyAssigner, parse_key_pattern
from utils.errors import BadRequest
from utils.model.identifiers import Ids
from utils.model.paper import Author, Paper

PAPER = Paper(
    Ids(pmid="7", doi="10.1000/a.b"),
    "The <i>Role</i> of mRNA in Ærø: a study",
    authors=(Author("Łoś-Müller", "Anna"), Author("Roe"), Author("Doe")),
    journal="Journal of Moss",
    published="2019-03-02",
)


@pytest.mark.parametrize(
    ("pattern", "key"),
    [
        ("authYearTitle", "losmuller2019Role"),
        ("AuthYearTitle", "LosMuller2019Role"),
        ("auth_year", "losmuller_2019"),
        ("auth.shortyear-title", "losmuller.19-role"),
        ("authEtAlYear", "losmulleretal2019"),
        ("pmid", "7"),
        ("[auth:lower][year][veryshorttitle]", "losmuller2019Role"),
        ("[Auth]_[shorttitle]", "LosMuller_RoleMRNAAero"),
        ("[authors:abbr][year]", "LRD2019"),
        ("[authEtAl:lower]:[title:upper]", "losmulleretal:ROLEMRNAAEROSTUDY"),
        ("x-[journal:lower:capitalize]", "x-Journalofmoss"),
    ],
)
def test_a_pattern_makes_the_key_that_it_describes(pattern, key):
    assert parse_key_pattern(pattern).build_key(PAPER) == key


@pytest.mark.parametrize(
    ("pattern", "part"),
    [
        ("authYearColour", "Colour"),
        ("auth year", " year"),
        ("[auth][colour]", "colour"),
        ("[auth:shout]", "shout"),
        ("[auth", "[auth"),
        ("[auth]{year}", "{year}"),
    ],
)
def test_an_unknown_part_is_named_with_the_list_of_known_ones(pattern, part):
    with pytest.raises(BadRequest, match="has an unknown part") as refused:
        parse_key_pattern(pattern)
    assert repr(part) in refused.value.message
    assert "veryshorttitle" in refused.value.hint


def test_papers_with_the_same_key_get_letters_in_their_order():
    keys = CitationKeyAssigner("auth_year")
    made = [keys.assign_key(PAPER) for _ in range(30)]
    assert made[:3] == ["losmuller_2019", "losmuller_2019a", "losmuller_2019b"]
    assert made[26:29] == ["losmuller_2019z", "losmuller_2019aa", "losmuller_2019ab"]
    assert len(set(made)) == 30


def test_a_paper_that_gives_nothing_to_a_pattern_has_a_key_all_the_same():
    assert parse_key_pattern("journal").build_key(Paper(Ids(pmid="7"))) == "anon"


def test_bibtex_and_csl_have_the_keys_of_the_pattern():
    entries = list(iterate_bibtex_entries([(PAPER, ""), (PAPER, "")], "authYear"))
    assert [entry.split("{")[1].split(",")[0] for entry in entries] == [
        "losmuller2019",
        "losmuller2019a",
    ]
    assert '"id": "losmuller2019"' in format_references([PAPER], "csl-json", "authYear")[0]


def test_without_a_pattern_keys_are_as_they_were():
    entries = list(iterate_bibtex_entries([(PAPER, ""), (PAPER, "")]))
    assert entries[0].startswith("@article{losmuller2019role,")
    assert entries[1].startswith("@article{losmuller2019role_7,")
