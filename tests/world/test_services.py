"""The stand-in internet can be trusted: it answers as the real services do."""

import hashlib
import json
import signal
import subprocess
import sys
from pathlib import Path
from urllib.parse import quote, urlencode, urlsplit
from xml.etree import ElementTree as ET

import pytest

from tests.processes import Process
from tests.world import World, jats
from tests.world.eutils import KEY
from tests.world.visits import efetch, esearch, get
from utils.settings import load_settings


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


def test_a_set_of_pmc_is_kept_and_filtered_on_the_history_server(world: World) -> None:
    branches = ("pmc_cloud", "pmc_manuscript", "efetch_only", "retracted")
    numbers = [world.paper(name).number for name in branches]
    form = urlencode({"db": "pmc", "id": ",".join(numbers), "api_key": KEY})
    root = ET.fromstring(get(f"{world.url('eutils')}/epost.fcgi?{form}")[2])
    place = {"WebEnv": root.findtext("WebEnv", ""), "query_key": root.findtext("QueryKey", "")}
    told = esearch(world, "open+access[filter]", db="pmc", usehistory="y", **place)
    assert sorted(told["idlist"]) == sorted([numbers[0], numbers[3]])
    where = {"WebEnv": told["webenv"], "query_key": told["querykey"]}
    assert efetch(world, db="pmc", retmax="10", **where).count(b"<body>") == 2
    assert list(esearch(world, "x", db="pmc", WebEnv="MCID_x", query_key="1")) == ["ERROR"]


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


def test_pmc_shows_scripts_its_bot_check_and_europe_pmc_its_pdfs(world: World) -> None:
    page = "https://www.ncbi.nlm.nih.gov/pmc/articles/PMC9100001/"
    assert b"Preparing to download" in get(f"{world.url('jina_reader')}/{page}")[2]
    pdf = f"{world.url('europepmc')}/backend/ptpmcrender.fcgi?blobtype=pdf&accid="
    assert get(f"{pdf}PMC9100001")[2].startswith(b"%PDF-")
    assert get(f"{pdf}PMC9100004")[0] == 404


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


def test_the_world_runs_by_hand_and_prints_its_environment(tmp_path: Path) -> None:
    root = Path(__file__).resolve().parents[2]
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
    with Process(command, cwd=root, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        lines = iter(process.stdout.readline, "PUBMED_EMAIL=tester@lab.edu\n")  # the last one
        environment = dict(line.strip().split("=", 1) for line in lines)
        assert get(f"{environment['EUTILS_BASE_URL']}/einfo.fcgi")[0] == 200
        assert get(environment["IDCONV_BASE_URL"])[0] == 503
        process.send_signal(signal.SIGINT)
        assert process.wait() == 0
    rows = [json.loads(line) for line in record.read_text(encoding="utf-8").splitlines()]
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
