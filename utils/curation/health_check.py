"""Check an installation: settings, folder, texts, the network, and every service.

A cause that several services have in common is reported once, with its source (the issuer of a
refused certificate, the proxy that refuses) and the command that helps.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import sqlite3
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Literal
from urllib.parse import urlsplit

from ..command_line import command_line
from ..errors import NotConfigured, PaperError, Unreachable
from ..http import Web
from ..model.sites import KEYS
from ..plugins import load_installed_plugins
from ..settings import Settings
from ..shelf import Shelf
from ..shelf.verdicts import describe_unjudged_texts
from ..sources import Source
from ..system.process import get_version

_BUSY = "RATE_LIMIT"
_REQUIRED = frozenset({"pubmed", "pmc"})
"""Services without which hardly anything works; every other one has others beside it."""
_LOGIN = re.compile(rb"""<input[^>]+type\s*=\s*["']?password""", re.I)
_ENOUGH_BYTES = 500_000_000


def check_installation(
    settings: Settings, web: Web, sources: Sequence[Source], shelf: Shelf
) -> list[HealthCheck]:
    """Check everything; each service is sent one small request.

    Returns
    -------
    list of Check
        In the order a person would mend them.
    """
    checks = [
        *_check_system(),
        *_check_plugins(),
        *_check_contact(settings),
        *_check_folder(settings),
        *_check_texts(shelf),
    ]
    checks += _report_slow_sites(web)
    if settings.papers_offline:
        return [
            *checks,
            HealthCheck("network", "warning", "PAPERS_OFFLINE is set; no service was contacted"),
        ]
    # One try each, so that a dead service does not hold up the others.
    once = Web(settings.model_copy(update={"ncbi_max_retries": 1}), web.rates)
    services: dict[str, Source] = {}
    for source in sources:
        services.setdefault(_get_base_url(source, once), source)
    try:
        checks += report_network_route(once, list(services))
    except NotConfigured as error:
        return [
            *checks,
            HealthCheck("proxy and certificates", "problem", error.message, error.hint),
        ]
    redirects: list[tuple[str, str]] = []
    once.on_redirect = lambda asked, final: redirects.append((asked, final))
    with ThreadPoolExecutor(len(services)) as pool:
        answers = list(pool.map(lambda source: _check_service(source, once), services.values()))
    answers = [_check_redirect(answer, redirects) for answer in answers]
    return checks + combine_service_checks(answers, once)


def _check_redirect(answer: ServiceCheck, redirects: Sequence[tuple[str, str]]) -> ServiceCheck:
    """Return a problem if the service redirected to another site, whose answer proves nothing."""
    led = [final for asked, final in redirects if asked.startswith(answer.url)]
    if not led or not is_other_organisation(answer.url, led[-1]):
        return answer
    other = urlsplit(led[-1]).netloc
    error = Unreachable(f"{answer.host} led to {other}.", trouble="portal", leads_to=other)
    advice = "Open it in a browser: the network may require a sign-in."
    check = replace(answer.check, state="problem", detail=error.message, advice=advice)
    return replace(answer, check=check, error=error)


def _report_slow_sites(web: Web) -> Iterator[HealthCheck]:
    """Report sites whose request rate is reduced after rejections or delays."""
    for name, times in web.limiter.list_slowdowns().items():
        detail = (
            f"{name} had trouble recently and is asked {times:.1f} times less often than allowed"
        )
        yield HealthCheck(
            "pace", "warning", detail, "Nothing to do: it recovers by itself within an hour."
        )


def _check_system() -> Iterator[HealthCheck]:
    """Report the versions of Papershelf, Python, the system and SQLite."""
    python = f"Python {platform.python_version()} ({platform.machine()})"
    system = f"{platform.system()} {platform.release()}"
    detail = f"Papershelf {get_version()}, {python}, {system}, {os.cpu_count() or 1} cores"
    yield HealthCheck("system", "ok", detail)
    with closing(sqlite3.connect(":memory:")) as database:
        options = {row[0] for row in database.execute("PRAGMA compile_options")}
    engine = f"SQLite {sqlite3.sqlite_version}"
    if "ENABLE_FTS5" in options:
        yield HealthCheck("database", "ok", f"{engine} with FTS5")
    else:
        advice = (
            "Listings by word search every paper; use a Python built with FTS5 to make them faster."
        )
        yield HealthCheck("database", "warning", f"{engine} without FTS5", advice)


def _check_plugins() -> Iterator[HealthCheck]:
    """Report the installed plugins."""
    for plugin in load_installed_plugins():
        if isinstance(plugin, NotConfigured):
            yield HealthCheck("plugin", "problem", plugin.message, plugin.hint)
            continue
        parts = {
            "sources": [site.name for site in plugin.sources.values()],
            "commands": plugin.commands,
            "toolsets": plugin.toolsets,
            "settings": [name.upper() for name in plugin.settings],
        }
        added = "; ".join(f"{kind}: {', '.join(names)}" for kind, names in parts.items() if names)
        yield HealthCheck(
            "plugin", "ok", f"{plugin.name} {plugin.version} adds {added or 'records'}"
        )


def _check_contact(settings: Settings) -> Iterator[HealthCheck]:
    """Check the e-mail address, and report which keys are set."""
    if fault := settings.email_problem:
        advice = "Set PUBMED_EMAIL to your own address; NCBI and Unpaywall require one."
        yield HealthCheck("e-mail", "problem", f"PUBMED_EMAIL {fault}", advice)
    else:
        yield HealthCheck("e-mail", "ok", settings.contact)
    for key in KEYS:
        if settings.key(key.setting):
            yield HealthCheck(key.setting.upper(), "ok", "set")
        else:
            yield HealthCheck(key.setting.upper(), "warning", "not set (optional)", key.gives)


def _check_folder(settings: Settings) -> Iterator[HealthCheck]:
    """Check that the shelf's folder is writable and the disk has space."""
    folder = settings.papers_dir
    nearest = next(path for path in (folder, *folder.parents) if path.exists())
    try:
        probe = nearest / ".papershelf-doctor"
        probe.touch()
        probe.unlink()
    except OSError as error:
        advice = "Set PAPERS_DIR to a folder that you may write to."
        yield HealthCheck("folder", "problem", f"{folder}: {error.strerror}", advice)
        return
    free = shutil.disk_usage(nearest).free
    state: Literal["ok", "warning"] = "ok" if free > _ENOUGH_BYTES else "warning"
    yield HealthCheck("folder", state, f"{folder} is writable, {free / 1e9:.1f} GB free")


def _check_texts(shelf: Shelf) -> Iterator[HealthCheck]:
    """Report whether all texts were judged by the current judges."""
    try:
        due = shelf.verdicts.count_unjudged_texts()
    except PaperError as error:
        yield HealthCheck("texts", "problem", error.message, error.hint)
        return
    if due:
        yield HealthCheck(
            "texts", "warning", describe_unjudged_texts(due), command_line("shelf audit")
        )
    elif there := shelf.count_papers()["full_text"]:
        yield HealthCheck("texts", "ok", f"{there:,} judged by the present judges")


def _check_service(source: Source, web: Web) -> ServiceCheck:
    """Send a service one small request, and describe an error."""
    url = _get_base_url(source, web)
    host = urlsplit(url).netloc
    try:
        return ServiceCheck(host, url, _send_test_request(source, web))
    except NotConfigured as error:
        return ServiceCheck(
            *(host, url),
            HealthCheck(
                source.name, "problem", error.message, error.hint, source.name in _REQUIRED
            ),
            error,
        )
    except PaperError as error:
        passing = "Try again later; the other services work without it."
        advice = error.hint or ("" if error.details.get("lasting") else passing)
        # A site that asks us to wait is up.
        state: Literal["warning", "problem"] = "warning" if error.code == _BUSY else "problem"
        check = HealthCheck(source.name, state, error.message, advice, source.name in _REQUIRED)
        return ServiceCheck(host, url, check, error)


def _get_base_url(source: Source, web: Web) -> str:
    return str(getattr(web.settings, f"{source.service}_base_url"))


def _send_test_request(source: Source, web: Web) -> HealthCheck:
    """Send one small request; where a source has a key, a request that tests the key."""
    base = _get_base_url(source, web)
    host = urlsplit(base).netloc
    if source.check_access:
        about = source.check_access(web)
        return HealthCheck(source.name, "ok", f"{host} answered{about and f' {about}'}")
    # Any answer of its own will do, also "not found": the site is up.
    answer = web.get(base + (source.probe or "/"), allow=range(400, 600))
    if answer.status >= 500 or answer.status == 429:
        return HealthCheck(
            source.name, "warning", f"{host} answered {answer.status}", "Try again later."
        )
    if answer.media == "text/html" and _LOGIN.search(answer.body):
        msg = f"{host} answered with a sign-in page instead of data."
        raise Unreachable(msg, trouble="portal", leads_to="a page to sign in")
    if source.probe:
        answer.json()
    return HealthCheck(source.name, "ok", f"{host} answered")


_HOSTS = 4  # named in a sentence; more are counted


@dataclass(frozen=True, slots=True)
class HealthCheck:
    """One result: ``ok``, ``warning`` (works with limits) or ``problem``, and the advice.

    A problem that is not ``required`` leaves Papershelf usable: other services stand in.
    """

    what: str
    state: Literal["ok", "warning", "problem"]
    detail: str
    advice: str = ""
    required: bool = True


@dataclass(frozen=True, slots=True)
class ServiceCheck:
    """The check of one service: its address, the result, and the error if it failed."""

    host: str
    url: str
    check: HealthCheck
    error: PaperError | None = None

    @property
    def network_trouble(self) -> str:
        """The kind of network problem; see `errors.Unreachable`."""
        return str(self.error.details.get("trouble", "")) if self.error else ""


def report_network_route(web: Web, urls: Sequence[str]) -> Iterator[HealthCheck]:
    """Report the proxy used for each service, and the trusted certificates.

    Raises
    ------
    NotConfigured
        A proxy or a bundle of certificates is named that cannot be used.
    """
    web.transport.check_configuration()
    yield _check_proxies(web, urls)
    from ..http import network

    yield HealthCheck(
        "certificates",
        "ok",
        f"trusted: {', '.join(network.list_certificate_sources(web.settings))}",
    )


def combine_service_checks(asked: Sequence[ServiceCheck], web: Web) -> list[HealthCheck]:
    """Return the checks of all services, those with a common cause combined into one.

    A check called ``network`` says that no service at all could be reached.
    """
    nobody = all(one.network_trouble for one in asked)
    found: dict[str, list[ServiceCheck]] = {}
    single: list[HealthCheck] = []
    for one, cause in zip(asked, _list_failure_causes(asked, web), strict=True):
        if cause and (nobody or one.network_trouble in ("certificate", "proxy", "portal")):
            found.setdefault(cause, []).append(one)
        else:
            single.append(one.check)
    combined = [
        _build_combined_check(cause, services, len(asked), nobody)
        for cause, services in found.items()
    ]
    return [*combined, *single]


def _check_proxies(web: Web, urls: Sequence[str]) -> HealthCheck:
    proxies: dict[str, list[str]] = {}
    for url in urls:
        proxies.setdefault(web.transport.find_proxy(url).description, []).append(url.split("/")[2])
    if list(proxies) == ["direct"]:
        if web.settings.http_proxy and any(url.startswith("https:") for url in urls):
            advice = "The services use https: export HTTPS_PROXY=http://HOST:PORT"
            return HealthCheck(
                "proxy",
                "warning",
                "HTTP_PROXY is for http only; no proxy is used for https",
                advice,
            )
        return HealthCheck("proxy", "ok", "none; every service is contacted directly")
    phrases = (f"{proxy} for {_format_hosts(hosts, len(urls))}" for proxy, hosts in proxies.items())
    return HealthCheck("proxy", "ok", "; ".join(phrases))


def _list_failure_causes(asked: Sequence[ServiceCheck], web: Web) -> list[str]:
    """Return the cause of each failure, in the same words for the same cause; else empty."""
    with ThreadPoolExecutor(len(asked) or 1) as pool:
        return list(pool.map(lambda one: _describe_failure_cause(one, web), asked))


def _describe_failure_cause(one: ServiceCheck, web: Web) -> str:
    """Return the cause of a failure in words; empty for a service that answered."""
    if one.error is None or not one.network_trouble:
        return ""
    if one.network_trouble == "certificate":
        why = one.error.details.get("because", "not trusted")
        return (
            f"a certificate issued by {_get_issuer(one, web)}, which is not accepted here ({why})"
        )
    if one.network_trouble == "portal":
        return str(one.error.details["leads_to"])
    if one.network_trouble == "proxy":
        return str(one.error.details.get("because", one.error.message))
    return "silence" if one.network_trouble == "silence" else "offline"


def _get_issuer(one: ServiceCheck, web: Web) -> str:
    """Return the issuer of the rejected certificate, which is fetched without a request."""
    try:
        return f"“{web.transport.fetch_certificate(one.url, 10.0).issuer}”"
    except PaperError:
        return "an unknown issuer"


def _build_combined_check(
    cause: str, services: Sequence[ServiceCheck], of: int, nobody: bool
) -> HealthCheck:
    """Return one check for all services with the same *cause*."""
    everybody = _format_hosts([one.host for one in services], of)
    hints = services[0].error.hints if services[0].error else ()
    advice = " ".join(hint for hint in hints if "doctor" not in hint)  # here it is
    if cause == "offline":
        detail = f"you are offline: {everybody} could not be found or reached"
        advice = (
            "Connect this computer; the shelf can be read meanwhile. If the network requires "
            "a proxy: export HTTPS_PROXY=http://HOST:PORT"
        )
    elif cause == "silence":
        detail = f"{everybody} did not answer: this computer is offline, or a firewall blocks it"
        advice = "If the network requires a proxy: export HTTPS_PROXY=http://HOST:PORT"
    elif services[0].network_trouble == "portal":
        detail = f"{everybody} redirected to {cause}, which is not their site"
        advice = "Open any page in a browser: this network may require a sign-in. Then try again."
    elif services[0].network_trouble == "certificate":
        detail = f"{everybody} presented {cause}"
    else:
        detail = f"{everybody} not reached: {cause}"
    kinds = {"certificate": "certificates", "portal": "redirected"}
    kind = "network" if nobody else kinds.get(services[0].network_trouble, "proxy")
    required = nobody or any(one.check.required for one in services)
    return HealthCheck(kind, "problem", detail, advice, required)


def is_other_organisation(asked: str, final: str) -> bool:
    """Return whether an address belongs to another organisation than the requested address.

    >>> is_other_organisation("https://api.crossref.org/", "https://www.crossref.org/documentation")
    False
    >>> is_other_organisation("https://api.core.ac.uk/", "https://login.ox.ac.uk/")
    True
    >>> is_other_organisation("http://127.0.0.1:80/doi", "http://127.0.0.1:81/login")
    True
    """
    return _get_registered_domain(urlsplit(asked).netloc) != _get_registered_domain(
        urlsplit(final).netloc
    )


def _get_registered_domain(netloc: str) -> str:
    """Return the registered domain of a host name, or an IP address unchanged."""
    name = netloc.rpartition("@")[2].lower()
    labels = name.partition(":")[0].split(".")
    if labels[-1].isdecimal() or name.startswith("["):
        return name
    is_second_level = len(labels[-1]) == 2 and len(labels[-2:][0]) <= 3  # ac.uk, com.au
    return ".".join(labels[-3:] if is_second_level else labels[-2:])


def _format_hosts(hosts: Sequence[str], of: int) -> str:
    """Return the hosts as part of a sentence.

    >>> _format_hosts(["a.org", "b.org"], 5), _format_hosts(["a.org"] * 5, 5)
    ('a.org and b.org', 'all 5 services')
    """
    if len(hosts) == of > 1:
        return f"all {of} services"
    different = list(dict.fromkeys(hosts))
    if len(different) > _HOSTS:
        return f"{len(hosts)} of {of} services, among them {', '.join(different[:_HOSTS])},"
    return " and ".join(filter(None, (", ".join(different[:-1]), different[-1])))
