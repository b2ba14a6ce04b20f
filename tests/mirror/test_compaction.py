"""Small bundles of PMC are merged into few, which are the same as if they were fetched so."""

from contextlib import closing
from dataclasses import replace

import pytest

from tests.mirror.small_mirror import mirror_of
from tests.mirror.test_pmc import there, updated
from utils.mirror import compaction, pmc
from utils.mirror.manifest import Manifest
from utils.mirror.objects import ObjectTable
from utils.mirror.reading import open_sql

pytestmark = pytest.mark.extras("pyarrow", "duckdb")


class Killed(BaseException):
    """The process ends here."""


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(pmc, "BATCH", 8)
    monkeypatch.setattr(compaction, "MIN_SMALL_FILES", 4)


@pytest.fixture
def days(world, tmp_path, monkeypatch):
    """A mirror of many small bundles, of which the last is not fetched yet: of a death as well."""
    mirror = mirror_of(world, tmp_path)
    monkeypatch.setattr(pmc, "BATCH", 1)
    monkeypatch.setattr(compaction, "MIN_SMALL_FILES", 999)
    updated(mirror)
    monkeypatch.undo()
    monkeypatch.setattr(pmc, "BATCH", 8)
    monkeypatch.setattr(compaction, "MIN_SMALL_FILES", 4)
    gone, newer, *_ = there(world)
    world.cloud.edited = {
        gone.pmcid: replace(gone, cloud=()),
        newer.pmcid: replace(newer, cloud=(*newer.cloud, 20)),
    }
    return mirror


def texts(mirror):
    """The texts that count, by PMCID."""
    with closing(open_sql(mirror.pmc_generations)) as db:
        rows = db.sql("SELECT * FROM records").to_arrow_table().to_pylist()
    return {row["pmcid"]: row["text"] for row in rows}


def files_of(mirror):
    return Manifest(mirror.folder).list_files("pmc")


def faults(mirror):
    return [one for one in mirror.verify(source="pmc") if one.faults]


def test_small_bundles_are_merged_and_nothing_that_counts_changes(days, world):
    before, count = texts(days), len(files_of(days))
    states = days.pmc_status()["articles"]
    done = updated(days)
    now = texts(days)
    assert done.generation.papers == len(now) == len(before) - 1
    assert now.items() <= before.items()
    assert done.generation.files == len(files_of(days)) < count // 3
    assert not faults(days)
    assert days.pmc_status()["articles"] == states | {"done": states["done"], "gone": 1}
    rows = sum(file.records + file.deletions for file in files_of(days))
    assert rows == len(now) + 2  # the earlier version, and the fact that an article is gone
    assert ObjectTable(days.folder).list_due_batches() == {}
    assert updated(days).files == 0
    assert not updated(days).changed


def test_old_bundles_and_parts_go_with_the_last_generation_that_needs_them(days, world):
    old = {file.name for file in files_of(days)}
    updated(days)
    zips = days.folder / "source" / "pmc"
    assert old <= {path.name for path in zips.iterdir()}  # `mirror use` can go back
    one = there(world)[2]
    world.cloud.edited[one.pmcid] = replace(one, cloud=(*one.cloud, 20))
    updated(days)
    world.cloud.edited[one.pmcid] = replace(one, cloud=(*one.cloud, 21))
    updated(days)
    assert not old & {path.name for path in zips.iterdir()}
    parts = {path.name.partition("-")[0] for path in (days.folder / "part/pmc").iterdir()}
    assert parts <= {path.name.partition("-")[0] for path in zips.iterdir()}


@pytest.mark.parametrize(
    "step", ["write_bundle", "write_text_parts", "Objects.move_to_batch", "Manifest.replace_files"]
)
def test_a_merge_that_is_killed_is_done_by_the_next_run(days, world, monkeypatch, step):
    place, _, name = step.rpartition(".")
    owner = {"": compaction, "Objects": ObjectTable, "Manifest": Manifest}[place]

    def dies(*_):
        raise Killed

    with monkeypatch.context() as dying:
        dying.setattr(owner, name, dies)
        with pytest.raises(Killed):
            updated(days)
    whole = updated(days)
    assert whole.generation.papers == len(texts(days)) == len(there(world)) - 1
    assert not faults(days)


def test_a_damaged_bundle_keeps_its_group_from_being_merged(days, world):
    first = days.folder / "source" / "pmc" / files_of(days)[0].name
    first.write_bytes(first.read_bytes()[:100])
    done = updated(days)
    assert done.generation.papers == len(there(world)) - 1
    assert first.name in {file.name for file in files_of(days)}
