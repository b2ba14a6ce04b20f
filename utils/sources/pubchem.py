"""PubChem: chemical compounds, their properties and names, and the papers of PubMed about them.

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
from .loose_json import mapping, mappings, text, whole
from .source import Source

_MOST_BYTES = 16 * 1024 * 1024  # the PubMed identifiers of the best known compounds take 1
_NOT_FOUND, _BAD = "PUGREST.NotFound", "PUGREST.BadRequest"
_STATUS = re.compile(r"status:\s*(yellow|red|black)", re.I)
Member = Literal["IdentifierList", "PropertyTable", "InformationList"]
# Seconds. Counts run by the minute: yellow (half of what is allowed) leaves 60 of 400, red (three
# quarters) lets a part of the minute pass; black is blocked "for a period of time".
_STAY_AWAY = {"yellow": 1.0, "red": 15.0, "black": 120.0}
Kind = Literal["name", "cid", "smiles", "inchi", "inchikey"]
_LONGEST = 5000  # characters of a structure; proteins drawn atom by atom have more
_DAYS = 7.0
_DAY = 1.0  # for what is added to every day: new names, new papers
# "SMILES" and "ConnectivitySMILES" are what "IsomericSMILES" and "CanonicalSMILES" were until 2025.
_PROPERTIES = (
    "Title,MolecularFormula,MolecularWeight,ExactMass,IUPACName,SMILES,ConnectivitySMILES,InChI,"
    "InChIKey,XLogP,TPSA,Complexity,Charge,HBondDonorCount,HBondAcceptorCount,RotatableBondCount,"
    "HeavyAtomCount"
)
Relation = Literal["similar", "substructure", "superstructure"]
MOST = 1000
"""Hits requested of a search; PubChem itself would list two million."""
_PATHS: Mapping[Relation, str] = {
    "similar": "similarity",
    "substructure": "substructure",
    "superstructure": "superstructure",
}
_PAUSES = (1.0, 2.0, 3.0, 5.0, 8.0, 8.0, 8.0)
_KEY = re.compile(r"[\w-]{1,64}", re.A)  # digits so far
_DAYS_OF_A_KEY = 1 / 24  # PubChem keeps it longer, and does not say how long
_DAYS_OF_A_LIST = 1.0
_MOST = 100
_LONGEST_NAME = 100  # characters of a name that is looked for, or shown
_ALIKE = 0.6  # of 1, by difflib; "asprin" and "aspirin" have 0.92


def stay_away(headers: Mapping[str, str]) -> float:
    """Seconds that ``X-Throttling-Control`` asks us to wait: the worst of its three states.

    >>> stay_away({"X-Throttling-Control": "Request Count status: Green (0%), "
    ...     "Request Time status: Yellow (61%), Service status: Green (20%)"})
    1.0
    """
    header = headers.get("X-Throttling-Control") or ""
    return max((_STAY_AWAY[state.lower()] for state in _STATUS.findall(header[:1000])), default=0.0)


# The limits are 5 a second and 400 a minute: at this distance neither is reached.
RATE = Rate(
    bucket="pubchem",
    services=("pubchem", "pubchem_autocomplete"),
    every=0.22,
    in_flight=5,
    asked=stay_away,
)


def ask(
    web: Web, member: Member, path: str, form: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """PubChem's answer as JSON; empty where it says that there is no such record.

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
        It is down, busy, or wants to be left alone.
    """
    url = f"{web.settings.address('pubchem')}/{path}"
    check = partial(_complain, member)
    options: dict[str, Any] = {"allow": {400, 404}, "check": check, "limit": _MOST_BYTES}
    answer = web.post(url, form, **options) if form else web.get(url, **options)
    reply = mapping(answer.json())
    code, message = _fault(reply)
    if code == _BAD:
        raise RefusedRequest(f"PubChem cannot read what it was asked: {message}.")
    return {} if code == _NOT_FOUND else reply


def _complain(member: Member, answer: Answer) -> None:
    """Raise for a fault that is not about the request, whatever its status."""
    reply = mapping(answer.json())
    code, message = _fault(reply)
    sound = answer.status < 400 and any(mapping(reply.get(name)) for name in (member, "Waiting"))
    if code not in (_NOT_FOUND, _BAD) and (code or not sound):
        msg = f"PubChem had trouble of its own: {message or 'an answer without a meaning'}."
        raise Unreachable(msg, "Try again in a minute.", status=answer.status)


def _fault(reply: Mapping[str, Any]) -> tuple[str, str]:
    """Code and message of a fault, with its last detail; both empty where there is none.

    >>> _fault({"Fault": {"Code": "PUGREST.NotFound", "Message": "No CID found", "Details": ["a"]}})
    ('PUGREST.NotFound', 'No CID found: a')
    """
    fault = mapping(reply.get("Fault"))
    details = fault.get("Details")
    last = [words for row in details if (words := text(row))][-1:] if type(details) is list else []
    message = one_line(": ".join(filter(None, [text(fault.get("Message")), *last])))
    return text(fault.get("Code")), message[:300].rstrip(".? ")


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
    """One compound; what PubChem does not say is empty or None.

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
        """Its page, for people."""
        return f"https://pubchem.ncbi.nlm.nih.gov/compound/{self.cid}"


def find_compounds(kind: Kind, structure: str, web: Web) -> tuple[str, ...]:
    """The CIDs of a name or structure, the best first; none when PubChem has no such compound.

    Raises
    ------
    BadRequest
        PubChem cannot read the text.
    Unreachable
        It did not answer.
    """
    name = f"{kind}:{hashlib.sha256(structure.encode()).hexdigest()}"
    if (kept := web.cache.get("pubchem cids", name)) is not None:
        return cids_of(kept)
    found = cids_listed(ask(web, "IdentifierList", f"compound/{kind}/cids/JSON", {kind: structure}))
    web.cache.put("pubchem cids", name, found, _DAYS if found else _DAY)
    return found


def cids_listed(reply: dict[str, Any]) -> tuple[str, ...]:
    """The CIDs in an answer. A structure that is sound but unknown has the CID 0."""
    return cids_of(mapping(reply.get("IdentifierList")).get("CID"))


def cids_of(values: object) -> tuple[str, ...]:
    """The CIDs among *values*, each once, in their order."""
    rows = values if isinstance(values, list) else []
    return tuple(dict.fromkeys(str(cid) for row in rows if (cid := whole(row))))


def fetch_compounds(cids: Sequence[str], web: Web) -> dict[str, Compound]:
    """The compounds of *cids*, by CID, as far as PubChem has them."""
    kept = web.cache.get_many("pubchem", cids)
    missing = [cid for cid in cids if cid not in kept]
    rows = {**kept, **(_fetch(missing, web) if missing else {})}
    return {cid: _compound(cid, mapping(rows[cid])) for cid in cids if cid in rows}


def _fetch(cids: Sequence[str], web: Web) -> dict[str, dict[str, Any]]:
    path = f"compound/cid/property/{_PROPERTIES}/JSON"
    reply = ask(web, "PropertyTable", path, {"cid": ",".join(cids)})
    if not reply and len(cids) > 1:  # one that does not exist must not hide the others
        half = len(cids) // 2
        return {**_fetch(cids[:half], web), **_fetch(cids[half:], web)}
    found = mappings(mapping(reply.get("PropertyTable")).get("Properties"))
    # A row that holds a CID and nothing else is of no compound.
    rows = {text(row.get("CID")): row for row in found if len(row) > 1}
    rows = {cid: rows[cid] for cid in cids if cid in rows}
    for cid, row in rows.items():
        web.cache.put("pubchem", cid, row, _DAYS)
    return rows


def fetch_synonyms(cid: str, web: Web) -> tuple[str, ...]:
    """The names depositors gave a compound, the usual ones first."""
    values = _fetch_list(cid, "synonyms", "Synonym", _DAYS, web)
    return tuple(dict.fromkeys(name for one in values if (name := text(one)[:500])))


def fetch_pmids(cid: str, web: Web) -> tuple[str, ...]:
    """The PMIDs that are linked to a compound, the newest (largest) first."""
    values = _fetch_list(cid, "xrefs/PubMedID", "PubMedID", _DAY, web)
    pmids = {pmid for one in values if (pmid := whole(one))}
    return tuple(str(pmid) for pmid in sorted(pmids, reverse=True))


def _fetch_list(cid: str, what: str, member: str, days: float, web: Web) -> Iterable[object]:
    """A list that PubChem has of a compound; empty also where it does not know the compound."""
    if (kept := web.cache.get(f"pubchem {what}", cid)) is not None:
        return kept if isinstance(kept, list) else []
    reply = ask(web, "InformationList", f"compound/cid/{what}/JSON", {"cid": cid})
    rows = mappings(mapping(reply.get("InformationList")).get("Information"))
    lists = (row.get(member) for row in rows if text(row.get("CID")) == cid)
    found = [one for values in lists if isinstance(values, list) for one in values]
    web.cache.put(f"pubchem {what}", cid, found, days)
    return found


def _compound(cid: str, row: dict[str, Any]) -> Compound:
    return Compound(
        cid,
        title=_words(row.get("Title")),
        formula=_words(row.get("MolecularFormula")),
        weight=_number(row.get("MolecularWeight")),
        exact_mass=_number(row.get("ExactMass")),
        iupac_name=_words(row.get("IUPACName")),
        smiles=_words(row.get("SMILES")),
        connectivity_smiles=_words(row.get("ConnectivitySMILES")),
        inchi=_words(row.get("InChI")),
        inchikey=_words(row.get("InChIKey")),
        xlogp=_number(row.get("XLogP")),
        tpsa=_number(row.get("TPSA")),
        complexity=_number(row.get("Complexity")),
        charge=_integer(row.get("Charge")),
        donors=whole(row.get("HBondDonorCount")),
        acceptors=whole(row.get("HBondAcceptorCount")),
        rotatable_bonds=whole(row.get("RotatableBondCount")),
        heavy_atoms=whole(row.get("HeavyAtomCount")),
    )


def _words(value: object) -> str:
    """One line; what is too long is left out, for a part of a structure is another structure."""
    words = text(value)
    return words if len(words) <= _LONGEST else ""


def _number(value: object) -> float | None:
    """A finite number, sent as one or as its digits (as masses are since 2021)."""
    if isinstance(value, bool) or not isinstance(value, int | float | str) or len(str(value)) > 30:
        return None
    try:
        number = float(value)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _integer(value: object) -> int | None:
    number = _number(value)
    return int(number) if number is not None and number.is_integer() else None


def find_related(relation: Relation, kind: str, structure: str, web: Web) -> tuple[str, ...]:
    """The CIDs of up to `MOST` compounds that are so related to a structure.

    *kind* is ``cid``, ``smiles`` or ``inchi``; ``similar`` is 2-D similarity of at least 95 %.

    Raises
    ------
    BadRequest
        PubChem cannot read the structure.
    Unreachable
        It did not answer, or is not ready yet; the same search later goes on.
    """
    path = f"compound/{_PATHS[relation]}/{kind}"
    options = f"MaxRecords={MOST}" + "&Threshold=95" * (relation == "similar")
    if kind == "cid":
        return _search(f"{path}/{structure}/cids/JSON?{options}", None, web)
    return _search(f"{path}/cids/JSON?{options}", {kind: structure}, web)


def find_by_formula(formula: str, web: Web) -> tuple[str, ...]:
    """The CIDs of up to `MOST` compounds with a molecular formula (letters and digits only)."""
    return _search(f"compound/formula/{formula}/cids/JSON?MaxRecords={MOST}", None, web)


def _search(path: str, form: Mapping[str, str] | None, web: Web) -> tuple[str, ...]:
    name = hashlib.sha256(f"{path} {form}".encode()).hexdigest()
    if (kept := web.cache.get("pubchem list", name)) is not None:
        return cids_of(kept)
    found = _wait_for_list(name, _resume(name, web) or ask(web, "IdentifierList", path, form), web)
    web.cache.put("pubchem list", name, found, _DAYS_OF_A_LIST)
    return found


def _resume(name: str, web: Web) -> dict[str, Any]:
    """Poll the search of an earlier call; empty where there was none, or it is forgotten."""
    key = text(web.cache.get("pubchem key", name))
    if not _KEY.fullmatch(key):
        return {}
    try:
        return _poll(key, web)
    except BadRequest:
        return {}


def _wait_for_list(name: str, reply: dict[str, Any], web: Web) -> tuple[str, ...]:
    """The list, once PubChem has it."""
    for pause in _PAUSES:
        if not (key := _key(reply)):
            return cids_listed(reply)
        web.cache.put("pubchem key", name, key, _DAYS_OF_A_KEY)
        time.sleep(pause)
        reply = _poll(key, web)
    if not _key(reply):
        return cids_listed(reply)
    msg = f"PubChem has been searching for {sum(_PAUSES):.0f} s and is not ready yet."
    raise Unreachable(
        msg, "Ask the same again in a minute: the search goes on, and is not started anew."
    )


def _key(reply: dict[str, Any]) -> str:
    """The key of a search that is under way; empty when it is over.

    Raises
    ------
    Unreachable
        It is under way, and its key cannot be read.
    """
    if "Waiting" not in reply:
        return ""
    key = text(mapping(reply["Waiting"]).get("ListKey"))
    if _KEY.fullmatch(key):
        return key
    msg = "PubChem began to search, and gave no key with which to ask for the result."
    raise Unreachable(msg, "Try again in a minute.")


def _poll(key: str, web: Web) -> dict[str, Any]:
    return ask(web, "IdentifierList", f"compound/listkey/{key}/cids/JSON")


def find_similar_names(name: str, web: Web, most: int = 3) -> tuple[str, ...]:
    """Up to *most* names that PubChem knows and that look like *name*, the likeliest first.

    PubChem finds names that contain the text, so that a slip finds nothing: then the first half is
    looked for, which may be without the slip.

    Raises
    ------
    NotAvailable, Unreachable
        It did not answer.
    """
    wanted = " ".join(name.replace("/", " ").split())[:_LONGEST_NAME].lower()
    begins = wanted[: max(3, len(wanted) // 2)]
    known = _fetch_names(wanted, web) or (_fetch_names(begins, web) if begins != wanted else {})
    alike = get_close_matches(wanted, known, n=most, cutoff=_ALIKE)
    return tuple(known[one] for one in alike)


def _fetch_names(part: str, web: Web) -> dict[str, str]:
    """Names that hold *part*, by how they are compared."""
    url = f"{web.settings.address('pubchem_autocomplete')}/compound/{quote(part, safe='')}/json"
    reply = mapping(web.get(url, {"limit": _MOST}).json())
    names = mapping(reply.get("dictionary_terms")).get("compound")
    shown = (text(name) for name in (names if isinstance(names, list) else []))
    return {name.lower(): name for name in shown if 0 < len(name) <= _LONGEST_NAME}
