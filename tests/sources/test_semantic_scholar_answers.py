"""Semantic Scholar: every answer it may give, the recorded ones and any other."""

import json
from contextlib import suppress
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.answering import HOSTILE, answering
from tests.examples import often
from tests.sources.test_semantic_scholar import WHOLE
from utils.errors import Unreachable
from utils.http import Answer
from utils.model.identifiers import Ids
from utils.settings import load_settings
from utils.sources import Query
from utils.sources.semantic_scholar import (
    count_hits,
    fetch_linked,
    fetch_linked_papers,
    fetch_paper,
    look_up_papers,
    search,
    search_bulk,
    search_by_relevance,
)
from utils.sources.semantic_scholar_graph import (
    FIELDS,
    build_paper_path,
    cache_reply,
    recall_reply,
    to_scholar_paper,
)


@pytest.mark.parametrize("body", ["<html>Not found</html>", "", '{"data": []}'])
@pytest.mark.parametrize("status", [400, 401, 403, 404, 410])
def test_a_gateway_that_refuses_is_no_answer(library, monkeypatch, status, body):
    def get(self, url, params=None, *, check, **options):
        check(Answer(status, url, body.encode()))

    monkeypatch.setattr(type(library.web), "get", get)
    with pytest.raises(Unreachable):
        fetch_paper("PMID:1", library.web)


# --- any answer at all ---------------------------------------------------------

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)
ROWS = st.dictionaries(
    st.sampled_from(sorted(WHOLE)), ANYTHING | st.sampled_from([*WHOLE.values()])
)
ENDS = st.dictionaries(st.sampled_from(["citingPaper", "citedPaper"]), ROWS | ANYTHING)
LISTS = st.fixed_dictionaries(
    {"data": ANYTHING | st.lists(ROWS | ENDS | ANYTHING, max_size=3)},
    optional={"total": ANYTHING, "next": ANYTHING, "token": ANYTHING, "error": ANYTHING},
)


def linked(kind, start, web):
    return [found.paper for found in fetch_linked_papers("PMID:1", kind, 5, start, web).papers]


VERBS = {
    "relevance": lambda web: search(Query("x", sort_by="relevance"), web).papers,
    "newest": lambda web: search(Query("x"), web).papers,
    "paper": lambda web: [fetch_paper("PMID:1", web).paper],
    "citations": lambda web: linked("citations", 0, web),
    "references": lambda web: linked("references", 7, web),
    "related": lambda web: fetch_linked(Ids(pmid="1"), "citations", 5, web)[1],
    "batch": lambda web: list(look_up_papers([Ids(s2="0" * 40)], web).values()),
    "doctor": lambda web: [count_hits(web)] * 0,
}


def saying(body):
    """A web where every answer is *body*, and nothing is remembered."""

    def answer(url, params=None, *, check, **options):
        told = Answer(200, url, body if isinstance(body, bytes) else body.encode())
        check(told)
        return told

    forgetful = SimpleNamespace(get=lambda *_: None, put_many=lambda *_: None, put=lambda *_: None)
    known = load_settings(semantic_scholar_base_url="http://s2.test")
    return SimpleNamespace(settings=known, cache=forgetful, get=answer, post=answer)


@pytest.mark.parametrize("verb", VERBS)
@given(ANYTHING | LISTS | ROWS | st.lists(ROWS | st.none(), max_size=2))
@often(60)
def test_any_json_gives_papers_or_unreachable(verb, value):
    try:
        papers = VERBS[verb](saying(json.dumps(value)))
    except Unreachable:
        return
    assert all(paper.title or getattr(paper, "ids", True) for paper in papers)


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("body", HOSTILE)
def test_no_hostile_answer_breaks_a_reader(verb, body):
    web = saying(body if isinstance(body, str | bytes) else json.dumps(body))
    with suppress(Unreachable):
        assert not list(VERBS[verb](web))


def test_what_an_error_says_is_cleaned():
    with pytest.raises(Unreachable, match="Too busy") as caught:
        fetch_paper("PMID:1", saying('{"message": "Too\\u001b busy", "code": "429"}'))
    assert "\x1b" not in str(caught.value)


def test_what_was_kept_in_another_form_is_forgotten(library, world):
    path, params = build_paper_path("PMID:41000003"), {"fields": FIELDS}
    cache_reply(path, params, [1], library.web)
    assert recall_reply(path, params, library.web) == [1]
    assert fetch_paper("PMID:41000003", library.web).paper.ids.pmid == "41000003"
    assert len(world.requests) == 1


# --- recorded answers ----------------------------------------------------------


@pytest.fixture
def recorded(shared):
    folder = shared / "apis" / "semanticscholar"

    def read(name):
        [path] = folder.glob(f"*{name}.json")
        return json.loads(path.read_bytes())

    return read


@pytest.mark.shared
def test_recorded_papers(recorded):
    found = to_scholar_paper(recorded("200_07fa2ab0"))
    paper = found.paper
    assert paper.ids.names()[:4] == [
        "doi:10.1038/s42256-024-00832-8",
        "pmid:38799228",
        "pmcid:PMC11116106",
        "arxiv:2304.05376",
    ]
    assert (paper.journal, paper.volume, paper.pages) == (
        "Nature Machine Intelligence",
        "6",
        "525-535",
    )
    assert paper.license == "CC BY"
    assert found.open_copy == "https://www.nature.com/articles/s42256-024-00832-8.pdf"
    assert (paper.authors[0].family, paper.authors[0].given) == ("Bran", "Andrés M")
    preprint = to_scholar_paper(recorded("200_3a2c7bb4")["data"][0]).paper
    assert preprint.ids == Ids(arxiv="2312.07559", s2="7e55d8701785818776323b4147cb13354c820469")
    assert (preprint.publication_types, preprint.volume) == (("Preprint",), "")


@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "total", "goes_on"),
    [("200_eb4f0626", 68_786, True), ("200_ac5df403", 77, False), ("200_78a2bca7", 1, False)],
)
def test_recorded_searches(recorded, library, monkeypatch, name, total, goes_on):
    reply = recorded("litstudy_78a2bca7" if "78a2bca7" in name else name)
    answering(monkeypatch, reply)
    found = search_by_relevance("turing", {}, len(reply["data"]), 0, library.web)
    assert (found.total, found.next_start is not None) == (total, goes_on)
    assert len(found.papers) == len(reply["data"])


@pytest.mark.shared
def test_a_recorded_search_in_bulk(recorded, library, monkeypatch):
    reply = recorded("200_0b994d4d")
    answering(monkeypatch, reply)
    page = search_bulk({"query": "turing"}, 100, 900, library.web)
    assert len(page.papers) == 100
    assert (page.total, page.token, page.next_start) == (reply["total"], reply["token"], 0)


@pytest.mark.shared
@pytest.mark.parametrize("name", ["200_e3fc840b", "200_e920cf57", "200_37bbedaa", "200_7155984d"])
def test_recorded_citations(recorded, library, monkeypatch, name):
    reply = recorded(name)
    answering(monkeypatch, reply, {**WHOLE, "citationCount": 5_000})
    page = fetch_linked_papers("PMID:1", "citations", 100, reply["offset"], library.web)
    assert len(page.papers) == len(reply["data"])
    assert (page.total, page.next_start) == (5_000, reply["next"])


@pytest.mark.shared
def test_every_recorded_answer_is_read_or_refused(recorded, shared):
    for path in (shared / "apis" / "semanticscholar").glob("*.json"):
        for verb in VERBS.values():
            with suppress(Unreachable):
                assert isinstance(list(verb(saying(path.read_bytes()))), list)


@pytest.mark.parametrize("total", [None, "", -1, 1.5, [3]])
def test_without_a_number_of_hits_it_is_no_answer(library, monkeypatch, total):
    answering(monkeypatch, {"data": [{"title": "A"}], "total": total})
    for sort_by in ("relevance", "pub_date"):
        with pytest.raises(Unreachable, match="did not say how many hits"):
            search(Query("x", sort_by=sort_by), library.web)
