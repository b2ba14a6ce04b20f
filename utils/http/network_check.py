"""The network's part of `..curation.health_check`: proxies, certificates, being offline.

A cause that several services have in common is reported once, with whoever is to blame (the issuer
of a refused certificate, the proxy that refuses) and the command that helps.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

from ..errors import PaperError
from . import Web

_HOSTS = 4  # named in a sentence; more are counted


@dataclass(frozen=True, slots=True)
class Check:
    """One result: ``ok``, ``warning`` (works, but) or ``problem``, and what to do.

    A problem that is not ``required`` leaves Papershelf usable: other services stand in.
    """

    what: str
    state: Literal["ok", "warning", "problem"]
    detail: str
    advice: str = ""
    required: bool = True


@dataclass(frozen=True, slots=True)
class ServiceCheck:
    """A service that was asked: its address, its check, and its error if it failed."""

    host: str
    url: str
    check: Check
    error: PaperError | None = None

    @property
    def trouble(self) -> str:
        """The trouble of the network; see `errors.Unreachable`."""
        return str(self.error.details.get("trouble", "")) if self.error else ""


def check_access(web: Web, urls: Sequence[str]) -> Iterator[Check]:
    """Report through which proxy each service is asked, and which certificates are trusted.

    Raises
    ------
    NotConfigured
        A proxy or a bundle of certificates is named that cannot be used.
    """
    web.transport.check()
    yield _check_proxies(web, urls)
    from . import network

    yield Check(
        "certificates", "ok", f"believed: {', '.join(network.describe_trust(web.settings))}"
    )


def summarize(asked: Sequence[ServiceCheck], web: Web) -> list[Check]:
    """The checks of all services, those with a common cause combined into one.

    A check called ``network`` says that no service at all could be reached.
    """
    nobody = all(one.trouble for one in asked)
    found: dict[str, list[ServiceCheck]] = {}
    single: list[Check] = []
    for one, cause in zip(asked, _causes(asked, web), strict=True):
        if cause and (nobody or one.trouble in ("certificate", "proxy", "portal")):
            found.setdefault(cause, []).append(one)
        else:
            single.append(one.check)
    combined = [
        _combined_check(cause, services, len(asked), nobody) for cause, services in found.items()
    ]
    return [*combined, *single]


def _check_proxies(web: Web, urls: Sequence[str]) -> Check:
    proxies: dict[str, list[str]] = {}
    for url in urls:
        proxies.setdefault(web.transport.proxy_for(url).shown, []).append(url.split("/")[2])
    if list(proxies) == ["direct"]:
        if web.settings.http_proxy and any(url.startswith("https:") for url in urls):
            advice = "The services are asked by https: export HTTPS_PROXY=http://HOST:PORT"
            return Check("proxy", "warning", "HTTP_PROXY is for http only; none is used", advice)
        return Check("proxy", "ok", "none; every service is asked directly")
    phrases = (f"{proxy} for {_hosts_phrase(hosts, len(urls))}" for proxy, hosts in proxies.items())
    return Check("proxy", "ok", "; ".join(phrases))


def _causes(asked: Sequence[ServiceCheck], web: Web) -> list[str]:
    """Return the cause of each failure, in the same words for the same cause; else empty."""
    with ThreadPoolExecutor(len(asked) or 1) as pool:
        return list(pool.map(lambda one: _cause(one, web), asked))


def _cause(one: ServiceCheck, web: Web) -> str:
    if one.error is None or not one.trouble:
        return ""
    if one.trouble == "certificate":
        why = one.error.details.get("because", "not trusted")
        return f"a certificate issued by {_issuer(one, web)} that is refused here ({why})"
    if one.trouble == "portal":
        return str(one.error.details["leads_to"])
    if one.trouble == "proxy":
        return str(one.error.details.get("because", one.error.message))
    return "silence" if one.trouble == "silence" else "offline"


def _issuer(one: ServiceCheck, web: Web) -> str:
    """Return the issuer of the refused certificate, which is fetched without a request."""
    try:
        return f"“{web.transport.fetch_certificate(one.url, 10.0).issuer}”"
    except PaperError:
        return "somebody who did not show it again"


def _combined_check(cause: str, services: Sequence[ServiceCheck], of: int, nobody: bool) -> Check:
    """One check for all services with the same *cause*."""
    everybody = _hosts_phrase([one.host for one in services], of)
    hints = services[0].error.hints if services[0].error else ()
    advice = " ".join(hint for hint in hints if "doctor" not in hint)  # here it is
    if cause == "offline":
        detail = f"you are offline: {everybody} could not be found or reached"
        advice = (
            "Connect this computer; what is on the shelf can be read meanwhile. Where only a proxy "
            "leads out: export HTTPS_PROXY=http://HOST:PORT"
        )
    elif cause == "silence":
        detail = f"{everybody} did not answer: offline, or a firewall in between"
        advice = "Where only a proxy leads out: export HTTPS_PROXY=http://HOST:PORT"
    elif services[0].trouble == "portal":
        detail = f"{everybody} led to {cause}, which is not theirs"
        advice = "Open a page in a browser: this network may want you to sign in. Then try again."
    elif services[0].trouble == "certificate":
        detail = f"{everybody} showed {cause}"
    else:
        detail = f"{everybody} not reached: {cause}"
    kinds = {"certificate": "certificates", "portal": "redirected"}
    kind = "network" if nobody else kinds.get(services[0].trouble, "proxy")
    required = nobody or any(one.check.required for one in services)
    return Check(kind, "problem", detail, advice, required)


def belongs_to_another(asked: str, final: str) -> bool:
    """Return whether an address belongs to somebody else than the one that was asked.

    >>> belongs_to_another("https://api.crossref.org/", "https://www.crossref.org/documentation")
    False
    >>> belongs_to_another("https://api.core.ac.uk/", "https://login.ox.ac.uk/")
    True
    >>> belongs_to_another("http://127.0.0.1:80/doi", "http://127.0.0.1:81/login")
    True
    """
    return _owner(urlsplit(asked).netloc) != _owner(urlsplit(final).netloc)


def _owner(netloc: str) -> str:
    """The part of a host's name that somebody registered; of a number, all of it."""
    name = netloc.rpartition("@")[2].lower()
    labels = name.partition(":")[0].split(".")
    if labels[-1].isdecimal() or name.startswith("["):
        return name
    is_second_level = len(labels[-1]) == 2 and len(labels[-2:][0]) <= 3  # ac.uk, com.au
    return ".".join(labels[-3:] if is_second_level else labels[-2:])


def _hosts_phrase(hosts: Sequence[str], of: int) -> str:
    """Hosts in a sentence.

    >>> _hosts_phrase(["a.org", "b.org"], 5), _hosts_phrase(["a.org"] * 5, 5)
    ('a.org and b.org', 'all 5 services')
    """
    if len(hosts) == of > 1:
        return f"all {of} services"
    different = list(dict.fromkeys(hosts))
    if len(different) > _HOSTS:
        return f"{len(hosts)} of {of} services, among them {', '.join(different[:_HOSTS])},"
    return " and ".join(filter(None, (", ".join(different[:-1]), different[-1])))
