"""What is left of a PubMed query where nobody knows PubMed's tags."""

import pytest

from utils.search.search import strip_field_tags


@pytest.mark.parametrize(
    ("query", "bare"),
    [
        ('"gene therapy"[ti] AND (crispr[tiab] OR talen[tiab])',
            '"gene therapy" AND (crispr OR talen)'),
        ("Smith J[au] AND coral[mh:noexp]", "Smith J AND coral"),
        ('("2020/01/01"[PDAT] : "2024/12/31"[PDAT]) AND coral', "coral"),
        ("coral AND (review[pt] OR meta-analysis[pt])", "coral"),
        ("coral reef 2020[dp] OR moss[ti]", "coral reef OR moss"),
        ("coral AND NOT randomized controlled trial[pt]", "coral"),
        ("(a[ti] OR b) AND free full text[sb]", "(a OR b)"),
        ('"crispr cas9"[Title/Abstract:~2] NOT plant[mh]', '"crispr cas9" NOT plant'),
        ("31452104[pmid]", ""),
        ("benzo[a]pyrene[tiab] NOT imidazo[1,2-a]pyridine",
            "benzo[a]pyrene NOT imidazo[1,2-a]pyridine"),
        ("[ti]", ""),
    ],
)  # fmt: skip
def test_words_stay_and_restrictions_go_with_their_operator(query, bare):
    words, warnings = strip_field_tags(query)
    assert words == bare
    assert len(warnings) == 1


@pytest.mark.parametrize(
    "query",
    [
        "cytosolic [Ca2+] signalling",
        "[18F]FDG PET",
        "benzo[a]pyrene",
        'coral AND "great reef" NOT (moss OR fern)',
        "a[b",
        "CO2",
        "",
    ],
)
def test_a_query_without_tags_is_left_alone(query):
    assert strip_field_tags(query) == (query, ())


def test_a_field_of_one_sites_language_is_told():
    words, [told] = strip_field_tags("cat:q-bio.GN ANDNOT moss")
    assert words == "cat:q-bio.GN ANDNOT moss"
    assert "“cat:”" in told


def test_what_is_left_out_is_named():
    _, (told,) = strip_field_tags("coral AND english[la]")
    assert "“coral”, without english[la]." in told


def test_brackets_without_end_are_no_matter():
    assert strip_field_tags("(" * 9000 + "coral[ti]" + ")" * 9000)[0].strip("()") == "coral"
