"""The summary of a sentence: never more than its weakest element."""

import pytest

from utils.manuscript.claims import check_sentence
from utils.manuscript.parts import ManuscriptBlock, iterate_sentences
from utils.manuscript.passages import CitedText
from utils.manuscript.statements import Statement


def check(sentence: str, text: str, unread: tuple[str, ...] = ()) -> Statement:
    [one] = iterate_sentences(ManuscriptBlock(sentence))
    cited = CitedText("pmid:1", f"# Title\n\n## Results\n\n{text}\n", is_full=True)
    statement = check_sentence(one, [cited], unread)
    assert statement
    return statement


TURNED = [
    ("Mortality decreased in the treated mice.", "Mortality increased in the treated mice."),
    ("Scores were higher after surgery.", "Scores were lower after surgery."),
    ("Scores improved in most patients.", "Scores worsened in most patients."),
    ("The drug was inferior to placebo.", "The drug was non-inferior to placebo."),
    ("Obesity was a protective factor for stroke.", "Obesity was a risk factor for stroke."),
    ("The gene was downregulated in tumour cells.", "The gene was up-regulated in tumour cells."),
    ("The drug is an agonist of the receptor.", "The drug is an antagonist of the receptor."),
    ("Aspirin activates the enzyme in platelets.", "Aspirin inhibits the enzyme in platelets."),
    ("Patients without diabetes had ulcers.", "Patients with diabetes had ulcers."),
    ("Pain was measured before surgery.", "Pain was measured after surgery."),
    ("The correlation with age was negative.", "The correlation with age was positive."),
    ("The promoter was hypermethylated in tumours.", "The promoter was hypomethylated in tumours."),
    ("The difference was significant.", "The difference was not significant."),
    ("Mortality was higher in women than in men.", "Mortality was higher in men than in women."),
    ("Treatment did not reduce mortality.", "Treatment reduced mortality."),
    ("The association could be confirmed.", "The association could not be confirmed."),
    ("Women smoked most in this sample.", "Men smoked most in this sample."),
]  # fmt: skip


@pytest.mark.parametrize(("sentence", "text"), TURNED)
def test_a_turned_word_differs(sentence: str, text: str) -> None:
    statement = check(sentence, text)
    assert statement.result == "differs"
    assert "turned" in {one.outcome for one in statement.elements if one.kind == "direction"}


@pytest.mark.parametrize(("text", "_turned"), TURNED)
def test_the_same_words_agree(text: str, _turned: str) -> None:
    assert check(text, text).result == "agrees"


DEFICIT = "Bed rest changed plasma volume by −280 ± 64 mL without fluid loading."


@pytest.mark.parametrize(
    "sentence",
    [
        "Bed rest without fluid loading caused a loss of 280 mL of plasma volume.",
        "Plasma volume fell by 280 mL at bed rest without fluid loading.",
        "The loss of plasma volume was 280 ± 64 mL at bed rest without fluid loading.",
    ],
)
def test_the_number_of_a_decrease_agrees_with_a_negative_number(sentence: str) -> None:
    numbers = [one for one in check(sentence, DEFICIT).elements if one.kind == "number"]
    assert numbers
    assert {one.outcome for one in numbers} <= {"same", "not_compared"}


@pytest.mark.parametrize(
    "sentence",
    [
        "Bed rest without fluid loading caused a gain of 280 mL of plasma volume.",
        "Plasma volume rose by 280 mL at bed rest without fluid loading.",
        "Plasma volume fell by 207 mL at bed rest without fluid loading.",
        "There was no loss of 280 mL of plasma volume at bed rest without fluid loading.",
    ],
)
def test_the_number_of_an_increase_does_not_agree_with_a_negative_number(sentence: str) -> None:
    numbers = [one for one in check(sentence, DEFICIT).elements if one.kind == "number"]
    assert numbers[0].outcome not in ("same", "not_compared")


@pytest.mark.parametrize(
    ("sentence", "text"),
    [
        ("25 % of the treated mice and 12 % of the controls died.",
         "12 % of the treated mice and 25 % of the controls died."),
        ("Weight fell (p>0.05).", "Weight fell (p<0.05)."),
        ("Weight fell by 12 percentage points in mice.", "Weight fell by 12 % in mice."),
        ("Ages ranged from 12 to 35 years.", "Ages ranged from 12 to 25 years."),
        ("The change in weight was 0.45 units.", "The change in weight was −0.45 units."),
        ("Patients over 65 years were included.", "Patients under 65 years were included."),
    ],
)  # fmt: skip
def test_a_changed_number_differs(sentence: str, text: str) -> None:
    statement = check(sentence, text)
    assert statement.result == "differs"
    assert check(text, text).result == "agrees"


@pytest.mark.parametrize(
    ("sentence", "text"),
    [
        ("Mortality was lower in women than in men.", "Mortality was higher in men than in women."),
        ("Weight rose in treated mice.", "In the treated mice, weight increased."),
        ("The drug failed to reduce pain.", "The drug did not reduce pain."),
        ("The difference was insignificant.", "The difference was not significant."),
        ("12 % of treated mice died.", "Of the treated mice 12 % died, and 25 % of controls."),
        ("Pain was less common in boys and girls.", "Pain was less common in girls and boys."),
        ("Benign lesions made up 60% of all cases.",
         "The categories were: inadequate (n=415; 23%), benign (n=1,063; 60%)."),
        ("NUT A was associated with flow.", "NUT A – but not NUT B - was associated with flow."),
        ("Mortality did not fall.", "Mortality rose, and did not fall later in any group."),
        ("Force is due to central recruitment rather than peripheral mechanisms.",
         "Force is due to increased central recruitment and not to peripheral mechanisms."),
    ],
)  # fmt: skip
def test_an_honest_paraphrase_does_not_differ(sentence: str, text: str) -> None:
    statement = check(sentence, text)
    assert statement.result in ("agrees", "not_judged"), statement.elements


@pytest.mark.parametrize(
    ("sentence", "text"),
    [
        ("The drug cures pain.", "The drug may cure pain in mice."),
        ("Smoking causes ulcers.", "Smoking is associated with ulcers."),
        ("Aspirin lowered mortality in women.", "Ibuprofen lowered mortality in women."),
        ("Pain fell to 12 % of patients.", "Pain fell by 12 % of patients."),
    ],
)
def test_other_words_are_not_judged(sentence: str, text: str) -> None:
    statement = check(sentence, text)
    assert statement.result == "not_judged", statement.elements
    assert {one.outcome for one in statement.elements if one.kind == "wording"} == {"not_compared"}


def test_a_citation_that_was_not_read_weakens_the_summary() -> None:
    text = "Mortality increased in the treated mice."
    assert check(text, text, unread=("b",)).result == "not_judged"


def test_the_whole_is_never_judged() -> None:
    text = "Mortality increased in the treated mice."
    row = check(text, text).to_row()
    assert (row["result"], row["whole"]) == ("agrees", "not_judged")
    assert [one["kind"] for one in row["elements"]] == ["direction", "wording"]
