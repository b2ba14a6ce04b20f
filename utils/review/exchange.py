"""Export a review's records for screening programs, with keys and links to full texts.

Each program imports its own format:

- Rayyan: CSV with the header of its ``articles.csv``;
- Covidence: RIS, one file per stage and at most 15,000 references per file;
- ASReview: CSV with a column of labels;
- EPPI-Reviewer: RIS;
- Zotero: RIS with tags and relative attachments, and CSL-JSON.

Papershelf's key is in the notes, which all programs preserve; for ASReview it is a column. Labels
and screeners' notes of earlier imports go to Rayyan in Rayyan's own form, and labels to Zotero as
tags. Decisions are left out, since a later import would count them for its own stage.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from ..citations import format_ris_record, to_csl_item
from ..lists.decisions import KEY
from ..reports.labels import build_paper_links
from ..system.plain_text import one_line, to_spreadsheet_cell
from .standing import ScreeningStatus

Program = Literal["rayyan", "covidence", "asreview", "eppi", "zotero"]
FileOf = Callable[[ScreeningStatus], str]
"""Returns the path of a record's full text relative to the exported file; empty if missing."""
_RAYYAN_COLUMNS = (
    *("key", "title", "year", "month", "day", "journal", "issn", "volume", "issue", "pages"),
    *("authors", "url", "language", "publisher", "location", "abstract", "notes", "doi"),
    *("keywords", "pubmed_id", "pmc_id"),
)
_ASREVIEW_COLUMNS = (
    *("title", "abstract", "authors", "keywords", "year", "doi", "url", "included", KEY),
    *("pmid", "full_text", "screening_order"),
)
_COVIDENCE_MAX_RECORDS = 15_000
_ASREVIEW_LABELS = {"include": "1", "exclude": "0"}


class RecordTags(NamedTuple):
    """Labels, and screeners with their notes, by record key."""

    labels: Mapping[str, Sequence[str]]
    comments: Mapping[str, Sequence[tuple[str, str]]]


def export_records(
    program: Program,
    rows: Sequence[ScreeningStatus],
    get_relative_file: FileOf,
    places: Mapping[str, int] | None = None,
    tags: RecordTags | None = None,
) -> dict[str, str]:
    """Return the files for a program: file names and contents.

    *places* are places in the order of screening by record key; they are written into the notes,
    and for ASReview into a column.
    """
    notes = _NoteWriter(get_relative_file, places or {}, tags or RecordTags({}, {}))
    if program == "rayyan":
        return {
            "rayyan.csv": _format_csv(_RAYYAN_COLUMNS, (_to_rayyan_row(one, notes) for one in rows))
        }
    if program == "asreview":
        return {
            "asreview.csv": _format_csv(
                _ASREVIEW_COLUMNS, (_to_asreview_row(one, notes) for one in rows)
            )
        }
    if program == "covidence":
        return dict(_render_covidence_files(rows, notes))
    if program == "eppi":
        return {"eppi.ris": "".join(_to_ris_record(one, notes) for one in rows)}
    items = [_to_csl_item(one, notes) for one in rows]
    return {
        "zotero.ris": "".join(_to_ris_record(one, notes, tagged=True) for one in rows),
        "zotero.json": json.dumps(items, ensure_ascii=False, indent=1) + "\n",
    }


class _NoteWriter:
    """Builds the notes of a record: the path of its full text, its key and its position."""

    def __init__(
        self, get_relative_file: FileOf, places: Mapping[str, int], tags: RecordTags
    ) -> None:
        self.find_file = get_relative_file
        self._tags = tags
        self._places = places

    def get_screening_position(self, one: ScreeningStatus) -> str:
        """Return the place of a record in the order of screening; "" if it has none."""
        return str(self._places.get(one.record.key, ""))

    def list_record_notes(self, one: ScreeningStatus) -> list[str]:
        """Return the lines of notes that belong to every record."""
        place = self.get_screening_position(one)
        return [f"{KEY}: {one.record.key}", *([f"screening order: {place}"] if place else [])]

    def get_labels(self, one: ScreeningStatus) -> Sequence[str]:
        """Return the labels of a record."""
        return self._tags.labels.get(one.record.key, ())

    def list_rayyan_fields(self, one: ScreeningStatus) -> list[str]:
        """Return labels and screeners' notes as Rayyan writes them into a note."""
        labels = ",".join(self.get_labels(one))
        by_screener: dict[str, list[str]] = {}
        for screener, comment in self._tags.comments.get(one.record.key, ()):
            by_screener.setdefault(screener, []).append(json.dumps(comment, ensure_ascii=False))
        said = ", ".join(f'"{name}"=>[{", ".join(all_)}]' for name, all_ in by_screener.items())
        return [
            *([f"RAYYAN-LABELS: {labels}"] if labels else []),
            *([f"USER-NOTES: {{{said}}}"] if said else []),
        ]


def _render_covidence_files(
    rows: Sequence[ScreeningStatus], notes: _NoteWriter
) -> Iterator[tuple[str, str]]:
    """Yield one file per import stage of Covidence, split at Covidence's limit."""
    stages: dict[str, list[ScreeningStatus]] = {}
    for one in rows:
        stages.setdefault(_get_covidence_stage(one), []).append(one)
    for stage, members in stages.items():
        starts = range(0, len(members), _COVIDENCE_MAX_RECORDS)
        parts = [members[start : start + _COVIDENCE_MAX_RECORDS] for start in starts]
        for number, part in enumerate(parts, 1):
            name = f"covidence_{stage}{f'_{number}' if len(parts) > 1 else ''}.ris"
            yield name, "".join(_to_ris_record(one, notes) for one in part)


def _get_covidence_stage(one: ScreeningStatus) -> str:
    if one.second == "include":
        return "included"
    if one.second == "exclude":
        return "excluded"
    if one.first == "exclude" and not one.is_assessed:
        return "irrelevant"
    return "full_text_review" if one.is_sought else "screen"


def _to_ris_record(one: ScreeningStatus, notes: _NoteWriter, *, tagged: bool = False) -> str:
    """Return a RIS record with Papershelf's key in a note; *tagged* adds the decisions as tags."""
    head, end, _ = format_ris_record(one.record.paper, notes.find_file(one)).rpartition("ER  - ")
    lines = [f"N1  - {note}" for note in notes.list_record_notes(one)]
    if tagged:
        tags = dict.fromkeys([*_to_zotero_tags(one), *map(one_line, notes.get_labels(one))])
        lines += [f"KW  - {tag}" for tag in tags]
    return "".join([head, *(f"{line}\n" for line in lines), end, "\n\n"])


def _to_zotero_tags(one: ScreeningStatus) -> Iterator[str]:
    """Yield tags for Zotero, in the form that the import reads."""
    outcome = one.second if one.is_assessed else one.first
    if outcome in ("include", "exclude"):
        reason = f": {one_line(one.reason)}" if outcome == "exclude" and one.reason else ""
        yield f"papershelf/{outcome}{reason}"
    elif outcome == "conflict":
        yield "papershelf/conflict"
    if one.record.arm == "other":
        yield "papershelf/other methods"


def _to_rayyan_row(one: ScreeningStatus, notes: _NoteWriter) -> dict[str, str]:
    paper, ids = one.record.paper, one.record.paper.ids
    year, month, day = [*paper.published.split("-"), "", "", ""][:3]
    file = notes.find_file(one)
    lines = [
        *notes.list_record_notes(one),
        f"full text: {file}" if file else "",
        *notes.list_rayyan_fields(one),
    ]
    return {
        **_to_common_row(one),
        "key": one.record.key,
        "year": year,
        "month": month.lstrip("0"),
        "day": day.lstrip("0"),
        "journal": paper.journal or paper.journal_abbreviation,
        "issn": paper.issn,
        "volume": paper.volume,
        "issue": paper.issue,
        "pages": paper.pages,
        "language": ", ".join(paper.languages),
        "notes": " | ".join(filter(None, lines)),
        "pubmed_id": ids.pmid,
        "pmc_id": ids.pmcid,
    }


def _to_asreview_row(one: ScreeningStatus, notes: _NoteWriter) -> dict[str, str]:
    outcome = one.second if one.is_assessed else one.first
    return {
        **_to_common_row(one),
        "year": one.record.paper.year,
        "included": _ASREVIEW_LABELS.get(outcome, ""),
        KEY: one.record.key,
        "pmid": one.record.paper.ids.pmid,
        "full_text": notes.find_file(one),
        "screening_order": notes.get_screening_position(one),
    }


def _to_common_row(one: ScreeningStatus) -> dict[str, str]:
    paper = one.record.paper
    found = build_paper_links(paper.ids)
    return {
        "title": paper.title or one.record.asked,
        "abstract": paper.abstract,
        "authors": "; ".join(author.name for author in paper.authors),
        "keywords": "; ".join(paper.keywords),
        "doi": paper.ids.doi,
        "url": found[0].url if found else "",
    }


def _to_csl_item(one: ScreeningStatus, notes: _NoteWriter) -> dict[str, object]:
    """Return a CSL item with Papershelf's key in a line of its note, which Zotero preserves."""
    item = to_csl_item(one.record.paper, one.record.key)
    file = notes.find_file(one)
    named = notes.list_record_notes(one)
    lines = [item.get("note", ""), *named, f"full text: {file}" if file else ""]
    return item | {"note": "\n".join(filter(None, lines))}


def _format_csv(columns: Sequence[str], rows: Iterable[dict[str, str]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow([to_spreadsheet_cell(one_line(row.get(column, ""))) for column in columns])
    return out.getvalue()
