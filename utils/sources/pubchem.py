"""Look up chemical compounds in PubChem: properties, names, and papers about them.

Through PUG REST. Values go in the form of a POST wherever PubChem takes one: names and SMILES hold
slashes and question marks. Every answer says how busy we and PubChem are, and all processes of this
user heed it. A slow search is answered with a key, with which the list is polled; the key outlives
the call that got it, so that the same search goes on waiting where the last call stopped, and
PubChem does the work once. An unknown name gets suggestions from PubChem's list of names.

https://pubchem.ncbi.nlm.nih.gov/docs/pug-rest
https://pubchem.ncbi.nlm.nih.gov/docs/dynamic-request-throttling
https://pubchem.ncbi.nlm.nih.gov/docs/auto-complete
"""

from __future__ import annotations

import hashlib
import math
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from typing import Any, Literal
from urllib.parse import quote

from ..errors import BadRequest, RefusedRequest, Unreachable
from ..http import Answer, Rate, Web
from ..model.site import Address
from ..system.plain_text import one_line
from .loose_json import to_count, to_dict, to_dicts, to_text
from .source import Source

_MAX_BYTES = 16 * 1024 * 1024  # the PubMed identifiers of the best known compounds take 1
_NOT_FOUND, _BAD = "PUGREST.NotFound", "PUGREST.BadRequest"
_STATUS = re.compile(r"status:\s*(yellow|red|black)", re.I)
Member = Literal["IdentifierList", "PropertyTable", "InformationList"]
# Seconds. Counts run by the minute: yellow (half of what is allowed) leaves 60 of 400, red (three
# quarters) lets a part of the minute pass; black is blocked "for a period of time".
_COOLDOWN_BY_STATE_S = {"yellow": 1.0, "red": 15.0, "black": 120.0}
Kind = Literal["name", "cid", "smiles", "inchi", "inchikey"]
_MAX_STRUCTURE_CHARS = 5000  # characters of a structure; proteins drawn atom by atom have more
_CACHE_DAYS = 7.0
_SHORT_CACHE_DAYS = 1.0  # for what is added to every day: new names, new papers
# "SMILES" and "ConnectivitySMILES" are what "IsomericSMILES" and "CanonicalSMILES" were until 2025.
_PROPERTIES = (
    "Title,MolecularFormula,MolecularWeight,ExactMass,IUPACName,SMILES,ConnectivitySMILES,InChI,"
    "InChIKey,XLogP,TPSA,Complexity,Charge,HBondDonorCount,HBondAcceptorCount,RotatableBondCount,"
    "HeavyAtomCount"
)
Relation = Literal["similar", "substructure", "superstructure"]
MAX_HITS = 1000
"""Hits requested of a search; PubChem itself would list two million."""
_PATHS: Mapping[Relation, str] = {
    "similar": "similarity",
    "substructure": "substructure",
    "superstructure": "superstructure",
}
_POLL_PAUSES_S = (1.0, 2.0, 3.0, 5.0, 8.0, 8.0, 8.0)
_KEY = re.compile(r"[\w-]{1,64}", re.A)  # digits so far
_KEY_DAYS = 1 / 24  # PubChem keeps it longer, and does not say how long
_LIST_DAYS = 1.0
_MAX_NAMES = 100
_MAX_NAME_CHARS = 100  # characters of a name that is looked for, or shown
_MIN_SIMILARITY = 0.6  # of 1, by difflib; "asprin" and "aspirin" have 0.92


def parse_cooldown(headers: Mapping[str, str]) -> float:
    """Return the seconds of cooldown in ``X-Throttling-Control``: the worst of its three states.

    >>> parse_cooldown({"X-Throttling-Control": "Request Count status: Green (0%), "
    ...     "Request Time status: Yellow (61%), Service status: Green (20%)"})
    1.0
    """
    header = headers.get("X-Throttling-Control") or ""
    return max(
        (_COOLDOWN_BY_STATE_S[state.lower()] for state in _STATUS.findall(header[:1000])),
        default=0.0,
    )


# The limits are 5 a second and 400 a minute: at this distance neither is reached.
RATE = Rate(
    bucket="pubchem",
    services=("pubchem", "pubchem_autocomplete"),
    every=0.22,
    in_flight=5,
    asked=parse_cooldown,
)


def request_json(
    web: Web, member: Member, path: str, form: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Return PubChem's answer as JSON; {} if PubChem has no such record.

    Parameters
    ----------
    web : Web
    member : str
        What a good answer holds, unless it is still ``LongCalls``; an answer without it must not be
        taken for *nothing found*.
    path : str
        What follows ``/rest/pug/``.
    form : Mapping, optional
        What to POST; without one the request is a GET.

    Raises
    ------
    BadRequest
        PubChem cannot read the value.
    Unreachable
        It is down, busy, or asks for a pause.
    """
    url = f"{web.settings.address('pubchem')}/{path}"
    check = partial(_check_answer, member)
    options: dict[str, Any] = {"allow": {400, 404}, "check": check, "limit": _MAX_BYTES}
    answer = web.post(url, form, **options) if form else web.get(url, **options)
    reply = to_dict(answer.json())
    code, message = _read_fault(reply)
    if code == _BAD:
        raise RefusedRequest(f"PubChem cannot read the query: {message}.")
    return {} if code == _NOT_FOUND else reply


def _check_answer(member: Member, answer: Answer) -> None:
    """Raise for a fault that is not about the request, whatever its status."""
    reply = to_dict(answer.json())
    code, message = _read_fault(reply)
    sound = answer.status < 400 and any(to_dict(reply.get(name)) for name in (member, "Waiting"))
    if code not in (_NOT_FOUND, _BAD) and (code or not sound):
        msg = f"PubChem reported an internal error: {message or 'no explanation'}."
        raise Unreachable(msg, "Try again in a minute.", status=answer.status)


def _read_fault(reply: Mapping[str, Any]) -> tuple[str, str]:
    """Return code and message of a fault, with its last detail; both empty without a fault.

    >>> _read_fault({"Fault": {"Code": "PUGREST.NotFound", "Message": "No CID", "Details": ["a"]}})
    ('PUGREST.NotFound', 'No CID: a')
    """
    fault = to_dict(reply.get("Fault"))
    details = fault.get("Details")
    last = (
        [words for row in details if (words := to_text(row))][-1:] if type(details) is list else []
    )
    message = one_line(": ".join(filter(None, [to_text(fault.get("Message")), *last])))
    return to_text(fault.get("Code")), message[:300].rstrip(".? ")


SOURCE = Source(
    name="pubchem",
    probe="/compound/cid/2244/property/MolecularFormula/JSON",
    about="PubChem: compounds, their properties and names, and the papers about them",
    addresses=(
        Address("pubchem", "https://pubchem.ncbi.nlm.nih.gov/rest/pug", "PubChem PUG REST"),
        Address(
            "pubchem_autocomplete",
            "https://pubchem.ncbi.nlm.nih.gov/rest/autocomplete",
            "PubChem's list of names",
        ),
    ),
    rates=(RATE,),
)


@dataclass(frozen=True, slots=True)
class Compound:
    """One compound; values that PubChem lacks are empty or None.

    ``weight`` and ``exact_mass`` in g/mol and Da, ``tpsa`` (polar surface) in square angstroms.
    ``smiles`` tells stereoisomers apart, ``connectivity_smiles`` does not.
    """

    cid: str
    title: str = ""
    formula: str = ""
    weight: float | None = None
    exact_mass: float | None = None
    iupac_name: str = ""
    smiles: str = ""
    connectivity_smiles: str = ""
    inchi: str = ""
    inchikey: str = ""
    xlogp: float | None = None
    tpsa: float | None = None
    complexity: float | None = None
    charge: int | None = None
    donors: int | None = None
    acceptors: int | None = None
    rotatable_bonds: int | None = None
    heavy_atoms: int | None = None

    @property
    def url(self) -> str:
        """The address of its page, for people."""
        return f"https://pubchem.ncbi.nlm.nih.gov/compound/{self.cid}"


def find_compounds(kind: Kind, structure: str, web: Web) -> tuple[str, ...]:
    """Return the CIDs of a name or structure, the best first; none if it is unknown.

    Raises
    ------
    BadRequest
        PubChem cannot read the text.
    Unreachable
        It did not answer.
    """
    name = f"{kind}:{hashlib.sha256(structure.encode()).hexdigest()}"
    if (kept := web.cache.get("pubchem cids", name)) is not None:
        return to_distinct_cids(kept)
    found = read_cids(
        request_json(web, "IdentifierList", f"compound/{kind}/cids/JSON", {kind: structure})
    )
    web.cache.put("pubchem cids", name, found, _CACHE_DAYS if found else _SHORT_CACHE_DAYS)
    return found


def read_cids(reply: dict[str, Any]) -> tuple[str, ...]:
    """Return the CIDs in an answer; a valid but unknown structure has the CID 0."""
    return to_distinct_cids(to_dict(reply.get("IdentifierList")).get("CID"))


def to_distinct_cids(values: object) -> tuple[str, ...]:
    """Return the distinct CIDs among *values*, in their order."""
    rows = values if isinstance(values, list) else []
    return tuple(dict.fromkeys(str(cid) for row in rows if (cid := to_count(row))))


def fetch_compounds(cids: Sequence[str], web: Web) -> dict[str, Compound]:
    """Return the compounds of *cids* that PubChem has, by CID."""
    kept = web.cache.get_many("pubchem", cids)
    missing = [cid for cid in cids if cid not in kept]
    rows = {**kept, **(_fetch_properties(missing, web) if missing else {})}
    return {cid: _to_compound(cid, to_dict(rows[cid])) for cid in cids if cid in rows}


def _fetch_properties(cids: Sequence[str], web: Web) -> dict[str, dict[str, Any]]:
    """Return the properties of compounds by CID; skip unknown compounds."""
    path = f"compound/cid/property/{_PROPERTIES}/JSON"
    reply = request_json(web, "PropertyTable", path, {"cid": ",".join(cids)})
    if not reply and len(cids) > 1:  # one that does not exist must not hide the others
        half = len(cids) // 2
        return {**_fetch_properties(cids[:half], web), **_fetch_properties(cids[half:], web)}
    found = to_dicts(to_dict(reply.get("PropertyTable")).get("Properties"))
    # A row that holds a CID and nothing else is of no compound.
    rows = {to_text(row.get("CID")): row for row in found if len(row) > 1}
    rows = {cid: rows[cid] for cid in cids if cid in rows}
    for cid, row in rows.items():
        web.cache.put("pubchem", cid, row, _CACHE_DAYS)
    return rows


def fetch_synonyms(cid: str, web: Web) -> tuple[str, ...]:
    """Return the names of a compound by depositors, the usual ones first."""
    values = _fetch_compound_list(cid, "synonyms", "Synonym", _CACHE_DAYS, web)
    return tuple(dict.fromkeys(name for one in values if (name := to_text(one)[:500])))


def fetch_pmids(cid: str, web: Web) -> tuple[str, ...]:
    """Return the PMIDs that are linked to a compound, the newest (largest) first."""
    values = _fetch_compound_list(cid, "xrefs/PubMedID", "PubMedID", _SHORT_CACHE_DAYS, web)
    pmids = {pmid for one in values if (pmid := to_count(one))}
    return tuple(str(pmid) for pmid in sorted(pmids, reverse=True))


def _fetch_compound_list(
    cid: str, what: str, member: str, days: float, web: Web
) -> Iterable[object]:
    """Return a list of a compound's values; empty if the compound is unknown."""
    if (kept := web.cache.get(f"pubchem {what}", cid)) is not None:
        return kept if isinstance(kept, list) else []
    reply = request_json(web, "InformationList", f"compound/cid/{what}/JSON", {"cid": cid})
    rows = to_dicts(to_dict(reply.get("InformationList")).get("Information"))
    lists = (row.get(member) for row in rows if to_text(row.get("CID")) == cid)
    found = [one for values in lists if isinstance(values, list) for one in values]
    web.cache.put(f"pubchem {what}", cid, found, days)
    return found


def _to_compound(cid: str, row: dict[str, Any]) -> Compound:
    """Return the compound of a row of properties."""
    return Compound(
        cid,
        title=_to_bounded_text(row.get("Title")),
        formula=_to_bounded_text(row.get("MolecularFormula")),
        weight=_to_number(row.get("MolecularWeight")),
        exact_mass=_to_number(row.get("ExactMass")),
        iupac_name=_to_bounded_text(row.get("IUPACName")),
        smiles=_to_bounded_text(row.get("SMILES")),
        connectivity_smiles=_to_bounded_text(row.get("ConnectivitySMILES")),
        inchi=_to_bounded_text(row.get("InChI")),
        inchikey=_to_bounded_text(row.get("InChIKey")),
        xlogp=_to_number(row.get("XLogP")),
        tpsa=_to_number(row.get("TPSA")),
        complexity=_to_number(row.get("Complexity")),
        charge=_to_integer(row.get("Charge")),
        donors=to_count(row.get("HBondDonorCount")),
        acceptors=to_count(row.get("HBondAcceptorCount")),
        rotatable_bonds=to_count(row.get("RotatableBondCount")),
        heavy_atoms=to_count(row.get("HeavyAtomCount")),
    )


def _to_bounded_text(value: object) -> str:
    """Return one line of text; "" for too long a text, as part of a structure is another one."""
    words = to_text(value)
    return words if len(words) <= _MAX_STRUCTURE_CHARS else ""


def _to_number(value: object) -> float | None:
    """Return a finite number, sent as number or digits (as masses are since 2021)."""
    if isinstance(value, bool) or not isinstance(value, int | float | str) or len(str(value)) > 30:
        return None
    try:
        number = float(value)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _to_integer(value: object) -> int | None:
    """Return a whole number; None for any other value."""
    number = _to_number(value)
    return int(number) if number is not None and number.is_integer() else None


def find_related_compounds(
    relation: Relation, kind: str, structure: str, web: Web
) -> tuple[str, ...]:
    """Return the CIDs of up to `MAX_HITS` compounds related to a structure.

    *kind* is ``cid``, ``smiles`` or ``inchi``; ``similar`` is 2-D similarity of at least 95 %.

    Raises
    ------
    BadRequest
        PubChem cannot read the structure.
    Unreachable
        It did not answer, or is not ready yet; the same search later goes on.
    """
    path = f"compound/{_PATHS[relation]}/{kind}"
    options = f"MaxRecords={MAX_HITS}" + "&Threshold=95" * (relation == "similar")
    if kind == "cid":
        return _search_cids(f"{path}/{structure}/cids/JSON?{options}", None, web)
    return _search_cids(f"{path}/cids/JSON?{options}", {kind: structure}, web)


def find_compounds_by_formula(formula: str, web: Web) -> tuple[str, ...]:
    """Return the CIDs of up to `MAX_HITS` compounds with a molecular formula."""
    return _search_cids(f"compound/formula/{formula}/cids/JSON?MaxRecords={MAX_HITS}", None, web)


def _search_cids(path: str, form: Mapping[str, str] | None, web: Web) -> tuple[str, ...]:
    """Return the CIDs of a search, which PubChem may finish later."""
    name = hashlib.sha256(f"{path} {form}".encode()).hexdigest()
    if (kept := web.cache.get("pubchem list", name)) is not None:
        return to_distinct_cids(kept)
    found = _wait_for_list(
        name, _resume_search(name, web) or request_json(web, "IdentifierList", path, form), web
    )
    web.cache.put("pubchem list", name, found, _LIST_DAYS)
    return found


def _resume_search(name: str, web: Web) -> dict[str, Any]:
    """Poll the search of an earlier call; {} if PubChem no longer has such a search."""
    key = to_text(web.cache.get("pubchem key", name))
    if not _KEY.fullmatch(key):
        return {}
    try:
        return _poll_list(key, web)
    except BadRequest:
        return {}


def _wait_for_list(name: str, reply: dict[str, Any], web: Web) -> tuple[str, ...]:
    """Poll until PubChem has the list, and return its CIDs."""
    for pause in _POLL_PAUSES_S:
        if not (key := _read_list_key(reply)):
            return read_cids(reply)
        web.cache.put("pubchem key", name, key, _KEY_DAYS)
        time.sleep(pause)
        reply = _poll_list(key, web)
    if not _read_list_key(reply):
        return read_cids(reply)
    msg = f"PubChem has been searching for {sum(_POLL_PAUSES_S):.0f} s and is not ready yet."
    raise Unreachable(msg, "Repeat the same request in a minute: PubChem goes on with the search.")


def _read_list_key(reply: dict[str, Any]) -> str:
    """Return the key of a running search; "" when it is finished.

    Raises
    ------
    Unreachable
        It is under way, and its key cannot be read.
    """
    if "Waiting" not in reply:
        return ""
    key = to_text(to_dict(reply["Waiting"]).get("ListKey"))
    if _KEY.fullmatch(key):
        return key
    msg = "PubChem began to search, and gave no key with which to ask for the result."
    raise Unreachable(msg, "Try again in a minute.")


def _poll_list(key: str, web: Web) -> dict[str, Any]:
    """Return the present answer for the key of a search."""
    return request_json(web, "IdentifierList", f"compound/listkey/{key}/cids/JSON")


def find_similar_names(name: str, web: Web, most: int = 3) -> tuple[str, ...]:
    """Return up to *most* names in PubChem that resemble *name*, the most similar first.

    PubChem finds names that contain the text, so that a slip finds nothing: then the first half is
    looked for, which may be without the slip.

    Raises
    ------
    NotAvailable, Unreachable
        It did not answer.
    """
    wanted = " ".join(name.replace("/", " ").split())[:_MAX_NAME_CHARS].lower()
    begins = wanted[: max(3, len(wanted) // 2)]
    known = _fetch_names(wanted, web) or (_fetch_names(begins, web) if begins != wanted else {})
    alike = get_close_matches(wanted, known, n=most, cutoff=_MIN_SIMILARITY)
    return tuple(known[one] for one in alike)


def _fetch_names(part: str, web: Web) -> dict[str, str]:
    """Return the names that contain *part*, by their lower-case form."""
    url = f"{web.settings.address('pubchem_autocomplete')}/compound/{quote(part, safe='')}/json"
    reply = to_dict(web.get(url, {"limit": _MAX_NAMES}).json())
    names = to_dict(reply.get("dictionary_terms")).get("compound")
    shown = (to_text(name) for name in (names if isinstance(names, list) else []))
    return {name.lower(): name for name in shown if 0 < len(name) <= _MAX_NAME_CHARS}
