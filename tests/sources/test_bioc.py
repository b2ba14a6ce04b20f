"""BioC: an article as paragraphs, and the ways in which it says that there is none.

Answers: https://www.ncbi.nlm.nih.gov/research/bionlp/APIs/BioC-PMC/.
"""

import json

import pytest

from utils.errors import BadContent
from utils.model.identifiers import Ids
from utils.sources.bioc import Article, Paragraph, fetch_article
from utils.sources.bioc import _reply_to_article as read

BASE = "https://www.ncbi.nlm.nih.gov/research/bionlp/RESTful/pmcoa.cgi/BioC_json"
NAMES = {"article-id_pmc": "PMC7", "article-id_pmid": "8", "article-id_doi": "10.1000/a"}


def told(*passages, **infons):
    return [{"documents": [{"id": "PMC7", "infons": infons, "passages": list(passages)}]}]


def passage(text, **infons):
    return {"infons": infons, "text": text}


@pytest.mark.parametrize("ids", [Ids(pmcid="PMC7"), Ids(pmid="8")])
def test_an_open_article_by_either_number_is_asked_for_once(web, mocked, ids):
    front = passage("A title", section_type="TITLE", type="front", license="CC BY", **NAMES)
    body = passage("Moss grows.", section_type="intro", type="paragraph")
    mocked.get(f"{BASE}/{ids.pmcid or ids.pmid}/unicode", json=told(front, body))
    for _ in range(2):
        assert fetch_article(ids, web) == Article(
            Ids(pmcid="PMC7", pmid="8", doi="10.1000/a"),
            "CC BY",
            (
                Paragraph("TITLE", "front", "A title"),
                Paragraph("INTRO", "paragraph", "Moss grows."),
            ),
        )
    assert len(mocked.calls) == 1


def test_what_is_not_open_has_no_paragraphs_and_is_not_asked_for_again(web, mocked):
    mocked.get(f"{BASE}/PMC7/unicode", body="[Error] : No result can be found. <BR><HR><B>")
    for _ in range(2):
        assert fetch_article(Ids(pmcid="PMC7"), web).paragraphs == ()
    assert len(mocked.calls) == 1


def test_a_bad_moment_passes(web, mocked):
    for bad in ({"status": 503}, {"body": b"\xff"}, {"json": {}}):
        mocked.reset()
        mocked.get(f"{BASE}/PMC7/unicode", **bad)
        mocked.get(f"{BASE}/PMC7/unicode", json=told(passage("A title")))
        web.cache.put("bioc", "PMC7", {}, 1.0)
        assert fetch_article(Ids(pmcid="PMC7"), web).paragraphs
        assert len(mocked.calls) == 2


def test_more_than_an_article_is_not_read(web, mocked):
    mocked.get(f"{BASE}/PMC7/unicode", headers={"Content-Length": str(33 * 1024 * 1024)})
    with pytest.raises(BadContent, match="more than"):
        fetch_article(Ids(pmcid="PMC7"), web)


def test_it_counts_to_the_requests_of_all_of_ncbi(web, mocked, clock):
    for at in range(1, 7):
        mocked.get(f"{BASE}/PMC{at}/unicode", body="[Error]")
        fetch_article(Ids(pmcid=f"PMC{at}"), web)
    assert 1 / 3 < sum(clock.naps) / 5 < 0.6


@pytest.mark.parametrize(
    ("asked", "names"),
    [
        (Ids(pmcid="PMC8"), {"article-id_pmc": "PMC7"}),
        (Ids(pmcid="PMC8"), {}),  # the document has a name, too
        (Ids(pmid="8"), {"article-id_pmid": "7"}),
    ],
)
def test_another_article_is_not_taken(web, mocked, asked, names):
    mocked.get(f"{BASE}/{asked.pmcid or asked.pmid}/unicode", json=told(passage("A", **names)))
    with pytest.raises(BadContent) as wrong:
        fetch_article(asked, web)
    assert wrong.value.outcome == "wrong_paper"


@pytest.mark.parametrize("number", ["7", "PMC7", 7])
def test_the_number_counts_with_or_without_its_prefix(number):
    assert read(told(passage("A", **{"article-id_pmc": number}))).ids.pmcid == "PMC7"


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
