"""Score the search by words and by both ways on two public collections, beside bm25s and LanceDB.

Cystic Fibrosis: 1,239 MEDLINE records of 1974 to 1979 and 99 questions, each record judged by four
people with 0 to 2 points: ``cfc-xml`` and ``other-xmls/cfquery.xml`` in ``Hadartalisr/VSM_IR`` (no
licence file: to be measured, not passed on). Published in Shaw, Wood, Wood and Tibbo, Library and
Information Science Research 13:347 (1991).

Odd question numbers are for tuning, even ones for scoring. A record counts as relevant if a judge
gave it a point; for nDCG its gain is the sum of the points. Titles and abstracts are indexed.

BioASQ 12B: 340 questions of experts, and 8,705 snippets of PubMed that answer them:
``data/BioASQ-12b/goldset`` in ``MattMorgis/bioasq-rag`` (CC BY-NC-SA). The different snippets of
all questions are indexed; relevant are those of the question. Batches 1 and 2 are for tuning, 3 and
4 for scoring. BioASQ itself searches all of PubMed, so its leaderboards cannot be compared.

``--hybrid`` also searches by words and meaning, with the MiniLM of the group ``models``. LanceDB
has the same passages and vectors; `..benchmarks.corpus_retrieval_lancedb` says how it is asked.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from lxml import etree
from numpy.typing import NDArray

from tests.corpus.real_minilm import lay_out_minilm
from utils.corpus.embedded import EmbeddedFinder
from utils.corpus.local_model import LocalModel
from utils.model.passage import Filters, Passage
from utils.outline.cut import split_into_passages
from utils.settings import load_settings

Vectors = NDArray[np.float32]
_LANCEDB = Path(__file__).parents[1] / "benchmarks" / "corpus_retrieval_lancedb.py"
_DEPTH = 200
_BM25S = """
import json, sys, bm25s, Stemmer
texts, questions = json.load(sys.stdin)
stem = Stemmer.Stemmer("english")
engine = bm25s.BM25()
engine.index(bm25s.tokenize(texts, stopwords="en", stemmer=stem, show_progress=False),
             show_progress=False)
asked = bm25s.tokenize(questions, stopwords="en", stemmer=stem, show_progress=False)
found, _ = engine.retrieve(asked, k=200, show_progress=False)
json.dump(found.tolist(), sys.stdout)
"""


@dataclass(frozen=True, slots=True)
class Question:
    """A question with the points of each relevant record."""

    number: int
    text: str
    points: Mapping[int, int]


def read_records(folder: Path) -> dict[int, tuple[str, str]]:
    """Return title and abstract of each record, by its number."""
    found = {}
    for path in sorted(folder.glob("cf*.xml")):
        for record in _parse(path).iter("RECORD"):
            text = (record.findtext("ABSTRACT") or record.findtext("EXTRACT") or "").split()
            title = (record.findtext("TITLE") or "").split()
            found[int(record.findtext("RECORDNUM") or 0)] = (" ".join(title), " ".join(text))
    return found


def read_questions(path: Path) -> list[Question]:
    """Return the questions in order."""
    return [
        Question(
            int(query.findtext("QueryNumber") or 0),
            " ".join((query.findtext("QueryText") or "").split()),
            {int(one.text or 0): sum(map(int, one.get("score", ""))) for one in query.iter("Item")},
        )
        for query in _parse(path).iter("QUERY")
    ]


def read_snippets(
    folder: Path, batches: Sequence[int]
) -> tuple[dict[int, tuple[str, str]], list[Question]]:
    """Return all snippets by number, without titles, and the questions of some batches."""
    numbers: dict[str, int] = {}
    questions: list[Question] = []
    for batch in (1, 2, 3, 4):
        path = folder / f"12B{batch}_golden.json"
        for one in json.loads(path.read_text(encoding="utf-8"))["questions"]:
            texts = [" ".join(snippet["text"].split()) for snippet in one["snippets"]]
            points = {numbers.setdefault(text, len(numbers)): 1 for text in texts}
            if batch in batches and points:
                questions.append(Question(len(questions), one["body"], points))
    return {number: ("", text) for text, number in numbers.items()}, questions


def _parse(path: Path) -> etree._Element:
    parser = etree.XMLParser(recover=True, load_dtd=False, no_network=True)
    return etree.parse(str(path), parser).getroot()


def cut_records(records: Mapping[int, tuple[str, str]]) -> list[Passage]:
    """Return the passages of all records; a passage's paper is its record's number."""
    return [
        passage
        for number, (title, abstract) in records.items()
        for passage in split_into_passages(
            f"{title}\n\n{abstract}", paper=str(number), title=title, kind="abstract"
        )
    ]


def embed_with_minilm(texts: Sequence[str]) -> Vectors:
    """Return a vector for each text."""
    with tempfile.TemporaryDirectory() as folder:
        model = LocalModel(str(lay_out_minilm(Path(folder))), load_settings())
        return model.embed_texts(texts)


def search_with_papershelf(
    passages: Sequence[Passage],
    questions: Sequence[Question],
    vectors: Vectors | None = None,
    asked: Vectors | None = None,
) -> list[list[int]]:
    """Return the numbers of the records found for each question, by meaning too with vectors."""
    with tempfile.TemporaryDirectory() as folder, closing(EmbeddedFinder(Path(folder))) as finder:
        finder.prepare_for_model("MiniLM" if vectors is not None else "", _get_width(vectors))
        finder.store_passages(passages, vectors)
        rows = [None] * len(questions) if asked is None else list(asked)
        found = (
            finder.search(one.text, row, _DEPTH, Filters(retracted=True))
            for one, row in zip(questions, rows, strict=True)
        )
        return [list(dict.fromkeys(int(hit.paper) for hit in hits)) for hits in found]


def _get_width(vectors: Vectors | None) -> int:
    return 0 if vectors is None else vectors.shape[1]


def search_with_lancedb(
    passages: Sequence[Passage],
    questions: Sequence[Question],
    vectors: Vectors,
    asked: Vectors,
    python: Path,
) -> list[list[int]]:
    """Return the numbers of the records that LanceDB's hybrid search returns for each question."""
    with tempfile.TemporaryDirectory() as folder:
        np.save(f"{folder}/vectors.npy", vectors)
        np.save(f"{folder}/asked.npy", asked)
        texts = [one.embedding_text for one in passages]
        for name, some in (("texts", texts), ("asking", [one.text for one in questions])):
            Path(folder, f"{name}.json").write_text(json.dumps(some), encoding="utf-8")
        done = subprocess.run(
            [str(python), str(_LANCEDB), folder, str(_DEPTH)], capture_output=True, check=True
        )
    return [
        list(dict.fromkeys(int(passages[at].paper) for at in row))
        for row in json.loads(done.stdout)
    ]


def search_with_bm25s(
    records: Mapping[int, tuple[str, str]], questions: Sequence[Question], python: Path
) -> list[list[int]]:
    """Return the numbers of the records that bm25s returns, with the Python that has it."""
    texts = [f"{title}. {abstract}" for title, abstract in records.values()]
    asked = json.dumps([texts, [one.text for one in questions]])
    done = subprocess.run(
        [str(python), "-c", _BM25S], input=asked, capture_output=True, text=True, check=True
    )
    numbers = list(records)
    return [[numbers[at] for at in row] for row in json.loads(done.stdout)]


def score(found: Sequence[int], points: Mapping[int, int]) -> tuple[float, float, float]:
    """Return nDCG@10, recall@20 and average precision of one order of records."""
    gains = [points.get(one, 0) for one in found[:10]]
    ideal = sorted(points.values(), reverse=True)[:10]
    discount = [1 / math.log2(at + 2) for at in range(10)]
    best = sum(gain * part for gain, part in zip(ideal, discount, strict=False))
    gained = sum(gain * part for gain, part in zip(gains, discount, strict=False))
    right = 0
    precision = 0.0
    for at, one in enumerate(found, 1):
        if one in points:
            right += 1
            precision += right / at
    recall = len(set(found[:20]) & points.keys()) / len(points)
    return gained / best, recall, precision / len(points)


def main() -> int:
    """Print the mean scores of one half of the questions."""
    parser = argparse.ArgumentParser(prog="python -m quality.public.retrieval", description=__doc__)
    parser.add_argument("folder", type=Path, help="a copy of the repository, or of the goldset")
    parser.add_argument("--snippets", action="store_true", help="the folder is BioASQ's goldset")
    parser.add_argument("--rivals", type=Path, metavar="PYTHON", help="that has bm25s and lancedb")
    parser.add_argument("--hybrid", action="store_true", help="search by meaning, too")
    parser.add_argument("--second", action="store_true", help="the questions kept for scoring")
    options = parser.parse_args()
    if options.snippets:
        records, questions = read_snippets(options.folder, (3, 4) if options.second else (1, 2))
    else:
        records = read_records(options.folder / "cfc-xml")
        every = read_questions(options.folder / "other-xmls" / "cfquery.xml")
        questions = [one for one in every if one.number % 2 != options.second]
    print_scores(records, questions, search_with_each(records, questions, options))
    return 0


def search_with_each(
    records: Mapping[int, tuple[str, str]],
    questions: Sequence[Question],
    options: argparse.Namespace,
) -> dict[str, list[list[int]]]:
    """Return what each engine that was requested finds."""
    passages = cut_records(records)
    orders = {"Papershelf, words": search_with_papershelf(passages, questions)}
    if options.rivals:
        orders["bm25s"] = search_with_bm25s(records, questions, options.rivals)
    if options.hybrid:
        vectors = embed_with_minilm([one.embedding_text for one in passages])
        asked = embed_with_minilm([one.text for one in questions])
        orders["Papershelf, both"] = search_with_papershelf(passages, questions, vectors, asked)
        if options.rivals:
            orders["LanceDB, hybrid"] = search_with_lancedb(
                passages, questions, vectors, asked, options.rivals
            )
    return orders


def print_scores(
    records: Mapping[int, tuple[str, str]],
    questions: Sequence[Question],
    orders: Mapping[str, list[list[int]]],
) -> None:
    """Print the mean scores of each engine."""
    for name, rows in orders.items():
        scores = [score(row, one.points) for row, one in zip(rows, questions, strict=True)]
        means = [sum(column) / len(scores) for column in zip(*scores, strict=True)]
        sys.stdout.write(
            f"{name}: {len(records):,} records, {len(questions)} questions; "
            f"nDCG@10 {means[0]:.3f}, recall@20 {means[1]:.3f}, MAP {means[2]:.3f}\n"
        )


if __name__ == "__main__":
    sys.exit(main())
