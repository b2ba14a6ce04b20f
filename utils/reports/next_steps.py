"""What can be done about a harvest from here, with the commands to copy."""

from __future__ import annotations

import shlex
from typing import NamedTuple

from ..model.job import Job
from ..model.verdicts import MEANINGS
from .figures import Figures
from .labels import ASIDE, counted
from .lock_file import NAME as LOCK
from .tables import NOT_RETRIEVED

# Outcomes that may be other ones tomorrow, though nobody did anything.
PASSING = (
    "unreachable",
    "could_not_tell",
    *(name for name, meaning in MEANINGS.items() if meaning.passing),
)
# Texts a person with a browser or a library can have.
BY_HAND = tuple(name for name, meaning in MEANINGS.items() if meaning.by_hand)


class Step(NamedTuple):
    """A thing to do: what, why, and the command if there is one."""

    title: str
    words: str
    command: str = ""


def next_steps(job: Job, figures: Figures) -> list[Step]:
    """What is worth doing now, the most useful first."""
    again = f"uv run server.py harvest --job {shlex.quote(job.job_id)}"
    if not figures.total:
        words = "Nothing was found or handed in. Check the spelling, the dates and the field tags."
        return [Step("Ask differently", words, "uv run server.py search 'words of your question'")]
    steps = []
    if pending := figures.states["pending"]:
        words = f"{counted(pending, 'paper')} not tried yet. Nothing that is done is done again."
        steps.append(Step("Go on with this harvest", words, again))
    passing = [name for name in PASSING if figures.reasons.get(name)]
    if passing:
        number = counted(_papers(figures, PASSING), "paper")
        words = f"{number} failed for reasons that may pass by themselves."
        command = f"{again} --retry {','.join(passing)}"
        steps.append(Step("Try again what may have been bad luck", words, command))
    by_hand = _papers(figures, BY_HAND)
    if by_hand:
        words = (
            f"{counted(by_hand, 'text')} can probably be had in a browser or through a library. "
            f"Work through {NOT_RETRIEVED}, drop each PDF into papers/inbox/ and run the harvest "
            "again: every PDF is matched to its paper, checked, and filed as added by hand."
        )
        steps.append(Step("Fetch the rest by hand", words, again))
    lacking = [state for state in ("abstract", "record") if figures.states[state]]
    if lacking:
        number = counted(sum(figures.states[state] for state in lacking), "paper")
        words = (
            f"{number} with an abstract or a record only: embargoes end and authors "
            "deposit copies, so a second look in some months finds more."
        )
        steps.append(Step("Look again later", words, f"{again} --retry {','.join(lacking)}"))
    if stand_ins := [version for version in ASIDE if figures.versions[version]]:
        number = counted(sum(figures.versions[version] for version in stand_ins), "text")
        words = (
            f"{number} not the published version. Papers whose published version was asked for "
            "may have it by now; the texts that are here stay."
        )
        command = f"{again} --retry {','.join(stand_ins)}"
        steps.append(Step("Look for the published versions", words, command))
    words = (
        f"{LOCK} names every paper and the checksum of its text. With it, a colleague builds "
        "the same corpus and sees what changed since."
    )
    command = f"uv run server.py harvest --lock {LOCK}"
    steps.append(Step("Let others build the same corpus", words, command))
    return steps


def _papers(figures: Figures, reasons: tuple[str, ...]) -> int:
    return sum(figures.reasons[name].total() for name in reasons if name in figures.reasons)
