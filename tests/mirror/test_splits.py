"""The index of a mirror is made of splits, which any worker makes, and is the same in the end."""

import pytest

from tests.mirror.small_mirror import article, articles, mirror_of, updated, year
from tests.world.pubmed_files import Bulk, name_of, packed
from utils.errors import StoreFailed
from utils.mirror import splits, words
from utils.mirror.engines import Lost
from utils.mirror.splits import build_splits, update_indexes
from utils.model.passage import Filters

pytestmark = pytest.mark.extras("pyarrow", "duckdb", "tantivy")
INDEXES = ("words/pubmed/index", "words/pubmed-passages/index")


class Killed(BaseException):
    """The process ends here."""


def indexed(mirror, **options):
    return [*mirror.index(**options)][-1]


def segments_of(mirror):
    """The files of all segments: their names are those of parts and rows, not of a run."""
    return {
        f"{place}/{path.name}": path.read_bytes()
        for place in INDEXES
        for path in sorted((mirror.folder / place).iterdir())
        if path.suffix not in (".json", ".lock") and not path.name.startswith(".")
    }


def scored(mirror, *asked):
    """The passages that have one of some words, by their papers, with scores."""
    [index] = mirror.passage_indexes()
    snapshot = index.take_snapshot()
    hits = snapshot.find_by_words(asked, 100, Filters(retracted=True))
    read = snapshot.read_passages([at for at, _ in hits])
    return {read[at].passage.paper: round(score, 5) for at, score in hits if at in read}


def segments(mirror):
    [index] = mirror.passage_indexes()
    return index.take_snapshot().searcher.num_segments


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_workers_make_the_same_bytes(mirror, world, tmp_path, workers):
    other = mirror_of(world, tmp_path / "other")
    updated(other)
    assert indexed(mirror).files == 3
    assert indexed(other, engine="processes", workers=workers).files == 3
    assert segments_of(other) == segments_of(mirror)
    assert len({name.rpartition(".")[0] for name in segments_of(mirror)}) == 6


def test_a_score_does_not_depend_on_the_cut_into_parts(mirror, world, tmp_path):
    records = [article(pmid, f"Reef {'of corals ' * (pmid % 4)}{pmid}") for pmid in range(1, 13)]
    found = []
    for each in (2, 12):
        cut = [records[at : at + each] for at in range(0, 12, each)]
        world.bulk = Bulk({name_of(26, n): packed(some) for n, some in enumerate(cut, 1)})
        world.bulk.last = name_of(26, len(cut))
        made = mirror_of(world, tmp_path / str(each))
        updated(made)
        indexed(made)
        assert segments(made) == len(cut)
        found.append(scored(made, "coral", "reef"))
    assert len(found[0]) == 12
    assert found[0] == found[1]


def test_small_splits_are_merged_and_their_files_deleted(world, tmp_path):
    world.bulk = year(files=12)
    mirror = mirror_of(world, tmp_path)
    updated(mirror)
    indexed(mirror)
    assert segments(mirror) == 1
    assert len({name.rpartition(".")[0] for name in segments_of(mirror)}) == 2
    assert mirror.find("corals", max_results=99).total == 48
    assert not (mirror.folder / "words" / "pubmed" / "new").exists()


def test_only_new_rows_are_indexed_after_an_update(mirror, world):
    indexed(mirror)
    world.bulk.updates[name_of(26, 4)] = articles([5, 99], "Revised")
    updated(mirror)
    done = indexed(mirror)
    assert (done.files, done.added, done.dropped) == (1, 2, 1)
    assert "pmid:5" in scored(mirror, "revis")


def test_splits_that_are_made_are_not_made_again(mirror, monkeypatch):
    made = []

    def killed(job):
        if len(made) == 2:
            raise Killed
        made.append(build_splits(job))
        return made[-1]

    monkeypatch.setattr(splits, "build_splits", killed)
    with pytest.raises(Killed):
        indexed(mirror)
    monkeypatch.setattr(splits, "build_splits", build_splits)
    written, write = [], splits.open_split
    monkeypatch.setattr(
        splits, "open_split", lambda folder, schema: written.append(folder) or write(folder, schema)
    )
    indexed(mirror)
    assert len(written) == 2  # of papers and of passages, for the third file
    assert mirror.find("corals").total == 11


@pytest.mark.parametrize("step", ["_delete_rows", "_write_state"])
@pytest.mark.parametrize("nth", [1, 2, 3, 4])
def test_an_index_that_is_killed_goes_on_and_doubles_nothing(mirror, world, monkeypatch, step, nth):
    """The same part under its name: rows are replaced in their places."""
    indexed(mirror)
    world.bulk.baseline[name_of(26, 2)] = articles(range(5, 9), "Mended")
    world.bulk.days[name_of(26, 2)] = "2026-03-01 10:00"
    world.bulk.updates[name_of(26, 4)] = articles([1], "Revised")
    updated(mirror)
    go_on, calls = getattr(words.WordIndex, step), []

    def killed(self, *rest):
        calls.append(rest)
        if len(calls) == nth:
            raise Killed
        go_on(self, *rest)

    with monkeypatch.context() as dying:
        dying.setattr(words.WordIndex, step, killed)
        with pytest.raises(Killed):
            indexed(mirror)
    indexed(mirror)
    assert mirror.find("corals", max_results=99).total == 12
    assert mirror.find("mended").total == 4
    assert len(scored(mirror, "coral")) == 12
    assert not mirror.find("corals").warnings


def test_a_part_that_kills_its_workers_is_named(mirror):
    [papers, *_] = mirror.passage_indexes()
    lost = [Lost]

    def run(function, jobs):
        return (lost[0](job, "3 processes died while reading it") for job in jobs)

    with pytest.raises(StoreFailed, match="pubmed26n0001"):
        [*update_indexes([papers], run)]
    indexed(mirror)
    assert len(scored(mirror, "coral")) == 11
