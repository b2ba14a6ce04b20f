"""A person's PDF files that are linked, or used where they are: `adopt --by link|place`."""

import errno
import fcntl
import os
import signal
import stat
import sys
from pathlib import Path

import pytest

from tests.curation.test_folder_adoption import ROOT, adopted, put, reference, snapshot, states
from tests.processes import run
from tests.world.pdf import pdf_of
from utils.curation.opening import find_path_or_address
from utils.curation.places import locate_blocks
from utils.errors import BadRequest, NotFound
from utils.packs.selection import find_pdf_of_text
from utils.system import safe_files

EITHER = pytest.mark.parametrize("by", ["link", "place"])


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "library"
    made.mkdir()
    return made


@pytest.fixture
def no_clones(monkeypatch):
    """Have the file system refuse clones, as ext4 does."""

    def refuse(*_):
        raise OSError(errno.EOPNOTSUPP, os.strerror(errno.EOPNOTSUPP))

    monkeypatch.setattr(fcntl, "ioctl", refuse)


@pytest.fixture
def file(world, folder):
    """Return a person's PDF file of a paper."""
    path = put(folder, "Roe/moss.pdf", pdf_of(world.paper("paywall")))
    path.chmod(0o640)
    os.utime(path, (10**9, 10**9))
    return path


def count_bytes_of_pdfs(library):
    """Return the bytes of all PDF files on the shelf that are not a person's, too."""
    paths = [path for path in library.settings.papers_dir.rglob("*") if path.is_file()]
    ours = {path.stat().st_ino: path.stat() for path in paths if path.read_bytes()[:5] == b"%PDF-"}
    names = [path.stat().st_ino for path in paths]
    return sum(one.st_size for inode, one in ours.items() if one.st_nlink == names.count(inode))


@EITHER
def test_no_byte_is_copied_and_the_file_stays_as_it_was(
    library, world, folder, file, no_clones, by
):
    before = snapshot(folder)
    assert states(library, folder, by=by) == {"Roe/moss.pdf": "filed"}
    assert snapshot(folder) == before
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert count_bytes_of_pdfs(library) == 0
    stored = library.find(world.paper("paywall").doi)
    assert stored.kind == "full_text"
    assert library.shelf.read_raw_answer(stored).fetched.body == file.read_bytes()
    library.upkeep.rebuild()
    assert library.shelf.read_raw_answer(stored).fetched.body == file.read_bytes()


@EITHER
def test_the_pdf_is_listed_opened_and_packed(library, world, folder, file, no_clones, by):
    adopted(library, folder, by=by)
    stored = library.find(world.paper("paywall").doi)
    assert library.list_papers(has_pdf=True)[1] == [stored]
    opened = Path(find_path_or_address(world.paper("paywall").doi, library.shelf, "pdf"))
    assert opened.samefile(file)
    assert (opened == file) == (by == "place")
    assert find_pdf_of_text(stored, library.shelf).read() == file.read_bytes()
    assert any(place.page for one in locate_blocks(stored.paper.ids.doi, library.shelf).anchors
               for place in one.sources)  # fmt: skip


def change(file, by):
    """Change a person's file in place, as a program that annotates does."""
    body = file.read_bytes()
    with file.open("r+b") as opened:
        opened.write(body + b"% a note\n")


def replace_by_other_bytes_of_same_size_and_time(file, by):
    status = file.stat()
    with file.open("r+b") as opened:
        opened.seek(100)
        opened.write(b"?")
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))


@EITHER
@pytest.mark.parametrize("damage", [change, replace_by_other_bytes_of_same_size_and_time])
def test_a_changed_file_is_noticed_by_the_audit_and_not_packed(
    library, world, folder, file, no_clones, by, damage
):
    adopted(library, folder, by=by)
    stored = library.find(world.paper("paywall").doi)
    text = library.shelf.read_text(stored)
    damage(file, by)
    [one] = library.upkeep.audit()
    assert (one.outcome, one.now) == ("pdf_missing", "full_text")
    assert "was changed after it was adopted" in one.evidence
    assert f"--by {by}" in one.evidence
    assert find_pdf_of_text(stored, library.shelf) is None
    assert library.shelf.read_raw_answer(stored) is None
    assert library.shelf.read_text(stored) == text


def test_a_moved_file_is_noticed_and_found_again(library, world, folder, file):
    adopted(library, folder, by="place")
    doi = world.paper("paywall").doi
    file.rename(folder / "sorted.pdf")
    for look in (find_path_or_address, locate_blocks):
        with pytest.raises(NotFound, match="was moved or deleted"):
            look(doi, library.shelf)
    assert [one.outcome for one in library.upkeep.audit()] == ["pdf_missing"]
    assert library.list_papers(has_pdf=True) == (0, [])
    assert library.find(doi).kind == "full_text"

    assert states(library, folder, by="place") == {"sorted.pdf": "filed"}
    assert find_path_or_address(doi, library.shelf) == str(folder / "sorted.pdf")
    assert [one.outcome for one in library.upkeep.audit()] == ["unchanged"]


@EITHER
def test_a_file_that_was_annotated_is_adopted_again(library, world, folder, file, no_clones, by):
    adopted(library, folder, by=by)
    change(file, by)
    assert states(library, folder, by=by) == {"Roe/moss.pdf": "filed"}
    stored = library.find(world.paper("paywall").doi)
    assert find_pdf_of_text(stored, library.shelf).read() == file.read_bytes()
    assert [one.outcome for one in library.upkeep.audit()] == ["unchanged"]


def test_a_program_that_replaces_its_file_leaves_the_linked_one(
    library, world, folder, file, no_clones
):
    body = file.read_bytes()
    adopted(library, folder, by="link")
    file.unlink()
    file.write_bytes(b"something else")
    stored = library.find(world.paper("paywall").doi)
    assert library.shelf.read_raw_answer(stored).fetched.body == body
    assert [one.outcome for one in library.upkeep.audit()] == ["unchanged"]


def test_a_clone_is_the_shelfs_own_file(library, world, folder, file, monkeypatch):
    def clone(new, _, old):
        os.sendfile(new, old, 0, os.fstat(old).st_size)

    monkeypatch.setattr(fcntl, "ioctl", clone)
    before = snapshot(folder)
    adopted(library, folder, by="link")
    change(file, "link")
    stored = library.find(world.paper("paywall").doi)
    assert library.shelf.read_raw_answer(stored).fetched.body == before["Roe/moss.pdf"][2]
    assert file.stat().st_nlink == 1


def test_files_that_cannot_be_linked_are_refused_before_anything_is_done(
    library, world, folder, file, no_clones, monkeypatch
):
    def refuse(*_, **__):
        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))

    monkeypatch.setattr(os, "link", refuse)
    with pytest.raises(BadRequest, match="another disk") as refusal:
        library.upkeep.adopt(folder, by="link")
    assert "--by place" in refusal.value.hint
    assert library.list_papers()[0] == 0


def test_one_file_that_cannot_be_linked_is_named_and_tried_again(
    library, world, folder, file, no_clones, monkeypatch
):
    put(folder, "A.pdf", pdf_of(world.paper("login")))
    link = os.link

    def refuse(source, target, **options):
        if source == file:
            raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))
        link(source, target, **options)

    with monkeypatch.context() as refusing:
        refusing.setattr(os, "link", refuse)
        done = adopted(library, folder, by="link")
    assert {name: one.state for name, one in done.items()} == {
        "A.pdf": "filed",
        "Roe/moss.pdf": "not_linked",
    }
    assert "--by copy" in done["Roe/moss.pdf"].detail
    assert library.list_papers()[0] == 1
    assert states(library, folder, by="link")["Roe/moss.pdf"] == "filed"


@EITHER
def test_a_shelf_on_which_the_text_is_already_uses_the_persons_pdf(
    library, world, folder, no_clones, by
):
    record = world.paper("pmc_cloud")
    stored = library.download(record.pmid).stored
    file = put(folder, "a.pdf", pdf_of(record))
    assert states(library, folder, by=by) == {"a.pdf": "on_shelf"}
    assert Path(find_path_or_address(record.pmid, library.shelf, "pdf")).samefile(file)
    assert library.find(record.pmid).sha256 == stored.sha256
    assert count_bytes_of_pdfs(library) == 0


def test_a_pdf_that_a_person_put_next_to_the_text_stays(library, world, folder, file):
    adopted(library, folder, by="place")
    stored = library.find(world.paper("paywall").doi)
    mine = Path(stored.path).with_suffix(".pdf")
    mine.write_bytes(b"%PDF-1.7 mine")
    assert find_path_or_address(stored.paper.ids.doi, library.shelf, "pdf") == str(mine)
    change(file, "place")
    adopted(library, folder, by="place")
    assert mine.read_bytes() == b"%PDF-1.7 mine"


@EITHER
def test_an_alien_pointer_brings_no_other_file_into_a_pack(
    library, world, folder, file, no_clones, by
):
    """The facts on a shared shelf may be written by somebody else; the checksum decides."""
    adopted(library, folder, by=by)
    stored = library.find(world.paper("paywall").doi)
    [facts] = (library.settings.papers_dir / ".papershelf/pdfs").glob("*.json")
    secret = put(folder.parent, "secret.txt", b"secret")
    facts.write_bytes(facts.read_bytes().replace(str(file).encode(), str(secret).encode()))
    found = find_pdf_of_text(stored, library.shelf)
    assert found is None or found.read() == file.read_bytes()


def test_a_linked_file_keeps_its_mode_when_the_shelf_is_shared(
    library, world, folder, file, no_clones, monkeypatch
):
    adopted(library, folder, by="link")
    shelf = library.settings.papers_dir
    shelf.chmod(0o2770)
    monkeypatch.setattr(safe_files, "_requested", {shelf.absolute()})
    safe_files.share_shelf_if_requested(shelf)
    assert safe_files.is_group_folder(shelf / ".papershelf")
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    [text] = shelf.glob("10.*.txt")
    assert stat.S_IMODE(text.stat().st_mode) & 0o060 == 0o060


@EITHER
def test_the_files_stay_when_the_paper_leaves_the_shelf(
    library, world, folder, file, no_clones, by
):
    before = snapshot(folder)
    adopted(library, folder, by=by)
    stored = library.find(world.paper("paywall").doi)
    Path(stored.path).unlink()
    library.upkeep.rebuild()
    assert snapshot(folder) == before
    assert states(library, folder, by=by) == {"Roe/moss.pdf": "filed"}
    assert snapshot(folder) == before


def test_a_note_links_the_file_where_it_is(library, world, folder, file):
    adopted(library, folder, by="place")
    list(library.upkeep.convert("md"))
    stored = library.find(world.paper("paywall").doi)
    assert f'pdf: "{file.as_uri()}"' in Path(stored.path).read_text(encoding="utf-8")


KILLED = """
import sys
from tests.killed import doom
from utils import Library
library = Library(papers_dir=sys.argv[1])
doom(int(sys.argv[3]))
list(library.upkeep.adopt(sys.argv[2], lookup=False, by=sys.argv[4]))
"""


@pytest.mark.slow
@EITHER
@pytest.mark.parametrize("step", [1, 4, 8, 13, 19, 27])
def test_a_killed_run_is_continued_without_loss(library, world, folder, step, by):
    records = [world.paper(name) for name in ("paywall", "login")]
    for at, record in enumerate(records):
        put(folder, f"{at}.pdf", pdf_of(record))
    entries = (reference(record, f"{at}.pdf") for at, record in enumerate(records))
    put(folder, "library.bib", "\n".join(entries).encode())
    before = snapshot(folder)
    shelf = str(library.settings.papers_dir)

    killed = run([sys.executable, "-c", KILLED, shelf, str(folder), str(step), by], cwd=ROOT)
    assert killed.returncode == -signal.SIGKILL, killed.stderr

    done = adopted(library, folder, lookup=False, by=by)
    assert {name: one.state for name, one in done.items()} == {"0.pdf": "filed", "1.pdf": "filed"}
    assert library.list_papers()[0] == 2
    for at, record in enumerate(records):
        stored = library.find(record.doi)
        assert find_pdf_of_text(stored, library.shelf).read() == (folder / f"{at}.pdf").read_bytes()
    assert count_bytes_of_pdfs(library) == 0
    assert snapshot(folder) == before
