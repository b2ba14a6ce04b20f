r"""Citations and the list they point into: ``.bbl``, ``thebibliography``, biblatex's, or ``.bib``.

Papers cite by numbers or by names and years; which of the two depends on the packages they load
and on whether their list has names and years in its labels. Citations stand before the list, and
labels often behind what refers to them, so both leave a place that is filled at the end.
"""

from __future__ import annotations

import posixpath
import re
from functools import partial
from typing import Final

from .bibtex import bib_entries, biblatex_entries, entry_tex, natbib_label
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
