"""List the files of a folder to adopt, and record the outcome of each file in a journal.

A folder of another program is only read. Folders and files that are symbolic links are not
followed, because a link may lead out of the folder.

The journal lies on the shelf, one line of JSON for each file. A run that was killed continues
where its journal ends: a file that did not change since is not read again, unless a site did not
answer about it, or the options of the run have changed.
"""

from __future__ import annotations

import contextlib
import csv
import json
import os
import shlex
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, Self

from ..command_line import command_line
from ..errors import BadRequest
from ..system import safe_files
from ..system.plain_text import one_line, replace_surrogates, to_spreadsheet_cell
from .inbox_files import get_file_state, hash_names

State = Literal[
    "filed", "ready", "on_shelf", "duplicate", "unsure", "unknown", "rejected", "not_paper",
    "scanned", "encrypted", "damaged", "not_pdf", "too_large", "unreadable", "not_linked",
    "postponed",
]  # fmt: skip
STATES: dict[State, str] = {
    "filed": "filed on the shelf",
    "ready": "would be filed",
    "on_shelf": "on the shelf already",
    "duplicate": "the same paper as another file",
    "unsure": "may be one of several papers, or none of them",
    "unknown": "of no paper that was found",
    "rejected": "not the whole paper",
    "not_paper": "not a paper",
    "scanned": "pictures without text",
    "encrypted": "needs a password",
    "damaged": "damaged",
    "not_pdf": "not a PDF",
    "too_large": "too large",
    "unreadable": "cannot be opened",
    "not_linked": "could not be linked or used where they are",
    "postponed": "not decided, because a site did not answer",
}
DONE: frozenset[State] = frozenset(("filed", "on_shelf", "duplicate"))
"""The states of files whose paper is on the shelf."""
_SUFFIX = ".pdf"


@dataclass(frozen=True, slots=True)
class AdoptedFile:
    """The outcome for one file of an adopted folder: its state, paper and details.

    Parameters
    ----------
    file : str
        Its path in the folder.
    state : str
        One of `STATES`.
    detail : str
        The reason or the evidence, in a sentence.
    paper, title : str
        The paper that it is.
    file_path : str
        The text on the shelf.
    candidates : tuple of str
        Papers that it may be, the likeliest first.
    command : str
        What to type to decide which paper it is.
    """

    file: str
    state: State
    detail: str = ""
    paper: str = ""
    title: str = ""
    file_path: str = ""
    candidates: tuple[str, ...] = ()
    command: str = ""

    def row(self) -> dict[str, Any]:
        """Return the fields as a JSON-serialisable dict."""
        return {**asdict(self), "candidates": list(self.candidates)}


COLUMNS = ("file", "state", "paper", "title", "detail", "candidates", "command", "file_path")


def write_adoption_table(path: Path, files: Iterable[AdoptedFile]) -> None:
    """Write a CSV table with one row for each file.

    Raises
    ------
    StoreFailed
        The disk refuses.
    """
    with safe_files.replace_text_file(path) as table:
        writer = csv.writer(table, lineterminator="\n")
        writer.writerow(COLUMNS)
        for one in files:
            row = {**one.row(), "candidates": "; ".join(one.candidates)}
            writer.writerow([to_spreadsheet_cell(row[column]) for column in COLUMNS])


def format_display_path(path: Path, folder: Path) -> str:
    """Return the path of a file in its folder, safe to show."""
    shown = path.relative_to(folder) if path.is_relative_to(folder) else path
    return one_line(replace_surrogates(str(shown)))


def build_filing_command(path: Path, paper: str = "PMID_OR_DOI") -> str:
    """Return the command that files a PDF file under a paper."""
    return command_line(f"adopt {shlex.quote(replace_surrogates(str(path)))} --as {paper}")


def list_pdf_files(folder: Path, without: Path) -> tuple[list[Path], list[AdoptedFile]]:
    """Return the PDF files in a folder and its subfolders, and errors of unreadable folders.

    Hidden files and folders, and the folder *without*, are left out.

    Raises
    ------
    BadRequest
        There is no such folder, or it cannot be read.
    """
    found: list[Path] = []
    unread: list[AdoptedFile] = []

    def record_error(error: OSError) -> None:
        path = Path(error.filename or folder)
        if path == folder:
            raise BadRequest(
                f"{folder} cannot be read: {error.strerror}.", "Check its permissions."
            )
        detail = f"The folder cannot be read: {error.strerror}."
        unread.append(AdoptedFile(format_display_path(path, folder), "unreadable", detail))

    for place, folders, names in os.walk(folder, onerror=record_error):
        here = Path(place)
        folders[:] = sorted(
            name for name in folders if not name.startswith(".") and here / name != without
        )
        found += [here / name for name in sorted(names) if _is_pdf_name(name)]
    return found, unread


def _is_pdf_name(name: str) -> bool:
    return name.lower().endswith(_SUFFIX) and not name.startswith((".", "~$"))


class AdoptionJournal:
    """The results of earlier runs over one folder, by the state of each file.

    Parameters
    ----------
    file : Path
        Where the journal is kept.
    basis : str
        A fingerprint of what results that may change depend on: options and reference files.
    """

    def __init__(self, file: Path, basis: str) -> None:
        self._file, self._basis = file, basis
        self.results: dict[str, AdoptedFile] = {}
        self.sha256: dict[str, str] = {}
        with safe_files.disk_errors(file, "read"):
            lines = file.read_bytes().splitlines() if file.exists() else []
        for line in lines:
            self._load_journal_line(line)

    @classmethod
    def open(cls, shelf: Path, folder: Path, basis: str) -> Self:
        """Return the journal of a folder on a shelf."""
        private = shelf / safe_files.PRIVATE_FOLDER / "adopted"
        return cls(private / f"{hash_names(folder)}.jsonl", basis)

    def _load_journal_line(self, line: bytes) -> None:
        with contextlib.suppress(ValueError, TypeError, KeyError):  # the torn end of a killed run
            row = json.loads(line)
            result = AdoptedFile(
                **{**row["result"], "candidates": tuple(row["result"]["candidates"])}
            )
            mark = row["mark"]
            is_final = result.state in DONE or row["basis"] == self._basis
            if is_final and result.state not in ("not_linked", "postponed"):
                self.results[mark], self.sha256[mark] = result, row["sha256"]
            else:
                self.results.pop(mark, None)

    def find_earlier_result(self, path: Path) -> AdoptedFile | None:
        """Return the result of a file that has not changed since; None without one."""
        return self.results.get(hash_file_state(path))

    def append_result(self, mark: str, sha256: str, result: AdoptedFile) -> None:
        """Append the result of a file to the journal.

        Raises
        ------
        StoreFailed
            The disk refuses.
        """
        row = {"mark": mark, "sha256": sha256, "basis": self._basis, "result": result.row()}
        safe_files.make_folder(self._file.parent, 0o700)
        with safe_files.disk_errors(self._file), self._file.open("ab") as file:
            # The newline comes first: it also ends the torn line of a killed run.
            file.write(b"\n" + json.dumps(row).encode())


def hash_file_state(path: Path) -> str:
    """Return a hash of a file's path, size and modification time."""
    return hash_names(path, *get_file_state(path))
