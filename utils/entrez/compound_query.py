"""Reading a query for a compound: a CID, a structure, a formula or a name.

Structures in the spellings of Daylight (SMILES) and IUPAC (InChI, InChIKey), formulas in Hill's
order. What cannot be one is refused here, with the place where it goes wrong: PubChem would only
say that it cannot read it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal, get_args

from ..errors import BadRequest
from ..system.plain_text import sendable, shortened

Kind = Literal["name", "cid", "smiles", "inchi", "inchikey", "formula"]
KINDS: tuple[Kind, ...] = get_args(Kind)
LARGEST_CID = 2**31 - 1
MOST_CIDS = 100
_LONGEST_NAME, _LONGEST_STRUCTURE = 500, 5000

_CID = re.compile(
    r"(?:(?:https?://)?pubchem\.ncbi\.nlm\.nih\.gov/compound/|(?:PubChem\s+)?CID[:=\s]*)?"
    r"([0-9]+)/?",
    re.I,
)
_INCHI = re.compile(r"InChI=1S?/\S+")
_INCHIKEY = re.compile(r"(?:InChIKey=)?([A-Z]{14}-[A-Z]{10}-[A-Z])", re.I)
_FORMULA = re.compile(r"(?:[A-Z][a-z]?[0-9]*)+")
_HILL = re.compile(r"C[0-9]*H[0-9]*(?:[A-Z][a-z]?[0-9]*)*")
_ELEMENT = re.compile(r"[A-Z][a-z]?")
_ATOMS_AND_BONDS = re.compile(
    r"(?:\[[^\[\]\s]{1,40}\]|Br|Cl|[BCNOPSFIbcnops]|[-=#$:/\\.%()+~*@0-9])+"
)
_BRANCH_BOND_OR_RING = re.compile(r"[=#\[(]|[A-Za-z]1.*1")
_ELEMENTS = (
    " H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn Ga Ge As Se "
    "Br Kr Rb Sr Y Zr Nb Mo Tc Ru Rh Pd Ag Cd In Sn Sb Te I Xe Cs Ba La Ce Pr Nd Pm Sm Eu Gd Tb "
    "Dy Ho Er Tm Yb Lu Hf Ta W Re Os Ir Pt Au Hg Tl Pb Bi Po At Rn Fr Ra Ac Th Pa U Np Pu Am Cm "
    "Bk Cf Es Fm Md No Lr Rf Db Sg Bh Hs Mt Ds Rg Cn Nh Fl Mc Lv Ts Og D T "
)


@dataclass(frozen=True, slots=True)
class CompoundQuery:
    """A query and the kind it was read as; CIDs are without prefix, separated by commas."""

    kind: Kind
    text: str

    @property
    def cids(self) -> tuple[str, ...]:
        """The CIDs it names, each once."""
        return tuple(dict.fromkeys(self.text.split(","))) if self.kind == "cid" else ()

    def __str__(self) -> str:
        return shortened(self.text, 80)


def compound_query(text: str, kind: str = "") -> CompoundQuery:
    """Read a query as *kind*; without one, as what it looks like.

    >>> [compound_query(text).kind for text in ("CID 2244", "C9H8O4", "CC(=O)O", "50-78-2", "CO2")]
    ['cid', 'formula', 'smiles', 'name', 'name']

    Raises
    ------
    BadRequest
        It can be nothing of that kind.
    """
    words = " ".join(sendable(text, "compound", _LONGEST_STRUCTURE).split())
    if not words:
        raise BadRequest("No compound is named.", "For example aspirin, 2244 or CC(=O)O.")
    if kind and kind not in KINDS:
        near = get_close_matches(kind.lower(), KINDS, n=1)
        also = f"Did you mean {near[0]}?" if near else ""
        raise BadRequest(f"There is no kind {kind[:40]!r}.", also, f"Kinds: {', '.join(KINDS)}.")
    chosen = next(one for one in KINDS if one == (kind or _likeliest(words)))
    return CompoundQuery(chosen, _READERS[chosen](words))


def _likeliest(text: str) -> Kind:
    """What a text looks like; of two readings, the one whose wrong answer would do less harm."""
    if all(map(_CID.fullmatch, _split(text))):
        return "cid"
    if text.startswith("InChI="):
        return "inchi"
    if _INCHIKEY.fullmatch(text):
        return "inchikey"
    symbols = _ELEMENT.findall(text)
    once = len(symbols) == len(set(symbols))
    if _HILL.fullmatch(text) and once and re.search("[0-9]", text):
        return "formula"
    drawn = _ATOMS_AND_BONDS.fullmatch(text) and _BRANCH_BOND_OR_RING.search(text)
    return "smiles" if drawn and re.search("[A-Za-z]", text) else "name"


def _split(text: str) -> list[str]:
    """The parts between commas or, in a text of numbers only, between blanks."""
    only_numbers = re.fullmatch(r"[0-9\s,;]+", text)
    parts = re.split(r"[\s,;]+" if only_numbers else r"\s*[,;]\s*", text)
    return [part for part in parts if part]


def _cids(text: str) -> str:
    parts = _split(text)
    if not 1 <= len(parts) <= MOST_CIDS:
        msg = f"{len(parts):,} CIDs are too many at once; {MOST_CIDS} is the most."
        raise BadRequest(msg, "Ask in several calls.")
    return ",".join(map(_one_cid, parts))


def _one_cid(text: str) -> str:
    match = _CID.fullmatch(text)
    digits = match[1].lstrip("0") if match else ""
    if not digits or len(digits) > 10 or int(digits) > LARGEST_CID:
        msg = f"{shortened(text, 40)!r} is no CID: PubChem counts its compounds from 1."
        raise BadRequest(msg, "For example 2244. If it is a name, set kind to name.")
    return digits


def _inchi(text: str) -> str:
    if not _INCHI.fullmatch(text):
        msg = f"{shortened(text, 40)!r} is no InChI."
        raise BadRequest(msg, "It begins with InChI=1S/ and holds no blanks.")
    return text


def _inchikey(text: str) -> str:
    if not (match := _INCHIKEY.fullmatch(text)):
        msg = f"{shortened(text, 40)!r} is no InChIKey."
        hint = "It has 14, 10 and 1 letters, such as BSYNRYMUTXBXSQ-UHFFFAOYSA-N."
        raise BadRequest(msg, hint)
    return match[1].upper()


def _formula(text: str) -> str:
    if not _FORMULA.fullmatch(text):
        msg = f"{shortened(text, 40)!r} is no molecular formula."
        hint = "Elements and how many, in capitals and without brackets, such as C9H8O4."
        raise BadRequest(msg, hint)
    if unknown := [one for one in _ELEMENT.findall(text) if f" {one} " not in _ELEMENTS]:
        msg = f"{unknown[0]} in {shortened(text, 40)!r} is no element."
        raise BadRequest(msg, "Check capitals: Co is cobalt, CO carbon and oxygen.")
    return text


def _smiles(text: str) -> str:
    if " " in text:
        msg = f"A SMILES holds no blanks; {shortened(text, 40)!r} does."
        raise BadRequest(msg, "If it is a name, set kind to name.")
    for opening, closing in ("()", "[]"):
        if (at := _unbalanced(text, opening, closing)) is not None:
            msg = f"The {text[at]} at character {at + 1} of the SMILES has no counterpart."
            raise BadRequest(msg, "Copy it whole, or ask by name.")
    return text


def _unbalanced(text: str, opening: str, closing: str) -> int | None:
    """Where a bracket stands that has no counterpart."""
    still_open: list[int] = []
    for at, sign in enumerate(text):
        if sign == opening:
            still_open.append(at)
        elif sign == closing:
            if not still_open:
                return at
            still_open.pop()
    return still_open[0] if still_open else None


def _name(text: str) -> str:
    return sendable(text, "name", _LONGEST_NAME)


_READERS = {
    "name": _name,
    "cid": _cids,
    "smiles": _smiles,
    "inchi": _inchi,
    "inchikey": _inchikey,
    "formula": _formula,
}
