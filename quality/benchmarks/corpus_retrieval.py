"""Whether the right paper is found: by words, by meaning, by both; and what the signs lose.

``uv run --extra embed --group models python -m quality.benchmarks.corpus_retrieval [--data
FOLDER]`` (``--papers 6000 --questions 300 --beside --vectors 300000``)

Titles and abstracts are cut and indexed as Papershelf does it; what is asked, in twelve kinds, is
made from FOLDER by `.questions`. The score is nDCG@10 with one right paper: ``1 / log2(1 + rank)``
of its first passage among the different papers found. ``find`` is the order of `Corpus.find`: what
speaks for its evidence counts up to three tenths. ``ranks`` are those of words and meaning fused as
Papershelf did before (reciprocal ranks, Cormack, Clarke and Büttcher, SIGIR 2009, k = 12) and with
their k of 60.

``widened`` asks in other words, too, as `..corpus.widening` finds them in the corpus; ``find`` has
its order. Last, of papers that answer alike, whether the better evidence stands first: a topic is
two major headings of MeSH that papers of different designs share, asked for in their words and by
words alone; pairs of these papers are counted whose scores differ by less than a tenth.

``--beside`` asks bm25s (uv fetches it), Chroma's default index and LanceDB's hybrid search, with
our vectors. Last, the choice by signs that
large shelves make before they compare: how many of the exact 50 best of ``--vectors``
rows it keeps. So many real ones are not at hand: each mixes two, half to all of it the first, with
a little noise.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from quality.benchmarks.questions import Case, Question, cases, papers, sampled
from tests.corpus.real_minilm import describe_missing, lay_out_minilm
from utils.corpus.embedded import EmbeddedFinder
from utils.corpus.embedded_vectors import VectorView, to_binary_codes
from utils.corpus.local_model import LocalModel
from utils.corpus.names import (
    FindNames,
    build_alternative_questions,
    extract_alternative_names,
    merge_hits,
)
from utils.corpus.quality import score_evidence
from utils.corpus.search import EVIDENCE_WEIGHT
from utils.model.passage import Filters, Passage, PassageHit
from utils.outline.cut import split_into_passages
from utils.settings import load_settings

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
LIMIT = 60  # candidates, as `find` asks for them when 20 passages are wanted
BEST_OF = 50
TOPICS, WEIGHTS = 3_000, (0.0, 0.1, 0.2, 0.3, 0.4)
RETRACTED_TOO = Filters(retracted=True)
Vectors = NDArray[np.float32]
Order = list[str]  # keys of papers, one for each passage found, best first


def ours(
    passages: Sequence[Passage], vectors: Vectors, asking: Sequence[str], asked: Vectors,
    evidence: dict[str, float], named: FindNames,
) -> dict[str, list[Order]]:  # fmt: skip
    """What the finder of the product finds, in every way it can be asked."""
    found: dict[str, list[Order]] = defaultdict(list)

    def keep(way: str, hits: Iterable[PassageHit]) -> None:
        found[way].append([hit.paper for hit in hits])

    def weighed(hit: PassageHit) -> float:
        return -hit.score * (1 + EVIDENCE_WEIGHT * evidence[hit.paper])

    with tempfile.TemporaryDirectory() as folder, closing(EmbeddedFinder(Path(folder))) as finder:
        finder.prepare_for_model("MiniLM", vectors.shape[1])
        finder.store_passages(passages, vectors)
        for text, row in zip(asking, asked, strict=True):
            words = finder.search(text, None, LIMIT, RETRACTED_TOO)
            near = finder.search("", row, LIMIT, RETRACTED_TOO)
            both = finder.search(text, row, LIMIT, RETRACTED_TOO)
            keep("words", words)
            keep("meaning", near)
            keep("both", both)
            others = [one.question for one in build_alternative_questions(text, named)]
            wider = [finder.search(other, row, LIMIT, RETRACTED_TOO) for other in others]
            widened = merge_hits([both, *wider], LIMIT)
            keep("widened", widened)
            keep("find", sorted(widened, key=weighed))
            for k in (12, 60):
                found[f"ranks, k = {k}"].append(by_ranks(words, near, k))
    return found


def alike(made: Sequence[Case], passages: Sequence[Passage], evidence: dict[str, float]) -> None:
    """Of papers on one topic that answer alike, how often the better evidence stands first."""
    topics: dict[tuple[str, str], list[str]] = defaultdict(list)
    for key, paper, _ in made:
        major = sorted({term.replace("*", "").split("/")[0] for term in paper.mesh if "*" in term})
        for pair in combinations(major, 2):
            topics[pair].append(key)
    mixed_ones = [one for one, keys in topics.items() if len({evidence[key] for key in keys}) > 1]
    first = {weight: [0, 0] for weight in WEIGHTS}
    with tempfile.TemporaryDirectory() as folder, closing(EmbeddedFinder(Path(folder))) as finder:
        finder.prepare_for_model("", 0)
        finder.store_passages(passages, None)
        for topic in sorted(mixed_ones)[:TOPICS]:
            best: dict[str, float] = {}
            for hit in finder.search(" ".join(topic), None, LIMIT, RETRACTED_TOO):
                best.setdefault(hit.paper, hit.score)
            for one, other in combinations([key for key in topics[topic] if key in best], 2):
                better, worse = sorted((one, other), key=lambda key: -evidence[key])
                near = abs(best[one] - best[other]) < 0.1 * max(best[one], best[other])
                if evidence[better] == evidence[worse] or not near:
                    continue
                for weight, counted in first.items():
                    scores = [best[key] * (1 + weight * evidence[key]) for key in (better, worse)]
                    counted[scores[0] > scores[1]] += 1
    shares = {one: right / (wrong + right or 1) for one, (wrong, right) in first.items()}
    print(f"\n{sum(first[0.0]):,} pairs that answer alike; the better evidence first, by weight:")
    print(", ".join(f"{one}: {share:.3f}" for one, share in shares.items()))


def by_ranks(words: Sequence[PassageHit], near: Sequence[PassageHit], k: int) -> Order:
    """Papers in the order of reciprocal ranks."""
    scores: dict[str, float] = defaultdict(float)
    names = {hit.uuid: hit.paper for hit in (*words, *near)}
    for way in (words[:BEST_OF], near[:BEST_OF]):
        for rank, hit in enumerate(way, start=1):
            scores[hit.uuid] += 1 / (k + rank)
    return [names[uuid] for uuid in sorted(scores, key=lambda one: (-scores[one], one))]


def beside(
    package: str, passages: Sequence[Passage], vectors: Vectors, asking: Sequence[str],
    asked: Vectors,
) -> list[Order]:  # fmt: skip
    """What another's index finds, in a process and an environment of its own."""
    texts = [one.embedding_text for one in passages]
    with tempfile.TemporaryDirectory() as folder:
        np.save(f"{folder}/vectors.npy", vectors)
        np.save(f"{folder}/asked.npy", asked)
        for name, words in (("texts", texts), ("asking", asking)):
            Path(folder, f"{name}.json").write_text(json.dumps(words), encoding="utf-8")
        program = str(Path(__file__).with_name(f"corpus_retrieval_{package}.py"))
        packages = "bm25s,PyStemmer" if package == "bm25s" else package
        run = ["uv", "run", "--no-project", "--with", packages, "python", program, folder]
        told = subprocess.check_output([*run, str(LIMIT)])
    return [[passages[at].paper for at in found] for found in json.loads(told)]


def table(questions: Sequence[Question], found: dict[str, list[Order]]) -> None:
    """NDCG@10 of every way, over all kinds alike and for every kind of question."""
    kinds = list(dict.fromkeys(one.kind for one in questions))
    print("| nDCG@10 | all |", " | ".join(kinds), "|")
    print("|---|" + "---|" * (1 + len(kinds)))
    for way, orders in found.items():
        scores: dict[str, list[float]] = defaultdict(list)
        for asked, order in zip(questions, orders, strict=True):
            scores[asked.kind].append(ndcg(asked.paper, order))
        means = [float(np.mean(scores[kind])) for kind in kinds]
        print(f"| {way} | {np.mean(means):.3f} |", *(f"{mean:.3f} |" for mean in means))


def ndcg(paper: str, order: Order) -> float:
    """How far up the paper stands among the different papers found."""
    first = list(dict.fromkeys(order))[:10]
    return float(1 / np.log2(2 + first.index(paper))) if paper in first else 0.0


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
    exact = VectorView(0, 0, rows, np.arange(count), np.ones(count, np.int32), None, count)
    chosen = replace(exact, codes=to_binary_codes(rows).T, exact=0)
    kept = []
    for row in asked:
        both = (view.find_nearest_passages(row, BEST_OF, allowed) for view in (exact, chosen))
        best, near = ({passage for passage, _ in found} for found in both)
        kept.append(len(best & near) / BEST_OF)
    print(f"\nsigns: {count:,} vectors mixed from {len(real):,}, {len(kept)} questions; ", end="")
    print(f"recall@{BEST_OF} {np.mean(kept):.4f}, at worst {min(kept):.2f}")


def names_of(made: Sequence[Case], passages: Sequence[Passage]) -> FindNames:
    """What the texts call by several names, as the corpus keeps it."""
    by_paper: dict[str, list[Passage]] = defaultdict(list)
    for one in passages:
        by_paper[one.paper].append(one)
    names = Counter(
        name for key, paper, _ in made for name in extract_alternative_names(paper, by_paper[key])
    )
    by_form: dict[str, list[tuple[str, int]]] = defaultdict(list)
    for name, papers_with in sorted(names.items(), key=lambda pair: (-pair[1], pair[0].name)):
        if name.kind == "term":
            by_form[name.form].append((name.name, papers_with))
    return lambda forms: {form: by_form[form] for form in forms if form in by_form}


def measure(given: argparse.Namespace) -> None:
    made, all_asked = cases(papers(given.data, given.papers, given.part))
    passages = [
        passage
        for key, paper, abstract in made
        for passage in split_into_passages(
            f"{paper.title}\n\n{abstract}", paper=key, title=paper.title, kind="abstract"
        )
    ]
    questions = sampled(all_asked, given.questions)
    evidence = {key: score_evidence(paper) for key, paper, _ in made}
    named = names_of(made, passages)
    texts, asking = [one.embedding_text for one in passages], [one.text for one in questions]
    with tempfile.TemporaryDirectory() as folder:
        model = LocalModel(given.model or str(lay_out_minilm(Path(folder))), load_settings())
        vectors, asked = (
            model.embed_texts(texts),
            np.array([model.embed_question(one) for one in asking]),
        )
    print(f"{len(made):,} papers, {len(passages):,} passages, {len(questions):,} questions\n")
    found = ours(passages, vectors, asking, asked, evidence, named)
    if given.beside:
        found["bm25s"] = beside("bm25s", passages, vectors, asking, asked)
        found["Chroma"] = beside("chromadb", passages, vectors, asking, asked)
        found["LanceDB, hybrid"] = beside("lancedb", passages, vectors, asking, asked)
    table(questions, found)
    alike(made, passages, evidence)
    if given.vectors:
        some = random.Random(13).sample(range(len(asked)), min(100, len(asked)))
        real = np.concatenate([vectors, np.delete(asked, some, axis=0)])
        signs(real, asked[some], given.vectors)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, default=DATA, help="folder of articles and records")
    parser.add_argument("--papers", type=int, default=6_000, help="at most")
    parser.add_argument("--model", default="", help="folder or OWNER/NAME; else MiniLM")
    parser.add_argument("--part", choices=("tuning", "held out"), default="", help="of the papers")
    parser.add_argument("--questions", type=int, default=300, help="of each kind, at most")
    parser.add_argument("--beside", action="store_true", help="bm25s, Chroma and LanceDB, too")
    parser.add_argument("--vectors", type=int, default=300_000, help="for the signs; 0: without")
    given = parser.parse_args()
    absent = "" if given.data.is_dir() else f"There is no folder {given.data}."
    if missing := absent or ("" if given.model else describe_missing()):
        parser.exit(0, f"{missing}\n")
    measure(given)


if __name__ == "__main__":
    main()
