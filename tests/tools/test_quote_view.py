"""A quotation in its passage, as hosts meet it: a text, a structure, a page in a browser."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import unquote

import pytest
from fastmcp import Client

from tests.corpus.small_corpus import LetterEmbedder
from tests.tools import app_host
from tests.tools.calling import call
from utils import Library
from utils.passages.anchors import anchors_of
from utils.reports.board import view
from utils.tools import build

pytestmark = pytest.mark.anyio
TOOLSETS = ("core", "review")
ERAS = pytest.mark.parametrize("mode", ["auto", "legacy"])
in_a_browser = pytest.mark.skipif(not app_host.BROWSER, reason="needs Chromium")


@pytest.fixture
def library(settings):
    library = Library(**settings, mcp_toolsets=TOOLSETS)
    library.corpus.__dict__["embedder"] = LetterEmbedder()
    yield library
    library.corpus.finder.close()
    library.corpus.database.close()
    library.shelf.close()


@pytest.fixture
def stored(library, world):
    return library.download(world.paper("pmc_cloud").pmid).stored


@pytest.fixture
def blocks(library, stored):
    text = library.shelf.read_text(stored)
    return [text[one.start : one.end] for one in anchors_of(text)]


def sentence(block: str) -> str:
    """The first sentence of a paragraph that has several."""
    return block.partition(". ")[0] + "."


@pytest.fixture
def quoted(blocks) -> str:
    return next(sentence(one) for one in blocks[2:] if one.count(". ") > 1 and "<" not in one)


async def shown(library, mode="auto", **arguments):
    result = await call(library, "show_quote", arguments, mode)
    assert not result.is_error, result.content[0].text
    assert [block.type for block in result.content] == ["text"]
    return result.structured_content, result.content[0].text


def words_of(row, *, quoted=None):
    return "".join(
        one["text"] for one in row["passage"] if quoted is None or one["quoted"] == quoted
    )


@ERAS
async def test_a_quotation_is_shown_in_its_passage(library, stored, blocks, quoted, mode):
    row, text = await shown(library, mode, quote=quoted, paper=stored.paper.ids.pmid)
    assert (row["verdict"], row["differences"]) == ("verbatim", [])
    assert words_of(row, quoted=True).rstrip(".") == quoted.rstrip(".")
    assert words_of(row) == next(one for one in blocks if quoted in one).strip("\n")
    assert row["paper"]["title"] == stored.paper.title
    assert row["paper"]["license"] == stored.license
    assert row["handle"].startswith(f"pmid:{stored.paper.ids.pmid}#p-")
    assert row["source"]["url"].startswith("https://pmc.ncbi.nlm.nih.gov/articles/PMC")
    for said in (quoted.rstrip("."), stored.paper.title, stored.license, row["next"], "verbatim"):
        assert said in text


async def test_without_a_paper_it_is_found_among_all(library, stored, quoted):
    row, _ = await shown(library, quote=quoted)
    assert row["verdict"] == "verbatim"
    assert row["paper"]["title"] == stored.paper.title


async def test_what_differs_is_named_where_the_text_stands(library, stored, quoted):
    changed = quoted.replace(quoted.split()[3], "never", 1)
    row, text = await shown(library, quote=changed, paper=stored.paper.ids.pmid)
    assert row["verdict"] == "near"
    assert row["differences"]
    assert all(one in text for one in row["differences"])
    assert quoted.split()[3] in words_of(row, quoted=True)


async def test_what_is_not_there_is_shown_as_nothing(library, stored):
    made_up = "Bicycles repair themselves overnight whenever nobody watches them closely."
    row, text = await shown(library, quote=made_up, paper=stored.paper.ids.pmid)
    assert (row["verdict"], row["passage"]) == ("absent", [])
    assert row["paper"]["kind"] == "full_text"
    assert "absent" in text


async def test_neighbours_lead_through_the_whole_text(library, stored, blocks):
    row, _ = await shown(library, paper=stored.paper.ids.pmid)
    assert (row["block"], row["previous"]) == (1, "")
    seen = [words_of(row)]
    while row["next"]:
        before = row["handle"]
        row, _ = await shown(library, paper=row["next"])
        assert row["previous"] == before
        seen.append(words_of(row))
    assert seen == [block.strip("\n") for block in blocks]
    assert row["blocks"] == len(blocks)


async def test_handles_of_verify_quotes_lead_there(library, stored, quoted):
    asked = {"quotes": [{"text": quoted, "paper": stored.paper.ids.pmid}]}
    checked = await call(library, "verify_quotes", asked)
    # With a link beside it, Claude's web client hands the page nothing (see `utils.tools.board`).
    assert [block.type for block in checked.content] == ["text"]
    [one] = checked.structured_content["quotes"]
    row, _ = await shown(library, paper=one["handle"])
    assert quoted.rstrip(".") in words_of(row)
    assert row["handle"] == one["handle"]
    assert not words_of(row, quoted=True)


async def test_a_paper_without_full_text_shows_its_abstract(library, world):
    stored = library.download(world.paper("paywall").pmid).stored
    assert stored.kind == "abstract"
    row, _ = await shown(
        library, quote=sentence(stored.paper.abstract), paper=str(stored.paper.ids.pmid)
    )
    assert row["verdict"] == "verbatim"
    assert row["paper"]["kind"] == "abstract"
    assert "pubmed" in row["source"]["url"]


async def a_sentence_of(library, paper):
    """A paper's text on the shelf, and a sentence of it."""
    stored = library.download(paper).stored
    assert stored.kind == "full_text"
    text = library.shelf.read_text(stored)
    blocks = [text[one.start : one.end] for one in anchors_of(text)]
    return stored, next(sentence(one) for one in blocks[3:] if one.count(". ") > 1)


async def test_a_quotation_from_a_pdf_leads_to_its_page(library, world):
    stored, said = await a_sentence_of(library, world.paper("unpaywall_pdf").doi)
    row, _ = await shown(library, quote=said, paper=str(stored.paper.ids))
    page, _, number = row["source"]["url"].partition("#page=")
    assert page == library.shelf.raw(stored).fetched.url
    assert row["source"]["label"] == f"Page {number} of the PDF"
    assert int(number) >= 1


async def test_a_quotation_from_a_web_page_leads_to_its_words(library, world):
    stored, said = await a_sentence_of(library, world.paper("publisher_html").doi)
    row, _ = await shown(library, quote=said, paper=str(stored.paper.ids))
    page, _, fragment = row["source"]["url"].partition("#:~:text=")
    assert page == library.shelf.raw(stored).fetched.url
    first, last = (unquote(part).split() for part in fragment.split(","))
    assert " ".join(first) in said
    assert " ".join(last) in said
    assert "-" not in fragment  # it would separate what stands before


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({}, "Nothing was asked for"),
        ({"paper": "pmid:1"}, "not on the shelf"),
        ({"quote": "too short"}, "words"),
        ({"paper": "HERE#p-00000000"}, "no block"),
    ],
)
async def test_a_refusal_says_what_to_do(library, stored, arguments, why):
    given = {
        name: value.replace("HERE", stored.paper.ids.pmid) for name, value in arguments.items()
    }
    result = await call(library, "show_quote", given)
    assert result.is_error
    error = json.loads(result.content[0].text)["error"]
    assert why in error["message"]
    assert error["suggestions"]


async def test_both_tools_are_shown_by_the_one_page(library, settings):
    async with Client(build(library)) as client:
        marked = {one.name for one in await client.list_tools() if (one.meta or {}).get("ui")}
    assert marked == {"review_board", "show_quote", "verify_quotes"}
    core = Library(**settings, mcp_toolsets=("core",))
    async with Client(build(core)) as client:
        assert not [one.name for one in await client.list_tools() if (one.meta or {}).get("ui")]


# -- the page, in a browser --------------------------------------------------------------------


def result_of(structure: object) -> dict[str, object]:
    return {"content": [{"type": "text", "text": ""}], "structuredContent": structure}


@pytest.fixture
async def row(library, stored, quoted):
    return (await shown(library, quote=quoted, paper=stored.paper.ids.pmid))[0]


@in_a_browser
async def test_the_quoted_words_are_marked_and_nothing_else(row, tmp_path: Path):
    seen = app_host.seen(app_host.page(view(), result_of(row)), tmp_path)
    assert seen["trouble"] == []
    assert seen["marked"] == words_of(row, quoted=True)
    for said in (row["paper"]["title"], row["paper"]["license"], "Word for word", row["section"]):
        assert said.lower() in seen["shown"].lower()
    assert row["source"]["url"] in seen["links"]


@in_a_browser
async def test_no_markup_of_a_paper_is_obeyed(row, tmp_path: Path):
    hostile = "<img src=x onerror=alert(1)><script>alert(1)</script> <sup>2</sup> a \\* b"
    row["passage"] = [{"text": hostile, "quoted": True}]
    row["paper"] |= {"title": hostile, "license": hostile, "reference": hostile}
    row |= {"quote": hostile, "section": hostile, "differences": [hostile]}
    row["source"] = {"label": hostile, "url": "javascript:alert(1)"}
    seen = app_host.seen(app_host.page(view(), result_of(row)), tmp_path)
    assert (seen["scripts"], seen["images"]) == (1, 0)
    assert seen["marked"] == "<img src=x onerror=alert(1)><script>alert(1)</script> 2 a * b"
    assert not any(address.startswith("javascript") for address in seen["links"])


@in_a_browser
async def test_neighbours_are_asked_for_and_the_way_back_is_there(row, tmp_path: Path):
    beside = row | {"quote": "", "verdict": "", "passage": [{"text": "The next.", "quoted": False}]}
    html = app_host.page(
        view(),
        result_of(row),
        {"show_quote": [result_of(beside)]},
        [("#passage", {"key": "ArrowRight"}), ("#passage", {"key": "ArrowLeft"})],
    )
    seen = app_host.seen(html, tmp_path)
    assert ["show_quote", {"paper": row["next"]}] in seen["asked"]
    assert ["show_quote", {"paper": row["previous"]}] in seen["asked"]
    assert "The next." in seen["shown"]
    assert seen["focused"] == "passage"
    back = app_host.page(
        view(),
        result_of(row),
        {"show_quote": [result_of(beside)]},
        [("#next", {}), ("button", {"text": "Back to the quotation"})],
    )
    seen = app_host.seen(back, tmp_path)
    assert seen["marked"] == words_of(row, quoted=True)
    assert seen["focused"] == "passage"


@in_a_browser
async def test_checked_quotations_are_listed_and_opened(row, quoted, tmp_path: Path):
    found = {
        "quotes": [
            {"verdict": "verbatim", "handle": row["handle"], "section": row["section"]},
            {"verdict": "absent"},
        ],
        "warnings": [],
    }
    asked = {
        "quotes": [{"text": quoted, "paper": "1"}, {"text": "Never said by anybody.", "paper": ""}]
    }
    listed = app_host.page(view(), result_of(found), asked=asked)
    seen = app_host.seen(listed, tmp_path)
    for said in ("1 of 2 word for word", quoted, "Never said by anybody.", "Not in the text"):
        assert said in seen["shown"]
    html = app_host.page(
        view(),
        result_of(found),
        {"show_quote": [result_of(row)]},
        [("ol.quotes button", {})],
        asked=asked,
    )
    seen = app_host.seen(html, tmp_path)
    assert ["show_quote", {"quote": quoted, "paper": row["handle"].split("#")[0]}] in seen["asked"]
    assert seen["marked"] == words_of(row, quoted=True)
    assert "All quotations" in seen["shown"]


@in_a_browser
async def test_a_typed_quotation_is_looked_up(row, tmp_path: Path):
    html = app_host.page(
        view(),
        result_of(row),
        {"show_quote": [result_of(row | {"verdict": "absent", "passage": [], "paper": None})]},
        [
            ("textarea", {"write": "Somebody typed these words"}),
            ("input", {"write": ""}),
            ("button", {"text": "Look it up"}),
        ],
    )
    seen = app_host.seen(html, tmp_path)
    assert ["show_quote", {"quote": "Somebody typed these words", "paper": ""}] in seen["asked"]
    assert "in no paper that could be looked through" in seen["shown"]


@in_a_browser
async def test_a_quotation_opened_from_a_running_board_stays_until_left(row, tmp_path: Path):
    board = {
        "job_id": "j", "state": "running", "title": "Corals", "headline": "Full text for 1 of 2",
        "counts": {"full_text": 1, "pending": 1}, "sources": [], "reasons": [], "prisma": [],
        "missing": [], "next_start": None, "steps": [], "waits": [],
    }  # fmt: skip
    looked = [
        ("textarea", {"write": "Somebody typed these words"}),
        ("button", {"text": "Look it up"}),
    ]
    calls = {"show_quote": [result_of(row)], "review_board": [result_of(board)]}
    # The browser's clock runs past the moment at which the board would be renewed.
    page = app_host.page(view(), result_of(board), calls, [*looked, *[("#passage", {})] * 150])
    seen = app_host.seen(page, tmp_path, lasting_ms=12_000)
    assert seen["marked"] == words_of(row, quoted=True)
    assert "Back to the board" in seen["shown"]
    back = [*looked, ("button", {"text": "Back to the board"})]
    seen = app_host.seen(app_host.page(view(), result_of(board), calls, back), tmp_path)
    assert "Full text for 1 of 2" in seen["shown"]


@in_a_browser
async def test_without_calls_there_is_no_button_that_could_not_work(row, tmp_path: Path):
    seen = app_host.seen(app_host.page(view(), result_of(row), can_call=False), tmp_path)
    assert seen["marked"]
    assert "Look it up" not in seen["shown"]
    assert "Next block" not in seen["shown"]
