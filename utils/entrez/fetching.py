"""Fetch records or summaries of any Entrez database, and name the records that are missing.

EFetch leaves out unknown identifiers silently. Where fewer records came than were requested,
ESummary is asked which of them it knows; where that stays unknown, a warning says so.

An answer is split into its records according to its form. Its beginning shows whether it is in that
form at all; forms whose records have no documented beginning are cut at the ends of lines.
https://www.ncbi.nlm.nih.gov/books/NBK25499/

Summaries are records in brief, as fields, in pages of a bounded size.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..errors import BadContent, EntrezFailed, NotAvailable, SourceMiss, Unreachable
from ..http import Answer, Web
from ..readers.safe_xml import parse
from ..sources.eutils import efetch
from ..sources.eutils_services import SILENT, Summaries, esummary
from ..sources.loose_json import mapping, text
from ..system.plain_text import one_line, to_plain_json
from .databases import Form
from .selection import Missing, Part, Selection, explain_expiry, require_between

MOST_RECORDS = 200
MOST_CHARS = 1_000_000
_MOST_SUMMARIES = 500
_REMEMBERED_DAYS = 0.1
_LARGEST_KEPT = 20_000_000
_UNKNOWN = "NCBI knows no such record"
_FLAT = re.compile(r"^LOCUS\s", re.M)
_FASTA = re.compile(r"^>", re.M)
_STARTS = {
    **dict.fromkeys(("fasta", "fasta_cds_na", "fasta_cds_aa", "ft"), _FASTA),
    **dict.fromkeys(("gb", "gp", "gbwithparts"), _FLAT),
    "medline": re.compile(r"(?:\A|(?<=\n\n))[A-Z]{2,4} *- ", re.M),
    "json": re.compile(r"^\{", re.M),
}
_ASN1 = re.compile(r"^[A-Z][\w-]* ::=", re.M)
_LINE = re.compile(r"^(?=.)", re.M)
# Reports number their records; one that counts its own paragraphs is not taken apart.
_NUMBERED = re.compile(r"(?:\A|(?<=\n\n))(\d{1,6})[.:] ", re.M)
# One record may be several lines of these, or none.
_LOOSE = frozenset({"runinfo", "ipg", "gene_table", "fasta_cds_na", "fasta_cds_aa"})
_NO_RECORDS = re.compile(r"\s*(?:<!doctype html|<html|\{\s*\"error\")", re.I)
# Lines about an identifier that has no record; NCBI spaces some of them out, letter by letter.
_ABSENT = re.compile(
    r"^(?:(?:\d+: )?id: \S+ Error occurred: |Error: .*F a i l e d +t o +).*\n?", re.M
)
_ABSENT_BYTES = re.compile(_ABSENT.pattern.encode(), re.M)
MOST_SUMMARIES = 500


@dataclass(frozen=True, slots=True)
class Fetch:
    """A bounded stretch of records as text.

    ``text`` holds ``records`` whole records; ``cut`` says that it ends within one. ``next_start``
    and ``next_offset`` ask for what follows, with the same identifiers and the same ``most``;
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
    not_found: tuple[Missing, ...]
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FetchedPart:
    """The answer to a part: bodies as they were sent, their records, and the missing ones."""

    bodies: tuple[bytes, ...]
    records: Records
    not_found: tuple[Missing, ...] = ()
    warnings: tuple[str, ...] = ()


def fetch(
    selection: Selection,
    form: Form,
    web: Web,
    *,
    start: int,
    most: int,
    offset: int,
    max_chars: int,
) -> Fetch:
    """See `.Entrez.fetch`."""
    hint = "Page with next_start, or stage the records and ask them in SQL."
    require_between("most", most, 1, MOST_RECORDS, hint)
    require_between("max_chars", max_chars, 200, MOST_CHARS, hint)
    require_between("start", start, 0, max(0, selection.total - 1), "start counts from 0.")
    part = selection.part(start, most)
    fetched = _recall(selection, part, form, web) or fetch_part(selection, part, form, web)
    size = sum(map(len, fetched.records.pieces))
    require_between("offset", offset, 0, size, "Use next_offset as it was given.")
    shown = stretch(fetched.records, offset, max_chars)
    if (more := shown.end < size) and not fetched.warnings:
        _remember(selection, part, form, fetched, web)
    end = start + part.size
    return Fetch(
        selection.database.name, form.rettype, form.retmode, form.gives, selection.total, start,
        shown.text, shown.whole, shown.cut,
        start if more else end if end < selection.total else None,
        shown.end if more else 0,
        fetched.not_found, fetched.warnings,
    )  # fmt: skip


def fetch_part(selection: Selection, part: Part, form: Form, web: Web) -> FetchedPart:
    """The records of a part; where the answer is too large, fetched in halves.

    Raises
    ------
    EntrezFailed
        The database refuses, or one record alone is too large.
    NotFound
        NCBI has forgotten the history.
    Unreachable
        NCBI did not answer, or not with records.
    """
    try:
        return _fetch_at_once(selection, part, form, web)
    except BadContent as error:
        if part.size == 1:
            msg = f"A record of {selection.database.name} is too large: {error.message}"
            raise EntrezFailed(msg, "Ask for another rettype, or for its summary.") from None
    return _join([fetch_part(selection, half, form, web) for half in halved(part)])


def halved(part: Part) -> tuple[Part, Part]:
    """The same records in two requests."""
    half = part.size // 2
    if part.uids:
        parts = part.uids[:half], part.uids[half:]
        first, second = (Part({"id": ",".join(uids)}, uids, len(uids)) for uids in parts)
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


def _join(halves: Sequence[FetchedPart]) -> FetchedPart:
    first, second = halves
    both = replace(
        first.records if first.records.head else second.records,
        pieces=first.records.pieces + second.records.pieces,
    )
    warnings = tuple(dict.fromkeys(first.warnings + second.warnings))
    return FetchedPart(
        first.bodies + second.bodies, both, first.not_found + second.not_found, warnings
    )


def _fetch_at_once(selection: Selection, part: Part, form: Form, web: Web) -> FetchedPart:
    found = [Records(())]

    def read(answer: Answer) -> None:
        found[:] = [split_records(answer, form)]

    how = {"rettype": form.rettype, "retmode": form.retmode, **dict(form.also)}
    try:
        with explain_expiry(selection.place):
            answer = efetch(selection.database.name, part.params, how, web, read)
    except NotAvailable as refusal:
        return _fetch_without_unknown(selection, part, form, web, refusal)
    if answer is None:
        return FetchedPart((), Records(()), tuple(Missing(uid, _UNKNOWN) for uid in part.uids))
    fetched = _account_for_missing(selection, part, FetchedPart((answer.body,), found[0]), web)
    return replace(fetched, warnings=fetched.warnings + _form_warnings(found[0], form))


def _form_warnings(records: Records, form: Form) -> tuple[str, ...]:
    """A warning where records came in another form: NCBI falls back in silence."""
    if not records.pieces or not records.root or records.root in form.gives:
        return ()
    return (f"NCBI sent <{records.root}> in place of {form.gives}.",)


def _fetch_without_unknown(
    selection: Selection, part: Part, form: Form, web: Web, refused: NotAvailable
) -> FetchedPart:
    """Fetch a part that was refused for an identifier nobody knows, without those."""
    unknown = (
        find_unknown_ids(selection, part.uids, web) if refused.details.get("status") == 400 else ()
    )
    if not unknown:
        msg = f"{selection.database.name} refused {form.name}: {refused.message}"
        raise EntrezFailed(msg, "Check the identifiers and the rettype.", *refused.hints)
    names = {one.id for one in unknown}
    if not (rest := tuple(uid for uid in part.uids if uid not in names)):
        return FetchedPart((), Records(()), unknown)
    fetched = fetch_part(selection, Part({"id": ",".join(rest)}, rest, len(rest)), form, web)
    return replace(fetched, not_found=unknown + fetched.not_found)


def _account_for_missing(
    selection: Selection, part: Part, fetched: FetchedPart, web: Web
) -> FetchedPart:
    """Name the records that did not come, or warn that some are missing."""
    records = fetched.records
    reasons = {uid.upper(): reason for uid, reason in records.refused.items()}
    missing = tuple(Missing(uid, reasons[uid]) for uid in part.uids if uid in reasons)
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


def find_unknown_ids(selection: Selection, uids: Sequence[str], web: Web) -> tuple[Missing, ...]:
    """The identifiers that ESummary does not know either."""
    return look_up(selection.database.name, uids, web)[1]


def look_up(
    database: str, names: Sequence[str], web: Web
) -> tuple[dict[str, str], tuple[Missing, ...]]:
    """The UID behind each identifier, as ESummary knows it, and those it does not know."""
    uids: dict[str, str] = {}
    unknown: list[Missing] = []
    for at in range(0, len(names), _MOST_SUMMARIES):
        batch = names[at : at + _MOST_SUMMARIES]
        found = esummary({"db": database, "retmode": "json", "id": ",".join(batch)}, web)
        known = uids_by_name(found.records)
        uids |= {name: known[name] for name in batch if name in known}
        unknown += [
            Missing(name, found.refused.get(name) or _UNKNOWN)
            for name in batch
            if name not in known
        ]
    return uids, tuple(unknown)


def uids_by_name(records: dict[str, dict[str, object]]) -> dict[str, str]:
    """The UID by every identifier a record may have been requested by."""
    uids: dict[str, str] = {}
    for uid, row in records.items():
        for value in (row.get("accessionversion"), row.get("caption"), row.get("gi"), uid):
            if name := text(value):
                uids[name.upper()] = uid
    return uids


def _key(selection: Selection, part: Part, form: Form) -> str:
    request = to_plain_json([selection.database.name, form.name, sorted(part.params.items())])
    return hashlib.sha256(request.encode()).hexdigest()


def _remember(selection: Selection, part: Part, form: Form, fetched: FetchedPart, web: Web) -> None:
    """Keep an answer that will be read on, unless it is too large."""
    if sum(map(len, fetched.records.pieces)) > _LARGEST_KEPT:
        return
    kept = {
        "pieces": list(fetched.records.pieces),
        "ends": [fetched.records.head, fetched.records.tail],
        "missing": [[one.id, one.reason] for one in fetched.not_found],
    }
    web.cache.put("efetch", _key(selection, part, form), kept, _REMEMBERED_DAYS)


def _recall(selection: Selection, part: Part, form: Form, web: Web) -> FetchedPart | None:
    kept = mapping(web.cache.get("efetch", _key(selection, part, form)))
    try:
        head, tail = map(str, kept["ends"])
        records = Records(tuple(map(str, kept["pieces"])), head, tail)
        missing = tuple(Missing(str(uid), str(reason)) for uid, reason in kept["missing"])
        return FetchedPart((), records, missing)
    except (LookupError, TypeError, ValueError):  # nothing, or what another version kept
        return None


@dataclass(frozen=True, slots=True)
class Records:
    """Records as text; ``head`` and ``tail`` belong around any of them (the root of XML).

    ``counted``: each piece is one record, so that their number tells whether some are missing;
    ``refused``: what the answer itself says of identifiers without a record; ``root`` is the name
    of the set.
    """

    pieces: tuple[str, ...]
    head: str = ""
    tail: str = ""
    counted: bool = True
    refused: Mapping[str, str] = field(default_factory=dict)
    root: str = ""


def split_records(answer: Answer, form: Form) -> Records:
    """Split an answer into records.

    Raises
    ------
    BadContent
        It is not in that form.
    """
    if form.retmode == "xml":
        return _split_xml(answer.body, counted=form.rettype not in _LOOSE)
    text = _ABSENT.sub("", answer.text()).lstrip("\n")
    if _NO_RECORDS.match(text):
        raise BadContent("What came is a web page, or an error.", verdict="error_page")
    if "\ufffd" in text[:2000] or "\x00" in text:
        raise BadContent("What came is no text.", verdict="not_a_paper")
    if not text.strip():
        return Records(())
    starts = _starts(text, form)
    ends = [*starts[1:], len(text)]
    pieces = [text[at:end] for at, end in zip(starts, ends, strict=True)]
    pieces[0] = text[: starts[0]] + pieces[0]
    return Records(tuple(pieces), counted=form.rettype not in _LOOSE)


def _starts(text: str, form: Form) -> list[int]:
    pattern = _STARTS.get(form.rettype)
    if form.retmode == "asn.1" or form.gives.endswith("ASN.1"):
        pattern = _ASN1
    if pattern is not None:
        if starts := [found.start() for found in pattern.finditer(text)]:
            return starts
        raise BadContent(f"What came is not {form.gives}.", verdict="error_page")
    if form.rettype in {"acc", "seqid", "uilist", "runinfo", "ipg", "tabular"}:
        return [found.start() for found in _LINE.finditer(text)]
    return _numbered(text)


def _numbered(text: str) -> list[int]:
    starts: list[int] = []
    for found in _NUMBERED.finditer(text):
        if int(found[1]) == len(starts) + 1:
            starts.append(found.start())
    return starts or [0]


def _split_xml(body: bytes, *, counted: bool) -> Records:
    from lxml import etree

    body = _ABSENT_BYTES.sub(b"", body)
    if not body.strip():
        return Records(())
    root = parse(body)
    if root.tag in {"eFetchResult", "html", "HTML"}:
        raise BadContent(f"What came is <{root.tag}>, not records.", verdict="error_page")
    head, tail = _head_and_tail(root)
    pieces = tuple(
        etree.tostring(child, encoding="unicode", with_tail=False) for child in records_of(root)
    )
    # A set within the set is no record of its own.
    counted = counted and root.tag != "Bioseq-set"
    refused = {row.get("Id", ""): one_line(row.get("error", "")) for row in root.iter("Reply")}
    return Records(pieces, head, tail, counted, refused, str(root.tag))


def records_of(root: Any) -> list[Any]:
    """The records of a set: the children of its root, without messages on missing ones."""
    return [child for child in root.iterchildren("*") if child.tag not in {"Reply", "error"}]


def _head_and_tail(root: Any) -> tuple[str, str]:
    from lxml import etree

    bare = etree.Element(root.tag, root.attrib, root.nsmap)
    bare.text = "\n"
    head, _, tail = etree.tostring(bare, encoding="unicode").partition("\n")
    return f"{head}\n", f"\n{tail}"


@dataclass(frozen=True, slots=True)
class Stretch:
    """A part of some records: ``whole`` counts the whole ones in it, ``end`` is where it ends.

    ``cut``: it ends within a record. Positions are characters of all pieces together.
    """

    text: str
    whole: int
    end: int
    cut: bool = False


def stretch(records: Records, offset: int, most: int) -> Stretch:
    """Whole records from *offset* on, in at most *most* characters.

    One that is longer is given in parts by itself, cut at the end of a line where there is one.
    """
    at = 0
    room = most - len(records.head) - len(records.tail)
    parts: list[str] = []
    for piece in records.pieces:
        begin, at = max(0, offset - at), at + len(piece)
        if begin >= len(piece):
            continue
        if not parts and (begin or len(piece) > room):
            return _part_of(piece[begin:], offset, most)
        if len(piece) > room:
            break
        parts.append(piece)
        room -= len(piece)
    end = offset + sum(map(len, parts))
    text = "".join(parts)
    whole = f"{records.head}{text}{records.tail}" if parts else ""
    return Stretch(whole, len(parts), end)


def _part_of(rest: str, offset: int, most: int) -> Stretch:
    if len(rest) <= most:
        return Stretch(rest, 0, offset + len(rest))
    size = rest.rfind("\n", most // 2, most) + 1 or most
    return Stretch(rest[:size], 0, offset + size, cut=True)


@dataclass(frozen=True, slots=True)
class Summary:
    """A record in brief: ``fields`` are the database's own, ``left_out`` those that had no room.

    ``asked`` is the identifier it was asked for by, where that is not its UID.
    """

    uid: str
    asked: str
    fields: Mapping[str, Any]
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SummaryPage:
    """Records in brief, in the order asked for; ``next_start`` is where the next page begins."""

    database: str
    total: int
    start: int
    records: tuple[Summary, ...]
    next_start: int | None
    not_found: tuple[Missing, ...]
    warnings: tuple[str, ...] = ()


def summary(
    selection: Selection, web: Web, *, start: int, most: int, max_chars: int
) -> SummaryPage:
    """See `.Entrez.summary`."""
    hint = "Page with next_start, or stage the records and ask them in SQL."
    require_between("most", most, 1, MOST_SUMMARIES, hint)
    require_between("max_chars", max_chars, 200, MOST_CHARS, hint)
    require_between("start", start, 0, max(0, selection.total - 1), "start counts from 0.")
    part = selection.part(start, most)
    found = fetch_summaries(selection, part, web)
    uids, names = part.uids or found.uids[: part.size], uids_by_name(found.records)
    shown: list[Summary] = []
    missing: list[Missing] = []
    room, taken = max_chars, 0
    for name in uids:
        uid = names.get(name.upper(), "")
        if uid:
            one = _summary_within(uid, name, found.records[uid], room if shown else max_chars)
            if shown and one.left_out:
                break
            room -= len(to_plain_json(one.fields))
            shown.append(one)
        else:
            missing.append(Missing(name, found.refused.get(name) or SILENT))
        taken += 1
    end = start + (taken if taken < len(uids) else part.size)
    return SummaryPage(
        selection.database.name, selection.total, start, tuple(shown),
        end if end < selection.total else None, tuple(missing), _shortfall_warning(part, len(uids)),
    )  # fmt: skip


def fetch_summaries(selection: Selection, part: Part, web: Web) -> Summaries:
    """ESummary's answer to a part.

    Raises
    ------
    NotFound
        NCBI has forgotten the history.
    Unreachable
        NCBI did not answer.
    """
    params = {"db": selection.database.name, "retmode": "json", "version": "2.0", **part.params}
    with explain_expiry(selection.place):
        return esummary(params, web)


def _shortfall_warning(part: Part, received: int) -> tuple[str, ...]:
    """A warning where a page of the history came shorter than it is."""
    lack = part.size - received
    return (
        (f"NCBI sent {received:,} of the {part.size:,} summaries of this page.",)
        if lack > 0
        else ()
    )


def _summary_within(uid: str, name: str, row: Mapping[str, Any], room: int) -> Summary:
    """The fields of a record, one after the other, as long as there is room."""
    fields: dict[str, Any] = {}
    left_out = []
    for key, value in row.items():
        size = len(to_plain_json({key: value}))
        if size <= room:
            fields[key] = value
            room -= size
        else:
            left_out.append(key)
    return Summary(uid, "" if name == uid else name, fields, tuple(left_out))
