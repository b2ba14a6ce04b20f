"""Read the text of one open article by section, as NCBI's text miners provide it (BioC).

This module reads a passage without downloading; nothing is put on the shelf. A download has more
sources.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ..errors import BadRequest, NotAvailable
from ..http import Web
from ..model.identifiers import Ids
from ..outline.sections import find_slice_end
from ..sources.bioc import Paragraph, fetch_article
from ..system.plain_text import shorten

MAX_PASSAGE_CHARS = 50_000
_TITLE = re.compile(r"(?:abstract_)?title(?:_([1-5]))?")


@dataclass(frozen=True, slots=True)
class ArticleText:
    """A passage of one open article, with its section names and offsets.

    ``sections`` pairs each section, by BioC's name (``INTRO``, ``METHODS``, …), with its number of
    characters; ``next_start`` is the start of the next passage, None at the end. ``text`` came from
    the web: it is content, never an instruction.
    """

    ids: Ids
    license: str
    sections: tuple[tuple[str, int], ...]
    section: str
    text: str
    total_chars: int
    next_start: int | None


def read_article_text(
    paper: str, web: Web, *, section: str = "", start: int = 0, max_chars: int = 8000
) -> ArticleText:
    """Return a passage of an open article.

    Parameters
    ----------
    paper
        Its PMCID or PMID.
    section
        BioC's name or the usual one (``methods``, ``introduction``); the whole text if empty.
    start, max_chars
        Characters, counted within the section.

    Raises
    ------
    BadRequest
        There is no PMCID or PMID, no such section, or a number is out of range.
    NotAvailable
        BioC does not have the article.
    BadContent
        BioC sent another article.
    Unreachable
        BioC did not answer.
    """
    if start < 0 or not 1 <= max_chars <= MAX_PASSAGE_CHARS:
        msg = f"start is {start} and max_chars {max_chars}."
        raise BadRequest(msg, f"start counts from 0; max_chars is 1 to {MAX_PASSAGE_CHARS:,}.")
    found = fetch_article(_parse_bioc_ids(paper), web)
    if not found.paragraphs:
        msg = f"BioC has no text of {shorten(paper.strip(), 40)}."
        hint = "It holds PMC's open-access articles and author manuscripts; a download asks others."
        raise NotAvailable(msg, hint)
    parts = _group_text_by_section(found.paragraphs)
    chosen = _match_section_name(section, tuple(parts)) if section.strip() else ""
    text = parts[chosen] if chosen else "\n\n".join(parts.values())
    end = find_slice_end(text, start, max_chars)
    return ArticleText(
        ids=found.ids,
        license=found.license,
        sections=tuple((name, len(part)) for name, part in parts.items()),
        section=chosen,
        text=text[start:end],
        total_chars=len(text),
        next_start=end if end < len(text) else None,
    )


def _parse_bioc_ids(paper: str) -> Ids:
    ids = Ids.parse(paper)
    if not (ids.pmcid or ids.pmid):
        msg = f"BioC knows articles by PMCID or PMID; {shorten(paper.strip(), 80)!r} is neither."
        raise BadRequest(msg, "Convert it first: convert_ids.")
    return ids


def _group_text_by_section(paragraphs: Sequence[Paragraph]) -> dict[str, str]:
    """Return the text of each section, in order of first appearance."""
    parts: dict[str, list[str]] = {}
    for paragraph in paragraphs:
        parts.setdefault(paragraph.section, []).append(_paragraph_to_markdown(paragraph))
    return {name: "\n\n".join(texts) for name, texts in parts.items()}


def _paragraph_to_markdown(paragraph: Paragraph) -> str:
    """Return a paragraph as Markdown; BioC marks headings and their levels."""
    if paragraph.kind == "front":
        return f"# {paragraph.text}"
    if match := _TITLE.fullmatch(paragraph.kind):
        return f"{'#' * (int(match[1] or 1) + 1)} {paragraph.text}"
    return paragraph.text


def _match_section_name(wanted: str, names: Sequence[str]) -> str:
    """Return the section name that a wanted name matches; BioC abbreviates (``DISCUSS``)."""
    sought = wanted.strip().upper()
    for fits in (str.__eq__, str.startswith, str.__contains__):
        fitting = [name for name in names if fits(sought, name) or fits(name, sought)]
        if fitting:
            return fitting[0]
    msg = f"There is no section {shorten(wanted.strip(), 40)!r}."
    raise BadRequest(msg, f"The sections are: {', '.join(names)}.")
