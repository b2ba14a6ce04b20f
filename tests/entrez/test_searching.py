"""Searching one database or all; spelling; what a database holds; histories."""

import dataclasses

import pytest

from tests.answering import HOSTILE, answering
from utils.entrez.selection import HISTORY_HOURS
from utils.errors import (
    BadRequest,
    EntrezFailed,
    NotConfigured,
    NotFound,
    PaperError,
    SourceMiss,
    StoreFailed,
    Unreachable,
)


@pytest.fixture
def entrez(library):
    return library.entrez


def asked(world, path):
    return [request for request in world.requests if request.path == path]


# --- searching -------------------------------------------------------------


def test_a_page_of_identifiers_and_where_the_next_begins(entrez):
    first = entrez.search("snp", "all[filter]", max_results=7)
    assert (first.total, first.start, first.next_start) == (1200, 0, 7)
    assert len(first.ids) == 7
    second = entrez.search("snp", "all[filter]", max_results=7, start=first.next_start)
    assert not set(first.ids) & set(second.ids)
    last = entrez.search("snp", "all[filter]", max_results=7, start=1199)
    assert (len(last.ids), last.next_start) == (1, None)


def test_a_count_alone_has_no_identifiers(entrez):
    found = entrez.search("gene", "human", max_results=0)
    assert found.total > 0
    assert (found.ids, found.next_start, found.warnings) == ((), None, ())


def test_words_that_are_nowhere_and_fields_that_are_none_are_told(entrez):
    found = entrez.search("gene", "zzqqx[sonnet]")
    assert found.total == 0
    assert "Not found: zzqqx." in found.warnings
    assert any("sonnet" in warning for warning in found.warnings)


def test_pubmed_is_searched_too_with_dates_and_an_order_of_its_own_words(entrez, world):
    found = entrez.search(
        "PubMed", "cells", sort="author", min_date="2000", max_date="2030", date_type="edat"
    )
    assert found.total
    params = asked(world, "/esearch.fcgi")[0].params
    assert (params["sort"], params["datetype"], params["mindate"]) == ("Author", "edat", "2000")


def test_a_long_term_goes_by_post(entrez, world):
    entrez.search("gene", " OR ".join(f"{n}[uid]" for n in range(672, 872)))
    assert world.requests[-1].method == "POST"


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"query": ""}, "empty"), ({"query": "a(b"}, "brackets"), ({"query": "a\x1bb"}, "control"),
        ({"query": "x" * 20_001}, "20,000"), ({"query": "a", "max_results": -1}, "max_results"),
        ({"query": "a", "max_results": 10_001}, "max_results"),
        ({"query": "a", "start": -1}, "start"),
        ({"query": "a", "min_date": "soon", "max_date": "2020"}, "min_date"),
        ({"query": "a", "sort_by": "<script>"}, "sort"),
        ({"query": "a", "min_date": "2020", "max_date": "2021", "date_type": "x y"}, "date_type"),
        ({"query": "a", "database": "pubmed", "start": 9_999}, "9,998"),
        ({"query": "a", "database": "gnee"}, "gene"), ({"query": "a", "database": ""}, "pubmed"),
    ],
)  # fmt: skip
def test_what_cannot_be_asked_is_refused_and_not_sent(entrez, world, options, word):
    with pytest.raises(BadRequest) as refused:
        entrez.search(**{"database": "gene", **options})
    assert word in str(refused.value)
    assert refused.value.hints
    assert not asked(world, "/esearch.fcgi")


def test_an_error_of_the_database_is_never_no_hits(entrez, monkeypatch):
    answering(monkeypatch, {"esearchresult": {"ERROR": "Search Backend failed:\nbusy"}})
    with pytest.raises(EntrezFailed, match="Search Backend failed: busy") as failed:
        entrez.search("gene", "a")
    assert failed.value.code == "ENTREZ"
    assert failed.value.details == {"database": "gene"}


def test_a_page_that_comes_short_is_told(entrez, monkeypatch):
    answering(monkeypatch, {"esearchresult": {"count": "9", "idlist": ["1", "2"]}})
    found = entrez.search("gene", "a", max_results=5)
    assert found.next_start == 2
    assert "2 of the 5" in found.warnings[0]


def test_more_than_pubmed_hands_out_is_told(entrez, monkeypatch):
    answering(monkeypatch, {"esearchresult": {"count": "20000", "idlist": ["1"]}})
    found = entrez.search("pubmed", "a", max_results=1, start=9_998)
    assert found.next_start is None
    assert "9,999 of 20,000" in found.warnings[0]


# --- histories -------------------------------------------------------------


def test_a_history_is_a_name_that_gives_nothing_away(entrez, world):
    kept = entrez.search("gene", "human", keep=True).history
    place = asked(world, "/esearch.fcgi")[0]
    assert kept.id.startswith("h_")
    assert "MCID" not in str(kept)
    assert (kept.database, kept.made_by) == ("gene", "human")
    assert kept.expires.endswith("Z")
    assert place.params["usehistory"] == "y"
    page = entrez.summary("gene", history=kept.id, start=1, max_results=2)
    assert page.total == kept.total
    assert len(page.records) == 2
    assert "MCID" not in str(dataclasses.asdict(page))


def test_a_history_lives_as_long_as_it_says(entrez, clock):
    kept = entrez.post("gene", "672 673")
    clock.sleep(HISTORY_HOURS * 3600 - 60)
    assert entrez.summary("gene", history=kept.id).total == 2
    clock.sleep(120)
    with pytest.raises(NotFound, match=kept.id) as gone:
        entrez.summary("gene", history=kept.id)
    assert "post the identifiers again" in gone.value.hint


def test_a_history_that_ncbi_forgot_is_told_with_the_next_step(entrez, world):
    kept = entrez.search("gene", "human", keep=True).history
    world.reset()
    for ask in (entrez.summary, entrez.fetch):
        with pytest.raises(NotFound, match="human") as gone:
            ask("gene", history=kept.id)
        assert "Search again" in gone.value.hint
        assert len(world.requests) < 10


def test_a_history_of_another_database_is_named(entrez):
    kept = entrez.post("gene", "672")
    with pytest.raises(BadRequest, match="records of gene, not of protein"):
        entrez.summary("protein", history=kept.id)


@pytest.mark.parametrize("name", ["h_1", "MCID_1", "../../x", "h_" + "0" * 16, "\x1b[2J"])
def test_a_name_that_is_none_is_refused(entrez, world, name):
    with pytest.raises((BadRequest, NotFound)) as refused:
        entrez.fetch("gene", history=name)
    assert "\x1b" not in str(refused.value)
    assert not world.requests


def test_nothing_found_has_no_history(entrez):
    found = entrez.search("gene", "zzqqx", keep=True)
    assert found.history is None
    assert any("no history" in warning for warning in found.warnings)


def test_many_identifiers_are_posted(entrez, world):
    kept = entrez.post("snp", range(268, 768))
    assert (kept.total, kept.made_by) == (500, "500 identifiers posted")
    assert asked(world, "/epost.fcgi")[0].method == "POST"
    assert [one.uid for one in entrez.summary("snp", history=kept.id, max_results=2).records] == [
        "268", "269",
    ]  # fmt: skip


def test_accessions_are_posted_as_what_they_stand_for(entrez, world):
    kept = entrez.post("protein", "NP_009000.1 6552299 6552300")
    assert kept.total == 2
    assert world.requests[-1].params["id"] == "6552299,6552300"
    with pytest.raises(BadRequest, match=r"no record of NP_999999\.1"):
        entrez.post("protein", "NP_009000.1 NP_999999.1")


def test_more_than_200_identifiers_go_by_post_however_short(entrez, world):
    entrez.summary("gene", range(1, 202), max_results=201)
    assert world.requests[-1].method == "POST"
    entrez.summary("gene", range(1, 21))
    assert world.requests[-1].method == "GET"


@pytest.fixture
def forgetful(settings):
    """Entrez over a shelf whose memory cannot be opened."""
    from utils import Library

    settings["papers_dir"].mkdir()
    (settings["papers_dir"] / ".papershelf").write_text("in the way", encoding="utf-8")
    return Library(**settings).entrez


def test_a_history_that_cannot_be_remembered_is_not_promised(forgetful):
    found = forgetful.search("gene", "human", keep=True)
    assert found.ids
    assert found.history is None
    assert any("could not be remembered" in warning for warning in found.warnings)
    with pytest.raises(StoreFailed):
        forgetful.post("gene", "672")


def test_without_a_history_a_search_is_paged_through(forgetful):
    pages = forgetful.pages("snp", query="all[filter]")
    assert sum(len(page.body) > 0 for page in pages) == 3
    assert not pages.not_found


# --- spelling, all databases, what one holds -------------------------------


def test_a_term_is_spelled_by_the_database(entrez, world):
    found = entrez.spell("pubmed", "corall")
    assert (found.database, found.corrected) == ("pubmed", "coral")
    assert entrez.spell("pubmed", "coral").corrected == ""
    entrez.spell("gene", "brca")
    assert world.requests[-1].params["db"] == "gene"


def test_a_term_is_counted_everywhere_most_first(entrez, world):
    found = entrez.global_query("human")
    totals = [one.total for one in found.counts]
    assert totals == sorted(totals, reverse=True)
    assert {one.database for one in found.counts} >= {"gene", "taxonomy"}
    assert "omim" in found.nothing_in
    assert not found.could_not_tell
    told = {one.database for one in found.counts} | set(found.nothing_in)
    assert {request.params["db"] for request in world.requests} == told
    assert len(told) > 25


def test_a_database_that_does_not_answer_is_no_database_without_hits(entrez, world):
    world.mood("down", "eutils", path="db=gene&")
    found = entrez.global_query("human", ["gene", "taxonomy", "omim"])
    assert [one.database for one in found.counts] == ["taxonomy"]
    assert found.nothing_in == ("omim",)
    [untold] = found.could_not_tell
    assert (untold.database, "503" in untold.reason) == ("gene", True)


def test_when_none_answers_that_is_an_error(entrez, world, settings):
    from utils import Library

    world.mood("down", "eutils")
    with pytest.raises(Unreachable):
        entrez.global_query("human", ["gene", "omim"])
    offline = Library(**{**settings, "papers_offline": True})
    with pytest.raises(Unreachable, match="offline"):
        offline.entrez.global_query("human")
    with pytest.raises(NotConfigured):
        Library(**{**settings, "pubmed_email": ""}).entrez.global_query("human")


def test_a_database_is_described_with_what_it_can_be_asked(entrez):
    told = entrez.info("gene")
    assert (told.name, told.title, told.records, told.uid) == ("gene", "Gene", 30, "Gene ID")
    assert {field.name for field in told.fields} == {"ALL", "ORGN", "MDAT"}  # UID is hidden
    assert next(field for field in told.fields if field.name == "MDAT").is_date
    assert "gene_protein" in {kind.name for kind in told.links}
    assert told.staged_from == "summaries"
    assert told.fetch[0].retmode == "text"


def test_every_database_is_listed(entrez, world):
    told = entrez.databases()
    assert [row.name for row in told.databases][:3] == ["pubmed", "pmc", "gene"]
    assert len(told.databases) == 39
    assert not told.warnings
    entrez.databases()
    assert len(world.requests) == 1


def test_without_ncbi_the_list_is_ours_and_says_so(entrez, world):
    world.mood("down")
    told = entrez.databases()
    assert len(told.databases) == 39
    assert "could not be asked" in told.warnings[0]


def test_a_new_database_can_be_asked_and_one_that_is_gone_is_told(entrez, monkeypatch):
    answering(monkeypatch, {"einforesult": {"dblist": ["pubmed", "brandnew"]}},
              {"esearchresult": {"count": "1", "idlist": ["5"]}})  # fmt: skip
    told = entrez.databases()
    assert [row.name for row in told.databases] == ["pubmed", "brandnew"]
    assert "gene" in told.warnings[0]
    assert entrez.search("BrandNew", "a").ids == ("5",)


def test_a_misspelt_name_is_a_mistake_also_when_ncbi_is_down(entrez, world):
    world.mood("down")
    with pytest.raises(BadRequest, match="Did you mean gene") as refused:
        entrez.search("gnee", "a")
    assert "could not say" in refused.value.hint


# --- trouble ---------------------------------------------------------------

OPERATIONS = {
    "search": lambda entrez: entrez.search("gene", "a"),
    "summary": lambda entrez: entrez.summary("gene", "672"),
    "fetch": lambda entrez: entrez.fetch("gene", "672", retmode="xml"),
    "fetch_text": lambda entrez: entrez.fetch("nuccore", "237757283", rettype="fasta"),
    "link": lambda entrez: entrez.link("gene", "672", "protein"),
    "acheck": lambda entrez: entrez.link("gene", "672"),
    "info": lambda entrez: entrez.info("gene"),
    "post": lambda entrez: entrez.post("gene", "672"),
    "spell": lambda entrez: entrez.spell("gene", "a"),
    "pages": lambda entrez: list(entrez.pages("gene", "672")),
    "pages_xml": lambda entrez: list(entrez.pages("taxonomy", "9606")),
}
every = pytest.mark.parametrize("name", OPERATIONS)


@every
@pytest.mark.parametrize("mood", ["down", "reset", "garbage", "xml_bomb", "deep_nesting"])
def test_trouble_is_never_an_empty_answer(entrez, world, name, mood):
    world.mood(mood)
    with pytest.raises(SourceMiss):
        OPERATIONS[name](entrez)


@every
@pytest.mark.parametrize("mood", ["storm", "truncate", "captcha"])
def test_what_passes_is_waited_for(entrez, world, name, mood):
    world.mood(mood, times=1)
    assert OPERATIONS[name](entrez)


@pytest.mark.parametrize("name", ["fetch", "fetch_text", "pages_xml"])
def test_no_bytes_are_no_records_only_when_nobody_knows_them(entrez, world, name):
    world.mood("empty", path="efetch")
    with pytest.raises(Unreachable, match="though it has summaries"):
        OPERATIONS[name](entrez)


BAD = "\x1b[2J\u202e\ud800"
DECEIVING = (
    {"esearchresult": {"ERROR": BAD}},
    {"esearchresult": {"count": "1", "idlist": [None, {}, BAD], "querytranslation": BAD,
                       "errorlist": {"phrasesnotfound": [BAD]}}},
    {"result": {"uids": ["672", BAD], "672": {"error": BAD}, BAD: {"uid": BAD}}},
    {"esummaryresult": [BAD]}, {"error": BAD}, {"ERROR": BAD},
    {"einforesult": {"dblist": [BAD], "dbinfo": [{"count": "1", "lastupdate": BAD, "description":
     BAD, "fieldlist": [{"name": BAD}], "linklist": [{"name": BAD, "dbto": BAD}]}]}},
    {"linksets": [{"ids": [BAD], "ERROR": BAD, "linksetdbs": [{"linkname": BAD, "links": [BAD]}]}]},
    "<ePostResult><QueryKey>x</QueryKey></ePostResult>", "<eSummaryResult/>", "LOCUS", "> \x1b",
    "<eLinkResult><LinkSet/></eLinkResult>", "<a xmlns:xml='http://www.w3.org/XML/1998/namespace'/>",
    "<eSpellResult><CorrectedQuery>\u202ea\u200bb</CorrectedQuery></eSpellResult>",
    '<s><Reply Id="672" error="&#x202e;"/><b>\u202e</b></s>',
)  # fmt: skip


def words_in(value):
    """Every text of an answer, but the fields of a record: these are the database's own."""
    if dataclasses.is_dataclass(value):
        named = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
        return words_in([one for name, one in named.items() if name not in {"fields", "left_out"}])
    if isinstance(value, str):
        return [value]
    if isinstance(value, list | tuple):
        return [word for one in value for word in words_in(one)]
    return []


@every
def test_any_answer_is_read_or_refused_and_nothing_in_it_deceives(entrez, monkeypatch, name):
    for body in (*HOSTILE, *DECEIVING):
        answering(monkeypatch, body)
        try:
            said = words_in(OPERATIONS[name](entrez))
        except PaperError as error:
            said = [str(error)]
        assert not set("".join(said)) & set(BAD[:1] + BAD[4:])


@every
def test_a_key_is_never_shown(settings, world, name):
    from utils import Library

    library = Library(**{**settings, "ncbi_api_key": "SECRET123"})
    with pytest.raises(NotConfigured) as refused:
        OPERATIONS[name](library.entrez)
    assert "SECRET123" not in str(refused.value.envelope())
    assert all(request.method == "POST" for request in world.requests)
