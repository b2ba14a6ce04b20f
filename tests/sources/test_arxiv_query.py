"""Questions in arXiv's words: nothing in them acts that the user did not mean to act."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import often
from tests.world.arxiv_search import MalformedError, judge_of
from utils.errors import BadRequest
from utils.sources import Query
from utils.sources.arxiv_query import build_query, translate_words

OPERATORS = {"AND", "OR", "ANDNOT"}
PIECES = st.sampled_from(
    ['"', "(", ")", "AND", "OR", "ANDNOT", "NOT", "ti:", "all:", "cat:cs.LG", "co:x", "deep", "β",
     "CD8+", "p53/MDM2", "[", "]", "{", "}", "\\", "*", "?", "~", "^2", ":", "&&", "||", "-", "!",
     "submittedDate:", "[20200101 TO 20210101]", "TO", "COVID-19", "O'Leary", " ", "“", "”"]
)  # fmt: skip
TEXTS = st.one_of(
    st.text(max_size=60), st.lists(PIECES, max_size=12).map(" ".join), st.lists(PIECES).map("".join)
)


def sent(text, **more):
    return build_query(Query(text, sort_by="relevance", **more)).search_query


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("deep learning", "all:deep AND all:learning"),
        ('"computer vision" 2026', 'all:"computer vision" AND all:2026'),
        ("“computer vision”", 'all:"computer vision"'),
        ("COVID-19 p53/MDM2", 'all:"COVID 19" AND all:"p53 MDM2"'),
        ("and or not", "all:and AND all:or AND all:not"),
        ("ratio: (a) [b]", "all:ratio AND all:a AND all:b"),
        ("transform* What?", "all:transform* AND all:What"),
        ("Erdős β-catenin", 'all:Erdős AND all:"β catenin"'),
        ('"R AND D" cost', 'all:"R AND D" AND all:cost'),
        ("title:foo", 'all:"title foo"'),
        ("deep deep", "all:deep"),
    ],
)
def test_words_all_have_to_occur(text, query):
    assert sent(text) == query


@pytest.mark.parametrize(
    "query",
    [
        "ti:qubit",
        'ti:"graph network" ANDNOT cat:cs.SE',
        "au:del_maestro AND (ti:helium OR abs:helium)",
        "all:a OR all:b AND cat:q-bio.*",
        "submittedDate:[202301010600 TO 202401010600] AND au:erdos",
        "id:hep-ex/0307015 OR rn:CERN-1 OR jr:Nature OR co:pages",
        "ti:(helium OR neon)",
    ],
)
def test_arxivs_own_language_is_passed_on_as_it_is(query):
    assert sent(query) == query
    judge_of(query)


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("ti:deep learning", "ti:deep AND all:learning"),
        ("deep AND vision NOT cat:cs.SE", "all:deep AND all:vision ANDNOT cat:cs.SE"),
        ("deep AND NOT vision", "all:deep ANDNOT all:vision"),
        ("(deep OR shallow) nets", "(all:deep OR all:shallow) AND all:nets"),
        ("ti:(deep nets) x", "ti:(deep AND nets) AND all:x"),
        ("ti:a&b", 'ti:"a b"'),
        ("abs:non-invasive", 'abs:"non invasive"'),
    ],
)
def test_gaps_in_it_are_closed(text, query):
    assert sent(text) == query


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "no word"),
        ("?! () --", "no word"),
        ("deep AND", "nothing after"),
        ("AND deep", "nothing before"),
        ("deep AND OR x", "nothing before OR"),
        ("(a OR b", "brackets"),
        ("a OR b)", "brackets"),
        ("() OR a", "nothing after an opening bracket"),
        ('ti:a "b', "quotation mark"),
        ('ti:""', "no word"),
        ("submittedDate:[2020 TO 2021]", "not a valid range of dates"),
        ("CRISPR[Title]", "PubMed's field tags"),
        ('"breast cancer"[MeSH Terms]', "PubMed's field tags"),
        ("a\x00b", "control character"),
        ("a " * 3000, "4,000"),
    ],
)
def test_what_cannot_be_asked_is_told(text, told):
    with pytest.raises(BadRequest, match=told):
        sent(text)


def test_an_open_quotation_mark_among_words_is_left_out_aloud():
    request = build_query(Query('5" disk'))
    assert request.search_query == "all:5 AND all:disk"
    assert "not closed" in request.warnings[0]


def test_an_unknown_category_in_a_query_is_told():
    [warning] = build_query(Query("cat:cs.ZZ AND all:x")).warnings
    assert "cs.ZZ" in warning


def test_filters_stand_beside_the_words():
    query = sent(
        "ti:a OR ti:b",
        author="Doe, Jane A.",
        categories=("CS.lg", "q-bio", "cs.LG"),
        min_date="2024/02",
        max_date="2024/02",
    )
    assert query == (
        '(ti:a OR ti:b) AND au:"Jane A Doe" AND (cat:cs.LG OR cat:q-bio.*) AND '
        "submittedDate:[202402010000 TO 202402292359]"
    )


def test_an_open_end_is_the_first_year_or_this_one():
    assert sent("a", max_date="2001").endswith("submittedDate:[199101010000 TO 200112312359]")
    assert re.search(r"\[202401010000 TO 20\d\d12312359\]", sent("a", min_date="2024"))
    assert "[199101010000 TO " in sent("a", min_date="1950", max_date="1999")
    assert "lastUpdatedDate:[" in sent("a", min_date="2024", date_type="mdat")


@pytest.mark.parametrize(
    "more",
    [
        {"categories": ("cs.ZZ",)},
        {"categories": ("q-bio.GNN",)},
        {"author": "?"},
        {"min_date": "2025", "max_date": "2024"},
        {"min_date": "2025/13"},
        {"max_date": "2025/02/30"},
        {"min_date": "1950", "max_date": "1960"},
        {"sort_by": "author"},
        {"start": -1},
        {"max_results": 0},
        {"max_results": 2001},
        {"publication_types": ("Review",)},
    ],
)
def test_filters_that_arxiv_has_not_are_refused(more):
    with pytest.raises(BadRequest):
        build_query(Query("moss", **{"sort_by": "relevance", **more}))


@pytest.mark.parametrize(
    ("name", "clause"),
    [
        ("cs.LG", "cat:cs.LG"),
        ("Q-BIO.gn", "cat:q-bio.GN"),
        ("hep-ex", "cat:hep-ex"),
        ("physics", "cat:physics.*"),
        ("stat.*", "cat:stat.*"),
        ("astro-ph", "(cat:astro-ph OR cat:astro-ph.*)"),
        ("chao-dyn", "cat:chao-dyn"),
    ],
)
def test_categories_by_class_and_archive(name, clause):
    assert sent("", categories=(name,)) == clause


def test_a_slip_in_a_category_gets_a_hint():
    with pytest.raises(BadRequest) as refusal:
        sent("", categories=("q-bio.GNN",))
    assert "q-bio.GN" in refusal.value.hint


@often(300)
@given(TEXTS)
def test_any_text_is_asked_soundly_or_refused(text):
    try:
        query, _ = translate_words(" ".join(text.split()))
    except BadRequest:
        return
    if query:
        try:
            judge_of(query)
        except MalformedError:
            pytest.fail(f"{text!r} became {query!r}")
    bare = re.sub(r'"[^"]*"', "", query)
    assert '"' not in bare
    assert bare.count("(") == bare.count(")")
    assert "\\" not in query


@often(300)
@given(TEXTS)
def test_nothing_becomes_an_operator_by_accident(text):
    spoken = set(re.findall(r"ANDNOT|AND|OR|NOT|(?:ti|all|cat|co):|Date:\s*\[", text))
    if spoken:
        return
    query, _ = translate_words(" ".join(text.split()))
    terms = query.split(" AND ") if query else []
    for term in terms:
        assert re.fullmatch(r"""all:(?:\w+\*?|"[\w.'’ -]*")""", term), query


@often(100)
@given(st.text(max_size=40))
def test_a_name_stays_one_phrase(name):
    try:
        query = sent("", author=name)
    except BadRequest:
        return
    assert re.fullmatch(r"""au:(?:\w+|"[\w.'’ -]*")""", query)
