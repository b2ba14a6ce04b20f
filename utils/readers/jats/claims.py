"""Extract an article's metadata: title, authors, identifiers, licence, retraction.

Only ``article-meta`` is read, never related articles or references, because the judge compares
these claims with the requested paper. Old files call the PMCID ``pmc`` (with or without prefix),
current ones ``pmcid`` and ``pmcaid``; ``pmcid-ver`` and ``pmcaiid`` identify a version and are
ignored. Licence addresses: creativecommons.org and the NISO ``license_ref`` recommendation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from ...model.identifiers import Ids
from ...model.licenses import find_cc_license
from ..safe_xml import get_first_child
from .walk import HREF, Element, MarkdownWalk, collapse_whitespace, get_all_text

_NOTICE_TYPES: Final = frozenset(
    {"retraction", "partial-retraction", "correction", "addendum", "expression-of-concern"}
    | {"editorial", "news", "article-commentary", "obituary"}
)
_RETRACTED_TITLE: Final = re.compile(r"\W*retracted\b(?! by\b)", re.I)
# Abstracts beside the abstract, and what to call them when they carry no title.
OTHER_ABSTRACTS: Final = {
    **{
        kind: kind.replace("-", " ").capitalize()
        for kind in (
            *("teaser", "summary", "author-summary", "executive-summary", "lay-summary"),
            *("plain-language-summary", "lay-abstract", "key-points", "highlights"),
            *("web-summary", "synopsis"),
        )
    },
    **{kind: f"{kind.capitalize()} abstract" for kind in ("graphical", "video", "stereochemical")},
    **dict.fromkeys(("toc", "short"), "Short summary"),
    **dict.fromkeys(("editor", "editors-summary", "editor-summary"), "Editor's summary"),
    "precis": "Précis",
    "authorsummary": "Author summary",
    "plain-language": "Plain language summary",
    "executive": "Executive summary",
    "author-highlights": "Highlights",
}


def get_article_title(meta: Element, words: MarkdownWalk) -> str:
    """Return the title with its subtitle."""
    parts = [words.format_line(el) for el in _iterate_title_elements(meta)]
    parts = [part for part in parts if part]
    title = parts[0] if parts else ""
    for part in parts[1:]:
        title += f"{' ' if title.endswith((':', '?', '!', '.')) else ': '}{part}"
    return title


def _iterate_title_elements(meta: Element) -> Iterator[Element]:
    group = meta.find("title-group")
    for el in group if group is not None else ():
        if el.tag in {"article-title", "subtitle"}:
            yield el


def find_main_abstract(meta: Element) -> Element | None:
    """Return the main abstract, which is neither graphical nor a lay or press summary.

    The abstract may be a section titled *Abstract* beside such a summary.
    """
    for el in meta.findall("abstract"):
        if (el.get("abstract-type") or "").lower() not in OTHER_ABSTRACTS:
            named = (sec for sec in el.iterchildren("sec") if _is_section_titled_abstract(sec))
            return next(named, el)
    return None


def _is_section_titled_abstract(sec: Element) -> bool:
    title = get_first_child(sec, "title")
    return (
        title is not None
        and collapse_whitespace(get_all_text(title)).rstrip(":.").lower() == "abstract"
    )


def get_abstract_text(meta: Element, words: MarkdownWalk) -> str:
    """Return the abstract as text, with a line for each part: ``Methods: We …``."""
    el = find_main_abstract(meta)
    if el is None:
        return ""
    lines: list[str] = []
    pending = ""
    own_title = el.find("title")
    for part in el.iter("title", "p"):
        if part is own_title or next(part.iterancestors("p"), None) is not None:
            continue
        text = words.format_line(part)
        if part.tag == "title":
            pending = f"{text.rstrip(':.')}: " if text else pending
        elif text:
            lines.append(pending + text)
            pending = ""
    return "\n".join(lines) or words.format_line(el, skip={"title"})


def get_author_family_names(meta: Element, words: MarkdownWalk) -> tuple[str, ...]:
    """Return the authors' family names in order, without groups and their members."""
    found = []
    for group in meta.iterfind("contrib-group"):
        for contrib in group.iterfind("contrib"):
            if contrib.get("contrib-type") not in {None, "author"}:
                continue
            name = next(
                (el for el in contrib.iter("surname") if not _is_name_in_group(el, contrib)), None
            )
            if name is not None and (family := words.format_line(name)):
                found.append(family)
    return tuple(found)


def _is_name_in_group(el: Element, contrib: Element) -> bool:
    """Return whether a name belongs to a group's member and not to the contributor."""
    for ancestor in el.iterancestors():
        if ancestor is contrib:
            return False
        if ancestor.tag in {"collab", "contrib-group", "on-behalf-of"}:
            return True
    return False


def get_article_ids(meta: Element) -> Ids:
    """Return the article's own valid identifiers."""
    found: dict[str, Ids] = {}
    for el in meta.iterfind("article-id"):
        kind = (el.get("pub-id-type") or "").lower()
        text = collapse_whitespace(get_all_text(el))
        if kind in {"pmc", "pmcid", "pmcaid"} and text.isdigit():
            text = f"PMC{text}"
        if kind in {"doi", "pmid", "arxiv", "pmcid", "pmc", "pmcaid"}:
            found.setdefault(kind, Ids.maybe(text))
    empty = Ids()
    numbers = (found.get(kind, empty).pmcid for kind in ("pmcid", "pmc", "pmcaid"))
    return Ids(
        doi=found.get("doi", empty).doi,
        pmid=found.get("pmid", empty).pmid,
        pmcid=next((number for number in numbers if number), ""),
        arxiv=found.get("arxiv", empty).arxiv or found.get("doi", empty).arxiv,
    )


def get_license_text(meta: Element) -> str:
    """Return the licence: ``CC BY 4.0`` for Creative Commons, or else its URL or wording."""
    texts: list[str] = []
    links: list[str] = []
    statements: list[str] = []
    rights = meta.find("permissions")
    for el in (meta if rights is None else rights).iter("*"):
        name = el.tag.rpartition("}")[2] if isinstance(el.tag, str) else ""
        if name == "license_ref":
            links.append(collapse_whitespace(el.text or ""))
        elif name == "license":
            links.append((el.get(HREF) or "").strip())
            texts += [el.get("license-type") or "", collapse_whitespace(get_all_text(el))]
        elif name == "copyright-statement":  # the only place in articles of 2003 to 2007
            statements.append(collapse_whitespace(get_all_text(el)))
        elif rights is not None and name in {"ext-link", "uri"} and (href := el.get(HREF)):
            texts.append(href.strip())
    return find_cc_license(*links, *texts, *statements) or _choose_short_text(links, texts)


def _choose_short_text(links: list[str], texts: list[str], longest: int = 200) -> str:
    for text in [*links, *reversed(texts)]:
        if 0 < len(text) <= longest:
            return text
    text = next((text for text in reversed(texts) if text), "")
    return text[: longest - 1].rstrip() + "…" if text else ""


def is_article_retracted(article: Element, meta: Element, title: str) -> bool:
    """Return whether this article was retracted; a retraction notice does not count."""
    kind = (article.get("article-type") or "").lower()
    if kind == "retracted-article":
        return True
    if kind in _NOTICE_TYPES:
        return False
    related = {
        (el.get("related-article-type") or "").lower() for el in meta.iter("related-article")
    }
    if any(name.startswith("retract") for name in related):
        return True
    return bool(_RETRACTED_TITLE.match(title))
