"""Searching PubMed, in the stand-in's good and bad moods."""

import pytest

from tests.answering import answering
from tests.world import World
from utils import Library
from utils.errors import BadRequest, NotConfigured, Unreachable
from utils.model.identifiers import Ids
from utils.sources import Query
from utils.sources.pubmed import build_term, fetch_papers, look_up_papers, search, search_pmids


def test_results_come_in_the_order_asked_for(library, world):
    found = library.search("cells OR tissue OR mice", max_results=30)
    ids = search_pmids(Query("cells OR tissue OR mice", max_results=30), library.web).pmids
    assert [paper.ids.pmid for paper in found.papers] == list(ids)
    assert len(found.papers) > 5


def test_pages_join_without_gap_or_overlap(library, world):
    whole = library.search("2025[dp]", max_results=20)
    pages, start = [], 0
    while start is not None and len(pages) < 20:
        page = library.search("2025[dp]", max_results=7, start=start)
        pages += page.papers
        start = page.next_start
    assert [p.ids.pmid for p in pages][:20] == [p.ids.pmid for p in whole.papers]
    assert whole.total == page.total


def test_what_pubmed_understood_and_could_not_find_is_passed_on(library, world):
    found = library.search("coral AND zzqqx")
    assert found.effective_query
    assert any("zzqqx" in warning for warning in found.warnings)


def test_the_tag_that_pubmed_ignores_in_every_pair_search_is_no_warning(library, world):
    found = library.pubmed.search_ligand_receptor("CXCL12", "CXCR4")
    assert found.papers
    assert "[all fields]" in found.effective_query.lower()
    assert not any("Gene Symbol" in warning for warning in found.warnings)
    own = library.search("CXCL12[Gene Symbol]")
    assert any("Gene Symbol" in warning for warning in own.warnings)


def test_zero_hits_are_an_answer(library, world):
    assert library.search("zzqqx").total == 0


def test_a_backend_error_inside_a_200_is_an_error(library, world):
    with pytest.raises(Unreachable, match="could not run the search"):
        search_pmids(Query("(("), library.web)


def test_a_passing_storm_is_waited_out_and_nobody_notices(library, world, clock):
    world.mood("storm", "eutils", times=2, seconds=7)
    assert library.search("coral").papers
    assert max(clock.naps) >= 7


def test_more_than_a_batch_stays_on_the_history_server_and_comes_in_order(settings):
    with World(crowd=900) as world:
        addresses = {name.lower(): value for name, value in world.environment().items()}
        library = Library(**{**settings, **addresses})
        found = library.search("crowd OR cells", max_results=450, start=300)
        fetches = [r for r in world.requests if r.path.endswith("efetch.fcgi")]
        order = search_pmids(Query("crowd OR cells", max_results=450, start=300), library.web).pmids
    assert [paper.ids.pmid for paper in found.papers] == list(order)
    assert len(order) == 450
    assert len(fetches) == 3
    assert all("WebEnv" in fetch.params and "id" not in fetch.params for fetch in fetches)
    assert not found.warnings


def test_many_identifiers_are_posted(library, world):
    fetch_papers([str(number) for number in range(30_000_000, 30_000_250)], library.web)
    assert [request.method for request in world.requests] == ["POST", "GET"]


def test_beyond_the_wall_is_refused_without_a_request(library, world):
    with pytest.raises(BadRequest, match="9,999"):
        library.search("coral", start=9_999)
    assert not world.requests


def test_a_refused_key_is_named_but_never_shown(settings, world):
    library = Library(**{**settings, "ncbi_api_key": "SECRET123"})
    with pytest.raises(NotConfigured) as refused:
        library.search("coral")
    assert "NCBI_API_KEY" in refused.value.hint
    assert "SECRET123" not in str(refused.value.envelope())


def test_a_key_never_travels_in_a_url(settings, world):
    library = Library(**{**settings, "ncbi_api_key": "SECRET123"})
    with pytest.raises(NotConfigured):
        library.search("coral")
    assert {r.method for r in world.requests if r.service == "eutils"} == {"POST"}


def test_every_request_says_who_we_are(library, world):
    library.search("coral")
    for request in world.requests:
        assert request.params["tool"] == "papershelf"
        assert request.params["email"] == "tester@lab.edu"
        assert "mailto:tester@lab.edu" in request.headers["user-agent"]


def test_records_are_not_asked_for_twice_in_a_day(library, world):
    library.search("coral")
    before = len([r for r in world.requests if "efetch" in r.path])
    library.search("coral")
    assert len([r for r in world.requests if "efetch" in r.path]) == before


def test_looking_up_dois_never_returns_another_paper(library, world):
    known, unknown = world.paper("pmc_cloud").doi, "10.9103/signals.2025.9999"
    outcomes = look_up_papers([Ids(doi=known), Ids(doi=unknown)], library.web)
    assert outcomes[Ids(doi=known)].ids.doi == known
    assert Ids(doi=unknown) not in outcomes


def test_dates_kinds_and_sorts_are_sent_as_pubmed_spells_them(library, world):
    library.search(
        "coral", min_date="2020", max_date="2026/05", date_type="edat", sort_by="journal",
        publication_types=("Review",),
    )  # fmt: skip
    sent = world.requests[0].params
    assert sent["term"] == '(coral) AND ("Review"[pt])'
    assert (sent["mindate"], sent["maxdate"], sent["datetype"]) == ("2020", "2026/05", "edat")
    assert sent["sort"] == "JournalName"


def test_keyless_pace_stays_below_three_a_second(library, world):
    for number in range(8):
        library.search(f"coral AND word{number}")
    times = sorted(r.at for r in world.requests if r.service == "eutils")
    assert all(later - sooner > 1.0 for sooner, later in zip(times, times[3:], strict=False))
    assert not [r for r in world.requests if r.status == 429]


def test_a_forgotten_search_is_fetched_by_its_identifiers(settings):
    with World(crowd=300) as world:
        addresses = {name.lower(): value for name, value in world.environment().items()}
        library = Library(**{**settings, **addresses})
        hits = search_pmids(Query("crowd", max_results=250), library.web)
        world.reset()
        records = fetch_papers(hits.pmids, library.web, hits)
    assert len(records) == 250


def test_damage_on_the_way_is_asked_for_again(library, world):
    pmid = world.paper("pmc_cloud").pmid
    world.mood("truncate", "eutils", times=1)
    assert list(fetch_papers([pmid], library.web)) == [pmid]


def test_an_author_and_types_narrow_the_words_and_categories_are_refused():
    wish = Query("moss OR coral", author='Varga "I"[ti]', publication_types=("Review",))
    assert build_term(wish) == '(moss OR coral) AND Varga I ti[au] AND ("Review"[pt])'
    assert build_term(Query("", author="Varga I")) == "Varga I[au]"
    assert build_term(Query("moss")) == "moss"
    with pytest.raises(BadRequest, match="categories"):
        build_term(Query("moss", categories=("q-bio.QM",)))


def test_an_authors_papers_are_found(library):
    found = search(Query("dream*", author="Varga I"), library.web)
    assert found.papers
    assert all("Varga" in paper.author_names for paper in found.papers)


def test_a_record_of_today_is_known_while_pubmed_is_down(library, world):
    known, unknown = world.paper("pmc_cloud").pmid, "39999999"
    fetch_papers([known], library.web)
    world.mood("down", "eutils")
    world.mood("down", "europepmc")
    found = library.pubmed.convert_ids([known, unknown])
    assert [one.status for one in found] == ["found", "failed"]
    assert found[0].ids.doi


@pytest.mark.parametrize("count", ["", None, "many", "-1", "9" * 5000, "\u0663"])
def test_without_a_number_of_hits_it_is_no_answer(library, monkeypatch, count):
    answering(monkeypatch, {"esearchresult": {"idlist": ["1"], "count": count}})
    with pytest.raises(Unreachable, match="no number of hits"):
        search(Query("moss"), library.web)
