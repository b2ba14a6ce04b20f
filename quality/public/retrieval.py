"""Score the search by words on two public collections, beside the package bm25s.

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

from lxml import etree

from utils.corpus.embedded import EmbeddedFinder
from utils.model.passage import Filters
from utils.outline.cut import split_into_passages

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


def search_with_papershelf(
    records: Mapping[int, tuple[str, str]], questions: Sequence[Question]
) -> list[list[int]]:
    """Return the numbers of the records that the finder returns for each question."""
    passages = []
    for number, (title, abstract) in records.items():
        text = f"{title}\n\n{abstract}"
        passages += split_into_passages(text, paper=str(number), title=title, kind="abstract")
    with tempfile.TemporaryDirectory() as folder, closing(EmbeddedFinder(Path(folder))) as finder:
        finder.prepare_for_model("", 0)
        finder.store_passages(passages, None)
        return [
            list(dict.fromkeys(int(hit.paper) for hit in
                               finder.search(one.text, None, _DEPTH, Filters(retracted=True))))
            for one in questions
        ]  # fmt: skip


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
    parser.add_argument("--bm25s", type=Path, metavar="PYTHON", help="a Python that has it")
    parser.add_argument("--second", action="store_true", help="the questions kept for scoring")
    options = parser.parse_args()
    if options.snippets:
        records, questions = read_snippets(options.folder, (3, 4) if options.second else (1, 2))
    else:
        records = read_records(options.folder / "cfc-xml")
        every = read_questions(options.folder / "other-xmls" / "cfquery.xml")
        questions = [one for one in every if one.number % 2 != options.second]
    orders = {"Papershelf, words": search_with_papershelf(records, questions)}
    if options.bm25s:
        orders["bm25s"] = search_with_bm25s(records, questions, options.bm25s)
    for name, rows in orders.items():
        scores = [score(row, one.points) for row, one in zip(rows, questions, strict=True)]
        means = [sum(column) / len(scores) for column in zip(*scores, strict=True)]
        sys.stdout.write(
            f"{name}: {len(records):,} records, {len(questions)} questions; "
            f"nDCG@10 {means[0]:.3f}, recall@20 {means[1]:.3f}, MAP {means[2]:.3f}\n"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
