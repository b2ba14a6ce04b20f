"""PubChem as a source: what it answers, in all its moods, and how it is left alone."""

import json
import time
from contextlib import suppress

import pytest

from tests.answering import HOSTILE, answering
from utils.errors import BadRequest, Unreachable
from utils.sources.pubchem import (
    MAX_HITS,
    RATE,
    fetch_compounds,
    fetch_pmids,
    fetch_synonyms,
    find_compounds,
    find_compounds_by_formula,
    find_related_compounds,
    find_similar_names,
    parse_cooldown,
)

ASPIRIN, SALICYLIC, CAFFEINE = "2244", "338", "2519"


def asked(world, service="pubchem"):
    return [request.path for request in world.requests if request.service == service]


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("name", "ASPIRIN"),
        ("name", "50-78-2"),
        ("cid", "2244"),
        ("smiles", "CC(=O)Oc1ccccc1C(=O)O"),
        ("inchi", "InChI=1S/C9H8O4/c1-6(10)13-8-5-3-2-4-7(8)9(11)12/h2-5H,1H3,(H,11,12)"),
        ("inchikey", "BSYNRYMUTXBXSQ-UHFFFAOYSA-N"),
    ],
)
def test_a_compound_is_known_by_all_its_names(library, kind, text):
    assert find_compounds(kind, text, library.web) == (ASPIRIN,)


def test_who_asks_again_is_answered_from_memory(library, world):
    for _ in range(2):
        assert find_compounds("name", "aspirin", library.web) == (ASPIRIN,)
        assert find_compounds("name", "nobody's", library.web) == ()
    assert len(world.requests) == 2


def test_what_is_asked_for_is_in_no_address(library, world):
    find_compounds("smiles", "C/C=C\\C", library.web)
    [request] = world.requests
    assert request.method == "POST"
    assert request.params == {"smiles": "C/C=C\\C"}


def test_a_sound_structure_that_nobody_deposited_is_none(library):
    assert find_compounds("smiles", "CCCCCCCCN", library.web) == ()


def test_a_structure_that_is_none_is_refused_with_pubchems_reason(library):
    with pytest.raises(BadRequest, match="convert input into a compound") as refused:
        find_compounds("smiles", "C1CC", library.web)
    assert "error: " not in refused.value.message


def test_properties_are_numbers_with_units_also_where_digits_were_sent(library):
    compound = fetch_compounds([ASPIRIN], library.web)[ASPIRIN]
    assert compound.title == "Aspirin"
    assert (compound.weight, compound.exact_mass) == (180.16, 180.04225873)
    assert (compound.xlogp, compound.charge, compound.heavy_atoms) == (1.2, 0, 13)
    assert compound.url == "https://pubchem.ncbi.nlm.nih.gov/compound/2244"


def test_what_nobody_counted_is_none_not_zero(library):
    chain = fetch_compounds(["900000001"], library.web)["900000001"]
    assert (chain.formula, chain.xlogp, chain.charge) == ("C6H14", None, None)


def test_the_mirror_images_of_a_compound_are_told_apart(library):
    left, right = fetch_compounds(["107689", "61503"], library.web).values()
    assert left.smiles != right.smiles
    assert left.connectivity_smiles == right.connectivity_smiles


def test_one_that_does_not_exist_hides_no_other(library):
    wanted = ["5", ASPIRIN, "7", SALICYLIC, "9"]
    assert list(fetch_compounds(wanted, library.web)) == [ASPIRIN, SALICYLIC]


def test_what_is_known_is_not_asked_again(library, world):
    fetch_compounds([ASPIRIN], library.web)
    fetch_compounds([ASPIRIN, SALICYLIC], library.web)
    assert [request.params["cid"] for request in world.requests] == [ASPIRIN, SALICYLIC]


def test_names_and_papers(library, world):
    assert fetch_synonyms(ASPIRIN, library.web)[:2] == ("Aspirin", "acetylsalicylic acid")
    pmids = [int(pmid) for pmid in fetch_pmids(ASPIRIN, library.web)]
    assert pmids == sorted(pmids, reverse=True)
    assert str(pmids[0]) in {paper.pmid for paper in world.papers}
    assert fetch_pmids(CAFFEINE, library.web) == ()
    assert fetch_synonyms("5", library.web) == ()


def test_a_search_is_waited_for(library, world, clock):
    found = find_related_compounds("substructure", "smiles", "C1=CC=CC=C1", library.web)
    assert set(found) == {ASPIRIN, SALICYLIC}
    assert len(asked(world)) == 4  # begun, twice not ready, there
    assert clock.naps.count(1.0) == 1


def test_what_was_searched_once_is_not_searched_again(library, world):
    first = find_related_compounds("similar", "cid", ASPIRIN, library.web)
    asked_once = len(world.requests)
    assert find_related_compounds("similar", "cid", ASPIRIN, library.web) == first
    assert len(world.requests) == asked_once


def test_no_more_hits_are_asked_for_than_we_show(library):
    assert len(find_related_compounds("substructure", "smiles", "CCCCCC", library.web)) == MAX_HITS


def test_a_formula_nobody_has_is_none(library):
    assert find_compounds_by_formula("C99H1", library.web) == ()


def test_a_search_that_takes_its_time_is_taken_up_later(library, world):
    world.pubchem.polls = 9
    with pytest.raises(Unreachable, match="not ready") as early:
        find_compounds_by_formula("C3H6O3", library.web)
    assert "goes on" in early.value.hint
    assert set(find_compounds_by_formula("C3H6O3", library.web)) == {"612", "61503", "107689"}
    assert len(world.pubchem.searches) == 1


def test_a_key_that_pubchem_forgot_is_replaced(library, world):
    world.pubchem.polls = 9
    with pytest.raises(Unreachable):
        find_compounds_by_formula("C3H6O3", library.web)
    world.pubchem.searches.clear()
    world.pubchem.polls = 0
    assert len(find_compounds_by_formula("C3H6O3", library.web)) == 3


PASSING = ["storm", "down", "reset", "captcha", "truncate", "garbage", "empty", "deep_nesting"]


@pytest.mark.parametrize("mood", PASSING)
def test_a_bad_moment_passes(library, world, mood):
    world.mood(mood, "pubchem", 1)
    assert find_compounds("name", "aspirin", library.web) == (ASPIRIN,)
    assert len(asked(world)) == 2


@pytest.mark.parametrize("mood", [*PASSING, "black"])
def test_could_not_tell_is_never_nothing_found(library, world, mood):
    world.mood(mood, "pubchem")
    with pytest.raises(Unreachable) as trouble:
        find_compounds("name", "aspirin", library.web)
    assert trouble.value.envelope()["error"]["suggestions"]
    with pytest.raises(Unreachable):
        find_related_compounds("similar", "cid", ASPIRIN, library.web)


def test_a_busy_server_says_until_when(library, world, clock):
    world.mood("storm", "pubchem", 1, seconds=7)
    find_compounds("name", "aspirin", library.web)
    assert sum(clock.naps) >= 7


@pytest.mark.parametrize(
    "body",
    [
        {},
        [],
        None,
        {"IdentifierList": None},
        {"IdentifierList": []},
        {"PropertyTable": {"Properties": []}},
        {"Waiting": {}},
        {"Waiting": {"ListKey": None}},
        {"Waiting": {"ListKey": "../../evil"}},
        {"Waiting": {"ListKey": "x" * 65}},
        {"Fault": {"Code": "PUGREST.ServerBusy"}},
        {"Fault": {"Code": "PUGREST.Timeout", "Message": "took too long", "Details": None}},
        {"Fault": {"Code": "PUGREST.ServerError", "Message": ["odd"], "Details": {"a": 1}}},
    ],
    ids=repr,
)
def test_an_answer_without_a_meaning_is_none(library, monkeypatch, body):
    answering(monkeypatch, body)
    with pytest.raises(Unreachable):
        find_compounds_by_formula("C2H6O", library.web)


@pytest.mark.parametrize("body", HOSTILE, ids=range(len(HOSTILE)))
def test_no_hostile_list_of_names_gives_a_name(library, monkeypatch, body):
    answering(monkeypatch, body)
    with suppress(Unreachable):
        assert find_similar_names("asprin", library.web) == ()


@pytest.mark.parametrize(
    "cids", [None, {}, "702", 702, [True, None, -1, 0, 1.5, "x", [], {}, 702, "8254", 10**40, 702]]
)
def test_odd_types_in_a_list_of_cids_are_left_out(library, monkeypatch, cids):
    answering(monkeypatch, {"IdentifierList": {"CID": cids, "x": 1}})
    found = find_compounds_by_formula("C2H6O", library.web)
    assert found == (("702", "8254") if isinstance(cids, list) else ())


def test_odd_values_of_properties_are_left_out(library, monkeypatch):
    row = {
        "CID": 2244, "Title": "A\u202ename\n\x1b[2J", "MolecularWeight": "inf", "ExactMass": True,
        "XLogP": "9" * 400, "TPSA": [], "Charge": 1.5, "SMILES": "C" * 6000, "HeavyAtomCount": -3,
    }  # fmt: skip
    rows = [row, None, {"CID": 1, "Title": "?"}]
    answering(monkeypatch, {"PropertyTable": {"Properties": rows}})
    [compound] = fetch_compounds([ASPIRIN], library.web).values()
    assert compound.title == "Aname [2J"
    assert (compound.weight, compound.exact_mass, compound.xlogp) == (None, None, None)
    assert (compound.tpsa, compound.charge, compound.heavy_atoms) == (None, None, None)
    assert compound.smiles == ""  # part of a structure would be another structure


def test_papers_of_another_compound_are_not_taken(library, monkeypatch):
    rows = [{"CID": 1, "PubMedID": [1]}, {"CID": 2244, "PubMedID": [5, "7", None, 5]}]
    answering(monkeypatch, {"InformationList": {"Information": rows}})
    assert fetch_pmids(ASPIRIN, library.web) == ("7", "5")


@pytest.mark.shared
def test_recorded_answers_are_read(library, monkeypatch, shared):
    rows = json.loads((shared / "errors" / "transcribed.json").read_text(encoding="utf-8"))
    told = {row["case"]: json.loads(row["body"]) for row in rows if row["service"] == "pubchem"}
    answering(monkeypatch, told["unknown name"])
    assert find_compounds("name", "x", library.web) == ()
    answering(monkeypatch, told["busy"])
    with pytest.raises(Unreachable, match="Busy"):
        find_compounds("name", "y", library.web)
    found = {"IdentifierList": {"CID": [702]}}
    answering(monkeypatch, told["formula search is asynchronous"], found)
    assert find_compounds_by_formula("C2H6O", library.web) == ("702",)


def header(count="Green (0%)", share="Green (0%)", service="Green (20%)"):
    told = f"Request Count status: {count}, Request Time status: {share}, Service status: {service}"
    return {"X-Throttling-Control": told}


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, 0),
        (header(), 0),
        (header("Yellow (51%)"), 1),
        (header("yellow (51%)", "RED (80%)"), 15),
        (header("Yellow (51%)", "Red (80%)", "Black (100%)"), 120),
        ({"X-Throttling-Control": "nonsense" * 10_000}, 0),
    ],
)
def test_the_worst_light_counts(headers, seconds):
    assert parse_cooldown(headers) == seconds


@pytest.mark.parametrize(("light", "least", "most"), [("yellow", 1, 2), ("red", 15, 16)])
def test_a_light_holds_everybody_though_the_answer_was_good(
    library, world, clock, light, least, most
):
    world.mood(light, "pubchem", 1)
    assert find_compounds("name", "aspirin", library.web) == (ASPIRIN,)
    before, naps = time.time(), len(clock.naps)
    assert find_similar_names("asprin", library.web) == (
        "Aspirin",
    )  # beside it, and in the same pace
    assert least - 0.1 <= time.time() - before
    assert sum(clock.naps[naps:]) <= most


def test_whoever_is_blocked_stays_away(library, world):
    world.mood("black", "pubchem", 1)
    for question in ("aspirin", "caffeine"):
        with pytest.raises(Unreachable) as blocked:
            find_compounds("name", question, library.web)
        assert 115 < blocked.value.retry_after <= 120
        assert blocked.value.code == "RATE_LIMIT"
    assert len(asked(world)) == 1
    time.sleep(120)
    assert find_compounds("name", "caffeine", library.web) == (CAFFEINE,)


def test_the_pace_keeps_both_limits():
    assert 1 / RATE.every < 5
    assert 60 / RATE.every < 400


@pytest.mark.parametrize(
    ("slip", "meant"),
    [
        ("asprin", "Aspirin"),
        ("cafeine", "Caffeine"),
        ("salicylic acd", "Salicylic Acid"),
        ("2-hydroxybenzoic/acid", "2-Hydroxybenzoic acid"),
    ],
)
def test_a_slip_leads_to_the_name(library, slip, meant):
    assert find_similar_names(slip, library.web)[0] == meant


def test_what_is_like_nothing_leads_nowhere(library):
    assert find_similar_names("zzzzzz", library.web) == ()
