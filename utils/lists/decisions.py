"""Read screening decisions of Rayyan, Covidence, ASReview, EPPI-Reviewer and Zotero.

`read_screened_records` reads a file of any of them. Where each form is known from:

- Rayyan (``articles.csv``, alone or in its ZIP; RIS; BibTeX): see `.rayyan`.
- Covidence (CSV): the header has ``Covidence #`` (the WHO's list of March 2020 and many readers
  since); the list that was exported is the decision, named in the file
  (``review_1_included_csv_….csv``). Reasons in ``Notes`` as ``Exclusion reason: …;`` are
  remembered, not documented.
- ASReview 3 (``asreview/data/loader.py``, ``record.py``): CSV with one of its label columns, RIS
  with ``N1  - ASReview_relevant``.
- EPPI-Reviewer's JSON report (``web-maintenance/eppi_export_162.json`` in
  infoqualitylab/Empirical-Retraction-Lit: ``CodeSets``, ``References`` and their ``Codes``).
  Codes of the type *Include* or *Exclude* decide, which only sets of the type *Screening* have;
  else codes whose name begins so.
- Zotero (RIS, CSV): tags ``include``, ``exclude: reason``, with or without ``papershelf/`` before.
- A table of anybody's with a column ``decision``, as Papershelf exports it. In a table of pairs
  (``duplicates.csv``), ``duplicate_of`` names the other record.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from ..errors import BadRequest
from ..model.identifiers import Ids
from ..model.paper import Paper
from ..system.plain_text import one_line
from .described import fields_to_paper, parsed_paper_to_entry
from .pasted import ListEntry, collect_field_ids, open_decoded_lines
from .rayyan import MAX_PER_RECORD, find_rayyan_id, parse_rayyan_notes, shorten_label, split_labels
from .references import (
    BIBTEX_START,
    MAX_LIST_BYTES,
    RIS_START,
    TableColumns,
    get_bibtex_fields,
    get_bibtex_ids,
    get_first_nonempty_lines,
    get_ris_fields,
    get_ris_ids,
    get_tag_values,
    iterate_table_rows,
    parse_table_header,
    read_bibtex_records,
    read_ris_records,
    require_text_file,
)

Choice = Literal["include", "exclude", "maybe"]
PairChoice = Literal["duplicate", "not_duplicate"]
"""An answer about two records that may be one paper."""
Stage = Literal["title_abstract", "full_text", "duplicates"]
STAGES: tuple[Stage, ...] = ("title_abstract", "full_text")
KEY = "papershelf_key"
"""The column with our name of a record; in notes, ``papershelf_key: ps-…``."""
_KEY = re.compile(r"\bps-[0-9a-f]{12}\b")
_CHOICES: dict[str, Choice] = {
    **dict.fromkeys(("1", "include", "included", "yes", "relevant", "true", "in"), "include"),
    **dict.fromkeys(("0", "exclude", "excluded", "no", "irrelevant", "false", "out"), "exclude"),
    **dict.fromkeys(("maybe", "unclear", "unsure", "?"), "maybe"),
}
# asreview/data/utils.py: names of the column of labels, the first that is there.
_LABEL_COLUMNS = (
    *("asreview_label", "included", "label", "final_included", "label_included", "included_label"),
    *("included_final", "included_flag", "include"),
)
_DECISION_COLUMNS = ("decision", *_LABEL_COLUMNS)
_PAIR_CHOICES: dict[str, PairChoice] = {
    "duplicate": "duplicate",
    **dict.fromkeys(("not a duplicate", "not duplicate"), "not_duplicate"),
}
_DECISION_TAG = re.compile(
    r"(?:papershelf/)?(include|exclude|maybe)d?(?:\s*[:/]\s*(\S.{0,300}))?", re.I | re.S
)
_ASREVIEW_NOTE = {"asreview_relevant": "1", "asreview_irrelevant": "0"}
_ASREVIEW_USER = re.compile(r'asreview_user_name: "([^"]{1,200})"')
_COVIDENCE_LISTS: dict[str, tuple[Choice, Stage]] = {
    "irrelevant": ("exclude", "title_abstract"),
    "excluded": ("exclude", "full_text"),
    "included": ("include", "full_text"),
}
_COVIDENCE_REASON = re.compile(r"Exclusion reason:\s*([^;]{1,300})", re.I)
_PARAGRAPH_TAG = re.compile(r"</?p[^>]{0,100}>", re.I)
_EPPI_CHOICE = re.compile(
    r"(include|exclude)d?\b[\s:(-]*(?:on|based on|because of)?\s*(.*)", re.I | re.S
)


@dataclass(frozen=True, slots=True)
class Decision:
    """One screener's decision on one record at one stage.

    Parameters
    ----------
    screener : str
        As the program names them; empty where it does not.
    reasons : tuple of str
        For exclusion, in the words of the program. At the stage ``duplicates``, the key of the
        other record of the pair.
    """

    screener: str
    choice: Choice | PairChoice
    stage: Stage = "title_abstract"
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ScreenedRecord:
    """A record of a screening program with all decisions on it.

    Parameters
    ----------
    where : str
        Its place in the file, for people.
    key : str
        Our own name of the record, where the program kept it.
    paper : Paper
        Its identifiers and what it says of itself.
    notes : tuple of (str, str)
        Screeners with their notes.
    rayyan_key : str
        Rayyan's own name of the record, which later exports have, too.
    """

    where: str
    key: str
    paper: Paper
    labels: tuple[str, ...] = ()
    decisions: tuple[Decision, ...] = ()
    notes: tuple[tuple[str, str], ...] = ()
    rayyan_key: str = ""

    @property
    def is_excluded(self) -> bool:
        """True if all screeners excluded the record."""
        return {one.choice for one in self.decisions} == {"exclude"}


@dataclass(frozen=True, slots=True)
class GivenFacts:
    """Facts that the caller supplies; a supplied value replaces the file's value."""

    choice: Choice | None = None
    stage: Stage | None = None
    screener: str = ""


def read_screened_records(
    data: bytes, name: str = "", told: GivenFacts | None = None
) -> Iterator[ScreenedRecord]:
    """Yield the records in a file of a screening program, in order.

    Parameters
    ----------
    data : bytes
        The whole file; of a ZIP of Rayyan's, only ``articles.csv`` is read.
    name : str
        Of the file: Covidence's say which list it is.
    told : Told, optional
        What the file does not say: a stage, one decision for all records, who made it.

    Raises
    ------
    BadRequest
        The file cannot be read, or says of no record what was decided.
    """
    told = told or _parse_covidence_file_name(name)
    found = decided = 0
    for record in _read_decisions(_unzip_rayyan_export(data), told):
        found += 1
        decided += bool(record.decisions)
        yield record
    if not decided:
        what = f"The file {name}" if name else "The list"
        msg = f"{what} has {found:,} records without decisions."
        hint = "Give one decision for all (--as include, exclude), or export the decisions too."
        raise BadRequest(msg, hint)


def read_included_papers(
    data: bytes, name: str = "", *, excluded_too: bool = False
) -> tuple[list[ListEntry], int]:
    """Return the papers not excluded by all screeners, and the number of excluded papers.

    What screeners disagree about, or nobody decided, is kept.

    Raises
    ------
    BadRequest
        The file cannot be read.
    """
    records = list(_read_decisions(_unzip_rayyan_export(data), _parse_covidence_file_name(name)))
    passed = [one for one in records if excluded_too or not one.is_excluded]
    kept = [parsed_paper_to_entry(one.paper, one.where) for one in passed]
    return kept, len(records) - len(kept)


def has_screening_decisions(data: bytes) -> bool:
    """Return whether a list contains screening decisions in a known program's format."""
    if data[:4] == b"PK\x03\x04":
        return b"articles.csv" in data[-10_000:]  # its table of contents is at the end
    head = data[:4000].lower()
    marks = (b"asreview_label", b"papershelf_decision", b"covidence #")
    if any(mark in head for mark in marks):
        return True
    return any(mark in data for mark in (b"RAYYAN-INCLUSION", b"ASReview_", b"papershelf/exclude"))


def _parse_covidence_file_name(name: str) -> GivenFacts:
    """Read facts from a Covidence file name: ``review_12_irrelevant_csv_20260102.csv``."""
    for word, (choice, stage) in _COVIDENCE_LISTS.items():
        if re.search(rf"(?:^|_){word}(?:_|\.)", name.lower()) and name.lower().startswith("review"):
            return GivenFacts(choice, stage)
    return GivenFacts()


def _unzip_rayyan_export(data: bytes) -> bytes:
    """Return the articles in a ZIP file written by Rayyan; return other bytes unchanged."""
    if data[:4] != b"PK\x03\x04":
        require_text_file(data)
        return data
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive, archive.open("articles.csv") as file:
            articles = file.read(MAX_LIST_BYTES + 1)
    except (KeyError, zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError) as error:
        msg = "The ZIP has no readable articles.csv, unlike Rayyan's exports."
        raise BadRequest(msg, "Export it again, or give the CSV or RIS in it.") from error
    require_text_file(articles)
    return articles


def _read_decisions(data: bytes, told: GivenFacts) -> Iterator[ScreenedRecord]:
    start = data[:1000].lstrip(b"\xef\xbb\xbf \t\r\n")
    if start[:1] in (b"{", b"["):
        return _read_eppi_decisions(data, told)
    first = get_first_nonempty_lines(open_decoded_lines(data), 60)
    if any(map(RIS_START.match, first)):
        return _read_ris_decisions(data, told)
    if any(map(BIBTEX_START.match, first)):
        return _read_bibtex_decisions(data, told)
    return _read_table_decisions(data, told)


# -- tables ----------------------------------------------------------------------------------------


def _read_table_decisions(data: bytes, told: GivenFacts) -> Iterator[ScreenedRecord]:
    lines = open_decoded_lines(data)
    first = next((line for line in lines if line.strip()), "")
    delimiter, fields = parse_table_header(first)
    if not fields:
        msg = "The list is not a table with a header, RIS, BibTeX or JSON."
        raise BadRequest(msg, "Export CSV, RIS or (EPPI-Reviewer) JSON from the program.")
    [(_, header)] = list(iterate_table_rows([first], delimiter, 1))
    names = [name.strip().lower() for name in header]
    columns = TableColumns(fields)
    for number, row in iterate_table_rows(lines, delimiter, 2):
        cells = {name: row[at].strip() for at, name in enumerate(names) if at < len(row)}
        paper = replace(fields_to_paper(columns.get_row_fields(row)), ids=columns.get_row_ids(row))
        yield _table_row_to_record(cells, paper, f"row {number}", told)


def _table_row_to_record(
    cells: Mapping[str, str], paper: Paper, where: str, told: GivenFacts
) -> ScreenedRecord:
    """Convert a row of any program's table to a screened record."""
    notes = cells.get("notes", "")
    labels, decisions, comments = _parse_rayyan_decisions(notes, told)
    if not decisions and "covidence #" in cells:
        labels = split_labels(cells.get("tags", ""), ";")
        decisions = _parse_covidence_notes(notes, told)
    elif not decisions and (column := _find_label_column(cells)):
        decisions = _parse_decision_cell(cells, cells[column], told)
        labels = split_labels(cells.get("asreview_tags", "").strip("[]"), ",")
    elif not decisions and ("manual tags" in cells or "automatic tags" in cells):
        labels = split_labels(cells.get("manual tags", ""), ";")
        decisions = _parse_decision_tags(labels, told)
    decisions = decisions or _build_supplied_decision(told)
    named = " ".join(cells.get(name, "") for name in (KEY, "key", "notes", "note", "extra"))
    rayyan_key = find_rayyan_id(cells.get("key", ""))
    return ScreenedRecord(
        where, _find_papershelf_key(named), paper, labels, decisions, comments, rayyan_key
    )


def _find_papershelf_key(text: str) -> str:
    """Return Papershelf's key of a record; "" if the program did not keep the key."""
    found = _KEY.search(text)
    return found[0] if found else ""


def _find_label_column(cells: Mapping[str, str]) -> str:
    return next((name for name in ("papershelf_decision", *_DECISION_COLUMNS) if name in cells), "")


def _parse_decision_cell(
    cells: Mapping[str, str], value: str, told: GivenFacts
) -> tuple[Decision, ...]:
    """Parse a decision column's cell; an empty cell or -1 means no decision."""
    given = cells.get("screener") or cells.get("reviewer") or cells.get("asreview_user_name") or ""
    if pair := _PAIR_CHOICES.get(value.lower().replace("_", " ")):
        other = _find_papershelf_key(cells.get("duplicate_of", ""))
        screener = told.screener or shorten_label(given)
        return (Decision(screener, pair, "duplicates", (other,)),) if other else ()
    choice = _CHOICES.get(value.removesuffix(".0").lower())
    if choice is None:
        return ()
    reasons = cells.get("reason") or cells.get("exclusion reason") or cells.get("reasons") or ""
    stage = cells.get("stage", "").lower().replace(" ", "_")
    known: Stage = next((one for one in STAGES if one == stage), "title_abstract")
    return (
        Decision(
            told.screener or shorten_label(given),
            told.choice or choice,
            told.stage or known,
            split_labels(reasons, ";") if choice == "exclude" else (),
        ),
    )


def _parse_covidence_notes(notes: str, told: GivenFacts) -> tuple[Decision, ...]:
    if told.choice is None:
        return ()
    reasons = _COVIDENCE_REASON.findall(notes) if told.choice == "exclude" else []
    stage = told.stage or "title_abstract"
    screener = told.screener or "consensus"  # its lists hold what the team agreed on
    return (Decision(screener, told.choice, stage, tuple(map(shorten_label, reasons))),)


# -- notes and tags --------------------------------------------------------------------------------


def _parse_rayyan_decisions(
    notes: str, told: GivenFacts
) -> tuple[tuple[str, ...], tuple[Decision, ...], tuple[tuple[str, str], ...]]:
    """Return labels, decisions and screeners' notes from Rayyan's notes field."""
    parsed = parse_rayyan_notes(notes)
    stage = told.stage or "title_abstract"
    decisions = tuple(
        Decision(name, choice, stage, parsed.reasons if choice == "exclude" else ())
        for name, value in parsed.votes
        if (choice := _CHOICES.get(value.lower()))
    )
    return parsed.labels, decisions, parsed.comments


def _parse_decision_tags(tags: Iterable[str], told: GivenFacts) -> tuple[Decision, ...]:
    """Parse a decision from tags; contradictory tags give *maybe*."""
    found: dict[Choice, list[str]] = {}
    for tag in tags:
        if match := _DECISION_TAG.fullmatch(tag.strip()):
            choice = _CHOICES[match[1].lower()]
            found.setdefault(choice, []).extend(filter(None, [shorten_label(match[2] or "")]))
    if not found:
        return ()
    choice = next(iter(found)) if len(found) == 1 else "maybe"
    reasons = tuple(found.get("exclude", ())) if choice == "exclude" else ()
    return (Decision(told.screener, choice, told.stage or "title_abstract", reasons),)


def _read_ris_decisions(data: bytes, told: GivenFacts) -> Iterator[ScreenedRecord]:
    for number, fields in enumerate(read_ris_records(open_decoded_lines(data)), 1):
        notes = [
            _PARAGRAPH_TAG.sub("", note)
            for tag in ("N1", "N2", "RN")
            for note in get_tag_values(fields, tag)
        ]
        tags = tuple(shorten_label(tag) for tag in get_tag_values(fields, "KW")[:MAX_PER_RECORD])
        labels, decisions, comments = _parse_rayyan_decisions(" | ".join(notes), told)
        if not decisions:
            words = " ".join(notes).lower()  # asreview/data/ris.py looks for them anywhere
            label = next((mark for name, mark in _ASREVIEW_NOTE.items() if name in words), "")
            user = _ASREVIEW_USER.search(" ".join(notes))
            by = {"asreview_user_name": user[1]} if user else {}
            decisions = (
                _parse_decision_cell(by, label, told)
                or _parse_decision_tags(tags, told)
                or _build_supplied_decision(told)
            )
        names = " ".join([*get_tag_values(fields, "ID"), *get_tag_values(fields, "AN")])
        key = _find_papershelf_key(f"{' '.join(notes)} {names}")
        paper = replace(fields_to_paper(get_ris_fields(fields)), ids=get_ris_ids(fields))
        labels = labels or tuple(tag for tag in tags if _DECISION_TAG.fullmatch(tag))
        rayyan_key = find_rayyan_id(names)
        yield ScreenedRecord(
            f"record {number}", key, paper, labels, decisions, comments, rayyan_key
        )


def _read_bibtex_decisions(data: bytes, told: GivenFacts) -> Iterator[ScreenedRecord]:
    """Read Rayyan's BibTeX; a list without notes requires a given decision."""
    for entry in read_bibtex_records(open_decoded_lines(data)):
        notes = " | ".join(filter(None, map(entry.fields.get, ("note", "notes", "annote"))))
        labels, decisions, comments = _parse_rayyan_decisions(notes, told)
        paper = replace(
            fields_to_paper(get_bibtex_fields(entry.fields)), ids=get_bibtex_ids(entry.fields)
        )
        yield ScreenedRecord(
            f"{entry.key or entry.kind} (line {entry.line})",
            _find_papershelf_key(f"{notes} {entry.key}"),
            paper,
            labels,
            decisions or _build_supplied_decision(told),
            comments,
            find_rayyan_id(entry.key),
        )


def _build_supplied_decision(told: GivenFacts) -> tuple[Decision, ...]:
    if told.choice is None:
        return ()
    return (Decision(told.screener, told.choice, told.stage or "title_abstract"),)


# -- EPPI-Reviewer ---------------------------------------------------------------------------------


def _read_eppi_decisions(data: bytes, told: GivenFacts) -> Iterator[ScreenedRecord]:
    try:
        report = json.loads(data)
        references = report["References"]
        codes = dict(_iterate_eppi_codes(report.get("CodeSets", [])))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        msg = "The list is JSON, but not an EPPI-Reviewer report with References and CodeSets."
        raise BadRequest(msg, "Export the JSON report of the coding, or RIS.") from error
    for number, one in enumerate(references if isinstance(references, list) else [], 1):
        if isinstance(one, dict):
            yield _eppi_reference_to_record(one, codes, f"reference {number}", told)


def _iterate_eppi_codes(sets: Any) -> Iterator[tuple[Any, tuple[str, Stage]]]:
    """Yield each code's id, with the code's name and the stage of its set."""
    for one in sets:
        stage: Stage = (
            "full_text" if "full" in str(one.get("SetName", "")).lower() else "title_abstract"
        )
        waiting = [one.get("Attributes")]
        while waiting:
            listed = (waiting.pop() or {}).get("AttributesList", [])
            for code in listed:
                yield code.get("AttributeId"), (_get_code_name(code), stage)
                waiting.append(code.get("Attributes"))


def _get_code_name(code: Mapping[str, Any]) -> str:
    """Return a code's name, preceded by the decision if the code's type states one."""
    name, kind = str(code.get("AttributeName", "")), str(code.get("AttributeType", ""))
    decides = kind.lower() in ("include", "exclude") and not _EPPI_CHOICE.match(name)
    return f"{kind} {name}" if decides else name


def _eppi_reference_to_record(
    one: Mapping[str, Any], codes: Mapping[Any, tuple[str, Stage]], where: str, told: GivenFacts
) -> ScreenedRecord:
    def text(name: str) -> str:
        return one_line(str(one.get(name) or ""))[:2000]

    ids = collect_field_ids({"doi": text("DOI")}, [text("URL"), text("Comments")])
    said: dict[str, str | Sequence[str]] = {
        "title": text("Title"),
        "year": text("Year"),
        "journal": text("ParentTitle"),
        "volume": text("Volume"),
        "issue": text("Issue"),
        "pages": text("Pages"),
        "authors": [name.strip() for name in text("Authors").split(";") if name.strip()],
    }
    given = [code.get("AttributeId") for code in one.get("Codes") or () if isinstance(code, dict)]
    named = [codes[code] for code in given[:MAX_PER_RECORD] if code in codes]
    reasons: dict[tuple[Choice, Stage], list[str]] = {}
    for name, stage in named:
        if match := _EPPI_CHOICE.match(name):
            place = (_CHOICES[match[1].lower()], told.stage or stage)
            reasons.setdefault(place, []).append(shorten_label(match[2]))
    decisions = tuple(
        Decision(told.screener, choice, at, tuple(filter(None, why)) if choice == "exclude" else ())
        for (choice, at), why in reasons.items()
    )
    key = _find_papershelf_key(f"{text('Comments')} {text('OldItemId')} {text('Abstract')}")
    paper = replace(fields_to_paper(said), ids=ids or Ids())
    labels = tuple(shorten_label(name) for name, _ in named if not _EPPI_CHOICE.match(name))
    return ScreenedRecord(where, key, paper, labels, decisions or _build_supplied_decision(told))
