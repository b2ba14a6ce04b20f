"""arXiv: the record and the PDF of every preprint on it.

One request every three seconds, one at a time, summed over everything a user runs; a 429 comes
without Retry-After and means a minute at least.
https://info.arxiv.org/help/api/user-manual.html · https://info.arxiv.org/help/api/tou.html
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from ..errors import BadContent, NotOffered, Unreachable
from ..identifiers import Ids
from ..paper import Author, Fetched, Paper
from ..web import Answer, Rate, Web
from .source import Lookup, Route, Source, one_by_one, remembered

_ATOM = "{http://www.w3.org/2005/Atom}"
_ARXIV = "{http://arxiv.org/schemas/atom}"
_IDS_PER_REQUEST = 100
# The index changes at midnight; asking the same more than once a day is against the rules.
_REMEMBERED_DAYS = 1.0


def look_up(wanted: Sequence[Ids], web: Web) -> dict[Ids, Paper]:
    """The records behind arXiv identifiers."""
    known = remembered("arxiv", [ids.arxiv for ids in wanted], web)
    unknown = [ids.arxiv for ids in wanted if ids.arxiv not in known]
    for paper in _records(unknown, web):
        known[paper.ids.arxiv] = paper
        web.memory.keep("arxiv", paper.ids.arxiv, asdict(paper), _REMEMBERED_DAYS)
    return {ids: known[ids.arxiv] for ids in wanted if ids.arxiv in known}


def pdf(paper: Paper, web: Web) -> Iterator[Fetched]:
    """The newest version's PDF, from the host arXiv keeps for programs."""
    url = f"{web.settings.arxiv_base_url}/pdf/{paper.ids.arxiv}"
    answer = web.get(url)
    yield Fetched(answer.body, "pdf", url, SOURCE.name, "arxiv", ids=Ids(arxiv=paper.ids.arxiv))


def _records(arxiv_ids: Sequence[str], web: Web) -> list[Paper]:
    from ..formats.safe_xml import parse

    if not arxiv_ids:
        return []
    answer = web.get(
        f"{web.settings.arxiv_base_url}/api/query",
        # Without max_results even a list of identifiers is cut to ten.
        {"id_list": ",".join(arxiv_ids), "max_results": len(arxiv_ids)},
        allow={400},
        check=_complain,
    )
    entries = parse(answer.body).iter(f"{_ATOM}entry")
    papers = (_paper(entry) for entry in entries if entry.find(f"{_ATOM}author") is not None)
    return [paper for paper in papers if paper.ids.arxiv]


def _complain(answer: Answer) -> None:
    """An error is a feed with one entry, whatever the status."""
    from ..formats.safe_xml import parse

    if b"arxiv.org/api/errors" in answer.body:
        msg = "arXiv refused the identifiers."
        hint = "Check the spelling, such as 2601.00001 or hep-ex/0307015."
        raise NotOffered(msg, hint, status=400)
    try:
        whole = b"<feed" in answer.body[:2000] and parse(answer.body) is not None
    except BadContent:
        whole = False
    if not whole:
        msg = "arXiv answered with something that is not a feed."
        raise Unreachable(msg, "Try again later.")


def _paper(entry: Any) -> Paper:
    def text(tag: str) -> str:
        return " ".join((entry.findtext(tag) or "").split())

    where = text(f"{_ATOM}id")
    return Paper(
        ids=Ids(arxiv=Ids.maybe(where).arxiv, doi=Ids.maybe(text(f"{_ARXIV}doi")).doi),
        title=text(f"{_ATOM}title"),
        abstract=text(f"{_ATOM}summary"),
        authors=tuple(
            _author(" ".join((author.findtext(f"{_ATOM}name") or "").split()))
            for author in entry.iter(f"{_ATOM}author")
        ),
        journal="arXiv",
        published=text(f"{_ATOM}published")[:10],
        revised=text(f"{_ATOM}updated")[:10],
        publication_types=("Preprint",),
        keywords=tuple(category.get("term", "") for category in entry.iter(f"{_ATOM}category")),
    )


def _author(name: str) -> Author:
    """ArXiv prints names whole; the last word is the family name more often than not."""
    given, _, family = name.rpartition(" ")
    return Author(family=family, given=given)


SOURCE = Source(
    name="arxiv",
    about="arXiv: preprints' records and PDFs",
    service="arxiv",
    label="arXiv",
    rates=(Rate("arxiv", ("arxiv",), every=3.0, alone=True, penalty=60.0, hosts=("arxiv.org",)),),
    lookup=Lookup(("arxiv",), _IDS_PER_REQUEST, look_up),
    routes=(Route("arxiv", ("arxiv",), one_by_one(pdf)),),
)
