"""Whether a text is all of its paper, judged by its markdown.

A page or PDF cut short reads well as far as it goes; these signs give it away:
headings without text, numbered citations that stop before the list does or leave out a row of it,
citations of no list, figures and sections whose numbers skip, an introduction nothing concludes,
fewer pages than the record names. As in `..formats.jats.wholeness`, a sign far from where any
whole paper is convinces alone, merely unusual ones convince together.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import chain, pairwise
from typing import Final

from ..model.paper import Paper
from ..model.verdicts import DOUBT, REFUSE, WEAK, Sign
from ..outline.sections import concludes, divides_research, opens, prepares, reports
from ..outline.words import count_words, folded, without_markup
from .evidence import NAMED, Evidence, Section
from .signs import Case

_FILLED_SHARE: Final = 0.4  # of the headings; a heading above another has no text of its own
_BARE_AT_END: Final = 2  # headings; whole pages end in one at most
_SHORT: Final = 1000  # words; in more, a heading unseen must not look like a section missing
_FEW: Final = 8  # references; in fewer, a share says nothing
_MANY: Final = 15
_SCANT: Final = (13, 30)  # words for each reference; whole papers have 15 at least, most 40
_AMPLE: Final = 120
_STRAY: Final = 0.3  # of them, printed in another way
_LATE: Final = 0.12  # of the list, at its end; whole papers leave out a tenth at most
_ROW: Final = 4  # references in a row that nobody cites
_LEFT: Final = (0.12, 0.25, 0.36)  # of the list, nowhere cited; whole papers leave out a tenth
_NEAR: Final = 60  # characters between a name and its year
_ANSWERED: Final = 0.7  # of the citations by name; a list in another form answers a quarter
_NAMED: Final = (0.55, 0.7, 0.85)  # of the list; whole papers name 0.7 of it, very few 0.6
_GAPLESS: Final = 0.7  # of the numbers up to the last cited; less is no numbering
_STRICT: Final = 0.85
_COUNTED: Final = 0.5  # of them, where there is no list that could answer
_LISTED: Final = 0.15  # of the citations; one work is cited a few times
_LISTED_NUMBERS: Final = 0.25  # of the highest number cited; a list may be misread by half
_RAISED: Final = 10  # numbers at least that only a PDF's dots and commas mark
_RECORDED: Final = (0.2, 0.5)  # of the references that the record counts, which may be fewer
_NUMBERED: Final = 10  # entries that count on from 1
_LEAST_CITED: Final = 5  # numbers; fewer may be equations
_MISREAD: Final = 2  # times the highest number cited
_PART: Final = 100  # words of prose
_CITED: Final = 3  # references at least before a list is missed
_PAGES_SHARE: Final = (0.34, 0.6)  # a preprint's layout may be half as long
_PER_PAGE: Final = (60, 130)  # words for each page that the record names
_OLD: Final = "1975"
_SENTENCE: Final = 25  # words; less is a label or an address
_TORN: Final = 0.3  # of the sections
_YEAR: Final = re.compile(r"(?:19|20)\d\d[a-z]?")
_STOPS: Final = re.compile(r"[a-z,\u2010-\u2015-]\s*$")
_SECTION: Final = re.compile(r"\W{0,4}(\d{1,2})(?:[.)]\s|\s|[.)]?\W*$)(?!\d)")
# Papers that plan or design research have no results.
_PLANS: Final = re.compile(r"\bprotocols?\b|\b(?:study|rationale and) design\b", re.I)
# What an abstract says of the parts that the body must have then.
MISSES: Final = {
    "results": re.compile(r"\b(?:results?|findings)\b", re.I),
    "methods": re.compile(r"\bmethods?\b", re.I),
}


def find_signs(case: Case) -> Iterator[Sign]:
    """Yield the signs that a text is not all of its paper."""
    document, paper, found = case.document, case.paper, case.evidence
    yield from _few_pages(document.pages, page_count(paper.pages), found.prose)
    yield from _references_left_out(document.pages, paper, found)
    yield from _torn(document.pages, found)
    yield from _skipping(found.body, found)
    if found.abstract and not plans_research(paper.title or document.title):
        yield from _unfinished(found.body, found)


def _few_pages(pages: int, stated: int, words: int) -> Iterator[Sign]:
    """Fewer pages, or words, than the record's page numbers promise."""
    if stated > 2 and 0 < pages <= _PAGES_SHARE[1] * stated:
        is_few = pages <= _PAGES_SHARE[0] * stated
        yield Sign("pages", REFUSE if is_few else WEAK, f"{pages} of {stated} pages")
    elif stated > 2 and not pages and words < _PER_PAGE[1] * stated:
        is_few = words < _PER_PAGE[0] * stated
        yield Sign("pages", REFUSE if is_few else WEAK, f"{words} words for {stated} pages")


def _references_left_out(pages: int, paper: Paper, found: Evidence) -> Iterator[Sign]:
    if not _is_misread(found, paper.reference_count):
        yield from chain(_scant(found), _uncited(found, pages))
    elif not paper.reference_count:  # or half of the text is missing, which no record can tell
        text = f"lists {found.listed} references and cites none after {max(found.cited)}"
        yield Sign("uncited", DOUBT, text)
    if not is_old(paper):
        yield from _unlisted(found, pages)
    yield from _unrecorded(found, paper.reference_count)


def _torn(pages: int, found: Evidence) -> Iterator[Sign]:
    """Sections that are snippets or empty, and a text that ends in the middle of a sentence."""
    body = found.body
    if any(section.name.strip("* ").lower() == "section snippets" for section in body) or (
        found.torn > 2 and found.torn > _TORN * len(body)
    ):
        yield Sign("snippets", REFUSE, "only snippets of the sections")
    if not pages:
        yield from _emptied(body, found)
    if found.ends_in == "body" and count_words(found.last) >= _SENTENCE:
        last = without_markup(found.last)
        if _STOPS.search(last[-80:]):
            end = " ".join(last.split()[-3:])[-60:]
            yield Sign("tail", WEAK, f"ends in mid-sentence ({end!r})")


def plans_research(title: str) -> bool:
    """Whether a paper describes research that is still to be done.

    >>> plans_research("Light and sleep: study protocol for a randomised trial")
    True
    """
    return _PLANS.search(title) is not None


def reports_research(found: Evidence) -> bool:
    """Whether three of introduction, methods, results and discussion have text of their own."""
    names = [section.name for section in found.body if section.prose >= _PART]
    parts = (opens, prepares, reports, concludes)
    return sum(any(map(part, names)) for part in parts) >= 3 and len(set(names)) == len(names)


def _is_misread(found: Evidence, recorded: int) -> bool:
    """Whether the list of references was counted wrongly.

    The list does not number its entries, has more than twice as many as the highest number cited,
    and more than the record counts. Pages print a list twice, or break each entry into lines.
    """
    last = max(found.cited, default=0)
    is_long = found.listed > max(_MISREAD * last, recorded)
    by_number = found.by_marks and len(found.cited) >= max(_LEAST_CITED, found.named)
    return by_number and is_long and found.numbered < min(last, _NUMBERED)


def _scant(found: Evidence) -> Iterator[Sign]:
    """Fewer words than so many references need; a list that does not count may hold links."""
    listed = _length(found)
    text = f"{found.prose} words for {listed} references"
    if listed >= _MANY and found.prose < _SCANT[0] * listed:
        yield Sign("scant", REFUSE, text)
    elif found.numbered >= _MANY and found.prose < _SCANT[1] * found.numbered:
        yield Sign("scant", WEAK, text)


def is_old(paper: Paper) -> bool:
    """Whether it is of a time when works were cited in footnotes, or in ways no scan shows."""
    return bool(paper.published) and paper.published < _OLD


def page_count(pages: str) -> int:
    """How many pages ``932-45`` are; 0 when it does not say.

    >>> page_count("932-45"), page_count("e1-e9"), page_count("S12")
    (14, 9, 0)
    """
    match = re.fullmatch(r"([A-Za-z]*)(\d+)\s*[-\u2013]\s*\1(\d+)", pages.strip())
    if not match:
        return 0
    first, last = match[2], match[3]
    last = first[: len(first) - len(last)] + last
    count = int(last) - int(first) + 1
    return count if 0 < count < 500 else 0


def _emptied(body: list[Section], found: Evidence) -> Iterator[Sign]:
    """Headings whose text has been left out."""
    count, filled = len(body), found.filled
    bare = 0
    for section in reversed(body):
        if section.total:
            break
        bare += 1
    if found.abstract and found.prose < _SHORT and count >= 3 and filled < _FILLED_SHARE * count:
        text = f"{found.prose} words, {count} headings with text under {filled} of them"
        yield Sign("empty headings", REFUSE, text)
    elif bare >= _BARE_AT_END:
        text = f"no text under the last {bare} of {count} headings"
        yield Sign("empty headings", 2 + 2 * (bare > _BARE_AT_END), text)


def _uncited(found: Evidence, pages: int) -> Iterator[Sign]:
    """References that a text does not get to, or leaves out a row of."""
    cited = sorted(found.cited)
    listed = _length(found)
    if listed < _FEW:
        return
    by_number = len(cited) >= max(_LEAST_CITED, found.named) and (found.by_marks or not pages)
    # Numbers that are no marks may count anything; a list in order of names is cited in none.
    by_number = by_number and (found.by_marks or len(cited) >= _GAPLESS * cited[-1])
    if by_number and cited[-1] <= 1.2 * listed:
        yield from _cut_list([number for number in cited if number <= listed], listed, found)
    elif found.named > len(cited):
        yield from _cut_names(found)


def _length(found: Evidence) -> int:
    """How long the list is: by its own numbers where it has them, for links may follow it."""
    last = max(found.cited, default=_NUMBERED)
    return found.numbered if found.numbered >= min(last, _NUMBERED) else found.listed


def _cut_list(cited: list[int], listed: int, found: Evidence) -> Iterator[Sign]:
    text = f"cites {len(cited)} of {listed} references"
    tail, row = range(cited[-1] + 1, listed + 1), longest_gap(cited)
    left = listed - len(cited)
    if len(tail) >= _ROW and len(tail) > _LATE * listed:
        yield Sign("uncited", _weight(tail, found), f"{text} and none after {cited[-1]}")
    elif len(row) >= _ROW and len(cited) + len(row) >= _STRICT * cited[-1]:
        yield Sign("uncited", _weight(row, found), f"{text} and none of {len(row)} in a row")
    elif (lost := sum(left > share * listed for share in _LEFT)) and found.prose < _AMPLE * listed:
        yield Sign("uncited", 1 + lost, text)
    elif found.by_marks and left:
        yield Sign("uncited", min(left, 2), text)


def _weight(lost: range, found: Evidence) -> int:
    """Less where some of the numbers stand in the text, though not as most citations do.

    Numbers without any mark are never all found: behind a quotation mark, a letter, a figure.
    """
    if len(found.otherwise.intersection(lost)) >= _STRAY * len(lost):
        return 2
    return REFUSE if found.by_marks else WEAK


def longest_gap(cited: Iterable[int]) -> range:
    """The longest row of numbers that is left out before the last cited."""
    steps = pairwise([0, *sorted(cited)])
    return max((range(before + 1, after) for before, after in steps), key=len, default=range(0))


def _cut_names(found: Evidence) -> Iterator[Sign]:
    """References by name and year of which too many are never named.

    Only where the list answers what the text cites: in many forms its names are not to be found.
    """
    entries = [_name_and_years(entry) for entry in re.split(r"\n(?=\S)", found.references)]
    listed = sum(bool(name and years) for name, years in entries)
    called: dict[tuple[str, str], set[int]] = defaultdict(set)
    for number, (name, years) in enumerate(entries):
        for year in years:
            called[name, year].add(number)
    # Names, not numbers: a thousand citations may each be of the same thousand entries.
    answers = [
        {(word, year) for word in near if (word, year) in called}
        for near, year in _named_in(found.text)
    ]
    if min(len(answers), listed) < _FEW or sum(map(bool, answers)) < _ANSWERED * len(answers):
        return
    cited = len(set().union(*(called[name] for name in set().union(*answers))))
    weight = sum(cited < share * listed for share in _NAMED)
    if 2 * len(answers) < listed:
        weight = min(weight, REFUSE - 2)  # it may cite in other ways besides
    if weight:
        yield Sign("uncited", 1 + weight, f"names {cited} of {listed} references")


def _name_and_years(entry: str) -> tuple[str, set[str]]:
    words = folded(entry)
    name = next((word for word in words if len(word) > 2 and word.isalpha()), "")
    return name, {word for word in words if _YEAR.fullmatch(word)}


def _named_in(text: str) -> Iterator[tuple[set[str], str]]:
    """Each citation by name and year: the words before the year, and the year."""
    for match in NAMED.finditer(text):
        if year := _YEAR.search(match[0]):
            yield set(folded(text[max(0, match.start() - _NEAR) : match.start() + 1])), year[0]


def _unlisted(found: Evidence, pages: int) -> Iterator[Sign]:
    """Citations of no list: a PDF prints both; a page may fetch its list by a script."""
    last = max(found.cited, default=0)
    marked = found.by_marks or len(found.cited) >= _RAISED
    numbers = len(found.cited) if marked and len(found.cited) >= _COUNTED * last else 0
    least = max(_LISTED * found.named, _LISTED_NUMBERS * last if numbers else 0)
    if max(numbers, found.named) >= _CITED and found.listed < max(_CITED, least):
        weight = REFUSE if pages or found.ends_in in ("lead", "body") else 3
        cites = f"{max(numbers, found.named)} references"
        yield Sign("unlisted", weight, f"cites {cites} and lists {found.listed or 'none'}")


def _unrecorded(found: Evidence, recorded: int) -> Iterator[Sign]:
    """A list of far fewer references than the record counts."""
    if recorded < _MANY:
        return
    if found.listed < _RECORDED[1] * recorded:
        weight = 3 if found.listed < _RECORDED[0] * recorded else 2
        yield Sign("unrecorded", weight, f"lists {found.listed or 'none'} of {recorded} references")


def _skipping(body: list[Section], found: Evidence) -> Iterator[Sign]:
    """Numbers of sections or figures that are left out."""
    numbers = [int(match[1]) for section in body if (match := _SECTION.match(section.name))]
    if len(numbers) > 2 and (lost := first_skipped(set(numbers))) and max(numbers) < 12:
        yield Sign("skipped section", 3, f"section {lost} is missing before section {max(numbers)}")
    for name in ("fig", "tab"):
        numbered = {number for kind, number in found.mentioned | found.captions if kind == name}
        if len(numbered) > 1 and max(numbered) < 15 and (lost := first_skipped(numbered)):
            text = (
                f"{'figure' if name == 'fig' else 'table'} {lost} is missing before {max(numbered)}"
            )
            yield Sign(f"skipped {name}", 2, text)


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
            text = f"{found.prose} words that end before the results, and no references"
            yield Sign("unfinished", REFUSE, text)
        else:
            yield Sign("unfinished", 2, f"no section after {names[-1][:60]!r} concludes")
    if len(names) >= 3 and all(map(divides_research, names)):
        if not any(map(reports, names)):
            yield Sign("no results", 2, "no results among the sections")
        elif not any(map(prepares, names)):
            yield Sign("no methods", 1, "no methods among the sections")
