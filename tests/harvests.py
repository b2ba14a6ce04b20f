"""What must hold of every harvest in the stand-in internet, however it went."""

import hashlib
import json
import sqlite3
from collections import Counter
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

from tests.shelf.papers import assert_consistent
from tests.world import Record, Request, World
from utils import Library
from utils.harvest.jobs import Harvest
from utils.model.identifiers import Ids
from utils.model.job import Harvested
from utils.shelf import Shelf, strip_header

# A site may be asked again when it did not answer, or we did not live to keep what it sent.
_AGAIN = {"unreachable", "saved"}


def ids_of(record: Record) -> Ids:
    """The name somebody would ask for a paper by."""
    if record.pmid:
        return Ids(pmid=record.pmid)
    return Ids(arxiv=record.arxiv) if record.arxiv else Ids(doi=record.doi)


def library_of(world: World, folder: Path, **more: Any) -> Library:
    """A library that keeps its papers below *folder*."""
    addresses = {name.lower(): value for name, value in world.environment().items()}
    folders = {"papers_dir": folder / "papers", "papers_pace_dir": folder / "pace"}
    return Library(**{**addresses, **folders, **more})


def done(harvest: Harvest) -> list[Harvested]:
    """Go through a harvest; what became of every paper."""
    for _ in harvest:
        pass
    return list(harvest.ledger.read_outcomes())


def ncbi(requests: Iterable[Request]) -> int:
    return sum(request.service in {"eutils", "idconv"} for request in requests)


def repeated(requests: Iterable[Request]) -> dict[tuple[str, ...], int]:
    """Questions asked more than once.

    A site that refuses is asked once more with plain headers; that belongs to the first question.
    """
    asked = Counter(
        (request.method, request.host, request.path, json.dumps(request.params, sort_keys=True))
        for request in requests
        if request.status < 400
    )
    return {question: count for question, count in asked.items() if count > 1}


def torn(folder: Path) -> list[str]:
    """Texts that are neither the old nor the new one, read without Papershelf's help.

    The record is written before the text it is about, and the catalogue after it.
    """
    private = folder / ".papershelf"
    if not (private / "catalogue.db").exists():
        return []
    known: dict[str, set[str]] = {}
    with closing(sqlite3.connect(private / "catalogue.db", timeout=30)) as db:
        assert db.execute("PRAGMA quick_check").fetchone() == ("ok",)
        made = db.execute("SELECT count(*) FROM sqlite_master WHERE name = 'papers'").fetchone()[0]
        rows = db.execute("SELECT record FROM papers").fetchall() if made else []
    records = [record for (record,) in rows]
    records += [path.read_text(encoding="utf-8") for path in (private / "records").glob("*.json")]
    for record in map(json.loads, records):
        stored = record["stored"]
        known.setdefault(Path(stored["path"]).name, set()).add(stored["sha256"])
    return [
        path.name
        for path in sorted(folder.glob("*.txt"))
        if hashlib.sha256(path.read_bytes()).hexdigest() not in known.get(path.name, ())
    ]


def ended(ledger: Path) -> dict[int, tuple[str, str, str]]:
    """State, file and checksum of every paper that has ended, read as another program would."""
    query = "SELECT number, state, file, sha256 FROM papers WHERE state <> 'pending'"
    with closing(sqlite3.connect(ledger, timeout=30)) as db:
        assert db.execute("PRAGMA quick_check").fetchone() == ("ok",)
        return {number: tuple(rest) for number, *rest in db.execute(query)}


def assert_kept(folder: Path, ledger: Path) -> None:
    """What the ledger says has ended is on the shelf, and is the text it speaks of."""
    for state, file, sha256 in ended(ledger).values():
        if file:
            text = strip_header((folder / file).read_text(encoding="utf-8"))
            assert hashlib.sha256(text.encode()).hexdigest() == sha256, (state, file)


def assert_complete(library: Library, harvest: Harvest, records: Iterable[Record]) -> None:
    """Every paper ended as its record promises, once, in one file, and nothing else is there."""
    rows = list(harvest.ledger.read_outcomes())
    folder = library.shelf.folder
    wrong = {
        (record.branch, row.asked): (row.state, row.reason, row.detail)
        for record, row in zip(records, rows, strict=True)
        if row.state != record.expected
    }
    assert not wrong, wrong
    files = [row.file for row in rows]
    assert len(set(files)) == len(files)
    there = {path.name for path in folder.glob("*.txt")}
    assert there == set(files), there ^ set(files)
    assert not torn(folder)
    assert_kept(folder, harvest.ledger.path)
    for row in rows:
        asked = Counter((a.source, a.url) for a in row.attempts if a.outcome not in _AGAIN)
        assert all(count == 1 for count in asked.values()), row.attempts
        if row.state == "full_text":
            assert row.via
            assert not row.reason
    with Shelf(folder) as shelf:
        assert shelf.count_papers()["papers"] == len(rows)
        assert_consistent(shelf)
