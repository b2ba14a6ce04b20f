"""The library as people meet it: few members, namespaces, former names, help with slips."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from utils import Library
from utils.errors import InUse
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
    assert len({shelf for shelf, _ in seen}) == 1


@pytest.mark.story
def test_threads_share_one_library_to_search_and_download(settings, world):
    library = Library(**settings)
    pmids = [world.paper(branch).pmid for branch in ("pmc_cloud", "publisher_html", "paywall")]
    with ThreadPoolExecutor(6) as pool:
        found = [pool.submit(library.search, "coral") for _ in range(2)]
        downloads = [pool.submit(library.download, pmid) for pmid in pmids * 2]
        results = {done.result().stored.path for done in downloads}
        assert len({page.result().papers for page in found}) == 1
    assert len(results) == len(pmids)
    assert library.list_papers()[0] == len(pmids)
    asked = [request.path for request in world.requests if "pmc-oa" in request.path]
    assert len(asked) == len(set(asked))


@pytest.mark.story
def test_a_second_thread_on_a_harvest_is_told_that_it_is_in_use(settings, world):
    library = Library(**settings)
    steps = iter(library.harvest([world.paper("pmc_cloud").pmid, world.paper("paywall").pmid]))
    next(steps)
    job_id = library.harvests.all()[0].job_id
    with ThreadPoolExecutor(1) as pool:
        second = pool.submit(library.harvest(job_id=job_id).run)
    assert isinstance(second.exception(), InUse)
    list(steps)
    assert library.harvest(job_id=job_id).run(progress=False).counts.pending == 0
