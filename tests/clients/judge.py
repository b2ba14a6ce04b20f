"""What is wrong with an answer: of a result by its tool's schema, of an error by the envelope."""

import json
import re
from collections.abc import Mapping
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from utils.errors import BadRequest, EntrezFailed, NotFound, StoreFailed, Unreachable

CODES = sorted(
    {
        *(kind("").code for kind in (BadRequest, EntrezFailed, NotFound, StoreFailed, Unreachable)),
        Unreachable("", status=429).code,
    }
)
# What every error looks like; UNKNOWN would be a mistake of ours.
ENVELOPE = {
    "type": "object",
    "required": ["error"],
    "additionalProperties": False,
    "properties": {"error": {"type": "object", "required": ["code", "message", "details",
        "suggestions"], "additionalProperties": False, "properties": {"code": {"enum": CODES},
        "message": {"type": "string", "minLength": 1}, "details": {"type": "object"},
        "suggestions": {"type": "array", "minItems": 1, "items": {"type": "string",
        "minLength": 1}}}}},
}  # fmt: skip

_FENCED = re.compile(r"(?s)\A<(untrusted-\w+)>\n(.*)\n</\1>\Z")


def fault_of_result(result: Mapping[str, Any], schema: Mapping[str, Any]) -> str:
    """What is wrong with a success; empty when nothing."""
    if fault := _misfit(result.get("structuredContent"), schema) or _misfit(result, {}):
        return fault
    texts = [block["text"] for block in result["content"] if block["type"] == "text"]
    return "" if texts and texts[0] else "no text beside the structure"


def fault_of_refusal(result: Mapping[str, Any]) -> str:
    """What is wrong with an error; empty when it is the envelope, as text and for programs."""
    said = result["content"][0]["text"]
    try:
        envelope = json.loads(said)
    except ValueError:
        return f"no envelope: {said:.300}"
    if fault := _misfit(envelope, ENVELOPE):
        return f"{fault}: {said:.300}"
    told = (result.get("_meta") or {}).get("error")
    return "" if told == unfenced(envelope["error"]) else f"_meta says otherwise: {told}"


def unfenced(error: Mapping[str, Any]) -> dict[str, Any]:
    """An error as programs get it: without what tells a model that words are from elsewhere."""
    message = _FENCED.sub(r"\2", error["message"])
    details = {name: value for name, value in error["details"].items() if name != "untrusted"}
    return {**error, "message": message, "details": details}


def _misfit(value: Any, schema: Mapping[str, Any]) -> str:
    """Why *value* is not what *schema* describes, or not JSON at all."""
    try:
        json.dumps(value, allow_nan=False, ensure_ascii=False).encode()
    except ValueError as error:
        return f"no JSON: {error}"
    error = best_match(Draft202012Validator(schema).iter_errors(value))
    return f"{error.json_path}: {error.message:.300}" if error else ""
