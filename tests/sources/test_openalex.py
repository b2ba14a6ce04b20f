"""OpenAlex: copies nobody else names, and a search that is paid for.

Answers: https://developers.openalex.org; budgets and their headers:
https://github.com/rpatrik96/bibtexupdater/pull/50.
"""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from requests.structures import CaseInsensitiveDict

from tests.sources.reader import ANY_JSON, article_of
from utils.errors import BadRequest, NotAvailable, NotConfigured, Unreachable
from utils.http import Answer
from utils.model.identifiers import Ids
from utils.model.paper import Fetched, Paper
from utils.sources import unpaywall
from utils.sources.loose_json import MAX_NAME_CHARS
from utils.sources.openalex import (
    _check_answer,
    _list_copies,
    fetch_linked,
    fetch_open_copies,
    list_works,
    search,
    to_paper,
)
from utils.sources.source import Query

PAPER = article_of("10.1000/a")
WORK = "https://api.openalex.org/works/doi:10.1000/a"
WORKS = "https://api.openalex.org/works"
PDF = "https://repository.test/1.pdf"
PAID = {"X-RateLimit-Cost-USD": "0.001", "X-RateLimit-Remaining-USD": "0.999"}


@pytest.fixture
def keyed(client):
    """The client of somebody who has a key."""
    return client(openalex_api_key="openalex-1")


def place(url, **more):
    return {"is_oa": True, "pdf_url": url, "license": "cc-by", **more}


def work(*places, **more):
    best = places[0] if places else None
    named = {"id": "https://openalex.org/W7", "best_oa_location": best, "locations": list(places)}
    return {**named, "is_retracted": False, **more}


def page(*works, count=None, **told):
    return {"meta": {"count": len(works) if count is None else count, **told}, "results": [*works]}


def endless(request):
    """A list of 20,000 works with their numbers as titles, as long as 10,000 are not passed."""
    number, size = int(request.params["page"]), int(request.params["per_page"])
    assert 1 <= size <= 100
    assert 1 <= number <= 500
    assert number * size <= 10_000
    first = (number - 1) * size
    rows = [{"title": str(at)} for at in range(first, first + size)]
    return 200, PAID, json.dumps(page(*rows, count=20_000))


def copies(web):
    return list(fetch_open_copies(PAPER, web))


def relevant(text, **more):
    return Query(text, sort_by="relevance", **more)


# -- open copies ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("key", "sent"), [("openalex-1", "Bearer openalex-1"), ("  ", None)])
def test_a_copy_comes_with_its_license_and_a_key_travels_in_a_header(client, mocked, key, sent):
    mocked.get(WORK, json=work(place(PDF, version="acceptedVersion"), is_retracted=True))
    mocked.get(PDF, body=b"%PDF-1.7")
    web = client(openalex_api_key=key)
    [copy] = copies(web)
    assert (copy.media, copy.via, copy.license) == ("pdf", "openalex", "cc-by")
    assert (copy.version, copy.retracted) == ("accepted", True)
    first, second = (call.request for call in mocked.calls)
    assert (first.headers.get("Authorization"), second.headers.get("Authorization")) == (sent, None)
    assert "openalex-1" not in first.url
    if sent is None:
        with pytest.raises(NotConfigured, match="OPENALEX_API_KEY is not set"):
            search(relevant("moss"), web)


def test_what_unpaywall_named_is_not_asked_for_again_where_it_is_asked(client, web, mocked):
    record = {"doi": "10.1000/a", "oa_locations": [{"url_for_pdf": PDF}]}
    mocked.get("https://api.unpaywall.org/v2/10.1000/a", json=record)
    mocked.get(PDF, body=b"%PDF-1.7")
    mocked.get(WORK, json=work(place(PDF)))
    list(unpaywall.fetch_open_copies(PAPER, web))
    with pytest.raises(NotAvailable, match="not tried before"):
        copies(web)
    assert mocked.assert_call_count(PDF, 1)
    assert isinstance(copies(client(papers_sources=("openalex", "publisher")))[0], Fetched)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ({"json": work(place("https://www.ncbi.nlm.nih.gov/pmc/articles/PMC1"))}, "tried before"),
        ({"json": work(place("https://doi.org/10.1000/a"))}, "tried before"),
        ({"json": work()}, "lists no open copy"),
        ({"status": 404}, "lists no open copy"),
    ],
)
def test_no_copy_is_a_plain_no_and_remembered(web, mocked, answer, said):
    mocked.get(WORK, **answer)
    for _ in range(2):
        with pytest.raises(NotAvailable, match=said):
            copies(web)
    assert len(mocked.calls) == 1


def test_the_best_copy_comes_first_and_then_the_version_of_record():
    rows = [
        place("https://a.test/3", version="submittedVersion"),
        place("https://a.test/2", version="publishedVersion"),
        place("https://a.test/never", is_oa=False),
    ]
    best = {"pdf_url": "https://a.test/1.pdf", "landing_page_url": "https://a.test/1"}
    found = _list_copies({"best_oa_location": best, "locations": rows})
    assert [copy.url[-5:] for copy in found] == ["1.pdf", "est/1", "est/2", "est/3"]


# -- what refusals mean --------------------------------------------------------------------------


def test_a_bad_key_is_named_and_no_reason_to_try_again(client, mocked):
    mocked.get(WORK, status=401)
    with pytest.raises(NotConfigured, match="OPENALEX_API_KEY"):
        copies(client(openalex_api_key="wrong"))
    assert len(mocked.calls) == 1


def test_too_many_at_once_is_waited_for(web, mocked, clock):
    mocked.get(WORK, status=429, headers={"Retry-After": "3"})
    mocked.get(WORK, json=work(place(PDF)))
    mocked.get(PDF, body=b"%PDF-1.7")
    assert isinstance(copies(web)[0], Fetched)
    assert sum(clock.naps) >= 3


def test_a_spent_budget_is_told_at_once_and_single_works_go_on(keyed, mocked):
    spent = {"Retry-After": "54000", "X-RateLimit-Remaining": "3"}
    mocked.get(WORKS, status=429, headers=spent, json={"message": "Insufficient budget."})
    mocked.get(WORK, json=work(place(PDF)))
    mocked.get(PDF, body=b"%PDF-1.7")
    with pytest.raises(Unreachable, match="budget of the day is spent") as caught:
        search(relevant("moss"), keyed)
    assert (caught.value.code, caught.value.retry_after) == ("RATE_LIMIT", 54_000)
    assert isinstance(copies(keyed)[0], Fetched)
    with pytest.raises(Unreachable, match="openalex_list is closed for today"):
        search(relevant("fern"), keyed)
    assert [call.request.url.partition("?")[0] for call in mocked.calls].count(WORKS) == 1


def test_a_pause_of_hours_is_a_spent_budget_whatever_the_headers_say():
    headers = CaseInsensitiveDict({"Retry-After": "54000"})
    with pytest.raises(Unreachable, match="budget of the day is spent") as caught:
        _check_answer(
            Answer(429, "https://o.test", b"Too many requests", headers=headers), is_list=True
        )
    assert caught.value.details["lasting"]


@pytest.mark.parametrize("told", [{}, {"Retry-After": "3"}])
def test_too_many_at_once_is_no_spent_budget(told):
    headers = CaseInsensitiveDict({"X-RateLimit-Remaining": "9000", **told})
    with pytest.raises(Unreachable) as caught:
        _check_answer(
            Answer(429, "https://o.test", b"Too many requests", headers=headers), is_list=False
        )
    assert "budget" not in caught.value.message
    assert caught.value.retry_after == float(told.get("Retry-After", 0))
    assert not caught.value.details.get("lasting")


# -- search --------------------------------------------------------------------------------------


def test_a_search_needs_a_key(web, mocked):
    with pytest.raises(NotConfigured, match="OPENALEX_API_KEY"):
        search(relevant("moss"), web)
    with pytest.raises(NotConfigured, match="OPENALEX_API_KEY"):
        fetch_linked(Ids(pmid="1"), "citations", 5, web)
    assert not mocked.calls


def test_a_search_finds_papers_says_what_it_cost_and_is_paid_once(keyed, mocked):
    row = {
        "doi": "https://doi.org/10.1000/A",
        "ids": {"pmid": "https://pubmed.ncbi.nlm.nih.gov/8", "pmcid": "PMC7"},
        "title": "Nectar <i>hive</i>",
        "abstract_inverted_index": {"cells": [1], "The": [0], "divide": [2]},
        "authorships": [
            {"author": {"display_name": "Ada B. Roe", "orcid": "https://orcid.org/0-1"}}
        ],
        "publication_date": "2025-03-02",
        "type": "article",
        "biblio": {"volume": "1", "issue": "2", "first_page": "3", "last_page": "3"},
    }
    mocked.get(WORKS, json=page(row), headers=PAID)
    found = search(relevant("nectar hive"), keyed)
    [paper] = found.papers
    assert paper.ids == Ids(doi="10.1000/a", pmid="8", pmcid="PMC7")
    assert (paper.title, paper.abstract) == ("Nectar hive", "The cells divide")
    assert (paper.authors[0].family, paper.authors[0].given) == ("Roe", "Ada B.")
    assert (paper.published, paper.publication_types) == ("2025-03-02", ("Journal Article",))
    assert (paper.volume, paper.issue, paper.pages) == ("1", "2", "3")
    assert (found.total, found.next_start) == (1, None)
    assert found.warnings == ("OpenAlex charged USD 0.0010; 0.999 are left until midnight UTC.",)
    again = search(relevant("nectar hive"), keyed)
    assert (again.papers, again.warnings) == (found.papers, ())
    assert len(mocked.calls) == 1


@pytest.mark.parametrize("size", [7, 30, 100])
def test_pages_fit_together_wherever_they_begin(keyed, mocked, size):
    mocked.add_callback("GET", WORKS, endless)
    parts, start = [], 5
    while len(parts) < 60:
        page = search(relevant("of", max_results=size, start=start), keyed)
        parts += [int(paper.title) for paper in page.papers]
        start = page.next_start
    assert parts == [*range(5, 5 + len(parts))]


def test_the_wall_at_ten_thousand_is_named(keyed, mocked):
    with pytest.raises(BadRequest, match="10,000"):
        search(relevant("of", start=10_000), keyed)
    assert not mocked.calls


@pytest.mark.parametrize(
    ("start", "most"),
    [(9985, 30), (9999, 1), (9000, 999), (9801, 150), (9500, 1000), (0, 3), (5000, 7)],
)
def test_no_page_reaches_beyond_the_wall(keyed, mocked, start, most):
    mocked.add_callback("GET", WORKS, endless)
    found = search(relevant("of", start=start, max_results=most), keyed)
    end = min(start + most, 10_000)
    assert [int(paper.title) for paper in found.papers] == [*range(start, end)]
    assert found.next_start == (end if end < 10_000 else None)


@pytest.mark.parametrize("count", [None, "", "many", -1, 1.5, "9" * 5000, [3]])
def test_without_a_number_of_works_it_is_no_answer(keyed, mocked, count):
    mocked.get(WORKS, json={"results": [{"title": "A"}], "meta": {"count": count}})
    for _ in range(2):
        with pytest.raises(Unreachable, match="did not say how many works"):
            search(relevant("moss"), keyed)


def test_a_page_kept_by_another_version_is_asked_for_again(keyed, mocked, monkeypatch):
    mocked.get(WORKS, json=page({"title": "A"}))
    first = search(relevant("of"), keyed)
    for kept in ({"works": []}, {"total": "x"}, [1]):
        monkeypatch.setattr(type(keyed.cache), "get", lambda self, kind, name, k=kept: k)
        assert search(relevant("of"), keyed).papers == first.papers
    assert len(mocked.calls) == 4


@pytest.mark.parametrize("piece", [" (", "1", "<a"])
def test_names_of_any_length_are_read_at_once(piece):
    long = f"A{piece * 200_000}"
    source = {"source": {"display_name": long}}
    work = {"title": long, "primary_location": source, "ids": {"pmcid": long}}
    assert len(to_paper(work).journal) <= MAX_NAME_CHARS


def test_a_server_is_named_without_who_runs_it():
    def journal(name):
        return to_paper({"primary_location": {"source": {"display_name": name}}}).journal

    assert journal("bioRxiv (Cold Spring Harbor Laboratory)") == "bioRxiv"
    assert journal("arXiv (Cornell (University))") == "arXiv"
    assert journal("Cells (Basel) Reports") == "Cells (Basel) Reports"


@pytest.mark.parametrize(
    ("query", "sent"),
    [
        (relevant("moss"), {"search": "moss", "filter": ""}),
        (relevant("", author="Varga, Ilona", min_date="2025", max_date="2025/06"),
            {"filter": "from_publication_date:2025-01-01,to_publication_date:2025-06-30,"
            "raw_author_name.search:Varga Ilona", "sort": "publication_date:desc"}),
        (relevant("", publication_types=("Preprint",)), {"filter": "type:preprint"}),
        (Query("of"), {"search": "of", "sort": "publication_date:desc"}),
    ],
)  # fmt: skip
def test_years_author_type_and_order_are_said_in_its_words(keyed, mocked, query, sent):
    mocked.get(WORKS, json=page())
    search(query, keyed)
    asked = mocked.calls[0].request.params
    assert {name: asked.get(name, "") for name in sent} == sent


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
def test_what_openalex_has_not_is_refused_before_it_costs(keyed, mocked, wish):
    with pytest.raises(BadRequest):
        search(Query("moss", **wish), keyed)
    assert not mocked.calls


def test_a_question_it_cannot_read_is_the_askers_error(keyed, mocked):
    mocked.get(WORKS, status=400, json={"message": "colour is not a valid field"})
    with pytest.raises(BadRequest, match="is not a valid field"):
        list_works({"filter": "colour:blue"}, keyed)


# -- links ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "name"), [("citations", "cites"), ("references", "cited_by")])
@pytest.mark.parametrize(
    ("ids", "path"), [(Ids(doi="10.1000/a"), "doi:10.1000/a"), (Ids(pmid="8"), "pmid:8")]
)
def test_who_cites_a_paper_and_whom_it_cites(keyed, mocked, kind, name, ids, path):
    row = {"ids": {"pmid": "9"}, "title": "Moss", "publication_date": "2025-03-02"}
    mocked.get(f"{WORKS}/{path}", json={"id": "https://openalex.org/W7"})
    mocked.get(WORKS, json=page(row, count=7))
    total, rows, url = fetch_linked(ids, kind, 3, keyed)
    assert (total, rows[0].pmid, rows[0].title, rows[0].year) == (7, "9", "Moss", "2025")
    assert url == f"{WORKS}?filter={name}:W7"
    assert mocked.calls[1].request.params["filter"] == f"{name}:W7"


@pytest.mark.parametrize("ids", [Ids(doi="10.1000/nobody"), Ids(arxiv="2511.04014")])
def test_the_links_of_a_paper_it_does_not_know(keyed, mocked, ids):
    mocked.get(f"{WORKS}/doi:10.1000/nobody", status=404)
    with pytest.raises(NotAvailable):
        fetch_linked(ids, "citations", 3, keyed)


def test_long_lists_come_in_pages_of_a_hundred(keyed, mocked):
    mocked.get(f"{WORKS}/pmid:1", json={"id": "https://openalex.org/W1"})
    mocked.add_callback("GET", WORKS, endless)
    total, rows, _ = fetch_linked(Ids(pmid="1"), "citations", 150, keyed)
    assert (total, len(rows)) == (20_000, 150)
    asked = [call.request.params for call in mocked.calls[1:]]
    assert [(one["page"], one["per_page"]) for one in asked] == [("1", "100"), ("2", "100")]


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
    assert isinstance(to_paper(work), Paper)


@pytest.mark.shared
def test_recorded_works_are_read(shared):
    works = {}
    for file in (shared / "apis" / "openalex").glob("p[ay][pg]*.json"):
        reply = json.loads(file.read_text("utf-8"))
        for work in reply.get("results", [reply]):
            paper = to_paper(work)
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
