"""Check whether an article's body is complete, compared with what its other parts mention.

A truncated body can be well-formed XML, but the reference list, the page range, the counts, the
numbers of figures and sections and the abstract show that text is missing. Each of these is a sign.
A sign that no whole article shows is enough alone; signs that are only unusual count together.
Measured on 266 recorded whole articles, with ranges such as 3-7 expanded: nine leave at least two
references uncited, and none leaves four in a row uncited, except references that only its appendix
tables cite. None refers to a missing part, or skips the number of a figure, a table or a section.
Short papers with short lists (letters, corrections, meeting abstracts) give no sign.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final, cast

from lxml.etree import XPath

from ...judges.evidence import iterate_bracketed_numbers
from ...judges.wholeness import (
    find_first_missing_number,
    find_longest_gap,
    find_missing_report_part_signs,
    is_protocol_title,
)
from ...model.verdicts import REFUSE, WEAK, Sign
from ...outline.sections import is_conclusion_title, is_introduction_title, is_methods_title
from .walk import Element, get_all_text

_FEW: Final = 8  # references; in fewer, a share says nothing
_UNCITED: Final = (0.1, 0.35)  # of the references: more than the second convinces alone
_RUN: Final = 3  # consecutive uncited references: those of a missing section
_LATE: Final = 0.15  # of the list; so many at its end may be cited in tables of an appendix
_RANGE: Final = 50  # references at most in one "3-7"
# Words for each reference. Above the first a text may leave references uncited (a bibliography
# without links); below the second none can have cited them all.
_AMPLE: Final = 100
_SCANT: Final = 15
_MANY: Final = 15
_PER_PAGE: Final = (50, 100)  # words; a page of tables and figures still has more around them
_PAGES: Final = range(4, 100)  # others are a note, or numbers gone wrong
_STATED: Final = (0.5, 0.75)  # of the figures or tables that the counts state
_LEAST_PROSE: Final = 150  # words outside figures and tables; research letters have 290
_LEAST_SHARE: Final = 0.3  # of the words of the body; whole articles have 0.45 at least
_FLOATS: Final = frozenset({"fig", "table-wrap"})
_ELSEWHERE: Final = frozenset({"ref-list", "sub-article", "response"})
# Asked of the whole tree at once: a step for each of its elements takes ten times as long.
_OUTSIDE: Final = " or ".join(f"ancestor::{tag}" for tag in sorted(_ELSEWHERE))
_LINKS = cast("Callable[[Element], list[Element]]", XPath(f".//xref[not({_OUTSIDE})]"))
_NAMES = cast(
    "Callable[[Element], list[str]]", XPath("descendant-or-self::*/@id", smart_strings=False)
)
_POINTED_AT: Final = {
    "fig": "figure",
    "table": "table",
    "sec": "section",
    "disp-formula": "equation",
    "boxed-text": "box",
    "app": "appendix",
}
# A correction shows figure 3 alone; these kinds have all of their parts.
_KINDS: Final = frozenset(
    ("", "research-article", "review-article", "brief-report", "data-paper", "methods-article")
)
_TO: Final = re.compile(r"\s*[-\u2010-\u2015]\s*")
_LABEL: Final = re.compile(r"\W*(?:fig(?:ure)?|table)s?\W*(\d{1,2})[a-z]{0,2}\b", re.I)
_SECTION: Final = re.compile(r"\s*(\d{1,2})[.\s]")
_APPENDED: Final = re.compile(r"(?:supplement|appendix)\w{0,9}\s+(?:appendix\s+)?tables?", re.I)


def find_incomplete_body_signs(article: Element, words: int) -> Iterator[Sign]:
    """Yield the signs that a body of *words* words is incomplete."""
    if not words:
        return  # no body at all, which is another verdict
    links = _LINKS(article)
    targets = {rid for el in links for rid in (el.get("rid") or "").split()}
    titles = [
        title for el in article.iterfind("body/sec/title") if (title := get_all_text(el).strip())
    ]
    yield from _find_uncited_reference_signs(article, links, targets, words)
    yield from _find_missing_target_signs(article, links)
    yield from _find_missing_float_signs(article)
    pages = _count_printed_pages(article)
    if pages in _PAGES and words < _PER_PAGE[1] * pages:
        yield Sign(
            "pages", 2 + 2 * (words < _PER_PAGE[0] * pages), f"{words} words for {pages} pages"
        )
    if (article.get("article-type") or "").lower() in _KINDS:
        if (prose := _count_prose_words(article)) < min(_LEAST_PROSE, _LEAST_SHARE * words):
            yield Sign(
                "floats only",
                REFUSE,
                f"only {prose} of {words} words are outside figures and tables",
            )
        yield from _find_skipped_number_signs(article)
        yield from _find_unmentioned_float_signs(article, targets)
        if not is_protocol_title(
            _get_optional_text(article.find("front/article-meta/title-group/article-title"))
        ):
            yield from _find_missing_section_signs(article, titles)


# --- references -----------------------------------------------------------------------------------


def _find_uncited_reference_signs(
    article: Element, links: list[Element], targets: set[str], words: int
) -> Iterator[Sign]:
    """Yield a sign for references that are never cited; a complete text cites nearly all."""
    refs = _find_citable_references(article, targets)
    listed, cited = len(refs), _find_cited_reference_indices(article, refs, links)
    cites = f"cite {len(cited)} of" if cited else "for"
    finding = f"{words} words {cites} {listed} references"
    if listed >= _MANY and words < _SCANT * listed:
        # Refuses XML alone: none of 251 recorded whole articles shows this sign.
        yield Sign("scant", REFUSE + WEAK, finding)
        return
    left = listed - len(cited)
    if listed < _FEW or not cited or not left:
        return
    within, after = len(find_longest_gap(cited)), listed - max(cited)
    if left > _UNCITED[1] * listed and words < _AMPLE * listed:
        yield Sign("uncited", REFUSE, finding)
    elif within >= _RUN:
        yield Sign("uncited", REFUSE, f"{finding}, skipping {within} in a row")
    elif after >= _RUN:
        appended = after < _LATE * listed and _APPENDED.search(_get_body_text(article)) is not None
        yield Sign("uncited", 2 if appended else REFUSE, f"{finding}, none of the last {after}")
    else:
        yield Sign("uncited", 3 if left > _UNCITED[0] * listed else min(left, 2), finding)


def _find_citable_references(article: Element, targets: set[str]) -> list[Element]:
    """Return the references of the lists that the text cites, without *further reading*."""
    lists = [el for el in article.iterfind("back//ref-list") if not _is_outside_body(el)]
    used = [el for el in lists if any(part.get("id") in targets for part in el.iter())]
    return [ref for el in used or lists for ref in el.iter("ref")]


def _find_cited_reference_indices(
    article: Element, refs: list[Element], links: list[Element]
) -> set[int]:
    """Return the indices of the references that the article cites."""
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
    if 0 < len(cited) < len(refs):  # a range may stand there without links
        cited.update(
            number
            for number in iterate_bracketed_numbers(_get_body_text(article))
            if number <= len(refs)
        )
    return cited


def _count_prose_words(article: Element) -> int:
    """Return the number of words in the body outside captions and cells."""
    bodies = article.findall("body")
    return sum(len(get_all_text(el, " ").split()) for el in bodies) - sum(
        len(get_all_text(el, " ").split())
        for body in bodies
        for el in body.iter(*_FLOATS)
        if not _FLOATS.intersection(up.tag for up in el.iterancestors())
    )


def _get_body_text(article: Element) -> str:
    return " ".join(get_all_text(body) for body in article.findall("body"))


# --- parts ----------------------------------------------------------------------------------------


def _find_missing_target_signs(article: Element, links: list[Element]) -> Iterator[Sign]:
    """Yield a sign for missing parts to which the text refers; no valid document lacks any."""
    names = set(_NAMES(article))
    lost = [
        f"{_POINTED_AT[kind]} {rid}"
        for kind, rid in dict.fromkeys(_iterate_link_targets(links))
        if kind in _POINTED_AT and rid not in names
    ]
    if lost:
        more = f" and {len(lost) - 1} more" if lost[1:] else ""
        are = "are" if lost[1:] else "is"
        yield Sign("targets", REFUSE, f"{lost[0]}{more} {are} referred to, but missing")


def _find_missing_float_signs(article: Element) -> Iterator[Sign]:
    """Yield a sign for figures and tables that are counted but missing."""
    for name, tag in (("figure", "fig"), ("table", "table-wrap")):
        count = article.find(f"front/article-meta/counts/{name}-count".replace("figure-", "fig-"))
        stated = _parse_number_attribute(count.get("count")) if count is not None else 0
        there = sum(1 for _ in article.iter(tag))
        if there < _STATED[1] * stated:
            weight = 2 + 2 * (stated > 1 and there <= _STATED[0] * stated)
            yield Sign(
                f"stated {name}s", weight, f"{there} of the {stated} {name}s that the record counts"
            )


def _find_skipped_number_signs(article: Element) -> Iterator[Sign]:
    """Yield a sign for numbers that the figures, tables or sections skip."""
    for name, tag in (("figure", "fig"), ("table", "table-wrap")):
        labels = [_get_label_text(el) for el in article.iter(tag) if not _is_outside_body(el)]
        numbers = {int(match[1]) for label in labels if (match := _LABEL.match(label))}
        if lost := find_first_missing_number(numbers):
            yield Sign(
                f"skipped {name}", REFUSE, f"{name} {lost} is missing before {name} {max(numbers)}"
            )
    sections = list(article.iterfind("body/sec"))
    heads = [f"{_get_label_text(el)} {_get_optional_text(el.find('title'))}" for el in sections]
    numbers = {int(match[1]) for head in heads if (match := _SECTION.match(head.lstrip()))}
    if 1 < len(numbers) >= len(heads) - 2 and (lost := find_first_missing_number(numbers)):
        yield Sign(
            "skipped section", REFUSE, f"section {lost} is missing before section {max(numbers)}"
        )


def _get_label_text(el: Element) -> str:
    return _get_optional_text(el.find("label")).strip()


def _get_optional_text(el: Element | None) -> str:
    return "" if el is None else get_all_text(el)


def _find_unmentioned_float_signs(article: Element, targets: set[str]) -> Iterator[Sign]:
    """Yield a sign for figures and tables that are never mentioned although others are."""
    names = [el.get("id") for el in article.iter("fig", "table-wrap") if not _is_outside_body(el)]
    lost = [name for name in names if name and name not in targets]
    if lost and targets.intersection(filter(None, names)):
        many = len(lost) > 1 and 3 * len(lost) >= len(names)
        yield Sign(
            "unmentioned floats",
            1 + many,
            f"{len(lost)} of {len(names)} figures and tables are not referred to",
        )


def _find_missing_section_signs(article: Element, titles: list[str]) -> Iterator[Sign]:
    """Yield a sign for sections that research reports have and this article lacks."""
    if not titles:
        return
    if not any(map(is_conclusion_title, titles)):
        begun = is_introduction_title(titles[0]) and all(map(is_methods_title, titles[1:]))
        yield Sign(
            "unfinished", 2 + bool(begun), f"no conclusion after the section {titles[-1][:60]!r}"
        )
    # A communication may have one section for all but its methods, or a text without any.
    if len(titles) > 2 and article.find("body/p") is None:
        yield from find_missing_report_part_signs(titles, titles)


def _is_outside_body(el: Element) -> bool:
    return any(above.tag in _ELSEWHERE for above in el.iterancestors())


def _iterate_link_targets(links: list[Element]) -> Iterator[tuple[str, str]]:
    """Yield (kind, id) of every element that links refer to."""
    for el in links:
        for rid in (el.get("rid") or "").split():
            yield el.get("ref-type") or "", rid


def _count_printed_pages(article: Element) -> int:
    """Return the number of printed pages; 0 if the page numbers are not a range."""
    meta = article.find("front/article-meta")
    if meta is None:
        return 0
    first, last = (_parse_number_attribute(meta.findtext(name)) for name in ("fpage", "lpage"))
    if first and last >= first:
        return last - first + 1
    count = meta.find("counts/page-count")
    return _parse_number_attribute(count.get("count")) if count is not None else 0


def _parse_number_attribute(text: str | None) -> int:
    text = (text or "").strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) < 9 else 0


__all__ = ["find_incomplete_body_signs"]
