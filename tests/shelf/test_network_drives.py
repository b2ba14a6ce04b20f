"""A network drive that does not keep processes apart is no place for a shelf.

There is none here, so its locks are simulated where every program meets them, in the C library: a
few lines that are loaded before it. Which kind of file system a folder lies on is made up.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fixtures import fixture_text
from tests.processes import run
from utils import Library
from utils.errors import StoreFailed
from utils.system import locks

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="knows Linux's mounts")

ROOT = Path(__file__).resolve().parents[2]
_SHIM = fixture_text("shelf/network_drives_shim.c")


@pytest.fixture
def drive(monkeypatch: pytest.MonkeyPatch) -> None:
    """All folders lie on NFS, and none was examined yet."""
    monkeypatch.setattr(locks, "find_file_system_type", lambda _: "nfs4")
    monkeypatch.setattr(locks, "_checked_folders", set())
    monkeypatch.setattr(locks, "_held_files", {})


def locks_that(fault: str, tmp_path: Path) -> str:
    """A library whose locks fail with an errno, or (0) are given to everybody."""
    if not (compiler := shutil.which("cc")):
        pytest.skip("needs a C compiler")
    source, made = tmp_path / "locks.c", tmp_path / "locks.so"
    source.write_text(_SHIM, encoding="utf-8")
    build = [compiler, "-shared", "-fPIC", f"-DFAULT={fault}", "-o", made, source, "-ldl"]
    subprocess.run(build, check=True)
    return str(made)


@pytest.mark.usefixtures("drive")
@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("ENOLCK", "it refuses locks (No locks available)"),
        ("EOPNOTSUPP", "it refuses locks (Operation not supported)"),
        ("EIO", "it refuses locks (Input/output error)"),
        ("0", "it gives one lock to two processes at once"),
    ],
)
def test_locks_that_do_not_work_are_noticed_before_anything_is_written(
    library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str, said: str
) -> None:
    monkeypatch.setenv("LD_PRELOAD", locks_that(fault, tmp_path))
    with pytest.raises(StoreFailed) as refused:
        library.download("41000001")
    assert said in refused.value.message
    assert "network drive (nfs4)" in refused.value.message
    assert "export PAPERS_DIR=" in refused.value.hint
    private = library.settings.papers_dir / ".papershelf"
    assert not list(library.settings.papers_dir.glob("*.txt"))
    assert not (private / "catalogue.db").exists()
    assert not list(private.glob(".*.part"))


@pytest.mark.usefixtures("drive")
def test_a_drive_with_working_locks_keeps_a_shelf(library: Library) -> None:
    assert library.download("41000001").stored.kind == "full_text"
    assert (library.settings.papers_dir / ".papershelf" / "machine").exists()


_OTHER = """
import sys
from pathlib import Path
from utils.system import locks
from utils.errors import StoreFailed
locks.find_file_system_type = lambda _: "nfs4"
if sys.argv[2]:
    locks.platform.node = lambda: sys.argv[2]
try:
    locks.require_working_locks(Path(sys.argv[1]))
    print("let in")
except StoreFailed as refused:
    print(refused.message, refused.hint)
"""


def other(folder: Path, name: str) -> str:
    """What a process of a machine of this name is told."""
    return run([sys.executable, "-c", _OTHER, str(folder), name], cwd=ROOT, env=os.environ).stdout


@pytest.mark.usefixtures("drive")
def test_a_shelf_on_a_network_drive_is_for_one_machine_at_a_time(tmp_path: Path) -> None:
    locks.require_working_locks(tmp_path)
    assert other(tmp_path, "") == "let in\n"
    told = other(tmp_path, "elsewhere")
    assert f"the machine {locks.platform.node()} is using it" in told
    locks._held_files.pop(tmp_path).close()  # this process has ended
    assert other(tmp_path, "elsewhere") == "let in\n"
    assert other(tmp_path, "") == "let in\n"


def test_a_local_disk_is_not_even_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locks, "_checked_folders", set())
    monkeypatch.setattr(locks.subprocess, "run", None)
    assert locks.find_file_system_type(tmp_path) in locks._LOCAL_FILE_SYSTEMS
    locks.require_working_locks(tmp_path)
    assert locks.find_file_system_type(Path("/proc/self")) == "proc"
