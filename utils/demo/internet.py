"""A small internet on loopback: the services that the demo needs, with a few papers.

It answers in the real services' forms; the tests' stand-in (``tests/world``) is built on it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Self

from ..model import sites
from .doi import doi
from .eutils import eutils
from .jina import answer_reader
from .papers import PAPERS
from .publishers import site
from .records import Corpus
from .wire import TEXT, Call, Listener, Reply, text

Service = Callable[[Call, "Internet"], Reply]


def cloud(call: Call, internet: Internet) -> Reply:
    """Return the empty listing of PMC's Cloud Service for an article that it lacks."""
    return text(
        '<?xml version="1.0" encoding="UTF-8"?>\n<ListBucketResult xmlns="http://s3.amazonaws.com/'
        'doc/2006-03-01/"><Name>pmc-oa-opendata</Name><KeyCount>0</KeyCount><MaxKeys>1000</MaxKeys>'
        "<IsTruncated>false</IsTruncated></ListBucketResult>",
        "application/xml",
    )


SERVICES: Mapping[str, Service] = {
    "eutils": eutils, "pmc_cloud": cloud, "doi": doi, "jina_reader": answer_reader,
}  # fmt: skip
HOSTS: Mapping[str, Service] = {
    name: partial(site, name) for name in ("meadow", "harbour", "summit")
}


class Internet:
    """The demo's services, and its publishers each with a port of its own; opened by ``with``."""

    def __init__(self) -> None:
        self.corpus = Corpus(PAPERS)
        self.answered = 0
        self._services = Listener(0, self._serve_service)
        self._hosts = {name: Listener(0, partial(self._serve_publisher, name)) for name in HOSTS}

    def url(self, name: str) -> str:
        """Return the base URL of a service or a publisher's site."""
        host = self._hosts.get(name)
        return host.url if host else f"{self._services.url}/{name}"

    def settings(self) -> dict[str, str | bool]:
        """Return settings that direct every request to this internet."""
        services = {address.service for one in sites.SITES for address in one.addresses}
        addresses = {f"{name}_base_url": self.url(name) for name in services}
        return {**addresses, "papers_allow_private_network": True, "pubmed_email": "me@lab.edu"}

    def __enter__(self) -> Self:
        for listener in (self._services, *self._hosts.values()):
            listener.open()
        return self

    def __exit__(self, *_: object) -> None:
        for listener in (self._services, *self._hosts.values()):
            listener.close()

    def _serve_service(self, call: Call) -> Reply:
        self.answered += 1
        service = call.path.split("/")[1]
        call = replace(call, service=service, path=call.path.removeprefix(f"/{service}"))
        answer = SERVICES.get(service)
        return answer(call, self) if answer else text("Not Found", TEXT, 404)

    def _serve_publisher(self, name: str, call: Call) -> Reply:
        self.answered += 1
        return HOSTS[name](replace(call, service="publisher"), self)
