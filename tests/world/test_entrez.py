"""The stand-in's other databases answer as the recorded ones do, errors included."""

import json
import re
import xml.etree.ElementTree as ET

import pytest

from tests.world import World
from tests.world.entrez_answers import NAMES
from tests.world.entrez_records import KINDS, rows
from tests.world.visits import get


def told(world: World, path: str) -> str:
    return get(f"{world.url('eutils')}{path}")[2].decode()


@pytest.mark.shared
def test_the_databases_are_those_einfo_names(world: World, shared) -> None:
    recorded = (shared / "eutils" / "einfo" / "biopython_einfo1.xml").read_text(encoding="utf-8")
    assert set(NAMES) == set(re.findall("<DbName>(.*?)<", recorded))
    shown = json.loads(told(world, "/einfo.fcgi?retmode=json"))
    assert shown["einforesult"]["dblist"] == list(NAMES)


@pytest.mark.shared
def test_a_sequence_has_the_fields_of_a_recorded_one(shared) -> None:
    folder = shared / "eutils" / "esummary"
    for name in ("nuccore", "nucleotide"):
        root = ET.fromstring((folder / f"klortho_esummary.{name}.xml").read_text(encoding="utf-8"))
        recorded = {node.tag.lower() for node in root.iter("DocumentSummary").__next__()}
        ours = set(next(iter(rows("nuccore").values())))
        assert len(recorded & ours) > 20


@pytest.mark.parametrize("database", KINDS)
def test_records_can_be_searched_summed_up_and_fetched(world: World, database: str) -> None:
    found = json.loads(told(world, f"/esearch.fcgi?db={database}&term=all[filter]&retmode=json"))
    uids = found["esearchresult"]["idlist"]
    assert int(found["esearchresult"]["count"]) == KINDS[database].size
    shown = json.loads(told(world, f"/esummary.fcgi?db={database}&id={uids[0]},1&retmode=json"))
    assert shown["result"]["1"]["error"] == "cannot get document summary"
    assert shown["result"][uids[0]]["uid"] == uids[0]
    root = ET.fromstring(told(world, f"/esummary.fcgi?db={database}&id={uids[0]}"))
    assert root.find("DocumentSummarySet/DocumentSummary").get("uid") == uids[0]
    assert told(world, f"/efetch.fcgi?db={database}&id={uids[0]}&retmode=xml")


def test_an_accession_that_nobody_has_spoils_the_list_and_one_that_is_none_does_not(
    world: World,
) -> None:
    path = "/efetch.fcgi?db=nuccore&rettype=fasta&retmode=text&id=NM_009000.1,"
    status, _, body = get(f"{world.url('eutils')}{path}NM_999999.9")
    assert (status, b"r e t r i e v e" in body) == (400, True)
    status, _, body = get(f"{world.url('eutils')}{path}X_1")
    assert (status, body[:12]) == (200, b">NM_009000.1")
    assert b"Error: F a i l e d  t o  u n d e r s t a n d  i d" in body


def test_a_database_that_is_none_is_an_error_at_200(world: World) -> None:
    assert "Invalid db name specified: fleegle" in told(world, "/esearch.fcgi?db=fleegle&term=a")
    assert "Can not retrieve DbInfo" in told(world, "/einfo.fcgi?db=fleegle")
