"""The record of a stored paper: all facts about it beyond its text.

Each record lies as JSON in ``.papershelf/records`` and is the one truth for programs: authors taken
apart, dates, notices, attempts, the address and the reader of the kept bytes, and what a person
decided stand neither in the text's header nor in these bytes. The catalogue indexes the same JSON:
its row changes in one transaction with the text, so that a reader never meets a record that does
not fit its text; a lost catalogue is made again from the records.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from ..model.identifiers import Ids
from ..model.paper import (
    Attempt,
    Document,
    Fetched,
    Kind,
    Notice,
    Paper,
    Role,
    Section,
    StoredPaper,
    Verdict,
    get_field_names,
    paper_from_row,
    to_row,
    utc_now,
)
from ..model.versions import get_shelf_version, infer_version_from_route
from ..outline import build_outline, collect_declared_section_types
from ..readers import JUDGE_VERSION
from ..system.plain_text import clean_text, one_line, replace_surrogates
from .paper_file import list_form_names, strip_ending

T = TypeVar("T")
ADOPTED = "adopted"
"""``via`` of a file that we did not put on the shelf."""
WITHOUT_TEXT: dict[Kind, Verdict] = {"abstract": "abstract_only", "record": "front_matter_only"}
"""The kinds of file kept of a paper without a text, and the verdict of each."""
_RETRACTED = "Retracted Publication"
_MOST_SECTIONS = 300
_LONGEST_TITLE = 200
_LONGEST_WORD = 60
"""The most that a record keeps of a text's sections; the text itself has them all."""


@dataclass(frozen=True, slots=True)
class ShelfRecord:
    """A stored paper with the facts that only the shelf needs.

    ``order`` (nanoseconds, unique on a shelf) says which of two records is newer; ``words``
    counts the main text. ``media`` is the kind of the untouched bytes, empty where none are kept;
    ``url``, ``charset`` and ``named`` (`Fetched.ids`) are needed to read them again;
    ``extractor`` is the reader that made the text. ``written`` is the checksum of the file as we
    wrote it. ``refused`` lists the texts that a person rejected: checksum, reason.
    """

    stored: StoredPaper
    order: int = 0
    words: int = 0
    media: str = ""
    url: str = ""
    extractor: str = ""
    charset: str = ""
    named: Ids = field(default_factory=Ids)
    written: str = ""
    refused: tuple[tuple[str, str], ...] = ()

    @property
    def file(self) -> str:
        """The file's name on the shelf."""
        return Path(self.stored.path).name

    @property
    def stem(self) -> str:
        """The file's name without its ending; other files of the text share it."""
        return strip_ending(self.file)

    @property
    def ids(self) -> Ids:
        """The paper's identifiers."""
        return self.stored.paper.ids

    @property
    def rank(self) -> int:
        """The completeness of the text; a file is never replaced by one of lower rank."""
        if self.stored.kind == "full_text" and self.stored.verdict in ("partial", "doubtful"):
            return 2
        return {"full_text": 3, "abstract": 1, "record": 0, "rejected": -1}[self.stored.kind]

    def competes_with(self, other: ShelfRecord) -> bool:
        """Return whether a shelf keeps only this record or *other*, both of one paper.

        A shelf holds one text of each version, rejected or not, and an abstract or a record only
        where it holds no text.
        """
        short = {self.stored.kind, other.stored.kind} & WITHOUT_TEXT.keys()
        return bool(short) or get_shelf_version(self.stored) == get_shelf_version(other.stored)

    def is_other_form_of(self, other: ShelfRecord) -> bool:
        """Return whether both are the same text, one as a text file and one as a note."""
        same_text = self.stored.sha256 == other.stored.sha256
        return same_text and self.file in list_form_names(other.file)[1:]

    def replace_metadata(self, paper: Paper) -> ShelfRecord:
        """Return the record with other metadata."""
        return replace(self, stored=replace(self.stored, paper=paper))

    def to_json(self) -> str:
        """Return the record as one line of JSON, without the folder (which may move)."""
        row = to_row(replace(self, stored=replace(self.stored, sections=())))
        row["stored"]["path"] = self.file
        if not self.stored.confidence:
            del row["stored"]["confidence"]
        # Lists, without what they end in when that is empty: they are half of a record.
        row["stored"]["sections"] = [_section_to_row(section) for section in self.stored.sections]
        return json.dumps(row, ensure_ascii=True, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str, folder: Path) -> ShelfRecord:
        """Parse the output of `to_json`.

        Raises
        ------
        ValueError
            The text is no record (a KeyError or TypeError inside counts as that).
        """
        try:
            return _parse_record(text, folder)
        except (KeyError, TypeError, AttributeError) as error:
            msg = f"not a record: {error!r}"
            raise ValueError(msg) from error

    @classmethod
    def from_row(cls, row: dict[str, Any], folder: Path) -> ShelfRecord:
        """Return the record of a parsed JSON object."""
        stored = row["stored"]
        stored["paper"] = paper_from_row(stored["paper"])
        stored["attempts"] = tuple(Attempt(**attempt) for attempt in stored["attempts"])
        stored["sections"] = tuple(_row_to_section(*parts) for parts in stored.get("sections", ()))
        stored["confidence"] = tuple(map(float, stored.get("confidence", ())))
        # Only the last part: a record is a file too, and must not point out of the shelf.
        stored["path"] = str(folder / Path(stored["path"]).name)
        if "version" not in stored and stored["kind"] == "full_text":  # before there were versions
            url = row.get("url", "")
            stored["version"] = infer_version_from_route(stored["via"], stored["paper"], url)
        row["stored"] = correct_kind_of_empty_abstract(StoredPaper(**stored))
        row["named"] = Ids(**row.get("named", {}))
        row["refused"] = tuple((digest, because) for digest, because in row.get("refused", ()))
        return cls(**row)


@lru_cache(maxsize=100)  # filing a paper plans it twice, and reads its record each time
def _parse_record(text: str, folder: Path) -> ShelfRecord:
    return ShelfRecord.from_row(json.loads(text), folder)


def correct_kind_of_empty_abstract(stored: StoredPaper) -> StoredPaper:
    """Return *stored*, with the kind ``record`` if it is an abstract without text."""
    if stored.kind != "abstract" or clean_text(stored.paper.abstract).strip():
        return stored
    return replace(stored, kind="record", verdict=WITHOUT_TEXT["record"])


class ShelfEntry(NamedTuple):
    """A text on the shelf, read from the catalogue without parsing the whole record.

    ``digest`` is that of the record, and changes with the text and all metadata.
    """

    file: str
    kind: Kind
    ids: Ids
    via: str
    license: str
    digest: str


class RawAnswer(NamedTuple):
    """The bytes that a site sent for a stored paper, and the reader of its text.

    ``ours`` says whether the file still is as ``extractor`` made it, not edited by hand.
    """

    fetched: Fetched
    extractor: str
    ours: bool


def compute_sha256(data: bytes) -> str:
    """Return the SHA-256 of bytes, as a hexadecimal number."""
    return hashlib.sha256(data).hexdigest()


def merge_papers(new: Paper, old: Paper) -> Paper:
    """Merge the metadata of one paper; the newer wins, the older fills gaps.

    A published notice stays, even where the newer source does not list it.
    """
    filled = {f.name: getattr(new, f.name) or getattr(old, f.name) for f in fields(Paper)}
    types = filled["publication_types"]
    if _RETRACTED in old.publication_types and _RETRACTED not in types:
        types = (*types, _RETRACTED)
    if new.recorded_by and new.ids.pmcid:
        filled["released"] = new.released  # an embargo that the newer record does not name is over
    more = {
        "ids": new.ids | old.ids,
        "notices": _merge_notices(old, new),
        "publication_types": types,
    }
    return Paper(**{**filled, **more})


def add_identifiers_from(paper: Paper, other: Paper) -> Paper:
    """Return *paper* with identifiers, notices, tags and note of another version's record.

    Titles and dates are not taken: they differ between a preprint and its article.
    """
    notices = _merge_notices(other, paper)
    return replace(
        paper,
        ids=paper.ids | other.ids,
        notices=notices,
        tags=paper.tags or other.tags,
        note=paper.note or other.note,
    )


def _merge_notices(*papers: Paper) -> tuple[Notice, ...]:
    """Return each notice once, from the last of *papers* that has it.

    A notice without PMID and reference is dropped where another one of its kind has them.
    """
    every = [notice for paper in papers for notice in paper.notices]
    found = {(n.kind, n.pmid or n.reference): n for n in every}
    named_kinds = {kind for kind, name in found if name}
    return tuple(n for (kind, name), n in found.items() if name or kind not in named_kinds)


def replace_unencodable(value: T) -> T:
    """Return a record, or a part of one, without characters that UTF-8 cannot encode."""
    if isinstance(value, str):
        return replace_surrogates(value)  # type: ignore[return-value]
    if isinstance(value, tuple):
        return tuple(map(replace_unencodable, value))  # type: ignore[return-value]
    if is_dataclass(value) and not isinstance(value, type):
        parts = {f.name: replace_unencodable(getattr(value, f.name)) for f in fields(value)}
        return replace(value, **parts)
    return value


def mark_retracted(paper: Paper, stated_by: str) -> Paper:
    """Return *paper* marked as retracted; *stated_by* names the text or site that states it."""
    if paper.retracted:
        return paper
    notice = Notice("retraction", f"stated by {stated_by}")
    return replace(paper, notices=(*paper.notices, notice))


def build_full_text_record(
    paper: Paper, document: Document, fetched: Fetched, source: str, attempts: Sequence[Attempt]
) -> ShelfRecord:
    """Return the record of a full text that has no file yet."""
    if document.retracted or fetched.retracted:
        paper = mark_retracted(paper, fetched.source)
    stored = StoredPaper(
        paper=paper,
        kind="full_text",
        path="",
        source=source,
        via=fetched.via,
        sha256="",
        license=document.license,
        verdict=document.verdict,
        attempts=tuple(attempts),
        saved_at=utc_now(),
        sections=_list_declared_sections(document),
        version=document.version,
        preprint_version=paper.version if document.version == "preprint" else "",
        evidence=one_line(document.evidence),
        judges=JUDGE_VERSION,
        confidence=document.confidence,
    )
    record = ShelfRecord(
        stored,
        words=_count_body_words(document),
        media=fetched.media,
        url=fetched.url,
        extractor=document.extractor,
        charset=fetched.charset,
        named=fetched.ids,
    )
    return replace_unencodable(record)


def build_renewed_record(record: ShelfRecord, document: Document) -> ShelfRecord:
    """Return the record of a text that was read again; origin and attempts stay."""
    stored = record.stored
    paper = stored.paper
    if document.retracted:
        paper = mark_retracted(paper, stored.source)
    license_ = stored.license or document.license
    renewed = replace(
        stored,
        paper=paper,
        license=license_,
        sections=_list_declared_sections(document),
        confidence=document.confidence,
    )
    if not stored.by_hand:
        said = one_line(document.evidence)
        renewed = replace(renewed, verdict=document.verdict, evidence=said, judges=JUDGE_VERSION)
    return replace_unencodable(
        replace(
            record, stored=renewed, words=_count_body_words(document), extractor=document.extractor
        )
    )


def build_sections(text: str, stored: StoredPaper) -> tuple[Section, ...]:
    """Return the sections of a stored file, limited as its record keeps them."""
    parts = build_outline(text, collect_declared_section_types(stored.sections))[:_MOST_SECTIONS]
    return tuple(replace(part, title=part.title[:_LONGEST_TITLE]) for part in parts)


def _list_declared_sections(document: Document) -> tuple[Section, ...]:
    """Return the publisher's names of sections; their positions follow with the file."""
    some = document.declared[:_MOST_SECTIONS]
    return tuple(Section(title, 0, 0, 0, declared=word[:_LONGEST_WORD]) for title, word in some)


def _section_to_row(section: Section) -> list[Any]:
    parts = [getattr(section, name) for name in get_field_names(section)]
    while parts and not parts[-1]:
        parts.pop()
    return parts


def _row_to_section(  # the positions, then the fields that may be missing
    title: str,
    level: int,
    start: int,
    end: int,
    roles: Sequence[Role] = (),
    floats: Sequence[str] = (),
    declared: str = "",
) -> Section:
    return Section(title, level, start, end, tuple(roles), tuple(floats), declared)


def _count_body_words(document: Document) -> int:
    return document.body_words or len(document.markdown.split())


def build_abstract_record(paper: Paper, attempts: Sequence[Attempt], via: str) -> ShelfRecord:
    """Return the record of an abstract, or of a citation without one, that has no file yet."""
    kind: Kind = "abstract" if clean_text(paper.abstract).strip() else "record"
    stored = StoredPaper(
        paper=paper,
        kind=kind,
        path="",
        source="PubMed_Abstract",
        via=via,
        sha256="",
        verdict=WITHOUT_TEXT[kind],
        attempts=tuple(attempts),
        saved_at=utc_now(),
    )
    return replace_unencodable(ShelfRecord(stored, words=len(paper.abstract.split())))
