"""Systematic reviews in the shell: a folder with a protocol, from the question to the figure."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import BadRequest, NotFound
from ..lists.decisions import STAGES, Told
from ..lists.references import MOST_BYTES
from .harvests import carry_out, show_page
from .output import command, counted, kinds_of_drawing, note, say
from .snowballing import add_directions, directions_of, say_what_was_asked

if TYPE_CHECKING:
    from ..library import Library
    from ..review import Review

_WORDS = {
    "retracted": "retracted",
    "concern": "carries an expression of concern",
    "corrected": "corrected",
    "new_copy": "in PMC now",
}
_STAGES = {
    "title_abstract": "by title and abstract",
    "full_text": "by full text",
    "texts": "texts",
}


def add(commands: Any) -> None:
    """Register the command with its actions."""
    about = "a systematic review as a folder: protocol, searches, decisions, PRISMA figure"
    parser = commands.add_parser("review", help=about, description=about)
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
    new = command(actions, "new", _new, "make a review's folder, with a protocol to fill in")
    new.add_argument("name", help="small letters, digits, hyphens: moss-and-light")
    update = command(
        actions,
        "update",
        _update,
        "search as the protocol says: what is new, retracted, corrected, open now; decisions stay",
    )
    taken = command(actions, "import", _import, "take in what screeners decided")
    out = command(actions, "export", _export, "write the records for a screening program")
    chase = command(
        actions,
        "snowball",
        _snowball,
        "search the citations of what is included; what is new joins",
    )
    add_directions(chase)
    harvest = command(actions, "harvest", _harvest, "get the texts of what was not excluded")
    report = command(actions, "report", _report, "write PRISMA's figure, PRISMA-S and the tables")
    status = command(actions, "status", _status, "list the reviews, or look at one")
    for action in (update, taken, out, chase, harvest, report):
        action.add_argument("name", help="as in `review status`")
    status.add_argument("name", nargs="?", default="", help="its name, as in the list")
    taken.add_argument(
        "files",
        nargs="+",
        type=Path,
        help="of Rayyan (CSV, ZIP, RIS), Covidence (CSV), ASReview (CSV, RIS), EPPI-Reviewer "
        "(JSON), Zotero (RIS, CSV)",
    )
    taken.add_argument("--stage", default="", choices=("", *STAGES), help="what was judged")
    taken.add_argument(
        "--as",
        dest="choice",
        default="",
        choices=("", "include", "exclude", "maybe"),
        help="what all records of the file are, where it does not say",
    )
    taken.add_argument("--screener", default="", help="who decided, where the file does not say")
    out.add_argument(
        "--for",
        dest="program",
        required=True,
        choices=("rayyan", "covidence", "asreview", "eppi", "zotero"),
        help="the program",
    )
    out.add_argument("--stage", default="", choices=("", *STAGES), help="only what has come so far")
    harvest.add_argument("--with-excluded", action="store_true", help="also what was excluded")
    report.add_argument("--draw", default="", help="the figure also as png, and pptx to edit")
    report.add_argument("--open", action="store_true", help="show the page in the browser")


def _open(args: argparse.Namespace, library: Library) -> Review:
    """The review that is meant; a wrong name is a wrong command."""
    try:
        return library.review(args.name)
    except NotFound as error:
        raise BadRequest(error.message, error.hint) from None


def _new(args: argparse.Namespace, library: Library) -> int:
    review = library.new_review(args.name)
    protocol = str(review.folder / "protocol.yaml")
    say({"review": args.name, "protocol": protocol} if args.json else protocol, args.json)
    note(f"Fill it in, then: server.py review update {args.name}")
    return 0


def _update(args: argparse.Namespace, library: Library) -> int:
    review = _open(args, library)
    library.settings.require_email("NCBI")
    note(f"Searching as {review.folder / 'protocol.yaml'} says …")
    done = review.update()
    if args.json:
        rows = [{"key": r.key, "title": r.paper.title, "outcome": "new"} for r in done.new]
        for row in (*rows, *map(asdict, done.news)):
            say(row, as_json=True)
        return 0
    for one in done.searches:
        say(f"  {one.search.name} ({one.kind}): {counted(one.search.hits, 'record')}")
    say(f"{counted(len(done.new), 'new record')} in {args.name}")
    for news in done.news:
        say(f"  {_WORDS[news.outcome]}: {news.title or news.key} {news.detail}".rstrip())
    for remark in done.notes:
        note(f"note: {remark}")
    if done.silent:
        note(f"{counted(done.silent, 'record')} could not be asked about; try again later.")
    return 0


def _import(args: argparse.Namespace, library: Library) -> int:
    review = _open(args, library)
    given = args.stage or args.choice or args.screener
    told = Told(args.choice or None, args.stage or None, args.screener) if given else None
    for path in args.files:
        try:
            with path.open("rb") as file:
                data = file.read(MOST_BYTES + 1)
        except OSError as error:
            raise BadRequest(f"{path} cannot be read: {error.strerror}.") from None
        done = review.read_decisions(data, path.name, told)
        if args.json:
            say({"file": path.name, **asdict(done)}, as_json=True)
            continue
        by = f" by {', '.join(filter(None, done.screeners))}" if any(done.screeners) else ""
        say(f"{path.name}: {counted(done.decisions, 'decision')}{by} on {done.rows:,} records")
        for place, title, why in done.unmatched:
            note(f"  {place} left out ({why}): {title}")
    if not args.json:
        _say_conflicts(review)
    return 0


def _say_conflicts(review: Review) -> None:
    conflicts = len(review.status()["conflicts"])
    if conflicts:
        words = counted(conflicts, "record")
        note(f"Screeners disagree about {words}: `review report` names them in conflicts.csv.")


def _export(args: argparse.Namespace, library: Library) -> int:
    files = _open(args, library).export(args.program, stage=args.stage)
    for path in files:
        say({"file": str(path)} if args.json else str(path), args.json)
    return 0


def _snowball(args: argparse.Namespace, library: Library) -> int:
    review = _open(args, library)
    library.settings.require_email("NCBI")
    found = review.snowball(directions_of(args))
    for one in found.candidates:
        row = {"title": one.paper.title, "ids": one.paper.ids.names(), "led_to_by": one.seeds}
        say(row if args.json else f"{len(one.seeds):>4}  {one.paper.title}", args.json)
    say_what_was_asked(found)
    return 0


def _harvest(args: argparse.Namespace, library: Library) -> int:
    review = _open(args, library)
    library.settings.require_email("NCBI")
    return carry_out(review.harvest(excluded_too=args.with_excluded), args.json)


def _report(args: argparse.Namespace, library: Library) -> int:
    drawings = kinds_of_drawing(args.draw)
    files = _open(args, library).report(drawings)
    for path in files:
        say({"file": str(path)} if args.json else str(path), args.json)
    if args.open:
        show_page(files[0])
    return 0


def _status(args: argparse.Namespace, library: Library) -> int:
    reviews = [_open(args, library)] if args.name else library.reviews()
    for review in reviews:
        status = review.status()
        say(status if args.json else _status_text(status, whole=bool(args.name)), args.json)
    if not reviews:
        note("There is no review yet: server.py review new NAME")
    return 0


def _status_text(status: dict[str, Any], *, whole: bool) -> str:
    day = status["searched_at"][:10]
    searched = f"searched {day}" if day else "not searched yet"
    head = f"{status['review']}: {counted(status['records'], 'record')}, {searched}"
    if not whole:
        return head
    lines = [head, f"  {status['folder']}"]
    for stage, words in _STAGES.items():
        named = ", ".join(f"{outcome} {n:,}" for outcome, n in status[stage].items())
        lines += [f"  {words}: {named}"] * bool(named)
    lines += [f"  note: {remark}" for remark in status["remarks"]]
    return "\n".join(lines)
