"""Where rejected content goes: captchas, paywalls, stubs, other papers, each with the reason.

Kept so that a judgement can be checked and a judge improved; the oldest go when there are many.
"""

from __future__ import annotations

import contextlib
import gzip
import json
from pathlib import Path

from ..identifiers import Ids
from ..paper import Fetched, now
from . import file_names, safe_files
from .records import sha256

MOST = 500


def put(folder: Path, ids: Ids, fetched: Fetched, verdict: str, reason: str) -> Path:
    """Keep what was rejected, and why beside it; return the file."""
    safe_files.make_folder(folder, 0o700)
    mark = sha256(fetched.body)[:8]
    name = f"{file_names.stem(ids)}-{file_names.safe(verdict)}-{mark}"
    path = folder / f"{name}.{fetched.media}.gz"
    why = {
        "ids": ids.names(),
        "verdict": verdict,
        "reason": reason,
        "source": fetched.source,
        "via": fetched.via,
        "url": fetched.url,
        "at": now(),
    }
    safe_files.write_whole(path, gzip.compress(fetched.body, 6, mtime=0))
    safe_files.write_whole(folder / f"{name}.json", (json.dumps(why, indent=1) + "\n").encode())
    _prune(folder)
    return path


def count(folder: Path) -> int:
    """How many rejected answers are kept."""
    return len(list(folder.glob("*.gz"))) if folder.is_dir() else 0


def _prune(folder: Path) -> None:
    kept = list(folder.glob("*.gz"))
    if len(kept) <= MOST:
        return
    with contextlib.suppress(OSError):  # another process may prune at the same time
        kept.sort(key=lambda path: (path.stat().st_mtime_ns, path.name))
        for path in kept[: len(kept) - MOST]:
            path.unlink(missing_ok=True)
            reason = path.name.rsplit(".", 2)[0] + ".json"
            path.with_name(reason).unlink(missing_ok=True)
