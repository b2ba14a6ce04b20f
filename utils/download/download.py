"""From identifiers to files on the shelf, one paper or a few dozen (thousands: `..harvest.bulk`).

What is on the shelf is served; the rest is looked up in batches and climbs the `.ladder`.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Generator, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from math import inf
from typing import TYPE_CHECKING, Any

from ..errors import NotFound, PaperError, Unreachable
from ..http import Patience, require_answers_since
from ..model.identifiers import Ids
from ..model.paper import (
    INCONCLUSIVE,
    STORED_COLUMNS,
    Paper,
    StoredPaper,
    Version,
    find_answered_routes,
)
from ..model.tabular import Table, TabularResult
from ..model.versions import UNPUBLISHED_VERSIONS, VERSION_NAMES, is_request_satisfied
from .climb import Ask, Climb, DownloadRequest, Fail, Rung, Serve, Settle, Wait, find_valid_attempts
from .ladder import Ladder, Step, get_lease_name
from .records import look_up

if TYPE_CHECKING:
    from pandas import DataFrame

log = logging.getLogger(__name__)
_PATIENCE_S = 10.0  # for turns at sites, while another one may have the text at once


@dataclass(frozen=True, slots=True)
class Download(TabularResult):
    """The result of a download.

    ``cached`` says that the file was on the shelf already and nobody was asked, or nobody had
    better; ``file_path`` is absolute; ``wants`` is the version asked for; ``unreached`` says why
    the sources of its full text could not be asked, empty where they were.
    """

    stored: StoredPaper
    cached: bool
    file_path: str
    wants: Version = "published"
    unreached: str = ""

    def to_table(self) -> Table:
        """Return the paper's row."""
        return Table.from_rows((*STORED_COLUMNS, "message"), [self.table_row()])

    def table_row(self) -> dict[str, Any]:
        """Return the paper, its text and what happened as one row of a table."""
        return self.stored.row() | {"message": self.message}

    @property
    def source(self) -> str:
        """One of ``Cache``, ``PMC``, ``DOI``, ``arXiv`` and ``PubMed_Abstract``."""
        return "Cache" if self.cached else self.stored.source

    @property
    def message(self) -> str:
        """One sentence for a person."""
        where = "already on the shelf" if self.cached else f"saved from {self.stored.via}"
        name = self.stored.paper.title or str(self.stored.paper.ids)
        if self.stored.kind == "full_text":
            aside = self.stored.version in UNPUBLISHED_VERSIONS
            whose = f"the {VERSION_NAMES[self.stored.version]} of " if aside else ""
            how = f", accepted by hand ({self.stored.evidence})" * self.stored.by_hand
            how += f", with doubts ({self.stored.evidence})" * self.stored.is_doubtful
            return f"Full text of {whose}“{name}” {where}{how}.{self._stand_in_note}"
        what = "abstract" if self.stored.kind == "abstract" else "record, without an abstract,"
        return f"Only the {what} of “{name}” ({where}): {self._missing_text_note}."

    @property
    def _missing_text_note(self) -> str:
        """The reason for the missing full text."""
        if self.unreached:
            return f"its full text could not be requested ({self.unreached.rstrip('.')})"
        tried = [a for a in self.stored.attempts if a.outcome != "skipped"]
        routes = {attempt.source for attempt in tried}
        if silent := routes - find_answered_routes(tried, INCONCLUSIVE):
            return (
                f"{len(silent)} of {len(routes)} routes to its full text gave no answer "
                f"({', '.join(sorted(silent))}). They are tried again after an hour, or at once "
                "with force"
            )
        return f"no full text in {len(tried)} attempts"

    @property
    def _stand_in_note(self) -> str:
        """A note on a text of another version than the one asked for; else empty."""
        if is_request_satisfied(self.wants, self.stored):
            return ""
        return (
            f" The {VERSION_NAMES[self.wants]} was not found, so this is used instead. It is "
            "requested again after PAPERS_RETRY_ABSTRACT_DAYS days, or at once with force."
        )

    def row(self) -> dict[str, Any]:
        """Return the fields of the ``download_paper`` contract."""
        stored = self.stored
        return {
            "success": True,
            "file_path": self.file_path,
            "source": self.source,
            "message": self.message,
            "kind": stored.kind,
            "version": stored.version,
            "preprint_version": stored.preprint_version,
            "via": stored.via,
            "verdict": stored.verdict,
            "license": stored.license,
            "permissions": stored.permissions.to_details(),
            "retracted": stored.paper.retracted,
            "attempts": [
                {"source": a.source, "outcome": a.outcome, "detail": a.detail}
                for a in stored.attempts
            ],
        }


class Downloads(Iterator[tuple[Ids, Download | PaperError]]):
    """Outcomes of downloads, in the order in which they are ready."""

    def __init__(self, outcomes: Generator[tuple[Ids, Download | PaperError]]) -> None:
        self._outcomes = outcomes

    def __next__(self) -> tuple[Ids, Download | PaperError]:
        """Wait for the next outcome."""
        return next(self._outcomes)

    def close(self) -> None:
        """Start no further download."""
        self._outcomes.close()

    def to_dataframe(self) -> DataFrame:
        """Download the remaining papers, and return a row for each as a pandas DataFrame.

        The column ``error`` says why a paper could not be had.
        """
        columns = (*STORED_COLUMNS, "message", "error")
        return Table.from_rows(columns, map(_outcome_row, self)).to_dataframe()


def _outcome_row(outcome: tuple[Ids, Download | PaperError]) -> dict[str, Any]:
    ids, result = outcome
    if isinstance(result, PaperError):
        return {"pmid": ids.pmid, "doi": ids.doi, "pmcid": ids.pmcid, "error": str(result)}
    return result.table_row()


def download(request: DownloadRequest, ladder: Ladder) -> Download:
    """Put one paper on the shelf, or return the copy that is already there.

    Raises
    ------
    BadRequest
        The identifiers belong to different papers.
    NotFound
        Everybody answered, and nobody knows the paper.
    Unreachable
        Nobody who could know the paper could be asked.
    """
    [(_, outcome)] = download_many([request], ladder)
    if isinstance(outcome, PaperError):
        raise outcome
    return outcome


def download_many(
    requests: Sequence[DownloadRequest], ladder: Ladder, *, workers: int = 8
) -> Iterator[tuple[Ids, Download | PaperError]]:
    """Put many papers on the shelf; outcomes come as they are ready.

    Papers on the shelf come first and cost no request. The others are looked up in batches, and
    climb side by side: the rate limit of each host counts for all threads together.
    """
    from concurrent.futures import ThreadPoolExecutor, as_completed

    missing: list[Climb] = []
    for request in dict.fromkeys(requests):
        climb = ladder.start_climb(request)
        if isinstance(action := ladder.next_action(climb), Serve):
            yield request.ids, _serve_stored(climb, action.stored)
        else:
            missing.append(climb)
    yield from _download_local([climb for climb in missing if climb.request.offline], ladder)
    if not (missing := [climb for climb in missing if not climb.request.offline]):
        return
    force = any(climb.request.force for climb in missing)
    with require_answers_since(time.time() if force else 0.0):
        records = look_up([climb.request.ids for climb in missing], ladder.web, ladder.sources)
    for climb in missing:
        climb.record = records[climb.request.ids]
    groups = _group_same(missing)
    # Of many papers one is read while others wait: there, the order of the ladder costs no time.
    patience_s = _PATIENCE_S if len(groups) == 1 else inf
    pool = ThreadPoolExecutor(min(workers, len(groups)), "ladder")
    try:
        jobs = {pool.submit(_climb_for_paper, same[0], ladder, patience_s): same for same in groups}
        for job in as_completed(jobs):
            yield from ((climb.request.ids, job.result()) for climb in jobs[job])
    finally:
        # Whoever stops listening (Ctrl-C, a closed pipe) wants no further paper fetched.
        pool.shutdown(wait=False, cancel_futures=True)


def _download_local(
    climbs: Sequence[Climb], ladder: Ladder
) -> Iterator[tuple[Ids, Download | PaperError]]:
    """Put on the shelf what needs no request (a mirror of PMC); for the rest say why not."""
    local = ladder.find_local([climb.request.ids for climb in climbs]) if climbs else {}
    records = look_up(list(local), ladder.web, ladder.sources) if local else {}
    for climb in climbs:
        ids = climb.request.ids
        if ids not in local:
            yield ids, _build_offline_error(ids)
            continue
        record = records[ids]
        climb.record = record if isinstance(record, Paper) else Paper(ids | local[ids].ids)
        names = climb.record.ids | Ids(pmcid=local[ids].ids.pmcid)
        climb.record = replace(climb.record, ids=names)
        yield ids, _climb_for_paper(climb, ladder, inf)


def _group_same(climbs: Sequence[Climb]) -> list[list[Climb]]:
    """Group the requests for the same version of the same paper: it is fetched once."""
    groups: dict[str, list[Climb]] = {}
    for climb in climbs:
        key = climb.record.ids.key if isinstance(climb.record, Paper) else repr(climb.request.ids)
        groups.setdefault(f"{climb.request.wants} {key}", []).append(climb)
    return list(groups.values())


def _climb_for_paper(climb: Climb, ladder: Ladder, patience_s: float) -> Download | PaperError:
    """Climb for a paper; return an error as an outcome, because other papers are under way."""
    try:
        with ladder.web.leases.hold_lease(get_lease_name(climb.paper), str(climb.paper.ids)):
            climb.state, climb.texts = "looked_up", None  # under all names, and as it is by now
            ladder.learn(climb)
            before, force = climb.stored, climb.request.force
            if before and not force:
                renewed = climb.request.renewed
                climb.standing = find_valid_attempts(before, ladder.web.settings, renewed)
            # What was tried before is tried with other answers now.
            anew = force or (before and before.attempts)
            with require_answers_since(time.time() if anew else 0.0):
                return _climb_to_end(climb, ladder, Patience(patience_s))
    except PaperError as error:
        return error


def _climb_to_end(climb: Climb, ladder: Ladder, patience: Patience) -> Download | PaperError:
    """Do what is next for a paper until it has ended.

    A rung whose turn is far away counts as away until all others were asked. It is not waited for
    where another version of the text was found meanwhile.
    """
    before, postponed, has_stand_in = climb.stored, dict[str, tuple[float, Step]](), False
    while True:
        match ladder.next_action(climb, lambda rung: rung.via in postponed):
            case Serve(stored):
                return _serve_stored(climb, stored)
            case Ask(rung, notes):
                climb.note(notes)
                step = ladder.begin_step(climb)
                with patience.apply():
                    ladder.ask(rung, [step])
                has_stand_in = has_stand_in or bool(step.document)
                if patience.needed_s and not step.document:
                    postponed[rung.via] = time.time() + patience.needed_s, step
                    continue
            case Wait(notes, away):
                climb.note(notes)
                rung = min(away, key=lambda rung: postponed[rung.via][0])
                due, step = postponed[rung.via]
                if not has_stand_in:
                    _announce_wait(climb, rung, due)
                    [step] = ladder.ask(rung, [ladder.begin_step(climb)])
            case Fail(error):
                return _serve_unreached(climb, error)
            case Settle(notes):
                climb.note(notes)
                return _settle_climb(climb, ladder, before)
        if saved := ladder.take(rung, step, climb):
            return _to_saved(climb, saved, before)


def _announce_wait(climb: Climb, rung: Rung, due: float) -> None:
    if (wait_s := due - time.time()) > 1:
        text = "%s: no full text so far. Waiting %.0f s for %s."
        log.warning(text, climb.paper.ids, wait_s, rung.source.title)


def _settle_climb(
    climb: Climb, ladder: Ladder, before: StoredPaper | None
) -> Download | PaperError:
    """Return the abstract, or else why there is neither a text nor a record."""
    if stored := ladder.settle(climb):
        return _to_saved(climb, stored, before)
    msg = f"No text of {climb.paper.ids} was found in {len(climb.tried)} attempts."
    attempts = [asdict(attempt) for attempt in climb.tried]
    if not isinstance(why := climb.record, PaperError):
        return NotFound(msg, attempts=attempts)
    return _serve_unreached(
        climb, type(why)(why.message, why.hint, **{"attempts": attempts, **why.details})
    )


def _serve_stored(climb: Climb, stored: StoredPaper) -> Download:
    """Return what is on the shelf as the outcome."""
    return Download(stored, cached=True, file_path=stored.path, wants=climb.request.wants)


def _to_saved(climb: Climb, stored: StoredPaper, before: StoredPaper | None) -> Download:
    """Return what was put on the shelf, or what was there *before* and is as good."""
    is_same = before is not None and (before.path, before.saved_at) == (
        stored.path,
        stored.saved_at,
    )
    cached = is_same and stored.kind == "full_text"
    return replace(_serve_stored(climb, stored), cached=cached)


def _serve_unreached(climb: Climb, error: PaperError) -> Download | PaperError:
    """Return what the shelf has while no site can be asked, marked so; else the *error*."""
    stored = climb.stored
    if climb.request.force or not isinstance(error, Unreachable):
        return error
    if stored is None or stored.kind == "rejected":
        return error
    return replace(_serve_stored(climb, stored), unreached=error.message)


def _build_offline_error(ids: Ids) -> NotFound:
    msg = f"{ids} is not on the shelf, and PAPERS_OFFLINE prevents downloading it."
    return NotFound(msg, "Unset PAPERS_OFFLINE and try again.")
