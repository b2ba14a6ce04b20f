"""Why a paper has no full text, in words a reviewer can act on.

The names are those of `Harvested.reason`: outcomes of the ladder, verdicts of the judges, and
what can be wrong with an identifier.
"""

from __future__ import annotations

from typing import NamedTuple


class Reason(NamedTuple):
    """A reason's short name, what it means, and what the reader can do."""

    name: str
    meaning: str
    advice: str


_BY_HAND = "Download the PDF in your browser and drop it into the inbox."
_REASONS = {
    "paywall": Reason(
        "Behind a paywall",
        "The publisher sells this paper, and no free copy was found.",
        "If your library subscribes, download the PDF through it and drop it into the inbox; "
        "otherwise ask for an interlibrary loan, or the authors.",
    ),
    "login": Reason(
        "Login required",
        "The publisher shows the text only to people who log in. Papershelf imitates no login.",
        "Log in with your institution’s account, download the PDF and drop it into the inbox.",
    ),
    "captcha": Reason(
        "Captcha in the way",
        "The site asks visitors to solve a puzzle. Papershelf solves none.",
        "Open the link in your browser; the text is often free. " + _BY_HAND,
    ),
    "bot_check": Reason(
        "Closed to programs",
        "The site checks for robots and turns programs away.",
        "Open the link in your browser; the text is often free. " + _BY_HAND,
    ),
    "cookie_wall": Reason(
        "Cookies demanded",
        "The site shows a consent page instead of the paper.",
        "Open the link in your browser and answer the question. " + _BY_HAND,
    ),
    "refused": Reason(
        "Refused",
        "The site turned the program away (HTTP 401 or 403) without saying more.",
        "Open the link in your browser or through your library, or try again later. " + _BY_HAND,
    ),
    "scanned": Reason(
        "Scanned pages only",
        "A PDF was found, but it holds pictures of pages and no text.",
        "Run text recognition (OCR) on the PDF and drop the result into the inbox.",
    ),
    "wrong_paper": Reason(
        "A different paper came",
        "What the link led to is not the paper that was asked for, so it was not kept.",
        "Open the link and check; the address is probably wrong at its source. " + _BY_HAND,
    ),
    "by_hand": Reason(
        "Rejected by hand",
        "Somebody looked at the text that is offered, and said that it is not the paper.",
        "The detail says why. " + _BY_HAND,
    ),
    "partial": Reason(
        "Only part of the text",
        "What came was cut short: a preview, or a file that broke off.",
        "Try again later; if it stays cut, open the link. " + _BY_HAND,
    ),
    "front_matter_only": Reason(
        "Title page only",
        "Title and authors came without the text itself.",
        "Open the link; a PDF may be attached. " + _BY_HAND,
    ),
    "abstract_only": Reason(
        "The page shows an abstract only",
        "The page behind the link has the abstract, but not the paper.",
        "It may be a conference abstract with no paper behind it; otherwise try your library.",
    ),
    "unreachable": Reason(
        "Site did not answer",
        "A site that may have the text was down, slow, or asked us to come back later.",
        "Nothing is wrong with the paper: try again later.",
    ),
    "error_page": Reason(
        "Error page",
        "The site answered with an error message instead of the paper.",
        "Try again later; if the error stays, the address is outdated.",
    ),
    "not_a_paper": Reason(
        "Not a paper",
        "What the link led to is no article: a home page, a form or a listing.",
        "Open the link and look for the article from there. " + _BY_HAND,
    ),
    "empty": Reason(
        "Empty answer",
        "The site answered, with nothing in it.",
        "Try again later, or open the link in your browser.",
    ),
    "not_offered": Reason(
        "No open copy known",
        "None of the sources asked has a free copy.",
        "Try your library or the authors’ web pages; an embargo may also end later.",
    ),
    "not_found": Reason(
        "Unknown identifier",
        "Everybody who keeps records was asked, and nobody knows this identifier.",
        "Look for a typing error in the list that was handed in.",
    ),
    "could_not_tell": Reason(
        "Could not be looked up",
        "Whoever could know this paper did not answer, so nothing is known about it.",
        "Nothing is wrong with the identifier: try again later.",
    ),
    "no_identifier": Reason(
        "No identifier",
        "The record names no PMID, PMCID, DOI or arXiv number, and no match was found.",
        "Find the paper in PubMed and add its PMID to the list.",
    ),
    "bad_request": Reason(
        "Not an identifier",
        "What was given could not be read as a PMID, PMCID, DOI or arXiv number.",
        "Correct the entry in the list that was handed in.",
    ),
    "embargo": Reason(
        "Under embargo",
        "The text lies in PMC, and its publisher has it released at a later date.",
        "Try again after that date; until then, your library may have the paper.",
    ),
    "failed": Reason(
        "Could not be worked with",
        "A site was asked, and Papershelf failed on what it sent: a mistake of ours.",
        "Please report it. " + _BY_HAND,
    ),
    "bug": Reason(
        "A mistake of ours",
        "Papershelf failed on this paper.",
        "Please report it, and try again with the next version.",
    ),
    "": Reason(
        "No reason recorded",
        "There is no full text, and why was not written down.",
        "Try again; if this stays, please report it.",
    ),
}


def reason_for(name: str) -> Reason:
    """The words for a reason; one nobody foresaw is shown by its own name.

    >>> reason_for("disk_full").name
    'Disk full'
    """
    if known := _REASONS.get(name):
        return known
    shown = name[:60].replace("_", " ").capitalize()
    return Reason(shown, "The harvest ended with this outcome.", "Try again later.")
