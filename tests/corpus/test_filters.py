"""Journals are found under every name; a filter that leaves none says so, and what there is."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.corpus.small_corpus import corpus_in, paper
from tests.databases import database_url, postgresql
from tests.shelf.papers import save
from utils.corpus import Corpus
from utils.corpus.names import extract_alternative_names
from utils.library import Library
from utils.model.identifiers import Ids
from utils.model.passage import Filters

__all__ = ["database_url", "postgresql"]

LANCET = {
    "journal": "Lancet (London, England)",
    "journal_abbreviation": "Lancet",
    "issn": "0140-6736",
}
CLINICAL = {
    "journal": "The Journal of clinical investigation",
    "journal_abbreviation": "J Clin Invest",
    "issn": "0021-9738",
}
PAPERS = [
    paper("1", abstract="Statins lower cholesterol.", published="2001-02", **LANCET),
    paper("2", abstract="Statins spare the heart.", published="2011", **CLINICAL),
    paper("3", abstract="Statins for all?", publication_types=("Editorial",), **CLINICAL),
    paper("4", abstract="Corals & statins.", journal="Cell & Reef", issn="1234-567X"),
    paper("5", abstract="Statins cure everything.", publication_types=("Journal Article",
        "Retracted Publication"), **LANCET),
]  # fmt: skip


@pytest.fixture
def corpus(tmp_path: Path, database_url: str) -> Iterator[Corpus]:
    """Words and names in SQLite, then in PostgreSQL."""
    made = corpus_in(tmp_path / "papers", vectors=False, database_url=database_url or None)
    made.database.store_records(PAPERS)
    save(made.shelf, paper("6", ids=Ids(doi="10.1000/a"), title="On statins", journal="The Lancet"))
    list(made.index())
    yield made
    made.finder.close()
    made.database.close()
    made.shelf.close()


def found(corpus: Corpus, query: str = "statins", **filters: Any) -> set[str]:
    answer = corpus.find(query, filters=Filters(**filters))
    return {one.passage.paper for one in answer.hits}


def told(corpus: Corpus, **filters: Any) -> str:
    answer = corpus.find("statins", filters=Filters(**filters))
    assert not answer.hits
    return " ".join(answer.warnings)


@pytest.mark.parametrize(
    ("journal", "expected"),
    [
        ("Lancet (London, England)", {"pmid:1"}),
        ("the lancet", {"pmid:1", "doi:10.1000/a"}),
        ("Lancet.", {"pmid:1", "doi:10.1000/a"}),
        ("0140-6736", {"pmid:1"}),
        ("J. Clin. Invest.", {"pmid:2", "pmid:3"}),
        ("journal of Clinical Investigation", {"pmid:2", "pmid:3"}),
        ("0021-9738", {"pmid:2", "pmid:3"}),
        ("1234-567x", {"pmid:4"}),
        ("Cell and Reef", {"pmid:4"}),
        ("J Clin", set()),
        ("x' OR 1=1 --", set()),
        ("???", set()),
    ],
)
def test_a_journal_goes_by_name_abbreviation_and_issn(
    corpus: Corpus, journal: str, expected: set[str]
) -> None:
    assert found(corpus, journal=journal) == expected


def test_a_filter_that_leaves_nothing_is_named_with_what_there_is(corpus: Corpus) -> None:
    said = told(corpus, journal="J Clin")
    assert "Journal: “J Clin” (the corpus has no journal of this name) leaves no passages." in said
    assert "Without it: 5 papers (The Journal of clinical investigation: 2, " in said
    assert "Without it: 5 papers (2024: " in told(corpus, year_from=2030)
    assert "Years: to 1990 leaves no passages" in told(corpus, year_to=1990)
    assert "Journal Article: " in told(corpus, publication_types=("Case Reports",))
    assert "Editorial: 1" in told(corpus, publication_types=("Case Reports",))
    answer = corpus.find("everything cure", filters=Filters(kind="full_text"))
    assert not answer.hits


def test_each_of_several_filters_is_named_that_alone_leaves_nothing(corpus: Corpus) -> None:
    said = told(corpus, journal="Lancet", year_from=2011, year_to=2012)
    assert "Journal: “Lancet” leaves no passages. Without it: 1 paper (The Journal of" in said
    assert "Years: 2011 to 2012 leaves no passages. Without it: 2 papers (2001: 1" in said


def test_filters_that_only_together_leave_nothing(corpus: Corpus) -> None:
    said = told(corpus, journal="Nature", year_from=2090)
    assert "Together these leave no passages: Years: from 2090, Journal: “Nature”" in said
    assert "Without them: 5 papers." in said


def test_that_all_is_retracted_is_no_empty_corpus(corpus: Corpus) -> None:
    said = corpus.find("cure everything", filters=Filters(year_from=2000)).warnings
    assert any(
        "retracted papers are left out leaves no passages. Without it: 1 paper" in s for s in said
    )


def test_words_that_are_nowhere_are_not_the_filters_doing(corpus: Corpus) -> None:
    answer = corpus.find("zeppelin", filters=Filters(journal="Lancet"))
    assert "No passage has any of these words" in answer.warnings[0]
    assert not any("leaves no passages" in one for one in answer.warnings)


def test_names_are_kept_within_what_databases_index(corpus: Corpus) -> None:
    long = replace(PAPERS[0], journal="Journal \0\ud800 of " + "long names " * 500)
    corpus.database.increase_name_counts(dict.fromkeys(extract_alternative_names(long, []), 1))
    assert corpus.database.find_journal_names(long.journal)


def test_a_listing_says_which_filter_leaves_nothing(library: Library) -> None:
    save(library.shelf, PAPERS[0])
    save(library.shelf, PAPERS[1])
    assert library.list_papers(journal="J. Clin. Invest.")[0] == 1
    assert library.list_papers(journal="0140-6736")[0] == 1
    assert library.list_papers(journal="140-673")[0] == 0
    asked = {"journal": "Nature", "year_from": "2010"}
    assert library.list_papers(**asked)[0] == 0
    assert library.texts.emptied_by(**asked) == [
        "Journal “Nature” leaves no papers. Without it: 1."
    ]
    both = library.texts.emptied_by(journal="Nature", kind="abstract")
    assert both == ["Together these filters leave no papers. Without them: 2."]
    assert library.texts.emptied_by() == []
