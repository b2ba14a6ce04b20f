"""Answers of the stand-in internet have the members and words of recorded ones."""

import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from tests.world import World
from tests.world.entrez_answers import NAMES
from tests.world.entrez_records import rows
from tests.world.visits import get

pytestmark = pytest.mark.shared


def keys(value: object) -> set[str]:
    """All member names at any depth."""
    if isinstance(value, dict):
        return set(value).union(*(keys(one) for one in value.values()))
    return set().union(*(keys(one) for one in value)) if isinstance(value, list) else set()


@pytest.mark.parametrize(
    ("file", "path"),
    [
        ("einfo/illumination_structure_info.json", "/einfo.fcgi?db=pubmed&retmode=json"),
        (
            "elink/illumination_related_32887691_0d35.json",
            "/elink.fcgi?dbfrom=pubmed&retmode=json&id=",
        ),
    ],
)
def test_members_are_those_of_recorded_answers(
    world: World, shared: Path, file: str, path: str
) -> None:
    recorded = json.loads((shared / "eutils" / file).read_text(encoding="utf-8"))
    path += world.paper("pmc_cloud").pmid if path.endswith("id=") else ""
    answered = keys(json.loads(get(world.url("eutils") + path)[2]))
    assert answered == keys(recorded) if "elink" in path else answered <= keys(recorded)


def test_the_databases_are_those_einfo_names(world: World, shared: Path) -> None:
    recorded = (shared / "eutils" / "einfo" / "biopython_einfo1.xml").read_text(encoding="utf-8")
    assert set(NAMES) == set(re.findall("<DbName>(.*?)<", recorded))
    shown = json.loads(get(f"{world.url('eutils')}/einfo.fcgi?retmode=json")[2])
    assert shown["einforesult"]["dblist"] == list(NAMES)


@pytest.mark.parametrize("name", ["nuccore", "nucleotide"])
def test_a_sequence_has_the_fields_of_a_recorded_one(shared: Path, name: str) -> None:
    file = shared / "eutils" / "esummary" / f"klortho_esummary.{name}.xml"
    summary = next(ET.fromstring(file.read_text(encoding="utf-8")).iter("DocumentSummary"))
    recorded = {node.tag.lower() for node in summary}
    assert len(recorded & set(next(iter(rows("nuccore").values())))) > 20


def test_faults_of_pubchem_are_worded_as_recorded(world: World, shared: Path) -> None:
    cases = json.loads((shared / "errors" / "transcribed.json").read_text(encoding="utf-8"))
    [unknown] = [r for r in cases if r["service"] == "pubchem" and r["case"] == "unknown name"]
    status, _, body = get(f"{world.url('pubchem')}/compound/name/nobody/cids/JSON")
    assert (status, json.loads(body)) == (unknown["status"], json.loads(unknown["body"]))
