r"""Read the fields of a printed reference, in any style.

The order of the fields is unknown, and many entries have no title. Two parts are recognised by form
and bound the others:

1. Names open the entry. All names of an entry have one form (``J. Roe``, ``Roe J``, ``Jane Roe``),
   only the first may be turned (``Roe, J., and A. Poe``).
2. Numbers close it: volume, issue, first page and year stand in one of a few patterns
   (``12(3):45-9``, ``12, 45 (2024)``, ``12 (2024) 45``, ``vol. 12, no. 3, pp. 45-49``).

The words in between are the title and the journal, or the journal alone::

    Roe J, Poe A. Bees and light in spring. J Moss. 2024;12(3):45-9.
    └ names ────┘ └ title ────────────────┘ └ journal └ numbers

The text in between is cut at quotation marks, at the end of a sentence, or before a word that
begins a container (``In``, ``Proceedings``). What is left beside the volume is the journal.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from ..lists.described import fields_to_paper, split_author_names
from ..model.paper import Paper

_YEAR = r"(?:1[6-9]|20)\d\d"
_UPPER = r"[^\W\d_a-z\u00df-\u00f6\u00f8-\u00ff]"
_PARTICLE = (
    r"(?:(?:[Vv]an|[Vv]on|[Dd]e|[Dd]er|[Dd]en|[Dd]el|[Dd]ella|[Dd]i|[Dd]a|[Dd]os|[Ll]e|[Ll]a|[Ee]l"
    r"|[Aa]l|[Tt]en|[Tt]er|[Ss]t\.?)[ -]){0,3}"
)
_WORD = rf"(?:[dDlLO]['\u2019]\s?)?{_UPPER}[\w'\u2019\u02b9-]+"
_FAMILY = rf"{_PARTICLE}{_WORD}"
_INITIALS = rf"(?:{_UPPER}\.[ -]{{0,2}}){{1,5}}"
_BARE_INITIALS = rf"{_UPPER}{{1,4}}(?:-{_UPPER})?(?![\w.])"
_SUFFIX = r"(?:,? (?:Jr|Sr|II|III)\.?)?"
_NAME_ENDS = rf"(?=\s*(?:[,;.:(]|{_YEAR}|(?:and|&|et|und|y)\s|$))"
_ANY_INITIALS = rf"(?:{_INITIALS}|{_BARE_INITIALS})"
_FORMS = {
    "initials first": re.compile(
        rf"{_INITIALS}\s?{_FAMILY}(?: {_WORD}{_NAME_ENDS})?{_SUFFIX}"
        rf"|{_UPPER}{{1,3}} {_FAMILY}(?: {_WORD})?{_NAME_ENDS}"
    ),
    "family first": re.compile(
        rf"{_FAMILY}, {_ANY_INITIALS}{_SUFFIX}"
        rf"|{_FAMILY}(?: {_WORD})?,? {_ANY_INITIALS}{_NAME_ENDS}{_SUFFIX}"
    ),
    "family, given": re.compile(rf"{_FAMILY}, {_WORD}(?: {_INITIALS}| {_WORD})?{_NAME_ENDS}"),
    "given first": re.compile(
        rf"{_WORD}(?: {_UPPER}\.?(?=[ ])| {_WORD}){{0,2}} {_FAMILY}{_SUFFIX}"
        rf"|{_WORD} {_INITIALS}{_FAMILY}{_SUFFIX}(?=\s*(?:[,;.:(]|(?:and|&) {_UPPER}|$))"
    ),
    "family first, then a full stop": re.compile(
        rf"{_FAMILY}(?: {_WORD})? {_UPPER}{{1,4}}(?=\.\s)"
    ),
}
_TURNED = {
    "family first": ("family first, then a full stop", "initials first", "given first"),
    "family first, then a full stop": ("family first",),
    "family, given": ("initials first", "given first"),
    "given first": ("initials first",),
    "initials first": ("given first",),
}
_LAST_NAME = re.compile(rf"(.+?)\s+((?:{_PARTICLE})?\S+{_SUFFIX})$")
_SEPARATOR = re.compile(r"\s*[,;]\s*(?:(?:and|&|et|und|y) )?|\s+(?:and|&|et|und|y)\s+")
_AND = re.compile(r"\s(?:et|und|y)\s(?!al\b)")
_ET_AL = re.compile(r"[,;]?\s*(?:\(?et\.? ?al\.?\)?|and others|and coworkers)[.,]?", re.I)
_NOT_A_NAME = re.compile(
    r"\b(?:Phys|Lett|Rev|Journal|Nature|Science|Proc|Proceedings|Trans|Acta|Annals|University|Press"
    r"|Physics|Review|Letters|Nucl|Chem|Physical|Comm|Math|International|Springer|Collaboration)\b"
    r"|^(?:The|In|On|An?)\b(?!\.)"
)
# Words that a volume follows are a journal, whatever they look like.
_JOURNAL_AHEAD = re.compile(rf"(?:{_UPPER}[\w&]*\.?:?\s+){{1,8}}\(?(?!{_YEAR})\d")
_LINK = re.compile(
    r"https?://\S+|\bdoi:?\s*10\.\S+|\b10\.\d{4,9}/\S+|\barXiv:\s*\S+(?:\s*\[[^\]]*\])?"
    r"|\[?\b(?:hep|astro|cond|gr|nucl|quant)-[a-z]+/\d{7}\]?|\bPMID:?\s*\d+|\bPMC\d{4,9}\b",
    re.I,
)
_LABEL = re.compile(r"^\s*(?:\[\w{1,12}\+?\d*\]|\(\w{1,3}\)|\(\W{1,4}\)|\d{1,3}[.)]?(?=\s+\D))\s*")
_PAGE = r"(?:[A-Za-z]{0,3}\d[\dA-Za-z]{0,9})"
_VOLUME = r"\d{1,5}[A-Z]?"
_PAGE_WORD = r"(?:(?:pp?|[Pp]ages?|[Ss]eiten?|S)\b\.?\s*)?"
_BEGINS = r"(?<!\d)(?<!\d\.)"
_VOLUME_GROUP = rf"{_BEGINS}(?P<volume>{_VOLUME})"
_PAGE_GROUP = rf"{_PAGE_WORD}(?P<page>{_PAGE})"
_ISSUE_WORD = r"(?:[Nn]o|[Ii]ss(?:ue)?)\.?\s*(?P<issue>[\w-]+)"
_PLACES = (
    # 2024;12(3):45
    re.compile(
        rf"\(?{_YEAR}[a-z]?\)?[^;:,()]{{0,12}}[;:]\s*(?P<volume>{_VOLUME})\s*"
        rf"(?:\((?P<issue>[^()]{{1,15}})\))?\s*[:,]\s*{_PAGE_GROUP}"
    ),
    # 12(3):45
    re.compile(
        rf"{_BEGINS}(?:[Vv]ol(?:ume)?\.?\s*)?(?P<volume>{_VOLUME})\s*\((?!{_YEAR}\))"
        rf"(?P<issue>[^()]{{1,15}})\)\s*[:,.]?\s*{_PAGE_GROUP}"
    ),
    # volume 12 (2024) page 45
    re.compile(rf"{_VOLUME_GROUP}\s*,?\s*\({_YEAR}\)\s*,?\s*{_PAGE_GROUP}"),
    # volume 12, pages 45-49 (2024)
    re.compile(
        rf"{_VOLUME_GROUP}\s*[,:]\s*(?:{_ISSUE_WORD},\s*)?{_PAGE_GROUP}"
        rf"(?:\s*[-\u2013\u2014]+\s*{_PAGE})?\s*[,.;]?\s*\(?(?:\w+\.?\s)?{_YEAR}"
    ),
    # vol. 12, no. 3, pp. 45
    re.compile(
        rf"\b[Vv]ol(?:ume)?\.?\s*(?P<volume>{_VOLUME})(?:\s*,?\s*{_ISSUE_WORD})?"
        rf"(?:.{{0,40}}?\b[Pp](?:p|ages?)?\b\.?\s*(?P<page>{_PAGE}))?"
    ),
    # 12: 45-49; 12, 45; 12 45
    re.compile(rf"{_VOLUME_GROUP}\s*:\s*(?P<page>{_PAGE})\s*[-\u2013\u2014]"),
    re.compile(rf"{_VOLUME_GROUP}\s*,\s*{_PAGE_GROUP}"),
    re.compile(rf"{_BEGINS}(?P<volume>\d{{1,4}})\s+(?!{_YEAR})(?P<page>[A-Z]?\d{{2,7}})\b"),
)
_PAGES = re.compile(rf"\b(?:pp?|[Pp]ages?)\b\.?\s*(?P<page>{_PAGE})")
_YEARS = re.compile(rf"(?<![\d/.-])({_YEAR})[a-z]?(?![\d/]|-\d)")
_DATED = re.compile(
    rf"[\s.,]*(?:[(\[](?P<in>{_YEAR})[a-z]?(?:,[^()]{{0,20}})?[)\]]|(?P<bare>{_YEAR})[a-z]?\b)[.,:;]*\s*"
)
_QUOTED = re.compile(r"[\"\u201c\u201e\u00ab]\s?(.{6,400}?)[,.]?\s?[\"\u201d\u201c\u00bb]")
_CONTAINER = re.compile(
    r"[.,?!]\s+(?=(?:[Ii]n:? |Proceedings |Proc\. |Advances in |arXiv |[Pp]reprint))"
)
_SENTENCE = re.compile(
    r"(?<=[^\W_][^\W_])[.?!]\s+(?=[^\W_a-z])|(?<=[\d)\]])\.\s+(?=[^\W\d_])|\?\s+"
)


def _normalize_spaces(text: str) -> str:
    """Return a text with spaces after punctuation and not before; PDF readers misplace them.

    >>> _normalize_spaces("M .Fattori ,Nat .Phys .5 ( 2009)586 .")
    'M. Fattori, Nat. Phys. 5 (2009) 586.'
    """
    text = re.sub(r"\s+(?=[,.;:)\]])|(?<=[(\[])\s+", "", " ".join(text.split()))
    text = re.sub(r"(?<=[,;])(?=[^\W_])(?<![^\W_]\d,)|(?<=[^\W\d_][.:])(?=[^\W\d_])", " ", text)
    return re.sub(
        r"(?<=[^\W\d_][.,])(?=\d)|(?<=\d\))(?=[\w,])(?!,)|(?<=\w)(?=\((?:19|20)\d\d)", " ", text
    )


_DATE_BEHIND = re.compile(rf",\s+(?:[^\W\d_]{{3,9}}\.?\s)?{_YEAR}[a-z]?\b.*$", re.S)
_VOLUME_WORD = re.compile(r"[\s,]*\b[Vv](?:ol(?:ume)?)?\.?$")
_CUT = re.compile(r"[.,;:?!]\s+")
_ENDS_SENTENCE = re.compile(r"(?:\w[^\W\d_]{4}|[\d)])[.?!]\s$|\?\s$")
_SMALL = r"(?:of|and|the|for|in|on|de|et|der|und|la|des|du|to|y|a|&)"
_TITLE_WORD = r"(?:[^\W\d_a-z][\w'&-]*|eLife|bioRxiv|medRxiv|mBio|npj|iScience)"
_JOURNAL = re.compile(
    rf"{_TITLE_WORD}\.?(?:[ :-]+(?:{_SMALL} )*(?:{_TITLE_WORD}|&)[.:]?"
    rf"| {_TITLE_WORD}, (?=Part|Sect|Ser)){{0,11}}"
)
_JOURNAL_MAX_CHARS = 300
_MAX_NAME_WORDS = 6  # words of an organisation that is the author


class VolumeIssuePage(NamedTuple):
    """Volume, issue and first page, and their offset in the text."""

    start: int
    volume: str
    issue: str
    page: str


def extract_printed_fields(words: str) -> Paper:
    """Return the fields of a printed reference.

    >>> entry = "Roe J, Poe A. Bees and light in spring. J Moss. 2024;12(3):45-9."
    >>> paper = extract_printed_fields(entry)
    >>> paper.title, paper.journal, paper.volume, paper.pages, [a.family for a in paper.authors]
    ('Bees and light in spring', 'J Moss', '12', '45', ['Roe', 'Poe'])
    >>> entry = "Roe, J., & Poe, A. (2024). Bees and light. Moss, 12(3), 45-49."
    >>> extract_printed_fields(entry).title
    'Bees and light'
    >>> paper = extract_printed_fields("J. P. Roe, A. Poe, Phys. Rev. D 10, 265 (1977)")
    >>> paper.title, paper.journal, paper.volume, paper.pages, paper.year
    ('', 'Phys. Rev. D', '10', '265', '1977')
    """
    text = _LABEL.sub("", _LINK.sub(" ", _normalize_spaces(words))).strip()
    names, behind = split_off_names(text)
    dated = _DATED.match(text, behind)
    if dated:
        behind = dated.end()
    place = find_volume_issue_page(text, behind)
    between = text[behind : place.start if place else len(text)]
    title, journal = _split_title_and_journal(between, has_place=bool(place and place.volume))
    years = _YEARS.findall(text)
    return fields_to_paper(
        {
            "authors": names,
            "year": dated["in"] or dated["bare"] if dated else years[-1] if years else "",
            "title": title,
            "journal": journal,
            "volume": place.volume if place else "",
            "issue": place.issue if place else "",
            "pages": place.page if place else "",
        }
    )


def split_off_names(text: str) -> tuple[list[str], int]:
    """Return the authors at the start of an entry, family name first, and where they end."""
    names: list[str] = []
    at, form = 0, ""
    while found := _match_name(text, at, form):
        name_form, end = found
        form = form or name_form
        names.append(_put_family_first(text[at:end], name_form))
        if et_al := _ET_AL.match(text, end):
            return names, et_al.end()
        separator = _SEPARATOR.match(text, end)
        if separator is None or not _match_name(text, separator.end(), form):
            et_al = _ET_AL.match(text, separator.end()) if separator else None
            return names, et_al.end() if et_al else end
        at = separator.end()
    end = _find_other_names_end(text)
    return split_author_names(_AND.sub(" and ", text[:end]).strip(" .,:;")), end


def _put_family_first(name: str, form: str) -> str:
    """Return a name as ``Family, Given`` if it is written in the other order."""
    found = _LAST_NAME.fullmatch(name) if form == "given first" else None
    return f"{found[2]}, {found[1]}" if found else name


def _match_name(text: str, at: int, form: str) -> tuple[str, int] | None:
    """Return form and end of the name at an offset; after the first name, the form is given."""
    if form and _JOURNAL_AHEAD.match(text, at):
        return None
    for one in [form, *_TURNED[form]] if form else _FORMS:
        found = _FORMS[one].match(text, at)
        if found and not _NOT_A_NAME.search(found[0]):
            return one, found.end()
    return None


def _find_other_names_end(text: str) -> int:
    """Return the end of an organisation's name, or of names in an unknown form."""
    if dated := re.match(rf"(\D{{2,600}}?)\(?{_YEAR}[a-z]?\)", text):
        return dated.end(1)
    first = re.match(r"\D{2,200}?(?:(?<=[^\W_]{3})\.|:)\s", text)
    return first.end() if first and len(first[0].split()) <= _MAX_NAME_WORDS else 0


def find_volume_issue_page(text: str, begin: int) -> VolumeIssuePage | None:
    """Return volume, issue and first page of an entry, from the first pattern that matches."""
    for pattern in _PLACES:
        if found := pattern.search(text, begin):
            named = {"issue": "", "page": "", **{k: v or "" for k, v in found.groupdict().items()}}
            pages = _PAGES.search(text, found.start())
            page = named["page"] or (pages["page"] if pages else "")
            return VolumeIssuePage(found.start(), named["volume"], named["issue"], page)
    found = _PAGES.search(text, begin)
    return VolumeIssuePage(found.start(), "", "", found["page"]) if found else None


def _split_title_and_journal(between: str, *, has_place: bool) -> tuple[str, str]:
    """Return title and journal in the text between names and numbers."""
    if quoted := _QUOTED.search(between):
        return _strip_title_marks(quoted[1]), _strip_journal_marks(between[quoted.end() :])
    text = _VOLUME_WORD.sub("", between.strip(" .,;:("))
    if container := _CONTAINER.search(text):
        return _strip_title_marks(text[: container.start()]), _strip_journal_marks(
            text[container.end() :]
        )
    if has_place:
        begin = _find_journal_start(text)
        return _strip_title_marks(text[:begin]), _strip_journal_marks(text[begin:])
    parts = [part for part in _SENTENCE.split(text) if part.strip()]
    if len(parts) > 1 and len(parts[0].split()) > 1:
        return _strip_title_marks(parts[0]), _strip_journal_marks(parts[1])
    return _strip_title_marks(text), ""


def _find_journal_start(text: str) -> int:
    """Return the journal's offset: the longest end of the text that is written like a title."""
    cuts = [0, *(found.end() for found in _CUT.finditer(text))]
    like = [cut for cut in cuts if _JOURNAL.fullmatch(text, cut)]
    if like and like[0] == 0:
        return next((cut for cut in like[1:] if _ENDS_SENTENCE.search(text[:cut])), 0)
    if like:
        return like[0]
    sentences = [cut for cut in cuts[1:] if _ENDS_SENTENCE.search(text[:cut])]
    return sentences[-1] if sentences else cuts[-1]


def _strip_journal_marks(text: str) -> str:
    bare = re.sub(r"^\W*(?:[Ii]n:?\s+)?", "", text)
    bare = re.sub(rf"[\s,(]*\b{_YEAR}\b.*$", "", bare).strip(" .,;:([")
    bare = re.sub(r"\s\d+$", "", _VOLUME_WORD.sub("", bare))
    return bare.strip(" .,;:([") if len(bare) < _JOURNAL_MAX_CHARS else ""


def _strip_title_marks(title: str) -> str:
    """Return a title without surrounding punctuation and without a date after it."""
    return _DATE_BEHIND.sub("", title).strip(" .,;:\"\u201c\u201d'")
