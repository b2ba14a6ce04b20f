"""Europe PMC: search, records, citations both ways, and JATS of the open part.

Errors come with status 200. Any member of a row may be missing or null; titles and a third of the
abstracts carry HTML. Preprints have records and numbers (``PPR…``) of their own, one for each
version; those of bioRxiv and medRxiv are fetched here in full text, because the servers' own pages
are closed to programs. Later publications about a paper are in ``commentCorrectionList``: of a
preprint also its version in a journal, which Europe PMC finds by title and first author and names
by PMID. Citations are asked for where NCBI's own links are few, which hold only what PMC or the
publisher supplied. https://europepmc.org/RestfulWebService
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ..errors import BadRequest, NotAvailable, RefusedRequest, Unreachable
from ..http import Answer, Rate, Web
from ..model.identifiers import Ids
from ..model.paper import Author, Fetched, Notice, NoticeKind, Paper, SearchResult
from ..model.site import Address
from ..system.plain_text import one_line, unescape_text
from .loose_json import mapping, mappings, short_text, text, whole
from .source import Lookup, Query, Route, Source, one_by_one, remembered, whole_days

LONGEST_WALK = 10_000
"""Hits that are passed over to reach a page whose mark is unknown: pages have no numbers."""
_IDS_PER_SEARCH = 25
_PAGE = 1000
_REMEMBERED_DAYS = 1.0
_MARKS_DAYS = 1 / 24
_SORTS = {"relevance": "", "pub_date": "P_PDATE_D desc"}
_PREPRINT = "europepmc_preprint"
# bioRxiv and medRxiv (the number or date tells them from Cold Spring Harbor's journals; the second
# prefix is theirs since 2025) and Research Square: known for preprints without a record.
_PREPRINT_DOI = re.compile(r"10\.(?:1101/(?:\d{6}$|\d{4}\.\d\d\.)|64898/|21203/rs\.)")
_NOT_AVAILABLE_BYTES = 1000  # its 500 for a preprint without text has about 150
_NOTICES: dict[str, NoticeKind] = {
    "retraction in": "retraction",
    "expression of concern in": "expression_of_concern",
    "erratum in": "erratum",
    "republished in": "republication",
    "update in": "update",
    "preprint of": "update",
}
Kind = Literal["citations", "references"]
_LISTS: dict[Kind, tuple[str, str]] = {
    "citations": ("citationList", "citation"),
    "references": ("referenceList", "reference"),
}


def search(query: Query, web: Web) -> SearchResult:
    """Search Europe PMC: papers of PubMed and others, preprints among them.

    Pages are reached by marks, each page's end leading to the next; they are remembered for an
    hour. A page without a mark is reached from the first hit, in steps of a thousand.

    Raises
    ------
    BadRequest
        Europe PMC has no such filter or order, cannot read the query, or the page lies beyond
        10,000 hits.
    Unreachable
        It did not answer.
    """
    pages = _Search(_query_text(query), _sort(query), web)
    mark, total = pages.find_mark(query.start)
    rows: list[dict[str, Any]] = []
    end = query.start
    while mark and len(rows) < query.max_results and not (rows and end >= total):
        page = pages.fetch_page(mark, min(_PAGE, query.max_results - len(rows)), "core")
        rows += page.rows
        total, mark, end = page.total, page.next_mark, end + len(page.rows)
    _remember_preprints(rows, web)
    more = bool(mark and rows and end < total)
    if more:
        pages.keep_mark(end, mark)
    return SearchResult(
        query=query.text,
        effective_query=pages.query_text,
        total=total,
        papers=tuple(map(paper_of, rows)),
        next_start=end if more else None,
    )


@dataclass(frozen=True, slots=True)
class _Page:
    """One page, and the mark of the next; empty at the end."""

    rows: list[dict[str, Any]]
    total: int
    next_mark: str


@dataclass(frozen=True, slots=True)
class _Search:
    """One search in Europe PMC's syntax, fetched page by page."""

    query_text: str
    sort: str
    web: Web

    def fetch_page(self, mark: str, size: int, kind: str) -> _Page:
        """The *size* hits behind a mark."""
        settings = self.web.settings
        answer = self.web.get(
            f"{settings.address('europepmc')}/search",
            {
                "query": self.query_text,
                "format": "json",
                "resultType": kind,
                "pageSize": size,
                "cursorMark": mark,
                "sort": self.sort,
                "email": settings.contact,
            },
            check=_refuse,
        )
        reply = answer.json()
        rows = rows_of(reply)[:size]
        following = text(reply.get("nextCursorMark"))
        return _Page(rows, _total(reply), following if rows and following != mark else "")

    def find_mark(self, start: int) -> tuple[str, int]:
        """The mark behind which hit number *start* is, and the number of hits if it was learnt.

        The mark is empty where there are fewer hits.
        """
        if not start:
            return "*", 0
        if kept := self.web.cache.get("europepmc_mark", self._name(start)):
            return text(kept), 0
        if start > LONGEST_WALK:
            msg = f"Europe PMC has no numbered pages; hit {start:,} is too far to walk to."
            raise BadRequest(msg, "Narrow the search, for example by date, or go page by page.")
        mark, at, total = "*", 0, 0
        while mark and at < start:
            page = self.fetch_page(mark, min(_PAGE, start - at), "idlist")
            mark, at, total = page.next_mark, at + len(page.rows), page.total
        return mark, total

    def keep_mark(self, start: int, mark: str) -> None:
        """Remember the mark of the next page."""
        self.web.cache.put("europepmc_mark", self._name(start), mark, _MARKS_DAYS)

    def _name(self, start: int) -> str:
        return f"{start} {self.sort} {self.query_text}"


def _query_text(query: Query) -> str:
    """The query in Europe PMC's syntax."""
    if query.categories:
        msg = "Europe PMC has none of the categories of arXiv or Semantic Scholar."
        raise BadRequest(msg, "Ask without them.")
    parts = [f"({query.text.strip()})"] if query.text.strip() else []
    if author := query.author.replace('"', " ").strip():
        parts.append(f'AUTH:"{author}"')
    if kinds := [kind.replace('"', " ") for kind in query.publication_types]:
        parts.append("(" + " OR ".join(f'PUB_TYPE:"{kind}"' for kind in kinds) + ")")
    first, last = whole_days(query, "Europe PMC")
    if first or last:
        parts.append(f"FIRST_PDATE:[{first or '*'} TO {last or '*'}]")
    if not parts:
        raise BadRequest("There is nothing to search for.", "Give words or an author.")
    return " AND ".join(parts)


def _sort(query: Query) -> str:
    if query.sort_by not in _SORTS:
        msg = f"Europe PMC cannot sort by {query.sort_by!r}."
        raise BadRequest(msg, f"It sorts by {' or '.join(_SORTS)}.")
    return _SORTS[query.sort_by]


def look_up(wanted: Sequence[Ids], web: Web) -> dict[Ids, Paper]:
    """The records behind PMIDs, PMCIDs and DOIs; of a preprint's versions the newest."""
    answer = web.get(
        f"{web.settings.address('europepmc')}/search",
        {
            "query": " OR ".join(map(_clause, wanted)),
            "format": "json",
            "resultType": "core",
            "pageSize": 4 * len(wanted),
            "email": web.settings.contact,
        },
        check=_complain,
        kept=True,
    )
    rows = rows_of(answer.json())
    _remember_preprints(rows, web)
    papers = [paper_of(row) for row in sorted(rows, key=version_of, reverse=True)]
    found = {ids: [paper for paper in papers if paper.ids.shares(ids)] for ids in wanted}
    return {ids: same[0] for ids, same in found.items() if same}


def fetch_full_text(paper: Paper, web: Web) -> Iterator[Fetched]:
    """The JATS of an article in Europe PMC's open-access subset.

    Raises
    ------
    NotAvailable
        Unknown, or not open access: the service does not say which.
    """
    url = f"{web.settings.address('europepmc')}/{paper.ids.pmcid}/fullTextXML"
    answer = web.get(url, kept=True)
    if not answer.body.strip():
        msg = f"Europe PMC sent an empty answer for {paper.ids.pmcid}."
        raise NotAvailable(msg)
    yield Fetched(
        answer.body, "jats", url, SOURCE.name, "europepmc", ids=Ids(pmcid=paper.ids.pmcid)
    )


def fetch_preprint_text(paper: Paper, web: Web) -> Iterator[Fetched]:
    """The JATS of a preprint, which has a number of its own at Europe PMC.

    The number is known with the record, if that came from here; else it is looked up.

    Raises
    ------
    NotAvailable
        No preprint (then nothing was sent), unknown to Europe PMC, or without text.
    """
    doi = paper.ids.doi
    number = text(web.cache.get(_PREPRINT, doi))
    if not number and not paper.ids.pmcid and _looks_like_preprint(paper):
        look_up([Ids(doi=doi)], web)
        number = text(web.cache.get(_PREPRINT, doi))
    if not number:
        msg = f"doi:{doi} is not known as a preprint of Europe PMC's."
        raise NotAvailable(msg)
    url = f"{web.settings.address('europepmc')}/{number}/fullTextXML"
    answer = web.get(url, allow={500}, check=_raise_if_down, kept=True)
    if answer.status == 500 or not answer.body.strip():
        msg = f"Europe PMC has no full text of the preprint {number}."
        raise NotAvailable(msg, status=answer.status)
    yield Fetched(
        answer.body, "jats", url, SOURCE.name, "europepmc_preprint", ids=Ids(doi=paper.ids.doi)
    )


def _looks_like_preprint(paper: Paper) -> bool:
    kinds = {kind.lower() for kind in paper.publication_types}
    stated = kinds & {"preprint", "posted-content"}
    return bool(stated or _PREPRINT_DOI.match(paper.ids.doi))


def _remember_preprints(rows: Iterable[Mapping[str, Any]], web: Web) -> None:
    """Keep the numbers of preprints, so that their full text needs no second look-up."""
    newest: dict[str, tuple[int, str]] = {}
    for row in rows:
        number = text(row.get("id"))
        if row.get("source") == "PPR" and re.fullmatch(r"PPR\d{1,12}", number, re.A):
            doi = text(row.get("doi")).lower()
            newest[doi] = max(newest.get(doi, (0, "")), (version_of(row), number))
    for doi, (_, number) in newest.items():
        web.cache.put(_PREPRINT, doi, number, _REMEMBERED_DAYS)


def _raise_if_down(answer: Answer) -> None:
    """Raise for a long 500; a short one means that there is no text."""
    if answer.status == 500 and len(answer.body) > _NOT_AVAILABLE_BYTES:
        raise Unreachable(f"{answer.host} answered 500.", status=500)


def _refuse(answer: Answer) -> None:
    """Raise `BadRequest` for a query that Europe PMC cannot read, `Unreachable` for no result."""
    reply = answer.json()
    if error := text(mapping(reply).get("errMsg")):
        msg = f"Europe PMC cannot run this search: {error[:200]}"
        raise RefusedRequest(msg, "Check brackets and quotes.")
    _complain(answer)
    _total(reply)


def _total(reply: Mapping[str, Any]) -> int:
    """Return the number of hits; raise without one, since a guess would lose pages."""
    total = whole(reply.get("hitCount"))
    if total is None:
        raise Unreachable("Europe PMC did not say how many hits there are.", "Try again later.")
    return total


def _complain(answer: Answer) -> None:
    """Errors come with status 200 here."""
    reply = answer.json()
    if not isinstance(reply, dict) or not isinstance(reply.get("resultList"), dict):
        error = text(mapping(reply).get("errMsg"))
        msg = f"Europe PMC answered with an error: {error[:200] or 'no result list'}"
        raise Unreachable(msg, "Try again later.")


def _clause(ids: Ids) -> str:
    if ids.pmid:
        return f"(EXT_ID:{ids.pmid} AND SRC:MED)"
    if ids.pmcid:
        return f"PMCID:{ids.pmcid}"
    escaped = ids.doi.replace('"', "")
    return f'DOI:"{escaped}"'


def rows_of(reply: object) -> list[dict[str, Any]]:
    """The rows of an answer."""
    return mappings(mapping(mapping(reply).get("resultList")).get("result"))


def paper_of(row: Mapping[str, Any]) -> Paper:
    """Any field may be missing or null; a preprint's journal is the server it lies on."""
    about = mapping(row.get("journalInfo"))
    journal = mapping(about.get("journal"))
    preprint = row.get("source") == "PPR"
    server = text(mapping(row.get("bookOrReportDetails")).get("publisher")) if preprint else ""
    return Paper(
        ids=Ids(
            doi=text(row.get("doi")),
            pmid=Ids.maybe(text(row.get("pmid"))).pmid,
            pmcid=Ids.maybe(text(row.get("pmcid"))).pmcid,
        ),
        title=without_html(short_text(row.get("title"))),
        abstract=without_html(row.get("abstractText")),
        authors=tuple(map(_author, mappings(mapping(row.get("authorList")).get("author")))),
        journal=short_text(journal.get("title")) or server,
        journal_abbreviation=text(journal.get("isoabbreviation")),
        issn=text(journal.get("issn")),
        volume=text(about.get("volume")),
        issue=text(about.get("issue")),
        pages=text(row.get("pageInfo")),
        published=text(row.get("firstPublicationDate")) or text(row.get("pubYear")),
        languages=tuple(filter(None, (text(row.get("language")),))),
        publication_types=("Preprint",) if preprint else tuple(_kinds(row)),
        notices=_notices(row),
        license=text(row.get("license")),
        version=text(row.get("versionNumber")) if preprint else "",
    )


def _kinds(row: Mapping[str, Any]) -> Iterator[str]:
    kinds = mapping(row.get("pubTypeList")).get("pubType")
    yield from filter(None, map(text, kinds if isinstance(kinds, list) else ()))


def _notices(row: Mapping[str, Any]) -> tuple[Notice, ...]:
    """Return later notices about the paper; of a preprint also its version in a journal."""
    links = mappings(mapping(row.get("commentCorrectionList")).get("commentCorrection"))
    notices = [
        Notice(kind, text(link.get("reference")), _pmid(link))
        for link in links
        if (kind := _NOTICES.get(text(link.get("type")).lower()))
    ]
    if "retracted publication" in map(str.lower, _kinds(row)) and not any(
        notice.kind == "retraction" for notice in notices
    ):
        notices.append(Notice("retraction"))
    return tuple(notices)


def _pmid(link: Mapping[str, Any]) -> str:
    number = text(link.get("id"))
    return number if link.get("source") == "MED" and number.isdecimal() else ""


def _author(row: Mapping[str, Any]) -> Author:
    family = text(row.get("lastName"))
    who = mapping(row.get("authorId"))
    return Author(
        family=family,
        given=text(row.get("firstName")),
        initials=text(row.get("initials")),
        collective=text(row.get("collectiveName")) or ("" if family else text(row.get("fullName"))),
        orcid=text(who.get("value")) if who.get("type") == "ORCID" else "",
    )


def version_of(row: Mapping[str, Any]) -> int:
    """The version of a preprint's row; 0 where it has none."""
    return whole(row.get("versionNumber")) or 0


def without_html(markup: object) -> str:
    """Titles and a third of the abstracts carry HTML, sometimes escaped.

    >>> without_html("<h4>Aim</h4>P &lt; 0.05 of &lt;i&gt;ATM&lt;/i&gt;")
    'Aim: P < 0.05 of ATM'
    """
    raw = unescape_text(markup) if isinstance(markup, str) else ""
    spaced = raw.replace("<h4>", "\n\n").replace("</h4>", ": ")
    return re.sub(r"</?[a-zA-Z][^<>]*>", "", spaced).strip()


SOURCE = Source(
    name="europepmc",
    probe="/search?query=ext_id:23193287&format=json&pageSize=1",
    about="Europe PMC: search over papers and preprints, their records, JATS of the open ones",
    addresses=(
        Address("europepmc", "https://www.ebi.ac.uk/europepmc/webservices/rest", "Europe PMC"),
    ),
    kept_by="indexers",
    searched=2,
    label="PMC",
    # No published limit; five a second is what its users were told to stay below.
    rates=(Rate("europepmc", ("europepmc",), every=0.2, in_flight=3),),
    search=remembered("europepmc", search),
    lookup=Lookup(("pmid", "pmcid", "doi"), _IDS_PER_SEARCH, look_up),
    routes=(
        Route("europepmc", ("pmcid",), one_by_one(fetch_full_text), share=0.6, label="Europe PMC"),
        Route(
            "europepmc_preprint",
            ("doi",),
            one_by_one(fetch_preprint_text),
            label="Preprint (Europe PMC)",
            version="preprint",
        ),
    ),
)


@dataclass(frozen=True, slots=True)
class Linked:
    """A paper on such a list; ``pmid`` is empty where Europe PMC did not find it in PubMed."""

    pmid: str = ""
    title: str = ""
    authors: str = ""
    journal: str = ""
    year: str = ""
    doi: str = ""

    @classmethod
    def of(cls, paper: Paper) -> Linked:
        """A paper as a list shows it."""
        journal = paper.journal_abbreviation or paper.journal
        ids = paper.ids
        return cls(ids.pmid, paper.title, paper.author_names, journal, paper.year, ids.doi)


def fetch_linked(pmid: str, kind: Kind, most: int, web: Web) -> tuple[int, list[Linked], str]:
    """Return the length of the list, its first *most* papers, and the address requested.

    Raises
    ------
    NotAvailable
        Europe PMC does not know the paper.
    Unreachable
        It did not answer, with an error of its own, or without a number of papers.
    """
    outer, inner = _LISTS[kind]

    def read(answer: Answer) -> tuple[int, list[dict[str, Any]]]:
        reply = answer.json()
        rows = mapping(reply).get(outer)
        if not isinstance(rows, dict):
            error = str(reply.get("errMsg") or "") if isinstance(reply, dict) else ""
            msg = (
                f"Europe PMC sent no {kind}: {one_line(error)[:200] or 'an answer without a list'}"
            )
            raise Unreachable(msg, "Try again later.")
        total = whole(reply.get("hitCount"))
        if total is None:
            raise Unreachable(f"Europe PMC did not say how many {kind} there are.")
        return total, mappings(rows.get(inner))

    url = f"{web.settings.address('europepmc')}/MED/{pmid}/{kind}"
    params = {"format": "json", "page": 1, "pageSize": most, "email": web.settings.contact}
    answer = web.get(url, params, check=read)
    total, rows = read(answer)
    found = [_to_linked(row) for row in rows]
    return max(total, len(found)), found[:most], answer.url


def _to_linked(row: dict[str, Any]) -> Linked:
    return Linked(
        pmid=Ids.maybe(text(row.get("id"))).pmid if row.get("source") == "MED" else "",
        title=one_line(without_html(short_text(row.get("title")))),
        authors=text(row.get("authorString")).rstrip("."),
        journal=short_text(row.get("journalAbbreviation")),
        year=text(row.get("pubYear")),
        doi=text(row.get("doi")).lower(),
    )
