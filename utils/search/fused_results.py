"""Merge several ranked lists of records into one list of papers, best first.

Order is reciprocal rank fusion: a paper scores 1/(60 + rank) in every list it is in (Cormack,
Clarke & Büttcher, SIGIR 2009), so that agreement beats any single opinion, and no source's scores
need to be comparable with another's.

The records of one paper become one: the most trusted wins field by field, and the others fill its
gaps. Trust follows who keeps the record: indexers that check it (PubMed, then Europe PMC, which
takes most of its from PubMed), then what publishers deposited (Crossref), then what machines
gathered (Semantic Scholar, OpenAlex), then preprint servers. Whatever its source, a preprint's
record comes after a published version's.

Comparing every pair takes the square of their number, but records of one paper share at least one
of a few keys (an identifier, how the title begins or ends, first author and page), so only those
that meet under a key are compared: two thousand records take a fraction of a second.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product
from typing import Any

from ..model.identifiers import ID_NAMES, Ids
from ..model.paper import Notice, Paper
from ..model.sites import SOURCES_BY_TRUST
from .compared_records import ComparedRecord, is_preprint_without_journal
from .same_paper import Judgement, Relation, judge_compared_pair

_FUSION_RANK_OFFSET = 60
# Gaps that another record of the same paper may fill.
_FILLABLE_FIELDS = (
    *("title", "abstract", "authors", "journal", "journal_abbreviation", "issn", "volume"),
    *("issue", "pages", "published", "languages", "vernacular_title", "other_abstracts"),
    *("publication_types", "mesh", "keywords", "version", "categories"),
)
# Facts of one record's history or terms: filled from a record of the same version only.
_VERSION_FIELDS = ("entered", "revised", "released", "license", "reference_count")
_TITLE_KEY_CHARS = 24  # of a title's beginning and end
_PREPRINTS = ("preprint_of", "has_preprint")
_APART = Judgement("different", "a person found them different", 1.0)
_BLOCK_MAX_RECORDS = 40  # records under one key; more are told apart by year and author first


@dataclass(frozen=True, slots=True)
class MergedRecord:
    """A record that was merged into another, with the reason; identifiers give confidence 1."""

    source: str
    ids: Ids
    title: str
    reason: str
    confidence: float


@dataclass(frozen=True, slots=True)
class LinkedPaper:
    """A related paper that is listed separately.

    ``relation`` is this paper's: it is a ``preprint_of`` the other, ``has_preprint`` in it, is
    another ``version_of`` it, or ``may_be`` the same paper, which nothing proves.
    """

    relation: Relation
    ids: Ids
    title: str
    reason: str
    confidence: float


@dataclass(frozen=True, slots=True)
class FoundPaper:
    """A paper, merged from every source that found it.

    ``sources`` are those that sent it, the one whose fields win first (see `merged`);
    ``same`` what was merged into that first record.
    """

    paper: Paper
    sources: tuple[str, ...]
    same: tuple[MergedRecord, ...] = ()
    linked: tuple[LinkedPaper, ...] = ()

    def row(self, *, abstract: bool = True) -> dict[str, Any]:
        """Return the paper, its identifiers and sources, and why its records were merged."""
        paper = self.paper
        row = paper.row() | {"arxiv_id": paper.ids.arxiv, "s2_id": paper.ids.s2}
        return row | {
            "abstract": paper.abstract if abstract else "",
            "version": "preprint" if is_preprint_without_journal(paper) else "",
            "sources": list(self.sources),
            "same": [{"source": one.source, **_to_linked_row(one)} for one in self.same],
            "linked": [{"relation": one.relation, **_to_linked_row(one)} for one in self.linked],
        }


def _to_linked_row(other: MergedRecord | LinkedPaper) -> dict[str, Any]:
    return {
        "ids": other.ids.names(),
        "title": other.title,
        "reason": other.reason,
        "confidence": other.confidence,
    }


def fuse_lists(
    lists: Mapping[str, Sequence[Paper]], *, by_date: bool = False
) -> tuple[tuple[FoundPaper, ...], tuple[str, ...]]:
    """Merge ranked lists from several sources; also return the contradictions in them.

    The newest first with *by_date*, else the best; a preprint always right behind its published
    version.
    """
    records = [
        (name, rank, paper) for name, papers in lists.items() for rank, paper in enumerate(papers)
    ]
    families = group_records([paper for _, _, paper in records])
    found: list[FoundPaper] = []
    scores: list[float] = []
    for group in families.groups:
        members = sorted(group, key=lambda at: get_trust_sort_key(records[at][0], records[at][2]))
        found.append(_merge_group([records[at] for at in members], members, families.reasons))
        scores.append(_compute_score([records[at] for at in group]))
    for one, other, judgement in families.links:
        found[one] = _add_linked_paper(found[one], found[other], judgement)
        found[other] = _add_linked_paper(found[other], found[one], judgement.inverse)
    order = sorted(range(len(found)), key=lambda at: -scores[at])
    ordered = [found[at] for at in order]
    if by_date:
        ordered.sort(key=lambda one: one.paper.published, reverse=True)
    return tuple(_place_preprints_after_published(ordered)), families.contradictions


def _compute_score(records: Iterable[tuple[str, int, Paper]]) -> float:
    """Return the fusion score of a paper; a source that lists the paper twice counts once."""
    best: dict[str, int] = {}
    for name, rank, _ in records:
        best[name] = min(rank, best.get(name, rank))
    return sum(1 / (_FUSION_RANK_OFFSET + rank + 1) for rank in best.values())


def _merge_group(
    records: Sequence[tuple[str, int, Paper]],
    places: Sequence[int],
    reasons: Mapping[int, Judgement],
) -> FoundPaper:
    """Merge the records of one paper, the most trusted first."""
    papers = [paper for _, _, paper in records]
    same = []
    for (name, _, paper), at in zip(records[1:], places[1:], strict=True):
        why = reasons.get(at) or reasons[places[0]]
        same.append(MergedRecord(name, paper.ids, paper.title, why.reason, why.confidence))
    names = tuple(dict.fromkeys(name for name, _, _ in records))
    return FoundPaper(merge_records(papers), names, tuple(same))


def _add_linked_paper(ours: FoundPaper, theirs: FoundPaper, judgement: Judgement) -> FoundPaper:
    paper = theirs.paper
    link = LinkedPaper(
        judgement.relation, paper.ids, paper.title, judgement.reason, judgement.confidence
    )
    return replace(ours, linked=(*ours.linked, link))


def _place_preprints_after_published(found: Sequence[FoundPaper]) -> Iterator[FoundPaper]:
    """Yield the papers in order, each preprint directly after its published version."""
    by_ids = {one.paper.ids: one for one in found if one.paper.ids}
    yielded: set[int] = set()
    for one in found:
        published = next(_iterate_linked_papers(one, "preprint_of", by_ids), one)
        for each in (published, *_iterate_linked_papers(published, "has_preprint", by_ids), one):
            if id(each) not in yielded:
                yielded.add(id(each))
                yield each


def _iterate_linked_papers(
    one: FoundPaper, relation: Relation, by_ids: Mapping[Ids, FoundPaper]
) -> Iterator[FoundPaper]:
    """Yield the papers to which *one* is linked by a relation."""
    yield from (
        by_ids[link.ids] for link in one.linked if link.relation == relation and link.ids in by_ids
    )


def get_trust_sort_key(source: str, paper: Paper) -> tuple[bool, int]:
    """Return a sort key that puts the most trusted record first."""
    place = SOURCES_BY_TRUST.index(source) if source in SOURCES_BY_TRUST else len(SOURCES_BY_TRUST)
    return is_preprint_without_journal(paper), place


def merge_records(records: Sequence[Paper]) -> Paper:
    """Return the first record with its gaps filled from the others, and all identifiers."""
    paper, ids = records[0], records[0].ids
    for other in records[1:]:
        ids |= other.ids
        one_version = is_preprint_without_journal(paper) == is_preprint_without_journal(other)
        names = _FILLABLE_FIELDS + (_VERSION_FIELDS if one_version else ())
        gaps = {name: getattr(other, name) for name in names if not getattr(paper, name)}
        paper = replace(paper, ids=ids, notices=_merge_notices(paper, other), **gaps)
    return paper


def _merge_notices(paper: Paper, other: Paper) -> tuple[Notice, ...]:
    """Return the notices of both records; a retraction in either is kept."""
    kinds = {notice.kind for notice in paper.notices}
    more = tuple(notice for notice in other.notices if notice.kind not in kinds)
    if other.retracted and not paper.retracted and "retraction" not in {n.kind for n in more}:
        more = (*more, Notice("retraction"))
    return (*paper.notices, *more)


@dataclass(frozen=True, slots=True)
class RecordGroups:
    """Records grouped by paper, as positions in the given list.

    ``reasons`` says for each record that joined another why it did; ``links`` are between places
    in ``groups``; ``contradictions`` name records kept apart although they share an identifier.
    """

    groups: tuple[tuple[int, ...], ...]
    reasons: Mapping[int, Judgement]
    links: tuple[tuple[int, int, Judgement], ...]
    contradictions: tuple[str, ...]


def group_records(papers: Sequence[Paper], apart: Collection[tuple[int, int]] = ()) -> RecordGroups:
    """Group records of the same paper, and link papers that belong together.

    Groups are in the order of their first record. No group holds two records that contradict each
    other, also not by way of a third. Nor does it hold two records whose places are a pair in
    *apart*: a person looked at both.
    """
    records = [ComparedRecord(paper) for paper in papers]
    verdicts = {
        pair: judge_compared_pair(*(records[at] for at in pair))
        for pair in _iterate_candidate_pairs(records)
    }
    verdicts |= dict.fromkeys(apart, _APART)
    groups = _GroupBuilder(records, verdicts)
    # The surest first, so that a doubtful pair never keeps a certain one apart.
    alike = sorted(
        (pair for pair, judgement in verdicts.items() if judgement.relation == "same"),
        key=lambda pair: (-verdicts[pair].confidence, not _share_pmid(records, *pair)),
    )
    proven = [pair for pair in alike if verdicts[pair].confidence == 1.0]
    for pair in proven:
        groups.merge_groups(*pair)
    likely = alike[len(proven) :]
    doubtful = groups.find_doubtful_pairs(likely)
    for pair in likely:
        if pair not in doubtful:
            groups.merge_groups(*pair)
    return groups.to_record_groups()


class _GroupBuilder:
    """Groups records so that no group contradicts itself."""

    def __init__(
        self, records: Sequence[ComparedRecord], verdicts: Mapping[tuple[int, int], Judgement]
    ) -> None:
        self._records = records
        self._verdicts = verdicts
        self._group = list(range(len(records)))
        self._members = {at: [at] for at in range(len(records))}
        self._ids = {at: {one.paper.ids} for at, one in enumerate(records)}
        self._reasons: dict[int, Judgement] = {}
        self._contradictions: list[str] = []
        for (one, other), judgement in verdicts.items():
            shared = _find_shared_name(records[one].paper.ids, records[other].paper.ids)
            if shared and judgement.relation != "same":
                self._add_contradiction(one, other, f"both have {shared}, but {judgement.reason}")

    def merge_groups(self, one: int, other: int) -> None:
        """Merge the groups of two records, unless their identifiers or contents contradict."""
        first, second = sorted((self._group[one], self._group[other]))
        if first == second:
            return
        why = self._verdicts[min(one, other), max(one, other)]
        if self._are_contradictory(first, second):
            if (clash := self._find_conflicting_ids(first, second)) and why.confidence == 1.0:
                self._add_contradiction(one, other, f"{why.reason}, but {clash}")
            return
        self._reasons[second] = why
        self._ids[first] |= self._ids.pop(second)
        for at in self._members[second]:
            self._group[at] = first
        self._members[first] += self._members.pop(second)

    def find_doubtful_pairs(self, pairs: Iterable[tuple[int, int]]) -> set[tuple[int, int]]:
        """Return pairs not to be joined because a contradicting record is at least as similar.

        No order of asking may decide whose a record is.
        """
        at_record: dict[int, list[tuple[int, tuple[int, int]]]] = defaultdict(list)
        for one, other in pairs:
            at_record[one].append((other, (one, other)))
            at_record[other].append((one, (one, other)))
        found = set()
        for around in at_record.values():
            for (a, ours), (b, theirs) in combinations(around, 2):
                if self._are_contradictory(self._group[a], self._group[b]):
                    sure, surer = (self._verdicts[pair].confidence for pair in (ours, theirs))
                    found.update([ours] * (sure <= surer) + [theirs] * (surer <= sure))
        return found

    def _add_contradiction(self, one: int, other: int, why: str) -> None:
        """Note two records that share an identifier but cannot be the same paper."""
        message = (
            f"{self._records[one].paper.ids} and {self._records[other].paper.ids} are kept apart"
        )
        self._contradictions.append(f"{message}: {why}.")

    def to_record_groups(self) -> RecordGroups:
        """Return the groups with reasons, links and contradictions."""
        roots = sorted(self._members)
        place = {root: number for number, root in enumerate(roots)}
        best: dict[tuple[int, int], Judgement] = {}
        for (one, other), verdict in self._verdicts.items():
            ours, theirs = place[self._group[one]], place[self._group[other]]
            if verdict.relation == "different" or ours == theirs:
                continue
            judgement = verdict if ours < theirs else verdict.inverse
            if judgement.relation == "same":
                judgement = Judgement(
                    "may_be", f"{judgement.reason}, but something contradicts it", 0.5
                )
            pair = min(ours, theirs), max(ours, theirs)
            if pair not in best or best[pair].confidence < judgement.confidence:
                best[pair] = judgement
        links = _keep_likeliest_links(best)
        return RecordGroups(
            tuple(tuple(sorted(self._members[root])) for root in roots),
            self._reasons,
            tuple(
                (ours, theirs, judgement)
                for (ours, theirs), judgement in sorted(links.items(), key=_get_pair)
            ),
            tuple(dict.fromkeys(self._contradictions)),
        )

    def _are_contradictory(self, one: int, other: int) -> bool:
        """Return whether two groups hold records that cannot be the same paper."""
        if one == other:
            return False
        return bool(self._find_conflicting_ids(one, other)) or any(
            self._are_different_papers(*pair)
            for pair in product(self._members[one], self._members[other])
        )

    def _find_conflicting_ids(self, one: int, other: int) -> str:
        """Return the contradicting identifiers of two groups; empty if they share a PMID."""
        for name in ("pmid", *ID_NAMES):
            ours, theirs = (
                {value for ids in self._ids[at] if (value := getattr(ids, name))}
                for at in (one, other)
            )
            if name == "pmid" and ours & theirs:
                return ""
            if ours and theirs and not ours & theirs:
                return f"{name} {min(ours)} and {name} {min(theirs)}"
        return ""

    def _are_different_papers(self, one: int, other: int) -> bool:
        pair = min(one, other), max(one, other)
        verdict = self._verdicts.get(pair) or judge_compared_pair(
            self._records[pair[0]], self._records[pair[1]]
        )
        if verdict.relation == "may_be":  # a yearly report, unless something proves otherwise
            return self._records[one].year != self._records[other].year
        return verdict.relation == "different" and verdict.confidence == 1.0


def _keep_likeliest_links(
    links: dict[tuple[int, int], Judgement],
) -> dict[tuple[int, int], Judgement]:
    """Link each preprint to one paper, the likeliest; lower the confidence if several are equal."""
    published: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for pair, judgement in links.items():
        if judgement.relation in _PREPRINTS:
            published[pair[judgement.relation == "has_preprint"]].append(pair)
    kept = {
        pair: judgement for pair, judgement in links.items() if judgement.relation not in _PREPRINTS
    }
    for pairs in published.values():
        surest = max(links[pair].confidence for pair in pairs)
        likely = [pair for pair in pairs if links[pair].confidence == surest]
        kept |= {
            pair: replace(links[pair], confidence=round(surest / len(likely), 2)) for pair in likely
        }
    return kept


def _get_pair(link: tuple[tuple[int, int], Judgement]) -> tuple[int, int]:
    return link[0]


def _share_pmid(records: Sequence[ComparedRecord], one: int, other: int) -> bool:
    pmid = records[one].paper.ids.pmid
    return pmid != "" and pmid == records[other].paper.ids.pmid


def _find_shared_name(ours: Ids, theirs: Ids) -> str:
    return min(set(ours.names()) & set(theirs.names()), default="")


def _iterate_candidate_pairs(records: Sequence[ComparedRecord]) -> Iterator[tuple[int, int]]:
    """Yield each pair of records worth comparing, once."""
    blocks: dict[str, list[int]] = defaultdict(list)
    for at, one in enumerate(records):
        for key in dict.fromkeys(_iterate_blocking_keys(one)):
            blocks[key].append(at)
    yield from dict.fromkeys(
        pair
        for key, block in blocks.items()
        for small in _split_large_block(block, records, named=key.partition(":")[0] in ID_NAMES)
        for pair in combinations(small, 2)
    )


def _iterate_blocking_keys(one: ComparedRecord) -> Iterator[str]:
    """Yield the keys under which a record meets similar ones."""
    yield from one.paper.ids.names()
    first = one.first_and_last_authors[0][0] if one.first_and_last_authors else ""
    for words in one.titles:
        title = "".join(words)
        yield f"begins:{title[:_TITLE_KEY_CHARS]}"
        yield f"ends:{title[-_TITLE_KEY_CHARS:]}"
    if first and one.page[1]:
        yield f"page:{first}:{one.page[1]}"
    # A preprint may get another title; who wrote it and who led the work stay.
    if first and len(one.first_and_last_authors) > 1:
        second, last = one.first_and_last_authors[1][0], one.first_and_last_authors[-1][0]
        yield f"authors:{first}:{second}:{last}"


def _split_large_block(
    block: list[int], records: Sequence[ComparedRecord], *, named: bool
) -> Iterator[list[int]]:
    """Split a block that many records share by author and year.

    The first of a part is compared with all of it, so that none of many copies is left alone; and
    where the key is an identifier, with the first of every other part.
    """
    if len(block) <= _BLOCK_MAX_RECORDS:
        yield block
        return
    parts: dict[tuple[object, ...], list[int]] = defaultdict(list)
    for at in block:
        one = records[at]
        parts[one.first_and_last_authors[:1], one.year, one.volume, one.page].append(at)
    for first, *others in parts.values():
        for start in range(0, len(others) or 1, _BLOCK_MAX_RECORDS - 1):
            yield [first, *others[start : start + _BLOCK_MAX_RECORDS - 1]]
    if named:
        yield [part[0] for part in parts.values()]
