"""Harvests by MCP: begun by one call, watched by others, reported as a resource."""

from __future__ import annotations

import pytest
from fastmcp import Client

from utils.tools import build

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend():
    return "asyncio"


@pytest.fixture
def client(library):
    return Client(build(library))


async def done(client, job_id):
    while True:
        standing = await client.call_tool("harvest_status", {"job_id": job_id, "wait_s": 1})
        if standing.structured_content["state"] != "running":
            return standing.structured_content


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


async def test_progress_is_told_to_who_asked_for_it(library, world):
    told = []

    async def hear(done, total, message):
        told.append((done, total))

    async with Client(build(library), progress_handler=hear) as client:
        begun = await client.call_tool("harvest_papers", {"query": "cells OR virus"})
        await done(client, begun.structured_content["job_id"])
    assert told
    assert all(0 <= some <= total for some, total in told)


@pytest.mark.parametrize("asked", [{}, {"query": "a", "ids": ["1"]}, {"ids": ["no paper"]}])
async def test_what_cannot_be_meant_is_refused(client, asked):
    async with client:
        refused = await client.call_tool("harvest_papers", asked, raise_on_error=False)
    assert refused.is_error
    assert refused.structured_content["error"]["code"] == "VALIDATION"


@pytest.mark.parametrize("name", ["nothing", "../catalogue", "a/b"])
async def test_a_harvest_that_is_none_is_refused(client, name):
    async with client:
        refused = await client.call_tool("harvest_status", {"job_id": name}, raise_on_error=False)
    assert refused.is_error
    assert "harvest" in refused.structured_content["error"]["message"]
