"""The shelf asked about again, in a stand-in world that has moved on since."""

from dataclasses import replace
from pathlib import Path

import pytest

from utils import Library
from utils.curation.recheck import recheck_papers
from utils.errors import NotConfigured
from utils.model.identifiers import Ids
from utils.model.paper import Paper


@pytest.fixture
def happens(world, monkeypatch):
    """Have something happen to a paper of the world, until the test ends."""

    def happen(record, **changes):
        changed = replace(record, **changes)
        monkeypatch.setitem(world.corpus.by_pmid, record.pmid, changed)
        if record.doi:
            monkeypatch.setitem(world.corpus.by_doi, record.doi.lower(), changed)
        return changed

    return happen


def rechecked(library, **options):
    found = {}
    for change in recheck_papers(library.shelf, library.web, **options):
        found.setdefault(str(change.ids), []).append(change)
    return found


def news(library, **options):
    """The names of what is new, for papers of which something is."""
    outcomes = {
        name: [change.outcome for change in changes]
        for name, changes in rechecked(library, **options).items()
    }
    return {name: kinds for name, kinds in outcomes.items() if kinds != ["unchanged"]}


def ncbi(world):
    return [request for request in world.requests if request.service == "eutils"]


def test_nothing_new_is_said_of_papers_to_which_nothing_happened(library, world):
    for branch in ("retracted", "concern", "publisher_html", "paywall"):
        library.download(world.paper(branch).pmid)
    first_lines = [Path(s.path).read_text(encoding="utf-8") for s in library.list_papers()[1]]
    asked = len(ncbi(world))
    assert news(library) == {}
    assert len(ncbi(world)) - asked == 1
    assert [
        Path(s.path).read_text(encoding="utf-8") for s in library.list_papers()[1]
    ] == first_lines


@pytest.mark.parametrize(
    ("kind", "types", "outcome"),
    [
        ("RetractionIn", ("Retracted Publication",), "retracted"),
        ("ExpressionOfConcernIn", (), "concern"),
        ("ErratumIn", (), "corrected"),
    ],
)
def test_a_notice_published_since_is_told_once_and_kept(
    library, world, happens, kind, types, outcome
):
    record = world.paper("pmc_cloud")
    stored = library.download(record.pmid).stored
    notice = (kind, "J Tests. 2026 Jan;1(1):2", "41999999")
    happens(record, notices=(notice,), types=(*record.types, *types))

    [change] = rechecked(library)[f"doi:{record.doi.lower()}"]

    assert change.outcome == outcome
    assert "J Tests" in change.detail
    assert "PMID 41999999" in change.detail
    assert change.row()["pmid"] == record.pmid
    again = library.find(record.pmid)
    assert again.paper.notices[-1].pmid == "41999999"
    assert again.paper.retracted == (outcome == "retracted")
    assert Path(stored.path).read_text(encoding="utf-8").startswith("RETRACTED:") == (
        outcome == "retracted"
    )
    assert news(library) == {}


def test_two_news_of_one_paper_are_both_told(library, world, happens):
    record = world.paper("pmc_cloud")
    library.download(record.pmid)
    notices = (("RetractionIn", "J. 2", "41999999"), ("ErratumIn", "J. 1", "41999998"))
    happens(record, notices=notices, types=("Retracted Publication",))
    [kinds] = news(library).values()
    assert sorted(kinds) == ["corrected", "retracted"]


def test_a_copy_that_came_to_pmc_is_named_until_it_is_fetched(library, world, happens):
    record = world.paper("paywall")
    library.download(record.pmid)
    happens(record, pmcid="PMC9199999")
    for _ in range(2):
        [change] = [
            c for c in recheck_papers(library.shelf, library.web) if c.outcome != "unchanged"
        ]
        assert (change.outcome, change.ids.pmcid) == ("new_copy", "PMC9199999")
    assert library.find("PMC9199999").kind == "abstract"


def test_the_end_of_an_embargo_is_a_new_copy_and_its_middle_is_not(library, world, happens):
    record = world.paper("embargoed")
    library.download(record.pmid)
    assert news(library) == {}
    happens(record, released="2026-01-01")
    assert list(news(library).values()) == [["new_copy"]]


def test_a_full_text_needs_no_copy(library, world, happens):
    record = world.paper("publisher_html")
    library.download(record.pmid)
    happens(record, pmcid="PMC9199999")
    assert news(library) == {}
    assert library.find("PMC9199999").kind == "full_text"  # but the name is learnt


def held(library, *pmids):
    for pmid in pmids:
        library.shelf.save_abstract(Paper(Ids(pmid=pmid), title=f"Paper {pmid}"), ())


def test_whom_pubmed_no_longer_has_is_gone_and_stays_on_the_shelf(library, world):
    held(library, "39000001")
    library.download(world.paper("paywall").pmid)
    assert news(library) == {"PMID 39000001": ["gone"]}
    assert library.find("39000001")
    assert len(ncbi(world)) <= 6


def test_one_who_is_only_missing_from_an_answer_is_not_called_gone(library, world, monkeypatch):
    """Records lost on the way are there at the second look, beside one that is known."""
    from utils.sources import pubmed

    for branch in ("paywall", "login"):
        library.download(world.paper(branch).pmid)
    lost = [world.paper("login").pmid]
    fetch = pubmed._fetch_batch

    def lossy(which, web):
        papers = [p for p in fetch(which, web) if p.ids.pmid not in lost]
        lost.clear()
        return papers

    monkeypatch.setattr(pubmed, "_fetch_batch", lossy)
    assert news(library) == {}


def test_an_answer_with_nobody_in_it_is_no_proof_of_anything(library, world):
    held(library, "39000001", "39000002")
    assert {k for kinds in news(library).values() for k in kinds} == {"could_not_tell"}


def test_a_batch_without_an_answer_is_never_called_unchanged(library, world):
    library.download(world.paper("paywall").pmid)
    world.mood("down", "eutils")
    [kinds] = news(library).values()
    assert kinds == ["could_not_tell"]


def test_who_does_not_answer_is_not_asked_five_hundred_times(library, world, monkeypatch):
    from utils.curation import recheck as module

    monkeypatch.setattr(module, "MAX_IDS_PER_REQUEST", 2)
    held(library, *(str(39000000 + n) for n in range(20)))
    world.mood("down", "eutils")
    found = news(library)
    assert len(found) == 20
    assert {k for kinds in found.values() for k in kinds} == {"could_not_tell"}
    assert len(ncbi(world)) <= 3 * 5


def test_two_hundred_papers_cost_one_request(library, world):
    record = world.paper("paywall")
    library.download(record.pmid)
    held(library, *(str(39000000 + n) for n in range(220)))
    before = len(ncbi(world))
    assert len(rechecked(library)) == 221
    assert len(ncbi(world)) - before == 4  # two batches, and a second look at 220


def test_another_doi_than_before_is_not_believed_but_a_retraction_is(library, world, happens):
    record = world.paper("pmc_cloud")
    library.download(record.pmid)
    notice = ("RetractionIn", "J. 2", "41999999")
    happens(record, doi="10.9999/other", notices=(notice,), types=("Retracted Publication",))
    assert [k for kinds in news(library).values() for k in kinds] == ["retracted"]
    again = library.find(record.pmid).paper
    assert again.retracted
    assert again.ids.doi == record.doi.lower()


def test_crossref_is_asked_about_papers_pubmed_does_not_have(library, world, happens):
    record = world.paper("doi_only")
    stored = library.download(record.doi).stored
    assert news(library) == {}
    notice = ("RetractionIn", "10.9999/notice", "")
    happens(record, notices=(notice,))
    assert list(news(library, crossref=False).values()) == [["not_asked"]]
    assert list(news(library).values()) == [["retracted"]]
    assert Path(stored.path).read_text(encoding="utf-8").startswith("RETRACTED:")
    assert library.find(record.doi).paper.title == stored.paper.title


def test_what_nobody_can_be_asked_about_is_said_to_be_unasked(library, world):
    library.download(world.paper("arxiv").arxiv)
    assert list(news(library).values()) == [["not_asked"]]


def test_without_an_address_nobody_is_asked(settings, world):
    library = Library(**{**settings, "pubmed_email": ""})
    with pytest.raises(NotConfigured):
        list(recheck_papers(library.shelf, library.web))
    assert world.requests == []


def test_an_empty_shelf_is_nothing_to_ask_about(library, world):
    assert rechecked(library) == {}
    assert world.requests == []
