"""From any of a paper's identifiers to the others: PMID, PMCID, DOI.

NCBI's converter only knows PMCIDs, so PubMed's own records connect the rest, and Europe PMC adds
what PubMed lacks. An identifier that is unknown is told apart from one that could not be asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from ..errors import BadRequest, NotFound, PaperError
from ..http import Web
from ..model.identifiers import Ids
from ..model.paper import Paper
from ..sources import Source
from ..system.plain_text import encodable, shortened
from .records import look_up

Status = Literal["found", "not_found", "invalid", "failed"]


@dataclass(frozen=True, slots=True)
class Converted:
    """The names of one paper; ``message`` says why they could not be had."""

    requested: str
    status: Status
    ids: Ids = field(default_factory=Ids)
    message: str = ""


def convert(texts: Sequence[str], web: Web, sources: Sequence[Source]) -> list[Converted]:
    """One outcome for each identifier, in the order given; any mix, in any spelling.

    The same one twice is answered twice, and asked about once.

    Raises
    ------
    BadRequest
        There is none, or all are malformed.
    Unreachable, NotConfigured
        Not one of them could be asked about.
    """
    if not texts:
        raise BadRequest("No identifier was given.", "Give PMIDs, PMCIDs or DOIs.")
    read = [_parse(text) for text in texts]
    wanted = list(dict.fromkeys(ids for ids in read if isinstance(ids, Ids)))
    known = look_up(wanted, web, list(filter(_knows_names, sources)))
    outcomes = [known[ids] if isinstance(ids, Ids) else ids for ids in read]
    answered = [one for one in outcomes if isinstance(one, Paper | NotFound)]
    troubles = [one for one in outcomes if isinstance(one, PaperError)]
    if not answered:
        # What could not be asked says more than what was malformed beside it.
        raise min(troubles, key=lambda one: isinstance(one, BadRequest))
    return list(map(_to_conversion, texts, outcomes))


def _knows_names(source: Source) -> bool:
    """Return whether a source's records connect PMIDs or PMCIDs with other identifiers."""
    return source.lookup is not None and not {"pmid", "pmcid"}.isdisjoint(source.lookup.by)


def _parse(text: str) -> Ids | BadRequest:
    """Read a PMID, PMCID or DOI; the error is the answer for anything else."""
    ids = Ids.try_parse(text)
    if isinstance(ids, Ids) and not (ids.pmid or ids.pmcid or ids.doi):
        msg = f"{shortened(text, 80)!r} is not a PMID, PMCID or DOI."
        return BadRequest(msg, "Give PMIDs, PMCIDs or DOIs.")
    return ids


def _to_conversion(text: str, outcome: Paper | PaperError) -> Converted:
    shown = shortened(encodable(text), 80)
    if isinstance(outcome, Paper):
        return Converted(shown, "found", outcome.ids)
    if isinstance(outcome, NotFound):
        return Converted(shown, "not_found", message=outcome.message)
    status: Status = "invalid" if isinstance(outcome, BadRequest) else "failed"
    return Converted(shown, status, message=outcome.message)
