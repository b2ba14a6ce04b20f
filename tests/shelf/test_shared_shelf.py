"""One shelf, several people: real users of the system, with umasks of their own, on one folder."""

import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.processes import run
from tests.world import World
from utils import Library
from utils.settings import Settings
from utils.system import safe_files

ROOT = Path(__file__).resolve().parents[2]
LAB, ANNA, BEN = 64_000, 64_001, 64_002
_KEPT = ("PATH", "PYTHONHOME", "PYTHONPATH", "LD_LIBRARY_PATH")

Typed = Callable[..., "subprocess.CompletedProcess[str]"]


@cache
def _others_can_run_us() -> bool:
    if os.name == "nt" or os.geteuid() != 0:
        return False
    try:
        start = [sys.executable, "-c", "import utils.library, ssl"]
        done = subprocess.run(start, user=ANNA, group=ANNA, extra_groups=[], cwd=ROOT, check=False)
    except OSError:
        return False
    return done.returncode == 0


@pytest.fixture
def lab() -> Iterator[Path]:
    """A folder of the group, and homes; pytest's own folders are closed to others."""
    if not _others_can_run_us():
        pytest.skip("needs root, and a Python that lies where other users can start it")
    place = Path(tempfile.mkdtemp(prefix="papershelf-lab-"))
    place.chmod(0o755)
    for user in (ANNA, BEN):
        home = place / str(user)
        home.mkdir()
        os.chown(home, user, user)
    papers = place / "papers"
    papers.mkdir()
    os.chown(papers, ANNA, LAB)
    papers.chmod(0o2770)
    yield papers
    shutil.rmtree(place)


@pytest.fixture
def typed(lab: Path, world: World) -> Typed:
    """A command of one of them, in a process that is that user's."""

    def typed(
        user: int, *words: str, umask: int = 0o022, groups: tuple[int, ...] = (LAB,), **more: str
    ) -> subprocess.CompletedProcess[str]:
        home = lab.parent / str(user)
        kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
        settings = {"HOME": str(home), "PAPERS_DIR": str(lab), **world.environment(), **more}
        return run(
            [sys.executable, str(ROOT / "server.py"), *words],
            env={**kept, **settings},
            user=user,
            group=user,
            extra_groups=groups,
            umask=umask,
            cwd=home,
        )

    return typed


def modes_of(folder: Path) -> Iterator[tuple[Path, os.stat_result]]:
    for root, folders, files in os.walk(folder):
        for name in (*folders, *files):
            yield Path(root, name), Path(root, name).stat()


def test_all_that_one_person_writes_the_others_can_read_and_change(
    lab: Path, typed: Typed, world: World
) -> None:
    pmids = [paper.pmid for paper in world.papers[:6]]
    share = {"PAPERS_SHARED": "true"}
    first = typed(ANNA, "download", *pmids[:2], umask=0o077, **share)
    assert first.returncode == 0, first.stderr
    for user, umask, words in (
        (BEN, 0o077, ("read", pmids[0])),
        (BEN, 0o022, ("download", *pmids[:3])),
        (BEN, 0o077, ("harvest", *pmids)),
        (ANNA, 0o077, ("audit", "--fix")),
        (BEN, 0o022, ("rebuild",)),
        (ANNA, 0o022, ("harvest", *pmids)),
        (ANNA, 0o077, ("download", "--force", pmids[0])),
        (BEN, 0o077, ("export",)),
        (ANNA, 0o022, ("status",)),
    ):
        done = typed(user, *words, umask=umask, **share)
        assert done.returncode in (0, 1), (words, done.stderr)
        assert "belongs to" not in done.stderr
        assert "denied" not in done.stderr.lower()
        assert "cannot" not in done.stderr
    listed = [
        json.loads(line) for line in typed(BEN, "list", "--json", **share).stdout.splitlines()
    ]
    assert {row["pmid"] for row in listed if row.get("pmid")} >= set(pmids[:3])
    owners = set()
    for path, status in modes_of(lab):
        owners.add(status.st_uid)
        needed = 0o2770 if stat.S_ISDIR(status.st_mode) else 0o660
        assert status.st_mode & needed == needed, path
        assert status.st_gid == LAB, path
        if stat.S_ISDIR(status.st_mode) and safe_files.PRIVATE_FOLDER in path.parts:
            assert not status.st_mode & 0o007, path
    assert owners == {ANNA, BEN}


def test_who_is_kept_out_is_told_by_whom_and_the_command_that_helps_works(
    lab: Path, typed: Typed, world: World
) -> None:
    pmid = world.papers[0].pmid
    assert typed(ANNA, "download", pmid).returncode == 0
    modes = {path.name: stat.S_IMODE(status.st_mode) for path, status in modes_of(lab)}
    assert modes[".papershelf"] == 0o700
    for words in (("download", pmid), ("status",), ("list",), ("harvest", pmid), ("audit",)):
        refused = typed(BEN, *words)
        assert refused.returncode == 4, words
        assert f"belongs to user {ANNA}, who has not shared it" in refused.stderr, words
        command = f"uv run server.py harvest status --papers-dir {lab}"
        assert f"PAPERS_SHARED=true {command}" in refused.stderr
    shared = typed(ANNA, "status", "--papers-dir", str(lab), PAPERS_SHARED="true")
    assert shared.returncode == 0, shared.stderr
    assert "on the shelf already" in typed(BEN, "download", pmid, PAPERS_SHARED="true").stdout
    # Who forgets the setting takes nothing back from the others.
    assert typed(ANNA, "download", world.papers[1].pmid, umask=0o077).returncode == 0
    assert "on the shelf already" in typed(BEN, "download", world.papers[1].pmid).stdout


def test_who_is_not_in_the_group_is_told_which_it_is(lab: Path, typed: Typed, world: World) -> None:
    pmid = world.papers[0].pmid
    assert typed(ANNA, "download", pmid, PAPERS_SHARED="true").returncode == 0
    lab.chmod(0o2775)
    refused = typed(BEN, "download", pmid, groups=(), PAPERS_SHARED="true")
    assert refused.returncode == 4
    assert f"to the group {LAB}, and you are not in it" in refused.stderr
    assert "usermod -aG" in refused.stderr


def test_a_single_file_that_stayed_behind_is_named(lab: Path, typed: Typed, world: World) -> None:
    pmid = world.papers[0].pmid
    assert typed(ANNA, "download", pmid, PAPERS_SHARED="true").returncode == 0
    (lab / ".papershelf" / "catalogue.db").chmod(0o600)
    refused = typed(BEN, "list", PAPERS_SHARED="true")
    assert refused.returncode == 4
    assert f"user {ANNA} runs: chmod g+rw {lab}/.papershelf/catalogue.db" in refused.stderr


@pytest.mark.skipif(os.name == "nt", reason="Windows has no modes")
def test_without_the_wish_what_is_private_stays_private_in_a_group_folder(library: Library) -> None:
    folder = library.settings.papers_dir
    folder.mkdir()
    folder.chmod(0o2775)
    library.download("41000001")
    private = folder / ".papershelf"
    assert stat.S_IMODE(private.stat().st_mode) & 0o077 == 0
    assert all(status.st_mode & 0o020 == 0 for _, status in modes_of(folder))


@pytest.mark.skipif(os.name == "nt", reason="Windows has no modes")
def test_handing_over_leaves_logs_hidden_files_and_links_alone(
    settings: dict[str, object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(safe_files, "_requested", set())
    folder, outside = tmp_path / "papers", tmp_path / "outside.txt"
    folder.mkdir()
    for path in (outside, folder / ".env", folder / "papershelf.log", folder / "a.txt"):
        path.write_text("x", encoding="utf-8")
        path.chmod(0o600)
    (folder / "link.txt").symlink_to(outside)
    before = Library(**settings)
    before.download("41000001")
    before.shelf.close()
    shared = Library(**settings, papers_shared=True)
    assert shared.shelf.count_papers()["full_text"] >= 1
    shared.shelf.close()
    for path in (outside, folder / ".env", folder / "papershelf.log"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600, path
    assert (folder / "a.txt").stat().st_mode & 0o060 == 0o060
    assert safe_files.is_group_folder(folder / ".papershelf" / "raw")


def test_people_who_share_a_shelf_share_one_pace_unless_they_chose_a_place(tmp_path: Path) -> None:
    values = {"papers_dir": tmp_path, "papers_shared": True}
    chosen = Settings(**values, papers_pace_dir=tmp_path / "pace")
    assert chosen.pace_folder == tmp_path / "pace"
    default = chosen.model_copy()
    default.model_fields_set.discard("papers_pace_dir")
    assert default.pace_folder == tmp_path / ".papershelf" / "pace"
    alone = default.model_copy(update={"papers_shared": False})
    assert alone.pace_folder == tmp_path / "pace"
