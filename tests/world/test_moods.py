"""The stand-in internet lies and breaks as it says."""

import http.client
from urllib.parse import urlsplit
from urllib.request import urlopen

import pytest

from tests.processes import LAST_RESORT_S
from tests.world import World
from tests.world.eutils import KEY
from tests.world.moods import HUGE, MOODS
from tests.world.semantic_scholar import KEY as SCHOLAR_KEY
from tests.world.visits import get


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


def test_two_of_ten_connections_are_reset(world: World) -> None:
    world.mood("resets", "pmc_cloud")
    met = []
    for _ in range(10):
        try:
            met.append(get(world.url("pmc_cloud") + XML)[0])
        except ConnectionError:
            met.append(0)
    assert met == [0, 200, 200, 200, 200] * 2


def test_a_pool_without_keys_refuses_half_of_the_calls(world: World) -> None:
    world.mood("half_crowded", "semantic_scholar")
    url = f"{world.url('semantic_scholar')}/paper/search?query=coral"
    met = [get(url)[0] for _ in range(200)]
    assert 85 < met.count(429) < 115
    assert met.count(429) + met.count(200) == 200
    keyed = [get(url, **{"x-api-key": SCHOLAR_KEY})[0] for _ in range(20)]
    assert keyed == [200] * 20


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
    with urlopen(world.url("pmc_cloud") + XML, timeout=LAST_RESORT_S) as answer:
        assert len(answer.read(5_000_000)) == 5_000_000
        assert answer.headers["Content-Length"] is None


def test_all_moods_but_the_slow_ones_answer_every_service(world: World) -> None:
    wires = {"resets", "reset", "truncate", "drip", "slow_headers", "huge", "gzip_bomb"}
    for mood in set(MOODS) - wires:
        world.mood(mood, times=1)
        assert get(f"{world.url('eutils')}/einfo.fcgi?api_key={KEY}", follow=False)[0] in {
            200,
            302,
            406,
            429,
            503,
        }
        world.calm()
