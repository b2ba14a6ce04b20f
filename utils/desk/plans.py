"""Harvests that were planned and wait for their start."""

from __future__ import annotations

import secrets
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..errors import BadRequest

if TYPE_CHECKING:
    from ..lists.pasted import ListEntry

_MAX_PLANS = 20


@dataclass(frozen=True, slots=True)
class HarvestRequest:
    """The papers that a harvest is to bring: a query, or lists of papers by their names."""

    query: str = ""
    sources: tuple[str, ...] = ()
    lists: Mapping[str, list[ListEntry]] = field(default_factory=dict)
    title: str = ""
    limit: int = 0


class PlannedHarvests:
    """Harvests that were planned and not started yet; the oldest are forgotten first."""

    def __init__(self) -> None:
        self._requests: OrderedDict[str, HarvestRequest] = OrderedDict()

    def add(self, wanted: HarvestRequest) -> str:
        """Remember a planned harvest; return a name for it."""
        name = secrets.token_urlsafe(12)
        self._requests[name] = wanted
        while len(self._requests) > _MAX_PLANS:
            self._requests.popitem(last=False)
        return name

    def get(self, name: str) -> HarvestRequest:
        """Return a planned harvest.

        Raises
        ------
        BadRequest
            The harvest was forgotten, or the desk was restarted.
        """
        if wanted := self._requests.get(name):
            return wanted
        raise BadRequest("This plan has expired.", "Make the plan again.")
