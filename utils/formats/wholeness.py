"""Whether a text is all of the paper, when only its markdown can tell.

A page or PDF cut short reads well as far as it goes; what it shows of the rest gives it away:
headings without text, numbered citations that stop before the list does, citations of no list, an
introduction nothing concludes, fewer pages than the record names. As in `.jats.wholeness`, a sign
far from where any whole paper is convinces alone, merely unusual ones convince together. Measured
on the whole pages and PDFs recorded and on 150 of one journal kept out of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

from ..paper import Document
from .sections import Part, blocks
from .words import count_words, folded, without_markup

ENOUGH: Final = 2  # what signs must weigh together
_FILLED: Final = 25  # words under a heading; a line or two is what is left of a section
_FILLED_SHARE: Final = 0.4  # of the headings; a heading above another has no text of its own
_BARE: Final = 10  # words: a heading over a figure alone has that many
_BARE_AT_END: Final = 2  # headings; whole pages end in one at most
_SHORT: Final = 1000  # words; in more, a heading unseen must not look like a section missing
_FEW: Final = 8  # references; in fewer, a share says nothing
_MANY: Final = 15
_SCANT: Final = 10  # words for each reference; whole papers have 25 at least
_REACHED: Final = (0.65, 0.75)  # of the list; whole papers cite up to 0.77 of it at least
_KNOWN: Final = 0.3  # of the list; with fewer names found, the text does not cite by names
_NEAR: Final = 8  # words between a name and its year
_GAPLESS: Final = 0.7  # of the numbers up to the last cited; less is no numbering
_CITED: Final = 3  # references at least before a list is missed
_RANGE: Final = 50  # references at most in one "3-7"
_YEARS: Final = 8  # in so many words a list of references names as many years
_YEARS_WORDS: Final = 300
_PAGES_SHARE: Final = (0.34, 0.6)  # a preprint's layout may be half as long
_SENTENCE: Final = 25  # words; less is a label or an address
_NUMBERS = r"\s*\d{1,3}(?:\s?[,;\u2013\u2212-]\s?\d{1,3}){0,40}\s*"
# How papers number citations, a group each: [1], (1), raised, and raised as a PDF tells it.
_MARKS: Final = re.compile(
    rf"\[({_NUMBERS})\]|\(({_NUMBERS})\)|<sup>({_NUMBERS})</sup>"
    r"|(?<=[a-z)]{2}[.,;])(\d{1,3}(?:[,\u2013-]\d{1,3}){0,40})(?=\s)"
)
_LINKED: Final = re.compile(r"\]\([^()\[\]\s]{0,2000}(?:\s\"[^\"\[]{0,300}\")?\)")
_NUMBER: Final = re.compile(r"(\d{1,3})(?:\s?[\u2013\u2212-]\s?(\d{1,3}))?")
_NAMED: Final = re.compile(r"\bet al\.?,? [(\[]?(?:19|20)\d\d")
_ORDINAL: Final = re.compile(r"^(?:[-*] )?\W{0,3}(\d{1,3})\\?[.)\]]", re.M)
_YEAR: Final = re.compile(r"\b(?:19|20)\d\d\b")
_STOPS: Final = re.compile(r"[a-z,\u2010-\u2015-]\s*$")
OPENS: Final = re.compile(r"\W*(?:[1I]\W+)?(?:introduction|background)\W*", re.I)
PREPARES: Final = re.compile(r"\W*(?:\d\W+)?(?:patients?|subjects?|materials?|methods?)\b.*", re.I)
CONCLUDES: Final = re.compile(
    r"discussion|conclu|summary|outlook|perspective|remarks|considerations|comment|limitation"
    r"|future|implication|recommendation",
    re.I,
)


class Sign(NamedTuple):
    """Something a text promises and does not keep; `ENOUGH` is enough by itself."""

    weight: int
    said: str


@dataclass(frozen=True, slots=True)
class _Parts:
    """A text's headings, each with the words under it, and the text of body and of references."""

    headings: tuple[tuple[str, int], ...]
    body: tuple[str, ...]
    references: str
    ends_in: Part


def missing(document: Document, words: int, stated: int, abstract: bool) -> str:
    """What shows that a text is not all of its paper; empty if nothing does.

    Parameters
    ----------
    words : int
        Those of the text that are not the abstract over again.
    stated : int
        Pages by the record, 0 if unknown.
    abstract : bool
        Whether the paper has one: what has none may be a letter or an editorial.
    """
    signs = list(_signs(document, words, stated, abstract))
    enough = sum(sign.weight for sign in signs) >= ENOUGH
    return ", ".join(sign.said for sign in signs if sign.weight) if enough else ""


def filled_headings(markdown: str) -> int:
    """How many of the body's headings have text under them."""
    return _filled(_parts(markdown))


def _filled(parts: _Parts) -> int:
    return sum(words >= _FILLED for _, words in parts.headings)


def _signs(document: Document, words: int, stated: int, abstract: bool) -> Iterator[Sign]:
    pages = document.pages
    if stated > 2 and 0 < pages <= _PAGES_SHARE[1] * stated:
        yield Sign(1 + (pages <= _PAGES_SHARE[0] * stated), f"{pages} of {stated} pages")
    parts = _parts(document.markdown)
    if any(name.strip("* ").lower() == "section snippets" for name, _ in parts.headings):
        yield Sign(ENOUGH, "only snippets of the sections")
    if not pages:
        yield from _emptied(parts, words, abstract)
    listed = document.references
    if abstract and listed >= _MANY and words < _SCANT * listed:
        yield Sign(ENOUGH, f"{words} words for {listed} references")
    text = _LINKED.sub("]", "\n".join(parts.body).replace("\\", ""))
    text = text.replace("[[", "[").replace("]]", "]")
    if parts.references:
        yield from _cut_list(text, parts.references) or _cut_names(text, parts.references)
    elif pages:
        yield from _unlisted(text, listed)
        last = without_markup(parts.body[-1]) if parts.body and parts.ends_in == "body" else ""
        if _STOPS.search(last[-80:]) and count_words(last) >= _SENTENCE:
            yield Sign(1, f"ends in mid-sentence ({' '.join(last.split()[-3:])[-60:]!r})")
    if abstract:
        yield from _unfinished(parts, words, listed)


def _emptied(parts: _Parts, words: int, abstract: bool) -> Iterator[Sign]:
    """Headings whose text has been left out."""
    filled = _filled(parts)
    count = len(parts.headings)
    bare = 0
    for _, below in reversed(parts.headings):
        if below >= _BARE:
            break
        bare += 1
    if abstract and words < _SHORT and count >= 3 and filled < _FILLED_SHARE * count:
        yield Sign(ENOUGH, f"{words} words, {count} headings with text under {filled} of them")
    elif bare >= _BARE_AT_END:
        said = f"no text under the last {bare} of {count} headings"
        yield Sign(1 + (bare > _BARE_AT_END), said)


def _cut_list(text: str, references: str) -> list[Sign]:
    """Numbered citations that stop before the list does, as a whole text's never do."""
    listed = max((int(number) for number in _ORDINAL.findall(references)), default=0)
    cited = [number for number in sorted(_cited(text, listed)) if number <= listed]
    while cited[2:] and cited[-3] < cited[-1] - 4:  # a stray number, such as a year's last digits
        cited.pop()
    if listed < _FEW or len(cited) < _FEW or len(cited) < _GAPLESS * cited[-1]:
        return []
    said = f"cites {len(cited)} of {listed} references and none after {cited[-1]}"
    return [Sign(sum(cited[-1] < share * listed for share in _REACHED), said)]


def _cut_names(text: str, references: str) -> list[Sign]:
    """References by name and year of which too many are never named."""
    row = folded(text)
    told = {
        (word, year)
        for at, year in enumerate(row)
        if _YEAR.fullmatch(year)
        for word in row[max(0, at - _NEAR) : at]
    }
    entries = [folded(entry) for entry in re.split(r"\n(?=\S)", references)]
    named = [
        any((name, word) in told for word in entry if _YEAR.fullmatch(word))
        for entry in entries
        if any(map(_YEAR.fullmatch, entry))
        and (name := next((word for word in entry if len(word) > 2 and word.isalpha()), ""))
    ]
    listed, cited = len(named), sum(named)
    if listed < _FEW or cited < max(_FEW, _KNOWN * listed):
        return []
    said = f"names {cited} of {listed} references"
    # Never enough alone: where a page's numbers got lost, a few names in the text look like these.
    return [Sign(int(cited < _REACHED[0] * listed), said)]


def _unlisted(text: str, listed: int) -> Iterator[Sign]:
    """Citations of no list: a PDF prints both."""
    cited = len(_cited(text, 999)) if not listed else 0
    cites = max(cited, len(_NAMED.findall(text)))
    if cites >= _CITED and not _lists(text):
        yield Sign(ENOUGH, f"cites {cites} references and lists none")


def _unfinished(parts: _Parts, words: int, listed: int) -> Iterator[Sign]:
    """An introduction that no section concludes."""
    names = [name for name, _ in parts.headings]
    begin = next((at for at, name in enumerate(names) if OPENS.fullmatch(name)), None)
    if begin is None or any(map(CONCLUDES.search, names)):
        return
    begins = all(PREPARES.fullmatch(name) for name in names[begin + 1 :])
    if begins and words < _SHORT and not listed:
        yield Sign(ENOUGH, f"{words} words that end before the results, and no references")
    else:
        yield Sign(1, f"no section after {names[-1][:60]!r} concludes")


def _cited(text: str, listed: int) -> set[int]:
    """Numbers cited, in the way that the text cites most of them."""
    ways: tuple[set[int], ...] = (set(), set(), set(), set())
    for mark in _MARKS.finditer(text):
        way = ways[(mark.lastindex or 1) - 1]
        for first, last in _NUMBER.findall(mark[0]):
            begin, end = int(first), int(last or first)
            way.update(range(begin, min(end, begin + _RANGE) + 1))
    if listed == 999:  # with no list to compare, (1) and (2) may number anything
        ways[1].clear()
    return max(({n for n in way if 0 < n <= listed} for way in ways), key=len)


def _lists(text: str) -> bool:
    """Whether the text ends in a list of references under no heading: a year in every entry."""
    end = " ".join(text.split()[-_YEARS_WORDS:])
    return len(_YEAR.findall(end)) - len(_NAMED.findall(end)) >= _YEARS


def _parts(markdown: str) -> _Parts:
    headings: list[tuple[str, int]] = []
    body: list[str] = []
    references: list[str] = []
    ends_in: Part = "lead"
    for part, is_heading, text in blocks(markdown):
        ends_in = part
        if is_heading and part == "body":
            headings.append((text, 0))
        elif not is_heading and part in ("lead", "body", "back"):
            body.append(text)
            if headings and part == "body":
                headings[-1] = (headings[-1][0], headings[-1][1] + count_words(text))
        elif not is_heading and part == "references":
            references.append(text)
    return _Parts(tuple(headings), tuple(body), "\n".join(references), ends_in)
