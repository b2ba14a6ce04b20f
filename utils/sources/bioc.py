"""Fetch articles of PMC as BioC: passages, each with its section.

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
from .loose_json import to_dict, to_dicts, to_text
from .source import Source

_MAX_BYTES = 32 * 1024 * 1024
_MAX_PARAGRAPHS = 20_000
_CACHE_DAYS = 1.0


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A passage of text.

    ``section`` in BioC's words (``INTRO``, ``METHODS``, …), ``kind`` what it is there
    (``paragraph``, ``title_2``, ``fig_caption``, ``table``, …).
    """

    section: str
    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Article:
    """An article of BioC; without paragraphs if BioC does not have the article."""

    ids: Ids = field(default_factory=Ids)
    license: str = ""
    paragraphs: tuple[Paragraph, ...] = ()


def fetch_article(ids: Ids, web: Web) -> Article:
    """Fetch the article with this PMCID, else with this PMID.

    Raises
    ------
    Unreachable
        BioC did not answer.
    BadContent
        It answered with another article.
    """
    name = ids.pmcid or ids.pmid
    if (kept := to_dict(web.cache.get("bioc", name))) and kept.get("v") == 1:
        return _row_to_article(kept)
    url = f"{web.settings.address('bioc')}/BioC_json/{name}/unicode"
    answer = web.get(url, check=_require_article_or_missing, limit=_MAX_BYTES)
    found = Article() if _is_missing_article(answer) else _reply_to_article(answer.json())
    if found.paragraphs and not _is_same_article(ids, found.ids):
        msg = f"BioC was asked for {name} and returned {found.ids.pmcid or found.ids.pmid}."
        raise BadContent(msg, "Report it if it happens again.", verdict="wrong_paper")
    web.cache.put("bioc", name, {**asdict(found), "v": 1}, _CACHE_DAYS)
    return found


def _is_missing_article(answer: Answer) -> bool:
    """Return whether the answer is the message that the article is missing."""
    return answer.body.lstrip()[:7] == b"[Error]"


def _require_article_or_missing(answer: Answer) -> None:
    """Raise unless the answer is an article, or the message that the article is missing."""
    if not _is_missing_article(answer) and not _list_documents(answer.json()):
        msg = "BioC answered with something that is not an article."
        raise Unreachable(msg, "Try again in a minute.", status=answer.status)


def _list_documents(reply: object) -> list[dict[str, Any]]:
    """Return the documents of a reply."""
    collections = to_dicts(reply if isinstance(reply, list) else [reply])
    return [document for one in collections for document in to_dicts(one.get("documents"))]


def _reply_to_article(reply: object) -> Article:
    """Return the article of a reply."""
    document = _list_documents(reply)[0]
    passages = to_dicts(document.get("passages"))
    front = to_dict(passages[0].get("infons")) if passages else {}
    words = (to_dict(document.get("infons")).get("license"), front.get("license"))
    return Article(
        Ids(
            pmcid=_to_identifier("PMC", front.get("article-id_pmc") or document.get("id")),
            pmid=_to_identifier("", front.get("article-id_pmid")),
            doi=to_text(front.get("article-id_doi"))[:500],
        ),
        next((to_text(word)[:500] for word in words if to_text(word)), ""),
        tuple(islice(_read_paragraphs(passages), _MAX_PARAGRAPHS)),
    )


def _read_paragraphs(passages: list[dict[str, Any]]) -> Iterator[Paragraph]:
    """Yield the paragraphs of passages that have text."""
    for passage in passages:
        infons = to_dict(passage.get("infons"))
        words = passage.get("text")
        if isinstance(words, str) and (words := words.strip()):
            section = to_text(infons.get("section_type"))[:60].upper()
            yield Paragraph(section or "OTHER", to_text(infons.get("type"))[:60], words)


def _to_identifier(prefix: str, value: object) -> str:
    """Return an identifier of digits, with its prefix; BioC may omit the prefix.

    >>> [_to_identifier("PMC", value) for value in ("PMC12", "12", "PMC12.1", None)]
    ['PMC12', 'PMC12', '', '']
    """
    digits = to_text(value).upper().removeprefix(prefix)
    return prefix + digits if digits.isascii() and digits.isdigit() else ""


def _is_same_article(requested: Ids, received: Ids) -> bool:
    """Return whether the article has the requested number, or no number."""
    if requested.pmcid:
        return received.pmcid in ("", requested.pmcid)
    return received.pmid in ("", requested.pmid)


def _row_to_article(kept: dict[str, Any]) -> Article:
    """Return an article from its cached form."""
    rows = to_dicts(kept.get("paragraphs"))
    return Article(
        Ids(**{name: to_text(value) for name, value in to_dict(kept.get("ids")).items()}),
        to_text(kept.get("license")),
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
