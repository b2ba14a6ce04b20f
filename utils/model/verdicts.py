"""The meaning of each `Verdict`, as text for errors, reports and harvests.

Errors, reports and harvests take their texts from this one table. A new verdict needs a name in
`.paper.Verdict` and an entry here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from ..command_line import command_line, install_command

if TYPE_CHECKING:
    from .paper import Verdict, Version

WITH_OCR = f"{install_command('ocr')}, then ask again with --force."
BY_HAND = "Download the PDF in your browser and drop it into the inbox."


Outcome = Literal["whole", "doubtful", "not_whole"]
"""The consequence of a verdict: kept, kept with doubts, or not kept as full text."""
NOTHING: Final = 0
HINT: Final = 1
WEAK: Final = 2
DOUBT: Final = 3
REFUSE: Final = 4


class Sign(NamedTuple):
    """One reason to doubt a text.

    ``weight`` is one of `NOTHING`, `HINT`, `WEAK`, `DOUBT` and `REFUSE`; ``words`` describe the
    sign to a person; ``verdict`` names the refusal to which the sign leads. A sign that
    ``only_doubts`` never takes part in a refusal.
    """

    name: str
    weight: int
    words: str
    verdict: Verdict = "partial"
    only_doubts: bool = False


class TextCopy(NamedTuple):
    """Another copy of a paper's text: route, version, word and reference counts, sections."""

    via: str
    version: Version
    words: int
    references: int
    sections: tuple[str, ...]


class ComparisonData(NamedTuple):
    """The data for judging a text by comparison: other copies, and text lengths in the journal."""

    copies: tuple[TextCopy, ...] = ()
    journal_words: tuple[int, ...] = ()


NO_COMPARISON: Final = ComparisonData()
"""An empty comparison, for a text without other copies."""


def verdict_to_outcome(verdict: Verdict) -> Outcome:
    """Return the outcome for a verdict.

    >>> [verdict_to_outcome(verdict) for verdict in ("full_text", "doubtful", "paywall")]
    ['whole', 'doubtful', 'not_whole']
    """
    if verdict == "doubtful":
        return "doubtful"
    return "whole" if verdict in ("full_text", "by_hand") else "not_whole"


class MissingTextReason(NamedTuple):
    """A reason why a text is missing: its short name, its meaning, and advice for the reader."""

    name: str
    meaning: str
    advice: str


@dataclass(frozen=True, slots=True)
class VerdictExplanation:
    """The report of a verdict: the error, the hint, the reason in reports, and a remedy.

    ``said`` and ``hint`` are the words of the error that rejects a text, ``reason`` appears in a
    harvest's report. ``by_hand`` is True if a person with a browser or a library can get the text,
    ``passing`` if the cause may disappear by itself.
    """

    said: str
    hint: str
    reason: MissingTextReason
    by_hand: bool = False
    passing: bool = False


# In the order in which a reviewer needs them: a closed text can be fetched by hand, an incomplete
# text may be complete elsewhere, and a page that is not a paper is of no use.
MEANINGS: dict[Verdict, VerdictExplanation] = {
    "doubtful": VerdictExplanation(
        "It is full text with doubts",
        "Another source may have a better copy.",
        MissingTextReason(
            "Full text with doubts",
            "The text is kept as full text, but part of it may be missing or misread.",
            "Compare it with the publisher's page; a later run asks for a better copy. "
            f"To settle it: {command_line('shelf keep PAPER --as full_text --because REASON')}",
        ),
    ),
    "paywall": VerdictExplanation(
        "The page sells the paper instead of showing it",
        "A library may have access.",
        MissingTextReason(
            "Behind a paywall",
            "The publisher sells this paper, and no free copy was found.",
            "If your library subscribes, download the PDF through it and drop it into the inbox; "
            "otherwise ask for an interlibrary loan, or the authors.",
        ),
        by_hand=True,
    ),
    "login": VerdictExplanation(
        "The page asks to log in",
        "Papershelf does not log in for you; a library may have access.",
        MissingTextReason(
            "Login required",
            "The publisher shows the text only to people who log in. Papershelf does not log in "
            "for you.",
            "Log in with your institution’s account, download the PDF and drop it into the inbox.",
        ),
        by_hand=True,
    ),
    "captcha": VerdictExplanation(
        "The page asks for a captcha",
        "Papershelf does not solve challenges; open the page in a browser.",
        MissingTextReason(
            "Captcha in the way",
            "The site asks visitors to solve a puzzle. Papershelf does not solve it.",
            "Open the link in your browser; the text is often free. " + BY_HAND,
        ),
        by_hand=True,
    ),
    "bot_check": VerdictExplanation(
        "The page checks for robots",
        "Papershelf does not solve challenges; open the page in a browser.",
        MissingTextReason(
            "Closed to programs",
            "The site checks for robots and turns programs away.",
            "Open the link in your browser; the text is often free. " + BY_HAND,
        ),
        by_hand=True,
    ),
    "cookie_wall": VerdictExplanation(
        "The page requires cookies instead of showing the paper",
        "Open the page in a browser.",
        MissingTextReason(
            "Cookies required",
            "The site shows a consent page instead of the paper.",
            "Open the link in your browser and answer the question. " + BY_HAND,
        ),
        by_hand=True,
    ),
    "refused": VerdictExplanation(
        "The site refused to show the page",
        "Open the page in a browser or through a library, or try again later.",
        MissingTextReason(
            "Refused",
            "The site turned the program away (HTTP 401 or 403) without saying more.",
            "Open the link in your browser or through your library, or try again later. " + BY_HAND,
        ),
        by_hand=True,
    ),
    "scanned": VerdictExplanation(
        "The PDF contains only scanned images, no text",
        f"Text recognition can read it: {WITH_OCR}",
        MissingTextReason(
            "Scanned pages only",
            "A PDF was found, but it contains scanned images of pages and no text.",
            f"To read it with text recognition (OCR): {WITH_OCR} Or run text recognition (OCR) "
            "on the PDF elsewhere and drop "
            "the result into the inbox.",
        ),
    ),
    "wrong_paper": VerdictExplanation(
        "The text is a different paper than the one requested",
        "The link is wrong at the source.",
        MissingTextReason(
            "Different paper served",
            "The link led to a different paper than the one requested, so it was not kept.",
            "Open the link and check; the address is probably wrong at its source. " + BY_HAND,
        ),
        by_hand=True,
    ),
    "by_hand": VerdictExplanation(
        "A person decided this, not the judges",
        f"To let the judges decide again: {command_line('shelf keep PAPER --undo')}",
        MissingTextReason(
            "Rejected by hand",
            "A person looked at the text on offer and decided that it is not the paper.",
            "The detail says why. " + BY_HAND,
        ),
    ),
    "partial": VerdictExplanation(
        "Only part of the paper was delivered",
        "Another source may have the complete text.",
        MissingTextReason(
            "Only part of the text",
            "The text was cut short: a preview, or a truncated file.",
            "Try again later; if it stays incomplete, open the link. " + BY_HAND,
        ),
        passing=True,
    ),
    "front_matter_only": VerdictExplanation(
        "Only the title and front matter were delivered",
        "Try another source.",
        MissingTextReason(
            "Title page only",
            "Only title and authors were delivered, without the text itself.",
            "Open the link; a PDF may be attached. " + BY_HAND,
        ),
    ),
    "abstract_only": VerdictExplanation(
        "The page shows the abstract, not the paper",
        "The full text may be closed.",
        MissingTextReason(
            "The page shows an abstract only",
            "The page behind the link has the abstract, but not the paper.",
            "It may be a conference abstract with no paper behind it; otherwise try your library.",
        ),
        by_hand=True,
    ),
    "error_page": VerdictExplanation(
        "The page is an error message",
        "The address may be outdated.",
        MissingTextReason(
            "Error page",
            "The site answered with an error message instead of the paper.",
            "Try again later; if the error stays, the address is outdated.",
        ),
        passing=True,
    ),
    "not_a_paper": VerdictExplanation(
        "The page is not a paper",
        "The link is wrong at the source.",
        MissingTextReason(
            "Not a paper",
            "The link led to something that is not an article: a home page, a form or a list.",
            "Open the link and look for the article from there. " + BY_HAND,
        ),
    ),
    "empty": VerdictExplanation(
        "The response contains no text",
        "Try another source.",
        MissingTextReason(
            "Empty answer",
            "The site sent an empty response.",
            "Try again later, or open the link in your browser.",
        ),
        passing=True,
    ),
}
