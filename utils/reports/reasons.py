"""Why a paper has no full text, in words a reviewer can act on.

The names are those of `Harvested.reason`: outcomes of the ladder, verdicts of the judges, and
what can be wrong with an identifier.
"""

from __future__ import annotations

from ..model.verdicts import BY_HAND, MEANINGS, Reason

_REASONS: dict[str, Reason] = {
    **{name: meaning.reason for name, meaning in MEANINGS.items()},
    "unreachable": Reason(
        "Site did not answer",
        "A site that may have the text was down, slow, or asked us to come back later.",
        "Nothing is wrong with the paper: try again later.",
    ),
    "not_offered": Reason(
        "No open copy known",
        "None of the sources asked has a free copy.",
        "Try your library or the authors’ web pages; an embargo may also end later.",
    ),
    "not_entitled": Reason(
        "Not open to your key",
        "The publisher has the text, and your key, token or network give no right to it.",
        "Ask from your institution’s network, or fetch it through your library and drop it into "
        "the inbox; with another key or token: --retry not_entitled",
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
        "Please report it. " + BY_HAND,
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
