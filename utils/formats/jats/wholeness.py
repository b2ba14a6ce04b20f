"""Whether an article's body is all there: what its other parts promise, held against it.

A body cut short is well-formed XML like any other, but the reference list, the page range, the
counts and the figures referred to speak of the rest. Each is a sign; one that is far from where any
whole article is convinces alone, two that are merely unusual convince together. Measured on 257
recorded whole articles and 124 others kept out of it: each cites at least 80 % of its references
(ranges such as 3-7 filled in), refers to nothing that is not there, has three quarters of the
figures and tables it states, 25 words for each reference and 118 for each page. Short papers with
short lists (letters, corrections, abstracts of meetings) give no sign.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from ..wholeness import CONCLUDES, ENOUGH, OPENS, PREPARES, Sign
from .walk import Element, text_of

_FEW: Final = 8  # references; in fewer, a share says nothing
_CITED: Final = (0.65, 0.85)  # of the references: less than the first convinces alone
_RANGE: Final = 50  # references at most in one "3-7"
# Words for each reference. Above the first a text is long enough to do as it likes with its list
# (a bibliography nobody links to); below the second none can have cited them all.
_AMPLE: Final = 100
_SCANT: Final = 15
_MANY: Final = 15
_PER_PAGE: Final = (50, 100)  # words; a page of tables and figures still has more around them
_PAGES: Final = range(4, 100)  # others are a note, or numbers gone wrong
_STATED: Final = (0.5, 0.75)  # of the figures or tables that the counts state
_ELSEWHERE: Final = frozenset({"ref-list", "sub-article", "response"})
_POINTED_AT: Final = {
    "fig": "figure",
    "table": "table",
    "sec": "section",
    "disp-formula": "equation",
    "boxed-text": "box",
    "app": "appendix",
}
_TO: Final = re.compile(r"\s*[-\u2010-\u2015]\s*")


def missing(article: Element, words: int) -> str:
    """What shows that a body of so many words is not all of it; empty if nothing does."""
    if not words:
        return ""  # no body at all, which is another verdict
    signs = list(_signs(article, words))
    enough = sum(sign.weight for sign in signs) >= ENOUGH
    return ", ".join(sign.said for sign in signs) if enough else ""


def _signs(article: Element, words: int) -> Iterator[Sign]:
    links = [el for el in article.iter("xref") if not _is_elsewhere(el)]
    listed, cited = _citations(article, links)
    yield from _uncited(listed, cited, words)
    yield from _absent(article, links)
    yield from _uncounted(article)
    pages = _pages(article)
    if pages in _PAGES and words < _PER_PAGE[1] * pages:
        yield Sign(1 + (words < _PER_PAGE[0] * pages), f"{words} words for {pages} pages")
    titles = [text_of(el).strip() for el in article.iterfind("body/sec/title")]
    yield from _unfinished([title for title in titles if title], words, listed)


def _uncited(listed: int, cited: int, words: int) -> Iterator[Sign]:
    """References nobody cites: a whole text cites nearly all of them."""
    cites = f"cite {cited} of" if cited else "for"
    said = f"{words} words {cites} {listed} references"
    if listed >= _MANY and words < _SCANT * listed:
        yield Sign(2, said)
    elif listed >= _FEW and cited and words < _AMPLE * listed and cited < _CITED[1] * listed:
        yield Sign(1 + (cited < _CITED[0] * listed), said)


def _absent(article: Element, links: list[Element]) -> Iterator[Sign]:
    """Parts referred to that are not there, which a valid document rules out."""
    known = {el.get("id") for el in article.iter() if el.get("id")}
    lost = [
        f"{_POINTED_AT[kind]} {rid}"
        for kind, rid in dict.fromkeys(_targets(links))
        if kind in _POINTED_AT and rid not in known
    ]
    if lost:
        more = f" and {len(lost) - 1} more" if lost[1:] else ""
        are = "are" if lost[1:] else "is"
        yield Sign(min(len(lost), 2), f"{lost[0]}{more} {are} referred to, but not there")


def _uncounted(article: Element) -> Iterator[Sign]:
    """Figures and tables that the article's own counts have and the article has not."""
    for name, tag in (("figure", "fig"), ("table", "table-wrap")):
        count = article.find(f"front/article-meta/counts/{name}-count".replace("figure-", "fig-"))
        stated = _number(count.get("count")) if count is not None else 0
        there = sum(1 for _ in article.iter(tag))
        if there < _STATED[1] * stated:
            said = f"{there} of {stated} {name}s stated"
            yield Sign(1 + (stated > 1 and there <= _STATED[0] * stated), said)


def _unfinished(titles: list[str], words: int, listed: int) -> Iterator[Sign]:
    """An introduction that no section concludes."""
    if not titles or not OPENS.fullmatch(titles[0]) or any(map(CONCLUDES.search, titles)):
        return
    begins = all(PREPARES.fullmatch(title) for title in titles[1:])
    if begins and listed >= _FEW and words < _AMPLE / 2 * listed:
        yield Sign(2, f"{words} words that end before the results")
    else:
        yield Sign(1, f"no section after {titles[-1][:60]!r} concludes")


def _is_elsewhere(el: Element) -> bool:
    return any(above.tag in _ELSEWHERE for above in el.iterancestors())


def _targets(links: list[Element]) -> Iterator[tuple[str, str]]:
    """(kind, id) of all that is referred to."""
    for el in links:
        for rid in (el.get("rid") or "").split():
            yield el.get("ref-type") or "", rid


def _citations(article: Element, links: list[Element]) -> tuple[int, int]:
    """How many references there are, and how many of them are cited."""
    lists = [el for el in article.iterfind("back//ref-list") if not _is_elsewhere(el)]
    refs = [ref for el in lists for ref in el.iter("ref")]
    # Some publishers refer to the citation inside.
    numbers = {
        el.get("id"): at for at, ref in enumerate(refs, 1) for el in ref.iter() if el.get("id")
    }
    cited: set[int] = set()
    last, between = 0, ""
    for link in links:
        row = [numbers[rid] for rid in (link.get("rid") or "").split() if rid in numbers]
        if row and _TO.fullmatch(between) and last < row[0] <= last + _RANGE:
            cited.update(range(last, row[0]))  # "3-7" links 3 and 7 only
        cited.update(row)
        last, between = (row[-1], link.tail or "") if row else (0, "")
    return len(refs), len(cited)


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


__all__ = ["missing"]
