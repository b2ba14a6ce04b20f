"""The stand-in's links, references and vocabulary have the forms of the real ones."""

import json
from urllib.parse import quote

import pytest

from tests.world import World
from tests.world.visits import get


def told(world: World, service: str, path: str) -> dict:
    return json.loads(get(f"{world.url(service)}{path}")[2])


def keys(value: object) -> set[str]:
    """All member names at any depth."""
    if isinstance(value, dict):
        return set(value).union(*(keys(one) for one in value.values()))
    return set().union(*(keys(one) for one in value)) if isinstance(value, list) else set()


def test_scores_take_no_linkname_and_a_linkname_filters(world: World) -> None:
    pmid = world.paper("pmc_cloud").pmid
    ask = f"/elink.fcgi?dbfrom=pubmed&id={pmid}&retmode=json&linkname=pubmed_pubmed"
    [scored] = told(world, "eutils", f"{ask}&cmd=neighbor_score")["linksets"]
    assert len(scored["linksetdbs"]) > 1
    [plain] = told(world, "eutils", ask)["linksets"]
    [links] = plain["linksetdbs"]
    assert links["links"][0] == pmid


def test_no_links_is_no_linkset_and_ids_may_be_repeated(world: World) -> None:
    path = "/elink.fcgi?dbfrom=pubmed&id=9&id=8&retmode=json"
    assert told(world, "eutils", path)["linksets"] == [
        {"dbfrom": "pubmed", "ids": ["9"]},
        {"dbfrom": "pubmed", "ids": ["8"]},
    ]


def test_citation_matching_stops_at_a_line_without_a_journal(world: World) -> None:
    record = world.paper("pmc_cloud")
    known = f"{record.journal.short}|{record.year}||11||b|"
    data = quote(f"x|||||a|\r{known}\r||||Nobody|c|\r{known}", safe="|")
    url = f"{world.url('eutils')}/ecitmatch.cgi?db=pubmed&bdata={data}"
    lines = get(f"{url}&retmode=xml")[2].decode().splitlines()
    assert lines == ["x||||a|NOT_FOUND;INVALID_JOURNAL", known + record.pmid]
    assert b"<html>" in get(url)[2]


def test_lists_of_europe_pmc_come_in_pages(world: World) -> None:
    pmid = world.paper("pmc_cloud").pmid
    path = f"/MED/{pmid}/references?format=json&pageSize=4"
    pages = [told(world, "europepmc", f"{path}&page={page}") for page in (1, 2, 3, 4, 5)]
    rows = [row for page in pages for row in page["referenceList"]["reference"]]
    assert len(rows) == pages[0]["hitCount"]
    assert len({row["title"] for row in rows}) == len(rows)


@pytest.mark.shared
def test_members_are_those_of_recorded_answers(world: World, shared) -> None:
    folder = shared / "eutils"
    recorded = json.loads(
        (folder / "einfo" / "illumination_structure_info.json").read_text(encoding="utf-8")
    )
    assert keys(told(world, "eutils", "/einfo.fcgi?db=pubmed&retmode=json")) <= keys(recorded)
    recorded = json.loads(
        (folder / "elink" / "illumination_related_32887691_0d35.json").read_text(encoding="utf-8")
    )
    path = "/elink.fcgi?dbfrom=pubmed&retmode=json&id=" + world.paper("pmc_cloud").pmid
    assert keys(told(world, "eutils", path)) == keys(recorded)
