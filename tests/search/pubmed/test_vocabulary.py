"""PubMed's spelling, and the headings it is indexed with."""

import pytest

from utils.errors import BadRequest


def test_a_misspelt_word_is_corrected(library, world):
    found = library.pubmed.check_spelling("  corall \n bleaching ")
    assert (found.query, found.corrected) == ("corall bleaching", "coral bleaching")
    assert found.replaced == ("coral",)
    assert library.pubmed.check_spelling("coral").corrected == ""


def test_the_very_heading_comes_first_with_its_neighbours(library, world):
    total, found = library.pubmed.look_up_mesh("Neoplasms")
    assert total == 3
    assert found[0].term.heading == "Neoplasms"
    assert found[0].narrower == ("Neoplasms by Site",)
    breast = next(one for one in found if one.term.heading == "Breast Neoplasms")
    assert breast.broader == ("Neoplasms by Site",)


def test_a_synonym_leads_to_its_heading(library, world):
    _, found = library.pubmed.look_up_mesh("cancer")
    assert found[0].term.heading == "Neoplasms"
    assert "Cancer" in found[0].term.entry_terms


def test_a_term_is_three_requests_at_most(library, world):
    library.pubmed.look_up_mesh("neoplasms")
    assert len(world.requests) <= 3


def test_nothing_found_is_an_answer(library, world):
    assert library.pubmed.look_up_mesh("zzqqx") == (0, [])


@pytest.mark.parametrize(
    ("text", "most"), [("", 5), (" ", 5), ("a", 0), ("a", 21), ("x" * 20_001, 1), ("a\x1cb", 1)]
)
def test_what_cannot_be_asked_is_refused_without_a_request(library, world, text, most):
    with pytest.raises(BadRequest) as refused:
        library.pubmed.look_up_mesh(text, most)
    assert refused.value.hint
    assert not world.requests
