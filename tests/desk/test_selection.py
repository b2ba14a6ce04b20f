"""What can be done with papers that are ticked on the shelf."""

import threading

import pytest

from tests.desk.conftest import Browser
from tests.desk.test_pages import TEXT
from tests.world.zotero import Zotero
from utils import Library

NAMES = ["10.1000_moss.txt", "10.1000_fern.txt"]


@pytest.fixture
def two(save):
    save(TEXT, doi="10.1000/moss", title="Moss and light")
    save(TEXT, doi="10.1000/fern", title="Ferns in <b>shade</b>")


def test_a_push_to_zotero_is_shown_before_it_is_done(tmp_path):
    from tests.shelf.papers import paper, save

    with Zotero() as zotero:
        folders = {"papers_dir": tmp_path / "papers", "papers_pace_dir": tmp_path / "pace"}
        with Library(**zotero.settings, **folders, pubmed_email="a@lab.edu") as library:
            save(library.shelf, paper(doi="10.1000/moss"))
            browser = Browser(library).enter()
            form = {"id": ["10.1000_moss.txt"], "collection": "Plants"}
            page = browser.post("/selection/zotero", **form)
            assert "What would be written into Zotero" in page.text
            assert zotero.local.find_live() == []
            page = browser.post("/selection/zotero", **form, confirmed="1")
            assert "Written into Zotero" in page.text
            [item] = zotero.local.find_live(itemType="journalArticle")
            assert item["DOI"] == "10.1000/moss"


def test_without_zotero_the_page_says_so(browser, two):
    page = browser.post("/selection/zotero", id=NAMES)
    assert page.status_code == 400
    assert "Zotero" in page.text


def test_papers_become_a_list_of_a_review(browser, two, shelf_library):
    review = shelf_library.reviews.create("plants")
    form = {"id": NAMES, "review": "plants", "kind": "website"}
    page = browser.post("/selection/review", **form)
    assert "2 papers added as a list." in page.text
    [listed] = review.protocol().lists
    assert (listed.name, listed.kind) == ("The shelf", "website")
    assert listed.path.read_text("utf-8").count("TY  - ") == 2
    browser.post("/selection/review", **form)
    assert len({one.path for one in review.protocol().lists}) == 2
    assert [one.name for one in review.protocol().lists] == ["The shelf", "The shelf (2)"]
    assert browser.post("/selection/review", **{**form, "kind": "magic"}).status_code == 400
    assert len(list(review.folder.glob("from-the-shelf*"))) == 2


def test_media_are_fetched_in_a_thread_and_failures_are_named(browser, two):
    page = browser.post("/selection/media", id=NAMES)
    assert page.url.path == "/task"
    browser.desk.tasks.get("media").thread.join(30)
    page = browser.get("/task", name="media")
    assert "of 2 papers" in page.text
    assert browser.get("/task", name="../x").status_code == 404


def test_a_second_selection_is_not_dropped_while_media_are_fetched(browser, two):
    end = threading.Event()

    def work():
        yield "1 of 2"
        end.wait(30)

    task = browser.desk.tasks.start("media", work())
    page = browser.post("/selection/media", id=NAMES)
    assert page.status_code == 400
    assert "Another selection is being fetched" in page.text
    end.set()
    task.thread.join(30)
    assert "Another selection" not in browser.post("/selection/media", id=NAMES).text
