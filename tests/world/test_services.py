"""The stand-in internet can be trusted: it answers as the real services do."""

import json
import signal
import subprocess
import sys
from pathlib import Path
from urllib.parse import quote
from xml.etree import ElementTree as ET

import pytest

from tests.processes import Process
from tests.world import World
from tests.world.visits import efetch, esearch, get
from utils.demo import jats


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


def test_an_unknown_doi_degrades_to_a_search_of_its_pieces(world: World) -> None:
    assert "All Fields" in esearch(world, "10.9103/signals.2025[doi]")["querytranslation"]
    assert int(esearch(world, "10.9103/signals.2025[doi]")["count"]) > 1


def test_efetch_omits_unknown_ids_and_keeps_no_order(world: World) -> None:
    asked = [paper.pmid for paper in world.papers if paper.pmid]
    root = ET.fromstring(efetch(world, db="pubmed", id=",".join([*asked, "999"])))
    got = [node.text for node in root.iterfind("*/*/PMID")]
    assert sorted(map(str, got)) == sorted(asked)
    assert got != asked


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
        sys.executable, "-m", "tests.world", "--mood", "down:idconv", "--record", str(record),
    ]  # fmt: skip
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
