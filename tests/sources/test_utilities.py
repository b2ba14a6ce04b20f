"""The smaller E-utilities: their recorded answers, their errors, and answers of no form at all."""

import json
import time

import pytest

from tests.answering import HOSTILE, answering
from utils.errors import EntrezFailed, NotConfigured, PaperError, Unreachable
from utils.sources import Query
from utils.sources.europepmc import fetch_linked
from utils.sources.eutils import (
    build_public_url,
    call_utility,
    fetch_database,
    get_connection_state,
    is_sent_by_post,
)
from utils.sources.eutils_services import (
    fetch_citation_matches,
    fetch_paper_links,
    fetch_spelling,
    fetch_summaries,
    find_mesh_terms,
    run_esummary,
)
from utils.sources.pubmed import Hits, fetch_records, search_pmids

UTILITIES = {
    "ecitmatch": lambda web: fetch_citation_matches([{"journal": "Nature"}], web),
    "einfo": lambda web: fetch_database("pubmed", web),
    "elink": lambda web: fetch_paper_links("1", "pubmed_pubmed", web),
    "espell": lambda web: fetch_spelling("x", web),
    "esummary": lambda web: fetch_summaries(Hits(("1", "2"), 0, 2, "", ()), 2, web),
    "europepmc": lambda web: fetch_linked("1", "references", 5, web),
    "mesh": lambda web: find_mesh_terms("x", 5, web),
    "xml": lambda web: fetch_records(["1"], "xml", web),
    "medline": lambda web: fetch_records(["1"], "medline", web),
}
every = pytest.mark.parametrize("name", UTILITIES)


@every
def test_an_answer_of_any_form_is_read_or_refused(library, monkeypatch, name):
    for body in HOSTILE:
        answering(monkeypatch, body)
        try:
            UTILITIES[name](library.web)
        except PaperError as error:
            refused = str(error)
        else:
            refused = ""
        assert "\x1b" not in refused


def test_connections_that_ncbi_resets_by_chance_are_no_failures(library, world):
    world.mood("resets", "eutils")
    for _ in range(12):
        assert call_utility(library.web, "einfo", {"db": "pubmed", "retmode": "json"}).status == 200
    assert get_connection_state(library.web).failed == ""
    assert len(world.requests) == 15  # three were reset


@every
def test_a_key_never_stands_in_an_address(settings, world, name):
    from utils import Library

    library = Library(**{**settings, "ncbi_api_key": "SECRET123"})
    with pytest.raises(NotConfigured) as refused:
        UTILITIES[name if name != "europepmc" else "elink"](library.web)
    assert "SECRET123" not in str(refused.value.envelope())
    assert all(r.method == "POST" for r in world.requests if r.service == "eutils")


def test_addresses_are_shown_without_who_asks(settings):
    from utils import Library

    web = Library(**{**settings, "ncbi_api_key": "SECRET123"}).web
    url = build_public_url(web, "elink", {"id": ["1", "2"], "term": "", "email": "a@b.org"})
    assert url.endswith("/eutils/elink.fcgi?id=1&id=2")
    assert is_sent_by_post(web, {})
    assert build_public_url(web, "ecitmatch.cgi", {}).partition("?")[0].endswith("/ecitmatch.cgi")


def test_more_than_a_url_holds_goes_by_post(library):
    assert not is_sent_by_post(library.web, {"id": "1,2"})
    assert is_sent_by_post(library.web, {"id": ",".join(map(str, range(10_000_000, 10_000_200)))})
    assert is_sent_by_post(library.web, {"id": [str(n) for n in range(10_000_000, 10_000_200)]})


def test_the_last_contact_is_what_happened(library, world):
    assert get_connection_state(library.web).status == "unknown"
    search_pmids(Query("coral"), library.web)
    first = get_connection_state(library.web)
    assert (first.status, first.waiting, first.failed) == ("nominal", 0, "")
    assert first.answered
    world.mood("down", "eutils")
    with pytest.raises(Unreachable):
        search_pmids(Query("coral"), library.web)
    then = get_connection_state(library.web)
    assert then.status == "unreachable"
    assert then.failed
    assert then.answered == first.answered
    assert "503" in then.trouble
    world.calm()
    search_pmids(Query("coral"), library.web)
    assert get_connection_state(library.web).status == "nominal"


def test_a_question_that_ncbi_refuses_is_contact_all_the_same(library, world):
    with pytest.raises(EntrezFailed, match="fleegle"):
        call_utility(library.web, "epost", {"db": "fleegle", "id": "1"})
    assert len(world.requests) == 1
    assert get_connection_state(library.web).status == "nominal"


@pytest.mark.parametrize(
    ("mood", "seconds", "status"), [("storm", 30, "busy"), ("down", 0, "unreachable")]
)
def test_a_try_that_fails_is_known_while_the_next_one_is_waited_for(
    library, world, clock, monkeypatch, mood, seconds, status
):
    seen = []

    def sleep(nap):
        seen.append(get_connection_state(library.web).status)
        clock.sleep(nap)

    monkeypatch.setattr(time, "sleep", sleep)
    world.mood(mood, "eutils", times=1, seconds=seconds)
    call_utility(library.web, "einfo", {"db": "pubmed", "retmode": "json"})
    assert status in seen
    assert get_connection_state(library.web).status == "nominal"


def test_who_waits_is_counted(library, world, monkeypatch):
    seen = []
    get = library.web.get
    monkeypatch.setattr(
        library.web,
        "get",
        lambda *a, **o: seen.append(get_connection_state(library.web).waiting) or get(*a, **o),
    )
    call_utility(library.web, "einfo", {"db": "pubmed", "retmode": "json"})
    assert seen == [1]
    assert get_connection_state(library.web).waiting == 0


# --- ELink -----------------------------------------------------------------


def test_similar_papers_come_with_scores_and_without_the_paper(library, world):
    pmid = world.paper("pmc_cloud").pmid
    found, url = fetch_paper_links(pmid, "pubmed_pubmed", library.web)
    assert found
    assert pmid not in [link.pmid for link in found]
    scores = [link.score for link in found]
    assert scores == sorted(scores, reverse=True)
    assert "linkname" not in url  # neighbor_score takes none
    assert (
        "linkname=pubmed_pubmed_refs"
        in fetch_paper_links(pmid, "pubmed_pubmed_refs", library.web)[1]
    )


def test_links_of_other_names_are_left_alone(library, monkeypatch):
    sets = [
        {"linkname": "pubmed_pubmed_citedin", "links": ["5"]},
        {"linkname": "pubmed_pubmed", "links": [{"id": "7", "score": 9}, {"id": 7, "score": "9"}]},
    ]
    answering(monkeypatch, {"linksets": [{"linksetdbs": sets}]})
    [found], _ = fetch_paper_links("1", "pubmed_pubmed", library.web)
    assert (found.pmid, found.score) == ("7", 9)


def test_a_backend_failure_in_a_200_is_no_empty_list(library, monkeypatch):
    answering(monkeypatch, {"ERROR": "Couldn't resolve #exLinkSrv2"})
    with pytest.raises(Unreachable, match="exLinkSrv2"):
        fetch_paper_links("1", "pubmed_pubmed", library.web)


@pytest.mark.shared
def test_recorded_links_are_read(library, monkeypatch, shared):
    folder = shared / "eutils" / "elink"
    answering(monkeypatch, (folder / "illumination_related_32887691_0d35.json").read_bytes())
    found, _ = fetch_paper_links("32887691", "pubmed_pubmed", library.web)
    assert found[0].pmid == "32732190"
    assert len(found) > 50
    answering(monkeypatch, (folder / "illumination_citations_26846451_bfc9.json").read_bytes())
    found, _ = fetch_paper_links("26846451", "pubmed_pubmed_citedin", library.web)
    assert {link.score for link in found} == {None}


# --- ESummary --------------------------------------------------------------


def test_summaries_are_read_from_the_history_server(library, world):
    hits = search_pmids(Query("cells", max_results=8), library.web, kept=True)
    known, url = fetch_summaries(hits, 3, library.web)
    assert list(known) == list(hits.pmids[:3])
    asked = world.requests[-1].params
    assert asked["WebEnv"] == hits.web_env
    assert "id" not in asked
    assert "WebEnv" in url
    assert all(one.title and one.authors and one.published for one in known.values())


def test_a_forgotten_search_is_summed_up_by_its_identifiers(library, world):
    hits = search_pmids(Query("cells"), library.web, kept=True)
    world.reset()
    known, url = fetch_summaries(hits, 3, library.web)
    assert list(known) == list(hits.pmids[:3])
    assert "WebEnv" not in url


def test_an_unknown_pmid_is_left_out(library, world):
    pmid = world.paper("pmc_cloud").pmid
    params = {"db": "pubmed", "retmode": "json", "id": f"{pmid},999"}
    rows = run_esummary(params, library.web).records
    assert list(rows) == [pmid]


def test_titles_lose_their_escapes_and_markup_and_keep_their_signs(library, monkeypatch):
    row = {"title": "Of &lt;i&gt;ATM&lt;/i&gt; &amp; P &lt; 0.05 \u202e.", "pubdate": "2026 Feb 3"}
    answering(monkeypatch, {"result": {"uids": ["1"], "1": row}})
    one = fetch_summaries(Hits(("1",), 0, 1, "", ()), 1, library.web)[0]["1"]
    assert one.title == "Of ATM & P < 0.05 ."
    assert one.published == "2026-02-03"


def test_too_many_summaries_is_an_error_with_its_words(library, monkeypatch):
    told = "Too many UIDs in request. Maximum number of UIDs is 500 for JSON format output."
    answering(monkeypatch, {"header": {}, "error": told})
    with pytest.raises(Unreachable, match="500"):
        run_esummary({}, library.web)


# --- EInfo, ESpell, ECitMatch, MeSH ----------------------------------------


def test_a_database_is_described_and_asked_for_once(library, world):
    told, url = fetch_database("pubmed", library.web)
    assert int(told["count"]) > 20
    assert {field["name"] for field in told["fieldlist"]} >= {"ALL", "MESH"}
    assert fetch_database("pubmed", library.web) == (told, url)
    assert len(world.requests) == 1


def test_a_database_that_is_none_is_an_error(library, world):
    with pytest.raises(PaperError):
        fetch_database("fleegle", library.web)


@pytest.mark.shared
def test_a_recorded_description_is_read(library, monkeypatch, shared):
    body = (shared / "eutils" / "einfo" / "illumination_structure_info.json").read_bytes()
    answering(monkeypatch, body)
    told, _ = fetch_database("structure", library.web)
    assert (told["count"], told["fieldlist"][0]["fullname"]) == ("237765", "All Fields")


def test_spelling_and_the_words_put_in(library, world):
    assert fetch_spelling("corall AND reef", library.web) == ("coral AND reef", ("coral",))
    assert fetch_spelling("coral", library.web) == ("", ())


@pytest.mark.shared
def test_a_recorded_spelling_is_read(library, monkeypatch, shared):
    answering(monkeypatch, (shared / "eutils" / "espell" / "biopython_espell.xml").read_bytes())
    assert fetch_spelling("biopythooon", library.web) == ("biopython", ("biopython",))


@pytest.mark.shared
def test_recorded_matches_are_read(library, monkeypatch, shared):
    body = (shared / "eutils" / "ecitmatch" / "illumination_citmatch_found.txt").read_text(
        encoding="utf-8"
    )
    # Our keys are the places in the list.
    answering(monkeypatch, body.replace("Art1", "0").replace("Art2", "1"))
    assert fetch_citation_matches([{"journal": "a"}, {"journal": "b"}], library.web) == {
        0: "2014248",
        1: "3026048",
    }


def test_a_field_cannot_break_out_of_its_line(library, monkeypatch):
    asked = answering(monkeypatch, "x|0|1")
    fetch_citation_matches([{"journal": "A|B\rC", "author": "D\nE"}], library.web)
    assert asked[0]["bdata"] == "A B C||||D E|0|"


def test_a_place_that_was_not_asked_for_is_nobodys(library, monkeypatch):
    answering(monkeypatch, "a|7|123\na|0|NOT_FOUND")
    assert fetch_citation_matches([{"journal": "a"}], library.web) == {0: "NOT_FOUND"}


def test_mesh_records_have_names_and_a_place_in_the_tree(library, world):
    total, terms = find_mesh_terms("breast cancer", 5, library.web)
    assert total == len(terms) == 1
    assert (terms[0].ui, terms[0].heading) == ("D001943", "Breast Neoplasms")
    assert "Breast Cancer" in terms[0].entry_terms
    assert terms[0].tree_numbers == ("C04.588.180", "C17.800.090.500")
    [concept] = find_mesh_terms("SLC7A2 protein", 5, library.web)[1]
    assert concept.tree_numbers == ()


def test_mesh_records_are_remembered_for_a_while(library, world):
    find_mesh_terms("neoplasms", 5, library.web)
    find_mesh_terms("neoplasms", 5, library.web)
    assert [r.path for r in world.requests].count("/esummary.fcgi") == 1


# --- Europe PMC ------------------------------------------------------------


def test_references_may_be_in_no_database(library, world):
    total, rows, url = fetch_linked(world.paper("pmc_cloud").pmid, "references", 50, library.web)
    assert total == len(rows)
    assert any(row.pmid for row in rows)
    assert any(row.doi and not row.pmid for row in rows)
    assert "email" not in url


def test_an_error_with_status_200_is_an_error(library, world):
    with pytest.raises(Unreachable, match="Invalid page size"):
        fetch_linked("1", "references", 5000, library.web)


def test_only_pubmeds_own_numbers_are_pmids(library, monkeypatch):
    row = {"id": "PPR123", "source": "PPR", "title": "A <i>b</i>", "pubYear": 2026}
    answering(monkeypatch, json.dumps({"hitCount": 1, "citationList": {"citation": [row]}}))
    _, [found], _ = fetch_linked("1", "citations", 5, library.web)
    assert (found.pmid, found.title, found.year) == ("", "A b", "2026")
