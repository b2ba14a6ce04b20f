"""Records: what the shelf knows of a stored paper beyond its text.

Every record lies as JSON in ``.papershelf/records``, so that the catalogue, which holds the same
records with indexes around them, can always be made again from the files.

The filters of a listing of the shelf, and their SQL.

``index.csv`` and ``index.jsonl``: the shelf as a table, for pandas, R, Excel and plain eyes.

A new paper is a line appended to both; a change of a line writes both anew beside the old and
renames, and what changes no line writes nothing. The catalogue remembers length, time and number
of the files, so that one torn by a crash or edited by hand is noticed and written again.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, field, fields, is_dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, get_args

from ..errors import BadRequest
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
    now,
    paper_from,
    to_row,
)
from ..model.versions import by_route, text_slot
from ..outline import outline, section_words
from ..readers import JUDGES
from ..system.plain_text import cell, clean_text, encodable, one_line
from ..system.safe_files import disk, replacing

T = TypeVar("T")
ADOPTED = "adopted"
"""``via`` of a file that somebody else put on the shelf."""
WITHOUT_TEXT: dict[Kind, Verdict] = {"abstract": "abstract_only", "record": "front_matter_only"}
"""What is kept of a paper whose text nobody offers, and the verdict on it."""
_RETRACTED = "Retracted Publication"
_MOST_SECTIONS = 300
_LONGEST_TITLE = 200
_LONGEST_WORD = 60
"""What a record keeps of a text's sections; whoever reads the text itself sees them all."""
_INDEXED = "words JOIN papers ON papers.id = words.rowid"
_LOOKED_THROUGH = "papers JOIN texts ON texts.id = papers.id"
_NEWEST = "papers.filed DESC"
_AMONG = """papers.id IN (SELECT names.paper FROM names
    WHERE names.name IN (SELECT value FROM json_each(?)))"""
COLUMNS = (
    *("key", "pmid", "pmcid", "doi", "arxiv", "title", "authors", "journal", "year", "kind"),
    *("source", "via", "license", "retracted", "verdict", "words", "file", "sha256", "saved_at"),
    *("version", "preprint_version", "evidence"),
)


@dataclass(frozen=True, slots=True)
class Record:
    """A stored paper with what only the shelf needs to know.

    ``order`` (nanoseconds, unique on a shelf) says which of two records is newer; ``words``
    counts the main text. ``media`` is the kind of the untouched bytes, empty where none are kept;
    ``url``, ``charset`` and ``named`` (`Fetched.ids`) are what reading them takes besides;
    ``extractor`` made the text of them. ``written`` is the checksum of the file as we wrote it.
    ``refused`` are texts that somebody rejected: checksum, reason.
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
        if self.stored.kind == "full_text" and self.stored.verdict in ("partial", "doubtful"):
            return 2
        return {"full_text": 3, "abstract": 1, "record": 0, "rejected": -1}[self.stored.kind]

    def same_text_as(self, other: Record) -> bool:
        """Whether only one of two records of one paper can lie on a shelf.

        A shelf holds one text of each version, be it rejected, and an abstract or a record only
        where it holds no text.
        """
        short = {self.stored.kind, other.stored.kind} & WITHOUT_TEXT.keys()
        return bool(short) or text_slot(self.stored) == text_slot(other.stored)

    def with_paper(self, paper: Paper) -> Record:
        """The same record with other metadata."""
        return replace(self, stored=replace(self.stored, paper=paper))

    def to_json(self) -> str:
        """The record as one line of JSON, without the folder (which may move)."""
        row = to_row(replace(self, stored=replace(self.stored, sections=())))
        row["stored"]["path"] = self.file
        if not self.stored.confidence:
            del row["stored"]["confidence"]
        # Lists, without what they end in when that is empty: they are half of a record.
        row["stored"]["sections"] = [_listed(section) for section in self.stored.sections]
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
            return _record_from(text, folder)
        except (KeyError, TypeError, AttributeError) as error:
            msg = f"not a record: {error!r}"
            raise ValueError(msg) from error

    @classmethod
    def from_row(cls, row: dict[str, Any], folder: Path) -> Record:
        """Read back what `to_json` makes JSON of."""
        stored = row["stored"]
        stored["paper"] = paper_from(stored["paper"])
        stored["attempts"] = tuple(Attempt(**attempt) for attempt in stored["attempts"])
        stored["sections"] = tuple(_section(*parts) for parts in stored.get("sections", ()))
        stored["confidence"] = tuple(map(float, stored.get("confidence", ())))
        # Only the last part: a record is a file too, and must not point out of the shelf.
        stored["path"] = str(folder / Path(stored["path"]).name)
        if "version" not in stored and stored["kind"] == "full_text":  # before there were versions
            url = row.get("url", "")
            stored["version"] = by_route(stored["via"], stored["paper"], url)
        row["stored"] = as_record_if_empty(StoredPaper(**stored))
        row["named"] = Ids(**row.get("named", {}))
        row["refused"] = tuple((digest, because) for digest, because in row.get("refused", ()))
        return cls(**row)


@lru_cache(maxsize=100)  # whoever files a paper plans it twice, and meets its record each time
def _record_from(text: str, folder: Path) -> Record:
    return Record.from_row(json.loads(text), folder)


def as_record_if_empty(stored: StoredPaper) -> StoredPaper:
    """*stored* as a record where it was called an abstract without having one, as it once was."""
    if stored.kind != "abstract" or clean_text(stored.paper.abstract).strip():
        return stored
    return replace(stored, kind="record", verdict=WITHOUT_TEXT["record"])


class RawAnswer(NamedTuple):
    """The bytes a site sent for a stored paper, and the reader of its text.

    ``ours`` says whether the file still is what ``extractor`` made, not edited by hand.
    """

    fetched: Fetched
    extractor: str
    ours: bool


def sha256(data: bytes) -> str:
    """Checksum as it stands in the catalogue."""
    return hashlib.sha256(data).hexdigest()


def merge_papers(new: Paper, old: Paper) -> Paper:
    """The union of two records of one paper; the newer wins, the older fills gaps.

    A published notice stays, also where a source does not know of it.
    """
    filled = {f.name: getattr(new, f.name) or getattr(old, f.name) for f in fields(Paper)}
    types = filled["publication_types"]
    if _RETRACTED in old.publication_types and _RETRACTED not in types:
        types = (*types, _RETRACTED)
    if new.recorded_by and new.ids.pmcid:
        filled["released"] = new.released  # an embargo that today's record does not name is over
    more = {"ids": new.ids | old.ids, "notices": _notices(old, new), "publication_types": types}
    return Paper(**{**filled, **more})


def with_names_of(paper: Paper, other: Paper) -> Paper:
    """*paper* with the names and notices that the record of another version knows.

    Nothing else: titles and dates differ between a preprint and its article.
    """
    notices = _notices(other, paper)
    return replace(paper, ids=paper.ids | other.ids, notices=notices)


def _notices(*papers: Paper) -> tuple[Notice, ...]:
    """Each notice once, from the last of *papers* that has it; bare ones only if alone."""
    every = [notice for paper in papers for notice in paper.notices]
    found = {(n.kind, n.pmid or n.reference): n for n in every}
    section_words = {kind for kind, reference in found if reference}
    return tuple(n for (kind, name), n in found.items() if name or kind not in section_words)


def writable(value: T) -> T:
    """*value* (a record or a part of one) with every string such as UTF-8 can hold."""
    if isinstance(value, str):
        return encodable(value)  # type: ignore[return-value]
    if isinstance(value, tuple):
        return tuple(map(writable, value))  # type: ignore[return-value]
    if is_dataclass(value) and not isinstance(value, type):
        parts = {f.name: writable(getattr(value, f.name)) for f in fields(value)}
        return replace(value, **parts)
    return value


def with_retraction(paper: Paper, stated_by: str) -> Paper:
    """*paper* marked as retracted, on the word of the text or the site that sent it."""
    if paper.retracted:
        return paper
    notice = Notice("retraction", f"stated by {stated_by}")
    return replace(paper, notices=(*paper.notices, notice))


def full_text_record(
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
        license=document.license,
        verdict=document.verdict,
        attempts=tuple(attempts),
        saved_at=now(),
        sections=_declared(document),
        version=document.version,
        preprint_version=paper.version if document.version == "preprint" else "",
        evidence=one_line(document.evidence),
        judges=JUDGES,
        confidence=document.confidence,
    )
    record = Record(
        stored,
        words=_words(document),
        media=fetched.media,
        url=fetched.url,
        extractor=document.extractor,
        charset=fetched.charset,
        named=fetched.ids,
    )
    return writable(record)


def renewed_record(record: Record, document: Document) -> Record:
    """The record of a better reading of the same bytes; origin and attempts stay."""
    stored = record.stored
    paper = stored.paper
    if document.retracted:
        paper = with_retraction(paper, stored.source)
    license_ = stored.license or document.license
    renewed = replace(
        stored,
        paper=paper,
        license=license_,
        sections=_declared(document),
        confidence=document.confidence,
    )
    if not stored.by_hand:
        said = one_line(document.evidence)
        renewed = replace(renewed, verdict=document.verdict, evidence=said, judges=JUDGES)
    return writable(
        replace(record, stored=renewed, words=_words(document), extractor=document.extractor)
    )


def sections_of(text: str, stored: StoredPaper) -> tuple[Section, ...]:
    """The sections of a stored file, as its record keeps them."""
    parts = outline(text, section_words(stored.sections))[:_MOST_SECTIONS]
    return tuple(replace(part, title=part.title[:_LONGEST_TITLE]) for part in parts)


def _declared(document: Document) -> tuple[Section, ...]:
    """The publisher's words for sections, until the text has its place in a file."""
    some = document.declared[:_MOST_SECTIONS]
    return tuple(Section(title, 0, 0, 0, declared=word[:_LONGEST_WORD]) for title, word in some)


def _listed(section: Section) -> list[Any]:
    parts = list(astuple(section))
    while parts and not parts[-1]:
        parts.pop()
    return parts


def _section(  # its places, then what `_listed` left out where it was empty
    title: str,
    level: int,
    start: int,
    end: int,
    roles: Sequence[Role] = (),
    floats: Sequence[str] = (),
    declared: str = "",
) -> Section:
    return Section(title, level, start, end, tuple(roles), tuple(floats), declared)


def _words(document: Document) -> int:
    return document.body_words or len(document.markdown.split())


def abstract_record(paper: Paper, attempts: Sequence[Attempt], via: str) -> Record:
    """The record of an abstract that has no file yet, or of a citation where there is none."""
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
        saved_at=now(),
    )
    return writable(Record(stored, words=len(paper.abstract.split())))


@dataclass(frozen=True, slots=True)
class RebuildReport:
    """What was found when the catalogue was made again from the files.

    ``ignored`` are the text files that are no papers of their own, each with the reason.
    """

    full_text: int = 0
    abstracts: int = 0
    records: int = 0
    rejected: int = 0
    adopted: int = 0
    ignored: tuple[tuple[str, str], ...] = field(default=())


@dataclass(frozen=True, slots=True)
class ListingFilter:
    """The filters of a listing; empty means any.

    Every word of ``text`` must be in title or abstract; ``journal`` is part of a journal's name
    or of NLM's abbreviation of it, or its ISSN; a paper goes by one of the names in ``among``,
    where that is not None.

    Raises
    ------
    BadRequest
        A filter has a value that cannot be.
    """

    text: str = ""
    kind: str = ""
    year_from: str = ""
    year_to: str = ""
    journal: str = ""
    among: frozenset[str] | None = None

    def __post_init__(self) -> None:
        if self.kind not in {"", *get_args(Kind)}:
            raise BadRequest(f"{self.kind!r} is no kind.", f"Give {', '.join(get_args(Kind))}.")
        for year in filter(None, (self.year_from, self.year_to)):
            if not re.fullmatch(r"[0-9]{4}", year):
                raise BadRequest(f"{year!r} is no year.", "Give four digits.")

    def as_sql(self, fts: bool) -> tuple[str, list[str], list[object], str]:
        """Tables, conditions, their values, and the order; words by index where there is one."""
        tables, order = "papers", _NEWEST
        where: list[str] = []
        values: list[object] = []
        words = re.findall(r"\w+", self.text)
        if words and fts:
            tables, order = _INDEXED, f"bm25(words, 4.0, 1.0), {_NEWEST}"
            where.append("words MATCH ?")
            # Quoted, so that what a user types is never an operator of the index.
            values.append(" ".join(f'"{word}"' for word in words))
        elif words:
            tables = _LOOKED_THROUGH
            where += ["texts.title || ' ' || texts.abstract LIKE ? ESCAPE '\\'"] * len(words)
            values += [_like_pattern(word) for word in words]
        elif self.text.strip():
            where.append("0")  # nothing but punctuation: no paper has it as a word
        for condition, value in (
            ("papers.kind = ?", self.kind),
            ("papers.year >= ?", self.year_from),
            ("papers.year <> '' AND papers.year <= ?", self.year_to),
        ):
            if value:
                where.append(condition)
                values.append(value)
        if self.journal:
            where.append(_OF_JOURNAL)
            abbreviated = self.journal.replace(".", "")
            values += [_like_pattern(self.journal), _like_pattern(abbreviated)]
            values.append(encodable(self.journal))
        if self.among is not None:
            where.append(_AMONG)
            values.append(json.dumps(sorted(self.among)))
        return tables, where, values, order


# As a whole name, as NLM abbreviates it (without points), or by its ISSN.
_OF_JOURNAL = """(papers.journal LIKE ? ESCAPE '\\'
    OR json_extract(papers.record, '$.stored.paper.journal_abbreviation') LIKE ? ESCAPE '\\'
    OR json_extract(papers.record, '$.stored.paper.issn') = ? COLLATE NOCASE)"""


def _like_pattern(text: str) -> str:
    escaped = re.sub(r"([\\%_])", r"\\\1", encodable(text))
    return f"%{escaped}%"


def line(record: Record) -> str:
    """One line of ``index.jsonl``."""
    stored, paper, ids = record.stored, record.stored.paper, record.ids
    row = {
        "key": ids.key,
        "pmid": ids.pmid,
        "pmcid": ids.pmcid,
        "doi": ids.doi,
        "arxiv": f"arXiv:{ids.arxiv}" if ids.arxiv else "",  # 2511.0410 is no number
        "title": one_line(paper.title),
        "authors": one_line(paper.author_names),
        "journal": one_line(paper.journal),
        "year": paper.year,
        "kind": stored.kind,
        "source": stored.source,
        "via": stored.via,
        "license": one_line(stored.license),
        "retracted": paper.retracted,
        "verdict": stored.verdict,
        "words": record.words,
        "file": record.file,
        "sha256": stored.sha256,
        "saved_at": stored.saved_at,
        "sections": list(dict.fromkeys(role for part in stored.sections for role in part.roles)),
        "version": stored.version,
        "preprint_version": stored.preprint_version,
        "evidence": stored.evidence,
    }
    return json.dumps(row, ensure_ascii=False) + "\n"


class IndexFiles:
    """The two index files of one folder. Callers hold the catalogue's write lock."""

    def __init__(self, folder: Path) -> None:
        self._csv = folder / "index.csv"
        self._jsonl = folder / "index.jsonl"

    def state(self) -> str:
        """Size, time and number of both files: differs after a crash or an edit by hand.

        The size alone would miss a writer killed after the renames: a row may change and keep
        its length.
        """
        columns = f"{len(COLUMNS)} columns"  # files of an older version are made anew
        return " ".join([*map(_state, (self._csv, self._jsonl)), columns])

    def append(self, lines: Sequence[str]) -> None:
        """Add papers at the end of both files, which exist."""
        both = (self._csv, "".join(map(_cells, lines))), (self._jsonl, "".join(lines))
        for path, text in both:
            # Not flushed to the disk: after a power cut the length tells, and it is made anew.
            with disk(path), path.open("ab") as file:
                file.write(text.encode("utf-8", "replace"))

    def rewrite(self, lines: Iterable[str]) -> None:
        """Write both files anew, line by line; one that would be the same stays as it is."""
        with disk(self._csv), replacing(self._csv) as table, replacing(self._jsonl) as rows:
            table.write(",".join(COLUMNS) + "\n")
            for one in lines:
                table.write(_cells(one))
                rows.write(one)


def _state(path: Path) -> str:
    try:
        status = path.stat()
    except OSError:
        return "absent"
    return f"{status.st_size}:{status.st_mtime_ns}:{status.st_ino}"


@lru_cache(maxsize=250)  # a small shelf is written anew at every change of one line
def _cells(text: str) -> str:
    """The row of ``index.csv`` for a line of ``index.jsonl``."""
    row = json.loads(text)
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerow(cell(row.get(column, "")) for column in COLUMNS)
    return out.getvalue()
