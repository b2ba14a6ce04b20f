"""Convert a paper to CSL-JSON, the source of every citation format, and fix its typography.

Field names and types are those of the CSL 1.0.2 data schema (``csl-data.json``), which has
``DOI``, ``PMID`` and ``PMCID``. An arXiv identifier is the ``archive_location`` in ``arXiv``.

citeproc-py leaves curled quotes, page ranges and the capitals of titles to its caller, or handles
them by rules too simple for real titles (``In-patient``, ``Versus``; ``1-199`` becomes ``1–99``).
This module therefore handles them. Sources: CSL 1.0.2 (*Page ranges*, *Title-case conversion*),
MLA Handbook 9 (§2.90), Citing Medicine 2 (*Pagination*).
"""

from __future__ import annotations

import html
import re
import unicodedata
from dataclasses import replace
from typing import Any, Literal
from urllib.parse import quote

from ..model.identifiers import find_arxiv_version
from ..model.paper import Author, Notice, Paper
from ..system.plain_text import one_line, to_subscript, to_superscript

_MARKUP_TAG = re.compile(
    r"</?(?:i|b|u|em|strong|su[bp]|sc|scp|tt|span|p|br|italic|bold|title|inf|(?:mml|jats):[\w-]+)"
    r"(?:\s[^<>]{0,300})?/?>",
    re.I,
)
_SCRIPT = re.compile(r"<(su[bp])>([\d+−-]{1,9})</\1>", re.I | re.A)
_BRACKETED_TITLE = re.compile(r"\[([^\[\]]*(?:\[[^\[\]]*\][^\[\]]*)*)\]")
_TYPES = {
    "Preprint": "article",
    "Academic Dissertation": "thesis",
    "Newspaper Article": "article-newspaper",
    "Dataset": "dataset",
}
_ARXIV = ("", "arXiv", "arXiv.org")  # arXiv's own record, and Semantic Scholar's names of arXiv
_LANGUAGES = {
    "eng": "en", "fre": "fr", "ger": "de", "spa": "es", "ita": "it", "por": "pt", "rus": "ru",
    "jpn": "ja", "chi": "zh", "pol": "pl", "dut": "nl", "kor": "ko", "tur": "tr", "swe": "sv",
    "dan": "da", "nor": "no", "cze": "cs", "hun": "hu", "ukr": "uk", "heb": "he", "fin": "fi",
}  # fmt: skip
_ASCII = str.maketrans(
    {"ø": "o", "ł": "l", "ß": "ss", "æ": "ae", "œ": "oe", "đ": "d", "ð": "d", "þ": "th", "ı": "i"}
)
_KEY_STOP_WORDS = frozenset(
    (
        "a", "an", "and", "are", "as", "at", "by", "can", "der", "die", "do", "does", "for", "from",
        "how", "in", "is", "la", "le", "of", "on", "or", "the", "to", "un", "une", "what", "with",
    )
)  # fmt: skip
PageRangeFormat = Literal["expanded", "minimal", "minimal-two"]
_OPENING_QUOTE = re.compile(
    r"(?<![^\s(\[{“‘/–—-])['\"](?=[^\s'\"])|(?<![^\s(\[{“‘/–—-])['\"](?=['\"]\w)"
)
_OPENING_OF_CLOSING = {"”": "“", "’": "‘"}
_QUOTES = re.compile("['\"“”‘’]")
_RANGE = re.compile(
    r"(?<![\w.–-])([A-Za-z]{0,3})(\d{1,9})([A-Za-z]?)\s?[-–]\s?\1?(\d{1,9})\3(?![\w.–-])", re.A
)
_SPAN = re.compile(r"(?<=\d)([A-Za-z]?)\s?-\s?(?=[A-Za-z]{0,3}\d)", re.A)
_ROMAN = re.compile(r"\b([ivxlc]+)\s?-\s?([ivxlc]+)\b", re.I)
_BETWEEN_WORDS = re.compile(r"(\s+|[-–—/])")
# After a colon, a question or a sentence, but not after "Ed.".
_SENTENCE_START = re.compile(r"(?:[:?!]|\w{4}\.)\W*\s$|\s[-–—]\s$")
_LETTERS = re.compile(r"[^\W\d_]+")
# Articles, conjunctions, prepositions of any length, particles of names and of other languages.
_LOWER_IN_TITLES = frozenset(
    re.findall(
        r"\w+",
        """a about above across after against along among amongst an and around as at before behind
        beneath between beyond but by d de del den der di die down during et for from if in into la
        le nor of off on onto or over per pour so than the through throughout till to toward towards
        und under until up upon van versus via von vs with within without yet""",
    )
)


def to_csl_item(paper: Paper, key: str = "", version: str = "") -> dict[str, Any]:
    """Return the paper as a CSL-JSON item; unknown fields are left out.

    Parameters
    ----------
    paper : Paper
    key : str
        The ``id``; built by `build_citation_key` if empty.
    version : str
        The number of the arXiv version to cite, if any.
    """
    article = ""
    if _is_preprint_record(paper):
        article, paper = one_line(_describe_published_article(paper)), _remove_article_fields(paper)
    ids, arxiv = paper.ids, one_line(paper.ids.arxiv)
    if arxiv and version and not find_arxiv_version(arxiv):
        arxiv = f"{arxiv}v{version}"
    bookshelf = paper.pages if paper.pages.startswith("NBK") else ""
    kind = _choose_csl_type(paper, bookshelf)
    item = {
        "id": key or build_citation_key(paper),
        "type": kind,
        "genre": "Preprint" if kind == "article" else "",
        "title": clean_title(paper.title) or clean_title(paper.vernacular_title),
        "original-title": clean_title(paper.vernacular_title) if clean_title(paper.title) else "",
        "author": [_to_csl_name(author) for author in paper.authors if author.name.strip()],
        "container-title": "" if kind == "book" else strip_markup(paper.journal),
        "container-title-short": "" if bookshelf else strip_markup(paper.journal_abbreviation),
        "issued": _to_csl_date(paper.published),
        "volume": strip_markup(paper.volume),
        "issue": strip_markup(paper.issue),
        "page": "" if bookshelf else _expand_page_range(strip_markup(paper.pages)),
        "ISSN": strip_markup(paper.issn),
        "DOI": one_line(ids.doi),
        "PMID": one_line(ids.pmid),
        "PMCID": one_line(ids.pmcid),
        "archive": "arXiv" if arxiv else "",
        "archive_location": arxiv,
        "URL": _build_arxiv_url(arxiv)
        if find_arxiv_version(arxiv)
        else _build_item_url(paper, bookshelf),
        "language": _to_language_code(paper),
        "keyword": "; ".join(_collect_keywords(paper)),
        "annote": paper.note.strip(),
        "abstract": strip_markup(paper.abstract),
        "note": ". ".join(filter(None, (*_describe_notices(paper), article))),
    }
    return {name: value for name, value in item.items() if value}


def _is_preprint_record(paper: Paper) -> bool:
    """Return whether this is a preprint server's record that also names the published article."""
    own = paper.ids.arxiv and "Preprint" in paper.publication_types
    return bool(own) and paper.journal not in _ARXIV


def _remove_article_fields(paper: Paper) -> Paper:
    """Return the preprint's record without the article's journal, volume, pages and DOI."""
    return replace(
        paper,
        ids=replace(paper.ids, doi=""),
        journal="arXiv",
        journal_abbreviation="",
        volume="",
        issue="",
        pages="",
    )


def _describe_published_article(paper: Paper) -> str:
    """Return a note that says where the published article of a preprint appeared."""
    issue = f"({paper.issue})" if paper.issue else ""
    place = " ".join(filter(None, (paper.journal, f"{paper.volume}{issue}", paper.pages)))
    return f"Published in: {place}" + (f", doi:{paper.ids.doi}" if paper.ids.doi else "")


def build_citation_key(paper: Paper) -> str:
    """Return author, year and first significant word as a key, which depends only on the paper.

    >>> from utils.model.identifiers import Ids
    >>> paper = Paper(Ids(), "The Role of mRNA", authors=(Author("Łoś"),), published="2019")
    >>> build_citation_key(paper)
    'los2019role'
    """
    first = paper.authors[0] if paper.authors else Author()
    family = _extract_ascii_letters(first.family or first.collective.split(" ")[0]) or "anon"
    words = re.split(r"[\s/–—-]+", clean_title(paper.title)[:500])
    significant = _extract_ascii_letters(next(filter(is_significant_word, words), ""))
    return f"{family[:30]}{_extract_ascii_letters(paper.year)}{significant[:30]}"


def format_inverted_name(name: dict[str, str]) -> str:
    """Return ``van der Berg, Jan, Jr``, with commas removed from the parts."""
    if "literal" in name:
        return name["literal"].replace(",", "")
    family = " ".join(filter(None, (name.get("non-dropping-particle"), name.get("family"))))
    parts = [family, join_given_names_and_particle(name), name.get("suffix", "")]
    return ", ".join(part.replace(",", "") for part in parts).rstrip(", ")


def join_given_names_and_particle(name: dict[str, str]) -> str:
    """Return the given names with the particle that sorting ignores: ``Ludwig van``."""
    return " ".join(filter(None, (name.get("given"), name.get("dropping-particle"))))


def is_significant_word(word: str) -> bool:
    """Return whether a word of a title is distinctive enough for a citation key."""
    plain = _extract_ascii_letters(word)
    return bool(plain) and plain not in _KEY_STOP_WORDS


def strip_markup(text: str) -> str:
    """Return one line of text without markup; ``p < 0.05`` is not markup and stays.

    >>> strip_markup("10<sup>3</sup> <i>E.&nbsp;coli</i>")
    '10³ E. coli'
    """
    if "&" in text:
        text = html.unescape(text)
    if "<" in text:
        text = _MARKUP_TAG.sub("", _SCRIPT.sub(_replace_script_tag, text))
    return one_line(text)


def _replace_script_tag(found: re.Match[str]) -> str:
    """Return the digits of a sub or sup tag as Unicode, so that 10³ does not become 103."""
    return (to_subscript if found[1].lower() == "sub" else to_superscript)(found[2])


def clean_title(text: str) -> str:
    """Return a title without markup, PubMed's final full stop and a translation's brackets.

    >>> clean_title("[On <i>C. elegans</i> &amp; CO<sub>2</sub>].")
    'On C. elegans & CO₂'
    """
    title = _strip_final_full_stop(text)
    translated = _BRACKETED_TITLE.fullmatch(title)
    return translated[1].rstrip(".").strip() if translated else title


def has_translated_title(paper: Paper) -> bool:
    """Return whether the title is PubMed's translation, which is printed in brackets."""
    return bool(_BRACKETED_TITLE.fullmatch(_strip_final_full_stop(paper.title)))


def _strip_final_full_stop(text: str) -> str:
    title = strip_markup(text)
    return title[:-1].rstrip() if title.endswith(".") and not title.endswith("..") else title


def _choose_csl_type(paper: Paper, bookshelf: str) -> str:
    if bookshelf:
        return "chapter" if paper.journal and paper.journal != paper.title else "book"
    for name, kind in _TYPES.items():
        if name in paper.publication_types:
            return kind
    if paper.ids.arxiv and paper.journal in _ARXIV:
        return "article"
    return "article-journal" if paper.journal or paper.journal_abbreviation else "document"


def _to_csl_name(author: Author) -> dict[str, str]:
    if author.collective:
        return {"literal": strip_markup(author.collective)}
    words = strip_markup(author.family).split(" ")
    # "van der Berg": lower-case words before the name; the name itself is never empty.
    family_start = next((at for at, word in enumerate(words) if not word[:1].islower()), 0)
    # NLM writes initials without spaces: "JA" would be read as one name.
    given = strip_markup(author.given) or " ".join(
        f"{letter}." for letter in strip_markup(author.initials)
    )
    # "Maria de la" Cruz: lower-case words after the given names have no initials.
    given_words = given.split(" ")
    given_end = next(
        (at for at in range(len(given_words), 0, -1) if not given_words[at - 1][:1].islower()),
        len(given_words),
    )
    name = {
        "family": " ".join(words[family_start:]),
        "given": " ".join(given_words[:given_end]),
        "suffix": strip_markup(author.suffix),
        "dropping-particle": " ".join(given_words[given_end:]),
        "non-dropping-particle": " ".join(words[:family_start]),
    }
    return {part: value for part, value in name.items() if value}


def _to_csl_date(published: str) -> dict[str, list[list[int]]]:
    match = re.fullmatch(r"(\d{4})(?:-(0[1-9]|1[0-2])(?:-([0-2]\d|3[01]))?)?", published, re.A)
    parts = [int(part) for part in match.groups() if part] if match else []
    return {"date-parts": [parts]} if all(parts) and parts else {}


def _to_language_code(paper: Paper) -> str:
    first = one_line(paper.languages[0]) if paper.languages else ""
    return _LANGUAGES.get(first, first)


def _expand_page_range(pages: str) -> str:
    """Return page ranges in full; PubMed shortens the last page.

    >>> [_expand_page_range(pages) for pages in ("1123-9", "S12-S18", "e123", "115-9, 121-4")]
    ['1123-1129', 'S12-S18', 'e123', '115-119, 121-124']
    """
    return format_page_ranges(pages).replace("–", "-")


def _build_item_url(paper: Paper, bookshelf: str) -> str:
    ids = paper.ids
    if ids.doi:
        return f"https://doi.org/{quote(one_line(ids.doi), safe='/:;().,_-')}"
    if bookshelf:
        return f"https://www.ncbi.nlm.nih.gov/books/{quote(bookshelf)}/"
    if ids.arxiv:
        return _build_arxiv_url(one_line(ids.arxiv))
    if ids.pmid:
        return f"https://pubmed.ncbi.nlm.nih.gov/{quote(one_line(ids.pmid))}/"
    pmcid = quote(one_line(ids.pmcid))
    return f"https://pmc.ncbi.nlm.nih.gov/articles/{pmcid}/" if pmcid else ""


def _build_arxiv_url(name: str) -> str:
    return f"https://arxiv.org/abs/{quote(name)}" if name else ""


def _collect_keywords(paper: Paper) -> list[str]:
    """Return the reader's tags, and the authors' keywords or else the MeSH headings."""
    words = paper.keywords or [heading.lstrip("*").partition("/")[0] for heading in paper.mesh]
    words = (*paper.tags, *words)
    return list(
        dict.fromkeys(filter(None, (strip_markup(word).replace(";", ",") for word in words)))
    )


def _describe_notices(paper: Paper) -> list[str]:
    notes = ["Retracted publication"] if paper.retracted else []
    words = {"retraction": "Retraction", "expression_of_concern": "Expression of concern"}
    return notes + [
        f"{words[notice.kind]}: {_format_notice_reference(notice)}"
        for notice in paper.notices
        if notice.kind in words and _format_notice_reference(notice)
    ]


def _format_notice_reference(notice: Notice) -> str:
    text = strip_markup(notice.reference).rstrip(".")
    return " ".join(filter(None, (text, f"(PMID {notice.pmid})" if notice.pmid else "")))


def _extract_ascii_letters(text: str) -> str:
    """Return the lower-case ASCII letters and digits of *text*."""
    folded = unicodedata.normalize("NFKD", text.lower().translate(_ASCII))
    return re.sub(r"[^a-z0-9]", "", folded)


def to_typographic_quotes(text: str, inner: bool = False) -> str:
    r"""Return text with typographic quotes: double outside, single inside; *inner* swaps them.

    >>> (
    ...     to_typographic_quotes("On 'x' and Crohn's"),
    ...     to_typographic_quotes('On "x \'y\'"', inner=True),
    ... )
    ('On “x” and Crohn’s', 'On ‘x “y”’')
    """
    if not _QUOTES.search(text):
        return text
    text = _OPENING_QUOTE.sub(lambda found: "‘" if found[0] == "'" else "“", text)
    marks = list(text.replace("'", "’").replace('"', "”"))
    opened: list[int] = []
    for at, mark in enumerate(marks):
        if mark in "“‘":
            opened.append(at)
        elif mark in _OPENING_OF_CLOSING and _is_closing_quote(marks, at, opened):
            begin, double = opened.pop(), len(opened) % 2 == inner
            marks[begin], marks[at] = "“”" if double else "‘’"
    return "".join(marks)


def _is_closing_quote(marks: list[str], at: int, opened: list[int]) -> bool:
    """Return whether a mark closes the last open quotation; within a word it is an apostrophe."""
    if not opened or _OPENING_OF_CLOSING[marks[at]] != marks[opened[-1]]:
        return False
    return marks[at] == "”" or at + 1 == len(marks) or not marks[at + 1].isalnum()


def to_en_dash_ranges(numbers: str) -> str:
    """Return volumes or issues with an en dash in each range.

    >>> to_en_dash_ranges("5-6"), to_en_dash_ranges("Pt B-1")
    ('5–6', 'Pt B-1')
    """
    return re.sub(r"(?<=\d)-(?=\d)", "–", numbers)


def format_page_ranges(pages: str, form: PageRangeFormat = "expanded") -> str:
    """Return page ranges with en dashes, shortened as the CSL *page-range-format* says.

    >>> format_page_ranges("321-328", "minimal"), format_page_ranges("1-199", "minimal")
    ('321–8', '1–199')
    >>> format_page_ranges("101-8, S3-7"), format_page_ranges("1103-4", "minimal-two")
    ('101–108, S3–S7', '1103–04')
    >>> format_page_ranges("15S-18S", "minimal"), format_page_ranges("605.e1-605.e13", "minimal")
    ('15S–18S', '605.e1–605.e13')
    """

    def expand(found: re.Match[str]) -> str:
        letters, first, behind, last = found.groups()
        whole = first[: max(0, len(first) - len(last))] + last
        if len(whole) > len(first) or whole <= first:
            shown = found[4] if whole < first else whole  # "199-5" is not a range; it stays
            return f"{letters}{first}{behind}–{letters}{shown}{behind}"
        if form == "expanded" or behind:
            return f"{letters}{first}{behind}–{letters}{whole}{behind}"
        new = next(at for at, (old, now) in enumerate(zip(first, whole, strict=True)) if old != now)
        keep = new if form == "minimal" else min(new, max(0, len(whole) - 2))
        return f"{letters}{first}–{whole[keep:]}"

    return _ROMAN.sub(r"\1–\2", _SPAN.sub(r"\1–", _RANGE.sub(expand, pages)))


def to_title_case(title: str) -> str:
    """Return an English title in title case; a word with capitals or digits stays as it is.

    >>> to_title_case("Out-of-hospital care: a study of p53 and mRNA versus β-lactam in follow-up")
    'Out-of-Hospital Care: A Study of p53 and mRNA versus β-Lactam in Follow-Up'
    """
    if title.isupper() and title.count(" ") > 2:
        title = title.lower()
    pieces = _BETWEEN_WORDS.split(title)
    words = [at for at in range(0, len(pieces), 2) if pieces[at]]
    for at in words:
        before, behind = "".join(pieces[max(0, at - 3) : at]), "".join(pieces[at + 1 : at + 2])
        begins = at == words[0] or bool(_SENTENCE_START.search(before))
        # Of "out-of-hospital" only the middle is a small word.
        hyphens = "-" in (before[-1:], behind) and not before[-1:] == behind == "-"
        pieces[at] = _capitalize_title_word(pieces[at], begins or hyphens or at == words[-1])
    return "".join(pieces)


def _capitalize_title_word(word: str, always: bool) -> str:
    letters = _LETTERS.search(word)
    if not letters or word != word.lower() or re.search(r"\.\w", word):
        return word
    bare, begin, end = letters[0], letters.start(), letters.end()
    beside = word[max(0, begin - 1) : begin] + word[end : end + 1]
    symbol = (len(bare) == 1 and bare != "a") or any(map(str.isdigit, beside))  # "Der p 10", "p53"
    small = bare in _LOWER_IN_TITLES and not always
    if symbol or small or "α" <= bare[0] <= "ω" or len(bare[0].upper()) != 1:
        return word
    return word[:begin] + bare[0].upper() + word[begin + 1 :]
