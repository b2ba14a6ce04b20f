"""The shelf on disk: papers as text files, and a catalogue that finds them by any name.

Start at `.shelf.Shelf`: find, save, list, rebuild. Below it:

- `.paper_file` names a text's file and writes its header; `.record` is the truth for programs.
- `.shelf_writer` changes files; `.reconciliation` and `.adoption` bring the catalogue in line with
  them; `.verdicts` and `.quarantine` keep what judges and people decided.
- `.catalogue` finds; `.listing` lists, and writes ``index.csv``.
- `.ledger` keeps a harvest, in the file that `.ledger_file` describes.

Imports readers, outline, lists, model and system; never sites, HTTP or MCP.
"""

from .adoption import (
    add_judged_kind_and_verdict,
    is_foreign_text,
    is_identified_by_name_only,
    rejudge_text,
)
from .paper_file import strip_header
from .reconciliation import RebuildReport
from .record import ADOPTED
from .shelf import Shelf

__all__ = [
    "ADOPTED",
    "RebuildReport",
    "Shelf",
    "add_judged_kind_and_verdict",
    "is_foreign_text",
    "is_identified_by_name_only",
    "rejudge_text",
    "strip_header",
]
