"""Whether a text is all of its paper, judged by its markdown.

A page or PDF cut short reads well as far as it goes; these signs give it away:
headings without text, numbered citations that stop before the list does or leave out a row of it,
citations of no list, figures and sections whose numbers skip, an introduction nothing concludes,
fewer pages than the record names. As in `..readers.jats.wholeness`, a sign far from where any
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
from .thresholds import (
    ANSWERED_CITATIONS_SHARE,
    BARE_HEADINGS_AT_END,
    BY_NUMBER_MIN,
    FILLED_HEADINGS_SHARE,
    FOOTNOTES_UNTIL_YEAR,
    HARDLY_CITED_SHARE,
    LISTED_PER_NAME_SHARE,
    LISTED_PER_NUMBER_SHARE,
    LONG_LIST_REFERENCES,
    MISREAD_LIST_RATIO,
    MISSED_LIST_MIN_CITATIONS,
    NAME_TO_YEAR_CHARS,
    NAMED_REFERENCES_SHARES,
    NUMBERED_MIN_ENTRIES,
    NUMBERING_SHARE,
    NUMBERING_STRICT_SHARE,
    PDF_PAGES_SHARES,
    RECORDED_REFERENCES_SHARES,
    RESEARCH_PART_MIN_WORDS,
    SENTENCE_MIN_WORDS,
    SHARE_MIN_REFERENCES,
    SHORT_TEXT_WORDS,
    STRAY_CITATIONS_SHARE,
    TORN_SECTIONS_SHARE,
    UNCITED_ROW_REFERENCES,
    UNCITED_SHARES,
    UNCITED_TAIL_SHARE,
    UNLISTED_NUMBERING_SHARE,
    UNMARKED_MIN_NUMBERS,
    WORDS_PER_PAGE_MIN,
    WORDS_PER_REFERENCE_AMPLE,
    WORDS_PER_REFERENCE_MIN,
)

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
    if stated > 2 and 0 < pages <= PDF_PAGES_SHARES[1] * stated:
        is_few = pages <= PDF_PAGES_SHARES[0] * stated
        yield Sign("pages", REFUSE if is_few else WEAK, f"{pages} of {stated} pages")
    elif stated > 2 and not pages and words < WORDS_PER_PAGE_MIN[1] * stated:
        is_few = words < WORDS_PER_PAGE_MIN[0] * stated
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
        found.torn > 2 and found.torn > TORN_SECTIONS_SHARE * len(body)
    ):
        yield Sign("snippets", REFUSE, "only snippets of the sections")
    if not pages:
        yield from _emptied(body, found)
    if found.ends_in == "body" and count_words(found.last) >= SENTENCE_MIN_WORDS:
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
    names = [section.name for section in found.body if section.prose >= RESEARCH_PART_MIN_WORDS]
    parts = (opens, prepares, reports, concludes)
    return sum(any(map(part, names)) for part in parts) >= 3 and len(set(names)) == len(names)


def _is_misread(found: Evidence, recorded: int) -> bool:
    """Whether the list of references was counted wrongly.

    The list does not number its entries, has more than twice as many as the highest number cited,
    and more than the record counts. Pages print a list twice, or break each entry into lines.
    """
    last = max(found.cited, default=0)
    is_long = found.listed > max(MISREAD_LIST_RATIO * last, recorded)
    by_number = found.by_marks and len(found.cited) >= max(BY_NUMBER_MIN, found.named)
    return by_number and is_long and found.numbered < min(last, NUMBERED_MIN_ENTRIES)


def _scant(found: Evidence) -> Iterator[Sign]:
    """Fewer words than so many references need; a list that does not count may hold links."""
    listed = _length(found)
    text = f"{found.prose} words for {listed} references"
    if listed >= LONG_LIST_REFERENCES and found.prose < WORDS_PER_REFERENCE_MIN[0] * listed:
        yield Sign("scant", REFUSE, text)
    elif (
        found.numbered >= LONG_LIST_REFERENCES
        and found.prose < WORDS_PER_REFERENCE_MIN[1] * found.numbered
    ):
        yield Sign("scant", WEAK, text)


def is_old(paper: Paper) -> bool:
    """Whether it is of a time when works were cited in footnotes, or in ways no scan shows."""
    return bool(paper.published) and paper.published < FOOTNOTES_UNTIL_YEAR


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
    if (
        found.abstract
        and found.prose < SHORT_TEXT_WORDS
        and count >= 3
        and filled < FILLED_HEADINGS_SHARE * count
    ):
        text = f"{found.prose} words, {count} headings with text under {filled} of them"
        yield Sign("empty headings", REFUSE, text)
    elif bare >= BARE_HEADINGS_AT_END:
        text = f"no text under the last {bare} of {count} headings"
        yield Sign("empty headings", 2 + 2 * (bare > BARE_HEADINGS_AT_END), text)


def _uncited(found: Evidence, pages: int) -> Iterator[Sign]:
    """References that a text does not get to, or leaves out a row of."""
    cited = sorted(found.cited)
    listed = _length(found)
    if listed < SHARE_MIN_REFERENCES:
        return
    by_number = len(cited) >= max(BY_NUMBER_MIN, found.named) and (found.by_marks or not pages)
    # Numbers that are no marks may count anything; a list in order of names is cited in none.
    by_number = by_number and (found.by_marks or len(cited) >= NUMBERING_SHARE * cited[-1])
    if by_number and cited[-1] <= 1.2 * listed:
        yield from _cut_list([number for number in cited if number <= listed], listed, found)
    elif found.named > len(cited):
        yield from _cut_names(found)
    elif (  # print raises numbers in ways that its readers lose
        not pages and listed >= LONG_LIST_REFERENCES and found.named < HARDLY_CITED_SHARE * listed
    ):
        yield Sign("uncited", DOUBT, f"lists {listed} references and cites hardly any")


def _length(found: Evidence) -> int:
    """How long the list is: by its own numbers where it has them, for links may follow it."""
    last = max(found.cited, default=NUMBERED_MIN_ENTRIES)
    return found.numbered if found.numbered >= min(last, NUMBERED_MIN_ENTRIES) else found.listed


def _cut_list(cited: list[int], listed: int, found: Evidence) -> Iterator[Sign]:
    text = f"cites {len(cited)} of {listed} references"
    tail, row = range(cited[-1] + 1, listed + 1), longest_gap(cited)
    left = listed - len(cited)
    if len(tail) >= UNCITED_ROW_REFERENCES and len(tail) > UNCITED_TAIL_SHARE * listed:
        yield Sign("uncited", _weight(tail, found), f"{text} and none after {cited[-1]}")
    elif (
        len(row) >= UNCITED_ROW_REFERENCES
        and len(cited) + len(row) >= NUMBERING_STRICT_SHARE * cited[-1]
    ):
        yield Sign("uncited", _weight(row, found), f"{text} and none of {len(row)} in a row")
    elif (
        lost := sum(left > share * listed for share in UNCITED_SHARES)
    ) and found.prose < WORDS_PER_REFERENCE_AMPLE * listed:
        yield Sign("uncited", 1 + lost, text)
    elif found.by_marks and left:
        yield Sign("uncited", min(left, 2), text)


def _weight(lost: range, found: Evidence) -> int:
    """Less where some of the numbers stand in the text, though not as most citations do.

    Numbers without any mark are never all found: behind a quotation mark, a letter, a figure.
    """
    if len(found.otherwise.intersection(lost)) >= STRAY_CITATIONS_SHARE * len(lost):
        return WEAK
    return REFUSE if found.by_marks else DOUBT


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
    if min(len(answers), listed) < SHARE_MIN_REFERENCES or sum(
        map(bool, answers)
    ) < ANSWERED_CITATIONS_SHARE * len(answers):
        return
    cited = len(set().union(*(called[name] for name in set().union(*answers))))
    weight = sum(cited < share * listed for share in NAMED_REFERENCES_SHARES)
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
            yield (
                set(folded(text[max(0, match.start() - NAME_TO_YEAR_CHARS) : match.start() + 1])),
                year[0],
            )


def _unlisted(found: Evidence, pages: int) -> Iterator[Sign]:
    """Citations of no list: a PDF prints both; a page may fetch its list by a script."""
    last = max(found.cited, default=0)
    marked = found.by_marks or len(found.cited) >= UNMARKED_MIN_NUMBERS
    numbers = (
        len(found.cited) if marked and len(found.cited) >= UNLISTED_NUMBERING_SHARE * last else 0
    )
    least = max(
        LISTED_PER_NAME_SHARE * found.named, LISTED_PER_NUMBER_SHARE * last if numbers else 0
    )
    if max(numbers, found.named) >= MISSED_LIST_MIN_CITATIONS and found.listed < max(
        MISSED_LIST_MIN_CITATIONS, least
    ):
        weight = REFUSE if pages or found.ends_in in ("lead", "body") else 3
        cites = f"{max(numbers, found.named)} references"
        yield Sign("unlisted", weight, f"cites {cites} and lists {found.listed or 'none'}")


def _unrecorded(found: Evidence, recorded: int) -> Iterator[Sign]:
    """A list of far fewer references than the record counts."""
    if recorded < LONG_LIST_REFERENCES:
        return
    if found.listed < RECORDED_REFERENCES_SHARES[1] * recorded:
        weight = 3 if found.listed < RECORDED_REFERENCES_SHARES[0] * recorded else 2
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
        if begins and found.prose < SHORT_TEXT_WORDS and not found.listed:
            text = f"{found.prose} words that end before the results, and no references"
            yield Sign("unfinished", REFUSE, text)
        else:
            yield Sign("unfinished", 2, f"no section after {names[-1][:60]!r} concludes")
    if len(names) >= 3 and all(map(divides_research, names)):
        if not any(map(reports, names)):
            yield Sign("no results", 2, "no results among the sections")
        elif not any(map(prepares, names)):
            yield Sign("no methods", 1, "no methods among the sections")
