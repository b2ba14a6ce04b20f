"""A tour of both protocol eras: a tool of every toolset, a refusal, a resource and a prompt.

The other tests of tools speak the newest protocol only. ``tests/clients`` calls everything, with
official clients.
"""

import jsonschema
import pytest
from fastmcp import Client

from utils import Library
from utils.mcp import build

pytestmark = [pytest.mark.anyio, pytest.mark.story]
ERAS = pytest.mark.parametrize("mode", ["auto", "legacy"])


def stops(paper):
    """Return a call for each toolset, in an order in which each has what it needs."""
    return (
        ("search_pubmed", {"query": "CXCL12"}), ("download_paper", {"pmid": paper.pmid}),
        ("read_paper", {"paper": paper.pmid}), ("convert_ids", {"papers": [paper.pmid]}),
        ("search_arxiv", {"query": "nucleation"}),
        ("corpus_checkpoint_get", {"query_key": "corals"}),
        ("paper_objects", {"paper": paper.pmid}),
        ("check_manuscript", {"text": "Corals bleach (Doe 2020)."}),
        ("entrez_query", {"operation": "search", "query": "CXCL12"}), ("entrez_capabilities", {}),
    )  # fmt: skip


@ERAS
async def test_a_tool_of_every_toolset_answers(settings, world, mode):
    library = Library(**settings, mcp_toolsets=("all",), embeddings_provider="none")
    async with Client(build(library), mode=mode) as client:
        schemas = {tool.name: tool.output_schema for tool in await client.list_tools()}
        for name, arguments in stops(world.paper("pmc_cloud")):
            result = await client.call_tool(name, arguments)
            jsonschema.validate(result.structured_content, schemas[name])
            assert result.content[0].text, name
        refused = await client.call_tool("read_paper", {"paper": "9" * 8}, raise_on_error=False)
        assert refused.is_error
        assert refused.meta["error"]["code"] == "NOT_FOUND"
        [page] = await client.read_resource("papers://index")
        assert world.paper("pmc_cloud").pmid in page.text
        prompts = await client.list_prompts()
        filled = await client.get_prompt(prompts[0].name, {"topic": "corals"})
        assert "corals" in filled.messages[0].content.text
    library.shelf.close()
