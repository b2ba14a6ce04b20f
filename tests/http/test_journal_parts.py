"""A large body that broke off goes on where it ended, if it is still the same one."""

import re
from collections.abc import Callable
from email.utils import formatdate
from pathlib import Path

import pytest

from tests.http.conftest import Site, Visit
from utils.errors import BadContent, Unreachable
from utils.http import Web
from utils.http.cache import MIN_RESUMABLE_BYTES

BODY = bytes(range(256)) * (MIN_RESUMABLE_BYTES // 128)  # two megabytes
HALF = len(BODY) // 2
OLD = "Wed, 21 Oct 2015 07:28:00 GMT"
Behaviour = Callable[[Visit], None]


def breaks(visit: Visit, body: bytes = BODY, sent: int = HALF, **headers: str) -> None:
    """Promise all of it and hang up."""
    visit.send_response(200)
    for name, value in {"Content_Length": str(len(body)), **headers}.items():
        visit.send_header(name.replace("_", "-"), value)
    visit.end_headers()
    visit.raw(body[:sent])


def serves_ranges(body: bytes, etag: str = '"1"') -> Behaviour:
    """As RFC 9110 has it."""

    def answer(visit: Visit) -> None:
        wanted = re.fullmatch(r"bytes=(\d+)-", visit.headers.get("Range", ""))
        if not wanted or visit.headers.get("If-Range") != etag:
            visit.reply(body, ETag=etag)
        else:
            start = int(wanted[1])
            told = f"bytes {start}-{len(body) - 1}/{len(body)}"
            visit.reply(body[start:], 206, Content_Range=told, ETag=etag)

    return answer


def in_turn(site: Site, *behaviours: Behaviour) -> str:
    """One behaviour after the other; the last one stays."""
    left = list(behaviours)

    def next_one(visit: Visit) -> None:
        behave = left.pop(0) if len(left) > 1 else left[0]
        behave(visit)

    return site.on("/x.pdf", next_one)


def ranges(site: Site) -> list[str | None]:
    return [visit.headers.get("Range") for visit in site.visits]


def parts(tmp_path: Path) -> list[Path]:
    return list((tmp_path / "papers/.papershelf/fetched").rglob("*.part"))


def test_a_broken_body_goes_on_where_it_ended(web: Web, site: Site, tmp_path: Path) -> None:
    url = in_turn(site, lambda visit: breaks(visit, ETag='"1"'), serves_ranges(BODY))
    answer = web.get(url, kept=True)
    assert (answer.status, answer.body) == (200, BODY)
    [_, second] = site.visits
    assert second.headers["Range"] == f"bytes={HALF}-"
    assert second.headers["If-Range"] == '"1"'
    assert second.headers["Accept-Encoding"] == "identity"
    assert not parts(tmp_path)
    assert Web(web.settings, web.rates).get(url, kept=True).body == BODY
    assert len(site.visits) == 2


def test_the_next_process_goes_on_too(
    web_for: Callable[..., Web], site: Site, tmp_path: Path
) -> None:
    url = in_turn(site, lambda visit: breaks(visit, ETag='"1"'), serves_ranges(BODY))
    with pytest.raises(Unreachable):
        web_for(site, ncbi_max_retries=1).get(url, kept=True)
    [part] = parts(tmp_path)
    assert part.stat().st_size == HALF
    assert part.stat().st_mode & 0o777 == 0o600
    assert web_for(site).get(url, kept=True).body == BODY


def test_it_may_break_many_times(web: Web, site: Site) -> None:
    def rest(visit: Visit) -> None:
        start = int(visit.headers["Range"][6:-1])
        visit.send_response(206)
        visit.send_header("Content-Range", f"bytes {start}-{len(BODY) - 1}/{len(BODY)}")
        visit.send_header("Content-Length", str(len(BODY) - start))
        visit.end_headers()
        visit.raw(BODY[start : start + 300_000])

    begin: Behaviour = lambda visit: breaks(visit, ETag='"1"')  # noqa: E731
    url = in_turn(site, begin, rest, rest, serves_ranges(BODY))
    assert web.get(url, kept=True).body == BODY
    assert ranges(site)[-1] == f"bytes={HALF + 600_000}-"


def test_a_new_body_comes_whole(web: Web, site: Site) -> None:
    new = BODY[::-1]
    begin: Behaviour = lambda visit: breaks(visit, ETag='"1"')  # noqa: E731
    url = in_turn(site, begin, serves_ranges(new, '"2"'))
    assert web.get(url, kept=True).body == new


def test_a_site_that_has_not_the_rest_is_asked_for_the_whole(web: Web, site: Site) -> None:
    begin: Behaviour = lambda visit: breaks(visit, ETag='"1"')  # noqa: E731
    url = in_turn(site, begin, lambda visit: visit.reply(b"", 416), serves_ranges(BODY))
    assert web.get(url, kept=True).body == BODY
    assert ranges(site) == [None, f"bytes={HALF}-", None]


@pytest.mark.parametrize(
    "told",
    [
        f"bytes 0-{len(BODY) - 1}/{len(BODY)}",
        f"bytes {HALF}-{len(BODY) - 1}/*",
        f"bytes {HALF}-{len(BODY)}/{len(BODY) + 1}",
        f"bytes {HALF + 1}-{len(BODY) - 1}/{len(BODY)}",
        "",
        "nonsense",
    ],
)
def test_another_piece_than_was_asked_for_is_refused(web: Web, site: Site, told: str) -> None:
    begin: Behaviour = lambda visit: breaks(visit, ETag='"1"')  # noqa: E731

    def wrong(visit: Visit) -> None:
        visit.reply(BODY[HALF:], 206, Content_Range=told)

    url = in_turn(site, begin, wrong, serves_ranges(BODY))
    assert web.get(url, kept=True).body == BODY
    assert ranges(site) == [None, f"bytes={HALF}-", None]


def test_a_passing_trouble_does_not_cost_what_came(web: Web, site: Site) -> None:
    begin: Behaviour = lambda visit: breaks(visit, ETag='"1"')  # noqa: E731
    url = in_turn(site, begin, lambda visit: visit.reply(b"", 503), serves_ranges(BODY))
    assert web.get(url, kept=True).body == BODY
    assert ranges(site) == [None, f"bytes={HALF}-", f"bytes={HALF}-"]


@pytest.mark.parametrize(
    ("headers", "goes_on"),
    [
        ({"ETag": '"1"'}, True),
        ({"ETag": 'W/"1"'}, False),
        ({"Last_Modified": OLD}, True),
        ({"Last_Modified": OLD, "ETag": 'W/"1"'}, False),
        ({}, False),
        ({"ETag": '"1"', "Accept_Ranges": "none"}, False),
    ],
)
def test_only_what_names_its_body_is_gone_on_with(
    web: Web, site: Site, headers: dict[str, str], goes_on: bool
) -> None:
    validator = headers.get("ETag") if goes_on and "ETag" in headers else OLD
    begin: Behaviour = lambda visit: breaks(visit, **headers)  # noqa: E731
    url = in_turn(site, begin, serves_ranges(BODY, str(validator)))
    assert web.get(url, kept=True).body == BODY
    assert ranges(site) == [None, f"bytes={HALF}-" if goes_on else None]


def test_a_date_of_change_that_is_too_young_names_nothing(web: Web, site: Site) -> None:
    begin: Behaviour = lambda visit: breaks(visit, Last_Modified=formatdate(usegmt=True))  # noqa: E731
    url = in_turn(site, begin, serves_ranges(BODY))
    assert web.get(url, kept=True).body == BODY
    assert ranges(site) == [None, None]


def test_small_and_compressed_bodies_come_whole(web: Web, site: Site) -> None:
    small: Behaviour = lambda visit: breaks(visit, BODY[:9000], 4000, ETag='"1"')  # noqa: E731
    packed: Behaviour = lambda visit: breaks(  # noqa: E731
        visit, ETag='"1"', Content_Encoding="gzip"
    )
    url = in_turn(site, small, packed, serves_ranges(BODY))
    assert web.get(url, kept=True).body == BODY
    assert ranges(site) == [None, None, None]


def test_all_pieces_together_keep_the_limit(web: Web, site: Site, tmp_path: Path) -> None:
    def more(visit: Visit) -> None:
        told = f"bytes {HALF}-{len(BODY) - 1}/{len(BODY)}"
        visit.reply(BODY[HALF:], 206, Content_Range=told)

    begin: Behaviour = lambda visit: breaks(visit, ETag='"1"')  # noqa: E731
    url = in_turn(site, begin, more)
    with pytest.raises(Unreachable):
        Web(web.settings.model_copy(update={"ncbi_max_retries": 1}), web.rates).get(url, kept=True)
    with pytest.raises(BadContent, match="MB"):
        web.get(url, kept=True, limit=HALF + 1000)
    assert not parts(tmp_path)
