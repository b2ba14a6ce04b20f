"""How alike two titles, abstracts and author lists are.

Titles travel badly: PubMed brackets translations and ends titles with a full stop, publishers
print subtitles apart and Greek as letters, PDFs break lines. What must *not* be forgiven is a
number (*Cancer statistics, 2020* and *2021* are two papers) or a word that turns a paper into a
notice about it (*Correction: …*). Family names are taken out of names and of lines of authors.
"""

from __future__ import annotations

import re
from difflib import SequenceMatcher

from ..outline.words import folded, shingles, without_markup

# A notice about a paper carries the paper's title behind one of these.
_NOTICE = re.compile(
    r"\W*(?:(?:author|publisher|editorial)s?['\u2019]? )?"
    r"(?:correction|corrigend(?:um|a)|errat(?:um|a)"
    r"|addendum|retraction(?: note| notice)?|expression of concern|withdrawal|comments?|commentary"
    r"|(?:invited |author'?s? )?(?:reply|response)|letter|editorial|discussion|re|peer review)\b"
    r"\s*(?::|\bto\b|\bon\b|\bfor\b[^,]{1,80}\bet al\b|\u2014|\u2013|$)",
    re.I,
)
# What a correction is headed by, in its first lines.
_AMENDS = re.compile(
    r"^\W*(?:(?:author|publisher) )?(?:correction|corrigend(?:um|a)|errat(?:um|a)|addendum"
    r"|retraction(?: note| notice)?|expression of concern)\W*(?:(?::|to\b).*)?$",
    re.I | re.M,
)
_RETRACTED = re.compile(r"^\W*(?:retracted|withdrawn)(?: article| paper)?\W+", re.I)
_LONGEST = 2000  # characters of a title; comparing takes the product of both lengths
_NUMBER = re.compile(r"\d+|i{1,3}|iv|vi{0,3}|ix|first|second|third|fourth|fifth")
_STOP = frozenset(
    ("the", "a", "an", "of", "and", "in", "on", "for", "to", "with", "by", "from", "at")
)
_NAME = re.compile(r"(?:[^\W\d_][\w.'\u2019\u2010-]*\s+){1,5}[^\W\d_][\w.'\u2019\u2010-]*")
_BETWEEN = re.compile(r"[,;\u2022]|\s+and\s+|\s+&\s+")
_LONGEST_NAME = 60  # characters of a name


def title_likeness(ours: str, theirs: str) -> float:
    """How alike two titles are, 0 to 1.

    >>> title_likeness("[TGF-β in the liver].", "TGF-beta in the Liver")
    1.0
    >>> title_likeness("Cancer statistics, 2020", "Cancer statistics, 2021") < 0.6
    True
    """
    a, b = title_words(ours), title_words(theirs)
    if not a or not b:
        return 0.0
    if "".join(a) == "".join(b):
        return 1.0
    ratio = SequenceMatcher(None, a, b, autojunk=False).ratio()
    letters = SequenceMatcher(None, "".join(a)[:400], "".join(b)[:400], autojunk=False).ratio()
    likeness = max(ratio, letters * 0.95)
    short, long = sorted((a, b), key=len)
    # A subtitle left out: the shorter is how the longer begins.
    if len(short) >= 4 and long[: len(short)] == short:
        likeness = max(likeness, 0.9)
    elif _numbers(a) != _numbers(b):
        return min(likeness, 0.5)
    return min(likeness, 0.5) if is_notice(ours) != is_notice(theirs) else likeness


def title_words(title: str) -> list[str]:
    """A title's words, ready to be compared: no brackets, no *RETRACTED:*."""
    return folded(_RETRACTED.sub("", without_markup(title[:_LONGEST]).strip("[]. ")))


def telling_words(title: str) -> int:
    """How many words of a title could tell it from another: *Editorial* has one, *In brief* one."""
    return len({word for word in title_words(title) if word not in _STOP and len(word) > 1})


def is_notice(title: str) -> bool:
    """Whether a title is that of a notice about another paper.

    >>> is_notice("Correction to: Bees and light"), is_notice("Correction of vision in bees")
    (True, False)
    >>> is_notice("Correction for Roe et al., Bees and light"), is_notice("RETRACTED: Bees")
    (True, False)
    """
    return _NOTICE.match(without_markup(title).strip("[]. ")) is not None


def amends(opening: str) -> bool:
    r"""Whether a text's first lines announce a correction or retraction of another paper.

    >>> amends("# Nature\n\n## Correction\n\nArticle title: …"), amends("Correction of vision")
    (True, False)
    """
    return _AMENDS.search(opening) is not None


def opens_with(opening: str, title: str) -> bool:
    """Whether a text's opening contains the title word for word, not as part of a notice."""
    wanted = "".join(title_words(title))
    if len(wanted) < 12:
        return False
    text = "".join(folded(opening))
    at = text.find(wanted)
    before = text[max(0, at - 24) : at]
    about = re.search(
        r"(correctionto|correction|erratum|corrigendum|commenton|replyto|retraction)$", before
    )
    return at >= 0 and not about


def contained(part: str, whole: set[tuple[str, ...]]) -> float:
    """The share of *part*'s runs of four words that *whole* has too, 0 to 1."""
    runs = shingles(folded(part))
    return len(runs & whole) / len(runs) if runs else 0.0


def authors_shared(ours: tuple[str, ...], theirs: tuple[str, ...], opening: str) -> float:
    """The share of our first six authors that *theirs*, or else the text's opening, names."""
    wanted = [name for author in ours[:6] if len(name := " ".join(folded(author))) > 1]
    named = {" ".join(folded(author)) for author in theirs}
    # A PDF's "Doe1,2" is Doe.
    text = f" {' '.join(word.rstrip('0123456789') for word in folded(opening))} "
    hits = sum(name in named or f" {name} " in text for name in wanted)
    return hits / len(wanted) if wanted else 0.0


def _numbers(words: list[str]) -> list[str]:
    return [word for word in words if _NUMBER.fullmatch(word)]


def families_in(line: str) -> list[str]:
    """The family names, in order; what is no name is left out.

    >>> families_in("Ada Roe, Jan van Poe and Wei Zhang, University 5")
    ['Roe', 'Poe', 'Zhang']
    """
    parts = (part.strip(" .~").removeprefix("and ").strip() for part in _BETWEEN.split(line))
    return [
        family_name(name) for name in parts if len(name) <= _LONGEST_NAME and _NAME.fullmatch(name)
    ]


def family_name(name: str) -> str:
    """The family name out of ``Doe, Jane`` or ``Jane A. Doe Jr``.

    >>> family_name("Del Coco, Laura"), family_name("Simon YW Ho"), family_name("J Doe Jr.")
    ('Del Coco', 'Ho', 'Doe')
    """
    if "," in name:
        return name.partition(",")[0].strip()
    parts = [
        part
        for part in name.split()
        if not re.fullmatch(r"(jr|sr|ii|iii|iv|phd|md)\.?", part, re.I)
    ]
    return parts[-1] if parts else name
