"""A review as a model and a person in a chat see it: the same as its report says, in bounds."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.mcp import app_host
from tests.mcp.calling import call
from tests.review.living import a_year_later, retract, seeds_of
from tests.world import World
from utils import Library
from utils.reports.board import render_board_view
from utils.review import Review

FIELD = 14
pytestmark = [pytest.mark.anyio, pytest.mark.slow]
in_a_browser = pytest.mark.skipif(not app_host.BROWSER, reason="needs Chromium")
HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.fixture
def reviewing(library: Library) -> Library:
    return Library(**library.settings.model_dump() | {"mcp_toolsets": ("core", "review")})


async def board_of(library: Library, **asked: Any) -> dict[str, Any]:
    result = await call(library, "review_board", {"review": "fields", **asked})
    assert not result.is_error, result.content
    made: dict[str, Any] = result.structured_content
    return made


async def test_the_board_says_what_status_and_figure_say(
    reviewing: Library, included: Review, field: World
) -> None:
    included.report(published=True)
    new = a_year_later(field, included)
    retract(field, seeds_of(included)[0])
    field.mood("down", "europepmc")
    included.update()
    board = await board_of(reviewing)
    status = included.status()
    assert (board["job_id"], board["state"]) == ("review-fields", "searched")
    told = {one["what"]: one["n"] for one in board["changes"]["counts"]}
    assert told["retracted"] == status["since_published"]["retracted"] == 1
    assert told["cites what is included"] == status["since_published"]["citing"]
    assert board["changes"]["since"].startswith("the review was published on 20")
    assert board["changes"]["rows"][0]["what"] == "retracted"
    assert any(row["title"].startswith(new.title) for row in board["changes"]["rows"])
    assert any("Europe PMC" in told for told in board["could_not_tell"])
    assert board["steps"][0] == "uv run server.py review update fields"
    boxes = {box["title"]: box["n"] for box in board["prisma"]}
    assert boxes["Citation searching"] == sum(
        one.search.hits
        for one in included.ledger.list_searches()
        if one.kind == "citation searching"
    )
    assert "Studies included in review" in board["open_numbers"]
    named = [words.removesuffix(" (other methods)") for words in board["open_numbers"]]
    assert named == [box["title"] for box in board["prisma"] if box["n"] is None]
    assert len(json.dumps(board)) / 4 < 15_000


async def test_an_update_over_mcp_is_that_of_the_shell(
    reviewing: Library, included: Review, field: World
) -> None:
    included.report(published=True)
    new = a_year_later(field, included)
    retract(field, seeds_of(included)[0])
    before = included.ledger.list_decisions()
    result = await call(reviewing, "update_review", {"review": "fields"})
    told = result.structured_content
    assert not result.is_error, result.content
    assert {key: value for key, value in told.items() if key != "untrusted"} == {
        key: value for key, value in (await board_of(reviewing)).items() if key != "untrusted"
    }
    assert {"retracted", "cites what is included"} <= {
        one["what"] for one in told["changes"]["counts"]
    }
    assert any(row["title"].startswith(new.title) for row in told["changes"]["rows"])
    assert not told["could_not_tell"]
    assert included.ledger.list_decisions() == before
    refused = await call(reviewing, "update_review", {"review": "moss"})
    assert refused.is_error
    assert "fields" in refused.content[0].text


async def test_candidates_come_in_pages_the_most_led_to_first(
    reviewing: Library, included: Review
) -> None:
    rows, start = [], 0
    while start is not None:
        page = await board_of(reviewing, start=start)
        rows += page["candidates"]
        start = page["next_start"]
    others = [one for one in included.ledger.list_records() if one.arm == "other"]
    assert {row["key"] for row in rows} == {one.key for one in others}
    assert len(rows) == page["waiting"] == len(others)
    led = [row["led_to_by"] for row in rows]
    assert led == sorted(led, reverse=True)
    assert max(led) == 2
    # What was screened waits no more.
    doi = next(one.paper.ids.doi for one in others if one.paper.ids.doi)
    included.read_decisions(f"doi,decision\n{doi},exclude".encode(), "mine.csv")
    assert (await board_of(reviewing))["waiting"] == len(others) - 1


async def test_a_review_that_is_not_there_is_refused_with_those_that_are(
    reviewing: Library, included: Review
) -> None:
    result = await call(reviewing, "review_board", {"review": "moss"})
    assert result.is_error
    assert "fields" in result.content[0].text


async def test_a_review_that_never_searched_has_a_board(library: Library) -> None:
    library.reviews.create("fields")
    shelf = Library(**library.settings.model_dump() | {"mcp_toolsets": ("core", "review")})
    board = await board_of(shelf)
    assert (board["state"], board["searched_at"], board["candidates"]) == ("new", "", [])
    assert board["steps"][0] == "uv run server.py review update fields"


@in_a_browser
async def test_a_browser_shows_the_review_and_no_markup_of_others(
    reviewing: Library, included: Review, field: World, tmp_path: Path
) -> None:
    included.report(published=True)
    retract(field, seeds_of(included)[0])
    a_year_later(field, included)
    included.update()
    board = await board_of(reviewing)
    board["candidates"][0]["title"] = board["changes"]["rows"][0]["title"] = HOSTILE
    board["could_not_tell"] = [HOSTILE]
    first = {"content": [{"type": "text", "text": ""}], "structuredContent": board}
    more = first | {"structuredContent": board | {"next_start": None}}
    html = app_host.page(
        render_board_view(), first, {"review_board": [more]}, [("button", {"text": "More"})]
    )
    seen = app_host.seen(html, tmp_path)
    assert seen["trouble"] == []
    assert ["review_board", {"review": "fields", "start": 20}] in seen["asked"]
    shown = seen["shown"].lower()
    for words in (
        "Fields",
        "New since the review was published on",
        "retracted",
        "PRISMA 2020",
        HOSTILE,
    ):
        assert words.lower() in shown
    assert (seen["scripts"], seen["images"]) == (1, 0)
