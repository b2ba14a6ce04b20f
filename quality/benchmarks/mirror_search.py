"""Search a mirror that `quality.benchmarks.mirror_scale` made: CPU of each part, and memory.

    uv run --extra mirror python -m quality.benchmarks.mirror_search --folder F

Questions are of six kinds: two words of a title, a whole title, a title asked as a question, a
sentence, a rare term with frequent ones, and only frequent terms. CPU is that of all threads of
this process, which only searches. With ``--compare N``, the passages of N questions are compared
with those of an exhaustive search: BM25 of every passage that has a term, and the word score of
every candidate.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from quality.benchmarks.mirror_scale import make_vectors, read_pool
from utils.corpus.word_index import (
    add_unscored_conditions,
    build_filter_queries,
    build_terms_query,
)
from utils.mirror.generations import Generations
from utils.mirror.passages import At, PassageIndex, Snapshot
from utils.mirror.search import MirrorFinder
from utils.mirror.vectors import VectorStore
from utils.model.passage import Filters
from utils.outline import terms

_LIMIT = 60
_FRAMES = (
    "What is the effect of {} on patients?",
    "Does {} improve the outcome?",
    "How is {} related to mortality in adults over 65 years?",
)


def main() -> None:
    """Print what searches cost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--questions", type=int, default=240)
    parser.add_argument("--depth", type=int, default=_LIMIT, help="passages found by words")
    parser.add_argument("--compare", type=int, default=0)
    args = parser.parse_args()
    store = VectorStore(args.folder / "vectors")
    index = PassageIndex(Generations(args.folder, "pubmed"))
    snapshot = index.take_snapshot()
    if args.compare:
        print(json.dumps(_compare(args, snapshot, store)), flush=True)
    if args.questions:
        print(json.dumps(_measure(args, snapshot, store)), flush=True)


def make_questions(folder: Path, count: int) -> list[tuple[str, str]]:
    """Return kind and text of some questions, the same each time."""
    pool, chance = read_pool(folder), random.Random(5)
    found: list[tuple[str, str]] = []
    for title, sentences in chance.sample(pool["questions"], count):
        words = [one for one in title.rstrip(".").split() if len(one) > 3] or title.split()
        common = chance.sample(pool["common"], 4)
        kinds = {
            "two words": " ".join(chance.sample(words, min(2, len(words)))),
            "title": title,
            "question": chance.choice(_FRAMES).format(" ".join(words[:5])),
            "sentence": " ".join(chance.choice(sentences).split()[:15]),
            "rare": " ".join([chance.choice(pool["rare"]), *common[:3]]),
            "frequent": " ".join([*common, str(chance.randint(1, 90))]),
        }
        found.append(list(kinds.items())[len(found) % len(kinds)])
    return found


def make_filters(folder: Path, at: int) -> Filters:
    """Return one of four filters: years, a journal, a type, a heading."""
    row = read_pool(folder)["records"][at * 37]["row"]
    headings = [one.split("/")[0].lstrip("*") for one in row["mesh"]] or ["Humans"]
    return (
        Filters(year_from=2020),
        Filters(journal=row["journal"]),
        Filters(publication_types=("Journal Article",)),
        Filters(mesh=tuple(headings[:1])),
    )[at % 4]


def _measure(args: argparse.Namespace, snapshot: Snapshot, store: VectorStore) -> dict[str, Any]:
    questions = make_questions(args.folder, args.questions)
    near = make_vectors(range(10_000, 10_000 + len(questions)), store.dim)
    took: dict[str, list[float]] = defaultdict(list)
    by_kind: dict[str, list[float]] = defaultdict(list)
    finder = MirrorFinder(snapshot, store)
    for warm in (True, False):
        took.clear(), by_kind.clear()
        for at, (kind, text) in enumerate(questions[: 12 if warm else None]):
            asked, filters = terms.to_query_terms(text), make_filters(args.folder, at)
            steps: dict[str, Callable[[], Any]] = {
                "snapshot": snapshot.words.take_snapshot,
                "words": lambda a=asked: snapshot.find_by_words(a, args.depth, Filters()),
                "vectors": lambda v=near[at]: store.find_nearest(v, 4 * _LIMIT),
                "hybrid": lambda t=text, v=near[at]: finder.search(t, v, _LIMIT, Filters()),
                "filtered": lambda t=text, v=near[at], f=filters: finder.search(t, v, _LIMIT, f),
            }
            for name, step in steps.items():
                spent, wall = _time(step)
                took[name].append(spent)
                took[f"{name}, wall"].append(wall)
                if name == "filtered":
                    of = ("years", "journal", "type", "heading")[at % 4]
                    by_kind[f"filtered by {of}"].append(spent)
                if name in ("words", "hybrid"):
                    by_kind[f"{name}: {kind}"].append(spent)
    return {
        "passages": snapshot.size,
        "segments": [snapshot.searcher.num_segments, len(store.segments)],
        **{name: _summarise(some) for name, some in {**took, **by_kind}.items()},
        "MiB": _read_memory(),
        "MB": {name: round(_size(args.folder / name)) for name in ("words", "vectors")},
    }


class _Exhaustive(Snapshot):
    """A snapshot that scores every passage with any of the terms."""

    def find_by_words(
        self, asked: Sequence[str], limit: int, filters: Filters
    ) -> list[tuple[At, float]]:
        """Return the best documents; a second condition keeps any from being skipped."""
        from tantivy import Query

        schema = self.words.index.schema
        conditions = [*build_filter_queries(schema, filters), Query.all_query()]
        query = add_unscored_conditions(build_terms_query(schema, asked), conditions)
        hits = self.searcher.search(query, limit, count=False).hits
        return [((at.segment_ord, at.doc), float(score)) for score, at in hits]


def _compare(args: argparse.Namespace, snapshot: Snapshot, store: VectorStore) -> dict[str, Any]:
    """Return the share of questions whose best ten are those of an exhaustive search."""
    questions = make_questions(args.folder, args.compare)
    near = make_vectors(range(10_000, 10_000 + len(questions)), store.dim)
    facts = (snapshot.words, snapshot.searcher, snapshot.generation, snapshot.state)
    finders = MirrorFinder(snapshot, store), MirrorFinder(_Exhaustive(*facts), store)
    same: dict[str, list[bool]] = defaultdict(list)
    for at, (_, text) in enumerate(questions):
        named = ("years", "journal", "type", "heading")[at % 4]
        for name, filters in (("any", Filters()), (named, make_filters(args.folder, at))):
            for way, vector in (("words", None), ("hybrid", near[at])):
                one, other = ([round(hit.score, 4) for hit in
                               finder.search(text, vector, _LIMIT, filters)[:10]]
                              for finder in finders)  # fmt: skip
                same[f"{way}, {name}"].append(one == other)
    return {name: [sum(some), len(some)] for name, some in same.items()}


def _time(step: Callable[[], Any]) -> tuple[float, float]:
    """Return CPU and wall milliseconds."""
    wall, cpu = time.perf_counter(), time.process_time()
    step()
    return (time.process_time() - cpu) * 1_000, (time.perf_counter() - wall) * 1_000


def _summarise(values: list[float]) -> list[float]:
    """Return median and 95th percentile."""
    return [round(float(np.percentile(values, share)), 1) for share in (50, 95)]


def _read_memory() -> dict[str, int]:
    text = Path("/proc/self/status").read_text(encoding="utf-8")
    status = dict(line.split(":", 1) for line in text.splitlines())
    names = {"own": "RssAnon", "mapped": "RssFile", "most": "VmHWM"}
    return {name: int(status[field].split()[0]) // 1024 for name, field in names.items()}


def _size(folder: Path) -> float:
    """Return the MB on the disk, files with several names once."""
    sizes = {(s := path.stat()).st_ino: s.st_size for path in folder.rglob("*") if path.is_file()}
    return sum(sizes.values()) / 1e6


if __name__ == "__main__":
    main()
