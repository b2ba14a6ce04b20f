"""Harvests by MCP: begun by one call, watched by others, reported as a resource."""

import threading

import pytest
from fastmcp import Client
from mcp import MCPError

from utils import Library
from utils.errors import StoreFailed
from utils.harvest.jobs import Harvest
from utils.mcp import build
from utils.mcp.harvests import Harvests, Status
from utils.model.job import Coverage, Job, JobCounts
from utils.reports.coverage import HarvestPage
from utils.shelf.ledger import Ledger

pytestmark = pytest.mark.anyio


@pytest.fixture
def client(library):
    return Client(build(library))


async def done(client, job_id):
    while True:
        standing = await client.call_tool("harvest_status", {"job_id": job_id, "wait_s": 1})
        if standing.structured_content["state"] != "running":
            return standing.structured_content


@pytest.mark.story
async def test_a_list_is_harvested_and_reported(client, world):
    wanted = [world.paper("pmc_cloud").pmid, world.paper("pmc_cloud").doi, "10.1000/nowhere"]
    async with client:
        begun = await client.call_tool("harvest_papers", {"ids": wanted})
        job = begun.structured_content["job_id"]
        standing = await done(client, job)
        counts = standing["counts"]
        assert standing["state"] == "done"
        assert (counts["requested"], counts["full_text"], counts["failed"]) == (2, 1, 1)
        [page] = await client.read_resource(standing["report"])
        assert page.text.startswith("<!doctype html>")
        assert page.meta["untrusted"] is True
        again = await client.call_tool("harvest_status", {"job_id": job})
        assert f"Resource: {standing['report']}" in again.content[0].text


async def test_the_report_of_no_harvest_says_so(client):
    async with client:
        with pytest.raises(MCPError, match="no harvest none"):
            await client.read_resource("papers://report/none")


async def test_progress_is_told_to_who_asked_for_it(library, world):
    told = []

    async def hear(done, total, message):
        told.append((done, total))

    async with Client(build(library), progress_handler=hear) as client:
        begun = await client.call_tool("harvest_papers", {"query": "cells OR virus"})
        await done(client, begun.structured_content["job_id"])
    assert told
    assert all(0 <= some <= total for some, total in told)


async def test_progress_only_ever_grows(client, library, world, monkeypatch):
    """The protocol wants it so: what stands still is not told again."""
    stages = [JobCounts(requested=9, full_text=1, pending=left) for left in (9, 9, 7, 7, 7, 2)]
    told = []

    async def hear(done, total, message):
        told.append(done)

    def status(self, job_id, **page):
        now = stages.pop(0) if stages else JobCounts(requested=9)
        state = "running" if stages else "done"
        job = Job(job_id, "nine", counts=now)
        return Status(job, state, Coverage(), None, "", "", HarvestPage([], None))

    monkeypatch.setattr(Harvests, "get_status", status)
    monkeypatch.setattr("utils.mcp.harvests.time.monotonic", lambda: 0.0)
    async with client:
        look = {"job_id": "a", "wait_s": 20}
        await client.call_tool("harvest_status", look, progress_handler=hear)
    assert told == [0, 2]


@pytest.mark.parametrize("asked", [{}, {"job_id": "a", "ids": ["1"]}, {"ids": ["no paper"]}])
async def test_what_cannot_be_meant_is_refused(client, asked):
    async with client:
        refused = await client.call_tool("harvest_papers", asked, raise_on_error=False)
    assert refused.is_error
    assert refused.meta["error"]["code"] == "VALIDATION"


@pytest.mark.parametrize("name", ["nothing", "../catalogue", "a/b"])
async def test_a_harvest_that_is_none_is_refused(client, name):
    async with client:
        refused = await client.call_tool("harvest_status", {"job_id": name}, raise_on_error=False)
    assert refused.is_error
    assert "harvest" in refused.meta["error"]["message"]


async def test_without_an_address_it_is_said_at_once(settings, world):
    server = build(Library(**settings | {"pubmed_email": ""}))
    for asked in ({"ids": ["31452104"]}, {"query": "cells"}):
        async with Client(server) as client:
            refused = await client.call_tool("harvest_papers", asked, raise_on_error=False)
        assert refused.is_error
        assert "PUBMED_EMAIL" in refused.meta["error"]["message"]
    assert not world.requests


async def test_a_harvest_of_another_process_is_seen_running(client, library, world):
    harvest = library.harvest([world.paper("pmc_cloud").pmid])
    async with client:
        look = {"job_id": harvest.job_id}
        standing = await client.call_tool("harvest_status", look)
        assert standing.structured_content["state"] == "interrupted"
        with harvest.ledger.exclusive_lock():
            standing = await client.call_tool("harvest_status", {**look, "wait_s": 1})
            assert standing.structured_content["state"] == "running"
            assert standing.structured_content["counts"]["pending"] == 1


async def test_why_a_harvest_stopped_is_told_to_who_looks(client, library, world, monkeypatch):
    def broken(*_, **__):
        raise StoreFailed("The disk is full.", "Free some space.")

    monkeypatch.setattr(Ledger, "begin_rung", broken)
    async with client:
        begun = await client.call_tool(
            "harvest_papers", {"ids": [world.paper("pmc_cloud").pmid]}, raise_on_error=False
        )
        look = {"job_id": library.harvests.all()[0].job_id, "wait_s": 20}
        told = await client.call_tool("harvest_status", look, raise_on_error=False)
    assert begun.structured_content
    assert told.is_error
    assert told.meta["error"]["code"] == "STORE"


async def test_a_mistake_of_ours_is_told_to_who_looks(client, library, world, monkeypatch):
    def mistaken(*_, **__):
        raise KeyError("no such lane")

    monkeypatch.setattr(Harvest, "__iter__", mistaken)
    async with client:
        begun = await client.call_tool("harvest_papers", {"ids": [world.paper("pmc_cloud").pmid]})
        look = {"job_id": begun.structured_content["job_id"], "wait_s": 20}
        told = await client.call_tool("harvest_status", look, raise_on_error=False)
    assert told.is_error
    assert "no such lane" in told.meta["error"]["message"]


def test_who_asks_the_same_at_once_does_not_end_the_harvest(library, world):
    harvest = library.harvest([world.paper("pmc_cloud").pmid])
    harvests = Harvests(library)
    run = harvests.start_run(harvest)
    assert harvests.start_run(harvest) is run
    run.thread.join()
    assert run.error is None
    assert harvests.get_status(harvest.job_id).job.counts.full_text == 1


async def test_no_more_than_two_run_side_by_side(client, world, monkeypatch):
    let = threading.Event()

    def waiting(*_, **__):
        let.wait(30)
        return iter(())

    monkeypatch.setattr(Harvest, "__iter__", waiting)
    wanted = [world.paper(name).pmid for name in ("pmc_cloud", "paywall", "abstract_only")]
    try:
        async with client:
            begin = [
                await client.call_tool("harvest_papers", {"ids": [pmid]}, raise_on_error=False)
                for pmid in (*wanted, wanted[0])
            ]
    finally:
        let.set()
    assert [call.is_error for call in begin] == [False, False, True, False]
    assert "harvest_status" in begin[2].meta["error"]["suggestions"][0]
