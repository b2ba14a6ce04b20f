"""Shell commands that search: PubMed, several sources at once, related papers and references."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from ..citations import STYLES, find_style
from ..command_line import command_line
from ..errors import BadRequest, PaperError
from ..model.identifiers import Ids, find_arxiv_version
from ..system.plain_text import one_line
from .command_list import nearest
from .commands import CommandParser, Commands, command
from .options import date_options, limit_option, natural, types_option, year_of
from .output import complain, complain_of, note, read_arguments, say, warn, worst

if TYPE_CHECKING:
    from ..library import Library
    from ..lists.pasted import Entry
    from ..model.paper import Paper, SearchResult
    from ..search.search import Found, Gathered, SourceAnswer

_LONGEST_S, _PATIENT_S = 14.0, 90.0  # a site that refuses is asked again within the latter
_SOURCES = ("pubmed", "europepmc", "arxiv", "semantic_scholar", "openalex", "all", "mirror")
_ORDERS = ("pub_date", "relevance", "author", "journal")
FILES = ("ris", "bibtex", "nbib", "csl-json")
_KINDS = {
    "similar": "pubmed_similar_articles", "cited-by": "pubmed_citedin",
    "references": "pubmed_references",
}  # fmt: skip


def add(commands: Commands) -> None:
    """Register the commands."""
    search = command(commands, "search", _search)
    search.add_argument("query", nargs="+", help="a query in PubMed's syntax; two names with --lr")
    search.add_argument("--lr", action="store_true", help="ligand and receptor instead of a query")
    search.add_argument(
        "--source",
        default="pubmed",
        metavar="NAMES",
        help="pubmed,europepmc,arxiv,semantic_scholar,openalex; or all; or mirror (pubmed)",
    )
    limit_option(search, "papers", 10, former=["--max-results"])
    search.add_argument("--start", type=natural, default=0, metavar="N", help="skip N papers")
    search.add_argument(
        "--sort-by", choices=_ORDERS, default="", help="the order (several sources: relevance)"
    )
    date_options(search, exact=True)
    types_option(search)
    search.add_argument("--author", default="", metavar="NAME", help="only papers by this author")
    search.add_argument(
        "--wait",
        type=float,
        default=_LONGEST_S,
        metavar="SECONDS",
        help="for all sources together (14)",
    )
    search.add_argument("--abstracts", action="store_true", help="print abstracts too")
    export_option(search)
    _add_references(commands)


def _add_references(commands: Commands) -> None:
    cite = command(commands, "cite", _cite)
    cite.add_argument("paper", nargs="*", help="identifiers or files of them; - or none: stdin")
    cite.add_argument("--style", type=_known_style, choices=list(STYLES), default="apa")
    related = command(commands, "review related", _list_related)
    related.add_argument("pmid", help="the paper's PMID")
    related.add_argument("--kind", choices=list(_KINDS), default="similar")
    limit_option(related, "papers", 10, former=["--max-results"])


def _search(args: argparse.Namespace, library: Library) -> int:
    sources = [name.strip() for name in args.source.split(",") if name.strip()]
    if sources == ["pubmed"]:
        return _in_pubmed(args, library)
    if sources == ["mirror"]:
        return _in_mirror(args, library)
    if strange := [name for name in sources if name not in _SOURCES]:
        near = nearest(strange[0], _SOURCES)
        hint = f"Did you mean {near}?" if near else ""
        msg = f"{strange[0]!r} cannot be searched."
        raise BadRequest(msg, hint, f"Choose among {', '.join(_SOURCES)}.")
    _refuse_what_only_pubmed_knows(args)
    options: dict[str, Any] = {} if sources == ["all"] else {"among": tuple(sources)}
    gathered = library.search_papers(
        " ".join(args.query),
        max_results=args.limit,
        start_year=year_of(args.since),
        end_year=year_of(args.until),
        author=args.author,
        sort_by=args.sort_by or "relevance",
        longest_s=max(0.0, args.wait),
        **options,
    )
    if args.format:
        print_references([found.paper for found in gathered.papers], args.format, library)
    else:
        for number, found in enumerate(gathered.papers, 1):
            shown = _merged_entry(number, found, args.abstracts)
            say(found.to_row() if args.json else shown, args.json)
    _note_sources(gathered)
    if any(one.outcome == "slow" for one in gathered.asked) and args.wait < _PATIENT_S:
        note(f"The list is of those that answered. To wait for the others: --wait {_PATIENT_S:.0f}")
    return 0


def _refuse_what_only_pubmed_knows(args: argparse.Namespace) -> None:
    options = {"--lr": args.lr, "--start": args.start, "--type": args.publication_types}
    if named := [name for name, value in options.items() if value]:
        verb = "goes" if len(named) == 1 else "go"
        msg = f"{', '.join(named)} {verb} with PubMed only."
        raise BadRequest(msg, f"Leave out --source, or {' and '.join(named)}.")
    _note_years(args)


def _note_years(args: argparse.Namespace) -> None:
    """Say that of a date only the year counts, where this is so."""
    if exact := [date for date in (args.since, args.until) if len(date) > 4]:
        note(f"{' and '.join(exact)}: only the year counts with --source {args.source}.")


def _in_pubmed(args: argparse.Namespace, library: Library) -> int:
    pair = dict(zip(("ligand", "receptor"), args.query, strict=False)) if args.lr else {}
    return _show(_ask_pubmed(args, library), args, library, pair)


def _show(
    found: SearchResult, args: argparse.Namespace, library: Library, more: dict[str, str]
) -> int:
    """Print a page of a search; ``more`` stands in every row for programs."""
    if args.format:
        print_references(found.papers, args.format, library)
    else:
        for number, paper in enumerate(found.papers, args.start + 1):
            row = {**paper.row(), **more}
            say(row if args.json else entry(number, paper, args.abstracts), args.json)
    note(f"{len(found.papers)} of {found.total:,} hits for {one_line(found.effective_query)}")
    warn(found.warnings)
    if found.next_start is not None:
        note(f"more: --start {found.next_start}")
    return 0


def _in_mirror(args: argparse.Namespace, library: Library) -> int:
    """PubMed as it is on this machine: by words, without a request."""
    options = {"--lr": args.lr, "--author": args.author, "--sort-by": args.sort_by}
    if named := [name for name, value in options.items() if value]:
        msg = f"A mirror is searched by words, without {', '.join(named)}."
        raise BadRequest(msg, f"Leave out --source mirror, or {' and '.join(named)}.")
    _note_years(args)
    found = library.mirror.find(
        " ".join(args.query),
        max_results=args.limit,
        start=args.start,
        start_year=year_of(args.since),
        end_year=year_of(args.until),
        publication_types=tuple(args.publication_types),
    )
    return _show(found, args, library, {})


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


def _note_sources(gathered: Gathered) -> None:
    for answer in gathered.asked:
        note(_source_line(answer))
        warn(f"{answer.source}: {warning}" for warning in answer.warnings)
    noted = {answer.message for answer in gathered.asked}
    warn(warning for warning in gathered.warnings if warning not in noted)


def _source_line(answer: SourceAnswer) -> str:
    if answer.outcome != "answered":
        return f"{answer.source}: {answer.outcome.replace('_', ' ')}. {one_line(answer.message)}"
    total = "?" if answer.total is None else f"{answer.total:,}"
    return f"{answer.source}: {answer.returned} of {total} hits for {one_line(answer.query)}"


def _merged_entry(number: int, found: Found, abstracts: bool) -> str:
    """A paper of a merged list: the sources that have it, and linked records."""
    lines = [entry(number, found.paper, abstracts), f"     from {', '.join(found.sources)}"]
    lines += [
        f"     {link.relation.replace('_', ' ')} {link.ids} ({one_line(link.reason)})"
        for link in found.linked
    ]
    return "\n".join(lines)


def entry(number: int, paper: Paper, abstracts: bool) -> str:
    """A numbered paper, in three lines or four."""
    names = [one_line(author.name) for author in paper.authors]
    who = ", ".join(names[:3]) + (" et al" if len(names) > 3 else "")
    ids = "  ".join(_names(paper))
    flag = "[RETRACTED] " if paper.retracted else ""
    lines = [
        f"{number:>3}. {flag}{one_line(paper.title)}",
        f"     {who}. {one_line(paper.journal)} {paper.year}",
        f"     {ids}",
    ]
    if abstracts and paper.abstract:
        lines.append(f"     {paper.abstract}")
    return "\n".join(lines)


def _names(paper: Paper) -> Sequence[str]:
    ids = paper.ids
    spelled = (
        f"PMID {ids.pmid}" if ids.pmid else "",
        ids.doi,
        ids.pmcid,
        f"arXiv:{ids.arxiv}" if ids.arxiv else "",
    )
    return [name for name in spelled if name] or [str(ids)]


def _known_style(name: str) -> str:
    """Return the style that is meant; an unknown name as it is, for argparse to refuse."""
    with suppress(BadRequest):
        return find_style(name)
    return name


def export_option(parser: CommandParser) -> None:
    """Let a command print its papers as a file for Zotero, EndNote or LaTeX."""
    parser.add_argument(
        "--format", choices=FILES, default="", help="print a file for Zotero, EndNote or LaTeX"
    )


def print_references(papers: Sequence[Paper], style: str, library: Library) -> None:
    """Print all references as one file."""
    name = STYLES[style]
    references = [row[name] for row in library.references.citations(papers, [name])]
    if style == "csl-json":
        import json

        say(json.dumps(references, ensure_ascii=False, indent=1))
    elif style in FILES:
        # Each record brings its own blank line.
        say("".join(references).rstrip("\n"))
    else:
        for reference in references:
            say(one_line(reference))


def _cite(args: argparse.Namespace, library: Library) -> int:
    request = read_arguments(args.paper)
    if request.query:
        msg = f"{request.query!r} is not an identifier, nor a file of them."
        raise BadRequest(msg, f"Find the paper first: {command_line('search QUERY')}")
    nameless = (entry.asked for entry in request.entries if not entry.ids)
    statuses = [complain_of(asked, args.json) for asked in nameless]
    papers: list[tuple[str, Paper]] = []
    asked = [_in_version_asked(entry) for entry in request.entries if entry.ids]
    for ids, outcome in library.references.records_to_cite(asked):
        if isinstance(outcome, PaperError):
            statuses.append(outcome.exit_code)
            sys.stdout.flush()
            complain(outcome, as_json=args.json)
        else:
            statuses.append(0)
            papers.append((str(ids), outcome))
    if args.json:
        name = STYLES[args.style]
        rows = library.references.citations([paper for _, paper in papers], [name])
        for (name_given, _), row in zip(papers, rows, strict=True):
            say({"paper": name_given, "style": args.style, "citation": row[name]}, as_json=True)
    elif papers:
        print_references([paper for _, paper in papers], args.style, library)
    return worst(statuses)


def _in_version_asked(entry: Entry) -> str | Ids:
    """A paper of a list; of one at arXiv, the version that stands there, too."""
    version = find_arxiv_version(entry.asked) if entry.ids.arxiv else ""
    return f"arXiv:{entry.ids.arxiv}v{version}" if version else entry.ids


def _list_related(args: argparse.Namespace, library: Library) -> int:
    kind: Any = _KINDS[args.kind]
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
        say(row if args.json else "\n".join(lines), args.json)
    note(f"{len(found.articles)} of {found.total:,}, as listed by {found.source}")
    warn(found.warnings)
    return 0
