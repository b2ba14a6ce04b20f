"""What we talk about: identifiers, papers, documents and how we came by them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from typing import Any, Literal
from urllib.parse import unquote

from .errors import BadRequest

Media = Literal["jats", "html", "pdf", "markdown"]
Kind = Literal["full_text", "abstract"]
Verdict = Literal[
    "full_text",
    "partial",
    "abstract_only",
    "front_matter_only",
    "paywall",
    "login",
    "captcha",
    "bot_check",
    "cookie_wall",
    "error_page",
    "wrong_paper",
    "not_a_paper",
    "scanned",
    "empty",
]
IdName = Literal["doi", "pmid", "pmcid", "arxiv", "s2"]

_ARXIV = r"(\d{4}\.\d{4,5}|[a-z][a-z-]*(?:\.[a-z]{2})?/\d{7})(?:v\d+)?"
_ARXIV_DOI = re.compile(rf"10\.48550/arxiv\.{_ARXIV}", re.I)
_SPELLINGS: dict[IdName, tuple[re.Pattern[str], ...]] = {
    "arxiv": (
        _ARXIV_DOI,
        re.compile(rf"(?:arxiv:\s*)?{_ARXIV}(?:\s*\[[\w.-]+\])?", re.I),
        re.compile(
            r"(?:https?://)?(?:www\.|export\.)?arxiv\.org/(?:abs|pdf|html|e-print|src)/"
            rf"{_ARXIV}(?:\.pdf)?/?",
            re.I,
        ),
    ),
    "doi": (
        re.compile(
            r"(?:https?://)?(?:(?:dx\.|www\.)?doi\.org/|doi:\s*)?(10\.\d{4,9}(?:\.\d+)*/\S+)", re.I
        ),
    ),
    "pmcid": (
        re.compile(r"(?:pmcid:\s*)?(PMC[1-9]\d*)(?:\.\d+)?", re.I),
        re.compile(r"(?:https?://)?\S+/(PMC[1-9]\d*)(?:[/?#.]\S*)?", re.I),
    ),
    "pmid": (
        re.compile(r"(?:pmid:?\s*)?0*([1-9]\d{0,7})", re.I),
        re.compile(
            r"(?:https?://)?(?:\S+\.ncbi\.nlm\.nih\.gov/pubmed|pubmed\.ncbi\.nlm\.nih\.gov)"
            r"/0*([1-9]\d{0,7})(?:[/?#]\S*)?",
            re.I,
        ),
        re.compile(r"(?:https?://)?europepmc\.org/(?:article|abstract)/MED/([1-9]\d{0,7})/?", re.I),
    ),
    "s2": (re.compile(r"(?:s2:)?([0-9a-f]{40})", re.I),),
}
EXAMPLES = "For example 31452104, PMC7759461, 10.1038/s41586-020-2649-2 or arXiv:2601.00001."


@dataclass(frozen=True, slots=True)
class Ids:
    """The names one paper goes by; any of them may be missing (empty).

    ``doi`` is lower case, ``pmcid`` starts with ``PMC``, ``arxiv`` carries no version. A DOI that
    arXiv registered (``10.48550/arXiv.…``) is kept as the arXiv identifier it spells, so that
    ``doi`` is free for the published version.
    """

    doi: str = ""
    pmid: str = ""
    pmcid: str = ""
    arxiv: str = ""
    s2: str = ""

    def __post_init__(self) -> None:
        if not self.doi:
            return
        doi, arxiv = self.doi.lower(), self.arxiv
        if match := _ARXIV_DOI.fullmatch(doi):
            doi, arxiv = "", arxiv or _normal("arxiv", match[1])
        object.__setattr__(self, "doi", doi)
        object.__setattr__(self, "arxiv", arxiv)

    @classmethod
    def parse(cls, text: str) -> Ids:
        """Read one identifier in any of the spellings people paste.

        >>> Ids.parse("https://doi.org/10.1038/S41586-020-2649-2.").doi
        '10.1038/s41586-020-2649-2'
        >>> Ids.parse("https://pmc.ncbi.nlm.nih.gov/articles/PMC7759461/").pmcid
        'PMC7759461'
        >>> Ids.parse("arXiv:2601.00001v2 [q-bio.GN]").arxiv
        '2601.00001'
        >>> Ids.parse("PMID: 00031452104").pmid
        '31452104'

        Raises
        ------
        BadRequest
            The text is no identifier we know.
        """
        cleaned = unquote(text.strip().strip("<>\"'")).rstrip(".,;").strip()
        for name, spellings in _SPELLINGS.items():
            for spelling in spellings:
                if match := spelling.fullmatch(cleaned):
                    return cls(**{name: _normal(name, match[1])})
        shown = text if len(text) <= 80 else text[:77] + "…"
        msg = f"{shown!r} is not a PMID, PMCID, DOI or arXiv identifier."
        raise BadRequest(msg, EXAMPLES)

    @classmethod
    def of(cls, **given: str) -> Ids:
        """Read identifiers given by kind (``pmid=…, doi=…``), refusing a mismatch of kinds.

        Raises
        ------
        BadRequest
            None is given, one is malformed or of another kind, or two contradict each other.
        """
        found = cls()
        for name, text in given.items():
            if not text.strip():
                continue
            ids = cls.parse(f"{name}:{text}" if name == "pmid" and text.strip().isdigit() else text)
            if not getattr(ids, name) and not (name == "doi" and ids.arxiv):
                msg = f"{text!r} was given as {name}, but it is not one."
                raise BadRequest(msg, EXAMPLES)
            if clash := found.clash(ids):
                msg = f"The identifiers contradict each other: {clash}."
                raise BadRequest(msg, "Give one identifier, or several of the same paper.")
            found |= ids
        if not found:
            msg = "No identifier was given."
            raise BadRequest(msg, "Give one of pmid, doi, pmcid, arxiv_id. " + EXAMPLES)
        return found

    @property
    def key(self) -> str:
        """The name this paper is filed under: the most lasting one it has.

        >>> Ids(pmid="1", doi="10.1000/a").key
        'doi:10.1000/a'
        """
        return self.names()[0] if self else ""

    def names(self) -> list[str]:
        """Every name with its kind, the most lasting first.

        >>> Ids(pmid="1", doi="10.1000/a").names()
        ['doi:10.1000/a', 'pmid:1']
        """
        return [f"{name}:{value}" for name in ID_NAMES if (value := getattr(self, name))]

    def clash(self, other: Ids) -> str:
        """Where two sets of names cannot belong to one paper, in words; else empty."""
        for name in ID_NAMES:
            ours, theirs = getattr(self, name), getattr(other, name)
            if ours and theirs and ours != theirs:
                return f"{name} {ours} and {name} {theirs}"
        return ""

    def shares(self, other: Ids) -> bool:
        """Whether at least one name is the same."""
        return bool(set(self.names()) & set(other.names()))

    def __or__(self, other: Ids) -> Ids:
        """Fill our gaps from *other*."""
        gaps = {name: getattr(other, name) for name in ID_NAMES if not getattr(self, name)}
        return replace(self, **gaps)

    def __bool__(self) -> bool:
        return any(getattr(self, name) for name in ID_NAMES)

    def __str__(self) -> str:
        """The identifier as people write it.

        >>> str(Ids(pmid="31452104")), str(Ids(doi="10.1000/a"))
        ('PMID 31452104', 'doi:10.1000/a')
        """
        kind, _, value = self.key.partition(":")
        spelled = {"pmid": f"PMID {value}", "pmcid": value, "arxiv": f"arXiv:{value}"}
        return spelled.get(kind, self.key)


ID_NAMES: tuple[IdName, ...] = tuple(f.name for f in fields(Ids))  # type: ignore[misc]


def _normal(name: IdName, value: str) -> str:
    if name == "pmcid":
        return value.upper()
    if name == "doi":
        # Old SICI DOIs hold "<", ">" and "#"; elsewhere "?" and "#" begin what a browser added.
        return (value if "<" in value else re.split(r"[?#]", value)[0].rstrip("/.,;")).lower()
    if name == "arxiv":
        # math.GT/0309136 and math/0309136 are the same paper.
        return re.sub(r"^([a-z-]+)\.[a-z]{2}/", r"\1/", value.lower())
    return value.lower()


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


@dataclass(frozen=True, slots=True)
class Paper:
    """What is known *about* a paper (never its text).

    Dates are ISO 8601, as precise as known: ``2026``, ``2026-02`` or ``2026-02-14``.
    ``released`` is the day PMC may show the full text (the end of an embargo).
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

    @property
    def year(self) -> str:
        """The year of publication, empty when unknown."""
        return self.published[:4]

    @property
    def retracted(self) -> bool:
        """Whether the paper itself was retracted (the notice of a retraction is not)."""
        return "Retracted Publication" in self.publication_types or any(
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


@dataclass(frozen=True, slots=True)
class SearchResult:
    """A page of a search, and where the next begins (None at the end)."""

    query: str
    effective_query: str
    total: int
    papers: tuple[Paper, ...]
    warnings: tuple[str, ...] = ()
    next_start: int | None = None


@dataclass(frozen=True, slots=True)
class Fetched:
    """What one site sent us, untouched.

    ``via`` is the route (``pmc_cloud``, ``efetch``, …), ``url`` where it came from, without keys;
    ``charset`` what the HTTP header said, empty when it said nothing; ``verified`` whether a
    checksum the site publishes was compared.
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


@dataclass(frozen=True, slots=True)
class Document:
    """A paper's text as markdown, with what the text itself says it is.

    ``ids``, ``title``, ``abstract``, ``authors`` (family names), ``license`` and ``retracted`` are
    the text's own claims; empty where it makes none. ``body_words`` counts the main text only: no
    abstract, no references, no navigation. ``pages`` is 0 for anything but a PDF. ``walls`` are
    the doorkeepers seen in the page's structure (``captcha``, ``password``, ``paywall`` …).
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


def now() -> str:
    """The time as it is written everywhere: ISO 8601, UTC, seconds."""
    return datetime.now(UTC).isoformat(timespec="seconds")


@dataclass(frozen=True, slots=True)
class Attempt:
    """One rung of the ladder: whom we asked and what came of it.

    ``source`` is the route's name; ``outcome`` is ``saved``, ``skipped``, ``not_offered``,
    ``unreachable`` or a `Verdict`; ``seconds`` how long it took.
    """

    source: str
    outcome: str
    detail: str = ""
    url: str = ""
    status: int = 0
    seconds: float = 0.0
    at: str = field(default_factory=now)


@dataclass(frozen=True, slots=True)
class StoredPaper:
    """A paper on disk, and the whole story of how it got there.

    ``path`` is absolute; ``sha256`` is that of the file; ``source`` is the contract's word
    (``PMC``, ``DOI``, ``arXiv``, ``PubMed_Abstract``) and ``via`` the route.
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


def paper_from(row: dict[str, Any]) -> Paper:
    """Rebuild a paper from what ``dataclasses.asdict`` made of it, after JSON."""
    made = dict(row)
    made["ids"] = Ids(**row["ids"])
    made["authors"] = tuple(
        Author(**{**author, "affiliations": tuple(author.get("affiliations", ()))})
        for author in row.get("authors", ())
    )
    made["notices"] = tuple(Notice(**notice) for notice in row.get("notices", ()))
    made["other_abstracts"] = tuple(tuple(pair) for pair in row.get("other_abstracts", ()))
    for name in ("languages", "publication_types", "mesh", "keywords"):
        made[name] = tuple(row.get(name, ()))
    return Paper(**made)
