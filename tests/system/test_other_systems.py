"""Windows and macOS by simulation: names, open files, long paths, and no POSIX functions."""

import contextlib
import errno
import os
import re
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest
from dotenv import dotenv_values

from tests.shelf.papers import paper, save
from utils import Library
from utils.cli.output import read_arguments
from utils.curation.installation import plan_settings_change
from utils.curation.mcp_host_files import write_changes
from utils.errors import BadRequest, StoreFailed
from utils.model.identifiers import Ids
from utils.shelf import Shelf
from utils.shelf.paper_file import build_file_stem
from utils.system import safe_files

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def shelf(tmp_path):
    return Shelf(tmp_path / "shelf")


@pytest.mark.parametrize(
    "wanted",
    [
        *("con.txt", "NUL.md", "lpt1.txt", "notes/aux.txt", "com3.results.txt", "aux/notes.txt"),
        *("mine .txt/x.txt ", "folder./x.txt", "folder /x.txt"),
        *("what?.txt", "a:b.txt", "a|b.md", "<x>.txt", 'a"b.txt', "a*.txt"),
    ],
)
def test_a_name_that_some_system_refuses_is_refused_on_all(shelf, wanted):
    with pytest.raises(BadRequest):
        shelf.resolve_copy_path(wanted)


def skip_unless_encodable(*names):
    """Skip a test of names that the file system's encoding does not have."""
    try:
        list(map(os.fsencode, names))
    except UnicodeEncodeError as error:
        pytest.skip(f"{error.encoding} has no such characters")


def test_a_name_that_cannot_be_encoded_is_refused(shelf):
    with pytest.raises(BadRequest):
        shelf.resolve_copy_path("half a pair \ud800.txt")


@pytest.mark.parametrize("wanted", ["console.txt", "nullable.md", "a b.txt", "größe.txt", "x.y.md"])
def test_an_ordinary_name_is_taken(shelf, wanted):
    skip_unless_encodable(wanted)
    assert shelf.resolve_copy_path(wanted).name == wanted


@pytest.mark.parametrize("name", ["con", "nul", "com1", "lpt9"])
def test_reviews_and_exports_are_not_named_after_devices(name, tmp_path):
    library = Library(papers_dir=tmp_path)
    with pytest.raises(BadRequest):
        library.reviews.create(name)
    with pytest.raises(BadRequest, match=f"{name}.csv"):
        library.datasets.export("any", "SELECT 1", f"{name}.csv")


def test_identifiers_that_differ_in_case_only_never_share_a_file():
    one, other = build_file_stem(Ids(doi="10.1000/AbC")), build_file_stem(Ids(doi="10.1000/aBc"))
    assert one == other == one.lower()  # a DOI ignores case: one paper, one file


def test_a_file_that_a_reader_has_open_is_replaced_a_moment_later(tmp_path, monkeypatch):
    refused = []

    def replace(part, path):
        if len(refused) < 2:
            refused.append(path)
            error = PermissionError(errno.EACCES, "is used by another process")
            error.winerror = 32  # type: ignore[attr-defined]
            raise error
        return path.write_bytes(part.read_bytes())

    monkeypatch.setattr(Path, "replace", replace)
    monkeypatch.setattr(safe_files.time, "sleep", lambda seconds: None)
    target = tmp_path / "paper.txt"
    target.write_bytes(b"old")
    safe_files.write_file(target, b"new")
    assert target.read_bytes() == b"new"
    assert len(refused) == 2


def test_a_folder_without_permission_is_not_tried_again(tmp_path, monkeypatch):
    tries = []

    def replace(part, path):
        tries.append(path)
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr(Path, "replace", replace)
    with pytest.raises(StoreFailed, match="Permission denied"):
        safe_files.write_file(tmp_path / "paper.txt", b"new")
    assert len(tries) == 1


def test_a_path_that_is_too_long_for_windows_says_what_to_do(monkeypatch):
    path = "C:\\" + "x" * 300
    monkeypatch.setattr(safe_files.os, "name", "nt")
    try:
        with (
            pytest.raises(StoreFailed) as failed,
            safe_files.disk_errors(path),
        ):
            raise FileNotFoundError(errno.ENOENT, "The system cannot find the path", path)
    finally:
        monkeypatch.undo()
    assert "259 characters" in failed.value.hint
    assert "LongPathsEnabled" in failed.value.hint


@pytest.mark.parametrize(("stored", "typed"), [("NFD", "NFC"), ("NFC", "NFD")])
def test_a_name_with_accents_is_found_however_it_is_spelled(shelf, stored, typed):
    one = save(shelf, paper(pmid="7"))
    name = unicodedata.normalize(stored, "größe.txt")
    skip_unless_encodable(name, unicodedata.normalize(typed, name))
    (shelf.folder / name).write_bytes(Path(one.path).read_bytes())
    Path(one.path).unlink()
    shelf.rebuild_catalogue()
    found = shelf.find_paper_by_file(unicodedata.normalize(typed, "größe.txt"))
    assert found is not None
    assert found.paper.ids.pmid == "7"


def test_texts_have_the_same_line_ends_on_every_system(shelf, monkeypatch):
    monkeypatch.setattr(os, "linesep", "\r\n")
    one = save(shelf, paper(pmid="7"))
    with safe_files.replace_text_file(shelf.folder / "index.csv") as file:
        file.write("a\nb\n")
    assert b"\r" not in Path(one.path).read_bytes()
    assert (shelf.folder / "index.csv").read_bytes() == b"a\nb\n"


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="simulates Windows on another system")
def test_search_download_and_harvest_need_no_posix_function(world, tmp_path):
    """Every module is imported, and papers are fetched, where those functions do not exist."""
    environment = {
        **os.environ,
        **world.environment(),
        "PAPERS_DIR": str(tmp_path / "shelf"),
        "PYTHONPATH": str(ROOT),
        "WANTED": ",".join(
            world.paper(branch).pmid for branch in ("pmc_cloud", "unpaywall_pdf", "paywall")
        ),
    }
    script = ROOT / "tests/fixtures/system/without_posix.py"
    ended = subprocess.run(
        [sys.executable, str(script)],
        env=environment,
        cwd=tmp_path,
        check=False,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
    )
    assert ended.returncode == 0, ended.stderr[-3000:]
    assert ended.stdout.split() == ["full_text", "full_text", "abstract", "3", "3"]


def test_every_pool_of_processes_is_started_as_on_windows():
    """Windows and macOS start processes by `spawn`: code that needs `fork` passes on Linux only."""
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "utils").rglob("*.py")]
    methods = [found for text in texts for found in re.findall(r'get_context\("(\w+)"\)', text)]
    assert methods
    assert set(methods) == {"spawn"}
    others = r"multiprocessing import .*\b(Process|Pool)\b|ProcessPoolExecutor"
    assert [text[:80] for text in texts if re.search(others, text)] == []


@pytest.mark.parametrize("typed", ["C:\\lists\\hits.ris", "..\\hits.ris", "lists\\hits.csv"])
def test_a_path_with_backslashes_is_a_file_and_never_a_query(typed):
    with pytest.raises(BadRequest) as refused:
        read_arguments([typed])
    assert typed in refused.value.message


@pytest.mark.parametrize(
    "wanted", ["..\\x.txt", "C:\\x.txt", "a\\..\\..\\x.txt", "\\\\host\\x.txt"]
)
def test_no_backslash_leads_out_of_the_shelf(shelf, wanted):
    with contextlib.suppress(BadRequest):
        assert shelf.resolve_copy_path(wanted).resolve().is_relative_to(shelf.folder.resolve())


def test_a_setting_with_backslashes_is_read_as_written(tmp_path, monkeypatch):
    file = tmp_path / "settings.env"
    change = plan_settings_change({"PAPERS_DIR": "C:\\new\\papers"}, file)
    write_changes([change], tmp_path / "journal.json")
    monkeypatch.delenv("PAPERS_DIR", raising=False)
    assert dotenv_values(file)["PAPERS_DIR"] == "C:\\new\\papers"
