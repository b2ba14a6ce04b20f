"""What was asked twice, and what a process had under way when it died."""

import json
import mmap
import os
import threading
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.world import Request
from utils.http.session import Web
from utils.http.transport import Transport

_SECRETS = {"email", "tool", "api_key", "mailto"}
SLOTS = 128
"""Threads that may ask at once."""


def questions(requests: Iterable[Request]) -> Counter[tuple[str, ...]]:
    """How often each thing was asked; of a batch each identifier is a question."""
    asked: Counter[tuple[str, ...]] = Counter()
    for request in requests:
        if request.status == 429:
            continue
        given = {n: v for n, v in request.params.items() if n not in _SECRETS}
        many = given.pop("id", given.pop("ids", "")).split(",")
        if request.service == "europepmc" and "query" in given:
            many = given.pop("query").split(" OR ")
            given.pop("pageSize", None)
        rest = json.dumps(given, sort_keys=True)
        accept = request.headers.get("accept", "")
        for one in many:
            asked[(request.host, request.path, rest, accept, one)] += 1
    return asked


def repeats(requests: Iterable[Request]) -> Counter[str]:
    """By host, how many questions were asked more than once, each time but the first."""
    found: Counter[str] = Counter()
    for question, count in questions(requests).items():
        if count > 1:
            found[question[0]] += count - 1
    return found


def watch(path: Path) -> None:
    """Have this process say in a mapped file what it has under way; it may die at any instant.

    A question is under way from when it is sent until its answer is handed to who asked; so are the
    hops of a chain of redirects, which cannot be taken up in the middle, without its cookies.
    """
    slots = mmap.mmap(os.open(path, os.O_RDWR), SLOTS * 2)
    numbers = dict.fromkeys(range(SLOTS))
    mine, lock = threading.local(), threading.Lock()
    carry, attempt = Transport.send_request, Web._send_and_follow

    def carried(self: Any, hop: Any, *rest: Any) -> Any:
        given = {**(hop.params or {}), **(hop.form or {}), **(hop.json or {})}
        asked = given.get("id") or given.get("ids") or ""
        weight = len(asked) if isinstance(asked, list) else str(asked).count(",") + 1
        if "query" in given:
            weight = str(given["query"]).count(" OR ") + 1
        with lock:
            if mine.__dict__.get("slot") is None:
                mine.slot = numbers.popitem()[0]
        place = slice(mine.slot * 2, mine.slot * 2 + 2)
        slots[place] = (int.from_bytes(slots[place], "big") + weight).to_bytes(2, "big")
        return carry(self, hop, *rest)

    def tried(self: Any, errand: Any) -> Any:
        mine.slot = None
        try:
            return attempt(self, errand)
        finally:
            if mine.slot is not None:
                slots[mine.slot * 2 : mine.slot * 2 + 2] = bytes(2)
                with lock:
                    numbers[mine.slot] = None

    Transport.send_request, Web._send_and_follow = carried, tried  # type: ignore[method-assign]


def under_way(watched: Path) -> int:
    """How many questions a process that died had under way."""
    slots = watched.read_bytes()
    return sum(int.from_bytes(slots[n : n + 2], "big") for n in range(0, len(slots), 2))
