"""BioC for PMC: open articles as passages; what it does not have it says in HTML, with status 200.

It counts to the same three requests a second as the E-utilities.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from tests.world.limits import refusal
from utils.demo.prose import abstract, body, references
from utils.demo.records import Record, strip_markup
from utils.demo.wire import HTML, Call, Reply, as_json, text

if TYPE_CHECKING:
    from tests.world import World

_SECTIONS = {
    "Introduction": "INTRO", "Materials and methods": "METHODS", "Results": "RESULTS",
    "Discussion": "DISCUSS", "Conclusions": "CONCL",
}  # fmt: skip
_NOTHING = (
    "[Error] : No result can be found. <BR><HR><B> - https://www.ncbi.nlm.nih.gov/research/bionlp/"
    "RESTful/pmcoa.cgi/BioC_[format]/[ID]/[encoding]</B><BR>"
)


def bioc(call: Call, world: World) -> Reply:
    """``/BioC_json/{PMID, or PMCID with its prefix}/unicode``."""
    with world.lock:
        too_many = world.desk.turn("anonymous", call.at, 3) > 3
    if too_many:
        return refusal(call, 2)
    match = re.fullmatch(r"/BioC_json/(PMC\d+|\d+)/(?:unicode|ascii)", call.path)
    name = match[1] if match else ""
    record = world.corpus.by_pmcid.get(name) or world.corpus.by_pmid.get(name)
    if record is None or not record.cloud:
        return text(_NOTHING, HTML)
    return as_json([_collection(record)])


def _collection(record: Record) -> dict[str, Any]:
    document = {
        "id": record.pmcid, "infons": {"license": record.license},
        "passages": list(_placed(record)), "annotations": [], "relations": [],
    }  # fmt: skip
    head = {"source": "PMC", "date": "20261101", "key": "pmc.key", "version": "1.0", "infons": {}}
    return {"bioctype": "BioCCollection", **head, "documents": [document]}


def _placed(record: Record) -> Iterator[dict[str, Any]]:
    """The passages, each with where it begins."""
    offset = 0
    for section, kind, words, more in _passages(record):
        infons = {"section_type": section, "type": kind, **more}
        lists: dict[str, Any] = {"sentences": [], "annotations": [], "relations": []}
        yield {
            "bioctype": "BioCPassage", "offset": offset, "infons": infons, "text": words, **lists,
        }  # fmt: skip
        offset += len(words.encode()) + 1


def _passages(record: Record) -> Iterator[tuple[str, str, str, dict[str, str]]]:
    names = {"pmc": record.pmcid, "pmid": record.pmid, "doi": record.doi}
    told = {f"article-id_{name}": value for name, value in names.items() if value}
    yield "TITLE", "front", record.plain_title, told
    for label, words in abstract(record):
        if label:
            yield "ABSTRACT", "abstract_title_1", label.capitalize(), {}
        yield "ABSTRACT", "abstract", strip_markup(words), {}
    for title, paragraphs in body(record):
        section = _SECTIONS.get(title, "INTRO" if not title else "OTHER")
        if title:
            yield section, "title_1", strip_markup(title), {}
        for words in paragraphs:
            yield section, "paragraph", strip_markup(words), {}
    if "figure" in record.features:
        yield "FIG", "fig_caption", "Lines join the means of each group.", {"id": "f1"}
    for authors, title, journal, year, _ in references(record):
        more = {"name_0": f"surname:{authors}", "source": journal, "year": year}
        yield "REF", "ref", strip_markup(title), more
