"""A PubMed query without PubMed's field tags: the words that other sources understand.

``crispr[ti] AND 2020:2024[dp]`` is nonsense anywhere else. A tag that only says where a word
stands is dropped and its words kept; a restriction that is not about words (a date, a language, a
type) goes altogether, with the operator that joined it. AND, OR, NOT, quotes and brackets stay:
each source spells those itself. https://pubmed.ncbi.nlm.nih.gov/help/#search-tags
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

_OPERATORS = ("AND", "OR", "NOT")
_BORDERS = (*_OPERATORS, "(", ")")
# Tags on words of the subject, or on a name.
_OF_WORDS = (
    r"(?:ti|tiab|title|title/abstract|tw|text words?|ot|other terms?|all|all fields|ab|abstract"
    r"|mh|mesh|mesh terms?|majr|mesh major topic|mesh:noexp|mh:noexp|majr:noexp|sh|nm"
    r"|supplementary concept|rn|substance name|gene symbol|gene name|ps"
    r"|au|author|1au|fau|lastau|first author|last author|full author name)(?::~\d+)?"
)
# Tags on one word that is no subject: a date, a language, a number.
_OF_ONE = (
    r"dp|pdat|edat|mdat|crdt|mhda|lr|date - [a-z ]{1,20}|[a-z ]{0,20}date|la|lang|language|pmid|uid"
    r"|pmc|pmcid|doi|aid|vi|volume|ip|issue|pg|pagination|is|issn"
)
# Tags on several such words: a type, a subset, a journal, a place.
_OF_SEVERAL = (
    r"pt|ptyp|publication type|sb|subset|filter|ta|journal|so|ad|affiliation|gr|grants?"
    r"|grant number|ir|investigator|cn|corporate author|pl|place of publication|si"
    r"|secondary source id|pubn"
    r"|publisher|book|cois|conflict of interest statements|ed|editor|isbn|auid"
)
# Other brackets are text: [Ca2+], benzo[a]pyrene, [18F]FDG. So is one that a word goes on behind.
_BRACKET = rf"\[\s*(?:{_OF_WORDS}|{_OF_ONE}|{_OF_SEVERAL})\s*\](?!\w)"
_TAG = re.compile(_BRACKET, re.I)
_TOKEN = re.compile(rf'"[^"]*"|{_BRACKET}|[()]|(?:(?!{_BRACKET})[^\s()"])+', re.I)
# Of arXiv's language and of Europe PMC's.
_FOREIGN = re.compile(
    r"\b(?:(?:ti|au|abs|co|jr|cat|rn|all)|(?:TITLE|ABSTRACT|TITLE_ABS|AUTH|JOURNAL|PUB_YEAR|SRC"
    r"|MESH_TERM|PUB_TYPE|OPEN_ACCESS)):(?=[\w\"(])"
)
_WORDS = re.compile(_OF_WORDS, re.I)
_ONE_WORD = re.compile(_OF_ONE, re.I)


def bare_words(query: str) -> tuple[str, tuple[str, ...]]:
    """*query* for sources other than PubMed, and what to tell the reader about it.

    >>> bare_words('"gene therapy"[ti] AND (crispr[tiab] OR talen[tiab]) AND 2020:2024[dp]')[0]
    '"gene therapy" AND (crispr OR talen)'
    >>> bare_words("english[la] AND coral NOT review[pt]")[0]
    'coral'
    >>> bare_words("coral AND reef")
    ('coral AND reef', ())
    >>> bare_words("benzo[a]pyrene[ti] AND [18F]FDG")[0]
    'benzo[a]pyrene AND [18F]FDG'
    >>> bare_words("ti:moss")[1]
    ("“ti:” is a field of a single site's language; the others search for its letters.",)
    """
    foreign = tuple(
        f"“{name}” is a field of a single site's language; the others search for its letters."
        for name in dict.fromkeys(_FOREIGN.findall(query))
    )
    if not _TAG.search(query):
        return query, foreign
    reader = _Reader(_TOKEN.findall(query)[::-1])
    bare = reader.words()
    told = f"Only PubMed understands field tags; the others were asked for “{bare}”"
    if reader.dropped:
        told += f", without {', '.join(reader.dropped)}"
    return bare, (f"{told}.", *foreign)


@dataclass(slots=True)
class _Reader:
    """Reads a query once, from left to right; what it leaves out is kept in ``dropped``."""

    tokens: list[str]
    dropped: list[str] = field(default_factory=list)

    def words(self) -> str:
        """The whole query without tags. The groups that are open are a stack, not a recursion."""
        groups: list[list[str]] = [[]]
        while self.tokens:
            word = self.tokens.pop()
            if word == "(":
                groups.append([])
            elif word == ")" and len(groups) > 1:
                inner = _joined(groups.pop())
                groups[-1].append(f"({inner})" if inner else "")
            else:
                groups[-1].append(word if word in _OPERATORS else self._term(word))
        return _joined([part for group in groups for part in group])

    def _term(self, first: str) -> str:
        """Words up to an operator, a bracket or a tag; what a foreign tag claims is left out."""
        words = [first]
        while self.tokens and self.tokens[-1] not in _BORDERS and not _TAG.fullmatch(words[-1]):
            words.append(self.tokens.pop())
        if not _TAG.fullmatch(words[-1]):
            return " ".join(words)
        tag = words.pop()
        if _WORDS.fullmatch(tag[1:-1].strip()):
            return " ".join(words)
        # A date, a language or a number is one word; a type or a subset may have several.
        gone = words[-1:] if _ONE_WORD.fullmatch(tag[1:-1].strip()) else words
        self.dropped.append(f"{' '.join(gone).strip(': ')}{tag}")
        return " ".join(words[: len(words) - len(gone)]).strip(": ")


def _joined(parts: Sequence[str]) -> str:
    """Operands and the operators between them; an operator that lost an operand goes too.

    >>> _joined(["", "AND", "coral", "NOT", ""])
    'coral'
    """
    kept: list[str] = []
    operator = ""
    for part in parts:
        if part in _OPERATORS:
            # "AND NOT" is one operator.
            operator = "NOT" if part == "NOT" else operator or part
        elif part:
            if (kept and operator) or operator == "NOT":
                kept.append(operator)
            kept.append(part)
            operator = ""
        else:
            operator = ""
    return " ".join(kept)
