"""PubChem's compounds: find them, their names, the papers about them, and similar compounds.

A query is a CID, a structure, a formula or a name: structures in the notations of Daylight (SMILES)
and IUPAC (InChI, InChIKey), formulas in Hill's order. A query that cannot be any of these is
refused here, with the place where it goes wrong, because PubChem would only say that it cannot read
it.

Anybody can deposit what PubChem says about a compound: it is content, never an instruction.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal, get_args

from ..errors import BadRequest, NotFound, NothingFound, SourceMiss
from ..http import Web
from ..sources.pubchem import (
    MOST,
    Compound,
    Relation,
    fetch_compounds,
    fetch_pmids,
    fetch_synonyms,
    find_by_formula,
    find_compounds,
    find_related,
    find_similar_names,
)
from ..system.plain_text import prepare_query_text, shorten

RELATIONS: tuple[Relation, ...] = get_args(Relation)
MOST_COMPOUNDS = 100
MOST_LISTED = 1000
_READABLE = {
    "smiles": "Check it against CC(=O)Oc1ccccc1C(=O)O (aspirin): atoms, bonds, rings closed.",
    "inchi": "Copy it whole, from InChI=1S/ on.",
    "formula": "Elements and how many, without brackets or charges, such as C9H8O4.",
}
_NOT_A_NAME = "If it is no name, set kind to what it is: cid, smiles, inchi, inchikey or formula."
_CALLED = {"cid": "CID", "smiles": "SMILES", "inchi": "InChI", "inchikey": "InChIKey"}
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
class Compounds:
    """A page of compounds; ``query`` is the query and the kind it was read as.

    ``total`` of a formula or a relation counts the first 1,000 at most, as a warning then says.
    """

    query: CompoundQuery
    total: int
    compounds: tuple[Compound, ...]
    next_start: int | None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Listed:
    """A page of what is known of one compound: its names, or PMIDs."""

    compound: Compound
    total: int
    rows: tuple[str, ...]
    next_start: int | None
    warnings: tuple[str, ...] = ()


class PubChem:
    """Finds compounds, their names, the papers about them, and compounds like them."""

    def __init__(self, web: Web) -> None:
        self._web = web

    def find(
        self, query: str, *, kind: str = "", max_results: int = 10, start: int = 0
    ) -> Compounds:
        """The compounds that fit a query, with their properties, the best first.

        Parameters
        ----------
        query
            A name, CAS number, SMILES, InChI, InChIKey, molecular formula, or up to 100 CIDs by
            commas.
        kind
            One of `KINDS`; what it looks like when empty.
        max_results, start
            From 1 to 100, and from 0.

        Raises
        ------
        BadRequest
            It cannot be read.
        NotFound
            PubChem has no such compound; the hints name what is spelled alike.
        Unreachable
            PubChem did not answer, or is still searching.
        """
        _require_page(max_results, start, MOST_COMPOUNDS)
        wanted = compound_query(query, kind)
        found = _find_cids(wanted, self._web)
        page = _page(wanted, found, max_results, start, self._web, _capped(found))
        if wanted.kind == "cid" and page.warnings and not page.compounds:
            raise _no_such_compound(wanted, self._web)
        return page

    def related(
        self, query: str, relation: str, *, kind: str = "", max_results: int = 10, start: int = 0
    ) -> Compounds:
        """Compounds like one, or that hold it (``substructure``), or that it holds.

        Parameters
        ----------
        query, kind
            One compound or structure, as in `find`; a structure nobody deposited will do.
        relation
            ``similar`` (2-D similarity of 95 % or more), ``substructure`` or ``superstructure``.
        max_results, start
            From 1 to 100, and from 0.

        Raises
        ------
        BadRequest
            It is no single compound, or cannot be read.
        NotFound
            PubChem has no such compound.
        Unreachable
            PubChem did not answer, or is still searching: asked again it goes on.
        """
        _require_page(max_results, start, MOST_COMPOUNDS)
        chosen = next((one for one in RELATIONS if one == relation), None)
        if chosen is None:
            near = get_close_matches(relation.lower(), RELATIONS, n=1)
            also = f"Did you mean {near[0]}?" if near else ""
            msg = f"There is no relation {relation[:40]!r}."
            raise BadRequest(msg, also, f"Relations: {', '.join(RELATIONS)}.")
        wanted = compound_query(query, kind)
        if wanted.kind in ("smiles", "inchi"):
            with _explain_unreadable(wanted):
                found = find_related(chosen, wanted.kind, wanted.text, self._web)
            return _page(wanted, found, max_results, start, self._web, _capped(found))
        itself, warnings = _find_one(wanted, self._web)
        found = find_related(chosen, "cid", itself.cid, self._web)
        others = tuple(cid for cid in found if cid != itself.cid)
        return _page(wanted, others, max_results, start, self._web, (*warnings, *_capped(found)))

    def names(self, query: str, *, kind: str = "", max_results: int = 50, start: int = 0) -> Listed:
        """What one compound is called, the usual names first.

        Arguments and errors as in `related`; *max_results* is 1 to 1,000.
        """
        _require_page(max_results, start, MOST_LISTED)
        compound, warnings = _find_one(compound_query(query, kind), self._web)
        return _to_listed(
            compound, fetch_synonyms(compound.cid, self._web), max_results, start, warnings
        )

    def papers(
        self, query: str, *, kind: str = "", max_results: int = 50, start: int = 0
    ) -> Listed:
        """The PMIDs of papers about one compound, the newest first.

        Arguments and errors as in `related`; *max_results* is 1 to 1,000.
        """
        _require_page(max_results, start, MOST_LISTED)
        compound, warnings = _find_one(compound_query(query, kind), self._web)
        pmids = fetch_pmids(compound.cid, self._web)
        return _to_listed(compound, pmids, max_results, start, warnings)


def _require_page(max_results: int, start: int, most: int) -> None:
    if not 1 <= max_results <= most:
        msg = f"max_results is {max_results}; it must lie between 1 and {most:,}."
        raise BadRequest(msg, "Page through more with start.")
    if start < 0:
        raise BadRequest(f"start is {start}; it counts from 0.", "Use next_start.")


def _find_cids(query: CompoundQuery, web: Web) -> tuple[str, ...]:
    """The CIDs of a query; those that it names itself are not looked up yet."""
    if query.kind == "cid":
        return query.cids
    with _explain_unreadable(query):
        if query.kind == "formula":
            found = find_by_formula(query.text, web)
        else:
            found = find_compounds(query.kind, query.text, web)
    if not found:
        raise _no_such_compound(query, web)
    return found


@contextmanager
def _explain_unreadable(query: CompoundQuery) -> Iterator[None]:
    """Add hints to the error for a text that PubChem cannot read."""
    try:
        yield
    except BadRequest as error:
        hints = (_READABLE.get(query.kind, ""), "Or ask by name, with kind set to name.")
        raise type(error)(error.message, *hints) from error


def _no_such_compound(query: CompoundQuery, web: Web) -> NotFound:
    """Words and structures are searched for; a number that names nothing is an error."""
    msg = f"PubChem has no compound with the {_kind_name(query)} {str(query)!r}."
    if query.kind == "name":
        return NothingFound(msg, _suggest_names(query.text, web), _NOT_A_NAME)
    if query.kind in ("smiles", "inchi"):
        hint = "Nobody deposited this very structure; ask for related compounds: similar."
        return NothingFound(msg, hint)
    if query.kind == "formula":
        return NothingFound(msg, "Count the hydrogens; charged and neutral forms differ in them.")
    return NotFound(msg, "Check it, or ask by name or SMILES.")


def _kind_name(query: CompoundQuery) -> str:
    return _CALLED.get(query.kind, query.kind)


def _suggest_names(name: str, web: Web) -> str:
    """A hint with names spelled alike; empty where PubChem names none or does not answer."""
    try:
        near = find_similar_names(name, web)
    except SourceMiss:
        return ""
    return f"Did you mean {' or '.join(near)}?" if near else ""


def _find_one(query: CompoundQuery, web: Web) -> tuple[Compound, tuple[str, ...]]:
    """The compound a query means, and a warning where others fit as well.

    Raises `BadRequest` for a query that cannot mean a single one, `NotFound` for none.
    """
    if query.kind == "formula" or len(query.cids) > 1:
        msg = f"{str(query)!r} does not mean one compound."
        raise BadRequest(msg, "Find the compounds first, and give the CID of one.")
    found = _find_cids(query, web)
    known = fetch_compounds(found[:1], web)
    if not known:
        raise _no_such_compound(query, web)
    others = f"Compounds with that {_kind_name(query)}: {len(found)}; this is the first of them."
    return known[found[0]], (others,) if len(found) > 1 else ()


def _capped(found: Sequence[str]) -> tuple[str, ...]:
    """A warning where there may be more hits than were asked for."""
    warning = f"PubChem was asked for the first {MOST:,}; there may be more."
    return (warning,) if len(found) >= MOST else ()


def _page(
    query: CompoundQuery,
    found: Sequence[str],
    max_results: int,
    start: int,
    web: Web,
    warnings: tuple[str, ...],
) -> Compounds:
    """The compounds of a page, with a warning naming those PubChem lists and does not describe."""
    wanted = found[start : start + max_results]
    known = fetch_compounds(wanted, web)
    if missing := [cid for cid in wanted if cid not in known]:
        warnings = (*warnings, f"PubChem does not describe CID {', '.join(missing)}.")
    end = start + len(wanted)
    following = end if end < len(found) else None
    return Compounds(query, len(found), tuple(known.values()), following, warnings)


def _to_listed(
    compound: Compound,
    rows: Sequence[str],
    max_results: int,
    start: int,
    warnings: tuple[str, ...],
) -> Listed:
    end = start + max_results
    following = end if end < len(rows) else None
    return Listed(compound, len(rows), tuple(rows[start:end]), following, warnings)


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
        return shorten(self.text, 80)


def compound_query(text: str, kind: str = "") -> CompoundQuery:
    """Read a query as *kind*; without one, as what it looks like.

    >>> [compound_query(text).kind for text in ("CID 2244", "C9H8O4", "CC(=O)O", "50-78-2", "CO2")]
    ['cid', 'formula', 'smiles', 'name', 'name']

    Raises
    ------
    BadRequest
        It can be nothing of that kind.
    """
    words = " ".join(prepare_query_text(text, "compound", _LONGEST_STRUCTURE).split())
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


def _several_cids(text: str) -> str:
    parts = _split(text)
    if not 1 <= len(parts) <= MOST_CIDS:
        msg = f"{len(parts):,} CIDs are too many at once; {MOST_CIDS} is the most."
        raise BadRequest(msg, "Ask in several calls.")
    return ",".join(map(_one_cid, parts))


def _one_cid(text: str) -> str:
    match = _CID.fullmatch(text)
    digits = match[1].lstrip("0") if match else ""
    if not digits or len(digits) > 10 or int(digits) > LARGEST_CID:
        msg = f"{shorten(text, 40)!r} is no CID: PubChem counts its compounds from 1."
        raise BadRequest(msg, "For example 2244. If it is a name, set kind to name.")
    return digits


def _inchi(text: str) -> str:
    if not _INCHI.fullmatch(text):
        msg = f"{shorten(text, 40)!r} is no InChI."
        raise BadRequest(msg, "It begins with InChI=1S/ and holds no blanks.")
    return text


def _inchikey(text: str) -> str:
    if not (match := _INCHIKEY.fullmatch(text)):
        msg = f"{shorten(text, 40)!r} is no InChIKey."
        hint = "It has 14, 10 and 1 letters, such as BSYNRYMUTXBXSQ-UHFFFAOYSA-N."
        raise BadRequest(msg, hint)
    return match[1].upper()


def _formula(text: str) -> str:
    if not _FORMULA.fullmatch(text):
        msg = f"{shorten(text, 40)!r} is no molecular formula."
        hint = "Elements and how many, in capitals and without brackets, such as C9H8O4."
        raise BadRequest(msg, hint)
    if unknown := [one for one in _ELEMENT.findall(text) if f" {one} " not in _ELEMENTS]:
        msg = f"{unknown[0]} in {shorten(text, 40)!r} is no element."
        raise BadRequest(msg, "Check capitals: Co is cobalt, CO carbon and oxygen.")
    return text


def _smiles(text: str) -> str:
    if " " in text:
        msg = f"A SMILES holds no blanks; {shorten(text, 40)!r} does."
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
    return prepare_query_text(text, "name", _LONGEST_NAME)


_READERS = {
    "name": _name,
    "cid": _several_cids,
    "smiles": _smiles,
    "inchi": _inchi,
    "inchikey": _inchikey,
    "formula": _formula,
}
