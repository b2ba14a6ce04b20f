"""Calls as language models write them from memory: each has one meaning, and is answered."""

import json
from typing import Any

import pytest
from fastmcp import Client

from tests.mcp.calling import call
from utils.mcp import build
from utils.mcp.arguments import normalize_arguments

pytestmark = pytest.mark.anyio
TOOLSETS = ("all",)
WHOLE, CLOSED = "pmc_cloud", "paywall"

# Slips, by tool. {pmid}, {doi}, {pmcid} and {other} are those of two papers of the stand-in.
SLIPS: list[tuple[str, dict[str, Any]]] = [
    # another name for a parameter
    ("search_pubmed", {"query": "cells", "limit": 3}),
    ("search_pubmed", {"query": "cells", "maxResults": "3"}),
    ("search_pubmed", {"term": "cells", "retmax": 3}),
    ("search_pubmed", {"query": "cells", "start_date": "2020-01-01", "end_date": "2026-12-31"}),
    ("search_pubmed", {"query": "cells", "year_from": 2020, "year_to": 2026}),
    ("search_pubmed", {"query": "cells", "date_range": "2019-2026"}),
    ("search_pubmed", {"query": "cells", "year": 2025}),
    ("search_pubmed", {"query": "cells", "sort": "date"}),
    ("search_pubmed", {"query": "cells", "filters": {"min_date": "2020", "max_results": 2}}),
    ("search_pubmed_lr", {"ligand": ["CXCL12"], "receptor": "CXCR4", "max_results": "2"}),
    ("search_pubmed_articles", {"query": "cells", "publication_types": "Review"}),
    ("search_pubmed_articles", {"query_term": "cells", "date_range": {"min_date": "2020-01"}}),
    ("search_pubmed_articles", {"query_term": "cells", "sort_by": "journal_name"}),
    ("download_paper", {"paper": "{pmid}"}),
    ("download_paper", {"identifier": "https://doi.org/{doi}"}),
    ("download_papers", {"pmids": ["{pmid}"]}),
    ("read_paper", {"pmid": "{pmid}"}),
    ("read_papers", {"ids": ["{pmid}"], "query": "cells", "section": "methods"}),
    ("harvest_papers", {"ids": "{pmid}, {other}"}),
    ("get_article_relationships", {"source_pmid": "{pmid}", "max_related_results": 2}),
    ("get_paper_citations", {"paper_id": "{doi}", "limit": 2}),
    ("get_semantic_scholar_paper", {"identifier": "{doi}"}),
    ("search_arxiv", {"query": "nucleation", "start_year": "2020", "sort_by": "submittedDate"}),
    ("search_arxiv", {"query": "nucleation", "min_date": "2020-05-01", "sort_by": "Date"}),
    ("search_semantic_scholar", {"query": "cells", "field_of_study": "biology", "n": 3}),
    ("search_papers", {"query": "cells", "sources": "PubMed, arXiv", "from_date": "2020-01-31"}),
    ("rag_search", {"query": "cells", "limit": 3, "year_from": 2000}),
    ("rag_search", {"query": "cells", "filters": '{"min_date": "2000", "pub_types": "Review"}'}),
    ("lookup_mesh", {"term": "chemokines", "limit": "2"}),
    ("entrez_query", {"operation": "Search", "db": "gene", "term": "human", "retmax": "5"}),
    ("check_manuscript", {"manuscript": "Cells move."}),
    # another form of a value
    ("search_pubmed", {"query": "cells", "max_results": "1,000", "sort_by": "Relevance"}),
    ("search_pubmed", {"query": "cells", "max_results": 3.0, "date_type": "PDAT"}),
    ("search_pubmed", {"query": "cells", "min_date": "2020-01-31", "max_date": "present"}),
    ("search_pubmed", {"query": "cells", "min_date": 2020, "max_date": None}),
    ("search_pubmed", {"query": "cells", "publication_types": "Review, Meta-Analysis"}),
    ("download_paper", {"pmid": 0, "doi": "doi:{doi}"}),
    ("download_paper", {"pmid": "{doi}"}),
    ("download_paper", {"pmid": "PMID: {pmid}", "prefer_pmc": "True", "force": "no"}),
    ("download_papers", {"papers": "{pmid}, {pmcid}; https://doi.org/{doi}"}),
    ("download_papers", {"papers": '["{pmid}", "{other}"]'}),
    ("download_papers", {"papers": [{"pmid": "{pmid}"}, {"doi": "{doi}"}]}),
    ("download_papers", {"papers": "{pmid} {other}"}),
    ("read_paper", {"paper": "PMID {pmid}", "max_chars": "500"}),
    ("read_papers", {"papers": "{pmid}", "sections": "Methods, Results", "outline": "true"}),
    ("cite_papers", {"papers": "{pmid}", "style": "Vancouver"}),
    ("cite_papers", {"paper": "{pmid}", "format": "apa_string"}),
    ("cite_papers", {"papers": ["{pmid}"], "style": "CSL-JSON"}),
    ("get_article_relationships", {"pmid": "{pmid}", "relationship_type": "citation_formats",
                                   "styles": "APA, BibTeX"}),
    ("get_article_relationships", {"pmid": "{pmid}", "relationship_type": "cited by"}),
    ("fetch_article_details", {"pmids": "{pmid},{other}", "detail_level": "Abstract Plus"}),
    ("convert_ids", {"ids": "{pmid}, {pmcid}"}),
    ("match_citations", {"citations": {"journal": "Signals and Cells", "year": 2025,
                                       "volume": 7, "pages": "11-19", "authors": ["Doe J"]}}),
    ("verify_quotes", {"quotes": "Cells were counted."}),
    ("verify_quotes", {"quotes": ["Cells were counted.", "Slices were cut."]}),
    ("list_papers", {"query": "cells", "kind": "Full text", "min_date": "2020-01-31"}),
    ("list_papers", {"kind": "any", "year_from": 2020}),
    ("rag_get", {"doc_id": "PMID: {pmid}"}),
    ("rag_get", {"pmid": "{pmid}"}),
    ("entrez_query", {"operation": "summary", "database": "gene", "ids": "672, 675"}),
    ("entrez_query", {"operation": "fetch", "ids": "{pmid}", "rettype": "medline"}),
]  # fmt: skip
# The corpus is empty, which is an answer, too.
_OF_CORPUS = {"rag_get": "NOT_FOUND", "rag_search": "STORE"}


def filled(value: Any, names: dict[str, str]) -> Any:
    """A slip with the identifiers of the stand-in's papers."""
    if isinstance(value, str):
        for name, meant in names.items():
            value = value.replace(f"{{{name}}}", meant)
        return value
    if isinstance(value, list):
        return [filled(one, names) for one in value]
    if isinstance(value, dict):
        return {name: filled(one, names) for name, one in value.items()}
    return value


@pytest.fixture
def names(world):
    whole, closed = world.paper(WHOLE), world.paper(CLOSED)
    named = {"pmid": whole.pmid, "doi": whole.doi, "pmcid": whole.pmcid}
    return {**named, "other": closed.pmid}


@pytest.mark.parametrize("tool", dict.fromkeys(tool for tool, _ in SLIPS))
async def test_slips_with_one_meaning_are_answered(library, names, tool):
    if tool == "read_paper":
        library.download(names["pmid"])
    faults = {}
    for slip in [slip for name, slip in SLIPS if name == tool]:
        result = await call(library, tool, filled(slip, names))
        error = json.loads(result.content[0].text)["error"] if result.is_error else {}
        if error and error["code"] != _OF_CORPUS.get(tool):
            faults[json.dumps(slip)] = error
    assert not faults


@pytest.mark.parametrize(
    ("tool", "slip", "named"),
    [
        ("search_pubmed", {"query": "cells", "colour": "red"}, "colour"),
        ("search_pubmed", {"query": "cells", "max_results": "many"}, "max_results"),
        ("search_pubmed", {"query": "cells", "max_results": True}, "max_results"),
        ("search_pubmed", {"query": "cells", "limit": 5000}, "limit"),
        ("search_pubmed", {"query": "cells", "min_date": "last year"}, "min_date"),
        ("search_pubmed", {"query": "cells", "sort_by": "colour"}, "sort_by"),
        ("search_pubmed_articles", {"query_term": "ab"}, "query_term"),
        ("search_pubmed", {"query": "cells", "q": "moss"}, "q is not an argument"),
        ("cite_papers", {"papers": ["1"], "style": "harvard"}, "harvard"),
        ("download_papers", {"papers": 1.5}, "papers"),
        ("read_paper", {"paper": ["1", "2"]}, "paper"),
        ("rag_get", {"doc_id": "1"}, "doc_id"),
    ],
)
async def test_what_has_no_meaning_or_two_is_named_as_it_was_written(library, tool, slip, named):
    result = await call(library, tool, slip)
    assert result.is_error
    error = json.loads(result.content[0].text)["error"]
    assert (error["code"], named in error["message"]) == ("VALIDATION", True), error


async def test_every_parameter_has_one_sentence_and_each_idea_one_name(library):
    """No listed parameter is without a description, nor a second spelling of one listed."""
    async with Client(build(library)) as client:
        tools = await client.list_tools()
    listed = {tool.name: [*parameters(tool.input_schema)] for tool in tools}
    for tool, found in listed.items():
        for name, schema in found:
            assert schema.get("description", "").endswith((".", "…")), (tool, name)
    names = {name for found in listed.values() for name, _ in found}
    limits = {name for name in names if "date" in name or "year" in name}
    assert limits == {"min_date", "max_date", "date_type", "year"}  # year: of a printed reference
    assert not names & {"sort", "query_term", "source_pmid", "paper_id", "identifier", "max_rows"}
    orders = {one for found in listed.values() for name, schema in found
              if name == "sort_by" for one in schema.get("enum", ())}  # fmt: skip
    assert orders == {"relevance", "pub_date", "update_date", "author", "journal"}


def parameters(schema: Any) -> Any:
    """Every parameter of a schema with its schema, at every depth."""
    for name, inner in schema.get("properties", {}).items():
        yield name, inner
        yield from parameters(inner)
        yield from parameters(inner.get("items", {}))


LIST = {"type": "array", "items": {"type": "string"}}


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("1, 2\n3", ["1", "2", "3"]),
        ("['31452104', '31452105']", ["31452104", "31452105"]),
        ("10.1002/(SICI)1097-4636(199823)43:4<338::AID-JBM16>3.0.CO;2-B",) * 2,
        ("Clinical Trial, Phase III; Review", ["Clinical Trial, Phase III", "Review"]),
        (["Materials, methods and results"], ["Materials, methods and results"]),
        (["31452104, 31452105"], ["31452104", "31452105"]),
        (7, ["7"]),
        ("", []),
        ("one heading", ["one heading"]),
        ([1.5, True], [1.5, True]),
    ],
)
def test_a_text_of_several_values_is_a_list(value, found):
    schema = {"properties": {"papers": LIST}}
    wanted = found if isinstance(found, list) else [found]
    assert normalize_arguments({"papers": value}, schema) == {"papers": wanted}
