"""Build a searchable paper from a list's record that has no identifier.

Every program writes authors, pages and journals in ways of its own; here they become the fields of
a `Paper`. What cannot be told is left out: a wrong field would speak against the right paper.

Where the forms come from: exports of Covidence, Embase, Ovid, Scopus, Web of Science, PubMed,
Zotero and EndNote. Ovid puts the language behind a translated title, and the whole place into one
field (``Lancet. 375(9721):1200-5, 2010 Apr 3``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from ..model.identifiers import Ids
from ..model.paper import TRIAL_REGISTRATION, Author, Paper
from ..system.plain_text import one_line
from .pasted import ListEntry, format_citation

_FIELD_MAX_CHARS = 2000  # characters of a field
_MAX_NAMES = 100  # names; of more, the first are enough
_LANGUAGE_SUFFIX = re.compile(
    r"\s*[\[(](?:chinese|czech|danish|dutch|english|finnish|french|german|greek|hebrew|hungarian"
    r"|italian|japanese|korean|norwegian|persian|polish|portuguese|romanian|russian|serbian|spanish"
    r"|swedish|turkish|ukrainian)[\])]\.?$",
    re.I,
)
_PAGES_WORD = re.compile(r"^p(?:p|ages?)?(?:[.:]\s*|\s+)(?=\w)", re.I)
_JOURNAL_PLACE = re.compile(
    r"(?P<journal>[^\d]{3,200}?)\.\s+(?P<volume>\d{1,4})\s?(?:\((?P<issue>[^()]{1,20})\))?\s?:\s?"
    r"(?P<pages>[a-z]?\d[\w-]{0,20})"
)
_VOLUME_WORD = re.compile(r"^vol(?:ume)?\.?\s*", re.I)
_VOLUME_AND_ISSUE = re.compile(r"(\w{1,10})\s?\(([^()]{1,20})\)")
# The author lists end so; "et" is a family name, too.
_AND_OTHERS = re.compile(r"[\s,;]+(?:et al|and others|& others)\.?\s*$", re.I)
_AND = re.compile(r"\s+(?:and|&)\s+")
_INITIALS = re.compile(r"(?:[^\W\d_a-z]\.?[-\s]?){1,4}")
_NAME_AND_INITIALS = re.compile(r".*\w\s+(?:[^\W\d_a-z]\.?-?){1,4}")
_GROUP = re.compile(
    r"\b(?:group|consortium|collaborat\w+|investigators|committee|society|association|network"
    r"|organi[sz]ation|initiative|trialists|team)\b",
    re.I,
)
_SHORT_NAME_CHARS = 4  # letters below which the end of a name is not compared alone
# Kinds of record that share their title with the paper they belong to, as programs call them.
_KINDS = (
    (re.compile(r"(?:conference|meeting) abstract|^abst$", re.I), "Meeting Abstract"),
    (re.compile(r"preprint", re.I), "Preprint"),
    (re.compile(r"erratum|corrigendum|^correction$", re.I), "Published Erratum"),
    (re.compile(r"retraction (?:of|notice)", re.I), "Retraction of Publication"),
)

RecordFields = Mapping[str, str | Sequence[str]]
"""What a record says, by field: ``authors`` and ``kinds`` are lists, all others a text.

The others: ``title``, ``vernacular_title``, ``year``, ``journal``, ``abbreviation``, ``issn``,
``volume``, ``issue``, ``pages``, ``first_page``, ``last_page``.
"""

# What records say of a paper, and the tags it may stand under; of lists, all of the first.
RIS_TAGS = {
    "authors": ("AU", "A1"),
    "year": ("PY", "Y1", "DA"),
    "title": ("TI", "T1"),
    "vernacular_title": ("TT",),
    "journal": ("T2", "JF", "JO", "JA", "J2"),
    "abbreviation": ("J2", "JA", "JO"),
    "volume": ("VL",),
    "issue": ("IS",),
    "first_page": ("SP",),
    "last_page": ("EP",),
    "issn": ("SN",),
    "kinds": ("M3", "TY"),
}
MEDLINE_TAGS = {
    "authors": ("FAU", "AU", "CN"),
    "year": ("DP",),
    "title": ("TI",),
    "vernacular_title": ("TT",),
    "journal": ("JT", "TA"),
    "abbreviation": ("TA",),
    "volume": ("VI",),
    "issue": ("IP",),
    "pages": ("PG",),
    "issn": ("IS",),
    "kinds": ("PT",),
}
WOS_TAGS = {
    "authors": ("AU",),
    "year": ("PY",),
    "title": ("TI",),
    "journal": ("SO",),
    "abbreviation": ("J9", "JI"),
    "volume": ("VL",),
    "issue": ("IS",),
    "first_page": ("BP", "AR"),
    "last_page": ("EP",),
    "issn": ("SN",),
    "kinds": ("DT",),
}
LIST_FIELDS = ("authors", "kinds")


def build_list_entry(ids: Ids, said: RecordFields, where: str) -> ListEntry:
    """Return a record as a list entry, named by its identifiers, citation, or place in the file."""
    if ids:
        return ListEntry(str(ids), ids)
    authors = _get_field_list(said, "authors")
    first = authors[0] if authors else ""
    words = format_citation(
        first,
        _get_one_line_field(said, "year"),
        _get_one_line_field(said, "title"),
        _get_one_line_field(said, "journal"),
    )
    return ListEntry(words or where, ids, fields_to_paper(said) if words else None)


def parsed_paper_to_entry(paper: Paper, where: str) -> ListEntry:
    """Return a parsed record as an entry; *where* as in `build_list_entry`."""
    if paper.ids:
        return ListEntry(str(paper.ids), paper.ids)
    first = paper.authors[0].family if paper.authors else ""
    is_trial = TRIAL_REGISTRATION in paper.publication_types  # titles of trials are often equal
    place = f"{paper.journal} {paper.pages}" if is_trial else paper.journal
    words = format_citation(first, paper.year, paper.title, place)
    return ListEntry(words or where, paper.ids, paper if words else None)


def fields_to_paper(said: RecordFields) -> Paper:
    """Return the paper that a record describes, without identifiers.

    >>> fields = {"title": "[Moss]. [French]", "authors": ["Roe J"], "pages": "pp 5-9"}
    >>> paper = fields_to_paper(fields)
    >>> paper.title, paper.authors[0].family, paper.pages
    ('[Moss].', 'Roe', '5-9')
    """
    journal, place = _get_one_line_field(said, "journal"), None
    volume, issue, pages = (
        _get_one_line_field(said, "volume"),
        _get_one_line_field(said, "issue"),
        _get_page_range(said),
    )
    if not (volume or pages) and (place := _JOURNAL_PLACE.match(journal)):
        journal, volume, pages = place["journal"], place["volume"], place["pages"]
        issue = issue or place["issue"] or ""
    volume = _VOLUME_WORD.sub("", volume)
    if both := _VOLUME_AND_ISSUE.fullmatch(volume):
        volume, issue = both[1], issue or both[2]
    year = re.search(r"\b[12]\d{3}\b", _get_one_line_field(said, "year")[:40])
    names = map(parse_author_name, _get_field_list(said, "authors")[:_MAX_NAMES])
    return Paper(
        Ids(),
        title=_LANGUAGE_SUFFIX.sub("", _get_one_line_field(said, "title")),
        vernacular_title=_get_one_line_field(said, "vernacular_title"),
        authors=tuple(one for one in names if one.name),
        journal=journal.rstrip(". "),
        journal_abbreviation=_get_one_line_field(said, "abbreviation").rstrip(". "),
        issn=_get_one_line_field(said, "issn")[:9]
        if re.match(r"\d{4}-\d{3}[\dX]", _get_one_line_field(said, "issn"))
        else "",
        volume=volume,
        issue=issue,
        pages=pages,
        published=year[0] if year else "",
        publication_types=_find_publication_types(_get_field_list(said, "kinds")),
    )


def parse_author_name(name: str) -> Author:
    """Parse an author in any notation; if unclear, all of it is the family name.

    >>> names = ("Roe, Jane", "van der Poe JA", "J. Roe", "Jane Roe")
    >>> [parse_author_name(name).family for name in names]
    ['Roe', 'van der Poe', 'Roe', 'Roe']
    >>> parse_author_name("Garcia Lopez").family
    'Garcia Lopez'
    """
    name = one_line(name[:_FIELD_MAX_CHARS]).strip(" ,;*")
    if _GROUP.search(name):
        return Author(collective=name.rstrip("."))
    family, comma, given = (part.strip() for part in name.partition(","))
    if comma:
        given = given.partition(",")[0].strip()
        bare = _INITIALS.fullmatch(given)
        return Author(
            family, "" if bare else given, _strip_initials_punctuation(given) if bare else ""
        )
    words = name.rstrip(".").split()
    if len(words) < 2:
        return Author(family=name.rstrip("."))
    until = next((at for at in range(len(words), 1, -1) if not _is_initials(words[at - 1])), 1)
    if until < len(words):
        return Author(
            " ".join(words[:until]), "", _strip_initials_punctuation("".join(words[until:]))
        )
    begins = next((at for at, word in enumerate(words[:-1]) if not _is_initials(word)), None)
    if begins is None or begins > 0 or len(words[-1]) < _SHORT_NAME_CHARS:
        at = len(words) - 1 if begins is None else begins or len(words) - 1
        given = " ".join(words[:at])
        return Author(" ".join(words[at:]), given, "")
    return Author(family=" ".join(words))


def split_author_names(text: str) -> list[str]:
    """Return the names in one cell, separated in any way.

    >>> split_author_names("Roe J, Poe A, et al."), split_author_names("Roe, J., Poe, A.B.")
    (['Roe J', 'Poe A'], ['Roe, J.', 'Poe, A.B.'])
    >>> split_author_names("Roe, Jane")
    ['Roe, Jane']
    >>> [split_author_names(t) for t in ("Roe, Jane and Poe, Ann", "Jane Roe, Ann Poe & Li Wu")]
    [['Roe, Jane', 'Poe, Ann'], ['Jane Roe', 'Ann Poe', 'Li Wu']]
    """
    text = _AND_OTHERS.sub("", one_line(text[: _MAX_NAMES * 100]))
    for sign in ";|":
        if sign in text:
            return _drop_nameless_parts(text.split(sign))
    parts = _drop_nameless_parts(_AND.split(text))
    if len(parts) > 1 and all(part.count(",") == 1 for part in parts):
        return parts
    return _join_name_parts(
        _drop_nameless_parts(piece for part in parts for piece in part.split(","))
    )


def _join_name_parts(pieces: list[str]) -> list[str]:
    """Return the names in pieces between commas, which separate two names or one name's parts."""
    behind = pieces[1::2]
    if behind and len(pieces) % 2 == 0 and all(map(_is_initials, behind)):
        return [f"{one}, {two}" for one, two in zip(pieces[::2], behind, strict=True)]
    lonely = all(" " not in piece for piece in pieces)
    in_two = len(pieces) == 2 and not any(map(_NAME_AND_INITIALS.fullmatch, pieces))
    if in_two and (lonely or " " not in pieces[0]):
        return [", ".join(pieces)]
    return pieces


def _drop_nameless_parts(parts: Iterable[str]) -> list[str]:
    return [part for one in parts if (part := one.strip(" ,")) and part not in ("et al", "et al.")]


def _is_initials(word: str) -> bool:
    return _INITIALS.fullmatch(word.strip()) is not None


def _strip_initials_punctuation(initials: str) -> str:
    return "".join(filter(str.isalpha, initials))


def _get_page_range(said: RecordFields) -> str:
    first, last = _get_one_line_field(said, "first_page"), _get_one_line_field(said, "last_page")
    pages = _get_one_line_field(said, "pages") or (
        "-".join(filter(None, (first, last))) if first else ""
    )
    return _PAGES_WORD.sub("", pages)[:100]


def _find_publication_types(words: Sequence[str]) -> tuple[str, ...]:
    """Return publication types that distinguish the record from a namesake."""
    found = (kind for word in words for sign, kind in _KINDS if sign.search(word[:200]))
    return tuple(dict.fromkeys(found))


def _get_one_line_field(said: RecordFields, name: str) -> str:
    value = said.get(name, "")
    return one_line(value[:_FIELD_MAX_CHARS]) if isinstance(value, str) else ""


def _get_field_list(said: RecordFields, name: str) -> Sequence[str]:
    value = said.get(name, ())
    return () if isinstance(value, str) else value
