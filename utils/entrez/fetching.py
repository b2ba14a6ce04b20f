"""Fetch records or summaries of any Entrez database, and name the missing records.

EFetch omits unknown identifiers silently. If fewer records arrive than were requested, ESummary is
asked for the identifiers; if the answer stays unknown, a warning says so.

An answer is split into records according to its format. Its start shows whether the answer has that
format at all. Formats whose records have no documented start are cut at line ends.
https://www.ncbi.nlm.nih.gov/books/NBK25499/

Summaries are short records with fields, in pages of bounded size.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..errors import BadContent, EntrezFailed, NotAvailable, SourceMiss, Unreachable
from ..http import Answer, Web
from ..readers.safe_xml import parse_untrusted_xml
from ..sources.eutils import run_efetch
from ..sources.eutils_services import MISSING_SUMMARY, Summaries, run_esummary
from ..sources.loose_json import to_dict, to_text
from ..system.plain_text import one_line, to_escaped_json
from .databases import RecordFormat
from .selection import (
    MissingRecord,
    Selection,
    SelectionPart,
    convert_expiry_error,
    require_in_range,
)

MAX_RECORDS = 200
MAX_CHARS = 1_000_000
_IDS_PER_LOOKUP = 500
_CACHE_DAYS = 0.1
_CACHED_MAX_CHARS = 20_000_000
_UNKNOWN_RECORD = "NCBI knows no such record"
_FLAT_FILE_START = re.compile(r"^LOCUS\s", re.M)
_FASTA_START = re.compile(r"^>", re.M)
_RECORD_STARTS = {
    **dict.fromkeys(("fasta", "fasta_cds_na", "fasta_cds_aa", "ft"), _FASTA_START),
    **dict.fromkeys(("gb", "gp", "gbwithparts"), _FLAT_FILE_START),
    "medline": re.compile(r"(?:\A|(?<=\n\n))[A-Z]{2,4} *- ", re.M),
    "json": re.compile(r"^\{", re.M),
}
_ASN1_START = re.compile(r"^[A-Z][\w-]* ::=", re.M)
_LINE_START = re.compile(r"^(?=.)", re.M)
# Reports number their records; a report that numbers its own paragraphs is not split.
_NUMBERED_START = re.compile(r"(?:\A|(?<=\n\n))(\d{1,6})[.:] ", re.M)
# In these formats a record may have several lines, or none.
_UNCOUNTED_RETTYPES = frozenset({"runinfo", "ipg", "gene_table", "fasta_cds_na", "fasta_cds_aa"})
_NO_RECORDS = re.compile(r"\s*(?:<!doctype html|<html|\{\s*\"error\")", re.I)
# Lines about an identifier without a record; NCBI writes some with spaces between letters.
_ABSENT_LINE = re.compile(
    r"^(?:(?:\d+: )?id: \S+ Error occurred: |Error: .*F a i l e d +t o +).*\n?", re.M
)
_ABSENT_BYTES = re.compile(_ABSENT_LINE.pattern.encode(), re.M)
MAX_SUMMARIES = 500


@dataclass(frozen=True, slots=True)
class FetchedRecords:
    """Records as text, up to a maximum length.

    ``text`` has ``records`` complete records; ``cut`` means that the last one is incomplete.
    ``next_start`` and ``next_offset`` continue, with the same identifiers and the same ``most``;
    ``next_start`` is None at the end. ``not_found`` are identifiers without a record.
    """

    database: str
    rettype: str
    retmode: str
    gives: str
    total: int
    start: int
    text: str
    records: int
    cut: bool
    next_start: int | None
    next_offset: int
    not_found: tuple[MissingRecord, ...]
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FetchedPart:
    """The response to one part of a request: bodies, records and missing identifiers."""

    bodies: tuple[bytes, ...]
    records: RecordTexts
    not_found: tuple[MissingRecord, ...] = ()
    warnings: tuple[str, ...] = ()


def fetch_records(
    selection: Selection,
    form: RecordFormat,
    web: Web,
    *,
    start: int,
    most: int,
    offset: int,
    max_chars: int,
) -> FetchedRecords:
    """Fetch records; see `.Entrez.fetch`."""
    hint = "Page with next_start, or stage the records and ask them in SQL."
    require_in_range("max_results", most, 1, MAX_RECORDS, hint)
    require_in_range("max_chars", max_chars, 200, MAX_CHARS, hint)
    require_in_range("start", start, 0, max(0, selection.total - 1), "start counts from 0.")
    part = selection.get_part(start, most)
    fetched = _load_cached_part(selection, part, form, web) or fetch_selection_part(
        selection, part, form, web
    )
    size = sum(map(len, fetched.records.pieces))
    require_in_range("offset", offset, 0, size, "Use next_offset as it was given.")
    shown = cut_record_passage(fetched.records, offset, max_chars)
    if (more := shown.end < size) and not fetched.warnings:
        _cache_part(selection, part, form, fetched, web)
    end = start + part.size
    return FetchedRecords(
        selection.database.name, form.rettype, form.retmode, form.gives, selection.total, start,
        shown.text, shown.whole, shown.cut,
        start if more else end if end < selection.total else None,
        shown.end if more else 0,
        fetched.not_found, fetched.warnings,
    )  # fmt: skip


def fetch_selection_part(
    selection: Selection, part: SelectionPart, form: RecordFormat, web: Web
) -> FetchedPart:
    """Fetch the records of a part; split the part in half if the response is too large.

    Raises
    ------
    EntrezFailed
        The database refuses, or a single record is too large.
    NotFound
        NCBI has deleted the history.
    Unreachable
        NCBI did not answer, or sent no records.
    """
    try:
        return _fetch_in_one_request(selection, part, form, web)
    except BadContent as error:
        if part.size == 1:
            msg = f"A record of {selection.database.name} is too large: {error.message}"
            raise EntrezFailed(msg, "Ask for another rettype, or for its summary.") from None
    return _join_fetched_halves(
        [fetch_selection_part(selection, half, form, web) for half in split_part_in_half(part)]
    )


def split_part_in_half(part: SelectionPart) -> tuple[SelectionPart, SelectionPart]:
    """Return the same records as two requests."""
    half = part.size // 2
    if part.uids:
        parts = part.uids[:half], part.uids[half:]
        first, second = (SelectionPart({"id": ",".join(uids)}, uids, len(uids)) for uids in parts)
        return first, second
    start = part.params["retstart"]
    return (
        replace(part, params={**part.params, "retmax": half}, size=half),
        replace(
            part,
            params={**part.params, "retstart": start + half, "retmax": part.size - half},
            size=part.size - half,
        ),
    )


def _join_fetched_halves(halves: Sequence[FetchedPart]) -> FetchedPart:
    first, second = halves
    both = replace(
        first.records if first.records.head else second.records,
        pieces=first.records.pieces + second.records.pieces,
    )
    warnings = tuple(dict.fromkeys(first.warnings + second.warnings))
    return FetchedPart(
        first.bodies + second.bodies, both, first.not_found + second.not_found, warnings
    )


def _fetch_in_one_request(
    selection: Selection, part: SelectionPart, form: RecordFormat, web: Web
) -> FetchedPart:
    found = [RecordTexts(())]

    def split_answer(answer: Answer) -> None:
        found[:] = [split_records(answer, form)]

    how = {"rettype": form.rettype, "retmode": form.retmode, **dict(form.also)}
    try:
        with convert_expiry_error(selection.place):
            answer = run_efetch(selection.database.name, part.params, how, web, split_answer)
    except NotAvailable as refusal:
        return _refetch_without_unknown_ids(selection, part, form, web, refusal)
    if answer is None:
        return FetchedPart(
            (), RecordTexts(()), tuple(MissingRecord(uid, _UNKNOWN_RECORD) for uid in part.uids)
        )
    fetched = _fetch_missing_records(selection, part, FetchedPart((answer.body,), found[0]), web)
    return replace(fetched, warnings=fetched.warnings + _build_format_warnings(found[0], form))


def _build_format_warnings(records: RecordTexts, form: RecordFormat) -> tuple[str, ...]:
    """Return a warning if NCBI silently sent another format."""
    if not records.pieces or not records.root or records.root in form.gives:
        return ()
    return (f"NCBI sent <{records.root}> in place of {form.gives}.",)


def _refetch_without_unknown_ids(
    selection: Selection, part: SelectionPart, form: RecordFormat, web: Web, refused: NotAvailable
) -> FetchedPart:
    """Fetch a part again without the unknown identifiers for which NCBI rejected the request."""
    unknown = (
        find_unknown_ids(selection, part.uids, web) if refused.details.get("status") == 400 else ()
    )
    if not unknown:
        msg = f"{selection.database.name} refused {form.name}: {refused.message}"
        raise EntrezFailed(msg, "Check the identifiers and the rettype.", *refused.hints)
    names = {one.id for one in unknown}
    if not (rest := tuple(uid for uid in part.uids if uid not in names)):
        return FetchedPart((), RecordTexts(()), unknown)
    fetched = fetch_selection_part(
        selection, SelectionPart({"id": ",".join(rest)}, rest, len(rest)), form, web
    )
    return replace(fetched, not_found=unknown + fetched.not_found)


def _fetch_missing_records(
    selection: Selection, part: SelectionPart, fetched: FetchedPart, web: Web
) -> FetchedPart:
    """Fetch the records that did not arrive, or add a warning that some are missing."""
    records = fetched.records
    reasons = {uid.upper(): reason for uid, reason in records.refused.items()}
    missing = tuple(MissingRecord(uid, reasons[uid]) for uid in part.uids if uid in reasons)
    lack = part.size - len(missing) - len(records.pieces)
    if records.counted and lack <= 0:
        return replace(fetched, not_found=missing)
    if not part.uids:
        warning = (
            f"{lack:,} of {part.size:,} records did not come; the history does not tell which."
        )
        return replace(fetched, warnings=(warning,) if records.counted and lack else ())
    rest = [uid for uid in part.uids if uid not in reasons]
    try:
        unknown = find_unknown_ids(selection, rest, web)
    except SourceMiss as error:
        warning = f"Could not tell whether all identifiers have a record: {error.message}"
        return replace(fetched, not_found=missing, warnings=(warning,))
    unsure = records.counted and lack > len(unknown)
    if unsure and not records.pieces:
        msg = f"NCBI sent no records of {selection.database.name}, though it has summaries of them."
        raise Unreachable(msg, "Try again in a minute, or ask for another rettype.")
    warning = f"{lack - len(unknown):,} records did not come, though NCBI has summaries of them."
    return replace(fetched, not_found=missing + unknown, warnings=(warning,) if unsure else ())


def find_unknown_ids(
    selection: Selection, uids: Sequence[str], web: Web
) -> tuple[MissingRecord, ...]:
    """Return the identifiers for which ESummary has no record either."""
    return resolve_uids(selection.database.name, uids, web)[1]


def resolve_uids(
    database: str, names: Sequence[str], web: Web
) -> tuple[dict[str, str], tuple[MissingRecord, ...]]:
    """Return the UID of each identifier from ESummary, and the unknown identifiers."""
    uids: dict[str, str] = {}
    unknown: list[MissingRecord] = []
    for at in range(0, len(names), _IDS_PER_LOOKUP):
        batch = names[at : at + _IDS_PER_LOOKUP]
        found = run_esummary({"db": database, "retmode": "json", "id": ",".join(batch)}, web)
        known = map_names_to_uids(found.records)
        uids |= {name: known[name] for name in batch if name in known}
        unknown += [
            MissingRecord(name, found.refused.get(name) or _UNKNOWN_RECORD)
            for name in batch
            if name not in known
        ]
    return uids, tuple(unknown)


def map_names_to_uids(records: dict[str, dict[str, object]]) -> dict[str, str]:
    """Return the UID of each identifier by which a record can be requested."""
    uids: dict[str, str] = {}
    for uid, row in records.items():
        for value in (row.get("accessionversion"), row.get("caption"), row.get("gi"), uid):
            if name := to_text(value):
                uids[name.upper()] = uid
    return uids


def _build_cache_key(selection: Selection, part: SelectionPart, form: RecordFormat) -> str:
    request = to_escaped_json([selection.database.name, form.name, sorted(part.params.items())])
    return hashlib.sha256(request.encode()).hexdigest()


def _cache_part(
    selection: Selection, part: SelectionPart, form: RecordFormat, fetched: FetchedPart, web: Web
) -> None:
    """Cache an answer from which more records will be read, unless it is too large."""
    if sum(map(len, fetched.records.pieces)) > _CACHED_MAX_CHARS:
        return
    kept = {
        "pieces": list(fetched.records.pieces),
        "ends": [fetched.records.head, fetched.records.tail],
        "missing": [[one.id, one.reason] for one in fetched.not_found],
    }
    web.cache.put("efetch", _build_cache_key(selection, part, form), kept, _CACHE_DAYS)


def _load_cached_part(
    selection: Selection, part: SelectionPart, form: RecordFormat, web: Web
) -> FetchedPart | None:
    kept = to_dict(web.cache.get("efetch", _build_cache_key(selection, part, form)))
    try:
        head, tail = map(str, kept["ends"])
        records = RecordTexts(tuple(map(str, kept["pieces"])), head, tail)
        missing = tuple(MissingRecord(str(uid), str(reason)) for uid, reason in kept["missing"])
        return FetchedPart((), records, missing)
    except (LookupError, TypeError, ValueError):  # nothing, or another version's data
        return None


@dataclass(frozen=True, slots=True)
class RecordTexts:
    """Records as text; ``head`` and ``tail`` (the XML root) enclose any selection of the records.

    ``counted``: each piece is one record, so that their number shows whether some are missing;
    ``refused``: the answer's own reasons for identifiers without a record; ``root`` is the name of
    the set.
    """

    pieces: tuple[str, ...]
    head: str = ""
    tail: str = ""
    counted: bool = True
    refused: Mapping[str, str] = field(default_factory=dict)
    root: str = ""


def split_records(answer: Answer, form: RecordFormat) -> RecordTexts:
    """Split an answer into records.

    Raises
    ------
    BadContent
        The answer is not in that format.
    """
    if form.retmode == "xml":
        return _split_xml_records(answer.body, counted=form.rettype not in _UNCOUNTED_RETTYPES)
    text = _ABSENT_LINE.sub("", answer.text()).lstrip("\n")
    if _NO_RECORDS.match(text):
        raise BadContent("The answer is a web page, or an error.", verdict="error_page")
    if "\ufffd" in text[:2000] or "\x00" in text:
        raise BadContent("The response is not text.", verdict="not_a_paper")
    if not text.strip():
        return RecordTexts(())
    starts = _find_record_starts(text, form)
    ends = [*starts[1:], len(text)]
    pieces = [text[at:end] for at, end in zip(starts, ends, strict=True)]
    pieces[0] = text[: starts[0]] + pieces[0]
    return RecordTexts(tuple(pieces), counted=form.rettype not in _UNCOUNTED_RETTYPES)


def _find_record_starts(text: str, form: RecordFormat) -> list[int]:
    pattern = _RECORD_STARTS.get(form.rettype)
    if form.retmode == "asn.1" or form.gives.endswith("ASN.1"):
        pattern = _ASN1_START
    if pattern is not None:
        if starts := [found.start() for found in pattern.finditer(text)]:
            return starts
        raise BadContent(f"The answer is not {form.gives}.", verdict="error_page")
    if form.rettype in {"acc", "seqid", "uilist", "runinfo", "ipg", "tabular"}:
        return [found.start() for found in _LINE_START.finditer(text)]
    return _find_numbered_record_starts(text)


def _find_numbered_record_starts(text: str) -> list[int]:
    starts: list[int] = []
    for found in _NUMBERED_START.finditer(text):
        if int(found[1]) == len(starts) + 1:
            starts.append(found.start())
    return starts or [0]


def _split_xml_records(body: bytes, *, counted: bool) -> RecordTexts:
    from lxml import etree

    body = _ABSENT_BYTES.sub(b"", body)
    if not body.strip():
        return RecordTexts(())
    root = parse_untrusted_xml(body)
    if root.tag in {"eFetchResult", "html", "HTML"}:
        raise BadContent(f"The answer is <{root.tag}>, not records.", verdict="error_page")
    head, tail = _split_root_tags(root)
    pieces = tuple(
        etree.tostring(child, encoding="unicode", with_tail=False)
        for child in get_record_elements(root)
    )
    # A set within the set is not a record.
    counted = counted and root.tag != "Bioseq-set"
    refused = {row.get("Id", ""): one_line(row.get("error", "")) for row in root.iter("Reply")}
    return RecordTexts(pieces, head, tail, counted, refused, str(root.tag))


def get_record_elements(root: Any) -> list[Any]:
    """Return the children of a set's root, without messages about missing records."""
    return [child for child in root.iterchildren("*") if child.tag not in {"Reply", "error"}]


def _split_root_tags(root: Any) -> tuple[str, str]:
    from lxml import etree

    bare = etree.Element(root.tag, root.attrib, root.nsmap)
    bare.text = "\n"
    head, _, tail = etree.tostring(bare, encoding="unicode").partition("\n")
    return f"{head}\n", f"\n{tail}"


@dataclass(frozen=True, slots=True)
class RecordPassage:
    """A passage of some records: ``whole`` counts complete records, ``end`` is its end offset.

    ``cut``: the passage ends within a record. Offsets count characters of all pieces together.
    """

    text: str
    whole: int
    end: int
    cut: bool = False


def cut_record_passage(records: RecordTexts, offset: int, most: int) -> RecordPassage:
    """Return complete records from *offset* on, in at most *most* characters.

    A longer record is returned alone, in parts that are cut at a line end where possible.
    """
    at = 0
    room = most - len(records.head) - len(records.tail)
    parts: list[str] = []
    for piece in records.pieces:
        begin, at = max(0, offset - at), at + len(piece)
        if begin >= len(piece):
            continue
        if not parts and (begin or len(piece) > room):
            return _cut_single_record(piece[begin:], offset, most)
        if len(piece) > room:
            break
        parts.append(piece)
        room -= len(piece)
    end = offset + sum(map(len, parts))
    text = "".join(parts)
    whole = f"{records.head}{text}{records.tail}" if parts else ""
    return RecordPassage(whole, len(parts), end)


def _cut_single_record(rest: str, offset: int, most: int) -> RecordPassage:
    if len(rest) <= most:
        return RecordPassage(rest, 0, offset + len(rest))
    size = rest.rfind("\n", most // 2, most) + 1 or most
    return RecordPassage(rest[:size], 0, offset + size, cut=True)


@dataclass(frozen=True, slots=True)
class RecordSummary:
    """A record's summary: the database's ``fields``, and ``left_out``, fields that did not fit.

    ``asked`` is the requested identifier if it is not the UID.
    """

    uid: str
    asked: str
    fields: Mapping[str, Any]
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SummaryPage:
    """Record summaries in the requested order; ``next_start`` is the start of the next page."""

    database: str
    total: int
    start: int
    records: tuple[RecordSummary, ...]
    next_start: int | None
    not_found: tuple[MissingRecord, ...]
    warnings: tuple[str, ...] = ()


def fetch_summary_page(
    selection: Selection, web: Web, *, start: int, most: int, max_chars: int
) -> SummaryPage:
    """Return record summaries; see `.Entrez.summary`."""
    hint = "Page with next_start, or stage the records and ask them in SQL."
    require_in_range("max_results", most, 1, MAX_SUMMARIES, hint)
    require_in_range("max_chars", max_chars, 200, MAX_CHARS, hint)
    require_in_range("start", start, 0, max(0, selection.total - 1), "start counts from 0.")
    part = selection.get_part(start, most)
    found = fetch_part_summaries(selection, part, web)
    uids, names = part.uids or found.uids[: part.size], map_names_to_uids(found.records)
    shown: list[RecordSummary] = []
    missing: list[MissingRecord] = []
    room, taken = max_chars, 0
    for name in uids:
        uid = names.get(name.upper(), "")
        if uid:
            one = _shorten_summary(uid, name, found.records[uid], room if shown else max_chars)
            if shown and one.left_out:
                break
            room -= len(to_escaped_json(one.fields))
            shown.append(one)
        else:
            missing.append(MissingRecord(name, found.refused.get(name) or MISSING_SUMMARY))
        taken += 1
    end = start + (taken if taken < len(uids) else part.size)
    return SummaryPage(
        selection.database.name, selection.total, start, tuple(shown),
        end if end < selection.total else None, tuple(missing),
        _build_short_page_warnings(part, len(uids)),
    )  # fmt: skip


def fetch_part_summaries(selection: Selection, part: SelectionPart, web: Web) -> Summaries:
    """Fetch the summaries of the records of a part.

    Raises
    ------
    NotFound
        NCBI has deleted the history.
    Unreachable
        NCBI did not answer.
    """
    params = {"db": selection.database.name, "retmode": "json", "version": "2.0", **part.params}
    with convert_expiry_error(selection.place):
        return run_esummary(params, web)


def _build_short_page_warnings(part: SelectionPart, received: int) -> tuple[str, ...]:
    """Return a warning if a page of the history is shorter than expected."""
    lack = part.size - received
    return (
        (f"NCBI sent {received:,} of the {part.size:,} summaries of this page.",)
        if lack > 0
        else ()
    )


def _shorten_summary(uid: str, name: str, row: Mapping[str, Any], room: int) -> RecordSummary:
    """Return a record with as many fields as fit into *room* characters."""
    fields: dict[str, Any] = {}
    left_out = []
    for key, value in row.items():
        size = len(to_escaped_json({key: value}))
        if size <= room:
            fields[key] = value
            room -= size
        else:
            left_out.append(key)
    return RecordSummary(uid, "" if name == uid else name, fields, tuple(left_out))
