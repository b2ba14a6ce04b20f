"""The meaning of each `Verdict`, in words for errors, reports and harvests.

Errors, reports and harvests take their texts from this one table. A new verdict needs a name in
`.paper.Verdict` and an entry here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from ..command_line import command_line

if TYPE_CHECKING:
    from .paper import Verdict, Version

WITH_OCR = 'uv sync --extra ocr (or: pip install "papershelf[ocr]"), then ask again with --force.'
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


class Copy(NamedTuple):
    """Another copy of a paper's text: its route, version, word and reference counts, sections."""

    via: str
    version: Version
    words: int
    references: int
    sections: tuple[str, ...]


class Comparison(NamedTuple):
    """The references for judging a text: other copies, and lengths of papers in the journal."""

    copies: tuple[Copy, ...] = ()
    journal_words: tuple[int, ...] = ()


NO_COMPARISON: Final = Comparison()
"""An empty comparison, for a text without other copies."""


def to_outcome(verdict: Verdict) -> Outcome:
    """Return the outcome for a verdict.

    >>> to_outcome("full_text"), to_outcome("doubtful"), to_outcome("paywall")
    ('whole', 'doubtful', 'not_whole')
    """
    if verdict == "doubtful":
        return "doubtful"
    return "whole" if verdict in ("full_text", "by_hand") else "not_whole"


class Reason(NamedTuple):
    """The short name of a reason, its meaning, and advice for the reader."""

    name: str
    meaning: str
    advice: str


@dataclass(frozen=True, slots=True)
class Meaning:
    """The meaning of a verdict.

    ``said`` and ``hint`` are the words of the error that rejects a text, ``reason`` appears in a
    harvest's report. ``by_hand`` is True if a person with a browser or a library can get the text,
    ``passing`` if the cause may disappear by itself.
    """

    said: str
    hint: str
    reason: Reason
    by_hand: bool = False
    passing: bool = False


# In the order in which a reviewer needs them: a closed text can be fetched by hand, an incomplete
# text may be complete elsewhere, and a page that is not a paper is of no use.
MEANINGS: dict[Verdict, Meaning] = {
    "doubtful": Meaning(
        "It is full text with doubts",
        "Another source may have a better copy.",
        Reason(
            "Full text with doubts",
            "The text is kept as full text, but part of it may be missing or misread.",
            "Compare it with the publisher's page; a later run asks for a better copy. "
            f"To settle it: {command_line('shelf keep PAPER --as full_text --because REASON')}",
        ),
    ),
    "paywall": Meaning(
        "The page sells the paper instead of showing it",
        "A library may have access.",
        Reason(
            "Behind a paywall",
            "The publisher sells this paper, and no free copy was found.",
            "If your library subscribes, download the PDF through it and drop it into the inbox; "
            "otherwise ask for an interlibrary loan, or the authors.",
        ),
        by_hand=True,
    ),
    "login": Meaning(
        "The page asks to log in",
        "No login is imitated; a library may have access.",
        Reason(
            "Login required",
            "The publisher shows the text only to people who log in. Papershelf imitates no login.",
            "Log in with your institution’s account, download the PDF and drop it into the inbox.",
        ),
        by_hand=True,
    ),
    "captcha": Meaning(
        "The page asks for a captcha",
        "No challenge is solved; open it in a browser.",
        Reason(
            "Captcha in the way",
            "The site asks visitors to solve a puzzle. Papershelf solves none.",
            "Open the link in your browser; the text is often free. " + BY_HAND,
        ),
        by_hand=True,
    ),
    "bot_check": Meaning(
        "The page checks for robots",
        "No challenge is solved; open it in a browser.",
        Reason(
            "Closed to programs",
            "The site checks for robots and turns programs away.",
            "Open the link in your browser; the text is often free. " + BY_HAND,
        ),
        by_hand=True,
    ),
    "cookie_wall": Meaning(
        "The page demands cookies instead of showing the paper",
        "Open it in a browser.",
        Reason(
            "Cookies demanded",
            "The site shows a consent page instead of the paper.",
            "Open the link in your browser and answer the question. " + BY_HAND,
        ),
        by_hand=True,
    ),
    "refused": Meaning(
        "The site refused to show the page",
        "Open it in a browser or through a library, or try again later.",
        Reason(
            "Refused",
            "The site turned the program away (HTTP 401 or 403) without saying more.",
            "Open the link in your browser or through your library, or try again later. " + BY_HAND,
        ),
        by_hand=True,
    ),
    "scanned": Meaning(
        "The PDF holds pictures of pages, no text",
        f"Text recognition can read it: {WITH_OCR}",
        Reason(
            "Scanned pages only",
            "A PDF was found, but it holds pictures of pages and no text.",
            f"Have it read: {WITH_OCR} Or run text recognition (OCR) on the PDF elsewhere and drop "
            "the result into the inbox.",
        ),
    ),
    "wrong_paper": Meaning(
        "It is another paper than the one asked for",
        "The link is wrong at the source.",
        Reason(
            "A different paper came",
            "What the link led to is not the paper that was asked for, so it was not kept.",
            "Open the link and check; the address is probably wrong at its source. " + BY_HAND,
        ),
        by_hand=True,
    ),
    "by_hand": Meaning(
        "Somebody decided, not the judges",
        f"{command_line('shelf keep PAPER --undo')} lets them judge it again.",
        Reason(
            "Rejected by hand",
            "Somebody looked at the text that is offered, and said that it is not the paper.",
            "The detail says why. " + BY_HAND,
        ),
    ),
    "partial": Meaning(
        "Only part of the paper came",
        "Another source may have all of it.",
        Reason(
            "Only part of the text",
            "What came was cut short: a preview, or a file that broke off.",
            "Try again later; if it stays cut, open the link. " + BY_HAND,
        ),
        passing=True,
    ),
    "front_matter_only": Meaning(
        "Title and front matter came without a text",
        "Try another source.",
        Reason(
            "Title page only",
            "Title and authors came without the text itself.",
            "Open the link; a PDF may be attached. " + BY_HAND,
        ),
    ),
    "abstract_only": Meaning(
        "The page shows the abstract, not the paper",
        "The full text may be closed.",
        Reason(
            "The page shows an abstract only",
            "The page behind the link has the abstract, but not the paper.",
            "It may be a conference abstract with no paper behind it; otherwise try your library.",
        ),
        by_hand=True,
    ),
    "error_page": Meaning(
        "The page is an error message",
        "The address may be outdated.",
        Reason(
            "Error page",
            "The site answered with an error message instead of the paper.",
            "Try again later; if the error stays, the address is outdated.",
        ),
        passing=True,
    ),
    "not_a_paper": Meaning(
        "It is no paper",
        "The link is wrong at the source.",
        Reason(
            "Not a paper",
            "What the link led to is no article: a home page, a form or a listing.",
            "Open the link and look for the article from there. " + BY_HAND,
        ),
    ),
    "empty": Meaning(
        "There is no text in it",
        "Try another source.",
        Reason(
            "Empty answer",
            "The site answered, with nothing in it.",
            "Try again later, or open the link in your browser.",
        ),
        passing=True,
    ),
}
