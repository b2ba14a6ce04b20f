"""The shell: identifiers and queries in, lines or JSON out.

Exit status: 0 done, 1 some papers have no full text, 2 bad request, 3 nothing could be reached,
130 interrupted (what was saved stays; the same command goes on from there).
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, NoReturn

from .errors import BadRequest, PaperError
from .library import Library
from .plain_text import clean_text, one_line, plain_json
from .settings import Settings, version

if TYPE_CHECKING:
    from .identifiers import Ids
    from .paper import Paper
    from .paper_download import Download

NO_FULL_TEXT, BAD_REQUEST, UNREACHABLE, INTERRUPTED = 1, 2, 3, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    for stream in (sys.stdout, sys.stderr):
        # A console without Unicode shows a question mark; it is no reason to lose the answer.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    args = _parser().parse_args(arguments)
    verb: Callable[[argparse.Namespace, Library], int] = args.verb
    try:
        overrides = {"papers_dir": args.papers_dir} if args.papers_dir else {}
        return verb(args, Library(**overrides))
    except PaperError as error:
        return _complain(error, args.json)
    except BrokenPipeError:
        # The reader of our pipe has what it wanted; Python would complain again on exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        _leave(0)
    except KeyboardInterrupt:
        sys.stderr.write("\nInterrupted. What was saved stays; run the same command to go on.\n")
        _leave(INTERRUPTED)
    except OSError as error:
        sys.stderr.write(f"The output could not be written: {error.strerror}.\n")
        _leave(NO_FULL_TEXT)
    return 0


def _leave(status: int) -> NoReturn:
    """End now: requests still under way would hold us up, and no file is ever half written."""
    with contextlib.suppress(OSError):
        sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="server.py",
        description="Ask for a paper, get its verified full text on your own shelf. "
        "Without a command: the MCP server on stdio.",
    )
    parser.add_argument("--version", action="version", version=f"Papershelf {version()}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    _add_search(commands)
    _add_download(commands)
    _add_read(commands)
    listing = _command(commands, "list", _list, "list the papers on the shelf")
    listing.add_argument("text", nargs="?", default="", help="words in title or abstract")
    listing.add_argument("--kind", choices=["full_text", "abstract"], default="")
    listing.add_argument("--year-from", default="")
    listing.add_argument("--year-to", default="")
    listing.add_argument("--journal", default="", help="part of the journal's name")
    listing.add_argument("--max-results", type=int, default=20)
    listing.add_argument("--start", type=int, default=0)
    _command(commands, "rebuild", _rebuild, "make the catalogue again from the files")
    renewal = _command(commands, "reextract", _reextract, "make texts again from the kept bytes")
    renewal.add_argument("--all", action="store_true", help="also where the reader is the same")
    _command(commands, "settings", _settings, "show every setting and its value")
    _command(commands, "doctor", _doctor, "check keys, folder and services; show host snippets")
    return parser


def _add_search(commands: Any) -> None:
    search = _command(commands, "search", _search, "search PubMed")
    search.add_argument("query", nargs="+", help="PubMed query; or two names with --lr")
    search.add_argument("--lr", action="store_true", help="ligand and receptor instead of a query")
    search.add_argument("-n", "--max-results", type=int, default=10)
    search.add_argument("--start", type=int, default=0)
    search.add_argument("--sort-by", default="pub_date", help="pub_date relevance author journal")
    search.add_argument("--min-date", default="", help="YYYY[/MM[/DD]]")
    search.add_argument("--max-date", default="", help="YYYY[/MM[/DD]]")
    search.add_argument("--date-type", default="pdat", help="pdat edat mdat")
    search.add_argument("--type", dest="publication_types", action="append", default=[])
    search.add_argument("--abstracts", action="store_true", help="print abstracts too")


def _add_download(commands: Any) -> None:
    download = _command(commands, "download", _download, "put papers on the shelf")
    download.add_argument("paper", nargs="*", help="identifiers of any kind; - or none: from stdin")
    download.add_argument("--no-pmc-first", dest="prefer_pmc", action="store_false")
    download.add_argument("--force", action="store_true", help="fetch again what is there")
    download.add_argument("--output-path", default="", help="a copy at this place on the shelf")


def _add_read(commands: Any) -> None:
    read = _command(commands, "read", _read, "read a paper on the shelf")
    read.add_argument("paper", help="any identifier, or a file name on the shelf")
    read.add_argument("--section", default="")
    read.add_argument("--outline", action="store_true", help="only the headings")
    read.add_argument("--start", type=int, default=0)
    read.add_argument("--max-chars", type=int, default=8000)


def _command(
    commands: Any, name: str, verb: Callable[[argparse.Namespace, Library], int], about: str
) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(name, help=about, description=about)
    parser.add_argument("--json", action="store_true", help="one JSON object per line")
    parser.add_argument("--papers-dir", default="", help="the shelf (else PAPERS_DIR)")
    parser.set_defaults(verb=verb)
    return parser


def _search(args: argparse.Namespace, library: Library) -> int:
    options = {"max_results": args.max_results, "start": args.start, "sort_by": args.sort_by}
    if args.lr:
        if len(args.query) != 2:
            raise BadRequest("--lr takes two names.", "For example: search --lr CXCL12 CXCR4")
        found = library.search_ligand_receptor(*args.query, **options)
    else:
        found = library.search(
            " ".join(args.query),
            min_date=args.min_date,
            max_date=args.max_date,
            date_type=args.date_type,
            publication_types=tuple(args.publication_types),
            **options,
        )
    pair = dict(zip(("ligand", "receptor"), args.query, strict=False)) if args.lr else {}
    for number, paper in enumerate(found.papers, args.start + 1):
        row = {**paper.row(), **pair}
        _say(row if args.json else _entry(number, paper, args.abstracts), args.json)
    _note(f"{len(found.papers)} of {found.total:,} hits for {one_line(found.effective_query)}")
    for warning in found.warnings:
        _note(f"warning: {warning}")
    if found.next_start is not None:
        _note(f"more: --start {found.next_start}")
    return 0


def _download(args: argparse.Namespace, library: Library) -> int:
    wanted = _wanted(args.paper)
    if args.output_path and len(wanted) != 1:
        raise BadRequest("--output-path goes with exactly one paper.")
    if args.output_path:
        [one] = wanted
        options = {"prefer_pmc": args.prefer_pmc, "force": args.force}
        done = library.download(one, output_path=args.output_path, **options)
        outcomes: Iterable[tuple[Ids, Download | PaperError]] = [(one, done)]
    else:
        outcomes = library.download_many(wanted, prefer_pmc=args.prefer_pmc, force=args.force)
    statuses = []
    _progress(0, len(wanted))
    for number, (ids, outcome) in enumerate(outcomes, 1):
        if isinstance(outcome, PaperError):
            statuses.append(outcome.exit_code)
            _say(
                {"paper": str(ids), **outcome.envelope()} if args.json else f"✗ {ids}: {outcome}",
                args.json,
            )
        else:
            statuses.append(0 if outcome.stored.kind == "full_text" else NO_FULL_TEXT)
            row = {"paper": str(ids), **outcome.row()}
            _say(row if args.json else _line(ids, outcome), args.json)
        _progress(number, len(wanted))
    return _status(statuses)


def _read(args: argparse.Namespace, library: Library) -> int:
    read = library.read(
        args.paper, section=args.section, start=args.start, max_chars=args.max_chars
    )
    outline = [{"heading": heading, "chars": chars} for heading, chars in read.outline]
    if args.json:
        row = {"title": read.title, "kind": read.kind, "outline": outline}
        _say({**row, "text": read.text, "next_start": read.next_start}, as_json=True)
    elif args.outline:
        for part in outline:
            _say(f"{part['chars']:>8,}  {one_line(str(part['heading']))}")
    else:
        _say(read.text)
        if read.next_start is not None:
            _note(f"more: --start {read.next_start}")
    return 0


def _list(args: argparse.Namespace, library: Library) -> int:
    names = ("text", "kind", "year_from", "year_to", "journal", "start", "max_results")
    total, page = library.list_papers(**{name: getattr(args, name) for name in names})
    for stored in page:
        row = {**stored.paper.short_row(), "kind": stored.kind, "license": stored.license}
        mark = "●" if stored.kind == "full_text" else "○"
        text = f"{mark} {stored.paper.ids}  {one_line(stored.paper.title)}\n  {stored.path}"
        _say({**row, "file_path": stored.path} if args.json else text, args.json)
    _note(f"{len(page)} of {total:,} papers")
    return 0


def _rebuild(args: argparse.Namespace, library: Library) -> int:
    report = library.rebuild()
    if args.json:
        _say(asdict(report), as_json=True)
        return 0
    _say(
        f"{report.full_text} full texts and {report.abstracts} abstracts catalogued, "
        f"{report.adopted} of them from an older program."
    )
    for name, reason in report.ignored:
        _note(f"left alone: {name} ({reason})")
    return 0


def _reextract(args: argparse.Namespace, library: Library) -> int:
    counts: dict[str, int] = {}
    for renewal in library.reextract(everything=args.all):
        counts[renewal.outcome] = counts.get(renewal.outcome, 0) + 1
        if args.json:
            _say(renewal.row(), as_json=True)
        elif renewal.outcome != "unchanged":
            _say(f"{renewal.outcome} {renewal.paper}: {renewal.detail}")
    _note(", ".join(f"{n} {outcome}" for outcome, n in counts.items()) or "nothing to renew")
    return 0


def _settings(args: argparse.Namespace, library: Library) -> int:
    for name, field in Settings.model_fields.items():
        value = getattr(library.settings, name)
        shown = value if not hasattr(value, "get_secret_value") else "set (hidden)"
        shown = ", ".join(shown) if isinstance(shown, tuple) else str(shown or "")
        row = {"name": name.upper(), "value": shown, "meaning": field.description}
        _say(
            row if args.json else f"{name.upper():<30} {shown or '-':<46} {field.description}",
            args.json,
        )
    return 0


def _doctor(args: argparse.Namespace, library: Library) -> int:
    from pathlib import Path

    from .health_check import client_snippets

    marks = {"ok": "✓", "warning": "!", "problem": "✗"}
    checks = library.doctor()
    for check in checks:
        row = {
            "what": check.what,
            "state": check.state,
            "detail": check.detail,
            "advice": check.advice,
        }
        advice = f"\n    → {check.advice}" if check.advice else ""
        _say(
            row if args.json else f"{marks[check.state]} {check.what}: {check.detail}{advice}",
            args.json,
        )
    if not args.json:
        root = Path(__file__).resolve().parent.parent
        for host, snippet in client_snippets(library.settings, root).items():
            _say(f"\n{host}\n{snippet}")
    return NO_FULL_TEXT if any(check.state == "problem" for check in checks) else 0


def _wanted(given: Sequence[str]) -> list[Ids]:
    """The identifiers meant; ``-`` (or nothing) stands for what comes on stdin."""
    from .identifier_lists import identifiers_in, lines_of

    lines = list(given) or ["-"]
    if "-" in lines:
        at = lines.index("-")
        piped = sys.stdin is not None and not sys.stdin.isatty()
        lines[at : at + 1] = lines_of(sys.stdin.buffer.read()) if piped else []
    return identifiers_in(lines)


def _entry(number: int, paper: Paper, abstracts: bool) -> str:
    names = [one_line(author.name) for author in paper.authors]
    who = ", ".join(names[:3]) + (" et al" if len(names) > 3 else "")
    ids = "  ".join(filter(None, (f"PMID {paper.ids.pmid}", paper.ids.doi, paper.ids.pmcid)))
    flag = "[RETRACTED] " if paper.retracted else ""
    lines = [
        f"{number:>3}. {flag}{one_line(paper.title)}",
        f"     {who}. {one_line(paper.journal)} {paper.year}",
        f"     {ids}",
    ]
    if abstracts and paper.abstract:
        lines.append(f"     {paper.abstract}")
    return "\n".join(lines)


def _line(ids: Ids, done: Download) -> str:
    if done.stored.kind == "full_text":
        license_ = f", {one_line(done.stored.license)}" if done.stored.license else ""
        origin = "on the shelf already" if done.cached else f"{done.stored.via}{license_}"
        return f"● {ids}: {done.file_path} ({origin})"
    tried = [a for a in done.stored.attempts if a.outcome != "skipped"]
    reasons = ", ".join(f"{a.source} {a.outcome}" for a in tried)
    return f"○ {ids}: abstract only: {done.file_path}\n    {reasons}"


def _status(statuses: Sequence[int]) -> int:
    """One status for many papers: the worst word only when it holds for all of them."""
    if all(status == BAD_REQUEST for status in statuses):
        return BAD_REQUEST
    if all(status == UNREACHABLE for status in statuses):
        return UNREACHABLE
    return NO_FULL_TEXT if any(statuses) else 0


def _say(what: dict[str, Any] | str, as_json: bool = False) -> None:
    # Escaped where the console cannot show a letter: a program reads it, and loses nothing.
    ascii_only = not _speaks_unicode()
    text = plain_json(what, ascii_only) if as_json else clean_text(str(what))
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def _speaks_unicode() -> bool:
    return (sys.stdout.encoding or "").lower().startswith("utf")


def _note(text: str) -> None:
    sys.stderr.write(f"{clean_text(text)}\n")


def _progress(done: int, total: int) -> None:
    """Where the work is, for somebody who watches; looking papers up comes before the first."""
    if not sys.stderr.isatty():
        return
    sys.stderr.write(f"\r\033[K{done} of {total} …" if done < total else "\r\033[K")
    sys.stderr.flush()


def _complain(error: PaperError, as_json: bool) -> int:
    if as_json:
        _say(error.envelope(), as_json=True)
    else:
        _note(str(error))
    return error.exit_code
