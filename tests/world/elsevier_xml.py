"""A paper in Elsevier's DTD, as the Article Retrieval API wraps it.

Forms: Elsevier's "Tag by Tag" for DTD 5, the API's documentation (dev.elsevier.com), and answers
that clients keep as fixtures (chemdataextractor2, tests/data/elsevier).
"""

from html import escape
from itertools import cycle

from utils.demo.prose import CITED, abstract, body, references
from utils.demo.records import Record

_HEAD = (
    '<full-text-retrieval-response xmlns="http://www.elsevier.com/xml/svapi/article/dtd" '
    'xmlns:ce="http://www.elsevier.com/xml/common/dtd" '
    'xmlns:ja="http://www.elsevier.com/xml/ja/dtd" '
    'xmlns:sb="http://www.elsevier.com/xml/common/struct-bib/dtd" '
    'xmlns:xocs="http://www.elsevier.com/xml/xocs/dtd" '
    'xmlns:xlink="http://www.w3.org/1999/xlink" '
    'xmlns:dc="http://purl.org/dc/elements/1.1/" '
    'xmlns:prism="http://prismstandard.org/namespaces/basic/2.0/">'
)
_TABLE = (
    '<ce:floats><ce:table xmlns="http://www.elsevier.com/xml/common/cals/dtd" id="t0005">'
    "<ce:label>Table 1</ce:label><ce:caption><ce:simple-para>Means by group.</ce:simple-para>"
    '</ce:caption><tgroup cols="3"><colspec colname="col1"/><colspec colname="col2"/>'
    '<colspec colname="col3"/><thead><row><entry colname="col1">Group</entry>'
    '<entry namest="col2" nameend="col3">Response</entry></row></thead><tbody><row>'
    '<entry colname="col1">control</entry><entry colname="col2">1.02</entry>'
    '<entry colname="col3">0.98</entry></row></tbody></tgroup></ce:table></ce:floats>'
)


def answer(record: Record, *, entitled: bool) -> str:
    """What is sent for a paper; without a right to it, ``coredata`` with the abstract alone."""
    text = f"<xocs:doc>{_article(record)}</xocs:doc>" if entitled else ""
    return (
        f"{_HEAD}{_core(record)}<originalText>{text}</originalText></full-text-retrieval-response>"
    )


def _core(record: Record) -> str:
    people = "".join(f"<dc:creator>{escape(f'{a}, {b}')}</dc:creator>" for a, b in record.authors)
    first, _, last = record.pages.partition("-")
    is_open = record.license.startswith("CC")
    licence = "http://creativecommons.org/licenses/by/4.0/" if is_open else ""
    told = " ".join(escape(_plain(text)) for _, text in abstract(record))
    return (
        f"<coredata><prism:doi>{record.doi}</prism:doi><pii>S0000-{record.pmid}</pii>"
        f"<dc:title>{escape(record.plain_title)}</dc:title>"
        f"<prism:publicationName>{record.journal.title}</prism:publicationName>"
        f"<prism:startingPage>{first}</prism:startingPage><prism:endingPage>{last}"
        f"</prism:endingPage>{people}<dc:description>\n Abstract\n {told}\n</dc:description>"
        f"<openaccess>{int(is_open)}</openaccess><openArchiveArticle>false</openArchiveArticle>"
        f"<openaccessUserLicense>{licence}</openaccessUserLicense></coredata>"
    )


def _article(record: Record) -> str:
    people = "".join(
        f"<ce:author><ce:given-name>{given}</ce:given-name><ce:surname>{escape(family)}"
        "</ce:surname></ce:author>"
        for family, given in record.authors
    )
    parts = "".join(
        f"<ce:abstract-sec><ce:simple-para>{_markup(text)}</ce:simple-para></ce:abstract-sec>"
        for _, text in abstract(record)
    )
    return (
        "<xocs:meta><xocs:document-subtype>fla</xocs:document-subtype></xocs:meta>"
        f'<xocs:serial-item><ja:article xmlns="http://www.elsevier.com/xml/ja/dtd">{_TABLE}<head>'
        f"<ce:title>{_markup(record.title)}</ce:title><ce:author-group>{people}</ce:author-group>"
        f'<ce:abstract class="author"><ce:section-title>Abstract</ce:section-title>{parts}'
        f"</ce:abstract></head><body><ce:sections>{_sections(record)}</ce:sections></body>"
        f"<tail>{_references(record)}</tail></ja:article></xocs:serial-item>"
    )


def _sections(record: Record) -> str:
    made, cited = [], cycle(range(1, CITED + 1))
    for at, (title, paragraphs) in enumerate(body(record), start=1):
        text = "".join(
            f'<ce:para>{_markup(one)} <ce:cross-ref refid="b{n:04d}">[{n}]</ce:cross-ref></ce:para>'
            for one, n in zip(paragraphs, cited, strict=False)
        )
        if title == "Results":
            text += (
                '<ce:para>See <ce:cross-ref refid="t0005">Table 1</ce:cross-ref>'
                '<ce:float-anchor refid="t0005"/>.</ce:para>'
            )
        made.append(
            f'<ce:section id="s{at:04d}"><ce:label>{at}</ce:label><ce:section-title>{title}'
            f"</ce:section-title>{text}</ce:section>"
        )
    return "".join(made)


def _references(record: Record) -> str:
    rows = "".join(
        f'<ce:bib-reference id="b{at:04d}"><ce:label>[{at}]</ce:label><sb:reference>'
        f"<sb:contribution><sb:authors><sb:author><ce:surname>{escape(who)}</ce:surname></sb:author>"
        f"</sb:authors><sb:title><sb:maintitle>{escape(title)}</sb:maintitle></sb:title>"
        f"</sb:contribution><sb:host><sb:issue><sb:series><sb:title><sb:maintitle>{escape(journal)}"
        f"</sb:maintitle></sb:title></sb:series><sb:date>{year}</sb:date></sb:issue>"
        f"<ce:doi>{escape(doi)}</ce:doi></sb:host></sb:reference></ce:bib-reference>"
        for at, (who, title, journal, year, doi) in enumerate(references(record), start=1)
    )
    return (
        "<ce:bibliography><ce:section-title>References</ce:section-title><ce:bibliography-sec>"
        f"{rows}</ce:bibliography-sec></ce:bibliography>"
        if rows
        else ""
    )


def _markup(fragment: str) -> str:
    for ours, theirs in (("i", "italic"), ("sub", "inf"), ("sup", "sup")):
        fragment = fragment.replace(f"<{ours}>", f"<ce:{theirs}>")
        fragment = fragment.replace(f"</{ours}>", f"</ce:{theirs}>")
    return fragment


def _plain(fragment: str) -> str:
    return fragment.replace("<i>", "").replace("</i>", "")
