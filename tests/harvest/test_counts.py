"""How often a harvest looks a paper up, reads its record and writes of it: counts, not times."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from tests.harvests import assert_complete, done, ids_of
from tests.world import World
from utils import Library
from utils.shelf import Shelf, ledger_file, listing, record

pytestmark = pytest.mark.slow

FIELD = 100
PAPERS = 20


class Counting:
    """A connection that counts the statements that write."""

    def __init__(self, db: Any, told: Counter[str]) -> None:
        self._db = db
        self._told = told

    def __getattr__(self, name: str) -> Any:
        return getattr(self._db, name)

    def execute(self, sql: str, *given: Any) -> Any:
        self._note(sql)
        return self._db.execute(sql, *given)

    def executemany(self, sql: str, *given: Any) -> Any:
        self._note(sql)
        return self._db.executemany(sql, *given)

    def _note(self, sql: str) -> None:
        verb = sql.split(maxsplit=1)[0]
        kind = {"COMMIT": "transactions", "SELECT": "", "BEGIN": ""}.get(verb, "writes")
        self._told[kind] += 1


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often each of these was called since."""
    counts: Counter[str] = Counter()

    def count(owner: Any, name: str, what: str) -> None:
        real: Callable[..., Any] = getattr(owner, name)

        def counted(*given: Any, **more: Any) -> Any:
            counts[what] += 1
            return real(*given, **more)

        monkeypatch.setattr(owner, name, counted)

    count(Shelf, "find_texts", "look-ups")
    count(record.ShelfRecord, "from_row", "records read")
    count(ledger_file, "paper_from_row", "papers read")
    count(listing, "to_spreadsheet_cell", "cells")
    for remembered in (record._parse_record, ledger_file.parse_paper_json, listing._to_csv_row):
        remembered.cache_clear()
    return counts


def test_a_paper_costs_no_more_look_ups_readings_and_writes_than_it_must(
    far: Library, field: World, told: Counter[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # One whose accepted manuscript was had is asked about again: where is the published version?
    papers = [record for record in field.field if record.branch != "archived"][:PAPERS]
    harvest = far.harvest(map(ids_of, papers))
    monkeypatch.setattr(harvest.ledger, "_db", Counting(harvest.ledger._db, told))
    done(harvest)
    far.shelf.close()
    each = {what: count / PAPERS for what, count in told.items()}
    assert len(harvest.ledger.list_attempts(1)) > 0
    assert 0 < each["look-ups"] <= 2.1  # one for each rung that is asked
    assert 0 < each["records read"] <= 2
    assert 0 < each["papers read"] <= 2
    assert 0 < each["transactions"] <= 7
    assert 0 < each["writes"] <= 8
    assert 0 < each["cells"] <= 60  # of 22 columns: a line when it comes, and that of its text
    assert_complete(far, harvest, papers)


def test_a_paper_that_is_there_already_is_looked_up_once(
    far: Library, field: World, told: Counter[str]
) -> None:
    papers = [record for record in field.field if record.branch == "pmc_cloud"][:PAPERS]
    done(far.harvest(map(ids_of, papers)))
    asked = len(field.requests)
    told.clear()
    rows = done(far.harvest(map(ids_of, papers), title="once more"))
    assert {row.state for row in rows} == {"full_text"}
    assert len(field.requests) == asked
    assert told["look-ups"] == len(papers)
    assert told["records read"] <= len(papers)
