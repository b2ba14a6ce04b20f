"""Change the form of all texts on the shelf: text files into Markdown notes, or back.

1. Each text is converted (`..shelf.conversion`), one after the other. A text that would not come
   back as it is keeps its form, and the result says why.
2. The harvests learn the new names of the files.
3. Notes that cite other papers on the shelf get links to them, once all names are final.

Every step can be repeated: the same command goes on where an earlier one was interrupted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from ..citations.keys import CitationKeyAssigner
from ..download.ladder import Ladder
from ..errors import BadRequest, NotFound
from ..harvest.jobs import Ledgers
from ..model.paper import Kind
from ..shelf import Shelf
from ..shelf.conversion import Form
from ..shelf.paper_file import NOTE, list_form_names

Outcome = Literal["converted", "convertible", "kept"]


@dataclass(frozen=True, slots=True)
class FormChange:
    """The change of one text's form.

    Parameters
    ----------
    file : str
        The name of the file before.
    outcome : str
        ``converted``; ``convertible`` (of a dry run); ``kept``, for the given ``reason``.
    """

    file: str
    outcome: Outcome
    reason: str = ""

    def row(self) -> dict[str, Any]:
        """Return the fields as a JSON-serialisable dict."""
        return asdict(self)


def convert_texts(ladder: Ladder, form: Form, *, dry_run: bool = False) -> Iterator[FormChange]:
    """Convert every text on the shelf that has another form.

    Parameters
    ----------
    ladder : Ladder
        Of the shelf.
    form : str
        ``txt`` or ``md``.
    dry_run : bool, optional
        Say what would be done, and write nothing.

    Yields
    ------
    FormChange
        One for each text that has another form.

    Raises
    ------
    BadRequest
        There is no such form.
    StoreFailed
        The disk refused; the texts converted so far stay converted.
    """
    if form not in get_args(Form):
        raise BadRequest(f"{form!r} is not a form of texts.", "Give txt or md.")
    return _iterate_conversions(ladder, form, dry_run)


def _iterate_conversions(ladder: Ladder, form: Form, dry_run: bool) -> Iterator[FormChange]:
    shelf = ladder.shelf
    for file in shelf.verdicts.list_text_files(*get_args(Kind)):
        if Path(file).suffix == f".{form}":
            continue
        try:
            reason = shelf.convert_text(file, form, dry_run=dry_run)
        except NotFound as gone:
            reason = gone.message
        done: Outcome = "convertible" if dry_run else "converted"
        yield FormChange(file, "kept" if reason else done, reason)
    if not dry_run:
        _rename_files_in_harvests(ladder)
        refresh_notes(shelf)


def refresh_notes(shelf: Shelf) -> int:
    """Update keys, tags, PDF links and links of all notes; return the number of changed notes.

    No two notes get the same citation key; the oldest paper gets the key without a suffix.
    """
    changed, keys = 0, CitationKeyAssigner(shelf.keys)
    for file in shelf.verdicts.list_text_files(*get_args(Kind)):
        stored = shelf.find_paper_by_file(file) if file.endswith(NOTE) else None
        if stored is not None:
            changed += shelf.refresh_note(file, keys.assign_key(stored.paper))
    return changed


def _rename_files_in_harvests(ladder: Ladder) -> None:
    """Record the new names of converted files in the harvests that brought them."""
    ledgers = Ledgers(ladder)
    known = frozenset(ladder.shelf.verdicts.list_text_files(*get_args(Kind)))
    try:
        for ledger in ledgers.all:
            gone = {file for file in ledger.list_paper_files().values() if file not in known}
            pairs = [(old, new) for old in gone for new in list_form_names(old) if new in known]
            if pairs and ledger.rename_files(pairs):
                ledgers.mark_changed(ledger)
    finally:
        ledgers.close()
