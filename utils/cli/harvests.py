"""Harvests in the shell: plan, run, look at, take up again, report."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import BadRequest
from ..plain_text import one_line
from .speaking import INTERRUPTED, NO_FULL_TEXT, UNREACHABLE, command, leave, note, say

if TYPE_CHECKING:
    from ..harvest_jobs import Harvest
    from ..identifier_lists import Entry
    from ..job import Job
    from ..library import Library
    from ..sources import Query

_FILED = {"filed": "●", "postponed": "…"}


def add(commands: Any) -> None:
    """Register the commands."""
    harvest = command(commands, "harvest", _harvest, "get every text of a query or a list")
    harvest.add_argument(
        "what",
        nargs="*",
        help="a query, identifiers, or files of them (text, CSV, RIS, BibTeX, NBIB); - is stdin",
    )
    harvest.add_argument("--job", default="", help="take up this harvest")
    harvest.add_argument("--lock", type=Path, help="rebuild the corpus of a papers.lock.json")
    harvest.add_argument("--plan", action="store_true", help="say what it would take, and stop")
    harvest.add_argument("--max-papers", type=int, default=0, help="at the most so many")
    harvest.add_argument("--retry", default="", help="try again: failed, abstract or an outcome")
    harvest.add_argument("--no-pmc-first", dest="prefer_pmc", action="store_false")
    harvest.add_argument("--min-date", default="", help="YYYY[/MM[/DD]]")
    harvest.add_argument("--max-date", default="", help="YYYY[/MM[/DD]]")
    harvest.add_argument("--date-type", default="pdat", help="pdat edat mdat")
    status = command(commands, "status", _status, "list the harvests, or look at one")
    status.add_argument("job", nargs="?", default="")
    report = command(commands, "report", _report, "write a harvest's report")
    report.add_argument("job", help="see status")
    command(commands, "inbox", _inbox, "file PDFs and pages dropped into the shelf's inbox/")
    demo = command(commands, "demo", _demo, "see it work: no network, no key, no e-mail address")
    for with_page in (report, demo):
        with_page.add_argument("--open", action="store_true", help="show it in the browser")


def _harvest(args: argparse.Namespace, library: Library) -> int:
    from ..reports import read_lock
    from .harvest_screen import watch

    if args.max_papers < 0:
        raise BadRequest("--max-papers cannot be negative.")
    if args.plan:
        return _plan(args, library)
    lock = read_lock(args.lock) if args.lock else None
    harvest = library.harvest_lock(lock) if lock else _meant(args, library)
    for handed in library.take_in():
        note(f"inbox: {handed.file} {handed.outcome}: {handed.detail}")
    note(f"Harvest {harvest.job_id}: {harvest.job().counts.requested:,} papers.")
    try:
        watch(harvest, plain=args.json)
    except KeyboardInterrupt:
        counts = harvest.job().counts
        done = counts.requested - counts.pending
        note(f"\nInterrupted: {done:,} of {counts.requested:,} papers are done, and stay.")
        note(f"Run the same command to go on, or: server.py harvest --job {harvest.job_id}")
        leave(INTERRUPTED)
    _show(harvest.job(), harvest, args.json)
    if lock:
        rebuilt = library.differences(lock, harvest)
        for sentence in (*rebuilt.sentences, str(rebuilt.table)):
            note(sentence)
    return _exit_status(harvest.job())


def _inbox(args: argparse.Namespace, library: Library) -> int:
    handed = list(library.take_in())
    for one in handed:
        text = f"{_FILED.get(one.outcome, '✗')} {one.file}: {one.outcome}. {one.detail}"
        say(one.row() if args.json else text, args.json)
    if not handed:
        note(f"Nothing in {library.settings.papers_dir / 'inbox'}: drop PDFs or pages there.")
    return 0 if all(one.outcome == "filed" for one in handed) else NO_FULL_TEXT


def _demo(args: argparse.Namespace, library: Library) -> int:
    from ..demo import stage
    from .harvest_screen import watch

    with stage() as (demo, query):
        note(f"A stand-in of the internet is up, with invented papers. Harvesting {query!r} …")
        harvest = demo.harvest(query=query)
        watch(harvest, plain=args.json)
        _show(harvest.job(), harvest, args.json)
        if args.open:
            import webbrowser

            webbrowser.open((harvest.folder / "report.html").as_uri())
    return 0


def _meant(args: argparse.Namespace, library: Library) -> Harvest:
    options = {"retry": args.retry, "prefer_pmc": args.prefer_pmc, "max_papers": args.max_papers}
    if args.job:
        return library.harvest(job_id=args.job, **options)
    query, entries, title = _asked(args)
    if query:
        return library.harvest(query=query, **options)
    return library.harvest(entries, title=title, **options)


def _asked(args: argparse.Namespace) -> tuple[Query | None, list[Entry], str]:
    """What the words of the command mean: files and identifiers, or else a question."""
    from ..identifier_lists import Entry
    from ..identifiers import Ids
    from ..reference_lists import entries_in
    from ..sources import Query

    entries: list[Entry] = []
    names: list[str] = []
    words = args.what or ["-"]
    for word in words:
        path = Path(word)
        if word == "-":
            entries += entries_in(_piped())
            names.append("standard input")
        elif path.is_file():
            entries += entries_in(path.read_bytes(), path.name)
            names.append(path.name)
        elif ids := Ids.maybe(word):
            entries.append(Entry(word, ids))
        elif entries:
            raise BadRequest(f"{word!r} is neither a file nor an identifier.")
        else:
            dates = {name: getattr(args, name) for name in ("min_date", "max_date", "date_type")}
            return Query(" ".join(words), **dates), [], ""
    return None, entries, ", ".join(names)


def _piped() -> bytes:
    if sys.stdin is None or sys.stdin.isatty():
        raise BadRequest("Nothing to harvest.", "Give a query, identifiers or a file of them.")
    return sys.stdin.buffer.read()


def _plan(args: argparse.Namespace, library: Library) -> int:
    from .harvest_screen import plan_text

    query, entries, _ = _asked(args)
    plan = library.plan(entries, query=query or "", max_papers=args.max_papers)
    say(plan.row() if args.json else plan_text(plan), args.json)
    return 0


def _status(args: argparse.Namespace, library: Library) -> int:
    if args.job:
        harvest = library.harvest(job_id=args.job)
        _show(harvest.job(), harvest, args.json)
        return 0
    jobs = library.harvests()
    for job in jobs:
        say(_row(job) if args.json else _line(job), args.json)
    if not jobs:
        note("No harvest on this shelf yet: server.py harvest QUERY")
    return 0


def _report(args: argparse.Namespace, library: Library) -> int:
    page = library.harvest(job_id=args.job).report()
    say({"job_id": args.job, "report": str(page)} if args.json else str(page), args.json)
    if args.open:
        import webbrowser

        webbrowser.open(page.as_uri())
    return 0


def _row(job: Job) -> dict[str, Any]:
    return {
        "job_id": job.job_id,
        "title": job.title,
        "state": "pending" if job.counts.pending else "done",
        "counts": job.row(),
        "begun_at": job.begun_at,
        "ended_at": job.ended_at,
    }


def _line(job: Job) -> str:
    counts = job.counts
    left = f", {counts.pending:,} pending" if counts.pending else ""
    told = f"{counts.full_text:,} full text, {counts.abstract:,} abstract only, {counts.failed:,}"
    head = f"{job.job_id}\n  {one_line(job.title)[:100]}\n  {counts.requested:,} papers: "
    return f"{head}{told} failed{left}"


def _show(job: Job, harvest: Harvest, as_json: bool) -> None:
    """The end of a harvest, or how it stands: counts, reasons, where the report lies."""
    from .harvest_screen import reasons_text

    page = harvest.folder / "report.html"
    if as_json:
        say({**_row(job), "report": str(page) if page.exists() else ""}, as_json=True)
        return
    say(_line(job))
    for text in reasons_text(harvest):
        say(f"  {text}")
    for remark in job.notes:
        note(f"note: {remark}")
    say(f"  report: {page}" if page.exists() else f"  report: server.py report {job.job_id}")


def _exit_status(job: Job) -> int:
    counts = job.counts
    if counts.full_text == counts.requested:
        return 0
    return UNREACHABLE if counts.failed == counts.requested else NO_FULL_TEXT
