"""Find passages of the corpus for a question, by words and by meaning, better papers first.

The finder only proposes passages: their text, their place and later retractions are read from SQL,
and deleted passages are left out. The order is computed in four steps:

1. The finder combines the scores of words and vectors into one score (`.ranking`).
2. If the settings name a reranker (`.local_model`), the best fifty passages get its score instead
   and come before all others, and the answer mentions the reranker.
3. With ``quality_bias`` the score is multiplied by ``1 + 0.3 * design / 3`` (`.quality`): among
   papers that answer the question equally well, the better evidence comes first. A passage whose
   score is better by more than three tenths always stays ahead. Retracted and withdrawn papers come
   last and are marked; a preprint comes after its published version if both were found. Effect and
   cost of the weight: `quality.benchmarks.corpus_retrieval`.
4. One paper has at most three passages in the answer while other papers have any.

A failed search is never shown as *nothing found*: an empty index and an unavailable store are
errors; a missing model is a warning, or an error if only meaning was requested. If even the nearest
passages have little to do with the question, the answer warns of this (`.unanswered`).

If a filter removes every passage, the answer names the filter, counts the passages without it, and
lists the values that exist (`explain_empty_result`).
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
from ..model.tabular import Table, TabularResult
from ..outline.terms import to_query_terms
from ..system.plain_text import prepare_query_text
from .names import AlternativeQuestion, build_alternative_questions, merge_hits
from .quality import QualityScores, get_utc_today, score_evidence, score_quality
from .stored_records import CorpusRecord
from .unanswered import build_doubt_warning, build_no_hits_message

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ..model.passage import Passage, PassageHit
    from ..shelf import Shelf
    from .database import CorpusDatabase
    from .finders import FinderStatus
    from .local_model import Reranker
    from .searchable import Searchable
    from .stored_records import CorpusCounts

    Vector = NDArray[np.float32]

_MAX_COUNTED_PASSAGES = 1000  # passages to read when counting what a filter leaves out
_RETRACTED_TYPE = "That retracted papers are left out"
_MAX_LISTED_VALUES = 3  # existing journals, types or kinds to list
By = Literal["both", "words", "meaning"]
EVIDENCE_WEIGHT = 0.3
_RETRACTED_FACTOR = 0.001  # factor that puts retracted papers behind all others
_JUST_BEHIND_FACTOR = 0.999  # factor that puts a passage just behind another
MAX_PER_PAPER = 3
MAX_TOP_K = 100
_MAX_QUERY_CHARS = 4000
_MAX_DEPTH = 20_000  # passages to look through for papers that a filter of the shelf keeps
# Extra candidates, because some are out of date, and one paper may fill the first places.
_CANDIDATES, _LEAST_CANDIDATES = 3, 50
_MAX_RERANKED = 50  # each passage takes some 20 ms of CPU time
_NO_FILTERS = Filters()
_INDEX_HINT = f"Bring the index up to date: {command_line('corpus index')}."


@dataclass(frozen=True, slots=True)
class ScoredPassage:
    """A passage with the score by which it is ranked; see the module docstring.

    ``sim`` (cosine) and ``bm25`` are None if that search did not find the passage; ``version`` is
    the version of its text, empty if unknown or if there is only a record.
    """

    passage: Passage
    score: float
    sim: float | None
    bm25: float | None
    quality: QualityScores
    version: Version = ""
    paper: Paper | None = None


@dataclass(frozen=True, slots=True)
class PassageAnswer(TabularResult):
    """The passages found for a question, best first, and warnings about the search.

    ``wordings`` are the alternative wordings that were searched, too.
    """

    hits: tuple[ScoredPassage, ...]
    warnings: tuple[str, ...] = ()
    wordings: tuple[AlternativeQuestion, ...] = ()

    def to_table(self) -> Table:
        """Return a table with a row for each passage."""
        place = (
            *("title", "year", "journal", "section", "text", "paper", "kind", "retracted"),
            *("file", "start", "end"),
        )
        rows = (
            (round(hit.score, 4), hit.version, *(getattr(hit.passage, name) for name in place))
            for hit in self.hits
        )
        return Table(("score", "version", *place), rows)


def find_passages(
    query: str,
    corpus: Searchable,
    *,
    top_k: int = 20,
    quality_bias: bool = True,
    filters: Filters = _NO_FILTERS,
    by: By = "both",
    pubmed_only: bool = False,
    widen: bool = True,
) -> PassageAnswer:
    """Find the best passages for *query*.

    Parameters
    ----------
    query : str
        A question, or words.
    corpus : Searchable
        The store to search.
    top_k : int, optional
        Maximum count of passages, 1 to 100.
    quality_bias : bool, optional
        Whether better evidence ranks higher; see the module.
    filters : Filters, optional
        Conditions that passages must meet.
    by : {"both", "words", "meaning"}, optional
        How to search.
    pubmed_only : bool, optional
        Leave out papers without a PMID, and report how many of the best passages are theirs (only
        for ``rag.search``, whose contract allows no other identifier).
    widen : bool, optional
        Whether to search with synonyms of its terms, too (`.names`); not by meaning alone.

    Raises
    ------
    BadRequest
        The query is empty or invalid, or *top_k* is out of range.
    StoreFailed, WeaviateFailed
        The index is empty or unavailable.
    EmbeddingsFailed
        Only meaning was requested, and there are no vectors.
    """
    text = prepare_query_text(query, "query", _MAX_QUERY_CHARS).strip()
    _require_valid_query(text, top_k, filters)
    contents = corpus.finder.get_status()
    if not contents.passages:
        raise _build_empty_index_error(corpus.get_recent_counts())
    vector, trouble = (None, None) if by == "words" else _embed_query(text, corpus, contents)
    if trouble and by == "meaning":
        raise trouble
    if vector is None and not to_query_terms(text):
        raise BadRequest("The query has no word to search for.", "Ask in words.")
    filters = resolve_journal_filter(filters, corpus)
    limit = max(_LEAST_CANDIDATES, _CANDIDATES * top_k)
    questions = ["" if by == "meaning" else text]
    others = (
        build_alternative_questions(text, partial(corpus.database.find_alternative_names, "term"))
        if widen and questions[0]
        else []
    )
    questions += [other.question for other in others]

    def search_to_depth(depth: int) -> Sequence[PassageHit]:
        found = [corpus.finder.search(one, vector, depth, filters) for one in questions]
        return merge_hits(found, depth)

    hits = _find_kept_hits(search_to_depth, limit, filters)
    scored = list(_read_hit_passages(hits, corpus, filters))
    scored, reranked = _rerank_passages(text, scored, corpus.reranker)
    if quality_bias:
        scored = weight_scores_by_evidence(scored)
    best = limit_passages_per_paper(scored, top_k)
    warnings = [f"Found by words alone: {trouble}"] if trouble else []
    warnings += reranked
    emptied = (
        [] if best or filters.keep else list(explain_empty_result(text, vector, filters, corpus))
    )
    warnings += _iterate_outdated_warnings(contents, corpus.get_recent_counts())
    unsure = (
        _collect_answer_doubts([text, *questions[1:]], best, contents, corpus.empty_search_advice)
        if best or not emptied
        else ""
    )
    if pubmed_only and (elsewhere := sum(not _has_pmid(one.passage) for one in best)):
        best = limit_passages_per_paper((one for one in scored if _has_pmid(one.passage)), top_k)
        warnings.append(f"Passages left out because their papers have no PMID: {elsewhere:,}.")
    warnings = [*filter(None, [unsure]), *emptied, *warnings]
    versions = tuple(_add_text_version(one, corpus) for one in best)
    return PassageAnswer(versions, tuple(warnings), tuple(others))


def _find_kept_hits(
    search_to_depth: Callable[[int], Sequence[PassageHit]], limit: int, filters: Filters
) -> Sequence[PassageHit]:
    """Return the best hits; with a filter ``keep``, search deeper until *limit* hits pass it."""
    depth = limit
    while True:
        hits = search_to_depth(depth)
        if filters.keep is None:
            return hits
        papers = filters.keep({hit.paper for hit in hits})
        kept = [hit for hit in hits if hit.paper in papers]
        if len(kept) >= limit or len(hits) < depth or depth >= _MAX_DEPTH:
            return kept[:limit]
        depth *= 4


def _collect_answer_doubts(
    questions: Sequence[str], best: Sequence[ScoredPassage], contents: FinderStatus, more: str
) -> str:
    """Return why the passages may not answer the question; "" if they probably do."""
    if not best:
        return build_no_hits_message(more)
    doubts = [build_doubt_warning(one, best, contents.model, more) for one in questions]
    return doubts[0] if all(doubts) else ""


def _rerank_passages(
    question: str, found: list[ScoredPassage], reranker: Reranker | None
) -> tuple[list[ScoredPassage], list[str]]:
    """Return passages in the order of a reranking model, and a note about that order.

    The passages that the model did not read stay behind the others, in their order.
    """
    if reranker is None or not found:
        return found, []
    found = sorted(found, key=_get_passage_sort_key)
    best, rest = found[:_MAX_RERANKED], found[_MAX_RERANKED:]
    try:
        scores = reranker.score_passages(question, [one.passage.embedding_text for one in best])
    except EmbeddingsFailed as trouble:
        return found, [f"Not put in order once more: {trouble.text}"]
    scale = _JUST_BEHIND_FACTOR * min(scores) / rest[0].score if rest and rest[0].score > 0 else 0.0
    made = [replace(one, score=score) for one, score in zip(best, scores, strict=True)]
    made += [replace(one, score=one.score * scale) for one in rest]
    return made, [f"The best {len(best)} passages are in the order of {reranker.wanted}."]


def _add_text_version(found: ScoredPassage, corpus: Searchable) -> ScoredPassage:
    """Add the version of the text: a preprint may differ from the article."""
    stored = corpus.shelf.find_paper_by_file(found.passage.file) if found.passage.file else None
    return replace(found, version=stored.version) if stored else found


def find_corpus_record(
    doc_id: str, database: CorpusDatabase, shelf: Shelf | None = None
) -> CorpusRecord:
    """Return the record of ``pmid:…`` or of a plain PMID.

    A paper on the *shelf* that was never synced has the record it was stored with, as version 1. So
    every paper in a search result can be looked up.

    Raises
    ------
    BadRequest
        *doc_id* is not a PMID.
    NotFound
        Neither corpus nor shelf has the paper, or PubMed deleted it.
    """
    ids = Ids.parse(doc_id)
    if not ids.pmid:
        raise BadRequest(f"{doc_id} is not a valid PMID.", "Ask for pmid:… as a search answers it.")
    synced = database.get_record(ids.pmid) if database.exists else None  # looking makes none
    if synced and synced.gone:
        msg = f"PubMed took PMID {ids.pmid} out; its record was deleted."
        raise NotFound(msg, "A duplicate may remain: search for its title.")
    if synced:
        return synced
    stored = shelf.find_text(ids) if shelf else None
    if not stored:
        msg = f"PMID {ids.pmid} is not in the corpus."
        raise NotFound(
            msg,
            f"Sync a question that finds it: {command_line('corpus sync')}.",
        )
    paper = stored.paper
    return CorpusRecord(paper, 1, "", paper.entered, paper.revised, False, stored.saved_at)


def limit_passages_per_paper(
    found: Iterable[ScoredPassage], top_k: int
) -> tuple[ScoredPassage, ...]:
    """Return the best *top_k*, at most three per paper unless passages of other papers run out."""
    counts: Counter[str] = Counter()
    first: list[ScoredPassage] = []
    later: list[ScoredPassage] = []
    for one in sorted(found, key=_get_passage_sort_key):
        counts[one.passage.paper] += 1
        (first if counts[one.passage.paper] <= MAX_PER_PAPER else later).append(one)
    return tuple(sorted((first + later)[:top_k], key=_get_passage_sort_key))


def _get_passage_sort_key(found: ScoredPassage) -> tuple[float, str]:
    """Return the sort key of a passage: best score first, then UUID."""
    return -found.score, found.passage.uuid  # the UUID makes the order of ties reproducible


def _require_valid_query(text: str, top_k: int, filters: Filters) -> None:
    """Raise `BadRequest` if the query is empty, or a number is out of range."""
    if not text:
        raise BadRequest("The query is empty.", "Ask a question, or give words.")
    if not 1 <= top_k <= MAX_TOP_K:
        raise BadRequest(f"top_k is {top_k}.", f"It must be from 1 to {MAX_TOP_K}.")
    if filters.year_from and filters.year_to and filters.year_from > filters.year_to:
        msg = f"year_from ({filters.year_from}) is later than year_to ({filters.year_to})."
        raise BadRequest(msg, "Swap the two years.")


def _build_empty_index_error(counts: CorpusCounts) -> EmptyStore:
    """Return the error for an index without passages, which differs from a search without hits."""
    if counts.passages or counts.records:
        msg = "The index is empty: nothing was searched."
        return EmptyStore(msg, _INDEX_HINT)
    msg = "The corpus is empty: nothing was searched."
    sync, index = command_line("corpus sync KEY TERM"), command_line("corpus index")
    hint = f"Fill it: {sync}, then {index}."
    return EmptyStore(msg, hint)


def _embed_query(
    text: str, corpus: Searchable, contents: FinderStatus
) -> tuple[Vector | None, EmbeddingsFailed | None]:
    """Return the query's vector, or the error if it cannot be compared with the index's vectors."""
    try:
        embedder = corpus.embedder
        if embedder is None:
            msg = "EMBEDDINGS_PROVIDER=none."
            return None, EmbeddingsFailed(msg, "Set it to local, hf or openai for meaning too.")
        if missing := embedder.explain_unavailable():
            return None, EmbeddingsFailed(missing)
        if not contents.vectors:
            return None, EmbeddingsFailed("The index holds no vectors.", _INDEX_HINT)
        if contents.model != embedder.model:
            msg = f"The vectors are of {contents.model}, and the settings name {embedder.model}."
            return None, EmbeddingsFailed(msg, _INDEX_HINT)
        return embedder.embed_question(text), None
    except EmbeddingsFailed as trouble:
        return None, trouble


def _read_hit_passages(
    hits: Sequence[PassageHit], corpus: Searchable, filters: Filters
) -> Iterator[ScoredPassage]:
    """Yield the hits as passages that the database has now."""
    passages = corpus.database.get_passages([hit.uuid for hit in hits])
    pmids = {one.paper.removeprefix("pmid:") for one in passages.values() if _has_pmid(one)}
    records = corpus.database.get_records(sorted(pmids))
    day = get_utc_today()
    for hit in hits:
        passage = passages.get(hit.uuid)
        if passage is None:
            continue
        stored = records.get(passage.paper.removeprefix("pmid:"))
        paper = stored.paper if stored else _passage_to_paper(passage)
        if (stored and stored.gone) or (paper.retracted and not filters.retracted):
            continue
        passage = replace(passage, retracted=paper.retracted)
        quality = score_quality(paper, day)
        yield ScoredPassage(passage, hit.score, hit.sim, hit.bm25, quality, paper=paper)


def weight_scores_by_evidence(found: Sequence[ScoredPassage]) -> list[ScoredPassage]:
    """Return passages with scores weighted by evidence; see the module docstring."""
    scored = [
        replace(one, score=one.score * _get_evidence_factor(one.paper)) if one.paper else one
        for one in found
    ]
    best: dict[str, ScoredPassage] = {}
    for one in sorted(scored, key=_get_passage_sort_key):
        best.setdefault(one.passage.paper, one)
    behind = dict(_iterate_preprint_score_limits(list(best.values())))
    return [
        replace(one, score=min(one.score, behind.get(one.passage.paper, one.score)))
        for one in scored
    ]


def _get_evidence_factor(paper: Paper) -> float:
    """Return the factor by which a paper's evidence changes its score."""
    return _RETRACTED_FACTOR if paper.retracted else 1 + EVIDENCE_WEIGHT * score_evidence(paper)


def _iterate_preprint_score_limits(papers: Sequence[ScoredPassage]) -> Iterator[tuple[str, float]]:
    """Yield each preprint whose published version was found too, and its highest allowed score."""
    from ..search.compared_records import is_preprint_without_journal
    from ..search.same_paper import judge_pair

    records = [(one.passage.paper, one.score, one.paper) for one in papers if one.paper]
    preprints = [one for one in records if is_preprint_without_journal(one[2])]
    for (key, _, preprint), (other, score, paper) in product(preprints, records):
        if key != other and judge_pair(preprint, paper).relation == "preprint_of":
            yield key, score * _JUST_BEHIND_FACTOR


def _has_pmid(passage: Passage) -> bool:
    return passage.paper.startswith("pmid:")


def _passage_to_paper(passage: Passage) -> Paper:
    """Return a paper for a passage without a record in the corpus."""
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


def _iterate_outdated_warnings(contents: FinderStatus, counts: CorpusCounts) -> Iterator[str]:
    """Yield warnings that follow from the counts of papers, passages and vectors."""
    papers = counts.records - counts.gone - counts.papers_cut
    if papers > 0:
        yield f"{papers:,} papers are not indexed yet: they are not found. {_INDEX_HINT}"
    if counts.passages != contents.passages:
        by = abs(counts.passages - contents.passages)
        yield f"The index is out of date by {by:,} passages. {_INDEX_HINT}"
    if contents.vectors and (without := contents.passages - contents.vectors) > 0:
        missed = f"{without:,} passages have no vector yet: by meaning they are not found."
        yield f"{missed} {_INDEX_HINT}"


@dataclass(frozen=True, slots=True)
class _ActiveFilter:
    """A filter that is set: its description, the other filters, and the values of a passage."""

    asked: str
    without: Filters
    has: Callable[[Passage], Sequence[str]]


def resolve_journal_filter(filters: Filters, corpus: Searchable) -> Filters:
    """Return the filters with the corpus's names for the requested journal."""
    if not filters.journal:
        return filters
    return replace(filters, journals=corpus.database.find_journal_names(filters.journal))


def explain_empty_result(
    text: str, vector: NDArray[np.float32] | None, filters: Filters, corpus: Searchable
) -> Iterator[str]:
    """Yield a sentence for each filter that removes every passage."""
    chosen = list(_iterate_active_filters(filters))
    alone = [
        (one, found)
        for one in chosen
        if (found := _find_with_filters(text, vector, one.without, corpus))
    ]
    for one, found in alone:
        papers = _describe_paper_count(found, one.has)
        yield f"{one.asked} leaves no passages. Without it: {papers}."
    if chosen and not alone:
        found = _find_with_filters(text, vector, Filters(retracted=filters.retracted), corpus)
        several = ", ".join(one.asked for one in chosen if one.asked != _RETRACTED_TYPE)
        if found and several:
            count = _describe_paper_count(found)
            yield f"Together these leave no passages: {several}. Without them: {count}."


def _iterate_active_filters(filters: Filters) -> Iterator[_ActiveFilter]:
    """Yield the filters that are set, including the one that leaves out retracted papers."""
    if filters.year_from is not None or filters.year_to is not None:
        first, last = filters.year_from, filters.year_to
        years = (
            f"{first} to {last}" if first and last else f"from {first}" if first else f"to {last}"
        )
        without = replace(filters, year_from=None, year_to=None)
        yield _ActiveFilter(f"Years: {years}", without, lambda one: [str(one.year or "no year")])
    if filters.journal:
        without = replace(filters, journal="", journals=())
        known = "" if filters.journals else " (the corpus has no journal of this name)"
        asked = f"Journal: “{filters.journal}”{known}"
        yield _ActiveFilter(asked, without, lambda one: [one.journal or "no journal"])
    if filters.publication_types:
        without = replace(filters, publication_types=())
        asked = f"Type: {', '.join(filters.publication_types)}"
        yield _ActiveFilter(asked, without, lambda one: one.publication_types)
    if filters.mesh:
        without = replace(filters, mesh=())
        yield _ActiveFilter(f"MeSH: {', '.join(filters.mesh)}", without, lambda _: ())
    if filters.kind:
        kind = filters.kind.replace("_", " ")
        without = replace(filters, kind=None)
        yield _ActiveFilter(f"Kind: {kind}", without, lambda one: [one.kind.replace("_", " ")])
    if not filters.retracted:
        without = replace(filters, retracted=True)
        yield _ActiveFilter(_RETRACTED_TYPE, without, lambda _: ["retracted"])


def _find_with_filters(
    text: str, vector: NDArray[np.float32] | None, filters: Filters, corpus: Searchable
) -> list[Passage]:
    """Return the passages found with other filters, by words if any passage has them."""
    hits = corpus.finder.search(text, None, _MAX_COUNTED_PASSAGES, filters)
    if not hits and vector is not None:
        hits = corpus.finder.search("", vector, _MAX_COUNTED_PASSAGES, filters)
    return list(corpus.database.get_passages([hit.uuid for hit in hits]).values())


def _describe_paper_count(
    passages: Sequence[Passage], has: Callable[[Passage], Sequence[str]] | None = None
) -> str:
    """Return the number of papers and their most frequent values as text."""
    papers = {one.paper: one for one in passages}
    more = "at least " if len(passages) >= _MAX_COUNTED_PASSAGES else ""
    count = f"{more}{len(papers):,} paper{'s' * (len(papers) != 1)}"
    if not has:
        return count
    most = Counter(value for one in papers.values() for value in has(one)).most_common(
        _MAX_LISTED_VALUES
    )
    shown = ", ".join(f"{value}: {count:,}" for value, count in most)
    return f"{count} ({shown})" if shown else count
