"""PubMed's files: where they are from, and which of a year's make a generation.

`Nlm` is NLM's site, `FilledFolder` a folder that somebody filled already. `build_chains` says
whether a year's baseline is whole, and which updates follow without a gap. That is never guessed:
NLM's notice names the last file of a baseline, and so does the first update, whose number is the
next one. A file that is set aside leaves a hole that is named, and the rest goes on; one that could
only not be reached holds back what follows it.
"""

from __future__ import annotations

import hashlib
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import BadContent, BadRequest
from ..sources.pubmed_files import (
    BulkFile,
    Folder,
    fetch_baseline_end,
    fetch_file,
    fetch_md5,
    list_files,
    parse_baseline_end,
    parse_md5,
)
from ..system import safe_files
from .manifest import SourceFile

if TYPE_CHECKING:
    from ..http import Web

_NAME = re.compile(r"pubmed(\d{2})n(\d{4,5})\.xml\.gz")
_PLACES = ("baseline", "updatefiles", "Source", ".")


class Nlm:
    """NLM's site; raises what `..sources.pubmed_files` raises."""

    def __init__(self, web: Web) -> None:
        self._web = web

    def list_files(self) -> list[BulkFile]:
        """All files that are listed now."""
        return list_files(self._web)

    def fetch_last_baseline_file(self) -> tuple[int, int]:
        """Return the last file by NLM's notice."""
        return fetch_baseline_end(self._web)

    def get_md5(self, file: BulkFile) -> str:
        """Return the MD5 that is published for a file."""
        return fetch_md5(file, self._web)

    def copy_or_fetch_file(self, file: BulkFile, md5: str, path: Path) -> None:
        """Fetch a file to *path*."""
        safe_files.write_file(path, fetch_file(file, md5, self._web))


class FilledFolder:
    """A folder of NLM's files: NLM's own tree, one that EDirect filled, or all in one place.

    Nothing is asked for and nothing copied: a link leads to each file. A file is held against the
    ``.md5`` beside it, where there is one; which is the baseline's last, ``README.txt`` says.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder.expanduser().absolute()

    def list_files(self) -> list[BulkFile]:
        """Return the files in the folder, by year and number.

        Raises
        ------
        BadRequest
            There are none.
        """
        found = {file.name: file for file in self._find_files()}
        if not found:
            msg = f"{self._folder} has no files of PubMed (pubmed26n0001.xml.gz and so on)."
            raise BadRequest(msg, "Give --from the folder with baseline/ and updatefiles/.")
        return sorted(found.values(), key=lambda file: (file.year, file.number))

    def _find_files(self) -> Iterator[BulkFile]:
        year, last = self.fetch_last_baseline_file()
        for path in self._find_paths("pubmed*.xml.gz"):
            if told := _NAME.fullmatch(path.name):
                of, number = int(told[1]), int(told[2])
                is_update = path.parent.name == "updatefiles" or (of == year and number > last)
                folder: Folder = "updatefiles" if is_update else "baseline"
                about = path.stat()
                day = datetime.fromtimestamp(about.st_mtime, UTC).strftime("%Y-%m-%d %H:%M:%S")
                listed = f"{day} {about.st_size} in {path.parent.name}"
                yield BulkFile(path.name, folder, of, number, listed, about.st_size)

    def _find_paths(self, pattern: str) -> Iterator[Path]:
        with safe_files.disk_errors(self._folder, "read"):
            for place in _PLACES:
                yield from sorted((self._folder / place).glob(pattern))

    def fetch_last_baseline_file(self) -> tuple[int, int]:
        """Return the last file by NLM's notice in the folder; zeros without one."""
        for path in self._find_paths("README.txt"):
            if (last := parse_baseline_end(path.read_text("utf-8", "replace")))[0]:
                return last
        return 0, 0

    def get_md5(self, file: BulkFile) -> str:
        """Return the MD5 of a file, compared with the published one.

        Raises
        ------
        BadContent
            Beside it stands another.
        """
        path = self._find_path(file)
        made = compute_md5(path)
        beside = path.with_name(f"{path.name}.md5")
        with suppress(FileNotFoundError):
            told = parse_md5(file, beside.read_text("utf-8", "replace"))
            if told != made:
                msg = f"{path} has MD5 {made}; {beside.name} says {told}."
                raise BadContent(msg, "Copy it again.", verdict="partial")
        return made

    def _find_path(self, file: BulkFile) -> Path:
        return next(iter(self._find_paths(file.name)))

    def copy_or_fetch_file(self, file: BulkFile, md5: str, path: Path) -> None:
        """Link a file to *path*, in place of what is there."""
        with safe_files.disk_errors(path):
            path.unlink(missing_ok=True)  # one that leads nowhere any more
            try:
                path.symlink_to(self._find_path(file))
            except (OSError, NotImplementedError):  # Windows wants a privilege for it
                shutil.copyfile(self._find_path(file), path)


Origin = Nlm | FilledFolder
"""A place from which PubMed's files can be listed and fetched."""


def compute_md5(path: Path) -> str:
    """Return the MD5 of a file."""
    with safe_files.disk_errors(path, "read"), path.open("rb") as file:
        return hashlib.file_digest(file, partial(hashlib.md5, usedforsecurity=False)).hexdigest()


@dataclass(slots=True)
class Chain:
    """The files that a generation can be made of, holes with their reasons, what it waits for.

    ``waits_for`` is empty where it can be made; ``holds_back`` counts files behind one that could
    not be reached.
    """

    year: int
    files: list[SourceFile] = field(default_factory=list)
    missing: dict[str, str] = field(default_factory=dict)
    waits_for: str = ""
    holds_back: int = 0
    hole_in_baseline: bool = False


def build_chains(files: Sequence[SourceFile], last: Mapping[int, int]) -> Iterator[Chain]:
    """Yield the chain of each year with files, the newest first.

    Parameters
    ----------
    files : sequence of SourceFile
        All that are known.
    last : mapping of int
        The number of a baseline's last file by its year, of years of which that is known.
    """
    for year in sorted({file.year for file in files}, reverse=True):
        of_year = {file.number: file for file in files if file.year == year}
        yield _build_chain(year, of_year, last.get(year, 0))


def _build_chain(year: int, files: dict[int, SourceFile], last: int) -> Chain:
    made = Chain(year)
    updates = [number for number, file in files.items() if file.folder != "baseline"]
    last = last or (min(updates) - 1 if updates else 0)
    if not last:
        made.waits_for = f"a word on which file is the last of 20{year:02}'s baseline"
        return made
    for number in range(1, max(files) + 1):
        file = files.get(number)
        name = file.name if file else f"pubmed{year:02}n{number:04}.xml.gz"
        if file and file.is_read:
            made.files.append(file)
        elif file and file.state in ("aside", "vanished"):
            made.missing[name] = file.reason
            made.hole_in_baseline |= number <= last
        elif number <= last:
            made.waits_for = f"{name} of the baseline, {'not read' if file else 'not listed'} yet"
            return made
        elif file:  # could not be reached, this time
            made.holds_back = sum(other >= number for other in files)
            return made
        else:
            made.missing[name] = "It was not listed."
    if max(files) < last:
        made.waits_for = (
            f"pubmed{year:02}n{max(files) + 1:04}.xml.gz of the baseline, not listed yet"
        )
    return made
