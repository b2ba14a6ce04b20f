"""References as people read them: APA, MLA, Vancouver and others, by the official CSL styles.

citeproc-py reads the styles in ``csl/`` and does the work. What it is known to get wrong
(0.11.1) is mended on both sides of it, never inside: *before*, each style gets an item written
the way it will be printed (pages, quotes, capitals, suffixes), *after*, what it leaves at the seams
is put right (``?.``, ``”.``, a title that stands in for its missing author and comes twice).
A translated title stands in brackets behind the original, a retracted paper says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from ..model.paper import Paper
from ..system.plain_text import one_line
from .items import Pages, csl_item, curled, dashed, is_translated, page_ranges, title_case

if TYPE_CHECKING:
    from lxml.etree import _Element

Item = dict[str, Any]

_CSL = "{http://purl.org/net/xbiblio/csl}"
# citeproc-py reads more into these than is meant; these private characters stand in for them.
_STAND_INS = {"-": "\ue010", "–": "\ue011", "&": "\ue012", ",": "\ue013", ".": "\ue014"}
_HIDE, _SHOW = str.maketrans(_STAND_INS), str.maketrans({v: k for k, v in _STAND_INS.items()})
_NUMERALS = {"2nd": "II", "3rd": "III", "4th": "IV", "5th": "V"}
_ORDINALS = {numeral: ordinal for ordinal, numeral in _NUMERALS.items()}


@dataclass(frozen=True)
class Style:
    """A style, and what it wants that citeproc-py does not give it.

    ``name`` is what tools call its references, ``file`` its file in ``csl/``; ``capitals`` are the
    fields in title case; ``quoted`` whether titles stand in quotes; ``initials`` whether given
    names are shortened; ``link`` whether a DOI is printed as one.
    """

    name: str
    file: str
    pages: Pages
    capitals: tuple[str, ...] = ()
    quoted: bool = False
    initials: bool = True
    link: bool = True
    numerals: bool = True
    article_numbers: bool = False


# By what people type. A new style is its official file in csl/ and one line here.
STYLES = {
    "apa": Style("apa_string", "apa", "expanded", ("container-title",), article_numbers=True),
    "mla": Style(
        "mla_string",
        "modern-language-association",
        "minimal-two",
        ("title", "container-title"),
        quoted=True,
        initials=False,
    ),
    "plos": Style("plos", "plos", "expanded", link=False),
    "vancouver": Style("vancouver", "nlm-citation-sequence", "minimal", link=False, numerals=False),
}
# A style's elements remember what they rendered last: one reference at a time.
_TURN = Lock()


def styled(papers: Sequence[Paper], style: Style) -> Iterator[str]:
    """The papers' references in one style, plain text, one line each, in their order."""
    for paper in papers:
        printed = _as_printed(paper, csl_item(paper, "item"), style)
        yield _finished(_rendered(printed, style), printed)


# --- Before: the item as this style is to print it ------------------------------------------------


_AS_THEY_ARE = ("issued", "genre", "DOI", "URL", "PMID", "PMCID")


def _as_printed(paper: Paper, item: Item, style: Style) -> Item:
    english = item.get("language", "en") == "en"
    printed = {
        "id": "item",
        "type": item["type"],
        # No language: the capitals are ours.
        "language": "zxx",
        "title": _title(paper, item, style, english),
        "author": [_name(name, style) for name in item.get("author", ())],
        "volume": dashed(item.get("volume", "")),
        "issue": dashed(item.get("issue", "")),
        **{name: item.get(name, "") for name in _AS_THEY_ARE},
    }
    container = _container(item)
    if "container-title" in style.capitals and english:
        container = title_case(container)
    if item["type"] == "article":  # a preprint's server publishes it, nothing contains it
        printed["publisher"] = container or item.get("archive", "")
        if "archive" in item:
            printed["number"] = f'<span class="nocase">arXiv:{item["archive_location"]}</span>'
    else:
        printed["container-title"] = container
        printed["container-title-short"] = curled(item.get("container-title-short", ""))
    pages = item.get("page", "")
    if (
        style.article_numbers
        and item["type"] == "article-journal"
        and re.fullmatch(r"[a-zA-Z]\d+|\d{5,}", pages)
    ):
        printed["number"] = pages
    else:
        printed["page"] = page_ranges(pages, style.pages).translate(_HIDE)
    if style.link:
        printed["DOI"] = quote(printed["DOI"], safe="/:;().,_-+=~!*'@")
    if style.quoted and re.fullmatch(r"\d+–\d+", printed["volume"]):
        printed["volume"] = f"vols. {printed['volume']}"  # to citeproc-py a span is no number
    return {field: value for field, value in printed.items() if value}


def _title(paper: Paper, item: Item, style: Style, english: bool) -> str:
    title = item.get("title", "")
    if not title:
        return ""
    if "title" in style.capitals and english:
        title = title_case(title)
    if is_translated(paper):
        title = " ".join(filter(None, (item.get("original-title"), f"[{title}]")))
    if paper.retracted:
        title = f"{title} [Retracted]"
    title = curled(title, inner=style.quoted and item["type"] not in ("book", "thesis"))
    # Within a title the author's order of quotes and stops is kept; only its end is ours.
    return re.sub(r"(?<=[”’])[.,](?=.)", lambda found: found[0].translate(_HIDE), title)


def _container(item: Item) -> str:
    """The journal or book as it calls itself.

    NLM's catalogue adds subtitles behind " : " and, to tell namesakes apart, places and years:
    ``Science (New York, N.Y.)``.
    """
    title = item.get("container-title", "")
    if item["type"] != "chapter":
        title = re.sub(r"(?<=\S) \([^()]*(?:,|\d{4})[^()]*\)(?= : |$)", "", title)
        title = title.partition(" : ")[0]
    return curled(title)


def _name(name: dict[str, str], style: Style) -> dict[str, str]:
    given = name.get("given", "")
    if given[:1].isalpha() and given[:1].upper() == given[:1].lower():
        # A script without capitals has no initials; East Asian names are written in one.
        between = "" if given >= "\u2e80" else " "
        return {"literal": f"{name.get('family', '')}{between}{given}".strip()}
    written = {part: curled(value) for part, value in name.items()}
    if given:
        written["given"] = _with_initials(given) if style.initials else _dotted(given)
    if suffix := written.get("suffix", "").rstrip("."):
        if style.numerals:
            suffix = _NUMERALS.get(suffix, f"{suffix}." if suffix in ("Jr", "Sr") else suffix)
        else:
            suffix = _ORDINALS.get(suffix, suffix)
        written["suffix"] = suffix
    return {part: value for part, value in written.items() if value}


def _with_initials(given: str) -> str:
    """Given names of which citeproc-py makes initials: it stumbles over all but capitals.

    >>> _with_initials("jun-ichi (Bob)"), _with_initials("Maria de Lourdes")
    ('Jun-Ichi', 'Maria de Lourdes')
    """
    called = re.sub(r"\([^()]*\)|[\"“][^\"”]*[\"”]|\.", " ", given)  # without nicknames
    words = [re.sub(r"^[\W\d_]+|[\W\d_]+$", "", word) for word in called.split()]
    words = [word for word in words if word]
    for at, word in enumerate(words):
        parts = [part for part in word.split("-") if part[:1].isalpha()]
        capital = [part[0].upper() + part[1:] for part in parts]
        words[at] = "-".join(capital) if at == 0 or len(parts) > 1 else word
    return " ".join(words)


def _dotted(given: str) -> str:
    """Full given names, their initials with dots.

    >>> _dotted("John P A")
    'John P. A.'
    """
    return re.sub(r"\b([^\W\d_])(?=\s|$)", r"\1.", curled(given))


# --- citeproc-py ----------------------------------------------------------------------------------


def _rendered(printed: Item, style: Style) -> str:
    from citeproc import Citation, CitationItem, CitationStylesBibliography, formatter
    from citeproc.source.json import CiteProcJSON

    cite = CitationItem("item")
    citation = Citation([cite])
    with _TURN:
        shelf = CitationStylesBibliography(_read(style), CiteProcJSON([printed]), formatter.plain)
        shelf.register(citation)
        for asked_often in (
            cite,
            citation,
        ):  # a dictionary that plays an object is slow
            vars(asked_often).update(asked_often)
        return "".join(map(str, shelf.bibliography()))


@cache
def _read(asked: Style) -> Any:
    """A style, read once: 200 references cost one reading."""
    from citeproc import CitationStylesStyle

    path = Path(__file__).parent / "csl" / f"{asked.file}.csl"
    style = CitationStylesStyle(str(path), locale="en-US", validate=False)
    root = style.root
    for text in root.iter(f"{_CSL}text"):
        if text.get("variable") == "citation-number" and text.getparent().tag == f"{_CSL}layout":
            text.set("variable", "year-suffix")  # a reference on its own has no number
    for date in root.iter(f"{_CSL}date"):
        # citeproc-py joins a date's parts by the caller's delimiter, not by the locale's.
        wanted = root.get_date(date.get("form")) if date.get("form") else None
        if wanted is not None and "delimiter" in wanted.attrib and "variable" in date.attrib:
            date.set("delimiter", wanted.get("delimiter"))
    if not asked.initials:
        del root.attrib["initialize-with"]  # it does not know initialize="false"
    _remember([root, *root.locales])
    return style


def _remember(roots: Sequence[_Element]) -> None:
    """Let each element keep its answers: the trees never change, and searching them costs most."""
    questions = (
        "calls_variable", "get_formatter", "get_locale_option", "get_option", "get_root",
        "get_single_term", "xpath_search",
    )  # fmt: skip
    for element in [element for root in roots for element in root.iter()]:
        for question in questions:
            if hasattr(type(element), question):
                setattr(element, question, cache(getattr(element, question)))


# --- After: the seams -----------------------------------------------------------------------------


def _finished(text: str, printed: Item) -> str:
    text = one_line(text)
    if "author" not in printed and "title" in printed:
        text = _once(text, re.escape(printed["title"]))
    # American: full stops and commas stand inside the quotes, and none behind ? or !.
    text = re.sub(r"([?!.,]?)(’?”)([.,])", _quoted_end, text)
    text = re.sub(r"([?!])\.(?=[\s”]|$)", r"\1", text)
    issue = printed.get("issue", "")
    if not re.search("[–,&]", issue):  # "4 Pt 1" is one issue, whatever its digits
        text = text.replace(f"nos. {issue}", f"no. {issue}")
    text = text.translate(_SHOW).strip()
    return re.sub(r"\bp\. (?=[ivxlc]+–)", "pp. ", text)


def _once(text: str, title: str) -> str:
    """Take out the second of two titles: the first stands where the author would."""
    twice = re.match(rf"(“?{title})([.”]* (?:\([^()]*\)\.? )?)“?{title}( \[\w+\])?[.”]* ?", text)
    if not twice:
        return text
    named, between, description = twice.groups(default="")
    return f"{named}{description}{between}{text[twice.end() :]}"


def _quoted_end(found: re.Match[str]) -> str:
    before, quotes, after = found.groups()
    return f"{before}{quotes}" if before in ("?", "!", after) and before else f"{after}{quotes}"
