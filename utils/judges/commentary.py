"""Find texts about a paper that are not the paper: summaries, digests, news, reviews, supplements.

Such a text mentions "the authors" and "this paper" much more often than the paper itself does,
quotes interviews, consists of bullet points without sentences, or has headings that name its kind.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from ..model.verdicts import DOUBT, REFUSE, Sign
from ..outline.sections import iterate_headings_and_paragraphs
from ..outline.words import count_words, strip_markup
from . import thresholds as limits
from .signs import JudgedCase
from .titles import is_notice_title

_MENTION: Final = re.compile(
    r"\b(?:the (?:authors?|researchers?|scientists)|(?:this|the) (?:paper|article|manuscript))\b",
    re.I,
)
# Research on publishing speaks of authors and papers, too.
_ON_PUBLISHING: Final = re.compile(
    r"\b(?:authors?|authorship|papers?|articles?|manuscripts?|journals?|publi\w+|researchers?"
    r"|scientists?|reviewers?|comment\w*|reply|response)\b",
    re.I,
)
# Publication types of PubMed that are about a paper by their kind.
_REMARKS: Final = frozenset(("Comment", "Editorial", "Letter", "News", "Published Erratum"))
# “…,” says the first author; said Roe.
_SAID: Final = re.compile(
    r"[\u201d\"\u00bb]\s?,?\s?(?:(?:s?he|they)\s)?"
    r"(?:says|said|explain(?:s|ed)|add(?:s|ed)|note[sd]|tells|told|writes|wrote)\b"
    r"|\b(?:says|said|explains)\s(?:the|a|one|its|first|lead|senior|co-?author|dr|prof|study)\b",
    re.I,
)
_ITEM: Final = re.compile(r"\s*(?:[-*+\u2022]|\(?\d{1,2}[.)])\s")
_ENDED: Final = re.compile(r"[.!?:;\u3002][\"\u201d)\]\d\s,\u2013-]*$")
_TALK: Final = re.compile(
    r"\W*(?:(?:reviewer|referee)s?\b|(?:public|peer) reviews?\b|decision letter"
    r"|(?:author\S{0,2} )?(?:response|reply)\b"
    r"|(?:\w+ )?digest$|editor\S{0,2} (?:summary|assessment|note)|press release|plain language)",
    re.I,
)
_SUPPLEMENT: Final = re.compile(
    r"\W*(?:(?:online |electronic )?supplement\w*|supporting (?:information|text|methods)"
    r"|appendix (?:to|for)\b|additional file|(?:text|note|methods) S\d)",
    re.I,
)


def find_commentary_signs(case: JudgedCase) -> Iterator[Sign]:
    """Yield the signs that a text is about a paper, or supplements it."""
    yield from _find_mention_signs(case)
    yield from _find_heading_signs(case)
    if case.evidence.abstract:
        yield from _find_quotation_signs(case)
        yield from _find_bullet_point_signs(case)


def _find_mention_signs(case: JudgedCase) -> Iterator[Sign]:
    """Yield a sign if a text often mentions "the authors" or "the study"."""
    found, title = case.evidence, case.paper.title or case.document.title
    if not found.abstract and (
        is_notice_title(title) or not _REMARKS.isdisjoint(case.paper.publication_types)
    ):
        return
    mentions = len(_MENTION.findall(found.text))
    rate = 1000 * mentions / max(1, count_words(found.text))
    if mentions < limits.COMMENTARY_MIN_MENTIONS or rate <= limits.COMMENTARY_MENTIONS_PER_1000[0]:
        return
    about = f"{title} {case.abstract}"
    is_clear = rate > limits.COMMENTARY_MENTIONS_PER_1000[1] and not _ON_PUBLISHING.search(about)
    words = f'mentions "the authors" or "this paper" {mentions} times'
    weight = REFUSE if is_clear and found.abstract else DOUBT
    yield Sign("about the paper", weight, words, "not_a_paper")


def _find_quotation_signs(case: JudgedCase) -> Iterator[Sign]:
    """Yield a sign if a text quotes several people, as news articles do."""
    text = case.evidence.text
    quotations = len(_SAID.findall(text))
    if quotations >= limits.SAID_MIN and 1000 * quotations > limits.SAID_PER_1000 * count_words(
        text
    ):
        yield Sign("news", DOUBT, f"quotes speakers {quotations} times", "not_a_paper")


def _find_bullet_point_signs(case: JudgedCase) -> Iterator[Sign]:
    """Yield a sign if most of a text is bullet points, as on slides and posters."""
    points = 0
    for part, level, text in iterate_headings_and_paragraphs(case.document.markdown):
        for line in text.split("\n") if part in ("lead", "body") and not level else ():
            is_menu = "](" in line
            if _ITEM.match(line) and not _ENDED.search(line) and not is_menu:
                length = count_words(line)
                points += length if length < limits.POINT_MAX_WORDS else 0
    words = max(points, case.evidence.prose)
    if points > limits.POINTS_SHARE * words:
        yield Sign(
            "points", DOUBT, (f"{points} of {words} words are in bulleted lists"), "not_a_paper"
        )


def _find_heading_signs(case: JudgedCase) -> Iterator[Sign]:
    """Yield a sign if most of a text is under headings of reviews, digests or supplements."""
    sections = [part for part in case.evidence.sections if part.part in ("body", "back")]
    words = sum(part.total for part in sections)
    if (
        sum(part.total for part in sections if _TALK.match(part.name))
        > limits.COMMENTARY_SHARE * words
    ):
        text = "most of the text is under headings of peer reviews or digests"
        yield Sign("talk", DOUBT, text, "not_a_paper")
    first = strip_markup(case.evidence.sections[0].name) if case.evidence.sections else ""
    named = _SUPPLEMENT.match(first) and not _SUPPLEMENT.match(case.paper.title)
    if (
        named
        or sum(part.total for part in sections if _SUPPLEMENT.match(part.name))
        > limits.COMMENTARY_SHARE * words
    ):
        yield Sign("supplement", DOUBT, "its title says that it is a supplement", "not_a_paper")
