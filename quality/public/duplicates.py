"""Score the grouping of records on public sets of search results with labelled duplicates.

Sets
----
- ``respiratory.xml`` (1,988 records, 799 duplicates), for tuning; ``copper.xml`` (505, 281) and
  ``tafenoquine.xml`` (179, 114), for scoring: EndNote XML from the tests of the Systematic Review
  Accelerator's Deduplicator (repository ``IEBH/dedupe-sweep``, ``test/data``, MIT). Every record
  that has a twin bears the caption *Duplicate*.
- ``labelled_test_set.csv`` (1,845 records, 1,261 duplicates), for scoring: from the tests of ASySD
  (repository ``camaradesuk/ASySD``, GPL-3; to be measured, not passed on). Its last column says
  *duplicate* of all copies but one. ASySD's own tests expect it to keep 586 records of 584.

Counting, as the sets' authors do, by record. EndNote sets: a record that stands in a group with
another is called a twin. CSV: in a group of *n* records, *n* - 1 are called copies; with *k*
records to keep in it, *k* - 1 of them wrongly; with none, one copy is kept wrongly. Deduplicator's
published result: F1 .9647, 1.8 errors in 1,000 records (EndNote: 3.1;
doi:10.1186/s13643-024-02619-9).
"""

from __future__ import annotations

import argparse
import csv
import re
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lxml import etree

from utils.lists.described import fields_to_paper
from utils.lists.documents import get_endnote_fields, get_endnote_ids
from utils.lists.pasted import collect_field_ids
from utils.model.paper import Paper
from utils.search.fused_results import group_records

Groups = Sequence[Sequence[int]]
_CSV_FIELDS = ("title", "year", "journal", "volume", "pages")


@dataclass(frozen=True, slots=True)
class LabelledRecord:
    """A record, and whether its set marks it as a duplicate."""

    paper: Paper
    is_copy: bool


@dataclass(frozen=True, slots=True)
class Score:
    """Numbers of records called duplicates rightly and wrongly, and of duplicates missed."""

    records: int
    right: int
    wrong: int
    missed: int

    @property
    def precision(self) -> float:
        return self.right / max(1, self.right + self.wrong)

    @property
    def recall(self) -> float:
        return self.right / max(1, self.right + self.missed)

    @property
    def f1(self) -> float:
        return 2 * self.right / max(1, 2 * self.right + self.wrong + self.missed)

    @property
    def errors_per_thousand(self) -> float:
        return 1000 * (self.wrong + self.missed) / max(1, self.records)


def read_labelled(path: Path) -> list[LabelledRecord]:
    """Read a set by the form its name ends in."""
    return _read_csv(path) if path.suffix == ".csv" else _read_endnote(path)


def _read_endnote(path: Path) -> list[LabelledRecord]:
    records = []
    for record in etree.parse(str(path)).iter("record"):
        caption = "".join(str(text) for part in record.iter("caption") for text in part.itertext())
        paper = replace(fields_to_paper(get_endnote_fields(record)), ids=get_endnote_ids(record))
        records.append(LabelledRecord(paper, "duplicate" in caption.lower()))
    return records


def _read_csv(path: Path) -> list[LabelledRecord]:
    csv.field_size_limit(2**24)
    with path.open(encoding="cp1252", errors="replace", newline="") as lines:
        rows = list(csv.DictReader(lines))
    return [LabelledRecord(_to_paper(row), row["source"] == "duplicate") for row in rows]


def _to_paper(row: Mapping[str, str]) -> Paper:
    fields = {name: row[name] for name in _CSV_FIELDS} | {
        "issue": row["number"],
        "authors": re.split(r"(?<=\.)(?=\w\w)", row["author"]),
    }
    ids = collect_field_ids({"doi": row["doi"]}, ())
    return replace(fields_to_paper(fields), ids=ids, abstract=row["abstract"])


def count_twins(records: Sequence[LabelledRecord], groups: Groups) -> tuple[Score, list[str]]:
    """Score sets that mark every record with a twin; return the score and the wrong groups."""
    right = wrong = missed = 0
    mistakes: list[str] = []
    for group in groups:
        marked = sum(records[at].is_copy for at in group)
        if len(group) > 1:
            right, wrong = right + marked, wrong + len(group) - marked
        else:
            missed += marked
        if len(group) > 1 > marked / len(group) or len(group) == marked == 1:
            mistakes.append(" || ".join(_describe(records[at].paper) for at in group))
    return Score(len(records), right, wrong, missed), mistakes


def count_copies(records: Sequence[LabelledRecord], groups: Groups) -> tuple[Score, list[str]]:
    """Score sets that mark all records of a paper but one; return as `count_twins` does."""
    right = wrong = missed = 0
    mistakes: list[str] = []
    for group in groups:
        copies = sum(records[at].is_copy for at in group)
        kept = len(group) - copies
        right, wrong = right + copies - (kept == 0), wrong + max(0, kept - 1)
        missed += kept == 0
        if kept != 1:
            mistakes.append(" || ".join(_describe(records[at].paper) for at in group))
    return Score(len(records), right, wrong, missed), mistakes


def _describe(paper: Paper) -> str:
    first = paper.authors[0].name if paper.authors else "-"
    place = f"{paper.journal} {paper.volume}({paper.issue}):{paper.pages}"
    return f"{first} {paper.published[:4]} {paper.title[:90]} / {place} {paper.ids}"


def main() -> int:
    """Print one row of scores for each file."""
    parser = argparse.ArgumentParser(
        prog="python -m quality.public.duplicates", description=__doc__
    )
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--mistakes", action="store_true", help="print them (tuning sets only)")
    options = parser.parse_args()
    for path in options.files:
        records = read_labelled(path)
        started = time.process_time()
        groups = group_records([record.paper for record in records]).groups
        seconds = time.process_time() - started
        count = count_copies if path.suffix == ".csv" else count_twins
        score, mistakes = count(records, groups)
        sys.stdout.write(
            f"{path.name}: {score.records} records, precision {score.precision:.4f}, "
            f"recall {score.recall:.4f}, F1 {score.f1:.4f}, "
            f"{score.errors_per_thousand:.1f} errors in 1,000, {seconds:.2f} s\n"
        )
        if options.mistakes:
            sys.stdout.writelines(f"  {line}\n" for line in mistakes)
    return 0


if __name__ == "__main__":
    sys.exit(main())
