"""Europe PMC: a second record of every paper, and JATS of the open-access part.

https://europepmc.org/RestfulWebService
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from typing import Any

from ..errors import NotOffered, Unreachable
from ..identifiers import Ids
from ..paper import Author, Fetched, Notice, Paper
from ..web import Answer, Rate, Web
from .source import Lookup, Route, Source, one_by_one

_IDS_PER_SEARCH = 25


def look_up(wanted: Sequence[Ids], web: Web) -> dict[Ids, Paper]:
    """The records behind PMIDs, PMCIDs and DOIs."""
    answer = web.get(
        f"{web.settings.europepmc_base_url}/search",
        {
            "query": " OR ".join(map(_clause, wanted)),
            "format": "json",
            "resultType": "core",
            "pageSize": 4 * len(wanted),
            "email": web.settings.pubmed_email,
        },
        check=_complain,
    )
    papers = [_paper(row) for row in answer.json()["resultList"]["result"]]
    found = {ids: [paper for paper in papers if paper.ids.shares(ids)] for ids in wanted}
    return {ids: same[0] for ids, same in found.items() if same}


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


def _complain(answer: Answer) -> None:
    """Errors come with status 200 here."""
    reply = answer.json()
    if not isinstance(reply, dict) or "resultList" not in reply:
        told = reply.get("errMsg") if isinstance(reply, dict) else ""
        msg = f"Europe PMC answered with an error: {told or 'no result list'}"
        raise Unreachable(msg, "Try again later.")


def _clause(ids: Ids) -> str:
    if ids.pmid:
        return f"(EXT_ID:{ids.pmid} AND SRC:MED)"
    if ids.pmcid:
        return f"PMCID:{ids.pmcid}"
    escaped = ids.doi.replace('"', "")
    return f'DOI:"{escaped}"'


def _paper(row: dict[str, Any]) -> Paper:
    """Any field may be missing or null."""
    about = row.get("journalInfo") or {}
    journal = about.get("journal") or {}
    kinds = tuple((row.get("pubTypeList") or {}).get("pubType") or ())
    authors = (row.get("authorList") or {}).get("author") or ()
    ids = Ids(doi=row.get("doi") or "", pmid=row.get("pmid") or "", pmcid=row.get("pmcid") or "")
    return Paper(
        ids=ids,
        title=without_html(row.get("title")),
        abstract=without_html(row.get("abstractText")),
        authors=tuple(_author(author) for author in authors if author),
        journal=journal.get("title") or "",
        journal_abbreviation=journal.get("isoabbreviation") or "",
        issn=journal.get("issn") or "",
        volume=about.get("volume") or "",
        issue=about.get("issue") or "",
        pages=row.get("pageInfo") or "",
        published=str(row.get("firstPublicationDate") or row.get("pubYear") or ""),
        languages=tuple(filter(None, (row.get("language"),))),
        publication_types=kinds,
        notices=(Notice("retraction"),) if "retracted publication" in map(str.lower, kinds) else (),
        license=row.get("license") or "",
    )


def _author(row: dict[str, Any]) -> Author:
    family = row.get("lastName") or ""
    return Author(
        family=family,
        given=row.get("firstName") or "",
        initials=row.get("initials") or "",
        collective=row.get("collectiveName") or ("" if family else row.get("fullName") or ""),
    )


def without_html(text: str | None) -> str:
    """Titles and a third of the abstracts carry HTML, sometimes escaped.

    >>> without_html("<h4>Aim</h4>P &lt; 0.05 of &lt;i&gt;ATM&lt;/i&gt;")
    'Aim: P < 0.05 of ATM'
    """
    spaced = re.sub(r"<h4>(.*?)</h4>", r"\n\n\1: ", html.unescape(text or ""))
    return re.sub(r"</?[a-zA-Z][^>]*>", "", spaced).strip()


SOURCE = Source(
    name="europepmc",
    about="Europe PMC: records of papers PubMed lacks, JATS of open-access articles",
    service="europepmc",
    label="PMC",
    # No published limit; five a second is what its users were told to stay below.
    rates=(Rate("europepmc", ("europepmc",), every=0.2),),
    lookup=Lookup(("pmid", "pmcid", "doi"), _IDS_PER_SEARCH, look_up),
    routes=(Route("europepmc", ("pmcid",), one_by_one(full_text)),),
)
