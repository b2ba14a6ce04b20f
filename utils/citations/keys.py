"""Build citation keys by a pattern: words such as ``authYearTitle``, or Better BibTeX's brackets.

1. A pattern without brackets is a row of the words below, with ``_``, ``-``, ``.`` or ``:`` between
   them where wanted. A word that begins with a capital gives a part that does, too.
2. In brackets, filters follow a name: ``[auth:lower][year][veryshorttitle:capitalize]``. Signs
   between the brackets stay. The names are those of Better BibTeX for Zotero
   (https://retorque.re/zotero-better-bibtex/citing/).
3. A key has ASCII letters and digits only, besides those signs. The second paper with a key gets
   the suffix ``a``, the third ``b``, so that a growing list keeps its keys.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count

from ..errors import BadRequest
from ..model.paper import Author, Paper
from .items import build_citation_key, clean_title, is_significant_word

_LETTERS = str.maketrans({
    "ø": "o", "ł": "l", "ß": "ss", "æ": "ae", "œ": "oe", "đ": "d", "ð": "d", "þ": "th", "ı": "i",
    "Ø": "O", "Ł": "L", "Æ": "Ae", "Œ": "Oe", "Đ": "D", "Ð": "D", "Þ": "Th",
})  # fmt: skip
_MANY_AUTHORS = 2  # more are "et al."
_SIGNS = "_.:-"
_BRACKETS = re.compile(r"\[([A-Za-z]+)((?::[A-Za-z]+)*)\]|([^\[\]])")
Part = tuple[Callable[[Paper], list[str]], tuple[Callable[[str], str], ...]]


def _list_family_names(paper: Paper) -> list[str]:
    return [author.family or author.name for author in paper.authors or (Author("anon"),)]


def _list_names_with_et_al(paper: Paper) -> list[str]:
    families = _list_family_names(paper)
    return families if len(families) <= _MANY_AUTHORS else [families[0], "Et", "Al"]


def _list_title_words(paper: Paper) -> list[str]:
    """Return the significant words of the title."""
    words = re.split(r"[\s/–—-]+", clean_title(paper.title)[:500])
    return [word for word in words if is_significant_word(word)]


def _capitalize_first_letter(text: str) -> str:
    return text[:1].upper() + text[1:]


_NAMES: dict[str, Callable[[Paper], list[str]]] = {
    "auth": lambda paper: _list_family_names(paper)[:1],
    "authors": _list_family_names,
    "authetal": _list_names_with_et_al,
    "year": lambda paper: [paper.year],
    "shortyear": lambda paper: [paper.year[-2:]],
    "veryshorttitle": lambda paper: _list_title_words(paper)[:1],
    "shorttitle": lambda paper: [
        _capitalize_first_letter(word) for word in _list_title_words(paper)[:3]
    ],
    "title": lambda paper: [_capitalize_first_letter(word) for word in _list_title_words(paper)],
    "journal": lambda paper: [paper.journal_abbreviation or paper.journal],
    "pmid": lambda paper: [paper.ids.pmid],
    "doi": lambda paper: [paper.ids.doi],
}
_WORDS = {**_NAMES, "title": _NAMES["veryshorttitle"]}
"""The words of a pattern without brackets: there, ``title`` is the first significant word."""
_FILTERS: dict[str, Callable[[str], str]] = {
    "lower": str.lower,
    "upper": str.upper,
    "capitalize": _capitalize_first_letter,
    "abbr": lambda word: word[:1],
}
_ROW = re.compile(f"({'|'.join(sorted(_WORDS, key=len, reverse=True))})|([{_SIGNS}])", re.I)
_KNOWN = (
    f"Write words, such as authYearTitle or auth_year: {', '.join(_WORDS)}. Or names and filters "
    f"of Better BibTeX, such as [auth:lower][year][veryshorttitle]: {', '.join(_NAMES)}; "
    f"{', '.join(_FILTERS)}."
)


@dataclass(frozen=True, slots=True)
class KeyPattern:
    """A pattern of citation keys; ``parts`` are literal characters, or fields with filters."""

    parts: tuple[str | Part, ...]

    def build_key(self, paper: Paper) -> str:
        """Return the key of a paper; it may not be unique."""
        key = "".join(
            part if isinstance(part, str) else _build_key_part(*part, paper) for part in self.parts
        )
        return key.strip(_SIGNS) or build_citation_key(paper)


def _build_key_part(
    list_words: Callable[[Paper], list[str]],
    filters: tuple[Callable[[str], str], ...],
    paper: Paper,
) -> str:
    words = [_to_ascii_letters(word) for word in list_words(paper)]
    for change in filters:
        words = [change(word) for word in words]
    return "".join(words)[:120]


def _to_ascii_letters(text: str) -> str:
    folded = unicodedata.normalize("NFKD", text.translate(_LETTERS))
    return re.sub(r"[^A-Za-z0-9]", "", folded)


def parse_key_pattern(pattern: str) -> KeyPattern | None:
    """Parse a pattern of citation keys; return None for "", which selects the default keys.

    >>> from utils.model.identifiers import Ids
    >>> paper = Paper(Ids(), "The Role of mRNA", authors=(Author("Łoś"),), published="2019")
    >>> [parse_key_pattern(one).build_key(paper) for one in ("authYearTitle", "Auth_year")]
    ['los2019Role', 'Los_2019']
    >>> parse_key_pattern("[auth:lower]-[shortyear][shorttitle:upper]").build_key(paper)
    'los-19ROLEMRNA'

    Raises
    ------
    BadRequest
        A word, name or filter is unknown.
    """
    pattern = pattern.strip()
    if not pattern:
        return None
    parts = _parse_bracket_pattern(pattern) if "[" in pattern else _parse_word_pattern(pattern)
    return KeyPattern(tuple(parts))


def _parse_word_pattern(pattern: str) -> list[str | Part]:
    parts: list[str | Part] = []
    end = 0
    for found in _ROW.finditer(pattern):
        if found.start() != end:
            break
        end = found.end()
        change = _capitalize_first_letter if found[0][0].isupper() else str.lower
        parts.append(found[2] or (_WORDS[found[1].lower()], (change,)))
    if end != len(pattern):
        raise _build_pattern_error(pattern, pattern[end:])
    return parts


def _parse_bracket_pattern(pattern: str) -> list[str | Part]:
    parts: list[str | Part] = []
    end = 0
    for found in _BRACKETS.finditer(pattern):
        if found.start() != end or (found[3] and not re.fullmatch(r"[\w.:-]", found[3], re.A)):
            break
        end = found.end()
        filters = [name for name in (found[2] or "").lower().split(":") if name]
        unknown = [name for name in filters if name not in _FILTERS]
        if found[1] and (unknown or found[1].lower() not in _NAMES):
            raise _build_pattern_error(pattern, unknown[0] if unknown else found[1])
        changes = tuple(_FILTERS[name] for name in filters)
        parts.append(found[3] or (_NAMES[found[1].lower()], changes))
    if end != len(pattern):
        raise _build_pattern_error(pattern, pattern[end:])
    return parts


def _build_pattern_error(pattern: str, unknown: str) -> BadRequest:
    return BadRequest(f"{pattern[:80]!r} has an unknown part: {unknown[:40]!r}.", _KNOWN)


class CitationKeyAssigner:
    """Assigns unique citation keys to the papers of one list.

    Parameters
    ----------
    pattern : str, optional
        The pattern of the keys; if empty, keys as `build_citation_key` makes them.
    """

    def __init__(self, pattern: str = "") -> None:
        self._pattern = parse_key_pattern(pattern)
        self._taken: set[str] = set()

    def assign_key(self, paper: Paper) -> str:
        """Return a key for the next paper that differs from all earlier keys."""
        if self._pattern is None:
            base = build_citation_key(paper)
            name = re.sub(r"[^a-z0-9]", "", paper.ids.pmid or paper.ids.key)
            candidates = [base, f"{base}_{name}"] if name else [base]
            others = (f"{base}_{number}" for number in count(2))
        else:
            base = self._pattern.build_key(paper)
            candidates = [base]
            others = (f"{base}{_number_to_letters(number)}" for number in count(1))
        key = next((candidate for candidate in candidates if candidate not in self._taken), "")
        key = key or next(other for other in others if other not in self._taken)
        self._taken.add(key)
        return key


def _number_to_letters(number: int) -> str:
    """Return 1 as ``a``, 26 as ``z``, 27 as ``aa``."""
    letters = ""
    while number:
        number, rest = divmod(number - 1, 26)
        letters = chr(ord("a") + rest) + letters
    return letters
