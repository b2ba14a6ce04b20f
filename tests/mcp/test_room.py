"""No list is longer than an answer's room, and whoever follows next_start gets every row once."""

import re

import pytest

from tests.mcp.calling import answer, call, without_mark
from tests.world import World
from utils import Library
from utils.mcp import answers
from utils.mcp.answers import ANSWER_MAX_TOKENS, limit_rows, render_structure

pytestmark = pytest.mark.anyio
TOOLSETS = ("all",)
# Answers with several rows in the stand-in internet, and the member they stand in.
CALLS = {
    "search_pubmed": ({"query": "2025[dp]", "max_results": 30}, "papers"),
    "search_pubmed_minimal": ({"query": "2025[dp]", "max_results": 30}, "papers"),
    "search_papers": ({"query": "coral", "abstracts": True}, "papers"),
    "search_arxiv": ({"query": "cells", "max_results": 30}, "papers"),
    "search_semantic_scholar": ({"query": "the", "max_results": 30}, "papers"),
    "list_papers": ({}, "papers"),
    "rag_search": ({"query": "measured groups and controls", "top_k": 20}, "results"),
}


size = answers.estimate_tokens
LARGEST = 25_000  # tokens of an answer that Claude Code takes
# What o200k counts (gpt-tokenizer 4.0.0 of npm) in the JSON of each.
COUNTED = {
    161: [str(31452104 + number * 7919) for number in range(40)],
    36: "Loss of homing of progenitors lowered heparan sulphate to 44% of the control, and adding"
    " it back restored receptor dimers in the same lateral lines.",
    31: {"pmid": "31452104", "pmcid": "PMC6776410", "doi": "10.1371/journal.pone.0111303"},
    37: "ACGTTGCATGCCGATAGCTTAGCGATCGATTTAGCGCGATATCCGGATATCGCGGCTAACGTTTAGC",
    27: "骨髓切片中趋化因子受体信号引导祖细胞迁移的研究进展",
}


@pytest.mark.parametrize("count", COUNTED)
def test_tokens_are_about_what_a_model_counts(count):
    assert 0.95 * count <= size(COUNTED[count]) <= 1.3 * count


def test_a_list_of_numbers_is_one_that_hosts_take_as_text_too():
    """Models count each three figures, each sign between them, and in text the blanks as well."""
    rows = [[number * 104_729 % 9_999_991, number * 0.7351, number % 30] for number in range(5_000)]
    cut = limit_rows({"rows": rows, "next_start": None}, "rows", 0)
    assert cut["next_start"] == len(cut["rows"])
    text = render_structure(cut, untrusted=True)
    figures = len(re.findall(r"\d{1,3}", text))
    assert figures + text.count(" ") + text.count(".") <= LARGEST


@pytest.fixture
def stocked(library, world):
    for name in ("pmc_cloud", "abstract_only", "europepmc_only"):
        library.download(world.paper(name).pmid)
    for _ in library.corpus.index():
        pass
    yield library
    library.corpus.finder.close()
    library.corpus.database.close()


@pytest.mark.parametrize("tool", CALLS)
async def test_whoever_follows_next_start_gets_every_row_once(stocked, monkeypatch, tool):
    arguments, rows = CALLS[tool]
    whole = await answer(stocked, tool, **arguments)
    assert len(whole[rows]) > 1, "a list of one row cannot be cut"
    rest = size(whole) - sum(map(size, whole[rows])) + max(map(size, whole[rows])) * 3 // 2 + 60
    monkeypatch.setattr(answers, "ANSWER_MAX_TOKENS", rest)
    seen, start, pages = [], 0, 0
    while start is not None and len(seen) < len(whole[rows]):
        page = await answer(stocked, tool, **arguments, start=start)
        assert page[rows]
        assert len(page[rows]) == 1 or size(page) <= rest
        assert page.get("total") == whole.get("total")
        seen += page[rows]
        start, pages = page.get("next_start"), pages + 1
    assert seen[: len(whole[rows])] == whole[rows]
    assert pages > 1


async def test_a_thousand_hits_come_in_answers_that_hosts_take(settings, tmp_path):
    with World(crowd=1_000) as world:
        addresses = {name.lower(): value for name, value in world.environment().items()}
        library = Library(**{**settings, **addresses})
        seen, start = [], 0
        while start is not None:
            asked = {"query": "crowd[ti]", "max_results": 1_000, "start": start}
            result = await call(library, "search_pubmed", asked)
            page = without_mark(result)
            assert size(page) <= ANSWER_MAX_TOKENS
            assert size(result.content[0].text) <= ANSWER_MAX_TOKENS
            assert page["total"] == 1_000
            seen += [paper["pmid"] for paper in page["papers"]]
            start = page["next_start"]
        library.shelf.close()
    assert len(seen) == len(set(seen)) == 1_000


async def test_who_gives_a_list_is_told_to_send_the_rest(library, world, monkeypatch):
    pmids = [paper.pmid for paper in world.papers if paper.pmid][:12]
    monkeypatch.setattr(answers, "ANSWER_MAX_TOKENS", 600)
    cited, left = [], pmids
    while left:
        page = await answer(library, "cite_papers", papers=left, style="bibtex")
        assert size(page) <= 600
        cited += [row["paper"] for row in page["references"]]
        left = left[len(page["references"]) :]
        assert bool(left) == bool(page.get("warnings"))
    assert cited == pmids


async def test_summaries_that_do_not_fit_are_to_be_had_elsewhere(library, world, monkeypatch):
    monkeypatch.setattr(answers, "ANSWER_MAX_TOKENS", 500)
    asked = {"query_term": "2025[dp]", "fetch_brief_summaries": 30}
    found = await answer(library, "search_pubmed_articles", **asked)
    assert 0 < len(found["brief_summaries"]) < len(found["pmids"])
    assert "fetch_article_details has the others" in found["warnings"][-1]


async def test_a_paper_of_thousands_of_authors_takes_one_row(library, world, monkeypatch):
    from dataclasses import replace

    from utils.model.paper import Author

    search = Library.search

    def of_a_collaboration(self, *args, **options):
        found = search(self, *args, **options)
        many = tuple(Author(f"Author{number}", "A") for number in range(3_000))
        return replace(found, papers=tuple(replace(one, authors=many) for one in found.papers))

    monkeypatch.setattr(Library, "search", of_a_collaboration)
    found = await answer(library, "search_pubmed", query="coral")
    assert found["papers"][0]["authors"].endswith("… and 2,900 more")
    assert size(found) < ANSWER_MAX_TOKENS


def test_one_row_is_shown_however_long_it_is():
    structure = {"total": 2, "rows": [{"a": "x" * 100_000}, {"a": "y"}], "next_start": None}
    cut = limit_rows(structure, "rows", 7)
    assert (len(cut["rows"]), cut["next_start"], cut["total"]) == (1, 8, 2)
    assert limit_rows({**structure, "rows": []}, "rows", 0)["rows"] == []


async def test_the_shelf_as_a_resource_says_what_shows_the_rest(library, world, monkeypatch):
    from utils.mcp.resources import _describe_shelf

    for paper in world.papers[:6]:
        library.download(paper.pmid or paper.doi)
    monkeypatch.setattr(answers, "ANSWER_MAX_TOKENS", 250)
    row = _describe_shelf(library)
    assert row["more"] == f"list_papers(start={row['shown']})"
    assert 0 < row["shown"] == len(row["papers"]) < row["total"]
