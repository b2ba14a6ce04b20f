"""References and related papers in the shell."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..citations import STYLES
from ..errors import BadRequest, PaperError
from ..system.plain_text import one_line
from .asked_for import read_arguments
from .speaking import command, complain, note, say, warn, worst

if TYPE_CHECKING:
    from ..library import Library
    from ..model.paper import Paper

FILES = ("ris", "bibtex", "csl-json")
_KINDS = {
    "similar": "pubmed_similar_articles", "cited-by": "pubmed_citedin",
    "references": "pubmed_references",
}  # fmt: skip


def add(commands: Any) -> None:
    """Register the commands."""
    cite = command(commands, "cite", _cite, "references of papers, in any style")
    cite.add_argument("paper", nargs="*", help="identifiers or files of them; - or none: stdin")
    cite.add_argument("--style", choices=list(STYLES), default="apa")
    related = command(commands, "related", _list_related, "papers around a paper")
    related.add_argument("pmid")
    related.add_argument("--kind", choices=list(_KINDS), default="similar")
    related.add_argument("-n", "--max-results", type=int, default=10)


def export_option(parser: argparse.ArgumentParser) -> None:
    """Let a command print its papers as a file for Zotero, EndNote or LaTeX."""
    parser.add_argument(
        "--format", choices=FILES, default="", help="print a file for Zotero, EndNote or LaTeX"
    )


def print_references(papers: Sequence[Paper], style: str, library: Library) -> None:
    """Print all references as one file."""
    name = STYLES[style]
    references = [row[name] for row in library.citations(papers, [name])]
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
        msg = f"{request.query!r} is no identifier, and no file of them."
        raise BadRequest(msg, "Find the paper first: search.")
    statuses = []
    if nameless := [entry.asked for entry in request.entries if not entry.ids]:
        note(f"✗ no identifier in {one_line('; '.join(nameless[:5]))[:200]}")
        statuses += [BadRequest.exit_code] * len(nameless)
    papers: list[tuple[str, Paper]] = []
    for ids, outcome in library.records(entry.ids for entry in request.entries if entry.ids):
        if isinstance(outcome, PaperError):
            statuses.append(outcome.exit_code)
            sys.stdout.flush()
            complain(outcome, as_json=args.json)
        else:
            statuses.append(0)
            papers.append((str(ids), outcome))
    if args.json:
        name = STYLES[args.style]
        rows = library.citations([paper for _, paper in papers], [name])
        for (name_given, _), row in zip(papers, rows, strict=True):
            say({"paper": name_given, "style": args.style, "citation": row[name]}, as_json=True)
    elif papers:
        print_references([paper for _, paper in papers], args.style, library)
    return worst(statuses)


def _list_related(args: argparse.Namespace, library: Library) -> int:
    kind: Any = _KINDS[args.kind]
    found = library.related(args.pmid, kind, args.max_results)
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
