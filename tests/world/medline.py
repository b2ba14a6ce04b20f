"""Records that the demo does not show: as MEDLINE text, and of chapters of books."""

from utils.demo.prose import abstract
from utils.demo.pubmed_xml import (
    MONTHS,
    OTHER_KINDS,
    abstract_of,
    build_author_list,
    end_with_full_stop,
    format_date,
    format_publication_types,
    initials,
)
from utils.demo.records import Record, strip_markup


def medline(record: Record) -> str:
    """The record in MEDLINE display format, long lines folded."""
    year, month, _ = record.published.split("-")
    date = f"{year} {MONTHS[int(month) - 1]}"
    rows = [("PMID", record.pmid), ("OWN", "NLM"), ("STAT", "MEDLINE"), ("DP", date)]
    rows += [("TI", end_with_full_stop(record.plain_title)), ("PG", record.pages)]
    rows += [("LID", f"{record.doi} [doi]")] if record.doi else []
    text = " ".join(
        f"{label}: {strip_markup(body)}" if label else strip_markup(body)
        for label, body in abstract(record)
    )
    rows += [("AB", text)] if text else []
    for family, given in record.authors:
        rows += [("FAU", f"{family}, {given}"), ("AU", f"{family} {initials(given)}")]
    rows += [("LA", record.language), *(("PT", name) for name in record.types)]
    rows += [("TA", record.journal.short), ("JT", record.journal.title)]
    rows += [("MH", name) for name in record.mesh]
    rows += [("PMC", record.pmcid)] if record.pmcid else []
    rows += [("AID", f"{record.doi} [doi]")] if record.doi else []
    rows += [("SO", f"{record.journal.short}. {date};{record.volume}:{record.pages}.")]
    return "\n".join(_folded(tag, value) for tag, value in rows) + "\n"


def _folded(tag: str, value: str) -> str:
    lines, current = [], ""
    for word in value.split():
        if current and len(current) + len(word) > 80:
            lines.append(current)
            current = ""
        current = f"{current} {word}".strip()
    return f"{tag:<4}- " + "\n      ".join([*lines, current])


def _book(record: Record) -> str:
    year, authors = record.year, build_author_list(record, ' Type="authors"')
    return (
        f'<PubmedBookArticle><BookDocument><PMID Version="1">{record.pmid}</PMID><ArticleIdList>'
        f'<ArticleId IdType="bookaccession">NBK{record.pmid[-4:]}</ArticleId></ArticleIdList>'
        f"<Book><Publisher><PublisherName>{record.journal.publisher}</PublisherName></Publisher>"
        f'<BookTitle book="guide">{record.journal.title}</BookTitle><PubDate><Year>{year}</Year>'
        '</PubDate><AuthorList Type="editors"><Author ValidYN="Y"><LastName>Editrix</LastName>'
        "<ForeName>Una</ForeName><Initials>U</Initials></Author></AuthorList></Book>"
        f'<ArticleTitle book="guide" part="{record.pmid}">'
        f"{end_with_full_stop(record.title)}</ArticleTitle>"
        f"<Language>eng</Language>{authors}{format_publication_types(record)}"
        f"{abstract_of(record)}<ContributionDate>{format_date(record.published)}</ContributionDate>"
        "</BookDocument><PubmedBookData><History/><PublicationStatus>ppublish"
        f'</PublicationStatus><ArticleIdList><ArticleId IdType="pubmed">{record.pmid}</ArticleId>'
        "</ArticleIdList></PubmedBookData></PubmedBookArticle>"
    )


OTHER_KINDS["book"] = _book
