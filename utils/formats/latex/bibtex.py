r"""BibTeX's and biblatex's data files, and entries composed of their fields.

Only what a reader needs to find a work again is written: authors, title, where it appeared, year,
identifiers. Values stay TeX, to be read as any other text of the paper.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from typing import Final

_ENTRY: Final = re.compile(
    r"@\s{0,9}([A-Za-z]{1,30})\s{0,9}[{(]\s{0,99}([^\s,{}()=]{1,200})\s{0,99}([,=])"
)
_FIELD: Final = re.compile(r"[\s,]*([A-Za-z][\w-]{0,50})\s{0,99}=\s{0,99}")
_VALUE: Final = re.compile(r"[^\s,{}#\"]{1,200}")
_GLUE: Final = re.compile(r"\s{0,99}#\s{0,99}")
_BRACE: Final = re.compile(r"(?<!\\)[{}]")
_LATEX_ENTRY: Final = re.compile(r"\\entry\{([^{}]{1,200})\}\{[^{}]{0,50}\}")
_LATEX_FIELD: Final = re.compile(
    r"\\(?:field|list|name)\{(\w{1,30})\}|\\verb\{(doi|eprint|url)\}\s+\\verb\s+(\S{1,500})"
)
_FAMILY: Final = re.compile(r"family=\{|given=\{")
_LONGEST_ENTRY: Final = 40_000
_NAMES_SHOWN: Final = 3


def bib_entries(text: str, wanted: Container[str]) -> dict[str, dict[str, str]]:
    """The fields of each wanted entry of a ``.bib`` file, by its key."""
    found: dict[str, dict[str, str]] = {}
    strings: dict[str, str] = {}
    for match in _ENTRY.finditer(text):
        if match[1].lower() == "string":
            value, _ = _value(text, match.end(), {})
            strings[match[2].lower()] = value
        elif match[3] == "," and match[2] in wanted:
            found.setdefault(match[2], _fields(text, match.end(), strings))
    return found


def _fields(text: str, at: int, strings: dict[str, str]) -> dict[str, str]:
    fields: dict[str, str] = {}
    end = at + _LONGEST_ENTRY
    while at < end and (match := _FIELD.match(text, at, end)):
        value, at = _value(text, match.end(), strings)
        fields.setdefault(match[1].lower(), value)
    return fields


def _value(text: str, at: int, strings: dict[str, str]) -> tuple[str, int]:
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
            parts.append(strings.get(word[0].lower(), word[0]))
        else:
            return "".join(parts), at + 1
        glue = _GLUE.match(text, end + 1)
        if glue is None or len(parts) > 50:
            return "".join(parts), end + 1
        at = glue.end()


def _closing(text: str, at: int, *, quoted: bool = False) -> int:
    """Where the brace or quotation mark at *at* is closed."""
    depth = 0
    end = at + _LONGEST_ENTRY
    if quoted:
        for match in re.compile(r'(?<!\\)[{}"]').finditer(text, at + 1, end):
            depth += (match[0] == "{") - (match[0] == "}")
            if match[0] == '"' and depth <= 0:
                return match.start()
        return min(end, len(text))
    for match in _BRACE.finditer(text, at, end):
        depth += 1 if match[0] == "{" else -1
        if not depth:
            return match.start()
    return min(end, len(text))


def biblatex_entries(text: str) -> Iterator[tuple[str, dict[str, str]]]:
    """The key and fields of each entry of a ``.bbl`` that biblatex reads."""
    starts = list(_LATEX_ENTRY.finditer(text))
    for entry, following in zip(starts, [*starts[1:], None], strict=True):
        end = min(following.start() if following else len(text), entry.end() + _LONGEST_ENTRY)
        fields: dict[str, str] = {}
        at = entry.end()
        while match := _LATEX_FIELD.search(text, at, end):
            at = match.end()
            if match[2]:
                fields.setdefault(match[2], match[3])
                continue
            values: list[str] = []
            while text[at : at + 1] == "{" and len(values) < 5:
                close = _closing(text, at)
                values.append(text[at + 1 : close])
                at = close + 1
            value = values[-1] if values else ""
            is_name = match[0].startswith("\\name")
            fields.setdefault(match[1], _people(value) if is_name else value)
        yield entry[1], fields


def _people(value: str) -> str:
    """Names as BibTeX writes them, ``Roe, Jane and Doe, John``."""
    people: list[list[str]] = []
    for match in _FAMILY.finditer(value):
        name = value[match.end() : _closing(value, match.end() - 1)]
        if match[0].startswith("family"):
            people.append([name])
        elif people:
            people[-1].append(name)
    return " and ".join(", ".join(person) for person in people)


def composed(fields: dict[str, str]) -> str:
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
    return ", ".join(" ".join(filter(None, (given, family))) for family, given in _names(people))


def named(fields: dict[str, str]) -> str:
    """Who and when, as natbib's labels say it: ``Roe and Doe(2024)``."""
    families = [family for family, _ in _names(fields.get("author") or fields.get("editor") or "")]
    year = fields.get("year") or fields.get("date", "")[:4]
    if not families or not year:
        return ""
    said = f"{families[0]} et al." if len(families) >= _NAMES_SHOWN else " and ".join(families)
    return f"{said}({year})"
