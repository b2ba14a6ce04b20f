"""What every finder does alike: words looked up, and one order made of two.

Users and models type anything: quotation marks, operators, ten thousand characters, NUL. Only
words leave here, so that none of it is ever the syntax of an index.

Fuse two rankings: what was found by words and what was found by meaning.

Reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009) looks at ranks alone, since a
BM25 score and a cosine cannot be added: a passage gets ``1 / (k + rank)`` from each way that found
it. With their k of 60 whatever both ways have among their fifty stands above the first of either,
and ranks lie so close together that a weight for quality turns them over. From 10 to 15 all goes
equally well (`benchmarks/corpus_retrieval.py`); with 12 a trial (quality 8 of 9) still goes ahead
of the study (4) just before it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from ..model.passage import Hit
from ..system.plain_text import encodable

# Two parts at most stay together ("GLP-1", "IL-6"): of "COVID-19-related", COVID-19 must be found.
_TERM = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)?")
_MOST = 48
_LONGEST = 64
# They stand in almost every passage: they cost much and order nothing.
_STOP_WORDS = """
    a an and are as at be been between both but by can did do does for from had has have how if in
    into is it its may more no not of on or our over per such than that the their them there these
    they this those to was we were what when where which while who why will with would
"""
_COMMON = frozenset(_STOP_WORDS.split())
DEPTH = 50
K = 12.0
Scored = tuple[str, str, float]
"""UUID, paper, score: one passage found in one way."""


def terms_of(query: str) -> list[str]:
    """The different words of *query* in their order, 48 at most, in lower case.

    Function words are left out unless there is nothing else.

    Examples
    --------
    >>> terms_of('What does "GLP-1" do AND NOT in title:mice*?')
    ['glp-1', 'title', 'mice']
    >>> terms_of("who")
    ['who']
    """
    found = dict.fromkeys(term.lower() for term in _TERM.findall(query) if len(term) <= _LONGEST)
    return [*([term for term in found if term not in _COMMON] or found)][:_MOST]


def plain(text: str) -> str:
    """*text* without what databases refuse: NUL, and halves of surrogate pairs."""
    return encodable(text).replace("\0", " ")


def key(name: str) -> str:
    """The name of a journal or type as filters compare it."""
    return plain(name).casefold().strip()


def folded(text: str) -> str:
    """*text* without accents, for an index that does not fold them itself.

    >>> folded("Sjögren’s café")
    'Sjogren’s cafe'
    """
    apart = unicodedata.normalize("NFD", text)
    return "".join(character for character in apart if not unicodedata.combining(character))


def depth_for(limit: int) -> int:
    """How many of each way are fused, for *limit* hits."""
    return max(DEPTH, limit)


def fused(
    by_words: Sequence[Scored], by_meaning: Sequence[Scored], limit: int, k: float = K
) -> list[Hit]:
    """The best *limit* of both, each list being ordered best first; ties by UUID."""
    papers: dict[str, str] = {}
    scores: dict[str, float] = {}
    for way in (by_words, by_meaning):
        for rank, (uuid, paper, _) in enumerate(way, start=1):
            papers[uuid] = paper
            scores[uuid] = scores.get(uuid, 0.0) + 1.0 / (k + rank)
    bm25 = {uuid: score for uuid, _, score in by_words}
    sim = {uuid: score for uuid, _, score in by_meaning}
    best = sorted(scores, key=lambda uuid: (-scores[uuid], uuid))[: max(0, limit)]
    return [Hit(uuid, papers[uuid], scores[uuid], sim.get(uuid), bm25.get(uuid)) for uuid in best]
