"""The doctor: settings, folder, texts, and every service we may ask."""

from __future__ import annotations

import os
import platform
import re
import shutil
import sqlite3
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from typing import Literal
from urllib.parse import urlsplit

from ..command_line import command_line
from ..errors import NotConfigured, PaperError, Unreachable
from ..http import Web
from ..http.network_check import (
    Check,
    ServiceCheck,
    belongs_to_another,
    check_access,
    summarize,
)
from ..model.sites import KEYS
from ..plugins import installed
from ..settings import Settings
from ..shelf import Shelf
from ..shelf.verdicts import describe_due
from ..sources import Source
from ..system.process import version

_BUSY = "RATE_LIMIT"
_REQUIRED = frozenset({"pubmed", "pmc"})
"""Services without which hardly anything works; every other one has others beside it."""
_LOGIN = re.compile(rb"""<input[^>]+type\s*=\s*["']?password""", re.I)
_ENOUGH_BYTES = 500_000_000


def examine(settings: Settings, web: Web, sources: Sequence[Source], shelf: Shelf) -> list[Check]:
    """Check everything; each service is sent one small request.

    Returns
    -------
    list of Check
        In the order a person would mend them.
    """
    checks = [*_system(), *_plugins(), *_contact(settings), *_folders(settings), *_texts(shelf)]
    checks += _slow_sites(web)
    if settings.papers_offline:
        return [*checks, Check("network", "warning", "PAPERS_OFFLINE is set; nobody was asked")]
    # One try each, so that a dead service does not hold up the others.
    once = Web(settings.model_copy(update={"ncbi_max_retries": 1}), web.rates)
    services: dict[str, Source] = {}
    for source in sources:
        services.setdefault(_base(source, once), source)
    try:
        checks += check_access(once, list(services))
    except NotConfigured as error:
        return [*checks, Check("proxy and certificates", "problem", error.message, error.hint)]
    redirects: list[tuple[str, str]] = []
    once.on_redirect = lambda asked, final: redirects.append((asked, final))
    with ThreadPoolExecutor(len(services)) as pool:
        answers = list(pool.map(lambda source: _service(source, once), services.values()))
    answers = [_led_away(answer, redirects) for answer in answers]
    return checks + summarize(answers, once)


def _led_away(answer: ServiceCheck, redirects: Sequence[tuple[str, str]]) -> ServiceCheck:
    """Return a problem where the service's address led to somebody else: nothing of it was seen."""
    led = [final for asked, final in redirects if asked.startswith(answer.url)]
    if not led or not belongs_to_another(answer.url, led[-1]):
        return answer
    other = urlsplit(led[-1]).netloc
    error = Unreachable(f"{answer.host} led to {other}.", trouble="portal", leads_to=other)
    advice = "Open it in a browser: the network may want you to sign in."
    check = replace(answer.check, state="problem", detail=error.message, advice=advice)
    return replace(answer, check=check, error=error)


def _slow_sites(web: Web) -> Iterator[Check]:
    """Sites that are asked less often than their limit allows: they refused, or became slow."""
    for name, times in web.limiter.slowdowns().items():
        detail = f"{name} struggled of late: it is asked {times:.1f} times less often than it may"
        yield Check("pace", "warning", detail, "Nothing: it recovers by itself, within an hour.")


def _system() -> Iterator[Check]:
    """Versions of Papershelf, Python, the system and SQLite."""
    python = f"Python {platform.python_version()} ({platform.machine()})"
    system = f"{platform.system()} {platform.release()}"
    detail = f"Papershelf {version()}, {python}, {system}, {os.cpu_count() or 1} cores"
    yield Check("system", "ok", detail)
    with closing(sqlite3.connect(":memory:")) as database:
        options = {row[0] for row in database.execute("PRAGMA compile_options")}
    engine = f"SQLite {sqlite3.sqlite_version}"
    if "ENABLE_FTS5" in options:
        yield Check("database", "ok", f"{engine} with FTS5")
    else:
        advice = "Listings by word look through every paper; a Python built with FTS5 is faster."
        yield Check("database", "warning", f"{engine} without FTS5", advice)


def _plugins() -> Iterator[Check]:
    """The packages of others that add to Papershelf."""
    for plugin in installed():
        if isinstance(plugin, NotConfigured):
            yield Check("plugin", "problem", plugin.message, plugin.hint)
            continue
        parts = {
            "sources": [site.name for site in plugin.sources.values()],
            "commands": plugin.commands,
            "toolsets": plugin.toolsets,
            "settings": [name.upper() for name in plugin.settings],
        }
        added = "; ".join(f"{kind}: {', '.join(names)}" for kind, names in parts.items() if names)
        yield Check("plugin", "ok", f"{plugin.name} {plugin.version} adds {added or 'records'}")


def _contact(settings: Settings) -> Iterator[Check]:
    if fault := settings.email_fault:
        advice = "Set PUBMED_EMAIL to your own address; NCBI and Unpaywall require one."
        yield Check("e-mail", "problem", f"PUBMED_EMAIL {fault}", advice)
    else:
        yield Check("e-mail", "ok", settings.contact)
    for key in KEYS:
        if settings.key(key.setting):
            yield Check(key.setting.upper(), "ok", "set")
        else:
            yield Check(key.setting.upper(), "warning", "not set (optional)", key.gives)


def _folders(settings: Settings) -> Iterator[Check]:
    folder = settings.papers_dir
    nearest = next(path for path in (folder, *folder.parents) if path.exists())
    try:
        probe = nearest / ".papershelf-doctor"
        probe.touch()
        probe.unlink()
    except OSError as error:
        advice = "Choose a folder you may write to: PAPERS_DIR."
        yield Check("folder", "problem", f"{folder}: {error.strerror}", advice)
        return
    free = shutil.disk_usage(nearest).free
    state: Literal["ok", "warning"] = "ok" if free > _ENOUGH_BYTES else "warning"
    yield Check("folder", state, f"{folder} is writable, {free / 1e9:.1f} GB free")


def _texts(shelf: Shelf) -> Iterator[Check]:
    """Whether the present judges have seen every text."""
    try:
        due = shelf.verdicts.due()
    except PaperError as error:
        yield Check("texts", "problem", error.message, error.hint)
        return
    if due:
        yield Check("texts", "warning", describe_due(due), command_line("shelf audit"))
    elif there := shelf.counts()["full_text"]:
        yield Check("texts", "ok", f"{there:,} judged by the present judges")


def _service(source: Source, web: Web) -> ServiceCheck:
    url = _base(source, web)
    host = urlsplit(url).netloc
    try:
        return ServiceCheck(host, url, _ask(source, web))
    except NotConfigured as error:
        return ServiceCheck(
            *(host, url),
            Check(source.name, "problem", error.message, error.hint, source.name in _REQUIRED),
            error,
        )
    except PaperError as error:
        passing = "Try again later; the other services go on without it."
        advice = error.hint or ("" if error.details.get("lasting") else passing)
        # A site that asks us to wait is up.
        state: Literal["warning", "problem"] = "warning" if error.code == _BUSY else "problem"
        check = Check(source.name, state, error.message, advice, source.name in _REQUIRED)
        return ServiceCheck(host, url, check, error)


def _base(source: Source, web: Web) -> str:
    return str(getattr(web.settings, f"{source.service}_base_url"))


def _ask(source: Source, web: Web) -> Check:
    """Send one small request; where a source has a key, one that shows whether the key is good."""
    base = _base(source, web)
    host = urlsplit(base).netloc
    if source.check_access:
        about = source.check_access(web)
        return Check(source.name, "ok", f"{host} answered{about and f' {about}'}")
    # Any answer of its own will do, also "not found": the site is up.
    answer = web.get(base + (source.probe or "/"), allow=range(400, 600))
    if answer.status >= 500 or answer.status == 429:
        return Check(source.name, "warning", f"{host} answered {answer.status}", "Try again later.")
    if answer.media == "text/html" and _LOGIN.search(answer.body):
        msg = f"{host} answered with a page to sign in, which no interface has."
        raise Unreachable(msg, trouble="portal", leads_to="a page to sign in")
    if source.probe:
        answer.json()
    return Check(source.name, "ok", f"{host} answered")
