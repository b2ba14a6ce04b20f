"""Texts that were edited by hand, or cut, damaged or lost by the disk.

A file whose checksum changed is one of these:

- a file of ours with another header: the header is read again;
- a text that a hand edited: it still has nine tenths of its lines, or the judges accept it;
- a text that was cut: the beginning of what we wrote, as a full disk or a killed copy leaves it. It
  is made again from the kept bytes;
- something else in its place: the judges reject it. The text is made again from the kept bytes, and
  what lay there is moved to the quarantine. Without kept bytes the paper is ``rejected``, so that
  nothing serves it and it is asked for again.
"""

from __future__ import annotations

import logging
import zlib
from dataclasses import replace
from pathlib import Path

from .. import readers as formats
from ..errors import StoreFailed
from ..model.paper import Document, Fetched, Paper, StoredPaper
from ..system import safe_files
from . import adoption, paper_file, quarantine
from .record import ADOPTED, WITHOUT_TEXT, Record, renewed_record, sections_of, sha256
from .shelf_writer import ShelfWriter, with_checksum

log = logging.getLogger(__name__)
_EDITED_SHARE = 0.9  # of a text's lines that an edited text still has


def compare(record: Record, path: Path, writer: ShelfWriter) -> Record | None:
    """Return a record brought in line with its file; None if the file holds no text of it.

    Raises
    ------
    OSError
        The file cannot be read.
    """
    data = path.read_bytes()
    text = data.decode("utf-8", "replace")
    if sha256(data) == record.stored.sha256:
        if record.stored.sections:
            return record
        stored = replace(record.stored, sections=sections_of(text, record.stored))
        return replace(record, stored=stored)
    ours = paper_file.parse(text)
    if ours is not None and ours.ids.clash(record.ids):
        return None
    if ours is not None and _has_body_we_wrote(record, ours.body):
        return _read_edited(record, data, ours)
    try:
        return _restore_or_judge(record, data, ours, writer)
    except StoreFailed as error:
        log.warning("%s is damaged and cannot be made again: %s", path.name, error)
        return None


def restore(record: Record, writer: ShelfWriter) -> Record | None:
    """Make a file that is gone again; None where nothing was kept to make it from.

    Raises
    ------
    StoreFailed
        The disk refused.
    """
    if record.stored.kind in WITHOUT_TEXT and record.stored.via != ADOPTED:
        return _write_abstract(record)
    document = _read_kept_bytes(record, writer)
    return _write_text(record, document) if document else None


def _has_body_we_wrote(record: Record, body: str) -> bool:
    """Whether only the header of a file differs from what we wrote."""
    whole = paper_file.with_header(record.stored, body).encode("utf-8", "replace")
    return sha256(whole) == record.written


def _restore_or_judge(
    record: Record, data: bytes, ours: paper_file.PaperFile | None, writer: ShelfWriter
) -> Record | None:
    if record.stored.kind in WITHOUT_TEXT:
        if record.stored.via != ADOPTED and _is_cut(data, paper_file.abstract_only(record.stored)):
            _report(record, "was cut on the disk; it was written again")
            return _write_abstract(record)
        return _judge(_read_edited(record, data, ours), data)
    document = _read_kept_bytes(record, writer)
    if document is None:
        return _judge(_read_edited(record, data, ours), data)
    whole = paper_file.full_text_body(document.markdown)
    body = ours.body if ours else data.decode("utf-8", "replace")
    if _is_cut(data, paper_file.full_text(record.stored, document.markdown)) or (
        ours and _is_cut(body.encode("utf-8", "replace"), whole)
    ):
        _report(
            record, f"was cut on the disk ({len(data):,} bytes); made again from the kept bytes"
        )
        return _write_text(record, document)
    edited = _read_edited(record, data, ours)
    if edited and ours and _keeps_lines(body, whole):
        return edited
    judged = _judge(edited, data)
    if judged and judged.stored.kind != "rejected":
        return judged
    if judged:
        _quarantine(judged, data, writer)
    _report(record, "held something else than its paper; made again from the kept bytes")
    return _write_text(record, document)


def _is_cut(data: bytes, whole: str) -> bool:
    """Whether *data* is the beginning of a text, or has blocks that were never written."""
    start = data.decode("utf-8", "replace").rstrip("\ufffd").encode("utf-8", "replace")
    expected = whole.encode("utf-8", "replace")
    return b"\0" in data or (len(start) < len(expected) and expected.startswith(start))


def _keeps_lines(body: str, whole: str) -> bool:
    """Whether a text that a hand edited has nearly all lines of the text as it was."""
    expected = [line for line in whole.splitlines() if line.strip()]
    there = set(body.splitlines())
    kept = sum(line in there for line in expected)
    return kept >= _EDITED_SHARE * len(expected)


def _read_kept_bytes(record: Record, writer: ShelfWriter) -> Document | None:
    """Read what a site sent again; None where that gives no whole text."""
    stored = record.stored
    if stored.kind != "full_text" or stored.by_hand or not formats.is_ours(record.extractor):
        return None
    try:
        fetched = writer.fetched_of(record)
        seen = formats.judge_fetched(fetched, stored.paper) if fetched else None
    except (StoreFailed, EOFError, zlib.error, RuntimeError) as error:
        log.warning("What was kept of %s cannot be read: %s", record.file, error)
        return None
    return seen.document if seen else None


def _read_edited(record: Record, data: bytes, ours: paper_file.PaperFile | None) -> Record | None:
    """Return the record of a text as a hand left it, unjudged; None where it is blank."""
    text = data.decode("utf-8", "replace")
    if adoption.is_blank(ours.body if ours else text):
        return None
    stored = ours.fill_into(record.stored) if ours else record.stored
    stored = replace(stored, sha256=sha256(data), sections=sections_of(text, stored))
    return replace(record, stored=stored, words=len((ours.body if ours else text).split()))


def _judge(edited: Record | None, data: bytes) -> Record | None:
    """Have the judges say what a changed text is, unless a person decided about it."""
    if edited is None or edited.stored.by_hand:
        return edited
    text = data.decode("utf-8", "replace")
    if adoption.is_foreign(text):
        # The name said who it is: what a hand typed need not have the record's words.
        named = replace(edited.stored, paper=Paper(edited.ids))
        seen = adoption.judge_foreign(named, text)
        stored = replace(seen, paper=edited.stored.paper, version="", preprint_version="")
    elif edited.stored.kind == "full_text":
        stored = adoption.judge_again(edited.stored, text)
    else:
        return edited
    return replace(edited, stored=replace(stored, sections=sections_of(text, stored)))


def _write_text(record: Record, document: Document) -> Record:
    better = renewed_record(record, document)
    return _write(better, paper_file.full_text(better.stored, document.markdown))


def _write_abstract(record: Record) -> Record:
    return _write(record, paper_file.abstract_only(record.stored))


def _write(record: Record, text: str) -> Record:
    data = text.encode("utf-8", "replace")
    safe_files.write_whole(Path(record.stored.path), data)
    return with_checksum(replace(record, written=sha256(data)), data)


def _quarantine(judged: Record, data: bytes, writer: ShelfWriter) -> None:
    """Keep what a hand or a program put in a text's place."""
    stored: StoredPaper = judged.stored
    found = Fetched(data, "markdown", "", "the shelf", "shelf")
    reason = f"lay in {judged.file}: {stored.evidence}"
    folder = writer.private / "quarantine"
    quarantine.put(folder, writer.bodies, judged.ids, found, stored.verdict, reason)


def _report(record: Record, what: str) -> None:
    log.warning("%s %s.", record.file, what)
