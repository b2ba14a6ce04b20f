"""Duplicates that people find: answers about pairs, PRISMA's numbers, tables out and in."""

import csv
import json
import os
import signal
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tests.processes import Process
from utils import Library
from utils.cli import main
from utils.errors import BadRequest, UnknownName
from utils.lists.pasted import ListEntry
from utils.model.identifiers import Ids
from utils.model.job import JobSearch
from utils.model.paper import Author, Paper
from utils.review.ledger import PairAnswer, SearchRun
from utils.review.standing import find_duplicates_by_hand

TITLE = "Sphagnum moss stores water in peat bogs"


@pytest.fixture
def library(tmp_path):
    with Library(papers_dir=tmp_path / "papers", papers_offline=True) as made:
        yield made


@pytest.fixture
def review(library):
    """A review of three records of one title and one other; the search had found ten."""
    made = library.reviews.create("moss")
    named = [Ids(pmid="1"), Ids(doi="10.1000/a"), Ids(arxiv="2001.00001"), Ids(pmid="9")]
    entries = [
        (
            ListEntry(str(ids), ids),
            Paper(
                ids,
                title="Traffic noise and the sleep of drivers" if ids.pmid == "9" else TITLE,
                authors=(Author("Doe", "Jane"),),
                published="2020",
            ),
        )
        for ids in named
    ]
    with made.ledger.record_event("update", {}) as writer:
        writer.add_records("databases", entries)
        search = JobSearch("pubmed", "PubMed", "moss", hits=10, taken=10)
        writer.add_searches([SearchRun("databases", "database", search)])
    return made


@pytest.fixture
def keys(review):
    return [one.key for one in review.ledger.list_records()]


def pairs(review):
    return {
        frozenset((one.first.record.key, one.second.record.key)) for one in review.find_duplicates()
    }


def outcomes(review):
    return [one.first for one in review.standings()]


def read_table(review, name="duplicates.csv"):
    review.report()
    with (review.folder / name).open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_a_duplicate_counts_as_removed_and_not_as_screened_or_excluded(review, keys):
    for key in keys:
        for screener in ("ann", "bob"):
            review.record_decision(key, screener, "include", stage="title_abstract")
    review.record_decision(keys[1], "ann", "include", stage="full_text")
    before = review.numbers()
    assert (before.duplicates, before.records_screened) == (6, 4)
    review.decide_pair(keys[1], keys[0], "duplicate")
    after = review.numbers()
    assert (after.duplicates, after.records_screened, after.records_excluded) == (7, 3, 0)
    assert (after.dbr_sought_reports, after.dbr_assessed) == (3, None)
    assert outcomes(review) == ["include", "duplicate", "include", "include"]
    review.report()
    assert "Duplicate records removed (n = 7)" in (review.folder / "prisma.svg").read_text("utf-8")
    appendix = (review.folder / "prisma-s.md").read_text("utf-8")
    assert "7 duplicates were removed" in appendix
    assert "1 were found by people" in appendix


def test_a_duplicate_is_neither_screened_nor_exported_nor_harvested(review, keys):
    review.decide_pair(keys[1], keys[0], "duplicate")
    [path] = review.export("rayyan")
    assert keys[1] not in path.read_text("utf-8")
    assert keys[0] in path.read_text("utf-8")
    assert [row.asked for row in review.texts()] == ["PMID 1", "arXiv:2001.00001", "PMID 9"]
    with closing(review.harvest(with_excluded=True).ledger) as ledger:
        assert len(asked := [row.asked for row in ledger.read_outcomes()]) == 3
        assert "10.1000/a" not in str(asked)
    assert review.status()["title_abstract"] == {"undecided": 3, "duplicate": 1}


def test_an_answered_pair_is_not_shown_again_and_the_third_record_is(review, keys):
    assert len(pairs(review)) == 3
    review.decide_pair(keys[1], keys[0], "not_duplicate")
    assert frozenset(keys[:2]) not in pairs(review)
    assert any(keys[2] in pair for pair in pairs(review))
    review.decide_pair(keys[2], keys[0], "not_duplicate")
    review.decide_pair(keys[2], keys[1], "not_duplicate")
    assert pairs(review) == set()
    assert outcomes(review) == ["undecided"] * 4


def test_the_latest_answer_about_a_pair_counts(review, keys):
    review.decide_pair(keys[0], keys[1], "duplicate", screener="ann")
    review.decide_pair(keys[1], keys[0], "duplicate", screener="bob")
    assert outcomes(review)[:2] == ["undecided", "duplicate"]
    review.decide_pair(keys[0], keys[1], "not_duplicate", screener="ann")
    assert outcomes(review)[:2] == ["undecided", "undecided"]
    answers = [one.detail["by"] for one in review.events() if one.what == "decisions"]
    assert answers == [{"ann": 1}, {"bob": 1}, {"ann": 1}]  # nothing was deleted


@pytest.mark.parametrize("choice", ["duplicate", "not_duplicate"])
def test_an_answer_given_twice_is_recorded_once(review, keys, choice):
    review.decide_pair(keys[1], keys[0], choice)
    events = len(review.events())
    review.decide_pair(keys[1], keys[0], choice, screener="ann")
    if choice == "not_duplicate":
        review.decide_pair(keys[0], keys[1], choice)
    assert len(review.events()) == events


def test_a_decision_given_twice_is_recorded_once(review, keys):
    for _ in range(2):
        review.record_decision(keys[0], "ann", "include", stage="title_abstract")
    assert [one.what for one in review.events()] == ["new", "update", "decisions"]


def test_the_last_record_of_a_paper_is_never_removed(review, keys):
    a, b, c, _ = keys
    review.decide_pair(a, b, "duplicate")
    review.decide_pair(b, c, "duplicate")
    assert [one.duplicate_of for one in review.standings()] == [c, c, "", ""]
    with pytest.raises(BadRequest, match="itself removed"):
        review.decide_pair(c, a, "duplicate")
    circle = [PairAnswer(*pair, "duplicate", "x") for pair in ((a, b), (b, c), (c, a))]
    assert find_duplicates_by_hand(set(keys), circle) == {a: c, b: c}


@pytest.mark.parametrize(
    ("key", "other", "choice", "error"),
    [
        (0, 0, "duplicate", BadRequest),
        (0, 1, "same", BadRequest),
        (0, 1, "exclude", BadRequest),
        ("ps-000000000000", 0, "duplicate", UnknownName),
        (0, "ps-000000000000", "duplicate", UnknownName),
        (0, "' OR 1=1", "not_duplicate", UnknownName),
    ],
)
def test_an_answer_that_cannot_be_is_refused(review, keys, key, other, choice, error):
    named = [keys[one] if isinstance(one, int) else one for one in (key, other)]
    with pytest.raises(error):
        review.decide_pair(*named, choice)
    assert review.ledger.list_pair_answers() == []


def test_exclusions_as_duplicates_of_earlier_ledgers_count_and_can_be_changed(review, keys):
    reason = f"duplicate of {keys[0]}"
    review.record_decision(keys[1], "consensus", "exclude", stage="title_abstract", reason=reason)
    assert outcomes(review)[1] == "duplicate"
    assert review.numbers().duplicates == 7
    review.decide_pair(keys[1], keys[0], "not_duplicate")
    assert outcomes(review)[1] == "undecided"
    assert review.numbers().duplicates == 6
    unknown = "duplicate of ps-000000000000"
    review.record_decision(keys[2], "consensus", "exclude", stage="title_abstract", reason=unknown)
    assert outcomes(review)[2] == "exclude"


def test_the_table_of_pairs_is_read_again(review, keys, library):
    review.decide_pair(keys[1], keys[0], "duplicate", screener="ann")
    rows = read_table(review)
    assert [(row["papershelf_key"], row["duplicate_of"], row["decision"]) for row in rows] == [
        (keys[2], keys[0], ""),
        (keys[1], keys[0], "duplicate"),
    ]
    text = (review.folder / "duplicates.csv").read_text("utf-8")
    twin = library.reviews.create("twin")
    records = [
        (ListEntry(one.asked, one.paper.ids), one.paper) for one in review.ledger.list_records()
    ]
    with twin.ledger.record_event("update", {}) as writer:
        writer.add_records("databases", records)
    done = twin.read_decisions(text.encode(), "duplicates.csv")
    assert (done.rows, done.decisions, done.unmatched) == (2, 1, ())
    assert twin.ledger.list_pair_answers() == review.ledger.list_pair_answers()
    lines = text.splitlines()
    lines[1] += "Not a duplicate"
    twin.read_decisions("\n".join(lines).encode(), "duplicates.csv")
    assert {one.choice for one in twin.ledger.list_pair_answers()} == {"duplicate", "not_duplicate"}
    assert twin.find_duplicates() == []


def test_a_row_without_a_second_record_is_reported(review, keys):
    table = "papershelf_key,title,duplicate_of,decision\n"
    table += f"{keys[1]},x,{keys[0]},duplicate\n{keys[2]},x,ps-000000000000,duplicate\n"
    table += f"{keys[3]},x,{keys[3]},not_duplicate\n"
    done = review.read_decisions(table.encode(), "pairs.csv")
    assert done.rows == 1
    assert ["duplicate_of" in why for _, _, why in done.unmatched] == [True, True]


def test_records_that_are_not_duplicates_stay_two_records(review, keys):
    """A row of a program that lost the key is given to the one record that it can be."""
    review.decide_pair(keys[2], keys[0], "duplicate")
    review.decide_pair(keys[1], keys[0], "not_duplicate")
    table = f"doi,title,decision\n10.1000/a,{TITLE},include\n"
    review.read_decisions(table.encode(), "a.csv")
    assert [*review.ledger.list_decisions()] == [keys[1]]
    assert review.numbers().duplicates == 7


def test_pairs_are_listed_and_decided_in_the_shell(review, keys, library, monkeypatch, capsys):
    monkeypatch.setenv("PAPERS_DIR", str(library.shelf.folder))

    def shell(*words):
        status = main(["review", *words])
        return status, *capsys.readouterr()

    status, out, err = shell("status", "moss", "--duplicates")
    assert (status, all(key in out for key in keys[:3])) == (0, True)
    assert "review import moss --not-duplicate KEY KEY" in err
    lines = shell("status", "--duplicates", "--json")[1].splitlines()
    assert {key for one in map(json.loads, lines) for key in one["keys"]} == set(keys[:3])
    options = ("--duplicate", keys[1], keys[0], "--not-duplicate", keys[2], keys[0])
    status, out, _ = shell("import", "moss", *options, "--screener", "ann")
    assert f"{keys[1]} is removed as the duplicate of {keys[0]}" in out
    assert [one.screener for one in review.ledger.list_pair_answers()] == ["ann", "ann"]
    assert shell("status", "moss", "--duplicates")[1] == ""
    assert "1 removed as duplicates" in shell("status", "moss")[1]
    for wrong in ((), ("--duplicate", keys[0], "ps-0"), ("--duplicate", keys[0], keys[0])):
        assert shell("import", "moss", *wrong)[0] == 2


_KILLED = """
import os, signal, sys
from utils import Library
review = Library(papers_dir=sys.argv[1], papers_offline=True).reviews.open("moss")
with review.ledger.record_event("decisions", {}) as writer:
    from utils.lists.decisions import Decision, ScreenedRecord
    from utils.model.identifiers import Ids
    from utils.model.paper import Paper
    row = Decision("ann", "duplicate", "duplicates", (sys.argv[3],))
    writer.add_decisions([(sys.argv[2], ScreenedRecord("", "", Paper(Ids()), decisions=(row,)))])
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="no SIGKILL")
def test_an_answer_that_was_killed_half_way_is_as_if_it_was_never_given(review, keys, library):
    folder = str(library.shelf.folder)
    root = str(Path(__file__).parents[2])
    process = Process([sys.executable, "-c", _KILLED, folder, keys[1], keys[0]], cwd=root)
    assert process.wait() == -signal.SIGKILL
    assert review.ledger.list_pair_answers() == []
    assert [one.what for one in review.events()] == ["new", "update"]
    review.decide_pair(keys[1], keys[0], "duplicate")
    assert outcomes(review)[1] == "duplicate"
