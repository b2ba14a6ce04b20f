"""Records, checkpoints and results of a corpus, without SQL.

Importing these need not wait for SQLAlchemy. Days are ISO 8601 (``2026-11-21``), for PubMed gives
Entrez dates and revisions by the day; `timestamp` writes one as the corpus contract wants it.
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
from ..model.passage import Passage

T = TypeVar("T")
_DAY = re.compile(r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])", re.A)
_TIME = re.compile(r"([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?", re.A)


STAGED = ("paper", "content_hash", "edat", "lr", "year", "retracted")
"""What is staged of a record: the columns of `paper_row` beside the PMID."""


@dataclass(frozen=True, slots=True)
class CorpusRecord:
    """One paper of the corpus.

    ``version`` counts from 1 and grows when the content changes or PubMed revised the record;
    ``content_hash`` is the SHA-256 of everything known but the day of the last revision. ``edat``
    is the day the paper came into PubMed, ``lr`` that of its last revision; both may be empty.
    ``gone``: PubMed does not have it any more.
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
    """How far a question is synced.

    ``last_edat`` is the watermark: the latest Entrez date stored, None before anything was.
    ``last_mdat`` is the day up to which revisions of older records were asked for.
    """

    query_key: str
    term: str
    last_edat: str | None
    last_mdat: str | None
    updated_at: str


@dataclass(frozen=True, slots=True)
class Move:
    """One move of a watermark: by hand (``manual``, ``by`` whom) or by the sync ``by``."""

    query_key: str
    before: str | None
    after: str
    manual: bool
    by: str
    at: str


@dataclass(frozen=True, slots=True)
class SyncResult:
    """The result of a sync.

    ``pmids_processed`` is the sum of the three counts; a record PubMed deleted counts as updated.
    ``unfinished``: what was fetched is staged, and the next call goes on from there; the counts
    are of what is in the corpus already, and its watermark has not moved yet.
    ``members`` has the query here, and ``members_at_pubmed`` papers PubMed counts for it on that
    day; None while unfinished, and where it did not say.
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
    """Counts of new, changed and unchanged records; and the latest Entrez date."""

    inserted: int
    updated: int
    skipped: int
    max_edat: str | None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Changes:
    """The result of replacing the passages of a paper.

    ``added`` are new or have another text: they need a vector. ``moved`` have the text they had,
    but another place or other facts (retracted, year). ``kept`` counts those whose text is the
    same, the moved ones included.
    """

    added: list[Passage]
    removed: list[str]
    kept: int
    moved: list[Passage]


@dataclass(frozen=True, slots=True)
class CorpusCounts:
    """How much there is; ``gone`` and ``retracted`` are among ``records``.

    ``papers_cut`` counts the papers that have been cut, whatever became of them.
    """

    records: int
    gone: int
    retracted: int
    passages: int
    papers_cut: int
    query_keys: int


def day_of(text: str) -> str:
    """The day of an ISO 8601 date or UTC timestamp.

    >>> day_of("2025-08-17T15:59:02Z")
    '2025-08-17'

    Raises
    ------
    BadRequest
        It is neither.
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


def timestamp(day: str | None) -> str | None:
    """A day as ISO 8601 UTC timestamp; None for None and partial dates.

    >>> timestamp("2024-06-02")
    '2024-06-02T00:00:00Z'
    """
    return f"{day}T00:00:00Z" if day and _DAY.fullmatch(day) else None


def _non_empty(value: Any) -> dict[str, Any]:
    """The members of a dataclass that are not empty."""
    if not (names := get_field_names(value)):
        raise TypeError(f"{type(value)} is no part of a paper")
    return {name: content for name in names if (content := getattr(value, name))}


_encode = json.JSONEncoder(separators=(",", ":"), default=_non_empty).encode


def as_json(paper: Paper) -> tuple[str, str]:
    """A paper as JSON for `paper_from_row`, and its content hash.

    What is empty is left out, so that a member that Papershelf learns about later changes no hash.
    """
    facts = _non_empty(paper)
    facts["ids"] = paper.ids
    revised = facts.pop("revised", "")
    content = _encode(facts)
    digest = hashlib.sha256(content.encode()).hexdigest()
    return (f'{content[:-1]},"revised":{_encode(revised)}}}' if revised else content), digest


def paper_row(paper: Paper) -> dict[str, Any]:
    """The row of a paper, all but its version.

    Raises
    ------
    BadRequest
        The paper has no PMID.
    """
    if not re.fullmatch(r"[1-9]\d{0,8}", paper.ids.pmid, re.A):
        msg = f"{paper.title[:60]!r} has no PMID."
        raise BadRequest(msg, "A corpus keeps records of PubMed.")
    text, digest = as_json(paper)
    return {
        "pmid": int(paper.ids.pmid),
        "paper": text,
        "content_hash": digest,
        "edat": paper.entered,
        "lr": paper.revised,
        "year": int(paper.year) if re.fullmatch(r"\d{4}", paper.year, re.A) else None,
        "retracted": paper.retracted,
    }


def latest_edat(rows: Sequence[Mapping[str, Any]]) -> str | None:
    """The latest whole Entrez date of some rows."""
    return max((row["edat"] for row in rows if _DAY.fullmatch(row["edat"])), default=None)


def batches(values: Sequence[T], size: int = 500) -> Iterator[Sequence[T]]:
    """Stretches of a list: both databases refuse statements with too many parameters."""
    return (values[at : at + size] for at in range(0, len(values), size))
