"""PDF files next to texts: ``papers/<name>.pdf``, and where each of them came from.

The PDF of ``<name>.txt`` is ``<name>.pdf``, in the same folder, for people and their programs. The
facts about it (address, route, version, licence, checksum) and the attempts to get one are in
``.papershelf/pdfs/<name>.json``. The facts are written first: after a crash in between, the PDF is
missing and is fetched again.

A PDF that a text was read from is a hard link to the kept bytes where the file system has hard
links; a linked file is read-only, because a program that changed it would change the kept bytes.
A file that a person put there, or changed, is never replaced.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ..model.paper import Attempt, Fetched, StoredPaper, Version, utc_now
from ..system import safe_files

_READ_ONLY = 0o444


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
    """

    path: Path
    url: str = ""
    via: str = ""
    version: Version = ""
    license: str = ""
    sha256: str = ""
    saved_at: str = ""


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

    def find(self, stored: StoredPaper) -> PdfFile | None:
        """Return the PDF of a text; None where the shelf has none."""
        path = get_pdf_path(stored)
        if not path.is_file():
            return None
        facts = self._read_facts(stored).get("pdf", {})
        with contextlib.suppress(TypeError):  # written by another version
            return PdfFile(path, **facts)
        return PdfFile(path)

    def list_stems(self) -> frozenset[str]:
        """Return the names of all PDF files of the shelf, without their endings."""
        if not self.folder.is_dir():
            return frozenset()
        with safe_files.disk_errors(self.folder, "read"), os.scandir(self.folder) as found:
            return frozenset(one.name[:-4] for one in found if one.name.endswith(".pdf"))

    def attempts(self, stored: StoredPaper) -> tuple[Attempt, ...]:
        """Return the last attempts to fetch the PDF of a text."""
        with contextlib.suppress(TypeError):
            rows = self._read_facts(stored).get("attempts", ())
            return tuple(Attempt(**row) for row in rows)
        return ()

    def keep(
        self,
        stored: StoredPaper,
        fetched: Fetched,
        *,
        attempts: Sequence[Attempt] = (),
        same_bytes: Path | None = None,
    ) -> PdfFile:
        """Put a PDF next to its text, and return it.

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
        there = self.find(stored)
        if there and _compute_checksum(there.path) not in ("", there.sha256):
            return there  # a person put it there, or changed it
        if there and there.sha256 == made.sha256:
            return there
        self._write_facts(stored, made, attempts)
        if same_bytes is None or not _link(same_bytes, made.path, Path(stored.path)):
            safe_files.write_file(made.path, fetched.body)
        return made

    def holds(self, stored: StoredPaper, body: bytes) -> bool:
        """Return whether the PDF of a text has these bytes."""
        path = get_pdf_path(stored)
        return path.is_file() and _compute_checksum(path) == hashlib.sha256(body).hexdigest()

    def remove(self, stored: StoredPaper) -> None:
        """Delete the PDF of a text, and the facts about it."""
        safe_files.delete_file(get_pdf_path(stored))
        safe_files.delete_file(self._facts_path(stored))

    def record_attempts(self, stored: StoredPaper, attempts: Sequence[Attempt]) -> None:
        """Record attempts that brought no PDF, so that no site is asked again soon."""
        self._write_facts(stored, None, attempts)

    def hand_on(self, old: StoredPaper, heir: StoredPaper) -> None:
        """Give the PDF of a text that was replaced to the text that replaced it."""
        path, target = get_pdf_path(old), get_pdf_path(heir)
        if not path.is_file() or target.exists():
            return
        with safe_files.disk_errors(path):
            with contextlib.suppress(FileNotFoundError):
                self._facts_path(old).replace(self._facts_path(heir))
            path.rename(target)
            safe_files.sync_folder(self.folder)

    def _facts_path(self, stored: StoredPaper) -> Path:
        return self._facts / f"{Path(stored.path).stem}.json"

    def _read_facts(self, stored: StoredPaper) -> dict[str, Any]:
        try:
            facts = json.loads(self._facts_path(stored).read_bytes())
        except (OSError, ValueError):
            return {}
        return facts if isinstance(facts, dict) else {}

    def _write_facts(
        self, stored: StoredPaper, pdf: PdfFile | None, attempts: Sequence[Attempt]
    ) -> None:
        facts: dict[str, Any] = {"attempts": [asdict(attempt) for attempt in attempts]}
        if pdf:
            facts["pdf"] = {k: v for k, v in asdict(pdf).items() if k != "path"}
        safe_files.make_folder(self._facts, 0o700)
        safe_files.write_file(self._facts_path(stored), json.dumps(facts).encode())


def get_pdf_path(stored: StoredPaper) -> Path:
    """Return the place of a text's PDF, whether or not there is one."""
    return Path(stored.path).with_suffix(".pdf")


def _compute_checksum(path: Path) -> str:
    with safe_files.disk_errors(path, "read"):
        return hashlib.sha256(path.read_bytes()).hexdigest()


def _link(source: Path, target: Path, like: Path) -> bool:
    """Link *target* to the bytes of *source*; False where that cannot be done.

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
    safe_files.sync_folder(target.parent)
    return True
