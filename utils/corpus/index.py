"""Index records and full texts that changed: cut them into passages and embed them.

SQL is authoritative, and the finder is derived from it. Passages are removed from the finder before
SQL, and written to SQL before the finder. So the finder never holds a passage that SQL lacks, and
if both have the same count of passages, they hold the same passages. If an indexed text changes,
SQL marks its paper until the finder has followed. The next run completes a run that was killed.

Words are indexed before vectors: a model takes hours where words take minutes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, NamedTuple

from ..errors import EmbeddingsFailed, StoreFailed
from ..model.passage import Passage
from ..system.process import SteadyClock
from .names import AlternativeName, extract_alternative_names
from .stored_records import Source
from .texts import CorpusTexts, PaperText

if TYPE_CHECKING:
    from . import Corpus
    from .finders import Embedder, FinderStatus

LOCK = "the index of passages"
_LOCK_WAIT_S = 10.0
_BATCH, _EMBEDDED, _PAGE = 8192, 256, 1000
_REPORT_EVERY = 200  # papers between two reports of progress
_TOUCHED = 50_000
_WARNINGS = 20
_FILTERED = ("year", "journal", "publication_types", "kind", "retracted")


@dataclass(frozen=True, slots=True)
class IndexProgress:
    """Counts of texts and passages processed so far by one indexing run.

    ``done`` of ``total`` papers were looked at (one with both a file on the shelf and a record
    counts twice), ``cut`` of them anew and ``dropped`` because they are gone. ``passages`` were
    written to the index, ``removed`` taken out, ``vectors`` made of about ``vectors_due``;
    ``unfinished`` says that the time was up: run it again to go on.
    """

    done: int = 0
    total: int = 0
    cut: int = 0
    dropped: int = 0
    passages: int = 0
    removed: int = 0
    vectors: int = 0
    model: str = ""
    warnings: tuple[str, ...] = ()
    unfinished: bool = False
    vectors_due: int = 0


def index_corpus(
    corpus: Corpus,
    *,
    everything: bool = False,
    wait_s: float | None = None,
    waiting: Callable[[str], None] | None = None,
) -> Iterator[IndexProgress]:
    """Split changed texts into passages and embed them; iterating does the work.

    Parameters
    ----------
    corpus : Corpus
        The corpus to index.
    everything : bool, optional
        Cut every text again and compare the whole index with SQL. Even then, no passage that has a
        vector of the model is embedded again.
    wait_s : float, optional
        Stop after so many seconds, at a place from which the next call goes on.
    waiting : callable, optional
        Called with a description of the process that holds the lock, while waiting for it.

    Yields
    ------
    IndexProgress
        The progress after each step; the last one is the result.

    Raises
    ------
    StoreBusy
        Another process is indexing.
    EmbeddingsFailed
        The service of the model broke down; what was indexed until then stays.
    StoreFailed, WeaviateFailed
        Database or index cannot be used.
    """
    with corpus.database.exclusive_lock(LOCK, _LOCK_WAIT_S, waiting):
        yield from _IndexRun(corpus, everything, wait_s).run_steps()


class _SplitText(NamedTuple):
    """A text that was split, with its source now and at the last indexing."""

    text: PaperText
    source: Source
    old: Source | None
    passages: list[Passage]

    def find_fresh_passages(self, kept: Mapping[str, Passage]) -> list[Passage]:
        """Return the passages that the finder must store; *kept* are the stored ones."""
        # After an interrupted run, it is unknown which passages the finder has. A shared finder
        # shows other facts of the paper, too, which a passage does not have.
        if self.old is None or not self.old.digest or self.text.shown:
            return self.passages
        return [one for one in self.passages if _needs_finder_update(one, kept.get(one.uuid))]


class _IndexRun:
    """One indexing run; ``facts`` are the fields of its `IndexProgress`."""

    def __init__(self, corpus: Corpus, everything: bool, longest_s: float | None) -> None:
        self.corpus = corpus
        self.database = corpus.database
        self.finder = corpus.finder
        self.everything = everything
        self.facts = asdict(IndexProgress())
        self.clock = SteadyClock()
        self.end = None if longest_s is None else self.clock.read_seconds() + longest_s
        self.batch: list[_SplitText] = []
        self.renewed: dict[str, Source] = {}
        self.names: Counter[AlternativeName] = Counter()
        self.gathered = 0
        self.touched: list[str] = []

    def run_steps(self) -> Iterator[IndexProgress]:
        """Run the steps of the indexing, and yield the progress."""
        embedder = self._get_usable_embedder()
        before = self._prepare_finder(embedder)
        passages = self.database.count_passages()
        # Where every passage had its vector, only what is written now can lack one.
        whole = before.vectors == before.passages == passages and not self.everything
        yield from self._index_changed_texts()
        if not self.facts["unfinished"]:
            yield from self._add_missing_passages()
        if not self.facts["unfinished"] and embedder:
            yield from self._embed_missing_passages(embedder, whole)
        if not self.facts["unfinished"]:
            self._warn_of_count_mismatch()
        yield self.progress

    def _get_usable_embedder(self) -> Embedder | None:
        """Return the embedder; None, with a warning, if it is not usable."""
        embedder = self.corpus.embedder
        if embedder is None:
            trouble = "EMBEDDINGS_PROVIDER=none."
        elif not (trouble := embedder.explain_unavailable()):
            try:
                self.facts["model"] = embedder.model
            except EmbeddingsFailed as error:
                trouble = error.text
            else:
                return embedder
        self._add_warning(f"Indexed by words alone: {trouble}")
        return None

    def _prepare_finder(self, embedder: Embedder | None) -> FinderStatus:
        """Prepare the finder for the model; return its status afterwards."""
        before = self.finder.get_status()
        model = self.facts["model"]
        if model and before.vectors and before.model != model:
            self._add_warning(
                f"The model has changed from {before.model} to {model}: "
                f"{before.vectors:,} passages are embedded again."
            )
        self.finder.prepare_for_model(model, embedder.dim if embedder else 0)
        return self.finder.get_status()

    # -- words -----------------------------------------------------------------------------------

    def _index_changed_texts(self) -> Iterator[IndexProgress]:
        """Split changed texts into passages, and delete the passages of removed papers."""
        texts = CorpusTexts(self.corpus)
        for text, source in texts.iterate_with_sources(skip_unchanged=not self.everything):
            if text is not None:
                self._split_if_changed(text, source)
            self.facts |= {"done": texts.done, "total": texts.total}
            if self._write_batch() or texts.done % _REPORT_EVERY == 0:
                yield self.progress
                if self._finish_if_time_is_up():
                    return
        self.facts |= {"done": texts.done, "total": texts.total}
        self._write_batch(everything=True)
        if texts.withheld:
            hosts = " and ".join(texts.remote_hosts)
            self._add_warning(
                f"{texts.withheld:,} full texts may not be passed on, or state no licence: only "
                f"their abstracts went to {hosts}. To index the full texts, set "
                "EMBEDDINGS_PROVIDER=local and use the embedded store, which sends no text."
            )
        if not texts.total and not self.database.count_indexed_papers():
            self._add_warning(
                "There is nothing to index: sync a question or download papers first."
            )
        for number, key in enumerate(texts.find_removed_papers()):
            self._delete_paper(key)
            if number % _REPORT_EVERY == 0:
                yield self.progress
                if self._finish_if_time_is_up():
                    return

    def _split_if_changed(self, text: PaperText, old: Source | None) -> None:
        """Split one text into passages if the text changed."""
        source = text.source
        if old and source.digest == old.digest and not self.everything:
            if source != old:
                self.renewed[text.key] = source
            return
        try:
            passages = text.split_into_passages(self.corpus.shelf)
        except StoreFailed as error:
            self._add_warning(f"Left as it was: {error.text}")
            return
        self.batch.append(_SplitText(text, source, old, passages))
        self.gathered += 1 + len(passages)
        self.names.update(extract_alternative_names(text.paper, passages))
        self._increase_count("cut")

    def _write_batch(self, *, everything: bool = False) -> bool:
        """Write the batch if it is full (or if *everything*); return whether it was written."""
        if len(self.renewed) >= _BATCH or (self.renewed and everything):
            self.database.store_sources(self.renewed)
            self.renewed.clear()
        if not self.batch or (self.gathered < _BATCH and not everything):
            return False
        known = self.database.get_passages_of_papers([t.text.key for t in self.batch if t.old])
        fresh: list[Passage] = []
        gone: list[str] = []
        settled: dict[str, bool] = {}
        for each in self.batch:
            kept = known.get(each.text.key, {})
            added = each.find_fresh_passages(kept)
            # Without older passages in the finder, or without new ones, nothing can be outdated.
            settled[each.text.key] = not (kept and added)
            fresh += added
            gone += sorted(kept.keys() - {passage.uuid for passage in each.passages})
        self._remove_passages(gone)
        self.database.replace_passages(
            [
                (
                    each.text.key,
                    # Without its digest as long as the finder may lack the new passages.
                    each.source if settled[each.text.key] else each.source._replace(digest=""),
                    each.passages,
                )
                for each in self.batch
            ],
            self.names,
        )
        self.names.clear()
        if fresh:
            self.finder.store_passages(fresh, None)
            if len(self.touched) <= _TOUCHED:
                self.touched += [passage.uuid for passage in fresh]
            self._increase_count("passages", len(fresh))
        if late := {t.text.key: t.source for t in self.batch if not settled[t.text.key]}:
            self.database.store_sources(late)
        self.batch, self.gathered = [], 0
        return True

    def _delete_paper(self, key: str) -> None:
        self._remove_passages(
            [passage.uuid for passage in self.database.get_passages_of_paper(key)]
        )
        self.database.delete_paper_passages(key)
        self._increase_count("dropped")

    def _remove_passages(self, uuids: Sequence[str]) -> None:
        if uuids:
            self.finder.delete_passages(uuids)
            self._increase_count("removed", len(uuids))

    def _add_missing_passages(self) -> Iterator[IndexProgress]:
        """Add passages that the finder lacks."""
        total = self.database.count_passages()
        if self.finder.get_status().passages == total and not self.everything:
            return
        for passages in self._iterate_all_passages():
            missing = self.finder.find_absent_uuids([passage.uuid for passage in passages])
            absent = [passage for passage in passages if passage.uuid in missing]
            if absent:
                self.finder.store_passages(absent, None)
                self._increase_count("passages", len(absent))
            yield self.progress
            if self._finish_if_time_is_up():
                return

    # -- vectors ---------------------------------------------------------------------------------

    def _embed_missing_passages(self, embedder: Embedder, whole: bool) -> Iterator[IndexProgress]:
        """Embed every passage that has no vector."""
        contents = self.finder.get_status()
        few = whole and len(self.touched) <= _TOUCHED
        self.facts["vectors_due"] = max(0, self.database.count_passages() - contents.vectors)
        for passages in self._iterate_touched_passages() if few else self._iterate_all_passages():
            missing = self.finder.find_uuids_without_vectors([passage.uuid for passage in passages])
            bare = [passage for passage in passages if passage.uuid in missing]
            for start in range(0, len(bare), _EMBEDDED):
                some = bare[start : start + _EMBEDDED]
                vectors = embedder.embed_texts([passage.embedding_text for passage in some])
                self.finder.store_passages(some, vectors)
                self._increase_count("vectors", len(some))
                yield self.progress
                if self._finish_if_time_is_up():
                    return

    def _iterate_all_passages(self) -> Iterator[list[Passage]]:
        last = ""
        while page := self.database.list_passages(last, _PAGE):
            last = page[-1].uuid
            yield page

    def _iterate_touched_passages(self) -> Iterator[list[Passage]]:
        for start in range(0, len(self.touched), _PAGE):
            yield list(self.database.get_passages(self.touched[start : start + _PAGE]).values())

    # -- reports ---------------------------------------------------------------------------------

    def _warn_of_count_mismatch(self) -> None:
        """Add a warning if the finder and the database have different numbers of passages."""
        contents = self.finder.get_status()
        more = contents.passages - self.database.count_passages()
        if more > 0:
            self._add_warning(
                f"The index holds {more:,} passages the corpus does not know; they are never shown."
            )

    def _finish_if_time_is_up(self) -> bool:
        if self.end is None or self.clock.read_seconds() < self.end:
            return False
        self._write_batch(everything=True)
        self.facts["unfinished"] = True
        return True

    @property
    def progress(self) -> IndexProgress:
        """The progress so far."""
        return IndexProgress(**self.facts)

    def _increase_count(self, name: str, more: int = 1) -> None:
        self.facts[name] += more

    def _add_warning(self, warning: str) -> None:
        if len(self.facts["warnings"]) < _WARNINGS:
            self.facts["warnings"] = (*self.facts["warnings"], warning)


def _needs_finder_update(passage: Passage, old: Passage | None) -> bool:
    """Return whether the finder must store *passage* again, for its text or its filter facts."""
    if old is None or old.digest != passage.digest:
        return True
    return any(getattr(passage, name) != getattr(old, name) for name in _FILTERED)
