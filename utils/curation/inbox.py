"""Files handed in by people: matched to their papers, judged like a download, and filed.

What no program may fetch, a person often may: through a library, from an author. Such files are
dropped into ``inbox/`` on the shelf. Each is matched to a paper by the identifiers it names, by
its file name or by its title, passes the same judges as everything else, and is filed ``via
manual``. No file is ever deleted: one that was filed is moved to ``inbox/filed/``, every other
stays where it is, and the result says why.

``source`` has four words for a full text. One brought by hand counts as ``DOI``, the publisher's
side, or as ``arXiv`` for a paper that has no DOI but is on arXiv: it did not come from PMC.

The files of the inbox: listed, read safely, and moved away once filed.

Browsers and copy programs write into the same folder meanwhile; names, sizes and contents are
not to be trusted. Nothing here follows a link, waits for a pipe or reads more than a download may
have.
"""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

from .. import formats
from ..download.ladder import Ladder
from ..download.lookup import look_up
from ..errors import BadContent, BadRequest, NotFound, PaperError
from ..harvest.jobs import Ledgers
from ..model.identifiers import Ids
from ..model.paper import Attempt, Document, Fetched, Media, Paper
from ..model.versions import text_slot
from ..store import Shelf, paper_file
from ..store.paper_file import ENDINGS, ids_from
from ..system import safe_files
from ..system.plain_text import encodable, one_line
from ..web import MAX_BYTES

FOLDER = "inbox"
_CANDIDATES = 20
_WORDS = (8, 4)  # of a title, the longest: all of them seldom survive typesetting
_PRINTED = ("pdf", "markdown")  # an identifier printed there may be that of a cited paper
_BY_NAME = "Name the file after its PMID or DOI."
Outcome = Literal["filed", "rejected", "unmatched", "ambiguous", "postponed"]
FILED = "filed"
VIA = "manual"
_UNDER_WAY = (".part", ".partial", ".crdownload", ".opdownload", ".download", ".tmp")
_SETTLED_S = 2.0  # a file nobody has written to for so long is complete
_HEAD = 65_536
_TEXTS = (".txt", ".md", ".markdown")
_PAGES = (".html", ".htm", ".xhtml")
_JATS = re.compile(rb"<(?:article|pmc-articleset)[\s>]")
_OF_HTML = re.compile(rb"<!doctype html|<html[\s>]", re.I)
_OPENING, _PARAGRAPHS = 3000, 8  # where the title stands
_LONGEST = 500  # characters of a title
_TELLING = 3  # its words; "Editorial" names no paper
# XMP, which publishers leave uncompressed: the one place where a PDF reliably names its DOI.
_XMP = re.compile(
    rb"<(?:prism|pdfx|crossmark|jav):(?:WPS-ARTICLE)?doi>\s*(?:doi:)?(10\.[^<\s]{3,200})", re.I
)


@dataclass(frozen=True, slots=True)
class InboxResult:
    """The result for one file.

    Parameters
    ----------
    file : str
        Its name in the inbox.
    outcome : str
        ``filed``; ``rejected`` (it is not the whole paper, or not this one); ``unmatched`` (no
        paper is known that it could be); ``ambiguous`` (it could be several); ``postponed``
        (no source could tell now: run it again).
    detail : str
        The same in a sentence.
    paper, title : str
        The paper it was matched to, if any.
    file_path : str
        The text on the shelf.
    jobs : tuple of str
        Harvests that lacked the text and have it now.
    """

    file: str
    outcome: Outcome
    detail: str
    paper: str = ""
    title: str = ""
    file_path: str = ""
    jobs: tuple[str, ...] = ()

    def row(self) -> dict[str, Any]:
        """The fields, for JSON."""
        return {**asdict(self), "jobs": list(self.jobs)}


def take_in(ladder: Ladder, *, accept: str = "") -> Iterator[InboxResult]:
    """Match, judge and file the files in ``inbox/``, once.

    *accept* is a reason for filing what the judges refuse, where it is clear which paper it is; it
    is recorded with the text.

    Killed at any instant, it loses nothing: a file leaves the inbox last, and the next walk
    completes the work.

    Yields
    ------
    InboxResult
        One for each file; hidden files and downloads under way are passed over.

    Raises
    ------
    StoreFailed
        The disk refuses.
    """
    complete, growing = list_files(ladder.shelf.folder / FOLDER)
    for path in growing:
        detail = "It is empty, or still being written. Run this again when it is complete."
        yield InboxResult(display_name(path), "postponed", detail)
    inbox = _Inbox(ladder, accepting=one_line(accept))
    matches = []
    for path in complete:
        match_or_result = inbox.match(path)
        if isinstance(match_or_result, InboxResult):
            yield match_or_result
        elif match_or_result:
            matches.append(match_or_result)
    inbox.look_up(matches)
    try:
        for match in matches:
            if done := inbox.take(match):
                yield done
    finally:
        inbox.ledgers.close()


@dataclass(frozen=True, slots=True)
class _Match:
    """A file, and the papers it could be of.

    ``claimed_ids`` are the identifiers in its text, ``name_ids`` those in its file name;
    ``same_name`` and ``same_title`` are papers of the shelf with that file name, or that title.
    """

    path: Path
    claimed_ids: Ids
    name_ids: Ids
    same_name: tuple[Paper, ...]
    same_title: tuple[Paper, ...]

    @property
    def names(self) -> list[Ids]:
        return [ids for ids in (self.claimed_ids, self.name_ids) if ids]

    def is_supported_for(self, paper: Paper) -> bool:
        """Whether more than the identifiers in the text points to *paper*."""
        others = [self.name_ids, *(other.ids for other in (*self.same_name, *self.same_title))]
        return any(ids.shares(paper.ids) for ids in others)


@dataclass(slots=True)
class _Inbox:
    """One walk through the inbox."""

    ladder: Ladder
    records: dict[Ids, Paper | PaperError] = field(default_factory=dict)
    ledgers: Ledgers = field(init=False)
    accepting: str = ""

    def __post_init__(self) -> None:
        self.ledgers = Ledgers(self.ladder)

    @property
    def shelf(self) -> Shelf:
        return self.ladder.shelf

    # -- whose it is -------------------------------------------------------------------------

    def match(self, path: Path) -> _Match | InboxResult | None:
        """Read which paper a file says it is; None when it is gone.

        The text is read again when it is judged: there may be many files, and large ones.
        """
        try:
            found = read(path)
            document = read_document(found)
        except FileNotFoundError:
            return None
        except BadContent as bad:
            return InboxResult(display_name(path), "rejected", str(bad))
        stem = path.stem
        names = (f"{stem}{ending}" for ending in ("", *ENDINGS.values()))
        same_name = next(filter(None, map(self.shelf.find_by_file, names)), None)
        same_title: dict[str, Paper] = {}
        for title in titles_of(document, path):
            same_title |= {paper.ids.key: paper for paper in self._papers_with_title(title)}
        match = _Match(
            path,
            found.named or document.ids,
            Ids.maybe(stem) or ids_from(stem),
            (same_name.paper,) if same_name else (),
            tuple(same_title.values()),
        )
        if match.names or same_name or same_title:
            return match
        return _unmatched(path, document)

    def _papers_with_title(self, title: str) -> list[Paper]:
        """Papers of the shelf with this title; those of harvests lie there as abstracts."""
        from ..judges.check import SAME_TITLE
        from ..judges.likeness import title_likeness, title_words

        words = sorted(title_words(title), key=len, reverse=True)
        for most in _WORDS:
            _, page = self.shelf.list(text=" ".join(words[:most]), max_results=_CANDIDATES)
            papers = [stored.paper for stored in page]
            alike = [p for p in papers if title_likeness(p.title, title) >= SAME_TITLE]
            if alike:
                return alike
        return []

    def look_up(self, matches: Sequence[_Match]) -> None:
        """Get the records of the named papers: from the shelf, else in one batch from sources."""
        named = list(dict.fromkeys(ids for match in matches for ids in match.names))
        self._load_records(named)
        # One of two identifiers is that of a cited paper; the judges can tell which.
        contradict = [ids for ids in named if isinstance(self.records[ids], BadRequest)]
        self._load_records([part for ids in contradict for part in _single_ids(ids)])

    def _load_records(self, names: Sequence[Ids]) -> None:
        unknown = []
        for ids in names:
            if stored := self.shelf.find(ids):
                self.records[ids] = stored.paper
            else:
                unknown.append(ids)
        if unknown:
            self.records |= look_up(unknown, self.ladder.web, self.ladder.sources)

    def _records_of(self, ids: Ids) -> list[Paper | PaperError]:
        found = self.records.get(ids)
        if isinstance(found, BadRequest):
            return [found, *(self.records[part] for part in _single_ids(ids))]
        return [found] if found else []

    # -- whether it is that ------------------------------------------------------------------

    def take(self, match: _Match) -> InboxResult | None:
        """Judge a file against each paper it could be of; None when it is gone meanwhile."""
        try:
            found = read(match.path)
        except FileNotFoundError:  # another process was faster
            return None
        except BadContent as bad:
            return InboxResult(display_name(match.path), "rejected", str(bad))
        refused: list[tuple[Paper, BadContent]] = []
        for papers in self._candidate_groups(match):
            fitting = []
            for paper in papers:
                try:
                    fitting.append((paper, _judge(found, paper, match)))
                except BadContent as bad:
                    refused.append((paper, bad))
            if len(fitting) > 1:
                names = " or ".join(str(paper.ids) for paper, _ in fitting)
                return InboxResult(
                    display_name(match.path), "ambiguous", f"It may be {names}. {_BY_NAME}"
                )
            if fitting:
                return self._file(match.path, found, *fitting[0])
        if self.accepting and (done := self._file_by_hand(match.path, found, refused)):
            return done
        return self._not_filed(match, refused)

    def _file_by_hand(
        self, path: Path, found: InboxFile, refused: Sequence[tuple[Paper, BadContent]]
    ) -> InboxResult | None:
        """File what the judges refused, by hand; None if it could be several papers."""
        if len({paper.ids.key for paper, _ in refused}) != 1:
            return None
        paper, bad = refused[0]
        claims = read_document(found)  # has a text: it was read before
        document = formats.with_provenance(claims, found.fetched, paper)
        accepted = replace(document, verdict="by_hand", evidence=self.accepting)
        done = self._file(path, found, paper, accepted)
        if done.detail != self.accepting:  # the shelf has better
            return done
        return replace(done, detail=f"by hand: {done.detail} (the judges said {bad.outcome})")

    def _candidate_groups(self, match: _Match) -> Iterator[list[Paper]]:
        """The papers a file could be of, each once: by its text, its file name, its title."""
        seen: set[str] = set()
        claimed, named = map(self._records_of, (match.claimed_ids, match.name_ids))
        for group in (claimed, [*match.same_name, *named], match.same_title):
            papers = {p.ids.key: p for p in group if isinstance(p, Paper)}
            yield [paper for key, paper in papers.items() if key not in seen]
            seen |= set(papers)

    def _not_filed(self, match: _Match, refused: Sequence[tuple[Paper, BadContent]]) -> InboxResult:
        name = display_name(match.path)
        outcomes = [outcome for ids in match.names for outcome in self._records_of(ids)]
        troubles = [outcome for outcome in outcomes if isinstance(outcome, PaperError)]
        for trouble in troubles:
            if not isinstance(trouble, NotFound | BadRequest):
                return InboxResult(name, "postponed", str(trouble), str(match.names[0]))
        if refused:
            paper, bad = min(refused, key=lambda pair: pair[1].outcome == "wrong_paper")
            return InboxResult(name, "rejected", str(bad), str(paper.ids), one_line(paper.title))
        reasons = " ".join(trouble.message for trouble in troubles)
        return InboxResult(name, "unmatched", f"{reasons} {_BY_NAME}")

    # -- filing ------------------------------------------------------------------------------

    def _file(self, path: Path, found: InboxFile, paper: Paper, document: Document) -> InboxResult:
        version = document.version or "published"
        present = self.shelf.find(paper.ids, version)
        detail = document.evidence
        complete = present and present.kind == "full_text" and text_slot(present) == version
        if present and complete and present.verdict == "full_text" and present.via != VIA:
            # Nothing is replaced unasked: a PDF is seldom better than what PMC sends.
            stored = present
            detail = f"The shelf had its full text already, by {present.via}; it stays."
        else:
            before = [a for a in present.attempts if a.source != VIA] if present else []
            stored = self.shelf.save(
                paper,
                document,
                replace(found.fetched, ids=paper.ids),
                source="arXiv" if paper.ids.arxiv and not paper.ids.doi else "DOI",
                attempts=[*before, Attempt(VIA, "saved", f"{display_name(path)}: {detail}")],
            )
        jobs = self.ledgers.record_arrival(stored)
        move_to_filed(path)
        title, on_shelf = one_line(stored.paper.title), stored.path
        return InboxResult(
            display_name(path), "filed", detail, str(stored.paper.ids), title, on_shelf, jobs
        )


def _judge(found: InboxFile, paper: Paper, match: _Match) -> Document:
    """The text, if the judges take it for that of *paper*.

    Where *paper* was only found by an identifier printed in the text, that identifier proves
    nothing: it may be that of a paper cited on the first page. Then the rest has to agree.
    """
    from ..judges.check import identity

    document = formats.read(replace(found.fetched, ids=paper.ids), paper)
    if found.fetched.media in _PRINTED and not match.is_supported_for(paper):
        judged = identity(replace(document, ids=Ids()), paper)
        if judged.verdict != "full_text":
            msg = f"It names {paper.ids}, but seems to be another paper: {judged.evidence}."
            raise BadContent(msg, f"If it is that one: {_BY_NAME}", verdict="wrong_paper")
    return document


def _single_ids(ids: Ids) -> list[Ids]:
    return [Ids(**{kind: value}) for kind, value in asdict(ids).items() if value]


def _unmatched(path: Path, document: Document) -> InboxResult:
    from ..judges.check import completeness
    from ..model.verdicts import MEANINGS

    judged = completeness(document, Paper(Ids()))
    if judged.verdict in ("scanned", "empty"):
        meaning = MEANINGS[judged.verdict]
        return InboxResult(display_name(path), "rejected", f"{meaning.said}. {meaning.hint}")
    detail = f"It names no paper, and no paper on the shelf has its title. {_BY_NAME}"
    return InboxResult(display_name(path), "unmatched", detail)


class InboxFile(NamedTuple):
    """A file of the inbox: its bytes, and the paper its own header or metadata names."""

    fetched: Fetched
    named: Ids


def display_name(path: Path) -> str:
    """The name of a file, safe to show."""
    return one_line(encodable(path.name))


def list_files(folder: Path) -> tuple[list[Path], list[Path]]:
    """The complete files in a folder, and those that are empty or still being written.

    Hidden files, downloads under way and folders are left out.
    """
    with safe_files.disk(folder, "read"):
        if not folder.is_dir():
            return [], []
        names = sorted(entry.name for entry in os.scandir(folder) if _is_candidate(entry))
    paths = [folder / name for name in names]
    before = [_status(path) for path in paths]
    youngest = max((mtime for _, mtime in before), default=0) / 1e9
    if (left := youngest + _SETTLED_S - time.time()) > 0:
        time.sleep(min(left, _SETTLED_S))  # a clock may be wrong
    complete: list[Path] = []
    growing: list[Path] = []
    for path, status in zip(paths, before, strict=True):
        is_complete = status[0] > 0 and _status(path) == status
        (complete if is_complete else growing).append(path)
    return complete, growing


def _is_candidate(entry: os.DirEntry[str]) -> bool:
    if entry.name.startswith((".", "~$")) or entry.name.lower().endswith(_UNDER_WAY):
        return False
    return entry.is_symlink() or entry.is_file(follow_symlinks=False)


def _status(path: Path) -> tuple[int, int]:
    try:
        found = path.lstat()
    except OSError:
        return 0, 0
    return found.st_size, found.st_mtime_ns


def read(path: Path) -> InboxFile:
    """Read a file, and find out what kind of content it is.

    Raises
    ------
    BadContent
        It is of a kind that no paper comes as, or too large.
    FileNotFoundError
        It is gone.
    StoreFailed
        It cannot be read.
    """
    body = _read_bytes(path)
    media = _media(path, body)
    if media is None:
        raise _refusal("It is neither PDF, HTML, JATS XML nor plain text")
    named = Ids()
    if media == "pdf" and (doi := _XMP.search(body)):
        named = Ids.maybe(doi[1].decode("ascii", "replace"))
    if media == "markdown" and (header := paper_file.parse(body.decode("utf-8", "replace"))):
        # A text of another shelf: its header names the paper, and is not part of the text.
        body, named = header.body.encode("utf-8", "replace"), header.ids
        return InboxFile(Fetched(body, media, "", "the inbox", VIA, version=header.version), named)
    return InboxFile(Fetched(body, media, "", "the inbox", VIA), named)


def _read_bytes(path: Path) -> bytes:
    if path.is_symlink():
        raise _refusal("It is a link, and links are not followed", "Put the file itself there.")
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    flags |= getattr(os, "O_BINARY", 0)
    try:
        descriptor = os.open(path, flags)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise _refusal(f"It could not be opened: {error.strerror}", "Check its rights.") from error
    with safe_files.disk(path, "read"), os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise _refusal("It is no file")
        body = file.read(MAX_BYTES + 1)
    if len(body) > MAX_BYTES:
        raise _refusal(f"It is larger than {MAX_BYTES >> 20} MB")
    return body


def _refusal(what: str, hint: str = "Put the paper itself there.") -> BadContent:
    return BadContent(f"{what}.", hint, verdict="not_a_paper")


def _media(path: Path, body: bytes) -> Media | None:
    """The media type, by the first bytes: names are often wrong."""
    suffix = path.suffix.lower()
    head = body[:_HEAD].removeprefix(b"\xef\xbb\xbf").lstrip()
    if b"%PDF-" in body[:1024]:
        return "pdf"
    if head.startswith(b"<") or suffix in _PAGES:
        is_jats = _JATS.search(head) and not _OF_HTML.search(head)
        return "jats" if is_jats else "html"
    return "markdown" if suffix in _TEXTS else None


def read_document(found: InboxFile) -> Document:
    """The text and the identifiers it names, before anybody judges it.

    Raises
    ------
    BadContent
        No text can be read in it.
    """
    reader = formats.reader_of(found.fetched.media)
    document: Document = reader.read(found.fetched)
    return document


def titles_of(document: Document, path: Path) -> list[str]:
    """Texts that may be the title.

    These are the title as the text marks it, what stands behind author and year in the file's
    name, and (few PDFs mark a title) the first paragraphs.
    """
    from ..judges.likeness import telling_words

    first = document.markdown[:_OPENING].split("\n\n")[:_PARAGRAPHS]
    in_name = path.stem.rpartition(" - ")[2].replace("_", " ")
    titles = (text.lstrip("# ") for text in (document.title, in_name, *first))
    fit = (title for title in titles if len(title) <= _LONGEST and telling_words(title) >= _TELLING)
    return list(dict.fromkeys(fit))


def move_to_filed(path: Path) -> Path:
    """Move a file to ``filed/``, with a number where its name is taken; returns its new path."""
    folder = path.parent / FILED
    safe_files.make_folder(folder)
    target, number = folder / path.name, 1
    # Copied, then removed: a run that is killed in between finds the copy and goes on.
    while not safe_files.copy(path, target):
        number += 1
        target = folder / f"{path.stem} ({number}){path.suffix}"
    safe_files.remove(path)
    return target
