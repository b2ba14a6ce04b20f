"""Archives that are asked by DOI, and papers that only they have.

Forms: OSTI's list of records with ``links`` (https://www.osti.gov/api/v1/docs; a live shape in the
tests of the open-ire spider); HAL's Solr answer (https://api.archives-ouvertes.fr/docs/search; that
``fileMain_s`` is a page and ``files_s`` the file: the hal_science module of dms-viz's datahugger);
bioRxiv's ``details`` (https://api.biorxiv.org; its errors with status 200, its empty answers of
September 2026: upstream-apis.md 6.5); MDPI's file host (https://github.com/drpwchen/paper-fetch,
issue 3); DataCite's JSON:API (https://support.datacite.org/docs/api). What the file host says of a
missing file, and HAL's error, are remembered.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from tests.world.pdf import pdf_of
from tests.world.unpaywall import ARCHIVES, archive_links
from utils.demo import pages
from utils.demo.papers import SIGNALS, TISSUE, paper
from utils.demo.prose import abstract
from utils.demo.records import Journal, Record, strip_markup
from utils.demo.wire import HTML, PDF, Call, Reply, as_json, text

if TYPE_CHECKING:
    from tests.world import World

NUTRIENTS = Journal("Nutrients", "Nutrients", "2917-0111", "Meadow", "10.3390")
PREPRINTS = Journal("bioRxiv", "bioRxiv", "", "Meadow", "10.1101")
THESES = Journal("Zenodo", "Zenodo", "", "Meadow", "10.5281")


@dataclass(frozen=True)
class KeptRecord(Record):
    """A paper that an archive has: ``mdpi``, ``biorxiv``, ``osti``, ``hal`` or ``datacite``.

    Of ``osti`` and ``hal``, ``embargoed`` ones are listed without a file. ``datacite`` has records.
    """

    kept_at: str = ""
    listed_only: bool = False

    @property
    def expected(self) -> str:
        is_named = self.kept_at not in ARCHIVES or self.scholar or self.unpaywall != "closed"
        has_text = self.kept_at != "datacite" and not self.listed_only and is_named
        return "full_text" if has_text else super().expected


_NAMED = {archive: f"{archive}_page" for archive in ARCHIVES}  # as a locator names it


def keep(record: Record, kept_at: str, **more: Any) -> KeptRecord:
    """The paper, with an archive that has it."""
    given = {name: getattr(record, name) for name in record.__dataclass_fields__}
    return KeptRecord(
        **{**given, "page": "captcha", "unpaywall": _NAMED.get(kept_at, "closed"), **more},
        kept_at=kept_at,
    )


PAPERS = [
    keep(paper(80, "mdpi", "Dusk feeding and bile pools in voles", NUTRIENTS, topic="gut", pmid="",
        doi="10.3390/nu15091404", volume="15", issue="9", pages="1404"), "mdpi"),
    keep(paper(81, "biorxiv", "Quorum lag in floating algal mats", PREPRINTS, topic="soil", pmid="",
        doi="10.1101/2025.03.14.643211", types=("Preprint",)), "biorxiv", license="CC BY-NC"),
    keep(paper(82, "osti", "Neutron maps of frozen bark", TISSUE, topic="crystal", pmid=""),
        "osti"),
    keep(paper(83, "osti_embargo", "Isotope drift in clay cores", TISSUE, topic="soil", pmid=""),
        "osti", listed_only=True),
    keep(paper(84, "hal", "Vowel spaces of river towns", SIGNALS, topic="language", pmid=""),
        "hal"),
    keep(paper(85, "datacite", "A thesis on tides and reef sleep", THESES, topic="coral", pmid="",
        doi="10.5281/zenodo.7654321", unpaywall="unknown"), "datacite", unpaywall="unknown"),
]  # fmt: skip


# How locators name papers of a field at OSTI and HAL: Unpaywall and OpenAlex name the file, or only
# the page (``url_for_pdf`` may be null: upstream-apis.md 6.1); Semantic Scholar names the file; or
# nobody names the paper. No published figure says how often, so the shares are a choice.
_LOCATORS = ("pdf", "page", "page", "scholar", "")


def _find(doi: str, kept_at: str, world: World) -> KeptRecord | None:
    record = world.corpus.by_doi.get(doi.lower())
    return record if isinstance(record, KeptRecord) and record.kept_at == kept_at else None


def mdpi(call: Call, world: World) -> Reply:
    """``/d_attachment/{name}/{file}/article_deploy/{file}.pdf``; nutrients are ``nu`` in DOIs."""
    match = re.fullmatch(
        r"/d_attachment/(\w+)/(\1-(\d\d)-(\d{5}))/article_deploy/\2\.pdf", call.path
    )
    issues = range(1, 25) if match and match[1] == "nutrients" else ()
    for issue in issues:
        doi = f"10.3390/nu{int(match[3])}{issue:02d}{match[4][1:]}" if match else ""
        if record := _find(doi, "mdpi", world):
            return Reply(200, pdf_of(record), PDF)
    return text("<html><h1>404 Not Found</h1></html>", HTML, 404)


def biorxiv(call: Call, world: World) -> Reply:
    """``/details/{server}/{doi}/na/json``: a row for each version."""
    match = re.fullmatch(r"/details/(biorxiv|medrxiv)/(10\..+?)/na/json", call.path)
    record = _find(match[2], "biorxiv", world) if match and match[1] == "biorxiv" else None
    if record is None:
        return as_json({"messages": [{"status": "no posts found"}], "collection": []})
    jats = f"{world.url('repository')}/item/{quote(record.doi, safe='')}/source.xml"
    row = {
        "title": record.plain_title, "authors": "Doe, J.; Roe, R.;", "doi": record.doi,
        "date": record.published, "type": "new results",
        "license": record.license.lower().replace(" ", "_").replace("-", "_"),
        "category": "ecology", "abstract": _abstract(record), "published": "NA",
        "server": "bioRxiv",
    }  # fmt: skip
    rows = [
        row | {"version": "1", "jatsxml": f"{world.url('repository')}/item/none/source.xml"},
        row | {"version": "2", "jatsxml": jats},
    ]
    return as_json({"messages": [{"status": "ok", "count": 2}], "collection": rows})


def osti(call: Call, world: World) -> Reply:
    """``/records?doi=``: a list, of the manuscript's record; empty for an unknown DOI."""
    record = _find(call.params.get("doi", ""), "osti", world)
    if match := re.fullmatch("/(biblio|servlets/purl)/(10[.].+)", call.path):
        return _file_or_page(call, match[2], "osti", world, is_file=match[1] != "biblio")
    if call.path != "/records" or record is None:
        return as_json([])
    file, page = archive_links("osti", record.doi, world)
    links = [{"rel": "citation", "href": page}]
    if not record.listed_only:
        links.append({"rel": "fulltext", "href": file})
    return as_json([{
        "osti_id": "3021156", "title": record.plain_title, "doi": f"https://doi.org/{record.doi}",
        "product_type": "Journal Article", "article_type": "Accepted Manuscript",
        "publication_date": f"{record.published}T00:00:00Z", "description": _abstract(record),
        "links": links,
    }])  # fmt: skip


def hal(call: Call, world: World) -> Reply:
    """``/search/?q=doiId_s:"…"``; an error of Solr for anything else."""
    if match := re.fullmatch("/hal-(10[.].+?)(/document|/file/main.pdf)?", call.path):
        return _file_or_page(call, match[1], "hal", world, is_file=bool(match[2]))
    match = re.fullmatch(r'doiId_s:"(10\.[^"]+)"', call.params.get("q", ""))
    if call.path != "/search/" or not match:
        return as_json({"error": {"msg": "undefined field", "code": 400}}, 400)
    record = _find(match[1], "hal", world)
    docs = []
    if record:
        item = archive_links("hal", record.doi, world)[1]
        docs.append({
            "halId_s": "hal-04321765", "doiId_s": record.doi, "docType_s": "ART",
            "fileMain_s": item, "files_s": [f"{item}/file/main.pdf"],
        })  # fmt: skip
    return as_json({"response": {"numFound": len(docs), "start": 0, "docs": docs}})


def _file_or_page(call: Call, doi: str, kept_at: str, world: World, *, is_file: bool) -> Reply:
    record = _find(doi, kept_at, world)
    if record is None or (is_file and record.listed_only):
        return text("<html><h1>404 Not Found</h1></html>", HTML, 404)
    if is_file:
        return Reply(200, pdf_of(record), PDF)
    return text(pages.abstract_page(record, call.host, "meadow", pdf=False), HTML)


def datacite(call: Call, world: World) -> Reply:
    """``/dois/{doi}``: a record, or the error of JSON:API."""
    record = _find(call.path.removeprefix("/dois/"), "datacite", world)
    if record is None:
        return as_json(
            {"errors": [{"status": "404", "title": "The resource … doesn't exist."}]}, 404
        )
    return as_json({"data": {"id": record.doi.lower(), "type": "dois", "attributes": {
        "doi": record.doi.lower(), "titles": [{"title": record.plain_title}],
        "creators": [
            {"name": f"{family}, {given}", "nameType": "Personal", "givenName": given,
             "familyName": family, "nameIdentifiers": []}
            for family, given in record.authors
        ],
        "publisher": "Zenodo", "container": {}, "publicationYear": int(record.year),
        "types": {"resourceTypeGeneral": "Dissertation", "resourceType": "Thesis"},
        "dates": [{"date": record.published, "dateType": "Issued"}], "language": "en",
        "rightsList": [{"rights": "Creative Commons Attribution 4.0 International",
                        "rightsUri": "https://creativecommons.org/licenses/by/4.0/legalcode"}],
        "descriptions": [{"description": _abstract(record), "descriptionType": "Abstract"}],
    }}})  # fmt: skip


def of_field(papers: list[Record], kept_at: str) -> list[KeptRecord]:
    """Papers of a field as an archive keeps them, with DOIs of the archive's own."""
    made = []
    for at, record in enumerate(papers):
        doi, volume = f"10.9105/kept.{kept_at}.{at}", record.volume
        if kept_at == "mdpi":
            doi, volume = f"10.3390/nu15{1 + at // 9000:02d}{at % 9000 + 1:04d}", "15"
        elif kept_at == "biorxiv":
            doi = f"10.1101/2025.03.14.{600_000 + at}"
        journal = {"mdpi": NUTRIENTS, "biorxiv": PREPRINTS}.get(kept_at, record.journal)
        plain = replace(
            record, pmcid="", cloud=(), efetch="", europepmc=False, notices=(), types=()
        )
        more = {"doi": doi, "volume": volume, "journal": journal, "pmid": ""}
        if kept_at in ARCHIVES:
            named = _LOCATORS[at % len(_LOCATORS)]
            more |= {"scholar": kept_at} if named == "scholar" else {}
            more["unpaywall"] = f"{kept_at}_{named}" if named in {"pdf", "page"} else "closed"
        made.append(keep(plain, kept_at, **more))
    return made


def _abstract(record: Record) -> str:
    return " ".join(strip_markup(part) for _, part in abstract(record))
