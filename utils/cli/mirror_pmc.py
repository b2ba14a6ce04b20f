"""The command ``mirror pmc``: keep PMC's open articles, all or a choice, on your own disk."""

from __future__ import annotations

import argparse
import shlex
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any

from ..command_line import command_line
from ..errors import BadRequest
from ..mirror.pmc import Choice
from .commands import Commands, command
from .mirror import (
    add_engine_options,
    add_folder_option,
    describe_progress,
    describe_published,
    finish_steps,
    get_engine_options,
    open_mirror,
    print_lines,
    print_result,
    report_failures,
)
from .mirror_status import format_effort
from .options import add_limit_option
from .output import (
    format_bytes,
    format_duration,
    pluralize,
    print_note,
    read_arguments,
)

if TYPE_CHECKING:
    from ..library import Library
    from ..mirror import Mirror
    from ..mirror.plan import PmcPlan
    from ..mirror.updates import MirrorProgress

_SHELF_HINT_MAX_ARTICLES = 1_000
"""Articles below which a hint names the shelf: a folder to look through, minutes of reading."""


def add(commands: Commands) -> None:
    """Register ``mirror pmc``."""
    pmc = command(commands, "mirror pmc", _update_pmc)
    pmc.add_argument(
        "--license", action="append", default=[], metavar="CODE",
        help='only this license ("CC BY"); can be repeated',
    )  # fmt: skip
    pmc.add_argument(
        "--year", default="", metavar="2020[-2024]", help="only these years of publication"
    )
    pmc.add_argument(
        "--journal", action="append", default=[], metavar="NAME",
        help='only this journal, as NLM abbreviates it ("Nat Commun"); can be repeated',
    )  # fmt: skip
    pmc.add_argument(
        "--where", default="", metavar="LIST|QUERY",
        help=(
            "only these papers: a list in any form that `harvest` reads, - for stdin, or a "
            "PubMed query"
        ),
    )  # fmt: skip
    pmc.add_argument(
        "--all", action="store_true", help="all articles, replacing any earlier selection"
    )
    pmc.add_argument(
        "--retry", action="store_true", help="try again the articles that were set aside"
    )
    pmc.add_argument(
        "--plan", action="store_true", help="show what it would take; no article is downloaded"
    )
    pmc.add_argument(
        "--from", dest="filled", metavar="FOLDER",
        help="a copy of PMC's bucket (aws s3 sync); only objects that differ are downloaded",
    )  # fmt: skip
    add_limit_option(pmc, "new articles this time", 0, former_names=["--most"])
    pmc.add_argument(
        "--to", choices=("parts", "shelf"), default="parts",
        help="shelf: also put the selected articles on the shelf, as a harvest",
    )  # fmt: skip
    add_engine_options(pmc)
    add_folder_option(pmc)


def _update_pmc(args: argparse.Namespace, library: Library) -> int:
    from .harvests import finish_harvest

    mirror, choice = open_mirror(args, library), parse_choice(args, library)
    if args.plan:
        plan = mirror.plan_pmc(choice, retry=args.retry, workers=args.workers)
        print_lines(format_pmc_plan(plan), asdict(plan) if args.json else None)
        return 0
    _require_choice(mirror, choice)
    to_shelf = args.to == "shelf"
    if to_shelf:
        library.settings.require_email("NCBI")  # a harvest needs it; said before hours of work
        if choice is None and library.settings.papers_offline:
            print_note("Offline: the mirror is not updated; its published articles are used.")
            return finish_harvest(library.harvests.from_mirror(mirror), args.json)
    steps = mirror.update_pmc(
        choice, retry=args.retry, most=args.limit, filled=args.filled, **get_engine_options(args)
    )
    done = finish_steps(steps, partial(describe_progress, files="bundle", rows="article"))
    if not (to_shelf and args.json):  # one answer, that of the harvest
        print_result(args, done, _describe_run(done))
    status = report_failures(done, "PMC")
    if done.generation is None:
        return status
    if to_shelf:
        return max(status, finish_harvest(library.harvests.from_mirror(mirror), args.json))
    if 0 < done.generation.papers < _SHELF_HINT_MAX_ARTICLES:
        folder = f" --folder {shlex.quote(args.folder)}" if args.folder else ""
        print_note(f"To put them onto the shelf: {command_line('mirror pmc --to shelf')}" + folder)
    return status


def _require_choice(mirror: Mirror, choice: Choice | None) -> None:
    """Raise an error if no articles are chosen, to prevent fetching millions by accident.

    Raises
    ------
    BadRequest
        Nothing is chosen, now or before.
    """
    from ..mirror.objects import ObjectTable

    if choice is None and not ObjectTable(mirror.folder).get_fact("choice"):
        msg = "No selection of PMC's millions of articles was given."
        raise BadRequest(
            msg, "Give --where, --license, --year, --journal or --all. Try it with --plan first."
        )


def parse_choice(args: argparse.Namespace, library: Library) -> Choice | None:
    """Return the chosen articles; None if no option chooses any."""
    if not (args.license or args.year or args.journal or args.where or args.all):
        return None
    if not all(one.strip() for one in (*args.license, *args.journal)):
        raise BadRequest(
            "An empty name of a license or journal selects no articles.",
            "Give the name of the license or journal.",
        )
    return Choice(
        licenses=tuple(args.license),
        years=_parse_years(args.year),
        journals=tuple(args.journal),
        pmcids=_find_pmcids(args.where, library) if args.where else None,
    )


def _parse_years(text: str) -> tuple[int, int]:
    first, _, last = text.partition("-")
    if text and not (first.isdecimal() and (last or first).isdecimal()):
        raise BadRequest(f"{text!r} is not a year.", "Write 2024, or 2020-2024.")
    if text and int(first) > int(last or first):
        msg = f"{text} ends before it begins."
        raise BadRequest(msg, f"Write {last}-{first}.")
    return (int(first), int(last or first)) if text else (0, 0)


def _find_pmcids(where: str, library: Library) -> tuple[int, ...]:
    """Return the PMCIDs of a list's or query's papers; papers without one are not in PMC."""
    from ..model.paper import Paper

    wanted = read_arguments([where])
    asked = [entry.ids for entry in wanted.entries if entry.ids]
    asked += _search_ids(wanted.query, library) if wanted.query else []
    unnamed = [ids for ids in asked if not ids.pmcid]
    found = [ids for ids in asked if ids.pmcid]
    found += [
        record.ids for _, record in library.references.records(unnamed) if isinstance(record, Paper)
    ]
    digits = {ids.pmcid.removeprefix("PMC") for ids in found if ids.pmcid}
    print_note(f"{pluralize(len(digits), 'paper')} of {len(asked):,} are in PMC.")
    if not digits:
        raise BadRequest("None of these papers is in PMC.", "Give another --where.")
    return tuple(sorted(int(one) for one in digits if one.isdecimal()))


def _search_ids(query: str, library: Library) -> list[Any]:
    from ..model.identifiers import Ids
    from ..search.pubmed.search import find_every_pmid
    from ..sources import Query

    pages = find_every_pmid(Query(query), library.web).pages
    return [Ids(pmid=pmid) for page in pages for pmid in page]


def _describe_run(done: MirrorProgress) -> str:
    """Return the result of a run in words."""
    read = (
        f"{pluralize(done.records, 'full text')}, {pluralize(done.deletions, 'withdrawn one')} "
        f"and {pluralize(done.passages, 'passage')} read in {format_duration(done.seconds)}."
        if done.files
        else "Nothing new."
    )
    return f"{read} {describe_published(done)}"


def format_pmc_plan(plan: PmcPlan) -> list[tuple[str, str]]:
    """Return a plan as labelled lines."""
    hours = format_duration(plan.request_hours * 3600)
    requests = f"{plan.requests:,} requests, {hours} at PMC's rate limit"
    again = pluralize(plan.again, "text")
    return [
        ("listed", f"{pluralize(plan.listed, 'article')}, {plan.gone:,} gone since"),
        ("to look at", f"{pluralize(plan.new, 'new version')}: {requests}"),
        ("to fetch", f"at most {format_bytes(plan.size)}, if all of them match the selection"),
        ("to judge", f"{again} again, because an older version read or judged them"),
        *format_effort(plan),
    ]
