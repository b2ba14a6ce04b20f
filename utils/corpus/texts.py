"""The texts of a corpus: every record's abstract, or the full text if the shelf has it.

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
from .finders import Shown, list_hosts
from .stored_records import to_timestamp

if TYPE_CHECKING:
    from ..shelf import Shelf
    from . import Corpus
    from .database import CorpusDatabase
    from .searchable import Searchable, SearchedTexts

_PAGE = 500
_KINDS = ("pmid", "doi", "arxiv", "pmcid", "s2")


@dataclass(frozen=True, slots=True)
class Text:
    """The text of one paper that is cut into passages.

    ``paper`` is the record; ``stored`` is the file on the shelf, None if only the abstract exists.
    ``shown`` is True if the finder publishes facts of the record (`collect_shown_facts`), so that
    every revision of the record is a change.
    """

    key: str
    paper: Paper
    stored: StoredPaper | None = None
    shown: bool = False

    @property
    def kind(self) -> Kind:
        """The kind of text that is cut."""
        return "full_text" if self.stored else "abstract"

    @property
    def file(self) -> str:
        """The file's name on the shelf; empty for an abstract."""
        return get_file_name(self.stored) if self.stored else ""

    @property
    def about(self) -> dict[str, Any]:
        """The facts of the paper that every passage carries."""
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
        """The digest of the text (or its file's checksum), the paper's facts and the cut rules."""
        text = self.stored.sha256 if self.stored else self.paper.abstract
        # A text that becomes a note, or a text file again, has the same passages.
        file = strip_ending(self.file) + TEXT if self.file else ""
        parts = [RULES_VERSION, file, text, self.paper.title, sorted(self.about.items())]
        if self.shown:
            parts += [self.paper.entered, self.paper.revised]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()

    def read(self, shelf: SearchedTexts) -> str:
        """Return the text that passages point into.

        Raises
        ------
        StoreFailed
            The file cannot be read.
        """
        return shelf.read_text(self.stored) if self.stored else join_title_and_abstract(self.paper)

    def cut(self, shelf: SearchedTexts) -> list[Passage]:
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
class Texts:
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

    def survey(self) -> None:
        """Find the full texts on the shelf, and count the papers to process."""
        self._files, self._fits, self._names, self._keys = {}, {}, set(), set()
        self.total = self.withheld = 0
        for stored in _iterate_stored(self.corpus.shelf):
            self.total += 1
            self._names.update(stored.paper.ids.names())
            if self._shareable_full_text(stored):
                self._remember_best_text(stored)
            else:
                self.withheld += stored.kind == "full_text"
        counts = self.corpus.database.counts()
        self.total += counts.records - counts.gone

    def _remember_best_text(self, stored: StoredPaper) -> None:
        """Remember a full text as the text to cut, if it is the best of its paper so far."""
        fit = rank_text("published", stored)
        for name in stored.paper.ids.names():
            if fit >= self._fits.get(name, fit):
                self._files[name], self._fits[name] = get_file_name(stored), fit

    def _is_superseded(self, stored: StoredPaper) -> bool:
        """Return whether there is a better text of the same paper."""
        fit = rank_text("published", stored)
        return any(self._fits.get(name, fit) > fit for name in stored.paper.ids.names())

    def __iter__(self) -> Iterator[Text | None]:
        """Yield each text once; None for a paper of the shelf that came as a record before."""
        self.survey()
        seen: set[str] = set()
        for paper in _iterate_records(self.corpus):
            text = self._text_of_record(paper)
            seen.update(self._names.intersection(paper.ids.names()))
            if text.stored:
                seen.update(text.stored.paper.ids.names())
            yield text
        for stored in _iterate_stored(self.corpus.shelf):
            key, names = (
                get_paper_key(stored.paper.ids) or f"file:{get_file_name(stored)}",
                stored.paper.ids.names(),
            )
            is_known = key in self._keys or not seen.isdisjoint(names)
            if is_known or self._is_superseded(stored):
                yield None
                continue
            self._keys.add(key)
            is_new = not self._names.issuperset(
                names
            )  # added since the survey, so its record may be new, too
            yield None if is_new else Text(key, stored.paper, self._shareable_full_text(stored))

    def yield_with_digests(self) -> Iterator[tuple[Text | None, str | None]]:
        """Yield each text with the digest of its earlier passages; None without any."""
        texts = iter(self)
        while page := list(islice(texts, _PAGE)):
            keys = [text.key for text in page if text]
            digests = self.corpus.database.source_digests(keys)
            yield from ((text, digests.get(text.key) if text else None) for text in page)

    def find_gone(self) -> Iterator[str]:
        """Yield the keys of papers that have no text any more; call this after the iteration."""
        database, last = self.corpus.database, ""
        while page := database.every_source(last):
            last = page[-1]
            pmids = [key.removeprefix("pmid:") for key in page if key.startswith("pmid:")]
            living = {f"pmid:{pmid}" for pmid in database.living(pmids)}
            yield from (key for key in page if key not in living and key not in self._keys)

    def _text_of_record(self, paper: Paper) -> Text:
        key = f"pmid:{paper.ids.pmid}"
        for name in paper.ids.names():
            if name in self._files:
                stored = self.corpus.shelf.find_by_file(self._files[name])
                if stored and not stored.paper.ids.clash(paper.ids):
                    return Text(key, paper, self._shareable_full_text(stored), self.shown)
        return Text(key, paper, shown=self.shown)

    @property
    def shown(self) -> bool:
        """True if the finder shows others what records say."""
        return self.corpus.settings.vector_store == "weaviate"

    @cached_property
    def hosts(self) -> list[str]:
        """The other machines that the texts are sent to."""
        return list_hosts(self.corpus.settings)

    def _shareable_full_text(self, stored: StoredPaper) -> StoredPaper | None:
        """Return the stored paper, if it is a full text that may be sent to the corpus's hosts."""
        bound = self.hosts and get_keeping_terms(stored.via, stored.license)
        return stored if stored.kind == "full_text" and not bound else None


def get_paper_key(ids: Ids) -> str:
    """Return the key of a paper in the corpus: its PMID, else its most permanent identifier.

    >>> get_paper_key(Ids(doi="10.1000/a", pmid="7")), get_paper_key(Ids(doi="10.1000/a"))
    ('pmid:7', 'doi:10.1000/a')
    """
    return next((f"{name}:{getattr(ids, name)}" for name in _KINDS if getattr(ids, name)), "")


def collect_shown_facts(papers: Sequence[str], database: CorpusDatabase) -> dict[str, Shown]:
    """Return the facts that a shared store shows of papers with a record."""
    from .quality import get_today, score_quality

    pmids = {key.removeprefix("pmid:"): key for key in papers if key.startswith("pmid:")}
    return {
        pmids[pmid]: Shown(
            edat=to_timestamp(record.edat) or "",
            lr=to_timestamp(record.lr) or "",
            quality=score_quality(record.paper, get_today()).total,
        )
        for pmid, record in database.records(list(pmids)).items()
    }


def join_title_and_abstract(paper: Paper) -> str:
    """Return title, blank line and abstract: the text of a paper without a file."""
    return f"{paper.title}\n\n{paper.abstract}".rstrip()


def read_text_of(passage: Passage, corpus: Searchable) -> str:
    """Return the current text that a passage points into.

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
    record = corpus.database.record(ids.pmid) if ids.pmid else None
    if record and not record.gone:
        return join_title_and_abstract(record.paper)
    if stored := corpus.shelf.find_text(ids):
        return join_title_and_abstract(stored.paper)
    raise NotFound(f"{passage.paper} is no longer in the corpus.", "Index again.")


def find_text(paper: str, corpus: Searchable) -> Text:
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
        key = get_paper_key(stored.paper.ids) or f"file:{get_file_name(stored)}"
        return Text(key, stored.paper, stored if stored.kind == "full_text" else None)
    record = corpus.database.record(ids.pmid) if ids.pmid else None
    if record and not record.gone:
        return Text(get_paper_key(record.paper.ids), record.paper)
    hint = f"Download it first: {command_line(f'download {ids.key}')}."
    raise NotFound(f"{ids} is not on the shelf.", hint)


def get_file_name(stored: StoredPaper) -> str:
    """Return the name of a stored paper's file."""
    return stored.path.replace("\\", "/").rpartition("/")[2]


def _iterate_records(corpus: Corpus) -> Iterator[Paper]:
    last = ""
    while page := corpus.database.every_record(last, _PAGE):
        last = page[-1].paper.ids.pmid
        yield from (record.paper for record in page if not record.gone)


def _iterate_stored(shelf: Shelf) -> Iterator[StoredPaper]:
    start = 0
    while True:
        _, page = shelf.list_papers(start=start, max_results=_PAGE)
        if not page:
            return
        yield from page
        start += len(page)
