"""Every record of a search, a history or a list, on its way into a dataset."""

import json

import pytest
from lxml import etree

from tests.answering import answering
from tests.world import World
from utils import Library
from utils.entrez.datasets.trees import FORMS
from utils.errors import BadRequest, EntrezFailed, NotFound, Unreachable


def uids_of(pages):
    """The identifiers of summaries."""
    return [uid for page in pages for uid in json.loads(page.body)["result"]["uids"]]


def asked(world, path):
    return [request for request in world.requests if request.path == path]


def test_every_record_of_a_search_comes_once_in_few_requests(entrez, world):
    told = []
    pages = entrez.pages("snp", query="all[filter]", progress=lambda *done: told.append(done))
    assert (pages.total, pages.wanted, pages.form) == (1200, 1200, "docsum_json")
    assert pages.made_by == "all[filter]"
    assert uids_of(pages) == [str(268 + n) for n in range(1200)]
    assert told == [(500, 1200), (1000, 1200), (1200, 1200)]
    assert not pages.not_found
    assert not pages.warnings
    assert sum(request.status == 200 for request in world.requests) == 4


def test_a_list_goes_by_post_and_the_unknown_are_named(entrez, world):
    pages = entrez.pages("snp", [*range(268, 900), 5, 7])
    assert len(uids_of(pages)) == 634  # also the two that have an error there
    assert [one.id for one in pages.not_found] == ["5", "7"]
    assert all(one.reason for one in pages.not_found)
    methods = [r.method for r in asked(world, "/esummary.fcgi") if r.status == 200]
    assert sorted(methods) == ["GET", "POST"]


def test_a_history_is_staged_from(entrez):
    kept = entrez.post("taxonomy", range(9606, 9620))
    pages = entrez.pages("taxonomy", history=kept.id)
    [page] = pages
    assert (page.database, page.form) == ("taxonomy", "xml")
    assert len(etree.fromstring(page.body)) == 14


@pytest.mark.parametrize(
    ("database", "options", "form"),
    [
        ("gene", {}, "docsum_json"), ("gene", {"rettype": "docsum"}, "docsum_json"),
        ("gene", {"retmode": "xml"}, "xml"), ("protein", {"rettype": "gp"}, "xml"),
        ("nuccore", {"rettype": "fasta", "retmode": "xml"}, "xml"), ("taxonomy", {}, "xml"),
        ("clinvar", {"rettype": "vcv"}, "xml"), ("biosample", {}, "xml"), ("sra", {}, "xml"),
        ("assembly", {}, "docsum_json"), ("medgen", {}, "docsum_json"), ("gds", {}, "docsum_json"),
    ],
)  # fmt: skip
def test_each_database_has_its_form(entrez, database, options, form):
    pages = entrez.pages(database, query="all[filter]", **options)
    got = list(pages)
    assert {page.form for page in got} == {pages.form} == {form} <= set(FORMS)
    assert not pages.not_found
    assert not pages.warnings
    if form == "xml":
        assert sum(len(etree.fromstring(page.body)) for page in got) == pages.total
    else:
        assert len(uids_of(got)) == pages.total


def test_papers_come_as_pubmeds_own_xml(entrez, world):
    pmids = [record.pmid for record in world.papers if record.pmid]
    pages = entrez.pages("pubmed", [*pmids, "999999999"])
    [page] = pages
    assert page.form == "pubmed_xml"
    assert len(etree.fromstring(page.body)) == len(set(pmids))
    assert [one.id for one in pages.not_found] == ["999999999"]


def test_articles_of_pmc_that_are_not_to_be_had_are_named(entrez, world):
    held = [record.pmcid for record in world.papers if record.pmcid]
    pages = entrez.pages("pmc", held)
    got = list(pages)
    assert {page.form for page in got} == {"pmc_xml"}
    articles = sum(len(etree.fromstring(page.body).findall("article")) for page in got)
    assert articles + len(pages.not_found) == len(held)
    assert all("not available" in one.reason for one in pages.not_found)


def test_more_records_than_wanted_are_told_and_left(entrez, world):
    pages = entrez.pages("snp", query="all[filter]", max_results=600)
    assert (pages.total, pages.wanted) == (1200, 600)
    assert "1,200 records; the first 600" in pages.warnings[0]
    assert len(uids_of(pages)) == 600
    pages = entrez.pages("gene", range(672, 690), max_results=5)
    assert uids_of(pages) == ["672", "673", "674", "675", "676"]


def test_words_that_were_not_found_are_passed_on(entrez, monkeypatch, world):
    pages = entrez.pages("gene", query="human[sonnet]")
    assert any("sonnet" in warning for warning in pages.warnings)


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({}, "No identifiers"), ({"ids": "BRCA1"}, "Search"),
        ({"query": "a", "ids": "1"}, "one of them"),
        ({"query": "a", "max_results": 0}, "max_results"),
        ({"ids": "1", "rettype": "gene_table"}, "plain text"),
        ({"ids": "1", "history": "h_0000000000000000"}, "one of them"),
        ({"ids": "1", "max_results": 100_001}, "100,000"),
    ],
)  # fmt: skip
def test_what_cannot_be_staged_is_refused_at_once(entrez, options, word):
    with pytest.raises(BadRequest) as refused:
        entrez.pages("gene", **options)
    assert word in str(refused.value)
    assert refused.value.hints


def test_a_term_without_a_hit_is_no_mistake_of_the_caller(entrez):
    with pytest.raises(NotFound, match="finds nothing") as missed:
        entrez.pages("gene", query="zzqqx")
    assert missed.value.hints


def test_an_answer_that_is_missing_is_raised_not_skipped(entrez, world):
    pages = entrez.pages("snp", query="all[filter]")
    world.mood("down", "eutils", path="retstart=1000")
    seen = []
    with pytest.raises(Unreachable):
        seen.extend(pages)
    assert len(seen) == 2


def test_a_history_forgotten_on_the_way_is_told(entrez, world):
    pages = entrez.pages("snp", query="all[filter]")
    world.reset()
    with pytest.raises(NotFound, match="forgotten"):
        list(pages)


def test_pages_that_nobody_wants_any_more_are_not_asked_for(entrez, world):
    pages = iter(entrez.pages("snp", range(268, 10_268)))
    next(pages)
    pages.close()
    asked_for = [r for r in asked(world, "/esummary.fcgi") if r.status == 200]
    assert len(asked_for) < 6  # of twenty


def test_pages_come_in_order_whichever_is_first_to_come(entrez, world):
    world.mood("storm", "eutils", times=1, path="esummary")
    assert uids_of(entrez.pages("snp", range(268, 1468))) == [str(n) for n in range(268, 1468)]


def test_summaries_that_do_not_come_are_told(entrez, monkeypatch):
    kept = entrez.post("gene", "672 673 674")
    answering(monkeypatch, {"result": {"uids": ["672"], "672": {"uid": "672"}}})
    pages = entrez.pages("gene", history=kept.id)
    assert len(list(pages)) == 1
    assert "2 summaries did not come" in pages.warnings[0]


def test_summaries_too_large_are_asked_for_in_halves(entrez, monkeypatch):
    from utils.errors import BadContent
    from utils.http import Web

    send = Web.post

    def limited(self, url, form=None, **options):
        if form["id"].count(",") >= 150:
            raise BadContent("eutils sent more than 64 MB.", verdict="not_a_paper")
        return send(self, url, form, **options)

    monkeypatch.setattr(Web, "post", limited)
    pages = list(entrez.pages("snp", range(268, 768)))
    assert len(pages) == 4
    assert uids_of(pages) == [str(n) for n in range(268, 768)]
    monkeypatch.setattr(Web, "get", lambda *_, **__: limited(None, "", {"id": "," * 150}))
    with pytest.raises(EntrezFailed, match="too large"):
        list(entrez.pages("gene", "672"))


def test_more_papers_than_pubmed_hands_out_come_slice_by_slice(settings):
    with World(crowd=10_400) as world:
        addresses = {name.lower(): value for name, value in world.environment().items()}
        entrez = Library(**{**settings, **addresses}).entrez
        pages = entrez.pages("pubmed", query="crowd[ti]", rettype="docsum", max_results=10_200)
        found = uids_of(pages)
    assert pages.total == 10_400
    assert len(set(found)) == len(found) == pages.wanted == 10_200
    assert pages.warnings == ["There are 10,400 records; the first 10,200 are taken."]
