"""The texts of a corpus: each record's abstract, or the full text if the shelf has it.

Papers on the shelf that were never synced belong to the corpus too. If the corpus is stored, or
vectors are made, on another machine, a text whose terms forbid passing it on is replaced by its
abstract. Digests show whether a text has changed, without reading the text: the digest of a
record's words, or the file's checksum on the shelf.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any

from ..command_line import command_line
from ..errors import NotFound
from ..model.identifiers import Ids
from ..model.paper import Kind, Paper, StoredPaper
from ..model.passage import Passage
from ..model.sites import get_keeping_terms
from ..model.versions import rank_text
from ..outline.cut import RULES_VERSION, split_passages
from ..shelf.paper_file import TEXT, strip_ending
from .finders import SharedFacts, list_remote_hosts
from .stored_records import day_to_timestamp

if TYPE_CHECKING:
    from ..shelf import Shelf
    from . import Corpus
    from .database import CorpusDatabase
    from .searchable import Searchable, SearchedTexts

_PAGE = 500
_KINDS = ("pmid", "doi", "arxiv", "pmcid", "s2")


@dataclass(frozen=True, slots=True)
class PaperText:
    """The text of one paper, to be split into passages.

    ``paper`` is the record; ``stored`` is the file on the shelf, None if only the abstract exists.
    ``shown`` is True if the finder publishes facts of the record (`collect_shared_facts`), so that
    every revision of the record is a change.
    """

    key: str
    paper: Paper
    stored: StoredPaper | None = None
    shown: bool = False

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
        """The facts about the paper that every passage carries."""
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

    def read(self, shelf: SearchedTexts) -> str:
        """Return the whole text, to which the passages' positions refer.

        Raises
        ------
        StoreFailed
            The file cannot be read.
        """
        return shelf.read_text(self.stored) if self.stored else join_title_and_abstract(self.paper)

    def split_into_passages(self, shelf: SearchedTexts) -> list[Passage]:
        """Return the passages of the text."""
        return split_passages(
            self.read(shelf),
            paper=self.key,
            title=self.paper.title,
            kind=self.kind,
            file=self.file,
            **self.about,
        )


@dataclass
class CorpusTexts:
    """All texts of a corpus; iteration reads records and catalogue page by page.

    Memory holds the identifiers of the papers on the shelf, and no records, of which there may be
    millions.
    """

    corpus: Corpus
    _names: set[str] = field(default_factory=set)
    _keys: set[str] = field(default_factory=set)
    _files: dict[str, str] = field(default_factory=dict)
    _fits: dict[str, tuple[bool, bool, bool, int]] = field(default_factory=dict)
    total: int = 0
    withheld: int = 0

    def count_and_match_files(self) -> None:
        """Find the full texts on the shelf, and count the papers to process."""
        self._files, self._fits, self._names, self._keys = {}, {}, set(), set()
        self.total = self.withheld = 0
        for stored in _iterate_stored_papers(self.corpus.shelf):
            self.total += 1
            self._names.update(stored.paper.ids.names())
            if self._get_shareable_full_text(stored):
                self._keep_if_best(stored)
            else:
                self.withheld += stored.kind == "full_text"
        counts = self.corpus.database.count_rows()
        self.total += counts.records - counts.gone

    def _keep_if_best(self, stored: StoredPaper) -> None:
        """Remember a full text if it is the best text of its paper so far."""
        fit = rank_text("published", stored)
        for name in stored.paper.ids.names():
            if fit >= self._fits.get(name, fit):
                self._files[name], self._fits[name] = get_stored_file_name(stored), fit

    def _has_better_text(self, stored: StoredPaper) -> bool:
        """Return whether the shelf has a better text of the same paper."""
        fit = rank_text("published", stored)
        return any(self._fits.get(name, fit) > fit for name in stored.paper.ids.names())

    def __iter__(self) -> Iterator[PaperText | None]:
        """Yield each text once; None for a paper on the shelf whose record was yielded before."""
        self.count_and_match_files()
        seen: set[str] = set()
        for paper in _iterate_records(self.corpus):
            text = self._get_text_of_record(paper)
            seen.update(self._names.intersection(paper.ids.names()))
            if text.stored:
                seen.update(text.stored.paper.ids.names())
            yield text
        for stored in _iterate_stored_papers(self.corpus.shelf):
            key, names = (
                get_paper_key(stored.paper.ids) or f"file:{get_stored_file_name(stored)}",
                stored.paper.ids.names(),
            )
            is_known = key in self._keys or not seen.isdisjoint(names)
            if is_known or self._has_better_text(stored):
                yield None
                continue
            self._keys.add(key)
            is_new = not self._names.issuperset(
                names
            )  # added since the survey, so its record may be new, too
            yield (
                None
                if is_new
                else PaperText(key, stored.paper, self._get_shareable_full_text(stored))
            )

    def iterate_with_digests(self) -> Iterator[tuple[PaperText | None, str | None]]:
        """Yield each text with the digest of its earlier passages; None if it has none."""
        texts = iter(self)
        while page := list(islice(texts, _PAGE)):
            keys = [text.key for text in page if text]
            digests = self.corpus.database.get_source_digests(keys)
            yield from ((text, digests.get(text.key) if text else None) for text in page)

    def find_removed_papers(self) -> Iterator[str]:
        """Yield the keys of papers that no longer have a text; call this after the iteration."""
        database, last = self.corpus.database, ""
        while page := database.list_indexed_papers(last):
            last = page[-1]
            pmids = [key.removeprefix("pmid:") for key in page if key.startswith("pmid:")]
            living = {f"pmid:{pmid}" for pmid in database.select_not_deleted(pmids)}
            yield from (key for key in page if key not in living and key not in self._keys)

    def _get_text_of_record(self, paper: Paper) -> PaperText:
        key = f"pmid:{paper.ids.pmid}"
        for name in paper.ids.names():
            if name in self._files:
                stored = self.corpus.shelf.find_by_file(self._files[name])
                if stored and not stored.paper.ids.clash(paper.ids):
                    return PaperText(
                        key, paper, self._get_shareable_full_text(stored), self.is_shared
                    )
        return PaperText(key, paper, shown=self.is_shared)

    @property
    def is_shared(self) -> bool:
        """True if the finder is a shared store, whose users see facts from the records."""
        return self.corpus.settings.vector_store == "weaviate"

    @cached_property
    def remote_hosts(self) -> list[str]:
        """The other machines that receive the texts."""
        return list_remote_hosts(self.corpus.settings)

    def _get_shareable_full_text(self, stored: StoredPaper) -> StoredPaper | None:
        """Return the stored paper if it is a full text that may be sent to the remote hosts."""
        bound = self.remote_hosts and get_keeping_terms(stored.via, stored.license)
        return stored if stored.kind == "full_text" and not bound else None


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


def join_title_and_abstract(paper: Paper) -> str:
    """Return title, blank line and abstract: the text of a paper without a file."""
    return f"{paper.title}\n\n{paper.abstract}".rstrip()


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
        stored = corpus.shelf.find_by_file(passage.file)
        if stored and stored.kind == "full_text":
            return corpus.shelf.read_text(stored)
        raise NotFound(f"{passage.file} is no longer a full text of the shelf.", "Index again.")
    ids = Ids.parse(passage.paper)
    record = corpus.database.get_record(ids.pmid) if ids.pmid else None
    if record and not record.gone:
        return join_title_and_abstract(record.paper)
    if stored := corpus.shelf.find_text(ids):
        return join_title_and_abstract(stored.paper)
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
    stored = corpus.shelf.find_by_file(paper.strip()) or corpus.shelf.find_text(
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


def _iterate_records(corpus: Corpus) -> Iterator[Paper]:
    last = ""
    while page := corpus.database.list_records(last, _PAGE):
        last = page[-1].paper.ids.pmid
        yield from (record.paper for record in page if not record.gone)


def _iterate_stored_papers(shelf: Shelf) -> Iterator[StoredPaper]:
    start = 0
    while True:
        _, page = shelf.list_papers(start=start, max_results=_PAGE)
        if not page:
            return
        yield from page
        start += len(page)
