"""What every finder promises, whichever store is behind it; then what each promises alone.

Embedded runs with both of its indexes of words; pgvector on a real PostgreSQL; Weaviate against a
stand-in that speaks its client's stubs, and against a real server where ``WEAVIATE_URL`` says so
(it is read before the tests hide the settings of whoever runs them).
"""

import hashlib
import os
import secrets
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.databases import POSTGRESQL, postgresql
from utils.corpus.embedded import EmbeddedFinder
from utils.corpus.embedded_schema import set_index_facts
from utils.corpus.finders import Finder, FinderStatus, make_finder
from utils.errors import InvariantFailed, NotConfigured, StoreFailed, WeaviateFailed
from utils.model.passage import Filters, Passage
from utils.settings import load_settings

__all__ = ["postgresql"]

_REAL_WEAVIATE = os.environ.get("WEAVIATE_URL", "")
_REAL_KEY = os.environ.get("WEAVIATE_API_KEY", "")
DIM = 8
EVERYTHING = Filters(retracted=True)


WEAVIATE = pytest.mark.extras("weaviate")
_KINDS = [
    "embedded",
    pytest.param("pgvector", marks=POSTGRESQL),
    pytest.param("weaviate", marks=WEAVIATE),
    *([pytest.param("weaviate_real", marks=WEAVIATE)] if _REAL_WEAVIATE else []),
]


@pytest.fixture(params=_KINDS)
def finder(request: pytest.FixtureRequest) -> Iterator[Finder]:
    """An empty finder of each kind."""
    made: Finder = request.getfixturevalue(request.param)
    yield made
    made.close()


@pytest.fixture
def embedded(tmp_path: Path) -> Finder:
    return EmbeddedFinder(tmp_path / "corpus")


@pytest.fixture
def pgvector(engine: Any) -> Finder:
    from utils.corpus.pgvector import PgvectorFinder

    return PgvectorFinder(engine)


@pytest.fixture(scope="session")
def _database(postgresql: str) -> Iterator[Any]:
    import psycopg
    import sqlalchemy

    name = f"finder_{secrets.token_hex(6)}"
    with psycopg.connect(postgresql, autocommit=True) as server:
        server.execute(f'CREATE DATABASE "{name}"')
        url = postgresql.replace("/postgres?", f"/{name}?")
        made = sqlalchemy.create_engine(url.replace("postgresql:", "postgresql+psycopg:"))
        yield made
        made.dispose()
        server.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


@pytest.fixture
def engine(_database: Any) -> Any:
    from sqlalchemy import text

    with _database.begin() as connection:
        connection.execute(
            text("DROP TABLE IF EXISTS corpus_terms, corpus_finder, corpus_finder_model")
        )
    return _database


@pytest.fixture(scope="session")
def _running_stand_in() -> Iterator[Any]:
    from tests.corpus.weaviate_stand_in import StandIn

    with StandIn(key="not-for-your-eyes") as running:
        yield running


@pytest.fixture
def stand_in(_running_stand_in: Any) -> Any:
    _running_stand_in.reset()
    return _running_stand_in


@pytest.fixture
def weaviate(stand_in: Any) -> Finder:
    from utils.corpus.weaviate_finder import WeaviateFinder

    return WeaviateFinder(stand_in.url, stand_in.key, "PubMedChunk")


@pytest.fixture
def weaviate_real() -> Iterator[Finder]:
    from utils.corpus.weaviate_finder import WeaviateFinder

    name = f"Test_{secrets.token_hex(6)}"
    made = WeaviateFinder(_REAL_WEAVIATE, _REAL_KEY, name)
    yield made
    with made._open_connection() as client:
        client.collections.delete(name)


def passage(number: int, text: str, **about: Any) -> Passage:
    """A passage of paper *number*."""
    usual: dict[str, Any] = {
        "paper": f"pmid:{number}", "chunk_id": "abstract:0", "section": "Abstract", "ordinal": 0,
        "start": 0, "end": len(text), "kind": "abstract", "title": "A paper", "year": 2020,
        "journal": "Reef Studies", "publication_types": ("Journal Article",),
    }  # fmt: skip
    digest = hashlib.sha256(text.encode(errors="replace")).hexdigest()
    return Passage(**{**usual, "text": text, "digest": digest, **about})


def vectors(*directions: int) -> np.ndarray:
    """Normalised rows, each mostly along one axis."""
    rows = np.full((len(directions), DIM), 0.1, np.float32)
    rows[range(len(directions)), directions] = 1.0
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


CORALS = passage(1, "Corals bleach when the water gets too warm for their algae.")
MICE = passage(2, "Mice lost weight on a diet of semaglutide and chow.")
SHARKS = passage(3, "Sharks patrol the reef at dusk.")
THREE = [CORALS, MICE, SHARKS]


def filled(finder: Finder) -> Finder:
    finder.prepare_for_model("model-1", DIM)
    finder.store_passages(THREE, vectors(0, 1, 2))
    return finder


def found(finder: Finder, query: str, *, axis: int | None = None, **asked: Any) -> list[str]:
    filters = Filters(**asked)
    vector = None if axis is None else vectors(axis)[0]
    return [hit.paper for hit in finder.search(query, vector, 10, filters)]


# -- what all promise ---------------------------------------------------------------------------


def test_before_anything_was_kept_it_is_empty_and_says_so(finder: Finder) -> None:
    assert finder.get_status() == FinderStatus(0, 0)
    assert finder.search("corals", None, 10, Filters()) == []
    assert finder.find_uuids_without_vectors([CORALS.uuid]) == {CORALS.uuid}
    finder.prepare_for_model("", 0)
    assert finder.search("corals", vectors(0)[0], 10, Filters()) == []


def test_the_passage_that_says_it_comes_first_and_tells_both_scores(finder: Finder) -> None:
    hits = filled(finder).search("semaglutide in mice", vectors(1)[0], 10, Filters())
    assert hits[0].uuid == MICE.uuid
    assert hits[0].paper == "pmid:2"
    assert hits[0].sim == pytest.approx(1.0, abs=1e-3)
    assert hits[0].bm25 is not None
    assert hits[0].bm25 > 0
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    others = [hit for hit in hits if hit.uuid != MICE.uuid]
    assert {hit.bm25 for hit in others} == {None}


def test_words_alone_find_too_and_so_does_meaning_alone(finder: Finder) -> None:
    filled(finder)
    words = finder.search("sharks", None, 10, Filters())
    assert [(hit.paper, hit.sim) for hit in words] == [("pmid:3", None)]
    meaning = finder.search("", vectors(2)[0], 1, Filters())
    assert [(hit.paper, hit.bm25) for hit in meaning] == [("pmid:3", None)]


def test_no_more_than_asked_for(finder: Finder) -> None:
    assert len(filled(finder).search("reef corals mice", vectors(0)[0], 2, Filters())) == 2


FIELD = [
    passage(n, f"{text} It was seen in {n} of the animals at the station.")
    for n, text in enumerate(
        [
            "IL\u20116 rose in the blood of mice with colitis.",
            "Interleukin 10 fell while IL-16 rose in colitis.",
            "TiO\u2082 films split water under light.",
            "\u03b2-Catenin enters the nucleus of tumour cells.",
            "TNF\u03b1 blockers calm the joints.", "COVID-19-related admissions doubled in April.",
            "Sj\u00f6gren\u2019s syndrome dries the eyes.", "A dose of 0.5 mg was enough for rats.",
            "Five doses of 5 mg were needed by rabbits.",
            "Corals bleach when reefs are warm for weeks.", "A T-cell receptor binds peptides.",
            "Statins lower cholesterol in adults.",
        ],
        start=20,
    )
]  # fmt: skip


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("IL6 colitis", 20),
        ("IL-6", 20),
        ("il 16", 21),
        ("TiO2 water", 22),
        ("beta catenin tumor cells", 23),
        ("TNF-alpha", 24),
        ("covid admission", 25),
        ("sjogren eye", 26),
        ("0.5 mg", 27),
        ("dose 5 mg", 28),
        ("bleaching of a coral reef", 29),
        ("T cell receptors", 30),
        ("statin for an adult", 31),
    ],
)
def test_every_store_finds_the_same_first_however_it_is_spelled(
    finder: Finder, query: str, first: int
) -> None:
    finder.prepare_for_model("", 0)
    finder.store_passages(FIELD, None)
    assert found(finder, query)[0] == f"pmid:{first}"


def test_every_store_makes_one_order_of_words_and_meaning(finder: Finder) -> None:
    finder.prepare_for_model("model-1", DIM)
    finder.store_passages(FIELD, vectors(*(at % DIM for at in range(len(FIELD)))))
    named = finder.search("TNF-alpha blockers of joints", vectors(4)[0], 4, Filters())
    assert named[0].paper == "pmid:24"
    assert named[0].score == pytest.approx(1.2 + 1.0, rel=0.02)
    # Most words are nowhere: what is near in meaning comes first, and tells both scores.
    vague = finder.search("zebra yak xenon quail films", vectors(5)[0], 4, Filters())
    assert vague[0].paper == "pmid:25"
    [worded] = [
        hit for hit in finder.search("zebra films", vectors(5)[0], 12, Filters()) if hit.bm25
    ]
    assert worded.paper == "pmid:22"
    assert worded.sim == pytest.approx(float(vectors(2)[0] @ vectors(5)[0]), abs=1e-3)


def test_a_word_of_the_title_weighs_more_than_one_of_the_text(finder: Finder) -> None:
    finder.prepare_for_model("", 0)
    titled = passage(7, "They swim in the blue water of the bay.", title="Manatees of the coast")
    texted = passage(8, "They swim with manatees in the water.", title="Dolphins of the coast")
    finder.store_passages([texted, titled], None)
    assert found(finder, "manatees") == ["pmid:7", "pmid:8"]


def test_keeping_the_same_twice_is_keeping_it_once(finder: Finder) -> None:
    filled(filled(finder))
    finder.store_passages([CORALS, CORALS], vectors(0, 0))
    assert finder.get_status() == FinderStatus(3, 3, "model-1", DIM)
    assert found(finder, "corals algae") == ["pmid:1"]


def test_a_passage_that_changed_is_found_by_its_new_words_only(finder: Finder) -> None:
    filled(finder)
    changed = passage(2, "Zebrafish swam upstream.")
    assert changed.uuid == MICE.uuid
    finder.store_passages([changed], vectors(5))
    assert found(finder, "mice semaglutide") == []
    assert found(finder, "zebrafish") == ["pmid:2"]
    hits = finder.search("zebrafish", vectors(5)[0], 10, Filters())
    assert hits[0].sim == pytest.approx(1.0, abs=1e-3)
    assert finder.get_status().vectors == 3


def test_without_a_new_vector_the_old_one_stays_while_the_words_do(finder: Finder) -> None:
    filled(finder)
    finder.store_passages([replace(MICE, year=1999), passage(3, "Whales sing.")], None)
    assert finder.find_uuids_without_vectors([p.uuid for p in THREE]) == {SHARKS.uuid}
    assert finder.get_status() == FinderStatus(3, 2, "model-1", DIM)
    assert found(finder, "", axis=1, year_to=1999) == ["pmid:2"]


def test_words_first_and_vectors_later(finder: Finder) -> None:
    finder.prepare_for_model("model-1", DIM)
    finder.store_passages(THREE, None)
    assert finder.get_status() == FinderStatus(3, 0, "model-1", DIM)
    assert finder.find_uuids_without_vectors([p.uuid for p in THREE]) == {p.uuid for p in THREE}
    assert found(finder, "sharks", axis=2) == ["pmid:3"]
    finder.store_passages(THREE, vectors(0, 1, 2))
    assert finder.find_uuids_without_vectors([p.uuid for p in THREE]) == set()
    assert found(finder, "", axis=2)[0] == "pmid:3"


def test_where_no_vectors_are_wanted_only_the_unknown_lack_one(finder: Finder) -> None:
    finder.prepare_for_model("", 0)
    finder.store_passages([CORALS], None)
    assert finder.find_uuids_without_vectors([CORALS.uuid, MICE.uuid]) == {MICE.uuid}


def test_what_is_removed_is_gone_and_the_unknown_is_no_error(finder: Finder) -> None:
    filled(finder).delete_passages([MICE.uuid, passage(99, "never seen").uuid])
    finder.delete_passages([])
    finder.delete_passages([MICE.uuid])
    assert finder.get_status() == FinderStatus(2, 2, "model-1", DIM)
    assert "pmid:2" not in found(finder, "mice reef", axis=1)
    assert finder.find_uuids_without_vectors([MICE.uuid, CORALS.uuid]) == {MICE.uuid}


def test_retracted_papers_are_found_only_where_they_are_asked_for(finder: Finder) -> None:
    filled(finder).store_passages([replace(MICE, retracted=True)], None)
    assert "pmid:2" not in found(finder, "mice", axis=1)
    assert found(finder, "mice", axis=1, retracted=True)[0] == "pmid:2"


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({"year_from": 2021}, {"pmid:12", "pmid:13"}),
        ({"year_to": 2020}, {"pmid:11"}),
        ({"year_from": 2020, "year_to": 2021}, {"pmid:11", "pmid:12"}),
        ({"journal": "the lancet"}, {"pmid:11"}),
        ({"journal": "Lancet"}, set()),
        (
            {"journal": "?", "journals": ("The LANCET", "the lancet oncology")},
            {"pmid:11", "pmid:12"},
        ),
        ({"journal": "Nature", "journals": ("Nature",)}, set()),
        ({"publication_types": ("review",)}, {"pmid:12", "pmid:13"}),
        ({"publication_types": ("Meta-Analysis", "Letter")}, {"pmid:11", "pmid:13"}),
        ({"kind": "full_text"}, {"pmid:13"}),
        ({"kind": "abstract", "year_from": 2021, "publication_types": ("Review",)}, {"pmid:12"}),
        ({"journal": "x' OR 1=1 --"}, set()),
    ],
)
def test_filters_choose_before_the_best_are_chosen(
    finder: Finder, asked: dict[str, Any], expected: set[str]
) -> None:
    finder.prepare_for_model("model-1", DIM)
    # Sixty better matches that no filter wants: a filter applied afterwards would find nothing.
    better = [passage(n, "urchin urchin", year=None, journal="") for n in range(100, 160)]
    better = [replace(each, publication_types=(), kind="") for each in better]  # type: ignore[arg-type]
    text = "An urchin was seen once among many other animals of the sea, far from the shore."
    wanted = [
        passage(11, text, year=2020, journal="The Lancet", publication_types=("Letter",)),
        passage(12, text, year=2021, journal="The Lancet Oncology", publication_types=("Review",)),
        passage(
            13,
            text,
            year=2022,
            publication_types=("Review", "Meta-Analysis"),
            kind="full_text",
        ),
    ]
    finder.store_passages([*better, *wanted], vectors(*[0] * 60, 1, 1, 1))
    assert set(found(finder, "urchin", **asked)) == expected
    assert set(found(finder, "", axis=0, **asked)) == expected
    assert set(found(finder, "urchin", axis=0, **asked)) == expected


@pytest.mark.parametrize(
    "query",
    [
        '"',
        "'; DROP TABLE passages; --",
        "AND OR NOT NEAR(",
        "title:* ^2 {a} -b +c (",
        "& | ! <-> :*",
        "\0\x01\x1f\ufffe",
        "\ud800 corals",
        "🦈🧬",
        "%s %(x)s :uuid :limit ?1",
        "corals " + "x" * 10_000,
        "reef " * 2_000,
        " ".join(f"w{n}" for n in range(3_000)),
        "''''\"\"\"\"\\\\\\",
        "corals/algae//[a TO b]",
        "",
    ],
)
def test_no_query_is_syntax(finder: Finder, query: str) -> None:
    filled(finder)
    for vector in (None, vectors(0)[0]):
        hits = finder.search(query, vector, 10, Filters())
        assert {hit.paper for hit in hits} <= {"pmid:1", "pmid:2", "pmid:3"}
    if "corals" in query and "DROP" not in query:
        assert "pmid:1" in found(finder, query)


def test_any_text_can_be_kept(finder: Finder) -> None:
    odd = passage(
        5, "NUL \0 half \ud800 emoji 🦈 quote ' \" \\ \x1f octopus", title="\0\x1f", journal="\0"
    )
    odd = replace(odd, digest="d" * 64, publication_types=("\0", "a\nb"))
    finder.prepare_for_model("model-1", DIM)
    finder.store_passages([odd], vectors(0))
    finder.store_passages([odd], vectors(0))
    finder.store_passages([replace(odd, text="squid", digest="e" * 64)], vectors(0))
    assert found(finder, "octopus") == []
    assert found(finder, "squid") == ["pmid:5"]


def test_papers_without_a_pmid_keep_their_name(finder: Finder) -> None:
    finder.prepare_for_model("", 0)
    finder.store_passages([passage(0, "A preprint on limpets.", paper="arxiv:2101.00001")], None)
    assert found(finder, "limpets") == ["arxiv:2101.00001"]


@pytest.mark.parametrize(
    "wrong",
    [
        vectors(0, 1),
        np.ones((3, DIM + 1), np.float32) / np.sqrt(DIM + 1),
        np.ones((3, DIM), np.float32),
        np.zeros((3, DIM), np.float32),
        np.full((3, DIM), np.nan, np.float32),
    ],
    ids=["too few", "too wide", "not normalised", "zero", "nan"],
)
def test_vectors_that_are_not_the_models_are_refused_whole(finder: Finder, wrong: Any) -> None:
    finder.prepare_for_model("model-1", DIM)
    with pytest.raises(InvariantFailed):
        finder.store_passages(THREE, wrong)
    assert finder.get_status() == FinderStatus(0, 0, "model-1", DIM)


def test_a_question_of_another_width_is_refused(finder: Finder) -> None:
    filled(finder)
    with pytest.raises(InvariantFailed, match="wide"):
        finder.search("corals", np.ones(DIM + 1, np.float32), 10, Filters())


def test_another_model_means_other_vectors(finder: Finder) -> None:
    filled(finder).prepare_for_model("model-1", DIM)
    assert finder.get_status().vectors == 3
    finder.prepare_for_model("", 0)  # no model today: those of yesterday stay
    assert finder.get_status() == FinderStatus(3, 3, "model-1", DIM)
    finder.prepare_for_model("model-2", 4)
    assert finder.get_status().vectors == 0
    assert finder.get_status().dim == 4
    assert finder.find_uuids_without_vectors([p.uuid for p in THREE]) == {p.uuid for p in THREE}
    four = np.eye(4, dtype=np.float32)[:3]
    finder.store_passages(THREE, four)
    hits = finder.search("", four[1], 1, Filters())
    assert [hit.paper for hit in hits] == ["pmid:2"]


def test_a_finder_that_was_closed_opens_again(finder: Finder) -> None:
    filled(finder).close()
    assert finder.get_status().passages == 3
    assert found(finder, "corals") == ["pmid:1"]


def test_many_passages_at_once(finder: Finder) -> None:
    finder.prepare_for_model("model-1", DIM)
    many = [passage(n, f"Observation number w{n} of a limpet.") for n in range(1, 451)]
    finder.store_passages(many, vectors(*(n % DIM for n in range(450))))
    assert finder.get_status().passages == 450
    assert found(finder, "w345") == ["pmid:345"]
    assert finder.find_uuids_without_vectors([p.uuid for p in many]) == set()
    finder.delete_passages([p.uuid for p in many[:350]])
    assert finder.get_status() == FinderStatus(100, 100, "model-1", DIM)


# -- which one it is ----------------------------------------------------------------------------


@pytest.mark.extras("psycopg", "weaviate")
def test_settings_choose_and_choosing_touches_nothing(tmp_path: Path) -> None:
    import sqlalchemy

    folder, engine = tmp_path / "papers", sqlalchemy.create_engine("sqlite://")
    assert make_finder(load_settings(), engine, folder, dict.fromkeys).name == "embedded"
    assert not folder.exists()
    server = sqlalchemy.create_engine("postgresql+psycopg://nobody@127.0.0.1:1/none")
    assert make_finder(load_settings(), server, folder, dict.fromkeys).name == "pgvector"
    asked = load_settings(vector_store="weaviate", weaviate_url="http://127.0.0.1:1")
    assert make_finder(asked, server, folder, dict.fromkeys).name == "weaviate"


def test_weaviate_without_an_address_says_what_to_set(tmp_path: Path) -> None:
    with pytest.raises(NotConfigured, match="WEAVIATE_URL"):
        make_finder(load_settings(vector_store="weaviate"), None, tmp_path, dict.fromkeys)  # type: ignore[arg-type]


def test_without_its_client_weaviate_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "weaviate", None)
    wanted = load_settings(vector_store="weaviate", weaviate_url="http://127.0.0.1:1")
    with pytest.raises(WeaviateFailed, match="uv sync --inexact --extra weaviate"):
        make_finder(wanted, None, tmp_path, dict.fromkeys)  # type: ignore[arg-type]


# -- PostgreSQL alone ---------------------------------------------------------------------------


@POSTGRESQL
@pytest.mark.parametrize("dim", [2_001, 3_072, 4_001])
def test_wide_vectors_are_kept_in_postgresql_too(pgvector: Finder, dim: int) -> None:
    pgvector.prepare_for_model("wide", dim)
    rows = np.eye(3, dim, dtype=np.float32)
    pgvector.store_passages(THREE, rows)
    assert pgvector.search("", rows[2], 1, Filters())[0].paper == "pmid:3"


@POSTGRESQL
def test_a_database_without_pgvector_says_what_to_run(engine: Any) -> None:
    from utils.corpus.pgvector import _suggest_postgresql_fix

    for told in (
        'extension "vector" is not available',
        'permission denied to create extension "vector"',
        'type "vector" does not exist',
    ):
        assert "CREATE EXTENSION vector" in _suggest_postgresql_fix(told)


@POSTGRESQL
def test_a_database_of_older_days_gets_the_index_that_holds_the_weights(engine: Any) -> None:
    from sqlalchemy import inspect, text

    from utils.corpus.pgvector import PgvectorFinder

    finder = filled(PgvectorFinder(engine))
    before = finder.search("mice", None, 10, Filters())
    assert before
    with engine.begin() as db:
        db.execute(text("DROP INDEX corpus_terms_weighed, corpus_finder_facts"))
        db.execute(text("ALTER TABLE corpus_terms ADD PRIMARY KEY (term, passage)"))
    finder.prepare_for_model("model-1", DIM)
    made = {
        one["name"]
        for name in ("terms", "finder")
        for one in inspect(engine).get_indexes(f"corpus_{name}")
    }
    assert {"corpus_terms_weighed", "corpus_finder_facts"} <= made
    assert not inspect(engine).get_pk_constraint("corpus_terms")["constrained_columns"]
    assert finder.search("mice", None, 10, Filters()) == before


@pytest.mark.extras("psycopg")
def test_a_server_that_is_down_is_a_store_that_failed() -> None:
    import sqlalchemy

    from utils.corpus.pgvector import PgvectorFinder

    engine = sqlalchemy.create_engine("postgresql+psycopg://me:secret@127.0.0.1:1/none")
    with pytest.raises(StoreFailed) as raised:
        PgvectorFinder(engine).get_status()
    assert "127.0.0.1" in raised.value.message
    assert "secret" not in str(raised.value)


# -- Weaviate alone -----------------------------------------------------------------------------


@WEAVIATE
def test_the_class_has_the_properties_of_the_contract(weaviate: Finder, stand_in: Any) -> None:
    filled(weaviate).prepare_for_model("model-1", DIM)
    made = stand_in.classes["PubMedChunk"]
    kinds = {each["name"]: each["dataType"][0] for each in made["properties"]}
    contract = {
        "pmid": "text", "chunk_id": "text", "text": "text", "journal": "text",
        "pub_types": "text[]", "year": "int", "quality_total": "int", "edat": "date", "lr": "date",
        "source_url": "text",
    }  # fmt: skip
    assert contract.items() <= kinds.items()
    kept = stand_in.objects["PubMedChunk"][MICE.uuid]["properties"]
    assert kept["pmid"] == "2"
    assert kept["chunk_id"] == "abstract:0"
    assert kept["source_url"] == "https://pubmed.ncbi.nlm.nih.gov/2/"
    assert made["vectorConfig"]["default"]["vectorizer"] == {"none": {}}


@WEAVIATE
def test_a_class_of_older_days_gets_what_it_lacks(weaviate: Finder, stand_in: Any) -> None:
    weaviate.prepare_for_model("model-1", DIM)
    made = stand_in.classes["PubMedChunk"]
    made["properties"] = [each for each in made["properties"] if each["name"] != "digest"]
    weaviate.prepare_for_model("model-1", DIM)
    names = {each["name"] for each in stand_in.classes["PubMedChunk"]["properties"]}
    assert "digest" in names


@WEAVIATE
def test_errors_of_weaviate_name_its_host_and_never_the_key(stand_in: Any) -> None:
    from utils.corpus.weaviate_finder import WeaviateFinder

    wrong = WeaviateFinder(stand_in.url, "a-wrong-secret")
    with pytest.raises(WeaviateFailed) as refused:
        wrong.prepare_for_model("model-1", DIM)
    assert "a-wrong-secret" in stand_in.keys_seen
    nobody = WeaviateFinder("http://127.0.0.1:1", "a-wrong-secret")
    with pytest.raises(WeaviateFailed) as absent:
        nobody.search("corals", None, 10, Filters())
    right = filled(WeaviateFinder(stand_in.url, stand_in.key))
    stand_in.down = True
    with pytest.raises(WeaviateFailed) as down:
        right.search("corals", None, 10, Filters())
    right.close()
    for raised in (refused, absent, down):
        told = str(raised.value.envelope())
        assert raised.value.code == "WEAVIATE"
        assert "127.0.0.1" in raised.value.message
        assert "secret" not in told
        assert stand_in.key not in told


@WEAVIATE
def test_a_passage_weaviate_refuses_is_an_error(weaviate: Finder, stand_in: Any) -> None:
    filled(weaviate)
    for kept in stand_in.objects["PubMedChunk"].values():
        kept["vector"] = np.ones(3, np.float32)
    with pytest.raises(WeaviateFailed, match="length 8"):
        weaviate.store_passages([passage(9, "one more")], vectors(0))


def test_an_index_from_before_there_were_terms_keeps_its_vectors(tmp_path: Path) -> None:
    text = "IL-6 rose in Sjögren’s syndrome."
    old = EmbeddedFinder(tmp_path / "corpus")
    filled(old)
    old.store_passages([passage(7, text)], vectors(3))
    with (
        old._database.open_writing() as db
    ):  # as format 1 had it: words as they are, stemmed by FTS5
        db.execute("CREATE VIRTUAL TABLE words USING fts5(title, section, text, content = '')")
        set_index_facts(db, format=1, words="fts5")
    old.close()
    finder = EmbeddedFinder(tmp_path / "corpus")
    finder.prepare_for_model("model-1", DIM)
    assert finder.find_absent_uuids([passage(7, text).uuid]) == {passage(7, text).uuid}
    finder.store_passages([passage(7, text)], None)
    assert found(finder, "il6") == found(finder, "sjogren") == ["pmid:7"]
    assert found(finder, "", axis=3)[0] == "pmid:7"
    assert finder.get_status() == FinderStatus(1, 4, "model-1", DIM)
    finder.close()
