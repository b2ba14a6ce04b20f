"""A long file written line by line, of which nobody ever sees a part.

`safe_files.write_whole` wants all bytes at once; a hundred thousand rows come one after another.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from ..safe_files import disk, part_of, sync_folder


@contextlib.contextmanager
def written(path: Path) -> Iterator[TextIO]:
    """A text file that takes the place of *path* when the block ends, and never when it fails.

    Raises
    ------
    StoreFailed
        The disk refuses.
    """
    part = part_of(path)
    try:
        with disk(part):
            file = part.open("x", encoding="utf-8", errors="replace", newline="")
        with file:
            yield file
            with disk(part):
                file.flush()
                os.fsync(file.fileno())
        with disk(path):
            part.replace(path)
            sync_folder(path.parent)
    finally:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)
