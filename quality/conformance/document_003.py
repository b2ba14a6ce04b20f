"""003: compliance notes of an Entrez server. MCP itself, and the gateway, the staging, the tools."""

# ruff: noqa: E501 - an item is a line of the table
import re
from functools import partial
from typing import Any

from quality.conformance.examples import CLOSED, PMID, SNAKE, UNSAID, WHOLE
from quality.conformance.items import (
    Check,
    Item,
    Met,
    all_of,
    each,
    has,
    holds,
    is_,
    named,
    nobody_asked,
    one,
    refused,
    shown,
    that,
    tool,
)  # fmt: skip

item = partial(Item, "003")
STAGED = {"database": "pubmed", "ids": [WHOLE.pmid, CLOSED.pmid]}
TITLES = "short titles: they stand in hosts' menus beside forty others"
COUNTED = "every name is as long and made of such letters as hosts ask for"


def annotated(met: Met) -> None:
    """All tools have what hosts need of them."""
    assert len(met.value["tools"]) > 40
    for each_ in met.value["tools"]:
        assert each_["title"] not in ("", each_["name"])
        assert each_["description"]
        assert each_["inputSchema"]["type"] == "object"
        assert "additionalProperties" not in each_["inputSchema"]
        assert each_["outputSchema"]["type"] == "object"
        hints = each_["annotations"]
        assert {"readOnlyHint", "destructiveHint", "openWorldHint"} <= set(hints)
        assert hints["readOnlyHint"] or "idempotentHint" in hints  # which means nothing for readers


def spelled(met: Met) -> None:
    """Names have 1 to 128 of the letters that are allowed."""
    assert all(re.fullmatch(r"[A-Za-z0-9_.-]{1,128}", one["name"]) for one in met.value["tools"])


def titled(**titles: str) -> Check:
    """Tools have these titles."""

    def check(met: Met) -> None:
        assert {name: tool(met, name)["title"] for name in titles} == titles

    return check


def rows(test: Any) -> Check:
    """The rows of a statement pass a test: lists of cells, or one object each in the shell."""

    def check(met: Met) -> None:
        found = (
            met.value["rows"] if isinstance(met.value, dict) else [[*r.values()] for r in met.value]
        )
        assert test(found), found

    return check


def text_and_structure(result: Any) -> bool:
    """The text says all that the structure says."""
    text = result.content[0].text
    return all(paper["title"] in text for paper in result.structured_content["papers"])


def marked(result: Any) -> bool:
    """Blocks say for whom they are, and how much they matter."""
    about = result.content[0].annotations
    return bool(about.audience == ["assistant"] and 0 < about.priority <= 1)


SQL = {"dataset": "<dataset>"}


def _takes_nothing(met: Met, *names: str) -> None:
    for name in names:
        schema = tool(met, name)["inputSchema"]
        assert (schema["type"], schema.get("properties", {})) == ("object", {})


def _counted(met: Met, records: int) -> None:
    assert one(met.value)["records"] == records, met.value


ITEMS = (
    # -- MCP itself
    item("§1", "text", "search_pubmed", shown(lambda r: r.content[0].type == "text"), {"query": "cells", "max_results": 1}),
    item("§1", "links to resources", "download_paper", shown(lambda r: any(b.type == "resource_link" and str(b.uri).startswith("papers://") for b in r.content) or "papers://" in r.content[0].text), PMID, "as lines of the text for clients that are not known to take links: some of them fail at one"),
    item("§1", "images", "paper_objects", that(lambda v: v["total"] >= 1), {"paper": WHOLE.pmid}, "pictures of a paper come as image content where they are on the shelf; audio never comes, for there is none"),
    item("§2", "audience and priority", "search_pubmed", shown(marked), {"query": "cells", "max_results": 1}),
    item("§3", "a failure is isError, with suggestions", "entrez_query", all_of(shown(lambda r: r.is_error), refused("VALIDATION", "nosuch")), {"operation": "search", "database": "nosuch", "term": "a"}),
    item("§3", "in the text, as JSON", "entrez_query", shown(lambda r: r.content[0].text.startswith('{"error"')), {"operation": "search", "database": "nosuch", "term": "a"}),
    item("§3", "a tool that is not there is an error of the protocol", "no_such_tool", that(lambda v: "no tool 'no_such_tool'" in v["protocol_error"])),
    item("§4", "a tool without parameters says so", "tools/list", lambda met: _takes_nothing(met, "system_api_key_status", "entrez_capabilities"), {}, UNSAID),
    item("§4", "and takes none", "system_api_key_status", refused("VALIDATION", "extra"), {"extra": 1}),
    item("§5", "the state of the key", "system_api_key_status", has("has_key", "rate_limit", "message"), {}, SNAKE),
    item("§5", "the key itself is never told", "system_api_key_status", that(lambda v: "0123456789abcdef" not in str(v))),
    item("§1-6", "title, schemas and hints of every tool", "tools/list", annotated, {}, UNSAID),
    item("§6", "titles of the six tools", "tools/list", titled(entrez_query="Entrez query", entrez_data="Entrez data", entrez_external="Entrez external", entrez_capabilities="Entrez capabilities", entrez_tool_info="Entrez tool info", system_api_key_status="System API key status"), {}, TITLES),
    item("§7", "text beside the structure, with all that it says", "search_pubmed", shown(text_and_structure), {"query": "cells", "max_results": 3}),
    item("§7", "success in every structure", "search_pubmed", that(lambda v: "success" not in v), {"query": "cells", "max_results": 1}, "a failure is isError, which hosts read; success is said where it can be otherwise (download_paper)"),
    item("§8", "names of tools", "tools/list", spelled),
    item("§9", "tools may change while it runs", "initialize", that(lambda v: v["capabilities"]["tools"]["list_changed"] is True)),
    item("Checklist", "protocol 2025-11-25", "initialize", is_(protocol_version="2025-11-25")),
    item("Phase 3", "the server has a title", "initialize", that(lambda v: (v["server_info"]["name"], v["server_info"]["title"]) == ("papershelf", "Papershelf"))),
    # -- the gateway
    item("EntrezQueryTool", "six tools", "tools/list", named("entrez_query", "entrez_data", "entrez_external", "entrez_capabilities", "entrez_tool_info", "system_api_key_status")),
    item("EntrezQueryTool", "search any database", "entrez_search", that(lambda v: v["total"] > 0 and v["ids"]), {"database": "gene", "term": "human"}),
    item("EntrezQueryTool", "summaries", "entrez_summary", that(lambda v: "BRCA1" in str(v)), {"database": "gene", "ids": ["672"]}),
    item("EntrezQueryTool", "records, in a form the database has", "entrez_fetch", holds("text", WHOLE.pmid), {"database": "pubmed", "ids": [WHOLE.pmid], "rettype": "medline", "retmode": "text"}),
    item("EntrezQueryTool", "links", "entrez_link", that(lambda v: "9100001" in str(v)), {"database": "pubmed", "ids": [WHOLE.pmid], "to_database": "pmc"}),
    item("EntrezQueryTool", "what a database is", "entrez_info", that(lambda v: "Gene" in str(v)), {"database": "gene"}),
    item("EntrezQueryTool", "post identifiers", "entrez_post", that(lambda v: v["id"].startswith("h_") and v["total"] == 1), {"database": "pubmed", "ids": [WHOLE.pmid]}),
    item("EntrezQueryTool", "spelling", "entrez_spell", has("corrected"), {"database": "pubmed", "term": "asthmaa"}),
    item("EntrezQueryTool", "every database is counted", "entrez_global_query", each("counts", "database", "total"), {"term": "human"}),
    item("EntrezQueryTool", "a database that is not there", "entrez_search", refused("VALIDATION", "nosuch"), {"database": "nosuch", "term": "a"}),
    item("EntrezQueryTool", "a form that the database has not", "entrez_fetch", all_of(refused("VALIDATION", "fasta"), nobody_asked), {"database": "pubmed", "ids": [WHOLE.pmid], "rettype": "fasta"}),
    item("EntrezQueryTool", "identifiers that are none", "entrez_fetch", all_of(refused("VALIDATION"), nobody_asked), {"database": "pubmed", "ids": ["banana"]}),
    item("EntrezQueryTool", "no identifiers at all", "entrez_fetch", all_of(refused("VALIDATION"), nobody_asked), {"database": "pubmed", "ids": []}),
    item("EntrezQueryTool", "no such operation", "entrez_query", refused("VALIDATION", "operation"), {"operation": "delete"}),
    # -- staging and SQL
    item("DataManagerTool", "records are staged", "stage", all_of(has("dataset", "records", "tables", "expires"), lambda met: _counted(met, 2)), STAGED),
    item("DataManagerTool", "the tables, and how to ask them", "schema", that(lambda v: "articles" in str(v) and "pmid" in str(v)), SQL),
    item("DataManagerTool", "SQL", "sql", rows(lambda r: [int(x[0]) for x in r] == [int(WHOLE.pmid), int(CLOSED.pmid)]), {**SQL, "sql": "SELECT pmid FROM articles ORDER BY pmid"}),
    item("DataManagerTool", "joins and counts", "sql", rows(lambda r: int(r[0][0]) >= 2), {**SQL, "sql": "SELECT count(*) FROM articles a JOIN authors w ON w.uid = a.uid"}),
    *(
        item("DataManagerTool", f"SQL only reads: {word}", "sql", refused("VALIDATION"), {**SQL, "sql": statement})
        for word, statement in {
            "DELETE": "DELETE FROM articles", "UPDATE": "UPDATE articles SET title = ''", "DROP": "DROP TABLE articles",
            "INSERT": "INSERT INTO articles (pmid) VALUES (1)", "CREATE": "CREATE TABLE x (y)",
            "ATTACH": "ATTACH DATABASE '/etc/passwd' AS x", "PRAGMA": "PRAGMA writable_schema = 1",
            "two statements": "SELECT 1; DELETE FROM articles", "an extension": "SELECT load_extension('x')",
            "a comment before it": "/* SELECT */ DELETE FROM articles",
        }.items()
    ),
    item("DataManagerTool", "and nothing has changed", "sql", rows(lambda r: int(r[0][0]) == 2), {**SQL, "sql": "SELECT count(*) FROM articles"}),
    item("DataManagerTool", "SQL that never ends is ended", "sql", refused("VALIDATION"), {**SQL, "sql": "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"}),
    item("DataManagerTool", "a column that is not there is named", "sql", refused("VALIDATION", "colour"), {**SQL, "sql": "SELECT colour FROM articles"}),
    item("DataManagerTool", "rows by the page", "entrez_data", that(lambda v: len(v["rows"]) == 1 and v["next_start"] == 1), {"operation": "query", **SQL, "sql": "SELECT pmid FROM articles", "max_rows": 1}),
    item("DataManagerTool", "what is staged is listed", "datasets", that(lambda v: "pubmed_" in str(v)), {}),
    item("DataManagerTool", "a dataset that is not there", "sql", refused("NOT_FOUND", "pubmed_00000000"), {"dataset": "pubmed_00000000", "sql": "SELECT 1"}),
    item("DataManagerTool", "nothing to stage", "stage", refused("VALIDATION"), {"database": "pubmed"}),
    item("DataManagerTool", "export is ours", "entrez_data", refused("VALIDATION", "file"), {"operation": "export", **SQL, "sql": "SELECT 1"}, "a fifth operation: all rows as CSV or Parquet, for who works on them elsewhere"),
    # -- other services
    item("ExternalAPIsTool", "PubChem's compounds", "compounds", that(lambda v: v["compounds"][0]["cid"] in ("2244", 2244) and "C9H8O4" in str(v)), {"query": "aspirin"}),
    item("ExternalAPIsTool", "a compound that is not there is named", "compounds", that(lambda v: "no compound with the name 'zzqqx'" in str(v) and (v.get("total") == 0 or v["error"]["code"] == "NOT_FOUND")), {"query": "zzqqx"}, "over MCP an answer with total 0 and a warning: nothing found is no error; in Python, NotFound"),
    item("ExternalAPIsTool", "PMC's texts", "article_text", holds("text", WHOLE.plain_title), {"ids": [WHOLE.pmcid]}),
    item("ExternalAPIsTool", "PMC's identifiers", "entrez_external", that(lambda v: WHOLE.doi in str(v)), {"operation": "ids", "ids": [WHOLE.pmcid]}),
    item("ExternalAPIsTool", "PubChem down is told as such", "compounds", refused("UPSTREAM"), {"query": "caffeine"}, meanwhile=lambda world: world.mood("down", "pubchem")),
    # -- about itself
    item("CapabilitiesTool", "what is here", "entrez_capabilities", has("toolsets", "extras", "keys")),
    item("ToolInfoTool", "one tool explained", "entrez_tool_info", that(lambda v: {"search", "post", "global_query"} <= set(v["operations"])), {"tool_name": "entrez_query"}),
    item("ToolInfoTool", "a tool that is not there", "entrez_tool_info", refused("VALIDATION", "nosuch"), {"tool_name": "nosuch"}),
)  # fmt: skip
