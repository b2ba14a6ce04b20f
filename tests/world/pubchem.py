"""PubChem: PUG REST, its list keys and its traffic lights, and the list of names beside it.

Real compounds, as PubChem describes them in 2026, and a crowd of invented ones that all hold a
chain of six carbons. Chemistry is looked up here, not done: what is like what, and what holds what,
is written down.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.world.pubchem_compounds import COMPOUNDS, CROWD, Known, compound
from utils.demo.wire import HTML, Call, Reply, as_json, text

if TYPE_CHECKING:
    from tests.world import World

LARGEST_CID = 2**31 - 1
_ROUTES = (
    ("called", r"compound/(name|smiles|inchi|inchikey|cid)(?:/([^/]+))?/cids"),
    ("properties", r"compound/(cid)(?:/([\d,]+))?/property/([\w,]+)"),
    ("information", r"compound/(cid)(?:/([\d,]+))?/(synonyms|xrefs/PubMedID)"),
    ("related", r"compound/(similarity|substructure|superstructure)/(\w+)(?:/([^/]+))?/cids"),
    ("formula", r"compound/(formula)/([A-Za-z0-9]+)/cids"),
    ("listed", r"compound/(listkey)/([^/]+)/cids"),
)
_STANDARDIZE = (
    "Unable to standardize the given structure - perhaps some special characters need to be "
    "escaped or data packed in a MIME form?"
)
_LOG = (
    "error: ", "status: 400", "output: Caught ncbi::CException: Standardization failed",
    "Output Log:", "Record 1: Warning: Cactvs Ensemble cannot be created from input string",
    "Record 1: Error: Unable to convert input into a compound object", "",
)  # fmt: skip


@dataclass
class Bench:
    """Searches under way: how often each must still be asked for, and what it will come to.

    ``polls``: so often a new search is *not ready yet*.
    """

    polls: int = 2
    searches: dict[str, list[Any]] = field(default_factory=dict)

    def begin(self, cids: list[int]) -> str:
        """The key of a new search."""
        key = str(3_608_155_217_000_000_000 + len(self.searches))
        self.searches[key] = [self.polls, cids]
        return key


def lights(count: str = "Green (0%)") -> dict[str, str]:
    """The traffic lights every answer carries."""
    told = f"Request Count status: {count}, Request Time status: Green (0%), "
    return {"X-Throttling-Control": f"{told}Service status: Green (20%)"}


def pubchem(call: Call, world: World) -> Reply:
    """``/compound/…/JSON``; what is asked for stands in the path, or in a form."""
    reply = _answer(call, world)
    reply.headers |= lights()
    return reply


def _answer(call: Call, world: World) -> Reply:
    path = call.path.strip("/")
    if not path.endswith("/JSON"):
        return fault("BadRequest", "Invalid output format", 400)
    for name, pattern in _ROUTES:
        if match := re.fullmatch(pattern, path.removesuffix("/JSON")):
            reply: Reply = _ANSWERS[name](call, world, *match.groups())
            return reply
    return fault("BadRequest", "Invalid operation", 400)


def fault(code: str, message: str, status: int, *details: str) -> Reply:
    """An error as PUG REST words it."""
    told: dict[str, Any] = {"Code": f"PUGREST.{code}", "Message": message}
    if details:
        told["Details"] = list(details)
    return as_json({"Fault": told}, status)


def _called(call: Call, world: World, kind: str, given: str | None) -> Reply:
    asked = (given or call.params.get(kind, "")).strip()
    if kind == "smiles" and not _drawn(asked):
        return fault("BadRequest", _STANDARDIZE, 400, *_LOG)
    found = [one.cid for one in COMPOUNDS.values() if _is_called(one, kind, asked)]
    if found or kind in ("smiles", "inchi"):
        return _identifiers(found or [0])  # a sound structure that nobody deposited
    return _not_found(kind)


def _is_called(one: Known, kind: str, asked: str) -> bool:
    if kind == "name":
        return asked.lower() in (name.lower() for name in one.names)
    if kind == "smiles":
        return asked in (one.smiles, one.flat, *one.drawings)
    return asked == {"inchi": one.inchi, "inchikey": one.inchikey, "cid": str(one.cid)}[kind]


def _drawn(smiles: str) -> bool:
    """Whether a SMILES can be read, as far as brackets, letters and rings tell."""
    rings = re.findall(r"\d", re.sub(r"\[[^]]*\]", "", smiles))
    return bool(
        re.fullmatch(r"(?:\[[^\[\]]+\]|Br|Cl|[BCNOPSFIbcnops]|[-=#$:/\\.%()@\d])+", smiles)
        and smiles.count("(") == smiles.count(")")
        and all(rings.count(ring) % 2 == 0 for ring in rings)
    )


def _properties(call: Call, world: World, _: str, given: str | None, names: str) -> Reply:
    wanted = names.split(",")
    if unknown := [name for name in wanted if name not in Known.PROPERTIES]:
        return fault("BadRequest", f"Invalid property: {unknown[0]}", 400)
    rows = []
    for cid in (given or call.params.get("cid", "")).split(","):
        if not cid.isdigit() or not 0 < int(cid) <= LARGEST_CID:
            return fault("BadRequest", "Invalid ID, must be positive integer", 400)
        if (known := compound(int(cid))) is None:
            return _not_found("CID")
        row = known.properties()
        rows.append({"CID": known.cid} | {name: row[name] for name in wanted if name in row})
    return as_json({"PropertyTable": {"Properties": rows}})


def _information(call: Call, world: World, _: str, given: str | None, what: str) -> Reply:
    cid = given or call.params.get("cid", "")
    known = compound(int(cid)) if cid.isdigit() else None
    if known is None:
        return _not_found("CID")
    values: list[Any] = list(known.names)
    if what != "synonyms":
        values = [int(paper.pmid) for paper in world.papers[: known.papers] if paper.pmid]
    row: dict[str, Any] = {"CID": known.cid}
    if values:
        row["Synonym" if what == "synonyms" else "PubMedID"] = values
    return as_json({"InformationList": {"Information": [row]}})


def _related(call: Call, world: World, relation: str, kind: str, given: str | None) -> Reply:
    asked = given or call.params.get(kind, "")
    if kind == "smiles" and not _drawn(asked):
        return fault("BadRequest", _STANDARDIZE, 400, *_LOG)
    itself = next((one for one in COMPOUNDS.values() if _is_called(one, kind, asked)), None)
    drawing = itself.flat if itself else asked
    found = [] if itself is None else [itself.cid]
    if relation == "similarity":
        found += itself.like if itself else ()
    elif relation == "substructure":
        found += [one.cid for one in COMPOUNDS.values() if drawing in one.holds]
        found += range(*CROWD) if drawing == "CCCCCC" else ()
    else:
        found += [one.cid for one in COMPOUNDS.values() if itself and one.flat in itself.holds]
    return _waiting(call, world, found)


def _formula(call: Call, world: World, _: str, formula: str) -> Reply:
    return _waiting(call, world, [c.cid for c in COMPOUNDS.values() if c.formula == formula])


def _waiting(call: Call, world: World, found: list[int]) -> Reply:
    most = int(call.params.get("MaxRecords", "2000000"))
    with world.lock:
        key = world.pubchem.begin(found[:most])
    return _not_ready(key)


def _not_ready(key: str) -> Reply:
    return as_json({"Waiting": {"ListKey": key, "Message": "Your request is running"}}, 202)


def _listed(call: Call, world: World, _: str, key: str) -> Reply:
    with world.lock:
        search = world.pubchem.searches.get(key)
        if search is None:
            return fault("BadRequest", "Invalid list key", 400)
        search[0] -= 1
        polls, cids = search
    if polls >= 0:
        return _not_ready(key)
    return _identifiers(cids) if cids else _not_found("formula")


def _identifiers(cids: list[int]) -> Reply:
    return as_json({"IdentifierList": {"CID": cids}})


def _not_found(kind: str) -> Reply:
    detail = f"No CID found that matches the given {kind}"
    return fault("NotFound", "No CID found", 404, detail)


_ANSWERS: dict[str, Any] = {
    "called": _called, "properties": _properties, "information": _information, "related": _related,
    "formula": _formula, "listed": _listed,
}  # fmt: skip


def autocomplete(call: Call, world: World) -> Reply:
    """``/compound/{part of a name}/json?limit=``: names that hold it, the usual ones first."""
    match = re.fullmatch(r"/compound/(.+)/json", call.path, re.I)
    reply = text("<html><h1>404 Not Found</h1></html>", HTML, 404)
    if match:
        reply = as_json(_names_with(match[1].lower(), int(call.params.get("limit", "10"))))
    reply.headers |= lights()
    return reply


def _names_with(part: str, most: int) -> dict[str, Any]:
    names = [name for one in COMPOUNDS.values() for name in one.names]
    found = [name for name in names if part in name.lower()][:most]
    told: dict[str, Any] = {"status": {"code": 0}, "total": len(found)}
    return told | ({"dictionary_terms": {"compound": found}} if found else {})
