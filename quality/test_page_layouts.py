"""Pages laid out from recorded articles are read as the articles they were made from."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from quality import page_scores
from quality.cases import Article, Folder, read
from quality.jats_truth import Truth
from quality.layouts import mended, unseen
from quality.layouts.dress import Layout
from quality.layouts.manuscript import Manuscript
from quality.measures import Scores
from tests.examples import ALL

# Of each kind one: sections, none at all, floats at the end.
ARTICLES = ("PMC6244559", "PMC6355738")[: 2 if ALL else 1]


@cache
def articles(root: Path) -> list[Article]:
    return [case for case in Folder(root).articles if case.name in ARTICLES]


def scored(root: Path, layout: type[Layout]) -> Scores:
    scores = Scores()
    for case in articles(root):
        body = layout(Manuscript(case.jats)).document().encode()
        markdown = read(body, "html").markdown
        page_scores.html(case.name, Truth(case.jats), markdown, body, scores)
    return scores


@pytest.mark.shared
@pytest.mark.parametrize("layout", mended.LAYOUTS, ids=lambda layout: layout.name)
def test_a_laid_out_page_is_read_as_its_article(shared: Path, layout: type[Layout]) -> None:
    scores = scored(shared, layout)
    assert scores["HTML F1"].value >= 0.95, scores["HTML F1"].misses
    assert scores["HTML references"].value >= 0.95, scores["HTML references"].misses


@pytest.mark.shared
def test_layouts_nobody_looked_at_are_read_nearly_as_well(shared: Path) -> None:
    scores = [scored(shared, layout) for layout in unseen.LAYOUTS]
    assert sum(score["HTML F1"].value for score in scores) / len(scores) >= 0.9
    assert min(score["HTML references"].value for score in scores) >= 0.95
