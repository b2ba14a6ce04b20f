"""``fetch_article_details``: levels, pages, and what becomes of single identifiers."""

import json
from contextlib import suppress

import jsonschema
import pytest
from pydantic import TypeAdapter

from tests.mcp.calling import answer, call, closed
from utils.errors import BadContent
from utils.mcp import pubmed
from utils.mcp.pubmed import build_details_page
from utils.readers.pubmed_articles import split_xml_records
from utils.search.pubmed.details import DetailedRecords

pytestmark = pytest.mark.anyio
TOOLSETS = ("pubmed",)


@pytest.mark.parametrize("level", ["abstract_plus", "full_xml", "medline_text", "citation_data"])
async def test_details_at_every_level(library, world, level):
    wanted = [world.paper("pmc_cloud").pmid, "39999999", world.paper("retracted").pmid]
    found = await answer(library, "fetch_article_details", pmids=wanted, detail_level=level)
    assert [one["pmid"] for one in found["articles"]] == [wanted[0], wanted[2]]
    assert found["not_found_pmids"] == ["39999999"]
    assert found["failed"] == []
    assert found["e_fetch_details"]["request_method"] == "GET"
    begins = {"full_xml": "<PubmedArticle>", "medline_text": "PMID- "}.get(level, "")
    assert found["text"].startswith(begins)
    assert bool(found["text"]) == bool(begins)


async def test_long_text_comes_in_stretches_without_gap_or_overlap(library, world):
    wanted = [record.pmid for record in world.papers if record.pmid][:10]
    options = {"pmids": wanted, "detail_level": "full_xml", "max_chars": 7000}
    text, start, pages, articles = "", 0, 0, {}
    while start is not None:
        page = await answer(library, "fetch_article_details", start=start, **options)
        articles |= {one["pmid"]: one for one in page["articles"]}
        text, start, pages = text + page["text"], page["next_start"], pages + 1
    assert pages > 3
    assert list(articles) == wanted
    for one in articles.values():
        own = text[one["start"] : one["start"] + one["chars"]]
        assert own.startswith(("<PubmedArticle>", "<PubmedBookArticle>"))
        assert f">{one['pmid']}</PMID>" in own
    assert len(world.requests) == 1


async def test_articles_come_whole_and_in_pages(library, world):
    wanted = [record.pmid for record in world.papers if record.pmid][:10]
    seen, start = [], 0
    while start is not None:
        page = await answer(
            library, "fetch_article_details", pmids=wanted, start=start, max_chars=4000
        )
        assert len(json.dumps(page["articles"], ensure_ascii=False)) < 8000
        seen, start = seen + page["articles"], page["next_start"]
    assert [one["pmid"] for one in seen] == wanted


@pytest.mark.parametrize("level", ["abstract_plus", "full_xml", "medline_text", "citation_data"])
async def test_a_page_is_bounded_as_a_whole_and_repeats_nothing(library, world, level):
    known = [record.pmid for record in world.papers if record.pmid][:30]
    unknown = [str(39_000_000 + number) for number in range(150)]
    options = {"pmids": [*unknown, *known, "PMC5"], "detail_level": level, "max_chars": 12_000}
    start, pages = 0, []
    while start is not None:
        page = await answer(library, "fetch_article_details", start=start, **options)
        rest = {name: value for name, value in page.items() if name != "text"}
        assert len(json.dumps(rest, ensure_ascii=False)) + len(page["text"]) < 12_300
        pages, start = [*pages, page], page["next_start"]
    assert len(pages) > 1
    first, *others = pages
    assert len(first["not_found_pmids"]) == 150
    for page in others:
        assert page["requested_pmids"] == page["not_found_pmids"] == page["failed"] == []
        assert page["e_fetch_details"] == {"urls": [], "request_method": ""}


@pytest.mark.parametrize("level", ["abstract_plus", "full_xml"])
async def test_a_start_beyond_the_end_is_an_empty_page_that_says_so(library, world, level):
    pmid = world.paper("pmc_cloud").pmid
    options = {"pmids": [pmid], "detail_level": level, "start": 900_000}
    page = await answer(library, "fetch_article_details", **options)
    assert (page["articles"], page["text"], page["next_start"]) == ([], "", None)
    unit = {"abstract_plus": "ends after 1 article.", "full_xml": "characters."}[level]
    assert unit in page["warnings"][0]
    result = await call(library, "fetch_article_details", options)
    assert page["warnings"][0] in result.content[0].text


async def test_one_malformed_pmid_costs_only_itself(library, world):
    record = world.paper("pmc_cloud")
    wanted = [record.pmid, record.pmcid, record.doi, "12 monkeys", "x" * 999]
    result = await call(library, "fetch_article_details", {"pmids": wanted})
    found = result.structured_content
    assert [one["pmid"] for one in found["articles"]] == [record.pmid]
    assert found["requested_pmids"] == [record.pmid]
    assert {one["code"] for one in found["failed"]} == {"VALIDATION"}
    told = [one["message"] for one in found["failed"]]
    assert ["convert_ids" in one for one in told] == [True, True, False, False]
    assert all("not a" in one for one in told)
    assert told[0] in result.content[0].text


async def test_the_same_reason_is_told_once(library, world):
    known, *others = [record.pmid for record in world.papers if record.pmid][:5]
    await answer(library, "fetch_article_details", pmids=[known])
    world.mood("down", "eutils")
    found = await answer(library, "fetch_article_details", pmids=[known, *others])
    assert [one["pmid"] for one in found["failed"]] == others
    assert {one["code"] for one in found["failed"]} == {"UPSTREAM"}
    assert [one["message"] for one in found["failed"][1:]] == [f"As for {others[0]}."] * 3


async def test_grants_and_headings_are_left_out_when_not_wanted(library, world):
    pmid = world.paper("pmc_cloud").pmid
    [one] = (await answer(library, "fetch_article_details", pmids=[pmid]))["articles"]
    assert "mesh_terms" in one
    assert "grant_list" not in one
    found = await answer(
        library,
        "fetch_article_details",
        pmids=[pmid],
        include_mesh_terms=False,
        include_grant_info=True,
    )
    assert "mesh_terms" not in found["articles"][0]
    assert found["articles"][0]["grant_list"] == []
    assert found["e_fetch_details"] == {"urls": [], "request_method": "cache"}


@pytest.mark.shared
@pytest.mark.parametrize("level", ["abstract_plus", "full_xml", "citation_data"])
def test_real_records_are_what_the_schema_promises(shared, level):
    records = {}
    for path in (shared / "pubmed" / "efetch").rglob("*.xml"):
        with suppress(BadContent):
            records |= split_xml_records(path.read_bytes())
    assert len(records) > 80
    found = DetailedRecords(tuple(records), records, (), {}, (), "")
    validator = jsonschema.Draft202012Validator(
        closed(TypeAdapter(pubmed.ArticleDetails).json_schema())
    )
    start, seen = 0, set()
    while start is not None:
        page = build_details_page(found, level, start, 20_000, mesh=True, grants=True)
        validator.validate(page)
        seen |= {one["pmid"] for one in page["articles"]}
        assert page["next_start"] is None or page["next_start"] > start
        start = page["next_start"]
    assert seen == set(records)
