"""Unpaywall v2: where an open copy lies; 404 for other agencies' DOIs, 422 without an e-mail."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from utils.demo.doi import get_landing_page
from utils.demo.records import Record
from utils.demo.wire import Call, Reply, as_json

if TYPE_CHECKING:
    from tests.world import World

_PLEASE = "Please use your own email address in API calls. See http://unpaywall.org/products/api"


ARCHIVES = ("osti", "hal")
_PMH_IDS = {"osti": "oai:osti.gov:3021156", "hal": "oai:HAL:hal-04321765v1"}


def archive_links(archive: str, doi: str, world: World) -> tuple[str, str]:
    """The PDF and the page of a paper at OSTI or HAL; a DOI stands for the archive's number.

    OSTI: ``/servlets/purl/N`` and ``/biblio/N``; HAL: ``/hal-N/document`` and ``/hal-N``
    (reach-and-bulk.md). The page shows the abstract; scripts of the page lead to the file.
    """
    base, name = world.url(archive), quote(doi, safe="")
    if archive == "osti":
        return f"{base}/servlets/purl/{name}", f"{base}/biblio/{name}"
    return f"{base}/hal-{name}/document", f"{base}/hal-{name}"


def unpaywall(call: Call, world: World) -> Reply:
    """``/{doi}?email=``."""
    email = call.params.get("email", "")
    if not re.fullmatch(r"[^@\s]+@[^@\s]+\.\w+", email) or "@example." in email:
        return as_json({"HTTP_status_code": 422, "error": True, "message": _PLEASE}, 422)
    name = call.path.lstrip("/").lower()
    record = world.corpus.by_doi.get(name)
    if record is None or record.unpaywall == "unknown":
        told = f"'{name}' isn't in Unpaywall. See https://support.unpaywall.org/a/solutions/articles/44001900286"
        return as_json({"HTTP_status_code": 404, "error": True, "message": told}, 404)
    return as_json(_answer(record, world))


def _answer(record: Record, world: World) -> dict[str, Any]:
    copies = locations(record, world, record.unpaywall)
    best = copies[0] if copies else None
    return {
        "doi": record.doi.lower(), "doi_url": f"https://doi.org/{record.doi.lower()}",
        "title": record.plain_title, "genre": "journal-article", "is_paratext": False,
        "published_date": record.published, "year": int(record.year),
        "journal_name": record.journal.title, "journal_issn_l": record.journal.issn,
        "publisher": record.journal.publisher, "is_oa": bool(best),
        "oa_status": "green" if best else "closed", "has_repository_copy": bool(best),
        "best_oa_location": best, "first_oa_location": best, "oa_locations": copies,
        "oa_locations_embargoed": _later_locations(record), "updated": "2026-01-06T00:00:00",
        "data_standard": 2,
        "z_authors": [
            {"author_position": "first", "raw_author_name": f"{given} {family}"}
            for family, given in record.authors
        ],
    }  # fmt: skip


def _later_locations(record: Record) -> list[dict[str, Any]]:
    """Locations "expected to be available in the future" (docs.ropensci.org/roadoi, oadoi_fetch).

    A record whose ``unpaywall`` is ``later DAY`` has one, with that ``oa_date``.
    """
    kind, _, day = record.unpaywall.partition(" ")
    return [{"url": None, "oa_date": day, "evidence": "journal policy"}] if kind == "later" else []


def locations(record: Record, world: World, kind: str) -> list[dict[str, Any]]:
    """Where a copy of this kind lies, as Unpaywall says it."""
    item = f"{world.url('repository')}/item/{quote(record.doi, safe='')}"
    pmc = f"https://www.ncbi.nlm.nih.gov/pmc/articles/{record.pmcid}"
    urls: dict[str, tuple[str | None, str]] = {
        "pdf": (f"{item}/download", item), "scan": (f"{item}/download", item),
        "dead": (f"{item}/download", item), "fake_pdf": (f"{item}/download", item),
        "html": (None, item), "landing": (None, item), "pmc": (f"{pmc}/pdf/main.pdf", pmc),
        "publisher": (None, get_landing_page(record, world)),
    }  # fmt: skip
    archive, _, named = kind.partition("_")
    if archive in ARCHIVES:
        pdf, page = archive_links(archive, record.doi, world)
        urls[kind] = (pdf if named == "pdf" else None, page)
    if kind not in urls:
        return []
    pdf, page = urls[kind]
    return [
        {
            "url": pdf or page, "url_for_pdf": pdf, "url_for_landing_page": page,
            "evidence": "oa repository (via OAI-PMH doi match)", "license": "cc-by",
            "version": "acceptedVersion", "host_type": "repository", "is_best": True,
            "oa_date": None, "pmh_id": _PMH_IDS.get(archive), "endpoint_id": None,
            "repository_institution": None,
            "updated": "2026-01-05T00:00:00",
        }
    ]  # fmt: skip
