"""Killed while a text is converted or its PDF is put next to it: nothing is torn or lost."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.shelf.deaths import die_at_step
from tests.shelf.papers import assert_consistent, document, fetched, paper, save
from utils.model.identifiers import Ids
from utils.model.paper import StoredPaper
from utils.shelf import Shelf
from utils.shelf.conversion import Form

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]
ABOUT = paper(doi="10.1/a", pmid="7")
PDF = b"%PDF-1.4 " + bytes(range(256)) * 40


def die_in(folder: Path, monkeypatch: pytest.MonkeyPatch, at: int, do: Callable[[], object]) -> int:
    """Do something in a child that dies at the n-th step; return the child's exit status."""
    child = os.fork()
    if child == 0:
        die_at_step(monkeypatch, at)
        do()
        os._exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    for part in folder.rglob("*.part"):  # swept when old; the test cannot wait an hour
        part.unlink()
    return status


def find(shelf: Shelf) -> StoredPaper:
    found = shelf.find_text(Ids(pmid="7"))
    assert found is not None
    return found


def text_files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.suffix in (".txt", ".md"))


@pytest.mark.parametrize("form", ["md", "txt"])
@pytest.mark.parametrize("kind", ["full_text", "abstract"])
def test_killed_at_each_step_of_a_conversion(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: Form, kind: str
) -> None:
    for at in range(1, 60):
        folder = tmp_path / str(at)
        with Shelf(folder, form="txt" if form == "md" else "md") as shelf:
            save(shelf, paper(pmid="1"))
            stored = save(shelf, ABOUT) if kind == "full_text" else shelf.save_abstract(ABOUT, ())
            text = shelf.read_text(stored)
        file = Path(stored.path).name
        status = die_in(folder, monkeypatch, at, lambda: Shelf(folder).convert_text(file, form))  # noqa: B023
        with Shelf(folder) as shelf:
            found = find(shelf)
            assert shelf.read_text(found) == text
            assert (shelf.read_raw_answer(found) is not None) == (kind == "full_text")
            if not found.path.endswith(form):
                assert shelf.convert_text(Path(found.path).name, form) == ""
            assert_consistent(shelf)
            assert shelf.read_text(find(shelf)) == text
            assert len(text_files(folder)) == shelf.count_papers()["papers"] == 2
        if status == 0:
            assert at > 5  # the steps were really met
            return
    pytest.fail("never came to the end")


@pytest.mark.parametrize("form", ["txt", "md"])
@pytest.mark.parametrize("linked", [True, False])
def test_killed_at_each_step_of_a_pdf(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: Form, linked: bool
) -> None:
    got = fetched(PDF, media="pdf") if linked else fetched()
    for at in range(1, 60):
        folder = tmp_path / str(at)
        with Shelf(folder, form=form) as shelf:
            stored = shelf.save_full_text(ABOUT, document(), got, source="PMC", attempts=())

        def keep(shelf: Shelf, stored: StoredPaper = stored) -> None:
            if linked:
                shelf.store_source_pdf(stored)
            else:
                shelf.store_pdf(stored, fetched(PDF, media="pdf"))

        status = die_in(folder, monkeypatch, at, lambda: keep(Shelf(folder)))  # noqa: B023
        with Shelf(folder) as shelf:
            pdf = Path(stored.path).with_suffix(".pdf")
            assert not pdf.exists() or pdf.read_bytes() == PDF
            raw = shelf.read_raw_answer(find(shelf))
            assert raw is not None
            assert raw.fetched.body == got.body
            keep(shelf)
            assert pdf.read_bytes() == PDF
            assert "10.1_a.pdf" in Path(stored.path).read_text(encoding="utf-8") or form == "txt"
            assert_consistent(shelf)
        if status == 0:
            assert at > 1
            return
    pytest.fail("never came to the end")
