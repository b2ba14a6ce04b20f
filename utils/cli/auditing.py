"""Auditing the shelf, and overruling the judges, in the shell."""

from __future__ import annotations

import argparse
from collections import Counter
from typing import TYPE_CHECKING, Any

from ..errors import BadRequest
from ..system.plain_text import one_line
from .speaking import NO_FULL_TEXT, command, note, say, show_count

if TYPE_CHECKING:
    from ..curation.audit import AuditResult
    from ..library import Library
    from ..model.paper import Kind, StoredPaper

KINDS: dict[Kind, str] = {
    "full_text": "full text",
    "abstract": "abstract only",
    "record": "record only",
    "rejected": "rejected",
}


def add(commands: Any) -> None:
    """Register the commands."""
    audit = command(commands, "audit", _audit, "put every text before the judges again")
    audit.add_argument("paper", nargs="*", help="identifiers or file names; none: the whole shelf")
    audit.add_argument("--fix", action="store_true", help="take the consequences (deletes nothing)")
    keep = command(commands, "keep", _keep, "overrule the judges about one text")
    keep.add_argument("paper", help="any identifier, or a file name on the shelf")
    keep.add_argument("--as", dest="decided", choices=["full_text", "rejected"], default="")
    keep.add_argument("--because", default="", help="why; shown wherever the text is")
    keep.add_argument("--undo", action="store_true", help="let the judges have the word again")


def remind(library: Library) -> None:
    """Say once that an audit is due, after an update of the judges."""
    from ..curation.health_check import audit_due

    if due := library.shelf.verdicts.due():
        note(f"{audit_due(due)}: server.py audit")


def describe_text(stored: StoredPaper) -> str:
    """Why a text is rejected, or what a person decided about it."""
    if stored.by_hand:
        status = "rejected by hand" if stored.kind == "rejected" else "by hand"
    else:
        status = f"rejected, {stored.verdict.replace('_', ' ')}"
    return f"{status}: {one_line(stored.evidence)}"


def _audit(args: argparse.Namespace, library: Library) -> int:
    audit = library.audit(args.paper, fix=args.fix)
    total = len(audit.files)
    outcomes: Counter[str] = Counter()
    jobs: set[str] = set()
    show_count(0, total)
    for number, one in enumerate(audit, 1):
        outcomes[one.outcome] += 1
        jobs.update(one.jobs)
        if args.json:
            say(one.row(), as_json=True)
        elif one.outcome != "unchanged":
            say(_line(one))
        show_count(number, total)
    _note_summary(outcomes, sorted(jobs), args)
    return NO_FULL_TEXT if outcomes["not_read"] or (outcomes["changed"] and not args.fix) else 0


def _line(one: AuditResult) -> str:
    was, now = (word.replace("_", " ") for word in (one.was, one.now))
    change = {"changed": f"{was} -> {now}", "by_hand": f"{now}, by hand"}
    what = change.get(one.outcome, "could not be read")
    title = f" {one_line(one.title)[:80]}" if one.title else ""
    return f"{one.paper}: {what}{title}\n    {one_line(one.evidence)}\n    {one.file_path}"


def _note_summary(outcomes: Counter[str], jobs: list[str], args: argparse.Namespace) -> None:
    counts = ", ".join(f"{n:,} {name.replace('_', ' ')}" for name, n in outcomes.items())
    note(counts or "no text on the shelf")
    if outcomes["changed"] and not args.fix:
        only = "".join(f" '{paper}'" for paper in args.paper)
        note(f"Nothing was written. To take the consequences: server.py audit{only} --fix")
    for job in jobs:
        note(f"To ask for these texts anew: server.py harvest --job {job}")
    if args.fix and outcomes["changed"] and not jobs:
        note("To see what was rejected: server.py list --kind rejected")


def _keep(args: argparse.Namespace, library: Library) -> int:
    if args.undo == bool(args.decided):
        raise BadRequest("Give --as full_text, --as rejected, or --undo.", "See keep --help.")
    if args.undo:
        stored = library.undo_keep(args.paper)
    else:
        stored = library.keep(args.paper, args.decided, args.because)
    if args.json:
        names = ("kind", "verdict", "evidence")
        fields = {name: getattr(stored, name) for name in names}
        say({"paper": str(stored.paper.ids), **fields, "file_path": stored.path}, as_json=True)
    else:
        special = stored.by_hand or stored.kind == "rejected"
        description = describe_text(stored) if special else KINDS[stored.kind]
        say(f"{stored.paper.ids}: {description}\n  {stored.path}")
    return 0
