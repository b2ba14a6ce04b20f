"""Nothing found is an answer, with a total of 0, and never the caller's mistake."""

import json

import pytest

from tests.corpus.small_corpus import LetterEmbedder
from tests.mcp.calling import answer, call
from utils import Library, cli
from utils.model.paper import NO_HITS

pytestmark = pytest.mark.anyio
WORDS = ["zzqqx", '"qwertz jklm"[ti]', "zzqqx AND yyppw"]
SEARCHES = {
    "search_pubmed": ("query", "papers", "total"),
    "search_pubmed_minimal": ("query", "papers", "total"),
    "search_pubmed_articles": ("query_term", "pmids", "total_found"),
    "search_papers": ("query", "papers", ""), "search_arxiv": ("query", "papers", "total"),
    "search_semantic_scholar": ("query", "papers", "total"),
    "lookup_mesh": ("term", "terms", "total"), "list_papers": ("text", "papers", "total"),
}  # fmt: skip


@pytest.fixture
def library(settings):
    library = Library(**settings, mcp_toolsets=("all",))
    library.corpus.__dict__["embedder"] = LetterEmbedder()
    yield library
    library.corpus.database.close()
    library.shelf.close()


@pytest.mark.parametrize("words", WORDS)
@pytest.mark.parametrize(("tool", "names"), SEARCHES.items(), ids=SEARCHES.keys())
async def test_tools(library, tool, names, words):
    argument, listed, total = names
    if tool == "search_arxiv":
        words = "zzqqx"
    found = await answer(library, tool, **{argument: words})
    assert found[listed] == []
    assert not total or found[total] == 0
    assert tool == "list_papers" or NO_HITS in found["warnings"]


@pytest.mark.parametrize("word", ["zzqqx", "yyppw"])
async def test_entrez(library, word):
    found = await answer(
        library, "entrez_query", operation="search", database="gene", term=f"{word}[sonnet]"
    )
    assert (found["total"], found["ids"]) == (0, [])
    assert any(word in warning for warning in found["warnings"])
    nothing = {"operation": "fetch_and_stage", "database": "gene", "term": word}
    missed = await answer(library, "entrez_data", **nothing)
    assert missed["total"] == 0
    assert any(word in warning for warning in missed["warnings"])
    compounds = await answer(library, "entrez_external", operation="compounds", query=word)
    assert compounds["total"] == 0
    assert compounds["warnings"]


async def test_rag_search(library, world):
    record = world.paper("pmc_cloud")
    await answer(library, "pubmed_sync_delta", query_key="k", term=f"{record.pmid}[uid]")
    filters = {"year_from": 1900, "year_to": 1901}
    found = await answer(library, "rag_search", query="marrow", filters=filters)
    assert found["results"] == []
    assert "Years: 1900 to 1901 leaves no passages" in found["warnings"][0]


async def test_a_harvest_without_such_papers(library, world):
    ids = [world.paper("pmc_cloud").pmid]
    job = (await answer(library, "harvest_papers", ids=ids))["job_id"]
    state = ""
    while state in ("", "running"):
        standing = await answer(library, "harvest_status", job_id=job, wait_s=20, show="paywall")
        state = standing["state"]
    assert standing["papers"] == []
    refused = await call(library, "harvest_status", {"job_id": job, "show": "horoscope"})
    assert refused.meta["error"]["code"] == "VALIDATION"
    nothing = await answer(library, "harvest_papers", query="zzqqx")
    assert (nothing["job_id"], nothing["counts"]) == ("", {"requested": 0})
    assert any("zzqqx" in step for step in nothing["next"])


@pytest.mark.parametrize(
    "words",
    [
        ["search", "zzqqx"],
        ["list", "zzqqx"],
        ["status"],
        ["datasets"],
        ["harvest", "zzqqx"],
        ["harvest", "zzqqx", "--plan"],
        ["stage", "gene", "zzqqx"],
    ],
)
def test_the_shell(settings, monkeypatch, capsys, words):
    for name, value in settings.items():
        monkeypatch.setenv(name.upper(), str(value))
    assert cli.main([*words, "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert not any("error" in row for row in rows)
