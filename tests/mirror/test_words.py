"""A mirror is searched by words: what counts is found, what does not is not, at any moment."""

import json
from dataclasses import replace

import pytest

from tests.mirror.small_mirror import RICH, article, updated, year
from tests.world.pubmed_files import name_of, packed
from utils import cli
from utils.errors import BadRequest, EmptyStore

pytestmark = pytest.mark.extras("pyarrow", "duckdb", "tantivy")


def indexed(mirror):
    return [*mirror.index()][-1]


def found(mirror, query, **options):
    return [int(paper.ids.pmid) for paper in mirror.find(query, **options).papers]


def test_papers_are_found_by_the_words_of_title_abstract_and_headings(mirror, world):
    assert indexed(mirror).added == 12
    before = len(world.requests)
    assert found(mirror, "bleached coral")[0] == 5
    assert found(mirror, "beta catenin IL6")[0] == 6
    assert found(mirror, "woda chemistry water")[0] == 31
    assert found(mirror, "nothing-of-the-kind") == []
    assert len(world.requests) == before


def test_a_search_is_narrowed_and_paged(mirror):
    indexed(mirror)
    assert found(mirror, "H2O", journal="ann things") == [31]
    assert found(mirror, "H2O", journal="1234-5678") == [31]
    assert found(mirror, "H2O", mesh=["water"], publication_types=["Retracted Publication"]) == [31]
    assert found(mirror, "H2O", start_year=2000) == []
    assert found(mirror, "H2O", end_year=2000) == [31]
    page = mirror.find("corals", max_results=5, start=5)
    assert (len(page.papers), page.total, page.next_start) == (5, 11, 10)
    assert mirror.find("corals", max_results=5, start=10).next_start is None
    assert mirror.find("H2O").papers[0].retracted


def test_the_index_follows_the_generations(mirror, world):
    indexed(mirror)
    world.bulk.updates[name_of(26, 4)] = packed([article(5, "Corals recover"), article(9)], ["6"])
    updated(mirror)
    answer = mirror.find("catenin")
    assert answer.papers == ()  # deleted since, though the index does not know it yet
    assert "mirror index" in answer.warnings[0]
    done = indexed(mirror)
    assert (done.added, done.dropped) == (2, 3)
    assert found(mirror, "recover") == [5]
    assert found(mirror, "bleach") == []
    assert not mirror.find("corals").warnings
    assert mirror.find("corals").total == 10
    assert indexed(mirror).total == 0


def test_a_new_year_is_indexed_anew(mirror, world):
    indexed(mirror)
    world.bulk = replace(year(27), updates={})
    updated(mirror)
    assert indexed(mirror).added == 12
    assert mirror.find("corals").total == 12
    assert mirror.find("catenin").total == 0


def test_a_file_that_is_another_under_its_name_is_indexed_anew(mirror, world):
    indexed(mirror)
    assert found(mirror, "bleach") == [5]
    world.bulk.baseline[name_of(26, 2)] = packed(
        [article(5, "Corals recover"), article(6, "Of seas"), article(7), RICH]
    )
    world.bulk.days[name_of(26, 2)] = "2026-03-01 10:00"
    assert updated(mirror).changed
    assert indexed(mirror).added == 4
    assert found(mirror, "bleach") == []
    assert found(mirror, "recover") == [5]
    assert mirror.find("corals").total == 11
    assert indexed(mirror).total == 0


def test_what_cannot_be_asked_is_said(mirror):
    with pytest.raises(EmptyStore, match=r"mirror\.index"):
        mirror.find("corals")
    indexed(mirror)
    for query, options in (("", {}), ("corals", {"start": 10_000}), ("corals", {"max_results": 0})):
        with pytest.raises(BadRequest):
            mirror.find(query, **options)


def test_the_shell_searches_the_mirror_offline(mirror, settings, monkeypatch, capsys):
    for name, value in settings.items():
        monkeypatch.setenv(name.upper(), str(value))
    monkeypatch.setenv("PAPERS_MIRROR_DIR", str(mirror.folder))
    monkeypatch.setenv("PAPERS_OFFLINE", "true")
    assert cli.main(["mirror", "index"]) == 0
    assert "12 papers added" in capsys.readouterr().out
    assert cli.main(["search", "bleach", "--source", "mirror", "--json"]) == 0
    [row] = map(json.loads, capsys.readouterr().out.splitlines())
    assert (row["pmid"], row["title"]) == ("5", "Corals bleach")
    assert cli.main(["search", "bleach", "--source", "mirror", "--author", "Roe"]) == 2
