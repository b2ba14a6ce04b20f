"""Toolset ``review`` as hosts meet it: an App, a resource, a text."""

import json
from pathlib import Path

import pytest
from fastmcp import Client

from tests.harvests import done
from tests.mcp import app_host
from tests.mcp.calling import call
from utils import Library
from utils.errors import PaperError
from utils.mcp import build
from utils.reports.board import render_board_view

pytestmark = pytest.mark.anyio
TOOLSETS = ("core", "review")
ERAS = pytest.mark.parametrize("mode", ["auto", "legacy"])
in_a_browser = pytest.mark.skipif(not app_host.BROWSER, reason="needs Chromium")


@pytest.fixture
def harvest(library, world):
    wanted = [world.paper("pmc_cloud").pmid, world.paper("paywall").pmid, "10.1000/nowhere"]
    made = library.harvest(wanted, title="Corals <b>and</b> heat")
    done(made)
    return made


@ERAS
async def test_the_board_says_what_the_report_says(library, harvest, mode):
    result = await call(library, "review_board", {}, mode)
    board, text = result.structured_content, result.content[0].text
    assert (board["job_id"], board["state"]) == (harvest.job_id, "done")
    assert board["counts"]["full_text"] == harvest.job().counts.full_text == 1
    assert sum(board["counts"].values()) == 3
    boxes = {box["title"]: box["n"] for box in board["prisma"]}
    assert boxes["Reports not retrieved"] == 2
    assert boxes["Studies included in review"] is None
    assert boxes["Reports of included studies"] is None
    assert len(board["missing"]) == sum(one["papers"] for one in board["reasons"]) == 2
    told = [board["title"], board["headline"]]
    told += [one[name] for one in board["missing"] for name in ("title", "paper", "reason", "link")]
    assert [words for words in told if words not in text] == []


async def test_no_link_stands_beside_the_board(library, harvest):
    result = await call(library, "review_board", {"job_id": harvest.job_id})
    assert [block.type for block in result.content] == ["text"]


async def test_what_is_missing_comes_in_pages(library, world):
    lost = [f"10.1000/nowhere.{number}" for number in range(45)]
    done(library.harvest(lost))
    numbers, start = [], 0
    while start is not None:
        page = (await call(library, "review_board", {"start": start})).structured_content
        numbers += [one["number"] for one in page["missing"]]
        start = page["next_start"]
    assert numbers == list(range(1, 46))


async def test_a_shelf_without_harvests_says_so(library):
    result = await call(library, "review_board", {})
    assert result.is_error
    assert "harvest_papers" in result.content[0].text


@ERAS
async def test_the_app_is_declared_and_needs_no_address(library, harvest, mode):
    async with Client(build(library), mode=mode) as client:
        [tool] = [tool for tool in await client.list_tools() if tool.name == "review_board"]
        assert tool.meta["ui"]["resourceUri"] == "ui://papershelf/board.html"
        [page] = await client.read_resource(tool.meta["ui"]["resourceUri"])
        [numbers] = await client.read_resource(f"papers://board/{harvest.job_id}")
    assert page.mime_type == "text/html;profile=mcp-app"
    assert page.meta["ui"]["csp"] == {"connectDomains": [], "resourceDomains": []}
    for sign in ("http://", "https://", "url(", "@import", "src=", "innerHTML", "eval("):
        assert sign not in page.text
    assert json.loads(numbers.text)["job_id"] == harvest.job_id


async def test_who_did_not_ask_for_it_has_no_board(library):
    core = Library(**library.settings.model_dump() | {"mcp_toolsets": ("core",)})
    async with Client(build(core)) as client:
        assert "review_board" not in {tool.name for tool in await client.list_tools()}
        assert not [one for one in await client.list_resources() if "ui://" in str(one.uri)]


def test_a_harvest_nobody_knows_is_refused(library):
    with pytest.raises(PaperError, match="none"):
        library.harvest(job_id="none")


# -- the view, in a browser -------------------------------------------------------------------


def result_of(structure: object, text: str = "") -> dict[str, object]:
    return {"content": [{"type": "text", "text": text}], "structuredContent": structure}


@pytest.fixture
async def board(library, harvest):
    return (await call(library, "review_board", {})).structured_content


@in_a_browser
async def test_a_browser_shows_the_board_and_no_markup_of_others(board, tmp_path: Path):
    hostile = "<img src=x onerror=alert(1)>"
    board["missing"][0] |= {"title": hostile, "link": "javascript:alert(1)"}
    seen = app_host.seen(app_host.page(render_board_view(), result_of(board)), tmp_path)
    assert seen["trouble"] == []
    for words in ("Corals <b>and</b> heat", board["headline"], "n = 2", hostile, "PRISMA 2020"):
        assert words.lower() in seen["shown"].lower()
    assert (seen["scripts"], seen["images"]) == (1, 0)
    assert not any(address.startswith("javascript") for address in seen["links"])


@in_a_browser
async def test_what_is_missing_is_asked_for_page_by_page(board, tmp_path: Path):
    first = board | {"next_start": 20}
    page = board | {"missing": [board["missing"][0] | {"title": "The last one"}]}
    html = app_host.page(
        render_board_view(),
        result_of(first),
        {"review_board": [result_of(page)]},
        [("button", {"text": "More"})],
    )
    seen = app_host.seen(html, tmp_path)
    assert ["review_board", {"job_id": board["job_id"], "start": 20}] in seen["asked"]
    assert "The last one" in seen["shown"]


@in_a_browser
async def test_an_interrupted_harvest_goes_on_from_the_board(board, tmp_path: Path):
    stopped = board | {"state": "interrupted"}
    html = app_host.page(
        render_board_view(),
        result_of(stopped),
        {"harvest_papers": [result_of({})], "review_board": [result_of(board)]},
        [("button", {"text": "Continue this harvest"})],
    )
    seen = app_host.seen(html, tmp_path)
    assert ["harvest_papers", {"job_id": board["job_id"]}] in seen["asked"]
    assert "Go on" not in seen["shown"]


@in_a_browser
async def test_an_error_is_shown_with_what_to_do(tmp_path: Path):
    refused = {"error": {"message": "There is no harvest.", "suggestions": ["Begin one."]}}
    first = {"isError": True, "content": [{"type": "text", "text": json.dumps(refused)}]}
    seen = app_host.seen(app_host.page(render_board_view(), first), tmp_path)
    assert seen["shown"] == "There is no harvest. Begin one."


@in_a_browser
async def test_without_structure_the_text_is_shown(tmp_path: Path):
    first = {"content": [{"type": "text", "text": "Corals: full text for 1 of 3."}]}
    seen = app_host.seen(app_host.page(render_board_view(), first), tmp_path)
    assert seen["shown"] == "Corals: full text for 1 of 3."
