"""Files that an older program left: held against the papers' records as soon as somebody asks."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.shelf.papers import BODY, assert_consistent
from utils import Library
from utils.cli import main
from utils.shelf import strip_header
from utils.shelf.ledger import Ledger


@pytest.fixture
def older_text(settings, tmp_path):
    """What the older program saved of a paper: the reader service's page."""
    library = Library(**{**settings, "papers_dir": tmp_path / "elsewhere"})

    def text(about):
        body = strip_header(
            Path(library.download(about.pmid).file_path).read_text(encoding="utf-8")
        )
        head = f"Title: {about.plain_title}\n\nURL Source: https://e.org/x\n\n"
        return f"{head}Markdown Content:\n{body}"

    yield text
    library.shelf.close()


@pytest.fixture
def old(library, world):
    """Puts texts under the names of papers."""
    folder = library.settings.papers_dir
    folder.mkdir()

    def put(record, text, name=""):
        path = folder / (name or f"{record.doi.lower().replace('/', '_')}.txt")
        path.write_text(text, encoding="utf-8")
        return path

    return put


@pytest.fixture
def right_and_wrong(old, older_text, world):
    """A paper's own text, and another's under its name; both whole."""
    right, wrong = world.paper("pmc_cloud"), world.paper("publisher_html")
    found = {right: old(right, older_text(right)), wrong: old(wrong, BODY)}
    world.reset()
    return found


def test_by_their_names_alone_both_pass(library, right_and_wrong):
    assert {library.find(record.doi).kind for record in right_and_wrong} == {"full_text"}


def test_a_download_takes_no_file_for_a_paper_that_its_record_denies(
    library, world, right_and_wrong
):
    right, wrong = right_and_wrong
    before = {path: path.read_bytes() for path in right_and_wrong.values()}
    served = library.download(right.doi)
    assert (served.cached, served.stored.via) == (True, "adopted")
    assert served.stored.paper.journal
    other = library.download(wrong.doi)
    assert (other.cached, other.stored.kind) == (False, "full_text")
    assert other.file_path != str(right_and_wrong[wrong])
    assert {path: path.read_bytes() for path in before} == before
    asked = len(world.requests)
    assert library.download(right.doi).cached
    assert len(world.requests) == asked  # once is enough
    assert_consistent(library.shelf)


def test_a_harvest_counts_only_what_the_records_confirm(library, right_and_wrong):
    before = {path: path.read_bytes() for path in right_and_wrong.values()}
    harvest = library.harvest([record.doi for record in right_and_wrong])
    list(harvest)
    right, wrong = (library.find(record.doi) for record in right_and_wrong)
    assert harvest.job().counts.full_text == 2
    assert (right.via, right.path) == ("adopted", str(next(iter(before))))
    assert wrong.via != "adopted"
    assert all(row.paper.year for row in harvest.ledger.read_outcomes())
    assert {path: path.read_bytes() for path in before} == before
    assert_consistent(library.shelf)


def test_where_nobody_can_be_asked_a_file_is_taken_at_its_name(library, world, right_and_wrong):
    world.mood("down", "eutils")
    world.mood("down", "europepmc")
    world.mood("down", "crossref")
    for record, path in right_and_wrong.items():
        done = library.download(record.doi)
        assert (done.cached, done.file_path) == (True, str(path))


def test_offline_a_file_is_taken_at_its_name_and_nobody_is_asked(settings, world, right_and_wrong):
    library = Library(**settings, papers_offline=True)
    for record in right_and_wrong:
        assert library.download(record.doi).cached
    harvest = library.harvest([record.doi for record in right_and_wrong])
    list(harvest)
    assert harvest.job().counts.full_text == 2
    assert not world.requests


def test_a_paper_nobody_has_a_record_of_is_taken_at_its_name(library, old):
    path = library.settings.papers_dir / "10.9999_unheard.txt"
    path.write_text(BODY, encoding="utf-8")
    harvest = library.harvest(["10.9999/unheard"])
    list(harvest)
    assert harvest.job().counts.full_text == 1
    assert library.download("10.9999/unheard").file_path == str(path)


def test_a_recheck_brings_the_records_of_files_named_by_doi_and_an_audit_tells(
    library, right_and_wrong
):
    right, wrong = right_and_wrong
    found = [change.outcome for change in library.upkeep.recheck(crossref=False)]
    assert found.count("recorded") == 2
    assert "recorded" not in [change.outcome for change in library.upkeep.recheck(crossref=False)]
    told = {one.file_path: (one.outcome, one.now) for one in library.upkeep.audit(fix=True)}
    assert told[str(right_and_wrong[right])] == ("unchanged", "full_text")
    assert told[str(right_and_wrong[wrong])][0] == "changed"
    assert library.find(wrong.doi).kind == "rejected"


def test_an_old_abstract_is_asked_for_at_once_whatever_its_date(library, world, old):
    record = world.paper("pmc_cloud")
    text = (
        f"Title: {record.plain_title}\nAuthors: A B\nPMID: {record.pmid}\n\nAbstract:\n"
        f"{record.abstract}\n\nNote: Full text was not available for this paper.\n"
    )
    path = old(record, text, f"pmid_{record.pmid}_abstract.txt")
    assert library.find(record.pmid).kind == "abstract"
    harvest = library.harvest([record.pmid])
    list(harvest)
    assert harvest.job().counts.full_text == 1
    assert path.read_text(encoding="utf-8") == text


def test_an_old_abstract_of_a_closed_paper_is_not_asked_for_each_time(library, world, old):
    record = world.paper("paywall")
    text = (
        f"Title: {record.plain_title}\nAuthors: A B\nPMID: {record.pmid}\n\nAbstract:\n"
        f"{record.abstract}\n\nNote: Full text was not available for this paper.\n"
    )
    path = old(record, text, f"pmid_{record.pmid}_abstract.txt")
    done = library.download(record.pmid)
    assert (done.stored.kind, done.file_path) == ("abstract", str(path))
    asked = len(world.requests)
    assert library.download(record.pmid).stored.attempts == done.stored.attempts
    assert len(world.requests) == asked
    assert path.read_text(encoding="utf-8") == text


def test_an_audit_killed_before_it_told_the_harvests_is_made_good_by_the_next(library, world):
    record = world.paper("pmc_cloud")
    harvest = library.harvest([record.pmid], title="One")
    list(harvest)
    stored = library.find(record.pmid)
    library.shelf.verdicts.set_verdict(replace(stored, kind="rejected", verdict="paywall"))
    path = Path(stored.path)
    head, rule, _ = path.read_text(encoding="utf-8").partition("\n\n---\n\n")
    path.write_text(f"{head}{rule}# Gone\n\nPlease log in.\n", encoding="utf-8")
    library.find(record.pmid)
    assert Ledger(harvest.ledger.path).read_job().counts.full_text == 1
    [one] = library.upkeep.audit(fix=True)
    assert one.jobs == (harvest.job_id,)
    assert harvest.job().counts.pending == 1


def test_reading_a_rejected_file_says_what_it_is(
    library, old, world, settings, monkeypatch, capsys
):
    for name, value in settings.items():
        monkeypatch.setenv(name.upper(), str(value))
    record = world.paper("pmc_cloud")
    old(record, "Sign in to go on. " * 20)
    assert main(["read", record.doi]) == 0
    assert "rejected, " in capsys.readouterr().err
