"""Download papers by identifier, one or a few dozen (for thousands: `..harvest.bulk`).

Papers on the shelf are returned; the others are looked up in batches and climb the `.ladder`.
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
from .records import look_up_records

if TYPE_CHECKING:
    from pandas import DataFrame

log = logging.getLogger(__name__)
_PATIENCE_S = 10.0  # of waiting for sites, while another site may have the text at once


@dataclass(frozen=True, slots=True)
class Download(TabularResult):
    """The result of a download.

    ``cached`` is True if the text was on the shelf already and no source had a better one;
    ``file_path`` is absolute; ``wants`` is the requested version; ``unreached`` explains why no
    source of the full text could be asked, and is "" if sources were asked.
    """

    stored: StoredPaper
    cached: bool
    file_path: str
    wants: Version = "published"
    unreached: str = ""

    def to_table(self) -> Table:
        """Return the paper's row."""
        return Table.from_rows((*STORED_COLUMNS, "message"), [self.to_table_row()])

    def to_table_row(self) -> dict[str, Any]:
        """Return the paper, its text and the message as a table row."""
        return self.stored.row() | {"message": self.message}

    @property
    def source(self) -> str:
        """One of ``Cache``, ``PMC``, ``DOI``, ``arXiv`` and ``PubMed_Abstract``."""
        return "Cache" if self.cached else self.stored.source

    @property
    def message(self) -> str:
        """The result as one sentence."""
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
        """A note if the text is another version than the requested one; else ""."""
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
    """The outcomes of downloads, in the order in which they are ready."""

    def __init__(self, outcomes: Generator[tuple[Ids, Download | PaperError]]) -> None:
        self._outcomes = outcomes

    def __next__(self) -> tuple[Ids, Download | PaperError]:
        """Wait for the next outcome."""
        return next(self._outcomes)

    def close(self) -> None:
        """Start no further downloads."""
        self._outcomes.close()

    def to_dataframe(self) -> DataFrame:
        """Download the remaining papers, and return a row for each as a pandas DataFrame.

        The column ``error`` explains a failed download.
        """
        columns = (*STORED_COLUMNS, "message", "error")
        return Table.from_rows(columns, map(_outcome_to_row, self)).to_dataframe()


def _outcome_to_row(outcome: tuple[Ids, Download | PaperError]) -> dict[str, Any]:
    ids, result = outcome
    if isinstance(result, PaperError):
        return {"pmid": ids.pmid, "doi": ids.doi, "pmcid": ids.pmcid, "error": str(result)}
    return result.to_table_row()


def download(request: DownloadRequest, ladder: Ladder) -> Download:
    """Save one paper on the shelf, or return the copy that is already there.

    Raises
    ------
    BadRequest
        The identifiers belong to different papers.
    NotFound
        All sources answered, and none has the paper.
    Unreachable
        No source that may have the paper could be asked.
    """
    [(_, outcome)] = download_many([request], ladder)
    if isinstance(outcome, PaperError):
        raise outcome
    return outcome


def download_many(
    requests: Sequence[DownloadRequest], ladder: Ladder, *, workers: int = 8
) -> Iterator[tuple[Ids, Download | PaperError]]:
    """Save many papers on the shelf; yield their outcomes as they are ready.

    Papers on the shelf come first and cost no request. The others are looked up in batches, and
    climb side by side: the rate limit of each host counts for all threads together.
    """
    from concurrent.futures import ThreadPoolExecutor, as_completed

    missing: list[Climb] = []
    for request in dict.fromkeys(requests):
        climb = ladder.start_climb(request)
        if isinstance(action := ladder.choose_next_action(climb), Serve):
            yield request.ids, _build_stored_download(climb, action.stored)
        else:
            missing.append(climb)
    yield from _save_local_papers([climb for climb in missing if climb.request.offline], ladder)
    if not (missing := [climb for climb in missing if not climb.request.offline]):
        return
    force = any(climb.request.force for climb in missing)
    with require_answers_since(time.time() if force else 0.0):
        records = look_up_records(
            [climb.request.ids for climb in missing], ladder.web, ladder.sources
        )
    for climb in missing:
        climb.record = records[climb.request.ids]
    groups = _group_same_papers(missing)
    # With several papers, one is read while others wait, so that waiting for a site costs no time.
    patience_s = _PATIENCE_S if len(groups) == 1 else inf
    pool = ThreadPoolExecutor(min(workers, len(groups)), "ladder")
    try:
        jobs = {pool.submit(_climb_for_paper, same[0], ladder, patience_s): same for same in groups}
        for job in as_completed(jobs):
            yield from ((climb.request.ids, job.result()) for climb in jobs[job])
    finally:
        # A caller that stops iterating (Ctrl-C, a closed pipe) wants no further paper.
        pool.shutdown(wait=False, cancel_futures=True)


def _save_local_papers(
    climbs: Sequence[Climb], ladder: Ladder
) -> Iterator[tuple[Ids, Download | PaperError]]:
    """Save papers that need no request (from a mirror of PMC); yield an error for the others."""
    local = ladder.find_local_texts([climb.request.ids for climb in climbs]) if climbs else {}
    records = look_up_records(list(local), ladder.web, ladder.sources) if local else {}
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


def _group_same_papers(climbs: Sequence[Climb]) -> list[list[Climb]]:
    """Group the requests for the same version of one paper, which is fetched once."""
    groups: dict[str, list[Climb]] = {}
    for climb in climbs:
        key = climb.record.ids.key if isinstance(climb.record, Paper) else repr(climb.request.ids)
        groups.setdefault(f"{climb.request.wants} {key}", []).append(climb)
    return list(groups.values())


def _climb_for_paper(climb: Climb, ladder: Ladder, patience_s: float) -> Download | PaperError:
    """Climb for a paper; return an error as an outcome, so that other downloads continue."""
    try:
        with ladder.web.leases.hold_lease(get_lease_name(climb.paper), str(climb.paper.ids)):
            climb.state, climb.texts = "looked_up", None  # search again, with all identifiers
            ladder.merge_record_and_text(climb)
            before, force = climb.stored, climb.request.force
            if before and not force:
                renewed = climb.request.renewed
                climb.standing = find_valid_attempts(before, ladder.web.settings, renewed)
            # A repeated download must not reuse the answers of the earlier attempts.
            anew = force or (before and before.attempts)
            with require_answers_since(time.time() if anew else 0.0):
                return _climb_until_done(climb, ladder, Patience(patience_s))
    except PaperError as error:
        return error


def _climb_until_done(climb: Climb, ladder: Ladder, patience: Patience) -> Download | PaperError:
    """Perform the actions for a paper until its climb has ended.

    A rung with a long wait counts as away until all others were asked. It is skipped if another
    version of the text was found meanwhile.
    """
    before, postponed, has_stand_in = climb.stored, dict[str, tuple[float, Step]](), False
    while True:
        match ladder.choose_next_action(climb, lambda rung: rung.via in postponed):
            case Serve(stored):
                return _build_stored_download(climb, stored)
            case Ask(rung, notes):
                climb.record_attempts(notes)
                step = ladder.begin_step(climb)
                with patience.apply():
                    ladder.ask_rung(rung, [step])
                has_stand_in = has_stand_in or bool(step.document)
                if patience.needed_s and not step.document:
                    postponed[rung.via] = time.time() + patience.needed_s, step
                    continue
            case Wait(notes, away):
                climb.record_attempts(notes)
                rung = min(away, key=lambda rung: postponed[rung.via][0])
                due, step = postponed[rung.via]
                if not has_stand_in:
                    _announce_wait(climb, rung, due)
                    [step] = ladder.ask_rung(rung, [ladder.begin_step(climb)])
            case Fail(error):
                return _build_unreached_download(climb, error)
            case Settle(notes):
                climb.record_attempts(notes)
                return _build_fallback_result(climb, ladder, before)
        if saved := ladder.store_result(rung, step, climb):
            return _build_saved_download(climb, saved, before)


def _announce_wait(climb: Climb, rung: Rung, due: float) -> None:
    if (wait_s := due - time.time()) > 1:
        text = "%s: no full text so far. Waiting %.0f s for %s."
        log.warning(text, climb.paper.ids, wait_s, rung.source.title)


def _build_fallback_result(
    climb: Climb, ladder: Ladder, before: StoredPaper | None
) -> Download | PaperError:
    """Return the saved abstract, or the error if neither a text nor a record was found."""
    if stored := ladder.save_fallback(climb):
        return _build_saved_download(climb, stored, before)
    msg = f"No text of {climb.paper.ids} was found in {len(climb.tried)} attempts."
    attempts = [asdict(attempt) for attempt in climb.tried]
    if not isinstance(error := climb.record, PaperError):
        return NotFound(msg, attempts=attempts)
    return _build_unreached_download(
        climb, type(error)(error.message, error.hint, **{"attempts": attempts, **error.details})
    )


def _build_stored_download(climb: Climb, stored: StoredPaper) -> Download:
    """Return the outcome for a text that is on the shelf already."""
    return Download(stored, cached=True, file_path=stored.path, wants=climb.request.wants)


def _build_saved_download(
    climb: Climb, stored: StoredPaper, before: StoredPaper | None
) -> Download:
    """Return the outcome for a saved text, marked as cached if unchanged since *before*."""
    is_same = before is not None and (before.path, before.saved_at) == (
        stored.path,
        stored.saved_at,
    )
    cached = is_same and stored.kind == "full_text"
    return replace(_build_stored_download(climb, stored), cached=cached)


def _build_unreached_download(climb: Climb, error: PaperError) -> Download | PaperError:
    """Return the outcome for a text on the shelf while no site can be asked; else the *error*."""
    stored = climb.stored
    if climb.request.force or not isinstance(error, Unreachable):
        return error
    if stored is None or stored.kind == "rejected":
        return error
    return replace(_build_stored_download(climb, stored), unreached=error.message)


def _build_offline_error(ids: Ids) -> NotFound:
    msg = f"{ids} is not on the shelf, and PAPERS_OFFLINE prevents downloading it."
    return NotFound(msg, "Unset PAPERS_OFFLINE and try again.")
