"""A corpus built again from its lock, and what came out otherwise."""

import csv
import json
from dataclasses import replace

import pytest

from utils import Library
from utils.errors import BadRequest
from utils.harvest.corpus_lock import compare_with_lock, open_lock_job
from utils.harvest.jobs import Harvest
from utils.reports import CorpusLock, read_lock

BRANCHES = ("pmc_cloud", "publisher_html", "unpaywall_pdf", "paywall")


def harvested(library, ledger):
    harvest = Harvest(ledger, library.ladder)
    list(harvest)
    return harvest


@pytest.fixture
def lock(library, world):
    """The lock of a corpus of four papers, of one of which there is only the abstract."""
    harvest = library.harvest([world.paper(b).pmid for b in BRANCHES], title="Mine")
    list(harvest)
    return read_lock(harvest.folder / "papers.lock.json")


@pytest.fixture
def elsewhere(settings, tmp_path):
    library = Library(**{**settings, "papers_dir": tmp_path / "elsewhere"})
    yield library
    library.shelf.close()


def rebuilt(library, lock):
    return compare_with_lock(lock, harvested(library, open_lock_job(lock, library.ladder)))


def rows_in(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_the_same_world_gives_the_same_corpus(elsewhere, lock):
    made = rebuilt(elsewhere, lock)
    assert not made.differences
    assert made.differences.same == 4
    assert rows_in(made.table) == []
    assert made.sentences == ("4 papers are unchanged.", "1 is still without full text.")
    summary = made.table.with_name("differences.txt").read_text(encoding="utf-8")
    assert summary.splitlines() == list(made.sentences)


def test_the_same_lock_is_the_same_job(elsewhere, lock):
    first, second = (open_lock_job(lock, elsewhere.ladder) for _ in range(2))
    assert first.path == second.path
    assert lock.made_at[:10] in first.read_job().title


def test_what_came_otherwise_is_listed_with_its_reason(elsewhere, lock, world, monkeypatch):
    was = {branch: world.paper(branch) for branch in BRANCHES}
    names = world.corpus.by_pmid
    notice = ("RetractionIn", "J Tests. 2026;1:2", "41999999")
    retracted = replace(
        was["pmc_cloud"], notices=(notice,), types=("Journal Article", "Retracted Publication")
    )
    monkeypatch.setitem(names, retracted.pmid, retracted)
    monkeypatch.delitem(names, was["unpaywall_pdf"].pmid)  # and its DOI leads nowhere
    monkeypatch.delitem(world.corpus.by_doi, was["unpaywall_pdf"].doi.lower())
    monkeypatch.setitem(
        world.corpus.by_doi,
        was["publisher_html"].doi.lower(),
        replace(was["publisher_html"], unpaywall="pdf", page="paywall"),
    )

    made = rebuilt(elsewhere, lock)

    told = {(row["change"], row["pmid"]): row for row in rows_in(made.table)}
    assert set(told) == {
        ("retracted", was["pmc_cloud"].pmid),
        ("gone", was["unpaywall_pdf"].pmid),
        ("changed", was["publisher_html"].pmid),
    }
    assert "J Tests" in told["retracted", was["pmc_cloud"].pmid]["why"]
    changed = told["changed", was["publisher_html"].pmid]
    assert changed["why"] == "another version: published then, accepted now"
    assert (changed["version_then"], changed["version_now"]) == ("published", "accepted")
    assert changed["sha256_then"] != changed["sha256_now"]
    assert (elsewhere.settings.papers_dir / changed["file"]).exists()
    assert "does not exist in" in told["gone", was["unpaywall_pdf"].pmid]["why"]
    text = " ".join(made.sentences)
    assert "retracted since" in text
    assert "no longer there" in text
    assert "1 text differs – another version" in text


def test_a_text_lost_and_a_text_gained_say_why(elsewhere, lock, world, monkeypatch):
    shut, open_ = world.paper("publisher_html"), world.paper("paywall")
    monkeypatch.setitem(world.corpus.by_doi, shut.doi.lower(), replace(shut, page="paywall"))
    monkeypatch.setitem(world.corpus.by_doi, open_.doi.lower(), replace(open_, unpaywall="pdf"))
    made = rebuilt(elsewhere, lock)
    told = {row["change"]: row for row in rows_in(made.table)}
    assert set(told) == {"lost", "gained"}
    assert "sells" in told["lost"]["why"]
    assert (told["lost"]["kind_then"], told["lost"]["kind_now"]) == ("full_text", "abstract")
    assert told["gained"]["why"] == "by unpaywall"
    assert made.still_abstract == 0


@pytest.mark.parametrize(
    ("made_by", "via", "why"),
    [
        ("Papershelf 0.0.1", "pmc_cloud", "another reader (Papershelf 0.0.1 then)"),
        ("", "pmc_cloud", "a changed text at the source"),
        ("", "", "not known"),
    ],
)
def test_why_a_text_changed_is_said_as_far_as_it_is_known(elsewhere, lock, made_by, via, why):
    [first] = [was for was in lock.papers if was.via == "pmc_cloud"]
    other = replace(first, sha256="0" * 64, via=via)
    papers = tuple(other if was is first else was for was in lock.papers)
    made = rebuilt(elsewhere, replace(lock, papers=papers, made_by=made_by))
    [row] = rows_in(made.table)
    assert row["change"] == "changed"
    assert row["why"].startswith(why)


def test_a_lock_of_an_older_version_is_read_without_its_reasons(library, world, lock, tmp_path):
    [path] = (library.settings.papers_dir / "reports").glob("*/papers.lock.json")
    made = json.loads(path.read_text(encoding="utf-8"))
    assert made["made_by"].startswith("Papershelf ")
    assert {paper["via"] for paper in made["papers"]} >= {"pmc_cloud", "publisher"}
    del made["made_by"]
    for paper in made["papers"]:
        paper["via"] = "\x1b[2J"
    old = tmp_path / "old.json"
    old.write_text(json.dumps(made), encoding="utf-8")
    assert {was.via for was in read_lock(old).papers} == {""}
    assert read_lock(old).made_by == ""


def test_a_lock_without_papers_is_no_harvest(library):
    with pytest.raises(BadRequest):
        open_lock_job(CorpusLock("q", "q", "2026-01-01", ()), library.ladder)
