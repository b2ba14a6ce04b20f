"""Commands of the mirror: keep all of PubMed on your own disk, and verify the copy."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from ..command_line import command_line
from ..errors import BadRequest
from ..mirror import require_packages
from ..mirror.engines import ENGINES, EngineOptions
from .commands import CommandParser, Commands, command
from .mirror_status import describe_generation, format_plan, format_status, to_status_row
from .options import add_limit_option, parse_whole_number
from .output import (
    NO_FULL_TEXT_STATUS,
    UNREACHABLE_STATUS,
    format_bytes,
    format_duration,
    pluralize,
    print_answer,
    print_note,
    print_warnings,
)
from .progress import show_steps

if TYPE_CHECKING:
    from ..library import Library
    from ..mirror import Mirror
    from ..mirror.citations import CitationsProgress
    from ..mirror.updates import MirrorProgress

T = TypeVar("T")
_MB = 1e6
_MAX_FAILURES = 10  # files or articles


def add(commands: Commands) -> None:
    """Register the commands."""
    pubmed = command(commands, "mirror pubmed", _update_pubmed)
    add_engine_options(pubmed)
    _add_keep_option(pubmed)
    add_limit_option(pubmed, "files this time", 0, former_names=["--most"])
    pubmed.add_argument(
        "--from",
        dest="filled",
        metavar="FOLDER",
        help=(
            "a folder with copies of NLM's files (rsync, Aspera, EDirect), used instead of "
            "downloading them"
        ),
    )
    plan = command(commands, "mirror plan", _show_plan)
    plan.add_argument(
        "--workers",
        type=parse_whole_number,
        default=0,
        help="CPU cores that would read (default: all)",
    )
    plan.add_argument(
        "--measure",
        action="store_true",
        help="measure how fast this machine is, in about a minute, and plan by that",
    )
    _add_keep_option(plan)
    status = command(commands, "mirror status", _show_status)
    verify = command(commands, "mirror verify", _verify_files)
    _add_verify_options(verify)
    use = command(commands, "mirror use", _use_generation)
    use.add_argument("generation", help="the generation's name, as shown by `mirror status`")
    index = command(commands, "mirror index", _index_mirror)
    add_engine_options(index)
    embed = command(commands, "mirror embed", _embed_passages)
    add_engine_options(embed, usual="here")
    embed.add_argument(
        "--published",
        type=Path,
        metavar="FOLDER",
        help="a folder with NCBI's MedCPT vectors, to use instead of computing them",
    )
    citations = command(commands, "mirror citations", _update_citations)
    citations.add_argument(
        "--keep-source", action="store_true", help="keep NIH's ZIP file after it was read"
    )
    for verb in (pubmed, plan, status, verify, use, index, embed, citations):
        add_folder_option(verb)


def _add_verify_options(verify: CommandParser) -> None:
    """Add the options that choose which files are verified."""
    verify.add_argument(
        "file", nargs="*", help="files to verify: 26n0001 or pubmed26n0001.xml.gz; default: all"
    )
    verify.add_argument(
        "--sample",
        type=parse_whole_number,
        default=0,
        metavar="N",
        help="verify only N files, spread evenly",
    )
    verify.add_argument(
        "--count",
        action="store_true",
        help="compare the count of papers with PubMed's",
    )
    add_engine_options(verify)
    of = verify.add_mutually_exclusive_group()
    of.add_argument("--pmc", action="store_true", help="the mirror of PMC instead of PubMed")
    of.add_argument("--citations", action="store_true", help="the whole table of citations")


def _add_keep_option(parser: CommandParser) -> None:
    parser.add_argument(
        "--drop-sources",
        dest="keep",
        action="store_false",
        help="delete NLM's files once they are read; verifying fetches them again",
    )


def add_engine_options(parser: CommandParser, usual: str = "processes") -> None:
    """Add the options that choose who does the work."""
    parser.add_argument(
        "--engine",
        choices=ENGINES,
        default=usual,
        help="here (this process), processes (others on this machine), dask",
    )
    parser.add_argument(
        "--workers",
        type=parse_whole_number,
        default=0,
        help="number of parallel workers (default: one per core)",
    )
    parser.add_argument(
        "--scheduler",
        default="",
        metavar="ADDRESS",
        help="address of a running Dask scheduler (tcp://HOST:8786)",
    )


def add_folder_option(parser: CommandParser) -> None:
    """Add the option that names the mirror's folder."""
    parser.add_argument(
        "--folder", default="", help="the folder of the mirror (instead of PAPERS_MIRROR_DIR)"
    )


def get_engine_options(args: argparse.Namespace) -> EngineOptions:
    """Return the chosen engine, which prints its messages as notes."""
    return {
        "engine": args.engine,
        "workers": args.workers,
        "scheduler": args.scheduler,
        "say": print_note,
    }


def open_mirror(args: argparse.Namespace, library: Library) -> Mirror:
    """Return the mirror that the options name.

    Raises
    ------
    BadRequest
        A file is where its folder should be.
    """
    mirror = library.mirror.at(args.folder) if args.folder else library.mirror
    if mirror.folder.exists() and not mirror.folder.is_dir():
        msg = f"{mirror.folder} is a file, but the mirror needs a folder."
        raise BadRequest(msg, "Give another --folder, or set PAPERS_MIRROR_DIR to one.")
    return mirror


def finish_steps(steps: Iterable[T], describe: Callable[[T], str]) -> T:
    """Do some work, show its progress, and return its last step."""
    done = show_steps(steps, describe, print_note)
    assert done is not None
    return done


def print_result(args: argparse.Namespace, done: Any, text: str) -> None:
    """Print a result: the *text*, or with ``--json`` its fields."""
    print_answer(asdict(done) if args.json else text, args.json)


def describe_progress(progress: MirrorProgress, files: str = "file", rows: str = "record") -> str:
    """Return the progress of an update in one line."""
    if progress.step == "publishing":
        return f"All {files}s are read; combining the parts …"
    seconds = progress.seconds or 1.0
    rates = f"{progress.records / seconds:,.0f} {rows}s/s, {progress.size / seconds / 1e6:.1f} MB/s"
    left = "" if progress.eta_s is None else f", {format_duration(progress.eta_s)} left"
    failed = f", {pluralize(len(progress.failed), 'error')}" if progress.failed else ""
    done = f"{progress.files:,} of {pluralize(progress.total, files)}"
    return f"{done}, {pluralize(progress.records, rows)}: {rates}{failed}{left} …"


def describe_published(done: MirrorProgress) -> str:
    """Return what is published after an update, in words."""
    if done.generation is None:
        return "Nothing is published yet."
    published = "Published" if done.changed else "Published before"
    return f"{published}: {describe_generation(done.generation)}."


def report_failures(done: MirrorProgress, site: str) -> int:
    """Print what was not read, and return the exit status."""
    failed = list(done.failed.items())
    print_warnings(f"{name}: {reason}" for name, reason in failed[:_MAX_FAILURES])
    if len(failed) > _MAX_FAILURES:
        more = len(failed) - _MAX_FAILURES
        print_note(f"… and {more:,} more: {command_line('mirror status --json')}")
    if done.unreachable:
        print_note(f"{site} did not answer every request. Run the same command to continue.")
        return UNREACHABLE_STATUS
    return NO_FULL_TEXT_STATUS if done.failed else 0


def _update_pubmed(args: argparse.Namespace, library: Library) -> int:
    steps = open_mirror(args, library).update(
        keep=args.keep, most=args.limit, filled=args.filled, **get_engine_options(args)
    )
    done = finish_steps(steps, describe_progress)
    print_result(args, done, _describe_run(done))
    status = report_failures(done, "NLM")
    if done.waits_for:
        print_note(f"Not published yet: waiting for {done.waits_for}.")
    if done.held_back:
        print_note(
            f"{pluralize(done.held_back, 'file')} wait for an earlier file that was not downloaded."
        )
    return status or (NO_FULL_TEXT_STATUS if done.waits_for else 0)


def _describe_run(done: MirrorProgress) -> str:
    """Return the result of a run in words."""
    read = (
        f"{pluralize(done.files, 'file')} read: {pluralize(done.records, 'record')}, "
        f"{pluralize(done.deletions, 'deletion')}, {pluralize(done.passages, 'passage')}, "
        f"in {format_duration(done.seconds)}."
        if done.files
        else "Nothing new."
    )
    return f"{read} {describe_published(done)}"


def _show_plan(args: argparse.Namespace, library: Library) -> int:
    mirror = open_mirror(args, library)
    plan = mirror.plan(keep=args.keep, workers=args.workers, measure=args.measure)
    citations = mirror.plan_citations()
    facts = {**asdict(plan), "citations": asdict(citations)} if args.json else None
    print_lines(format_plan(plan, citations), facts)
    if plan.disk > plan.free:
        lacking = format_bytes(plan.disk - plan.free)
        print_note(
            f"warning: not enough disk space, {lacking} missing: use another --folder, or "
            "--drop-sources"
        )
    return 0


def _show_status(args: argparse.Namespace, library: Library) -> int:
    mirror = open_mirror(args, library)
    require_packages()
    if args.json:
        print_answer(to_status_row(mirror), as_json=True)
    elif lines := format_status(mirror):
        print_lines(lines)
    else:
        plan, pubmed = command_line("mirror plan"), command_line("mirror pubmed")
        print_note(f"No mirror in {mirror.folder}. Make it: {plan}, then {pubmed}")
    return 0


def print_lines(lines: Iterable[tuple[str, str]], facts: dict[str, Any] | None = None) -> None:
    """Print labelled lines; as JSON the *facts* instead, if there are any."""
    if facts is not None:
        print_answer(facts, as_json=True)
        return
    for name, text in lines:
        print_answer(f"{name:<11}{text}")


def _verify_files(args: argparse.Namespace, library: Library) -> int:
    mirror = open_mirror(args, library)
    if args.citations and (args.file or args.sample):
        msg = (
            "The table of citations can only be verified as a whole, because each file "
            "depends on all others."
        )
        raise BadRequest(
            msg, f"Leave out files and --sample: {command_line('mirror verify --citations')}"
        )
    source: Literal["pubmed", "pmc", "citations"] = "pmc" if args.pmc else "pubmed"
    options = get_engine_options(args)
    faulty = 0
    for one in mirror.verify(
        args.file, source="citations" if args.citations else source, sample=args.sample, **options
    ):
        faulty += bool(one.faults)
        mark, text = "✗" if one.faults else "✓", "; ".join(one.faults) or "as its source says"
        print_result(args, one, f"{mark} {one.name}: {text}")
    if args.count:
        faulty += _compare_count(args, mirror)
    return NO_FULL_TEXT_STATUS if faulty else 0


def _compare_count(args: argparse.Namespace, mirror: Mirror) -> int:
    """Print PubMed's count of papers; return 1 if it differs from the count here."""
    here, at_pubmed = mirror.count_papers()
    difference = at_pubmed - here
    if args.json:
        print_answer(
            {"papers": here, "at_pubmed": at_pubmed, "difference": difference}, as_json=True
        )
    else:
        why = f" ({difference:+,})" if difference else ""
        print_answer(f"{here:,} PMIDs are live here, {at_pubmed:,} at PubMed{why}")
    return int(bool(difference))


def _use_generation(args: argparse.Namespace, library: Library) -> int:
    generation = open_mirror(args, library).use(args.generation)
    print_result(args, generation, f"Published: {describe_generation(generation)}.")
    print_note(f"To update to the newest: {command_line(f'mirror {generation.source}')}")
    return 0


def _index_mirror(args: argparse.Namespace, library: Library) -> int:
    steps = open_mirror(args, library).index(**get_engine_options(args))
    done = finish_steps(steps, _describe_files)
    text = f"{pluralize(done.added, 'paper')} added, {done.dropped:,} rows removed."
    print_result(args, done, text)
    search = command_line("search 'words of a question' --source mirror")
    print_note(f"To search it: {search}")
    return 0


def _describe_files(progress: Any) -> str:
    return f"{progress.files:,} of {progress.total:,} files …"


def _embed_passages(args: argparse.Namespace, library: Library) -> int:
    mirror = open_mirror(args, library)
    steps = mirror.embed(published=args.published, **get_engine_options(args))
    done = finish_steps(steps, _describe_files)
    print_result(args, done, f"{pluralize(done.made, 'vector')} made, {done.taken:,} reused.")
    return 0


def _update_citations(args: argparse.Namespace, library: Library) -> int:
    steps = open_mirror(args, library).update_citations(keep=args.keep_source)
    done = finish_steps(steps, describe_citations_progress)
    table = done.table
    assert table is not None
    published = "Published" if done.changed else "Nothing new. Published before"
    text = (
        f"{published}: {table.name}, {pluralize(table.edges, 'citation')}; NIH's collection "
        f"{table.collection or '-'} says {table.nih_occ:,}, PubMed's records say {table.records:,}."
    )
    print_result(args, done, text)
    print_warnings(done.notes)
    print_note(f"To use it, also offline: {command_line('review related PMID --kind cited-by')}")
    return UNREACHABLE_STATUS if done.unreachable else NO_FULL_TEXT_STATUS if done.notes else 0


def describe_citations_progress(progress: CitationsProgress) -> str:
    """Return the progress of the citations table in one line."""
    if progress.step == "joining":
        return f"Combining: {progress.done} of {progress.total} files …"
    if progress.step not in ("fetching", "reading"):
        return "Looking for NIH's newest collection …"
    read = " read" if progress.step == "reading" else ""
    size = f"{progress.done / _MB:,.0f} of {progress.total / _MB:,.0f} MB{read}"
    return f"NIH's collection: {size} …"
