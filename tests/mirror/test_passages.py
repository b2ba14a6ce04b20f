"""Passages of a mirror are found and quoted as those of a corpus, by the same options and code."""

import json

import pytest

from tests.mcp.calling import call
from tests.mirror.small_mirror import article, updated
from tests.world.pubmed_files import name_of, packed
from utils import Library, cli
from utils.errors import BadRequest, EmptyStore
from utils.model.passage import Filters

pytestmark = pytest.mark.extras("pyarrow", "duckdb", "tantivy")
SENTENCE = "What Corals bleach says of corals."


@pytest.fixture
def library(mirror, tmp_path):
    """A library with nothing but the mirror, and no vectors."""
    return Library(
        papers_dir=tmp_path / "papers",
        papers_mirror_dir=mirror.folder,
        embeddings_provider="none",
        papers_offline=True,
    )


@pytest.fixture
def mirrored(mirror, library):
    indexed(mirror)
    return library.passages_of("mirror")


def indexed(mirror):
    return [*mirror.index()][-1]


def found(mirrored, query, filters=Filters(), **options):  # noqa: B008 - it cannot be changed
    return [hit.passage.paper for hit in mirrored.find(query, filters=filters, **options).hits]


def test_a_passage_says_what_stands_where_and_what_its_paper_is(mirrored):
    [best, *_] = mirrored.find("bleaching of corals").hits
    passage = best.passage
    assert (passage.paper, passage.title, passage.section) == (
        "pmid:5",
        "Corals bleach",
        "Abstract",
    )
    assert (passage.text, passage.start, passage.end) == (SENTENCE, 15, 15 + len(SENTENCE))
    assert (passage.kind, passage.year, passage.journal) == ("abstract", 2020, "Annals")
    assert best.bm25 > 0
    assert best.quality.journal == 1
    assert found(mirrored, "beta catenin IL6")[0] == "pmid:6"
    nothing = mirrored.find("nothing-of-the-kind")
    assert nothing.hits == ()
    unsure = mirrored.find("Which warm bread is baked of corals?")
    assert "Perhaps nothing here answers this" in unsure.warnings[0]
    for answer in (nothing, unsure):
        assert "server.py mirror pubmed" in answer.warnings[0]
        assert "sync" not in answer.warnings[0]


def test_filters_are_those_of_a_corpus_and_mesh(mirrored, library):
    assert found(mirrored, "H2O") == []
    assert "retracted papers are left out" in mirrored.find("H2O").warnings[0].lower()
    rich = {"retracted": True}
    assert found(mirrored, "H2O", Filters(**rich)) == ["pmid:31"]
    for more in (
        {"mesh": ("water",)},
        {"journal": "Ann Things"},
        {"journal": "1234-5678"},
        {"publication_types": ("retracted publication",)},
        {"year_from": 1998, "year_to": 1998},
        {"kind": "abstract"},
    ):
        assert found(mirrored, "H2O", Filters(**rich, **more)) == ["pmid:31"], more
    for none in ({"mesh": ("Fire",)}, {"year_from": 2000}, {"kind": "full_text"}):
        answer = mirrored.find("H2O", filters=Filters(**rich, **none))
        assert (answer.hits, "leaves no passages" in answer.warnings[0]) == ((), True), none
    with pytest.raises(BadRequest, match="MeSH"):
        library.corpus.find("H2O", filters=Filters(mesh=("Water",)))


def test_quotations_are_held_against_the_records(mirrored):
    there = mirrored.verify_quote(SENTENCE)
    assert (there.verdict, there.paper, there.start, there.uuid != "") == (
        *("verbatim", "pmid:5", 15),
        True,
    )
    near = mirrored.verify_quote("What Corals bleach says of deep corals.")
    assert (near.verdict, near.paper) == ("near", "pmid:5")
    assert mirrored.verify_quote("What Title 1 says of corals.", "pmid:5").verdict != "verbatim"
    assert mirrored.verify_quote("We saw 10<sup>2</sup> of them.").paper == "pmid:31"


def test_a_search_keeps_to_the_generation_it_began_with(mirror, mirrored, world, monkeypatch):
    ([before], _), finish = mirrored._take_snapshots(), mirrored._take_snapshots
    world.bulk.updates[name_of(26, 4)] = packed([article(5, "Corals recover"), article(9)], ["6"])
    updated(mirror)
    behind = mirrored.find("catenin bleach")  # the index does not know it yet
    assert behind.hits == ()
    assert "mirror index" in behind.warnings[0]
    asked = []

    def switched():
        snapshots = finish()
        if not asked:  # while this search runs, all changes
            asked.append(indexed(mirror))
        return snapshots

    monkeypatch.setattr(mirrored, "_take_snapshots", switched)
    during = mirrored.find("corals", top_k=50)
    assert asked[0].added == 2
    assert {hit.passage.paper for hit in during.hits} == {
        f"pmid:{at}" for at in (1, 2, 3, 4, 7, 10, 11, 12)
    }
    assert found(mirrored, "recover") == ["pmid:5"]
    assert not any("mirror index" in one for one in mirrored.find("recover").warnings)
    old = before.read_passages([at for at, _ in before.find_by_words(["bleach"], 5, Filters())])
    assert [one.passage.text for one in old.values()] == [SENTENCE]  # an open reader sees the old


def test_what_is_not_indexed_is_said(mirror, library):
    with pytest.raises(EmptyStore, match=r"mirror\.index"):
        library.passages_of("mirror").find("corals")
    indexed(mirror)
    assert library.passages_of("mirror").find("corals").hits


def test_the_shell_finds_and_quotes_in_the_mirror(mirrored, mirror, settings, monkeypatch, capsys):
    for name, value in settings.items():
        monkeypatch.setenv(name.upper(), str(value))
    monkeypatch.setenv("PAPERS_MIRROR_DIR", str(mirror.folder))
    monkeypatch.setenv("PAPERS_OFFLINE", "true")
    assert cli.main(["find", "bleach", "--source", "mirror", "--json", "-n", "1"]) == 0
    [row] = map(json.loads, capsys.readouterr().out.splitlines())
    assert (row["paper"], row["text"]) == ("pmid:5", SENTENCE)
    wet = ["find", "H2O", "--source", "mirror", "--retracted", "--mesh", "Water", "--json"]
    assert cli.main(wet) == 0
    assert json.loads(capsys.readouterr().out)["paper"] == "pmid:31"
    assert cli.main(["quote", SENTENCE, "--source", "mirror"]) == 0
    assert "Verbatim: pmid:5" in capsys.readouterr().out
    assert cli.main(["find", "H2O", "--mesh", "Water"]) == 2


@pytest.mark.anyio
async def test_assistants_find_and_quote_in_the_mirror(mirrored, mirror, tmp_path):
    places = {"papers_dir": tmp_path / "papers", "papers_mirror_dir": mirror.folder}
    sets = ("core", "rag")
    library = Library(**places, embeddings_provider="none", mcp_toolsets=sets, papers_offline=True)
    asked = {"query": "bleach", "source": "mirror", "top_k": 1}
    [row] = (await call(library, "rag_search", asked)).structured_content["results"]
    assert (row["doc_id"], row["text"]) == ("pmid:5", SENTENCE)
    quotes = {"quotes": [{"text": SENTENCE}], "source": "mirror"}
    [quote] = (await call(library, "verify_quotes", quotes)).structured_content["quotes"]
    assert quote["verdict"] == "verbatim"
    one = {"text": SENTENCE, "source": "mirror"}
    assert (await call(library, "verify_quote", one)).structured_content["verbatim"]
