"""What of the network is in the way: `..curation.health_check` for the networks people have.

Thirteen services behind one wall are one trouble. It is told once, with who is to blame (the issuer
of a refused certificate, the proxy that says no) and the command that helps.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Literal

from ..errors import PaperError
from . import Web

_HOSTS = 4  # named in a sentence; more are counted


@dataclass(frozen=True, slots=True)
class Check:
    """One thing looked at: ``ok``, ``warning`` (works, but) or ``problem``, and what to do."""

    what: str
    state: Literal["ok", "warning", "problem"]
    detail: str
    advice: str = ""


@dataclass(frozen=True, slots=True)
class Asked:
    """A service that was asked: where, what is to be said of it, and why it failed if it did."""

    host: str
    url: str
    check: Check
    error: PaperError | None = None

    @property
    def trouble(self) -> str:
        """What of the network was in the way; see `errors.Unreachable`."""
        return str(self.error.details.get("trouble", "")) if self.error else ""


def ways_out(web: Web, urls: Sequence[str]) -> Iterator[Check]:
    """Through which proxy each service is asked, and whose certificates are believed.

    Raises
    ------
    NotConfigured
        A proxy or a bundle of certificates is named that cannot be used.
    """
    web.courier.check()
    yield _proxies(web, urls)
    from . import trust

    yield Check("certificates", "ok", f"believed: {', '.join(trust.sources(web.settings))}")


def summed_up(asked: Sequence[Asked], web: Web) -> list[Check]:
    """What was found of each service; what they have in common is said once.

    A check called ``network`` says that no service at all could be reached.
    """
    nobody = all(one.trouble for one in asked)
    found: dict[str, list[Asked]] = {}
    single: list[Check] = []
    for one, cause in zip(asked, _causes(asked, web), strict=True):
        if cause and (nobody or one.trouble in ("certificate", "proxy")):
            found.setdefault(cause, []).append(one)
        else:
            single.append(one.check)
    together = [_together(cause, them, len(asked), nobody) for cause, them in found.items()]
    return [*together, *single]


def _proxies(web: Web, urls: Sequence[str]) -> Check:
    ways: dict[str, list[str]] = {}
    for url in urls:
        ways.setdefault(web.courier.way(url).shown, []).append(url.split("/")[2])
    if list(ways) == ["direct"]:
        if web.settings.http_proxy and any(url.startswith("https:") for url in urls):
            advice = "The services are asked by https: export HTTPS_PROXY=http://HOST:PORT"
            return Check("proxy", "warning", "HTTP_PROXY is for http only; none is used", advice)
        return Check("proxy", "ok", "none; every service is asked directly")
    told = (f"{way} for {_named(hosts, len(urls))}" for way, hosts in ways.items())
    return Check("proxy", "ok", "; ".join(told))


def _causes(asked: Sequence[Asked], web: Web) -> list[str]:
    """Of each service, what kept it from us, in words that are the same for the same cause."""
    with ThreadPoolExecutor(len(asked) or 1) as pool:
        return list(pool.map(lambda one: _cause(one, web), asked))


def _cause(one: Asked, web: Web) -> str:
    if one.error is None or not one.trouble:
        return ""
    if one.trouble == "certificate":
        why = one.error.details.get("because", "not trusted")
        return f"a certificate issued by {_issuer(one, web)} that is refused here ({why})"
    if one.trouble == "proxy":
        return str(one.error.details.get("because", one.error.message))
    return "silence" if one.trouble == "silence" else "offline"


def _issuer(one: Asked, web: Web) -> str:
    """Who issued the certificate that was refused: looked at, and nothing sent."""
    try:
        return f"“{web.courier.presented(one.url, 10.0).issuer}”"
    except PaperError:
        return "somebody who did not show it again"


def _together(cause: str, them: Sequence[Asked], of: int, nobody: bool) -> Check:
    """One check for all that have a cause in common."""
    everybody = _named([one.host for one in them], of)
    hints = them[0].error.hints if them[0].error else ()
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
    elif them[0].trouble == "certificate":
        detail = f"{everybody} showed {cause}"
    else:
        detail = f"{everybody} not reached: {cause}"
    kind = "certificates" if them[0].trouble == "certificate" else "proxy"
    return Check("network" if nobody else kind, "problem", detail, advice)


def _named(hosts: Sequence[str], of: int) -> str:
    """Hosts in a sentence.

    >>> _named(["a.org", "b.org"], 5), _named(["a.org"] * 5, 5)
    ('a.org and b.org', 'all 5 services')
    """
    if len(hosts) == of > 1:
        return f"all {of} services"
    different = list(dict.fromkeys(hosts))
    if len(different) > _HOSTS:
        return f"{len(hosts)} of {of} services, among them {', '.join(different[:_HOSTS])},"
    return " and ".join(filter(None, (", ".join(different[:-1]), different[-1])))
