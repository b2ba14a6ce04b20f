"""Whether an article's body is all there: what its other parts promise, held against it.

A body cut short is well-formed XML like any other, but the reference list, the page range and the
figures cited speak of the rest. Every rule is far from where whole articles are: of 257 recorded
ones each cites at least 63 % of its references, has 25 words for each of them and 118 for each
page. Short papers with short lists (letters, corrections, abstracts of meetings) are never doubted.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from .walk import Element, text_of

_FEW: Final = 8  # references; in fewer, a share says nothing
_CITED: Final = 0.4  # of the references: whole articles cite 0.63 at least
_CITED_IN_ORDER: Final = 0.6  # when the uncited ones are the last of the list, too
_REACHED: Final = 0.75  # of a numbered list: where the text stops citing
# Words for each reference. Above the first a text is long enough to do as it likes with its list
# (a bibliography nobody links to); below the second none can have cited them all.
_AMPLE: Final = 50
_SCANT: Final = 15
_MANY: Final = 15
_PER_PAGE: Final = 50  # words; a page of tables and figures still has more around them
_PAGES: Final = range(4, 100)  # others are a note, or numbers gone wrong
_SHORT: Final = 1000  # words; in more, a figure without an element is a slip of the archive
_ELSEWHERE: Final = frozenset({"ref-list", "sub-article", "response"})
_OPENS: Final = re.compile(r"\W*(?:[1I]\W+)?(?:introduction|background)\W*", re.I)
_PREPARES: Final = re.compile(r"\W*(?:\d\W+)?(?:patients?|subjects?|materials?|methods?)\b.*", re.I)


@dataclass(frozen=True, slots=True)
class _Citations:
    """How many references there are, how many are cited, and the last that is."""

    listed: int
    cited: int
    last: int


def missing(article: Element, words: int) -> str:
    """What shows that a body of so many words is not all of it; empty if nothing does."""
    if not words:
        return ""  # no body at all, which is another verdict
    rids = _cited(article)
    found = _citations(article, rids)
    if found.listed >= _FEW and found.cited and words < _AMPLE * found.listed:
        share = found.cited / found.listed
        ends = found.last / found.listed < _REACHED
        if share < _CITED or (ends and share < _CITED_IN_ORDER):
            return f"{words} words cite {found.cited} of {found.listed} references"
    if found.listed >= _MANY and words < _SCANT * found.listed:
        return f"{words} words for {found.listed} references"
    pages = _pages(article)
    if pages in _PAGES and words < _PER_PAGE * pages:
        return f"{words} words for {pages} pages"
    if words < _SHORT and found.listed >= _FEW and (absent := _absent(article, rids)):
        return f"{absent} is cited, but not there"
    if found.listed >= _FEW and words < _AMPLE * found.listed and _only_begins(article):
        return f"{words} words that end before the results"
    return ""


def _cited(article: Element) -> list[tuple[str, str]]:
    """(kind, id) of all the article itself refers to."""
    return [
        (el.get("ref-type") or "", rid)
        for el in article.iter("xref")
        if not _is_elsewhere(el)
        for rid in (el.get("rid") or "").split()
    ]


def _is_elsewhere(el: Element) -> bool:
    return any(above.tag in _ELSEWHERE for above in el.iterancestors())


def _citations(article: Element, rids: list[tuple[str, str]]) -> _Citations:
    wanted = {rid for _, rid in rids}
    lists = [el for el in article.iterfind("back//ref-list") if not _is_elsewhere(el)]
    refs = [ref for el in lists for ref in el.iter("ref")]
    # Some publishers refer to the citation inside.
    cited = [
        number
        for number, ref in enumerate(refs, 1)
        if any(el.get("id") in wanted for el in ref.iter() if el.get("id"))
    ]
    return _Citations(len(refs), len(cited), cited[-1] if cited else 0)


def _pages(article: Element) -> int:
    """Pages as printed; 0 where the numbers do not say."""
    meta = article.find("front/article-meta")
    if meta is None:
        return 0
    first, last = (_number(meta.findtext(name)) for name in ("fpage", "lpage"))
    if first and last >= first:
        return last - first + 1
    count = meta.find("counts/page-count")
    return _number(count.get("count")) if count is not None else 0


def _number(text: str | None) -> int:
    text = (text or "").strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) < 9 else 0


def _absent(article: Element, rids: list[tuple[str, str]]) -> str:
    """A figure or table that is cited, when not one of those cited has an element."""
    wanted = {rid: kind for kind, rid in rids if kind in ("fig", "table")}
    known = {el.get("id") for el in article.iter() if el.get("id")} if wanted else set()
    if any(rid in known for rid in wanted):
        return ""
    return next((f"{kind} {rid}" for rid, kind in wanted.items()), "")


def _only_begins(article: Element) -> bool:
    """Whether an introduction, and methods perhaps, are all the sections there are."""
    titles = [text_of(el).strip() for el in article.iterfind("body/sec/title")]
    titles = [title for title in titles if title]
    return (
        bool(titles)
        and _OPENS.fullmatch(titles[0]) is not None
        and all(_PREPARES.fullmatch(title) for title in titles[1:])
    )


__all__ = ["missing"]
