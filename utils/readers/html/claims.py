"""Read the metadata in a page's head: identifiers, title, authors, licence.

Sources in order of reliability: ``citation_*`` (what Google Scholar indexes), then PRISM, Dublin
Core, and JSON-LD of schema.org. All of these are claims of the page, which `...judges.check`
compares with the record.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

from ...model.identifiers import Ids
from ...outline.words import strip_markup
from ..author_names import extract_family_name_from_full_name
from .licenses import find_stated_license

if TYPE_CHECKING:
    from bs4 import BeautifulSoup

_DOI = re.compile(r"10\.\d{4,9}(?:\.\d+)*/[^\s\"<>]+")
_TITLE_NAMES = (
    "citation_title",
    "prism.title",
    "dc.title",
    "dcterms.title",
    "bepress_citation_title",
)
_DOI_NAMES = (
    "citation_doi",
    "bepress_citation_doi",
    "prism.doi",
    "dc.identifier",
    "dc.identifier.doi",
    "dcterms.identifier",
    "doi",
    "evt-doipage",
    "dc.source",
)
_AUTHOR_NAMES = (
    "citation_author",
    "citation_authors",
    "bepress_citation_author",
    "dc.creator",
    "dc.contributor",
)
_ABSTRACT_NAMES = ("citation_abstract", "dc.description", "dcterms.abstract", "dcterms.description")
_RIGHTS_NAMES = (
    "dc.rights",
    "dcterms.rights",
    "prism.copyright",
    "dcterms.license",
    "citation_license",
)
_CC_RIGHTS = re.compile(r"creativecommons|\bCC[ -]|Creative Commons")
_CLOSED_RIGHTS = re.compile(r"\bexclusive licen[sc]ee?\b|\ball rights\b.{0,90}\breserved\b", re.I)
_ARTICLE_TYPE = re.compile(r"(scholarly|medicalscholarly|news)?article|report|thesis", re.I)
_FALSE_VALUE = re.compile(
    r"(https?://schema\.org/)?false", re.I
)  # a boolean, a word or a name for it
_MAX_ID_CHARS = 2000  # characters of a claimed identifier
_MAX_JSON_CHARS = 2_000_000  # characters; a page's own JSON-LD is a few thousand


@dataclass(frozen=True, slots=True)
class PageMetadata:
    """The metadata in a page's head; missing fields are empty."""

    title: str = ""
    abstract: str = ""
    authors: tuple[str, ...] = ()
    ids: Ids = field(default_factory=Ids)
    license: str = ""
    pdf: tuple[str, ...] = ()
    xml: tuple[str, ...] = ()
    closed: bool = False


def collect_page_metadata(soup: BeautifulSoup, url: str) -> PageMetadata:
    """Return the metadata of a parsed page; links become absolute URLs relative to *url*."""
    meta = _collect_meta_values(soup)
    linked = next(_iterate_json_ld_articles(soup), {})
    return PageMetadata(
        title=_get_first_value(meta, _TITLE_NAMES)
        or _to_metadata_line(linked.get("headline") or linked.get("name")),
        abstract=_choose_longest_abstract(meta, linked),
        authors=_find_family_names(meta, linked),
        ids=_find_page_ids(meta, linked),
        license=_find_page_license(soup, meta, linked),
        pdf=_find_format_links(soup, meta, linked, url, "pdf"),
        xml=_find_format_links(soup, meta, linked, url, "xml"),
        closed=bool(_FALSE_VALUE.fullmatch(str(linked.get("isAccessibleForFree", "")))),
    )


def _collect_meta_values(soup: BeautifulSoup) -> dict[str, list[str]]:
    """Return the values of all ``<meta>`` elements by lower-case name, in page order."""
    found: dict[str, list[str]] = defaultdict(list)
    for tag in soup.find_all("meta"):
        name = str(tag.get("name") or tag.get("property") or tag.get("itemprop") or "")
        content = _to_metadata_line(tag.get("content"))
        if name and content:
            found[name.strip().lower().replace("dc:", "dc.")].append(content)
    return found


def _to_metadata_line(value: object) -> str:
    """Return a metadata value as one clean line; empty if it is not text."""
    return " ".join(strip_markup(value).split()) if isinstance(value, str) else ""


def _get_first_value(meta: dict[str, list[str]], names: tuple[str, ...]) -> str:
    """Return the first metadata value under one of *names*; else empty."""
    return next((meta[name][0] for name in names if meta.get(name)), "")


def _iterate_json_ld_articles(soup: BeautifulSoup) -> Iterator[dict[str, Any]]:
    """Yield each schema.org article described in the page."""
    for script in soup.find_all("script"):
        is_linked_data = "ld+json" in str(script.get("type")).lower()
        source = script.get_text() if is_linked_data else ""
        if not source or len(source) > _MAX_JSON_CHARS:
            continue
        try:
            data = json.loads(source)
        except (ValueError, RecursionError):
            continue
        queue = [data]
        for thing in queue:
            if isinstance(thing, list):
                queue.extend(thing[:50])
            elif isinstance(thing, dict):
                kinds = thing.get("@type", "")
                kinds = kinds if isinstance(kinds, list) else [kinds]
                if any(isinstance(kind, str) and _ARTICLE_TYPE.fullmatch(kind) for kind in kinds):
                    yield thing
                queue.extend(thing[key] for key in ("@graph", "mainEntity") if key in thing)


def _wrap_in_list(value: object) -> list[Any]:
    """Return a JSON-LD value as a list; a single value becomes a list of one."""
    return value if isinstance(value, list) else [value]


def _choose_longest_abstract(meta: dict[str, list[str]], linked: dict[str, Any]) -> str:
    """Return the longest abstract in the metadata, because many pages also have a teaser."""
    claimed = [text for name in _ABSTRACT_NAMES for text in meta.get(name, ())]
    claimed += [
        _to_metadata_line(linked.get("abstract")),
        _to_metadata_line(linked.get("description")),
    ]
    return max(claimed, key=len, default="")


def _find_family_names(meta: dict[str, list[str]], linked: dict[str, Any]) -> tuple[str, ...]:
    """Return the authors' family names in order."""
    names: list[str] = []
    for key in _AUTHOR_NAMES:
        if meta.get(key):
            names = [name for text in meta[key] for name in re.split(r"\s*;\s*", text) if name]
            break
    else:
        for person in _wrap_in_list(linked.get("author")):
            name = (
                person.get("familyName") or person.get("name")
                if isinstance(person, dict)
                else person
            )
            names.append(_to_metadata_line(name))
    return tuple(extract_family_name_from_full_name(name) for name in names if name)


def _find_page_ids(meta: dict[str, list[str]], linked: dict[str, Any]) -> Ids:
    """Return the identifiers in the page's metadata."""
    found = Ids()
    values = [text for name in _DOI_NAMES for text in meta.get(name, ())]
    for key in ("identifier", "sameAs", "@id", "url"):
        values += [
            str(item.get("value", "")) if isinstance(item, dict) else _to_metadata_line(item)
            for item in _wrap_in_list(linked.get(key))
        ]
    for value in values:
        if match := _DOI.search(value[:_MAX_ID_CHARS]):
            found |= Ids.maybe(match[0])
            break
    for name, form in (
        ("citation_pmid", "PMID: {}"),
        ("citation_pmcid", "{}"),
        ("citation_arxiv_id", "arXiv:{}"),
        ("ncbi_uid", "PMID: {}"),
    ):
        if meta.get(name):
            found |= Ids.maybe(form.format(meta[name][0]))
    return found


def _find_page_license(
    soup: BeautifulSoup, meta: dict[str, list[str]], linked: dict[str, Any]
) -> str:
    """Return the URL of the licence if the page links it, or else its wording."""
    link = soup.find(["a", "link"], rel="license", href=True)
    if link is not None:
        return str(link["href"]).strip()[:300]
    for claimed in _wrap_in_list(linked.get("license")):
        if text := _to_metadata_line(
            claimed.get("url") or claimed.get("@id") if isinstance(claimed, dict) else claimed
        ):
            return text[:300]
    rights = [text[:300] for name in _RIGHTS_NAMES for text in meta.get(name, ())]
    return (
        next(filter(_CC_RIGHTS.search, rights), "")
        or find_stated_license(soup)
        or next(filter(_CLOSED_RIGHTS.search, rights), "")
    )


def _find_format_links(
    soup: BeautifulSoup, meta: dict[str, list[str]], linked: dict[str, Any], url: str, form: str
) -> tuple[str, ...]:
    """Return the distinct absolute http(s) URLs of the same article as PDF or XML."""
    base = soup.find("base", href=True)
    root = urljoin(url, str(base["href"])) if base is not None else url
    hrefs = list(meta.get(f"citation_{form}_url", ()))
    for link in soup.find_all("link", href=True):
        rel = str(link.get("rel") or "").lower()
        kind = str(link.get("type", "")).split(";")[0].strip().lower()
        if "alternate" in rel and kind in _MEDIA_TYPES[form]:
            hrefs.append(str(link["href"]))
    hrefs += [
        _to_metadata_line(copy.get("contentUrl"))
        for key in ("encoding", "associatedMedia")
        for copy in _wrap_in_list(linked.get(key))
        if isinstance(copy, dict) and str(copy.get("encodingFormat")).lower() in _MEDIA_TYPES[form]
    ]
    return tuple(
        dict.fromkeys(found for href in hrefs if href and (found := to_absolute_url(root, href)))
    )


_MEDIA_TYPES = {
    "pdf": {"application/pdf"},
    "xml": {"application/xml", "text/xml", "application/jats+xml"},
}


def to_absolute_url(base: str, href: str) -> str:
    """Return *href* as an absolute http(s) URL; empty if that is not possible.

    >>> [to_absolute_url("https://a.test/b/", href) for href in ("c.pdf", "javascript:x()")]
    ['https://a.test/b/c.pdf', '']
    """
    try:
        joined = urljoin(base, re.sub(r"[\x00-\x20]+", "", href))
        parts = urlsplit(joined)
    except ValueError:  # "http://[" and the like
        return ""
    return joined if parts.scheme in ("http", "https") and parts.netloc else ""
