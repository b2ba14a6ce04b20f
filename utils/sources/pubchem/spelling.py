"""Suggest spellings of an unknown name, from PubChem's list of names.

https://pubchem.ncbi.nlm.nih.gov/docs/auto-complete
"""

from __future__ import annotations

from difflib import get_close_matches
from urllib.parse import quote

from ...web import Web
from ..loose_json import line, mapping

_MOST = 100
_LONGEST = 100  # characters of a name that is looked for, or shown
_ALIKE = 0.6  # of 1, by difflib; "asprin" and "aspirin" have 0.92


def find_similar_names(name: str, web: Web, most: int = 3) -> tuple[str, ...]:
    """Up to *most* names that PubChem knows and that look like *name*, the likeliest first.

    PubChem finds names that contain the text, so that a slip finds nothing: then the first half is
    looked for, which may be without the slip.

    Raises
    ------
    NotOffered, Unreachable
        It did not answer.
    """
    wanted = " ".join(name.replace("/", " ").split())[:_LONGEST].lower()
    begins = wanted[: max(3, len(wanted) // 2)]
    known = _fetch_names(wanted, web) or (_fetch_names(begins, web) if begins != wanted else {})
    alike = get_close_matches(wanted, known, n=most, cutoff=_ALIKE)
    return tuple(known[one] for one in alike)


def _fetch_names(part: str, web: Web) -> dict[str, str]:
    """Names that hold *part*, by how they are compared."""
    url = f"{web.settings.address('pubchem_autocomplete')}/compound/{quote(part, safe='')}/json"
    reply = mapping(web.get(url, {"limit": _MOST}).json())
    names = mapping(reply.get("dictionary_terms")).get("compound")
    shown = (line(name) for name in (names if isinstance(names, list) else []))
    return {name.lower(): name for name in shown if 0 < len(name) <= _LONGEST}
