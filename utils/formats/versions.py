"""Which version of a paper a text says it is, in the front of its JATS or on its first page.

Publishers mark articles in the words of NISO's Journal Article Versions (RP-8-2008), PMC and
preprint servers in their own. A manuscript number alone says nothing, for publishers give one to
every submission: only those of the systems that take in accepted manuscripts (NIHMS, Europe PMC
and their sisters) do.
"""

from __future__ import annotations

import re

from ..model.paper import Document, Fetched, Paper, Version
from ..model.versions import by_host, only_a_preprint

_FRONT = 400_000  # bytes: a front matter with three thousand authors
_BODY = re.compile(rb"<body[\s>]")
_ARTICLE = re.compile(rb"<article\s[^<>]{0,2000}")
_ARTICLE_VERSION = re.compile(rb"<article-version(?=[\s>])([^<>]{0,600})>([^<>]{0,100})")
_MANUSCRIPT = re.compile(
    rb"""pub-id-type\s{0,9}=\s{0,9}["']manuscript["'][^<>]{0,200}>\s{0,99}"""
    rb"""(?:nihms|nihpa|hhmims|ems|ukms|cams|halms)-?\d""",
    re.I,
)
_WORDS: tuple[tuple[re.Pattern[bytes], Version], ...] = (
    (re.compile(rb"\b[ec]?vor\b|version[ -]of[ -]record", re.I), "published"),
    (re.compile(rb"\baa?m\b|accepted[ -]manuscript", re.I), "accepted"),
    (re.compile(rb"\b(?:ao|smur)\b|pre-?print|author'?s[ -]original|submitted", re.I), "preprint"),
)


def version_of(fetched: Fetched, document: Document, paper: Paper) -> Version:
    """The version of a text: what it states itself, else what its site stated.

    A text with an arXiv identifier and no DOI is a preprint where the site stated nothing.
    """
    if fetched.media == "jats" and (stated := _stated_version(fetched.body)):
        return stated
    if only_a_preprint(paper):
        return "preprint"
    if fetched.version or not document.ids.arxiv or document.ids.doi:
        return fetched.version or by_host(fetched.url)
    return "preprint"


def _stated_version(jats: bytes) -> Version:
    """What the front of an article says it is; empty where it says nothing."""
    front = jats[:_FRONT]
    if body := _BODY.search(front):
        front = front[: body.start()]
    for marks in _ARTICLE_VERSION.finditer(front):
        for words, version in _WORDS:
            if words.search(marks[1]) or words.search(marks[2]):
                return version
    if _MANUSCRIPT.search(front):
        return "accepted"
    article = _ARTICLE.search(front)
    return "preprint" if article and b'"preprint"' in article[0] else ""
