"""Lets a program with built-in addresses visit the stand-in internet instead.

For the drivers of `harvest`, which run in environments of their own: nothing of this project is
imported here. Everything that goes through ``requests`` is sent to the stand-in; what has no
place there is refused and written down, and no other host can be reached at all.
"""

from __future__ import annotations

import json
import os
import resource
import socket
import time
from collections import Counter
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import requests

_PLACES = {
    "https://eutils.ncbi.nlm.nih.gov/entrez/eutils": "EUTILS_BASE_URL",
    "https://www.ncbi.nlm.nih.gov/pmc/utils/idconv/v1.0": "IDCONV_BASE_URL",
    "https://pmc.ncbi.nlm.nih.gov/tools/idconv/api/v1/articles": "IDCONV_BASE_URL",
    "http://europepmc.org": "EUROPEPMC_BASE_URL",
    "https://europepmc.org": "EUROPEPMC_BASE_URL",
    "https://api.crossref.org": "CROSSREF_BASE_URL",
    "https://doi.org": "DOI_BASE_URL",
    "https://dx.doi.org": "DOI_BASE_URL",
    "http://dx.doi.org": "DOI_BASE_URL",
    "https://r.jina.ai": "JINA_READER_BASE_URL",
    "https://s.jina.ai": "JINA_SEARCH_BASE_URL",
}
nowhere: Counter[str] = Counter()
clock: dict[str, float] = {}


def lead_astray() -> None:
    """From now on every request of this process goes to the stand-in internet; the clock runs."""
    clock["began"] = time.perf_counter()
    send, connect = requests.adapters.HTTPAdapter.send, socket.socket.connect

    def detoured(self: Any, request: Any, *args: Any, **more: Any) -> requests.Response:
        request.url = _detour(request.url)
        return send(self, request, *args, **more)

    def guarded(self: socket.socket, address: Any) -> None:
        if isinstance(address, tuple) and not str(address[0]).startswith("127."):
            raise ConnectionRefusedError(f"{address[0]} is not in the stand-in internet")
        connect(self, address)

    requests.adapters.HTTPAdapter.send = detoured
    socket.socket.connect = guarded


def _detour(url: str) -> str:
    for real, name in _PLACES.items():
        if url.startswith(real):
            return os.environ[name] + url.removeprefix(real)
    host = urlsplit(url).netloc
    if host.startswith("127."):
        return url
    nowhere[host] += 1
    raise requests.ConnectionError(f"{host} is not in the stand-in internet")


def papers(folder: Path) -> list[dict[str, str]]:
    """The list everybody gets."""
    return list(json.loads((folder / "papers.json").read_text(encoding="utf-8")))


def tell(folder: Path, files: dict[str, str], notes: list[str]) -> None:
    """What came: the file of each PMID, below *folder*."""
    notes = [*notes, *(f"{n} requests to {host} led nowhere" for host, n in nowhere.items())]
    peak = sum(
        resource.getrusage(who).ru_maxrss
        for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    seconds = time.perf_counter() - clock["began"]
    told = {"files": files, "notes": notes, "peak_mb": peak / 1024, "seconds": seconds}
    (folder / "told.json").write_text(json.dumps(told), encoding="utf-8")
