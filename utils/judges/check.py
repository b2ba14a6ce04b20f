"""Judge whether a text is the whole paper (`judge_completeness`) and the requested one.

A text must pass both before it is stored on the shelf. The judges compare structure and words with
the record and never rely on a single phrase. An article about captchas, an editorial of 400 words
and a page with a login form in its corner are papers. A landing page with an abstract, a reference
list and 800 words of small print is not.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final, NoReturn

from ..errors import BadContent
from ..model.paper import Document, Paper, Verdict
from ..model.verdicts import DOUBT, MEANINGS, NO_COMPARISON, ComparisonData, Sign
from ..outline.sections import is_standard_section_title, iterate_headings_and_paragraphs
from ..outline.words import count_words
from . import commentary, language, wholeness
from . import thresholds as limits
from .comparison import SHORT_KINDS
from .comparison import find_comparison_signs as compare
from .evidence import Evidence, gather_evidence
from .identity import Identity, judge_identity
from .signs import Finder, Finding, JudgedCase, weigh_signs
from .titles import count_distinctive_words, is_notice_title, measure_title_likeness
from .walls import find_wall_in_title
from .wholeness import count_pages_in_range, has_research_sections, is_from_footnote_era

# Every finder of signs that part of a paper is missing or that a text is not the paper.
FINDERS: Final[tuple[Finder, ...]] = (
    wholeness.find_incompleteness_signs,
    language.find_language_signs,
    commentary.find_commentary_signs,
)


# Of notices about another paper; PubMed has had two names for the second.
_NOTICES = frozenset((
    "Published Erratum", "Retraction Notice", "Retraction of Publication", "Expression of Concern",
))  # fmt: skip
_SUPPLEMENT_PAGE = re.compile(r"(?:[A-Z]{1,2})\d{1,4}")
_ORDER: tuple[Verdict, ...] = (
    "bot_check",
    "captcha",
    "refused",
    "error_page",
    "cookie_wall",
    "login",
    "paywall",
)
_PLAIN = ("refused", "error_page")  # nothing else stands on such a page


def raise_rejection(finding: Finding) -> NoReturn:
    """Raise `BadContent` for a finding that rejects a text."""
    meaning = MEANINGS[finding.verdict]
    msg = f"{meaning.said}: {finding.evidence}."
    raise BadContent(msg, meaning.hint, verdict=finding.verdict, evidence=finding.evidence)


def judge_document(
    document: Document,
    paper: Paper,
    comparison: ComparisonData = NO_COMPARISON,
    same: Identity | None = None,
) -> Document:
    """Return *document* with the verdict ``full_text`` or ``doubtful``, or reject it.

    A text without an identifier of the paper that seems to be only a part is reported as
    ``wrong_paper`` if `judge_identity` refuses it.

    *comparison* has other copies and other papers of the journal, if there is a shelf; *same* is
    the result of an earlier call of `judge_identity`.

    Raises
    ------
    BadContent
        The text is not the whole paper, or belongs to another paper; ``details`` contains
        ``verdict`` and ``evidence``.
    """
    same = same or judge_identity(document, paper)
    if same.signs and document.route == "copy":  # only a text that agrees vouches for another site
        raise_rejection(Finding("wrong_paper", "; ".join([same.signs[0].words, same.evidence])))
    compared = compare(document, comparison)
    whole = judge_completeness(document, paper, (*same.signs, *compared))
    if whole.is_rejection and whole.verdict != "partial":
        raise_rejection(whole)
    # A text with this paper's identifier is a part of it, even if it does not show its subject.
    if whole.is_rejection and document.ids.shares(paper.ids):
        raise_rejection(whole)
    if same.answer != "same":
        raise_rejection(Finding("wrong_paper", same.evidence))
    if whole.is_rejection:
        raise_rejection(whole)
    evidence = f"{whole.evidence}; {same.evidence}"
    return replace(document, verdict=whole.verdict, evidence=evidence)


def judge_completeness(document: Document, paper: Paper, signs: Sequence[Sign] = ()) -> Finding:
    """Judge whether a text is a whole paper; *signs* about its identity are weighed as well."""
    if document.verdict != "full_text":  # the reader knows already, as of an XML cut off
        return Finding(document.verdict, document.evidence)
    if document.article_type:
        return _judge_jats_text(document, signs)
    if (
        document.pages
        and count_words(document.markdown) < limits.SCAN_MAX_WORDS_PER_PAGE * document.pages
    ):
        return Finding("scanned", f"{document.pages} pages with almost no text")
    abstract = (
        ""
        if _is_notice_by_record_or_title(document, paper)
        else _choose_abstract_to_compare(document, paper)
    )
    case = JudgedCase(document, paper, abstract)
    found = case.evidence
    if refusal := _judge_access_barrier(document, paper, found):
        return refusal
    lacking = (
        _judge_missing_body(document, paper, found)
        if abstract
        else _judge_text_without_abstract(document, paper, found)
    )
    if lacking and lacking.is_rejection:
        return lacking
    against = [*document.signs, *signs, *(sign for find in FINDERS for sign in find(case))]
    if lacking:
        against.append(Sign("no references", DOUBT, lacking.evidence, only_doubts=True))
    return weigh_signs(
        against, ", ".join([f"{found.prose} words of running text", *_describe_evidence(found)])
    )


def _judge_jats_text(document: Document, signs: Sequence[Sign]) -> Finding:
    """Judge by the parts that JATS declares; a body must exist and not repeat the abstract."""
    words = document.body_words
    research = document.article_type in ("research-article", "review-article")
    if not words or (research and words < limits.JATS_BODY_MIN_WORDS):
        return Finding("front_matter_only", f"{words} words in the body")
    if (
        words < limits.LONG_TEXT_WORDS
        and count_words(document.abstract) >= limits.ABSTRACT_MIN_WORDS
    ):
        found = gather_evidence(document, Paper(document.ids), document.abstract)
        if (
            found.prose < limits.NOTE_MIN_WORDS
            and found.repeated > limits.ABSTRACT_REPEAT_RATIO * count_words(document.abstract)
        ):
            evidence = f"{words} words in the body, of which {found.prose} are not in the abstract"
            return Finding("abstract_only", evidence)
    whole = f"{words} words in the body, {document.headings} headings"
    return weigh_signs([*document.signs, *signs], whole, limits.STRUCTURED_REFUSE)


def _choose_abstract_to_compare(document: Document, paper: Paper) -> str:
    """Return the abstract; a remark such as *[This corrects the article …]* is not an abstract.

    Without an abstract in the record, the text's own counts if it has the length of one.
    """
    if not paper.abstract and _is_short_article_type(paper):
        return ""  # all there is of it
    if paper.abstract:
        return paper.abstract if count_words(paper.abstract) >= limits.ABSTRACT_MIN_WORDS else ""
    return (
        document.abstract
        if limits.ABSTRACT_MIN_WORDS <= count_words(document.abstract) <= limits.ABSTRACT_MAX_WORDS
        else ""
    )


def _judge_access_barrier(document: Document, paper: Paper, found: Evidence) -> Finding | None:
    """Return the finding for a page that shows only a login, paywall or other barrier; else None.

    A page that names the paper and has an abstract or text is not a captcha or login page, whatever
    forms it contains, unless a heading announces one. The page may still be a paywall: the first
    words of a closed article are a preview.
    """
    walls = [name for name in _ORDER if name in document.walls]
    words = found.prose
    if not walls or words >= limits.LONG_TEXT_WORDS:
        return None
    if _has_id_or_title_of_paper(document, paper):
        if "paywall" in walls and len(_describe_evidence(found)) < 2:
            return Finding("paywall", f"an offer of access and {words} words besides the abstract")
        if (
            words >= limits.NOTE_MIN_WORDS
            or count_words(document.abstract) >= limits.ABSTRACT_MIN_WORDS
        ):
            announced = _find_announced_challenges(document)
            walls = [name for name in walls if name in _PLAIN or name in announced]
    if not walls or words >= limits.WALL_MAX_WORDS:
        return None
    return Finding(walls[0], f"{walls[0].replace('_', ' ')} on the page and {words} words of text")


def _find_announced_challenges(document: Document) -> set[str]:
    """Return the bot checks and captchas that headings announce (*Checking your browser…*)."""
    heads = (
        text
        for _, is_heading, text in iterate_headings_and_paragraphs(document.markdown)
        if is_heading
    )
    return {
        wall for head in heads if (wall := find_wall_in_title(head)) in ("bot_check", "captcha")
    }


def _has_id_or_title_of_paper(document: Document, paper: Paper) -> bool:
    """Return whether the document has an identifier or the title of the paper."""
    return document.ids.shares(paper.ids) or (
        measure_title_likeness(paper.title, document.title) >= limits.SAME_TITLE_LIKENESS
        and count_distinctive_words(paper.title) >= limits.TITLE_MIN_WORDS
    )


def _count_plausible_citations(found: Evidence) -> int:
    """Return the number of works that the prose cites; 0 if no list could contain them."""
    by_number = len(found.cited) if 3 * len(found.cited) >= found.listed else 0
    cited = max(by_number if found.by_marks or found.listed else 0, found.named)
    return (
        cited
        if cited >= limits.CITATIONS_MIN
        and (found.listed >= limits.CITATIONS_MIN or cited >= limits.CLEAR_CITATIONS)
        else 0
    )


def _describe_evidence(found: Evidence) -> list[str]:
    """Return phrases that describe the evidence that running text belongs to a paper."""
    marks = []
    if found.filled_sections >= 2:
        marks.append(f"{found.filled_sections} sections")
    if cited := _count_plausible_citations(found):
        marks.append(f"{cited} citations of {found.listed} references")
    if shown := len(found.mentioned & found.captions):
        marks.append(f"{shown} figures and tables present and mentioned in the text")
    elif len(found.mentioned) >= limits.CITATIONS_MIN:
        marks.append(f"{len(found.mentioned)} figures and tables mentioned in the text")
    return marks


def _has_citations_or_figures(found: Evidence) -> bool:
    """Return whether the text cites, lists references, or mentions its own figures."""
    return bool(
        _count_plausible_citations(found)
        or found.listed >= limits.CITATIONS_MIN
        or found.mentioned & found.captions
    )


def _judge_missing_body(document: Document, paper: Paper, found: Evidence) -> Finding | None:
    """Return a finding if a paper with an abstract has no body of its own; else None.

    A paper with an abstract cites other works, or at least lists them, and has sections or figures.
    Texts about the paper (a press release, a review, a protocol, meeting abstracts) do not.
    """
    words, marks, named = (
        found.prose,
        _describe_evidence(found),
        _has_id_or_title_of_paper(document, paper),
    )
    evidence = ", ".join([f"{words} words besides the abstract", *marks])
    if words < limits.SECTIONED_MIN_WORDS:
        if found.repeated or document.abstract:
            return Finding("abstract_only", evidence)
        return Finding(
            _choose_verdict_without_text(document), f"{words} words, without the abstract"
        )
    if (
        found.on_topic < limits.ABSTRACT_WORDS_USED_SHARE
        and not _count_plausible_citations(found)
        and not named
    ):
        verdict: Verdict = "wrong_paper" if document.pages else "not_a_paper"
        return Finding(
            verdict, f"{evidence}, {found.on_topic:.0%} of the abstract's distinctive words"
        )
    if _count_plausible_citations(found) or (
        found.listed >= limits.CITATIONS_MIN and marks and words >= limits.RESEARCH_MIN_WORDS
    ):
        return None
    if (
        words >= limits.LONG_TEXT_WORDS and found.listed >= limits.CLEAR_CITATIONS
    ) or _is_paper_without_citations(document, paper, found):
        return None
    evidence = f"{evidence}, no citations and no list of references"
    if (
        named
        and words >= limits.FULL_LENGTH_WORDS
        and found.filled_sections >= limits.FULL_LENGTH_SECTIONS
    ):
        return Finding("doubtful", evidence)  # a page may load its list by a script
    if words < limits.RESEARCH_MIN_WORDS:
        return Finding("abstract_only", evidence)
    return Finding("partial" if named or document.pages else "not_a_paper", evidence)


def _is_notice_by_record_or_title(document: Document, paper: Paper) -> bool:
    """Return whether the record or a title marks the text as a correction or another notice."""
    declared = not _NOTICES.isdisjoint(paper.publication_types)
    return declared or is_notice_title(paper.title) or is_notice_title(document.title)


def _judge_text_without_abstract(
    document: Document, paper: Paper, found: Evidence
) -> Finding | None:
    """Return a finding if a text without an abstract is too short even for a letter; else None."""
    words = found.prose
    if _is_notice_by_record_or_title(document, paper):
        words = _count_words_outside_links(found) if document.pages else words  # print has no menus
        return (
            None
            if words >= limits.NOTE_MIN_WORDS
            else Finding(_choose_verdict_without_text(document), f"{words} words")
        )
    is_short = _is_short_article_type(paper)
    least = (
        limits.PREVIEW_MAX_WORDS
        if "paywall" in document.walls
        else limits.LETTER_MIN_WORDS
        if _count_plausible_citations(found)
        else limits.EDITORIAL_MIN_WORDS
    )
    least = min(least, limits.SHORT_KIND_MIN_WORDS) if is_short else least
    if words < least or found.repeated >= words:
        return Finding(_choose_verdict_without_text(document), f"{words} words of running text")
    if (
        not _count_plausible_citations(found)
        and words < limits.LONG_TEXT_WORDS
        and words < limits.RUNNING_TEXT_SHARE * _count_words_outside_links(found)
    ):
        return Finding(
            _choose_verdict_without_text(document),
            f"{words} words of running text, less than the menus and lists around it",
        )
    # What the record calls a letter, and calls itself that letter, may speak of anything.
    is_this_letter = is_short and _has_id_or_title_of_paper(document, paper)
    if (
        not is_this_letter
        and count_distinctive_words(paper.title) >= limits.TITLE_MIN_WORDS
        and found.on_topic < limits.TITLE_WORDS_USED_SHARE
    ):
        return Finding("not_a_paper", f"{words} words of running text, few of them from the title")
    is_known = is_short and not _has_own_sections(found)
    if not (
        is_known
        or _has_citations_or_figures(found)
        or _is_paper_without_citations(document, paper, found)
    ):
        evidence = (
            f"{words} words without citations, though the record does not name a short kind "
            "of article"
        )
        return Finding(
            "partial" if _has_id_or_title_of_paper(document, paper) else "not_a_paper", evidence
        )
    return None


def _has_own_sections(found: Evidence) -> bool:
    """Return whether the text has at least two sections whose titles are not standard ones."""
    own_sections = [
        part for part in found.body if part.prose and not is_standard_section_title(part.name)
    ]
    return found.filled_sections > 2 and len(own_sections) > 1


def _count_words_outside_links(found: Evidence) -> int:
    """Return the number of words outside links and references, which excludes a site's menu."""
    return found.kinds.total() - found.kinds["link"] - found.kinds["reference"]


def _is_short_article_type(paper: Paper) -> bool:
    """Return whether the record describes a letter, an editorial or a meeting abstract."""
    is_supplement = _SUPPLEMENT_PAGE.fullmatch(paper.pages) is not None
    return is_supplement or not SHORT_KINDS.isdisjoint(paper.publication_types)


def _is_paper_without_citations(document: Document, paper: Paper, found: Evidence) -> bool:
    """Return whether a text without citations and references is otherwise a paper.

    A research paper has standard sections, or sections that mention figures; a printed paper has
    the expected number of pages. Texts about a paper (a press release, a blog, a patent) have none
    of these, and exist only for recent papers.
    """
    if is_from_footnote_era(
        paper
    ) or limits.PRINT_MIN_PAGES <= document.pages == count_pages_in_range(paper.pages):
        return True
    shown = len(found.mentioned & found.captions)
    return has_research_sections(found) or (
        found.prose >= limits.LONG_TEXT_WORDS and found.filled_sections > 2 and shown > 1
    )


def _choose_verdict_without_text(document: Document) -> Verdict:
    """Return the verdict for a document that contains no text of a paper."""
    if count_words(document.markdown) < limits.EMPTY_MAX_WORDS:
        return "empty"
    return "front_matter_only" if document.ids or document.references else "not_a_paper"
