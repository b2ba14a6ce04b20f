"""A mirror in the stores of many users answers as its files do, whoever dies while it is loaded."""

import pytest

from tests.databases import POSTGRESQL
from tests.mirror.loading import (
    at_weaviate,
    killed,
    library,
    loaded,
    new_url,
    open_library,
    url,
    weaviate,
)
from tests.mirror.small_mirror import RICH, article, mirror_of, titles, updated, year
from tests.world.pubmed_files import name_of, packed
from utils import cli
from utils.cli.mirror_status import status_lines, status_row
from utils.errors import EmptyStore, NotConfigured, StoreBusy, StoreFailed
from utils.model.passage import Filters

__all__ = ["at_weaviate", "library", "new_url", "open_library", "url", "weaviate"]

pytestmark = [pytest.mark.extras("pyarrow", "duckdb", "tantivy"), POSTGRESQL]
RETRACTED = Filters(retracted=True)
ASKED = [
    ("bleaching of corals", Filters()),
    ("beta catenin IL6", Filters()),
    ("corals of the deep sea", Filters()),
    ("what 2026 13 says of corals", Filters(year_from=2020, year_to=2020)),
    ("corals", Filters(year_to=1990)),
    ("H2O", Filters()),
    ("H2O", RETRACTED),
    ("H2O", Filters(retracted=True, mesh=("water",))),
    ("H2O", Filters(retracted=True, mesh=("Fire",))),
    ("H2O", Filters(retracted=True, journal="Ann Things")),
    ("H2O", Filters(retracted=True, journal="1234-5678")),
    ("H2O", Filters(retracted=True, publication_types=("retracted publication",))),
    ("H2O", Filters(retracted=True, kind="full_text")),
]


@pytest.fixture
def mirror(world, tmp_path, embedder):
    world.bulk = year(files=4)
    world.bulk.baseline[name_of(26, 2)] = packed(
        [article(5, "Corals bleach"), article(6, "Of β-catenin and IL-6"), article(7), RICH]
    )
    world.bulk.baseline[name_of(26, 3)] = packed(
        [article(9, "Corals of the deep sea"), *map(article, (10, 11, 12))]
    )
    made = mirror_of(world, tmp_path)
    updated(made)
    return made


def everything(mirror):
    [*mirror.index()]
    [*mirror.embed()]


def answers(library, by):
    """The best passage and all that are found; scores of others are too near to each other."""
    found = []
    for question, filters in ASKED:
        answer = library.mirrored.find(question, filters=filters, by=by, top_k=50)
        told = [(hit.passage.paper, hit.passage.start, hit.passage.text) for hit in answer.hits]
        warnings = [one for one in answer.warnings if "leaves" in one]
        found.append((question, told[:1], sorted(told), warnings))
    return found


@pytest.mark.parametrize("by", ["words", "both"])
def test_postgresql_answers_as_the_files_do(mirror, library, open_library, by):
    everything(mirror)
    done = loaded(library)
    assert (done.papers, done.passages, done.vectors) == (16, 16, 16)
    assert answers(library, by) == answers(open_library(), by)
    assert loaded(library).changed is False


@pytest.mark.extras("weaviate")
@pytest.mark.parametrize("by", ["words", "both"])
def test_weaviate_answers_as_the_files_do(mirror, at_weaviate, open_library, by):
    everything(mirror)
    done = loaded(at_weaviate)
    assert (done.store, done.papers, done.passages, done.vectors) == ("weaviate", 16, 16, 16)
    assert answers(at_weaviate, by) == answers(open_library(), by)


def test_quotations_are_held_against_the_loaded_records(mirror, library):
    loaded(library)
    sentence = "What Corals bleach says of corals."
    there = library.mirrored.verify_quote(sentence)
    assert (there.verdict, there.paper, there.start) == ("verbatim", "pmid:5", 15)
    assert library.mirrored.verify_quote(sentence, "pmid:1").verdict != "verbatim"
    assert "by words alone" in library.mirrored.find("corals").warnings[0]


@pytest.mark.parametrize("others", [(), (1, 2, 3, 4, 10, 11, 12)], ids=["changed", "whole"])
def test_a_search_ends_in_the_generation_it_began_with(mirror, library, world, others):
    with pytest.raises(EmptyStore, match="No mirror"):
        library.mirrored.find("corals")
    loaded(library)
    world.bulk.updates[name_of(26, 5)] = packed(
        [article(5, "Corals recover"), *map(article, others)], ["6"]
    )
    updated(mirror)
    assert "mirror load" in library.mirrored.find("corals", by="words").warnings[0]
    seen = []
    with library.mirrored._shared.seen() as before:
        for step in library.mirrored.load():
            papers = [hit.passage.title for hit in library.mirrored.find("corals", top_k=30).hits]
            seen.append((step.step, "Corals bleach" in papers, "Corals recover" in papers))
        steps = {"rows", "indexes"} if others else {"rows"}
        assert set(seen[:-1]) == {(step, True, False) for step in steps}
        assert seen[-1] == ("done", False, True)
        assert "Corals bleach" in [hit.passage.title for hit in before.find("corals bleach").hits]
        assert before.database.record("6") is not None
        with library.mirrored._shared.seen() as after:
            assert after.database.record("6") is None
    assert loaded(library).changed is False


@pytest.mark.parametrize(
    "store", ["pgvector", pytest.param("weaviate", marks=pytest.mark.extras("weaviate"))]
)
def test_who_is_killed_loses_and_doubles_nothing(mirror, request, monkeypatch, store):
    library = request.getfixturevalue("library" if store == "pgvector" else "at_weaviate")
    everything(mirror)
    deaths = 0
    for at in (1, 2, 3, 5, 8, 13, 21, 34, 55, 8, 8, 8, 8, 8, 8, 8):
        deaths += killed(library, monkeypatch, at)
    done = loaded(library)
    assert deaths >= 10
    assert (done.papers, done.passages, done.vectors) == (16, 16, 16)
    with library.mirrored._shared.seen() as shared:
        records = shared.database._each[0].every_record()
        passages = shared.database._each[0].every_passage()
    papers = {str(pmid): title for pmid, title in titles(mirror).items()}
    assert {one.paper.ids.pmid: one.paper.title for one in records} == papers
    assert len(records) == 16
    assert len(passages) == 16
    answer = library.mirrored.find("what 2026 says of corals", top_k=50)
    assert len(answer.hits) == len({hit.passage.uuid for hit in answer.hits}) >= 14


def test_what_is_not_whole_is_not_published(mirror, library, monkeypatch):
    from utils.corpus import load_source

    monkeypatch.setattr(load_source.PassageIndex, "passages", lambda *_: iter(()))
    with pytest.raises(StoreFailed, match="the mirror 4"):
        loaded(library)
    with pytest.raises(EmptyStore):
        library.mirrored.find("corals")


def test_only_one_loads_and_only_into_postgresql(mirror, library, open_library):
    with pytest.raises(NotConfigured, match="DATABASE_URL"):
        loaded(open_library())
    steps = library.mirrored.load()
    next(steps)
    with pytest.raises(StoreBusy, match="Another process"):
        loaded(library)
    steps.close()
    assert loaded(library).changed


def test_the_shell_loads(mirror, tmp_path, url, monkeypatch, capsys, embedder):
    monkeypatch.setenv("DATABASE_URL", url)
    monkeypatch.setenv("EMBEDDINGS_PROVIDER", "none")
    monkeypatch.setenv("PAPERS_DIR", str(tmp_path / "papers"))
    monkeypatch.setenv("PAPERS_MIRROR_STORE", "database")
    assert cli.main(["mirror", "load", "--folder", str(mirror.folder)]) == 0
    assert "16 papers, 0 full texts, 16 passages, 0 vectors" in capsys.readouterr().out
    assert cli.main(["find", "corals bleach", "--source", "mirror", "--top-k", "1"]) == 0
    assert "Corals bleach" in capsys.readouterr().out


def database_lines(library):
    return [text for name, text in status_lines(library.mirror, library) if name == "database"]


def test_status_says_what_is_loaded_and_whether_it_is_of_today(mirror, library, world):
    [said] = database_lines(library)
    assert said == "nothing of PubMed for many users; to load it: server.py mirror load"
    loaded(library)
    [said] = database_lines(library)
    assert (
        said == f"PubMed's {mirror.current().name} in pgvector, 16 papers, 16 passages, 0 vectors"
    )
    world.bulk.updates[name_of(26, 5)] = packed([article(5, "Another")])
    updated(mirror)
    [said] = database_lines(library)
    assert said.endswith("; not what is published here: server.py mirror load")
    row = status_row(library.mirror, library)
    assert [one["state"] for one in row["database"]] == ["published"]


def test_a_database_that_does_not_answer_does_not_hide_the_rest(mirror, open_library):
    library = open_library(database_url="postgresql://nobody@127.0.0.1:9/none")
    [said] = database_lines(library)
    assert said.startswith("could not be asked what is loaded there: The database")
    assert "could not be used" in status_row(library.mirror, library)["database_unknown"]
