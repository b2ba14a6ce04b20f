"""The bigger corpus: recorded articles in a folder with ``articles.jsonl``, spread over the ladder.

Nothing of it belongs to the project; the folder lies beside the checkout or is absent. Only rows
with ``chain`` are served (PubMed-shaped record + PMCID + DOI + JATS body). Text is read when asked
for.
"""

import json
import re
from html import escape
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

from tests.world.convert import Article
from tests.world.records import Corpus
from utils.demo.records import Journal, Record

# Of ten articles six are in the PMC Cloud Service, two only in efetch, one only at Europe PMC,
# one only outside PMC; those with a PDF of their own are always outside.
_PLACES = ("cloud",) * 6 + ("efetch",) * 2 + ("europepmc", "outside")
_SITES = ("meadow", "harbour", "summit")
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]


def recorded_corpus(folder: Path) -> Corpus:
    """The articles of *folder*; where each can be had follows from its place in the list."""
    lines = (folder / "articles.jsonl").read_text("utf-8").splitlines()
    rows = [row for line in lines if (row := json.loads(line)).get("chain")]
    return Corpus(_record(at, row, folder) for at, row in enumerate(rows))


def _record(at: int, row: dict[str, Any], folder: Path) -> Record:
    names = row["files"]
    files = {"jats": names["jats"], "pubmed": names.get("pubmed") or names["pubmed_derived"]}
    files |= {"europepmc": names["europepmc_core"]} if "europepmc_core" in names else {}
    files |= {"pdf": names["pdf"]} if "pdf" in names else {}
    paths = {kind: folder / name for kind, name in files.items()}
    place = "outside" if "pdf" in files else _PLACES[at % len(_PLACES)]
    prefix = row["doi"].partition("/")[0]
    return Record(
        title=escape(row["title"], quote=False),
        journal=Journal(row["journal"], row["journal"], "", row["journal"], prefix),
        pmid=row["pmid"],
        pmcid=row["pmcid"],
        doi=row["doi"],
        license=_license(row["licence"]),
        files=paths,
        recorded=Article(paths["jats"]),
        site=_SITES[at % len(_SITES)],
        **_known(paths["pubmed"], row["year"]),
        **_place(place, at, has_pdf="pdf" in files),
    )


def _place(place: str, at: int, *, has_pdf: bool) -> dict[str, Any]:
    """Availability of one article, and the branch it stands for."""
    if place == "cloud":
        return {"branch": "pmc_cloud", "cloud": (1,), "efetch": "body", "europepmc": True}
    if place == "efetch":
        return {"branch": "efetch_only", "efetch": "body"}
    if place == "europepmc":
        return {"branch": "europepmc_only", "europepmc": True}
    if has_pdf:
        return {"branch": "unpaywall_pdf", "unpaywall": "pdf"}
    if at % 20 < len(_PLACES):
        return {"branch": "publisher_html", "page": "article"}
    return {"branch": "unpaywall_html", "unpaywall": "html"}


def _license(code: str) -> str:
    """``CC-BY-4.0`` -> ``CC BY``."""
    return re.sub(r"-[\d.]+$", "", code).replace("CC-", "CC ", 1)


def _known(path: Path, year: str) -> dict[str, Any]:
    """What the PubMed record says that the services' JSON repeats."""
    root = ET.parse(path).getroot()
    authors = tuple(
        (node.findtext("LastName") or "", node.findtext("ForeName") or "")
        for node in root.iterfind(".//Article/AuthorList/Author")
        if node.findtext("LastName")
    )
    entered = _date(root.find(".//PubMedPubDate[@PubStatus='entrez']"))
    published = _date(root.find(".//JournalIssue/PubDate"))
    return {
        "authors": authors,
        "published": published or f"{year}-01-01",
        "entered": entered or published or f"{year}-01-01",
        "volume": root.findtext(".//JournalIssue/Volume") or "",
        "issue": root.findtext(".//JournalIssue/Issue") or "",
        "pages": root.findtext(".//MedlinePgn") or "",
        "types": tuple(node.text or "" for node in root.iterfind(".//PublicationType")),
    }


def _date(node: ET.Element | None) -> str:
    if node is None or not node.findtext("Year"):
        return ""
    month = node.findtext("Month") or "1"
    number = int(month) if month.isdigit() else 1 + _MONTHS.index(month[:3].lower())
    return f"{node.findtext('Year')}-{number:02d}-{int(node.findtext('Day') or 1):02d}"
