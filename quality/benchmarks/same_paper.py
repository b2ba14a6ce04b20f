"""Which records are of one paper: our judgement beside what people use otherwise.

``uv run --with bib-dedupe python -m quality.benchmarks.same_paper [--data FOLDER] [--seed N]
[--beside]``

The labelled set of ``quality/duplicates``: papers recorded from PubMed, Europe PMC, Crossref,
OpenAlex, Semantic Scholar and arXiv (invented ones where FOLDER is absent), half of them written
down twice more in other ways and each of those beside another paper that looks alike. Pairs of
records are counted: a wrong one is two papers shown as one. Processor time of one process, reading
not counted.

- ``ours``: `group_records`, identifiers first;
- ``identifiers or title``: one shared identifier, or the same letters in the title;
- ``bib-dedupe``: prep, block, match, cluster, as its documentation has it; it knows DOIs, but no
  other identifier, and takes two minutes;
- the first two also ``without identifiers``, so that only what is written about a paper counts.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.metadata
import importlib.util
import io
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from quality.duplicates.invented import invented_papers
from quality.duplicates.labelled import Labelled, changed_preprints, labelled_set, linked, score
from quality.duplicates.recorded import distinct_papers
from utils.model.identifiers import Ids
from utils.model.paper import Paper
from utils.search.fused_results import group_records

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
Groups = Iterable[Sequence[int]]


def ours(records: Sequence[Paper]) -> Groups:
    return group_records(records).groups


def by_name_or_title(records: Sequence[Paper]) -> Groups:
    """Transitively: whatever shares an identifier or the letters of a title."""
    parents = list(range(len(records)))

    def root(at: int) -> int:
        while parents[at] != at:
            at = parents[at]
        return at

    places: dict[str, int] = {}
    for at, record in enumerate(records):
        letters = "".join(filter(str.isalnum, record.title.lower()))
        for key in (*record.ids.names(), *([f"title:{letters}"] if letters else [])):
            other = root(places.setdefault(key, at))
            parents[max(root(at), other)] = min(root(at), other)
    groups: dict[int, list[int]] = {}
    for at in range(len(records)):
        groups.setdefault(root(at), []).append(at)
    return groups.values()


def bib_dedupe(records: Sequence[Paper]) -> Groups:
    import pandas as pd
    from bib_dedupe.bib_dedupe import block, cluster, match, prep

    table = pd.DataFrame([_row(at, record) for at, record in enumerate(records)])
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        found = cluster(match(block(prep(table, cpu=1), cpu=1), cpu=1))
    joined = [[int(name) for name in group] for group in found]
    alone = set(range(len(records))).difference(*joined)
    return [*joined, *([at] for at in alone)]


def _row(at: int, paper: Paper) -> dict[str, str]:
    people = (
        one.collective or f"{one.family}, {one.given or one.initials}" for one in paper.authors
    )
    return {
        "ID": str(at),
        "ENTRYTYPE": "article",
        "title": paper.title,
        "author": " and ".join(people),
        "year": paper.year,
        "journal": paper.journal,
        "volume": paper.volume,
        "number": paper.issue,
        "pages": paper.pages,
        "doi": paper.ids.doi,
        "abstract": paper.abstract,
    }


def tell(name: str, way: Callable[[Sequence[Paper]], Groups], made: Labelled) -> None:
    began = time.process_time()
    groups = way(made.records)
    seconds = time.process_time() - began
    found = score(made, groups)
    print(
        f"{name:42} precision {found.precision:7.2%}  recall {found.recall:7.2%}  "
        f"false merges {found.wrong:5}  missed {found.missed:5}  {seconds:6.1f} s"
    )
    for kinds, count in found.wrong_kinds.most_common(4):
        print(f"{'':44}{count:5} × {' + '.join(kinds)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--seed", type=int, default=6)
    parser.add_argument("--beside", action="store_true")
    asked = parser.parse_args()
    recorded = asked.data.exists()
    papers = distinct_papers(asked.data) if recorded else invented_papers(asked.seed)
    made = labelled_set(papers, asked.seed)
    kind = "recorded" if recorded else "invented"
    print(f"{len(made.records):,} records of {len(set(made.labels)):,} papers ({kind})")
    ways: dict[str, Callable[[Sequence[Paper]], Groups]] = {"ours": ours}
    if asked.beside:
        ways["identifiers or title"] = by_name_or_title
        if importlib.util.find_spec("bib_dedupe"):
            ways[f"bib-dedupe {importlib.metadata.version('bib-dedupe')}"] = bib_dedupe
        else:
            print("bib-dedupe is not installed")
    # Two papers that differ in nothing but a DOI cannot be told apart without.
    told = [at for at, kind in enumerate(made.kinds) if kind != "other_doi"]
    bare = Labelled(
        [replace(made.records[at], ids=Ids()) for at in told],
        [made.labels[at] for at in told],
        [made.kinds[at] for at in told],
    )
    for name, way in ways.items():
        tell(name, way, made)
    for name, way in list(ways.items())[:2]:  # of identifiers, bib-dedupe knows only the DOI
        tell(f"{name}, without identifiers", way, bare)
    links("preprints", made)
    links("changed preprints", changed_preprints(papers, asked.seed))


def links(name: str, made: Labelled) -> None:
    """How many of the preprints were linked to what became of them."""
    families = group_records(made.records)
    right, wrong = linked(made, families)
    found = score(made, families.groups)
    print(
        f"{name} linked, more likely than not: {len(right)} of {len(made.preprints)}, "
        f"{len(wrong)} to another paper, {found.wrong} false merges"
    )
    kind_of = dict(zip(made.labels[::-1], made.kinds[::-1], strict=True))
    of = Counter(kind_of[preprint] for preprint, _ in made.preprints)
    told = Counter(kind_of[preprint] for preprint, _ in right)
    if len(of) > 1:
        print("; ".join(f"{kind} {told[kind]} of {many}" for kind, many in of.items()))
    for (preprint, other), _ in zip(sorted(wrong), range(4), strict=False):
        titles = [made.records[made.labels.index(one)].title for one in (preprint, other)]
        print(f"    {kind_of[preprint]} → {kind_of[other]}: {' | '.join(titles)}")


if __name__ == "__main__":
    main()
