"""How long finding a passage takes, and what it costs to make it findable.

``uv run python -m quality.benchmarks.corpus_search [--passages N] [--beside]``

The words are real: each passage joins two stretches of the recorded articles, so that no two are
alike and words are as frequent as they are. The vectors are not: noise around a thousand centres,
384 wide. Questions are stretches of eight to fourteen words of a passage, with a vector near its
own. Each way runs in a process of its own, whose greatest memory is told, and what of it at the end
is the process's own and no file that is mapped (Linux).

``--beside`` does the same with Chroma's default (a persistent collection, its HNSW, vectors given;
it has no words) and with LanceDB as its documentation makes a hybrid table (a full-text index, an
IVF index of vectors, reciprocal ranks), each in an environment of its own: uv fetches them.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
DIM = 384
BATCH = 1_000
QUESTIONS = 200


def stretches(data: Path) -> list[tuple[str, str]]:
    """Title and some sixty words, of all articles."""
    from lxml import etree

    found = []
    for path in sorted(data.glob("articles/*/jats.xml")):
        root = etree.parse(path).getroot()
        title = " ".join("".join(root.find(".//article-title").itertext()).split())
        for paragraph in root.iterfind(".//body//p"):
            words = "".join(paragraph.itertext()).split()
            found += [
                (title, " ".join(words[at : at + 90])) for at in range(0, len(words) - 60, 90)
            ]
    return found


def invent(folder: Path, data: Path, count: int) -> None:
    """Passages, vectors and questions, written for every way to read."""
    chance, noise = random.Random(7), np.random.default_rng(7)
    real = stretches(data)
    with (folder / "passages.jsonl").open("w", encoding="utf-8") as file:
        for number in range(count):
            (title, first), (_, second) = real[number % len(real)], chance.choice(real)
            file.write(json.dumps([title, f"{first} {second}"]) + "\n")
    centres = noise.standard_normal((1_000, DIM), np.float32)
    rows = np.lib.format.open_memmap(folder / "vectors.npy", "w+", np.float32, (count, DIM))
    for start in range(0, count, 50_000):
        block = centres[noise.integers(0, 1_000, min(50_000, count - start))]
        block = block + 0.7 * noise.standard_normal(block.shape, np.float32)
        rows[start : start + len(block)] = block / np.linalg.norm(block, axis=1, keepdims=True)
    asked = []
    for number in chance.sample(range(count), QUESTIONS):
        words = real[number % len(real)][1].split()
        at, long = chance.randrange(0, len(words) - 14), chance.randint(8, 14)
        near = rows[number] + 0.03 * noise.standard_normal(DIM, np.float32)
        asked.append([" ".join(words[at : at + long]), (near / np.linalg.norm(near)).tolist()])
    (folder / "questions.json").write_text(json.dumps(asked), encoding="utf-8")


def batches(folder: Path) -> Iterator[tuple[int, list[list[str]], np.ndarray]]:
    vectors = np.load(folder / "vectors.npy", mmap_mode="r")
    with (folder / "passages.jsonl").open(encoding="utf-8") as file:
        for start in range(0, len(vectors), BATCH):
            texts = [json.loads(file.readline()) for _ in range(min(BATCH, len(vectors) - start))]
            yield start, texts, np.array(vectors[start : start + len(texts)])


def timed(ask: Callable[[str, np.ndarray], object], folder: Path) -> str:
    """Median and 95th percentile in ms, and the CPU's median, after ten questions to warm up."""
    questions = json.loads((folder / "questions.json").read_text(encoding="utf-8"))
    taken, worked = [], []
    for words, vector in questions[:10] + questions:
        row = np.array(vector, np.float32)
        start, cpu = time.perf_counter(), time.process_time()
        ask(words, row)
        taken.append((time.perf_counter() - start) * 1000)
        worked.append((time.process_time() - cpu) * 1000)
    late = statistics.quantiles(taken[10:], n=20)[18]
    return (
        f"{statistics.median(taken[10:]):.1f} ({late:.1f}) cpu {statistics.median(worked[10:]):.1f}"
    )


def _passage(number: int, title: str, text: str) -> object:
    from utils.model.passage import Passage

    paper, place = divmod(number, 40)
    return Passage(
        paper=f"pmid:{paper}",
        chunk_id=f"results:{place}",
        section="Results",
        ordinal=place,
        text=text,
        title=title,
        start=0,
        end=len(text),
        kind="full_text",
        digest=f"{number:064}",
        year=1990 + paper % 36,
        journal=f"Journal {paper % 500}",
        publication_types=("Journal Article",),
    )


def ours(way: str, folder: Path) -> None:
    from utils.corpus.embedded import EmbeddedFinder
    from utils.model.passage import Filters

    home = folder / "ours"
    shutil.rmtree(home, ignore_errors=True)
    finder = EmbeddedFinder(home)
    begun = time.perf_counter()
    finder.prepare_for_model("invented", DIM)
    for start, texts, vectors in batches(folder):
        passages = [_passage(start + at, *words) for at, words in enumerate(texts)]
        finder.store_passages(passages, vectors)
    built = time.perf_counter() - begun
    recent = Filters(year_from=2016)
    finder.close()
    begun = time.perf_counter()
    finder.search("warm", np.eye(1, DIM, dtype=np.float32)[0], 20, Filters())
    told(
        way,
        built,
        home,
        first=(time.perf_counter() - begun) * 1000,
        words=timed(lambda asked, _: finder.search(asked, None, 20, Filters()), folder),
        vectors=timed(lambda _, row: finder.search("", row, 20, Filters()), folder),
        hybrid=timed(lambda asked, row: finder.search(asked, row, 20, Filters()), folder),
        filtered=timed(lambda asked, row: finder.search(asked, row, 20, recent), folder),
    )
    finder.close()
    shutil.rmtree(home)


def chromadb(way: str, folder: Path) -> None:
    import chromadb as chroma

    home = folder / "chroma"
    shutil.rmtree(home, ignore_errors=True)
    client = chroma.PersistentClient(
        str(home), settings=chroma.Settings(anonymized_telemetry=False)
    )
    begun = time.perf_counter()
    kept = client.create_collection("passages", embedding_function=None)
    for start, texts, vectors in batches(folder):
        kept.add(
            ids=[str(start + at) for at in range(len(texts))],
            documents=[text for _, text in texts],
            metadatas=[{"year": 1990 + (start + at) // 40 % 36} for at in range(len(texts))],
            embeddings=vectors,
        )
    built = time.perf_counter() - begun
    recent = {"year": {"$gte": 2016}}
    told(
        way,
        built,
        home,
        first=float("nan"),
        words="none",
        vectors=timed(lambda _, row: kept.query(row, n_results=20), folder),
        hybrid="none",
        filtered=timed(lambda _, row: kept.query(row, n_results=20, where=recent), folder),
    )


def lancedb(way: str, folder: Path) -> None:
    import lancedb as lance
    import pyarrow as pa
    from lancedb.index import FTS, IvfPq
    from lancedb.rerankers import RRFReranker

    home = folder / "lancedb"
    shutil.rmtree(home, ignore_errors=True)

    def tables() -> Iterator[pa.Table]:
        for start, texts, vectors in batches(folder):
            flat = pa.array(vectors.reshape(-1))
            yield pa.table(
                {
                    "id": list(range(start, start + len(texts))),
                    "text": [f"{title}\n{text}" for title, text in texts],
                    "year": [1990 + (start + at) // 40 % 36 for at in range(len(texts))],
                    "vector": pa.FixedSizeListArray.from_arrays(flat, DIM),
                }
            )

    begun = time.perf_counter()
    made = pa.Table.from_batches([batch for one in tables() for batch in one.to_batches()])
    kept = lance.connect(home).create_table("passages", made)
    kept.create_index("text", config=FTS())
    kept.create_index("vector", config=IvfPq(distance_type="cosine"))
    built = time.perf_counter() - begun
    columns, ranks = ["id"], RRFReranker()

    def hybrid(asked: str, row: np.ndarray, recent: bool = False) -> object:
        both = kept.search(query_type="hybrid").vector(row).text(asked).rerank(ranks)
        both = both.where("year >= 2016") if recent else both
        return both.select(columns).limit(20).to_list()

    def words(asked: str, _: np.ndarray) -> object:
        return kept.search(asked, query_type="fts").select(columns).limit(20).to_list()

    begun = time.perf_counter()
    hybrid("warm", np.eye(1, DIM, dtype=np.float32)[0])
    told(
        way,
        built,
        home,
        first=(time.perf_counter() - begun) * 1000,
        words=timed(words, folder),
        vectors=timed(lambda _, row: kept.search(row).select(columns).limit(20).to_list(), folder),
        hybrid=timed(hybrid, folder),
        filtered=timed(lambda asked, row: hybrid(asked, row, recent=True), folder),
    )


def told(
    way: str, built: float, home: Path, *, first: float, words: str, vectors: str, hybrid: str,
    filtered: str,
) -> None:  # fmt: skip
    size = sum(path.stat().st_size for path in home.rglob("*") if path.is_file()) / 1e6
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"| {way} | {built:.0f} | {size:.0f} | {memory:.0f} ({_own_mb()}) "
        f"| {first:.0f} | {words} | {vectors} "
        f"| {hybrid} | {filtered} |",
        flush=True,
    )


def _own_mb() -> str:
    try:
        status = Path("/proc/self/status").read_text(encoding="utf-8")
    except FileNotFoundError:
        return "?"
    [kilobytes] = [line.split()[1] for line in status.splitlines() if line.startswith("RssAnon")]
    return f"{int(kilobytes) / 1024:.0f}"


BESIDE = {"Chroma": chromadb, "LanceDB": lancedb}


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--passages", type=int, default=100_000)
    asked.add_argument("--data", type=Path, default=DATA)
    asked.add_argument("--beside", action="store_true", help="Chroma and LanceDB too")
    asked.add_argument("--run", help=argparse.SUPPRESS)
    asked.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    given = asked.parse_args()
    if given.run:
        BESIDE.get(given.run, ours)(given.run, given.folder)
        return
    with tempfile.TemporaryDirectory() as made:
        invent(Path(made), given.data, given.passages)
        print(f"{given.passages:,} passages x {DIM}")
        print("ms are median (95th percentile), then the CPU's median\n")
        print(
            "| way | build s | disk MB | peak MB (own) | first ms "
            "| words | vectors | hybrid | by year |"
        )
        print("|---|---|---|---|---|---|---|---|---|", flush=True)
        command = [sys.executable, "-m", "quality.benchmarks.corpus_search", "--run", "Papershelf"]
        subprocess.run([*command, "--folder", made], check=True)
        if given.beside:
            for way, run in BESIDE.items():
                uv = ["uv", "run", "--no-project", "--with", run.__name__, "--with", "pyarrow"]
                file = ["python", __file__, "--run", way, "--folder", made]
                subprocess.run([*uv, *file], check=True)


if __name__ == "__main__":
    main()
