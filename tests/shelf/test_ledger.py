"""The ledger: every paper ends once, the story is whole, and others may look on."""

import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.processes import Process
from tests.shelf.papers import paper
from utils.errors import InUse, NotFound, StoreFailed
from utils.model.identifiers import Ids
from utils.model.job import Job, JobCounts
from utils.model.paper import Attempt, Paper, StoredPaper
from utils.shelf.ledger import Ledger

ROOT = Path(__file__).resolve().parents[2]
LIST = [("PMID 1", Ids(pmid="1")), ("10.1000/b", Ids(doi="10.1000/b")), ("Doe 1999", Ids())]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "jobs" / "cells-1a2b3c4d.db"


@pytest.fixture
def ledger(path: Path) -> Iterator[Ledger]:
    with closing(Ledger.create(path, Job("cells-1a2b3c4d", "cells", hits=3), LIST)) as made:
        yield made


def stored(about: Paper, kind: str = "full_text", file: str = "pmid_1.txt") -> StoredPaper:
    return StoredPaper(about, kind, f"/shelf/{file}", "PMC", "pmc_cloud", "f" * 64, "CC BY")  # type: ignore[arg-type]


def states(ledger: Ledger) -> list[str]:
    return [row.state for row in ledger.read_outcomes()]


# -- the job ---------------------------------------------------------------------------------


def test_a_new_ledger_lists_what_was_asked_for(ledger: Ledger) -> None:
    assert ledger.list_pending_papers() == [1, 2, 3]
    assert [(row.number, row.asked, row.paper.ids) for row in ledger.read_outcomes()] == [
        (number, asked, ids) for number, (asked, ids) in enumerate(LIST, 1)
    ]
    job = ledger.read_job()
    assert (job.job_id, job.title, job.hits) == ("cells-1a2b3c4d", "cells", 3)
    assert job.counts == JobCounts(requested=3, pending=3)


def test_making_it_again_keeps_what_is_there(ledger: Ledger, path: Path) -> None:
    ledger.record_failure(1, "not_found", "Nobody knows it.")
    with closing(Ledger.create(path, Job("other", "other"), [])) as again:
        assert again.read_job() == ledger.read_job()


def test_there_is_none_until_all_papers_are_listed(path: Path) -> None:
    def broken() -> Iterator[tuple[str, Ids]]:
        yield LIST[0]
        raise OSError("the list ends in the middle")

    with pytest.raises(StoreFailed, match="in the middle"):
        Ledger.create(path, Job("x", "x"), broken())
    with pytest.raises(NotFound):
        Ledger(path)
    with closing(Ledger.create(path, Job("x", "x"), LIST)) as made:
        assert made.read_job().counts.requested == 3


def test_what_a_deleted_ledger_left_behind_is_not_taken_for_the_new_ones(path: Path) -> None:
    old = Ledger.create(path, Job("old", "old"), LIST)
    old.record_failure(1, "not_found", "Nobody knows it.")
    wal = path.with_name(path.name + "-wal")
    left = wal.read_bytes()
    old.close()
    path.unlink()
    wal.write_bytes(left)
    with closing(Ledger.create(path, Job("new", "new"), LIST[:2])) as new:
        assert new.read_job().title == "new"
        assert states(new) == ["pending", "pending"]


def test_notes_are_kept_once(ledger: Ledger) -> None:
    for _ in range(2):
        ledger.add_job_note("the search was cut short")
    assert ledger.read_job().notes == ("the search was cut short",)


def test_odd_letters_are_kept_as_far_as_they_can_be(path: Path) -> None:
    with closing(Ledger.create(path, Job("x", "x"), [("\ud800 “Ä”\0", Ids())])) as ledger:
        assert "“Ä”" in next(ledger.read_outcomes()).asked


# -- how papers end --------------------------------------------------------------------------


def test_a_paper_ends_once(ledger: Ledger) -> None:
    about = paper(pmid="1", doi="10.1000/a")
    ledger.store_paper_record(1, about)
    ledger.record_paper_result(1, stored(about), "c" * 64, "", "")
    ledger.record_failure(1, "not_found", "too late")
    ledger.record_paper_result(
        1, stored(about, "abstract", "other.txt"), "d" * 64, "paywall", "too late"
    )
    row = next(ledger.read_outcomes())
    assert (row.state, row.file, row.sha256, row.reason) == (
        "full_text",
        "pmid_1.txt",
        "c" * 64,
        "",
    )
    assert (row.source, row.via, row.license) == ("PMC", "pmc_cloud", "CC BY")
    assert row.paper == about
    assert row.ended_at
    assert ledger.read_job().counts == JobCounts(requested=3, full_text=1, pending=2)


def test_every_state_is_counted_once(ledger: Ledger) -> None:
    ledger.record_paper_result(1, stored(paper(pmid="1")), "c" * 64, "", "")
    ledger.record_paper_result(
        2, stored(paper(doi="10.1000/b"), "abstract"), "d" * 64, "paywall", "For sale."
    )
    ledger.record_failure(3, "no_identifier", "It has none.")
    assert ledger.read_job().counts == JobCounts(3, full_text=1, abstract=1, failed=1)
    assert ledger.list_pending_papers() == []
    assert [row.reason for row in ledger.read_outcomes()] == ["", "paywall", "no_identifier"]


def test_many_threads_may_end_papers(path: Path) -> None:
    entries = [(str(n), Ids(pmid=str(n))) for n in range(1, 201)]
    with closing(Ledger.create(path, Job("x", "x"), entries)) as ledger:

        def work(start: int) -> None:
            for number in range(start, 201, 4):
                ledger.store_paper_record(number, paper(pmid=str(number)))
                ledger.record_attempts(number, [Attempt("pmc_cloud", "not_offered")])
                ledger.record_failure(number, "not_found", "Nobody knows it.")

        threads = [threading.Thread(target=work, args=(n,)) for n in range(1, 5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert ledger.read_job().counts == JobCounts(200, failed=200)
        assert all(len(row.attempts) == 1 for row in ledger.read_outcomes())


# -- what was tried --------------------------------------------------------------------------


def test_attempts_are_told_in_order_with_all_they_say(ledger: Ledger) -> None:
    told = [
        Attempt("pmc_cloud", "not_offered", "not there", "https://a.org/x", 404, 1.5, "2026-01-01"),
        Attempt("unpaywall", "paywall", "for sale", "https://b.org/y", 200, 0.25, "2026-01-02"),
    ]
    ledger.record_attempts(1, told[:1])
    ledger.record_attempts(2, [Attempt("publisher", "captcha")])
    ledger.record_attempts(1, told[1:])
    assert ledger.list_attempts(1) == told
    assert next(ledger.read_outcomes()).attempts == tuple(told)


def test_attempts_belong_to_the_round_they_were_made_in(ledger: Ledger) -> None:
    ledger.record_attempts(1, [Attempt("publisher", "paywall")])
    ledger.record_failure(1, "paywall", "For sale.")
    assert ledger.reopen_papers_by_outcome("failed") == 1
    assert ledger.list_attempts(1) == []
    ledger.record_attempts(1, [Attempt("publisher", "captcha")])
    assert [attempt.outcome for attempt in ledger.list_attempts(1)] == ["captcha"]


# -- duplicates ------------------------------------------------------------------------------


def test_two_names_turn_out_to_be_one_paper(ledger: Ledger) -> None:
    both = paper(pmid="1", doi="10.1000/b")
    assert ledger.store_paper_record(1, both) is None
    assert ledger.store_paper_record(2, both) == 1
    assert ledger.list_pending_papers() == [1, 3]
    assert [row.number for row in ledger.read_outcomes()] == [1, 3]
    job = ledger.read_job()
    assert (job.counts.requested, job.duplicates) == (2, 1)


def test_to_know_the_same_again_makes_no_duplicate_of_itself(ledger: Ledger) -> None:
    assert ledger.store_paper_record(1, paper(pmid="1")) is None
    assert ledger.store_paper_record(1, paper(pmid="1", doi="10.1000/a")) is None
    assert ledger.get_paper_record(1) == paper(pmid="1", doi="10.1000/a")
    assert ledger.get_paper_record(2) is None


def test_papers_that_contradict_each_other_are_kept_apart(ledger: Ledger) -> None:
    assert ledger.store_paper_record(1, paper(pmid="1", doi="10.1000/a")) is None
    assert ledger.store_paper_record(2, paper(pmid="1", doi="10.1000/b")) is None
    assert ledger.list_pending_papers() == [1, 2, 3]


# -- once more -------------------------------------------------------------------------------


@pytest.fixture
def over(ledger: Ledger) -> Ledger:
    """A full text, an abstract behind a paywall that met a captcha first, and a failure."""
    ledger.store_paper_record(1, paper(pmid="1"))
    ledger.record_paper_result(1, stored(paper(pmid="1")), "c" * 64, "", "")
    ledger.store_paper_record(2, paper(doi="10.1000/b"))
    ledger.record_attempts(2, [Attempt("publisher", "captcha"), Attempt("jina", "paywall")])
    ledger.record_paper_result(
        2, stored(paper(doi="10.1000/b"), "abstract"), "d" * 64, "paywall", "For sale."
    )
    ledger.record_failure(3, "no_identifier", "It has none.")
    ledger.record_job_end()
    return ledger


@pytest.mark.parametrize(
    ("which", "opened"),
    [
        ("failed", [3]),
        ("abstract", [2]),
        ("paywall", [2]),
        ("captcha", [2]),
        ("no_identifier", [3]),
        ("full_text", []),
        ("saved", []),
        ("nonsense", []),
    ],
)
def test_what_is_opened_again(over: Ledger, which: str, opened: list[int]) -> None:
    assert over.reopen_papers_by_outcome(which) == len(opened)
    assert over.list_pending_papers() == opened
    assert bool(over.read_job().ended_at) == (not opened)


def test_an_opened_paper_has_no_end_any_more(over: Ledger) -> None:
    over.reopen_papers_by_outcome("abstract")
    row = list(over.read_outcomes())[1]
    assert (row.state, row.file, row.sha256, row.reason, row.ended_at) == ("pending", *[""] * 4)
    over.record_failure(2, "could_not_tell", "PubMed is down.")
    assert list(over.read_outcomes())[1].file == ""


def test_a_paper_opened_again_is_no_duplicate_of_itself(over: Ledger) -> None:
    over.reopen_papers_by_outcome("abstract")
    assert over.store_paper_record(2, paper(doi="10.1000/b", pmid="2")) is None


# -- new hits --------------------------------------------------------------------------------


def test_only_what_is_new_is_added(over: Ledger) -> None:
    over.add_search_hits([("PMID 1", Ids(pmid="1")), ("PMID 9", Ids(pmid="9"))], hits=4)
    assert over.list_pending_papers() == [4]
    job = over.read_job()
    assert (job.counts.requested, job.hits, job.duplicates, job.ended_at) == (4, 4, 0, "")


def test_what_is_known_by_another_name_is_not_new(ledger: Ledger) -> None:
    ledger.store_paper_record(2, paper(doi="10.1000/b", pmid="2"))
    ledger.add_search_hits([("PMID 2", Ids(pmid="2"))], hits=3)
    assert ledger.list_pending_papers() == [1, 2, 3]


def test_nothing_new_leaves_the_job_ended(over: Ledger) -> None:
    over.add_search_hits([("PMID 1", Ids(pmid="1"))], hits=3)
    assert over.read_job().ended_at


# -- several processes -----------------------------------------------------------------------


def test_one_works_and_others_are_refused_with_a_sentence(ledger: Ledger, path: Path) -> None:
    assert not ledger.is_running()
    with ledger.exclusive_lock(), closing(Ledger(path)) as other:
        assert other.is_running()
        with (
            pytest.raises(InUse, match="cells-1a2b3c4d is running") as refused,
            other.exclusive_lock(),
        ):
            pytest.fail("two work on one job")
        assert "status" in refused.value.hint
    assert not ledger.is_running()
    with ledger.exclusive_lock():
        pass


def test_another_process_is_noticed_and_its_death_too(ledger: Ledger, path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from utils.shelf.ledger import Ledger\n"
        "with Ledger(Path(sys.argv[1])).exclusive_lock():\n"
        "    print('here', flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", script, str(path)]
    with Process(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout
        assert holder.stdout.readline() == b"here\n"
        assert ledger.is_running()
        holder.kill()
        holder.wait()
    assert not ledger.is_running()


def test_others_read_along(ledger: Ledger, path: Path) -> None:
    with closing(Ledger(path)) as other:
        for number in (1, 2, 3):
            ledger.record_failure(number, "not_found", "Nobody knows it.")
            assert other.read_job().counts.failed == number


def test_rows_are_read_as_they_are_taken(path: Path) -> None:
    entries = [(str(n), Ids(pmid=str(n))) for n in range(1, 2001)]
    with closing(Ledger.create(path, Job("x", "x"), entries)) as ledger:
        rows = ledger.read_outcomes()
        assert next(rows).number == 1
        ledger.record_failure(2000, "not_found", "while somebody reads")
        assert sum(1 for _ in rows) == 1999


# -- damage ----------------------------------------------------------------------------------


def test_there_is_no_harvest_of_that_name(path: Path) -> None:
    with pytest.raises(NotFound, match="cells-1a2b3c4d"):
        Ledger(path)
    assert not path.exists()


@pytest.mark.parametrize("damage", [b"", b"no database " * 500])
def test_a_damaged_file_says_what_to_do(ledger: Ledger, path: Path, damage: bytes) -> None:
    ledger.close()
    path.write_bytes(damage)
    with pytest.raises(StoreFailed, match=path.name) as failure:
        Ledger(path)
    assert "same query or list again" in failure.value.hint


def test_a_ledger_that_another_process_holds_is_not_to_be_deleted(
    ledger: Ledger, path: Path
) -> None:
    ledger._db.execute("PRAGMA busy_timeout = 10")
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreFailed, match="locked") as failure:
            ledger.add_job_note("a remark")
    assert "wait" in failure.value.hint
    assert "delete" not in failure.value.hint
    ledger.add_job_note("a remark")


def test_another_version_is_not_read(ledger: Ledger, path: Path) -> None:
    ledger.close()
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA user_version = 99")
    with pytest.raises(StoreFailed, match="another version"):
        Ledger(path)
