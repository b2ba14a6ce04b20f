"""Name the PDF files of a pack: readable, unique, and valid on every system.

A name is made from a pattern such as ``{author} {year} {title}``. It must be valid on Windows and
macOS, in a ZIP and in a link: importers read names as parts of a URL or of a list. Letters of all
scripts, digits, spaces and a few signs are kept, and all other signs become a space. A name has at
most 120 bytes, so that a path stays below the 259 characters of Windows. Names are compared without
regard to capitals and to the composition of accents, as Windows and macOS compare them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping

from ..citations.items import strip_markup
from ..errors import BadRequest
from ..model.paper import Paper
from ..system.safe_files import is_device_name

DEFAULT_PATTERN = "{author} {year} {title}"
MAX_NAME_BYTES = 120
_SUFFIX = ".pdf"
_SIGNS = " -_()+."
_FIELD = re.compile(r"\{(\w*)\}")


def _get_first_author_name(paper: Paper) -> str:
    """Return the family name of the first author, or the name of the group."""
    first = paper.authors[0] if paper.authors else None
    return (first.family or first.collective) if first else ""


def _format_author_names(paper: Paper) -> str:
    """Return one author, two authors, or the first one with "et al"."""
    names = [author.family or author.collective for author in paper.authors]
    return f"{names[0]} et al" if len(names) > 2 else " and ".join(names)


_FIELDS: Mapping[str, Callable[[Paper], str]] = {
    "author": _get_first_author_name,
    "authors": _format_author_names,
    "year": lambda paper: paper.year,
    "title": lambda paper: paper.title,
    "journal": lambda paper: paper.journal_abbreviation or paper.journal,
    "doi": lambda paper: paper.ids.doi,
    "pmid": lambda paper: paper.ids.pmid,
    "pmcid": lambda paper: paper.ids.pmcid,
    "arxiv": lambda paper: paper.ids.arxiv,
    "key": lambda paper: paper.ids.key,
}


def validate_name_pattern(pattern: str) -> None:
    """Raise an error for a pattern that cannot name a paper's file.

    Raises
    ------
    BadRequest
        A field is unknown, or the pattern has no field.
    """
    fields = ", ".join(f"{{{name}}}" for name in _FIELDS)
    names = _FIELD.findall(pattern)
    if unknown := [name for name in names if name not in _FIELDS]:
        msg = f"The pattern {pattern!r} has an unknown field: {{{unknown[0]}}}."
        raise BadRequest(msg, f"Fields: {fields}.")
    if not names or _FIELD.sub("", pattern).strip("{}") != _FIELD.sub("", pattern):
        msg = f"The pattern {pattern!r} has no field such as {{title}}."
        raise BadRequest(msg, f"Fields: {fields}.")


class UniqueFileNames:
    """Assigns unique names to the PDF files of one pack.

    Parameters
    ----------
    pattern : str
        Fields in braces, and any text between the fields.

    Raises
    ------
    BadRequest
        The pattern is invalid.
    """

    def __init__(self, pattern: str = DEFAULT_PATTERN) -> None:
        validate_name_pattern(pattern)
        self._pattern = pattern
        self._taken: set[str] = set()

    def assign_name(self, paper: Paper, mark: str = "") -> str:
        """Return a file name that no earlier paper has; *mark* is appended to the name.

        >>> from ..model.identifiers import Ids
        >>> from ..model.paper import Author
        >>> paper = Paper(Ids(pmid="7"), "Moss: why?", authors=(Author("Roe"),), published="2019")
        >>> names = UniqueFileNames()
        >>> names.assign_name(paper), names.assign_name(paper)
        ('Roe 2019 Moss why.pdf', 'Roe 2019 Moss why 2.pdf')
        """
        filled = _FIELD.sub(lambda field: strip_markup(_FIELDS[field[1]](paper)), self._pattern)
        stem = _to_safe_file_stem(filled) or _to_safe_file_stem(paper.ids.key) or "paper"
        number, ending = 1, mark
        while _fold_file_name(name := _build_file_name(stem, ending)) in self._taken:
            number += 1
            ending = f"{mark} {number}"
        self._taken.add(_fold_file_name(name))
        return name


def _to_safe_file_stem(text: str) -> str:
    """Replace each character that a system or an importer may refuse by a space."""
    kept = (
        char if char in _SIGNS or unicodedata.category(char)[0] in "LMN" else " "
        for char in unicodedata.normalize("NFC", text)
    )
    stem = " ".join("".join(kept).split()).strip(" .-")
    return f"_{stem}" if is_device_name(stem) else stem


def _build_file_name(stem: str, ending: str) -> str:
    """Return the file name, with the stem shortened between words if the name is too long."""
    room = MAX_NAME_BYTES - len(ending) - len(_SUFFIX)
    cut = stem.encode()[:room].decode("utf-8", "ignore")
    if cut != stem:
        begin, _, _ = cut.rpartition(" ")
        cut = (begin if len(begin) * 2 > len(cut) else cut).rstrip(" .-(")
    return f"{cut}{ending}{_SUFFIX}"


def _fold_file_name(name: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", name).casefold())
