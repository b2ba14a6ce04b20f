"""Every item of the ledger over every door it is offered at, against the stand-in internet.

A door is opened once and called for all its items in their order; each item is a test of its own.
"""

import fcntl
import json
from collections.abc import Callable

import pytest

from quality.conformance import doors
from quality.conformance.items import Item, over
from quality.conformance.ledger import DOCUMENTS, LEDGER
from tests.world import World

DOORS: dict[str, Callable[[list[Item], doors.Stage], doors.Answers]] = {
    "stdio": doors.stdio,
    "http": doors.http,
    "shell": doors.shell,
    "python": doors.python,
}
# Door by door, so that two workers seldom open the same one.
CASES = [(item, door) for door in DOORS for item in over(LEDGER, door)]


@pytest.fixture(scope="session")
def faults(
    _running_world: World, tmp_path_factory: pytest.TempPathFactory, worker_id: str
) -> Callable[[str], dict[str, str]]:
    """What is wrong at a door, by item; it is opened once, by the worker that asks first."""
    together = tmp_path_factory.getbasetemp()
    together = together if worker_id == "master" else together.parent

    def at(door: str) -> dict[str, str]:
        told = together / f"ledger-{door}.json"
        with (together / f"ledger-{door}.lock").open("w", encoding="utf-8") as turn:
            fcntl.flock(turn, fcntl.LOCK_EX)
            if not told.exists():
                with doors.staged(_running_world, tmp_path_factory.mktemp) as stage:
                    answers = DOORS[door](over(LEDGER, door), stage)
                told.write_text(
                    json.dumps({name: wrong for name, (_, wrong) in answers.items()}),
                    encoding="utf-8",
                )
        found: dict[str, str] = json.loads(told.read_text(encoding="utf-8"))
        return found

    return at


@pytest.mark.parametrize(
    ("item", "door"), CASES, ids=[f"{item.name} [{door}]" for item, door in CASES]
)
def test_the_ledger(item: Item, door: str, faults: Callable[[str], dict[str, str]]) -> None:
    wrong = faults(door)[item.name]
    assert not wrong, wrong


def test_every_document_is_in_the_ledger_and_every_item_once() -> None:
    assert {item.document for item in LEDGER} == set(DOCUMENTS)
    assert len({item.name for item in LEDGER}) == len(LEDGER)
    assert {door for _, door in CASES} == set(DOORS)
