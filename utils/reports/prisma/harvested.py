"""The numbers of PRISMA's boxes that a harvest knows.

It knows what was searched, which records were duplicates, which reports were sought and which of
them could not be had. A limit of the harvest excludes nothing: what it left out is a remark. What
only reviewers can know (screening, eligibility, inclusion) stays open.
"""

from __future__ import annotations

from collections import Counter

from ...model.job import Job
from ..figures import Figures
from ..labels import STAND_INS
from .flow import Numbers, Parts

_NAME = 80  # characters of a list's name


def numbers_of(job: Job, figures: Figures) -> Numbers:
    """The numbers of a harvest in the places PRISMA has for them."""
    sought, retrieved = figures.total, figures.states["full_text"]
    pending = figures.states["pending"]
    origins = _origins(job, sought)
    return Numbers(
        databases=origins,
        duplicates=job.duplicates,
        excluded_automatic=0,
        excluded_other=0,
        dbr_sought_reports=sought,
        dbr_notretrieved_reports=sought - retrieved - pending,
        remarks=(*_left_out(job, origins, sought), *_of_retrieved(figures), *_untried(pending)),
    )


def _origins(job: Job, sought: int) -> Parts:
    """What each database that was searched found, then what each list held."""
    if not job.searches:  # a job of an older version
        identified = max(job.hits, sought + job.duplicates)
        return (("PubMed" if job.query else "Lists of identifiers", identified),)
    origins: Counter[str] = Counter()
    for search in sorted(job.searches, key=lambda one: not one.source):
        origins[search.name[:_NAME]] += search.hits
    return tuple(origins.items())


def _left_out(job: Job, origins: Parts, sought: int) -> tuple[str, ...]:
    """Records that were identified, and are not in the harvest, though nobody excluded them."""
    unseen = sum(max(0, search.hits - search.taken) for search in job.searches)
    beyond = sum(n for _, n in origins) - job.duplicates - sought - unseen
    made = []
    if unseen:
        made.append(f"{unseen:,} of the records identified were not handed out by the site.")
    if beyond > 0:
        made.append(f"{beyond:,} of the records identified lie beyond the limit of this harvest.")
    return tuple(made)


def _of_retrieved(figures: Figures) -> tuple[str, ...]:
    """Retrieved reports that are other versions, were accepted by hand or are doubtful."""
    parts = [(words, figures.versions[version]) for version, words in STAND_INS.items()]
    parts.append(("Accepted by hand", figures.by_hand.total))
    parts.append(("Full text with doubts", figures.doubtful.total))
    named = ", ".join(f"{words} (n = {n:,})" for words, n in parts if n)
    return (f"Of the reports retrieved: {named}.",) if named else ()


def _untried(pending: int) -> tuple[str, ...]:
    return (f"Of the reports sought, not tried yet (n = {pending:,}).",) if pending else ()
