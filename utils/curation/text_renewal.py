"""Texts made again from the kept bytes, when a reader has become better.

Nothing is downloaded. A text is only replaced by one that passes both judges;
a reading that fails them is reported, and the text that was there stays.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from .. import readers as formats
from ..errors import BadContent
from ..model.paper import Fetched, StoredPaper
from ..shelf import Shelf


@dataclass(frozen=True, slots=True)
class Renewal:
    """The result for one text: ``changed``, ``unchanged``, or ``kept`` as it was, and why."""

    paper: str
    outcome: Literal["changed", "unchanged", "kept"]
    detail: str
    file_path: str

    def row(self) -> dict[str, Any]:
        """The fields, for JSON."""
        return asdict(self)


def renew(shelf: Shelf, *, everything: bool = False) -> Iterator[Renewal]:
    """Read what the sites sent again with today's readers.

    Parameters
    ----------
    shelf : Shelf
    everything : bool, optional
        Also texts that the present version of their reader made.

    Yields
    ------
    Renewal
        One for each full text whose bytes were kept and whose reader has changed. A text that
        was edited by hand is kept.
    """
    for file in shelf.verdicts.files("full_text"):
        stored = shelf.find_by_file(file)
        raw = shelf.raw(stored) if stored else None
        if not stored or not raw:
            continue
        if not everything and raw.extractor == formats.extractor(raw.fetched.media):
            continue
        if not formats.is_ours(raw.extractor):
            detail = f"{raw.extractor} read it better than we did (download --force asks anew)"
            yield Renewal(str(stored.paper.ids), "kept", detail, stored.path)
        elif raw.ours:
            yield _renew(stored, raw.fetched, shelf)
        else:
            detail = "the file was changed by hand (download --force makes it anew)"
            yield Renewal(str(stored.paper.ids), "kept", detail, stored.path)


def _renew(stored: StoredPaper, fetched: Fetched, shelf: Shelf) -> Renewal:
    name, path = str(stored.paper.ids), stored.path
    try:
        document = formats.read(fetched, stored.paper)
    except BadContent as bad:
        return Renewal(name, "kept", f"today's reader says {bad.outcome}: {bad.message}", path)
    if document.verdict == "partial" != stored.verdict:
        return Renewal(name, "kept", f"today's reader finds a part: {document.evidence}", path)
    before = len(Path(path).read_text(encoding="utf-8", errors="replace"))
    renewed = shelf.renew(stored, document)
    if renewed.sha256 == stored.sha256:
        return Renewal(name, "unchanged", "the same text", path)
    after = len(Path(renewed.path).read_text(encoding="utf-8", errors="replace"))
    return Renewal(name, "changed", f"{after - before:+,} characters", renewed.path)
