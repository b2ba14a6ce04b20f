"""``index.csv`` and ``index.jsonl``: the shelf as a table, for pandas, R, Excel and plain eyes.

A new paper is a line appended to both; a change of a line writes both anew beside the old and
renames, and what changes no line writes nothing. The catalogue remembers length, time and number
of the files, so that one torn by a crash or edited by hand is noticed and written again.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path

from ..system.plain_text import cell, one_line
from ..system.safe_files import disk, replacing
from .records import Record

COLUMNS = (
    *("key", "pmid", "pmcid", "doi", "arxiv", "title", "authors", "journal", "year", "kind"),
    *("source", "via", "license", "retracted", "verdict", "words", "file", "sha256", "saved_at"),
    *("version", "preprint_version", "evidence"),
)


def line(record: Record) -> str:
    """One line of ``index.jsonl``."""
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
        "sections": list(dict.fromkeys(role for part in stored.sections for role in part.roles)),
        "version": stored.version,
        "preprint_version": stored.preprint_version,
        "evidence": stored.evidence,
    }
    return json.dumps(row, ensure_ascii=False) + "\n"


class IndexFiles:
    """The two index files of one folder. Callers hold the catalogue's write lock."""

    def __init__(self, folder: Path) -> None:
        self._csv = folder / "index.csv"
        self._jsonl = folder / "index.jsonl"

    def state(self) -> str:
        """Size, time and number of both files: differs after a crash or an edit by hand.

        The size alone would miss a writer killed after the renames: a row may change and keep
        its length.
        """
        columns = f"{len(COLUMNS)} columns"  # files of an older version are made anew
        return " ".join([*map(_state, (self._csv, self._jsonl)), columns])

    def append(self, lines: Sequence[str]) -> None:
        """Add papers at the end of both files, which exist."""
        both = (self._csv, "".join(map(_cells, lines))), (self._jsonl, "".join(lines))
        for path, text in both:
            # Not flushed to the disk: after a power cut the length tells, and it is made anew.
            with disk(path), path.open("ab") as file:
                file.write(text.encode("utf-8", "replace"))

    def rewrite(self, lines: Iterable[str]) -> None:
        """Write both files anew, line by line; one that would be the same stays as it is."""
        with disk(self._csv), replacing(self._csv) as table, replacing(self._jsonl) as rows:
            table.write(",".join(COLUMNS) + "\n")
            for one in lines:
                table.write(_cells(one))
                rows.write(one)


def _state(path: Path) -> str:
    try:
        status = path.stat()
    except OSError:
        return "absent"
    return f"{status.st_size}:{status.st_mtime_ns}:{status.st_ino}"


@lru_cache(maxsize=250)  # a small shelf is written anew at every change of one line
def _cells(text: str) -> str:
    """The row of ``index.csv`` for a line of ``index.jsonl``."""
    row = json.loads(text)
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerow(cell(row.get(column, "")) for column in COLUMNS)
    return out.getvalue()
