"""Records of a review for screening programs, with keys that come back and links to full texts.

What each program takes: Rayyan its own CSV (the header of its ``articles.csv``); Covidence RIS, one
file a stage and 15,000 references a file; ASReview CSV with a column of labels; EPPI-Reviewer RIS;
Zotero RIS with tags and relative attachments, and CSL-JSON. Our key stands in the notes, where all
of them keep it; ASReview keeps a column of its own.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal

from ..citations import to_csl_item, to_ris
from ..lists.decisions import KEY
from ..reports.labels import build_links
from ..system.plain_text import one_line, to_cell
from .standing import Standing

Program = Literal["rayyan", "covidence", "asreview", "eppi", "zotero"]
FileOf = Callable[[Standing], str]
"""The path of a record's full text as seen from the exported file; empty where there is none."""
_RAYYAN = (
    *("key", "title", "year", "month", "day", "journal", "issn", "volume", "issue", "pages"),
    *("authors", "url", "language", "publisher", "location", "abstract", "notes", "doi"),
    *("keywords", "pubmed_id", "pmc_id"),
)
_ASREVIEW = (
    *("title", "abstract", "authors", "keywords", "year", "doi", "url", "included", KEY),
    *("pmid", "full_text"),
)
_COVIDENCE_MOST = 15_000
_LABELS = {"include": "1", "exclude": "0"}


def exported(program: Program, rows: Sequence[Standing], file_of: FileOf) -> dict[str, str]:
    """The files for a program, by their names."""
    if program == "rayyan":
        return {"rayyan.csv": _table(_RAYYAN, (_rayyan_row(one, file_of) for one in rows))}
    if program == "asreview":
        return {"asreview.csv": _table(_ASREVIEW, (_asreview_row(one, file_of) for one in rows))}
    if program == "covidence":
        return dict(_covidence(rows, file_of))
    if program == "eppi":
        return {"eppi.ris": "".join(_ris(one, file_of) for one in rows)}
    items = [_csl(one, file_of) for one in rows]
    return {
        "zotero.ris": "".join(_ris(one, file_of, tagged=True) for one in rows),
        "zotero.json": json.dumps(items, ensure_ascii=False, indent=1) + "\n",
    }


def _covidence(rows: Sequence[Standing], file_of: FileOf) -> Iterator[tuple[str, str]]:
    """One file for each of the stages that Covidence imports into, cut where it takes no more."""
    stages: dict[str, list[Standing]] = {}
    for one in rows:
        stages.setdefault(_covidence_stage(one), []).append(one)
    for stage, members in stages.items():
        starts = range(0, len(members), _COVIDENCE_MOST)
        parts = [members[start : start + _COVIDENCE_MOST] for start in starts]
        for number, part in enumerate(parts, 1):
            name = f"covidence_{stage}{f'_{number}' if len(parts) > 1 else ''}.ris"
            yield name, "".join(_ris(one, file_of) for one in part)


def _covidence_stage(one: Standing) -> str:
    if one.second == "include":
        return "included"
    if one.second == "exclude":
        return "excluded"
    if one.first == "exclude" and not one.assessed:
        return "irrelevant"
    return "full_text_review" if one.sought else "screen"


def _ris(one: Standing, file_of: FileOf, *, tagged: bool = False) -> str:
    """A RIS record with our key among its notes; *tagged* with what was decided."""
    head, end, _ = to_ris(one.record.paper, file_of(one)).rpartition("ER  - ")
    lines = [f"N1  - {KEY}: {one.record.key}"]
    if tagged:
        lines += [f"KW  - {tag}" for tag in _tags(one)]
    return "".join([head, *(f"{line}\n" for line in lines), end, "\n\n"])


def _tags(one: Standing) -> Iterator[str]:
    """Tags for Zotero, as they are read back."""
    outcome = one.second if one.assessed else one.first
    if outcome in ("include", "exclude"):
        reason = f": {one_line(one.reason)}" if outcome == "exclude" and one.reason else ""
        yield f"papershelf/{outcome}{reason}"
    elif outcome == "conflict":
        yield "papershelf/conflict"
    if one.record.arm == "other":
        yield "papershelf/other methods"


def _rayyan_row(one: Standing, file_of: FileOf) -> dict[str, str]:
    paper, ids = one.record.paper, one.record.paper.ids
    year, month, day = [*paper.published.split("-"), "", "", ""][:3]
    file = file_of(one)
    notes = [f"{KEY}: {one.record.key}", f"full text: {file}" if file else ""]
    return {
        **_common(one),
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
        "notes": " | ".join(filter(None, notes)),
        "pubmed_id": ids.pmid,
        "pmc_id": ids.pmcid,
    }


def _asreview_row(one: Standing, file_of: FileOf) -> dict[str, str]:
    outcome = one.second if one.assessed else one.first
    return {
        **_common(one),
        "year": one.record.paper.year,
        "included": _LABELS.get(outcome, ""),
        KEY: one.record.key,
        "pmid": one.record.paper.ids.pmid,
        "full_text": file_of(one),
    }


def _common(one: Standing) -> dict[str, str]:
    paper = one.record.paper
    found = build_links(paper.ids)
    return {
        "title": paper.title or one.record.asked,
        "abstract": paper.abstract,
        "authors": "; ".join(author.name for author in paper.authors),
        "keywords": "; ".join(paper.keywords),
        "doi": paper.ids.doi,
        "url": found[0].url if found else "",
    }


def _csl(one: Standing, file_of: FileOf) -> dict[str, object]:
    """A CSL item whose note holds our key in a line that Zotero keeps."""
    item = to_csl_item(one.record.paper, one.record.key)
    file = file_of(one)
    lines = [item.get("note", ""), f"{KEY}: {one.record.key}", f"full text: {file}" if file else ""]
    return item | {"note": "\n".join(filter(None, lines))}


def _table(columns: Sequence[str], rows: Iterable[dict[str, str]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow([to_cell(one_line(row.get(column, ""))) for column in columns])
    return out.getvalue()
