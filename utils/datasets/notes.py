"""What is worth telling about a dataset beside its tables."""

from __future__ import annotations

from collections.abc import Iterator

_NAMED = 10


class Notes:
    """What happened while the pages were read.

    ``empty_fields`` are those the database has and no record fills: they are no columns;
    ``nameless`` counts records that were left out, since nothing tells them apart.
    """

    def __init__(self) -> None:
        self.missing: dict[str, None] = {}
        self.empty_fields: list[str] = []
        self.nameless = 0
        self._again: dict[str, int] = {}
        self._words: list[str] = []
        self._numbers = 0

    def next_number(self) -> int:
        """The number of the next record, from 1."""
        self._numbers += 1
        return self._numbers

    def not_found(self, uid: str) -> None:
        """The database has no record of that name."""
        self.missing[uid] = None

    def repeated(self, uid: object) -> None:
        """A record came again; the last one counts."""
        self._again[str(uid)] = self._again.get(str(uid), 0) + 1

    def warn(self, words: str) -> None:
        """Something else, in a sentence."""
        self._words.append(words)

    def warnings(self) -> Iterator[str]:
        """In sentences."""
        yield from self._words
        if self._again:
            named = ", ".join(list(self._again)[:_NAMED])
            more = ", …" if len(self._again) > _NAMED else ""
            records = "record" if len(self._again) == 1 else "records"
            yield (
                f"{len(self._again):,} {records} came more than once, the last one counts: "
                f"{named}{more}."
            )
        if self.nameless:
            yield f"Records without an identifier were left out: {self.nameless:,}."
        if self.missing:
            named = ", ".join(list(self.missing)[:_NAMED])
            more = ", …" if len(self.missing) > _NAMED else ""
            yield f"Not found: {named}{more} ({len(self.missing):,} in all)."
