"""Mirrors that are killed or fill their disk: nothing lost or doubled."""

import json
import os
import re
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from tests.examples import share
from tests.mirror.small_mirror import article, mirror_of, titles, updated, year
from tests.processes import run
from tests.world.pubmed_files import name_of, packed
from utils.errors import StoreFailed

pytestmark = [
    pytest.mark.extras("pyarrow", "duckdb", "distributed", "tantivy"),
    pytest.mark.skipif(sys.platform == "win32", reason="needs fork"),
    pytest.mark.slow,
]
ROOT = Path(__file__).resolve().parents[2]
# Who has changed how parts and generations are written lets more die.
DEATHS = int(os.environ.get("MIRROR_DEATHS", share(24)))


def test_many_deaths_lose_and_double_nothing(tmp_path):
    """See `quality.histories.mirror_deaths` for what is examined after each."""
    command = [sys.executable, "-m", "quality.histories.mirror_deaths", tmp_path, 1, DEATHS]
    done = run([str(word) for word in command], cwd=ROOT, check=True)
    assert sum(json.loads(done.stdout)["deaths"].values()) >= DEATHS


@pytest.fixture
def disk(tmp_path):
    """A filesystem of its own, so small that a mirror fills it."""
    place = tmp_path / "disk"
    place.mkdir()
    done = run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(place)])
    if done.returncode:
        pytest.skip("only an administrator may mount a filesystem of two megabytes")
    yield place
    with suppress(OSError, subprocess.SubprocessError):
        run(["umount", "--lazy", str(place)])


@pytest.mark.parametrize("engine", ["here", "processes"])
def test_a_full_disk_is_told_and_the_same_command_goes_on_when_there_is_room(
    disk, world, tmp_path, engine
):
    """It says which file could not be written, and publishes nothing that is not whole."""
    world.bulk = year(files=6)
    for number in range(1, 7):
        told = [article(number * 100 + n, os.urandom(2000).hex()) for n in range(60)]
        world.bulk.baseline[name_of(26, number)] = packed(told)
    mirror = mirror_of(world, tmp_path).at(disk / "mirror")
    with pytest.raises(StoreFailed, match=r"disk/mirror/.*No space left") as raised:
        updated(mirror, engine=engine, workers=1)
    assert "free some space" in raised.value.hint
    assert mirror.current() is None
    assert run(["mount", "-o", "remount,size=20m", str(disk)]).returncode == 0
    done = updated(mirror, engine=engine, workers=1)
    assert not done.failed
    assert len(titles(mirror)) == 360
    assert not [one for one in mirror.verify() if one.faults]


@pytest.mark.parametrize(("engine", "sizes"), [("here", range(16, 400, 16)), ("processes", [96])])
def test_a_full_disk_tears_no_text_and_the_same_command_goes_on(
    disk, world, tmp_path, engine, sizes
):
    """Wherever it fills up: at a table, a ZIP file, a part, a generation or its manifest."""
    mirror = mirror_of(world, tmp_path).at(disk / "mirror")
    places, hints = set(), set()
    for size in sizes:
        assert run(["mount", "-o", f"remount,size={size}k", str(disk)]).returncode == 0
        try:
            [*mirror.update_pmc(engine=engine, workers=1)]
            break
        except StoreFailed as error:
            places.add(re.search(r"disk/mirror/(\w+)", error.message)[1])
            hints.add(error.hint)
        assert mirror.pmc_generations.get_published() is None
        assert not [*(disk / "mirror").rglob("*.part")]
    assert all("free some space" in hint.lower() for hint in hints)
    assert places >= ({"pmc", "source", "part"} if engine == "here" else {"part"})
    # The files of a generation are too small for each to be the one for which there was no room.
    assert places & {"manifest", "generation"} or engine != "here"
    assert run(["mount", "-o", "remount,size=40m", str(disk)]).returncode == 0
    done = [*mirror.update_pmc(engine=engine, workers=1)][-1]
    assert not done.failed
    assert done.generation.papers == sum(bool(one.cloud) for one in world.papers)
    assert not [one for one in mirror.verify(source="pmc") if one.faults]
    whole = mirror_of(world, tmp_path / "whole")
    assert [*whole.update_pmc()][-1].generation.digest == done.generation.digest


def _indexed(mirror):
    """All that both indexes show."""
    from tantivy import Query

    found = []
    for index in mirror.passage_indexes():
        searcher = index.take_snapshot().searcher
        hits = searcher.search(Query.all_query(), 100_000).hits
        found += sorted(bytes(searcher.doc(at)["shown"][0]) for _, at in hits)
    papers = mirror.find("corals", max_results=99).papers
    return found, sorted(paper.ids.pmid for paper in papers)


def _embedded(mirror):
    """The vectors by their keys; of each text one."""
    store = mirror.vectors("letters-1")
    generation = mirror.current().name
    assert (store.generation, store.size) == (generation, mirror.current().papers)
    return store.size


def _edges(mirror):
    table = mirror.citations.table
    assert not [one for one in mirror.verify(source="citations") if one.faults]
    return table.name, table.edges


@pytest.mark.lab
@pytest.mark.parametrize(
    ("work", "look"),
    [("index", _indexed), ("embed", _embedded), ("update_citations", _edges)],
    ids=["index", "embed", "citations"],
)
def test_a_full_disk_tears_nothing_that_is_made_of_a_mirror(
    disk, world, tmp_path, embedder, work, look
):
    """Wherever it fills up it is told, and the same command goes on to the same result."""
    world.bulk = year(files=4, each=12)
    whole = mirror_of(world, tmp_path / "whole")
    mirror = mirror_of(world, tmp_path).at(disk / "mirror")
    assert run(["mount", "-o", "remount,size=40m", str(disk)]).returncode == 0
    for one in (whole, mirror):
        updated(one)
    [*getattr(whole, work)()]
    hints: list[str] = []
    for _ in range(60):
        room = shutil.disk_usage(disk).used + 16 * 1024 * (len(hints) + 1)
        assert run(["mount", "-o", f"remount,size={room}", str(disk)]).returncode == 0
        try:
            [*getattr(mirror, work)()]
            break
        except StoreFailed as error:
            hints.append(error.hint)
    assert {"free some space" in hint.lower() for hint in hints} == {True}
    [*getattr(mirror, work)()]
    assert look(mirror) == look(whole)
