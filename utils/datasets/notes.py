"""Notes on a dataset beside its tables: missing and repeated records, warnings."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import islice

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

    def add_missing(self, uid: str) -> None:
        """Note that the database has no record of that name."""
        self.missing[uid] = None

    def add_repeated(self, uid: object) -> None:
        """Note that a record came again; the last one counts."""
        self._again[str(uid)] = self._again.get(str(uid), 0) + 1

    def add_warning(self, words: str) -> None:
        """Add a warning, in a sentence."""
        self._words.append(words)

    def warnings(self) -> Iterator[str]:
        """All notes, in sentences."""
        yield from self._words
        if self._again:
            count = f"{len(self._again):,} record{'s' if len(self._again) > 1 else ''}"
            yield f"{count} came more than once, the last one counts: {_named(self._again)}."
        if self.nameless:
            yield f"Records without an identifier were left out: {self.nameless:,}."
        if self.missing:
            yield f"Not found: {_named(self.missing)} ({len(self.missing):,} in all)."


def _named(uids: Collection[str]) -> str:
    """The first ten of some identifiers."""
    return ", ".join(islice(uids, _NAMED)) + (", …" if len(uids) > _NAMED else "")
