"""What a host can read: the server's state, PubMed's numbers, the shelf, and nothing else."""

import json

import pytest
from fastmcp import Client
from mcp import MCPError
from mcp.types import PromptReference, ResourceTemplateReference

from utils import Library
from utils.entrez import Entrez
from utils.errors import NotConfigured, Unreachable
from utils.http import Answer
from utils.mcp import build
from utils.mcp.answers import UNTRUSTED_NOTICE, fence_untrusted
from utils.sources import eutils

pytestmark = pytest.mark.anyio
ERAS = pytest.mark.parametrize("mode", ["auto", "legacy"])


async def read(library, uri, mode="auto"):
    async with Client(build(library), mode=mode) as client:
        [content] = await client.read_resource(uri)
        return content


async def told(library, uri, mode="auto"):
    content = await read(library, uri, mode)
    assert content.mime_type == "application/json"
    return json.loads(content.text)


@ERAS
async def test_what_there_is_to_read(library, mode):
    async with Client(build(library), mode=mode) as client:
        listed = [one for one in await client.list_resources() if "skill://" not in str(one.uri)]
        fixed = {str(one.uri): one for one in listed}  # skills: test_skills.py
        named = {one.uri_template: one for one in await client.list_resource_templates()}
    assert set(fixed) == {
        "pubmed-connect://info",
        "pubmed-connect://stats/pubmed",
        "papers://index",
    }
    assert set(named) == {
        "papers://report/{job_id}",
        "resource://pubmed/paper/{pmid}",
        "papers://{key}",
    }
    for one in (*fixed.values(), *named.values()):
        assert one.title
        assert one.mime_type


@ERAS
async def test_the_state_is_true(library, world, mode):
    info = await told(library, "pubmed-connect://info", mode)
    state = info["operational_status"]
    assert (state["ncbi_status"], state["last_ncbi_connectivity_check"]) == ("unknown", None)
    assert not world.requests  # asking how it went asks nobody
    library.search("coral")
    state = (await told(library, "pubmed-connect://info", mode))["operational_status"]
    assert (state["ncbi_status"], state["internal_queue_length"]) == ("nominal", 0)
    assert state["last_ncbi_connectivity_check"] == state["last_ncbi_answer"]
    assert info["contact_email"] == "tester@lab.edu"
    assert info["ncbi_compliance"]["api_usage_status"] == "no NCBI API key"


async def state(library):
    return (await told(library, "pubmed-connect://info"))["operational_status"]


async def test_offline_nobody_was_asked_and_nothing_failed(settings, world):
    library = Library(**settings, papers_offline=True)
    with pytest.raises(Unreachable):
        library.search("coral")
    now = await state(library)
    assert (now["ncbi_status"], now["last_ncbi_connectivity_check"]) == ("offline", None)
    assert "PAPERS_OFFLINE" in now["ncbi_trouble"]


async def test_without_an_address_ncbi_is_not_asked(settings, world):
    library = Library(**{**settings, "pubmed_email": ""})
    with pytest.raises(NotConfigured):
        library.search("coral")
    now = await state(library)
    assert (now["ncbi_status"], now["last_ncbi_connectivity_check"]) == ("refused", None)
    assert "PUBMED_EMAIL" in now["ncbi_trouble"]


@pytest.mark.parametrize(
    ("mood", "seconds", "status"),
    [("storm", 600, "busy"), ("down", 0, "unreachable"), ("reset", 0, "unreachable")],
)
async def test_what_keeps_ncbi_from_answering_is_told_apart(library, world, mood, seconds, status):
    world.mood(mood, "eutils", seconds=seconds)
    with pytest.raises(Unreachable):
        library.search("coral")
    assert (await state(library))["ncbi_status"] == status


async def test_a_refused_key_and_a_closed_door_are_refusals(library, world, monkeypatch):
    answer = Answer(200, "127.0.0.1", b'{"error":"API key invalid"}', "application/json")
    monkeypatch.setattr(library.web, "get", lambda *_, check, **__: check(answer))
    with pytest.raises(NotConfigured):
        library.search("coral")
    assert (await state(library))["ncbi_status"] == "refused"

    def closed(*_, **__):
        raise Unreachable("127.0.0.1 answered 403.", status=403, retry_after=2.0)

    monkeypatch.setattr(library.web, "get", closed)
    with pytest.raises(Unreachable):
        library.search("coral")
    assert (await state(library))["ncbi_status"] == "refused"


async def test_each_answered_try_counts_and_the_last_one_stands(library, world, monkeypatch):
    seen = []
    note = eutils._update_state

    def noted(web, status="", *words, **more):
        note(web, status, *words, **more)
        seen.append(library.entrez.contact().status)

    monkeypatch.setattr(eutils, "_update_state", noted)
    world.mood("empty", "eutils", times=1)
    library.search("coral")
    assert "unreachable" in seen
    assert (await state(library))["ncbi_status"] == "nominal"


async def test_who_waits_is_counted_in_this_process_and_says_so(library, world, monkeypatch):
    counted = []
    get = library.web.get
    monkeypatch.setattr(
        library.web,
        "get",
        lambda *a, **o: counted.append(library.entrez.contact().waiting) or get(*a, **o),
    )
    library.search("coral")
    assert set(counted) == {1}
    now = await state(library)
    assert now["internal_queue_length"] == 0
    assert "this process" in now["internal_queue_scope"]


async def test_a_key_is_told_of_but_not_told(settings, world):
    library = Library(**settings, ncbi_api_key="SECRET123")
    content = await read(library, "pubmed-connect://info")
    assert "NCBI API key in use" in content.text
    assert "SECRET123" not in content.text


@ERAS
async def test_pubmed_in_numbers(library, world, mode):
    stats = await told(library, "pubmed-connect://stats/pubmed", mode)
    assert stats["total_record_count"] > 20
    assert stats["last_update"] == "2026-11-20T07:00"
    names = {field["name"]: field for field in stats["available_search_fields"]}
    assert names["PDAT"]["is_date"] is True
    assert "UID" not in names  # hidden: nobody can search it
    assert {"pubmed_pubmed_citedin"} <= {one["name"] for one in stats["available_link_names"]}
    assert stats["e_info_url"].endswith("einfo.fcgi?db=pubmed&retmode=json")


@ERAS
async def test_a_record_of_pubmed(library, world, mode):
    pmid = world.paper("pmc_cloud").pmid
    content = await read(library, f"resource://pubmed/paper/{pmid}", mode)
    assert json.loads(content.text)["doc_id"] == f"pmid:{pmid}"
    assert content.meta["untrusted"] is True


@ERAS
async def test_the_shelf_and_a_paper_on_it(library, world, mode):
    assert await told(library, "papers://index", mode) == {
        "untrusted": UNTRUSTED_NOTICE, "total": 0, "shown": 0, "more": "", "papers": [],
    }  # fmt: skip
    record = world.paper("pmc_cloud")
    library.download(record.pmid)
    before = len(world.requests)
    index = await told(library, "papers://index", mode)
    [entry] = index["papers"]
    assert (entry["pmid"], entry["kind"]) == (record.pmid, "full_text")
    doi = record.doi.replace("/", "%2F")
    for uri in (
        entry["uri"],
        f"papers://{record.pmid}",
        f"papers://{record.pmcid}",
        f"papers://{doi}",
    ):
        content = await read(library, uri, mode)
        assert content.mime_type == "text/markdown"
        assert content.text == fence_untrusted(library.read(record.pmid, max_chars=50_000).text)
        assert content.meta["untrusted"] is True
    assert len(world.requests) == before


async def test_a_long_paper_says_where_it_goes_on(library, world, monkeypatch):
    monkeypatch.setattr("utils.mcp.resources._READ_MAX_CHARS", 700)
    pmid = world.paper("pmc_cloud").pmid
    library.download(pmid)
    content = await read(library, f"papers://{pmid}")
    assert len(content.text) < 3000
    assert "[It goes on: read_paper with start=" in content.text


async def test_a_report_is_not_taken_for_a_paper(library, world):
    harvest = library.harvest([world.paper("pmc_cloud").pmid])
    for _ in harvest:
        pass
    content = await read(library, f"papers://report/{harvest.job_id}")
    assert content.text.startswith("<!doctype html>")
    harvest.ledger.close()


OUTSIDE = (
    "../secret.txt", "..%2Fsecret.txt", "%2e%2e%2fsecret.txt", "..%5Csecret.txt", "%2Fetc%2Fpasswd",
    "%2E%2E/secret.txt", "a%00b", ".papershelf%2Fcatalogue.db", "catalogue.db", "....%2F%2Fsecret",
    "..%252Fsecret.txt", "file%3A%2F%2F%2Fetc%2Fpasswd", "~%2Fsecret.txt", "link", "link.txt",
)  # fmt: skip


@pytest.mark.parametrize("key", OUTSIDE)
async def test_no_address_leads_out_of_the_shelf(library, world, tmp_path, key):
    library.download(world.paper("pmc_cloud").pmid)
    (tmp_path / "secret.txt").write_text("the secret", encoding="utf-8")
    (tmp_path / "papers" / "link.txt").symlink_to(tmp_path / "secret.txt")
    async with Client(build(library)) as client:
        with pytest.raises(MCPError) as refused:
            await client.read_resource(f"papers://{key}")
    assert "the secret" not in str(refused.value)
    assert str(tmp_path) not in str(refused.value)


MISSES = {
    "unknown paper": ("resource://pubmed/paper/39999999", "no record"),
    "malformed number": ("resource://pubmed/paper/abc", "not a valid PMID"),
    "not on the shelf": ("papers://39999999", "not on the shelf"),
    "unknown job": ("papers://report/no-such-job", "no-such-job"),
    "traversal": ("papers://..%2Fsecret.txt", "nothing at"),
    "unknown address": ("pubmed-connect://nonsense", "nothing at"),
}


@ERAS
@pytest.mark.parametrize(("uri", "said"), MISSES.values(), ids=MISSES.keys())
async def test_what_is_not_there_is_not_found_in_words(library, world, caplog, mode, uri, said):
    caplog.set_level("DEBUG")
    async with Client(build(library), mode=mode) as client:
        with pytest.raises(MCPError, match=said) as missed:
            await client.read_resource(uri)
    assert missed.value.code == (-32602 if mode == "auto" else -32002)
    told = missed.value.data
    assert told["uri"] == uri
    assert told["error"]["code"] in {"NOT_FOUND", "VALIDATION"}
    assert said in told["error"]["message"]
    assert told["error"]["suggestions"]
    assert not [line for line in caplog.records if line.exc_info]
    assert not [line for line in caplog.records if line.levelname in {"WARNING", "ERROR"}]


@ERAS
async def test_a_site_in_trouble_is_no_missing_resource(library, world, caplog, mode):
    world.mood("down", "eutils")
    async with Client(build(library), mode=mode) as client:
        with pytest.raises(MCPError, match="503") as missed:
            await client.read_resource("pubmed-connect://stats/pubmed")
    assert missed.value.code == -32603
    assert missed.value.data["error"]["code"] == "UPSTREAM"
    assert missed.value.data["error"]["suggestions"]
    assert not [line for line in caplog.records if line.exc_info]


async def test_a_bug_is_masked(library, world, monkeypatch):
    monkeypatch.setattr(Entrez, "info", lambda *_: 1 / 0)
    async with Client(build(library)) as client:
        with pytest.raises(MCPError) as refused:
            await client.read_resource("pubmed-connect://stats/pubmed")
    assert "division" not in str(refused.value)
    assert refused.value.data["error"]["code"] == "UNKNOWN"


@ERAS
async def test_names_on_the_shelf_are_suggested(library, world, mode):
    records = [world.paper("pmc_cloud"), world.paper("retracted")]
    for record in records:
        library.download(record.pmid)
    harvest = library.harvest([records[0].pmid])
    harvest.ledger.close()
    async with Client(build(library), mode=mode) as client:

        async def suggested(template, name, begun):
            reference = ResourceTemplateReference(type="ref/resource", uri=template)
            found = await client.complete(reference, {"name": name, "value": begun})
            return found.values

        pmids = await suggested("resource://pubmed/paper/{pmid}", "pmid", "")
        assert sorted(pmids) == sorted(record.pmid for record in records)
        assert await suggested("papers://{key}", "key", "pmc91000010") == []
        assert await suggested("papers://{key}", "key", "pmc9100001") == [records[0].pmcid]
        assert len(await suggested("papers://{key}", "key", "10.")) == 2
        assert harvest.job_id in await suggested("papers://report/{job_id}", "job_id", "")
        prompt = PromptReference(type="ref/prompt", name="literature_review")
        found = await client.complete(prompt, {"name": "topic", "value": "x"})
        assert found.values == []
