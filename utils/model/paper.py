"""Data classes of the whole program: papers, documents, figures and tables, and attempts.

Identifiers are in `.identifiers`, the meaning of verdicts in `.verdicts`, versions in `.versions`.
"""

from __future__ import annotations

import re
import time
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from datetime import UTC, datetime
from typing import Any, Literal, get_args

from .identifiers import Ids
from .permissions import PERMISSION_COLUMNS, Permissions, get_permissions
from .tabular import Table, TabularResult
from .verdicts import Sign

Media = Literal["jats", "elsevier", "html", "pdf", "markdown", "latex"]
Kind = Literal["full_text", "abstract", "record", "rejected"]
"""The content of a file on the shelf; ``record`` is a citation only, ``rejected`` a wrong text."""
Role = Literal[
    "abstract",
    "highlights",
    "introduction",
    "methods",
    "results",
    "discussion",
    "conclusion",
    "case report",
    "limitations",
    "figures",
    "funding",
    "data availability",
    "conflicts",
    "ethics",
    "author contributions",
    "acknowledgements",
    "abbreviations",
    "supplementary",
    "appendix",
    "peer review",
    "references",
]
Verdict = Literal[
    "full_text",
    "doubtful",
    "partial",
    "abstract_only",
    "front_matter_only",
    "paywall",
    "login",
    "captcha",
    "bot_check",
    "cookie_wall",
    "error_page",
    "refused",
    "wrong_paper",
    "not_a_paper",
    "scanned",
    "empty",
    "by_hand",
]

Route = Literal["", "structured", "publisher", "copy"]
"""The kind of route of a text: XML that declares its parts; the publisher's own page or file; a
copy at another site (a reader service, a repository, the inbox); empty if unknown."""

Version = Literal["preprint", "accepted", "published", ""]
"""The version of a paper that a text is; empty if unknown. See `.versions`."""


@dataclass(frozen=True, slots=True)
class Author:
    """One author: a person with at least a family name, or a group (``collective``)."""

    family: str = ""
    given: str = ""
    initials: str = ""
    suffix: str = ""
    collective: str = ""
    orcid: str = ""
    affiliations: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The name as printed on the paper: ``Jane A Doe Jr``, or the name of the group."""
        return self.collective or " ".join(
            part for part in (self.given or self.initials, self.family, self.suffix) if part
        )


NoticeKind = Literal[
    "retraction", "expression_of_concern", "erratum", "republication", "update", "comment"
]


@dataclass(frozen=True, slots=True)
class Notice:
    """A notice published later *about* this paper.

    ``pmid`` is the notice's own PMID, empty if PubMed does not have the notice.
    """

    kind: NoticeKind
    reference: str = ""
    pmid: str = ""


TRIAL_REGISTRATION = "Clinical Trial Registration"
"""The publication type of a trial's record in a register; its ``pages`` are the trial's number."""
_RETRACTED_TYPES = {"Retracted Publication", "Withdrawn"}


@dataclass(frozen=True, slots=True)
class Paper:
    """The record of a paper: facts about the paper, not its text.

    Dates are ISO 8601, as precise as known: ``2026``, ``2026-02`` or ``2026-02-14``.
    ``released`` is the day on which PMC may show the full text (the end of an embargo).
    ``recorded_by`` is the source of this record. ``reference_count`` is the number of cited works
    that this source counts, which may be incomplete (0: unknown). ``version`` (a number, never the
    `Version` of a text) and ``categories`` (the primary one first) come from a preprint server.
    ``tags`` and ``note`` are the reader's own; no source has them.
    """

    ids: Ids
    title: str = ""
    abstract: str = ""
    authors: tuple[Author, ...] = ()
    journal: str = ""
    journal_abbreviation: str = ""
    issn: str = ""
    volume: str = ""
    issue: str = ""
    pages: str = ""
    published: str = ""
    entered: str = ""
    revised: str = ""
    released: str = ""
    languages: tuple[str, ...] = ()
    vernacular_title: str = ""
    other_abstracts: tuple[tuple[str, str], ...] = ()
    publication_types: tuple[str, ...] = ()
    mesh: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    notices: tuple[Notice, ...] = ()
    license: str = ""
    recorded_by: str = ""
    reference_count: int = 0
    version: str = ""
    categories: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    note: str = ""

    @property
    def year(self) -> str:
        """The year of publication, empty when unknown."""
        return self.published[:4]

    @property
    def retracted(self) -> bool:
        """True if the paper itself was retracted, or withdrawn from a preprint server.

        The notice of a retraction does not count as retracted.
        """
        return bool(_RETRACTED_TYPES & set(self.publication_types)) or any(
            notice.kind == "retraction" for notice in self.notices
        )

    @property
    def author_names(self) -> str:
        """The names of all authors, comma-separated."""
        return ", ".join(author.name for author in self.authors)

    def row(self) -> dict[str, Any]:
        """Return the paper as a row of search results; unknown strings are empty."""
        return {
            "pmid": self.ids.pmid,
            "title": self.title,
            "abstract": self.abstract,
            "authors": self.author_names,
            "year": self.year,
            "journal": self.journal,
            "doi": self.ids.doi,
            "pmcid": self.ids.pmcid,
            "publication_types": list(self.publication_types),
            "retracted": self.retracted,
        }

    def short_row(self) -> dict[str, Any]:
        """Return the fewest fields that identify the paper to a reader."""
        return {
            "pmid": self.ids.pmid,
            "title": self.title,
            "first_author": self.authors[0].name if self.authors else "",
            "year": self.year,
            "journal": self.journal,
            "doi": self.ids.doi,
            "pmcid": self.ids.pmcid,
        }


PAPER_COLUMNS = tuple(Paper(Ids()).row())
"""The columns of `Paper.row`."""
STORED_COLUMNS = (
    *("title", "first_author", "year", "journal", "kind", "version", "via", "license", "retracted"),
    *PERMISSION_COLUMNS,
    *("pmid", "doi", "pmcid", "file_path", "saved_at"),
)
"""The columns of `StoredPaper.row` that tables have."""
NO_HITS = "No hits: ask with fewer or other words, or leave a filter out."
"""The warning of a search without hits."""


@dataclass(frozen=True, slots=True)
class SearchResult(TabularResult):
    """One page of search results; ``next_start`` is empty on the last page."""

    query: str
    effective_query: str
    total: int
    papers: tuple[Paper, ...]
    warnings: tuple[str, ...] = ()
    next_start: int | None = None

    def to_table(self) -> Table:
        """Return a row for each paper."""
        return Table.from_rows(PAPER_COLUMNS, (paper.row() for paper in self.papers))


@dataclass(frozen=True, slots=True)
class Fetched:
    """The unmodified response of a site.

    ``via`` is the route (``pmc_cloud``, ``efetch``, …), ``url`` the address without keys and
    ``charset`` the value of the HTTP header, empty if missing. ``verified`` is True if the
    checksum published by the site was compared. ``version`` is the version the site declares.
    """

    body: bytes
    media: Media
    url: str
    source: str
    via: str
    license: str = ""
    charset: str = ""
    status: int = 200
    retracted: bool = False
    verified: bool = False
    ids: Ids = field(default_factory=Ids)
    version: Version = ""


@dataclass(frozen=True, slots=True)
class Document:
    """A paper's text as Markdown, with the metadata that the text itself states.

    ``ids``, ``title``, ``abstract``, ``authors`` (family names), ``license`` and ``retracted`` are
    the text's own claims; empty if missing. ``body_words`` counts the main text only: no abstract,
    no references, no navigation. ``pages`` is 0 for anything but a PDF. ``walls`` are the access
    barriers found in the page's structure (``captcha``, ``password``, ``paywall`` …).
    ``extractor`` names the reader that made the markdown, and its version; ``declared`` pairs the
    titles of sections with the publisher's own term for them (``sec-type`` of JATS); ``version`` is
    the version of the paper. ``confidence`` is the share of each page of a PDF that was read
    reliably, 0 to 1; ``doubts`` are the counts from which it is computed once the record is known.
    ``signs`` are reasons to doubt the text that only its reader could detect.
    """

    markdown: str
    title: str = ""
    abstract: str = ""
    authors: tuple[str, ...] = ()
    ids: Ids = field(default_factory=Ids)
    license: str = ""
    article_type: str = ""
    retracted: bool = False
    body_words: int = 0
    headings: int = 0
    references: int = 0
    pages: int = 0
    walls: tuple[str, ...] = ()
    verdict: Verdict = "full_text"
    evidence: str = ""
    extractor: str = ""
    declared: tuple[tuple[str, str], ...] = ()
    version: Version = ""
    confidence: tuple[float, ...] = ()
    doubts: TextDoubts | None = None
    signs: tuple[Sign, ...] = ()
    route: Route = ""


def utc_now() -> str:
    """Return the current time as an ISO 8601 timestamp in UTC, to the second."""
    return format_timestamp(time.time())


def format_timestamp(seconds: float) -> str:
    """Return an instant of `time.time` as an ISO 8601 timestamp in UTC, to the second."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def is_within_seconds(seconds: float, at: str) -> bool:
    """Return whether a timestamp lies less than *seconds* before or after the current time.

    A later timestamp counts too, so that a clock that was set back does not prolong a wait.
    """
    instant = time.time()
    return format_timestamp(max(0.0, instant - seconds)) < at < format_timestamp(instant + seconds)


INCONCLUSIVE = frozenset({"unreachable", "failed"})
"""Outcomes of an attempt that say nothing about the paper; ``failed`` is a fault of Papershelf."""
_OPENING_DAY = re.compile(r"\bopens on (\d{4}-\d{2}-\d{2})\b")


def describe_opening(days: Iterable[str]) -> str:
    """Return a sentence about the first of the *days* that lies ahead, for `Attempt.opens`.

    >>> describe_opening(["1999-01-01", "2999-02"]), describe_opening([""])
    (' A copy opens on 2999-02-01.', '')
    """
    ahead = (f"{day}-01-01"[:10] for day in days if day > utc_now()[:10])
    return next((f" A copy opens on {day}." for day in sorted(ahead)), "")


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt at a route to full text, with its outcome.

    ``source`` is the route's name; ``outcome`` is ``saved``, ``skipped``, ``not_offered``,
    ``not_entitled`` (key, token or network give no right to the text), ``unreachable``,
    ``other_version`` (a text of another version than requested) or a `Verdict`; ``seconds`` is the
    duration.
    """

    source: str
    outcome: str
    detail: str = ""
    url: str = ""
    status: int = 0
    seconds: float = 0.0
    at: str = field(default_factory=utc_now)

    @property
    def opens(self) -> str:
        """The day on which the source expects a copy to be open; empty if it named none."""
        day = _OPENING_DAY.search(self.detail)
        return day[1] if day else ""


def find_answered_routes(attempts: Iterable[Attempt], no_answer: Collection[str]) -> set[str]:
    """Return the routes whose last attempt did not end with an outcome in *no_answer*."""
    last = {attempt.source: attempt.outcome for attempt in attempts}
    return {source for source, outcome in last.items() if outcome not in no_answer}


@dataclass(frozen=True, slots=True)
class Section:
    """One section of a text: its heading and its roles (see `..outline`).

    ``text[start:end]`` of the file on the shelf is the section with its subsections. ``roles`` are
    its own and those of the enclosing section; ``floats`` are the figures and tables that are
    first mentioned in the section, such as ``Figure 2``; ``declared`` is the publisher's own term
    for the section (``sec-type`` of JATS).
    """

    title: str
    level: int
    start: int
    end: int
    roles: tuple[Role, ...] = ()
    floats: tuple[str, ...] = ()
    declared: str = ""


@dataclass(frozen=True, slots=True)
class StoredPaper:
    """A paper's text on disk, with the record of how it was obtained.

    ``path`` is absolute; ``sha256`` is the checksum of the file; ``source`` is the public label
    (``PMC``, ``DOI``, ``arXiv``, ``PubMed_Abstract``) and ``via`` the route. ``verdict`` is the
    judges' verdict or, as ``by_hand``, a person's decision; ``evidence`` is its reason in words;
    ``judges`` is the judges' version (`readers.JUDGE_VERSION`), 0 if the text was never judged.
    ``version`` is the version of the paper, ``preprint_version`` the number that a preprint server
    assigned, if known. ``confidence`` has a value for each page of a PDF.
    """

    paper: Paper
    kind: Kind
    path: str
    source: str
    via: str
    sha256: str
    license: str = ""
    verdict: Verdict = "full_text"
    attempts: tuple[Attempt, ...] = ()
    saved_at: str = field(default_factory=utc_now)
    sections: tuple[Section, ...] = ()
    version: Version = ""
    preprint_version: str = ""
    evidence: str = ""
    judges: int = 0
    confidence: tuple[float, ...] = ()

    @property
    def by_hand(self) -> bool:
        """True if a person overruled the judges."""
        return self.verdict == "by_hand"

    @property
    def is_doubtful(self) -> bool:
        """True if the full text was kept with doubts; ``evidence`` lists them."""
        return self.verdict == "doubtful"

    @property
    def shows_evidence(self) -> bool:
        """True if a reader must see the evidence: doubts, rejection, or a decision by hand."""
        return self.is_doubtful or self.by_hand or self.kind == "rejected"

    @property
    def is_preprint(self) -> bool:
        """True if the text is a preprint, from which the published article may differ."""
        return self.version == "preprint"

    @property
    def permissions(self) -> Permissions:
        """The permissions to share, mine and train with the text."""
        return get_permissions(self.license, self.via, self.paper.ids.doi)

    def row(self) -> dict[str, Any]:
        """Return the paper and its text as one row of a table."""
        named = self.paper.short_row() | {"retracted": self.paper.retracted}
        return named | self.text_row() | {"via": self.via, "saved_at": self.saved_at}

    def text_row(self) -> dict[str, str]:
        """Return the fields of the text, for lists that also show `Paper.short_row`."""
        return {
            "kind": self.kind,
            "version": self.version,
            "preprint_version": self.preprint_version,
            "license": self.license,
            **self.permissions.to_row(),
            "file_path": self.path,
        }


def to_row(part: Any) -> Any:
    """Return a paper, or a part of one, as JSON-serialisable values."""
    kind = type(part)
    if kind is str:
        return part
    if kind is tuple:
        return tuple(map(to_row, part))
    names = get_field_names(part)
    return {name: to_row(getattr(part, name)) for name in names} if names else part


def get_field_names(part: object) -> tuple[str, ...]:
    """Return the names of a dataclass's fields; () for any other object."""
    kind = type(part)
    if kind not in _FIELD_NAMES:
        _FIELD_NAMES[kind] = tuple(m.name for m in fields(part)) if is_dataclass(part) else ()
    return _FIELD_NAMES[kind]


_FIELD_NAMES: dict[type, tuple[str, ...]] = {}


def paper_from_row(row: dict[str, Any]) -> Paper:
    """Return the paper whose JSON form is *row*, as `to_row` returns it."""
    made = dict(row)
    made["ids"] = Ids(**row["ids"])
    made["authors"] = tuple(
        Author(**{**author, "affiliations": tuple(author.get("affiliations", ()))})
        for author in row.get("authors", ())
    )
    made["notices"] = tuple(Notice(**notice) for notice in row.get("notices", ()))
    made["other_abstracts"] = tuple(tuple(pair) for pair in row.get("other_abstracts", ()))
    for name in ("languages", "publication_types", "mesh", "keywords", "categories", "tags"):
        made[name] = tuple(row.get(name, ()))
    return Paper(**made)


__all__ = ["Glyph", "PageDoubts", "TextDoubts"]

Glyph = tuple[str, str]
"""The name of a font, and the font's name of a letter."""


@dataclass(frozen=True, slots=True)
class PageDoubts:
    """The numbers of unreliable letters and words on one page.

    Of its ``letters``, ``lost`` have no code, and ``unplaced`` belong to a table that could not be
    rebuilt. ``words`` counts the words with a letter from another font. ``recognised`` is the
    confidence of text recognition, 1 for printed text.
    """

    letters: int
    lost: int = 0
    unplaced: int = 0
    words: Mapping[str, int] = field(default_factory=dict)
    recognised: float = 1.0


@dataclass(frozen=True, slots=True)
class TextDoubts:
    """The doubtful letters of a PDF's text; ``foreign`` locates letters from another font."""

    pages: tuple[PageDoubts, ...] = ()
    foreign: Mapping[str, Mapping[int, Glyph]] = field(default_factory=dict)


ObjectKind = Literal["figure", "table", "supplement"]
OBJECT_KINDS: tuple[ObjectKind, ...] = get_args(ObjectKind)


@dataclass(frozen=True, slots=True)
class TableGrid:
    """The cells of a table as plain text; a cell over several rows is repeated in each.

    ``head`` are the rows above the body, from the widest heading to the narrowest, spans filled;
    all rows are equally long. ``notes`` are the footnotes of the table.
    """

    head: tuple[tuple[str, ...], ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """The name of each column: its distinct headings from top to bottom."""
        named = (
            " / ".join(dict.fromkeys(filter(None, levels)))
            for levels in zip(*self.head, strict=True)
        )
        return tuple(named) if self.head else ("",) * self.width

    @property
    def width(self) -> int:
        """The number of columns."""
        return len((self.head or self.rows or ((),))[0])


@dataclass(frozen=True, slots=True)
class PaperObject:
    """A figure, table or supplementary file of a paper, as the text or XML names it.

    ``files`` are the names (or addresses) the article gives its images or files, ``grid`` the
    cells of a table that is not an image.
    """

    kind: ObjectKind
    label: str
    caption: str = ""
    files: tuple[str, ...] = field(default=())
    grid: TableGrid | None = None
