"""Search over a mirror's passages as it grows to tens of millions: time, memory, disk.

    uv run --extra mirror python -m quality.benchmarks.mirror_scale --passages 1000000 3000000

One mirror grows, and is searched at each size by a process of its own, as in
`quality.benchmarks.mirror_search`, whose words, questions and vectors these are. That it is done in
hours, records are not laid down as parts and read again, and a passage is four stretches of forty
words of a pool of three million, with two words of its own: so words are as frequent as in real
records, and no two passages alike. Only its first words are kept to be shown. Index, merging,
vectors and search are the product's own: times and memory are those of a mirror of this size. What
its index takes on disk, and how fast it is made, says `quality.benchmarks.mirror_search`.
Interrupted, it goes on where it was, with the same ``--folder``. With ``--times 10`` the last size
is searched ten times over besides, by links to the same files: a search then goes through as much
as in a mirror of that size, in more segments, but finds each passage ten times, and less is mapped.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np

from quality.benchmarks.mirror_search import MODEL, Words, part_of, vectors_of
from utils.mirror.generations import Generations
from utils.mirror.passages import PassageIndex
from utils.mirror.splits import HEAP
from utils.mirror.vectors import VectorStore, pack_vectors
from utils.system import safe_files

_FILE, _COMMIT = 30_000, 240_000  # passages of a source file, and between two commits
_BLOCK = 1_000
_TITLE = 13  # words
_ROW = {
    **dict.fromkeys(("ordinal", "start", "end"), 0),
    "kind": "abstract",
    "chunk_id": "abstract-1",
    "section": "Abstract",
}


def main() -> None:
    """Grow a mirror, and search it at each size in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--passages", type=int, nargs="+", default=[100_000, 300_000])
    parser.add_argument("--dim", type=int, default=384)
    parser.add_argument("--questions", type=int, default=60)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--data", type=Path, help="a folder with pubmed*n*.xml.gz")
    parser.add_argument("--times", type=int, default=1)
    parser.add_argument("--only-make", action="store_true")
    args = parser.parse_args()
    if not (args.folder / "words.json").exists():
        Words.counted(args.data).folded().keep(args.folder)
    for passages in sorted(args.passages):
        _grow(args.folder, passages, args.dim)
        if not args.only_make:
            _search(args.folder, passages, args)
    if args.times > 1:
        linked = args.folder.with_name(f"{args.folder.name}-{args.times}-times")
        _link(args.folder, linked, args.times)
        _search(linked, max(args.passages) * args.times, args)


def _search(folder: Path, passages: int, args: argparse.Namespace) -> None:
    again = [
        sys.executable,
        "-m",
        "quality.benchmarks.mirror_search",
        "--only-search",
        "--exact",
        "0",
    ]
    again += ["--passages", str(passages), "--dim", str(args.dim)]
    again += ["--questions", str(args.questions), "--folder", str(folder)]
    subprocess.run(again, check=True)


def _link(folder: Path, linked: Path, times: int) -> None:
    """A mirror that has the segments of another so many times."""
    shutil.rmtree(linked, ignore_errors=True)
    shutil.copytree(folder, linked, copy_function=os.link)
    index = PassageIndex(Generations(linked, "pubmed")).folder / "index"
    about = json.loads((index / "meta.json").read_text(encoding="utf-8"))
    for segment in about["segments"] * (times - 1):
        other, name = uuid4(), segment["segment_id"].replace("-", "")
        for path in index.glob(f"{name}.*"):
            os.link(path, index / f"{other.hex}{path.name.removeprefix(name)}")
        about["segments"].append({**segment, "segment_id": str(other)})
    safe_files.write_file(index / "meta.json", json.dumps(about).encode())
    vectors = linked / "vectors"
    state = json.loads((vectors / "state.json").read_text(encoding="utf-8"))
    state["segments"] *= times  # a folder may be mapped more than once
    safe_files.write_file(vectors / "state.json", json.dumps(state).encode())


def _grow(folder: Path, passages: int, dim: int) -> None:
    """Index and vectors of so many passages, of which some may be there."""
    generations = Generations(folder, "pubmed")
    if generations.get_published() is None:  # who searches wants one
        some = part_of(folder, 0, argparse.Namespace(passages=_BLOCK))
        generations.publish(generations.build([some], {}).name)
    index, store = PassageIndex(generations), VectorStore(folder / "vectors")
    pool = _pool(Words.kept(folder))
    began, cpu = time.perf_counter(), time.process_time()
    first = _done(index)
    for at in range(first, passages, _COMMIT):
        _commit(index, pool, range(at, min(at + _COMMIT, passages)))
    said = f"{time.perf_counter() - began:,.0f} s, {time.process_time() - cpu:,.0f} of CPU"
    print(f"words: {first:,} to {passages:,} in {said}", flush=True)
    began, cpu, first = time.perf_counter(), time.process_time(), store.size
    for at in range(first, passages, _FILE):
        some = range(at, min(at + _FILE, passages))
        store.write_chunk(f"{at:012}", pack_vectors(keys_of(some), vectors_of(some, dim)))
    store.build_segments(MODEL, dim)
    said = f"{time.perf_counter() - began:,.0f} s, {time.process_time() - cpu:,.0f} of CPU"
    print(f"vectors: {first:,} to {passages:,} in {said}", flush=True)


def _pool(words: Words) -> list[str]:
    """Words in a row, as frequent as they are, new ones made up."""
    drawn = words.drawn(20_000, 160, np.random.default_rng(1))
    return [term for some in drawn for word in some for term in word.split()]


def _done(index: PassageIndex) -> int:
    """How many passages are indexed; the index is as good as one of the generation."""
    safe_files.make_folder(index.folder)
    name = index.generations.require_current().name
    (index.folder / "generation.json").write_text(
        json.dumps({"generation": name}), encoding="utf-8"
    )
    index.index.reload()
    return int(index.index.searcher().num_docs)


def _commit(index: PassageIndex, pool: list[str], numbers: range) -> None:
    """Index some passages, with as many threads and as much memory as the product takes."""
    import tantivy

    writer = index.index.writer(HEAP, 1)
    for at in range(0, len(numbers), _BLOCK):
        for fields in _documents(pool, numbers[at : at + _BLOCK]):
            writer.add_document(tantivy.Document(**fields))
    writer.commit()
    writer.wait_merging_threads()


def _documents(pool: list[str], numbers: range) -> Iterator[dict[str, Any]]:
    """The fields of passages of 160 words."""
    chance, count = np.random.default_rng(numbers.start), len(numbers)
    journals, years = chance.integers(5_000, size=count), chance.integers(1970, 2027, size=count)
    headings = chance.integers(30_000, size=(count, 8)).tolist()
    places, keys = chance.integers(len(pool) - 40, size=(count, 4)).tolist(), keys_of(numbers)
    for at, number in enumerate(numbers):
        words = list(chain.from_iterable(pool[one : one + 40] for one in places[at]))
        title, year = " ".join(words[:_TITLE]), int(years[at])
        mesh = [f"heading {one}" for one in headings[at]]
        about = {"title": title, "year": year, "mesh": mesh, "ids": {"pmid": str(number + 1)}}
        yield {
            "place": number,
            "key": int(keys[at]),
            "shown": json.dumps({**_ROW, **about, "text": title, "place": number}).encode(),
            "retracted": 0,
            "kind": "abstract",
            "title": title,
            "section": "abstract",
            "text": f"{' '.join(words[_TITLE:])} y{number:x} z{number:x}",
            "year": year,
            "journal": [f"journal {journals[at]}"],
            "types": ["journal article"],
            "mesh": mesh,
        }


def keys_of(numbers: range) -> np.ndarray:
    """A key for each passage, no two the same: odd factors only shuffle 64 bits."""
    every = np.arange(numbers.start, numbers.stop, dtype=np.uint64)
    return (every * np.uint64(0x9E3779B97F4A7C15)).view(np.int64)


if __name__ == "__main__":
    main()
