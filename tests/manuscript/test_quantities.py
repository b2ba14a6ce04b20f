"""Numbers of a manuscript, and when those of a cited text say the same."""

import pytest

from utils.manuscript.parts import ManuscriptBlock, iterate_sentences
from utils.manuscript.passages import CitedText
from utils.manuscript.quantities import compare_quantities, find_quantities, is_distinctive_number
from utils.manuscript.reading import read_manuscript_text


def _check(sentence: str, text: str, *, is_full: bool = True) -> list[tuple[str, str]]:
    from utils.manuscript.claims import check_sentence

    [one] = iterate_sentences(ManuscriptBlock(sentence))
    cited = CitedText("pmid:1", f"# Title\n\n## Results\n\n{text}\n", is_full)
    statement = check_sentence(one, [cited])
    assert statement
    return [(one.what, one.outcome) for one in statement.elements if one.kind == "number"]


@pytest.mark.parametrize(
    ("ours", "theirs", "said"),
    [
        ("1,200 cells", "1200 cells", "same"),
        ("12 000 cells", "12,000 cells", "same"),
        ("12.4 %", "12.37%", "rounded"),
        ("12.4 %", "| 12.37 |", "rounded"),
        ("45 %", "The percentage (SE) was 45", "same"),
        ("45 per cent", "45%", "same"),
        ("45 %", "45 mice", "unit"),
        ("45 mice", "45 %", "unit"),
        ("p > 0.05", "p < 0.05", "side"),
        ("p>0.05", "p<0.05", "side"),
        ("P≥.05", "p < 0.05", "side"),
        ("p = 0.05", "p<0.05", "side"),
        (">65 years", "<65 years", "side"),
        ("12 percentage points", "12 %", "unit"),
        ("12 percentage points", "12 points", "same"),
        ("p greater than 0.05", "p ≤ 0.05", "side"),
        ("p less than 0.05", "p = 0.012", "bound"),
        ("p > 0.05", "p = 0.31", "bound"),
        ("p > 0.05", "r = 0.31", ""),
        ("5 milligrams", "5 mg", "same"),
        ("2 millilitres", "2000 μl", "converted"),
        ("5 mg per kg per day", "5 mg/kg/day", "same"),
        ("5 mg/kg/d", "5 mg kg⁻¹ day⁻¹", "same"),
        ("5 mg per kilogram of body weight daily", "5 mg/kg/day", "same"),
        ("5 mg/kg", "5 mg/kg/day", "same"),
        ("5 mg", "5 mg/kg", "unit"),
        ("5 mg per kg per day", "5 mg/kg/week", "unit"),
        ("2 g/l", "2 mg/ml", "same"),
        ("200 mg/dl", "2 mg/ml", "converted"),
        ("2 g/l", "2 mg/l", "unit"),
        ("12.5 per 100,000 person-years", "12.5/100 000 patient years", "same"),
        ("12.5 per 100,000 person-years", "12.5 per 1000 person-years", "unit"),
        ("16 months", "16.43", ""),
        ("45 %", "0.45", "converted"),
        ("0.5 g", "500 mg", "converted"),
        ("two weeks", "14 days", "converted"),
        ("twelve patients", "12 patients", "same"),
        ("1.2 million", "1,200,000", "same"),
        ("p < 0.001", "p = 0.0004", "bound"),
        ("p < .05", "P<0.05", "same"),
        ("about 50 %", "48.7 %", "approximate"),
        ("−5 °C", "-5 °C", "same"),
        ("a 71-year-old man", "aged 71 years", "same"),
        ("a 36‐h fast", "fasted for 36 h", "same"),
        ("a 71-year-old man", "a 17-year-old man", ""),
        ("5 mg", "5 g", "unit"),
        ("5 mM", "5 μM", "unit"),
        ("45 %", "54 %", ""),
        ("12.4 %", "12.47 %", ""),
        ("50 %", "48.7 %", ""),
        ("p < 0.001", "p = 0.02", ""),
        ("1.25", "1.2", ""),
    ],
)
def test_agreement(ours: str, theirs: str, said: str) -> None:
    [one], [other] = find_quantities(ours), find_quantities(theirs)
    assert compare_quantities(one, other) == said


def test_names_and_years_are_no_numbers() -> None:
    text = "In 2015, IL-6 and COVID-19 of type 2 (Table 3, Figs. 4 and 5) in two groups"
    assert not [one for one in find_quantities(text) if is_distinctive_number(one)]


def test_units_count_for_the_numbers_before_them() -> None:
    assert {one.unit for one in find_quantities("5–10 mg; 5, 10 and 20 mg; 3 ± 1 mg")} == {"mg"}


_TEXT = (
    "Weight fell by 12.5 % in the treated mice after eight weeks. Controls gained 3.1 % of their"
    " weight. Plasma glucose was 7.8 mM in both groups. The doses were 5 and 10 mg of extract."
)


@pytest.mark.parametrize(
    ("sentence", "outcome"),
    [
        ("The treated mice lost 12.5 % of their weight after eight weeks.", "same"),
        ("The treated mice lost 15.2 % of their weight after treatment.", "absent"),
        ("The treated mice lost 7.8 % of their weight.", "absent"),
        ("Plasma glucose was 7.8 μM in both groups.", "altered"),
        ("Doses of extract were 10 mg.", "same"),
        ("Controls gained 12.5 % of their weight.", "altered"),
    ],
)
def test_numbers_stand_where_the_words_do(sentence: str, outcome: str) -> None:
    found = _check(sentence, _TEXT)
    assert outcome in {said for _, said in found}, found


@pytest.mark.parametrize(
    ("sentence", "outcome"),
    [
        ("The treated mice lost 12.5 % of their weight.", "same"),
        ("Weight fell by 15.2 % in the treated mice after eight weeks.", "altered"),
        ("Weight fell by 15.2 % in our treated mice after eight weeks.", "uncited"),
        ("Of the children seen last winter, 15.2 % coughed.", "uncited"),
        ("Plasma glucose was 7.8 μM in both groups.", "altered"),
    ],
)
@pytest.mark.parametrize("order", [1, -1])
def test_sentences_beside_the_one_that_cites(sentence: str, outcome: str, order: int) -> None:
    from utils.manuscript.checking import _iterate_statements

    told = " ".join([sentence, "So it is known [@one]."][::order])
    cited = CitedText("pmid:1", f"# Title\n\n## Results\n\n{_TEXT}\n", is_full=True)
    found = _iterate_statements(read_manuscript_text(told), {"one": cited})
    made = [one for statement in found for one in statement.elements]
    assert outcome in {one.outcome for one in made if one.kind == "number"}, made
    assert {one.keys for one in made} == {("one",)}


def test_what_an_abstract_lacks_is_not_denied() -> None:
    [(_, outcome)] = _check("The mice weighed 31.4 g.", _TEXT, is_full=False)
    assert outcome == "no_full_text"
