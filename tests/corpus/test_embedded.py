"""What the embedded finder promises alone: it outlives kills, torn files and neighbours."""

import random
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from tests.corpus.finder_writer import DIM, SIZE, passage, vector
from tests.processes import Process
from utils.corpus import embedded_vectors
from utils.corpus.embedded import EmbeddedFinder
from utils.corpus.embedded_schema import set_index_facts
from utils.corpus.embedded_vectors import to_binary_codes
from utils.corpus.finders import FinderStatus
from utils.errors import StoreFailed
from utils.model.passage import Filters, Passage

ROOT = Path(__file__).resolve().parents[2]
NUMBERS = range(1, 31)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "papers/.papershelf/corpus"


@pytest.fixture(params=[10**6, 0], ids=["exact", "signs"])
def finder(request: pytest.FixtureRequest, folder: Path) -> Iterator[EmbeddedFinder]:
    """Thirty passages."""
    with closing(EmbeddedFinder(folder, request.param)) as made:
        fill(made)
        yield made


def fill(finder: EmbeddedFinder, edition: int = 0) -> list[Passage]:
    some = [passage(number, edition) for number in NUMBERS]
    finder.prepare_for_model("seeded", DIM)
    finder.store_passages(some, np.stack([vector(each) for each in some]))
    return some


def assert_finds(finder: EmbeddedFinder, kept: Passage) -> None:
    """By words and by meaning, each alone."""
    word = kept.text.split()[0]
    assert [hit.paper for hit in finder.search(word, None, 5, Filters())] == [kept.paper]
    near = finder.search("", vector(kept), 1, Filters())
    assert near[0].paper == kept.paper
    assert near[0].sim == pytest.approx(1.0, abs=1e-5)


def _same_signs(folder: Path, rows: int) -> bool:
    """Whether the signs are those of the vectors; what a killed writer left may be behind them."""
    (vectors,), (signs,) = folder.glob("vectors-*.f32"), folder.glob("signs-*.u64")
    kept = np.fromfile(vectors, "<f4", rows * DIM).reshape(rows, DIM)
    return signs.read_bytes().startswith(to_binary_codes(kept).tobytes())


def writing(folder: Path, first: int) -> Process:
    command = [sys.executable, "-m", "tests.corpus.finder_writer", str(folder)]
    return Process([*command, str(first)], cwd=ROOT, stdout=subprocess.PIPE, text=True)


# -- kills --------------------------------------------------------------------------------------


def test_a_writer_killed_anywhere_loses_nothing_it_had_told(folder: Path) -> None:
    chance = random.Random(11)
    told: dict[int, int] = {}
    for kill in range(4):
        with writing(folder, first := 1 + kill * 100_000) as child:
            assert child.stdout is not None
            line = child.stdout.readline()
            threading.Event().wait(chance.random() * 0.25)
            child.send_signal(signal.SIGKILL)
            for start, edition in (each.split() for each in [line, *child.stdout]):
                told |= dict.fromkeys(range(int(start), int(start) + SIZE), int(edition))
        assert first in told
        with closing(EmbeddedFinder(folder)) as finder:
            finder.prepare_for_model("seeded", DIM)  # checks every vector
            asked = [passage(number) for number in told]
            assert finder.find_uuids_without_vectors([each.uuid for each in asked]) == set()
            held = finder.get_status()
            assert held.passages == held.vectors >= len(told)
            assert _same_signs(folder, held.vectors)
            for number in chance.sample(sorted(told), 3):
                hits = finder.search(f"word{number}", None, 5, Filters())
                assert [hit.paper for hit in hits] == [f"pmid:{number}"]
                editions = [passage(number, edition) for edition in (told[number], 1)]
                assert any(
                    finder.search("", vector(each), 1, Filters())[0].paper == f"pmid:{number}"
                    for each in editions
                )


def test_rows_nobody_committed_are_written_over(finder: EmbeddedFinder, folder: Path) -> None:
    (file,) = folder.glob("vectors-*.f32")
    with file.open("ab") as torn:
        torn.write(b"half a row of somebody who was killed")
    more = passage(99)
    finder.store_passages([more], vector(more)[None])
    assert file.stat().st_size == 31 * DIM * 4
    assert_finds(finder, more)
    assert_finds(finder, passage(7))


def test_an_upsert_that_fails_leaves_all_as_it_was(
    finder: EmbeddedFinder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device", "texts")

    monkeypatch.setattr(EmbeddedFinder, "_write_passages", full)
    changed = passage(7, edition=1)
    with pytest.raises(StoreFailed, match="disk is full"):
        finder.store_passages([changed], vector(changed)[None])
    monkeypatch.undo()
    assert finder.get_status() == FinderStatus(30, 30, "seeded", DIM)
    assert_finds(finder, passage(7))


# -- neighbours ---------------------------------------------------------------------------------


def test_readers_see_what_another_process_keeps_while_it_does(folder: Path) -> None:
    with writing(folder, 1) as child, closing(EmbeddedFinder(folder)) as reader:
        assert child.stdout is not None
        for _ in range(6):
            start, edition = map(int, child.stdout.readline().split())
            if edition or start % 30 == 1:  # others may have been replaced meanwhile
                assert_finds(reader, passage(start + 3, edition))
        child.kill()


def test_two_in_one_folder_follow_each_other(finder: EmbeddedFinder, folder: Path) -> None:
    with closing(EmbeddedFinder(folder)) as other:
        assert_finds(other, passage(7))
        changed = passage(7, edition=1)
        finder.store_passages([changed], vector(changed)[None])
        assert_finds(other, changed)
        other.delete_passages([changed.uuid])
        assert finder.search("word7", None, 5, Filters()) == []
        assert finder.get_status() == FinderStatus(29, 29, "seeded", DIM)
        other.prepare_for_model("another", 4)
        assert finder.get_status() == FinderStatus(29, 0, "another", 4)
        other.prepare_for_model("seeded", DIM)
        fill(other)
        assert_finds(finder, passage(7))


def test_threads_share_one_finder(finder: EmbeddedFinder) -> None:
    failed: list[BaseException] = []

    def ask(number: int) -> None:
        try:
            for _ in range(10):
                assert_finds(finder, passage(number))
                finder.store_passages([passage(number)], vector(passage(number))[None])
        except BaseException as error:  # noqa: BLE001
            failed.append(error)

    threads = [threading.Thread(target=ask, args=(number,)) for number in (3, 7, 11, 20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    assert finder.get_status() == FinderStatus(30, 30, "seeded", DIM)


# -- damage -------------------------------------------------------------------------------------


def _cut_short(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-DIM])


def _one_bit(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[5] ^= 4
    file.write_bytes(data)


@pytest.mark.parametrize("damage", [_cut_short, Path.unlink], ids=["short", "gone"])
def test_vectors_that_are_torn_are_set_aside_and_words_go_on(folder: Path, damage: object) -> None:
    with closing(EmbeddedFinder(folder)) as first:
        fill(first)
    (file,) = folder.glob("vectors-*.f32")
    damage(file)  # type: ignore[operator]
    with closing(EmbeddedFinder(folder)) as finder:
        with pytest.raises(StoreFailed, match="Damaged vectors") as raised:
            finder.search("word7", vector(passage(7)), 5, Filters())
        assert "index" in raised.value.hint
        assert finder.get_status() == FinderStatus(30, 0, "seeded", DIM)
        assert [hit.paper for hit in finder.search("word7", None, 5, Filters())] == ["pmid:7"]
        assert len(finder.find_uuids_without_vectors([passage(n).uuid for n in NUMBERS])) == 30
        fill(finder)
        assert_finds(finder, passage(7))


def test_one_wrong_bit_is_noticed_by_who_indexes(folder: Path) -> None:
    with closing(EmbeddedFinder(folder)) as first:
        fill(first)
        more = passage(99)
        first.store_passages([more], vector(more)[None])
    (file,) = folder.glob("vectors-*.f32")
    _one_bit(file)
    with closing(EmbeddedFinder(folder)) as finder:
        with pytest.raises(StoreFailed, match="not those that were written"):
            finder.prepare_for_model("seeded", DIM)
        assert list(folder.glob("vectors-*.damaged-*"))
        finder.prepare_for_model("seeded", DIM)
        assert finder.get_status() == FinderStatus(31, 0, "seeded", DIM)


@pytest.mark.parametrize(
    "damage", [_cut_short, Path.unlink, _one_bit], ids=["short", "gone", "bit"]
)
def test_signs_that_are_wrong_are_made_again_and_nobody_waits(folder: Path, damage: object) -> None:
    with closing(EmbeddedFinder(folder, exact=0)) as first:
        fill(first)
    (file,) = folder.glob("signs-*.u64")
    damage(file)  # type: ignore[operator]
    with closing(EmbeddedFinder(folder, exact=0)) as finder:
        assert_finds(finder, passage(7))
        more = passage(99)
        finder.store_passages([more], vector(more)[None])
        assert_finds(finder, more)
        finder.prepare_for_model("seeded", DIM)
        assert _same_signs(folder, 31)
        assert_finds(finder, passage(7))


def test_of_very_many_the_same_are_nearest() -> None:
    noise = np.random.default_rng(3)
    rows = noise.standard_normal((30_000, 100), np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    allowed = np.array([False, True, False])
    abouts = noise.integers(0, 3, len(rows)).astype(np.int32)
    numbers = np.arange(len(rows))
    some, every = (
        embedded_vectors.VectorView(0, 0, rows, numbers, abouts, to_binary_codes(rows).T, exact)
        for exact in (1_000, 10**6)
    )
    for near in rows[abouts == 1][:20]:
        asked = near + 0.3 * noise.standard_normal(100, np.float32) / 10
        expected = every.find_nearest_passages(asked, 5, allowed)
        assert some.find_nearest_passages(asked, 5, allowed)[0] == expected[0]
        assert all(abouts[number] == 1 for number, _ in expected)


@pytest.mark.parametrize("garbage", [b"", b"not a database" * 400])
def test_a_database_that_is_none_is_set_aside_and_made_again(folder: Path, garbage: bytes) -> None:
    with closing(EmbeddedFinder(folder)) as first:
        fill(first)
    (folder / "words.db").write_bytes(garbage)
    with closing(EmbeddedFinder(folder)) as finder:
        if garbage:
            with pytest.raises(StoreFailed, match="damaged") as raised:
                finder.search("word7", None, 5, Filters())
            assert "index" in raised.value.hint
            assert list(folder.glob("words.db.damaged-*"))
        assert finder.get_status() == FinderStatus(0, 0)
        fill(finder)
        assert_finds(finder, passage(7))


def test_who_had_it_open_follows_when_the_database_is_made_again(
    finder: EmbeddedFinder, folder: Path
) -> None:
    assert_finds(finder, passage(7))
    for file in folder.glob("words.db*"):
        file.unlink()
    with closing(EmbeddedFinder(folder)) as other:
        fill(other, edition=1)
    assert_finds(finder, passage(7, edition=1))


def test_an_index_of_words_that_is_damaged_is_made_again(folder: Path) -> None:
    with closing(EmbeddedFinder(folder)) as first:
        fill(first)
    (home,) = folder.glob("terms-*")
    (home / "meta.json").write_text("{", encoding="utf-8")
    with closing(EmbeddedFinder(folder)) as finder:
        with pytest.raises(StoreFailed) as raised:
            finder.search("word7", None, 5, Filters())
        assert "index" in raised.value.hint
        finder.prepare_for_model("seeded", DIM)
        assert finder.get_status() == FinderStatus(0, 30, "seeded", DIM)
        store_absent_words(finder)
        assert finder.get_status() == FinderStatus(30, 30, "seeded", DIM)
        assert_finds(finder, passage(7))


def store_absent_words(finder: EmbeddedFinder) -> None:
    """Store passages whose words the finder lacks, as indexing does; no vector is made."""
    every = {passage(number).uuid: passage(number) for number in NUMBERS}
    finder.store_passages([every[uuid] for uuid in finder.find_absent_uuids(list(every))], None)


@pytest.mark.parametrize("first", ["search", "prepare_for_model", "store_passages"])
def test_an_index_that_stored_terms_lets_them_go_and_finds_the_same(
    folder: Path, first: str, caplog: pytest.LogCaptureFixture
) -> None:
    with closing(EmbeddedFinder(folder)) as finder:
        fill(finder)
        with finder._database.open_writing() as db:  # as format 2 had it
            db.execute("CREATE TABLE texts (id INTEGER PRIMARY KEY, words BLOB NOT NULL)")
            db.execute("DELETE FROM facts WHERE name = 'words_since'")
            set_index_facts(db, format=2)
    with closing(EmbeddedFinder(folder)) as finder:
        if first == "prepare_for_model":
            finder.prepare_for_model("seeded", DIM)
        elif first == "store_passages":
            finder.store_passages([passage(7)], None)
        for number in (1, 7, 30):
            assert_finds(finder, passage(number))
        assert finder.get_status() == FinderStatus(30, 30, "seeded", DIM)
        assert not finder.find_absent_uuids([passage(number).uuid for number in NUMBERS])
        with finder._database.open_reading() as db:
            assert db
            assert not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'texts'").fetchone()
    assert not caplog.records


@pytest.mark.parametrize("words", ["fts5", "tantivy-1-1", "words-1-1"])
@pytest.mark.parametrize("first", ["search", "prepare_for_model", "store_passages"])
def test_an_index_of_an_older_version_is_made_again_and_says_so(
    folder: Path, words: str, first: str, caplog: pytest.LogCaptureFixture
) -> None:
    with closing(EmbeddedFinder(folder)) as finder:
        fill(finder)
        with finder._database.open_writing() as db:  # as the older version left it
            db.execute("CREATE VIRTUAL TABLE words USING fts5(title, section, text, content = '')")
            set_index_facts(db, words=words)
    older = folder / words.replace("fts5", "tantivy-1-1")
    for old in folder.glob("terms-*"):
        old.rename(older)
    with closing(EmbeddedFinder(folder)) as finder:
        if first == "prepare_for_model":
            finder.prepare_for_model("seeded", DIM)
        elif first == "store_passages":
            finder.store_passages([passage(7)], None)
        else:
            assert not finder.search("word7", None, 5, Filters())
        absent = finder.find_absent_uuids([passage(number).uuid for number in NUMBERS])
        assert len(absent) == finder.get_status().vectors - finder.get_status().passages
        assert len(absent) == (29 if first == "store_passages" else 30)
        store_absent_words(finder)
        for number in (1, 7, 30):
            assert_finds(finder, passage(number))
        assert finder.get_status() == FinderStatus(30, 30, "seeded", DIM)
    assert not older.exists()
    assert len([one for one in caplog.records if "word index" in one.message]) == 1


# -- size ---------------------------------------------------------------------------------------


def test_vectors_nobody_needs_are_let_go(
    finder: EmbeddedFinder, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded_vectors, "_DEAD_FEWEST", 10)
    monkeypatch.setattr(embedded_vectors, "_BLOCK", 7)
    with closing(EmbeddedFinder(folder)) as reader:
        assert_finds(reader, passage(25))
        finder.delete_passages([passage(number).uuid for number in range(1, 16)])
        (file,) = folder.glob("vectors-*.f32")
        assert file.stat().st_size == 15 * DIM * 4
        for each in (finder, reader):
            for number in (16, 25, 30):
                assert_finds(each, passage(number))
            assert each.get_status() == FinderStatus(15, 15, "seeded", DIM)
        finder.prepare_for_model("seeded", DIM)  # checks every vector


def test_looking_makes_no_files(folder: Path) -> None:
    with closing(EmbeddedFinder(folder)) as finder:
        finder.search("corals", None, 5, Filters())
        finder.get_status()
    assert not folder.exists()
