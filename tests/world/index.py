"""What can be searched for: one entry per PubMed record, read from its own XML."""

import re
from dataclasses import dataclass
from functools import lru_cache
from xml.etree import ElementTree as ET

from utils.demo.pubmed_xml import initials, pubmed_article
from utils.demo.records import OPEN_PAGES, Record

_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True)
class Entry:
    """A record as the search sees it: padded lower-case words per field, dates as YYYY/MM/DD."""

    pmid: str
    title: str
    abstract: str
    tiab: str
    all: str
    authors: str
    first: str
    journal: str
    mesh: str
    types: str
    language: str
    published: str
    entered: str
    doi: tuple[str, ...]
    pmcid: tuple[str, ...]
    subset: tuple[str, ...]
    record: Record

    @property
    def revised(self) -> str:
        """The day of the last revision."""
        return self.record.last_revised.replace("-", "/")


@lru_cache(maxsize=200_000)
def words(text: str) -> tuple[str, ...]:
    """Lower-case words; everything else is a gap."""
    return tuple(_WORD.findall(text.lower()))


def padded(text: str) -> str:
    """Words with a blank around each, so that whole words can be looked for."""
    return f" {' '.join(_WORD.findall(text.lower()))} "


def _all(root: ET.Element, path: str) -> str:
    return " | ".join("".join(node.itertext()) for node in root.iterfind(path))


def _name(node: ET.Element) -> str:
    family, given = node.findtext("LastName"), node.findtext("ForeName") or ""
    if not family:
        return node.findtext("CollectiveName") or ""
    return f"{family} {node.findtext('Initials') or initials(given)}"


def subsets(record: Record, *, abstract: bool) -> tuple[str, ...]:
    """The filters a record passes; ``open access`` is one of PMC's."""
    passed = {
        "hasabstract": abstract,
        "free full text": record.pmcid or record.page in OPEN_PAGES,
        "pubmed pmc": record.pmcid,
        "open access": record.cloud and not record.manuscript,
    }
    return tuple(name for name, passes in passed.items() if passes)


def entry_of(record: Record) -> Entry:
    """Index one record."""
    root = ET.fromstring(pubmed_article(record))
    title = _all(root, ".//ArticleTitle") + " " + _all(root, ".//VernacularTitle")
    abstract = _all(root, ".//AbstractText")
    people = [_name(node) for node in root.iterfind(".//Author")]
    fields = {
        "title": title, "abstract": abstract, "tiab": f"{title} | {abstract}",
        "authors": " | ".join(people), "first": people[0] if people else "",
        "journal": f"{_all(root, './/Journal/Title')} | {_all(root, './/ISOAbbreviation')}",
        "mesh": _all(root, ".//DescriptorName"), "types": _all(root, ".//PublicationType"),
        "language": _all(root, ".//Language"),
    }  # fmt: skip
    everything = " | ".join(
        [
            *(fields[key] for key in ("tiab", "authors", "journal", "mesh")),
            record.doi,
            _all(root, ".//Keyword"),
        ]
    )
    return Entry(
        pmid=record.pmid,
        all=padded(everything),
        published=record.published.replace("-", "/"),
        entered=record.entered.replace("-", "/"),
        doi=(record.doi.lower(),),
        pmcid=(record.pmcid, record.number),
        subset=subsets(record, abstract=bool(abstract)),
        record=record,
        **{key: padded(value) for key, value in fields.items()},
    )
