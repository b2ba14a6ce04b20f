"""Search Europe PMC, and fetch its records, citations and open full texts.

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
from ..system.plain_text import decode_references, one_line
from .loose_json import to_count, to_dict, to_dicts, to_short_text, to_text
from .source import Lookup, Query, Route, Source, add_search_cache, one_by_one, to_day_range

MAX_SKIPPED_HITS = 10_000
"""Hits that are passed over to reach a page whose mark is unknown: pages have no numbers."""
_IDS_PER_SEARCH = 25
_PAGE_SIZE = 1000
_REMEMBERED_DAYS = 1.0
_MARK_DAYS = 1 / 24
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
_LIST_MEMBERS: dict[Kind, tuple[str, str]] = {
    "citations": ("citationList", "citation"),
    "references": ("referenceList", "reference"),
}


def search(query: Query, web: Web) -> SearchResult:
    """Search Europe PMC: papers of PubMed and others, including preprints.

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
    pages = _Search(_build_query(query), _get_sort(query), web)
    mark, total = pages.find_mark(query.start)
    rows: list[dict[str, Any]] = []
    end = query.start
    while mark and len(rows) < query.max_results and not (rows and end >= total):
        page = pages.fetch_page(mark, min(_PAGE_SIZE, query.max_results - len(rows)), "core")
        rows += page.rows
        total, mark, end = page.total, page.next_mark, end + len(page.rows)
    _cache_preprint_numbers(rows, web)
    more = bool(mark and rows and end < total)
    if more:
        pages.cache_mark(end, mark)
    return SearchResult(
        query=query.text,
        effective_query=pages.query_text,
        total=total,
        papers=tuple(map(to_paper, rows)),
        next_start=end if more else None,
    )


@dataclass(frozen=True, slots=True)
class _Page:
    """One page of hits, and the mark of the next page; empty at the end."""

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
        """Return the *size* hits after a mark."""
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
            check=_check_search,
        )
        reply = answer.json()
        rows = list_rows(reply)[:size]
        following = to_text(reply.get("nextCursorMark"))
        return _Page(rows, _get_total(reply), following if rows and following != mark else "")

    def find_mark(self, start: int) -> tuple[str, int]:
        """Return the mark before hit number *start*, and the number of hits if known.

        The mark is empty where there are fewer hits.
        """
        if not start:
            return "*", 0
        if kept := self.web.cache.get("europepmc_mark", self._build_mark_name(start)):
            return to_text(kept), 0
        if start > MAX_SKIPPED_HITS:
            msg = f"Europe PMC has no numbered pages; hit {start:,} is too far to reach."
            raise BadRequest(msg, "Narrow the search, for example by date, or go page by page.")
        mark, at, total = "*", 0, 0
        while mark and at < start:
            page = self.fetch_page(mark, min(_PAGE_SIZE, start - at), "idlist")
            mark, at, total = page.next_mark, at + len(page.rows), page.total
        return mark, total

    def cache_mark(self, start: int, mark: str) -> None:
        """Cache the mark of the next page."""
        self.web.cache.put("europepmc_mark", self._build_mark_name(start), mark, _MARK_DAYS)

    def _build_mark_name(self, start: int) -> str:
        """Return the cache name of a mark."""
        return f"{start} {self.sort} {self.query_text}"


def _build_query(query: Query) -> str:
    """Return the query in Europe PMC's syntax."""
    if query.categories:
        msg = "Europe PMC has none of the categories of arXiv or Semantic Scholar."
        raise BadRequest(msg, "Search without them.")
    parts = [f"({query.text.strip()})"] if query.text.strip() else []
    if author := query.author.replace('"', " ").strip():
        parts.append(f'AUTH:"{author}"')
    if kinds := [kind.replace('"', " ") for kind in query.publication_types]:
        parts.append("(" + " OR ".join(f'PUB_TYPE:"{kind}"' for kind in kinds) + ")")
    first, last = to_day_range(query, "Europe PMC")
    if first or last:
        parts.append(f"FIRST_PDATE:[{first or '*'} TO {last or '*'}]")
    if not parts:
        raise BadRequest("There is nothing to search for.", "Give words or an author.")
    return " AND ".join(parts)


def _get_sort(query: Query) -> str:
    """Return Europe PMC's name of a sort order."""
    if query.sort_by not in _SORTS:
        msg = f"Europe PMC cannot sort by {query.sort_by!r}."
        raise BadRequest(msg, f"It sorts by {' or '.join(_SORTS)}.")
    return _SORTS[query.sort_by]


def look_up_papers(wanted: Sequence[Ids], web: Web) -> dict[Ids, Paper]:
    """Return the records behind PMIDs, PMCIDs and DOIs; for a preprint, its newest version."""
    answer = web.get(
        f"{web.settings.address('europepmc')}/search",
        {
            "query": " OR ".join(map(_build_id_clause, wanted)),
            "format": "json",
            "resultType": "core",
            "pageSize": 4 * len(wanted),
            "email": web.settings.contact,
        },
        check=_check_result_list,
        kept=True,
    )
    rows = list_rows(answer.json())
    _cache_preprint_numbers(rows, web)
    papers = [to_paper(row) for row in sorted(rows, key=get_version, reverse=True)]
    found = {ids: [paper for paper in papers if paper.ids.shares(ids)] for ids in wanted}
    return {ids: same[0] for ids, same in found.items() if same}


def fetch_full_text(paper: Paper, web: Web) -> Iterator[Fetched]:
    """Fetch the JATS of an article in Europe PMC's open-access subset.

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
    """Fetch the JATS of a preprint, by its Europe PMC number.

    The number is known with the record, if that came from here; else it is looked up.

    Raises
    ------
    NotAvailable
        No preprint (then nothing was sent), unknown to Europe PMC, or without text.
    """
    doi = paper.ids.doi
    number = to_text(web.cache.get(_PREPRINT, doi))
    if not number and not paper.ids.pmcid and _is_preprint(paper):
        look_up_papers([Ids(doi=doi)], web)
        number = to_text(web.cache.get(_PREPRINT, doi))
    if not number:
        msg = f"doi:{doi} is not a preprint that Europe PMC knows."
        raise NotAvailable(msg)
    url = f"{web.settings.address('europepmc')}/{number}/fullTextXML"
    answer = web.get(url, allow={500}, check=_raise_if_unavailable, kept=True)
    if answer.status == 500 or not answer.body.strip():
        msg = f"Europe PMC has no full text of the preprint {number}."
        raise NotAvailable(msg, status=answer.status)
    yield Fetched(
        answer.body, "jats", url, SOURCE.name, "europepmc_preprint", ids=Ids(doi=paper.ids.doi)
    )


def _is_preprint(paper: Paper) -> bool:
    """Return whether the record or the DOI is a preprint's."""
    kinds = {kind.lower() for kind in paper.publication_types}
    stated = kinds & {"preprint", "posted-content"}
    return bool(stated or _PREPRINT_DOI.match(paper.ids.doi))


def _cache_preprint_numbers(rows: Iterable[Mapping[str, Any]], web: Web) -> None:
    """Cache the numbers of preprints, so that full text needs no second look-up."""
    newest: dict[str, tuple[int, str]] = {}
    for row in rows:
        number = to_text(row.get("id"))
        if row.get("source") == "PPR" and re.fullmatch(r"PPR\d{1,12}", number, re.A):
            doi = to_text(row.get("doi")).lower()
            newest[doi] = max(newest.get(doi, (0, "")), (get_version(row), number))
    for doi, (_, number) in newest.items():
        web.cache.put(_PREPRINT, doi, number, _REMEMBERED_DAYS)


def _raise_if_unavailable(answer: Answer) -> None:
    """Raise for a long answer of status 500; a short one means that the text is missing."""
    if answer.status == 500 and len(answer.body) > _NOT_AVAILABLE_BYTES:
        raise Unreachable(f"{answer.host} answered 500.", status=500)


def _check_search(answer: Answer) -> None:
    """Raise `BadRequest` for a query that Europe PMC rejects, `Unreachable` without results."""
    reply = answer.json()
    if error := to_text(to_dict(reply).get("errMsg")):
        msg = f"Europe PMC cannot run this search: {error[:200]}"
        raise RefusedRequest(msg, "Check brackets and quotes.")
    _check_result_list(answer)
    _get_total(reply)


def _get_total(reply: Mapping[str, Any]) -> int:
    """Return the number of hits; raise if it is missing, since a guess would lose pages."""
    total = to_count(reply.get("hitCount"))
    if total is None:
        raise Unreachable("Europe PMC did not say how many hits there are.", "Try again later.")
    return total


def _check_result_list(answer: Answer) -> None:
    """Raise for an error, which comes with status 200."""
    reply = answer.json()
    if not isinstance(reply, dict) or not isinstance(reply.get("resultList"), dict):
        error = to_text(to_dict(reply).get("errMsg"))
        msg = f"Europe PMC answered with an error: {error[:200] or 'no result list'}"
        raise Unreachable(msg, "Try again later.")


def _build_id_clause(ids: Ids) -> str:
    """Return the search clause for an identifier."""
    if ids.pmid:
        return f"(EXT_ID:{ids.pmid} AND SRC:MED)"
    if ids.pmcid:
        return f"PMCID:{ids.pmcid}"
    escaped = ids.doi.replace('"', "")
    return f'DOI:"{escaped}"'


def list_rows(reply: object) -> list[dict[str, Any]]:
    """Return the rows of an answer."""
    return to_dicts(to_dict(to_dict(reply).get("resultList")).get("result"))


def to_paper(row: Mapping[str, Any]) -> Paper:
    """Return the paper of a row; any field may be missing. A preprint's journal is its server."""
    about = to_dict(row.get("journalInfo"))
    journal = to_dict(about.get("journal"))
    preprint = row.get("source") == "PPR"
    server = to_text(to_dict(row.get("bookOrReportDetails")).get("publisher")) if preprint else ""
    return Paper(
        ids=Ids(
            doi=to_text(row.get("doi")),
            pmid=Ids.maybe(to_text(row.get("pmid"))).pmid,
            pmcid=Ids.maybe(to_text(row.get("pmcid"))).pmcid,
        ),
        title=strip_html(to_short_text(row.get("title"))),
        abstract=strip_html(row.get("abstractText")),
        authors=tuple(map(_to_author, to_dicts(to_dict(row.get("authorList")).get("author")))),
        journal=to_short_text(journal.get("title")) or server,
        journal_abbreviation=to_text(journal.get("isoabbreviation")),
        issn=to_text(journal.get("issn")),
        volume=to_text(about.get("volume")),
        issue=to_text(about.get("issue")),
        pages=to_text(row.get("pageInfo")),
        published=to_text(row.get("firstPublicationDate")) or to_text(row.get("pubYear")),
        languages=tuple(filter(None, (to_text(row.get("language")),))),
        publication_types=("Preprint",) if preprint else tuple(_list_types(row)),
        notices=_list_notices(row),
        license=to_text(row.get("license")),
        version=to_text(row.get("versionNumber")) if preprint else "",
    )


def _list_types(row: Mapping[str, Any]) -> Iterator[str]:
    """Yield the publication types of a row."""
    kinds = to_dict(row.get("pubTypeList")).get("pubType")
    yield from filter(None, map(to_text, kinds if isinstance(kinds, list) else ()))


def _list_notices(row: Mapping[str, Any]) -> tuple[Notice, ...]:
    """Return later notices about the paper; for a preprint also its version in a journal."""
    links = to_dicts(to_dict(row.get("commentCorrectionList")).get("commentCorrection"))
    notices = [
        Notice(kind, to_text(link.get("reference")), _get_linked_pmid(link))
        for link in links
        if (kind := _NOTICES.get(to_text(link.get("type")).lower()))
    ]
    if "retracted publication" in map(str.lower, _list_types(row)) and not any(
        notice.kind == "retraction" for notice in notices
    ):
        notices.append(Notice("retraction"))
    return tuple(notices)


def _get_linked_pmid(link: Mapping[str, Any]) -> str:
    """Return the PMID of a linked record; "" if it is not in PubMed."""
    number = to_text(link.get("id"))
    return number if link.get("source") == "MED" and number.isdecimal() else ""


def _to_author(row: Mapping[str, Any]) -> Author:
    """Return an author of a row."""
    family = to_text(row.get("lastName"))
    who = to_dict(row.get("authorId"))
    return Author(
        family=family,
        given=to_text(row.get("firstName")),
        initials=to_text(row.get("initials")),
        collective=to_text(row.get("collectiveName"))
        or ("" if family else to_text(row.get("fullName"))),
        orcid=to_text(who.get("value")) if who.get("type") == "ORCID" else "",
    )


def get_version(row: Mapping[str, Any]) -> int:
    """Return the version of a preprint's row; 0 if it has none."""
    return to_count(row.get("versionNumber")) or 0


def strip_html(markup: object) -> str:
    """Return text without HTML, which may be escaped, as titles and abstracts have it.

    >>> strip_html("<h4>Aim</h4>P &lt; 0.05 of &lt;i&gt;ATM&lt;/i&gt;")
    'Aim: P < 0.05 of ATM'
    """
    raw = decode_references(markup) if isinstance(markup, str) else ""
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
    search=add_search_cache("europepmc", search),
    lookup=Lookup(("pmid", "pmcid", "doi"), _IDS_PER_SEARCH, look_up_papers),
    routes=(
        Route(
            "europepmc",
            ("pmcid",),
            one_by_one(fetch_full_text),
            share=0.6,
            label="Europe PMC",
        ),
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
class LinkedPaper:
    """A paper of a citation list; ``pmid`` is empty if Europe PMC did not find it in PubMed."""

    pmid: str = ""
    title: str = ""
    authors: str = ""
    journal: str = ""
    year: str = ""
    doi: str = ""

    @classmethod
    def from_paper(cls, paper: Paper) -> LinkedPaper:
        """Return a paper as an entry of a citation list."""
        journal = paper.journal_abbreviation or paper.journal
        ids = paper.ids
        return cls(ids.pmid, paper.title, paper.author_names, journal, paper.year, ids.doi)


def fetch_linked(pmid: str, kind: Kind, most: int, web: Web) -> tuple[int, list[LinkedPaper], str]:
    """Return the length of the list, its first *most* papers, and the requested address.

    Raises
    ------
    NotAvailable
        Europe PMC does not know the paper.
    Unreachable
        It did not answer, with an error of its own, or without a number of papers.
    """
    outer, inner = _LIST_MEMBERS[kind]

    def read(answer: Answer) -> tuple[int, list[dict[str, Any]]]:
        reply = answer.json()
        rows = to_dict(reply).get(outer)
        if not isinstance(rows, dict):
            error = str(reply.get("errMsg") or "") if isinstance(reply, dict) else ""
            msg = (
                f"Europe PMC sent no {kind}: {one_line(error)[:200] or 'an answer without a list'}"
            )
            raise Unreachable(msg, "Try again later.")
        total = to_count(reply.get("hitCount"))
        if total is None:
            raise Unreachable(f"Europe PMC did not say how many {kind} there are.")
        return total, to_dicts(rows.get(inner))

    url = f"{web.settings.address('europepmc')}/MED/{pmid}/{kind}"
    params = {"format": "json", "page": 1, "pageSize": most, "email": web.settings.contact}
    answer = web.get(url, params, check=read)
    total, rows = read(answer)
    found = [_to_linked_paper(row) for row in rows]
    return max(total, len(found)), found[:most], answer.url


def _to_linked_paper(row: dict[str, Any]) -> LinkedPaper:
    """Return the paper of a row of a citation list."""
    return LinkedPaper(
        pmid=Ids.maybe(to_text(row.get("id"))).pmid if row.get("source") == "MED" else "",
        title=one_line(strip_html(to_short_text(row.get("title")))),
        authors=to_text(row.get("authorString")).rstrip("."),
        journal=to_short_text(row.get("journalAbbreviation")),
        year=to_text(row.get("pubYear")),
        doi=to_text(row.get("doi")).lower(),
    )
