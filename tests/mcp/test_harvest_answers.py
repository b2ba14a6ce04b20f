"""What a harvest's status says, page by page, and what can be done about a harvest over MCP."""

import csv
import threading

import pytest
from fastmcp import Client

from tests.harvests import done
from tests.mcp.calling import answer, call
from tests.processes import eventually
from utils import Library
from utils.mcp import build
from utils.mcp.harvests import Status
from utils.model.job import Coverage, Job, JobCounts, SiteWait
from utils.reports.coverage import HarvestPage

pytestmark = pytest.mark.anyio
LOST = [f"10.1000/nowhere.{number}" for number in range(1, 26)]


async def finished(library, job_id):
    """A harvest's last status."""
    while True:
        status = await answer(library, "harvest_status", job_id=job_id, wait_s=5)
        if status["state"] != "running":
            return status


def numbers(status):
    return [row["number"] for row in status["papers"]]


# -- what is said ----------------------------------------------------------------------------


def test_who_is_waited_for_and_until_when_is_said():
    out = SiteWait(
        "doi.org", 3, "2026-11-24T10:05:00+00:00", "2026-11-24T10:00:00+00:00", "said 503."
    )
    slow = SiteWait("r.jina.ai", 1200, "2026-11-24T11:00:00+00:00")
    job = Job("cells-1", "cells", counts=JobCounts(requested=2000, pending=1203), waits=(out, slow))
    status = Status(job, "running", Coverage(), 3700.4, "", "", HarvestPage([], None))
    assert status.to_row()["waits"] == [
        {
            "site": "doi.org",
            "papers": 3,
            "until": out.until,
            "since": out.since,
            "said": "said 503.",
        },
        {"site": "r.jina.ai", "papers": 1200, "until": slow.until},
    ]
    assert status.to_row()["eta_s"] == 3700
    stopped = Status(job, "interrupted", Coverage(), None, "", "", HarvestPage([], None))
    assert "doi.org" not in str(stopped.to_row())


def test_what_nobody_knows_is_not_made_up():
    job = Job("cells-1", "cells", counts=JobCounts(requested=2, pending=2))
    status = Status(job, "running", Coverage(), None, "", "", HarvestPage([], None))
    assert status.to_row()["eta_s"] is None


def test_many_sources_and_reasons_are_bounded_and_add_up():
    many = {f"reason_{number:02}": 40 - number for number in range(30)}
    job = Job("cells-1", "cells", counts=JobCounts(requested=sum(many.values())))
    row = Status(job, "done", Coverage(many, many), None, "", "", HarvestPage([], None)).to_row()
    for table in (row["sources"], row["reasons"]):
        assert len(table) == 13
        assert sum(table.values()) == sum(many.values())
        assert table["others"] == sum(sorted(many.values())[:18])


async def test_another_process_tells_what_it_waits_for(library, world):
    harvest = library.harvest([world.paper("pmc_cloud").pmid])
    wait = SiteWait("doi.org", 1, "2026-11-24T10:05:00+00:00")
    with harvest.ledger.exclusive_lock():
        harvest.ledger.record_site_waits([wait])
        status = await call(library, "harvest_status", {"job_id": harvest.job_id})
    assert status.structured_content["waits"][0]["site"] == "doi.org"
    assert f"{wait.site} | 1 | {wait.until}" in status.content[0].text
    assert status.structured_content["eta_s"] is None


# -- pages -----------------------------------------------------------------------------------


async def test_what_is_missing_comes_page_by_page_each_paper_once(library):
    job_id = library.harvest(LOST).job_id
    done(library.harvest(job_id=job_id))
    look = {"job_id": job_id, "show": "not_retrieved", "max_results": 10}
    seen, start, pages = [], 0, 0
    while start is not None:
        page = await answer(library, "harvest_status", **look, start=start)
        seen += numbers(page)
        start, pages = page["next_start"], pages + 1
    assert (seen, pages) == (list(range(1, 26)), 3)
    assert page["papers"][0].keys() == {"number", "paper", "title", "reason"}


async def test_a_page_stays_where_it_is_while_papers_end(library):
    harvest = library.harvest(LOST)
    for number in (2, 4, 6, 8):
        harvest.ledger.record_failure(number, "not_found", "Nobody knows it.")
    look = {"job_id": harvest.job_id, "show": "not_retrieved", "max_results": 2}
    first = await answer(library, "harvest_status", **look)
    harvest.ledger.record_failure(1, "not_found", "Nobody knows it.")
    harvest.ledger.record_failure(7, "not_found", "Nobody knows it.")
    second = await answer(library, "harvest_status", **look, start=first["next_start"])
    assert (numbers(first), numbers(second)) == ([2, 4], [6, 7])
    assert second["next_start"] == 8


async def test_pages_are_of_one_kind_or_of_one_reason(library, world):
    had, walled = world.paper("pmc_cloud"), world.paper("paywall")
    harvest = library.harvest([had.pmid, walled.pmid, LOST[0]])
    done(harvest)
    look = {"job_id": harvest.job_id}
    retrieved = await answer(library, "harvest_status", **look, show="retrieved")
    [row] = retrieved["papers"]
    assert row["paper"].startswith(f"PMID {had.pmid}")
    assert row["source"] in retrieved["sources"]
    paywalled = await answer(library, "harvest_status", **look, show="paywall")
    [row] = paywalled["papers"]
    assert (row["number"], row["reason"]) == (2, "paywall")
    assert retrieved["reasons"] == {"not_found": 1, "paywall": 1}
    refused = await call(library, "harvest_status", {**look, "show": "weather"})
    assert refused.is_error
    assert "retrieved, not_retrieved, not_found, paywall" in refused.content[0].text


async def test_papers_are_listed_by_harvest(library, world):
    ours, others = world.paper("pmc_cloud"), world.paper("paywall")
    job_id = library.harvest([ours.pmid, LOST[0]]).job_id
    for one in (job_id, library.harvest([others.pmid]).job_id):
        done(library.harvest(job_id=one))
    listed = await answer(library, "list_papers", job_id=job_id)
    assert [paper["pmid"] for paper in listed["papers"]] == [ours.pmid]
    assert (await answer(library, "list_papers"))["total"] == 2
    assert (await answer(library, "list_papers", job_id=job_id, kind="abstract"))["total"] == 0
    unknown = await call(library, "list_papers", {"job_id": "none"})
    assert unknown.is_error


# -- what can be done ------------------------------------------------------------------------


async def test_only_what_ended_for_that_reason_is_asked_for_again(library, world):
    walled, lacking = world.paper("paywall"), world.paper("abstract_only")
    harvest = library.harvest([walled.pmid, lacking.pmid])
    done(harvest)
    before = harvest.ledger.count_coverage().reasons
    world.reset()
    again = await call(
        library, "harvest_papers", {"job_id": harvest.job_id, "retry": "paywall,bot_check"}
    )
    said = again.structured_content["done"]
    assert said.startswith("1 of the papers that ended as paywall,bot_check ")
    assert said in again.content[0].text
    status = await finished(library, harvest.job_id)
    assert status["reasons"] == before
    asked = " ".join(f"{request.path} {request.params}" for request in world.requests)
    assert walled.doi in asked
    assert lacking.pmid not in asked


@pytest.mark.parametrize("retry", ["weather", "paywall,weather"])
async def test_no_paper_ends_as_the_weather(library, world, retry):
    asked = {"ids": [world.paper("paywall").pmid], "retry": retry}
    refused = await call(library, "harvest_papers", asked)
    assert refused.meta["error"]["code"] == "VALIDATION"
    assert not library.harvests.all()


async def test_lists_keep_their_names(library, world):
    wanted = {
        "From the guideline": [world.paper("pmc_cloud").pmid],
        "By hand": [world.paper("paywall").doi, world.paper("pmc_cloud").doi],
    }
    begun = await answer(library, "harvest_papers", lists=wanted, ids=[LOST[0]])
    job_id = begun["job_id"]
    assert (await finished(library, job_id))["counts"]["requested"] == 3
    with (library.harvest(job_id=job_id).folder / "searches.csv").open(encoding="utf-8") as table:
        taken = {row["where"]: int(row["taken"]) for row in csv.DictReader(table)}
    assert taken == {"From the guideline": 1, "By hand": 2, "Identifiers": 1}


async def test_a_list_alone_gives_the_harvest_its_name(library):
    begun = await answer(library, "harvest_papers", lists={"Screening in June": [LOST[0]]})
    await finished(library, begun["job_id"])
    assert begun["job_id"].startswith("screening-in-june-")
    [job] = library.harvests.all()
    assert (job.title, job.searches[0].name) == ("Screening in June", "Screening in June")


@pytest.fixture
def gate(world, monkeypatch):
    """Closed, PMC's cloud answers nobody; what is asked of it waits."""
    opened, asked, proper = threading.Event(), threading.Event(), world._main.answer

    def waiting(call):
        if call.path.startswith("/pmc_cloud"):
            asked.set()
            assert opened.wait(120)
        return proper(call)

    monkeypatch.setattr(world._main, "answer", waiting)
    opened.asked = asked  # type: ignore[attr-defined]
    yield opened
    opened.set()


@pytest.mark.parametrize("by", ["the same server", "another one on this shelf"])
async def test_a_harvest_is_stopped_and_taken_up_again(library, world, gate, by):
    record = world.paper("pmc_cloud")
    other = library
    if by != "the same server":
        other = Library(**library.settings.model_dump())
    async with Client(build(library)) as client, Client(build(other)) as canceller:
        begun = await client.call_tool("harvest_papers", {"ids": [record.pmid, LOST[0]]})
        job_id = begun.structured_content["job_id"]
        assert gate.asked.wait(60)
        stop = {"job_id": job_id, "cancel": True}
        stopped = (await canceller.call_tool("harvest_papers", stop)).structured_content
        assert stopped["state"] == "cancelled"
        assert stopped["counts"]["pending"] >= 1
        assert stopped["next"] == [f'harvest_papers(job_id="{job_id}"): resumes the harvest']
        assert eventually(lambda: not library.harvest(job_id=job_id).ledger.is_running())
        gate.set()
        await client.call_tool("harvest_papers", {"job_id": job_id})
        look = {"job_id": job_id, "wait_s": 20}
        ended = (await client.call_tool("harvest_status", look)).structured_content
    assert ended["state"] == "done"
    assert (ended["counts"]["full_text"], ended["counts"]["failed"]) == (1, 1)


@pytest.mark.parametrize("more", [{"query": "cells"}, {"ids": ["1"]}, {"retry": "failed"}])
async def test_to_stop_a_harvest_is_all_that_a_call_does(library, more):
    for asked in ({"cancel": True, "job_id": "a", **more}, {"cancel": True}):
        refused = await call(library, "harvest_papers", asked)
        assert refused.meta["error"]["code"] == "VALIDATION"
