"""Read papers that arrive as text: in Jina Reader's envelope, or as plain markdown.

The envelope is Reader's text form (``Title:``, ``URL Source:``, ``Published Time:``, ``Warning:``,
``Number of Pages:``, ``Markdown Content:``, in this order, each optional; read from Reader's own
source, ``snapshot-formatter.ts``). Reader returns status 200 even if the page failed: the error is
in a warning line or only in the title.
"""

from __future__ import annotations

import re

from ..errors import BadContent
from ..judges.walls import find_wall_in_title
from ..model.identifiers import Ids
from ..model.paper import Document, Fetched
from ..outline.sections import iterate_headings_and_paragraphs, measure_text
from ..outline.words import collapse_long_whitespace, count_words, strip_markup
from .author_names import extract_family_name_from_full_name

_LINE = re.compile(
    r"(Title|URL Source|Published Time|Warning|Number of Pages|Description|Markdown Content)"
    r":[ \t]*(.*)"
)
# The results of a search by the service: a page each, the lines of its envelope numbered.
_RESULT = re.compile(r"^\[\d{1,2}\] (?:Title|URL Source):[ \t]", re.M)
_REFUSED = {"401", "403"}
_STATUS = re.compile(r"returned error (\d{3})", re.I)
_FILE_NAME = re.compile(r"[\w.\-]+\.(pdf|html?)|untitled|microsoft word\b.*", re.I)
_DOI = re.compile(r"\b10\.\d{4,9}(?:\.\d+)*/[^\s\"<>()\[\]|*]+[^\s\"<>()\[\]|*.,;:]")
_PMID = re.compile(r"\bPMID:?\s*(\d{4,8})\b")
_ARXIV = re.compile(r"\barXiv:\s*(\d{4}\.\d{4,5})(?:v\d+)?", re.I)
_SCRIPT_LINK = re.compile(
    r"\[([^\[\]]{0,500})\]\(\s{0,9}(?:javascript|data|vbscript|file|blob):[^()\[\]]{0,2000}\)", re.I
)
# Whatever the form of the link: no address may begin with a scheme that acts.
_SCRIPT_ADDRESS = re.compile(
    r"(\]\(\s{0,99}|^\s{0,3}\[[^\[\]\n]{1,200}\]:\s{0,99})<?"
    r"(?:java|vb|live)?(?:script|data|file|blob)(?:\s|:|&|%3a)",
    re.I | re.M,
)
_IMAGE = re.compile(r"!\[[^\[\]]{0,500}\]\([^()]{0,2000}\)")
_TAG = re.compile(r"<(?!/?(?:sub|sup)>)(?=[A-Za-z/!?])")
# Titles of the first and second level, which Reader underlines.
_UNDERLINED = re.compile(r"^(?![#>|+\s-]|\*\s)([^\n]{1,300})\n(=|-)\2{2,}[ \t]*$", re.M)
_OPENING = 2500  # characters in which a paper introduces itself
_SHORT_TEXT = 250  # words; a longer text is more than a warning
_MOST_BYTES = 20_000_000


def read_document(fetched: Fetched) -> Document:
    """Convert markdown, with or without Jina Reader's envelope, to a document.

    Raises
    ------
    BadContent
        There is no text (``empty``), or the text of several pages (``not_a_paper``).
    """
    body = fetched.body[:_MOST_BYTES]
    try:
        text = body.decode(fetched.charset or "utf-8", "replace")
    except (LookupError, ValueError):  # an unknown charset, or no text encoding
        text = body.decode("utf-8", "replace")
    text = collapse_long_whitespace(text.lstrip("\ufeff"))
    envelope, content = _split_jina_envelope(text.replace("\r\n", "\n"))
    markdown = _sanitize_markdown(content)
    warnings = envelope.get("Warning", [])
    if not markdown and not warnings:
        msg = f"{fetched.source} answered without any text."
        raise BadContent(msg, verdict="empty")
    if (results := len(_RESULT.findall(text))) > 1:
        msg = f"{fetched.source} answered with a list of search results."
        evidence = f"{results} numbered headers of results"
        raise BadContent(msg, verdict="not_a_paper", evidence=evidence)
    title = _choose_markdown_title(envelope, markdown)
    found = measure_text(markdown)
    pages = envelope.get("Number of Pages", ["0"])[0]
    return Document(
        markdown=markdown,
        title=title,
        abstract=found.abstract,
        authors=_find_author_family_names(markdown),
        ids=_find_ids_above_sections(markdown),
        license=fetched.license,
        retracted=bool(re.match(r"\W*retracted\b", title, re.I)),
        body_words=found.body_words,
        headings=found.headings,
        references=found.references,
        pages=int(pages) if pages.isdecimal() and len(pages) < 6 else 0,
        walls=_find_access_walls_in_short_page(title, warnings, markdown),
    )


def _split_jina_envelope(text: str) -> tuple[dict[str, list[str]], str]:
    """Return the fields of Jina Reader's envelope, and the content; all is content without one."""
    envelope: dict[str, list[str]] = {}
    lines = text.split("\n")
    for number, line in enumerate(lines[:60]):
        match = _LINE.fullmatch(line.strip())
        if match and match[1] == "Markdown Content":
            return envelope, "\n".join([match[2], *lines[number + 1 :]])
        if match:
            envelope.setdefault(match[1], []).append(match[2].strip())
        elif line.strip():
            break
    return ({}, text) if "URL Source" not in envelope else (envelope, "")


def _sanitize_markdown(content: str) -> str:
    """Return markdown with only safe absolute links and inactive tags, without pictures."""
    text = _IMAGE.sub("", content)
    text = _SCRIPT_ADDRESS.sub(r"\1#", _SCRIPT_LINK.sub(r"\1", text))
    text = _TAG.sub("&lt;", re.sub(r"<(https?://[^<>\s]{1,2000})>", r"\1", text))
    text = re.sub(r"[\x00-\x08\x0b-\x1f\x7f\u200b\ufeff\xad]", "", text)
    text = _UNDERLINED.sub(lambda title: f"{'#' if title[2] == '=' else '##'} {title[1]}", text)
    return re.sub(r"\n{3,}", "\n\n", re.sub(r"(?<![ \t])[ \t]+$", "", text, flags=re.M)).strip()


def _choose_markdown_title(envelope: dict[str, list[str]], markdown: str) -> str:
    """Return the envelope's title, or the first heading if that title is a file name."""
    named = envelope.get("Title", [""])[0]
    if named and not _FILE_NAME.fullmatch(named):
        return strip_markup(named)
    first = re.search(r"^#{1,2}\s+(.+)$", markdown[: 4 * _OPENING], re.M)
    return strip_markup(first[1]).strip("#* ") if first else ""


def _find_author_family_names(markdown: str) -> tuple[str, ...]:
    """Return family names if an author line is below the title."""
    match = re.search(r"^(?:Authors?|By):?\s+(.{3,600})$", markdown[:_OPENING], re.M | re.I)
    if not match:
        return ()
    names = re.split(r"\s*(?:,|;|\band\b|&)\s*", strip_markup(match[1]).replace("*", ""))
    return tuple(extract_family_name_from_full_name(name) for name in names if name)


def _find_ids_above_sections(markdown: str) -> Ids:
    """Return the identifiers above the first section, where a paper states its own.

    The page's URL contains the requested identifiers, which proves nothing.
    """
    found = Ids()
    opening: list[str] = []
    for part, is_heading, text in iterate_headings_and_paragraphs(markdown[: 4 * _OPENING]):
        if part != "lead" and not (is_heading and not opening):
            break
        opening.append(text)
    lead = strip_markup("\n".join(opening)[:_OPENING])
    for pattern, spelled in ((_DOI, "{}"), (_PMID, "PMID: {}"), (_ARXIV, "arXiv:{}")):
        if match := pattern.search(lead):
            found |= Ids.maybe(spelled.format(match[match.lastindex or 0]))
    return found


def _find_access_walls_in_short_page(
    title: str, warnings: list[str], markdown: str
) -> tuple[str, ...]:
    """Return the access barriers that the title, warnings and headings of a short page show."""
    found = dict.fromkeys(filter(None, [find_wall_in_title(title)]))
    for warning in warnings:
        if (status := _STATUS.search(warning)) and status[1][0] in "45":
            found["refused" if status[1] in _REFUSED else "error_page"] = None
        elif "CAPTCHA" in warning.upper():
            found["captcha"] = None
    if count_words(markdown) < _SHORT_TEXT:
        for heading in re.findall(r"^#{1,3}\s+(.+)$", markdown, re.M)[:3]:
            if wall := find_wall_in_title(heading):
                found[wall] = None
    return tuple(found)
