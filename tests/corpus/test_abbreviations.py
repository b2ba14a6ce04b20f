"""Abbreviations are found where a text introduces them, and nowhere else."""

import pytest

from utils.corpus.names import find_abbreviations


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("We used magnetic resonance imaging (MRI).", ("MRI", "magnetic resonance imaging")),
        ("Anti-nuclear antibodies (ANA; positive)", ("ANA", "Anti-nuclear antibodies")),
        ("gave sodium dodecyl sulphate (SDS) to", ("SDS", "sodium dodecyl sulphate")),
        ("TNF-α (tumour necrosis factor-α) rose", ("TNF-α", "tumour necrosis factor-α")),
        ("the heat shock protein 70 (HSP70)", ("HSP70", "heat shock protein 70")),
        ("of patients with early-onset Alzheimer’s disease (EOAD)",
         ("EOAD", "early-onset Alzheimer’s disease")),
        ("transforming growth factor β1 (TGF-β1)", ("TGF-β1", "transforming growth factor β1")),
        ("die Magnetresonanztomographie (MRT)", ("MRT", "Magnetresonanztomographie")),
    ],
)  # fmt: skip
def test_what_is_introduced_is_found(text, expected):
    assert list(find_abbreviations(text)) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "Forty mice (Charles River, USA) were fed.",
        "The rate fell (P < 0.05) as shown (Table 2) before (see Figure 3).",
        "It was given daily (n = 12) or never (control).",
        "Growth (IL-6) and decline (XYZ) (unrelated words)",
        "()(()) (A) ((", "",
        "(IL-6)", "MRI (scan)",
    ],
)  # fmt: skip
def test_other_brackets_are_none(text):
    assert not list(find_abbreviations(text))


def test_a_long_text_of_brackets_takes_no_time_to_speak_of():
    assert not list(find_abbreviations("(" * 20_000 + " word" * 20_000))
