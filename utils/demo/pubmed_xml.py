"""Build the PubMed XML of a record, after pubmed_250101.dtd (facts sheet, 1.4 and 11)."""

import re
from collections.abc import Callable
from html import escape

from .prose import abstract, references
from .records import Record

DOCTYPE = (
    '<?xml version="1.0" ?>\n<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD PubMedArticle, 1st '
    'January 2025//EN" "https://dtd.nlm.nih.gov/ncbi/pubmed/out/pubmed_250101.dtd">\n'
)
OTHER_KINDS: dict[str, Callable[[Record], str]] = {}
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_CATEGORY = {"CONCLUSIONS": "CONCLUSIONS", "METHODS": "METHODS", "RESULTS": "RESULTS"}


def pubmed_article(record: Record) -> str:
    """Return the ``PubmedArticle`` (or ``PubmedBookArticle``) element."""
    if stored := record.files.get("pubmed"):
        found = re.search(r"<PubmedArticle>.*</PubmedArticle>", stored.read_text("utf-8"), re.S)
        return found[0] if found else ""
    if record.kind in OTHER_KINDS:
        return OTHER_KINDS[record.kind](record)
    return (
        f"<PubmedArticle>{_write_citation(record)}<PubmedData><History><PubMedPubDate "
        f'PubStatus="entrez">{format_date(record.entered)}<Hour>6</Hour><Minute>0</Minute>'
        f"</PubMedPubDate>{_write_release(record)}</History><PublicationStatus>ppublish"
        f"</PublicationStatus><ArticleIdList>{_write_ids(record)}</ArticleIdList>{_write_references(record)}"
        "</PubmedData></PubmedArticle>"
    )


def format_date(date: str) -> str:
    """Return a date as Year, Month and Day elements."""
    year, month, day = date.split("-")
    return f"<Year>{year}</Year><Month>{int(month)}</Month><Day>{int(day)}</Day>"


def _write_release(record: Record) -> str:
    if not record.released:
        return ""
    return f'<PubMedPubDate PubStatus="pmc-release">{format_date(record.released)}</PubMedPubDate>'


def _write_ids(record: Record) -> str:
    ids = {"pubmed": record.pmid, "pmc": record.pmcid, "doi": record.doi}
    return "".join(
        f'<ArticleId IdType="{kind}">{escape(value)}</ArticleId>'
        for kind, value in ids.items()
        if value
    )


def _write_references(record: Record) -> str:
    rows = "".join(
        f"<Reference><Citation>{who}. {title}. {journal}. {year}.</Citation><ArticleIdList>"
        f'<ArticleId IdType="doi">{doi}</ArticleId></ArticleIdList></Reference>'
        for who, title, journal, year, doi in references(record)
    )
    return f"<ReferenceList>{rows}</ReferenceList>" if rows else ""


def _write_citation(record: Record) -> str:
    year, month, _ = record.published.split("-")
    journal = record.journal
    doi = (
        f'<ELocationID EIdType="doi" ValidYN="Y">{escape(record.doi)}</ELocationID>'
        if record.doi
        else ""
    )
    vernacular = (
        f"<VernacularTitle>{record.vernacular}</VernacularTitle>" if record.vernacular else ""
    )
    return (
        '<MedlineCitation Status="MEDLINE" Owner="NLM"><PMID Version="1">'
        f"{record.pmid}</PMID><DateRevised>{format_date(record.last_revised)}</DateRevised>"
        f'<Article PubModel="Print"><Journal><ISSN IssnType="Electronic">{journal.issn}</ISSN>'
        f'<JournalIssue CitedMedium="Internet"><Volume>{record.volume}</Volume><Issue>'
        f"{record.issue}</Issue><PubDate><Year>{year}</Year><Month>{MONTHS[int(month) - 1]}"
        f"</Month></PubDate></JournalIssue><Title>{escape(journal.title)}</Title><ISOAbbreviation>"
        f"{escape(journal.short)}</ISOAbbreviation></Journal><ArticleTitle>{end_with_full_stop(record.title)}"
        f"</ArticleTitle><Pagination><MedlinePgn>{record.pages}</MedlinePgn></Pagination>{doi}"
        f"{abstract_of(record)}{build_author_list(record)}<Language>{record.language}</Language>"
        f"<PublicationTypeList>{format_publication_types(record)}</PublicationTypeList>{vernacular}</Article>"
        f"<MedlineJournalInfo><MedlineTA>{escape(journal.short)}</MedlineTA></MedlineJournalInfo>"
        f"{_write_notices(record)}{_write_mesh(record)}{_write_keywords(record)}</MedlineCitation>"
    )


def end_with_full_stop(title: str) -> str:
    """Return a title with its full stop."""
    return title if title.endswith((".", "?")) else f"{title}."


def abstract_of(record: Record) -> str:
    """Return the ``Abstract`` element."""
    parts = []
    for label, text in abstract(record):
        category = _CATEGORY.get(label, "BACKGROUND")
        named = f' Label="{label}" NlmCategory="{category}"' if label else ""
        parts.append(f"<AbstractText{named}>{text}</AbstractText>")
    return f"<Abstract>{''.join(parts)}</Abstract>" if parts else ""


def initials(given: str) -> str:
    """Return ``IM`` for ``Ilona M``."""
    return "".join(part[0] for part in re.split(r"[\s-]+", given) if part)


def build_author_list(record: Record, kind: str = "") -> str:
    """Return the ``AuthorList`` element."""
    people = "".join(
        f'<Author ValidYN="Y"><LastName>{escape(family)}</LastName><ForeName>{given}</ForeName>'
        f"<Initials>{initials(given)}</Initials><AffiliationInfo><Affiliation>Institute of "
        f"Invented Studies, {family}ville.</Affiliation></AffiliationInfo></Author>"
        for family, given in record.authors
    )
    if record.collective:
        people += (
            f'<Author ValidYN="Y"><CollectiveName>{record.collective}</CollectiveName></Author>'
        )
    return f'<AuthorList{kind} CompleteYN="Y">{people}</AuthorList>' if people else ""


def format_publication_types(record: Record) -> str:
    """Return the ``PublicationTypeList`` element."""
    return "".join(
        f'<PublicationType UI="D016428">{name}</PublicationType>' for name in record.types
    )


def _write_notices(record: Record) -> str:
    rows = "".join(
        f'<CommentsCorrections RefType="{kind}"><RefSource>{where}</RefSource>'
        + (f'<PMID Version="1">{pmid}</PMID>' if pmid else "")
        + "</CommentsCorrections>"
        for kind, where, pmid in record.notices
    )
    return f"<CommentsCorrectionsList>{rows}</CommentsCorrectionsList>" if rows else ""


def _write_mesh(record: Record) -> str:
    rows = "".join(
        f'<MeshHeading><DescriptorName UI="D00{at:04d}" MajorTopicYN="{"N" if at else "Y"}">'
        f"{name}</DescriptorName></MeshHeading>"
        for at, name in enumerate(record.mesh)
    )
    return f"<MeshHeadingList>{rows}</MeshHeadingList>" if rows else ""


def _write_keywords(record: Record) -> str:
    rows = "".join(f'<Keyword MajorTopicYN="N">{word}</Keyword>' for word in record.keywords)
    return f'<KeywordList Owner="NOTNLM">{rows}</KeywordList>' if rows else ""
