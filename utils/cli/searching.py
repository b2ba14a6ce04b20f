"""Commands that search: PubMed, several sources at once, related papers and references."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from ..citations import STYLES, resolve_style_name
from ..command_line import command_line
from ..errors import BadRequest, PaperError
from ..model.identifiers import Ids, find_arxiv_version
from ..system.nearest import suggest_nearest_name
from ..system.plain_text import one_line
from .commands import CommandParser, Commands, command
from .options import (
    add_date_options,
    add_keys_option,
    add_limit_option,
    add_types_option,
    get_year,
    parse_whole_number,
)
from .output import (
    combine_statuses,
    print_answer,
    print_error,
    print_note,
    print_unread_identifier,
    print_warnings,
    read_arguments,
)

if TYPE_CHECKING:
    from ..library import Library
    from ..lists.pasted import ListEntry
    from ..model.paper import Paper, SearchResult
    from ..search.search import FoundPaper, MergedSearch, SourceAnswer

_DEFAULT_WAIT_S, _LONG_WAIT_S = (
    14.0,
    90.0,
)  # a site that rejects a request is retried within the latter
_SOURCES = ("pubmed", "europepmc", "arxiv", "semantic_scholar", "openalex", "all", "mirror")
_ORDERS = ("pub_date", "relevance", "author", "journal")
FILE_STYLES = ("ris", "bibtex", "nbib", "csl-json")
_LINK_NAME_BY_KIND = {
    "similar": "pubmed_similar_articles", "cited-by": "pubmed_citedin",
    "references": "pubmed_references",
}  # fmt: skip


def add(commands: Commands) -> None:
    """Register the commands."""
    search = command(commands, "search", _search_papers)
    search.add_argument("query", nargs="+", help="a query in PubMed's syntax; with --lr, two names")
    search.add_argument(
        "--lr", action="store_true", help="search for a ligand and its receptor, given as two names"
    )
    search.add_argument(
        "--source",
        default="pubmed",
        metavar="NAMES",
        help=(
            "sites to search: pubmed,europepmc,arxiv,semantic_scholar,openalex; or all; or "
            "mirror (pubmed)"
        ),
    )
    add_limit_option(search, "papers", 10, former_names=["--max-results"])
    search.add_argument(
        "--start", type=parse_whole_number, default=0, metavar="N", help="skip N papers"
    )
    search.add_argument(
        "--sort-by", choices=_ORDERS, default="", help="sort order (several sources: relevance)"
    )
    add_date_options(search, with_days=True)
    add_types_option(search)
    search.add_argument("--author", default="", metavar="NAME", help="only papers by this author")
    search.add_argument(
        "--wait",
        type=float,
        default=_DEFAULT_WAIT_S,
        metavar="SECONDS",
        help="wait N seconds for all sources together (14)",
    )
    search.add_argument("--abstracts", action="store_true", help="also print abstracts")
    add_export_option(search)
    _add_references(commands)


def _add_references(commands: Commands) -> None:
    cite = command(commands, "cite", _print_citations)
    cite.add_argument(
        "paper", nargs="*", help="identifiers, or files with identifiers; - or nothing reads stdin"
    )
    cite.add_argument("--style", type=_parse_style, choices=list(STYLES), default="apa")
    add_keys_option(cite)
    related = command(commands, "review related", _list_related)
    related.add_argument("pmid", help="the paper's PMID")
    related.add_argument("--kind", choices=list(_LINK_NAME_BY_KIND), default="similar")
    add_limit_option(related, "papers", 10, former_names=["--max-results"])


def _search_papers(args: argparse.Namespace, library: Library) -> int:
    sources = [name.strip() for name in args.source.split(",") if name.strip()]
    if sources == ["pubmed"]:
        return _search_pubmed(args, library)
    if sources == ["mirror"]:
        return _search_mirror(args, library)
    if strange := [name for name in sources if name not in _SOURCES]:
        msg = f"{strange[0]!r} cannot be searched."
        known = f"Choose among {', '.join(_SOURCES)}."
        raise BadRequest(msg, suggest_nearest_name(strange[0], _SOURCES), known)
    _reject_pubmed_options(args)
    options: dict[str, Any] = {} if sources == ["all"] else {"among": tuple(sources)}
    gathered = library.search_papers(
        " ".join(args.query),
        max_results=args.limit,
        min_date=args.since[:4],
        max_date=args.until[:4],
        author=args.author,
        sort_by=args.sort_by or "relevance",
        wait_s=max(0.0, args.wait),
        **options,
    )
    if args.format:
        print_references([found.paper for found in gathered.papers], args.format, library)
    else:
        for number, found in enumerate(gathered.papers, 1):
            shown = _format_merged(number, found, args.abstracts)
            print_answer(found.row() if args.json else shown, args.json)
    _note_sources(gathered)
    if any(one.outcome == "slow" for one in gathered.asked) and args.wait < _LONG_WAIT_S:
        print_note(
            "Only the sources that answered are included. To wait for the others: --wait "
            f"{_LONG_WAIT_S:.0f}"
        )
    return 0


def _reject_pubmed_options(args: argparse.Namespace) -> None:
    options = {"--lr": args.lr, "--start": args.start, "--type": args.publication_types}
    if named := [name for name, value in options.items() if value]:
        verb = "goes" if len(named) == 1 else "go"
        msg = f"{', '.join(named)} {verb} with PubMed only."
        raise BadRequest(msg, f"Leave out --source, or {' and '.join(named)}.")
    _note_years(args)


def _note_years(args: argparse.Namespace) -> None:
    """Note that only the year of a date counts, if so."""
    if exact := [date for date in (args.since, args.until) if len(date) > 4]:
        print_note(f"{' and '.join(exact)}: --source {args.source} uses only the year.")


def _search_pubmed(args: argparse.Namespace, library: Library) -> int:
    pair = dict(zip(("ligand", "receptor"), args.query, strict=False)) if args.lr else {}
    return _print_results(_ask_pubmed(args, library), args, library, pair)


def _print_results(
    found: SearchResult, args: argparse.Namespace, library: Library, more: dict[str, str]
) -> int:
    """Print a page of a search; ``more`` is added to every JSON row."""
    if args.format:
        print_references(found.papers, args.format, library)
    else:
        for number, paper in enumerate(found.papers, args.start + 1):
            row = {**paper.row(), **more}
            print_answer(
                row if args.json else format_paper(number, paper, args.abstracts), args.json
            )
    print_note(f"{len(found.papers)} of {found.total:,} hits for {one_line(found.effective_query)}")
    print_warnings(found.warnings)
    if found.next_start is not None:
        print_note(f"more: --start {found.next_start}")
    return 0


def _search_mirror(args: argparse.Namespace, library: Library) -> int:
    """Search PubMed's copy on this machine by words, without a request."""
    options = {"--lr": args.lr, "--author": args.author, "--sort-by": args.sort_by}
    if named := [name for name, value in options.items() if value]:
        msg = f"{', '.join(named)} cannot be used with a mirror, which is searched by words."
        raise BadRequest(msg, f"Leave out --source mirror, or {' and '.join(named)}.")
    _note_years(args)
    found = library.mirror.find(
        " ".join(args.query),
        max_results=args.limit,
        start=args.start,
        start_year=get_year(args.since),
        end_year=get_year(args.until),
        publication_types=tuple(args.publication_types),
    )
    return _print_results(found, args, library, {})


def _ask_pubmed(args: argparse.Namespace, library: Library) -> SearchResult:
    options = {
        "max_results": args.limit,
        "start": args.start,
        "sort_by": args.sort_by or "pub_date",
        "author": args.author,
        "min_date": args.since,
        "max_date": args.until,
        "date_type": args.date_type,
        "publication_types": tuple(args.publication_types),
    }
    if not args.lr:
        return library.search(" ".join(args.query), **options)
    if len(args.query) != 2:
        raise BadRequest(
            "--lr takes two names.", f"For example: {command_line('search --lr CXCL12 CXCR4')}"
        )
    return library.pubmed.search_ligand_receptor(*args.query, **options)


def _note_sources(gathered: MergedSearch) -> None:
    for answer in gathered.asked:
        print_note(_format_source(answer))
        print_warnings(f"{answer.source}: {warning}" for warning in answer.warnings)
    noted = {answer.message for answer in gathered.asked}
    print_warnings(warning for warning in gathered.warnings if warning not in noted)


def _format_source(answer: SourceAnswer) -> str:
    if answer.outcome != "answered":
        return f"{answer.source}: {answer.outcome.replace('_', ' ')}. {one_line(answer.message)}"
    total = "?" if answer.total is None else f"{answer.total:,}"
    return f"{answer.source}: {answer.returned} of {total} hits for {one_line(answer.query)}"


def _format_merged(number: int, found: FoundPaper, abstracts: bool) -> str:
    """Return a paper of a merged list with its sources and linked records."""
    lines = [format_paper(number, found.paper, abstracts), f"     from {', '.join(found.sources)}"]
    lines += [
        f"     {link.relation.replace('_', ' ')} {link.ids} ({one_line(link.reason)})"
        for link in found.linked
    ]
    return "\n".join(lines)


def format_paper(number: int, paper: Paper, abstracts: bool) -> str:
    """Return a numbered paper in three or four lines."""
    names = [one_line(author.name) for author in paper.authors]
    who = ", ".join(names[:3]) + (" et al" if len(names) > 3 else "")
    ids = "  ".join(_format_ids(paper))
    flag = "[RETRACTED] " if paper.retracted else ""
    lines = [
        f"{number:>3}. {flag}{one_line(paper.title)}",
        f"     {who}. {one_line(paper.journal)} {paper.year}",
        f"     {ids}",
    ]
    if abstracts and paper.abstract:
        lines.append(f"     {paper.abstract}")
    return "\n".join(lines)


def _format_ids(paper: Paper) -> Sequence[str]:
    ids = paper.ids
    spelled = (
        f"PMID {ids.pmid}" if ids.pmid else "",
        ids.doi,
        ids.pmcid,
        f"arXiv:{ids.arxiv}" if ids.arxiv else "",
    )
    return [name for name in spelled if name] or [str(ids)]


def _parse_style(name: str) -> str:
    """Return the style's name; an unknown name is returned unchanged, for argparse to reject."""
    with suppress(BadRequest):
        return resolve_style_name(name)
    return name


def add_export_option(parser: CommandParser) -> None:
    """Add ``--format``: print papers as a file for Zotero, EndNote or LaTeX."""
    parser.add_argument(
        "--format",
        choices=FILE_STYLES,
        default="",
        help="print a file for Zotero, EndNote or LaTeX",
    )


def print_references(papers: Sequence[Paper], style: str, library: Library, keys: str = "") -> None:
    """Print all references as one file; *keys* is the pattern of BibTeX keys."""
    name = STYLES[style]
    references = [row[name] for row in library.references.citations(papers, [name], keys=keys)]
    if style == "csl-json":
        import json

        print_answer(json.dumps(references, ensure_ascii=False, indent=1), unwrapped_lines=True)
    elif style in FILE_STYLES:
        # Each record brings its own blank line.
        print_answer("".join(references).rstrip("\n"), unwrapped_lines=True)
    else:
        for reference in references:
            print_answer(one_line(reference), unwrapped_lines=True)


def _print_citations(args: argparse.Namespace, library: Library) -> int:
    request = read_arguments(args.paper)
    if request.query:
        msg = f"{request.query!r} is not an identifier or a file with identifiers."
        raise BadRequest(msg, f"Find the paper first: {command_line('search QUERY')}")
    nameless = (entry.asked for entry in request.entries if not entry.ids)
    statuses = [print_unread_identifier(asked, args.json) for asked in nameless]
    papers: list[tuple[str, Paper]] = []
    asked = [_parse_cited_paper(entry) for entry in request.entries if entry.ids]
    for ids, outcome in library.references.records_to_cite(asked):
        if isinstance(outcome, PaperError):
            statuses.append(outcome.exit_code)
            sys.stdout.flush()
            print_error(outcome, as_json=args.json)
        else:
            statuses.append(0)
            papers.append((str(ids), outcome))
    if args.json:
        name = STYLES[args.style]
        found = [paper for _, paper in papers]
        rows = library.references.citations(found, [name], keys=args.keys)
        for (name_given, _), row in zip(papers, rows, strict=True):
            print_answer(
                {"paper": name_given, "style": args.style, "citation": row[name]}, as_json=True
            )
    elif papers:
        print_references([paper for _, paper in papers], args.style, library, args.keys)
    return combine_statuses(statuses)


def _parse_cited_paper(entry: ListEntry) -> str | Ids:
    """Return a list's paper; for arXiv, with the version that the list names."""
    version = find_arxiv_version(entry.asked) if entry.ids.arxiv else ""
    return f"arXiv:{entry.ids.arxiv}v{version}" if version else entry.ids


def _list_related(args: argparse.Namespace, library: Library) -> int:
    kind: Any = _LINK_NAME_BY_KIND[args.kind]
    found = library.pubmed.related(args.pmid, kind, args.limit)
    for number, one in enumerate(found.articles, 1):
        row = {name: getattr(one, name) for name in ("pmid", "doi", "title", "authors", "year")}
        row |= {"journal": one.journal, "retracted": one.retracted, "score": one.score}
        flag = "[RETRACTED] " if one.retracted else ""
        names = "  ".join(filter(None, (f"PMID {one.pmid}" if one.pmid else "", one.doi)))
        lines = (
            f"{number:>3}. {flag}{one_line(one.title)}",
            f"     {one_line(one.authors).rstrip('.')}. {one_line(one.journal)} {one.year}",
            f"     {names}",
        )
        print_answer(row if args.json else "\n".join(lines), args.json)
    print_note(f"{len(found.articles)} of {found.total:,}, as listed by {found.source}")
    print_warnings(found.warnings)
    return 0
