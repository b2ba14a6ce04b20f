"""The library as people meet it: few members, namespaces, former names, help with slips."""

import threading

import pytest

from utils import Library
from utils.library import _FORMER
from utils.library.namespace import Namespace


@pytest.fixture
def library(tmp_path):
    return Library(papers_dir=tmp_path / "shelf")


def test_a_library_has_few_members_of_its_own(library):
    names = [name for name in dir(library) if not name.startswith("_")]
    own = [name for name in names if not isinstance(getattr(library, name), Namespace)]
    assert len(own) <= 25, own


def test_every_former_member_is_found_with_a_warning_that_says_where(library):
    for name, place in _FORMER.items():
        with pytest.warns(DeprecationWarning, match=rf"library\.{place.partition('.')[0]}\."):
            assert callable(getattr(library, name))


def test_the_lists_of_the_version_before_are_still_given(library):
    with pytest.warns(DeprecationWarning, match=r"harvests\.all"):
        assert library.harvests() == []
    with pytest.warns(DeprecationWarning, match=r"reviews\.all"):
        assert library.reviews() == []
    with pytest.warns(DeprecationWarning, match="passages_of"):
        assert library.mirrored is library.passages_of("mirror")


@pytest.mark.parametrize(
    ("slip", "meant"), [("donwload", "download"), ("harvest_loc", "harvests.from_lock")]
)
def test_a_slip_is_answered_with_what_was_meant(library, slip, meant):
    with pytest.raises(AttributeError, match=f"Did you mean {meant}"):
        getattr(library, slip)
    assert not hasattr(library, "__wrapped__")


def test_a_library_and_its_namespaces_say_what_they_are(library, tmp_path):
    assert str(tmp_path / "shelf") in repr(library)
    assert "from_lock" in repr(library.harvests)


def test_a_library_is_closed_at_the_end_of_its_block_and_opens_again(library):
    with library:
        assert library.list_papers() == (0, [])
    assert library.list_papers() == (0, [])


def test_several_threads_open_one_shelf(library):
    seen = []
    start = threading.Barrier(8)

    def look():
        start.wait()
        seen.append((id(library.shelf), library.list_papers()[0]))

    threads = [threading.Thread(target=look) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [number for _, number in seen] == [0] * 8
