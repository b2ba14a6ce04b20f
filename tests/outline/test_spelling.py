"""Questions are asked in British and in American spelling."""

import pytest

from utils.outline.spelling import find_other_spellings
from utils.outline.terms import to_index_terms, to_query_terms


@pytest.mark.parametrize(
    ("british", "american"),
    [
        ("tumours", "tumors"),
        ("haemoglobin", "hemoglobin"),
        ("anaemia", "anemia"),
        ("oesophageal", "esophageal"),
        ("randomised", "randomized"),
        ("hospitalisation", "hospitalization"),
        ("catalysed", "catalyzed"),
        ("centre", "center"),
        ("azotaemia", "azotemia"),
        ("steatorrhoea", "steatorrhea"),
        ("palaeolithic", "paleolithic"),
        ("ionised", "ionized"),
        ("oxidisable", "oxidizable"),
        ("goitre", "goiter"),
        ("enrolment", "enrollment"),
    ],
)
def test_each_spelling_finds_texts_in_the_other(british: str, american: str) -> None:
    for one, other in ((british, american), (american, british)):
        assert other in find_other_spellings(one)
        assert set(to_query_terms(one)) >= set(to_index_terms(other).split())


@pytest.mark.parametrize("word", ["noise", "rise", "cell", "il6", "poor", "four", "parameter"])
def test_other_words_have_one_spelling(word: str) -> None:
    assert not find_other_spellings(word)
