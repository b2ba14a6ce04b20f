"""Parse pasted or piped lists of identifiers and spreadsheets, and merge duplicate papers.

A reviewer's list is put together from several databases; the same paper comes as a PMID from one,
a DOI from another, and with both from a third. Entries that share any identifier are one paper,
also through a third entry, and are merged before anything is fetched. Two entries that share one
identifier and contradict each other in another are not one paper: one of the two is wrong, nobody
here knows which, so both stay and are named. A preprint that is asked for by its own name, beside
its article, is a report of its own.
"""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TextIO

from ..errors import BadRequest
from ..model.identifiers import IdName, Ids
from ..model.other_identifiers import EXAMPLES
from ..model.paper import Paper
from ..model.versions import infer_requested_version
from ..system.plain_text import one_line

_MAX_NAMED = 10
_MAX_UNREADABLE = 1000  # unreadable words after which the rest is not looked at
_CITATION_MAX_CHARS = 300
_CHUNK_BYTES = 1 << 20
# A separator counts only where an identifier begins behind it: DOIs may hold commas themselves,
# and old ones end in ";2-X".
_SEPARATOR = re.compile(
    r"[,;\t](?=\s{0,9}(?:10\.\d{4,9}/|https?:|doi:|pmid|pmc|arxiv|\d+(?=[\s,;]|$)))", re.I
)
_DOI = re.compile(r"10\.\d{4,9}(?:\.\d+)*/\S+")
# A list has a hundred thousand of them: no need to try every spelling on those in the usual one.
_CANONICAL_FORMS: dict[IdName, re.Pattern[str]] = {
    "pmid": re.compile(r"[1-9]\d{0,7}", re.A),
    "pmcid": re.compile(r"PMC[1-9]\d*", re.A),
    "doi": re.compile(r"10\.\d{4,9}/[\w./()-]*\w", re.A),
    "arxiv": re.compile(r"\d{4}\.\d{4,5}", re.A),
}
_LABELLED_ID = re.compile(r"\s*(PMID|PMCID|DOI|arXiv)\s*:\s*(\S+)", re.I)
_INITIALS = re.compile(r"(?<=\w)\s+(?:[A-Z]\.?-?\s?){1,4}$")


class ListEntry(NamedTuple):
    """One paper of a list: the text in the list, and the identifiers in that text.

    Without any, ``paper`` is what the list says of it (see `.described`), if it says anything.
    ``record`` is the whole record in the list, and ``key`` its citation key, where a reference
    manager gives them.
    """

    asked: str
    ids: Ids
    paper: Paper | None = None
    record: Paper | None = None
    key: str = ""


def open_decoded_lines(data: bytes) -> TextIO:
    r"""Return a text stream over a file's bytes, decoded; each line ends with ``\n``.

    UTF-8 or UTF-16 where the bytes are that, otherwise what Windows programs write (cp1252).

    >>> open_decoded_lines("M\u00fcller\r\n2".encode("cp1252")).readlines()
    ['Müller\n', '2']
    """
    if data[:2] in {codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE}:
        encoding = "utf-16"
    else:
        encoding = "utf-8-sig" if _is_utf8(data) else "cp1252"
    return io.TextIOWrapper(io.BytesIO(data), encoding, "replace", newline=None)


def read_identifier_lines(data: bytes) -> list[str]:
    r"""Return the lines of a file of identifiers, with comment lines (``#``) blanked.

    >>> read_identifier_lines("\ufeff1\r\n# mine\n2".encode())
    ['1', '', '2']
    """
    lines = (line.rstrip("\n") for line in open_decoded_lines(data))
    return ["" if line.lstrip().startswith("#") else line for line in lines]


def parse_identifier_lines(lines: Sequence[str]) -> list[ListEntry]:
    """Return the papers named in lines that hold any number and mix of identifiers.

    What cannot be read is an entry without identifiers: one slip does not spoil a list.

    >>> lines = ["10.1000/a,10.1000/b; PMC7", "1 2", "moss"]
    >>> [(e.asked, str(e.ids)) for e in parse_identifier_lines(lines)]
    ... # doctest: +NORMALIZE_WHITESPACE
    [('10.1000/a', 'doi:10.1000/a'), ('10.1000/b', 'doi:10.1000/b'), ('PMC7', 'PMC7'),
     ('1', 'PMID 1'), ('2', 'PMID 2'), ('moss', '')]
    """
    return [entry for line in lines for entry in _parse_identifier_line(line)]


def parse_required_identifiers(lines: Sequence[str], first: int = 1) -> list[ListEntry]:
    """Parse lines that must be identifiers; *first* is the number of the first line.

    Raises
    ------
    BadRequest
        There is no identifier at all, or less of it can be read than not: then it is no list.
    """
    wanted: list[ListEntry] = []
    unreadable: list[str] = []
    others = 0
    for number, line in enumerate(lines, first):
        for entry in _parse_identifier_line(line):
            wanted.append(entry)
            if entry.ids:
                continue
            if len(unreadable) < _MAX_NAMED:
                unreadable.append(f"{entry.asked[:80]!r} (line {number})")
            else:
                others += 1
        if others > _MAX_UNREADABLE + len(wanted) // 2:
            break
    if len(unreadable) == len(wanted) == first == len(lines):
        Ids.parse(lines[0])  # says it in its own words
    if 2 * (len(unreadable) + others) > len(wanted):
        named = ", ".join(unreadable) + f" and {others:,} or more others" * bool(others)
        raise BadRequest(f"These are not valid identifiers: {named}.", EXAMPLES)
    if not wanted:
        raise BadRequest("No identifier was given.", EXAMPLES)
    return wanted


def build_no_identifier_error(text: str) -> BadRequest:
    """Return the error for a text without an identifier."""
    try:
        Ids.parse(text)
    except BadRequest as wrong:
        return wrong
    return BadRequest(f"{one_line(text)[:80]!r} cannot be read.", EXAMPLES)


def _parse_identifier_line(line: str) -> list[ListEntry]:
    """Return the papers of a line; in a line of many words, numbers are not identifiers."""
    entries = [
        ListEntry(one_line(part)[:_CITATION_MAX_CHARS], Ids.maybe(part))
        for part in _iterate_line_parts(line)
    ]
    slips = sum(not entry.ids for entry in entries)
    if 4 * slips <= len(entries):
        return entries
    return [ListEntry(one_line(line)[:_CITATION_MAX_CHARS], Ids())]


def _iterate_line_parts(line: str) -> Iterator[str]:
    for piece in filter(None, map(str.strip, _SEPARATOR.split(line))):
        if Ids.maybe(piece):
            yield piece
            continue
        for word in piece.split():  # a DOI may hold commas
            yield from [word] if "/" in word else filter(None, re.split("[,;]", word))


def has_only_identifiers(lines: Iterable[str]) -> bool:
    """Return whether the lines hold only identifiers and comments."""
    bare = (line for line in lines if not line.lstrip().startswith("#"))
    return all(bool(entry.ids) for line in bare for entry in _parse_identifier_line(line))


def collect_field_ids(fields: Mapping[IdName, str], hints: Iterable[str] = ()) -> Ids:
    """Return the identifiers of a record in a reference list.

    Parameters
    ----------
    fields : Mapping
        The fields meant for an identifier; what is no identifier of that kind is left out.
    hints : iterable of str
        Links and remarks. They count where they are an identifier, or begin with some
        (``PMID: 1 PMCID: PMC7``), and contradict neither the fields nor each other.

    >>> collect_field_ids({"pmid": "31452104.0", "doi": "DOI: 10.1000/A [doi]"}).names()
    ['doi:10.1000/a', 'pmid:31452104']
    """
    named: dict[str, str] = {}
    for kind, text in fields.items():
        if _CANONICAL_FORMS[kind].fullmatch(text):
            named.setdefault(kind, text)
        elif text:
            for name in _parse_id_of_kind(kind, text.strip()).names():
                found_kind, _, value = name.partition(":")
                named.setdefault(found_kind, value)
    found = Ids(**named)
    for hint in hints:
        for ids in _find_ids_in_text(hint.strip()):
            if not found.clash(ids):
                found |= ids
    return found


def format_citation(author: str = "", year: str = "", title: str = "", journal: str = "") -> str:
    """Return a short citation, for a record without identifiers.

    >>> format_citation("Smith, Jane", "2019/05/01", "A title.", "J Tests")
    'Smith 2019. A title. J Tests'
    """
    family = _INITIALS.sub("", author.split(",", maxsplit=1)[0][:100]).strip()
    found = re.search(r"\b[12]\d{3}\b", year[:40])
    who = " ".join(filter(None, (family, found[0] if found else "")))
    parts = (one_line(part[:2000]).rstrip(". ") for part in (who, title, journal))
    return ". ".join(filter(None, parts))[:_CITATION_MAX_CHARS]


def _is_utf8(data: bytes) -> bool:
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for start in range(0, len(data), _CHUNK_BYTES):
            decoder.decode(data[start : start + _CHUNK_BYTES])
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _parse_id_of_kind(kind: IdName, text: str) -> Ids:
    """Parse *text* as an identifier of *kind*; spreadsheets turn numbers into ``1.0``."""
    if not text or len(text) > _CITATION_MAX_CHARS:
        return Ids()
    if kind == "doi":
        found = _DOI.search(_SEPARATOR.split(text, 1)[0])  # the first of several
        ids = Ids.maybe(found[0]) if found else Ids()
        return ids if ids.doi or ids.arxiv else Ids()
    if kind == "pmid":
        text = text.removesuffix(".0").removesuffix("[pmid]")
    elif kind == "pmcid":
        text = re.sub(r"^(?:PMC)?\s*(\d+)(?:\.0)?$", r"PMC\1", text, flags=re.I)
    ids = Ids.maybe(text)
    return ids if getattr(ids, kind) else Ids()


def _find_ids_in_text(text: str) -> list[Ids]:
    if not text or len(text) > 2 * _CITATION_MAX_CHARS:
        return []
    if "/" in text or text[:3].upper() == "PMC":
        return [Ids.maybe(text)]
    found = []
    while spelled := _LABELLED_ID.match(text):
        kind = spelled[1].lower()
        found.append(_parse_id_of_kind(kind, spelled[2].rstrip(",;")))  # type: ignore[arg-type]
        text = text[spelled.end() :]
    return found


def _build_duplicate_key(entry: ListEntry) -> str:
    """Return the key by which entries without identifiers are compared."""
    place = entry.paper and (entry.paper.volume, entry.paper.issue, entry.paper.pages)
    return f"asked:{' '.join(entry.asked.lower().split())} {' '.join(place or ())}".rstrip()


@dataclass(frozen=True, slots=True)
class MergedList:
    """A list of papers without duplicates.

    Parameters
    ----------
    papers : tuple of Entry
        In the order in which each was first asked for, by its first name, with all identifiers.
    duplicates : int
        How many entries named a paper a second time.
    contradictions : tuple of str
        Entries kept apart although they share an identifier: one sentence each.
    """

    papers: tuple[ListEntry, ...]
    duplicates: int
    contradictions: tuple[str, ...] = ()


def merge_duplicate_entries(entries: Iterable[ListEntry]) -> MergedList:
    """Merge entries that share an identifier, transitively, or (without any) the same text."""
    groups = _EntryGroups()
    for entry in entries:
        groups.add_entry(entry)
    papers = tuple(groups.papers.values())
    return MergedList(papers, groups.count - len(papers), tuple(groups.contradictions))


class _EntryGroups:
    """Groups of entries for one paper (union-find); the first mention represents the group."""

    def __init__(self) -> None:
        self.papers: dict[int, ListEntry] = {}
        self.contradictions: list[str] = []
        self._parents: list[int] = []
        self._places: dict[str, int] = {}

    @property
    def count(self) -> int:
        """The number of distinct papers."""
        return len(self._parents)

    def add_entry(self, entry: ListEntry) -> None:
        """Add an entry, and merge the groups with which it shares an identifier."""
        place = len(self._parents)
        self._parents.append(place)
        names = entry.ids.names() or [_build_duplicate_key(entry)]
        if infer_requested_version(Ids.maybe(entry.asked) or entry.ids) == "preprint":
            names = [f"preprint {name}" for name in names]
        roots = {
            self._find_root(self._places[name]): name for name in names if name in self._places
        }
        self.papers[place] = entry
        # The first mention takes in the others, so that papers stay in the order of the list.
        for root, name in sorted(roots.items()):
            place = self._merge_groups(root, place, name)
        for name in names:
            self._places.setdefault(name, place)

    def _find_root(self, place: int) -> int:
        while self._parents[place] != place:
            self._parents[place] = self._parents[self._parents[place]]
            place = self._parents[place]
        return place

    def _merge_groups(self, one: int, other: int, name: str) -> int:
        first, second = sorted((one, other))
        ours, theirs = self.papers[first], self.papers[second]
        if clash := ours.ids.clash(theirs.ids):
            conflict = f"{ours.asked} and {theirs.asked} share {name}, but contradict each other"
            self.contradictions.append(f"{conflict}: {clash}. They are kept apart.")
            return other
        self._parents[second] = first
        self.papers[first] = ListEntry(ours.asked, ours.ids | theirs.ids)
        del self.papers[second]
        return first
