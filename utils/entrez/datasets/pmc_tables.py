"""PMC's tables with a fixed layout: articles, sections with text, captions and references.

The project's own reader turns JATS into text, section by section; ``part`` is the role of a
section: ``abstract``, ``body``, ``back`` or ``references``. An article whose publisher withholds
the full text has only the abstract as a section, and ``has_full_text`` is 0. The rest is read from
the same XML. Facts: jats.nlm.nih.gov (Archiving 1.3 tag library).
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...errors import BadContent, EntrezFailed
from ...model.identifiers import Ids
from ...model.paper import Document, Fetched
from ...outline.sections import classify_heading
from ...readers.jats import parse_jats, read_document
from ...readers.safe_xml import get_first_child, get_readable_text, list_children
from ...system.plain_text import one_line, shorten
from .pubmed_tables import CellRow, parse_short_integer, to_cell_row
from .tables import StagingNotes, TableDefinition, TableWriter
from .trees import RawRecordPage

if TYPE_CHECKING:
    from lxml.etree import _Element

ARTICLES = TableDefinition(
    "articles",
    [
        ("pmcid", "TEXT"), ("pmid", "INTEGER"), ("doi", "TEXT"), ("title", "TEXT"),
        ("abstract", "TEXT"), ("journal", "TEXT"), ("publisher", "TEXT"), ("year", "INTEGER"),
        ("pub_date", "TEXT"), ("volume", "TEXT"), ("issue", "TEXT"), ("pages", "TEXT"),
        ("article_type", "TEXT"), ("language", "TEXT"), ("license", "TEXT"),
        ("is_retracted", "INTEGER"), ("has_full_text", "INTEGER"), ("body_words", "INTEGER"),
    ],
    indexes=("pmid", "year"),
)  # fmt: skip


def _define_article_table(
    name: str, *columns: str, numbers: tuple[str, ...] = ()
) -> TableDefinition:
    typed = [(column, "INTEGER" if column in numbers else "TEXT") for column in columns]
    return TableDefinition(name, typed, ARTICLES)


AUTHORS = _define_article_table(
    "authors", "last_name", "fore_name", "collective_name", "orcid", "affiliation"
)
SECTIONS = _define_article_table(
    "sections", "level", "part", "heading", "words", "section_text", numbers=("level", "words")
)
KEYWORDS = _define_article_table("keywords", "keyword")
CAPTIONS = _define_article_table("captions", "kind", "label", "title", "caption")
CITED = _define_article_table(
    "cited_works", "label", "cited_pmid", "cited_doi", "cited_pmcid", "title", "source", "year",
    "citation", numbers=("cited_pmid", "year"),
)  # fmt: skip
GRANTS = _define_article_table("grants", "grant_number", "agency")
LAYOUT = (ARTICLES, AUTHORS, SECTIONS, KEYWORDS, CAPTIONS, CITED, GRANTS)

_HEADING = re.compile(r"(#{1,6}) +(.+?)\s*$")
_CAPTION_KINDS = {
    "fig": "figure",
    "table-wrap": "table",
    "boxed-text": "box",
    "supplementary-material": "supplement",
}
_CITATION_TAGS = ("mixed-citation", "element-citation", "citation", "nlm-citation")
_TITLE_TAGS = ("article-title", "chapter-title", "data-title", "part-title")
_ORCID = re.compile(r"(\d{4}-\d{4}-\d{4}-\d{3}[\dXx])", re.A)


class PmcTables:
    """Read pages of PMC's XML into tables."""

    def __init__(self, database: sqlite3.Connection, notes: StagingNotes) -> None:
        self._tables = TableWriter(database, LAYOUT)
        self._notes = notes
        self._seen: set[int] = set()

    def add_page(self, page: RawRecordPage) -> None:
        """Read a page into the tables.

        Raises
        ------
        EntrezFailed
            PMC answered with an error.
        BadContent
            The page is not PMC's XML, or incomplete.
        """
        parsed = parse_jats(page.body)
        root = parsed.root
        if reason := next((get_readable_text(error) for error in root.iter("ERROR")), ""):
            msg = f"PMC answered with an error: {shorten(one_line(reason), 300)}."
            raise EntrezFailed(msg, "Search again, and stage the new result.")
        if parsed.cut_off or root.tag not in {"pmc-articleset", "article"}:
            msg = "PMC's answer is cut off." if parsed.cut_off else "This is not PMC's XML."
            raise BadContent(msg, "Ask for it again.", verdict="partial")
        for reply in root.iter("Reply"):
            self._notes.add_missing_id(one_line(reply.get("Id", "")))
        for article in [root] if root.tag == "article" else root.iterchildren("article"):
            self._add_article(article)

    def _add_article(self, article: _Element) -> None:
        from lxml import etree

        body = etree.tostring(article, with_tail=False)
        document = read_document(Fetched(body, "jats", "", "pmc", "efetch"))
        number = self._notes.get_next_record_number()
        # An article without a PMCID gets a negative number, which PMC never uses.
        uid = parse_short_integer(document.ids.pmcid.removeprefix("PMC")) or -number
        if uid in self._seen:
            self._notes.add_repeated_id(document.ids.pmcid)
            self._tables.delete_record(uid)
        self._seen.add(uid)
        self._tables.add_row(ARTICLES, (uid, *_to_article_row(article, document)))
        for table, rows in _iterate_related_tables(article, document):
            for position, row in enumerate(rows, 1):
                self._tables.add_row(table, (uid, position, *row))

    def finish_tables(self) -> dict[str, int]:
        """Write the buffered rows and return the number of rows by table."""
        return self._tables.finish_tables()


def _to_article_row(article: _Element, document: Document) -> CellRow:
    meta, ids = article.find("front/article-meta"), document.ids
    if meta is None:
        meta = article
    journal = get_first_child(article, "front")
    day = min(
        filter(None, (_parse_jats_date(date) for date in meta.iterchildren("pub-date"))), default=""
    )
    pages = "-".join(filter(None, (_get_child_text(meta, "fpage"), _get_child_text(meta, "lpage"))))
    return (
        *to_cell_row(
            ids.pmcid, parse_short_integer(ids.pmid), ids.doi, document.title, document.abstract
        ),
        *to_cell_row(
            _get_descendant_text(journal, "journal-title"),
            _get_descendant_text(journal, "publisher-name"),
        ),
        *to_cell_row(
            parse_short_integer(day[:4]),
            day,
            _get_child_text(meta, "volume"),
            _get_child_text(meta, "issue"),
        ),
        *to_cell_row(pages or _get_child_text(meta, "elocation-id"), document.article_type),
        *to_cell_row(article.get("{http://www.w3.org/XML/1998/namespace}lang"), document.license),
        int(document.retracted),
        int(document.body_words > 0),
        document.body_words,
    )


def _iterate_related_tables(
    article: _Element, document: Document
) -> Iterator[tuple[TableDefinition, Iterator[CellRow]]]:
    yield AUTHORS, _iterate_author_rows(article)
    yield SECTIONS, _iterate_section_rows(document.markdown)
    words = {get_readable_text(word): None for word in article.iterfind("front//kwd-group//kwd")}
    yield KEYWORDS, (to_cell_row(word) for word in words if word)
    yield CAPTIONS, _iterate_caption_rows(article)
    yield CITED, _iterate_citation_rows(article)
    yield GRANTS, _iterate_grant_rows(article)


def _iterate_author_rows(article: _Element) -> Iterator[CellRow]:
    places = {el.get("id", ""): _format_affiliation(el) for el in article.iterfind("front//aff")}
    for contrib in article.iterfind("front/article-meta/contrib-group/contrib"):
        if contrib.get("contrib-type", "author") != "author":
            continue
        name, group = (
            next(contrib.iter("name", "string-name"), None),
            get_first_child(contrib, "collab"),
        )
        where = [
            place
            for ref in contrib.iterchildren("xref")
            for rid in ref.get("rid", "").split()
            if (place := places.get(rid))
        ]
        orcid = _ORCID.search(_get_descendant_text(contrib, "contrib-id"))
        family = given = ""
        if group is None and name is not None:
            family, given = _get_child_text(name, "surname"), _get_child_text(name, "given-names")
            family = family or get_readable_text(name)
        names = (family, given, get_readable_text(group), orcid[1].upper() if orcid else "")
        if any(names):
            yield to_cell_row(*names, "; ".join(dict.fromkeys(where)))


def _format_affiliation(aff: _Element) -> str:
    """Return an affiliation without its label, which some articles print as a superscript."""
    words = [aff.text or ""]
    for child in list_children(aff):
        words += [
            "" if child.tag in {"label", "sup"} else get_readable_text(child),
            child.tail or "",
        ]
    return " ".join(" ".join(words).split()).replace(" ,", ",")


def _iterate_section_rows(markdown: str) -> Iterator[CellRow]:
    """Yield the text under each heading, up to the next heading; the title is not a section."""
    level, part, base, heading = 1, "lead", 1, ""
    lines: list[str] = []
    fenced = False
    for line in [*markdown.split("\n"), "# "]:
        fenced ^= line.startswith(("```", "~~~"))
        found = None if fenced else _HEADING.match(line)
        if not found and line != "# ":
            lines.append(line)
            continue
        text = "\n".join(lines).strip()
        if level > 1 or text:
            yield to_cell_row(level, part, heading, len(text.split()), text)
        if found:
            level, heading, lines = len(found[1]), found[2], []
            # A subsection belongs to its parent's part: the Methods of an abstract are abstract.
            if level <= base or part in {"lead", "body"}:
                part, base = classify_heading(heading) if level > 1 else "lead", level


def _iterate_caption_rows(article: _Element) -> Iterator[CellRow]:
    for element in article.iter(*_CAPTION_KINDS):
        caption = get_first_child(element, "caption")
        title = "" if caption is None else _get_child_text(caption, "title")
        whole_text = get_readable_text(caption)
        label = _get_child_text(element, "label")
        if label or whole_text:
            text = whole_text.removeprefix(title).strip()
            yield to_cell_row(_CAPTION_KINDS[str(element.tag)], label, title, text)


def _iterate_citation_rows(article: _Element) -> Iterator[CellRow]:
    for reference in article.iterfind("back//ref-list/ref"):
        label = _get_child_text(reference, "label")
        for citation in reference.iter(*_CITATION_TAGS):
            names = {"pmid": "", "doi": "", "pmcid": ""}
            for number in citation.iter("pub-id", "ext-link"):
                kind = number.get("pub-id-type") or number.get("ext-link-type") or ""
                if kind in names and not names[kind]:
                    names[kind] = getattr(Ids.maybe(get_readable_text(number)), kind)
            title = next(
                (text for tag in _TITLE_TAGS if (text := _get_descendant_text(citation, tag))), ""
            )
            year = re.search(r"\b(1[5-9]|20)\d\d\b", _get_descendant_text(citation, "year"))
            yield to_cell_row(
                label, parse_short_integer(names["pmid"]), names["doi"], names["pmcid"], title,
                _get_descendant_text(citation, "source"), int(year[0]) if year else None,
                _format_citation(citation),
            )  # fmt: skip


def _format_citation(citation: _Element) -> str:
    """Return a citation as printed, without identifiers; data-only parts are joined by blanks."""
    children = list_children(citation)
    tails = [citation.text, *(child.tail for child in children)]
    between = "" if any(text and not text.isspace() for text in tails) else " "
    words = [citation.text or ""]
    for child in children:
        inner = between.join(map(str, child.itertext())) if between else get_readable_text(child)
        words += ["" if child.tag == "pub-id" else inner, child.tail or ""]
    return " ".join(between.join(words).split())


def _iterate_grant_rows(article: _Element) -> Iterator[CellRow]:
    for award in article.iterfind("front//funding-group/award-group"):
        source = get_first_child(award, "funding-source")
        agency = _get_descendant_text(source, "institution") or get_readable_text(source)
        numbers = [get_readable_text(number) for number in award.iterchildren("award-id")]
        for number in numbers or [""]:
            if number or agency:
                yield to_cell_row(number, agency)


def _parse_jats_date(date: _Element) -> str:
    year, month, day = (_get_child_text(date, tag) for tag in ("year", "month", "day"))
    if not re.fullmatch(r"[12]\d{3}", year, re.A):
        return ""
    numbers = [parse_short_integer(part) or 0 for part in (month, day)]
    if not 1 <= numbers[0] <= 12:
        return year
    text = f"{year}-{numbers[0]:02}"
    return f"{text}-{numbers[1]:02}" if 1 <= numbers[1] <= 31 else text


def _get_child_text(parent: _Element, tag: str) -> str:
    return get_readable_text(get_first_child(parent, tag))


def _get_descendant_text(parent: _Element | None, tag: str) -> str:
    return "" if parent is None else get_readable_text(next(parent.iter(tag), None))
