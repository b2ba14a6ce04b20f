"""OpenAlex: copies nobody else names, and a search that is paid for."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr
from requests.structures import CaseInsensitiveDict

from tests.answering import answering
from tests.sources.reader import ANY_JSON
from tests.world.openalex import KEY
from utils.errors import BadRequest, NotAvailable, NotConfigured, Unreachable
from utils.http import Answer
from utils.model.identifiers import Ids
from utils.model.paper import Fetched, Paper
from utils.sources import unpaywall
from utils.sources.loose_json import LONGEST_NAME
from utils.sources.openalex import (
    _check,
    fetch_linked,
    fetch_open_copies,
    list_works,
    paper_of,
    search,
)
from utils.sources.source import Query


@pytest.fixture
def keyed(library):
    """The same library, of somebody who has a key."""
    update = {"openalex_api_key": SecretStr(KEY)}
    library.web.settings = library.web.settings.model_copy(update=update)
    return library


def copies(record, library):
    return list(fetch_open_copies(Paper(Ids(doi=record.doi)), library.web))


def asked(world, service="openalex"):
    return [request for request in world.requests if request.service == service]


def relevant(text, **more):
    return Query(text, sort_by="relevance", **more)


# -- open copies ---------------------------------------------------------------------------------


def test_a_copy_only_openalex_knows_comes_with_its_license(library, world):
    first = copies(world.paper("openalex_only"), library)[0]
    assert isinstance(first, Fetched)
    assert (first.media, first.via, first.license) == ("pdf", "openalex", "cc-by")


def test_copies_are_asked_for_without_a_key_and_without_cost(library, world):
    copies(world.paper("openalex_only"), library)
    [request] = asked(world)
    assert request.path.startswith("/works/doi:10.")
    assert "authorization" not in {name.lower() for name in request.headers}
    assert world.openalex_credits == 10_000


def test_a_key_travels_in_a_header_only(keyed, world):
    copies(world.paper("openalex_only"), keyed)
    [request] = asked(world)
    assert KEY not in str(request.params) + request.path
    assert KEY in str(request.headers)


def test_a_blank_key_is_never_sent(library, world):
    update = {"openalex_api_key": SecretStr("  ")}
    library.web.settings = library.web.settings.model_copy(update=update)
    assert isinstance(copies(world.paper("openalex_only"), library)[0], Fetched)
    with pytest.raises(NotConfigured, match="OPENALEX_API_KEY is not set"):
        search(relevant("moss"), library.web)


def test_what_unpaywall_named_is_not_asked_for_again(library, world):
    record = world.paper("unpaywall_html")
    list(unpaywall.fetch_open_copies(Paper(Ids(doi=record.doi)), library.web))
    before = len(asked(world, "repository"))
    with pytest.raises(NotAvailable, match="not tried before"):
        copies(record, library)
    assert len(asked(world, "repository")) == before
    assert len(asked(world)) == 1


def test_who_does_not_ask_unpaywall_gets_its_copies_here(library, world):
    record = world.paper("unpaywall_pdf")
    list(unpaywall.fetch_open_copies(Paper(Ids(doi=record.doi)), library.web))
    update = {"papers_sources": ("openalex", "publisher")}
    library.web.settings = library.web.settings.model_copy(update=update)
    assert isinstance(copies(record, library)[0], Fetched)


def test_pages_of_pmc_are_never_asked_for(library, world):
    with pytest.raises(NotAvailable, match="not tried before"):
        copies(world.paper("unpaywall_pmc_url"), library)
    assert {request.service for request in world.requests} == {"openalex"}


def test_no_copy_and_no_record_are_a_plain_no_and_remembered(library, world):
    for doi in (world.paper("paywall").doi, "10.1000/nobody", "10.1000/nobody"):
        with pytest.raises(NotAvailable, match="knows no open copy"):
            list(fetch_open_copies(Paper(Ids(doi=doi)), library.web))
    assert len(world.requests) == 2


def test_the_best_copy_comes_first_and_then_the_version_of_record(library):
    rows = [
        {"is_oa": True, "pdf_url": "https://a.test/3", "version": "submittedVersion"},
        {"is_oa": True, "pdf_url": "https://a.test/2", "version": "publishedVersion"},
        {"is_oa": False, "pdf_url": "https://a.test/never"},
    ]
    from utils.sources.openalex import _copies

    best = {"pdf_url": "https://a.test/1.pdf", "landing_page_url": "https://a.test/1"}
    found = _copies({"best_oa_location": best, "locations": rows})
    assert [copy.url[-5:] for copy in found] == ["1.pdf", "est/1", "est/2", "est/3"]


# -- what refusals mean --------------------------------------------------------------------------


def test_a_bad_key_is_named_and_no_reason_to_try_again(library, world):
    update = {"openalex_api_key": SecretStr("wrong")}
    library.web.settings = library.web.settings.model_copy(update=update)
    with pytest.raises(NotConfigured, match="OPENALEX_API_KEY"):
        copies(world.paper("openalex_only"), library)
    assert len(world.requests) == 1


def test_too_many_at_once_is_waited_for(library, world):
    world.mood("storm", "openalex", times=1, seconds=3)
    assert isinstance(copies(world.paper("openalex_only"), library)[0], Fetched)
    assert len(asked(world)) == 2


def test_a_spent_budget_is_told_at_once_and_single_works_go_on(keyed, world):
    world.openalex_credits = 3
    with pytest.raises(Unreachable, match="budget of the day is spent") as caught:
        search(relevant("moss"), keyed.web)
    assert len(asked(world)) == 1
    assert caught.value.code == "RATE_LIMIT"
    assert caught.value.retry_after == 54_000
    assert isinstance(copies(world.paper("openalex_only"), keyed)[0], Fetched)
    with pytest.raises(Unreachable, match="openalex_list is closed for today"):
        search(relevant("fern"), keyed.web)
    assert len([one for one in asked(world) if one.path == "/works"]) == 1


def test_a_pause_of_hours_is_a_spent_budget_whatever_the_headers_say():
    headers = CaseInsensitiveDict({"Retry-After": "54000"})
    with pytest.raises(Unreachable, match="budget of the day is spent") as caught:
        _check(Answer(429, "https://o.test", b"Too many requests", headers=headers), is_list=True)
    assert caught.value.details["lasting"]


@pytest.mark.parametrize("told", [{}, {"Retry-After": "3"}])
def test_too_many_at_once_is_no_spent_budget(told):
    headers = CaseInsensitiveDict({"X-RateLimit-Remaining": "9000", **told})
    with pytest.raises(Unreachable) as caught:
        _check(Answer(429, "https://o.test", b"Too many requests", headers=headers), is_list=False)
    assert "budget" not in caught.value.message
    assert caught.value.retry_after == float(told.get("Retry-After", 0))
    assert not caught.value.details.get("lasting")


# -- search --------------------------------------------------------------------------------------


def test_a_search_needs_a_key(library, world):
    with pytest.raises(NotConfigured, match="OPENALEX_API_KEY"):
        search(relevant("moss"), library.web)
    with pytest.raises(NotConfigured, match="OPENALEX_API_KEY"):
        fetch_linked(Ids(pmid="1"), "citations", 5, library.web)
    assert not world.requests


def test_a_search_finds_papers_and_says_what_it_cost(keyed, world):
    record = world.paper("openalex_only")
    found = search(relevant("nectar hive"), keyed.web)
    [paper] = found.papers
    assert paper.ids == Ids(doi=record.doi, pmid=record.pmid)
    assert paper.title == record.title
    assert paper.abstract.split()
    assert paper.authors[0].family == record.authors[0][0]
    assert (paper.year, paper.publication_types) == (record.year, ("Journal Article",))
    assert found.total == 1
    assert found.warnings == ("OpenAlex charged USD 0.0010; 0.999 are left until midnight UTC.",)


def test_the_same_search_is_paid_once(keyed, world):
    first = search(relevant("of"), keyed.web)
    again = search(relevant("of"), keyed.web)
    assert again.papers == first.papers
    assert again.warnings == ()
    assert len(asked(world)) == 1


def test_pages_fit_together_wherever_they_begin(keyed, world):
    whole = search(relevant("of", max_results=30), keyed.web).papers
    parts = []
    start = 0
    while start is not None:
        page = search(relevant("of", max_results=7, start=start), keyed.web)
        parts += page.papers
        start = page.next_start if len(parts) < 30 else None
    assert tuple(parts)[:30] == whole
    assert search(relevant("of", max_results=4, start=5), keyed.web).papers == whole[5:9]


def test_the_wall_at_ten_thousand_is_named(keyed, world):
    with pytest.raises(BadRequest, match="10,000"):
        search(relevant("of", start=10_000), keyed.web)
    assert not world.requests


@pytest.mark.parametrize(
    ("start", "most"),
    [(9985, 30), (9999, 1), (9000, 999), (9801, 150), (9500, 1000), (0, 3), (5000, 7)],
)
def test_no_page_reaches_beyond_the_wall(keyed, monkeypatch, start, most):
    asked_pages = []

    def page(params, web):
        number, size = params["page"], params["per_page"]
        assert 1 <= size <= 100
        assert 1 <= number <= 500
        asked_pages.append(number * size)
        first = (number - 1) * size
        return 20_000, [{"title": str(at)} for at in range(first, first + size)], ""

    monkeypatch.setattr("utils.sources.openalex.list_works", page)
    found = search(relevant("of", start=start, max_results=most), keyed.web)
    assert max(asked_pages) <= 10_000
    end = min(start + most, 10_000)
    assert [int(paper.title) for paper in found.papers] == [*range(start, end)]
    assert found.next_start == (end if end < 10_000 else None)


@pytest.mark.parametrize("count", [None, "", "many", -1, 1.5, "9" * 5000, [3]])
def test_without_a_number_of_works_it_is_no_answer(keyed, monkeypatch, count):
    answering(monkeypatch, {"results": [{"title": "A"}], "meta": {"count": count}}, {"results": []})
    for _ in range(2):
        with pytest.raises(Unreachable, match="did not say how many works"):
            search(relevant("moss"), keyed.web)


def test_a_page_kept_by_another_version_is_asked_for_again(keyed, world, monkeypatch):
    first = search(relevant("of"), keyed.web)
    for kept in ({"works": []}, {"total": "x"}, [1]):
        monkeypatch.setattr(type(keyed.web.cache), "get", lambda self, kind, name, k=kept: k)
        assert search(relevant("of"), keyed.web).papers == first.papers
    assert len(asked(world)) == 4


@pytest.mark.parametrize("piece", [" (", "1", "<a"])
def test_names_of_any_length_are_read_at_once(piece):
    long = f"A{piece * 200_000}"
    source = {"source": {"display_name": long}}
    work = {"title": long, "primary_location": source, "ids": {"pmcid": long}}
    assert len(paper_of(work).journal) <= LONGEST_NAME


def test_a_server_is_named_without_who_runs_it():
    def journal(name):
        return paper_of({"primary_location": {"source": {"display_name": name}}}).journal

    assert journal("bioRxiv (Cold Spring Harbor Laboratory)") == "bioRxiv"
    assert journal("arXiv (Cornell (University))") == "arXiv"
    assert journal("Cells (Basel) Reports") == "Cells (Basel) Reports"


def test_years_author_and_type_narrow(keyed, world):
    found = search(
        relevant("", author="Varga Ilona", min_date="2025", max_date="2025/06"), keyed.web
    )
    assert found.papers
    assert all(paper.authors[0].family == "Varga" for paper in found.papers)
    assert all("2025-01-01" <= paper.published <= "2025-06-30" for paper in found.papers)
    types = search(relevant("", publication_types=("Preprint",)), keyed.web)
    assert {paper.publication_types for paper in types.papers} == {("Preprint",)}
    dates = [paper.published for paper in search(Query("of"), keyed.web).papers]
    assert dates == sorted(dates, reverse=True)


@pytest.mark.parametrize(
    "wish",
    [
        {"categories": ("cs.LG",)},
        {"sort_by": "author"},
        {"publication_types": ("Clinical Trial",)},
        {"min_date": "2024", "max_date": "2025", "date_type": "edat"},
        {"min_date": "soon", "max_date": "2025"},
    ],
)
def test_what_openalex_has_not_is_refused_before_it_costs(keyed, world, wish):
    with pytest.raises(BadRequest):
        search(Query("moss", **wish), keyed.web)
    assert not world.requests


def test_a_question_it_cannot_read_is_the_askers_error(keyed):
    with pytest.raises(BadRequest, match="is not a valid field"):
        list_works({"filter": "colour:blue"}, keyed.web)


# -- links ---------------------------------------------------------------------------------------


def test_who_cites_a_paper_and_whom_it_cites(keyed, world):
    record = world.paper("pmc_cloud")
    total, rows, url = fetch_linked(Ids(doi=record.doi), "citations", 3, keyed.web)
    assert total >= len(rows)
    assert len(rows) == 3
    assert all(row.pmid and row.title and row.year for row in rows)
    assert "cites:W" in url
    assert fetch_linked(Ids(pmid=record.pmid), "references", 3, keyed.web)[1]
    with pytest.raises(NotAvailable):
        fetch_linked(Ids(doi="10.1000/nobody"), "citations", 3, keyed.web)


def test_long_lists_come_in_pages_of_a_hundred(keyed, monkeypatch):
    pages = []

    def page(params, web):
        pages.append((params["page"], params["per_page"]))
        return 900, [{"title": f"{params['page']}.{at}"} for at in range(params["per_page"])], ""

    monkeypatch.setattr("utils.sources.openalex.fetch_work", lambda *_: {"id": "https://o.org/W1"})
    monkeypatch.setattr("utils.sources.openalex.list_works", page)
    total, rows, _ = fetch_linked(Ids(pmid="1"), "citations", 150, keyed.web)
    assert (total, len(rows)) == (900, 150)
    assert pages == [(1, 100), (2, 100)]


# -- what it sends -------------------------------------------------------------------------------


@given(
    st.dictionaries(
        st.sampled_from(
            [
                *("doi", "ids", "title", "authorships", "primary_location", "biblio", "type"),
                *("abstract_inverted_index", "publication_date", "best_oa_location"),
            ]
        ),
        ANY_JSON,
    )
)
def test_any_json_is_a_paper_with_gaps(work):
    assert isinstance(paper_of(work), Paper)


@pytest.mark.shared
def test_recorded_works_are_read(shared):
    works = {}
    for file in (shared / "apis" / "openalex").glob("p[ay][pg]*.json"):
        reply = json.loads(file.read_text("utf-8"))
        for work in reply.get("results", [reply]):
            paper = paper_of(work)
            works[paper.ids.key] = paper
    old = works["doi:10.1023/a:1007154515475"]
    assert (old.ids.pmid, old.published, old.volume, old.issue) == (
        "11330823",
        "2001",
        "218",
        "1/2",
    )
    assert (old.pages, old.authors[0].family) == ("1-11", "Adak")
    assert old.journal == "Molecular and Cellular Biochemistry"
    preprint = works["arxiv:2312.07559"]
    assert (preprint.journal, preprint.publication_types) == ("arXiv", ("Preprint",))
    assert all(paper.ids for paper in works.values())
    assert sum(bool(paper.abstract) for paper in works.values()) >= 3
