"""Toolset ``zotero`` as hosts meet it."""

import pytest
from fastmcp import Client

from tests.mcp.calling import call
from utils import Library
from utils.mcp import build

pytestmark = pytest.mark.anyio


@pytest.fixture
def served(shelf_settings):
    with Library(**shelf_settings, mcp_toolsets=("core", "zotero")) as library:
        yield library


async def test_the_set_has_two_tools_that_say_whether_they_write(served):
    async with Client(build(served)) as client:
        tools = {tool.name: tool for tool in await client.list_tools()}
    ours = {name: tool for name, tool in tools.items() if name.startswith("zotero")}
    assert {name: tool.annotations.read_only_hint for name, tool in ours.items()} == {
        "zotero_pull": True, "zotero_push": False
    }  # fmt: skip


async def test_a_library_is_listed(served):
    found = (await call(served, "zotero_pull", {"collection": "Low"})).structured_content
    assert (found["total"], found["next_start"]) == (1, None)
    assert found["papers"][0]["pmid"] == "31452104"


async def test_a_push_is_planned_first_written_then_and_undone(served, zotero):
    harvest = served.harvest(served.zotero.pull())
    made = {"job_id": harvest.job_id, "attach": "none"}
    planned = (await call(served, "zotero_push", made)).structured_content
    assert (planned["there"], planned["written"]) == (3, 0)
    assert zotero.prompts == 0
    done = (await call(served, "zotero_push", {**made, "dry_run": False})).structured_content
    assert done["written"] == done["steps"] > 0
    undone = await call(served, "zotero_push", {"undo": True, "dry_run": False})
    assert undone.structured_content["written"] == done["written"]


async def test_a_refusal_says_what_to_do(served, zotero):
    zotero.is_enabled = False
    refused = await call(served, "zotero_pull", {})
    assert refused.is_error
    assert "Allow other applications" in refused.content[0].text
