"""The results of checking a sentence: one for each element, and a summary.

The problem: a sentence whose numbers are in the cited text may still say the opposite. So a
sentence has no result of its own, only elements that were compared:

- a **quotation**, word for word;
- a **number**, with its unit, sign and group;
- a **direction**: a word that has an opposite, or a negation (`.directions`);
- the **wording**: whether the passage has all words of the sentence and no others.

The summary never says more than the weakest element: it *differs* if one element differs, *agrees*
if every element is the same, and is *not judged* otherwise. Whether the statement as a whole is
true is never judged.

Example: "Weight fell by 12 % in men" of a text with "In men, weight rose by 12 %" has a number that
is the same, a direction that is turned and a wording that was not compared: it differs.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from .parts import ManuscriptPlace
from .reading import compute_finding_fingerprint

Kind = Literal["quotation", "number", "direction", "wording"]
Outcome = Literal[
    "same", "turned", "altered", "absent", "elsewhere", "no_full_text", "uncited", "not_compared"
]
Result = Literal["agrees", "differs", "not_judged"]
DIFFERING = frozenset({"turned", "altered", "absent"})
"""The outcomes that contradict the sentence; a number that is ``elsewhere`` does not."""
WHOLE = "not_judged"
SIGNS = {"agrees": "=", "differs": "!", "not_judged": "?"}
LEGEND = (
    "= every element agrees; ! an element differs; ? an element was not compared."
    " Whether a statement as a whole is true is not judged."
)


@dataclass(frozen=True, slots=True)
class CheckedClaim:
    """The result for one element of a sentence, compared with the cited papers.

    ``what`` is the element's words, ``said`` the result in words. ``passage`` is the nearest
    passage of the cited text, ``handle`` its address, and ``share`` the share of the sentence's
    words in it.
    """

    kind: Kind
    outcome: Outcome
    place: ManuscriptPlace
    sentence: str
    keys: tuple[str, ...]
    what: str = ""
    said: str = ""
    passage: str = ""
    handle: str = ""
    share: float = 0.0

    @property
    def is_different(self) -> bool:
        """True if the cited text contradicts the element, or does not contain it."""
        return self.outcome in DIFFERING

    @property
    def fingerprint(self) -> str:
        """The fingerprint with which the user can accept the finding."""
        return compute_finding_fingerprint(self.kind, *self.keys, self.sentence, self.what)


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence with its checked elements.

    ``unread`` are the cited keys whose text was not compared: the reference was not verified, or
    the shelf has no text of it.
    """

    place: ManuscriptPlace
    sentence: str
    keys: tuple[str, ...]
    elements: tuple[CheckedClaim, ...]
    unread: tuple[str, ...] = ()

    @property
    def result(self) -> Result:
        """The outcome of the weakest element."""
        outcomes = {element.outcome for element in self.elements}
        if outcomes & DIFFERING:
            return "differs"
        return "agrees" if outcomes == {"same"} and not self.unread else "not_judged"

    @property
    def symbol(self) -> str:
        """The symbol of the summary; `LEGEND` explains it."""
        return SIGNS[self.result]

    def to_row(self) -> dict[str, Any]:
        """Return the statement as a JSON-serialisable dict, without the places."""
        return {
            "sentence": self.sentence,
            "keys": list(self.keys),
            "unread": list(self.unread),
            "result": self.result,
            "whole": WHOLE,
            "elements": [
                {
                    **{
                        name: value
                        for name, value in asdict(element).items()
                        if name not in _SHARED
                    },
                    "fingerprint": element.fingerprint,
                }
                for element in self.elements
            ],
        }


_SHARED = ("sentence", "keys")  # of the statement
