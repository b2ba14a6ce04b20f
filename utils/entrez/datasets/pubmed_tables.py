"""PubMed's tables, laid out by hand: articles and what belongs to them.

What a paper *is* comes from the project's own reader; what it does not keep (identifiers of MeSH
headings, chemicals, grants, references, data banks) is read here from the same elements, each by
its own path, since references and comments carry identifiers, too. Dates are ISO 8601, as precise
as PubMed has them. Facts: ``pubmed_250101.dtd``.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import TYPE_CHECKING, TypeAlias

from ...model.identifiers import Ids
from ...model.paper import Paper
from ...readers.pubmed import Deleted, read_with_elements
from ...readers.safe_xml import children_of, first, readable_text
from .tables import Notes, Table, Tables, fit
from .trees import Page

if TYPE_CHECKING:
    from lxml.etree import _Element

Cells: TypeAlias = "tuple[str | int | None, ...]"

ARTICLES = Table(
    "articles",
    [
        ("pmid", "INTEGER"), ("title", "TEXT"), ("abstract", "TEXT"), ("journal", "TEXT"),
        ("journal_abbreviation", "TEXT"), ("issn", "TEXT"), ("country", "TEXT"), ("volume", "TEXT"),
        ("issue", "TEXT"), ("pages", "TEXT"), ("year", "INTEGER"), ("pub_date", "TEXT"),
        ("entered", "TEXT"), ("revised", "TEXT"), ("doi", "TEXT"), ("pmcid", "TEXT"),
        ("language", "TEXT"), ("vernacular_title", "TEXT"), ("status", "TEXT"),
        ("is_retracted", "INTEGER"),
    ],
    indexes=("doi", "year", "journal"),
)  # fmt: skip


def _table(name: str, *columns: str, indexes: tuple[str, ...] = ()) -> Table:
    numbers = {"is_major", "cited_pmid", "notice_pmid"}
    typed = [(column, "INTEGER" if column in numbers else "TEXT") for column in columns]
    return Table(name, typed, ARTICLES, indexes=indexes)


AUTHORS = _table(
    "authors", "last_name", "fore_name", "initials", "suffix", "collective_name", "orcid",
    "affiliation", indexes=("last_name",),
)  # fmt: skip
MESH = _table(
    "mesh", "descriptor", "ui", "qualifier", "qualifier_ui", "is_major", indexes=("descriptor",)
)
TYPES = _table("publication_types", "publication_type", indexes=("publication_type",))
KEYWORDS = _table("keywords", "keyword")
GRANTS = _table("grants", "grant_number", "acronym", "agency", "country")
CHEMICALS = _table("chemicals", "name", "ui", "registry_number", indexes=("name",))
CITED = _table(
    "cited_works", "cited_pmid", "cited_doi", "cited_pmcid", "citation", indexes=("cited_pmid",)
)
DATABANKS = _table("databank_accessions", "databank", "accession")
OTHER_ABSTRACTS = _table("other_abstracts", "kind", "abstract")
NOTICES = _table("notices", "kind", "reference", "notice_pmid")
LAYOUT = (
    ARTICLES, AUTHORS, MESH, TYPES, KEYWORDS, GRANTS, CHEMICALS, CITED, DATABANKS,
    OTHER_ABSTRACTS, NOTICES,
)  # fmt: skip


class PubmedTables:
    """Reads pages of PubMed's XML into tables."""

    def __init__(self, database: sqlite3.Connection, notes: Notes) -> None:
        self._tables = Tables(database, LAYOUT)
        self._notes = notes
        self._seen: set[int] = set()

    def add(self, page: Page) -> None:
        """Read a page into the tables."""
        for record, element in read_with_elements(page.body):
            if isinstance(record, Deleted):
                for pmid in record.pmids:
                    self._forget(whole(pmid))
                    self._notes.add_missing(pmid)
            elif uid := whole(record.ids.pmid):
                self._add_article(uid, record, element)
            else:
                self._notes.nameless += 1

    def _add_article(self, uid: int, paper: Paper, element: _Element) -> None:
        if uid in self._seen:
            self._notes.add_repeated(uid)
            self._tables.forget(uid)
        self._seen.add(uid)
        citation = first(element, "MedlineCitation")
        self._tables.add(ARTICLES, (uid, *_article(uid, paper, citation)))
        found = {**_rows_of_paper(paper), **_rows_of_xml(element, citation)}
        for table in LAYOUT[1:]:
            for position, cells in enumerate(found.get(table.name, ()), 1):
                self._tables.add(table, (uid, position, *cells))
        self._notes.next_number()

    def _forget(self, uid: int | None) -> None:
        if uid in self._seen:
            self._seen.discard(uid)
            self._tables.forget(uid)

    def finish(self) -> dict[str, int]:
        """Write the rows still buffered; returns the number of rows by table."""
        return self._tables.finish()


def _article(uid: int, paper: Paper, citation: _Element | None) -> Cells:
    status = country = ""
    if citation is not None:
        status = citation.get("Status", "")
        country = citation.findtext("MedlineJournalInfo/Country") or ""
    texts = (
        paper.title, paper.abstract, paper.journal, paper.journal_abbreviation, paper.issn, country,
        paper.volume, paper.issue, paper.pages,
    )  # fmt: skip
    dates = (whole(paper.year), paper.published, paper.entered, paper.revised)
    names = (paper.ids.doi, paper.ids.pmcid, "; ".join(paper.languages), paper.vernacular_title)
    return (uid, *cells(*texts), *cells(*dates), *cells(*names, status), int(paper.retracted))


def _rows_of_paper(paper: Paper) -> dict[str, list[Cells]]:
    """Rows by table, from the fields of the paper."""
    return {
        AUTHORS.name: [
            cells(
                who.family, who.given, who.initials, who.suffix, who.collective, who.orcid,
                "; ".join(who.affiliations),
            )
            for who in paper.authors
        ],
        TYPES.name: [cells(name) for name in paper.publication_types],
        KEYWORDS.name: [cells(word) for word in paper.keywords],
        OTHER_ABSTRACTS.name: [cells(kind, text) for kind, text in paper.other_abstracts],
        NOTICES.name: [
            cells(notice.kind, notice.reference, whole(notice.pmid)) for notice in paper.notices
        ],
    }  # fmt: skip


def _rows_of_xml(record: _Element, citation: _Element | None) -> dict[str, list[Cells]]:
    """Rows by table, from what only the XML has."""
    found: dict[str, list[Cells]] = {CITED.name: list(_cited(record))}
    article = None if citation is None else first(citation, "Article")
    if citation is None or article is None:
        return found
    found[MESH.name] = list(_headings(first(citation, "MeshHeadingList")))
    found[CHEMICALS.name] = list(_chemicals(first(citation, "ChemicalList")))
    found[GRANTS.name] = [
        cells(*(readable_text(first(grant, tag)) for tag in _GRANT))
        for grant in _each(first(article, "GrantList"), "Grant")
    ]
    found[DATABANKS.name] = list(_accessions(first(article, "DataBankList")))
    return found


_GRANT = ("GrantID", "Acronym", "Agency", "Country")
_CITED_IDS = {"pubmed": 0, "doi": 1, "pmc": 2, "pmcid": 2}


def _each(parent: _Element | None, tag: str) -> list[_Element]:
    return [] if parent is None else [child for child in children_of(parent) if child.tag == tag]


def _headings(mesh: _Element | None) -> Iterator[Cells]:
    """A row for each qualifier of a heading; it is major if it or its descriptor is."""
    for heading in _each(mesh, "MeshHeading"):
        term, *qualifiers = [*children_of(heading), None]
        if term is None or term.tag != "DescriptorName":
            continue
        name, ui, major = readable_text(term), term.get("UI", ""), term.get("MajorTopicYN") == "Y"
        for part in qualifiers[:-1] or [None]:
            own = (None, None) if part is None else (readable_text(part), part.get("UI"))
            is_major = major or (part is not None and part.get("MajorTopicYN") == "Y")
            yield (*cells(name, ui, *own), int(is_major))


def _chemicals(listed: _Element | None) -> Iterator[Cells]:
    for chemical in _each(listed, "Chemical"):
        number, name = first(chemical, "RegistryNumber"), first(chemical, "NameOfSubstance")
        if name is not None:
            registered = readable_text(number)
            # "0" stands for a substance without a number.
            yield cells(
                readable_text(name), name.get("UI"), "" if registered == "0" else registered
            )


def _accessions(banks: _Element | None) -> Iterator[Cells]:
    for bank in _each(banks, "DataBank"):
        name = readable_text(first(bank, "DataBankName"))
        for number in _each(first(bank, "AccessionNumberList"), "AccessionNumber"):
            yield cells(name, readable_text(number))


def _cited(record: _Element) -> Iterator[Cells]:
    """The references of the paper, those in sections of the list, too."""
    for data in ("PubmedData", "PubmedBookData", "BookDocument"):
        if (part := first(record, data)) is None:
            continue
        for listed in _each(part, "ReferenceList"):
            for reference in listed.iter("Reference"):
                yield _reference(reference)


def _reference(reference: _Element) -> Cells:
    names = ["", "", ""]
    for number in _each(first(reference, "ArticleIdList"), "ArticleId"):
        if (place := _CITED_IDS.get(number.get("IdType", ""))) is not None and number.text:
            names[place] = names[place] or number.text.strip()
    pmid, doi, pmcid = names
    doi = doi and (Ids.maybe(doi).doi or doi).lower()
    return cells(whole(pmid), doi, pmcid, readable_text(first(reference, "Citation")))


def whole(digits: str) -> int | None:
    """A number of at most 15 digits, else None."""
    return int(digits) if len(digits) < 16 and digits.isascii() and digits.isdigit() else None


def cells(*values: str | int | None) -> Cells:
    """Values as they are kept: an empty one is NULL."""
    return tuple([(fit(value) or None) if isinstance(value, str) else value for value in values])
