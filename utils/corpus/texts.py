"""The texts of a corpus: each record's abstract, or the full text if the shelf has it.

Papers on the shelf that were never synced belong to the corpus too. If the corpus is stored, or
vectors are made, on another machine, a text that may not be passed on, or states no licence, is
replaced by its abstract (`..model.permissions`). Digests show whether a text has changed, without
reading the text: the digest of a record's words, or the file's checksum on the shelf.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ..command_line import command_line
from ..errors import NotFound
from ..model.identifiers import Ids
from ..model.paper import Kind, Paper, StoredPaper
from ..model.passage import Passage
from ..model.permissions import get_permissions
from ..model.versions import build_text_sort_key
from ..outline.cut import RULES_VERSION, split_into_passages
from ..shelf.paper_file import TEXT, strip_ending
from .finders import SharedFacts, list_remote_hosts
from .stored_records import (
    MARK_CHARS,
    LivingRecords,
    RecordState,
    Source,
    day_to_timestamp,
    join_title_and_abstract,
)

if TYPE_CHECKING:
    from ..shelf.record import ShelfEntry
    from . import Corpus
    from .database import CorpusDatabase
    from .searchable import Searchable, SearchedTexts
    from .stored_records import CorpusRecord

_PAGE = 500
_FIELDS_OUTSIDE_TEXTS = ("authors", "mesh", "keywords", "other_abstracts")
"""Fields of records that neither passages nor their facts have."""
_MARK_BEGINNING = f"{RULES_VERSION} "
_KINDS = ("pmid", "doi", "arxiv", "pmcid", "s2")


@dataclass(frozen=True, slots=True)
class PaperText:
    """The text of one paper, to be split into passages.

    ``paper`` is the record (`CorpusTexts` leaves out authors and headings); ``stored`` is the file
    on the shelf, None if only the abstract exists. ``shown`` is True if the finder publishes facts
    of the record (`collect_shared_facts`), so that every revision of the record is a change.
    ``mark`` identifies the record and the file.
    """

    key: str
    paper: Paper
    stored: StoredPaper | None = None
    shown: bool = False
    mark: str = ""

    @property
    def kind(self) -> Kind:
        """The kind of the text: full text or abstract."""
        return "full_text" if self.stored else "abstract"

    @property
    def file(self) -> str:
        """The file's name on the shelf; empty for an abstract."""
        return get_stored_file_name(self.stored) if self.stored else ""

    @property
    def about(self) -> dict[str, Any]:
        """The facts about the paper that are stored with each passage."""
        year = self.paper.year
        retracted = self.paper.retracted or (
            self.stored is not None and self.stored.paper.retracted
        )
        return {
            "year": int(year) if year.isascii() and year.isdigit() else None,
            "journal": self.paper.journal,
            "publication_types": self.paper.publication_types,
            "retracted": retracted,
        }

    @property
    def digest(self) -> str:
        """A digest of the text (or file checksum), the paper's facts and the splitting rules."""
        text = self.stored.sha256 if self.stored else self.paper.abstract
        # A text that becomes a note, or a text file again, has the same passages.
        file = strip_ending(self.file) + TEXT if self.file else ""
        parts = [RULES_VERSION, file, text, self.paper.title, sorted(self.about.items())]
        if self.shown:
            parts += [self.paper.entered, self.paper.revised]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()

    @property
    def source(self) -> Source:
        """The facts to store about the text, by which an unchanged text is recognised."""
        return Source(self.digest, self.mark, " ".join(self.paper.ids.names()))

    def read(self, shelf: SearchedTexts) -> str:
        """Return the whole text, to which the passages' positions refer.

        Raises
        ------
        StoreFailed
            The file cannot be read.
        """
        if self.stored:
            return shelf.read_text(self.stored)
        return join_title_and_abstract(self.paper.title, self.paper.abstract)

    def split_into_passages(self, shelf: SearchedTexts) -> list[Passage]:
        """Return the passages of the text."""
        return split_into_passages(
            self.read(shelf),
            paper=self.key,
            title=self.paper.title,
            kind=self.kind,
            file=self.file,
            **self.about,
        )


@dataclass
class CorpusTexts:
    """All texts of a corpus; iteration reads records and files page by page.

    Memory holds the entries of the shelf, and no records, of which there may be millions.
    """

    corpus: Corpus
    _entries: list[ShelfEntry] = field(default_factory=list)
    _by_name: dict[str, list[ShelfEntry]] = field(default_factory=dict)
    _names: set[str] = field(default_factory=set)
    _seen: set[str] = field(default_factory=set)
    _keys: set[str] = field(default_factory=set)
    _living: LivingRecords = field(default=LivingRecords(0, 0, 0))
    _indexed: int = 0  # papers with passages before the run
    _found: int = 0  # those of them that have a record, or a text on the shelf
    total: int = 0
    done: int = 0
    withheld: int = 0

    def iterate_with_sources(
        self, *, skip_unchanged: bool = False
    ) -> Iterator[tuple[PaperText | None, Source | None]]:
        """Yield each text once, with the stored source of its passages; None if it has none.

        A pair without a text stands for a paper on the shelf whose record was yielded before. With
        *skip_unchanged*, texts whose mark is the stored one are counted in ``done``, not read.
        """
        self._survey()
        for text, source in self._iterate_texts_of_records(skip_unchanged):
            self.done += 1
            yield text, source
        for start in range(0, len(self._entries), _PAGE):
            page = self._entries[start : start + _PAGE]
            keys = [get_paper_key(entry.ids) or f"file:{entry.file}" for entry in page]
            sources = self.corpus.database.get_sources(keys)
            for key, entry in zip(keys, page, strict=True):
                self.done += 1
                known = len(self._keys)
                text = self._get_text_of_entry(key, entry, sources.get(key), skip_unchanged)
                self._found += key in sources and len(self._keys) > known
                if text or not skip_unchanged:
                    yield text, sources.get(key)

    def find_removed_papers(self) -> Iterator[str]:
        """Yield the keys of papers that no longer have a text; call this after the iteration."""
        if self._indexed > self._found:  # else no stored source is left over
            keys = self.corpus.database.list_papers_without_record()
            yield from (key for key in keys if key not in self._keys)

    def _survey(self) -> None:
        """Read the shelf's entries, and count the papers to process."""
        self._entries = self.corpus.shelf.list_entries()
        self._by_name, self._names, self._seen, self._keys = {}, set(), set(), set()
        self.withheld = self.done = 0
        for entry in self._entries:
            self._names.update(entry.ids.names())
            if self._is_shareable(entry):
                for name in entry.ids.names():
                    self._by_name.setdefault(name, []).append(entry)
            else:
                self.withheld += entry.kind == "full_text"
        database = self.corpus.database
        self._indexed = database.count_indexed_papers()
        self._living = database.count_living_records(_MARK_BEGINNING)
        self._found = self._living.indexed
        self.total = len(self._entries) + self._living.every

    def _iterate_texts_of_records(
        self, skip_unchanged: bool
    ) -> Iterator[tuple[PaperText | None, Source | None]]:
        database, last = self.corpus.database, 0
        # A record without a file can be compared by the database: most of a large corpus.
        alone = skip_unchanged and not self._names and not self.is_shared
        if alone:
            self.done += self._living.unchanged
        while page := database.list_record_states(last, _PAGE, _MARK_BEGINNING if alone else ""):
            last = page[-1].pmid
            changed = [one for one in page if not (skip_unchanged and self._is_unchanged(one))]
            self.done += len(page) - len(changed)
            pmids = [str(one.pmid) for one in changed]
            records = database.get_records(pmids, without=_FIELDS_OUTSIDE_TEXTS)
            for state in changed:
                record = records.get(str(state.pmid))
                yield self._get_text_of_record(record) if record else None, state.source

    def _is_unchanged(self, state: RecordState) -> bool:
        """Return whether record and file are those that were read for the stored passages."""
        if not state.digest:
            return False
        names, entry = state.names.split(" ") if self._names else [], None
        if not self._by_name.keys().isdisjoint(names):
            entry = self._find_entry(Ids(**dict(name.split(":", 1) for name in names)))
        if state.mark != self._build_mark(state.content_hash, state.lr, entry):
            return False
        if names:
            self._seen.update(self._names.intersection(names), entry.ids.names() if entry else ())
        return True

    def _build_mark(self, content_hash: str, lr: str, entry: ShelfEntry | None) -> str:
        """Return the mark of a text; a full text and its abstract have different marks."""
        record = f"{_MARK_BEGINNING}{content_hash[:MARK_CHARS]}{lr if self.is_shared else ''}"
        if entry is None:
            return record
        return f"{record} {self._is_shareable(entry):d} {entry.digest[:MARK_CHARS]}"

    def _get_text_of_record(self, record: CorpusRecord) -> PaperText:
        paper, stored = record.paper, None
        if entry := self._find_entry(paper.ids):
            stored = self.corpus.shelf.find_paper_by_file(entry.file)
        mark = self._build_mark(record.content_hash, record.lr, entry)
        if self._names:  # of papers on the shelf
            self._seen.update(self._names.intersection(paper.ids.names()))
            self._seen.update(stored.paper.ids.names() if stored else ())
        if entry and not stored:  # deleted since the survey: the next run reads this paper again
            mark = ""
        return PaperText(f"pmid:{paper.ids.pmid}", paper, stored, self.is_shared, mark)

    def _get_text_of_entry(
        self, key: str, entry: ShelfEntry, source: Source | None, skip_unchanged: bool
    ) -> PaperText | None:
        is_known = key in self._keys or not self._seen.isdisjoint(entry.ids.names())
        if is_known or self._has_better_text(entry):
            return None
        mark = self._build_mark("", "", entry)
        if skip_unchanged and source and source.digest and source.mark == mark:
            self._keys.add(key)
            return None
        if not (stored := self.corpus.shelf.find_paper_by_file(entry.file)):
            return None
        self._keys.add(key)
        is_text = self._is_shareable(entry) and stored.kind == "full_text"
        return PaperText(key, stored.paper, stored if is_text else None, mark=mark)

    def _find_entry(self, ids: Ids) -> ShelfEntry | None:
        """Return the best full text of the paper with these identifiers."""
        for name in ids.names() if self._by_name else ():
            entry = self._choose_best_entry(self._by_name.get(name, ()))
            if entry and not entry.ids.clash(ids):
                return entry
        return None

    def _has_better_text(self, entry: ShelfEntry) -> bool:
        """Return whether the shelf has a better text of the same paper."""
        found = (one for name in entry.ids.names() for one in self._by_name.get(name, ()))
        others = {one.file: one for one in found if one is not entry}
        return bool(others) and self._choose_best_entry([*others.values(), entry]) is not entry

    def _choose_best_entry(self, entries: Sequence[ShelfEntry]) -> ShelfEntry | None:
        """Return the entry with the best text, the last of equally good ones."""
        if len(entries) < 2:
            return entries[0] if entries else None
        return max(enumerate(entries), key=lambda pair: (self._rank_entry(pair[1]), pair[0]))[1]

    def _rank_entry(self, entry: ShelfEntry) -> tuple[bool, bool, bool, int]:
        stored = self.corpus.shelf.find_paper_by_file(entry.file)
        return build_text_sort_key("published", stored) if stored else (False, False, False, 0)

    def _is_shareable(self, entry: ShelfEntry) -> bool:
        """Return whether the text is a full text that may be sent to the remote hosts."""
        if entry.kind != "full_text" or not self.remote_hosts:
            return entry.kind == "full_text"
        return get_permissions(entry.license, entry.via).may_share.answer == "yes"

    @cached_property
    def is_shared(self) -> bool:
        """True if the finder is a shared store, whose users see facts from the records."""
        return self.corpus.settings.vector_store == "weaviate"

    @cached_property
    def remote_hosts(self) -> list[str]:
        """The other machines that receive the texts."""
        return list_remote_hosts(self.corpus.settings)


def get_paper_key(ids: Ids) -> str:
    """Return the key of a paper in the corpus: its PMID, else its most permanent identifier.

    >>> get_paper_key(Ids(doi="10.1000/a", pmid="7")), get_paper_key(Ids(doi="10.1000/a"))
    ('pmid:7', 'doi:10.1000/a')
    """
    return next((f"{name}:{getattr(ids, name)}" for name in _KINDS if getattr(ids, name)), "")


def collect_shared_facts(papers: Sequence[str], database: CorpusDatabase) -> dict[str, SharedFacts]:
    """Return the facts of papers with a record that a shared store returns."""
    from .quality import get_utc_today, score_quality

    pmids = {key.removeprefix("pmid:"): key for key in papers if key.startswith("pmid:")}
    return {
        pmids[pmid]: SharedFacts(
            edat=day_to_timestamp(record.edat) or "",
            lr=day_to_timestamp(record.lr) or "",
            quality=score_quality(record.paper, get_utc_today()).total,
        )
        for pmid, record in database.get_records(list(pmids)).items()
    }


def read_passage_text(passage: Passage, corpus: Searchable) -> str:
    """Return the current text to which a passage's positions refer.

    Raises
    ------
    NotFound
        The file or record was removed, or the judges rejected the text.
    StoreFailed
        The file cannot be read.
    """
    if passage.file:
        stored = corpus.shelf.find_paper_by_file(passage.file)
        if stored and stored.kind == "full_text":
            return corpus.shelf.read_text(stored)
        raise NotFound(f"{passage.file} is no longer a full text of the shelf.", "Index again.")
    ids = Ids.parse(passage.paper)
    record = corpus.database.get_record(ids.pmid) if ids.pmid else None
    if record and not record.gone:
        return join_title_and_abstract(record.paper.title, record.paper.abstract)
    if stored := corpus.shelf.find_text(ids):
        return join_title_and_abstract(stored.paper.title, stored.paper.abstract)
    raise NotFound(f"{passage.paper} is no longer in the corpus.", "Index again.")


def find_paper_text(paper: str, corpus: Searchable) -> PaperText:
    """Return the text of one paper: its file on the shelf, else the abstract of its record.

    Raises
    ------
    BadRequest
        *paper* is neither an identifier nor a file on the shelf.
    NotFound
        The paper is neither on the shelf nor in the corpus.
    """
    stored = corpus.shelf.find_paper_by_file(paper.strip()) or corpus.shelf.find_text(
        ids := Ids.parse(paper)
    )
    if stored:
        key = get_paper_key(stored.paper.ids) or f"file:{get_stored_file_name(stored)}"
        return PaperText(key, stored.paper, stored if stored.kind == "full_text" else None)
    record = corpus.database.get_record(ids.pmid) if ids.pmid else None
    if record and not record.gone:
        return PaperText(get_paper_key(record.paper.ids), record.paper)
    hint = f"Download it first: {command_line(f'download {ids.key}')}."
    raise NotFound(f"{ids} is not on the shelf.", hint)


def get_stored_file_name(stored: StoredPaper) -> str:
    """Return the name of a stored paper's file."""
    return stored.path.replace("\\", "/").rpartition("/")[2]
