"""Signs against a text, and the rule that combines them into one of three outcomes.

The package's docstring explains how to add a sign.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from ..model.paper import Document, Paper, Verdict
from ..model.verdicts import DOUBT, REFUSE, Sign, verdict_to_outcome
from .evidence import Evidence, gather_evidence

REASONS_SHOWN: Final = 3


@dataclass(frozen=True, slots=True)
class Finding:
    """A verdict and, in one line, its evidence."""

    verdict: Verdict
    evidence: str

    @property
    def is_rejection(self) -> bool:
        """True if the text is rejected."""
        return verdict_to_outcome(self.verdict) == "not_whole"


@dataclass
class JudgedCase:
    """A text to judge, the record for which it was fetched, and the paper's abstract (or "")."""

    document: Document
    paper: Paper
    abstract: str

    @cached_property
    def evidence(self) -> Evidence:
        """The counts and marks of the text, gathered on first use."""
        return gather_evidence(self.document, self.paper, self.abstract)


Finder = Callable[[JudgedCase], Iterable[Sign]]


def weigh_signs(signs: Iterable[Sign], whole: str, refuse_at: int = REFUSE) -> Finding:
    """Return the finding that all signs together imply.

    Parameters
    ----------
    signs : iterable of Sign
        In any order.
    whole : str
        The evidence that the text is whole, for a text without doubts.
    refuse_at : int
        The sum of weights at which a text is rejected; higher for structured XML.

    Examples
    --------
    >>> weigh_signs([Sign("tail", DOUBT, "ends in mid-sentence")], "900 words").verdict
    'doubtful'
    >>> signs = [Sign("tail", DOUBT, "no end"), Sign("pages", REFUSE, "2 of 9 pages")]
    >>> weigh_signs(signs, "").evidence
    '2 of 9 pages, no end'
    """
    heaviest = sorted(_select_heaviest_signs(signs), key=lambda sign: -sign.weight)
    against = sum(sign.weight for sign in heaviest if not sign.only_doubts)
    refusing = [sign for sign in heaviest if not sign.only_doubts]
    if against >= refuse_at:
        return Finding(refusing[0].verdict, _describe_signs(refusing))
    if sum(sign.weight for sign in heaviest) >= DOUBT:
        return Finding("doubtful", _describe_signs(heaviest))
    return Finding("full_text", whole)


def _select_heaviest_signs(signs: Iterable[Sign]) -> Iterator[Sign]:
    """Yield the heaviest sign of each name; signs with weight 0 are left out."""
    by_name: dict[str, Sign] = {}
    for sign in signs:
        known = by_name.get(sign.name)
        if sign.weight and (known is None or known.weight < sign.weight):
            by_name[sign.name] = sign
    yield from by_name.values()


def _describe_signs(signs: list[Sign]) -> str:
    return ", ".join(sign.words for sign in signs[:REASONS_SHOWN])
