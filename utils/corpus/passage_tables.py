"""The tables of passages: pieces of the corpus's texts that are found and quoted.

Passages are replaced paper by paper. A passage of a record is stored without the fields
`_IN_RECORD`, which are read from the record. If the record has changed since it was cut, the
passage is stored whole; so are passages whose record is about to change (`store_whole_passages`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from operator import attrgetter
from typing import Any

from sqlalchemy import Connection, Integer, case, cast, delete, exists, func, select

from ..model.passage import Passage, hash_embedding_text
from ..system.plain_text import replace_surrogates
from .bulk_writes import insert_rows, to_stored_text, update_rows
from .names import AlternativeName, increase_name_counts
from .schema import DatabaseConnections
from .schema import passages as _passages
from .schema import records as _records
from .schema import sources as _sources
from .stored_records import (
    MARK_CHARS,
    Source,
    join_title_and_abstract,
    split_into_batches,
)

_NAMES = tuple(field.name for field in fields(Passage))
_values = attrgetter(*_NAMES)
_IN_RECORD = {"text", "title", "journal", "publication_types", "digest"}
_TEXT, _TYPES = _NAMES.index("text"), _NAMES.index("publication_types")
_IS_WITHOUT_WORDS = func.length(_passages.c.text) == 0
_PASSAGE_PMID = case((_IS_WITHOUT_WORDS, cast(func.substr(_passages.c.paper, 6), Integer)))
_SELECT_PASSAGES = select(_passages, _records.c.paper.label("record")).outerjoin(
    _records, _records.c.pmid == _PASSAGE_PMID
)


class PassageTables(DatabaseConnections):
    """The tables of passages, and of the digest of each text that was split into passages."""

    def get_passages(self, uuids: Sequence[str]) -> dict[str, Passage]:
        """Return passages by UUID; unknown UUIDs are left out."""
        found: dict[str, Passage] = {}
        with self.open_reading() as connection:
            for some in split_into_batches(uuids):
                query = _SELECT_PASSAGES.where(_passages.c.uuid.in_(some))
                found.update(
                    (row["uuid"], _to_passage(row))
                    for row in _execute_as_mappings(connection, query)
                )
        return found

    def get_passages_of_paper(self, paper_key: str) -> list[Passage]:
        """Return the passages of a paper, in order."""
        found = self.get_passages_of_papers([paper_key]).get(paper_key, {})
        return sorted(found.values(), key=lambda passage: passage.ordinal)

    def get_passages_of_papers(self, papers: Sequence[str]) -> dict[str, dict[str, Passage]]:
        """Return the passages of papers, by paper and UUID."""
        with self.open_reading() as connection:
            return _read_passages_by_paper(connection, papers)

    def list_passages(self, after_uuid: str = "", limit: int = 1000) -> list[Passage]:
        """Return a page of all passages in order of UUID, starting after *after_uuid*."""
        query = _SELECT_PASSAGES.where(_passages.c.uuid > after_uuid)
        with self.open_reading() as connection:
            found = _execute_as_mappings(connection, query.order_by(_passages.c.uuid).limit(limit))
            return [_to_passage(row) for row in found]

    def count_passages(self) -> int:
        """Return the number of passages."""
        with self.open_reading() as connection:
            return connection.execute(select(func.count()).select_from(_passages)).scalar_one()

    def get_sources(self, papers: Sequence[str]) -> dict[str, Source]:
        """Return, by paper, the facts about the text that was split into the paper's passages."""
        found: dict[str, Source] = {}
        with self.open_reading() as connection:
            for some in split_into_batches(papers):
                rows = connection.execute(select(_sources).where(_sources.c.paper.in_(some)))
                found.update((paper, Source(*source)) for paper, *source in rows)
        return found

    def replace_passages(
        self,
        texts: Sequence[tuple[str, Source, Sequence[Passage]]],
        names: Mapping[AlternativeName, int] | None = None,
    ) -> None:
        """Replace the passages of several papers, all or nothing; only what differs is written.

        Each is a paper's key, the source of its text, and its passages. Of two with one UUID the
        last counts. *names* are the counts of names in the texts.
        """
        sources = {paper: source for paper, source, _ in texts}
        removed: list[str] = []
        added: dict[str, Passage] = {}
        changed: dict[str, Passage] = {}
        with self.open_writing() as connection:
            stored = _read_passages_by_paper(connection, list(sources))
            for paper, _, passages in texts:
                old = stored.get(paper, {})
                new = {one.uuid: one for one in map(_to_storable_passage, passages)}
                removed += old.keys() - new.keys()
                added |= {uuid: one for uuid, one in new.items() if uuid not in old}
                kept = new.keys() & old.keys()
                changed |= {uuid: new[uuid] for uuid in kept if new[uuid] != old[uuid]}
            _delete_passages(connection, removed)
            in_record = _find_papers_with_cut_record(connection, sources)
            _write_passages(connection, added, changed, in_record)
            _store_sources(connection, sources)
            increase_name_counts(connection, names or {})

    def store_sources(self, sources: Mapping[str, Source]) -> None:
        """Store new sources of papers whose passages are unchanged."""
        with self.open_writing() as connection:
            _store_sources(connection, sources)

    def count_indexed_papers(self) -> int:
        """Return the number of papers with passages."""
        with self.open_reading() as connection:
            return connection.execute(select(func.count()).select_from(_sources)).scalar_one()

    def list_papers_without_record(self) -> list[str]:
        """Return the keys of the papers with passages that have no living record."""
        number = case(
            (_sources.c.paper.like("pmid:%"), cast(func.substr(_sources.c.paper, 6), Integer))
        )
        living = exists().where(_records.c.pmid == number, _records.c.gone.is_(False))
        query = select(_sources.c.paper).where(~living).order_by(_sources.c.paper)
        with self.open_reading() as connection:
            return list(connection.execute(query).scalars())

    def delete_paper_passages(self, paper_key: str) -> list[str]:
        """Delete a paper's passages and digest; return the UUIDs of the passages."""
        with self.open_writing() as connection:
            query = select(_passages.c.uuid).where(_passages.c.paper == paper_key)
            uuids = list(connection.execute(query).scalars())
            _delete_passages(connection, uuids)
            connection.execute(delete(_sources).where(_sources.c.paper == paper_key))
        return uuids


def _write_passages(
    connection: Connection,
    added: Mapping[str, Passage],
    changed: Mapping[str, Passage],
    in_record: set[str],
) -> None:
    """Write passages by UUID; of the papers *in_record*, the record has the words of abstracts."""

    def to_values(uuid: str, passage: Passage) -> tuple[Any, ...]:
        if passage.file or passage.paper not in in_record:
            return *_to_passage_values(connection, passage), uuid
        return *("" if name in _IN_RECORD else getattr(passage, name) for name in _NAMES), uuid

    # In order, they are neighbours in the index of UUIDs.
    rows = [to_values(uuid, added[uuid]) for uuid in sorted(added)]
    insert_rows(connection, _passages.name, (*_NAMES, "uuid"), rows)
    rows = [to_values(uuid, passage) for uuid, passage in changed.items()]
    update_rows(connection, _passages.name, _NAMES, ("uuid",), rows)


def _execute_as_mappings(connection: Connection, query: Any) -> Any:
    return connection.execute(query).mappings()


def _read_passages_by_paper(
    connection: Connection, papers: Sequence[str]
) -> dict[str, dict[str, Passage]]:
    """Return the passages of papers, by paper and UUID."""
    found: dict[str, dict[str, Passage]] = {}
    for some in split_into_batches(papers):
        query = _SELECT_PASSAGES.where(_passages.c.paper.in_(some))
        for row in _execute_as_mappings(connection, query):
            found.setdefault(row["paper"], {})[row["uuid"]] = _to_passage(row)
    return found


def _find_papers_with_cut_record(connection: Connection, sources: Mapping[str, Source]) -> set[str]:
    """Return the papers whose stored record has the content from which they were cut."""
    found: set[str] = set()
    pmids = [int(paper[5:]) for paper in sources if paper.startswith("pmid:")]
    for some in split_into_batches(pmids):
        query = select(_records.c.pmid, _records.c.content_hash).where(_records.c.pmid.in_(some))
        for pmid, content_hash in connection.execute(query):
            if content_hash[:MARK_CHARS] == sources[paper := f"pmid:{pmid}"].content_hash:
                found.add(paper)
    return found


def store_whole_passages(connection: Connection, new: Mapping[int, str]) -> None:
    """Store passages whole that would change with their records; *new* are the records by PMID."""
    changed = []
    for some in split_into_batches([f"pmid:{pmid}" for pmid in new]):
        query = _SELECT_PASSAGES.where(_passages.c.paper.in_(some), _IS_WITHOUT_WORDS)
        for row in _execute_as_mappings(connection, query):
            passage = _to_passage(row)
            if passage != _to_passage({**row, "record": new[int(passage.paper[5:])]}):
                changed.append((*_to_passage_values(connection, passage), row["uuid"]))
    update_rows(connection, _passages.name, _NAMES, ("uuid",), changed)


def _delete_passages(connection: Connection, uuids: Sequence[str]) -> None:
    for some in split_into_batches(uuids):
        connection.execute(delete(_passages).where(_passages.c.uuid.in_(some)))


def _store_sources(connection: Connection, sources: Mapping[str, Source]) -> None:
    rows = [(paper, *sources[paper]) for paper in sorted(sources)]
    insert_rows(connection, _sources.name, ("paper", *Source._fields), rows, _REPLACE_SOURCE)


_REPLACE_SOURCE = " ON CONFLICT (paper) DO UPDATE SET " + ", ".join(
    f"{name} = excluded.{name}" for name in Source._fields
)


def _to_storable_passage(passage: Passage) -> Passage:
    """Replace characters that the databases reject, one for one, so that positions stay correct."""
    words = "".join(filter(_is_str, (*_values(passage), *passage.publication_types)))
    if _replace_unstorable_chars(words) is words:
        return passage
    changed = {
        name: clean
        for name in _NAMES
        if isinstance(value := getattr(passage, name), str)
        and (clean := _replace_unstorable_chars(value)) is not value
    }
    types = tuple(map(_replace_unstorable_chars, passage.publication_types))
    return replace(passage, **changed, publication_types=types)  # type: ignore[arg-type]


def _is_str(value: object) -> bool:
    return isinstance(value, str)


def _replace_unstorable_chars(text: str) -> str:
    """Replace characters that cannot be stored; return the same object if all can."""
    clean = replace_surrogates(text).replace("\0", "\ufffd")
    return text if clean == text else clean


def _to_passage_values(connection: Connection, passage: Passage) -> list[Any]:
    """Return the values to store, in the order of `_NAMES`."""
    values: list[Any] = list(_values(passage))
    values[_TEXT] = to_stored_text(connection, passage.text)
    values[_TYPES] = json.dumps(passage.publication_types, ensure_ascii=False)
    return values


def _to_passage(row: Any) -> Passage:
    facts = {name: row[name] for name in _NAMES}
    if row["record"] is None:
        facts["publication_types"] = tuple(json.loads(row["publication_types"] or "[]"))
        return Passage(**facts)
    record = json.loads(row["record"])
    title, abstract = record.get("title", ""), record.get("abstract", "")
    words = join_title_and_abstract(title, abstract)[row["start"] : row["end"]]
    facts |= {"text": words, "title": title, "journal": record.get("journal", "")}
    facts["publication_types"] = tuple(record.get("publication_types", ()))
    facts["digest"] = hash_embedding_text(title, row["section"], words)
    return _to_storable_passage(Passage(**facts))
