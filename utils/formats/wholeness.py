"""Whether a text is all of the paper, when only its markdown can tell.

A page or PDF cut short reads well as far as it goes; what it shows of the rest gives it away:
headings without text, numbered citations that stop before the list does or leave out a row of it,
citations of no list, figures and sections whose numbers skip, an introduction nothing concludes,
fewer pages than the record names. As in `.jats.wholeness`, a sign far from where any whole paper
is convinces alone, merely unusual ones convince together.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Final, NamedTuple

from ..paper import Document
from .evidence import Evidence, Section
from .sections import concludes, divides_research, opens, prepares, reports
from .words import count_words, folded, without_markup

ENOUGH: Final = 4  # what signs must weigh together
_FILLED_SHARE: Final = 0.4  # of the headings; a heading above another has no text of its own
_BARE: Final = 10  # words: a heading over a figure alone has that many
_BARE_AT_END: Final = 2  # headings; whole pages end in one at most
_SHORT: Final = 1000  # words; in more, a heading unseen must not look like a section missing
_FEW: Final = 8  # references; in fewer, a share says nothing
_MANY: Final = 15
_SCANT: Final = 10  # words for each reference; whole papers have 25 at least
_AMPLE: Final = 120
_REACHED: Final = (0.65, 0.8)  # of the list; whole papers cite up to 0.85 of it at least
_LATE: Final = (0.12, 0.45)  # of the list, at its end; whole papers leave out a tenth at most
_ROW: Final = 4  # references in a row that nobody cites
_KNOWN: Final = 0.3  # of the list; with fewer names found, the text does not cite by names
_NEAR: Final = 8  # words between a name and its year
_GAPLESS: Final = 0.7  # of the numbers up to the last cited; less is no numbering
_STRICT: Final = 0.85
_LISTED: Final = 0.15  # of the citations; one work is cited a few times
_NUMBERED: Final = 10  # entries that count on from 1
_PART: Final = 100  # words of prose
_CITED: Final = 3  # references at least before a list is missed
_PAGES_SHARE: Final = (0.34, 0.6)  # a preprint's layout may be half as long
_PER_PAGE: Final = (60, 130)  # words for each page that the record names
_SENTENCE: Final = 25  # words; less is a label or an address
_TORN: Final = 0.3  # of the sections
_YEAR: Final = re.compile(r"(?:19|20)\d\d[a-z]?")
_STOPS: Final = re.compile(r"[a-z,\u2010-\u2015-]\s*$")
_SECTION: Final = re.compile(r"\W{0,4}(\d{1,2})(?:[.)]\s|\s|[.)]?\W*$)(?!\d)")
# What an abstract says of the parts that the body must have then.
MISSES: Final = {
    "results": re.compile(r"\b(?:results?|findings)\b", re.I),
    "methods": re.compile(r"\bmethods?\b", re.I),
}


class Sign(NamedTuple):
    """Something a text promises and does not keep; `ENOUGH` is enough by itself."""

    weight: int
    said: str


def missing(document: Document, found: Evidence, stated: int, doubt: int = 0) -> str:
    """What shows that a text is not all of its paper; empty if nothing does.

    Parameters
    ----------
    document : Document
    found : Evidence
        The evidence of its text.
    stated : int
        Pages by the record, 0 if unknown.
    doubt : int
        What is held against the page beforehand: an offer to sell it.
    """
    signs = list(_signs(document, found, stated))
    enough = sum(sign.weight for sign in signs) + (doubt if signs else 0) >= ENOUGH
    return ", ".join(sign.said for sign in signs if sign.weight) if enough else ""


def reports_research(found: Evidence) -> bool:
    """Whether three of introduction, methods, results and discussion have text of their own."""
    names = [section.name for section in found.body if section.prose >= _PART]
    parts = (opens, prepares, reports, concludes)
    return sum(any(map(part, names)) for part in parts) >= 3 and len(set(names)) == len(names)


def _signs(document: Document, found: Evidence, stated: int) -> Iterator[Sign]:
    pages = document.pages
    if stated > 2 and 0 < pages <= _PAGES_SHARE[1] * stated:
        yield Sign(2 + 2 * (pages <= _PAGES_SHARE[0] * stated), f"{pages} of {stated} pages")
    elif stated > 2 and not pages and found.prose < _PER_PAGE[1] * stated:
        said = f"{found.prose} words for {stated} pages"
        yield Sign(2 + 2 * (found.prose < _PER_PAGE[0] * stated), said)
    body = found.body
    if any(section.name.strip("* ").lower() == "section snippets" for section in body) or (
        found.torn > 2 and found.torn > _TORN * len(body)
    ):
        yield Sign(ENOUGH, "only snippets of the sections")
    if not pages:
        yield from _emptied(body, found)
    if found.listed >= _MANY and found.prose < _SCANT * found.listed:
        yield Sign(ENOUGH, f"{found.prose} words for {found.listed} references")
    yield from _unlisted(found, pages)
    yield from _uncited(found, pages)
    yield from _skipping(body, found)
    if found.ends_in == "body" and count_words(found.last) >= _SENTENCE:
        last = without_markup(found.last)
        if _STOPS.search(last[-80:]):
            yield Sign(2, f"ends in mid-sentence ({' '.join(last.split()[-3:])[-60:]!r})")
    if found.abstract:
        yield from _unfinished(body, found)


def _emptied(body: list[Section], found: Evidence) -> Iterator[Sign]:
    """Headings whose text has been left out."""
    count, filled = len(body), found.filled
    bare = 0
    for section in reversed(body):
        if section.total >= _BARE:
            break
        bare += 1
    if found.abstract and found.prose < _SHORT and count >= 3 and filled < _FILLED_SHARE * count:
        said = f"{found.prose} words, {count} headings with text under {filled} of them"
        yield Sign(ENOUGH, said)
    elif bare >= _BARE_AT_END:
        said = f"no text under the last {bare} of {count} headings"
        yield Sign(2 + 2 * (bare > _BARE_AT_END), said)


def _uncited(found: Evidence, pages: int) -> Iterator[Sign]:
    """References that a text does not get to, or leaves out a row of."""
    cited = sorted(found.cited)
    listed = _length(found)
    if listed < _FEW:
        return
    by_number = len(cited) >= max(5, found.named) and len(cited) >= _GAPLESS * cited[-1]
    by_number = by_number and (found.by_marks or not pages)
    if by_number and cited[-1] <= 1.2 * listed:
        yield from _cut_list([number for number in cited if number <= listed], listed, found)
    elif found.named > len(cited):
        yield from _cut_names(found)


def _length(found: Evidence) -> int:
    """How long the list is: by its own numbers where it has them, for links may follow it."""
    last = max(found.cited, default=_NUMBERED)
    return found.numbered if found.numbered >= min(last, _NUMBERED) else found.listed


def _cut_list(cited: list[int], listed: int, found: Evidence) -> Iterator[Sign]:
    said = f"cites {len(cited)} of {listed} references"
    tail, row = listed - cited[-1], longest_gap(cited)
    if tail >= _ROW and tail > _LATE[0] * listed:
        # Works for further reading may follow; so few cited ones do not carry a longer list.
        weight = ENOUGH if tail > _LATE[1] * listed else 3
        yield Sign(weight, f"{said} and none after {cited[-1]}")
    elif row >= _ROW and len(cited) + row >= _STRICT * cited[-1]:
        yield Sign(3, f"{said} and none of {row} in a row")
    elif len(cited) < _REACHED[0] * listed and found.prose < _AMPLE * listed:
        yield Sign(2, said)


def longest_gap(cited: Iterable[int]) -> int:
    """How many numbers in a row are left out, at the most, before the last cited."""
    steps = pairwise([0, *sorted(cited)])
    return max((after - before - 1 for before, after in steps), default=0)


def _cut_names(found: Evidence) -> Iterator[Sign]:
    """References by name and year of which too many are never named."""
    row = folded(found.text)
    told = {
        (word, year)
        for at, year in enumerate(row)
        if _YEAR.fullmatch(year)
        for word in row[max(0, at - _NEAR) : at]
    }
    entries = [folded(entry) for entry in re.split(r"\n(?=\S)", found.references)]
    named = [
        any((name, word) in told for word in entry if _YEAR.fullmatch(word))
        for entry in entries
        if any(map(_YEAR.fullmatch, entry))
        and (name := next((word for word in entry if len(word) > 2 and word.isalpha()), ""))
    ]
    listed, cited = len(named), sum(named)
    if listed < _FEW or cited < max(_FEW, _KNOWN * listed):
        return
    # Never enough alone: where a page's numbers got lost, a few names in the text look like these.
    weight = sum(cited < share * listed for share in (_REACHED[0], _REACHED[1]))
    if weight:
        yield Sign(1 + weight, f"names {cited} of {listed} references")


def _unlisted(found: Evidence, pages: int) -> Iterator[Sign]:
    """Citations of no list: a PDF prints both; a page may fetch its list by a script."""
    counts_on = found.by_marks and len(found.cited) >= _GAPLESS * max(found.cited, default=0)
    cites = max(len(found.cited) if counts_on else 0, found.named)
    if cites >= _CITED and found.listed < max(_CITED, _LISTED * cites):
        weight = ENOUGH if pages or found.ends_in in ("lead", "body") else 3
        yield Sign(weight, f"cites {cites} references and lists {found.listed or 'none'}")


def _skipping(body: list[Section], found: Evidence) -> Iterator[Sign]:
    """Numbers of sections or figures that are left out."""
    numbers = [int(match[1]) for section in body if (match := _SECTION.match(section.name))]
    if len(numbers) > 2 and (lost := first_skipped(set(numbers))) and max(numbers) < 12:
        yield Sign(3, f"section {lost} is missing before section {max(numbers)}")
    for name in ("fig", "tab"):
        known = {number for kind, number in found.mentioned | found.captions if kind == name}
        if len(known) > 1 and max(known) < 15 and (lost := first_skipped(known)):
            said = f"{'figure' if name == 'fig' else 'table'} {lost} is missing before {max(known)}"
            yield Sign(2, said)


def first_skipped(numbers: set[int]) -> int:
    """The first number that is left out; 0 if none is."""
    return next((n for n in range(1, max(numbers, default=0)) if n not in numbers), 0)


def _unfinished(body: list[Section], found: Evidence) -> Iterator[Sign]:
    """An introduction that no section concludes, or no results between them."""
    names = [section.name for section in body]
    begin = next((at for at, name in enumerate(names) if opens(name)), None)
    concluded = any(map(concludes, names))
    if begin is not None and not concluded:
        begins = all(map(prepares, names[begin + 1 :]))
        if begins and found.prose < _SHORT and not found.listed:
            said = f"{found.prose} words that end before the results, and no references"
            yield Sign(ENOUGH, said)
        else:
            yield Sign(2, f"no section after {names[-1][:60]!r} concludes")
    if len(names) >= 3 and all(map(divides_research, names)):
        if not any(map(reports, names)):
            yield Sign(2, "no results among the sections")
        elif not any(map(prepares, names)):
            yield Sign(1, "no methods among the sections")
