"""What is wrong with the arguments of a call, in sentences that a model can act on.

pydantic says what it expected. A model that is to call again also needs the argument's name, the
value it sent, and the names there are where it made one up.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from reprlib import Repr
from typing import Any

from pydantic import ValidationError

from ..errors import BadRequest

_MOST_SENTENCES = 5
_LOOKED_AT = 50
_MOST_ERRORS = 10_000
_NAME_CHARS = 60
_ABSENT = ("missing", "missing_argument", "missing_keyword_only_argument")
_STRANGE = ("extra_forbidden", "unexpected_keyword_argument")
_values = Repr()  # of a large value only the beginning is looked at
_values.maxlevel, _values.maxlist, _values.maxdict, _values.maxstring = 3, 4, 3, 60
Schema = Mapping[str, Any]


def to_bad_request(
    error: ValidationError, schema: Schema, written: Mapping[str, str] | None = None
) -> BadRequest:
    """Describe arguments that break *schema*, a schema without references, given pydantic's error.

    *written* has the caller's names of parameters, by the schema's, where they differ.
    """
    count = error.error_count()
    if count > _MOST_ERRORS:  # the listing alone would keep everybody else waiting
        msg = f"The arguments break the input schema in {count:,} places."
        return BadRequest(msg, "Read the input schema and call again.")
    found = error.errors(include_url=False)
    looked_at = [(row, *_place(row["loc"], schema, written or {})) for row in found[:_LOOKED_AT]]
    # A value that fits none of several types gets one sentence, not one for each type.
    sentences = {name: _sentence(row, name) for row, name, _ in reversed(looked_at)}
    shown = [*sentences.values()][::-1][:_MOST_SENTENCES]
    more = [f"{count - len(shown):,} more."] if len(sentences) > len(shown) else []
    unknown = (_choice(row, around) for row, _, around in looked_at if row["type"] in _STRANGE)
    return BadRequest(" ".join([*shown, *more]), next(unknown, "Correct it and call again."))


def _place(
    loc: Sequence[str | int], schema: Schema, written: Mapping[str, str]
) -> tuple[str, Schema]:
    """Return the caller's name of a place (``citations[2].year``), and the schema around it.

    pydantic puts names of its own between the steps, such as those of the members of a union.
    """
    name, around, here = "", schema, schema
    for at, step in enumerate(loc):
        below = _below(here, step)
        if below is not None or at == len(loc) - 1:
            around, here = here, below or {}
            said = written.get(str(step), step) if at == 0 else step
            known = below is not None or "properties" in _shape(around)
            name += (f"[{said}]" if isinstance(said, int) else f".{said}") if known else ""
    return name.removeprefix(".")[:_NAME_CHARS] or "The arguments", around


def _below(schema: Schema, step: str | int) -> Schema | None:
    schema = _shape(schema)
    found: Schema | None = schema.get("items") if isinstance(step, int) else None
    return found or dict(schema.get("properties", {})).get(str(step))


def _shape(schema: Schema) -> Schema:
    """Return the schema without the branch that allows null."""
    branches = [one for one in schema.get("anyOf", ()) if one.get("type") != "null"]
    return branches[0] if branches else schema


def _sentence(row: Mapping[str, Any], name: str) -> str:
    kind = row["type"]
    if kind in _ABSENT:
        return f"{name} is missing."
    if kind in _STRANGE:
        return f"{name} is no argument here."
    if kind in ("value_error", "assertion_error"):
        return f"{name}: {row['msg'].partition(', ')[2]}"
    wanted = row["msg"].replace(" after validation", "").rstrip(".")
    subject, _, rest = wanted.partition(" should ")
    if kind in ("too_long", "too_short", "string_too_long", "string_too_short"):
        return f"{name} should {rest.split(', not ')[0]}; it has {len(row['input'])}."
    return f"{name} is {_values.repr(row['input'])}; it should {rest or subject}."


def _choice(row: Mapping[str, Any], around: Schema) -> str:
    """Suggest the name nearest to an unknown one; else list the names there are."""
    names = [*_shape(around).get("properties", {})]
    if close := difflib.get_close_matches(str(row["loc"][-1])[:_NAME_CHARS], names, 1):
        return f"Did you mean {close[0]}?"
    return f"There are: {', '.join(names)}." if names else "It takes no arguments."
