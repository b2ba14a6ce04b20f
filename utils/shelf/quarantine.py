"""The folder of rejected content: captchas, paywalls, stubs, other papers, each with the reason.

Kept so that a judgement can be checked and a judge improved; the oldest are deleted when there are
many, or when they take much room.
"""

from __future__ import annotations

import contextlib
import itertools
import json
from pathlib import Path

from ..model.identifiers import Ids
from ..model.paper import Fetched, utc_now
from ..system import safe_files
from ..system.bodies import BodyStore
from . import paper_file
from .record import compute_sha256

MOST = 500
MOST_BYTES = 500_000_000


def quarantine_content(
    folder: Path, bodies: BodyStore, ids: Ids, fetched: Fetched, verdict: str, reason: str
) -> Path:
    """Store rejected content, with the reason next to it; return its path."""
    safe_files.make_folder(folder, 0o700)
    mark = compute_sha256(fetched.body)[:8]
    name = f"{paper_file.build_file_stem(ids)}-{paper_file.to_safe_name(verdict)}-{mark}"
    path = folder / f"{name}.{fetched.media}.gz"
    why = {
        "ids": ids.names(),
        "verdict": verdict,
        "reason": reason,
        "source": fetched.source,
        "via": fetched.via,
        "url": fetched.url,
        "at": utc_now(),
    }
    part = safe_files.build_part_path(path)
    with safe_files.disk_errors(path):
        try:
            bodies.link_or_write_body(fetched.body, part)
            safe_files.replace_file(part, path)
        finally:
            part.unlink(missing_ok=True)
    safe_files.write_file(folder / f"{name}.json", (json.dumps(why, indent=1) + "\n").encode())
    _delete_oldest_files(folder)
    return path


def count_rejected_files(folder: Path) -> int:
    """Return the number of rejected files in the quarantine."""
    return len(list(folder.glob("*.gz"))) if folder.is_dir() else 0


def _delete_oldest_files(folder: Path) -> None:
    with contextlib.suppress(OSError):  # another process may prune at the same time
        kept = [(path.stat(), path) for path in folder.glob("*.gz")]
        kept.sort(key=lambda found: (found[0].st_mtime_ns, found[1].name), reverse=True)
        sizes = itertools.accumulate(status.st_size for status, _ in kept)
        for number, (size, (_, path)) in enumerate(zip(sizes, kept, strict=True)):
            if number == 0 or (number < MOST and size <= MOST_BYTES):
                continue
            path.unlink(missing_ok=True)
            reason = path.name.rsplit(".", 2)[0] + ".json"
            path.with_name(reason).unlink(missing_ok=True)
