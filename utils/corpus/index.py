"""From records and full texts to passages that are found: what changed is cut and embedded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from . import Corpus


@dataclass(frozen=True, slots=True)
class Indexed:
    """How far indexing has come.

    ``done`` of ``total`` papers were looked at, ``cut`` of them anew and ``dropped`` because they
    are gone. ``passages`` counts those added to the index, ``removed`` those taken out, ``vectors``
    those made; ``unfinished`` says that the time was up: run it again to go on.
    """

    done: int = 0
    total: int = 0
    cut: int = 0
    dropped: int = 0
    passages: int = 0
    removed: int = 0
    vectors: int = 0
    model: str = ""
    warnings: tuple[str, ...] = ()
    unfinished: bool = False


def index(
    corpus: Corpus, *, everything: bool = False, longest_s: float | None = None
) -> Iterator[Indexed]:
    """Cut and embed what changed; yields how far it has come, and at the end what came of it."""
    raise NotImplementedError
