"""Shell commands that keep the shelf in order: audit, recheck, rebuild, keep and undo."""

from __future__ import annotations

import argparse
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from ..command_line import command_line
from ..errors import BadRequest
from ..system.plain_text import one_line
from .commands import Commands, command
from .options import add_keys_option, add_limit_option
from .output import NO_FULL_TEXT_STATUS, UNREACHABLE_STATUS, pluralize, print_answer, print_note
from .progress import show_count

if TYPE_CHECKING:
    from ..curation.audit import AuditResult
    from ..curation.recheck import Change

    Changes = dict[tuple[str, str], list[AuditResult]]
    from ..library import Library
    from ..model.paper import Kind, StoredPaper
    from ..settings import Settings

_MAX_NAMED_PAPERS = 20
_MAX_REASONS = 3  # of each change of verdict
_NUMBER_PATTERN = re.compile(r"\d[\d.,]*")
_STATES = ("problem", "warning", "ok")  # in the order they are shown
_STATE_MARKS = {"ok": "✓", "warning": "!", "problem": "✗"}
KIND_LABELS: dict[Kind, str] = {
    "full_text": "full text",
    "abstract": "abstract only",
    "record": "record only",
    "rejected": "rejected",
}


def add(commands: Commands) -> None:
    """Register the commands."""
    _add_audit(commands)
    _add_note(commands)
    command(commands, "shelf rebuild", _rebuild_catalogue)
    renewal = command(commands, "shelf reextract", _reextract_texts)
    renewal.add_argument("--all", action="store_true", help="also texts made by the current reader")
    recheck = command(commands, "shelf recheck", _recheck_papers)
    recheck.add_argument(
        "--no-crossref", dest="crossref", action="store_false", help="ask PubMed only"
    )
    recheck.add_argument(
        "--texts",
        action="store_true",
        help="instead look for full texts that appeared since, and fetch them",
    )
    recheck.add_argument(
        "--due",
        action="store_true",
        help="with --texts: only of papers that are due today, PAPERS_RECHECK_PER_DAY at most",
    )
    add_limit_option(recheck, "papers with --texts", 0, former_names=())
    export = command(commands, "export", _export_references)
    export.add_argument("--job", default="", help="of this harvest only")
    add_keys_option(export)
    export.add_argument(
        *("--tables",),
        nargs="?",
        type=Path,
        const=Path(),
        metavar="FILE",
        help="write every cell of all tables instead, to one long .csv or .parquet",
    )
    command(commands, "setup settings", _show_settings)
    doctor = command(commands, "setup doctor", _run_doctor)
    doctor.add_argument(
        "--hosts",
        nargs="?",
        const="",
        metavar="NAME",
        help="show what to write into the settings of each assistant, or of one, instead",
    )


def _add_audit(commands: Commands) -> None:
    audit = command(commands, "shelf audit", _audit_shelf)
    audit.add_argument(
        "paper", nargs="*", help="identifiers or file names; default: the whole shelf"
    )
    audit.add_argument(
        "--fix", action="store_true", help="apply the new verdicts (deletes nothing)"
    )
    keep = command(commands, "shelf keep", _keep_text)
    keep.add_argument("paper", help="an identifier, or a file name on the shelf")
    keep.add_argument("--as", dest="decided", choices=["full_text", "rejected"], default="")
    keep.add_argument("--because", default="", help="the reason, shown wherever the text is shown")
    keep.add_argument(
        "--undo", action="store_true", help="remove the decision, so that the judges decide again"
    )


def _add_note(commands: Commands) -> None:
    note = command(commands, "shelf note", _annotate_paper)
    note.add_argument("paper", help="an identifier, or a file name on the shelf")
    note.add_argument(
        "text", nargs="?", default=None, help="the new note ('' deletes it); default: as it is"
    )
    for name, words in (("--tag", "add this tag"), ("--untag", "remove this tag")):
        note.add_argument(name, action="append", default=[], metavar="TAG", help=words)


def _annotate_paper(args: argparse.Namespace, library: Library) -> int:
    kept = library.find(args.paper).paper
    gone = {one.strip().casefold() for one in args.untag}
    tags = [*(one for one in kept.tags if one.casefold() not in gone), *args.tag]
    kept = library.upkeep.annotate(args.paper, tags=tags, note=args.text).paper
    if args.json:
        row = {"paper": str(kept.ids), "tags": kept.tags, "note": kept.note}
        print_answer(row, as_json=True)
    else:
        tagged = ", ".join(kept.tags) or "no tags"
        print_answer(f"{kept.ids}: {tagged}\n{kept.note or 'no note'}")
    return 0


def _rebuild_catalogue(args: argparse.Namespace, library: Library) -> int:
    report = library.upkeep.rebuild()
    if args.json:
        print_answer(asdict(report), as_json=True)
        return 0
    print_answer(
        f"{report.full_text} full texts, {report.abstracts} abstracts, {report.records} records "
        f"and {report.rejected} rejected texts catalogued, {report.adopted} of them written by "
        "an older version."
    )
    for name, reason in report.ignored:
        print_note(f"left as they were: {name} ({reason})")
    return 0


def _reextract_texts(args: argparse.Namespace, library: Library) -> int:
    counts: dict[str, int] = {}
    for renewal in library.upkeep.reextract(everything=args.all):
        counts[renewal.outcome] = counts.get(renewal.outcome, 0) + 1
        if args.json:
            print_answer(renewal.row(), as_json=True)
        elif renewal.outcome != "unchanged":
            print_answer(f"{renewal.outcome} {renewal.paper}: {renewal.detail}")
    print_note(", ".join(f"{n} {outcome}" for outcome, n in counts.items()) or "nothing to rebuild")
    return 0


def _recheck_papers(args: argparse.Namespace, library: Library) -> int:
    if args.limit and not args.texts:
        raise BadRequest("--limit can only be used with --texts.", "Leave it out, or add --texts.")
    if args.due and (args.limit or not args.texts):
        msg = "--due can only be used with --texts, and not with --limit."
        raise BadRequest(msg, f"Write {command_line('shelf recheck --texts --due')}")
    changes: Iterator[Change] = (
        library.upkeep.recheck_texts(limit=args.limit, due=args.due)
        if args.texts
        else library.upkeep.recheck(crossref=args.crossref)
    )
    counts: dict[str, int] = {}
    for change in changes:
        counts[change.outcome] = counts.get(change.outcome, 0) + 1
        if args.json:
            print_answer(change.row(), as_json=True)
        elif change.outcome not in ("unchanged", "recorded"):
            print_answer(f"{change.outcome.replace('_', ' ')} {change.ids}: {change.detail}")
    summary = ", ".join(f"{n:,} {name.replace('_', ' ')}" for name, n in counts.items())
    nothing = "no text is missing" if args.texts else "the shelf is empty"
    nothing = "no paper is due" if args.due else nothing
    print_note(summary or nothing)
    if counts.get("recorded"):
        print_note(f"To compare files with the current records: {command_line('shelf audit')}")
    if counts.get("new_copy") or counts.get("postponed"):
        print_note(f"To get the new copies: {command_line('shelf recheck --texts')}")
    return UNREACHABLE_STATUS if set(counts) == {"could_not_tell"} else 0


def _export_references(args: argparse.Namespace, library: Library) -> int:
    if args.tables is not None:
        target = args.tables if args.tables.name else None
        path, tables, cells = library.texts.write_tables(args.job, target)
        row = {"file_path": str(path), "tables": tables, "cells": cells}
        print_answer(row if args.json else str(path), args.json)
        print_note(f"{pluralize(tables, 'table')}, {pluralize(cells, 'cell')}")
        return 0
    for path in library.upkeep.write_references(job_id=args.job, keys=args.keys):
        print_answer({"file_path": str(path)} if args.json else str(path), args.json)
    return 0


def _format_setting(value: object) -> str:
    """Return a value in the form that is typed; "" for None."""
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def _show_settings(args: argparse.Namespace, library: Library) -> int:
    for name, field in type(library.settings).model_fields.items():
        value = getattr(library.settings, name)
        shown = value if not hasattr(value, "get_secret_value") else "set (hidden)"
        shown = ", ".join(shown) if isinstance(shown, tuple) else _format_setting(shown)
        row = {"name": name.upper(), "value": shown, "meaning": field.description}
        print_answer(
            row if args.json else f"{name.upper():<30} {shown or '-':<46} {field.description}",
            args.json,
        )
    return 0


def _run_doctor(args: argparse.Namespace, library: Library) -> int:
    if args.hosts is not None:
        return _show_hosts(args, library.settings)
    checks = sorted(library.doctor(), key=lambda check: _STATES.index(check.state))
    if not args.json:
        counts = Counter(check.state for check in checks)
        numbers = (pluralize(counts["problem"], "problem"), pluralize(counts["warning"], "warning"))
        print_answer(f"{', '.join(numbers)}, {counts['ok']} ok")
    for check in checks:
        advice = f"\n    → {check.advice}" if check.advice else ""
        line = f"{_STATE_MARKS[check.state]} {check.what}: {check.detail}{advice}"
        print_answer(asdict(check) if args.json else line, args.json)
    problems = {check.what for check in checks if check.state == "problem" and check.required}
    return UNREACHABLE_STATUS if "network" in problems else NO_FULL_TEXT_STATUS if problems else 0


def _show_hosts(args: argparse.Namespace, settings: Settings) -> int:
    """Print each MCP host's settings; hosts with the same settings are shown together."""
    from ..curation.mcp_hosts import (
        build_host_settings,
        build_server_command,
        describe_missing_keys,
    )

    root = Path(__file__).resolve().parents[2]
    known = build_host_settings(settings, build_server_command(root))
    wanted = args.hosts.casefold()
    chosen = {host: text for host, text in known.items() if wanted in host.casefold()}
    if not chosen:
        msg = f"There are no settings for {args.hosts!r}."
        raise BadRequest(
            msg, f"Choose among {', '.join(host.partition(' (')[0] for host in known)}."
        )
    if args.json:
        for host, text in chosen.items():
            print_answer({"host": host, "settings": text}, as_json=True)
        return 0
    hosts: dict[str, list[str]] = {}
    for host, text in chosen.items():
        hosts.setdefault(text, []).append(host)
    print_answer("\n\n".join(f"{', '.join(names)}\n{text}" for text, names in hosts.items()))
    if sentence := describe_missing_keys(settings, root):
        print_answer(f"\n{sentence}")
    return 0


def note_due_audit(library: Library) -> None:
    """Note once that an audit is due after an update of the judges."""
    if due := library.shelf.verdicts.count_unjudged_texts():
        from ..shelf.verdicts import describe_unjudged_texts

        print_note(f"{describe_unjudged_texts(due)}: {command_line('shelf audit')}")


def describe_text(stored: StoredPaper) -> str:
    """Return the rejection, the doubts or the manual decision, with the evidence."""
    if stored.is_doubtful:
        status = "full text with doubts"
    elif stored.by_hand:
        status = "rejected by hand" if stored.kind == "rejected" else "by hand"
    else:
        status = f"rejected, {stored.verdict.replace('_', ' ')}"
    return f"{status}: {one_line(stored.evidence)}"


def _audit_shelf(args: argparse.Namespace, library: Library) -> int:
    audit = library.upkeep.audit(args.paper, fix=args.fix)
    total = len(audit.files)
    outcomes: Counter[str] = Counter()
    changes: Changes = defaultdict(list)
    jobs: set[str] = set()
    show_count(0, total)
    for number, one in enumerate(audit, 1):
        outcomes[one.outcome] += 1
        if one.outcome == "changed":
            changes[one.was, one.now].append(one)
        jobs.update(one.jobs)
        if args.json:
            print_answer(one.row(), as_json=True)
        elif one.outcome != "unchanged":
            print_answer(_format_result(one))
        show_count(number, total)
    for line in _format_changes(changes):
        print_note(line)
    _note_summary(outcomes, sorted(jobs), args)
    if args.fix and not jobs:
        _note_downloads(changes)
    due = outcomes["changed"] and not args.fix
    problems = outcomes["not_read"] + outcomes["lost"] + outcomes["pdf_missing"]
    return NO_FULL_TEXT_STATUS if problems or due else 0


def _format_result(one: AuditResult) -> str:
    was, now = (word.replace("_", " ") for word in (one.was, one.now))
    change = {"changed": f"{was} -> {now}", "by_hand": f"{now}, by hand"}
    change |= {"lost": "lost", "restored": "restored", "pdf_missing": "its PDF is missing"}
    what = change.get(one.outcome, "could not be read")
    title = f" {one_line(one.title)[:80]}" if one.title else ""
    return f"{one.paper}: {what}{title}\n    {one_line(one.evidence)}\n    {one.file_path}"


def _format_changes(changes: Changes) -> Iterator[str]:
    """Yield a table of verdict changes: number of texts, reasons, and advice."""
    from ..model.verdicts import MEANINGS

    hints = {str(name): meaning.hint for name, meaning in MEANINGS.items()}
    if changes:
        yield f"{'was':<18} {'now':<18} {'texts':>6}  what to do"
    for (was, now), results in sorted(changes.items()):
        advice = hints.get(now, "Nothing to do: the judges accept the text.")
        number = len(results)
        yield f"{was.replace('_', ' '):<18} {now.replace('_', ' '):<18} {number:>6,}  {advice}"
        yield from (f"{count:>44,}  {reason}" for reason, count in _find_common_reasons(results))


def _find_common_reasons(results: Sequence[AuditResult]) -> Iterator[tuple[str, int]]:
    """Yield the most frequent reasons, each with an example's wording and its count."""
    counts: Counter[str] = Counter()
    examples: dict[str, str] = {}
    for one in results:
        reason = one_line(one.evidence.partition("; ")[0])
        counts[kind := _NUMBER_PATTERN.sub("0", reason)] += 1
        examples.setdefault(kind, reason)
    yield from ((examples[kind], count) for kind, count in counts.most_common(_MAX_REASONS))


def _note_downloads(changes: Changes) -> None:
    """Print how to request papers whose text was rejected and that no harvest includes."""
    lost = [one for (_, now), results in changes.items() for one in results
            if now not in ("full_text", "doubtful")]  # fmt: skip
    if lost:
        papers = " ".join(f"'{one.paper}'" for one in lost[:_MAX_NAMED_PAPERS])
        more = (
            f" (and {len(lost) - _MAX_NAMED_PAPERS:,} more)"
            if len(lost) > _MAX_NAMED_PAPERS
            else ""
        )
        print_note(f"To try other copies: {command_line(f'download {papers}{more}')}")


def _note_summary(outcomes: Counter[str], jobs: list[str], args: argparse.Namespace) -> None:
    counts = ", ".join(f"{n:,} {name.replace('_', ' ')}" for name, n in outcomes.items())
    print_note(counts or "no text on the shelf")
    if (outcomes["changed"] or outcomes["lost"]) and not args.fix:
        only = "".join(f" '{paper}'" for paper in args.paper)
        audit = command_line(f"shelf audit{only} --fix")
        print_note(f"Nothing was changed. To apply the new verdicts: {audit}")
    for job in jobs:
        print_note(f"To download these texts again: {command_line(f'harvest --job {job}')}")
    if args.fix and outcomes["changed"] and not jobs:
        print_note(f"To see what was rejected: {command_line('list --kind rejected')}")


def _keep_text(args: argparse.Namespace, library: Library) -> int:
    if args.undo == bool(args.decided):
        raise BadRequest(
            "Give --as full_text, --as rejected, or --undo.",
            f"See {command_line('shelf keep --help')}",
        )
    if args.undo:
        stored = library.upkeep.undo_keep(args.paper)
    else:
        stored = library.upkeep.keep(args.paper, args.decided, args.because)
    if args.json:
        names = ("kind", "verdict", "evidence")
        fields = {name: getattr(stored, name) for name in names}
        print_answer(
            {"paper": str(stored.paper.ids), **fields, "file_path": stored.path}, as_json=True
        )
    else:
        description = describe_text(stored) if stored.shows_evidence else KIND_LABELS[stored.kind]
        print_answer(f"{stored.paper.ids}: {description}\n  {stored.path}")
    return 0
