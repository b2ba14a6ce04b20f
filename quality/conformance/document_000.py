"""000: specification of a PubMed server. Three tools, two resources, HTTP with tokens."""

# ruff: noqa: E501 - an item is a line of the table
import itertools
import json
from functools import partial
from typing import Any

from quality.conformance.examples import (
    CLOSED,
    ENVELOPE,
    GUEST,
    KEYED,
    ONE_NAME,
    OVER_HTTP,
    PAPERS,
    POLITE,
    SLOW,
    SNAKE,
    UNKNOWN,
    WHOLE,
)  # fmt: skip
from quality.conformance.items import (
    Check,
    Item,
    Met,
    all_of,
    asked,
    each,
    has,
    holds,
    is_,
    nobody_asked,
    one,
    refused,
    sent,
    shown,
    takes,
    that,
)  # fmt: skip
from quality.conformance.settings import secret, setting

item = partial(Item, "000")
ARTICLE = {"query_term": "cells", "max_results": 3, "fetch_brief_summaries": 2}
RELATED = {"source_pmid": WHOLE.pmid}
ALL_STYLES = ["ris", "bibtex", "apa_string", "mla_string"]
BLOB = "JSON as text, not as a Base64 blob: hosts show models a resource's text, and blobs as attachments"
GRANTED = {"pmids": [WHOLE.pmid], "include_grant_info": True}


def answered(status: int, **headers: str) -> Check:
    """HTTP answered with this status, and headers that begin so."""

    def check(met: Met) -> None:
        assert met.value["status"] == status, met.value
        for name, value in headers.items():
            assert met.value["headers"].get(name.replace("_", "-"), "").startswith(value), met.value

    return check


def article(test: Any) -> Check:
    """The first article of the answer passes a test."""
    return that(lambda v: test(v["articles"][0]))


def logged(*words: str, never: str = "") -> Check:
    """A line of the log files holds these words, and none holds the other one."""

    def check(met: Met) -> None:
        lines = [
            line
            for path in (met.shelf.parent / "logs").glob("*.log*")
            for line in path.read_text(encoding="utf-8").splitlines()
        ]
        assert lines
        assert any(all(word in line for word in words) for line in lines), lines[:5]
        assert all(json.loads(line)["level"] for line in lines)
        assert not never or not any(never in line for line in lines)

    return check


def foreign_token(endpoint: Any) -> str:
    """A token that somebody with another secret signed."""
    from pydantic import SecretStr

    from utils.mcp.auth import make_token

    other = SecretStr("another secret of more than thirty-two bytes")
    changed = endpoint.settings.model_copy(update={"mcp_auth_secret_key": other})
    return make_token(changed, "mallory", ("read",), 1)


def _spaced(met: Met, least: float) -> None:
    # The stand-in notes when a request arrives. A first one that opens a connection on a busy
    # machine arrives late, so the gap seen here is shorter than the one between the two sendings.
    times = [r.at for r in met.requests if r.service == "eutils"]
    assert all(later - earlier >= 0.5 * least for earlier, later in itertools.pairwise(times)), (
        times
    )


def _retried(met: Met) -> None:
    statuses = [r.status for r in met.requests if r.service == "eutils"]
    assert statuses[:3] == [429, 429, 200], statuses
    assert "error" not in one(met.value)
    pauses = [nap for nap in met.naps if nap >= 0.9]
    assert pauses == sorted(pauses), met.naps


def _http_without_secret(library: Any) -> Any:
    from utils.mcp.http import build_application

    return build_application(library, "http://127.0.0.1:3010/mcp")


ITEMS = (
    # -- §2: configuration
    item("§2", "a transport, a port, a host", "settings", all_of(setting("MCP_TRANSPORT_TYPE", "http"), setting("MCP_HTTP_PORT", "3999"), setting("MCP_HTTP_HOST", "127.0.0.2")), settings=OVER_HTTP),
    item("§2", "NCBI_ADMIN_EMAIL is the address, PUBMED_API_KEY the key", "settings", all_of(setting("PUBMED_EMAIL", "admin@lab.edu"), secret("NCBI_API_KEY")), settings=OVER_HTTP, doors=("shell",)),
    item("§2", "a tool name for NCBI", "search", sent("eutils", "esearch", tool="lab-pipeline"), {"query": "cells"}, settings=GUEST),
    item("§2", "by default pubmed-mcp-server/<version>", "settings", setting("NCBI_TOOL_IDENTIFIER", "papershelf"), {}, "NCBI asks for one name for one program, without blanks; it is this program's, and the version stands in the User-Agent"),
    item("§2", "no key: as a guest", "search", sent("eutils", "esearch", api_key=None), {"query": "marrow"}, "a key is wanted, not required: NCBI serves three requests a second without one, and who tries the program has none yet", settings=GUEST),
    item("§2", "so many tries and no more", "search", all_of(refused("UPSTREAM"), asked(lambda all_: len(all_) == 2, "eutils")), {"query": "spleen"}, settings=GUEST, meanwhile=lambda world: world.mood("down", "eutils")),
    item("§2", "a longer delay is kept", "search", all_of(asked(lambda all_: len(all_) == 2, "eutils"), lambda met: _spaced(met, 2.0)), {"query": "biopsies OR slices"}, settings=SLOW),
    item("§2", "a shorter one than NCBI allows is not", "search", all_of(asked(lambda all_: len(all_) == 2, "eutils"), lambda met: _spaced(met, 0.1)), {"query": "biopsies OR slices"}, "it may slow down, never speed past what NCBI allows, or the whole lab's address is shut out", settings=KEYED),
    item("§2", "key, tool and address in every request", "articles", asked(lambda all_: all_ and all(r.params["api_key"] and r.params["tool"] and r.params["email"] for r in all_), "eutils"), {"query_term": "interferon", "max_results": 2, "fetch_brief_summaries": 1}),
    item("§2", "logs by level, in a folder", "search", logged('"level": "debug"', "esearch.fcgi", '"status": 200', '"ms"', never="0123456789abcdef"), {"query": "granules"}, doors=("stdio",)),
    # -- §2: authentication
    item("§2 Authentication", "no token, no answer", "POST", answered(401, www_authenticate="Bearer"), {}),
    item("§2 Authentication", "nor with one that is none", "POST", answered(401), {"token": "letmein"}),
    item("§2 Authentication", "nor with somebody else's", "POST", answered(401), {"token": foreign_token}),
    item("§2 Authentication", "nor with one that has run out", "POST", answered(401), {"token": lambda endpoint: endpoint.token(days=-1)}),
    item("§2 Authentication", "a good one is let in", "POST", answered(200), {"token": lambda endpoint: endpoint.token()}),
    item("§2 Authentication", "HTTP does not start without a secret", "library", refused("VALIDATION", "needs a key to check tokens"), {"does": _http_without_secret}),
    item("§2 Origin Validation", "a foreign page is refused", "POST", answered(403), {"token": lambda endpoint: endpoint.token(), "origin": "https://evil.example"}),
    item("§2 Origin Validation", "even with nothing allowed", "POST", answered(403), {"token": lambda endpoint: endpoint.token(), "origin": "null"}),
    item("§2 Origin Validation", "an allowed page is served, with CORS", "POST", answered(200, access_control_allow_origin="https://lab.edu"), {"token": lambda endpoint: endpoint.token(), "origin": "https://lab.edu"}, settings=KEYED),
    item("§2 Origin Validation", "and no other beside it", "POST", answered(403), {"token": lambda endpoint: endpoint.token(), "origin": "https://lab.edu.evil.example"}, settings=KEYED),
    item("§2.1", "no more than three a second without a key", "system_api_key_status", is_(rate_limit="3 requests/second"), {}, settings=GUEST),
    # -- §3.1: search
    item("§3.1", "parameters, bounds and defaults", "tools/list", takes("search_pubmed_articles", query={"minLength": 3}, max_results={"default": 20, "maximum": 1000, "minimum": 1}, sort_by={"default": "relevance", "enum": ["pub_date", "relevance", "author", "journal"]}, min_date="string", max_date="string", date_type={"default": "pdat"}, publication_types="array", fetch_brief_summaries={"default": 0, "minimum": 0, "maximum": 100}), {}, ONE_NAME),
    item("§3.1", "the order as the document names it", "search_pubmed_articles", that(lambda v: v["search_parameters"]["sort_by"] == "journal"), {**ARTICLE, "sort_by": "journal_name"}),
    item("§3.1", "fields of a search", "search_pubmed_articles", has("search_parameters", "effective_search_term", "total_found", "retrieved_pmid_count", "pmids", "brief_summaries", "e_search_url", "e_summary_url"), ARTICLE, SNAKE),
    item("§3.1", "content of type application/json", "search_pubmed_articles", shown(lambda r: r.structured_content and r.content[0].type == "text"), ARTICLE, "MCP knows no such content: the data are in structuredContent, and in a text made from it"),
    item("§3.1", "what was asked is said again", "search_pubmed_articles", that(lambda v: v["search_parameters"] == {"query_term": "cells", "max_results": 3, "sort_by": "relevance", "date_range": {"min_date": "", "max_date": "", "date_type": "pdat"}, "filter_by_publication_types": [], "fetch_brief_summaries": 2}), ARTICLE),
    item("§3.1", "as many PMIDs and summaries as asked for", "articles", that(lambda v: (len(v["brief_summaries"]), len(v["pmids"]), v["retrieved_pmid_count"]) == (2, 3, 3)), ARTICLE),
    item("§3.1", "total_found counts all", "articles", that(lambda v: v["total_found"] > 3), ARTICLE),
    item("§3.1", "fields of a brief summary", "search_pubmed_articles", each("brief_summaries", "pmid", "title", "authors", "source", "pub_date", "epub_date"), ARTICLE, SNAKE),
    item("§3.1", "authors as ESummary has them, in one line", "articles", that(lambda v: ", " in v["brief_summaries"][0]["authors"]), ARTICLE),
    item("§3.1", "dates are ISO 8601", "search_pubmed_articles", that(lambda v: all(s["pub_date"][:4].isdigit() and s["pub_date"][4:5] in ("", "-") for s in v["brief_summaries"])), ARTICLE, "as precise as PubMed knows it: 2023-03 stays a month"),
    item("§3.1", "summaries through the history server, version 2.0", "articles", all_of(sent("eutils", "esearch", usehistory="y", retmax="4", db="pubmed"), sent("eutils", "esummary", version="2.0", retmax="2", query_key="1")), {"query_term": "field OR slices OR droplets", "max_results": 4, "fetch_brief_summaries": 2}),
    item("§3.1", "no history where no summaries are wanted", "articles", all_of(sent("eutils", "esearch", usehistory=None), asked(lambda all_: len(all_) == 1)), {"query_term": "pollen"}),
    item("§3.1", "e_summary_url only if it was asked", "search_pubmed_articles", that(lambda v: v["e_summary_url"] == "" and v["brief_summaries"] == []), {"query_term": "pollen"}),
    item("§3.1", "types become Entrez syntax", "articles", holds("effective_search_term", '"Review"[pt]'), {**ARTICLE, "filter_by_publication_types": ["Review"]}),
    item("§3.1", "several types are alternatives", "articles", holds("effective_search_term", '"Review"[pt] OR "Clinical Trial"[pt]'), {**ARTICLE, "filter_by_publication_types": ["Review", "Clinical Trial"]}),
    item("§3.1", "a range of dates", "articles", all_of(sent("eutils", "esearch", mindate="2020/02", maxdate="2025/03/01", datetype="edat"), that(lambda v: v["total_found"] < 50)), {"query_term": "journal article[pt]", "date_range": {"min_date": "2020/02", "max_date": "2025/03/01", "date_type": "edat"}}),
    item("§3.1", "a range open at one end", "articles", holds("effective_search_term", "2020:3000[pdat]"), {**ARTICLE, "date_range": {"min_date": "2020"}}),
    item("§3.1", "a date that is none", "articles", refused("VALIDATION", "min_date"), {**ARTICLE, "date_range": {"min_date": "last year"}}),
    item("§3.1", "three characters at least", "search_pubmed_articles", refused("VALIDATION", "query_term"), {"query_term": "ab"}),
    item("§3.1", "a thousand at most", "search_pubmed_articles", refused("VALIDATION", "max_results"), {"query_term": "cells", "max_results": 1001}),
    item("§3.1", "a hundred summaries at most", "search_pubmed_articles", refused("VALIDATION", "fetch_brief_summaries"), {"query_term": "cells", "fetch_brief_summaries": 101}),
    item("§3.1", "no such order", "search_pubmed_articles", refused("VALIDATION", "sort_by"), {"query_term": "cells", "sort_by": "last_author"}),
    item("§3.1", "no key or address in URLs", "articles", that(lambda v: "esearch.fcgi?db=pubmed" in v["e_search_url"] and "api_key" not in v["e_search_url"] and "email" not in v["e_search_url"]), ARTICLE),
    # -- §3.2: details
    item("§3.2", "parameters, bounds and defaults", "tools/list", takes("fetch_article_details", pmids={"minItems": 1, "maxItems": 200}, detail_level={"default": "abstract_plus", "enum": ["abstract_plus", "full_xml", "medline_text", "citation_data"]}, include_mesh_terms={"default": True}, include_grant_info={"default": False}), {}, SNAKE),
    item("§3.2", "fields of the answer", "fetch_article_details", has("requested_pmids", "articles", "not_found_pmids", "e_fetch_details"), {"pmids": [WHOLE.pmid]}, SNAKE),
    item("§3.2", "fields of a record", "fetch_article_details", each("articles", "pmid", "title", "abstract_text", "authors", "journal_info", "publication_types", "keywords", "mesh_terms", "doi"), {"pmids": [WHOLE.pmid]}, SNAKE),
    item("§3.2", "authors by name, with affiliation", "fetch_article_details", article(lambda a: {"last_name", "first_name", "initials", "affiliation"} <= set(a["authors"][0])), {"pmids": [WHOLE.pmid]}, SNAKE),
    item("§3.2", "the journal, and its date in parts", "fetch_article_details", article(lambda a: (a["journal_info"]["iso_abbreviation"], a["journal_info"]["volume"], a["journal_info"]["pages"], a["journal_info"]["publication_date"]["year"]) == (WHOLE.journal.short, WHOLE.volume, "11-19", 2025)), {"pmids": [WHOLE.pmid]}, SNAKE),
    item("§3.2", "MeSH terms with qualifier, weight and UI", "fetch_article_details", article(lambda a: {"descriptor_name", "qualifier_name", "is_major_topic", "ui"} <= set(a["mesh_terms"][0])), {"pmids": [WHOLE.pmid]}, SNAKE),
    item("§3.2", "no MeSH terms if not wanted", "fetch_article_details", article(lambda a: not a.get("mesh_terms")), {"pmids": [WHOLE.pmid], "include_mesh_terms": False}),
    item("§3.2", "grants only when asked for", "fetch_article_details", article(lambda a: "grant_list" not in a), {"pmids": [WHOLE.pmid]}),
    item("§3.2", "grants when asked for", "fetch_article_details", article(lambda a: "grant_list" in a), GRANTED),
    item("§3.2", "PMIDs not found are named", "details", that(lambda v: v["not_found_pmids"] == [UNKNOWN] and [a["pmid"] for a in v["articles"]] == [WHOLE.pmid]), {"pmids": [WHOLE.pmid, UNKNOWN]}),
    item("§3.2", "raw XML", "fetch_article_details", holds("text", "<PubmedArticle>", WHOLE.pmid), {"pmids": [WHOLE.pmid], "detail_level": "full_xml"}),
    item("§3.2", "MEDLINE text, as NCBI makes it", "fetch_article_details", all_of(holds("text", "PMID- ", CLOSED.pmid, "TI  - "), sent("eutils", "efetch", rettype="medline", retmode="text")), {"pmids": [CLOSED.pmid], "detail_level": "medline_text"}),
    item("§3.2", "what a citation needs", "fetch_article_details", article(lambda a: a["pages"] and a["volume"] and a["authors"] and "abstract_text" not in a), {"pmids": [WHOLE.pmid], "detail_level": "citation_data"}),
    item("§3.2", "two hundred at most", "fetch_article_details", refused("VALIDATION", "pmids"), {"pmids": [str(n) for n in range(1, 202)]}),
    item("§3.2", "one at least", "fetch_article_details", refused("VALIDATION", "pmids"), {"pmids": []}),
    item("§3.2", "digits only", "details", refused("VALIDATION", "banana"), {"pmids": ["banana"]}),
    item("§3.2", "long lists by POST", "fetch_article_details", that(lambda v: v["e_fetch_details"]["request_method"] == "POST" and "retmode=xml" in v["e_fetch_details"]["urls"][0]), {"pmids": [PAPERS.branch("no_abstract").pmid, "41999998"]}),
    # -- §3.3: relationships
    item("§3.3", "parameters, bounds and defaults", "tools/list", takes("get_article_relationships", pmid="string", relationship_type={"default": "pubmed_similar_articles", "enum": ["pubmed_similar_articles", "pubmed_citedin", "pubmed_references", "citation_formats"]}, max_results={"default": 5, "maximum": 50}, styles={"default": ["ris"]}), {}, ONE_NAME),
    item("§3.3", "fields of the answer", "get_article_relationships", has("source_pmid", "relationship_type", "related_articles", "citations", "retrieved_count", "e_link_url"), RELATED, SNAKE),
    item("§3.3", "fields of a related article", "get_article_relationships", each("related_articles", "pmid", "title", "authors", "score", "link_url"), RELATED, SNAKE),
    item("§3.3", "similar articles by ELink, with scores", "relate", all_of(that(lambda v: all(r["score"] for r in (v["related_articles"] if isinstance(v, dict) else v))), sent("eutils", "elink", dbfrom="pubmed", db="pubmed", cmd="neighbor_score")), {"source_pmid": PAPERS.branch("pmc_manuscript").pmid}),
    item("§3.3", "who cites it", "relate", sent("eutils", "elink", linkname="pubmed_pubmed_citedin", cmd="neighbor"), {**RELATED, "relationship_type": "pubmed_citedin"}),
    item("§3.3", "whom it cites", "relate", sent("eutils", "elink", linkname="pubmed_pubmed_refs", cmd="neighbor"), {**RELATED, "relationship_type": "pubmed_references"}),
    item("§3.3", "no more than asked for", "relate", that(lambda v: len(v["related_articles"] if isinstance(v, dict) else v) == 2), {**RELATED, "max_related_results": 2}),
    item("§3.3", "five at most by default", "get_article_relationships", that(lambda v: v["retrieved_count"] == len(v["related_articles"]) <= 5), RELATED),
    item("§3.3", "fifty at most", "get_article_relationships", refused("VALIDATION", "max_related_results"), {**RELATED, "max_related_results": 51}),
    item("§3.3", "RIS by default", "get_article_relationships", that(lambda v: [*v["citations"]] == ["ris"] and "TY  - JOUR" in v["citations"]["ris"] and "related_articles" in v), {**RELATED, "relationship_type": "citation_formats"}),
    item("§3.3", "citations in four styles", "get_article_relationships", that(lambda v: all(v["citations"][name] for name in ALL_STYLES)), {**RELATED, "relationship_type": "citation_formats", "citation_styles": ALL_STYLES}),
    item("§3.3", "made here, from EFetch's record", "cite", all_of(that(lambda v: "@article{" in str(v)), asked(lambda all_: {r.path for r in all_} <= {"/efetch.fcgi"})), {"papers": [WHOLE.pmid], "style": "bibtex"}),
    item("§3.3", "an unknown paper is not found", "relate", refused("NOT_FOUND", UNKNOWN), {"source_pmid": UNKNOWN}),
    # -- §4: resources
    item("§4.1", "what the server is", "pubmed-connect://info", has("server_name", "server_version", "description", "contact_email", "mcp_spec_versions", "ncbi_compliance", "supported_eutilities", "operational_status", "documentation_url"), {}, f"{SNAKE}; {BLOB}; several versions of MCP are spoken"),
    item("§4.1", "how NCBI's rules are kept", "pubmed-connect://info", that(lambda v: v["ncbi_compliance"]["api_usage_status"] == "NCBI API key in use" and v["ncbi_compliance"]["tool_identifier"] == "papershelf" and "NBK25497" in v["ncbi_compliance"]["ncbi_usage_policy_url"] and "10 requests" in v["ncbi_compliance"]["current_rate_limit_adherence"])),
    item("§4.1", "how NCBI does", "pubmed-connect://info", that(lambda v: v["operational_status"]["ncbi_status"] == "nominal" and v["operational_status"]["last_ncbi_connectivity_check"] and v["operational_status"]["internal_queue_length"] == 0)),
    item("§4.1", "the E-utilities", "pubmed-connect://info", that(lambda v: {"ESearch", "EFetch", "ESummary", "ELink", "EInfo", "EPost"} <= set(v["supported_eutilities"]))),
    item("§4.2", "PubMed in numbers", "pubmed-connect://stats/pubmed", has("database_name", "menu_name", "description", "total_record_count", "last_update", "available_search_fields", "available_link_names", "e_info_url"), {}, f"{SNAKE}; {BLOB}"),
    item("§4.2", "each search field", "pubmed-connect://stats/pubmed", each("available_search_fields", "name", "full_name", "description", "is_date", "is_numerical", "term_count")),
    item("§4.2", "each link", "pubmed-connect://stats/pubmed", each("available_link_names", "name", "description", "db_to")),
    # -- §5: how
    item("§5", "what NCBI says went wrong is told", "entrez_search", all_of(refused("ENTREZ", "Search Backend failed"), asked(lambda all_: all_)), {"database": "gene", "term": "mouse"}, f"NCBI_QUERY_ERROR and its kin are ENTREZ: {ENVELOPE}", meanwhile=lambda world: world.mood("search_failed", "eutils")),
    item("§5", "retries with growing pauses", "search", _retried, {"query": "gametophore"}, POLITE, meanwhile=lambda world: world.mood("storm", "eutils", 2, seconds=0)),
    item("§5", "what is asked twice is asked once", "details", nobody_asked, {"pmids": [WHOLE.pmid]}, "a cache that the document puts off: records for a day"),
    item("§5", "characters that act or hide are refused", "search", all_of(refused("VALIDATION"), nobody_asked), {"query": "cells\u202e[ti]\x07"}),
    item("§5", "a setting that cannot be is named", "shell", refused("VALIDATION", "NCBI_REQUEST_DELAY_MS"), {"words": ["list"]}, settings={"NCBI_REQUEST_DELAY_MS": "soon"}),
)  # fmt: skip
