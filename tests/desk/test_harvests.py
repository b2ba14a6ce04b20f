"""Finding papers, getting them, and following harvests, in the stand-in internet."""

import re

import pytest

from tests.desk.conftest import ORIGIN, Browser
from tests.world.pdf import pdf_of


@pytest.fixture
def online(library):
    return Browser(library).enter()


def wait_for_end(browser, job):
    """Return the page of a harvest that has ended."""
    run = browser.desk.harvests.get_run(job)
    run.thread.join(60)
    page = browser.get("/harvest", job=job)
    assert "Running" not in page.text
    return page


def read_job(page):
    return page.url.params["job"]


def test_a_search_shows_what_is_on_the_shelf(online, library, world):
    paper = world.paper("pmc_cloud")
    library.download(paper.pmid)
    page = online.get("/find", query=paper.title)
    assert page.status_code == 200
    assert paper.title[:40] in page.text
    assert "On your shelf" in page.text


def test_a_query_without_hits_says_so(online, world):
    page = online.get("/find", query="zzzznothing")
    assert "0 hits" in page.text


def test_ticked_papers_are_got_and_the_rest_is_explained(online, world):
    wanted = [f"pmid:{world.paper(name).pmid}" for name in ("pmc_cloud", "paywall")]
    page = online.post("/find/get", id=wanted, query="moss <b>")
    assert page.url.path == "/harvest"
    page = wait_for_end(online, read_job(page))
    assert "<strong>Done</strong>: 2 of 2 papers" in page.text
    assert "Behind a paywall" in page.text
    assert "<b>" not in page.text
    [file] = re.findall(r'href="(/paper\?id=[^"]+)"', online.get("/", kind="full_text").text)[:1]
    assert online.get(file).status_code == 200


def test_nothing_ticked_starts_nothing(online, library, world):
    assert online.post("/find/get", query="moss").status_code == 400
    assert list(library.harvests.all()) == []


def test_a_pasted_list_is_planned_then_started(online, library, world):
    number = world.paper("pmc_cloud").pmid
    plan = online.post("/harvests/plan", list=f"{number}\n{number}\n")
    assert "Papers to download" in plan.text
    assert list(library.harvests.all()) == []
    [wanted] = re.findall(r'name="wanted" value="([^"]+)"', plan.text)
    page = wait_for_end(online, read_job(online.post("/harvests/start", wanted=wanted)))
    assert "<strong>Done</strong>: 1 of 1 paper." in page.text
    assert "Pasted list" in online.get("/harvests").text


def test_an_uploaded_list_is_read(online, world):
    ris = f"TY  - JOUR\nTI  - Moss\nAN  - {world.paper('pmc_cloud').pmid}\nDB  - PubMed\nER  - \n"
    plan = online.client.post(
        "/harvests/plan",
        data={"csrf": online.csrf},
        files={"file": ("../../moss.ris", ris.encode())},
        headers={"origin": ORIGIN},
    )
    assert plan.status_code == 200
    assert "moss.ris" in plan.text


@pytest.mark.parametrize("form", [{}, {"list": "no identifier here"}, {"query": "a", "limit": "x"}])
def test_a_wish_that_cannot_be_read_is_explained(online, world, form):
    page = online.post("/harvests/plan", **form)
    assert page.status_code == 400
    assert "message bad" in page.text


def test_a_plan_that_is_gone_is_explained(online):
    assert "Make the plan again." in online.post("/harvests/start", wanted="gone").text


def test_the_progress_of_a_harvest_is_sent_until_it_ends(online, world):
    page = online.post("/find/get", id=[world.paper("pmc_cloud").pmid], query="x")
    with online.client.stream("GET", "/harvest/events", params={"job": read_job(page)}) as sent:
        assert sent.headers["content-type"].startswith("text/event-stream")
        lines = [line for line in sent.iter_lines() if line]
    assert any(line.startswith('data: <p role="status">') for line in lines)
    assert lines[-2:] == ["event: ended", "data: ended"]


def test_the_events_of_an_unknown_harvest_end_at_once(online):
    with online.client.stream("GET", "/harvest/events", params={"job": "../nothing"}) as sent:
        lines = [line for line in sent.iter_lines() if line and line[0] != ":"]
    assert lines == ["event: ended", "data: ended"]


def test_a_harvest_is_cancelled_and_resumed(online, library, world):
    job = library.harvest([world.paper("pmc_cloud").pmid], title="Moss")
    job.ledger.close()
    page = online.post("/harvest/cancel", job=job.job_id)
    assert "<strong>Cancelled</strong>: 0 of 1 paper" in page.text
    online.post("/harvest/resume", job=job.job_id)
    assert "<strong>Done</strong>: 1 of 1 paper" in wait_for_end(online, job.job_id).text


def test_a_harvest_begun_elsewhere_is_shown(online, library, world):
    harvest = library.harvest([world.paper("paywall").pmid], title="Moss")
    for _ in harvest:
        pass
    page = online.get("/harvest", job=harvest.job_id, reason="paywall")
    assert "https://doi.org/" in page.text
    assert "Done" in online.get("/harvests").text


def test_without_an_email_address_nothing_is_begun(settings, world):
    from utils import Library

    browser = Browser(Library(**settings | {"pubmed_email": ""})).enter()
    page = browser.post("/find/get", id=["31452104"], query="x")
    assert page.status_code == 400
    assert "PUBMED_EMAIL" in page.text


def upload(browser, name, body):
    return browser.client.post(
        "/inbox/upload",
        data={"csrf": browser.csrf},
        files={"files": (name, body)},
        headers={"origin": ORIGIN},
    )


@pytest.mark.parametrize(
    "name",
    ["../../../evil.pdf", "..\\..\\evil.pdf", "/etc/evil.pdf", ".evil.pdf", "a\u202efdp.pdf"],
)
def test_an_uploaded_file_stays_in_the_inbox_whatever_its_name(online, library, name):
    page = upload(online, name, b"%PDF-1.4 nothing")
    assert page.status_code == 200
    assert "Not filed" in page.text
    folder = library.shelf.folder
    assert [path.parent for path in folder.rglob("*evil*.pdf")] in ([folder / "inbox"], [])
    assert not list(folder.parent.glob("*evil*"))


def test_a_file_that_is_no_paper_is_refused(online, library):
    assert upload(online, "evil.exe", b"MZ").status_code == 400
    assert not (library.shelf.folder / "inbox").exists()


def test_two_files_of_one_name_are_both_kept(library):
    paths = [library.upkeep.put_in_inbox("a.pdf", body) for body in (b"%PDF one", b"%PDF two")]
    assert [path.read_bytes() for path in paths] == [b"%PDF one", b"%PDF two"]
    assert [path.name for path in paths] == ["a.pdf", "a-2.pdf"]


def test_a_pdf_that_is_handed_in_is_filed(online, library, world):
    record = world.paper("paywall")
    list(library.harvest([record.pmid]))
    page = upload(online, "download.pdf", pdf_of(record))
    assert "Filed" in page.text
    [place] = re.findall(r'href="(/paper\?id=[^"]+)"', page.text)
    assert record.title[:30] in online.get(place).text


def test_the_references_of_a_dropped_document_are_planned(online, world):
    words = f"References\n\n1. Doe J. Moss. doi:{world.paper('pmc_cloud').doi}\n"
    text = f"# A paper\n\nMoss grows [1].\n\n# {words}"
    plan = online.client.post(
        "/harvests/plan",
        data={"csrf": online.csrf},
        files={"file": ("draft.md", text.encode())},
        headers={"origin": ORIGIN},
    )
    assert plan.status_code == 200
    assert "<dd>1</dd>" in plan.text


def test_a_document_without_references_is_explained(online, world):
    page = online.client.post(
        "/harvests/plan",
        data={"csrf": online.csrf},
        files={"file": ("draft.docx", b"PK nothing")},
        headers={"origin": ORIGIN},
    )
    assert page.status_code == 400


def test_the_missing_papers_have_links_of_the_readers_library(settings, world):
    from utils import Library

    library = Library(**settings, papers_openurl="https://resolver.example/find")
    harvest = library.harvest([world.paper("paywall").pmid], title="Moss")
    list(harvest)
    page = Browser(library).enter().get("/harvest", job=harvest.job_id)
    assert 'href="https://resolver.example/find?' in page.text
    assert "Your library" in page.text


def test_the_pages_of_a_pdf_are_linked_with_the_text(online, library, world):
    record = world.paper("paywall")
    list(library.harvest([record.pmid]))
    place = re.findall(r'href="(/paper\?id=[^"]+)"', upload(online, "a.pdf", pdf_of(record)).text)[
        0
    ]
    page = online.get(f"{place}&pdf=beside").text
    assert re.search(r'target="pdf" href="/paper/pdf\?id=[^"]+#page=1">Page 1</a>', page)
    assert 'href="#:~:text=' in page
    assert "#page=" not in online.get(place).text
