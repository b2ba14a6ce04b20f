"""Measure the parts of a paper's markdown by its headings.

All readers produce markdown; only JATS declares the parts. This module counts the words of the
paper's own text, its abstract, its references and the small print around them. Section titles are
recognised in the languages that PubMed indexes most.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

from ..model.paper import Role
from .roles import SUMMARIES, find_hinted_roles, find_roles, strip_title_numbering, to_title_key
from .words import count_words, strip_markup

Part = Literal["lead", "abstract", "body", "references", "back"]

_ABSTRACT = re.compile(
    r"(structured |graphical )?abstract|(executive )?summary|synopsis|zusammenfassung|abstrakt"
    r"|résumé|resumen|resumo|riassunto|samenvatting|sammanfattning|streszczenie|реферат|аннотация"
    r"|резюме|摘要|要旨|抄録|要約|초록|요약|özet|highlights|key points",
    re.I,
)
_REFERENCES = re.compile(
    r"(cited |selected |key )?references?( list| and notes| \(\d+\))?|bibliography"
    r"|literature( cited)?|works cited|literatur(verzeichnis)?|références|bibliographie|referencias"
    r"|bibliografía|referências|bibliografia|литература|список литературы|参考文献|文献|참고문헌"
    r"|kaynaklar",
    re.I,
)
# Small print and site furniture. A publisher's landing page for a closed article shows all of it,
# often several hundred words, and none of the paper.
_BACK = re.compile(
    r"acknowledge?ments?.*|funding( \w+)?|financial (support|disclosure).*|grant support.*"
    r"|authors?[\u2019']?s?[\u2019']? "
    r"(contributions?|information|details|affiliations?|notes?|response).*"
    r"|affiliations?|(competing|conflicts?|declarations?).{0,12}interests?.*|declarations?"
    r"|disclosures?|ethic(s|al) (statement|declarations?|approval|considerations?).*"
    r"|consent (for|to) .*|data (and \w+ )?availability.*|availability of data.*|data sharing.*"
    r"|(electronic )?supplement(ary|al) .*|supporting information.*"
    r"|additional (information|files?).*|about (this|the) (article|authors?).*"
    r"|rights (and|&) permissions.*|copyright.*|licen[sc]e( .{0,30})?|abbreviations|footnotes?"
    r"|notes|pre-?publication history|publisher[\u2019']?s note.*|cite this.*|how to cite.*"
    r"|related (articles?|content|links|papers|research|resources|reading|topics|items).*"
    r"|extended data.*|comments( \(\d+\))?"
    r"|article (and author |metrics|info|details|history|notes).*"
    r"|metrics.*|citations?|cited by.*|citing .*|key ?words?|decision letter.*|peer review .*"
    r"|review(er|ing) (information|editor|comments).*|(log|sign) ?in.*|get (full )?access.*"
    r"|(access|purchase|subscription|buy|rent) (options?|this|the|article|pdf|through|content).*"
    r"|similar (content|articles).*|recommended .*|people also read.*|change history"
    r"|further reading"
    r"|associated (content|data)|see also|share( this.*)?|downloads?( .{0,30})?|senior editor"
    r"|(view|viewing) (options|all).*|figures?( & .*)?|tables?|advertisement|sections?|contents"
    r"|table of contents|information|metadata|publication history",
    re.I,
)
_BACK_ROLES: Final[frozenset[Role]] = frozenset((
    "funding", "data availability", "conflicts", "ethics", "author contributions",
    "acknowledgements", "abbreviations", "supplementary", "peer review", "references",
))  # fmt: skip
# Titles of the paper's own that tell of results, and that end it, beside those the lexicon knows.
_REPORTS = re.compile(r"result|finding|case|observation|analys", re.I)
_CONCLUDES = re.compile(
    r"discussion|conclu|summary|outlook|perspective|remarks|considerations|comment|limitation"
    r"|future|implication|recommendation",
    re.I,
)
NO_REFERENCES_NOTE: Final = "[The references are not part of this page]"
"""What stands under the heading of references where a page does not carry them."""
_HEADING = re.compile(r"(#{1,6})\s+(.*)")
_BEGINS = re.compile(r"\W{0,9}(?:1|I)?\W{0,9}introduction\W*", re.I)
_NUMBERING = re.compile(r"^(?:section\s+)?(?:\d+(?:\.\d+)*|[IVX]+|[A-Z])[.):]\s+|^\d+(?:\.\d+)*\s+")
_ITEM = re.compile(r"^\s*(?:[-*+]|\[?\d{1,4}[\].)])\s+")
# Before the first heading stand authors, addresses and dates; text starts with whole sentences.
_SENTENCE_MIN_WORDS = 25
_ABSTRACT_MAX_WORDS = 600


@dataclass(frozen=True, slots=True)
class TextMeasure:
    """The number of words, headings and references in a paper's markdown.

    ``body_words`` excludes title, abstract, references and small print. ``headings`` is the number
    of headings in the body, ``references`` the number of entries in the reference list.
    """

    body_words: int = 0
    headings: int = 0
    references: int = 0
    abstract: str = ""


@lru_cache(maxsize=4096)
def classify_heading(heading: str) -> Part:
    """Return the part of a paper that begins at *heading*.

    >>> classify_heading("2. Materials and Methods"), classify_heading("References (35)")
    ('body', 'references')
    """
    name = strip_markup(heading).replace("\\", "").strip("*_: .|[]")
    name = _NUMBERING.sub("", name).strip("*_: .")
    if _ABSTRACT.fullmatch(name):
        return "abstract"
    if _REFERENCES.fullmatch(name):
        return "references"
    if _BACK.fullmatch(name):
        return "back"
    roles = set(find_roles(name))
    if roles == {"references"}:
        return "references"
    return "back" if roles and roles <= _BACK_ROLES else "body"


def iterate_headings_and_paragraphs(markdown: str) -> Iterator[tuple[Part, int, str]]:
    """Yield ``(part, level, text)`` for each heading (level 1 to 6) and paragraph (level 0).

    A deeper heading stays in the part of the heading above it, so that the *Methods* of a
    structured abstract is abstract and *Funding sources* of a declaration small print.
    """
    part: Part = "lead"
    level = 0
    has_text = (
        False  # whether the abstract has begun: after its text, "Introduction" begins the body
    )
    for block in re.split(r"\n\s*\n", markdown):
        lines = block.strip("\n").split("\n")
        heading = _HEADING.match(lines[0])
        if heading:
            name = heading[2].rstrip().rstrip("#").rstrip()
            depth, named_part = len(heading[1]), classify_heading(name)
            if depth <= level or part in ("lead", "body") or (has_text and _BEGINS.fullmatch(name)):
                part, level = (
                    ("lead", 0)
                    if _is_paper_title_heading(depth, part, named_part)
                    else (named_part, depth)
                )
            yield part, depth, name
            lines = lines[1:]
            has_text = False
        if any(line.strip() for line in lines):
            has_text = True
            yield part, 0, "\n".join(lines)


def measure_text(markdown: str) -> TextMeasure:
    """Count the words, headings and references of a paper's markdown."""
    words = headings = entries = paragraphs = 0
    abstract: list[str] = []
    for part, is_heading, text in iterate_headings_and_paragraphs(markdown):
        if part == "abstract" and not is_heading:
            abstract.append(text.strip())
        elif part == "references" and not is_heading:
            if text == NO_REFERENCES_NOTE:
                continue
            items = sum(1 for line in text.split("\n") if _ITEM.match(line))
            entries += items
            paragraphs += not items
        elif part == "body":
            headings += bool(is_heading)
            words += 0 if is_heading else count_words(text)
        elif part == "lead" and not is_heading and not _ITEM.match(text):
            count = count_words(text)
            words += count if count >= _SENTENCE_MIN_WORDS else 0
    if (
        abstract[1:]
        and words * 2 < (total := count_words("\n".join(abstract))) > _ABSTRACT_MAX_WORDS
    ):
        # No abstract is that long: the text after it has no heading of its own.
        words += total - count_words(abstract[0])
        abstract = abstract[:1]
    # Beside a list, a paragraph is what the site prints below it.
    references = entries if entries > paragraphs else entries + paragraphs
    return TextMeasure(words, headings, references, "\n\n".join(abstract))


def _is_paper_title_heading(depth: int, part: Part, named_part: Part) -> bool:
    """Return whether a heading is the paper's title: the first ``#`` with nothing before it."""
    return depth == 1 and part == "lead" and named_part == "body"


def find_slice_end(text: str, start: int, most: int) -> int:
    """Return the end of a slice of at most *most* characters, if possible between two words.

    The position is after a paragraph that ends in the last third, or else after a line, or else
    after a word, or else exactly at the limit.
    """
    end = start + most
    if end >= len(text):
        return len(text)
    for boundary in ("\n\n", "\n", " "):
        cut = text.rfind(boundary, start + 2 * most // 3, end)
        if cut > start:
            return cut + len(boundary)
    return end


def is_introduction_title(title: str) -> bool:
    """Return whether a section with this title introduces the paper."""
    return "introduction" in find_roles(title)


def is_methods_title(title: str) -> bool:
    """Return whether a section with this title describes methods or participants.

    >>> [is_methods_title(title) for title in ("Materialien und Methoden", "Study design", "Bees")]
    [True, True, False]
    """
    return "methods" in (find_roles(title) or find_hinted_roles(title))


def is_results_title(title: str) -> bool:
    """Return whether a section with this title may report results."""
    roles: set[Role] = {"results", "case report"}
    return bool(roles & set(find_roles(title))) or _REPORTS.search(title) is not None


def is_conclusion_title(title: str) -> bool:
    """Return whether a section with this title may conclude the paper."""
    roles: set[Role] = {"discussion", "conclusion", "limitations"}
    return bool(roles & set(find_roles(title))) or _CONCLUDES.search(title) is not None


def is_standard_section_title(title: str) -> bool:
    """Return whether a title is a standard section title of a research report.

    >>> titles = ("Results and discussion", "The case of the bees")
    >>> [is_standard_section_title(title) for title in titles]
    [True, False]
    """
    roles = find_roles(title) or find_hinted_roles(title)
    return (bool(roles) and "case report" not in roles) or to_title_key(
        strip_title_numbering(title)
    ) in SUMMARIES
