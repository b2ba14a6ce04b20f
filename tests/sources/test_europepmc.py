"""Europe PMC: a search, records PubMed lacks, preprints, and JATS."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.answering import answering
from tests.sources.reader import ANY_JSON
from tests.world.europepmc import _unwrapped
from utils.errors import BadRequest, NotAvailable, Unreachable
from utils.http import Answer
from utils.model.identifiers import Ids
from utils.model.paper import Notice, Paper
from utils.settings import load_settings
from utils.sources.europepmc import (
    fetch_full_text,
    fetch_linked,
    fetch_preprint_text,
    list_rows,
    look_up_papers,
    search,
    to_paper,
)
from utils.sources.loose_json import MAX_NAME_CHARS
from utils.sources.source import Query

ROW = st.dictionaries(
    st.sampled_from(
        [
            *("source", "id", "doi", "pmid", "pmcid", "title", "abstractText", "authorList"),
            *("journalInfo", "pubTypeList", "commentCorrectionList", "bookOrReportDetails"),
            *("versionNumber", "license", "firstPublicationDate", "pubYear", "pageInfo"),
        ]
    ),
    ANY_JSON,
)


def relevant(text, **more):
    return Query(text, sort_by="relevance", **more)


# -- records -------------------------------------------------------------------------------------


def test_a_doi_that_pubmed_lacks_is_known(library, world):
    record = world.paper("doi_only")
    [paper] = look_up_papers([Ids(doi=record.doi)], library.web).values()
    assert paper.ids.doi == record.doi
    assert paper.title.rstrip(".") == record.title
    assert "<h4>" not in paper.abstract
    assert paper.authors


def test_many_are_one_request(library, world):
    wanted = [Ids(pmid=r.pmid) for r in world.papers if r.pmid][:20]
    outcomes = look_up_papers([*wanted, Ids(doi="10.1000/nobody")], library.web)
    assert Ids(doi="10.1000/nobody") not in outcomes
    assert all(outcomes[ids].ids.pmid == ids.pmid for ids in wanted)
    assert len(world.requests) == 1


def test_a_preprint_names_its_server_and_the_version_a_journal_published(library, world):
    record = world.paper("preprint")
    [paper] = look_up_papers([Ids(doi=record.doi)], library.web).values()
    assert (paper.journal, paper.publication_types) == ("bioRxiv", ("Preprint",))
    assert (paper.published, paper.version) == (record.published, "1")
    [notice] = paper.notices
    assert (notice.kind, notice.pmid) == ("update", world.paper("preprint_published").pmid)
    assert not paper.retracted


def test_of_several_versions_the_newest_counts():
    rows = [
        {"source": "PPR", "id": f"PPR{number}", "doi": "10.1101/123456", "versionNumber": number}
        for number in (1, 3, 2)
    ]
    web = _Web({"resultList": {"result": rows}})
    [paper] = look_up_papers([Ids(doi="10.1101/123456")], web).values()
    assert paper.version == "3"
    assert web.cache.kept == {("europepmc_preprint", "10.1101/123456"): "PPR3"}


@pytest.mark.parametrize(
    ("told", "kinds"),
    [
        ([("Retraction in", "MED")], ["retraction"]),
        ([("Erratum in", "MED"), ("Comment on", "MED")], ["erratum"]),
        ([("Preprint in", "PPR"), ("Erratum for", "MED"), ("Retraction of", "MED")], []),
    ],
)
def test_only_what_came_later_is_a_notice(told, kinds):
    links = [{"id": "7", "source": source, "type": kind} for kind, source in told]
    row = {
        "pubTypeList": {"pubType": ["Journal Article"]},
        "commentCorrectionList": {"commentCorrection": links},
    }
    assert [notice.kind for notice in to_paper(row).notices] == kinds


def test_a_retracted_paper_is_one_notice_however_often_it_is_said():
    links = [{"id": "7", "source": "MED", "reference": "X. 2019", "type": "Retraction in"}]
    row = {
        "pubTypeList": {"pubType": ["Retracted Publication"]},
        "commentCorrectionList": {"commentCorrection": links},
    }
    assert to_paper(row).notices == (Notice("retraction", "X. 2019", "7"),)


@given(ROW)
def test_any_row_is_a_paper_with_gaps(row):
    assert isinstance(to_paper(row), Paper)


@given(ANY_JSON)
def test_any_answer_has_rows_or_none(reply):
    assert all(isinstance(row, dict) for row in list_rows(reply))


@pytest.mark.shared
def test_recorded_records_are_read(shared):
    fetch_linked = 0
    for file in sorted((shared / "articles").glob("PMC*/europepmc_core.json")):
        paper = to_paper(_unwrapped(json.loads(file.read_text("utf-8")), ""))
        assert paper.ids.pmcid == file.parent.name
        assert paper.title
        assert paper.published
        fetch_linked += any(notice.pmid for notice in paper.notices)
    assert fetch_linked  # the recorded retraction


@pytest.mark.shared
def test_recorded_searches_are_read(shared):
    found = [
        to_paper(row)
        for file in (shared / "apis" / "europepmc").iterdir()
        for row in list_rows(json.loads(file.read_text("utf-8")))
    ]
    assert len(found) > 30
    assert any(paper.title and paper.ids.doi for paper in found)


# -- search --------------------------------------------------------------------------------------


def test_a_search_finds_papers_and_preprints(library, world):
    found = search(relevant("traps OR vacuole"), library.web)
    assert found.total == len(found.papers)
    paper = found.papers[0]
    assert paper.ids.doi == world.paper("preprint").doi
    assert found.effective_query == "(traps OR vacuole)"
    assert found.next_start is None


def test_years_author_and_type_are_said_in_its_words(library, world):
    query = relevant("", author="Varga I", min_date="2025", max_date="2025/06")
    found = search(query, library.web)
    assert found.effective_query == 'AUTH:"Varga I" AND FIRST_PDATE:[2025-01-01 TO 2025-06-30]'
    assert found.papers
    assert all(paper.authors[0].family == "Varga" for paper in found.papers)
    assert all("2025-01" <= paper.published <= "2025-06-30" for paper in found.papers)
    preprints = search(relevant("", publication_types=("Preprint",)), library.web)
    assert {paper.journal for paper in preprints.papers} == {"bioRxiv", "Research Square"}


def test_the_newest_come_first_when_asked(library):
    dates = [paper.published for paper in search(Query("of"), library.web).papers]
    assert len(dates) > 3
    assert dates == sorted(dates, reverse=True)


def test_going_page_by_page_costs_one_request_each(library, world):
    whole = search(relevant("of", max_results=30), library.web).papers
    world.reset()
    parts, start = [], 0
    while start is not None:
        page = search(relevant("of", max_results=5, start=start), library.web)
        parts += page.papers
        start = page.next_start
    assert tuple(parts) == whole
    assert len(world.requests) == -(-len(whole) // 5) > 2


def test_a_page_nobody_led_to_is_walked_to(library, world):
    whole = search(relevant("of", max_results=30), library.web).papers
    world.reset()
    leap = search(relevant("of", max_results=4, start=6), library.web)
    assert leap.papers == whole[6:10]
    assert [request.params["resultType"] for request in world.requests] == ["idlist", "core"]


def test_beyond_the_end_there_is_nothing_and_far_away_is_refused(library, world):
    beyond = search(relevant("of", start=9000), library.web)
    assert (beyond.papers, beyond.next_start) == ((), None)
    assert beyond.total == search(relevant("of"), library.web).total
    world.reset()
    with pytest.raises(BadRequest, match="too far"):
        search(relevant("of", start=10_001), library.web)
    assert not world.requests


@pytest.mark.parametrize(
    "wish",
    [
        {"categories": ("cs.LG",)},
        {"sort_by": "author"},
        {"text": " "},
        {"min_date": "2024", "max_date": "2025", "date_type": "edat"},
        {"min_date": "2024/13", "max_date": "2025"},
    ],
)
def test_what_it_has_not_is_refused_before_it_is_asked(library, world, wish):
    with pytest.raises(BadRequest):
        search(Query(**{"text": "moss", **wish}), library.web)
    assert not world.requests


def test_a_search_it_cannot_read_is_the_askers_error():
    web = _Web({"version": "6.9", "errCode": 404, "errMsg": "Invalid query"})
    with pytest.raises(BadRequest, match="Invalid query"):
        search(relevant("moss"), web)


@pytest.mark.parametrize("count", [None, "", "many", -1, 1.5, "9" * 5000, "\u0663", [3]])
def test_without_a_number_of_hits_it_is_no_answer(library, monkeypatch, count):
    rows = {"result": [{"id": "1", "source": "MED", "pmid": "1"}]}
    answering(monkeypatch, {"resultList": rows, "hitCount": count, "nextCursorMark": "b"})
    with pytest.raises(Unreachable, match="did not say how many hits"):
        search(relevant("moss"), library.web)
    answering(monkeypatch, {"citationList": {"citation": []}, "hitCount": count})
    with pytest.raises(Unreachable, match="did not say how many citations"):
        fetch_linked("1", "citations", 5, library.web)


@pytest.mark.parametrize("piece", ["<h4>", "<a", "</", "<a b='c'>", " ("])
def test_words_of_any_length_are_read_at_once(piece):
    row = {"title": piece * 200_000, "abstractText": piece * 200_000}
    assert len(to_paper(row).title) <= MAX_NAME_CHARS


def test_names_that_are_none_are_left_out():
    ids = to_paper({"pmcid": "../search", "pmid": "x/y", "doi": "10.1000/../b"}).ids
    assert not ids


# -- full text -----------------------------------------------------------------------------------


def test_full_text_or_a_plain_no(library, world):
    record = world.paper("europepmc_only")
    [fetched] = fetch_full_text(Paper(Ids(pmcid=record.pmcid)), library.web)
    assert b"<body>" in fetched.body
    with pytest.raises(NotAvailable):
        list(fetch_full_text(Paper(Ids(pmcid="PMC8999999")), library.web))


def test_a_preprint_whose_record_came_from_here_needs_one_request(library, world):
    ids = Ids(doi=world.paper("preprint").doi)
    [paper] = look_up_papers([ids], library.web).values()
    world.reset()
    [fetched] = fetch_preprint_text(paper, library.web)
    assert b"<body>" in fetched.body
    assert [request.path for request in world.requests] == ["/PPR900046/fullTextXML"]


def test_a_preprint_nobody_knows_yet_is_found_by_its_doi(library, world):
    [fetched] = fetch_preprint_text(Paper(Ids(doi=world.paper("preprint").doi)), library.web)
    assert fetched.via == "europepmc_preprint"
    assert len(world.requests) == 2


def test_a_preprint_without_text_is_a_plain_no(library, world):
    record = world.paper("preprint_without_text")
    with pytest.raises(NotAvailable, match="no full text"):
        list(fetch_preprint_text(Paper(Ids(doi=record.doi)), library.web))
    assert len(world.requests) == 2


@pytest.mark.parametrize("doi", ["10.1101/gr.123456.108", "10.9101/journal.2025.0001"])
def test_what_is_no_preprint_costs_no_request(library, world, doi):
    with pytest.raises(NotAvailable, match="not a preprint that Europe PMC knows"):
        list(fetch_preprint_text(Paper(Ids(doi=doi)), library.web))
    assert not world.requests


def test_an_error_page_is_trouble_and_no_answer_about_a_preprint(library, world):
    world.mood("down", "europepmc", path="fullTextXML")
    with pytest.raises(Unreachable):
        list(fetch_preprint_text(Paper(Ids(doi=world.paper("preprint").doi)), library.web))


class _Web:
    """Answers everything with one reply."""

    def __init__(self, reply):
        self.reply = reply
        self.settings = load_settings()
        self.cache = self
        self.kept = {}

    def get(self, url, params, *, check, kept=False):
        answer = Answer(200, "https://e.test", json.dumps(self.reply).encode())
        check(answer)
        return answer

    def put(self, kind, name, value, days):
        self.kept[kind, name] = value
