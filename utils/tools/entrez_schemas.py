"""Output schemas of toolset ``entrez``.

A tool of several operations has one schema for them all: the members named here where they apply,
and whatever else an operation returns.
"""

from __future__ import annotations

from typing import Any

from .schemas import FLAG, NEXT, NUMBER, TEXT, record, rows, some, texts

_OBJECT = {"type": "object"}
_ROWS = rows(_OBJECT)
_WORDS = rows(TEXT)


def _of_operations(**members: dict[str, Any]) -> dict[str, Any]:
    return {**some(**members), "additionalProperties": True}


QUERIED = _of_operations(
    database=TEXT,
    total=NUMBER,
    ids=_WORDS,
    text=TEXT,
    next_start=NEXT,
    next_offset=NUMBER,
    history=texts("id expires") | {"additionalProperties": True},
    warnings=_WORDS,
)
DATA = _of_operations(
    dataset=TEXT,
    tables={},
    columns=_WORDS,
    rows=rows(rows({})),
    next_start=NEXT,
    expires=TEXT,
    warnings=_WORDS,
)
EXTERNAL = _of_operations(
    total=NUMBER, compounds=_ROWS, text=TEXT, next_start=NEXT, warnings=_WORDS
)
CAPABILITIES = record(toolsets=_ROWS, extras=_ROWS, keys=_ROWS)
DESCRIBED = record(name=TEXT, description=TEXT, tokens=NUMBER, takes=_WORDS, operations=_OBJECT)
KEY_STATUS = record(has_key=FLAG, rate_limit=TEXT, message=TEXT, ncbi=TEXT)
