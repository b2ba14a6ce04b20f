"""Terms: the same name in any spelling is found, and what is another name is not."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from utils.outline import terms
from utils.outline.terms import to_index_terms, to_query_terms


def finds(question: str, text: str) -> bool:
    """Whether every term asked for, or the one that says it all, is in the text."""
    return bool(set(to_query_terms(question)) & set(to_index_terms(text).split()))


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("TiO2", "films of TiO₂"),
        ("TiO₂", "films of TiO<sub>2</sub>"),
        ("beta-catenin", "β-catenin rose"),
        ("β-catenin", "beta catenin rose"),
        ("IL6", "IL-6 was high"),
        ("IL-6", "IL6 was high"),
        ("IL 6", "IL‑6 was high"),
        ("IL-6", "IL 6 was high"),
        ("TNF-alpha", "TNFα blockers"),
        ("TNFα", "TNF alpha blockers"),
        ("il-1 beta", "IL-1β"),
        ("COVID", "COVID-19-related admissions"),
        ("covid19", "COVID-19-related admissions"),
        ("Sjogren", "Sjögren’s syndrome"),
        ("fibre", "ﬁbres"),
        ("T cells", "T-cell receptor"),
        ("T cell", "T-cells"),
        ("1000 patients", "1,000 patients"),
        ("12.5 mg", "12.5mg daily"),
        ("10mg", "10 mg daily"),
        ("24 h", "after 24h"),
        ("p = 0.03", "P=.03"),
        (".03", "0·03"),
        ("0.67", "0.44–0.67"),
        ("2.5", "1-2.5 mm"),
        ("10 to 20 mg", "10–20 mg"),
        ("10-20", "between 10 and 20"),
        ("Lukasz", "Łukasz"),
        ("考察", "考察した"),
        ("клетки", "КЛЕТКИ"),
    ],
)
def test_another_spelling_of_the_same_is_found(question, text):
    assert finds(question, text)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("IL-6", "IL-16 was high, 6 times"),
        ("0.5", "5 of 0 mice"),
        ("CXCL12", "CXCL13 and CXCR12"),
        ("p53", "p 73, 53 patients"),
        ("GLP-1", "GLP-2"),
        ("B12", "12 boxes"),
        ("12.5 mg", "2.5 mg and 12 mg"),
    ],
)
def test_another_name_is_not_found(question, text):
    assert not set(to_query_terms(question)) <= set(to_index_terms(text).split())


def test_a_numbered_name_stands_for_itself_and_a_counted_day_does_not():
    assert "il6" in to_index_terms("IL 6").split()
    assert "day6" not in to_index_terms("on day 6").split()


def test_function_words_and_parts_that_say_nothing_are_not_asked_for_beside_others():
    assert to_query_terms("what is the role of IL-6 in a reef") == ["role", "il6", "reef"]
    assert to_query_terms("who") == ["who"]
    assert to_query_terms("") == to_query_terms(" ... ?!") == []
    assert len(to_query_terms(" ".join(f"word{n}" for n in range(500)))) == 48


def test_a_name_of_hundreds_of_parts_and_a_word_of_a_million_letters_are_no_trouble():
    assert len(to_index_terms("-".join(["1"] * 5_000)).split()) < 50
    assert to_query_terms("x" * 1_000_000) == []


@given(st.text(max_size=200))
def test_any_text_gives_terms_that_stay_what_they_are(text):
    terms = to_index_terms(text).split(" ")
    assert all(term == term.strip() and len(term.split()) <= 1 for term in terms)
    assert not any(character in term for term in terms for character in "-'\"\0\ud800")


@given(
    st.from_regex(r"[A-Z]{2,5}", fullmatch=True),
    st.integers(1, 99),
    st.sampled_from(["", "-", "‐", "‑", "–", "−"]),
    st.sampled_from(["", "-", "‐", "‑", "–", "−", " "]),
)
def test_a_symbol_is_found_in_every_spelling(name, number, one, other):
    assert finds(f"{name}{one}{number}", f"the {name}{other}{number} axis")


def test_threads_that_meet_a_word_for_the_first_time_get_its_own_stem():
    words = [f"{first}{second}olated" for first in "bcdfghjklm" for second in "aeiou"] * 40
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(to_index_terms, words))
    assert made == [word.removesuffix("ed") for word in words]


@given(st.text("aBs1.,;:()[]'\"-%/=", min_size=1, max_size=9))
def test_signs_around_a_word_and_capitals_change_none_of_its_terms(word):
    pieces = map(terms._stem_compound_parts, terms._split_compounds(word))
    expected = (part for some in pieces for parts in some for part in parts)
    assert to_index_terms(word) == " ".join(expected)
