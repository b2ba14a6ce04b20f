"""Semantic Scholar: records, searches, lists of citations, and its manners."""

import json
from itertools import pairwise

import pytest

from tests.answering import answering
from tests.world import World
from tests.world.semantic_scholar import CITATIONS, FAMOUS, KEY, WITHHELD, paper_id
from utils import Library
from utils.errors import BadRequest, NotAvailable, NotConfigured, NotFound, Unreachable
from utils.http import Answer
from utils.model.identifiers import Ids
from utils.sources import Query
from utils.sources.semantic_scholar import (
    count_hits,
    fetch_linked,
    fetch_linked_papers,
    fetch_paper,
    fetch_papers,
    look_up_papers,
    search,
    search_bulk,
    search_by_relevance,
)
from utils.sources.semantic_scholar_graph import parse_author, to_graph_name, to_scholar_paper

WHOLE = {
    "paperId": "0123456789abcdef0123456789abcdef01234567",
    "externalIds": {"DOI": "10.1234/Syn.2026.1", "PubMed": "40000001", "PubMedCentral": "9990001",
        "ArXiv": "2601.00001", "CorpusId": 900000001},
    "url": "https://www.semanticscholar.org/paper/0123456789abcdef0123456789abcdef01234567",
    "title": "A synthetic title",
    "abstract": None,
    "venue": "Nat. Synth. Stud.",
    "year": 2026,
    "publicationDate": None,
    "publicationTypes": ["JournalArticle", "MetaAnalysis", "SomethingNew"],
    "journal": {"name": "Nature Synthetic Studies", "volume": "12 3", "pages": "\n 525 - 535\n "},
    "publicationVenue": {"issn": "1234-5678"},
    "openAccessPdf": {"url": "", "status": None, "license": "CCBYNC", "disclaimer": "Notice: …"},
    "tldr": {"model": "tldr@v2.0.0", "text": "It is synthetic."},
    "authors": [{"authorId": "1", "name": "J. Doe"}, {"authorId": "2", "name": None}, None],
    "citationCount": 3,
}  # fmt: skip


# --- records -----------------------------------------------------------------


def test_a_record_in_our_words():
    found = to_scholar_paper(WHOLE)
    paper = found.paper
    assert paper.ids == Ids(
        "10.1234/syn.2026.1", "40000001", "PMC9990001", "2601.00001", WHOLE["paperId"]
    )
    assert (paper.abstract, paper.published) == ("", "2026")
    assert (paper.journal, paper.journal_abbreviation) == (
        "Nature Synthetic Studies",
        "Nat. Synth. Stud.",
    )
    assert (paper.volume, paper.issue, paper.pages, paper.issn) == (
        "12",
        "3",
        "525-535",
        "1234-5678",
    )
    assert paper.publication_types == ("Journal Article", "Meta-Analysis")
    assert paper.license == "CC BY-NC"
    assert [author.name for author in paper.authors] == ["J. Doe"]
    assert found.author_ids == ("1",)
    assert (found.citation_count, found.reference_count) == (3, None)
    assert found.open_copy == ""
    assert found.tldr == "It is synthetic."


def test_a_preprint_is_one_and_has_no_volume():
    journal = {"name": "ArXiv", "volume": "abs/2601.00001"}
    names = {"DOI": "10.48550/arXiv.2601.00001"}
    row = {"title": "T", "journal": journal, "externalIds": names, "publicationTypes": None}
    paper = to_scholar_paper(row).paper
    assert paper.ids == Ids(arxiv="2601.00001")
    assert (paper.volume, paper.publication_types) == ("", ("Preprint",))


@pytest.mark.parametrize("row", [None, [], {}, {"paperId": None, "title": None}, {"paperId": 7}])
def test_what_names_no_paper_is_none(row):
    assert to_scholar_paper(row) is None


@pytest.mark.parametrize("told", ["many", "3", -1, True, 2.5, [3], None])
def test_a_count_that_is_none_is_unknown(told):
    assert to_scholar_paper({"title": "T", "citationCount": told}).citation_count is None


def test_an_address_that_nobody_could_open_is_none():
    assert to_scholar_paper({"title": "T", "url": "javascript:alert(1)"}).url == ""


@pytest.mark.parametrize(
    ("name", "given", "family", "suffix"),
    [
        ("J. Doe", "J.", "Doe", ""),
        ("Turing", "", "Turing", ""),
        ("Ludwig van Beethoven", "Ludwig", "van Beethoven", ""),
        ("van Gogh", "", "van Gogh", ""),
        ("Maria de la Cruz", "Maria", "de la Cruz", ""),
        ("Martin Luther King, Jr.", "Martin Luther", "King", "Jr."),
        ("Doe, Jane A.", "Jane A.", "Doe", ""),
        ("Jo‐Shu Chang", "Jo‐Shu", "Chang", ""),
        ("J. Society", "J.", "Society", ""),
    ],
)
def test_names_are_split_where_they_split(name, given, family, suffix):
    author = parse_author(name)
    assert (author.given, author.family, author.suffix) == (given, family, suffix)


@pytest.mark.parametrize("name", ["The ENCODE Project Consortium", "ATLAS Collaboration"])
def test_groups_are_groups(name):
    assert parse_author(name).collective == name


# --- one paper ---------------------------------------------------------------


def test_every_form_of_identifier_leads_to_the_paper(library, world):
    record = world.paper("arxiv_published")
    known = fetch_paper(paper_id(record), library.web)
    own = known.paper.ids.s2
    assert own == paper_id(record)
    number = int(own[:8], 16)
    for spelling in (
        record.doi,
        f"https://doi.org/{record.doi}",
        f"PMID:{record.pmid}",
        f"arXiv:{record.arxiv}v2",
        f"https://arxiv.org/pdf/{record.arxiv}",
        f"CorpusID:{number}",
        f"mag:{2_000_000_000 + number % 10**9}",
        f"ACL:W25-{number % 10_000:04d}",
        f"https://aclanthology.org/W25-{number % 10_000:04d}/",
        f"https://www.semanticscholar.org/paper/Some-title/{own}",
    ):
        assert fetch_paper(to_graph_name(spelling), library.web).paper.ids.s2 == own, spelling


def test_pmc_takes_digits(library, world):
    record = world.paper("pmc_cloud")
    for spelling in (record.pmcid, f"PMCID:{record.number}"):
        assert fetch_paper(to_graph_name(spelling), library.web).paper.ids.pmcid == record.pmcid
    assert world.requests[0].path == f"/paper/PMCID:{record.number}"


@pytest.mark.parametrize("name", ["DOI:10.1/x", "0" * 40, "CorpusId:7"])
def test_who_is_unknown_is_not_found(library, world, name):
    with pytest.raises(NotFound):
        fetch_paper(name, library.web)
    assert len(world.requests) == 1


@pytest.mark.parametrize(
    "text",
    ["", "some title", "10.1/../../author/1", "URL:https://a.org/../b", "a\x00b", "x" * 2000],
)
def test_what_is_no_identifier_is_not_sent(text):
    with pytest.raises(BadRequest):
        to_graph_name(text)


def test_a_doi_of_any_signs_is_one_path(library, world):
    doi = world.paper("sici").doi
    assert fetch_paper(to_graph_name(doi), library.web).paper.ids.doi == doi.lower()


def test_seen_in_a_search_is_known_for_a_day(library, world, clock):
    [first, *_] = search(Query("coral", sort_by="relevance"), library.web).papers
    assert fetch_paper(first.ids.s2, library.web).paper == first
    assert len(world.requests) == 1
    clock.sleep(25 * 3600)
    fetch_paper(first.ids.s2, library.web)
    assert len(world.requests) == 2


# --- searches ----------------------------------------------------------------


def test_a_search_finds_papers_with_all_their_names(library, world):
    found = search(Query("coral", sort_by="relevance"), library.web)
    record = world.paper("publisher_meta_refresh")
    [paper] = [paper for paper in found.papers if paper.ids.pmid == record.pmid]
    assert paper.ids == Ids(record.doi, record.pmid, s2=paper_id(record))
    assert paper.abstract == ""  # its publisher forbids it
    assert (found.total, found.next_start, found.warnings) == (len(found.papers), None, ())


def test_hyphens_and_operators_are_not_sent(library, world):
    found = search(Query('"Turn-taking" AND (gaps)', sort_by="relevance"), library.web)
    assert world.requests[0].params["query"] == found.effective_query == "Turn taking gaps"
    assert [paper.title for paper in found.papers] == [world.paper("publisher_pdf").title]
    assert "plain words" in found.warnings[0]
    assert search(Query("turn-taking", sort_by="relevance"), library.web).warnings == ()


def test_dates_types_and_fields_are_filters(library, world):
    query = Query(
        "coral",
        sort_by="relevance",
        min_date="2025",
        max_date="2025/06",
        publication_types=("Journal Article",),
        categories=("biology",),
    )
    found = search(query, library.web)
    asked = world.requests[0].params
    assert asked["publicationDateOrYear"] == "2025-01-01:2025-06-30"
    assert (asked["publicationTypes"], asked["fieldsOfStudy"]) == ("JournalArticle", "Biology")
    assert all("2025-01-01" <= paper.published <= "2025-06-30" for paper in found.papers)
    search(Query("moss", sort_by="relevance", min_date="2020", max_date="2024"), library.web)
    assert world.requests[1].params["year"] == "2020-2024"


@pytest.mark.parametrize(
    "query",
    [
        Query("coral", author="Doe"),
        Query("coral", sort_by="journal"),
        Query("coral", min_date="2020", max_date="2021", date_type="edat"),
        Query("coral", publication_types=("Sonnet",)),
        Query("coral", categories=("Alchemy",)),
        Query("--", sort_by="relevance"),
        Query("moss NOT city", sort_by="relevance"),
        Query("coral", sort_by="relevance", start=999),
        Query("coral", start=995, max_results=10),
        Query("coral", min_date="soon", max_date="later"),
    ],
)
def test_what_it_cannot_be_asked_is_refused_unsent(library, world, query):
    with pytest.raises(BadRequest):
        search(query, library.web)
    assert world.requests == []


def test_the_newest_first(library, world):
    found = search(Query("in", max_results=5), library.web)
    dates = [paper.published for paper in found.papers]
    assert dates == sorted(dates, reverse=True)
    assert (len(dates), found.next_start) == (5, 5)
    more = search(Query("in", max_results=5, start=5), library.web)
    assert more.papers[0].published <= dates[-1]
    assert len(world.requests) == 1  # a thousand came at once


@pytest.fixture(scope="module")
def crowded_world():
    with World(crowd=1_150) as world:
        yield world


@pytest.fixture
def crowd(crowded_world, tmp_path):
    """A library where one search has 1,150 hits."""
    crowded_world.reset()
    addresses = {name.lower(): value for name, value in crowded_world.environment().items()}
    folders = {"papers_dir": tmp_path / "crowd", "papers_pace_dir": tmp_path / "pace"}
    library = Library(**{**addresses, **folders})
    yield library
    library.shelf.close()


def test_pages_are_joined_and_end_at_the_wall_with_a_word(crowd):
    found = search(Query("crowd", sort_by="relevance", max_results=150, start=900), crowd.web)
    assert (found.total, len(found.papers), found.next_start) == (1_150, 99, None)
    assert "999 of about 1,150" in found.warnings[-1]


def test_a_list_goes_on_where_it_stopped(crowd):
    first = search_by_relevance("crowd", {}, 120, 0, crowd.web)
    then = search_by_relevance("crowd", {}, 10, first.next_start, crowd.web)
    titles = [found.paper.title for found in (*first.papers, *then.papers)]
    assert len(titles) == len(set(titles)) == 130


def test_a_page_that_fails_leaves_the_others(crowd, crowded_world):
    crowded_world.mood("down", "semantic_scholar", path="offset=100")
    found = search(Query("crowd", sort_by="relevance", max_results=150), crowd.web)
    assert (len(found.papers), found.next_start) == (100, 100)
    assert "cut short" in found.warnings[-1]


def test_in_bulk_every_hit_is_reached_once(crowd, crowded_world):
    seen, start, question = [], 0, {"query": "crowd", "sort": "paperId:asc"}
    while start is not None:
        page = search_bulk(question, 400, start, crowd.web)
        seen += [found.paper.ids.s2 for found in page.papers]
        start, question = page.next_start, {**question, "token": page.token}
        question = {name: value for name, value in question.items() if value}
    assert len(seen) == len(set(seen)) == page.total == 1_150
    assert seen == sorted(seen)
    assert len(crowded_world.requests) == 2


def test_a_list_that_ends_before_its_total_ends(library, monkeypatch):
    told = {"error": "Requested data for this limit and/or offset is not available"}

    def get(self, url, params=None, *, check, **options):
        check(Answer(400, url, json.dumps(told).encode()))

    monkeypatch.setattr(type(library.web), "get", get)
    found = search(Query("coral", sort_by="relevance", start=300), library.web)
    assert (found.papers, found.next_start, found.total) == ((), None, 300)
    assert "ends the list" in found.warnings[0]


# --- citations, references, batches -------------------------------------------


def test_who_cites_a_paper_and_how_many_there_are(library, world):
    record = world.paper("sici")
    page = fetch_linked_papers(f"PMID:{record.pmid}", "citations", 3, 0, library.web)
    assert len(page.papers) == 3
    assert page.total == fetch_paper(f"PMID:{record.pmid}", library.web).citation_count > 3
    rest = fetch_linked_papers(
        f"PMID:{record.pmid}", "citations", 100, page.next_start, library.web
    )
    assert (rest.next_start, 3 + len(rest.papers)) == (None, page.total)
    assert len(world.requests) == 3


def test_a_whole_list_needs_one_request(library, world):
    pmid = world.paper("partial").pmid
    page = fetch_linked_papers(f"PMID:{pmid}", "citations", 100, 0, library.web)
    assert page.total == len(page.papers) > 0
    assert len(world.requests) == 1


def test_the_wall_of_ten_thousand_says_how_many_lie_beyond(library, world):
    name = f"PMID:{world.paper(FAMOUS).pmid}"
    page = fetch_linked_papers(name, "citations", 1000, 9_500, library.web)
    assert (page.total, len(page.papers), page.next_start) == (CITATIONS, 499, None)
    assert f"{CITATIONS - 9_999:,} lie beyond" in page.warnings[0]
    with pytest.raises(BadRequest, match="9,999"):
        fetch_linked_papers(name, "citations", 10, 9_999, library.web)


def test_how_many_there_are_may_stay_unknown(library, world):
    pmid = world.paper(FAMOUS).pmid
    world.mood("down", "semantic_scholar", path="tldr")
    page = fetch_linked_papers(f"PMID:{pmid}", "citations", 10, 0, library.web)
    assert (page.total, len(page.papers), page.next_start) == (None, 10, 10)
    assert "could not be asked" in page.warnings[0]


def test_works_of_no_database_are_listed_by_title(library, world):
    page = fetch_linked_papers(
        f"PMID:{world.paper('partial').pmid}", "references", 100, 0, library.web
    )
    assert page.papers[-1].paper.ids == Ids()
    assert page.papers[-1].paper.title


def test_withheld_is_not_empty(library, world):
    page = fetch_linked_papers(
        f"PMID:{world.paper(WITHHELD).pmid}", "references", 10, 0, library.web
    )
    assert page.papers == ()
    assert page.total > 0
    assert "publisher" in page.warnings[0]


def test_rows_of_nothing_are_counted(library, monkeypatch):
    rows = [{"citingPaper": None}, {"citingPaper": {"paperId": None}}, 7, {"citingPaper": WHOLE}]
    answering(monkeypatch, {"offset": 0, "data": rows})
    page = fetch_linked_papers("PMID:1", "citations", 10, 0, library.web)
    assert (len(page.papers), page.total) == (1, 4)
    assert "3 of these" in page.warnings[0]


def test_related_papers_in_the_form_of_europe_pmc(library, world):
    total, rows, url = fetch_linked(
        Ids(pmid=world.paper("pmc_cloud").pmid), "citations", 2, library.web
    )
    assert total > len(rows) == 2
    assert rows[0].pmid
    assert rows[0].title
    assert url.endswith("/citations")
    with pytest.raises(NotAvailable):
        fetch_linked(Ids(pmid="99999999"), "references", 2, library.web)


def test_many_papers_are_one_request(library, world):
    wanted = [Ids(s2=paper_id(record)) for record in world.papers]
    known = look_up_papers([*wanted, Ids(s2="0" * 40)], library.web)
    assert list(known) == wanted
    assert all(paper.ids.s2 == ids.s2 for ids, paper in known.items())
    assert look_up_papers(wanted, library.web) == known
    assert len(world.requests) == 1


def test_a_paper_is_downloaded_by_its_hash(library, world):
    record = world.paper("pmc_cloud")
    stored = library.download(paper_id(record)).stored
    assert (stored.source, stored.paper.ids.pmid) == ("PMC", record.pmid)
    # PubMed's record, with the names in full, under all the names there are.
    assert stored.paper.recorded_by == "pubmed"
    assert stored.paper.ids.s2 == paper_id(record)


def test_any_name_will_do_for_a_batch(library, world):
    record = world.paper("arxiv_published")
    wanted = [Ids(pmid=record.pmid), Ids(doi=record.doi), Ids(arxiv=record.arxiv)]
    known = fetch_papers(wanted, library.web)
    assert {found.paper.ids.s2 for found in known.values()} == {paper_id(record)}


def test_a_batch_is_kept_whole_so_that_whoever_died_after_it_asks_nothing_again(library, world):
    record = world.paper("arxiv_published")
    wanted = [Ids(pmid=record.pmid), Ids(pmid="49999999")]  # the second is unknown
    first = fetch_papers(wanted, library.web)
    assert fetch_papers(wanted, library.web) == first
    assert len([one for one in world.requests if one.path.endswith("/paper/batch")]) == 1


# --- manners -----------------------------------------------------------------


def with_key(settings, key=KEY):
    return Library(**{**settings, "semantic_scholar_api_key": key})


def test_one_request_a_second_over_all_endpoints(library, world):
    pmids = [record.pmid for record in world.papers if record.pmid][:2]
    for pmid in pmids:
        fetch_paper(f"PMID:{pmid}", library.web)
        fetch_linked_papers(f"PMID:{pmid}", "citations", 1, 0, library.web)
    fetch_papers([Ids(pmid=pmid) for pmid in ("41000003", "41000004")], library.web)
    search(Query("coral"), library.web)
    times = [request.at for request in world.requests]
    assert len(times) == 6
    assert times[-1] - times[0] > 5 - 0.5  # a request may arrive a little after it left


def test_a_key_travels_in_its_header_only(settings, world, caplog):
    library = with_key(settings)
    search(Query("coral"), library.web)
    fetch_papers([Ids(pmid="41000003")], library.web)
    for request in world.requests:
        assert request.headers["x-api-key"] == KEY
        assert KEY not in str(request.params)
        assert KEY not in request.path
    assert KEY not in caplog.text


def test_a_key_that_is_echoed_is_not_passed_on(settings, monkeypatch):
    library = with_key(settings)

    def get(self, url, params=None, *, check, **options):
        check(Answer(400, url, json.dumps({"error": f"Strange request by {KEY}"}).encode()))

    monkeypatch.setattr(type(library.web), "get", get)
    with pytest.raises(BadRequest, match="Strange request by") as caught:
        search(Query("coral"), library.web)
    assert KEY not in str(caught.value.envelope())


def test_a_bad_key_is_named_without_being_shown(settings, world):
    library = with_key(settings, "WRONG-KEY")
    with pytest.raises(NotConfigured) as caught:
        search(Query("coral"), library.web)
    assert "SEMANTIC_SCHOLAR_API_KEY" in caught.value.hint
    assert "WRONG-KEY" not in str(caught.value.envelope())
    assert len(world.requests) == 1


def test_the_crowded_pool_is_waited_for_and_then_named(library, world):
    world.mood("crowded", "semantic_scholar")
    with pytest.raises(Unreachable) as caught:
        search(Query("coral"), library.web)
    assert caught.value.code == "RATE_LIMIT"
    assert "SEMANTIC_SCHOLAR_API_KEY" in caught.value.hint
    times = [request.at for request in world.requests]
    pauses = [later - sooner for sooner, later in pairwise(times)]
    assert len(pauses) >= 3
    assert all(later > 1.2 * sooner for sooner, later in pairwise(pauses))


def test_the_next_question_stays_away_while_the_pool_is_crowded(library, world):
    world.mood("crowded", "semantic_scholar")
    for _ in range(3):
        with pytest.raises(Unreachable):
            count_hits(library.web)
    asked = len(world.requests)
    with pytest.raises(Unreachable) as caught:
        count_hits(library.web)
    assert len(world.requests) == asked
    assert "SEMANTIC_SCHOLAR_API_KEY" in caught.value.hint


def test_who_has_a_key_is_not_in_the_pool(settings, world):
    world.mood("crowded", "semantic_scholar")
    assert search(Query("coral"), with_key(settings).web).papers
