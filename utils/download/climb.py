"""One paper's climb up the ladder: what is known about the paper, and what to do next.

`choose_next_action` only decides. Its two drivers act: `.download` for one paper after
the other, `..harvest.bulk` by lanes and batches.

=============  =======================================================  ===============  ==========
state          what is known                                            action           next state
=============  =======================================================  ===============  ==========
``requested``  the shelf has what was asked for                         `Serve`          ended
``requested``  anything else                                            `LookUp`         looked_up
``looked_up``  the shelf has it under a name that the record gave       `Serve`          ended
``looked_up``  no record, and no text could be recognised without one   `Fail`           ended
``looked_up``  anything else: as ``climbing``
``climbing``   a rung may have the text and can be asked                `Ask`            climbing
``climbing``   rungs may have the text, but none can be asked now       `Wait`           climbing
``climbing``   every rung was asked, or cannot have the text            `Settle`         ended
=============  =======================================================  ===============  ==========
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal
from urllib.parse import urlsplit

from ..errors import NotConfigured, PaperError, Unreachable
from ..model.identifiers import Ids
from ..model.paper import (
    INCONCLUSIVE,
    Attempt,
    Paper,
    StoredPaper,
    Version,
    find_answered_routes,
    is_within_seconds,
    utc_now,
)
from ..model.verdicts import TextCopy
from ..model.versions import (
    OTHER_VERSION,
    VERSION_NAMES,
    choose_best_text,
    get_shelf_version,
    infer_requested_version,
    is_accepted_version,
    is_only_preprint,
    is_request_satisfied,
)
from ..settings import Settings
from ..shelf import is_identified_by_name_only
from ..sources import Route, Source

_DAY_S = 86400.0
_INCONCLUSIVE_S = 3600.0
"""Seconds until a site without a definite answer is asked again."""
_NO_ANSWER = INCONCLUSIVE | {"saved", "skipped"}
"""Outcomes after which a rung is asked again.

``saved`` is included: the run may have been killed, or the text removed from the shelf since.
"""
State = Literal["requested", "looked_up", "climbing"]


@dataclass(frozen=True, slots=True)
class DownloadRequest:
    """A paper to download, and the options of the download.

    Parameters
    ----------
    ids : Ids
        At least one identifier.
    wants : Version, optional
        The version asked for; without it, the version that *ids* mean.
    force : bool, optional
        Fetch again a text that is on the shelf; only an equally good text replaces it.
    prefer_pmc : bool, optional
        False asks publishers before PMC.
    offline : bool, optional
        Send no request.
    retry : bool, optional
        Ask again, however recent the answers, if the shelf lacks a full text of that version.
    renewed : frozenset of str, optional
        Routes that may have something new: they are asked again in any case, and earlier answers
        of all other routes count, however old.
    """

    ids: Ids
    wants: Version = ""
    force: bool = False
    prefer_pmc: bool = True
    offline: bool = False
    retry: bool = False
    renewed: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        object.__setattr__(self, "wants", self.wants or infer_requested_version(self.ids))


@dataclass(frozen=True, slots=True)
class Rung:
    """One route to full text, and the site it belongs to."""

    route: Route
    source: Source

    @property
    def via(self) -> str:
        """The route's name."""
        return self.route.via


@dataclass(slots=True)
class Climb:
    """All that is known about one paper during its climb.

    ``find_texts`` finds the paper's texts on the shelf, and is called on first use; ``record`` is
    the paper, or the error of its lookup. ``passed`` names the rungs that are not asked again,
    ``standing`` holds the recent attempts of rungs that answered, and ``names`` are identifiers
    that only the shelf has. ``copies`` are other texts of the paper, rejected parts included, with
    which the next text is compared; None until they are looked up.
    """

    request: DownloadRequest
    find_texts: Callable[[Ids], list[StoredPaper]]
    record: Paper | PaperError | None = None
    state: State = "requested"
    tried: list[Attempt] = field(default_factory=list)
    passed: set[str] = field(default_factory=set)
    standing: Mapping[str, Sequence[Attempt]] = field(default_factory=dict)
    texts: list[StoredPaper] | None = None
    names: Ids = field(default_factory=Ids)
    copies: list[TextCopy] | None = None

    @property
    def paper(self) -> Paper:
        """The paper by its record; without one, by its identifiers."""
        paper = self.record if isinstance(self.record, Paper) else Paper(self.request.ids)
        return replace(paper, ids=paper.ids | self.names) if self.names else paper

    @property
    def stored(self) -> StoredPaper | None:
        """The text on the shelf that fits the requested version best."""
        return choose_best_text(self.request.wants, self._get_shelf_texts())

    def has_text(self, version: Version) -> bool:
        """Return whether the shelf has the full text of this version."""
        return any(
            text.kind == "full_text" and get_shelf_version(text) == version
            for text in self._get_shelf_texts()
        )

    def list_full_texts(self) -> list[StoredPaper]:
        """Return the full texts of the paper on the shelf."""
        return [text for text in self._get_shelf_texts() if text.kind == "full_text"]

    def add_stored_text(self, stored: StoredPaper) -> None:
        """Add a text that was saved on the shelf, or changed there."""
        self.texts = [text for text in self._get_shelf_texts() if text.path != stored.path] + [
            stored
        ]

    def record_attempts(self, attempts: Sequence[Attempt]) -> None:
        """Add attempts; the rungs that they name are not asked again."""
        self.state = "climbing"
        self.tried += attempts
        self.passed |= {attempt.source for attempt in attempts}

    def _get_shelf_texts(self) -> list[StoredPaper]:
        """Return all texts of the paper on the shelf, found at the first call."""
        if self.texts is None:
            self.texts = self.find_texts(self.paper.ids)
        return self.texts


@dataclass(frozen=True, slots=True)
class Serve:
    """Return what is on the shelf."""

    stored: StoredPaper


@dataclass(frozen=True, slots=True)
class LookUp:
    """Look up the paper's record."""


@dataclass(frozen=True, slots=True)
class Fail:
    """Give up, because the paper has no record and cannot be recognised without one."""

    error: PaperError


@dataclass(frozen=True, slots=True)
class Ask:
    """Ask a rung; ``notes`` explain skipped rungs, ``away`` are rungs that cannot be asked now."""

    rung: Rung
    notes: Sequence[Attempt]
    away: Sequence[Rung]


@dataclass(frozen=True, slots=True)
class Wait:
    """Wait for one of the rungs ``away``; a driver that cannot wait settles instead."""

    notes: Sequence[Attempt]
    away: Sequence[Rung]


@dataclass(frozen=True, slots=True)
class Settle:
    """Keep the abstract, unless there is a full text of another version."""

    notes: Sequence[Attempt]


Action = Serve | LookUp | Fail | Ask | Wait | Settle
IsAway = Callable[[Rung], bool]


def choose_next_action(
    climb: Climb, rungs: Sequence[Rung], settings: Settings, is_away: IsAway
) -> Action:
    """Return what to do next for a paper; see the table above.

    *rungs* is the whole ladder in the order of the request; *is_away* tells which cannot be asked
    now.
    """
    if climb.state != "climbing":
        if stored := find_servable_text(climb, rungs, settings):
            return Serve(stored)
        if climb.record is None:
            return LookUp()
        if isinstance(climb.record, PaperError) and not _is_recognisable_without_record(climb):
            return Fail(climb.record)
    return _choose_next_rung(climb, rungs, settings, is_away)


def _choose_next_rung(
    climb: Climb, rungs: Sequence[Rung], settings: Settings, is_away: IsAway
) -> Ask | Wait | Settle:
    """Return the next rung to ask, with an explanation for each skipped rung."""
    notes: list[Attempt] = []
    passed_over: list[Rung] = []
    for rung in _sort_rungs_for_version(climb, rungs):
        if rung.via in climb.passed or _is_silently_skipped(rung, climb, settings):
            continue
        if reason := _explain_impossible_rung(rung, climb.paper, settings):
            notes.append(Attempt(rung.via, "skipped", reason))
        elif rung.via in climb.standing:
            notes += climb.standing[rung.via]
        elif reason := _explain_redundant_rung(rung, climb, notes, rungs):
            notes.append(Attempt(rung.via, OTHER_VERSION, reason))
        elif is_away(rung):
            passed_over.append(rung)
        else:
            return Ask(rung, notes, passed_over)
    return Wait(notes, passed_over) if passed_over else Settle(notes)


def find_servable_text(
    climb: Climb, rungs: Sequence[Rung], settings: Settings
) -> StoredPaper | None:
    """Return the text on the shelf that may be returned without asking any site, if any.

    A rejected text is never returned. A file that is identified only by its name is returned only
    if no record is available.
    """
    request = climb.request
    stored = None if request.force or request.renewed else climb.stored
    if stored is None or stored.kind == "rejected":
        return None
    if climb.record is None and is_identified_by_name_only(stored) and not request.offline:
        return None
    is_served = is_request_satisfied(request.wants, stored)
    if request.retry:
        return stored if is_served else None
    if request.offline or (is_served and not stored.is_doubtful):
        return stored
    return None if is_worth_trying_again(stored, rungs, settings) else stored


def is_worth_trying_again(stored: StoredPaper, rungs: Sequence[Rung], settings: Settings) -> bool:
    """Return whether a rung, or the paper's record, may have something new by now."""
    if not stored.attempts:
        return True  # shelved by a harvest or an older program, before any site was asked
    if not is_within_seconds(
        _get_retry_interval_s(settings), max(attempt.at for attempt in stored.attempts)
    ):
        return True
    is_settled = stored.kind == "full_text" and not stored.is_doubtful
    has_version = stored.version if is_settled else None
    asked_of_late = set(find_valid_attempts(stored, settings))
    asked_of_late |= {
        attempt.source
        for attempt in stored.attempts
        if attempt.outcome != "skipped" and is_within_seconds(_INCONCLUSIVE_S, attempt.at)
    }
    return any(
        rung.via not in asked_of_late and not _explain_impossible_rung(rung, stored.paper, settings)
        for rung in rungs
        if rung.route.version != has_version
        and not is_foreign(rung, stored.paper, stored.attempts, settings)
    )


def find_valid_attempts(
    stored: StoredPaper, settings: Settings, renewed: frozenset[str] = frozenset()
) -> dict[str, list[Attempt]]:
    """Return by rung the recent attempts with a definite answer, which need no repetition.

    With *renewed*, return the attempts of all other rungs, however old; see `DownloadRequest`.
    """
    standing: dict[str, list[Attempt]] = {}
    answered = find_answered_routes(stored.attempts, _NO_ANSWER)
    for attempt in stored.attempts:
        is_recent = bool(renewed) or is_within_seconds(_get_retry_interval_s(settings), attempt.at)
        if is_recent and attempt.source in answered - renewed:
            standing.setdefault(attempt.source, []).append(attempt)
    return standing


def _get_retry_interval_s(settings: Settings) -> float:
    return settings.papers_retry_abstract_days * _DAY_S


def _sort_rungs_for_version(climb: Climb, rungs: Sequence[Rung]) -> Sequence[Rung]:
    """Return the rungs; preprint servers come last, or first if a preprint is requested.

    For a paper that exists only as a preprint, all rungs have the same text.
    """
    if is_only_preprint(climb.paper):
        return rungs
    first = climb.request.wants == "preprint"
    return sorted(rungs, key=lambda rung: (rung.route.version == "preprint") != first)


def _is_silently_skipped(rung: Rung, climb: Climb, settings: Settings) -> bool:
    """Return whether a rung is skipped without an explanation; so is a local one with *force*."""
    is_unwanted = climb.request.force and rung.route.local
    attempts = [*climb.tried, *itertools.chain.from_iterable(climb.standing.values())]
    return is_unwanted or is_foreign(rung, climb.paper, attempts, settings)


def is_foreign(rung: Rung, paper: Paper, attempts: Sequence[Attempt], settings: Settings) -> bool:
    """Return whether a rung has other papers only, by the paper's DOI and by other attempts.

    These are another publisher's papers, if no key may open more, or papers that no locator found
    at the rung's site (`Route.only_named`).
    """
    route = rung.route
    if paper.ids.doi.startswith(route.prefixes):
        return False
    if route.only_named:
        return not any(_names_site(attempt, rung.source, settings) for attempt in attempts)
    return bool(route.prefixes) and not (route.key and settings.key(route.key))


def _names_site(attempt: Attempt, source: Source, settings: Settings) -> bool:
    """Return whether an attempt in vain led to one of a site's hosts."""
    if attempt.outcome in {"saved", OTHER_VERSION}:
        return False
    if attempt.url.startswith(f"{settings.address(source.service)}/"):
        return True
    try:
        host = urlsplit(attempt.url).hostname or ""
    except ValueError:
        return False
    return any(f".{host}".endswith(f".{known}") for known in source.hosts)


def _explain_impossible_rung(rung: Rung, paper: Paper, settings: Settings) -> str:
    """Return why a rung cannot have this paper; "" if it may."""
    route = rung.route
    if not any(getattr(paper.ids, name) for name in route.needs):
        return f"the paper has no {' or '.join(route.needs)}"
    if route.key and not settings.key(route.key):
        return f"needs {route.key.upper()}"
    if rung.source.label == "PMC" and paper.released > utc_now()[:10]:
        return f"embargoed until {paper.released}"
    return ""


def _explain_redundant_rung(
    rung: Rung, climb: Climb, notes: Sequence[Attempt], rungs: Sequence[Rung]
) -> str:
    """Return why a rung can only supply a version that is not needed; "" if it may supply more."""
    version = rung.route.version
    if climb.request.force:
        return ""
    if version and not is_accepted_version(climb.request.wants, version, climb.paper):
        if climb.has_text(version):
            return f"The {VERSION_NAMES[version]} is on the shelf already."
    elif rung.source.label == "PMC":
        routes = {other.via for other in rungs if other.source.label == "PMC"}
        others = {
            attempt.source for attempt in (*climb.tried, *notes) if attempt.outcome == OTHER_VERSION
        }
        if brought := sorted(routes & others):  # there is one article behind all of them
            return f"{brought[0]} delivered the copy that PMC has."
    return ""


def _is_recognisable_without_record(climb: Climb) -> bool:
    """Return whether a text can be recognised without a record, by its identifiers.

    Without an e-mail address (`NotConfigured`), only identifiers of sites that need none count.
    """
    ids = climb.request.ids
    if isinstance(climb.record, NotConfigured):
        return bool(ids.pmcid or ids.arxiv)
    return isinstance(climb.record, Unreachable) and bool(ids.pmcid or ids.doi or ids.arxiv)
