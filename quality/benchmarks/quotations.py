"""Are quotations judged rightly? Made of recorded articles, with one thing changed or nothing.

``uv run python -m quality.benchmarks.quotations [--data FOLDER] [--cases 400] [--anywhere]
[--mistakes]``

Every second case or so is of a kind that was held out while the judge was mended. ``--anywhere``
does not say in which paper a quotation is to be found. ``--mistakes`` shows those of the other
kinds only, so that the held-out ones stay unseen.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections import Counter
from pathlib import Path

from quality.quotations.made import KINDS, cases, fault_of, recorded_texts, shelved, truth_of

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
VERDICTS = ("verbatim", "near", "absent")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--articles", type=int, default=80)
    parser.add_argument("--cases", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--anywhere", action="store_true")
    parser.add_argument("--mistakes", action="store_true")
    asked = parser.parse_args()
    texts = recorded_texts(asked.data, asked.articles)
    made = cases(texts, asked.cases, asked.seed)
    confused: dict[bool, Counter[tuple[str, str]]] = {False: Counter(), True: Counter()}
    right, wrong = Counter[str](), Counter[str]()
    with tempfile.TemporaryDirectory() as folder, shelved(texts, Path(folder)) as corpus:
        if asked.anywhere:
            list(corpus.index())
        began = time.process_time()
        for case in made:
            kind, truth = KINDS[case.kind], truth_of(case, anywhere=asked.anywhere)
            found = corpus.verify_quote(case.text, "" if asked.anywhere else case.paper)
            confused[kind.held_out][truth, found.verdict] += 1
            fault = fault_of(case, found, anywhere=asked.anywhere)
            (wrong if fault else right)[case.kind] += 1
            if fault and asked.mistakes and not kind.held_out:
                print(f"{case.kind}: {fault}\n    {case.text!r}\n    {case.original!r}")
                print(f"    {[*map(str, found.differences)]}")
        seconds = time.process_time() - began
    print(
        f"{len(made)} quotations of {len(texts)} papers, {1000 * seconds / len(made):.0f} ms each\n"
    )
    for held_out, seen in confused.items():
        print(
            f"{'held out' if held_out else 'seen':20}" + "".join(f"{one:>10}" for one in VERDICTS)
        )
        for truth in VERDICTS:
            print(f"{truth:20}" + "".join(f"{seen[truth, said]:10}" for said in VERDICTS))
    print(f"\n{'kind':36} {'right':>6} of")
    for name, kind in KINDS.items():
        half = "held out" if kind.held_out else ""
        print(f"{name:36} {right[name]:6} {right[name] + wrong[name]:3} {half}")


if __name__ == "__main__":
    main()
