"""A generation reads only the parts that are new, and is the same as one that reads all."""

import gzip

import pytest

from tests.mirror.small_mirror import article, articles, bytes_of, mirror_of, titles, updated, year
from tests.world.pubmed_files import name_of, packed
from utils.mirror import generations

pytestmark = pytest.mark.extras("pyarrow", "duckdb")


@pytest.fixture
def read_parts(monkeypatch):
    """The names of the parts from which the rows that count were computed, in order."""
    names, read = [], generations.read_even_tables

    def noted(db, query, params, columns):
        if "GROUP BY" in query:
            names.append([path.rpartition("/")[2].partition("-")[0] for path in params["parts"]])
        return read(db, query, params, columns)

    monkeypatch.setattr(generations, "read_even_tables", noted)
    return names


def at_once(world, folder):
    other = mirror_of(world, folder)
    updated(other)
    return other


def test_only_new_parts_are_read_and_the_bytes_are_those_of_a_whole_reading(
    world, tmp_path, read_parts
):
    world.bulk = year(files=3)
    mirror = mirror_of(world, tmp_path)
    updated(mirror)
    world.bulk.updates[name_of(26, 4)] = packed([article(2, "Revised"), article(50)], ["3", "7"])
    updated(mirror)
    assert read_parts == [["26n0001", "26n0002", "26n0003"], ["26n0004"]]
    made = bytes_of(at_once(world, tmp_path / "other"))
    assert {name: bytes_of(mirror)[name] for name in made} == made
    assert titles(mirror)[2] == "Revised"
    assert not {3, 7} & set(titles(mirror))
    assert not [one for one in mirror.verify() if one.faults]


def test_an_earlier_version_counts_again_when_the_later_one_is_deleted(world, tmp_path, read_parts):
    world.bulk = year(files=2)
    world.bulk.updates[name_of(26, 3)] = packed([article(1, "Second", version=2)])
    mirror = mirror_of(world, tmp_path)
    updated(mirror)
    assert titles(mirror)[1] == "Second"
    gone = gzip.decompress(packed([], ["1"])).replace(b'Version="1"', b'Version="2"')
    world.bulk.updates[name_of(26, 4)] = gzip.compress(gone)
    updated(mirror)
    assert titles(mirror)[1] == "2026 1"
    assert len(read_parts[-1]) == 4


def test_a_file_that_changed_has_all_parts_read(world, tmp_path, read_parts):
    world.bulk = year(files=3)
    mirror = mirror_of(world, tmp_path)
    updated(mirror)
    world.bulk.baseline[name_of(26, 2)] = articles(range(5, 9), "Mended")
    world.bulk.days[name_of(26, 2)] = "2026-03-01 10:00"
    world.bulk.updates[name_of(26, 4)] = articles([1], "Revised")
    updated(mirror)
    assert read_parts[-1] == ["26n0001", "26n0002", "26n0003", "26n0004"]
    made = bytes_of(at_once(world, tmp_path / "other"))
    assert {name: bytes_of(mirror)[name] for name in made} == made
