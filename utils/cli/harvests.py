"""Commands of harvests: plan, run, resume, status, report."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from ..command_line import command_line
from ..errors import BadRequest, UnknownName
from ..model.versions import UNPUBLISHED_VERSIONS, VERSION_NAMES
from ..reports.labels import get_missing_reason
from ..system.named_files import require_existing_file
from ..system.plain_text import one_line
from ..system.process import INTERRUPTED_EXIT_STATUS
from ..system.progress_display import LINE
from .commands import CommandParser, Commands, command
from .harvest_plans import describe_media_space, describe_pdfs, describe_plan
from .harvest_progress import describe_outcomes, watch_harvest
from .objects import iterate_job_objects, parse_kinds, show_objects
from .opening import open_on_desktop
from .options import (
    add_date_options,
    add_limit_option,
    add_megabytes_option,
    add_pdf_option,
    add_pmc_last_option,
)
from .output import (
    NO_FULL_TEXT_STATUS,
    UNREACHABLE_STATUS,
    exit_now,
    parse_drawing_kinds,
    pluralize,
    print_answer,
    print_note,
)
from .pdfs import show_pdfs
from .upkeep import KIND_LABELS, note_due_audit

if TYPE_CHECKING:
    from ..curation.inbox import InboxResult
    from ..harvest.jobs import Harvest
    from ..library import Library
    from ..lists.pasted import ListEntry
    from ..model.job import Job, JobSearch
    from ..reports import CorpusLock
    from ..sources import Query

_INBOX_MARKS = {"filed": "●", "postponed": "…"}
_UNANSWERED_OUTCOMES = {"could_not_tell", "unreachable"}
_TITLE_MAX_CHARS = 100  # characters of a title


def add(commands: Commands) -> None:
    """Register the commands."""
    harvest = command(commands, "harvest", _run_harvest)
    _add_list_options(harvest)
    _add_run_options(harvest)
    status = command(commands, "harvest status", _show_status)
    status.add_argument(
        "job", nargs="?", default="", help="the harvest to show; default: list all harvests"
    )
    report = command(commands, "harvest report", _write_report)
    report.add_argument("job", help="the harvest's name, as listed by `harvest status`")
    report.add_argument(
        "--draw",
        default="",
        metavar="png,pptx",
        help="also draw the PRISMA figure in these formats",
    )
    _add_inbox_options(command(commands, "harvest inbox", _file_inbox))
    demo = command(commands, "setup demo", _run_demo)
    for with_page in (report, demo):
        with_page.add_argument("--open", action="store_true", help="open the page in the browser")


def _add_list_options(harvest: CommandParser) -> None:
    """Add the options that name the papers of a harvest."""
    harvest.add_argument(
        "what",
        nargs="*",
        help="a query, identifiers, or files of them (CSV, RIS, BibTeX, NBIB, EndNote XML, "
        "CSL-JSON); - reads stdin",
    )
    harvest.add_argument("--job", default="", help="continue this harvest")
    harvest.add_argument(
        "--lock", type=Path, metavar="FILE", help="rebuild the corpus of a papers.lock.json"
    )
    harvest.add_argument(
        "--with-excluded",
        action="store_true",
        help=(
            "include records that all screeners excluded, in a list of Rayyan, Covidence, "
            "ASReview or Zotero"
        ),
    )


def _add_run_options(harvest: CommandParser) -> None:
    """Add the options that say how a harvest is run."""
    harvest.add_argument(
        "--plan", action="store_true", help="show what the harvest would take, and stop"
    )
    add_limit_option(harvest, "papers", 0, former_names=["--max-papers"])
    harvest.add_argument(
        *("--retry",),
        default="",
        metavar="STATES",
        help="retry papers in these states: failed,abstract,record,preprint or an outcome",
    )
    add_pmc_last_option(harvest)
    harvest.add_argument(
        *("--query",),
        action="append",
        default=[],
        help="an additional query; can be repeated and combined with lists",
    )
    harvest.add_argument(
        "--source",
        default="",
        metavar="NAMES",
        help="sites to search: pubmed,europepmc,… or all",
    )
    harvest.add_argument(
        "--media", default="", metavar="KINDS", help="also download: tables,figures,supplements"
    )
    add_megabytes_option(harvest)
    add_pdf_option(harvest)
    add_date_options(harvest, with_days=True)


def _add_inbox_options(inbox: CommandParser) -> None:
    """Add the options of the inbox."""
    inbox.add_argument(
        "--accept", action="store_true", help="also file texts that the judges reject"
    )
    inbox.add_argument(
        "--watch", action="store_true", help="keep running and file new files as they arrive"
    )
    inbox.add_argument(
        "--folder",
        default="",
        help="also copy requested papers from this folder, such as ~/Downloads",
    )
    inbox.add_argument(
        "--because",
        default="handed in as the paper",
        help="with --accept: the reason, kept with the text",
    )


def _run_harvest(args: argparse.Namespace, library: Library) -> int:
    _check_options(args)
    kinds = parse_kinds(args.media)
    if args.plan:
        return _show_plan(args, library)
    lock = _read_lock_file(args.lock) if args.lock else None
    harvest = _open_harvest(args, library, lock)
    if args.retry:
        print_note(f"{pluralize(harvest.retry(args.retry), 'paper')} to be tried again.")
    elif again := harvest.reopen_unanswered():
        print_note(
            f"Retrying {pluralize(again, 'paper')} for which no source gave an answer last time."
        )
    for received in library.upkeep.take_in():
        print_note(f"inbox: {received.file} {received.outcome}: {received.detail}")
    _run_to_end(harvest, args.json)
    more: dict[str, Any] = {}
    if lock:
        rebuilt = library.harvests.differences(lock, harvest)
        more = {"differences": list(rebuilt.sentences), "differences_file": str(rebuilt.table)}
    _print_harvest(harvest, args.json, **more)
    if kinds:
        options = {"kinds": kinds, "max_bytes": args.max_mb * 1_000_000}
        show_objects(iterate_job_objects(library, harvest.job_id, options), args.json)
    if args.pdf:
        show_pdfs(library.texts.fetch_pdfs(job_id=harvest.job_id), args.json)
    return _choose_exit_status(harvest)


def finish_harvest(harvest: Harvest, as_json: bool) -> int:
    """Run a harvest to its end, print the result, and return the exit status."""
    _run_to_end(harvest, as_json)
    _print_harvest(harvest, as_json)
    return _choose_exit_status(harvest)


def _run_to_end(harvest: Harvest, as_json: bool) -> None:
    from ..curation.daily_recheck import find_due_texts

    print_note(_format_start_message(harvest.job()))
    try:
        watch_harvest(harvest, as_lines=as_json)
    except KeyboardInterrupt:
        _exit_interrupted(harvest, as_json)
    if gained := find_due_texts(harvest.ladder):
        papers = pluralize(len(gained), "other paper")
        print_note(f"A full text of {papers} appeared since, and is on the shelf now.")


def _check_options(args: argparse.Namespace) -> None:
    """Raise an error for options that exclude each other or would be ignored."""
    if bool(args.what or args.query) + bool(args.job) + bool(args.lock) > 1:
        msg = "A query or list, --job and --lock cannot be combined."
        raise BadRequest(msg, "Give one of them.")
    of_query = (args.limit, args.since, args.until, args.source)
    if (args.job or args.lock) and any(of_query):
        msg = "--limit, --source and dates can only be used with a query."
        raise BadRequest(
            msg, "Leave them out: the papers of a job or lock were chosen when it was made."
        )
    if args.lock and not args.prefer_pmc:
        msg = "--no-pmc-first cannot be used with --lock, which uses the default order."
        raise BadRequest(msg, "Leave out --no-pmc-first.")
    if args.plan and args.retry:
        msg = "--retry cannot be used with --plan, which counts papers not tried yet."
        raise BadRequest(msg, "Leave one of them out.")
    if args.retry:
        from ..harvest.jobs import parse_outcomes

        parse_outcomes(args.retry)  # before PubMed is searched


def _open_harvest(args: argparse.Namespace, library: Library, lock: CorpusLock | None) -> Harvest:
    """Return the harvest that the options name; the e-mail address is checked last."""
    from ..harvest.searches import build_site_queries

    if args.job:
        harvest = library.harvest(job_id=args.job, prefer_pmc=args.prefer_pmc)
        library.settings.require_email("NCBI")
        return harvest
    asked = _RequestedPapers([], {}, "") if lock else _parse_request(args)
    sources = _parse_sources(args, library)
    build_site_queries(asked.queries, sources, library.ladder.sources)  # refuses an unknown source
    library.settings.require_email("NCBI")  # before there is a job that cannot begin
    if lock:
        return library.harvests.from_lock(lock)
    if asked.queries:
        words = ", and ".join(one_line(query.text)[:200] for query in asked.queries)
        print_note(f"Searching for {words} …")
    harvest = library.harvest(
        asked.lists,
        query=asked.queries,
        sources=sources,
        title=asked.title,
        prefer_pmc=args.prefer_pmc,
        max_papers=args.limit,
    )
    for search in harvest.job().searches:
        print_note(_describe_search(search))
    return harvest


def _describe_search(search: JobSearch) -> str:
    """Return the result of one search or list in one line."""
    if not search.source:
        return f"  {search.name}: {pluralize(search.taken, 'paper')}"
    some = f" {search.taken:,} of" if search.taken < search.hits else ""
    return (
        f"  {search.name}:{some} {pluralize(search.hits, 'hit')} for {one_line(search.query)[:200]}"
    )


class _RequestedPapers(NamedTuple):
    queries: list[Query]
    lists: dict[str, list[ListEntry]]
    title: str


def _parse_request(args: argparse.Namespace) -> _RequestedPapers:
    """Return the queries and lists that a harvest is made of."""
    from ..sources import Query
    from .output import QueryOrLists, read_arguments

    no_words = args.query and not args.what  # then nothing need be piped in
    request = (
        QueryOrLists("", {})
        if no_words
        else read_arguments(args.what, with_excluded=args.with_excluded)
    )
    dates = {"min_date": args.since, "max_date": args.until, "date_type": args.date_type}
    queries = [Query(text, **dates) for text in (request.query, *args.query) if text.strip()]
    if not queries and (args.since or args.until or args.source):
        raise BadRequest(
            "Dates and --source can only be used with a query, not with a list.", "Leave them out."
        )
    return _RequestedPapers(queries, request.lists, "" if queries else request.title)


def _parse_sources(args: argparse.Namespace, library: Library) -> tuple[str, ...]:
    """Return the sites to search; empty for PubMed."""
    from ..search.search import get_default_sites

    names = tuple(name.strip().lower() for name in args.source.split(",") if name.strip())
    return names if names != ("all",) else tuple(get_default_sites(library.settings))


def _read_lock_file(path: Path) -> CorpusLock:
    from ..reports import read_lock

    require_existing_file(path)
    return read_lock(path)


def _format_start_message(job: Job) -> str:
    counts = job.counts
    done = counts.requested - counts.pending
    so_far = f", {done:,} of them already done" if done else ""
    return f"Harvest {job.job_id}: {pluralize(counts.requested, 'paper')}{so_far}."


def _exit_interrupted(harvest: Harvest, as_json: bool) -> None:
    """Print how to resume, and exit."""
    job = harvest.job()
    done = job.counts.requested - job.counts.pending
    if as_json:
        print_answer({**_to_job_row(job), "state": "interrupted"}, as_json=True)
    print_note(
        f"\nInterrupted: {done:,} of {pluralize(job.counts.requested, 'paper')} are done and kept."
    )
    print_note(
        f"Run the same command to continue, or: {command_line(f'harvest --job {job.job_id}')}"
    )
    exit_now(INTERRUPTED_EXIT_STATUS)


def _file_inbox(args: argparse.Namespace, library: Library) -> int:
    accept = args.because if args.accept else ""
    if args.watch:
        _watch_inbox(args, library, accept)
    received = list(library.upkeep.take_in(accept=accept, folder=args.folder))
    for one in received:
        print_answer(one.row() if args.json else _format_received(one), args.json)
    if not received:
        inbox = library.settings.papers_dir / "inbox"
        also = f", and no requested paper in {args.folder}" if args.folder else ""
        print_note(f"Nothing in {inbox}{also}: put PDFs or web pages there.")
    return 0 if all(one.outcome == "filed" for one in received) else NO_FULL_TEXT_STATUS


def _watch_inbox(args: argparse.Namespace, library: Library, accept: str) -> NoReturn:
    """Print arriving files until interrupted."""
    filed = 0
    try:
        with (
            LINE.pause_display(),
            closing(library.upkeep.watch_inbox(accept=accept, folder=args.folder)) as arrivals,
        ):
            print_note(
                f"Watching {library.settings.papers_dir / 'inbox'}: papers saved there are filed."
            )
            if args.folder:
                print_note(f"Watching {args.folder}: only requested papers are copied from there.")
            print_note("Ctrl-C ends it.")
            for one in arrivals:
                filed += one.outcome == "filed"
                print_answer(one.row() if args.json else _format_received(one), args.json)
    except KeyboardInterrupt:
        print_note(f"\nNo longer watching. Filed: {filed:,}.")
    exit_now(INTERRUPTED_EXIT_STATUS)


def _format_received(one: InboxResult) -> str:
    paper = ", ".join(filter(None, (one.paper, one.title[:_TITLE_MAX_CHARS].rstrip("."))))
    link = " as " if one.outcome == "filed" else ", assumed to be "
    what = f"{one.outcome}{link}{paper}" if paper else one.outcome
    return f"{_INBOX_MARKS.get(one.outcome, '✗')} {one.file}: {what}. {one.detail}"


def _run_demo(args: argparse.Namespace, library: Library) -> int:
    from ..demo.papers import QUERY
    from .demo import draw_outcome_bars, open_demo, repeat_download

    print_note("Serving a small internet of invented papers from this computer …")
    try:
        with open_demo() as (demo, internet):
            print_note(f"Searching for {QUERY!r}; harvesting into {demo.settings.papers_dir}")
            print_note("It takes about 20 seconds: the sites' rate limits hold here too.")
            harvest = demo.harvest(query=QUERY)
            watch_harvest(harvest, as_lines=args.json)
            again = repeat_download(harvest, demo, internet)
    except KeyboardInterrupt:
        print_note("\nInterrupted. The demo's folder can be deleted.")
        exit_now(INTERRUPTED_EXIT_STATUS)
    page = harvest.folder / "report.html"
    if args.json:
        _print_harvest(harvest, as_json=True)
    else:
        print_answer(_format_job(harvest.job(), "finished"))
        print_answer("\n".join([*draw_outcome_bars(harvest), again, f"  report: {page}"]))
    harvest_plan = command_line("harvest 'CXCL12 AND CXCR4' --plan")
    print_note(f"With real papers: set PUBMED_EMAIL, then: {harvest_plan}")
    if args.open:
        open_on_desktop(str(page))
    return 0


def _show_plan(args: argparse.Namespace, library: Library) -> int:
    from ..lists.pasted import ListEntry

    asked = _RequestedPapers([], {}, "")
    if args.lock:
        entries = [
            ListEntry(str(paper.ids), paper.ids) for paper in _read_lock_file(args.lock).papers
        ]
        asked.lists[args.lock.name] = entries
    elif args.job:
        rows = library.harvest(job_id=args.job).ledger.read_outcomes()
        entries = [ListEntry(row.asked, row.paper.ids) for row in rows if row.state == "pending"]
        asked.lists[args.job] = entries
    else:
        asked = _parse_request(args)
    plan = library.harvests.plan(
        asked.lists,
        query=asked.queries,
        sources=_parse_sources(args, library),
        max_papers=args.limit,
    )
    kinds = parse_kinds(args.media)
    entries = [entry for several in asked.lists.values() for entry in several]
    media_space = library.harvests.media_space
    space = media_space(plan, kinds, entries, query=asked.queries) if kinds else None
    pdfs = library.harvests.pdfs(plan) if args.pdf else None
    if args.json:
        more = {"media": space, "pdfs": pdfs}
        print_answer(
            plan.row() | {name: one.row() for name, one in more.items() if one}, as_json=True
        )
    else:
        lines = [describe_plan(plan)]
        lines += [f"  {describe_media_space(space, args.media, args.max_mb)}"] if space else []
        lines += [f"  {describe_pdfs(pdfs)}"] if pdfs else []
        print_answer("\n".join(lines))
    return 0


def _show_status(args: argparse.Namespace, library: Library) -> int:
    if args.job:
        try:
            _print_harvest(library.harvest(job_id=args.job), args.json)
        except UnknownName as error:
            query = command_line(f"harvest 'status {args.job}'")
            raise UnknownName(error.message, error.hint, f"For a query, write {query}") from None
        return 0
    jobs = library.harvests.all()
    for job in jobs:
        harvest = library.harvest(job_id=job.job_id)
        row = _to_job_row(job, harvest)
        print_answer(row if args.json else _format_job(job, row["state"]), args.json)
        harvest.ledger.close()
    if not jobs:
        print_note(f"No harvest on this shelf yet: {command_line('harvest QUERY')}")
    counts = library.shelf.count_papers()
    by_kind = (f"{counts[kind]:,} {name}" for kind, name in KIND_LABELS.items())
    print_note(f"on the shelf: {', '.join(by_kind)}")
    if stand_ins := _describe_unpublished(counts):
        print_note(f"  {stand_ins}")
    note_due_audit(library)
    return 0


def _write_report(args: argparse.Namespace, library: Library) -> int:
    harvest = library.harvest(job_id=args.job)
    drawings = parse_drawing_kinds(args.draw)
    page = harvest.report(drawings)
    row: dict[str, Any] = {"job_id": args.job, "report": str(page)}
    row |= {kind: str(page.with_name(f"prisma.{kind}")) for kind in drawings}
    print_answer(row if args.json else str(page), args.json)
    if args.open:
        open_on_desktop(str(page))
    return 0


def _to_job_row(job: Job, harvest: Harvest | None = None) -> dict[str, Any]:
    state = job.get_status(running=bool(harvest and harvest.ledger.is_running()))
    return {
        "job_id": job.job_id,
        "title": job.title,
        "state": state,
        "counts": job.row(),
        "begun_at": job.begun_at,
        "ended_at": job.ended_at,
        "waits": [asdict(wait) for wait in job.waits] if state == "running" else [],
    }


def _format_job(job: Job, state: str) -> str:
    counts = job.counts
    left = f", {counts.pending:,} pending ({state})" if counts.pending else ""
    head = (
        f"{job.job_id}\n  {one_line(job.title)[:100]}\n  {pluralize(counts.requested, 'paper')}: "
    )
    return f"{head}{describe_outcomes(counts)}{left}"


def _print_harvest(harvest: Harvest, as_json: bool, **more: Any) -> None:
    """Print the status of a harvest: counts, reasons, and the report's path."""
    job = harvest.job()
    row = _to_job_row(job, harvest)
    reasons = harvest.ledger.count_coverage().reasons
    page = harvest.folder / "report.html"
    if as_json:
        summary = {"reasons": reasons, "notes": list(job.notes)}
        report = {"report": str(page) if page.exists() else ""}
        print_answer({**row, **summary, **report, **more}, as_json=True)
        return
    print_answer(_format_job(job, row["state"]))
    if stand_ins := _describe_unpublished(job.row()):
        print_answer(f"  {stand_ins}")
    if reasons:
        print_answer("  papers without full text, by reason:")
    for reason, number in reasons.items():
        print_answer(f"  {number:>7,}  {get_missing_reason(reason).name}")
    for wait in job.waits if row["state"] == "running" else ():
        print_answer(f"  {wait}")
    for sentence in (*job.notes, *more.get("differences", ())):
        print_answer(f"  {sentence}")
    print_answer(
        f"  report: {page}"
        if page.exists()
        else f"  report: {command_line(f'harvest report {job.job_id}')}"
    )
    if _UNANSWERED_OUTCOMES & reasons.keys() and not job.counts.pending:
        print_answer(
            "  to retry the papers without a definite answer: "
            f"{command_line(f'harvest --job {job.job_id}')}"
        )
    if "differences_file" in more:
        print_answer(f"  differences: {more['differences_file']}")


def _describe_unpublished(counts: Mapping[str, int]) -> str:
    """Return how many full texts are not the published version; "" if all are."""
    versions = [
        f"{counts[one]:,} {VERSION_NAMES[one]}" for one in UNPUBLISHED_VERSIONS if counts[one]
    ]
    text = ", ".join(versions)
    return f"full texts that are not the published version: {text}" if text else ""


def _choose_exit_status(harvest: Harvest) -> int:
    counts = harvest.job().counts
    if counts.full_text == counts.requested:
        return 0
    if counts.failed == counts.requested and all(
        row.reason in _UNANSWERED_OUTCOMES for row in harvest.ledger.read_outcomes()
    ):
        return UNREACHABLE_STATUS
    return NO_FULL_TEXT_STATUS
