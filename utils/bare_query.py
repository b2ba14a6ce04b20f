"""A PubMed query without PubMed's field tags: the words that other sources understand.

``crispr[ti] AND 2020:2024[dp]`` is nonsense anywhere else. A tag that only says where a word
stands is dropped and its words kept; a restriction that is not about words (a date, a language, a
type) goes altogether, with the operator that joined it. AND, OR, NOT, quotes and brackets stay:
each source spells those itself. https://pubmed.ncbi.nlm.nih.gov/help/#search-tags
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_TOKEN = re.compile(r'"[^"]*"|\[[^\[\]]*\]|[()]|[^\s()\[\]"]+')
_TAG = re.compile(r"\[[^\[\]]*\]")
_OPERATORS = ("AND", "OR", "NOT")
# Tags on words of the subject, or on a name.
_WORDS = re.compile(
    r"(?:ti|tiab|title|title/abstract|tw|text words?|ot|other terms?|all|all fields|ab|abstract"
    r"|mh|mesh|mesh terms?|majr|mesh major topic|mesh:noexp|mh:noexp|majr:noexp|sh|nm"
    r"|supplementary concept|rn|substance name|gene symbol|gene name|ps|"
    r"au|author|1au|fau|lastau|first author|last author|full author name)(?::~\d+)?",
    re.I,
)


def bare_words(query: str) -> tuple[str, tuple[str, ...]]:
    """*query* for sources other than PubMed, and what to tell the reader about it.

    >>> bare_words('"gene therapy"[ti] AND (crispr[tiab] OR talen[tiab]) AND 2020:2024[dp]')[0]
    '"gene therapy" AND (crispr OR talen)'
    >>> bare_words("english[la] AND coral NOT review[pt]")[0]
    'coral'
    >>> bare_words("coral AND reef")
    ('coral AND reef', ())
    """
    if not _TAG.search(query):
        return query, ()
    dropped: list[str] = []
    bare = _joined(_parts(_TOKEN.findall(query), dropped))
    told = f"Only PubMed understands its field tags; the other sources were asked for: {bare}"
    if dropped:
        told += f" (without {', '.join(dropped)})"
    return bare, (f"{told}.",)
