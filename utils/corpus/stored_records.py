"""Records, checkpoints and results of a corpus, independent of SQL.

Importing this module does not load SQLAlchemy. Days are ISO 8601 (``2026-11-21``), because PubMed
gives Entrez dates and revisions by the day; `day_to_timestamp` converts a day to the contract's
format.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from ..errors import BadRequest
from ..model.paper import Paper, get_field_names

T = TypeVar("T")
_DAY = re.compile(r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])", re.A)
_TIME = re.compile(r"([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?", re.A)


MARK_CHARS = 32
"""The characters of a digest that are compared to recognise an unchanged text."""
STAGED = ("paper", "content_hash", "edat", "lr", "year", "retracted")
"""The staged fields of a record: the columns of `to_record_row` except the PMID."""


@dataclass(frozen=True, slots=True)
class CorpusRecord:
    """One paper of the corpus, with its version and the dates of its record.

    ``version`` counts from 1 and grows when the content changes or PubMed revised the record;
    ``content_hash`` is the SHA-256 of all fields except the day of the last revision. ``edat``
    is the day the paper came into PubMed, ``lr`` that of its last revision; both may be empty.
    ``gone``: PubMed has deleted the record.
    """

    paper: Paper
    version: int
    content_hash: str
    edat: str
    lr: str
    gone: bool
    synced_at: str


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The state of a query's sync: its watermark and counts.

    ``last_edat`` is the watermark: the latest Entrez date stored, None before the first sync.
    ``last_mdat`` is the day up to which revisions of older records were asked for.
    """

    query_key: str
    term: str
    last_edat: str | None
    last_mdat: str | None
    updated_at: str


@dataclass(frozen=True, slots=True)
class WatermarkMove:
    """One move of a watermark: by hand (``manual``, ``by`` a person) or by the sync ``by``."""

    query_key: str
    before: str | None
    after: str
    manual: bool
    by: str
    at: str


@dataclass(frozen=True, slots=True)
class SyncResult:
    """The outcome of a sync: counts of new and changed records, and warnings.

    ``pmids_processed`` is the sum of the three counts; a record PubMed deleted counts as updated.
    ``unfinished``: fetched records are staged, and the next call resumes; the counts cover merged
    records only, and the watermark has not moved yet. ``members`` counts the query's papers here,
    and ``members_at_pubmed`` those that PubMed counts on that day; None while unfinished, or if
    PubMed's count is unknown.
    """

    job_id: str
    inserted: int = 0
    updated: int = 0
    skipped: int = 0
    pmids_processed: int = 0
    max_edat_seen: str | None = None
    warnings: tuple[str, ...] = ()
    unfinished: bool = False
    members: int | None = None
    members_at_pubmed: int | None = None


class UpsertResult(NamedTuple):
    """Counts of new, changed and unchanged records, and the latest Entrez date."""

    inserted: int
    updated: int
    skipped: int
    max_edat: str | None
    warnings: tuple[str, ...] = ()


class LivingRecords(NamedTuple):
    """Counts of the living records: all, those with passages, and the unchanged ones of these."""

    every: int
    indexed: int
    unchanged: int


class Source(NamedTuple):
    """The stored facts about the text from which a paper's passages were cut.

    ``digest`` is that of the text and of the facts that passages carry; empty as long as the finder
    may lack new passages. ``mark`` identifies the record and the file that were read; it is
    compared before anything is parsed. ``names`` are the identifiers of the paper, separated by
    spaces.
    """

    digest: str
    mark: str = ""
    names: str = ""

    @property
    def content_hash(self) -> str:
        """The beginning of the record's content hash, as the mark has it; no hash if unknown."""
        return self.mark.partition(" ")[2][:MARK_CHARS]


class RecordState(NamedTuple):
    """The state of a record, read without parsing it, and the source of its passages, if any."""

    pmid: int
    content_hash: str
    lr: str
    digest: str | None
    mark: str
    names: str

    @property
    def source(self) -> Source | None:
        """The source of the passages; None if the record has none yet."""
        return None if self.digest is None else Source(self.digest, self.mark, self.names)


@dataclass(frozen=True, slots=True)
class CorpusCounts:
    """The counts of a corpus; ``records`` includes ``gone`` and ``retracted``.

    ``papers_cut`` counts all papers that were ever cut into passages.
    """

    records: int
    gone: int
    retracted: int
    passages: int
    papers_cut: int
    query_keys: int


def parse_iso_day(text: str) -> str:
    """Return the day of an ISO 8601 date or UTC timestamp.

    >>> parse_iso_day("2025-08-17T15:59:02Z")
    '2025-08-17'

    Raises
    ------
    BadRequest
        *text* is neither.
    """
    from datetime import date

    day, time_ = text.strip()[:10], text.strip()[10:]
    if _DAY.fullmatch(day) and _TIME.fullmatch(time_):
        try:
            return date.fromisoformat(day).isoformat()
        except ValueError:
            pass
    msg = f"{text[:40]!r} is not a day."
    raise BadRequest(msg, "Give an ISO 8601 date, such as 2026-11-21 or 2026-11-21T00:00:00Z.")


def day_to_timestamp(day: str | None) -> str | None:
    """Return a day as an ISO 8601 UTC timestamp; None for None and partial dates.

    >>> day_to_timestamp("2024-06-02")
    '2024-06-02T00:00:00Z'
    """
    return f"{day}T00:00:00Z" if day and _DAY.fullmatch(day) else None


def _get_nonempty_fields(value: Any) -> dict[str, Any]:
    """Return the fields of a dataclass that are not empty."""
    if not (names := get_field_names(value)):
        raise TypeError(f"{type(value)} is not part of a paper")
    return {name: content for name in names if (content := getattr(value, name))}


_encode = json.JSONEncoder(separators=(",", ":"), default=_get_nonempty_fields).encode


def serialize_paper_and_hash(paper: Paper) -> tuple[str, str]:
    """Return a paper as JSON that `paper_from_row` reads, and the hash of its content.

    Empty fields are left out, so that a field added to Papershelf later does not change the hash.
    """
    facts = _get_nonempty_fields(paper)
    facts["ids"] = paper.ids
    revised = facts.pop("revised", "")
    content = _encode(facts)
    digest = hashlib.sha256(content.encode()).hexdigest()
    return (f'{content[:-1]},"revised":{_encode(revised)}}}' if revised else content), digest


def to_record_row(paper: Paper) -> dict[str, Any]:
    """Return the row of a paper, except its version.

    Raises
    ------
    BadRequest
        The paper has no PMID.
    """
    if not re.fullmatch(r"[1-9]\d{0,8}", paper.ids.pmid, re.A):
        msg = f"{paper.title[:60]!r} has no PMID."
        raise BadRequest(msg, "A corpus keeps records of PubMed.")
    text, digest = serialize_paper_and_hash(paper)
    return {
        "pmid": int(paper.ids.pmid),
        "paper": text,
        "content_hash": digest,
        "edat": paper.entered,
        "lr": paper.revised,
        "year": int(paper.year) if re.fullmatch(r"\d{4}", paper.year, re.A) else None,
        "retracted": paper.retracted,
    }


def join_title_and_abstract(title: str, abstract: str) -> str:
    """Return title, blank line and abstract: the text of a paper without a file."""
    return f"{title}\n\n{abstract}".rstrip()


def find_latest_edat(rows: Sequence[Mapping[str, Any]]) -> str | None:
    """Return the latest complete Entrez date of the rows."""
    return max((row["edat"] for row in rows if _DAY.fullmatch(row["edat"])), default=None)


def split_into_batches(values: Sequence[T], size: int = 500) -> Iterator[Sequence[T]]:
    """Yield slices of a list, because databases reject statements with too many parameters."""
    return (values[at : at + size] for at in range(0, len(values), size))
