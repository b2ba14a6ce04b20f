"""Rank the unscreened records, and estimate when screening may stop.

A review finds thousands of records, of which a few per cent belong in it. Reading the likely ones
first shows early what the review is about, and lets the screeners stop before the end.

1. **Learn.** Each record is a vector of the stems of its words and of their pairs in title,
   abstract and keywords, weighted by TF-IDF. A linear support vector machine separates the records
   included so far from the excluded ones; an included record weighs about ten times as much, since
   there are few. (The same kind of model as ASReview's ELAS u4, doi:10.1038/s42256-020-00287-7.)
2. **Order.** Records are listed by their distance from the plane between both. As long as no record
   is included, or none excluded, they are ordered by the words they share with the protocol and
   with what is included.
3. **Explain.** The words that moved a record up most are named.
4. **Stop?** Suppose that 5 % or more of the relevant records were still unread. How probable would
   it be, then, that the latest batches brought so few of them? Batches that were read in the order
   of the model hold more relevant records than a random sample would, so the hypergeometric
   distribution gives an upper bound (Callaghan and Müller-Hansen 2020,
   doi:10.1186/s13643-020-01521-4). Below 5 %, screening may stop.

Example: 1,000 records, 600 read in two batches, 38 relevant ones in the first 300 and none in the
other 300. If 5 % were missing, at least 3 relevant ones (38 / .95 - 38 + 1) would be among the 300
of the last batch and the 400 unread. That none of them is in the last batch has a probability of
400/700 x 399/699 x 398/698 = .19: too much to stop. After 200 further records without a relevant
one it is .023.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ..command_line import command_line, install_command
from ..errors import BadRequest, NotConfigured
from ..model.tabular import ResultList
from ..outline.terms import stem_word
from .ledger import ReviewRecord
from .protocol import Protocol
from .standing import ScreeningStatus

if TYPE_CHECKING:
    from numpy.typing import NDArray

RECALL: Final = 0.95
"""The share of relevant records to be found before screening may stop."""
MAX_RISK: Final = 0.05
"""The probability of missing that share at which screening may stop."""
_INCLUDED_WEIGHT: Final = 9.8  # of one included record, in excluded ones
_REGULARIZATION: Final = 0.03  # of the support vector machine (C)
_WORD: Final = re.compile(r"\w{2,}")
_REASONS: Final = 4  # words that are named for a record
RANKED_COLUMNS: Final = ("rank", "score", "reasons", "title", "authors", "year", "journal")


class BatchCount(NamedTuple):
    """The numbers of read and of included records in a batch."""

    read: int
    included: int


@dataclass(frozen=True, slots=True)
class RankedRecord:
    """An unscreened record with its position in the reading order.

    Parameters
    ----------
    rank : int
        1 for the record to read first.
    score : float
        The distance from the border between included and excluded records, positive on the side of
        the included ones; without decisions, the likeness to the protocol (0 to 1).
    reasons : tuple of str
        The words that moved the record up most.
    """

    record: ReviewRecord
    rank: int
    score: float
    reasons: tuple[str, ...]

    def row(self) -> dict[str, Any]:
        """Return the record and its place as one row of a table."""
        place = {"rank": self.rank, "score": round(self.score, 3), "reasons": list(self.reasons)}
        return place | self.record.paper.row() | {"key": self.record.key}


@dataclass(frozen=True, slots=True)
class StopAdvice:
    """The risk of stopping now, and the numbers behind it.

    Parameters
    ----------
    risk : float
        The probability, at most, that less than `RECALL` of the relevant records were found.
    included, unread : int
        The numbers of records included so far, and of those that nobody read.
    """

    risk: float
    included: int
    unread: int

    @property
    def may_stop(self) -> bool:
        """True if the risk is small enough."""
        return self.risk < MAX_RISK


@dataclass(frozen=True, slots=True)
class Ranking:
    """The records to screen, the likeliest first, and the basis of the order."""

    rows: ResultList[RankedRecord]
    included: int
    excluded: int
    stop: StopAdvice

    @property
    def is_learned(self) -> bool:
        """True if the order was learned from decisions, False if only the protocol decided."""
        return bool(self.included and self.excluded)


class ScreeningModel:
    """A model that scores the records of one review from the decisions on some of them.

    Parameters
    ----------
    texts : sequence of str
        Title, abstract and keywords of each record.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        _require_scikit_learn()
        from sklearn.feature_extraction.text import TfidfVectorizer

        self._texts = texts
        try:
            self._vectorizer = TfidfVectorizer(
                analyzer=_extract_features, sublinear_tf=True, max_df=0.95
            )
            self._features = self._vectorizer.fit_transform(texts)
        except ValueError:  # no word is left: there are none, or all records share them
            self._vectorizer = TfidfVectorizer(analyzer=_extract_features_with_constant)
            self._features = self._vectorizer.fit_transform(texts)

    def score_from_decisions(self, read: Sequence[int], included: Sequence[bool]) -> NDArray[Any]:
        """Return a score for each record, learned from the records at the positions *read*.

        Both kinds of decision must be among *included*.
        """
        from sklearn.svm import LinearSVC

        weights = {True: _INCLUDED_WEIGHT, False: 1.0}
        model = LinearSVC(C=_REGULARIZATION, class_weight=weights)
        self._weights = model.fit(self._features[list(read)], list(included)).coef_[0]
        scores: NDArray[Any] = self._features @ self._weights + model.intercept_[0]
        return scores

    def score_by_similarity(self, text: str, included: Sequence[int]) -> NDArray[Any]:
        """Return each record's similarity to a *text* and to the *included* records."""
        pattern = self._vectorizer.transform([text])
        for at in included:
            pattern = pattern + self._features[at]
        self._weights = pattern.toarray()[0] / (1 + len(included))
        scores: NDArray[Any] = self._features @ self._weights
        return scores

    def explain_score(self, at: int) -> tuple[str, ...]:
        """Return the words of one record that contributed most to its latest score."""
        row = self._features[at]
        added = row.data * self._weights[row.indices]
        names = self._vectorizer.get_feature_names_out()
        best = [row.indices[one] for one in added.argsort()[::-1][:_REASONS] if added[one] > 0]
        spelled = {stem: word for word, stem in _stem_words(self._texts[at])}
        words = (" ".join(spelled[stem] for stem in names[one].split()) for one in best)
        return tuple(filter(None, words))


def _extract_features(text: str) -> list[str]:
    """Return the stems of a text and the pairs of neighbours among them."""
    stems = [stem for _, stem in _stem_words(text)]
    return [*stems, *map(" ".join, pairwise(stems))]


def _extract_features_with_constant(text: str) -> list[str]:
    """Return the features of a text, and one that every text has, so that none is without."""
    return [*_extract_features(text), ""]


def _stem_words(text: str) -> list[tuple[str, str]]:
    """Return each word of a text with its English stem."""
    return [(word, stem_word(word)) for word in _WORD.findall(text.lower())]


def _require_scikit_learn() -> None:
    from importlib.util import find_spec

    if find_spec("sklearn") is None:
        msg = "The order of screening is learned by scikit-learn, which is not installed here."
        hint = f"Run: {install_command('rank')}"
        raise NotConfigured(msg, hint)


def rank_records(
    standings: Sequence[ScreeningStatus], batches: Sequence[Sequence[str]], protocol: Protocol
) -> Ranking:
    """Return the records without a decision on title and abstract, the likeliest first.

    Parameters
    ----------
    standings : sequence of Standing
        All records of a review.
    batches : sequence of sequences of str
        The keys of the records in the order in which their decisions were imported.

    Raises
    ------
    BadRequest
        The review has no records.
    NotConfigured
        The extra ``rank`` is not installed.
    """
    if not standings:
        msg = "The review has no records to order."
        raise BadRequest(msg, f"Search for them first: {command_line('review update NAME')}")
    outcomes = [standing.first for standing in standings]
    read = [at for at, outcome in enumerate(outcomes) if outcome in ("include", "exclude")]
    labels = [outcomes[at] == "include" for at in read]
    model = ScreeningModel([_join_record_text(standing.record) for standing in standings])
    if any(labels) and not all(labels):
        scores = model.score_from_decisions(read, labels)
    else:
        included = [at for at, label in zip(read, labels, strict=True) if label]
        scores = model.score_by_similarity(f"{protocol.title} {protocol.question}", included)
    order = sorted(
        (at for at, outcome in enumerate(outcomes) if outcome == "undecided"),
        key=lambda at: -scores[at],
    )
    rows = [
        RankedRecord(standings[at].record, rank, float(scores[at]), model.explain_score(at))
        for rank, at in enumerate(order, 1)
    ]
    stop = estimate_stop_risk(standings, batches)
    return Ranking(
        ResultList(rows, RANKED_COLUMNS, RankedRecord.row), sum(labels), labels.count(False), stop
    )


_OPEN_OUTCOMES = ("undecided", "duplicate")


def estimate_stop_risk(
    standings: Sequence[ScreeningStatus], batches: Sequence[Sequence[str]]
) -> StopAdvice:
    """Return whether screening may stop, judged by the batches in which decisions were imported."""
    outcomes = {standing.record.key: standing.first for standing in standings}
    counts = [
        BatchCount(len(decided), decided.count("include"))
        for batch in batches
        if (decided := [outcomes[key] for key in batch if outcomes[key] not in _OPEN_OUTCOMES])
    ]
    unread = sum(outcome == "undecided" for outcome in outcomes.values())
    included = sum(count.included for count in counts)
    return StopAdvice(compute_risk_bound(counts, unread), included, unread)


def compute_risk_bound(batches: Sequence[BatchCount], unread: int) -> float:
    """Return an upper bound of the probability that fewer than `RECALL` of the relevant were read.

    The latest batch, the latest two and so on are each taken for a sample of what was not read
    before; the least probability counts.
    """
    total = sum(batch.included for batch in batches)
    if not unread:
        return 0.0
    if not total:
        return 1.0
    from scipy.stats import hypergeom

    risk, read, found = 1.0, 0, 0
    for batch in reversed(batches):
        read, found = read + batch.read, found + batch.included
        missing = int(total / RECALL - (total - found) + 1)
        if missing > read + unread:
            return 0.0
        risk = min(risk, float(hypergeom.cdf(found, read + unread, missing, read)))
    return risk


def _join_record_text(record: ReviewRecord) -> str:
    paper = record.paper
    return "\n".join((paper.title, paper.abstract, *paper.keywords))
