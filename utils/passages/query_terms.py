"""The words of a query that are looked up in an index.

Users and models type anything: quotation marks, operators, ten thousand characters, NUL. Only
words leave here, so that none of it is ever the syntax of an index.
"""

from __future__ import annotations

import re
import unicodedata

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
