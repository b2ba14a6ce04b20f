"""Parse the identifiers of a paper (DOI, PMID, PMCID, arXiv, S2) in every spelling people paste."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields, replace
from typing import Literal
from urllib.parse import unquote

from ..errors import BadRequest
from .other_identifiers import EXAMPLES, explain_unknown_identifier

IdName = Literal["doi", "pmid", "pmcid", "arxiv", "s2"]

_ARXIV = (
    r"([0-9]{2}(?:0[1-9]|1[0-2])\.[0-9]{4,5}|[a-z][a-z-]*(?:\.[a-z-]{2,20})?/[0-9]{7})(?:v[0-9]+)?"
)
# As arXiv stamps it on the margin of the first page: class and day.
_STAMP = r"(?:\s*\[[\w., -]{1,80}\])?(?:\s+[0-9]{1,2} [a-z]{3} [0-9]{4})?"
_HOSTS = (
    r"(?:(?:www|export|browse)\.)?arxiv\.org|ar5iv\.(?:labs\.arxiv\.)?org|(?:www\.)?alphaxiv\.org"
    r"|huggingface\.co"
)
_ARXIV_DOI = re.compile(rf"10\.48550/arxiv\.{_ARXIV}", re.I)
_SPELLINGS: dict[IdName, tuple[re.Pattern[str], ...]] = {
    "arxiv": (
        _ARXIV_DOI,
        re.compile(rf"(?:oai:arxiv\.org:|arxiv[:.\s]\s*)?{_ARXIV}(?:\.pdf)?{_STAMP}", re.I),
        re.compile(
            rf"(?:https?://)?(?:{_HOSTS})/(?:abs|pdf|html|e-print|src|format|ps|papers)/"
            rf"{_ARXIV}(?:\.pdf)?/?(?:[?#]\S*)?",
            re.I,
        ),
    ),
    "doi": (
        # Preprint servers put version and format behind the DOI; the DOI itself has neither.
        re.compile(
            r"(?:https?://)?(?:(?:www\.)?(?:bio|med)rxiv\.org/content/|(?:dx\.|www\.)?doi\.org/|doi:\s*)?"
            r"(10\.(?:1101|64898)/[0-9]{4}\.[0-9]{2}\.[0-9]{2}\.[0-9]{6,8})"
            r"v[0-9]+(?:\.(?:full|abstract|article|supplementary)[\w.-]*)?/?(?:[?#]\S*)?",
            re.I,
        ),
        re.compile(
            r"(?:https?://)?(?:www\.)?(?:bio|med)rxiv\.org/content/(10\.[0-9]{4,9}/[^\s?#]+)", re.I
        ),
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
MAX_IDENTIFIER_CHARS = 1000


@dataclass(frozen=True, slots=True)
class Ids:
    """The identifiers of one paper; any of them may be missing (empty).

    ``doi`` is lower case, ``pmcid`` starts with ``PMC``, ``arxiv`` carries no version. A DOI that
    arXiv registered (``10.48550/arXiv.…``) is kept as the arXiv identifier it spells, so that
    ``doi`` is free for the published version. A DOI with a path step ``.`` or ``..`` is rejected:
    DOIs become paths of requests, and the step would lead to another page than the paper's.
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
            doi, arxiv = "", arxiv or _normalize_identifier("arxiv", match[1])
        if {".", ".."} & set(doi.split("/")):
            doi = ""
        object.__setattr__(self, "doi", doi)
        object.__setattr__(self, "arxiv", arxiv)

    @classmethod
    def parse(cls, paper: str | int | float | Ids) -> Ids:
        """Parse one identifier in any of the spellings people paste; return `Ids` unchanged.

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
            The text is not a known identifier.
        """
        if isinstance(paper, Ids):
            return paper
        text = str(int(paper) if isinstance(paper, float) and paper.is_integer() else paper)
        if not isinstance(paper, str) and not text.isdecimal():
            msg = f"{text[:40]} is not an identifier, but a value of type {type(paper).__name__}."
            raise BadRequest(msg, f"Give it as text. {EXAMPLES}")
        if not text.strip():
            raise BadRequest("No identifier was given.", EXAMPLES)
        if len(text) > MAX_IDENTIFIER_CHARS:
            msg = f"{text[:40]!r}… has {len(text):,} characters; no identifier is that long."
            raise BadRequest(msg, EXAMPLES)
        # Browsers escape what they copy; a per cent sign elsewhere belongs to the identifier.
        escaped = "://" in text or "%2f" in text.lower()
        cleaned = (unquote(text) if escaped else text).strip(" \t\r\n<>\"'").rstrip(" .,;\"'")
        if cleaned[:1] + cleaned[-1:] in ("()", "[]"):
            cleaned = cleaned[1:-1].strip()
        for name, spellings in _SPELLINGS.items():
            for spelling in spellings:
                match = spelling.fullmatch(cleaned)
                if match and (ids := cls(**{name: _normalize_identifier(name, match[1])})):
                    return ids
        shown = text if len(text) <= 80 else text[:77] + "…"
        what, hint = explain_unknown_identifier(text)
        kind = f"{what}, " if what else ""
        raise BadRequest(f"{shown!r} is {kind}not a PMID, PMCID, DOI or arXiv identifier.", hint)

    @classmethod
    def try_parse(cls, paper: str | int | Ids) -> Ids | BadRequest:
        """Parse one identifier of a list; return the error instead of raising it."""
        try:
            return cls.parse(paper)
        except BadRequest as error:
            return error

    @classmethod
    def maybe(cls, text: str) -> Ids:
        """Parse an identifier; return empty `Ids` if the text is not an identifier.

        >>> Ids.maybe("10.1000/a").doi, bool(Ids.maybe("see page 5"))
        ('10.1000/a', False)
        """
        try:
            return cls.parse(text)
        except BadRequest:
            return cls()

    @classmethod
    def of(cls, **given: str) -> Ids:
        """Parse identifiers given by kind (``pmid=…, doi=…``), and reject a mismatch of kinds.

        Raises
        ------
        BadRequest
            No identifier is given, or one is malformed or of another kind, or two contradict.
        """
        found = cls()
        for name, text in given.items():
            if not text.strip():
                continue
            ids = cls.parse(f"{name}:{text}" if name == "pmid" and text.strip().isdigit() else text)
            if not getattr(ids, name) and not (name == "doi" and ids.arxiv):
                msg = f"{text!r} was given as {name}, but it is not a valid {name}."
                kind = next((kind for kind in given if getattr(ids, kind, "")), "")
                hint = f"Give it as {kind}." if kind else ""
                raise BadRequest(msg, hint or EXAMPLES)
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
        """The paper's most permanent identifier, under which the paper is filed.

        >>> Ids(pmid="1", doi="10.1000/a").key
        'doi:10.1000/a'
        """
        return self.names()[0] if self else ""

    def names(self) -> list[str]:
        """Return every identifier as ``kind:value``, most permanent first.

        >>> Ids(pmid="1", doi="10.1000/a").names()
        ['doi:10.1000/a', 'pmid:1']
        """
        return [f"{name}:{value}" for name in ID_NAMES if (value := getattr(self, name))]

    def clash(self, other: Ids) -> str:
        """Describe the contradiction between two sets of identifiers; return "" if they agree."""
        for name in ID_NAMES:
            ours, theirs = getattr(self, name), getattr(other, name)
            if ours and theirs and ours != theirs:
                return f"{name} {ours} and {name} {theirs}"
        return ""

    def shares(self, other: Ids) -> bool:
        """Return whether both sets have at least one identifier in common."""
        return bool(set(self.names()) & set(other.names()))

    def __or__(self, other: Ids) -> Ids:
        """Fill missing identifiers from *other*."""
        gaps = {name: getattr(other, name) for name in ID_NAMES if not getattr(self, name)}
        return replace(self, **gaps)

    def __bool__(self) -> bool:
        return any(getattr(self, name) for name in ID_NAMES)

    def __str__(self) -> str:
        """Return the identifier in its usual notation.

        >>> str(Ids(pmid="31452104")), str(Ids(doi="10.1000/a"))
        ('PMID 31452104', 'doi:10.1000/a')
        """
        kind, _, value = self.key.partition(":")
        spelled = {"pmid": f"PMID {value}", "pmcid": value, "arxiv": f"arXiv:{value}"}
        return spelled.get(kind, self.key)


ID_NAMES: tuple[IdName, ...] = tuple(f.name for f in fields(Ids))  # type: ignore[misc]


def find_arxiv_version(text: str) -> str:
    """Return the version number in an arXiv identifier of any spelling; else "".

    >>> find_arxiv_version("https://doi.org/10.48550/arXiv.2601.00001v2")
    '2'
    """
    number = Ids.maybe(text).arxiv.rpartition("/")[2]
    match = re.search(rf"{re.escape(number)}v0*([1-9]\d*)", unquote(text), re.I) if number else None
    return match[1] if match else ""


def _normalize_identifier(name: IdName, value: str) -> str:
    """Return an identifier in its canonical notation; "" if it is malformed."""
    if name == "pmcid":
        return value.upper()
    if name == "doi":
        # Old SICI DOIs hold "<", ">" and "#"; elsewhere "?" and "#" begin what a browser added.
        bare = value if "<" in value else re.split(r"[?#]", value)[0].rstrip("/.,;")
        return bare.lower() if "/" in bare else ""
    if name == "arxiv":
        # math.GT/0309136 and math/0309136 are the same paper.
        return re.sub(r"^([a-z-]+)\.[a-z-]+/", r"\1/", value.lower())
    return value.lower()
