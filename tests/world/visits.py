"""How the tests of the world visit it: plain requests, nothing of Papershelf in between."""

import json
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import HTTPRedirectHandler, Request, build_opener, urlopen

from tests.processes import LAST_RESORT_S
from tests.world import World
from tests.world.eutils import KEY


class Standstill:
    """A clock that stands still until told: what is counted per second is counted exactly."""

    now = 1_000_000.0

    def time(self) -> float:
        return self.now


class _Stay(HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None


def get(url: str, follow: bool = True, **headers: str) -> tuple[int, dict[str, str], bytes]:
    request = Request(url, headers=headers)
    try:
        answer = (
            urlopen(request, timeout=LAST_RESORT_S) if follow else build_opener(_Stay).open(request)
        )
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
