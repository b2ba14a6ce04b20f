"""Passages of the corpus for a question, by words and by meaning, the better papers first.

The finder only proposes: a passage's text, its place and whether its paper was retracted since are
read from SQL, and what is no longer there is left out. How the order comes about:

1. The finder makes one score of what words and vectors found (`.ranking`).
2. Where the settings name a reranker (`.local_model`), the best fifty have its score
   instead, before all others, and the answer says so.
3. With ``quality_bias`` the score is multiplied by ``1 + 0.3 * design / 3`` (`.quality`): of
   papers that answer the question alike, the better evidence stands first; it never climbs over
   what answers the question better by three tenths. Retracted and withdrawn papers come last,
   whatever they answer, and are marked; a preprint comes behind its published version where both
   were found. What the weight does and costs: `quality.benchmarks.corpus_retrieval`.
4. One paper has at most three passages among the answers while other papers have any.

*Could not look* is never shown as *nothing found*: an empty index and a store that is down are
errors; a missing model is a warning, or an error where only meaning was asked for. Nor is the
nearest passage shown as an answer where it has little to do with the question (`.unanswered`).

That a filter left nothing is not that nothing was found: the answer says which filter did, how much
there is without it, and what there is instead of what was asked for (`why_nothing`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Literal

from ..command_line import command_line
from ..errors import BadRequest, EmbeddingsFailed, EmptyStore, NotFound
from ..model.identifiers import Ids
from ..model.paper import Paper, Version
from ..model.passage import Filters
from ..model.tabular import Table, Tabular
from ..outline.terms import asked
from ..system.plain_text import prepare_query_text
from .names import Wording, combined, wordings
from .quality import Quality, evidence_of, quality_of, today
from .stored_records import CorpusRecord
from .unanswered import doubt, nothing_found

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ..model.passage import Hit, Passage
    from ..shelf import Shelf
    from .database import CorpusDatabase
    from .finders import FinderStatus
    from .local_model import Reranker
    from .searchable import Searchable
    from .stored_records import CorpusCounts

    Vector = NDArray[np.float32]

_LOOKED_AT = 1000  # passages, to count what a filter leaves out
_RETRACTED_TYPE = "That retracted papers are left out"
_SHOWN = 3  # journals, types or kinds that there are
By = Literal["both", "words", "meaning"]
WEIGHT = 0.3
_RETRACTED = 0.001  # of the score: behind all that is not
_BEHIND = 0.999  # of the score of what stands before it
MOST_OF_ONE_PAPER = 3
MOST = 100
_LONGEST_QUERY = 4000
# Room for what turns out to be out of date, and for papers behind the passages of one.
_CANDIDATES, _LEAST_CANDIDATES = 3, 50
_RERANKED = 50  # each takes some 20 ms of a processor
_USUAL = Filters()
_INDEX_IT = f"Bring the index up to date: {command_line('corpus index')}."


@dataclass(frozen=True, slots=True)
class ScoredPassage:
    """A passage that was found; ``score`` is what it is ranked by, see the module.

    ``sim`` (cosine) and ``bm25`` are None where that way did not find it; ``version`` is that of
    its text, empty where it is unknown or there is only a record.
    """

    passage: Passage
    score: float
    sim: float | None
    bm25: float | None
    quality: Quality
    version: Version = ""
    paper: Paper | None = None


@dataclass(frozen=True, slots=True)
class Answer(Tabular):
    """Passages, best first, and warnings about how they were searched.

    ``wordings`` are the other words in which the question was asked, too.
    """

    hits: tuple[ScoredPassage, ...]
    warnings: tuple[str, ...] = ()
    wordings: tuple[Wording, ...] = ()

    def to_table(self) -> Table:
        """Return a row for each passage."""
        place = (
            *("title", "year", "journal", "section", "text", "paper", "kind", "retracted"),
            *("file", "start", "end"),
        )
        rows = (
            (round(hit.score, 4), hit.version, *(getattr(hit.passage, name) for name in place))
            for hit in self.hits
        )
        return Table(("score", "version", *place), rows)


def find(
    query: str,
    corpus: Searchable,
    *,
    top_k: int = 20,
    quality_bias: bool = True,
    filters: Filters = _USUAL,
    by: By = "both",
    pubmed_only: bool = False,
    widen: bool = True,
) -> Answer:
    """The best passages for *query*.

    Parameters
    ----------
    query : str
        A question, or words.
    corpus : Searchable
        What is searched.
    top_k : int, optional
        How many passages at most, 1 to 100.
    quality_bias : bool, optional
        Whether better papers climb, see the module.
    filters : Filters, optional
        Which passages count.
    by : {"both", "words", "meaning"}, optional
        How to look.
    pubmed_only : bool, optional
        Leave out papers without a PMID, and say how many of the best passages are theirs (only for
        ``rag.search``, whose document allows no other name).
    widen : bool, optional
        Whether to ask with other words for its terms, too (`.names`); not by meaning alone.

    Raises
    ------
    BadRequest
        The query is empty or cannot be asked, or *top_k* is out of range.
    StoreFailed, WeaviateFailed
        The index is empty, or where it is kept cannot be reached.
    EmbeddingsFailed
        Only meaning was asked for, and there are no vectors.
    """
    text = prepare_query_text(query, "query", _LONGEST_QUERY).strip()
    _check(text, top_k, filters)
    contents = corpus.finder.status()
    if not contents.passages:
        raise _empty_error(corpus.recent_counts())
    vector, trouble = (None, None) if by == "words" else _embed_query(text, corpus, contents)
    if trouble and by == "meaning":
        raise trouble
    if vector is None and not asked(text):
        raise BadRequest("There is no word in the query to look for.", "Ask in words.")
    filters = resolved(filters, corpus)
    limit = max(_LEAST_CANDIDATES, _CANDIDATES * top_k)
    questions = ["" if by == "meaning" else text]
    others = (
        wordings(text, partial(corpus.database.named, "term")) if widen and questions[0] else []
    )
    questions += [other.question for other in others]
    hits = combined([corpus.finder.search(one, vector, limit, filters) for one in questions], limit)
    scored = list(_resolve(hits, corpus, filters))
    scored, reranked = _reranked(text, scored, corpus.reranker)
    if quality_bias:
        scored = by_evidence(scored)
    best = limit_per_paper(scored, top_k)
    warnings = [f"Found by words alone: {trouble}"] if trouble else []
    warnings += reranked
    emptied = [] if best else list(why_nothing(text, vector, filters, corpus))
    warnings += _out_of_date(contents, corpus.recent_counts())
    unsure = (
        _unsure([text, *questions[1:]], best, contents, corpus.more) if best or not emptied else ""
    )
    if pubmed_only and (elsewhere := sum(not _in_pubmed(one.passage) for one in best)):
        best = limit_per_paper((one for one in scored if _in_pubmed(one.passage)), top_k)
        warnings.append(f"Passages left out because their papers have no PMID: {elsewhere:,}.")
    warnings = [*filter(None, [unsure]), *emptied, *warnings]
    versions = tuple(_add_version(one, corpus) for one in best)
    return Answer(versions, tuple(warnings), tuple(others))


def _unsure(
    questions: Sequence[str], best: Sequence[ScoredPassage], contents: FinderStatus, more: str
) -> str:
    """What speaks against an answer, in whichever words; of the question as it was asked."""
    if not best:
        return nothing_found(more)
    doubts = [doubt(one, best, contents.model, more) for one in questions]
    return doubts[0] if all(doubts) else ""


def _reranked(
    question: str, found: list[ScoredPassage], reranker: Reranker | None
) -> tuple[list[ScoredPassage], list[str]]:
    """The best passages in the order of a model that reads them, and what is to be said of it.

    Those that it was not asked about stay behind them, in their order.
    """
    if reranker is None or not found:
        return found, []
    found = sorted(found, key=_rank)
    best, rest = found[:_RERANKED], found[_RERANKED:]
    try:
        scores = reranker.scores(question, [one.passage.embedding_text for one in best])
    except EmbeddingsFailed as trouble:
        return found, [f"Not put in order once more: {trouble}"]
    scale = _BEHIND * min(scores) / rest[0].score if rest and rest[0].score > 0 else 0.0
    made = [replace(one, score=score) for one, score in zip(best, scores, strict=True)]
    made += [replace(one, score=one.score * scale) for one in rest]
    return made, [f"The best {len(best)} passages are in the order of {reranker.wanted}."]


def _add_version(found: ScoredPassage, corpus: Searchable) -> ScoredPassage:
    """Add the version of the text: a preprint may differ from the article."""
    stored = corpus.shelf.find_by_file(found.passage.file) if found.passage.file else None
    return replace(found, version=stored.version) if stored else found


def record(doc_id: str, database: CorpusDatabase, shelf: Shelf | None = None) -> CorpusRecord:
    """The record of ``pmid:…`` (or a bare PMID).

    A paper that lies on the *shelf* and was never synced has the record it was filed with, as
    version 1: whatever a search answers can be looked up.

    Raises
    ------
    BadRequest
        *doc_id* is no PMID.
    NotFound
        Neither holds it, or PubMed took it out.
    """
    ids = Ids.parse(doc_id)
    if not ids.pmid:
        raise BadRequest(f"{doc_id} is no PMID.", "Ask for pmid:… as a search answers it.")
    synced = database.record(ids.pmid) if database.exists else None  # looking makes none
    if synced and synced.gone:
        msg = f"PubMed took PMID {ids.pmid} out; its record is kept no longer."
        raise NotFound(msg, "A duplicate may have stayed: search for its title.")
    if synced:
        return synced
    stored = shelf.find(ids) if shelf else None
    if not stored:
        msg = f"PMID {ids.pmid} is not in the corpus."
        raise NotFound(
            msg,
            f"Sync a question that finds it: {command_line('corpus sync')}.",
        )
    paper = stored.paper
    return CorpusRecord(paper, 1, "", paper.entered, paper.revised, False, stored.saved_at)


def limit_per_paper(found: Iterable[ScoredPassage], top_k: int) -> tuple[ScoredPassage, ...]:
    """The best *top_k*, best first, with at most three of one paper while there are others."""
    counts: Counter[str] = Counter()
    first: list[ScoredPassage] = []
    later: list[ScoredPassage] = []
    for one in sorted(found, key=_rank):
        counts[one.passage.paper] += 1
        (first if counts[one.passage.paper] <= MOST_OF_ONE_PAPER else later).append(one)
    return tuple(sorted((first + later)[:top_k], key=_rank))


def _rank(found: ScoredPassage) -> tuple[float, str]:
    return -found.score, found.passage.uuid  # a tie must not be broken by chance


def _check(text: str, top_k: int, filters: Filters) -> None:
    if not text:
        raise BadRequest("The query is empty.", "Ask a question, or give words.")
    if not 1 <= top_k <= MOST:
        raise BadRequest(f"top_k is {top_k}.", f"It must be from 1 to {MOST}.")
    if filters.year_from and filters.year_to and filters.year_from > filters.year_to:
        msg = f"The years {filters.year_from} to {filters.year_to} are none."
        raise BadRequest(msg, "Exchange them.")


def _empty_error(counts: CorpusCounts) -> EmptyStore:
    """Why there is nothing to search, which is not the same as nothing found."""
    if counts.passages or counts.records:
        msg = "The index is empty: nothing was searched."
        return EmptyStore(msg, _INDEX_IT)
    msg = "The corpus is empty: nothing was searched."
    sync, index = command_line("corpus sync KEY TERM"), command_line("corpus index")
    hint = f"Fill it: {sync}, then {index}."
    return EmptyStore(msg, hint)


def _embed_query(
    text: str, corpus: Searchable, contents: FinderStatus
) -> tuple[Vector | None, EmbeddingsFailed | None]:
    """The query's vector, or why it cannot be compared with those of the index."""
    try:
        embedder = corpus.embedder
        if embedder is None:
            msg = "EMBEDDINGS_PROVIDER=none."
            return None, EmbeddingsFailed(msg, "Set it to local, hf or openai for meaning too.")
        if missing := embedder.available():
            return None, EmbeddingsFailed(missing)
        if not contents.vectors:
            return None, EmbeddingsFailed("The index holds no vectors.", _INDEX_IT)
        if contents.model != embedder.model:
            msg = f"The vectors are of {contents.model}, and the settings name {embedder.model}."
            return None, EmbeddingsFailed(msg, _INDEX_IT)
        return embedder.embed_question(text), None
    except EmbeddingsFailed as trouble:
        return None, trouble


def _resolve(hits: Sequence[Hit], corpus: Searchable, filters: Filters) -> Iterator[ScoredPassage]:
    """The proposed passages as they are in SQL now."""
    passages = corpus.database.passages([hit.uuid for hit in hits])
    pmids = {one.paper.removeprefix("pmid:") for one in passages.values() if _in_pubmed(one)}
    records = corpus.database.records(sorted(pmids))
    day = today()
    for hit in hits:
        passage = passages.get(hit.uuid)
        if passage is None:
            continue
        stored = records.get(passage.paper.removeprefix("pmid:"))
        paper = stored.paper if stored else _paper_from_passage(passage)
        if (stored and stored.gone) or (paper.retracted and not filters.retracted):
            continue
        passage = replace(passage, retracted=paper.retracted)
        quality = quality_of(paper, day)
        yield ScoredPassage(passage, hit.score, hit.sim, hit.bm25, quality, paper=paper)


def by_evidence(found: Sequence[ScoredPassage]) -> list[ScoredPassage]:
    """Passages with scores by which the better evidence climbs; see the module."""
    scored = [
        replace(one, score=one.score * _weight_of(one.paper)) if one.paper else one for one in found
    ]
    best: dict[str, ScoredPassage] = {}
    for one in sorted(scored, key=_rank):
        best.setdefault(one.passage.paper, one)
    behind = dict(_behind_published(list(best.values())))
    return [
        replace(one, score=min(one.score, behind.get(one.passage.paper, one.score)))
        for one in scored
    ]


def _weight_of(paper: Paper) -> float:
    return _RETRACTED if paper.retracted else 1 + WEIGHT * evidence_of(paper)


def _behind_published(papers: Sequence[ScoredPassage]) -> Iterator[tuple[str, float]]:
    """By the key of a preprint whose published version was found, too: the most it may score."""
    from ..search.same_paper import is_preprint, judge_pair

    records = [(one.passage.paper, one.score, one.paper) for one in papers if one.paper]
    preprints = [one for one in records if is_preprint(one[2])]
    for (key, _, preprint), (other, score, paper) in product(preprints, records):
        if key != other and judge_pair(preprint, paper).relation == "preprint_of":
            yield key, score * _BEHIND


def _in_pubmed(passage: Passage) -> bool:
    return passage.paper.startswith("pmid:")


def _paper_from_passage(passage: Passage) -> Paper:
    """Make the paper of a passage that has no record in the corpus."""
    return Paper(
        Ids(),
        title=passage.title,
        journal=passage.journal,
        published=str(passage.year or ""),
        publication_types=(
            *passage.publication_types,
            *(["Retracted Publication"] if passage.retracted else []),
        ),
    )


def _out_of_date(contents: FinderStatus, counts: CorpusCounts) -> Iterator[str]:
    """Warnings that follow from the counts; `.` looks at every paper."""
    papers = counts.records - counts.gone - counts.papers_cut
    if papers > 0:
        yield f"{papers:,} papers are not indexed yet: they are not found. {_INDEX_IT}"
    if counts.passages != contents.passages:
        by = abs(counts.passages - contents.passages)
        yield f"The index is out of date by {by:,} passages. {_INDEX_IT}"
    if contents.vectors and (without := contents.passages - contents.vectors) > 0:
        yield f"{without:,} passages have no vector yet: by meaning they are not found. {_INDEX_IT}"


@dataclass(frozen=True, slots=True)
class _Filter:
    """One filter: as it was asked for, the filters without it, and what passages have for it."""

    asked: str
    without: Filters
    has: Callable[[Passage], Sequence[str]]


def resolved(filters: Filters, corpus: Searchable) -> Filters:
    """The filters with the names under which the corpus has the journal that is asked for."""
    if not filters.journal:
        return filters
    return replace(filters, journals=corpus.database.journals(filters.journal))


def why_nothing(
    text: str, vector: NDArray[np.float32] | None, filters: Filters, corpus: Searchable
) -> Iterator[str]:
    """Which filters left nothing, and what there is without them; nothing where none did."""
    chosen = list(_chosen(filters))
    alone = [(one, found) for one in chosen if (found := _found(text, vector, one.without, corpus))]
    for one, found in alone:
        yield f"{one.asked} leaves nothing. Without it: {_counted(found, one.has)}."
    if chosen and not alone:
        found = _found(text, vector, Filters(retracted=filters.retracted), corpus)
        several = ", ".join(one.asked for one in chosen if one.asked != _RETRACTED_TYPE)
        if found and several:
            yield f"Together these leave nothing: {several}. Without them: {_counted(found)}."


def _chosen(filters: Filters) -> Iterator[_Filter]:
    """The filters that are set; that retracted papers are left out is one, too."""
    if filters.year_from is not None or filters.year_to is not None:
        first, last = filters.year_from, filters.year_to
        years = (
            f"{first} to {last}" if first and last else f"from {first}" if first else f"to {last}"
        )
        without = replace(filters, year_from=None, year_to=None)
        yield _Filter(f"Years: {years}", without, lambda one: [str(one.year or "no year")])
    if filters.journal:
        without = replace(filters, journal="", journals=())
        known = "" if filters.journals else " (no journal of the corpus goes by it)"
        asked = f"Journal: “{filters.journal}”{known}"
        yield _Filter(asked, without, lambda one: [one.journal or "no journal"])
    if filters.publication_types:
        without = replace(filters, publication_types=())
        asked = f"Type: {', '.join(filters.publication_types)}"
        yield _Filter(asked, without, lambda one: one.publication_types)
    if filters.mesh:
        without = replace(filters, mesh=())
        yield _Filter(f"MeSH: {', '.join(filters.mesh)}", without, lambda _: ())
    if filters.kind:
        kind = filters.kind.replace("_", " ")
        without = replace(filters, kind=None)
        yield _Filter(f"Kind: {kind}", without, lambda one: [one.kind.replace("_", " ")])
    if not filters.retracted:
        without = replace(filters, retracted=True)
        yield _Filter(_RETRACTED_TYPE, without, lambda _: ["retracted"])


def _found(
    text: str, vector: NDArray[np.float32] | None, filters: Filters, corpus: Searchable
) -> list[Passage]:
    """The passages there are under other filters; by words where there are any."""
    hits = corpus.finder.search(text, None, _LOOKED_AT, filters)
    if not hits and vector is not None:
        hits = corpus.finder.search("", vector, _LOOKED_AT, filters)
    return list(corpus.database.passages([hit.uuid for hit in hits]).values())


def _counted(
    passages: Sequence[Passage], has: Callable[[Passage], Sequence[str]] | None = None
) -> str:
    """How many papers, and what most of them have."""
    papers = {one.paper: one for one in passages}
    more = "at least " if len(passages) >= _LOOKED_AT else ""
    told = f"{more}{len(papers):,} paper{'s' * (len(papers) != 1)}"
    if not has:
        return told
    most = Counter(value for one in papers.values() for value in has(one)).most_common(_SHOWN)
    shown = ", ".join(f"{value}: {count:,}" for value, count in most)
    return f"{told} ({shown})" if shown else told
