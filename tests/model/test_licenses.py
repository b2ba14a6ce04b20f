"""A license is named by all its terms, however it is spelled: a lost one would be a lie."""

from itertools import chain, permutations

import pytest

from utils.model.licenses import choose_license, find_cc_license

TERMS = [(), ("NC",), ("ND",), ("SA",), ("NC", "ND"), ("NC", "SA")]


@pytest.mark.parametrize("terms", TERMS)
@pytest.mark.parametrize("gap", ["", "-", " ", "_", "\u2011", "\u2013", "\u00a0"])
@pytest.mark.parametrize("number", ["", "4.0"])
def test_every_spelling_of_a_code_keeps_every_term(
    terms: tuple[str, ...], gap: str, number: str
) -> None:
    right = "-".join(["CC BY", *terms]) + (f" {number}" if number else "")
    code = gap.join(["CC", "BY", *terms, *([number] if number else [])])
    for text in (code, code.lower(), f"({code})", f"Open access, {code}.", f"{code} license"):
        assert find_cc_license(text) == right


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("CCBYNCND", "CC BY-NC-ND"),
        ("CC-BYNC-ND", "CC BY-NC-ND"),
        ("CC BY-licensed", "CC BY"),
        ("cc-by-nc-licensed", "CC BY-NC"),
        ("CC BY said nobody", "CC BY"),
        ("CC BY-NC v3.0", "CC BY-NC 3.0"),
        ("CC0", "CC0 1.0"),
        ("cc0", "CC0 1.0"),
        ("CC 0", "CC0 1.0"),
        ("cc-zero", "CC0 1.0"),
        ("CC0-1.0", "CC0 1.0"),
        ("cc0 1.0", "CC0 1.0"),
        ("CC 0 1.0 Universal", "CC0 1.0"),
        ("The data are CC0, the article is CC BY-NC 4.0", "CC BY-NC 4.0"),
    ],
)
def test_codes_are_read_as_they_stand(text: str, right: str) -> None:
    assert find_cc_license(text) == right


@pytest.mark.parametrize(
    "text",
    ["CCBYXY", "CCBYNCX", "accby", "CC", "10 CC 0.5 ml", "cc-0.5", "CC 0.5", "XCC0", "CCBYE", ""],
)
def test_what_is_no_code_names_no_license(text: str) -> None:
    assert find_cc_license(text) == ""


def test_terms_that_exclude_each_other_are_not_dropped() -> None:
    codes = chain.from_iterable(permutations(("NC", "ND", "SA"), n) for n in (1, 2, 3))
    for terms in codes:
        assert set(find_cc_license("CCBY" + "".join(terms)).split("-")[1:]) == set(terms)


def test_a_number_is_taken_from_whoever_has_it_for_the_same_terms() -> None:
    found = choose_license("CCBYNC", "https://creativecommons.org/licenses/by-nc/4.0/")
    assert found == "CC BY-NC 4.0"
    assert choose_license("CCBYNC", "https://creativecommons.org/licenses/by/4.0/") == "CC BY-NC"
