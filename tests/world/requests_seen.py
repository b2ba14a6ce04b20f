"""The record of a request that a world has answered."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Request:
    """One request the world has seen; ``params`` holds query and form, the last value of each.

    ``host`` tells publishers apart; ``refused`` says that it was one too many for the host's limit;
    ``under_way`` is how many were under way at the host when it came, itself included.
    """

    at: float
    service: str
    method: str
    path: str
    params: dict[str, str]
    headers: dict[str, str]
    status: int
    host: str = ""
    refused: bool = False
    under_way: int = 0
