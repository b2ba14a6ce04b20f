"""The database's own troubles: full, locked, read-only, of another version, healed by two."""

import sqlite3
import sys
import threading
from pathlib import Path

import pytest

from tests.processes import Process, run
from tests.shelf.papers import assert_consistent, paper, save, texts
from utils.errors import StoreFailed
from utils.model.identifiers import Ids
from utils.model.paper import Attempt
from utils.shelf import Shelf, paper_file
from utils.shelf import catalogue as catalogue_module
from utils.shelf.catalogue import Catalogue
from utils.shelf.listing import SORT_ORDERS, ListingFilter
from utils.shelf.record import ShelfRecord, build_abstract_record
from utils.shelf.shelf_writer import Entries, ShelfWriter
from utils.system import sqlite


def catalogue(shelf: Shelf) -> Path:
    return shelf.folder / ".papershelf" / "catalogue.db"


def set_version(shelf: Shelf, version: int) -> None:
    shelf.close()
    with sqlite3.connect(catalogue(shelf)) as connection:
        connection.execute("UPDATE schema_version SET version = ?", (version,))
    connection.close()


def test_a_catalogue_of_an_older_version_is_made_again(shelf: Shelf) -> None:
    saved = save(shelf, paper(doi="10.1/a", pmid="7"))
    set_version(shelf, 0)
    assert shelf.find_text(Ids(pmid="7")) == saved
    assert_consistent(shelf)


def test_a_catalogue_of_a_newer_version_is_left_alone(shelf: Shelf) -> None:
    save(shelf, paper(pmid="7"))
    set_version(shelf, 99)
    with pytest.raises(StoreFailed, match="newer version"):
        shelf.find_text(Ids(pmid="7"))
    set_version(shelf, 1)
    assert shelf.find_text(Ids(pmid="7")) is not None


@pytest.mark.parametrize("order", SORT_ORDERS)
def test_filters_and_orders_parse_no_record(order: str) -> None:
    """Parsing JSON for each row took eight times as long as the rest of a listing."""
    wanted = ListingFilter(
        text="a",
        kind="full_text",
        min_date="2000",
        max_date="2001",
        journal="a",
        author="a",
        version="published",
        license="CC0",
        verdict="full_text",
        retracted=True,
        sort_by=order,
    )
    tables, where, _, by = wanted.to_sql_clauses(fts=True)
    assert "json_extract" not in " ".join((tables, *where, by))


def test_a_full_database_is_said_so_and_nothing_is_lost(shelf: Shelf) -> None:
    old = save(shelf, paper(pmid="1"))
    with shelf._catalogue.borrow_connection() as connection:
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages}")

    def save_many() -> None:
        for number in range(2, 200):
            save(shelf, paper(pmid=str(number)))

    with pytest.raises(StoreFailed, match="full"):
        save_many()
    shelf.close()
    assert shelf.find_text(Ids(pmid="1")) == old
    assert_consistent(shelf)


def test_a_locked_catalogue_is_said_so(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("utils.shelf.catalogue._PATIENCE_MS", 10)
    saved = save(shelf, paper(pmid="1"))
    holder = sqlite3.connect(catalogue(shelf), isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreFailed, match="locked") as failed:
        save(shelf, paper(pmid="2"))
    assert "Another process" in failed.value.hint
    assert shelf.find_text(Ids(pmid="1")) == saved  # readers go on
    holder.execute("ROLLBACK")
    holder.close()
    save(shelf, paper(pmid="2"))
    assert_consistent(shelf)


def test_a_shelf_that_cannot_be_written_is_still_read(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved = save(shelf, paper(doi="10.1000/a", pmid="1"))
    legacy = shelf.folder / "pmid_2.txt"
    legacy.write_text("# Old\n\n" + "text of the older program " * 30, encoding="utf-8")
    shelf.close()
    monkeypatch.setattr("os.access", lambda *_: False)  # tests may run as root
    before = sorted(shelf.folder.rglob("*"))
    assert shelf.find_text(Ids(pmid="1")) == saved
    assert shelf.find_text(Ids(pmid="2")) is not None
    assert shelf.find_text(Ids(pmid="3")) is None
    assert shelf.list_papers(text="cells")[0] == 1
    legacy.unlink()
    assert shelf.find_text(Ids(pmid="2")) is None
    with pytest.raises(StoreFailed, match="read-only"):
        save(shelf, paper(pmid="4"))
    assert sorted(shelf.folder.rglob("*")) == [path for path in before if path != legacy]


def test_two_processes_may_heal_at_once(shelf: Shelf) -> None:
    for number in range(1, 21):
        save(shelf, paper(pmid=str(number)))
    shelf.close()
    catalogue(shelf).write_bytes(b"no database" * 1000)
    script = (
        "import sys; from pathlib import Path; from utils.shelf import Shelf\n"
        "from utils.model.identifiers import Ids\n"
        "with Shelf(Path(sys.argv[1])) as shelf:\n"
        "    found = [shelf.find_text(Ids(pmid=str(n))) for n in range(1, 21)]\n"
        "    sys.exit(not all(found))\n"
    )
    command = [sys.executable, "-c", script, str(shelf.folder)]
    root = Path(__file__).resolve().parents[2]
    healers = [Process(command, cwd=root) for _ in range(3)]
    assert [healer.wait() for healer in healers] == [0, 0, 0]
    assert shelf.count_papers()["papers"] == 20
    assert_consistent(shelf)


def test_importing_the_store_is_quick() -> None:
    """Cold start is a promise: no package from outside is loaded with the store."""
    script = (
        "import sys; import utils.shelf\n"
        "heavy = {'requests', 'lxml', 'bs4', 'diskcache', 'fastmcp', 'Bio'} & set(sys.modules)\n"
        "sys.exit(str(heavy) if heavy else 0)\n"
    )
    root = Path(__file__).resolve().parents[2]
    run([sys.executable, "-c", script], cwd=root, check=True)


def test_a_hundred_threads_leave_few_connections_open(shelf: Shelf) -> None:
    save(shelf, paper(pmid="1"))
    kept, everybody = shelf._catalogue, threading.Barrier(40, timeout=60)
    used: list[sqlite3.Connection] = []

    def look() -> None:
        with kept.borrow_connection() as connection:
            everybody.wait()  # none of the others can have this one
            used.append(connection)

    threads = [threading.Thread(target=look) for _ in range(40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(map(id, used))) == 40
    assert len(kept._idle) == catalogue_module._MOST_IDLE
    idle = [one.connection for one in kept._idle]
    for connection in used:
        if connection not in idle:
            with pytest.raises(sqlite3.ProgrammingError, match="closed"):
                connection.execute("SELECT 1")
    kept.close()
    assert not kept._idle
    assert shelf.find_text(Ids(pmid="1")) is not None


def test_a_writer_sees_what_it_wrote_and_others_do_not_before_the_end(shelf: Shelf) -> None:
    save(shelf, paper(pmid="1"))
    kept, seen = shelf._catalogue, []
    with kept.open_transaction():
        kept.set_fact("greeting", "hello")
        seen.append(kept.get_fact("greeting"))
        reader = threading.Thread(target=lambda: seen.append(kept.get_fact("greeting")))
        reader.start()
        reader.join()
    assert seen == ["hello", ""]
    assert kept.get_fact("greeting") == "hello"


def test_no_thread_writes_to_a_new_catalogue_before_the_files_are_in_it(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thread that is about to save an abstract, while another one replaces the catalogue."""
    first = shelf.save_abstract(paper(pmid="1"), ())
    shelf.close()
    catalogue(shelf).write_bytes(b"no database at all" * 500)
    again = build_abstract_record(
        paper(pmid="1"), [Attempt("pmc_cloud", "not_offered", "none")], "pubmed"
    )
    move_aside, filed = Catalogue.move_damaged_file_aside, list[ShelfRecord]()

    def save_again() -> None:
        filed.append(
            shelf._writer.file_paper(again, lambda one: paper_file.build_abstract_file(one.stored))
        )

    def overtake(self: Catalogue) -> None:
        move_aside(self)
        late = threading.Thread(target=save_again)
        late.start()
        late.join()

    monkeypatch.setattr(Catalogue, "move_damaged_file_aside", overtake)
    assert shelf.find_text(Ids(pmid="1"))
    assert [record.file for record in filed] == texts(shelf) == [Path(first.path).name]
    assert_consistent(shelf)


def test_what_is_written_to_a_catalogue_that_was_set_aside_is_written_again(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process replaces the file and reads the folder in the middle of a change."""
    save(shelf, paper(pmid="1"))
    other, enter = Shelf(shelf.folder), ShelfWriter.catalogue_record

    def interrupted(self: ShelfWriter, record: ShelfRecord, same: Entries) -> None:
        enter(self, record, same)
        if self is shelf._writer:
            monkeypatch.setattr(ShelfWriter, "catalogue_record", enter)
            sqlite.move_database_aside(
                catalogue(shelf), sqlite.build_damaged_path(catalogue(shelf))
            )
            Path(record.stored.path).rename(kept := shelf.folder / "not yet written")
            assert other.count_papers()["papers"] == 1
            kept.rename(record.stored.path)

    monkeypatch.setattr(ShelfWriter, "catalogue_record", interrupted)
    save(shelf, paper(pmid="2"))
    assert other.count_papers()["papers"] == shelf.count_papers()["papers"] == 2
    assert_consistent(shelf)
    other.close()
