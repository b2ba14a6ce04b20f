"""PubChem: chemical compounds, and the papers of PubMed that are about them.

Through PUG REST. Values go in the form of a POST wherever PubChem takes one: names and SMILES hold
slashes and question marks. Every answer says how busy we and PubChem are, and all processes of this
user heed it.

https://pubchem.ncbi.nlm.nih.gov/docs/pug-rest
https://pubchem.ncbi.nlm.nih.gov/docs/dynamic-request-throttling
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from typing import Any, Literal

from ...errors import BadRequest, Unreachable
from ...system.plain_text import one_line
from ...web import Answer, Rate, Web
from ..loose_json import mapping, text
from ..source import Source

_MOST_BYTES = 16 * 1024 * 1024  # the PubMed identifiers of the best known compounds take 1
_NOT_FOUND, _BAD = "PUGREST.NotFound", "PUGREST.BadRequest"
_STATUS = re.compile(r"status:\s*(yellow|red|black)", re.I)
Member = Literal["IdentifierList", "PropertyTable", "InformationList"]
# Seconds. Counts run by the minute: yellow (half of what is allowed) leaves 60 of 400, red (three
# quarters) lets a part of the minute pass; black is blocked "for a period of time".
_STAY_AWAY = {"yellow": 1.0, "red": 15.0, "black": 120.0}


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
        What a good answer holds, unless it is still ``Waiting``; an answer without it must not be
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
        raise BadRequest(f"PubChem cannot read what it was asked: {message}.")
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
    about="PubChem: compounds, their properties and names, and the papers about them",
    rates=(RATE,),
)
