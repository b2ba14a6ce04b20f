"""Questions, datasets, checks of manuscripts, and setup."""

import re
from dataclasses import replace

import pytest

from tests.desk.conftest import ORIGIN, Browser
from tests.desk.test_pages import TEXT
from tests.entrez.datasets.small_datasets import dataset
from tests.shelf.papers import document, fetched, paper
from utils import Library


def upload(browser, name, body, **form):
    return browser.client.post(
        "/check/manuscript",
        data={"csrf": browser.csrf, **form},
        files={"file": (name, body)},
        headers={"origin": ORIGIN},
    )


@pytest.fixture
def plain(tmp_path):
    """A desk whose corpus finds passages by words only."""
    with Library(
        papers_dir=tmp_path / "papers", papers_offline=True, embeddings_provider="none"
    ) as library:
        yield Browser(library).enter()


def save_moss(browser):
    record = replace(paper(doi="10.1000/moss"), title="Moss and light")
    browser.library.shelf.save_full_text(
        record, document(TEXT), fetched(media="html"), source="PMC", attempts=()
    )


def test_texts_are_indexed_and_answer_a_question(plain):
    save_moss(plain)
    page = plain.post("/ask/index")
    assert page.url.path == "/ask"
    plain.desk.tasks.get("index").thread.join(60)
    assert "All texts are indexed." in plain.get("/ask").text
    page = plain.get("/ask", query="how does moss grow")
    [place] = re.findall(r'href="(/paper\?id=10.1000_moss.txt[^"]*)"', page.text)[:1]
    assert "#:~:text=Moss%20grew" in place
    assert "Moss and light" in page.text


def test_the_end_of_indexing_is_sent(plain):
    plain.post("/ask/index")
    with plain.client.stream("GET", "/task/events", params={"name": "index"}) as sent:
        lines = [line for line in sent.iter_lines() if line]
    assert lines[-1] == "data: ended"


def test_a_task_that_fails_says_why(plain, monkeypatch):
    from utils.errors import StoreFailed

    def fail():
        raise StoreFailed("The disk is full.", "Free some space.")
        yield

    task = plain.desk.tasks.start("index", fail())
    task.thread.join(5)
    assert "The disk is full. Free some space." in plain.get("/ask").text


def test_a_shelf_without_datasets_says_how_to_make_one(browser):
    assert "data stage" in browser.get("/data").text


def test_a_dataset_is_queried_and_nothing_in_it_changes(browser, shelf_library):
    file = dataset(shelf_library.datasets.folder, "gene_00000001", genes=3)
    before = file.read_bytes()
    page = browser.get("/data", dataset="gene_00000001", sql="SELECT count(*) AS n FROM gene")
    assert '<th scope="col">n</th>' in page.text
    assert "<td><bdi>3</bdi></td>" in page.text
    for statement in ("DROP TABLE gene", "ATTACH '/etc/passwd' AS x", "SELECT 1; DELETE FROM gene"):
        assert browser.get("/data", dataset="gene_00000001", sql=statement).status_code == 400
    assert file.read_bytes() == before
    attack = "SELECT '<img src=x onerror=alert(1)>' AS a"
    assert "<img src=x" not in browser.get("/data", dataset="gene_00000001", sql=attack).text


def test_an_unknown_dataset_is_refused(browser):
    for name in ("../catalogue", "nothing", "' OR 1"):
        assert browser.get("/data", dataset=name, sql="SELECT 1").status_code in (400, 404)


def test_a_manuscript_is_checked_and_its_findings_are_shown(browser):
    text = "# Moss\n\nMoss grew by 30 % (Doe 2013).\n\n## References\n\n1. Doe J. On cells. 2013.\n"
    page = upload(browser, "<b>thesis</b>.md", text.encode())
    assert page.status_code == 200
    assert "&lt;b&gt;thesis&lt;/b&gt;.md" in page.text
    [place] = re.findall(r'<iframe class="pdf" src="([^"]+)"', page.text)
    findings = browser.get(place)
    policy = findings.headers["content-security-policy"]
    assert re.search(r"style-src 'sha256-[^']+'", policy)
    assert "unsafe" not in policy
    assert "script-src" not in policy


@pytest.mark.parametrize("name", ["thesis.exe", "thesis", "thesis.html", "../.docx.sh"])
def test_a_file_that_is_not_a_manuscript_is_refused(browser, name):
    assert upload(browser, name, b"x").status_code == 400


def test_a_check_that_is_gone_is_explained(browser):
    assert browser.get("/check/page", check="gone").status_code == 404
    assert browser.get("/check", check="gone").status_code == 200


@pytest.fixture
def home(tmp_path, monkeypatch):
    file = tmp_path / "config" / "settings.env"
    for module in ("utils.curation.installation", "utils.settings"):
        monkeypatch.setattr(f"{module}.find_user_settings_file", lambda: file)
    return file


def test_keys_are_saved_and_never_shown(browser, home):
    page = browser.post("/setup/save", PUBMED_EMAIL="me@lab.edu", NCBI_API_KEY="s3cret-key")
    assert "Saved." in page.text
    assert "s3cret-key" not in page.text
    assert "NCBI_API_KEY='s3cret-key'" in home.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "form",
    [
        {},
        {"PUBMED_EMAIL": "nobody"},
        {"PAPERS_DIR": "/etc"},
        {"NCBI_API_KEY": "a\nPAPERS_DIR=/etc"},
    ],
)
def test_only_the_settings_of_the_form_can_be_changed(browser, home, form):
    answer = browser.post("/setup/save", **form)
    if answer.status_code == 200:
        assert "PAPERS_DIR=/etc" not in home.read_text(encoding="utf-8").splitlines()
    else:
        assert not home.exists()


def test_the_setup_page_names_folder_and_keys(browser, shelf_library, home):
    page = browser.get("/setup").text
    assert str(shelf_library.shelf.folder) in page
    assert "NCBI_API_KEY" in page


def test_the_installation_is_examined_on_request(browser, home):
    page = browser.get("/setup", examine="1")
    assert page.status_code == 200
    assert page.text.count('class="card"') > 3


def test_the_shelf_is_searched_in_its_full_texts(plain):
    save_moss(plain)
    plain.post("/ask/index")
    plain.desk.tasks.get("index").thread.join(60)
    page = plain.get("/", text="how does moss grow", within="texts")
    assert "Moss and light" in page.text
    assert "Moss grew" in page.text
    assert "1–1 of 1 paper" in page.text
    assert "Moss and light" not in plain.get("/", text="moss", within="texts", min_date="2090").text
    assert "Moss and light" not in plain.get("/", text="how does moss grow").text


def test_filters_narrow_a_search_in_full_texts_before_the_best_are_taken(plain):
    """The papers that fit have the worst of two thousand passages about moss."""
    for number in range(240):
        fits = number in (7, 190)
        record = replace(
            paper(doi=f"10.1000/moss.{number}"),
            title=f"Plants {number}",
            published="1990" if fits else "2020",
            publication_types=("Retracted Publication",) if number == 190 else (),
        )
        words = "We looked at stones and rain. " * 60
        about = f"{words}Moss grew.\n" if fits else "Moss grew where moss grew. " * 40
        text = "".join(f"\n\n## Part {part}\n\n{about}" for part in range(1 if fits else 6))
        plain.library.shelf.save_full_text(
            record, document(text), fetched(media="html"), source="PMC", attempts=()
        )
    plain.post("/ask/index")
    plain.desk.tasks.get("index").thread.join(120)
    assert "Plants 7<" not in plain.get("/", text="moss grew", within="texts").text
    page = plain.get("/", text="moss grew", within="texts", max_date="2000").text
    assert "1–1 of 1 paper" in page
    assert "Plants 7<" in page
    options = {"text": "moss grew", "within": "texts", "retracted": "1"}
    assert "Plants 190<" in plain.get("/", **options).text
    page = plain.get("/", text="moss grew", within="texts", author="Nobody At All")
    assert "No paper fits." in page.text


def test_setup_shows_what_to_paste_into_an_assistant(browser):
    page = browser.get("/setup").text
    assert "<summary>Claude Desktop" in page
    assert "mcpServers" in page
