"""Quotations made of real and of invented sentences are judged rightly; see `made`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path

import pytest

from quality.quotations.made import (
    ELSEWHERE,
    KINDS,
    cases,
    fault_of,
    recorded_texts,
    shelved,
    truth_of,
)
from tests.examples import share
from tests.world import World
from utils.demo.jats import document
from utils.model.paper import Fetched
from utils.readers import jats

pytestmark = pytest.mark.slow

ARTICLES, EACH = 24, 6


def judged(
    texts: Mapping[str, str], number: int, folder: Path, without: str = ""
) -> tuple[Counter[str], list[str]]:
    """Answers by what they should be and are, and all faults; *without* one kind."""
    seen, faults = Counter[str](), []
    with shelved(texts, folder) as corpus:
        for case in (one for one in cases(texts, number) if one.kind != without):
            found = corpus.verify_quote(case.text, case.paper)
            seen[f"{found.verdict} for {truth_of(case)}"] += 1
            if fault := fault_of(case, found):
                faults.append(f"{case.kind}: {fault}: {case.text!r} of {case.original!r}")
    return seen, faults


@pytest.mark.shared
def test_quotations_of_recorded_articles(shared, tmp_path):
    texts = recorded_texts(shared, share(ARTICLES))
    seen, faults = judged(texts, share(EACH) * len(KINDS), tmp_path)
    told = "\n".join(faults)
    assert seen.total() > len(KINDS)
    assert not seen["verbatim for near"] + seen["verbatim for absent"], told
    assert len(faults) <= 0.03 * seen.total(), told


def test_quotations_of_invented_papers(tmp_path):
    """Where no recorded ones are: their sentences have most that can be changed."""
    papers = [one for one in World().papers if one.branch.startswith("pmc_cloud")]
    texts = {
        one.pmid: jats.read_document(Fetched(document(one), "jats", "", "", "")).markdown
        for one in papers
    }
    # Their sentences are made from few patterns: one of another paper is near to one of this.
    seen, faults = judged(texts, 2 * len(KINDS), tmp_path, without=ELSEWHERE)
    assert seen["verbatim for verbatim"] > len(KINDS) // 3
    assert seen["near for near"] > len(KINDS) // 2
    assert not faults, "\n".join(faults)


@pytest.mark.shared
def test_sentences_of_two_recorded_articles_are_told_wherever_they_stand(shared, tmp_path):
    texts = recorded_texts(shared, 12)
    plain = [one for one in cases(texts, 4 * len(KINDS)) if one.kind == "as it is"]
    pairs = [(one, other) for one, other in pairwise(plain) if one.paper != other.paper]
    assert pairs
    with shelved(texts, tmp_path) as corpus:
        list(corpus.index())
        for one, other in pairs:
            found = corpus.verify_quote(f"{one.text} {other.text}")
            told = {difference.kind for difference in found.differences}
            assert (found.verdict, told) == ("near", {"stitched"}), (one.text, other.text)
            papers = list(dict.fromkeys(piece.paper for piece in found.pieces))
            assert papers == [f"pmid:{one.paper}", f"pmid:{other.paper}"]
