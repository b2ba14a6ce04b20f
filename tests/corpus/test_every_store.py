"""What a corpus answers is the same in every store: order, filters, other words, scores.

One list of questions, each with its answer written by hand from the records below; asked of words
in the embedded index and PostgreSQL, and in Weaviate (the stand-in of `tests.corpus`).
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.corpus.small_corpus import corpus_in, paper
from tests.databases import POSTGRESQL
from utils.corpus import Corpus
from utils.corpus.search import EVIDENCE_WEIGHT
from utils.corpus.texts import collect_shared_facts
from utils.model.passage import Filters

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
ALIKE = "Metformin lowers weight in adults with type 2 diabetes."
TYPES = {
    "1": ("Case Reports",),
    "2": ("Meta-Analysis",),
    "3": ("Journal Article",),
    "4": ("Randomized Controlled Trial",),
    "5": ("Retracted Publication", "Meta-Analysis"),
}
PAPERS = [
    *(
        paper(pmid, title="Metformin", abstract=ALIKE, publication_types=types)
        for pmid, types in TYPES.items()
    ),
    paper("6", title="PD", abstract="Gait in Parkinson's disease (PD) was measured.", **LANCET),
    paper("7", title="Music", abstract="Music steadies gait in Parkinson's disease.", **CLINICAL),
    paper("8", title="Reefs", abstract="Corals bleach in warm water.", published="2001", **LANCET),
    paper("9", title="Reefs", abstract="Corals bleach where water warms.", **CLINICAL),
]


class Asked(NamedTuple):
    """A question, how it is asked, and the papers that come, in their order."""

    question: str
    papers: list[str]
    filters: Filters = Filters()
    options: dict[str, bool] = {}  # noqa: RUF012 - a tuple's, and never changed


ASKED = [
    Asked("metformin weight", ["2", "4", "3", "1"]),
    Asked("metformin weight", ["2", "4", "3", "1", "5"], Filters(retracted=True)),
    Asked("metformin trial", ["4"], Filters(publication_types=("Randomized Controlled Trial",))),
    Asked("corals bleach", ["8"], Filters(journal="Lancet")),
    Asked("corals bleach", ["8"], Filters(journal="0140-6736")),
    Asked("corals bleach", ["9"], Filters(journal="J. Clin. Invest.")),
    Asked("corals bleach", ["9"], Filters(year_from=2010)),
    Asked("corals bleach", [], Filters(journal="Lancet", year_from=2010)),
    Asked("PD music", ["7", "6"]),
    Asked("PD", ["6", "7"]),
    Asked("PD", ["6"], options={"widen": False}),
]


@pytest.fixture(
    params=[
        "embedded",
        pytest.param("pgvector", marks=POSTGRESQL),
        pytest.param("weaviate", marks=pytest.mark.extras("weaviate")),
    ]
)
def corpus(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Corpus]:
    """The records above, indexed in one store."""
    url = request.getfixturevalue("own_database") if request.param == "pgvector" else None
    made = corpus_in(tmp_path / "papers", vectors=False, database_url=url)
    if request.param == "weaviate":
        made.__dict__["finder"] = _weaviate(request.getfixturevalue("stand_in"), made)
    made.database.store_records(PAPERS)
    list(made.index())
    yield made
    made.finder.close()
    made.database.close()
    made.shelf.close()


@pytest.fixture
def own_database(postgresql: str) -> Iterator[str]:
    """A PostgreSQL database of this test's own."""
    import secrets

    import psycopg

    name = f"stores_{secrets.token_hex(6)}"
    with psycopg.connect(postgresql, autocommit=True) as server:
        server.execute(f'CREATE DATABASE "{name}"')
        yield postgresql.replace("/postgres?", f"/{name}?")
        server.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


@pytest.fixture
def stand_in() -> Iterator[Any]:
    from tests.corpus.weaviate_stand_in import StandIn

    with StandIn(key="not-for-your-eyes") as running:
        yield running


def _weaviate(stand_in: Any, corpus: Corpus) -> Any:
    from utils.corpus.weaviate_finder import WeaviateFinder

    def of(papers: Any) -> Any:
        return collect_shared_facts(papers, corpus.database)

    return WeaviateFinder(stand_in.url, stand_in.key, "PubMedChunk", of)


def test_every_store_answers_every_question_alike(corpus: Corpus) -> None:
    for asked in ASKED:
        answer = corpus.find(asked.question, filters=asked.filters, **asked.options)
        papers = [one.passage.paper.removeprefix("pmid:") for one in answer.hits]
        assert papers == asked.papers, asked


def test_scores_are_those_of_one_formula_in_every_store(corpus: Corpus) -> None:
    meta_analysis, trial, article, report = corpus.find("metformin weight").hits
    assert report.score == pytest.approx(1.2, abs=0.01)  # every word, and no study
    for found, steps in ((meta_analysis, 3), (trial, 2), (article, 1)):
        assert found.score == pytest.approx(
            report.score * (1 + EVIDENCE_WEIGHT * steps / 3), rel=1e-3
        )
    assert all(one.bm25 and one.sim is None for one in (meta_analysis, trial, article, report))
    assert meta_analysis.quality.design == 3


def test_other_words_and_emptied_filters_are_told_in_every_store(corpus: Corpus) -> None:
    widened = corpus.find("PD music").wordings
    assert [(one.term, one.other) for one in widened] == [("PD", "Parkinson's disease")]
    emptied = corpus.find("corals", filters=Filters(journal="Lancet", year_from=2010))
    assert not emptied.hits
    assert "2010" in " ".join(emptied.warnings)


@pytest.mark.extras("weaviate")
@pytest.mark.parametrize("corpus", ["weaviate"], indirect=True)
def test_weaviate_shows_quality_entry_and_revision(corpus: Corpus, stand_in: Any) -> None:
    kept = [one["properties"] for one in stand_in.objects["PubMedChunk"].values()]
    about = {one["pmid"]: one for one in kept}
    assert about["2"]["quality_total"] > about["1"]["quality_total"]
    assert about["5"]["quality_total"] == 0
    assert {one["edat"][:10] for one in kept} == {"2024-06-02"}
    assert {one["lr"][:10] for one in kept} == {"2024-06-15"}
