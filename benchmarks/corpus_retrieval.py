"""Whether the right paper is found: by words, by meaning, by both; and what the signs lose.

``uv run --extra embed --group minilm python -m benchmarks.corpus_retrieval [--data FOLDER]``
(``--records 1760 --questions 500 --titles --beside --vectors 300000``)

FOLDER holds ``PubmedArticleSet`` files (``*.xml.gz``). Abstracts are cut and indexed as Papershelf
does it, but without title and without one sentence: both are asked for. What must come is a passage
of the paper the question is from; the rank is that of the first one. Asked are

- ``title``: the paper's;
- ``keywords``: the authors', three at least, which an abstract need not have;
- ``MeSH``: the major headings, three at least: words of NLM's indexers, often not the authors';
- ``unseen sentence``: the one that was taken out of the indexed abstract;
- ``half a sentence``: half of the words, by chance, of one that is still there.

With ``--titles`` the index has them, as the product's own has, and they are not asked for.
``better first`` is the order of `Corpus.find`: what speaks for a record counts up to a fifth.
``--beside`` asks Chroma's default index (uv fetches it) with vectors as its default model makes
them: float32, of the first 256 word pieces. Last, the choice by signs that large shelves make
before they compare: how many of the exact 50 best of ``--vectors`` rows it keeps. So many real ones
are not at hand: each mixes two, half to all of it the first, with a little noise.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import subprocess
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from utils.corpus.search import BEST, WEIGHT, quality_of
from utils.formats.pubmed import read_records
from utils.model.paper import Paper
from utils.model.passage import Filters, Hit, Passage
from utils.passages.bert_graph import bert_graph, read_weights
from utils.passages.blocks import sentences
from utils.passages.cut import cut
from utils.passages.embedded import EmbeddedFinder
from utils.passages.embedded_vectors import View, binary_codes
from utils.passages.minilm import MiniLM
from utils.passages.model_on_disk import SentenceModel
from utils.passages.ranking import Scored, fused

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "pubmed" / "bulk"
LIMIT = 60  # candidates, as `find` asks for them when 20 passages are wanted
BEST_OF = 50
TODAY = date(2026, 11, 22)  # so that recency is the same in every run
RETRACTED_TOO = Filters(retracted=True)
Vectors = NDArray[np.float32]
Order = list[str]  # keys of papers, one for each passage found, best first


class Question(NamedTuple):
    """What is asked, and the key of the paper that must come."""

    kind: str
    paper: str
    text: str


def papers(data: Path, count: int) -> dict[str, Paper]:
    """Records with an abstract, by key."""
    found = {}
    for path in sorted(data.glob("*.xml.gz")):
        for paper in read_records(gzip.decompress(path.read_bytes())):
            if isinstance(paper, Paper) and paper.abstract:
                found[f"pmid:{paper.ids.pmid}"] = paper
    return {key: found[key] for key in sorted(found)[:: max(1, len(found) // count)][:count]}


def case(
    key: str, paper: Paper, titles: bool, chance: random.Random
) -> tuple[list[Passage], list[Question]]:
    """The passages of a paper, and what is asked for it."""
    text, asked = paper.abstract, []
    spans = list(sentences(text, 0, len(text)))
    fit = [(start, end) for start, end in spans if 8 <= len(text[start:end].split()) <= 40]
    if len(spans) >= 4 and len(fit) >= 2:
        (start, end), kept = chance.sample(fit, 2)
        words = text[slice(*kept)].split()
        half = sorted(chance.sample(range(len(words)), len(words) // 2))
        asked.append(Question("unseen sentence", key, text[start:end]))
        asked.append(Question("half a sentence", key, " ".join(words[at] for at in half)))
        text = text[:start] + text[end:]
    major = [term.replace("*", "").replace("/", " ") for term in paper.mesh if "*" in term]
    for kind, terms in (("keywords", paper.keywords), ("MeSH", major)):
        if len(terms) >= 3:
            asked.append(Question(kind, key, " ".join(terms)))
    passages = cut(f"{paper.title}\n\n{text}", paper=key, title=paper.title, kind="abstract")
    if titles:
        return passages, asked
    asked.append(Question("title", key, paper.title))
    return [replace(passage, title="") for passage in passages], asked


def sampled(questions: Iterable[Question], most: int) -> list[Question]:
    """At most so many of each kind."""
    kinds: dict[str, list[Question]] = defaultdict(list)
    for question in questions:
        kinds[question.kind].append(question)
    chance = random.Random(11)
    return [one for some in kinds.values() for one in chance.sample(some, min(most, len(some)))]


def ours(
    passages: Sequence[Passage], vectors: Vectors, asking: Sequence[str], asked: Vectors,
    quality: dict[str, float],
) -> dict[str, list[Order]]:  # fmt: skip
    """What the finder of the product finds, in every way it can be asked."""
    found: dict[str, list[Order]] = defaultdict(list)

    def keep(way: str, hits: Iterable[Hit]) -> None:
        found[way].append([hit.paper for hit in hits])

    def listed(hits: Iterable[Hit]) -> list[Scored]:
        return [(hit.uuid, hit.paper, hit.score) for hit in hits]

    def weighed(hit: Hit) -> float:
        return -hit.score * (1 + WEIGHT * quality[hit.paper])

    with tempfile.TemporaryDirectory() as folder, closing(EmbeddedFinder(Path(folder))) as finder:
        finder.prepare("MiniLM", vectors.shape[1])
        finder.upsert(passages, vectors)
        for text, row in zip(asking, asked, strict=True):
            keep("words", words := finder.search(text, None, LIMIT, RETRACTED_TOO))
            keep("meaning", near := finder.search("", row, LIMIT, RETRACTED_TOO))
            both = finder.search(text, row, LIMIT, RETRACTED_TOO)
            sixty = fused(listed(words), listed(near), LIMIT, k=60)
            for way, hits in (("both", both), ("both, k = 60", sixty)):
                keep(way, hits)
                keep(f"{way}, better first", sorted(hits, key=weighed))
    return found


def default_model(local: MiniLM) -> SentenceModel:
    """MiniLM as its authors and Chroma have it: float32, 256 word pieces."""
    weights, config = read_weights(local.read("model.safetensors")), local.read("config.json")
    graph = bert_graph(weights, json.loads(config), whole_numbers=False)
    return SentenceModel(graph, local.read("tokenizer.json"), 256, local.pooling)


def chroma(passages: Sequence[Passage], vectors: Vectors, asked: Vectors) -> list[Order]:
    """What Chroma finds, in a process and an environment of its own."""
    with tempfile.TemporaryDirectory() as folder:
        np.save(f"{folder}/vectors.npy", vectors)
        np.save(f"{folder}/asked.npy", asked)
        program = str(Path(__file__).with_name("corpus_retrieval_chroma.py"))
        run = ["uv", "run", "--no-project", "--with", "chromadb", "python", program, folder]
        told = subprocess.check_output([*run, str(LIMIT)])
    return [[passages[at].paper for at in found] for found in json.loads(told)]


def table(questions: Sequence[Question], found: dict[str, list[Order]]) -> None:
    """hit@1, hit@10, MRR@10 of every way for every kind of question."""
    kinds = Counter(one.kind for one in questions)
    print("| hit@1 / hit@10 / MRR@10 |", *(f"{kind} ({n:,}) |" for kind, n in kinds.items()))
    print("|---|" + "---|" * len(kinds))
    for way, orders in found.items():
        ranks: dict[str, list[float]] = {kind: [] for kind in kinds}
        for asked, order in zip(questions, orders, strict=True):
            ranks[asked.kind] += [order.index(asked.paper) + 1 if asked.paper in order else np.inf]
        print(f"| {way} |", *(f"{figures(np.array(some))} |" for some in ranks.values()))


def figures(ranks: NDArray[np.float64]) -> str:
    """Three figures of ranks, infinite where nothing was found."""
    reciprocal = np.where(ranks <= 10, 1 / ranks, 0)
    return f"{(ranks <= 1).mean():.3f} / {(ranks <= 10).mean():.3f} / {reciprocal.mean():.3f}"


def mixed(real: Vectors, count: int) -> Vectors:
    """So many vectors from real ones."""
    chance = np.random.default_rng(7)
    made = np.empty((count, real.shape[1]), np.float32)
    for start in range(0, count, 50_000):
        block = made[start : start + 50_000]
        one, other = real[chance.integers(0, len(real), (2, len(block)))]
        share = chance.uniform(0.5, 1, (len(block), 1)).astype(np.float32)
        noise = chance.standard_normal(block.shape, np.float32) * (0.2 / block.shape[1] ** 0.5)
        block[:] = share * one + (1 - share) * other + noise
        block /= np.linalg.norm(block, axis=1, keepdims=True)
    return made


def signs(real: Vectors, asked: Vectors, count: int) -> None:
    """How many of the best the choice by signs keeps."""
    rows, allowed = mixed(real, count), np.array([False, True])
    exact = View(0, 0, rows, np.arange(count), np.ones(count, np.int32), None, count)
    chosen = replace(exact, codes=binary_codes(rows), exact=0)
    kept = []
    for row in asked:
        both = (view.nearest(row, BEST_OF, allowed) for view in (exact, chosen))
        best, near = ({passage for passage, _ in found} for found in both)
        kept.append(len(best & near) / BEST_OF)
    print(f"\nsigns: {count:,} vectors mixed from {len(real):,}, {len(kept)} questions; ", end="")
    print(f"recall@{BEST_OF} {np.mean(kept):.4f}, at worst {min(kept):.2f}")


def measure(given: argparse.Namespace) -> None:
    local, chance, known = MiniLM(), random.Random(7), papers(given.data, given.records)
    cases = [case(key, paper, given.titles, chance) for key, paper in known.items()]
    passages = [passage for some, _ in cases for passage in some]
    questions = sampled((one for _, some in cases for one in some), given.questions)
    quality = {key: quality_of(paper, TODAY).total / BEST for key, paper in known.items()}
    texts, asking = [one.embedded for one in passages], [one.text for one in questions]
    vectors, asked = local.embed(texts), np.array([local.embed_question(one) for one in asking])
    print(f"{len(known):,} papers, {len(passages):,} passages, {len(questions):,} questions\n")
    found = ours(passages, vectors, asking, asked, quality)
    if given.beside:
        theirs = default_model(local)
        found["Chroma"] = chroma(passages, theirs.embed(texts), theirs.embed(asking))
    table(questions, found)
    if given.vectors:
        some = random.Random(13).sample(range(len(asked)), min(100, len(asked)))
        real = np.concatenate([vectors, np.delete(asked, some, axis=0)])
        signs(real, asked[some], given.vectors)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, default=DATA, help="folder with *.xml.gz")
    parser.add_argument("--records", type=int, default=1_760)
    parser.add_argument("--questions", type=int, default=500, help="of each kind, at most")
    parser.add_argument("--titles", action="store_true", help="index titles, too")
    parser.add_argument("--beside", action="store_true", help="Chroma's default, too")
    parser.add_argument("--vectors", type=int, default=300_000, help="for the signs; 0: without")
    given = parser.parse_args()
    absent = "" if any(given.data.glob("*.xml.gz")) else f"No *.xml.gz in {given.data}."
    if missing := MiniLM().available() or absent:
        parser.exit(0, f"{missing}\n")
    measure(given)


if __name__ == "__main__":
    main()
