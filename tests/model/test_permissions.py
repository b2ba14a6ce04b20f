"""What may be done with a text: "yes" only where its terms grant it to everybody."""

import re
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from utils.model.licenses import choose_license
from utils.model.paper import PERMISSION_COLUMNS, Ids, Paper, StoredPaper
from utils.model.permissions import LICENSES, get_permissions

CC = "https://creativecommons.org/licenses"


def answers(license_, via="", doi=""):
    return " ".join(get_permissions(license_, via, doi).to_row().values())


@pytest.mark.parametrize(
    ("stated", "right"),
    [
        ("CC BY 4.0", "yes yes yes"), ("cc_by", "yes yes yes"), (f"{CC}/by/2.0/uk/", "yes yes yes"),
        ("CCBYSA", "yes yes unknown"), ("CC BY-NC 3.0", "yes yes unknown"),
        ("CC BY-NC-SA 2.5", "yes yes unknown"), ("CC BY-ND 4.0", "yes yes unknown"),
        (f"{CC}/by-nc-nd/4.0/", "yes yes unknown"), ("CC BY-NC-ND", "yes unknown unknown"),
        ("CC BY-ND 3.0", "yes unknown unknown"), ("CC0", "yes yes yes"),
        ("https://creativecommons.org/publicdomain/mark/1.0/", "yes yes yes"),
        ("public-domain", "yes yes yes"),
        ("This work is written by US Government employees and is in the public domain in the US.",
         "yes yes yes"),
        ("http://www.elsevier.com/open-access/userlicense/1.0/", "no yes unknown"),
        ("https://www.elsevier.com/tdm/userlicense/1.0/", "no yes unknown"),
        ("http://doi.wiley.com/10.1002/tdm_license_1.1", "no yes unknown"),
        ("http://onlinelibrary.wiley.com/termsAndConditions#vor", "no unknown unknown"),
        ("https://www.springer.com/tdm", "no yes unknown"),
        ("https://www.springernature.com/gp/researchers/text-and-data-mining", "no yes unknown"),
        ("https://academic.oup.com/pages/standard_publication_model", "no unknown unknown"),
        ("Published under an ACS AuthorChoice License, which permits copying and redistribution",
         "yes yes unknown"),
        ("http://arxiv.org/licenses/nonexclusive-distrib/1.0/", "no yes unknown"),
        ("arXiv.org perpetual non-exclusive license", "no yes unknown"),
        ("TDM", "unknown yes unknown"), ("This file is available for text mining.",
                                         "unknown yes unknown"),
        ("cc_no", "no yes unknown"), ("© 2019 Moss Press. All rights reserved.",
                                      "no unknown unknown"),
        ("All rights, including for text and data mining, AI training, are reserved.",
         "no no no"),
        ("The Author(s), under exclusive licence to Moss Nature", "no unknown unknown"),
        ("All rights are reserved.", "no unknown unknown"),
    ],
)  # fmt: skip
def test_a_licence_is_answered_as_its_terms_say(stated, right):
    assert answers(stated) == answers(choose_license(stated)) == right


@pytest.mark.parametrize(
    "stated",
    [
        *("", "  ", "other-oa", "publisher-specific-oa", "implied-oa", "NO-CC CODE", "open access"),
        *("free", "bronze", "CC", "CC BY 9.0", "CC BY-ND-SA 4.0", "CC BY-XX", "mit", "GPL-3.0"),
        "https://example.org/licence", "© 2020 The Authors", "10.1371/journal.pgen.0030008",
        "Not licensed under CC BY 4.0.", "The CC BY 4.0 licence of this article was withdrawn.",
        "This article is not in the public domain.",
        "These permissions are granted for the duration of the pandemic.",
        "All content is public domain unless otherwise noted.",
        "Users may not use this work under a Creative Commons Attribution License.",
        "CC BY 4.0 for the text and CC BY-NC-ND 4.0 for the figures",
        f"{CC}/by/4.0/ {CC}/by-nc/4.0/",
    ],
)  # fmt: skip
def test_what_is_missing_wrong_or_contradictory_is_unknown(stated):
    assert answers(stated) == "unknown unknown unknown"
    assert all(one.reason for one in get_permissions(stated))


@given(st.text(max_size=200))
def test_no_text_without_the_words_of_a_licence_is_a_yes(stated):
    if "yes" in get_permissions(stated)[0]:
        assert re.search(r"CC|creative|domain|\bpd\b|permit|authorchoice", stated, re.I)


@pytest.mark.parametrize(
    ("stated", "via", "doi", "right"),
    [
        ("", "elsevier", "10.1016/j.a.1", "no yes no"),
        ("", "wiley", "10.1000/a", "no yes unknown"),
        ("CC BY 4.0", "elsevier", "10.1016/j.a.1", "yes yes yes"),
        ("CC BY-NC-ND 4.0", "wiley", "10.1002/a", "yes yes unknown"),
        ("", "core", "10.1000/a", "no yes unknown"),
        ("", "publisher", "10.1007/a", "unknown unknown no"),
        ("TDM", "pmc_cloud", "10.1016/j.a.1", "unknown yes no"),
        ("", "pmc_cloud", "10.1000/a", "unknown unknown unknown"),
        ("", "manual", "", "unknown unknown unknown"),
    ],
)
def test_the_route_and_the_publisher_decide_where_the_licence_does_not(stated, via, doi, right):
    assert answers(stated, via, doi) == right


def test_every_answer_names_its_terms_or_says_that_there_are_none():
    for stated in ("CC BY 4.0", "CC BY-NC 2.0", "CC0 1.0", *(one.source for one in LICENSES)):
        for one in get_permissions(stated):
            assert one.reason.endswith(".")
            assert one.answer == "unknown" or one.source.startswith("https://")


@pytest.mark.parametrize(
    ("kinds", "number"), list(product([("by", ""), ("by-nc", "-NC")], ("3.0", "4.0")))
)
def test_the_source_is_the_licence_of_that_version(kinds, number):
    path, code = kinds
    assert get_permissions(f"CC BY{code} {number}").may_share.source == f"{CC}/{path}/{number}/"


def test_a_row_of_a_stored_text_has_the_answers():
    paper = Paper(Ids(doi="10.1016/j.a.1"))
    row = StoredPaper(paper, "full_text", "/a.txt", "DOI", "elsevier", "0").row()
    assert [row[name] for name in PERMISSION_COLUMNS] == ["no", "yes", "no"]
