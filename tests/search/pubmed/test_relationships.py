"""Papers around a paper, and who says so."""

import pytest

from tests.world import kinship, openalex, semantic_scholar
from utils import Library
from utils.errors import BadRequest, NotFound, Unreachable
from utils.search.pubmed import relationships
from utils.search.pubmed.relationships import RelatedPaper, RelatedPapers


@pytest.fixture
def pmid(world):
    return world.paper("pmc_cloud").pmid


def test_similar_papers_have_scores_and_titles_in_two_requests(library, world, pmid):
    found = library.pubmed.related(pmid, "pubmed_similar_articles", 3)
    assert found.source == "NCBI ELink"
    assert len(found.articles) == 3 <= found.total
    assert all(one.score and one.title and one.authors and one.year for one in found.articles)
    assert [r.path for r in world.requests] == ["/elink.fcgi", "/efetch.fcgi"]


def test_a_list_ncbi_has_is_ncbis(library, world):
    record = next(r for r in world.papers if r.pmcid and len(kinship.cited(r, world)) >= 2)
    found = library.pubmed.related(record.pmid, "pubmed_references", 2)
    assert found.source == "NCBI ELink"
    assert {one.pmid for one in found.articles} <= {r.pmid for r in kinship.cited(record, world)}
    assert not [r for r in world.requests if r.service == "europepmc"]


def test_where_ncbi_knows_little_europe_pmc_is_named(library, world, pmid):
    found = library.pubmed.related(pmid, "pubmed_references", 20)
    assert found.source == "Europe PMC"
    assert "europepmc" in found.url
    elsewhere = [one for one in found.articles if not one.pmid]
    assert elsewhere
    assert all(one.title and one.doi for one in elsewhere)
    assert all(one.journal for one in found.articles)


def test_the_longer_list_wins_and_lists_are_never_mixed(library, world):
    for record in [r for r in world.papers if r.pmid and r.kind == "article"][:12]:
        found = library.pubmed.related(record.pmid, "pubmed_citedin", 50)
        everybody = kinship.citing(record, world)
        in_pmc = [other for other in everybody if other.pmcid]
        assert found.total == len(everybody)
        assert found.source == ("NCBI ELink" if in_pmc == everybody else "Europe PMC")


@pytest.mark.parametrize("kind", ["pubmed_similar_articles", "pubmed_citedin", "pubmed_references"])
def test_a_list_is_paged_to_its_end_and_every_page_is_of_the_same_one(library, pmid, kind):
    first = library.pubmed.related(pmid, kind, 2)
    seen, page = list(first.articles), first
    while page.next_start is not None:
        assert page.next_start == len(seen)
        page = library.pubmed.related(pmid, kind, 2, start=page.next_start)
        assert page.source == first.source
        seen += page.articles
    assert len(seen) == len(set(seen)) == first.total
    beyond = library.pubmed.related(pmid, kind, 2, start=first.total + 5)
    assert (beyond.articles, beyond.next_start) == ((), None)


def test_where_a_site_shows_no_more_it_is_said():
    rows = tuple(RelatedPaper(str(number)) for number in range(200))
    page = relationships._cut_related_page(RelatedPapers(rows, 5_000, "", "OpenAlex"), 190, 20)
    assert (len(page.articles), page.next_start) == (10, None)
    assert page.warnings == ("OpenAlex shows the first 200 of 5,000; e_link_url leads there.",)


def test_when_ncbis_links_are_down_europe_pmc_answers_and_it_is_said(library, world, pmid):
    world.mood("down", "eutils", path="elink")
    found = library.pubmed.related(pmid, "pubmed_citedin", 3)
    assert found.source == "Europe PMC"
    assert any("NCBI ELink could not be asked" in warning for warning in found.warnings)
    with pytest.raises(Unreachable):
        library.pubmed.related(pmid, "pubmed_similar_articles", 3)


def test_when_europe_pmc_is_down_ncbis_list_stands_and_it_is_said(library, world, pmid):
    world.mood("down", "europepmc")
    found = library.pubmed.related(pmid, "pubmed_citedin", 50)
    assert found.source == "NCBI ELink"
    assert any("Europe PMC could not be asked" in warning for warning in found.warnings)


def test_one_more_who_keeps_lists_is_one_line(library, world, pmid, monkeypatch):
    def of_friends(asked, kind, most, web):
        return RelatedPapers(
            (RelatedPaper("41000002", title="A friend"),) * 99, 99, "https://friends"
        )

    monkeypatch.setitem(relationships._LISTS, "Friends", of_friends)
    found = library.pubmed.related(pmid, "pubmed_citedin", 50)
    assert (found.source, found.url) == ("Friends", "https://friends")


def test_when_nobody_answers_it_is_an_error(library, world, pmid):
    world.mood("down")
    with pytest.raises(Unreachable):
        library.pubmed.related(pmid, "pubmed_citedin", 3)


@pytest.mark.parametrize(
    ("setting", "key", "name"),
    [
        ("semantic_scholar_api_key", semantic_scholar.KEY, "Semantic Scholar"),
        ("openalex_api_key", openalex.KEY, "OpenAlex"),
    ],
)
def test_the_owner_of_a_key_is_shown_longer_lists(settings, world, setting, key, name):
    world.mood("down", "eutils", path="elink")
    world.mood("down", "europepmc")
    source = world.paper("pmc_cloud")
    found = Library(**settings, **{setting: key}).pubmed.related(source.pmid, "pubmed_citedin", 3)
    assert found.source == name
    assert key not in found.url


def test_without_a_key_nobody_waits_in_the_pool_of_all(library, world, pmid):
    library.pubmed.related(pmid, "pubmed_references", 50)
    assert not [r for r in world.requests if r.service in {"openalex", "semantic_scholar"}]


def test_a_list_without_titles_is_better_than_none(library, world, pmid):
    world.mood("down", "eutils", path="efetch")
    found = library.pubmed.related(pmid, "pubmed_similar_articles", 3)
    assert [one.title for one in found.articles] == [""] * 3
    assert any("Titles" in warning for warning in found.warnings)


def test_titles_that_are_remembered_are_shown(library, world, pmid):
    whole = library.pubmed.related(pmid, "pubmed_similar_articles", 3)
    library.web.cache.put("pubmed", pmid, {"of": "another version"}, 1.0)  # so PubMed is asked
    world.mood("down", "eutils", path="efetch")
    again = library.pubmed.related(pmid, "pubmed_similar_articles", 3)
    assert again.articles == whole.articles
    assert not again.warnings
    assert any(
        "Titles" in warning
        for warning in library.pubmed.related(pmid, "pubmed_similar_articles", 20).warnings
    )


def test_an_unknown_paper_is_not_a_paper_without_relations(library, world):
    for kind in ("pubmed_similar_articles", "pubmed_citedin"):
        with pytest.raises(NotFound):
            library.pubmed.related("39999999", kind, 3)


def test_a_retracted_relative_says_so(library, world):
    retracted = world.paper("retracted").pmid
    lists = [
        library.pubmed.related(r.pmid, "pubmed_citedin", 50) for r in world.papers[:8] if r.pmid
    ]
    shown = {one.pmid: one.retracted for found in lists for one in found.articles}
    assert shown[retracted] is True
    assert sum(shown.values()) == 1


@pytest.mark.parametrize(
    ("pmid", "kind", "most"),
    [
        ("x", "pubmed_citedin", 5),
        ("1", "pubmed_friends", 5),
        ("1", "pubmed_citedin", 0),
        ("1", "pubmed_citedin", 51),
    ],
)
def test_what_cannot_be_asked_is_refused_without_a_request(library, world, pmid, kind, most):
    with pytest.raises(BadRequest) as refused:
        library.pubmed.related(pmid, kind, most)
    assert refused.value.hint
    assert not world.requests
