"""figshare's lists of NIH's collection, and a large file that comes in pieces."""

import pytest

from tests.world.citation_collection import Snapshot, zipped
from utils.errors import BadContent, NotAvailable, Unreachable
from utils.http.session import download_to_disk
from utils.sources.citation_collection import fetch_snapshot, find_newest_snapshot

DATA = zipped([(one, one + 1) for one in range(1, 500)])


@pytest.fixture
def library(library, world):
    world.snapshots = [Snapshot("2026-10-05T14:00:00Z", DATA)]
    return library


def test_the_newest_that_has_the_file_counts(library, world):
    world.snapshots.insert(0, Snapshot("2026-11-05T14:00:00Z", DATA))
    world.snapshots.append(Snapshot("2026-12-05T14:00:00Z", DATA, name="icite_metadata.zip"))
    found = find_newest_snapshot(library.web)
    assert (found.published, found.article, found.size) == ("2026-11-05", 1000, len(DATA))
    assert found.title == "iCite Database Snapshot 2026-11"


def test_where_none_has_it_that_is_said(library, world):
    world.snapshots = [Snapshot("2026-12-05T14:00:00Z", DATA, name="icite_metadata.zip")]
    with pytest.raises(NotAvailable, match="have no open_citation"):
        find_newest_snapshot(library.web)


def test_a_file_comes_in_pieces_and_is_whole(library, world, tmp_path):
    path = tmp_path / "it.zip"
    world.snapshots[0].breaks_after = 100
    sizes = list(fetch_snapshot(find_newest_snapshot(library.web), path, library.web))
    assert path.read_bytes() == DATA
    assert sizes[0] == 100
    assert sizes == sorted(sizes)


def test_what_was_fetched_before_is_gone_on_with(library, world, tmp_path):
    path = tmp_path / "it.zip"
    (tmp_path / ".it.zip.fetched").write_bytes(DATA[:50])
    list(fetch_snapshot(find_newest_snapshot(library.web), path, library.web))
    assert path.read_bytes() == DATA
    (tmp_path / ".it.zip.fetched").write_bytes(DATA)  # all of it: killed before it had its name
    path.unlink()
    list(fetch_snapshot(find_newest_snapshot(library.web), path, library.web))
    assert path.read_bytes() == DATA


def test_another_md5_is_refused_and_nothing_is_left(library, world, tmp_path):
    world.snapshots[0].md5 = "a" * 32
    with pytest.raises(BadContent, match="arrived with MD5"):
        list(fetch_snapshot(find_newest_snapshot(library.web), tmp_path / "it.zip", library.web))
    assert not list(tmp_path.glob("*zip*"))


def test_a_site_that_stays_down_or_sends_too_much_is_told(library, world, tmp_path):
    url = find_newest_snapshot(library.web).url
    with pytest.raises(BadContent, match="more than"):
        list(download_to_disk(library.web, url, tmp_path / "it", 10))
    world.mood("down", "citation_collection")
    with pytest.raises(Unreachable):
        list(download_to_disk(library.web, url, tmp_path / "other", 10**9))
    world.calm()
    with pytest.raises(NotAvailable, match="404"):
        list(download_to_disk(library.web, f"{url}x", tmp_path / "third", 10**9))
