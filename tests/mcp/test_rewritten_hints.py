"""What a host is advised to do next are tools it has; a shell is for a person, and comes last."""

import json

import pytest

from tests.mcp.calling import answer, call
from utils import Library
from utils.mcp.hints import HintRewriter
from utils.system.plain_text import clean_text

pytestmark = pytest.mark.anyio
TOOLSETS = ("core", "rag")
TOOLS = ("download_papers", "pubmed_sync_delta", "read_paper")
MISSING = "Found by words alone: No model is here. Run `uv sync --inexact --extra embed`."


@pytest.mark.parametrize(
    ("hint", "told"),
    [
        ("Fill it: uv run server.py corpus sync KEY TERM, then uv run server.py corpus index.",
         "Fill it: pubmed_sync_delta."),
        ("Download it first: uv run server.py download doi:10.1/a.b.",
         "Download it first: download_papers(papers=[\"doi:10.1/a.b\"])."),
        ("Sync records about it (uv run server.py corpus sync).",
         "Sync records about it (pubmed_sync_delta)."),
        ("Run `uv run server.py read pmid:1`.", "Run read_paper(paper=\"pmid:1\")."),
        ("Who issued it: uv run server.py setup doctor.",
         "For the user, in a shell: Who issued it: uv run server.py setup doctor."),
        ("To list the names: uv run server.py read pmid:1 --source",
         "For the user, in a shell: To list the names: uv run server.py read pmid:1 --source"),
        ("Find it: uv run server.py corpus find.",
         "For the user, in a shell: Find it: uv run server.py corpus find."),
        ("Give one of pmid, doi.", "Give one of pmid, doi."),
    ],
)  # fmt: skip
def test_a_command_becomes_the_tool_that_is_loaded(hint, told):
    assert HintRewriter(TOOLS).rewrite_hints([hint]) == [told]


def test_what_only_a_person_can_do_comes_last():
    told = HintRewriter(TOOLS).rewrite_hints(
        ["Look: uv run server.py setup doctor.", "Try again in a minute."]
    )
    assert told[0] == "Try again in a minute."


async def test_an_error_advises_tools_first(library):
    result = await call(library, "read_paper", {"paper": "41000001"})
    error = json.loads(result.content[0].text)["error"]
    assert error["suggestions"] == ['Download it first: download_papers(papers=["pmid:41000001"]).']
    assert result.meta["error"]["suggestions"] == error["suggestions"]


async def test_what_could_be_installed_is_mentioned_once(library, world, monkeypatch):
    library.download(world.paper("pmc_cloud").pmid)
    for _ in library.corpus.index():
        pass
    monkeypatch.setattr(
        type(library.corpus.embedder), "explain_unavailable", lambda self: MISSING[22:]
    )
    asked = {"query": "progenitors slices"}
    told = [await answer(library, "rag_search", **asked) for _ in range(3)]
    notices = ["uv sync" in json.dumps(one["warnings"]) for one in told]
    assert notices == [True, False, False]
    assert all("words alone" in json.dumps(one["warnings"]) for one in told)
    library.corpus.finder.close()
    library.corpus.database.close()


DECEPTIVE = "41000001\x1b[2J\x9b\u202e\x07"


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("cite_papers", {"papers": ["41000001", DECEPTIVE]}),
        ("download_papers", {"papers": ["41000001", DECEPTIVE]}),
        ("read_papers", {"papers": ["41000001", DECEPTIVE]}),
        ("convert_ids", {"papers": ["41000001", DECEPTIVE]}),
        ("download_paper", {"pmid": DECEPTIVE}),
        ("read_paper", {"paper": DECEPTIVE}),
        ("list_papers", {"text": DECEPTIVE}),
        ("search_pubmed", {"query": DECEPTIVE}),
        ("search_papers", {"query": "moss", "sources": [DECEPTIVE]}),
        ("cite_papers", {"papers": ["41000001"], "style": DECEPTIVE}),
        ("harvest_status", {"job_id": DECEPTIVE}),
        ("search_pubmed", {"query": "moss", "min_date": DECEPTIVE}),
        ("spell_check", {"query": DECEPTIVE}),
        ("match_citations", {"citations": [{"journal": "Cells", "key": DECEPTIVE}]}),
        ("verify_quotes", {"quotes": [{"text": DECEPTIVE, "paper": DECEPTIVE}]}),
        ("rag_search", {"query": DECEPTIVE}),
        ("entrez_query", {"operation": "search", "database": DECEPTIVE, "query": "moss"}),
        ("entrez_tool_info", {"tool_name": DECEPTIVE}),
        ("check_manuscript", {"text": f"So [@{DECEPTIVE}]."}),
    ],
)
async def test_no_control_character_of_an_argument_is_said_again(settings, tool, arguments):
    every = Library(**settings, mcp_toolsets=("all",))
    result = await call(every, tool, arguments)
    shown = [block.text for block in result.content if block.type == "text"]
    shown.append(json.dumps(result.structured_content, ensure_ascii=False))
    assert [clean_text(text) for text in shown] == shown
    every.shelf.close()
