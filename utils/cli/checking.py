"""``check`` in the shell: a manuscript's references, and the elements of its statements.

Exit status, for the CI of a manuscript's repository: 0 all fine, 1 something was found, 3 something
could not be told (2: the manuscript cannot be read). What ``MANUSCRIPT.accepted`` names does not
count.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ..system.plain_text import one_line, shorten, to_escaped_json
from ..system.safe_files import write_file
from .commands import Commands, command
from .options import add_output_option, require_output
from .output import pluralize, print_answer, print_note, print_warnings

if TYPE_CHECKING:
    from ..library import Library
    from ..manuscript.checking import ManuscriptCheck
    from ..manuscript.references import CheckedReference
    from ..manuscript.statements import CheckedClaim, Statement

_STATUS_LABELS = {
    "differs": "differs from its record",
    "wrong_paper": "identifier of another paper",
    "not_found": "not found",
    "unsure": "several papers match",
    "could_not_tell": "could not be checked",
}
_WARNING_LABELS = {
    "retracted": "RETRACTED",
    "retraction_notice": "notice of a retraction",
    "expression_of_concern": "expression of concern",
    "corrected": "was corrected",
    "preprint": "preprint of a published article",
}
_OUTCOME_LABELS = {
    "same": "the same",
    "turned": "turned",
    "altered": "altered",
    "absent": "not in the cited text",
    "elsewhere": "elsewhere in the cited text only",
    "no_full_text": "no full text here",
    "uncited": "with no citation of its own",
    "not_compared": "not compared",
}
_SENTENCE_MAX_CHARS, _PASSAGE_MAX_CHARS = 160, 200


def add(commands: Commands) -> None:
    """Register the command."""
    parser = command(commands, "check", _check_manuscript)
    parser.add_argument("manuscript", type=Path, help="DOCX, Markdown, LaTeX, PDF or text")
    parser.add_argument(
        "--references",
        metavar="FILE",
        action="append",
        default=[],
        help="an additional list of references, also zotero:COLLECTION; can be repeated",
    )
    parser.add_argument("--fetch", action="store_true", help="download the cited papers first")
    parser.add_argument("--all", action="store_true", help="also show what is correct")
    add_output_option(parser, "write .html or .json", kind=Path, former_names=["--report"])


def _check_manuscript(args: argparse.Namespace, library: Library) -> int:
    if args.output:
        require_output(args.output, (".html", ".json"))
    checked = library.check(args.manuscript, references=args.references, fetch=args.fetch)
    if args.output:
        _write_report(args.output, checked)
    if args.json:
        print_answer(checked.row(), as_json=True)
    else:
        for line in _to_lines(checked, show_correct=args.all):
            print_answer(line)
    print_warnings(checked.warnings)
    return checked.status


def _write_report(path: Path, checked: ManuscriptCheck) -> None:
    from ..manuscript.page import render_check_page

    is_page = path.suffix == ".html"
    made = render_check_page(checked.row()) if is_page else f"{to_escaped_json(checked.row())}\n"
    write_file(path, made.encode())
    print_note(f"Written: {path}")


def _to_lines(checked: ManuscriptCheck, *, show_correct: bool) -> Iterator[str]:
    for mark, lines in _iterate_findings(checked, show_correct=show_correct):
        reason = checked.find_acceptance_reason(mark)
        first, *others = lines
        if not reason or show_correct:
            yield f"{first} [{mark}]" + (f" ACCEPTED: {one_line(reason)}" if reason else "")
            yield from others
    yield _summarize_check(checked)
    if checked.statements:
        yield checked.legend
    unread = sum(one.outcome == "no_full_text" for one in checked.claims)
    if uncited := checked.outcomes["uncited"]:
        many = pluralize(uncited, "statement")
        yield f"Not cited, and not found in the papers cited nearby: {many} (--all)"
    if unread:
        first = ", ".join(checked.missing[:3])
        many = pluralize(unread, "statement")
        yield f"{many} need full texts that are not on the shelf ({first} …): add --fetch"


def _iterate_findings(
    checked: ManuscriptCheck, *, show_correct: bool
) -> Iterator[tuple[str, list[str]]]:
    """Yield each finding to show with its fingerprint."""
    for one in checked.references:
        yield from _describe_reference(one, show_correct=show_correct)
    for missing in checked.unlisted:
        line = f"! {missing.place}: {one_line(missing.key)} is cited, but in no list of references"
        yield missing.fingerprint, [line]
    for statement in checked.statements:
        for at, claim in enumerate(statement.elements):
            if show_correct or claim.is_different:
                head = [_describe_statement(statement)] if show_correct and not at else []
                yield claim.fingerprint, [*head, *_describe_claim(claim)]


def _describe_reference(
    one: CheckedReference, *, show_correct: bool
) -> Iterator[tuple[str, list[str]]]:
    name = f"[{one_line(one.reference.key)}]"
    where = str(one.reference.place) or "the text"
    for kind, said in one.warnings:
        line = f"! {where}: {name} {_WARNING_LABELS[kind]}: {one_line(said)}"
        yield one.build_warning_fingerprint(kind), [line]
    if one.status == "verified":
        if show_correct:
            yield one.fingerprint, [f"✓ {where}: {name} is {one.ids}"]
        return
    sign = "?" if one.status in ("unsure", "could_not_tell") else "!"
    told = "; ".join(filter(None, (*one.differences, one.said)))
    meant = f" Its words name {one.meant}." if one.meant else ""
    line = f"{sign} {where}: {name} {_STATUS_LABELS[one.status]}: {one_line(told)}{meant}"
    yield one.fingerprint, [line]


def _describe_statement(statement: Statement) -> str:
    """Return the summary of a sentence's elements in one line."""
    told = statement.result.replace("_", " ")
    unread = f"; not read: {', '.join(statement.unread)}" if statement.unread else ""
    words = shorten(one_line(statement.sentence), _SENTENCE_MAX_CHARS)
    return f"{statement.symbol} {statement.place}: {told}{unread}: {words}"


def _describe_claim(claim: CheckedClaim) -> Iterator[str]:
    sign = "!" if claim.is_different else "=" if claim.outcome == "same" else "?"
    what = f" “{shorten(one_line(claim.what), 80)}”" if claim.what else ""
    yield f"{sign} {claim.place}: {claim.kind}{what} {_OUTCOME_LABELS[claim.outcome]}: {claim.said}"
    if claim.outcome == "same":
        return
    yield f"    {shorten(one_line(claim.sentence), _SENTENCE_MAX_CHARS)}"
    if claim.passage:
        yield f"    nearest, {claim.handle}: {shorten(one_line(claim.passage), _PASSAGE_MAX_CHARS)}"


def _summarize_check(checked: ManuscriptCheck) -> str:
    many = pluralize(len(checked.references), "reference")
    statements = pluralize(len(checked.statements), "statement")
    results = f" ({_list_counts(checked.results)})" if checked.results else ""
    elements = _list_counts(checked.outcomes) or "nothing to check"
    return f"{many}, {statements}{results}; elements: {elements}."


def _list_counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in counts.items())
