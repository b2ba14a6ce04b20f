"""List the files that people hand in, read them safely, and move them away once filed.

Browsers and copy programs write into the same folder meanwhile; names, sizes and contents are
not to be trusted. Nothing here follows a link, waits for a pipe or reads more than a download may
have.

`SeenFiles` remembers which files of a folder were looked at, so that none is read again until it
changes. A file is known by a fingerprint of its path, size and time of change; what it said it is,
by fingerprints of identifiers and titles. Kept on the shelf, they tell nobody what is in a folder.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import stat
import time
import zlib
from collections.abc import Callable, Container, Iterable, Mapping
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

from .. import readers as formats
from ..errors import BadContent, BadRequest
from ..http import MAX_BODY_BYTES
from ..model.identifiers import Ids
from ..model.paper import Document, Fetched, Media
from ..shelf import paper_file
from ..shelf.markdown_note import note_to_text
from ..system import safe_files
from ..system.plain_text import one_line, replace_surrogates

FILED = "filed"
VIA = "manual"
_UNDER_WAY = (".part", ".partial", ".crdownload", ".opdownload", ".download", ".tmp")
_SETTLED_S = 2.0  # a file nobody has written to for so long is complete
_HEAD = 65_536
_TEXTS = (".txt", ".md", ".markdown")
_PAGES = (".html", ".htm", ".xhtml")
_OF_PAPERS = (".pdf", ".xml", ".nxml", *_PAGES)
_GZIP = b"\x1f\x8b"
_JATS = re.compile(rb"<(?:article|pmc-articleset)[\s>]")
_ELSEVIER = re.compile(rb"<(?:\w{1,20}:)?full-text-retrieval-response[\s>]")
_OF_HTML = re.compile(rb"<!doctype html|<html[\s>]", re.I)
_OPENING, _PARAGRAPHS = 3000, 8  # where the title stands
_LONGEST = 500  # characters of a title
_TELLING = 3  # its words; "Editorial" names no paper
# XMP, which publishers leave uncompressed: the one place where a PDF reliably names its DOI.
_XMP = re.compile(
    rb"<(?:prism|pdfx|crossmark|jav):(?:WPS-ARTICLE)?doi>\s*(?:doi:)?(10\.[^<\s]{3,200})", re.I
)
_AGAIN_S = 300.0  # when sources are asked again that could not tell of a file


class InboxFile(NamedTuple):
    """A file of the inbox: its bytes, and the paper its own header or metadata names."""

    fetched: Fetched
    named: Ids


def get_display_name(path: Path) -> str:
    """Return the name of a file, safe to show."""
    return one_line(replace_surrogates(path.name))


def is_submitted_file(entry: os.DirEntry[str]) -> bool:
    """Return whether an entry of the inbox is a submitted file, or a link in place of one."""
    if entry.name.startswith((".", "~$")) or entry.name.lower().endswith(_UNDER_WAY):
        return False
    return entry.is_symlink() or entry.is_file(follow_symlinks=False)


def is_possible_paper(entry: os.DirEntry[str]) -> bool:
    """Return whether an entry of a foreign folder may be a paper, by its extension and size."""
    if not entry.name.lower().endswith(_OF_PAPERS) or entry.name.startswith((".", "~$")):
        return False
    try:
        found = entry.stat(follow_symlinks=False)
    except OSError:  # gone meanwhile
        return False
    return stat.S_ISREG(found.st_mode) and found.st_size <= MAX_BODY_BYTES


def write_inbox_file(inbox: Path, name: str, body: bytes) -> Path:
    """Write a file into the inbox, under a safe form of its name; return its path.

    A file of this name that is there already is kept: the new file gets a number.

    Raises
    ------
    BadRequest
        The name does not end as the name of a paper does, or the file is too large.
    """
    ending = next((one for one in _OF_PAPERS if name.lower().endswith(one)), "")
    if not ending:
        msg = f"{one_line(name)[:100]} is not a file that the inbox reads."
        raise BadRequest(msg, f"Choose a file that ends with {', '.join(_OF_PAPERS)}.")
    if len(body) > MAX_BODY_BYTES:
        msg = f"{one_line(name)[:100]} is larger than {MAX_BODY_BYTES // 1_000_000} MB."
        raise BadRequest(msg, "Choose the paper alone, without its supplements.")
    safe_files.make_folder(inbox)
    stem = paper_file.to_safe_name(
        one_line(re.split(r"[/\\]", name)[-1])[: -len(ending)] or "paper"
    )
    names = (f"{stem}{mark}{ending}" for mark in ("", *(f"-{n}" for n in range(2, 10_000))))
    path = next(inbox / one for one in names if not (inbox / one).exists())
    safe_files.write_file(path, body)
    return path


def list_complete_files(
    folder: Path, fits: Callable[[os.DirEntry[str]], bool] = is_submitted_file
) -> tuple[list[Path], list[Path]]:
    """Return the complete files in a folder, and the files that are empty or being written.

    Hidden files, downloads under way and folders are left out.
    """
    with safe_files.disk_errors(folder, "read"):
        if not folder.is_dir():
            return [], []
        names = sorted(entry.name for entry in os.scandir(folder) if fits(entry))
    paths = [folder / name for name in names]
    before = [get_file_state(path) for path in paths]
    youngest = max((mtime for _, mtime in before), default=0) / 1e9
    if (left := youngest + _SETTLED_S - time.time()) > 0:
        time.sleep(min(left, _SETTLED_S))  # a clock may be wrong
    complete: list[Path] = []
    growing: list[Path] = []
    for path, then in zip(paths, before, strict=True):
        is_complete = then[0] > 0 and get_file_state(path) == then
        (complete if is_complete else growing).append(path)
    return complete, growing


def get_file_state(path: Path) -> tuple[int, int]:
    """Return size and time of the last change in nanoseconds; zeros for a missing file."""
    try:
        found = path.lstat()
    except OSError:
        return 0, 0
    return found.st_size, found.st_mtime_ns


def read_submitted_file(path: Path, place: str = "the inbox") -> InboxFile:
    """Read a file in a *place*, and detect its type of content.

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
    media = _detect_media(path, body)
    if media is None:
        raise _build_unusable_error(
            "The file is not PDF, HTML, JATS or Elsevier XML, or plain text"
        )
    named = Ids()
    if media == "pdf" and (doi := _XMP.search(body)):
        named = Ids.maybe(doi[1].decode("ascii", "replace"))
    text = body.decode("utf-8", "replace") if media == "markdown" else ""
    if header := paper_file.parse_paper_file(note_to_text(text) or text):
        # A text of another shelf: its header names the paper, and is not part of the text.
        body, named = header.body.encode("utf-8", "replace"), header.ids
        return InboxFile(Fetched(body, media, "", place, VIA, version=header.version), named)
    return InboxFile(Fetched(body, media, "", place, VIA), named)


def _read_bytes(path: Path) -> bytes:
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    flags |= getattr(os, "O_BINARY", 0)
    try:
        if path.is_symlink():
            raise _build_unusable_error(
                "The file is a link, and links are not followed", "Put the file itself there."
            )
        descriptor = os.open(path, flags)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise _build_unusable_error(
            f"The file could not be opened: {error.strerror}", "Check its permissions."
        ) from error
    with safe_files.disk_errors(path, "read"), os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise _build_unusable_error("It is not a regular file")
        body = file.read(MAX_BODY_BYTES + 1)
    return _unpack_gzip(body)


def _unpack_gzip(body: bytes) -> bytes:
    """Return the bytes, unpacked if they are gzipped; never more than a download may have."""
    if body[:2] == _GZIP:
        try:
            with gzip.GzipFile(fileobj=io.BytesIO(body)) as packed:
                body = packed.read(MAX_BODY_BYTES + 1)
        except (OSError, EOFError, zlib.error) as error:
            raise _build_unusable_error("The file is a damaged gzip file") from error
    if len(body) > MAX_BODY_BYTES:
        raise _build_unusable_error(f"The file is larger than {MAX_BODY_BYTES >> 20} MB")
    return body


def _build_unusable_error(what: str, hint: str = "Put the paper itself there.") -> BadContent:
    return BadContent(f"{what}.", hint, verdict="not_a_paper")


def _detect_media(path: Path, body: bytes) -> Media | None:
    """Return the media type by the first bytes, because file names are often wrong."""
    suffix = Path(path.stem if path.suffix == ".gz" else path.name).suffix.lower()
    head = body[:_HEAD].removeprefix(b"\xef\xbb\xbf").lstrip()
    if b"%PDF-" in body[:1024]:
        return "pdf"
    if _ELSEVIER.search(head):
        return "elsevier"
    if head.startswith(b"<") or suffix in _PAGES:
        is_jats = _JATS.search(head) and not _OF_HTML.search(head)
        return "jats" if is_jats else "html"
    return "markdown" if suffix in _TEXTS else None


def read_unjudged_document(found: InboxFile) -> Document:
    """Return the text of a file and the identifiers in it, before any judgement.

    Raises
    ------
    BadContent
        No text can be read in it.
    """
    reader = formats.import_reader_module(found.fetched.media)
    try:
        document: Document = reader.read_document(found.fetched)
    except BadContent as bad:
        if bad.outcome != "scanned":
            raise
        # Its name may say which paper it is, and the user's own server may read more of it.
        document = Document("", verdict="scanned", evidence=bad.message)
    return document


def find_possible_titles(document: Document, path: Path) -> list[str]:
    """Return texts that may be the title of a file.

    These are the title as the text marks it, what stands behind author and year in the file's
    name, and (few PDFs mark a title) the first paragraphs.
    """
    from ..judges.titles import count_distinctive_words

    first = document.markdown[:_OPENING].split("\n\n")[:_PARAGRAPHS]
    in_name = path.stem.rpartition(" - ")[2].replace("_", " ")
    titles = (text.lstrip("# ") for text in (document.title, in_name, *first))
    fit = (
        title
        for title in titles
        if len(title) <= _LONGEST and count_distinctive_words(title) >= _TELLING
    )
    return list(dict.fromkeys(fit))


def move_to_filed_folder(path: Path) -> None:
    """Move a file to ``filed/``, with a number where its name is taken."""
    if path.exists():  # another process may have been faster
        # Copied, then removed: a run that is killed in between finds the copy and goes on.
        copy_with_unique_name(path, path.parent / FILED / path.name)
        safe_files.delete_if_exists(path)


def copy_with_unique_name(path: Path, target: Path) -> Path:
    """Copy a file to *target*, with a number where that name is taken; returns the copy."""
    safe_files.make_folder(target.parent)
    copy, number = target, 1
    while not safe_files.copy_unless_different(path, copy):
        number += 1
        copy = target.with_name(f"{target.stem} ({number}){target.suffix}")
    return copy


def hash_names(*parts: object) -> str:
    """Return a short hash of some values."""
    return blake2b("\0".join(map(str, parts)).encode("utf-8", "replace"), digest_size=8).hexdigest()


def hash_file_states(paths: Iterable[Path]) -> dict[Path, str]:
    """Return the hash of each file's path, size and modification time."""
    return {path: hash_names(path, *get_file_state(path)) for path in paths}


class SeenFiles:
    """The files of one folder that have been examined, with their state at that time.

    Parameters
    ----------
    file : Path, optional
        Where they are kept for later; else they are forgotten with this object.
    """

    def __init__(self, file: Path | None = None) -> None:
        self._file = file
        self._names: dict[str, list[str]] = _load_seen_files(file) if file else {}
        self._later: dict[str, float] = {}
        self._changed = False

    @classmethod
    def open_for_folder(cls, folder: Path, shelf: Path) -> SeenFiles:
        """Return the record of examined files in a folder outside the shelf."""
        return cls(shelf / safe_files.PRIVATE_FOLDER / "looked_at" / f"{hash_names(folder)}.json")

    def select_unseen(
        self, marks: Mapping[Path, str], wanted: Container[str] = ()
    ) -> dict[Path, str]:
        """Return files that are new, changed, or match a wanted paper."""
        return {path: mark for path, mark in marks.items() if self._is_unseen(mark, wanted)}

    def _is_unseen(self, mark: str, wanted: Container[str]) -> bool:
        if mark in self._later:
            return self._later[mark] <= time.time()
        return mark not in self._names or any(name in wanted for name in self._names[mark])

    def mark_seen(self, mark: str, names: Iterable[str] = ()) -> None:
        """Record that a file was examined; it is examined again if one of *names* is wanted."""
        self._names[mark] = sorted(set(names))
        self._changed = True

    def mark_matched(self, mark: str, names: Iterable[str] = (), *, again: bool) -> bool:
        """Record a matched file, to be tried *again* or not; return whether it is to be reported.

        That nobody could tell is told once.
        """
        before = self._later.pop(mark, None)
        if not again:
            self.mark_seen(mark, names)
            return True
        self._later[mark] = time.time() + _AGAIN_S
        return before is None

    def save(self, present: Iterable[Path]) -> None:
        """Save the records of the files that are *present*.

        Raises
        ------
        StoreFailed
            The file cannot be written.
        """
        if self._file is None or not self._changed:
            return
        marks = set(hash_file_states(present).values())
        self._names = {mark: names for mark, names in self._names.items() if mark in marks}
        safe_files.make_folder(self._file.parent, 0o700)
        safe_files.write_file(self._file, json.dumps(self._names).encode())
        self._changed = False


def _load_seen_files(file: Path) -> dict[str, list[str]]:
    """Return the stored fingerprints; empty if unreadable, so that every file is examined again."""
    try:
        kept = json.loads(file.read_bytes())
        return {str(mark): [str(name) for name in names] for mark, names in kept.items()}
    except (OSError, ValueError, AttributeError, TypeError):
        return {}
