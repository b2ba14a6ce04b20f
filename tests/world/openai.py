"""OpenAI's embeddings, and the model of somebody's own server beside them.

``POST /embeddings`` as in the API reference of 2026. OpenAI's models want a key and know base64;
``OWN`` is what a small server on the next desk offers: no key, and numbers whatever was asked for.
Words that are alike make vectors that are alike. A byte counts as a token, the most it can be.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
import re
import struct
from typing import TYPE_CHECKING, Any

from utils.demo.wire import JSON, Call, Reply, as_json

if TYPE_CHECKING:
    from tests.world import World

KEY, SPENT = "sk-proj-of-the-lab", "sk-proj-without-money"
OWN = "nomic-embed-text"
DIMS = {"text-embedding-3-small": 1536, "text-embedding-3-large": 3072, OWN: 48}
_MOST_TEXTS, _MOST_OF_ONE, _MOST_TOGETHER = 2048, 8192, 300_000


def openai(call: Call, world: World) -> Reply:
    """``/embeddings``."""
    if (call.method, call.path) != ("POST", "/embeddings"):
        return _refused(404, f"Unknown request URL: {call.method} {call.path}.", "unknown_url")
    try:
        asked = json.loads(call.body)
    except ValueError:
        return _refused(400, "We could not parse the JSON body of your request.", None)
    key = call.header("authorization").removeprefix("Bearer ")
    model = asked.get("model")
    if model != OWN and key != KEY:
        return _keyless(key)
    if model not in DIMS or JSON not in call.header("content-type"):
        return _refused(404, f"The model `{model}` does not exist.", "model_not_found")
    texts = [asked["input"]] if isinstance(asked.get("input"), str) else asked.get("input")
    if wrong := _wrong(texts):
        return _refused(400, wrong, None)
    packed = asked.get("encoding_format") == "base64" and model != OWN
    rows = [
        {"object": "embedding", "index": at, "embedding": _packed(vector(text, model), packed)}
        for at, text in enumerate(texts)
    ]
    count = sum(len(text.encode()) for text in texts)
    usage = {"prompt_tokens": count, "total_tokens": count}
    return as_json({"object": "list", "data": rows, "model": model, "usage": usage})


def vector(text: str, model: str) -> list[float]:
    """Every word adds to a few places, with a sign; of length one."""
    row = [0.0] * DIMS[model]
    for word in re.findall(r"\w+|\W", text.lower()):
        number = int.from_bytes(hashlib.sha256(word.encode()).digest(), "big")
        for _ in range(4):
            number, at = divmod(number, len(row) * 2)
            row[at // 2] += 1 if at % 2 else -1
    length = math.sqrt(sum(value * value for value in row)) or 1.0
    return [value / length for value in row]


def _packed(row: list[float], packed: bool) -> Any:
    return base64.b64encode(struct.pack(f"<{len(row)}f", *row)).decode() if packed else row


def _wrong(texts: Any) -> str:
    if not isinstance(texts, list) or not texts or not all(isinstance(text, str) for text in texts):
        return "'$.input' is invalid."
    if len(texts) > _MOST_TEXTS:
        return f"'$.input' is invalid: at most {_MOST_TEXTS} inputs."
    sizes = [len(text.encode()) for text in texts]
    if not min(sizes):
        return "'$.input' is invalid: an input cannot be an empty string."
    if max(sizes) > _MOST_OF_ONE:
        return f"This model's maximum context length is {_MOST_OF_ONE} tokens."
    if sum(sizes) > _MOST_TOGETHER:
        return f"Requested {sum(sizes)} tokens, max {_MOST_TOGETHER} tokens per request."
    return ""


def _keyless(key: str) -> Reply:
    if key == SPENT:
        told = "You exceeded your current quota, please check your plan and billing details."
        return _refused(429, told, "insufficient_quota")
    if not key:
        return _refused(401, "You didn't provide an API key.", None)
    return _refused(401, f"Incorrect API key provided: {key}.", "invalid_api_key")


def _refused(status: int, told: str, code: str | None) -> Reply:
    kind = "insufficient_quota" if code == "insufficient_quota" else "invalid_request_error"
    error = {"message": told, "type": kind, "param": None, "code": code}
    return as_json({"error": error}, status)
