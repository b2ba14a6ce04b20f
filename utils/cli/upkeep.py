"""Keeping the shelf in order, in the shell."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from ..settings import Settings
from .speaking import NO_FULL_TEXT, UNREACHABLE, command, note, say

if TYPE_CHECKING:
    from ..library import Library

_NAMED = 20


def add(commands: Any) -> None:
    """Register the commands."""
    command(commands, "rebuild", _rebuild, "make the catalogue again from the files")
    renewal = command(commands, "reextract", _reextract, "make texts again from the kept bytes")
    renewal.add_argument("--all", action="store_true", help="also where the reader is the same")
    recheck = command(commands, "recheck", _recheck, "ask for retractions, corrections, new copies")
    recheck.add_argument("--no-crossref", dest="crossref", action="store_false")
    export = command(commands, "export", _export, "write references for Zotero, EndNote, LaTeX")
    export.add_argument("--job", default="", help="of this harvest only")
    command(commands, "settings", _settings, "show every setting and its value")
    command(commands, "doctor", _doctor, "check keys, folder and services; show host snippets")


def _rebuild(args: argparse.Namespace, library: Library) -> int:
    report = library.rebuild()
    if args.json:
        say(asdict(report), as_json=True)
        return 0
    say(
        f"{report.full_text} full texts, {report.abstracts} abstracts, {report.records} records "
        f"and {report.rejected} rejected texts catalogued, "
        f"{report.adopted} of them from an older program."
    )
    for name, reason in report.ignored:
        note(f"left alone: {name} ({reason})")
    return 0


def _reextract(args: argparse.Namespace, library: Library) -> int:
    counts: dict[str, int] = {}
    for renewal in library.reextract(everything=args.all):
        counts[renewal.outcome] = counts.get(renewal.outcome, 0) + 1
        if args.json:
            say(renewal.row(), as_json=True)
        elif renewal.outcome != "unchanged":
            say(f"{renewal.outcome} {renewal.paper}: {renewal.detail}")
    note(", ".join(f"{n} {outcome}" for outcome, n in counts.items()) or "nothing to renew")
    return 0


def _recheck(args: argparse.Namespace, library: Library) -> int:
    counts: dict[str, int] = {}
    new_copies: list[str] = []
    for change in library.recheck(crossref=args.crossref):
        counts[change.outcome] = counts.get(change.outcome, 0) + 1
        if change.outcome == "new_copy":
            new_copies.append(change.ids.pmid or change.ids.pmcid)
        if args.json:
            say(change.row(), as_json=True)
        elif change.outcome not in ("unchanged", "recorded"):
            say(f"{change.outcome.replace('_', ' ')} {change.ids}: {change.detail}")
    summary = ", ".join(f"{n:,} {name.replace('_', ' ')}" for name, n in counts.items())
    note(summary or "the shelf is empty")
    if counts.get("recorded"):
        note("To hold files against the records that are known now: server.py audit")
    if new_copies:
        more = " …" * (len(new_copies) > _NAMED)
        note(f"To get the new copies: server.py harvest {' '.join(new_copies[:_NAMED])}{more}")
    return UNREACHABLE if set(counts) == {"could_not_tell"} else 0


def _export(args: argparse.Namespace, library: Library) -> int:
    if args.job:
        harvest = library.harvest(job_id=args.job)
        harvest.report()
        paths = [harvest.folder / name for name in ("references.ris", "references.bib")]
    else:
        paths = library.write_references()
    for path in paths:
        say({"file_path": str(path)} if args.json else str(path), args.json)
    return 0


def _settings(args: argparse.Namespace, library: Library) -> int:
    for name, field in Settings.model_fields.items():
        value = getattr(library.settings, name)
        shown = value if not hasattr(value, "get_secret_value") else "set (hidden)"
        shown = ", ".join(shown) if isinstance(shown, tuple) else str(shown or "")
        row = {"name": name.upper(), "value": shown, "meaning": field.description}
        say(
            row if args.json else f"{name.upper():<30} {shown or '-':<46} {field.description}",
            args.json,
        )
    return 0


def _doctor(args: argparse.Namespace, library: Library) -> int:
    from pathlib import Path

    from ..curation.health_check import client_snippets

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
        say(
            row if args.json else f"{marks[check.state]} {check.what}: {check.detail}{advice}",
            args.json,
        )
    problems = {check.what for check in checks if check.state == "problem"}
    if "network" in problems:
        return UNREACHABLE  # what to paste where would only push it out of sight
    if not args.json:
        root = Path(__file__).resolve().parents[2]
        for host, snippet in client_snippets(library.settings, root).items():
            say(f"\n{host}\n{snippet}")
    return NO_FULL_TEXT if problems else 0
