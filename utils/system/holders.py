"""Who holds a lock on a file, and since when: so that who waits for it can be told.

A file beside the lock says it, and says nothing unless somebody holds the lock.
"""

from __future__ import annotations

import os
import platform
import time
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from .plain_text import one_line
from .sharing import inherit_group

UNKNOWN = "Another process"
_LONGEST = 200


def me() -> str:
    """How others are told of this process."""
    return f"Process {os.getpid()} on {platform.node() or 'a machine without a name'}"


def sign_file(path: Path) -> None:
    """Write beside a lock that this process has it; a disk that refuses is none of its business."""
    since = datetime.fromtimestamp(time.time(), UTC).isoformat(timespec="seconds")
    with suppress(OSError):
        path.touch(mode=0o600)
        inherit_group(path)
        path.write_text(f"{me()}, since {since}", encoding="utf-8")


def holder_in_file(path: Path) -> str:
    """Who signed last."""
    with suppress(OSError):
        return one_line(path.read_text("utf-8", "replace")[:_LONGEST]) or UNKNOWN
    return UNKNOWN
