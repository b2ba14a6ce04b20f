"""Find texts about a paper that are not the paper: summaries by programs, digests, news.

Such a text speaks of "the authors" and "this paper" many times as often as the paper itself does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from ..model.verdicts import DOUBT, REFUSE, Sign
from ..outline.words import count_words
from .signs import Case
from .thresholds import COMMENTARY_MENTIONS_PER_1000, COMMENTARY_MIN_MENTIONS

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


def find_signs(case: Case) -> Iterator[Sign]:
    """Yield the sign that a text tells about a paper that has an abstract."""
    found = case.evidence
    if not found.abstract:
        return
    mentions = len(_MENTION.findall(found.text))
    rate = 1000 * mentions / max(1, count_words(found.text))
    if mentions < COMMENTARY_MIN_MENTIONS or rate <= COMMENTARY_MENTIONS_PER_1000[0]:
        return
    about = f"{case.paper.title or case.document.title} {case.abstract}"
    is_clear = rate > COMMENTARY_MENTIONS_PER_1000[1] and not _ON_PUBLISHING.search(about)
    words = f'speaks {mentions} times of "the authors" or "this paper"'
    yield Sign("about the paper", REFUSE if is_clear else DOUBT, words, "not_a_paper")
