"""BioC: an article as paragraphs, and the ways in which it says that there is none."""

import json

import pytest

from tests.answering import HOSTILE, answering
from utils.errors import BadContent, Unreachable
from utils.model.identifiers import Ids
from utils.sources.bioc import Paragraph, fetch_article
from utils.sources.bioc import _article as read


def test_an_open_article_by_either_number(library, world):
    record = world.paper("pmc_cloud")
    ids = Ids(pmid=record.pmid, pmcid=record.pmcid, doi=record.doi)
    for name in (Ids(pmcid=record.pmcid), Ids(pmid=record.pmid)):
        found = fetch_article(name, library.web)
        assert (found.ids, found.license) == (ids, "CC BY")
        assert found.paragraphs[0] == Paragraph("TITLE", "front", record.plain_title)
    sections = list(dict.fromkeys(paragraph.section for paragraph in found.paragraphs))
    assert sections[:6] == ["TITLE", "ABSTRACT", "INTRO", "METHODS", "RESULTS", "DISCUSS"]


def test_what_is_not_open_is_none_and_not_asked_again(library, world):
    record = world.paper("efetch_only")
    for _ in range(2):
        assert fetch_article(Ids(pmcid=record.pmcid), library.web).paragraphs == ()
    assert len(world.requests) == 1


def test_a_page_further_on_asks_nobody(library, world):
    record = world.paper("pmc_cloud")
    first = fetch_article(Ids(pmcid=record.pmcid), library.web)
    assert fetch_article(Ids(pmcid=record.pmcid), library.web) == first
    assert len(world.requests) == 1


PASSING = ["storm", "down", "reset", "captcha", "truncate", "garbage", "empty", "deep_nesting"]


@pytest.mark.parametrize("mood", PASSING)
def test_a_bad_moment_passes_and_a_long_one_is_not_nothing(library, world, mood):
    record = world.paper("pmc_cloud")
    world.mood(mood, "bioc", 1)
    assert fetch_article(Ids(pmcid=record.pmcid), library.web).paragraphs
    world.mood(mood, "bioc")
    with pytest.raises(Unreachable):
        fetch_article(Ids(pmcid=world.paper("pmc_manuscript").pmcid), library.web)


@pytest.mark.parametrize("mood", ["huge", "gzip_bomb"])
def test_more_than_an_article_is_not_read(library, world, mood):
    world.mood(mood, "bioc")
    with pytest.raises(BadContent):
        fetch_article(Ids(pmcid="PMC9100001"), library.web)


def test_it_counts_to_the_requests_of_all_of_ncbi(library, world):
    for record in [r for r in world.papers if r.cloud][:6]:
        fetch_article(Ids(pmcid=record.pmcid), library.web)
    times = [request.at for request in world.requests]
    assert 1 / 3 < (times[-1] - times[0]) / (len(times) - 1) < 0.6
    assert not world.refused


def told(*passages, **infons):
    return [{"documents": [{"id": "PMC7", "infons": infons, "passages": list(passages)}]}]


def passage(text, **infons):
    return {"infons": infons, "text": text}


@pytest.mark.parametrize(
    ("asked", "names"),
    [
        (Ids(pmcid="PMC8"), {"article-id_pmc": "PMC7"}),
        (Ids(pmcid="PMC8"), {}),  # the document has a name, too
        (Ids(pmid="8"), {"article-id_pmid": "7"}),
    ],
)
def test_another_article_is_not_taken(library, monkeypatch, asked, names):
    answering(monkeypatch, told(passage("A title", **names)))
    with pytest.raises(BadContent) as wrong:
        fetch_article(asked, library.web)
    assert wrong.value.outcome == "wrong_paper"


@pytest.mark.parametrize("number", ["7", "PMC7", 7])
def test_the_number_counts_with_or_without_its_prefix(library, monkeypatch, number):
    answering(monkeypatch, told(passage("A title", **{"article-id_pmc": number})))
    assert fetch_article(Ids(pmcid="PMC7"), library.web).ids.pmcid == "PMC7"


@pytest.mark.parametrize("body", HOSTILE, ids=range(len(HOSTILE)))
def test_no_hostile_answer_is_taken_for_one(library, monkeypatch, body):
    answering(monkeypatch, body)
    with pytest.raises(Unreachable):
        fetch_article(Ids(pmcid="PMC7"), library.web)


def test_odd_passages_are_left_out():
    odd = [None, 3, {"text": None}, {"text": ["x"]}, {"infons": 3, "text": "ab"}]
    found = read(told(*odd, {"infons": {"section_type": ["x"], "type": 7}, "text": " c "}))
    assert found.paragraphs == (Paragraph("OTHER", "", "ab"), Paragraph("OTHER", "7", "c"))
    assert found.ids == Ids(pmcid="PMC7")


def test_an_article_does_not_fill_the_memory_with_paragraphs():
    found = read(told(*[passage(str(number)) for number in range(25_000)]))
    assert len(found.paragraphs) == 20_000


@pytest.mark.shared
def test_recorded_bioc_is_read(shared):
    """PubTator's answers are BioC, too: abstracts, which have no sections."""
    recorded = shared / "apis" / "pubtator" / "illumination_biocjson_two_abstracts.json"
    documents = json.loads(recorded.read_text(encoding="utf-8"))["PubTator3"]
    for document in documents:
        kinds = [paragraph.kind for paragraph in read({"documents": [document]}).paragraphs]
        assert kinds == ["title", "abstract"]
