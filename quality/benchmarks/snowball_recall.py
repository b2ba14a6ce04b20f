"""How many included papers of real, labelled reviews does snowballing find? Round by round.

``uv run python -m quality.benchmarks.snowball_recall FOLDER... [--seeds 3] [--draws 10] [--rounds
3]``

A folder is a review of the SYNERGY data set (De Bruin et al. 2023, doi:10.34894/HE6NAQ): its
``labels.csv`` (``openalex_id``, ``doi``, ``pmid``, ``label_included``) and ``works_*.zip`` (what
OpenAlex knows of these papers, ``referenced_works`` among it). What a paper cites is known of
labelled papers alone: one outside is found as a reference, and never as who cites.
"""

from __future__ import annotations

import argparse
import csv
import json
import random
import statistics
import tempfile
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from utils import Library
from utils.lists.pasted import collect_field_ids
from utils.model.identifiers import Ids
from utils.model.paper import Paper
from utils.review import snowball as snowballing
from utils.review.snowball import CitationCandidate
from utils.search.citation_indexes import CitationIndex
from utils.sources.europepmc import Kind, LinkedPaper

_EMAIL = "nobody@papershelf.test"  # asked for, and told to nobody: all is offline
_FIRST = 100  # candidates that somebody looks at, the most led to first
Found = list[list[CitationCandidate]]  # of each round


@dataclass
class Graph:
    """A review's papers, who of them cites whom, and which were included, by OpenAlex's numbers."""

    papers: dict[str, Paper] = field(default_factory=dict)
    included: set[str] = field(default_factory=set)
    references: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    citations: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    named: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, folder: Path) -> Graph:
        """Read a review's folder."""
        made = cls()
        works: dict[str, Any] = {}
        for path in folder.glob("works_*.zip"):
            with ZipFile(path) as file:
                for name in file.namelist():
                    works |= {work["id"]: work for work in json.loads(file.read(name))}
        with (folder / "labels.csv").open(newline="", encoding="utf-8") as table:
            for label in csv.DictReader(table):
                number = label["openalex_id"]
                work = works.get(number, {})
                made.papers[number] = _paper(number, label["doi"], label["pmid"], work)
                made.included |= {number} if label["label_included"] == "1" else set()
                for cited in work.get("referenced_works", ()):
                    made.references[number].append(cited)
                    made.citations[cited].append(number)
        for cited in made.citations:
            made.papers.setdefault(cited, _paper(cited, "", "", {}))
        for number, paper in made.papers.items():
            made.named |= dict.fromkeys(paper.ids.names(), number)
        return made

    def lists(
        self, ids: Ids, kind: Kind, most: int, _web: object
    ) -> tuple[int, list[LinkedPaper], str]:
        """Answer as an index does."""
        near = self.references if kind == "references" else self.citations
        found = {number: None for one in ids.names() for number in near[self.named.get(one, "")]}
        return (
            len(found),
            [LinkedPaper.from_paper(self.papers[number]) for number in found][:most],
            "",
        )

    def included_in(self, candidates: Sequence[CitationCandidate]) -> set[str]:
        """The included papers among candidates."""
        names = (name for one in candidates for name in one.paper.ids.names())
        return {self.named.get(name, "") for name in names} & self.included


def _paper(number: str, doi: str, pmid: str, work: dict[str, Any]) -> Paper:
    """A paper as an index tells of it; a DOI is made up where only OpenAlex's number is known."""
    doi = doi or ("" if pmid else f"10.5555/openalex.{number.rpartition('/')[2]}")
    ids = collect_field_ids({"doi": doi, "pmid": pmid.rpartition("/")[2]})
    return Paper(ids, work.get("title") or "", published=str(work.get("publication_year") or ""))


def unscreened(_graph: Graph, seeds: list[Paper], library: Library, rounds: int) -> Found:
    """As ``snowball --rounds`` does: a round begins with the candidates most led to."""
    found = library.reviews.snowball(seeds, rounds=rounds).candidates
    return [[one for one in found if one.round == number + 1] for number in range(rounds)]


def screened(graph: Graph, seeds: list[Paper], library: Library, rounds: int) -> Found:
    """As ``review snowball`` does: a round begins with what was included of the last one."""
    known, made = list(seeds), []
    for _ in range(rounds):
        found = library.reviews.snowball(seeds, known=known).candidates
        made.append([*found])
        known += [one.paper for one in found]
        seeds = [graph.papers[number] for number in sorted(graph.included_in(found))]
    return made


def measured(
    graph: Graph, way: Callable[..., Found], draw: int, asked: argparse.Namespace
) -> list[tuple[float, ...]]:
    """Up to each round: candidates, those included, recall, precision, recall of the first."""
    drawn = random.Random(draw).sample(sorted(graph.included), asked.seeds)
    with tempfile.TemporaryDirectory() as made:
        library = Library(papers_dir=made, papers_offline=True, pubmed_email=_EMAIL)
        rounds = way(graph, [graph.papers[number] for number in drawn], library, asked.rounds)
        library.shelf.close()
    told, wanted = [], len(graph.included) - asked.seeds
    for so_far in accumulate(rounds):
        first = sorted(so_far, key=lambda one: -len(one.seeds))[:_FIRST]
        many, right, early = len(so_far), *map(len, map(graph.included_in, (so_far, first)))
        told.append((many, right, right / wanted, right / max(many, 1), early / wanted))
    return told


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="+", type=Path)
    for name, number in (("--seeds", 3), ("--draws", 10), ("--rounds", 3)):
        parser.add_argument(name, type=int, default=number)
    asked = parser.parse_args()
    print("| review | included | way | round | candidates | found | recall | precision |"
          f" recall in first {_FIRST} |\n|{'---|' * 9}")  # fmt: skip
    for folder, graph in ((path, Graph.of(path)) for path in asked.folders):
        index = CitationIndex("OpenAlex", ("doi", "pmid"), graph.lists)
        snowballing.list_citation_indexes = lambda _settings, index=index: (index,)
        for way in (unscreened, screened):
            draws = [measured(graph, way, draw, asked) for draw in range(asked.draws)]
            for number, rows in enumerate(zip(*draws, strict=True), 1):
                many, right, *shares = map(statistics.mean, zip(*rows, strict=True))
                cells = (folder.name, len(graph.included), way.__name__, number, round(many),
                         f"{right:.1f}", *(f"{share:.3f}" for share in shares))  # fmt: skip
                print("|", " | ".join(map(str, cells)), "|", flush=True)


if __name__ == "__main__":
    main()
