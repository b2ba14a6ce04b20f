"""Watches of a library: news about queries, authors, papers and reviews."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import BadRequest
from .namespace import Namespace

if TYPE_CHECKING:
    from ..curation.watches import Digest, Kind, News, Watch
    from ..curation.watches import Watches as Store
    from ..reports.digest import Item


class Watches(Namespace):
    """Watched queries, authors, papers and reviews, and their news; see `..curation.watches`."""

    def add(self, name: str, kind: Kind | None = None) -> Watch:
        """Watch a query, an author, a paper or a review; without *kind*, what the name means.

        That is a review of this name, else a paper with this identifier, else a query.
        """
        from ..curation.watches import KINDS
        from ..model.identifiers import Ids

        if kind is not None and kind not in KINDS:
            raise BadRequest(
                f"{kind!r} is not a kind of watch.", f"Choose among {', '.join(KINDS)}."
            )
        if kind == "review":
            self._library.reviews.open(name)
        is_review = name in {review.name for review in self._library.reviews.all()}
        guessed: Kind = "review" if is_review else "paper" if Ids.maybe(name) else "query"
        return self._store.add(name, kind or guessed)

    def remove(self, name: str) -> None:
        """End a watch, and forget what it knows."""
        self._store.remove(name)

    def all(self) -> list[Watch]:
        """Return all watches in the order in which they were added."""
        return self._store.list_all()

    def check(self) -> Digest:
        """Check all watches, and return the unseen news; see `mark_seen`."""
        return self._store.check()

    def read(self, since: str = "") -> Digest:
        """Return the stored news since a day, or the latest, without asking any site."""
        return self._store.read(since=since, unseen=False)

    def mark_seen(self, digest: Digest) -> None:
        """Record that the news of a digest were shown: `check` does not return them again."""
        self._store.mark_seen(digest)

    def write(self, digest: Digest, output: str | Path) -> None:
        """Write a digest as ``.html``, ``.txt``, ``.eml`` (not sent), or ``.atom``.

        A feed has the latest news as well as those of the digest.
        """
        from ..reports.digest import write_digest

        path = Path(output)
        news = self.read().news if path.suffix == ".atom" else digest.news
        write_digest(path, build_items(news), digest.silent, self._library.settings.contact)

    @property
    def _store(self) -> Store:
        """The watches of the shelf."""
        from ..curation.watches import Watches as Store

        return Store(self._library.ladder, self._update_review)

    def _update_review(self, name: str, last: int | None) -> tuple[list[News], Iterable[str], int]:
        """Update a review; return the news after the event *last*, and the number of the latest."""
        from ..curation.watches import News
        from ..review.updating import list_changes

        review = self._library.reviews.open(name)
        before = review.events()
        if last is None:  # the first update brings the whole review, which is not news
            had_update = any(event.what == "update" for event in before)
            last = before[-1].number if had_update else None
        update = review.update()
        events, records = review.events(), review.ledger.list_records()
        papers = {record.key: record.paper for record in records}
        later = [event for event in events if last is not None and event.number > last]
        changes = list_changes(later, records)
        news = [News(name, one.outcome, papers[one.key], one.detail) for one in changes]
        return news, update.silent, events[-1].number


def build_items(news: Iterable[News]) -> list[Item]:
    """Return news as the digest's entries."""
    from ..reports.digest import build_item

    return [build_item(one.watch, one.outcome, one.paper, one.detail, one.at) for one in news]
