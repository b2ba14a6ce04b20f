"""A mirror of PubMed: made once, brought up to date, and right in whatever order things come."""

import os
import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace

import pytest

from tests.mirror.small_mirror import article, articles, bytes_of, mirror_of, titles, updated, year
from tests.world.pubmed_files import Bulk, name_of, packed
from utils.errors import EmptyStore, NotFound, StoreBusy, StoreFailed, Unreachable
from utils.mirror.locks import exclusive_lock
from utils.mirror.manifest import YEAR, SourceFile
from utils.mirror.parts import READERS
from utils.mirror.pubmed_files import build_chains

pytestmark = pytest.mark.extras("pyarrow", "duckdb")


@pytest.fixture
def mirror(world, tmp_path):
    world.bulk = year()
    return mirror_of(world, tmp_path)


def asked(world, ending=".xml.gz"):
    return [one.path for one in world.requests if one.path.endswith(ending)]


def test_all_records_are_here_and_nobody_else_was_asked(mirror, world):
    done = updated(mirror)
    assert (done.files, done.records, done.changed) == (3, 12, True)
    assert titles(mirror) == {pmid: f"2026 {pmid}" for pmid in range(1, 13)}
    assert {one.service for one in world.requests} == {"pubmed_files"}
    assert all("tester@lab.edu" in one.headers["user-agent"] for one in world.requests)


def test_a_paper_is_found_by_its_pmid_as_it_was_read(mirror, world):
    world.bulk.baseline[name_of(26, 2)] = packed(
        [article(5, "Ἀρχή of <i>things</i>"), article(6), article(7)]
    )
    updated(mirror)
    before = len(world.requests)
    found = mirror.papers(["5", 7, 99])
    assert {pmid: paper.title for pmid, paper in found.items()} == {
        "5": "Ἀρχή of things",
        "7": "Title 7",
    }
    assert found["5"].abstract.startswith("What")
    assert len(world.requests) == before


def test_run_again_it_takes_only_what_is_new(mirror, world):
    updated(mirror)
    world.bulk.updates[name_of(26, 4)] = packed([article(3, "Revised"), article(20)], ["5"])
    before = len(world.requests)
    done = updated(mirror)
    told = [one.path.rpartition("/")[2] for one in world.requests[before:]]
    assert told == ["", "", "README.txt", name_of(26, 4) + ".md5", name_of(26, 4)]
    assert (done.files, done.records, done.deletions) == (1, 2, 1)
    live = titles(mirror)
    assert live[3] == "Revised"
    assert 20 in live
    assert 5 not in live
    again = updated(mirror)
    assert (again.files, again.changed, again.generation) == (0, False, done.generation)


def test_a_file_that_was_made_anew_under_its_name_is_read_again(mirror, world):
    updated(mirror)
    name = name_of(26, 2)
    world.bulk.baseline[name] = articles(range(5, 9), "Mended")
    world.bulk.days[name] = "2026-02-03 10:00"
    assert updated(mirror).changed
    assert titles(mirror)[5] == "Mended 5"
    assert len(list((mirror.folder / "part" / "pubmed").glob("*.parquet"))) == 4


@pytest.mark.parametrize("md5sum", [True, False])
def test_either_form_of_an_md5_file_is_read(mirror, world, md5sum):
    world.bulk.md5sum = md5sum
    assert updated(mirror).files == 3


def test_revisions_and_deletions_count_by_the_number_of_their_file(mirror, world):
    world.bulk.updates = {
        name_of(26, 4): packed([article(1, "first"), article(1, "second")], ["2", "3", "999"]),
        name_of(26, 5): packed([article(3, "came back"), article(50)], ["1"]),
        name_of(26, 6): packed([article(1, "third"), article(51)], ["51", "50"]),
    }
    updated(mirror)
    live = titles(mirror)
    assert (live[1], live[3]) == ("third", "came back")
    assert {2, 50, 51, 999}.isdisjoint(live)
    assert mirror.current().papers == len(live) == 11


def test_of_several_versions_the_highest_counts_that_is_not_deleted(mirror, world):
    gone = '<DeleteCitation><PMID Version="3">60</PMID></DeleteCitation>'
    late = packed([article(60, "one, mended", version=1)])
    world.bulk.updates = {
        name_of(26, 4): packed(article(60, f"v{number}", version=number) for number in (3, 1, 2)),
        name_of(26, 5): late,
        name_of(26, 6): packed([article(61), gone]),
    }
    updated(mirror, most=5)
    assert titles(mirror)[60] == "v3"
    updated(mirror)
    assert titles(mirror)[60] == "v2"


def test_the_order_of_arrival_does_not_matter(world, tmp_path):
    """Updates before the baseline, one file a run, backwards: the same bytes as all at once."""
    bulk = year(files=4)
    bulk.updates = {
        name_of(26, 5): packed([article(1, "a"), article(30)], ["2"]),
        name_of(26, 6): packed([article(2, "b"), article(1, "c")], ["30"]),
        name_of(26, 7): packed([article(30, "d")]),
    }
    world.bulk = bulk
    at_once = mirror_of(world, tmp_path / "at once")
    digest = updated(at_once).generation.digest
    piecewise = mirror_of(world, tmp_path / "piecewise")
    files = {**bulk.baseline, **bulk.updates}
    for first in reversed(range(1, 8)):
        here = {name: files[name] for name in sorted(files)[first - 1 :]}
        world.bulk = Bulk(
            {name: data for name, data in here.items() if name in bulk.baseline},
            {name: data for name, data in here.items() if name in bulk.updates},
            bulk.last,
        )
        done = updated(piecewise)
        assert (done.generation is None) == (first > 1)
        assert bool(done.waits_for) == (first > 1)
    assert done.generation.digest == digest
    assert bytes_of(piecewise) == bytes_of(at_once)


# Poisoned files


def test_a_file_that_comes_damaged_is_fetched_again_in_the_same_run(mirror, world):
    torn = name_of(26, 2)
    world.bulk.torn = {torn}
    for progress in mirror.update():
        if torn in progress.failed:
            world.bulk.torn = set()
    assert not progress.failed
    assert progress.generation.papers == 12
    assert len([path for path in asked(world) if path.endswith(torn)]) == 2


def test_a_source_that_is_damaged_on_this_disk_is_fetched_again(mirror, world):
    updated(mirror)
    [source] = (mirror.folder / "source" / "pubmed").glob("26n0002-*")
    whole = source.read_bytes()
    source.write_bytes(whole[:40])
    for part in (mirror.folder / "part").rglob("26n0002-*"):
        part.unlink()
    done = updated(mirror)
    assert not done.failed
    assert source.read_bytes() == whole
    assert not [one for one in mirror.verify() if one.faults]


@pytest.mark.parametrize("keep", [True, False])
@pytest.mark.parametrize("damage", ["cut", "bit"])
def test_a_damaged_part_is_made_again(mirror, keep, damage):
    """A part that was cut is seen by its size, any other damage after `verify` found it."""
    updated(mirror, keep=keep)
    [part] = (mirror.folder / "part" / "pubmed-passages").glob("26n0002-*")
    whole = part.read_bytes()
    part.write_bytes(whole[:-1] if damage == "cut" else whole[:200] + b"x" + whole[201:])
    if damage == "bit":
        assert [one.name for one in mirror.verify() if one.faults] == [name_of(26, 2)]
    done = updated(mirror, keep=keep)
    assert (done.files, done.changed) == (1, False)
    assert part.read_bytes() == whole
    assert updated(mirror, keep=keep).files == 0


def test_a_poisoned_file_is_set_aside_with_its_reason_and_the_rest_goes_on(mirror, world):
    wrong, torn, gone, other = (name_of(26, number) for number in (4, 5, 6, 7))
    world.bulk.updates = {
        wrong: articles([101]),
        torn: articles([102]),
        gone: articles([103]),
        other: packed(["<PubmedArticle><MedlineCitation>"]),
        name_of(26, 8): articles([104]),
    }
    world.bulk.wrong_md5, world.bulk.torn, world.bulk.vanished = {wrong}, {torn}, {gone}
    done = updated(mirror)
    assert set(done.failed) == {wrong, torn, gone, other}
    assert "MD5" in done.failed[wrong]
    assert "MD5" in done.failed[torn]
    assert "404" in done.failed[gone]
    assert "XML" in done.failed[other]
    assert done.generation.missing == done.failed
    assert 104 in titles(mirror)
    states = {file.name: file.state for file in mirror.files()}
    assert [states[name] for name in (wrong, torn, gone, other)] == [
        *("aside", "aside", "vanished", "aside")
    ]
    world.bulk = replace(world.bulk, wrong_md5=set(), torn=set(), vanished=set())
    world.bulk.updates[other] = articles([105])
    world.bulk.days[other] = "2026-02-03 10:00"
    mended = updated(mirror)
    assert mended.files == 4
    assert not mended.generation.missing
    assert {101, 102, 103, 104, 105} <= set(titles(mirror))


def test_what_is_no_pubmed_file_is_said_to_be_none(mirror, world):
    world.bulk.updates = {
        name_of(26, 4): b"no gzip at all",
        name_of(26, 5): packed([article(1)])[:-20],
        name_of(26, 6): packed(["<PubmedArticle><MedlineCitation/></PubmedArticle>"]),
    }
    done = updated(mirror)
    assert len(done.failed) == 3
    assert "no PMID" in done.failed[name_of(26, 6)]
    assert done.generation.papers == 12
    parts = mirror.folder / "part"
    assert not [path for path in parts.rglob("*") if path.name.endswith(".part")]


def test_a_site_that_is_down_is_no_hole(mirror, world):
    """What follows a file that could not be reached waits for it; nothing is set aside."""
    world.bulk.updates = {name_of(26, n): articles([n + 100]) for n in (4, 5, 6)}
    world.mood("down", "pubmed_files", path=name_of(26, 5))
    done = updated(mirror)
    assert done.unreachable
    assert done.held_back == 2
    assert max(titles(mirror)) == 104
    world.calm()
    done = updated(mirror)
    assert not done.held_back
    assert max(titles(mirror)) == 106


def test_a_listing_that_is_cut_off_or_none_ends_it_before_it_begins(mirror, world):
    for mood in ("down", "empty", "garbage"):
        world.calm()
        world.mood(mood, "pubmed_files", path="/updatefiles/")
        with pytest.raises(Unreachable):
            updated(mirror)
    assert not asked(world)


# Years


def test_a_new_year_replaces_the_old_one_without_a_gap(mirror, world):
    old = updated(mirror).generation
    new = year(27, files=4)
    last = new.baseline.pop(name_of(27, 4))
    world.bulk = replace(new, updates={name_of(27, 5): articles([70])})
    waiting = updated(mirror)
    assert waiting.generation == old
    assert name_of(27, 4) in waiting.waits_for
    assert titles(mirror)[1] == "2026 1"
    world.bulk.baseline[name_of(27, 4)] = last
    done = updated(mirror)
    assert (done.files, done.generation.year) == (1, 27)
    assert titles(mirror) == {pmid: f"2027 {pmid}" for pmid in range(1, 17)} | {70: "Title 70"}
    assert not [file for file in mirror.files() if file.year == 26]
    assert mirror.use(old.name) == old  # its parts are kept until the next one
    assert titles(mirror)[1] == "2026 1"
    world.bulk.updates[name_of(27, 6)] = articles([71])
    assert updated(mirror).generation.year == 27
    world.bulk.updates[name_of(27, 7)] = articles([72])
    updated(mirror)
    assert not list((mirror.folder / "part").rglob("26n*"))
    assert not list((mirror.folder / "source").rglob("26n*"))


def test_the_old_year_goes_on_while_the_new_baseline_is_not_whole(mirror, world):
    updated(mirror)
    world.bulk.updates[name_of(26, 4)] = articles([80])
    world.bulk.baseline |= {name_of(27, 1): articles([1], "2027")}
    world.bulk.last = name_of(27, 2)
    done = updated(mirror)
    assert done.generation.name.startswith("26n0004")
    assert 80 in titles(mirror)


def test_a_new_baseline_with_a_hole_does_not_take_the_place_of_a_whole_year(mirror, world):
    updated(mirror)
    world.bulk = year(27)
    world.bulk.torn = {name_of(27, 2)}
    done = updated(mirror)
    assert done.generation.year == 26
    assert name_of(27, 2) in done.waits_for
    world.bulk.torn = set()
    assert updated(mirror).generation.year == 27


def test_a_first_mirror_is_published_only_when_its_baseline_is_whole(mirror, world):
    world.bulk.torn = {name_of(26, 2)}
    done = updated(mirror)
    assert done.generation is None
    assert f"{name_of(26, 2)} of the baseline" in done.waits_for
    world.bulk.torn = set()
    assert updated(mirror).generation.papers == 12


def test_a_new_year_that_begins_in_mid_run_is_read_to_its_end(mirror, world):
    """The old year's files are gone; what is published is the whole new year."""
    steps = mirror.update()
    for progress in steps:
        if progress.files == 0 and progress.total:
            world.bulk = year(27, files=4)
    assert progress.generation.name.startswith("27n0004-")
    assert titles(mirror) == {pmid: f"2027 {pmid}" for pmid in range(1, 17)}
    assert not progress.failed


def test_whether_a_baseline_is_whole_is_never_guessed(mirror, world):
    world.bulk.last = ""
    done = updated(mirror)
    assert done.generation is None
    assert "last of 2026" in done.waits_for
    world.bulk.updates[name_of(26, 4)] = articles([90])
    assert updated(mirror).generation.papers == 13


def test_a_number_that_was_never_listed_is_named():
    files = [
        SourceFile("pubmed", name_of(26, n), "baseline" if n < 3 else "updatefiles", f"26n{n:04}",
                   26 * YEAR + n, state="done", reader=READERS["pubmed"])
        for n in (1, 2, 3, 5)
    ]  # fmt: skip
    [chain] = build_chains(files, {26: 2})
    assert list(chain.missing) == [name_of(26, 4)]
    assert len(chain.files) == 4


# What it stands on


def test_what_a_generation_lacks_or_has_otherwise_is_told_and_made_again(mirror):
    """Of its files the names and the rows that count are no part's, and nobody else's."""
    name = updated(mirror).generation.name
    folder = mirror.generations.folder / name
    for file in ("names.parquet", "live.parquet"):
        whole = (folder / file).read_bytes()
        (folder / file).write_bytes(whole[:-1])
        [told] = [one for one in mirror.verify() if one.faults]
        assert told.name == name
        assert f"its {file} is gone or has other rows" in told.faults[0]
        (folder / file).unlink()
        assert updated(mirror).generation.name == name
        assert (folder / file).read_bytes() == whole
    (folder / "generation.json").write_bytes(b"{")
    assert updated(mirror).generation.name == name
    assert not [one for one in mirror.verify() if one.faults]


@pytest.mark.parametrize("damage", ["facts", "rows", "pointer"])
def test_a_damaged_generation_does_not_make_room_for_a_year_with_a_hole(mirror, world, damage):
    """It is made again; the old year stays until the new one is whole."""
    first = updated(mirror).generation
    before, folder = titles(mirror), mirror.generations.folder / first.name
    world.bulk = year(27)
    world.bulk.wrong_md5 = {name_of(27, 2)}
    if damage == "pointer":
        (mirror.folder / "current" / "pubmed").unlink()
    elif damage == "rows":
        (folder / "live.parquet").unlink()
    else:
        (folder / "generation.json").write_bytes(b"{")
    done = updated(mirror)
    assert done.generation.name == first.name
    assert titles(mirror) == before
    assert f"{name_of(27, 2)} of the new baseline" in done.waits_for
    world.bulk.wrong_md5 = set()
    assert updated(mirror).generation.year == 27


def test_a_damaged_generation_that_cannot_be_made_again_is_told(mirror, world):
    """Nothing takes its place without a word."""
    first = updated(mirror).generation
    world.bulk = year(27)
    world.bulk.wrong_md5 = {name_of(27, 2)}
    (mirror.generations.folder / first.name / "generation.json").write_bytes(b"{")
    (mirror.folder / "manifest.db").unlink()
    done = updated(mirror)
    assert done.generation is None
    assert first.name in done.waits_for
    assert f"{name_of(27, 2)} of the new baseline" in done.waits_for
    assert list((mirror.folder / "part" / "pubmed").glob("26n0001-*"))
    world.bulk.wrong_md5 = set()
    assert updated(mirror).generation.year == 27


def test_the_published_generation_is_never_away_while_it_is_made_anew(mirror, world, monkeypatch):
    """Another word on a file that is missing makes the same rows, under the same name."""
    world.bulk.updates = {name_of(26, 4): articles([101]), name_of(26, 5): articles([102])}
    world.bulk.wrong_md5 = {name_of(26, 4)}
    first = updated(mirror).generation
    world.bulk = replace(world.bulk, wrong_md5=set(), vanished={name_of(26, 4)})
    seen, removed = [], shutil.rmtree

    def looking(path, *rest, **more):
        removed(path, *rest, **more)
        seen.append(mirror.current().name)

    monkeypatch.setattr(shutil, "rmtree", looking)
    second = updated(mirror).generation
    assert (first.name, "MD5" in first.missing[name_of(26, 4)]) == (second.name, True)
    assert "404" in second.missing[name_of(26, 4)]
    assert set(seen) <= {first.name}
    assert not list(mirror.generations.folder.glob(".making-*"))


def test_two_do_not_bring_one_folder_up_to_date_at_once(mirror):
    """The second is told who is at it, and that it may call again."""
    updated(mirror)
    with (
        exclusive_lock(mirror.folder / "update.lock", "this"),
        pytest.raises(StoreBusy, match=f"Process {os.getpid()} on .*, since") as raised,
    ):
        updated(mirror)
    assert (raised.value.code, raised.value.exit_code) == ("STORE", 4)
    assert raised.value.details["retryable"]
    assert raised.value.details["holder"] in raised.value.message


def test_sources_may_go_when_they_are_read(mirror, world):
    updated(mirror, keep=False)
    assert not list((mirror.folder / "source").rglob("*.gz"))
    before = len(asked(world))
    assert updated(mirror, keep=False).files == 0
    assert len(asked(world)) == before
    assert all(not one.faults for one in mirror.verify())
    assert len(asked(world)) == before + 3


def test_the_table_is_made_again_from_listing_and_parts(mirror, world):
    done = updated(mirror)
    before = len(asked(world))
    (mirror.folder / "manifest.db").unlink()
    again = updated(mirror)
    assert again.generation.digest == done.generation.digest
    assert len(asked(world)) == before  # only the MD5s are asked for
    assert mirror.files()[0].records == 4


def test_a_table_of_another_version_is_not_read_as_ours(mirror):
    updated(mirror)
    with closing(sqlite3.connect(mirror.folder / "manifest.db")) as db:
        db.execute("ALTER TABLE sources RENAME COLUMN md5 TO another")
        db.commit()
    with pytest.raises(StoreFailed, match=r"no such column: sources\.md5") as raised:
        mirror.files()
    assert "Delete it; to make it again" in raised.value.hint


def test_an_empty_folder_is_said_to_be_empty(mirror):
    with pytest.raises(EmptyStore, match=r"mirror\.update\("):
        mirror.papers([1])
    with pytest.raises(NotFound):
        mirror.use("26n0001-abc")
    assert mirror.current() is None


def test_a_plan_asks_for_listings_only_and_knows_what_is_here(mirror, world):
    plan = mirror.plan()
    assert (plan.files, plan.baseline, plan.year) == (3, 3, 26)
    assert plan.measured == "quality/benchmarks/README.md"
    assert not asked(world)
    assert not mirror.folder.exists()
    updated(mirror)
    world.bulk.updates[name_of(26, 4)] = articles(range(200, 400))
    plan = mirror.plan()
    assert (plan.files, plan.listed) == (1, 4)
    assert plan.measured == "3 files read here"
    assert plan.size > 0
    assert plan.disk > plan.kept_sources == plan.size
    assert plan.vector_hours > plan.search_hours > 0 < plan.vector_disk < plan.search_disk
    assert mirror.plan(keep=False).kept_sources == 0
    one, two = mirror.plan(workers=1), mirror.plan(workers=2)
    assert one.end_hours == pytest.approx(one.core_hours + one.search_hours)
    assert two.end_hours == one.end_hours  # one file keeps one core busy
    assert one.bottleneck in {"reading", "indexing"}
