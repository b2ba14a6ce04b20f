"""``index.csv``: the shelf as a table, for pandas, R, Excel and people.

A new paper is a line appended. A changed line has the file written again beside the old one, and
renamed; a change that no line shows writes nothing. The catalogue holds the rows and remembers
length, time and number of the file, so that a file torn by a crash or edited by hand is noticed
and written again.
"""

from __future__ import annotations

import csv
import io
import json
import logging
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from ..system import safe_files
from ..system.plain_text import cell, one_line
from .record import Record

log = logging.getLogger(__name__)
COLUMNS = (
    *("key", "pmid", "pmcid", "doi", "arxiv", "title", "authors", "journal", "year", "kind"),
    *("source", "via", "license", "retracted", "verdict", "words", "file", "sha256", "saved_at"),
    *("version", "preprint_version", "evidence"),
)
_OLD_FILE = "index.jsonl"
_OLD_FILE_START = b'{"key": "'
_OLD_FILE_REMOVED = (
    "%s was removed, because it is not kept up to date any more: read index.csv, or the output of "
    "`papershelf list --json`."
)


def to_line(record: Record) -> str:
    """Return a paper's row as JSON, as the catalogue holds it."""
    stored, paper, ids = record.stored, record.stored.paper, record.ids
    row = {
        "key": ids.key,
        "pmid": ids.pmid,
        "pmcid": ids.pmcid,
        "doi": ids.doi,
        "arxiv": f"arXiv:{ids.arxiv}" if ids.arxiv else "",  # 2511.0410 is no number
        "title": one_line(paper.title),
        "authors": one_line(paper.author_names),
        "journal": one_line(paper.journal),
        "year": paper.year,
        "kind": stored.kind,
        "source": stored.source,
        "via": stored.via,
        "license": one_line(stored.license),
        "retracted": paper.retracted,
        "verdict": stored.verdict,
        "words": record.words,
        "file": record.file,
        "sha256": stored.sha256,
        "saved_at": stored.saved_at,
        "version": stored.version,
        "preprint_version": stored.preprint_version,
        "evidence": stored.evidence,
    }
    return json.dumps(row, ensure_ascii=False)


class IndexTable:
    """``index.csv`` of one folder. Callers hold the catalogue's write lock."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "index.csv"
        self._old_file_checked = False

    def state(self) -> str:
        """Return size, time and number of the file: differs after a crash or an edit by hand.

        The size alone would miss a writer killed after the rename: a row may change and keep its
        length. A file with other columns, of an older version, is written again, too.
        """
        try:
            status = self._path.stat()
        except OSError:
            return "absent"
        stamp = f"{status.st_size}:{status.st_mtime_ns}:{status.st_ino}"
        return f"{stamp} {len(COLUMNS)} columns"

    def append(self, line: str) -> None:
        """Add a paper at the end of the file, which exists."""
        # Not flushed to the disk: after a power cut the length differs, and it is written again.
        with safe_files.disk(self._path), self._path.open("ab") as file:
            file.write(_to_csv(line).encode("utf-8", "replace"))

    def rewrite(self, lines: Iterable[str]) -> None:
        """Write the file line by line; a file that would stay the same is left in place."""
        with safe_files.disk(self._path), safe_files.replacing(self._path) as table:
            table.write(",".join(COLUMNS) + "\n")
            table.writelines(map(_to_csv, lines))
        if not self._old_file_checked:
            self._old_file_checked = True
            self._remove_old_file()

    def _remove_old_file(self) -> None:
        """Remove the ``index.jsonl`` of an older version, which would look current for ever."""
        path = self._path.with_name(_OLD_FILE)
        try:
            with path.open("rb") as file:
                ours = file.read(len(_OLD_FILE_START)) in (_OLD_FILE_START, b"")
            if ours:
                path.unlink()
                log.warning(_OLD_FILE_REMOVED, path)
        except FileNotFoundError:
            return
        except OSError as error:
            log.warning("%s is not kept up to date any more. Delete it: %s.", path, error)


@lru_cache(maxsize=250)  # a small shelf is written again at every change of one line
def _to_csv(line: str) -> str:
    """Return the row of ``index.csv`` for a row of the catalogue."""
    row = json.loads(line)
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerow(cell(row.get(column, "")) for column in COLUMNS)
    return out.getvalue()
