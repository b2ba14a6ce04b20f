"""What lies beside a text goes where the text goes."""

from pathlib import Path

from tests.shelf.papers import assert_consistent, paper, save, texts
from utils.model.identifiers import Ids
from utils.model.paper import Fetched
from utils.shelf import Shelf
from utils.shelf.paper_file import get_objects_folder
from utils.shelf.pdf_files import get_pdf_path


def furnish(text: Path, name: str = "figure-1.png", data: bytes = b"picture") -> Path:
    """A folder of objects beside a text, with one file."""
    folder = get_objects_folder(text)
    folder.mkdir()
    (folder / name).write_bytes(data)
    return folder


def folders(shelf: Shelf) -> list[str]:
    return sorted(path.name for path in shelf.folder.glob("*.files"))


def abstract(shelf: Shelf, **ids: str) -> Path:
    return Path(shelf.save_abstract(paper(**ids), ()).path)


def test_objects_go_along_when_a_text_takes_the_place_of_another(shelf: Shelf) -> None:
    furnish(abstract(shelf, pmid="7"))
    save(shelf, paper(pmid="7"))
    assert texts(shelf) == ["pmid_7.txt"]
    assert folders(shelf) == ["pmid_7.files"]
    assert (shelf.folder / "pmid_7.files" / "figure-1.png").read_bytes() == b"picture"
    assert_consistent(shelf)


def test_the_pdf_goes_along_when_a_text_takes_the_place_of_another(shelf: Shelf) -> None:
    before = shelf.save_abstract(paper(pmid="7"), ())
    sent = Fetched(b"%PDF-1.7", "pdf", "https://a.test/7.pdf", "unpaywall", "unpaywall")
    shelf.pdfs.store_pdf(before, sent)
    after = save(shelf, paper(pmid="7"))
    assert get_pdf_path(after).read_bytes() == b"%PDF-1.7"
    assert shelf.pdfs.find_pdf(after).url == "https://a.test/7.pdf"
    assert not get_pdf_path(before).exists()
    assert_consistent(shelf)


def test_where_both_texts_have_objects_none_is_lost(shelf: Shelf) -> None:
    furnish(abstract(shelf, pmid="7"), data=b"one")
    furnish(Path(save(shelf, paper(pmcid="PMC8")).path), data=b"two")
    save(shelf, paper(doi="10.1/a", pmid="7", pmcid="PMC8"))
    assert folders(shelf) == ["pmcid_PMC8.files"]
    kept = {path.read_bytes() for path in shelf.folder.rglob("figure-1.png")}
    assert kept == {b"one", b"two"}


def test_objects_follow_a_text_renamed_by_hand(shelf: Shelf) -> None:
    before = Path(save(shelf, paper(doi="10.1/a")).path)
    furnish(before)
    before.rename(shelf.folder / "my favourite.txt")
    assert shelf.find_text(Ids(doi="10.1/a")) is None  # nobody knows the new name yet
    shelf.rebuild_catalogue()
    assert folders(shelf) == ["my favourite.files"]
    assert_consistent(shelf)


def test_objects_wait_for_a_text_deleted_by_hand(shelf: Shelf) -> None:
    text = Path(save(shelf, paper(doi="10.1/a")).path)
    folder = furnish(text)
    data = text.read_bytes()
    text.unlink()
    assert shelf.find_text(Ids(doi="10.1/a")) is None
    shelf.rebuild_catalogue()
    assert folder.is_dir()
    text.write_bytes(data)
    assert shelf.find_text(Ids(doi="10.1/a")) is not None
    assert folder.is_dir()
    assert_consistent(shelf)


def test_a_killed_writer_leaves_no_folder_behind(shelf: Shelf, monkeypatch) -> None:
    furnish(abstract(shelf, pmid="7"))
    monkeypatch.setattr(
        "utils.shelf.reconciliation.Reconciler.finish_announced_changes", lambda *_, **__: None
    )
    save(shelf, paper(pmid="7"))
    assert folders(shelf) == ["pmid_7_abstract.files"]
    monkeypatch.undo()
    with Shelf(shelf.folder) as again:
        assert again.find_text(Ids(pmid="7")) is not None
        again.rebuild_catalogue()
    assert folders(shelf) == ["pmid_7.files"]
