"""Send requests to Semantic Scholar's graph, and read its records as papers.

A key goes into a header and nowhere else. Without one, all users share a pool that answers 429 most
of the time, without saying for how long; backing off exponentially is a condition of use. Errors
come as ``error`` or as ``message``. Every field may be missing, null or of another type than
documented, and is then empty: the graph is made by programs from what publishers sent.
https://api.semanticscholar.org/api-docs/
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import quote, urlencode

from ..errors import (
    BadContent,
    BadRequest,
    NotAvailable,
    NotConfigured,
    NotFound,
    RefusedRequest,
    Unreachable,
)
from ..http import Answer, Rate, Web
from ..http.retry import RETRYABLE_STATUSES
from ..model.identifiers import MAX_IDENTIFIER_CHARS, Ids
from ..model.licenses import find_cc_license
from ..model.paper import PAPER_COLUMNS, Author, Paper
from ..model.site import Address
from ..model.tabular import Table, TabularResult
from ..system.plain_text import one_line, prepare_query_text
from .loose_json import to_dict, to_dicts, to_text

T = TypeVar("T")
ADDRESS = Address(
    "semantic_scholar", "https://api.semanticscholar.org/graph/v1", "Semantic Scholar"
)
RATE = Rate(
    "semantic_scholar",
    ("semantic_scholar",),
    # With a key or without, and over all endpoints.
    every=1.0,
    key="semantic_scholar_api_key",
    backoff=2.0,
    shared_without_key=True,
    hosts=("api.semanticscholar.org",),
)
PAGE_BEYOND_END = "limit and/or offset is not available"
"""Its error in place of an empty page, where a list ends before its own total."""
_REFUSAL_STATUSES = frozenset(range(400, 500)) - RETRYABLE_STATUSES
_CACHE_DAYS = 1.0
_API = r"https?://api\.semanticscholar\.org"
_OWN_FORMS = (
    ("CorpusId", re.compile(rf"(?:{_API}/)?corpusid:\s*(\d{{1,18}})", re.I)),
    ("MAG", re.compile(r"mag:\s*(\d{1,18})", re.I)),
    ("ACL", re.compile(r"acl:\s*([A-Z0-9][\w.-]{1,60})", re.I)),
    ("PMCID", re.compile(r"pmcid:\s*(\d{1,12})", re.I)),
    ("URL", re.compile(r"url:\s*(https?://\S+)", re.I)),
)  # fmt: skip
_OWN_PAGE = re.compile(
    r"https?://(?:www\.)?semanticscholar\.org/(?:paper|reader)/(?:[^/\s]+/)?([0-9a-f]{40})\S*", re.I
)
_EXAMPLES = (
    "For example 649def34f8be52c8b66281af98ae884c09aef38b, CorpusId:215416146, "
    "DOI:10.1038/s41586-020-2649-2, ARXIV:2601.00001, PMID:31452104, PMCID:7759461, "
    "MAG:112218234, ACL:W12-3903 or URL:https://arxiv.org/abs/2601.00001."
)
# Asked for by name: without, only the identifier and the title come.
LIST_FIELDS = (
    "paperId,externalIds,url,title,abstract,venue,publicationVenue,year,publicationDate,"
    "publicationTypes,journal,authors,citationCount,referenceCount,influentialCitationCount,"
    "openAccessPdf"
)
# Not to be had from the bulk search, nor in lists of citations.
FIELDS = f"{LIST_FIELDS},tldr"
_TYPES = {
    "JournalArticle": "Journal Article",
    "Review": "Review",
    "CaseReport": "Case Reports",
    "ClinicalTrial": "Clinical Trial",
    "Conference": "Congress",
    "Dataset": "Dataset",
    "Editorial": "Editorial",
    "LettersAndComments": "Letter",
    "MetaAnalysis": "Meta-Analysis",
    "News": "News",
    "Book": "Book",
    "BookSection": "Book Chapter",
}
TYPE_NAMES = {ours: theirs for theirs, ours in _TYPES.items()}
"""Semantic Scholar's word for each publication type it knows, by ours (PubMed's)."""
_PREPRINTS = re.compile(
    r"arxiv(\.org)?|corr|(bio|med|chem|psy|eco|engr|chin)a?rxiv|ssrn( electronic journal)?"
    r"|research square|preprints(\.org)?|authorea( preprints)?",
    re.I,
)
_DATE = re.compile(r"\d{4}(-\d\d(-\d\d)?)?")
_GROUP = re.compile(
    r"\b(consortium|collaborat(ion|ive)|group|network|committee|society|association|team|alliance"
    r"|investigators|initiative|project|task force|institute|university|organi[sz]ation"
    r"|council|ministry)\b",
    re.I,
)
_SUFFIX = re.compile(r"(?:Jr|Sr)\.?|I{2,3}|IV", re.I)
_PARTICLE = re.compile(
    "af|al|bin|da|das|de|del|della|den|der|des|di|dos|du|el|ibn|la|le|ten|ter|van|von|zu|zur"
)
_AT_PUBLISHER = ("GOLD", "HYBRID", "BRONZE")
_CREATIVE_COMMONS = re.compile(r"CCBY((?:NC|ND|SA)*)")


def to_graph_name(text: str) -> str:
    """Return the identifier *text* as Semantic Scholar spells it.

    >>> [to_graph_name(text) for text in ("https://doi.org/10.1000/A", "2601.00001v2", "PMC12")]
    ['DOI:10.1000/a', 'ARXIV:2601.00001', 'PMCID:12']
    >>> to_graph_name("corpusid: 12"), to_graph_name("https://aclanthology.org/W12-3903/")
    ('CorpusId:12', 'URL:https://aclanthology.org/W12-3903/')

    Raises
    ------
    BadRequest
        It is not an identifier that Semantic Scholar accepts.
    """
    name = prepare_query_text(text, "identifier", MAX_IDENTIFIER_CHARS).strip(" <>\"'")
    for kind, form in _OWN_FORMS:
        if match := form.fullmatch(name):
            return f"{kind}:{match[1]}" if kind != "URL" else _reject_dot_steps(f"URL:{match[1]}")
    if match := _OWN_PAGE.fullmatch(name):
        return match[1].lower()
    if ids := Ids.maybe(name):
        return build_graph_name(ids)
    if re.fullmatch(r"https?://\S+", name, re.I):
        return _reject_dot_steps(f"URL:{name}")
    msg = f"{name[:80]!r} is not an identifier that Semantic Scholar accepts."
    raise BadRequest(msg, _EXAMPLES)


def build_graph_name(ids: Ids) -> str:
    """Return the graph's name of a paper with at least one identifier, its own first."""
    if ids.s2:
        return ids.s2
    if ids.doi:
        return f"DOI:{ids.doi}"
    if ids.pmid:
        return f"PMID:{ids.pmid}"
    if ids.pmcid:
        return f"PMCID:{ids.pmcid.removeprefix('PMC')}"
    return f"ARXIV:{ids.arxiv}"


def build_paper_path(name: str) -> str:
    """Return the path of the paper *name*; slashes in names stay unescaped."""
    return f"/paper/{quote(name, safe='/:')}"


def request_json(
    path: str,
    params: Mapping[str, Any],
    web: Web,
    read: Callable[[Any], T],
    *,
    again: bool = False,
    learn: Callable[[Any], None] | None = None,
) -> T:
    """Return the answer at *path*, read by *read*; cached for a day, unless *again*.

    *read* raises `Unreachable` for an answer of another form; *learn* is called with an answer
    that was not from memory.

    Raises
    ------
    BadRequest
        It refuses the request.
    NotConfigured
        It does not know the key.
    NotFound
        It does not know the paper.
    Unreachable
        It did not answer, was busy through every try, or answered in another form.
    """
    if not again and (kept := recall_reply(path, params, web)):
        with suppress(Unreachable):  # what another version kept counts as forgotten
            return read(kept)
    url = f"{web.settings.address('semantic_scholar')}{path}"
    reply = _request_checked_json(lambda **options: web.get(url, params, **options), read, web)
    cache_reply(path, params, reply, web)
    if learn:
        learn(reply)
    return read(reply)


def fetch_batch(ids: list[str], fields: str, web: Web) -> list[Any]:
    """Return the records of up to 500 papers, in their order; see `request_json`.

    All of them are kept for a day at once, within the request, so that a process that dies asks
    for none of them again; an unknown paper is kept as ``{}``.
    """
    base, form = web.settings.address("semantic_scholar"), {"fields": fields}
    url = f"{base}/paper/batch?{urlencode(form, safe=',')}"

    def read(reply: Any) -> list[Any]:
        if not isinstance(reply, list) or len(reply) != len(ids):
            raise build_form_error(reply)
        rows = zip(ids, reply, strict=True)
        kept = {_build_cache_name(build_paper_path(name), form): row or {} for name, row in rows}
        web.cache.put_many("semantic_scholar", kept, _CACHE_DAYS)
        return reply

    def send(**options: Any) -> Answer:
        return web.post(url, json={"ids": ids}, **options)

    return list(_request_checked_json(send, read, web))


def recall_reply(path: str, params: Mapping[str, Any], web: Web) -> Any:
    """Return the answer to the same request within a day; else None."""
    return web.cache.get("semantic_scholar", _build_cache_name(path, params))


def cache_reply(path: str, params: Mapping[str, Any], reply: Any, web: Web) -> None:
    """Cache the answer to a request for a day."""
    web.cache.put("semantic_scholar", _build_cache_name(path, params), reply, _CACHE_DAYS)


def build_form_error(reply: Any) -> Unreachable:
    """Return the error for an answer of another form; some errors have status 200."""
    error = _get_error_text(reply)[:200] or "its answer has a form we do not understand"
    return Unreachable(f"Semantic Scholar sent no papers: {error}.", "Try again later.")


def _build_cache_name(path: str, params: Mapping[str, Any]) -> str:
    """Return the cache name of a request."""
    return f"{path}?{urlencode(params)}"


def _request_checked_json(
    send: Callable[..., Answer], read: Callable[[Any], object], web: Web
) -> Any:
    """Send a request and return the JSON of its answer."""
    key = web.settings.key("semantic_scholar_api_key")

    def check(answer: Answer) -> None:
        if answer.status >= 400:
            raise _build_refusal(answer, key)
        read(answer.json())

    headers = {"x-api-key": key} if key else {}
    try:
        answer = send(headers=headers, allow=_REFUSAL_STATUSES, check=check)
    except (NotAvailable, BadContent) as miss:  # no list is empty because of a detour
        raise Unreachable(miss.message, "Try again later.", **miss.details) from None
    except Unreachable as silent:
        if key or silent.code != "RATE_LIMIT":
            raise
        msg = "Semantic Scholar is busy: the pool shared by all who have no key is used up."
        hint = (
            "Try again later, or set SEMANTIC_SCHOLAR_API_KEY if you have a key: Semantic Scholar "
            "gives them for one's own research, not to third-party applications."
        )
        raise Unreachable(msg, hint, **silent.details) from None
    return answer.json()


def _build_refusal(answer: Answer, key: str) -> Exception:
    """Return the error for a status from 400 to 499; without a message a gateway answered."""
    error = ""
    with suppress(ValueError, RecursionError):
        error = _get_error_text(json.loads(answer.text()))
    # Nothing it says should hold the key; nothing we say does.
    error = (error.replace(key, "…") if key else error)[:200]
    if answer.status == 400 and error:
        return RefusedRequest(f"Semantic Scholar refused the request: {error}.", status=400)
    if answer.status in {401, 403} and error and key:
        hint = "Correct SEMANTIC_SCHOLAR_API_KEY, or unset it. Keys unused for 60 days expire."
        return NotConfigured("Semantic Scholar does not know the key.", hint, status=answer.status)
    if answer.status == 404 and error:
        return NotFound(f"Semantic Scholar: {error}.", "Check the identifier.")
    msg = f"Semantic Scholar answered {answer.status}."
    return Unreachable(msg, "Try again later.", status=answer.status)


def _get_error_text(reply: Any) -> str:
    """Return the message of an error, in either of its forms."""
    message = (reply.get("error") or reply.get("message")) if isinstance(reply, dict) else ""
    return one_line(message).rstrip(".") if isinstance(message, str) else ""


def _reject_dot_steps(name: str) -> str:
    """Return a name; reject path steps ``.`` and ``..``, which lead to another path."""
    if {".", ".."} & set(name.split("/")):
        raise BadRequest(f"{name[:80]!r} is not a valid identifier.", _EXAMPLES)
    return name


@dataclass(frozen=True, slots=True)
class ScholarPaper:
    """A paper as Semantic Scholar describes it.

    Counts are None where it does not say; ``url`` is its page there (which it asks to be linked
    to), ``author_ids`` are aligned with ``paper.authors``, ``tldr`` is one sentence written by a
    program, ``open_copy`` the address of a free copy it has seen, which ``is_at_publisher`` or not.
    """

    paper: Paper
    citation_count: int | None = None
    reference_count: int | None = None
    influential_citation_count: int | None = None
    url: str = ""
    author_ids: tuple[str, ...] = ()
    tldr: str = ""
    open_copy: str = ""
    is_at_publisher: bool = False


@dataclass(frozen=True, slots=True)
class ScholarPage(TabularResult):
    """A page of a list at Semantic Scholar, with the position of the next page.

    ``total`` is how long the list is (an estimate for searches), None where nobody says.
    ``next_start`` is None at the end, and where Semantic Scholar shows no more: then one of the
    ``warnings`` tells what is left out. A bulk search is continued with ``token`` and
    ``next_start`` together.
    """

    total: int | None
    papers: tuple[ScholarPaper, ...]
    next_start: int | None = None
    token: str = ""
    warnings: tuple[str, ...] = ()

    def to_table(self) -> Table:
        """Return a row for each paper."""
        own = ("citation_count", "reference_count", "influential_citation_count", "tldr", "url")
        rows = (
            found.paper.row() | {name: getattr(found, name) for name in own}
            for found in self.papers
        )
        return Table.from_rows((*PAPER_COLUMNS, *own), rows)


def to_scholar_paper(row: Any) -> ScholarPaper | None:
    """Return the paper of a row; None without an identifier and a title."""
    if not isinstance(row, dict):
        return None
    authors = [
        (author, to_text(one.get("authorId")))
        for one in to_dicts(row.get("authors"))
        if (author := parse_author(to_text(one.get("name"))))
    ]
    paper = _to_paper(row, tuple(author for author, _ in authors))
    if not (paper.ids or paper.title):
        return None
    return ScholarPaper(
        paper=paper,
        citation_count=to_paper_count(row.get("citationCount")),
        reference_count=to_paper_count(row.get("referenceCount")),
        influential_citation_count=to_paper_count(row.get("influentialCitationCount")),
        url=_to_web_address(row.get("url")),
        author_ids=tuple(number for _, number in authors),
        tldr=to_text(to_dict(row.get("tldr")).get("text")),
        open_copy=_to_web_address(to_dict(row.get("openAccessPdf")).get("url")),
        is_at_publisher=to_dict(row.get("openAccessPdf")).get("status") in _AT_PUBLISHER,
    )


def parse_author(name: str) -> Author | None:
    """Return an author from a full printed name; None if the name is empty.

    Particles belong to the family name; a name with a word for a group is a group's.

    >>> a = parse_author("B. V. van der Werkhoven")
    >>> a.given, a.family, a.initials
    ('B. V.', 'van der Werkhoven', 'BV')
    >>> parse_author("The ENCODE Project Consortium").collective
    'The ENCODE Project Consortium'
    """
    words = name.replace(",", ", ").split()
    if not words:
        return None
    if len(words) > 1 and _GROUP.search(name) and not re.match(r"[A-Z]\.?\s", name):
        return Author(collective=name)
    suffix = words.pop() if len(words) > 2 and _SUFFIX.fullmatch(words[-1]) else ""
    if words[0].endswith(",") and len(words) > 1:  # "Doe, J."
        words = [*words[1:], words[0]]
    words = [word.rstrip(",") for word in words]
    first = len(words) - 1
    while first > 0 and _PARTICLE.fullmatch(words[first - 1]):
        first -= 1
    given, family = " ".join(words[:first]), " ".join(words[first:])
    if not family:
        return None
    initials = "".join(part[0].upper() for part in re.split(r"[\s.-]+", given) if part)
    return Author(family, given, initials, suffix)


def _to_paper(row: Mapping[str, Any], authors: tuple[Author, ...]) -> Paper:
    """Return the record of a row."""
    journal, venue = to_dict(row.get("journal")), to_dict(row.get("publicationVenue"))
    shown = to_text(row.get("venue"))
    name = to_text(journal.get("name")) or to_text(venue.get("name")) or shown
    return Paper(
        ids=_to_ids(row),
        title=to_text(row.get("title")),
        abstract=_to_paragraphs(row.get("abstract")),
        authors=authors,
        journal=name,
        journal_abbreviation=shown if shown != name and shown.endswith(".") else "",
        issn=to_text(venue.get("issn")),
        **_to_issue_fields(journal, preprint=bool(_PREPRINTS.fullmatch(name))),
        published=_to_date(row),
        publication_types=_to_types(row, preprint=bool(_PREPRINTS.fullmatch(name))),
        license=_to_license(to_text(to_dict(row.get("openAccessPdf")).get("license"))),
        reference_count=to_paper_count(row.get("referenceCount")) or 0,
    )


def _to_ids(row: Mapping[str, Any]) -> Ids:
    """Return all valid identifiers of a row."""
    names = to_dict(row.get("externalIds"))
    doi = Ids.maybe(to_text(names.get("DOI")))
    number = to_text(names.get("PubMedCentral")).upper().removeprefix("PMC")
    return Ids(
        doi=doi.doi,
        pmid=Ids.maybe(f"PMID:{to_text(names.get('PubMed'))}").pmid,
        pmcid=Ids.maybe(f"PMC{number}").pmcid,
        arxiv=Ids.maybe(f"arXiv:{to_text(names.get('ArXiv'))}").arxiv or doi.arxiv,
        s2=Ids.maybe(to_text(row.get("paperId"))).s2,
    )


def _to_issue_fields(journal: Mapping[str, Any], *, preprint: bool) -> dict[str, Any]:
    r"""Return volume, issue and pages; two numbers in the volume are volume and issue.

    A preprint server has neither: ``abs/2601.00001`` is no volume.

    >>> _to_issue_fields({"volume": "12 3", "pages": "\n  525 - 535 "}, preprint=False)
    {'volume': '12', 'issue': '3', 'pages': '525-535'}
    """
    if preprint:
        return {}
    volume, pages = to_text(journal.get("volume")), to_text(journal.get("pages"))
    number, _, issue = volume.partition(" ")
    if not (number.isdecimal() and re.fullmatch(r"\d+", issue)):
        number, issue = volume, ""
    pages = re.sub(r"\s*([-\u2010-\u2013])\s*", r"\1", pages)
    return {"volume": number, "issue": issue, "pages": pages}


def _to_date(row: Mapping[str, Any]) -> str:
    """Return the date of publication, or the year."""
    day, year = to_text(row.get("publicationDate")), to_text(row.get("year"))
    if _DATE.fullmatch(day):
        return day
    return year if re.fullmatch(r"\d{4}", year) else ""


def _to_types(row: Mapping[str, Any], *, preprint: bool) -> tuple[str, ...]:
    """Return publication types in PubMed's terms; a preprint is always a preprint."""
    values = row.get("publicationTypes")
    theirs = [kind for kind in values if isinstance(kind, str)] if isinstance(values, list) else []
    ours = dict.fromkeys(_TYPES[kind] for kind in theirs if kind in _TYPES)
    if preprint:
        return ("Preprint", *(kind for kind in ours if kind != "Journal Article"))
    return tuple(ours)


def _to_license(name: str) -> str:
    """Return the licence of the free copy; its short name comes without blanks.

    >>> _to_license("CCBYNCND"), _to_license("CC0"), _to_license("publisher-specific")
    ('CC BY-NC-ND', 'CC0 1.0', 'publisher-specific')
    """
    if match := _CREATIVE_COMMONS.fullmatch(name.upper()):
        return "-".join(("CC BY", *re.findall("..", match[1])))
    return find_cc_license(name) or name


def _to_paragraphs(value: Any) -> str:
    """Return a text with its paragraphs; "" for null, which hides an abstract."""
    return value.strip() if isinstance(value, str) else ""


def to_paper_count(value: Any) -> int | None:
    """Return a number of papers; None for any other value."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _to_web_address(value: Any) -> str:
    """Return an address that a person can open; "" for anything else."""
    link = to_text(value)
    return link if re.fullmatch(r"https?://[^\s/<>\"]+(/[^\s<>\"]*)?", link) else ""
