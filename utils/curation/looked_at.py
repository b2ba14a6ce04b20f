"""Which files of a folder were looked at, so that none is read again until it changes.

A file is known by a fingerprint of its path, size and time of change; what it said it is, by
fingerprints of identifiers and titles. Kept on the shelf, they tell nobody what is in a folder.
"""

from __future__ import annotations

import json
import time
from collections.abc import Container, Iterable, Mapping
from hashlib import blake2b
from pathlib import Path

from ..system import safe_files
from .inbox_files import status

_AGAIN_S = 300.0  # when sources are asked again that could not tell of a file


def fingerprint(*parts: object) -> str:
    """A few letters in place of what they stand for."""
    return blake2b("\0".join(map(str, parts)).encode("utf-8", "replace"), digest_size=8).hexdigest()


def marks_of(paths: Iterable[Path]) -> dict[Path, str]:
    """Files with the fingerprints that they have as they are now."""
    return {path: fingerprint(path, *status(path)) for path in paths}


class LookedAt:
    """The files of one folder that were looked at, as they were then.

    Parameters
    ----------
    file : Path, optional
        Where they are kept for later; else they are forgotten with this object.
    """

    def __init__(self, file: Path | None = None) -> None:
        self._file = file
        self._names: dict[str, list[str]] = _read(file) if file else {}
        self._later: dict[str, float] = {}
        self._changed = False

    @classmethod
    def in_folder(cls, folder: Path, shelf: Path) -> LookedAt:
        """What *shelf* remembers of a folder that is not its own."""
        return cls(shelf / safe_files.PRIVATE / "looked_at" / f"{fingerprint(folder)}.json")

    def fresh(self, marks: Mapping[Path, str], wanted: Container[str] = ()) -> dict[Path, str]:
        """Those of the files to look at: new, changed, or by now what is *wanted*."""
        return {path: mark for path, mark in marks.items() if self._is_fresh(mark, wanted)}

    def _is_fresh(self, mark: str, wanted: Container[str]) -> bool:
        if mark in self._later:
            return self._later[mark] <= time.time()
        return mark not in self._names or any(name in wanted for name in self._names[mark])

    def add(self, mark: str, names: Iterable[str] = ()) -> None:
        """Note that a file was looked at; it is looked at again if one of *names* is wanted."""
        self._names[mark] = sorted(set(names))
        self._changed = True

    def is_news(self, mark: str, names: Iterable[str] = (), *, again: bool) -> bool:
        """Note a file that was matched, to be tried *again* later or not; whether to tell of it.

        That nobody could tell is told once.
        """
        before = self._later.pop(mark, None)
        if not again:
            self.add(mark, names)
            return True
        self._later[mark] = time.time() + _AGAIN_S
        return before is None

    def save(self, present: Iterable[Path]) -> None:
        """Keep what is known of the files that are *present*.

        Raises
        ------
        StoreFailed
            The disk refuses.
        """
        if self._file is None or not self._changed:
            return
        marks = set(marks_of(present).values())
        self._names = {mark: names for mark, names in self._names.items() if mark in marks}
        safe_files.make_folder(self._file.parent, 0o700)
        safe_files.write_whole(self._file, json.dumps(self._names).encode())
        self._changed = False


def _read(file: Path) -> dict[str, list[str]]:
    """What was kept; nothing where it cannot be read: then all is looked at once more."""
    try:
        kept = json.loads(file.read_bytes())
        return {str(mark): [str(name) for name in names] for mark, names in kept.items()}
    except (OSError, ValueError, AttributeError, TypeError):
        return {}
