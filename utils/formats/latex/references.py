r"""Citations and the list they point into: ``.bbl``, ``thebibliography``, biblatex's, or ``.bib``.

Papers cite by numbers or by names and years; which of the two is told by the packages they load
and by whether their list has names and years in its labels. Citations stand before the list, and
labels often behind what refers to them, so both leave a place that is filled at the end.
"""

from __future__ import annotations

import posixpath
import re
from functools import partial
from typing import TYPE_CHECKING, Final

from .bibtex import bib_entries, biblatex_entries, composed, named
from .signs import BETWEEN, REFERRED, REFERS
from .tokens import joined

if TYPE_CHECKING:
    from .numbers import Label
    from .walk import Command, Walk

_PLACE: Final = re.compile(f"{REFERS}([^{REFERS}{REFERRED}]*){REFERRED}")
_MARK: Final = re.compile("[\ue000-\uf8ff\x1f]")
_NESTED: Final = 3  # citations in a citation's note
_LABEL: Final = re.compile(r"(.{1,200}?)\s*\(\s*((?:\d{4}|in press|in prep)[^()\s]{0,9})\s*\)")
_NUMERIC: Final = re.compile(
    r"\bnumbers\b|\bsuper\b|style=(?:numeric|phys|nature|science|ieee)|\bnumerical\b"
)
_NAMES: Final = re.compile(r"authoryear|author-year|style=(?:apa|chicago|mla|authortitle)")
_SHOWN: Final = {
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


class Bibliography:
    """The list of references, and how the text cites it."""

    def __init__(self) -> None:
        self.entries: dict[str, str] = {}
        self.files: dict[str, None] = {}
        self._labels: dict[str, tuple[str, str]] = {}
        self._by_names: bool | None = None
        self._natbib = False
        self._numbers: dict[str, str] = {}
        self.composed = False  # of data files, whose labels are ours
        self.is_read = False  # the list that came made, which is one for the whole paper

    def follow(self, package: str, options: str) -> None:
        """Cite as a class or package does."""
        self._natbib = self._natbib or package == "natbib"
        if package.startswith("revtex") and not _NAMES.search(options):
            self._by_names = False
        elif package in ("natbib", "biblatex", "cite") or package.startswith("elsarticle"):
            if _NUMERIC.search(options) or package == "cite":
                self._by_names = False
            elif _NAMES.search(options):
                self._by_names = True
            elif package == "biblatex":
                self._by_names = False

    def add(self, key: str, text: str) -> None:
        """Add an entry, unless it is there."""
        self.entries.setdefault(key, text)

    def label(self, key: str, text: str) -> None:
        """Keep what natbib's label says: ``Roe et al.(2024)Roe, Doe, and Poe``."""
        if match := _LABEL.match(text):
            self._labels.setdefault(key, (match[1].strip(), match[2]))

    def by_names(self) -> bool:
        """Whether the text cites by names and years."""
        if self.composed and not self._natbib and self._by_names is None:
            return False
        if self._by_names is not None:
            return self._by_names and bool(self._labels)
        return bool(self._labels) and 2 * len(self._labels) >= len(self.entries)

    def citation(self, kind: str, keys: str, before: str, after: str) -> str:
        """A citation as the text shows it."""
        known = list(dict.fromkeys(key for part in keys.split(",") if (key := part.strip())))
        if self.by_names() or kind in ("a", "y"):
            return self._by_name(kind, known, before, after)
        if len(self._numbers) != len(self.entries):
            self._numbers = {key: str(number) for number, key in enumerate(self.entries, 1)}
        marks = ", ".join(self._numbers.get(key, "?") for key in known)
        inner = " ".join(filter(None, (before, ", ".join(filter(None, (marks, after))))))
        names = self._labels.get(known[0], ("", ""))[0] if kind == "t" and len(known) == 1 else ""
        return f"{names} [{inner}]".strip()

    def _by_name(self, kind: str, keys: list[str], before: str, after: str) -> str:
        told = [self._labels.get(key, (key, "")) for key in keys]
        if kind == "a":
            return "; ".join(names for names, _ in told)
        if kind == "y":
            return ", ".join(year or names for names, year in told)
        if kind in ("t", "c"):
            more = f", {after}" if after else ""
            return "; ".join(f"{names} ({year}{more})" if year else names for names, year in told)
        cited = "; ".join(", ".join(filter(None, pair)) for pair in told)
        inner = " ".join(filter(None, (before, ", ".join(filter(None, (cited, after))))))
        return inner if kind == "n" else f"({inner})"


def cite(kind: str) -> Command:
    """The command that cites in one of the ways."""

    def write_citation(walk: Walk) -> None:
        walk.gullet.star()
        options = [walk.gullet.option(), walk.gullet.option()]
        notes = [walk.line(option) for option in options if option is not None]
        keys = joined(walk.gullet.argument())
        if len(walk.cited) < 20_000:
            walk.cited |= dict.fromkeys(key.strip() for key in keys.split(","))
        before, after = notes if len(notes) == 2 else ("", *notes, "")[:2]
        walk.refer("cite", kind, keys, before, after)

    return write_citation


def read_list(walk: Walk) -> None:
    r"""``\bibliography``: the list as BibTeX or biblatex made it, else its sources for the end."""
    walk.gullet.option()
    names = joined(walk.gullet.argument()).split(",") if walk.gullet.peek() == "{" else []
    walk.bibliography.files |= dict.fromkeys(name.strip() for name in names[:50])
    if walk.bibliography.is_read:
        return
    walk.bibliography.is_read = True
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
    """Where no list came made, make it of the ``.bib`` files: what the text cites, in its order."""
    if walk.bibliography.entries:
        return
    find = partial(walk.submission.find, folder=walk.folder, ending=".bib")
    found: dict[str, dict[str, str]] = {}
    for file in filter(None, dict.fromkeys(map(find, walk.bibliography.files))):
        missing = walk.cited.keys() - found.keys()
        found |= bib_entries(walk.submission.files[file], missing)
    for key in walk.cited:
        if key in found:
            _add(walk, key, found[key])


def _add(walk: Walk, key: str, fields: dict[str, str]) -> None:
    tex = composed(fields)
    if key in walk.bibliography.entries or not walk.gullet.spend(len(tex)):
        return
    if text := walk.line(tex):
        walk.bibliography.composed = True
        walk.bibliography.add(key, text)
        walk.bibliography.label(key, walk.line(named(fields)))


def filled(walk: Walk, text: str) -> str:
    """Text with every reference and citation in its place."""
    for _ in range(_NESTED):
        if REFERS not in text:
            break
        text = _PLACE.sub(lambda place: _shown(walk, place), text)
    return _MARK.sub("", text)


def _shown(walk: Walk, place: re.Match[str]) -> str:
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
    return _SHOWN.get(label.kind, label.kind) if label else ""
