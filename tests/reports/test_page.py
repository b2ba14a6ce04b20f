"""The page: what it says, that nothing in it acts, and that it asks nobody for anything."""

import base64
import hashlib
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from lxml import etree, html

from tests.reports import invented
from utils.harvest import bulk as bulk_harvest
from utils.harvest.jobs import OUTCOMES
from utils.model.identifiers import Ids
from utils.model.job import Harvested, Job
from utils.model.paper import Attempt, Notice, Paper
from utils.reports import write_report
from utils.reports.figures import HarvestFigures
from utils.reports.labels import get_missing_reason
from utils.reports.page import list_next_steps

ATTACK = "</style></title><script>alert(1)</script><img src=https://evil.example/x onerror='a()'>\""


def page_of(folder: Path, job: Job, rows: Callable[[], Iterator[Harvested]]) -> html.HtmlElement:
    return html.document_fromstring(write_report(job, rows, folder).read_text("utf-8"))


def words(element: html.HtmlElement) -> str:
    return " ".join(element.text_content().split())


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> html.HtmlElement:
    return page_of(tmp_path_factory.mktemp("job"), invented.job(), lambda: invented.rows(1000))


def test_the_headline_is_the_number_of_full_texts(page: html.HtmlElement) -> None:
    full = sum(row.state == "full_text" for row in invented.rows(1000))
    assert words(page.find(".//h1")) == f"Full text for {full} of 1,000 papers"


def test_the_question_stands_there_as_asked_and_as_understood(page: html.HtmlElement) -> None:
    asked = [words(pre) for pre in page.xpath("//*[@id='question']//pre")]
    assert asked == [invented.job().query, invented.job().effective_query]


def test_notes_of_the_job_are_shown(page: html.HtmlElement) -> None:
    assert "cytokine tempest" in words(page.xpath("//*[@class='notes']")[0])


def test_the_columns_of_the_years_add_up_to_all_papers(page: html.HtmlElement) -> None:
    table = page.xpath("//*[@id='years']//tbody/tr")
    cells = [int(cell.text) for row in table for cell in row.findall("td")[:4]]
    assert sum(cells) == 1000


def test_the_journals_add_up_to_all_papers(page: html.HtmlElement) -> None:
    table = page.xpath("//*[@id='journals']//tbody/tr")
    assert sum(int(cell.text) for row in table for cell in row.findall("td")[:4]) == 1000
    assert len(table) == 16
    assert "other journals" in words(table[-1])


def test_every_reason_says_what_it_means_and_what_to_do(page: html.HtmlElement) -> None:
    reasons = page.xpath("//*[@class='reasons']/li")
    assert len(reasons) == 10
    for reason in reasons:
        assert len(words(reason.xpath(".//p")[0])) > 20
        assert reason.xpath(".//p[@class='advice']")


def test_retracted_papers_are_listed_with_links(page: html.HtmlElement) -> None:
    retracted = sum(row.paper.retracted for row in invented.rows(1000))
    listed = page.xpath("//*[@id='retractions']//tbody/tr")
    assert len(listed) == retracted > 0
    assert all(row.xpath(".//a[starts-with(@href, 'https://doi.org/')]") for row in listed)


def test_tables_are_cut_and_say_where_the_rest_is(page: html.HtmlElement) -> None:
    missing = sum(row.state != "full_text" for row in invented.rows(1000))
    section = page.xpath("//*[@id='reasons']")[0]
    assert len(section.xpath(".//tbody/tr")) == 200
    assert f"first 200 of {missing} papers" in words(section)
    assert section.xpath(".//a[@href='not_retrieved.csv']")


def test_every_chart_has_words_for_those_who_cannot_see_it(page: html.HtmlElement) -> None:
    for drawing in page.xpath("//svg[not(ancestor::svg)]"):
        hidden = drawing.get("aria-hidden") == "true"
        assert hidden or (drawing.get("role") == "img" and len(_label(page, drawing)) > 20)


def _label(page: html.HtmlElement, drawing: html.HtmlElement) -> str:
    names = (drawing.get("aria-labelledby") or "").split()
    return drawing.get("aria-label") or " ".join(
        words(page.get_element_by_id(name)) for name in names
    )


def test_no_id_is_given_twice(page: html.HtmlElement) -> None:
    ids = page.xpath("//@id")
    assert len(ids) == len(set(ids))


def test_links_within_the_page_lead_somewhere(page: html.HtmlElement) -> None:
    ids = set(page.xpath("//@id"))
    assert {link[1:] for link in page.xpath("//a/@href") if link.startswith("#")} <= ids


def test_the_page_loads_nothing_and_forbids_it(page: html.HtmlElement) -> None:
    assert not page.xpath("//script | //img | //link | //iframe | //object | //embed | //form")
    assert not page.xpath("//@src | //@srcset | //@*[name()='xlink:href'] | //@style | //base")
    [style] = page.xpath("//style/text()")
    assert "url(" not in style
    assert "@import" not in style
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    [policy] = page.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")
    assert policy.startswith(f"default-src 'none'; style-src 'sha256-{digest}'")


def hostile(number: int = 1) -> Harvested:
    paper = Paper(
        Ids(doi='10.1000/"onmouseover=alert(1)><b>', pmid="1\" onclick='x'"),
        title=ATTACK,
        journal=ATTACK,
        published='"><i>',
        notices=(Notice("retraction", ATTACK, ATTACK),),
    )
    return Harvested(
        number,
        ATTACK,
        "abstract",
        paper,
        file="../../../etc/passwd",
        via=ATTACK,
        license="javascript:alert(1)",
        reason=ATTACK,
        detail=ATTACK,
        ended_at=ATTACK,
    )


def test_hostile_text_stays_text(tmp_path: Path) -> None:
    job = Job(ATTACK, ATTACK, ATTACK, ATTACK, 1, 0, ATTACK, ATTACK, notes=(ATTACK,))
    rows = [hostile(), replace(hostile(2), state="full_text"), replace(hostile(3), state="failed")]
    page = page_of(tmp_path, job, lambda: iter(rows))
    assert not page.xpath("//script | //img | //i[not(@class)]")
    assert not [name for name in page.xpath("//@*") if re.match("on", name.attrname)]
    assert words(page.xpath("//*[@class='title']")[0]) == ATTACK
    etree.fromstring((tmp_path / "prisma.svg").read_bytes())


def test_links_lead_to_papers_by_addresses_of_ours(tmp_path: Path) -> None:
    page = page_of(tmp_path, Job("j", "t"), lambda: iter([hostile()]))
    known = ("https://doi.org/", "https://pubmed.ncbi.nlm.nih.gov/", "#")
    files = {file.name for file in tmp_path.iterdir()}
    for link in page.xpath("//a/@href"):
        assert link in files or link.startswith(known)
        assert not set("<>\"' ") & set(link)


def test_a_text_on_the_shelf_is_linked_by_its_bare_name(tmp_path: Path) -> None:
    row = Harvested(1, "1", "full_text", Paper(Ids(pmid="1")), file="10.1_a#b.txt", via="jina")
    page = page_of(tmp_path, Job("j", "t"), lambda: iter([row]))
    assert page.xpath("//a[text()='Text']/@href") == ["../../10.1_a%23b.txt"]


def test_a_paper_without_identifiers_gets_a_search(tmp_path: Path) -> None:
    row = Harvested(1, "Smith, On sleep & dreams", "failed", Paper(Ids()), reason="no_identifier")
    page = page_of(tmp_path, Job("j", "t"), lambda: iter([row]))
    found = page.xpath("//*[@id='reasons']//a[text()='Search PubMed']/@href")
    assert found == ["https://pubmed.ncbi.nlm.nih.gov/?term=Smith%2C%20On%20sleep%20%26%20dreams"]


@pytest.mark.parametrize(
    ("states", "said"),
    [
        ("", "No papers in this harvest"),
        ("f", "Full text for the one paper asked for"),
        ("x", "No full text for the one paper"),
        ("ff", "Full text for all 2 papers"),
        ("ax", "No full text for any of 2 papers"),
        ("fp", "So far, full text for 1 of 1 paper tried"),
        ("pp", "2 papers to come"),
    ],
)
def test_the_headline_fits_every_outcome(tmp_path: Path, states: str, said: str) -> None:
    named = {"f": "full_text", "a": "abstract", "x": "failed", "p": "pending"}
    rows = [
        Harvested(n, str(n), named[state], Paper(Ids(pmid=str(n))))  # type: ignore[arg-type]
        for n, state in enumerate(states, 1)
    ]
    page = page_of(tmp_path, Job("j", "t"), lambda: iter(rows))
    assert words(page.find(".//h1")) == said


def test_an_unfinished_harvest_says_how_to_go_on(tmp_path: Path) -> None:
    page = page_of(tmp_path, invented.job(ended_at=""), lambda: invented.rows(50, pending=0.5))
    assert "Not finished" in words(page.xpath("//*[@class='when']")[0])
    first = page.xpath("//*[@class='steps']/li")[0]
    assert "not tried yet" in words(first)
    assert invented.job().job_id in words(first)


def test_a_job_id_cannot_break_out_of_a_command(tmp_path: Path) -> None:
    page = page_of(tmp_path, invented.job(job_id="x; rm -rf /"), lambda: invented.rows(20))
    commands = [words(code) for code in page.xpath("//*[@class='steps']//code")]
    assert any("'x; rm -rf /'" in command for command in commands)


def test_the_page_of_many_papers_is_small(tmp_path: Path) -> None:
    few, many = tmp_path / "few", tmp_path / "many"
    page_of(few, invented.job(), lambda: invented.rows(1000))
    page_of(many, invented.job(), lambda: invented.rows(4000))
    sizes = [(folder / "report.html").stat().st_size for folder in (few, many)]
    assert sizes[1] < 1.2 * sizes[0] < 1_000_000


def test_references_are_listed_where_they_are(tmp_path: Path) -> None:
    (tmp_path / "references.ris").write_text("TY  - JOUR", encoding="utf-8")
    page = page_of(tmp_path, invented.job(), lambda: invented.rows(3))
    assert page.xpath("//*[@id='files']//a[@href='references.ris']")
    assert not page.xpath("//a[@href='references.bib']")


def test_odd_years_do_not_stretch_the_axis(tmp_path: Path) -> None:
    rows = [
        Harvested(n, str(n), "failed", Paper(Ids(pmid=str(n + 1)), published=year))
        for n, year in enumerate(("0001", "9999", "٢٠٢٠", "abcd", "", "1700", "2020"))
    ]
    page = page_of(tmp_path, Job("j", "t"), lambda: iter(rows))
    labels = [words(cell) for cell in page.xpath("//*[@id='years']//tbody/tr/th")]
    assert labels == ["≤ 1941", "2020", "Unknown"]


def test_a_route_is_asked_for_a_paper_once_and_not_when_it_was_passed_over() -> None:
    ids, passed_over = Ids(pmid="1"), bulk_harvest._PASSED_OVER
    brought = [Attempt("unpaywall", outcome) for outcome in ("paywall", "not_offered", "saved")]
    silent = [Attempt("unpaywall", "unreachable", passed_over), Attempt("doi", "skipped", "no doi")]
    figures = HarvestFigures()
    figures.add_paper(Harvested(1, "1", "full_text", Paper(ids), attempts=tuple(brought)))
    figures.add_paper(Harvested(2, "2", "abstract", Paper(ids), attempts=tuple(silent)))
    assert {route: dict(outcomes) for route, outcomes in figures.routes.items()} == {
        "unpaywall": {"saved": 1}
    }


def test_what_may_pass_is_tried_again_by_the_reasons_there_are() -> None:
    figures = HarvestFigures()
    for number, reason in enumerate(("error_page", "paywall", "unreachable"), 1):
        row = Harvested(number, "", "abstract", Paper(Ids(pmid=str(number))), reason=reason)
        figures.add_paper(row)
    [step] = [one for one in list_next_steps(invented.job(), figures) if "temporary" in one.title]
    assert step.words.startswith("2 papers ")
    assert step.command.endswith(" --retry unreachable,error_page")


@pytest.mark.parametrize("reason", sorted(OUTCOMES - {"abstract", "record"}))
def test_whatever_a_paper_ends_as_has_words(reason: str) -> None:
    assert get_missing_reason(reason).meaning != get_missing_reason("unforeseen").meaning
