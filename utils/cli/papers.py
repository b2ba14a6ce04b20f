"""Commands to fetch, read and list papers."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from shlex import quote
from textwrap import shorten
from typing import TYPE_CHECKING, Any, get_args

from ..command_line import command_line
from ..errors import BadRequest, PaperError
from ..model.job import find_most_informative_failure
from ..model.paper import Kind, StoredPaper, Verdict, Version
from ..model.passage import Anchor
from ..model.versions import UNPUBLISHED_VERSIONS, VERSION_NAMES, is_request_satisfied
from ..reports.labels import get_missing_reason, get_route_label
from ..shelf.listing import SORT_ORDERS
from ..system.named_files import build_unreadable_error
from ..system.plain_text import one_line
from .commands import Commands, command
from .opening import open_on_desktop
from .options import (
    add_date_options,
    add_limit_option,
    add_output_option,
    add_pdf_option,
    add_pmc_last_option,
    parse_whole_number,
)
from .output import (
    NO_FULL_TEXT_STATUS,
    combine_statuses,
    print_answer,
    print_note,
    print_unread_identifier,
    print_warnings,
    read_arguments,
)
from .pdfs import show_pdfs
from .progress import show_count
from .upkeep import describe_text, note_due_audit

_LIST_SUFFIXES = {".txt", ".csv", ".tsv", ".ris", ".bib", ".nbib", ".xml", ".json"}
_PATH_MAX_CHARS = 4096  # characters
_MARK_BY_KIND: dict[Kind, str] = {"full_text": "●", "abstract": "○", "record": "·", "rejected": "✗"}

if TYPE_CHECKING:
    from ..curation.reading import Reading
    from ..download.download import Download
    from ..library import Library
    from ..lists.pasted import ListEntry
    from ..model.identifiers import Ids
_FILTER_OPTIONS = (
    *("text", "kind", "journal", "job_id", "has_pdf", "author", "license", "verdict"),
    *("version", "retracted", "tag", "sort_by"),
)


def add(commands: Commands) -> None:
    """Register the commands."""
    _add_download(commands)
    _add_read(commands)
    listing = command(commands, "list", _list_papers)
    listing.add_argument("text", nargs="?", default="", help="words in the title or abstract")
    listing.add_argument("--kind", choices=get_args(Kind), default="")
    add_date_options(listing)
    listing.add_argument(
        "--journal", default="", help="part of the journal's name or abbreviation, or its ISSN"
    )
    listing.add_argument("--job", dest="job_id", default="", help="only papers of this harvest")
    listing.add_argument("--has-pdf", action="store_true", help="only papers with a PDF")
    listing.add_argument("--author", default="", help="part of an author's name")
    listing.add_argument("--license", default="", help="the licence, such as 'CC BY'")
    listing.add_argument("--verdict", choices=get_args(Verdict), default="")
    listing.add_argument("--version", choices=[one for one in get_args(Version) if one], default="")
    listing.add_argument("--retracted", action="store_true", help="only retracted papers")
    listing.add_argument("--tag", default="", help="only papers with this tag of yours")
    listing.add_argument(
        "--sort-by", choices=SORT_ORDERS, default="", help="the order (newest, or best for words)"
    )
    add_limit_option(listing, "papers", 20, former_names=["--max-results"])
    listing.add_argument(
        "--start", type=parse_whole_number, default=0, metavar="N", help="skip N papers"
    )


def _add_download(commands: Commands) -> None:
    download = command(commands, "download", _download_papers)
    download.add_argument(
        "paper", nargs="*", help="identifiers, or files with identifiers; - reads stdin"
    )
    add_pmc_last_option(download)
    download.add_argument(
        "--force", action="store_true", help="download again even if on the shelf"
    )
    add_pdf_option(download)
    add_output_option(
        download, "also write a copy to this path on the shelf", former_names=["--output-path"]
    )


def _add_read(commands: Commands) -> None:
    read = command(commands, "read", _read_paper)
    read.add_argument("paper", help="an identifier, or a file name on the shelf")
    read.add_argument(
        "--section", default="", metavar="NAME", help="a heading or role: methods, results, …"
    )
    read.add_argument(
        *("--source",),
        nargs="?",
        const="all",
        default="",
        metavar="NAME",
        help=(
            "show where each paragraph, table and figure is in the original; or one, by its "
            "name or by characters of the file (1200:1350)"
        ),
    )
    read.add_argument(
        "--outline", action="store_true", help="show only the headings and their roles"
    )
    read.add_argument(
        *("--open",),
        nargs="?",
        const="",
        choices=("", "pdf", "text", "page"),
        metavar="WHAT",
        help="show pdf, text or page (on the web) in your own programs; else the PDF if there is "
        "one, or the text",
    )
    read.add_argument("--no-references", dest="references", action="store_false")
    read.add_argument(
        "--start", type=parse_whole_number, default=0, metavar="N", help="skip N characters"
    )
    read.add_argument(
        "--max-chars", type=int, default=8000, metavar="N", help="print at most N characters (8000)"
    )


def _download_papers(args: argparse.Namespace, library: Library) -> int:
    entries = read_entries(args.paper)
    wanted = [entry.ids for entry in entries if entry.ids]
    if args.output and len(entries) != 1:
        raise BadRequest("--output can only be used with exactly one paper.", "Leave it out.")
    if args.output:
        [ids] = wanted
        options = {"prefer_pmc": args.prefer_pmc, "force": args.force}
        download = library.download(ids, output_path=args.output, **options)
        outcomes: Iterable[tuple[Ids, Download | PaperError]] = [(ids, download)]
    else:
        outcomes = library.download_many(wanted, prefer_pmc=args.prefer_pmc, force=args.force)
    statuses = [
        print_unread_identifier(entry.asked, args.json) for entry in entries if not entry.ids
    ]
    texts: list[StoredPaper] = []
    show_count(0, len(wanted))
    for number, (ids, outcome) in enumerate(outcomes, 1):
        if isinstance(outcome, PaperError):
            statuses.append(outcome.exit_code)
            row = {"paper": str(ids), **outcome.envelope()}
            shown = outcome.text.removeprefix(f"{ids} ")
            print_answer(row if args.json else f"✗ {ids}: {shown}", args.json)
        else:
            statuses.append(0 if outcome.stored.kind == "full_text" else NO_FULL_TEXT_STATUS)
            texts.append(outcome.stored)
            row = {"paper": str(ids), **outcome.row()}
            print_answer(row if args.json else _format_download(ids, outcome), args.json)
        show_count(number, len(wanted))
    if args.pdf and texts:
        show_pdfs(library.texts.fetch_pdfs(texts), args.json)
    return combine_statuses(statuses)


def _read_paper(args: argparse.Namespace, library: Library) -> int:
    if args.open is not None:
        return _open_paper(args, library)
    return _read_original(args, library) if args.source else _print_text(args, library)


def _print_text(args: argparse.Namespace, library: Library) -> int:
    names = ("section", "start", "max_chars", "references")
    reading = library.read(args.paper, **{name: getattr(args, name) for name in names})
    if args.json:
        about = {"title": reading.title, "kind": reading.kind, "version": reading.version}
        text = {"text": reading.text, "next_start": reading.next_start}
        more: dict[str, Any] = {"outline": reading.rows(), "objects": reading.list_object_rows()}
        if reading.stored.confidence:
            more["confidence"] = reading.stored.confidence
        print_answer({**about, **more, **text}, as_json=True)
    elif args.outline:
        for part in reading.rows():
            role = f"  ({part['roles']})" if "roles" in part else ""
            print_answer(f"{part['chars']:>8,}  {one_line(part['heading'])}{role}")
    else:
        _print_passage(args, reading)
    if reading.kind == "rejected" or reading.stored.by_hand:
        print_note(describe_text(reading.stored))
    if reading.doubts:
        print_note(
            f"{reading.doubts} Compare: {command_line(f'read {quote(args.paper)} --source')}"
        )
    return 0


def _open_paper(args: argparse.Namespace, library: Library) -> int:
    target = library.texts.locate(args.paper, args.open)
    opened = open_on_desktop(target)
    print_answer({"target": target, "opened": opened} if args.json else target, args.json)
    return 0


def _print_passage(args: argparse.Namespace, reading: Reading) -> None:
    """Print the passage, what it shows, and where the text goes on."""
    print_answer(reading.text)
    for line in _describe_objects(args.paper, reading):
        print_note(line)
    if reading.next_start is not None:
        print_note(f"more: --start {reading.next_start}")
    elif not reading.text:
        print_note(f"--start {args.start} lies beyond the end.")


def _describe_objects(paper: str, reading: Reading) -> Iterator[str]:
    """Yield the paths of the figures, tables and files in the passage, or how to get them."""
    for one in reading.objects:
        if one.file:
            yield f"{one.label or one.kind}: {one.file}"
    if missing := [one.label or one.kind for one in reading.objects if not one.file]:
        only = f" --only {quote(missing[0])}" if len(missing) == 1 else ""
        named = shorten(one_line(", ".join(missing)), 300, placeholder=" …")
        yield f"{named}: {command_line(f'shelf media {quote(paper)}{only}')}"


def _read_original(args: argparse.Namespace, library: Library) -> int:
    if args.source != "all":
        library.texts.keep_original(args.paper)
    places = library.texts.places(args.paper)
    chosen = places.anchors if args.source == "all" else (places.get_block(args.source),)
    for anchor in chosen:
        link = places.build_link(anchor)
        text = places.text[anchor.start : anchor.end]
        if args.json:
            row = asdict(anchor) | {"media": places.media, "link": link}
            print_answer(row | ({"text": text} if args.source != "all" else {}), as_json=True)
        elif args.source == "all":
            begins = shorten(one_line(text), 60, placeholder=" …")
            print_answer(f"{anchor.name:<16} {describe_place(anchor):<34} {begins}")
        else:
            where = f"{anchor.section or 'text'} [{anchor.start}:{anchor.end}]"
            print_answer(
                f"{anchor.name} · {one_line(where)}\n{describe_place(anchor)}\n{link}".rstrip()
            )
            print_answer(f"\n{text}")
    if not places.media:
        print_note(
            f"The original of {places.stored.paper.ids} was not kept, so positions in it are "
            "unknown."
        )
    return 0


def describe_place(anchor: Anchor) -> str:
    """Return a block's position in the original document, on one line.

    >>> from utils.model.passage import SourcePlace
    >>> describe_place(Anchor("p-1", "paragraph", "", 0, 9, (SourcePlace("/body/p[2]"),)))
    '/body/p[2]'
    """
    shown = []
    for place in anchor.sources:
        left, bottom, right, top = place.box or (0, 0, 0, 0)
        box = f"page {place.page} ({left:.0f}, {bottom:.0f})–({right:.0f}, {top:.0f})"
        shown.append(box if place.page else place.path)
    return ", ".join(shown) or "unknown"


def _list_papers(args: argparse.Namespace, library: Library) -> int:
    filters = {name: getattr(args, name) for name in _FILTER_OPTIONS}
    filters |= {"min_date": args.since[:4], "max_date": args.until[:4]}
    total, page = library.list_papers(**filters, start=args.start, max_results=args.limit)
    for stored in page:
        pdf = library.shelf.pdfs.find_pdf(stored)
        path = str(pdf.path) if pdf else ""
        if problem := library.shelf.pdfs.find_pdf_problem(stored):
            print_warnings([f"The PDF of {stored.paper.ids}: {problem}"])
        print_answer(
            _to_paper_row(stored, path) if args.json else _format_paper(stored, path), args.json
        )
    print_note(f"{len(page)} of {total:,} papers")
    if total <= args.start and total:
        print_note(f"--start {args.start} lies beyond the end.")
    if not total and not any(library.shelf.count_papers().values()):
        print_note(f"The shelf is empty. To fill it: {command_line('download ID')}")
    elif not total:
        print_warnings(library.texts.emptied_by(**filters))
    note_due_audit(library)
    return 0


def _to_paper_row(stored: StoredPaper, pdf: str) -> dict[str, Any]:
    judgement = {"verdict": stored.verdict, "evidence": stored.evidence, "pdf": pdf}
    own = {"tags": stored.paper.tags, "note": stored.paper.note}
    return {**stored.paper.short_row(), **stored.text_row(), **judgement, **own}


def _format_paper(stored: StoredPaper, pdf: str) -> str:
    description = f"\n  {describe_text(stored)}" if stored.shows_evidence else ""
    version = f" ({stored.version})" if stored.version in UNPUBLISHED_VERSIONS else ""
    head = (
        f"{_MARK_BY_KIND[stored.kind]} {stored.paper.ids}{version}  {one_line(stored.paper.title)}"
    )
    paths = "\n  ".join(filter(None, (stored.path, pdf)))
    return f"{head}{description}\n  {paths}"


def read_entries(arguments: Sequence[str]) -> list[ListEntry]:
    """Return the papers among *arguments*; ``-``, or no argument, means standard input.

    Raises
    ------
    BadRequest
        A file is missing, or there is no identifier in what is named or piped in.
    """
    from ..lists.pasted import (
        parse_identifier_lines,
        parse_required_identifiers,
        read_identifier_lines,
    )
    from ..model.identifiers import Ids
    from ..plugins import find_list_reader

    entries: list[ListEntry] = []
    for word in arguments or ["-"]:
        if word != "-":
            is_file = len(word) < _PATH_MAX_CHARS and Path(word).is_file()
            looks_like_file = Path(word).suffix.lower() in _LIST_SUFFIXES and not Ids.maybe(word)
            if not is_file and (looks_like_file or word.endswith(("/", os.sep))):
                raise build_unreadable_error(Path(word))
            is_list = is_file or find_list_reader(word)
            entries += read_arguments([word]).entries if is_list else parse_identifier_lines([word])
        elif sys.stdin is not None and not sys.stdin.isatty():
            entries += parse_required_identifiers(read_identifier_lines(sys.stdin.buffer.read()))
    if not any(entry.ids for entry in entries):
        parse_required_identifiers(list(arguments))  # which says what is wrong with them
    return entries


def _format_download(ids: Ids, download: Download) -> str:
    stored, mark = download.stored, _MARK_BY_KIND[download.stored.kind]
    if stored.kind == "full_text":
        parts = [
            "on the shelf already" if download.cached else get_route_label(stored.via),
            "" if download.cached else one_line(stored.license),
            describe_text(stored) if stored.shows_evidence and not download.cached else "",
            VERSION_NAMES[stored.version] if stored.version in UNPUBLISHED_VERSIONS else "",
            "" if is_request_satisfied(download.wants, stored) else "stands in",
        ]
        return f"{mark} {ids}: {', '.join(filter(None, parts))}\n  {download.file_path}"
    lines = [f"{mark} {ids}: {stored.kind} only", download.file_path]
    sources: dict[str, list[str]] = {}
    for attempt in stored.attempts:
        if attempt.outcome != "skipped":
            sources.setdefault(attempt.outcome, []).append(attempt.source)
    lines += [
        f"{get_missing_reason(one).name}: {', '.join(names)}" for one, names in sources.items()
    ]
    if best := find_most_informative_failure(stored.attempts):
        lines.append(f"→ {get_missing_reason(best.outcome).advice}")
    return "\n  ".join(lines)
