"""Labels and links for people: routes, licences, states, reasons, addresses.

Reasons say why a paper has no full text. Their names are those of `Harvested.reason`: outcomes of
the ladder, verdicts of the judges, and problems of identifiers.

Addresses are built from identifiers and never taken from a site's response, which might contain
``javascript:`` or a hostile link. Their forms are from the sites' own documentation (``doi.org``,
``pubmed.ncbi.nlm.nih.gov``, ``pmc.ncbi.nlm.nih.gov``, ``arxiv.org``).
"""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import quote

from ..command_line import command_line
from ..model.identifiers import Ids
from ..model.job import Harvested, PaperState
from ..model.licenses import find_cc_license
from ..model.paper import Version
from ..model.permissions import get_permissions
from ..model.sites import ROUTES
from ..model.verdicts import BY_HAND, MEANINGS, MissingTextReason
from ..system.plain_text import clean_text, replace_surrogates

STATE_LABELS: dict[PaperState, str] = {
    "full_text": "Full text",
    "abstract": "Abstract only",
    "record": "Record only",
    "failed": "No text",
    "pending": "Not tried yet",
}
STAND_INS: dict[Version, str] = {"preprint": "Preprints", "accepted": "Accepted manuscripts"}
"""Versions of a paper that are not the published one."""
_ROUTE_LABELS = {via: route.label for via, route in ROUTES.items()} | {
    "manual": "Added by hand",
    "mirror": "Your mirror of PMC",
    "pubmed": "PubMed",
}
PUBLIC_DOMAIN = ("CC0 / public domain", "no conditions")
OTHER_TERMS = ("Other terms", "the publisher’s own; see the file’s header")
NO_LICENSE_STATED = ("Not stated", "read, but ask before you redistribute")
_REASONS: dict[str, MissingTextReason] = {
    **{name: meaning.reason for name, meaning in MEANINGS.items()},
    "unreachable": MissingTextReason(
        "Site did not answer",
        "A site that may have the text was down, slow, or asked to be tried later.",
        "Nothing is wrong with the paper: try again later.",
    ),
    "not_offered": MissingTextReason(
        "No open copy known",
        "None of the sources asked has a free copy.",
        "Try your library or the authors’ web pages; an embargo may also end later.",
    ),
    "not_entitled": MissingTextReason(
        "Not open to your key",
        "The publisher has the text, but your key, token or network has no access to it.",
        "Try again from your institution’s network, or download it through your library and drop "
        "it into "
        "the inbox; with another key or token: --retry not_entitled",
    ),
    "not_found": MissingTextReason(
        "Unknown identifier",
        "No database of records has this identifier.",
        "Look for a typing error in the list that was handed in.",
    ),
    "could_not_tell": MissingTextReason(
        "Could not be looked up",
        "The databases that may have this paper did not answer, so nothing is known about it.",
        "Nothing is wrong with the identifier: try again later.",
    ),
    "no_identifier": MissingTextReason(
        "No identifier",
        "The record has no PMID, PMCID, DOI or arXiv number, and no certain match was found.",
        f"Look at the candidates ({command_line('harvest resolve LIST')}), and add the right "
        "one’s PMID or DOI to the list.",
    ),
    "bad_request": MissingTextReason(
        "Not an identifier",
        "The entry is not a PMID, PMCID, DOI or arXiv number.",
        "Correct the entry in your list.",
    ),
    "embargo": MissingTextReason(
        "Under embargo",
        "PMC has the text, but its publisher releases it later.",
        "Try again after that date; until then, your library may have the paper.",
    ),
    "not_tried": MissingTextReason(
        "Not fetched yet",
        "This shelf has no text of the paper, and no harvest has looked for one.",
        f"Get it: {command_line('harvest LIST --pdf')}",
    ),
    "no_pdf": MissingTextReason(
        "Text without a PDF",
        "The full text came as XML or as a page, and no PDF of it is on the shelf.",
        f"Look for one: {command_line('shelf pdf --job JOB')}; or print the text with --render.",
    ),
    "not_shareable": MissingTextReason(
        "Not to be passed on",
        "Neither its licence nor the terms of its source allow passing the file on.",
        "For yourself alone, pack again with --own-use.",
    ),
    "failed": MissingTextReason(
        "Answer could not be processed",
        "A site answered, and Papershelf failed on the answer: a fault of Papershelf.",
        "Please report it. " + BY_HAND,
    ),
    "bug": MissingTextReason(
        "A fault of Papershelf",
        "Papershelf failed on this paper.",
        "Please report it, and try again with the next version.",
    ),
    "": MissingTextReason(
        "No reason recorded",
        "There is no full text, and no reason was recorded.",
        "Try again; if this stays, please report it.",
    ),
}
_SITES = (
    ("DOI", "doi", "https://doi.org/{}"),
    ("PMC", "pmcid", "https://pmc.ncbi.nlm.nih.gov/articles/{}/"),
    ("arXiv", "arxiv", "https://arxiv.org/abs/{}"),
    ("PubMed", "pmid", "https://pubmed.ncbi.nlm.nih.gov/{}/"),
)
_SEARCH_MAX_CHARS = 200  # characters of a citation in a link to PubMed's search


def get_route_label(via: str) -> str:
    """Return a route's label; an unknown route is shown by its own name.

    >>> get_route_label("efetch"), get_route_label("some_site")
    ('PubMed Central (E-utilities)', 'some site')
    """
    return _ROUTE_LABELS.get(via, via.replace("_", " ") or "Not recorded")


def describe_license(text: str) -> tuple[str, str]:
    """Return the kind of licence without its version, and what the licence allows.

    >>> describe_license("CC BY-NC 4.0")[0], describe_license("TDM")[0], describe_license("")[0]
    ('CC BY-NC', 'Other terms', 'Not stated')
    """
    if not text:
        return NO_LICENSE_STATED
    name = find_cc_license(text)
    if name.startswith(("CC0", "Public")):
        return PUBLIC_DOMAIN
    if name:
        code = re.sub(r" \d\.\d$", "", name)
        return code, get_permissions(code).may_share.reason.removeprefix(f"{code}: ").rstrip(".")
    return OTHER_TERMS


def format_share(part: int, whole: int, digits: int = 0) -> str:
    """Return a percentage that is never rounded to 0 or 100 unless exact.

    >>> format_share(1, 3000), format_share(2999, 3000), format_share(0, 0)
    ('<1 %', '>99 %', '–')
    >>> format_share(1, 3), format_share(1, 3, 1)
    ('33 %', '33.3 %')
    """
    if not whole:
        return "–"
    if not part:
        return "0 %"
    if part == whole:
        return "100 %"
    percent = round(100 * part / whole, digits)
    least = 10**-digits
    if percent < least:
        return f"<{least:g} %"
    if percent > 100 - least:
        return f">{100 - least:g} %"
    return f"{percent:.{digits}f} %"


def pluralize(n: int, one: str, many: str = "") -> str:
    """Return a number with its noun in singular or plural.

    >>> pluralize(1, "paper"), pluralize(1200, "paper")
    ('1 paper', '1,200 papers')
    """
    return f"{n:,} {one if n == 1 else many or f'{one}s'}"


def format_duration(seconds: float) -> str:
    """Format a duration in its two largest units.

    >>> format_duration(59), format_duration(8000), format_duration(200_000)
    ('59 s', '2 h 13 min', '2 d 7 h')
    """
    whole = max(0, round(seconds))
    for size, unit, small, lesser in (
        (86400, "d", 3600, "h"),
        (3600, "h", 60, "min"),
        (60, "min", 1, "s"),
    ):
        if whole >= size:
            rest = whole % size // small
            return f"{whole // size} {unit}" + (f" {rest} {lesser}" if rest else "")
    return f"{whole} s"


def get_missing_reason(name: str) -> MissingTextReason:
    """Return the name, meaning and advice of a reason; an unknown reason keeps its name.

    >>> get_missing_reason("disk_full").name
    'Disk full'
    """
    if known := _REASONS.get(name):
        return known
    shown = name[:60].replace("_", " ").capitalize()
    return MissingTextReason(shown, "The harvest ended with this outcome.", "Try again later.")


class PaperLink(NamedTuple):
    """A site's name, and the paper's address on that site."""

    site: str
    url: str


def build_paper_links(ids: Ids) -> list[PaperLink]:
    """Return links to the paper's pages, the page most likely to lead to its text first.

    >>> build_paper_links(Ids(doi='10.1000/a"><b>', pmid="7"))[0].url
    'https://doi.org/10.1000/a%22%3E%3Cb%3E'
    """
    return [
        PaperLink(site, form.format(_quote_url_part(value)))
        for site, name, form in _SITES
        if (value := getattr(ids, name))
    ]


def build_search_link(row: Harvested) -> str:
    """Return the best link for finding a text by hand; without identifiers, a PubMed search."""
    found = build_paper_links(row.paper.ids)
    if found:
        return found[0].url
    words = clean_text(row.paper.title or row.asked)[:_SEARCH_MAX_CHARS].strip()
    return f"https://pubmed.ncbi.nlm.nih.gov/?term={_quote_url_part(words)}" if words else ""


def build_shelf_link(file: str) -> str:
    """Return the link to a paper's file, relative to the report's folder (``reports/<job>/``).

    >>> build_shelf_link("10.1002_a#b.txt"), build_shelf_link("../../etc/passwd")
    ('../../10.1002_a%23b.txt', '')
    """
    # Names on the shelf contain no folders; reject anything else.
    unfit = not file or file.startswith(".") or "/" in file or "\\" in file
    return "" if unfit else f"../../{quote(replace_surrogates(file), safe='')}"


def _quote_url_part(text: str) -> str:
    return quote(replace_surrogates(text), safe="/:;().-_")
