r"""BibTeX's and biblatex's data files, and entries composed of their fields.

Only what a reader needs to find a work again is written: authors, title, where it appeared, year,
identifiers. Values stay TeX, to be read as any other text of the paper.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from itertools import chain, pairwise
from typing import Final

_ENTRY: Final = re.compile(
    r"@\s{0,9}([A-Za-z]{1,30})\s{0,9}[{(]\s{0,99}([^\s,{}()=]{1,200})\s{0,99}([,=])"
)
_FIELD: Final = re.compile(r"[\s,]*([A-Za-z][\w-]{0,50})\s{0,99}=\s{0,99}")
_VALUE: Final = re.compile(r"[^\s,{}#\"]{1,200}")
_GLUE: Final = re.compile(r"\s{0,99}#\s{0,99}")
_BRACE: Final = re.compile(r"(?<!\\)[{}]")
_BRACE_OR_QUOTE: Final = re.compile(r'(?<!\\)[{}"]')
_LATEX_ENTRY: Final = re.compile(r"\\entry\{([^{}]{1,200})\}\{[^{}]{0,50}\}")
_LATEX_FIELD: Final = re.compile(
    r"\\(?:field|list|name)\{(\w{1,30})\}|\\verb\{(doi|eprint|url)\}\s+\\verb\s+(\S{1,500})"
)
_FAMILY: Final = re.compile(r"family=\{|given=\{")
_LONGEST_ENTRY: Final = 40_000
_MOST_GLUED: Final = 50  # parts of a value
_NAMES_SHOWN: Final = 3
_OTHERS: Final = "others"  # how BibTeX spells that there are more


def bib_entries(text: str, wanted: Container[str]) -> dict[str, dict[str, str]]:
    """The fields of each wanted entry of a ``.bib`` file, by its key."""
    found: dict[str, dict[str, str]] = {}
    strings = _Strings(len(text))
    for match, inner in _cut(_ENTRY, text):
        if match[1].lower() == "string":
            strings.define(match[2], _value(inner, 0, _Strings(0))[0])
        elif match[3] == "," and match[2] in wanted and match[2] not in found:
            found[match[2]] = _fields(inner, strings)
    return found


class _Strings:
    """Abbreviations by ``@string``, replaced until that took *left* characters in all."""

    def __init__(self, left: int) -> None:
        self._left = left
        self._values: dict[str, str] = {}

    def define(self, name: str, value: str) -> None:
        """Have *name* stand for *value*."""
        self._values[name.lower()] = value

    def spelled_out(self, word: str) -> str:
        """What *word* stands for, itself where it is no name."""
        value = self._values.get(word.lower(), word)
        self._left -= len(value)
        return value if self._left >= 0 else word


def _cut(start: re.Pattern[str], text: str) -> Iterator[tuple[re.Match[str], str]]:
    """The start of each entry and its text: up to the next, though nothing may close it."""
    for match, following in pairwise(chain(start.finditer(text), (None,))):
        if match is not None:
            end = following.start() if following is not None else len(text)
            yield match, text[match.end() : min(end, match.end() + _LONGEST_ENTRY)]


def _fields(text: str, strings: _Strings) -> dict[str, str]:
    fields: dict[str, str] = {}
    at = 0
    while match := _FIELD.match(text, at):
        value, at = _value(text, match.end(), strings)
        fields.setdefault(match[1].lower(), value)
    return fields


def _value(text: str, at: int, strings: _Strings) -> tuple[str, int]:
    """A value and where it ends: braced, quoted, a number or name, or several joined by ``#``."""
    parts: list[str] = []
    while True:
        while text[at : at + 1].isspace():
            at += 1
        sign = text[at : at + 1]
        if sign == "{":
            end = _closing(text, at)
            parts.append(text[at + 1 : end])
        elif sign == '"':
            end = _closing(text, at, quoted=True)
            parts.append(text[at + 1 : end])
        elif word := _VALUE.match(text, at):
            end = word.end() - 1
            parts.append(strings.spelled_out(word[0]))
        else:
            return "".join(parts), at + 1
        glue = _GLUE.match(text, end + 1)
        if glue is None or len(parts) > _MOST_GLUED:
            return "".join(parts), end + 1
        at = glue.end()


def _closing(text: str, at: int, *, quoted: bool = False) -> int:
    """Where the brace or quotation mark at *at* is closed."""
    depth = 0
    if quoted:
        for match in _BRACE_OR_QUOTE.finditer(text, at + 1):
            depth += (match[0] == "{") - (match[0] == "}")
            if match[0] == '"' and depth <= 0:
                return match.start()
        return len(text)
    for match in _BRACE.finditer(text, at):
        depth += 1 if match[0] == "{" else -1
        if not depth:
            return match.start()
    return len(text)


def biblatex_entries(text: str) -> Iterator[tuple[str, dict[str, str]]]:
    """The key and fields of each entry of a ``.bbl`` that biblatex reads."""
    for entry, inner in _cut(_LATEX_ENTRY, text):
        fields: dict[str, str] = {}
        at = 0
        while match := _LATEX_FIELD.search(inner, at):
            at = match.end()
            if match[2]:
                fields.setdefault(match[2], match[3])
                continue
            values: list[str] = []
            while inner[at : at + 1] == "{" and len(values) < 5:
                close = _closing(inner, at)
                values.append(inner[at + 1 : close])
                at = close + 1
            value = values[-1] if values else ""
            is_name = match[0].startswith("\\name")
            fields.setdefault(match[1], _bibtex_names(value) if is_name else value)
        yield entry[1], fields


def _bibtex_names(value: str) -> str:
    """Names as BibTeX writes them, ``Roe, Jane and Doe, John``."""
    people: list[list[str]] = []
    at = 0
    while match := _FAMILY.search(value, at):
        at = _closing(value, match.end() - 1)
        name = value[match.end() : at]
        if match[0].startswith("family"):
            people.append([name])
        elif people:
            people[-1].append(name)
    return " and ".join(", ".join(person) for person in people)


def entry_tex(fields: dict[str, str]) -> str:
    """An entry in the usual order, as TeX."""
    where = fields.get("journal") or fields.get("journaltitle") or fields.get("booktitle") or ""
    where = f"\\emph{{{where}}}" if where else fields.get("publisher", "")
    volume = " ".join(filter(None, (where, fields.get("volume"))))
    number = f"({fields['number']})" if fields.get("number") and fields.get("volume") else ""
    place = ", ".join(filter(None, (volume + number, fields.get("pages"))))
    year = fields.get("year") or fields.get("date", "")[:4]
    parts = [_authors(fields.get("author") or fields.get("editor") or ""), fields.get("title", "")]
    parts.append(" ".join(filter(None, (place, f"({year})" if year else ""))))
    parts.append(fields.get("howpublished", "") or fields.get("note", ""))
    if doi := fields.get("doi"):
        parts.append(f"doi:{doi}".replace("_", "\\_"))
    elif eprint := fields.get("eprint"):
        parts.append(f"arXiv:{eprint}".replace("arXiv:arXiv:", "arXiv:"))
    return ". ".join(part.rstrip(". \n") for part in parts if part.strip()) + "."


def _names(people: str) -> list[tuple[str, str]]:
    """Each person's family and given names."""
    names = []
    for person in re.split(r"\s+and\s+", people.strip()):
        if "," in person:
            family, _, given = person.partition(",")
        else:
            given, _, family = person.strip().rpartition(" ")
        if family.strip():
            names.append((family.strip(), given.strip().lstrip(",")))
    return names


def _authors(people: str) -> str:
    names = [" ".join(filter(None, (given, family))) for family, given in _names(people)]
    if len(names) > 1 and names[-1] == _OTHERS:
        return f"{', '.join(names[:-1])} et al."
    return ", ".join(names)


def natbib_label(fields: dict[str, str]) -> str:
    """Authors and year as in natbib's labels: ``Roe and Doe(2024)``."""
    families = [family for family, _ in _names(fields.get("author") or fields.get("editor") or "")]
    year = fields.get("year") or fields.get("date", "")[:4]
    if not families or not year:
        return ""
    many = len(families) >= _NAMES_SHOWN or families[1:] == [_OTHERS]
    names = f"{families[0]} et al." if many else " and ".join(families)
    return f"{names}({year})"
