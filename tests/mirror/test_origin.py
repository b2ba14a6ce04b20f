"""A mirror from a folder that somebody filled: the same as from NLM, without a request."""

import hashlib

import pytest

from tests.mirror.small_mirror import article, bytes_of, mirror_of, titles, updated, year
from tests.world.pubmed_files import name_of, packed
from utils.errors import BadRequest

pytestmark = pytest.mark.extras("pyarrow", "duckdb")
NOTICE = "The complete baseline consists of files pubmed26n0001.xml through pubmed26n0003.xml."


@pytest.fixture
def bulk(world):
    world.bulk = year()
    world.bulk.updates[name_of(26, 4)] = packed([article(3, "Revised"), article(20)], ["5"])
    return world.bulk


@pytest.fixture
def filled(bulk, tmp_path):
    """NLM's tree, as rsync brings it."""
    folder = tmp_path / "filled"
    for place, files in (("baseline", bulk.baseline), ("updatefiles", bulk.updates)):
        (folder / place).mkdir(parents=True)
        for name, data in files.items():
            (folder / place / name).write_bytes(data)
            md5 = hashlib.md5(data, usedforsecurity=False).hexdigest()
            (folder / place / f"{name}.md5").write_text(f"MD5({name})= {md5}\n", encoding="utf-8")
    return folder


def flat(filled, tmp_path, notice=True):
    """The same in one place, without MD5 files, as EDirect leaves it."""
    folder = tmp_path / "flat" / "Source"
    folder.mkdir(parents=True)
    for path in filled.rglob("*.gz"):
        (folder / path.name).write_bytes(path.read_bytes())
    if notice:
        (folder / "README.txt").write_text(NOTICE, encoding="utf-8")
    return folder.parent


def test_it_is_the_same_mirror_and_nobody_was_asked(world, filled, tmp_path):
    mirror = mirror_of(world, tmp_path / "one")
    done = updated(mirror, filled=filled)
    assert (done.files, done.changed, world.requests) == (4, True, [])
    other = mirror_of(world, tmp_path / "other")
    updated(other)
    assert bytes_of(mirror) == bytes_of(other)
    assert not [one for one in mirror.verify() if one.faults]


def test_files_in_one_place_need_a_notice_to_be_a_whole_baseline(world, filled, tmp_path):
    mirror = mirror_of(world, tmp_path / "one")
    done = updated(mirror, filled=flat(filled, tmp_path, notice=False))
    assert "last of 2026" in done.waits_for
    (tmp_path / "flat" / "README.txt").write_text(NOTICE, encoding="utf-8")
    assert updated(mirror, filled=tmp_path / "flat").changed
    assert titles(mirror)[3] == "Revised"
    assert not world.requests


def test_a_torn_copy_is_set_aside_and_taken_when_it_is_whole(world, filled, bulk, tmp_path):
    mirror, torn = mirror_of(world, tmp_path / "one"), filled / "updatefiles" / name_of(26, 4)
    torn.write_bytes(bulk.updates[torn.name][:50])
    done = updated(mirror, filled=filled)
    assert f"{torn.name}.md5 says" in done.failed[torn.name]
    assert titles(mirror)[3] == "2026 3"
    torn.write_bytes(bulk.updates[torn.name])
    assert not updated(mirror, filled=filled).failed
    assert titles(mirror)[3] == "Revised"


def test_nlm_goes_on_where_the_folder_ends(world, filled, bulk, tmp_path):
    mirror = mirror_of(world, tmp_path / "one")
    updated(mirror, filled=filled)
    bulk.updates[name_of(26, 5)] = packed([article(21)])
    done = updated(mirror)
    fetched = [one.path for one in world.requests if one.path.endswith(".xml.gz")]
    assert [path.rpartition("/")[2] for path in fetched] == [name_of(26, 5)]
    assert 21 in titles(mirror)
    assert done.changed


def test_a_new_year_in_the_folder_waits_until_it_is_whole(world, filled, tmp_path):
    """Its files come in awkward order, the first of them last, beside the old year's."""
    mirror = mirror_of(world, tmp_path / "one")
    old = updated(mirror, filled=filled).generation
    new = year(27, files=3)
    notice = NOTICE.replace("pubmed26", "pubmed27")
    (filled / "baseline" / "README.txt").write_text(notice, encoding="utf-8")
    for number in (3, 2):
        name = name_of(27, number)
        (filled / "baseline" / name).write_bytes(new.baseline[name])
        done = updated(mirror, filled=filled)
        assert done.generation == old
        assert name_of(27, 1) in done.waits_for
    (filled / "baseline" / name_of(27, 1)).write_bytes(new.baseline[name_of(27, 1)])
    done = updated(mirror, filled=filled)
    assert done.generation.year == 27
    assert titles(mirror)[1] == "2027 1"


def test_a_folder_without_files_is_refused(world, tmp_path):
    with pytest.raises(BadRequest, match="no files of PubMed"):
        updated(mirror_of(world, tmp_path), filled=tmp_path)
    assert not world.requests
