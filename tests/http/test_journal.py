"""What a site sent is on disk before it is read, and serves whoever asks the same."""

import sqlite3
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.http.conftest import Site, Visit
from utils.errors import NotAvailable, StoreFailed, Unreachable
from utils.http import Answer, Web, require_answers_since
from utils.system.bodies import BodyStore

DAY = 86400.0
LONG = b"0123456789abcdef" * 4096
SECRET = "0123456789secret"


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    return tmp_path / "papers" / ".papershelf"


def again(web: Web) -> Web:
    """The same shelf in another process."""
    return Web(web.settings, web.rates)


def everything(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


# -- given once ------------------------------------------------------------------------------


@pytest.mark.parametrize("body", [b"short", LONG], ids=["in the index", "in a file"])
def test_who_asks_the_same_is_given_what_was_sent(web: Web, site: Site, body: bytes) -> None:
    url = site.says("/x", body, Content_Type="text/xml; charset=utf-8", ETag='"1"')
    first = web.get(url, {"id": 1}, kept=True)
    second = again(web).get(url, {"id": 1}, kept=True)
    assert (second.body, second.media, second.charset, second.url, second.status) == (
        *(first.body, first.media, first.charset, first.url, first.status),
    )
    assert second.headers["ETag"] == '"1"'
    assert site.paths == ["/x?id=1"]


def test_it_is_on_the_disk_before_it_is_read(web: Web, site: Site, shelf: Path) -> None:
    url = site.says("/x", LONG)
    found: list[bytes | None] = []

    def check(answer: Answer) -> None:
        found.extend(path.read_bytes() for path in shelf.rglob("*.gz"))

    web.get(url, check=check, kept=True)
    assert len(found) == 1


def test_other_questions_are_asked(web: Web, site: Site) -> None:
    url = site.says("/x", b"x")
    web.get(url, kept=True)
    web.get(url, {"page": 2}, kept=True)
    web.get(url, headers={"Accept": "application/pdf"}, kept=True)
    web.get(url)
    assert len(site.visits) == 4


def test_who_we_are_does_not_make_it_another_question(web: Web, site: Site) -> None:
    url = site.says("/x", b"x")
    for email in ("a@b.de", "c@d.de"):
        web.get(url, {"id": 1, "email": email, "tool": email, "api_key": email}, kept=True)
    assert len(site.visits) == 1


def test_a_key_in_an_address_that_others_gave_may_name_a_paper(web: Web, site: Site) -> None:
    url = site.says("/x", b"x")
    web.get(f"{url}?key=paper1", kept=True)
    web.get(f"{url}?key=paper2", kept=True)
    assert len(site.visits) == 2


def test_where_a_redirect_led_is_not_asked_again(web: Web, site: Site) -> None:
    target = site.says("/to", b"there")
    web.get(site.redirect("/from", "/to"), kept=True)
    assert web.get(target, kept=True).body == b"there"
    assert site.paths == ["/from", "/to"]


@pytest.mark.parametrize("status", [404, 410, 403])
def test_a_definite_miss_is_not_asked_again(web: Web, site: Site, status: int) -> None:
    url = site.says("/x", b"no", status)
    for each in (web, again(web)):
        with pytest.raises(NotAvailable) as caught:
            each.get(url, kept=True)
        assert caught.value.details["status"] == status
    assert len(site.visits) == 1


@pytest.mark.parametrize("status", [401, 402, 429, 500, 503])
def test_what_speaks_of_us_or_of_the_moment_is_asked_again(
    web_for: Callable[..., Web], site: Site, status: int
) -> None:
    web = web_for(site, ncbi_max_retries=1)
    url = site.says("/x", b"no", status)
    for _ in range(2):
        with pytest.raises((NotAvailable, Unreachable)):
            web.get(url, kept=True)
    assert len(site.visits) == 2


def test_what_a_check_refuses_is_torn_out(web_for: Callable[..., Web], site: Site) -> None:
    web = web_for(site, ncbi_max_retries=1)
    url = site.says("/x", b"damaged")

    def check(answer: Answer) -> None:
        if answer.body == b"damaged":
            raise Unreachable("It arrived damaged.")

    with pytest.raises(Unreachable):
        web.get(url, check=check, kept=True)
    site.says("/x", b"whole")
    assert web.get(url, check=check, kept=True).body == b"whole"


def test_what_today_s_check_refuses_is_asked_again(web: Web, site: Site) -> None:
    url = site.says("/x", b"old form")
    web.get(url, kept=True)
    site.says("/x", b"new form")

    def check(answer: Answer) -> None:
        if answer.body == b"old form":
            raise Unreachable("It is in an old form.")

    assert web.get(url, check=check, kept=True).body == b"new form"


# -- asked anew ------------------------------------------------------------------------------


def test_a_day_later_it_is_asked_whether_it_has_changed(web: Web, site: Site) -> None:
    def answer(visit: Visit) -> None:
        same = visit.headers.get("If-None-Match") == '"1"'
        visit.reply(b"" if same else LONG, 304 if same else 200, ETag='"1"')

    url = site.on("/x", answer)
    web.get(url, kept=True)
    time.sleep(1.1 * DAY)
    assert web.get(url, kept=True).body == LONG
    assert web.get(url, kept=True).body == LONG  # fresh again
    assert [visit.headers.get("If-None-Match") for visit in site.visits] == [None, '"1"']


def test_who_asks_anew_is_given_what_is_new(web: Web, site: Site) -> None:
    url = site.says("/x", b"old", Last_Modified="Wed, 21 Oct 2015 07:28:00 GMT")
    web.get(url, kept=True)
    time.sleep(1)
    site.says("/x", b"new")
    with require_answers_since(time.time()):
        assert web.get(url, kept=True).body == b"new"
        assert web.get(url, kept=True).body == b"new"
    assert site.visits[1].headers["If-Modified-Since"] == "Wed, 21 Oct 2015 07:28:00 GMT"
    assert len(site.visits) == 2


def test_validators_go_only_where_the_body_came_from(web: Web, site: Site) -> None:
    site.says("/b", b"x", ETag='"1"')
    url = site.redirect("/a", "/b")
    web.get(url, kept=True)
    time.sleep(2 * DAY)
    web.get(url, kept=True)
    sent = [(v.path, v.headers.get("If-None-Match")) for v in site.visits]
    assert sent == [("/a", None), ("/b", None), ("/a", None), ("/b", '"1"')]


def test_a_304_that_was_not_asked_for_is_no_answer(web: Web, site: Site) -> None:
    url = site.says("/x", b"", 304)
    with pytest.raises(NotAvailable):
        web.get(url, kept=True)
    site.says("/x", b"here")
    assert web.get(url, kept=True).body == b"here"


# -- what is not kept ------------------------------------------------------------------------


def test_no_secret_is_kept(web: Web, site: Site, shelf: Path) -> None:
    echoes = {"Set_Cookie": SECRET, "X_ELS_APIKey": SECRET, "X_Echo": SECRET}
    url = site.says("/x", b"x", **echoes)
    web.get(url, {"api_key": SECRET, "email": SECRET}, headers={"X-API-Key": SECRET}, kept=True)
    [row] = [web.journal.index.get("answer", name) for name in _names(shelf)]
    assert SECRET not in str(row)
    assert "Echo" not in str(row)
    assert SECRET.encode() not in everything(shelf)


def _names(shelf: Path) -> list[str]:
    with sqlite3.connect(shelf / "fetched/index/cache.db") as db:
        return [str(key).partition(":")[2] for (key,) in _keys(db)]


def _keys(db: sqlite3.Connection) -> list[tuple[str]]:
    import json
    import zlib

    rows = db.execute("SELECT key FROM Cache").fetchall()
    return [(json.loads(zlib.decompress(key)),) for (key,) in rows]


def test_it_is_for_its_owner_only(web: Web, site: Site, shelf: Path) -> None:
    web.get(site.says("/x", LONG), kept=True)
    folders = [shelf / "fetched", *(p for p in (shelf / "fetched").rglob("*") if p.is_dir())]
    assert {path.stat().st_mode & 0o777 for path in folders} == {0o700}
    [body] = (shelf / "fetched").rglob("*.gz")
    assert body.stat().st_mode & 0o777 == 0o600


# -- trouble ---------------------------------------------------------------------------------


def test_a_damaged_index_is_set_aside_and_costs_a_question(
    web: Web, site: Site, shelf: Path
) -> None:
    url = site.says("/x", LONG)
    web.get(url, kept=True)
    web.journal.index.close()
    (shelf / "fetched/index/cache.db").write_bytes(b"this is no database " * 1000)
    other = again(web)
    assert other.get(url, kept=True).body == LONG
    assert other.get(url, kept=True).body == LONG
    assert len(site.visits) == 2
    assert (shelf / "fetched/index.damaged").is_dir()


@pytest.mark.parametrize("harm", ["torn", "another", "gone"])
def test_a_damaged_body_is_asked_for_again(web: Web, site: Site, shelf: Path, harm: str) -> None:
    url = site.says("/x", LONG)
    web.get(url, kept=True)
    [body] = shelf.rglob("*.gz")
    if harm == "gone":
        body.unlink()
    else:
        BodyStore(shelf / "other").store_body(b"another")
        [other] = (shelf / "other").rglob("*.gz")
        body.write_bytes(body.read_bytes()[:-9] if harm == "torn" else other.read_bytes())
    assert web.get(url, kept=True).body == LONG
    assert len(site.visits) == 2


def test_a_full_disk_costs_the_journal_and_no_answer(
    web: Web, site: Site, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(*_: object) -> str:
        raise StoreFailed("The disk is full.")

    urls = [site.says(f"/{n}", LONG + b"%d" % n) for n in range(5)]
    with monkeypatch.context() as patched:
        patched.setattr(BodyStore, "store_body", full)
        for url in urls:
            assert web.get(url, kept=True).body.startswith(LONG)
    assert sum("cannot be stored" in record.message for record in caplog.records) == 1
    assert web.get(urls[0], kept=True).body.startswith(LONG)
    assert len(site.visits) == 6


# -- sweeping --------------------------------------------------------------------------------


def test_what_is_old_or_too_much_is_swept_the_oldest_first(tmp_path: Path, clock) -> None:
    bodies, shelf = BodyStore(tmp_path / "bodies"), tmp_path / "raw.gz"
    names = []
    for n in range(4):
        names.append(bodies.store_body(bytes([n]) * 1000 + LONG))
        at = time.time() - (10 - n) * DAY
        _set_time(bodies, names[-1], at)
    bodies.link_or_write_body(bytes([0]) * 1000 + LONG, shelf)  # the oldest is on the shelf
    size = max(path.stat().st_size for path in (tmp_path / "bodies").rglob("*.gz"))
    assert bodies.delete_old_bodies(2 * size) == 1
    assert [bodies.read_body(name) is not None for name in names] == [True, False, True, True]
    time.sleep(28 * DAY)
    assert bodies.delete_old_bodies() == 4 - 1
    assert shelf.exists()
    assert bodies.delete_old_bodies() == 0


def test_what_came_within_the_hour_is_never_swept(tmp_path: Path) -> None:
    bodies = BodyStore(tmp_path)
    name = bodies.store_body(LONG)
    assert bodies.delete_old_bodies(0) == 0
    assert bodies.read_body(name) == LONG


def _set_time(bodies: BodyStore, name: str, at: float) -> None:
    import os

    [path] = bodies.folder.rglob(f"{name}.gz")
    os.utime(path, (at, at))


def test_the_same_bytes_lie_there_once(tmp_path: Path) -> None:
    bodies = BodyStore(tmp_path / "bodies")
    assert bodies.store_body(LONG) == bodies.store_body(LONG)
    [path] = (tmp_path / "bodies").rglob("*.gz")
    bodies.link_or_write_body(LONG, tmp_path / "raw.gz")
    assert path.samefile(tmp_path / "raw.gz")


# -- one at a time ---------------------------------------------------------------------------


def test_what_two_ask_at_once_is_asked_once(web: Web, site: Site) -> None:
    asked, go_on = threading.Event(), threading.Event()

    def answer(visit: Visit) -> None:
        asked.set()
        go_on.wait(30)
        visit.reply(b"x")

    url = site.on("/x", answer)
    got: list[bytes] = []
    others = [web, web, again(web)]
    threads = [
        threading.Thread(target=lambda who=who: got.append(who.get(url, kept=True).body))
        for who in others
    ]
    for thread in threads:
        thread.start()
    assert asked.wait(30)
    threading.Event().wait(0.3)  # whoever would ask a second time has
    go_on.set()
    for thread in threads:
        thread.join(30)
    assert got == [b"x"] * 3
    assert len(site.visits) == 1


def test_who_waits_asks_himself_when_the_first_was_given_nothing(
    web_for: Callable[..., Web], site: Site
) -> None:
    web = web_for(site, ncbi_max_retries=1)
    asked, left = threading.Event(), [1]

    def answer(visit: Visit) -> None:
        asked.set()
        left[0] -= 1
        visit.reply(b"x", 500 if left[0] >= 0 else 200)

    url = site.on("/x", answer)
    with pytest.raises(Unreachable):
        web.get(url, kept=True)
    assert again(web).get(url, kept=True).body == b"x"
