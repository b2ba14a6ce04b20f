"""The passages of a corpus in SQL: replaced paper by paper, listed, looked up."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

from sqlalchemy import Connection, Update, bindparam, delete, insert, select, update

from ..passage import Passage
from ..plain_text import encodable
from .corpus_connections import Connections
from .corpus_records import Changes, batches
from .corpus_schema import passages as _passages
from .corpus_schema import sources as _sources

_NAMES = tuple(field.name for field in fields(Passage))


class PassageTables(Connections):
    """What was cut, and into what."""

    def passages(self, uuids: Sequence[str]) -> dict[str, Passage]:
        """Passages by UUID; the unknown are left out."""
        found: dict[str, Passage] = {}
        with self.reading() as connection:
            for some in batches(uuids):
                query = select(_passages).where(_passages.c.uuid.in_(some))
                found.update((row["uuid"], _passage(row)) for row in _rows(connection, query))
        return found

    def passages_of(self, paper_key: str) -> list[Passage]:
        """The passages of a paper, in the order of their cutting."""
        with self.reading() as connection:
            return sorted(_of(connection, paper_key).values(), key=lambda made: made.ordinal)

    def every_passage(self, after_uuid: str = "", limit: int = 1000) -> list[Passage]:
        """A page of all passages, by UUID; the next begins after its last."""
        query = select(_passages).where(_passages.c.uuid > after_uuid)
        with self.reading() as connection:
            found = _rows(connection, query.order_by(_passages.c.uuid).limit(limit))
            return [_passage(row) for row in found]

    def source_digests(self) -> dict[str, str]:
        """What was cut, by paper: the digest of the text its passages were made of."""
        with self.reading() as connection:
            return {paper: digest for paper, digest in connection.execute(select(_sources))}  # noqa: C416 - rows are no pairs to mypy

    def replace_passages(
        self, paper_key: str, source_digest: str, passages: Sequence[Passage]
    ) -> Changes:
        """Make *passages* those of a paper, all or nothing; see `Changes`.

        Only what differs is written. Of two with one UUID the last counts.
        """
        return self.replace_together([(paper_key, source_digest, passages)])[0]

    def replace_together(
        self, texts: Sequence[tuple[str, str, Sequence[Passage]]]
    ) -> list[Changes]:
        """`replace_passages` of several papers in one transaction: flushing the disk is what costs.

        Each is a paper's key, the digest of its text, and its passages.
        """
        with self.writing() as connection:
            return [_replaced(connection, *text) for text in texts]

    def drop_paper(self, paper_key: str) -> list[str]:
        """Forget the passages of a paper, and that it was cut; their UUIDs."""
        with self.writing() as connection:
            uuids = list(_of(connection, paper_key))
            _remove(connection, uuids)
            connection.execute(delete(_sources).where(_sources.c.paper == paper_key))
        return uuids


def _replaced(
    connection: Connection, paper_key: str, source_digest: str, passages: Sequence[Passage]
) -> Changes:
    new = {made.uuid: made for made in map(_storable, passages)}
    old = _of(connection, paper_key)
    removed = [uuid for uuid in old if uuid not in new]
    added = [uuid for uuid in new if uuid not in old]
    differing = [uuid for uuid in new if uuid in old and new[uuid] != old[uuid]]
    moved = [uuid for uuid in differing if new[uuid].digest == old[uuid].digest]
    _remove(connection, removed)
    if added:
        connection.execute(insert(_passages), [_row(new[uuid]) for uuid in added])
    if differing:
        rows = [{**_row(new[uuid]), "known": uuid} for uuid in differing]
        connection.execute(_replacing(), rows)
    _note_source(connection, paper_key, source_digest)
    fresh = [*added, *(uuid for uuid in differing if uuid not in set(moved))]
    return Changes(
        added=[new[uuid] for uuid in fresh],
        removed=removed,
        kept=len(new) - len(fresh),
        moved=[new[uuid] for uuid in moved],
    )


def _rows(connection: Connection, query: Any) -> Any:
    return connection.execute(query).mappings()


def _of(connection: Connection, paper_key: str) -> dict[str, Passage]:
    query = select(_passages).where(_passages.c.paper == paper_key)
    return {row["uuid"]: _passage(row) for row in _rows(connection, query)}


def _remove(connection: Connection, uuids: Sequence[str]) -> None:
    for some in batches(uuids):
        connection.execute(delete(_passages).where(_passages.c.uuid.in_(some)))


def _note_source(connection: Connection, paper_key: str, digest: str) -> None:
    known = update(_sources).where(_sources.c.paper == paper_key).values(digest=digest)
    if not connection.execute(known).rowcount:
        connection.execute(insert(_sources).values(paper=paper_key, digest=digest))


def _storable(passage: Passage) -> Passage:
    """With text as both databases hold it; one character for one, so that spans stay true."""
    made = {
        name: encodable(value).replace("\0", "\ufffd")
        for name in _NAMES
        if isinstance(value := getattr(passage, name), str)
    }
    types = tuple(encodable(name).replace("\0", "\ufffd") for name in passage.publication_types)
    return replace(passage, **made, publication_types=types)  # type: ignore[arg-type]


def _row(passage: Passage) -> dict[str, Any]:
    row: dict[str, Any] = {name: getattr(passage, name) for name in _NAMES}
    row["publication_types"] = json.dumps(passage.publication_types, ensure_ascii=False)
    return {**row, "uuid": passage.uuid}


def _replacing() -> Update:
    values: dict[str, Any] = {c.name: bindparam(c.name) for c in _passages.c if c.name != "uuid"}
    return update(_passages).where(_passages.c.uuid == bindparam("known")).values(values)


def _passage(row: Any) -> Passage:
    facts = {name: row[name] for name in _NAMES}
    facts["publication_types"] = tuple(json.loads(row["publication_types"] or "[]"))
    return Passage(**facts)
