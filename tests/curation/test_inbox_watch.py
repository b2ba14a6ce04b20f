"""Folders that fill while somebody looks: what is filed, what is left alone, what is said."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.curation.test_inbox import drop, harvested, inbox, listed
from tests.processes import Process, eventually
from tests.world.pdf import pdf_of
from utils import Library
from utils.curation import file_matching, inbox_watch
from utils.curation import inbox as inbox_module
from utils.curation.inbox_watch import watch_inbox
from utils.demo import pages
from utils.errors import BadRequest, StoreFailed
from utils.harvest.jobs import Ledgers
from utils.readers.pubmed import iterate_records
from utils.system import safe_files

__all__ = ["inbox"]
ROOT = Path(__file__).resolve().parents[2]
EVERY_S = 7.0  # unlike any other pause


@pytest.fixture
def downloads(tmp_path):
    folder = tmp_path / "Downloads"
    folder.mkdir()
    return folder


@pytest.fixture
def watched(library, monkeypatch, clock):
    """Watch while steps are taken, one before each look; what was told after each."""
    monkeypatch.setattr(inbox_watch, "EVERY_S", EVERY_S)

    def run(*steps, **options):
        told, left = [[]], iter(steps)

        def nap(seconds):
            clock.sleep(seconds)
            if seconds == EVERY_S:
                step = next(left, None)
                if step is None:
                    raise KeyboardInterrupt
                told.append([])
                step()

        def look():
            for one in watch_inbox(library.ladder, **options):
                told[-1].append(one)

        with monkeypatch.context() as staged:
            staged.setattr(time, "sleep", nap)
            with pytest.raises(KeyboardInterrupt):
                look()
        return told

    return run


@pytest.fixture
def reads(monkeypatch):
    """The names of the files that are read, as they are."""
    names = []
    read = file_matching.read_submitted_file

    def counted(path):
        names.append(path.name)
        return read(path)

    monkeypatch.setattr(file_matching, "read_submitted_file", counted)
    return names


def worklist(harvest):
    return (harvest.folder / "worklist.html").read_text(encoding="utf-8")


def state(folder):
    return {
        path.name: (path.lstat().st_mtime_ns, path.lstat().st_ino, path.lstat().st_size)
        for path in folder.iterdir()
    }


def test_each_file_is_filed_as_it_arrives_and_ticked_off_at_once(
    library, world, inbox, downloads, watched
):
    first, second = world.paper("paywall"), world.paper("login")
    harvest = harvested(library, first, second)
    list(library.upkeep.take_in())
    harvest.report()
    pages_seen = [worklist(harvest)]

    told = watched(
        lambda: drop(inbox, "a.pdf", pdf_of(first)),
        lambda: (
            pages_seen.append(worklist(harvest)),
            drop(downloads, "main.pdf", pdf_of(second)),
        ),
        lambda: pages_seen.append(worklist(harvest)),
        folder=downloads,
    )

    assert [[one.outcome for one in step] for step in told] == [[], ["filed"], ["filed"], []]
    assert told[1][0].file == "a.pdf"
    assert told[2][0].file == str(downloads / "main.pdf")
    assert told[2][0].jobs == (harvest.job_id,)
    heads = [page.partition("<h1>")[2].partition("</h1>")[0] for page in pages_seen]
    assert heads == ["2 papers to download", "1 paper to download", "All papers have arrived"]
    assert listed(inbox / "filed") == ["a.pdf", "main.pdf"]
    assert listed(downloads) == ["main.pdf"]


def test_of_a_foreign_folder_only_papers_asked_for_are_copied_and_nothing_changes(
    library, world, downloads, watched
):
    asked, other = world.paper("paywall"), world.paper("captcha")
    harvested(library, asked)
    drop(downloads, "theirs.pdf", pdf_of(other))
    drop(downloads, "tax.pdf", b"%PDF-1.4 nothing")
    drop(downloads, "asked.pdf", pdf_of(asked))
    drop(downloads, "notes.txt", f"doi:{asked.doi}")
    (downloads / "link.pdf").symlink_to(downloads / "asked.pdf")
    os.mkfifo(downloads / "pipe.pdf")
    before, requests = state(downloads), len(world.requests)

    told = watched(lambda: None, folder=downloads)

    assert [Path(one.file).name for step in told for one in step] == ["asked.pdf"]
    assert state(downloads) == before
    assert listed(library.settings.papers_dir / "inbox" / "filed") == ["asked.pdf"]
    assert len(world.requests) == requests  # nobody is told what else lies there
    assert library.list_papers()[0] == 1


def test_a_paper_the_shelf_has_as_an_abstract_is_asked_for_without_any_harvest(
    library, world, downloads
):
    record = world.paper("abstract_only")
    assert library.download(record.pmid).stored.kind == "abstract"
    drop(downloads, "scan0001.pdf", pdf_of(record))
    [done] = library.upkeep.take_in(folder=downloads)
    assert (done.outcome, library.find(record.pmid).kind) == ("filed", "full_text")


def test_of_two_files_of_a_paper_the_newest_is_filed_and_the_other_left(library, world, downloads):
    record = world.paper("paywall")
    harvested(library, record)
    for name, age in (("old.pdf", 100), ("new.pdf", 50), ("older.pdf", 200)):
        path = drop(downloads, name, pdf_of(record))
        os.utime(path, (time.time() - age,) * 2)
    assert [Path(one.file).name for one in library.upkeep.take_in(folder=downloads)] == ["new.pdf"]
    assert list(library.upkeep.take_in(folder=downloads)) == []


def test_names_that_are_no_text_do_no_harm(library, world, downloads):
    record = world.paper("paywall")
    harvested(library, record)
    drop(downloads, os.fsdecode(b"\xff\x1b[2Jpaper.pdf"), pdf_of(record))
    [done] = library.upkeep.take_in(folder=downloads)
    assert done.outcome == "filed"
    assert "\x1b" not in done.file
    done.file.encode()
    assert len(listed(library.settings.papers_dir / "inbox" / "filed")) == 1
    assert list(library.upkeep.take_in(folder=downloads)) == []


def test_a_file_is_read_once_until_it_changes_or_is_asked_for(
    library, world, downloads, watched, reads
):
    asked, later = world.paper("paywall"), world.paper("login")
    harvested(library, asked)
    path = drop(downloads, "later.pdf", pdf_of(later))
    drop(downloads, "other.pdf", pdf_of(world.paper("captcha")))

    watched(lambda: None, lambda: os.utime(path, (1, 1)), folder=downloads)
    assert sorted(reads) == ["later.pdf", "later.pdf", "other.pdf"]
    reads.clear()

    assert list(library.upkeep.take_in(folder=downloads)) == []  # another process, later
    assert reads == []

    harvested(library, later)
    [done] = library.upkeep.take_in(folder=downloads)
    assert (done.outcome, set(reads)) == ("filed", {"later.pdf"})


def test_what_is_kept_of_a_foreign_folder_tells_nobody_what_is_in_it(library, world, downloads):
    harvested(library, world.paper("paywall"))
    other = world.paper("captcha")
    drop(downloads, "love letter.pdf", pdf_of(other))
    list(library.upkeep.take_in(folder=downloads))
    [kept] = (library.settings.papers_dir / ".papershelf" / "looked_at").iterdir()
    text = str(kept) + kept.read_text(encoding="utf-8")
    assert json.loads(kept.read_text(encoding="utf-8"))
    assert not [word for word in ("letter", other.doi, other.plain_title) if word in text]
    kept.write_text("[damaged", encoding="utf-8")
    assert list(library.upkeep.take_in(folder=downloads)) == []


@pytest.mark.parametrize("ending", ["crdownload", "part", "download"])
def test_a_download_under_way_is_left_alone_until_it_is_whole(
    library, world, downloads, watched, reads, ending
):
    record = world.paper("paywall")
    harvested(library, record)
    under_way = downloads / f"main.pdf.{ending}"

    def begin():
        drop(downloads, under_way.name, pdf_of(record)[:2000])
        drop(downloads, "main.pdf", b"")  # Firefox keeps the name so

    told = watched(
        begin,
        lambda: under_way.write_bytes(pdf_of(record)),
        lambda: under_way.replace(downloads / "main.pdf"),
        lambda: None,
        folder=downloads,
    )
    assert [len(step) for step in told] == [0, 0, 0, 1, 0]
    assert set(reads) == {"main.pdf"}


@pytest.mark.parametrize("where", ["inbox", "downloads"])
def test_a_file_that_grows_waits_without_a_word(
    library, world, inbox, downloads, watched, clock, monkeypatch, where
):
    record = world.paper("paywall")
    harvested(library, record)
    home = {"inbox": inbox, "downloads": downloads}[where]
    body, settle = pdf_of(record), inbox_watch.list_complete_files

    def write(size):
        path = drop(home, "main.pdf", body[:size])
        os.utime(path, (clock.time(), clock.time()))

    def grow(folder, *fits):
        """Between the two looks of `list_files`, which naps where a file is young."""
        sleep = time.sleep

        def nap(seconds):
            for path in home.glob("main.pdf"):
                if path.stat().st_size < len(body):
                    write(path.stat().st_size + 1000)
            sleep(seconds)

        with monkeypatch.context() as growing:
            growing.setattr(time, "sleep", nap)
            return settle(folder, *fits)

    monkeypatch.setattr(inbox_module, "list_complete_files", grow)
    monkeypatch.setattr(inbox_watch, "list_complete_files", grow)
    told = watched(*[lambda n=n: write(1000 * n) for n in (1, 3, 5, 7)], folder=downloads)
    assert [one.outcome for step in told for one in step] == ["filed"]
    assert {path.read_bytes() for path in (inbox / "filed").iterdir()} == {body}


def test_a_refusal_is_told_once_and_again_when_the_file_has_changed(
    library, world, inbox, downloads, watched
):
    record = world.paper("paywall")
    harvested(library, record)
    page = drop(downloads, "landing.html", pages.paywall_page(record, "https://e.org", "meadow"))
    drop(inbox, "junk.pdf", b"%PDF-1.4 nothing")
    told = watched(
        *[lambda: None] * 3,
        lambda: page.write_text(
            pages.build_article_page(record, "https://e.org"), encoding="utf-8"
        ),
        folder=downloads,
    )
    outcomes = [[one.outcome for one in step] for step in told]
    assert outcomes == [["rejected", "rejected"], [], [], [], ["filed"]]
    assert told[0][1].paper == f"doi:{record.doi.lower()}"
    assert listed(inbox) == ["filed", "junk.pdf"]


def test_a_paper_that_only_cites_one_asked_for_is_no_business_of_ours(
    library, world, downloads, watched
):
    from tests.own_words import CITING, REFERENCES, prose

    asked = world.paper("paywall")
    harvested(library, asked)
    words = f"{prose(900)} {CITING}".replace("\n\n", "</p><p>")
    drop(
        downloads,
        "tea.html",
        f"<html><body><article><h1>My unpublished thoughts on tea</h1><p>See doi:{asked.doi}.</p>"
        f"<h2>Methods</h2><p>{words}</p><h2>Results</h2><p>{words}</p>{REFERENCES}"
        "</article></body></html>",
    )
    assert watched(lambda: None, folder=downloads) == [[], []]
    assert listed(library.settings.papers_dir / "inbox") == []


def test_what_nobody_could_tell_is_told_once_and_tried_again_later(library, world, inbox, watched):
    drop(inbox, "a.pdf", pdf_of(world.paper("paywall")))
    world.mood("down")
    told = watched(*[lambda: None] * 50, world.calm, *[lambda: None] * 50)
    assert [one.outcome for step in told for one in step] == ["postponed", "filed"]


@pytest.mark.parametrize("step", range(5))
def test_killed_at_any_step_the_next_look_comes_to_the_same_end(
    library, world, downloads, monkeypatch, step
):
    record = world.paper("paywall")
    harvest = harvested(library, record)
    drop(downloads, "a.pdf", pdf_of(record))
    places = [
        (safe_files, "copy_unless_different"), (type(library.shelf), "save_full_text"),
        (type(harvest.ledger), "record_manual_text"), (type(harvest), "report"),
        (safe_files, "delete_if_exists"),
    ]  # fmt: skip
    where, what = places[step]
    with monkeypatch.context() as broken:
        broken.setattr(where, what, _killed)
        if step < 3:
            broken.setattr(Ledgers, "close", lambda _: None)  # whoever is killed writes no report
        with pytest.raises(StoreFailed):
            list(library.upkeep.take_in(folder=downloads))

    list(library.upkeep.take_in(folder=downloads))

    assert "All papers have arrived" in worklist(harvest)
    assert library.find(record.pmid).kind == "full_text"
    assert listed(library.settings.papers_dir / "inbox") == ["filed"]
    assert listed(library.settings.papers_dir / "inbox" / "filed") == ["a.pdf"]
    assert (downloads / "a.pdf").read_bytes() == pdf_of(record)


def _killed(*_, **__):
    raise StoreFailed("killed")


@pytest.mark.shared
def test_among_real_articles_those_asked_for_are_filed_and_each_as_itself(
    settings, shared, downloads
):
    papers = {}
    for folder in [*sorted((shared / "pdf_pairs").iterdir()), *(shared / "articles").glob("PMC5*")]:
        record, jats = folder / "pubmed.derived.xml", folder / "jats.xml"
        record = record if record.exists() else folder / "pubmed.xml"
        if record.exists() and jats.exists() and len(papers) < 24:
            [paper] = iterate_records(record.read_bytes())
            text = folder / "paper.pdf"
            text = text if text.exists() and len(papers) < 4 else jats
            drop(downloads, f"{len(papers)}{text.suffix}", text.read_bytes())
            papers[downloads / f"{len(papers)}{text.suffix}"] = paper
    with Library(**{**settings, "papers_offline": True}).shelf as shelf:
        for paper in [*papers.values()][::2]:
            shelf.save_abstract(paper, ())

    told = Library(**{**settings, "papers_offline": True}).upkeep.take_in(folder=downloads)

    filed = {Path(one.file): one.paper for one in told if one.outcome == "filed"}
    assert filed == {path: str(paper.ids) for path, paper in [*papers.items()][::2]}
    assert len(filed) == 12


@pytest.mark.parametrize("name", ["nowhere", "file.txt", "papers", "papers/inbox"])
def test_a_folder_that_cannot_be_looked_at_is_refused_by_name(library, tmp_path, name):
    (tmp_path / "papers" / "inbox").mkdir(parents=True)
    (tmp_path / "file.txt").write_text("", encoding="utf-8")
    with pytest.raises(BadRequest, match=name):
        list(library.upkeep.take_in(folder=tmp_path / name))


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.real_time
def test_a_signal_ends_it_with_130_and_no_traceback(settings, world, inbox, downloads, how):
    environment = {name.upper(): str(value) for name, value in settings.items()}
    with Process(
        [sys.executable, ROOT / "server.py", "inbox", "--watch", "--folder", downloads],
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        drop(inbox, "a.pdf", pdf_of(world.paper("paywall")))
        assert eventually(lambda: listed(inbox) == ["filed"])
        process.send_signal(how)
        out, err = process.communicate()
    assert process.returncode == 130
    assert "Traceback" not in err
    assert "No longer watching. Filed: 1." in err
    assert out.startswith(f"● a.pdf: filed as doi:{world.paper('paywall').doi.lower()}, ")
    assert out.count("\n") == 1
