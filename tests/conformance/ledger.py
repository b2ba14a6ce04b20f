"""The ledger: what the five reference documents and the contracts ask for, item by item.

Each item names its document and paragraph, is called over every door that the contract gives it,
and is checked by one function. Where the product does otherwise, the item says why, and the check
holds the product to what it does instead. ``python -m tests.conformance`` prints it as a table.

The documents: 000 specification of a PubMed server, 001 contracts of a corpus and its search,
002 methods of a download server, 003 compliance notes of an Entrez server, 004 interface of arXiv,
Semantic Scholar and PubMed servers, C the contracts in which they were merged.
"""

# ruff: noqa: E501 - an item is a line of the table
from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.world.corpus import small_corpus

MCP = ("stdio", "http")
PAPERS = small_corpus()
WHOLE, CLOSED = PAPERS.branch("pmc_cloud"), PAPERS.branch("paywall")
ARXIV_ID = "2511.04014"
Check = Callable[[Any], object]


@dataclass(frozen=True)
class Operation:
    """One thing to do: its tool, its words in the shell, its call in Python."""

    tool: str
    shell: Callable[[Mapping[str, Any]], list[str]] | None = None
    python: Callable[[Any, Mapping[str, Any]], Any] | None = None

    @property
    def doors(self) -> tuple[str, ...]:
        """Where it is offered."""
        return (*MCP, *["shell"] * bool(self.shell), *["python"] * bool(self.python))


@dataclass(frozen=True)
class Item:
    """A requirement: ``deviation`` says why the product does otherwise, where it does."""

    document: str
    place: str
    what: str
    operation: str
    check: Check
    arguments: Mapping[str, Any] = field(default_factory=dict)
    deviation: str = ""

    @property
    def name(self) -> str:
        """What the tests are called after."""
        return f"{self.document} {self.place} {self.what}"

    @property
    def doors(self) -> tuple[str, ...]:
        """The doors it is called over."""
        return operation(self.operation).doors


def operation(name: str) -> Operation:
    """One of `OPERATIONS`, else a tool of MCP alone."""
    return OPERATIONS.get(name, Operation(name))


def _search_words(args: Mapping[str, Any]) -> list[str]:
    options = {
        "max_results": "--max-results", "start": "--start", "sort_by": "--sort-by",
        "min_date": "--min-date", "max_date": "--max-date", "date_type": "--date-type",
    }  # fmt: skip
    words = [str(args["query"])] if "query" in args else ["--lr", args["ligand"], args["receptor"]]
    return [
        "search",
        *words,
        *(w for n, o in options.items() if n in args for w in (o, str(args[n]))),
    ]


def _found(found: Any) -> dict[str, Any]:
    about = {name: getattr(found, name) for name in ("total", "effective_query", "warnings")}
    return {**about, "papers": [paper.row() for paper in found.papers]}


def _identifier(args: Mapping[str, Any]) -> str:
    return str(next(args[name] for name in ("pmid", "doi", "pmcid", "arxiv_id") if name in args))


OPERATIONS = {
    "search": Operation(
        "search_pubmed", _search_words,
        lambda library, a: _found(library.search(**a)),
    ),
    "search_lr": Operation("search_pubmed_lr", _search_words),
    "search_pair": Operation(
        "search_pubmed_lr", _search_words,
        lambda library, a: _found(library.search_ligand_receptor(a["ligand"], a["receptor"])),
    ),
    "download": Operation(
        "download_paper",
        lambda a: ["download", _identifier(a)],
        lambda library, a: library.download(_identifier(a)).row(),
    ),
    "read": Operation(
        "read_paper",
        lambda a: ["read", a["paper"], *(["--section", a["section"]] if "section" in a else [])],
        lambda library, a: {"text": library.read(**a).text, "title": library.read(**a).title},
    ),
    "list": Operation(
        "list_papers",
        lambda a: ["list", a.get("text", ""), *(["--kind", a["kind"]] if "kind" in a else [])],
        lambda library, a: {"papers": [one.paper.short_row() for one in library.list_papers(**a)[1]]},
    ),
    "relate": Operation(
        "get_article_relationships",
        lambda a: ["related", a["source_pmid"], "-n", "5"],
        lambda library, a: [{"pmid": x.pmid, "title": x.title} for x in library.related(a["source_pmid"], "pubmed_similar_articles").articles],
    ),
    "cite": Operation(
        "cite_papers",
        lambda a: ["cite", *a["papers"], "--style", a["style"]],
        lambda library, a: [{"citation": x} for _, x in library.cite(a["papers"], a["style"])],
    ),
    "sync": Operation(
        "pubmed_sync_delta",
        lambda a: ["sync", a["query_key"], a["term"]],
        lambda library, a: {"inserted": library.corpus.sync(**a).inserted},
    ),
}  # fmt: skip
FIELDS = ("pmid", "title", "abstract", "authors", "year", "journal", "doi", "pmcid")


def papers(value: Any) -> list[dict[str, Any]]:
    """The papers of an answer: the shell prints each as a line."""
    return value["papers"] if isinstance(value, dict) else value


def one(value: Any) -> dict[str, Any]:
    """The only object of an answer."""
    return value if isinstance(value, dict) else value[0]


def has(*names: str) -> Check:
    """The answer has these members."""

    def check(value: Any) -> None:
        assert not set(names) - set(one(value)), sorted(set(names) - set(one(value)))

    return check


def refused(code: str, *words: str) -> Check:
    """It is an error of this code, whose message holds these words, with a way out."""

    def check(value: Any) -> None:
        error = one(value)["error"]
        assert error["code"] == code
        assert all(word in error["message"] for word in words), error["message"]
        assert error["suggestions"]

    return check


def _all_papers_have(*names: str) -> Check:
    def check(value: Any) -> None:
        assert papers(value)
        for paper in papers(value):
            assert not set(names) - set(paper)
            assert all(isinstance(paper[name], str) for name in FIELDS if name in names)

    return check


def _sorted(name: str) -> Check:
    def check(value: Any) -> None:
        years = [paper[name] for paper in papers(value)]
        assert len(years) > 1
        assert years == sorted(years, reverse=True)

    return check


def is_(**wanted: Any) -> Check:
    """The answer has these values."""

    def check(value: Any) -> None:
        assert {name: one(value)[name] for name in wanted} == wanted

    return check


def holds(name: str, *words: str) -> Check:
    """The text in a member holds these words."""

    def check(value: Any) -> None:
        assert all(word in one(value)[name] for word in words), one(value)[name][:500]

    return check


def that(test: Callable[[Any], bool]) -> Check:
    """The answer passes a test."""

    def check(value: Any) -> None:
        assert test(value), value

    return check


def _annotated(value: Any) -> None:
    for tool in value["tools"]:
        assert tool["title"]
        assert tool["inputSchema"]["type"] == "object"
        assert tool["outputSchema"]["type"] == "object"
        hints = tool["annotations"]
        assert {"readOnlyHint", "idempotentHint", "destructiveHint", "openWorldHint"} <= set(hints)


def _named(*names: str) -> Check:
    def check(value: Any) -> None:
        assert not set(names) - {tool["name"] for tool in value["tools"]}

    return check


PMID = {"pmid": WHOLE.pmid}
ARTICLE = {"query_term": "cells", "max_results": 3, "fetch_brief_summaries": 2}
RELATED = {"source_pmid": WHOLE.pmid}
SNAKE = "names are snake_case in all contracts (C, head)"
PLAIN = "some hosts refuse dots in names: MCP_TOOL_NAMES=dotted registers the document's (C §3)"

LEDGER = (
    # -- 002: the core
    Item("002", "System Architecture", "four tools", "tools/list", _named("search_pubmed_lr", "search_pubmed", "search_pubmed_minimal", "download_paper")),
    Item("002", "Search Results", "fields of a paper", "search", _all_papers_have(*FIELDS), {"query": "cells"}),
    Item("002", "General Search", "ten results by default", "search", that(lambda v: len(papers(v)) == 10), {"query": "journal article[pt]"}),
    Item("002", "General Search", "newest first by default", "search", _sorted("year"), {"query": "cells"}),
    Item("002", "General Search", "field tags and Booleans", "search", that(lambda v: [p["pmid"] for p in papers(v)] == [WHOLE.pmid]), {"query": f"{WHOLE.pmid}[uid] NOT zzqqx[ti]"}),
    Item("002", "Ligand-Receptor", "ligand and receptor in each", "search_lr", _all_papers_have(*FIELDS, "ligand", "receptor"), {"ligand": "CXCL12", "receptor": "CXCR4"}),
    Item("002", "Ligand-Receptor", "papers of a pair", "search_pair", _all_papers_have(*FIELDS), {"ligand": "CXCL12", "receptor": "CXCR4"}),
    Item("002", "Ligand-Receptor", "the template of the query", "search_pubmed_lr", holds("query", "(CXCL12[Gene Symbol] OR CXCL12[MeSH Terms]) AND (CXCR4[Gene Symbol]", "(interaction OR signaling OR binding OR pathway)"), {"ligand": "CXCL12", "receptor": "CXCR4"}),
    Item("002", "Minimal Metadata", "essential fields only", "search_pubmed_minimal", that(lambda v: {*papers(v)[0]} == {"pmid", "title", "first_author", "year", "journal", "doi", "pmcid"}), {"query": "cells"}),
    Item("002", "Download Results", "fields of a download", "download", has("success", "file_path", "source", "message"), PMID),
    Item("002", "Fallback System", "full text by PMID", "download", is_(success=True, kind="full_text"), PMID),
    Item("002", "Fallback System", "by DOI", "download", is_(success=True, kind="full_text"), {"doi": WHOLE.doi}),
    Item("002", "Fallback System", "the cache is asked first", "download", is_(source="Cache"), PMID),
    Item("002", "Fallback System", "else the abstract", "download", is_(success=True, kind="abstract"), {"pmid": CLOSED.pmid}),
    Item("002", "File Formats", "named after the DOI", "download", holds("file_path", WHOLE.doi.replace("/", "_") + ".txt"), PMID),
    Item("002", "Fallback System", "abstract named after the PMID", "download", holds("file_path", f"pmid_{CLOSED.pmid}_abstract.txt"), {"pmid": CLOSED.pmid}),
    Item("002", "Error Handling", "a failure is described", "download", refused("NOT_FOUND", "39999999"), {"pmid": "39999999"}, "the error envelope of 001 stands for success: false (C §3)"),
    # -- 000: PubMed in depth
    Item("000", "§3.1", "fields of a search", "search_pubmed_articles", has("search_parameters", "effective_search_term", "total_found", "retrieved_pmid_count", "pmids", "brief_summaries", "e_search_url"), ARTICLE, SNAKE),
    Item("000", "§3.1", "fields of a brief summary", "search_pubmed_articles", that(lambda v: {"pmid", "title", "authors", "source", "pub_date", "epub_date"} <= set(v["brief_summaries"][0])), ARTICLE, SNAKE),
    Item("000", "§3.1", "as many summaries as asked for", "search_pubmed_articles", that(lambda v: len(v["brief_summaries"]) == 2 and len(v["pmids"]) == 3), ARTICLE),
    Item("000", "§3.1", "types become Entrez syntax", "search_pubmed_articles", holds("effective_search_term", '"Review"[pt]'), {**ARTICLE, "filter_by_publication_types": ["Review"]}),
    Item("000", "§3.1", "a range open at one end", "search_pubmed_articles", holds("effective_search_term", "2020:3000[pdat]"), {**ARTICLE, "date_range": {"min_date": "2020"}}),
    Item("000", "§3.1", "three characters at least", "search_pubmed_articles", refused("VALIDATION", "query_term"), {"query_term": "ab"}),
    Item("000", "§3.1", "a thousand at most", "search_pubmed_articles", refused("VALIDATION", "max_results"), {"query_term": "cells", "max_results": 1001}),
    Item("000", "§3.1", "no key or address in URLs", "search_pubmed_articles", that(lambda v: "api_key" not in v["e_search_url"] and "email" not in v["e_search_url"]), ARTICLE),
    Item("000", "§3.2", "fields of a record", "fetch_article_details", that(lambda v: {"pmid", "title", "abstract_text", "authors", "journal_info", "publication_types", "keywords", "mesh_terms", "doi"} <= set(v["articles"][0])), {"pmids": [WHOLE.pmid]}, SNAKE),
    Item("000", "§3.2", "grants only when asked for", "fetch_article_details", that(lambda v: "grant_list" not in v["articles"][0]), {"pmids": [WHOLE.pmid]}),
    Item("000", "§3.2", "PMIDs not found are named", "fetch_article_details", is_(not_found_pmids=["39999999"]), {"pmids": [WHOLE.pmid, "39999999"]}),
    Item("000", "§3.2", "raw XML", "fetch_article_details", holds("text", "<PubmedArticle>", WHOLE.pmid), {"pmids": [WHOLE.pmid], "detail_level": "full_xml"}),
    Item("000", "§3.2", "MEDLINE text", "fetch_article_details", holds("text", "PMID-", WHOLE.pmid), {"pmids": [WHOLE.pmid], "detail_level": "medline_text"}),
    Item("000", "§3.2", "two hundred at most", "fetch_article_details", refused("VALIDATION", "pmids"), {"pmids": [str(n) for n in range(1, 202)]}),
    Item("000", "§3.3", "similar articles with scores", "get_article_relationships", has("source_pmid", "relationship_type", "related_articles", "citations", "retrieved_count", "e_link_url"), RELATED, SNAKE),
    Item("000", "§3.3", "five at most by default", "get_article_relationships", that(lambda v: v["retrieved_count"] <= 5), RELATED),
    Item("000", "§3.3", "citations in four styles", "get_article_relationships", that(lambda v: all(v["citations"][name] for name in ("ris", "bibtex", "apa_string", "mla_string"))), {**RELATED, "relationship_type": "citation_formats", "citation_styles": ["ris", "bibtex", "apa_string", "mla_string"]}),
    Item("000", "§4.1", "what the server is", "pubmed-connect://info", has("server_name", "server_version", "contact_email", "ncbi_compliance", "supported_eutilities", "operational_status"), {}, f"{SNAKE}; JSON as text, not as a blob: models read it as it is"),
    Item("000", "§4.1", "EPost is among the utilities", "pubmed-connect://info", that(lambda v: {"ESearch", "EFetch", "ESummary", "ELink", "EInfo", "EPost"} <= set(v["supported_eutilities"]))),
    Item("000", "§4.2", "PubMed in numbers", "pubmed-connect://stats/pubmed", has("database_name", "total_record_count", "last_update", "available_search_fields", "available_link_names", "e_info_url"), {}, SNAKE),
    # -- 001: the corpus
    Item("001", "MCP API", "five tools", "tools/list", _named("pubmed_sync_delta", "rag_search", "rag_get", "corpus_checkpoint_get", "corpus_checkpoint_set"), {}, PLAIN),
    Item("001", "sync_delta", "counts of a sync", "pubmed_sync_delta", has("job_id", "inserted", "updated", "skipped", "pmids_processed", "max_edat_seen", "warnings"), {"query_key": "ledger", "term": f"{WHOLE.pmid}[uid]"}),
    Item("001", "sync_delta", "safe to replay", "pubmed_sync_delta", is_(inserted=0, updated=0), {"query_key": "ledger", "term": f"{WHOLE.pmid}[uid]"}),
    Item("001", "sync_delta", "everything anew", "pubmed_sync_delta", is_(inserted=0, updated=0, skipped=1), {"query_key": "ledger", "term": f"{WHOLE.pmid}[uid]", "full": True}, "full is ours, added as the versioning policy allows"),
    Item("001", "rag.get", "the record with its quality", "rag_get", that(lambda v: v["doc_id"] == f"pmid:{WHOLE.pmid}" and isinstance(v["quality"]["total"], int) and v["version"] == 1), {"doc_id": f"pmid:{WHOLE.pmid}"}),
    Item("001", "rag.get", "the form of a doc_id", "rag_get", refused("VALIDATION", "doc_id"), {"doc_id": "1"}),
    Item("001", "Error Envelope", "unknown is NOT_FOUND", "rag_get", refused("NOT_FOUND"), {"doc_id": "pmid:39999999"}),
    Item("001", "checkpoint.get", "null where never synced", "corpus_checkpoint_get", is_(query_key="never", last_edat=None), {"query_key": "never"}),
    Item("001", "checkpoint.set", "moves by hand", "corpus_checkpoint_set", is_(ok=True), {"query_key": "moved", "last_edat": "2024-01-01T00:00:00Z"}),
    Item("001", "MCP Resources", "a paper of the corpus", f"resource://pubmed/paper/{WHOLE.pmid}", has("doc_id", "title", "abstract", "journal", "pub_types", "quality", "version")),
    Item("001", "MCP Resources", "any other paper of PubMed", f"resource://pubmed/paper/{CLOSED.pmid}", has("doc_id", "title", "abstract", "journal", "pub_types", "quality", "version")),
    # -- 003: MCP itself, and Entrez
    Item("003", "§1-6", "title, schemas and hints", "tools/list", _annotated),
    Item("003", "§8", "names of tools", "tools/list", that(lambda v: all(len(t["name"]) <= 128 and t["name"].isidentifier() for t in v["tools"]))),
    Item("003", "Phase 3", "the server has a title", "initialize", is_(name="papershelf", title="Papershelf")),
    Item("003", "§5", "the state of the key", "system_api_key_status", has("has_key", "rate_limit", "message"), {}, SNAKE),
    Item("003", "§4", "a tool without parameters", "system_api_key_status", refused("VALIDATION", "extra"), {"extra": 1}),
    Item("003", "§3", "errors with suggestions", "entrez_query", refused("VALIDATION", "Entrez has no database"), {"operation": "search", "database": "nosuch", "term": "a"}),
    Item("003", "All Tools", "search any database", "entrez_query", that(lambda v: v["total"] > 0 and v["ids"]), {"operation": "search", "database": "gene", "term": "human"}),
    Item("003", "All Tools", "post identifiers", "entrez_query", that(lambda v: v["id"].startswith("h_") and v["total"] == 1), {"operation": "post", "database": "pubmed", "ids": [WHOLE.pmid]}),
    Item("003", "All Tools", "what is here", "entrez_capabilities", has("toolsets", "extras", "keys")),
    Item("003", "All Tools", "one tool explained", "entrez_tool_info", that(lambda v: "post" in v["operations"]), {"tool_name": "entrez_query"}),
    # -- 004: arXiv, Semantic Scholar, PubMed
    Item("004", "search_arxiv", "fields of a preprint", "search_arxiv", that(lambda v: {"id", "title", "authors", "abstract", "published", "updated", "url", "pdf_url", "categories", "primary_category"} <= set(v["papers"][0])), {"query": "nucleation"}, SNAKE),
    Item("004", "search_arxiv", "a hundred at most", "search_arxiv", refused("VALIDATION", "max_results"), {"query": "a", "max_results": 101}),
    Item("004", "get_arxiv_paper", "in the version asked for", "get_arxiv_paper", is_(id=f"{ARXIV_ID}v1"), {"arxiv_id": f"arXiv:{ARXIV_ID}v1"}),
    Item("004", "get_arxiv_paper", "unknown is not found", "get_arxiv_paper", refused("NOT_FOUND"), {"arxiv_id": "2501.99999"}),
    Item("004", "arxiv_to_bibtex", "the version stays", "arxiv_to_bibtex", holds("bibtex", f"eprint = {{{ARXIV_ID}v1}}", "archivePrefix = {arXiv}"), {"arxiv_id": f"{ARXIV_ID}v1"}),
    Item("004", "get_semantic_scholar_paper", "by DOI", "get_semantic_scholar_paper", has("paper_id", "title", "abstract", "year", "authors", "citation_count", "reference_count", "influential_citation_count", "url", "venue", "publication_date"), {"identifier": WHOLE.doi}, SNAKE),
    Item("004", "get_pubmed_paper", "fields of a record", "get_pubmed_paper", has("pmid", "title", "abstract", "authors", "journal", "year", "doi", "url", "publication_types", "mesh_terms"), PMID, SNAKE),
    Item("004", "get_pubmed_paper", "unknown is not found", "get_pubmed_paper", refused("NOT_FOUND", "39999999"), {"pmid": "39999999"}, "the envelope of 001 stands for a bare text (C §3)"),
    Item("004", "pubmed_to_bibtex", "an entry", "pubmed_to_bibtex", holds("bibtex", "@article{", WHOLE.pmid), PMID),
    # -- C: the contracts
    Item("C", "§3", "an unknown argument is refused", "search_pubmed", refused("VALIDATION", "limit"), {"query": "a", "limit": 3}),
    Item("C", "§3 core", "dates open at one end", "search", that(lambda v: papers(v) and all(p["year"] >= "2020" for p in papers(v))), {"query": "cells", "min_date": "2020"}),
    Item("C", "§3 core", "until a date", "search", that(lambda v: papers(v) and all(p["year"] <= "2025" for p in papers(v))), {"query": "journal article[pt]", "max_date": "2025"}),
    Item("C", "§3 core", "no such order", "search", refused("VALIDATION", "sort_by"), {"query": "a", "sort_by": "newest"}),
    Item("C", "§3 core", "a paper is read", "read", holds("text", "## "), {"paper": WHOLE.pmid}),
    Item("C", "§3 core", "by section", "read", holds("text", "## Abstract"), {"paper": WHOLE.pmid, "section": "abstract"}),
    Item("C", "§3 core", "what is not here is not found", "read", refused("NOT_FOUND", "39999999"), {"paper": "39999999"}),
    Item("C", "§3 core", "what is on the shelf", "list", that(lambda v: WHOLE.pmid in {p["pmid"] for p in papers(v)}), {"text": WHOLE.plain_title.split()[0]}),
    Item("C", "§3 core", "of one kind", "list", that(lambda v: [p["pmid"] for p in papers(v)] == [CLOSED.pmid]), {"kind": "abstract"}),
    Item("C", "§3 core", "nothing on the shelf is no error", "list", that(lambda v: papers(v) == []), {"text": "zzqqx"}),
    Item("C", "§3 core", "papers around a paper", "relate", that(lambda v: (v["related_articles"] if isinstance(v, dict) else v)[0]["title"]), {"source_pmid": WHOLE.pmid}),
    Item("C", "§3 core", "references in a style", "cite", that(lambda v: len(v["references"] if isinstance(v, dict) else v) == 1), {"papers": [WHOLE.pmid], "style": "vancouver"}),
    Item("C", "§3 core", "no such style", "cite", that(lambda v: "error" in one(v) and one(v)["error"]["code"] == "VALIDATION"), {"papers": [WHOLE.pmid], "style": "rhyme"}),
    Item("C", "§3 core", "a stretch of a paper", "read_paper", that(lambda v: len(v["text"]) <= 1000 and v["next_start"]), {"paper": WHOLE.pmid, "max_chars": 1000}),
    Item("C", "§3 core", "no copy outside of the shelf", "download_paper", refused("VALIDATION"), {"pmid": WHOLE.pmid, "output_path": "../x.txt"}),
    Item("C", "§3 core", "identifiers of one paper only", "download_paper", refused("VALIDATION"), {"arxiv_id": "2601.00001", "doi": "10.48550/arXiv.2601.00002"}),
    Item("C", "§3 core", "a harvest is a job", "harvest_papers", has("job_id", "state", "counts"), {"ids": [WHOLE.pmid]}),
    Item("C", "§3 core", "no such job", "harvest_status", refused("NOT_FOUND", "nowhere"), {"job_id": "nowhere"}),
    Item("C", "§3 rag", "a sync of the corpus", "sync", is_(inserted=1), {"query_key": "again", "term": f"{CLOSED.pmid}[uid]"}),
    Item("C", "§3 pubmed", "three prompts at least", "prompts/list", that(lambda v: len(v["prompts"]) >= 3)),
    Item("C", "§3 pubmed", "resources of the shelf", "resources/list", that(lambda v: {"pubmed-connect://info", "pubmed-connect://stats/pubmed", "papers://index", "papers://{key}", "papers://report/{job_id}", "resource://pubmed/paper/{pmid}"} <= set(v["uris"]))),
    Item("C", "§3 pubmed", "references are matched", "match_citations", has("results", "matched"), {"citations": [{"journal": "Nature", "year": "1999", "volume": "1", "first_page": "1", "author": "Mann BJ"}]}),
    Item("C", "§3 pubmed", "spelling", "spell_check", has("query", "corrected_query"), {"query": "asthmaa"}),
    Item("C", "§3 pubmed", "MeSH terms", "lookup_mesh", has("query", "total", "terms"), {"term": "cells"}),
    Item("C", "§3 entrez", "every database is counted", "entrez_query", has("counts"), {"operation": "global_query", "term": "human"}),
    Item("C", "§3 entrez", "staged records are listed", "entrez_data", has("datasets"), {"operation": "list_datasets"}),
    Item("004", "search_semantic_scholar", "fields of a paper", "search_semantic_scholar", that(lambda v: {"paper_id", "title", "citation_count", "venue"} <= set(v["papers"][0])), {"query": WHOLE.plain_title}, SNAKE),
    Item("004", "get_paper_citations", "who cites it", "get_paper_citations", has("papers", "total"), {"paper_id": f"DOI:{WHOLE.doi}"}, SNAKE),
    Item("004", "semantic_scholar_to_bibtex", "an entry", "semantic_scholar_to_bibtex", holds("bibtex", "@article{"), {"identifier": WHOLE.doi}),
    Item("C", "§3 pubmed", "the crosswalk of identifiers", "convert_ids", that(lambda v: v["records"][0]["doi"] == WHOLE.doi and v["records"][1]["status"] == "invalid"), {"ids": [WHOLE.pmid, "banana"]}),
)  # fmt: skip
