"""Chemical compounds: which one is meant, what it is, what it is called, which papers are about it.

PubChem knows; what it says of a compound was deposited by anybody, and is shown, never obeyed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from typing import get_args

from ..errors import BadRequest, Miss, NotFound
from ..sources.pubchem.list_keys import MOST, Relation, of_formula, related
from ..sources.pubchem.records import Compound, compounds_called, described, papers_about, synonyms
from ..sources.pubchem.spelling import spelled_like
from ..web import Web
from .compound_query import CompoundQuery, compound_query

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


@dataclass(frozen=True, slots=True)
class Compounds:
    """A page of compounds; ``query`` says what was asked for and what it was taken for.

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
    """PubChem's compounds: which one is meant, what it is, its names, its papers, its likes."""

    def __init__(self, web: Web) -> None:
        self._web = web

    def find(
        self, query: str, *, kind: str = "", max_results: int = 10, start: int = 0
    ) -> Compounds:
        """The compounds somebody means, with their properties, the best first.

        Parameters
        ----------
        query
            A name, CAS number, SMILES, InChI, InChIKey, molecular formula, or up to 100 CIDs by
            commas.
        kind
            One of `.compound_query.KINDS`; what it looks like when empty.
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
        asked = compound_query(query, kind)
        found = _cids(asked, self._web)
        page = _page(asked, found, max_results, start, self._web, _capped(found))
        if asked.kind == "cid" and page.warnings and not page.compounds:
            raise _unknown(asked, self._web)
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
        asked = compound_query(query, kind)
        if asked.kind in ("smiles", "inchi"):
            with _readable(asked):
                found = related(chosen, asked.kind, asked.text, self._web)
            return _page(asked, found, max_results, start, self._web, _capped(found))
        itself, warnings = _one(asked, self._web)
        found = related(chosen, "cid", itself.cid, self._web)
        others = tuple(cid for cid in found if cid != itself.cid)
        return _page(asked, others, max_results, start, self._web, (*warnings, *_capped(found)))

    def names(self, query: str, *, kind: str = "", max_results: int = 50, start: int = 0) -> Listed:
        """What one compound is called, the usual names first.

        Arguments and errors as in `related`; *max_results* is 1 to 1,000.
        """
        _require_page(max_results, start, MOST_LISTED)
        compound, warnings = _one(compound_query(query, kind), self._web)
        return _listed(compound, synonyms(compound.cid, self._web), max_results, start, warnings)

    def papers(
        self, query: str, *, kind: str = "", max_results: int = 50, start: int = 0
    ) -> Listed:
        """The PMIDs of papers about one compound, the newest first.

        Arguments and errors as in `related`; *max_results* is 1 to 1,000.
        """
        _require_page(max_results, start, MOST_LISTED)
        compound, warnings = _one(compound_query(query, kind), self._web)
        return _listed(
            compound, papers_about(compound.cid, self._web), max_results, start, warnings
        )


def _require_page(max_results: int, start: int, most: int) -> None:
    if not 1 <= max_results <= most:
        msg = f"max_results is {max_results}; it must lie between 1 and {most:,}."
        raise BadRequest(msg, "Page through more with start.")
    if start < 0:
        raise BadRequest(f"start is {start}; it counts from 0.", "Use next_start.")


def _cids(asked: CompoundQuery, web: Web) -> tuple[str, ...]:
    """The CIDs of what is asked for; those that were given are not looked up yet."""
    if asked.kind == "cid":
        return asked.cids
    with _readable(asked):
        if asked.kind == "formula":
            found = of_formula(asked.text, web)
        else:
            found = compounds_called(asked.kind, asked.text, web)
    if not found:
        raise _unknown(asked, web)
    return found


@contextmanager
def _readable(asked: CompoundQuery) -> Iterator[None]:
    """Say what to do about a text that PubChem cannot read."""
    try:
        yield
    except BadRequest as error:
        hints = (_READABLE.get(asked.kind, ""), "Or ask by name, with kind set to name.")
        raise BadRequest(error.message, *hints) from error


def _unknown(asked: CompoundQuery, web: Web) -> NotFound:
    msg = f"PubChem has no compound with the {_called(asked)} {str(asked)!r}."
    if asked.kind == "name":
        return NotFound(msg, _did_you_mean(asked.text, web), _NOT_A_NAME)
    if asked.kind in ("smiles", "inchi"):
        hint = "Nobody deposited this very structure; ask for related compounds: similar."
        return NotFound(msg, hint)
    if asked.kind == "formula":
        return NotFound(msg, "Count the hydrogens; charged and neutral forms differ in them.")
    return NotFound(msg, "Check it, or ask by name or SMILES.")


def _called(asked: CompoundQuery) -> str:
    return _CALLED.get(asked.kind, asked.kind)


def _did_you_mean(name: str, web: Web) -> str:
    """Names spelled alike, where they can be had: the want of them is no error."""
    try:
        near = spelled_like(name, web)
    except Miss:
        return ""
    return f"Did you mean {' or '.join(near)}?" if near else ""


def _one(asked: CompoundQuery, web: Web) -> tuple[Compound, tuple[str, ...]]:
    """The compound meant, and a word on others that could be."""
    if asked.kind == "formula" or len(asked.cids) > 1:
        msg = f"{str(asked)!r} does not mean one compound."
        raise BadRequest(msg, "Find the compounds first, and give the CID of one.")
    found = _cids(asked, web)
    known = described(found[:1], web)
    if not known:
        raise _unknown(asked, web)
    others = f"Compounds with that {_called(asked)}: {len(found)}; this is the first of them."
    return known[found[0]], (others,) if len(found) > 1 else ()


def _capped(found: Sequence[str]) -> tuple[str, ...]:
    """A word on what lies beyond the hits that were asked for."""
    told = f"PubChem was asked for the first {MOST:,}; there may be more."
    return (told,) if len(found) >= MOST else ()


def _page(
    asked: CompoundQuery,
    found: Sequence[str],
    max_results: int,
    start: int,
    web: Web,
    warnings: tuple[str, ...],
) -> Compounds:
    """The compounds of a page; those that are listed and not described are named in a warning."""
    wanted = found[start : start + max_results]
    known = described(wanted, web)
    if missing := [cid for cid in wanted if cid not in known]:
        warnings = (*warnings, f"PubChem does not describe CID {', '.join(missing)}.")
    end = start + len(wanted)
    following = end if end < len(found) else None
    return Compounds(asked, len(found), tuple(known.values()), following, warnings)


def _listed(
    compound: Compound,
    rows: Sequence[str],
    max_results: int,
    start: int,
    warnings: tuple[str, ...],
) -> Listed:
    end = start + max_results
    following = end if end < len(rows) else None
    return Listed(compound, len(rows), tuple(rows[start:end]), following, warnings)
