"""Compounds: found by anything, described, listed in pages, and every mistake answered."""

import pytest

from utils.entrez.compounds import MAX_COMPOUNDS, MAX_LISTED
from utils.errors import BadRequest, NotFound, Unreachable


def cids(found):
    return [compound.cid for compound in found.compounds]


@pytest.mark.parametrize(
    "text",
    [
        "aspirin",
        "50-78-2",
        "CID 2244",
        "CC(=O)Oc1ccccc1C(=O)O",
        "BSYNRYMUTXBXSQ-UHFFFAOYSA-N",
        "InChI=1S/C9H8O4/c1-6(10)13-8-5-3-2-4-7(8)9(11)12/h2-5H,1H3,(H,11,12)",
        "C9H8O4",
    ],
)
def test_one_compound_by_anything_it_goes_by(library, text):
    found = library.pubchem.find(text)
    assert (found.total, found.next_start, found.warnings) == (1, None, ())
    assert found.compounds[0].title == "Aspirin"


def test_a_name_is_two_requests(library, world):
    library.pubchem.find("aspirin")
    assert len(world.requests) == 2


def test_several_cids_in_their_order_and_the_unknown_ones_are_named(library):
    found = library.pubchem.find("2244, 5, 338")
    assert cids(found) == ["2244", "338"]
    assert found.total == 3
    assert found.warnings == ("PubChem does not describe CID 5.",)


def test_pages_follow_one_another(library):
    first = library.pubchem.find("C3H6O3", max_results=2)
    assert (first.total, first.next_start) == (3, 2)
    last = library.pubchem.find("C3H6O3", max_results=2, start=2)
    assert last.next_start is None
    assert sorted(cids(first) + cids(last)) == ["107689", "612", "61503"]
    assert library.pubchem.find("C3H6O3", start=3).compounds == ()


def test_an_unknown_name_comes_with_names_spelled_alike(library):
    with pytest.raises(NotFound) as unknown:
        library.pubchem.find("asprin")
    assert unknown.value.hints[0] == "Did you mean Aspirin?"


def test_want_of_suggestions_hides_no_answer(library, world):
    world.mood("down", "pubchem_autocomplete")
    with pytest.raises(NotFound, match="'asprin'"):
        library.pubchem.find("asprin")


@pytest.mark.parametrize(
    ("text", "kind", "word"),
    [
        ("5", "", "CID '5'"),
        ("XXXXXXXXXXXXXX-YYYYYYYYYY-N", "", "InChIKey"),
        ("CC(=O)CCCCN", "", "SMILES"),
        ("InChI=1S/CH4/h1H4", "", "InChI"),
        ("C99H2", "", "formula"),
        ("zzzzzz", "", "name"),
        ("CCO", "name", "name"),
    ],
)
def test_what_nobody_deposited_says_so_and_what_next(library, text, kind, word):
    for verb in (library.pubchem.find, library.pubchem.names):
        if word == "formula" and verb == library.pubchem.names:
            continue
        with pytest.raises(NotFound) as unknown:
            verb(text, kind=kind)
        assert f"with the {word}" in unknown.value.message
        assert unknown.value.hints


def test_a_structure_pubchem_cannot_read_is_the_callers_mistake(library):
    with pytest.raises(BadRequest, match="convert input") as refused:
        library.pubchem.find("C1CC", kind="smiles")
    assert "rings closed" in refused.value.hint
    with pytest.raises(BadRequest, match="convert input"):
        library.pubchem.related("C1CC", "similar", kind="smiles")


def test_down_is_not_unknown(library, world):
    world.mood("down", "pubchem")
    with pytest.raises(Unreachable):
        library.pubchem.find("aspirin")
    with pytest.raises(Unreachable):
        library.pubchem.names("2244")


def test_related_compounds(library):
    assert cids(library.pubchem.related("aspirin", "similar")) == ["338"]
    assert cids(library.pubchem.related("338", "substructure")) == ["2244"]
    assert cids(library.pubchem.related("2244", "superstructure")) == ["338"]
    ring = library.pubchem.related("c1ccccc1", "substructure")
    assert ring.query.kind == "smiles"


def test_more_than_is_asked_for_is_told(library):
    found = library.pubchem.related("CCCCCC", "substructure", kind="smiles", start=995)
    assert (found.total, len(found.compounds), found.next_start) == (1000, 5, None)
    assert "may be more" in found.warnings[0]


def test_no_kin_is_an_answer(library):
    found = library.pubchem.related("ethanol", "similar")
    assert (found.total, found.compounds, found.warnings) == (0, (), ())


def test_names_and_papers_in_pages(library, world):
    names = library.pubchem.names("2244", max_results=2)
    assert (names.compound.title, names.total, names.next_start) == ("Aspirin", 5, 2)
    assert names.rows == ("Aspirin", "acetylsalicylic acid")
    rest = library.pubchem.names("2244", max_results=1000, start=2)
    assert (len(rest.rows), rest.next_start) == (3, None)
    papers = library.pubchem.papers("2244", max_results=3)
    assert set(papers.rows) <= {paper.pmid for paper in world.papers}
    assert papers.total > 3 == papers.next_start


def test_of_several_compounds_of_one_name_the_first_is_taken_and_the_others_told(library):
    names = library.pubchem.names("milk acid")
    assert names.compound.cid == "612"
    assert names.warnings == ("2 compounds have this name; this is the first.",)


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda lib: lib.pubchem.find(""), "No compound"),
        (lambda lib: lib.pubchem.find("aspirin", max_results=0), "max_results"),
        (lambda lib: lib.pubchem.find("aspirin", max_results=MAX_COMPOUNDS + 1), "100"),
        (lambda lib: lib.pubchem.find("aspirin", start=-1), "start is -1"),
        (lambda lib: lib.pubchem.find("aspirin", kind="nam"), "no kind"),
        (lambda lib: lib.pubchem.related("aspirin", "similr"), "no relation 'similr'"),
        (lambda lib: lib.pubchem.related("aspirin", ""), "no relation"),
        (lambda lib: lib.pubchem.related("C9H8O4", "similar"), "one compound"),
        (lambda lib: lib.pubchem.related("2244,338", "similar"), "one compound"),
        (lambda lib: lib.pubchem.names("C9H8O4"), "one compound"),
        (lambda lib: lib.pubchem.names("2244", max_results=MAX_LISTED + 1), "1,000"),
        (lambda lib: lib.pubchem.papers("2244", start=-2), "start is -2"),
    ],
)
def test_what_cannot_be_asked_is_refused_without_a_request(library, world, call, told):
    with pytest.raises(BadRequest) as refused:
        call(library)
    assert told in refused.value.message
    assert refused.value.hint
    assert not world.requests


def test_a_slip_in_the_relation_is_mended(library):
    with pytest.raises(BadRequest, match="Did you mean similar"):
        library.pubchem.related("aspirin", "similr")
