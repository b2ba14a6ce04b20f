"""How fast this machine makes vectors of passages, in 8-bit integers and in float32.

``uv run --extra embed --group minilm python -m benchmarks.corpus_embedding [--data FOLDER]``
(``--count N`` passages)

FOLDER holds articles as ``articles/*/jats.xml``, read and cut as Papershelf does it. Both ways make
vectors of the same N passages, each in a process of its own (whose memory is told); the best of the
rounds counts. ``int8`` is what Papershelf does, ``float32`` the same graph without rounding. Last,
how many word pieces the passages have, and how many of them are read whole.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from utils.model.paper import Fetched
from utils.passages.bert_graph import bert_graph, read_weights
from utils.passages.cut import cut
from utils.passages.minilm import MiniLM
from utils.passages.model_on_disk import SentenceModel
from utils.readers import jats

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
WAYS = ("int8", "float32")


def passages(folder: Path, count: int) -> list[str]:
    """What a model reads of *count* passages, from all over the articles."""
    found = []
    for path in sorted(folder.glob("articles/*/jats.xml")):
        text = jats.read(Fetched(path.read_bytes(), "jats", "", "", "")).markdown
        title = text.partition("\n")[0].removeprefix("# ")
        found += cut(text, paper=path.parent.name, title=title, kind="full_text", file="paper.md")
    return [one.embedded for one in found][:: max(1, len(found) // count)][:count]


def model(way: str, cache: Path) -> Any:
    """A loaded `SentenceModel`, in whole numbers or not."""
    local = MiniLM(cache=cache)
    if way == "int8":
        return local._sentence_model()  # noqa: SLF001 - so that it is loaded before the clock runs
    weights = read_weights(local.read("model.safetensors"))
    config = json.loads(local.read("config.json"))
    graph = bert_graph(weights, config, whole_numbers=False)
    return SentenceModel(graph, local.read("tokenizer.json"), local.longest, local.pooling)


def run(way: str, texts: Sequence[str], cache: Path) -> dict[str, Any]:
    """One way, once: seconds, processor seconds, memory, vectors."""
    began = time.perf_counter()
    loaded = model(way, cache)
    ready = time.perf_counter() - began
    began, spent = time.perf_counter(), time.process_time()
    vectors = loaded.embed(texts)
    seconds, spent = time.perf_counter() - began, time.process_time() - spent
    began = time.perf_counter()
    loaded.embed(["weight loss after one year of semaglutide"])
    return {
        "per second": round(len(texts) / seconds, 1),
        "per processor second": round(len(texts) / spent, 1),
        "load ms": round(ready * 1000),
        "one question ms": round((time.perf_counter() - began) * 1000, 1),
        "peak MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        "vectors": vectors.tolist(),
    }


def in_a_process(way: str, texts: Path, cache: Path) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.corpus_embedding", "--way", way]
    command += ["--texts", str(texts), "--cache", str(cache)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, encoding="utf-8")
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def report(texts: Sequence[str], rounds: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file, cache = Path(folder) / "texts.json", Path(folder) / "models"
        file.write_text(json.dumps(texts), encoding="utf-8")
        began = time.perf_counter()
        model("int8", cache)
        print(f"graph built in {time.perf_counter() - began:.1f} s; {len(texts)} passages")
        runs = {way: [in_a_process(way, file, cache) for _ in range(rounds)] for way in WAYS}
        exact = np.array(runs["float32"][0]["vectors"])
        for way, tries in runs.items():
            best = max(tries, key=lambda one: one["per second"])
            cosines = (np.array(best.pop("vectors")) * exact).sum(1)
            print(f"{way:8} {best}  cosine with float32: {cosines.mean():.4f}, {cosines.min():.4f}")
        lengths = pieces(texts)
        print(f"word pieces: median {int(np.median(lengths))}, most {max(lengths)}; ", end="")
        print(f"read whole: {np.mean(np.array(lengths) <= MiniLM(cache=cache).longest):.0%}")


def pieces(texts: Sequence[str]) -> list[int]:
    from tokenizers import Tokenizer

    tokens = Tokenizer.from_buffer(MiniLM().read("tokenizer.json"))
    tokens.no_padding()
    tokens.no_truncation()
    return [len(one.ids) for one in tokens.encode_batch(list(texts))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, default=DATA, help="folder with articles/*/jats.xml")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=1)
    for name in ("way", "texts", "cache"):  # of the processes this one starts
        parser.add_argument(f"--{name}", default="", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.way:
        texts = json.loads(Path(given.texts).read_text(encoding="utf-8"))
        print(json.dumps(run(given.way, texts, Path(given.cache))))
        return
    if missing := MiniLM().available():
        parser.exit(0, f"{missing}\n")
    texts = passages(given.data, given.count)
    if not texts:
        parser.exit(0, f"No articles/*/jats.xml in {given.data}: nothing to measure.\n")
    report(texts, given.rounds)


if __name__ == "__main__":
    main()
