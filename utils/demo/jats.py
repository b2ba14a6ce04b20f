"""Build the JATS of a record: front matter, sections, table, formula, figure, references."""

from collections.abc import Iterator
from html import escape
from itertools import cycle, repeat

from .prose import CITED, abstract, body, references
from .records import Record

FORBIDDEN = (
    "<!--The publisher of this article does not allow downloading of the full text in XML form.-->"
)
HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE article PUBLIC "-//NLM//DTD JATS (Z39.96) '
    'Journal Archiving and Interchange DTD v1.4 20241031//EN" "JATS-archivearticle1-4.dtd">\n'
)
_NAMESPACES = (
    'xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:mml="http://www.w3.org/1998/Math/MathML" '
    'xmlns:ali="http://www.niso.org/schemas/ali/1.0/"'
)
_TABLE = (
    '<table-wrap id="t1"><label>Table 1</label><caption><p>Means ± standard deviation by group.</p>'
    '</caption><table><thead><tr><th rowspan="2">Group</th><th colspan="2">Response</th></tr><tr>'
    "<th>early</th><th>late</th></tr></thead><tbody><tr><td>control</td><td>1.02 ± 0.11</td>"
    "<td>0.98 ± 0.09</td></tr><tr><td>treated</td><td>3.71 ± 0.42"
    '<xref ref-type="table-fn" rid="fn1">*</xref></td><td>2.15 ± 0.37</td></tr></tbody></table>'
    '<table-wrap-foot><fn id="fn1"><p>* P &lt; 0.01 against control.</p></fn></table-wrap-foot>'
    "</table-wrap>"
)
_FORMULA = (
    '<disp-formula id="e1"><label>(1)</label><alternatives><tex-math>\\[ v = \\frac{V_{max} S}'
    "{K_m + S} \\]</tex-math><mml:math><mml:mi>v</mml:mi><mml:mo>=</mml:mo><mml:mfrac><mml:mrow>"
    "<mml:msub><mml:mi>V</mml:mi><mml:mi>max</mml:mi></mml:msub><mml:mi>S</mml:mi></mml:mrow>"
    "<mml:mrow><mml:msub><mml:mi>K</mml:mi><mml:mi>m</mml:mi></mml:msub><mml:mo>+</mml:mo>"
    "<mml:mi>S</mml:mi></mml:mrow></mml:mfrac></mml:math></alternatives></disp-formula>"
)
_FIGURE = (
    '<fig id="f1"><label>Figure 1</label><caption><title>Time course.</title><p>Lines join the '
    "means of each group; bars show one standard error.</p></caption>"
    '<graphic xlink:href="fig1.jpg"/></fig>'
)

EXTRAS = {"table": _TABLE, "formula": _FORMULA, "figure": _FIGURE}


def document(record: Record) -> bytes:
    """Return the article as a file, as the PMC Cloud Service and Europe PMC deliver it."""
    if stored := record.files.get("jats"):
        return stored.read_bytes()
    return (HEAD + article(record)).encode()


def article(record: Record, full: bool = True) -> str:
    """Return the ``article`` element; without *full*, only its front matter."""
    if stored := record.files.get("jats"):
        text = stored.read_text("utf-8")
        return text[text.index("<article") :]
    kind = _get_article_type(record)
    text = f"{_write_body(record)}{_write_back(record)}" if full else ""
    return (
        f'<article {_NAMESPACES} article-type="{kind}" dtd-version="1.4" xml:lang="en">'
        f"{'' if full else FORBIDDEN}<processing-meta tagset-family='jats' base-tagset="
        '"archiving"><restricted-by>pmc</restricted-by></processing-meta>'
        f"{_write_front(record)}{text}</article>"
    )


def _get_article_type(record: Record) -> str:
    if record.kind == "notice":
        return "retraction" if "Retraction Notice" in record.types else "correction"
    return "editorial" if record.kind == "editorial" else "research-article"


def _write_front(record: Record) -> str:
    journal, (year, month, day) = record.journal, record.published.split("-")
    return (
        '<front><journal-meta><journal-id journal-id-type="nlm-ta">'
        f"{journal.short}</journal-id><journal-title-group><journal-title>{journal.title}"
        f'</journal-title></journal-title-group><issn pub-type="epub">{journal.issn}</issn>'
        f"<publisher><publisher-name>{journal.publisher}</publisher-name></publisher>"
        f"</journal-meta><article-meta>{_write_ids(record)}<title-group><article-title>"
        f"{_write_markup(record.vernacular or record.title)}</article-title></title-group>"
        f'{_write_authors(record)}<pub-date pub-type="epub"><day>{int(day)}</day>'
        f"<month>{int(month)}</month><year>{year}</year></pub-date><volume>{record.volume}</volume><issue>"
        f"{record.issue}</issue><permissions><copyright-year>{year}</copyright-year>"
        f"{_write_license(record)}</permissions>{_write_abstract(record)}</article-meta></front>"
    )


def _write_ids(record: Record) -> str:
    number, version = record.number, max(record.cloud, default=1)
    ids = {
        "pmcid": record.pmcid, "pmcid-ver": f"{record.pmcid}.{version}" if record.pmcid else "",
        "pmcaid": number, "pmcaiid": number, "pmid": record.pmid, "doi": record.doi,
    }  # fmt: skip
    return "".join(
        f'<article-id pub-id-type="{kind}">{escape(value)}</article-id>'
        for kind, value in ids.items()
        if value
    )


def _write_authors(record: Record) -> str:
    people = "".join(
        f'<contrib contrib-type="author"><name><surname>{escape(family)}</surname><given-names>'
        f"{given}</given-names></name></contrib>"
        for family, given in record.authors
    )
    if record.collective:
        people += f'<contrib contrib-type="author"><collab>{record.collective}</collab></contrib>'
    return f"<contrib-group>{people}</contrib-group>" if people else ""


def _write_license(record: Record) -> str:
    if not record.license.startswith("CC"):
        return "<license><license-p>This file is available for text mining.</license-p></license>"
    code = record.license.removeprefix("CC ").lower()
    url = f"https://creativecommons.org/licenses/{code}/4.0/"
    return (
        f"<license><ali:license_ref>{url}</ali:license_ref><license-p>Distributed under "
        f"{record.license} 4.0.</license-p></license>"
    )


def _write_abstract(record: Record) -> str:
    parts = "".join(
        f"<sec><title>{label.title()}</title><p>{_write_markup(text)}</p></sec>"
        if label
        else f"<p>{_write_markup(text)}</p>"
        for label, text in abstract(record)
    )
    return f"<abstract>{parts}</abstract>" if parts else ""


def _write_markup(fragment: str) -> str:
    return fragment.replace("<i>", "<italic>").replace("</i>", "</italic>")


def _write_body(record: Record) -> str:
    sections = body(record)
    if not sections[0][0]:
        return f"<body>{_write_cited_paragraphs(sections[0][1], repeat(1))}</body>"
    parts = []
    numbers = cycle(range(1, CITED + 1))
    for at, (title, paragraphs) in enumerate(sections):
        extra = _write_extras(record) if title == "Results" else ""
        text = _write_cited_paragraphs(paragraphs, numbers)
        parts.append(f'<sec id="s{at + 1}"><title>{title}</title>{text}{extra}</sec>')
    return f"<body>{''.join(parts)}</body>"


def _write_cited_paragraphs(paragraphs: tuple[str, ...], numbers: Iterator[int]) -> str:
    """Return paragraphs that each cite the next work of the list."""
    cites = (f'<xref ref-type="bibr" rid="r{at}">{at}</xref>' for at in numbers)
    pairs = zip(paragraphs, cites, strict=False)
    return "".join(f"<p>{_write_markup(text)} [{cite}]</p>" for text, cite in pairs)


def _write_extras(record: Record) -> str:
    return "".join(xml for feature, xml in EXTRAS.items() if feature in record.features)


def _write_back(record: Record) -> str:
    rows = "".join(
        f'<ref id="r{at}"><label>{at}</label><mixed-citation publication-type="journal">{who}. '
        f"<article-title>{title}</article-title>. <source>{journal}</source>. <year>{year}</year>"
        f'. <pub-id pub-id-type="doi">{doi}</pub-id></mixed-citation></ref>'
        for at, (who, title, journal, year, doi) in enumerate(references(record), start=1)
    )
    ack = "<ack><title>Acknowledgements</title><p>We thank nobody who exists.</p></ack>"
    return f"<back>{ack}<ref-list><title>References</title>{rows}</ref-list></back>" if rows else ""
