"""The words PubMed knows: MeSH headings and their place in the tree, and ESpell's spelling.

MeSH: ``esearch`` and ``esummary`` with ``db=mesh``; ``efetch`` has no structured form for it. The
first of ``ds_meshterms`` is the heading, the others are entry terms; ``ds_idxlinks`` holds one
place in the tree each, with the identifiers of the terms above and below. Supplementary concepts
have none. Field names are those of NCBI's answers.

ESpell answers in XML only; no correction means that it has none.
https://www.ncbi.nlm.nih.gov/books/NBK25499/
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import BadContent
from ..http import Answer, Web
from ..readers.safe_xml import parse
from ..system.plain_text import one_line
from .eutils import ask, total_of
from .eutils_summaries import esummary
from .loose_json import mappings
from .pubmed import result_of

_SUMMARIES = 200
_REMEMBERED_DAYS = 7.0


@dataclass(frozen=True, slots=True)
class MeshTerm:
    """A MeSH record; ``parents`` and ``children`` are identifiers of NCBI, not of MeSH."""

    ui: str
    heading: str
    entry_terms: tuple[str, ...] = ()
    scope_note: str = ""
    tree_numbers: tuple[str, ...] = ()
    qualifiers: tuple[str, ...] = ()
    kind: str = ""
    year_introduced: str = ""
    parents: tuple[str, ...] = ()
    children: tuple[str, ...] = ()


def find_terms(text: str, most: int, web: Web) -> tuple[int, list[MeshTerm]]:
    """How many MeSH records fit *text*, and the first of them.

    Raises
    ------
    Unreachable
        NCBI did not answer.
    """
    params = {"db": "mesh", "retmode": "json", "term": text, "retmax": most}
    result = result_of(ask(web, "esearch", params, read=Answer.json).json())
    uids = [str(uid) for uid in result["idlist"]][:most]
    terms = fetch_terms(uids, web) if uids else {}
    return total_of(result), [terms[uid] for uid in uids if uid in terms]


def fetch_terms(uids: Sequence[str], web: Web) -> dict[str, MeshTerm]:
    """The records behind identifiers, by identifier; at most 200 in one request."""
    kept = web.cache.get_many("mesh", uids)
    known = {uid: row for uid, row in kept.items() if isinstance(row, dict)}
    wanted = [uid for uid in dict.fromkeys(uids) if uid not in known]
    for start in range(0, len(wanted), _SUMMARIES):
        batch = wanted[start : start + _SUMMARIES]
        params = {"db": "mesh", "retmode": "json", "id": ",".join(batch)}
        for uid, row in esummary(params, web).records.items():
            known[uid] = row
            web.cache.put("mesh", uid, row, _REMEMBERED_DAYS)
    return {uid: _term(uid, known[uid]) for uid in uids if uid in known}


def _term(uid: str, row: dict[str, Any]) -> MeshTerm:
    """Any field may be missing."""
    names = _texts(row.get("ds_meshterms"))
    places = mappings(row.get("ds_idxlinks"))
    numbers = [one_line(str(place.get("treenum") or "")) for place in places]
    return MeshTerm(
        ui=one_line(str(row.get("ds_meshui") or uid)),
        heading=names[0] if names else "",
        entry_terms=names[1:],
        scope_note=one_line(str(row.get("ds_scopenote") or "")),
        # Supplementary concepts have a number that is none: "@3065".
        tree_numbers=tuple(number for number in numbers if number and "@" not in number),
        qualifiers=_texts(row.get("ds_subheading")),
        kind=one_line(str(row.get("ds_recordtype") or "")),
        year_introduced=one_line(str(row.get("ds_yearintroduced") or "")),
        parents=_ids([place.get("parent") for place in places]),
        children=_ids([child for place in places for child in _values(place.get("children"))]),
    )


def _texts(value: object) -> tuple[str, ...]:
    return tuple(filter(None, (one_line(str(row)) for row in _values(value))))


def _values(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _ids(values: list[object]) -> tuple[str, ...]:
    found = (str(value) for value in values if str(value).isdecimal() and str(value) != "0")
    return tuple(dict.fromkeys(found))


def fetch_spelling(query: str, web: Web, database: str = "pubmed") -> tuple[str, tuple[str, ...]]:
    """The suggested spelling of a query, and the words put in; both empty for no suggestion.

    Raises
    ------
    Unreachable
        NCBI did not answer.
    """
    answer = ask(web, "espell", {"db": database, "term": query}, read=_root)
    root = _root(answer)
    replaced = tuple(one_line(node.text or "") for node in root.iterfind("SpelledQuery/Replaced"))
    return one_line(root.findtext("CorrectedQuery") or ""), tuple(filter(None, replaced))


def _root(answer: Answer) -> Any:
    root = parse(answer.body)
    if root.tag != "eSpellResult":
        msg = "What came is no answer of ESpell."
        raise BadContent(msg, verdict="error_page")
    return root
