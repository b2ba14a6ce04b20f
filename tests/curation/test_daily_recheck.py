"""New texts are looked for automatically, for a bounded number of papers a day."""

import threading
from collections.abc import Callable
from typing import Any

import pytest

from tests.clock import Clock
from tests.curation.test_text_recheck import Happen, make_paper
from tests.world import World
from utils import Library, cli
from utils.curation import daily_recheck
from utils.curation.daily_recheck import find_due_texts
from utils.library import maintenance

DAY_S = 86_400
Shelf = Callable[..., Library]


@pytest.fixture
def shelf(settings: dict[str, Any], world: World, happens: Happen) -> Shelf:
    """Open the shelf again with another setting; five papers are abstracts on it."""

    def open_shelf(per_day: int = 2, **more: Any) -> Library:
        return Library(**{**settings, "papers_recheck_per_day": per_day, **more})

    library = open_shelf()
    for at in range(5):
        library.download(happens(make_paper(world, at)).pmid)
    library.close()
    return open_shelf


def count_asked(library: Library) -> int:
    return len(list(library.upkeep.recheck_texts(due=True)))


def test_papers_are_asked_about_in_turn_and_never_more_than_the_bound(
    shelf: Shelf, clock: Clock, world: World
) -> None:
    library = shelf()
    before = len(world.requests)
    assert count_asked(library) == 0
    assert len(world.requests) == before
    clock.sleep(15 * DAY_S)
    asked = []
    for _ in range(4):
        asked += [count_asked(library), count_asked(library)]
        clock.sleep(DAY_S)
    assert asked == [2, 0, 2, 0, 1, 0, 0, 0]
    clock.sleep(12 * DAY_S)
    assert count_asked(library) == 2


def test_processes_that_look_at_the_same_time_share_the_bound(shelf: Shelf, clock: Clock) -> None:
    clock.sleep(15 * DAY_S)
    asked: list[int] = []
    libraries = [shelf(3) for _ in range(4)]

    def look(library: Library) -> None:
        asked.append(count_asked(library))

    looks = [threading.Thread(target=look, args=(one,)) for one in libraries]
    for one in looks:
        one.start()
    for one in looks:
        one.join()
    assert sum(asked) == 3


def test_a_killed_run_is_resumed_on_the_next_day(
    shelf: Shelf,
    clock: Clock,
    world: World,
    happens: Happen,
) -> None:
    clock.sleep(15 * DAY_S)
    happens(make_paper(world, 4), scholar="copy")
    library = shelf(5)
    run = library.upkeep.recheck_texts(due=True)
    next(run)
    run.close()  # type: ignore[attr-defined]
    assert count_asked(library) == 0  # the bound of this day counts what was chosen
    clock.sleep(DAY_S)
    gained = find_due_texts(shelf(5).ladder)
    assert [one.ids.pmid for one in gained] == ["41990004"]


@pytest.mark.parametrize(
    "setting", [{"per_day": 0}, {"papers_offline": True}, {"pubmed_email": ""}]
)
def test_it_can_be_switched_off(
    shelf: Shelf, clock: Clock, world: World, setting: dict[str, Any]
) -> None:
    clock.sleep(15 * DAY_S)
    before = len(world.requests)
    library = shelf(**setting)
    assert find_due_texts(library.ladder) == []
    assert len(world.requests) == before
    assert not (library.shelf.folder / ".papershelf" / "recheck.db").exists()


def test_a_shelf_without_due_papers_is_looked_through_once_a_day(
    shelf: Shelf, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[int] = []
    look = daily_recheck.list_lacking_files
    monkeypatch.setattr(
        daily_recheck, "list_lacking_files", lambda *given: looks.append(1) or look(*given)
    )
    library = shelf(50)
    assert [count_asked(library) for _ in range(3)] == [0, 0, 0]
    assert len(looks) == 1
    clock.sleep(15 * DAY_S)
    assert [count_asked(library) for _ in range(3)] == [5, 0, 0]
    assert len(looks) == 2


def test_an_index_that_does_not_answer_is_asked_again_on_the_next_day(
    shelf: Shelf, clock: Clock, world: World
) -> None:
    clock.sleep(15 * DAY_S)
    library = shelf(5)
    world.mood("down", "semantic_scholar")
    assert {one.outcome for one in library.upkeep.recheck_texts(due=True)} == {"could_not_tell"}
    world.calm()
    clock.sleep(DAY_S)
    assert count_asked(library) == 5


def test_a_paper_is_due_on_the_day_its_embargo_ends(
    library: Library,
    world: World,
    happens: Happen,
    clock: Clock,
) -> None:
    record = happens(world.paper("embargoed"), released="2026-12-30", efetch="body")
    library.download(record.pmid)
    assert find_due_texts(library.ladder) == []
    clock.sleep(40 * DAY_S)
    assert [one.ids.pmid for one in find_due_texts(library.ladder)] == [record.pmid]


@pytest.mark.usefixtures("shelf")
def test_a_harvest_in_the_shell_looks_at_its_end(
    settings: dict[str, Any],
    world: World,
    happens: Happen,
    clock: Clock,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock.sleep(15 * DAY_S)
    happens(make_paper(world, 4), scholar="copy")
    for name, value in settings.items():
        monkeypatch.setenv(name.upper(), str(value))
    assert cli.main(["harvest", world.paper("pmc_cloud").pmid]) == 0
    assert "A full text of 1 other paper appeared since" in capsys.readouterr().err


def test_a_server_looks_again_and_again_until_it_ends(
    shelf: Shelf, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock.sleep(15 * DAY_S)
    library, looked = shelf(5), threading.Semaphore(0)
    monkeypatch.setattr(maintenance, "_FIRST_RECHECK_S", 0.0)
    monkeypatch.setattr(maintenance, "_RECHECK_INTERVAL_S", 0.0)
    target = "utils.curation.daily_recheck.find_due_texts"
    monkeypatch.setattr(target, lambda _: looked.release())
    stop = library.upkeep.recheck_daily()
    assert looked.acquire(timeout=60)
    assert looked.acquire(timeout=60)
    stop.set()
