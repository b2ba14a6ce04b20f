"""Fetch the records of DOIs that are registered at DataCite.

These are theses, datasets, reports and preprints of repositories, which Crossref does not have.
https://support.datacite.org/docs/api
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from ..errors import Unreachable
from ..http import Answer, Rate, Web
from ..model.identifiers import Ids
from ..model.paper import Author, Paper
from ..model.site import Address
from .europepmc import strip_html
from .loose_json import to_dict, to_dicts, to_short_text, to_text
from .source import Lookup, Source


def look_up_papers(wanted: Sequence[Ids], web: Web) -> dict[Ids, Paper]:
    """Return the records of DOIs, with one request for each."""
    found = {}
    for ids in wanted:
        url = f"{web.settings.address('datacite')}/dois/{quote(ids.doi, safe='')}"
        answer = web.get(url, allow={404}, check=_read_record, kept=True)
        if record := _read_record(answer):
            found[ids] = _to_paper(record)
    return found


def _read_record(answer: Answer) -> dict[str, Any]:
    """Return the record of an answer, {} for 404; raise `Unreachable` for any other answer."""
    if answer.status == 404:
        return {}
    record = to_dict(to_dict(to_dict(answer.json()).get("data")).get("attributes"))
    if not Ids.maybe(to_text(record.get("doi"))).doi:
        raise Unreachable("DataCite sent an answer that is not a record.", "Try again later.")
    return record


def _to_paper(record: Mapping[str, Any]) -> Paper:
    """Return the paper of a record; the journal of a work without one is its publisher."""
    place, kinds = to_dict(record.get("container")), to_dict(record.get("types"))
    publisher = record.get("publisher")
    abstracts = (
        row
        for row in to_dicts(record.get("descriptions"))
        if row.get("descriptionType") == "Abstract"
    )
    rights = to_dicts(record.get("rightsList"))
    pages = (to_text(place.get(name)) for name in ("firstPage", "lastPage"))
    return Paper(
        ids=Ids(doi=to_text(record.get("doi"))),
        title=strip_html(_get_first(to_dicts(record.get("titles")), "title")),
        abstract=strip_html(next((row.get("description") for row in abstracts), "")),
        authors=tuple(map(_to_author, to_dicts(record.get("creators")))),
        journal=to_short_text(place.get("title"))
        or to_short_text(to_dict(publisher).get("name") or publisher),
        volume=to_text(place.get("volume")),
        issue=to_text(place.get("issue")),
        pages="-".join(filter(None, pages)),
        published=_get_day(record),
        languages=tuple(filter(None, (to_text(record.get("language")),))),
        publication_types=tuple(filter(None, (to_text(kinds.get("resourceTypeGeneral")),))),
        license=_get_first(rights, "rightsUri") or _get_first(rights, "rights"),
    )


def _get_first(rows: Sequence[Mapping[str, Any]], name: str) -> str:
    """Return the first value that rows have under a name; "" if none has one."""
    return next(filter(None, (to_short_text(row.get(name)) for row in rows)), "")


def _get_day(record: Mapping[str, Any]) -> str:
    """Return the day of publication, or else its year."""
    days = (
        row.get("date") for row in to_dicts(record.get("dates")) if row.get("dateType") == "Issued"
    )
    year, day = to_text(record.get("publicationYear")), to_text(next(days, ""))[:10]
    return day if day.startswith(year) else year


def _to_author(row: Mapping[str, Any]) -> Author:
    """Return an author of a record."""
    family = to_text(row.get("familyName"))
    return Author(
        family=family,
        given=to_text(row.get("givenName")),
        collective="" if family else to_text(row.get("name")),
        orcid=_get_first(
            [
                one
                for one in to_dicts(row.get("nameIdentifiers"))
                if one.get("nameIdentifierScheme") == "ORCID"
            ],
            "nameIdentifier",
        ).rpartition("/")[2],
    )


SOURCE = Source(
    name="datacite",
    probe="/dois/10.5281/zenodo.31780",
    about="DataCite: records of DOIs that Crossref does not have",
    addresses=(Address("datacite", "https://api.datacite.org", "DataCite"),),
    kept_by="publishers",
    # 1,000 in five minutes for programs that state an e-mail address; kept to half of them.
    rates=(Rate("datacite", ("datacite",), every=0.6, in_flight=2),),
    lookup=Lookup(("doi",), 1, look_up_papers),
)
