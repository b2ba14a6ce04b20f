"""``mirror`` in the shell: all of PubMed on your own disk, planned, brought up to date, proved."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..command_line import command_line
from ..errors import BadRequest, NotFound
from ..mirror import require_packages
from ..mirror.engines import ENGINES
from . import mirror_pmc
from .commands import CommandParser, Commands, command
from .mirror_status import generation_text, plan_lines, status_lines, status_row
from .options import limit_option, natural
from .output import (
    NO_FULL_TEXT,
    UNREACHABLE,
    counted,
    note,
    say,
    size_of,
    span,
    warn,
)
from .progress import follow

if TYPE_CHECKING:
    from ..library import Library
    from ..mirror import Mirror
    from ..mirror.citations import CitationsProgress
    from ..mirror.pubmed import MirrorProgress

_MB = 1e6
_SHOWN = 10  # faults
_ENGINE = "here (this process), processes (others on this machine), dask"


def add(commands: Commands) -> None:
    """Register the commands."""
    pubmed = command(commands, "mirror pubmed", _pubmed)
    _engine_options(pubmed)
    _keep_option(pubmed)
    limit_option(pubmed, "files this time", 0, former=["--most"])
    pubmed.add_argument(
        "--from",
        dest="filled",
        metavar="FOLDER",
        help="NLM's files as they lie there (rsync, Aspera, EDirect); nobody is asked for any",
    )
    plan = command(commands, "mirror plan", _plan)
    plan.add_argument("--workers", type=natural, default=0, help="that would read (one a core)")
    _keep_option(plan)
    status = command(commands, "mirror status", _status)
    verify = command(commands, "mirror verify", _verify)
    verify.add_argument("file", nargs="*", help="26n0001 or pubmed26n0001.xml.gz; else all")
    verify.add_argument("--sample", type=natural, default=0, metavar="N", help="N of them, evenly")
    verify.add_argument(
        "--count",
        action="store_true",
        help="ask PubMed how many papers it counts",
    )
    _engine_options(verify)
    of = verify.add_mutually_exclusive_group()
    of.add_argument("--pmc", action="store_true", help="the mirror of PMC, not of PubMed")
    of.add_argument("--citations", action="store_true", help="the table of who cites whom, whole")
    use = command(commands, "mirror use", _use)
    use.add_argument("generation", help="its name: mirror status")
    index = command(commands, "mirror index", _index)
    pmc = mirror_pmc.add(commands)
    _engine_options(pmc)
    embed = command(commands, "mirror embed", _embed)
    _engine_options(embed, usual="here")
    embed.add_argument(
        "--published", type=Path, metavar="FOLDER", help="NCBI's vectors of MedCPT: those are taken"
    )
    citations = command(commands, "mirror citations", _citations)
    citations.add_argument("--keep-source", action="store_true", help="keep NIH's ZIP once read")
    for verb in (pubmed, pmc, plan, status, verify, use, index, embed, citations):
        verb.add_argument(
            "--folder", default="", help="of the mirror (instead of PAPERS_MIRROR_DIR)"
        )


def _engine_options(parser: CommandParser, usual: str = "processes") -> None:
    parser.add_argument("--engine", choices=ENGINES, default=usual, help=_ENGINE)
    parser.add_argument("--workers", type=natural, default=0, help="at once (one a core)")
    parser.add_argument(
        "--scheduler",
        default="",
        metavar="ADDRESS",
        help="of a Dask cluster that runs (tcp://HOST:8786)",
    )


def _keep_option(parser: CommandParser) -> None:
    parser.add_argument(
        "--drop-sources",
        dest="keep",
        action="store_false",
        help="delete NLM's files once they are read; verifying fetches them again",
    )


def mirror_of(args: argparse.Namespace, library: Library) -> Mirror:
    """The mirror that is meant.

    Raises
    ------
    BadRequest
        A file is where its folder should be.
    """
    mirror = library.mirror.at(args.folder) if args.folder else library.mirror
    if mirror.folder.exists() and not mirror.folder.is_dir():
        msg = f"{mirror.folder} is a file; a mirror lies in a folder."
        raise BadRequest(msg, "Give another --folder, or set PAPERS_MIRROR_DIR to one.")
    return mirror


def _pubmed(args: argparse.Namespace, library: Library) -> int:
    mirror = mirror_of(args, library)
    steps = mirror.update(
        engine=args.engine,
        workers=args.workers,
        scheduler=args.scheduler,
        keep=args.keep,
        most=args.limit,
        filled=args.filled,
        say=note,
    )
    done = follow(steps, progress_text, note)
    assert done is not None
    if args.json:
        say(asdict(done), as_json=True)
    else:
        say(_ended(done))
    _warn_of_failed(done)
    if done.unreachable:
        note("NLM did not answer for all of it. The same command goes on from there.")
        return UNREACHABLE
    return NO_FULL_TEXT if done.failed or done.waits_for else 0


def _ended(done: MirrorProgress) -> str:
    """What a run did, in words."""
    read = (
        f"{counted(done.files, 'file')} read: {counted(done.records, 'record')}, "
        f"{counted(done.deletions, 'deletion')}, {counted(done.passages, 'passage')}, "
        f"in {span(done.seconds)}."
        if done.files
        else "Nothing new."
    )
    now = done.generation
    if now is None:
        return f"{read} Nothing is published yet."
    published = "Published" if done.changed else "Published before"
    return f"{read} {published}: {generation_text(now)}."


def _warn_of_failed(done: MirrorProgress) -> None:
    failed = list(done.failed.items())
    warn(f"{name}: {reason}" for name, reason in failed[:_SHOWN])
    if len(failed) > _SHOWN:
        note(f"… and {len(failed) - _SHOWN:,} more: {command_line('mirror status --json')}")
    if done.waits_for:
        note(f"Not published yet: it waits for {done.waits_for}.")
    if done.held_back:
        note(f"{counted(done.held_back, 'file')} wait for one before them that was not reached.")


def progress_text(progress: MirrorProgress) -> str:
    """How far it is, in one line."""
    if progress.step == "publishing":
        return "All read; putting the parts together …"
    seconds = progress.seconds or 1.0
    rates = f"{progress.records / seconds:,.0f} records/s, {progress.size / seconds / _MB:.1f} MB/s"
    left = "" if progress.eta_s is None else f", {span(progress.eta_s)} left"
    failed = f", {counted(len(progress.failed), 'error')}" if progress.failed else ""
    files = f"{progress.files:,} of {counted(progress.total, 'file')}"
    return f"{files}, {counted(progress.records, 'record')}: {rates}{failed}{left} …"


def _plan(args: argparse.Namespace, library: Library) -> int:
    mirror = mirror_of(args, library)
    plan = mirror.plan(keep=args.keep, workers=args.workers)
    citations = mirror.plan_citations()
    if args.json:
        say({**asdict(plan), "citations": asdict(citations)}, as_json=True)
    else:
        _say_lines(plan_lines(plan, citations))
    if plan.disk > plan.free:
        lacking = size_of(plan.disk - plan.free)
        note(f"warning: {lacking} of disk are lacking: another --folder, or --drop-sources")
    return 0


def _status(args: argparse.Namespace, library: Library) -> int:
    mirror = mirror_of(args, library)
    require_packages()
    if args.json:
        say(status_row(mirror), as_json=True)
    elif lines := status_lines(mirror):
        _say_lines(lines)
    else:
        plan, pubmed = command_line("mirror plan"), command_line("mirror pubmed")
        note(f"No mirror in {mirror.folder}. Make it: {plan}, then {pubmed}")
    return 0


def _say_lines(lines: Iterable[tuple[str, str]]) -> None:
    for name, text in lines:
        say(f"{name:<11}{text}")


def _verify(args: argparse.Namespace, library: Library) -> int:
    mirror = mirror_of(args, library)
    options = {name: getattr(args, name) for name in ("sample", "engine", "workers", "scheduler")}
    options["source"] = "citations" if args.citations else "pmc" if args.pmc else "pubmed"
    if args.citations and (args.file or args.sample):
        msg = "The table of citations is verified as a whole: each file is made of all the others."
        raise BadRequest(
            msg, f"Leave out files and --sample: {command_line('mirror verify --citations')}"
        )
    faulty = 0
    for one in mirror.verify(args.file, **options, say=note):
        faulty += bool(one.faults)
        text = "; ".join(one.faults) or "as its source says"
        say(
            asdict(one) if args.json else f"{'✗' if one.faults else '✓'} {one.name}: {text}",
            args.json,
        )
    if args.count:
        faulty += _compare_count(args, mirror)
    return NO_FULL_TEXT if faulty else 0


def _compare_count(args: argparse.Namespace, mirror: Mirror) -> int:
    """Say how many papers PubMed counts; 1 where that is not the number here."""
    here, at_pubmed = mirror.count_papers()
    difference = at_pubmed - here
    if args.json:
        say({"papers": here, "at_pubmed": at_pubmed, "difference": difference}, as_json=True)
    else:
        why = f" ({difference:+,})" if difference else ""
        say(f"{here:,} PMIDs are live here, {at_pubmed:,} at PubMed{why}")
    return int(bool(difference))


def _use(args: argparse.Namespace, library: Library) -> int:
    try:
        generation = mirror_of(args, library).use(args.generation)
    except NotFound as error:  # a wrong name is a wrong command
        raise BadRequest(error.message, error.hint) from None
    text = f"Published: {generation_text(generation)}."
    say(asdict(generation) if args.json else text, args.json)
    note(f"To go on to the newest: {command_line('mirror pubmed')}")
    return 0


def _index(args: argparse.Namespace, library: Library) -> int:
    done = follow(mirror_of(args, library).index(), _files_text, note)
    assert done is not None
    text = f"{counted(done.added, 'paper')} taken in, {done.dropped:,} rows dropped."
    say(asdict(done) if args.json else text, args.json)
    search = command_line("search 'words of a question' --source mirror")
    note(f"To search it: {search}")
    return 0


def _files_text(progress: Any) -> str:
    return f"{progress.files:,} of {progress.total:,} files …"


def _embed(args: argparse.Namespace, library: Library) -> int:
    options = {name: getattr(args, name) for name in ("engine", "workers", "scheduler")}
    steps = mirror_of(args, library).embed(**options, published=args.published, say=note)
    done = follow(steps, _files_text, note)
    assert done is not None
    text = f"{counted(done.made, 'vector')} made, {done.taken:,} taken from published ones."
    say(asdict(done) if args.json else text, args.json)
    return 0


def _citations(args: argparse.Namespace, library: Library) -> int:
    steps = mirror_of(args, library).update_citations(keep=args.keep_source)
    done = follow(steps, citations_text, note)
    assert done is not None
    table = done.table
    assert table is not None
    published = "Published" if done.changed else "Nothing new. Published before"
    text = (
        f"{published}: {table.name}, {counted(table.edges, 'citation')}; NIH's collection "
        f"{table.collection or '-'} says {table.nih_occ:,}, PubMed's records say {table.records:,}."
    )
    say(asdict(done) if args.json else text, args.json)
    warn(done.notes)
    note(f"To ask it, also offline: {command_line('review related PMID --kind cited-by')}")
    return UNREACHABLE if done.unreachable else NO_FULL_TEXT if done.notes else 0


def citations_text(progress: CitationsProgress) -> str:
    """How far it is, in one line."""
    if progress.step == "fetching":
        return f"NIH's collection: {progress.done / _MB:,.0f} of {progress.total / _MB:,.0f} MB …"
    if progress.step == "reading":
        return (
            f"NIH's collection: {progress.done / _MB:,.0f} of {progress.total / _MB:,.0f} MB read …"
        )
    if progress.step == "joining":
        return f"Putting it together: {progress.done} of {progress.total} files …"
    return "Looking for NIH's newest collection …"
