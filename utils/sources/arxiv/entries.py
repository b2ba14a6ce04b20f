r"""arXiv's Atom entries as papers.

Names come whole and are taken apart here; titles keep their formulas (``$…$``) while TeX's accents
around them become letters; a reference to the journal is taken apart only where its form leaves no
doubt. ``published`` is the day of the first version, ``updated`` that of the version shown.
https://info.arxiv.org/help/api/user-manual.html#52-details-of-atom-results-returned
"""

from __future__ import annotations

import re
import unicodedata
from typing import Any

from ...model.identifiers import Ids, arxiv_version
from ...model.paper import Author, Notice, Paper
from ..loose_json import LONGEST_NAME
from .manners import ATOM

_ARXIV = "{http://arxiv.org/schemas/atom}"
WITHDRAWN = "Withdrawn"
"""The publication type of a paper whose authors, or arXiv, took it back."""

_TAKEN_BACK = re.compile(
    r"(?:^|[.;:(]\s*)(?:(?:this|the|our)\s+)?(?:(?:paper|article|manuscript|submission|preprint"
    r"|work|note|letter|e-?print)\s+)?(?:(?:has|have)\s+been\s+|is\s+|was\s+)?(?:now\s+)?"
    r"(?:temporarily\s+)?withdrawn(?:\s+(?:by|due|because|as|since|from\s+arxiv|for|until)\b|\s*[.;:,)]|$)",
    re.I,
)
_GROUP = re.compile(
    r"\b(?:Collaborations?|Consortium|Team|Group|Project|Initiative|Community|Committee|Network"
    r"|Observatory|Partnership)\b(?:\s*\([^()]*\))?$",
    re.I,
)
_ON_BEHALF = re.compile(r"\((?:for|on behalf of|and)\b")
_SUFFIX = re.compile(r",?\s+(Jr\.?|Sr\.?|II|III|IV)$")
_PARTICLES = frozenset(
    (
        "af", "al", "ap", "aus", "av", "bin", "da", "das", "de", "del", "della", "den", "der", "di",
        "do", "dos", "du", "el", "ibn", "la", "las", "le", "los", "op", "ten", "ter", "van", "von",
        "vom", "zu", "zum", "zur", "'t", "’t",
    )
)  # fmt: skip
# With a capital only where they can hardly be a given name: Le and Van are, in Vietnam.
_CAPITAL_PARTICLES = frozenset(("Del", "Della", "De", "Dos", "Von"))
_AFTER_VAN = frozenset(("de", "den", "der", "het", "'t"))

_MARKS = {
    '"': "\u0308", "'": "\u0301", "`": "\u0300", "^": "\u0302", "~": "\u0303", "=": "\u0304",
    ".": "\u0307", "u": "\u0306", "v": "\u030c", "H": "\u030b", "c": "\u0327", "k": "\u0328",
    "r": "\u030a", "d": "\u0323", "b": "\u0331",
}  # fmt: skip
_LETTERS = {
    "ss": "ß", "o": "ø", "O": "Ø", "l": "ł", "L": "Ł", "aa": "å", "AA": "Å", "ae": "æ", "AE": "Æ",
    "oe": "œ", "OE": "Œ", "i": "ı", "j": "ȷ", "dh": "ð", "DH": "Ð", "th": "þ", "TH": "Þ",
}  # fmt: skip
_ACCENT = re.compile(
    r"""\\(?:(?P<sign>["'`^~=.])|(?P<word>[uvHckrdb])(?=[\s{\\]))\s*"""
    r"(?:\{\s*\\?(?P<braced>[A-Za-z])\s*\}|\\?(?P<bare>[A-Za-z]))"
)
_LETTER = re.compile(
    r"\\(ss|oe|OE|ae|AE|aa|AA|dh|DH|th|TH|[oOlLij])(?![A-Za-z])(?:\{\}|\s+(?=\w))?"
)
_SIGN = re.compile(r"\\([&%#_])")
_LONE = re.compile(r"\{(\w)\}")

_PAGES = r"(?P<pages>[A-Za-z]{0,2}\d+(?:\.\d+)?(?:\s*[-\u2013]+\s*[A-Za-z]?\d+)?)"
_NAME = r"(?P<journal>[A-Z][^\d;:()\[\]]*?[A-Za-z.&])"
_VOLUME = r"(?P<volume>\d{1,4})(?:\s*\(\s*(?P<issue>\d{1,3}(?:[-/]\d+)?)\s*\))?"
_YEAR = r"\(\s*(?:[A-Z][a-z]+\.?\s+)?(?:19|20)\d\d\s*\)"
_REFERENCES = tuple(
    re.compile(form)
    for form in (
        # Phys. Rev. B 85, 115117 (2012)
        rf"{_NAME},?\s*(?:[Vv]ol\.?\s*)?{_VOLUME}\s*[,:]\s*(?:pp?\.?\s*)?{_PAGES}\s*,?\s*{_YEAR}",
        # J. Stat. Phys. 12 (2026) 11
        rf"{_NAME},?\s*(?:[Vv]ol\.?\s*)?{_VOLUME}\s*{_YEAR}\s*[,:]?\s*(?:pp?\.?\s*)?{_PAGES}",
        # Phys.Rev.Lett.98:010505,2007
        rf"{_NAME}\s*{_VOLUME}\s*:\s*{_PAGES}\s*,\s*(?:19|20)\d\d",
    )
)


def paper_of(entry: Any) -> Paper:
    """The paper an ``<entry>`` describes, in the version it names."""

    def text(tag: str) -> str:
        return _words(entry.findtext(tag) or "")[:LONGEST_NAME]

    where, comment = text(f"{ATOM}id"), text(f"{_ARXIV}comment")
    abstract = _words(entry.findtext(f"{ATOM}summary") or "")
    withdrawal = next(
        (words for words in (comment, abstract[:300]) if _TAKEN_BACK.search(words)), ""
    )
    primary = entry.find(f"{_ARXIV}primary_category")
    classes = [] if primary is None else [primary.get("term", "")]
    classes += [one.get("term", "") for one in entry.iter(f"{ATOM}category")]
    reference = _journal(text(f"{_ARXIV}journal_ref"))
    authors = (author_of(one) for one in entry.iter(f"{ATOM}author"))
    return Paper(
        ids=Ids(
            arxiv=Ids.maybe(where).arxiv, doi=Ids.maybe(text(f"{_ARXIV}doi").split(" ")[0]).doi
        ),
        title=without_tex(text(f"{ATOM}title")),
        abstract=without_tex(abstract),
        authors=tuple(author for author in authors if author.name),
        journal=reference.get("journal", "arXiv"),
        volume=reference.get("volume", ""),
        issue=reference.get("issue", ""),
        pages=reference.get("pages", ""),
        published=text(f"{ATOM}published")[:10],
        revised=text(f"{ATOM}updated")[:10],
        publication_types=("Preprint", WITHDRAWN) if withdrawal else ("Preprint",),
        notices=(Notice("comment", withdrawal),) if withdrawal else (),
        version=arxiv_version(where),
        # arXiv also lists classes of the ACM and MSC, such as "68T05; I.2.6".
        categories=tuple(
            dict.fromkeys(one for one in classes if re.fullmatch(r"[a-z][\w.-]+", one))
        ),
    )


def author_of(author: Any) -> Author:
    """An ``<author>``: a person, or a collaboration."""

    def words(element: Any) -> str:
        return without_tex(_words("".join(element.itertext()))[:LONGEST_NAME])

    name = author.find(f"{ATOM}name")
    places = tuple(filter(None, (words(one) for one in author.iter(f"{_ARXIV}affiliation"))))
    return author_named(words(name) if name is not None else "", places)


def author_named(name: str, affiliations: tuple[str, ...] = ()) -> Author:
    """The author of a printed name; what is no name (``et al.``, ``:``) gives an empty one.

    >>> named("Peter H. N. de With").family, named("Ludwig van der Berg").family
    ('de With', 'van der Berg')
    >>> named("Sammy Davis Jr.").suffix, named("The ATLAS Collaboration").collective
    ('Jr.', 'The ATLAS Collaboration')
    """
    if name.endswith(")") and (led := _ON_BEHALF.search(name)):
        name = name[: led.start()]
    name = name.strip(" ,;:")
    if not re.search(r"\w", name) or re.fullmatch(r"(?:and\s+)?(?:et\s+al\.?|others)", name, re.I):
        return Author()
    if _GROUP.search(name):
        return Author(collective=name, affiliations=affiliations)
    suffix = match[1] if (match := _SUFFIX.search(name)) else ""
    bare = name[: match.start()] if match else name
    if "," in bare:
        family, _, given = bare.partition(",")
        return Author(family.strip(), given.strip(), suffix=suffix, affiliations=affiliations)
    words = bare.split()
    first = len(words) - 1
    while first > 1 and _is_particle(words[first - 1], words[first]):
        first -= 1
    family, given = " ".join(words[first:]), " ".join(words[:first])
    return Author(family, given, suffix=suffix, affiliations=affiliations)


def _words(text: str) -> str:
    return " ".join(text.split())


def _is_particle(word: str, following: str) -> bool:
    if word == "Van":
        return following in _AFTER_VAN
    return word in _PARTICLES or word in _CAPITAL_PARTICLES


def without_tex(text: str) -> str:
    r"""Words with letters for TeX's accents; formulas stay as they are.

    >>> without_tex(r"Schr\"odinger and Erd{\H o}s on $\hat{H}$")
    'Schrödinger and Erdős on $\\hat{H}$'
    """
    if "\\" not in text:
        return text
    parts = re.split(r"(?<!\\)(\$[^$]*\$)", text)
    return "".join(part if at % 2 else _replace_accents(part) for at, part in enumerate(parts))


def _replace_accents(text: str) -> str:
    def accented(found: re.Match[str]) -> str:
        letter = found["braced"] or found["bare"]
        return unicodedata.normalize("NFC", letter + _MARKS[found["sign"] or found["word"]])

    text = _LETTER.sub(lambda found: _LETTERS[found[1]], _ACCENT.sub(accented, text))
    return _SIGN.sub(r"\1", _LONE.sub(r"\1", text))


def _journal(reference: str) -> dict[str, str]:
    """Journal, volume, issue and pages; the whole reference as the journal where that is unsure.

    >>> _journal("Phys. Rev. B 85, 115117 (2012)")["pages"], _journal("ICML 2019")
    ('115117', {'journal': 'ICML 2019'})
    """
    for form in _REFERENCES:
        if found := form.fullmatch(reference.strip().rstrip(".")):
            parts = {name: value for name, value in found.groupdict().items() if value}
            pages = re.sub(r"\s*[-\u2013]+\s*", "-", parts["pages"])
            return {**parts, "journal": parts["journal"].rstrip(", "), "pages": pages}
    return {"journal": without_tex(reference)} if reference else {}
