"""PubMed's tables with a fixed layout: articles and their related rows.

The project's own reader supplies the paper. The fields that the reader does not keep (identifiers
of MeSH headings, chemicals, grants, references, data banks) are read here from the same elements,
each by its own path, because references and comments have identifiers, too. Dates are ISO 8601, as
precise as PubMed gives them. Facts: ``pubmed_250101.dtd``.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import TYPE_CHECKING, TypeAlias

from ...model.identifiers import Ids
from ...model.paper import Paper
from ...readers.pubmed import DeletedRecords, iterate_records_with_xml
from ...readers.safe_xml import get_first_child, get_readable_text, list_children
from .tables import StagingNotes, TableDefinition, TableWriter, clean_cell_text
from .trees import RawRecordPage

if TYPE_CHECKING:
    from lxml.etree import _Element

CellRow: TypeAlias = "tuple[str | int | None, ...]"

ARTICLES = TableDefinition(
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


def _define_article_table(
    name: str, *columns: str, indexes: tuple[str, ...] = ()
) -> TableDefinition:
    numbers = {"is_major", "cited_pmid", "notice_pmid"}
    typed = [(column, "INTEGER" if column in numbers else "TEXT") for column in columns]
    return TableDefinition(name, typed, ARTICLES, indexes=indexes)


AUTHORS = _define_article_table(
    "authors", "last_name", "fore_name", "initials", "suffix", "collective_name", "orcid",
    "affiliation", indexes=("last_name",),
)  # fmt: skip
MESH = _define_article_table(
    "mesh", "descriptor", "ui", "qualifier", "qualifier_ui", "is_major", indexes=("descriptor",)
)
TYPES = _define_article_table(
    "publication_types", "publication_type", indexes=("publication_type",)
)
KEYWORDS = _define_article_table("keywords", "keyword")
GRANTS = _define_article_table("grants", "grant_number", "acronym", "agency", "country")
CHEMICALS = _define_article_table("chemicals", "name", "ui", "registry_number", indexes=("name",))
CITED = _define_article_table(
    "cited_works", "cited_pmid", "cited_doi", "cited_pmcid", "citation", indexes=("cited_pmid",)
)
DATABANKS = _define_article_table("databank_accessions", "databank", "accession")
OTHER_ABSTRACTS = _define_article_table("other_abstracts", "kind", "abstract")
NOTICES = _define_article_table("notices", "kind", "reference", "notice_pmid")
LAYOUT = (
    ARTICLES, AUTHORS, MESH, TYPES, KEYWORDS, GRANTS, CHEMICALS, CITED, DATABANKS,
    OTHER_ABSTRACTS, NOTICES,
)  # fmt: skip


class PubmedTables:
    """Read pages of PubMed's XML into tables."""

    def __init__(self, database: sqlite3.Connection, notes: StagingNotes) -> None:
        self._tables = TableWriter(database, LAYOUT)
        self._notes = notes
        self._seen: set[int] = set()

    def add_page(self, page: RawRecordPage) -> None:
        """Read a page into the tables."""
        for record, element in iterate_records_with_xml(page.body):
            if isinstance(record, DeletedRecords):
                for pmid in record.pmids:
                    self._delete_article(parse_short_integer(pmid))
                    self._notes.add_missing_id(pmid)
            elif uid := parse_short_integer(record.ids.pmid):
                self._add_article(uid, record, element)
            else:
                self._notes.nameless += 1

    def _add_article(self, uid: int, paper: Paper, element: _Element) -> None:
        if uid in self._seen:
            self._notes.add_repeated_id(uid)
            self._tables.delete_record(uid)
        self._seen.add(uid)
        citation = get_first_child(element, "MedlineCitation")
        self._tables.add_row(ARTICLES, (uid, *_to_article_row(uid, paper, citation)))
        found = {**_collect_paper_rows(paper), **_collect_xml_rows(element, citation)}
        for table in LAYOUT[1:]:
            for position, cells in enumerate(found.get(table.name, ()), 1):
                self._tables.add_row(table, (uid, position, *cells))
        self._notes.get_next_record_number()

    def _delete_article(self, uid: int | None) -> None:
        if uid in self._seen:
            self._seen.discard(uid)
            self._tables.delete_record(uid)

    def finish_tables(self) -> dict[str, int]:
        """Write the buffered rows and return the number of rows by table."""
        return self._tables.finish_tables()


def _to_article_row(uid: int, paper: Paper, citation: _Element | None) -> CellRow:
    status = country = ""
    if citation is not None:
        status = citation.get("Status", "")
        country = citation.findtext("MedlineJournalInfo/Country") or ""
    texts = (
        paper.title, paper.abstract, paper.journal, paper.journal_abbreviation, paper.issn, country,
        paper.volume, paper.issue, paper.pages,
    )  # fmt: skip
    dates = (parse_short_integer(paper.year), paper.published, paper.entered, paper.revised)
    names = (paper.ids.doi, paper.ids.pmcid, "; ".join(paper.languages), paper.vernacular_title)
    return (
        uid,
        *to_cell_row(*texts),
        *to_cell_row(*dates),
        *to_cell_row(*names, status),
        int(paper.retracted),
    )


def _collect_paper_rows(paper: Paper) -> dict[str, list[CellRow]]:
    """Return rows by table, from the fields of the paper."""
    return {
        AUTHORS.name: [
            to_cell_row(
                who.family, who.given, who.initials, who.suffix, who.collective, who.orcid,
                "; ".join(who.affiliations),
            )
            for who in paper.authors
        ],
        TYPES.name: [to_cell_row(name) for name in paper.publication_types],
        KEYWORDS.name: [to_cell_row(word) for word in paper.keywords],
        OTHER_ABSTRACTS.name: [to_cell_row(kind, text) for kind, text in paper.other_abstracts],
        NOTICES.name: [
            to_cell_row(notice.kind, notice.reference, parse_short_integer(notice.pmid))
            for notice in paper.notices
        ],
    }  # fmt: skip


def _collect_xml_rows(record: _Element, citation: _Element | None) -> dict[str, list[CellRow]]:
    """Return rows by table, from fields that only the XML has."""
    found: dict[str, list[CellRow]] = {CITED.name: list(_iterate_citation_rows(record))}
    article = None if citation is None else get_first_child(citation, "Article")
    if citation is None or article is None:
        return found
    found[MESH.name] = list(_iterate_mesh_rows(get_first_child(citation, "MeshHeadingList")))
    found[CHEMICALS.name] = list(_iterate_chemical_rows(get_first_child(citation, "ChemicalList")))
    found[GRANTS.name] = [
        to_cell_row(*(get_readable_text(get_first_child(grant, tag)) for tag in _GRANT_TAGS))
        for grant in _list_children_with_tag(get_first_child(article, "GrantList"), "Grant")
    ]
    found[DATABANKS.name] = list(_iterate_accession_rows(get_first_child(article, "DataBankList")))
    return found


_GRANT_TAGS = ("GrantID", "Acronym", "Agency", "Country")
_CITED_IDS = {"pubmed": 0, "doi": 1, "pmc": 2, "pmcid": 2}


def _list_children_with_tag(parent: _Element | None, tag: str) -> list[_Element]:
    return [] if parent is None else [child for child in list_children(parent) if child.tag == tag]


def _iterate_mesh_rows(mesh: _Element | None) -> Iterator[CellRow]:
    """Yield a row for each qualifier; ``is_major`` if the qualifier or its descriptor is major."""
    for heading in _list_children_with_tag(mesh, "MeshHeading"):
        term, *qualifiers = [*list_children(heading), None]
        if term is None or term.tag != "DescriptorName":
            continue
        name, ui, major = (
            get_readable_text(term),
            term.get("UI", ""),
            term.get("MajorTopicYN") == "Y",
        )
        for part in qualifiers[:-1] or [None]:
            own = (None, None) if part is None else (get_readable_text(part), part.get("UI"))
            is_major = major or (part is not None and part.get("MajorTopicYN") == "Y")
            yield (*to_cell_row(name, ui, *own), int(is_major))


def _iterate_chemical_rows(listed: _Element | None) -> Iterator[CellRow]:
    for chemical in _list_children_with_tag(listed, "Chemical"):
        number, name = (
            get_first_child(chemical, "RegistryNumber"),
            get_first_child(chemical, "NameOfSubstance"),
        )
        if name is not None:
            registered = get_readable_text(number)
            # "0" means a substance without a number.
            yield to_cell_row(
                get_readable_text(name), name.get("UI"), "" if registered == "0" else registered
            )


def _iterate_accession_rows(banks: _Element | None) -> Iterator[CellRow]:
    for bank in _list_children_with_tag(banks, "DataBank"):
        name = get_readable_text(get_first_child(bank, "DataBankName"))
        for number in _list_children_with_tag(
            get_first_child(bank, "AccessionNumberList"), "AccessionNumber"
        ):
            yield to_cell_row(name, get_readable_text(number))


def _iterate_citation_rows(record: _Element) -> Iterator[CellRow]:
    """Yield a row for each reference of the paper, including references in sections of the list."""
    for data in ("PubmedData", "PubmedBookData", "BookDocument"):
        if (part := get_first_child(record, data)) is None:
            continue
        for listed in _list_children_with_tag(part, "ReferenceList"):
            for reference in listed.iter("Reference"):
                yield _to_citation_row(reference)


def _to_citation_row(reference: _Element) -> CellRow:
    names = ["", "", ""]
    for number in _list_children_with_tag(get_first_child(reference, "ArticleIdList"), "ArticleId"):
        if (place := _CITED_IDS.get(number.get("IdType", ""))) is not None and number.text:
            names[place] = names[place] or number.text.strip()
    pmid, doi, pmcid = names
    doi = doi and (Ids.maybe(doi).doi or doi).lower()
    return to_cell_row(
        parse_short_integer(pmid),
        doi,
        pmcid,
        get_readable_text(get_first_child(reference, "Citation")),
    )


def parse_short_integer(digits: str) -> int | None:
    """Return a number of at most 15 digits, or None."""
    return int(digits) if len(digits) < 16 and digits.isascii() and digits.isdigit() else None


def to_cell_row(*values: str | int | None) -> CellRow:
    """Return values as a row of the database: an empty value becomes NULL."""
    return tuple(
        [(clean_cell_text(value) or None) if isinstance(value, str) else value for value in values]
    )
