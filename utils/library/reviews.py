"""Methods of a library for systematic reviews."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ..system.keyword_options import accept_former_options
from .namespace import Namespace

if TYPE_CHECKING:
    from ..curation.watches import News
    from ..model.paper import Paper
    from ..review import Review
    from ..review.snowball import Snowball
    from ..search.citation_indexes import Direction


class Reviews(Namespace):
    """The systematic reviews of a shelf."""

    def __call__(self) -> list[Review]:
        """Return `all`, as the version before did."""
        msg = "library.reviews() is now library.reviews.all()"
        warnings.warn(msg, DeprecationWarning, stacklevel=2)
        return self.all()

    def create(self, name: str) -> Review:
        """Create a review: a folder with a protocol to fill in; see `..review`."""
        from ..review import create_review

        return create_review(name, self._library.ladder)

    def open(self, name: str) -> Review:
        """Return the review of this name; see `..review.Review`."""
        from ..review import open_review

        return open_review(name, self._library.ladder)

    def all(self) -> list[Review]:
        """Return all reviews of this shelf, by name."""
        from ..review import list_reviews

        return list_reviews(self._library.ladder)

    def list_names(self) -> list[str]:
        """Return the names of all reviews of this shelf."""
        return [review.name for review in self.all()]

    def update_for_news(
        self, name: str, last: int | None = None
    ) -> tuple[list[News], Sequence[str], int]:
        """Update a review for its watch.

        Returns
        -------
        tuple
            The news after the event *last*, the sources that did not answer, and the number of the
            latest event. The first update of a review brings all its records, which are not news.
        """
        from ..curation.watches import News
        from ..review.updating import list_changes

        review = self.open(name)
        before = review.events()
        if last is None and any(event.what == "update" for event in before):
            last = before[-1].number
        update = review.update()
        events, records = review.events(), review.ledger.list_records()
        papers = {record.key: record.paper for record in records}
        later = [event for event in events if last is not None and event.number > last]
        changes = list_changes(later, records)
        news = [News(name, one.outcome, papers[one.key], one.detail) for one in changes]
        return news, update.silent, events[-1].number

    @accept_former_options(most="per_round")
    def snowball(
        self,
        papers: Iterable[Paper],
        *,
        known: Sequence[Paper] = (),
        directions: Sequence[Direction] = ("backward", "forward"),
        rounds: int = 1,
        per_round: int = 50,
    ) -> Snowball:
        """Find the papers that the given papers cite, and the papers that cite them."""
        from ..review.snowball import search_citations
        from ..sources import SOURCES

        return search_citations(
            *(list(papers), self._library.shelf, self._library.web, SOURCES),
            known=known,
            directions=directions,
            rounds=rounds,
            most=per_round,
        )
