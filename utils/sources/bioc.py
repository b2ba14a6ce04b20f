"""BioC: articles of PMC as passages, each with the section it stands in.

NCBI's text miners made it for programs: the open-access subset and author manuscripts, without
markup. A missing article is answered with status 200 and a line of HTML.

https://www.ncbi.nlm.nih.gov/research/bionlp/APIs/BioC-PMC/
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from itertools import islice
from typing import Any

from ..errors import BadContent, Unreachable
from ..http import Answer, Web
from ..model.identifiers import Ids
from ..model.site import Address
from .eutils import RATE
from .loose_json import mapping, mappings, text
from .source import Source

_MOST_BYTES = 32 * 1024 * 1024
_MOST_PARAGRAPHS = 20_000
_DAYS = 1.0


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A stretch of text.

    ``section`` in BioC's words (``INTRO``, ``METHODS``, …), ``kind`` what it is there
    (``paragraph``, ``title_2``, ``fig_caption``, ``table``, …).
    """

    section: str
    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Article:
    """An article as BioC has it; the paragraphs are empty where it has none."""

    ids: Ids = field(default_factory=Ids)
    license: str = ""
    paragraphs: tuple[Paragraph, ...] = ()


def fetch_article(ids: Ids, web: Web) -> Article:
    """The article with this PMCID, else with this PMID.

    Raises
    ------
    Unreachable
        BioC did not answer.
    BadContent
        It answered with another article.
    """
    name = ids.pmcid or ids.pmid
    if (kept := mapping(web.cache.get("bioc", name))) and kept.get("v") == 1:
        return _from_row(kept)
    url = f"{web.settings.address('bioc')}/BioC_json/{name}/unicode"
    answer = web.get(url, check=_complain, limit=_MOST_BYTES)
    found = Article() if _absent(answer) else _article(answer.json())
    if found.paragraphs and not _same(ids, found.ids):
        msg = f"BioC was asked for {name} and sent {found.ids.pmcid or found.ids.pmid}."
        raise BadContent(msg, "Report it if it happens again.", verdict="wrong_paper")
    web.cache.put("bioc", name, {**asdict(found), "v": 1}, _DAYS)
    return found


def _absent(answer: Answer) -> bool:
    return answer.body.lstrip()[:7] == b"[Error]"


def _complain(answer: Answer) -> None:
    """Raise for anything but an article, or the message that there is none: it may pass."""
    if not _absent(answer) and not _documents(answer.json()):
        msg = "BioC answered with something that is not an article."
        raise Unreachable(msg, "Try again in a minute.", status=answer.status)


def _documents(reply: object) -> list[dict[str, Any]]:
    collections = mappings(reply if isinstance(reply, list) else [reply])
    return [document for one in collections for document in mappings(one.get("documents"))]


def _article(reply: object) -> Article:
    document = _documents(reply)[0]
    passages = mappings(document.get("passages"))
    front = mapping(passages[0].get("infons")) if passages else {}
    words = (mapping(document.get("infons")).get("license"), front.get("license"))
    return Article(
        Ids(
            pmcid=_number("PMC", front.get("article-id_pmc") or document.get("id")),
            pmid=_number("", front.get("article-id_pmid")),
            doi=text(front.get("article-id_doi"))[:500],
        ),
        next((text(word)[:500] for word in words if text(word)), ""),
        tuple(islice(_paragraphs(passages), _MOST_PARAGRAPHS)),
    )


def _paragraphs(passages: list[dict[str, Any]]) -> Iterator[Paragraph]:
    for passage in passages:
        infons = mapping(passage.get("infons"))
        words = passage.get("text")
        if isinstance(words, str) and (words := words.strip()):
            section = text(infons.get("section_type"))[:60].upper()
            yield Paragraph(section or "OTHER", text(infons.get("type"))[:60], words)


def _number(prefix: str, value: object) -> str:
    """An identifier of digits; BioC writes PMCIDs with their prefix, and once wrote them without.

    >>> _number("PMC", "PMC12"), _number("PMC", "12"), _number("PMC", "PMC12.1"), _number("", None)
    ('PMC12', 'PMC12', '', '')
    """
    digits = text(value).upper().removeprefix(prefix)
    return prefix + digits if digits.isascii() and digits.isdigit() else ""


def _same(requested: Ids, received: Ids) -> bool:
    """Return whether the article has the requested number; one without a number is believed."""
    if requested.pmcid:
        return received.pmcid in ("", requested.pmcid)
    return received.pmid in ("", requested.pmid)


def _from_row(kept: dict[str, Any]) -> Article:
    rows = mappings(kept.get("paragraphs"))
    return Article(
        Ids(**{name: text(value) for name, value in mapping(kept.get("ids")).items()}),
        text(kept.get("license")),
        tuple(Paragraph(row["section"], row["kind"], row["text"]) for row in rows),
    )


SOURCE = Source(
    name="bioc",
    about="BioC: text of PMC's open articles, passage by passage",
    addresses=(
        Address(
            "bioc", "https://www.ncbi.nlm.nih.gov/research/bionlp/RESTful/pmcoa.cgi", "PMC as BioC"
        ),
    ),
    rates=(RATE,),
)
