"""001: contracts of a corpus and its search. Five tools, a resource, the error envelope, the store."""

# ruff: noqa: E501 - an item is a line of the table
import re
from functools import partial
from typing import Any
from uuid import NAMESPACE_URL, UUID, uuid5

from quality.conformance.examples import (
    CLOSED,
    NARROW,
    OPENAI,
    PAPERS,
    PLAIN,
    SLOW,
    UNKNOWN,
    UNSAID,
)
from quality.conformance.items import (
    Item,
    Met,
    all_of,
    asked,
    each,
    has,
    hits,
    is_,
    named,
    nobody_asked,
    one,
    refused,
    sent,
    takes,
    that,
)  # fmt: skip
from quality.conformance.settings import setting

item = partial(Item, "001")
OURS = PAPERS.branch("supplemented")  # PubMed revises it meanwhile
SYNC = {"query_key": "ledger", "term": f"{OURS.pmid}[uid]"}
DOC = {"doc_id": f"pmid:{OURS.pmid}"}
COUNTS = (
    "job_id",
    "inserted",
    "updated",
    "skipped",
    "pmids_processed",
    "max_edat_seen",
    "warnings",
)
RECORD = (
    "doc_id",
    "title",
    "abstract",
    "journal",
    "pub_types",
    "pdat",
    "edat",
    "lr",
    "pmcid",
    "quality",
    "version",
)
CODES = "RATE_LIMIT UPSTREAM VALIDATION NOT_FOUND INVARIANT_FAILURE STORE EMBEDDINGS WEAVIATE ENTREZ UNKNOWN"
UUIDS = uuid5(NAMESPACE_URL, "https://pubmed.ncbi.nlm.nih.gov/passages")  # for ever


def revised(world: Any) -> None:
    """PubMed revises a record of the corpus: another title, a later date."""
    from dataclasses import replace

    world.put(replace(OURS, title="A title that was put right", revised="2026-10-01"))


def stable_names(met: Met) -> None:
    """Each passage's UUID follows from its paper and its name, and no two are alike."""
    found = hits(met.value)
    assert found
    assert len({row["uuid"] for row in found}) == len(found)
    for row in found:
        assert UUID(row["uuid"]).version == 5
        if "chunk_id" in row:  # only Python shows the passage's own name
            named = f"{row['paper'].removeprefix('pmid:')}:{row['chunk_id']}"
            assert row["uuid"] == str(uuid5(UUIDS, named))


def quality_first(met: Met) -> None:
    """The score is what the list is ordered by."""
    scores = [row["score"] for row in hits(met.value)]
    assert scores == sorted(scores, reverse=True)


def errors_known(met: Met) -> None:
    """The codes of all errors are those of the document."""
    assert set(met.value) == set(CODES.split())


def _codes(library: Any) -> list[str]:
    from utils import errors

    waits = errors.Unreachable("It asked us to wait.", retry_after=2.0).code
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type)]
    codes = {kind.code for kind in kinds if issubclass(kind, errors.PaperError)}
    return [waits, *(code for code in codes if isinstance(code, str))]


def _moved(met: Met) -> None:
    assert one(met.value)["last_edat"].startswith("2024-01-01"), met.value


def _moves_by_hand(library: Any) -> int:
    """How often a watermark was moved by hand, as the store has it."""
    import sqlalchemy as sa

    with library.corpus.database.engine.connect() as connection:
        statement = sa.text(
            "SELECT count(*) FROM corpus_checkpoint_moves WHERE manual AND query_key = 'ledger'"
        )
        return int(connection.execute(statement).scalar_one())


def _rows_of(library: Any) -> int:
    import sqlalchemy as sa

    with library.corpus.database.engine.connect() as connection:
        statement = sa.text(f"SELECT count(*) FROM corpus_records WHERE pmid = {OURS.pmid}")
        return int(connection.execute(statement).scalar_one())


def _vectors(library: Any) -> Any:
    embedder = library.corpus.embedder
    vectors = embedder.embed_texts(["corals bleach", "a quite different text"])
    lengths = (vectors**2).sum(axis=1).tolist()
    return {"shape": list(vectors.shape), "dim": embedder.dim, "lengths": lengths}


ITEMS = (
    # -- sync
    item("MCP API", "five tools", "tools/list", named("pubmed_sync_delta", "rag_search", "rag_get", "corpus_checkpoint_get", "corpus_checkpoint_set"), {}, PLAIN),
    item("MCP API", "with dots, where wanted", "tools/list", named("pubmed.sync_delta", "rag.search", "rag.get", "corpus.checkpoint.get", "corpus.checkpoint.set"), settings=SLOW),
    item("MCP API", "closed requests", "sync", all_of(refused("VALIDATION", "colour"), nobody_asked), {**SYNC, "colour": "red"}, UNSAID, doors=("stdio", "http")),
    item("sync_delta", "the dotted name is called", "pubmed.sync_delta", has(*COUNTS), SYNC, settings=SLOW),
    item("sync_delta", "parameters, bounds and defaults", "tools/list", takes("pubmed_sync_delta", query_key={"minLength": 1}, term={"minLength": 1}, overlap_days={"minimum": 0, "default": 5})),
    item("sync_delta", "counts of a sync", "sync", all_of(has(*COUNTS), is_(inserted=1, updated=0, skipped=0, pmids_processed=1)), SYNC),
    item("sync_delta", "by Entrez date", "sync", sent("eutils", "esearch", datetype="edat"), {"query_key": "by date", "term": f"{CLOSED.pmid}[uid]"}),
    item("sync_delta", "max_edat_seen is ISO 8601 in UTC", "sync", that(lambda v: re.fullmatch(r"\d{4}-\d\d-\d\dT00:00:00Z", one(v)["max_edat_seen"])), SYNC, doors=("stdio", "http", "shell")),
    item("sync_delta", "in Python it is the day", "sync", is_(max_edat_seen="2025-02-10"), SYNC, "EDAT is a day; the timestamps of the interfaces are its midnight", doors=("python",)),
    item("sync_delta", "job_id says what it is and when", "sync", that(lambda v: re.match(r"sync_\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", one(v)["job_id"])), SYNC),
    item("sync_delta", "safe to replay", "sync", is_(inserted=0, updated=0, skipped=1), SYNC),
    item("sync_delta", "from the watermark less the overlap", "sync", asked(lambda all_: any(r.params.get("mindate") == "2025/01/31" for r in all_), "eutils"), {**SYNC, "overlap_days": 10}),
    item("sync_delta", "a revised record is updated", "sync", is_(inserted=0, updated=1), SYNC, meanwhile=revised),
    item("sync_delta", "sync everything again", "sync", all_of(is_(inserted=0, skipped=1), asked(lambda all_: any("efetch" in r.path for r in all_))), {"query_key": "by date", "term": f"{CLOSED.pmid}[uid]", "full": True}, "full is ours, added as the versioning policy allows: for who doubts the dates"),
    item("sync_delta", "nothing found is no error", "sync", is_(inserted=0, pmids_processed=0), {"query_key": "none", "term": "zzqqx[ti]"}),
    item("sync_delta", "an empty key is refused", "sync", all_of(refused("VALIDATION", "query_key"), nobody_asked), {"query_key": "", "term": "cells"}, doors=("stdio", "http")),
    item("sync_delta", "a negative overlap is refused", "sync", all_of(refused("VALIDATION", "overlap_days"), nobody_asked), {**SYNC, "overlap_days": -1}, doors=("stdio", "http", "python")),
    item("sync_delta", "PubMed down: nothing is lost, nothing moves", "sync", refused("UPSTREAM"), SYNC, meanwhile=lambda world: world.mood("down", "eutils")),
    # -- search
    item("rag.search", "what was synced is cut and indexed", "index", that(lambda v: one(v)["passages"] >= 1), {}, "a step of its own in the shell and in Python, where one sees how long it takes; over MCP, the first search does it"),
    item("rag.search", "parameters, bounds and defaults", "tools/list", takes("rag_search", query={"minLength": 1}, top_k={"minimum": 1, "maximum": 100, "default": 20}, quality_bias={"default": True})),
    item("rag.search", "fields of a result", "passages", each("results", "uuid", "score", "sim", "bm25", "quality"), {"query": "progenitors slices", "top_k": 5}),
    item("rag.search", "with the words to quote, and their place", "rag_search", each("results", "text", "section", "start", "end", "title", "file"), {"query": "progenitors slices", "top_k": 5}, "fields added, as the versioning policy allows: a passage can be quoted and found again"),
    item("rag.search", "doc_id is the key of rag.get", "passages", that(lambda v: hits(v) and all(re.fullmatch(r"pmid:[0-9]+", row.get("doc_id", row.get("paper"))) for row in hits(v))), {"query": "slices"}),
    item("rag.search", "ordered by score", "passages", quality_first, {"query": "slices"}),
    item("rag.search", "quality counts, unless it must not", "passages", all_of(quality_first, that(lambda v: all(row["score"] > 0 for row in hits(v)))), {"query": "slices", "quality_bias": False}),
    item("rag.search", "no more than top_k", "passages", that(lambda v: len(hits(v)) == 1), {"query": "slices", "top_k": 1}),
    item("rag.search", "a hundred at most", "passages", refused("VALIDATION", "top_k"), {"query": "slices", "top_k": 101}),
    item("rag.search", "an empty question is refused", "passages", refused("VALIDATION", "query"), {"query": ""}, doors=("stdio", "http")),
    item("rag.search", "without vectors it says so", "passages", that(lambda v: isinstance(v, list) or any("words alone" in warning for warning in v["warnings"])), {"query": "slices"}, "EMBEDDINGS_PROVIDER=none finds by words alone, where the document knows only openai and hf"),
    # -- get
    item("rag.get", "the form of a doc_id in the schema", "tools/list", takes("rag_get", doc_id={"pattern": "^pmid:[0-9]+$"})),
    item("rag.get", "the record with its quality", "rag_get", all_of(has(*RECORD), that(lambda v: {"design", "recency", "journal", "human", "total"} == set(v["quality"]))), DOC),
    item("rag.get", "at every door", "corpus_record", that(lambda v: v["version"] == 2), DOC),
    item("rag.get", "a revision raises the version", "rag_get", is_(version=2, title="A title that was put right."), DOC),
    item("rag.get", "dates as in the example", "rag_get", that(lambda v: re.fullmatch(r"\d{4}(-\d\d){0,2}", v["pdat"]) and v["edat"].endswith("T00:00:00Z") and v["lr"].endswith("T00:00:00Z")), DOC),
    item("rag.get", "the form of a doc_id", "rag_get", refused("VALIDATION", "doc_id"), {"doc_id": "1"}),
    # -- checkpoints
    item("checkpoint.get", "how far a query is", "checkpoint", that(lambda v: one(v)["last_edat"].startswith("2025-02-10")), {"query_key": "ledger"}),
    item("checkpoint.get", "as a timestamp in UTC", "checkpoint", is_(last_edat="2025-02-10T00:00:00Z"), {"query_key": "ledger"}, doors=("stdio", "http", "shell")),
    item("checkpoint.get", "null where never synced", "checkpoint", is_(query_key="never", last_edat=None), {"query_key": "never"}),
    item("checkpoint.set", "moves by hand, also back", "corpus_checkpoint_set", is_(ok=True), {"query_key": "ledger", "last_edat": "2024-01-01T00:00:00Z"}),
    item("checkpoint.set", "and stands there", "set_checkpoint", lambda met: None if "ok" in one(met.value) else _moved(met), {"query_key": "ledger", "last_edat": "2024-01-01T00:00:00Z"}),
    item("checkpoint.set", "is read again", "checkpoint", that(lambda v: one(v)["last_edat"].startswith("2024-01-01")), {"query_key": "ledger"}),
    item("checkpoint.set", "is audited", "library", that(lambda v: v == 1), {"does": _moves_by_hand}),
    item("checkpoint.set", "what is no date is refused", "set_checkpoint", refused("VALIDATION"), {"query_key": "ledger", "last_edat": "yesterday"}),
    item("checkpoint.set", "a sync never goes back by itself", "sync", that(lambda v: "error" not in one(v)), SYNC),
    item("checkpoint.set", "but on to the newest", "checkpoint", that(lambda v: one(v)["last_edat"].startswith("2025-02-10")), {"query_key": "ledger"}),
    # -- errors
    item("Error Envelope", "unknown is NOT_FOUND", "corpus_record", refused("NOT_FOUND", UNKNOWN), {"doc_id": f"pmid:{UNKNOWN}"}, "suggestions stand beside code, message and details (document 003 §3): what to do next"),
    item("Error Envelope", "ten codes", "library", errors_known, {"does": _codes}),
    # -- resource
    item("MCP Resources", "a paper of the corpus, as rag.get has it", f"resource://pubmed/paper/{OURS.pmid}", all_of(has(*RECORD), nobody_asked, is_(doc_id=f"pmid:{OURS.pmid}", version=2))),
    item("MCP Resources", "any other paper of PubMed, with the same fields", f"resource://pubmed/paper/{PAPERS.branch('editorial').pmid}", has(*RECORD)),
    item("MCP Resources", "an unknown one is an error", f"resource://pubmed/paper/{UNKNOWN}", that(lambda v: UNKNOWN in v["protocol_error"])),
    # -- adapters
    item("Weaviate Adapter", "UUIDs are made of paper and passage", "passages", stable_names, {"query": "slices", "top_k": 10}),
    item("Weaviate Adapter", "the class is a setting", "settings", all_of(setting("WEAVIATE_CLASS", "LabChunk"), setting("VECTOR_STORE", "weaviate")), settings=NARROW),
    item("Weaviate Adapter", "PubMedChunk by default, and no Weaviate needed", "settings", all_of(setting("WEAVIATE_CLASS", "PubMedChunk"), setting("VECTOR_STORE", "embedded")), {}, "the index is a file on the shelf: nothing to install; VECTOR_STORE=weaviate for who has one"),
    item("Weaviate Adapter", "one that is down is told, not empty", "passages", refused("WEAVIATE"), {"query": "slices"}, settings=NARROW),
    item("Embeddings Adapter", "openai and hf, chosen by a setting", "settings", setting("EMBEDDINGS_PROVIDER", "openai"), {}, "local, too: a model on this machine, the default, so that no text leaves it", settings=OPENAI),
    item("Embeddings Adapter", "what is to be found", "sync", is_(inserted=1), SYNC, settings=OPENAI),
    item("Embeddings Adapter", "and cut", "index", that(lambda v: one(v)["vectors"] >= 1), settings=OPENAI),
    item("Embeddings Adapter", "texts in one batch, found by meaning", "passages", all_of(that(lambda v: all(row["sim"] > 0 for row in hits(v))), asked(lambda all_: 1 <= len(all_) <= 3, "openai")), {"query": "progenitors slices"}, settings=OPENAI),
    item("Embeddings Adapter", "a vector for each text, all of one length, normalised", "library", that(lambda v: v["shape"] == [2, v["dim"]] and all(abs(length - 1) < 1e-5 for length in v["lengths"])), {"does": _vectors}, settings=OPENAI),
    item("Embeddings Adapter", "a service that fails is an error of its own", "library", refused("EMBEDDINGS"), {"does": _vectors}, settings={**OPENAI, "OPENAI_API_KEY": "sk-of-nobody"}),
    item("Entrez Client", "three requests a second with a key", "system_api_key_status", is_(rate_limit="10 requests/second"), {}, "NCBI's own rule gives ten with a key (documents 000 and 002), all processes together"),
    item("Entrez Client", "growing pauses after 429 and 5xx", "sync", asked(lambda all_: [r.status for r in all_][:3] == [503, 503, 200], "eutils"), {"query_key": "patient", "term": f"{PAPERS.branch('editorial').pmid}[uid]"}, meanwhile=lambda world: world.mood("down", "eutils", 2)),
    item("Metadata Store", "in SQL, once each", "library", that(lambda v: v == 1), {"does": _rows_of}),
)  # fmt: skip
