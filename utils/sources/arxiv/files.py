"""Texts of preprints, from the host arXiv keeps for programs: HTML, else LaTeX, else the PDF.

Every request takes three seconds, so none is made that cannot help: arXiv converts to HTML what
was submitted as LaTeX since December 2023, and the source of a paper without LaTeX is its PDF.
https://info.arxiv.org/about/accessible_HTML.html · https://info.arxiv.org/help/mimetypes.html
Licenses: https://info.arxiv.org/help/oa/index.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...errors import BadContent, Miss, NotOffered
from ...model.identifiers import Ids
from ...model.paper import Fetched, Media, Paper
from ...web import Web
from .entries import WITHDRAWN
from .manners import ask

_FIRST_HTML = "2023-12"
_OAI = "{http://www.openarchives.org/OAI/2.0/}"
_LICENSE = "{http://arxiv.org/OAI/arXiv/}license"
_LICENSE_DAYS = 30.0
# The line arXiv puts on top of its pages. Licenses elsewhere on a page may be those of a figure.
_LICENSE_LINE = re.compile(rb'id="license-tr"[^<>]{0,200}>\s*Licen[sc]e:\s*([^<>]{2,80}?)\s*<')


def fetch_full_text(paper: Paper, web: Web) -> Iterator[Fetched | Miss]:
    """Fetch the newest version's text, the form that keeps formulas best first.

    Raises
    ------
    NotOffered
        The paper was withdrawn.
    Unreachable
        arXiv is down, or wants to be left alone.
    """
    if WITHDRAWN in paper.publication_types:
        msg = f"arXiv:{paper.ids.arxiv} was withdrawn; what it said is not offered."
        raise NotOffered(msg, "Earlier versions may still be read at arxiv.org.")
    license_ = None
    for kind in _kinds(paper):
        url = f"{web.settings.address('arxiv')}/{kind}/{paper.ids.arxiv}"
        try:
            answer = ask(url, web, kept=True)
        except (NotOffered, BadContent) as miss:
            yield miss
            continue
        media = _media(answer.body)
        stated = _stated_license(answer.body) if media == "html" else ""
        if not stated and license_ is None:
            license_ = _fetch_license(paper.ids.arxiv, web)
        yield Fetched(
            answer.body,
            media,
            url,
            "arxiv",
            "arxiv",
            license=stated or license_ or "",
            charset=answer.charset if media == "html" else "",
            ids=Ids(arxiv=paper.ids.arxiv),
        )
        if kind == "e-print" and media == "pdf":
            return  # there is no other


def _kinds(paper: Paper) -> tuple[str, ...]:
    """Which forms there may be; only arXiv's own record says when the preprint was revised."""
    day = max(paper.revised if paper.version else "", _submitted(paper.ids.arxiv))
    return ("html", "e-print", "pdf") if day >= _FIRST_HTML else ("e-print", "pdf")


def _submitted(name: str) -> str:
    """The month in an identifier.

    >>> _submitted("2601.00001"), _submitted("hep-ex/0307015")
    ('2026-01', '')
    """
    match = re.match(r"(\d\d)(\d\d)\.", name)
    return f"20{match[1]}-{match[2]}" if match else ""


def _media(body: bytes) -> Media:
    """The media type by the first bytes: arXiv says nowhere else what a source file is."""
    if b"%PDF-" in body[:1024]:
        return "pdf"
    return "latex" if body[:2] == b"\x1f\x8b" or _is_tar(body) else "html"


def _is_tar(body: bytes) -> bool:
    return body[257:262] == b"ustar"


def _stated_license(page: bytes) -> str:
    match = _LICENSE_LINE.search(page)
    return match[1].decode("utf-8", "replace") if match else ""


def _fetch_license(name: str, web: Web) -> str:
    """The license in arXiv's OAI record; empty where arXiv does not answer."""
    from ...formats.safe_xml import parse

    if (kept := web.memory.recall("arxiv_license", name)) is not None:
        return str(kept)
    params = {
        "verb": "GetRecord",
        "identifier": f"oai:arXiv.org:{name}",
        "metadataPrefix": "arXiv",
    }
    try:
        root = parse(ask(web.settings.address("arxiv_oai"), web, params, patient=False).body)
    except Miss:
        return ""
    if root.tag != f"{_OAI}OAI-PMH" or root.find(f"{_OAI}error") is not None:
        return ""
    license_ = (root.findtext(f".//{_LICENSE}") or "").strip()
    web.memory.keep("arxiv_license", name, license_, _LICENSE_DAYS)
    return license_
