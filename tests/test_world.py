"""The stand-in internet can be trusted: it counts, limits, lies and breaks as it says."""

from __future__ import annotations

import hashlib
import http.client
import itertools
import json
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import quote, urlencode, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener, urlopen
from xml.etree import ElementTree as ET

import pytest

from tests.world import Record, World, jats
from tests.world.eutils import KEY
from tests.world.field import Field
from tests.world.index import entry_of
from tests.world.limits import Gate
from tests.world.moods import HUGE, MOODS
from tests.world.prose import body
from tests.world.wire import Call
from utils import Library, PaperError
from utils.identifiers import Ids
from utils.settings import load_settings


@pytest.fixture(scope="module")
def shared_world() -> Iterator[World]:
    with World() as world:
        yield world


@pytest.fixture
def world(shared_world: World) -> World:
    shared_world.reset()
    return shared_world


class Standstill:
    """A clock that stands still until told: what is counted per second is counted exactly."""

    now = 1_000_000.0

    def time(self) -> float:
        return self.now


@pytest.fixture
def standstill(monkeypatch: pytest.MonkeyPatch) -> Standstill:
    stage = Standstill()
    monkeypatch.setattr(time, "time", stage.time)
    return stage


class _Stay(HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None


def get(url: str, follow: bool = True, **headers: str) -> tuple[int, dict[str, str], bytes]:
    request = Request(url, headers=headers)
    try:
        answer = urlopen(request, timeout=5) if follow else build_opener(_Stay).open(request)
        with answer:
            return answer.status, dict(answer.headers), answer.read()
    except HTTPError as error:
        with error:
            return error.code, dict(error.headers), error.read()


def esearch(world: World, term: str, **more: str) -> dict[str, Any]:
    query = urlencode({"db": "pubmed", "term": term, "retmode": "json", "api_key": KEY, **more})
    body = get(f"{world.url('eutils')}/esearch.fcgi?{query}")[2]
    return json.loads(body, strict=False)["esearchresult"]


def efetch(world: World, **params: str) -> bytes:
    return get(f"{world.url('eutils')}/efetch.fcgi?{urlencode({'api_key': KEY, **params})}")[2]


def test_environment_is_what_the_settings_read(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in world.environment().items():
        monkeypatch.setenv(name, value)
    settings = load_settings()
    assert settings.eutils_base_url == world.url("eutils")
    assert settings.papers_allow_private_network
    assert settings.require_email("NCBI") == "tester@lab.edu"


def test_every_identifier_is_of_one_paper_only(world: World) -> None:
    for name in ("pmid", "pmcid", "doi"):
        given = [value.lower() for paper in world.papers if (value := getattr(paper, name))]
        assert len(given) == len(set(given))


def test_every_invented_paper_is_whole_and_says_its_own_things(world: World) -> None:
    spoken: dict[str, set[str]] = {}
    for paper in world.papers:
        root = ET.fromstring(jats.document(paper))
        text = " ".join("".join(node.itertext()) for node in root.iterfind("body//p"))
        whole = {"article": 900, "book": 900, "editorial": 380, "notice": 60}[paper.kind]
        assert len(text.split()) >= whole, paper.branch
        assert paper.plain_title[:20] in ET.tostring(root, "unicode", "text") or paper.vernacular
        spoken[paper.doi or paper.pmid] = set(text.split(". "))
    texts = list(spoken.values())
    shared = [len(a & b) / len(a) for at, a in enumerate(texts) for b in texts[at + 1 :]]
    assert max(shared) < 0.2


@pytest.mark.parametrize(
    ("term", "branches"),
    [
        ("CXCL12", ["pmc_cloud"]),
        ('"bone marrow slices" AND progenitors', ["pmc_cloud"]),
        ("Saccharomyces[mh] OR Dreams[mh]", ["europepmc_only", "efetch_only"]),
        ("titin[ti] NOT Retraction Notice[pt]", ["retracted"]),
        ("(butyrate OR (vacuolar acidity)) AND yeast[ti]", ["efetch_only"]),
        ("41000007[pmid]", ["retracted"]),
        ("10.9103/SIGNALS.2025.0001[doi]", ["pmc_cloud"]),
        ("PMC9100004[pmcid]", ["efetch_only"]),
        ("1967[dp]", ["no_abstract"]),
        ("1960:1998[dp] AND wall[ti]", ["sici"]),
        ('"1967/01/01"[EDAT] : "1967/12/31"[EDAT]', ["no_abstract"]),
        ("Varga I[au] AND dream*", ["europepmc_only"]),
    ],
)
def test_search_finds_what_the_query_means(world: World, term: str, branches: list[str]) -> None:
    found = [world.corpus.by_pmid[pmid].branch for pmid in esearch(world, term)["idlist"]]
    assert sorted(found) == sorted(branches)


def test_a_search_counts_and_pages_in_strings(world: World) -> None:
    whole = esearch(world, "hasabstract[sb]", retmax="1000")
    first = esearch(world, "hasabstract[sb]", retmax="5")
    second = esearch(world, "hasabstract[sb]", retmax="5", retstart="5")
    assert whole["count"] == first["count"] == str(len(whole["idlist"]))
    assert first["idlist"] + second["idlist"] == whole["idlist"][:10]


def test_what_a_search_could_not_use_is_said(world: World) -> None:
    assert esearch(world, "zzqqx")["errorlist"]["phrasesnotfound"] == ["zzqqx"]
    assert esearch(world, "CXCL12[Gene Symbol]")["errorlist"]["fieldsnotfound"] == ["Gene Symbol"]
    split = esearch(world, '"slices marrow"')
    assert split["warninglist"]["quotedphrasesnotfound"] == ['"slices marrow"']
    assert split["count"] == "1"


def test_a_backend_failure_is_a_200_with_error_in_capitals(world: World) -> None:
    assert list(esearch(world, "((")) == ["ERROR"]
    assert "9998" in esearch(world, "moss", retstart="9999")["ERROR"]


def test_an_unknown_doi_degrades_to_a_search_of_its_pieces(world: World) -> None:
    assert "All Fields" in esearch(world, "10.9103/signals.2025[doi]")["querytranslation"]
    assert int(esearch(world, "10.9103/signals.2025[doi]")["count"]) > 1


def test_history_serves_slices_of_the_search(world: World) -> None:
    kept = esearch(world, "hasabstract[sb]", usehistory="y", retmax="0")
    page = efetch(
        world,
        db="pubmed",
        WebEnv=kept["webenv"],
        query_key=kept["querykey"],
        retmax="3",
        retstart="2",
    )
    assert page.count(b"<PubmedArticle>") == 3
    assert b"Unable to obtain query" in efetch(world, db="pubmed", WebEnv="MCID_x", query_key="1")


def test_efetch_omits_unknown_ids_and_keeps_no_order(world: World) -> None:
    asked = [paper.pmid for paper in world.papers if paper.pmid]
    root = ET.fromstring(efetch(world, db="pubmed", id=",".join([*asked, "999"])))
    got = [node.text for node in root.iterfind("*/*/PMID")]
    assert sorted(map(str, got)) == sorted(asked)
    assert got != asked


def test_efetch_pmc_gives_bodies_front_matter_or_a_reply(world: World) -> None:
    numbers = [world.paper(name).number for name in ("efetch_only", "europepmc_only")]
    answer = efetch(world, db="pmc", id=",".join([*numbers, "123"]))
    root = ET.fromstring(answer)
    assert len(root.findall("article")) == 2
    assert len(root.findall("article/body")) == 1
    assert b"does not allow downloading of the full text" in answer
    assert root.find("Reply") is not None


def test_ncbi_refuses_the_fourth_request_in_a_second(world: World, standstill: Standstill) -> None:
    url = f"{world.url('eutils')}/einfo.fcgi"
    answers = [get(url) for _ in range(4)]
    assert [status for status, *_ in answers] == [200, 200, 200, 429]
    assert answers[-1][1]["Retry-After"] == "2"
    assert json.loads(answers[-1][2])["error"] == "API rate limit exceeded"
    standstill.now += 1
    assert get(url)[0] == 200


def test_a_blank_key_is_refused_and_echoed(world: World) -> None:
    status, _, body = get(f"{world.url('eutils')}/einfo.fcgi?api_key=")
    assert (status, json.loads(body)["error"]) == (400, "API key invalid")


def test_the_listing_holds_every_version_and_no_neighbour(world: World) -> None:
    query = urlencode({"list-type": "2", "prefix": "PMC9100002.", "delimiter": "/"})
    body = get(f"{world.url('pmc_cloud')}/?{query}")[2].decode()
    assert [f"PMC9100002.{at}/" in body for at in (1, 2, 10, 3)] == [True, True, True, False]
    assert "PMC9100001" not in body


def test_md5_is_that_of_the_file_unless_in_that_mood(world: World) -> None:
    base = world.url("pmc_cloud")
    told = json.loads(get(f"{base}/metadata/PMC9100001.1.json")[2])
    where, _, md5 = told["xml_url"].partition("?md5=")
    url = where.replace("s3://pmc-oa-opendata", base)
    assert hashlib.md5(get(url)[2]).hexdigest() == md5
    world.mood("md5_mismatch", "pmc_cloud")
    assert hashlib.md5(get(url)[2]).hexdigest() != md5
    assert get(f"{base}/PMC9100004.1/PMC9100004.1.xml")[0] == 404


def test_idconv_knows_only_pmc_and_one_kind_per_request(world: World) -> None:
    base = world.url("idconv")
    body = get(f"{base}/?ids=41000001,41000028&idtype=pmid&format=json")[2]
    inside, outside = json.loads(body)["records"]
    assert (inside["pmid"], inside["pmcid"]) == (41000001, "PMC9100001")
    assert "pmcid" not in outside
    assert get(f"{base}/?ids=41000001,PMC9100001&idtype=pmid&format=json")[0] == 400


def test_europe_pmc_answers_core_records_full_text_and_empty_404s(world: World) -> None:
    base, paper = world.url("europepmc"), world.paper("europepmc_only")
    query = urlencode({"query": f'DOI:"{paper.doi}"', "format": "json", "resultType": "core"})
    (row,) = json.loads(get(f"{base}/search?{query}")[2])["resultList"]["result"]
    assert (row["pmcid"], row["isOpenAccess"]) == (paper.pmcid, "Y")
    assert b"<body>" in get(f"{base}/{paper.pmcid}/fullTextXML")[2]
    assert get(f"{base}/PMC1/fullTextXML")[0::2] == (404, b"")
    assert b"errCode" in get(f"{base}/search?query=x&pageSize=0&format=json")[2]


def test_a_doi_leads_to_its_publisher_even_an_old_one(world: World) -> None:
    for branch in ("sici", "publisher_html"):
        paper = world.paper(branch)
        status, _, body = get(f"{world.url('doi')}/{quote(paper.doi)}")
        assert status == 200
        assert b"citation_title" in body
    assert get(f"{world.url('doi')}/10.1/unknown")[0] == 404


def test_publishers_and_the_repository_are_hosts_of_their_own(world: World) -> None:
    places = ("eutils", "meadow", "harbour", "summit", "repository")
    assert len({urlsplit(world.url(name)).netloc for name in places}) == len(places)


@pytest.mark.parametrize(
    ("branch", "status", "sign"),
    [
        ("publisher_html", 200, b"Discussion"),
        ("publisher_pdf", 200, b"citation_pdf_url"),
        ("publisher_meta_refresh", 200, b'http-equiv="refresh"'),
        ("jina_only", 403, b"Forbidden"),
        ("paywall", 200, b"Access options"),
        ("login", 200, b'type="password"'),
        ("captcha", 403, b"Just a moment"),
        ("captcha_200", 200, b"cf-turnstile"),
        ("bot_check", 200, b"cloudpmc-viewer-pow"),
        ("cookie_wall", 200, b"Cookies are disabled"),
        ("error_page", 200, b"Oops"),
        ("wrong_paper", 200, b"Prosodic phrasing"),
        ("partial", 200, b"Continue reading"),
        ("gone", 404, b"not found"),
    ],
)
def test_publishers_do_with_a_paper_what_its_branch_says(
    world: World, branch: str, status: int, sign: bytes
) -> None:
    answer = get(f"{world.url('doi')}/{quote(world.paper(branch).doi)}")
    assert answer[0] == status
    assert sign in answer[2]


def test_a_picky_publisher_likes_plain_headers(world: World) -> None:
    url = f"{world.url('doi')}/{quote(world.paper('publisher_picky').doi)}"
    assert get(url, Accept="text/html,application/pdf;q=0.9")[0] == 403
    assert get(url, Accept="*/*")[0] == 200


def test_copies_of_the_repository_are_what_they_should_be(world: World) -> None:
    starts = {"unpaywall_pdf": b"%PDF-", "html_as_pdf": b"<!DOCT", "unpaywall_html": b"<!DOCT"}
    for branch, start in starts.items():
        doi = quote(world.paper(branch).doi)
        told = json.loads(get(f"{world.url('unpaywall')}/{doi}?email=tester@lab.edu")[2])
        assert get(told["best_oa_location"]["url"])[2].startswith(start)
    assert get(f"{world.url('unpaywall')}/{doi}?email=you@example.com")[0] == 422
    assert get(f"{world.url('unpaywall')}/10.1/unknown?email=tester@lab.edu")[0] == 404


def test_a_pdf_holds_its_text_and_a_scan_none(world: World) -> None:
    import pypdfium2

    texts = []
    for branch in ("unpaywall_pdf", "scanned_pdf"):
        item = quote(world.paper(branch).doi, safe="")
        body = get(f"{world.url('repository')}/item/{item}/download")[2]
        document = pypdfium2.PdfDocument(body)
        texts.append("".join(page.get_textpage().get_text_range() for page in document))
        document.close()
    assert "asymptomatic carriers" in texts[0]
    assert len(texts[0].split()) > 900
    assert not texts[1].strip()


def test_arxiv_wants_three_seconds_between_queries(world: World, standstill: Standstill) -> None:
    url = f"{world.url('arxiv')}/api/query?id_list=2511.04014"
    assert b"levitated droplets" in get(url)[2]
    status, headers, body = get(url)
    assert (status, body) == (429, b"Rate exceeded.")
    assert "Retry-After" not in headers
    standstill.now += 3
    assert get(url)[0] == 200
    standstill.now += 3
    assert b"incorrect id format" in get(f"{world.url('arxiv')}/api/query?id_list=abc")[2]
    assert get(f"{world.url('arxiv')}/pdf/2511.04014v2")[2].startswith(b"%PDF-")


def test_reader_says_200_and_warns_about_walls(world: World) -> None:
    base = world.url("jina_reader")
    open_page = f"{base}/{world.url('doi')}/{quote(world.paper('jina_only').doi)}"
    status, _, body = get(open_page)
    assert status == 200
    assert body.startswith(b"Title: ")
    assert b"\n\nMarkdown Content:\n" in body
    assert json.loads(get(open_page, Accept="application/json")[2])["code"] == 200
    walled = get(f"{base}/{world.url('doi')}/{quote(world.paper('captcha').doi)}")
    assert walled[0] == 200
    assert b"Warning: Target URL returned error 403: Forbidden" in walled[2]
    world.jina_networks_blocked = True
    assert json.loads(get(open_page)[2])["name"] == "AuthenticationRequiredError"
    assert get(open_page, Authorization="Bearer jina_x")[0] == 200
    assert get(f"{world.url('jina_search')}/?q=moss")[0] == 401


def test_crossref_and_semantic_scholar_know_papers_by_doi(world: World) -> None:
    paper = world.paper("retracted")
    told = json.loads(get(f"{world.url('crossref')}/works/{quote(paper.doi)}")[2])["message"]
    assert told["updated-by"][0]["type"] == "retraction"
    assert get(f"{world.url('crossref')}/works/10.1/x")[0::2] == (404, b"Resource not found.")
    base = world.url("semantic_scholar")
    row = json.loads(get(f"{base}/paper/DOI:{quote(paper.doi)}?fields=title,externalIds")[2])
    assert row["externalIds"]["PubMed"] == paper.pmid
    assert get(f"{base}/paper/DOI:10.1/x")[0] == 404


def test_every_request_is_written_down(world: World) -> None:
    get(f"{world.url('eutils')}/einfo.fcgi?db=pubmed", Accept="text/xml")
    (seen,) = world.requests
    assert (seen.service, seen.path, seen.status) == ("eutils", "/einfo.fcgi", 200)
    assert seen.params == {"db": "pubmed"}
    assert seen.headers["accept"] == "text/xml"
    world.reset()
    assert world.requests == []


def test_a_mood_lasts_as_often_as_it_was_told(world: World) -> None:
    url = f"{world.url('idconv')}/?ids=41000001&idtype=pmid&format=json"
    world.mood("storm", "idconv", times=2, seconds=7)
    answers = [get(url) for _ in range(3)]
    assert [status for status, *_ in answers] == [429, 429, 200]
    assert answers[0][1]["Retry-After"] == "7"
    world.mood("down", "europepmc")
    assert get(url)[0] == 200
    assert [get(f"{world.url('europepmc')}/search")[0] for _ in range(3)] == [503] * 3
    world.calm()
    assert get(f"{world.url('europepmc')}/search")[0] == 200


def test_a_wrong_mood_is_refused(world: World) -> None:
    with pytest.raises(ValueError, match="unknown mood"):
        world.mood("cheerful")


XML = "/PMC9100001.1/PMC9100001.1.xml"


def test_broken_wires_break(world: World) -> None:
    world.mood("reset", "pmc_cloud", times=1)
    with pytest.raises(ConnectionError):
        get(world.url("pmc_cloud") + XML)
    world.mood("truncate", "pmc_cloud", times=1)
    with pytest.raises(http.client.IncompleteRead):
        get(world.url("pmc_cloud") + XML)


@pytest.mark.parametrize(
    ("mood", "sign"),
    [
        ("xml_bomb", b"&l11;"),
        ("external_entity", b"file:///etc/passwd"),
        ("deep_nesting", b"<sec><sec><sec>"),
        ("captcha", b"Just a moment"),
        ("paywall", b"Buy this article"),
        ("login", b"password"),
        ("wrong_paper", b"Prosodic phrasing"),
        ("mislabel", b"CXCL12"),
    ],
)
def test_hostile_bodies_are_hostile(world: World, mood: str, sign: bytes) -> None:
    world.mood(mood, "europepmc")
    status, headers, body = get(f"{world.url('europepmc')}/PMC9100001/fullTextXML")
    assert status == 200
    assert sign in body
    assert headers["Content-Type"] != "text/xml; charset=UTF-8" or mood != "mislabel"


def test_redirects_lead_astray(world: World) -> None:
    url = world.url("pmc_cloud") + XML
    world.mood("redirect_loop", "pmc_cloud", times=1)
    assert get(url, follow=False)[1]["Location"] == urlsplit(url).path
    world.mood("ssrf", "pmc_cloud", times=1)
    assert "169.254.169.254" in get(url, follow=False)[1]["Location"]


def test_huge_answers_are_huge_and_bombs_are_small_on_the_wire(world: World) -> None:
    import zlib

    world.mood("gzip_bomb", "pmc_cloud", times=1)
    packed = get(world.url("pmc_cloud") + XML)[2]
    unpacker = zlib.decompressobj(31)
    assert len(packed) < HUGE / 100
    assert len(unpacker.decompress(packed, 10_000_000)) == 10_000_000
    world.mood("huge", "pmc_cloud", times=1)
    with urlopen(world.url("pmc_cloud") + XML, timeout=5) as answer:
        assert len(answer.read(5_000_000)) == 5_000_000
        assert answer.headers["Content-Length"] is None


def test_all_moods_but_the_slow_ones_answer_every_service(world: World) -> None:
    wires = {"reset", "truncate", "drip", "slow_headers", "huge", "gzip_bomb"}
    for mood in set(MOODS) - wires:
        world.mood(mood, times=1)
        assert get(f"{world.url('eutils')}/einfo.fcgi?api_key={KEY}", follow=False)[0] in {
            200,
            302,
            429,
            503,
        }
        world.calm()


def test_no_more_than_9999_hits_come_however_many_there_are() -> None:
    with World(crowd=10_400) as world:
        last = esearch(world, "crowd[ti]", retstart="9998", retmax="10")
        assert (last["count"], len(last["idlist"])) == ("10400", 1)
        assert "Restrictions achieved" in last["warninglist"]["outputmessages"][0]
        early = esearch(world, "crowd[ti] AND 1900/01/01:2023/02/19[edat]")
        late = esearch(world, "crowd[ti]", mindate="2023/02/20", maxdate="2100", datetype="edat")
        assert int(early["count"]) + int(late["count"]) == 10_400
        assert esearch(world, "crowd[ti] AND 2023/01/01[dp]")["count"] == "10400"
        kept = esearch(world, "crowd[ti]", usehistory="y", retmax="0")
        page = efetch(
            world, db="pubmed", WebEnv=kept["webenv"], query_key="1", retstart="9990", retmax="50"
        )
        assert page.count(b"<PubmedArticle>") == 9


def test_beyond_9999_hits_entrez_dates_slice_exactly() -> None:
    with World(crowd=25_000) as world:
        assert esearch(world, "crowd[ti]", retmax="0")["count"] == "25000"
        clamped = esearch(world, "crowd[ti]", retmax="100000")
        assert (clamped["retmax"], len(clamped["idlist"])) == ("9999", 9999)
        assert list(esearch(world, "crowd[ti]", retstart="9999")) == ["ERROR"]
        found: set[str] = set()
        months = ["2023/01/01", "2023/03/01", "2023/05/01", "2023/07/01", "2023/09/10"]
        for first, last in itertools.pairwise(months):
            time.sleep(1)
            term = f'crowd[ti] AND ("{first}"[EDAT] : "{last}"[EDAT])'
            in_term = esearch(world, term, retmax="9999")
            dates = {"mindate": first, "maxdate": last, "datetype": "edat"}
            by_params = esearch(world, "crowd[ti]", retmax="9999", **dates)
            assert in_term["idlist"] == by_params["idlist"]
            assert int(in_term["count"]) == len(in_term["idlist"])
            found.update(in_term["idlist"])
        assert len(found) == 25_000


@pytest.fixture(scope="module")
def shared_field() -> Iterator[World]:
    with World(field=300) as world:
        yield world


@pytest.fixture
def field_world(shared_field: World) -> World:
    shared_field.reset()
    return shared_field


def test_a_field_is_the_same_every_time_and_every_paper_differs() -> None:
    field, again = Field(300), Field(100_000)
    assert list(field) == again[:300]
    assert len({paper.title for paper in again[:20_000]}) == 20_000
    assert again.by_pmid(again[99_999].pmid) == again[99_999]
    assert field.by_pmid(again[300].pmid) is None
    texts = [
        {
            sentence
            for _, paragraphs in body(paper)
            for text in paragraphs
            for sentence in text.split(". ")
        }
        for paper in (*field[:17], *field[17:170:17])
    ]
    shared = [len(a & b) / len(a) for at, a in enumerate(texts) for b in texts[at + 1 :]]
    assert max(shared) < 0.2


def test_a_field_is_found_by_every_name_and_holds_the_whole_mix(field_world: World) -> None:
    field, corpus = field_world.field, field_world.corpus
    for paper in field:
        assert corpus.by_pmid[paper.pmid] == paper
        assert not paper.pmcid or corpus.by_pmcid[paper.pmcid] == paper
        assert not paper.doi or corpus.by_doi.get(paper.doi.lower()) == paper
        assert not paper.arxiv or corpus.by_arxiv.get(paper.arxiv) == paper
        if not paper.pmcid:
            assert field.by_pmcid(f"PMC{paper.pmid}") is None
    hundreds = [Counter(paper.branch for paper in field[at : at + 100]) for at in (0, 100, 200)]
    assert hundreds[0] == hundreds[1] == hundreds[2]
    assert Counter(paper.expected for paper in field) == {"full_text": 261, "abstract": 39}


@pytest.mark.parametrize(
    ("more", "wanted"),
    [
        ("", lambda paper: True),
        (" AND pubmed pmc[sb]", lambda paper: paper.pmcid),
        (" NOT pubmed pmc[sb]", lambda paper: not paper.pmcid),
        (
            " AND free full text[sb]",
            lambda paper: paper.pmcid or paper.branch.startswith("publisher"),
        ),
        (" AND hasabstract", lambda paper: True),
        (" AND hasabstract[text] AND coral[mh]", lambda paper: paper.topic == "coral"),
        (" AND Retracted Publication[pt]", lambda paper: paper.retracted),
        (" AND 2019[dp]", lambda paper: paper.year == "2019"),
        (
            ' AND ("2020/02/01"[EDAT] : "2020/12/31"[EDAT])',
            lambda paper: "2020-02" <= paper.entered < "2021",
        ),
        (" AND open bench[ta]", lambda paper: paper.journal.title == "Open Bench"),
        (" AND Adeyemi[1au]", lambda paper: paper.authors[0][0] == "Adeyemi"),
    ],
)
def test_a_field_is_found_together_with_whatever_else_is_asked(
    field_world: World, more: str, wanted: Callable[[Record], Any]
) -> None:
    found = esearch(field_world, f"field[ti]{more}", retmax="1000", mindate="2000", maxdate="2030")
    assert sorted(found["idlist"]) == [p.pmid for p in field_world.field if wanted(p)]
    assert "errorlist" not in found


def test_what_pubmed_says_of_a_field_is_what_its_search_knows(field_world: World) -> None:
    for paper, seen in zip(field_world.field[:60], field_world.field.entries(), strict=False):
        whole = entry_of(paper)
        for name in ("pmid", "title", "authors", "first", "journal", "mesh", "types", "language"):
            assert getattr(seen, name) == getattr(whole, name), name
        for name in ("published", "entered", "doi", "subset"):
            assert getattr(seen, name) == getattr(whole, name), name


def test_many_records_come_by_post_and_many_articles_in_one_answer(field_world: World) -> None:
    papers = field_world.field[:250]
    form = {"db": "pubmed", "id": ",".join(p.pmid for p in papers), "api_key": KEY}
    url = f"{field_world.url('eutils')}/efetch.fcgi"
    with urlopen(Request(url, urlencode(form).encode()), timeout=30) as answer:
        got = [node.text for node in ET.parse(answer).getroot().iterfind("*/*/PMID")]
    assert sorted(map(str, got)) == [p.pmid for p in papers]
    asked = [p for p in papers if p.efetch][:20]
    numbers = [p.number for p in asked]
    root = ET.fromstring(efetch(field_world, db="pmc", id=",".join([*numbers, "999999999"])))
    came = [node.text for node in root.iterfind("article//article-id[@pub-id-type='pmcaid']")]
    assert sorted(map(str, came)) == sorted(numbers)
    assert came != numbers
    assert [node.get("Id") for node in root.iterfind("Reply")] == ["999999999"]
    bodies = [node.find("body") is not None for node in root.iterfind("article")]
    assert sum(bodies) == sum(p.efetch == "body" for p in asked)


def test_a_hundred_papers_of_a_field_end_as_a_perfect_downloader_would(
    field_world: World, tmp_path: Path
) -> None:
    urls = {name.lower(): value for name, value in field_world.environment().items()}
    library = Library(papers_dir=tmp_path / "papers", papers_pace_dir=tmp_path / "pace", **urls)
    wanted = [Ids(pmid=paper.pmid) for paper in field_world.field[:100]]
    for ids, done in library.download_many(wanted):
        paper = field_world.record(ids.pmid)
        assert paper
        assert not isinstance(done, PaperError), (paper.branch, done)
        assert done.stored.kind == paper.expected, (paper.branch, done.stored.attempts)
        text = Path(done.file_path).read_text()
        assert paper.plain_title in text
    library.shelf.close()


@pytest.fixture(scope="module")
def strict_world() -> Iterator[World]:
    with World(latency=0.001) as world:
        yield world


@pytest.mark.parametrize(
    ("host", "path", "burst", "seconds"),
    [
        ("europepmc", "/search?query=x&format=json", 5, 1),
        ("crossref", "/works/10.1/x", 5, 1),
        ("crossref", "/works/10.1/x?mailto=me@lab.edu", 10, 1),
        ("crossref", "/works?query=x&mailto=me@lab.edu", 3, 1),
        ("unpaywall", "/10.1/x?email=me@lab.edu", 10, 1),
        ("semantic_scholar", "/paper/DOI:10.1/x", 1, 1),
        ("arxiv", "/pdf/2511.04014", 1, 3),
        ("idconv", "/?ids=1&idtype=pmid", 3, 1),
        ("jina_reader", "/http://x.org/10.1/x", 20, 60),
        ("meadow", "/", 1, 1),
        ("repository", "/", 1, 1),
    ],
)
def test_every_limit_is_enforced_and_counted(
    strict_world: World, standstill: Standstill, host: str, path: str, burst: int, seconds: int
) -> None:
    strict_world.reset()
    url = strict_world.url(host) + path
    answers = [get(url) for _ in range(burst + 1)]
    assert [status == 429 for status, *_ in answers] == [False] * burst + [True]
    assert strict_world.refused == {host: 1}
    standstill.now += seconds
    assert [get(url)[0] == 429 for _ in range(burst + 1)] == [False] * burst + [True]


def test_a_little_early_is_served_but_not_again_and_again(
    strict_world: World, standstill: Standstill
) -> None:
    strict_world.reset()
    refused = 0
    for _ in range(40):
        refused += get(strict_world.url("harbour"))[0] == 429
        standstill.now += 0.9
    assert refused >= 3
    strict_world.reset()
    for early in (0.0, 0.2, 0.0, 0.24, 0.1):
        standstill.now += 1
        standstill.now -= early
        assert get(strict_world.url("harbour"))[0] == 404
        standstill.now += early


def test_crossref_wants_few_at_once() -> None:
    gate = Gate(strict=True)
    call = Call(0.0, "crossref", "GET", "/works/10.1/x", "", (), {}, b"", "")
    gate.under_way["crossref"] = 1
    assert gate.enter("crossref", call) == 0
    gate.under_way["crossref"] = 2
    assert gate.enter("crossref", call) > 0


@pytest.mark.real_time
def test_latency_is_real_and_answers_wait_side_by_side() -> None:
    with World(latency=0.2) as world, ThreadPoolExecutor(8) as pool:
        url = f"{world.url('eutils')}/einfo.fcgi?api_key={KEY}"
        began = time.monotonic()
        assert [status for status, *_ in pool.map(get, [url] * 8)] == [200] * 8
        seconds = time.monotonic() - began
    assert seconds >= 0.2
    assert seconds < 8 * 0.2


def test_the_world_runs_by_hand_and_prints_its_environment(tmp_path: Path) -> None:
    root = Path(__file__).resolve().parents[1]
    record = tmp_path / "requests.jsonl"
    command = [
        sys.executable,
        "-m",
        "tests.world",
        "--mood",
        "down:idconv",
        "--record",
        str(record),
    ]
    with subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        lines = [process.stdout.readline().strip() for _ in range(12)]
        environment = dict(line.split("=", 1) for line in lines)
        assert get(f"{environment['EUTILS_BASE_URL']}/einfo.fcgi")[0] == 200
        assert get(environment["IDCONV_BASE_URL"])[0] == 503
        process.send_signal(signal.SIGINT)
        assert process.wait(10) == 0
    rows = [json.loads(line) for line in record.read_text().splitlines()]
    assert [row["status"] for row in rows] == [200, 503]


@pytest.mark.shared
def test_recorded_articles_are_spread_over_the_ladder(shared: Path) -> None:
    with World(corpus=shared) as world:
        branches = {paper.branch for paper in world.papers}
        assert {"pmc_cloud", "efetch_only", "europepmc_only", "publisher_html"} <= branches
        paper = world.paper("efetch_only")
        assert b"<body" in efetch(world, db="pmc", id=paper.number)
        page = get(f"{world.url('doi')}/{quote(world.paper('publisher_html').doi)}")[2]
        assert len(page) > 10_000
