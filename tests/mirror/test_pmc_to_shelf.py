"""A mirror's choice of PMC's articles put onto the shelf: a harvest that asks nobody."""

import pytest

from utils.errors import BadRequest, EmptyStore, StoreFailed
from utils.mirror import pmc
from utils.mirror.pmc import Choice
from utils.model.identifiers import Ids
from utils.shelf import Shelf

pytestmark = pytest.mark.extras("pyarrow", "duckdb")


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    monkeypatch.setattr(pmc, "BATCH", 3)


def mirrored(library, choice=None):
    return [*library.mirror.update_pmc(choice)][-1]


def harvested(library):
    return [*library.harvests.from_mirror()][-1].job


def there(world, most=4):
    return [record for record in world.papers if record.cloud][:most]


def choice_of(records):
    return Choice(pmcids=tuple(int(record.pmcid.removeprefix("PMC")) for record in records))


def on_shelf(world, library):
    """How each of PMC's articles on the shelf came there, by PMCID."""
    found = {r.pmcid: library.shelf.find_text(Ids(pmcid=r.pmcid)) for r in there(world, 99)}
    return {
        pmcid: (stored.kind, stored.via, stored.source) for pmcid, stored in found.items() if stored
    }


def test_all_that_is_chosen_is_on_the_shelf_and_nobody_was_asked(world, library):
    records = there(world)
    mirrored(library, choice_of(records))
    before = len(world.requests)
    job = harvested(library)
    assert (job.counts.requested, job.counts.full_text) == (4, 4)
    assert on_shelf(world, library) == {r.pmcid: ("full_text", "mirror", "PMC") for r in records}
    assert len(world.requests) == before
    folder = library.harvest(job_id=job.job_id).folder
    assert (folder / "papers.lock.json").exists()


def test_what_no_longer_fits_the_choice_stays_off_the_shelf(world, library):
    free = [record for record in there(world, 99) if record.license == "CC BY"]
    mirrored(library, Choice())
    mirrored(library, Choice(licenses=("cc-by",)))
    job = harvested(library)
    assert job.title == "PMC's articles in the mirror, cc-by"
    assert set(on_shelf(world, library)) == {record.pmcid for record in free}


def test_broken_off_it_goes_on_and_takes_nothing_twice(world, library, monkeypatch):
    records = there(world)
    mirrored(library, choice_of(records))
    full, saved, save = {records[2].pmcid}, [], Shelf.save_full_text

    def save_or_break(shelf, paper, *rest, **more):
        if paper.ids.pmcid in full:
            raise StoreFailed("The disk is full.", "Make room.")
        saved.append(paper.ids.pmcid)
        return save(shelf, paper, *rest, **more)

    monkeypatch.setattr(Shelf, "save_full_text", save_or_break)
    with pytest.raises(StoreFailed):
        harvested(library)
    assert records[2].pmcid not in on_shelf(world, library)
    full.clear()
    job = harvested(library)
    assert [one.job_id for one in library.harvests.all()] == [job.job_id]
    assert job.counts.full_text == len(on_shelf(world, library)) == 4
    assert sorted(saved) == sorted(record.pmcid for record in records)


def test_a_text_that_is_damaged_is_told_and_the_rest_comes(world, library, monkeypatch):
    monkeypatch.setattr(pmc, "BATCH", 1)
    records = there(world)
    mirrored(library, choice_of(records))
    bundle = min((library.mirror.folder / "source" / "pmc").glob("*.zip"))
    whole = bundle.read_bytes()
    bundle.write_bytes(whole[: len(whole) // 2])
    job = harvested(library)
    assert (job.counts.full_text, job.counts.failed) == (3, 1)
    bundle.write_bytes(whole)
    assert harvested(library).counts.full_text == 4


def test_where_nothing_is_there_it_says_so(world, library):
    with pytest.raises(EmptyStore):
        library.harvests.from_mirror()
    mirrored(library, choice_of(there(world, 1)))
    mirrored(library, Choice(years=(1700, 1701)))
    with pytest.raises(BadRequest, match="fits"):
        library.harvests.from_mirror()
