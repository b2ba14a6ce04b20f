"""Change the form of a text on the shelf: from a text file to a note, or back.

The new file is written beside the old one, the catalogue changes to it, and then the old one is
deleted. A process that is killed in between leaves one of both, or both, and the next one finishes
or undoes the change (`.reconciliation`).
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Literal

from ..errors import NotFound
from ..system import safe_files
from . import paper_file
from .markdown_note import NoteFacts, has_user_additions, note_to_text, text_to_note
from .record import ShelfRecord, compute_sha256
from .shelf_writer import FilingPlan, ShelfWriter

Form = Literal["txt", "md"]
FOREIGN = "another program wrote it: it has no header that could become front matter"
EDITED = "its header was edited by hand, and would not come back as it is"
ADDED = "you added properties, tags or notes to it, which a text file has no place for"
TAKEN = "another file has the new name"


class TextConversion:
    """Converts one text from a text file to a Markdown note, or back.

    Parameters
    ----------
    writer : ShelfWriter
    file : str
        The name of the text's file.
    form : str
        The form that the text shall have.
    """

    def __init__(self, writer: ShelfWriter, file: str, form: Form) -> None:
        self._writer = writer
        self._file = file
        self._path = writer.folder / file
        self._target = writer.folder / f"{paper_file.strip_ending(file)}.{form}"

    def explain_obstacle(self) -> str:
        """Return why the text cannot be converted; "" if it can."""
        if self._path == self._target:
            return "it has that form already"
        with safe_files.disk_errors(self._path, "read"):
            data = self._path.read_bytes()
            before = self._target.read_bytes() if self._target.exists() else None
        text = data.decode("utf-8", "replace")
        if self._path.suffix == paper_file.NOTE:
            made = note_to_text(text)
            if made is None or has_user_additions(text):
                return ADDED if made else EDITED
            return TAKEN if before not in (None, made.encode("utf-8", "replace")) else ""
        if paper_file.parse_paper_file(text) is None:
            return FOREIGN
        if (note_to_text(text_to_note(text, NoteFacts())) or "").encode() != data:
            return EDITED
        same = before is None or note_to_text(before.decode("utf-8", "replace")) == text
        return "" if same else TAKEN

    def convert_text(self) -> ShelfRecord:
        """Write the new file, update the catalogue, and delete the old file.

        Raises
        ------
        NotFound
            The text was deleted or changed meanwhile.
        StoreFailed
            The disk refused.
        """
        return self._writer.run_announced_change(self._plan_conversion, self._replace_file)

    def _plan_conversion(self) -> FilingPlan:
        writer = self._writer
        entry = writer.catalogue.find_entry_by_file(self._file)
        if entry is None or safe_files.read_file_stamp(self._path) != (entry.size, entry.mtime_ns):
            msg = f"{self._file} was deleted or changed meanwhile."
            raise NotFound(msg, "Convert the shelf again.")
        old = ShelfRecord.from_json(entry.record, writer.folder)
        stored = replace(old.stored, path=str(self._target))
        return FilingPlan(replace(old, stored=stored), writes=True, same=((entry, old),))

    def _replace_file(self, plan: FilingPlan) -> ShelfRecord:
        writer = self._writer
        [(_, old)] = plan.same
        data = writer.read_bytes(old)
        if compute_sha256(data) != old.stored.sha256:
            raise NotFound(f"{self._file} was changed meanwhile.", "Convert the shelf again.")
        record = writer.replace_text(plan.record, data, plan.same)
        # Also where its text was rejected: the same text is in the new file.
        writer.catalogue.announce_change(self._file, "remove", time.time())
        return record
