"""Files dropped by hand, matched and filed: from the stand-in's papers, and from hostile hands."""

import errno
import os
from pathlib import Path

import pytest

from tests.own_words import CITING, REFERENCES, prose
from tests.own_words import paper as whole
from tests.world.pdf import pdf_of, scan_of
from utils.curation import inbox_files
from utils.curation.inbox import file_inbox
from utils.demo import jats, pages
from utils.demo.prose import body
from utils.errors import StoreFailed
from utils.harvest.jobs import Ledgers
from utils.readers.pdf import ocr
from utils.shelf import strip_header
from utils.system import safe_files


@pytest.fixture
def inbox(library):
    folder = library.settings.papers_dir / "inbox"
    folder.mkdir(parents=True)
    return folder


def drop(inbox, name, body):
    path = inbox / name
    path.write_bytes(body if isinstance(body, bytes) else body.encode())
    return path


def listed(folder):
    return sorted(path.name for path in folder.iterdir())


def taken(library):
    return {done.file: done for done in file_inbox(library.ladder)}


def harvested(library, *records):
    harvest = library.harvest([record.pmid for record in records], title="By hand")
    assert list(harvest)[-1].job.counts.pending == 0
    return harvest


def test_a_pdf_is_filed_for_the_paper_it_names_and_moved(library, world, inbox):
    record = world.paper("paywall")
    drop(inbox, "download.pdf", pdf_of(record))

    [done] = taken(library).values()

    assert (done.outcome, done.paper) == ("filed", f"doi:{record.doi.lower()}")
    stored = library.find(record.pmid)
    assert (stored.kind, stored.via, stored.source) == ("full_text", "manual", "DOI")
    assert stored.path == done.file_path
    assert "download.pdf" in stored.attempts[-1].detail
    assert library.shelf.read_raw_answer(stored).fetched.body == pdf_of(record)
    assert listed(inbox) == ["filed"]
    assert (inbox / "filed" / "download.pdf").read_bytes() == pdf_of(record)
    assert done.row()["jobs"] == []


@pytest.mark.parametrize(
    ("ending", "make"),
    [
        ("html", lambda record: pages.build_article_page(record, "https://e.org")),
        ("xml", jats.document),
        ("bin", pdf_of),  # the bytes say what it is
    ],
)
def test_every_kind_of_text_is_read_by_its_own_reader(library, world, inbox, ending, make):
    record = world.paper("captcha")
    drop(inbox, f"x.{ending}", make(record))
    [done] = taken(library).values()
    assert done.outcome == "filed", done.detail
    assert library.find(record.pmid).kind == "full_text"


def test_a_harvest_that_lacked_the_text_says_it_has_it_now(library, world, inbox):
    closed, other = world.paper("paywall"), world.paper("login")
    harvest = harvested(library, closed, other)
    assert harvest.job().counts.abstract == 2
    drop(inbox, "a.pdf", pdf_of(closed))

    [done] = taken(library).values()

    assert done.jobs == (harvest.job_id,)
    counts = harvest.job().counts
    assert (counts.full_text, counts.abstract) == (1, 1)
    row = next(row for row in harvest.ledger.read_outcomes() if row.paper.ids.pmid == closed.pmid)
    assert (row.state, row.via, row.reason, row.detail) == ("full_text", "manual", "", "")
    assert row.file == Path(done.file_path).name
    assert row.attempts[-1].source == "manual"
    missing = (harvest.folder / "not_retrieved.csv").read_text(encoding="utf-8")
    assert closed.pmid not in missing
    assert other.pmid in missing
    assert not list(library.settings.papers_dir.glob(f"pmid_{closed.pmid}_abstract.txt"))


def test_a_paper_nobody_could_look_up_and_one_without_identifier_end_too(library, world, inbox):
    from utils.lists.pasted import ListEntry
    from utils.model.identifiers import Ids

    record = world.paper("paywall")
    world.mood("down")
    entries = [
        ListEntry(record.doi, Ids(doi=record.doi)),
        ListEntry(f"Somebody 2025. {record.plain_title}. A journal", Ids()),
    ]
    harvest = library.harvest(entries, title="Failed")
    list(harvest)
    assert harvest.job().counts.failed == 2
    world.calm()
    drop(inbox, "a.pdf", pdf_of(record))
    [done] = taken(library).values()
    assert done.jobs == (harvest.job_id,)
    assert harvest.job().counts.full_text == 2


def test_a_text_without_identifiers_is_matched_by_its_title(library, world, inbox):
    record = world.paper("abstract_only")  # has no DOI that could be printed in it
    harvested(library, record)
    before = len(world.requests)
    drop(inbox, "scan0001.pdf", pdf_of(record))
    [done] = taken(library).values()
    assert (done.outcome, done.paper) == ("filed", f"PMID {record.pmid}")
    assert len(world.requests) == before


@pytest.mark.parametrize("name", ["{pmid}.pdf", "PMID {pmid}.pdf", "pmid_{pmid}_abstract.pdf"])
def test_a_file_named_after_its_paper_is_that_paper(library, world, inbox, name):
    record = world.paper("abstract_only")
    drop(inbox, name.format(pmid=record.pmid), pdf_of(record))
    [done] = taken(library).values()
    assert (done.outcome, done.paper) == ("filed", f"PMID {record.pmid}")


def test_files_of_unknown_papers_are_looked_up_together(library, world, inbox):
    branches = ("paywall", "login", "captcha", "cookie_wall", "bot_check", "gone")
    for branch in branches:
        drop(inbox, f"{branch}.pdf", pdf_of(world.paper(branch)))
    assert {done.outcome for done in taken(library).values()} == {"filed"}
    asked = [r.path for r in world.requests if r.service in ("eutils", "idconv")]
    assert len(asked) <= 3, asked


def test_what_is_not_the_whole_paper_stays_and_says_why(library, world, inbox, monkeypatch):
    monkeypatch.setattr(ocr, "is_ocr_installed", lambda: False)
    record = world.paper("paywall")
    cut = jats.article(record, full=False)
    drop(inbox, "cut.xml", cut)
    drop(inbox, f"{record.pmid}.pdf", scan_of(record))
    done = taken(library)
    assert {name: one.outcome for name, one in done.items()} == {
        "cut.xml": "rejected",
        f"{record.pmid}.pdf": "rejected",
    }
    assert "scanned images" in done[f"{record.pmid}.pdf"].detail
    assert len(listed(inbox)) == 2
    assert library.shelf.count_papers()["quarantined"] == 0
    assert library.list_papers()[0] == 0


def test_a_file_named_after_another_paper_is_filed_as_what_it_is(library, world, inbox):
    record, other = world.paper("paywall"), world.paper("login")
    drop(inbox, f"{other.pmid}.pdf", pdf_of(record))
    [done] = taken(library).values()
    assert (done.outcome, done.paper) == ("filed", f"doi:{record.doi.lower()}")


def test_an_identifier_that_is_only_cited_does_not_make_it_that_paper(library, world, inbox):
    cited = world.paper("paywall")
    words = f"{prose(900)} {CITING}"
    text = f"# My unpublished thoughts on tea\n\nSee doi:{cited.doi}.\n\n## Methods\n\n{words}"
    drop(
        inbox,
        "tea.md",
        f"{text}\n\n## Results\n\n{words}\n\n{REFERENCES}",
    )
    [done] = taken(library).values()
    assert done.outcome == "rejected"
    assert "a different paper" in done.detail
    assert library.list_papers()[0] == 0


def test_of_two_names_that_contradict_each_other_the_text_decides(library, world, inbox):
    record, cited = world.paper("paywall"), world.paper("login")
    own = " ".join(text for _, paragraphs in body(record) for text in paragraphs)
    words = f"{own} {CITING}"
    head = f"# {record.plain_title}\n\n{' '.join(record.authors[0])}\n\ndoi:{record.doi}\n\n"
    text = f"{head}A comment on PMID: {cited.pmid}.\n\n## Methods\n\n{words}\n\n## Results\n\n"
    drop(
        inbox,
        "a.md",
        f"{text}{words}\n\n{REFERENCES}",
    )
    [done] = taken(library).values()
    assert (done.outcome, done.paper) == ("filed", f"doi:{record.doi.lower()}"), done.detail


def test_who_is_unknown_to_everybody_is_unmatched_and_who_could_not_be_asked_postponed(
    library, world, inbox
):
    record = world.paper("paywall")
    drop(inbox, "a.pdf", pdf_of(record))
    drop(inbox, "10.9999_nobody.txt", "# On nothing at all\n\n" + prose(900))
    world.mood("down")
    done = taken(library)
    assert {one.outcome for one in done.values()} == {"postponed"}
    world.calm()
    done = taken(library)
    assert done["a.pdf"].outcome == "filed"
    assert done["10.9999_nobody.txt"].outcome == "unmatched"
    drop(inbox, "tea.txt", "# Thoughts on tea and its leaves\n\n" + prose(900))
    assert taken(library)["tea.txt"].outcome == "unmatched"


def test_two_papers_of_one_title_are_not_guessed_between(library, inbox):
    from utils.model.identifiers import Ids
    from utils.model.paper import Author, Paper

    for pmid in ("7", "8"):
        paper = Paper(Ids(pmid=pmid), title="Care of the perfused bone core in winter")
        library.shelf.save_abstract(
            Paper(**{**_fields(paper), "authors": (Author("Winter", "A"),)}), ()
        )
    words = f"{prose(600)} We cared for the perfused bone core in winter."
    text = "# Care of the perfused bone core in winter\n\nA Winter\n\n"
    drop(inbox, "core.md", f"{text}## Methods\n\n{words}\n\n## Results\n\n{whole(600, 300)}")
    [done] = taken(library).values()
    assert done.outcome == "ambiguous"
    assert "PMID 7" in done.detail
    assert "PMID 8" in done.detail
    (inbox / "core.md").rename(inbox / "8.md")
    [done] = taken(library).values()
    assert (done.outcome, done.paper) == ("filed", "PMID 8")


def _fields(paper):
    return {name: getattr(paper, name) for name in paper.__dataclass_fields__}


def test_a_text_of_another_shelf_is_taken_without_its_header(library, world, settings, inbox):
    from utils import Library

    record = world.paper("publisher_html")
    theirs = Library(**{**settings, "papers_dir": inbox.parent.parent / "theirs"})
    file = Path(theirs.download(record.pmid).file_path)
    drop(inbox, file.name, file.read_bytes())
    [done] = taken(library).values()
    assert done.outcome == "filed", done.detail
    mine = Path(done.file_path).read_text(encoding="utf-8")
    assert mine.count("- Kind: full_text") == 1
    assert strip_header(mine) == strip_header(file.read_text(encoding="utf-8"))
    theirs.shelf.close()


def test_a_full_text_that_is_there_already_stays(library, world, inbox):
    record = world.paper("pmc_cloud")
    before = library.download(record.pmid).stored
    drop(inbox, "x.pdf", pdf_of(record))
    [done] = taken(library).values()
    assert done.outcome == "filed"
    assert "already" in done.detail
    assert library.find(record.pmid).sha256 == before.sha256
    assert (inbox / "filed" / "x.pdf").exists()


def test_files_of_one_name_are_kept_apart(library, world, inbox):
    for branch in ("paywall", "login"):
        drop(inbox, "main.pdf", pdf_of(world.paper(branch)))
        assert taken(library)["main.pdf"].outcome == "filed"
    kept = inbox / "filed"
    assert listed(kept) == ["main (2).pdf", "main.pdf"]
    assert (kept / "main (2).pdf").read_bytes() == pdf_of(world.paper("login"))


def test_hidden_files_and_downloads_under_way_are_passed_over(library, world, inbox):
    for name in (".hidden.pdf", "a.pdf.part", "b.crdownload", "~$c.txt", "D.PART"):
        drop(inbox, name, pdf_of(world.paper("paywall")))
    (inbox / "folder").mkdir()
    os.mkfifo(inbox / "pipe.pdf")
    assert taken(library) == {}


def test_a_file_that_still_grows_waits(library, world, inbox, monkeypatch, clock):
    import time

    path = drop(inbox, "a.pdf", pdf_of(world.paper("paywall"))[:2000])
    drop(inbox, "empty.pdf", b"")
    sleep = time.sleep

    def grow(seconds):
        path.write_bytes(pdf_of(world.paper("paywall"))[:4000])
        sleep(seconds)

    monkeypatch.setattr(time, "sleep", grow)
    assert {one.outcome for one in taken(library).values()} == {"postponed"}
    monkeypatch.setattr(time, "sleep", sleep)
    drop(inbox, "a.pdf", pdf_of(world.paper("paywall")))
    assert taken(library)["a.pdf"].outcome == "filed"


def test_links_are_not_followed_and_large_files_not_read(library, world, inbox, monkeypatch):
    secret = inbox.parent.parent / "secret.pdf"
    secret.write_bytes(pdf_of(world.paper("paywall")))
    (inbox / "a.pdf").symlink_to(secret)
    (inbox / "nowhere.pdf").symlink_to(inbox / "gone")
    monkeypatch.setattr(inbox_files, "MAX_BODY_BYTES", 10_000)
    drop(inbox, "large.pdf", b"%PDF-1.4" + b"x" * 10_000)
    drop(inbox, "movie.mp4", b"\x00\x01 no paper")
    done = taken(library)
    assert {one.outcome for one in done.values()} == {"rejected"}
    assert "link" in done["a.pdf"].detail
    assert "larger" in done["large.pdf"].detail
    assert "is not PDF" in done["movie.mp4"].detail
    assert library.list_papers()[0] == 0
    assert (inbox / "a.pdf").is_symlink()


def test_names_that_are_no_text_do_no_harm(library, world, inbox):
    name = os.fsdecode(b"\xff\x1b[2Jpaper.pdf")
    drop(inbox, name, pdf_of(world.paper("paywall")))
    [done] = taken(library).values()
    assert done.outcome == "filed"
    assert "\x1b" not in done.file
    done.file.encode()
    assert len(listed(inbox / "filed")) == 1


@pytest.mark.parametrize("step", range(4))
def test_killed_at_any_step_it_comes_to_the_same_end(library, world, inbox, monkeypatch, step):
    record = world.paper("paywall")
    harvest = harvested(library, record)
    drop(inbox, "a.pdf", pdf_of(record))
    places = [
        (type(library.shelf), "save_full_text"),
        (type(harvest.ledger), "record_manual_text"),
        (safe_files, "copy_unless_different"),
        (safe_files, "delete_if_exists"),
    ]
    where, what = places[step]
    with monkeypatch.context() as broken:
        broken.setattr(where, what, _full)
        broken.setattr(Ledgers, "close", lambda _: None)  # whoever is killed writes no report
        with pytest.raises(StoreFailed):
            taken(library)
    assert (inbox / "a.pdf").read_bytes() == pdf_of(record)

    [done] = taken(library).values()

    assert done.outcome == "filed"
    assert record.pmid not in (harvest.folder / "not_retrieved.csv").read_text(encoding="utf-8")
    [row] = harvest.ledger.read_outcomes()
    assert [a.source for a in row.attempts].count("manual") == 1
    assert harvest.job().counts.full_text == 1
    assert library.list_papers()[0] == 1
    stored = library.find(record.pmid)
    assert [a.source for a in stored.attempts].count("manual") == 1
    assert listed(inbox / "filed") == ["a.pdf"]
    assert listed(inbox) == ["filed"]


def _full(*_, **__):
    raise StoreFailed(os.strerror(errno.ENOSPC))


def test_an_empty_shelf_and_an_empty_inbox_are_nothing_to_do(library, inbox):
    assert taken(library) == {}
    inbox.rmdir()
    assert taken(library) == {}
