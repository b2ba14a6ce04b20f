"""What is new about the records of a review: retracted, corrected, copies that are open now."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ..download.ladder import Ladder
from ..download.records import CROSSREF_ANEW, PUBMED_ANEW, look_up
from ..errors import NotConfigured, Unreachable
from ..http import not_older_than
from ..model.identifiers import Ids
from ..model.paper import Paper
from .ledger import Record

Outcome = Literal["retracted", "concern", "corrected", "new_copy"]
_OUTCOMES: dict[str, Outcome] = {
    "retraction": "retracted",
    "expression_of_concern": "concern",
    "erratum": "corrected",
    "republication": "corrected",
    "update": "corrected",
}

_NOBODY = Ids()


@dataclass(frozen=True, slots=True)
class News:
    """Something new about a record."""

    key: str
    outcome: Outcome
    title: str
    detail: str = ""


def looked_up_anew(records: Sequence[Record], ladder: Ladder) -> tuple[dict[str, Paper], list[str]]:
    """What PubMed, else Crossref, says of records now, by key; who could not tell of how many.

    No earlier answer is used. Who has neither PMID nor DOI cannot be asked about.
    """
    names = {record.key: record.paper.ids for record in records}
    wanted = {key: ids for key, ids in names.items() if ids.pmid or ids.doi}
    if not wanted:
        return {}, []
    with not_older_than(time.time()):
        found = look_up(
            list(dict.fromkeys(wanted.values())), ladder.web, [PUBMED_ANEW, CROSSREF_ANEW]
        )
    told: dict[str, Paper] = {}
    silent: Counter[str] = Counter()
    for record in records:
        paper = found.get(wanted.get(record.key, _NOBODY))
        if isinstance(paper, Unreachable | NotConfigured):
            silent[str(paper.details.get("said") or paper.message)] += 1
        if isinstance(paper, Paper):
            told[record.key] = _merged(record.paper, paper)
    return told, [
        f"{n:,} {'record' if n == 1 else 'records'} could not be asked about: {why}"
        for why, n in silent.items()
    ]


def _merged(before: Paper, after: Paper) -> Paper:
    """The new record, with what only the old one knew."""
    notices = dict.fromkeys((*after.notices, *before.notices))
    return replace(
        after,
        ids=after.ids | before.ids,
        title=after.title or before.title,
        abstract=after.abstract or before.abstract,
        notices=tuple(notices),
    )


def changes(records: Sequence[Record], renewed: Mapping[str, Paper]) -> list[News]:
    """How records differ from what was known of them."""
    made: list[News] = []
    for record in records:
        before, after = record.paper, renewed.get(record.key)
        if after is None:
            continue
        made += [
            News(record.key, _OUTCOMES[notice.kind], after.title, notice.reference)
            for notice in after.notices
            if notice not in before.notices and notice.kind in _OUTCOMES
        ]
        noticed = any(one.key == record.key and one.outcome == "retracted" for one in made)
        if after.retracted and not before.retracted and not noticed:
            made.append(News(record.key, "retracted", after.title))
        if after.ids.pmcid and not before.ids.pmcid:
            made.append(News(record.key, "new_copy", after.title, after.ids.pmcid))
    return made
