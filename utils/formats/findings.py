"""What the judges may find, what it means, and how a text is refused for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

from ..errors import BadContent
from ..paper import Verdict

MEANINGS: dict[Verdict, tuple[str, str]] = {
    "partial": ("Only part of the paper came", "Another source may have all of it."),
    "abstract_only": ("The page shows the abstract, not the paper", "The full text may be closed."),
    "front_matter_only": ("Title and front matter came without a text", "Try another source."),
    "paywall": ("The page sells the paper instead of showing it", "A library may have access."),
    "login": ("The page asks to log in", "No login is imitated; a library may have access."),
    "captcha": ("The page asks for a captcha", "No challenge is solved; open it in a browser."),
    "bot_check": ("The page checks for robots", "No challenge is solved; open it in a browser."),
    "cookie_wall": (
        "The page demands cookies instead of showing the paper",
        "Open it in a browser.",
    ),
    "error_page": ("The page is an error message", "The address may be outdated."),
    "refused": (
        "The site refused to show the page",
        "Open it in a browser or through a library, or try again later.",
    ),
    "wrong_paper": (
        "It is another paper than the one asked for",
        "The link is wrong at the source.",
    ),
    "not_a_paper": ("It is no paper", "The link is wrong at the source."),
    "scanned": ("The PDF holds pictures of pages, no text", "Text recognition would be needed."),
    "empty": ("There is no text in it", "Try another source."),
}


@dataclass(frozen=True, slots=True)
class Finding:
    """A judge's word and, in one line, what it rests on."""

    verdict: Verdict
    evidence: str


def reject(finding: Finding) -> NoReturn:
    """Raise what a finding other than ``full_text`` means."""
    said, hint = MEANINGS[finding.verdict]
    msg = f"{said}: {finding.evidence}."
    raise BadContent(msg, hint, verdict=finding.verdict, evidence=finding.evidence)
