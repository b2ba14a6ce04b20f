"""What the judges may find, what it means, and how a text is refused for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

from ..errors import BadContent
from ..model.paper import Verdict
from ..model.verdicts import MEANINGS


@dataclass(frozen=True, slots=True)
class Finding:
    """A judge's word and, in one line, what it rests on."""

    verdict: Verdict
    evidence: str


def reject(finding: Finding) -> NoReturn:
    """Raise what a finding other than ``full_text`` means."""
    meaning = MEANINGS[finding.verdict]
    msg = f"{meaning.said}: {finding.evidence}."
    raise BadContent(msg, meaning.hint, verdict=finding.verdict, evidence=finding.evidence)
