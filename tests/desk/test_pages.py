"""The pages of the shelf and of a paper."""

import re
from dataclasses import replace

import pytest

TEXT = (
    "# Moss\n\n## Methods\n\nMoss grew [1]. "
    + "Words of it. " * 60
    + (
        "\n\n| Group | Height |\n| --- | --- |\n| light | 3.1 |\n"
        "\n## References\n\n1. Fern A. Light. doi:10.1000/fern\n2. Lost B. Dark. doi:10.1000/lost\n"
    )
)


def titles(page):
    return re.findall(r"<h2><a href=\"/paper\?id=[^\"]+\"><bdi>(.*?)</bdi>", page.text)


def test_an_empty_shelf_says_so(browser, shelf_library):
    page = browser.get("/")
    assert "The shelf is empty" in page.text
    assert str(shelf_library.shelf.folder) in page.text


def test_the_shelf_lists_its_papers_by_words_author_and_identifier(browser, save):
    save(TEXT, doi="10.1000/moss", pmid="7", title="Moss and light")
    save(TEXT, doi="10.1000/fern", pmid="8", title="Ferns in shade")
    assert titles(browser.get("/")) == ["Ferns in shade", "Moss and light"]
    assert titles(browser.get("/", text="lig")) == ["Moss and light"]
    assert titles(browser.get("/", text="10.1000/fern")) == ["Ferns in shade"]
    assert titles(browser.get("/", sort_by="title")) == ["Ferns in shade", "Moss and light"]
    empty = browser.get("/", text="moss", retracted="1")
    assert "The filter for retracted papers leaves no papers. Without it: 1." in empty.text


def test_a_wrong_filter_is_explained(browser, save):
    save(TEXT, doi="10.1000/moss")
    page = browser.get("/", min_date="soon")
    assert page.status_code == 400
    assert "&#39;soon&#39; is not a valid year." in page.text


def test_a_long_list_comes_in_pages(browser, save):
    for number in range(53):
        save(TEXT, doi=f"10.1000/moss.{number}", title=f"Moss {number}")
    first = browser.get("/")
    assert "1–50 of 53 papers" in first.text
    assert titles(browser.get("/", start="50")) == ["Moss 2", "Moss 1", "Moss 0"]
    assert 'href="/?start=50"' in first.text
    assert browser.get("/", start="-1").status_code == 400


def test_a_paper_is_shown_with_sections_table_and_references(browser, save):
    save(TEXT, doi="10.1000/moss", pmid="7", title="Moss and light")
    save(TEXT, doi="10.1000/fern", pmid="8", title="Ferns in shade")
    page = browser.get("/paper", id="10.1000_moss.txt").text
    assert '<a href="#s-1"><bdi>Methods</bdi></a>' in page
    assert '<span class="cited">[<a href="#ref-1">1</a>]</span>' in page
    assert "<td>3.1</td>" in page
    on_shelf = re.findall(r'id="ref-(\d)"><a class="here" href="([^"]+)"', page)
    assert on_shelf == [("1", "/paper?id=doi%3A10.1000%2Ffern")]
    assert "Ferns in shade" in browser.get("/paper", id="doi:10.1000/fern").text


@pytest.mark.parametrize(
    "name",
    [
        "../../etc/passwd",
        "/etc/passwd",
        ".papershelf/catalogue.db",
        "index.csv",
        "..",
        "",
        "a\x00b",
    ],
)
def test_no_name_in_an_address_reaches_a_file_that_is_not_a_paper(browser, save, name):
    save(TEXT, doi="10.1000/moss")
    for path in ("/paper", "/paper/pdf", "/paper/picture", "/selection"):
        assert browser.get(path, id=name).status_code in (400, 404)


def test_the_pdf_of_a_paper_is_sent_as_one(browser, save, shelf_library):
    stored = save(TEXT, doi="10.1000/moss")
    shelf_library.shelf.folder.joinpath("10.1000_moss.pdf").write_bytes(b"%PDF-1.4 moss")
    sent = browser.get("/paper/pdf", id="10.1000_moss.txt")
    assert sent.content == b"%PDF-1.4 moss"
    assert sent.headers["content-type"] == "application/pdf"
    assert sent.headers["content-security-policy"] == "frame-ancestors 'self'"
    assert "<iframe" in browser.get("/paper", id=stored.path.rpartition("/")[2], pdf="beside").text


def test_a_pdf_that_is_a_link_out_of_the_shelf_is_not_sent(browser, save, shelf_library, tmp_path):
    save(TEXT, doi="10.1000/moss")
    secret = tmp_path / "secret.pdf"
    secret.write_bytes(b"%PDF-1.4 secret")
    shelf_library.shelf.folder.joinpath("10.1000_moss.pdf").symlink_to(secret)
    sent = browser.get("/paper/pdf", id="10.1000_moss.txt")
    assert (sent.status_code, b"secret" in sent.content) == (400, False)


def test_a_verdict_is_overruled_and_restored(browser, save, shelf_library):
    save(TEXT, doi="10.1000/moss")
    name = "10.1000_moss.txt"
    page = browser.post("/paper/keep", id=name, decided="wrong", because="only its <b>abstract</b>")
    assert "Decided by hand" in page.text
    assert "only its &lt;b&gt;abstract&lt;/b&gt;" in page.text
    [kept] = shelf_library.shelf.list_papers()[1]
    assert (kept.kind, kept.verdict) == ("rejected", "by_hand")
    browser.post("/paper/undo-keep", id=kept.path.rpartition("/")[2])
    [kept] = shelf_library.shelf.list_papers()[1]
    assert kept.verdict != "by_hand"


def test_a_decision_without_a_reason_is_not_made(browser, save, shelf_library):
    save(TEXT, doi="10.1000/moss")
    answer = browser.post("/paper/keep", id="10.1000_moss.txt", decided="wrong", because=" ")
    assert answer.status_code == 400
    assert shelf_library.shelf.list_papers()[1][0].kind == "full_text"


def test_selected_papers_are_cited_in_a_style_and_sent_as_files(browser, save):
    save(TEXT, doi="10.1000/moss", title="Moss and light")
    save(TEXT, doi="10.1000/fern", title="Ferns in shade")
    names = ["10.1000_moss.txt", "10.1000_fern.txt"]
    page = browser.get("/selection", id=names, style="apa").text
    assert page.index("Moss and light") < page.index("Ferns in shade")
    sent = browser.get("/selection/references", id=names, style="ris")
    assert sent.text.count("TY  - ") == 2
    assert "attachment" in sent.headers["content-disposition"]
    assert browser.get("/selection/references", id=names, style="html").status_code == 400
    assert browser.get("/selection").status_code == 400


def test_selected_papers_are_packed_on_the_shelf(browser, save, shelf_library):
    save(TEXT, doi="10.1000/moss", title="Moss and light")
    form = {"id": ["10.1000_moss.txt"], "program": "zotero"}
    page = browser.post("/selection/pack", **form)
    assert "0 of 1 reference with a PDF" in page.text
    assert "Text without a PDF" in page.text
    assert list((shelf_library.shelf.folder / "packs").glob("*.zip"))
    assert browser.post("/selection/pack", **{**form, "program": "../x"}).status_code == 400


def test_an_unknown_address_has_a_page(browser):
    page = browser.get("/nothing")
    assert (page.status_code, "There is no such page." in page.text) == (404, True)


def test_a_fault_becomes_a_page_without_a_traceback(browser, shelf_library, monkeypatch):
    def fail(**_):
        raise RuntimeError("secret detail")

    monkeypatch.setattr(shelf_library, "list_papers", fail, raising=False)
    page = browser.get("/")
    assert (page.status_code, "secret detail" in page.text) == (500, False)
    assert "a fault of Papershelf" in page.text


HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>\u202egpj.exe"


def test_a_hostile_record_is_shown_as_text(browser, save, shelf_library):
    stored = save(TEXT, doi="10.1000/moss", title=HOSTILE)
    hostile = replace(stored.paper, journal=HOSTILE)
    shelf_library.shelf.add_metadata(stored, hostile)
    name = stored.path.rpartition("/")[2]
    for page in (browser.get("/"), browser.get("/", view="table"), browser.get("/paper", id=name)):
        assert "<script>alert" not in page.text
        assert "<img src=x" not in page.text
        assert "\u202e" not in page.text
    assert "<script>" not in browser.get("/selection", id=name).text.replace("<script src", "")


def test_a_paper_is_tagged_noted_and_found_by_its_tag(browser, save):
    save(TEXT, doi="10.1000/moss", title="Moss and light")
    save(TEXT, doi="10.1000/fern", title="Ferns in shade")
    form = {"id": "10.1000_moss.txt", "tags": "methods; to <b>read", "note": "see\nFig. <i>2"}
    page = browser.post("/paper/note", **form)
    assert '<a class="badge tag" href="/?tag=methods"><bdi>methods</bdi></a>' in page.text
    assert "see\nFig. &lt;i&gt;2</textarea>" in page.text
    assert "<b>read" not in page.text
    assert titles(browser.get("/", tag="methods")) == ["Moss and light"]
    page = browser.post("/paper/note", id="10.1000_moss.txt", tags="", note="")
    assert "badge tag" not in page.text
    assert browser.post("/paper/note", id="10.1000_moss.txt", tags="x" * 80).status_code == 400
