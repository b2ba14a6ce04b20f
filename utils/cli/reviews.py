"""Commands of systematic reviews: a folder with a protocol, from the question to the figure."""

from __future__ import annotations

import argparse
import sys
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..command_line import command_line
from ..errors import BadRequest
from ..lists.decisions import STAGES, GivenFacts
from ..lists.references import MAX_LIST_BYTES
from ..system.named_files import build_unreadable_error
from ..system.plain_text import one_line
from .commands import CommandFunction, CommandParser, Commands, command
from .harvests import finish_harvest
from .opening import open_on_desktop
from .options import add_limit_option
from .output import (
    NO_FULL_TEXT_STATUS,
    parse_drawing_kinds,
    pluralize,
    print_answer,
    print_error_text,
    print_note,
)

if TYPE_CHECKING:
    from ..library import Library
    from ..review import Review
    from ..review.ranking import Ranking
    from ..review.updating import ReviewUpdate

_KINDS = ("database", "register", "website", "organisation", "citation searching")
_MAX_ROWS = 40  # of a table on the screen
_STAGE_LABELS = {
    "title_abstract": "by title and abstract",
    "full_text": "by full text",
    "texts": "texts",
}
_OUTCOME_LABELS = {
    "include": "included",
    "exclude": "excluded",
    "conflict": "in conflict",
    "undecided": "undecided",
    "duplicate": "removed as duplicates",
}
"""Where records stand, in the order and words of ``review status``."""


def add(commands: Commands) -> None:
    """Register the commands."""
    new = command(commands, "review new", _create_review)
    new.add_argument(
        "name", help="the review's name, in lower-case letters, digits and hyphens: moss-and-light"
    )
    for register in (_add_update, _add_import, _add_rank, _add_export, _add_harvest, _add_report):
        register(commands)
    status = command(commands, "review status", _show_status)
    status.add_argument(
        "name", nargs="?", default="", help="the review to show; default: list all reviews"
    )
    status.add_argument(
        "--duplicates", action="store_true", help="list the pairs of records that may be one paper"
    )


def _add_review_command(commands: Commands, name: str, verb: CommandFunction) -> CommandParser:
    """Register a command on a review that is named."""
    parser = command(commands, f"review {name}", verb)
    parser.add_argument("name", help="the review's name, as listed by `review status`")
    return parser


def _add_update(commands: Commands) -> None:
    update = _add_review_command(commands, "update", _update_review)
    update.add_argument(
        "--list",
        dest="lists",
        action="append",
        default=[],
        metavar="FILE",
        help="first add this list to the protocol: an export of another database (RIS, CSV …), or "
        "papers of the shelf (`list --json`); - reads stdin",
    )
    update.add_argument(
        "--kind", default="database", choices=_KINDS, help="how the lists were found (database)"
    )
    update.add_argument(
        "--title", default="", help="the name of the lists' source in the figure: 'Embase (Ovid)'"
    )


def _add_import(commands: Commands) -> None:
    taken = _add_review_command(commands, "import", _import_decisions)
    taken.add_argument(
        "files",
        nargs="*",
        type=Path,
        help="files exported by Rayyan (CSV, ZIP, RIS, BibTeX), Covidence (CSV), "
        "ASReview (CSV, RIS), EPPI-Reviewer (JSON) or Zotero (RIS, CSV), or duplicates.csv of "
        "`review report` with your decisions",
    )
    taken.add_argument(
        "--stage", default="", choices=("", *STAGES), help="the stage of screening that was decided"
    )
    taken.add_argument(
        "--as",
        dest="choice",
        default="",
        choices=("", "include", "exclude", "maybe"),
        help="the decision for all records of the file, if it states none",
    )
    taken.add_argument(
        "--screener", default="", help="the screener's name, if the file does not state it"
    )
    for option, what in (
        ("--duplicate", "record the first key as the duplicate of the second, which stays"),
        ("--not-duplicate", "record that two records are not duplicates"),
    ):
        taken.add_argument(option, nargs=2, action="append", default=[], metavar="KEY", help=what)


def _add_rank(commands: Commands) -> None:
    rank = _add_review_command(commands, "rank", _rank_records)
    add_limit_option(rank, "records", 20, former_names=[])


def _add_export(commands: Commands) -> None:
    out = _add_review_command(commands, "export", _export_records)
    out.add_argument(
        "--for",
        dest="program",
        required=True,
        choices=("rayyan", "covidence", "asreview", "eppi", "zotero"),
        help="the screening program",
    )
    out.add_argument(
        "--stage",
        default="",
        choices=("", *STAGES),
        help="export only records that have reached this stage of screening",
    )
    out.add_argument(
        "--ranked",
        action="store_true",
        help="write the records to screen first, in the order of `review rank`",
    )


def _add_harvest(commands: Commands) -> None:
    harvest = _add_review_command(commands, "harvest", _harvest_review)
    harvest.add_argument("--with-excluded", action="store_true", help="include excluded records")


def _add_report(commands: Commands) -> None:
    report = _add_review_command(commands, "report", _write_report)
    report.add_argument(
        "--draw", default="", help="also draw the figure as png or as editable pptx"
    )
    report.add_argument("--open", action="store_true", help="open the page in the browser")
    report.add_argument(
        "--published",
        action="store_true",
        help="mark this state as published; later changes are counted from here",
    )


def _create_review(args: argparse.Namespace, library: Library) -> int:
    review = library.reviews.create(args.name)
    protocol = str(review.folder / "protocol.yaml")
    print_answer({"review": args.name, "protocol": protocol} if args.json else protocol, args.json)
    print_note(f"Fill it in, then: {command_line(f'review update {args.name}')}")
    return 0


def _update_review(args: argparse.Namespace, library: Library) -> int:
    review = library.reviews.open(args.name)
    library.settings.require_email("NCBI")
    for name in args.lists:
        data, title = _read_file(Path(name)), args.title
        review.add_list(data, "list.txt" if name == "-" else Path(name).name, args.kind, title)
    again = bool(review.status()["searched_at"])
    print_note(f"Running the searches of {review.folder / 'protocol.yaml'} …")
    done = review.update()
    if args.json:
        brought = [("new", record) for record in done.new]
        brought += [("citing", record) for record in done.citing]
        rows = [{"key": r.key, "title": r.paper.title, "outcome": word} for word, r in brought]
        for row in (*rows, *map(asdict, done.news)):
            print_answer(row, as_json=True)
    elif not args.quiet or not done.is_quiet:
        for line in _format_update(review, done, again=again, quiet=args.quiet):
            print_answer(line)
    for told in done.silent:
        print_error_text(f"warning: {told}")
    for remark in done.notes:
        print_note(f"note: {remark}")
    return NO_FULL_TEXT_STATUS if done.silent else 0


def _format_update(
    review: Review, done: ReviewUpdate, *, again: bool, quiet: bool
) -> Iterator[str]:
    """Yield an update's results as a table; records of the first update are only counted."""
    from ..review.updating import CHANGE_LABELS

    if not quiet:
        for one in done.searches:
            yield f"  {one.search.name} ({one.kind}): {pluralize(one.search.hits, 'record')}"
    yield f"{pluralize(len(done.new), 'new record')} in {review.name}"
    names = {record.key: str(record.paper.ids or "") for record in review.ledger.list_records()}
    rows = [
        (str(news.outcome), news.title or news.key, news.detail or names.get(news.key, ""))
        for news in done.news
    ]
    rows += [("citing", r.paper.title or r.asked, str(r.paper.ids or "")) for r in done.citing]
    if again:
        rows += [("new", r.paper.title or r.asked, str(r.paper.ids or "")) for r in done.new]
    for outcome, title, detail in rows[:_MAX_ROWS]:
        words = CHANGE_LABELS[outcome]
        short = textwrap.shorten(one_line(title), 78, placeholder=" …")
        yield f"  {words:<22}  {short:<78}  {one_line(detail)[:60]}".rstrip()
    if (rest := len(rows) - _MAX_ROWS) > 0:
        report = command_line(f"review report {review.name}")
        yield f"  … and {rest:,} more in changes.csv: {report}"
    if told := _describe_news(review.status()):
        yield told


def _describe_news(status: dict[str, Any]) -> str:
    """Return the changes since the published state; "" if no state was published."""
    from ..review.updating import CHANGE_LABELS

    told = (f"{CHANGE_LABELS[one]} {n:,}" for one, n in status["since_published"].items())
    day = status["published_at"][:10]
    return f"Changes since {day} was published: {', '.join(told) or 'nothing'}" if day else ""


def _import_decisions(args: argparse.Namespace, library: Library) -> int:
    review = library.reviews.open(args.name)
    if not (args.files or args.duplicate or args.not_duplicate):
        raise BadRequest("No file was named.", command_line(f"review import {args.name} FILE"))
    _record_pairs(args, review)
    given = args.stage or args.choice or args.screener
    told = GivenFacts(args.choice or None, args.stage or None, args.screener) if given else None
    for path in args.files:
        done = review.read_decisions(_read_file(path), path.name, told)
        if args.json:
            print_answer({"file": path.name, **asdict(done)}, as_json=True)
            continue
        by = f" by {', '.join(filter(None, done.screeners))}" if any(done.screeners) else ""
        print_answer(
            f"{path.name}: {pluralize(done.decisions, 'decision')}{by} on {done.rows:,} records"
        )
        for place, title, why in done.unmatched:
            print_note(f"  {place} left out ({why}): {title}")
    if not args.json:
        _note_conflicts(review)
    return 0


def _read_file(path: Path) -> bytes:
    """Return the bytes of a file; ``-`` is the standard input."""
    if str(path) == "-":
        return sys.stdin.buffer.read(MAX_LIST_BYTES + 1)
    try:
        with path.open("rb") as file:
            return file.read(MAX_LIST_BYTES + 1)
    except OSError as error:
        raise build_unreadable_error(path, error) from None


def _record_pairs(args: argparse.Namespace, review: Review) -> None:
    """Record the pairs that the options call duplicates, or not duplicates."""
    for choice in ("duplicate", "not_duplicate"):
        for key, other in getattr(args, choice):
            review.decide_pair(key, other, choice, screener=args.screener)
            if args.json:
                print_answer({"key": key, "other": other, "decision": choice}, as_json=True)
                continue
            said = "is removed as the duplicate of" if choice == "duplicate" else "is kept beside"
            print_answer(f"{key} {said} {other}")


def _rank_records(args: argparse.Namespace, library: Library) -> int:
    ranking = library.reviews.open(args.name).rank()
    for row in ranking.rows[: args.limit or None]:
        if args.json:
            print_answer(row.row(), as_json=True)
            continue
        title = textwrap.shorten(one_line(row.record.paper.title or row.record.asked), 70)
        print_answer(
            f"{row.rank:>5}  {row.score:6.2f}  {title:<70}  {', '.join(row.reasons)}".rstrip()
        )
    for line in _describe_ranking(args.name, ranking):
        print_note(line)
    return 0


def _describe_ranking(name: str, ranking: Ranking) -> Iterator[str]:
    """Yield what the order was learned from, and whether screening may stop."""
    unread = f"{pluralize(ranking.stop.unread, 'record')} not screened"
    if ranking.is_learned:
        learned = f"learned from {ranking.included:,} included and {ranking.excluded:,} excluded"
        yield f"{unread}; the order was {learned}."
    else:
        yield f"{unread}; the order follows title and question of the protocol."
        yield "It is learned as soon as a record is included and another is excluded."
    if not ranking.stop.unread:
        return
    risk = f"{max(ranking.stop.risk, 0.001):.1%}"
    if ranking.stop.may_stop:
        yield f"You may stop: that 5 % of the relevant records are missing has a risk of {risk}."
        yield "This holds if records were screened in this order and imported in batches."
    elif ranking.is_learned:
        yield f"Go on: that 5 % of the relevant records are missing has a risk of up to {risk}."
    export = command_line(f"review export {name} --for rayyan --ranked")
    yield f"To screen in this order: {export}"


def _note_conflicts(review: Review) -> None:
    conflicts = len(review.status()["conflicts"])
    if conflicts:
        words = pluralize(conflicts, "record")
        report = command_line(f"review report {review.name}")
        print_note(f"Screeners disagree on {words}; to list them in conflicts.csv: {report}")


def _export_records(args: argparse.Namespace, library: Library) -> int:
    files = library.reviews.open(args.name).export(
        args.program, stage=args.stage, ranked=args.ranked
    )
    for path in files:
        print_answer({"file": str(path)} if args.json else str(path), args.json)
    return 0


def _harvest_review(args: argparse.Namespace, library: Library) -> int:
    review = library.reviews.open(args.name)
    library.settings.require_email("NCBI")
    return finish_harvest(review.harvest(with_excluded=args.with_excluded), args.json)


def _write_report(args: argparse.Namespace, library: Library) -> int:
    drawings = parse_drawing_kinds(args.draw)
    files = library.reviews.open(args.name).report(drawings, published=args.published)
    for path in files:
        print_answer({"file": str(path)} if args.json else str(path), args.json)
    if args.open:
        open_on_desktop(str(files[0]))
    return 0


def _show_status(args: argparse.Namespace, library: Library) -> int:
    reviews = [library.reviews.open(args.name)] if args.name else library.reviews.all()
    if args.duplicates:
        return _list_duplicates(reviews, as_json=args.json)
    for review in reviews:
        status = review.status()
        print_answer(
            status if args.json else _format_status(status, whole=bool(args.name)), args.json
        )
    if not reviews:
        print_note(f"There is no review yet: {command_line('review new NAME')}")
    return 0


def _list_duplicates(reviews: Sequence[Review], *, as_json: bool) -> int:
    """Print the pairs of records that may be one paper, and how to decide."""
    for review in reviews:
        pairs = review.find_duplicates()
        for pair in pairs:
            sides = [one.record for one in (pair.first, pair.second)]
            names = [one.paper.title or one.asked for one in sides]
            if as_json:
                told = {"review": review.name, "keys": [one.key for one in sides]}
                print_answer({**told, "titles": names, "in_common": pair.reason}, as_json=True)
                continue
            print_answer(f"In common: {pair.reason}")
            for side, name in zip(sides, names, strict=True):
                title = textwrap.shorten(one_line(name), 90, placeholder=" …")
                print_answer(f"  {side.key}  {title}  {side.paper.ids}".rstrip())
        print_note(f"{review.name}: {pluralize(len(pairs), 'possible duplicate')}.")
        if pairs:
            say = command_line(f"review import {review.name}")
            print_note(f"To remove the first key as the duplicate: {say} --duplicate KEY KEY")
            print_note(f"To keep both: {say} --not-duplicate KEY KEY")
    return 0


def _format_status(status: dict[str, Any], *, whole: bool) -> str:
    from ..reports.labels import STATE_LABELS

    named = _OUTCOME_LABELS | {state: label.lower() for state, label in STATE_LABELS.items()}
    day = status["searched_at"][:10]
    searched = f"searched {day}" if day else "not searched yet"
    head = f"{status['review']}: {pluralize(status['records'], 'record')}, {searched}"
    if not whole:
        return head
    lines = [head, f"  {status['folder']}"]
    for stage, words in _STAGE_LABELS.items():
        numbers = status[stage]
        told = ", ".join(
            f"{numbers[one]:,} {said}" for one, said in named.items() if one in numbers
        )
        lines += [f"  {words + ':':<23}{told}"] * bool(told)
    if since := _describe_news(status):
        lines += [f"  {since}"]
    lines += [f"  warning: {told}" for told in status["could_not_tell"]]
    lines += [f"  note: {remark}" for remark in status["remarks"]]
    return "\n".join(lines)
