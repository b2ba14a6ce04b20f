"""Read Markdown with pandoc's citations: ``[see @roe2024, p. 3; @doe2020]``, ``@roe2024 says``.

https://pandoc.org/MANUAL.html#citation-syntax. Keys that are identifiers (``@doi:10.1000/a``,
``@pmid:31452104``) cite a paper without a list, as in Manubot
(https://github.com/manubot/rootstock/blob/main/USAGE.md#citations). The lists are those that the
metadata names (``bibliography``) or holds (``references``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from .parts import BlockBuilder, ManuscriptBlock

KEY = r"@(?:\{(?P<braced>[^{}\s]{1,200})\}|(?P<bare>\w(?:[\w:.#$%&\-+?<>~/()]{0,198}[\w/])?))"
_CITED_KEY = re.compile(rf"(?<![\w@.])-?{KEY}")
_HEADER = re.compile(r"\A---[ \t]*\n(.*?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.S)
_FENCE = re.compile(r"^(`{3,}|~{3,})[^\n]*\n.*?(?:^\1[`~]*[ \t]*$|\Z)", re.S | re.M)
_TOKEN = re.compile(
    r"(?P<comment><!--.*?-->)"
    r"|(?P<code>`+)(?P<coded>.+?)(?P=code)"
    r"|(?P<group>\[[^\[\]]{0,2000}?(?<![\w@])-?@[\w{][^\[\]]{0,2000}\])"
    rf"|(?P<narrative>(?<![\w@.\\])-?{KEY}(?:\s\[[^\[\]@]{{1,200}}\])?)"
    r"|(?P<image>!\[[^\[\]]{0,2000}\]\([^()\s]{0,2000}(?:\s\"[^\"]{0,300}\")?\)(?:\{[^{}]{0,300}\})?)"
    r"|(?P<link>\[(?P<shown>[^\[\]]{0,1000})\]\([^()\s]{0,2000}(?:\s\"[^\"]{0,300}\")?\))"
    r"|(?P<note>\[\^[^\]\s]{1,80}\]:?)"
    r"|(?P<escape>\\[!-/:-@\[-`{-~])"
    r"|(?P<tag></?[a-zA-Z][^<>]{0,300}>)"
    r"|(?P<raised>\^(?P<up>[^\s^]{1,60})\^)"
    r"|(?P<emphasis>\*{1,3}|(?<!\w)_{1,3}(?=\w)|(?<=\w|[.,;:!?)])_{1,3}(?!\w))"
    r"|(?P<line>\n[ \t]*(?:>[ \t]?)*)"
    r"|(?P<words>[^`<\[!\\*_^\n@-]+|.)",
    re.S,
)
_BLOCK_MARKER = re.compile(r"(?P<marker>[ \t]*(?:>[ \t]?)*(?:[-+*]|#{1,6}|:)?[ \t]+|(?:>[ \t]?)+)")
_PARAGRAPH = re.compile(r"[^\n].*?(?=\n[ \t]*\n|\n(?=[ \t]*(?:[-+*]|\d{1,3}[.)])[ \t])|\Z)", re.S)
_TABLE = re.compile(r"[ \t]*(?:\||[-+:| ]{5,}$)", re.M)


def parse_yaml_metadata(text: str) -> dict[str, Any]:
    """Return the metadata at the head of a document; empty if missing or unreadable."""
    import yaml

    found = _HEADER.match(text.removeprefix("\ufeff"))
    if not found:
        return {}
    try:
        read = yaml.safe_load(found[1])
    except (yaml.YAMLError, RecursionError, ValueError):
        return {}
    return read if isinstance(read, dict) else {}


def find_citation_keys(text: str) -> tuple[str, ...]:
    """Return the keys of a citation.

    >>> find_citation_keys("[see @roe2024, pp. 3-5; -@{https://a.test/b}]")
    ('roe2024', 'https://a.test/b')
    """
    return tuple(found["braced"] or found["bare"] for found in _CITED_KEY.finditer(text))


def parse_markdown_blocks(text: str, file: str = "") -> list[ManuscriptBlock]:
    """Return the paragraphs of a document, in order."""
    builder = BlockBuilder(text, file)
    masked = _FENCE.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
    if header := _HEADER.match(masked):
        masked = re.sub(r"[^\n]", " ", header[0]) + masked[header.end() :]
    for found in _PARAGRAPH.finditer(masked):
        if found[0].strip() and not _TABLE.match(found[0]):
            _add_paragraph(found[0], found.start(), builder)
    return builder.blocks


def _add_paragraph(paragraph: str, at: int, builder: BlockBuilder) -> None:
    """Add a paragraph to the builder, with its citations and its kind."""
    begins = _BLOCK_MARKER.match(paragraph)
    marker = begins["marker"] if begins else ""
    for token in _TOKEN.finditer(paragraph, len(marker)):
        for text, place, keys in _iterate_token_parts(token):
            if keys:
                builder.append_citation(keys, text, at + place)
            else:
                builder.append_text(text, at + place)
    kind = marker.strip()[:1]
    if kind == "#" or re.search(r"\n(?:=+|-+)[ \t]*$", paragraph):
        builder.finish_block("heading")
    else:
        builder.finish_block("quote" if kind == ">" else "prose")


def _iterate_token_parts(token: re.Match[str]) -> Iterator[tuple[str, int, tuple[str, ...]]]:
    """Yield a token's visible text, its offset, and the keys that the token cites."""
    kind, at = token.lastgroup or "", token.start()
    if token["group"] or token["narrative"]:
        yield token[0], at, find_citation_keys(token[0])
    elif token["link"]:
        yield token["shown"], token.start("shown"), ()
    elif token["coded"]:
        yield token["coded"], token.start("coded"), ()
    elif token["escape"]:
        yield token[0][1:], at + 1, ()
    elif token["raised"]:
        yield (
            token["up"],
            token.start("up"),
            (f"#{token['up']}",) if token["up"][0].isdigit() else (),
        )
    elif token["line"]:
        yield " ", at, ()
    elif kind == "words":
        yield token[0], at, ()
