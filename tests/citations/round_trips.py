"""RIS and BibTeX read back by rispy and bibtexparser, and what of a CSL item they should tell.

Both directions end in the same plain dictionary, so that a field that is lost, shortened or
moved shows as a difference.
"""

import re

import bibtexparser
import rispy
from bibtexparser.middlewares import SeparateCoAuthors, SplitNameParts
from pylatexenc.latexencode import get_builtin_uni2latex_dict

NAMED = {
    r"\textbackslash{}": "\\", r"\textbraceleft{}": "{", r"\textbraceright{}": "}",
    r"\textasciicircum{}": "^", r"\textasciitilde{}": "~",
}  # fmt: skip
ALIKE = str.maketrans("∊∍∆⋄∎", "∈∋Δ◇▪")
SIGNS = {
    command: chr(code).translate(ALIKE) for code, command in get_builtin_uni2latex_dict().items()
} | {r"\ensuremath{'}": "′", r"\ensuremath{''}": "″", r"\ensuremath{\rightarrow}": "→"}
MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
SAME = (
    *("title", "original-title", "container-title", "container-title-short", "volume", "issue"),
    *("page", "ISSN", "DOI", "PMID", "PMCID", "language", "abstract", "URL", "note"),
)
RIS_FIELDS = {
    "title": "title", "secondary_title": "container-title", "issn": "ISSN", "volume": "volume",
    "alternate_title1": "container-title-short", "number": "issue", "doi": "DOI",
    "accession_number": "PMID", "custom2": "PMCID", "language": "language", "abstract": "abstract",
}  # fmt: skip
BIBTEX_FIELDS = {
    "title": "title", "journal": "container-title", "booktitle": "container-title",
    "howpublished": "container-title", "shortjournal": "container-title-short", "issn": "ISSN",
    "volume": "volume", "number": "issue", "pages": "page", "doi": "DOI", "pmid": "PMID",
    "pmcid": "PMCID", "language": "language", "abstract": "abstract", "url": "URL", "note": "note",
    "origtitle": "original-title", "eprint": "archive_location", "archivePrefix": "archive",
}  # fmt: skip


def told(item, commas):
    """What a file should tell of an item; *commas* is whether its groups may have some."""
    kept = {name: item[name] for name in SAME if name in item}
    kept["author"] = [_person(name, commas) for name in item.get("author", ())]
    kept["keyword"] = [word for word in item.get("keyword", "").split("; ") if word]
    kept["issued"] = item["issued"]["date-parts"][0] if "issued" in item else []
    return kept


def _alike(told):
    """One character for those that look the same and share a LaTeX command."""
    if isinstance(told, dict):
        return {name: _alike(value) for name, value in told.items()}
    if isinstance(told, list | tuple):
        return type(told)(map(_alike, told))
    return told.translate(ALIKE) if isinstance(told, str) else told


def _person(name, commas):
    if "literal" in name:
        return (name["literal"] if commas else name["literal"].replace(",", ""), "", "")
    family = " ".join(filter(None, (name.get("non-dropping-particle"), name.get("family"))))
    given = " ".join(filter(None, (name.get("given"), name.get("dropping-particle"))))
    parts = (family, given, name.get("suffix", ""))
    return parts if commas else tuple(part.replace(",", "") for part in parts)


def told_by_ris(item):
    kept = told(item, commas=False)
    if "archive" in item and "DOI" in item:
        kept["archive_location"] = item["archive_location"]
    return kept


def told_by_bibtex(item):
    kept = _alike(told(item, commas=True))
    return kept | {name: item[name] for name in ("archive", "archive_location") if name in item}


def read_ris(text):
    [record] = rispy.loads(text)
    item = {csl: record[name] for name, csl in RIS_FIELDS.items() if name in record}
    item["author"] = [
        tuple([*map(str.strip, name.split(",")), "", ""][:3]) for name in record.get("authors", ())
    ]
    item["keyword"] = record.get("keywords", [])
    date = record.get("date") or record.get("year") or ""
    item["issued"] = [int(part) for part in date.split("/") if part]
    if pages := "-".join(record[end] for end in ("start_page", "end_page") if end in record):
        item["page"] = pages
    # rispy cuts links at semicolons, which old DOIs hold.
    links = ";".join(record.get("urls", ())).split(";https://arxiv.org/abs/")
    item |= dict(zip(("URL", "archive_location"), filter(None, links), strict=False))
    for note in record.get("notes", ()):
        name, _, rest = note.partition("Original title: ")
        item |= {"original-title": rest} if rest and not name else {"note": note}
    return item


def read_bibtex(text):
    library = bibtexparser.parse_string(
        text, append_middleware=[SeparateCoAuthors(), SplitNameParts()]
    )
    assert not library.failed_blocks
    [entry] = library.entries
    fields = {name: field.value for name, field in entry.fields_dict.items()}
    item = {csl: printed(fields[name]) for name, csl in BIBTEX_FIELDS.items() if name in fields}
    if "page" in item:
        item["page"] = item["page"].replace("--", "-")
    item["author"] = [
        tuple(printed(" ".join(part)) for part in (name.von + name.last, name.first, name.jr))
        for name in fields.get("author", ())
    ]
    item["keyword"] = [word for word in printed(fields.get("keywords", "")).split("; ") if word]
    month = fields.get("month")
    parts = (fields.get("year"), month and MONTHS.index(month) + 1, fields.get("day"))
    item["issued"] = [int(part) for part in parts if part]
    return item


def printed(latex):
    """What LaTeX prints: its names for characters, without the braces that keep capitals."""
    pieces = re.split(
        r"(\\text\w+\{\}|\\[&%$#_]|\{\\ensuremath\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}\}"
        r"|\{\$(?:[^$\\]|\\.)*\$\})",
        latex,
    )
    return "".join(
        _said(piece) if at % 2 else re.sub(r"[{}]", "", piece) for at, piece in enumerate(pieces)
    )


def _said(command):
    if command.startswith("{$"):
        return command[1:-1]  # a formula stays one
    if command.startswith("{"):
        return SIGNS[command[1:-1]]
    return NAMED.get(command, command[1:])
