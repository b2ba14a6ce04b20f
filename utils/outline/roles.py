"""What a section is by its title, looked up in the lexicon (`.titles`).

JATS's ``sec-type`` is read with the same table (words it recommends: jats.nlm.nih.gov).
"""

from __future__ import annotations

import html
import itertools
import re
import unicodedata
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Final, get_args

from ..model.paper import Role
from .titles import HINTED, SAID

# Parts of a title that say nothing beside others: "Availability of data and materials".
_NO_PART: Final = ["materials", "consent", "cases", "contributions"]
# The abstract where it opens a paper, the conclusion where it ends one.
SUMMARIES: Final = frozenset(["summary", "summaryandconclusion", "summaryandconclusions"])
MAIN_TEXT: Final = frozenset(["main", "maintext", "text", "body", "articletext", "fulltext"])
"""Titles that a publisher (or our reader) sets over what has none."""

_FIRST = 3  # letters of a beginning by which most titles are seen to have none
_LONGEST = 200  # characters; a longer title is a paragraph
_LONGEST_LIST = 12  # words; a longer title is a statement that has such a word in it
_MARKUP = re.compile(
    r"</?(?:sub|sup|i|b|em|strong|u|span|br)\b[^<>]{0,100}>|[*_`\\#]|\[\^?\d{1,3}\]"
)
_LINK = re.compile(r"\]\([^()\s]{0,300}\)")
_ASIDE = re.compile(r"\s*[(\[][^()\[\]]{0,80}[)\]]?\s*$")
_NUMBER = re.compile(
    r"(?:(?:section|chapter|part|kapitel)\s)?[\W\d_]*(?:第?[一二三四五六七八九十\d]{1,3}[章节節、.]\s*)?",
    re.I,
)
_LETTER = re.compile(r"\A(?:[ivxlc]{1,5}|[a-h])(?:[.):]|\s(?=\S{3}))[\W_]*", re.I)
_BETWEEN = re.compile(
    r"\s(?:and|und|et|y|e|i|en|ve|и|with|mit|및)\s|\s-\s|[/,;:.&+|\u2013\u2014、・]"
    r"|及び|および|ならびに|并|與|与|和|及|と",
    re.I,
)
_SIGNS = re.compile(r"[\W_]+")
_SUFFIXED = re.compile(r"(?:\S+\s){1,3}(?:methods|methodology|procedures)", re.I)


def bare(title: str) -> str:
    """A title without markup, numbering and what stands in brackets behind it.

    >>> bare("## 2.1. **Study** design"), bare("References (35)")
    ('Study design', 'References')
    """
    text = _LINK.sub("", html.unescape(_MARKUP.sub("", title[: 4 * _LONGEST])))
    text = " ".join(unicodedata.normalize("NFKC", text).split())[:_LONGEST]
    return _ASIDE.sub("", text[_NUMBER.match(text).end() :]) or text  # type: ignore[union-attr]


def key(text: str) -> str:
    """Letters and figures alone, without case, accents and blanks: spaced capitals are a word.

    >>> key("M E T H O D S"), key("Matériel et méthodes")
    ('methods', 'materieletmethodes')
    """
    folded = unicodedata.normalize("NFKD", text).casefold()
    return _SIGNS.sub("", folded)


@lru_cache(maxsize=4096)
def roles_of(title: str) -> tuple[Role, ...]:
    """The roles that a section has by its title; none for a title of the paper's own.

    >>> roles_of("3. Results and Discussion"), roles_of("Материалы и методы"), roles_of("Binding")
    (('results', 'discussion'), ('methods',), ())
    """
    return _found(title, _SAID_PHRASES, any)


@lru_cache(maxsize=4096)
def hinted(title: str) -> tuple[Role, ...]:
    """The roles of which a title is mostly a part: "Study design" is one of the methods."""
    found = _found(title, _HINTED_PHRASES, all)
    return found or (("methods",) if _SUFFIXED.fullmatch(bare(title)) else ())


def declared(sec_type: str) -> tuple[Role, ...]:
    """The roles in JATS's words: ``intro``, ``materials|methods``, ``COI-statement``.

    >>> declared("materials|methods"), declared("subjects"), declared("subsection")
    (('methods',), ('methods',), ())
    """
    words = sec_type.replace("-", " ")
    return roles_of(words) or hinted(words)


def role_named(text: str) -> Role | None:
    """The role with this very name, however its words are joined.

    >>> role_named("Data-availability"), role_named("method"), role_named("Binding")
    ('data availability', 'methods', None)
    """
    return _NAMES.get(key(text.replace("_", " ")))


class _Phrases:
    """A table as it is looked up: whole titles, and how titles begin."""

    def __init__(self, said: dict[Role, str]) -> None:
        self.whole: dict[str, tuple[Role, ...]] = {}
        self.beginnings: dict[str, Role] = {}
        for role, phrases in said.items():
            for phrase in phrases.split(" | "):
                name = key(phrase)
                if "…" in phrase:
                    self.beginnings[name] = role
                self.whole[name] = tuple(dict.fromkeys((*self.whole.get(name, ()), role)))
        self._lengths = sorted({len(name) for name in self.beginnings}, reverse=True)
        self._first = {name[:_FIRST] for name in self.beginnings}

    def roles(self, name: str) -> tuple[Role, ...]:
        """The roles of a key: as a whole, else by how it begins."""
        if (found := self.whole.get(name)) is not None:
            return found
        if name[:_FIRST] not in self._first:
            return ()
        starts = (self.beginnings.get(name[:length]) for length in self._lengths)
        return tuple(itertools.islice(filter(None, starts), 1))


def _found(
    title: str, phrases: _Phrases, enough: Callable[[Iterable[object]], bool]
) -> tuple[Role, ...]:
    """The roles of a title: as a whole, else by its beginning and *enough* of its parts."""
    text = bare(title)
    for words in dict.fromkeys((text, _LETTER.sub("", text, count=1))):
        name = key(words)
        if whole := phrases.whole.get(name):
            return whole
        found = list(phrases.roles(name))
        if words.count(" ") < _LONGEST_LIST:
            parts = [part for part in map(key, _BETWEEN.split(words)) if part not in _NO_PART]
            several = [phrases.roles(part) for part in parts]
            found += itertools.chain(*several) if enough(several) else ()
        if found:
            return tuple(dict.fromkeys(found))
    return ()


_SAID_PHRASES: Final = _Phrases(SAID)
_HINTED_PHRASES: Final = _Phrases(HINTED)
HINTS: Final = frozenset(HINTED)
_NAMES: Final[dict[str, Role]] = {
    name: role
    for role in get_args(Role)
    for name in (key(role), key(f"{role}s"), key(role.removesuffix("s")))
}
