"""Filing many new papers in one change, a tenth of the time of one by one.

The order is that of `.filing`: names noted, records and texts on the disk, then the catalogue; but
all files are flushed side by side, and the catalogue is committed twice for all of them.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ..system import safe_files
from .filing import Filing, Render, with_checksum
from .records import Record, sha256


def file_together(filing: Filing, new: Sequence[Record], render: Render) -> list[Record]:
    """Put many papers on the shelf; what is there now for each, in their order.

    A paper that is there already, or wants the same file as another one, is filed by itself.
    """
    catalogue = filing.catalogue
    with catalogue.writing():
        planned = _unhindered(filing, new)
        for file in planned:
            catalogue.begin(file, "register", time.time())
    filed: dict[int, Record] = {}
    with catalogue.writing():
        current = _unhindered(filing, new)
        files: list[tuple[Path, bytes]] = []
        for file in planned.keys() & current.keys():
            number, record = current[file]
            data = render(record).encode("utf-8", "replace")
            filed[number] = record = with_checksum(replace(record, written=sha256(data)), data)
            files += [(filing.record_path(file), record.to_json().encode())]
            files += [(filing.folder / file, data)]
        filing.prepare()
        safe_files.write_all(files)
        for record in filed.values():
            filing.enter(record, ())
        for file in planned:
            catalogue.done(file)
    return [filed.get(number) or filing.file(one, render) for number, one in enumerate(new)]


def _unhindered(filing: Filing, new: Sequence[Record]) -> dict[str, tuple[int, Record]]:
    """By file, the papers that nothing stands in the way of, with their places in the list."""
    found: dict[str, tuple[int, Record]] = {}
    names: set[str] = set()
    for number, one in enumerate(new):
        plan = filing.plan(one)
        if not plan.same and plan.record.file not in found and names.isdisjoint(one.ids.names()):
            found[plan.record.file] = number, plan.record
        names.update(one.ids.names())
    return found
