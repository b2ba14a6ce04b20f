"""Toolset ``rag`` as a host meets it, held against the schemas of its own document."""

import json
import os
import threading
from contextlib import ExitStack
from pathlib import Path

import jsonschema
import pytest
from fastmcp import Client
from pydantic import SecretStr

from tests.corpus.small_corpus import LetterEmbedder, fill, paper, passage
from tests.endpoint import Endpoint
from tests.mcp.calling import answer, call
from tests.shelf.papers import save
from utils import Library
from utils.corpus.index import IndexProgress
from utils.corpus.sync_jobs import SyncJob
from utils.errors import EmbeddingsFailed, WeaviateFailed
from utils.mcp import build, rag
from utils.mcp.answers import UNTRUSTED_NOTICE
from utils.mcp.rag import IndexUpdater
from utils.model.identifiers import Ids

pytestmark = pytest.mark.anyio
# Cut out of the document, word for word.
DOCUMENT = json.loads(
    (Path(__file__).parent / "corpus_document_schemas.json").read_text(encoding="utf-8")
)
NAMES = {
    "pubmed_sync_delta": "pubmed.sync_delta", "rag_search": "rag.search", "rag_get": "rag.get",
    "corpus_checkpoint_get": "corpus.checkpoint.get",
    "corpus_checkpoint_set": "corpus.checkpoint.set",
}  # fmt: skip
# What the contract lets an answer say besides.
MORE = {"text", "section", "start", "end", "title", "file", "kind", "version"}
SECRET = "a secret of more than thirty-two bytes, for tests"
TRIAL = ("Randomized Controlled Trial", "Journal Article")


@pytest.fixture
def library(settings):
    library = Library(**settings, mcp_toolsets=("rag",))
    library.corpus.__dict__["embedder"] = LetterEmbedder()
    yield library
    library.corpus.finder.close()
    library.corpus.database.close()
    library.shelf.close()


def reef(library):
    return fill(
        library.corpus,
        [
            paper("11", abstract="Corals bleach.", publication_types=TRIAL, mesh=("Humans",)),
            paper("12", journal="", published="", entered="", revised="", publication_types=()),
            paper("13", publication_types=("Journal Article", "Retracted Publication")),
        ],
        [
            passage("pmid:11", "Corals bleach when the water of the reef is warm for weeks."),
            passage("pmid:12", "Bleaching of corals was seen.", year=1999, journal="Old"),
            passage("pmid:13", "Corals never bleach.", retracted=True),
        ],
    )


PROOF = ("members", "members_at_pubmed")  # that nothing lacks, said besides


def as_written(tool, row, more=()):
    """Hold an answer against the document, without what may be said besides."""
    jsonschema.validate(
        {name: value for name, value in row.items() if name not in more},
        DOCUMENT[NAMES[tool]]["response"],
    )


async def test_the_definitions_cost_little():
    async with Client(build(Library(mcp_toolsets=("rag",)))) as client:
        listed = await client.list_tools()
    wire = [one.model_dump(mode="json", by_alias=True, exclude_none=True) for one in listed]
    assert len(json.dumps(wire, separators=(",", ":"), ensure_ascii=False)) / 4 <= 1_500


@pytest.mark.story
async def test_requests_are_those_of_the_document(library):
    async with Client(build(library)) as client:
        listed = {tool.name: tool.input_schema for tool in await client.list_tools()}
    assert set(listed) == {*NAMES, "verify_quote"}
    for plain, dotted in NAMES.items():
        ours, theirs = listed[plain], DOCUMENT[dotted]["request"]
        assert sorted(ours["required"]) == sorted(theirs["required"])
        for name, wanted in theirs["properties"].items():
            for limit in {"type", "minimum", "maximum", "default", "pattern"} & wanted.keys():
                assert ours["properties"][name][limit] == wanted[limit]
        assert ours["properties"].keys() - theirs["properties"].keys() <= {
            "filters",
            "full",
            "start",
            "source",
            "widen",
        }


async def test_hosts_that_know_the_dotted_names_get_them(settings):
    library = Library(**settings, mcp_toolsets=("rag",), mcp_tool_names="dotted")
    async with Client(build(library)) as client:
        assert {tool.name for tool in await client.list_tools()} == {
            *NAMES.values(),
            "corpus.verify_quote",
        }
    empty = await call(library, "rag.search", {"query": "reef"})
    assert "pubmed.sync_delta" in empty.content[0].text
    assert "pubmed_sync_delta" not in f"{empty.content[0].text} {empty.meta}"
    set_ = {"query_key": "reef", "last_edat": "2025-01-01T00:00:00Z"}
    assert (await answer(library, "corpus.checkpoint.set", **set_)) == {"ok": True}


async def test_what_changes_something_says_so(library):
    async with Client(build(library)) as client:
        hints = {tool.name: tool.annotations for tool in await client.list_tools()}
    writing_tools = {name for name, hint in hints.items() if not hint.read_only_hint}
    assert writing_tools == {"pubmed_sync_delta", "corpus_checkpoint_set"}
    assert hints["corpus_checkpoint_set"].destructive_hint
    assert hints["pubmed_sync_delta"].open_world_hint


async def test_a_passage_can_be_quoted_and_found_again(library):
    reef(library)
    found = await answer(library, "rag_search", query="warm water bleaches corals")
    best = found["results"][0]
    assert best["doc_id"] == "pmid:11"
    assert best["text"][: best["end"] - best["start"]].startswith("Corals bleach")
    assert best["quality"] == 8
    assert found["warnings"] == []
    plain = [{k: v for k, v in row.items() if k not in MORE} for row in found["results"]]
    as_written("rag_search", {**found, "results": plain}, {"warnings"})
    assert "pmid:13" not in [row["doc_id"] for row in found["results"]]


async def test_a_search_can_be_narrowed(library):
    reef(library)
    for filters, expected in [
        ({"year_to": 2000}, {"pmid:12"}),
        ({"journal": "Old"}, {"pmid:12"}),
        ({"kind": "full_text"}, set()),
        ({"include_retracted": True}, {"pmid:11", "pmid:12", "pmid:13"}),
    ]:
        found = await answer(library, "rag_search", query="corals", filters=filters)
        assert {row["doc_id"] for row in found["results"]} == expected
    wrong = await call(library, "rag_search", {"query": "a", "filters": {"yaer": 1}})
    assert wrong.meta["error"]["code"] == "VALIDATION"


async def test_words_of_papers_are_marked(library):
    reef(library)
    result = await call(library, "rag_search", {"query": "corals"})
    assert result.meta["untrusted"]
    assert result.content[0].meta["untrusted"]


async def test_papers_without_a_pmid_are_found(library):
    preprint = paper("", ids=Ids(arxiv="2601.00001"), title="On corals")
    save(library.shelf, preprint, "# On corals\n\n## Results\n\nCorals bleach in the dark.\n")
    list(library.corpus.index())
    found = await answer(library, "rag_search", query="corals bleach")
    assert [row["doc_id"] for row in found["results"]] == ["arxiv:2601.00001"]
    assert found["warnings"] == []


async def test_only_the_name_of_the_document_asks_for_a_pmid(library, settings):
    one = passage("doi:10.1000/a", "Corals bleach in the dark.")
    fill(library.corpus, [paper("11")], [passage("pmid:11", "Corals."), one])
    dotted = Library(**settings, mcp_toolsets=("rag",), mcp_tool_names="dotted")
    dotted.__dict__["corpus"] = library.corpus
    found = await answer(dotted, "rag.search", query="corals bleach")
    assert [row["doc_id"] for row in found["results"]] == ["pmid:11"]
    assert any("have no PMID: 1." in one for one in found["warnings"])


async def test_a_record_is_as_the_document_shows_it(library):
    reef(library)
    row = await answer(library, "rag_get", doc_id="pmid:11")
    as_written("rag_get", row)
    assert row["edat"] == "2024-06-02T00:00:00Z"
    assert row["lr"] == "2024-06-15T00:00:00Z"
    assert row["pdat"] == "2024-05-11"
    assert row["quality"]["total"] == 8
    assert row["version"] == 1
    bare = await answer(library, "rag_get", doc_id="pmid:12")
    as_written("rag_get", bare)
    unknown = ("abstract", "journal", "pdat", "edat", "lr", "pmcid")
    assert [bare[name] for name in unknown] == [None] * len(unknown)
    retracted = await answer(library, "rag_get", doc_id="pmid:13")
    assert retracted["quality"]["total"] == 0


async def test_the_resource_is_what_rag_get_answers(library, world):
    reef(library)
    row = await answer(library, "rag_get", doc_id="pmid:11")
    async with Client(build(library)) as client:
        [content] = await client.read_resource("resource://pubmed/paper/11")
        assert json.loads(content.text) == {"untrusted": UNTRUSTED_NOTICE, **row}
        assert not world.requests
        elsewhere = world.paper("pmc_cloud").pmid
        [content] = await client.read_resource(f"resource://pubmed/paper/{elsewhere}")
    assert json.loads(content.text)["doc_id"] == f"pmid:{elsewhere}"


@pytest.mark.parametrize("toolset", ["core", "rag", "all"])
async def test_the_resource_has_one_schema_for_every_paper(settings, world, toolset):
    """In the corpus, on the shelf, or nowhere but in PubMed; whichever tools are loaded."""
    library = Library(**settings, mcp_toolsets=(toolset,))
    corpus_file = library.shelf.folder / ".papershelf" / "corpus" / "corpus.db"
    records = [record for record in world.papers if record.pmid]
    library.download(records[0].pmid)
    async with Client(build(library)) as client:
        for record in records:
            [content] = await client.read_resource(f"resource://pubmed/paper/{record.pmid}")
            row = json.loads(content.text)
            as_written("rag_get", row, {"untrusted"})
            assert row["doc_id"] == f"pmid:{record.pmid}"
            assert row["version"] == 1
        assert not corpus_file.exists()  # reading begins no corpus
        library.corpus.sync("all", " OR ".join(f"{record.pmid}[uid]" for record in records))
        [again] = await client.read_resource(f"resource://pubmed/paper/{records[-1].pmid}")
        assert json.loads(again.text) == row
    library.corpus.database.close()


async def test_a_sync_follows_what_was_deleted_long_ago_and_says_that_nothing_lacks(library, world):
    records = sorted((one for one in world.papers if one.pmid), key=lambda one: one.entered)
    term = " OR ".join(f"{record.pmid}[uid]" for record in records)
    arguments = {"query_key": "all", "term": term, "overlap_days": 0}
    first = await answer(library, "pubmed_sync_delta", **arguments)
    assert (first["members"], first["members_at_pubmed"]) == (len(records), len(records))
    world.delete(records[0].pmid)
    again = await answer(library, "pubmed_sync_delta", **arguments)
    as_written("pubmed_sync_delta", again, PROOF)
    assert again["updated"] == 1
    assert (again["members"], again["members_at_pubmed"]) == (len(records) - 1, len(records) - 1)
    gone = await call(library, "rag_get", {"doc_id": f"pmid:{records[0].pmid}"})
    assert gone.meta["error"]["code"] == "NOT_FOUND"


async def test_a_full_sync_fetches_everything_again(library, world):
    """What ``sync --full`` of the shell does."""
    records = [one for one in world.papers if one.pmid]
    term = " OR ".join(f"{record.pmid}[uid]" for record in records)
    arguments = {"query_key": "all", "term": term, "overlap_days": 0}
    await answer(library, "pubmed_sync_delta", **arguments)
    everything = await answer(library, "pubmed_sync_delta", **arguments, full=True)
    as_written("pubmed_sync_delta", everything, PROOF)
    assert everything["pmids_processed"] == len(records)


async def test_a_watermark_is_read_and_moved_also_back(library):
    never = await answer(library, "corpus_checkpoint_get", query_key="reef")
    as_written("corpus_checkpoint_get", never)
    assert never["last_edat"] is None
    for day in ("2025-06-01", "2024-01-01T12:30:00Z"):
        moved = await answer(library, "corpus_checkpoint_set", query_key="reef", last_edat=day)
        as_written("corpus_checkpoint_set", moved)
    now = await answer(library, "corpus_checkpoint_get", query_key="reef")
    as_written("corpus_checkpoint_get", now)
    assert now["last_edat"] == "2024-01-01T00:00:00Z"
    moves = library.corpus.database.list_watermark_moves("reef")
    assert [(move.manual, move.by, move.after) for move in moves] == [
        (True, "MCP", "2025-06-01"),
        (True, "MCP", "2024-01-01"),
    ]


@pytest.mark.parametrize(
    ("tool", "arguments", "code"),
    [
        ("rag_search", {"query": "corals"}, "STORE"),
        ("rag_search", {"query": ""}, "VALIDATION"),
        ("rag_search", {"query": " "}, "VALIDATION"),
        ("rag_search", {"query": "a", "top_k": 101}, "VALIDATION"),
        ("rag_get", {"doc_id": "11"}, "VALIDATION"),
        ("rag_get", {"doc_id": "pmid:999"}, "NOT_FOUND"),
        ("corpus_checkpoint_set", {"query_key": "a", "last_edat": "soon"}, "VALIDATION"),
        ("corpus_checkpoint_get", {"query_key": ""}, "VALIDATION"),
        ("pubmed_sync_delta", {"query_key": "a", "term": "b", "overlap_days": -1}, "VALIDATION"),
        ("verify_quote", {"text": ""}, "VALIDATION"),
    ],
)
async def test_what_cannot_be_answered_is_an_error_with_a_next_step(library, tool, arguments, code):
    result = await call(library, tool, arguments)
    assert result.is_error
    assert result.meta["error"]["code"] == code
    assert result.meta["error"]["suggestions"][0]
    assert (
        code in DOCUMENT["error"]["response"]["properties"]["error"]["properties"]["code"]["enum"]
    )


async def test_a_store_that_is_down_is_an_error_never_an_empty_list(library):
    reef(library)

    class Down:
        name = "weaviate"

        def get_status(self):
            raise WeaviateFailed("Weaviate does not answer.")

        def close(self):
            pass

    library.corpus.__dict__["finder"] = Down()
    result = await call(library, "rag_search", {"query": "corals"})
    assert result.meta["error"]["code"] == "WEAVIATE"


async def test_without_a_model_every_answer_says_so(library):
    reef(library)

    class Missing(LetterEmbedder):
        def embed_texts(self, texts):
            raise EmbeddingsFailed("No model is installed.", "Install papershelf[embed].")

    library.corpus.__dict__["embedder"] = Missing()
    found = await answer(library, "rag_search", query="corals")
    assert found["results"]
    assert found["results"][0]["sim"] is None
    assert any("words alone" in one and "[embed]" in one for one in found["warnings"])


async def test_a_question_is_synced_searched_looked_up_and_quoted(library, world):
    record = world.paper("pmc_cloud")
    term = f"{record.pmid}[uid]"
    synced = await answer(library, "pubmed_sync_delta", query_key="one", term=term)
    as_written("pubmed_sync_delta", synced, PROOF)
    assert (synced["inserted"], synced["pmids_processed"], synced["warnings"]) == (1, 1, [])
    again = await answer(library, "pubmed_sync_delta", query_key="one", term=term)
    assert (again["inserted"], again["updated"]) == (0, 0)
    known = await answer(library, "corpus_checkpoint_get", query_key="one")
    assert known["last_edat"] == synced["max_edat_seen"]

    found = await answer(library, "rag_search", query=record.plain_title)
    best = found["results"][0]
    assert best["doc_id"] == f"pmid:{record.pmid}"
    row = await answer(library, "rag_get", doc_id=best["doc_id"])
    as_written("rag_get", row)
    whole = f"{row['title']}\n\n{row['abstract']}"
    assert whole[best["start"] : best["end"]] == best["text"]
    quoted = await answer(library, "verify_quote", text=best["text"][:80])
    assert quoted["verbatim"]
    assert quoted["doc_id"] == best["doc_id"]
    assert whole[quoted["start"] : quoted["end"]] == quoted["text"]
    assert (quoted["verdict"], quoted["differences"]) == ("verbatim", [])


async def test_a_passage_of_a_full_text_stands_in_its_file(library, world):
    record = world.paper("pmc_cloud")
    done = library.download(record.pmid)
    for _ in library.corpus.index():
        pass
    found = await call(library, "rag_search", {"query": record.plain_title})
    best = found.structured_content["results"][0]
    assert best["kind"] == "full_text"
    text = Path(done.file_path).read_text(encoding="utf-8")
    assert text[best["start"] : best["end"]] == best["text"]
    assert f"Resource: papers://{Path(done.file_path).name}" in found.content[0].text
    row = await answer(library, "rag_get", doc_id=best["doc_id"])  # never synced, and on the shelf
    as_written("rag_get", row)
    assert record.plain_title in row["title"]


async def test_what_there_is_no_time_for_is_said_and_goes_on(library, world, monkeypatch):
    monkeypatch.setattr(rag, "_CALL_TIMEOUT_S", 0.0)
    may_end = threading.Event()
    index = library.corpus.index

    def slow():
        may_end.wait()
        yield from index()

    monkeypatch.setattr(library.corpus, "index", slow)
    term = f"{world.paper('pmc_cloud').pmid}[uid]"
    synced = await answer(library, "pubmed_sync_delta", query_key="one", term=term)
    assert synced["inserted"] == 1
    assert any("Still indexing" in warning for warning in synced["warnings"])
    may_end.set()


async def test_waiting_for_another_sync_is_said_and_a_search_beside_it_answers(
    library, world, monkeypatch
):
    reef(library)
    pmid = world.paper("pmc_cloud").pmid
    monkeypatch.setattr("utils.corpus.sync._LOCK_WAIT_S", 1e9)  # of a clock that waiting moves on
    for name, seconds in (("rag._SYNC_TIMEOUT_S", 1e9), ("rag._CALL_TIMEOUT_S", 200.0)):
        monkeypatch.setattr(f"utils.mcp.{name}", seconds)
    monkeypatch.setattr("utils.mcp.tool.MAX_ANSWER_S", 200.0)
    heard, other = [], ExitStack()
    other.enter_context(library.corpus.database.exclusive_lock("all", 0))

    async def hear(progress, total, message):
        heard.append(message)
        if "Waiting for another" in message:
            found = await answer(library, "rag_search", query="corals bleach")
            heard.append({one["doc_id"] for one in found["results"]})
            other.close()

    async with Client(build(library), progress_handler=hear) as client:
        arguments = {"query_key": "all", "term": f"{pmid}[uid]"}
        done = (await client.call_tool("pubmed_sync_delta", arguments)).structured_content
    waited = heard.index({"pmid:11", "pmid:12"})
    holder = f"Process {os.getpid()} on "
    assert f"Waiting for another that is at work on all: {holder}" in heard[waited - 1]
    assert (done["inserted"], done["members"]) == (1, 1)


async def test_waiting_for_pubmed_and_for_the_index_is_said(library, world, monkeypatch):
    """What is awaited ends when its wait was told: no second is counted."""
    records = [one for one in world.papers if one.pmid][:4]
    term = " OR ".join(f"{record.pmid}[uid]" for record in records)
    monkeypatch.setattr("utils.corpus.sync.MAX_IDS_PER_REQUEST", 2)
    for name in ("rag._SYNC_TIMEOUT_S", "rag._CALL_TIMEOUT_S", "tool.MAX_ANSWER_S"):
        monkeypatch.setattr(f"utils.mcp.{name}", 200.0)
    told = {"records have come": threading.Event(), "Indexing": threading.Event()}
    heard = []

    async def hear(progress, total, message):
        heard.append((progress, message))
        for words, event in told.items():
            if words in message:
                event.set()

    keep, index = SyncJob.stage_records, library.corpus.index

    def slow_keep(self, papers, omitted=()):
        keep(self, papers, omitted)
        if self.count_progress()[0] > 2:  # a batch has been reported
            assert told["records have come"].wait(60)

    def slow_index():
        assert told["Indexing"].wait(60)
        yield from index()

    monkeypatch.setattr(SyncJob, "stage_records", slow_keep)
    monkeypatch.setattr(library.corpus, "index", slow_index)
    async with Client(build(library), progress_handler=hear) as client:
        arguments = {"query_key": "all", "term": term}
        done = (await client.call_tool("pubmed_sync_delta", arguments)).structured_content
    assert (done["inserted"], done["warnings"]) == (len(records), [])
    assert any(f"2 of {len(records)} records have come" in message for _, message in heard)
    assert [seconds for seconds, _ in heard] == sorted(seconds for seconds, _ in heard)


def test_an_index_begun_before_is_no_answer_to_whoever_asks_after(library):
    begun, may_end, runs = threading.Event(), threading.Event(), []

    class Corpus:
        def index(self):
            runs.append(1)
            begun.set()
            may_end.wait()
            yield IndexProgress(1, 1, warnings=(f"run {len(runs)}",))

    class Shelf:
        corpus = Corpus()

    indexing = IndexUpdater(Shelf())
    assert "Still indexing" in indexing.update(0)[0]
    begun.wait()
    threading.Timer(0.05, may_end.set).start()
    assert indexing.update(60) == ["run 2"]
    assert indexing.update(60) == ["run 3"]


@pytest.mark.parametrize(
    ("trouble", "told"),
    [
        (WeaviateFailed("Weaviate does not answer."), "Weaviate does not answer"),
        (RuntimeError("broken"), "a fault in Papershelf"),
    ],
)
def test_an_index_that_fails_is_told_and_does_not_hang(trouble, told):
    class Corpus:
        def index(self):
            raise trouble

    class Shelf:
        corpus = Corpus()

    [warning] = IndexUpdater(Shelf()).update(60)
    assert told in warning


async def test_a_sync_that_is_cut_short_says_to_call_again(library, world, monkeypatch):
    monkeypatch.setattr(rag, "_SYNC_TIMEOUT_S", 1e-6)
    term = f"{world.paper('pmc_cloud').pmid}[uid]"
    arguments = {"query_key": "one", "term": term}
    first = await answer(library, "pubmed_sync_delta", **arguments)
    assert first["pmids_processed"] == 0
    assert any("call again" in warning for warning in first["warnings"])
    second = await answer(library, "pubmed_sync_delta", **arguments)
    while "records have come" not in str(second["warnings"]):
        second = await answer(library, "pubmed_sync_delta", **arguments)
    assert any("(1 of 1 records have come" in warning for warning in second["warnings"])
    for _ in range(20):
        synced = await answer(library, "pubmed_sync_delta", **arguments)
        if not synced["warnings"]:
            break
    assert synced["inserted"] == 1


async def test_a_quotation_cannot_be_looked_for_in_an_empty_corpus(library):
    result = await call(library, "verify_quote", {"text": "corals bleach in warm water for weeks"})
    assert result.is_error
    assert result.meta["error"]["code"] == "STORE"


async def test_over_http_the_record_says_whose_token_moved_a_watermark(library):
    shared = Library(library.settings.model_copy(update={"mcp_auth_secret_key": SecretStr(SECRET)}))
    with Endpoint(shared) as endpoint:
        async with Client(endpoint.url, auth=endpoint.token(subject="alice")) as client:
            day = {"query_key": "reef", "last_edat": "2025-01-01"}
            assert not (await client.call_tool("corpus_checkpoint_set", day)).is_error
    [move] = library.corpus.database.list_watermark_moves("reef")
    assert "alice" in move.by
    shared.corpus.database.close()
