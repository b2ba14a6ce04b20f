"""PDF files next to texts: ``papers/<name>.pdf``, and the origin of each PDF.

The PDF of ``<name>.txt`` is ``<name>.pdf``, in the same folder, for people and their programs. The
facts about it (address, route, version, licence, checksum) and the attempts to get one are in
``.papershelf/pdfs/<name>.json``. The facts are written first: after a crash in between, the PDF is
missing and is fetched again.

A PDF that a text was read from is a hard link to the kept bytes where the file system has hard
links; a linked file is read-only, because a program that changed it would change the kept bytes.
A file that a person put there, or changed, is never replaced.

The shelf can also use a person's file (`UserPdf`) instead of a copy: as a hard link next to the
text, or where it is. Then the shelf keeps no bytes of its own, and the facts hold the path, the
size, the time and the checksum of the file. A file that was moved or changed is not used, and
`PdfFiles.find_pdf_problem` says so. The mode and the content of a person's file never change.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import logging
import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

from ..command_line import command_line
from ..errors import BadRequest
from ..model.paper import Attempt, Fetched, StoredPaper, Version, utc_now
from ..system import safe_files
from ..system.file_clones import clone_file

log = logging.getLogger(__name__)
_READ_ONLY = 0o444
HeldBy = Literal["copy", "link", "place"]
"""How the shelf holds the bytes of a PDF: as a copy, as a hard link, or where the PDF is."""
_NO_LINK = {errno.EXDEV, errno.EPERM, errno.EACCES, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK}


class UserPdf(NamedTuple):
    """A user's own PDF file, and whether the shelf copies, links or references it."""

    path: Path
    held_by: HeldBy


@dataclass(frozen=True, slots=True)
class PdfFile:
    """The PDF of a text on the shelf.

    Parameters
    ----------
    path : Path
        Where the PDF is.
    url, via : str
        The address and the route it came from; empty for a file that a person put there.
    version, license : str
        The version (`..model.versions`) and the licence, where they are known.
    sha256 : str
        The checksum of the PDF as it was fetched.
    saved_at : str
        The moment it was saved, as an ISO timestamp.
    held_by : str
        ``link`` or ``place`` for a person's file that the shelf has no copy of.
    own_path : str
        The path of the person's file.
    size, mtime_ns : int
        The size and the modification time of the person's file.
    """

    path: Path
    url: str = ""
    via: str = ""
    version: Version = ""
    license: str = ""
    sha256: str = ""
    saved_at: str = ""
    held_by: HeldBy = "copy"
    own_path: str = ""
    size: int = 0
    mtime_ns: int = 0


class PdfFiles:
    """The PDF files of one shelf.

    Parameters
    ----------
    folder : Path
        The folder of the shelf.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._facts = folder / safe_files.PRIVATE_FOLDER / "pdfs"

    def find_pdf(self, stored: StoredPaper) -> PdfFile | None:
        """Return the PDF of a text; None if the shelf has none."""
        pdf = self._load_pdf_facts(stored)
        if pdf.held_by == "copy":
            return pdf if pdf.path.is_file() else None
        return None if _describe_file_change(pdf) else pdf

    def has_pdf_record(self, stored: StoredPaper) -> bool:
        """Return whether a text has a PDF, also one that cannot be used now."""
        pdf = self._load_pdf_facts(stored)
        return pdf.held_by == "place" or pdf.path.is_file()

    def find_pdf_problem(self, stored: StoredPaper, *, reads_bytes: bool = False) -> str:
        """Return why a person's file, which is the PDF of a text, cannot be used; otherwise "".

        With *reads_bytes*, the checksum is compared even if size and time are as before.
        """
        pdf = self._load_pdf_facts(stored)
        change = (
            "" if pdf.held_by == "copy" else _describe_file_change(pdf, reads_bytes=reads_bytes)
        )
        if not change:
            return ""
        again = command_line(
            "adopt FOLDER --by link" if pdf.held_by == "link" else "adopt FOLDER --by place"
        )
        return f"{change} To use it again, adopt the folder that has it: {again}"

    def read_user_pdf(self, stored: StoredPaper) -> bytes | None:
        """Return the bytes of a person's file; None if the text has none, or it has changed."""
        pdf = self._load_pdf_facts(stored)
        if pdf.held_by == "copy":
            return None
        with contextlib.suppress(OSError):
            body = pdf.path.read_bytes()
            if hashlib.sha256(body).hexdigest() == pdf.sha256:
                return body
        log.warning("%s: %s", stored.path, self.find_pdf_problem(stored, reads_bytes=True))
        return None

    def _load_pdf_facts(self, stored: StoredPaper) -> PdfFile:
        """Return the recorded facts about the PDF of a text, whether or not the PDF is there."""
        beside = get_pdf_path(stored)
        facts = self._read_facts(stored).get("pdf", {})
        with contextlib.suppress(TypeError):  # written by another version
            pdf = PdfFile(beside, **facts)
            if pdf.held_by != "place":
                return pdf
            if not beside.is_file():  # else a person put another PDF next to the text
                return replace(pdf, path=Path(pdf.own_path))
        return PdfFile(beside)

    def list_pdf_stems(self) -> frozenset[str]:
        """Return the names of all texts of the shelf that have a PDF, without their endings."""
        if not self.folder.is_dir():
            return frozenset()
        with safe_files.disk_errors(self.folder, "read"), os.scandir(self.folder) as found:
            beside = {one.name[:-4] for one in found if one.name.endswith(".pdf")}
        return frozenset(beside | set(self._iterate_external_pdf_stems()))

    def _iterate_external_pdf_stems(self) -> Iterator[str]:
        """Yield the names of the texts whose PDF is a file in another folder."""
        for facts in self._facts.glob("*.json"):
            stored_pdf = _read_facts_file(facts).get("pdf", {})
            if stored_pdf.get("held_by") == "place" and Path(stored_pdf["own_path"]).is_file():
                yield facts.stem

    def read_attempts(self, stored: StoredPaper) -> tuple[Attempt, ...]:
        """Return the last attempts to fetch the PDF of a text."""
        with contextlib.suppress(TypeError):
            rows = self._read_facts(stored).get("attempts", ())
            return tuple(Attempt(**row) for row in rows)
        return ()

    def store_pdf(
        self,
        stored: StoredPaper,
        fetched: Fetched,
        *,
        attempts: Sequence[Attempt] = (),
        same_bytes: Path | None = None,
    ) -> PdfFile:
        """Store a PDF next to its text, and return it.

        Parameters
        ----------
        fetched : Fetched
            What the site sent.
        attempts : sequence of Attempt, optional
            The attempts that led to it.
        same_bytes : Path, optional
            A file on this disk that holds the same bytes, to be linked.

        Raises
        ------
        StoreFailed
            The disk refuses.
        """
        made = PdfFile(
            get_pdf_path(stored),
            fetched.url,
            fetched.via,
            fetched.version or stored.version,
            fetched.license or stored.license,
            hashlib.sha256(fetched.body).hexdigest(),
            utc_now(),
        )
        if there := self._find_pdf_to_keep(stored, made.sha256):
            return there
        self._write_facts(stored, made, attempts)
        if same_bytes is None or not _link_read_only(same_bytes, made.path, Path(stored.path)):
            safe_files.write_file(made.path, fetched.body)
        return made

    def _find_pdf_to_keep(self, stored: StoredPaper, sha256: str) -> PdfFile | None:
        """Return the PDF that must not be replaced by one with this checksum."""
        there = self._load_pdf_facts(stored)
        if there.held_by != "place" and there.path.is_file():
            is_ours = _compute_file_checksum(there.path) == there.sha256
            # Any other file was put there, or changed, by a person.
            return there if not is_ours or there.sha256 == sha256 else None
        return there if there.sha256 == sha256 and self.find_pdf(stored) else None

    def require_linkable_file(self, path: Path) -> None:
        """Check that a person's file can be cloned or linked into the shelf; leave no trace.

        Raises
        ------
        BadRequest
            It cannot.
        """
        part = safe_files.build_part_path(self.folder / path.name)
        try:
            if path.is_file() and not clone_file(path, part):
                link_user_pdf(path, part)
        finally:
            safe_files.delete_if_exists(part)

    def use_user_pdf(self, stored: StoredPaper, fetched: Fetched, own: UserPdf) -> bool:
        """Make a person's file the PDF of a text, without a copy; the file does not change.

        Returns
        -------
        bool
            False if the file next to the text is a person's, which must stay.

        Raises
        ------
        BadRequest
            The file cannot be linked, or does not have the fetched bytes.
        StoreFailed
            The disk refuses.
        """
        beside, sha256 = get_pdf_path(stored), hashlib.sha256(fetched.body).hexdigest()
        if beside.is_file():
            digest = _compute_file_checksum(beside)
            links_same = own.held_by == "link" and digest == sha256
            if digest != self._load_pdf_facts(stored).sha256 and not links_same:
                return False
        pdf = PdfFile(
            beside,
            "",
            fetched.via,
            fetched.version or stored.version,
            fetched.license or stored.license,
            sha256,
            utc_now(),
            own.held_by,
            str(own.path),
        )
        if own.held_by == "place":
            self._write_facts(stored, _add_size_and_time(pdf, own.path), ())
            safe_files.delete_if_exists(beside)
            return True
        part = safe_files.build_part_path(beside)
        try:
            link_user_pdf(own.path, part)
            self._write_facts(stored, _add_size_and_time(pdf, part), ())
            with safe_files.disk_errors(beside):
                safe_files.replace_file(part, beside)
                safe_files.flush_folder(beside.parent)
        finally:
            safe_files.delete_if_exists(part)
        return True

    def has_same_bytes(self, stored: StoredPaper, body: bytes) -> bool:
        """Return whether the PDF of a text has these bytes."""
        pdf = self.find_pdf(stored)
        return (
            pdf is not None and _compute_file_checksum(pdf.path) == hashlib.sha256(body).hexdigest()
        )

    def delete_pdf(self, stored: StoredPaper) -> None:
        """Delete the PDF of a text, and the facts about it; a person's own file stays."""
        safe_files.delete_if_exists(get_pdf_path(stored))
        safe_files.delete_if_exists(self._get_facts_path(stored))

    def record_attempts(self, stored: StoredPaper, attempts: Sequence[Attempt]) -> None:
        """Record attempts that found no PDF, so that no site is asked again soon."""
        self._write_facts(stored, None, attempts)

    def transfer_pdf(self, old: StoredPaper, heir: StoredPaper) -> None:
        """Move the PDF of a replaced text to the text that replaced it."""
        path, target = get_pdf_path(old), get_pdf_path(heir)
        is_placed = self._load_pdf_facts(old).held_by == "place"
        if target.exists() or not (is_placed or path.is_file()):
            return
        with safe_files.disk_errors(path):
            with contextlib.suppress(FileNotFoundError):
                self._get_facts_path(old).replace(self._get_facts_path(heir))
            if not is_placed:
                path.rename(target)
            safe_files.flush_folder(self.folder)

    def _get_facts_path(self, stored: StoredPaper) -> Path:
        return self._facts / f"{Path(stored.path).stem}.json"

    def _read_facts(self, stored: StoredPaper) -> dict[str, Any]:
        return _read_facts_file(self._get_facts_path(stored))

    def _write_facts(
        self, stored: StoredPaper, pdf: PdfFile | None, attempts: Sequence[Attempt]
    ) -> None:
        facts: dict[str, Any] = {"attempts": [asdict(attempt) for attempt in attempts]}
        if pdf:
            facts["pdf"] = {k: v for k, v in asdict(pdf).items() if k != "path"}
        safe_files.make_folder(self._facts, 0o700)
        safe_files.write_file(self._get_facts_path(stored), json.dumps(facts).encode())


def get_pdf_path(stored: StoredPaper) -> Path:
    """Return the path of a text's PDF, which need not exist."""
    return Path(stored.path).with_suffix(".pdf")


def clone_user_pdf(own: UserPdf, body: bytes, target: Path) -> bool:
    """Make *target* a clone of a person's file; return False where that cannot be done."""
    if own.held_by != "link" or not clone_file(own.path, target):
        return False
    if target.read_bytes() == body:
        return True
    target.unlink()
    return False


def link_user_pdf(path: Path, target: Path) -> None:
    """Make *target* a hard link to a person's file.

    Raises
    ------
    BadRequest
        The file system cannot link the file.
    StoreFailed
        The disk refuses.
    """
    try:
        os.link(path, target, follow_symlinks=False)
    except OSError as error:
        if error.errno not in _NO_LINK:
            with safe_files.disk_errors(target):
                raise
        reason = "it is on another disk" if error.errno == errno.EXDEV else error.strerror
        msg = f"{path} cannot be linked into {target.parent}: {reason}."
        raise BadRequest(
            msg, "Use the file where it is: --by place; or copy it: --by copy."
        ) from None


def _add_size_and_time(pdf: PdfFile, path: Path) -> PdfFile:
    """Return a PDF's facts with the size and modification time of the user's file.

    Raises
    ------
    BadRequest
        The file does not have the bytes that the facts are about.
    """
    with safe_files.disk_errors(path, "read"):
        status, digest = path.stat(), _compute_file_checksum(path)
    if digest != pdf.sha256:
        msg = f"{pdf.own_path} is compressed, or it changed while it was read."
        raise BadRequest(msg, "Run the command again, or copy the file: --by copy.")
    return replace(pdf, size=status.st_size, mtime_ns=status.st_mtime_ns)


def _describe_file_change(pdf: PdfFile, *, reads_bytes: bool = False) -> str:
    """Return what happened to a person's file since it was adopted; "" if nothing did."""
    try:
        status = pdf.path.stat()
        same = (status.st_size, status.st_mtime_ns) == (pdf.size, pdf.mtime_ns)
        if same and not reads_bytes:
            return ""
        if hashlib.sha256(pdf.path.read_bytes()).hexdigest() == pdf.sha256:
            return ""
    except (FileNotFoundError, NotADirectoryError):
        return f"{pdf.path} was moved or deleted, or its disk is not connected."
    except OSError as error:
        return f"{pdf.path} cannot be read: {error.strerror}."
    return f"{pdf.path} was changed after it was adopted."


def _read_facts_file(path: Path) -> dict[str, Any]:
    try:
        facts = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return facts if isinstance(facts, dict) else {}


def _compute_file_checksum(path: Path) -> str:
    with safe_files.disk_errors(path, "read"):
        return hashlib.sha256(path.read_bytes()).hexdigest()


def _link_read_only(source: Path, target: Path, like: Path) -> bool:
    """Make *target* a hard link to *source*; return False if that is impossible.

    Whoever may read the file *like* may read the target; nobody may write to it.
    """
    if os.name == "nt":  # a read-only file cannot be replaced or deleted there
        return False
    part = safe_files.build_part_path(target)
    try:
        os.link(source, part)
        part.chmod(like.stat().st_mode & _READ_ONLY)
        safe_files.replace_file(part, target)
    except OSError:
        return False
    finally:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)
    safe_files.flush_folder(target.parent)
    return True
