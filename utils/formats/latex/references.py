"""Citations and the list they point into: ``.bbl``, ``thebibliography``, biblatex's, or ``.bib``.

Papers cite by numbers or by names and years; which of the two depends on the packages they load
and on whether their list has names and years in its labels. Citations stand before the list, and
labels often behind what refers to them, so both leave a place that is filled at the end.

BibTeX's and biblatex's data files, and entries composed of their fields.

Only what a reader needs to find a work again is written: authors, title, where it appeared, year,
identifiers. Values stay TeX, to be read as any other text of the paper.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Container, Iterator
from functools import partial
from itertools import chain, pairwise
from typing import Final

from .numbers import Label
from .signs import BETWEEN, REFERRED, REFERS
from .walk import Command, Walk

_PLACE: Final = re.compile(f"{REFERS}([^{REFERS}{REFERRED}]*){REFERRED}")
_PAGE: Final = (
    r"\b(?:pages?|pp?\.|Seiten?|S\.)[ ]?"
    f"{REFERS}page{BETWEEN}[^{REFERS}{REFERRED}]*{REFERRED}"
)
_ON_PAGE: Final = re.compile(
    rf"[ ]?\((?:see[ ])?{_PAGE}\)"
    rf"|[ ,;]{{0,3}}(?:\b(?:starting|beginning)[ ])?(?:\b(?:on|at|see|auf)[ ])?{_PAGE}"
)
_MARK: Final = re.compile("[\ue000-\uf8ff\x1f]")
_MOST_CITED: Final = 20_000
_NESTED: Final = 3  # citations in a citation's note
_KIND_NAMES: Final = {
    "section": "Section",
    "subsection": "Section",
    "subsubsection": "Section",
    "item": "Item",
    "equation": "Eq.",
    "figure": "Fig.",
    "table": "Table",
    "algorithm": "Algorithm",
    "chapter": "Chapter",
    "subfigure": "Fig.",
    "part": "Part",
}
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


def cite(kind: str) -> Command:
    """The command that cites in one of the ways."""

    def write_citation(walk: Walk) -> None:
        walk.stream.take_star()
        options = [walk.stream.take_option(), walk.stream.take_option()]
        notes = [walk.line(option) for option in options if option is not None]
        keys = walk.stream.take_text()
        if len(walk.cited) < _MOST_CITED:
            walk.cited |= dict.fromkeys(key.strip() for key in keys.split(","))
        before, after = notes if len(notes) == 2 else ("", *notes, "")[:2]
        walk.refer("cite", kind, keys, before, after)

    return write_citation


def define_alias(walk: Walk) -> None:
    r"""``\defcitealias`` of natbib: what a work is called where ``\citetalias`` cites it."""
    key = walk.stream.take_text()
    walk.bibliography.aliases[key] = walk.line(walk.stream.take_argument())


def cite_silently(walk: Walk) -> None:
    r"""``\nocite``: the list has it, the text does not; ``*`` is all of them."""
    keys = walk.stream.take_text().split(",")
    if len(walk.cited) < _MOST_CITED:
        walk.cited |= dict.fromkeys(key.strip() for key in keys)


def add_source(walk: Walk) -> None:
    r"""``\addbibresource``: a data file for the list."""
    walk.stream.take_option()
    walk.bibliography.files[walk.stream.take_file_name().strip()] = None


def read_list(walk: Walk) -> None:
    r"""``\bibliography``: the list as BibTeX or biblatex made it, else its sources for the end."""
    walk.stream.take_option()
    names = walk.stream.take_text().split(",") if walk.stream.peek() == "{" else []
    walk.bibliography.files |= dict.fromkeys(name.strip() for name in names[:50])
    if walk.bibliography.is_complete:
        return
    walk.bibliography.is_complete = True
    files = walk.submission.files
    made = f"{walk.submission.main.rpartition('.')[0]}.bbl"
    lists = [name for name in files if name.endswith(".bbl")]
    same = [name for name in lists if posixpath.dirname(name) == walk.folder]
    for name in [made] * (made in files) or (same if len(same) == 1 else lists)[:1]:
        if "\\entry{" not in files[name]:
            walk.insert(name)
        else:
            for key, fields in biblatex_entries(files[name]):
                _add(walk, key, fields)


def complete_list(walk: Walk) -> None:
    """Without a ready list, make it from the ``.bib`` files: what the text cites, in its order."""
    if walk.bibliography.entries:
        return
    find = partial(walk.submission.find, folder=walk.folder, ending=".bib")
    found: dict[str, dict[str, str]] = {}
    for file in filter(None, dict.fromkeys(map(find, walk.bibliography.files))):
        missing = _Everything() if "*" in walk.cited else walk.cited.keys() - found.keys()
        found |= bib_entries(walk.submission.files[file], missing)
    keys = [*walk.cited, *found] if "*" in walk.cited else walk.cited
    for key in keys:
        if key in found:
            _add(walk, key, found[key])


def _add(walk: Walk, key: str, fields: dict[str, str]) -> None:
    tex = entry_tex(fields)
    if key in walk.bibliography.entries or not walk.stream.spend(len(tex)):
        return
    if text := walk.line(tex):
        walk.bibliography.is_composed = True
        walk.bibliography.add(key, text)
        walk.bibliography.add_label(key, walk.line(natbib_label(fields)))


class _Everything:
    def __contains__(self, key: object) -> bool:
        return True


def filled(walk: Walk, text: str) -> str:
    """Text with every reference and citation in its place."""
    text = _ON_PAGE.sub("", text)
    for _ in range(_NESTED):
        if REFERS not in text:
            break
        text = _PLACE.sub(lambda place: _place_text(walk, place), text)
    return _MARK.sub("", text)


def _place_text(walk: Walk, place: re.Match[str]) -> str:
    kind, *parts = place[1].split(BETWEEN)
    if kind == "cite" and len(parts) == 4:
        shown = walk.bibliography.citation(*parts)
        # [1](2) would be a link.
        return f"{shown[:-1]}\\]" if place.string[place.end() : place.end() + 1] == "(" else shown
    keys = parts[0].split(",") if parts else []
    labels = [walk.numbers.labels.get(key.strip()) for key in keys[:50]]
    numbers = ", ".join(label.number if label else "??" for label in labels)
    if kind == "e":
        return f"({numbers})"
    if kind in ("c", "C") and labels:
        return f"{_kind_of(labels[0])} {numbers}".strip()
    return "" if kind == "page" else numbers


def _kind_of(label: Label | None) -> str:
    return _KIND_NAMES.get(label.kind, label.kind) if label else ""


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
