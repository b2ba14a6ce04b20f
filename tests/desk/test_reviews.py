"""Reviews on the desk: protocol, screening by several people, undo, conflicts, figure."""

import re

import pytest

from tests.desk.conftest import ORIGIN
from utils.lists.pasted import ListEntry
from utils.model.identifiers import Ids
from utils.model.paper import Paper

TOPICS = ["Sphagnum moss stores water in peat", "Traffic noise and the sleep of drivers"]


@pytest.fixture
def review(shelf_library):
    """A review of six records; two screeners decide each."""
    made = shelf_library.reviews.create("moss")
    entries = []
    for number in range(1, 7):
        title = f"{TOPICS[number % 2]} {number}"
        ids = Ids(pmid=str(number))
        entries.append(
            (ListEntry(str(ids), ids), Paper(ids, title=title, abstract=f"About {title}."))
        )
    with made.ledger.record_event("update", {}) as writer:
        writer.add_records("databases", entries)
    return made


def screen(browser, screener="ann", stage="title_abstract"):
    return browser.get("/review/screen", name="moss", screener=screener, stage=stage)


def read_key(page):
    return re.findall(r'name="key" value="(ps-[0-9a-f]+)"', page.text)[-1]


def decide(browser, key, choice, screener="ann", stage="title_abstract", **more):
    form = {"name": "moss", "key": key, "screener": screener, "stage": stage, "choice": choice}
    return browser.post("/review/decide", **form, **more)


def outcomes(review):
    return {one.record.key: one.first for one in review.standings()}


def test_a_review_is_created_and_its_protocol_filled_in(browser, shelf_library):
    page = browser.post("/reviews/create", name="peat-bogs")
    assert page.url.path == "/review"
    form = {
        "name": "peat-bogs",
        "title": "Peat: a 'review'",
        "question": "Does <b>moss</b> keep water?",
        "include": "about moss\nin peat",
        "exclude": "not about moss\nno data",
        "source": ["pubmed", "europepmc"],
        "query": ["moss[ti]", ""],
        "screeners": "1",
        "resolver": "Ann",
    }
    page = browser.post("/review/protocol", **form)
    assert "Does &lt;b&gt;moss&lt;/b&gt; keep water?" in page.text
    made = shelf_library.reviews.open("peat-bogs")
    protocol = made.protocol()
    assert (protocol.title, protocol.screeners, protocol.resolver) == ("Peat: a 'review'", 1, "Ann")
    assert protocol.exclude_if == ("not about moss", "no data")
    assert [(one.source, one.query.text) for one in protocol.databases] == [("pubmed", "moss[ti]")]
    text = (made.folder / "protocol.yaml").read_text(encoding="utf-8")
    assert "# Searched by `review update`" in text
    assert text.count("\ncriteria:") == 1


def test_a_protocol_that_would_not_be_valid_is_not_written(browser, review):
    before = (review.folder / "protocol.yaml").read_bytes()
    page = browser.post("/review/protocol", name="moss", title="x", screeners="99")
    assert page.status_code == 400
    assert (review.folder / "protocol.yaml").read_bytes() == before


@pytest.mark.parametrize("name", ["../moss", "MOSS", "", "a/b", "nothing"])
def test_no_name_leads_out_of_the_reviews(browser, review, name):
    for path in ("/review", "/review/screen", "/review/conflicts"):
        assert browser.get(path, name=name, screener="ann").status_code in (400, 404)
    assert browser.post("/review/decide", name=name).status_code in (400, 404)


def test_records_are_screened_one_after_the_other(browser, review):
    seen = set()
    page = screen(browser)
    for choice in ("include", "exclude", "maybe", "exclude:not about moss", "include", "include"):
        key = read_key(page)
        assert key not in seen
        seen.add(key)
        page = decide(browser, key, choice)
    assert "Nothing is left to screen" in page.text
    decided = review.ledger.list_decisions()
    assert {one.screener for each in decided.values() for one in each} == {"ann"}
    assert ("not about moss",) in [one.reasons for each in decided.values() for one in each]
    assert set(outcomes(review).values()) == {"undecided"}  # bob has not screened


def test_a_decision_is_undone_and_shown_again(browser, review):
    key = read_key(screen(browser))
    page = decide(browser, key, "exclude")
    assert "Undo" in page.text
    form = {"name": "moss", "key": key, "screener": "ann", "stage": "title_abstract"}
    browser.post("/review/undo", **form)
    assert review.ledger.list_decisions() == {}
    assert "0 records decided, 6 to go" in screen(browser).text
    assert len(review.events()) == 4  # new, update, decision, undone: nothing is deleted


def test_undoing_a_changed_decision_restores_the_former_one(browser, review):
    key = read_key(screen(browser))
    decide(browser, key, "include")
    decide(browser, key, "exclude")
    browser.post("/review/undo", name="moss", key=key, screener="ann", stage="title_abstract")
    assert [one.choice for one in review.ledger.list_decisions()[key]] == ["include"]


def test_screeners_do_not_see_each_other_and_disagree(browser, review):
    key = read_key(screen(browser))
    decide(browser, key, "include", "ann")
    page = decide(browser, key, "exclude", "bob", reason="secret reason of bob")
    assert outcomes(review)[key] == "conflict"
    assert "secret reason" not in screen(browser, "cid").text
    assert "bob" not in screen(browser, "cid").text
    assert "1 record decided, 5 to go" in page.text
    conflicts = browser.get("/review/conflicts", name="moss")
    assert "secret reason of bob" in conflicts.text
    decide(browser, key, "exclude", "consensus", back="conflicts", reason="agreed")
    assert outcomes(review)[key] == "exclude"
    assert "0 conflicts" in browser.get("/review/conflicts", name="moss").text


def test_a_report_is_excluded_with_a_reason_only(browser, review):
    key = read_key(screen(browser))
    for one in ("ann", "bob"):
        decide(browser, key, "include", one)
    page = screen(browser, stage="full_text")
    assert "The text of this report is not on the shelf" in page.text
    assert decide(browser, key, "exclude", stage="full_text").status_code == 400
    decide(browser, key, "exclude", stage="full_text", reason="no data")
    decide(browser, key, "exclude", "bob", stage="full_text", reason="no data")
    [standing] = [one for one in review.standings() if one.record.key == key]
    assert (standing.second, standing.reason) == ("exclude", "no data")


@pytest.mark.parametrize(
    "form",
    [
        {"choice": "delete"},
        {"screener": ""},
        {"screener": "x" * 61},
        {"stage": "abstract"},
        {"key": "ps-000000000000"},
        {"key": "' OR 1=1 --"},
    ],
)
def test_a_decision_that_cannot_be_is_refused(browser, review, form):
    known = {"name": "moss", "key": "ps-0", "screener": "ann", "stage": "title_abstract"}
    answer = browser.post("/review/decide", **{**known, "choice": "include", **form})
    assert answer.status_code in (400, 404)
    assert review.ledger.list_decisions() == {}


def test_the_order_is_learned_from_decisions(browser, review):
    pytest.importorskip("sklearn", reason="needs the extra rank")
    standings = review.standings()
    moss = [one.record.key for one in standings if "moss" in one.record.paper.title]
    noise = [one.record.key for one in standings if "moss" not in one.record.paper.title]
    for screener in ("ann", "bob"):
        review.record_decision(moss[0], screener, "include", stage="title_abstract")
        review.record_decision(noise[0], screener, "exclude", stage="title_abstract")
    assert read_key(screen(browser, "cid")) in moss


def test_the_page_of_a_review_has_its_numbers_and_figure(browser, review):
    page = browser.get("/review", name="moss").text
    assert "<svg" in page
    assert "Records screened" in page
    assert 'href="/review?name=moss"' in browser.get("/reviews").text
    browser.post("/review/report", name="moss")
    assert (review.folder / "review.html").exists()


def test_decisions_of_a_program_are_read(browser, review):
    table = b"pmid,decision,stage\n1,include,title_abstract\n"
    answer = browser.client.post(
        "/review/import",
        data={"csrf": browser.csrf, "name": "moss"},
        files={"file": ("../mine.csv", table)},
        headers={"origin": ORIGIN},
    )
    assert "Read: 1 decision on 1 record." in answer.text
    assert len(review.ledger.list_decisions()) == 1


def test_a_hostile_record_is_shown_as_text(browser, review):
    attack = "<script>alert(1)</script><img src=x onerror=alert(1)>"
    with review.ledger.record_event("update", {}) as writer:
        paper = Paper(Ids(pmid="9"), title=attack, abstract=attack, keywords=(attack,))
        writer.add_records("databases", [(ListEntry("PMID 9", paper.ids), paper)])
    for number in range(7):
        page = screen(browser, f"s{number}")
        assert "<script>alert" not in page.text
        assert "<img src=x" not in page.text
    key = next(one.key for one in review.ledger.list_records() if one.paper.title == attack)
    decide(browser, key, "include", attack[:20])
    decide(browser, key, "exclude", "bob", reason=attack)
    for path in ("/review/conflicts", "/review"):
        assert "<img src=x" not in browser.get(path, name="moss").text
        assert "<script>alert" not in browser.get(path, name="moss").text


def upload_list(browser, name, data, kind="database"):
    return browser.client.post(
        "/review/list",
        data={"csrf": browser.csrf, "name": "moss", "kind": kind, "title": "Embase <b>"},
        files={"file": (name, data)},
        headers={"origin": ORIGIN},
    )


RIS = b"TY  - JOUR\nTI  - Peat\nDO  - 10.1000/peat\nER  - \n"


@pytest.mark.parametrize("name", ["embase.ris", "../../up.ris", "C:\\x\\con.ris", ".hidden", "a/b"])
def test_a_list_is_added_to_the_protocol_whatever_its_name(browser, review, name):
    before = set(review.folder.iterdir())
    page = upload_list(browser, name, RIS)
    assert "The list was added." in page.text
    assert "Embase &lt;b&gt;" in page.text
    [listed] = review.protocol().lists
    assert listed.path.parent == review.folder
    assert set(review.folder.iterdir()) - before - {review.folder / "update.lock"} == {listed.path}
    assert listed.path.read_bytes() == RIS


@pytest.mark.parametrize(("data", "kind"), [(b"nothing here", "database"), (RIS, "magic")])
def test_a_list_that_cannot_be_read_changes_nothing(browser, review, data, kind):
    assert upload_list(browser, "embase.ris", data, kind).status_code == 400
    assert review.protocol().lists == ()
    assert not list(review.folder.glob("embase*"))


@pytest.mark.parametrize(("program", "start"), [("rayyan", b"key"), ("zotero", b"PK")])
def test_records_are_exported_for_a_screening_program(browser, review, program, start):
    form = {"name": "moss", "program": program, "stage": "title_abstract"}
    sent = browser.post("/review/export", **form)
    assert sent.content.startswith(start)
    assert "attachment" in sent.headers["content-disposition"]
    assert browser.post("/review/export", **{**form, "program": "../x"}).status_code == 400


def test_possible_duplicates_are_looked_at_and_one_is_excluded(browser, review):
    assert "0 possible duplicates" in browser.get("/review/duplicates", name="moss").text
    ids = Ids(doi="10.1000/peat")
    title = review.ledger.list_records()[0].paper.title
    twin = Paper(ids, title=title, abstract=f"About {title}.")
    with review.ledger.record_event("update", {}) as writer:
        writer.add_records("databases", [(ListEntry("10.1000/peat", ids), twin)])
    page = browser.get("/review/duplicates", name="moss")
    stays, twin = re.findall(r'name="key" value="(ps-[0-9a-f]+)"', page.text)[:2]
    form = {"name": "moss", "key": twin, "other": stays, "screener": "consensus"}
    page = browser.post("/review/duplicates/decide", **form, choice="duplicate")
    assert "0 possible duplicates" in page.text
    assert "1 pair decided" in page.text
    assert outcomes(review)[twin] == "duplicate"
    assert review.numbers().duplicates == 1
    assert "6 to go" in screen(browser).text
    page = browser.post("/review/duplicates/decide", **form, choice="not_duplicate")
    assert "0 possible duplicates" in page.text
    assert outcomes(review)[twin] == "undecided"
    for wrong in ({"choice": "exclude"}, {"other": "ps-0"}, {"other": twin}, {"key": ""}):
        answer = browser.post(
            "/review/duplicates/decide", **{**form, "choice": "duplicate", **wrong}
        )
        assert answer.status_code in (400, 404)
