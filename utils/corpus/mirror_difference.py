"""What of a published generation has changed in the mirror since, and only that brought in.

The rows that are there (``corpus_rows``) are compared with those that count now. What counts no
more is taken out with all that is its own, what is new is copied in by the same code as when all
is loaded (`.mirror_rows`), in one transaction for all that is published: who searches meanwhile
goes on with the state they began with, and who is killed has changed nothing. Where much has
changed, all is loaded anew instead: that takes less then, and leaves nothing dead behind.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from sqlalchemy import text

from ..mirror.generations import connect
from ..mirror.reading import readable
from ..mirror.words import by_file
from ..passages import pgvector_compact
from ..system import safe_files
from .mirror_rows import MirrorRows
from .shared_mirror import FORMAT, all_at_once, look_into

if TYPE_CHECKING:
    from pathlib import Path

    from sqlalchemy import Connection

    from .database import CorpusDatabase
    from .load_source import LoadSource
    from .shared_mirror import SharedGeneration

_MOST = 0.25
"""Of what is there: where more has changed, or is dead in the index of words, all is loaded."""
_ROWS = "SELECT sequence, position, beside FROM corpus_rows"
_DIFFERENT = """
WITH there AS (
    SELECT * FROM read_csv(?, header = false,
        columns = {{'sequence': 'INTEGER', 'position': 'INTEGER', 'beside': 'BIGINT'}})
), here AS (SELECT sequence, position, {beside} AS beside FROM read_parquet(?)),
same AS (
    SELECT * FROM there JOIN here USING (sequence, position, beside)
    WHERE sequence NOT IN (SELECT unnest(CAST(? AS INTEGER[])))
        AND beside // 1000000 NOT IN (SELECT unnest(CAST(? AS INTEGER[])))
)
SELECT sequence, position FROM {one} ANTI JOIN same USING (sequence, position) ORDER BY 1, 2
"""


@dataclass(frozen=True, slots=True)
class Changes:
    """Records, or texts, that came, that are others than they were, and that are gone."""

    new: int = 0
    revised: int = 0
    gone: int = 0

    def __add__(self, other: Changes) -> Changes:
        return Changes(self.new + other.new, self.revised + other.revised, self.gone + other.gone)


NONE = Changes()


class Difference:
    """Between a source and what of it is ``published``, which is to become what is *wanted*."""

    def __init__(
        self, source: LoadSource, published: SharedGeneration, wanted: SharedGeneration
    ) -> None:
        self.source, self.published = source, published
        self.made = replace(wanted, schema=published.schema)
        self.changes = NONE
        self._rows, self._folder = MirrorRows(source), source.index.folder

    def is_possible(self) -> bool:
        """Whether what is published can be changed into what is wanted."""
        names = ("store", "model", "dim")
        alike = all(getattr(self.published, name) == getattr(self.made, name) for name in names)
        return alike and self.published.format == FORMAT and self.made.store == "pgvector"

    def is_small(self, database: CorpusDatabase) -> bool:
        """Look it up; whether to bring it in takes less than to load all."""
        with all_at_once(database) as db:
            look_into(db, self.published.schema)
            posted = int(db.execute(text("SELECT posted FROM corpus_finder_model")).scalar() or 0)
            pgvector_compact.copy_out(db, _ROWS, self._there)
            self._find(*self._renewed(db))
        rows = self.published.papers * _MOST
        changed = max(sum(map(len, one.values())) for one in (self.fresh, self.gone))
        share = changed / max(1, self.published.papers)  # of the passages about as many
        dead = posted - self.published.passages * (1 - share)
        vectors = self.source.vectors.size if self.source.vectors else 0
        lacking = min(self.published.passages, vectors) - self.published.vectors
        passages = self.published.passages * _MOST
        return changed <= rows and lacking <= passages and dead <= posted * _MOST

    @property
    def _there(self) -> Path:
        return self._folder / "there.csv"

    def _renewed(self, db: Connection) -> tuple[list[int], list[int]]:
        """Files that hold something else than they did: of this source, and of records beside."""
        query = text("SELECT source, sequence, digest FROM corpus_parts")
        there = {(row.source, row.sequence): row.digest for row in db.execute(query)}
        changed: dict[str, list[int]] = {"pubmed": [], "pmc": []}
        for source, file in self.source.parts():
            if there.get((source, file.order), file.holds) != file.holds:
                changed[source].append(file.order)
        return changed[self.source.name], changed["pubmed"] if self.source.name == "pmc" else []

    def _find(self, renewed: list[int], beside: list[int]) -> None:
        """Write down which rows differ."""
        has = "beside" if "beside" in self.source.index.told_by else "0"
        about: list[Any] = [str(self._there), str(self.source.counted), renewed, beside]
        with closing(connect(self.source.mirror)) as db, readable(), safe_files.disk(self._folder):
            for one, path in (("here", self._fresh), ("there", self._gone)):
                query = _DIFFERENT.format(beside=has, one=one)
                db.sql(query, params=about).write_parquet(str(path))
        safe_files.remove(self._there)

    @property
    def _fresh(self) -> Path:
        return self._folder / "fresh.parquet"

    @property
    def _gone(self) -> Path:
        return self._folder / "gone.parquet"

    @cached_property
    def fresh(self) -> dict[int, Any]:
        """The positions, by file, of rows that are not there."""
        return by_file(self._fresh, None)

    @cached_property
    def gone(self) -> dict[int, Any]:
        """The positions, by file, of rows that are there and count no more."""
        return by_file(self._gone, None)

    def bring_in(self, db: Connection) -> Iterator[int]:
        """Change what is published, in the transaction of *db*; yields how many `steps` are done.

        Then ``made`` is what is there, held against the mirror's own files.
        """
        look_into(db, self.published.schema)
        gone, fresh, done = array("i"), array("i"), 0
        for order, positions in self.gone.items():
            gone += self._rows.take_out(db, order, positions.tolist())
            yield (done := done + 1)
        self._rows.add_vectors(db)
        self.source.index.prepare([*self.fresh], self.source.counted)
        files = {file.order: file for file in self.source.files}
        loading = pgvector_compact.Loading(db)
        for order, positions in self.fresh.items():
            fresh += self._rows.put(db, files[order], positions.tolist(), loading)
            yield (done := done + 1)
        loading.close()
        self._rows.note_parts(db)
        self.changes = _changes(gone, fresh)
        status = pgvector_compact.status_of(db)
        made = replace(self.made, vectors=status.vectors)
        self.made = self._rows.compared(db, made, status.passages)

    @property
    def steps(self) -> int:
        """How many times `bring_in` yields."""
        return len(self.gone) + len(self.fresh)


def _changes(gone: array[int], fresh: array[int]) -> Changes:
    import numpy as np

    both = len(np.intersect1d(gone, fresh))
    return Changes(len(fresh) - both, both, len(gone) - both)
