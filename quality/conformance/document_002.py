"""002: methods of a PubMed paper-download server. Four tools, the fallback chain, the files."""

# ruff: noqa: E501 - an item is a line of the table
from __future__ import annotations

import tomllib
from functools import partial
from pathlib import Path

from quality.conformance.examples import (
    CLOSED,
    ENVELOPE,
    GUEST,
    KEYED,
    NAMELESS,
    PAPERS,
    PMID,
    POLITE,
    UNKNOWN,
    WHOLE,
    of,
)  # fmt: skip
from quality.conformance.items import (
    Check,
    Item,
    Met,
    all_of,
    asked,
    has,
    holds,
    is_,
    named,
    nobody_asked,
    papers,
    refused,
    sent,
    takes,
    that,
    waited,
)  # fmt: skip
from quality.conformance.settings import secret, setting
from tests.world import Request
from utils.system.process import get_version

item = partial(Item, "002")
FIELDS = ("pmid", "title", "abstract", "authors", "year", "journal", "doi", "pmcid")
MINIMAL = {"pmid", "title", "first_author", "year", "journal", "doi", "pmcid"}
PAIR = {"ligand": "CXCL12", "receptor": "CXCR4"}
TWIN = "same_file_name"
ROOT = Path(__file__).resolve().parents[2]


def texts(*names: str) -> Check:
    """All papers have these members, as text."""

    def check(met: Met) -> None:
        assert papers(met.value)
        for paper in papers(met.value):
            assert all(isinstance(paper[name], str) for name in names), paper

    return check


def newest_first(met: Met) -> None:
    """The papers are in the order of their years."""
    years = [paper["year"] for paper in papers(met.value)]
    assert len(set(years)) > 1
    assert years == sorted(years, reverse=True)


def tokens_saved(met: Met) -> None:
    """At least 70 % of what the full rows of the same papers take."""
    full = sum(len(str(row)) for row in met.value["papers"])
    assert full < 0.3 * 1_900 * len(met.value["papers"]), full


def written(name: str, *words: str, first: str = "") -> Check:
    """A file of the shelf holds these words."""

    def check(met: Met) -> None:
        text = (met.shelf / name).read_text(encoding="utf-8")
        assert text.startswith(first), text[:200]
        assert not [word for word in words if word not in text], text[:1_000]

    return check


def tried(*sources: str) -> Check:
    """The ladder was climbed by these rungs, among others, in this order."""

    def check(met: Met) -> None:
        [answer] = met.value if isinstance(met.value, list) else [met.value]
        rungs = [attempt["source"] for attempt in answer["attempts"]]
        assert [rung for rung in rungs if rung in sources] == list(sources), rungs

    return check


def needs(*packages: str) -> Check:
    """The program depends on these, in versions no older than named."""

    def check(met: Met) -> None:
        about = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        least = {one.partition(">=")[0]: one.partition(">=")[2] for one in about["dependencies"]}
        for name, _, wanted in (one.partition(">=") for one in packages):
            ours = least[name].split(",")[0].split(".")
            assert [*map(int, ours)] >= [*map(int, wanted.split("."))]

    return check


def requested(times: int, service: str, ending: str) -> Check:
    """The service was asked so often for what ends so."""
    return asked(lambda all_: len([r for r in all_ if r.path.endswith(ending)]) == times, service)


def doubling(naps: list[float]) -> bool:
    """The four pauses between five attempts; jitter adds a fifth at most."""
    return len(naps) == 4 and all(2**n <= nap <= 1.2 * 2**n for n, nap in enumerate(naps))


def plainer(requests: list[Request]) -> bool:
    """The same page was asked for twice, with other headers the second time."""
    pages = [r for r in requests if r.service == "publisher" and r.status in (200, 403)]
    first, second = pages[:2]
    return (first.path, first.status) == (second.path, 403) and first.headers != second.headers


ABSTRACT_FILE = f"pmid_{CLOSED.pmid}_abstract.txt"
BARE = PAPERS.branch("no_abstract")


ITEMS = (
    # -- the tools
    item("System Architecture", "four tools", "tools/list", named("search_pubmed_lr", "search_pubmed", "search_pubmed_minimal", "download_paper")),
    item("General Search Method", "parameters and defaults of a search", "tools/list", takes("search_pubmed", query="string", max_results={"default": 10}, sort_by={"default": "pub_date"})),
    item("General Search Method", "records come in one batch, as XML", "search", asked(lambda all_: [(r.params["retmode"], r.params["id"].count(",")) for r in all_ if "efetch" in r.path] == [("xml", 2)], "eutils"), {"query": "slices", "max_results": 3, "sort_by": "author"}),
    item("General Search Method", "ten results by default", "search", that(lambda v: len(papers(v)) == 10), {"query": "journal article[pt]"}),
    item("General Search Method", "newest first by default", "search", all_of(newest_first, sent("eutils", "esearch", sort="pub_date")), {"query": "1900:2024[pdat]"}),
    item("General Search Method", "or by relevance", "search", sent("eutils", "esearch", db="pubmed", sort="relevance"), {"query": "marrow", "sort_by": "relevance"}),
    item("General Search Method", "field tags and Booleans", "search", that(lambda v: [p["pmid"] for p in papers(v)] == [WHOLE.pmid]), {"query": f"{WHOLE.pmid}[uid] NOT zzqqx[ti]"}),
    item("General Search Method", "dates in the query", "search", that(lambda v: {p["year"] for p in papers(v)} == {"1967"}), {"query": "1960:1970[PDAT]"}),
    item("Search Results", "eight fields, all of them text", "search", texts(*FIELDS), {"query": "cells"}),
    item("Search Results", "authors in one line, by commas", "search", that(lambda v: papers(v)[0]["authors"].count(",") >= 2), {"query": f"{WHOLE.pmid}[uid]"}),
    item("Search Results", "empty where unknown", "search", that(lambda v: (papers(v)[0]["doi"], papers(v)[0]["pmcid"], papers(v)[0]["abstract"]) == ("", "", "")), {"query": f"{BARE.pmid}[uid]"}),
    item("Ligand-Receptor Search", "ligand and receptor in each paper", "search_lr", texts(*FIELDS, "ligand", "receptor"), PAIR),
    item("Ligand-Receptor Search", "papers of a pair", "search_pair", all_of(texts(*FIELDS), that(lambda v: WHOLE.pmid in {p["pmid"] for p in papers(v)})), PAIR),
    item("Ligand-Receptor Search", "the query is made by the template", "search_lr", sent("eutils", "esearch", term="(IL7[Gene Symbol] OR IL7[MeSH Terms]) AND (IL7R[Gene Symbol] OR IL7R[MeSH Terms]) AND (interaction OR signaling OR binding OR pathway)"), {"ligand": "IL7", "receptor": "IL7R"}),
    item("Minimal Metadata Search", "seven fields and no abstract", "search_pubmed_minimal", that(lambda v: {*papers(v)[0]} == MINIMAL), {"query": "cells"}),
    item("Minimal Metadata Search", "70 to 80 % fewer tokens", "search_pubmed_minimal", tokens_saved, {"query": "cells"}),
    # -- the fallback chain
    item("Download Results", "four fields", "download", has("success", "file_path", "source", "message"), PMID),
    item("Download Results", "the path is absolute, and the file is there", "download", that(lambda v: Path((v if isinstance(v, dict) else v[0])["file_path"]).is_file()), PMID),
    item("Fallback System", "full text by PMID, from PMC first", "download", is_(success=True, kind="full_text", source="PMC"), {"pmid": of("pmc_manuscript")}),
    item("Fallback System", "what is here is given without a request", "download", all_of(is_(source="Cache", success=True), nobody_asked), PMID),
    item("Fallback System", "by its DOI, too", "download", all_of(is_(source="Cache"), nobody_asked), {"doi": WHOLE.doi}),
    item("Fallback System", "the publisher's side first, if wanted", "download", tried("unpaywall", "publisher"), {"pmid": of("publisher_html"), "prefer_pmc": False}),
    item("Fallback System", "a DOI is resolved to the publisher", "download", all_of(is_(source="DOI", via="publisher"), asked(lambda all_: any(r.service == "doi" for r in all_))), {"doi": PAPERS.branch("doi_only").doi}),
    item("Fallback System", "the publisher's text by Jina Reader", "download", is_(source="DOI", via="jina"), {"pmid": of("jina_only")}, "the page itself and open copies are asked first: text of the article's own structure, and Jina only for what they do not give"),
    item("Fallback System", "PMC by identifier", "download", asked(lambda all_: not any("ncbi" in r.path for r in all_ if r.service.startswith("jina"))), {"pmid": of("efetch_only")}, "PMC's Cloud Service and E-utilities give the article as JATS; NCBI forbids programs to fetch its pages, by Jina too"),
    item("Fallback System", "no PMC: the DOI's side, silently", "download", is_(success=True, kind="full_text", source="DOI"), {"pmid": of("publisher_pdf")}, meanwhile=lambda world: world.mood("down", "idconv")),
    item("Fallback System", "else the abstract", "download", is_(success=True, kind="abstract", source="PubMed_Abstract"), {"pmid": CLOSED.pmid}),
    item("Fallback System", "no abstract is no failure", "download", is_(success=True, kind="record"), {"pmid": BARE.pmid}, "a text that says only [No abstract available] is called a record, not an abstract, and counted apart"),
    item("Fallback System", "an abstract on the shelf is given at once", "download", all_of(is_(source="Cache", kind="abstract"), nobody_asked), {"pmid": CLOSED.pmid}),
    # -- retries
    item("Download Retry Logic", "five attempts at most", "download", all_of(is_(kind="full_text", via="pmc_cloud"), requested(5, "pmc_cloud", ".xml"), waited(doubling)), {"pmid": of("retracted")}, meanwhile=lambda world: world.mood("down", "pmc_cloud", 4, path=".xml")),
    item("Download Retry Logic", "no sixth", "download", all_of(is_(kind="full_text"), requested(5, "pmc_cloud", ".xml")), {"pmid": of("editorial")}, meanwhile=lambda world: world.mood("down", "pmc_cloud", path=".xml")),
    item("Download Retry Logic", "Retry-After in seconds is respected", "download", all_of(is_(via="pmc_cloud"), waited(lambda naps: max(naps) >= 7)), {"pmid": of("concern")}, meanwhile=lambda world: world.mood("storm", "pmc_cloud", 1, path=".xml", seconds=7)),
    item("Download Retry Logic", "Retry-After as a date is respected", "download", all_of(is_(via="pmc_cloud"), waited(lambda naps: max(naps) >= 6)), {"pmid": of("correction_notice")}, meanwhile=lambda world: world.mood("storm_date", "pmc_cloud", 1, path=".xml", seconds=8)),
    item("Download Retry Logic", "a refused page is asked for with plainer headers", "download", all_of(is_(via="publisher"), asked(plainer)), {"pmid": of("publisher_picky")}),
    item("Download Retry Logic", "then by Jina's search", "download", all_of(is_(via="jina_search"), asked(lambda all_: any(r.service == "jina_search" and r.headers.get("authorization") == "Bearer jina-1" for r in all_))), {"pmid": CLOSED.pmid}, "only with a key of Jina, which its search wants, and what it finds must be the paper by its own words; cookies and paywalls are not got around: a paywall is an outcome with that name", settings=KEYED),
    item("Download Retry Logic", "no search without a key", "download", asked(lambda all_: not any(r.service == "jina_search" for r in all_)), {"pmid": of("captcha")}, "Jina's search wants a key"),
    # -- manners
    item("NCBI Compliance", "e-mail and tool in every request", "search", asked(lambda all_: all_ and all((r.params["email"], r.params["tool"]) == ("tester@lab.edu", "papershelf") for r in all_), "eutils"), {"query": "spleen"}),
    item("NCBI Compliance", "the User-Agent says who asks", "search", asked(lambda all_: all(r.headers["user-agent"] == f"Papershelf/{get_version()} (mailto:tester@lab.edu)" for r in all_)), {"query": "acini"}, "it names this program, and the address as mailto:, which Crossref, OpenAlex and others look for"),
    item("NCBI Compliance", "half a second between calls", "settings", setting("NCBI_REQUEST_DELAY_MS", ""), {}, POLITE),
    item("NCBI Compliance", "pauses of 2 to 4 and 1 to 2 s for PMC and DOIs", "download", waited(lambda naps: max(naps, default=0) < 2), {"pmid": of("publisher_multi_hop")}, POLITE),
    item("NCBI Compliance", "ten a second with a key", "system_api_key_status", is_(has_key=True, rate_limit="10 requests/second")),
    item("NCBI Compliance", "three a second without", "system_api_key_status", is_(has_key=False, rate_limit="3 requests/second"), settings=GUEST),
    # -- errors
    item("Error Handling", "a failure is described", "download", refused("NOT_FOUND", UNKNOWN), {"pmid": UNKNOWN}, f"success is never false beside an answer: {ENVELOPE}"),
    item("Error Handling", "a site that is down is not an absent paper", "download", refused("UPSTREAM", "41999990"), {"pmid": "41999990"}, ENVELOPE, meanwhile=lambda world: world.mood("down")),
    item("Error Handling", "120 seconds for a request", "library", that(lambda v: v == 120), {"does": lambda library: library.web.deadline}),
    item("Error Handling", "no address: a sentence, at once", "search", all_of(refused("VALIDATION", "PUBMED_EMAIL"), nobody_asked), {"query": "cells"}, settings=NAMELESS),
    item("Error Handling", "calls do not wait for each other", "tools/list", that(lambda v: len(v["tools"]) > 40)),
    # -- files
    item("File Formats", "full text is named after its DOI", "download", all_of(holds("file_path", WHOLE.doi.replace("/", "_") + ".txt"), written(WHOLE.doi.replace("/", "_") + ".txt", "## Introduction", WHOLE.plain_title)), PMID),
    item("File Formats", "full text is markdown", "read", holds("text", "# ", "## Introduction", "### "), {"paper": WHOLE.pmid}),
    item("File Formats", "an abstract is named after its PMID", "download", holds("file_path", ABSTRACT_FILE), {"pmid": CLOSED.pmid}),
    item("File Formats", "title, authors, journal, year, PMID, abstract, note", "download", written(ABSTRACT_FILE, f"- Title: {CLOSED.plain_title}", "- Authors: ", "- Journal: ", "- Year: 2025", f"- PMID: {CLOSED.pmid}", "## Abstract", "Full text was not available"), {"pmid": CLOSED.pmid}),
    item("File Formats", "[No abstract available]", "download", written(f"pmid_{BARE.pmid}_record.txt", "[No abstract available]"), {"pmid": BARE.pmid}, "the file's name ends in _record, for it holds no abstract"),
    # -- the package
    item("Software Dependencies", "FastMCP, Biopython, Requests, bs4", "library", needs("fastmcp>=2.12.3", "biopython>=1.85", "requests>=2.32.5", "beautifulsoup4>=4.0"), {"does": lambda library: True}, "Python 3.11 at least, where the document has 3.10; bs4 by its own name, beautifulsoup4; PubMed's XML is read by lxml, four times as fast as Biopython does"),
    item("Configuration", "e-mail and keys by three variables", "settings", all_of(setting("PUBMED_EMAIL", "tester@lab.edu"), setting("JINA_API_KEY", ""), secret("NCBI_API_KEY"))),
    item("Configuration", "stdio by default", "settings", setting("MCP_TRANSPORT_TYPE", "stdio")),
    item("Reproducibility", "server.py, and utils beside it", "library", that(lambda v: v == [True, True, True]), {"does": lambda library: [(ROOT / name).exists() for name in ("server.py", "utils", "TECHNICAL_REFERENCE.md")]}, "not flat: the work of two modules has become a house with a room for each subject (see the house, above)"),
)  # fmt: skip
