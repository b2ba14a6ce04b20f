"""Results as tables: DataFrames, and what a notebook shows."""

import sys

import pytest

from utils.download.download import Download
from utils.entrez.datasets.sql_query import SqlResultPage
from utils.errors import NotConfigured
from utils.model.identifiers import Ids
from utils.model.job import HARVESTED_COLUMNS, Coverage, Harvested
from utils.model.paper import Author, Paper, SearchResult, StoredPaper
from utils.model.tabular import ResultList, Table
from utils.review.standing import STANDING_COLUMNS, ScreeningStatus
from utils.search.fused_results import FoundPaper
from utils.search.pubmed.relationships import RelatedPaper, RelatedPapers
from utils.search.search import MergedSearch
from utils.sources.semantic_scholar import ScholarPage, ScholarPaper

PAPER = Paper(
    Ids(pmid="7", doi="10.1/x"),
    title="<script>alert(1)</script> costs $5",
    authors=(Author("Doe", "Jane"),),
    journal="J Test",
    published="2024-05",
    publication_types=("Review", "Journal Article"),
)
STORED = StoredPaper(PAPER, "full_text", "/shelf/7.md", "PMC", "pmc_cloud", "00")
RESULTS = {
    "search": SearchResult("q", "q", 1, (PAPER,)),
    "gathered": MergedSearch("q", (FoundPaper(PAPER, ("pubmed", "europepmc")),), ()),
    "download": Download(STORED, cached=False, file_path=STORED.path),
    "coverage": Coverage({"pmc_cloud": 2}, {"paywall": 1}),
    "harvested": ResultList(
        [Harvested(1, "7", "failed", PAPER, reason="paywall")], HARVESTED_COLUMNS, Harvested.row
    ),
    "related": RelatedPapers((RelatedPaper("7", PAPER.title),), 1, "https://example.org"),
    "scholar": ScholarPage(1, (ScholarPaper(PAPER, citation_count=3),)),
    "rows": SqlResultPage(("n", "n"), ((1, None),), None, cut=False, seconds=0.1),
}


@pytest.mark.parametrize("name", RESULTS)
def test_every_cell_has_a_column(name):
    table = RESULTS[name].to_table()
    rows = list(table.rows)
    assert rows
    assert {len(row) for row in rows} == {len(table.columns)}


@pytest.mark.parametrize("name", RESULTS)
def test_a_notebook_shows_texts_of_the_web_as_text(name):
    shown = RESULTS[name]._repr_html_()
    assert "<script" not in shown
    assert 'class="tex2jax_ignore mathjax_ignore"' in shown


def test_columns_without_a_value_and_abstracts_are_not_shown():
    shown = SearchResult("q", "q", 1, (Paper(Ids(pmid="7"), abstract="Long."),))._repr_html_()
    assert "<th>pmid</th>" in shown
    assert "journal" not in shown
    assert "Long." not in shown


def test_a_long_table_is_cut_and_says_so():
    table = Table(("n",), [(number + 1,) for number in range(23)])
    assert table.to_html().count("<tr>") == 21
    assert "3 more rows" in table.to_html()
    assert Table(("n",), []).to_html() == "<p>No rows.</p>"


def test_without_pandas_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(NotConfigured, match=r"papershelf\[notebook\]"):
        RESULTS["search"].to_dataframe()


@pytest.mark.extras("pandas")
@pytest.mark.parametrize("name", RESULTS)
def test_a_dataframe_has_the_same_rows(name):
    table = RESULTS[name].to_table()
    frame = RESULTS[name].to_dataframe()
    assert list(frame.columns) == list(table.columns)
    assert len(frame) == len(list(table.rows))


@pytest.mark.extras("pandas")
def test_years_are_numbers_and_lists_are_text():
    undated = Paper(Ids(pmid="8"))
    frame = SearchResult("q", "q", 2, (PAPER, undated)).to_dataframe()
    assert frame["year"].tolist()[0] == 2024
    assert frame["year"].isna().tolist() == [False, True]
    assert frame["publication_types"][0] == "Review; Journal Article"


def test_an_empty_result_keeps_its_columns():
    assert "title" in SearchResult("q", "q", 0, ()).to_table().columns
    assert set(STANDING_COLUMNS) >= {"title", "reason"}
    assert callable(ScreeningStatus.row)
