"""Many papers in one call: fetched, read within one budget, quoted with handles, cited."""

import hashlib
import json
import threading

import pytest

from tests.mcp.test_core import call
from utils import Library
from utils.mcp import tool
from utils.mcp.many_papers import estimate_cost
from utils.shelf import strip_header

pytestmark = pytest.mark.anyio


def size(result):
    return len(json.dumps(result.structured_content, ensure_ascii=False))


@pytest.mark.story
async def test_papers_are_fetched_and_read_within_the_budget(library, world):
    names = [world.paper(branch).pmid for branch in ("pmc_cloud", "publisher_pdf", "paywall")]
    found = await call(library, "read_papers", {"papers": [*names, "x y"], "budget_tokens": 1500})
    *read, unknown = found.structured_content["papers"]
    assert [one["paper"] for one in read] == names
    assert [one["kind"] for one in read] == ["full_text", "full_text", "abstract"]
    assert "abstract" in read[2]["why"]
    assert "x y" in unknown["why"]
    texts = sum(len(part["text"]) for one in read for part in one["parts"])
    assert 3000 < texts <= 1500 * 4
    assert all(one["left_out"] for one in read[:2])


async def test_sections_and_a_question_choose_what_is_read(library, world):
    pmid = world.paper("pmc_cloud").pmid
    arguments = {"papers": [pmid], "sections": ["methods", "horoscope"], "outline": True}
    [row] = (await call(library, "read_papers", arguments)).structured_content["papers"]
    assert row["parts"]
    assert all("method" in part["section"].lower() for part in row["parts"]), row["parts"]
    assert "horoscope" in row["why"]
    assert any("methods" in line for line in row["outline"])
    text = library.read(pmid, section="results").text
    question = text.split("\n\n")[1][:150]
    asked = {"papers": [pmid], "question": question, "budget_tokens": 500}
    [row] = (await call(library, "read_papers", asked)).structured_content["papers"]
    wordless = await call(library, "read_papers", {"papers": [pmid], "question": "?!"})
    assert wordless.structured_content["papers"][0]["parts"]
    assert question[:60] in "".join(part["text"] for part in row["parts"])


async def test_a_paper_without_a_word_of_the_question_says_so(library, world):
    pmid, preprint = world.paper("pmc_cloud").pmid, world.paper("arxiv").arxiv
    asked = {"papers": [pmid, preprint], "question": "progenitors"}
    found = await call(library, "read_papers", asked)
    answering, silent = found.structured_content["papers"]
    assert answering["parts"]
    assert "why" not in answering
    assert silent["why"] == "no passage has a word of the question"
    assert (silent["parts"], bool(silent["left_out"])) == ([], True)


async def test_a_block_is_read_and_quoted_by_its_handle(library, world):
    pmid = world.paper("pmc_cloud").pmid
    [row] = (await call(library, "read_papers", {"papers": [pmid]})).structured_content["papers"]
    blocks = [block for part in row["parts"] for block in part["text"].split("\n\n")]
    name, text = max(blocks, key=len)[1:].split("] ", 1)
    read = await call(library, "read_paper", {"paper": f"{pmid}#{name}"})
    assert read.structured_content["text"].startswith(text[:40])
    sentence = text[: text.index(". ")] if ". " in text else text
    quotes = [
        {"text": sentence, "paper": f"{pmid}#{name}"}, {"text": sentence},
        {"text": f"{sentence} not"}, {"text": "quarks zigzag beneath jovial llamas", "paper": pmid},
        {"text": "too short"}, {"text": sentence, "paper": "1"},
    ]  # fmt: skip
    found = (await call(library, "verify_quotes", {"quotes": quotes})).structured_content["quotes"]
    verdicts = [one["verdict"] for one in found]
    assert verdicts == ["verbatim", "verbatim", "near", "absent", "unclear", "unclear"]
    assert found[0]["handle"] == found[1]["handle"] == f"pmid:{pmid}#{name}"
    assert not {"printed", "handle", "section"} & found[3].keys()  # another sentence is no print
    assert any("negation" in one or "added" in one for one in found[2]["differences"])
    assert "not on the shelf" in found[5]["why"]
    body = strip_header(library.shelf.read_text(library.find(pmid)))
    digest = hashlib.sha256(body.encode()).hexdigest()
    assert [row.get("sha256") for row in found] == [digest] * 3 + [None] * 3


async def test_papers_are_downloaded_and_cited(library, world):
    names = [world.paper("pmc_cloud").pmid, world.paper("paywall").pmid]
    found = (await call(library, "download_papers", {"papers": names})).structured_content
    assert [row["kind"] for row in found["papers"]] == ["full_text", "abstract"]
    cited = await call(
        library, "cite_papers", {"papers": [*names, "99999999"], "style": "vancouver"}
    )
    *references, unknown = cited.structured_content["references"]
    assert all(row["reference"] for row in references)
    assert unknown["why"]
    refused = await call(library, "cite_papers", {"papers": names, "style": "rhyme"})
    assert refused.is_error


@pytest.mark.parametrize("budget", [500, 900, 3000])
async def test_an_answer_keeps_its_budget_whole_with_titles_and_notes(library, world, budget):
    names = [one.pmid for one in world.papers if one.pmid][:20]
    asked = {"papers": names, "budget_tokens": budget}
    for _ in range(20):
        structure = (await call(library, "read_papers", asked)).structured_content
        assert (
            estimate_cost({k: v for k, v in structure.items() if k != "untrusted"}) <= 1.02 * budget
        )
        if not (cursor := structure.get("next_cursor")):
            break
        asked["cursor"] = cursor
    assert not cursor


async def test_papers_that_come_later_are_read_by_the_cursor_and_none_twice(
    library, world, monkeypatch
):
    """A call that answered with some papers was followed by one that sent all of them again."""
    monkeypatch.setattr(tool, "MAX_ANSWER_S", 0.2)
    monkeypatch.setattr(tool, "_PROGRESS_INTERVAL_S", 0.05)
    here = [world.paper("pmc_cloud").pmid]
    later = [world.paper(branch).pmid for branch in ("publisher_pdf", "europepmc_only")]
    library.download(here[0])
    gate, download_many = threading.Event(), Library.download_many

    def held_back(*args, **options):
        assert gate.wait(60)
        return download_many(*args, **options)

    monkeypatch.setattr(Library, "download_many", held_back)
    asked = {"papers": [*here, *later], "budget_tokens": 3000}
    first = (await call(library, "read_papers", asked)).structured_content
    assert [row["paper"] for row in first["papers"]] == here
    assert first["downloading"] == later
    assert estimate_cost(first) <= 1.02 * 3000 / 3  # the others keep their share
    gate.set()
    asked["cursor"] = first["next_cursor"]
    rows = []
    while "cursor" in asked:
        more = (await call(library, "read_papers", asked)).structured_content
        rows += more["papers"]
        asked["cursor"] = more.get("next_cursor")
        if not asked["cursor"]:
            del asked["cursor"]
    assert sorted(row["paper"] for row in rows) == sorted(later)
    assert all(row["parts"] for row in rows)
    other = {"papers": later, "cursor": first["next_cursor"]}
    assert (await call(library, "read_papers", other)).is_error
