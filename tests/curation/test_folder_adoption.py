"""Folders of PDF files that are adopted: what is filed, what is not, and what is left as it was."""

import csv
import errno
import os
import signal
import sys
import textwrap
from pathlib import Path

import pytest

from tests.own_words import prose
from tests.processes import run
from tests.world.pdf import pdf_of, scan_of, write
from utils.curation import file_matching
from utils.curation.adoption_journal import AdoptionJournal, write_adoption_table
from utils.errors import BadRequest, StoreFailed
from utils.harvest.jobs import Ledgers
from utils.readers.pdf import ocr

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "library"
    made.mkdir()
    return made


def put(folder, name, body):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(body)
    return path


def adopted(library, folder, **options):
    return {one.file: one for one in library.upkeep.adopt(folder, **options)}


def states(library, folder, **options):
    return {name: one.state for name, one in adopted(library, folder, **options).items()}


def snapshot(folder):
    return {
        str(path.relative_to(folder)): (path.lstat().st_mtime_ns, path.lstat().st_mode)
        + ((path.read_bytes(),) if path.is_file() and not path.is_symlink() else ())
        for path in folder.rglob("*")
    }


def printed(title, authors, *rest):
    """Return a PDF with these lines at its beginning."""
    lines = [*textwrap.wrap(title, 80), "", authors, ""]
    return write([*lines, *(line for text in rest for line in [*textwrap.wrap(text, 92), ""])])


def test_a_library_is_filed_and_left_as_it_was(library, world, folder):
    record, other = world.paper("paywall"), world.paper("login")
    put(folder, "storage/ABCD1234/Roe - 2020 - Moss.pdf", pdf_of(record))
    put(folder, "storage/EFGH5678/other.pdf", pdf_of(other))
    before = snapshot(folder)

    done = adopted(library, folder)

    assert {one.state for one in done.values()} == {"filed"}
    stored = library.find(record.pmid)
    assert (stored.kind, stored.via) == ("full_text", "manual")
    assert library.shelf.read_raw_answer(stored).fetched.body == pdf_of(record)
    assert done["storage/ABCD1234/Roe - 2020 - Moss.pdf"].file_path == stored.path
    assert snapshot(folder) == before
    assert not (library.settings.papers_dir / "inbox").exists()


def test_a_dry_run_writes_nothing(library, world, folder):
    record = world.paper("paywall")
    put(folder, "a.pdf", pdf_of(record))
    put(folder, "copy.pdf", pdf_of(record))
    put(folder, "again.pdf", pdf_of(record) + b"\n% annotated\n")
    assert states(library, folder, dry_run=True) == {
        "a.pdf": "ready",
        "copy.pdf": "duplicate",
        "again.pdf": "duplicate",
    }
    assert library.list_papers()[0] == 0
    assert not list(library.settings.papers_dir.rglob("*.jsonl"))


def test_what_is_there_twice_is_filed_once(library, world, folder):
    record = world.paper("paywall")
    put(folder, "a.pdf", pdf_of(record))
    put(folder, "b.pdf", pdf_of(record))
    put(folder, "c.pdf", pdf_of(record) + b"\n% annotated\n")
    done = adopted(library, folder)
    assert sorted(one.state for one in done.values()) == ["duplicate", "duplicate", "filed"]
    # Two threads read: of two files with the same bytes, either may be first.
    assert done["c.pdf"].detail.endswith(("a.pdf.", "b.pdf."))
    assert library.list_papers()[0] == 1


def test_a_full_text_on_the_shelf_stays(library, world, folder):
    record = world.paper("pmc_cloud")
    before = library.download(record.pmid).stored
    put(folder, "a.pdf", pdf_of(record))
    assert states(library, folder) == {"a.pdf": "on_shelf"}
    assert library.find(record.pmid).sha256 == before.sha256
    assert library.shelf.pdfs.find_pdf(before).path.read_bytes() == pdf_of(record)


def test_files_seen_before_are_not_read_again(library, world, folder, monkeypatch):
    record = world.paper("paywall")
    put(folder, "a.pdf", pdf_of(record))
    put(folder, "notes.pdf", printed("Notes on nothing", "A. Roe", prose(300)))
    first = adopted(library, folder)

    def refuse(path):
        raise AssertionError(path)

    with monkeypatch.context() as unread:
        unread.setattr(file_matching, "read_unjudged_document", refuse)
        assert adopted(library, folder) == first
    put(folder, "notes.pdf", pdf_of(world.paper("login")))
    os.utime(folder / "notes.pdf", (1, 1))
    assert states(library, folder) == {"a.pdf": "filed", "notes.pdf": "filed"}


def test_a_paper_that_left_the_shelf_is_filed_again(library, world, folder):
    record = world.paper("paywall")
    put(folder, "a.pdf", pdf_of(record))
    [one] = adopted(library, folder).values()
    Path(one.file_path).unlink()
    library.upkeep.rebuild()
    assert library.list_papers()[0] == 0
    assert states(library, folder) == {"a.pdf": "filed"}
    assert library.list_papers()[0] == 1


def test_bad_files_are_named_with_their_reason(library, world, folder, monkeypatch):
    monkeypatch.setattr(ocr, "is_ocr_installed", lambda: False)
    record = world.paper("paywall")
    put(folder, "scan.pdf", scan_of(record))
    put(folder, "page.pdf", b"<!doctype html><html><body>Sign in</body></html>")
    put(folder, "noise.pdf", bytes(range(256)) * 40)
    put(folder, "cut.pdf", b"%PDF-1.7\nnothing follows")
    put(folder, "empty.pdf", b"")
    (folder / "link.pdf").symlink_to(folder / "scan.pdf")
    os.mkfifo(folder / "pipe.pdf")
    assert states(library, folder) == {
        "scan.pdf": "scanned",
        "page.pdf": "not_pdf",
        "noise.pdf": "not_pdf",
        "cut.pdf": "damaged",
        "empty.pdf": "not_pdf",
        "link.pdf": "unreadable",
        "pipe.pdf": "unreadable",
    }


def test_links_out_of_the_folder_and_hidden_folders_are_not_entered(library, world, folder):
    outside = folder.parent / "outside"
    put(outside, "a.pdf", pdf_of(world.paper("paywall")))
    (folder / "linked").symlink_to(outside)
    put(folder, ".trash/b.pdf", pdf_of(world.paper("login")))
    put(folder, ".c.pdf", pdf_of(world.paper("login")))
    assert states(library, folder) == {}


def test_a_first_page_that_cites_another_paper_does_not_make_it_that_paper(library, world, folder):
    cited = world.paper("paywall")
    text = printed(
        "Thoughts on the brewing of tea in winter",
        "Zoe Unknown",
        f"A comment on doi:{cited.doi}, https://doi.org/{cited.doi}, doi:{cited.doi}.",
        prose(900),
    )
    put(folder, "tea.pdf", text)
    [one] = adopted(library, folder).values()
    assert one.state in ("unknown", "not_paper"), one
    assert library.list_papers()[0] == 0


@pytest.mark.parametrize("head", ["Supplementary Information", "Supporting Information for"])
def test_a_supplement_that_names_the_paper_is_not_the_paper(library, world, folder, head):
    record = world.paper("paywall")
    people = ", ".join(f"{given} {family}" for family, given in record.authors)
    text = printed(
        head,
        "",
        record.plain_title,
        people,
        f"https://doi.org/{record.doi}",
        "Supplementary Methods",
        prose(900),
        "Supplementary Table 1. Counts.",
        prose(200, 900),
    )
    put(folder, "si.pdf", text)
    [one] = adopted(library, folder).values()
    assert one.state not in ("filed", "ready"), one
    assert library.list_papers()[0] == 0


def test_a_corrigendum_is_not_filed_as_the_paper_it_corrects(library, world, folder):
    record = world.paper("paywall")
    people = ", ".join(f"{given} {family}" for family, given in record.authors)
    text = printed(
        f"Corrigendum to: {record.plain_title}",
        people,
        f"https://doi.org/{record.doi}",
        prose(250),
    )
    put(folder, "corrigendum.pdf", text)
    [one] = adopted(library, folder).values()
    assert one.state not in ("filed", "ready"), one
    assert library.list_papers()[0] == 0


def test_a_volume_of_proceedings_is_not_one_of_its_papers(library, world, folder):
    records = [world.paper(name) for name in ("paywall", "login")]
    people = [", ".join(f"{g} {f}" for f, g in record.authors) for record in records]
    rest = [
        text
        for record, names in zip(records, people, strict=True)
        for text in (record.plain_title, names, f"doi:{record.doi}", prose(400))
    ]
    put(folder, "volume.pdf", printed("Proceedings of the Meeting on Moss", "Editors", *rest))
    [one] = adopted(library, folder).values()
    assert one.state not in ("filed", "ready"), one
    assert library.list_papers()[0] == 0


def test_a_site_that_does_not_answer_postpones_and_the_next_run_asks_again(library, world, folder):
    put(folder, "a.pdf", pdf_of(world.paper("paywall")))
    world.mood("down")
    assert states(library, folder) == {"a.pdf": "postponed"}
    world.calm()
    assert states(library, folder) == {"a.pdf": "filed"}


def test_without_look_ups_only_papers_on_the_shelf_are_known(library, world, folder):
    record, other = world.paper("paywall"), world.paper("login")
    library.harvest([record.pmid], title="known")
    list(library.harvest([record.pmid], title="known"))
    put(folder, "a.pdf", pdf_of(record))
    put(folder, "b.pdf", pdf_of(other))
    asked = len(world.requests)
    done = adopted(library, folder, lookup=False)
    assert {name: one.state for name, one in done.items()} == {"a.pdf": "filed", "b.pdf": "unknown"}
    assert "--no-lookup" in done["b.pdf"].detail
    assert len(world.requests) == asked
    assert states(library, folder) == {"a.pdf": "filed", "b.pdf": "filed"}


def test_a_title_finds_the_paper_of_a_file_without_identifiers(library, world, folder):
    record = world.paper("abstract_only")  # has no DOI that could be printed in it
    put(folder, "scan0001.pdf", pdf_of(record))
    [one] = adopted(library, folder).values()
    assert (one.state, one.paper) == ("filed", f"PMID {record.pmid}")


def test_a_person_says_which_paper_a_file_is(library, world, folder):
    record = world.paper("abstract_only")
    path = put(folder, "scan0001.pdf", pdf_of(record))
    [one] = adopted(library, path, paper=record.pmid).values()
    assert (one.file, one.state) == ("scan0001.pdf", "filed")
    with pytest.raises(BadRequest, match="--as"):
        library.upkeep.adopt(folder, paper=record.pmid)


def test_names_that_are_no_text_do_no_harm(library, world, folder):
    put(folder, os.fsdecode(b"\xff\x1b[2J/; rm -rf ~ \n.pdf"), pdf_of(world.paper("paywall")))
    [one] = adopted(library, folder).values()
    assert one.state == "filed"
    assert "\x1b" not in one.file
    one.file.encode()


def test_the_table_has_a_row_for_each_file(library, world, folder, tmp_path):
    put(folder, "=cmd.pdf", pdf_of(world.paper("paywall")))
    put(folder, "tea.pdf", printed("Thoughts on the brewing of tea", "Z. Unknown", prose(900)))
    table = tmp_path / "table.csv"
    write_adoption_table(table, library.upkeep.adopt(folder))
    rows = list(csv.DictReader(table.open(encoding="utf-8")))
    assert [row["state"] for row in rows] != []
    assert {row["file"].lstrip("'") for row in rows} == {"=cmd.pdf", "tea.pdf"}
    assert not any(row["file"].startswith("=") for row in rows)


@pytest.mark.parametrize("where", ["missing", "shelf"])
def test_a_folder_that_cannot_be_adopted_is_refused(library, world, folder, where):
    library.download(world.paper("pmc_cloud").pmid)
    path = folder / "missing" if where == "missing" else library.settings.papers_dir
    with pytest.raises(BadRequest):
        library.upkeep.adopt(path)


def reference(record, path):
    people = " and ".join(f"{family}, {given}" for family, given in record.authors)
    return (
        f"@article{{a, title={{{record.plain_title}}}, author={{{people}}}, "
        f"doi={{{record.doi}}}, year={{{record.year}}}, file={{:{path}:PDF}}}}"
    )


def test_a_reference_file_says_which_paper_a_file_is_without_a_look_up(library, world, folder):
    record = world.paper("paywall")
    put(folder, "storage/ABCD/x.pdf", pdf_of(record))
    put(folder, "library.bib", reference(record, "home/roe/storage/ABCD/x.pdf").encode())
    asked = len(world.requests)
    [one] = adopted(library, folder, lookup=False).values()
    assert (one.state, one.paper) == ("filed", f"doi:{record.doi.lower()}")
    assert len(world.requests) == asked


def test_a_copy_that_a_reference_file_names_is_filed_although_another_was_read_first(
    library, world, folder
):
    """The first one cannot be identified, and must not hide the one that can."""
    record = world.paper("paywall")
    put(folder, "a.pdf", pdf_of(record))
    put(folder, "b.pdf", pdf_of(record))
    put(folder, "library.bib", reference(record, "b.pdf").encode())
    adoption = library.upkeep.adopt(folder, lookup=False)
    unread = [adoption._read_file(path) for path in adoption.files]  # one after the other
    assert all(one.match for one in unread)
    assert adopted(library, folder, lookup=False)["b.pdf"].state == "filed"


def test_a_reference_file_that_attaches_the_wrong_file_is_not_believed(library, world, folder):
    record, other = world.paper("paywall"), world.paper("login")
    put(folder, "x.pdf", pdf_of(other))
    listing = put(folder.parent, "library.bib", reference(record, "x.pdf").encode())
    [one] = adopted(library, folder, references=[listing]).values()
    assert (one.state, one.paper) == ("filed", f"doi:{other.doi.lower()}")


def test_another_reference_file_has_undecided_files_read_again(library, world, folder):
    record = world.paper("paywall")
    put(folder, "x.pdf", pdf_of(record))
    assert states(library, folder, lookup=False) == {"x.pdf": "unknown"}
    listing = put(folder.parent, "library.bib", reference(record, "x.pdf").encode())
    found = states(library, folder, lookup=False, references=[listing])
    assert found == {"x.pdf": "filed"}


def test_a_damaged_reference_file_of_the_folder_is_named(library, world, folder):
    put(folder, "library.xml", b"<xml><records>")
    put(folder, "x.pdf", pdf_of(world.paper("paywall")))
    adoption = library.upkeep.adopt(folder)
    assert "library.xml was not used" in adoption.unread_references[0]
    assert [one.state for one in adoption] == ["filed"]
    with pytest.raises(BadRequest):
        library.upkeep.adopt(folder, references=[folder / "library.xml"])


@pytest.mark.parametrize("step", range(3))
def test_a_full_disk_stops_the_run_and_the_next_one_ends_it(
    library, world, folder, monkeypatch, step
):
    records = [world.paper(name) for name in ("paywall", "login")]
    for at, record in enumerate(records):
        put(folder, f"{at}.pdf", pdf_of(record))
    before = snapshot(folder)
    places = [
        (type(library.shelf), "save_full_text"),
        (AdoptionJournal, "append_result"),
        (Ledgers, "record_arrival"),
    ]

    def fill(*_, **__):
        raise StoreFailed(os.strerror(errno.ENOSPC))

    with monkeypatch.context() as full:
        full.setattr(*places[step], fill)
        with pytest.raises(StoreFailed):
            adopted(library, folder)
    assert states(library, folder) == {"0.pdf": "filed", "1.pdf": "filed"}
    assert library.list_papers()[0] == 2
    assert snapshot(folder) == before


def test_a_copy_recorded_before_its_original_does_not_hide_it(library, world, folder, monkeypatch):
    record = world.paper("paywall")
    put(folder, "a.pdf", pdf_of(record))
    put(folder, "b.pdf", pdf_of(record))

    def fill(*_, **__):
        raise StoreFailed(os.strerror(errno.ENOSPC))

    with monkeypatch.context() as full:
        full.setattr(type(library.shelf), "save_full_text", fill)
        with pytest.raises(StoreFailed):
            adopted(library, folder)
    assert sorted(states(library, folder).values()) == ["duplicate", "filed"]
    assert library.list_papers()[0] == 1


KILLED = """
import sys
from tests.killed import doom
from utils import Library
library = Library(papers_dir=sys.argv[1])
doom(int(sys.argv[3]))
list(library.upkeep.adopt(sys.argv[2], lookup=False))
"""


@pytest.mark.slow
@pytest.mark.parametrize("step", [1, 4, 8, 13, 19, 27, 36])
def test_a_killed_run_is_continued_without_loss(library, world, folder, step):
    records = [world.paper(name) for name in ("paywall", "login")]
    for at, record in enumerate(records):
        put(folder, f"{at}.pdf", pdf_of(record))
    entries = (reference(record, f"{at}.pdf") for at, record in enumerate(records))
    put(folder, "library.bib", "\n".join(entries).encode())
    before = snapshot(folder)
    shelf = str(library.settings.papers_dir)

    killed = run([sys.executable, "-c", KILLED, shelf, str(folder), str(step)], cwd=ROOT)
    assert killed.returncode == -signal.SIGKILL, killed.stderr

    done = adopted(library, folder, lookup=False)
    assert {name: one.state for name, one in done.items()} == {"0.pdf": "filed", "1.pdf": "filed"}
    assert library.list_papers()[0] == 2
    for record, one in zip(records, done.values(), strict=True):
        stored = library.find(record.doi)
        assert stored.path == one.file_path
        assert library.shelf.read_raw_answer(stored).fetched.body == pdf_of(record)
    assert snapshot(folder) == before
