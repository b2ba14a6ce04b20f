"""The passages of a corpus in SQL: replaced paper by paper, listed, looked up."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from sqlalchemy import Connection, Update, bindparam, delete, insert, select, update

from ..model.passage import Passage
from ..system.plain_text import encodable
from .connections import Connections
from .schema import passages as _passages
from .schema import sources as _sources
from .stored_records import Changes, batches

_NAMES = tuple(field.name for field in fields(Passage))


class PassageTables(Connections):
    """The tables of passages and of the digests of the texts they were cut from."""

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
            found = _by_paper(connection, [paper_key]).get(paper_key, {})
            return sorted(found.values(), key=lambda passage: passage.ordinal)

    def every_passage(self, after_uuid: str = "", limit: int = 1000) -> list[Passage]:
        """A page of all passages, by UUID; the next begins after its last."""
        query = select(_passages).where(_passages.c.uuid > after_uuid)
        with self.reading() as connection:
            found = _rows(connection, query.order_by(_passages.c.uuid).limit(limit))
            return [_passage(row) for row in found]

    def source_digests(self) -> dict[str, str]:
        """By paper, the digest of the text its passages were made of."""
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
        """`replace_passages` of several papers, each there once, in one transaction.

        Each is a paper's key, the digest of its text, and its passages.
        """
        with self.writing() as connection:
            old = _by_paper(connection, [paper for paper, _, _ in texts])
            differences = [
                _difference(old.get(paper, {}), passages) for paper, _, passages in texts
            ]
            _write(connection, differences)
            _note_sources(connection, {paper: digest for paper, digest, _ in texts})
        return [difference.changes() for difference in differences]

    def drop_paper(self, paper_key: str) -> list[str]:
        """Delete the passages of a paper and its digest; returns their UUIDs."""
        with self.writing() as connection:
            uuids = list(_by_paper(connection, [paper_key]).get(paper_key, {}))
            _remove(connection, uuids)
            connection.execute(delete(_sources).where(_sources.c.paper == paper_key))
        return uuids


@dataclass(frozen=True, slots=True)
class _Difference:
    """What must be written of one paper; passages by UUID."""

    removed: list[str]
    added: dict[str, Passage]
    changed: dict[str, Passage]
    moved: dict[str, Passage]
    same: int

    def changes(self) -> Changes:
        fresh = [*self.added.values(), *self.changed.values()]
        kept = self.same + len(self.moved)
        return Changes(fresh, self.removed, kept, list(self.moved.values()))


def _difference(old: Mapping[str, Passage], passages: Sequence[Passage]) -> _Difference:
    new = {one.uuid: one for one in map(_storable, passages)}
    common = {uuid: one for uuid, one in new.items() if uuid in old}
    differing = {uuid: one for uuid, one in common.items() if one != old[uuid]}
    moved = {uuid: one for uuid, one in differing.items() if one.digest == old[uuid].digest}
    return _Difference(
        removed=[uuid for uuid in old if uuid not in new],
        added={uuid: one for uuid, one in new.items() if uuid not in old},
        changed={uuid: one for uuid, one in differing.items() if uuid not in moved},
        moved=moved,
        same=len(common) - len(differing),
    )


def _write(connection: Connection, differences: Sequence[_Difference]) -> None:
    """Write all papers' rows in one statement of each kind: statements cost, not rows."""
    _remove(connection, [uuid for each in differences for uuid in each.removed])
    added = [_row(passage, uuid) for each in differences for uuid, passage in each.added.items()]
    if added:
        connection.execute(insert(_passages), added)
    rows = [
        {**_row(passage, uuid), "key": uuid}
        for each in differences
        for uuid, passage in (*each.changed.items(), *each.moved.items())
    ]
    if rows:
        connection.execute(_update_by_uuid(), rows)


def _rows(connection: Connection, query: Any) -> Any:
    return connection.execute(query).mappings()


def _by_paper(connection: Connection, papers: Sequence[str]) -> dict[str, dict[str, Passage]]:
    """The passages of papers, by paper and UUID."""
    found: dict[str, dict[str, Passage]] = {}
    for some in batches(papers):
        query = select(_passages).where(_passages.c.paper.in_(some))
        for row in _rows(connection, query):
            found.setdefault(row["paper"], {})[row["uuid"]] = _passage(row)
    return found


def _remove(connection: Connection, uuids: Sequence[str]) -> None:
    for some in batches(uuids):
        connection.execute(delete(_passages).where(_passages.c.uuid.in_(some)))


def _note_sources(connection: Connection, digests: Mapping[str, str]) -> None:
    stored: set[str] = set()
    for some in batches(list(digests)):
        query = select(_sources.c.paper).where(_sources.c.paper.in_(some))
        stored.update(connection.execute(query).scalars())
    rows = [{"source": paper, "new": digest} for paper, digest in digests.items()]
    change = update(_sources).where(_sources.c.paper == bindparam("source"))
    if changed := [row for row in rows if row["source"] in stored]:
        connection.execute(change.values(digest=bindparam("new")), changed)
    fresh = {paper: digest for paper, digest in digests.items() if paper not in stored}
    if fresh:
        new = [{"paper": paper, "digest": digest} for paper, digest in fresh.items()]
        connection.execute(insert(_sources), new)


def _storable(passage: Passage) -> Passage:
    """Replace characters that the databases refuse, one by one, so that spans stay true."""
    changed = {
        name: clean
        for name in _NAMES
        if isinstance(value := getattr(passage, name), str) and (clean := _text(value)) is not value
    }
    types = tuple(map(_text, passage.publication_types))
    if not changed and types == passage.publication_types:
        return passage
    return replace(passage, **changed, publication_types=types)  # type: ignore[arg-type]


def _text(text: str) -> str:
    """Replace what cannot be stored; the same object where nothing has to be."""
    clean = encodable(text).replace("\0", "\ufffd")
    return text if clean == text else clean


def _row(passage: Passage, uuid: str) -> dict[str, Any]:
    row: dict[str, Any] = {name: getattr(passage, name) for name in _NAMES}
    row["publication_types"] = json.dumps(passage.publication_types, ensure_ascii=False)
    return {**row, "uuid": uuid}


def _update_by_uuid() -> Update:
    values: dict[str, Any] = {c.name: bindparam(c.name) for c in _passages.c if c.name != "uuid"}
    return update(_passages).where(_passages.c.uuid == bindparam("key")).values(values)


def _passage(row: Any) -> Passage:
    facts = {name: row[name] for name in _NAMES}
    facts["publication_types"] = tuple(json.loads(row["publication_types"] or "[]"))
    return Passage(**facts)
