"""Compounds of PubChem: finding them, their properties, names and papers.

https://pubchem.ncbi.nlm.nih.gov/docs/pug-rest
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ...web import Web
from ..loose_json import line, mapping, mappings, text, whole
from . import ask

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
    if (kept := web.memory.recall("pubchem cids", name)) is not None:
        return cids_of(kept)
    found = cids_listed(ask(web, "IdentifierList", f"compound/{kind}/cids/JSON", {kind: structure}))
    web.memory.keep("pubchem cids", name, found, _DAYS if found else _DAY)
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
    kept = web.memory.recall_many("pubchem", cids)
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
        web.memory.keep("pubchem", cid, row, _DAYS)
    return rows


def fetch_synonyms(cid: str, web: Web) -> tuple[str, ...]:
    """The names depositors gave a compound, the usual ones first."""
    values = _fetch_list(cid, "synonyms", "Synonym", _DAYS, web)
    return tuple(dict.fromkeys(name for one in values if (name := line(one)[:500])))


def fetch_pmids(cid: str, web: Web) -> tuple[str, ...]:
    """The PMIDs that are linked to a compound, the newest (largest) first."""
    values = _fetch_list(cid, "xrefs/PubMedID", "PubMedID", _DAY, web)
    pmids = {pmid for one in values if (pmid := whole(one))}
    return tuple(str(pmid) for pmid in sorted(pmids, reverse=True))


def _fetch_list(cid: str, what: str, member: str, days: float, web: Web) -> Iterable[object]:
    """A list that PubChem has of a compound; empty also where it does not know the compound."""
    if (kept := web.memory.recall(f"pubchem {what}", cid)) is not None:
        return kept if isinstance(kept, list) else []
    reply = ask(web, "InformationList", f"compound/cid/{what}/JSON", {"cid": cid})
    rows = mappings(mapping(reply.get("InformationList")).get("Information"))
    lists = (row.get(member) for row in rows if text(row.get("CID")) == cid)
    found = [one for values in lists if isinstance(values, list) for one in values]
    web.memory.keep(f"pubchem {what}", cid, found, days)
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
    words = line(value)
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
