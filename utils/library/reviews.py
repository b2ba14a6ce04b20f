"""Systematic reviews of a library."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ..system.keyword_options import accept_former_options
from .namespace import Namespace

if TYPE_CHECKING:
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
        """Make a review: a folder with a protocol to fill in; see `..review`."""
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
        """Find what papers cite, and who cites them; see `..review.snowball`."""
        from ..review.snowball import search_citations
        from ..sources import SOURCES

        return search_citations(
            *(list(papers), self._library.shelf, self._library.web, SOURCES),
            known=known,
            directions=directions,
            rounds=rounds,
            most=per_round,
        )
