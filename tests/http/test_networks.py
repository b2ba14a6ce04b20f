"""Papershelf where people sit: in hospitals, universities and on clusters; and on a train.

Real processes behind real proxies, one of which looks into encrypted traffic, with the stand-in
internet encrypted behind them.
"""

import itertools
import json
import os
import shutil
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.forward_proxies import Authority, Proxy
from tests.harvests import assert_kept, done, ids_of, torn
from tests.processes import Process, eventually, run
from tests.repeats import repeats
from tests.test_key_leaks import kept, leaks
from tests.world import Record, World
from utils import Library, cli
from utils.demo.wire import Call, Reply
from utils.harvest.jobs import Harvest
from utils.model.sites import SITES

pytestmark = pytest.mark.slow

SERVICES = {site.addresses[0].service for site in SITES}  # two may share one
SERVER = str(Path(__file__).resolve().parents[2] / "server.py")
PASSWORD = "pl4nted p@ss/w0rd%"
LOGIN = "me:pl4nted%20p%40ss%2Fw0rd%25"


@pytest.fixture(scope="module")
def authorities(tmp_path_factory: pytest.TempPathFactory) -> tuple[Authority, Authority]:
    """The network's own, and the one that the world has its certificates from."""
    folder = tmp_path_factory.mktemp("authorities")
    return Authority(folder / "own", "Acme Inspection"), Authority(folder / "theirs", "Trusted")


@pytest.fixture(scope="module")
def context(authorities: tuple[Authority, Authority]) -> ssl.SSLContext:
    """What every site shows to who connects to it."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authorities[1].ca.issue_cert("localhost").configure_cert(context)
    return context


@pytest.fixture(scope="module")
def encrypted(context: ssl.SSLContext) -> Iterator[World]:
    with World(tls=context) as world:
        yield world


@pytest.fixture
def place(encrypted: World, tmp_path: Path) -> Callable[..., dict[str, str]]:
    """The environment of a user there."""
    encrypted.reset()

    def make(**more: object) -> dict[str, str]:
        kept = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT") if name in os.environ}
        folders = {"PAPERS_DIR": tmp_path / "papers", "PAPERS_PACE_DIR": tmp_path / "pace"}
        told = {**encrypted.environment(), **folders, "HOME": tmp_path, **more}
        return {**kept, **{name: str(value) for name, value in told.items()}}

    return make


def shell(environment: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    return run([sys.executable, SERVER, *arguments], env=environment)


@pytest.mark.skipif(not shutil.which("openssl"), reason="proxy.py signs with the openssl command")
def test_behind_a_proxy_that_looks_into_everything(
    authorities, encrypted: World, place, tmp_path: Path
) -> None:
    own, _ = authorities
    proxy = Proxy(tmp_path / "proxy", f"me:{PASSWORD}", inspects=authorities)
    environment = place(HTTPS_PROXY=f"http://{LOGIN}@{proxy.place}")
    paper = encrypted.paper("publisher_pdf").pmid

    told = shell(environment, "download", paper)
    assert told.returncode == 3
    assert "certificate that cannot be trusted" in told.stdout
    assert "export PAPERS_CA_BUNDLE=" in told.stdout
    assert "again in" not in told.stdout + told.stderr

    seen = shell(environment, "doctor")
    assert seen.returncode == 3
    trouble = [line for line in seen.stdout.splitlines() if line.startswith("✗")]
    assert len(trouble) == 1
    showed = "services presented a certificate issued by “Acme Inspection”"
    assert f"all {len(SERVICES)} {showed}" in trouble[0]
    assert f"http://***@{proxy.place} (HTTPS_PROXY) for all {len(SERVICES)} services" in seen.stdout
    assert "export PAPERS_CA_BUNDLE=/path/to/ca.pem" in seen.stdout
    assert encrypted.requests == []  # looking at a certificate sends nothing

    environment["PAPERS_CA_BUNDLE"] = str(own.cert)
    got = shell(environment, "download", paper, encrypted.paper("pmc_cloud").pmid)
    assert got.returncode == 0, got.stdout
    assert got.stdout.count("●") == 2
    assert encrypted.requests
    well = shell(environment, "doctor")
    assert well.returncode == 0, well.stdout
    assert f"{own.cert} (PAPERS_CA_BUNDLE)" in well.stdout

    said = [part for done in (told, seen, got, well) for part in (done.stdout, done.stderr)]
    said += kept(tmp_path / "papers", tmp_path / "pace")
    assert leaks({"password": PASSWORD}, *said) == []


def test_a_harvest_ends_at_what_only_a_person_can_mend_and_goes_on_afterwards(
    authorities, encrypted: World, place
) -> None:
    papers = [paper.pmid for paper in encrypted.papers if paper.branch == "pmc_cloud"][:3]
    stopped = shell(place(), "harvest", *papers)
    assert stopped.returncode == 3
    assert "certificate that cannot be trusted" in stopped.stderr
    assert "export PAPERS_CA_BUNDLE=" in stopped.stderr
    assert "later" not in stopped.stdout + stopped.stderr
    went_on = shell(place(PAPERS_CA_BUNDLE=authorities[1].cert), "harvest", *papers)
    assert went_on.returncode == 0, went_on.stdout
    assert f"{len(set(papers))} full text" in went_on.stdout


@pytest.mark.parametrize(
    ("login", "words"),
    [("", "wants a user name and a password"), ("me:wrong@", "refuses that user name")],
    ids=["missing", "wrong"],
)
def test_a_proxy_that_says_no_is_one_trouble(place, tmp_path, login: str, words: str) -> None:
    proxy = Proxy(tmp_path / "proxy", f"me:{PASSWORD}")
    environment = place(HTTPS_PROXY=f"http://{login}{proxy.place}")
    seen = shell(environment, "doctor", "--json")
    assert seen.returncode == 3
    rows = [json.loads(line) for line in seen.stdout.splitlines()]
    (trouble,) = [row for row in rows if row["state"] == "problem"]
    assert trouble["what"] == "network"
    assert words in trouble["detail"]
    assert f"export HTTPS_PROXY=http://USER:PASSWORD@{proxy.place}" in trouble["advice"]
    assert "wrong" not in seen.stdout.replace("wrong user name", "")

    done = shell(environment, "download", "41000001", "--json")
    assert done.returncode == 3
    assert words in done.stdout
    assert "again in a minute" not in done.stdout + done.stderr


def test_a_proxy_that_dies_in_mid_run_costs_no_paper(
    authorities, encrypted: World, place, tmp_path: Path
) -> None:
    _, theirs = authorities
    proxy = Proxy(tmp_path / "proxy")
    environment = place(HTTPS_PROXY=proxy.place, PAPERS_CA_BUNDLE=theirs.cert, NCBI_MAX_RETRIES="1")
    papers = [paper.pmid for paper in encrypted.papers if paper.branch == "pmc_cloud"][:3]
    papers += [encrypted.paper(branch).pmid for branch in ("publisher_pdf", "europepmc_only")]
    with Process(
        [sys.executable, SERVER, "download", "--json", *papers],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert eventually(lambda: len(encrypted.requests) >= 3)
        proxy.die()
        out, _ = process.communicate()
    rows = [json.loads(line) for line in out.splitlines()]
    assert process.returncode in (1, 3), out
    assert any("the proxy" in json.dumps(row) for row in rows)
    Proxy(tmp_path / "proxy", port=proxy.port)
    again = shell(environment, "download", "--force", "--json", *papers)
    assert again.returncode == 0, again.stdout
    got = [json.loads(line) for line in again.stdout.splitlines()]
    assert [row["kind"] for row in got] == ["full_text"] * len(papers)


# Harvests in a network that changes under them. On the stage clock: waits pass at once.


@pytest.fixture
def harvester(encrypted: World, authorities, tmp_path: Path) -> Iterator[Callable[..., Library]]:
    encrypted.reset()
    made: list[Library] = []

    def make(**more: object) -> Library:
        folders = {"papers_dir": tmp_path / "papers", "papers_pace_dir": tmp_path / "pace"}
        addresses = {name.lower(): value for name, value in encrypted.environment().items()}
        trusted = {"papers_ca_bundle": authorities[1].cert, "ncbi_max_retries": 2}
        made.append(Library(**{**addresses, **folders, **trusted, **more}))
        return made[-1]

    yield make
    for library in made:
        library.shelf.close()


def harvested(world: World) -> list[Record]:
    """Papers of many sites."""
    branches = ("pmc_cloud", "efetch_only", "europepmc_only", "publisher_html", "unpaywall_html")
    branches += ("publisher_pdf", "arxiv", "paywall", "retracted", "editorial")
    return [world.paper(branch) for branch in branches]


def assert_nothing_lost(library: Library, harvest: Harvest, records: list[Record]) -> None:
    """Every paper ended as its record promises; one address may have answered, and another not."""
    assert [row.state for row in harvest.ledger.read_outcomes()] == [
        paper.expected for paper in records
    ]
    assert not torn(library.shelf.folder)
    assert_kept(library.shelf.folder, harvest.ledger.path)


@pytest.fixture
def midway(encrypted: World, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Have something happen when papers are known, and before any publisher was asked."""

    def arrange(happens: Callable[[], object]) -> None:
        numbers, real = itertools.count(1), encrypted._main.answer

        def answer(call: Call) -> Reply:
            if next(numbers) == 4:
                happens()
            return real(call)

        monkeypatch.setattr(encrypted._main, "answer", answer)

    return arrange


def test_a_proxy_that_dies_in_mid_harvest_and_comes_back_loses_nothing(
    encrypted: World, harvester, midway, tmp_path: Path
) -> None:
    records = harvested(encrypted)
    proxy = Proxy(tmp_path / "proxy")
    library = harvester(https_proxy=proxy.place)
    harvest = library.harvest(map(ids_of, records))
    midway(proxy.die)
    done(harvest)
    assert harvest.job().counts.failed == 0
    silent = [row for row in harvest.ledger.read_outcomes() if row.reason == "unreachable"]
    assert silent
    assert any("proxy" in row.detail for row in silent)
    before = len(encrypted.requests)
    Proxy(tmp_path / "proxy", port=proxy.port)
    time.sleep(61)
    done(harvest)
    assert len(encrypted.requests) > before
    assert repeats(encrypted.requests).total() <= 8  # what was under way when it died
    assert_nothing_lost(library, harvest, records)


@pytest.fixture
def shows(context: ssl.SSLContext, authorities) -> Iterator[Callable[[Authority], None]]:
    """Have every site show a certificate of this authority from now on."""

    def change(authority: Authority) -> None:
        authority.ca.issue_cert("localhost").configure_cert(context)

    yield change
    change(authorities[1])


def test_a_certificate_that_is_renewed_in_mid_harvest_is_not_noticed(
    authorities, encrypted: World, harvester, midway, shows
) -> None:
    records = harvested(encrypted)
    library = harvester()
    harvest = library.harvest(map(ids_of, records))
    midway(lambda: shows(authorities[1]))
    done(harvest)
    assert not repeats(encrypted.requests)
    assert_nothing_lost(library, harvest, records)


def test_a_certificate_of_a_stranger_in_mid_harvest_costs_no_paper(
    authorities, encrypted: World, harvester, midway, shows
) -> None:
    """A firewall that begins to look into everything: until its authority is trusted, too."""
    records = harvested(encrypted)
    harvest = (first := harvester()).harvest(map(ids_of, records))
    midway(lambda: shows(authorities[0]))
    done(harvest)
    assert harvest.job().counts.failed == 0
    told = [
        a
        for row in harvest.ledger.read_outcomes()
        for a in row.attempts
        if a.outcome == "unreachable"
    ]
    assert any("certificate" in attempt.detail for attempt in told)
    first.shelf.close()
    time.sleep(61)
    second = harvester(papers_ca_bundle=authorities[0].cert)
    again = second.harvest(map(ids_of, records))
    done(again)
    assert not repeats(encrypted.requests)
    assert_nothing_lost(second, again, records)


# On a train


@pytest.fixture
def on_a_train(monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")

    monkeypatch.setattr(socket, "getaddrinfo", nobody)
    monkeypatch.setenv("PUBMED_EMAIL", "tester@lab.edu")


@pytest.mark.usefixtures("on_a_train")
def test_the_doctor_says_once_that_we_are_offline(capsys) -> None:
    assert cli.main(["doctor"]) == 3
    said = capsys.readouterr().out
    assert said.count("offline") == 1
    assert said.count("✗") == 1
    assert f"✗ network: you are offline: all {len(SERVICES)} services" in said


def test_services_that_are_down_are_not_the_network(library: Library, world: World) -> None:
    world.mood("down", times=None)
    checks = library.doctor()
    assert "network" not in {check.what for check in checks}


def test_a_firewall_that_answers_nothing_is_one_trouble(monkeypatch, capsys, settings) -> None:
    for name, value in settings.items():
        free = "http://127.0.0.1:9" if name.endswith("_base_url") else value
        monkeypatch.setenv(name.upper(), str(free))
    assert cli.main(["doctor"]) == 3
    said = capsys.readouterr().out
    assert said.count("✗") == 1
    assert "export HTTPS_PROXY=" in said


def test_one_site_behind_a_bad_certificate_is_named_alone(
    settings, encrypted: World, capsys, monkeypatch
) -> None:
    settings["crossref_base_url"] = encrypted.url("crossref")
    library = Library(**settings)
    checks = {check.what: check for check in library.doctor() if check.state == "problem"}
    library.shelf.close()
    assert list(checks) == ["certificates"]
    host = encrypted.url("crossref").split("/")[2]
    assert checks["certificates"].detail.startswith(
        f"{host} presented a certificate issued by “Tru"
    )


def test_a_bundle_that_is_missing_is_told_before_anybody_is_asked(
    settings, world: World, tmp_path
) -> None:
    library = Library(**settings, papers_ca_bundle=tmp_path / "none.pem")
    problems = [check for check in library.doctor() if check.state == "problem"]
    library.shelf.close()
    assert len(problems) == 1
    assert "PAPERS_CA_BUNDLE" in problems[0].detail
    assert world.requests == []


def test_a_proxy_for_http_alone_is_a_likely_mistake(place, monkeypatch) -> None:
    library = Library(http_proxy="http://proxy.lab:3128")
    from utils.curation.health_check import report_network_route

    check = next(
        report_network_route(library.web, ["https://doi.org", "https://api.crossref.org/v1"])
    )
    assert check.state == "warning"
    assert "export HTTPS_PROXY=" in check.advice


def test_a_lasting_trouble_never_says_to_try_again() -> None:
    from utils.errors import Unreachable

    passing, lasting = Unreachable("a.org is down."), Unreachable("a.org is gone.", lasting=True)
    assert "Try again" in str(passing.envelope())
    assert "again" not in str(lasting.envelope())
    assert "doctor" in str(lasting.envelope())
