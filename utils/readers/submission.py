r"""Unpack authors' submissions to arXiv in memory, and choose the paper's main file.

arXiv returns a gzipped tar, a plain tar, one gzipped TeX file or the file itself. Nothing is
written to disk, links are not followed, and the sizes of packed and unpacked bytes are limited. The
main file is stated in ``00README.json`` (since 2025) or ``00README.XXX``, or else is the file with
a ``\documentclass``. https://info.arxiv.org/help/submit_tex.html,
https://info.arxiv.org/help/00README.html
"""

from __future__ import annotations

import json
import posixpath
import re
import tarfile
import zlib
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

from ..errors import BadContent

_MOST_UNPACKED: Final = 400_000_000  # bytes; submissions are mostly pictures, passed by unkept
_MOST_TEXT: Final = 8_000_000  # bytes; a thesis of a thousand pages has three
_MOST_FILES: Final = 5000
_LONGEST_HEADER: Final = 100_000  # bytes; what pax says about a file is a few hundred
_STEP: Final = 1 << 16
_MOST_HEADERS: Final = 10  # of one file
_FILES: Final = (tarfile.REGTYPE, tarfile.AREGTYPE, tarfile.CONTTYPE)
_WITHOUT_CONTENT: Final = (
    *(tarfile.LNKTYPE, tarfile.SYMTYPE, tarfile.DIRTYPE),
    *(tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE),
)
_ABOUT_THE_NEXT: Final = (
    *(tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK),
    *(tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE),
)
_PAX_PATH: Final = re.compile(rb"^\d+ path=([^\n]*)\n", re.M)
_TEXTS: Final = re.compile(
    r".*\.(?:tex|ltx|latex|bbl|bib|sty|def|inc|tikz|json|xxx|md|txt)|[^.]*", re.I | re.S
)
_BEGINS: Final = re.compile(r"^[^%\n]{0,200}?\\document(?:class|style)\b", re.M)
_BODY: Final = re.compile(r"^[^%\n]{0,200}?\\begin\s{0,9}\{document\}", re.M)
_NOT_ALONE: Final = re.compile(r"\\documentclass[^{\n]{0,200}\{(?:standalone|subfiles)\}")
_TEX: Final = re.compile(
    r"\\(?:document(?:class|style)|begin|section|input|def|title|magnification)\b"
)
_PICTURES: Final = (
    *(".pdf", ".png", ".jpg", ".jpeg", ".eps", ".ps"),
    *(".svg", ".gif", ".tif", ".tiff"),
)
_UP: Final = re.compile(r"^(?:\.{1,2}/)+")
_USUAL: Final = ("main", "ms", "paper", "article", "manuscript", "arxiv")
_FOREIGN: Final = {b"%PDF-": "a PDF", b"%!PS": "PostScript", b"PK\x03\x04": "an office document"}


@dataclass(frozen=True, slots=True)
class Submission:
    """The text files by name, the name of the main file, and whether the archive is truncated."""

    files: dict[str, str] = field(default_factory=dict)
    main: str = ""
    cut_off: bool = False

    def find_file_name(self, name: str, folder: str = "", ending: str = ".tex") -> str:
        """Return the name under which the file *name* is stored; else empty."""
        name = name.strip().strip('"')
        for place in (posixpath.join(folder, name), name):
            for path in (place, place + ending):
                if (file := _to_safe_path(path)) in self.files:
                    return file
        return ""


def unpack_submission(body: bytes) -> Submission:
    """Read the text files of a submission.

    Raises
    ------
    BadContent
        The archive contains no TeX (``not_a_paper``), or unpacks to more bytes than any real
        submission.
    """
    source = _ArchiveReader(body)
    head = source.peek_bytes(512)
    files: dict[str, bytes] = {}
    cut_off = False
    try:
        if _is_tar_header(head):
            for name, text in _iterate_text_files(source):
                files[name] = text  # noqa: PERF403 - those before an early end count
        else:
            _require_tex_source(head)
            files["main.tex"] = source.read_bytes(_MOST_TEXT)
            cut_off = bool(source.read_bytes(1))
        cut_off = cut_off or source.is_truncated()
    except (tarfile.TarError, EOFError, zlib.error, OSError, ValueError, OverflowError):
        cut_off = True
    if source.overflows:
        msg = "The source unpacks to more data than any paper has."
        raise BadContent(msg, "The file may be built to attack parsers.", verdict="not_a_paper")
    texts = {name: _decode_source(text) for name, text in files.items()}
    return Submission(texts, _choose_main_file(texts), cut_off)


def extract_submission_files(
    body: bytes, names: Collection[str], most: int
) -> dict[str, tuple[str, bytes]]:
    """Return other files of a submission, such as pictures, by the requested names.

    Each requested name is mapped to the name in the archive and the bytes.

    A requested name may lack the extension and the folder. If the files exceed *most* bytes in
    total, or the archive is damaged, only the first files are returned.
    """
    source = _ArchiveReader(body)
    found: dict[str, tuple[str, bytes]] = {}
    paths = {_to_safe_path(_UP.sub("", name)): name for name in names}
    wanted = {_strip_picture_extension(path): name for path, name in paths.items() if path} | paths
    with suppress(tarfile.TarError, EOFError, zlib.error, OSError, ValueError, OverflowError):
        if not _is_tar_header(source.peek_bytes(512)):
            return {}
        for _ in range(_MOST_FILES):
            if (member := _read_member_header(source)) is None:
                break
            size = max(0, member.size) if member.type not in _WITHOUT_CONTENT else 0
            name = _match_file_name(member, wanted) if member.type in _FILES else ""
            if name and name not in found and size <= most:
                found[name] = (
                    posixpath.basename(_to_safe_path(member.name)),
                    source.read_bytes(size),
                )
                most -= size
                source.skip_bytes(-size % tarfile.BLOCKSIZE)
            else:
                source.skip_bytes(size + -size % tarfile.BLOCKSIZE)
    return found


def _match_file_name(member: tarfile.TarInfo, wanted: Mapping[str, str]) -> str:
    """Return the wanted name that a file matches: with or without folders and extension."""
    path = _to_safe_path(member.name)
    if path.endswith((".tex", ".sty", ".bbl")):
        return ""
    while path:
        if name := wanted.get(path) or wanted.get(_strip_picture_extension(path)):
            return name
        path = path.partition("/")[2]
    return ""


def _strip_picture_extension(path: str) -> str:
    return posixpath.splitext(path)[0] if path.lower().endswith(_PICTURES) else path


class _ArchiveReader:
    """Reads an archive's bytes in order, decompressed if necessary, up to a limit."""

    def __init__(self, body: bytes) -> None:
        self.overflows = False
        self._packed = memoryview(body)
        self._at = 0
        self._gzip = zlib.decompressobj(31) if body[:2] == b"\x1f\x8b" else None
        self._ahead = b""
        self._bytes_read = 0

    def peek_bytes(self, size: int) -> bytes:
        """Return the first bytes without consuming them."""
        try:
            self._ahead = self.read_bytes(size)
        except zlib.error:
            self._ahead = b""
        self._bytes_read = 0
        return self._ahead

    def read_bytes(self, size: int) -> bytes:
        """Return up to *size* bytes more; fewer only at the end."""
        parts, missing = [self._ahead[:size]], size - len(self._ahead)
        self._ahead = self._ahead[size:]
        while missing > 0 and (part := self._read_unpacked_bytes(missing)):
            parts.append(part)
            missing -= len(part)
        chunk = b"".join(parts)
        self._bytes_read += len(chunk)
        if self._bytes_read > _MOST_UNPACKED:
            self.overflows = True
            raise ValueError
        return chunk

    def skip_bytes(self, size: int) -> None:
        """Skip *size* bytes, which must be present."""
        while size > 0:
            passed = len(self.read_bytes(min(size, _STEP)))
            if not passed:
                raise EOFError
            size -= passed

    def _read_unpacked_bytes(self, size: int) -> bytes:
        if self._gzip is None:
            self._at += size
            return bytes(self._packed[self._at - size : self._at])
        while not self._gzip.eof:
            waiting = self._gzip.unconsumed_tail
            if not waiting:
                waiting = bytes(self._packed[self._at : self._at + _STEP])
                self._at += len(waiting)
            made = self._gzip.decompress(waiting, size)
            if made or not waiting:
                return made
        return b""

    def is_truncated(self) -> bool:
        """Return whether the compressed bytes end early, once all are read."""
        return self._gzip is not None and not self._gzip.eof and not self._read_unpacked_bytes(1)


def _is_tar_header(head: bytes) -> bool:
    """Return whether the bytes begin with a tar header; its checksum rules out plain text."""
    try:
        tarfile.TarInfo.frombuf(head, "utf-8", "surrogateescape")
    except (tarfile.TarError, ValueError):
        return False
    return True


def _iterate_text_files(source: _ArchiveReader) -> Iterator[tuple[str, bytes]]:
    """Yield each text file of the archive; pictures are skipped."""
    left = _MOST_TEXT
    count = 0
    while (member := _read_member_header(source)) is not None:
        name = _to_safe_path(member.name)
        count += 1
        if count > _MOST_FILES or left <= 0:
            source.overflows = True
            return
        size = max(0, member.size) if member.type not in _WITHOUT_CONTENT else 0
        is_text = member.type in _FILES and name and _TEXTS.fullmatch(posixpath.basename(name))
        if not is_text or (size > left and not name.endswith(".tex")):
            source.skip_bytes(
                size + -size % tarfile.BLOCKSIZE
            )  # pictures, a bibliography of everything
            continue
        if size > left:
            source.overflows = True
            return
        text = source.read_bytes(size)
        if len(text) < size:
            raise EOFError
        left -= size
        yield name, text
        source.skip_bytes(-size % tarfile.BLOCKSIZE)


def _read_member_header(source: _ArchiveReader) -> tarfile.TarInfo | None:
    """Return the header of the next member with its long name; None at the end.

    `tarfile` has no limits: an archive could declare a name that fills all memory.
    """
    long_name = ""
    for _ in range(_MOST_HEADERS):
        block = source.read_bytes(tarfile.BLOCKSIZE)
        if not block.strip(b"\0"):
            return None
        member = tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
        if member.type not in _ABOUT_THE_NEXT:
            member.name = long_name or member.name
            return member
        if not 0 <= member.size <= _LONGEST_HEADER:
            break
        text = source.read_bytes(member.size)
        source.skip_bytes(-member.size % tarfile.BLOCKSIZE)
        if member.type == tarfile.GNUTYPE_LONGNAME:
            long_name = text.partition(b"\0")[0].decode("utf-8", "surrogateescape")
        elif member.type == tarfile.XHDTYPE and (path := _PAX_PATH.search(text)):
            long_name = path[1].decode("utf-8", "surrogateescape")
    source.overflows = True
    raise ValueError


def _to_safe_path(name: str) -> str:
    """Return *name* as a path inside the submission's folder; empty if it leads outside."""
    if len(name) > 1000:
        return ""
    path = posixpath.normpath(name.replace("\\", "/").lstrip("/"))
    return "" if path.startswith("..") or path == "." else path


def _require_tex_source(head: bytes) -> None:
    for mark, kind in _FOREIGN.items():
        if head.lstrip().startswith(mark):
            msg = f"The source is {kind}, not TeX."
            raise BadContent(msg, verdict="not_a_paper")


def _decode_source(text: bytes) -> str:
    try:
        decoded = text.decode("utf-8-sig")
    except UnicodeDecodeError:
        decoded = text.decode("cp1252", "replace")
    # The private use area carries the reader's own marks.
    return re.sub(r"[\ue000-\uf8ff\x00]", "", re.sub(r"\r\n?", "\n", decoded))


def _choose_main_file(files: dict[str, str]) -> str:
    if declared := [name for name in _iterate_declared_main_files(files) if name in files]:
        return declared[0]
    papers = [
        name
        for name, text in files.items()
        if _BEGINS.search(text)
        and not _NOT_ALONE.search(text)
        and not name.endswith((".sty", ".md"))
    ]
    papers = [name for name in papers if _BODY.search(files[name])] or papers
    if not papers:  # plain TeX has no class; a file without any TeX is not a source
        papers = [name for name, text in files.items() if _TEX.search(text)]
        papers = [name for name in papers if name.endswith((".tex", ".ltx"))] or papers
    if not papers:
        msg = "The source contains no TeX file."
        raise BadContent(msg, verdict="not_a_paper")
    return min(papers, key=lambda name: _rank_main_file(name, files))


def _rank_main_file(name: str, files: dict[str, str]) -> tuple[bool, int, bool, int]:
    """Return the sort key of a main file: reference list, few folders, usual name, length."""
    stem = name.rpartition(".")[0]
    usual = posixpath.basename(stem).lower() in _USUAL
    return f"{stem}.bbl" not in files, name.count("/"), not usual, -len(files[name])


def _iterate_declared_main_files(files: dict[str, str]) -> Iterator[str]:
    """Yield the main files that the submission declares."""
    try:
        declared: Any = json.loads(files.get("00README.json", "null"))
    except (ValueError, RecursionError):
        declared = None
    sources = declared.get("sources") if isinstance(declared, dict) else None
    for row in sources if isinstance(sources, list) else ():
        if isinstance(row, dict) and row.get("usage") == "toplevel":
            yield _to_safe_path(str(row.get("filename", "")))
    for line in files.get("00README.XXX", "").split("\n")[:1000]:
        words = line.split()
        if len(words) == 2 and words[1] == "toplevelfile":
            yield _to_safe_path(words[0])
