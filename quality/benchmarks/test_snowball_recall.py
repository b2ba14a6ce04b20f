"""A labelled review that was made up, snowballed: the table is what plain sets say."""

from __future__ import annotations

import csv
import json
import random
from pathlib import Path
from zipfile import ZipFile

import pytest

from quality.benchmarks import snowball_recall
from utils.review import snowball as snowballing

CITES = {1: [2, 3, 91], 2: [3, 92], 4: [92, 91], 5: [4], 6: [5, 93], 7: [93], 8: [], 9: [8]}
INCLUDED = {1, 2, 3, 4, 5, 6, 7}  # 91 to 93 were never screened; 8 and 9 are reached by nobody


def number(at: int) -> str:
    return f"https://openalex.org/W{at}"


@pytest.fixture
def review(tmp_path: Path) -> Path:
    """A folder as SYNERGY has it: papers with a DOI, a PMID, both or neither."""
    folder = tmp_path / "Roe_2020"
    folder.mkdir()
    with (folder / "labels.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(("openalex_id", "doi", "pmid", "label_included"))
        for at in range(1, 10):
            doi = f"https://doi.org/10.1000/moss.{at}" if at % 3 else ""
            pmid = f"https://pubmed.ncbi.nlm.nih.gov/4100000{at}" if at % 2 else ""
            writer.writerow((number(at), doi, pmid, int(at in INCLUDED)))
    works = [
        {"id": number(at), "title": f"Moss {at}", "publication_year": 2000 + at,
         "referenced_works": [*map(number, CITES.get(at, []))]}
        for at in range(1, 10)
    ]  # fmt: skip
    with ZipFile(folder / "works_1.zip", "w") as file:
        file.writestr("works_0_5.json", json.dumps(works[:5]))
        file.writestr("works_5_9.json", json.dumps(works[5:]))
    return folder


def reached(seeds: set[int], rounds: int, *, screened: bool) -> list[set[int]]:
    """The candidates up to each round, from the citations alone."""
    known, begin, made = set(seeds), set(seeds), []
    for _ in range(rounds):
        near = {cited for at in begin for cited in CITES.get(at, [])}
        near |= {at for at, cited in CITES.items() if begin & set(cited)}
        begin = near - known
        known |= begin
        begin &= INCLUDED if screened else known
        made.append(known - seeds)
    return made


def test_recall_by_round_is_what_plain_sets_say(
    review: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(
        snowballing, "list_citation_indexes", snowballing.list_citation_indexes
    )  # put back afterwards
    monkeypatch.setattr("sys.argv", ["-", str(review), "--seeds", "1", "--draws", "1"])
    snowball_recall.main()
    lines = capsys.readouterr().out.splitlines()[2:]
    [drawn] = random.Random(0).sample(sorted(map(number, INCLUDED)), 1)
    seeds = {int(drawn.rpartition("W")[2])}
    expected = []
    for way in ("unscreened", "screened"):
        for at, found in enumerate(reached(seeds, 3, screened=way == "screened"), 1):
            right = len(found & INCLUDED)
            shares = f"{right / 6:.3f} | {right / len(found):.3f} | {right / 6:.3f}"
            expected.append(
                f"| Roe_2020 | 7 | {way} | {at} | {len(found)} | {right}.0 | {shares} |"
            )
    assert lines == expected
    assert lines[:3] != lines[3:]  # what was not included leads on only where nobody screens
