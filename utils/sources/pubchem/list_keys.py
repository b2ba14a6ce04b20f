"""Slow searches of PubChem: it answers with a key, with which the list is polled.

A key outlives the call that got it, in the shelf's memory: the same search goes on waiting where
the last call stopped, and PubChem does the work once.

https://pubchem.ncbi.nlm.nih.gov/docs/pug-rest
"""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Mapping
from typing import Any, Literal

from ...errors import BadRequest, Unreachable
from ...web import Web
from ..loose_json import mapping, text
from . import ask
from .records import cids_listed, cids_of

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
    if (kept := web.memory.recall("pubchem list", name)) is not None:
        return cids_of(kept)
    found = _wait_for_list(name, _resume(name, web) or ask(web, "IdentifierList", path, form), web)
    web.memory.keep("pubchem list", name, found, _DAYS_OF_A_LIST)
    return found


def _resume(name: str, web: Web) -> dict[str, Any]:
    """Poll the search of an earlier call; empty where there was none, or it is forgotten."""
    key = text(web.memory.recall("pubchem key", name))
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
        web.memory.keep("pubchem key", name, key, _DAYS_OF_A_KEY)
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
