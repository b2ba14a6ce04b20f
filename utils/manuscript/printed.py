"""Read printed reference lists, and citations by number or by name and year.

PDF, plain text and Word without a reference manager have such lists. The list begins after its
heading; a citation names an entry by number, or by first author and year.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from ..model.identifiers import Ids
from ..outline.words import fold_words
from .parts import CitationMark, ListedReference, ManuscriptBlock
from .printed_entries import extract_printed_fields

_HEADING = re.compile(
    r"\W*(?:\d+\.?\s+)?(?:references?(?: cited| list)?|bibliography|literature(?: cited)?"
    r"|works cited|literatur(?:verzeichnis)?|r[\u00e9e]f[\u00e9e]rences|bibliographie)\W*",
    re.I,
)
_NUMBER = re.compile(r"\s*(?:\[(\d{1,3})\]|\((\d{1,3})\)|(\d{1,3})[.)]?(?=\s+\D))\s*")
_DOI = re.compile(r"10\.\d{4,9}(?:\.\d+)*/[^\s\"<>|]*[^\s\"<>|.,;:)\]]")
_PMID = re.compile(r"\bPMID:?\s*(\d{4,8})\b", re.I)
_PMCID = re.compile(r"\bPMC\d{4,9}\b")
_ARXIV = re.compile(r"\barXiv:\s*(\d{4}\.\d{4,5}|[a-z-]+/\d{7})", re.I)
_YEAR = re.compile(r"\b((?:18|19|20)\d\d)([a-z]?)\b")
_LINK = re.compile(r"https?://\S+|\bdoi:\s*\S+", re.I)
_BRACKETED_NUMBERS = re.compile(r"\[(\d{1,3}(?:\s*[,;\u2013\u2014-]\s*\d{1,3})*)\]")
_PARENTHESISED_NUMBERS = re.compile(r"\((\d{1,3}(?:\s*[,;\u2013\u2014-]\s*\d{1,3})*)\)")
_PARENTHESISED_NAMES = re.compile(r"\(([^()]{0,600}?\b(?:18|19|20)\d\d[a-z]?[^()]{0,300})\)")
_NAME = r"[^\W\d_a-z][\w'\u2019-]+(?:\s[^\W\d_a-z][\w'\u2019-]+)?"
_NAME_IN_SENTENCE = re.compile(
    rf"(?P<name>{_NAME})(?:\s+et\s+al\.?,?|\s+(?:and|&)\s+{_NAME})?(?:['\u2019]s)?\s+"
    r"[(\[](?P<year>(?:18|19|20)\d\d[a-z]?)[)\]]"
)
_MAX_NUMBERS_IN_RANGE = 60


def split_off_printed_list(
    blocks: Sequence[ManuscriptBlock],
) -> tuple[list[ManuscriptBlock], list[ListedReference]]:
    """Return the body's blocks with their citations, and the entries of the printed list."""
    begin = next((at for at, one in enumerate(blocks) if _is_list_heading(one)), len(blocks))
    entries = list(_iterate_printed_entries(blocks[begin + 1 :]))
    references = [
        _parse_printed_entry(block, at, number) for at, (block, number) in enumerate(entries, 1)
    ]
    numbered = sum(bool(number) for _, number in entries) * 2 >= len(entries) > 0
    body = [block for block in blocks[:begin] if block.kind != "entry"]
    if numbered or any(key[0] == "#" for one in body for mark in one.marks for key in mark.keys):
        return list(_mark_number_citations(body, references)), references
    return list(_mark_name_citations(body, references)), references


def _is_list_heading(block: ManuscriptBlock) -> bool:
    return _HEADING.fullmatch(block.text.strip()) is not None


def _iterate_printed_entries(
    blocks: Sequence[ManuscriptBlock],
) -> Iterator[tuple[ManuscriptBlock, str]]:
    """Yield entries with their numbers; a block without a year or identifier is not an entry."""
    for block in blocks:
        if block.kind == "heading":
            return
        found = _NUMBER.match(block.text)
        words = block.text[found.end() :] if found else block.text
        if _YEAR.search(words) or find_ids_in_entry(words):
            number = next(filter(None, found.groups()), "") if found else ""
            yield replace(block, kind="entry"), number


def _parse_printed_entry(block: ManuscriptBlock, at: int, number: str) -> ListedReference:
    """Parse a printed entry as a reference; its position replaces a missing number."""
    found = _NUMBER.match(block.text) if number else None
    words = " ".join(block.text[found.end() if found else 0 :].split())
    place = block.get_place(0, len(block.text.rstrip()))
    return ListedReference(
        number or str(at),
        find_ids_in_entry(words),
        extract_printed_fields(words),
        words,
        place=place,
    )


def parse_printed_reference(key: str, words: str, **where: object) -> ListedReference:
    """Parse a printed entry, such as a ``thebibliography`` item, as a reference."""
    words = " ".join(words.split())
    ids, fields = find_ids_in_entry(words), extract_printed_fields(words)
    return ListedReference(key, ids, fields, words, **where)  # type: ignore[arg-type]


def find_ids_in_entry(words: str) -> Ids:
    """Return the identifiers in the text of an entry."""
    found = Ids()
    patterns = ((_DOI, "{}"), (_PMID, "PMID: {}"), (_PMCID, "{}"), (_ARXIV, "arXiv:{}"))
    for pattern, form in patterns:
        if match := pattern.search(words):
            ids = Ids.maybe(form.format(match[match.lastindex or 0]))
            found |= ids if not found.clash(ids) else Ids()
    return found


def _mark_number_citations(
    blocks: Iterable[ManuscriptBlock], references: Sequence[ListedReference]
) -> Iterator[ManuscriptBlock]:
    """Yield the blocks with their numeric citations marked."""
    known = {reference.key for reference in references}
    made = list(blocks)
    bracketed = any(_BRACKETED_NUMBERS.search(one.text) for one in made)
    raised = any(key[0] == "#" for one in made for mark in one.marks for key in mark.keys)
    for block in made:
        marks = [
            mark for mark in map(_expand_superscript_mark, block.marks) if set(mark.keys) & known
        ]
        if not raised or bracketed:
            pattern = _BRACKETED_NUMBERS if bracketed else _PARENTHESISED_NUMBERS
            marks += (
                CitationMark(found.start(), found.end(), keys)
                for found in pattern.finditer(block.text)
                if set(keys := _expand_number_ranges(found[1])) & known
            )
        yield replace(block, marks=tuple(sorted(marks)))


def _expand_superscript_mark(mark: CitationMark) -> CitationMark:
    """Return the citation with superscript keys such as ``#2-4`` expanded to numbers."""
    keys = [
        one
        for key in mark.keys
        for one in (_expand_number_ranges(key[1:]) if key[0] == "#" else (key,))
    ]
    return mark._replace(keys=tuple(keys))


def _expand_number_ranges(text: str) -> tuple[str, ...]:
    """Return the numbers of a citation, with ranges written out.

    >>> _expand_number_ranges("2, 4–6")
    ('2', '4', '5', '6')
    """
    found: list[str] = []
    for part in re.split(r"[,;]", text):
        first, *others = re.findall(r"\d{1,3}", part) or [""]
        if others and int(first) < int(others[-1]) <= int(first) + _MAX_NUMBERS_IN_RANGE:
            found += map(str, range(int(first), int(others[-1]) + 1))
        elif first:
            found.append(str(int(first)))
    return tuple(found)


def _mark_name_citations(
    blocks: Iterable[ManuscriptBlock], references: Sequence[ListedReference]
) -> Iterator[ManuscriptBlock]:
    """Yield the blocks with their citations by author and year marked."""
    known: dict[tuple[str, str], list[str]] = {}
    for reference in references:
        first, year = (
            (fold_words(reference.words) or [""])[0],
            _YEAR.search(_LINK.sub("", reference.words)),
        )
        for name in {first, *fold_words(reference.words)[1:2]}:
            for dated in {year[0], year[1]} if year else ():
                known.setdefault((name, dated), []).append(reference.key)
    for block in blocks:
        marks = {
            (found.start(), found.end()): keys
            for pattern, named in (
                (_PARENTHESISED_NAMES, _iterate_parenthesised_names),
                (_NAME_IN_SENTENCE, _iterate_name_in_sentence),
            )
            for found in pattern.finditer(block.text)
            if (keys := [key for at in named(found) for key in known.get(at, ())])
        }
        made = (
            CitationMark(*span, tuple(dict.fromkeys(keys))) for span, keys in sorted(marks.items())
        )
        yield replace(block, marks=tuple(made))


def _iterate_parenthesised_names(found: re.Match[str]) -> Iterator[tuple[str, str]]:
    """Yield first author and year of each work in parentheses; an author may have several years."""
    name = ""
    for part in re.split(r"[;]", found[1]):
        named = re.search(_NAME, re.sub(r"^\W*(?:see|also|e\.g\.,?|cf\.|reviewed in)\s+", "", part))
        name = (fold_words(named[0]) or [name])[0] if named else name
        yield from ((name, year[0]) for year in _YEAR.finditer(part))


def _iterate_name_in_sentence(found: re.Match[str]) -> Iterator[tuple[str, str]]:
    """Yield the author and year of a citation such as ``Roe et al. (2024)``."""
    yield (fold_words(found["name"]) or [""])[0], found["year"]
