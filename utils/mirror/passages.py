"""Passages of a mirror: an index by words, and what is shown of each, in one place.

Like the index of papers (`.words`), a document for each passage instead. It keeps the passage and
the facts of its paper beside the words (`.shown`), so that an answer is read from it and not from
Parquet, where one passage costs the reading of two thousand records. The parts stay the truth: what
is quoted is compared with them.

A search works on a `Snapshot`: the index and the published generation as they were when it began,
whatever is indexed or published meanwhile.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, groupby, repeat
from typing import TYPE_CHECKING, Any

from ..corpus.ranking import fold_filter_value, weigh_term
from ..corpus.word_index import (
    TERMS,
    add_optional_terms,
    add_unscored_conditions,
    build_filter_queries,
    build_numbers_query,
    build_terms_query,
    get_filtered_year_range,
    join_unscored_conditions,
    join_weighted_terms,
)
from ..errors import StoreFailed
from ..model.paper import Kind, Paper
from ..model.passage import Filters, Passage
from .columns import build_paper
from .generations import KEYS, Generation, Generations
from .manifest import SourceFile
from .reading import find_live_places, read_passages_at, read_rows_at
from .shown import Found, pack_shown, to_found, unpack_shown
from .words import WordIndex, encode_place, fold_text, get_filter_fields

if TYPE_CHECKING:
    import tantivy
    from tantivy import Document, Query

At = tuple[int, int]
"""A document of a snapshot: its segment, and its number there."""

KIND = "-passages"
FACTS = (
    *("journal", "journal_abbreviation", "issn", "year"),
    *("publication_types", "mesh", "retracted", "arxiv"),
)
"""What is said of a paper besides its title and its other names, by PubMed's columns."""
_PLACE = 1_000_000
_ALL = Filters(retracted=True)
_YEARS, _RETRACTIONS = 10, 50  # times as many, and so many more, are looked at for those that pass
_MORE = 8  # times as many, if too few of them pass
_NARROW = 0.01  # share of the documents below which a filter is part of the query
_CANDIDATES = 4_000  # documents with the rarest terms, of which the best are scored by all terms
# What the terms that are left out may add, as a share of the last score among the best.
_LEFT_OUT_SHARES = (0.2, 0.3)
# The costs of adding a term and of scoring again, measured in documents scored.
_TERM_COST, _RESCORING_COST = 4, 2_000_000
_MAX_IDF_FACTOR = 2.2 * 1.0001  # BM25's k1 + 1, and what rounding may add
_UNSEEN = "The index is being made anew just now."


class PassageIndex(WordIndex):
    """The index of the passages of one mirror."""

    kind = KIND
    names = (*WordIndex.names, "kind")
    numbers = (*WordIndex.numbers, "key", "retracted")
    columns: tuple[str, ...] = ("pmid", "doi", "pmcid", "position", "title", *FACTS)
    of: Kind = "abstract"
    """Which kind of text its passages are of."""

    def take_snapshot(self) -> Snapshot:
        """Return the index and the published generation as they are now.

        Raises
        ------
        EmptyStore
            There is no generation, or nothing of it is indexed yet.
        StoreFailed
            The index is damaged.
        """
        for _ in range(8):
            state, generation = self._read_state(), self.generations.require_current()
            if not state:
                raise self.to_not_indexed_error()
            with self.explain_errors():
                self.index.reload()
                searcher = self.index.searcher()
            if state == self._read_state():
                return Snapshot(self, searcher, generation, state)
        raise StoreFailed(_UNSEEN, "Ask again.")

    def _make_fields(self) -> tantivy.SchemaBuilder:
        builder = super()._make_fields()
        builder.add_bytes_field("shown", stored=True)
        return builder

    def make_documents(
        self, file: SourceFile, rows: Sequence[dict[str, Any]]
    ) -> Iterator[Document]:
        """Yield the documents of the passages of some rows of a file."""
        import tantivy

        records = {row["position"]: row for row in self.complete_rows(file, rows)}
        if not records:
            return
        passages = read_passages_at(file.get_part_path(self.generations.mirror, KIND), [*records])
        for position, some in groupby(passages, lambda row: row["position"]):
            record, place = records[position], encode_place(file.order, position)
            fields = {"place": place, "retracted": int(bool(record["retracted"])), "kind": self.of}
            fields |= get_filter_fields(record)
            title = fold_text(record["title"] or "")
            for row in some:
                made = tantivy.Document(
                    **fields,
                    key=make_key(row["digest"]),
                    terms=join_weighted_terms(
                        title, fold_text(row["section"] or ""), fold_text(row["text"])
                    ),
                    shown=pack_shown(place, record, {"kind": self.of, **row}),
                )
                self.add_fields(made, record, row)
                yield made

    def complete_rows(
        self, file: SourceFile, rows: Sequence[dict[str, Any]]
    ) -> Iterator[dict[str, Any]]:
        """Yield rows with all facts of their papers."""
        yield from rows

    def add_fields(
        self, document: Document, record: Mapping[str, Any], row: Mapping[str, Any]
    ) -> None:
        """Add the fields that only this index has to the document of a passage."""


@dataclass
class Snapshot:
    """Index and generation at one moment.

    ``rows`` are the passages that were read so far, by UUID.
    """

    words: PassageIndex
    searcher: tantivy.Searcher
    generation: Generation
    state: Mapping[str, Any]
    rows: dict[str, Found] = field(default_factory=dict)

    @property
    def generations(self) -> Generations:
        """The generations that the snapshot's generation is from."""
        return self.words.generations

    @property
    def is_exact(self) -> bool:
        """True if the index has exactly what the generation counts."""
        return "target" not in self.state and self.state["generation"] == self.generation.name

    @property
    def size(self) -> int:
        """The number of passages in the index."""
        return int(self.searcher.num_docs)

    def find_by_words(
        self, asked: Sequence[str], limit: int, filters: Filters
    ) -> list[tuple[At, float]]:
        """Return the documents with any of the terms that pass the filters, best first by BM25.

        The binding of tantivy scores each document of a union, however few are wanted: 10 ns for
        each time that a term stands in one. So only the rarer terms are searched (`_Terms`). A
        condition beside the union doubles the time, so a filter that many documents pass is
        checked of the best. If few pass, all of these are scored.
        """
        schema, terms = self.words.index.schema, self._weigh_terms(asked)
        conditions = [*build_filter_queries(schema, filters)]
        share = self.estimate_passing_share(filters)
        if share < _NARROW and conditions and terms.names:
            few = add_optional_terms(schema, join_unscored_conditions(conditions), terms.names)
            found = map(_to_address_and_score, self._search_index(few, limit))
            return [(at, score) for at, score in found if score]
        most = int(limit * (1 if _is_any_year(filters) else _YEARS) / max(share, _NARROW))
        is_filtered, most = most > limit, most + _RETRACTIONS * (not filters.retracted)
        left_out = [*_LEFT_OUT_SHARES] if most * 4 <= _CANDIDATES else []
        floor, deepest = terms.guess_floor(), most * _MORE
        while most <= deepest:
            plan = (*terms.plan_search(floor, left_out.pop() if left_out else 0.0), most)
            best, floor, is_certain = self._search_terms(terms, plan, limit, filters)
            if is_certain:
                return best
            if len(best) < limit and (is_filtered or plan[0] == len(terms.names)):
                # Few hits pass: look at more of them, or have the index check each.
                left_out, most = [], most * (_MORE if len(best) * _MORE > limit else _MORE**2)
        narrow = add_unscored_conditions(build_terms_query(schema, terms.names), conditions)
        return [_to_address_and_score(hit) for hit in self._search_index(narrow, limit)]

    def score_by_words(
        self, asked: Sequence[str], addresses: Collection[At], conditions: Sequence[Query] = ()
    ) -> dict[At, float]:
        """Return the BM25 score of those documents that have any of the terms, and meet conditions.

        Without terms, all documents that meet the conditions have the score 0.
        """
        schema, found, limit = self.words.index.schema, [], 20 * len(addresses) + 1_000
        some = bool(addresses and (asked or conditions))
        for names in (("key",), ("key", "place")) if some else ():
            values = (sorted({*self.get_field_values(name, addresses)}) for name in names)
            numbers = map(build_numbers_query, repeat(schema), names, values)
            query = join_unscored_conditions([*numbers, *conditions])
            found = self._search_index(add_optional_terms(schema, query, asked), limit)
            if len(found) < limit:  # else a text stands in very many papers
                break
        scores = dict(map(_to_address_and_score, found))
        return {at: scores[at] for at in addresses if at in scores and (scores[at] or not asked)}

    def find_by_key(self, keys: Iterable[int], filters: Filters) -> dict[int, list[At]]:
        """Documents by the key of their text, of those that pass the filters."""
        wanted = [int(key) for key in keys]
        if not wanted:
            return {}
        query = build_numbers_query(self.words.index.schema, "key", wanted)
        addresses = self.find_documents(query, 2 * len(wanted) + 100, filters)
        found = dict[int, list[At]]()
        for key, at in zip(self.get_keys(addresses), addresses, strict=True):
            found.setdefault(key, []).append(at)
        return found

    def get_keys(self, addresses: Sequence[At]) -> list[int]:
        """Return the keys of the texts of documents."""
        return self.get_field_values("key", addresses)

    def get_field_values(self, name: str, addresses: Iterable[At]) -> list[int]:
        """Return the values of documents in a numeric field."""
        documents = [_to_address(at) for at in addresses]
        values = self.searcher.fast_field_values(name, documents) if documents else []
        return [int(value or 0) for value in values]

    def find_passing_keys(self, filters: Filters, most: int) -> list[int] | None:
        """Return the keys of texts that pass some filters; None if there are more than *most*."""
        conditions = list(build_filter_queries(self.words.index.schema, filters))
        if not conditions:
            return None
        from tantivy import Occur, Query

        query = Query.boolean_query([(Occur.Must, one) for one in conditions])
        found: Any = self.searcher.search(query, most, count=True)
        if int(found.count or 0) > most:
            return None
        return self.get_keys([(at.segment_ord, at.doc) for _, at in found.hits])

    def read_passages(self, addresses: Sequence[At]) -> dict[At, Found]:
        """Return the passages of documents, without those that the generation does not count."""
        with self.words.explain_errors():
            kept = {at: bytes(self.searcher.doc(_to_address(at))["shown"][0]) for at in addresses}
            made = {at: to_found(unpack_shown(one)) for at, one in kept.items()}
        if not self.is_exact:
            live = self._find_live(made.values())
            made = {at: one for at, one in made.items() if one.place in live}
        self.rows.update((one.passage.uuid, one) for one in made.values())
        return made

    def get_passages(self, paper: str) -> list[Passage]:
        """Return the passages, in order, of a paper of which one was read."""
        from tantivy import Query

        place = next((one.place for one in self.rows.values() if one.passage.paper == paper), None)
        if place is None:
            return []
        schema = self.words.index.schema
        hits = self.find_documents(Query.term_query(schema, "place", place), 10_000)
        read = self.read_passages(hits)
        return sorted((one.passage for one in read.values()), key=lambda one: one.ordinal)

    def get_paper(self, key: str) -> Paper | None:
        """Return PubMed's record, as in the parts, of a paper of which a passage was read."""
        place = next((one.place for one in self.rows.values() if one.passage.paper == key), None)
        if place is None:
            return None
        order, position = divmod(place, _PLACE)
        part = next(file for file in self.files if file.order == order).get_part_path
        return next(map(build_paper, read_rows_at(part(self.generations.mirror), [position])), None)

    @property
    def files(self) -> list[SourceFile]:
        """The files of the generation."""
        return self.generations.list_files(self.generation)

    def describe_gaps(self) -> Iterator[str]:
        """Yield reasons why an answer may not cover all that is published."""
        yield from self.words.describe_gaps(self.state, self.generation)

    def _find_live(self, found: Iterable[Found]) -> set[int]:
        key = KEYS[self.generations.source]
        names = {getattr(one.paper.ids, key).removeprefix("PMC") for one in found} - {""}
        places = find_live_places(map(int, names), self.generations, self.generation).values()
        return {encode_place(order, position) for order, position in places}

    def find_documents(self, query: Query, limit: int, filters: Filters = _ALL) -> list[At]:
        """Return the best documents of a query with few hits that pass the filters."""
        conditions = build_filter_queries(self.words.index.schema, filters)
        hits = self._search_index(add_unscored_conditions(query, conditions), limit)
        return [(at.segment_ord, at.doc) for _, at in hits]

    def _search_index(self, query: Query, limit: int) -> list[tuple[Any, Any]]:
        with self.words.explain_errors():
            hits: list[Any] = self.searcher.search(query, limit, count=False).hits
        return hits

    def _ignore_fast_filters(self, filters: Filters) -> Filters:
        """Return the filters without those that fast fields, or the kind of the index, answer."""
        kind = None if filters.kind == self.words.of else filters.kind
        return replace(filters, year_from=None, year_to=None, retracted=True, kind=kind)

    def estimate_passing_share(self, filters: Filters) -> float:
        """Return the share of the documents that pass the filters by name, at most."""
        names = self._ignore_fast_filters(filters)
        fields = {"journal": names.journal_names, "types": names.publication_types}
        fields |= {"mesh": names.mesh, "kind": (names.kind,) if names.kind else ()}
        counts = [
            sum(self.searcher.doc_freq(name, fold_filter_value(value)) for value in values)
            for name, values in fields.items()
            if values
        ]
        return min(1.0, min(counts, default=self.size) / max(1, self.size))

    def _weigh_terms(self, asked: Sequence[str]) -> _Terms:
        """Return those terms that are in the index."""
        count = {term: self.searcher.doc_freq(TERMS, term) for term in asked}
        names = sorted(filter(count.__getitem__, asked), key=count.__getitem__)
        # Deleted documents count until their segment is merged, here as in BM25.
        every = max(self.size, self.searcher.doc_freq("kind", self.words.of))
        adds = [_MAX_IDF_FACTOR * weigh_term(count[name], every) for name in reversed(names)]
        counts, bounds = [count[name] for name in names], [*accumulate(adds, initial=0.0)]
        return _Terms(names, counts, bounds[::-1])

    def _search_terms(
        self, terms: _Terms, plan: tuple[int, int, int], limit: int, filters: Filters
    ) -> tuple[list[tuple[At, float]], float, bool]:
        """Return the best documents of a plan, their last score, and whether it is certain.

        The third number of the plan is that of hits of which *limit* should pass the filters.
        """
        searched, scored, end = plan
        names, bound, schema = terms.names, terms.bounds[scored], self.words.index.schema
        first = build_terms_query(schema, names[:searched])
        depth = _CANDIDATES if bound else end
        hits = self._search_index(add_optional_terms(schema, first, names[searched:scored]), depth)
        best, start, floor = list[tuple[At, float]](), 0, 0.0
        while start < min(end, len(hits)) and (not (start and bound) or end < depth):
            scores = self._score_passing(hits[start:end], names if bound else (), filters)
            best = sorted([*best, *scores.items()], key=lambda one: (-one[1], one[0]))[:limit]
            floor = best[-1][1] if len(best) == limit else 0.0
            start, end = end, bisect_right(hits, bound - floor, key=lambda hit: -hit[0])
        least = hits[-1][0] if len(hits) == depth else 0.0
        return best, floor, floor >= max(terms.bounds[searched], bound + least)

    def _score_passing(
        self, hits: Sequence[tuple[Any, Any]], names: Sequence[str], filters: Filters
    ) -> dict[At, float]:
        """Return those hits that pass the filters, with their scores by other terms if given."""
        scores = dict(map(_to_address_and_score, hits))
        if not _is_any_year(filters):
            first, last = get_filtered_year_range(filters)
            years = zip([*scores], self.get_field_values("year", scores), strict=True)
            scores = {at: scores[at] for at, year in years if first <= year <= last}
        if not filters.retracted:
            marks = zip([*scores], self.get_field_values("retracted", scores), strict=True)
            scores = {at: scores[at] for at, mark in marks if not mark}
        slow = self._ignore_fast_filters(filters)
        conditions = [*build_filter_queries(self.words.index.schema, slow)]
        if not (names or conditions):
            return scores
        found = self.score_by_words(names, scores, conditions)
        return {at: score or scores[at] for at, score in found.items()}


@dataclass(frozen=True, slots=True)
class _Terms:
    """The terms of a question, rarest first, and a plan to search few of them.

    The plan is that of MaxScore (Turtle and Flood, 1995). In BM25, a term adds less than ``(k1 + 1)
    * idf`` to a score. ``bounds[n]`` is the most that all terms but the first *n* add. ``counts``
    are the numbers of documents with each term.

    For example, the question is *effect of semaglutide*: *of* and *effect* add 3.1 at the most. The
    60th of the documents with *semaglutide*, scored by all terms, has 9. So no document without
    this term is among the best 60, and of those with it, only those with 5.9 or more for it alone.
    """

    names: list[str]
    counts: list[int]
    bounds: list[float]

    def guess_floor(self) -> float:
        """Return a guess of the last score among the best: measured, and seldom too high."""
        return 0.8 * self.bounds[0] / (1 + len(self.names) / 4)

    def plan_search(self, floor: float, left_out_share: float) -> tuple[int, int]:
        """Return the cheapest plan if a document needs a score above *floor*.

        The plan is two numbers of terms: a document has one of the first, and is scored by the
        second. Terms after the first add less than *floor* together, and those after the second no
        more than a share of it.
        """
        size, plans = len(self.names), [(sum(self.counts), len(self.names), len(self.names))]
        for searched in range(1, size) if left_out_share else ():
            documents = sum(self.counts[:searched])
            for scored in range(searched, size + 1):
                is_small = self.bounds[scored] <= left_out_share * floor
                if self.bounds[searched] < 0.9 * floor and is_small:
                    again = _RESCORING_COST if scored < size else 0
                    cost = documents * (1 + _TERM_COST * (scored - searched)) + again
                    plans.append((cost, searched, scored))
        return min(plans)[1:]


def _to_address_and_score(hit: tuple[Any, Any]) -> tuple[At, float]:
    score, at = hit
    return (at.segment_ord, at.doc), float(score)


def _is_any_year(filters: Filters) -> bool:
    return filters.year_from is None and filters.year_to is None


def _to_address(at: At) -> Any:
    import tantivy

    return tantivy.DocAddress(*at)


def make_key(digest: bytes) -> int:
    """Return the first eight bytes of a text's SHA-256, as a number that indexes hold.

    Of fifty million texts two have the same with a probability of 0.00007.
    """
    return int.from_bytes(digest[:8], "little", signed=True)
