"""From identifiers to files on the shelf, one paper or a few dozen (thousands: `..harvest.bulk`).

What is on the shelf is served; the rest is looked up in batches and climbs the `.ladder`.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Any

from ..errors import NotFound, PaperError, Unreachable
from ..http import not_older_than
from ..model.identifiers import Ids
from ..model.paper import INCONCLUSIVE, Paper, StoredPaper, Version, who_answered
from ..model.versions import NAMES, STAND_INS, meant, serves
from ..shelf import known_by_name_only
from .ladder import Climb, Ladder, may_climb_unknown
from .records import look_up

_PATIENCE_S = 10.0  # for turns at sites, while another one may have the text at once


@dataclass(frozen=True, slots=True)
class Download:
    """What a download came to.

    ``cached`` says that the file was on the shelf already and nobody was asked, or nobody had
    better; ``file_path`` is absolute; ``wants`` is the version asked for; ``unreached`` says why
    the sources of its full text could not be asked, empty where they were.
    """

    stored: StoredPaper
    cached: bool
    file_path: str
    wants: Version = "published"
    unreached: str = ""

    @property
    def source(self) -> str:
        """``Cache``, ``PMC``, ``DOI``, ``arXiv`` or ``PubMed_Abstract``."""
        return "Cache" if self.cached else self.stored.source

    @property
    def message(self) -> str:
        """One sentence for a person."""
        where = "already on the shelf" if self.cached else f"saved from {self.stored.via}"
        name = self.stored.paper.title or str(self.stored.paper.ids)
        if self.stored.kind == "full_text":
            aside = self.stored.version in STAND_INS
            whose = f"the {NAMES[self.stored.version]} of " if aside else ""
            how = f", accepted by hand ({self.stored.evidence})" * self.stored.by_hand
            how += f", with doubts ({self.stored.evidence})" * self.stored.is_doubtful
            return f"Full text of {whose}“{name}” {where}{how}.{self._stand_in_note}"
        what = "abstract" if self.stored.kind == "abstract" else "record, without an abstract,"
        return f"Only the {what} of “{name}” ({where}): {self._missing_text_note}."

    @property
    def _missing_text_note(self) -> str:
        """Why there is no full text."""
        if self.unreached:
            return f"its full text could not be asked for ({self.unreached.rstrip('.')})"
        tried = [a for a in self.stored.attempts if a.outcome != "skipped"]
        routes = {attempt.source for attempt in tried}
        if silent := routes - who_answered(tried, INCONCLUSIVE):
            return (
                f"{len(silent)} of {len(routes)} routes to its full text could not tell "
                f"({', '.join(sorted(silent))}). They are asked again when an hour has passed, or "
                "at once with force"
            )
        return f"no full text in {len(tried)} attempts"

    @property
    def _stand_in_note(self) -> str:
        """A note on a text that stands in for another version; else empty."""
        if serves(self.wants, self.stored):
            return ""
        return (
            f" It stands in for the {NAMES[self.wants]}, which nobody gave: that is asked for "
            "again when PAPERS_RETRY_ABSTRACT_DAYS have passed, or at once with force."
        )

    def row(self) -> dict[str, Any]:
        """The fields of the ``download_paper`` contract."""
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
            "retracted": stored.paper.retracted,
            "attempts": [
                {"source": a.source, "outcome": a.outcome, "detail": a.detail}
                for a in stored.attempts
            ],
        }


def download(
    wanted: Ids, ladder: Ladder, *, prefer_pmc: bool = True, force: bool = False
) -> Download:
    """Put one paper on the shelf, or return the copy that is already there.

    Parameters
    ----------
    wanted : Ids
        At least one identifier of the paper.
    ladder : Ladder
    prefer_pmc : bool, optional
        False asks the publisher's side before PMC.
    force : bool, optional
        Fetch again what is there; it is only replaced by something as good.

    Raises
    ------
    BadRequest
        The identifiers belong to different papers.
    NotFound
        Everybody answered, and nobody knows the paper.
    Unreachable
        Nobody who could know the paper could be asked.
    """
    [(_, outcome)] = download_many([wanted], ladder, prefer_pmc=prefer_pmc, force=force)
    if isinstance(outcome, PaperError):
        raise outcome
    return outcome


def download_many(
    wanted: Sequence[Ids],
    ladder: Ladder,
    *,
    prefer_pmc: bool = True,
    force: bool = False,
    workers: int = 8,
) -> Iterator[tuple[Ids, Download | PaperError]]:
    """Put many papers on the shelf; outcomes come as they are ready.

    What is held comes first and asks nobody. The rest is looked up in batches and climbed side by
    side: the pace of each host is kept for all threads together.
    """
    from concurrent.futures import ThreadPoolExecutor, as_completed

    offline = ladder.web.settings.papers_offline
    missing: list[Ids] = []
    for ids in dict.fromkeys(wanted):
        held = None if force else ladder.find_servable(ids)
        if held and (offline or not known_by_name_only(held)):
            yield ids, Download(held, cached=True, file_path=held.path, wants=meant(ids))
        else:
            missing.append(ids)
    if not missing:
        return
    if offline:
        yield from _download_local(missing, ladder)
        return
    with not_older_than(time.time() if force else 0.0):
        records = look_up(missing, ladder.web, ladder.sources)
    aliases = _group_same(records)
    # Of many papers one is read while others wait: there, the order of the ladder costs no time.
    patience_s = _PATIENCE_S if len(aliases) == 1 else inf
    pool = ThreadPoolExecutor(min(workers, len(aliases)), "ladder")
    try:
        jobs = {
            pool.submit(
                _download_one, same[0], records[same[0]], ladder, prefer_pmc, force, patience_s
            ): same
            for same in aliases
        }
        for job in as_completed(jobs):
            yield from ((ids, job.result()) for ids in jobs[job])
    finally:
        # Whoever stops listening (Ctrl-C, a closed pipe) wants no further paper fetched.
        pool.shutdown(wait=False, cancel_futures=True)


def _download_local(
    wanted: Sequence[Ids], ladder: Ladder
) -> Iterator[tuple[Ids, Download | PaperError]]:
    """Put on the shelf what needs no request (a mirror of PMC); for the rest say why not."""
    there = ladder.find_local(wanted)
    records = look_up(list(there), ladder.web, ladder.sources) if there else {}
    for ids in wanted:
        if ids not in there:
            yield ids, _offline_error(ids)
            continue
        record = records[ids]
        if not isinstance(record, Paper):
            record = Paper(ids | there[ids].ids)
        with_pmcid = replace(record, ids=record.ids | Ids(pmcid=there[ids].ids.pmcid))
        known = bool(record.recorded_by)
        yield ids, _climb_for(Climb(with_pmcid, known, meant(ids)), ladder)


def _group_same(records: dict[Ids, Paper | PaperError]) -> list[list[Ids]]:
    """Identifiers that mean the same version of the same paper, together: it is fetched once."""
    groups: dict[str, list[Ids]] = {}
    for ids, record in records.items():
        key = record.ids.key if isinstance(record, Paper) else repr(ids)
        groups.setdefault(f"{meant(ids)} {key}", []).append(ids)
    return list(groups.values())


def _download_one(
    ids: Ids,
    record: Paper | PaperError,
    ladder: Ladder,
    prefer_pmc: bool,
    force: bool,
    patience_s: float,
) -> Download | PaperError:
    """Climb for one paper; errors are outcomes here, because others are on their way too."""
    if isinstance(record, Paper):
        paper = record
    elif not force and (by_name := ladder.find_servable(ids)):
        return Download(by_name, cached=True, file_path=by_name.path, wants=meant(ids))
    elif may_climb_unknown(ids, record):
        paper = Paper(ids)
    else:
        return _held_meanwhile(ids, ladder, record, force=force)
    climb = Climb(paper, paper is record, meant(ids), force=force, patience_s=patience_s)
    made = _climb_for(climb, ladder, prefer_pmc=prefer_pmc)
    if isinstance(made, NotFound) and not isinstance(record, Paper):
        # No text and no record, because whoever keeps the records did not answer.
        return _held_meanwhile(ids, ladder, _could_not_tell(record, made), force=force)
    return made


def _held_meanwhile(
    ids: Ids, ladder: Ladder, error: PaperError, *, force: bool
) -> Download | PaperError:
    """Return what the shelf has while nobody can be asked, marked so; else the *error*."""
    held = ladder.shelf.find(ids, meant(ids))
    if force or not isinstance(error, Unreachable) or held is None or held.kind == "rejected":
        return error
    return Download(held, True, held.path, meant(ids), unreached=error.message)


def _climb_for(climb: Climb, ladder: Ladder, *, prefer_pmc: bool = True) -> Download | PaperError:
    """Climb for a paper, unless its text is on the shelf by now."""
    paper, wants = climb.paper, climb.wants
    try:
        with ladder.lease(paper):
            held = ladder.find_servable(paper.ids, wants)
            if held and not climb.force:
                held = ladder.learn(held, paper)
            if held and held.kind != "rejected" and not climb.force:
                return Download(held, cached=True, file_path=held.path, wants=wants)
            before = ladder.shelf.find(paper.ids, wants)
            if before:  # which may know names that today's record does not
                climb.paper = replace(paper, ids=paper.ids | before.paper.ids)
            # What was tried before is tried with other answers now.
            with not_older_than(time.time() if before and before.attempts else 0.0):
                stored = ladder.climb(climb, prefer_pmc=prefer_pmc)
    except PaperError as error:
        return error
    there = before is not None and (before.path, before.saved_at) == (stored.path, stored.saved_at)
    cached = there and stored.kind == "full_text"
    return Download(stored, cached=cached, file_path=stored.path, wants=wants)


def _could_not_tell(why: PaperError, nothing: NotFound) -> PaperError:
    """The lookup's error, with everything that was tried."""
    return type(why)(why.message, why.hint, **{**nothing.details, **why.details})


def _offline_error(ids: Ids) -> NotFound:
    msg = f"{ids} is not on the shelf, and PAPERS_OFFLINE forbids to fetch it."
    return NotFound(msg, "Unset PAPERS_OFFLINE and ask again.")
