"""A shelf of Markdown notes, or of notes and text files side by side."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from tests.shelf.papers import BODY, document, dump, fetched, index, paper, save
from utils.errors import StoreFailed
from utils.model.identifiers import Ids
from utils.model.paper import Notice, Paper
from utils.shelf import Shelf, strip_header
from utils.shelf.conversion import ADDED, EDITED, FOREIGN, TAKEN
from utils.system import bodies, safe_files

CITED = paper(doi="10.1000/cited", pmid="5")
CITES = paper(doi="10.1000/cites", pmid="6")
REFERENCES = """

## References

1. Doe J. On cells, and why they are counted. J Cells. 2013. doi: 10.1000/cited. PMID: 5
2. Roe J. A paper that this shelf does not have at all. 2012. doi: 10.1000/elsewhere
"""


@pytest.fixture
def vault(tmp_path: Path) -> Iterator[Shelf]:
    """Return a shelf that files Markdown notes."""
    with Shelf(tmp_path / "shelf", form="md") as made:
        yield made


def names(shelf: Shelf) -> list[str]:
    return sorted(path.name for path in shelf.folder.iterdir() if path.suffix in (".txt", ".md"))


def front_matter(path: Path) -> dict[str, object]:
    read = yaml.safe_load(path.read_text(encoding="utf-8").split("---\n", 2)[1])
    assert isinstance(read, dict)
    return read


def convert_all(shelf: Shelf, form: str) -> dict[str, str]:
    """Convert every text; return why texts kept their form."""
    files = shelf.verdicts.list_text_files("full_text", "abstract", "record", "rejected")
    told = {file: shelf.convert_text(file, form) for file in files if not file.endswith(form)}  # type: ignore[arg-type]
    for file in shelf.verdicts.list_text_files("full_text", "abstract", "record", "rejected"):
        shelf.refresh_note(file)
    return {file: reason for file, reason in told.items() if reason}


def test_a_note_reads_as_the_text_file_would(vault: Shelf, tmp_path: Path) -> None:
    with Shelf(tmp_path / "texts") as shelf:
        note, text = save(vault, CITED), save(shelf, CITED)
    assert [Path(stored.path).name for stored in (note, text)] == [
        "10.1000_cited.md",
        "10.1000_cited.txt",
    ]
    assert vault.read_text(note).replace(note.saved_at, "") == shelf.read_text(text).replace(
        text.saved_at, ""
    )
    assert note.sections == text.sections
    assert front_matter(Path(note.path))["doi"] == "10.1000/cited"


def test_text_files_are_as_they_were(shelf: Shelf) -> None:
    text = Path(save(shelf, CITED).path).read_text(encoding="utf-8")
    assert text.startswith("- Title: On cells\n- Authors: ")
    assert strip_header(text) == BODY.strip("\n") + "\n"


def test_an_abstract_becomes_a_note_and_gives_way_to_the_full_text(vault: Shelf) -> None:
    vault.save_abstract(CITED, ())
    assert names(vault) == ["pmid_5_abstract.md"]
    save(vault, CITED)
    assert names(vault) == ["10.1000_cited.md"]
    assert [row["file"] for row in index(vault.folder)] == ["10.1000_cited.md"]


def test_many_abstracts_are_filed_as_notes(vault: Shelf) -> None:
    vault.save_abstracts([paper(pmid=str(number)) for number in range(1, 5)])
    assert names(vault) == [f"pmid_{number}_abstract.md" for number in range(1, 5)]
    assert {stored.kind for stored in vault.list_papers()[1]} == {"abstract"}


def test_a_paper_keeps_the_form_of_its_file(shelf: Shelf, tmp_path: Path) -> None:
    save(shelf, CITED)
    with Shelf(shelf.folder, form="md") as vault:
        save(vault, CITED, BODY + "\nA better reading.\n")
        save(vault, CITES)
        assert names(vault) == ["10.1000_cited.txt", "10.1000_cites.md"]


@pytest.mark.parametrize("name", ["10.1000_cited", "10.1000_cited.md", "10.1000_cited.txt"])
def test_a_note_is_found_by_its_name_in_any_form(vault: Shelf, name: str) -> None:
    stored = save(vault, CITED)
    found = vault.find_paper_by_file(name)
    assert found is not None
    assert found.path == stored.path


def test_a_lost_catalogue_is_made_again_from_notes(vault: Shelf) -> None:
    save(vault, CITED)
    vault.save_abstract(CITES, ())
    before = dump(vault)
    vault.close()
    (vault.folder / ".papershelf/catalogue.db").unlink()
    with Shelf(vault.folder) as again:
        assert again.count_papers()["full_text"] == 1
        assert dump(again)["names"] == before["names"]


def test_notes_without_records_are_adopted_and_a_persons_own_are_left_alone(vault: Shelf) -> None:
    stored = save(vault, CITED)
    vault.close()
    (vault.folder / "Moss.md").write_text("---\ntags: [moss]\n---\n# Moss\n", encoding="utf-8")
    (vault.folder / "Plain.md").write_text("# Moss\n\nMy own thoughts.\n", encoding="utf-8")
    for part in ("catalogue.db", "records/10.1000_cited.json"):
        (vault.folder / ".papershelf" / part).unlink()
    with Shelf(vault.folder) as again:
        report = again.rebuild_catalogue()
        assert (report.full_text, report.adopted, report.ignored) == (1, 0, ())
        found = again.find_text(Ids(pmid="5"))
        assert found is not None
        assert found.path == stored.path
        assert (found.via, found.verdict) == ("pmc_cloud", "full_text")


def test_tags_and_notes_of_a_person_change_nothing_for_programs(vault: Shelf) -> None:
    stored = save(vault, CITED)
    path = Path(stored.path)
    edited = path.read_text(encoding="utf-8").replace("tags:\n", "status: read\ntags:\n  - moss\n")
    path.write_text(edited + "\nMy own thoughts.\n", encoding="utf-8")
    found = vault.find_text(Ids(pmid="5"))
    assert found is not None
    assert (found.sha256, found.evidence) == (stored.sha256, stored.evidence)
    retracted = vault.add_metadata(found, replace(CITED, notices=(Notice("retraction", pmid="9"),)))
    assert front_matter(path)["retracted"] is True
    assert front_matter(path)["status"] == "read"
    assert "moss" in front_matter(path)["tags"]  # type: ignore[operator]
    assert path.read_text(encoding="utf-8").endswith("My own thoughts.\n")
    assert vault.read_text(retracted).startswith("RETRACTED: ")


def test_front_matter_that_a_person_broke_costs_neither_text_nor_words(vault: Shelf) -> None:
    stored = save(vault, CITED)
    path = Path(stored.path)
    broken = path.read_text(encoding="utf-8").replace("kind:", "mine: [unclosed\nkind:")
    path.write_text(broken, encoding="utf-8")
    found = vault.find_text(Ids(pmid="5"))
    assert found is not None
    assert (found.kind, vault.read_text(found)) == ("full_text", vault.read_text(stored))
    assert vault.count_papers()["quarantined"] == 0


def test_a_text_changed_in_the_note_is_a_text_edited_by_hand(vault: Shelf) -> None:
    stored = save(vault, CITED)
    path = Path(stored.path)
    edited = path.read_text(encoding="utf-8").replace("On cells\n\n## M", "On cells!\n\n## M")
    path.write_text(edited, encoding="utf-8")
    found = vault.find_text(Ids(pmid="5"))
    assert found is not None
    assert found.sha256 != stored.sha256
    assert "# On cells!" in vault.read_text(found)


def test_a_note_that_was_cut_is_made_again(vault: Shelf) -> None:
    stored = vault.save_abstract(CITED, ())
    path = Path(stored.path)
    whole = path.read_bytes()
    path.write_bytes(whole[: whole.index(b"counted")])
    found = vault.find_text(Ids(pmid="5"))
    assert found is not None
    assert path.read_bytes() == whole


def test_a_copy_has_the_form_that_its_name_asks_for(vault: Shelf) -> None:
    stored = save(vault, CITED)
    assert vault.copy_text_to(stored, "copy.txt").read_text(encoding="utf-8") == vault.read_text(
        stored
    )
    assert vault.copy_text_to(stored, "copy.md").read_bytes() == Path(stored.path).read_bytes()


# -- links between papers --------------------------------------------------------------------


def test_notes_link_to_the_papers_on_the_shelf_that_they_cite(vault: Shelf) -> None:
    citing = save(vault, CITES, BODY + REFERENCES)
    assert "[[" not in Path(citing.path).read_text(encoding="utf-8")
    save(vault, CITED)
    assert vault.refresh_note("10.1000_cites.md") is True
    links = Path(citing.path).read_text(encoding="utf-8").partition("## Cites on this shelf\n")[2]
    assert links.strip().splitlines()[0] == "- [[10.1000_cited|Doe 2013: On cells]]"
    assert "elsewhere" not in links
    assert vault.refresh_note("10.1000_cites.md") is False
    found = vault.find_text(Ids(pmid="6"))
    assert found is not None
    assert found.sha256 == citing.sha256  # links are not part of the text


def test_a_link_to_a_text_file_is_an_ordinary_one(shelf: Shelf) -> None:
    save(shelf, CITED)
    with Shelf(shelf.folder, form="md") as vault:
        citing = save(vault, CITES, BODY + REFERENCES)
        note = Path(citing.path).read_text(encoding="utf-8")
        assert "- [Doe 2013: On cells](10.1000_cited.txt)\n" in note


def test_the_pdf_next_to_a_note_is_linked(vault: Shelf) -> None:
    stored = save(vault, CITED)
    Path(stored.path).with_suffix(".pdf").write_bytes(b"%PDF-1.4")
    assert vault.refresh_note("10.1000_cited.md") is True
    assert front_matter(Path(stored.path))["pdf"] == "[[10.1000_cited.pdf]]"
    total, [listed] = vault.list_papers(has_pdf=True)
    assert (total, listed.path) == (1, stored.path)


# -- conversion ------------------------------------------------------------------------------


def every_byte(shelf: Shelf) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in shelf.folder.glob("*.txt")}


def fill(shelf: Shelf) -> None:
    save(shelf, CITED)
    save(shelf, replace(CITES, notices=(Notice("retraction"),)), BODY + REFERENCES)
    shelf.save_abstract(paper(pmid="7"), ())
    shelf.save_abstract(Paper(Ids(pmid="8"), 'A "hostile": title\n---\n# \u202eevil'), ())


def test_there_and_back_gives_the_same_bytes(shelf: Shelf) -> None:
    fill(shelf)
    before, entries = every_byte(shelf), dump(shelf)
    raw = shelf.read_raw_answer(shelf.find_text(Ids(pmid="5")))  # type: ignore[arg-type]
    assert convert_all(shelf, "md") == {}
    assert [Path(name).suffix for name in names(shelf)] == [".md"] * 4
    assert "[[10.1000_cited|" in (shelf.folder / "10.1000_cites.md").read_text(encoding="utf-8")
    assert {row["file"] for row in index(shelf.folder)} == set(names(shelf))
    checksums = {row["sha256"] for row in index(shelf.folder)}
    assert checksums == {stored.sha256 for stored in shelf.list_papers()[1]}
    found = shelf.find_text(Ids(pmid="5"))
    assert found is not None
    assert shelf.read_raw_answer(found) == raw
    assert convert_all(shelf, "txt") == {}
    assert every_byte(shelf) == before
    again = dump(shelf)
    assert again["names"] == entries["names"]
    assert [row[:4] for row in again["papers"]] == [row[:4] for row in entries["papers"]]
    assert [row[9] for row in again["papers"]] == [row[9] for row in entries["papers"]]


def test_pdfs_and_figures_stay_with_a_converted_text(shelf: Shelf) -> None:
    stored = save(shelf, CITED)
    pdf = Path(stored.path).with_suffix(".pdf")
    pdf.write_bytes(b"%PDF-1.4")
    figures = Path(stored.path).with_suffix(".files")
    figures.mkdir()
    (figures / "a.png").write_bytes(b"png")
    convert_all(shelf, "md")
    found = shelf.find_text(Ids(pmid="5"))
    assert found is not None
    kept = shelf.pdfs.find_pdf(found)
    assert kept is not None
    assert kept.path.read_bytes() == b"%PDF-1.4"
    assert (figures / "a.png").is_file()
    assert front_matter(Path(found.path))["pdf"] == "[[10.1000_cited.pdf]]"


def test_what_would_not_come_back_keeps_its_form_and_says_why(shelf: Shelf) -> None:
    edited = Path(save(shelf, CITED).path)
    header = edited.read_text(encoding="utf-8").replace("- Journal", "- Mine: x\n- Journal")
    edited.write_text(header, encoding="utf-8")
    (shelf.folder / "pmid_9.txt").write_text(BODY.replace("cells", "moss"), encoding="utf-8")
    shelf.rebuild_catalogue()
    taken = Path(save(shelf, CITES).path)
    taken.with_suffix(".md").write_text("My own thoughts.", encoding="utf-8")
    before = every_byte(shelf)
    assert convert_all(shelf, "md") == {
        "10.1000_cited.txt": EDITED,
        "10.1000_cites.txt": TAKEN,
        "pmid_9.txt": FOREIGN,
    }
    assert every_byte(shelf) == before
    assert taken.with_suffix(".md").read_text(encoding="utf-8") == "My own thoughts."


def test_a_note_with_a_persons_words_is_not_turned_into_a_text_file(vault: Shelf) -> None:
    path = Path(save(vault, CITED).path)
    path.write_text(path.read_text(encoding="utf-8") + "My own thoughts.\n", encoding="utf-8")
    assert convert_all(vault, "txt") == {"10.1000_cited.md": ADDED}
    assert "My own thoughts." in path.read_text(encoding="utf-8")


def test_a_dry_run_writes_nothing(shelf: Shelf) -> None:
    fill(shelf)
    before = every_byte(shelf)
    assert shelf.convert_text("10.1000_cited.txt", "md", dry_run=True) == ""
    assert (every_byte(shelf), len(names(shelf))) == (before, 4)


def test_a_full_disk_stops_a_conversion_and_loses_nothing(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(shelf)
    before = every_byte(shelf)

    def refuse(path: Path, data: bytes) -> None:
        if path.suffix == ".md":
            raise StoreFailed("The disk is full.")
        write(path, data)

    write = safe_files.write_file
    with monkeypatch.context() as full:
        full.setattr(safe_files, "write_file", refuse)
        with pytest.raises(StoreFailed):
            shelf.convert_text("10.1000_cited.txt", "md")
    assert every_byte(shelf) == before
    found = shelf.find_text(Ids(pmid="5"))
    assert found is not None
    assert shelf.read_raw_answer(found) is not None
    assert convert_all(shelf, "md") == {}


def test_a_note_exchanged_for_a_text_file_by_hand_keeps_its_record(shelf: Shelf) -> None:
    path = Path(save(shelf, CITED).path)
    text = path.read_bytes()
    convert_all(shelf, "md")
    path.with_suffix(".md").unlink()
    path.write_bytes(text)
    shelf.rebuild_catalogue()
    found = shelf.find_text(Ids(pmid="5"))
    assert found is not None
    assert (found.path, found.via) == (str(path), "pmc_cloud")
    assert shelf.read_raw_answer(found) is not None


# -- PDFs of parts ---------------------------------------------------------------------------


@pytest.mark.parametrize("media", ["jats", "pdf"])
def test_the_pdf_of_a_part_is_set_aside_when_a_whole_text_replaces_it(
    tmp_path: Path, media: str
) -> None:
    part, whole = b"%PDF-1.4 first page", b"%PDF-1.4 whole"
    with Shelf(tmp_path / "shelf", keep_pdfs=True) as shelf:
        old = shelf.save_full_text(
            *(CITED, document(verdict="partial"), fetched(part, media="pdf")),
            source="DOI",
            attempts=(),
        )
        pdf = Path(old.path).with_suffix(".pdf")
        assert pdf.read_bytes() == part
        new = shelf.save_full_text(
            *(CITED, document(), fetched(whole, media=media)), source="DOI", attempts=()
        )
        assert (new.path, new.verdict) == (old.path, "full_text")
        assert (pdf.read_bytes() if pdf.exists() else None) == (whole if media == "pdf" else None)
        quarantined = shelf.folder / ".papershelf" / "quarantine"
        assert shelf.count_papers()["quarantined"] == 1
        assert any(
            b"first page" in bodies.unpack_body(path.read_bytes())
            for path in quarantined.rglob("*.pdf*")
        )


def test_a_persons_own_pdf_stays_when_a_whole_text_replaces_a_part(tmp_path: Path) -> None:
    with Shelf(tmp_path / "shelf", keep_pdfs=True) as shelf:
        got = fetched(b"%PDF-1.4 first page", media="pdf")
        old = shelf.save_full_text(
            CITED, document(verdict="partial"), got, source="DOI", attempts=()
        )
        pdf = Path(old.path).with_suffix(".pdf")
        pdf.unlink()
        pdf.write_bytes(b"%PDF-1.4 mine")
        save(shelf, CITED)
        assert pdf.read_bytes() == b"%PDF-1.4 mine"
        assert shelf.count_papers()["quarantined"] == 0
