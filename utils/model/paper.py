"""The nouns of the whole program: papers, documents, what they hold, and how they were fetched.

Identifiers are in `.identifiers`, the meaning of verdicts in `.verdicts`, versions in `.versions`.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from datetime import UTC, datetime
from typing import Any, Literal, get_args

from .identifiers import Ids
from .tabular import Table, Tabular
from .verdicts import Sign

Media = Literal["jats", "elsevier", "html", "pdf", "markdown", "latex"]
Kind = Literal["full_text", "abstract", "record", "rejected"]
"""What a file on the shelf holds; ``record`` is the citation only, ``rejected`` no text of it."""
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
"""How a text came: XML that declares its parts; the publisher's own page or file; another site's
copy (a reader service, a repository, the inbox); empty where that is unknown."""

Version = Literal["preprint", "accepted", "published", ""]
"""Which version of a paper a text is; empty where nobody said. See `.versions`."""


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
        """As written on the paper: ``Jane A Doe Jr`` or the group's name."""
        return self.collective or " ".join(
            part for part in (self.given or self.initials, self.family, self.suffix) if part
        )


NoticeKind = Literal[
    "retraction", "expression_of_concern", "erratum", "republication", "update", "comment"
]


@dataclass(frozen=True, slots=True)
class Notice:
    """Something published later *about* this paper.

    ``pmid`` is the notice's own PMID, empty where PubMed does not know it.
    """

    kind: NoticeKind
    reference: str = ""
    pmid: str = ""


_RETRACTED_TYPES = {"Retracted Publication", "Withdrawn"}


@dataclass(frozen=True, slots=True)
class Paper:
    """The record of a paper: facts *about* it, never its text.

    Dates are ISO 8601, as precise as known: ``2026``, ``2026-02`` or ``2026-02-14``.
    ``released`` is the day PMC may show the full text (the end of an embargo); ``recorded_by``
    the source that keeps this record; ``reference_count`` works are cited by its count, which may
    leave some out (0: it counts none). ``version`` (a number, never the `Version` of a text) and
    ``categories`` (the primary one first) are those of a preprint server.
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

    @property
    def year(self) -> str:
        """The year of publication, empty when unknown."""
        return self.published[:4]

    @property
    def retracted(self) -> bool:
        """Return whether the paper itself was retracted, or withdrawn from a preprint server.

        The notice of a retraction is not.
        """
        return bool(_RETRACTED_TYPES & set(self.publication_types)) or any(
            notice.kind == "retraction" for notice in self.notices
        )

    @property
    def author_names(self) -> str:
        """All authors, comma-separated."""
        return ", ".join(author.name for author in self.authors)

    def row(self) -> dict[str, Any]:
        """The paper as every search shows it; strings are empty when unknown."""
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
        """The paper in the fewest words that still name it."""
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
    *("pmid", "doi", "pmcid", "file_path", "saved_at"),
)
"""The columns of `StoredPaper.row` that tables have."""
NO_HITS = "No hits: ask with fewer or other words, or leave a filter out."
"""What every search says that has none."""


@dataclass(frozen=True, slots=True)
class SearchResult(Tabular):
    """A page of a search, and where the next begins (None at the end)."""

    query: str
    effective_query: str
    total: int
    papers: tuple[Paper, ...]
    warnings: tuple[str, ...] = ()
    next_start: int | None = None

    def to_table(self) -> Table:
        """Return a row for each paper."""
        return Table.of(PAPER_COLUMNS, (paper.row() for paper in self.papers))


@dataclass(frozen=True, slots=True)
class Fetched:
    """The untouched answer of one site.

    ``via`` is the route (``pmc_cloud``, ``efetch``, …), ``url`` where it came from, without keys;
    ``charset`` what the HTTP header said, empty when it said nothing; ``verified`` whether a
    checksum the site publishes was compared; ``version`` which version of the paper it calls this.
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
    """A paper's text as markdown, with what the text itself says it is.

    ``ids``, ``title``, ``abstract``, ``authors`` (family names), ``license`` and ``retracted`` are
    the text's own claims; empty where it makes none. ``body_words`` counts the main text only: no
    abstract, no references, no navigation. ``pages`` is 0 for anything but a PDF. ``walls`` are
    the doorkeepers seen in the page's structure (``captcha``, ``password``, ``paywall`` …).
    ``extractor`` names the reader that made the markdown, and its version; ``declared`` pairs the
    titles of sections with the publisher's own word for them (``sec-type`` of JATS); ``version`` is
    which version of the paper the text is. ``confidence`` is the part of each page of a PDF that
    was read beyond doubt, 0 to 1; ``doubts``, what it is made of once the record is known.
    ``signs`` are reasons to doubt the text that only its reader could see; ``route``, how it came.
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
    doubts: Doubts | None = None
    signs: tuple[Sign, ...] = ()
    route: Route = ""


def now() -> str:
    """The time as it is written everywhere: ISO 8601, UTC, seconds."""
    return moment(time.time())


def moment(seconds: float) -> str:
    """An instant of `time.time`, written as `now` writes it."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def is_within(seconds: float, at: str) -> bool:
    """Return whether a moment is less than so many seconds before or after now.

    After, because a clock that was set back shall make nobody wait longer.
    """
    instant = time.time()
    return moment(max(0.0, instant - seconds)) < at < moment(instant + seconds)


INCONCLUSIVE = frozenset({"unreachable", "failed"})
"""Outcomes of an attempt that say nothing about the paper; ``failed`` is a fault of Papershelf."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One rung of the ladder: whom we asked and what came of it.

    ``source`` is the route's name; ``outcome`` is ``saved``, ``skipped``, ``not_offered``,
    ``not_entitled`` (key, token or network give no right to it), ``unreachable``,
    ``other_version`` (a text, but not of the version asked for) or a `Verdict`; ``seconds`` how
    long it took.
    """

    source: str
    outcome: str
    detail: str = ""
    url: str = ""
    status: int = 0
    seconds: float = 0.0
    at: str = field(default_factory=now)


def who_answered(attempts: Iterable[Attempt], no_answer: Collection[str]) -> set[str]:
    """The rungs whose last attempt has none of the outcomes in *no_answer*."""
    last = {attempt.source: attempt.outcome for attempt in attempts}
    return {source for source, outcome in last.items() if outcome not in no_answer}


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a text: its heading, and what it is by role (see `..outline`).

    ``text[start:end]`` holds it with its subsections, counted in the file on the shelf. ``roles``
    are its own and those it has from the section it stands in; ``floats`` the figures and tables
    that the text mentions first there, such as ``Figure 2``; ``declared`` is the publisher's own
    word for it (``sec-type`` of JATS).
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
    """A paper on disk, and the whole story of how it got there.

    ``path`` is absolute; ``sha256`` is that of the file; ``source`` is the contract's word
    (``PMC``, ``DOI``, ``arXiv``, ``PubMed_Abstract``) and ``via`` the route. ``verdict`` is the
    judges' or, as ``by_hand``, somebody's; ``evidence`` what it rests on, in words; ``judges`` the
    version of the judges who said it (`formats.JUDGES`), 0 where they were never asked. ``version``
    says which version of the paper a text is, ``preprint_version`` the number that its server gave
    a preprint, where that is known. ``confidence`` is that of each page, if it is of a PDF.
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
    saved_at: str = field(default_factory=now)
    sections: tuple[Section, ...] = ()
    version: Version = ""
    preprint_version: str = ""
    evidence: str = ""
    judges: int = 0
    confidence: tuple[float, ...] = ()

    @property
    def by_hand(self) -> bool:
        """Return whether somebody overruled the judges."""
        return self.verdict == "by_hand"

    @property
    def is_doubtful(self) -> bool:
        """Return whether the full text was kept with doubts; ``evidence`` lists them."""
        return self.verdict == "doubtful"

    @property
    def shows_evidence(self) -> bool:
        """Return whether a reader must see the evidence: doubts, refusal, decision by hand."""
        return self.is_doubtful or self.by_hand or self.kind == "rejected"

    @property
    def of_preprint(self) -> bool:
        """Return whether the text is a preprint's: the published article may say something else."""
        return self.version == "preprint"

    def row(self) -> dict[str, Any]:
        """Return paper and text as one row of a table."""
        named = self.paper.short_row() | {"retracted": self.paper.retracted}
        return named | self.text_row() | {"via": self.via, "saved_at": self.saved_at}

    def text_row(self) -> dict[str, str]:
        """Return the fields of the text for lists, beside `Paper.short_row`."""
        return {
            "kind": self.kind,
            "version": self.version,
            "preprint_version": self.preprint_version,
            "license": self.license,
            "file_path": self.path,
        }


def to_row(part: Any) -> Any:
    """``dataclasses.asdict`` of a paper or a part of one, for JSON; without copying every word."""
    kind = type(part)
    if kind is str:
        return part
    if kind is tuple:
        return tuple(map(to_row, part))
    names = field_names(part)
    return {name: to_row(getattr(part, name)) for name in names} if names else part


def field_names(part: object) -> tuple[str, ...]:
    """The names of a dataclass's fields; none of anything else."""
    kind = type(part)
    if kind not in _FIELD_NAMES:
        _FIELD_NAMES[kind] = tuple(m.name for m in fields(part)) if is_dataclass(part) else ()
    return _FIELD_NAMES[kind]


_FIELD_NAMES: dict[type, tuple[str, ...]] = {}


def paper_from(row: dict[str, Any]) -> Paper:
    """Rebuild a paper from what `to_row` made of it, after JSON."""
    made = dict(row)
    made["ids"] = Ids(**row["ids"])
    made["authors"] = tuple(
        Author(**{**author, "affiliations": tuple(author.get("affiliations", ()))})
        for author in row.get("authors", ())
    )
    made["notices"] = tuple(Notice(**notice) for notice in row.get("notices", ()))
    made["other_abstracts"] = tuple(tuple(pair) for pair in row.get("other_abstracts", ()))
    for name in ("languages", "publication_types", "mesh", "keywords", "categories"):
        made[name] = tuple(row.get(name, ()))
    return Paper(**made)


__all__ = ["Doubts", "Glyph", "PageDoubts"]

Glyph = tuple[str, str]
"""The name of a font, and what it calls the letter."""


@dataclass(frozen=True, slots=True)
class PageDoubts:
    """The doubts about one page.

    Of its ``letters``, so many are ``lost`` because they have no code, and ``unplaced`` because
    they are of a table that could not be rebuilt; ``words`` counts those with a letter from another
    font; ``recognised`` is how sure text recognition is, 1 for printed text.
    """

    letters: int
    lost: int = 0
    unplaced: int = 0
    words: Mapping[str, int] = field(default_factory=dict)
    recognised: float = 1.0


@dataclass(frozen=True, slots=True)
class Doubts:
    """The doubts about a PDF: of its ``pages``, and the places of ``foreign`` letters in words."""

    pages: tuple[PageDoubts, ...] = ()
    foreign: Mapping[str, Mapping[int, Glyph]] = field(default_factory=dict)


ObjectKind = Literal["figure", "table", "supplement"]
OBJECT_KINDS: tuple[ObjectKind, ...] = get_args(ObjectKind)


@dataclass(frozen=True, slots=True)
class Grid:
    """The cells of a table as plain text: what spans several rows stands in each of them.

    ``head`` are the rows above the body, from the widest heading to the narrowest, spans filled;
    all rows are equally long. ``notes`` stand under the table.
    """

    head: tuple[tuple[str, ...], ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """Each column's name: its headings from top to bottom, each said once."""
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
    """One figure, table or supplementary file, as the paper's text or XML names it.

    ``files`` are the names (or addresses) the article gives its images or files, ``grid`` the
    cells of a table that is not an image.
    """

    kind: ObjectKind
    label: str
    caption: str = ""
    files: tuple[str, ...] = field(default=())
    grid: Grid | None = None
