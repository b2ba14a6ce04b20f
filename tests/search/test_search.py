"""One search across sources: side by side, once each, nobody's silence hidden."""

import threading
from dataclasses import replace

import pytest

from utils.errors import BadRequest, NotConfigured, Unreachable
from utils.http import Web
from utils.model.identifiers import Ids
from utils.model.paper import NO_HITS, Author, Paper, SearchResult
from utils.search.search import search_papers
from utils.settings import load_settings
from utils.sources import Source

DOE = (Author("Doe", "Jane"), Author("Roe", "Richard"))
REEF = Paper(
    Ids(pmid="1", doi="10.1000/reef"),
    title="Coral reefs recover slowly after heat waves",
    authors=DOE,
    journal="Reef Journal",
    volume="7",
    pages="11-19",
    published="2024-03",
)
MOSS = Paper(Ids(pmid="2"), title="Moss keeps water in peat", authors=DOE, published="2020")
FERN = Paper(Ids(arxiv="2301.00001"), title="Fern spores travel far by wind", published="2023")


@pytest.fixture
def web():
    return Web(load_settings(), ())


def source(name, papers=(), *, total=None, error=None, seen=None, gate=None):
    def search(query, web):
        if seen is not None:
            seen.append(query)
        if gate is not None:
            gate.wait(10)
        if error:
            raise error
        count = len(papers) if total is None else total
        return SearchResult(query.text, "", count, tuple(papers[: query.max_results]))

    return Source(name=name, about=f"{name.title()}: of tests", search=search)


def usual(**given):
    """The four usual sources; those not given find nothing."""
    names = ("pubmed", "europepmc", "arxiv", "semantic_scholar")
    return [given.get(name) or source(name) for name in names]


def outcomes(found):
    return {one.source: one.outcome for one in found.asked}


def test_a_paper_that_two_sources_know_is_listed_once_with_what_both_know(web):
    other = Paper(Ids(doi="10.1000/REEF", s2="a" * 40), title=REEF.title, abstract="Heat harms.")
    found = search_papers(
        "coral", web, usual(pubmed=source("pubmed", [REEF]), arxiv=source("arxiv", [other]))
    )
    (one,) = found.papers
    assert one.sources == ("pubmed", "arxiv")
    assert one.paper.ids == Ids(pmid="1", doi="10.1000/reef", s2="a" * 40)
    assert (one.paper.abstract, one.paper.journal) == ("Heat harms.", "Reef Journal")
    (same,) = one.same
    assert (same.source, same.reason, same.confidence) == ("arxiv", "both have doi:10.1000/reef", 1)


def test_a_paper_without_a_common_identifier_is_merged_with_a_reason(web):
    other = replace(REEF, ids=Ids(s2="b" * 40), title=REEF.title.upper(), volume="")
    found = search_papers(
        "coral", web, usual(pubmed=source("pubmed", [other]), europepmc=source("europepmc", [REEF]))
    )
    (one,) = found.papers
    assert one.paper.title == REEF.title.upper()
    assert one.same[0].reason == "exact title, same place in the journal"
    assert 0.5 < one.same[0].confidence < 1


def test_what_two_sources_agree_on_comes_before_what_one_puts_first(web):
    found = search_papers(
        "plants",
        web,
        usual(pubmed=source("pubmed", [MOSS, REEF]), arxiv=source("arxiv", [FERN, REEF])),
    )
    assert [one.paper.title for one in found.papers] == [REEF.title, MOSS.title, FERN.title]


def test_by_date_the_newest_comes_first(web):
    sources = usual(pubmed=source("pubmed", [MOSS, REEF]), arxiv=source("arxiv", [FERN]))
    found = search_papers("plants", web, sources, sort_by="pub_date")
    assert [one.paper.year for one in found.papers] == ["2024", "2023", "2020"]


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("sort_by", ["relevance", "pub_date"])
def test_a_preprint_stands_right_behind_its_published_version_and_both_say_so(web, sort_by, first):
    preprint = Paper(
        Ids(doi="10.1101/2023.05.05.123456"),
        title=REEF.title,
        authors=DOE,
        journal="bioRxiv",
        published="2023-05-05",
        publication_types=("Preprint",),
    )
    found = search_papers(
        "coral",
        web,
        usual(
            europepmc=source("europepmc", [preprint, FERN] if first else [FERN, preprint]),
            pubmed=source("pubmed", [MOSS, REEF] if first else [REEF, MOSS]),
        ),
        sort_by=sort_by,
    )
    ids = [one.paper.ids for one in found.papers]
    assert len(ids) == 4
    assert ids.index(preprint.ids) == ids.index(REEF.ids) + 1
    published, before = (found.papers[ids.index(one.ids)] for one in (REEF, preprint))
    assert [(one.relation, one.ids) for one in published.linked] == [("has_preprint", preprint.ids)]
    assert [(one.relation, one.ids) for one in before.linked] == [("preprint_of", REEF.ids)]


def test_an_arxiv_record_and_its_journal_article_are_one_paper(web):
    preprint = replace(REEF, ids=Ids(arxiv="2301.00009"), journal="arXiv", volume="", pages="")
    preprint = replace(preprint, license="CC0", categories=("q-bio.PE",), version="2")
    both = Paper(Ids(arxiv="2301.00009", doi="10.1000/reef"), title=REEF.title, authors=DOE)
    found = search_papers(
        "coral",
        web,
        usual(
            pubmed=source("pubmed", [REEF]),
            arxiv=source("arxiv", [preprint]),
            semantic_scholar=source("semantic_scholar", [both]),
        ),
    )
    (one,) = found.papers
    assert one.sources == ("pubmed", "semantic_scholar", "arxiv")
    assert one.paper.ids == Ids(pmid="1", doi="10.1000/reef", arxiv="2301.00009")
    assert one.paper.journal == "Reef Journal"
    assert one.paper.categories == ("q-bio.PE",)
    assert not one.paper.license  # the preprint's terms are not the article's


def test_a_retraction_that_one_source_knows_of_is_never_lost(web):
    ours = replace(REEF, publication_types=("Journal Article",))
    other = replace(REEF, publication_types=("Retracted Publication",))
    found = search_papers(
        "coral", web, usual(pubmed=source("pubmed", [ours]), europepmc=source("europepmc", [other]))
    )
    assert found.papers[0].paper.retracted


def test_a_source_that_is_down_is_named_and_the_others_answer(web):
    down = source("arxiv", error=Unreachable("Arxiv is down.", "Wait."))
    busy = source("europepmc", error=Unreachable("Too many.", retry_after=9.0))
    strict = source("semantic_scholar", error=BadRequest("It takes no author."))
    found = search_papers(
        "moss",
        web,
        usual(
            pubmed=source("pubmed", [MOSS], total=900),
            arxiv=down,
            europepmc=busy,
            semantic_scholar=strict,
        ),
    )
    assert outcomes(found) == {
        "pubmed": "answered",
        "europepmc": "busy",
        "arxiv": "unreachable",
        "semantic_scholar": "refused",
    }
    assert (found.asked[0].total, found.asked[0].returned) == (900, 1)
    assert found.asked[2].total is None
    assert found.asked[2].message == "Arxiv is down. Wait."
    assert "Arxiv is down. Wait." in found.warnings


def test_all_answered_and_found_nothing_is_an_empty_list(web):
    found = search_papers("moss", web, usual())
    assert found.papers == ()
    assert found.warnings == (NO_HITS,)


def test_when_nobody_answers_the_gravest_reason_is_raised_and_all_are_told(web):
    sources = usual(
        pubmed=source("pubmed", error=NotConfigured("No e-mail address is set.")),
        europepmc=source("europepmc", error=Unreachable("Too many.", retry_after=9.0)),
        arxiv=source("arxiv", error=Unreachable("Arxiv is down.")),
        semantic_scholar=source("semantic_scholar", error=BadRequest("It takes no author.")),
    )
    with pytest.raises(Unreachable) as raised:
        search_papers("moss", web, sources)
    for told in ("No e-mail", "Too many", "Arxiv is down", "It takes no author"):
        assert told in raised.value.message
    assert raised.value.details["sources"]["europepmc"] == "busy"


def test_a_question_no_source_takes_is_the_askers_to_change(web):
    sources = usual(**{one: source(one, error=BadRequest("no")) for one in ("arxiv", "pubmed")})
    with pytest.raises(BadRequest):
        search_papers("moss", web, sources, among=["pubmed", "arxiv"])


def test_a_bug_in_a_source_is_not_taken_for_its_silence(web):
    with pytest.raises(ZeroDivisionError):
        search_papers("moss", web, usual(arxiv=source("arxiv", error=ZeroDivisionError())))


def test_a_slow_source_is_named_and_the_same_call_finds_its_answer(web):
    gate, seen = threading.Event(), []
    slow = source("arxiv", [FERN], gate=gate, seen=seen)
    sources = usual(pubmed=source("pubmed", [MOSS]), arxiv=slow)
    first = search_papers("plants", web, sources, wait_s=0.3)
    assert outcomes(first)["arxiv"] == "slow"
    assert [one.paper for one in first.papers] == [MOSS]
    assert "Arxiv did not answer" in first.warnings[0]
    gate.set()
    second = search_papers("plants", web, sources, wait_s=10)
    assert outcomes(second)["arxiv"] == "answered"
    assert [one.paper for one in second.papers] == [MOSS, FERN]
    assert len(seen) == 1


def test_nobody_in_time_is_no_empty_list(web):
    gate = threading.Event()
    sources = usual(arxiv=source("arxiv", [FERN], gate=gate))
    with pytest.raises(Unreachable, match="in time"):
        search_papers("plants", web, sources, among=["arxiv"], wait_s=0.05)
    gate.set()


def test_every_source_gets_the_same_wish_and_only_pubmed_its_tags(web):
    seen = {name: [] for name in ("pubmed", "arxiv")}
    sources = usual(**{name: source(name, [MOSS], seen=seen[name]) for name in seen})
    found = search_papers(
        "moss[ti] AND 2020:2024[dp]", web, sources, author="Doe  J", min_date="2019", max_results=7
    )
    (pubmed,), (arxiv,) = seen.values()
    assert pubmed.text == "moss[ti] AND 2020:2024[dp]"
    assert arxiv == replace(pubmed, text="moss")
    assert (pubmed.author, pubmed.max_results, pubmed.sort_by) == ("Doe J", 7, "relevance")
    assert (pubmed.min_date, pubmed.max_date) == ("2019", "2999")
    assert "without 2020:2024[dp]" in found.warnings[0]


def test_a_query_of_nothing_but_tags_is_put_to_pubmed_alone(web):
    seen = []
    sources = usual(pubmed=source("pubmed", [MOSS]), arxiv=source("arxiv", seen=seen))
    found = search_papers("2[pmid]", web, sources)
    assert outcomes(found) == {
        "pubmed": "answered",
        "europepmc": "refused",
        "arxiv": "refused",
        "semantic_scholar": "refused",
    }
    assert not seen


def test_the_merged_list_is_cut_after_merging(web):
    papers = [replace(MOSS, ids=Ids(pmid=str(n)), title=f"Moss of region {n}") for n in range(1, 9)]
    sources = usual(pubmed=source("pubmed", papers), europepmc=source("europepmc", papers))
    found = search_papers("moss", web, sources, max_results=5)
    assert [len(one.sources) for one in found.papers] == [2] * 5


def test_openalex_joins_where_its_key_is_set():
    sources = [*usual(), source("openalex", [MOSS])]
    without = search_papers("moss", Web(load_settings(), ()), sources)
    keyed = search_papers("moss", Web(load_settings(openalex_api_key="k"), ()), sources)
    assert "openalex" not in outcomes(without)
    assert outcomes(keyed)["openalex"] == "answered"


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"query": " "}, "empty"),
        ({"query": "(moss"}, "brackets"),
        ({"sort_by": "journal"}, "sort_by"),
        ({"max_results": 0}, "max_results"),
        ({"max_results": 101}, "max_results"),
        ({"min_date": "20"}, "min_date"),
        ({"min_date": "2024", "max_date": "2020"}, "later"),
        ({"among": ["unpaywall"]}, "unpaywall"),
        ({"among": ["scopus"]}, "scopus"),
    ],
)
def test_what_cannot_be_asked_is_refused_before_anybody_is(web, options, told):
    seen = []
    sources = [source(name, seen=seen) for name in ("pubmed", "arxiv")]
    asked = {"query": "moss", "among": ["pubmed", "arxiv"], **options}
    with pytest.raises(BadRequest, match=told):
        search_papers(asked.pop("query"), web, sources, **asked)
    assert not seen


def test_the_real_sources_answer_one_question_in_the_stand_in(library):
    found = library.search_papers("coral", min_date="2000", max_results=10)
    assert set(outcomes(found).values()) == {"answered"}
    shared = [one for one in found.papers if len(one.sources) > 1]
    assert shared
    assert {one.sources[0] for one in shared} == {"pubmed"}


@pytest.mark.parametrize("mood", ["down", "garbage", "empty", "reset", "captcha", "storm"])
@pytest.mark.parametrize(
    ("service", "name"),
    [
        ("eutils", "pubmed"),
        ("europepmc", "europepmc"),
        ("arxiv", "arxiv"),
        ("semantic_scholar", "semantic_scholar"),
    ],
)
def test_whatever_befalls_one_source_it_is_named_and_the_others_are_heard(
    library, world, mood, service, name
):
    world.mood(mood, service)
    found = library.search_papers("coral")
    by_name = outcomes(found)
    assert by_name.pop(name) in ("unreachable", "busy", "refused")
    assert set(by_name.values()) == {"answered"}
    assert found.papers
    assert all(name not in one.sources for one in found.papers)
    assert found.warnings


@pytest.mark.parametrize("mood", ["down", "garbage", "storm"])
def test_when_every_source_is_out_it_is_an_error_and_never_an_empty_list(library, world, mood):
    world.mood(mood)
    with pytest.raises(Unreachable) as raised:
        library.search_papers("coral")
    assert len(raised.value.details["sources"]) == 4
