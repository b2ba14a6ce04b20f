"""The stand-ins of PubChem and BioC answer as the real ones do; facts sheet 3.4 and 10."""

import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.world import World
from tests.world.pubchem import LARGEST_CID
from tests.world.visits import get


def told(world: World, path: str, service: str = "pubchem") -> tuple[int, Any]:
    status, _, body = get(f"{world.url(service)}/{path}")
    return status, json.loads(body)


@pytest.mark.parametrize("path", ["name/aspirin", "cid/2244", f"smiles/{quote('CCO')}"])
def test_a_compound_by_its_names(world: World, path: str) -> None:
    status, answer = told(world, f"compound/{path}/cids/JSON")
    assert (status, answer["IdentifierList"]["CID"]) == (200, [702 if "CCO" in path else 2244])


def test_masses_are_text_and_a_cid_is_a_number(world: World) -> None:
    path = "compound/cid/2244/property/MolecularWeight,XLogP/JSON"
    [row] = told(world, path)[1]["PropertyTable"]["Properties"]
    assert row == {"CID": 2244, "MolecularWeight": "180.16", "XLogP": 1.2}


def test_a_search_is_begun_and_asked_for(world: World) -> None:
    status, answer = told(world, "compound/formula/C2H6O/cids/JSON?MaxRecords=1")
    assert status == 202
    path = f"compound/listkey/{answer['Waiting']['ListKey']}/cids/JSON"
    assert [told(world, path)[0] for _ in range(3)] == [202, 202, 200]
    assert told(world, path)[1] == {"IdentifierList": {"CID": [702]}}


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        ("compound/name/nobody/cids/JSON", 404, "PUGREST.NotFound"),
        (f"compound/cid/{LARGEST_CID + 1}/property/Title/JSON", 400, "PUGREST.BadRequest"),
        ("compound/cid/2244/property/IsomericSmile/JSON", 400, "PUGREST.BadRequest"),
        ("compound/smiles/C1CC/cids/JSON", 400, "PUGREST.BadRequest"),
        ("compound/listkey/1/cids/JSON", 400, "PUGREST.BadRequest"),
        ("compound/name/aspirin/colour/JSON", 400, "PUGREST.BadRequest"),
    ],
)
def test_mistakes(world: World, path: str, status: int, code: str) -> None:
    answered, answer = told(world, path)
    assert (answered, answer["Fault"]["Code"]) == (status, code)


def test_every_answer_says_how_busy_we_are(world: World) -> None:
    for service, path in (("pubchem", "x"), ("pubchem_autocomplete", "compound/asp/json")):
        headers = get(f"{world.url(service)}/{path}")[1]
        assert headers["X-Throttling-Control"].count("Green") == 3
    world.mood("black", "pubchem", 1)
    status, headers, body = get(f"{world.url('pubchem')}/compound/name/aspirin/cids/JSON")
    assert (status, json.loads(body)["Fault"]["Code"]) == (503, "PUGREST.ServerBusy")
    assert "Black" in headers["X-Throttling-Control"]


def test_names_that_hold_a_part(world: World) -> None:
    status, answer = told(world, "compound/LACTIC/json?limit=2", "pubchem_autocomplete")
    assert status == 200
    assert answer["dictionary_terms"]["compound"] == ["Lactic Acid", "L-Lactic Acid"]
    assert told(world, "compound/zzz/json", "pubchem_autocomplete")[1]["total"] == 0


@pytest.mark.shared
def test_faults_are_worded_as_recorded(world: World, shared: Path) -> None:
    rows = json.loads((shared / "errors" / "transcribed.json").read_text(encoding="utf-8"))
    [unknown] = [r for r in rows if r["service"] == "pubchem" and r["case"] == "unknown name"]
    answer = told(world, "compound/name/nobody/cids/JSON")
    assert answer == (unknown["status"], json.loads(unknown["body"]))


def test_bioc_says_in_html_and_with_status_200_what_it_does_not_have(world: World) -> None:
    for name in (world.paper("efetch_only").pmcid, "PMC1", "9100001", "nonsense"):
        status, headers, body = get(f"{world.url('bioc')}/BioC_json/{name}/unicode")
        assert (status, headers["Content-Type"]) == (200, "text/html; charset=utf-8")
        assert body.startswith(b"[Error] : No result can be found. <BR><HR>")
        world.reset()


def test_bioc_counts_with_the_rest_of_ncbi(world: World, standstill: object) -> None:
    record = world.paper("pmc_cloud")
    url = f"{world.url('bioc')}/BioC_json/{record.pmcid}/unicode"
    assert [get(url)[0] for _ in range(4)] == [200, 200, 200, 429]
    world.reset()
    [collection] = json.loads(get(url)[2])
    offsets = [passage["offset"] for passage in collection["documents"][0]["passages"]]
    assert offsets == sorted(set(offsets))
