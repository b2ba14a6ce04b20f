from __future__ import annotations

import pickle
import sqlite3
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from utils.http import Web
from utils.http.cache import ResponseCache
from utils.settings import Settings

RAN: list[str] = []


def spring() -> None:
    RAN.append("code from a pickle")


class Trap:
    def __reduce__(self):
        return spring, ()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / ".papershelf" / "cache"


@pytest.fixture
def cache(folder: Path) -> ResponseCache:
    return ResponseCache(folder)


def tamper(folder: Path, statement: str, *values: object) -> None:
    with closing(sqlite3.connect(folder / "cache.db")) as db, db:
        assert db.execute(statement, values).rowcount == 1


def test_what_is_kept_is_recalled_by_the_next_process_too(cache: ResponseCache, folder: Path):
    cache.put("idconv", "PMC1", {"pmid": "1", "names": ["ü", None]}, days=1)
    for each in (cache, ResponseCache(folder)):
        assert each.get("idconv", "PMC1") == {"pmid": "1", "names": ["ü", None]}
    assert cache.get("idconv", "PMC2") is None
    assert cache.get("unpaywall", "PMC1") is None


def test_many_are_recalled_at_once(cache: ResponseCache):
    for n in range(3):
        cache.put("a", str(n), n, days=1)
    assert cache.get_many("a", ["0", "2", "9"]) == {"0": 0, "2": 2}


def test_it_forgets_in_time(cache: ResponseCache, clock):
    cache.put("a", "b", 1, days=2)
    time.sleep(1.9 * 86400)
    assert cache.get("a", "b") == 1
    time.sleep(0.2 * 86400)
    assert cache.get("a", "b") is None


def test_a_planted_pickled_value_is_refused(cache: ResponseCache, folder: Path):
    cache.put("a", "b", 1, days=1)
    cache.put("a", "c", 3, days=1)
    planted = sqlite3.Binary(pickle.dumps(Trap()))
    tamper(folder, "UPDATE Cache SET mode = 4, value = ? WHERE rowid = 1", planted)
    assert cache.get_many("a", ["b", "c"]) == {"c": 3}
    assert RAN == []


def test_a_planted_pickled_file_is_refused(cache: ResponseCache, folder: Path):
    cache.put("a", "b", 1, days=1)
    (folder / "planted.val").write_bytes(pickle.dumps(Trap()))
    tamper(folder, "UPDATE Cache SET mode = 4, value = NULL, filename = 'planted.val'")
    assert cache.get("a", "b") is None
    assert RAN == []


def test_a_planted_pickled_key_is_refused(cache: ResponseCache, folder: Path):
    cache.put("a", "b", 1, days=1)
    planted = sqlite3.Binary(pickle.dumps(Trap()))
    tamper(folder, "UPDATE Cache SET raw = 0, key = ?", planted)
    assert cache.get("a", "b") is None
    with pytest.raises(ValueError, match="pickled cache key refused"):
        list(cache._get_cache())
    assert RAN == []


def test_the_trap_itself_works():
    """Otherwise the three tests above could not fail."""
    pickle.loads(pickle.dumps(Trap()))
    assert RAN.pop() == "code from a pickle"


def test_a_damaged_file_is_set_aside_and_costs_nothing(folder: Path):
    folder.mkdir(parents=True)
    (folder / "cache.db").write_bytes(b"this is no database " * 1000)
    cache = ResponseCache(folder)
    assert cache.get("a", "b") is None
    cache.put("a", "b", 2, days=1)
    assert ResponseCache(folder).get("a", "b") == 2
    assert folder.with_name("cache.damaged").is_dir()


def test_damage_found_later_is_set_aside_too(cache: ResponseCache, folder: Path, monkeypatch):
    def damaged(*_, **__):
        raise sqlite3.DatabaseError("database disk image is malformed")

    cache.put("a", "b", 1, days=1)
    with monkeypatch.context() as patched:
        patched.setattr("diskcache.Cache.get", damaged)
        assert cache.get("a", "b") is None
    cache.put("a", "b", 2, days=1)
    assert ResponseCache(folder).get("a", "b") == 2


def test_garbage_in_one_row_is_as_if_it_were_absent(cache: ResponseCache, folder: Path):
    cache.put("a", "b", 1, days=1)
    tamper(folder, "UPDATE Cache SET value = ?", sqlite3.Binary(b"not compressed"))
    assert cache.get("a", "b") is None


def test_a_folder_that_cannot_be_made_only_means_no_memory(tmp_path: Path):
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    cache = ResponseCache(tmp_path / "file" / "cache")
    cache.put("a", "b", 1, days=1)
    assert cache.get("a", "b") is None


def test_a_file_that_cannot_be_written_only_means_no_memory(cache: ResponseCache, monkeypatch):
    def refuse(*_, **__):
        raise sqlite3.OperationalError("attempt to write a readonly database")

    monkeypatch.setattr("diskcache.Cache.set", refuse)
    cache.put("a", "b", 1, days=1)
    assert cache.get("a", "b") is None


def test_it_is_made_on_first_use_for_its_owner_only(folder: Path):
    cache = ResponseCache(folder)
    assert not folder.parent.exists()
    cache.get("a", "b")
    assert folder.stat().st_mode & 0o777 == 0o700


def test_threads_may_share_it(cache: ResponseCache):
    def work(n: int) -> None:
        for m in range(20):
            cache.put("a", f"{n}.{m}", [n, m], days=1)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    names = [f"{n}.{m}" for n in range(4) for m in range(20)]
    assert len(cache.get_many("a", names)) == 80


def test_the_web_brings_its_own_beside_the_papers(tmp_path: Path):
    web = Web(Settings(papers_dir=tmp_path / "p"), [])
    web.cache.put("a", "b", 1, days=1)
    assert (tmp_path / "p" / ".papershelf" / "cache" / "cache.db").exists()
    assert web.cache.get("a", "b") == 1


def test_all_threads_take_turns_with_one_connection(
    cache: ResponseCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[object] = []
    connect = sqlite3.connect

    def counted(*asked: object, **options: object) -> sqlite3.Connection:
        opened.append(asked)
        return connect(*asked, **options)

    cache.put("a", "first", 1, days=1)
    monkeypatch.setattr(sqlite3, "connect", counted)

    def use(number: int) -> None:
        for turn in range(5):
            cache.put("a", f"{number} {turn}", [number, turn], days=1)
            assert cache.get("a", f"{number} {turn}") == [number, turn]

    with ThreadPoolExecutor(30) as pool:
        list(pool.map(use, range(30)))
    assert not opened
    cache.close()
    assert cache.get("a", "29 4") == [29, 4]
    assert len(opened) == 1 + 1  # diskcache opens it twice, the second time with its patience
