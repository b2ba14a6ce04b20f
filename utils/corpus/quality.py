"""Compute four quality scores of a paper from its record.

A PubMed record shows the kind of study, the year, whether the journal is indexed for MEDLINE and
whether the subjects were human. A record does not show how well the work was done. The scores use
no impact factors: lists of impact factors are sold, and rank journals rather than papers.

- ``design`` (0-3), the steps of the evidence pyramid (Murad, Asi, Alsawas and Alahdab, Evid Based
  Med 2016;21:125-7) that PubMed's publication types tell apart: 3 meta-analysis or systematic
  review, 2 randomised or otherwise controlled trial, 1 any other study, review or guideline (for
  ranking, also a paper of unknown type), 0 case reports and papers that report no study (editorial,
  letter, comment, news …). The highest of several types counts; the type *article* alone does not
  raise a case report.
- ``recency`` (0-2): 2 up to five years before today, 1 up to ten, else 0.
- ``journal`` (0-2): 2 indexed for MEDLINE (NLM assigned MeSH headings, for which a
  journal must have passed NLM's review), 1 in a journal that is not, or not yet, indexed, 0 no
  journal or a preprint server.
- ``human`` (0-2), from MeSH's check tags: 2 *Humans*, 1 *Humans* and *Animals*, 0 neither or
  *Animals* alone.
- ``total`` (0-9): the sum of those that are known. A retracted paper has 0.

Publication types and check tags: NLM, *MEDLINE/PubMed Data Element (Field) Descriptions* and *MeSH
Publication Characteristics*.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime

from ..model.paper import Paper

MAX_TOTAL = 9
"""The highest total."""
_DESIGNS = {
    "Meta-Analysis": 3,
    "Network Meta-Analysis": 3,
    "Systematic Review": 3,
    "Randomized Controlled Trial": 2,
    "Controlled Clinical Trial": 2,
    "Equivalence Trial": 2,
    "Pragmatic Clinical Trial": 2,
}
_NO_STUDY = frozenset(
    {
        *("Address", "Autobiography", "Bibliography", "Biography", "Case Reports"),
        *("Clinical Trial Protocol", "Comment", "Congress", "Dictionary", "Directory"),
        *("Editorial", "Expression of Concern", "Festschrift", "Historical Article"),
        *("Interactive Tutorial", "Interview", "Introductory Journal Article", "Lecture"),
        *("Letter", "News", "Newspaper Article", "Patient Education Handout"),
        *("Periodical Index", "Personal Narrative", "Portrait", "Published Erratum"),
        *("Retraction of Publication", "Retraction Notice", "Scientific Integrity Review"),
        *("Video-Audio Media", "Webcast"),
    }
)
# These types name a form, a funder or a later event, and do not describe the study.
_FORMS = ("Journal Article", "English Abstract", "Preprint", "Research Support", "Retracted")
_RECENT_YEARS, _NOT_OLD_YEARS = 5, 10
_BEST_DESIGN, _ANY_STUDY = 3, 1


@dataclass(frozen=True, slots=True)
class QualityScores:
    """The scores of one paper; None for a score whose information the record lacks."""

    design: int | None
    recency: int | None
    journal: int | None
    human: int | None
    total: int

    def to_row(self) -> dict[str, int | None]:
        """Return the scores as a JSON-serialisable dict."""
        return asdict(self)


def get_utc_today() -> date:
    """Return today's date in UTC, the reference day for the recency of papers."""
    return datetime.fromtimestamp(time.time(), UTC).date()


def score_quality(paper: Paper, day: date) -> QualityScores:
    """Score *paper*'s record as of *day*; see the module docstring."""
    parts = (
        _score_study_design(paper.publication_types),
        _score_recency(paper.year, day),
        _score_medline_indexing(paper),
        _score_human_subjects(paper.mesh),
    )
    total = sum(part for part in parts if part is not None)
    return QualityScores(*parts, total=0 if paper.retracted else total)


def score_evidence(paper: Paper) -> float:
    """Return the level of evidence of a paper's study design, from 0 to 1, from its record."""
    design = _score_study_design(paper.publication_types)
    return (_ANY_STUDY if design is None else design) / _BEST_DESIGN


def _score_study_design(types: Sequence[str]) -> int | None:
    """Return the score of the strongest study design among PubMed's publication types."""
    weights = [_score_publication_type(one) for one in types if not one.startswith(_FORMS)]
    # An article without a design counts as a study; a record without types is unknown.
    return max(weights) if weights else 1 if "Journal Article" in types else None


def _score_publication_type(publication_type: str) -> int:
    """Score one publication type: 0 is not a study, 1 a study without a named design."""
    return 0 if publication_type in _NO_STUDY else _DESIGNS.get(publication_type, 1)


def _score_recency(year: str, day: date) -> int | None:
    """Score the age of a paper in years, as of *day*."""
    if not year.isdigit():
        return None
    age = day.year - int(year)
    return 2 if age <= _RECENT_YEARS else int(age <= _NOT_OLD_YEARS)


def _score_medline_indexing(paper: Paper) -> int:
    """Score whether the journal is indexed for MEDLINE."""
    if not paper.journal or "Preprint" in paper.publication_types:
        return 0
    return 2 if paper.mesh else 1


def _score_human_subjects(mesh: Iterable[str]) -> int | None:
    """Return a score from the MeSH check tags Humans and Animals."""
    headings = {heading.partition("/")[0].lstrip("*") for heading in mesh}
    if not headings:
        return None
    if "Humans" not in headings:
        return 0
    return 1 if "Animals" in headings else 2
