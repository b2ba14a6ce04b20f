"""C: the contracts in which the five documents were merged. Doors, settings, shelf, ladder, harvests."""

# ruff: noqa: E501 - an item is a line of the table
import csv
import hashlib
import json
from functools import partial
from pathlib import Path
from typing import Any

from quality.conformance.examples import (
    CLOSED,
    NAMELESS,
    NARROW,
    OFFLINE,
    PAPERS,
    PMID,
    SLOW,
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
    each,
    ended,
    has,
    hits,
    holds,
    is_,
    kept,
    named,
    nobody_asked,
    one,
    papers,
    refused,
    shown,
    takes,
    that,
)  # fmt: skip
from quality.conformance.settings import secret, setting
from tests.own_words import paper as whole
from utils.model.identifiers import Ids
from utils.model.paper import Paper
from utils.model.sites import TEXT_SOURCES
from utils.settings import Settings
from utils.shelf.paper_file import strip_header
from utils.sources.jina import fetch_page

item = partial(Item, "C")
FILE = WHOLE.doi.replace("/", "_") + ".txt"
BARE = PAPERS.branch("no_abstract")
RETRACTED = PAPERS.branch("retracted")
TWINS = [record for record in PAPERS.records if record.branch == "same_file_name"]
LIST = [WHOLE.pmid, CLOSED.pmid, BARE.pmid]
QUOTE = "In bone marrow slices, CXCR4 internalisation rose 5.3-fold within 4 hours"
OLD = f"Title: On cells\n\nURL Source: https://www.nature.com/articles/nature12345\n\nMarkdown Content:\n# On cells\n\nWe counted cells.\n\n## Methods\n\n{whole(900)}"
OLD_ABSTRACT = "Title: Cells of old\nAuthors: Jane Doe\nJournal: Journal of Cells\nYear: 1999\nPMID: 10492251\n\nAbstract:\nCells were counted by hand.\n\nNote: Full text was not available."
MORE_SOURCES = "more rungs than the contract named: OpenAlex, the publishers' own interfaces with your keys, Crossref, Semantic Scholar, CORE"


def tokens(least: int, most: int, *names: str) -> Check:
    """The definitions of these tools (of all) cost so many tokens: bytes of compact JSON by four."""

    def check(met: Met) -> None:
        wanted = [one for one in met.value["tools"] if not names or one["name"] in names]
        dropped = [{k: v for k, v in one.items() if v is not None} for one in wanted]
        size = len(json.dumps(dropped, separators=(",", ":")).encode()) // 4
        assert least <= size <= most, size

    return check


CORE = (
    "search_pubmed", "search_pubmed_lr", "search_pubmed_minimal", "download_paper", "harvest_papers",
    "harvest_status", "read_paper", "list_papers",
)  # fmt: skip


def index_row(**wanted: str) -> Check:
    """``index.csv`` has one row of this paper, with these values."""

    def check(met: Met) -> None:
        rows = csv.DictReader((met.shelf / "index.csv").read_text("utf-8").splitlines())
        [row] = [row for row in rows if row["pmid"] == wanted["pmid"]]
        assert {name: row[name] for name in wanted} == wanted

    return check


def lock(met: Met) -> None:
    """The lock has the checksum of each text below its header, which tells when it came."""
    path = next(met.shelf.glob("reports/*/papers.lock.json"))
    [entry] = [
        e
        for e in json.loads(path.read_text(encoding="utf-8"))["papers"]
        if e.get("pmid") == WHOLE.pmid
    ]
    text = strip_header((met.shelf / FILE).read_text(encoding="utf-8"))
    assert entry["sha256"] == hashlib.sha256(text.encode()).hexdigest()


def header(name: str, first: str, *words: str) -> Check:
    """A file's first line begins so, and its header holds these."""

    def check(met: Met) -> None:
        text = (met.shelf / name).read_text(encoding="utf-8")
        assert text.startswith(first), text[:300]
        head = text.partition("\n---\n")[0]
        assert not [word for word in words if word not in head], head

    return check


def beside(*names: str) -> Check:
    """These are on the shelf."""
    return kept(lambda shelf: all(list(shelf.glob(name)) for name in names))


def page_of_ncbi_by_jina(library: Any) -> Any:
    """A DOI that leads to a page of PubMed Central, and Jina Reader asked for it."""
    library.web.cache.put(
        "landing_page", "10.1000/x", "https://pmc.ncbi.nlm.nih.gov/articles/PMC1/", 1.0
    )
    return list(fetch_page(Paper(Ids(doi="10.1000/x"), title="X"), library.web))


def rebuilt(library: Any) -> Any:
    """The catalogue is thrown away, and made again from the files alone."""
    before = library.list_papers()[0]
    library.shelf.close()
    (library.settings.papers_dir / ".papershelf" / "catalogue.db").unlink()
    fresh = type(library)(library.settings)
    found = {"before": before, "after": fresh.list_papers()[0]}
    fresh.shelf.close()
    return found


def defaults(**wanted: Any) -> Check:
    """What the settings are where nobody sets them."""

    def check(met: Met) -> None:
        fresh = Settings.model_construct()
        found = {name: getattr(fresh, name) for name in wanted}
        assert found == wanted

    return check


def base_urls(met: Met) -> None:
    """Each site's address is a setting, and its default the real one over https."""
    names = "EUTILS PMC_CLOUD IDCONV EUROPEPMC DOI CROSSREF UNPAYWALL JINA_READER JINA_SEARCH ARXIV SEMANTIC_SCHOLAR PUBCHEM"
    for name in names.split():
        assert Settings.model_fields[f"{name.lower()}_base_url"].default.startswith("https://")


def no_secret_on_shelf(met: Met) -> None:
    """No file of the shelf holds the key."""
    for path in met.shelf.rglob("*"):
        assert not path.is_file() or b"0123456789abcdef0123456789abcdef" not in path.read_bytes(), (
            path
        )


def _verbs_missing() -> list[str]:
    from utils import cli
    from utils.cli import command_list

    verbs = "search download harvest status read cite related sync find export report settings doctor demo"
    return [
        verb
        for verb in verbs.split()
        if command_list.split_command_name([verb])[0] not in cli.COMMANDS
    ]


def _first_line(met: Met, word: str) -> None:
    assert word in Path(one(met.value)["file_path"]).read_text(encoding="utf-8").splitlines()[0]


def _lies_alone(met: Met) -> None:
    text = Path(one(met.value)["file_path"]).read_text(encoding="utf-8")
    assert sum(f"- DOI: {twin.doi}\n" in text for twin in TWINS) == 1


def _among_outcomes(met: Met, outcome: str) -> None:
    assert outcome in [attempt["outcome"] for attempt in one(met.value)["attempts"]]


def _went_on(met: Met) -> None:
    assert max(met.naps, default=0) < 60
    assert one(met.value)["via"] != "pmc_cloud"


def _not_from_cloud(met: Met) -> None:
    assert one(met.value)["via"] != "pmc_cloud"


def _three(value: Any) -> bool:
    counts = value["counts"] if isinstance(value, dict) else value[-1].get("counts", value[-1])
    return int(counts["requested"]) == 3


ITEMS = (
    # -- §1: the shell's manners
    item("§1", "0: done", "shell", ended(0), {"words": ["download", WHOLE.pmid]}),
    item("§1", "1: no full text of some", "shell", ended(1), {"words": ["download", WHOLE.pmid, CLOSED.pmid]}),
    item("§1", "2: a bad request", "shell", all_of(ended(2), refused("VALIDATION")), {"words": ["download", "banana"]}),
    item("§1", "2: no such option", "shell", all_of(ended(2), refused("VALIDATION")), {"words": ["search", "cells", "--colour"]}),
    item("§1", "3: nothing could be reached", "shell", all_of(ended(3), refused("UPSTREAM")), {"words": ["search", "bracken"]}, meanwhile=lambda world: world.mood("down", "eutils")),
    item("§1", "identifiers on standard input", "shell", that(lambda v: [r["success"] for r in v] == [True, True]), {"words": ["download", "-"], "stdin": f"{WHOLE.doi}\nPMID: {CLOSED.pmid}\n"}),
    item("§1", "all verbs of the contract", "library", that(lambda v: not v), {"does": lambda library: _verbs_missing()}),
    item("§1", "one library for notebooks", "library", that(lambda v: v >= 3), {"does": lambda library: library.list_papers()[0]}),
    # -- §2: settings
    item("§2", "defaults", "settings", defaults(pubmed_email="", ncbi_tool_identifier="papershelf", ncbi_max_retries=5, papers_retry_abstract_days=30, papers_offline=False, papers_allow_private_network=False, embeddings_provider="local", vector_store="embedded", weaviate_class="PubMedChunk", mcp_transport_type="stdio", mcp_http_host="127.0.0.1", mcp_http_port=3010, mcp_toolsets=("core",), mcp_log_level="info", logs_dir=None, mcp_allowed_origins=())),
    item("§2", "the order of the ladder", "settings", setting("PAPERS_SOURCES", ", ".join(TEXT_SOURCES)), {}, MORE_SOURCES),
    item("§2", "each site's address", "settings", base_urls),
    item("§2", "keys are not shown", "settings", all_of(secret("NCBI_API_KEY"), that(lambda v: "0123456789abcdef" not in json.dumps(v)))),
    item("§2", "every setting is shown as one would set it", "settings", all_of(setting("PAPERS_OFFLINE", "false"), setting("PAPERS_RETRY_ABSTRACT_DAYS", "30"), setting("MCP_TOOLSETS", "all"))),
    item("§2", "a blank value is none", "settings", all_of(setting("JINA_API_KEY", ""), setting("NCBI_MAX_RETRIES", "5")), settings={"JINA_API_KEY": "${user_config.jina}", "NCBI_MAX_RETRIES": " "}),
    item("§2", "tools by toolset", "tools/list", all_of(named(*CORE), that(lambda v: "entrez_query" not in str([t["name"] for t in v["tools"]]))), settings=NAMELESS),
    item("§2", "core below 3,000 tokens", "tools/list", tokens(1_000, 3_000), settings=NAMELESS),
    item("§3", "all toolsets below 12,000 tokens", "tools/list", tokens(3_000, 12_000)),
    item("§2", "offline: what is on disk", "download", all_of(refused("NOT_FOUND", "PAPERS_OFFLINE"), nobody_asked), PMID, settings=OFFLINE),
    item("§2", "offline: no search", "search", nobody_asked, {"query": "cells"}, settings=OFFLINE),
    item("§2", "a source left out is not asked", "download", all_of(is_(kind="abstract"), asked(lambda all_: {r.service for r in all_} <= {"eutils", "europepmc", "jina_reader", "doi", "publisher", "crossref"} and not any("pmc_cloud" in r.service for r in all_))), {"pmid": CLOSED.pmid}, settings=NARROW),
    item("§2", "an abstract is tried again after the days set", "download", asked(lambda all_: any(r.service in ("jina_reader", "doi") for r in all_)), {"pmid": CLOSED.pmid}, settings=NARROW),
    # -- §3: every tool
    item("§3", "an unknown argument is refused", "search_pubmed", refused("VALIDATION", "colour"), {"query": "a", "colour": 3}),
    item("§3", "text from the web is marked", "search_pubmed", shown(lambda r: r.content[0].meta["untrusted"] is True and "<untrusted-" in r.content[0].text), {"query": "cells"}),
    item("§3", "a list says how many, and how to get more", "search", that(lambda v: isinstance(v, list) or (v["total"] > 2 and v["next_start"] == 2)), {"query": "cells", "max_results": 2}),
    item("§3", "and goes on from there", "search", that(lambda v: len(papers(v)) == 2), {"query": "cells", "max_results": 2, "start": 2}),
    item("§3 core", "parameters of a search", "tools/list", takes("search_pubmed", max_results={"minimum": 1, "maximum": 1000, "default": 10}, start={"default": 0}, sort_by={"enum": ["pub_date", "relevance", "author", "journal"]}, date_type={"enum": ["pdat", "edat", "mdat"], "default": "pdat"}, publication_types="array")),
    item("§3 core", "fields of a search", "search_pubmed", has("query", "effective_query", "total", "next_start", "warnings", "papers"), {"query": "cells"}),
    item("§3 core", "types and retractions in each row", "search", that(lambda v: papers(v)[0]["retracted"] is True and "Retracted Publication" in papers(v)[0]["publication_types"]), {"query": f"{RETRACTED.pmid}[uid]"}),
    item("§3 core", "dates open at one end", "search", that(lambda v: papers(v) and all(p["year"] >= "2020" for p in papers(v))), {"query": "cells", "min_date": "2020"}),
    item("§3 core", "until a date", "search", that(lambda v: papers(v) and all(p["year"] <= "1999" for p in papers(v))), {"query": "journal article[pt]", "max_date": "1999"}),
    item("§3 core", "by type", "search", all_of(that(papers), asked(lambda all_: any("Editorial" in r.params.get("term", "") for r in all_))), {"query": "moss OR city", "publication_types": ["Editorial"]}),
    item("§3 core", "what PubMed did not find is said", "search", that(lambda v: isinstance(v, list) or any("zzqqx" in w for w in v["warnings"])), {"query": "cells OR zzqqx"}),
    item("§3 core", "no such order", "search", refused("VALIDATION", "sort_by"), {"query": "a", "sort_by": "newest"}),
    item("§3 core", "an ignored tag is said", "search_pubmed", that(lambda v: any("Gene Symbol" in w for w in v["warnings"])), {"query": "CXCL12[Gene Symbol]"}),
    item("§3 core", "also that of the template", "search_pubmed_lr", that(lambda v: v["warnings"] == [] and '"cxcl12"[All Fields]' in v["effective_query"]), {"ligand": "CXCL12", "receptor": "CXCR4"}, "PubMed does not know [Gene Symbol] and looks in all fields, as is meant; effective_query shows it, and a warning that comes with every search is read by nobody"),
    item("§3 core", "five of a pair by default", "tools/list", takes("search_pubmed_lr", max_results={"default": 5})),
    item("§3 core", "fields of a download", "download", has("success", "file_path", "source", "message", "kind", "via", "verdict", "license", "retracted", "attempts"), PMID),
    item("§3 core", "by any identifier", "download", is_(source="Cache", kind="full_text"), {"pmcid": WHOLE.pmcid}),
    item("§3 core", "an arXiv preprint", "download", is_(source="arXiv", via="arxiv", kind="full_text", version="preprint"), {"arxiv_id": PAPERS.branch("arxiv").arxiv}),
    item("§3 core", "each attempt with its outcome", "download", that(lambda v: {"source", "outcome", "detail"} <= set(one(v)["attempts"][0])), {"pmid": CLOSED.pmid}),
    item("§3 core", "fetched again by force", "download", all_of(is_(kind="full_text"), asked(lambda all_: all_)), {**PMID, "force": True}),
    item("§3 core", "a copy at a place of the shelf", "download", all_of(holds("file_path", "chosen/first.txt"), kept(lambda shelf: (shelf / "chosen" / "first.txt").is_file())), {**PMID, "output_path": "chosen/first.txt"}),
    item("§3 core", "no copy outside of it", "download", all_of(refused("VALIDATION"), kept(lambda shelf: not (shelf.parent / "x.txt").exists())), {**PMID, "output_path": "../x.txt"}),
    item("§3 core", "identifiers of one paper only", "download_paper", refused("VALIDATION"), {"arxiv_id": "2601.00001", "doi": "10.48550/arXiv.2601.00002"}),
    item("§3 core", "no identifier at all", "download_paper", refused("VALIDATION"), {}),
    item("§3 core", "many at once", "download_many", that(lambda v: len(papers(v)) == 2), {"papers": [WHOLE.pmid, CLOSED.pmid]}),
    item("§3 core", "parameters of reading", "tools/list", takes("read_paper", paper="string", max_chars={"default": 8000}, start={"default": 0})),
    item("§3 core", "a paper is read", "read", all_of(holds("text", "## "), has("kind", "text")), {"paper": WHOLE.pmid}),
    item("§3 core", "with its title", "read_paper", holds("text", f"- Title: {WHOLE.plain_title}"), {"paper": WHOLE.pmid}, "a page that begins with the title has it there, not a second time"),
    item("§3 core", "also within the paper", "read", is_(title=f"{WHOLE.plain_title}."), {"paper": WHOLE.pmid, "section": "results"}),
    item("§3 core", "with its outline", "read_paper", each("outline", "heading", "chars"), {"paper": WHOLE.pmid}),
    item("§3 core", "by section", "read", that(lambda v: one(v)["text"].lstrip().startswith("## Materials and methods")), {"paper": WHOLE.pmid, "section": "methods"}),
    item("§3 core", "by file name", "read", holds("text", "## "), {"paper": FILE}),
    item("§3 core", "a stretch of a paper", "read", that(lambda v: len(one(v)["text"]) <= 1000 and one(v)["next_start"]), {"paper": WHOLE.pmid, "max_chars": 1000}),
    item("§3 core", "what is not here is not found", "read", refused("NOT_FOUND", UNKNOWN), {"paper": UNKNOWN}),
    item("§3 core", "a section that is not there", "read", refused("VALIDATION", "songs"), {"paper": WHOLE.pmid, "section": "songs"}),
    item("§3 core", "what is on the shelf", "list", that(lambda v: WHOLE.pmid in {p["pmid"] for p in papers(v)}), {"text": WHOLE.plain_title.split()[0]}),
    item("§3 core", "of one kind", "list", that(lambda v: {p["kind"] for p in papers(v)} == {"abstract"}), {"kind": "abstract"}),
    item("§3 core", "of some years", "list", that(lambda v: papers(v) and {p["year"] for p in papers(v)} == {"1967"}), {"year_to": "1970"}),
    item("§3 core", "of a journal", "list", that(lambda v: papers(v) and {p["journal"] for p in papers(v)} == {WHOLE.journal.title}), {"journal": "Signals"}),
    item("§3 core", "nothing on the shelf is no error", "list", that(lambda v: papers(v) == []), {"text": "zzqqx"}),
    item("§3 core", "references in a style", "cite", that(lambda v: "CXCR4" in str(v) and "2025" in str(v)), {"papers": [WHOLE.pmid], "style": "vancouver"}),
    item("§3 core", "no such style", "cite", refused("VALIDATION", "rhyme"), {"papers": [WHOLE.pmid], "style": "rhyme"}),
    item("§3 core", "papers around a paper", "relate", that(lambda v: (v["related_articles"] if isinstance(v, dict) else v)[0]["title"]), {"source_pmid": WHOLE.pmid}),
    item("§3 pubmed", "the crosswalk of identifiers", "convert", that(lambda v: v["records"][0]["doi"] == WHOLE.doi and v["records"][1]["status"] == "invalid"), {"ids": [WHOLE.pmid, "banana"]}),
    item("§3 pubmed", "printed references: matched", "match", that(lambda v: (v["results"][0]["status"], v["results"][0]["pmid"]) == ("matched", WHOLE.pmid)), {"citations": [{"journal": WHOLE.journal.short, "year": "2025", "volume": WHOLE.volume, "first_page": "11"}]}),
    item("§3 pubmed", "or not found", "match", that(lambda v: v["results"][0]["status"] == "not_found"), {"citations": [{"journal": "Nature", "year": "1999", "volume": "1", "first_page": "1", "author": "Mann BJ"}]}),
    item("§3 pubmed", "spelling", "spell", has("corrected_query"), {"query": "asthmaa"}),
    item("§3 pubmed", "MeSH headings with synonyms and place", "mesh", that(lambda v: v["terms"] and "tree" in str(v["terms"][0])), {"term": "Neoplasms"}),
    item("§3 pubmed", "three prompts at least", "prompts/list", that(lambda v: len(v["prompts"]) >= 3)),
    item("§3 pubmed", "resources of the shelf", "resources/list", that(lambda v: {"pubmed-connect://info", "pubmed-connect://stats/pubmed", "papers://index", "papers://{key}", "papers://report/{job_id}", "resource://pubmed/paper/{pmid}"} <= set(v["uris"]))),
    item("§3 pubmed", "the index as a resource", "papers://index", that(lambda v: v["total"] >= 3 and v["papers"][0]["uri"].startswith("papers://"))),
    item("§3 pubmed", "a paper as a resource", f"papers://{WHOLE.pmid}", that(lambda v: "## Introduction" in v and "untrusted" in v)),
    item("§3 rag", "quotations are checked", "sync", is_(inserted=1), {"query_key": "quotes", "term": f"{WHOLE.pmid}[uid]"}),
    item("§3 rag", "what was synced is indexed", "index", that(lambda v: one(v)["done"] >= 1)),
    item("§3 rag", "and found", "passages", that(hits), {"query": "internalisation slices"}),
    item("§3 rag", "word for word, and where they stand", "quote", is_(found=True, verbatim=True), {"text": QUOTE}),
    item("§3 rag", "what stands nowhere", "quote", is_(verbatim=False), {"text": "Penguins were never seen near the volcano at noon"}),
    # -- §4: the shelf
    item("§4", "full text by DOI, / and : as _", "download", kept(lambda shelf: (shelf / FILE).is_file()), PMID),
    item("§4", "a header of keys", "download", header(FILE, "- Title: ", "- Authors: ", "- Journal: ", "- Year: 2025", f"- DOI: {WHOLE.doi}", f"- PMID: {WHOLE.pmid}", f"- PMCID: {WHOLE.pmcid}", "- License: CC BY", "- Source: PMC"), PMID),
    item("§4", "a retraction in the first line", "download", lambda met: _first_line(met, "RETRACTED"), {"pmid": RETRACTED.pmid}),
    item("§4", "two DOIs that would share a name do not", "download", _lies_alone, {"doi": TWINS[0].doi}),
    item("§4", "the second has a hash", "download", _lies_alone, {"doi": TWINS[1].doi}),
    item("§4", "one row a paper, for spreadsheets", "download", index_row(pmid=WHOLE.pmid, kind="full_text", doi=WHOLE.doi), PMID),
    item("§4", "what the site sent is kept, compressed", "download", beside(".papershelf/raw/*", ".papershelf/catalogue.db"), PMID),
    item("§4", "what was rejected lies in quarantine, with the reason", "download", kept(lambda shelf: any(json.loads(p.read_text(encoding="utf-8"))["verdict"] for p in (shelf / ".papershelf" / "quarantine").glob("*.json"))), {"pmid": of("captcha_200")}),
    item("§4", "nothing half written", "download", kept(lambda shelf: not list(shelf.glob("*.tmp*"))), PMID),
    item("§4", "no key in any file", "download", no_secret_on_shelf, PMID),
    item("§4", "references for Zotero", "shell", beside("references.ris", "references.bib"), {"words": ["export"]}),
    item("§4", "an older program's full text is read as it is", "download", all_of(is_(source="Cache", kind="full_text"), kept(lambda shelf: (shelf / "10.1038_nature12345.txt").read_text(encoding="utf-8") == OLD)), {"doi": "10.1038/nature12345"}, "the databases are asked once who it is, so that lists and references know its title; where none answers, it is given all the same", settings=SLOW, meanwhile=lambda world: world.mood("down"), before={"10.1038_nature12345.txt": OLD, "pmid_10492251_abstract.txt": OLD_ABSTRACT}),
    item("§4", "its abstracts too", "list", that(lambda v: [(p["pmid"], p["kind"]) for p in papers(v)] == [("10492251", "abstract")]), {"kind": "abstract"}, settings=SLOW),
    item("§4", "the catalogue is made again from the files", "library", that(lambda v: v["before"] == v["after"] > 3), {"does": rebuilt}),
    # -- §5: the ladder
    *(
        item("§5", f"{branch}: {via}", "download", is_(kind="full_text", via=via), {"pmid": of(branch)} if PAPERS.branch(branch).pmid else {"doi": of(branch)})
        for branch, via in {
            "pmc_cloud_versions": "pmc_cloud", "efetch_only": "efetch", "europepmc_only": "europepmc", "unpaywall_pdf": "unpaywall",
            "unpaywall_html": "unpaywall", "openalex_only": "openalex", "publisher_html": "publisher", "publisher_pdf": "publisher",
            "publisher_meta_refresh": "publisher", "crossref_mined": "crossref", "scholar_copy": "semantic_scholar", "jina_only": "jina",
        }.items()
    ),
    *(
        item("§5", f"{branch} is an outcome with a name: {verdict}", "download", all_of(is_(kind="abstract"), lambda met, verdict=verdict: _among_outcomes(met, verdict)), {"pmid": of(branch)})
        for branch, verdict in {
            "paywall": "paywall", "wrong_paper": "wrong_paper", "captcha": "bot_check", "cookie_wall": "cookie_wall",
            "login": "login", "error_page": "error_page", "partial": "abstract_only", "gone": "not_offered",
        }.items()
    ),
    item("§5", "Jina is never asked for pages that are closed to programs", "library", all_of(refused("UPSTREAM", "does not let programs"), nobody_asked), {"does": page_of_ncbi_by_jina}),
    item("§5", "a site that wants more than a minute is left for now", "download", all_of(is_(kind="full_text"), _went_on), {"pmid": of("non_english")}, meanwhile=lambda world: world.mood("storm", "pmc_cloud", seconds=600)),
    item("§5", "a wrong checksum is not kept", "download", _not_from_cloud, {"pmid": of("retraction_notice")}, meanwhile=lambda world: world.mood("md5_mismatch", "pmc_cloud")),
    item("§5", "links into the private network are not followed", "download", asked(lambda all_: not any("169.254" in r.path for r in all_)), {"pmid": of("publisher_multi_hop"), "force": True}, meanwhile=lambda world: world.mood("ssrf", "publisher")),
    # -- §6: harvests
    item("§6", "a harvest is a job", "harvest_papers", has("job_id", "state", "counts", "eta_s", "report"), {"ids": LIST}),
    item("§6", "which is waited for", "harvest_status", all_of(is_(state="done"), that(lambda v: (v["counts"]["requested"], v["counts"]["pending"]) == (3, 0))), {"job_id": "<job_id>", "wait_s": 20}),
    item("§6", "each paper in one final state", "harvest_status", that(lambda v: v["counts"]["full_text"] + v["counts"]["abstract"] + v["counts"]["record"] + v["counts"]["failed"] == 3), {"job_id": "<job_id>"}),
    item("§6", "no such job", "harvest_status", refused("NOT_FOUND", "nowhere"), {"job_id": "nowhere"}),
    item("§6", "no longer wait than a host bears", "harvest_status", refused("VALIDATION", "wait_s"), {"job_id": "<job_id>", "wait_s": 51}, "50 s, which all known hosts bear, where the contract has 20"),
    item("§6", "in the shell and in Python", "harvest", that(_three), {"ids": LIST}),
    item("§6", "the same command asks nobody again", "harvest", nobody_asked, {"ids": LIST}),
    item("§6", "report, PRISMA, what is missing, and the lock", "harvest", beside(*(f"reports/*/{name}" for name in ("report.html", "prisma.svg", "not_retrieved.csv", "papers.lock.json"))), {"ids": LIST}),
    item("§6", "a checksum of each text", "harvest", lock, {"ids": LIST}),
    item("§6", "a plan before anything is fetched", "shell", that(lambda v: "requests" in json.dumps(v)), {"words": ["harvest", *LIST, of("publisher_pdf"), "--plan"]}),
    item("§6", "a list in any mix", "shell", that(_three), {"words": ["harvest", "-"], "stdin": f"{WHOLE.doi}\nPMC9100002\narXiv:{PAPERS.branch('arxiv').arxiv}\n"}),
    item("§6", "how it stands", "shell", that(lambda v: len(v) >= 1), {"words": ["status"]}),
)  # fmt: skip
