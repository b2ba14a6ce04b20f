"""One entry of the shelf as a record: what is known of a stored paper beyond its text.

Every record lies as JSON in ``.papershelf/records``, so that the catalogue, which holds the same
records with indexes around them, can always be made again from the files.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, NamedTuple

from ..identifiers import Ids
from ..paper import Attempt, Document, Fetched, Media, Notice, Paper, StoredPaper, now, paper_from

ADOPTED = "adopted"
"""``via`` of a file that somebody else put on the shelf."""


@dataclass(frozen=True, slots=True)
class Record:
    """A stored paper with what only the shelf needs to know.

    ``order`` (nanoseconds, unique on a shelf) says which of two records is newer; ``words``
    counts the main text; ``media`` is the kind of the untouched bytes, empty where none are kept,
    and ``url`` where they came from; ``extractor`` made the text of them.
    """

    stored: StoredPaper
    order: int = 0
    words: int = 0
    media: str = ""
    url: str = ""
    extractor: str = ""

    @property
    def file(self) -> str:
        """The file's name on the shelf."""
        return Path(self.stored.path).name

    @property
    def raw(self) -> str:
        """The name of the file with the untouched bytes; empty where none are kept."""
        return f"{self.file.removesuffix('.txt')}.{self.media}.gz" if self.media else ""

    @property
    def ids(self) -> Ids:
        """The paper's names."""
        return self.stored.paper.ids

    @property
    def rank(self) -> int:
        """How much of the paper this is; a file is never replaced by one of lower rank."""
        if self.stored.kind == "full_text":
            return 3 if self.stored.verdict != "partial" else 2
        return 1 if self.stored.paper.abstract else 0

    def of(self, paper: Paper) -> Record:
        """The same record with other metadata."""
        return replace(self, stored=replace(self.stored, paper=paper))

    def to_json(self) -> str:
        """The record as one line of JSON, without the folder (which may move)."""
        row = asdict(self)
        row["stored"]["path"] = self.file
        return json.dumps(row, ensure_ascii=True, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str, folder: Path) -> Record:
        """Read `to_json` back.

        Raises
        ------
        ValueError
            The text is no record (a KeyError or TypeError inside counts as that).
        """
        try:
            return cls._from_row(json.loads(text), folder)
        except (KeyError, TypeError, AttributeError) as error:
            msg = f"not a record: {error!r}"
            raise ValueError(msg) from error

    @classmethod
    def _from_row(cls, row: dict[str, Any], folder: Path) -> Record:
        stored = row["stored"]
        stored["paper"] = paper_from(stored["paper"])
        stored["attempts"] = tuple(Attempt(**attempt) for attempt in stored["attempts"])
        # Only the last part: a record is a file too, and must not point out of the shelf.
        stored["path"] = str(folder / Path(stored["path"]).name)
        row["stored"] = StoredPaper(**stored)
        return cls(**row)


class Kept(NamedTuple):
    """What a site sent for a stored paper, where it came from, and who made the text of it."""

    body: bytes
    media: Media
    url: str
    extractor: str


def sha256(data: bytes) -> str:
    """Checksum as it stands in the catalogue."""
    return hashlib.sha256(data).hexdigest()


def joined(new: Paper, old: Paper) -> Paper:
    """What both records of one paper know; the newer wins, the older fills gaps."""
    filled = {f.name: getattr(new, f.name) or getattr(old, f.name) for f in fields(Paper)}
    return Paper(**{**filled, "ids": new.ids | old.ids})


def with_retraction(paper: Paper, stated_by: str) -> Paper:
    """*paper* marked as retracted, on the word of the text or the site that sent it."""
    if paper.retracted:
        return paper
    notice = Notice("retraction", f"stated by {stated_by}")
    return replace(paper, notices=(*paper.notices, notice))


def of_full_text(
    paper: Paper, document: Document, fetched: Fetched, source: str, attempts: Sequence[Attempt]
) -> Record:
    """The record of a full text that has no file yet."""
    if document.retracted or fetched.retracted:
        paper = with_retraction(paper, fetched.source)
    stored = StoredPaper(
        paper=paper,
        kind="full_text",
        path="",
        source=source,
        via=fetched.via,
        sha256="",
        license=fetched.license or document.license or paper.license,
        verdict=document.verdict,
        attempts=tuple(attempts),
        saved_at=now(),
    )
    words = document.body_words or len(document.markdown.split())
    return Record(stored, 0, words, fetched.media, fetched.url, document.extractor)


def of_abstract(paper: Paper, attempts: Sequence[Attempt], via: str) -> Record:
    """The record of an abstract that has no file yet."""
    stored = StoredPaper(
        paper=paper,
        kind="abstract",
        path="",
        source="PubMed_Abstract",
        via=via,
        sha256="",
        verdict="abstract_only",
        attempts=tuple(attempts),
        saved_at=now(),
    )
    return Record(stored, words=len(paper.abstract.split()))


@dataclass(frozen=True, slots=True)
class RebuildReport:
    """What was found when the catalogue was made again from the files.

    ``ignored`` are the text files that are no papers of their own, each with the reason.
    """

    full_text: int = 0
    abstracts: int = 0
    adopted: int = 0
    ignored: tuple[tuple[str, str], ...] = field(default=())
