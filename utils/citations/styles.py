"""Format references in APA, MLA, Vancouver and other styles, using the official CSL styles.

citeproc-py reads the styles in ``csl/`` and formats references. Its known errors (0.11.1) are
corrected outside citeproc-py:

- *before*, each style gets an item with pages, quotes, capitals and suffixes as printed;
- *after*, wrong punctuation is fixed (``?.``, ``”.``), and so is a title that replaces a missing
  author and is therefore printed twice.

A translated title is printed in brackets after the original; a retracted paper is marked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from ..model.paper import Paper
from ..system.plain_text import one_line
from .items import (
    PageRangeFormat,
    format_page_ranges,
    has_translated_title,
    to_csl_item,
    to_en_dash_ranges,
    to_title_case,
    to_typographic_quotes,
)

if TYPE_CHECKING:
    from lxml.etree import _Element

CslItem = dict[str, Any]

_CSL = "{http://purl.org/net/xbiblio/csl}"
# citeproc-py interprets these characters; private-use characters replace them meanwhile.
_STAND_INS = {"-": "\ue010", "–": "\ue011", "&": "\ue012", ",": "\ue013", ".": "\ue014"}
_HIDE_MARKS = str.maketrans(_STAND_INS)
_RESTORE_MARKS = str.maketrans({v: k for k, v in _STAND_INS.items()})
_NUMERALS = {"2nd": "II", "3rd": "III", "4th": "IV", "5th": "V"}
_ORDINALS = {numeral: ordinal for ordinal, numeral in _NUMERALS.items()}


@dataclass(frozen=True)
class StyleOptions:
    """A citation style and the adjustments that citeproc-py needs for it.

    ``name`` is the name in tools, ``file`` the file in ``csl/``, ``capitals`` the fields in title
    case. ``quoted``: titles are in quotes; ``initials``: given names are shortened;
    ``link``: a DOI is printed as a link.
    """

    name: str
    file: str
    pages: PageRangeFormat
    capitals: tuple[str, ...] = ()
    quoted: bool = False
    initials: bool = True
    link: bool = True
    numerals: bool = True
    article_numbers: bool = False


# By the name that people type. To add a style, add its official file to csl/ and a line here.
STYLES = {
    "apa": StyleOptions(
        "apa_string", "apa", "expanded", ("container-title",), article_numbers=True
    ),
    "mla": StyleOptions(
        "mla_string",
        "modern-language-association",
        "minimal-two",
        ("title", "container-title"),
        quoted=True,
        initials=False,
    ),
    "plos": StyleOptions("plos", "plos", "expanded", link=False),
    "vancouver": StyleOptions(
        "vancouver", "nlm-citation-sequence", "minimal", link=False, numerals=False
    ),
}
_MAX_CACHED = 2000  # references; the desk shows the same ones again and again
# A style's elements keep state while they render: one reference at a time.
_RENDER_LOCK = Lock()


def iterate_styled_references(papers: Sequence[Paper], style: StyleOptions) -> Iterator[str]:
    """Yield the papers' references in one style as plain text, one line each, in order."""
    return (_format_reference(paper, style) for paper in papers)


@lru_cache(maxsize=_MAX_CACHED)  # citeproc-py takes 3 ms of CPU time for one
def _format_reference(paper: Paper, style: StyleOptions) -> str:
    """Return the paper's reference in one style."""
    printed = _prepare_csl_item(paper, to_csl_item(paper, "item"), style)
    return _correct_reference_punctuation(_render_reference(printed, style), printed)


# --- Before: the item as this style is to print it ------------------------------------------------


_UNCHANGED_FIELDS = ("issued", "genre", "DOI", "URL", "PMID", "PMCID")


def _prepare_csl_item(paper: Paper, item: CslItem, style: StyleOptions) -> CslItem:
    english = item.get("language", "en") == "en"
    printed = {
        "id": "item",
        "type": item["type"],
        # No language: this module sets the capitals.
        "language": "zxx",
        "title": _format_title_for_style(paper, item, style, english),
        "author": [_format_name_for_style(name, style) for name in item.get("author", ())],
        "volume": to_en_dash_ranges(item.get("volume", "")),
        "issue": to_en_dash_ranges(item.get("issue", "")),
        **{name: item.get(name, "") for name in _UNCHANGED_FIELDS},
    }
    container = _format_container_title(item)
    if "container-title" in style.capitals and english:
        container = to_title_case(container)
    if item["type"] == "article":  # a preprint has a publisher (its server), but no container
        printed["publisher"] = container or item.get("archive", "")
        if "archive" in item:
            printed["number"] = f'<span class="nocase">arXiv:{item["archive_location"]}</span>'
    else:
        printed["container-title"] = container
        printed["container-title-short"] = to_typographic_quotes(
            item.get("container-title-short", "")
        )
    pages = item.get("page", "")
    if (
        style.article_numbers
        and item["type"] == "article-journal"
        and re.fullmatch(r"[a-zA-Z]\d+|\d{5,}", pages)
    ):
        printed["number"] = pages
    else:
        printed["page"] = format_page_ranges(pages, style.pages).translate(_HIDE_MARKS)
    if style.link:
        printed["DOI"] = quote(printed["DOI"], safe="/:;().,_-+=~!*'@")
    if style.quoted and re.fullmatch(r"\d+–\d+", printed["volume"]):
        printed["volume"] = (
            f"vols. {printed['volume']}"  # citeproc-py does not treat a range as a number
        )
    return {field: value for field, value in printed.items() if value}


def _format_title_for_style(paper: Paper, item: CslItem, style: StyleOptions, english: bool) -> str:
    title = item.get("title", "")
    if not title:
        return ""
    if "title" in style.capitals and english:
        title = to_title_case(title)
    if has_translated_title(paper):
        title = " ".join(filter(None, (item.get("original-title"), f"[{title}]")))
    if paper.retracted:
        title = f"{title} [Retracted]"
    title = to_typographic_quotes(
        title, inner=style.quoted and item["type"] not in ("book", "thesis")
    )
    # Within a title the author's order of quotes and stops is kept; only the end is changed.
    return re.sub(r"(?<=[”’])[.,](?=.)", lambda found: found[0].translate(_HIDE_MARKS), title)


def _format_container_title(item: CslItem) -> str:
    """Return the journal or book title in its own capitalisation.

    NLM's catalogue adds subtitles after " : " and, to distinguish namesakes, places and years:
    ``Science (New York, N.Y.)``.
    """
    title = item.get("container-title", "")
    if item["type"] != "chapter":
        title = re.sub(r"(?<=\S) \([^()]*(?:,|\d{4})[^()]*\)(?= : |$)", "", title)
        title = title.partition(" : ")[0]
    return to_typographic_quotes(title)


def _format_name_for_style(name: dict[str, str], style: StyleOptions) -> dict[str, str]:
    given = name.get("given", "")
    if given[:1].isalpha() and given[:1].upper() == given[:1].lower():
        # A script without capitals has no initials; East Asian names have no space.
        between = "" if given >= "\u2e80" else " "
        return {"literal": f"{name.get('family', '')}{between}{given}".strip()}
    prepared = {part: to_typographic_quotes(value) for part, value in name.items()}
    if given:
        prepared["given"] = (
            _capitalize_given_names(given) if style.initials else _add_stops_to_initials(given)
        )
    if suffix := prepared.get("suffix", "").rstrip("."):
        if style.numerals:
            suffix = _NUMERALS.get(suffix, f"{suffix}." if suffix in ("Jr", "Sr") else suffix)
        else:
            suffix = _ORDINALS.get(suffix, suffix)
        prepared["suffix"] = suffix
    return {part: value for part, value in prepared.items() if value}


def _capitalize_given_names(given: str) -> str:
    """Return given names, capitalised so that citeproc-py makes correct initials.

    >>> _capitalize_given_names("jun-ichi (Bob)"), _capitalize_given_names("Maria de Lourdes")
    ('Jun-Ichi', 'Maria de Lourdes')
    """
    without_nicknames = re.sub(r"\([^()]*\)|[\"“][^\"”]*[\"”]|\.", " ", given)  # without nicknames
    words = [re.sub(r"^[\W\d_]+|[\W\d_]+$", "", word) for word in without_nicknames.split()]
    words = [word for word in words if word]
    for at, word in enumerate(words):
        parts = [part for part in word.split("-") if part[:1].isalpha()]
        capital = [part[0].upper() + part[1:] for part in parts]
        words[at] = "-".join(capital) if at == 0 or len(parts) > 1 else word
    return " ".join(words)


def _add_stops_to_initials(given: str) -> str:
    """Return full given names with a full stop after each initial.

    >>> _add_stops_to_initials("John P A")
    'John P. A.'
    """
    return re.sub(r"\b([^\W\d_])(?=\s|$)", r"\1.", to_typographic_quotes(given))


# --- citeproc-py ----------------------------------------------------------------------------------


def _render_reference(printed: CslItem, style: StyleOptions) -> str:
    """Return the reference as citeproc-py formats it."""
    from citeproc import Citation, CitationItem, CitationStylesBibliography, formatter
    from citeproc.source.json import CiteProcJSON

    cite = CitationItem("item")
    citation = Citation([cite])
    with _RENDER_LOCK:
        bibliography = CitationStylesBibliography(
            _load_csl_style(style), CiteProcJSON([printed]), formatter.plain
        )
        bibliography.register(citation)
        for record in (cite, citation):  # attributes that are dictionary look-ups are slow
            vars(record).update(record)
        return "".join(map(str, bibliography.bibliography()))


@cache
def _load_csl_style(chosen: StyleOptions) -> Any:
    """Load a style with its adjustments; the result is cached."""
    from citeproc import CitationStylesStyle

    path = Path(__file__).parent / "csl" / f"{chosen.file}.csl"
    style = CitationStylesStyle(str(path), locale="en-US", validate=False)
    root = style.root
    for text in root.iter(f"{_CSL}text"):
        if text.get("variable") == "citation-number" and text.getparent().tag == f"{_CSL}layout":
            text.set("variable", "year-suffix")  # a single reference has no number
    for date in root.iter(f"{_CSL}date"):
        # citeproc-py joins a date's parts by the caller's delimiter, not by the locale's.
        wanted = root.get_date(date.get("form")) if date.get("form") else None
        if wanted is not None and "delimiter" in wanted.attrib and "variable" in date.attrib:
            date.set("delimiter", wanted.get("delimiter"))
    if not chosen.initials:
        del root.attrib["initialize-with"]  # citeproc-py ignores initialize="false"
    _cache_element_lookups([root, *root.locales])
    return style


def _cache_element_lookups(roots: Sequence[_Element]) -> None:
    """Cache the look-ups of all elements, because the trees never change."""
    lookups = (
        "calls_variable", "get_formatter", "get_locale_option", "get_option", "get_root",
        "get_single_term", "xpath_search",
    )  # fmt: skip
    for element in [element for root in roots for element in root.iter()]:
        for lookup in lookups:
            if hasattr(type(element), lookup):
                setattr(element, lookup, cache(getattr(element, lookup)))


# --- After: punctuation ---------------------------------------------------------------------------


def _correct_reference_punctuation(text: str, printed: CslItem) -> str:
    text = one_line(text)
    if "author" not in printed and "title" in printed:
        text = _drop_repeated_title(text, re.escape(printed["title"]))
    # American style: full stops and commas go inside the quotes, and none follows ? or !.
    text = re.sub(r"([?!.,]?)(’?”)([.,])", _move_stop_inside_quotes, text)
    text = re.sub(r"([?!])\.(?=[\s”]|$)", r"\1", text)
    issue = printed.get("issue", "")
    if not re.search("[–,&]", issue):  # "4 Pt 1" is one issue, whatever its digits
        text = text.replace(f"nos. {issue}", f"no. {issue}")
    text = text.translate(_RESTORE_MARKS).strip()
    return re.sub(r"\bp\. (?=[ivxlc]+–)", "pp. ", text)


def _drop_repeated_title(text: str, title: str) -> str:
    """Remove the second of two equal titles; the first is printed in place of the author."""
    twice = re.match(rf"(“?{title})([.”]* (?:\([^()]*\)\.? )?)“?{title}( \[\w+\])?[.”]* ?", text)
    if not twice:
        return text
    first_title, between, description = twice.groups(default="")
    return f"{first_title}{description}{between}{text[twice.end() :]}"


def _move_stop_inside_quotes(found: re.Match[str]) -> str:
    before, quotes, after = found.groups()
    return f"{before}{quotes}" if before in ("?", "!", after) and before else f"{after}{quotes}"
