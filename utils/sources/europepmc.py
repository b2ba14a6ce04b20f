"""Europe PMC: a second record of every paper, and JATS of the open-access part.

https://europepmc.org/RestfulWebService
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from typing import Any

from ..errors import NotFound, NotOffered, PaperError, Unreachable
from ..identifiers import Ids
from ..paper import Author, Fetched, Notice, Paper
from ..web import Answer, Rate, Web
from .source import Lookup, Route, Source

_IDS_PER_SEARCH = 25


def look_up(wanted: Sequence[Ids], web: Web) -> Iterator[tuple[Ids, Paper | PaperError]]:
    """The records behind PMIDs, PMCIDs and DOIs; `NotFound` where there is none."""
    for start in range(0, len(wanted), _IDS_PER_SEARCH):
        batch = wanted[start : start + _IDS_PER_SEARCH]
        try:
            papers = _search(" OR ".join(map(_clause, batch)), 4 * len(batch), web)
        except (Unreachable, NotOffered) as miss:
            yield from ((ids, miss) for ids in batch)
            continue
        for ids in batch:
            found = next((paper for paper in papers if paper.ids.shares(ids)), None)
            yield ids, found or NotFound(f"Europe PMC has no record of {ids}.")


def full_text(paper: Paper, web: Web) -> Iterator[Fetched]:
    """The JATS of an article in Europe PMC's open-access subset.

    Raises
    ------
    NotOffered
        Unknown, or not open access: the service does not say which.
    """
    url = f"{web.settings.europepmc_base_url}/{paper.ids.pmcid}/fullTextXML"
    answer = web.get(url)
    if not answer.body.strip():
        msg = f"Europe PMC sent an empty answer for {paper.ids.pmcid}."
        raise NotOffered(msg)
    yield Fetched(
        answer.body, "jats", url, SOURCE.name, "europepmc", ids=Ids(pmcid=paper.ids.pmcid)
    )


def _search(query: str, size: int, web: Web) -> list[Paper]:
    answer = web.get(
        f"{web.settings.europepmc_base_url}/search",
        {
            "query": query,
            "format": "json",
            "resultType": "core",
            "pageSize": size,
            "email": web.settings.pubmed_email,
        },
        check=_complain,
    )
    return [_paper(row) for row in answer.json()["resultList"]["result"]]


def _complain(answer: Answer) -> None:
    """Errors come with status 200 here."""
    reply = answer.json()
    if "resultList" not in reply:
        msg = f"Europe PMC answered with an error: {reply.get('errMsg', 'no result list')}"
        raise Unreachable(msg, "Try again later.")


def _clause(ids: Ids) -> str:
    if ids.pmid:
        return f"(EXT_ID:{ids.pmid} AND SRC:MED)"
    if ids.pmcid:
        return f"PMCID:{ids.pmcid}"
    escaped = ids.doi.replace('"', "")
    return f'DOI:"{escaped}"'


def _paper(row: dict[str, Any]) -> Paper:
    journal = row.get("journalInfo", {})
    kinds = tuple(row.get("pubTypeList", {}).get("pubType", ()))
    return Paper(
        ids=Ids(doi=row.get("doi", ""), pmid=str(row.get("pmid", "")), pmcid=row.get("pmcid", "")),
        title=_plain(row.get("title", "")),
        abstract=_plain(row.get("abstractText", "")),
        authors=tuple(map(_author, row.get("authorList", {}).get("author", ()))),
        journal=journal.get("journal", {}).get("title", ""),
        journal_abbreviation=journal.get("journal", {}).get("isoabbreviation", ""),
        issn=journal.get("journal", {}).get("issn", ""),
        volume=journal.get("volume", ""),
        issue=journal.get("issue", ""),
        pages=row.get("pageInfo", ""),
        published=row.get("firstPublicationDate", "") or str(row.get("pubYear", "")),
        languages=tuple(filter(None, (row.get("language", ""),))),
        publication_types=kinds,
        notices=(Notice("retraction"),) if "retracted publication" in map(str.lower, kinds) else (),
        license=row.get("license", ""),
    )


def _author(row: dict[str, Any]) -> Author:
    return Author(
        family=row.get("lastName", ""),
        given=row.get("firstName", ""),
        initials=row.get("initials", ""),
        collective=row.get("collectiveName", "")
        or ("" if row.get("lastName") else row.get("fullName", "")),
    )


def _plain(text: str) -> str:
    """Titles and a third of the abstracts carry HTML."""
    spaced = re.sub(r"<h4>(.*?)</h4>", r"\n\n\1: ", text)
    return html.unescape(re.sub(r"</?[a-zA-Z][^>]*>", "", spaced)).strip()


SOURCE = Source(
    name="europepmc",
    about="Europe PMC: records of papers PubMed lacks, JATS of open-access articles",
    service="europepmc",
    label="PMC",
    # No published limit; five a second is what its users were told to stay below.
    rates=(Rate("europepmc", ("europepmc",), every=0.2),),
    lookup=Lookup(("pmid", "pmcid", "doi"), look_up),
    routes=(Route("europepmc", ("pmcid",), full_text),),
)
