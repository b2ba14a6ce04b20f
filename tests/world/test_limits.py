"""Every limit is enforced, to the request, and every answer takes its time."""

import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.world import World
from tests.world.eutils import KEY
from tests.world.limits import Gate
from tests.world.visits import Standstill, get
from utils.demo.wire import Call


def test_ncbi_refuses_the_fourth_request_in_a_second(world: World, standstill: Standstill) -> None:
    url = f"{world.url('eutils')}/einfo.fcgi"
    answers = [get(url) for _ in range(4)]
    assert [status for status, *_ in answers] == [200, 200, 200, 429]
    assert answers[-1][1]["Retry-After"] == "2"
    assert json.loads(answers[-1][2])["error"] == "API rate limit exceeded"
    standstill.now += 1
    assert get(url)[0] == 200


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
        assert time.monotonic() - began >= 0.2
        assert world.peaks["eutils"] > 1
