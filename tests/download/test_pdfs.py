"""The PDF next to a text: linked where the text was read from it, fetched where not."""

import gzip
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from tests.harvests import library_of
from utils.errors import StoreFailed
from utils.model.paper import Attempt
from utils.shelf import Shelf
from utils.system import safe_files


def download(library, world, branch):
    record = world.corpus.branch(branch)
    return library.download(f"PMID {record.pmid}" if record.pmid else record.arxiv).stored


def path_of(stored):
    return Path(stored.path).with_suffix(".pdf")


def test_a_text_read_from_a_pdf_has_that_pdf_next_to_it(library, world):
    stored = download(library, world, "unpaywall_pdf")
    pdf = library.shelf.pdfs.find_pdf(stored)
    assert pdf.path == path_of(stored)
    assert pdf.path.read_bytes() == library.shelf.read_raw_answer(stored).fetched.body
    assert pdf.via == "unpaywall"


@pytest.mark.skipif(os.name == "nt", reason="Windows cannot replace a read-only file")
def test_the_kept_bytes_and_the_pdf_are_one_file_that_cannot_be_written_to(library, world):
    status = path_of(download(library, world, "unpaywall_pdf")).stat()
    assert status.st_nlink > 1
    assert not status.st_mode & 0o222


def test_a_file_system_without_links_gets_a_copy(library, world, monkeypatch):
    def refuse(*_: object) -> None:
        raise PermissionError(1, "no links here")

    monkeypatch.setattr(os, "link", refuse)
    stored = download(library, world, "unpaywall_pdf")
    assert path_of(stored).read_bytes() == library.shelf.read_raw_answer(stored).fetched.body


def test_no_pdf_is_put_there_where_the_setting_says_no(world, tmp_path):
    with library_of(world, tmp_path, papers_keep_pdf=False) as library:
        stored = download(library, world, "unpaywall_pdf")
        assert not path_of(stored).exists()
        [outcome] = library.texts.fetch_pdfs([stored])
        assert outcome.pdf.path.is_file()  # asked for by name


@pytest.mark.parametrize(
    ("branch", "via"),
    [
        ("pmc_cloud", "pmc_cloud_pdf"),
        ("arxiv", "arxiv_pdf"),
        ("unpaywall_pdf", "unpaywall"),
        ("publisher_pdf", "publisher"),
    ],
)
def test_the_pdf_of_a_text_in_another_form_is_fetched_once(library, world, branch, via):
    stored = download(library, world, branch)
    for file in (library.shelf.folder / ".papershelf" / "raw").glob("*.pdf"):
        file.unlink()  # as if the text had come in another form
    path_of(stored).unlink(missing_ok=True)
    [outcome] = library.texts.fetch_pdfs([stored])
    assert outcome.is_new
    assert (outcome.pdf.via, outcome.pdf.path) == (via, path_of(stored))
    assert outcome.pdf.path.read_bytes().startswith(b"%PDF-")
    asked = len(world.requests)
    [again] = library.texts.fetch_pdfs([stored])
    assert (again.pdf, again.is_new) == (outcome.pdf, False)
    assert len(world.requests) == asked


def test_a_paper_without_a_pdf_says_why_and_is_not_asked_about_again(library, world):
    stored = download(library, world, "pmc_manuscript")
    [outcome] = library.texts.fetch_pdfs([stored])
    assert outcome.pdf is None
    assert "pmc_cloud_pdf" in {attempt.source for attempt in outcome.attempts}
    asked = len(world.requests)
    [again] = library.texts.fetch_pdfs([stored])
    assert again.pdf is None
    assert {one.source for one in again.attempts} == {one.source for one in outcome.attempts}
    assert len(world.requests) == asked


def test_the_pdf_of_another_paper_is_refused(library, world):
    stored = download(library, world, "pmc_cloud")
    other = world.corpus.branch("pmc_cloud_versions")
    pmcid = stored.paper.ids.pmcid
    world.cloud.edited[pmcid] = replace(other, pmcid=pmcid, pmid="", doi="")
    [outcome] = library.texts.fetch_pdfs([stored])
    assert outcome.pdf is None
    assert not path_of(stored).exists()


def test_a_file_that_a_person_put_there_or_changed_is_never_replaced(library, world):
    stored = download(library, world, "pmc_cloud")
    path_of(stored).write_bytes(b"%PDF-1.7 with my notes")
    [outcome] = library.texts.fetch_pdfs([stored])
    assert outcome.pdf.via == ""
    assert path_of(stored).read_bytes() == b"%PDF-1.7 with my notes"


def test_a_crash_after_the_facts_leaves_no_pdf_and_the_next_run_fetches_it(
    library, world, monkeypatch
):
    stored = download(library, world, "pmc_cloud")
    monkeypatch.setattr(safe_files, "write_file", break_at_a_pdf(safe_files.write_file))
    with pytest.raises(StoreFailed):
        list(library.texts.fetch_pdfs([stored]))
    monkeypatch.undo()
    assert not path_of(stored).exists()
    [outcome] = library.texts.fetch_pdfs([stored])
    assert outcome.is_new


def break_at_a_pdf(write):
    def write_or_fail(path, data):
        if path.suffix == ".pdf":
            raise StoreFailed("No space left on device.", "Free some space.")
        write(path, data)

    return write_or_fail


def test_facts_that_cannot_be_read_leave_the_pdf_usable(library, world):
    stored = download(library, world, "unpaywall_pdf")
    [facts] = (library.shelf.folder / ".papershelf" / "pdfs").iterdir()
    facts.write_text("{")
    assert library.shelf.pdfs.find_pdf(stored).path == path_of(stored)
    assert library.shelf.pdfs.read_attempts(stored) == ()


def test_kept_bytes_of_an_older_version_are_still_read(library, world):
    stored = download(library, world, "unpaywall_pdf")
    [kept] = (library.shelf.folder / ".papershelf" / "raw").glob("*.pdf")
    body = kept.read_bytes()
    kept.with_name(f"{kept.name}.gz").write_bytes(gzip.compress(body))
    kept.unlink()
    assert Shelf(library.shelf.folder).read_raw_answer(stored).fetched.body == body


def test_attempts_are_kept_with_their_moment(library, world):
    stored = download(library, world, "pmc_manuscript")
    attempt = Attempt("unpaywall", "not_available", "nothing there")
    library.shelf.pdfs.record_attempts(stored, [attempt])
    assert library.shelf.pdfs.read_attempts(stored) == (attempt,)


def test_each_route_that_was_asked_is_recorded(library, world):
    stored = download(library, world, "pmc_manuscript")
    [outcome] = library.texts.fetch_pdfs([stored])
    assert "publisher" in {attempt.source for attempt in outcome.attempts}


def test_two_callers_at_once_ask_once(library, world):
    stored = download(library, world, "pmc_cloud")
    with ThreadPoolExecutor(4) as pool:
        outcomes = [*pool.map(lambda _: next(library.texts.fetch_pdfs([stored])), range(4))]
    assert [outcome.is_new for outcome in outcomes].count(True) == 1
    assert sum(request.path.endswith(".pdf") for request in world.requests) == 1
