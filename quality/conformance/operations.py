"""How each operation is called: its tool, its words in the shell, its call in Python."""

# ruff: noqa: E501 - an operation is a line or two of the table
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field, is_dataclass
from typing import Any

MCP = ("stdio", "http")
Arguments = Mapping[str, Any]
Words = Callable[[Arguments], list[str]]
Call = Callable[[Any, Arguments], Any]


@dataclass(frozen=True)
class Operation:
    """One thing to do: its tool (or an address, or a method), its words, its call.

    ``fixed`` are arguments that the tool takes besides those of the item.
    """

    tool: str = ""
    shell: Words | None = None
    python: Call | None = None
    fixed: Arguments = field(default_factory=dict)

    @property
    def doors(self) -> tuple[str, ...]:
        """Where it is offered."""
        here = {"shell": self.shell, "python": self.python}
        mcp = {"": (), "POST": ("http",), "GET": ("http",)}.get(self.tool, MCP)
        return (*mcp, *(door for door, call in here.items() if call))


def operation(name: str) -> Operation:
    """One of `OPERATIONS`, else a tool of MCP alone."""
    return OPERATIONS.get(name, Operation(name))


def _options(a: Arguments, **options: str) -> list[str]:
    """The options for those arguments that are given: a list repeats one, True is a flag."""
    words: list[str] = []
    for name, option in options.items():
        for value in a[name] if isinstance(a.get(name), list) else [a.get(name)]:
            words += [option] if value is True else [option, str(value)] if value else []
    return words


def _search(a: Arguments) -> list[str]:
    words = [a["query"]] if "query" in a else ["--lr", a["ligand"], a["receptor"]]
    options = _options(
        a, max_results="--max-results", start="--start", sort_by="--sort-by", min_date="--min-date",
        max_date="--max-date", date_type="--date-type", publication_types="--type",
    )  # fmt: skip
    return ["search", *words, *options]


def _elsewhere(source: str) -> Words:
    names = {"max_results": "-n", "start_year": "--year-from", "end_year": "--year-to"}
    names["author"] = "--author"
    return lambda a: ["search", a["query"], "--source", source, *_options(a, **names)]


def _bibtex(a: Arguments) -> list[str]:
    return ["cite", str(next(iter(a.values()))), "--style", "bibtex"]


def _cited(library: Any, a: Arguments) -> Any:
    [(_, cited)] = library.cite([str(next(iter(a.values())))], "bibtex")
    return plain(cited)


def _identifier(a: Arguments) -> str:
    return str(next(a[name] for name in ("pmid", "doi", "pmcid", "arxiv_id") if name in a))


def _download(library: Any, a: Arguments) -> Any:
    how = {name: a[name] for name in ("prefer_pmc", "force", "output_path") if name in a}
    return library.download(_identifier(a), **how).row()


def _found(found: Any) -> dict[str, Any]:
    about = {name: getattr(found, name) for name in ("total", "effective_query", "warnings")}
    more = {"next_start": found.next_start, "query": found.query}
    return {
        **about,
        **more,
        "papers": [paper.row() | {"arxiv": paper.ids.arxiv} for paper in found.papers],
    }


def plain(value: Any) -> Any:
    """A result of Python as JSON has it; an error among results is its envelope."""
    if hasattr(value, "envelope"):
        return value.envelope()
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if isinstance(value, str):
        return {"citation": value}
    return [plain(one) for one in value] if isinstance(value, Iterable) else value


def _harvest(library: Any, a: Arguments) -> Any:
    work = library.harvest(a.get("ids", ()), query=a.get("query", ""))
    last = [progress.job for progress in work][-1]
    return {"job_id": last.job_id, "counts": asdict(last.counts), "state": "done"}


def _stage(a: Arguments) -> list[str]:
    ids = ["--ids", ",".join(a["ids"])] if "ids" in a else []
    return ["stage", a["database"], *ids, *filter(None, [a.get("term")])]


def _staged(library: Any, a: Arguments) -> Any:
    pages = library.entrez.pages(a["database"], a.get("ids", ""), query=a.get("term", ""))
    return asdict(library.datasets.stage(pages))


def _rows(library: Any, a: Arguments) -> Any:
    page = library.datasets.query(a["dataset"], a["sql"])
    return {"columns": page.columns, "rows": page.rows, "next_start": page.next_start}


def _entrez(verb: str) -> Call:
    named = {"to_database": "database_to"} | (
        {"database": "database_from"} if verb == "link" else {}
    )
    return lambda library, a: asdict(
        getattr(library.entrez, verb)(**{named.get(name, name): value for name, value in a.items()})
    )


def _spelled(value: Any) -> str:
    """A setting's value as the shell prints it."""
    if isinstance(value, tuple):
        return ", ".join(value)
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def _checkpoint(library: Any, a: Arguments) -> Any:
    if "last_edat" in a:
        library.corpus.set_checkpoint(a["query_key"], a["last_edat"])
    found = library.corpus.checkpoint(a["query_key"])
    return asdict(found) if found else {"query_key": a["query_key"], "last_edat": None}


def _passages(library: Any, a: Arguments) -> Any:
    answer = library.corpus.find(**a)
    rows = [
        {**asdict(hit.passage), "uuid": hit.passage.uuid, "score": hit.score, "sim": hit.sim}
        | {"bm25": hit.bm25, "quality": hit.quality.total, "doc_id": hit.passage.paper}
        for hit in answer.hits
    ]
    return {"results": rows, "warnings": answer.warnings}


def _articles(library: Any, a: Arguments) -> Any:
    options = {"max_results": a.get("max_results", 20), **a.get("date_range", {})}
    options |= {"publication_types": tuple(a.get("filter_by_publication_types", ()))}
    options |= {"sort_by": a.get("sort_by", "relevance")}
    summaries = a.get("fetch_brief_summaries", 0)
    found = library.pubmed.search_articles(a["query_term"], summaries=summaries, **options)
    return {
        "effective_search_term": found.term, "total_found": found.hits.total,
        "pmids": found.hits.pmids, "retrieved_pmid_count": len(found.hits.pmids),
        "brief_summaries": plain(found.summaries), "e_search_url": found.search_url,
    }  # fmt: skip


def _details(library: Any, a: Arguments) -> Any:
    found = library.pubmed.details(**a)
    records = [{"pmid": pmid} for pmid in found.records]
    text = "".join(found.records.values())
    return {"articles": records, "text": text, "not_found_pmids": found.not_found}


_KINDS = {
    "pubmed_similar_articles": "similar", "pubmed_citedin": "cited-by",
    "pubmed_references": "references",
}  # fmt: skip


def _kind(a: Arguments) -> str:
    return a.get("relationship_type", "pubmed_similar_articles")


OPERATIONS = {
    "search": Operation(
        "search_pubmed", _search,
        lambda library, a: _found(library.search(**a)),
    ),
    "search_lr": Operation("search_pubmed_lr", _search),
    "search_pair": Operation(
        "search_pubmed_lr", _search,
        lambda library, a: _found(library.pubmed.search_ligand_receptor(**a)),
    ),
    "download": Operation(
        "download_paper",
        lambda a: ["download", _identifier(a), *_options(a, force="--force", output_path="--output-path"),
                   *["--no-pmc-first"] * (a.get("prefer_pmc") is False)],
        _download,
    ),
    "download_many": Operation(
        "download_papers",
        lambda a: ["download", *a["papers"]],
        lambda library, a: {"papers": [done.row() if hasattr(done, "row") else plain(done) for _, done in library.download_many(a["papers"])]},
    ),
    "read": Operation(
        "read_paper",
        lambda a: ["read", a["paper"], *_options(a, section="--section", start="--start", max_chars="--max-chars")],
        lambda library, a: asdict(library.read(**a)),
    ),
    "list": Operation(
        "list_papers",
        lambda a: ["list", a.get("text", ""), *_options(a, kind="--kind", year_from="--year-from", year_to="--year-to", journal="--journal")],
        lambda library, a: {"papers": [one.paper.short_row() | {"kind": one.kind} for one in library.list_papers(**a)[1]]},
    ),
    "harvest": Operation(
        "",
        lambda a: ["harvest", *([a["query"]] if "query" in a else a["ids"])],
        _harvest,
    ),
    "relate": Operation(
        "get_article_relationships",
        lambda a: ["related", a["source_pmid"], "--kind", _KINDS[_kind(a)], "-n", str(a.get("max_related_results", 5))],
        lambda library, a: {"related_articles": plain(library.pubmed.related(a["source_pmid"], _kind(a), a.get("max_related_results", 5)).articles)},
    ),
    "articles": Operation("search_pubmed_articles", None, _articles),
    "details": Operation("fetch_article_details", None, _details),
    "record": Operation(
        "get_pubmed_paper", None,
        lambda library, a: library.pubmed.paper(a["pmid"]).row(),
    ),
    "cite": Operation(
        "cite_papers",
        lambda a: ["cite", *a["papers"], *_options(a, style="--style")],
        lambda library, a: [plain(cited) for _, cited in library.cite(a["papers"], a.get("style", "apa"))],
    ),
    "pubmed_bibtex": Operation("pubmed_to_bibtex", _bibtex, _cited),
    "arxiv_bibtex": Operation("arxiv_to_bibtex", _bibtex, _cited),
    "scholar_bibtex": Operation("semantic_scholar_to_bibtex", _bibtex, _cited),
    "convert": Operation(
        "convert_ids", None,
        lambda library, a: {"records": [asdict(x.ids) | {"status": x.status} for x in library.pubmed.convert_ids(a["ids"])]},
    ),
    "match": Operation(
        "match_citations", None,
        lambda library, a: {"results": plain(library.pubmed.match_citations(a["citations"]))},
    ),
    "spell": Operation(
        "spell_check", None,
        lambda library, a: {"corrected_query": library.pubmed.check_spelling(a["query"]).corrected},
    ),
    "mesh": Operation(
        "lookup_mesh", None,
        lambda library, a: {"terms": plain(library.pubmed.look_up_mesh(a["term"])[1])},
    ),
    "arxiv": Operation(
        "search_arxiv", _elsewhere("arxiv"),
        lambda library, a: _found(library.arxiv.search(**a)),
    ),
    "arxiv_paper": Operation(
        "get_arxiv_paper", None,
        lambda library, a: library.arxiv.paper(a["arxiv_id"]).row(),
    ),
    "scholar": Operation(
        "search_semantic_scholar", _elsewhere("semantic_scholar"),
        lambda library, a: {"papers": [x.paper.row() for x in library.semantic_scholar.search(**a).papers]},
    ),
    "scholar_paper": Operation(
        "get_semantic_scholar_paper", None,
        lambda library, a: library.semantic_scholar.paper(a["identifier"]).paper.row(),
    ),
    "citing": Operation(
        "get_paper_citations", None,
        lambda library, a: {"papers": [x.paper.row() for x in library.semantic_scholar.citing_papers(a["paper_id"], max_results=a.get("max_results", 10)).papers]},
    ),
    "sync": Operation(
        "pubmed_sync_delta",
        lambda a: ["sync", a["query_key"], a["term"], *_options(a, full="--full", overlap_days="--overlap-days")],
        lambda library, a: asdict(library.corpus.sync(**a)),
    ),
    "checkpoint": Operation(
        "corpus_checkpoint_get",
        lambda a: ["checkpoint", a["query_key"]],
        _checkpoint,
    ),
    "set_checkpoint": Operation(
        "corpus_checkpoint_set",
        lambda a: ["checkpoint", a["query_key"], "--set", a["last_edat"]],
        _checkpoint,
    ),
    "index": Operation(
        "", lambda a: ["index"], lambda library, a: asdict(list(library.corpus.index())[-1])
    ),
    "passages": Operation(
        "rag_search",
        lambda a: ["find", a["query"], *_options(a, top_k="--top-k"), *["--no-quality-bias"] * (a.get("quality_bias") is False)],
        _passages,
    ),
    "corpus_record": Operation(
        "rag_get", None,
        lambda library, a: asdict(library.corpus.record(a["doc_id"])),
    ),
    "quote": Operation(
        "verify_quote",
        lambda a: ["quote", a["text"]],
        lambda library, a: asdict(library.corpus.verify_quote(a["text"])),
    ),
    **{
        f"entrez_{verb}": Operation("entrez_query", None, _entrez(verb), {"operation": verb})
        for verb in ("search", "summary", "fetch", "link", "info", "post", "spell", "global_query")
    },
    "stage": Operation("entrez_data", _stage, _staged, {"operation": "fetch_and_stage"}),
    "schema": Operation(
        "entrez_data",
        lambda a: ["datasets", a["dataset"]],
        lambda library, a: asdict(library.datasets.schema(a["dataset"])),
        {"operation": "schema"},
    ),
    "sql": Operation(
        "entrez_data", lambda a: ["sql", a["dataset"], a["sql"]], _rows, {"operation": "query"}
    ),
    "datasets": Operation(
        "entrez_data",
        lambda a: ["datasets"],
        lambda library, a: {"datasets": plain(library.datasets.list())},
        {"operation": "list_datasets"},
    ),
    "compounds": Operation(
        "entrez_external", None,
        lambda library, a: asdict(library.pubchem.find(a["query"])),
        {"operation": "compounds"},
    ),
    "article_text": Operation(
        "entrez_external", None,
        lambda library, a: asdict(library.pubmed.article_text(a["ids"][0])),
        {"operation": "text"},
    ),
    "settings": Operation(
        "",
        lambda a: ["settings"],
        lambda library, a: [{"name": name.upper(), "value": _spelled(value)} for name, value in library.settings],
    ),
    "library": Operation("", None, lambda library, a: a["does"](library)),
    "shell": Operation("", lambda a: list(a["words"])),
}  # fmt: skip
