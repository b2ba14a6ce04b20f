"""Judge by the markdown whether a text is the whole paper.

A truncated page or PDF reads well up to its end. These signs show it: headings without text,
numbered citations that end before the list or skip a part of it, citations without a list, skipped
numbers of figures and sections, an introduction without a conclusion, fewer pages than in the
record. As in `..readers.jats.wholeness`, a sign that no whole paper shows is enough alone; signs
that are only unusual count together.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import chain, pairwise
from typing import Final

from ..model.paper import Paper
from ..model.verdicts import DOUBT, REFUSE, WEAK, Sign
from ..outline.roles import MAIN_TEXT, strip_title_numbering, to_title_key
from ..outline.sections import (
    is_conclusion_title,
    is_introduction_title,
    is_methods_title,
    is_results_title,
    is_standard_section_title,
)
from ..outline.words import count_words, fold_words, strip_markup
from . import thresholds as limits
from .evidence import NAMED, Evidence, MeasuredSection
from .signs import JudgedCase

_YEAR: Final = re.compile(r"(?:19|20)\d\d[a-z]?")
_STOPS: Final = re.compile(r"[a-z,\u2010-\u2015-]\s*$")
_SECTION: Final = re.compile(r"\W{0,4}(\d{1,2})(?:[.)]\s|\s|[.)]?\W*$)(?!\d)")
_SECTION_NAMED: Final = re.compile(r"\bsee (?:also )?sections? (\d{1,2})\b(?!\s(?:of|in)\b)", re.I)
# Headings over files and links at the end of a page.
_APPENDED: Final = re.compile(r"\W*(?:appendi|suppl|support|additional|electronic|data)", re.I)
# Papers that plan or design research have no results.
_PLANS: Final = re.compile(r"\bprotocols?\b|\b(?:study|rationale and) design\b", re.I)


def find_incompleteness_signs(case: JudgedCase) -> Iterator[Sign]:
    """Yield the signs that a text is not the whole paper."""
    document, paper, found = case.document, case.paper, case.evidence
    yield from _find_page_count_signs(
        document.pages, count_pages_in_range(paper.pages), found.prose
    )
    yield from _find_reference_list_signs(document.pages, paper, found)
    yield from _find_unfinished_part_signs(document.pages, found)
    yield from _find_skipped_number_signs(document.pages, found)
    yield from _find_unmentioned_float_signs(found)
    yield from _find_word_count_signs(case.abstract, found)
    if found.abstract and not is_protocol_title(paper.title or document.title):
        yield from _find_missing_section_signs(found.body, found)


def _find_page_count_signs(pages: int, stated: int, words: int) -> Iterator[Sign]:
    """Yield a sign if the text has fewer pages or words than the record's page range needs."""
    if stated > 2 and 0 < pages <= limits.PDF_PAGES_SHARES[1] * stated:
        is_few = pages <= limits.PDF_PAGES_SHARES[0] * stated
        yield Sign("pages", REFUSE if is_few else WEAK, f"{pages} of {stated} pages")
    elif stated > 2 and not pages and words < limits.WORDS_PER_PAGE_MIN[1] * stated:
        is_few = words < limits.WORDS_PER_PAGE_MIN[0] * stated
        yield Sign("pages", REFUSE if is_few else WEAK, f"{words} words for {stated} pages")


def _find_reference_list_signs(pages: int, paper: Paper, found: Evidence) -> Iterator[Sign]:
    """Yield the signs from uncited, unlisted and missing references."""
    if not _is_reference_list_misread(found, paper.reference_count):
        yield from chain(
            _find_words_per_reference_signs(found), _find_uncited_reference_signs(found, pages)
        )
    elif not paper.reference_count:  # or half of the text is missing, which no record can tell
        text = f"lists {found.listed} references, but cites none after number {max(found.cited)}"
        yield Sign("uncited", DOUBT, text)
    if not is_from_footnote_era(paper):
        yield from _find_missing_list_signs(found, pages)
    yield from _find_reference_count_signs(found, paper.reference_count)


def _find_unfinished_part_signs(pages: int, found: Evidence) -> Iterator[Sign]:
    """Yield signs for sections that are snippets or empty, and for unfinished paragraphs."""
    if any(section.name.strip("* ").lower() == "section snippets" for section in found.body):
        yield Sign("snippets", REFUSE, "only snippets of sections")
    yield from _find_empty_heading_signs(pages, found)
    if found.paragraphs >= limits.UNENDED_MIN_PARAGRAPHS:
        share = found.unended / found.paragraphs
        weights = (0, DOUBT, REFUSE)
        weight = weights[sum(share > limit for limit in limits.UNENDED_SHARES)]
        text = f"{found.unended} of {found.paragraphs} paragraphs end mid-sentence"
        yield Sign("broken paragraphs", weight, text)
    if found.ends_in == "body" and _STOPS.search(last := strip_markup(found.last)[-80:]):
        yield Sign("tail", WEAK, f"ends mid-sentence ({' '.join(last.split()[-3:])!r})")


def _find_word_count_signs(abstract: str, found: Evidence) -> Iterator[Sign]:
    """Yield a sign if a text is too short for a research report or for its abstract."""
    names = [section.name for section in found.body]
    is_report = all(
        any(map(part, names))
        for part in (is_introduction_title, is_methods_title, is_results_title)
    )
    least = limits.PAPER_MIN_WORDS if abstract or is_report else 0
    if found.prose < max(least, limits.PAPER_TO_ABSTRACT_RATIO * count_words(abstract)):
        text = f"{found.prose} words of text for an abstract of {count_words(abstract)} words"
        yield Sign("brief", DOUBT, text, only_doubts=True)


def is_protocol_title(title: str) -> bool:
    """Return whether a title announces planned research.

    >>> is_protocol_title("Light and sleep: study protocol for a randomised trial")
    True
    """
    return _PLANS.search(title) is not None


def has_research_sections(found: Evidence) -> bool:
    """Return whether three of introduction, methods, results and discussion have text."""
    names = [
        section.name for section in found.body if section.prose >= limits.RESEARCH_PART_MIN_WORDS
    ]
    parts = (is_introduction_title, is_methods_title, is_results_title, is_conclusion_title)
    return sum(any(map(part, names)) for part in parts) >= 3 and len(set(names)) == len(names)


def _is_reference_list_misread(found: Evidence, recorded: int) -> bool:
    """Return whether the reader probably counted the references wrongly.

    Such a list has no printed numbers, and more entries than the record counts and than twice the
    highest cited number. Some pages print a list twice, or break each entry into lines.
    """
    last = max(found.cited, default=0)
    is_long = found.listed > max(limits.MISREAD_LIST_RATIO * last, recorded)
    by_number = found.by_marks and len(found.cited) >= max(limits.BY_NUMBER_MIN, found.named)
    return by_number and is_long and found.numbered < min(last, limits.NUMBERED_MIN_ENTRIES)


def _find_words_per_reference_signs(found: Evidence) -> Iterator[Sign]:
    """Yield a sign if there are too few words for the number of references."""
    listed = _count_listed_references(found)
    text = f"{found.prose} words for {listed} references"
    if (
        listed >= limits.LONG_LIST_REFERENCES
        and found.prose < limits.WORDS_PER_REFERENCE_MIN * listed
    ):
        yield Sign("scant", REFUSE, text)


def is_from_footnote_era(paper: Paper) -> bool:
    """Return whether the paper dates from a time of footnote citations, which scans lose."""
    return bool(paper.published) and paper.published < limits.FOOTNOTES_UNTIL_YEAR


def count_pages_in_range(pages: str) -> int:
    """Return the number of pages of ``932-45``; 0 if the text is not a range.

    >>> count_pages_in_range("932-45"), count_pages_in_range("e1-e9"), count_pages_in_range("S12")
    (14, 9, 0)
    """
    match = re.fullmatch(r"([A-Za-z]*)(\d+)\s*[-\u2013]\s*\1(\d+)", pages.strip())
    if not match:
        return 0
    first, last = match[2], match[3]
    last = first[: len(first) - len(last)] + last
    count = int(last) - int(first) + 1
    return count if 0 < count < 500 else 0


def _find_empty_heading_signs(pages: int, found: Evidence) -> Iterator[Sign]:
    """Yield a sign for headings without text; a link may replace the methods."""
    levels = [section.level for section in found.sections]
    bare = [
        section.name
        for section, following in zip(found.sections, [*levels[1:], 0], strict=False)
        if section.part == "body" and not section.prose and following <= section.level
        if section.total
        <= (limits.LINK_MAX_WORDS if is_standard_section_title(section.name) else 0)
        if not _APPENDED.match(section.name)
    ]
    text = f"no text under {len(bare)} of {len(found.body)} headings"
    if len(bare) >= limits.BARE_HEADINGS[0]:
        is_most = len(bare) >= limits.BARE_HEADINGS[1] and len(
            bare
        ) > limits.BARE_HEADINGS_SHARE * len(found.body)
        weight = REFUSE if is_most and not pages else DOUBT
        yield Sign("empty headings", weight, text, only_doubts=pages > 0)
    elif not pages and any(map(is_standard_section_title, bare)):
        yield Sign("empty headings", DOUBT, f"no text under {bare[0][:60]!r}")


def _find_uncited_reference_signs(found: Evidence, pages: int) -> Iterator[Sign]:
    """Yield a sign if many references, or several in a row, are never cited."""
    cited = sorted(found.cited)
    listed = _count_listed_references(found)
    if listed < limits.SHARE_MIN_REFERENCES:
        return
    by_number = len(cited) >= max(limits.BY_NUMBER_MIN, found.named) and (
        found.by_marks or not pages
    )
    # Unmarked numbers may count anything; lists sorted by name are not cited by number.
    by_number = by_number and (found.by_marks or len(cited) >= limits.NUMBERING_SHARE * cited[-1])
    if by_number and cited[-1] <= 1.2 * listed:
        yield from _find_uncited_number_signs(
            [number for number in cited if number <= listed], listed, found
        )
    elif found.named > len(cited):
        yield from _find_uncited_name_signs(found)
    elif (  # print raises numbers in ways that its readers lose
        not pages
        and listed >= limits.LONG_LIST_REFERENCES
        and found.named < limits.HARDLY_CITED_SHARE * listed
    ):
        yield Sign("uncited", WEAK, f"lists {listed} references, but cites hardly any")


def _count_listed_references(found: Evidence) -> int:
    """Return the length of the list by its printed numbers, or else by the reader's count."""
    last = max(found.cited, default=limits.NUMBERED_MIN_ENTRIES)
    return (
        found.numbered if found.numbered >= min(last, limits.NUMBERED_MIN_ENTRIES) else found.listed
    )


def _find_uncited_number_signs(cited: list[int], listed: int, found: Evidence) -> Iterator[Sign]:
    """Yield a sign if the end of the list, a row of numbers or many numbers are never cited."""
    text = f"cites {len(cited)} of {listed} references"
    tail, row = range(cited[-1] + 1, listed + 1), find_longest_gap(cited)
    left = listed - len(cited)
    if (
        len(tail) >= limits.UNCITED_ROW_REFERENCES
        and len(tail) > limits.UNCITED_TAIL_SHARE * listed
    ):
        yield Sign(
            "uncited", _weigh_uncited_numbers(tail, found), f"{text}, none after number {cited[-1]}"
        )
    elif (
        len(row) >= max(limits.UNCITED_ROW_REFERENCES, limits.UNCITED_ROW_SHARE * listed)
        and len(cited) + len(row) >= limits.NUMBERING_STRICT_SHARE * cited[-1]
    ):
        yield Sign(
            "uncited", _weigh_uncited_numbers(row, found), f"{text}, skipping {len(row)} in a row"
        )
    elif (
        lost := sum(left > share * listed for share in limits.UNCITED_SHARES)
    ) and found.prose < limits.WORDS_PER_REFERENCE_AMPLE * listed:
        yield Sign("uncited", WEAK * lost, text)
    elif found.by_marks and left:
        yield Sign("uncited", min(left, 2), text)


def _weigh_uncited_numbers(lost: range, found: Evidence) -> int:
    """Return the weight of uncited numbers; lower if the text has some of them in another style.

    Some numbers without a mark are never found: after a quotation mark, a letter, a digit.
    """
    if len(found.otherwise.intersection(lost)) >= limits.STRAY_CITATIONS_SHARE * len(lost):
        return WEAK
    return REFUSE if found.by_marks else DOUBT


def find_longest_gap(cited: Iterable[int]) -> range:
    """Return the longest run of missing numbers before the last cited number."""
    steps = pairwise([0, *sorted(cited)])
    return max((range(before + 1, after) for before, after in steps), key=len, default=range(0))


def _find_uncited_name_signs(found: Evidence) -> Iterator[Sign]:
    """Yield a sign if too many references with a name and year are never cited.

    Only if most citations match an entry: in many formats the names of a list are not recognised.
    """
    entries = [_extract_name_and_years(entry) for entry in re.split(r"\n(?=\S)", found.references)]
    listed = sum(bool(name and years) for name, years in entries)
    called: dict[tuple[str, str], set[int]] = defaultdict(set)
    for number, (name, years) in enumerate(entries):
        for year in years:
            called[name, year].add(number)
    # Names, not numbers: a thousand citations may each be of the same thousand entries.
    answers = [
        {(word, year) for word in near if (word, year) in called}
        for near, year in _iterate_name_citations(found.text)
    ]
    if min(len(answers), listed) < limits.SHARE_MIN_REFERENCES or sum(
        map(bool, answers)
    ) < limits.ANSWERED_CITATIONS_SHARE * len(answers):
        return
    cited = len(set().union(*(called[name] for name in set().union(*answers))))
    weight = sum(cited < share * listed for share in limits.NAMED_REFERENCES_SHARES)
    if 2 * len(answers) < listed:
        weight = min(weight, 1)  # it may cite in other ways besides
    if weight:
        yield Sign("uncited", WEAK * weight, f"names {cited} of {listed} references")


def _extract_name_and_years(entry: str) -> tuple[str, set[str]]:
    """Return the first author-like word of an entry, and its years."""
    words = fold_words(entry)
    name = next((word for word in words if len(word) > 2 and word.isalpha()), "")
    return name, {word for word in words if _YEAR.fullmatch(word)}


def _iterate_name_citations(text: str) -> Iterator[tuple[set[str], str]]:
    """Yield each citation by name and year: the words before the year, and the year."""
    for match in NAMED.finditer(text):
        if year := _YEAR.search(match[0]):
            yield (
                set(
                    fold_words(
                        text[max(0, match.start() - limits.NAME_TO_YEAR_CHARS) : match.start() + 1]
                    )
                ),
                year[0],
            )


def _find_missing_list_signs(found: Evidence, pages: int) -> Iterator[Sign]:
    """Yield a sign if citations have no list; a page may load its list by a script."""
    last = max(found.cited, default=0)
    marked = found.by_marks or len(found.cited) >= limits.UNMARKED_MIN_NUMBERS
    numbers = (
        len(found.cited)
        if marked and len(found.cited) >= limits.UNLISTED_NUMBERING_SHARE * last
        else 0
    )
    least = max(
        limits.LISTED_PER_NAME_SHARE * found.named,
        limits.LISTED_PER_NUMBER_SHARE * last if numbers else 0,
    )
    if max(numbers, found.named) >= limits.MISSED_LIST_MIN_CITATIONS and found.listed < max(
        limits.MISSED_LIST_MIN_CITATIONS, least
    ):
        weight = REFUSE if pages or found.ends_in in ("lead", "body") else 3
        cites = f"{max(numbers, found.named)} references"
        yield Sign("unlisted", weight, f"cites {cites}, but lists {found.listed or 'none'}")


def _find_reference_count_signs(found: Evidence, recorded: int) -> Iterator[Sign]:
    """Yield a sign for a list with far fewer references than the record counts."""
    if recorded < limits.LONG_LIST_REFERENCES:
        return
    if found.listed < limits.RECORDED_REFERENCES_SHARE * recorded:
        yield Sign("unrecorded", DOUBT, f"lists {found.listed or 'none'} of {recorded} references")


def _find_skipped_number_signs(pages: int, found: Evidence) -> Iterator[Sign]:
    """Yield a sign if section or figure numbers are skipped."""
    numbers = {int(match[1]) for section in found.body if (match := _SECTION.match(section.name))}
    named = {int(number) for number in _SECTION_NAMED.findall(found.text)}
    last = max(numbers | named, default=0)
    if len(numbers) > 2 and last < 12 and (lost := (set(range(1, last)) | named) - numbers):
        first = min(lost)
        text = f"section {first} is missing before section {last}"
        yield Sign("skipped section", DOUBT, text, only_doubts=pages > 0)
    for name in ("fig", "tab"):
        numbered = {number for kind, number in found.mentioned | found.captions if kind == name}
        if (
            len(numbered) > 1
            and max(numbered) < 15
            and (missing := find_first_missing_number(numbered))
        ):
            kind = "figure" if name == "fig" else "table"
            text = f"{kind} {missing} is missing before {max(numbered)}"
            yield Sign(f"skipped {name}", 2, text)


def _find_unmentioned_float_signs(found: Evidence) -> Iterator[Sign]:
    """Yield a sign for figures and tables that the text does not mention."""
    shown, lost = len(found.captions), len(found.captions - found.mentioned)
    if lost >= limits.UNMENTIONED_MIN_FLOATS and lost > limits.UNMENTIONED_SHARE * shown:
        text = f"{lost} of {shown} figures and tables are not mentioned"
        yield Sign("unmentioned", WEAK, text, only_doubts=True)


def find_first_missing_number(numbers: set[int]) -> int:
    """Return the first number missing from 1, 2, 3 …; else 0."""
    return next((n for n in range(1, max(numbers, default=0)) if n not in numbers), 0)


def _find_missing_section_signs(body: list[MeasuredSection], found: Evidence) -> Iterator[Sign]:
    """Yield a sign for an introduction without a concluding section, or without results."""
    names = [section.name for section in body]
    level = min((part.level for part in body if is_standard_section_title(part.name)), default=0)
    top = [part.name for part in body if part.level == level]
    if any(map(is_introduction_title, names)) and not any(map(is_conclusion_title, names)):
        is_report = any(map(is_results_title, top)) and all(map(is_standard_section_title, top))
        is_begun = found.prose < limits.LONG_TEXT_WORDS and not found.listed
        is_begun = is_begun and all(
            is_introduction_title(name) or is_methods_title(name) for name in names
        )
        weight = REFUSE if is_begun else DOUBT if is_report else WEAK
        yield Sign("unfinished", weight, f"no conclusion after the section {names[-1][:60]!r}")
    yield from find_missing_report_part_signs(top, names)


def find_missing_report_part_signs(titles: list[str], all_titles: list[str]) -> Iterator[Sign]:
    """Yield a sign for the part that a research report with these top-level *titles* lacks."""
    own_titles = [
        title for title in titles if to_title_key(strip_title_numbering(title)) not in MAIN_TEXT
    ]
    if len(own_titles) < 2 or not all(map(is_standard_section_title, own_titles)):
        return
    if not any(map(is_results_title, own_titles)):
        if len(own_titles) > 2 or (
            any(map(is_methods_title, own_titles)) and any(map(is_conclusion_title, own_titles))
        ):
            yield Sign("no results", DOUBT, "no results section")
    elif len(own_titles) > 2 and not any(map(is_methods_title, all_titles)):
        yield Sign("no methods", DOUBT, "no methods section")
