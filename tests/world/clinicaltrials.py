"""ClinicalTrials.gov, API version 2: ``/studies`` page by page, and ``/version``.

The form is that of https://clinicaltrials.gov/data-api/api (``protocolSection`` with its modules,
``nextPageToken``, ``totalCount`` only with ``countTotal=true``), as clients record it:
tastyGranola/biomcp (docs/backend-services-reference/04-clinicaltrials-gov.md) and rfhb/ctrdata. A
fault of the question is one sentence of plain text with status 400.

Two of three articles of PubMed have a trial, which names it as its result or as background only.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from utils.demo.records import Record
from utils.demo.wire import TEXT, Call, Reply, as_json, text

if TYPE_CHECKING:
    from tests.world import World

_KNOWN = {"query.term", "filter.advanced", "sort", "fields", "pageSize", "pageToken", "countTotal"}
_RANGE = re.compile(r"AREA\[StudyFirstPostDate\]RANGE\[([^,]+),([^\]]+)\]")


def clinicaltrials(call: Call, world: World) -> Reply:
    """Answer ``/studies``: every word of the term must be in the title."""
    if call.path == "/version":
        return as_json({"apiVersion": "2.0.5", "dataTimestamp": "2026-11-20T09:00:05"})
    size = call.params.get("pageSize", "10")
    if unknown := sorted(set(call.params) - _KNOWN):
        return text(f"unknown parameter(s): {unknown[0]}", TEXT, 400)
    if not size.isdecimal() or int(size) > 1000:
        return text("`pageSize` must be between 0 and 1000", TEXT, 400)
    term = call.params.get("query.term", "")
    if term.count("(") != term.count(")"):
        return text("`query.term` has incorrect format", TEXT, 400)
    hits = [one for one in list_trials(world) if _matches(one, term, call)]
    start = int(call.params.get("pageToken", "0").removeprefix("page"))
    end = start + int(size)
    more = {"nextPageToken": f"page{end}"} if end < len(hits) else {}
    total = {"totalCount": len(hits)} if call.params.get("countTotal") == "true" else {}
    return as_json({**total, "studies": [_study(one) for one in hits[start:end]], **more})


def list_trials(world: World) -> list[Record]:
    """Return the articles of which there are trials."""
    every = [*world.taken_in(), *world.corpus.by_pmid.values()]
    return [one for one in every if one.kind == "article" and int(one.pmid) % 3 != 1]


def _matches(record: Record, term: str, call: Call) -> bool:
    title = f"trial of {record.plain_title}".lower()
    if limits := _RANGE.fullmatch(call.params.get("filter.advanced", "")):
        first, last = limits.groups()
        is_early = first != "MIN" and record.published < first
        if is_early or (last != "MAX" and record.published > last):
            return False
    return all(word in title for word in re.findall(r"\w+", term.lower()) if word != "and")


def _study(record: Record) -> dict[str, Any]:
    is_result = int(record.pmid) % 2 == 0
    kind = "RESULT" if is_result else "BACKGROUND"
    return {
        "protocolSection": {
            "identificationModule": {
                "nctId": f"NCT{record.pmid:0>8}",
                "briefTitle": record.plain_title,
                "officialTitle": f"A Randomised Trial of {record.plain_title}",
            },
            "statusModule": {
                "overallStatus": "COMPLETED",
                "studyFirstSubmitDate": record.published,
                "studyFirstPostDateStruct": {"date": record.published, "type": "ACTUAL"},
                "lastUpdatePostDateStruct": {"date": record.last_revised, "type": "ACTUAL"},
            },
            "sponsorCollaboratorsModule": {
                "leadSponsor": {"name": "Moss University Hospital", "class": "OTHER"}
            },
            "descriptionModule": {"briefSummary": f"This trial asks about {record.plain_title}."},
            "conditionsModule": {"conditions": ["Ripples"], "keywords": ["moss", "Ripples"]},
            "designModule": {"studyType": "INTERVENTIONAL", "phases": ["PHASE3"]},
            "referencesModule": {
                "references": [{"pmid": record.pmid, "type": kind, "citation": record.plain_title}]
            },
        },
        "hasResults": False,
    }
