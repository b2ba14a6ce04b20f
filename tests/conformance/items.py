"""The requirements of the reference documents, one item each: where it stands, the call, the check.

``001`` to ``004`` and ``000`` are the five reference documents, ``contracts`` the page that merged
them. Where the product does otherwise, ``deviation`` says why, and the check is of what it does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

Answer = dict[str, Any]
MCP = ("stdio", "http")
ROW = {"pmid", "title", "abstract", "authors", "year", "journal", "doi", "pmcid"}
BRIEF = {"pmid", "title", "first_author", "year", "journal", "doi", "pmcid"}
CODES = {
    *("RATE_LIMIT", "UPSTREAM", "VALIDATION", "NOT_FOUND", "INVARIANT_FAILURE", "STORE"),
    *("EMBEDDINGS", "WEAVIATE", "ENTREZ", "UNKNOWN"),
}


class Item(NamedTuple):
    """A requirement. ``{branch}`` in a call is the PMID of the world's paper of that branch."""

    document: str
    paragraph: str
    about: str
    tool: str
    arguments: Mapping[str, Any]
    check: Callable[[Answer], bool]
    shell: tuple[str, ...] = ()
    deviation: str = ""

    @property
    def doors(self) -> tuple[str, ...]:
        """Where it holds."""
        return (*MCP, "shell") if self.shell else MCP


def refused(code: str) -> Callable[[Answer], bool]:
    """The envelope, with a way out."""

    def check(got: Answer) -> bool:
        error = got["error"]
        assert code in CODES
        return error["code"] == code and bool(error["message"]) and bool(error["suggestions"])

    return check


def named(name: str) -> Callable[[Answer], bool]:
    """The file of a paper has this name and an absolute path."""
    return lambda got: Path(got["file_path"]).is_absolute() and got["file_path"].endswith(name)


def strings(got: Answer) -> bool:
    """Every row has the fields of a search, all of them texts."""
    return bool(got["papers"]) and all(
        isinstance(row[name], str) for row in got["papers"] for name in ROW
    )


def nothing(total: str, rows: str) -> Callable[[Answer], bool]:
    """An empty answer, which is no error."""
    return lambda got: "error" not in got and got[total] == 0 and got[rows] == []


ITEMS = [
    Item("002", "Search results", "eight fields, texts all", "search_pubmed", {"query": "CXCL12"},
         strings, ("search", "CXCL12")),
    Item("002", "Ligand-receptor search", "the query's template", "search_pubmed_lr",
         {"ligand": "CXCL12", "receptor": "CXCR4"}, lambda got: got["query"].startswith(
             "(CXCL12[Gene Symbol] OR CXCL12[MeSH Terms]) AND (CXCR4[Gene Symbol]")),
    Item("002", "Ligand-receptor search", "rows name the pair", "search_pubmed_lr",
         {"ligand": "CXCL12", "receptor": "CXCR4"},
         lambda got: {(row["ligand"], row["receptor"]) for row in got["papers"]}
         == {("CXCL12", "CXCR4")}),
    Item("002", "Minimal search", "the essential fields only", "search_pubmed_minimal",
         {"query": "CXCL12"}, lambda got: all(set(row) == BRIEF for row in got["papers"])),
    Item("002", "Download results", "success, path, source, message", "download_paper",
         {"pmid": "{pmc_cloud}"}, lambda got: got["success"] is True and bool(got["message"])
         and got["source"] in {"Cache", "PMC"}, ("download", "{pmc_cloud}")),
    Item("002", "File names", "a paper with a DOI", "download_paper", {"pmid": "{pmc_cloud}"},
         named("/10.9103_signals.2025.0001.txt"), ("download", "{pmc_cloud}")),
    Item("002", "File names", "an abstract alone", "download_paper", {"pmid": "{paywall}"},
         lambda got: got["file_path"].endswith("_abstract.txt") and got["kind"] == "abstract",
         ("download", "{paywall}")),
    Item("002", "Error handling", "success: false", "download_paper", {"pmid": "39999999"},
         refused("NOT_FOUND"), ("download", "39999999"),
         "an error is the envelope with isError, as contracts §3 decides"),
    Item("000", "§3.1", "a query of three characters at least", "search_pubmed_articles",
         {"query_term": "ab"}, refused("VALIDATION")),
    Item("000", "§3.1", "PMIDs and their number", "search_pubmed_articles",
         {"query_term": "CXCL12"}, lambda got: got["retrieved_pmid_count"] == len(got["pmids"])
         and got["total_found"] >= len(got["pmids"]) > 0),
    Item("000", "§3.1", "no summaries unasked", "search_pubmed_articles",
         {"query_term": "CXCL12"}, lambda got: got["brief_summaries"] == []),
    Item("000", "§3.1", "summaries of the first", "search_pubmed_articles",
         {"query_term": "CXCL12", "fetch_brief_summaries": 1},
         lambda got: set(got["brief_summaries"][0]) >= {"pmid", "title", "authors", "source"}),
    Item("000", "§3.2", "PMIDs that are not found", "fetch_article_details",
         {"pmids": ["{pmc_cloud}", "39999999"]},
         lambda got: got["not_found_pmids"] == ["39999999"] and len(got["articles"]) == 1),
    Item("000", "§3.3", "similar articles by default", "get_article_relationships",
         {"source_pmid": "{pmc_cloud}"}, lambda got: 0 < len(got["related_articles"]) <= 5
         and got["relationship_type"] == "pubmed_similar_articles"),
    Item("000", "§3.3", "citation formats", "get_article_relationships",
         {"source_pmid": "{pmc_cloud}", "relationship_type": "citation_formats",
          "citation_styles": ["ris", "bibtex", "apa_string", "mla_string"]},
         lambda got: set(got["citations"]) == {"ris", "bibtex", "apa_string", "mla_string"}),
    Item("001", "corpus.checkpoint.get", "null before any sync", "corpus_checkpoint_get",
         {"query_key": "never synced"},
         lambda got: got == {"query_key": "never synced", "last_edat": None}),
    Item("001", "rag.get", "doc_id is pmid: and digits", "rag_get", {"doc_id": "41000001"},
         refused("VALIDATION")),
    Item("001", "pubmed.sync_delta", "a term of one character at least", "pubmed_sync_delta",
         {"query_key": "k", "term": ""}, refused("VALIDATION")),
    Item("003", "No-parameter tools", "a closed empty schema", "system_api_key_status",
         {"surplus": 1}, refused("VALIDATION")),
    Item("003", "Output schema", "hasKey, rateLimit, message", "system_api_key_status", {},
         lambda got: got["has_key"] is False and {"rate_limit", "message"} <= set(got),
         deviation="snake_case, as contracts decide"),
    Item("003", "Entrez gateway", "EPost makes a history", "entrez_query",
         {"operation": "post", "database": "gene", "ids": ["672"]},
         lambda got: got["id"].startswith("h_") and got["total"] == 1),
    Item("003", "Entrez gateway", "post stands among the operations", "entrez_tool_info",
         {"tool_name": "entrez_query"}, lambda got: "post" in got["operations"]),
    Item("004", "search_arxiv", "the fields of a paper", "search_arxiv", {"query": "nucleation"},
         lambda got: {"id", "title", "authors", "abstract"} <= set(got["papers"][0])),
    Item("004", "arxiv_to_bibtex", "the version that was asked for", "arxiv_to_bibtex",
         {"arxiv_id": "2511.04014v1"}, lambda got: "2511.04014v1" in got["bibtex"]),
    Item("004", "get_pubmed_paper", "MeSH terms", "get_pubmed_paper", {"pmid": "{pmc_cloud}"},
         lambda got: bool(got["mesh_terms"])),
    Item("004", "pubmed_to_bibtex", "an entry", "pubmed_to_bibtex", {"pmid": "{pmc_cloud}"},
         lambda got: got["bibtex"].startswith("@article{")),
    Item("004", "Not found (404)", "an error with that name", "get_pubmed_paper",
         {"pmid": "39999999"}, refused("NOT_FOUND")),
    Item("contracts", "§3 core", "no hits are no error", "search_pubmed", {"query": "zzzqqq"},
         nothing("total", "papers")),
    Item("contracts", "§3 core", "what was not found is named", "search_pubmed",
         {"query": "zzzqqq"}, lambda got: "zzzqqq" in got["warnings"][0]),
    Item("contracts", "§3 literature", "no hits are no error", "search_arxiv",
         {"query": "zzzqqq"}, nothing("total", "papers")),
    Item("contracts", "§3 literature", "no hits are no error (Semantic Scholar)",
         "search_semantic_scholar", {"query": "zzzqqq"}, nothing("total", "papers")),
    Item("contracts", "§3 entrez", "no hits are no error", "entrez_query",
         {"operation": "search", "database": "gene", "term": "zzzqqq"}, nothing("total", "ids")),
    Item("contracts", "§3 pubmed", "no hits are no error", "lookup_mesh", {"term": "zzzqqq"},
         nothing("total", "terms")),
    Item("contracts", "§3 core", "nothing to harvest is named so", "harvest_papers",
         {"query": "zzzqqq"}, refused("NOT_FOUND"),
         deviation="there is no job of no papers; NOT_FOUND, never VALIDATION"),
    Item("contracts", "§3 core", "max_results from 1 to 1000", "search_pubmed",
         {"query": "CXCL12", "max_results": 1001}, refused("VALIDATION")),
    Item("contracts", "§3 core", "copies inside PAPERS_DIR only", "download_paper",
         {"pmid": "{pmc_cloud}", "output_path": "../elsewhere.txt"}, refused("VALIDATION")),
    Item("contracts", "§3", "closed input schemas", "search_pubmed",
         {"query": "CXCL12", "surplus": 1}, refused("VALIDATION")),
    Item("contracts", "§1", "what is no identifier is refused", "download_paper",
         {"pmid": "banana"}, refused("VALIDATION"), ("download", "banana")),
]  # fmt: skip
