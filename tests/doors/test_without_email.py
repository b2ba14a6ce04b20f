"""Without an address of the user's own all works that asks nobody who wants one."""

import json
import sys
from pathlib import Path

import pytest
from fastmcp import Client
from fastmcp.client.transports import StdioTransport

from tests.mcp.calling import answer, call
from utils import Library, cli
from utils.errors import NotConfigured

SERVER = str(Path(__file__).resolve().parents[2] / "server.py")
ADDRESSES = {"missing": "", "a placeholder": "you@example.com", "none": "nobody"}
addresses = pytest.mark.parametrize("email", ADDRESSES.values(), ids=ADDRESSES.keys())


@pytest.fixture
def filled(library, world):
    """The PMID of a paper on the shelf."""
    pmid = world.paper("pmc_cloud").pmid
    library.download(pmid)
    world.reset()
    return pmid


@pytest.fixture
def shell(settings, monkeypatch, capsys):
    """A command with ``--json`` and another address: exit status and rows."""

    def run(email, *words):
        for name, value in {**settings, "pubmed_email": email}.items():
            monkeypatch.setenv(name.upper(), str(value))
        status = cli.main([*words, "--json"])
        return status, [json.loads(line) for line in capsys.readouterr().out.splitlines()]

    return run


@addresses
def test_verbs_that_ask_nobody_work(shell, filled, email):
    assert shell(email, "list") == shell("tester@lab.edu", "list")
    assert shell(email, "list")[0] == 0
    assert shell(email, "read", filled)[0] == 0
    assert shell(email, "status")[0] == 0
    assert shell(email, "cite", filled)[0] == 0
    assert shell(email, "export")[0] == 0
    assert shell(email, "index")[0] == 0
    assert shell(email, "find", "marrow")[0] == 0


@addresses
@pytest.mark.parametrize(
    "words",
    [
        ["search", "coral"], ["download", "39999999"], ["harvest", "coral"], ["related", "1"],
        ["sync", "k", "coral"], ["stage", "gene", "BRCA1"], ["cite", "39999999"], ["recheck"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_verbs_that_need_one_say_so_at_once(shell, filled, world, email, words):
    status, [row] = shell(email, *words)
    assert (status, row["error"]["code"]) == (2, "VALIDATION")
    assert "PUBMED_EMAIL" in row["error"]["message"]
    assert "PUBMED_EMAIL" in row["error"]["suggestions"][0]
    assert not world.requests


@addresses
def test_python(settings, world, filled, email):
    library = Library(**{**settings, "pubmed_email": email})
    assert library.read(filled).text
    with pytest.raises(NotConfigured, match="PUBMED_EMAIL"):
        library.search("coral")
    assert not world.requests


@pytest.mark.anyio
@addresses
async def test_the_server_starts_and_its_tools_say_what_is_missing(settings, world, filled, email):
    environment = {name.upper(): str(value) for name, value in settings.items()}
    transport = StdioTransport(
        sys.executable, [SERVER], env={**environment, "PUBMED_EMAIL": email, "MCP_TOOLSETS": "all"}
    )
    async with Client(transport) as client:
        read = await client.call_tool("read_paper", {"paper": filled})
        assert read.structured_content["text"]
        listed = await client.call_tool("list_papers", {})
        assert listed.structured_content["total"] == 1
        needing = {
            "search_pubmed": {"query": "coral"},
            "download_paper": {"pmid": "39999999"},
            "harvest_papers": {"query": "coral"},
            "entrez_query": {"operation": "search", "term": "coral"},
            "pubmed_sync_delta": {"query_key": "k", "term": "coral"},
        }
        for tool, arguments in needing.items():
            refused = await client.call_tool(tool, arguments, raise_on_error=False)
            assert refused.is_error
            error = json.loads(refused.content[0].text)["error"]
            assert error["code"] == "VALIDATION"
            assert "PUBMED_EMAIL" in error["message"]
            assert error["suggestions"]
    assert not world.requests


@pytest.mark.anyio
async def test_who_asks_for_no_address_is_asked_without_one(settings, world):
    library = Library(**{**settings, "pubmed_email": "", "mcp_toolsets": ("literature",)})
    assert (await answer(library, "search_arxiv", query="nucleation"))["total"]
    merged = await call(library, "search_papers", {"query": "nucleation"})
    outcomes = {one["source"]: one for one in merged.structured_content["sources"]}
    assert outcomes["arxiv"]["outcome"] == "answered"
    assert "PUBMED_EMAIL" in outcomes["pubmed"]["message"]
