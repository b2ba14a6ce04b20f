"""004: interface of arXiv, Semantic Scholar and PubMed servers. Ten tools and BibTeX."""

# ruff: noqa: E501 - an item is a line of the table
from functools import partial

from quality.conformance.examples import (
    ARXIV_ID,
    ENVELOPE,
    KEYED,
    ONE_NAME,
    PMID,
    SCHOLAR_KEY,
    SNAKE,
    UNKNOWN,
    WHOLE,
)  # fmt: skip
from quality.conformance.items import (
    Check,
    Item,
    all_of,
    asked,
    each,
    has,
    holds,
    is_,
    nobody_asked,
    papers,
    refused,
    sent,
    shown,
    takes,
    that,
    waited,
)  # fmt: skip
from quality.conformance.settings import secret
from tests.world import Request

item = partial(Item, "004")
PREPRINT = (
    "id",
    "title",
    "authors",
    "abstract",
    "published",
    "updated",
    "url",
    "pdf_url",
    "categories",
    "primary_category",
)
SCHOLAR = (
    "paper_id", "title", "abstract", "year", "authors", "citation_count", "reference_count",
    "influential_citation_count", "url", "venue", "publication_date",
)  # fmt: skip
RECORD = (
    "pmid",
    "title",
    "abstract",
    "authors",
    "journal",
    "year",
    "doi",
    "url",
    "publication_types",
    "mesh_terms",
)
TITLE = {"query": WHOLE.plain_title}
BARE_LIST = (
    "a list is a member of an answer beside total and next_start, so that a long one can be read on"
)


def apart(service: str, seconds: float) -> Check:
    """Two requests reached the service, no nearer to each other than that."""

    def spaced(requests: list[Request]) -> bool:
        [first, second] = requests
        return second.at - first.at > 0.99 * seconds

    return asked(spaced, service)


ITEMS = (
    # -- arXiv
    item("search_arxiv", "parameters, bounds and defaults", "tools/list", takes("search_arxiv", query="string", max_results={"default": 10, "maximum": 100, "minimum": 1}, min_date="string", max_date="string", author="string", sort_by={"default": "relevance", "enum": ["relevance", "pub_date", "update_date"]}), {}, ONE_NAME),
    item("search_arxiv", "fields of a preprint", "search_arxiv", each("papers", *PREPRINT), {"query": "nucleation"}, f"{SNAKE}; {BARE_LIST}"),
    item("search_arxiv", "found at every door", "arxiv", that(lambda v: ARXIV_ID in str(papers(v))), {"query": "nucleation"}),
    item("search_arxiv", "the id has its version, dates are ISO 8601", "search_arxiv", that(lambda v: v["papers"][0]["id"][-2:] in ("v1", "v2") and v["papers"][0]["published"][:5] == "2025-" and v["papers"][0]["pdf_url"].startswith("https://arxiv.org/pdf/")), {"query": "nucleation"}),
    item("search_arxiv", "no more than asked for", "arxiv", that(lambda v: len(papers(v)) == 2), {"query": "nucleation", "max_results": 2}),
    item("search_arxiv", "years", "arxiv", all_of(asked(lambda all_: any("submittedDate:[2099" in r.params["search_query"] for r in all_), "arxiv"), that(lambda v: papers(v) == [])), {"query": "nucleation", "start_year": 2099}),
    item("search_arxiv", "an author", "arxiv", asked(lambda all_: any("au:Haddad" in r.params["search_query"] for r in all_), "arxiv"), {"query": "droplets", "author": "Haddad"}),
    item("search_arxiv", "an order", "search_arxiv", sent("arxiv", sortBy="submittedDate"), {"query": "impurity", "sort_by": "submittedDate"}),
    item("search_arxiv", "a hundred at most", "search_arxiv", refused("VALIDATION", "max_results"), {"query": "a", "max_results": 101}),
    item("search_arxiv", "no question is refused", "search_arxiv", refused("VALIDATION", "query"), {}),
    item("search_arxiv", "three requests a second", "library", apart("arxiv", 3.0), {"does": lambda library: [library.arxiv.search(word).total for word in ("levitated", "supersaturation")]}, "arXiv's own terms: one request in three seconds"),
    item("get_arxiv_paper", "fields of a preprint", "get_arxiv_paper", has(*PREPRINT), {"arxiv_id": ARXIV_ID}, SNAKE),
    item("get_arxiv_paper", "with and without arXiv:", "arxiv_paper", holds("title", "Nucleation lag"), {"arxiv_id": f"arXiv:{ARXIV_ID}"}),
    item("get_arxiv_paper", "in the version asked for", "get_arxiv_paper", is_(id=f"{ARXIV_ID}v1"), {"arxiv_id": f"arXiv:{ARXIV_ID}v1"}),
    item("get_arxiv_paper", "unknown is not found", "arxiv_paper", refused("NOT_FOUND", "2501.99999"), {"arxiv_id": "2501.99999"}, ENVELOPE),
    item("get_arxiv_paper", "what is no arXiv id", "arxiv_paper", all_of(refused("VALIDATION", "banana"), nobody_asked), {"arxiv_id": "banana"}, ENVELOPE),
    item("arxiv_to_bibtex", "the version, the class, the address stay", "arxiv_to_bibtex", holds("bibtex", f"eprint = {{{ARXIV_ID}v1}}", "archivePrefix = {arXiv}", "primaryClass = {q-bio.QM}", f"url = {{https://arxiv.org/abs/{ARXIV_ID}v1}}", "abstract = {", "author = {Haddad, Samir and"), {"arxiv_id": f"{ARXIV_ID}v1"}, "@misc, as arXiv itself has it: a preprint is no article of a journal; values in braces, which BibTeX wants"),
    item("arxiv_to_bibtex", "at every door", "arxiv_bibtex", that(lambda v: "archivePrefix = {arXiv}" in str(v)), {"arxiv_id": f"arXiv:{ARXIV_ID}"}),
    # -- Semantic Scholar
    item("search_semantic_scholar", "parameters, bounds and defaults", "tools/list", takes("search_semantic_scholar", query="string", max_results={"default": 10, "maximum": 100, "minimum": 1}, min_date="string", max_date="string"), {}, ONE_NAME),
    item("search_semantic_scholar", "fields of a paper", "search_semantic_scholar", each("papers", *SCHOLAR), TITLE, f"{SNAKE}; {BARE_LIST}"),
    item("search_semantic_scholar", "authors with their ids", "search_semantic_scholar", that(lambda v: {"author_id", "name"} <= set(v["papers"][0]["authors"][0])), TITLE, SNAKE),
    item("search_semantic_scholar", "found at every door", "scholar", that(lambda v: WHOLE.doi in str(papers(v))), TITLE),
    item("search_semantic_scholar", "years", "scholar", that(lambda v: papers(v) == []), {**TITLE, "end_year": 1990}),
    item("get_semantic_scholar_paper", "by DOI", "get_semantic_scholar_paper", has(*SCHOLAR), {"identifier": WHOLE.doi}, SNAKE),
    item("get_semantic_scholar_paper", "by its own id", "get_semantic_scholar_paper", is_(doi=WHOLE.doi), {"identifier": "5d19e86ccba729092b2a4bac340b46d997974363"}),
    item("get_semantic_scholar_paper", "at every door", "scholar_paper", that(lambda v: v["title"].startswith("CXCL12")), {"identifier": WHOLE.doi}),
    item("get_semantic_scholar_paper", "unknown is not found", "scholar_paper", refused("NOT_FOUND", "10.9999/nothing"), {"identifier": "10.9999/nothing"}, ENVELOPE),
    item("get_paper_citations", "parameters, bounds and defaults", "tools/list", takes("get_paper_citations", paper="string", max_results={"default": 10, "maximum": 100}), {}, ONE_NAME),
    item("get_paper_citations", "who cites it", "get_paper_citations", each("papers", *SCHOLAR), {"paper_id": f"DOI:{WHOLE.doi}"}, f"{SNAKE}; {BARE_LIST}"),
    item("get_paper_citations", "no more than asked for", "citing", that(lambda v: len(v["papers"]) == 2), {"paper_id": f"DOI:{WHOLE.doi}", "max_results": 2}),
    item("semantic_scholar_to_bibtex", "an entry", "semantic_scholar_to_bibtex", holds("bibtex", "@article{", "title = {", "author = {", "year = {2025}", "abstract = {", "journal = {"), {"identifier": WHOLE.doi}),
    item("semantic_scholar_to_bibtex", "at every door", "scholar_bibtex", that(lambda v: "@article{" in str(v)), {"identifier": WHOLE.doi}),
    item("Semantic Scholar", "a key of your own is sent", "scholar", asked(lambda all_: all_ and all(r.headers.get("x-api-key") == SCHOLAR_KEY for r in all_), "semantic_scholar"), {"query": "gene editing"}, settings=KEYED),
    item("Semantic Scholar", "the key is a setting", "settings", secret("SEMANTIC_SCHOLAR_API_KEY"), settings=KEYED),
    item("Semantic Scholar", "ten requests a second with a key", "library", apart("semantic_scholar", 1.0), {"does": lambda library: [library.semantic_scholar.search(word).total for word in ("hydrogels", "moss spores")]}, "Semantic Scholar gives a key one request a second", settings=KEYED),
    # -- PubMed
    item("search_pubmed", "years", "search", that(lambda v: {p["year"] for p in papers(v)} == {"1998"}), {"query": "journal article[pt]", "min_date": "1990", "max_date": "2000"}, "min_date and max_date stand for startYear and endYear: months and days, too, and which date is meant"),
    item("search_pubmed", "a hundred at most", "search_pubmed", that(lambda v: v["total"] >= 0), {"query": "zzqqx[ti]", "max_results": 1000}, "a thousand: pages are bounded by their tokens, and next_start goes on"),
    item("search_pubmed", "MeSH terms in the question", "search", that(lambda v: WHOLE.pmid in {p["pmid"] for p in papers(v)}), {"query": "Chemokine CXCL12[MeSH]"}),
    item("search_pubmed", "types and MeSH terms of each", "search", that(lambda v: "Journal Article" in str(papers(v)[0]["publication_types"])), {"query": f"{WHOLE.pmid}[uid]"}, "MeSH terms and the address are in get_pubmed_paper: in a list they would cost more than the titles"),
    item("search_pubmed", "authors as a list", "search", that(lambda v: isinstance(papers(v)[0]["authors"], str)), {"query": f"{WHOLE.pmid}[uid]"}, "text, by commas: document 002 comes before this one"),
    item("get_pubmed_paper", "fields of a record", "get_pubmed_paper", has(*RECORD), PMID, SNAKE),
    item("get_pubmed_paper", "authors, types and MeSH terms as lists", "get_pubmed_paper", that(lambda v: isinstance(v["authors"], list) and v["mesh_terms"] and v["publication_types"] == ["Journal Article"]), PMID),
    item("get_pubmed_paper", "at every door", "record", holds("title", "CXCL12"), PMID),
    item("get_pubmed_paper", "unknown is not found", "record", refused("NOT_FOUND", UNKNOWN), {"pmid": UNKNOWN}, ENVELOPE),
    item("pubmed_to_bibtex", "an entry", "pubmed_to_bibtex", holds("bibtex", "@article{", f"pmid = {{{WHOLE.pmid}}}", f"doi = {{{WHOLE.doi}}}", "journal = {Signals and Cells}", "abstract = {", "author = {", " and "), PMID, "the key is author, year and first word, as reference managers make it; url is the DOI's"),
    item("pubmed_to_bibtex", "at every door", "pubmed_bibtex", that(lambda v: "@article{" in str(v)), PMID),
    # -- answers and errors
    item("Response Format", "JSON as text", "get_pubmed_paper", shown(lambda r: r.content[0].text and r.structured_content["pmid"] == WHOLE.pmid), PMID, "JSON is in structuredContent; the text is made from it for models that read text, in two thirds of the tokens"),
    item("Response Format", "BibTeX as plain text", "pubmed_to_bibtex", shown(lambda r: "@article{" in r.content[0].text), PMID),
    item("Error Handling", "no arguments", "get_pubmed_paper", refused("VALIDATION", "pmid"), {}, ENVELOPE),
    item("Error Handling", "too many requests: it waits, and asks again", "record", all_of(holds("title", "Open sporophytes"), asked(lambda all_: [r.status for r in all_] == [429, 200], "eutils"), waited(lambda naps: max(naps) >= 3)), {"pmid": "41000061"}, meanwhile=lambda world: world.mood("storm", "eutils", 1, seconds=3)),
    item("Error Handling", "a service that is down", "arxiv_paper", refused("UPSTREAM"), {"arxiv_id": "2509.11015"}, ENVELOPE, meanwhile=lambda world: world.mood("reset", "arxiv")),
    item("Error Handling", "an answer that cannot be read", "record", refused("UPSTREAM"), {"pmid": "41000062"}, ENVELOPE, meanwhile=lambda world: world.mood("garbage", "eutils"), settings=KEYED),
    item("Error Handling", "thirty seconds for a request", "library", that(lambda v: v == 120), {"does": lambda library: library.web.deadline}, "120, as document 002 has it: a long paper over a slow line; a tool answers within 20 all the same, and goes on"),
)  # fmt: skip
